"""Statements of chapter 5 on generated data, re-expressed without the library's solvers."""

from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from pegasos_lib import ConstantStep, HingeProblem, InverseSqrt, sdca, sgd


def pushes(Z, w):
    """The pushes y_i x_i 1[margin < 1] of all examples, from the signed rows Z (n, d)."""
    return np.where((w @ Z.T < 1)[..., None], Z, 0.0)


def signed_rows(rng, n, d):
    """Signed rows y_i x_i, which are all that the objective needs."""
    return rng.normal(size=(n, d)) * rng.uniform(0.3, 3) + rng.normal(size=d)


def as_problem(Z, lam):
    return HingeProblem(Z, np.ones(len(Z)), lam=lam)


def objective(Z, lam, W):
    return lam / 2 * (W**2).sum(axis=-1) + np.maximum(0, 1 - W @ Z.T).mean(axis=-1)


def all_runs(Z, lam, eta, radius=np.inf):
    """All iterates of all runs with k = 1: a list over t of arrays (n^(t-1), d)."""
    W = [np.zeros((1, Z.shape[1]))]
    for step in eta:
        w = W[-1]
        moved = w[:, None] - step * (lam * w[:, None] - pushes(Z, w))  # (runs, n, d)
        moved = moved.reshape(-1, Z.shape[1])
        length = np.linalg.norm(moved, axis=1, keepdims=True)
        W.append(moved * np.minimum(1, radius / np.maximum(length, 1e-300)))
    return W


def test_the_three_rules_of_conditional_means():
    rng = np.random.default_rng(0)
    for _ in range(1000):
        n = int(rng.integers(2, 5))
        Z, Y = rng.normal(size=(n, n, 2)), rng.normal(size=(n, 2))  # Z(a_1, a_2), Y(a_1)
        p, q = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n), size=n)  # q: a_2 given a_1
        given = np.einsum("ab,abj->aj", q, Z)
        joint = p[:, None] * q
        assert np.allclose(p @ given, np.einsum("ab,abj->j", joint, Z))
        inner = (Y[:, None] * Z).sum(axis=2)
        assert np.allclose((q * inner).sum(axis=1), (Y * given).sum(axis=1))
        fresh = q[0]  # the same whatever a_1 is
        phi = np.sin(Y[:, None, 0] + np.arange(n))
        joint = p[:, None] * fresh
        assert np.allclose((joint * phi).sum(axis=1) / joint.sum(axis=1), phi @ fresh)


@pytest.mark.parametrize("replace", [True, False])
def test_a_fresh_draw_is_right_in_the_mean_given_the_past(replace):
    rng = np.random.default_rng(1)
    for _ in range(500):
        n, d, lam = int(rng.integers(2, 5)), int(rng.integers(1, 4)), 10 ** rng.uniform(-2, 0.5)
        k = int(rng.integers(1, min(n, 3) + 1))
        Z, u = signed_rows(rng, n, d), rng.normal(size=d)
        problem = as_problem(Z, lam)
        past = rng.integers(n, size=3)
        w = sgd(problem, n_iter=3, draws=past, step=InverseSqrt(rng.uniform(0.1, 2))).w
        batches = product(range(n), repeat=k) if replace else combinations(range(n), k)
        mean = np.mean([problem.subgradient(w, list(batch)) for batch in batches], axis=0)
        assert mean == pytest.approx(lam * w - pushes(Z, w).mean(axis=0), abs=1e-12)
        growth = objective(Z, lam, w) - objective(Z, lam, u) + lam / 2 * ((w - u) ** 2).sum()
        assert mean @ (w - u) >= growth - 1e-9 * (1 + abs(growth))


@pytest.mark.parametrize("replace", [True, False])
def test_the_covariance_of_a_batch_mean_over_all_batches(replace):
    rng = np.random.default_rng(2)
    for _ in range(500):
        n, d = int(rng.integers(2, 6)), int(rng.integers(1, 4))
        k = int(rng.integers(1, min(n, 4) + 1))
        z = rng.normal(size=(n, d)) * rng.uniform(0.1, 10)
        a = z - z.mean(axis=0)
        batches = product(range(n), repeat=k) if replace else combinations(range(n), k)
        off = a[np.array(list(batches))].mean(axis=1)
        share = 1 / k if replace else (n - k) / (k * (n - 1))
        scale = (a**2).sum()
        assert np.abs(off.mean(axis=0)).max() < 1e-10
        assert np.abs(off.T @ off / len(off) - share * a.T @ a / n).max() < 1e-12 * (1 + scale)


