"""Golden vectors: what pegasos_lib gives for the problems that engine.js must repeat.

`python tests/test_golden.py` draws the inputs and writes the files; the tests read the inputs back
and recompute every output, so that a file that no longer says what the library gives fails here,
and an engine that no longer repeats the file fails in engine.test.js.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from pegasos_lib import HingeProblem, outlier_pegasos, pegasos, sdca, sgd
from pegasos_lib.steps import ConstantStep, InverseSqrt, InverseTime, PegasosStep, WeightedStep

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = Path(__file__).parent / "golden"
FILES = ["problems", "steps", "runs", "optima", "draws", "outliers"]


# ---------------------------------------------------------------- from inputs to outputs


def step_rule(name, lam, c):
    return {
        "pegasos": lambda: PegasosStep(lam),
        "weighted": lambda: WeightedStep(lam),
        "inverse-time": lambda: InverseTime(c),
        "inverse-sqrt": lambda: InverseSqrt(c),
        "constant": lambda: ConstantStep(c),
    }[name]()


def problem_of(case):
    X = np.array(case["X"], dtype=float)
    if case.get("constant"):
        X = np.column_stack([X, np.full(len(X), float(case["constant"]))])
    return HingeProblem(X, np.array(case["y"], dtype=float), lam=case["lam"])


def evaluate_problem(case):
    problem = problem_of(case)
    W, alpha = np.array(case["w"]), np.array(case["alpha"])
    return {
        "R": problem.R,
        "C": problem.C,
        "margins": problem.margins(W),
        "losses": problem.losses(W),
        "objective": problem.objective(W),
        "subgradient": [problem.subgradient(w) for w in W],
        "weights": problem.weights(alpha),
        "dual_objective": problem.dual_objective(alpha),
    }


def evaluate_steps(case):
    rule = step_rule(case["step"], case["lam"], case["c"])
    return {"eta": rule(np.array(case["t"]))}


def solve_run(case, average):
    problem = problem_of(case)
    options = {
        "n_iter": case["n_iter"],
        "batch_size": case["batch_size"],
        "draws": np.array(case["draws"]),
        "project": case["project"],
        "average": average,
        "record": range(case["n_iter"] + 1),
    }
    if case["step"] == "pegasos":
        return pegasos(problem, **options)
    return sgd(problem, step=step_rule(case["step"], case["lam"], case["c"]), **options)


def evaluate_runs(case):
    runs = {average: solve_run(case, average) for average in ("uniform", "weighted", "suffix")}
    trace = runs["uniform"].trace
    np.testing.assert_array_equal(trace.iteration, np.arange(case["n_iter"] + 1))
    outputs = {"w": trace.w, "objective": trace.objective}
    for average, run in runs.items():
        outputs[average] = run.trace.w_average
        outputs[f"objective_{average}"] = run.trace.objective_average
    return outputs


def solve_outliers(case, **draws):
    return outlier_pegasos(
        problem_of(case), n_iter=case["n_iter"], batch_size=case["batch_size"],
        record=range(case["n_iter"] + 1), **case["options"], **draws,
    )  # fmt: skip


def evaluate_outliers(case):
    run = solve_outliers(case, draws=np.array(case["draws"]))
    removed_at = np.zeros(len(case["X"]), dtype=np.int64)  # 0: never
    removed_at[run.removed] = run.removed_at
    return {
        "w": run.trace.w,
        "rose": np.isin(np.arange(1, case["n_iter"] + 1), run.rises),
        "flags": run.flags,
        "p": run.p,
        "removed_at": removed_at,
        "work": run.trace_evaluations,
    }


def evaluate_optima(case):
    """Give the two ends between which the least value lies, from the library's own certificate."""
    problem = problem_of(case)
    run = sdca(problem, n_epochs=200_000, gap=1e-11)
    upper = problem.objective(run.w)
    return {"upper": upper, "lower": upper - problem.duality_gap(run.w, run.alpha)}


def mulberry32(seed):
    """Yield the 32-bit integers of engine.js's generator, written again from its description."""
    mask, state = 2**32 - 1, seed % 2**32
    while True:
        state = (state + 0x6D2B79F5) & mask
        z = ((state ^ state >> 15) * (state | 1)) & mask
        z ^= (z + (z ^ z >> 7) * (z | 61)) & mask
        yield z ^ z >> 14


