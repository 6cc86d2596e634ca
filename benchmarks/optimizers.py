"""Time the seven optimizers of document 000 on MNIST, compiled and in NumPy.

Run it with

    python -m benchmarks.optimizers [--repeats 5] [--l2] [--store]

GD and projected GD take 100 steps on all 10,000 examples; the five online solvers take 10,000
steps on one. As in the document, all but GD stay in the l1 ball of radius 10; `--l2` gives each
the set that it has by default instead. Every 100 steps the iterate is kept (GD: each step), and
the objective is evaluated there.

"steps" is `Run.seconds`; "all" is the wall time of the call and the objectives, with the checks,
the draws and the keeping. All variants run in turn, over and over, each time on new examples.
Compiling is not timed. `--store` writes the times of every round, in milliseconds, to
book/_data/optimizers.json; with 15 repeats it takes 3 minutes on two slow cores.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable

import numpy as np

from pegasos_lib import HingeProblem, load_mnist_binary, use_jit
from pegasos_lib.optimizers import BUDGET, OPTIMIZERS, RADIUS, kind_of, optimize

from .measured import store
from .turns import in_turn

LAM = 1e-3
RECORD = {kind: range(0, steps + 1, steps // 100) for kind, steps in BUDGET.items()}
GOALS = {"compiled": 900.0, "NumPy": 2000.0}  # ms, for all seven together


def timer(
    name: str, problem: HingeProblem, own: bool, jit: bool, record: dict[str, range]
) -> Callable[[], tuple[float, float]]:
    """Return a function that gives the milliseconds of the steps, and of all with the objectives.

    It draws the same examples for each solver.
    """
    rng, counts = np.random.default_rng(0), record[kind_of(name)]

    def time_one() -> tuple[float, float]:
        start = time.perf_counter()
        with use_jit(jit):
            run = optimize(
                name,
                problem,
                n_iter=counts[-1],
                feasible="own" if own else "l1",
                rng=rng,
                record=counts,
            )
            assert np.isfinite(run.trace.objective).all()
        return 1e3 * run.seconds, 1e3 * (time.perf_counter() - start)

    return time_one


def times(
    problem: HingeProblem, own: bool, repeats: int, record: dict[str, range] = RECORD
) -> dict[str, list[tuple[float, float]]]:
    """Return the milliseconds of "steps" and "all" of each round, for "path, name"."""
    return in_turn(
        {
            f"{path}, {name}": timer(name, problem, own, path == "compiled", record)
            for path in GOALS
            for name in OPTIMIZERS
        },
        repeats,
    )


def main() -> None:
    """Run all variants in turn, and print a table in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--l2", action="store_true", help="each on its own set, not the l1 ball")
    parser.add_argument("--store", action="store_true", help="write book/_data/optimizers.json")
    arguments = parser.parse_args()

    problem = HingeProblem(*load_mnist_binary(), LAM)
    taken = times(problem, arguments.l2, arguments.repeats)
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, NumPy {np.__version__}")
    print(
        f"MNIST {problem.n:,} x {problem.d}, lambda = {LAM:g}, "
        f"{'own sets' if arguments.l2 else f'l1 ball of {RADIUS:g}'}; "
        f"medians of {arguments.repeats} runs"
    )
    columns = [f"{path}, {part}" for path in GOALS for part in ("steps", "all")]
    print(f"{'ms':<16}" + "".join(f"{column:>17}" for column in columns))
    medians = {key: np.median(pairs, axis=0) for key, pairs in taken.items()}
    for name in OPTIMIZERS:
        row = np.concatenate([medians[f"{path}, {name}"] for path in GOALS])
        print(f"{name:<16}" + "".join(f"{value:17.1f}" for value in row))
    # The seven of one round together, and the median of that.
    sums = {path: sum(np.array(taken[f"{path}, {name}"]) for name in OPTIMIZERS) for path in GOALS}
    row = np.concatenate([np.median(sums[path], axis=0) for path in GOALS])
    print(f"{'all seven':<16}" + "".join(f"{value:17.1f}" for value in row))
    print(f"{'goal':<16}" + "".join(f"{GOALS[path]:17.0f}" for path in GOALS for _ in range(2)))

    if arguments.store:
        path = store(
            "optimizers",
            f"python -m benchmarks.optimizers --store --repeats {arguments.repeats}"
            + (" --l2" if arguments.l2 else ""),
            {
                "lam": LAM,
                "set": "own" if arguments.l2 else "l1",
                "steps": {kind: counts[-1] for kind, counts in RECORD.items()},
                "times": {
                    path: {
                        name: dict(
                            zip(
                                ("steps", "all"),
                                zip(*taken[f"{path}, {name}"], strict=True),
                                strict=True,
                            )
                        )
                        for name in OPTIMIZERS
                    }
                    for path in GOALS
                },
            },
        )
        print(f"written to {path}")


if __name__ == "__main__":
    main()
