"""
Prove the rules of a contract for any number of messages, turns, steps and tool calls.

A proof by induction: an invariant holds at the beginning, and every move of the loop and every command keeps it and
keeps each rule that the observers state. Rule code runs along all of its paths (``readings.execute``), with control
concrete and data counted (``readings.counters``); what is left is a finite list of formulas for a solver.
"""
