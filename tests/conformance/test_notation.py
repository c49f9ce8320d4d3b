"""The words of a score are read back as the commands that they were written from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnproof.generator import Generator
from turnproof.making import PLUGIN
from turnproof.notation import Reader, read_schedule
from turnproof.notation_words import NotationError
from turnproof.score import command_text, schedule_text
from turnproof_model import vocabulary as v
from turnproof_model.contracts import CONTRACTS, rule_book
from turnproof_model.machine import Machine
from turnproof_model.observation import Implementation, Profile
from turnproof_model.surroundings import MisuseError, Setting
from turnproof_model.wire import request_from_wire

IDS = st.from_regex(r"[a-z][a-z0-9]{0,2}(-[a-z0-9])?", fullmatch=True).filter(lambda name: name[0] not in "cgx")
PEOPLE = IDS.map(lambda name: v.Message(name, name))
CONTEXTS = st.integers(1, 9).map(lambda n: v.Message(f"x{n}", f"x{n}", PLUGIN))
MANY_CONTEXTS = st.lists(CONTEXTS, max_size=2, unique_by=lambda m: m.id).map(tuple)
CALLS = st.lists(st.builds(v.Call, st.integers(1, 9).map("c{}".format), st.sampled_from(["par", "exc"])), max_size=2)
OUTCOMES: st.SearchStrategy[v.Outcome] = st.one_of(
    st.builds(v.Allow, st.none() | st.text(max_size=5), MANY_CONTEXTS),
    st.builds(v.Block, MANY_CONTEXTS),
    st.builds(v.Enter, st.none() | st.lists(CONTEXTS, max_size=2, unique_by=lambda m: m.id).map(tuple)),
    st.builds(v.Tools, CALLS.map(tuple)),
    st.builds(v.MaxTokens, calls=CALLS.map(tuple)),
    st.builds(v.Partial, st.text(max_size=5)),
    st.builds(v.Error, st.none(), MANY_CONTEXTS, st.booleans()),
    st.builds(v.Result, MANY_CONTEXTS, st.booleans()),
    st.sampled_from([v.Text(), v.Throw(), v.Reject(), v.Continue(), v.GiveUp(), v.Retry(), v.Ok(), v.Fail()]),
)
GATES = st.sampled_from(["prompt-submit", "pre-step", "model", "tool", "flush"])
TARGETS = st.sampled_from(["next-turn", "next-step"])
FLAT: st.SearchStrategy[Any] = st.one_of(
    PEOPLE.map(v.followup),
    PEOPLE.map(v.steer),
    IDS.map(lambda name: v.inject(v.Message(name, name, PLUGIN))),
    st.builds(v.Send, PEOPLE, TARGETS, st.booleans()),
    st.builds(v.Cancel, st.sampled_from(["user", "parent"]), st.booleans()),
    st.builds(v.Release, OUTCOMES, gate=st.integers(1, 99).map("g{}".format)),
    st.builds(v.Release, OUTCOMES, kind=GATES),
    st.builds(v.Remove, IDS),
    st.builds(v.Replace, IDS, PEOPLE),
    st.builds(v.Prepend, TARGETS, PEOPLE),
    st.just(v.Dispose()),
)
OPERATIONS = FLAT | st.builds(
    v.Arm,
    st.sampled_from(["turn/end", "agent/inbox/enqueue", "gate:model", "request"]),
    st.lists(FLAT, max_size=2).map(tuple),
    st.dictionaries(st.sampled_from(["status", "turn"]), st.integers(0, 9) | st.booleans() | st.just("idle")),
    st.integers(1, 3),
    st.integers(0, 3),
)
KINDS = st.lists(GATES, unique=True, max_size=3).map(tuple)
COMMANDS = st.one_of(
    OPERATIONS,
    st.lists(OPERATIONS, max_size=3).map(tuple).map(v.Batch),
    st.builds(v.Reset, st.none() | KINDS, KINDS.map(lambda kinds: dict.fromkeys(kinds, "park"))),
    st.builds(v.Resume, st.sampled_from(["crash", "clean", "fork", "compact"])),
    st.sampled_from([v.Goal(), v.Inspect()]),
)


@given(COMMANDS)
def test_a_command_is_read_back_as_it_was(command: v.Command) -> None:
    assert Reader().command(command_text(command)) == command


@given(st.lists(COMMANDS, min_size=1, max_size=4))
def test_the_words_of_a_schedule_are_read_back_to_the_same_words(commands: list[v.Command]) -> None:
    text = schedule_text(commands)

    assert schedule_text(read_schedule(text)) == text


@pytest.mark.parametrize("contract", CONTRACTS)
@settings(max_examples=30)
@given(data=st.data())
def test_what_the_suite_generates_is_read_back_to_the_same_words(contract: v.Contract, data: st.DataObject) -> None:
    lists = contract == "claim"
    able = {name: lists or not name.startswith("inbox.") for name in v.CAPABILITIES}
    profile = Profile(Implementation("any", "1"), contract, capabilities=able)
    machine: Machine[Any] = Machine(rule_book(contract), Setting(dict(profile.capabilities)))
    generator = Generator(profile, lambda: machine, lambda options: data.draw(st.sampled_from(options)))
    reader = Reader()
    for _ in range(6):
        command = generator.command()

        assert command_text(reader.command(command_text(command))) == command_text(command)
        try:
            machine.ask(command)
        except MisuseError:
            return


RECORDED = sorted((Path(__file__).parent.parent / "data" / "dsh-deviations").glob("*.json"))


@pytest.mark.parametrize("path", RECORDED, ids=lambda path: path.stem)
def test_the_score_of_a_recorded_deviation_can_be_pasted(path: Path) -> None:
    requests = json.loads(path.read_text(encoding="utf-8"))["requests"]
    text = schedule_text(map(request_from_wire, requests))

    assert schedule_text(read_schedule(text)) == text


def test_an_id_that_is_known_means_the_message_of_before() -> None:
    reader = Reader()
    first = reader.command("inject a (plan)")

    assert reader.command("steer a") == v.steer(v.Message("a", "a", v.Source("plan")))
    assert reader.command("g1 enter [a b]") == v.Release(v.Enter(("a", v.Message("b", "b", PLUGIN))), gate="g1")
    assert first == v.inject(v.Message("a", "a", v.Source("plan")))


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("", "one command is read at a time (got 0 in '')"),
        ("shout a", "(got 'shout')"),
        ("followup", "the id of a message must follow (got the end)"),
        ("followup a b", "'·' must follow (got 'b')"),
        ("send a somewhere", "a list is one of next-turn, next-step (got 'somewhere')"),
        ("g1 perhaps", "an outcome is one of"),
        ("g1 text concludes", "outcome 'text' doesn't go with what follows it (got concludes)"),
        ("g1 tools exc", "(got 'exc')"),
        ("{ followup a; resume crash }", "{ … } takes operations only (got 'resume')"),
        ("{ followup a", "';' must follow (got the end)"),
        ("on turn/end followup a", "'{' must follow (got 'followup')"),
        ("on turn/end[turn] { cancel }", "a condition is [field=value] (got '[turn]')"),
        ("on turn/end #0 { cancel }", "#N takes a whole number ≥ 1 (got '#0')"),
        ("reset gates door", "a kind of gate is one of"),
        ("replace a b", "'by' must follow (got 'b')"),
        ("g1 partial 'open", "quotes and brackets must be closed"),
        ("g1 allow content=open", "text stands in quotes (got 'content=open')"),
    ],
)
def test_words_that_are_no_command_are_told_and_nothing_is_learned(line: str, complaint: str) -> None:
    reader = Reader()

    with pytest.raises(NotationError) as error:
        reader.command(line)

    assert complaint in str(error.value)
    assert reader.known == {}
