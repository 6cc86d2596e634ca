"""Time to suboptimality of all solvers, each run in turn with the others in one process.

A solver runs at every effort of its ladder, from the least on, until it comes within the smallest
eps of the optimum, or one run takes too long. Then the runs that were the quickest to some eps
are repeated, again in turn. The time to eps is the least median time of a run whose w has
P(w) <= P(w*) + eps. P(w) is computed here, from w; what a solver says of itself counts for
nothing. P(w*) is known from our SDCA's dual value D <= P(w*): eps is an absolute difference, and
P(w) - D overstates it by the gap that is left, at most 5e-8.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from statistics import median

import scipy.sparse as sp

from pegasos_lib import HingeProblem, load_mnist_binary, make_blobs_2d, make_rcv1_like

from .peers import Data, Effort, Solver

EPSILONS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
LAMBDAS = (1e-2, 1e-3, 1e-4, 1e-5)
RCV1_ROWS = 804_414


@dataclass
class Race:
    """Hold what all solvers did on one problem.

    Attributes
    ----------
    data, n, d, lam
        The problem.
    lower_bound : float
        Largest D(alpha) that was met, which is at most P(w*).
    seconds : dict
        By solver and effort, a list of runs, each the seconds at which its points were reached.
    objectives : dict
        By solver and effort, P(w) at those points, which is the same in every run.
    """

    data: str
    n: int
    d: int
    lam: float
    lower_bound: float = float("-inf")
    seconds: dict[str, dict[str, list[list[float]]]] = field(default_factory=dict)
    objectives: dict[str, dict[str, list[float]]] = field(default_factory=dict)

    def points(self, solver: str) -> list[tuple[float, float, str]]:
        """Return (median seconds, suboptimality, effort) of everything that the solver reached."""
        return [
            (median(run[k] for run in runs), value - self.lower_bound, effort)
            for effort, runs in self.seconds.get(solver, {}).items()
            for k, value in enumerate(self.objectives[solver][effort])
        ]

    def quickest(self, solver: str, eps: float) -> tuple[float, str] | None:
        """Return the least median seconds to a w with P(w) <= P(w*) + eps, and the effort."""
        reached = [(s, effort) for s, distance, effort in self.points(solver) if distance <= eps]
        return min(reached, default=None)

    def time_to(self, solver: str, eps: float) -> float | None:
        """Return the least median seconds to a w with P(w) <= P(w*) + eps, or None."""
        best = self.quickest(solver, eps)
        return best and best[0]

    def runs(self, solver: str, eps: float) -> int:
        """Return how many runs the time to eps is the median of."""
        best = self.quickest(solver, eps)
        return len(self.seconds[solver][best[1]]) if best else 0


def small_data() -> Data:
    """Return a data set for compiling and warming up."""
    X, y = make_blobs_2d(200)
    return Data("blobs", sp.csr_matrix(X), y)


def mnist_data() -> Data:
    """Return MNIST, 0 against the rest; a fifth of it is not 0."""
    X, y = load_mnist_binary()
    return Data("MNIST", sp.csr_matrix(X), y)


def rcv1_like_data(n: int = RCV1_ROWS) -> Data:
    """Return RCV1-like data; the real one has 804,414 rows."""
    X, y = make_rcv1_like(n=n)
    return Data("RCV1-like", X, y, large=n > 100_000)


def race(
    data: Data,
    lam: float,
    solvers: list[Solver],
    allowance: float,
    repeats: int = 5,
    say: Callable[[str], None] = lambda line: None,
) -> Race:
    """Run the solvers on one problem.

    Parameters
    ----------
    data : Data
    lam : float
    solvers : list of Solver
        In the order of their turns; one of them must prove a lower bound.
    allowance : float
        Seconds after which no run starts but the first of each solver, and a patient one's. A
        ladder ends with a run that took more than an eighth of it and a second.
    repeats : int
        Most runs of an effort that counts.
    say : callable
        Gets a line after each run.
    """
    problem = HingeProblem(data.X, data.y, lam)
    result = Race(data.name, problem.n, problem.d, lam)
    end = time.perf_counter() + allowance

    def run(solver: Solver, effort: Effort) -> float:
        points, key = solver.run(data, lam, effort), label(effort)
        seconds = [point.seconds for point in points]
        result.seconds.setdefault(solver.name, {}).setdefault(key, []).append(seconds)
        objectives = result.objectives.setdefault(solver.name, {})
        if key not in objectives:
            objectives[key] = [float(problem.objective(point.w)) for point in points]
        result.lower_bound = max(result.lower_bound, *(point.lower_bound for point in points))
        reached = min(objectives[key]) - result.lower_bound
        say(f"{solver.name} ({key}): {seconds[-1]:.3g} s to {reached:.1e}")
        return seconds[-1]

    ladders = {solver.name: solver.ladder(data) for solver in solvers}
    climbing = list(solvers)
    for rung in range(max(len(ladder) for ladder in ladders.values())):
        for solver in list(climbing):
            late = rung > 0 and time.perf_counter() > end and not solver.is_patient
            if late or rung >= len(ladders[solver.name]):
                climbing.remove(solver)
                continue
            taken = run(solver, ladders[solver.name][rung])
            slow = taken > max(1.0, allowance / 8) and not solver.is_patient
            if slow or result.time_to(solver.name, EPSILONS[-1]) is not None:
                climbing.remove(solver)

    for count in range(2, repeats + 1):
        for solver in solvers:
            best = {result.quickest(solver.name, eps) for eps in EPSILONS} - {None}
            for effort in ladders[solver.name]:
                key = label(effort)
                counts = any(key == chosen[1] for chosen in best)
                fewer = len(result.seconds[solver.name].get(key, ())) < count
                if counts and fewer and time.perf_counter() < end:
                    run(solver, effort)
    return result


def label(effort: Effort) -> str:
    """Return an effort as text."""
    return ", ".join(f"{name}={value}" for name, value in effort.items())


def warm_up(solvers: list[Solver]) -> None:
    """Run each solver once on little data, so that nothing is compiled or loaded later."""
    data = small_data()
    for solver in solvers:
        for effort in solver.ladder(data)[:2]:
            solver.run(data, 1e-2, effort)


def compare(
    data: Data,
    lambdas: tuple[float, ...],
    seconds: float,
    solvers: list[Solver],
    say: Callable[[str], None],
) -> list[Race]:
    """Run the solvers on one data set at every lambda, in the time that is given."""
    races, end = [], time.perf_counter() + seconds
    for place, lam in enumerate(lambdas):
        allowance = (end - time.perf_counter()) / (len(lambdas) - place)
        tell = partial(_tell, say, f"{data.name}, lambda {lam:g}: ")
        # Seconds on the large data are better spent on the harder lambdas than on a third run.
        races.append(race(data, lam, solvers, allowance, 2 if data.large else 5, tell))
    return races


def _tell(say: Callable[[str], None], prefix: str, line: str) -> None:
    say(prefix + line)
