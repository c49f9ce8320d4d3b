"""What a request shows after compaction: summaries of turns, and the messages between them."""

from __future__ import annotations

from turnproof_model.events import AssistantMessage, Event, TurnEnd, TurnStart, UserMessage
from turnproof_model.history import History
from turnproof_model.vocabulary import Message


def history(*events: Event) -> History:
    made = History().learn(*(Message(name, name) for name in "abij"))
    for event in events:
        made = made.after(event)
    return made


def ids(made: History) -> list[str | None]:
    return [seen.id for seen in made.messages]


def turn(number: int, *messages: str) -> list[Event]:
    said = [UserMessage(name, "user", name) for name in messages]
    return [TurnStart(number), *said, AssistantMessage(number, 1, (), "reply"), TurnEnd(number, "completed")]


def test_each_run_of_turns_becomes_one_summary_and_what_lies_between_stays() -> None:
    """
    W-LOG-3: compaction keeps between-turn messages, in place.
    """
    between = UserMessage("i", "plugin", "i")

    made = history(*turn(1, "a"), *turn(2, "b"), between, *turn(3, "j")).compacted()

    assert ids(made) == ["compaction-1", "i", "compaction-2"]


def test_a_turn_without_a_message_is_a_run_of_turns_too() -> None:
    """
    W-LOG-3: a retry that failed has no message of its own.
    """
    between = UserMessage("i", "plugin", "i")

    made = history(*turn(1, "a"), between, TurnStart(2, "retry"), TurnEnd(2, "error")).compacted()

    assert ids(made) == ["compaction-1", "i", "compaction-2"]


def test_summaries_are_numbered_on_and_stay_when_compacted_again() -> None:
    """
    W-LOG-3: earlier summaries are history like any other.
    """
    once = history(*turn(1, "a")).compacted()
    for event in turn(2, "b"):
        once = once.after(event)

    assert ids(once.compacted()) == ["compaction-1", "compaction-2"]
    assert ids(history().compacted()) == []


def test_input_that_was_committed_keeps_its_value_when_its_id_is_used_again() -> None:
    """
    C-LOG-1, W-LOG-1: a later message of that id, accepted or not, is another one.
    """
    made = history(UserMessage("a", "user", "a")).learn(Message("a", "other"))

    assert [message.text for message in made.inputs] == ["a"]
