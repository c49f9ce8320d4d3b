"""What a change of the rules can't reach is kept, and keeping it makes no difference to what is found."""

from contextlib import suppress

import pytest

from turnproof_model.contracts import CONTRACTS
from turnproof_model.explore.grounds import ground_of, product_of
from turnproof_model.explore.plays import Plays
from turnproof_model.explore.product import Product, tagged
from turnproof_model.explore.replay import replay
from turnproof_model.prove.faults import faults
from turnproof_model.prove.proof import changed_induction, induction, unchanged
from turnproof_model.readings.entries import altered, noting
from turnproof_model.readings.execute import ReplayError, choose, enter
from turnproof_model.readings.forest import forest
from turnproof_model.readings.layout import Layout, Program
from turnproof_model.readings.loading import MODULES, Change, changed_functions, load_rules, source_of
from turnproof_model.readings.observers import observer_of
from turnproof_model.readings.terms import var
from turnproof_model.readings.trees import Regrown, Tree

P, Q = var("p", "bool"), var("q", "bool")

BOUNDS = tagged({"messages": 2, "cancels": 1}, "A")

SOME = [(contract, fault) for contract in CONTRACTS for fault in faults(contract)[4::12]]

named = pytest.mark.parametrize(("contract", "fault"), SOME, ids=[f"{c}-{fault.name}" for c, fault in SOME])


# ------------------------------------------------------------------------------------------------ trees
def body_of(runs, far):
    """Make a function that comes to ``near`` or, past two questions, to ``far``, and counts its runs."""

    def body():
        runs.append(1)
        if P:
            enter("near")
            return "near"
        enter("far")
        return far() if Q else "else"

    return body


def results(tree):
    return [leaf.result for leaf in tree.leaves()]


def test_only_paths_that_come_to_a_change_are_run_again():
    """A path that enters nothing that has changed is taken over with its questions, the others show the change."""
    runs = []
    before = Tree(body_of([], lambda: "old"))
    assert results(before) == ["near", "old", "else"]

    after = Regrown(body_of(runs, lambda: "new"), before=before, changed=frozenset({"far"}))

    assert results(after) == ["near", "new", "else"]
    assert len(runs) == 2
    assert [leaf.result for leaf in after.kept] == ["near"]
    assert after.root.question == before.root.question


def test_a_change_that_asks_something_else_is_asked_anew():
    """Questions of paths that are run again may be others than before."""
    before = Tree(body_of([], lambda: "old"))
    list(before.leaves())
    after = Regrown(body_of([], lambda: choose("which", (1, 2))), before=before, changed=frozenset({"far"}))

    assert results(after) == ["near", 1, 2, "else"]


def test_a_tree_before_that_was_walked_in_part_is_walked_on():
    """What the tree before hasn't run is run here; nothing is taken for granted."""
    before = Tree(body_of([], lambda: "old"))
    assert before.root.question == P.key  # one path has been run for that

    runs = []
    after = Regrown(body_of(runs, lambda: "old"), before=before, changed=frozenset({"elsewhere"}))

    assert results(after) == ["near", "old", "else"]
    assert len(runs) == 2


def test_a_change_that_was_not_named_is_found_out_where_questions_part():
    """Two paths that ask different things under the same answers can't be in one tree."""
    before = Tree(body_of([], lambda: "old"))
    list(before.leaves())

    def other():
        if Q:
            enter("far")
        return bool(P)

    with pytest.raises(ReplayError, match="the same questions on the same answers"):
        list(Regrown(other, before=before, changed=frozenset({"far"})).leaves())


# ------------------------------------------------------------------------------------------------ what has changed
OLD = "LIMIT = 1\n\n@mark\ndef f(x, y=LIMIT):\n    '''Do.'''\n    return x\n\ndef g():\n    return 1\n"


@pytest.mark.parametrize(
    ("old", "new", "names"),
    [
        ("return x", "return x + y", {"m.f"}),
        ("return 1", "return 2", {"m.g"}),
        ("'''Do.'''", "'''Do it.'''", {"m.f"}),
        ("def g", "# a remark\ndef g", set()),
        ("LIMIT = 1", "LIMIT = 2", None),
        ("@mark", "@mark(2)", None),
        ("y=LIMIT", "y=2", None),
        ("def g", "def h", None),
        ("def g", "async def g", None),
        ("    return 1\n", "    return 1\n\nclass C:\n    pass\n", None),
    ],
)
def test_functions_with_another_body_are_named_and_nothing_is_where_more_has_changed(old, new, names):
    """A body takes effect where the function is entered, everything else before."""
    found = altered(OLD, OLD.replace(old, new), "m")

    assert found == (None if names is None else frozenset(names))


def test_source_that_notes_behaves_as_before_and_notes_every_function_it_enters():
    """Each call is noted, under the module's name."""
    entered = []
    text = "def f(n):\n    return 1 if n == 0 else n * f(n - 1)\n"
    names = {"__entered__": entered.append}
    exec(compile(noting(text, "m"), "<m>", "exec"), names)  # noqa: S102  # the text stands here

    assert names["f"](3) == 6
    assert entered == ["m.f"] * 4


@pytest.mark.parametrize("contract", CONTRACTS)
def test_no_function_of_the_rules_is_called_while_they_are_loaded(contract):
    """A change of a function's body can't have had an effect before a run enters it."""
    entered = []
    book = load_rules(contract, enter=entered.append)
    assert entered == []

    with suppress(AttributeError):  # nobody is there to publish anything
        book.phases["idle"].run(None, book.new_state())
    assert {name.partition(".")[0] for name in entered} <= set(MODULES[contract])
    assert entered != []


