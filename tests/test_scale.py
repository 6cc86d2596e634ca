"""What chapter 12 tells of scale: a reduced run of benchmarks/scale.py gives the stored counts."""

import numpy as np
import pytest

from benchmarks import scale
from benchmarks.measured import stored
from pegasos_lib import HingeProblem, pegasos

RESULTS = stored("scale")


@pytest.fixture(scope="module")
def texts():
    """The 20,000 generated rows of the script, at the lambda of its batches."""
    return scale.rcv1_like(20_000, 1e-3)


@pytest.fixture(scope="module")
def images():
    return scale.mnist(1e-2)


def same_counts(found, held, columns):
    """Compare the steps to each gap, a row for each gap, of some of the seeds."""
    for output in ("last", "average"):
        kept = [[row[column] for column in columns] for row in held[output]]
        assert np.array(found[output], float) == pytest.approx(
            np.array(kept, float), rel=1e-3, nan_ok=True
        ), output


def test_the_minimum_and_the_spread_of_the_rows_are_those_stored(texts, images):
    for name, problem in (("RCV1-like", texts), ("MNIST", images)):
        held = RESULTS[f"batches, {name}"]
        assert scale.least(problem) == pytest.approx(held["least"], abs=2e-5)
        assert pytest.approx(held["R^2"], rel=1e-4) == problem.R**2
        assert (problem.n, problem.lam) == (held["n"], held["lambda"])
    found = scale.spread(texts)["eigenvalue"]
    assert found == pytest.approx(RESULTS["batches, RCV1-like"]["eigenvalue"], rel=1e-3)


@pytest.mark.parametrize(("name", "k"), [("RCV1-like", 256), ("MNIST", 64)])
def test_batches_take_the_stored_number_of_steps(texts, images, name, k):
    problem, held = {"RCV1-like": texts, "MNIST": images}[name], RESULTS[f"batches, {name}"]
    (by_k,) = [one for one in held["by k"] if one["k"] == k]
    same_counts(scale.batches(problem, held["least"], k, seeds=(0, 9)), by_k, (0, 9))


def test_a_permutation_takes_the_stored_number_of_passes(images):
    held = RESULTS["orders, MNIST"]
    found = scale.orders(images, held["least"], "permutation", seeds=(3,))
    same_counts(found, held["permutation"], (3,))
    assert found["steps"] == held["permutation"]["steps"]
    for output in ("last", "average"):
        curve = found[f"{output}, median"]
        for name, sign in (("least", 1), ("largest", -1)):
            edge = np.array(held["permutation"][f"{output}, {name}"])
            assert (sign * (curve - edge) >= -1e-4 * edge).all(), name


def test_the_steps_on_few_rows_are_those_stored_and_about_those_on_all():
    by_n = RESULTS["sizes"]["by n"]
    problem = scale.rcv1_like(by_n[0]["n"], RESULTS["sizes"]["lambda"])
    found = scale.sizes(problem, by_n[0]["least"], seeds=(1,))
    same_counts(found, by_n[0], (1,))
    middle = np.array([[np.median(counts) for counts in one["average"]] for one in by_n])
    assert (middle.max(axis=0) < 2 * middle.min(axis=0)).all()
    assert by_n[-1]["n"] >= 400 * by_n[0]["n"]


def test_machines_that_average_end_where_they_did(texts):
    low = RESULTS["batches, RCV1-like"]["least"]
    (held,) = [one for one in RESULTS["machines"] if one["machines"] == 64]
    found = scale.machines(texts, low, 64, seeds=(0, 1))
    for name in ("together", "alone"):
        assert found[name] == pytest.approx(held[name][:2], rel=1e-3, abs=1e-5), name


def test_a_race_on_fewer_rows_counts_about_the_same_steps():
    held = RESULTS["largest"]["race"]
    problem = scale.rcv1_like(20_000, RESULTS["largest"]["lambda"])
    found = scale.race(problem, scale.least(problem), rounds=1, passes=10)
    assert found.keys() == held.keys()
    for name in ("iid, last", "iid, average"):
        few, many = found[name]["steps"][0][:3], np.median(held[name]["steps"], axis=0)[:3]
        assert (np.abs(np.log(many.astype(float) / few)) < np.log(2)).all(), name


@pytest.mark.parametrize("eps", [0.5, 0.03, 0.004])
def test_a_count_lies_between_two_points_on_logarithmic_axes(eps):
    counts = np.array([1, 10, 100, 1000])
    assert scale.reached(counts, 2.0 / counts, eps) == pytest.approx(2.0 / eps)
    assert scale.reached(counts, 2.0 / counts, 5.0) == 1.0
    assert scale.reached(counts, 2.0 / counts, 1e-3) is None


def test_the_eigenvalue_is_that_of_the_dense_matrix():
    problem = HingeProblem(np.random.default_rng(0).normal(size=(30, 8)), np.ones(30), 0.1)
    exact = np.linalg.norm(problem.X, 2) ** 2 / 30
    assert scale.spread(problem, rounds=400)["eigenvalue"] == pytest.approx(exact)


def test_one_machine_is_one_run():
    problem = scale.rcv1_like(200, 1e-2)
    found = scale.machines(problem, 0.0, 1, seeds=(5,), n_iter=300)
    rng = np.random.default_rng([1, 5])
    draws = rng.choice(rng.permutation(200), size=300)
    run = pegasos(problem, n_iter=300, draws=draws, average="weighted")
    assert found["together"] == found["alone"] == [pytest.approx(problem.objective(run.w_average))]
