"""Measure Pegasos at scale: the work to a gap against n, batch size, order and machines.

    python -m benchmarks.scale

About 4 minutes of one core and 2.5 GB of memory on a quiet machine; progress goes to stderr. The
work is counted in steps and drawn examples, which do not depend on the machine; only what is named
seconds does. Each curve of P(w) - P(w*) is measured against a lower bound of P(w*) that a dual
point proves, so that a gap errs on the safe side, by less than the `tolerance` of its data.
"""

from __future__ import annotations

import argparse
import resource
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from pegasos_lib import HingeProblem, load_mnist_binary, make_rcv1_like, pegasos, sdca
from pegasos_lib.run import Run

from .measured import checkpoints, say, store

EPSILONS = (0.1, 0.03, 0.01, 0.003, 0.001)
LARGEST = 800_000
SEEDS = tuple(range(10))


def rcv1_like(n: int, lam: float) -> HingeProblem:
    """Return the problem of n generated rows in the shape of RCV1."""
    return HingeProblem(*make_rcv1_like(n, rng=0), lam)


def mnist(lam: float) -> HingeProblem:
    """Return the problem of the 10,000 images that ship with the library."""
    return HingeProblem(*load_mnist_binary(), lam)


def least(problem: HingeProblem, tolerance: float = 1e-6) -> float:
    """Return a lower bound of P(w*) that is at most `tolerance` too small."""
    return float(problem.dual_objective(sdca(problem, gap=tolerance, n_epochs=1000).alpha))


def reached(counts: Any, gaps: Any, eps: float) -> float | None:
    """Return the count at which a curve first falls to eps, between two points on log axes."""
    below = np.flatnonzero(np.asarray(gaps) <= eps)
    if not below.size:
        return None
    j = int(below[0])
    if j == 0:
        return float(counts[0])
    x, y = np.log(counts[j - 1 : j + 1]), np.log(np.maximum(gaps[j - 1 : j + 1], 1e-300))
    return float(np.exp(x[0] + (x[1] - x[0]) * (y[0] - np.log(eps)) / (y[0] - y[1])))


def curves(run: Run, low: float) -> dict[str, Any]:
    """Return the gaps of the last and of the average iterate at the kept steps."""
    return {"last": run.trace.objective - low, "average": run.trace.objective_average - low}


def crossings(run: Run, low: float, epsilons: Sequence[float]) -> dict[str, list[float | None]]:
    """Return the steps after which each output has each gap, None where it never had."""
    return {
        output: [reached(run.trace.iteration, gaps, eps) for eps in epsilons]
        for output, gaps in curves(run, low).items()
    }


def by_output(runs: list[dict[str, list[float | None]]]) -> dict[str, Any]:
    """Turn a list of `crossings`, one a seed, into lists by output, a row for each gap."""
    return {
        name: [list(row) for row in zip(*[run[name] for run in runs], strict=True)]
        for name in runs[0]
    }


def sizes(
    problem: HingeProblem,
    low: float,
    seeds: Sequence[int] = SEEDS,
    n_iter: int = 400_000,
    epsilons: Sequence[float] = EPSILONS[:3],
) -> dict[str, Any]:
    """Count the steps of independent draws to each gap, for one n: the theorem's own setting."""
    record = checkpoints(1_000, n_iter, 14)
    runs = [
        crossings(pegasos(problem, n_iter=n_iter, rng=seed, record=record), low, epsilons)
        for seed in seeds
    ]
    return {"n": problem.n, "least": low, **by_output(runs)}


