"""Reading and writing traces: JSON Lines, one record a line, what nobody knows skipped."""

from __future__ import annotations

import json

import pytest
from model.monitors.core_traces import DONE, TURN, records

from turnproof_model import trace as t
from turnproof_model.trace_lines import TraceError, TraceReader, write_trace
from turnproof_model.vocabulary import Source

HEAD = '{"trace": 1, "contract": "core", "records": ["inbox", "log"]}'
FULL = (
    TURN
    + "+n? steering; cancel keep 1; drop n :cancel; <z queued; ask z; allow z y; block z y; fail z; "
    + "assistant c1; call c1; result c1!; result c1.; steering s; retry; dispose; resume; waited; request m A:c1 c1#; "
    + DONE
    + "pending m"
)


def test_what_is_written_is_read_back():
    """Every record survives the line."""
    header = t.Header("claim", ("inbox", "log"), implementation={"name": "a"}, origin="recorder")
    told = records(FULL)
    reader = TraceReader(write_trace(header, told))

    assert reader.header == header
    assert [record for _, record in reader] == told


def test_a_line_shows_the_fields_that_the_format_asks_for():
    """Optional fields stay away at their default, the others never do."""
    told = [
        t.InboxEnqueue("m", "queued", wakeup=True, content="x", source=Source("user")),
        t.Cancelled("user"),
        t.AssistantMessage(1, 1),
        t.Requested((("user", "m"), ("assistant", "c1"), ("tool", "c1"))),
    ]

    assert [json.loads(line) for line in list(write_trace(t.Header(), told))[1:]] == [
        {
            "type": "inbox/enqueue",
            "id": "m",
            "list": "queued",
            "wakeup": True,
            "content": "x",
            "source": {"kind": "user"},
        },
        {"type": "cancel", "cause": "user", "keepInbox": False},
        {"type": "assistant/message", "turn": 1, "step": 1, "calls": []},
        {
            "type": "request",
            "messages": [
                {"role": "user", "id": "m"},
                {"role": "assistant", "calls": ["c1"]},
                {"role": "tool", "callId": "c1"},
            ],
        },
    ]


def test_lines_are_counted_and_what_nobody_knows_is_skipped():
    """Empty lines and unknown types are no records; unknown fields are let be; ``seq`` is kept."""
    lines = [HEAD, "", '{"type": "weather/changed"}', '{"type": "turn/start", "turn": 1, "seq": 7, "mood": "good"}']

    assert [(line, record, record.seq) for line, record in TraceReader(lines)] == [(4, t.TurnStart(1), 7)]


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: a line holds one JSON object"),
        ("[]", "line 2: a line holds one JSON object"),
        ('{"type": "turn/start"}', "line 2: "),
        ('{"type": "turn/start", "turn": "one"}', "line 2: "),
        ('{"type": "request", "messages": [{"role": "user"}]}', "line 2: a request shows"),
        ('{"type": "request", "messages": 3}', "line 2: messages are a list"),
    ],
)
def test_a_line_that_is_none_is_refused_by_its_number(line, said):
    """An error names the line and what came."""
    with pytest.raises(TraceError) as caught:
        list(TraceReader([HEAD, line]))

    assert str(caught.value).startswith(said)
    assert caught.value.line == 2


@pytest.mark.parametrize("head", [[], ['{"type": "turn/start", "turn": 1}'], ['{"trace": 2}'], ['{"trace": true}']])
def test_a_trace_without_its_header_is_refused(head):
    """The first line says what the trace holds."""
    with pytest.raises(TraceError):
        TraceReader(head)


def test_a_trace_of_any_length_is_read_line_by_line():
    """Nothing is read ahead."""
    taken: list[int] = []

    def lines():
        yield HEAD
        for number in range(1, 4):
            taken.append(number)
            yield json.dumps({"type": "turn/start", "turn": number})

    reader = TraceReader(lines())
    assert next(iter(reader)) == (2, t.TurnStart(1))
    assert taken == [1]
