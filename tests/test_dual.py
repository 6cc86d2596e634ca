import math

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from sklearn.svm import LinearSVC

from pegasos_lib import (
    HingeProblem,
    load_mnist_binary,
    make_blobs_2d,
    make_ring_2d,
    make_two_arcs_2d,
    pegasos,
    sdca,
    subgradient_descent,
    use_jit,
)
from pegasos_lib._kernels import chosen, rows_of
from pegasos_lib._shrinking import ShrinkingAscent, _shuffled, take_watchful_sweep
from pegasos_lib._tail import Tail
from pegasos_lib.dual import pegasos_certificate, sgd_initialisation
from tests import reference
from tests.generated import data, stored


@settings(max_examples=40)
@given(data(), st.integers(0, 99), st.sampled_from(["dense", "csr"]), st.booleans())
def test_the_certificate_is_true_and_the_optimum_independent_of_the_way(example, seed, kind, jit):
    X, y, lam = example
    p = HingeProblem(stored(X, kind), y, lam)
    with use_jit(jit):
        run = sdca(p, gap=1e-9, n_epochs=3000, rng=seed)
    assert run.alpha.min() >= 0
    assert run.alpha.max() <= 1
    assert run.w == pytest.approx(p.weights(run.alpha), rel=1e-12, abs=1e-12)
    assert run.gap == pytest.approx(p.duality_gap(run.w, run.alpha))
    assert run.gap <= 1.1e-9
    best = reference.optimum(X, y, lam)[1]
    assert p.objective(run.w) - best == pytest.approx(0.0, abs=3e-8 * max(1.0, best))


@pytest.mark.parametrize("make", [make_blobs_2d, make_two_arcs_2d, make_ring_2d])
@pytest.mark.parametrize("lam", [1e-4, 1e-2, 1.0])
def test_toys_are_certified_to_twelve_digits(make, lam):
    X, y = make(flip=0.05)
    run = sdca(HingeProblem(X, y, lam), gap=1e-12, n_epochs=3000)
    assert run.gap <= 1.1e-12
    assert run.n_iter < 3000


def test_mnist_is_certified_and_agrees_with_liblinear():
    X, y = load_mnist_binary()
    p = HingeProblem(X, y, 1e-3)
    run = sdca(p, gap=2e-10)
    assert run.gap <= 2.1e-10
    assert run.n_iter < 60
    assert p.objective(run.w) == pytest.approx(0.0197629490, abs=3e-10)
    small = HingeProblem(X[:1000], y[:1000], 1e-2)
    liblinear = LinearSVC(loss="hinge", C=small.C, fit_intercept=False, tol=1e-10, max_iter=10**6)
    w = liblinear.fit(small.X, small.y).coef_[0]
    assert sdca(small, gap=1e-12).w == pytest.approx(w, abs=1e-5)


def test_shrinking_saves_epochs_and_changes_no_optimum():
    X, y = make_blobs_2d(300, flip=0.05)
    p = HingeProblem(X, y, 1e-2)
    fast, plain = (sdca(p, gap=1e-11, n_epochs=5000, shrink=s) for s in (True, False))
    assert max(fast.gap, plain.gap) <= 1.1e-11
    assert fast.n_iter < plain.n_iter
    assert fast.w == pytest.approx(plain.w, abs=1e-4)
    assert plain.visits == 300 * plain.n_iter
    assert fast.visits < plain.visits / 2


