"""Pegasos with a watch, against the repaired pseudo-code and the facts that are proved of it."""

import re
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pegasos_lib import HingeProblem, make_blobs_2d, pegasos, use_jit
from pegasos_lib.outliers import _Suspects, outlier_pegasos
from tests import reference
from tests.generated import data, stored

KINK = 1e-8  # a margin nearer to 1, or objectives nearer to each other, may fall on either side
TESTS = ["full", "alive", "instantaneous"]


class PseudoCode:
    """The repaired pseudo-code, line by line, on given draws."""

    def __init__(
        self, X, y, lam, batches, radius, undo, threshold, gamma, p_min, weighted, test, w1=None
    ):
        n, d = X.shape
        w = np.zeros(d) if w1 is None else np.array(w1, float)
        self.path, self.nearest, self.hit_steps = [w], np.inf, 0
        self.flags, self.p, self.alive = np.zeros(n, int), np.ones(n), list(range(n))
        self.rises, self.removed, self.q = [], [], []

        def f(w, A):
            seen = {"full": list(range(n)), "alive": self.alive, "instantaneous": list(A)}[test]
            return lam / 2 * np.dot(w, w) + np.mean(np.maximum(0, 1 - y[seen] * (X[seen] @ w)))

        for t, A in enumerate(batches, start=1):
            assert set(A) <= set(self.alive), f"step {t} drew a removed example"
            q = np.zeros(n)
            q[self.alive] = self.p[self.alive] / sum(self.p[self.alive])
            self.q.append(q)
            v = np.zeros(d)
            hit = False
            for i in A:
                margin = y[i] * np.dot(X[i], w)
                self.nearest = min(self.nearest, abs(margin - 1))
                if margin < 1:
                    hit = True
                    v += (1 / (n * q[i]) if weighted else 1) * y[i] * X[i] / len(A)
            self.hit_steps += hit
            candidate = (1 - 1 / t) * w + v / (lam * t)
            norm = np.sqrt(sum(candidate**2))
            if norm > radius:
                candidate = candidate * (radius / norm)
            difference = f(candidate, A) - f(w, A)
            if w.any() or candidate.any():
                self.nearest = min(self.nearest, abs(difference))
            if difference > 0:
                self.rises.append(t)
                if undo:
                    candidate = w
                if threshold is not None:
                    for i in set(A):
                        self.flags[i] += 1
                    out = [i for i in dict.fromkeys(A) if self.flags[i] >= threshold]
                    if len(out) == len(self.alive):  # never empty
                        fewest = min(self.flags[i] for i in out)
                        out.remove(next(i for i in out if self.flags[i] == fewest))
                    self.removed += [(i, t) for i in out]
                    self.alive = [i for i in self.alive if i not in out]
                if gamma is not None:
                    for i in set(A):
                        self.p[i] = max(p_min, gamma * self.p[i])
            w = candidate
            self.path.append(w)


