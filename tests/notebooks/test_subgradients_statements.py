"""Statements of chapter 4, on generated data, in words of their own."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog, lsq_linear

from pegasos_lib import (
    ConstantStep,
    HingeProblem,
    InverseSqrt,
    project_l1_ball,
    project_l2_ball,
    sdca,
    subgradient_descent,
)


def whole_number_problems(count, seed, d=2, largest=6):
    """Draw problems and points of whole numbers, so that margins of exactly 1 occur."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        n = int(rng.integers(1, largest))
        X = rng.integers(-2, 3, size=(n, d)).astype(float)
        y = rng.choice([-1.0, 1.0], n)
        lam = float(rng.choice([0.05, 0.25, 1.0, 2.0]))
        yield HingeProblem(X, y, lam=lam), rng.integers(-2, 3, size=d).astype(float), rng


def hinge_sum(X, y, lam, w):
    return lam / 2 * (w @ w) + np.maximum(0.0, 1 - y * (X @ w)).mean()


def element(X, y, lam, w, theta):
    """Return the subgradients of the mean objective that take theta[..., i] at the kink of i."""
    margins = y * (X @ w)
    counted = np.where(margins == 1, theta, margins < 1)
    return lam * w - counted @ (y[:, None] * X) / len(y)


def corner_elements(problem, w):
    corners = np.array(list(itertools.product((0.0, 1.0), repeat=problem.n)))
    return element(problem.X, problem.y, problem.lam, w, corners)


def test_a_gradient_is_the_only_subgradient():
    rng = np.random.default_rng(0)
    for _ in range(200):
        Q = rng.normal(size=(3, 3))
        Q = Q @ Q.T  # f(w) = <w, Q w>/2
        w, wrong = rng.normal(size=(2, 3))
        U = w + rng.normal(size=(50, 3)) * 10.0 ** rng.uniform(-3, 1, size=(50, 1))
        rise = ((U @ Q) * U).sum(axis=1) / 2 - w @ Q @ w / 2
        assert (rise >= (U - w) @ (Q @ w) - 1e-9).all()
        u = w + 1e-3 / np.abs(Q).sum() * wrong  # no other vector survives a short step towards it
        assert u @ Q @ u / 2 - w @ Q @ w / 2 < (Q @ w + wrong) @ (u - w)


def test_in_one_variable_the_subgradients_are_between_the_one_sided_slopes():
    rng, grid = np.random.default_rng(1), np.arange(-40, 41) / 4
    for _ in range(1000):
        slopes, heights = rng.integers(-3, 4, size=(2, 4)).astype(float)
        x = float(rng.integers(-2, 3))

        def f(u, slopes=slopes, heights=heights):
            return np.max(np.multiply.outer(u, slopes) + heights, axis=-1) + u * u / 4

        left, right = (f(x) - f(x - 1e-7)) / 1e-7, (f(x + 1e-7) - f(x)) / 1e-7
        assert left <= right + 1e-6
        for g in (left - 0.3, left + 1e-5, (left + right) / 2, right - 1e-5, right + 0.3):
            near = np.concatenate([grid, x + np.array([-0.01, 0.01])])
            supports = (f(near) >= f(x) + g * (near - x) - 1e-3 * np.abs(near - x)).all()
            assert supports == (left - 1e-2 <= g <= right + 1e-2)


