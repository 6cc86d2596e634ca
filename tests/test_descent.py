"""Batch descent: line search, stopping tests and the reasons that the runs give."""

from fractions import Fraction
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from pegasos_lib import (
    ConstantStep,
    HingeProblem,
    InverseSqrt,
    InverseTime,
    L1Ball,
    PegasosStep,
    WeightedStep,
    make_blobs_2d,
    pegasos,
    project_l2_ball,
    subgradient_descent,
    use_jit,
)
from pegasos_lib._active import ActiveSum
from pegasos_lib.descent import _Point, gradient_descent
from pegasos_lib.steps import ArmijoStep, SmallChange, SmallDecrease, SmallGap, SmallGradient
from tests import reference
from tests.generated import data, stored

KINK = 1e-8


def square(w):
    return float(w @ w)


def kinked(x):
    """Return f and f' of the C^1 function of E002-07: 1.5-strongly convex and 2-smooth."""
    size, sign = abs(x), 1 if x > 0 else -1
    if size <= 1:
        return x * x, 2 * x
    return (3 * size * size + 2 * size - 1) / 4, (3 * x + sign) / 2


# ------- the printed line search and the printed tests, which err -------


def printed_backtracking(w, n_iter):
    """Accept any decrease, as document 002 prints it, from c = 1 with gamma = 1/2."""
    path = [w]
    for _ in range(n_iter):
        (value, slope), eta = kinked(w), Fraction(1)
        while not kinked(w - eta * slope)[0] < value:
            eta /= 2
        w = w - eta * slope
        path.append(w)
    return path


def test_any_decrease_is_not_enough_for_a_line_search():
    path = printed_backtracking(Fraction(2), 300)
    assert [abs(w) for w in path] == [1 + Fraction(1, 2**t) for t in range(301)]
    values = [kinked(w)[0] for w in path]
    assert all(later < earlier for earlier, later in pairwise(values))
    assert values[-1] > 1


def test_armijo_reaches_the_minimum_where_any_decrease_does_not():
    run = gradient_descent(
        lambda w: kinked(w[0])[0],
        lambda w: [kinked(w[0])[1]],
        [2.0],
        n_iter=100,
        stop=SmallGradient(1e-12),
    )
    assert (run.n_iter, run.stopped_by) == (14, "small gradient")
    assert abs(run.w[0]) < 1e-12


def test_the_search_is_exact_in_rationals_too():
    rule, w, steps = ArmijoStep(Fraction(1), Fraction(1, 10**4), Fraction(1, 2)), Fraction(2), 0
    while w != 0:
        value, slope = kinked(w)
        eta = rule.search(lambda eta: kinked(w - eta * slope)[0], value, -slope * slope)  # noqa: B023
        w, steps = w - eta * slope, steps + 1
    assert steps == 14


def stops_at(fires, values):
    return next(t for t in range(1, len(values)) if fires(values[t - 1], values[t]))


def test_the_printed_small_increase_stops_at_once_and_the_small_decrease_at_the_minimum():
    options = {"n_iter": 100, "step": ConstantStep(0.1)}
    full = gradient_descent(square, lambda w: 2 * w, [10.0], **options)
    assert full.values == pytest.approx([100 * 0.64**t for t in range(101)])
    eps = 1e-6
    assert stops_at(lambda old, new: new - old <= eps, full.values) == 1
    assert full.values[1] == pytest.approx(64.0)
    for absolute in (False, True):
        run = gradient_descent(
            square, lambda w: 2 * w, [10.0], **options, stop=SmallDecrease(eps, absolute)
        )
        assert run.n_iter == stops_at(lambda old, new: old - new <= eps, full.values) == 40
        assert run.stopped_by == "small decrease"
        assert run.values[-1] == pytest.approx(2e-6, rel=0.2)