@settings(max_examples=250)
@given(
    example=data(),
    kind=st.sampled_from(["dense", "csr"]),
    jit=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
    T=st.integers(0, 40),
    k=st.integers(1, 5),
    undo=st.booleans(),
    threshold=st.sampled_from([None, 1, 2, 3]),
    gamma=st.sampled_from([None, 0.5, 0.9]),
    p_min=st.sampled_from([0.01, 0.3]),
    weighted=st.booleans(),
    test=st.sampled_from(TESTS),
    project=st.sampled_from([True, False, 0.5]),
    average=st.sampled_from(["uniform", "weighted", "suffix", None]),
    start=st.sampled_from([None, 0.5]),
)
def test_every_combination_is_the_pseudo_codes(
    example, kind, jit, seed, T, k, undo, threshold, gamma, p_min, weighted, test, project,
    average, start,
):  # fmt: skip
    X, y, lam = example
    w0 = None if start is None else np.full(X.shape[1], start)
    with use_jit(jit):
        run = outlier_pegasos(
            HingeProblem(stored(X, kind), y, lam), n_iter=T, rng=seed, undo=undo,
            two_out=threshold, probability=gamma, p_min=p_min, importance_weights=weighted,
            test=test, batch_size=k, project=project, average=average,
            record=range(0, T + 1, 3), w0=w0,
        )  # fmt: skip
    radius = {False: np.inf, True: lam**-0.5}.get(project, project)
    batches = run.draws.reshape(T, k).tolist()
    paper = PseudoCode(
        X, y, lam, batches, radius, undo, threshold, gamma, p_min, weighted, test, w0
    )
    assume(paper.nearest > KINK)
    scale = max(1.0, np.abs(paper.path).max())
    assert np.abs(run.w - paper.path[T]).max() <= 1e-10 * scale
    for s, w in zip(run.trace.iteration, run.trace.w, strict=True):
        assert np.abs(w - paper.path[s]).max() <= 1e-10 * scale
    if average is not None:
        assert np.abs(run.w_average - reference.average(paper.path, average)).max() <= 1e-10 * scale
    assert run.rises.tolist() == paper.rises
    rejected = len(paper.rises) if undo else 0
    assert (run.accepted, run.rejected) == (T - rejected, rejected)
    assert run.flags.tolist() == paper.flags.tolist()
    assert run.p == pytest.approx(paper.p, rel=1e-12)
    assert np.flatnonzero(run.alive).tolist() == paper.alive
    assert list(zip(run.removed.tolist(), run.removed_at.tolist(), strict=True)) == paper.removed
    size = k if test == "instantaneous" else len(y)
    first = len(y) if test != "instantaneous" and start is not None else 0
    assert (run.step_evaluations, run.test_evaluations) == (k * T, first + size * paper.hit_steps)


def test_a_draw_of_0_falls_on_the_first_living_example():
    suspects = _Suspects(4, two_out=1, probability=None, p_min=0.01)
    assert suspects.blame(np.array([1, 0]), t=1) == [1, 0]
    batch = np.array([0, 3])
    suspects.replace(batch, SimpleNamespace(random=lambda: 0.0))
    assert batch.tolist() == [2, 3]


