"""Time 10,000 Pegasos steps on MNIST, compiled, in NumPy, and as on paper.

Run it with

    python -m benchmarks.pegasos_steps [--repeats 15]

All variants run in turn, over and over, each time on new examples. Compiling is not timed. `steps`
times an epoch beside scikit-learn's.
"""

from __future__ import annotations

import argparse
import os
import platform
import time
from collections.abc import Callable

import numpy as np
import scipy.sparse as sp

from pegasos_lib import HingeProblem, load_mnist_binary, pegasos, use_jit

from .turns import in_turn

LAM, STEPS = 1e-3, 10_000
GOALS = {"compiled, dense": 10.0, "NumPy, dense": 60.0}  # ms, with the average


def solver(problem: HingeProblem, jit: bool, average: str | None) -> Callable[[], float]:
    """Return a function that makes one run after the other, and returns its milliseconds."""
    rng = np.random.default_rng(0)

    def run() -> float:
        with use_jit(jit):
            return 1e3 * pegasos(problem, n_iter=STEPS, average=average, rng=rng).seconds

    return run


def textbook(problem: HingeProblem) -> Callable[[], float]:
    """Return the same for the update as it is on paper, w changed in full at every step."""
    X, y, lam, rng = problem.X, problem.y, problem.lam, np.random.default_rng(0)

    def run() -> float:
        draws = rng.integers(problem.n, size=STEPS)
        w, radius = np.zeros(problem.d), lam**-0.5
        start = time.perf_counter()
        for t, i in enumerate(draws, start=1):
            hit = y[i] * (X[i] @ w) < 1.0
            w = (1.0 - 1.0 / t) * w
            if hit:
                w = w + y[i] / (lam * t) * X[i]
            norm = np.linalg.norm(w)
            if norm > radius:
                w = w * (radius / norm)
        return 1e3 * (time.perf_counter() - start)

    return run


def main() -> None:
    """Run all variants in turn, and print a table in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats

    X, y = load_mnist_binary()
    dense, sparse = HingeProblem(X, y, LAM), HingeProblem(sp.csr_array(X), y, LAM)
    variants: dict[str, Callable[[], float]] = {}
    for name, jit in (("compiled", True), ("NumPy", False)):
        for form, problem in (("dense", dense), ("CSR", sparse)):
            variants[f"{name}, {form}"] = solver(problem, jit, "uniform")
            variants[f"{name}, {form}, no average"] = solver(problem, jit, None)
    variants["textbook in NumPy, dense"] = textbook(dense)

    taken = in_turn(variants, repeats)
    load = os.getloadavg()[0]
    print(f"{platform.machine()}, {os.cpu_count()} cores, load {load:.1f}, NumPy {np.__version__}")
    print(
        f"{STEPS:,} steps on MNIST {dense.n:,} x {dense.d}, lambda = {LAM:g}; {repeats} runs each"
    )
    print(f"{'ms':<30}{'least':>8}{'median':>8}{'most':>8}{'goal':>8}")
    for name, times in taken.items():
        goal = f"{GOALS[name]:8.0f}" if name in GOALS else ""
        print(f"{name:<30}{min(times):8.1f}{np.median(times):8.1f}{max(times):8.1f}{goal}")


if __name__ == "__main__":
    main()
