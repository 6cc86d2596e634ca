"""The solvers of the comparison: ours, and each peer as a function from data to w.

All minimise P(w) = lam/2 ||w||^2 + (1/n) sum_i max(0, 1 - y_i <w, x_i>), without intercept. A
solver has a ladder of efforts, and a call at one effort returns points: seconds, and the w that a
user has after them. The clock runs from the arrays X and y to w, so it counts what the interface
makes a user pay: checks, norms and conversions. It does not count compiling.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import LinearSVC

from pegasos_lib import HingeProblem, pegasos, sdca

MANY = 1_000_000  # epochs that are not meant to be the end


@dataclass(frozen=True, eq=False)
class Data:
    """Hold one data set: X as CSR, which every solver here runs on at its quickest, and y."""

    name: str
    X: Any
    y: np.ndarray
    large: bool = False


class Point(NamedTuple):
    """Say which w a solver returns after so many seconds, and what it proves of P(w*)."""

    seconds: float
    w: np.ndarray
    lower_bound: float = -np.inf


Effort = dict[str, Any]  # the options of one rung of a ladder


@dataclass(frozen=True)
class Solver:
    """Hold a solver's name, its ladder of efforts for a data set, and how it runs at one.

    A patient one climbs its ladder to the end, however long it takes: a goal waits for it.
    """

    name: str
    run: Callable[[Data, float, Effort], list[Point]]
    ladder: Callable[[Data], list[Effort]]
    package: str = "scikit-learn"
    is_patient: bool = False

    @property
    def is_ours(self) -> bool:
        """Return whether it is a solver of `pegasos_lib`."""
        return self.package == "pegasos-lib"


def run_sdca(data: Data, lam: float, effort: Effort) -> list[Point]:
    """Record w(alpha) after every epoch: each is what as many epochs return."""
    start = time.perf_counter()
    problem = HingeProblem(data.X, data.y, lam)
    run = sdca(problem, record=_epochs(effort["n_epochs"]), **effort)
    other = time.perf_counter() - start - run.seconds
    bound = problem.dual_objective(run.alpha)
    trace = run.trace
    return [
        Point(other + s, w, bound) for s, w in zip(trace.seconds.tolist(), trace.w, strict=True)
    ]


def run_pegasos(data: Data, lam: float, effort: Effort) -> list[Point]:
    """Record w, or its average, at a few shares of the epochs of the effort."""
    options = dict(effort)
    steps = max(10, round(options.pop("epochs") * len(data.y)))
    start = time.perf_counter()
    problem = HingeProblem(data.X, data.y, lam)
    run = pegasos(
        problem, n_iter=steps, record=[steps // 10, steps // 5, steps // 2, steps], **options
    )
    other = time.perf_counter() - start - run.seconds
    kept = run.trace.w if run.w_average is None else run.trace.w_average
    return [Point(other + s, w) for s, w in zip(run.trace.seconds.tolist(), kept, strict=True)]


def run_linear_svc(data: Data, lam: float, effort: Effort) -> list[Point]:
    """Fit scikit-learn's LinearSVC, which minimises 1/2 ||w||^2 + C sum_i loss_i."""
    model = LinearSVC(
        loss="hinge",
        C=1.0 / (lam * len(data.y)),
        fit_intercept=False,
        random_state=0,
        **effort,
    )
    return _fit(model, data)


def run_sgd_classifier(data: Data, lam: float, effort: Effort) -> list[Point]:
    """Fit scikit-learn's SGDClassifier; "invscaling" with power 1 is Pegasos' step 1/(lam t)."""
    model = SGDClassifier(
        loss="hinge",
        alpha=lam,
        fit_intercept=False,
        tol=None,
        eta0=1.0 / lam,
        power_t=1.0,
        random_state=0,
        **effort,
    )
    return _fit(model, data)


def run_liblinear(data: Data, lam: float, effort: Effort) -> list[Point]:
    """Train LIBLINEAR's own binding by -s 3, dual coordinate descent on the hinge loss."""
    from liblinear.liblinearutil import parameter, problem, train

    X = sp.csr_matrix(data.X)
    options = f"-s 3 -B -1 -q -c {1.0 / (lam * len(data.y))!r} -e {effort['tol']}"
    start = time.perf_counter()
    model = train(problem(data.y, X), parameter(options))
    seconds = time.perf_counter() - start
    # Its w points to the label that comes first in the data.
    return [Point(seconds, model.get_labels()[0] * np.array(model.get_decfun()[0]))]


