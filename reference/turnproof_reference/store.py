"""
A session log in a file, one event a line.

Events are written as they are published and survive the end of the process; `checkpoint` makes them survive the end
of the machine. A full disk doesn't stop an agent in the middle of a turn: what couldn't be written waits, whole, and
the next checkpoint tries again and says so if it fails. A line is written completely or not at all, so only the end of
a file can be torn, and only by a crash in the middle of a write.
"""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from turnproof_reference.events import DurableEvent, Event
from turnproof_reference.log_format import LogFormat
from turnproof_reference.repair import closing_events
from turnproof_reference.session import Session

VERSION: Final = 1


class StoreError(Exception):
    """
    Tell that a log can't be read or written.

    Args:
        path: of the file.
        problem: what must hold, what is, what to do.
        line: number of the line, from 1, if it is about one.
    """

    def __init__(self, path: Path, problem: str, line: int | None = None) -> None:
        place = f"{path}" if line is None else f"{path}, line {line}"
        super().__init__(f"{place}: {problem}")
        self.path = path
        self.problem = problem
        self.line = line


@dataclass(frozen=True, slots=True)
class Loaded:
    """
    Hold what a file contains.

    Args:
        session: as it was written.
        size: bytes of complete lines.
        torn: bytes of an incomplete last line, left by a crash; 0 if the file ends properly.
    """

    session: Session
    size: int
    torn: int


def save(path: Path, session: Session, log_format: LogFormat) -> None:
    """
    Write a whole session, atomically: a reader finds the old file or the new one.

    Raises:
        StoreError: when it can't be written; the old file is untouched.

    Rules: W-LOG-3
    """
    lines = [_header(session, log_format)]
    lines += [_line(seq, event, log_format) for seq, event in enumerate(session.events)]
    beside = path.with_name(path.name + ".new")
    try:
        with beside.open("wb") as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_directory(path.parent)
    except OSError as error:
        beside.unlink(missing_ok=True)
        raise StoreError(path, _unwritable(error)) from error


def load(path: Path, log_format: LogFormat) -> Loaded:
    """
    Read a session; a torn last line is left out and counted.

    Raises:
        StoreError: when the file can't be read, belongs to another contract or is broken before its end.

    Rules: W-LOG-3, W-LOG-4
    """
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StoreError(path, f"the log must be readable ({error.strerror or error})") from error
    size = content.rfind(b"\n") + 1
    lines = content[:size].split(b"\n")[:-1]
    if not lines:
        raise StoreError(path, "the log must begin with a header line (it has no complete line); start a new one")
    session = _read_header(path, lines[0], log_format)
    events = tuple(_read_line(path, seq, line, log_format) for seq, line in enumerate(lines[1:]))
    return Loaded(replace(session, events=events), size, len(content) - size)


