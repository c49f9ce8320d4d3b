"""Make all mutants of the reference agents with cosmic-ray's engine: its operators that fit, and ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cosmic_ray.ast import ast_nodes, get_ast
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator

from mutants.mutant import Mutant, functions, occurrences, path_of
from mutants.operators import OWN
from mutants.scope import MODULES, UNOBSERVED, UNOBSERVED_LINES

COMPARED = (
    *("Eq_NotEq", "NotEq_Eq", "Is_IsNot", "IsNot_Is", "Lt_LtE", "Lt_GtE"),
    *("LtE_Lt", "LtE_Gt", "Gt_GtE", "Gt_LtE", "GtE_Gt", "GtE_Lt"),
)
"""Comparisons by their neighbours and their opposites; more would tell the same again."""

CORE = (
    *(f"ReplaceComparisonOperator_{pair}" for pair in COMPARED),
    *("ReplaceBinaryOperator_Add_Sub", "ReplaceBinaryOperator_Sub_Add", "ReplaceUnaryOperator_Delete_Not"),
    *("ReplaceTrueWithFalse", "ReplaceFalseWithTrue", "ReplaceAndWithOr", "ReplaceOrWithAnd"),
    *("ReplaceBreakWithContinue", "ReplaceContinueWithBreak", "NumberReplacer", "ZeroIterationForLoop"),
)


def operators() -> Iterator[tuple[str, Any]]:
    """Give all operators by name, in the order in which they get the credit for a change that two of them make."""
    for name in CORE:
        yield name, get_operator(f"core/{name}")()
    for own in OWN:
        yield own.__name__, own()


def mutants() -> list[Mutant]:
    """Make all mutants, each change once, in the order of the modules and their lines."""
    found: dict[str, Mutant] = {}
    for module in MODULES:
        for mutant in of_module(module):
            found.setdefault(mutant.key, mutant)
    return list(found.values())


def of_module(module: str) -> Iterator[Mutant]:
    """Make the mutants of one module."""
    source = path_of(module).read_text(encoding="utf-8")
    places = list(functions(path_of(module)))
    tree = get_ast(source)
    made: list[tuple[int, Mutant]] = []
    for name, operator in operators():
        starts = [start for node in ast_nodes(tree) for start, _ in operator.mutation_positions(node)]
        for occurrence, (line, _) in enumerate(starts):
            place = next(((at, lines) for at, lines in places if lines[0] < line <= lines[1]), None)
            if place is None or (module, place[0].rpartition(".")[2]) in UNOBSERVED:
                continue
            changed = mutate_code(source, operator, occurrence)
            if changed == source:  # two like statements were swapped
                continue
            mutant = _mutant(module, name, *place, source.splitlines(), changed.splitlines())
            if not any(re.match(UNOBSERVED_LINES, text) for text in mutant.before):
                made.append((line, mutant))
    yield from (mutant for _, mutant in sorted(made, key=lambda item: item[0]))


def _mutant(
    module: str, operator: str, function: str, lines: tuple[int, int], source: list[str], changed: list[str]
) -> Mutant:
    """Cut what differs out of the two sources."""
    head = next(i for i, (a, b) in enumerate(zip([*source, ""], [*changed, ""], strict=False)) if a != b)
    tail = 0
    while tail < min(len(source), len(changed)) - head and source[-1 - tail] == changed[-1 - tail]:
        tail += 1
    before, after = source[head : len(source) - tail], changed[head : len(changed) - tail]
    nth = occurrences(source[lines[0] : lines[1]], tuple(before)).index(head - lines[0])
    return Mutant(module, function, operator, before, after, nth)
