"""Statements of chapter 10, on 1,000 problems at once, in words of their own."""

import json
from math import ceil, e, log
from pathlib import Path

import numpy as np
import pytest

from pegasos_lib import HingeProblem, sgd_initialisation, use_jit
from tests import reference
from tests.many import Problems
from tests.notebooks import checks
from tests.notebooks.test_duality_statements import (
    dual,
    margins,
    maximise,
    problems,
    some_alpha,
    step,
    weights,
)

RUNS, N, DIM = 1000, 5, 3
BOOK = Path(__file__).parents[2] / "book"


def unit_problems(seed, runs, n, lam):
    """Draw data sets of independent examples of length at most 1, and one lambda for all."""
    rng = np.random.default_rng(seed)
    many = Problems(rng, runs, n, DIM)
    X = rng.normal(size=(runs, n, DIM))
    y = np.where(X[..., 0] + 0.5 * rng.normal(size=(runs, n)) > 0, 1.0, -1.0)
    many.Z = y[..., None] * X / np.maximum(1, np.linalg.norm(X, axis=2, keepdims=True))
    many.lam, many.R = np.full(runs, float(lam)), np.ones(runs)
    return many


def greedy(many, hit=False, in_print=False):
    """Yield (t, w_t, alpha, t D_t) of the pass in the given order, from t = 1 on."""
    runs, n, d = many.Z.shape
    alpha, v = np.zeros((runs, n)), np.zeros((runs, d))
    for t in range(1, n + 1):
        z = many.Z[:, t - 1]
        w = v / (many.lam * max(1, t - 1))[:, None]
        m, norm2 = (z * w).sum(axis=1), (z**2).sum(axis=1)
        top = many.lam * (t * (1 - m) if in_print else t - (t - 1) * m)
        top = np.where(norm2 > 0, top / np.where(norm2 > 0, norm2, 1), 1.0)
        alpha[:, t - 1] = m < 1 if hit else np.clip(top, 0, 1)
        v = v + alpha[:, t - 1, None] * z
        yield t, w, alpha, alpha.sum(axis=1) - (v**2).sum(axis=1) / (2 * many.lam * t)


def test_a_greedy_price_is_the_best_for_the_examples_so_far():
    many = problems(1)
    for t, w, alpha, value in greedy(many):
        first = problems(1)
        first.Z = many.Z[:, :t]
        assert value / t == pytest.approx(dual(first, alpha[:, :t]), rel=1e-9, abs=1e-9)
        for price in np.linspace(0, 1, 21):
            other = alpha[:, :t].copy()
            other[:, -1] = price
            assert (dual(first, other) <= value / t + 1e-10 * (1 + abs(value))).all()
        shorter = (1 - 1 / t) * w + alpha[:, t - 1, None] * many.Z[:, t - 1] / (many.lam * t)[
            :, None
        ]
        scale = (many.R / many.lam)[:, None]
        assert (np.abs(weights(first, alpha[:, :t]) - shorter) <= 1e-12 * scale).all()
    W, _ = many.pegasos(np.tile(np.arange(N)[:, None], (RUNS, 1, 1)), project=False)
    for t, w, _, _ in greedy(many, hit=True):
        assert np.abs(w - W[t - 1]).max() <= 1e-9 * (many.R / many.lam).max()


def test_the_librarys_pass_is_the_greedy_one():
    many = problems(2)
    *_, (_, _, alpha, _) = greedy(many)
    for r in range(0, RUNS, 50):
        order = np.random.default_rng(r).permutation(N)
        shuffled = np.empty((N, DIM))
        shuffled[order] = many.Z[r]  # the pass meets the rows in the order of `many`
        with use_jit(False):
            point = sgd_initialisation(HingeProblem(shuffled, np.ones(N), many.lam[r]), rng=r)
        assert point.alpha[order] == pytest.approx(alpha[r], abs=1e-9)


