"""
Let ``python -m turnproof`` be the command line, where the script isn't on the path.
"""

from turnproof.cli import main

if __name__ == "__main__":
    main()
