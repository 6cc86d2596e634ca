"""The textbook's formulas, written a second time and as plainly as they are on paper.

Nothing here calls `pegasos_lib` or shares its tricks: a test holds the library to these.
"""

import cvxopt
import numpy as np


def objective(X, y, lam, w):
    total = 0.0
    for x, label in zip(X, y, strict=True):
        total += max(0.0, 1.0 - label * sum(x * w))
    return lam / 2 * sum(w**2) + total / len(y)


def subgradient(X, y, lam, w, batch=None):
    batch = range(len(y)) if batch is None else batch
    g = lam * w
    for i in batch:
        if y[i] * np.dot(X[i], w) < 1:
            g = g - y[i] * X[i] / len(batch)
    return g


def descend(X, y, lam, batches, eta, radius=np.inf, w1=None):
    """Return w_1..w_{T+1} and the distance of the nearest tested margin from the kink at 1."""
    w = np.zeros(X.shape[1]) if w1 is None else np.array(w1, dtype=float)
    path, nearest = [w], np.inf
    for t, batch in enumerate(batches, start=1):
        nearest = min(nearest, *(abs(y[i] * np.dot(X[i], w) - 1) for i in batch))
        w = w - eta(t) * subgradient(X, y, lam, w, batch)
        norm = np.sqrt(sum(w**2))
        if norm > radius:
            w = w * (radius / norm)
        path.append(w)
    return np.array(path), nearest


def average(path, kind):
    """Return the average of w_1..w_T from the path w_1..w_{T+1}; of w_1 alone if T = 0."""
    T = len(path) - 1
    if T == 0:
        return path[0]
    if kind == "uniform":
        return sum(path[:T]) / T
    if kind == "weighted":
        return sum(t * path[t - 1] for t in range(1, T + 1)) * 2 / (T * (T + 1))
    last_half = path[T // 2 : T]
    return sum(last_half) / len(last_half)


def ascend(X, y, lam, orders):
    """Return alpha after exact coordinate ascent on the dual, w formed anew at every step."""
    n = len(y)
    alpha = np.zeros(n)
    for i in np.ravel(orders):
        w = sum(a * label * x for a, label, x in zip(alpha, y, X, strict=True)) / (lam * n)
        norm2 = np.dot(X[i], X[i])
        if norm2 == 0:
            alpha[i] = 1.0
        else:
            step = lam * n * (1 - y[i] * np.dot(X[i], w)) / norm2
            alpha[i] = min(1.0, max(0.0, alpha[i] + step))
    return alpha


def optimum(X, y, lam):
    """Return (w*, P(w*)) by an interior-point method on the primal with slack variables.

    minimise lam/2 ||w||^2 + (1/n) sum xi_i over w and xi >= 0 with y_i <w, x_i> >= 1 - xi_i.
    """
    n, d = X.shape
    quadratic = np.zeros((d + n, d + n))
    quadratic[:d, :d] = lam * np.eye(d)
    linear = np.concatenate([np.zeros(d), np.full(n, 1 / n)])
    G = np.block([[-y[:, None] * X, -np.eye(n)], [np.zeros((n, d)), -np.eye(n)]])
    h = np.concatenate([-np.ones(n), np.zeros(n)])
    options = {"show_progress": False, "abstol": 1e-11, "reltol": 1e-11, "feastol": 1e-11}
    solution = cvxopt.solvers.qp(*map(cvxopt.matrix, (quadratic, linear, G, h)), options=options)
    w = np.array(solution["x"]).ravel()[:d]
    return w, objective(X, y, lam, w)
