"""Pegasos step by step: points, the objective's contours, and the curves of up to four runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, cast

import numpy as np
import traitlets

from ..online import sgd
from ..problem import FloatArray, HingeProblem, IntArray
from ..run import Average, Run
from ..steps import make_step
from .base import Between, PointsFigure, check_interval, script

STEPS = ("pegasos", "weighted", "inverse-time", "inverse-sqrt", "constant")
AVERAGES = ("last", "uniform", "weighted", "suffix")
VIEWS = ("follow", "optimum", "ball", "path")
LAM = (1e-5, 10.0)
STEP_C = (1e-3, 100.0)
N_ITER = (1, 2000)
RUNS_LIMIT = 4
SETTINGS = (
    "lam",
    "batch_size",
    "step",
    "step_c",
    "project",
    "average",
    "sampling",
    "seed",
    "n_iter",
)

# The figure's own first points: presetPoints("blobs", 40) of ui/presets.js, labels +1, -1, +1, ...
# fmt: off
POINTS = [
    (1.62, 1.38), (-1.81, -1.08), (-0.04, -0.69), (-2.35, -1.91), (1.33, -1.15), (-1.04, -1.27),
    (1.1, -0.04), (-0.89, -0.22), (0.9, 0.32), (-1.04, -1.87), (2.17, 0.04), (-0.27, -0.65),
    (1.31, 2.05), (-0.04, 0.26), (0.27, 0.7), (-1.99, -1.8), (0.21, 1.29), (-0.96, -1.01),
    (1.63, -0.12), (0.07, -1.09), (1.42, -0.32), (-0.91, -0.45), (1.93, 2.53), (-0.5, -0.55),
    (1.03, 1.61), (-1.87, 0.35), (1.11, 0.19), (-1.27, -0.67), (1.01, 1.53), (-1.3, 0.21),
    (1.8, -0.22), (-0.87, -0.47), (1.37, 0.1), (-1.91, -0.77), (0.03, 2.49), (-1.4, 0.84),
    (0.54, -0.22), (-0.16, 0.78), (1.53, -0.08), (0.16, -0.5),
]
# fmt: on
LABELS = [1, -1] * (len(POINTS) // 2)


class PegasosExplorer(PointsFigure):
    """Run Pegasos and its relatives on points of the plane, and look at every step.

    Every argument is a trait: what the reader sets in the figure is read here, and what is set
    here is drawn there.

    Parameters
    ----------
    X : array_like, shape (n, 2), and y : array_like, shape (n,)
        Up to 200 points, coordinates from -1000 to 1000, with labels -1 and +1.
    lam : float
        The regularisation, 1e-5 to 10.
    batch_size, n_iter, seed : int
        Size k of a mini-batch, number T of steps (up to 2,000), and the seed of the draws.
    step : {"pegasos", "weighted", "inverse-time", "inverse-sqrt", "constant"}
        The step rule; the last three have the factor `step_c`.
    project : bool
        Whether w is projected on the ball of radius 1/sqrt(lam) after each step.
    average : {"last", "uniform", "weighted", "suffix"}
        What is taken as the output.
    sampling : {"iid", "permutation"}
    t : int
        The step that is shown, 0 to T.
    view : {"follow", "optimum", "ball", "path"}
        Which part of the plane of w is shown.
    runs : list of dict
        Settings of up to four runs to compare with.

    Raises
    ------
    traitlets.TraitError
        If a value is out of its range; the message says what is expected.
    """

    kind = "pegasos"
    alt = (
        "Three panels. Points of two classes with the line of w and its margins; the plane of w "
        "with contours of the objective, the ball of radius one over the root of lambda and one "
        "step of Pegasos taken apart into shrinking, pushing and projecting; the suboptimality "
        "against the number of steps on logarithmic axes, under the bound of Theorem 2."
    )
    inputs: ClassVar[tuple[str, ...]] = (*SETTINGS, "t", "view", "runs", "X", "y")
    first_points = (POINTS, LABELS)
    _esm = script("pegasos")

    lam = Between(0.02, *LAM).tag(sync=True)
    batch_size = traitlets.Int(1).tag(sync=True)
    step = traitlets.Enum(STEPS, "pegasos").tag(sync=True)
    step_c = Between(1.0, *STEP_C).tag(sync=True)
    project = traitlets.Bool(True).tag(sync=True)
    average = traitlets.Enum(AVERAGES, "uniform").tag(sync=True)
    sampling = traitlets.Enum(("iid", "permutation"), "iid").tag(sync=True)
    seed = traitlets.Int(13, min=0, max=2**31 - 1).tag(sync=True)
    n_iter = traitlets.Int(400, min=N_ITER[0], max=N_ITER[1]).tag(sync=True)
    t = traitlets.Int(4, min=0, max=N_ITER[1]).tag(sync=True)
    view = traitlets.Enum(VIEWS, "follow").tag(sync=True)
    runs = traitlets.List(traitlets.Dict()).tag(sync=True)

    @traitlets.validate("batch_size")
    def _check_batch_size(self, proposal: Any) -> int:
        return int(check_interval("batch_size", proposal["value"], 1, len(self.X)))

    @traitlets.validate("runs")
    def _check_runs(self, proposal: Any) -> list[dict[str, Any]]:
        runs = proposal["value"]
        if len(runs) > RUNS_LIMIT or any(set(run) - set(SETTINGS) for run in runs):
            raise traitlets.TraitError(
                f"runs must hold at most {RUNS_LIMIT} dicts with keys among {', '.join(SETTINGS)}"
            )
        return list(runs)

    def settings(self) -> dict[str, Any]:
        """Return what makes the current run, in the form that `runs` takes."""
        return {name: getattr(self, name) for name in SETTINGS}

    @property
    def problem(self) -> HingeProblem:
        """The problem of the points and lambda that the figure shows."""
        return HingeProblem(np.array(self.X), np.array(self.y, dtype=float), lam=self.lam)

    @property
    def draws(self) -> IntArray:
        """The examples that the figure's run draws: shape (T,), or (T, k) if k > 1."""
        return figure_draws(
            self.seed, len(self.X), self.n_iter, min(self.batch_size, len(self.X)), self.sampling
        )

    def run(self, *, record: int | Iterable[int] | None = None) -> Run:
        """Run the library's solver on the draws of the figure.

        Parameters
        ----------
        record : None, int or iterable of int
            As in `pegasos_lib.sgd`; `range(explorer.n_iter + 1)` keeps every iterate.

        Returns
        -------
        Run
            Its `w` and `w_average` are what the figure shows after the last step.
        """
        return sgd(
            self.problem,
            n_iter=self.n_iter,
            step=make_step(self.step, self.lam, self.step_c),
            project=self.project,
            average=None if self.average == "last" else cast(Average, self.average),
            batch_size=min(self.batch_size, len(self.X)),
            draws=self.draws,
            record=record,
        )

    @property
    def w(self) -> FloatArray:
        """The iterate w_{t+1} that the figure shows after step t."""
        w: FloatArray = self.run(record=[min(self.t, self.n_iter)]).trace.w[0]
        return w


