"""
Render a run as a badge: a small SVG that says the contract and how many of its rules held.
"""

from __future__ import annotations

import jinja2

from turnproof.expectations import Assessment
from turnproof_reports.summary import counts, entries, visible

COLOURS = {"conforms": "#1f7a4d", "fails": "#b3261e", "driver-fault": "#7a3fa0", "inconclusive": "#8a5a00"}
CHARACTER = 6.6
"""Units a character takes on average in the badge's type; the text is stretched to the room that this leaves."""
PADDING = 14

TEMPLATE = """\
<svg xmlns="http://www.w3.org/2000/svg" width="{{ left + right }}" height="20"
role="img" aria-label="{{ label }}: {{ words }}">
<title>{{ label }}: {{ words }}</title>
<clipPath id="round"><rect width="{{ left + right }}" height="20" rx="4"/></clipPath>
<g clip-path="url(#round)"><rect width="{{ left }}" height="20" fill="#3b3a38"/>
<rect x="{{ left }}" width="{{ right }}" height="20" fill="{{ colour }}"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{{ left / 2 }}" y="14" textLength="{{ left - 14 }}">{{ label }}</text>
<text x="{{ left + right / 2 }}" y="14" textLength="{{ right - 14 }}">{{ words }}</text></g>
</svg>
"""


def badge(assessment: Assessment) -> str:
    """Render a run, expectations taken into account."""
    counted = counts(entries(assessment))
    label = f"turnproof {assessment.result.contract}"
    match assessment.verdict:
        case "conforms" | "fails":
            judged = sum(counted.get(outcome, 0) for outcome in ("passed", "failed", "expected", "stale"))
            words = f"{counted.get('passed', 0)} of {judged} rules held"
        case verdict:
            words = verdict.replace("-", " ")
    environment = jinja2.Environment(autoescape=True, undefined=jinja2.StrictUndefined)
    return environment.from_string(TEMPLATE).render(
        label=visible(label),
        words=visible(words),
        left=_width(label),
        right=_width(words),
        colour=COLOURS[assessment.verdict],
    )


def _width(text: str) -> int:
    return round(len(text) * CHARACTER + PADDING)
