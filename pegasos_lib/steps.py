"""Step-size rules, which map step numbers t = 1, 2, ... to step sizes eta_t, and stopping tests.

The tests, and the line search `ArmijoStep`, look at the objective: they are for `descent`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from ._checks import as_reals, check_count, check_positive
from .problem import FloatArray


class StepRule(ABC):
    """Give the step sizes of a solver; the subclasses are the rules."""

    name: ClassVar[str]

    @abstractmethod
    def __call__(self, t: ArrayLike) -> FloatArray:
        """Return eta_t for an array of step numbers t >= 1, in the same shape."""

    def decay(self, t: ArrayLike, lam: float) -> FloatArray:
        """Return 1 - eta_t lam, the factor by which step t shrinks w."""
        return 1.0 - lam * self(t)


@dataclass(frozen=True)
class PegasosStep(StepRule):
    """eta_t = 1/(lam t), the step of Pegasos (Theorem 2's)."""

    lam: float
    name: ClassVar[str] = "pegasos"

    def __post_init__(self) -> None:
        check_positive(self.lam, "lam")

    def __call__(self, t: ArrayLike) -> FloatArray:
        """Return eta_t for step numbers t >= 1."""
        return 1.0 / (self.lam * _steps(t))

    def decay(self, t: ArrayLike, lam: float) -> FloatArray:
        """Return 1 - eta_t lam, which is exactly 0 at t = 1 if `lam` is the rule's own."""
        t = _steps(t)
        return (t - 1.0) / t if lam == self.lam else super().decay(t, lam)


@dataclass(frozen=True)
class WeightedStep(StepRule):
    """eta_t = 2/(lam (t + 1)), made for the t-weighted average.

    Source: Lacoste-Julien, Schmidt and Bach (2012).
    """

    lam: float
    name: ClassVar[str] = "weighted"

    def __post_init__(self) -> None:
        check_positive(self.lam, "lam")

    def __call__(self, t: ArrayLike) -> FloatArray:
        """Return eta_t for step numbers t >= 1."""
        return 2.0 / (self.lam * (_steps(t) + 1.0))

    def decay(self, t: ArrayLike, lam: float) -> FloatArray:
        """Return 1 - eta_t lam, which is exactly 0 at t = 1 if `lam` is the rule's own."""
        t = _steps(t)
        return (t - 1.0) / (t + 1.0) if lam == self.lam else super().decay(t, lam)


@dataclass(frozen=True)
class InverseTime(StepRule):
    """eta_t = c/t."""

    c: float
    name: ClassVar[str] = "inverse-time"

    def __post_init__(self) -> None:
        check_positive(self.c, "c")

    def __call__(self, t: ArrayLike) -> FloatArray:
        """Return eta_t for step numbers t >= 1."""
        return self.c / _steps(t)


@dataclass(frozen=True)
class InverseSqrt(StepRule):
    """eta_t = c/sqrt(t)."""

    c: float
    name: ClassVar[str] = "inverse-sqrt"

    def __post_init__(self) -> None:
        check_positive(self.c, "c")

    def __call__(self, t: ArrayLike) -> FloatArray:
        """Return eta_t for step numbers t >= 1."""
        return self.c / np.sqrt(_steps(t))


@dataclass(frozen=True)
class ConstantStep(StepRule):
    """eta_t = c."""

    c: float
    name: ClassVar[str] = "constant"

    def __post_init__(self) -> None:
        check_positive(self.c, "c")

    def __call__(self, t: ArrayLike) -> FloatArray:
        """Return eta_t for step numbers t >= 1."""
        return np.full(np.shape(t), float(self.c)) + 0.0 * _steps(t)


@dataclass(frozen=True)
class ArmijoStep:
    """Backtrack from c until f falls by a share c1 of what its slope promises (Armijo, 1966).

    The rule looks at f, so it is none for the stochastic solvers, and no `StepRule`. To ask for
    any decrease at all (c1 = 0) is not enough: steps that shrink f ever less are then accepted
    far from the minimum of a smooth convex function.

    Parameters
    ----------
    c : float
        Step size tried first.
    c1 : float
        Share of the promised decrease to ask for, inside (0, 1).
    factor : float
        What a step size that fails is multiplied by, inside (0, 1).
    max_cuts : int
        Number of times it may be cut before the search gives up.
    """

    c: float = 1.0
    c1: float = 1e-4
    factor: float = 0.5
    max_cuts: int = 50
    name: ClassVar[str] = "armijo"

    def __post_init__(self) -> None:
        check_positive(self.c, "c")
        check_count(self.max_cuts, "max_cuts", 0)
        for name, value in (("c1", self.c1), ("factor", self.factor)):
            if not check_positive(value, name) < 1.0:
                raise ValueError(f"{name} must lie inside (0, 1); got {value!r}")

    def search(self, along: Callable[[float], float], value: float, slope: float) -> float | None:
        """Return the first eta of c, c factor, ... with along(eta) <= value + c1 eta slope.

        Parameters
        ----------
        along : callable
            eta -> f(w + eta p) for the direction p.
        value : float
            f(w).
        slope : float
            The directional derivative of f at w along p (for a subgradient g, p = -g: -||g||^2).

        Returns
        -------
        float or None
            None if max_cuts cuts brought no such decrease, or if it would be less than floating
            point can show. Where the slope is 0, there is nothing to gain and c is returned.
        """
        eta = self.c
        if slope == 0.0:
            return eta
        for _ in range(self.max_cuts + 1):
            bound = value + self.c1 * eta * slope
            if not bound < value:
                return None
            if along(eta) <= bound:
                return eta
            eta *= self.factor
        return None


class StoppingTest(ABC):
    """Tell after a step from w_t to w_{t+1} whether to stop; the subclasses are the tests."""

    eps: float
    name: ClassVar[str]

    def __post_init__(self) -> None:
        check_positive(self.eps, "eps")

    @abstractmethod
    def fires(self, before: Any, after: Any) -> bool:
        """Return whether to stop, given w_t and w_{t+1} with the `value` and `gradient` there."""


@dataclass(frozen=True)
class SmallDecrease(StoppingTest):
    """f(w_t) - f(w_{t+1}) <= eps, or its absolute value.

    An increase fires the first form, so a method that is not monotone wants `absolute=True`. The
    test printed in document 002, f(w_{t+1}) - f(w_t) <= eps, is true at every decrease.
    """

    eps: float
    absolute: bool = False
    name: ClassVar[str] = "small decrease"

    def fires(self, before: Any, after: Any) -> bool:
        """Return whether the step brought little."""
        decrease = before.value - after.value
        return bool((abs(decrease) if self.absolute else decrease) <= self.eps)


@dataclass(frozen=True)
class SmallChange(StoppingTest):
    """||w_{t+1} - w_t|| <= eps.

    With steps that shrink by rule, such as 1/(lam t), it fires by itself, far from any minimum.
    """

    eps: float
    name: ClassVar[str] = "small change"

    def fires(self, before: Any, after: Any) -> bool:
        """Return whether the step was short."""
        return bool(np.linalg.norm(after.w - before.w) <= self.eps)


@dataclass(frozen=True)
class SmallGradient(StoppingTest):
    """||g|| <= eps at w_{t+1}.

    For P it proves that P(w) - P(w*) <= eps^2/(2 lam), as P is lam-strongly convex; but where w*
    lies on a kink, the subgradient that is used need not become small.
    """

    eps: float
    name: ClassVar[str] = "small gradient"

    def fires(self, before: Any, after: Any) -> bool:
        """Return whether the gradient, or the subgradient that is used, is short."""
        return bool(np.linalg.norm(after.gradient) <= self.eps)


@dataclass(frozen=True)
class SmallGap(StoppingTest):
    """P(w_{t+1}) - D(alpha) <= eps, which proves P(w_{t+1}) - P(w*) <= eps; for P alone.

    The dual point comes with the steps: w_{t+1} = (1 - eta lam) w_t + eta v_t, and v_t is
    lam w(a) for a_i = 1 where the margin is below 1 and 0 elsewhere. So alpha takes the steps
    alpha <- (1 - eta lam) alpha + eta lam a from 0 (for eta = 1/(lam t) it is the mean of the a),
    and scales as w does where w is projected onto an l2 ball. From w_1 = 0 with eta lam <= 1,
    alpha is feasible and w(alpha) is the iterate. Otherwise alpha is cut to [0, 1] and the gap is
    still true, but may not close.

    In an `L1Ball` alpha is not scaled, and D is the dual of P on that ball: the least value there
    of lam/2 ||u||^2 + mean of alpha_i (1 - y_i <u, x_i>). The gap then bounds P(w_{t+1}) less the
    minimum over the ball, which may be above P(w*).
    """

    eps: float
    name: ClassVar[str] = "small gap"

    def fires(self, before: Any, after: Any) -> bool:
        """Return whether the duality gap is small."""
        return bool(after.gap <= self.eps)


STEP_NAMES = ("pegasos", "weighted", "inverse-time", "inverse-sqrt", "constant")


def make_step(step: StepRule | str, lam: float, c: float = 1.0) -> StepRule:
    """Return the rule for a name of `STEP_NAMES`, with this lam and c; a rule is returned as is.

    Raises
    ------
    ValueError
        If `step` is neither a rule nor one of the names.
    """
    if isinstance(step, StepRule):
        return step
    if step == "pegasos":
        return PegasosStep(lam)
    if step == "weighted":
        return WeightedStep(lam)
    if step == "inverse-time":
        return InverseTime(c)
    if step == "inverse-sqrt":
        return InverseSqrt(c)
    if step == "constant":
        return ConstantStep(c)
    raise ValueError(f"step must be a StepRule or one of {', '.join(STEP_NAMES)}; got {step!r}")


def _steps(t: ArrayLike) -> FloatArray:
    t = as_reals(t, "t")
    if t.size and not float(t.min()) >= 1.0:
        raise ValueError(f"steps are numbered from 1; got t = {float(t.min()):g}")
    return t
