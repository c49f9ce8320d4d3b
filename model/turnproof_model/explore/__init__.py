"""
Search everything that can happen within bounds: shortest witnesses, counterexamples, deadlocks, graphs.

The search runs source that is generated from the rules (``readings.codegen``) over states packed into integers. What it
finds is replayed on the concrete machine before anybody hears of it, and its counts are those of a plain search that
runs the rules on real messages (``concrete``), and of SPIN on the exported Promela.
"""
