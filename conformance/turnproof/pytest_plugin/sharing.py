"""
Run each search once in a session, whichever worker asks first, and let the workers share its shards.

Finished shards lie as JSON in a folder that all workers know. A worker takes a shard by locking its file; one that
dies gives its lock up, and another takes over. The joint result doesn't depend on who ran what.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path

import pytest
from filelock import FileLock, Timeout

from turnproof.candidate import Candidate, called_by
from turnproof.expectations import Assessment, assess
from turnproof.merging import merged
from turnproof.pytest_plugin import SHARED, SHARED_FOLDER
from turnproof.pytest_plugin.settings import Settings
from turnproof.races.catalogue import ALL
from turnproof.results import RunResult, run_from_json
from turnproof.runner import run

ASSESSED: pytest.StashKey[dict[str, Assessment]] = pytest.StashKey()
BROKEN: pytest.StashKey[dict[str, Exception]] = pytest.StashKey()


def shared_folder(config: pytest.Config) -> Path:
    """Find the folder that the workers of this session share; the first to ask makes it."""
    if SHARED_FOLDER not in config.stash:
        given = getattr(config, "workerinput", {}).get(SHARED)
        config.stash[SHARED_FOLDER] = Path(given or tempfile.mkdtemp(prefix="turnproof-"))
    return config.stash[SHARED_FOLDER]


def drop_shared(config: pytest.Config) -> None:
    """Remove the folder; workers leave it to the session that made it."""
    if not hasattr(config, "workerinput"):
        shutil.rmtree(config.stash[SHARED_FOLDER], ignore_errors=True)


def assessed(config: pytest.Config, candidate: Candidate, settings: Settings, where: str) -> Assessment:
    """
    Judge a candidate, or fetch what was found before in this session.

    Args:
        config: of the session.
        candidate: to be judged.
        settings: how.
        where: the collector it belongs to.

    Raises:
        KeyboardInterrupt: the search was stopped.
    """
    known = config.stash.setdefault(ASSESSED, {})
    key = _key(candidate, settings, where)
    broken = config.stash.setdefault(BROKEN, {})
    if key in broken:
        raise broken[key]
    if key not in known:
        try:
            result = _result(shared_folder(config) / key, candidate, settings)
        except Exception as error:
            broken[key] = error  # the other tests of this candidate would only run into it again
            raise
        file = None if settings.expect is None else str(settings.expect.relative_to(config.rootpath))
        known[key] = assess(result, settings.expectations(), file)
        (shared_folder(config) / f"{key}.json").write_text(json.dumps(known[key].to_json()), encoding="utf-8")
    return known[key]


def _key(candidate: Candidate, settings: Settings, where: str) -> str:
    """Name a search: the same name is the same search, in every worker."""
    named = (str(candidate), repr(getattr(candidate, "kwargs", "")), repr(settings), where)
    return hashlib.sha256(repr(named).encode()).hexdigest()[:16]


def _result(folder: Path, candidate: Candidate, settings: Settings) -> RunResult:
    """Run the shards that nobody else runs, wait for the others, and join them all."""
    folder.mkdir(parents=True, exist_ok=True)
    for patience in (0, -1):
        for number in range(settings.shards):
            try:
                with FileLock(folder / f"{number}.lock", timeout=patience):
                    _ensure(folder / f"{number}.json", candidate, settings, number)
            except Timeout:
                continue  # a worker is at it; the second pass waits for it
    shards = [(folder / f"{number}.json").read_text(encoding="utf-8") for number in range(settings.shards)]
    return merged([run_from_json(json.loads(shard)) for shard in shards])


def _ensure(path: Path, candidate: Candidate, settings: Settings, number: int) -> None:
    if path.exists():
        return
    share, rest = divmod(settings.commands, settings.shards)
    result = run(
        candidate,
        settings.contract,
        commands=max(share + (number < rest), 1),
        seed=settings.seed + number,
        capsules=settings.capsules,
        called=called_by(candidate),
        races=(ALL,) if number == 0 else (),
        share=(number, settings.shards),
    )
    if not result.interrupted:
        part = path.with_suffix(".part")
        part.write_text(json.dumps(result.to_json()), encoding="utf-8")
        part.replace(path)
    else:
        raise KeyboardInterrupt
