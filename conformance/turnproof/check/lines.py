"""
Open a log, whatever it is packed in, and give its lines one by one.

Nothing is read twice, so that pipes work, and no line is held that is longer than a limit, so that a file without line
ends doesn't fill the memory. All that can be wrong with a file ends in ``UnreadableError``, with the line it is about.
"""

from __future__ import annotations

import gzip
import importlib
import os
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from io import BufferedReader, FileIO, RawIOBase
from pathlib import Path
from typing import Any, BinaryIO, Self, cast

LONGEST_LINE = 32 * 1024 * 1024
"""Bytes that a line may have; one event of a session, an image in it included, stays far below."""

_BLOCK = 1024 * 1024
_GZIP = b"\x1f\x8b"
_ZSTD = b"\x28\xb5\x2f\xfd"

STDIN = "-"
"""The path that stands for standard input."""


class UnreadableError(Exception):
    """
    Say what is wrong with a file.

    Args:
        message: what must hold and what came.
        line: where, from 1; 0 if it is about the file as a whole.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line


class Lines:
    """
    Give the lines of a log as bytes, without what packs them, each with its number from 1.

    Attributes:
        number: of the line given last.
    """

    def __init__(self, file: BinaryIO) -> None:
        """
        Take an open file, which is closed with the lines.

        Raises:
            UnreadableError: it can't be read, or is packed in a way that this Python can't unpack.
        """
        self.number = 0
        self._source = file
        self._broken: tuple[type[Exception], ...]
        try:
            self._file, self._broken = _unpacked(file)
        except OSError as error:
            raise UnreadableError(f"can't be read: {_told(error)}") from error

    @classmethod
    def open(cls, path: str) -> Lines:
        """
        Open a file; ``-`` is standard input.

        Raises:
            UnreadableError: it can't be opened, or is no file.
        """
        try:
            return cls(_opened(path))
        except OSError as error:
            raise UnreadableError(f"can't be read: {_told(error)}") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for file in (self._file, self._source):
            with suppress(OSError):
                file.close()

    def __iter__(self) -> Iterator[bytes]:
        """
        Go on where the last iteration stopped.

        Raises:
            UnreadableError: reading fails, or a line is longer than the limit.
        """
        read = partial(self._file.readline, LONGEST_LINE + 1)
        try:
            for line in iter(read, b""):
                self.number += 1
                if len(line) > LONGEST_LINE:
                    raise UnreadableError(f"a line holds at most {LONGEST_LINE} bytes (got more)", self.number)
                yield line
        except OSError as error:
            raise UnreadableError(f"can't be read: {_told(error)}", self.number + 1) from error
        except self._broken as error:
            raise UnreadableError(f"can't be unpacked: {_told(error)}", self.number + 1) from error


def _opened(path: str) -> BinaryIO:
    """Open a file; a pipe must have somebody who writes to it."""
    if path == STDIN:
        return cast("BinaryIO", sys.stdin.buffer)
    kind = Path(path).stat().st_mode
    if stat.S_ISDIR(kind):
        raise UnreadableError("a log is a file (got a directory); name the files in it")
    if stat.S_ISFIFO(kind):
        return _pipe(path)
    if not stat.S_ISREG(kind):
        raise UnreadableError("a log is a file or a pipe (got a device or a socket)")
    return Path(path).open("rb", buffering=_BLOCK)


def _pipe(path: str) -> BinaryIO:
    """Open a pipe without waiting for a writer that may never come."""
    handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        first = os.read(handle, 1)
    except BlockingIOError:  # a writer is there, but hasn't written yet
        first = None
    if first == b"":
        os.close(handle)
        raise UnreadableError("a pipe must have a writer (got none)")
    os.set_blocking(handle, True)
    return cast("BinaryIO", BufferedReader(_Pipe(handle, first or b""), _BLOCK))


class _Pipe(FileIO):
    """Be a pipe whose first byte was taken already."""

    def __init__(self, handle: int, first: bytes) -> None:
        super().__init__(handle, "rb")
        self._first = first

    def readinto(self, buffer: Any, /) -> int | None:
        """Give the first byte, then what is in the pipe."""
        if not self._first:
            return super().readinto(buffer)
        buffer[:1], self._first = self._first, b""
        return 1


def _unpacked(file: BinaryIO) -> tuple[BufferedReader, tuple[type[Exception], ...]]:
    """Unpack by the first bytes; also name the errors by which the unpacking tells of a broken file."""
    reader = file if isinstance(file, BufferedReader) else BufferedReader(cast("Any", file), _BLOCK)
    head = reader.peek(len(_ZSTD))[: len(_ZSTD)]
    if head.startswith(_GZIP):
        packed: Any = gzip.GzipFile(fileobj=reader)
        return BufferedReader(packed, _BLOCK), (EOFError, zlib.error)
    if head == _ZSTD:
        packed, error = _zstd(reader)
        return BufferedReader(packed, _BLOCK), (EOFError, error)
    return reader, ()


def _zstd(file: BufferedReader) -> tuple[Any, type[Exception]]:
    """Unpack with Python's own module, or with the package that older Pythons need."""
    if sys.version_info >= (3, 14):
        own: Any = importlib.import_module("compression.zstd")
        return own.ZstdFile(file), own.ZstdError
    try:
        package: Any = importlib.import_module("zstandard")
    except ImportError as error:
        hint = "install turnproof[zstd], or unpack it first"
        raise UnreadableError(f"to read .zst, Python 3.14 or the package 'zstandard' must be there; {hint}") from error
    return _Zstd(file, package), package.ZstdError


class _Zstd(RawIOBase):
    """Unpack with the package, and tell of a file that is cut off as Python's own module does."""

    def __init__(self, file: BufferedReader, package: Any) -> None:
        super().__init__()
        self._read = partial(file.read1, _BLOCK)
        self._fresh = package.ZstdDecompressor().decompressobj
        self._frame = self._fresh()
        self._left = b""

    def readable(self) -> bool:
        """Let a buffered reader read."""
        return True

    def readinto(self, buffer: Any, /) -> int:
        """
        Give what was unpacked.

        Raises:
            EOFError: the file ends in the middle of a frame.
        """
        while not self._left:
            packed = self._frame.unused_data or self._read()
            if not packed and self._frame.eof:
                return 0
            if not packed:
                raise EOFError("the file ends in the middle of a frame")
            if self._frame.eof:
                self._frame = self._fresh()
            self._left = self._frame.decompress(packed)
        count = min(len(self._left), len(buffer))
        buffer[:count], self._left = self._left[:count], self._left[count:]
        return count


def _told(error: BaseException) -> str:
    return (error.strerror if isinstance(error, OSError) and error.strerror else str(error)).lower()
