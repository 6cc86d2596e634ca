"""Generated problems of all sorts through the public functions, each with an oracle of its own.

A case is one number: it draws a problem, a function and its options, and holds what comes back to
formulas written here. `make test` runs the first 1,500 numbers and `make test-all` the first
100,000 (about 10 minutes, estimated from 6,000). A case that fails is run again, alone, by
`python -m tests.test_fuzz CASE`.
"""

import math
import re
import sys
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

import pegasos_lib as lib
from pegasos_lib import regret
from pegasos_lib.run import record_counts

EPS = 1e-11  # what rounding may take, as a share of the numbers that were added
KINK = 1e-9  # a margin nearer to 1, in the same unit, may fall on either side

# ---------------------------------------------------------------- what is drawn


def power(rng, low, high):
    return 10.0 ** rng.uniform(low, high)


def draw_data(rng):
    """Draw X, y: whole numbers or not, any scale, zeros, equal rows, both labels on one row."""
    n, d = int(rng.integers(1, 13)), int(rng.integers(1, 7))
    kind = rng.integers(4)
    if kind == 0:  # margins are exact, and often exactly 1
        X = rng.integers(-2, 3, (n, d)).astype(float)
    elif kind == 1:  # columns of unlike scales
        X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-4, 4, d)
    else:
        X = rng.standard_normal((n, d)) * 10.0 ** float(rng.integers(-8, 9))
    y = rng.choice([-1.0, 1.0], n)
    if rng.random() < 0.4:
        X *= rng.random((n, d)) < 0.5
    if rng.random() < 0.3:
        X[rng.integers(n)] = 0.0
    if rng.random() < 0.3:
        X[:, rng.integers(d)] = rng.choice([0.0, 1.0, X.flat[0]])
    if rng.random() < 0.3:
        a, b = rng.integers(n, size=2)
        X[a] = X[b]
        y[a] = y[b] * rng.choice([-1.0, 1.0])
    if rng.random() < 0.2:
        y[:] = rng.choice([-1.0, 1.0])
    return X, y


def store(rng, X):
    """Return X as an array or as CSR, sorted or not."""
    kind = rng.integers(4)
    if kind < 2:
        return X if kind == 0 else np.asfortranarray(X)
    if kind == 2:
        return sp.csr_array(X)
    rows, columns = np.indices(X.shape)
    order = rng.permutation(X.size)
    parts = (X.ravel()[order], (rows.ravel()[order], columns.ravel()[order]))
    return sp.coo_array(parts, shape=X.shape)  # explicit zeros, in any order


def draw_case(rng):
    """Draw a problem, with its numbers once more as plain arrays."""
    X, y = draw_data(rng)
    lam = rng.choice([0.25, 1.0]) if rng.random() < 0.3 else power(rng, -6, 6)
    p = lib.HingeProblem(store(rng, X), y, lam)
    return SimpleNamespace(p=p, X=X, y=y, lam=float(lam), n=len(y), d=X.shape[1])


def draw_w(rng, c):
    """Draw a point at which margins are of any size, and of exact data often 1."""
    if rng.random() < 0.3:
        return rng.integers(-2, 3, c.d).astype(float)
    return rng.standard_normal(c.d) * power(rng, -2, 2) / max(longest(c), 1e-9)


# ---------------------------------------------------------------- the formulas


def longest(c):
    return float(np.linalg.norm(c.X, axis=1).max())


def P(c, w, rows=None):
    """Return P(w), or f_t(w) for given rows, and the size of the numbers that were added."""
    X, y = (c.X, c.y) if rows is None else (c.X[rows], c.y[rows])
    terms = [max(0.0, 1.0 - label * math.fsum(x * w)) for x, label in zip(X, y, strict=True)]
    size = 0.5 * c.lam * math.fsum(w * w) + 1.0 + float(np.abs(X @ np.diag(w)).sum()) / len(y)
    return 0.5 * c.lam * math.fsum(w * w) + math.fsum(terms) / len(y), size


def D(c, alpha):
    v = (c.y * alpha) @ c.X / (c.lam * c.n)
    size = np.abs(c.y * alpha) @ np.abs(c.X) / (c.lam * c.n)
    return math.fsum(alpha) / c.n - 0.5 * c.lam * math.fsum(v * v), v, size


def step_direction(c, w, rows):
    """Return the mean of y_i x_i over violated margins; None if one is too near to call."""
    v = np.zeros(c.d)
    for i in rows:
        products = c.y[i] * c.X[i] * w
        m = math.fsum(products)
        # A row of zeros, and w = 0, have the margin 0 exactly.
        if abs(m - 1.0) <= KINK * (1.0 + float(np.abs(products).sum())):
            return None
        if m < 1.0:
            v += c.y[i] * c.X[i] / len(rows)
    return v


def close(found, expected, size, what):
    """Hold numbers to what they should be, up to rounding of numbers of this size."""
    found, expected = np.asarray(found, dtype=float), np.asarray(expected, dtype=float)
    assert found.shape == expected.shape, f"{what}: shape {found.shape}, not {expected.shape}"
    assert np.isfinite(found).all(), f"{what} is not finite: {found}"
    worst = np.abs(found - expected) - EPS * np.asarray(size)
    assert (worst <= 0.0).all(), f"{what} is {found}, not {expected}"


def finite(*arrays):
    for array in arrays:
        if array is not None:
            assert np.isfinite(array).all(), f"not finite: {array}"


# ---------------------------------------------------------------- the problem


