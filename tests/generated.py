"""Generated problems for Hypothesis, with the odd cases that a solver must survive."""

import numpy as np
import scipy.sparse as sp
from hypothesis import strategies as st


@st.composite
def data(draw, max_n=12, max_d=5):
    """Draw (X, y, lam): any scale, with zero rows, equal rows, zero entries and one class."""
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, max_d))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    X = rng.standard_normal((n, d)) * 10.0 ** draw(st.integers(-1, 1))
    X *= rng.random((n, d)) < draw(st.sampled_from([0.3, 0.7, 1.0]))
    if draw(st.booleans()):
        X[0] = X[-1]
    if draw(st.booleans()):
        X[draw(st.integers(0, n - 1))] = 0.0
    y = draw(st.sampled_from([rng.choice([-1.0, 1.0], n), np.ones(n), -np.ones(n)]))
    return X, y, 10.0 ** draw(st.floats(-3, 0.5))


@st.composite
def integer_data(draw, max_n=8, max_d=3):
    """Draw (X, y, lam, w) of small integers, whose margins are exact and often exactly 1."""
    n, d = draw(st.integers(1, max_n)), draw(st.integers(1, max_d))
    numbers = st.integers(-2, 2)
    X = np.array(draw(st.lists(numbers, min_size=n * d, max_size=n * d)), float).reshape(n, d)
    y = np.array(draw(st.lists(st.sampled_from([-1.0, 1.0]), min_size=n, max_size=n)))
    w = np.array(draw(st.lists(numbers, min_size=d, max_size=d)), float)
    return X, y, draw(st.sampled_from([0.25, 0.5, 1.0, 2.0])), w


def stored(X, kind):
    """Return X as an array, or as CSR."""
    return sp.csr_array(X) if kind == "csr" else X
