"""Commit what a long run measured: one small JSON file in `book/_data/`, which a chapter loads."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from .report import machine

FOLDER = Path(__file__).parents[1] / "book" / "_data"
_BEGIN = time.perf_counter()


def say(line: str) -> None:
    """Show how far a script has come, and after how many seconds."""
    print(f"{time.perf_counter() - _BEGIN:6.1f} s  {line}", file=sys.stderr, flush=True)


def checkpoints(first: int, last: int, count: int) -> list[int]:
    """Return step counts in geometric progression, without repetition."""
    return np.unique(np.rint(np.geomspace(first, last, count)).astype(int)).tolist()


def rounded(value: Any, digits: int = 5) -> Any:
    """Return nested lists, arrays and dictionaries as JSON holds them, floats to few digits."""
    if isinstance(value, dict):
        return {str(key): rounded(item, digits) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [rounded(item, digits) for item in value]
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError(f"a result is {value}: a committed number must be finite, or None")
        return float(f"{value:.{digits}g}")
    return value.item() if isinstance(value, np.generic) else value


def store(
    name: str, command: str, results: dict[str, Any], folder: Path = FOLDER, digits: int = 5
) -> Path:
    """Write the results under `name`, with the command that gives them and the machine."""
    folder.mkdir(exist_ok=True)
    path = folder / f"{name}.json"
    held = {"command": command, "machine": machine(), "results": rounded(results, digits)}
    path.write_text(json.dumps(held, separators=(",", ":"), allow_nan=False) + "\n")
    return path


def stored(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """Return the results that were stored under a name."""
    results: dict[str, Any] = json.loads((folder / f"{name}.json").read_text())["results"]
    return results
