"""
Write what can happen within bounds in the forms of other tools: pictures, graphs, traces, and a model for SPIN.

Each writer yields text piece by piece from a layout or a finished search; ``files`` puts it into a file.
"""
