"""What benchmarks/race.py and race_causes.py store: parts of it, measured again."""

import base64
import json

import numpy as np
import pytest

from benchmarks import measured, optima, optimizers, race, race_causes
from pegasos_lib import HingeProblem, make_blobs_2d, project_l1_ball, sdca
from pegasos_lib.optimizers import OPTIMIZERS

RACE, CAUSES, TIMES = (measured.stored(name) for name in ("race", "race_causes", "optimizers"))
STORED = {(run["optimizer"], run["lam"], run["set"], run["output"]): run for run in RACE["runs"]}


@pytest.fixture(scope="module")
def mnist():
    return race.mnist()


def test_the_file_is_as_its_script_says():
    assert (measured.FOLDER / "race.json").stat().st_size < 400_000
    assert (measured.FOLDER / "race_causes.json").stat().st_size < 60_000
    missing = {("GD", "l1"), ("SEG±", "own")}
    outputs = [(n, s) for n in OPTIMIZERS for s in ("own", "l1") if (n, s) not in missing]
    assert set(STORED) == {
        (name, lam, kind, output)
        for name, kind in outputs
        for lam in race.LAMS
        for output in ("last", "average")
    }
    assert RACE["iterations"] == race.KEPT
    assert RACE["seeds"] >= 10
    for (name, *_), run in STORED.items():
        count = len(RACE["iterations"]["batch" if name in ("GD", "projected GD") else "online"])
        for key in ("suboptimality", "accuracy"):
            low, median, high = (np.array(run[key][q]) for q in ("low", "median", "high"))
            assert len(low) == count
            assert (low <= median).all()
            assert (median <= high).all()
        assert min(run["suboptimality"]["low"]) > 0.0
        assert (np.diff(run["seconds"]) >= 0.0).all()
        assert ("w" in run) == (run["output"] == "last")


@pytest.mark.parametrize("lam", ["0.1", "10"])
def test_the_stored_minima_are_certified(mnist, lam):
    train, test = mnist
    found = race.describe(
        train.with_lam(float(lam)), test, optima.free_optimum(train.with_lam(float(lam)))
    )
    held = RACE["optimum"][lam]
    assert held["free"]["P"] == pytest.approx(found["P"], abs=2e-8)
    assert held["free"]["test_error"] == pytest.approx(found["test_error"], abs=1e-3)
    for point in (held["free"], held["l1"]):
        assert point["gap"] <= 1e-8
    assert held["l1"]["P"] >= held["free"]["P"] - 1e-8
    assert held["l1"]["l1"] <= RACE["radius"] * (1 + 1e-9)


def test_pegasos_over_all_seeds_and_gd_are_what_is_stored(mnist):
    train, test = mnist
    kept = {"batch": [1, 3], "online": [122, 905]}
    runs = []
    for names, seeds in ((("GD", "projected GD"), 1), (("Pegasos",), RACE["seeds"])):
        runs += race.race(
            train, test, RACE["optimum"], lams=(0.1,), seeds=seeds, names=names, kept=kept
        )
    assert len(runs) == 10
    for run in runs:
        held = STORED[run["optimizer"], run["lam"], run["set"], run["output"]]
        kind = "online" if run["optimizer"] == "Pegasos" else "batch"
        places = [RACE["iterations"][kind].index(count) for count in kept[kind]]
        for key in ("suboptimality", "accuracy"):
            for q in ("low", "median", "high"):
                expected = np.array(held[key][q])[places]
                np.testing.assert_allclose(run[key][q], expected, rtol=2e-3, atol=1e-6)


@pytest.mark.parametrize("name", ["SGD", "SMD", "SEG±", "AdaGrad"])
def test_the_first_seed_ends_at_the_stored_picture(mnist, name):
    kept = {"batch": [1], "online": [10_000]}
    runs = race.race(*mnist, RACE["optimum"], lams=(1.0,), seeds=1, names=(name,), kept=kept)
    for run in runs:
        held = STORED[run["optimizer"], run["lam"], run["set"], "last"]
        if run["output"] == "last":
            levels = [
                np.frombuffer(base64.b64decode(one["w"]), np.uint8).astype(int)
                for one in (run, held)
            ]
            assert len(levels[0]) == 784
            assert np.abs(levels[0] - levels[1]).max() <= 1
            assert run["w_scale"] == pytest.approx(held["w_scale"], rel=1e-6)


