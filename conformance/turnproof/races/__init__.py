"""
Know the races: named schedules in which something arrives at the one moment where agents have got it wrong.

Each stands for a kind of bug that was met in public or in a real agent, told in two sentences, with where it was met.
``catalogue.toml`` holds them, ``catalogue`` reads them, ``needs`` tells what a candidate must offer, and ``playing``
judges one. A race is *exercised* only where the candidate came to the moment that it is about; a candidate that took
another lawful way, or can't be driven there, hasn't passed it.
"""

from turnproof.races.catalogue import Race, UnknownRaceError, named, race, races
from turnproof.races.playing import Played, play

__all__ = ["Played", "Race", "UnknownRaceError", "named", "play", "race", "races"]
