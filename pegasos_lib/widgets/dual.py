"""Coordinate ascent on the dual, one alpha at a time: the gap that closes, and who is a support."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, ClassVar

import numpy as np
import traitlets
from numpy.typing import ArrayLike

from .._rows import maximised
from ..dual import sdca, sgd_initialisation
from ..problem import FloatArray, HingeProblem, IntArray
from ..run import DualRun
from .base import Between, PointsFigure, script
from .pegasos import figure_draws

ORDERS = ("permutation", "random", "you")
STARTS = ("zero", "sgd")
VIEWS = ("gap", "values")
LAM = (1e-3, 10.0)
N_EPOCHS = (1, 50)
MOVES = 2000
LIMIT = 40
EXACT = -1.0
# No gap is as small but 0: what is replayed stops early only where nothing is left to do.
NEVER = 1e-300

# At lam = 0.1 five are left at 0, five end at 1 and two in between, and no other margin comes
# within 0.3 of 1: what the line of w* shows is what alpha* is.
_POINTS = [
    (0.2, -0.5), (-0.5, -1.3), (1.4, 1.0), (2.4, 1.0), (-0.5, -0.7), (1.4, 0.3),
    (-1.4, -1.0), (0.0, 0.6), (-1.5, 0.2), (-1.5, -0.5), (-1.0, 2.0), (-0.9, -1.0),
]  # fmt: skip
_LABELS = [1] * 6 + [-1] * 6


class DualExplorer(PointsFigure):
    """Choose coordinates of the dual, or let SDCA choose, and see w(alpha) and the gap closing.

    Every argument is a trait: what the reader sets in the figure is read here, and what is set
    here is drawn there.

    Parameters
    ----------
    X : array_like, shape (n, 2), and y : array_like, shape (n,)
        Up to 40 points, coordinates from -1000 to 1000, with labels -1 and +1.
    lam : float
        The regularisation, 1e-3 to 10.
    order : {"permutation", "random", "you"}
        Each epoch in a random order, independent draws, or the reader's `picks`.
    start : {"zero", "sgd"}
        Start at alpha = 0, or after `pegasos_lib.sgd_initialisation`.
    n_epochs : int
        Epochs that "permutation" and "random" run, 1 to 50.
    seed : int
        Seed of the orders.
    picks : list of int
        The coordinates that the reader steps in, from 0 on, for "you"; at most 2,000.
    values : list of float
        What the reader sets alpha to in each of the picks, 0 to 1; -1, or nothing at the end of
        the list, is the exact step.
    printed : bool
        Whether a step is taken as document 004 prints it (E004-01).
    t : int
        The step that is shown, from 0 to the number of them.
    view : {"gap", "values"}
        What the curves show: the gap, on logarithmic axes, or P and D.

    Raises
    ------
    traitlets.TraitError
        If a value is out of its range; the message says what is expected.

    Notes
    -----
    The tasks, each after a guess, and what was measured on the first points:

    * "gap": at most 0.01 from alpha = 0 by n = 12 exact steps or fewer, at lam <= 0.1. Taking
      whichever alpha is farthest from its exact step needs 9 steps, the largest coordinate gap 8;
      random permutations with the seeds 1 to 20 need 22 to 54.
    * "slack": the case of every example at w*, from its line and margins: 0, inside, or 1.
    * "printed": a printed step that lowers the dual. Those with label +1 never do. From the start
      "sgd" the first epoch had one with each of the seeds 1 to 20; from 0 three seeds had one in
      ten epochs.
    """

    kind = "dual"
    alt = (
        "Three panels. Points of two classes with the line of w(alpha) and its margins, the "
        "support vectors with a ring; a bar between 0 and 1 for the dual variable of each "
        "example, and a mark across it where its exact step would go; the duality gap against "
        "epochs on logarithmic axes, falling, as the sum of what the primal and the dual lack."
    )
    inputs: ClassVar[tuple[str, ...]] = (
        "X",
        "y",
        "lam",
        "order",
        "start",
        "n_epochs",
        "seed",
        "picks",
        "values",
        "printed",
        "t",
        "view",
    )
    first_points = (_POINTS, _LABELS)
    most_points = LIMIT
    _esm = script("dual")

    lam = Between(0.1, *LAM).tag(sync=True)
    order = traitlets.Enum(ORDERS, "permutation").tag(sync=True)
    start = traitlets.Enum(STARTS, "zero").tag(sync=True)
    n_epochs = traitlets.Int(10, min=N_EPOCHS[0], max=N_EPOCHS[1]).tag(sync=True)
    seed = traitlets.Int(1, min=0, max=2**31 - 1).tag(sync=True)
    picks = traitlets.List(traitlets.Int()).tag(sync=True)
    values = traitlets.List(traitlets.Float()).tag(sync=True)
    printed = traitlets.Bool(False).tag(sync=True)
    t = traitlets.Int(12, min=0, max=MOVES).tag(sync=True)
    view = traitlets.Enum(VIEWS, "gap").tag(sync=True)

    @traitlets.validate("picks")
    def _check_picks(self, proposal: Any) -> list[int]:
        picks = list(proposal["value"])
        if len(picks) > MOVES or any(not 0 <= i < len(self.X) for i in picks):
            raise traitlets.TraitError(
                f"picks must hold at most {MOVES} numbers of examples, 0 to {len(self.X) - 1}"
            )
        return picks

    @traitlets.validate("values")
    def _check_values(self, proposal: Any) -> list[float]:
        values = list(proposal["value"])
        if len(values) > MOVES or any(v != EXACT and not 0 <= v <= 1 for v in values):
            raise traitlets.TraitError(
                f"values must hold at most {MOVES} numbers, each -1 (the exact step) or 0 to 1"
            )
        return values

    def set_points(self, X: ArrayLike, y: ArrayLike) -> None:
        """Give the figure other points, both traits at once, and forget the picks."""
        with self.hold_sync():
            super().set_points(X, y)
            self.picks, self.values = [], []

    @property
    def problem(self) -> HingeProblem:
        """The problem of the points that the figure shows."""
        return HingeProblem(np.array(self.X), np.array(self.y, dtype=float), lam=self.lam)

    @property
    def draws(self) -> IntArray:
        """The coordinates of the steps, shape (T,)."""
        n = len(self.X)
        if self.order == "you":
            return np.array(self.picks, dtype=np.int64)
        sampling = "permutation" if self.order == "permutation" else "iid"
        return figure_draws(self.seed, n, self.n_epochs * n, 1, sampling)

    @property
    def start_alpha(self) -> FloatArray:
        """The dual point (n,) before the first step."""
        n = len(self.X)
        if self.start == "zero":
            return np.zeros(n)
        # A stream of its own: the seeds of `draws` lie below 2^31.
        order = figure_draws(self.seed + 2**31, n, n, 1, "permutation")
        return sgd_initialisation(self.problem, rng=_Replay(order)).alpha

    @property
    def alphas(self) -> FloatArray:
        """The dual points before the first step and after each, shape (T + 1, n)."""
        problem, draws = self.problem, self.draws
        set_to = self._set_to(len(draws))
        alphas = np.empty((len(draws) + 1, problem.n))
        alphas[0] = alpha = self.start_alpha
        scale = problem.lam * problem.n
        for t, (i, value) in enumerate(zip(draws, set_to, strict=True)):
            alpha = alpha.copy()
            if value == EXACT:
                x, label = problem.X[i], problem.y[i]
                score, square = x @ problem.weights(alpha), x @ x
                slack = label * (1.0 - score) if self.printed else 1.0 - label * score
                value = maximised(alpha[i], slack, square, scale)
            alpha[i] = value
            alphas[t + 1] = alpha
        return alphas

    @property
    def alpha(self) -> FloatArray:
        """The dual point (n,) that the figure shows, after step t."""
        alphas = self.alphas
        shown: FloatArray = alphas[min(self.t, len(alphas) - 1)]
        return shown

    @property
    def w(self) -> FloatArray:
        """The w(alpha) that the figure shows, shape (2,)."""
        return self.problem.weights(self.alpha)

    def gap(self, steps: ArrayLike | None = None) -> Any:
        """Compute the duality gap P(w(alpha)) - D(alpha).

        Parameters
        ----------
        steps : int or array_like of int, optional
            Numbers of steps after which, between 0 and the length of `draws`; by default those
            that the figure shows.

        Returns
        -------
        float or ndarray
            Of the shape of `steps`.

        Raises
        ------
        ValueError
            If a number of steps is out of range.
        """
        problem, alphas = self.problem, self.alphas
        T = len(alphas) - 1
        counts = np.asarray(min(self.t, T) if steps is None else steps)
        if counts.size and not np.isin(counts, np.arange(T + 1)).all():
            raise ValueError(f"steps must be step counts between 0 and {T}; got {steps!r}")
        out = np.empty(counts.shape)
        for at, t in np.ndenumerate(counts):
            out[at] = problem.duality_gap(problem.weights(alphas[t]), alphas[t])
        return out if out.ndim else float(out)

    def run(self, *, record: int | Iterable[int] | None = None) -> DualRun:
        """Let the library's SDCA take the exact steps that the figure shows.

        It begins at the last alpha that was set by hand, if any was. Steps of an epoch that the
        reader has not filled repeat the last one, which changes nothing.

        Parameters
        ----------
        record : None, int or iterable of int
            Numbers of epochs after which the iterate is kept, as in `pegasos_lib.sdca`.

        Returns
        -------
        DualRun
            Its `alpha`, `w` and `gap` are what the figure shows after the last step.

        Raises
        ------
        ValueError
            If the steps are taken as printed: the library has no such steps.
        """
        if self.printed:
            raise ValueError("the library takes no steps as printed: set printed to False")
        n, draws = len(self.X), self.draws
        by_hand = np.flatnonzero(self._set_to(len(draws)) != EXACT)
        first = int(by_hand[-1]) + 1 if by_hand.size else 0
        steps = draws[first:]
        n_epochs = -(-len(steps) // n)
        filled = np.append(steps, np.repeat(steps[-1:], n_epochs * n - len(steps)))
        return sdca(
            self.problem,
            n_epochs=n_epochs,
            gap=NEVER,
            rng=_Replay(filled),
            shrink=False,
            alpha0=self.alphas[first],
            record=record,
        )

    def _set_to(self, T: int) -> FloatArray:
        """Return for each of T steps what the reader sets alpha to, or -1."""
        set_to = np.full(T, EXACT)
        if self.order == "you":
            given = self.values[:T]
            set_to[: len(given)] = given
        return set_to


class _Replay(np.random.Generator):
    """A source of given orders: every shuffle, or permutation, is what comes next in the list."""

    def __init__(self, draws: IntArray):
        super().__init__(np.random.PCG64(0))
        self._draws, self._at = draws, 0

    def shuffle(self, x: Any, axis: int = 0) -> None:
        x[:] = self._draws[self._at : self._at + len(x)]
        self._at += len(x)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        order = np.arange(x)
        self.shuffle(order)
        return order
