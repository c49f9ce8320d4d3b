"""
Mutants of the reference agents: what the suite is worth, measured by changes that nobody chose by hand.

`operators` and `making` need the mutation tool (`make mutants` installs it) and say which mutants there are; `judging`
plays one in a process of its own; `record` keeps what became of each; `report` writes it up. What the record says is
played again for a sample in every test run, without the tool.
"""
