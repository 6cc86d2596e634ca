"""Pegasos that watches the objective, and what it may do at a rise: undo, two-out, probability."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._checks import check_choice, check_count, check_positive, check_start
from ._kernels import add_row, row_dot, rows_of
from .online import check_radius, prepare
from .problem import FloatArray, HingeProblem, IntArray
from .projections import nearest_in_l2_ball
from .run import Average, Run
from .sampling import Seed, make_rng

Test = Literal["full", "alive", "instantaneous"]


@dataclass(frozen=True, eq=False)
class OutlierRun(Run):
    """Hold the result of `outlier_pegasos`: a `Run` with what the watch saw and did.

    Attributes
    ----------
    rises : ndarray of int, shape (r,)
        The steps t at which the candidate had a higher objective than w_t.
    rejected : int
        Number of steps that were taken back: all rises with undo, else none.
    flags : ndarray of int, shape (n,)
        How often each example was in the batch of a rise; all 0 without two-out.
    alive : ndarray of bool, shape (n,)
        The examples that were not removed.
    p : ndarray, shape (n,)
        Weights in (0, 1] of the sampling; all 1 without probability. A living example i is drawn
        with probability p_i / sum of p over the living.
    removed, removed_at : ndarray of int, shape (m,)
        The removed examples in order, and the step of each.
    step_evaluations, test_evaluations : int
        Work in example evaluations: k a step, and what the tests took beside: n (or k, if
        instantaneous) wherever the candidate is not a multiple of w_t.
    trace_evaluations : ndarray of int, shape (len(trace),)
        Work of steps and tests until each iterate of the trace.
    """

    rises: IntArray = field(repr=False)
    rejected: int
    flags: IntArray = field(repr=False)
    alive: NDArray[np.bool_] = field(repr=False)
    p: FloatArray = field(repr=False)
    removed: IntArray = field(repr=False)
    removed_at: IntArray = field(repr=False)
    step_evaluations: int
    test_evaluations: int
    trace_evaluations: IntArray = field(repr=False)

    @property
    def accepted(self) -> int:
        """Return the number of steps that were not taken back."""
        return self.n_iter - self.rejected

    @property
    def evaluations(self) -> int:
        """Return the whole work in example evaluations."""
        return self.step_evaluations + self.test_evaluations


def outlier_pegasos(
    problem: HingeProblem,
    *,
    n_iter: int,
    rng: Seed = 0,
    undo: bool = False,
    two_out: int | None = None,
    probability: float | None = None,
    p_min: float = 0.01,
    importance_weights: bool = False,
    test: Test = "full",
    batch_size: int = 1,
    project: bool | float = True,
    average: Average | None = "uniform",
    record: int | Iterable[int] | None = None,
    w0: ArrayLike | None = None,
    draws: ArrayLike | None = None,
) -> OutlierRun:
    """Minimise P by Pegasos, and test at every step whether an objective rises.

    Step t draws A_t from the living examples, k independent times, i with probability q_i
    proportional to p_i. Its candidate is the projection of
    (1 - 1/t) w_t + (1/(lam t k)) sum of c_i y_i x_i over the i in A_t with y_i <w_t, x_i> < 1.
    If the objective rises from w_t to the candidate, then, in this order and each if asked for,
    undo sets w_{t+1} = w_t in its place; two-out flags every example of A_t, and removes those
    with `two_out` flags; probability lowers p_i of every example of A_t. An example that A_t holds
    twice is flagged and lowered once. With none of the three, this is Pegasos with a watch.

    Parameters
    ----------
    problem : HingeProblem
    n_iter : int
        Number T of steps.
    rng : int or numpy.random.Generator
        Seed or source of the draws. They are those of `pegasos` for the same seed, except where
        an example that was removed, or whose p_i fell, gives way to another one.
    undo : bool
        Take back a step that raises the objective. It may never move from w_t at a kink.
    two_out : int, optional
        Number of flags at which an example is removed; 2 in the source. If all would go, the one
        drawn first stays. Flags are never taken back, so that clean examples go too if the run is
        long.
    probability : float, optional
        Factor gamma in (0, 1) by which p_i falls; 0.5 is a good start.
    p_min : float
        Least p_i, in (0, 1], so that no example is forgotten.
    importance_weights : bool
        c_i = 1/(n q_i): the steps follow the loss (1/n) sum over the living, which is that of P
        while none is removed. With c_i = 1 they follow sum q_i loss_i, another problem.
    test : {"full", "alive", "instantaneous"}
        The objective that is tested: P, the removed examples included; the same with the mean
        over the living, at both points; or that of A_t alone, which is cheap and seldom rises.
        The first two cost a pass over the data wherever the batch holds a violated margin.
    batch_size : int
        Number k of draws a step.
    project : bool or float
        Keep the iterates in the l2 ball of radius 1/sqrt(lam); a number is a radius of its own.
    average, record
        As for `pegasos`.
    w0 : array_like, shape (d,), optional
        Start w_1, which is not projected; 0 by default.
    draws : array_like of int, shape (T,) or (T, k), optional
        Replays these examples in place of drawing.

    Returns
    -------
    OutlierRun
        Its `seconds` contain the tests, and the draws that depend on them.

    Raises
    ------
    ValueError
        If an option is out of its range, or `draws` holds an example after its removal.

    References
    ----------
    Ryu and Choi, "Variants of Pegasos", CS229, Stanford (2009), whose pseudo-code is repaired
    here: the candidate is projected first and then tested, and probability has a rule.
    """
    rng = make_rng(rng)
    recorder, used = prepare(problem, n_iter, rng, batch_size, True, "iid", average, record, draws)
    radius = check_radius(project, problem.lam)
    suspects = _Suspects(problem.n, two_out, probability, p_min)
    w1 = np.zeros(problem.d) if w0 is None else check_start(w0, (problem.d,))
    watch = _Watch(test, problem, w1)

    rows, labels = rows_of(problem), problem.y.tolist()
    lam, k = problem.lam, used.shape[1]
    w, total, seconds, done = w1, np.zeros(problem.d), 0.0, 0
    rises: list[int] = []
    work: dict[int, int] = {}
    for stop in recorder.stops:
        start = time.perf_counter()
        # Numbers near the largest may make w overflow, and the run is to show it.
        with np.errstate(over="ignore", invalid="ignore"):
            for t in range(done + 1, stop + 1):
                if average is not None:
                    total += t * w if average == "weighted" else w
                batch = used[t - 1]
                if draws is None:
                    suspects.replace(batch, rng)
                else:
                    suspects.check_alive(batch, t)

                decay = (t - 1) / t
                candidate = decay * w
                hits = batch[watch.margins(batch) < 1.0].tolist()
                for i in hits:
                    c = suspects.importance(i) if importance_weights else 1.0
                    add_row(rows, i, c * labels[i] / (lam * t * k), candidate, 0.0, False)
                shrink = nearest_in_l2_ball(candidate, radius)

                rose = watch.rises(candidate, None if hits else decay * shrink)
                if not (rose and undo):
                    w = candidate
                    watch.accept()
                if rose:
                    rises.append(t)
                    watch.remove(suspects.blame(batch, t))
        seconds += time.perf_counter() - start
        recorder.keep(stop, w, total, seconds)
        work[stop] = k * stop + watch.evaluations
        done = stop

    run, gone = recorder.run(w1, used[:, 0] if k == 1 else used), suspects.removed
    return OutlierRun(
        **vars(run),
        rises=np.array(rises, dtype=np.int64),
        rejected=len(rises) if undo else 0,
        flags=suspects.flags,
        alive=suspects.alive,
        p=suspects.p,
        removed=np.array(list(gone), dtype=np.int64),
        removed_at=np.array(list(gone.values()), dtype=np.int64),
        step_evaluations=k * run.n_iter,
        test_evaluations=watch.evaluations,
        trace_evaluations=np.array([work[s] for s in run.trace.iteration.tolist()], dtype=np.int64),
    )


class _Watch:
    """Compare an objective at w and at a candidate, and count the example evaluations it takes.

    The margins at w are kept, on all examples or, if instantaneous, on the batch alone.
    """

    def __init__(self, test: str, problem: HingeProblem, w: FloatArray) -> None:
        check_choice(test, "test", ("full", "alive", "instantaneous"))
        self._problem, self._rows = problem, rows_of(problem)
        self._instantaneous, self._only_alive = test == "instantaneous", test == "alive"
        self._batch: IntArray | None = None
        self._counted, self._size = np.ones(problem.n), problem.n
        self.evaluations, self._w, self._margins = 0, w, np.zeros(problem.n)
        if w.any() and not self._instantaneous:
            self._margins = self._evaluate(w)
        self._f = self._objective(w, self._margins)

    def margins(self, batch: IntArray) -> FloatArray:
        """Return the margins of the batch at w."""
        if not self._instantaneous:
            return self._margins[batch]
        self._batch, self._margins = batch, self._batch_margins(batch, self._w)
        self._counted, self._size = np.ones(len(batch)), len(batch)
        self._f = self._objective(self._w, self._margins)
        return self._margins

    def rises(self, candidate: FloatArray, scale: float | None) -> bool:
        """Return whether the objective is higher there; the candidate is scale w unless None."""
        margins = self._evaluate(candidate) if scale is None else scale * self._margins
        self._next = candidate, margins, self._objective(candidate, margins)
        return self._next[2] > self._f

    def accept(self) -> None:
        """Make the candidate the new w."""
        self._w, self._margins, self._f = self._next

    def remove(self, examples: list[int]) -> None:
        """Leave the removed examples out, if only the living count."""
        if self._only_alive and examples:
            self._counted[examples] = 0.0
            self._size -= len(examples)
            self._f = self._objective(self._w, self._margins)

    def _evaluate(self, w: FloatArray) -> FloatArray:
        if self._batch is None:
            self.evaluations += self._problem.n
            return self._problem.margins(w)
        self.evaluations += len(self._batch)
        return self._batch_margins(self._batch, w)

    def _batch_margins(self, batch: IntArray, w: FloatArray) -> FloatArray:
        if len(batch) == 1:
            return self._problem.y[batch] * row_dot(self._rows, int(batch[0]), w)
        return cast(FloatArray, self._problem.y[batch] * (self._problem.X[batch] @ w))

    def _objective(self, w: FloatArray, margins: FloatArray) -> float:
        loss = float(np.maximum(0.0, 1.0 - margins).dot(self._counted)) / self._size
        return 0.5 * self._problem.lam * float(w.dot(w)) + loss


class _Suspects:
    """Hold flags, weights and who is alive, and draw from the living; never all are removed."""

    def __init__(
        self, n: int, two_out: int | None, probability: float | None, p_min: float
    ) -> None:
        self._two_out = None if two_out is None else check_count(two_out, "two_out", 1)
        self._gamma = probability
        if probability is not None:
            check_positive(probability, "probability")
            if probability >= 1.0:
                raise ValueError(f"probability must be a factor below 1; got {probability!r}")
        self._p_min = check_positive(p_min, "p_min")
        if self._p_min > 1.0:
            raise ValueError(f"p_min must be at most 1, where all p_i start; got {p_min!r}")
        self.flags, self.p = np.zeros(n, dtype=np.int64), np.ones(n)
        self.alive = np.ones(n, dtype=bool)
        self.removed: dict[int, int] = {}
        self._sums: FloatArray | None = None

    def replace(self, batch: IntArray, rng: np.random.Generator) -> None:
        """Turn uniform draws from all n examples into draws from q, in place.

        A uniform i that is kept with probability p_i has, if kept, the distribution q; if not, a
        fresh draw from q takes its place.
        """
        for place, i in enumerate(batch.tolist()):
            kept = self.p[i] if self.alive[i] else 0.0
            if kept < 1.0 and rng.random() >= kept:
                sums = self._cumulative()
                batch[place] = np.searchsorted(sums, rng.random() * sums[-1], side="right")

    def check_alive(self, batch: IntArray, t: int) -> None:
        """Refuse a given batch that holds a removed example."""
        for i in batch.tolist() if self.removed else ():
            if i in self.removed:
                raise ValueError(
                    f"draws must hold living examples only; step {t} uses example {i}, which was "
                    f"removed at step {self.removed[i]}"
                )

    def importance(self, i: int) -> float:
        """Return 1/(n q_i)."""
        return float(self._cumulative()[-1] / (len(self.p) * self.p[i]))

    def blame(self, batch: IntArray, t: int) -> list[int]:
        """Flag and lower the examples of a rise at step t; return those that are removed."""
        examples, out = list(dict.fromkeys(batch.tolist())), []
        if self._two_out is not None:
            self.flags[examples] += 1
            out = [i for i in examples if self.flags[i] >= self._two_out]
            # They have equally many flags, two_out, unless it is the last one alive.
            if len(out) == len(self.p) - len(self.removed):
                del out[0]
            self.alive[out] = False
            self.removed.update(dict.fromkeys(out, t))
        if self._gamma is not None:
            self.p[examples] = np.maximum(self._p_min, self._gamma * self.p[examples])
        if out or self._gamma is not None:
            self._sums = None
        return out

    def _cumulative(self) -> FloatArray:
        # A pass over n numbers after a change, which itself is rare or has cost a pass over X.
        if self._sums is None:
            self._sums = np.cumsum(self.p * self.alive)
        return self._sums