@pytest.mark.parametrize("kind", ["greedy", "hit", "in_print"])
def test_a_greedy_step_gains_what_a_step_of_pegasos_pays(kind):
    many, before, broken = problems(3, scale=1.0), 0.0, 0
    for t, w, _, value in greedy(many, **({} if kind == "greedy" else {kind: True})):
        z = many.Z[:, t - 1]
        m = (z * w).sum(axis=1)
        g = many.lam[:, None] * w - (m < 1)[:, None] * z
        pays = many.lam / 2 * (w**2).sum(axis=1) + np.maximum(0, 1 - m)
        pays = pays - (g**2).sum(axis=1) / (2 * many.lam * t)
        size = 1e-9 * (1 + np.abs(pays) + np.abs(value) + (w**2).sum(axis=1) * many.lam * t)
        assert (np.linalg.norm(g, axis=1) <= 2 * many.R * (1 + 1e-12)).all()
        if kind == "greedy":
            assert (value - before >= pays - size).all()
        elif kind == "hit":
            assert (np.abs(value - before - pays) <= size).all()
        broken += int((value - before < pays - size).sum())
        before = value
    assert (broken > 20) == (kind == "in_print")


@pytest.mark.parametrize(("n", "lam"), [(4, 0.5), (8, 0.2)])
def test_what_the_dual_lacks_after_a_greedy_pass_of_independent_data(n, lam):
    many = unit_problems(4, 300, n, lam)
    least = dual(many, maximise(many, gap=1e-6))
    bound = 2 * (1 + log(n)) / (lam * n)
    for hit in (False, True):
        *_, (_, _, alpha, _) = greedy(many, hit=hit)
        lack = least - dual(many, alpha)
        assert lack.min() >= -1e-5
        assert lack.mean() <= bound
        assert lack.mean() > 0.01 * bound, "the bound is tried where it says something"


def test_a_random_coordinate_gains_a_share_of_the_gap():
    many, rng, tight = problems(5), np.random.default_rng(5), 0.0
    for _ in range(5):
        alpha = some_alpha(rng, (RUNS, N))
        W = weights(many, alpha)
        gap, lack = many.objective(W) - dual(many, alpha), 1 - margins(many, W)
        rises = [dual(many, step(many, alpha, np.full(RUNS, i))) for i in range(N)]
        mean = np.mean(rises, axis=0) - dual(many, alpha)
        Q = ((many.Z**2).sum(axis=2) * ((lack > 0) - alpha) ** 2).mean(axis=1)
        assert (Q <= many.R**2 * (1 + 1e-12)).all()
        for theta in np.linspace(0, 1, 21):
            promised = theta / N * gap - (theta / N) ** 2 * Q / (2 * many.lam)
            assert (mean >= promised - 1e-11 * (1 + gap + Q / many.lam)).all()
            tight = max(tight, (promised / np.maximum(mean, 1e-9)).max())
    assert tight > 0.9


def all_paths(many, T):
    """Return alpha^(0..T) from 0 over all n^T sequences of coordinates: (T + 1, runs, n^T, n)."""
    runs, n, _ = many.Z.shape
    paths = np.zeros((1, runs, 1, n))
    norm2 = (many.Z**2).sum(axis=2)
    scale = many.lam[:, None] * n
    for _ in range(T):
        now = paths[-1]
        W = np.einsum("rsn,rnd->rsd", now, many.Z) / scale[..., None]
        m = np.einsum("rsd,rnd->rsn", W, many.Z)
        quotient = scale[..., None] * (1 - m) / np.where(norm2 > 0, norm2, 1)[:, None]
        new = np.where(norm2[:, None] > 0, np.clip(now + quotient, 0, 1), 1.0)
        # Each sequence goes on in n ways: in the i-th, alpha_i alone is replaced.
        after = np.repeat(now[:, :, None], n, axis=2)
        after[..., np.arange(n), np.arange(n)] = new
        paths = np.repeat(paths, n, axis=2)
        paths = np.concatenate([paths, after.reshape(1, runs, -1, n)])
    return paths


def gaps(many, alpha):
    """Return D and the gap at alpha (..., runs, m, n)."""
    W = np.einsum("...rmn,rnd->...rmd", alpha, many.Z) / (many.lam * alpha.shape[-1])[:, None, None]
    lack = 1 - np.einsum("...rmd,rnd->...rmn", W, many.Z)
    value = alpha.mean(axis=-1) - many.lam[:, None] / 2 * (W**2).sum(axis=-1)
    return value, np.where(lack > 0, (1 - alpha) * lack, -alpha * lack).mean(axis=-1)