def evaluate_draws(case):
    stream = mulberry32(case["seed"])
    n, k, length = case["n"], case["batch_size"], case["n_iter"] * case["batch_size"]

    def below(bound):
        limit = 2**32 - 2**32 % bound
        return next(r for r in stream if r < limit) % bound

    def shuffle_first(pool, count):
        for a in range(count):
            b = a + below(n - a)
            pool[a], pool[b] = pool[b], pool[a]

    pool, draws = list(range(n)), []
    while len(draws) < length:
        if case["sampling"] == "permutation":
            shuffle_first(pool, n - 1)
            draws += pool
        elif case["replace"] or k == 1:
            draws.append(below(n))
        else:
            shuffle_first(pool, k)
            draws += pool[:k]
    return {"draws": draws[:length]}


EVALUATE = {
    "problems": evaluate_problem,
    "steps": evaluate_steps,
    "runs": evaluate_runs,
    "optima": evaluate_optima,
    "draws": evaluate_draws,
    "outliers": evaluate_outliers,
}


# ------------------------------------------------------------------------- drawing inputs


def blobs(rng, n, shift=1.0, integer=False):
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    X = rng.normal(size=(n, 2)) + shift * np.outer(y, [1.0, 0.5])
    X = np.round(X) if integer else np.round(X, 3)
    return {"X": X.tolist(), "y": y.tolist()}


def draw_problems(rng):
    cases = [
        {"name": "one point on the kink", "X": [[1.0, 0.0]], "y": [1.0], "lam": 0.5},
        {"name": "a zero row", "X": [[0.0, 0.0], [2.0, 1.0]], "y": [1.0, -1.0], "lam": 0.1},
        {"name": "duplicates", "X": [[1.0, 2.0]] * 3, "y": [1.0, 1.0, -1.0], "lam": 1e-3},
        {"name": "one class", **blobs(rng, 5), "y": [-1.0] * 5, "lam": 10.0},
        {"name": "a constant feature", **blobs(rng, 12), "lam": 0.02, "constant": 1.0},
        {"name": "two hundred points", **blobs(rng, 200), "lam": 1e-5},
    ]
    for case in cases:
        n, d = len(case["X"]), 3 if case.get("constant") else 2
        w = [np.zeros(d), np.eye(d)[0], *np.round(rng.normal(size=(3, d)), 3)]
        case["w"] = [row.tolist() for row in w]
        case["alpha"] = np.round(rng.random(n), 3).tolist()
    return cases


def draw_steps(rng):
    return [
        {"name": step, "step": step, "lam": lam, "c": c, "t": [1, 2, 3, 10, 999]}
        for step in ("pegasos", "weighted", "inverse-time", "inverse-sqrt", "constant")
        for lam, c in ((0.01, 1.0), (3.0, 0.2))
    ]


def draw_runs(rng):
    settings = [
        ("pegasos", 1, 0.05, True, 60, 0.0),
        ("pegasos", 1, 0.05, False, 60, 0.0),
        ("pegasos", 7, 1e-5, True, 40, 0.0),
        ("pegasos", 3, 2.0, False, 41, 1.0),
        ("weighted", 2, 0.1, True, 40, 0.0),
        ("inverse-time", 1, 0.1, False, 40, 0.0),
        ("inverse-sqrt", 4, 0.01, 0.8, 40, 0.0),
        ("constant", 1, 0.3, False, 33, 0.0),
    ]
    cases = []
    for step, k, lam, project, n_iter, constant in settings:
        data = blobs(rng, 20)
        draws = rng.integers(20, size=(n_iter, k))
        case = {
            "name": f"{step}, k = {k}, lam = {lam}, project = {project}",
            **data,
            "lam": lam,
            "step": step,
            "c": 0.7,
            "project": project,
            "batch_size": k,
            "n_iter": n_iter,
            "draws": (draws[:, 0] if k == 1 else draws).tolist(),
            "constant": constant,
        }
        cases.append(case)
    return cases


