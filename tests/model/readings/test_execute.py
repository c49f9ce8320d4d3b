"""Forking execution: every path is run once, what is known isn't asked again, and a changing function is found out."""

from __future__ import annotations

from itertools import count

import pytest

from turnproof_model.readings.execute import Impossible, ReplayError, choose, fresh, require, run
from turnproof_model.readings.terms import negate, var
from turnproof_model.readings.trees import Tree, answers_of, paths

P, Q, N = var("p", "bool"), var("q", "bool"), var("n", "int")


def results(body, **options):
    return [leaf.result for leaf in Tree(body, **options).leaves()]


def test_both_answers_of_every_question_are_taken():
    """A function that asks two truths has four paths, the true ones first."""
    assert results(lambda: ("p" if P else "", "q" if Q else "")) == [("p", "q"), ("p", ""), ("", "q"), ("", "")]


def test_words_of_python_fork_like_questions():
    """``and``, ``or`` and ``not`` ask one truth after the other, and only those that they need."""
    guards = [leaf.guards for leaf in paths(lambda: bool(P and Q))]

    assert [[term.key for term in path] for path in guards] == [
        [P.key, Q.key],
        [P.key, negate(Q).key],
        [negate(P).key],
    ]


def test_a_question_that_is_settled_is_not_asked_again():
    """The same truth, and its opposite, have one answer on a path."""
    assert results(lambda: (bool(P), bool(P), bool(negate(P)))) == [(True, True, False), (False, False, True)]


def test_what_is_implied_is_not_asked():
    """Whoever knows more about the terms at hand prunes paths."""

    def implied(term, decided):
        return True if term is Q and any(d.term is P and d.taken for d in decided) else None

    assert results(lambda: (bool(P), bool(Q)), implied=implied) == [(True, True), (False, True), (False, False)]


def test_a_list_is_chosen_from_and_each_choice_is_noted():
    """A path knows what was chosen by name; the last counts where a name was chosen twice."""
    leaves = list(paths(lambda: (choose("way", (1, 2)), choose("way", ("x",)))))

    assert [leaf.result for leaf in leaves] == [(1, "x"), (2, "x")]
    assert [answers_of(leaf) for leaf in leaves] == [{"way": "x"}, {"way": "x"}]
    assert [[step.value for step in leaf.choices] for leaf in leaves] == [[1, "x"], [2, "x"]]


def test_other_options_run_only_what_is_new():
    """A tree is kept: a later walk with more values runs the function for the new ones alone."""
    runs = count()

    def body():
        next(runs)
        return choose("way", (1,))

    tree = Tree(body)
    first = [leaf.result for leaf in tree.leaves()]
    more = [leaf.result for leaf in tree.leaves(lambda _: (1, 2, 3))]

    assert (first, more, next(runs)) == ([1], [1, 2, 3], 3)


def test_a_path_that_cannot_be_is_left_out():
    """``Impossible`` ends a path that means nothing; so does a requirement that is known not to hold."""

    def body():
        if P:
            raise Impossible
        require(negate(P))
        require(Q)
        return bool(Q)

    leaves = list(paths(body))

    assert [leaf.result for leaf in leaves] == [True]
    assert [term.key for term in leaves[0].guards] == [negate(P).key, negate(P).key, Q.key]


def test_what_a_path_raises_belongs_to_the_path():
    """A mistake of the function on one path is the end of that path, and of no other."""

    def body():
        if P:
            raise KeyError("only here")
        return "fine"

    broken, sound = paths(body)

    assert isinstance(broken.raised, KeyError)
    assert (sound.result, sound.raised) == ("fine", None)


def test_a_function_that_asks_something_else_when_run_again_is_found_out():
    """State outside the run, or iteration over a set, changes the questions; the error says where to look."""
    seen = count()

    def body():
        return bool(P if next(seen) % 2 == 0 else Q), bool(N > 0)

    with pytest.raises(ReplayError, match="same questions on the same answers"):
        list(paths(body))


def test_a_function_that_ends_early_when_run_again_is_found_out():
    """An end where there was a question is told like another question."""
    seen = count()

    def body():
        return bool(P) if next(seen) == 0 else None

    with pytest.raises(ReplayError, match="the end"):
        list(paths(body))


def test_unknowns_of_a_path_are_the_same_on_every_run():
    """The same place makes the same unknown; a second one at another place differs."""
    made = [leaf.result for leaf in paths(lambda: (fresh("x", "int"), bool(P), fresh("x", "int")))]

    assert [first.key for first, _, _ in made] == [made[0][0].key] * 2
    assert all(first.key != second.key for first, _, second in made)


def test_questions_need_an_execution():
    """Outside a tree there is no run to ask."""
    with pytest.raises(LookupError, match="no execution is under way"):
        run()


def test_prefixes_that_are_not_worth_following_are_not_run():
    """Whoever can tell that nothing comes of a prefix keeps everything below it from being run."""
    tree = Tree(lambda: (bool(P), bool(Q)))
    leaves = tree.leaves(feasible=lambda steps: steps[0].taken)

    assert [leaf.result for leaf in leaves] == [(True, True), (True, False)]
