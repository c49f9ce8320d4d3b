"""
Write graphs as GraphML, DOT and Mermaid, and choose what a file holds by how its name ends.

All writers yield text piece by piece, and keep no more of a graph than what they write just now.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TypeAlias
from xml.sax.saxutils import escape, quoteattr

from turnproof_model.explore.export.graphs import Edge, Graph, Node, Of, graph
from turnproof_model.explore.export.itf import Taken, itf
from turnproof_model.explore.export.promela import promela
from turnproof_model.explore.search import Search

Writer: TypeAlias = Callable[[Graph], Iterator[str]]

MERMAID_EDGES = 500
"""How many edges Mermaid draws; it refuses more, and nobody could read them."""


class ExportError(ValueError):
    """Say that something can't be written in a format."""


# ------------------------------------------------------------------------------------------------ formats
def graphml(drawn: Graph) -> Iterator[str]:
    """Write GraphML: every fact is an attribute, ``label`` among them."""
    nodes, edges = _keys("n", drawn.node_facts), _keys("e", drawn.edge_facts)
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n'
    for what, facts, keys in (("node", drawn.node_facts, nodes), ("edge", drawn.edge_facts, edges)):
        for name, key in keys.items():
            kind = facts.get(name, "string")
            yield f'<key id="{key}" for="{what}" attr.name={quoteattr(name)} attr.type="{kind}"/>\n'
    yield f'<graph id="G" edgedefault="directed">\n<desc>{escape(drawn.name)}</desc>\n'
    for node in drawn.nodes():
        yield f'<node id="{node.id}">{_facts(nodes, node)}</node>\n'
    for edge in drawn.edges():
        yield f'<edge source="{edge.source}" target="{edge.target}">{_facts(edges, edge)}</edge>\n'
    yield "</graph>\n</graphml>\n"


def _keys(front: str, facts: Mapping[str, str]) -> dict[str, str]:
    return {name: f"{front}{number}" for number, name in enumerate(("label", *facts))}


def _facts(keys: Mapping[str, str], told: Node | Edge) -> str:
    facts = {"label": told.label, **told.facts}
    return "".join(f'<data key="{keys[name]}">{escape(str(value))}</data>' for name, value in facts.items())


def dot(drawn: Graph) -> Iterator[str]:
    """Write DOT, for Graphviz."""
    yield f"digraph {_quoted(drawn.name)} {{\n  node [shape=box];\n  start [shape=point];\n  start -> {drawn.start};\n"
    for node in drawn.nodes():
        yield f"  {node.id} [label={_quoted(node.label)}];\n"
    for edge in drawn.edges():
        yield f"  {edge.source} -> {edge.target} [label={_quoted(edge.label)}];\n"
    yield "}\n"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def mermaid(drawn: Graph) -> Iterator[str]:
    """
    Write a Mermaid state diagram.

    Raises:
        ExportError: the graph has more edges than Mermaid draws.
    """
    if drawn.size > MERMAID_EDGES:
        raise ExportError(
            f"a Mermaid picture has at most {MERMAID_EDGES} edges (got {drawn.size} for the {drawn.name}); draw the "
            "graph of phases, or write GraphML or DOT"
        )
    yield f"stateDiagram-v2\n  %% {drawn.name}\n"
    for node in drawn.nodes():
        yield f'  state "{_word(node.label)}" as {node.id}\n'
    yield f"  [*] --> {drawn.start}\n"
    for edge in drawn.edges():
        yield f"  {edge.source} --> {edge.target}{': ' if edge.label else ''}{_word(edge.label)}\n"


def _word(text: str) -> str:
    """Leave out what Mermaid would read as its own."""
    return text.translate(str.maketrans('":;#\n', "' ,  "))


# ------------------------------------------------------------------------------------------------ by name
GRAPHS: Mapping[str, tuple[Writer, Of]] = {
    ".graphml": (graphml, "states"),
    ".dot": (dot, "phases"),
    ".gv": (dot, "phases"),
    ".mmd": (mermaid, "phases"),
}
"""Formats of graphs by how a name ends, and which graph is written unless somebody says otherwise."""

TRACE, MODEL = ".itf.json", ".pml"

SUFFIXES = (*GRAPHS, TRACE, MODEL)
"""What names of files may end with."""


def check_name(name: str) -> None:
    """
    Tell early whether there is a format for a name.

    Raises:
        ExportError: there isn't.
    """
    if not name.endswith(SUFFIXES):
        raise ExportError(f"a graph's file ends with one of {', '.join(SUFFIXES)} (got {name!r})")


def export(name: str, search: Search, *, of: Of | None = None, trace: Sequence[Taken] | None = None) -> Iterator[str]:
    """
    Write what a file of this name is to hold.

    Args:
        name: of the file; ``.graphml``, ``.dot`` and ``.mmd`` hold a graph, ``.itf.json`` a trace, ``.pml`` a model.
        search: that has ended.
        of: which graph; each format has its own usual one.
        trace: for a trace; a shortest way to one of the deepest states if there is none.

    Raises:
        ExportError: there is no such format, or it can't hold so much.
    """
    check_name(name)
    if name.endswith(MODEL):
        return promela(search.layout)
    if name.endswith(TRACE):
        return itf(search.layout, search.trace_to(search.deepest()) if trace is None else trace)
    write, usual = next(format_ for suffix, format_ in GRAPHS.items() if name.endswith(suffix))
    return write(graph(search, of or usual))
