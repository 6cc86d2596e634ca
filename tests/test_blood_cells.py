"""The measurements of chapter 10, reduced: the nuclei again, and cells that are made up."""

import io
from contextlib import redirect_stderr

import numpy as np
import pytest

from benchmarks import blood_cells as cells
from benchmarks.measured import FOLDER, stored
from pegasos_lib import BloodCells, HingeProblem, sdca, sgd_initialisation


@pytest.fixture(scope="module")
def results():
    return stored(cells.NAME)


@pytest.fixture(scope="module")
def part():
    return cells.nuclei(0)


def quietly(*arguments, **options):
    with redirect_stderr(io.StringIO()):
        return cells.measure(*arguments, **options)


def flat(value):
    """Yield the numbers of nested dictionaries and lists, in order; seconds are left out."""
    if isinstance(value, dict):
        for key, item in value.items():
            if key != "seconds":
                yield from flat(item)
    elif isinstance(value, list):
        for item in value:
            yield from flat(item)
    else:
        yield np.inf if value is None else value


def test_the_nuclei_are_measured_again_as_they_are_stored(results):
    lam = 1e-2
    again = quietly("nuclei", [lam], range(results["seeds"]))
    held = results["tasks"]["nuclei"]
    assert again["d"] == held["d"] == 31
    old, new = (np.array(list(flat(r["lambdas"][f"{lam:g}"]))) for r in (held, again))
    assert old.shape == new.shape
    assert len(old) > 200
    # Another processor rounds in another way, which may shift a crossing to the next look.
    same = np.isclose(old, new, rtol=1e-6) | (old == new)
    assert same.mean() > 0.97, f"{(~same).sum()} of {len(same)} numbers differ"
    with np.errstate(invalid="ignore"):  # both infinite: they are the same
        near = same | (np.abs(old - new) <= 0.5 * np.maximum(np.minimum(old, new), 1.0))
    assert near.all(), (old[~near], new[~near])


def test_what_is_stored_is_complete_and_small(results):
    assert (FOLDER / f"{cells.NAME}.json").stat().st_size < 60_000
    assert results["seeds"] >= 10
    assert list(results["tasks"]) == list(cells.TASKS)
    for task in results["tasks"].values():
        assert list(task["lambdas"]) == [f"{lam:g}" for lam in cells.LAMBDAS]
        for cell in task["lambdas"].values():
            assert list(cell["methods"]) == list(cells.METHODS)
            for found in cell["methods"].values():
                middle = [np.inf if band[0] is None else band[0] for band in found["epochs"]]
                assert middle == sorted(middle), "a finer accuracy never comes earlier"
                for key in set(found) - {"error"}:
                    assert len(found[key]) == len(cells.EPSILONS)


@pytest.mark.parametrize("order", ["permutation", "random"])
def test_a_run_that_is_looked_at_is_the_librarys(part, order):
    problem = HingeProblem(part.X, part.y, 1e-3)
    path = cells.ascend(problem, 3, order=order, epochs=4)
    options = {"gap": 1e-300, "shrink": False, "order": order}
    for epochs in (1, 4):
        run = sdca(problem, n_epochs=epochs, rng=3, **options)
        (at,) = np.flatnonzero(path.epochs == epochs)
        assert path.objective[at] == pytest.approx(problem.objective(run.w), rel=1e-9)
        assert path.gap[at] == pytest.approx(run.gap, rel=1e-7)
    assert path.w[-1] == pytest.approx(run.w, abs=1e-9)
    assert (path.epochs < 1).sum() > 6
    assert (np.diff(path.seconds) >= 0).all()


def test_a_run_after_the_first_pass_counts_it_as_an_epoch(part):
    problem = HingeProblem(part.X, part.y, 1e-2)
    path = cells.ascend(problem, 3, order="permutation", first_pass=True, epochs=4)
    assert path.epochs[:3].tolist() == [1, 2, 3]
    order = np.random.default_rng([3, 1])
    assert path.gap[0] == pytest.approx(sgd_initialisation(problem, order).gap, rel=1e-9)


def test_the_printed_update_leaves_a_gap(part):
    problem = HingeProblem(part.X, part.y, 1e-2)
    alpha, w = cells.ascend_as_printed(problem, 0, epochs=5)
    assert alpha.min() >= 0
    assert alpha.max() <= 1
    assert w == pytest.approx(problem.weights(alpha), abs=1e-9)
    assert problem.duality_gap(w, alpha) > 0.1 > sdca(problem, n_epochs=5, shrink=False).gap


def test_features_are_centred_and_scaled_by_the_rows_to_train_on(part):
    assert np.linalg.norm(part.X, axis=1).max() == pytest.approx(1)
    assert np.abs(part.X[:, :-1].mean(axis=0)).max() < 1e-12
    assert np.ptp(part.X[:, -1]) == np.ptp(part.X_test[:, -1]) == 0
    assert len(part.y_test) == round(0.2 * 569)
    assert part.X[0, -1] ** 2 == pytest.approx((part.X[:, :-1] ** 2).sum(axis=1).mean())


def test_made_up_cells_go_all_the_way(monkeypatch):
    rng, n = np.random.default_rng(0), 120
    kind, image = rng.integers(2, size=n), np.arange(n) // 4
    X = np.clip(0.5 + 0.2 * rng.normal(size=(n, 2352)) + 0.1 * kind[:, None], 0, 1)
    made = BloodCells(X, np.where(kind == 1, 1.0, -1.0), image)
    monkeypatch.setattr(cells, "fetch_blood_cells", lambda positive: made)
    part = cells.cells("white", 0)
    assert part.X.shape[1] == part.X_test.shape[1] == 589
    assert len(part.y_test) == 4 * 6, "whole photographs, a fifth of thirty"
    found = quietly("white", [1e-1], range(2), epochs=3)["lambdas"]["0.1"]
    assert found["n"] == [96, 96, 96]
    assert found["methods"]["SDCA, permutation"]["epochs"][0][0] <= 3


def test_a_band_has_no_number_where_a_run_did_not_get_there():
    assert cells.band([3.0, 1.0, np.inf, 2.0]) == [2.0, 1.0, None]
    assert cells.band([np.inf, np.inf]) == [None, None, None]
    assert cells.first(np.array([1.0, 2.0]), np.array([False, True])) == 2.0
    assert cells.first(np.array([1.0, 2.0]), np.array([False, False])) == np.inf
    looks = cells.stops(640, 50)
    assert (np.diff(looks) > 0).all()
    assert set(640 * np.arange(1, 21)) <= set(looks.tolist())
    assert looks[0] == 10
    assert looks[-1] == 640 * 50