def test_a_constant_step_ends_on_a_floor_at_most_this_high():
    rng = np.random.default_rng(3)
    for number in range(1000):
        n, d, lam = int(rng.integers(2, 4)), int(rng.integers(1, 4)), 10 ** rng.uniform(-1, 0.5)
        Z = signed_rows(rng, n, d)
        R = np.linalg.norm(Z, axis=1).max()
        best = sdca(as_problem(Z, lam), n_epochs=200, gap=1e-9).w
        eta = rng.uniform(0.02, 1) / (2 * lam)
        project = number % 2 == 0
        radius, G = (1 / np.sqrt(lam), np.sqrt(lam) + R) if project else (np.inf, 2 * R)
        for T, W in enumerate(all_runs(Z, lam, [eta] * 5, radius)):
            measured = ((W - best) ** 2).sum(axis=1).mean()
            bound = (1 - 2 * lam * eta) ** T * (best @ best) + eta * G**2 / (2 * lam)
            assert measured <= bound * (1 + 1e-6), (number, T)


def test_the_floor_of_two_examples_is_exact():
    for eta in (Fraction(1, 3), Fraction(9, 10), Fraction(1, 50)):
        squares = {Fraction(0): 1}  # each value of w and the number of runs that have it
        for T in range(8):
            mean = sum(count * w**2 for w, count in squares.items()) / Fraction(2**T)
            assert mean == eta / (2 - eta) * (1 - (1 - eta) ** (2 * T))
            moved = {}
            for w, count in squares.items():
                for y in (1, -1):
                    new = w - eta * (w - (y if y * w < 1 else 0))
                    moved[new] = moved.get(new, 0) + count
            squares = moved
    problem = HingeProblem(np.ones((2, 1)), np.array([1.0, -1.0]), lam=1.0)
    ends = [sgd(problem, n_iter=60, rng=r, step=ConstantStep(0.5)).w[0] ** 2 for r in range(1000)]
    assert np.mean(ends) == pytest.approx(0.5 / 1.5, rel=0.1)


@pytest.mark.parametrize("power", [0.5, 1.0])
def test_diminishing_steps_have_no_floor(power):
    # The mean square of the two-example problem obeys its recursion for any steps below 1.
    t = np.arange(1, 200_001)
    e, ends = 0.0, {}
    for step, at in zip((0.9 / t**power).tolist(), t.tolist(), strict=True):
        e = (1 - step) ** 2 * e + step**2
        ends[at] = e
    assert ends[200_000] < ends[2000] / 5 < ends[20]
    assert ends[200_000] < 0.002
    # And random problems: at most the recursion of the proof, which tends to 0.
    rng = np.random.default_rng(4)
    for _ in range(500):
        n, lam = int(rng.integers(2, 4)), 10 ** rng.uniform(-1, 0.5)
        Z = signed_rows(rng, n, 2)
        G = np.sqrt(lam) + np.linalg.norm(Z, axis=1).max()
        best = sdca(as_problem(Z, lam), n_epochs=200, gap=1e-9).w
        eta = rng.uniform(0.05, 1) / (2 * lam) / np.arange(1, 6) ** power
        bound = best @ best
        for step, W in zip(eta, all_runs(Z, lam, eta, 1 / np.sqrt(lam))[1:], strict=True):
            bound = (1 - 2 * lam * step) * bound + step**2 * G**2
            assert ((W - best) ** 2).sum(axis=1).mean() <= bound * (1 + 1e-6)


def test_the_path_inequality_holds_for_any_vectors_at_every_t():
    rng = np.random.default_rng(5)
    runs, T, d = 1000, 200, 3
    G, radius = 10 ** rng.uniform(-1, 1, size=runs), 10 ** rng.uniform(-1, 1, size=runs)
    D = 2 * radius
    drift, u = rng.normal(size=(2, runs, d))
    u *= (radius / np.linalg.norm(u, axis=1))[:, None]  # on the boundary, where it is worst
    for kind in ("sqrt", "constant", "kappa"):
        kappa = 10 ** rng.uniform(-1, 1, size=runs)
        w, total = np.zeros((runs, d)), np.zeros(runs)
        for t in range(1, T + 1):
            g = rng.normal(size=(runs, d)) + drift
            adverse = rng.random(runs) < 0.3  # a vector that points from u to w, and is not scaled
            g[adverse] = (w - u)[adverse]
            g *= (G / np.maximum(np.linalg.norm(g, axis=1), 1e-300))[:, None]
            total += (g * (w - u)).sum(axis=1)
            if kind == "sqrt":
                eta, bound = D / (G * np.sqrt(t)), 1.5 * G * D * np.sqrt(t)
            elif kind == "constant":
                eta, bound = D / (G * np.sqrt(T)), G * D * np.sqrt(T) if t == T else np.inf
            else:
                eta = kappa / np.sqrt(t)
                bound = (D**2 / (2 * kappa) + kappa * G**2) * np.sqrt(t)
            assert (total <= bound * (1 + 1e-12)).all(), (kind, t)
            w = w - eta[:, None] * g
            w *= np.minimum(1, radius / np.maximum(np.linalg.norm(w, axis=1), 1e-300))[:, None]