def test_small_change_fires_far_from_the_minimum_where_steps_shrink_by_rule():
    X, y = make_blobs_2d(200, separation=2.0, flip=0.1, rng=0)
    p = HingeProblem(X / np.linalg.norm(X, axis=1)[:, None], y, 1e-3)
    best = reference.optimum(p.X, y, p.lam)[1]
    trace = pegasos(p, n_iter=1000, record=range(1001)).trace
    points = [SimpleNamespace(w=w) for w in trace.w]
    fired = [SmallChange(0.01).fires(*pair) for pair in pairwise(points)].index(True) + 1
    assert fired < 500
    assert trace.objective[fired] - best > 0.2
    slow = {"n_iter": 5000, "step": InverseTime(0.01), "average": None}
    early = subgradient_descent(p, **slow, stop=SmallChange(1e-3))
    assert early.stopped_by == "small change"
    assert p.objective(early.w) - best > 0.3
    sure = subgradient_descent(p, n_iter=5000, stop=[SmallGap(0.01)])
    assert sure.stopped_by == "small gap"
    assert 0 <= p.objective(sure.w) - best <= 0.01


# ------- the tests on subgradient descent, against a plain re-expression -------


def plain_stop(kind, eps, X, y, lam, path, alphas):
    """Return the first step after which the test fires on a path, and the nearest miss of it."""
    nearest = np.inf
    for t in range(1, len(path)):
        old, new = path[t - 1], path[t]
        if kind is SmallDecrease:
            measure = reference.objective(X, y, lam, old) - reference.objective(X, y, lam, new)
        elif kind is SmallChange:
            measure = np.sqrt(sum((new - old) ** 2))
        elif kind is SmallGradient:
            measure = np.sqrt(sum(reference.subgradient(X, y, lam, new) ** 2))
        else:
            w = sum(a * b * x for a, b, x in zip(alphas[t], y, X, strict=True)) / (lam * len(y))
            measure = reference.objective(X, y, lam, new) - np.mean(alphas[t]) + lam / 2 * (w @ w)
        nearest = min(nearest, abs(measure - eps))
        if measure <= eps:
            return t, nearest
    return None, nearest


def plain_alphas(X, y, lam, path):
    """Return the mean of the indicators of a margin below 1 over w_1..w_t, for each t."""
    hits = np.array([[b * (x @ w) < 1 for x, b in zip(X, y, strict=True)] for w in path[:-1]])
    return [np.zeros(len(y)), *(np.cumsum(hits, axis=0) / np.arange(1, len(path))[:, None])]


@pytest.mark.parametrize("kind", [SmallDecrease, SmallChange, SmallGradient, SmallGap])
@settings(max_examples=25)
@given(
    example=data(),
    eps=st.floats(1e-3, 2.0),
    store=st.sampled_from(["dense", "csr"]),
    average=st.sampled_from(["uniform", "weighted", None]),
)
def test_a_run_stops_where_its_test_first_holds(kind, example, eps, store, average):
    X, y, lam = example
    p, T = HingeProblem(stored(X, store), y, lam), 40
    path, nearest = reference.descend(X, y, lam, [range(p.n)] * T, lambda t: 1 / (lam * t))
    assume(nearest > KINK)
    when, margin = plain_stop(kind, eps, X, y, lam, path, plain_alphas(X, y, lam, path))
    assume(margin > KINK)
    run = subgradient_descent(p, n_iter=T, stop=kind(eps), average=average, record=range(0, 41, 4))
    assert run.stopped_by == (kind.name if when else "n_iter")
    done = when or T
    assert run.n_iter == done
    scale = max(1.0, np.abs(path).max())
    assert np.abs(run.w - path[done]).max() <= 1e-10 * scale
    assert run.trace.iteration.tolist() == sorted({min(s, done) for s in range(0, 41, 4)})
    for s, w in zip(run.trace.iteration, run.trace.w, strict=True):
        assert np.abs(w - path[s]).max() <= 1e-10 * scale
    if average is not None:
        expected = reference.average(path[: done + 1], average)
        assert np.abs(run.w_average - expected).max() <= 1e-10 * scale


