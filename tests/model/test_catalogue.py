"""The catalogue lists every rule, says what it asks for, and is tied to clauses, freedoms and monitors."""

from __future__ import annotations

import re
from importlib import resources
from typing import get_args

import pytest

from turnproof_model import catalogue
from turnproof_model.monitors import claim, core, window
from turnproof_model.monitors.base import PROBES, Sight
from turnproof_model.policies import POLICIES

IDS = {
    "window": """
        W-SEND-1 W-ROUTE-1 W-ROUTE-2 W-ROUTE-3 W-ROUTE-4 W-ROUTE-5
        W-FIFO-1 W-FIFO-2 W-FIFO-3 W-FIFO-4 W-FIFO-5 W-FIFO-6 W-FIFO-7 W-FIFO-8 W-PUB-1
        W-WAKE-1 W-WAKE-2 W-WAKE-3 W-WAKE-4
        W-ADM-1 W-ADM-2 W-ADM-3 W-ADM-4 W-ADM-5 W-ADM-6 W-ADM-7 W-ADM-8 W-ADM-9
        W-WIN-1 W-WIN-2 W-WIN-3 W-WIN-4 W-WIN-5
        W-TURN-1 W-TURN-2 W-TURN-3 W-TURN-4 W-TURN-5 W-TURN-6
        W-STEP-1 W-STEP-2 W-STEP-3 W-STEP-4 W-STEP-5 W-STEP-6 W-STEP-7 W-STEP-8 W-REQ-1
        W-CAN-1 W-CAN-2 W-CAN-3 W-CAN-4 W-CAN-5 W-CAN-6 W-CAN-7 W-DIS-1 W-DIS-2 W-STAT-1 W-STAT-2
        W-LOG-1 W-LOG-2 W-LOG-3 W-LOG-4 W-GOAL-1 W-XREF-1""",
    "claim": """
        C-SEND-1 C-SEND-2 C-SEND-3 C-SEND-4 C-WAKE-1 C-WAKE-2 C-WAKE-3
        C-CLAIM-1 C-CLAIM-2 C-CLAIM-3 C-CLAIM-4 C-PRE-1 C-PRE-2 C-PRE-3 C-PRE-4 C-PRE-5
        C-TURN-1 C-TURN-2 C-TURN-3 C-TURN-4 C-TURN-5 C-TURN-6
        C-STEP-1 C-STEP-2 C-STEP-3 C-STEP-4 C-STEP-5 C-REQ-1 C-EDIT-1 C-EDIT-2
        C-CAN-1 C-CAN-2 C-CAN-3 C-CAN-4 C-CAN-5 C-DIS-1 C-STAT-1 C-STAT-2
        C-LOG-1 C-LOG-2 C-LOG-3 C-LOG-4 C-XREF-1""",
    "core": """
        K-LEDGER K-FIFO K-COMMIT K-END K-ONE K-TURN K-ENCLOSE K-BATCH K-REQ K-VETO K-PROGRESS
        K-QUIET K-WAIT K-CANCEL K-DISCARD K-STATUS K-SAME""",
}
"""Every rule id of the contracts."""

CLAUSES = {"003": 29, "000": 25, "002": 21}
"""How many clauses each document has."""


@pytest.mark.parametrize("family", IDS)
def test_every_rule_is_listed_once(family):
    """The ids are those of the contract, no more and no fewer."""
    listed = [rule.id for rule in catalogue.rules(family)]

    assert sorted(listed) == sorted(IDS[family].split())
    assert {rule.family for rule in catalogue.rules(family)} == {family}


def test_rules_of_all_families_come_in_one_list():
    """Without an argument all of them are listed."""
    assert len(catalogue.rules()) == sum(len(ids.split()) for ids in IDS.values())


def test_a_rule_is_found_by_its_id():
    """The id is the name of a rule everywhere."""
    assert catalogue.rule("W-ADM-7").title == "steering is retained on rejection"


@pytest.mark.parametrize(("asked", "near"), [("w-adm-7", ("W-ADM-7",)), ("K-LEDGERS", ("K-LEDGER",)), ("nothing", ())])
def test_an_unknown_id_is_refused_with_the_nearest_ones(asked, near):
    """The error says what came and what may have been meant."""
    with pytest.raises(catalogue.UnknownRuleError) as caught:
        catalogue.rule(asked)

    assert (caught.value.rule_id, caught.value.near) == (asked, near)
    assert repr(asked) in caught.value.args[0]


