"""
Render a run as one HTML file that needs nothing else: no network, no other file, and no script to be read.

What a candidate says is untrusted: the template escapes all of it, control characters are spelled out, and a content
security policy names the one script and the one style sheet by their digests and forbids everything else.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from importlib import resources
from typing import Any

import jinja2
from attrs import frozen
from markupsafe import Markup

from turnproof.evidence import Evidence
from turnproof.expectations import Assessment
from turnproof.results import CapsuleResult
from turnproof.score import command_text
from turnproof_model.policies import POLICIES
from turnproof_reports.diagram import Diagram, measured
from turnproof_reports.lanes import Row, last_move, rows
from turnproof_reports.summary import (
    OUTCOMES,
    WORDS,
    again_line,
    counts,
    entries,
    expectation_of,
    families,
    race_counts,
    race_entries,
    replay_line,
    visible,
)

SHORT = 34
"""Rows up to which a whole schedule is drawn at once; of a longer one the last move comes first."""


@frozen
class Drawing:
    """Hold one failure's pictures: the whole schedule, and the move that differs where that is much shorter."""

    whole: Diagram
    last: Diagram | None
    rows: tuple[Row, ...]


@frozen
class Shown:
    """Hold one failure with all that its card shows."""

    failure: CapsuleResult
    expected: str | None
    replay: str | None
    drawing: Drawing | None
    moves: tuple[str, ...]

    @property
    def id(self) -> str:
        """Where it stands in the page."""
        return "failure-" + "".join(c if c.isalnum() else "-" for c in self.failure.name)


def html_report(assessment: Assessment) -> str:
    """Render a run, expectations taken into account."""
    listed = entries(assessment)
    style, script = _text("report.css"), _text("report.js")
    return _template().render(
        assessment=assessment,
        result=assessment.result,
        entries=listed,
        counts=counts(listed),
        families=families(listed),
        outcomes=[outcome for outcome in OUTCOMES if outcome in counts(listed)],
        words=WORDS,
        failures=[_shown(assessment, failure) for failure in assessment.result.capsules],
        races=race_entries(assessment),
        race_counts=race_counts(race_entries(assessment)),
        again=again_line(assessment.result),
        policies=POLICIES,
        style=Markup(style),  # noqa: S704  # our own file
        script=Markup(script),  # noqa: S704  # our own file
        policy=f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; base-uri 'none'; "
        "form-action 'none'",
    )


def _shown(assessment: Assessment, failure: CapsuleResult) -> Shown:
    evidence = failure.evidence
    return Shown(
        failure,
        expectation_of(assessment, failure),
        replay_line(assessment, failure),
        None if evidence is None else _drawing(evidence),
        () if evidence is None else tuple(command_text(step.command) for step in evidence.steps),
    )


def _drawing(evidence: Evidence) -> Drawing:
    laid = rows(evidence)
    last = last_move(laid)
    return Drawing(measured(laid), measured(last) if len(laid) > SHORT and len(last) < len(laid) else None, laid)


# ------------------------------------------------------------------------------------------------ the template
@cache
def _template() -> jinja2.Template:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("turnproof_reports"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        finalize=_final,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["exchange"] = _exchange
    return environment.get_template("report.html.j2")


def _final(value: Any) -> Any:
    """Spell control characters out in whatever the template prints, but in its own markup."""
    return value if isinstance(value, (Markup, int, float)) else visible(value)


def _exchange(value: Any) -> str:
    """Write a value of the wire on one line."""
    return json.dumps(value, ensure_ascii=False)


def _digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _text(name: str) -> str:
    return resources.files("turnproof_reports").joinpath("templates", name).read_text(encoding="utf-8")
