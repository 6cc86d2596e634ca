"""The functions of the descent figure, and descent along them as a textbook writes it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from ..descent import Descent
from ..problem import FloatArray, HingeProblem
from ..steps import make_step

Gradient = Callable[[FloatArray], FloatArray]
_MOST_CUTS = 50
# A decrease of f that may be rounding: plain backtracking would go on by chance from there.
_ROUNDING = 2.0**-46


@dataclass(frozen=True, eq=False)
class SmoothOrNot:
    """A function of the plane: FUNCTIONS of descent/functions.js holds the same.

    Attributes
    ----------
    formula : str
        For w = (a, b).
    value, gradient : callable
        f and its gradient, or a subgradient, at w (2,).
    along : callable
        (w, j) -> where f is least along coordinate j, the other being that of w; None if nowhere.
    start : tuple of float
    infimum : float
    minimiser : ndarray, shape (2,), or None
    terms : tuple of callable
        Where f is an average, the (sub)gradients of what is averaged.
    """

    formula: str
    value: Callable[[FloatArray], float]
    gradient: Gradient
    along: Callable[[FloatArray, int], float | None]
    start: tuple[float, float]
    infimum: float = 0.0
    minimiser: FloatArray | None = None
    terms: tuple[Gradient, ...] = ()


def descend(
    f: SmoothOrNot,
    start: ArrayLike,
    *,
    n_iter: int,
    direction: str,
    rule: str,
    c: float,
    gamma: float,
    draws: Sequence[int] | None = None,
) -> Descent:
    """Descend from `start`; the arguments are the traits of `DescentExplorer`.

    Along one coordinate or one term a search may find no decrease where another has one: w then
    stays for that step.

    Returns
    -------
    Descent
        Stopped by "no decrease", "no minimum" (along a coordinate), "diverged" or "n_iter".
        The step size to an exact minimum is NaN.
    """
    path, values = [np.array(start, dtype=float)], [f.value(np.array(start, dtype=float))]
    etas: list[float] = []
    stopped = ""
    # A step size may make w overflow, and the path is to show it.
    with np.errstate(over="ignore", invalid="ignore"):
        while len(etas) < n_iter and not stopped:
            w, t = path[-1], len(path)
            taken = _exact(f, w, t) if direction == "exact" else None
            if direction != "exact":
                g = f.gradient(w)
                d = f.terms[draws[t - 1]](w) if draws is not None else g
                if direction == "coordinate":
                    d = g * (np.arange(2) == (t - 1) % 2)
                eta = _step_size(f, w, values[-1], d, -float(g @ d), t, rule, c, gamma)
                if eta is not None or direction != "steepest":
                    taken = (w - eta * d, eta) if eta is not None else (w, 0.0)
            if taken is None:
                stopped = "no minimum" if direction == "exact" else "no decrease"
                break
            path.append(taken[0])
            etas.append(taken[1])
            values.append(f.value(taken[0]))
            if not (np.isfinite(taken[0]).all() and math.isfinite(values[-1])):
                stopped = "diverged"
    return Descent(
        path=np.stack(path),
        values=np.array(values),
        step_sizes=np.array(etas),
        n_iter=len(etas),
        stopped_by=stopped or "n_iter",
    )


def _exact(f: SmoothOrNot, w: FloatArray, t: int) -> tuple[FloatArray, float] | None:
    j = (t - 1) % 2
    least = f.along(w, j)
    return None if least is None else (_replaced(w, j, least), math.nan)


def _step_size(
    f: SmoothOrNot,
    w: FloatArray,
    value: float,
    d: FloatArray,
    slope: float,
    t: int,
    rule: str,
    c: float,
    gamma: float,
) -> float | None:
    """Return eta_t of the rule for the step -eta_t d, or None if a search finds none."""
    if rule not in ("backtracking", "armijo"):
        return float(make_step(rule, lam=1.0, c=c)(t))
    if rule == "armijo" and slope == 0.0:
        return c
    eta = c
    for _ in range(_MOST_CUTS + 1):
        trial = f.value(w - eta * d)
        if rule == "armijo":
            bound = value + 1e-4 * eta * slope
            if not bound < value:
                return None
            if trial <= bound:
                return eta
        elif trial < value:
            return eta if value - trial > _ROUNDING * max(1.0, abs(value)) else None
        eta *= gamma
    return None


def _replaced(w: FloatArray, j: int, x: float) -> FloatArray:
    new = w.copy()
    new[j] = x
    return new


# --------------------------------------------------------------------------------- the functions

_ROWS = np.array([[2.0, 1], [1, 2], [1, -1]])
_TARGETS = np.array([1.0, -1, -1])
_X = np.array([[2.1, 0.6], [0.7, 1.3], [1.2, -0.8], [-1.1, -1.4], [-1.9, 0.5], [0.3, -1.7]])
_Y = np.array([1.0, 1, 1, -1, -1, -1])


@cache
def hinge_problem() -> HingeProblem:
    """Return the problem whose objective the function "hinge" is."""
    return HingeProblem(_X, _Y, lam=0.1)


def _sign(x: FloatArray) -> FloatArray:
    # On a kink up to rounding the sign is 0.
    return np.where(np.abs(x) <= 1e-12, 0.0, np.sign(x))


def _ring(w: FloatArray) -> float:
    r = math.sqrt(float(w @ w))
    return r * r if r <= 1 else 0.75 * r * r + 0.5 * r - 0.25


def _ring_gradient(w: FloatArray) -> FloatArray:
    r = math.sqrt(float(w @ w))
    return w * (2.0 if r <= 1 else 1.5 + 0.5 / r)


def _trap_gradient(w: FloatArray) -> FloatArray:
    s = float(_sign(w[0] - w[1]))
    return np.array([0.1 + 0.1 * w[0] + s, 0.1 + 0.1 * w[1] - s])


def _hinge_along(w: FloatArray, j: int) -> float:
    """Return the least along a coordinate: a kink, or the least of a parabola between kinks."""
    problem = hinge_problem()
    m, z = problem.margins(_replaced(w, j, 0.0)), _Y * _X[:, j]
    kinks = np.sort((1 - m) / z)
    between = [kinks[0] - 1, *((a + b) / 2 for a, b in pairwise(kinks)), kinks[-1] + 1]
    lowest = [float(z[m + z * x < 1].sum()) / (problem.lam * problem.n) for x in between]
    candidates: list[float] = [*kinks.tolist(), *lowest]
    return min(candidates, key=lambda x: float(problem.objective(_replaced(w, j, x))))


def _zero(w: FloatArray, j: int) -> float:
    return 0.0


def _square_term(i: int) -> Gradient:
    return lambda w: (_ROWS[i] @ w - _TARGETS[i]) * _ROWS[i]


def _hinge_term(i: int) -> Gradient:
    return lambda w: hinge_problem().subgradient(w, [i])


def _functions() -> dict[str, SmoothOrNot]:
    zero = np.zeros(2)
    best = np.array([25 / 18, 5 / 6])  # two of the six points lie on their kink there
    return {
        "bowl": SmoothOrNot(
            "a^2 + b^2", lambda w: float(w @ w), lambda w: 2 * w, _zero, (3.0, 1.5), 0.0, zero
        ),
        "squares": SmoothOrNot(
            "mean of (2a + b - 1)^2/2, (a + 2b + 1)^2/2, (a - b + 1)^2/2 = a^2 + ab + b^2 + 1/2",
            lambda w: float(np.mean((_ROWS @ w - _TARGETS) ** 2)) / 2,
            lambda w: np.array([2 * w[0] + w[1], w[0] + 2 * w[1]]),
            lambda w, j: -0.5 * float(w[1 - j]),
            (3.0, 1.0),
            0.5,
            zero,
            tuple(_square_term(i) for i in range(3)),
        ),
        "valley": SmoothOrNot(
            "(a^2 + 20 b^2)/2",
            lambda w: 0.5 * float(w[0] * w[0] + 20 * w[1] * w[1]),
            lambda w: w * (1.0, 20.0),
            _zero,
            (3.5, 1.5),
            0.0,
            zero,
        ),
        "ring": SmoothOrNot(
            "r^2 if r <= 1, else 3r^2/4 + r/2 - 1/4, with r = |w|",
            _ring,
            _ring_gradient,
            _zero,
            (2.0, 0.0),
            0.0,
            zero,
        ),
        "trap": SmoothOrNot(
            "|a - b| + 0.1 (a + b) + 0.05 (a^2 + b^2)",
            lambda w: float(abs(w[0] - w[1]) + 0.1 * (w[0] + w[1]) + 0.05 * (w @ w)),
            _trap_gradient,
            lambda w, j: max(-11.0, min(9.0, float(w[1 - j]))),
            (2.0, 0.0),
            -0.1,
            np.array([-1.0, -1.0]),
        ),
        "hinge": SmoothOrNot(
            "P(w) of six points with lam = 0.1",
            lambda w: float(hinge_problem().objective(w)),
            lambda w: hinge_problem().subgradient(w),
            _hinge_along,
            (-2.0, 2.5),
            float(hinge_problem().objective(best)),
            best,
            tuple(_hinge_term(i) for i in range(len(_Y))),
        ),
        "exp": SmoothOrNot(
            "e^a + b^2",
            lambda w: float(np.exp(w[0]) + w[1] * w[1]),
            lambda w: np.array([np.exp(w[0]), 2 * w[1]]),
            lambda w, j: None if j == 0 else 0.0,
            (1.0, 2.0),
        ),
        "corner": SmoothOrNot(
            "|a| + |b|", lambda w: float(np.abs(w).sum()), _sign, _zero, (2.5, 1.5), 0.0, zero
        ),
    }


FUNCTIONS = _functions()
