"""Statements of chapter 11, on random problems, in words of their own."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from pegasos_lib import HingeProblem, outlier_pegasos, sdca
from tests.many import Problems

RUNS = 1000


def random_problem(rng, n, d, lam=(-2, 0)):
    X = rng.normal(size=(n, d)) * 10 ** rng.uniform(-0.4, 0.4)
    return HingeProblem(X, rng.choice([-1.0, 1.0], n), lam=10 ** rng.uniform(*lam))


def minimiser(X, y, lam, gap=1e-11):
    best = sdca(HingeProblem(X, y, lam=lam), n_epochs=10**5, gap=gap, rng=0)
    assert best.gap <= gap
    return best


def test_a_step_raises_the_objective_by_at_least_its_quadratic():
    rng = np.random.default_rng(0)
    many = Problems(rng, RUNS, 6, 3, lam=(-2, 0.5), scale=0.5)
    W, G = rng.normal(size=(2, RUNS, 3))
    W *= 10 ** rng.uniform(-1, 1, (RUNS, 1))
    m = np.einsum("rnd,rd->rn", many.Z, W)
    pushes = (m < 1)[..., None] * many.Z
    s = many.lam[:, None] * W - pushes.mean(axis=1)
    eta = 10 ** rng.uniform(-3, 1, RUNS)
    change = many.objective(W - eta[:, None] * G) - many.objective(W)
    least = -eta * (s * G).sum(axis=1) + many.lam * eta**2 / 2 * (G**2).sum(axis=1)
    scale = 1 + np.abs(many.objective(W)) + np.abs(least)
    assert (change - least >= -1e-10 * scale).all()
    sure = least > 1e-9 * scale
    assert 100 < sure.sum() < 900
    assert (change[sure] > 0).all()
    # The mean over the examples of <s, g_i> is |s|^2, and a positive one means a short way down.
    g = many.lam[:, None, None] * W[:, None] - pushes
    along = np.einsum("rnd,rd->rn", g, s)
    assert np.allclose(along.mean(axis=1), (s**2).sum(axis=1))
    best = np.argmax(along, axis=1)
    down = g[np.arange(RUNS), best]
    # So short a step that no margin crosses 1.
    z_down = np.einsum("rnd,rd->rn", many.Z, down)
    safe = 0.5 * np.min(np.abs(m - 1) / (np.abs(z_down) + 1e-12), axis=1)
    short = np.minimum(safe, along.max(axis=1) / (many.lam * (down**2).sum(axis=1)))
    fall = many.objective(W - short[:, None] * down) - many.objective(W)
    assert (fall < 0).all()


def test_at_the_minimum_every_drawn_example_is_flagged():
    rng = np.random.default_rng(1)
    for seed in range(6):
        p = random_problem(rng, n=12, d=3)
        best = minimiser(p.X, p.y, p.lam, gap=1e-12)
        run = outlier_pegasos(p, n_iter=30, rng=seed, undo=True, two_out=100, w0=best.w)
        # A support vector with the whole of w* as its push may leave w* where it is.
        moves = [np.linalg.norm(p.subgradient(best.w, [i])) > 1e-3 for i in range(p.n)]
        drawn = np.bincount(run.draws, minlength=p.n)
        assert np.array_equal(run.flags[moves], drawn[moves])


def test_at_the_minimum_all_that_move_it_are_removed_equally_often():
    """All draws of four steps with their chances; the first row leaves w* = 1/2 where it is."""
    n, T = 5, 4
    p = HingeProblem([[0.5], [2.0], [2.0], [2.0], [4.0]], np.ones(n), lam=1.0)
    assert minimiser(p.X, p.y, 1.0).w == pytest.approx([0.5], abs=1e-5)
    chances = {}
    for draws in product(range(n), repeat=T):
        counts, chance = np.zeros(n), 1.0
        for i in draws:
            living = (counts < 2) | (np.arange(n) == 0)
            chance *= living[i] / living.sum()
            counts[i] += 1
        if chance:
            run = outlier_pegasos(p, n_iter=T, draws=draws, undo=True, two_out=2, w0=[0.5])
            assert run.flags.tolist() == [0, *counts[1:]]
            gone = tuple(run.removed)
            chances[frozenset(gone)] = chances.get(frozenset(gone), 0) + chance
    assert sum(chances.values()) == pytest.approx(1)
    for size, subsets in ((0, 1), (1, 4), (2, 6)):
        same = [chance for gone, chance in chances.items() if len(gone) == size]
        assert len(same) == subsets
        assert same == pytest.approx([same[0]] * subsets)
    assert not any(0 in gone for gone in chances)


def test_undo_refuses_every_step_from_a_kink_of_one_example():
    """So it does from any point of the ball with a margin of exactly 1."""
    rng = np.random.default_rng(2)
    for _ in range(50):
        a, b = Fraction(int(rng.integers(1, 9)), 4), Fraction(int(rng.integers(-8, 9)), 4)
        w = (1 / a, b)
        square = w[0] ** 2 + w[1] ** 2
        lam = 1 / square * Fraction(int(rng.integers(1, 8)), 7)
        for t in range(1, 60):
            shrunk = 1 - Fraction(1, t)
            after = lam / 2 * square * shrunk**2 + (1 - shrunk)
            assert after > lam / 2 * square
    p = HingeProblem([[1.0, 0.0]], [1.0], lam=0.1)
    run = outlier_pegasos(p, n_iter=500, undo=True, w0=[1.0, 1.0], rng=0)
    assert run.accepted == 0
    assert p.objective([1.0, 1.0]) == pytest.approx(2 * p.objective([1.0, 0.0]))


def test_undo_leaves_a_point_without_kink_that_is_not_the_minimum():
    rng = np.random.default_rng(3)
    for seed in range(10):
        p = random_problem(rng, n=6, d=2, lam=(-1, 0))
        w = rng.normal(size=2)
        w *= 0.9 * rng.random() / (np.sqrt(p.lam) * np.linalg.norm(w))
        assert np.abs(p.margins(w) - 1).min() > 1e-6
        run = outlier_pegasos(p, n_iter=800, rng=seed, undo=True, w0=w)
        assert run.accepted > 0


def test_rises_may_end():
    """In rational numbers: after the first step copies of one short row move nothing any more."""
    x, lam = Fraction(1, 2), Fraction(1, 3)
    w = Fraction(0)
    for t in range(1, 50):
        w = (1 - Fraction(1, t)) * w + (x / (lam * t) if w * x < 1 else 0)
        assert w == x / lam
    # It is the minimum: the slope of P there is 0, as w x < 1.
    assert w * x < 1
    assert lam * w - x == 0


@pytest.mark.parametrize("threshold", [1, 2, 4])
def test_rises_remove_whatever_the_data(threshold):
    rng = np.random.default_rng(4)
    equal = 0
    for seed in range(12):
        p = random_problem(rng, n=int(rng.integers(2, 15)), d=2)
        run = outlier_pegasos(p, n_iter=300, rng=seed, two_out=threshold)
        rises = np.cumsum(np.isin(np.arange(1, 301), run.rises))
        gone = np.array([(run.removed_at <= t).sum() for t in range(1, 301)])
        least = np.minimum(p.n - 1, rises - (threshold - 1) * p.n)
        assert (gone >= least).all()
        equal += (gone == least)[gone > 0].any()
        everybody = np.tile(np.arange(p.n), (40, 1))
        watch = outlier_pegasos(p, n_iter=40, batch_size=p.n, draws=everybody)
        if len(watch.rises) >= threshold:
            last = watch.rises[threshold - 1]
            options = {"batch_size": p.n, "two_out": threshold, "draws": everybody[:last]}
            emptied = outlier_pegasos(p, n_iter=int(last), **options)
            assert emptied.removed_at.tolist() == [last] * (p.n - 1)
    assert equal > 3


def test_unequal_sampling_is_off_by_no_more_than_the_bound():
    rng = np.random.default_rng(5)
    tight = 0.0
    for _ in range(40):
        p = random_problem(rng, n=8, d=2)
        copies = rng.integers(1, 6, 8)
        pi = copies / copies.sum()
        star = minimiser(p.X, p.y, p.lam).w
        biased = minimiser(p.X.repeat(copies, axis=0), p.y.repeat(copies), p.lam).w
        delta = np.abs(pi - 1 / 8).sum()
        move, excess = np.linalg.norm(biased - star), p.objective(biased) - p.objective(star)
        assert move <= p.R * delta / p.lam + 1e-6
        assert excess <= (p.R * delta) ** 2 / (2 * p.lam) + 1e-9
        tight = max(tight, move / (p.R * delta / p.lam))
    assert tight > 0.02
    # With n = 2 points at +-R that pull apart the bound of the distance is attained.
    p = HingeProblem([[1.0], [1.0]], [1.0, -1.0], lam=2.0)
    biased = minimiser([[1.0], [1.0], [1.0], [1.0]], [1.0, 1.0, 1.0, -1.0], 2.0).w
    assert abs(biased[0]) == pytest.approx((0.25 + 0.25) / 2.0)
    assert minimiser(p.X, p.y, 2.0).w == pytest.approx([0.0], abs=1e-6)


def test_importance_weights_give_the_subgradient_and_the_bound_of_the_objective():
    """All sequences of draws, each with its probability, which may depend on the past."""
    rng, T, n, largest = np.random.default_rng(6), 4, 3, 0.0
    for _ in range(5):
        p = random_problem(rng, n=n, d=2, lam=(-1, 0.5))
        Z, floor = p.y[:, None] * p.X, 0.1
        star = minimiser(p.X, p.y, p.lam).w
        shift = rng.dirichlet(np.ones(n))
        mean = 0.0
        for draws in product(range(n), repeat=T):
            w, total, chance = np.zeros(2), np.zeros(2), 1.0
            for t, i in enumerate(draws, start=1):
                # Probabilities that the past changes: what was drawn last gets a part of the rest.
                pi = floor + (1 - n * floor) * (
                    shift if t == 1 else np.roll(shift, draws[t - 2] + 1)
                )
                hits = Z @ w < 1
                each = p.lam * w - (hits / (n * pi))[:, None] * Z
                assert np.allclose(pi @ each, p.subgradient(w))
                total, chance = total + w, chance * pi[i]
                w = w - each[i] / (p.lam * t)
                w *= min(1.0, p.lam**-0.5 / max(np.linalg.norm(w), 1e-300))
            mean += chance * p.objective(total / T)
        c = (np.sqrt(p.lam) + p.R / (n * floor)) ** 2
        bound = c * (1 + np.log(T)) / (2 * p.lam * T)
        largest = max(largest, (mean - p.objective(star)) / bound)
        assert mean - p.objective(star) <= bound
    assert largest > 0.001


def test_a_part_at_the_right_strength_is_certified_by_the_losses_of_the_rest():
    rng, exact = np.random.default_rng(7), 0
    for _ in range(40):
        p = random_problem(rng, n=int(rng.integers(4, 20)), d=int(rng.integers(1, 4)))
        best = minimiser(p.X, p.y, p.lam)
        support = best.alpha > 0
        for part in (support, support | (rng.random(p.n) < 0.5), rng.random(p.n) < 0.6):
            if not part.any():
                continue
            X, y = p.X[part], p.y[part]
            w = minimiser(X, y, p.lam * p.n / part.sum()).w
            lost = p.losses(w)[~part].sum() / p.n
            excess = p.objective(w) - p.objective(best.w)
            assert excess <= lost + 1e-9
            if not support[~part].any():
                exact += 1
                assert np.abs(w - best.w).max() < 1e-4
            same = minimiser(X, y, p.lam).w  # as of the strength lam |V|/n
            weaker = p.lam * part.sum() / p.n
            value = weaker / 2 * same @ same + p.losses(same)[part].sum() / p.n
            for other in same + 0.1 * rng.normal(size=(20, p.d)):
                assert value <= weaker / 2 * other @ other + p.losses(other)[part].sum() / p.n
    assert exact > 40
