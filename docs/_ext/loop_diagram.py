"""
Draw a loop as SVG: phases in rows by their distance from where the loop rests, moves between them as curves.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from html import escape
from itertools import pairwise

WIDTH = 800
MARGIN = 70
"""Beside the phases, for the moves that go back up."""
ROW = 62
BOX = (104, 34)
"""Width and height of a phase."""


def drawn(edges: Mapping[str, set[str]], awaits: Mapping[str, str | None], start: str = "idle") -> str:
    """
    Draw a loop.

    Args:
        edges: the moves, by phase.
        awaits: the gate that each phase waits for.
        start: where the loop rests.
    """
    rows = _rows(edges, awaits, start)
    places = {
        name: (MARGIN + (WIDTH - 2 * MARGIN) * (number + 0.5) / len(row), ROW * (depth + 0.5))
        for depth, row in enumerate(rows)
        for number, name in enumerate(row)
    }
    moves = [(one, other) for one in awaits for other in awaits if other in edges.get(one, ())]
    parts = [_curve(places[one], places[other]) for one, other in moves]
    parts += [_box(name, places[name], awaits[name]) for name in places]
    height = ROW * len(rows)
    title = f"{len(places)} phases, {len(moves)} moves"
    return (
        f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{title}">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        f'<path class="tip" d="M0 0L8 4L0 8z"/></marker></defs>{"".join(parts)}</svg>'
    )


def _rows(edges: Mapping[str, set[str]], awaits: Mapping[str, str | None], start: str) -> list[list[str]]:
    """Put each phase into the row of its distance from the start; in a row, below those that lead to it."""
    depth = {start: 0}
    todo = deque([start])
    while todo:
        name = todo.popleft()
        for other in (each for each in awaits if each in edges.get(name, ())):
            if other not in depth:
                depth[other] = depth[name] + 1
                todo.append(other)
    for name in awaits:
        depth.setdefault(name, 0)  # entered by commands alone
    rows: list[list[str]] = [[] for _ in range(max(depth.values()) + 1)]
    for name in awaits:
        rows[depth[name]].append(name)
    for above, row in pairwise(rows):
        row.sort(key=lambda name: _lean(name, above, edges))
    return rows


def _lean(name: str, above: list[str], edges: Mapping[str, set[str]]) -> float:
    """Tell how far to the right the phases stand that lead here from the row above."""
    leading = [(number + 0.5) / len(above) for number, each in enumerate(above) if name in edges.get(each, ())]
    return sum(leading) / len(leading) if leading else 0.5


def _curve(start: tuple[float, float], end: tuple[float, float]) -> str:
    """Draw a move down, across a row, or back up around the boxes."""
    (x, y), (to_x, to_y) = start, end
    half_width, half = BOX[0] / 2, BOX[1] / 2
    if to_y > y:
        path = f"M{x} {y + half}C{x} {y + half + 22},{to_x} {to_y - half - 22},{to_x} {to_y - half}"
        return f'<path d="{path}" marker-end="url(#tip)"/>'
    side = 1 if to_x >= x else -1
    if to_y == y:
        first, last = x + side * half_width, to_x - side * half_width
        path = f"M{first} {y}C{first + side * 30} {y - 34},{last - side * 30} {y - 34},{last} {y}"
        return f'<path d="{path}" marker-end="url(#tip)"/>'
    bulge = 30 + (y - to_y) / 8
    out = 1 if x + to_x >= WIDTH else -1
    path = (
        f"M{x + out * half_width} {y}C{x + out * (half_width + bulge)} {y},{to_x + out * (half_width + bulge)} {to_y},"
        f"{to_x + out * half_width} {to_y}"
    )
    return f'<path class="back" d="{path}" marker-end="url(#tip)"/>'


def _box(name: str, place: tuple[float, float], gate: str | None) -> str:
    """Draw a phase, with the gate that it waits for."""
    x, y = place
    width, height = BOX
    frame = f'<rect x="{x - width / 2}" y="{y - height / 2}" width="{width}" height="{height}" rx="6"/>'
    label = f'<text x="{x}" y="{y + (0 if gate else 4)}" text-anchor="middle">{escape(name)}</text>'
    waits = f'<text class="gate" x="{x}" y="{y + 12}" text-anchor="middle">{escape(gate)}</text>' if gate else ""
    return f'<g class="{"waits" if gate else "runs"}">{frame}{label}{waits}</g>'
