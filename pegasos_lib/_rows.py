"""Row operations, in NumPy and compiled, out of which the inner loops are made.

The loops of `_kernels` are plain Python over these. The NumPy forms stand here as functions;
`register` gives Numba compiled forms to put in their place. Both come for dense rows (X is a 2-D
array) and for CSR rows (X is the tuple (data, indices, indptr)).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

PREFETCH = 2  # steps ahead; worth a factor of 1.6 on 200,000 x 47,236 CSR data


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


def find_hits(X: Any, y: Any, draws: Any, j: int, s: float, v: Any, hits: Any) -> int:
    """Put the examples of draws[j] with y_i <s v, x_i> < 1 first in `hits`; return how many."""
    batch, count = draws[j], 0
    if len(batch) > 1 and not isinstance(X, tuple):
        violators = batch[s * y[batch] * (X[batch] @ v) < 1.0]
        hits[: len(violators)] = violators
        return len(violators)
    for i in batch:
        if s * y[i] * row_dot(X, i, v) < 1.0:
            hits[count] = i
            count += 1
    return count


def row_square(X: Any, i: int) -> float:
    """Return ||x_i||^2.

    In a step that just read the row this is quicker than to read `squared_norms`, whose i-th
    place is in no cache.
    """
    if isinstance(X, tuple):
        data, _, indptr = X
        entries = data[indptr[i] : indptr[i + 1]]
        return float(entries.dot(entries))
    return float(X[i].dot(X[i]))


def squared_norm(v: Any) -> float:
    """Return ||v||^2."""
    return float(v.dot(v))


def maximised(alpha: float, slack: float, square: float, scale: float) -> float:
    """Return the alpha_i that maximises the dual along its coordinate.

    Parameters
    ----------
    alpha, slack : alpha_i before, and 1 - m_i at w(alpha)
    square : ||x_i||^2
    scale : lam n
    """
    # The dual is linear along a zero row, with slope 1/n.
    new = alpha + scale * slack / square if square > 0.0 else 1.0
    return min(max(new, 0.0), 1.0)


def coordinate_gap(alpha: float, slack: float) -> float:
    """Return (1 - alpha_i) max(0, 1 - m_i) + alpha_i max(0, m_i - 1), where `slack` is 1 - m_i."""
    return (1.0 - alpha) * slack if slack > 0.0 else -alpha * slack


def prefetch(X: Any, draws: Any, j: int) -> None:
    """Ask for the first row of step j, if there is such a step; only compiled code does."""


def register() -> None:
    """Give Numba the compiled row operations, which it then puts in place of these."""
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
        start, stop = indptr[i], indptr[i + 1]
        if not wanted:
            for p in range(start, stop):
                v[indices[p]] += c * data[p]
            return square
        # Two sums, for the same reason; a row names no column twice.
        t0 = t1 = 0.0
        whole = start + (stop - start) // 2 * 2
        for p in range(start, whole, 2):
            a0, a1 = v[indices[p]], v[indices[p + 1]]
            b0, b1 = a0 + c * data[p], a1 + c * data[p + 1]
            v[indices[p]] = b0
            v[indices[p + 1]] = b1
            t0 += (b0 - a0) * (b0 + a0)
            t1 += (b1 - a1) * (b1 + a1)
        for p in range(whole, stop):
            a0 = v[indices[p]]
            b0 = a0 + c * data[p]
            v[indices[p]] = b0
            t0 += (b0 - a0) * (b0 + a0)
        return square + (t0 + t1)

    def hits_of(X: Any, y: Any, draws: Any, j: int, s: float, v: Any, hits: Any) -> int:
        count = 0
        for h in range(draws.shape[1]):
            i = draws[j, h]
            if s * y[i] * row_dot(X, i, v) < 1.0:
                hits[count] = i
                count += 1
        return count

    def norm(v: Any) -> float:
        total = 0.0
        for j in range(v.shape[0]):
            total += v[j] * v[j]
        return total

    def dense_square(X: Any, i: int) -> float:
        return squared_norm(X[i])

    def csr_square(X: Any, i: int) -> float:
        data, _, indptr = X
        return squared_norm(data[indptr[i] : indptr[i + 1]])

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
        # Where there is no such step, the last row again: branches would leave the counts of
        # references to these arrays in the loop, and cost more.
        last = len(draws) - 1
        touch(indptr, draws[min(j + PREFETCH, last), 0])
        i = draws[min(j, last), 0]
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

        # A call would hand over all fields of all arrays, and count references to them: 60 ns.
        inlined: Any = {"forceinline": True}
        overload(name, jit_options=loose | inlined, strict=False)(of_dense)
        overload(name, jit_options=inlined, strict=False)(of_csr)

    replace(row_dot, dense_dot, csr_dot)
    replace(add_row, dense_add, csr_add)
    replace(find_hits, hits_of, hits_of)
    replace(row_square, dense_square, csr_square)
    replace(squared_norm, norm, norm)
    replace(prefetch, dense_prefetch, csr_prefetch)
    overload(maximised, strict=False)(lambda alpha, slack, square, scale: maximised)
    overload(coordinate_gap, strict=False)(lambda alpha, slack: coordinate_gap)