@pytest.mark.parametrize(("n", "T"), [(1, 4), (2, 8), (3, 6)])
def test_the_rate_holds_for_the_exact_mean_over_all_coordinates(n, T):
    runs = RUNS // 8
    many = problems(6, runs=runs, n=n, d=2)
    many.lam = many.R**2 * 10 ** np.random.default_rng(6).uniform(-1.5, 0.2, runs) / n
    least = dual(many, maximise(many, gap=1e-9))
    paths = all_paths(many, T)
    value, gap = gaps(many, paths)
    r = least - value.mean(axis=2)  # (T + 1, runs)
    t_0 = np.maximum(0, np.ceil(n * np.log(2 * many.lam * n / many.R**2)))
    t, quotient = np.arange(T + 1)[:, None], many.R**2 / many.lam
    late = t >= t_0
    bound = 2 * quotient / np.maximum(1, 2 * n + t - t_0)
    assert (r <= bound + 1e-7)[late].all()
    assert late.sum() > runs
    for T_0 in range(T - n + 1):
        part = slice(T_0, T)
        limit = 2 * quotient / np.maximum(1, 2 * n + T_0 - t_0) + quotient / (2 * (T - T_0))
        random = gap[part].mean(axis=(0, 2))
        average = gaps(many, paths[part].mean(axis=0))[1].mean(axis=1)
        some = t_0 <= T_0
        assert (random <= limit + 1e-9)[some].all()
        assert (average <= random + 1e-9).all()


@pytest.mark.parametrize(("n", "lam"), [(4, 1.0), (8, 0.4)])
def test_the_rate_after_a_greedy_pass_starts_from_a_logarithm_of_a_logarithm(n, lam):
    many, rng = unit_problems(7, 400, n, lam), np.random.default_rng(7)
    least = dual(many, maximise(many, gap=1e-7))
    *_, (_, _, alpha, _) = greedy(many)
    t_0 = ceil(n * log(4 + 4 * log(n)))
    for t in range(1, t_0 + 6 * n):
        alpha = step(many, alpha, rng.integers(n, size=400))
        if t >= t_0:
            assert np.mean(least - dual(many, alpha)) <= 2 / (lam * (2 * n + t - t_0))
    for n in (10, 1000, 10**6):  # where the promise gets shorter
        threshold = 2 * e * (1 + log(n))
        for factor, shorter in ((0.99, False), (1.01, True)):
            steps = n + n * log(4 + 4 * log(n)), n * log(2 * factor * threshold)
            assert (steps[0] < steps[1]) == shorter


