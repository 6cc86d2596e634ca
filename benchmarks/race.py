"""Race the seven optimizers of document 000 on MNIST, over lambda, from several seeds.

Run it with

    python -m benchmarks.race [--seeds 10]

It takes 5 minutes on two slow cores, and writes book/_data/race.json. Its results are

n, d, n_test : numbers of training examples, of features and of test examples
baseline : share of the larger class in the test set
radius : of the l1 ball
seeds : number of seeds of each online solver; seed s draws the same examples for all of them
bands : what "low" and "high" are
lams : the values of lambda
iterations : {"batch": for GD and projected GD, "online": for the others}, the step counts kept,
    spaced evenly on a log scale
passes : the same two lists in passes over the data
about : optimizer -> {"step": its step size, "own": the set that is its own}
optimum : lambda ("0.001", ..., "10") -> {"free": over all w, "l1": in the l1 ball}, each with
    P, gap (a bound of P minus the least value, see `certificates`), test_error, train_error and
    the norms l1 and l2
certificates : how each gap was computed
runs : list of runs, each with
    optimizer : GD, projected GD, SGD, SMD, SEG±, AdaGrad or Pegasos
    lam : a number of `lams`
    set : "l1" for the l1 ball, "own" for the optimizer's own (GD has only the latter, and SEG±
        only the former)
    output : "last" for the last iterate, "average" for the uniform average
    suboptimality : {"median", "low", "high"}, lists over `iterations`, of P minus the P of
        `optimum`: "l1" for the set "l1", else "free"
    accuracy : the same of the accuracy on the test set, where a score of 0 is wrong
    seconds : list over `iterations` of the median seconds that the steps up to there took,
        without drawing and evaluating
    train_error, test_error : medians at the end
    w, w_scale : for the output "last" at the first seed, the picture of the final w: base64 of
        784 bytes, row by row of the 28 x 28 image, 128 + 127 w_j/w_scale, rounded
"""

from __future__ import annotations

import argparse
import base64
from collections.abc import Iterable
from typing import Any

import numpy as np

from pegasos_lib import HingeProblem, Run, load_mnist_binary
from pegasos_lib.optimizers import (
    BUDGET,
    LAMS,
    OPTIMIZERS,
    RADIUS,
    SETS,
    comparator,
    kind_of,
    optimize,
    set_of,
)
from pegasos_lib.run import record_counts

from .measured import say, store
from .optima import Floats, Optimum, free_optimum, l1_optimum

KEPT = {kind: record_counts(24, steps).tolist() for kind, steps in BUDGET.items()}
BATCH_SEEDS = 5  # GD draws nothing: it runs again for the clock alone
QUANTILES = {"median": 0.5, "low": 0.1, "high": 0.9}
ABOUT = {
    "GD": {"step": "1/(lam t)", "own": "all w"},
    "projected GD": {"step": "1/(lam t)", "own": "l2 ball of radius 1/sqrt(lam)"},
    "SGD": {"step": "1/sqrt(t)", "own": "all w"},
    "SMD": {"step": "z/(G sqrt(T)), G = lam z + R", "own": "l2 ball of radius 1/sqrt(lam)"},
    "SEG±": {"step": "sqrt(2 ln(2d)/T)/(z G), G = lam z + max |x_ij|", "own": "l1 ball"},
    "AdaGrad": {
        "step": "a/sqrt(sum of g_j^2), a = sqrt(2) z in a ball, 1/R without",
        "own": "all w",
    },
    "Pegasos": {"step": "1/(lam t)", "own": "l2 ball of radius 1/sqrt(lam)"},
}
CERTIFICATES = {
    "free": "duality gap P(w) - D(alpha) of SDCA",
    "l1": "duality gap P(u) - D(alpha) over the ball, where D(alpha) = mean(alpha) "
    "- lam (<u, v> - ||u||^2/2), v = w(alpha) and u is the projection of v onto the ball; alpha "
    "by coordinate ascent, then an interior-point method on the active problem",
}


def optima(train: HingeProblem, test: HingeProblem, lams: Iterable[float]) -> dict[str, Any]:
    """Return for each lambda the certified optimum over all w, and in the l1 ball."""
    found = {}
    for lam in lams:
        problem = train.with_lam(lam)
        points = {"free": free_optimum(problem), "l1": l1_optimum(problem, RADIUS)}
        found[f"{lam:g}"] = {name: describe(problem, test, point) for name, point in points.items()}
    return found


