"""The inner loops, written once and run either by NumPy or compiled by Numba.

The loops are plain Python over a few row operations (`row_dot`, `add_row`, ...). Those have a
NumPy form in `_rows`, and a compiled form that Numba puts in their place; both come for dense
rows (X is a 2-D array) and for CSR rows (X is the tuple (data, indices, indptr)).

Numba is imported with the first solver call, never before. `PEGASOS_JIT=0` in the environment,
or `with use_jit(False):`, keeps to NumPy.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

from . import _rows
from ._rows import (
    PREFETCH,
    add_row,
    coordinate_gap,
    find_hits,
    maximised,
    prefetch,
    row_dot,
    row_square,
    squared_norm,
)
from .problem import HingeProblem, read_only
from .sampling import index_type

__all__ = [
    "add_row",
    "add_rows",
    "chosen",
    "compiled",
    "gap_loop",
    "greedy_loop",
    "hits_loop",
    "jit_enabled",
    "row_dot",
    "rows_of",
    "steps_loop",
    "sweep_loop",
    "use_jit",
]

LEAST_SCALE, GREATEST_SCALE = 1e-100, 1e100
# What a v may be as a multiple of the largest that the sum of so many iterates can be: so much of
# the digits is lost where u is subtracted from it.
MOST_CANCELLED = 100.0

_jit: ContextVar[bool | None] = ContextVar("pegasos_jit", default=None)


@contextmanager
def use_jit(enabled: bool) -> Iterator[None]:
    """Run the solvers of a `with` block compiled (True) or in NumPy (False).

    Raises
    ------
    ImportError
        If compiled loops are asked for and Numba is not installed.
    """
    if enabled and find_spec("numba") is None:
        raise ImportError("compiled loops need Numba: install pegasos-lib[fast]")
    token = _jit.set(enabled)
    try:
        yield
    finally:
        _jit.reset(token)


def jit_enabled() -> bool:
    """Return whether solvers run compiled: Numba is there and was not turned off."""
    chosen = _jit.get()
    if chosen is None:
        chosen = os.environ.get("PEGASOS_JIT", "1") not in ("0", "false", "no")
        return chosen and find_spec("numba") is not None
    return chosen


def rows_of(problem: HingeProblem) -> Any:
    """Return X as the kernels take it: the array, or the tuple (data, indices, indptr)."""
    if not problem.is_sparse:
        return problem.X
    X = problem.X
    if not jit_enabled():
        return X.data, X.indices.astype(np.intp), X.indptr.tolist()
    # 32-bit unsigned: half the memory to read, and no test for negative indices when compiled.
    indices = X.indices.astype(np.uint32) if X.indices.itemsize != 4 else X.indices.view(np.uint32)
    return X.data, read_only(indices), X.indptr.astype(index_type(X.nnz), copy=False)


def take_steps(
    X: Any,
    y: Any,
    draws: Any,
    eta: Any,
    decay: Any,
    first: int,
    radius: float,
    power: int,
    refresh: int,
    state: Any,
    v: Any,
    u: Any,
    hits: Any,
    coefficients: Any,
) -> None:
    """Take len(draws) steps of projected stochastic subgradient descent.

    The iterate is kept as w = s v, so that shrinking and projecting cost O(1) and a violated
    margin O(nnz of its row). The running sum of the iterates is kept as a v - u: a step that
    adds delta to v adds a delta to u, and leaves the sum as it was. Where a v would become far
    larger than the sum can be, as before a step that the projection cuts far back, a v is first
    taken into u, at a cost of O(d).

    Parameters
    ----------
    X, y : rows (see `rows_of`) and labels
    draws : (T, k) examples of each step
    eta, decay : (T,) step sizes and the factors 1 - eta lam
    first : number of the first step, from 1
    radius : of the l2 ball to project on; infinity for none
    power : weight of w_t in the running sum is t**power; no sum is kept if it is below 0
    refresh : number of added rows after which ||v||^2 is computed afresh
    state : (4,) s, a, ||v||^2 and the rows added since it was computed; changed in place
    v, u : (d,) changed in place
    hits : (k,) room for the examples of a step whose margin is below 1
    coefficients : (n,) such that v = sum_i coefficients_i x_i, changed in place; (0,) for none
    """
    s, a, square, added = float(state[0]), float(state[1]), float(state[2]), float(state[3])
    projecting, averaging, explaining = radius < np.inf, power >= 0, len(coefficients) > 0
    for j in range(len(draws)):
        weight = float(first + j) if power == 1 else 1.0
        if averaging:
            a += s * weight
        prefetch(X, draws, j + PREFETCH)
        count = find_hits(X, y, draws, j, s, v, hits)

        s *= decay[j]
        if not LEAST_SCALE < abs(s) < GREATEST_SCALE:
            if averaging:
                u -= a * v
                a = 0.0
            v *= s
            coefficients *= s
            s = 1.0
            square = squared_norm(v)

        if averaging and count > 0:
            # Let W be the largest norm of w_1..w_{t+1}, so that the sum is at most t weight W. The
            # step makes ||s v|| at most |decay| W + eta max ||x_i||, and eta max ||x_i|| is at most
            # (1 + |decay|) W unless the projection, on a radius that is W then, cuts. So ||a v|| is
            # at most 2 MOST_CANCELLED t weight W after it, and grows by weight W in a step without
            # hits: rounding of a v - u is at most so many times that of the sum.
            reach = 1.0 + abs(decay[j])
            if projecting:
                longest = 0.0
                for h in range(count):
                    longest = max(longest, row_square(X, hits[h]))
                reach += eta[j] * math.sqrt(longest) / radius
            if abs(a) * reach > MOST_CANCELLED * (first + j) * weight * abs(s):
                u -= a * v
                a = 0.0

        for h in range(count):
            i = hits[h]
            c = eta[j] * y[i] / (s * len(hits))
            square = add_row(X, i, c, v, square, projecting)
            if explaining:
                coefficients[i] += c
            if averaging:
                add_row(X, i, a * c, u, 0.0, False)
        if projecting:
            added += count
            if added >= refresh:
                square = squared_norm(v)
                added = 0.0
            if s * s * square > radius * radius:
                s *= radius / (abs(s) * math.sqrt(square))
    state[0], state[1], state[2], state[3] = s, a, square, added


def take_sweep(
    X: Any, y: Any, order: Any, squared_norms: Any, scale: float, alpha: Any, w: Any
) -> float:
    """Run a sweep of exact coordinate ascent on the dual; return the average coordinate gap.

    Parameters
    ----------
    X, y : rows (see `rows_of`) and labels
    order : (m,) examples in the order of the sweep
    squared_norms : (n,) ||x_i||^2
    scale : lam n
    alpha, w : (n,) in [0, 1] and (d,) w(alpha); changed in place

    Returns
    -------
    float
        The mean of the coordinate gaps, each met before its step; 0 for no steps.
    """
    gaps = 0.0
    column = order.reshape(-1, 1)  # one example a step, as `prefetch` reads them
    for j in range(len(order)):
        prefetch(X, column, j + PREFETCH)
        i = order[j]
        old = alpha[i]
        slack = 1.0 - y[i] * row_dot(X, i, w)
        gaps += coordinate_gap(old, slack)
        new = maximised(old, slack, squared_norms[i], scale)
        if new != old:
            alpha[i] = new
            add_row(X, i, (new - old) * y[i] / scale, w, 0.0, False)
    return gaps / max(1, len(order))


def prove_gap(X: Any, y: Any, scale: float, alpha: Any, w: Any) -> float:
    """Set w (d,) to w(alpha), from alpha alone; return the sum of the n coordinate gaps there.

    Their mean is P(w) - D(alpha).
    """
    w[:] = 0.0
    for i in range(len(alpha)):
        if alpha[i] > 0.0:
            add_row(X, i, alpha[i] * y[i], w, 0.0, False)
    w /= scale
    gaps = 0.0
    for i in range(len(alpha)):
        gaps += coordinate_gap(alpha[i], 1.0 - y[i] * row_dot(X, i, w))
    return gaps


def take_greedy_pass(
    X: Any, y: Any, order: Any, squared_norms: Any, lam: float, alpha: Any, v: Any
) -> None:
    """Set alpha_i for one example after the other, each the maximiser of the dual of those so far.

    Parameters
    ----------
    X, y : rows (see `rows_of`) and labels
    order : (n,) examples in the order of the pass
    squared_norms : (n,) ||x_i||^2
    lam : lambda
    alpha, v : (n,) and (d,), where v is the sum of alpha_i y_i x_i, so 0 at first; changed in place
    """
    for j in range(len(order)):
        i = order[j]
        new = 1.0
        if squared_norms[i] > 0.0:
            # lam (t - (t - 1) y <x, w>)/||x||^2 with (t - 1) lam w = v.
            new = (lam * (j + 1) - y[i] * row_dot(X, i, v)) / squared_norms[i]
        new = min(max(new, 0.0), 1.0)
        alpha[i] = new
        add_row(X, i, new * y[i], v, 0.0, False)


def count_hits(X: Any, y: Any, draws: Any, lam: float, v: Any, hits: Any, counts: Any) -> None:
    """Count how often each example is hit by Pegasos without projection.

    The iterate is w_t = v/(lam k (t - 1)), where v is the sum of y_i x_i over all hits so far.

    Parameters
    ----------
    X, y : rows (see `rows_of`) and labels
    draws : (T, k) examples of each step
    lam : lambda
    v, counts : (d,) and (n,), 0 at first; changed in place
    hits : (k,) room for the examples of a step whose margin is below 1
    """
    for j in range(len(draws)):
        prefetch(X, draws, j + PREFETCH)
        s = 1.0 / (lam * len(hits) * max(j, 1))  # at t = 1, w_1 = 0 = v at any scale
        for h in range(find_hits(X, y, draws, j, s, v, hits)):
            i = hits[h]
            counts[i] += 1
            add_row(X, i, y[i], v, 0.0, False)


def add_rows(X: Any, rows: Any, coefficients: Any, total: Any) -> None:
    """Add the sum of c_i x_i over these rows to `total` (d,)."""
    for j in range(len(rows)):
        if coefficients[j] != 0.0:
            add_row(X, rows[j], coefficients[j], total, 0.0, False)


def chosen(loop: Callable[..., Any]) -> Callable[..., Any]:
    """Return a loop over row operations, compiled if that is enabled."""
    return compiled(loop) if jit_enabled() else loop


@cache
def compiled(loop: Any) -> Any:
    """Return a loop over row operations, compiled."""
    import numba

    _register_rows()
    # Numba keeps compiled code by name until the loop's own file changes. The operations are
    # compiled into it, so the time of their files becomes part of the name.
    names = ("_rows.py", "projections.py", "_projection_kernels.py")
    files = (Path(__file__).with_name(name) for name in names)
    named = FunctionType(loop.__code__, loop.__globals__)
    named.__qualname__ = f"{loop.__name__}_{max(file.stat().st_mtime_ns for file in files)}"
    try:
        return numba.njit(cache=True)(named)
    except RuntimeError:  # no folder to keep the compiled code in
        return numba.njit(loop)


@cache
def _register_rows() -> None:
    _rows.register()


def steps_loop() -> Callable[..., None]:
    """Return `take_steps`, compiled if that is enabled."""
    return chosen(take_steps)


def sweep_loop() -> Callable[..., float]:
    """Return `take_sweep`, compiled if that is enabled."""
    return chosen(take_sweep)


def gap_loop() -> Callable[..., float]:
    """Return `prove_gap`, compiled if that is enabled."""
    return chosen(prove_gap)


def greedy_loop() -> Callable[..., None]:
    """Return `take_greedy_pass`, compiled if that is enabled."""
    return chosen(take_greedy_pass)


def hits_loop() -> Callable[..., None]:
    """Return `count_hits`, compiled if that is enabled."""
    return chosen(count_hits)
