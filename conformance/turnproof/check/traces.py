"""
Read trace format v1 as entries.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from attrs import define, evolve, field

from turnproof.check.entries import Entry
from turnproof.check.formats import json_lines
from turnproof.check.lines import Lines, UnreadableError
from turnproof.check.logcheck import LogCheck
from turnproof.check.sequence import Sequence
from turnproof_model.trace import Header, TraceContract
from turnproof_model.trace_lines import TraceError, header_from_wire, record_from_wire


@define(eq=False)
class TraceLog:
    """Turn the lines of a trace into entries; ``header`` is the first of them."""

    header: Header
    lines: Lines
    sequence: Sequence = field(factory=lambda: Sequence(gapless=False))

    @classmethod
    def open(cls, lines: Lines, head: dict[str, Any], contract: TraceContract | None) -> TraceLog:
        """
        Take the header off.

        Args:
            lines: behind the header.
            head: the header as a JSON object.
            contract: whose reading of the rules to use, whatever the header says.

        Raises:
            UnreadableError: the header has another form.
        """
        try:
            header = header_from_wire(lines.number, head)
        except TraceError as error:
            raise UnreadableError(error.problem, error.line) from error
        return cls(header if contract is None else evolve(header, contract=contract), lines)

    def check(self, check: LogCheck) -> None:
        """
        Judge all records.

        Raises:
            UnreadableError: a line is no record of a trace; what came before is judged.
        """
        for entry in self:
            check.take(entry)

    def __iter__(self) -> Iterator[Entry]:
        """
        Go through the records; those of unknown type are skipped.

        Raises:
            UnreadableError: a line is no record of a trace.
        """
        behind = json_lines(self.lines, {})
        next(behind)
        for number, value in behind:
            try:
                record = record_from_wire(number, value)
            except TraceError as error:
                raise UnreadableError(error.problem, error.line) from error
            seq = value.get("seq")
            if type(seq) is int:
                self.sequence.take(seq, 1, number, str(value.get("type")))
            if record is not None:
                yield Entry(number, record.seq, (record,))
