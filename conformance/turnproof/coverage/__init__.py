"""Say how much of what an agent can be led through a run has reached: the denominator of a search."""