@pytest.mark.parametrize("constant", [True, False])
def test_the_average_of_sgd_obeys_its_bound_in_the_mean(constant):
    rng = np.random.default_rng(6)
    largest = 0.0
    for _ in range(500):
        n, d, lam, T = 2, int(rng.integers(1, 4)), 10 ** rng.uniform(-3, 0.5), 7
        Z = signed_rows(rng, n, d)
        radius = 1 / np.sqrt(lam)
        D, G = 2 * radius, np.sqrt(lam) + np.linalg.norm(Z, axis=1).max()
        t = np.arange(1, T + 1)
        eta = np.full(T, D / (G * np.sqrt(T))) if constant else D / (G * np.sqrt(t))
        W = all_runs(Z, lam, eta, radius)
        total = sum(np.repeat(w, n ** (T - s), axis=0) for s, w in enumerate(W[:-1]))
        best = sdca(as_problem(Z, lam), n_epochs=200, gap=1e-9).w
        for u in (best, rng.normal(size=d) / np.sqrt(lam * d) / 3):
            u = u * min(1, radius / max(np.linalg.norm(u), 1e-300))
            gap = objective(Z, lam, total / T).mean() - objective(Z, lam, u)
            bound = (1 if constant else 1.5) * G * D / np.sqrt(T)
            largest = max(largest, gap / bound)
            assert gap <= bound
    assert largest > 0.01, "the runs are far from the bound: the test would see no error"


def test_copies_change_nothing_for_sgd():
    rng = np.random.default_rng(7)
    for _ in range(1000):
        n, r, k = int(rng.integers(1, 8)), int(rng.integers(2, 5)), int(rng.integers(1, 4))
        problem = as_problem(signed_rows(rng, n, 2), 0.3)
        order = rng.permutation(np.tile(np.arange(n), r))  # where each place points to
        copies = HingeProblem(problem.X[order], problem.y[order], lam=0.3)
        assert (np.bincount(order) == r).all()
        draws = rng.integers(n * r, size=(8, k))
        of_copies = sgd(copies, n_iter=8, batch_size=k, draws=draws).w
        assert of_copies == pytest.approx(
            sgd(problem, n_iter=8, batch_size=k, draws=order[draws]).w, abs=1e-12
        )
        w = rng.normal(size=2)
        assert copies.objective(w) == pytest.approx(problem.objective(w), rel=1e-13)
        assert copies.subgradient(w) == pytest.approx(problem.subgradient(w), abs=1e-12)


def test_the_bias_within_an_epoch_is_the_formula():
    rng, runs = np.random.default_rng(8), 100
    rows = np.arange(runs)[:, None]
    for s, n in combinations((1, 2, 3, 4, 5), 2):
        Z = rng.normal(size=(runs, n, 2)) * rng.uniform(0.3, 3, size=(runs, 1, 1))
        lam, eta = 10 ** rng.uniform(-1, 0.5, size=(runs, 1)), rng.uniform(0.1, 1, (runs, 1))
        order = rng.permuted(np.tile(np.arange(n), (runs, 1)), axis=1)
        w = np.zeros((runs, 2))
        for t in range(s):
            z = Z[rows[:, 0], order[:, t]]
            w = w - eta * (lam * w - ((z * w).sum(axis=1) < 1)[:, None] * z)
        run = sgd(
            as_problem(Z[3], lam[3, 0]), n_iter=s, draws=order[3, :s], step=ConstantStep(eta[3, 0])
        )
        assert run.w == pytest.approx(w[3], abs=1e-12)
        g = lam[:, None] * w[:, None] - (np.einsum("rnd,rd->rn", Z, w) < 1)[..., None] * Z
        ahead = [rest[0] for rest in permutations(range(s, n))]  # in all orders that go on so
        bias = g[rows, order[:, ahead]].mean(axis=1) - g.mean(axis=1)
        formula = s / (n - s) * (g.mean(axis=1) - g[rows, order[:, :s]].mean(axis=1))
        assert bias == pytest.approx(formula, abs=1e-12)


def test_importance_weights_keep_the_mean_and_never_raise_the_second_moment():
    rng = np.random.default_rng(9)
    for _ in range(1000):
        n = int(rng.integers(1, 12))
        Z = rng.normal(size=(n, 3)) * 10 ** rng.uniform(-2, 2, size=(n, 1))
        lengths = np.linalg.norm(Z, axis=1)
        p = lengths / lengths.sum()
        weighted = Z / (n * p[:, None])
        assert p @ weighted == pytest.approx(Z.mean(axis=0), rel=1e-9, abs=1e-9)
        second = p @ (weighted**2).sum(axis=1)
        assert second == pytest.approx(lengths.mean() ** 2)
        assert second <= (lengths**2).mean() * (1 + 1e-12)
