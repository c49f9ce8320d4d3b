"""What is left of a conversation: the log, its file, and what becomes of both after a crash."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import resource
import signal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnproof_reference.claim.events import InboxSpliced
from turnproof_reference.compaction import compact
from turnproof_reference.errors import Refused
from turnproof_reference.events import (
    AssistantMessage,
    DurableEvent,
    PluginEvent,
    StatusChanged,
    StepEnd,
    StepStart,
    ToolCalled,
    ToolResult,
    TurnEnd,
    TurnStart,
    UserMessage,
)
from turnproof_reference.goals import fold_goal, goal_change, goal_continuation
from turnproof_reference.log_format import CLAIM, WINDOW
from turnproof_reference.messages import Message, ToolCall, freeze
from turnproof_reference.publish import Publisher
from turnproof_reference.repair import repair
from turnproof_reference.session import Session, SessionLog
from turnproof_reference.store import LogStore, StoreError, load, save
from turnproof_reference.window.events import SteeringMessage

PROMPT = Message("a", "hällo", {"kind": "user"})
CONTEXT = Message("i", "note", {"kind": "plugin", "plugin": "p", "deep": {"list": [1, None]}})
CALL = ToolCall("t1", "par", '{"x": 1}')


def turn(number: int, *inside: DurableEvent, reason: str = "completed") -> tuple[DurableEvent, ...]:
    return (TurnStart(number, "message"), *inside, TurnEnd(number, reason))


FULL = (
    UserMessage(CONTEXT),
    *turn(
        1,
        UserMessage(PROMPT),
        StepStart(1, 1),
        AssistantMessage(1, 1, "", (CALL,)),
        ToolCalled(1, 1, "t1", "par"),
        ToolResult(1, 1, "t1", is_error=True, code="ABORTED", text="stopped"),
        SteeringMessage(1, Message("s", "faster", {"kind": "user"})),
        StepEnd(1, 1),
        PluginEvent("title/set", freeze({"title": "t"})),
        StepStart(1, 2),
        AssistantMessage(1, 2, "cut", interrupted=True),
        StepEnd(1, 2),
        reason="aborted",
    ),
)


def test_the_log_numbers_without_gaps_and_tells_what_it_has_added() -> None:
    """
    W-LOG-4: replaying the same events derives the same history and the same next number.
    """
    publisher, told = Publisher(), list[tuple[Any, int, bool]]()
    log = SessionLog(publisher, Session("s", FULL[:1]))
    publisher.subscribe(lambda event: told.append((event, len(log.events), log.publishing)))
    for event in FULL[1:]:
        log.append(event)

    assert told == [(event, position, True) for position, event in enumerate(FULL[1:], start=2)]
    assert not log.publishing
    replayed = SessionLog(Publisher(), log.snapshot())
    assert (replayed.history(), replayed.last_turn, replayed.events) == (log.history(), 1, FULL)


def test_a_log_whose_last_turn_is_closed_needs_no_repair() -> None:
    """
    W-LOG-3: it comes back as it is.
    """
    session = Session("s", FULL)

    assert repair(session) is session
    assert repair(Session("s")).events == ()


def test_an_open_turn_is_closed_as_interrupted_and_every_call_answered() -> None:
    """
    W-LOG-3: what happened stays; started calls are ABORTED, the others were never dispatched.
    """
    calls = (ToolCall("t1", "par"), ToolCall("t2", "par"), ToolCall("t3", "exc"))
    cut = (
        UserMessage(CONTEXT),
        TurnStart(4, "message"),
        StepStart(4, 1),
        AssistantMessage(4, 1, "", calls),
        ToolCalled(4, 1, "t1", "par"),
        ToolCalled(4, 1, "t2", "par"),
        ToolResult(4, 1, "t1", is_error=False, text="one"),
    )
    repaired = repair(Session("s", cut)).events

    assert repaired[: len(cut)] == cut
    assert [(event.type, getattr(event, "code", None)) for event in repaired[len(cut) :]] == [
        ("tool/result", "ABORTED"),
        ("tool/call", None),
        ("tool/result", "ABORTED_BEFORE_DISPATCH"),
        ("step/end", None),
        ("turn/end", None),
    ]
    assert repaired[-1] == TurnEnd(4, "interrupted")


@pytest.mark.parametrize("length", range(len(FULL) + 1))
def test_a_crash_anywhere_leaves_a_log_that_can_be_repaired_once(length: int) -> None:
    """
    W-LOG-3: the repaired log keeps all events and has nothing open.
    """
    repaired = repair(Session("s", FULL[:length]))

    assert repaired.events[:length] == FULL[:length]
    assert repair(repaired) is repaired
    depth = sum(isinstance(event, TurnStart) - isinstance(event, TurnEnd) for event in repaired.events)
    assert depth == 0


def test_a_fork_is_a_copy_that_knows_its_parent() -> None:
    """
    W-LOG-3: committed history between turns goes along.
    """
    assert Session("s", FULL, 7).fork("f") == Session("f", FULL, 7, parent="s")


def test_compaction_replaces_runs_of_turns_and_keeps_what_stands_between() -> None:
    """
    W-LOG-3, W-LOG-4: numbers of messages continue earlier compactions, numbers of turns go on.
    """
    between = UserMessage(Message("j", "between", {"kind": "plugin"}))
    plugin = PluginEvent("title/set", freeze({}))
    once = compact(Session("s", (*FULL, plugin, *turn(2, UserMessage(PROMPT)), between, *turn(3))))

    assert [event.message.id if isinstance(event, UserMessage) else event.type for event in once.events] == [
        "i",
        "compaction-1",
        "plugin",
        "j",
        "compaction-2",
    ]
    assert once.turns_before == 3
    assert once.events[1] == UserMessage(
        Message("compaction-1", "compacted: 3 inputs, 2 answers, 1 tool results", {"kind": "compaction"})
    )
    log = SessionLog(Publisher(), once)
    assert (log.last_turn, [entry.id for entry in log.history() if isinstance(entry, Message)]) == (
        3,
        ["i", "compaction-1", "j", "compaction-2"],
    )
    twice = compact(Session("s", (*once.events, *turn(4)), once.turns_before), lambda entries: f"{len(entries)} said")
    assert twice.events[:-1] == once.events
    assert twice.events[-1] == UserMessage(Message("compaction-3", "0 said", {"kind": "compaction"}))
    assert twice.turns_before == 4


def test_an_open_turn_is_repaired_before_it_is_compacted() -> None:
    """
    W-LOG-3: nothing stays half open.
    """
    assert [event.type for event in compact(Session("s", FULL[:4])).events] == ["user/message", "user/message"]


def test_a_file_holds_what_the_session_holds(tmp_path: Path) -> None:
    """
    W-LOG-4: every kind of event survives the way to disk and back.
    """
    path = tmp_path / "log.jsonl"
    session = Session("s", FULL, turns_before=3, parent="p")
    save(path, session, WINDOW)

    loaded = load(path, WINDOW)
    assert (loaded.session, loaded.torn) == (session, 0)
    assert loaded.size == path.stat().st_size
    assert json.loads(path.read_bytes().splitlines()[3]) == {
        "type": "user/message",
        "seq": 2,
        "data": {
            "id": "a",
            "role": "user",
            "content": [{"type": "text", "text": "hällo"}],
            "source": {"kind": "user"},
        },
    }


def test_splices_and_causes_of_the_other_contract_survive_too(tmp_path: Path) -> None:
    """
    C-LOG-4: the file of a claim agent rebuilds its inbox.
    """
    path = tmp_path / "log.jsonl"
    events = (
        InboxSpliced("next-turn", 0, 0, (PROMPT, CONTEXT)),
        InboxSpliced("next-turn", 1, 1, (), "canceled"),
        TurnStart(1),
        TurnEnd(1, "aborted", "parent"),
    )
    save(path, Session("s", events), CLAIM)

    assert load(path, CLAIM).session.events == events
    with pytest.raises(StoreError, match="line 1: the log must be of contract window"):
        load(path, WINDOW)


def written(path: Path, events: tuple[DurableEvent, ...]) -> LogStore:
    store = LogStore.create(path, Session("s"), WINDOW)
    for event in events:
        store.hear(event)
    store.hear(StatusChanged("idle"))
    return store


def test_a_store_writes_each_durable_event_at_once(tmp_path: Path) -> None:
    """
    W-LOG-3: what was told survives the end of the process.
    """
    path = tmp_path / "log.jsonl"
    store = written(path, FULL)

    assert load(path, WINDOW).session == Session("s", FULL)
    asyncio.run(store.checkpoint())
    store.close()
    with pytest.raises(StoreError, match="must not replace a file"):
        LogStore.create(path, Session("t"), WINDOW)


@given(lost=st.integers(min_value=1, max_value=400))
def test_a_torn_end_is_cut_off_and_the_log_goes_on(tmp_path_factory: pytest.TempPathFactory, lost: int) -> None:
    """
    W-LOG-3: whatever bytes a crash has swallowed, complete lines stay and the turn is closed in the file.
    """
    path = tmp_path_factory.mktemp("torn") / "log.jsonl"
    written(path, FULL).close()
    whole = path.read_bytes()
    header = whole.index(b"\n") + 1
    path.write_bytes(whole[: max(header, len(whole) - lost)])
    torn = load(path, WINDOW).torn

    store = LogStore.open(path, WINDOW)
    assert store.torn == torn
    resumed = store.resume()
    store.append(UserMessage(PROMPT))
    store.close()
    assert load(path, WINDOW).torn == 0
    assert load(path, WINDOW).session.events == (*resumed.events, UserMessage(PROMPT))
    assert repair(resumed) is resumed


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"", "it has no complete line"),
        (b"[]\n", "line 1: a line must be a JSON object"),
        (b"{\n", "line 1: a line must be JSON"),
        (b'{"type":"turn/start"}\n', "line 1: the log must begin with a session header of version 1"),
        (b'{"type":"session","version":1,"contract":"window"}\n', "line 1: the header must have an id"),
    ],
)
def test_a_file_without_a_header_is_told_apart_from_a_log(tmp_path: Path, line: bytes, problem: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_bytes(line)

    with pytest.raises(StoreError, match=problem):
        LogStore.open(path, WINDOW)


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"garbage", "line 3: a line must be JSON .*; only the last may be torn"),
        (b'{"type":"turn/start","seq":5,"data":{"turn":1}}', "line 3: events must be numbered without gaps: 1 must"),
        (b'{"type":"turn/start","seq":1,"data":{}}', "line 3: the event 'turn/start' must have the fields .*turn"),
        (b'{"type":"turn/start","seq":1,"data":{"turn":"1"}}', "line 3: .* turn must be a whole number"),
        (b'{"type":"user/message","seq":1,"data":{"id":"a","content":[],"source":3}}', "line 3: .* message source"),
        (b'{"type":"turn/end","seq":1,"data":{"turn":1,"reason":"x"}}', "line 3: the event 'turn/end' must have"),
    ],
)
def test_a_broken_line_is_named(tmp_path: Path, line: bytes, problem: str) -> None:
    """
    W-LOG-3: nothing is thrown away silently.
    """
    path = tmp_path / "log.jsonl"
    save(path, Session("s", FULL), WINDOW)
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join([*lines[:2], line, *lines[3:]]) + b"\n")

    with pytest.raises(StoreError, match=problem):
        load(path, WINDOW)


def test_a_missing_or_forbidden_file_is_told_with_its_path(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match=r"nowhere.*must be readable"):
        load(tmp_path / "nowhere", WINDOW)
    with pytest.raises(StoreError, match=r"nowhere.*must be writable"):
        save(tmp_path / "nowhere" / "log", Session("s"), WINDOW)
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_loses_no_event_and_is_told_by_the_checkpoint(tmp_path: Path) -> None:
    """
    W-TURN-4: the next checkpoint writes what this one couldn't, and no line is ever half written.
    """
    path = tmp_path / "log.jsonl"
    store = written(path, FULL[:1])
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    try:
        resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, hard))
        for event in FULL[1:]:
            store.append(event)
        with pytest.raises(StoreError, match="must be writable"):
            asyncio.run(store.checkpoint())
        assert path.read_bytes() == before
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)

    asyncio.run(store.checkpoint())
    store.close()
    assert load(path, WINDOW).session.events == FULL


def test_an_unwritable_file_is_told_when_it_is_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "log.jsonl"
    save(path, Session("s"), WINDOW)

    def refuse(*_: object) -> int:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(StoreError, match=r"must be writable .Read-only file system"):
        LogStore.open(path, WINDOW)


def test_a_goal_is_what_its_committed_messages_say() -> None:
    """
    W-GOAL-1: changes merge in log order, rounds count continuations, steering counts too.
    """
    first, second = {"b": 1, "a": {"deep": True}}, {"b": None}
    events = (
        UserMessage(goal_change("g1", first)),
        *turn(1, UserMessage(goal_continuation("g2", "go on", 2)), UserMessage(goal_continuation("g3", "again", 1))),
        SteeringMessage(1, goal_change("g4", second)),
    )

    assert fold_goal(()).observed() == {"state": None, "rounds": 0}
    assert fold_goal(events).observed() == {"state": {"b": None, "a": {"deep": True}}, "rounds": 2}
    assert goal_change("g1", first).text == 'goal {"a":{"deep":true},"b":1}'
    with pytest.raises(ValueError, match="at least 1"):
        goal_continuation("g", "go on", 0)


@pytest.mark.parametrize(
    ("text", "source", "because"),
    [
        ("goal {}", {}, "round must be a whole number"),
        ("goal {}", {"round": True, "change": {}}, "round must be a whole number"),
        ("goal {}", {"round": -1}, "round must be a whole number"),
        ("go", {"round": 1, "change": {}}, "can't carry a change"),
        ("goal null", {"round": 0}, "must carry its whole change"),
        ('goal {"a": 1}', {"round": 0, "change": {"a": 1}}, "its text must be"),
    ],
)
def test_a_goal_message_that_contradicts_itself_is_refused(text: str, source: dict[str, Any], because: str) -> None:
    """
    W-GOAL-1: a loud error, never a guess.
    """
    with pytest.raises(Refused, match=because):
        fold_goal([UserMessage(Message("g", text, {"kind": "goal", **source}))])