@settings(max_examples=40)
@given(
    example=data(),
    rule=st.integers(0, 5),
    project=st.sampled_from([False, True, 0.5]),
    start=st.sampled_from([None, 3.0]),
    eps=st.floats(1e-3, 1.0),
)
def test_small_gap_and_small_gradient_prove_what_they_say(example, rule, project, start, eps):
    X, y, lam = example
    p = HingeProblem(X, y, lam)
    best = reference.optimum(X, y, lam)[1]
    step = [
        PegasosStep(lam), WeightedStep(lam), InverseTime(0.7), InverseSqrt(0.3),
        ConstantStep(0.2), ArmijoStep(),
    ][rule]  # fmt: skip
    w0 = None if start is None else np.full(p.d, start)
    options = {"n_iter": 60, "step": step, "project": project and rule < 5, "w0": w0}
    run = subgradient_descent(p, **options, stop=[SmallGap(eps), SmallGradient(eps)])
    excess = p.objective(run.w) - best
    bounds = {"small gap": eps, "small gradient": eps**2 / (2 * lam)}
    assert excess <= bounds.get(run.stopped_by, np.inf) + 1e-8 * max(1.0, best)
    assert excess >= -1e-8 * max(1.0, best)


@pytest.mark.parametrize("project", [False, 0.8])
@pytest.mark.parametrize("rule", [PegasosStep(0.1), WeightedStep(0.1), ConstantStep(0.3)])
def test_the_gap_closes_and_fires_for_steps_that_keep_alpha_feasible(rule, project):
    X, y = make_blobs_2d(60, separation=2.0, flip=0.1, rng=5)
    p = HingeProblem(X, y, 0.1)
    assert np.linalg.norm(reference.optimum(X, y, 0.1)[0]) < 0.8 or not project
    run = subgradient_descent(
        p, n_iter=4000, step=rule, project=project, stop=SmallGap(0.02), average=None
    )
    assert run.stopped_by == "small gap"
    assert p.objective(run.w) - reference.optimum(X, y, 0.1)[1] <= 0.02


@pytest.mark.parametrize("radius", [np.inf, 0.3])
@pytest.mark.parametrize("step", [PegasosStep(0.1), ConstantStep(0.3)])
def test_alpha_follows_the_iterate_projected_or_not(step, radius):
    p = HingeProblem(*make_blobs_2d(30, separation=2.0, flip=0.1, rng=5), 0.1)
    point = _Point(ActiveSum(p), np.zeros(2), np.zeros(30))
    onto_set = None if np.isinf(radius) else lambda w: project_l2_ball(w, radius)
    for t in range(1, 40):
        point = point.moved(float(step(t)), onto_set=onto_set)
        alpha = point._alpha
        assert p.weights(alpha) == pytest.approx(point.w, abs=1e-12)
        assert point.gap == pytest.approx(p.duality_gap(point.w, alpha), abs=1e-12)
    assert np.isinf(radius) or np.linalg.norm(point.w) == pytest.approx(radius)


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("kind", ["dense", "csr"])
@pytest.mark.parametrize("share", [0.2, 1.0])
def test_the_followed_sum_is_the_sum_anew(share, kind, jit):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((400, 12)) * (rng.random((400, 12)) < share)
    p = HingeProblem(stored(X, kind), rng.choice([-1.0, 1.0], 400), 0.1)
    with use_jit(jit):
        sums, w = ActiveSum(p), np.zeros(12)
        for t in range(300):
            # Short steps, which few margins cross at, and a jump now and then.
            w = rng.standard_normal(12) if t % 40 == 39 else 0.99 * w + 0.01 * rng.random(12)
            active, total = sums.at(w)
            expected = p.y * (X @ w) < 1.0
            assert (active == expected).all()
            assert total == pytest.approx(X[expected].T @ p.y[expected], abs=1e-10)


