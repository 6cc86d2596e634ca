"""The harness of benchmarks/ on little data: that it compares the same problem, and tells what
it measured. No time is tested.
"""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from benchmarks import measured, peers, report, site, solvers
from benchmarks.turns import in_turn
from pegasos_lib import make_blobs_2d

from . import reference
from .test_widgets import CLASSES

LAM = 0.1
INSTALLED = peers.installed()


@pytest.fixture(scope="module")
def data():
    # Off balance and scale, so that a wrong C, alpha, sign or an intercept would show.
    X, y = make_blobs_2d(200, flip=0.1, rng=0)
    rng = np.random.default_rng(0)
    X = 0.5 * np.hstack([X + np.array([0.5, 0.0]), rng.standard_normal((200, 3))])
    y = np.where(y == y[0], -1.0, 1.0)  # LIBLINEAR's w points to the first label
    return peers.Data("MNIST", sp.csr_matrix(X), y)


@pytest.fixture(scope="module")
def optimum(data):
    return reference.optimum(data.X.toarray(), data.y, LAM)[1]


@pytest.fixture(scope="module")
def race(data):
    return solvers.race(data, 1e-2, INSTALLED, allowance=3.0, repeats=2)


def test_ours_and_scikit_learn_are_always_there():
    names = [solver.name for solver in INSTALLED]
    assert names[:4] == ["SDCA", "Pegasos", "LinearSVC", "SGDClassifier"]


@pytest.mark.parametrize("solver", INSTALLED, ids=lambda solver: solver.name)
def test_every_solver_comes_near_the_optimum_of_the_same_problem(data, optimum, solver):
    X, y = data.X.toarray(), data.y
    for effort in solver.ladder(data)[-2:]:
        points = solver.run(data, LAM, effort)
        distances = [reference.objective(X, y, LAM, point.w) - optimum for point in points]
        assert min(distances) > -1e-8, effort
        assert min(distances) <= 1e-3, effort
        assert all(point.seconds > 0 for point in points)


def test_one_of_sgd_classifiers_step_sizes_is_1_over_lam_t():
    # Both of two orthogonal examples are hits, so that w = (y_1 x_1 + y_2 x_2)/(2 lam).
    X = np.array([[3.0, 0.0], [0.0, 0.5]])
    two = peers.Data("two", sp.csr_matrix(X), np.array([1.0, -1.0]))
    options = {"max_iter": 1, "learning_rate": "invscaling", "average": False}
    w = peers.run_sgd_classifier(two, LAM, options)[0].w
    np.testing.assert_allclose(w, np.array([3.0, -0.5]) / (2 * LAM), rtol=1e-12)


def test_the_lower_bound_is_below_the_optimum_and_close(data, race):
    least = reference.optimum(data.X.toarray(), data.y, race.lam)[1]
    assert -1e-9 <= least - race.lower_bound <= 6e-8


def test_variants_take_turns_and_the_first_round_does_not_count():
    calls = []
    variants = {name: lambda name=name: calls.append(name) or len(calls) for name in "ab"}
    assert in_turn(variants, 2) == {"a": [3, 5], "b": [4, 6]}
    assert calls == list("ababab")


def test_time_to_eps_is_the_least_median_of_the_runs_that_reached_it():
    race = solvers.Race("MNIST", 10, 2, LAM, lower_bound=1.0)
    race.seconds["SDCA"] = {
        "a": [[1.0, 4.0], [2.0, 9.0], [3.0, 5.0]],
        "b": [[0.5, 3.0]],
    }
    race.objectives["SDCA"] = {"a": [1.05, 1.0005], "b": [1.2, 1.005]}
    assert race.time_to("SDCA", 1e-1) == 2.0
    assert race.time_to("SDCA", 1e-2) == 3.0
    assert race.quickest("SDCA", 1e-3) == (5.0, "a")
    assert race.runs("SDCA", 1e-3) == 3
    assert race.time_to("SDCA", 1e-4) is None
    assert race.time_to("Pegasos", 1e-1) is None
    assert report.frontier(race, "SDCA") == [[0.5, 0.2], [2.0, 0.05], [3.0, 0.005], [5.0, 0.0005]]


