"""
Measure speed as ratios, each taken side by side in one run; figures of one machine say nothing about another.

``python -m turnproof.bench`` runs every bench and prints one line for each ratio.
"""