@pytest.mark.parametrize("jit", [False, True])
@settings(max_examples=60)
@given(
    example=data(max_n=30, max_d=12),
    kind=st.sampled_from(["dense", "csr"]),
    moves=st.lists(
        st.sampled_from(["step", "step", "repeat", "far", "sparse", "back", "zero", "nan", "inf"]),
        min_size=5, max_size=40,
    ),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_the_followed_sum_is_right_wherever_w_goes(jit, example, kind, moves, seed):
    X, y, lam = example
    rng, d = np.random.default_rng(seed), X.shape[1]
    with use_jit(jit), np.errstate(invalid="ignore", over="ignore"):
        sums = ActiveSum(HingeProblem(stored(X, kind), y, lam))
        path = [np.zeros(d)]
        for move in moves:
            w = path[-1] if np.isfinite(path[-1]).all() else np.zeros(d)
            w = {
                "step": 0.9 * w + 0.05 * rng.standard_normal(d),
                "repeat": path[-1].copy(),
                "far": 10.0 ** rng.integers(-3, 4) * rng.standard_normal(d),
                "sparse": rng.standard_normal(d) * (np.arange(d) == rng.integers(d)),
                "back": path[-2 if len(path) > 1 else -1].copy(),
                "zero": np.zeros(d),
                "nan": np.where(np.arange(d) == 0, np.nan, w),
                "inf": np.where(np.arange(d) == 0, np.inf, w),
            }[move]
            path.append(w)
            asked_before = rng.random() < 0.3
            if asked_before and np.isfinite(w).all():
                assert sums.margins(w) == pytest.approx(y * (X @ w), rel=1e-12, abs=1e-11)
            active, total = sums.at(w)
            assert np.isfinite(total).all()
            assert total == pytest.approx(X[active].T @ y[active], abs=1e-10)
            if np.isfinite(w).all():
                margins = y * (X @ w)
                sure = np.abs(margins - 1.0) > 1e-9
                assert (active == (margins < 1.0))[sure].all(), (move, margins[sure])


def test_sums_are_made_afresh_in_time_and_small_moves_read_few_rows():
    rng = np.random.default_rng(9)
    p = HingeProblem(rng.standard_normal((200, 10)), rng.choice([-1.0, 1.0], 200), 0.1)
    sums, additions = ActiveSum(p), []
    for _ in range(60):
        sums.at(rng.standard_normal(10))
        additions.append(sums._known[-1].additions)
    assert max(additions) <= 2 * p.n
    assert max(additions) > p.n  # so that sums were made from others, not all from nothing
    before, w = sums._read, sums._w
    for _ in range(50):
        w = w + 1e-4 * rng.standard_normal(10)
        sums.at(w)
    assert sums._read - before < 2 * p.n


@pytest.mark.parametrize("jit", [False, True])
def test_no_row_is_read_where_the_iterates_go_to_and_fro(jit):
    rng = np.random.default_rng(8)
    X = rng.standard_normal((300, 40)) * (rng.random((300, 40)) < 0.2)
    p = HingeProblem(X, rng.choice([-1.0, 1.0], 300), 0.1)
    one, other = 10 * rng.standard_normal((2, 40)) * (np.arange(40) % 6 == [[0], [1]])
    with use_jit(jit):
        sums = ActiveSum(p)
        for w in (np.zeros(40), one, other) * 4:
            sums.at(w.copy())
        assert (p.margins(one) < 1).sum() > 50
        assert ((p.margins(one) < 1) != (p.margins(other) < 1)).sum() > 50
        # Margins come from the columns in use, and both sums are known.
        before = sums._read
        for w in (one, other) * 4:
            active, total = sums.at(w.copy())
            assert total == pytest.approx(X[active].T @ p.y[active], abs=1e-10)
        assert sums._read == before


def test_the_first_test_that_fires_names_the_reason():
    p = HingeProblem(*make_blobs_2d(20), 0.1)
    tests = [SmallGap(1e-9), SmallChange(1e9), SmallDecrease(1e9)]
    for order, name in ((tests, "small change"), (tests[::-1], "small decrease")):
        run = subgradient_descent(p, n_iter=9, stop=order)
        assert (run.n_iter, run.stopped_by) == (1, name)
    assert subgradient_descent(p, n_iter=9, stop=iter(tests)).stopped_by == "small change"
    assert subgradient_descent(p, n_iter=0, stop=tests).stopped_by == "n_iter"
    assert subgradient_descent(p, n_iter=1, stop=tests).stopped_by == "small change"


# ------- Armijo on the objective -------


def test_armijo_on_the_objective_falls_at_every_step():
    X, y = make_blobs_2d(60, separation=2.0, flip=0.1, rng=5)
    p = HingeProblem(X, y, 0.1)
    run = subgradient_descent(p, n_iter=300, step=ArmijoStep(c=4.0), record=range(301))
    assert run.stopped_by == "no decrease"
    assert run.n_iter < 300
    path, values = run.trace.w, run.trace.objective
    for (w, following), (old, new) in zip(pairwise(path), pairwise(values), strict=True):
        g = reference.subgradient(X, y, 0.1, w)
        eta = np.linalg.norm(following - w) / np.linalg.norm(g)
        assert following == pytest.approx(w - eta * g, abs=1e-10)
        assert np.log2(4.0 / eta) == pytest.approx(round(np.log2(4.0 / eta)), abs=1e-6)
        assert new <= old - 1e-4 * eta * (g @ g) + 1e-14


def test_a_subgradient_that_does_not_descend_ends_the_run_and_is_no_minimum():
    p = HingeProblem([[1.0, 0.0]], [1.0], 0.1)
    run = subgradient_descent(p, n_iter=50, step=ArmijoStep(), w0=[1.0, 1.0], record=[0, 7, 50])
    assert (run.n_iter, run.stopped_by) == (0, "no decrease")
    assert run.w.tolist() == [1.0, 1.0]
    assert run.trace.iteration.tolist() == [0]
    assert p.objective(run.w) == pytest.approx(0.10)
    assert p.objective([1.0, 0.0]) == pytest.approx(0.05)


def test_armijo_stays_at_a_minimum():
    p = HingeProblem([[2.0]], [1.0], 2.0)  # P = w^2 + max(0, 1 - 2 w), smooth at neither side
    flat = HingeProblem([[0.0]], [1.0], 1.0)
    assert subgradient_descent(p, n_iter=99, step=ArmijoStep(), w0=[0.5]).w.tolist() == [0.5]
    run = subgradient_descent(flat, n_iter=5, step=ArmijoStep(), stop=SmallGap(1e-12))
    assert (run.w.tolist(), run.n_iter, run.stopped_by) == ([0.0], 1, "small gap")


# ------- gradient descent on smooth functions -------

RULES = [ConstantStep(0.1), InverseTime(0.4), InverseSqrt(0.2)]


@settings(max_examples=40)
@given(st.integers(0, 2**32 - 1), st.integers(0, 2), st.integers(0, 30))
def test_gradient_descent_is_the_textbooks(seed, rule, T):
    rng = np.random.default_rng(seed)
    A, w = rng.standard_normal((3, 3)), rng.standard_normal(3)
    Q, step = A @ A.T + np.eye(3), RULES[rule]
    run = gradient_descent(lambda w: w @ Q @ w / 2, lambda w: Q @ w, w, n_iter=T, step=step)
    sizes = [[0.1, 0.4 / t, 0.2 / t**0.5][rule] for t in range(1, T + 1)]
    assert run.step_sizes == pytest.approx(sizes)
    assert (run.n_iter, run.path.shape, run.stopped_by) == (T, (T + 1, 3), "n_iter")
    for t, eta in enumerate(sizes):
        assert run.path[t] == pytest.approx(w, rel=1e-9, abs=1e-9)
        assert run.values[t] == pytest.approx(w @ Q @ w / 2)
        w = w - eta * (Q @ w)
    assert run.w == pytest.approx(w, rel=1e-9, abs=1e-9)


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1))
def test_armijo_minimises_a_smooth_function_of_any_scale(seed):
    rng = np.random.default_rng(seed)
    A, b = rng.standard_normal((4, 3)) * 10.0 ** rng.integers(-1, 3), rng.standard_normal(3)
    Q = A.T @ A + np.eye(3)
    run = gradient_descent(
        lambda w: w @ Q @ w / 2 - b @ w, lambda w: Q @ w - b, np.zeros(3), n_iter=20_000,
        step=ArmijoStep(c1=0.1), stop=SmallGradient(1e-5),
    )  # fmt: skip
    assert run.stopped_by in ("small gradient", "no decrease")
    assert (np.diff(run.values) < 0).all()
    assert run.w == pytest.approx(np.linalg.solve(Q, b), abs=1e-4)


