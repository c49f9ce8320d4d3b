"""
Keep the graph of each contract beside this module, so that a run needn't search: a test holds both against each other.

``python -m turnproof.coverage`` writes the files anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

from turnproof.coverage.graph import Edge, Graph, Part
from turnproof_model.vocabulary import Contract

SCHEMA = "turnproof/situations/1"

T = TypeVar("T")


def file_of(contract: Contract) -> Path:
    """Name the file of a contract."""
    return Path(__file__).with_name(f"{contract}.json")


@lru_cache
def shipped(contract: Contract) -> Graph:
    """Read the graph of a contract."""
    return graph_from_json(json.loads(file_of(contract).read_text(encoding="utf-8")))


def graph_to_json(graph: Graph) -> dict[str, Any]:
    """Write a graph as a JSON value: an edge is label, situation after it, events and freedoms, each by number."""
    edges = [edge for part in graph.parts for edges in part.edges for edge in edges]
    labels = _numbered(edge.label for edge in edges)
    heard = _numbered(edge.heard for edge in edges)
    assumed = _numbered(edge.assumed for edge in edges)

    def written(edge: Edge) -> list[int]:
        return [labels[edge.label], edge.after, heard[edge.heard], assumed[edge.assumed]]

    return {
        "schema": SCHEMA,
        "contract": graph.contract,
        "labels": list(labels),
        "heard": list(map(list, heard)),
        "assumed": [dict(pairs) for pairs in assumed],
        "variants": {at: list(offered) for at, offered in graph.variants.items()},
        "parts": [
            {
                "setting": part.ground,
                "situations": [list(at) for at in part.situations],
                "edges": [[number for edge in edges for number in written(edge)] for edges in part.edges],
            }
            for part in graph.parts
        ],
    }


def _numbered(values: Iterable[T]) -> dict[T, int]:
    numbers: dict[T, int] = {}
    for value in values:
        numbers.setdefault(value, len(numbers))
    return numbers


def graph_from_json(value: dict[str, Any]) -> Graph:
    """Read a graph back."""
    labels = value["labels"]
    heard = [tuple(names) for names in value["heard"]]
    assumed = [tuple(pairs.items()) for pairs in value["assumed"]]

    def edges(numbers: list[int]) -> tuple[Edge, ...]:
        quads = zip(*(iter(numbers),) * 4, strict=True)
        return tuple(Edge(labels[name], after, heard[said], assumed[if_]) for name, after, said, if_ in quads)

    parts = tuple(
        Part(part["setting"], tuple(map(tuple, part["situations"])), tuple(map(edges, part["edges"])))
        for part in value["parts"]
    )
    return Graph(value["contract"], parts, {at: tuple(offered) for at, offered in value["variants"].items()})


def text_of(graph: Graph) -> str:
    """Write the file of a graph: one line for each situation, so that a change reads well."""
    value = graph_to_json(graph)
    parts = value.pop("parts")
    head = json.dumps(value, indent=1)[:-2]
    bodies = [
        f' {{"setting": {json.dumps(part["setting"])},\n  "situations": [\n'
        + ",\n".join(map(json.dumps, part["situations"]))
        + '\n  ],\n  "edges": [\n'
        + ",\n".join(json.dumps(edges, separators=(",", ":")) for edges in part["edges"])
        + "\n  ]}"
        for part in parts
    ]
    return f'{head},\n "parts": [\n' + ",\n".join(bodies) + "\n ]\n}\n"