def check_problem(rng):
    c = draw_case(rng)
    p, w, u = c.p, draw_w(rng, c), draw_w(rng, c)
    value, size = P(c, w)
    close(p.objective(w), value, size, "objective")
    both = p.objective(np.stack([w, u]))
    close(both, [value, P(c, u)[0]], [size, P(c, u)[1]], "objective of two")
    scores = np.abs(c.X) @ np.abs(w)
    close(p.margins(w), [c.y[i] * math.fsum(c.X[i] * w) for i in range(c.n)], scores, "margins")
    losses = p.losses(w)
    assert (losses >= 0.0).all()
    close(losses, np.maximum(0.0, 1.0 - c.y * (c.X @ w)), 1.0 + scores, "losses")
    close(p.R, longest(c), longest(c), "R")
    close(p.C, 1.0 / (c.lam * c.n), 1.0 / (c.lam * c.n), "C")
    assert 0.0 <= p.accuracy(w) <= 1.0
    rows = rng.integers(c.n, size=int(rng.integers(1, 5)))
    batch_value, batch_size = P(c, w, rows)
    close(p.instantaneous_objective(w, rows), batch_value, batch_size, "instantaneous objective")
    for batch in (None, rows.tolist()):
        g = p.subgradient(w, batch)
        finite(g)
        v = step_direction(c, w, range(c.n) if batch is None else batch)
        if v is not None:
            close(g, c.lam * w - v, c.lam * np.abs(w) + np.abs(c.X).max(axis=0), "subgradient")
    g, gap = p.subgradient(w), c.lam / 2 * math.fsum((u - w) ** 2)
    slack = 1e3 * EPS * (size + P(c, u)[1] + gap + float(np.abs(g) @ np.abs(u - w)))
    assert P(c, u)[0] >= value + math.fsum(g * (u - w)) + gap - slack, "the strong inequality"
    other = p.with_lam(2.0 * c.lam)
    close(other.objective(w) - value, c.lam / 2 * math.fsum(w * w), size, "with_lam")


def check_dual_point(rng):
    c = draw_case(rng)
    alpha = np.clip(rng.uniform(-0.5, 1.5, c.n), 0.0, 1.0)
    value, v, size = D(c, alpha)
    total = 1.0 + 0.5 * c.lam * math.fsum(size * size)
    close(c.p.weights(alpha), v, size, "weights")
    close(c.p.dual_objective(alpha), value, total, "dual objective")
    for w in (draw_w(rng, c), v):
        primal, more = P(c, w)
        gap = c.p.duality_gap(w, alpha)
        close(gap, primal - value, total + more, "duality gap")
        assert gap >= -EPS * (total + more), "weak duality"
    alpha[rng.integers(c.n)] = rng.choice([-1e-9, 1.0 + 1e-9, np.nan])
    refused(lambda: c.p.weights(alpha), "alpha")


def refused(call, word):
    with pytest.raises((ValueError, TypeError), match=re.escape(word)):
        call()


def check_bad_data(rng):
    X, y = draw_data(rng)
    lam, kind = power(rng, -6, 6), rng.integers(6)
    if kind == 0:
        X[rng.integers(len(y)), rng.integers(X.shape[1])] = rng.choice([np.nan, np.inf, -np.inf])
        refused(lambda: lib.HingeProblem(store(rng, X), y, lam), "X must be finite")
    elif kind == 1:
        y[rng.integers(len(y))] = rng.choice([0.0, 2.0, np.nan, np.inf, -1.0 - 1e-12])
        refused(lambda: lib.HingeProblem(store(rng, X), y, lam), "labels must be -1 or +1")
    elif kind == 2:
        lam = rng.choice([0.0, -lam, np.nan, np.inf])
        refused(lambda: lib.HingeProblem(store(rng, X), y, lam), "lam must be")
    elif kind == 3:
        y = np.append(y, 1.0) if rng.random() < 0.5 else y[:-1]
        refused(lambda: lib.HingeProblem(store(rng, X), y, lam), "y must have shape")
    elif kind == 4:
        X = X[:0] if rng.random() < 0.5 else X[:, :0]
        refused(lambda: lib.HingeProblem(X, y[: len(X)], lam), "X must hold at least")
    else:
        w = rng.standard_normal(X.shape[1] + 1)
        p = lib.HingeProblem(store(rng, X), y, lam)
        refused(lambda: p.objective(w), "w must have shape")
        refused(lambda: p.subgradient(w[1:], [len(y)]), "indices must lie in")


# ---------------------------------------------------------------- projections, steps and draws


def draw_point(rng):
    d = int(rng.integers(1, 9))
    w = rng.standard_normal(d) * 10.0 ** rng.integers(-8, 9)
    if rng.random() < 0.4:
        w = np.rint(3 * rng.standard_normal(d))
    return w, float(rng.choice([1.0, 2.0, power(rng, -8, 8)]))


def check_projections(rng):
    w, r = draw_point(rng)
    unit = float(np.abs(w).max()) + r
    u = lib.project_l2_ball(w, r)
    norm = math.sqrt(math.fsum((w / unit) ** 2)) * unit
    close(u, w * min(1.0, r / norm) if norm > 0 else w, unit, "projection on the l2 ball")
    assert np.linalg.norm(u) <= r * (1.0 + 1e-14)
    u = lib.project_simplex(w, r)
    close(u.sum(), r, unit, "sum of the projection on the simplex")
    assert (u >= 0.0).all()
    held(w - u, u > 0.0, unit)
    s = None if rng.random() < 0.4 else rng.uniform(0.01, 1.0, len(w)) * 10.0 ** rng.integers(-3, 4)
    u = lib.project_l1_ball(w, r, s)
    assert np.abs(u).sum() <= r * (1.0 + 1e-13) or (u == w).all()
    assert (u * w >= 0.0).all()
    if np.abs(w).sum() <= r:
        assert (u == w).all()
        return
    close(np.abs(u).sum(), r, unit, "size of the projection on the l1 ball")
    weights = np.ones(len(w)) if s is None else s
    # Rounding in |w| - |u| is that of |w| itself, and counts with its weight.
    tau = held(weights * (np.abs(w) - np.abs(u)), u != 0.0, unit * weights.max())
    assert tau >= -EPS * unit * weights.max()