def test_few_steps_prove_little_whatever_they_set():
    many, rng = problems(8), np.random.default_rng(8)
    optima = [reference.optimum(many.Z[r], np.ones(N), many.lam[r]) for r in range(0, RUNS, 4)]
    w_star, least = np.array([w for w, _ in optima]), np.array([value for _, value in optima])
    many.Z, many.lam, many.R = many.Z[::4], many.lam[::4], many.R[::4]
    runs, alpha, far = len(many), np.zeros((RUNS // 4, N)), 0
    for t in range(1, 9):
        alpha[np.arange(runs), rng.integers(N, size=runs)] = some_alpha(rng, runs)
        W = weights(many, alpha)
        gap = many.objective(W) - dual(many, alpha)
        assert (gap >= least - t / N - 1e-7).all()
        short = np.linalg.norm(w_star, axis=1) - t * many.R / (many.lam * N)
        excess = many.objective(W) - least
        assert (excess >= many.lam / 2 * np.maximum(0, short) ** 2 - 1e-6).all()
        far += int((short > 0).sum())
    assert far > 20


def test_whole_steps_cost_nothing_beyond_the_promise():
    for n in (1, 2, 3, 10, 1000):
        for size in 10 ** np.random.default_rng(9).uniform(-3, 5, size=2000):  # R^2/(lam eps)
            T_0 = ceil(max(0, 4 * size - 2 * n))
            steps = T_0 + ceil(max(n, size))
            assert steps <= n + 5 * size


def squared_paths(many, T):
    """Yield alpha (runs, n^t, n) after t steps on the squared hinge, for all coordinates."""
    runs, n, _ = many.Z.shape
    norm2, scale = (many.Z**2).sum(axis=2)[:, None], (many.lam * n)[:, None, None]
    alpha = np.zeros((runs, 1, n))
    for _ in range(T + 1):
        yield alpha
        W = np.einsum("rsn,rnd->rsd", alpha, many.Z) / scale
        lack = 1 - np.einsum("rsd,rnd->rsn", W, many.Z) - alpha
        new = np.maximum(0, alpha + lack / (1 + norm2 / scale))
        after = np.repeat(alpha[:, :, None], n, axis=2)
        after[..., np.arange(n), np.arange(n)] = new
        alpha = after.reshape(runs, -1, n)


def squared_values(many, alpha):
    """Return the dual of the squared hinge and its gap at alpha (runs, m, n)."""
    W = np.einsum("rmn,rnd->rmd", alpha, many.Z) / (many.lam * alpha.shape[-1])[:, None, None]
    length = many.lam[:, None] / 2 * (W**2).sum(axis=-1)
    losses = np.maximum(0, 1 - np.einsum("rmd,rnd->rmn", W, many.Z))
    value = (alpha - alpha**2 / 2).mean(axis=-1) - length
    return value, length + (losses**2).mean(axis=-1) / 2 - value


def test_a_smooth_loss_has_a_linear_rate_and_its_gap_pays_a_factor():
    many = problems(10, runs=200, n=3, d=2)
    factor = 3 + many.R**2 / many.lam
    solution = np.zeros((200, 1, 3))
    for i in np.tile(np.arange(3), 1000):
        W = np.einsum("rmn,rnd->rmd", solution, many.Z) / (many.lam * 3)[:, None, None]
        lack = 1 - np.einsum("rmd,rnd->rmn", W, many.Z) - solution
        size = 1 + (many.Z[:, i] ** 2).sum(axis=1) / (3 * many.lam)
        solution[:, 0, i] = np.maximum(0, solution[:, 0, i] + lack[:, 0, i] / size)
    best, gap = squared_values(many, solution)
    many.Z, many.lam, many.R = (part[gap[:, 0] < 1e-12] for part in (many.Z, many.lam, many.R))
    best, factor = best[gap[:, 0] < 1e-12], factor[gap[:, 0] < 1e-12]
    assert len(best) > 100
    for t, alpha in enumerate(squared_paths(many, 6)):
        value, gap = squared_values(many, alpha)
        lack = best - value
        assert (lack.mean(axis=1) <= (1 - 1 / factor) ** t / 2 + 1e-9).all()
        assert (gap <= factor[:, None] * lack + 1e-9).all()
        if t:  # a gap may be a multiple of what the dual lacks: the logarithm of N is needed
            assert (gap > 1.5 * lack + 1e-6).any()


def test_the_map_of_the_cells_holds_whatever_the_runs_would_have_done_beyond_their_limits():
    measured = json.loads((BOOK / "_data" / "blood_cells.json").read_text("utf-8"))["results"]
    limits = [measured["epochs"][name] for name in ("SDCA", "Pegasos")]
    counts = dict.fromkeys("SP=?", 0)
    for task in ("white", "red"):
        for cell in measured["tasks"][task]["lambdas"].values():
            pair = [
                cell["methods"][f"{name}, permutation"]["epochs"] for name in ("SDCA", "Pegasos")
            ]
            for medians in zip(*([band[0] for band in bands] for bands in pair), strict=True):
                letters = set()
                for beyond in (1.0001, np.inf):
                    s, p = (
                        limit * beyond if value is None else value
                        for value, limit in zip(medians, limits, strict=True)
                    )
                    letters.add("S" if s < p / 2 else "P" if p < s / 2 else "=")
                counts[letters.pop() if len(letters) == 1 else "?"] += 1
    recorded, _ = checks.recorded_numbers(json.loads((BOOK / "sdca.ipynb").read_text("utf-8")))
    names = ("sdca_first", "pegasos_first", "both_alike", "left_open")
    assert [int(recorded[name]) for name in names] == list(counts.values())