def clusters(n, d, separation, seed=0):
    """Return two Gaussian clusters, and which tenth of the labels was flipped."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    X = rng.standard_normal((n, d))
    X[:, 0] += separation * y
    flipped = np.zeros(n, dtype=bool)
    flipped[rng.permutation(n)[: n // 10]] = True
    return X, np.where(flipped, -y, y), flipped


@settings(max_examples=40)
@given(
    example=data(),
    seed=st.integers(0, 99),
    T=st.integers(0, 60),
    k=st.integers(1, 5),
    test=st.sampled_from(TESTS),
    weighted=st.booleans(),
    average=st.sampled_from(["uniform", "weighted", "suffix"]),
)
def test_without_a_variant_it_is_pegasos(example, seed, T, k, test, weighted, average):
    X, y, lam = example
    p = HingeProblem(X, y, lam)
    options = {"n_iter": T, "rng": seed, "batch_size": k, "average": average, "record": 4}
    plain = pegasos(p, **options)
    watched = outlier_pegasos(p, test=test, importance_weights=weighted, **options)
    assert (watched.draws == plain.draws).all()
    batches = plain.draws.reshape(T, k)
    _, nearest = reference.descend(X, y, lam, batches, lambda t: 1 / (lam * t), lam**-0.5)
    assume(nearest > KINK)
    scale = max(1.0, lam**-0.5)
    assert watched.trace.w == pytest.approx(plain.trace.w, abs=1e-10 * scale)
    assert watched.w_average == pytest.approx(plain.w_average, abs=1e-10 * scale)
    assert (watched.rejected, len(watched.removed), watched.flags.sum()) == (0, 0, 0)


def test_undo_stalls_for_ever_at_a_kink():
    # One example (1, 0) of class +1, lambda = 1/10, w_1 = (1, 1): f(w_1) = 1/10, minimum 1/20.
    lam, T = Fraction(1, 10), 5000
    for t in range(1, T + 1):
        a = 1 - Fraction(1, t)  # the margin is 1, no hit: the candidate is (a, a), in the ball
        assert 2 * a * a <= 1 / lam
        f = lam / 2 * 2 * a * a + (1 - a)
        assert f == Fraction(1, 10) + Fraction(4, 5) / t + Fraction(1, 10) / t**2
    p = HingeProblem([[1.0, 0.0]], [1], 0.1)
    run = outlier_pegasos(p, n_iter=T, undo=True, w0=[1.0, 1.0])
    assert run.rises.tolist() == list(range(1, T + 1))
    assert (run.accepted, run.rejected) == (0, T)
    assert run.w.tolist() == run.w_average.tolist() == [1.0, 1.0]
    free = outlier_pegasos(p, n_iter=T, w0=[1.0, 1.0])
    assert p.objective(free.w) == pytest.approx(0.05, abs=1e-3)


def test_undo_first_moves_when_the_step_is_about_one():
    X, y, _ = clusters(500, 20, 2.0)
    for lam, expected in ((1e-1, 20), (1e-2, 97), (1e-3, 719)):
        p, T = HingeProblem(X, y, lam), 2 * expected
        for seed in range(3):
            run = outlier_pegasos(p, n_iter=T, undo=True, rng=seed)
            first = int(np.setdiff1d(np.arange(1, T + 1), run.rises)[0])
            assert 0.5 * expected <= first <= 1.5 * expected, f"lam={lam}: first move at {first}"
            steps = y[run.draws[:first], None] * X[run.draws[:first]]
            steps /= lam * np.arange(1, first + 1)[:, None]
            norms = np.linalg.norm(steps, axis=1, keepdims=True)
            values = p.objective(steps * np.minimum(1.0, lam**-0.5 / norms))
            assert (values[:-1] > 1.0).all()  # f(0) = 1
            assert values[-1] <= 1.0


@pytest.mark.parametrize("more", [{}, {"two_out": 2}, {"probability": 0.5, "two_out": 3}])
def test_undo_never_raises_the_tested_objective(more):
    X, y, _ = clusters(200, 5, 1.0)
    p = HingeProblem(X, y, 0.05)
    run = outlier_pegasos(p, n_iter=1500, undo=True, record=range(1501), **more)
    assert (np.diff(run.trace.objective) <= 1e-15).all()
    assert run.trace.objective[-1] < 0.7
    still = (run.trace.w[1:] == run.trace.w[:-1]).all(axis=1)
    assert still[run.rises - 1].all()
    assert not (np.diff(pegasos(p, n_iter=1500, record=range(1501)).trace.objective) <= 0).all()


def test_a_rise_needs_no_outlier():
    X, y = make_blobs_2d(200, separation=8.0, rng=1)
    p = HingeProblem(X, y, 0.1)
    run = outlier_pegasos(p, n_iter=1000, record=range(1001))
    assert p.accuracy(run.w_average) == 1.0
    rises = np.flatnonzero(np.diff(run.trace.objective) > 0) + 1
    assert set(run.rises) == set(rises)
    assert len(rises) > 20


def test_what_is_doubted_early_is_flipped_more_often_than_chance():
    X, y, flipped = clusters(1000, 20, 2.0)
    p = HingeProblem(X, y, 1e-2)
    early = outlier_pegasos(p, n_iter=1000, two_out=2)
    late = outlier_pegasos(p, n_iter=8000, two_out=2)
    precision = [flipped[run.removed].mean() for run in (early, late)]
    assert precision[0] > 0.5, precision  # chance is 0.1
    assert precision[1] < 0.6 * precision[0], precision
    assert len(late.removed) > 5 * len(early.removed)
    recall = (~early.alive)[flipped].mean()
    assert recall > 5 * (~early.alive).mean()
    p_i = outlier_pegasos(p, n_iter=4000, probability=0.5).p
    assert p_i[flipped].mean() < 0.7 * p_i[~flipped].mean()


@pytest.mark.parametrize("test", ["full", "alive"])
def test_two_out_removes_clean_data_as_time_goes_by_and_never_all(test):
    X, y, flipped = clusters(100, 20, 1.0)
    p = HingeProblem(X, np.where(flipped, -y, y), 1e-1)
    counts = {}
    for threshold in (2, 4):
        run = outlier_pegasos(p, n_iter=4000, two_out=threshold, test=test)
        counts[threshold] = [int((run.removed_at <= T).sum()) for T in (100, 300, 4000)]
        assert (np.diff(run.removed_at) >= 0).all()
        assert run.alive.any()
    assert counts[2][0] < counts[2][1] < counts[2][2]
    assert counts[4][0] < counts[2][0]
    if test == "full":
        assert counts[2][2] == 99, counts


@pytest.mark.parametrize(("lam", "last"), [(0.1, 3), (0.01, 2)])
def test_a_full_batch_would_empty_the_data_at_the_second_rise(lam, last):
    X, y, _ = clusters(300, 20, 2.0)
    p, draws = HingeProblem(X, y, lam), np.tile(np.arange(300), (12, 1))
    watched = outlier_pegasos(p, n_iter=12, batch_size=300, draws=draws)
    T = int(watched.rises[1])
    assert last == T
    run = outlier_pegasos(p, n_iter=T, batch_size=300, draws=draws[:T], two_out=2)
    assert np.flatnonzero(run.alive).tolist() == [0]
    assert run.removed.tolist() == list(range(1, 300))
    assert set(run.removed_at) == {T}
    with pytest.raises(ValueError, match=f"step {T + 1} uses example 1, .* removed at step {T}"):
        outlier_pegasos(p, n_iter=T + 1, batch_size=300, draws=draws[: T + 1], two_out=2)
    assert outlier_pegasos(p, n_iter=200, batch_size=300, two_out=2).alive.sum() == 1


def test_reweighting_solves_another_problem_unless_the_loss_is_weighted():
    X, y, flipped = clusters(20, 2, 1.0)
    X = np.where(flipped[:, None], 3.0, 0.5) * X
    p, best = HingeProblem(X, y, 0.1), reference.optimum(X, y, 0.1)[1]
    gaps = {}
    for weighted in (False, True):
        runs = [
            outlier_pegasos(
                p, n_iter=4000, rng=seed, probability=0.2, p_min=0.05,
                importance_weights=weighted, test="instantaneous", average="suffix",
            )
            for seed in range(3)
        ]  # fmt: skip
        gaps[weighted] = np.mean([p.objective(run.w_average) for run in runs]) - best
    assert gaps[False] > 0.004, gaps
    assert gaps[True] < 0.0015, gaps


def test_examples_are_drawn_in_proportion_to_their_weights():
    X, y, _ = clusters(12, 3, 1.0)
    lam, T, k, n = 0.02, 1500, 2, 12
    run = outlier_pegasos(
        HingeProblem(X, y, lam), n_iter=T, two_out=100, probability=0.8, p_min=0.02, batch_size=k
    )
    paper = PseudoCode(
        X, y, lam, run.draws.tolist(), lam**-0.5, False, 100, 0.8, 0.02, False, "full"
    )
    q = np.array(paper.q)
    assert len(run.removed) > 2
    assert q[q > 0].min() < 0.3 / n
    surprise = np.array([np.bincount(batch, minlength=n) for batch in run.draws]) - k * q
    # Sums of surprises have mean 0: each is within five standard deviations of it.
    for part in (slice(0, 700), slice(700, T)):
        spread = np.sqrt(k * (q * (1 - q))[part].sum(axis=0))
        assert (np.abs(surprise[part].sum(axis=0)) <= 5 * spread).all()
    # The same along q itself, where uniform draws would show at once.
    spread = np.sqrt(k * ((q**3).sum(axis=1) - (q**2).sum(axis=1) ** 2).sum())
    assert abs((surprise * q).sum()) <= 5 * spread
    assert abs(((1 / n - q) * q).sum() * k) > 15 * spread


def test_draws_are_pegasos_own_but_for_what_is_doubted():
    X, y, _ = clusters(200, 5, 1.0)
    p = HingeProblem(X, y, 0.05)
    plain = pegasos(p, n_iter=1000, rng=4).draws
    run = outlier_pegasos(p, n_iter=1000, rng=4, two_out=2)
    changed = np.flatnonzero(run.draws != plain)
    step = dict(zip(run.removed.tolist(), run.removed_at.tolist(), strict=True))
    assert len(changed) > 20
    assert changed.tolist() == [t for t in range(1000) if t + 1 > step.get(int(plain[t]), 1000)]
    undone = outlier_pegasos(p, n_iter=1000, rng=4, undo=True)
    assert (undone.draws == plain).all()


VARIANTS = {"undo": True, "two_out": 2, "probability": 0.5, "importance_weights": True}


@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("k", [1, 3])
def test_seeds_replay_and_storage_give_the_same_run(test, k):
    X, y, _ = clusters(40, 4, 1.0)
    X[X < 0.3] = 0.0
    p = HingeProblem(X, y, 0.1)
    options = {"n_iter": 300, "batch_size": k, "test": test, "record": 9, **VARIANTS}
    run = outlier_pegasos(p, rng=3, **options)
    again = [
        outlier_pegasos(p, rng=3, **options),
        outlier_pegasos(p, rng=np.random.default_rng(3), **options),
        outlier_pegasos(p, rng=8, draws=run.draws, **options),
        outlier_pegasos(HingeProblem(sp.csr_array(X), y, 0.1), rng=3, **options),
    ]
    assert run.draws.shape == ((300,) if k == 1 else (300, 3))
    for other in again:
        for name in ("draws", "rises", "flags", "alive", "p", "removed", "trace_evaluations"):
            assert (getattr(other, name) == getattr(run, name)).all(), name
        assert other.trace.w == pytest.approx(run.trace.w, abs=1e-12)
        assert other.w_average == pytest.approx(run.w_average, abs=1e-12)
    assert (outlier_pegasos(p, rng=4, **options).draws != run.draws).any()


def test_work_is_counted_along_the_trace():
    X, y, _ = clusters(50, 3, 1.0)
    p = HingeProblem(X, y, 0.1)
    options = {"n_iter": 200, "batch_size": 2, "two_out": 2}
    run = outlier_pegasos(p, record=[0, 80, 200], **options)
    short = outlier_pegasos(p, draws=run.draws[:80], **{**options, "n_iter": 80})
    assert run.trace_evaluations.tolist() == [0, short.evaluations, run.evaluations]
    assert run.evaluations == run.step_evaluations + run.test_evaluations
    assert run.step_evaluations == 400
    assert 0 < run.test_evaluations < 200 * 50  # a step without a hit only rescales w
    assert run.test_evaluations % 50 == 0
    cheap = outlier_pegasos(p, test="instantaneous", **options)
    assert 0 < cheap.test_evaluations < 400
    assert len(cheap.rises) < len(run.rises)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_iter": -1}, "n_iter must be an integer >= 0; got -1"),
        ({"two_out": 0}, "two_out must be an integer >= 1; got 0"),
        ({"two_out": True}, "two_out must be an integer >= 1; got True"),
        ({"probability": 0.0}, "probability must be a finite number above 0; got 0.0"),
        ({"probability": True}, "probability must be a finite number above 0; got True"),
        ({"probability": 1.0}, "probability must be a factor below 1; got 1.0"),
        ({"p_min": 0.0}, "p_min must be a finite number above 0; got 0.0"),
        ({"p_min": 1.5}, "p_min must be at most 1, where all p_i start; got 1.5"),
        ({"test": "half"}, "test must be 'full', 'alive' or 'instantaneous'; got 'half'"),
        ({"batch_size": 0}, "batch_size must be an integer >= 1; got 0"),
        ({"project": -1.0}, "project, if it is not True or False, must be a finite number above 0"),
        ({"average": "last"}, "average must be one of uniform, weighted, suffix, or None"),
        ({"record": [6]}, "record must name step counts in 0..5; they reach from 6 to 6"),
        ({"w0": [1.0]}, "w0 must be a finite vector of shape (3,)"),
        ({"w0": [1.0, np.nan, 0.0]}, "w0 must be a finite vector of shape (3,)"),
        ({"draws": [0, 1]}, "draws must have shape (5, 1) or (5,)"),
        ({"draws": [0, 1, 2, 3, 30]}, "draws must lie in 0..29; they reach from 0 to 30"),
    ],
)
def test_bad_options_are_refused(options, message):
    X, y, _ = clusters(30, 3, 1.0)
    with pytest.raises(ValueError, match=re.escape(message)):
        outlier_pegasos(HingeProblem(X, y, 0.1), **{"n_iter": 5, **options})
