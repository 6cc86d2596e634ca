"""The inner loops, written once and run either by NumPy or compiled by Numba.

`take_steps` and `take_sweeps` are plain Python over a few row operations (`row_dot`, `add_row`,
...). Those have a NumPy form here, and a compiled form that Numba puts in their place; both come
for dense rows (X is a 2-D array) and for CSR rows (X is the tuple (data, indices, indptr)).

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
from typing import Any

import numpy as np

from .problem import HingeProblem, read_only

# The running sum of the iterates loses digits in proportion to how far the scale has fallen.
_LEAST_SCALE, _LEAST_SCALE_AVERAGING, _GREATEST_SCALE = 1e-100, 1e-4, 1e100
_PREFETCH = 2  # steps ahead; worth a factor of 1.6 on 200,000 x 47,236 CSR data

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
    """
    s, a, square, added = float(state[0]), float(state[1]), float(state[2]), float(state[3])
    projecting, averaging = radius < np.inf, power >= 0
    least = _LEAST_SCALE_AVERAGING if averaging else _LEAST_SCALE
    for j in range(len(draws)):
        if averaging:
            a += s * (first + j) if power == 1 else s
        prefetch(X, draws, j + _PREFETCH)
        count = find_hits(X, y, draws[j], s, v, hits)

        s *= decay[j]
        if not least < abs(s) < _GREATEST_SCALE:
            if averaging:
                u -= a * v
                a = 0.0
            v *= s
            s = 1.0
            square = squared_norm(v)

        for h in range(count):
            i = hits[h]
            c = eta[j] * y[i] / (s * len(draws[j]))
            square = add_row(X, i, c, v, square, projecting)
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
        for j in range(len(order)):
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


def row_dot(X: Any, i: int, v: Any) -> float:
    """Return <x_i, v>."""
    if isinstance(X, tuple):
        data, indices, indptr = X
        row = slice(indptr[i], indptr[i + 1])
        return float(data[row].dot(v[indices[row]]))
    return float(X[i].dot(v))


def add_row(X: Any, i: int, c: float, v: Any, square: float, wanted: bool) -> float:
    """Add c x_i to v in place; return the new ||v||^2 if it is wanted, given the old one."""
    if not isinstance(X, tuple):
        v += c * X[i]
        return float(v.dot(v)) if wanted else square
    data, indices, indptr = X
    row = slice(indptr[i], indptr[i + 1])
    columns = indices[row]
    old = v[columns]
    new = old + c * data[row]
    v[columns] = new
    return square + float((new - old).dot(new + old)) if wanted else square


def find_hits(X: Any, y: Any, batch: Any, s: float, v: Any, hits: Any) -> int:
    """Put the examples of the batch with y_i <s v, x_i> < 1 first in `hits`; return how many."""
    if len(batch) == 1 or isinstance(X, tuple):
        return test_each(X, y, batch, s, v, hits)
    violators = batch[s * y[batch] * (X[batch] @ v) < 1.0]
    hits[: len(violators)] = violators
    return len(violators)


def test_each(X: Any, y: Any, batch: Any, s: float, v: Any, hits: Any) -> int:
    """Find the hits one example after the other, which is how compiled code does it too."""
    count = 0
    for i in batch:
        if s * y[i] * row_dot(X, i, v) < 1.0:
            hits[count] = i
            count += 1
    return count


def squared_norm(v: Any) -> float:
    """Return ||v||^2."""
    return float(v.dot(v))


def prefetch(X: Any, draws: Any, j: int) -> None:
    """Ask for the first row of step j, if there is such a step; only compiled code does."""