def test_a_picture_is_w_to_a_step():
    w = np.random.default_rng(0).normal(size=784)
    text, scale = race.picture(w)
    levels = np.frombuffer(base64.b64decode(text), np.uint8).astype(float)
    np.testing.assert_allclose((levels - 128) / 127 * scale, w, atol=scale / 250)
    assert race.picture(np.zeros(784))[1] == 1.0


def test_the_ball_of_a_small_problem_has_its_certified_minimiser():
    problem = HingeProblem(*make_blobs_2d(60, flip=0.1, rng=0), lam=0.05)
    free = sdca(problem, gap=1e-10).w
    for radius in (0.2, 0.7, 5.0):
        found = optima.l1_optimum(problem, radius)
        assert -1e-12 <= found.gap <= 1e-8
        assert np.abs(found.w).sum() <= radius * (1 + 1e-12)
        rng = np.random.default_rng(1)
        for scale in (1.0, 0.01):
            others = found.w + scale * rng.normal(size=(300, 2))
            others = np.array([project_l1_ball(w, radius) for w in others])
            assert problem.objective(others).min() >= problem.objective(found.w) - 1e-8
        if radius == 5.0:
            np.testing.assert_allclose(found.w, free, atol=1e-3)
    worse = optima.l1_gap(problem, 0.7, np.full(problem.n, 0.5))
    assert problem.objective(worse.w) - worse.gap <= problem.objective(found.w) + 1e-9


def test_the_causes_are_what_is_stored(mnist):
    train, test = mnist
    assert CAUSES["seeds"] >= 10
    pixels = race_causes.pixels(train, test, lams=(10.0,), seeds=CAUSES["seeds"])
    for found, held in zip(pixels, CAUSES["pixels"][-4:], strict=True):
        for key in ("P", "train_error", "test_error"):
            np.testing.assert_allclose(found[key], held[key], rtol=1e-4, atol=1e-6)
        assert found["optimum"]["test_error"] == pytest.approx(
            held["optimum"]["test_error"], abs=1e-3
        )
    (last, average) = race_causes.long_runs(
        train, test, lams=(1.0,), seeds=CAUSES["seeds"], passes=(1,), names=("Pegasos, own",)
    )
    for found in (last, average):
        held = next(
            run
            for run in CAUSES["long"]
            if all(run[key] == found[key] for key in ("solver", "lam", "output"))
        )
        for key in ("P", "train_error", "test_error"):
            np.testing.assert_allclose(found[key][0], held[key][0], rtol=1e-4, atol=1e-6)


def test_shares_and_steps_of_few_steps():
    X, y = make_blobs_2d(40, rng=0)
    problem = HingeProblem(100.0 * X, y, 1.0)  # so long that w leaves the ball at once
    for row in race_causes.shares(problem, lams=(1e-3,), seeds=3, n_iter=30):
        assert 0.0 < row["projected"][0] <= 1.0
        assert row["hits"][1] <= row["hits"][0] <= row["hits"][2]
    inside = HingeProblem(0.01 * X, y, 1.0)
    for row in race_causes.shares(inside, lams=(1.0,), seeds=2, n_iter=30):
        assert row["projected"] == [0.0, 0.0, 0.0]
        assert row["hits"][0] == 1.0
    held = {(row["solver"], row["lam"]) for row in CAUSES["shares"]}
    assert held == {(name, lam) for name in ("SGD", "Pegasos") for lam in race.LAMS}


def test_every_time_that_is_stored_is_one_of_a_full_round():
    rounds = {
        len(TIMES["times"][path][name][part])
        for path in ("compiled", "NumPy")
        for name in OPTIMIZERS
        for part in ("steps", "all")
    }
    assert len(rounds) == 1
    assert rounds.pop() >= 10
    for path in TIMES["times"].values():
        for taken in path.values():
            assert (np.array(taken["all"]) >= taken["steps"]).all()


def test_times_are_taken_of_all_seven_in_turn():
    X, y = make_blobs_2d(30, rng=0)
    record = {"batch": range(3), "online": range(0, 11, 5)}
    taken = optimizers.times(HingeProblem(X, y, 0.1), False, 2, record)
    assert list(taken) == [f"{p}, {name}" for p in ("compiled", "NumPy") for name in OPTIMIZERS]
    assert all(
        len(pairs) == 2 and 0 < steps < whole for pairs in taken.values() for steps, whole in pairs
    )
    json.dumps(taken)