def batches(
    problem: HingeProblem,
    low: float,
    k: int,
    seeds: Sequence[int] = SEEDS,
    examples: int = 80_000,
    epsilons: Sequence[float] = EPSILONS[:3],
) -> dict[str, Any]:
    """Count the steps of batches of k independent draws to each gap."""
    n_iter = max(examples // k, 400)
    record = checkpoints(2, n_iter, 60)
    runs = [
        crossings(
            pegasos(
                problem, n_iter=n_iter, batch_size=k, rng=seed, record=record, average="weighted"
            ),
            low,
            epsilons,
        )
        for seed in seeds
    ]
    return {"k": k, **by_output(runs)}


def spread(problem: HingeProblem, rounds: int = 60) -> dict[str, float]:
    """Return R^2 and the largest eigenvalue of the mean of x x^T, by the power method."""
    v = np.random.default_rng(0).standard_normal(problem.d)
    for _ in range(rounds):
        v = problem.X.T @ (problem.X @ (v / np.linalg.norm(v)))
    return {"R^2": problem.R**2, "eigenvalue": float(np.linalg.norm(v)) / problem.n}


def orders(
    problem: HingeProblem,
    low: float,
    sampling: str,
    seeds: Sequence[int] = SEEDS,
    epochs: int = 60,
    epsilons: Sequence[float] = EPSILONS[2:],
) -> dict[str, Any]:
    """Count the passes to each gap in one order of the draws; keep the quartiles of the curves."""
    record = checkpoints(problem.n // 20, epochs * problem.n, 40)
    runs, gaps = [], []
    for seed in seeds:
        run = pegasos(
            problem,
            n_iter=epochs * problem.n,
            sampling=sampling,
            rng=seed,
            record=record,
        )
        runs.append(crossings(run, low, epsilons))
        gaps.append(curves(run, low))
    return {
        "steps": record,
        **{
            f"{output}, {name}": function([one[output] for one in gaps], axis=0)
            for output in ("last", "average")
            for name, function in (("least", np.min), ("median", np.median), ("largest", np.max))
        },
        **by_output(runs),
    }


def machines(
    problem: HingeProblem, low: float, m: int, seeds: Sequence[int] = SEEDS, n_iter: int = 80_000
) -> dict[str, Any]:
    """Share rows and steps among m machines and average what they find, once, at the end.

    Machine j has every m-th row from a random place on and makes n_iter/m steps on its own rows.
    """
    together, alone = [], []
    for seed in seeds:
        rng, found = np.random.default_rng([m, seed]), []
        rows = rng.permutation(problem.n)
        for j in range(m):
            mine = rng.choice(rows[j::m], size=n_iter // m)
            run = pegasos(problem, n_iter=n_iter // m, draws=mine, average="weighted")
            found.append(run.w_average)
        together.append(float(problem.objective(np.mean(found, axis=0))) - low)
        alone.append(float(problem.objective(found[0])) - low)
    return {"machines": m, "together": together, "alone": alone}


def race(problem: HingeProblem, low: float, rounds: int = 3, passes: int = 4) -> dict[str, Any]:
    """Run Pegasos in both orders and SDCA in turn, a seed a round; count steps and seconds.

    The seconds are those of the steps and of the running average; they do not hold the checks of
    the data, nor the evaluation of P, which a run needs none of.
    """
    record = checkpoints(2_000, passes * problem.n, 24)
    taken: dict[str, list[dict[str, Any]]] = {}

    def note(name: str, counts: Any, gaps: Any, seconds: Any) -> None:
        steps = [reached(counts, gaps, eps) for eps in EPSILONS]
        times = [None if s is None else float(np.interp(s, counts, seconds)) for s in steps]
        taken.setdefault(name, []).append(
            {
                "counts": counts,
                "gaps": gaps,
                "steps": steps,
                "seconds": times,
                "seconds per step": seconds[-1] / counts[-1],
            }
        )

    for seed in range(rounds):
        for sampling in ("iid", "permutation"):
            run = pegasos(
                problem,
                n_iter=passes * problem.n,
                sampling=sampling,
                rng=seed,
                record=record,
            )
            for output, gaps in curves(run, low).items():
                note(f"{sampling}, {output}", run.trace.iteration, gaps, run.trace.seconds)
        # Without shrinking, whose epochs are more and other visits: here one is n visits.
        dual = sdca(problem, gap=2e-4, n_epochs=30, rng=seed, shrink=False, record=range(31)).trace
        note("SDCA", dual.iteration[1:] * problem.n, dual.objective[1:] - low, dual.seconds[1:])
        say(f"round {seed + 1} of {rounds} at n = {problem.n:,}")
    return {
        name: {
            "counts": runs[0]["counts"],
            "gaps": runs[0]["gaps"],
            **{key: [run[key] for run in runs] for key in ("steps", "seconds", "seconds per step")},
        }
        for name, runs in taken.items()
    }


def comparisons() -> dict[str, Any]:
    """Measure batches, machines and orders on data that a test can make again."""
    results: dict[str, Any] = {}
    kinds = {"RCV1-like": partial(rcv1_like, 20_000), "MNIST": mnist}
    for name, lam in (("RCV1-like", 1e-3), ("MNIST", 1e-2)):
        problem = kinds[name](lam)
        low = least(problem)
        results[f"batches, {name}"] = {
            "n": problem.n,
            "lambda": lam,
            "least": low,
            **spread(problem),
            "by k": [batches(problem, low, k) for k in (1, 4, 16, 64, 256, 1024)],
        }
        say(f"batches on {name}")
        if name == "RCV1-like":
            results["machines"] = [machines(problem, low, m) for m in (1, 4, 16, 64, 256)]
            say("machines")
    for name, lam in (("RCV1-like", 1e-4), ("MNIST", 1e-2)):
        problem = kinds[name](lam)
        low = least(problem)
        results[f"orders, {name}"] = {
            "n": problem.n,
            "lambda": lam,
            "least": low,
            **{order: orders(problem, low, order) for order in ("iid", "permutation")},
        }
        say(f"orders on {name}")
    return results


def growth(n: int, rounds: int, lam: float = 1e-4) -> dict[str, Any]:
    """Measure what more rows change, up to n of them."""
    by_n = []
    for size in (2_000, 20_000, 200_000):
        problem = rcv1_like(size, lam)
        by_n.append(sizes(problem, least(problem)))
        say(f"n = {size:,}")
    problem = rcv1_like(n, lam)
    say(f"n = {n:,} is generated")
    low = least(problem, 2e-6)
    raced = race(problem, low, rounds)
    by_n.append(sizes(problem, low))
    say(f"n = {n:,}")
    arrays = (problem.X.data, problem.X.indices, problem.X.indptr)
    return {
        "sizes": {"lambda": lam, "by n": by_n},
        "largest": {
            "n": problem.n,
            "d": problem.d,
            "lambda": lam,
            "bytes": sum(part.nbytes for part in arrays),
            "nonzeros per row": problem.X.nnz / problem.n,
            "least": low,
            "race": raced,
        },
        "peak gigabytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def measure(n: int, rounds: int) -> dict[str, Any]:
    """Measure everything; n is the number of rows of the largest problem."""
    return {"epsilons": EPSILONS, "seeds": SEEDS, **comparisons(), **growth(n, rounds)}


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(
        description="Measure Pegasos at scale; writes book/_data/scale.json. About 4 minutes of "
        "one core on a quiet machine, and 2.5 GB of memory."
    )
    parser.add_argument("--rows", type=int, default=LARGEST, help="rows of the largest problem")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each solver on it")
    options = parser.parse_args()
    command = f"python -m benchmarks.scale --rows {options.rows} --rounds {options.rounds}"
    path = store("scale", command, measure(options.rows, options.rounds))
    say(f"wrote {path}")


if __name__ == "__main__":
    main()
