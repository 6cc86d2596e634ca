"""A chord against its graph: where convexity holds, where it fails, and how strongly."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np
import traitlets
from numpy.typing import ArrayLike, NDArray

from ..problem import HingeProblem
from .base import Between, Figure, script

Function = Callable[[NDArray[np.float64]], NDArray[np.float64]]

SHOWN = (-2.0, 2.0)
LOG_FROM = 0.02  # where the interval starts for a function that holds a logarithm
Q = (-3.0, 3.0)
MU = (0.0, 4.0)

# Chapter 1's four examples in one dimension.
_FOUR = HingeProblem(np.array([[2.0], [1.0], [0.6], [-0.8]]), np.ones(4), lam=0.1)

FUNCTIONS: dict[str, Function] = {
    "square": np.square,
    "abs": np.abs,
    "hinge": lambda x: np.maximum(0.0, 1.0 - x),
    "logistic": lambda x: np.log1p(np.exp(-x)),
    "exp": np.exp,
    "quartic": lambda x: x**4,
    "svm": lambda x: np.asarray(_FOUR.objective(x.reshape(-1, 1))).reshape(x.shape),
    "line": lambda x: x,
    "log": np.log,
    "well": lambda x: (x**2 - 1) ** 2,
    "cosine": lambda x: np.cos(2 * x),
}
RULES = ("phi", "sum", "scale", "max", "min", "product", "difference", "affine")
WITH_PSI = ("sum", "max", "min", "product", "difference")


class ChordExplorer(Figure):
    """Move the ends of a chord under a graph, and see where the chord is above it.

    Every argument is a trait: what the reader sets in the figure is read here, and what is set
    here is drawn there.

    Parameters
    ----------
    phi, psi : str
        Names of two functions of one number, out of `FUNCTIONS`.
    rule : str
        How f is made of them: "phi" (phi alone), "sum" (phi + q psi), "scale" (q phi), "max",
        "min", "product", "difference" (phi - psi) or "affine" (phi(2x - 1)).
    q : float
        The factor of the rules "sum" and "scale", -3 to 3.
    u, w : float
        The ends of the chord, in [-2, 2]; with a logarithm only where it is defined.
    theta : float
        The weight of u in z = theta u + (1 - theta) w, 0 to 1.
    mu : float
        The chord is also shown lowered by mu/2 theta (1 - theta) (u - w)^2; 0 to 4.
    guess : {"", "convex", "not"}
        The reader's guess about f; a guess shows the answer.
    beyond : {"", "above", "below"}
        The reader's guess about the line beyond the ends; a guess shows the line.

    Raises
    ------
    traitlets.TraitError
        If a value is out of its range; the message says what is expected.
    """

    kind = "chord"
    alt = (
        "Two panels. A graph with two wells and a chord between two of its points, u and w, with a "
        "point z between them and the gap from the chord down to the graph; and the gap, chord "
        "minus graph, as a curve over the interval from u to w, nowhere below zero."
    )
    inputs: ClassVar[tuple[str, ...]] = (
        "phi",
        "psi",
        "rule",
        "q",
        "u",
        "w",
        "theta",
        "mu",
        "beyond",
        "guess",
    )
    _esm = script("chord")

    phi = traitlets.Enum(tuple(FUNCTIONS), "well").tag(sync=True)
    psi = traitlets.Enum(tuple(FUNCTIONS), "hinge").tag(sync=True)
    rule = traitlets.Enum(RULES, "phi").tag(sync=True)
    q = Between(1.0, *Q).tag(sync=True)
    u = Between(-1.7, *SHOWN).tag(sync=True)
    w = Between(1.2, *SHOWN).tag(sync=True)
    theta = Between(0.5, 0, 1).tag(sync=True)
    mu = Between(0.0, *MU).tag(sync=True)
    beyond = traitlets.Enum(("", "above", "below"), "").tag(sync=True)
    guess = traitlets.Enum(("", "convex", "not"), "").tag(sync=True)

    @property
    def interval(self) -> tuple[float, float]:
        """The interval that is shown: [-2, 2], or the part of it where a logarithm is defined."""
        low, high = SHOWN
        if self.phi == "log" or (self.rule in WITH_PSI and self.psi == "log"):
            low = (1 + LOG_FROM) / 2 if self.rule == "affine" else LOG_FROM
        return low, high

    def function(self, x: ArrayLike) -> NDArray[np.float64]:
        """Evaluate f, as phi, psi, rule and q make it, at an array of numbers."""
        x = np.asarray(x, dtype=float)
        phi, psi, q = FUNCTIONS[self.phi], FUNCTIONS[self.psi], self.q
        if self.rule == "affine":
            return phi(2 * x - 1)
        if self.rule in ("phi", "scale"):
            return phi(x) * (q if self.rule == "scale" else 1.0)
        left, right = phi(x), psi(x)
        if self.rule == "max":
            return np.maximum(left, right)
        if self.rule == "min":
            return np.minimum(left, right)
        if self.rule == "product":
            return left * right
        return left + (q if self.rule == "sum" else -1.0) * right

    def gap(self, theta: ArrayLike) -> NDArray[np.float64]:
        """Return chord minus graph at z = theta u + (1 - theta) w, lowered by the term of mu.

        The ends count as moved into `interval`, as the figure draws them.
        """
        theta = np.asarray(theta, dtype=float)
        u, w = np.clip([self.u, self.w], *self.interval)
        ends = self.function([u, w])
        chord = theta * ends[0] + (1 - theta) * ends[1]
        lowered = self.mu / 2 * theta * (1 - theta) * (u - w) ** 2
        graph = self.function(theta * u + (1 - theta) * w)
        return np.asarray(chord - graph - lowered, dtype=float)

    def run(self, *, n_samples: int = 401) -> tuple[float, float]:
        """Look for the place where the chord is lowest against the graph.

        Parameters
        ----------
        n_samples : int
            How many equally spaced theta are tried, 0 and 1 among them.

        Returns
        -------
        theta, gap : float
            A negative gap proves that f is not convex, or for mu > 0 not mu-strongly convex.
        """
        thetas = np.linspace(0, 1, n_samples)
        gaps = self.gap(thetas)
        lowest = int(np.argmin(gaps))
        return float(thetas[lowest]), float(gaps[lowest])