def draw_optima(rng):
    cases = [
        {"name": f"{n} points, lam = {lam}", **blobs(rng, n), "lam": lam}
        for n, lam in ((1, 1.0), (5, 1e-2), (40, 1e-3), (200, 0.1), (200, 10.0))
    ]
    cases += [
        {"name": "separable, tiny lam", **blobs(rng, 10, shift=4.0), "lam": 1e-5},
        {"name": "integer grid with ties", **blobs(rng, 40, integer=True), "lam": 0.01},
        {"name": "a constant feature", **blobs(rng, 30), "lam": 0.05, "constant": 1.0},
        {"name": "one class", **blobs(rng, 6), "y": [1.0] * 6, "lam": 0.01},
        {"name": "zero rows only", "X": [[0.0, 0.0]] * 3, "y": [1.0, -1.0, 1.0], "lam": 0.1},
        {
            "name": "E000-03: separable, yet misclassified",
            "X": [[1.0, 0.0]] * 9 + [[-0.9, 0.3]],
            "y": [1.0] * 10,
            "lam": 0.1,
        },
    ]
    return cases


def draw_draws(rng):
    return [
        {"name": f"{sampling}, k = {k}, replace = {replace}", "seed": seed, "n": n, "n_iter": T}
        | {"batch_size": k, "replace": replace, "sampling": sampling}
        for seed, n, T, k, replace, sampling in (
            (0, 10, 50, 1, True, "iid"),
            (2**32 - 1, 200, 50, 3, True, "iid"),
            (7, 10, 20, 4, False, "iid"),
            (3, 10, 25, 1, False, "iid"),
            (1, 7, 10, 3, True, "permutation"),
            (5, 1, 4, 1, True, "permutation"),
        )
    ]


def draw_outliers(rng):
    settings = [
        ("two-out", 1, 0.02, 0.0, {"two_out": 2}),
        ("undo", 3, 0.05, 0.0, {"undo": True}),
        ("two-out and probability", 2, 0.01, 0.0,
         {"two_out": 2, "probability": 0.5, "importance_weights": True, "test": "alive"}),
        ("all, instantaneous", 4, 0.003, 0.0,
         {"undo": True, "two_out": 2, "probability": 0.7, "test": "instantaneous"}),
        ("undo and probability", 1, 0.1, 1.0,
         {"undo": True, "probability": 0.3, "p_min": 0.1, "project": False,
          "w0": [0.3, -0.2, 0.1]}),
    ]  # fmt: skip
    cases = []
    for name, k, lam, constant, options in settings:
        case = {"name": name, **blobs(rng, 20), "lam": lam, "constant": constant, "n_iter": 60}
        case |= {"batch_size": k, "options": options}
        # What a variant draws hangs on whom it has removed or lowered: the library draws it.
        cases.append({**case, "draws": plain(solve_outliers(case, rng=rng).draws)})
    return cases


def check_margins_clear_of_the_kink(case, w):
    """Refuse a run where rounding could decide a hit: there two correct programs may differ."""
    problem = problem_of(case)
    distance = np.abs(problem.margins(np.asarray(w)) - 1).min()
    if distance < 1e-8:
        raise ValueError(f"{case['name']}: a margin is within {distance:.1e} of the kink")


def plain(value):
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    return [plain(item) for item in value] if isinstance(value, list) else value


def write():
    rng = np.random.default_rng(20200302)
    for name in FILES:
        cases = globals()[f"draw_{name}"](rng)
        for case in cases:
            outputs = EVALUATE[name](case)
            if name == "runs":
                check_margins_clear_of_the_kink(case, outputs["w"])
            case["expected"] = {key: plain(value) for key, value in outputs.items()}
        lines = ",\n".join(json.dumps(case, sort_keys=True) for case in cases)
        (GOLDEN / f"{name}.json").write_text(f"[\n{lines}\n]\n")


# ---------------------------------------------------------------------------------- tests


def cases_of(name):
    return json.loads((GOLDEN / f"{name}.json").read_text())


@pytest.mark.parametrize("name", FILES)
def test_golden_file_still_says_what_the_library_gives(name):
    cases = cases_of(name)
    assert cases
    for case in cases:
        outputs = EVALUATE[name](case)
        assert outputs.keys() == case["expected"].keys()
        for key, value in outputs.items():
            stored = np.asarray(case["expected"][key], dtype=float)
            np.testing.assert_allclose(
                np.asarray(value, dtype=float),
                stored,
                rtol=0,
                atol=1e-11 * max(1.0, np.abs(stored).max()),
                err_msg=f"{name}.json, {case['name']}, {key}: run python tests/test_golden.py",
            )


def test_golden_runs_keep_clear_of_the_kink():
    for case in cases_of("runs"):
        check_margins_clear_of_the_kink(case, case["expected"]["w"])


if __name__ == "__main__":
    write()
