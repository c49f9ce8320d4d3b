"""
Search for long: one seed after another, several at once, and all of it kept as it comes.

A *part* is a run with one seed, in a process of its own. When it ends it leaves its result and its capsules in the
campaign's folder, and one that is stopped leaves what it had found. What is joined in the end depends neither on how
many parts ran at once nor on how often the campaign was stopped and gone on with::

    plan.json          who is judged, by what, and how many commands a seed is given
    seeds/17.json      the run of one seed, with its capsules beside it in seeds/17/
    capsules/          the shortest capsule of each way of failing
    campaign.json      all parts, joined
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any, cast

from attrs import define, evolve, field, frozen

from turnproof.campaign_parts import Part, Plan, Running, write
from turnproof.merging import merged
from turnproof.results import CapsuleResult, RunResult, run_from_json

LOOK = 0.5
"""Seconds between two looks at how far the parts are, where somebody watches."""

Watcher = Callable[[int, int, int], None]
"""Told the commands sent, the parts that ended, and the number of distinct failures so far."""


class CampaignError(Exception):
    """Say why a campaign can't be begun or gone on with; the message tells what to do."""


@frozen
class CampaignResult:
    """Hold what a campaign found: its parts joined, and their seeds in order."""

    run: RunResult
    seeds: tuple[int, ...]

    def to_json(self) -> dict[str, Any]:
        """Give the document of the joined run, and the seeds beside it."""
        return self.run.to_json() | {"seeds": list(self.seeds)}


@define
class Campaign:
    """
    Run the parts of a plan and keep them in a folder.

    Args:
        plan: of the campaign.
        folder: where everything is kept.
        jobs: parts that run at once, ≥ 1.
        watcher: told how far the campaign is.
    """

    plan: Plan
    folder: Path
    jobs: int = 1
    watcher: Watcher | None = None
    done: dict[int, RunResult] = field(factory=dict, init=False)
    running: dict[int, Running] = field(factory=dict, init=False)
    stopped: bool = field(default=False, init=False)

    def open(self, *, resume: bool) -> None:
        """
        Get the folder ready.

        Args:
            resume: go on with what lies there; parts that ended by themselves aren't run again.

        Raises:
            CampaignError: there is a campaign already, or another one, or the folder can't be written.
        """
        path = self.folder / "plan.json"
        try:
            if path.exists():
                self._go_on(json.loads(path.read_text(encoding="utf-8")), resume=resume)
            else:
                (self.folder / "seeds").mkdir(parents=True, exist_ok=True)
                path.write_text(json.dumps(self.plan.to_json(), indent=1) + "\n", encoding="utf-8")
        except (OSError, ValueError) as error:
            raise CampaignError(f"{self.folder}: a campaign can't be kept there: {error}") from error

    def _go_on(self, found: Any, *, resume: bool) -> None:
        if not resume:
            raise CampaignError(f"{self.folder} holds a campaign; go on with it (--resume) or name another folder")
        if found != self.plan.to_json():
            raise CampaignError(f"{self.folder} holds another campaign ({found}); name another folder")
        for path in (self.folder / "seeds").glob("*.json"):
            result = run_from_json(json.loads(path.read_text(encoding="utf-8")))
            if not result.interrupted:
                self.done[result.seed] = result

    def run(self, parts: Iterable[Part], enough: Callable[[], bool] = lambda: False) -> CampaignResult:
        """
        Run the parts that aren't there yet, until there are none left or somebody stops it.

        Args:
            parts: in order, possibly without end.
            enough: asked before each part; no other begins once it says so.

        Raises:
            CampaignError: a part can't be run.
        """
        todo = (part for part in parts if part.seed not in self.done)
        try:
            self._run(todo, enough)
        except KeyboardInterrupt:
            self._stop()
        finally:
            for running in self.running.values():
                running.process.kill()
        return self._joined()

    def _run(self, todo: Iterator[Part], enough: Callable[[], bool]) -> None:
        while True:
            while len(self.running) < self.jobs and not enough() and (part := next(todo, None)) is not None:
                running = Running.begin(self.plan, part, self.folder / "seeds")
                self.running[running.process.sentinel] = running
            if not self.running:
                return
            self._await_some()

    def _await_some(self) -> None:
        """Wait until a part ends, or for a moment."""
        for ended in wait(list(self.running), None if self.watcher is None else LOOK):
            self._take(self.running.pop(cast("int", ended)))
        if self.watcher is not None:
            sent = sum(result.commands for result in self.done.values())
            under_way = sum(running.sent.value for running in self.running.values())
            failures = {capsule.signature for result in self.done.values() for capsule in result.capsules}
            self.watcher(sent + under_way, len(self.done), len(failures))

    def _stop(self) -> None:
        """Let the parts end with what they have found; a second interrupt ends them at once."""
        self.stopped = True
        for running in self.running.values():
            running.process.terminate()
        while self.running:
            self._await_some()

    def _take(self, running: Running) -> None:
        """Keep what a part has left."""
        running.process.join()
        if running.complaint.exists():
            raise CampaignError(running.complaint.read_text(encoding="utf-8"))
        if running.result.exists():
            self.done[running.part.seed] = run_from_json(json.loads(running.result.read_text(encoding="utf-8")))
            if self.done[running.part.seed].capsules:
                self._joined()
        elif not self.stopped:
            status = running.process.exitcode
            raise CampaignError(f"seed {running.part.seed} must leave a result (its process ended with {status})")

    def _joined(self) -> CampaignResult:
        """Join all parts, and keep the shortest capsule of each way of failing."""
        seeds = tuple(sorted(self.done))
        if not seeds:
            raise CampaignError("a campaign must have at least one finished part (it was stopped before)")
        joint = merged([self.done[seed] for seed in seeds])
        shutil.rmtree(self.folder / "capsules", ignore_errors=True)
        kept = tuple(map(self._kept, joint.capsules))
        result = CampaignResult(evolve(joint, capsules=kept, interrupted=joint.interrupted or self.stopped), seeds)
        write(self.folder / "campaign.json", json.dumps(result.to_json(), indent=1, ensure_ascii=False) + "\n")
        return result

    def _kept(self, capsule: CapsuleResult) -> CapsuleResult:
        if capsule.file is None:
            return capsule
        left = Path(capsule.file)
        kept = self.folder / "capsules" / left.name
        kept.parent.mkdir(exist_ok=True)
        shutil.copyfile(self.folder / "seeds" / left.parent.name / left.name, kept)
        return evolve(capsule, file=str(kept))