def measured_steps():
    """Return what `steps` measures, with numbers of which the goals are known."""
    sparse = {
        "n": [10, 1000],
        "d": 5,
        "nonzeros per row": 5.0,
        "seconds per step, every step a hit": [1e-6, 3e-6],
        "seconds per step, lambda 1e-4": [1e-6, 1.5e-6],
        "seconds per row of X @ w": 1e-6,
    }
    dense = {
        "n": [2 * 10**6, 10**7],
        "d": [5, 5],
        "megabytes": [0.1, 0.2],
        "seconds per step": [1e-6, 2e-6],
        "share of the bandwidth": [0.8, 0.4],
        "bytes per second": {"sum": 1e10, "product": 2e10, "copy": 1e10},
    }
    memory = {
        "n": 10,
        "d": 5,
        "bytes of the data": 100,
        "extra bytes": {"SDCA": 50, "Pegasos": 200, "LinearSVC": 1, "SGDClassifier": 1},
        "goal": 100,
    }
    epochs = {"MNIST, CSR": {"Pegasos": 1.0, "SGDClassifier": 4.0}}
    return {"sparse": sparse, "dense": dense, "memory": memory, "epochs": epochs,
            "import seconds": 0.25}  # fmt: skip


def test_the_report_holds_what_was_measured(race, tmp_path):
    race.seconds["SDCA"] = {"x": [[0.125]]}
    race.objectives["SDCA"] = {"x": [race.lower_bound + 5e-4]}
    race.seconds["LinearSVC"] = {"x": [[0.5]]}
    race.objectives["LinearSVC"] = {"x": [race.lower_bound + 5e-4]}
    race.seconds.pop("SGDClassifier")
    report.write(tmp_path, [race], measured_steps(), 1.0)

    def fail(text):
        raise AssertionError(f"the JSON holds {text}")

    text = (tmp_path / "results.json").read_text()
    numbers = json.loads(text, parse_constant=fail)
    goals = {goal["what"]: goal for goal in numbers["goals"]}
    svc = goals["SDCA / LinearSVC, time to 1e-03, MNIST, lambda 1e-02"]
    assert (svc["measured"], svc["limit"], svc["met"]) == (0.25, 0.5, True)
    missed = goals["SDCA / LinearSVC, time to 1e-04, MNIST, lambda 1e-02"]
    assert (missed["measured"], missed["met"]) == (None, False)
    met = {what: goal["met"] for what, goal in goals.items()}
    assert met["Pegasos epoch / SGDClassifier epoch, MNIST, CSR"]
    assert not met["random CSR step / row of X @ w, every step a hit"]
    assert met["growth of a CSR step's cost, n = 10 to 1,000, lambda 1e-4"]
    assert met["random dense steps, share of the bandwidth, 2,000,000 x 5"]
    assert not met["random dense steps, share of the bandwidth, 10,000,000 x 5"]
    assert met["extra memory of a SDCA fit / (3 d + 2 n numbers)"]
    assert not met["extra memory of a Pegasos fit / (3 d + 2 n numbers)"]
    assert numbers["machine"]["cores"] >= 1

    page = (tmp_path / "results.md").read_text()
    assert "| SDCA | 0.125 | 0.125 | 0.125 | - | - |" in page.replace("**", "")
    assert "| SGDClassifier | not installed |" in page
    for name, alt in numbers["pictures"].items():
        assert f"![{alt}]({name})" in page
        assert (tmp_path / name).stat().st_size < 200_000
    import socket

    for secret in (socket.gethostname(), str(tmp_path), "/home/", "/root/"):
        assert secret not in text + page


def test_a_stored_result_comes_back_with_its_command_and_its_machine(tmp_path):
    results = {"gap": np.array([1 / 3, 2e-7]), "n": np.int64(5), "kept": (True, None, "MNIST")}
    path = measured.store("a", "python -m benchmarks.a", results, tmp_path)
    held = json.loads(path.read_text())
    assert held["command"] == "python -m benchmarks.a"
    assert held["machine"]["packages"]["numpy"] == np.__version__
    assert measured.stored("a", tmp_path) == {
        "gap": [0.33333, 2e-7],
        "n": 5,
        "kept": [True, None, "MNIST"],
    }


@pytest.mark.parametrize("value", [np.nan, np.float64(np.inf)])
def test_a_result_that_is_no_number_is_not_stored(tmp_path, value):
    with pytest.raises(ValueError, match="must be finite"):
        measured.store("a", "command", {"gap": [value]}, tmp_path)
    assert not list(tmp_path.iterdir())


def test_every_figure_is_timed():
    assert set(site.FIGURES) == set(CLASSES)
