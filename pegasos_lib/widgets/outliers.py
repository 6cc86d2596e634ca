"""Pegasos that watches for outliers: undo, two-out and probability on points of the plane."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, cast

import numpy as np
import traitlets
from numpy.typing import NDArray

from ..online import pegasos
from ..outliers import OutlierRun, Test, outlier_pegasos
from ..problem import FloatArray, HingeProblem, IntArray
from ..run import Run
from .base import Between, PointsFigure, check_interval, script
from .pegasos import figure_draws, figure_integers

KINDS = ("flipped", "far")
TESTS = ("full", "alive", "instantaneous")
AXES = ("steps", "work")
MEASURES = ("all", "clean")
SUSPECTS = ("removed", "flagged", "doubted")
LAM = (1e-4, 10.0)
SHARE = (0.0, 0.5)
GAMMA = (0.1, 0.9)
THRESHOLD = (2, 6)
N_ITER = (1, 2000)
LIMIT = 120
FAR = -2.0  # what a far point is multiplied by
DOUBT = 0.5  # an example of lower weight than this is doubted

# A line through 0 separates them: what is then removed without an outlier is removed for nothing.
_POINTS = [
    (2.22, -0.75), (-0.87, -0.97), (0.85, 0.54), (-2.21, -0.79), (0.62, 2.49), (-0.98, -0.85),
    (0.95, 0.29), (-1.68, -0.87), (1.37, 0.53), (-0.57, -0.77), (1.11, 1.51), (-0.8, -0.94),
    (1, 0.96), (-0.04, -0.81), (0.97, 1.21), (-1.59, -0.82), (1.59, 0.98), (-1.05, -0.29),
    (-0.46, 1.22), (-1.63, -1.58), (1.25, 1.05), (-1.34, -1.25), (1.11, 0.63), (-0.33, -0.25),
    (1.21, 1.27), (-1.21, -1.17), (1.42, 0.98), (-1.22, -1.09), (1.23, -0.71), (-0.72, -0.39),
    (0.2, 0.69), (-1.63, -0.24), (-0.02, 0.16), (-0.71, -0.02), (-0.09, 0.39), (-0.92, -1),
    (1.97, 0), (-0.91, -1.24), (1.87, 0.65), (-1.3, -1.61), (2.03, 1.07), (-0.69, -0.03),
    (1.29, 0.31), (-1.54, -1.1), (1.85, -0.14), (-1.43, -0.84), (1.22, 0.98), (-1.79, -1.61),
    (1.1, 1.33), (-0.68, -0.54), (0.93, 0.82), (-1.23, -0.21), (0.66, 0.73), (-1.16, -0.36),
    (1.22, 2.06), (-0.28, 0.16), (-0.02, 0.47), (-1.43, -0.37), (-0.15, 1.31), (-0.51, -1.38),
]  # fmt: skip
_LABELS = [1, -1] * 30


class OutliersExplorer(PointsFigure):
    """Put outliers among points, let a variant of Pegasos watch for them, and see whom it catches.

    Every argument is a trait: what the reader sets in the figure is read here, and what is set
    here is drawn there. The library's `outlier_pegasos` says what the variants do.

    Parameters
    ----------
    X : array_like, shape (n, 2), and y : array_like, shape (n,)
        Up to 120 clean points, coordinates from -1000 to 1000, with labels -1 and +1.
    share : float
        Share of them that is made an outlier, 0 to 0.5. A larger share keeps those of a smaller.
    outliers : {"flipped", "far"}
        An outlier has the other label, or lies at -2 x: on the other side, twice as far.
    lam : float
        The regularisation, 1e-4 to 10.
    batch_size : int
        Number k of draws a step, 1 to n.
    undo, two_out, probability, importance_weights : bool
        The parts of the variant; without any it is Pegasos with a watch.
    threshold : int
        Flags at which two-out removes an example, 2 to 6.
    gamma : float
        Factor by which probability lowers a weight, 0.1 to 0.9; no weight falls below 0.01.
    test : {"full", "alive", "instantaneous"}
        Which objective may not rise: that of all, of those not removed, or of the batch.
    start : list of float
        The start w_1, two numbers.
    seed : int
        Seed of the draws.
    n_iter : int
        Number T of steps, up to 2,000.
    t : int
        The step that is shown, 0 to T.
    axis : {"steps", "work"}
        What the objective is drawn against: steps, or evaluations of an example.
    measure : {"all", "clean"}
        Whose objective is drawn: that of all examples, or of those that are no outliers.

    Raises
    ------
    traitlets.TraitError
        If a value is out of its range; the message says what is expected.

    Notes
    -----
    The tasks, each after a guess, and what was measured on the first points:

    * "stall": 300 steps in a row refused, while P stays 0.04 or more above its minimum. Undo alone
      has 452 to 594 such steps at lam = 1e-4 with the seeds 1 to 10, and 5 to 53 at first
      (lam = 0.01). On one example, (1, 0) of class +1 with lam = 0.1 and w_1 = (1, 1), it refuses
      all (E001-09).
    * "clean": 30 points removed without an outlier, by a threshold of 4 or more. At lam = 0.01 the
      threshold 4 removes 1 to 13 of the 60 in 300 steps, and all but one in 1,000, with each of the
      seeds 1 to 10.
    * "precision": 8 removed or more, 0.75 of them outliers, with a share of at most 0.2. The best
      that the seeds 1 to 10 have at some step is 0.44 to 0.73 at first, 0.70 to 1 at lam = 5e-4
      with the threshold 4, and 0.23 to 0.56 at the same with k = 8.
    """

    kind = "outliers"
    alt = (
        "Three panels. Points of two classes with the line of w and its margins, squares around "
        "the outliers, numbers for flags and crosses on removed points; the suboptimality of a "
        "variant of Pegasos and of plain Pegasos on logarithmic axes; precision and recall of "
        "what was removed against the number of steps, the precision falling."
    )
    inputs: ClassVar[tuple[str, ...]] = (
        "X",
        "y",
        "share",
        "outliers",
        "lam",
        "batch_size",
        "undo",
        "two_out",
        "threshold",
        "probability",
        "gamma",
        "importance_weights",
        "test",
        "start",
        "seed",
        "n_iter",
        "t",
        "axis",
        "measure",
    )
    first_points = (_POINTS, _LABELS)
    most_points = LIMIT
    _esm = script("outliers")

    share = Between(0.2, *SHARE).tag(sync=True)
    outliers = traitlets.Enum(KINDS, "flipped").tag(sync=True)
    lam = Between(0.01, *LAM).tag(sync=True)
    batch_size = traitlets.Int(1).tag(sync=True)
    undo = traitlets.Bool(False).tag(sync=True)
    two_out = traitlets.Bool(True).tag(sync=True)
    threshold = traitlets.Int(2, min=THRESHOLD[0], max=THRESHOLD[1]).tag(sync=True)
    probability = traitlets.Bool(False).tag(sync=True)
    gamma = Between(0.5, *GAMMA).tag(sync=True)
    importance_weights = traitlets.Bool(False).tag(sync=True)
    test = traitlets.Enum(TESTS, "full").tag(sync=True)
    start = traitlets.List(traitlets.Float(), [0.0, 0.0], minlen=2, maxlen=2).tag(sync=True)
    seed = traitlets.Int(1, min=0, max=2**31 - 1).tag(sync=True)
    n_iter = traitlets.Int(1000, min=N_ITER[0], max=N_ITER[1]).tag(sync=True)
    t = traitlets.Int(200, min=0, max=N_ITER[1]).tag(sync=True)
    axis = traitlets.Enum(AXES, "steps").tag(sync=True)
    measure = traitlets.Enum(MEASURES, "all").tag(sync=True)

    @traitlets.validate("batch_size")
    def _check_batch_size(self, proposal: Any) -> int:
        return int(check_interval("batch_size", proposal["value"], 1, len(self.X)))

    @traitlets.validate("start")
    def _check_start(self, proposal: Any) -> list[float]:
        start = list(proposal["value"])
        if any(not abs(value) <= 1000 for value in start):
            raise traitlets.TraitError(
                f"start must hold two numbers between -1000 and 1000; got {start}"
            )
        return start

    @property
    def is_outlier(self) -> NDArray[np.bool_]:
        """Which of the points (n,) are made outliers."""
        n = len(self.X)
        mask = np.zeros(n, dtype=bool)
        # A product like 0.29 * 100 may lie just below the whole number that is meant.
        count = math.floor(self.share * n + 1e-9)
        mask[figure_draws(0, n, n, 1, "permutation")[:count]] = True
        return mask

    @property
    def problem(self) -> HingeProblem:
        """The problem of all points, the outliers among them."""
        X, y = np.array(self.X), np.array(self.y, dtype=float)
        if self.outliers == "flipped":
            y[self.is_outlier] *= -1.0
        else:
            X[self.is_outlier] *= FAR
        return HingeProblem(X, y, lam=self.lam)

    @property
    def clean_problem(self) -> HingeProblem:
        """The problem of the points that are no outliers."""
        kept = ~self.is_outlier
        return HingeProblem(
            np.array(self.X)[kept], np.array(self.y, dtype=float)[kept], lam=self.lam
        )

    def run(self, *, record: int | Iterable[int] | None = None) -> OutlierRun:
        """Run the library's variant on the draws of the figure.

        `record` is that of `pegasos_lib.outlier_pegasos`; `range(explorer.n_iter + 1)` keeps every
        iterate. The result's `draws` are the examples that the figure draws.
        """
        return self._run(self.n_iter, record)

    def plain(self, *, record: int | Iterable[int] | None = None) -> Run:
        """Run Pegasos on what the figure's seed draws before a variant replaces any of it."""
        k = self._k
        options: dict[str, Any] = {
            "n_iter": self.n_iter,
            "batch_size": k,
            "draws": figure_draws(self.seed, len(self.X), self.n_iter, k, "iid"),
            "record": record,
        }
        if any(self.start):
            # Only the solver with a watch starts elsewhere than at 0; without a variant it does
            # nothing else.
            return outlier_pegasos(self.problem, w0=self.start, **options)
        return pegasos(self.problem, **options)

    @property
    def draws(self) -> IntArray:
        """The examples that the variant draws: shape (T,), or (T, k) if k > 1."""
        return cast(IntArray, self.run(record=[0]).draws)

    @property
    def w(self) -> FloatArray:
        """The iterate w_{t+1} that the figure shows after step t."""
        w: FloatArray = self.run(record=[min(self.t, self.n_iter)]).trace.w[0]
        return w

    def suspects(self, who: str | None = None, t: int | None = None) -> NDArray[np.bool_]:
        """Tell which examples (n,) are suspected of being outliers.

        Parameters
        ----------
        who : {"removed", "flagged", "doubted"}, optional
            Those that two-out removed, those with a flag or more, removed or not, or those whose
            weight fell below 1/2. By default the removed ones with two-out, else the doubted ones.
        t : int, optional
            After how many steps; by default at the step that the figure shows.

        Raises
        ------
        ValueError
            If `who` is none of the three, or `t` is not between 0 and T.
        """
        who = who or ("removed" if self.two_out else "doubted")
        if who not in SUSPECTS:
            raise ValueError(f"who must be one of {', '.join(SUSPECTS)}; got {who!r}")
        t = min(self.t, self.n_iter) if t is None else t
        if not 0 <= t <= self.n_iter:
            raise ValueError(f"t must lie between 0 and {self.n_iter}; got {t!r}")
        run = self._run(t, [0])
        if who == "flagged":
            return run.flags > 0
        return ~run.alive if who == "removed" else run.p < DOUBT

    def precision_recall(self, who: str | None = None, t: int | None = None) -> tuple[float, float]:
        """Compare the suspects with the outliers that are there by construction.

        The arguments are those of `suspects`.

        Returns
        -------
        precision : float
            Share of outliers among the suspects; NaN if there is no suspect.
        recall : float
            Share of suspects among the outliers; NaN if there is no outlier.
        """
        suspects, outliers = self.suspects(who, t), self.is_outlier
        caught = int((suspects & outliers).sum())
        m, n = int(suspects.sum()), int(outliers.sum())
        return (caught / m if m else math.nan, caught / n if n else math.nan)

    @property
    def _k(self) -> int:
        return min(self.batch_size, len(self.X))

    def _run(self, n_iter: int, record: int | Iterable[int] | None) -> OutlierRun:
        return outlier_pegasos(
            self.problem,
            n_iter=n_iter,
            rng=_FigureDraws(self.seed),
            undo=self.undo,
            two_out=self.threshold if self.two_out else None,
            probability=self.gamma if self.probability else None,
            importance_weights=self.importance_weights,
            test=cast(Test, self.test),
            batch_size=self._k,
            w0=self.start,
            record=record,
        )


class _FigureDraws(np.random.Generator):
    """The figure's source of draws: one stream of examples, and one of what replaces them."""

    def __init__(self, seed: int):
        super().__init__(np.random.PCG64(0))
        self._seed = seed
        # A stream of its own: the seeds of the traits lie below 2^31.
        self._uniform = _uniform(seed + 2**31)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
    ) -> Any:
        n_iter, k = size
        return figure_draws(self._seed, low, n_iter, k, "iid").reshape(size).astype(dtype)

    def random(self, size: Any = None, dtype: Any = np.float64, out: Any = None) -> Any:
        return next(self._uniform)


def _uniform(seed: int) -> Iterator[float]:
    return (r / 2**32 for r in figure_integers(seed))
