"""Run variants in turn, so that whatever else the machine does falls on all of them alike."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def in_turn(variants: dict[str, Callable[[], T]], repeats: int) -> dict[str, list[T]]:
    """Return what each variant returns in so many rounds, after a first one that warms up."""
    taken: dict[str, list[T]] = {name: [] for name in variants}
    for count in range(repeats + 1):
        for name, run in variants.items():
            value = run()
            if count:
                taken[name].append(value)
    return taken
