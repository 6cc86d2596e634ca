"""SDCA against Pegasos on cells: epochs and seconds to a suboptimality, across lambda.

Measures what document 004 announces, on the 4,886 crops of blood cells that `fetch_blood_cells`
finds (white against the rest, and red against the rest), and on the cell nuclei of scikit-learn,
which ship, so that a test can run that part again. See `prepare` for the features. Every seed holds
out other examples, and the methods of a seed run in turn.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from pegasos_lib import HingeProblem, fetch_blood_cells, load_cell_nuclei, pegasos, sdca
from pegasos_lib._kernels import gap_loop, greedy_loop, rows_of, sweep_loop
from pegasos_lib.problem import FloatArray, IntArray

from . import measured

NAME = "blood_cells"
LAMBDAS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5)
EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
SEEDS = range(10)
EPOCHS = {"SDCA": 400, "Pegasos": 200}  # most that a run makes
HELD_OUT = 0.2  # share of the photographs, or of the nuclei
EARLY = 1, 10  # epochs after which the held-out error is looked at
PRINTED = 20  # epochs of the update as printed


class Part(NamedTuple):
    """Hold the examples of one seed: to train on, and held out."""

    X: FloatArray
    y: FloatArray
    X_test: FloatArray
    y_test: FloatArray


class Path(NamedTuple):
    """Hold what a run met at its stops."""

    epochs: FloatArray
    seconds: FloatArray  # in the steps alone
    objective: FloatArray
    gap: FloatArray | None  # P(w(alpha)) - D(alpha), where there is an alpha
    w: FloatArray  # at the epochs of EARLY that were made, and at the end


def prepare(X: FloatArray, y: FloatArray, held_out: Any) -> Part:
    """Centre the features, add a constant one, and scale all rows so that the longest has length 1.

    The centre, the constant (the root mean square length of the centred rows) and the scale come
    from the rows that are not held out.
    """
    X = X - X[~held_out].mean(axis=0)
    constant = np.sqrt(np.square(X[~held_out]).sum(axis=1).mean())
    X = np.column_stack([X, np.full(len(X), constant)])
    X /= np.sqrt(np.square(X[~held_out]).sum(axis=1).max())
    return Part(X[~held_out], y[~held_out], X[held_out], y[held_out])


def some_of(names: IntArray, seed: int) -> Any:
    """Tell for each example whether its photograph is among the fifth that a seed holds out."""
    kinds = np.unique(names)
    chosen = np.random.default_rng(seed).permutation(kinds)[: round(HELD_OUT * len(kinds))]
    return np.isin(names, chosen)


def nuclei(seed: int) -> Part:
    """Return the nuclei, malignant (+1) against benign; a fifth of them held out."""
    X, y = load_cell_nuclei()
    return prepare(X, y, some_of(np.arange(len(y)), seed))


def cells(positive: Any, seed: int) -> Part:
    """Return the blood cells at 14 x 14 pixels, those of a fifth of the photographs held out.

    A pixel is the mean of four. At 28 x 28 a step costs four times as much, and on a split that was
    tried the held-out errors at the optimum were the same.
    """
    cells = fetch_blood_cells(positive)
    X = cells.X.reshape(-1, 14, 2, 14, 2, 3).mean(axis=(2, 4)).reshape(-1, 588)
    return prepare(X, cells.y, some_of(cells.image, seed))


TASKS: dict[str, Callable[[int], Part]] = {
    "nuclei": nuclei,
    "white": partial(cells, "white"),
    "red": partial(cells, "red"),
}


def stops(n: int, epochs: int) -> IntArray:
    """Return the step counts at which a run is looked at.

    From a 64th of an epoch on, each about 1.4 times the one before; then every epoch, and from 20
    on about every twentieth part more.
    """
    early = n * 2.0 ** np.arange(-6, 0, 0.5)
    late = np.rint(np.geomspace(20, max(epochs, 20), 1 + max(0, round(20 * np.log(epochs / 20)))))
    whole = np.concatenate([np.arange(1, 21), late])
    counts = np.concatenate([np.rint(early), n * whole[whole <= epochs]]).astype(np.int64)
    return np.unique(counts[counts > 0])


def ascend(
    problem: HingeProblem, seed: int, *, order: str, first_pass: bool = False, epochs: int = 0
) -> Path:
    """Run SDCA as `sdca(problem, rng=seed, order=order, shrink=False)` does, looked at more often.

    With `first_pass` it begins after the pass of `sgd_initialisation`, which counts as an epoch.
    It ends once the gap is below the least of EPSILONS.
    """
    n, rng = problem.n, np.random.default_rng(seed)
    data, scale, norms = (
        (rows_of(problem), problem.y),
        problem.lam * problem.n,
        problem.squared_norms,
    )
    alpha, w, exact = np.zeros(n), np.zeros(problem.d), np.zeros(problem.d)
    seconds, done, looks, kept = 0.0, 0, [], {}
    if first_pass:
        visits = np.random.default_rng([seed, 1]).permutation(n)
        start = time.perf_counter()
        greedy_loop()(*data, visits, norms, problem.lam, alpha, w)
        w /= scale
        seconds, done = time.perf_counter() - start, n
    at = stops(n, epochs or EPOCHS["SDCA"])
    for stop in at[at >= done].tolist():
        while done < stop:
            if done % n == 0:
                visits = _order(rng, n, order)
            piece = visits[done % n : done % n + stop - done]
            start = time.perf_counter()
            sweep_loop()(*data, piece, norms, scale, alpha, w)
            seconds += time.perf_counter() - start
            done += len(piece)
        gap = gap_loop()(*data, scale, alpha, exact) / n
        dual = alpha.mean() - 0.5 * problem.lam * exact @ exact
        looks.append((done / n, seconds, dual + gap, gap))
        if done in [n * e for e in EARLY]:
            kept[done] = exact.copy()
        if gap <= EPSILONS[-1]:
            break
    epochs_, seconds_, objective, gaps = np.array(looks).T
    return Path(epochs_, seconds_, objective, gaps, np.array([*kept.values(), exact]))


def _order(rng: np.random.Generator, n: int, order: str) -> IntArray:
    if order == "random":
        return rng.integers(n, size=n, dtype=np.int32)
    visits: IntArray = np.arange(n, dtype=np.int32)
    rng.shuffle(visits)
    return visits


def descend(
    problem: HingeProblem, seed: int, *, sampling: Any, average: Any = None, epochs: int = 0
) -> Path:
    """Run Pegasos with its projection; look at the last iterate, or the average if it is kept."""
    epochs = epochs or EPOCHS["Pegasos"]
    n, at = problem.n, stops(problem.n, epochs)
    run = pegasos(
        problem, n_iter=epochs * n, sampling=sampling, average=average, rng=seed, record=at
    )
    W = run.trace.w if average is None else run.trace.w_average
    assert W is not None
    kept = [int(np.flatnonzero(at == n * e)[0]) for e in EARLY if e <= epochs]
    return Path(at / n, run.trace.seconds, problem.objective(W), None, W[[*kept, -1]])


METHODS: dict[str, Callable[..., Path]] = {
    "SDCA, permutation": partial(ascend, order="permutation"),
    "SDCA, random": partial(ascend, order="random"),
    "SDCA after SGD": partial(ascend, order="permutation", first_pass=True),
    "Pegasos, permutation": partial(descend, sampling="permutation"),
    "Pegasos, iid": partial(descend, sampling="iid"),
    "Pegasos, iid average": partial(descend, sampling="iid", average="uniform"),
}


def ascend_as_printed(problem: HingeProblem, seed: int, epochs: int = PRINTED) -> tuple[Any, Any]:
    """Return alpha and w(alpha) of SDCA-perm with the update as document 004 prints it."""
    rng, scale = np.random.default_rng(seed), problem.lam * problem.n
    alpha, w = np.zeros(problem.n), np.zeros(problem.d)
    for _ in range(epochs):
        for i in rng.permutation(problem.n):
            x, label = problem.X[i], problem.y[i]
            step = scale * (1.0 - x @ w) * label / problem.squared_norms[i]
            new = min(1.0, max(0.0, alpha[i] + step))
            if new != alpha[i]:
                w += (new - alpha[i]) * label / scale * x
                alpha[i] = new
    return alpha, w


def first(values: FloatArray, reached: Any) -> float:
    """Return the value at the first stop that has reached something; infinity if none has."""
    return float(values[np.argmax(reached)]) if reached.any() else np.inf


def band(values: Iterable[float], digits: int = 3) -> list[float | None]:
    """Return [median, least, largest]; None stands for a run that did not get there."""
    array = np.asarray(list(values), dtype=float)
    # The lower of two middle runs, so that the median is one of them.
    three = np.sort(array)[(len(array) - 1) // 2], array.min(), array.max()
    return [float(f"{v:.{digits}g}") if np.isfinite(v) else None for v in three]


def error(w: FloatArray, X: FloatArray, y: FloatArray) -> float:
    """Return the share of mistakes; a score of 0 is one."""
    return float(np.mean(y * (X @ w) <= 0.0))


def measure_seed(part: Part, lam: float, seed: int, epochs: int = 0) -> dict[str, Any]:
    """Run all methods, one after the other, on the same examples; return what each reached.

    `epochs` limits a run to fewer of them than EPOCHS.
    """
    problem = HingeProblem(part.X, part.y, lam)
    best = sdca(problem, n_epochs=20_000, gap=1e-9, rng=seed)
    if best.gap > 1e-9:
        raise RuntimeError(f"the optimum was not found: gap {best.gap:.1e}")
    least = problem.objective(best.w) - best.gap  # D(alpha), no more than the minimum
    found: dict[str, Any] = {
        "n": problem.n,
        "minimum": problem.objective(best.w),
        "support": float(np.mean(best.alpha > 0.0)),
        "error": error(best.w, part.X_test, part.y_test),
        "constant": float(min(np.mean(part.y_test > 0), np.mean(part.y_test < 0))),
        "methods": {},
    }
    for name, run in METHODS.items():
        path = run(problem, seed, epochs=epochs)
        excess = path.objective - least
        to = found["methods"][name] = {
            "epochs": [first(path.epochs, excess <= eps) for eps in EPSILONS],
            "seconds": [first(path.seconds, excess <= eps) for eps in EPSILONS],
            "error": [error(w, part.X_test, part.y_test) for w in path.w],
        }
        to["error"] = (to["error"] + 2 * to["error"][-1:])[: 1 + len(EARLY)]
        if path.gap is not None:
            to["gap"] = [first(path.epochs, path.gap <= eps) for eps in EPSILONS]
    alpha, w = ascend_as_printed(problem, seed)
    found["printed"] = {
        "gap": problem.duality_gap(w, alpha),
        "error": error(w, part.X_test, part.y_test),
    }
    return found


def summary(seeds: list[dict[str, Any]]) -> dict[str, Any]:
    """Return bands over the seeds in place of single values."""
    names, methods = ("n", "minimum", "support", "error", "constant"), seeds[0]["methods"]
    return {
        **{name: band(s[name] for s in seeds) for name in names},
        "printed": {k: band(s["printed"][k] for s in seeds) for k in seeds[0]["printed"]},
        "methods": {
            name: {
                key: [
                    band(column)
                    for column in zip(*(s["methods"][name][key] for s in seeds), strict=True)
                ]
                for key in methods[name]
            }
            for name in methods
        },
    }


def measure(
    task: str, lambdas: Iterable[float], seeds: Iterable[int] = SEEDS, epochs: int = 0
) -> dict[str, Any]:
    """Return the bands of a task for each lambda."""
    lambdas, found = list(lambdas), {}
    for seed in seeds:
        part = TASKS[task](seed)
        for lam in lambdas:
            found.setdefault(f"{lam:g}", []).append(measure_seed(part, lam, seed, epochs))
            measured.say(f"{task}, seed {seed}, lambda {lam:g}")
    return {"d": part.X.shape[1], "lambdas": {lam: summary(runs) for lam, runs in found.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=f"{__doc__}\nIt takes ten minutes, the nuclei alone one.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--seeds", type=int, default=len(SEEDS), help="number of seeds")
    parser.add_argument("--tasks", nargs="+", choices=TASKS, default=list(TASKS))
    options = parser.parse_args()
    measure("nuclei", LAMBDAS[:1], [0], 2)  # compiles
    results: dict[str, Any] = {
        "lambdas": LAMBDAS,
        "epsilons": EPSILONS,
        "seeds": options.seeds,
        "epochs": EPOCHS,
        "early": EARLY,
        "printed epochs": PRINTED,
        "tasks": {task: measure(task, LAMBDAS, range(options.seeds)) for task in options.tasks},
    }
    if options.tasks == list(TASKS) and options.seeds >= len(SEEDS):
        print(measured.store(NAME, f"python -m benchmarks.{NAME}", results))
    else:
        measured.say("only a part was measured: nothing is stored")


if __name__ == "__main__":
    main()
