"""Supporting lines and subgradients of convex functions, and a step against a subgradient."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

import numpy as np
import traitlets
from numpy.typing import ArrayLike

from ..problem import FloatArray, HingeProblem
from .base import Between, Figure, script

X_REACH = 2.0
SLOPE_REACH = 4.0
W_REACH = 2.0
ETA = (0.01, 2.0)
FUNCTIONS = ("abs", "hinge", "three", "square", "bent", "svm")
FUNCTIONS_OF_TWO = ("valley", "hinge")
_TIE = 1e-9

# A convex function is (q, terms): q/2 ||w||^2 plus, for each term, the largest of <a, w> + b over
# its rows (a, b). These are LINES and PLANES of subgradient/derive.js.
_LINES: dict[str, tuple[float, list[list[list[float]]]]] = {
    "abs": (0.0, [[[-1, 0], [1, 0]]]),
    "hinge": (0.0, [[[-1, 1], [0, 0]]]),
    "three": (0.0, [[[-1, -1], [0.5, 0.5], [2, -1]]]),
    "square": (2.0, []),
    "bent": (1.0, [[[-1, 0], [1, 0]]]),
    "svm": (1 / 6, [[[-a / 3, 1 / 3], [0, 0]] for a in (1, 2, -1)]),
}
_PLANES: dict[str, tuple[float, list[list[list[float]]]]] = {
    "valley": (0.0, [[[-1, 0, 0], [1, 0, 0]], [[0, -3, 0], [0, 3, 0]]]),
    "hinge": (0.2, [[[-1, 0, 1], [0, 0, 0]]]),
}
_MINIMISERS = {"valley": (0.0, 0.0), "hinge": (1.0, 0.0)}


class SubgradientStep(NamedTuple):
    """Hold what one step w - eta g does.

    Attributes
    ----------
    g : ndarray, shape (2,)
        The subgradient that theta chooses.
    w : ndarray, shape (2,)
        Where the step leads.
    values : tuple of float
        f before and after.
    distances : tuple of float
        Distance to the minimiser, before and after.
    """

    g: FloatArray
    w: FloatArray
    values: tuple[float, float]
    distances: tuple[float, float]


class SubgradientExplorer(Figure):
    """Move a point and a slope, and see which lines support a convex function.

    Every argument is a trait: what the reader sets in the figure is read here, and what is set
    here is drawn there.

    Parameters
    ----------
    function : {"abs", "hinge", "three", "square", "bent", "svm"}
        The function of one variable.
    x, slope : float
        The point, between -2 and 2, and the slope of the line through it, between -4 and 4.
    curve : bool
        Whether the graph of the function is shown.
    function2 : {"valley", "hinge"}
        The function of two variables: |u| + 3|v|, or the SVM objective of one point.
    w : sequence of float
        The point of the plane, both numbers between -2 and 2.
    theta : float
        Which subgradient at a kink, from one end of the set (0) to the other (1).
    eta : float
        The step size, 0.01 to 2.
    guess : {"", "up", "down"}
        The reader's guess whether the step raises f; the answer shows once there is one.

    Raises
    ------
    traitlets.TraitError
        If a value is out of its range; the message says what is expected.
    """

    kind = "subgradient"
    alt = (
        "Three panels. The graph of the absolute value with a line of slope one half through a "
        "point, which lies above the graph elsewhere; all subgradients at every x, a staircase "
        "that jumps from minus one to one at zero; contours of a function of two variables with "
        "a point, an arrow against a subgradient, and the circle of points as near to the minimum."
    )
    inputs: ClassVar[tuple[str, ...]] = (
        "function", "x", "slope", "curve", "function2", "w", "theta", "eta", "guess",
    )  # fmt: skip
    _esm = script("subgradient")

    function = traitlets.Enum(FUNCTIONS, "abs").tag(sync=True)
    x = Between(1.0, -X_REACH, X_REACH).tag(sync=True)
    slope = Between(0.5, -SLOPE_REACH, SLOPE_REACH).tag(sync=True)
    curve = traitlets.Bool(True).tag(sync=True)
    function2 = traitlets.Enum(FUNCTIONS_OF_TWO, "valley").tag(sync=True)
    w = traitlets.Any().tag(sync=True)
    theta = Between(1.0, 0, 1).tag(sync=True)
    eta = Between(0.1, *ETA).tag(sync=True)
    guess = traitlets.Enum(("", "up", "down"), "").tag(sync=True)

    def __init__(self, *, w: ArrayLike = (1.0, 0.5), **traits: Any):
        super().__init__(w=w, **traits)

    @traitlets.validate("w")
    def _check_w(self, proposal: Any) -> list[float]:
        w = np.asarray(proposal["value"], dtype=float)
        if w.shape != (2,) or not (np.abs(w) <= W_REACH).all():
            raise traitlets.TraitError(
                f"w must hold 2 numbers between -{W_REACH:g} and {W_REACH:g}; got {w.tolist()}"
            )
        return [float(x) for x in w]

    @property
    def subdifferential(self) -> tuple[float, float]:
        """The least and the largest subgradient at x, equal where the function has a derivative."""
        q, terms = _LINES[self.function]
        ends = _ends(terms, np.array([self.x]))
        low = q * self.x + sum(float(pair.min()) for pair in ends)
        high = q * self.x + sum(float(pair.max()) for pair in ends)
        return low, high

    @property
    def supports(self) -> bool:
        """Whether the line is nowhere above the graph: whether its slope is a subgradient."""
        low, high = self.subdifferential
        return bool(low - _TIE <= self.slope <= high + _TIE)

    @property
    def minimiser(self) -> FloatArray:
        """The minimiser of the function of two variables, shape (2,)."""
        return np.array(_MINIMISERS[self.function2])

    @property
    def problem(self) -> HingeProblem:
        """The problem whose objective the function "svm" is: three examples with d = 1."""
        return HingeProblem([[1.0], [2.0], [-1.0]], np.ones(3), lam=1 / 6)

    def value(self, x: float) -> float:
        """Return the function of one variable at x."""
        return _value(_LINES[self.function], np.array([x], dtype=float))

    def value2(self, w: ArrayLike) -> float:
        """Return the function of two variables at w, shape (2,)."""
        return _value(_PLANES[self.function2], np.asarray(w, dtype=float))

    def step(self) -> SubgradientStep:
        """Take the step that panel 3 shows."""
        f, w = _PLANES[self.function2], np.array(self.w)
        g = f[0] * w
        for first, last in _ends(f[1], w):
            g = g + (1 - self.theta) * first + self.theta * last
        after = w - self.eta * g
        far, near = (float(np.linalg.norm(v - self.minimiser)) for v in (w, after))
        return SubgradientStep(g, after, (_value(f, w), _value(f, after)), (far, near))


def _value(f: tuple[float, list[list[list[float]]]], w: FloatArray) -> float:
    q, terms = f
    pieces = (np.array(term) for term in terms)
    return float(q / 2 * (w @ w) + sum((rows[:, :-1] @ w + rows[:, -1]).max() for rows in pieces))


def _ends(terms: list[list[list[float]]], w: FloatArray) -> list[FloatArray]:
    """Return for each term the first and the last slope among its largest pieces, shape (2, d)."""
    found = []
    for rows in map(np.array, terms):
        values = rows[:, :-1] @ w + rows[:, -1]
        tied = rows[values >= values.max() - _TIE, :-1]
        found.append(tied[[0, -1]])
    return found
