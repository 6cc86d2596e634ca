"""Margins, hinge losses and the two terms of the objective, for points and a w that one moves."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import traitlets
from numpy.typing import ArrayLike

from ..dual import sdca
from ..problem import HingeProblem
from ..run import DualRun
from .base import Between, PointsFigure, script

LAM = (1e-5, 10.0)
REACH = 100.0
EXTENTS = (2, 4, 8, 16)

# The figure's own first points: DATA.separable of margin/derive.js. The shortest w with all margins
# at least 1 is (0.6, 0.2).
_X = [(2, -0.5), (1.5, 0.5), (1.2, 2), (2.5, 1.5), (-1.5, -1), (-1, -2), (-2, 1), (-2.5, -0.5)]
_Y = [1, 1, 1, 1, -1, -1, -1, -1]


class MarginExplorer(PointsFigure):
    """Move points, w and lambda, and see margins, hinge losses and both terms of the objective.

    Every argument is a trait: what the reader sets in the figure is read here, and what is set
    here is drawn there.

    Parameters
    ----------
    X : array_like, shape (n, 2), and y : array_like, shape (n,)
        Up to 200 points, coordinates from -1000 to 1000, with labels -1 and +1.
    lam : float
        The regularisation, 1e-5 to 10.
    w : sequence of float
        The weights: two numbers, and a third for the constant feature where there is one; each
        between -100 and 100.
    constant : bool
        Whether every point has the constant feature x_3 = 1, whose weight stands for an intercept
        and is in the norm like the others. Switching it appends a 0 to `w`, or drops its last.
    selected : int
        The point whose margin is written beside it, counted from 0.
    extent : {2, 4, 8, 16}
        The plane is shown from -extent to extent.
    reveal : bool
        Whether the minimum of the objective is shown.

    Raises
    ------
    traitlets.TraitError
        If a value is out of its range; the message says what is expected.
    """

    kind = "margin"
    alt = (
        "Three panels. Points of two classes with the decision line of w, its two margin lines, "
        "and a segment from each point with a hinge loss to its margin line; the objective as a "
        "bar of two terms, half lambda times the squared norm of w and the mean hinge loss; the "
        "hinge loss against the margin, with every point on the curve and the kink at margin one."
    )
    inputs: ClassVar[tuple[str, ...]] = (
        "X",
        "y",
        "lam",
        "w",
        "constant",
        "selected",
        "extent",
        "reveal",
    )
    first_points = (_X, _Y)
    _esm = script("margin")

    lam = Between(0.1, *LAM).tag(sync=True)
    w = traitlets.Any().tag(sync=True)
    constant = traitlets.Bool(False).tag(sync=True)
    selected = traitlets.Int(0, min=0).tag(sync=True)
    extent = traitlets.Enum(EXTENTS, 4).tag(sync=True)
    reveal = traitlets.Bool(False).tag(sync=True)

    def __init__(
        self,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        w: ArrayLike = (0.3, 0.7),
        **traits: Any,
    ):
        super().__init__(X, y, w=w, **traits)

    @traitlets.validate("w")
    def _check_w(self, proposal: Any) -> list[float]:
        w = np.asarray(proposal["value"], dtype=float)
        if w.shape not in ((2,), (3,)) or not (np.abs(w) <= REACH).all():
            raise traitlets.TraitError(
                f"w must hold 2 numbers, or 3 with the constant feature, between -{REACH:g} and "
                f"{REACH:g}; got {w.tolist()}"
            )
        return self._fitted(w.tolist())

    @traitlets.observe("constant")
    def _fit_w(self, _change: Any) -> None:
        if self.w is not None:
            self.w = self._fitted(self.w)

    def _fitted(self, w: list[float]) -> list[float]:
        return [*w, 0.0][:3] if self.constant else w[:2]

    @property
    def problem(self) -> HingeProblem:
        """The problem of the points and lambda that the figure shows, with d = 2 or 3."""
        X = np.array(self.X)
        if self.constant:
            X = np.column_stack([X, np.ones(len(X))])
        return HingeProblem(X, np.array(self.y, dtype=float), lam=self.lam)

    def run(self, *, gap: float = 1e-10) -> DualRun:
        """Minimise the objective that the figure shows, with a certificate.

        Parameters
        ----------
        gap : float
            The duality gap to reach; it bounds P(w) - P(w*).

        Returns
        -------
        DualRun
            Its `w` is where "Go to the minimum" takes the figure's w, by the library's SDCA.
        """
        return sdca(self.problem, n_epochs=1_000_000, gap=gap)
