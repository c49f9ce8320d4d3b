"""
Know the races: named schedules in which something arrives at the one moment where agents have got it wrong.

Each stands for a kind of bug that was met in public or in a real agent, told in two sentences, with where it was met.
``catalogue.toml`` holds them, ``catalogue`` reads them, ``needs`` tells what a candidate must offer, ``playing`` judges
one and ``heats`` several. A race is *exercised* only where the candidate came to the moment that it is about; one that
took another lawful way, or can't be driven there, hasn't passed it.
"""

from turnproof.races.catalogue import Race, UnknownRaceError, named, race, races
from turnproof.races.heats import Heats, compete
from turnproof.races.playing import Played, play

__all__ = ["Heats", "Played", "Race", "UnknownRaceError", "compete", "named", "play", "race", "races"]
