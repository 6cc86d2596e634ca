import numpy as np
import pytest

from pegasos_lib import HingeProblem, make_blobs_2d, pegasos
from pegasos_lib.run import record_counts


@pytest.fixture
def problem():
    X, y = make_blobs_2d(20)
    return HingeProblem(X, y, 0.1)


def test_none_records_the_last_iterate_alone(problem):
    run = pegasos(problem, n_iter=7)
    assert run.trace.iteration.tolist() == [7]
    assert (run.trace.w[0] == run.w).all()


def test_a_number_records_evenly_on_a_log_scale():
    counts = record_counts(5, 10_000)
    assert counts.tolist() == [1, 10, 100, 1000, 10_000]
    assert record_counts(1, 50).tolist() == [50]
    assert record_counts(50, 3).tolist() == [1, 2, 3]
    assert record_counts(50, 0).tolist() == [0]


@pytest.mark.parametrize("record", [[3, 0, 3], (0, 3), np.array([3, 0]), iter([0, 3]), {0, 3}])
def test_any_iterable_of_counts_is_sorted_without_repeats(record):
    assert record_counts(record, 5).tolist() == [0, 3]


def test_count_0_is_w_1_and_its_average_is_w_1(problem):
    for average in ("uniform", "weighted", "suffix"):
        trace = pegasos(problem, n_iter=3, record=[0, 1, 3], average=average).trace
        assert trace.w[0].tolist() == [0.0, 0.0]
        assert trace.w_average[:2].tolist() == [[0.0, 0.0]] * 2  # one iterate: w_1


def test_objectives_are_evaluated_at_the_first_access_and_kept(problem):
    trace = pegasos(problem, n_iter=50, record=10).trace
    assert "objective" not in vars(trace)
    assert trace.objective == pytest.approx([problem.objective(w) for w in trace.w])
    assert trace.objective_average == pytest.approx([problem.objective(w) for w in trace.w_average])
    assert trace.objective is trace.objective


def test_without_an_average_there_is_no_objective_of_it(problem):
    run = pegasos(problem, n_iter=5, average=None)
    assert run.w_average is None
    with pytest.raises(AttributeError, match="the run kept no average"):
        _ = run.trace.objective_average


def test_kept_iterates_share_no_memory(problem):
    run = pegasos(problem, n_iter=5, record=range(6))
    run.trace.w[:] = 0.0
    assert run.w.any()


def test_runs_show_themselves_in_one_line(problem):
    run = pegasos(problem, n_iter=5)
    assert repr(run).startswith("Run(n_iter=5, seconds=")
    assert repr(problem) == "HingeProblem(n=20, d=2, lam=0.1, dense)"


def test_draws_are_the_generators_successive_integers_in_32_bits(problem):
    run = pegasos(problem, n_iter=10_000, rng=3, batch_size=1)
    assert (run.draws == np.random.default_rng(3).integers(20, size=10_000)).all()
    assert run.draws.dtype == np.int32