def held(pull, support, unit):
    """Check that `pull` is one number on the support and at most it elsewhere; return it."""
    # A set far smaller than the point's distance may be lost in rounding.
    tau = float(pull[support].max(initial=pull.max()))
    assert (pull[support] >= tau - 1e3 * EPS * unit).all(), f"uneven: {pull[support]}"
    assert (pull <= tau + 1e3 * EPS * unit).all(), f"beyond tau: {pull}"
    return tau


def check_steps(rng):
    lam, c = power(rng, -6, 6), power(rng, -6, 6)
    t = np.unique(rng.integers(1, 10 ** int(rng.integers(1, 8)), size=9))
    formulas = {
        "pegasos": 1.0 / (lam * t),
        "weighted": 2.0 / (lam * (t + 1)),
        "inverse-time": c / t,
        "inverse-sqrt": c / np.sqrt(t),
        "constant": np.full(len(t), c),
    }
    for name, expected in formulas.items():
        rule = lib.make_step(name, lam, c)
        close(rule(t), expected, expected, name)
        assert (np.diff(rule(t)) <= 0.0).all()
        close(rule.decay(t, lam), 1.0 - lam * expected, 1.0 + lam * expected, f"decay of {name}")
        refused(lambda rule=rule: rule(0), "steps are numbered from 1")
    a, b = power(rng, -3, 3), rng.standard_normal() * power(rng, -3, 3)
    rule = lib.ArmijoStep(c, rng.uniform(0.01, 0.9), rng.uniform(0.1, 0.9))
    tried = []

    def along(eta):
        tried.append(eta)
        return a / 2 * (b - eta * a * b) ** 2  # f = a/2 w^2 along minus its gradient

    value, slope = a / 2 * b * b, -((a * b) ** 2)
    eta = rule.search(along, value, slope)
    held_back = [e for e in list(tried) if not along(e) <= value + rule.c1 * e * slope]
    if eta is not None:
        assert along(eta) <= value + rule.c1 * eta * slope
        assert eta not in held_back
        power_of = math.log(eta / c) / math.log(rule.factor)
        assert abs(power_of - round(power_of)) < 1e-6


