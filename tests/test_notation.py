"""Every row of the notation page's table of conversions holds numerically.

A row of the table carries an invisible mark `<!--row: name-->`; here a function of that name checks
it, and a row without a check (or a check without a row) fails.
"""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import SGDClassifier
from sklearn.svm import SVC, LinearSVC

from pegasos_lib import HingeProblem, sdca

PAGE = Path(__file__).parents[1] / "book" / "notation.md"
ROWS = re.findall(r"<!--row: ([a-z0-9-]+)-->", PAGE.read_text(encoding="utf-8"))
LAM = 0.05


@pytest.fixture(scope="module")
def problem():
    """Overlapping classes off the origin, so that an intercept matters."""
    rng = np.random.default_rng(11)
    y = np.where(np.arange(60) % 3 == 0, -1.0, 1.0)
    X = rng.normal(size=(60, 3)) + 0.7 * y[:, None] + np.array([0.5, -0.3, 0.2])
    return HingeProblem(X, y, lam=LAM)


@pytest.fixture(scope="module")
def optimum(problem):
    return sdca(problem, n_epochs=100_000, gap=1e-12, rng=0)


def sum_form(problem, C, w):
    """Evaluate F_C at w, written out from its definition."""
    losses = np.maximum(0.0, 1.0 - problem.y * (problem.X @ w))
    return 0.5 * w @ w + C * losses.sum()


