"""What every solver returns: the last iterate, an average, and the iterates that were kept."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, cast

import numpy as np

from ._checks import check_count
from .problem import FloatArray, HingeProblem, IntArray

Average = Literal["uniform", "weighted", "suffix"]
# The running sum of the iterates gives w_t the weight t**power.
AVERAGES = {"uniform": 0, "weighted": 1, "suffix": 0}


@dataclass(frozen=True, eq=False)
class Trace:
    """Hold the iterates kept by a solver, and evaluate the objective on them when asked.

    Attributes
    ----------
    iteration : ndarray of int, shape (m,)
        Number of steps taken when the iterate was kept; 0 means w_1.
    w : ndarray, shape (m, d)
        w_{s+1} for each count s in `iteration`.
    w_average : ndarray, shape (m, d), or None
        The run's average over w_1..w_s (at s = 0 it is w_1); None if none was asked for.
    seconds : ndarray, shape (m,)
        Time spent in the steps until then; keeping iterates is not counted.
    """

    problem: HingeProblem = field(repr=False)
    iteration: IntArray
    w: FloatArray = field(repr=False)
    w_average: FloatArray | None = field(repr=False)
    seconds: FloatArray = field(repr=False)

    def __len__(self) -> int:
        return len(self.iteration)

    @cached_property
    def objective(self) -> FloatArray:
        """Return P(w) for every kept iterate, shape (m,); evaluated at the first access."""
        return cast(FloatArray, self.problem.objective(self.w))

    @cached_property
    def objective_average(self) -> FloatArray:
        """Return P of every kept average, shape (m,); evaluated at the first access.

        Raises
        ------
        AttributeError
            If the run kept no average.
        """
        if self.w_average is None:
            raise AttributeError("the run kept no average: ask the solver for average='uniform'")
        return cast(FloatArray, self.problem.objective(self.w_average))


@dataclass(frozen=True, eq=False)
class Run:
    """Hold the result of a solver.

    Attributes
    ----------
    w : ndarray, shape (d,)
        Last iterate w_{T+1}.
    w_average : ndarray, shape (d,), or None
        Average of w_1..w_T as asked for; it does not contain w_{T+1}.
    n_iter : int
        Number T of steps taken.
    trace : Trace
    draws : ndarray of int, shape (T,) or (T, k), or None
        The examples used at each step, fit to be given back as `draws`; None if none were drawn.
    seconds : float
        Time spent in the steps, without drawing, keeping iterates or compiling.
    """

    w: FloatArray = field(repr=False)
    w_average: FloatArray | None = field(repr=False)
    n_iter: int
    trace: Trace = field(repr=False)
    draws: IntArray | None = field(repr=False)
    seconds: float


@dataclass(frozen=True, eq=False)
class DualRun(Run):
    """Hold the result of a dual solver: a `Run` with its certificate.

    Attributes
    ----------
    alpha : ndarray, shape (n,)
        Dual variables in [0, 1], with w = w(alpha).
    gap : float
        P(w) - D(alpha) >= P(w) - P(w*), computed at the end from `alpha` alone.
    visits : int
        Number of coordinate steps made; with shrinking, rows that are left unread count as none.
    """

    alpha: FloatArray = field(repr=False)
    gap: float
    visits: int


def record_counts(record: int | Iterable[int] | None, n_iter: int) -> IntArray:
    """Return the sorted step counts at which a solver keeps its iterate.

    Parameters
    ----------
    record : None, int or iterable of int
        None keeps the last iterate alone; an integer keeps that many counts spaced evenly on a
        log scale from 1 to n_iter (fewer where they coincide); an iterable names the counts.
    n_iter : int

    Raises
    ------
    ValueError
        If a count is not an integer in 0..n_iter.
    """
    if record is None:
        return np.array([n_iter], dtype=np.int64)
    if isinstance(record, (int, np.integer)):
        number = check_count(record, "record", 1)
        if n_iter == 0 or number == 1:
            return np.array([n_iter], dtype=np.int64)
        return np.unique(np.rint(np.geomspace(1, n_iter, number)).astype(np.int64))
    counts = np.asarray(list(record) if isinstance(record, Iterable) else record)
    if counts.ndim != 1 or counts.size == 0 or counts.dtype.kind not in "iu":
        raise ValueError(
            "record must be None, a number of iterates to keep, or a list of step counts; "
            f"got {record!r}"
        )
    counts = np.unique(counts.astype(np.int64))
    if counts[0] < 0 or counts[-1] > n_iter:
        raise ValueError(
            f"record must name step counts in 0..{n_iter}; they reach from {counts[0]} "
            f"to {counts[-1]}"
        )
    return counts


def check_average(average: str | None) -> Average | None:
    """Return `average` after checking that it is None or one of `AVERAGES`."""
    if average is not None and average not in list(AVERAGES):
        raise ValueError(
            f"average must be one of {', '.join(AVERAGES)}, or None for the last iterate alone; "
            f"got {average!r}"
        )
    return cast("Average | None", average)


def power_of(average: Average | None) -> int:
    """Return the power of t that weighs w_t in the running sum; -1 where none is kept."""
    return -1 if average is None else AVERAGES[average]


def mean_iterate(total: FloatArray, s: int, average: str) -> FloatArray:
    """Return sum_{t<=s} q_t w_t / sum_{t<=s} q_t, given the first sum; q_t is t or 1."""
    return total / (s * (s + 1) // 2 if AVERAGES[average] == 1 else s)


class Recorder:
    """Collect what a solver keeps on its way, and make its `Run` of it.

    A solver calls `keep` at every count of `stops`, with the iterate and the running sum
    sum_{t<=s} q_t w_t, where q_t = t for the "weighted" average and 1 otherwise.

    Parameters
    ----------
    problem : HingeProblem
    n_iter : int
    average : {"uniform", "weighted", "suffix"} or None
    record : see `record_counts`

    Attributes
    ----------
    stops : list of int
        Sorted step counts at which something is kept; n_iter is the last.
    """

    def __init__(
        self,
        problem: HingeProblem,
        n_iter: int,
        average: str | None,
        record: int | Iterable[int] | None,
    ) -> None:
        self.problem, self.n_iter = problem, n_iter
        self.average = check_average(average)
        self._counts: list[int] = record_counts(record, n_iter).tolist()
        self._ends = {*self._counts, n_iter}
        # The last half of s steps is a difference of two sums.
        self._halves = {s // 2 for s in self._ends} if average == "suffix" else set()
        self.stops = sorted(self._ends | self._halves)
        self._w: dict[int, FloatArray] = {}
        self._sums: dict[int, FloatArray] = {}
        self._seconds: dict[int, float] = {}

    def keep(self, count: int, w: FloatArray, total: FloatArray, seconds: float) -> None:
        """Keep copies of the iterate w_{count+1} and of the running sum over w_1..w_count."""
        if count in self._ends:
            self._w[count], self._seconds[count] = w.copy(), seconds
        if self.average is not None:
            self._sums[count] = total.copy()

    def follow(
        self,
        take: Callable[[int, int], None],
        read: Callable[[], tuple[FloatArray, FloatArray]],
    ) -> None:
        """Have the steps taken, timed, and keep what `read` gives of w and the sum at each stop.

        `take(done, stop)` takes the steps from the first that is not done to the stop.
        """
        seconds, done = 0.0, 0
        for stop in self.stops:
            start = time.perf_counter()
            take(done, stop)
            seconds += time.perf_counter() - start
            self.keep(stop, *read(), seconds)
            done = stop

    def run(self, w1: FloatArray, draws: IntArray | None) -> Run:
        """Return the finished run."""
        averages = {s: self._average(s, w1) for s in self._ends} if self.average else {}
        trace = Trace(
            problem=self.problem,
            iteration=np.array(self._counts, dtype=np.int64),
            w=np.stack([self._w[s] for s in self._counts]),
            w_average=np.stack([averages[s] for s in self._counts]) if averages else None,
            seconds=np.array([self._seconds[s] for s in self._counts]),
        )
        return Run(
            w=self._w[self.n_iter],
            w_average=averages.get(self.n_iter),
            n_iter=self.n_iter,
            trace=trace,
            draws=draws,
            seconds=self._seconds[self.n_iter],
        )

    def _average(self, s: int, w1: FloatArray) -> FloatArray:
        if s == 0:
            return w1.copy()
        if self.average == "suffix":
            return (self._sums[s] - self._sums[s // 2]) / (s - s // 2)
        return mean_iterate(self._sums[s], s, cast(Average, self.average))