def figure_integers(seed: int) -> Iterator[int]:
    """Yield the 32-bit integers of engine.js's mulberry32, from a seed below 2^32."""
    # A counter and a mixing step, so that a block is computed at once.
    start = seed
    while True:
        with np.errstate(over="ignore"):
            state = np.uint32(start) + np.arange(1, 4097, dtype=np.uint32) * np.uint32(0x6D2B79F5)
            z = (state ^ (state >> np.uint32(15))) * (state | np.uint32(1))
            z ^= z + (z ^ (z >> np.uint32(7))) * (z | np.uint32(61))
            yield from (z ^ (z >> np.uint32(14))).tolist()
        start = int(state[-1])


def figure_draws(
    seed: int, n: int, n_iter: int, batch_size: int, sampling: str, replace: bool = True
) -> IntArray:
    """Draw the mini-batches that engine.js draws from the same seed.

    Tommy Ettinger's mulberry32 gives 32-bit integers; r mod n is taken where r lies under the
    largest multiple of n, and another r is drawn where it does not. With "permutation", the
    shuffle of Fisher and Yates goes on from one pass to the next; without replacement, its first
    batch_size exchanges do, from one batch to the next.

    Returns
    -------
    ndarray of int64, shape (n_iter,) if batch_size is 1, else (n_iter, batch_size)
    """
    numbers = figure_integers(seed % 2**32)

    def below(bound: int) -> int:
        limit = 2**32 - 2**32 % bound
        return next(r for r in numbers if r < limit) % bound

    count = n_iter * batch_size
    if sampling == "iid" and (replace or batch_size == 1):
        draws = [below(n) for _ in range(count)]
    else:
        draws, pool = [], list(range(n))
        exchanges, taken = (batch_size, batch_size) if sampling == "iid" else (n - 1, n)
        while len(draws) < count:
            for a in range(exchanges):
                b = a + below(n - a)
                pool[a], pool[b] = pool[b], pool[a]
            draws += pool[:taken]
    array = np.array(draws[:count], dtype=np.int64)
    return array if batch_size == 1 else array.reshape(n_iter, batch_size)
