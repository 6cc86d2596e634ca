"""Time 10,000 Pegasos steps on MNIST, compiled, in NumPy, and as on paper.

Run it with

    python benchmarks/pegasos_steps.py [--repeats 15]

All variants run in turn, over and over, so that whatever else the machine does falls on all of
them alike. Every repetition draws new examples. Compiling is not timed. `steps` times an epoch
beside scikit-learn's.
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

LAM, STEPS = 1e-3, 10_000
GOALS = {"compiled, dense": 10.0, "NumPy, dense": 60.0}  # ms, with the average


def solver(problem: HingeProblem, jit: bool, average: str | None) -> Callable[[int], float]:
    """Return a function from a seed to the seconds of one run."""

    def run(seed: int) -> float:
        with use_jit(jit):
            return pegasos(problem, n_iter=STEPS, average=average, rng=seed).seconds

    return run


def textbook(problem: HingeProblem) -> Callable[[int], float]:
    """Return the update as it is on paper, w changed in full at every step."""
    X, y, lam = problem.X, problem.y, problem.lam

    def run(seed: int) -> float:
        draws = np.random.default_rng(seed).integers(problem.n, size=STEPS)
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
        return time.perf_counter() - start

    return run


def main() -> None:
    """Run all variants in turn, and print a table in milliseconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=15)
    repeats = parser.parse_args().repeats

    X, y = load_mnist_binary()
    dense, sparse = HingeProblem(X, y, LAM), HingeProblem(sp.csr_array(X), y, LAM)
    variants: dict[str, Callable[[int], float]] = {}
    for name, jit in (("compiled", True), ("NumPy", False)):
        for form, problem in (("dense", dense), ("CSR", sparse)):
            variants[f"{name}, {form}"] = solver(problem, jit, "uniform")
            variants[f"{name}, {form}, no average"] = solver(problem, jit, None)
    variants["textbook in NumPy, dense"] = textbook(dense)

    taken: dict[str, list[float]] = {name: [] for name in variants}
    for seed in range(repeats + 1):
        for name, run in variants.items():
            milliseconds = 1e3 * run(seed)
            if seed:  # the first round warms up
                taken[name].append(milliseconds)

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
