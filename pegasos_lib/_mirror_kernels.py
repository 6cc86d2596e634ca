"""The inner loops of mirror descent, exponentiated gradient, AdaGrad, and steps in the l1 ball.

As in `_kernels`, a loop is written once over a few operations, and NumPy runs it or Numba
compiles it. All loops begin with the same arguments:

X, y : rows (see `rows_of`) and labels
draws : (T, k) examples of each step
first : number of the first step, from 1
power : weight of w_t in the running sum is t**power; no sum is kept if it is below 0
hits : (k,) room for the examples of a step whose margin is below 1
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from . import _projection_kernels
from ._kernels import (
    GREATEST_SCALE,
    LEAST_SCALE,
    MOST_CANCELLED,
    compiled,
    jit_enabled,
    rows_of,
)
from ._rows import PREFETCH, add_row, find_hits, prefetch, row_square, squared_norm
from .problem import FloatArray, IntArray
from .projections import nearest_in_l1_ball, nearest_in_weighted_l2_ball, ones
from .run import Recorder, Run, power_of

# AdaGrad's sums of squares begin at this, so that it need not divide 0 by 0.
LEAST_SQUARE = 1e-300
# Below this a sum of exponentials and of their inverses has lost no digits.
_GREATEST_MASS = 1e300


def take_lazy_steps(
    X: Any, y: Any, draws: Any, first: int, power: int, hits: Any,
    eta: float, lam: float, radius: float, refresh: int, state: Any, v: Any, u: Any,
) -> None:  # fmt: skip
    """Take steps of mirror descent, lazily projected onto the l2 ball, in O(nnz of the rows).

    The unprojected theta is kept as s v and the iterate is w = c theta, so that
    theta - eta lam w is another s. The running sum is kept as a v - u, as in `take_steps`.

    Parameters
    ----------
    eta, lam : step size and lambda
    radius : of the l2 ball; infinity for none
    refresh : number of added rows after which ||v||^2 is computed afresh
    state : (5,) s, a, ||v||^2, the rows added since it was computed, and c; changed in place
    v, u : (d,) changed in place
    """
    s, a, square, added, c = state[0], state[1], state[2], state[3], state[4]
    projecting, averaging = radius < np.inf, power >= 0
    for j in range(len(draws)):
        weight = float(first + j) if power == 1 else 1.0
        if averaging:
            a += s * c * weight
        prefetch(X, draws, j + PREFETCH)
        count = find_hits(X, y, draws, j, s * c, v, hits)

        decay = 1.0 - eta * lam * c
        s *= decay
        if not LEAST_SCALE < abs(s) < GREATEST_SCALE:
            if averaging:
                u -= a * v
                a = 0.0
            v *= s
            s = 1.0
            square = squared_norm(v)

        if averaging and count > 0:
            # As in `take_steps`, but that theta may be far outside of the ball before the step.
            reach = 1.0 + abs(decay)
            if projecting:
                longest = 0.0
                for h in range(count):
                    longest = max(longest, row_square(X, hits[h]))
                reach += (abs(s) * math.sqrt(square) + eta * math.sqrt(longest)) / radius
            if abs(a) * reach > MOST_CANCELLED * (first + j) * weight * abs(s):
                u -= a * v
                a = 0.0

        for h in range(count):
            i = hits[h]
            size = eta * y[i] / (s * len(hits))
            square = add_row(X, i, size, v, square, projecting)
            if averaging:
                add_row(X, i, a * size, u, 0.0, False)
        if projecting:
            added += count
            if added >= refresh:
                square = squared_norm(v)
                added = 0.0
            norm = abs(s) * math.sqrt(square)
            c = radius / norm if norm > radius else 1.0
    state[0], state[1], state[2], state[3], state[4] = s, a, square, added, c


def take_l1_steps(
    X: Any, y: Any, draws: Any, first: int, power: int, hits: Any,
    eta: Any, decay: Any, lazy: bool, radius: float, tau: Any, theta: Any, w: Any, total: Any,
) -> None:  # fmt: skip
    """Take subgradient steps projected onto the l1 ball; each costs O(d), as the projection does.

    Parameters
    ----------
    eta, decay : (T,) for the steps from 1 on, sizes and the factors 1 - eta lam
    lazy : whether the steps add up in theta unprojected, or each begins at w
    radius : of the l1 ball
    tau : (1,) threshold of the last projection; changed in place
    theta, w, total : (d,) changed in place
    """
    for j in range(len(draws)):
        add_iterate(total, w, first + j, power)
        size = eta[first - 1 + j]
        count = find_hits(X, y, draws, j, 1.0, w, hits)
        if lazy:
            theta -= (1.0 - decay[first - 1 + j]) * w
        else:
            np.multiply(w, decay[first - 1 + j], theta)
        for h in range(count):
            i = hits[h]
            add_row(X, i, size * y[i] / len(hits), theta, 0.0, False)
        tau[0] = nearest_in_l1_ball(theta, None, radius, tau[0], w)


def take_exponentiated_steps(
    X: Any, y: Any, draws: Any, first: int, power: int, hits: Any,
    size: float, lam: float, radius: float, theta: Any, w: Any, total: Any,
) -> None:  # fmt: skip
    """Take steps of EG+-; each costs O(d), as w has no zeros.

    Parameters
    ----------
    size, lam : eta times the radius, and lambda
    radius : of the l1 ball
    theta, w, total : (d,) changed in place
    """
    for j in range(len(draws)):
        add_iterate(total, w, first + j, power)
        count = find_hits(X, y, draws, j, 1.0, w, hits)
        theta -= (size * lam) * w
        for h in range(count):
            i = hits[h]
            add_row(X, i, size * y[i] / len(hits), theta, 0.0, False)
        signed_softmax(theta, radius, w)


def take_adaptive_steps(
    X: Any, y: Any, draws: Any, first: int, power: int, hits: Any,
    eta: float, lam: float, radius: float, on_l1: bool, tau: Any, squares: Any,
    root: Any, g: Any, w: Any, total: Any,
) -> None:  # fmt: skip
    """Take steps of AdaGrad; each costs O(d), as lam w is part of every squared subgradient.

    Parameters
    ----------
    eta, lam : step size and lambda
    radius, on_l1 : of the ball, and whether it is that of the l1 norm; infinity for none
    tau : (1,) threshold or multiplier of the last projection; changed in place
    squares : (d,) sums of squares, from `LEAST_SQUARE` on; changed in place
    root, g, w, total : (d,) changed in place
    """
    for j in range(len(draws)):
        add_iterate(total, w, first + j, power)
        count = find_hits(X, y, draws, j, 1.0, w, hits)
        np.multiply(w, lam, g)
        for h in range(count):
            i = hits[h]
            add_row(X, i, -y[i] / len(hits), g, 0.0, False)
        squares += g * g
        np.sqrt(squares, root)
        w -= eta * (g / root)
        if on_l1:
            tau[0] = nearest_in_l1_ball(w, root, radius, tau[0], w)
        elif radius < np.inf:
            tau[0] = nearest_in_weighted_l2_ball(w, root, radius, tau[0], w)


def add_iterate(total: Any, w: Any, t: int, power: int) -> None:
    """Add t**power w to the running sum, if one is kept."""
    if power == 0:
        total += w
    elif power > 0:
        total += t * w


def signed_softmax(theta: Any, radius: float, w: Any) -> None:
    """Set w to radius (theta+ - theta-), where theta+-_j is exp(+-theta_j) over the sum of all."""
    one = ones(len(theta))
    greater = np.exp(theta)
    lesser = 1.0 / greater
    mass = float(greater.dot(one) + lesser.dot(one))
    if mass < _GREATEST_MASS:
        greater -= lesser
        np.multiply(greater, radius / mass, out=w)
        return
    # Divided by the largest of all exponentials, so that nothing overflows. The lesser of a pair is
    # at most 1, which is nothing beside a mass of 1e300.
    size = np.abs(theta)
    greater = np.exp(size - size.max())
    w[:] = np.copysign(greater * (radius / float(greater.sum())), theta)


def run_loop(
    recorder: Recorder,
    draws: IntArray,
    loop: Callable[..., None],
    arguments: tuple[Any, ...],
    read: Callable[[], tuple[FloatArray, FloatArray]],
) -> Run:
    """Run a loop from w_1 = 0, from one stop of the recorder to the next.

    Parameters
    ----------
    recorder : Recorder
    draws : ndarray of int, shape (T, k)
    loop : one of the loops above
    arguments : what it takes after `hits`
    read : callable
        Gives the iterate and the running sum that the loop left in its arguments.
    """
    problem, k = recorder.problem, draws.shape[1]
    power = power_of(recorder.average)
    X, y, steps = rows_of(problem), problem.y, draws
    hits: Any = np.zeros(k, dtype=np.int64)
    if jit_enabled():
        _register()
        loop = compiled(loop)
        loop(X, y, draws[:0], 1, power, hits, *arguments)  # compiles, untimed
    elif k == 1:
        # Python numbers are quicker than NumPy's where they are used one by one.
        y, steps, hits = y.tolist(), draws.tolist(), hits.tolist()

    def take_part(done: int, stop: int) -> None:
        # A step size may make w overflow, and the run is to show it.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            loop(X, y, steps[done:stop], done + 1, power, hits, *arguments)

    recorder.follow(take_part, read)
    return recorder.run(np.zeros(problem.d), draws[:, 0] if k == 1 else draws)


def run_in_l1_ball(
    recorder: Recorder,
    draws: IntArray,
    eta: FloatArray,
    decay: FloatArray,
    radius: float,
    lazy: bool = False,
) -> Run:
    """Run subgradient steps of sizes eta (T,), with decay = 1 - eta lam, in an l1 ball.

    With `lazy` the steps add up unprojected, as in mirror descent; else each begins at w_t.
    """
    tau, (theta, w, total) = np.zeros(1), np.zeros((3, recorder.problem.d))
    arguments = (eta, decay, lazy, radius, tau, theta, w, total)
    return run_loop(recorder, draws, take_l1_steps, arguments, lambda: (w, total))


@cache
def _register() -> None:
    """Give Numba compiled forms of the operations, which it then puts in their place."""
    from numba.extending import overload

    # Sums in any order, but infinities and NaN as IEEE has them: a diverging run must show.
    loose: Any = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}

    def softmax(theta: Any, radius: float, w: Any) -> None:
        largest = 0.0
        for j in range(len(theta)):
            largest = max(largest, abs(theta[j]))
        product = math.exp(-2.0 * largest)
        for j in range(len(theta)):
            w[j] = math.exp(abs(theta[j]) - largest)
        mass = 0.0
        for j in range(len(theta)):
            lesser = product / w[j] if product > 0.0 else 0.0
            mass += w[j] + lesser
            w[j] -= lesser
        for j in range(len(theta)):
            w[j] = math.copysign(w[j] * (radius / mass), theta[j])

    overload(add_iterate, strict=False)(lambda total, w, t, power: add_iterate)
    overload(signed_softmax, jit_options=loose, strict=False)(lambda theta, radius, w: softmax)
    _projection_kernels.register()
