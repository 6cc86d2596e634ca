"""The compiled forms of the projections in the solvers' loops."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .projections import ROUNDING, nearest_in_l1_ball, nearest_in_weighted_l2_ball


def register() -> None:
    """Give Numba the compiled projections, which it then puts in place of those in NumPy."""
    from numba.extending import overload

    # Sums in any order, but infinities and NaN as IEEE has them: a diverging run must show.
    loose: Any = {"fastmath": {"reassoc", "contract", "nsz"}, "error_model": "numpy"}

    def in_l1_ball(w: Any, weights: Any, radius: float, tau: float, out: Any) -> float:
        total = 0.0
        for j in range(len(w)):
            total += abs(w[j])
        if total <= radius:
            out[:] = w
            return tau
        if not total < np.inf:
            out[:] = np.nan
            return tau
        last, before = -np.inf, -1
        while True:
            size, slope, count = 0.0, 0.0, 0
            for j in range(len(w)):
                weight = 1.0 if weights is None else weights[j]
                if abs(w[j]) * weight > tau:
                    size += abs(w[j])
                    slope += 1.0 / weight
                    count += 1
            if before < 0 and count == 0 and tau > 0.0:
                tau = 0.0
                continue
            if before >= 0 and (count == 0 or count == before or tau <= last):
                break
            if before >= 0:
                last = tau
            before, tau = count, (size - radius) / slope
        total = 0.0
        for j in range(len(w)):
            inverse = 1.0 if weights is None else 1.0 / weights[j]
            left = max(abs(w[j]) - tau * inverse, 0.0)
            total += left
            out[j] = math.copysign(left, w[j])
        if total > radius:
            out *= radius / total
        return tau

    def in_weighted_l2_ball(w: Any, weights: Any, radius: float, mu: float, out: Any) -> float:
        square = 0.0
        for j in range(len(w)):
            square += w[j] * w[j]
        norm, rising = math.sqrt(square), False
        if norm <= radius:
            out[:] = w
            return mu
        if not norm < np.inf:
            out[:] = np.nan
            return mu
        within = 1.0 / radius
        while True:
            square = bend = 0.0
            for j in range(len(w)):
                inverse = 1.0 / (weights[j] + mu)
                u = weights[j] * (w[j] * within) * inverse
                square += u * u
                bend += u * u * inverse
            norm = math.sqrt(square)
            if abs(norm - 1.0) <= ROUNDING or (rising and norm < 1.0):
                break
            following = max(0.0, mu + (norm - 1.0) * square / bend) if bend > 0.0 else 0.0
            if following == mu:
                break
            mu, rising = following, norm > 1.0
        for j in range(len(w)):
            out[j] = weights[j] * (w[j] / max(1.0, norm)) / (weights[j] + mu)
        return mu

    overload(nearest_in_l1_ball, jit_options=loose, strict=False)(
        lambda w, weights, radius, tau, out: in_l1_ball
    )
    overload(nearest_in_weighted_l2_ball, jit_options=loose, strict=False)(
        lambda w, weights, radius, mu, out: in_weighted_l2_ball
    )
