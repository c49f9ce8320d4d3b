"""
Lead a candidate through every transition there is, instead of searching for failures at random.

A tour is planned on the graph of situations (``coverage.graph``): from where the agent stands to the nearest
transition that hasn't been reached, again and again, a new agent where that is nearer. Nothing is random. A plan is
made for the freedoms that the candidate has shown; where it takes another lawful way, the rest is planned anew from
the situation that it is in.
"""

from turnproof.tour.touring import Tour, TourEndedError, take

__all__ = ["Tour", "TourEndedError", "take"]
