"""Certified minimisers of P: over all w, and over an l1 ball, to a duality gap that is computed."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pegasos_lib import HingeProblem, project_l1_ball, sdca

GAP = 1e-8
Floats = NDArray[np.float64]


class Optimum(NamedTuple):
    """Hold a point of the set, and a proof: P(w) is within `gap` of the least P on the set."""

    w: Floats
    gap: float


def free_optimum(problem: HingeProblem, gap: float = GAP, n_epochs: int = 5_000) -> Optimum:
    """Return the minimiser over all w by SDCA, whose duality gap is the certificate."""
    run = sdca(problem, n_epochs=n_epochs, gap=gap)
    if not run.gap <= gap:
        raise RuntimeError(f"SDCA stopped at a gap of {run.gap:.1e}, above {gap:.1e}")
    return Optimum(run.w, run.gap)


def l1_gap(problem: HingeProblem, radius: float, alpha: Floats, w: Floats | None = None) -> Optimum:
    """Return a point of the l1 ball with the gap that alpha in [0, 1]^n proves for it.

    For any alpha, P(u) >= lam/2 ||u||^2 + mean(alpha_i (1 - m_i(u))), and on the ball the right
    side is least at the projection u of w(alpha). That u is the point, unless w is a better one.
    """
    v = problem.weights(alpha)
    u = project_l1_ball(v, radius)
    dual = float(np.mean(alpha)) - problem.lam * float(u @ v - 0.5 * (u @ u))
    points = [u] if w is None else [u, project_l1_ball(w, radius)]
    value, best = min(((problem.objective(point), i) for i, point in enumerate(points)))
    return Optimum(points[best], value - dual)


def l1_optimum(problem: HingeProblem, radius: float, gap: float = GAP) -> Optimum:
    """Return the minimiser over ||w||_1 <= radius, with its duality gap as the certificate.

    Coordinate ascent on that dual finds which coordinates of w are not 0 and which margins are
    at 1; an interior-point method then solves the small problem that these leave. The gap is
    that of the whole problem, whatever led there.
    """
    ascent, margin = _Ascent(problem, radius), 0.05
    for _ in range(8):
        ascent.sweep(40)
        found = l1_gap(problem, radius, ascent.alpha)
        if found.gap > gap:
            found = min(
                found,
                l1_gap(problem, radius, *_solve_active(problem, radius, ascent, margin)),
                key=lambda point: point.gap,
            )
        if found.gap <= gap:
            return found
        margin *= 1.2
    raise RuntimeError(f"the gap over the l1 ball stayed at {found.gap:.1e}, above {gap:.1e}")


class _Ascent:
    """Climb the dual of the problem in the ball: a coordinate of alpha, or the threshold.

    max over alpha and cut >= 0 of mean(alpha) - lam/2 ||u||^2 - lam cut radius, where u is
    w(alpha) with every coordinate drawn towards 0 by cut: it is concave in both together.
    """

    def __init__(self, problem: HingeProblem, radius: float) -> None:
        self.problem, self.radius = problem, radius
        self.alpha, self.v, self.cut = np.zeros(problem.n), np.zeros(problem.d), 0.0
        self._rng = np.random.default_rng(0)

    def sweep(self, epochs: int) -> None:
        p = self.problem
        ascend = _compiled_ascent()
        for _ in range(epochs):
            for part in np.array_split(self._rng.permutation(p.n), 20):
                ascend(p.X, p.y, part, self.alpha, self.v, p.squared_norms, p.lam, self.cut)
                self.cut = _threshold(self.v, self.radius)
        self.v = p.weights(self.alpha)  # without what rounding has added up


def _threshold(v: Floats, radius: float) -> float:
    if float(np.abs(v).sum()) <= radius:
        return 0.0
    return float(np.max(np.abs(v) - np.abs(project_l1_ball(v, radius))))


@cache
def _compiled_ascent() -> Any:
    import numba

    @numba.njit(cache=True)
    def ascend(
        X: Any, y: Any, order: Any, alpha: Any, v: Any, squares: Any, lam: float, cut: float
    ) -> None:
        n, d = X.shape
        for i in order:
            score = 0.0
            for j in range(d):
                if v[j] > cut:
                    score += X[i, j] * (v[j] - cut)
                elif v[j] < -cut:
                    score += X[i, j] * (v[j] + cut)
            # The projection draws points together: this step never makes the dual smaller.
            target = alpha[i] + lam * n * (1.0 - y[i] * score) / squares[i]
            target = min(1.0, max(0.0, target))
            change = (target - alpha[i]) * y[i] / (lam * n)
            if change != 0.0:
                alpha[i] = target
                for j in range(d):
                    v[j] += change * X[i, j]

    return ascend


def _solve_active(
    problem: HingeProblem, radius: float, ascent: _Ascent, margin: float
) -> tuple[Floats, Floats]:
    """Solve for the coordinates with the signs they have; margins far from 1 keep their side."""
    import cvxopt

    alpha, v = ascent.alpha, ascent.v
    columns = np.abs(v) > 0.9 * ascent.cut
    signs = np.sign(v[columns])
    distance = problem.margins(project_l1_ball(v, radius)) - 1.0
    open_ = (np.abs(distance) < margin) | ((alpha > 0.0) & (alpha < 1.0))
    below = ~open_ & (distance < 0.0)
    # Columns times signs: p >= 0 with sum(p) <= radius, and the losses of the open margins.
    rows = (problem.y[:, np.newaxis] * problem.X[:, columns]) * signs
    p, k, n = int(columns.sum()), int(open_.sum()), problem.n
    quadratic = cvxopt.spdiag([problem.lam] * p + [0.0] * k)
    linear = np.concatenate([-rows[below].sum(axis=0) / n, np.full(k, 1.0 / n)])
    G = np.zeros((2 * k + p + 1, p + k))
    G[:k, :p], G[:k, p:] = -rows[open_], -np.eye(k)  # 1 - margin <= loss
    G[k : 2 * k, p:] = -np.eye(k)
    G[2 * k : 2 * k + p, :p] = -np.eye(p)
    G[-1, :p] = 1.0
    h = np.concatenate([np.full(k, -1.0), np.zeros(k + p), [radius]])
    options = {"show_progress": False, "abstol": 1e-12, "reltol": 1e-12, "feastol": 1e-12}
    solution = cvxopt.solvers.qp(quadratic, *map(cvxopt.matrix, (linear, G, h)), options=options)
    w, solved = np.zeros(problem.d), np.where(below, 1.0, 0.0)
    w[columns] = signs * np.ravel(solution["x"])[:p]
    solved[open_] = np.clip(n * np.ravel(solution["z"])[:k], 0.0, 1.0)
    return solved, w
