"""Step-size rules: each maps step numbers t = 1, 2, ... to step sizes eta_t."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from .problem import FloatArray, check_positive


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
    t = np.asarray(t, dtype=float)
    if t.size and not float(t.min()) >= 1.0:
        raise ValueError(f"steps are numbered from 1; got t = {float(t.min()):g}")
    return t
