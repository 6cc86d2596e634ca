"""Statements of chapter 12, on many problems at once, in words of their own."""

from itertools import product

import numpy as np
import pytest

from pegasos_lib import HingeProblem, PegasosClassifier, pegasos
from pegasos_lib.regret import sufficient_iterations
from tests import reference
from tests.many import Problems

RUNS, N, DIM = 1000, 5, 3


def problems(seed, runs=RUNS, n=N, lam=(-3, 0.5)):
    return Problems(np.random.default_rng(seed), runs, n, DIM, lam=lam)


def minima(many):
    """Return w* and P* of each problem by a primal method."""
    found = [
        reference.optimum(many.Z[r], np.ones(many.Z.shape[1]), many.lam[r])
        for r in range(len(many))
    ]
    return np.array([w for w, _ in found]), np.array([value for _, value in found])


def histories(n, k, T):
    """Yield all sequences of T batches of k indices."""
    for flat in product(range(n), repeat=k * T):
        yield np.array(flat).reshape(T, k)


@pytest.mark.parametrize("project", [True, False])
@pytest.mark.parametrize("k", [1, 3])
def test_a_factor_times_a_sum_of_pushes_is_the_iterate(k, project):
    many, rng, T = problems(1), np.random.default_rng(k), 60
    draws = rng.integers(N, size=(RUNS, T, k))
    W, _ = many.pegasos(draws, project)
    V, q, unfolded = np.zeros((RUNS, DIM)), np.ones(RUNS), np.zeros(RUNS)
    rho = np.maximum(1, many.R / np.sqrt(many.lam))
    lowest = np.zeros(RUNS)
    for t in range(1, T + 1):
        Z = many.batches(draws[:, t - 1])
        scores = q[:, None] * np.einsum("rkd,rd->rk", Z, V)
        hit = (scores < many.lam[:, None] * (t - 1)) | (t == 1)
        V = V + np.einsum("rk,rkd->rd", hit / (k * q[:, None]), Z)
        length = np.linalg.norm(V, axis=1)
        if project:
            limit = np.sqrt(many.lam) * t / np.where(length > 0, length, 1e-300)
            after = np.minimum(q, limit)
            unfolded += np.log(after / q)
            q = after
        lowest += np.log(t / (t + rho - 1))
        w = (q / (many.lam * t))[:, None] * V
        size = np.abs(W[t]).max(axis=1, keepdims=True)
        assert (np.abs(w - W[t]) <= 1e-7 * np.maximum(size, 1e-3)).all(), t
        assert (unfolded >= lowest - 1e-9).all()
        folded = rng.random(RUNS) < 0.1
        V[folded] *= q[folded, None]
        q[folded] = 1
    assert unfolded.min() < -3 if project else (unfolded == 0).all()


def test_the_work_of_a_run_does_not_see_copies_and_is_enough():
    many = problems(2, runs=20, lam=(-1, 0.5))
    _, least = minima(many)
    rng = np.random.default_rng(2)
    for r in range(len(many)):
        p = HingeProblem(many.Z[r], np.ones(N), many.lam[r])
        copies = HingeProblem(np.tile(many.Z[r], (40, 1)), np.ones(40 * N), many.lam[r])
        c = many.constant(True)[r]
        epsilon = c / many.lam[r] / 8
        T = int(np.ceil(8 * (1 + np.log(8))))
        assert abs(sufficient_iterations(epsilon, p.lam, np.sqrt(c)) - T) <= 1
        gaps = []
        for _ in range(10):
            draws = rng.integers(40 * N, size=T)
            a = pegasos(copies, n_iter=T, draws=draws)
            b = pegasos(p, n_iter=T, draws=draws % N)
            assert (a.w_average == b.w_average).all()
            gaps.append(p.objective(b.w_average) - least[r])
        assert np.mean(gaps) <= epsilon


def test_folds_are_few_and_without_n():
    """At most R (1 + ln T) / (sqrt(lam) ln(1/fold)), and as small a factor does need them."""
    many, rng, T, fold = problems(9, lam=(-6, -2)), np.random.default_rng(9), 200, 1e-3
    V, q, folds = np.zeros((RUNS, DIM)), np.ones(RUNS), np.zeros(RUNS)
    for t in range(1, T + 1):
        z = many.Z[np.arange(RUNS), rng.integers(N, size=RUNS)]
        hit = (q * (V * z).sum(axis=1) < many.lam * (t - 1)) | (t == 1)
        V = V + (hit / q)[:, None] * z
        length = np.maximum(np.linalg.norm(V, axis=1), 1e-300)
        q = np.minimum(q, np.sqrt(many.lam) * t / length)
        small = q < fold
        V[small] *= q[small, None]
        q[small] = 1
        folds += small
    most = many.R * (1 + np.log(T)) / (np.sqrt(many.lam) * np.log(1 / fold))
    assert (folds <= most).all()
    assert folds.max() >= 2