def race(
    train: HingeProblem,
    test: HingeProblem,
    optimum: dict[str, Any],
    lams: Iterable[float] = LAMS,
    seeds: int = 10,
    names: Iterable[str] = OPTIMIZERS,
    kept: dict[str, list[int]] = KEPT,
) -> list[dict[str, Any]]:
    """Return the `runs` of the results, from seeds 0, 1, ...; `kept` holds the step counts.

    A seed runs all that it has to before the next, so that what else the machine does falls on
    all optimizers alike.
    """
    names = tuple(names)
    curves: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for seed in range(seeds):
        for lam in lams:
            problem = train.with_lam(lam)
            for feasible in SETS:
                for name in names:
                    kind, is_other = kind_of(name), set_of(name, feasible) != feasible
                    if is_other or (kind == "batch" and seed >= BATCH_SEEDS):
                        continue
                    run = optimize(
                        name,
                        problem,
                        n_iter=kept[kind][-1],
                        feasible=feasible,
                        rng=seed,
                        record=kept[kind],
                    )
                    best = optimum[f"{lam:g}"][comparator(name, feasible)]["P"]
                    for output, curve in _curves(run, test, best).items():
                        curves.setdefault((name, lam, feasible, output), []).append(curve)
        say(f"seed {seed + 1} of {seeds}")
    return [
        {"optimizer": name, "lam": lam, "set": feasible, "output": output} | _summary(several)
        for (name, lam, feasible, output), several in curves.items()
    ]


def _curves(run: Run, test: HingeProblem, best: float) -> dict[str, dict[str, Any]]:
    trace, problem = run.trace, run.trace.problem
    outputs = {
        "last": (trace.w, trace.objective),
        "average": (trace.w_average, trace.objective_average),
    }
    return {
        output: {
            "suboptimality": objective - best,
            "accuracy": test.accuracy(W),
            "seconds": trace.seconds,
            "train_error": 1.0 - problem.accuracy(W[-1]),
            "w": W[-1],
        }
        for output, (W, objective) in outputs.items()
        if W is not None
    }


def _summary(curves: list[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, digits in (("suboptimality", 4), ("accuracy", 4)):
        values = np.array([curve[key] for curve in curves])
        found[key] = {
            name: [float(f"{value:.{digits}g}") for value in np.quantile(values, q, axis=0)]
            for name, q in QUANTILES.items()
        }
    seconds = np.median([curve["seconds"] for curve in curves], axis=0)
    found["seconds"] = [float(f"{value:.3g}") for value in seconds]
    found["train_error"] = float(np.median([curve["train_error"] for curve in curves]))
    found["test_error"] = float(np.median([1.0 - curve["accuracy"][-1] for curve in curves]))
    found["w"], found["w_scale"] = picture(curves[0]["w"])
    return found


def picture(w: Floats) -> tuple[str, float]:
    """Return w as bytes in base64, and the size that 127 steps from 128 stand for."""
    scale = float(np.abs(w).max()) or 1.0
    levels = np.rint(128.0 + 127.0 * w / scale).astype(np.uint8)
    return base64.b64encode(levels.tobytes()).decode(), scale


def describe(problem: HingeProblem, test: HingeProblem, point: Optimum) -> dict[str, float]:
    """Return P, its certificate, the errors and the norms of a point."""
    w = point.w
    return {
        "P": problem.objective(w),
        "gap": point.gap,
        "test_error": 1.0 - test.accuracy(w),
        "train_error": 1.0 - problem.accuracy(w),
        "l1": float(np.abs(w).sum()),
        "l2": float(np.linalg.norm(w)),
    }


def mnist() -> tuple[HingeProblem, HingeProblem]:
    """Return MNIST's training and test sets; lambda is set later, and the test set has none."""
    train, test = (HingeProblem(*load_mnist_binary(split), 1.0) for split in ("train", "test"))
    return train, test


def main() -> None:
    """Run all, and store the results."""
    parser = argparse.ArgumentParser(description="\n".join(__doc__.splitlines()[:1]))
    parser.add_argument("--seeds", type=int, default=10, help="each takes half a minute")
    seeds = parser.parse_args().seeds

    train, test = mnist()
    optimum = optima(train, test, LAMS)
    say("the optima")
    runs = race(train, test, optimum, seeds=seeds)
    for run in runs:
        if run["output"] == "average":
            del run["w"], run["w_scale"]
    results = {
        "n": train.n,
        "d": train.d,
        "n_test": test.n,
        "baseline": float(max(np.mean(test.y > 0.0), np.mean(test.y < 0.0))),
        "radius": RADIUS,
        "seeds": seeds,
        "bands": "10 and 90 % quantiles over the seeds",
        "lams": LAMS,
        "iterations": KEPT,
        "passes": {"batch": KEPT["batch"], "online": [t / train.n for t in KEPT["online"]]},
        "about": ABOUT,
        "optimum": optimum,
        "certificates": CERTIFICATES,
        "runs": runs,
    }
    # The curves are rounded already; what they are measured from needs more digits.
    path = store("race", f"python -m benchmarks.race --seeds {seeds}", results, digits=9)
    say(f"{path}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