def check_draws(rng):
    n, T, k = (int(rng.integers(*ends)) for ends in ((1, 13), (0, 20), (1, 13)))
    sampling, replace = str(rng.choice(["iid", "permutation"])), bool(rng.integers(2))
    bounded = sampling == "permutation" or not replace
    seed = int(rng.integers(2**32))
    if k > n and bounded:
        refused(lambda: lib.draw_batches(seed, n, T, k, replace, sampling), "batch_size")
        return
    draws = lib.draw_batches(seed, n, T, k, replace, sampling)
    assert draws.shape == ((T,) if k == 1 else (T, k))
    assert draws.dtype == np.int64
    assert ((draws >= 0) & (draws < n)).all()
    again = lib.draw_batches(np.random.default_rng(seed), n, T, k, replace, sampling)
    assert (draws == again).all()
    if sampling == "permutation":
        laps = draws.ravel()[: draws.size // n * n].reshape(-1, n)
        assert (np.sort(laps, axis=1) == np.arange(n)).all()
    elif not replace and k > 1:
        assert all(len(set(batch)) == k for batch in draws.tolist())
    number = int(rng.integers(1, 30))
    counts = record_counts(number, T)
    assert (np.diff(counts) > 0).all()
    assert 1 <= len(counts) <= number
    assert counts[-1] == T
    assert counts[0] == (min(1, T) if number > 1 else T)


# ---------------------------------------------------------------- the solvers that step


def draw_options(rng, c, T):
    k = int(rng.choice([1, 1, 2, 5]))
    options = {
        "n_iter": T,
        "rng": int(rng.integers(2**32)),
        "batch_size": k,
        "average": rng.choice(["uniform", "weighted", "suffix", None]),
        "record": range(T + 1),
    }
    if k <= c.n and rng.random() < 0.5:
        options["sampling" if rng.random() < 0.5 else "replace"] = "permutation"
        if "replace" in options:
            options["replace"] = False
    return options


def draw_ball(rng, c, *others):
    """Draw what `project` may be, and the radius it names."""
    kind = rng.choice(["free", "natural", "l2", *others])
    if kind == "l1":
        ball = lib.L1Ball(power(rng, -3, 3))
        return ball, ball.radius
    if kind == "l2":
        radius = power(rng, -3, 3)
        return radius, radius
    return (False, math.inf) if kind == "free" else (True, c.lam**-0.5)


def inside(W, project, radius):
    sizes = np.abs(W).sum(axis=1) if isinstance(project, lib.L1Ball) else np.linalg.norm(W, axis=1)
    assert (sizes <= radius * (1.0 + 1e-12)).all(), f"{sizes.max()} is outside of {radius}"


def check_run(c, run, T, average=None, push=0.0):
    """Check what every run promises, and return its path w_1..w_{T+1}.

    Pushes of this size may cancel within a batch: all that is left of w is then their rounding.
    """
    W = run.trace.w
    finite(W, run.w, run.w_average)
    assert run.n_iter == T
    assert W.shape == (T + 1, c.d)
    assert run.trace.iteration.tolist() == list(range(T + 1))
    assert (W[-1] == run.w).all()
    assert (np.diff(run.trace.seconds) >= 0.0).all()
    for s in {0, T // 2, T}:
        value, size = P(c, W[s])
        close(run.trace.objective[s], value, size, "recorded objective")
    assert (run.w_average is None) == (average is None)
    if average is not None:
        q = {"uniform": np.ones(T), "weighted": np.arange(1.0, T + 1)}.get(
            average, np.arange(T) >= T // 2
        )
        expected = W[0] if T == 0 else q @ W[:T] / q.sum()
        # The suffix is a difference of two sums of up to T terms.
        size = 10.0 * np.abs(W).max() + 1e-4 * push + 1e-300
        close(run.w_average, expected, size, "average")
    return W


def check_sgd(rng):
    c, T = draw_case(rng), int(rng.integers(0, 25))
    options = draw_options(rng, c, T)
    project, radius = draw_ball(rng, c, "l1")
    step = "pegasos"
    with lib.use_jit(rng.random() < 0.7):
        if rng.random() < 0.5:
            run = lib.pegasos(c.p, project=project, **options)
            eta = lib.PegasosStep(c.lam)
        else:
            step = str(rng.choice(lib.steps.STEP_NAMES))
            # A step of at most 1/lam keeps w from growing without bound.
            eta = lib.make_step(step, c.lam, power(rng, -3, 0) / c.lam)
            run = lib.sgd(c.p, step=eta, project=project, **options)
    free = options["batch_size"] > 1 and project is False
    push = float(eta(1)) * longest(c) if free else 0.0
    W = check_run(c, run, T, options["average"], push)
    assert W[0].tolist() == [0.0] * c.d
    if math.isfinite(radius):
        inside(W, project, radius)
    if step in ("pegasos", "weighted") and project is False:
        assert np.linalg.norm(W, axis=1).max() <= (1.0 + 1e-10) * longest(c) / c.lam
    batches = run.draws.reshape(T, options["batch_size"])
    for t in range(1, T + 1):
        check_step(c, W[t - 1], W[t], batches[t - 1], float(eta(t)), project, radius)


def check_step(c, w, found, rows, eta, project, radius):
    """Hold one step to the textbook: the projection of w - eta g."""
    v = step_direction(c, w, rows)
    if v is None:
        return
    free = (1.0 - eta * c.lam) * w + eta * v
    # What is added may be far larger than what is left: the steps before leave such rounding too.
    size = np.abs(w).max() * (1.0 + eta * c.lam) + eta * np.abs(c.X[rows]).max()
    if isinstance(project, lib.L1Ball):
        held_in_l1(free, found, radius, 100.0 * size)
        return
    norm = math.sqrt(math.fsum(free * free))
    expected = free * (radius / norm) if norm > radius else free
    shrink = min(1.0, radius / norm) if norm > 0 else 1.0
    close(found, expected, 100.0 * size * shrink + 1e-290, "step")


def held_in_l1(free, found, radius, size):
    """Check the conditions of the nearest point of the l1 ball."""
    if np.abs(free).sum() <= radius * (1.0 - 1e-9):
        close(found, free, size + 1e-290, "step inside the l1 ball")
        return
    unit = size + radius
    pull = np.abs(free) - np.abs(found)
    support = np.abs(found) > EPS * unit
    if support.any():
        tau = float(pull[support].max())
        assert (pull[support] >= tau - 1e3 * EPS * unit).all()
        assert (np.abs(free) <= tau + np.abs(found) + 1e3 * EPS * unit).all()
    assert abs(np.abs(found).sum() - min(radius, np.abs(free).sum())) <= 1e3 * EPS * unit


def subgradients(c, W, batches):
    """Return g_1..g_T at w_1..w_T, and how many steps come before a margin too near to call."""
    g = np.zeros((len(batches), c.d))
    for t, rows in enumerate(batches):
        v = step_direction(c, W[t], rows)
        if v is None:
            return g, t
        g[t] = c.lam * W[t] - v
    return g, len(batches)


def check_mirror(rng):
    c, T = draw_case(rng), int(rng.integers(0, 25))
    options = draw_options(rng, c, T)
    eta = None if rng.random() < 0.6 else power(rng, -3, 0) / c.lam
    name = rng.choice(["lazy", "eg", "adagrad"])
    with lib.use_jit(rng.random() < 0.7):
        if name == "lazy":
            project, radius = draw_ball(rng, c, "l1")
            run = lib.mirror_descent(c.p, project=project, eta=eta, **options)
        elif name == "eg":
            radius = power(rng, -3, 3)
            project = lib.L1Ball(radius)
            run = lib.exponentiated_gradient(c.p, radius=radius, eta=eta, **options)
        else:
            project, radius = draw_ball(rng, c, "l1")
            run = lib.adagrad(c.p, project=project, eta=eta, **options)
    R = longest(c)
    if eta is None:
        eta = default_step(c, name, project, radius, T) if T > 0 and R > 0.0 else 0.0
    push = eta * R if options["batch_size"] > 1 and project is False else 0.0
    W = check_run(c, run, T, options["average"], push)
    if math.isfinite(radius):
        inside(W, project, radius)
    if T == 0 or R == 0.0:
        assert not W.any()
        return
    g, clear = subgradients(c, W, run.draws.reshape(T, options["batch_size"]))
    terms = c.lam * np.abs(W[:T]) + np.abs(c.X).max(axis=0)  # which may cancel in a subgradient
    theta, size = -np.cumsum(g, axis=0), np.cumsum(terms, axis=0)
    for t in range(clear):
        if name == "eg":
            exponents = eta * radius * theta[t]
            top = np.abs(exponents).max()
            plus, minus = np.exp(exponents - top), np.exp(-exponents - top)
            expected = radius * (plus - minus) / (plus + minus).sum()
            # An error in an exponent is a relative one in w.
            slack = radius * (1.0 + 10.0 * eta * radius * float(size[t].max()))
            close(W[t + 1], expected, slack, "exponentiated step")
        elif name == "lazy":
            free = eta * theta[t]
            if isinstance(project, lib.L1Ball):
                held_in_l1(free, W[t + 1], radius, 100.0 * eta * float(size[t].max()))
                continue
            norm = math.sqrt(math.fsum(free * free))
            shrink = min(1.0, radius / norm) if norm > 0.0 else 1.0
            close(W[t + 1], free * shrink, 100.0 * eta * size[t].max() * shrink + 1e-290, "lazy")
        elif project is False:
            root = np.sqrt((g[: t + 1] ** 2).sum(axis=0))
            move = np.divide(eta * g[t], root, out=np.zeros(c.d), where=root > 0.0)
            close(W[t + 1], W[t] - move, slack_of_adagrad(c, W[t], root, eta), "AdaGrad's step")


def slack_of_adagrad(c, w, root, eta):
    # Where a subgradient is a difference of two near numbers, its share of the root is unsure.
    terms = c.lam * np.abs(w) + np.abs(c.X).max(axis=0)
    unsure = np.divide(terms, root, out=np.full(c.d, 1e3), where=root > 0.0)
    return np.abs(w) + eta * (1.0 + 10.0 * unsure)


def default_step(c, name, project, radius, T):
    """Return the documented default of eta."""
    R = longest(c)
    if name == "eg":
        G = c.lam * radius + np.abs(c.X).max()
        return math.sqrt(2.0 * math.log(2 * c.d) / T) / (radius * G)
    if name == "adagrad":
        return 1.0 / R if math.isinf(radius) else math.sqrt(2.0) * radius
    if math.isinf(radius):
        return min(c.lam**-0.5, R / c.lam) / (2.0 * R * math.sqrt(T))
    return radius / ((c.lam * radius + R) * math.sqrt(T))


def check_outliers(rng):
    c, T = draw_case(rng), int(rng.integers(0, 25))
    options = draw_options(rng, c, T)
    options = {k: v for k, v in options.items() if k not in ("sampling", "replace")}
    undo, project, test = bool(rng.integers(2)), bool(rng.integers(2)), "full"
    if rng.random() < 0.5:
        test = str(rng.choice(["alive", "instantaneous"]))
    two_out = int(rng.integers(1, 4)) if rng.random() < 0.5 else None
    gamma = float(rng.uniform(0.1, 0.9)) if rng.random() < 0.5 else None
    p_min = float(rng.uniform(0.01, 1.0))
    run = lib.outlier_pegasos(
        c.p, undo=undo, two_out=two_out, probability=gamma, p_min=p_min, test=test,
        project=project, importance_weights=bool(rng.integers(2)), **options,
    )  # fmt: skip
    W = check_run(c, run, T, options["average"])
    if project:
        inside(W, True, c.lam**-0.5)
    assert run.alive.any()
    assert sorted(run.removed.tolist()) == np.flatnonzero(~run.alive).tolist()
    assert run.rejected == (len(run.rises) if undo else 0)
    assert (np.diff(run.rises) > 0).all()
    assert set(run.removed_at.tolist()) <= set(run.rises.tolist())
    assert (run.flags[~run.alive] >= (two_out or 1)).all()
    assert run.flags.any() <= (two_out is not None)
    assert ((run.p >= min(p_min, 1.0)) & (run.p <= 1.0)).all()
    assert (run.p == 1.0).all() or gamma is not None
    assert run.evaluations == run.step_evaluations + run.test_evaluations
    assert (np.diff(run.trace_evaluations) >= options["batch_size"]).all()
    gone = dict(zip(run.removed.tolist(), run.removed_at.tolist(), strict=True))
    for t, rows in enumerate(run.draws.reshape(T, options["batch_size"]).tolist(), start=1):
        assert all(gone.get(i, t) >= t for i in rows), "a removed example was drawn"
    if undo:
        for t in run.rises:
            assert (W[t] == W[t - 1]).all()
    if undo and test == "full":
        sizes = [P(c, w)[1] for w in W]
        assert (np.diff(run.trace.objective) <= EPS * np.array(sizes[1:])).all()


def check_batch_descent(rng):
    c, T = draw_case(rng), int(rng.integers(0, 25))
    armijo = rng.random() < 0.3
    average = rng.choice(["uniform", "weighted", None] if armijo else ["uniform", "suffix", None])
    w0 = draw_w(rng, c) if rng.random() < 0.5 else None
    if armijo:
        rule, project, radius = lib.ArmijoStep(power(rng, -3, 3)), False, math.inf
    else:
        name = str(rng.choice(lib.steps.STEP_NAMES))
        rule = lib.make_step(name, c.lam, power(rng, -3, 0) / c.lam)
        project, radius = draw_ball(rng, c, "l1")
    eps = power(rng, -9, 0)
    tests = [] if average == "suffix" else [
        kind(eps) for kind in (lib.SmallGap, lib.SmallGradient, lib.SmallChange)
        if rng.random() < 0.4
    ]  # fmt: skip
    with lib.use_jit(rng.random() < 0.7):
        run = lib.subgradient_descent(
            c.p, n_iter=T, step=rule, project=project, average=average, w0=w0, stop=tests,
            record=range(T + 1),
        )  # fmt: skip
    end = run.n_iter
    assert end <= T
    assert run.stopped_by in ("n_iter", "no decrease", *(test.name for test in tests))
    assert run.stopped_by != "no decrease" or armijo
    assert end == T or run.stopped_by != "n_iter"
    W = check_run(c, run, end, average)
    assert (W[0] == (np.zeros(c.d) if w0 is None else w0)).all()
    if math.isfinite(radius):
        inside(W[1:], project, radius)
    if armijo:
        sizes = np.array([P(c, w)[1] for w in W])
        assert (np.diff(run.trace.objective) <= EPS * sizes[1:]).all(), "P rose"
        return
    for t in range(1, end + 1):
        check_step(c, W[t - 1], W[t], range(c.n), float(rule(t)), project, radius)
    value, size = P(c, run.w)
    if run.stopped_by == "small gap":
        rival = near_optimum(c)
        if isinstance(project, lib.L1Ball):  # whose best point is the one that counts
            rival = lib.project_l1_ball(rival, radius)
        below, around = P(c, rival)
        assert value - below <= eps + EPS * (size + around), "the gap proves too much"
    if run.stopped_by == "small change":
        assert np.linalg.norm(W[-1] - W[-2]) <= eps


def check_gradient_descent(rng):
    d, T = int(rng.integers(1, 5)), int(rng.integers(0, 25))
    a, b = 10.0 ** rng.uniform(-3, 3, d), rng.standard_normal(d) * power(rng, -3, 3)
    w0 = rng.standard_normal(d) * power(rng, -3, 3)

    def f(w):
        return 0.5 * float(a @ (w - b) ** 2)

    armijo = rng.random() < 0.5
    step = lib.ArmijoStep() if armijo else lib.ConstantStep(rng.uniform(0.1, 1.9) / a.max())
    run = lib.gradient_descent(f, lambda w: a * (w - b), w0, n_iter=T, step=step)
    end = run.n_iter
    assert run.path.shape == (end + 1, d)
    assert run.values.shape == (end + 1,)
    assert run.step_sizes.shape == (end,)
    assert run.stopped_by in ("n_iter", "no decrease")
    finite(run.path, run.values)
    close(run.values, [f(w) for w in run.path], run.values, "values")
    for w, following, eta in zip(run.path, run.path[1:], run.step_sizes, strict=False):
        size = np.abs(w) + eta * a * (np.abs(w) + np.abs(b))
        close(following, w - eta * a * (w - b), size, "gradient step")
    noise = EPS * float(a @ (np.abs(b) + np.abs(run.path).max(axis=0)) ** 2)
    assert (np.diff(run.values) <= noise).all(), "f rose"


# ---------------------------------------------------------------- the dual and its certificates


def near_optimum(c):
    """Return w after a few epochs of plain coordinate ascent: P* is at most P there."""
    alpha, w, squares = np.zeros(c.n), np.zeros(c.d), (c.X**2).sum(axis=1)
    for _ in range(5):
        for i in range(c.n):
            step = c.lam * c.n * (1.0 - c.y[i] * (c.X[i] @ w))
            to = 1.0 if squares[i] == 0.0 else min(1.0, max(0.0, alpha[i] + step / squares[i]))
            w += (to - alpha[i]) * c.y[i] * c.X[i] / (c.lam * c.n)
            alpha[i] = to
    return w


def check_certificate(c, alpha, w, gap, *rivals):
    """Check a gap by its definition, and against the best points that are known."""
    assert ((alpha >= 0.0) & (alpha <= 1.0)).all()
    value, _, size = D(c, alpha)
    primal, more = P(c, w)
    unit = 1.0 + 0.5 * c.lam * math.fsum(size * size) + more
    close(gap, primal - value, unit, "gap")
    assert gap >= -EPS * unit
    for rival in (np.zeros(c.d), w, *rivals):
        below, around = P(c, rival)
        assert primal - below <= gap + EPS * (unit + around), "the gap bounds the suboptimality"
    return unit


def check_sdca(rng):
    c, epochs = draw_case(rng), int(rng.integers(0, 30))
    options = {}
    if rng.random() < 0.6:
        options = {
            "shrink": False,
            "order": str(rng.choice(["permutation", "random"])),
            "output": str(rng.choice(["last", "average", "random"])),
        }
    if rng.random() < 0.3:
        options["alpha0"] = np.clip(rng.uniform(-0.5, 1.5, c.n), 0.0, 1.0)
    asked = power(rng, -10, 0)
    with lib.use_jit(rng.random() < 0.7):
        run = lib.sdca(
            c.p, n_epochs=epochs, gap=asked, rng=int(rng.integers(2**32)), record=range(epochs + 1),
            **options,
        )  # fmt: skip
    finite(run.w, run.alpha, run.trace.w)
    _, expected, size = D(c, run.alpha)
    close(run.w, expected, size + 1e-300, "w(alpha)")
    unit = check_certificate(c, run.alpha, run.w, run.gap, near_optimum(c))
    assert run.n_iter <= epochs
    assert run.n_iter == epochs or run.gap <= asked + EPS * unit, f"{run.gap} is above {asked}"
    if not options.get("shrink", True):  # else rows that are left unread count as none
        assert run.visits == run.n_iter * c.n
    assert run.trace.iteration.tolist() == list(range(run.n_iter + 1))
    value, more = P(c, run.trace.w[-1])
    close(run.trace.objective[-1], value, more, "recorded objective")


def check_other_certificates(rng):
    c = draw_case(rng)
    seed, T = int(rng.integers(2**32)), int(rng.integers(0, 3)) * c.n
    with lib.use_jit(rng.random() < 0.7):
        start = lib.sgd_initialisation(c.p, seed)
        options = draw_options(rng, c, T)
        run = lib.pegasos(c.p, project=bool(rng.integers(2)), **options)
        point = lib.pegasos_certificate(run)
    _, expected, size = D(c, start.alpha)
    close(start.w, expected, size + 1e-300, "w(alpha)")
    check_certificate(c, start.alpha, start.w, start.gap, run.w)
    assert (point.w == run.w).all()
    check_certificate(c, point.alpha, run.w, point.gap, start.w)


# ---------------------------------------------------------------- regret and its bounds


def check_regret(rng):
    c, T = draw_case(rng), int(rng.integers(1, 20))
    options = draw_options(rng, c, T)
    project = bool(rng.integers(2))
    run = lib.pegasos(c.p, project=project, **options)
    W, batches = run.trace.w, run.draws.reshape(T, options["batch_size"])
    u = draw_w(rng, c)
    if project:
        u = lib.project_l2_ball(u, c.lam**-0.5)
    paid = [P(c, W[t], batches[t]) for t in range(T)]
    cost = [P(c, u, batches[t]) for t in range(T)]
    sizes = np.array([a[1] + b[1] for a, b in zip(paid, cost, strict=True)])
    found = regret.instantaneous_objectives(c.p, W[:T], run.draws)
    close(found, [value for value, _ in paid], sizes, "instantaneous objectives")
    measured = regret.run_regret(run, u)
    expected = np.cumsum([a[0] - b[0] for a, b in zip(paid, cost, strict=True)])
    close(measured, expected, 10.0 * np.cumsum(sizes), "regret")
    sharp = regret.sharp_regret_bound(c.p, W, run.draws, u)
    G = regret.gradient_bound(c.p, project)
    log = regret.log_regret_bound(np.arange(1, T + 1), c.lam, G)
    slack = 1e3 * EPS * (np.cumsum(sizes) + log + c.lam * T * float(u @ u))
    assert (measured <= sharp + slack).all(), "regret is above the sharp bound"
    assert (sharp <= log + slack).all(), "the sharp bound is above the logarithmic one"
    if rng.random() < 0.3:
        best = regret.hindsight_optimum(c.p, run.draws, gap=1e-6, n_epochs=200, rng=0)
        finite(best.w, best.value, best.gap)
        total = math.fsum(P(c, best.w, rows)[0] for rows in batches) / T
        unit = sum(P(c, best.w, rows)[1] for rows in batches) / T
        close(best.value, total, unit, "value of the best point")
        there = math.fsum(value for value, _ in cost) / T
        assert best.value - best.gap <= there + 1e3 * EPS * (unit + sizes.max())


def check_bounds(rng):
    lam, G, D_, eps = (power(rng, *ends) for ends in ((-6, 6), (-6, 6), (-6, 6), (-6, 0)))
    T = np.unique(np.r_[1, rng.integers(1, 10 ** int(rng.integers(1, 9)), size=9)])
    d, squares = int(rng.integers(1, 100)), rng.random((3, 4)) * G * G
    rising = [
        regret.log_regret_bound(T, lam, G), regret.sqrt_regret_bound(T, G, D_),
        regret.sqrt_regret_bound(T, G, D_, eps), regret.constant_step_regret_bound(T, G, D_),
        regret.constant_step_regret_bound(T, G, D_, eps), regret.mirror_descent_bound(T, G, D_),
        regret.exponentiated_gradient_bound(T, G, D_, d),
        regret.adagrad_bound(np.cumsum(squares, axis=0), D_),
    ]  # fmt: skip
    falling = [
        regret.average_iterate_bound(T, lam, G), regret.last_iterate_distance_bound(T, lam, G),
        regret.weighted_average_bound(T, lam, G), regret.high_probability_bound(T, lam, G, 0.1),
        regret.sgd_initialisation_bound(T, lam, G),
    ]  # fmt: skip
    for values, sign in [(v, 1.0) for v in rising] + [(v, -1.0) for v in falling]:
        finite(values)
        assert (values >= 0.0).all()
        assert (sign * np.diff(values) >= -1e-15 * values[1:]).all()
    close(rising[0], G * G * (1.0 + np.log(T)) / (2.0 * lam), rising[0], "log bound")
    # The tuned steps are the best ones.
    assert (rising[1] <= 1.5 / math.sqrt(2.0) * rising[2] * (1.0 + 1e-12)).all()
    assert (rising[3] <= rising[4] * (1.0 + 1e-12)).all()
    enough = regret.sufficient_iterations(eps, lam, G)
    assert enough >= 1
    assert regret.average_iterate_bound(enough, lam, G) <= eps * (1.0 + 1e-9)
    cross = regret.bound_crossover(lam, G, D_)
    assert cross >= 1
    later = cross * np.array([1.0, 1.5, 10.0, 1e3]) + 1.0
    low, high = regret.log_regret_bound(later, lam, G), regret.sqrt_regret_bound(later, G, D_)
    assert (low <= high * (1.0 + 1e-9)).all()
    if 1 < cross < 1e12:
        before = max(1, math.floor(0.999 * cross) - 1)
        low, high = (
            regret.log_regret_bound(before, lam, G), regret.sqrt_regret_bound(before, G, D_),
        )  # fmt: skip
        assert low >= high * (1.0 - 1e-9) or before == 1
    T_0, last = regret.sdca_iterations(int(rng.integers(1, 1000)), lam, G, eps)
    assert 0 <= T_0 < last


# ---------------------------------------------------------------- data, estimators and figures


def check_datasets(rng):
    n, flip, seed = int(rng.integers(1, 30)), float(rng.random()), int(rng.integers(2**32))
    make = [lib.make_blobs_2d, lib.make_two_arcs_2d, lib.make_ring_2d][rng.integers(3)]
    X, y = make(n, flip=flip, rng=seed)
    assert X.shape == (n, 2)
    finite(X)
    _, clean = make(n, flip=0.0, rng=seed)
    assert (y != clean).sum() == round(flip * n)
    assert set(np.unique(y)) <= {-1.0, 1.0}
    assert (clean > 0).sum() == n - n // 2
    if rng.random() < 0.2:
        words, kind = int(rng.integers(1, 30)), str(rng.choice(["flipped", "foreign", "long"]))
        mail = lib.make_mail(n, 3, words, outliers=flip, kind=kind, rng=seed)
        assert mail.X.shape == (n, words)
        assert mail.X_test.shape == (3, words)
        assert mail.is_outlier.sum() == round(flip * n)
        length = np.sqrt(np.asarray(mail.X.multiply(mail.X).sum(axis=1)).ravel())
        tenfold = mail.is_outlier if kind == "long" else np.zeros(n, bool)
        close(length, np.where(tenfold, 10.0, 1.0), 100.0, "length of a message")
        lib.HingeProblem(mail.X, mail.y, 0.1)
    if rng.random() < 0.2:
        d = int(rng.integers(2, 40))
        X, y = lib.make_rcv1_like(n, d, int(rng.integers(1, d // 2 + 1)), flip, seed)
        assert X.shape == (n, d)
        assert y.shape == (n,)
        close(np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel()), np.ones(n), 10.0, "length")
        lib.HingeProblem(X, y, 0.1)


def check_estimators(rng):
    X, y = draw_data(rng)
    y[0] = -1.0
    X, y = np.vstack([X, X[0] + 1.0]), np.append(y, 1.0)
    lam, data = power(rng, -4, 3), store(rng, X)
    intercept = bool(rng.integers(2))
    if rng.random() < 0.5:
        model = lib.SDCAClassifier(
            lam, max_iter=300, tol=1e6, fit_intercept=intercept, random_state=0
        )
    else:
        model = lib.PegasosClassifier(
            lam, max_iter=int(rng.integers(1, 4)), batch_size=int(rng.integers(1, len(y) + 1)),
            sampling=str(rng.choice(["iid", "permutation"])), project=bool(rng.integers(2)),
            average=rng.choice(["weighted", "uniform", None]), fit_intercept=intercept,
            random_state=0,
        )  # fmt: skip
    labels = np.array(["no", "yes"])[(y > 0).astype(int)]
    with lib.use_jit(rng.random() < 0.7):
        model.fit(data, labels)
    finite(model.coef_, model.intercept_, model.dual_gap_)
    assert model.coef_.shape == (1, X.shape[1])
    assert intercept or model.intercept_[0] == 0.0
    scores = model.decision_function(data)
    size = np.abs(X) @ np.abs(model.coef_[0]) + abs(model.intercept_[0])
    close(scores, X @ model.coef_[0] + model.intercept_[0], size + 1e-300, "decision function")
    assert (model.predict(data) == np.where(scores > 0.0, "yes", "no")).all()
    whole = np.column_stack([X, np.ones(len(y))]) if intercept else X
    v = np.append(model.coef_[0], model.intercept_[0]) if intercept else model.coef_[0]
    c = SimpleNamespace(X=whole, y=y, lam=lam, n=len(y), d=whole.shape[1])
    primal, unit = P(c, v)
    gap = model.dual_gap_
    assert gap >= -EPS * unit
    assert primal - min(1.0, P(c, 0.5 * v)[0]) <= gap + 1e3 * EPS * unit, "the gap is no bound"


def check_plots(rng):
    import matplotlib.pyplot as plt

    from pegasos_lib import plots

    X, y = lib.make_blobs_2d(int(rng.integers(1, 9)), rng=rng)
    scale = 10.0 ** rng.integers(-3, 4)
    p = lib.HingeProblem(X * scale, y, power(rng, -3, 2))
    run = lib.pegasos(p, n_iter=8, record=range(9))
    calls = [
        lambda: plots.plot_data_2d(p, run.w), lambda: plots.plot_data_2d(p),
        lambda: plots.plot_contours_2d(p, run.trace.w, ball=bool(rng.integers(2))),
        lambda: plots.plot_traces({"run": run}, -1.0),
        lambda: plots.plot_weights_image(rng.standard_normal(784) * scale),
        lambda: plots.plot_digits(rng.random((int(rng.integers(1, 13)), 784))),
    ]  # fmt: skip
    try:
        ax = calls[rng.integers(len(calls))]()
        ax.figure.canvas.draw()
        finite(ax.get_xlim(), ax.get_ylim())
        assert ax.get_xlim()[0] != ax.get_xlim()[1]
    finally:
        plt.close("all")


# ---------------------------------------------------------------- the cases

# How often each is drawn, in thousandths.
CHECKS = {
    check_problem: 130,
    check_dual_point: 60,
    check_bad_data: 40,
    check_projections: 100,
    check_steps: 30,
    check_draws: 40,
    check_sgd: 130,
    check_mirror: 120,
    check_outliers: 60,
    check_batch_descent: 70,
    check_gradient_descent: 30,
    check_sdca: 80,
    check_other_certificates: 40,
    check_regret: 30,
    check_bounds: 19,
    check_datasets: 10,
    check_estimators: 10,
    check_plots: 1,
}
_CHECKS, _SHARES = list(CHECKS), np.cumsum(list(CHECKS.values())) / sum(CHECKS.values())


def run_case(case):
    """Run one case; return the name of what it checks."""
    rng = np.random.default_rng(case)
    check = _CHECKS[int(np.searchsorted(_SHARES, rng.random(), side="right"))]
    try:
        check(rng)
    except Exception as error:
        raise AssertionError(
            f"case {case} ({check.__name__}): {type(error).__name__}: {error}\n"
            f"run it again by: python -m tests.test_fuzz {case}"
        ) from error
    return check.__name__


def run_cases(number):
    """Run the cases below a number, and say how far it is every 10,000."""
    start, done = time.perf_counter(), Counter()
    for case in range(number):
        done[run_case(case)] += 1
        if (case + 1) % 10_000 == 0:
            print(f"{case + 1:,} cases in {time.perf_counter() - start:.0f} s", flush=True)
    return done


@pytest.fixture(autouse=True)
def canvas_without_a_screen(monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")


def test_averages_keep_their_digits_where_projections_cut_far():
    rng = np.random.default_rng(0)
    X, y = 1e8 * rng.standard_normal((12, 3)), rng.choice([-1.0, 1.0], 12)
    run = lib.pegasos(lib.HingeProblem(X, y, 1e-6), n_iter=50, record=range(51))
    expected = run.trace.w[:-1].mean(axis=0)
    assert np.abs(run.w_average - expected).max() <= 1e-10 * np.abs(run.trace.w).max()


def test_1500_generated_inputs_find_no_wrong_answer():
    done = run_cases(1500)
    assert set(done) >= {check.__name__ for check, share in CHECKS.items() if share >= 10}


@pytest.mark.slow
def test_100_000_generated_inputs_find_no_wrong_answer(capfd):
    with capfd.disabled():
        done = run_cases(100_000)
    assert set(done) == {check.__name__ for check in CHECKS}


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(argument, run_case(int(argument)))
