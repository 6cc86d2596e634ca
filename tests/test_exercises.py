"""What the tests of a problem set say of answers, right and wrong."""

import numpy as np
import pytest

from pegasos_lib.exercises import (
    Hint,
    ask,
    check,
    check_keeps,
    check_order,
    counted,
    counted_zeros,
    fresh_rng,
)

PROOF = {"A": "", "B": "A", "C": "A", "D": "BC"}


def test_a_hint_is_one_sentence_in_a_notebook():
    assert Hint("The sign is wrong.")._render_traceback_() == ["Not yet. The sign is wrong."]


def test_ask_hands_over_copies_and_keeps_the_answer():
    given = np.ones(2)

    def spoil(w, *, scale):
        w *= scale
        return w

    assert ask(spoil, given, scale=3.0).tolist() == [3.0, 3.0]
    assert given.tolist() == [1.0, 1.0]


def test_ask_hands_over_copies_of_arrays_in_lists_and_options_too():
    rows, weights = [np.ones(2), (np.ones(1),)], np.ones(2)

    def spoil(rows, *, weights):
        for array in (rows[0], rows[1][0], weights):
            array[:] = 0
        return 0

    ask(spoil, rows, weights=weights)
    assert (rows[0].tolist(), rows[1][0].tolist(), weights.tolist()) == ([1, 1], [1], [1, 1])


def test_little_of_an_answer_is_repeated():
    with pytest.raises(Hint) as told:
        check("seen " * 1000, "convex", "No.")
    assert len(str(told.value)) < 400
    with pytest.raises(Hint) as told:
        check_order(["seen " * 1000], PROOF, {}, "No.")
    assert len(str(told.value)) < 400


@pytest.mark.parametrize("kind", [list, tuple])
def test_numbers_are_shown_without_their_types(kind):
    with pytest.raises(Hint) as told:
        check(kind([np.float64(0.5), np.int64(2)]), [np.float64(1.5), 0], "No.")
    assert str(told.value).splitlines()[1:] == [
        f"  your answer: {kind([0.5, 2])}",
        "  expected:    [1.5, 0]",
    ]


@pytest.mark.parametrize("answer", [np.array([1 + 5j]), ["1.0"], np.array(["1"])])
def test_numbers_with_an_imaginary_part_and_words_are_not_the_expected_numbers(answer):
    with pytest.raises(Hint, match="not numbers"):
        check(answer, [1.0], "No.")
    check(np.array([1 + 0j]), [1.0], "No.")


@pytest.mark.parametrize(
    ("answer", "parts", "told"),
    [
        (lambda: None, 1, "returned None"),
        (lambda: 1 / 0, 1, "divides by 0"),
        (lambda: np.ones(2), 2, "a tuple of 2"),
        (lambda: (1, 2, 3), 2, "a tuple of 2"),
        (lambda: [1, 2], 2, "a tuple of 2"),
    ],
)
def test_ask_tells_what_kind_of_answer_is_wrong(answer, parts, told):
    with pytest.raises(Hint, match=told):
        ask(answer, parts=parts)


def test_ask_names_a_function_that_is_not_written_yet():
    def pegasos_step():
        raise NotImplementedError

    with pytest.raises(Hint, match="pegasos_step, or what it calls, is not written yet"):
        ask(pegasos_step)


def test_ask_leaves_other_errors_with_their_place():
    with pytest.raises(IndexError):
        ask(lambda: [][0])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (1, 1.0),
        (np.float32(0.5), 0.5),
        ([1.0, 2.0], np.array([1.0, 2.0])),
        (1 + 1e-12, 1.0),
        (np.bool_(True), True),
        (np.array(False), False),
        ("inside", "inside"),
        (np.inf, np.inf),
    ],
)
def test_check_takes_what_is_equal(answer, expected):
    check(answer, expected, "No.")


@pytest.mark.parametrize(
    ("answer", "expected", "told"),
    [
        (1.1, 1.0, "No.\n  your answer: 1.1"),
        (-0.0 + np.nan, 1.0, "No."),
        (np.nan, np.nan, "No."),
        (np.ones(3), np.ones(2), r"shape \(3,\), expected \(2,\). No."),
        (np.ones((2, 1)), np.ones(2), "shape"),
        ("one", 1.0, "is a str, not numbers. No."),
        ({}, 1.0, "is a dict, not numbers. No."),
        (1, True, "should be True or False, not int. No."),
        (1.0, "inside", "should be a word, not float. No."),
        ("outside", "inside", "No."),
        (False, True, "No."),
        (1j, 1.0, "not numbers"),
    ],
)
def test_check_tells_what_differs(answer, expected, told):
    with pytest.raises(Hint, match=told):
        check(answer, expected, "No.")


def test_hidden_tests_do_not_show_what_is_expected():
    with pytest.raises(Hint) as caught:
        check(1.5, 2.5, "No.", show=False)
    assert str(caught.value) == "No."


def test_a_changed_argument_is_told_and_a_copy_is_not():
    def changes(w, y):
        w += 1
        return w

    check_keeps(lambda w, y: w + 1, np.ones(2), 3.0)
    with pytest.raises(Hint, match="changed one of the arrays"):
        check_keeps(changes, np.ones(2), 3.0)


