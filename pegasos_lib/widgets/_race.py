"""The results that the race figure shows: what they must hold, and where they are read from."""

from __future__ import annotations

import base64
import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import traitlets

from ..optimizers import OPTIMIZERS, SETS, Feasible, kind_of, set_of
from ..problem import FloatArray

OUTPUTS = ("last", "average")
SIDE = 28
_NAMES = ("optimizer", "lam", "set", "output")
_BANDS = ("median", "low", "high")
_NUMBERS = ("n", "n_test", "baseline")
_OF_OPTIMUM = ("P", "test_error", "train_error")


def load_results(results: Mapping[str, Any] | str | os.PathLike[str]) -> dict[str, Any]:
    """Return results of `benchmarks.race` after checking their shape.

    Parameters
    ----------
    results : mapping or path
        What `benchmarks.race` measured, or the JSON file that holds it under "results".

    Raises
    ------
    traitlets.TraitError
        If there is no such file, or if what it holds is not of the shape; the message says what
        is missing or wrong, and where.
    """
    if isinstance(results, (str, os.PathLike)):
        results = _read(Path(results))
    if not isinstance(results, Mapping):
        raise traitlets.TraitError(
            f"results must be a dictionary or the path of a JSON file; got {type(results).__name__}"
        )
    held = results.get("results", results)
    _check(held)
    return dict(held)


def find_run(
    results: Mapping[str, Any], optimizer: str, lam: float, feasible: Feasible, output: str
) -> dict[str, Any]:
    """Return what was measured of an optimizer in one setting."""
    wanted = (optimizer, lam, set_of(optimizer, feasible), output)
    found: dict[str, Any] = next(run for run in results["runs"] if _key(run) == wanted)
    return found


def picture(run: Mapping[str, Any]) -> FloatArray:
    """Return the final w of a run of the last iterate, shape (28, 28), to 1/127 of its largest."""
    levels = np.frombuffer(base64.b64decode(run["w"]), dtype=np.uint8).astype(float)
    w: FloatArray = (levels.reshape(SIDE, SIDE) - 128.0) / 127.0 * run["w_scale"]
    return w


def optimum_at(results: Mapping[str, Any], lam: float) -> dict[str, dict[str, float]]:
    """Return what is known of both minimisers, "free" and "l1", at one lam."""
    found: dict[str, dict[str, float]] = next(
        value for key, value in results["optimum"].items() if float(key) == lam
    )
    return found


def _key(run: Mapping[str, Any]) -> tuple[Any, ...]:
    return tuple(run[key] for key in _NAMES)


def _read(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise traitlets.TraitError(
            f"there is no file {path}: `python -m benchmarks.race` in the book's repository "
            "writes book/_data/race.json"
        ) from None
    except ValueError as error:
        raise traitlets.TraitError(f"{path} is no JSON file: {error}") from None


def _check(results: Any) -> None:
    _need(results, (*_NUMBERS, "lams", "iterations", "passes", "optimum", "runs"), "the results")
    for key in _NUMBERS:
        _numbers([results[key]], 1, key)
    lengths = {}
    for kind in ("batch", "online"):
        for axis in ("iterations", "passes"):
            _need(results[axis], ("batch", "online"), f'"{axis}"')
            _numbers(results[axis][kind], None, f'"{axis}" of "{kind}"')
        lengths[kind] = len(results["iterations"][kind])
        _numbers(results["passes"][kind], lengths[kind], f'"passes" of "{kind}"')
    lams = results["lams"]
    _numbers(lams, None, '"lams"')
    _check_optimum(results["optimum"], lams)
    held = set()
    for i, run in enumerate(results["runs"]):
        where = f"run {i}"
        _need(run, (*_NAMES, "suboptimality", "accuracy", "seconds"), where)
        held.add(_key(run))
        many = lengths[kind_of(run["optimizer"])]
        for key in ("suboptimality", "accuracy"):
            _need(run[key], _BANDS, f'"{key}" of {where}')
            for band in _BANDS:
                _numbers(run[key][band], many, f'"{band}" of "{key}" of {where}')
        _numbers(run["seconds"], many, f'"seconds" of {where}')
        _check_picture(run, where)
    wanted = [
        (name, lam, set_of(name, feasible), output)
        for name in OPTIMIZERS
        for lam in lams
        for feasible in SETS
        for output in OUTPUTS
    ]
    missing = [dict(zip(_NAMES, key, strict=True)) for key in wanted if key not in held]
    if missing:
        raise traitlets.TraitError(f"the results lack some runs, the first of them {missing[0]}")


def _check_optimum(optimum: Any, lams: Sequence[float]) -> None:
    if not isinstance(optimum, Mapping):
        raise traitlets.TraitError('"optimum" must hold an entry for each lam')
    for lam in lams:
        entry: Any = next((value for key, value in optimum.items() if _number(key) == lam), None)
        where = f'"optimum" of lam {lam:g}'
        _need(entry, ("free", "l1"), where)
        for kind in ("free", "l1"):
            _need(entry[kind], _OF_OPTIMUM, f'"{kind}" of {where}')
            for key in _OF_OPTIMUM:
                _numbers([entry[kind][key]], 1, f'"{key}" of {where}')


def _check_picture(run: Mapping[str, Any], where: str) -> None:
    if run["output"] != "last":
        return
    _need(run, ("w", "w_scale"), where)
    _numbers([run["w_scale"]], 1, f'"w_scale" of {where}')
    try:
        many = len(base64.b64decode(run["w"], validate=True))
    except (TypeError, ValueError):
        many = 0
    if many != SIDE**2:
        raise traitlets.TraitError(f'"w" of {where} must be {SIDE**2} bytes in base64; got {many}')


def _need(value: Any, keys: Sequence[str], where: str) -> None:
    if not isinstance(value, Mapping):
        raise traitlets.TraitError(
            f"{where} must be a dictionary with {', '.join(keys)}; got {type(value).__name__}"
        )
    missing = [key for key in keys if key not in value]
    if missing:
        raise traitlets.TraitError(f"{where} must hold {', '.join(keys)}: {missing[0]} is missing")


def _number(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _numbers(values: Any, many: int | None, where: str) -> None:
    right = isinstance(values, (list, tuple)) and len(values) > 0
    if not right or (many is not None and len(values) != many):
        wanted = "numbers" if many is None else f"{many} numbers"
        raise traitlets.TraitError(f"{where} must be a list of {wanted}")
    if not all(isinstance(v, (int, float)) and math.isfinite(v) for v in values):
        raise traitlets.TraitError(f"{where} must hold finite numbers")
