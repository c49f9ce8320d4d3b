"""
Drive any candidate as a Hypothesis state machine: the public, shrinking face of the suite.

Subclass ``AgentMachine``, name a ``candidate``, add rules, invariants or your own weights, and run it like any
``RuleBasedStateMachine``::

    class MyAgent(AgentMachine):
        candidate = ChildCandidate(["node", "my-driver.mjs"])

    TestMyAgent = MyAgent.TestCase

Every rule makes one command, gives it to candidate, oracle and monitors, and fails with a ``RuleBrokenError`` whose
message is the schedule as a score. A schedule that a ``collector`` takes doesn't fail: the next one begins.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from turnproof.engine import AFTERLIFE, BudgetSpent, Collector
from turnproof.generator import Generator
from turnproof.score import failure_text
from turnproof.trial import RuleBrokenError, RuleFailure, Trial
from turnproof_model import vocabulary as v


class AgentMachine(RuleBasedStateMachine):
    """
    Give commands to one candidate and fail at the first broken rule.

    Class attributes:
        candidate: what to put on trial; its client is kept over all examples.
        collector: takes failures instead of failing, if it says true.
        budget: commands after which nothing more is sent; ``None`` for no end.
    """

    candidate: ClassVar[Any] = None
    collector: ClassVar[Collector | None] = None
    budget: ClassVar[int | None] = None
    trial: ClassVar[Trial | None] = None

    def __init__(self) -> None:
        super().__init__()
        cls = type(self)
        if cls.trial is None:
            if cls.candidate is None:
                raise TypeError(f"{cls.__name__}.candidate must name what to put on trial (got None)")
            cls.trial = Trial.open(cls.candidate.connect())
        self._trial: Trial = cls.trial
        self._data: st.DataObject | None = None
        self.generator = self._new_generator()
        self._afterlife = 0

    def _new_generator(self) -> Generator:
        """Make what gives the commands; give it habits of your own here."""
        return Generator(self._trial.profile, lambda: self._trial.machine, self._pick)

    def _pick(self, options: Sequence[Any]) -> Any:
        assert self._data is not None
        return options[self._data.draw(st.integers(0, len(options) - 1))] if len(options) > 1 else options[0]

    # -------------------------------------------------------------------------------------------- giving commands
    def give(self, command: v.Command) -> None:
        """
        Give one command.

        Raises:
            BudgetSpent: no more commands may be sent.
        """
        budget = type(self).budget
        if budget is not None and self._trial.commands >= budget:
            raise BudgetSpent
        if isinstance(command, v.Resume) and not self._trial.allows(command):
            return
        if self._afterlife > AFTERLIFE:
            self._begin()
            return
        failure = self._trial.begin(command) if isinstance(command, v.Reset) else self._trial.do(command)
        if failure is not None:
            self._take(failure)
        elif self._trial.disposed:
            self._afterlife += 1

    def _take(self, failure: RuleFailure) -> None:
        self._tell(failure)
        self._begin()

    def _tell(self, failure: RuleFailure) -> None:
        collector = type(self).collector
        if collector is None or not collector(failure):
            raise RuleBrokenError(failure, failure_text(failure))

    def teardown(self) -> None:
        """End the schedule: some rules can be judged no sooner."""
        failure = self._trial.end()
        if failure is not None:
            self._tell(failure)

    def _begin(self) -> None:
        self.teardown()
        self.generator = self._new_generator()
        self._afterlife = 0
        self.give(self.generator.reset())

    # -------------------------------------------------------------------------------------------- rules
    @initialize(data=st.data())
    def start(self, data: st.DataObject) -> None:
        """Begin a schedule."""
        self._data = data
        self._begin()

    @rule()
    def proceed(self) -> None:
        """Settle an open gate, or send where there is none: what keeps an agent going."""
        self.give(self.generator.awaited() or self.generator.proceed())

    @rule()
    def act(self) -> None:
        """Do anything else that a caller may do, the usual things more often."""
        self.give(self.generator.command())
