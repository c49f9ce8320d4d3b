"""
Read the rules over an observed stream: the second half of the specification.

Start with ``base`` (what a monitor is), ``view`` (the facts that are folded for it) and ``stage`` (how monitors are
run); the rules are in ``window*``, ``claim*`` and ``core*``, by family. ``watch.Watch`` runs all that apply.
"""
