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
from ._rows import PREFETCH, add_row, find_hits, prefetch, row_dot, squared_norm
from .problem import HingeProblem, read_only

__all__ = [
    "add_row",
    "add_rows",
    "chosen",
    "compiled",
    "greedy_loop",
    "hits_loop",
    "jit_enabled",
    "row_dot",
    "rows_of",
    "steps_loop",
    "sweeps_loop",
    "use_jit",
]

# The running sum of the iterates loses digits in proportion to how far the scale has fallen.
LEAST_SCALE, LEAST_SCALE_AVERAGING, GREATEST_SCALE = 1e-100, 1e-4, 1e100

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
    return X.data, read_only(indices), read_only(X.indptr.astype(np.int64))


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
    adds delta to v adds a delta to u, and leaves the sum as it was.

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
    least = LEAST_SCALE_AVERAGING if averaging else LEAST_SCALE
    for j in range(len(draws)):
        if averaging:
            a += s * (first + j) if power == 1 else s
        prefetch(X, draws, j + PREFETCH)
        count = find_hits(X, y, draws[j], s, v, hits)

        s *= decay[j]
        if not least < abs(s) < GREATEST_SCALE:
            if averaging:
                u -= a * v
                a = 0.0
            v *= s
            coefficients *= s
            s = 1.0
            square = squared_norm(v)

        for h in range(count):
            i = hits[h]
            c = eta[j] * y[i] / (s * len(draws[j]))
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


def take_sweeps(
    X: Any, y: Any, orders: Any, squared_norms: Any, scale: float, stop: float, alpha: Any, w: Any
) -> tuple[int, float]:
    """Run sweeps of exact coordinate ascent on the dual; return their number and the last sum.

    Parameters
    ----------
    X, y : rows (see `rows_of`) and labels
    orders : (E, n) examples in the order of each sweep
    squared_norms : (n,) ||x_i||^2
    scale : lam n
    stop : stop after a sweep whose coordinate gaps, each met before its step, average to this
    alpha, w : (n,) in [0, 1] and (d,) w(alpha); changed in place

    Returns
    -------
    tuple of int and float
        Sweeps made, and the average coordinate gap of the last one.
    """
    gaps = np.inf
    for sweep in range(len(orders)):
        gaps = 0.0
        order = orders[sweep]
        column = order.reshape(-1, 1)  # one example a step, as `prefetch` reads them
        for j in range(len(order)):
            prefetch(X, column, j + PREFETCH)
            i = order[j]
            old = alpha[i]
            slack = 1.0 - y[i] * row_dot(X, i, w)
            gaps += (1.0 - old) * slack if slack > 0.0 else -old * slack
            # The dual is linear along a zero row, with slope 1/n.
            new = old + scale * slack / squared_norms[i] if squared_norms[i] > 0.0 else 1.0
            new = min(max(new, 0.0), 1.0)
            if new != old:
                alpha[i] = new
                add_row(X, i, (new - old) * y[i] / scale, w, 0.0, False)
        gaps /= len(order)
        if gaps <= stop:
            return sweep + 1, gaps
    return len(orders), gaps


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
        s = 1.0 / (lam * len(draws[j]) * max(j, 1))  # at t = 1, w_1 = 0 = v at any scale
        for h in range(find_hits(X, y, draws[j], s, v, hits)):
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
    files = (Path(__file__).with_name(name) for name in ("_rows.py", "projections.py"))
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


def sweeps_loop() -> Callable[..., tuple[int, float]]:
    """Return `take_sweeps`, compiled if that is enabled."""
    return chosen(take_sweeps)


def greedy_loop() -> Callable[..., None]:
    """Return `take_greedy_pass`, compiled if that is enabled."""
    return chosen(take_greedy_pass)


def hits_loop() -> Callable[..., None]:
    """Return `count_hits`, compiled if that is enabled."""
    return chosen(count_hits)