@pytest.mark.parametrize("average", ["uniform", "weighted"])
def test_the_averages_on_the_way_are_those_of_a_run_that_ends_there(average):
    X, y = np.array([[1.0, 2.0], [-1.0, 0.5], [0.3, -1.0]]), [1.0, -1.0, 1.0]
    p = HingeProblem(X, y, 0.1)
    run = subgradient_descent(p, n_iter=6, average=average, record=range(7))
    for s, kept in zip(run.trace.iteration, run.trace.w_average, strict=True):
        ended = subgradient_descent(p, n_iter=int(s), average=average)
        assert kept.tolist() == ended.w_average.tolist()


def test_a_run_may_stop_one_step_before_its_last():
    p = HingeProblem([[1.0, 0.0]], [1.0], 0.5)
    run = subgradient_descent(p, n_iter=3, stop=SmallChange(1.0))  # w = 0, (2, 0), (1, 0)
    assert (run.n_iter, run.stopped_by, run.w.tolist()) == (2, "small change", [1.0, 0.0])


def test_too_long_a_step_diverges_and_says_so():
    run = gradient_descent(square, lambda w: 2 * w, [1.0], n_iter=50, step=ConstantStep(1.1))
    assert run.values[-1] == pytest.approx(1.2**100)
    long = gradient_descent(square, lambda w: 2 * w, [1.0], n_iter=9999, step=ConstantStep(1.1))
    assert long.stopped_by == "diverged"
    assert long.values[-1] == np.inf
    assert np.isfinite(long.values[:-1]).all()
    # f may stay finite where w does not.
    flat = gradient_descent(
        lambda w: 0.0, lambda w: [-1e308, 0.0], [0.0, 0.0], n_iter=9, step=ConstantStep(10.0)
    )
    assert (flat.n_iter, flat.stopped_by) == (1, "diverged")


