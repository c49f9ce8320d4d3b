"""
Measure what a finished run has reached against what there is, for reports.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet

from turnproof.coverage.denominator import SORTS, Transition, text, transitions
from turnproof.coverage.shipped import shipped
from turnproof.results import Coverage
from turnproof_model.observation import Profile
from turnproof_model.vocabulary import Contract

LISTED = 20
"""Transitions of each sort that a result names as missing; all of them where there are no more."""


def measured(reached: AbstractSet[Transition], profile: Profile, policies: Mapping[str, str]) -> dict[str, Coverage]:
    """
    Say how much was reached of each denominator, and first of all of them together.

    Args:
        reached: all that was credited, in any number of trials of one candidate.
        profile: of the candidate.
        policies: the freedoms that it has shown, each with its one value.
    """
    there = transitions(shipped(profile.contract), profile, policies)
    whole = {"transitions": _part(profile.contract, there, reached)}
    for sort in SORTS:
        whole[sort] = _part(profile.contract, {one for one in there if one[0] == sort}, reached)
    return whole


def _part(contract: Contract, there: AbstractSet[Transition], reached: AbstractSet[Transition]) -> Coverage:
    missing = sorted(text(contract, transition) for transition in there - reached)
    return Coverage(len(there & reached), len(there), tuple(missing[:LISTED]))