def fit_quietly(model, X, y):
    """Fit to the end: a solver that stops early is an error here."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        return model.fit(X, y)


def test_the_page_and_the_checks_name_the_same_rows():
    assert len(ROWS) == len(set(ROWS)) > 0
    checks = {name for name in globals() if name.startswith("test_row_")}
    assert {f"test_row_{row.replace('-', '_')}" for row in ROWS} == checks


def test_every_row_of_the_table_is_marked():
    table = PAGE.read_text(encoding="utf-8").split("## Conversions")[1].split("\n## ")[0]
    lines = [line for line in table.splitlines() if line.startswith("|")][2:]
    assert [line for line in lines if "<!--row: " not in line] == []


def test_row_c_lambda(problem):
    assert problem.C * LAM * problem.n == pytest.approx(1, rel=1e-15)
    assert 1 / (problem.C * problem.n) == pytest.approx(LAM, rel=1e-15)


def test_row_sum_form(problem, optimum):
    rng = np.random.default_rng(0)
    W = rng.normal(size=(50, problem.d))
    for w in W:
        P = problem.objective(w)
        assert sum_form(problem, problem.C, w) == pytest.approx(P / LAM, rel=1e-13)
        assert sum_form(problem, problem.C, w) == pytest.approx(
            problem.C * problem.n * P, rel=1e-13
        )
        assert sum_form(problem, problem.C, w) >= sum_form(problem, problem.C, optimum.w) - 1e-9
    # The conversion is the only one: with twice that C the minimiser of P is not a minimiser.
    other = sdca(problem.with_lam(LAM / 2), n_epochs=100_000, gap=1e-12, rng=0).w
    twice = 2 * problem.C
    assert sum_form(problem, twice, other) < sum_form(problem, twice, optimum.w) - 1e-3


def test_row_subgradient(problem):
    rng = np.random.default_rng(1)
    for w in rng.normal(size=(20, problem.d)):
        g = problem.subgradient(w)
        scaled = problem.C * problem.n * g
        assert scaled == pytest.approx(g / LAM, rel=1e-13)
        for u in rng.normal(size=(20, problem.d)):
            line = sum_form(problem, problem.C, w) + scaled @ (u - w)
            assert sum_form(problem, problem.C, u) >= line - 1e-9


def test_row_step(problem):
    rng = np.random.default_rng(2)
    for t, w in enumerate(rng.normal(size=(20, problem.d)), start=1):
        g = problem.subgradient(w)
        on_P = w - g / (LAM * t)
        on_F = w - (1 / t) * (g / LAM)
        assert on_F == pytest.approx(on_P, rel=1e-13, abs=1e-13)
        wrong = w - (problem.C * problem.n / t) * (g / LAM)
        assert np.linalg.norm(wrong - on_P) > 1e-3


@pytest.mark.parametrize("rho", [1 / 255, 0.1, 3.0])
def test_row_rescale(problem, rho):
    scaled = HingeProblem(rho * problem.X, problem.y, lam=LAM)
    twin = problem.with_lam(LAM / rho**2)
    rng = np.random.default_rng(3)
    for w in rng.normal(size=(20, problem.d)):
        assert scaled.objective(w) == pytest.approx(twin.objective(rho * w), rel=1e-12)
    assert scaled.R**2 / scaled.lam == pytest.approx(twin.R**2 / twin.lam, rel=1e-12)


@pytest.mark.parametrize("tau", [0.3, 1.0, 10.0])
def test_row_constant_feature(problem, tau):
    column = np.full((problem.n, 1), tau)
    extended = HingeProblem(np.hstack([problem.X, column]), problem.y, lam=LAM)
    rng = np.random.default_rng(4)
    for v in rng.normal(size=(20, problem.d + 1)):
        w, b = v[:-1], tau * v[-1]
        losses = np.maximum(0, 1 - problem.y * (problem.X @ w + b))
        direct = LAM / 2 * w @ w + LAM / (2 * tau**2) * b**2 + losses.mean()
        assert extended.objective(v) == pytest.approx(direct, rel=1e-12)


def test_row_dual_000(problem, optimum):
    a = problem.C * optimum.alpha
    assert a.min() >= 0
    assert a.max() <= problem.C * (1 + 1e-15)
    assert (a * problem.y) @ problem.X == pytest.approx(optimum.w, abs=1e-10)
    assert a == pytest.approx(optimum.alpha / (LAM * problem.n), rel=1e-14)


def test_row_dual_value_000(problem, optimum):
    rng = np.random.default_rng(5)
    for alpha in [optimum.alpha, *rng.uniform(size=(20, problem.n))]:
        a = problem.C * alpha
        v = (a * problem.y) @ problem.X
        expected = problem.dual_objective(alpha) / LAM
        assert a.sum() - v @ v / 2 == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_row_dual_004(problem, optimum):
    a = problem.y * optimum.alpha
    assert problem.y * a == pytest.approx(optimum.alpha)
    assert (a @ problem.X) / (LAM * problem.n) == pytest.approx(optimum.w, abs=1e-10)


def test_row_linear_svc(problem, optimum):
    model = LinearSVC(
        loss="hinge",
        C=problem.C,
        fit_intercept=False,
        tol=1e-10,
        max_iter=1_000_000,
        random_state=0,
    )
    fit_quietly(model, problem.X, problem.y)
    assert model.coef_.ravel() == pytest.approx(optimum.w, abs=1e-6)
    assert problem.objective(model.coef_.ravel()) - problem.objective(optimum.w) < 1e-9


@pytest.mark.parametrize("tau", [0.5, 4.0])
def test_row_linear_svc_intercept(problem, tau):
    model = LinearSVC(
        loss="hinge",
        C=problem.C,
        intercept_scaling=tau,
        tol=1e-10,
        max_iter=5_000_000,
        random_state=0,
    )
    fit_quietly(model, problem.X, problem.y)
    column = np.full((problem.n, 1), tau)
    extended = HingeProblem(np.hstack([problem.X, column]), problem.y, lam=LAM)
    v = sdca(extended, n_epochs=100_000, gap=1e-12, rng=0).w
    assert model.coef_.ravel() == pytest.approx(v[:-1], abs=1e-5)
    assert model.intercept_[0] == pytest.approx(tau * v[-1], abs=1e-5)


def test_row_svc(problem):
    model = SVC(kernel="linear", C=problem.C, tol=1e-10)
    model.fit(problem.X, problem.y)
    w, b = model.coef_.ravel(), model.intercept_[0]
    alpha = np.zeros(problem.n)
    alpha[model.support_] = problem.y[model.support_] * model.dual_coef_.ravel() / problem.C
    assert alpha.min() >= 0
    assert alpha.max() <= 1 + 1e-12
    # Certificate: with sum alpha_i y_i = 0, D(alpha) bounds the problem with a free intercept from
    # below, and (w, b) attains it. So b is not regularised, and C = 1/(lambda n).
    losses = np.maximum(0, 1 - problem.y * (problem.X @ w + b))
    value = LAM / 2 * w @ w + losses.mean()
    assert alpha @ problem.y == pytest.approx(0, abs=1e-9)
    assert value - problem.dual_objective(alpha) == pytest.approx(0, abs=1e-8)
    assert problem.weights(alpha) == pytest.approx(w, abs=1e-9)


def test_row_sgd_classifier(problem):
    # One pass in the given order with a constant step is our textbook update with lambda = alpha.
    eta = 0.1
    model = SGDClassifier(
        loss="hinge",
        alpha=LAM,
        fit_intercept=False,
        learning_rate="constant",
        eta0=eta,
        shuffle=False,
        max_iter=1,
        tol=None,
    )
    model.fit(problem.X, problem.y)
    w = np.zeros(problem.d)
    for i in range(problem.n):
        w = w - eta * problem.subgradient(w, np.array([i]))
    assert model.coef_.ravel() == pytest.approx(w, rel=1e-10)