@pytest.mark.parametrize("k", [1, 2, 3])
def test_the_mean_square_of_a_batch_is_at_most_q_over_all_batches(k):
    many, rng = problems(3), np.random.default_rng(3)
    spread = np.linalg.norm(many.Z, 2, axis=(1, 2)) ** 2 / N
    assert (spread <= many.R**2 * (1 + 1e-12)).all()
    Q = many.R**2 / k + (1 - 1 / k) * spread
    for size in (0.1, 3):
        W = rng.normal(size=(RUNS, DIM)) * size
        z = np.where((np.einsum("rnd,rd->rn", many.Z, W) < 1)[..., None], many.Z, 0)
        squares = [
            (z[:, list(A)].mean(axis=1) ** 2).sum(axis=1) for A in product(range(N), repeat=k)
        ]
        assert (np.mean(squares, axis=0) <= Q * (1 + 1e-12)).all()


def test_the_mean_squares_behind_the_bound_with_batches():
    """Over all batches of up to three steps: of lam w_t, of v_t, and of their difference g_t."""
    n, k = 3, 2
    many = problems(8, runs=60, n=n)
    Q = many.R**2 / k + (1 - 1 / k) * np.linalg.norm(many.Z, 2, axis=(1, 2)) ** 2 / n
    for T in (1, 2, 3):
        means = np.zeros((3, len(many)))
        all_batches = list(histories(n, k, T))
        for history in all_batches:
            W, G = many.pegasos(np.broadcast_to(history, (len(many), T, k)), False)
            shrink = many.lam[:, None] * W[T - 1]
            for j, vector in enumerate((shrink, shrink - G[-1], G[-1])):
                means[j] += (vector**2).sum(axis=1) / len(all_batches)
        for j, most in enumerate((Q, Q, 4 * Q)):
            assert (means[j] <= most * (1 + 1e-9)).all()
        assert (means[1] > 0.5 * Q).any()


def test_the_bound_with_batches_holds_in_the_exact_mean():
    n, k = 3, 2
    many = problems(4, runs=60, n=n)
    _, least = minima(many)
    spread = np.linalg.norm(many.Z, 2, axis=(1, 2)) ** 2 / n
    Q = many.R**2 / k + (1 - 1 / k) * spread
    for until in (1, 2, 3):
        values = []
        for history in histories(n, k, until):
            W, _ = many.pegasos(np.broadcast_to(history, (len(many), until, k)), False)
            values.append(many.objective(W[:-1].mean(axis=0)))
        bound = 4 * Q * (1 + np.log(until)) / (2 * many.lam * until)
        assert (np.mean(values, axis=0) - least <= bound + 1e-9).all()


@pytest.mark.parametrize("project", [True, False])
def test_one_pass_over_a_stream_obeys_the_bound_for_new_data(project):
    weights, T = np.array([1, 2, 3]) / 6, 5
    many = problems(5, runs=60, n=3)
    whole = problems(5, runs=60, n=3)
    whole.Z = many.Z[:, [0, 1, 1, 2, 2, 2]]  # its mean over rows is that over the stream
    w_star, least = minima(whole)
    assert (np.linalg.norm(w_star, axis=1) <= many.lam**-0.5 * (1 + 1e-6)).all()
    mean = np.zeros(len(many))
    for history in histories(3, 1, T):
        W, _ = many.pegasos(np.broadcast_to(history, (len(many), T, 1)), project)
        mean += weights[history].prod() * whole.objective(W[:-1].mean(axis=0))
    bound = many.constant(project) * (1 + np.log(T)) / (2 * many.lam * T)
    assert (mean - least <= bound + 1e-9).all()


def test_averaging_machines_divides_the_variance_and_keeps_the_bias():
    many, T = problems(6, runs=60, n=3), 2
    w_star, _ = minima(many)
    runs = [
        many.pegasos(np.broadcast_to(history, (len(many), T, 1)), True)[0][-1]
        for history in histories(3, 1, T)
    ]
    w = np.array(runs)  # (histories, runs, d), all equally likely
    bias = ((w.mean(axis=0) - w_star) ** 2).sum(axis=1)
    variance = ((w - w.mean(axis=0)) ** 2).sum(axis=2).mean(axis=0)
    for M in (1, 2, 3):
        square = np.zeros(len(many))
        for choice in product(range(len(w)), repeat=M):
            together = w[list(choice)].mean(axis=0)
            square += ((together - w_star) ** 2).sum(axis=1)
            above = many.objective(w[list(choice)]).mean(axis=0)
            assert (many.objective(together) <= above + 1e-9 * above).all()
        assert square / len(w) ** M == pytest.approx(bias + variance / M, rel=1e-9)


@pytest.mark.parametrize("average", ["uniform", "weighted", None])
def test_pieces_of_whole_batches_change_nothing_and_other_cuts_do(average):
    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(120, 4)), rng.choice([-1.0, 1.0], 120)

    def trained(cuts):
        model = PegasosClassifier(0.1, batch_size=6, average=average, fit_intercept=False)
        for part in np.split(np.arange(120), cuts):
            model.partial_fit(X[part], y[part], classes=[-1, 1])
        return model.coef_[0]

    whole = trained([])
    assert (trained([12, 60]) == whole).all()
    assert (trained([6 * j for j in range(1, 20)]) == whole).all()
    assert not np.allclose(trained([7]), whole)
    run = pegasos(
        HingeProblem(X, y, 0.1),
        n_iter=20,
        batch_size=6,
        draws=np.arange(120).reshape(20, 6),
        average=average,
    )
    assert whole == pytest.approx(run.w if average is None else run.w_average, abs=1e-12)
