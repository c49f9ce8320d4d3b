"""
Measure a kill matrix on several processors: one task for each defect and seed, the results in one order whatever the
tasks took.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Literal, TypeAlias

from attrs import evolve, frozen

from turnproof.killmatrix.defects import Defect
from turnproof.killmatrix.hunting import Hunt, hunt
from turnproof.killmatrix.matrix import Matrix, Row
from turnproof.killmatrix.tasks import kept, lost_races, toured

Sort: TypeAlias = Literal["hunt", "races", "tour"]
Found: TypeAlias = Hunt | tuple[str, ...] | int
Progress: TypeAlias = Callable[[int, int, int], None]
"""Told the tasks done, all of them, and how many searches came back without a kill."""


@frozen
class Plan:
    """
    Say what is to be measured.

    ``seeds`` and ``budget``: of the searches; ``capsules``: where a shrunk kill of each defect is kept, if anywhere;
    ``jobs``: processes at work, 1 being this one.
    """

    defects: tuple[Defect, ...]
    seeds: tuple[int, ...] = tuple(range(1, 11))
    budget: int = 20_000
    races: bool = False
    tour: bool = False
    capsules: Path | None = None
    jobs: int = 1


@frozen
class _Task:
    """Be one piece of the work, the same in any process."""

    sort: Sort
    defect: Defect
    seed: int = 0
    budget: int = 0
    wanted: tuple[str, ...] = ()


def measure(plan: Plan, progress: Progress | None = None) -> Matrix:
    """
    Measure a kill matrix.

    Args:
        plan: what is to be measured.
        progress: told how far it is.

    Raises:
        CapsuleError: a capsule can't be written.
    """
    tasks = [_Task("hunt", one, seed, plan.budget) for seed in plan.seeds for one in plan.defects]
    tasks += [_Task("races", one) for one in plan.defects if plan.races]
    tasks += [_Task("tour", one) for one in plan.defects if plan.tour]
    found = _done(tasks, plan.jobs, progress)
    matrix = Matrix(tuple(_row(one, found) for one in plan.defects), plan.seeds, plan.budget)
    matrix = _insisted(matrix, plan)
    return matrix if plan.capsules is None else _with_capsules(matrix, plan.capsules)


def _row(defect: Defect, found: dict[_Task, Found]) -> Row:
    """Gather what the tasks of one defect came to."""
    row = Row(defect)
    for task, result in found.items():
        if task.defect == defect:
            row = _with(row, result)
    return row


def _with(row: Row, result: Found) -> Row:
    if isinstance(result, Hunt):
        return evolve(row, hunts=(*row.hunts, result))
    return evolve(row, tour=result) if isinstance(result, int) else evolve(row, races=result)


def _insisted(matrix: Matrix, plan: Plan) -> Matrix:
    """Search on for each rule that nothing was named by yet, in the defects that break it, until it kills one."""
    extra: dict[Defect, tuple[Hunt, ...]] = {}
    for rule in matrix.kills_nothing if plan.seeds else ():
        breaking = [row.defect for row in matrix.rows if rule in row.defect.rules]
        for defect in sorted(breaking, key=lambda one: one.rule != rule):  # those that were made for it first
            found = hunt(defect, plan.seeds[0], plan.budget, (rule,))
            extra[defect] = (*extra.get(defect, ()), found)
            if found.killer is not None:
                break
    rows = (evolve(row, extra=extra.get(row.defect, ())) for row in matrix.rows)
    return evolve(matrix, rows=tuple(rows))


def _with_capsules(matrix: Matrix, folder: Path) -> Matrix:
    """Shrink one kill of each defect and keep it."""
    rows = []
    for row in matrix.rows:
        first = next((one for one in row.hunts if one.killer is not None), None)
        capsule = None if first is None else kept(row.defect, first, folder)
        rows.append(evolve(row, capsule=capsule))
    return evolve(matrix, rows=tuple(rows))


# ------------------------------------------------------------------------------------------------ work
def _do(task: _Task) -> Found:
    if task.sort == "hunt":
        return hunt(task.defect, task.seed, task.budget, task.wanted)
    return lost_races(task.defect) if task.sort == "races" else toured(task.defect)


def _done(tasks: list[_Task], jobs: int, progress: Progress | None) -> dict[_Task, Found]:
    """Do all tasks, and give their results in the order of the tasks."""
    found: dict[_Task, Found] = {}
    survived = 0
    for task, result in _results(tasks, jobs):
        found[task] = result
        survived += isinstance(result, Hunt) and result.commands is None
        if progress is not None:
            progress(len(found), len(tasks), survived)
    return {task: found[task] for task in tasks}


def _results(tasks: Iterable[_Task], jobs: int) -> Iterator[tuple[_Task, Found]]:
    """Give results as they come."""
    if jobs == 1:
        yield from ((task, _do(task)) for task in tasks)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        running = {pool.submit(_do, task): task for task in tasks}
        try:
            yield from ((running[done], done.result()) for done in as_completed(running))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise
