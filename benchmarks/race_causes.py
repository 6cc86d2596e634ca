"""Measure on MNIST what the race of the seven optimizers leaves open: why it goes as it does.

Run it with

    python -m benchmarks.race_causes [--seeds 10]

It takes 15 minutes on two slow cores, and writes book/_data/race_causes.json. Its results are

seeds, bands : as in `benchmarks.race`, where the same seed draws the same first examples
lams : lambda -> the certified minimiser over all w: P, gap, train_error, test_error, l1, l2
long : Pegasos and SGD for a hundred passes, and the two GDs for a hundred steps, by how many
    passes over the data they have made
pixels : Pegasos, one pass, on grey levels from 0 to 255 at the lambdas of the race
adagrad : AdaGrad in the l1 ball, one pass, by its step size
shares : how often a step is a hit, and how often it leaves the ball and is projected
seconds : 10,000 steps of Pegasos and SGD, by turns: free, in the l1 ball, compiled and in NumPy

Where three numbers stand for one, they are the median and the 10 and 90 % quantiles over seeds.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pegasos_lib import (
    HingeProblem,
    L1Ball,
    Run,
    adagrad,
    pegasos,
    sgd,
    subgradient_descent,
    use_jit,
)
from pegasos_lib.optimizers import BUDGET, LAMS, RADIUS

from .measured import say, store
from .optima import free_optimum
from .race import QUANTILES, describe, mnist
from .turns import in_turn

SMALL = (1e-6, 1e-5, 1e-4)  # below the lambdas of the document
PASSES = (1, 10, 100)
GREY = 255.0
ETAS = (0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
ONLINE = BUDGET["online"]
BALL = L1Ball(RADIUS)
LONG: dict[str, Callable[..., Run]] = {
    "Pegasos, l1": partial(pegasos, project=BALL),
    "Pegasos, own": pegasos,
    "SGD, own": sgd,
    "GD, own": subgradient_descent,
    "projected GD, own": partial(subgradient_descent, project=True),
    "projected GD, l1": partial(subgradient_descent, project=BALL),
}


def three(values: ArrayLike) -> list[float]:
    """Return the median and the two quantiles of the values of several seeds."""
    return [float(np.quantile(values, q)) for q in QUANTILES.values()]


def minimisers(
    train: HingeProblem, test: HingeProblem, lams: Iterable[float], gap: float = 1e-8
) -> dict[str, Any]:
    """Return the certified minimiser of each lambda; the gap asked for is at most lambda."""
    found = {}
    for lam in lams:
        problem = train.with_lam(lam)
        found[f"{lam:g}"] = describe(problem, test, free_optimum(problem, min(gap, lam)))
    return found


def long_runs(
    train: HingeProblem,
    test: HingeProblem,
    lams: Iterable[float] = LAMS,
    seeds: int = 10,
    passes: tuple[int, ...] = PASSES,
    names: Iterable[str] = LONG,
) -> list[dict[str, Any]]:
    """Return P, errors and seconds after so many passes; a step of GD is a pass."""
    steps = [count * train.n for count in passes]
    found = []
    for lam in lams:
        problem = train.with_lam(lam)
        for name in names:
            solve = LONG[name]
            if name.startswith(("GD", "projected GD")):
                runs = [solve(problem, n_iter=max(passes), record=passes)]
            else:
                runs = [
                    solve(problem, n_iter=steps[-1], record=steps, rng=seed)
                    for seed in range(seeds)
                ]
            for output in ("last", "average"):
                kept = [_output(run, output) for run in runs]
                found.append(
                    {
                        "solver": name,
                        "lam": lam,
                        "output": output,
                        "P": _by_column([problem.objective(W) for W in kept]),
                        "train_error": _by_column([1.0 - problem.accuracy(W) for W in kept]),
                        "test_error": _by_column([1.0 - test.accuracy(W) for W in kept]),
                        "seconds": np.median([run.trace.seconds for run in runs], axis=0),
                    }
                )
        say(f"a hundred passes at lambda = {lam:g}")
    return found


def pixels(
    train: HingeProblem,
    test: HingeProblem,
    lams: Iterable[float] = LAMS,
    seeds: int = 10,
    n_iter: int = ONLINE,
) -> list[dict[str, Any]]:
    """Return what one pass of Pegasos reaches on grey levels from 0 to 255.

    The minimiser at lambda is that of the levels in [0, 1] at lambda/255^2, divided by 255.
    """
    raw = HingeProblem(GREY * train.X, train.y, 1.0)
    raw_test = HingeProblem(GREY * test.X, test.y, 1.0)
    found = []
    for lam in lams:
        problem, matched = raw.with_lam(lam), train.with_lam(lam / GREY**2)
        best = free_optimum(matched, min(1e-8, matched.lam))
        for kind, project in (("own", True), ("l1", BALL)):
            runs = [
                pegasos(problem, n_iter=n_iter, rng=seed, project=project) for seed in range(seeds)
            ]
            for output in ("last", "average"):
                W = np.concatenate([_output(run, output) for run in runs])
                found.append(
                    {
                        "lam": lam,
                        "set": kind,
                        "output": output,
                        "P": three(problem.objective(W)),
                        "train_error": three(1.0 - problem.accuracy(W)),
                        "test_error": three(1.0 - raw_test.accuracy(W)),
                        "optimum": describe(matched, test, best),
                    }
                )
    return found


def adagrad_steps(
    train: HingeProblem,
    test: HingeProblem,
    lams: Iterable[float] = LAMS,
    seeds: int = 10,
    etas: Iterable[float] = ETAS,
    n_iter: int = ONLINE,
) -> list[dict[str, Any]]:
    """Return what AdaGrad reaches in the l1 ball with other step sizes than its theorem's."""
    found = []
    for lam in lams:
        problem = train.with_lam(lam)
        for eta in etas:
            runs = [
                adagrad(problem, n_iter=n_iter, rng=seed, project=BALL, eta=eta)
                for seed in range(seeds)
            ]
            W = np.array([run.w_average for run in runs])
            found.append(
                {
                    "lam": lam,
                    "eta": eta,
                    "P": three(problem.objective(W)),
                    "test_error": three(1.0 - test.accuracy(W)),
                }
            )
    return found


def shares(
    train: HingeProblem, lams: Iterable[float] = LAMS, seeds: int = 10, n_iter: int = ONLINE
) -> list[dict[str, Any]]:
    """Return how often a step is a hit, and how often it ends on the border of the l1 ball."""
    found = []
    for lam in lams:
        problem = train.with_lam(lam)
        for name, solve in (("SGD", sgd), ("Pegasos", pegasos)):
            hits, projected = [], []
            for seed in range(seeds):
                run = solve(
                    problem, n_iter=n_iter, rng=seed, project=BALL, record=range(n_iter + 1)
                )
                W, i = run.trace.w, run.draws
                assert i is not None
                margins = problem.y[i] * np.einsum("ij,ij->i", problem.X[i], W[:-1])
                hits.append(float(np.mean(margins < 1.0)))
                on_border = np.abs(W[1:]).sum(axis=1) >= RADIUS * (1.0 - 1e-12)
                projected.append(float(np.mean(on_border)))
            found.append(
                {"solver": name, "lam": lam, "hits": three(hits), "projected": three(projected)}
            )
    return found


def seconds(
    train: HingeProblem, lams: Iterable[float] = LAMS, repeats: int = 9, n_iter: int = ONLINE
) -> list[dict[str, Any]]:
    """Return the seconds of the steps of Pegasos and SGD, all variants by turns."""

    def timer(solve: Callable[..., Run], lam: float, project: Any, jit: bool) -> Any:
        rng, problem = np.random.default_rng(0), train.with_lam(lam)

        def run() -> float:
            with use_jit(jit):
                return solve(problem, n_iter=n_iter, rng=rng, project=project).seconds

        return run

    variants = {
        (name, lam, kind, path): timer(solve, lam, project, path == "compiled")
        for name, solve in (("SGD", sgd), ("Pegasos", pegasos))
        for lam in lams
        for kind, project in (("free", False), ("l1", BALL))
        for path in ("compiled", "NumPy")
    }
    taken = in_turn(variants, repeats)
    return [
        dict(zip(("solver", "lam", "set", "path"), key, strict=True))
        | {"seconds": [float(np.quantile(values, q)) for q in (0.5, 0.25, 0.75)]}
        for key, values in taken.items()
    ]


def _output(run: Run, output: str) -> Any:
    return run.trace.w if output == "last" else run.trace.w_average


def _by_column(values: ArrayLike) -> list[list[float]]:
    return [three(column) for column in np.array(values).T]


def main() -> None:
    """Measure all, and store it."""
    parser = argparse.ArgumentParser(description="\n".join(__doc__.splitlines()[:1]))
    parser.add_argument("--seeds", type=int, default=10, help="each takes a minute")
    seeds = parser.parse_args().seeds

    train, test = mnist()
    results: dict[str, Any] = {
        "seeds": seeds,
        "bands": "10 and 90 % quantiles over the seeds",
        "lams": minimisers(train, test, SMALL + LAMS),
    }
    say("the minimisers")
    results["pixels"] = pixels(train, test, seeds=seeds)
    say("grey levels from 0 to 255")
    results["adagrad"] = adagrad_steps(train, test, seeds=seeds)
    say("AdaGrad")
    results["shares"] = shares(train, seeds=seeds)
    say("hits and projections")
    results["seconds"] = seconds(train)
    say("seconds by turns")
    results["long"] = long_runs(train, test, seeds=seeds)
    path = store("race_causes", f"python -m benchmarks.race_causes --seeds {seeds}", results)
    say(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
