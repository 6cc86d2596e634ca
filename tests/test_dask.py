"""PegasosClassifier under Dask-ML: a model that goes from block to block of data too long to hold.

`Incremental` hands the model on, each block a task of a local cluster. The blocks are made inside
the tasks, so that nothing ever holds them all.
"""

import numpy as np
import pytest
import scipy.sparse as sp

from pegasos_lib import HingeProblem, sdca
from pegasos_lib.estimator import PegasosClassifier

BLOCKS, ROWS, FEATURES, LAM = 8, 2500, 20, 1e-2


@pytest.fixture(scope="module")
def incremental():
    """Return Dask-ML's wrapper, at work on a cluster of two threads that serves no web page."""
    reason = "Dask-ML is not installed: pip install dask-ml"
    wrappers = pytest.importorskip("dask_ml.wrappers", reason=reason)
    distributed = pytest.importorskip("distributed", reason=reason)
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster),
    ):
        yield wrappers.Incremental


class WatchedClassifier(PegasosClassifier):
    """Note how many rows each call sees."""

    def partial_fit(self, X, y, classes=None):
        self.seen_ = [*getattr(self, "seen_", []), X.shape[0]]
        return super().partial_fit(X, y, classes)


def block(number):
    """Return the rows and labels of one block: two overlapping classes of unlike size."""
    rng = np.random.default_rng(number)
    y = rng.choice([-1.0, 1.0], ROWS, p=[0.3, 0.7])
    return rng.standard_normal((ROWS, FEATURES)) + 0.4 * y[:, None], y


def dense_rows(number):
    return block(number)[0]


def sparse_rows(number):
    X = dense_rows(number)
    return sp.csr_matrix(np.where(np.abs(X) > 1.0, X, 0.0))


def lazy(rows):
    """Return X and y as Dask arrays whose blocks are made when asked for."""
    import dask.array as da

    numbers, lengths = da.arange(BLOCKS, chunks=1), (ROWS,) * BLOCKS
    X = numbers.map_blocks(
        lambda one: rows(one.item()),
        new_axis=1,
        chunks=(lengths, (FEATURES,)),
        meta=np.empty((0, 0)),
    )
    y = numbers.map_blocks(lambda one: block(one.item())[1], chunks=(lengths,), dtype=float)
    return X, y


@pytest.mark.parametrize("rows", [dense_rows, sparse_rows])
def test_the_blocks_of_a_cluster_are_the_same_stream_in_order(incremental, rows):
    X, y = lazy(rows)
    options = {"lam": LAM, "batch_size": 5, "intercept_scaling": 2.0}
    parallel = incremental(WatchedClassifier(**options), shuffle_blocks=False)
    alone = PegasosClassifier(**options)
    parallel.fit(X, y, classes=[-1, 1])
    for lap in range(1, 4):
        if lap > 1:
            parallel.partial_fit(X, y)
        for number in range(BLOCKS):
            alone.partial_fit(rows(number), block(number)[1], classes=[-1, 1])
        fit = parallel.estimator_
        assert (fit.coef_ == alone.coef_).all()
        assert (fit.intercept_ == alone.intercept_).all()
        assert fit.n_steps_ == alone.n_steps_ == lap * BLOCKS * ROWS // 5
        assert fit.seen_ == [ROWS] * (lap * BLOCKS)
    assert (parallel.predict(X).compute()[:ROWS] == alone.predict(rows(0))).all()


def test_a_cluster_reaches_the_optimum_over_all_blocks(incremental):
    X, y = lazy(dense_rows)
    model = incremental(PegasosClassifier(LAM, fit_intercept=False), random_state=0)
    model.fit(X, y, classes=[-1, 1])
    for _ in range(4):
        model.partial_fit(X, y)  # the blocks in a new order each time
    rows, labels = map(np.concatenate, zip(*map(block, range(BLOCKS)), strict=True))
    problem = HingeProblem(rows, labels, LAM)
    best = problem.dual_objective(sdca(problem, gap=1e-7).alpha)
    excess = problem.objective(model.estimator_.coef_[0]) - best
    assert 0.0 < excess <= 2e-4, f"{excess:.2e}"
