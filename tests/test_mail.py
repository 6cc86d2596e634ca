"""A part of what benchmarks/mail.py stores, measured again on the generated mail."""

import numpy as np
import pytest

from benchmarks import mail, measured, outliers
from pegasos_lib import HingeProblem, make_mail, outlier_pegasos


@pytest.fixture(scope="module")
def stored():
    return measured.stored("mail")


@pytest.fixture(scope="module")
def messages():
    return make_mail(rng=0)


def test_a_seeds_ends_are_those_that_are_stored(stored, messages):
    names = ("plain", "two-out", "probability")
    variants = {name: mail.VARIANTS[name] for name in names}
    again = mail.curves(messages, range(1), variants)
    held = stored["generated"]["curves"]
    assert again["steps"] == held["steps"]
    for name in names:
        assert again["variants"][name]["first"] == pytest.approx(
            held["variants"][name]["first"], rel=1e-4
        )


def test_the_support_vectors_alone_are_as_stored(stored, messages):
    again = mail.support_vectors_only(messages, 1e-2)
    held = stored["generated"]["support vectors"]["0.01"]
    assert again["true"]["count"] == held["true"]["count"]
    assert again["error"] == pytest.approx(held["error"], rel=1e-4)
    for part in ("true", "guessed"):
        assert again[part]["same"]["error"] == pytest.approx(held[part]["same"]["error"], rel=1e-4)
    for block in (again, held):
        assert block["true"]["scaled"]["distance"] < 1e-4 < block["true"]["same"]["distance"]


def test_what_is_stored_holds_results_only(stored):
    """The mail is not to be found in what was measured on it."""
    sizes = []

    def walk(value):
        if isinstance(value, dict):
            for item in value.values():
                walk(item)
        elif isinstance(value, list):
            sizes.append(len(value))
            for item in value:
                walk(item)

    walk(stored)
    assert set(stored) == {"real", "generated"}
    assert max(sizes) <= 25  # the steps of a curve, at most


def test_injected_outliers_are_marked_as_they_were_made(messages):
    bad = mail.inject(messages, "long", 0.05, seed=1)
    marked = np.flatnonzero(bad.is_outlier)
    assert len(marked) == round(0.05 * 2144)
    assert (bad.y[marked] == -messages.y[marked]).all()
    lengths = np.sqrt(np.asarray(bad.X.multiply(bad.X).sum(axis=1)).ravel())
    assert lengths == pytest.approx(np.where(bad.is_outlier, 10.0, 1.0))
    turned = mail.inject(messages, "flipped", 0.1, seed=1)
    assert abs(turned.X - messages.X).max() == 0
    assert (turned.y != messages.y).sum() == turned.is_outlier.sum() == 214


def test_suspects_are_the_removed_or_those_lowered_twice(messages):
    problem = HingeProblem(messages.X, messages.y, lam=1e-2)
    run = outlier_pegasos(problem, n_iter=400, rng=0, two_out=2)
    assert mail.suspects(run).sum() == len(run.removed) > 0
    quick = outliers.watched(messages, 1e-2, 400, 0, "full", gamma=mail.GAMMA)
    assert mail.suspects(quick).sum() == (quick.p < 0.3).sum() > 0