@pytest.mark.parametrize("jit", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@settings(max_examples=20)
@given(example=data(), seed=st.integers(0, 2**32 - 1))
def test_a_row_left_unread_needs_no_step(jit, kind, example, seed):
    X, y, lam = example
    p, rng = HingeProblem(stored(X, kind), y, lam), np.random.default_rng(seed)
    alpha, w, expected = np.zeros(p.n), np.zeros(p.d), np.zeros(p.n)
    until, path, read = np.zeros(p.n, dtype=np.float32), 0.0, []
    with use_jit(jit):
        watch, rows = chosen(take_watchful_sweep), rows_of(p)
        for order in rng.permuted(np.tile(np.arange(p.n), (12, 1)), axis=1):
            old, unsettled = alpha.copy(), order.copy()
            state = (p.squared_norms, lam * p.n, alpha, w, until, path)
            count, gaps, seen, longer = watch(rows, y, unsettled, *state)
            read.append(seen)
            expected = plain_tail(X, y, lam, order, expected)[-1]
            assert alpha == pytest.approx(expected, abs=1e-10)
            assert w == pytest.approx(p.weights(alpha), rel=1e-9, abs=1e-9)
            moved = np.flatnonzero(alpha != old)
            inside = np.flatnonzero((alpha > 0) & (alpha < 1))
            assert sorted(unsettled[:count]) == sorted(set(moved) | set(inside))
            assert longer >= path + np.linalg.norm(p.weights(alpha) - p.weights(old)) - 1e-12 / lam
            assert gaps >= -1e-12
            path = longer
    assert read[0] == p.n


def test_few_rows_are_read_near_the_optimum():
    X, y = make_blobs_2d(2000, flip=0.02)
    p = HingeProblem(X, y, 1e-2)
    alpha, w = np.zeros(2000), np.zeros(2)
    ascent = ShrinkingAscent(p, alpha, w, np.random.default_rng(0))
    read = [ascent._watch_sweep(np.arange(2000))[2] for _ in range(40)]
    assert read[0] == 2000
    assert read[-1] < 200
    ascent.read_all()
    assert ascent._watch_sweep(np.arange(2000))[2] == 2000


def test_mnist_takes_few_visits():
    X, y = load_mnist_binary()
    X = sp.csr_array(X)
    # Visits of each row until P(w) is within eps of the optimum.
    for lam, best, most in ((1e-2, 0.03867808, 6), (1e-3, 0.01976295, 11), (1e-4, 0.00827609, 24)):
        p = HingeProblem(X, y, lam)
        epochs = 1
        while (run := sdca(p, n_epochs=epochs, gap=1e-9)).trace.objective[-1] > best + 1e-4:
            epochs += 1
        assert run.visits <= most * p.n, (lam, run.visits / p.n)


@settings(max_examples=60)
@given(data(), st.integers(0, 2**32 - 1), st.sampled_from(["dense", "csr"]))
def test_an_extrapolation_stays_feasible_and_lowers_no_dual(example, seed, kind):
    X, y, lam = example
    p, rng = HingeProblem(stored(X, kind), y, lam), np.random.default_rng(seed)
    examples = rng.permutation(p.n)[: rng.integers(1, p.n + 1)]
    points = [rng.random(p.n)]
    for _ in range(8):
        points.append(plain_tail(X, y, lam, examples, points[-1])[-1])
    alpha, w = points[-1].copy(), p.weights(points[-1])
    ascent = ShrinkingAscent(p, alpha, w, rng)
    path = np.array(points)[:, examples]
    ascent._extrapolate(examples, np.diff(path, axis=0))
    assert ((alpha >= 0) & (alpha <= 1)).all()
    assert w == pytest.approx(p.weights(alpha), rel=1e-9, abs=1e-9)
    others = np.setdiff1d(np.arange(p.n), examples)
    still = examples[(points[-1] == points[-2])[examples] & (points[-1] == points[0])[examples]]
    assert (alpha[others] == points[-1][others]).all()
    dual = p.dual_objective(points[-1])
    assert p.dual_objective(alpha) >= dual - 1e-12 * max(1.0, abs(dual))
    if len(still) == len(examples):
        assert (alpha == points[-1]).all()


def test_extrapolating_saves_visits_where_sweeps_are_slow(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((100, 20)) + 3.0  # alike rows: an ill-conditioned dual
    p = HingeProblem(X, np.where(X[:, 0] + X[:, 1] > 6.0, 1.0, -1.0), 1e-3)
    fast = sdca(p, gap=1e-5, n_epochs=4000)
    monkeypatch.setattr(ShrinkingAscent, "_extrapolate", lambda self, examples, steps: None)
    slow = sdca(p, gap=1e-5, n_epochs=4000)
    assert max(fast.gap, slow.gap) <= 1.1e-5
    assert fast.visits < 0.7 * slow.visits


@pytest.mark.parametrize("m", [1, 5, 4095, 4096, 5000])
def test_the_order_is_a_permutation_and_that_of_many_keeps_neighbours(m):
    first, again = (_shuffled(np.random.default_rng(seed), m) for seed in (0, 1))
    assert (np.sort(first) == np.arange(m)).all()
    assert m < 5 or (first != again).any()
    near = np.mean(np.abs(np.diff(first)) < 32) if m > 1 else 0.0
    assert m < 100 or (near > 0.9) == (m >= 4096)


def test_the_dual_never_falls():
    X, y = make_blobs_2d(30, flip=0.1)
    for shrink in (True, False):
        p = HingeProblem(X, y, 1e-2)
        duals = [
            p.dual_objective(sdca(p, n_epochs=e, gap=1e-15, shrink=shrink).alpha) for e in range(9)
        ]
        assert (np.diff(duals) >= -1e-15).all()


def test_no_epochs_give_alpha_0_and_a_gap_of_1():
    X, y = make_blobs_2d(10)
    run = sdca(HingeProblem(X, y, 0.1), n_epochs=0, record=[0])
    assert (run.n_iter, run.visits, run.gap) == (0, 0, 1.0)
    assert run.alpha.tolist() == [0.0] * 10
    assert run.trace.objective.tolist() == [1.0]


def test_record_beyond_the_stop_keeps_the_stop():
    X, y = make_blobs_2d(40, rng=2)
    run = sdca(HingeProblem(X, y, 0.1), gap=1e-3, n_epochs=500, record=[0, 1, 400, 500])
    assert run.n_iter < 400
    assert run.trace.iteration.tolist() == [0, 1, run.n_iter][: len(run.trace)]
    assert (run.trace.w[-1] == run.w).all()


def test_nothing_is_printed(capfd):
    X, y = make_blobs_2d(20)
    sdca(HingeProblem(sp.csr_array(X), y, 0.1))
    captured = capfd.readouterr()
    assert (captured.out, captured.err) == ("", "")


def plain_tail(X, y, lam, orders, alpha):
    """Return alpha^(0)..alpha^(T) under exact coordinate steps."""
    n, path = len(y), [alpha.copy()]
    for i in np.ravel(orders):
        w = (alpha * y) @ X / (lam * n)
        norm2 = X[i] @ X[i]
        new = alpha[i] + lam * n * (1 - y[i] * (X[i] @ w)) / norm2 if norm2 > 0 else 1.0
        alpha = alpha.copy()
        alpha[i] = min(1.0, max(0.0, new))
        path.append(alpha)
    return np.array(path)


@pytest.mark.parametrize("jit", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@settings(max_examples=20)
@given(
    example=data(),
    seed=st.integers(0, 2**32 - 1),
    epochs=st.integers(1, 5),
    order=st.sampled_from(["permutation", "random"]),
    output=st.sampled_from(["last", "average"]),
    burn_in=st.sampled_from([None, 0, 1]),
    warm=st.booleans(),
)
def test_every_order_and_output_is_the_textbooks(
    jit, kind, example, seed, epochs, order, output, burn_in, warm
):
    X, y, lam = example
    p = HingeProblem(stored(X, kind), y, lam)
    rng = np.random.default_rng(seed)
    alpha0 = rng.random(p.n) if warm else None
    burn_in = burn_in if output == "average" and epochs > 1 else None
    with use_jit(jit):
        run = sdca(
            p, n_epochs=epochs, gap=1e-300, rng=seed + 1, order=order, output=output,
            burn_in=burn_in, alpha0=alpha0, shrink=False, record=range(epochs + 1),
        )  # fmt: skip
    rng = np.random.default_rng(seed + 1)
    orders = [
        rng.permutation(p.n) if order == "permutation" else rng.integers(p.n, size=p.n)
        for _ in range(run.n_iter)
    ]
    start = np.zeros(p.n) if alpha0 is None else alpha0
    first = p.n * (epochs // 2 if burn_in is None else burn_in)
    if run.n_iter == 0 or (output == "average" and p.n * run.n_iter <= first):
        assert run.gap <= 1e-15
        return
    path = plain_tail(X, y, lam, orders, start)
    expected = path[first:-1].mean(axis=0) if output == "average" else path[-1]
    assert run.alpha == pytest.approx(expected, abs=1e-10)
    assert run.w == pytest.approx(p.weights(run.alpha), rel=1e-9, abs=1e-9)
    assert run.gap == pytest.approx(p.duality_gap(run.w, run.alpha))
    assert run.n_iter == epochs or run.gap <= 1e-15
    for e, w in zip(run.trace.iteration, run.trace.w, strict=True):
        assert w == pytest.approx(p.weights(path[e * p.n]), rel=1e-8, abs=1e-8 / lam)


def test_the_random_output_is_a_point_beyond_the_burn_in():
    X, y = make_blobs_2d(7, separation=1.0, flip=0.3, rng=3)
    p = HingeProblem(X, y, 0.05)
    for seed in range(60):
        run = sdca(p, n_epochs=4, gap=1e-300, rng=seed, output="random", shrink=False)
        rng, orders = np.random.default_rng(seed), []
        for epoch in range(4):
            orders.append(rng.permutation(7))
            if epoch >= 2:
                rng.integers(7 * (epoch - 1))
        path = plain_tail(X, y, 0.05, orders, np.zeros(7))
        assert np.abs(path[14:28] - run.alpha).max(axis=1).min() < 1e-12
        assert run.gap == pytest.approx(p.duality_gap(p.weights(run.alpha), run.alpha))


def test_the_random_point_is_uniform_over_the_steps():
    rng, counts = np.random.default_rng(0), np.zeros(12)
    for _ in range(6000):
        alpha = np.zeros(4)  # counts the steps made

        def sweep(indices, alpha=alpha):
            assert len(indices)
            alpha += len(indices)

        tail = Tail(sweep, alpha, rng)
        for _ in range(3):
            point = tail.choose(np.arange(4))
        counts[int(point[0])] += 1
    assert np.abs(counts - 500).max() < 5 * np.sqrt(500)


def test_averages_and_random_points_stop_once_their_own_gap_is_small():
    X, y = make_blobs_2d(100, separation=2.0, flip=0.1, rng=4)
    p = HingeProblem(X, y, 0.1)
    best = reference.optimum(X, y, 0.1)[1]
    for output in ("average", "random"):
        options = {"output": output, "order": "random", "shrink": False, "n_epochs": 4000}
        run = sdca(p, gap=1e-3, burn_in=3, record=range(4001), **options)
        assert 3 < run.n_iter < 4000
        assert run.gap <= 1e-3
        assert 0 <= p.objective(run.w) - best <= run.gap
        assert run.trace.iteration[-1] == run.n_iter
        fewer = sdca(p, gap=1e-300, burn_in=3, **{**options, "n_epochs": run.n_iter - 1})
        assert fewer.gap > 1e-3


def test_the_rate_holds_for_the_average_of_random_steps():
    X, y = make_blobs_2d(80, separation=2.0, flip=0.1, rng=4)
    for lam, eps in ((0.1, 0.5), (0.1, 0.05), (0.5, 0.01)):
        p = HingeProblem(X, y, lam)
        t0 = max(0, math.ceil(p.n * math.log(2 * lam * p.n / p.R**2)))
        T0 = t0 + max(0.0, 4 * p.R**2 / (lam * eps) - 2 * p.n)
        burn_in = math.ceil(T0 / p.n)
        epochs = burn_in + math.ceil(max(p.n, p.R**2 / (lam * eps)) / p.n)
        options = {"n_epochs": epochs, "burn_in": burn_in, "gap": 1e-300, "shrink": False}
        gaps = [
            sdca(p, order="random", output="average", rng=seed, **options).gap for seed in range(8)
        ]
        assert np.mean(gaps) <= eps


@settings(max_examples=40)
@given(data(), st.integers(0, 2**32 - 1), st.booleans())
def test_the_key_lemma_of_the_rate(example, seed, started):
    X, y, lam = example
    p, n = HingeProblem(X, y, lam), len(y)
    alpha = np.random.default_rng(seed).random(n)
    if not started:
        alpha = alpha.round()
    w, dual = p.weights(alpha), p.dual_objective(alpha)
    # The mean over i of the gain of one exact step, which `plain_tail` makes.
    gains = []
    for i in range(n):
        path = plain_tail(X, y, lam, [i], alpha)
        gains.append(p.dual_objective(path[-1]) - dual)
    a = (y * (X @ w) < 1).astype(float)
    Q = np.mean((X**2).sum(axis=1) * (a - alpha) ** 2)
    assert p.R**2 * (1 + 1e-12) >= Q
    gap, scale = p.duality_gap(w, alpha), max(1.0, abs(dual))
    for s in np.linspace(0, 1, 11):
        assert np.mean(gains) >= s / n * gap - s**2 / n**2 * Q / (2 * lam) - 1e-12 * scale


@settings(max_examples=25)
@given(data(), st.integers(0, 2**32 - 1))
def test_the_gap_bounds_the_suboptimality_at_any_start_and_the_dual_rises(example, seed):
    X, y, lam = example
    p, rng = HingeProblem(X, y, lam), np.random.default_rng(seed)
    alpha0 = rng.random(p.n)
    best = reference.optimum(X, y, lam)[1]
    slack, dual = 1e-7 * max(1.0, best), p.dual_objective(alpha0)
    for epochs in range(4):
        run = sdca(
            p, n_epochs=epochs, gap=1e-12, rng=seed, order="random", shrink=False, alpha0=alpha0
        )
        assert run.gap >= -1e-12 * max(1.0, p.objective(run.w))
        assert p.objective(run.w) - best <= run.gap + slack
        assert best - p.dual_objective(run.alpha) <= run.gap + slack
        assert p.dual_objective(run.alpha) >= dual - 1e-12 * max(1.0, abs(dual))
        dual = p.dual_objective(run.alpha)


def test_a_start_of_zeros_is_the_default_and_an_optimal_one_stops_at_once():
    p = HingeProblem(*make_blobs_2d(50, flip=0.1), 0.05)
    usual, zeros = sdca(p), sdca(p, alpha0=np.zeros(50))
    assert (usual.alpha == zeros.alpha).all()
    assert (usual.gap, usual.visits) == (zeros.gap, zeros.visits)
    again = sdca(p, alpha0=usual.alpha, gap=2e-6)
    assert (again.n_iter, again.visits) == (0, 0)
    assert (again.alpha == usual.alpha).all()
    assert again.w == pytest.approx(usual.w)
    start = np.full(50, 0.5)
    sdca(p, alpha0=start, n_epochs=2)
    assert (start == 0.5).all()


# ------- the SGD initialisation -------


@pytest.mark.parametrize("jit", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@settings(max_examples=20)
@given(example=data(), seed=st.integers(0, 2**32 - 1))
def test_the_initialisation_maximises_the_dual_of_the_examples_so_far(jit, kind, example, seed):
    X, y, lam = example
    p = HingeProblem(stored(X, kind), y, lam)
    with use_jit(jit):
        point = sgd_initialisation(p, seed)
    order = np.random.default_rng(seed).permutation(p.n)

    def partial_dual(alpha, t):
        seen = order[:t]
        w = (alpha[seen] * y[seen]) @ X[seen] / (lam * t)
        return alpha[seen].mean() - lam / 2 * (w @ w)

    alpha = np.zeros(p.n)
    for t, i in enumerate(order, start=1):
        alpha[i] = point.alpha[i]
        value = partial_dual(alpha, t)
        for other in np.linspace(0, 1, 41):
            rival = alpha.copy()
            rival[i] = other
            assert value >= partial_dual(rival, t) - 1e-12 * max(1.0, abs(partial_dual(rival, t)))
    assert point.w == pytest.approx(p.weights(point.alpha))
    assert point.gap == pytest.approx(p.duality_gap(point.w, point.alpha))
    run = sdca(p, alpha0=point.alpha, n_epochs=0)
    assert run.gap == pytest.approx(point.gap, abs=1e-12)
    assert run.w == pytest.approx(point.w)


def test_the_initialisation_is_not_the_printed_step_and_keeps_its_bound():
    rng = np.random.default_rng(0)
    n, lam = 500, 0.1
    X = rng.standard_normal((n, 20))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.sign(X @ rng.standard_normal(20) + 0.3 * rng.standard_normal(n))
    p = HingeProblem(X, y, lam)
    best = sdca(p, gap=1e-9)
    duals = [p.dual_objective(sgd_initialisation(p, seed).alpha) for seed in range(10)]
    excess = p.dual_objective(best.alpha) - np.mean(duals)
    assert 0 < excess <= 2 * (1 + math.log(n)) / (lam * n)
    # Without the factor (t - 1)/t the first steps differ.
    order, alpha, w = np.random.default_rng(0).permutation(n), np.zeros(n), np.zeros(20)
    for t, i in enumerate(order, start=1):
        alpha[i] = np.clip(lam * t * (1 - y[i] * (X[i] @ w)), 0, 1)
        w = (t - 1) / t * w + alpha[i] * y[i] * X[i] / (lam * t)
    assert np.abs(alpha - sgd_initialisation(p, 0).alpha).max() > 1e-3


# ------- the certificate of Pegasos -------


@pytest.mark.parametrize("jit", [True, False], ids=["compiled", "plain"])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@settings(max_examples=25)
@given(
    example=data(),
    seed=st.integers(0, 2**32 - 1),
    laps=st.integers(1, 5),
    k=st.integers(1, 3),
    sampling=st.sampled_from(["iid", "permutation"]),
)
def test_the_certificate_counts_the_hits(jit, kind, example, seed, laps, k, sampling):
    X, y, lam = example
    p = HingeProblem(stored(X, kind), y, lam)
    k = min(k, p.n)
    T = laps * p.n
    with use_jit(jit):
        run = pegasos(p, n_iter=T, rng=seed, batch_size=k, sampling=sampling, project=False)
        point = pegasos_certificate(run)
    batches = run.draws.reshape(T, k)
    path, nearest = reference.descend(X, y, lam, batches, lambda t: 1 / (lam * t))
    assume(nearest > 1e-8)
    counts = np.zeros(p.n)
    for w, batch in zip(path, batches, strict=False):
        for i in batch:
            counts[i] += y[i] * (X[i] @ w) < 1
    alpha = counts * p.n / (T * k)
    assert point.alpha == pytest.approx(np.minimum(alpha, 1.0), abs=1e-12)
    if alpha.max() <= 1.0:
        assert p.weights(point.alpha) == pytest.approx(run.w, rel=1e-9, abs=1e-9)
    if sampling == "permutation":
        assert alpha.max() <= 1.0 + 1e-12
    assert (point.w == run.w).all()
    assert point.gap == pytest.approx(p.duality_gap(run.w, point.alpha))
    best = reference.optimum(X, y, lam)[1]
    assert p.objective(run.w) - best <= point.gap + 1e-7 * max(1.0, best)


def test_the_certificate_of_permutation_pegasos_closes():
    X, y = make_blobs_2d(400, flip=0.05)
    p = HingeProblem(X, y, 1e-2)
    gaps = []
    for epochs in (1, 10, 100):
        run = pegasos(p, n_iter=400 * epochs, sampling="permutation", project=False, average=None)
        gaps.append(pegasos_certificate(run).gap)
    assert gaps[2] < gaps[1] / 5 < gaps[0] / 25
    assert gaps[2] < 2e-3
    iid = pegasos(p, n_iter=4000, project=False)
    cut = pegasos_certificate(iid)
    assert cut.alpha.max() == 1.0
    best = sdca(p, gap=1e-9).trace.objective[-1]
    assert 0 <= p.objective(iid.w) - best <= cut.gap + 1e-9
    assert p.objective(iid.w_average) - best <= p.duality_gap(iid.w_average, cut.alpha) + 1e-9


def test_a_run_without_steps_has_the_gap_of_0():
    p = HingeProblem(*make_blobs_2d(5), 0.1)
    point = pegasos_certificate(pegasos(p, n_iter=0))
    assert (point.alpha.tolist(), point.gap) == ([0.0] * 5, 1.0)


P = HingeProblem(np.eye(2), [1.0, -1.0], 0.1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sdca(P, order="cyclic"), "order must be 'permutation' or 'random'; got 'cyclic'"),
        (lambda: sdca(P, output="best"), "output must be 'last', 'average' or 'random'; got 'be"),
        (lambda: sdca(P, order="random"), "order='random' needs shrink=False"),
        (lambda: sdca(P, output="average"), "output='average' needs shrink=False"),
        (lambda: sdca(P, output="random"), "output='random' needs shrink=False"),
        (lambda: sdca(P, burn_in=3), "burn_in is for output='average' or 'random'"),
        (
            lambda: sdca(P, output="average", shrink=False, n_epochs=4, burn_in=4),
            "burn_in must lie below n_epochs = 4; got 4",
        ),
        (
            lambda: sdca(P, output="average", shrink=False, burn_in=-1),
            "burn_in must be an integer >= 0; got -1",
        ),
        (lambda: sdca(P, alpha0=[0.5]), r"alpha0 must have shape \(2,\); got \(1,\)"),
        (lambda: sdca(P, alpha0=[0.5, 1.5]), r"alpha0 must lie in \[0, 1\]; its values reach from"),
        (lambda: sdca(P, alpha0=[0.5, np.nan]), r"alpha0 must lie in \[0, 1\]"),
        (
            lambda: pegasos_certificate(subgradient_descent(P, n_iter=3)),
            "the certificate needs a run that drew examples; its draws are None",
        ),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