def best_support(f, w, U):
    """Return how far the best affine function through (w, f(w)) must rise above f on the rows of U.

    A linear program over all slopes g. For a convex f the answer is 0 for all finite U; then, by
    compactness, one slope serves all of space.
    """
    rise, steps = f(U) - f(w), U - w
    found = linprog(
        np.r_[np.zeros(len(w)), 1.0],  # least t >= 0 with <g, u - w> - t <= f(u) - f(w)
        A_ub=np.column_stack([steps, -np.ones(len(U))]),
        b_ub=rise,
        bounds=[(None, None)] * len(w) + [(0, None)],
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    assert found.status == 0, found.message
    return (steps @ found.x[:-1] - rise).max()


def test_a_finite_convex_function_has_a_supporting_line_everywhere():
    rng, kinks = np.random.default_rng(2), 0
    for trial in range(90):
        w = rng.integers(-2, 3, size=3).astype(float)
        A = rng.integers(-3, 4, size=(6, 3)).astype(float)
        b = rng.integers(-2, 3, size=6).astype(float)
        b[0] += (A[1:] @ w + b[1:]).max() - A[0] @ w - b[0]  # a kink at w: two pieces tie

        def pieces(u, A=A, b=b):
            return (u @ A.T + b).max(axis=-1)

        def cone(u, A=A, w=w):  # norms of linear images: no gradient at w
            return np.linalg.norm((u - w) @ A[:3].T, axis=-1) + np.abs((u - w) @ A[3:].T).sum(-1)

        def distance(u, b=b):  # to a ball in the l1 norm, from anywhere
            v = np.atleast_2d(u) - b[:3]
            far = np.array([np.linalg.norm(row - project_l1_ball(row, 1.0)) for row in v])
            return far if np.ndim(u) == 2 else far[0]

        f = (pieces, cone, distance)[trial % 3]
        scale = 10.0 ** rng.uniform(-1, 1, size=(60, 1))
        U = np.vstack([w + rng.normal(size=(60, 3)) * scale, w - np.eye(3), w + np.eye(3)])
        assert best_support(f, w, U) <= 1e-9
        if f is not distance and np.abs(f(w + np.eye(3)) + f(w - np.eye(3)) - 2 * f(w)).max() > 0.1:
            kinks += 1  # the same kink upside down has no support
            assert best_support(lambda u, f=f: -f(u), w, U) > 1e-3
    assert kinks > 30


def test_fermat_zero_is_a_subgradient_at_the_minimiser_and_nowhere_else():
    minima, others = 0, 0
    for problem, w, rng in whole_number_problems(250, 3, largest=4):
        if rng.random() < 0.6:  # unit vectors: minima at kinks are common
            X = np.eye(2)[rng.integers(2, size=problem.n)]
            problem, w = HingeProblem(X, problem.y, lam=problem.lam), np.sign(w)
        best = sdca(problem, gap=1e-12, n_epochs=10_000, rng=0).w
        excess = problem.objective(w) - problem.objective(best)
        pushes = problem.y[:, None] * problem.X / problem.n
        margins = problem.margins(w)
        shortest = problem.lam * w - pushes[margins < 1].sum(axis=0)
        if (margins == 1).any():  # the theta at the kinks that make the subgradient shortest
            at_kinks = pushes[margins == 1].T
            theta = lsq_linear(at_kinks, shortest, bounds=(0, 1), method="bvls").x
            shortest = shortest - at_kinks @ theta
        if np.linalg.norm(shortest) < 1e-9:
            minima += 1
            assert excess <= 1e-9
        else:
            others += 1
            assert excess > 1e-9
    assert minima > 10
    assert others > 100


def test_projection_is_nearest_and_no_two_points_part():
    rng = np.random.default_rng(4)
    for _ in range(1000):
        radius, project = rng.uniform(0.1, 3), rng.choice([project_l1_ball, project_l2_ball])
        w, other = rng.normal(size=(2, 3)) * 4
        p, q = project(w, radius), project(other, radius)
        U = rng.normal(size=(20, 3))
        size = np.abs(U).sum(axis=1) if project is project_l1_ball else np.linalg.norm(U, axis=1)
        U *= radius * (rng.random(20) ** 0.3 / size)[:, None]
        assert ((U - p) @ (w - p)).max() <= 1e-9
        closer = ((w - U) ** 2).sum(axis=1) - ((w - p) ** 2).sum() - ((U - p) ** 2).sum(axis=1)
        assert closer.min() >= -1e-9
        assert np.linalg.norm(p - q) <= np.linalg.norm(w - other) + 1e-12


def test_rules_multiples_sums_affine_maps_and_maxima():
    rng = np.random.default_rng(5)
    for _ in range(1000):
        A, B = rng.integers(-3, 4, size=(2, 4, 3)).astype(float)
        a, b = rng.integers(-2, 3, size=(2, 4)).astype(float)
        M, shift = rng.integers(-2, 3, size=(3, 2)).astype(float), rng.normal(size=3)
        w, c = rng.integers(-2, 3, size=2).astype(float), rng.uniform(0, 3)
        U = rng.normal(size=(20, 2)) * 3

        def piece(A, a, v):
            return (v @ A.T + a).max(axis=-1)

        at, others = M @ w + shift, U @ M.T + shift
        g, h = (C[np.argmax(at @ C.T + e)] for C, e in ((A, a), (B, b)))
        total = c * piece(A, a, others) + piece(B, b, others)
        start = c * piece(A, a, at) + piece(B, b, at)
        assert (total >= start + (U - w) @ (M.T @ (c * g + h)) - 1e-9).all()
        larger = np.maximum(piece(A, a, others), piece(B, b, others))
        chosen = g if piece(A, a, at) >= piece(B, b, at) else h
        now = max(piece(A, a, at), piece(B, b, at))
        assert (larger >= now + (U - w) @ (M.T @ chosen) - 1e-9).all()


def test_slopes_are_the_largest_products_so_there_is_no_other_subgradient():
    for problem, w, rng in whole_number_problems(1000, 6, largest=5):
        H = rng.normal(size=(10, 2))
        step = 2.0**-22
        measured = (problem.objective(w + step * H) - problem.objective(w)) / step
        exact = (corner_elements(problem, w) @ H.T).max(axis=0)
        np.testing.assert_allclose(measured, exact, atol=1e-4)


@pytest.mark.parametrize("theta", [0.0, 1.0, None])
def test_every_theta_gives_the_strong_subgradient_inequality(theta):
    kinks = 0
    for problem, w, rng in whole_number_problems(1000, 7):
        share = rng.random(problem.n) if theta is None else np.full(problem.n, theta)
        g = element(problem.X, problem.y, problem.lam, w, share)
        kinks += int((problem.margins(w) == 1).sum())
        if theta == 0:
            np.testing.assert_allclose(g, problem.subgradient(w), atol=1e-12)
        for u in rng.integers(-3, 4, size=(4, 2)).astype(float):
            bound = hinge_sum(problem.X, problem.y, problem.lam, w) + g @ (u - w)
            bound += problem.lam / 2 * ((u - w) ** 2).sum()
            assert hinge_sum(problem.X, problem.y, problem.lam, u) >= bound - 1e-12
    assert kinks > 100


def test_theta_outside_of_0_and_1_is_no_subgradient():
    X, y, w = np.array([[2.0]]), np.array([1.0]), np.array([0.5])
    grid = np.linspace(-3, 3, 601)[:, None]
    for theta, valid in ((-0.1, False), (0.0, True), (0.4, True), (1.0, True), (1.1, False)):
        g = element(X, y, 0.1, w, [theta])
        holds = all(hinge_sum(X, y, 0.1, u) >= hinge_sum(X, y, 0.1, w) + g @ (u - w) for u in grid)
        assert holds == valid


def test_the_optimum_is_the_sum_of_examples_that_the_dual_solver_finds():
    for problem, _w, _rng in whole_number_problems(1000, 8):
        run = sdca(problem, gap=1e-12, n_epochs=10_000, rng=0)
        m, alpha = problem.margins(run.w), run.alpha
        w = (alpha * problem.y) @ problem.X / (problem.lam * problem.n)
        np.testing.assert_allclose(w, run.w, atol=1e-9)
        assert (alpha[m < 1 - 1e-4] > 1 - 1e-6).all()
        assert (alpha[m > 1 + 1e-4] < 1e-6).all()
        assert problem.lam * (w @ w) == pytest.approx(alpha @ m / problem.n, abs=1e-9)
        assert problem.lam * (w @ w) <= 1 + 1e-9


def test_a_step_below_the_limit_comes_nearer_to_every_minimiser():
    rng, ascents = np.random.default_rng(9), 0
    for _ in range(1000):  # f(w) = max(0, max_j <a_j, w> + b_j): many minimisers, where it is 0
        A, b = rng.integers(-3, 4, size=(4, 2)).astype(float), -rng.integers(0, 4, 4).astype(float)

        def f(v, A=A, b=b):
            return max(0.0, (A @ v + b).max())

        w = rng.integers(-3, 4, size=2).astype(float)
        if f(w) == 0:
            continue
        tied = np.flatnonzero(A @ w + b == f(w))
        g = A[rng.choice(tied)]
        after = w - rng.uniform(0.01, 0.99) * 2 * f(w) / (g @ g) * g
        ascents += f(after) > f(w)
        minimisers = [v for v in [np.zeros(2), *rng.normal(size=(10, 2))] if f(v) == 0]
        for v in minimisers:
            assert np.linalg.norm(after - v) < np.linalg.norm(w - v)
    assert ascents > 20


@pytest.mark.parametrize("decaying", [False, True])
def test_bounds_of_the_projected_method_hold_at_every_t(decaying):
    """500 runs for each rule, steps from far too short to far too long, random comparators."""
    rng, T, largest = np.random.default_rng(10), 40, 0.0
    t = np.arange(1, T + 1)
    for _ in range(500):
        n, d = int(rng.integers(1, 12)), int(rng.integers(1, 4))
        X, y = rng.normal(size=(n, d)) * rng.uniform(0.2, 4), rng.choice([-1.0, 1.0], n)
        problem = HingeProblem(X, y, lam=10 ** rng.uniform(-2, 0.5))
        radius, kappa = problem.lam**-0.5, 10 ** rng.uniform(-2, 1)
        G = np.sqrt(problem.lam) + problem.R
        rule = InverseSqrt(kappa) if decaying else ConstantStep(kappa)
        run = subgradient_descent(problem, n_iter=T, step=rule, project=True, record=range(T + 1))
        u = project_l2_ball(rng.normal(size=d) * radius, radius)
        excess = run.trace.objective[:-1] - problem.objective(u)
        eta = kappa / np.sqrt(t) if decaying else np.full(T, kappa)
        any_step = u @ u / 2 + G**2 / 2 * np.cumsum(eta**2)
        assert (np.cumsum(eta * excess) <= any_step + 1e-9).all()
        if decaying:
            bound = (4 * radius**2 / (2 * kappa) + kappa * G**2) / np.sqrt(t)
        else:
            bound = u @ u / (2 * kappa * t) + kappa * G**2 / 2
        mean = np.cumsum(excess) / t
        assert (mean <= bound + 1e-9).all()
        averages = np.cumsum(run.trace.w[:-1], axis=0) / t[:, None]
        assert (problem.objective(averages) - problem.objective(u) <= mean + 1e-9).all()
        largest = max(largest, (mean / bound).max())
    assert largest > 0.1, "the bounds are not tested near their value"
