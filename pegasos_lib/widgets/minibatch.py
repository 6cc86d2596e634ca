"""The noise of a mini-batch subgradient, against the batch size, with and without replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import traitlets
from numpy.typing import ArrayLike

from ..problem import FloatArray, HingeProblem, IntArray
from .base import Between, PointsFigure, check_interval, script
from .pegasos import LABELS, POINTS, figure_draws

LAM = (1e-3, 10.0)
REACH = 4.0
LIMIT = 60
DRAWS = 200


@dataclass(frozen=True)
class BatchNoise:
    """What the figure shows at its w.

    Attributes
    ----------
    singles : ndarray, shape (n, 2)
        The subgradient of every example.
    mean : ndarray, shape (2,)
        Their mean, the subgradient of P.
    batch_means : ndarray, shape (200, 2)
        The subgradients on the drawn mini-batches.
    sigma2 : float
        Mean squared distance of `singles` to `mean`.
    covariance : ndarray, shape (2, 2)
        That of a batch mean, by the formula; its trace is `variance`.
    variance : float
        sigma^2/k, without replacement times (n - k)/(n - 1).
    measured : float
        Mean squared distance of `batch_means` to `mean`.
    """

    singles: FloatArray
    mean: FloatArray
    batch_means: FloatArray
    sigma2: float
    covariance: FloatArray
    variance: float
    measured: float


class MinibatchExplorer(PointsFigure):
    """Choose w, the batch size and the way of drawing, and see the noise of the subgradient.

    Every argument is a trait: what the reader sets in the figure is read here, and what is set
    here is drawn there.

    Parameters
    ----------
    X : array_like, shape (n, 2), and y : array_like, shape (n,)
        Up to 60 points, coordinates from -100 to 100, with labels -1 and +1.
    lam : float
        The regularisation, 1e-3 to 10. It moves all subgradients alike and makes no noise.
    w : sequence of two floats
        The weights at which subgradients are taken, each between -4 and 4.
    batch_size : int
        Size k of a mini-batch, 1 to n.
    replace : bool
        Whether a mini-batch may hold an example more than once.
    seed : int
        Seed of the 200 mini-batches.

    Raises
    ------
    traitlets.TraitError
        If a value is out of its range; the message says what is expected.
    """

    kind = "minibatch"
    alt = (
        "Three panels. Points of two classes with w and its margin lines, those that push filled; "
        "the plane of subgradients with one for every example, their mean, the means of 200 "
        "mini-batches and the ellipse of one standard deviation around them; the variance of the "
        "mini-batch mean against its size, two falling curves, with and without replacement."
    )
    inputs: ClassVar[tuple[str, ...]] = ("X", "y", "lam", "w", "batch_size", "replace", "seed")
    first_points = (POINTS[:20], LABELS[:20])
    most_points = LIMIT
    reach = 100.0
    _esm = script("minibatch")

    lam = Between(0.1, *LAM).tag(sync=True)
    w = traitlets.Any().tag(sync=True)
    batch_size = traitlets.Int(2).tag(sync=True)
    replace = traitlets.Bool(True).tag(sync=True)
    seed = traitlets.Int(1, min=0, max=2**31 - 1).tag(sync=True)

    def __init__(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        w: ArrayLike = (0.6, 0.4),
        **traits: Any,
    ):
        super().__init__(X, y, w=w, **traits)

    @traitlets.validate("w")
    def _check_w(self, proposal: Any) -> list[float]:
        w = np.asarray(proposal["value"], dtype=float)
        if w.shape != (2,) or not (np.abs(w) <= REACH).all():
            raise traitlets.TraitError(
                f"w must hold 2 numbers between -{REACH:g} and {REACH:g}; got {w.tolist()}"
            )
        return [float(value) for value in w]

    @traitlets.validate("batch_size")
    def _check_batch_size(self, proposal: Any) -> int:
        # The points may come later, in the same message: then n bounds it in `draws`.
        return int(check_interval("batch_size", proposal["value"], 1, LIMIT))

    @property
    def problem(self) -> HingeProblem:
        """The problem of the points that the figure shows."""
        return HingeProblem(np.array(self.X), np.array(self.y, dtype=float), lam=self.lam)

    @property
    def draws(self) -> IntArray:
        """The 200 mini-batches that the figure draws, shape (200, k), with k at most n."""
        n = len(self.X)
        k = min(self.batch_size, n)
        seed = 1009 * self.seed + k  # a stream of its own for each k
        return figure_draws(seed, n, DRAWS, k, "iid", self.replace).reshape(DRAWS, k)

    def run(self) -> BatchNoise:
        """Compute with the library what the figure shows: all subgradients and their noise."""
        problem, w, draws = self.problem, np.array(self.w), self.draws
        n, k = problem.n, draws.shape[1]
        singles = np.array([problem.subgradient(w, [i]) for i in range(n)])
        mean = problem.subgradient(w)
        batch_means = np.array([problem.subgradient(w, batch) for batch in draws])
        share = 1 / k if self.replace else (n - k) / (k * max(1, n - 1))
        spread = singles - mean
        covariance = spread.T @ spread / n
        return BatchNoise(
            singles=singles,
            mean=mean,
            batch_means=batch_means,
            sigma2=float(np.trace(covariance)),
            covariance=share * covariance,
            variance=float(share * np.trace(covariance)),
            measured=float(((batch_means - mean) ** 2).sum(axis=1).mean()),
        )