@cache
def _compiled() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Register the compiled row operations, and return the compiled loops."""
    import numba
    from llvmlite import ir  # type: ignore[import-untyped]
    from numba.extending import intrinsic, overload

    # Sums in any order, but infinities and NaN as IEEE has them: a diverging run must show.
    loose: Any = {"fastmath": {"reassoc", "contract", "nsz"}}

    def dense_dot(X: Any, i: int, v: Any) -> float:
        total = 0.0
        for j in range(v.shape[0]):
            total += X[i, j] * v[j]
        return total

    def csr_dot(X: Any, i: int, v: Any) -> float:
        data, indices, indptr = X
        start, stop = indptr[i], indptr[i + 1]
        # Four sums, so that one addition need not wait for the one before.
        t0 = t1 = t2 = t3 = 0.0
        whole = start + (stop - start) // 4 * 4
        for p in range(start, whole, 4):
            t0 += data[p] * v[indices[p]]
            t1 += data[p + 1] * v[indices[p + 1]]
            t2 += data[p + 2] * v[indices[p + 2]]
            t3 += data[p + 3] * v[indices[p + 3]]
        for p in range(whole, stop):
            t0 += data[p] * v[indices[p]]
        return (t0 + t1) + (t2 + t3)

    def dense_add(X: Any, i: int, c: float, v: Any, square: float, wanted: bool) -> float:
        for j in range(v.shape[0]):
            v[j] += c * X[i, j]
        return squared_norm(v) if wanted else square

    def csr_add(X: Any, i: int, c: float, v: Any, square: float, wanted: bool) -> float:
        data, indices, indptr = X
        for p in range(indptr[i], indptr[i + 1]):
            old = v[indices[p]]
            new = old + c * data[p]
            v[indices[p]] = new
            square += (new - old) * (new + old)
        return square

    def norm(v: Any) -> float:
        total = 0.0
        for j in range(v.shape[0]):
            total += v[j] * v[j]
        return total

    def touch_line(typing: Any, array: Any, place: Any) -> Any:
        """Prefetch the cache line of the element at a flat place."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            base = context.make_array(signature.args[0])(context, builder, args[0]).data
            pointer = builder.bitcast(builder.gep(base, [args[1]]), ir.IntType(8).as_pointer())
            flag = ir.IntType(32)
            kind = ir.FunctionType(ir.VoidType(), (pointer.type, flag, flag, flag))
            function = builder.module.declare_intrinsic("llvm.prefetch", (), kind)
            # For reading, to be kept in all caches, data.
            builder.call(function, [pointer, flag(0), flag(3), flag(1)])
            return context.get_dummy_value()

        return numba.void(array, numba.types.intp), generate

    touch: Any = intrinsic(touch_line)

    def dense_prefetch(X: Any, draws: Any, j: int) -> None:
        pass  # long rows: the processor sees the pattern by itself

    def csr_prefetch(X: Any, draws: Any, j: int) -> None:
        data, indices, indptr = X
        if j + _PREFETCH < len(draws):
            touch(indptr, draws[j + _PREFETCH, 0])
        if j < len(draws):
            i = draws[j, 0]
            for place in range(indptr[i], indptr[i + 1], 8):
                touch(data, place)
                touch(indices, place)

    def replace(
        name: Callable[..., Any], dense: Callable[..., Any], csr: Callable[..., Any]
    ) -> None:
        def of_dense(X: Any, *rest: Any) -> Any:
            return None if isinstance(X, numba.types.BaseTuple) else dense

        def of_csr(X: Any, *rest: Any) -> Any:
            return csr if isinstance(X, numba.types.BaseTuple) else None

        overload(name, jit_options=loose, strict=False)(of_dense)
        overload(name, strict=False)(of_csr)

    replace(row_dot, dense_dot, csr_dot)
    replace(add_row, dense_add, csr_add)
    replace(find_hits, test_each, test_each)
    replace(squared_norm, norm, norm)
    replace(prefetch, dense_prefetch, csr_prefetch)
    return _cached_njit(take_steps), _cached_njit(take_sweeps)


def _cached_njit(loop: Callable[..., Any]) -> Any:
    import numba

    try:
        return numba.njit(cache=True)(loop)
    except RuntimeError:  # no folder to keep the compiled code in
        return numba.njit(loop)


def steps_loop() -> Callable[..., None]:
    """Return `take_steps`, compiled if that is enabled."""
    return _compiled()[0] if jit_enabled() else take_steps


def sweeps_loop() -> Callable[..., tuple[int, float]]:
    """Return `take_sweeps`, compiled if that is enabled."""
    return _compiled()[1] if jit_enabled() else take_sweeps