def test_a_descent_takes_no_steps_if_none_are_asked_for():
    run = gradient_descent(square, lambda w: 2 * w, [1.0, 2.0], n_iter=0)
    assert (run.n_iter, run.stopped_by, run.values.tolist()) == (0, "n_iter", [5.0])
    assert run.path.tolist() == [[1.0, 2.0]]
    assert run.step_sizes.shape == (0,)


def smooth(**options):
    return gradient_descent(square, lambda w: 2 * w, **{"w0": [1.0, 2.0], "n_iter": 5, **options})


def batch(**options):
    return subgradient_descent(HingeProblem(np.eye(2), [1.0, -1.0], 0.1), n_iter=5, **options)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: smooth(stop="gap"), "stop must be a StoppingTest or several of them; got 'gap'"),
        (lambda: smooth(stop=3), "stop must be a StoppingTest or several of them; got 3"),
        (lambda: smooth(stop=SmallGap(1.0)), "SmallGap is for the objective of a HingeProblem"),
        (lambda: smooth(step="constant"), "step must be a StepRule or an ArmijoStep; got 'const"),
        (lambda: smooth(w0=[[1.0]]), r"w0 must be a finite vector of shape \(d,\); got \[\["),
        (lambda: smooth(w0=[np.inf]), "w0 must be a finite vector"),
        (lambda: smooth(n_iter=-1), "n_iter must be an integer >= 0; got -1"),
        (
            lambda: gradient_descent(square, lambda w: 2.0, [1.0, 2.0], n_iter=1),
            r"grad must return shape \(2,\); got \(\)",
        ),
        (lambda: batch(stop=[None]), r"stop must be a StoppingTest or several.*; got \[None\]"),
        (lambda: batch(step=ArmijoStep(), project=True), "it needs project=False"),
        (lambda: batch(step=ArmijoStep(), project=L1Ball(1.0)), "it needs project=False"),
        (lambda: batch(project="l1"), "project, if it is not True or False, must be a finite"),
        (lambda: batch(step=ArmijoStep(), average="suffix"), "average='suffix' needs a fixed"),
        (lambda: batch(stop=SmallChange(1.0), average="suffix"), "average='suffix' needs a fixed"),
        (lambda: batch(w0=[1.0]), r"w0 must be a finite vector of shape \(2,\); got \[1.0\]"),
    ],
)
def test_bad_input_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