class LogStore:
    """
    Keep one log file up to date with a session.

    Subscribe `hear` to the agent's publisher and give `checkpoint` to the agent.
    """

    def __init__(self, path: Path, log_format: LogFormat, loaded: Loaded) -> None:
        self.path = path
        self.torn = loaded.torn
        self._format = log_format
        self._session = loaded.session
        self._seq = len(loaded.session.events)
        self._size = loaded.size  # bytes of complete lines in the file
        self._backlog: list[bytes] = []  # complete lines that could not be written yet
        self._file = os.open(path, os.O_WRONLY)
        os.ftruncate(self._file, self._size)
        os.lseek(self._file, self._size, os.SEEK_SET)

    @classmethod
    def create(cls, path: Path, session: Session, log_format: LogFormat) -> LogStore:
        """
        Begin a file with what the session holds.

        Raises:
            StoreError: when there is such a file already, or it can't be written.
        """
        if path.exists():
            raise StoreError(path, "a new log must not replace a file (there is one); open it, or choose another path")
        save(path, session, log_format)
        return cls.open(path, log_format)

    @classmethod
    def open(cls, path: Path, log_format: LogFormat) -> LogStore:
        """
        Go on with a file; a torn last line is cut off, `torn` tells its length in bytes.

        Raises:
            StoreError: as `load`, or when it can't be written.
        """
        loaded = load(path, log_format)
        try:
            return cls(path, log_format, loaded)
        except OSError as error:
            raise StoreError(path, _unwritable(error)) from error

    def resume(self) -> Session:
        """
        Answer the session to go on with; what its last turn lacks is added to the file first.

        Rules: W-LOG-3, C-LOG-3
        """
        closers = closing_events(self._session)
        for event in closers:
            self.append(event)
        self._session = replace(self._session, events=self._session.events + closers)
        return self._session

    def hear(self, event: Event) -> None:
        """Be a listener: append durable events."""
        if isinstance(event, DurableEvent):
            self.append(event)

    def append(self, event: DurableEvent) -> None:
        """Write an event; if that fails it waits for the next checkpoint."""
        self._backlog.append(_line(self._seq, event, self._format))
        self._seq += 1
        try:
            self._write_backlog()
        except OSError:
            return  # told by the checkpoint, which is where somebody waits for an answer

    async def checkpoint(self) -> None:
        """
        Make everything that was appended durable.

        Raises:
            StoreError: when that fails; nothing is lost and the next checkpoint tries again.
        """
        try:
            self._write_backlog()
            await asyncio.to_thread(os.fsync, self._file)
        except OSError as error:
            raise StoreError(self.path, _unwritable(error)) from error

    def close(self) -> None:
        """Let go of the file."""
        os.close(self._file)

    def _write_backlog(self) -> None:
        while self._backlog:
            self._write(self._backlog[0])
            del self._backlog[0]

    def _write(self, line: bytes) -> None:
        """Write a whole line, or leave the file as it was."""
        written = 0
        try:
            while written < len(line):
                written += os.write(self._file, line[written:])
        except OSError:
            os.ftruncate(self._file, self._size)
            os.lseek(self._file, self._size, os.SEEK_SET)
            raise
        self._size += len(line)


def _header(session: Session, log_format: LogFormat) -> bytes:
    header: dict[str, Any] = {
        "type": "session",
        "version": VERSION,
        "contract": log_format.contract,
        "id": session.id,
    }
    if session.turns_before:
        header["turnsBefore"] = session.turns_before
    if session.parent is not None:
        header["parent"] = session.parent
    return _dump(header)


def _read_header(path: Path, line: bytes, log_format: LogFormat) -> Session:
    header = _parse(path, 1, line)
    if header.get("type") != "session" or header.get("version") != VERSION:
        raise StoreError(path, f"the log must begin with a session header of version {VERSION} (got {header})", 1)
    if header.get("contract") != log_format.contract:
        wanted = log_format.contract
        raise StoreError(path, f"the log must be of contract {wanted} (got {header.get('contract')!r})", 1)
    try:
        return Session(str(header["id"]), (), int(header.get("turnsBefore", 0)), header.get("parent"))
    except (KeyError, TypeError, ValueError) as error:
        raise StoreError(path, f"the header must have an id ({error})", 1) from error


def _line(seq: int, event: DurableEvent, log_format: LogFormat) -> bytes:
    fields = log_format.write(event)
    return _dump({"type": fields["type"], "seq": seq, "data": fields["data"]})


def _read_line(path: Path, seq: int, line: bytes, log_format: LogFormat) -> DurableEvent:
    number = seq + 2  # lines count from 1, and the header is one
    fields = _parse(path, number, line)
    if fields.get("seq") != seq:
        problem = f"events must be numbered without gaps: {seq} must come here (got {fields.get('seq')!r})"
        raise StoreError(path, problem, number)
    try:
        return log_format.read(fields)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        problem = f"the event {fields.get('type')!r} must have the fields of its kind ({type(error).__name__}: {error})"
        raise StoreError(path, problem, number) from error


def _parse(path: Path, number: int, line: bytes) -> Mapping[str, Any]:
    try:
        fields = json.loads(line)
    except ValueError as error:
        raise StoreError(path, f"a line must be JSON ({error}); only the last may be torn", number) from error
    if not isinstance(fields, dict):
        raise StoreError(path, f"a line must be a JSON object (got {type(fields).__name__})", number)
    return fields


def _dump(fields: Mapping[str, Any]) -> bytes:
    return json.dumps(fields, separators=(",", ":")).encode() + b"\n"


def _unwritable(error: OSError) -> str:
    return f"the log must be writable ({error.strerror or error}); free space or give access, then try again"


def _sync_directory(directory: Path) -> None:
    """Make a new name durable too, where directories can be synced."""
    if os.name == "nt":
        return
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