def run_lightning(data: Data, lam: float, effort: Effort) -> list[Point]:
    """Fit lightning's SDCAClassifier, or its LinearSVC, which is LIBLINEAR's method."""
    from lightning import classification

    options = dict(effort)
    if options.pop("model") == "SDCA":
        model = classification.SDCAClassifier(
            loss="hinge", alpha=lam, tol=0.0, random_state=0, **options
        )
    else:
        model = classification.LinearSVC(
            loss="hinge", C=1.0 / (lam * len(data.y)), max_iter=MANY, random_state=0, **options
        )
    return _fit(model, data)


def _fit(model: Any, data: Data) -> list[Point]:
    start = time.perf_counter()
    with warnings.catch_warnings():
        # Stopping early is the effort that was asked for; what it reached is scored.
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(data.X, data.y)
    return [Point(time.perf_counter() - start, np.array(model.coef_, dtype=float).ravel())]


def _epochs(most: int) -> list[int]:
    return sorted({*range(1, min(most, 100) + 1), *range(0, most + 1, 10)} - {0})


def sdca_ladder(data: Data) -> list[Effort]:
    """Run once, to a gap that also settles P(w*)."""
    return [{"gap": 5e-8, "n_epochs": 50 if data.large else 1000}]


def pegasos_ladder(data: Data) -> list[Effort]:
    """Take the last iterate and the average of the last half, over more and more epochs."""
    common = {"sampling": "permutation", "project": False}
    ladder = [
        {"epochs": epochs, "average": average} | common
        for epochs in ((1, 5) if data.large else (0.1, 1, 5, 20, 100))
        for average in (None, "suffix")
    ]
    return ladder[:3] if data.large else ladder


def linear_svc_ladder(data: Data) -> list[Effort]:
    """Stop after few iterations, then by tol."""
    few, tols = (1, 2, 5, 10), (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
    if data.large:
        few, tols = (1,), (1.0, 0.1, 0.01, 1e-3, 1e-4)
    counted = [{"max_iter": m, "tol": 1e-9} for m in few]
    return counted + [{"tol": tol, "max_iter": MANY} for tol in tols]


def sgd_ladder(data: Data) -> list[Effort]:
    """Make 1, 2, 5, ... epochs with either step size, and with the last iterate or the average."""
    ladder = [
        {"max_iter": epochs, "learning_rate": rate, "average": average}
        for epochs in (1, 2, 5, 10, 20, 50)
        for average in (False, True)
        for rate in ("optimal", "invscaling")
    ]
    # On the large data the other choices were far behind at every lambda.
    chosen = {"learning_rate": "optimal", "average": False}
    return [effort for effort in ladder[:12] if effort | chosen == effort] if data.large else ladder


def liblinear_ladder(data: Data) -> list[Effort]:
    """Stop by tol; the binding has no number of iterations to set, and ends at 300."""
    tols = (1.0, 0.1, 0.01) if data.large else (10.0, 1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
    return [{"tol": tol} for tol in tols]


def lightning_ladder(data: Data) -> list[Effort]:
    """Make more and more epochs of SDCA, and stop dual coordinate descent by tol."""
    counts, tols = (1, 2, 5, 10, 20, 50), (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3)
    if data.large:
        counts, tols = (1, 3), (0.1, 0.01)
    ladder: list[Effort] = []
    for max_iter, tol in zip(counts, tols, strict=True):
        ladder.append({"model": "SDCA", "max_iter": max_iter})
        ladder.append({"model": "LinearSVC", "tol": tol})
    return ladder


SOLVERS = (
    Solver("SDCA", run_sdca, sdca_ladder, "pegasos-lib"),
    Solver("Pegasos", run_pegasos, pegasos_ladder, "pegasos-lib"),
    Solver("LinearSVC", run_linear_svc, linear_svc_ladder, is_patient=True),
    Solver("SGDClassifier", run_sgd_classifier, sgd_ladder),
    Solver("LIBLINEAR", run_liblinear, liblinear_ladder, "liblinear-official"),
    Solver("lightning", run_lightning, lightning_ladder, "sklearn-contrib-lightning"),
)


def installed() -> list[Solver]:
    """Return the solvers whose packages are there."""
    modules = {"liblinear-official": "liblinear", "sklearn-contrib-lightning": "lightning"}
    return [
        solver
        for solver in SOLVERS
        if find_spec(modules.get(solver.package, "sklearn")) is not None
    ]


def versions() -> dict[str, str]:
    """Return the version of each installed peer's package."""
    return {s.package: version(s.package) for s in installed() if not s.is_ours}