@pytest.mark.parametrize("contract", CONTRACTS)
def test_every_listed_fault_changes_one_function_and_says_which(contract):
    """The name is that of a function in the module that the fault changes."""
    for fault in faults(contract):
        (name,) = changed_functions(contract, (fault.change,))
        module, _, function = name.partition(".")

        assert module == fault.change.module
        assert f"def {function}(" in source_of(module)


def test_two_changes_are_named_together_and_one_of_a_class_leaves_nothing_as_it_was():
    """A class, unlike a function, takes effect before anybody enters anything."""
    one, two = faults("window")[0].change, faults("window")[-1].change
    life = Change("window_state", '"gone"] = "live"', '"gone"] = "gone"')

    assert len(changed_functions("window", (one, two))) == 2
    assert changed_functions("window", (one, life)) is None
    assert forest("window", {"messages": 1}, changes=(life,), before=forest("window", {"messages": 1})).before is None


# ------------------------------------------------------------------------------------------------ explorer
def searched(product, changes):
    """Search, and tell what was found in a way that no numbering has a part in."""
    ended = product.run(depth=12)
    if not ended:
        return ended, 0, ()
    steps = replay(product.layout, product.plays.observer, product.counterexample(), changes)
    return ended, len(steps), steps[-1].broken


def alone(contract, bounds, changes):
    """Take changed rules apart as if nothing were known."""
    return Product.of(Layout(Program(forest(contract, bounds, changes=changes, watched=True))), observer_of(contract))


@named
def test_a_search_that_begins_with_what_is_known_finds_what_one_finds_that_begins_with_nothing(contract, fault):
    """The same rules break after as many transitions."""
    changes = (fault.change,)

    assert searched(product_of(contract, BOUNDS, changes), changes) == searched(
        alone(contract, BOUNDS, changes), changes
    )


@named
def test_paths_of_changed_rules_are_the_same_whether_kept_or_run(contract, fault):
    """Tree by tree, wherever the loop can be: the same answers lead to the same ends, and some of them were kept."""
    known = ground_of(contract, tuple(BOUNDS.items())).layout.program.forest
    kept = forest(contract, BOUNDS, changes=(fault.change,), watched=True, before=known)
    fresh = forest(contract, BOUNDS, changes=(fault.change,), watched=True)

    assert any(tree.kept for tree in kept.trees.values())
    assert set(fresh.values) <= set(kept.values)
    for position in fresh.values:
        for action in fresh.trees:
            said = {key(leaf) for leaf in kept.leaves(position, action)}
            assert {key(leaf) for leaf in fresh.leaves(position, action)} <= said


def key(leaf):
    """Say what a path asked, was answered, wrote and showed."""
    asked = tuple(
        (step.name, step.value) if hasattr(step, "name") else (step.term.key, getattr(step, "taken", None))
        for step in leaf.steps
    )
    effect = leaf.result
    if effect is None:
        return asked, repr(leaf.raised)
    return asked, tuple(effect.written), tuple(effect.spent.items()), effect.script.key


def test_a_layout_that_differs_gets_plays_of_its_own():
    """Where changed rules ask for more than the rules, packed states mean something else."""
    by_name = {one.name: one.change for one in faults("window")}
    ground = ground_of("window", tuple(BOUNDS.items()))
    product = product_of("window", BOUNDS, (by_name["window-outlives-turn"],))

    assert not product.layout.places_like(ground.layout)
    assert isinstance(product.plays, Plays)
    assert product.plays is not ground.plays


@pytest.mark.parametrize("name", ["prompt-queued-in-front", "ceiling-forgotten"])
def test_changed_rules_that_ask_for_no_more_share_the_plays_of_the_rules(name):
    """Also where they ask for less: what was live counts as live, so that packed states mean the same."""
    (change,) = (one.change for one in faults("window") if one.name == name)

    assert product_of("window", BOUNDS, (change,)).plays is ground_of("window", tuple(BOUNDS.items())).plays


def test_what_is_found_of_changed_rules_leaves_what_is_known_of_the_rules_as_it_was():
    """Values that only changed rules come to are none of the rules' own."""
    (change,) = (one.change for one in faults("window") if one.name == "window-outlives-turn")
    known = ground_of("window", tuple(BOUNDS.items())).layout.program.forest
    before = {
        position: {name: tuple(some) for name, some in known.values[position].items()} for position in known.values
    }
    changed = forest("window", BOUNDS, changes=(change,), watched=True, before=known)

    assert any(len(changed.values[p][name]) > len(some) for p in before for name, some in before[p].items())
    assert before == {p: {name: tuple(some) for name, some in known.values[p].items()} for p in known.values}


# ------------------------------------------------------------------------------------------------ proof
@pytest.mark.slow
@pytest.mark.parametrize("contract", CONTRACTS)
def test_the_proof_of_what_a_change_touches_fails_on_the_goals_that_a_whole_proof_fails_on(contract):
    """The paths that stand are those that are proved anyway, so all failures are among the others."""
    changes = (faults(contract)[24].change,)
    touched = changed_induction(contract, changes)

    assert len(touched.paths) < len(unchanged(contract)[1])
    assert failures(touched) == failures(induction(contract, changes=changes))


def failures(attempt):
    return {(failure.action, failure.goal.name) for outcome in attempt.run() for failure in outcome.failures}