def test_an_unknown_family_is_refused():
    """The error names the families there are."""
    with pytest.raises(ValueError, match="window, claim, core"):
        catalogue.rules("other")


@pytest.mark.parametrize("rule", catalogue.rules(), ids=lambda rule: rule.id)
def test_a_rule_is_complete(rule):
    """It has a statement of whole sentences, a strength that fits its freedoms, and knows what it needs."""
    assert not rule.title.endswith(".")
    assert rule.statement.endswith(".")
    assert all(part.endswith(".") for part in rule.observed)
    assert rule.strength == ("latitude" if rule.latitude else "must")
    assert rule.untestable is None
    assert rule.needs


@pytest.mark.parametrize("rule", [*catalogue.rules("window"), *catalogue.rules("claim")], ids=lambda rule: rule.id)
def test_what_a_rule_needs_has_a_name(rule):
    """Parts of a stream and capabilities are those of the protocol, and a probe needs its capability."""
    assert rule.needs <= set(get_args(Sight))
    assert {capability for capability, probe in PROBES.items() if probe in rule.needs} <= set(rule.capabilities)


def test_freedoms_are_those_of_the_specification():
    """A rule names each freedom that the rules of the machine take, and no other."""
    listed = {(name, rule.id) for rule in catalogue.rules() for name in rule.latitude if name != "session-reentry"}
    taken = {(name, rule_id) for name, policy in POLICIES.items() if not policy.deviation for rule_id in policy.rules}

    assert listed == taken


def test_clauses_and_rules_lead_to_each_other():
    """Each clause names rules there are, and each of them lists it."""
    for clause in catalogue.clauses():
        assert clause.rules
        for rule_id in clause.rules:
            assert clause in catalogue.clauses(rule_id)


def test_every_clause_of_the_documents_is_there():
    """Numbered without gaps, document by document."""
    numbers = [clause.id for clause in catalogue.clauses()]

    assert numbers == [f"{document}-{n}" for document, count in CLAUSES.items() for n in range(1, count + 1)]
    assert all(
        clause.id.startswith(clause.document) and clause.says and clause.section for clause in catalogue.clauses()
    )


def test_clauses_of_an_unknown_rule_are_refused():
    """As the rule itself."""
    with pytest.raises(catalogue.UnknownRuleError):
        catalogue.clauses("W-NONE-1")


def test_missing_capabilities_are_named():
    """All of some, one of others."""
    assert catalogue.rule("W-CAN-3").missing(["batch"]) == ("keepInbox",)
    assert catalogue.rule("W-ADM-4").missing(["batch"]) == ("prompt.content or prompt.contexts",)
    assert catalogue.rule("W-ADM-4").missing(["prompt.contexts"]) == ()


def test_a_rule_is_written_as_json():
    """With the ids of its clauses."""
    written = catalogue.to_json(catalogue.rule("W-WAKE-4"))

    assert written["id"] == "W-WAKE-4"
    assert written["needs"] == ["command", "inbox", "status"]
    assert written["clauses"] == ["003-27"]


NEEDS = {
    "window": [(kind.rule, kind.needs) for kind in window.MONITORS],
    "claim": [(kind.rule, kind.needs) for kind in claim.MONITORS],
    "core": [(kind.rule, frozenset(kind.kinds)) for kind in core.MONITORS],
}
"""What each monitor must see."""


@pytest.mark.parametrize("family", IDS)
def test_every_rule_has_a_monitor_with_its_needs(family):
    """A rule is judged from outside, and the catalogue tells what one of its monitors must see."""
    needs: dict[str, list[frozenset[str]]] = {}
    for rule_id, seen in NEEDS[family]:
        needs.setdefault(rule_id, []).append(frozenset(seen))

    assert set(needs) == {rule.id for rule in catalogue.rules(family)}
    assert [rule.id for rule in catalogue.rules(family) if rule.needs not in needs[rule.id]] == []


@pytest.mark.parametrize("name", ["window.toml", "claim.toml", "core.toml", "clauses.tsv"])
def test_the_texts_are_packaged(name):
    """They are data of the package, and free of what only its authors know."""
    text = resources.files(catalogue.__name__).joinpath(name).read_text(encoding="utf-8")

    assert text
    assert not re.search(r"/(home|tmp|work)/|[a-z]+://", text)
