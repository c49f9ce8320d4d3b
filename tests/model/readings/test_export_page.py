"""The page about the explorer shows the pictures that the explorer makes today."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from turnproof_model.explore.export.formats import export
from turnproof_model.explore.search import search

PAGE = Path(__file__).parents[3] / "docs" / "explore.md"
SHOWN = {"messages": 2, "cancels": 1, "tools": 1, "reentrant": 0}


def bounds_of(picture):
    words = re.search(r"%% phases of \w+: (.*)", picture)[1].split(", ")
    return {name: int(amount) for name, amount in (word.split() for word in words)}


@pytest.mark.parametrize("contract", ["window", "claim"])
def test_the_page_shows_the_phases_that_are_reachable_today(contract):
    """The picture is what ``explore --graph x.mmd`` writes at the bounds that it names: replace it by that."""
    [picture] = re.findall(
        rf"^### {contract}\n\n```mermaid\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL
    )
    found = search(contract, SHOWN)

    assert bounds_of(picture) == found.bounds
    assert picture == "".join(export("phases.mmd", found.search))
