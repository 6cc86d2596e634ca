"""Cost per step against n and d, beside the memory bandwidth; peak memory; time to import.

All variants of a group run in turn, over and over; the medians count. `python -m benchmarks.steps
SOLVER FOLDER` measures the peak memory of one fit in a process of its own.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC
from threadpoolctl import threadpool_limits

from pegasos_lib import HingeProblem, load_mnist_binary, pegasos, sdca

from .peers import Data
from .solvers import small_data
from .turns import in_turn

# The lambda at which every step on the RCV1-like data is a hit, whatever n: equal work.
ALL_HITS = 1e-2
MEMORY_LAM = 1e-4


def medians(variants: dict[str, Callable[[], float]], repeats: int) -> dict[str, float]:
    """Return the median of what each variant returns when they run in turn."""
    return {name: median(values) for name, values in in_turn(variants, repeats).items()}


def timed(work: Callable[[], Any]) -> float:
    """Return the seconds that `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def step_cost(problem: HingeProblem, steps: int, average: str | None = None) -> float:
    """Return the seconds of one Pegasos step on examples in random order."""
    return pegasos(problem, n_iter=steps, average=average, rng=0).seconds / steps


def sparse_steps(data: Data, sizes: list[int], steps: int, repeats: int) -> dict[str, Any]:
    """Time random CSR steps against n, beside a row of scipy's X @ w on all rows."""
    parts = {n: (data.X[:n], data.y[:n]) for n in sizes}
    w, largest = np.ones(data.X.shape[1]), sizes[-1]
    variants: dict[str, Callable[[], float]] = {}
    for lam in (ALL_HITS, MEMORY_LAM):
        for n, (X, y) in parts.items():
            problem = HingeProblem(X, y, lam)
            variants[f"{lam:g} {n}"] = lambda problem=problem: step_cost(problem, steps)
    product = parts[largest][0]
    variants["row of X @ w"] = lambda: timed(lambda: product @ w) / largest
    seconds = medians(variants, repeats)
    return {
        "n": sizes,
        "d": int(data.X.shape[1]),
        "nonzeros per row": data.X.nnz / data.X.shape[0],
        "seconds per step, every step a hit": [seconds[f"{ALL_HITS:g} {n}"] for n in sizes],
        "seconds per step, lambda 1e-4": [seconds[f"{MEMORY_LAM:g} {n}"] for n in sizes],
        "seconds per row of X @ w": seconds["row of X @ w"],
    }


def dense_steps(shapes: list[tuple[int, int]], steps: int, repeats: int) -> dict[str, Any]:
    """Time random dense steps against n and d, beside the bandwidth of a stream.

    A step reads its row from memory once, 8 d bytes. The stream is the quickest of three passes
    over the largest array on one core: a sum, a matrix-vector product, a copy.
    """
    rng, variants = np.random.default_rng(0), {}
    array = rng.random(max(n * d for n, d in shapes))
    array -= 0.5
    for n, d in shapes:
        X = array[: n * d].reshape(n, d)
        y = np.where(X @ rng.standard_normal(d) > 0.0, 1.0, -1.0)
        # Of unit length, lam would be 1e-3: only ||x||^2/lam, here d/(12 lam), matters.
        problem = HingeProblem(X, y, 1e-3 * d / 12.0)
        variants[f"{n} x {d}"] = lambda problem=problem: step_cost(problem, steps)
    n, d = max(shapes, key=lambda shape: shape[0] * shape[1])
    X, w, target = array[: n * d].reshape(n, d), np.ones(d), np.empty(array.size // 2)
    variants |= {
        "sum": lambda: array.nbytes / timed(array.sum),
        "product": lambda: X.nbytes / timed(lambda: X @ w),
        # A copy reads and writes.
        "copy": lambda: 2 * target.nbytes / timed(lambda: np.copyto(target, array[: target.size])),
    }
    with threadpool_limits(1):
        measured = medians(variants, repeats)
    streams = {name: measured[name] for name in ("sum", "product", "copy")}
    best = max(streams.values())
    costs = [measured[f"{n} x {d}"] for n, d in shapes]
    return {
        "n": [n for n, _ in shapes],
        "d": [d for _, d in shapes],
        "megabytes": [8e-6 * n * d for n, d in shapes],
        "seconds per step": costs,
        "share of the bandwidth": [
            8 * d / s / best for (_, d), s in zip(shapes, costs, strict=True)
        ],
        "bytes per second": streams,
    }


def epochs(data: list[Data], repeats: int) -> dict[str, Any]:
    """Time one Pegasos epoch, and a fit of SGDClassifier of one epoch, from the arrays to w."""
    lam, variants = 1e-4, {}

    def fit_peer(X: Any, y: np.ndarray) -> None:
        model = SGDClassifier(alpha=lam, fit_intercept=False, max_iter=1, tol=None, random_state=0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)

    def fit_ours(X: Any, y: np.ndarray) -> None:
        pegasos(HingeProblem(X, y, lam), n_iter=len(y), average=None)

    forms = {f"{one.name}, CSR": (one.X, one.y) for one in data}
    forms["MNIST, dense"] = load_mnist_binary()
    for name, (X, y) in forms.items():
        variants[f"{name} ours"] = lambda X=X, y=y: timed(lambda: fit_ours(X, y))
        variants[f"{name} peer"] = lambda X=X, y=y: timed(lambda: fit_peer(X, y))
    seconds = medians(variants, repeats)
    return {
        name: {"Pegasos": seconds[f"{name} ours"], "SGDClassifier": seconds[f"{name} peer"]}
        for name in forms
    }


def import_seconds(repeats: int) -> float:
    """Return the seconds that `import pegasos_lib` takes in a new process."""
    code = (
        "import time; t = time.perf_counter(); import pegasos_lib; print(time.perf_counter() - t)"
    )
    outputs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        for _ in range(repeats + 1)
    ]
    return median(float(output.stdout) for output in outputs[1:])


def _fit_sdca(X: Any, y: np.ndarray) -> None:
    sdca(HingeProblem(X, y, MEMORY_LAM), gap=1e-3)


def _fit_pegasos(X: Any, y: np.ndarray) -> None:
    pegasos(HingeProblem(X, y, MEMORY_LAM), n_iter=len(y))


def _fit_linear_svc(X: Any, y: np.ndarray) -> None:
    C = 1.0 / (MEMORY_LAM * len(y))
    LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1.0, random_state=0).fit(X, y)


def _fit_sgd_classifier(X: Any, y: np.ndarray) -> None:
    SGDClassifier(alpha=MEMORY_LAM, fit_intercept=False, max_iter=5, tol=1e-3).fit(X, y)


FITS = {
    "SDCA": _fit_sdca,
    "Pegasos": _fit_pegasos,
    "LinearSVC": _fit_linear_svc,
    "SGDClassifier": _fit_sgd_classifier,
}


def peak_memory(data: Data, rows: int) -> dict[str, Any]:
    """Return the bytes by which each fit raises the peak memory of a process that has the data."""
    X, y = data.X[:rows], data.y[:rows]
    # Large arrays go back to the system when freed, so that none hides in what was kept.
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536"}
    extra = {}
    with tempfile.TemporaryDirectory() as folder:
        for name in ("data", "indices", "indptr"):
            np.save(Path(folder, name), getattr(X, name))
        np.save(Path(folder, "y"), y)
        for name in FITS:
            command = [sys.executable, "-m", "benchmarks.steps", name, folder]
            output = subprocess.run(
                command,
                capture_output=True,
                text=True,
                check=True,
                env=environment,
                cwd=Path(__file__).parents[1],
            )
            extra[name] = json.loads(output.stdout)
    n, d = (int(size) for size in X.shape)
    size = sum(getattr(X, name).nbytes for name in ("data", "indices", "indptr")) + y.nbytes
    goal = 8 * (3 * d + 2 * n)
    return {"n": n, "d": d, "bytes of the data": size, "extra bytes": extra, "goal": goal}


def _measure_fit(name: str, folder: Path) -> int:
    """Return the bytes by which one fit raises the peak memory of this process."""
    warnings.simplefilter("ignore", ConvergenceWarning)
    small = small_data()
    FITS[name](small.X, small.y)
    arrays = [np.load(folder / f"{part}.npy") for part in ("data", "indices", "indptr", "y")]
    d = int(arrays[1].max()) + 1
    X = sp.csr_matrix(tuple(arrays[:3]), shape=(len(arrays[3]), d))
    X.has_canonical_format = True
    before = _peak()
    FITS[name](X, arrays[3])
    return _peak() - before


def _peak() -> int:
    """Return this process's peak memory in bytes."""
    status = Path("/proc/self/status")
    if status.exists():  # there, getrusage would count what the parent process held at the start
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return 1024 * int(line.split()[1])
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


if __name__ == "__main__":
    print(_measure_fit(sys.argv[1], Path(sys.argv[2])))