ROWS = np.arange(600.0).reshape(200, 3)
W, ALPHA = np.ones(3), np.ones(200)


@pytest.mark.parametrize(
    ("of_a_row", "of_all"),
    [
        (lambda X: X[1] @ W, lambda X: (X @ W)[1]),
        (lambda X: np.dot(X[1], W), lambda X: np.dot(X, W)[1]),
        (lambda X: X[1].dot(W), lambda X: X.dot(W)[1]),
        (lambda X: (X[1] ** 2).sum(), lambda X: (X**2).sum(axis=1)[1]),
        (lambda X: np.linalg.norm(X[1]), lambda X: np.linalg.norm(X, axis=1)[1]),
        (lambda X: np.inner(X[1], W), lambda X: np.inner(X, W)[1]),
        (lambda X: 2.0 * X[1], lambda X: (ALPHA[:, None] * 2 * X)[1]),
        (lambda X: X[1:3].T @ W[:2], lambda X: X.T @ ALPHA),
        (lambda X: X[[1, 1]].sum(axis=0), lambda X: sum(1.0 * row for row in X)),
        (lambda X: np.einsum("j,j", X[1], W), lambda X: np.einsum("ij,j->i", X, W)),
    ],
)
def test_what_is_read_of_a_matrix_is_counted(of_a_row, of_all):
    for operation, least, most in [(of_a_row, 1, 4 * 3), (of_all, 600, 4 * 600)]:
        X, reads = counted(ROWS)
        np.testing.assert_allclose(ask(operation, X), operation(ROWS))
        assert least <= sum(reads) <= most


def test_vectors_of_zeros_count_while_they_are_asked_to():
    with counted_zeros() as reads:
        V = np.zeros(1000)
        V[[3, 5]] += 2.0
        assert V[[3, 5]] @ np.ones(2) == 4
        few = sum(reads)
        V *= 0.5
        length = np.sqrt(V @ V)
        assert sum(reads) == few + 3000
    assert few < 10
    assert np.isclose(length, np.sqrt(2))
    assert type(np.zeros(3)) is np.ndarray
    with pytest.raises(KeyError), counted_zeros():
        raise KeyError
    assert type(np.zeros(3)) is np.ndarray


def test_what_is_made_of_a_whole_matrix_counts_too_and_other_results_do_not():
    X, reads = counted(ROWS)
    Z = ALPHA[:, None] * X
    margins = Z @ W
    reads.clear()
    (margins * margins).sum()
    assert reads == []
    Z @ W
    X *= 2
    X @ W
    assert reads == [600, 600, 600]
    assert X[1, 0] == 2 * ROWS[1, 0]


@pytest.mark.parametrize("order", ["ABCD", "ACBD"])
def test_every_order_that_follows_is_right(order):
    check_order(list(order), PROOF, {"X": "no"}, "before")
    check_order(tuple(order), PROOF, {"X": "no"}, "before")


@pytest.mark.parametrize(
    ("order", "told"),
    [
        ("ABCD", "a list of letters"),
        (None, "a list of letters"),
        ([1, 2], "a list of letters"),
        (list("ABCE"), "There is no line 'E'"),
        (list("ABBCD"), "Line B stands twice"),
        (list("AXBCD"), "the constant is wrong"),
        (list("ABD"), "needs 4 lines, and you have 3"),
        (list("BACD"), "before what it follows from"),
        (list("ABDC"), "before what it follows from"),
        ([], "needs 4 lines, and you have 0"),
    ],
)
def test_other_orders_are_told(order, told):
    with pytest.raises(Hint, match=told):
        check_order(order, PROOF, {"X": "the constant is wrong"}, "before what it follows from")


def test_a_wrong_line_that_was_told_of_counts_as_its_twin():
    twins = {"X": "B"}
    for order in ("AXCD", "ABXCD", "AXXCD", "ABCCD"):
        check_order(list(order), PROOF, {"Y": "no"}, "before", twins)
    for order, told in (("XACD", "before"), ("AXYCD", "no"), ("AXD", "needs 4 lines")):
        with pytest.raises(Hint, match=told):
            check_order(list(order), PROOF, {"Y": "no"}, "before", twins)


def test_instances_come_from_the_instructors_seed(monkeypatch):
    def draw(seed, key):
        monkeypatch.setenv("PEGASOS_COURSE_SEED", seed)
        return fresh_rng(key).integers(1 << 60)

    drawn = [draw("0", 1), draw("0", 2), draw("1", 1), draw("1", 2)]
    assert len(set(drawn)) == 4
    assert draw("0", 1) == drawn[0]
    monkeypatch.delenv("PEGASOS_COURSE_SEED")
    assert fresh_rng(1).integers(1 << 60) == drawn[0]


@pytest.mark.parametrize("seed", ["-1", "two", "", "1.5"])
def test_a_wrong_seed_is_named(monkeypatch, seed):
    monkeypatch.setenv("PEGASOS_COURSE_SEED", seed)
    with pytest.raises(ValueError, match="must be a nonnegative integer, got"):
        fresh_rng(1)
