"""
Measure a lane diagram: where each row, arrow and label of an inline SVG goes. The template only prints the numbers.

Text is set in a monospaced font, so that its width is known: ``CHARACTER`` units a character. A label that is wider
than its lane reaches over its neighbours, which are empty in that row; one that is wider than the diagram is cut, and
the whole of it is in the table beside the picture.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from turnproof_reports.lanes import LANES, Lane, Mark, Row

LANE_WIDTH = 124
GUTTER = 30
"""Left of the lanes, for the numbers of the moves."""
MARGIN = 8
HEAD = 34
COMMAND_HEIGHT = 40
EVENT_HEIGHT = 25
BAND_HEIGHT = 24
"""The line that marks the first difference."""
PILL_HEIGHT = 19
CHARACTER = 6.65
PADDING = 8

WIDTH = GUTTER + LANE_WIDTH * len(LANES) + MARGIN


@frozen
class Label:
    """Hold one printed row: its texts and where they are; lengths in SVG units."""

    mark: Mark
    text: str
    full: str
    x: float
    y: float
    width: float
    text_x: float
    text_y: float
    rules: str


@frozen
class Arrow:
    """Hold the arrow of a command from the caller to its lane; ``number`` is the move's."""

    number: int
    text: str
    full: str
    y: float
    text_y: float
    start: float
    end: float


@frozen
class Head:
    """Hold one lane's name and middle."""

    name: Lane
    x: float


@frozen
class Diagram:
    """Hold a measured diagram; ``band`` is where the first difference is marked, if it is in the picture."""

    width: float
    height: float
    heads: tuple[Head, ...]
    arrows: tuple[Arrow, ...]
    labels: tuple[Label, ...]
    band: float | None
    words: str


def measured(rows: Sequence[Row]) -> Diagram:
    """
    Measure a diagram of these rows.

    Args:
        rows: of one failure, at least one.
    """
    y = float(HEAD)
    band: float | None = None
    arrows: list[Arrow] = []
    labels: list[Label] = []
    for row in rows:
        if row.mark == "command":
            arrows.append(_arrow(row, y))
            y += COMMAND_HEIGHT
            continue
        if band is None and row.mark in ("expected", "observed"):
            band = y + BAND_HEIGHT / 2
            y += BAND_HEIGHT
        labels.append(_label(row, y))
        y += EVENT_HEIGHT
    heads = tuple(Head(lane, _middle(lane)) for lane in LANES)
    return Diagram(WIDTH, y + MARGIN, heads, tuple(arrows), tuple(labels), band, _words(rows))


def _middle(lane: Lane) -> float:
    return GUTTER + LANE_WIDTH * (LANES.index(lane) + 0.5)


def _cut(text: str, units: float) -> str:
    most = int(units / CHARACTER)
    return text if len(text) <= most else text[: most - 1] + "…"


def _arrow(row: Row, y: float) -> Arrow:
    start = _middle("caller") - LANE_WIDTH / 2 + MARGIN
    text = _cut(row.text, WIDTH - start - MARGIN)
    return Arrow(row.move, text, row.text, y + 29, y + 20, start, _middle(row.lane))


def _label(row: Row, y: float) -> Label:
    text = _cut(row.text, WIDTH - GUTTER - MARGIN - 2 * PADDING)
    width = round(len(text) * CHARACTER + 2 * PADDING, 1)
    x = min(max(_middle(row.lane) - width / 2, GUTTER), WIDTH - MARGIN - width)
    top = y + (EVENT_HEIGHT - PILL_HEIGHT) / 2
    rules = ", ".join(dict.fromkeys(row.rules))
    return Label(row.mark, text, row.text, round(x, 1), top, width, round(x + PADDING, 1), top + 13.5, rules)


def _words(rows: Sequence[Row]) -> str:
    """Say in one sentence what the picture shows, for who can't see it."""
    expected = next((row.text for row in rows if row.mark == "expected"), None)
    observed = next((row.text for row in rows if row.mark == "observed"), "")
    moves = len({row.move for row in rows})
    shown = f"{moves} {'move' if moves == 1 else 'moves'} in the lanes {', '.join(LANES)}"
    if expected is None:
        return f"{shown}; a monitor objects: {observed}"
    return f"{shown}; the first difference: expected {expected}, observed {observed}"
