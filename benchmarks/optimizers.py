"""Time the seven optimizers of document 000 on MNIST, compiled and in NumPy.

Run it with

    python -m benchmarks.optimizers [--repeats 5] [--l2]

GD and projected GD take 100 steps on all 10,000 examples; the five online solvers take 10,000
steps on one. As in the document, all but GD stay in the l1 ball of radius 10; `--l2` gives each
the set that it has by default instead. Every 100 steps the iterate is kept (GD: each step), and
the objective is evaluated there.

"steps" is `Run.seconds`; "all" is the wall time of the call and the objectives, with the checks,
the draws and the keeping. All variants run in turn, over and over, each time on new examples.
Compiling is not timed.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pegasos_lib import (
    HingeProblem,
    L1Ball,
    adagrad,
    exponentiated_gradient,
    load_mnist_binary,
    mirror_descent,
    pegasos,
    sgd,
    subgradient_descent,
    use_jit,
)

from .turns import in_turn

LAM, RADIUS = 1e-3, 10.0
BATCH, ONLINE = range(101), range(0, 10_001, 100)
GOALS = {"compiled": 900.0, "NumPy": 2000.0}  # ms, for all seven together


def optimizers(l2: bool) -> dict[str, Callable[..., Any]]:
    """Return the seven solvers by name, on their own sets or on the l1 ball."""
    ball: dict[str, Any] = {} if l2 else {"project": L1Ball(RADIUS)}
    batch = partial(subgradient_descent, n_iter=100, record=BATCH)
    online = {"n_iter": 10_000, "record": ONLINE}
    return {
        "GD": lambda p, rng: batch(p),
        "projected GD": lambda p, rng: batch(p, **({"project": True} | ball)),
        "SGD": partial(sgd, **online, **ball),
        "mirror descent": partial(mirror_descent, **online, **ball),
        "EG+-": partial(exponentiated_gradient, radius=RADIUS, **online),
        "AdaGrad": partial(adagrad, **online, **ball),
        "Pegasos": partial(pegasos, **online, **ball),
    }


def timer(
    solve: Callable[..., Any], problem: HingeProblem, jit: bool
) -> Callable[[], tuple[float, float]]:
    """Return a function that gives the milliseconds of the steps, and of all with the objectives.

    It draws the same examples for each solver.
    """
    rng = np.random.default_rng(0)

    def time_one() -> tuple[float, float]:
        start = time.perf_counter()
        with use_jit(jit):
            run = solve(problem, rng=rng)
            assert np.isfinite(run.trace.objective).all()
        return 1e3 * run.seconds, 1e3 * (time.perf_counter() - start)

    return time_one


def main() -> None:
    """Run all variants in turn, and print a table in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--l2", action="store_true", help="each on its own set, not the l1 ball")
    arguments = parser.parse_args()

    problem = HingeProblem(*load_mnist_binary(), LAM)
    solvers, paths = optimizers(arguments.l2), {"compiled": True, "NumPy": False}
    variants = {
        f"{path}, {name}": timer(solve, problem, jit)
        for path, jit in paths.items()
        for name, solve in solvers.items()
    }
    taken = in_turn(variants, arguments.repeats)
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, NumPy {np.__version__}")
    print(
        f"MNIST {problem.n:,} x {problem.d}, lambda = {LAM:g}, "
        f"{'own sets' if arguments.l2 else f'l1 ball of {RADIUS:g}'}; "
        f"medians of {arguments.repeats} runs"
    )
    columns = [f"{path}, {part}" for path in paths for part in ("steps", "all")]
    print(f"{'ms':<16}" + "".join(f"{column:>17}" for column in columns))
    medians = {key: np.median(pairs, axis=0) for key, pairs in taken.items()}
    for name in solvers:
        row = np.concatenate([medians[f"{path}, {name}"] for path in paths])
        print(f"{name:<16}" + "".join(f"{value:17.1f}" for value in row))
    # The seven of one round together, and the median of that.
    sums = {path: sum(np.array(taken[f"{path}, {name}"]) for name in solvers) for path in paths}
    row = np.concatenate([np.median(sums[path], axis=0) for path in paths])
    print(f"{'all seven':<16}" + "".join(f"{value:17.1f}" for value in row))
    print(f"{'goal':<16}" + "".join(f"{GOALS[path]:17.0f}" for path in paths for _ in range(2)))


if __name__ == "__main__":
    main()
