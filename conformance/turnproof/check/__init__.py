"""
Judge session logs: what a log shows is held against the same rules as a candidate, at the speed of reading it.

``check_files`` is the door; ``results`` is what comes out. Inside: ``lines`` opens files, ``formats`` tells what they
are, a reader for each format makes ``entries`` of them, ``judge`` judges those, ``blame`` asks who did it.
"""

from turnproof.check.checking import check_file, check_files
from turnproof.check.lines import UnreadableError
from turnproof.check.results import (
    FORMATS,
    Blame,
    CheckResult,
    Damage,
    FileResult,
    FormatName,
    LogEdit,
    LogViolation,
    Place,
    Unread,
)

__all__ = [
    "FORMATS",
    "Blame",
    "CheckResult",
    "Damage",
    "FileResult",
    "FormatName",
    "LogEdit",
    "LogViolation",
    "Place",
    "Unread",
    "UnreadableError",
    "check_file",
    "check_files",
]
