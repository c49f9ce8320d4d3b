"""
Read the rules with symbolic data: the one room where rule code runs on terms, and where source text is made.

The rules stay what they are, plain functions. What differs is what stands in the place of queues and state::

    terms      formulas that rule code builds by computing, and the traps that they guard against
    execute    forking execution: a function that asks about terms becomes a tree of finitely many paths
    queues     the free queue algebra: what a rule did to a queue, as spans of the queue that was there
    loading    the rules once more, over another algebra

Control (phases, flags, small enumerations) is concrete in every reading and is looked at lazily, so that a path fixes
only those fields that it reads. Queue contents are symbolic. Other modules know nothing of this room.
"""
