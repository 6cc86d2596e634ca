from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pegasos_lib import (
    ConstantStep,
    InverseSqrt,
    InverseTime,
    PegasosStep,
    StepRule,
    WeightedStep,
    make_step,
)
from pegasos_lib.steps import (
    STEP_NAMES,
    ArmijoStep,
    SmallChange,
    SmallDecrease,
    SmallGap,
    SmallGradient,
)

FORMULAS = [
    (PegasosStep(0.1), lambda t: 1 / (0.1 * t)),
    (WeightedStep(0.1), lambda t: 2 / (0.1 * (t + 1))),
    (InverseTime(3.0), lambda t: 3 / t),
    (InverseSqrt(3.0), lambda t: 3 / t**0.5),
    (ConstantStep(3.0), lambda t: 3.0),
]


@pytest.mark.parametrize(("rule", "formula"), FORMULAS, ids=lambda x: getattr(x, "name", ""))
def test_step_sizes_and_decays_are_the_formulas(rule, formula):
    t = np.arange(1, 200)
    assert rule(t) == pytest.approx([formula(s) for s in t], rel=1e-15)
    assert rule.decay(t, 0.1) == pytest.approx([1 - 0.1 * formula(s) for s in t], abs=1e-14)
    assert rule.decay(t, 0.7) == pytest.approx([1 - 0.7 * formula(s) for s in t], abs=1e-13)
    assert rule(t).shape == t.shape
    assert float(rule(7)) == pytest.approx(formula(7))


@pytest.mark.parametrize("lam", [0.1, 0.3, 1e-3, 7e-5, 49.0])
def test_pegasos_and_weighted_steps_forget_w_1_exactly(lam):
    for rule in (PegasosStep(lam), WeightedStep(lam)):
        assert rule.decay(np.array([1]), lam)[0] == 0.0


@pytest.mark.parametrize("rule", [rule for rule, _ in FORMULAS])
def test_steps_are_numbered_from_1(rule):
    with pytest.raises(ValueError, match="steps are numbered from 1; got t = 0"):
        rule(np.arange(3))
    with pytest.raises(ValueError, match=r"steps are numbered from 1; got t = 0\.99"):
        rule(0.99)
    assert rule(np.array([])).shape == (0,)


@pytest.mark.parametrize(
    "kind", [PegasosStep, WeightedStep, InverseTime, InverseSqrt, ConstantStep]
)
@pytest.mark.parametrize("value", [0, -1, np.inf, np.nan])
def test_a_constant_must_be_finite_and_above_0(kind, value):
    with pytest.raises(ValueError, match="must be a finite number above 0"):
        kind(value)


def test_names_make_the_rules():
    made = [make_step(name, 0.1, c=3.0) for name in STEP_NAMES]
    assert made == [rule for rule, _ in FORMULAS]
    assert [rule.name for rule in made] == list(STEP_NAMES)
    assert make_step(made[0], 5.0) is made[0]
    assert all(isinstance(rule, StepRule) for rule in made)


@pytest.mark.parametrize("step", ["Pegasos", None, 0.1])
def test_other_steps_are_refused(step):
    with pytest.raises(ValueError, match="step must be a StepRule or one of pegasos, weighted,"):
        make_step(step, 0.1)


@settings(max_examples=200)
@given(
    c=st.floats(0.5, 9.0),
    c1=st.floats(0.01, 0.9),
    factor=st.floats(0.1, 0.9),
    curvature=st.floats(0.1, 9.0),
    start=st.floats(0.1, 5.0),
)
def test_armijo_takes_the_first_step_that_brings_its_share(c, c1, factor, curvature, start):
    tried = []

    def along(eta):
        tried.append(eta)
        return curvature / 2 * (start - eta * curvature * start) ** 2

    eta = ArmijoStep(c, c1, factor, max_cuts=100).search(
        along, curvature / 2 * start**2, -((curvature * start) ** 2)
    )
    assert tried == pytest.approx([c * factor**k for k in range(len(tried))])
    assert eta == tried[-1]
    # On a quadratic the condition reads eta <= 2 (1 - c1)/curvature.
    limit = 2 * (1 - c1) / curvature
    assert eta <= limit * (1 + 1e-9)
    assert eta == c or eta / factor > limit * (1 - 1e-9)


def test_armijo_gives_up_where_there_is_no_decrease_and_stays_where_the_slope_is_0():
    rule = ArmijoStep(c=1.0, max_cuts=7)
    tried = []
    assert rule.search(lambda eta: tried.append(eta) or 1.0 + eta, 1.0, -1.0) is None
    assert tried == [2.0**-k for k in range(8)]
    # Just the share that is asked for is enough.
    assert ArmijoStep(c1=0.5).search(lambda eta: 0.5, 1.0, -1.0) == 1.0
    # The share asked for, 1e-4 of 1e-15, is lost beside 1: equal values are no decrease.
    assert rule.search(lambda eta: 1.0, 1.0, -1e-15) is None
    assert rule.search(lambda eta: np.nan, 1.0, -1.0) is None
    assert rule.search(lambda eta: pytest.fail("no search at a slope of 0"), 1.0, -0.0) == 1.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"c": 0.0}, "c must be a finite number above 0; got 0.0"),
        ({"c1": 1.0}, r"c1 must lie inside \(0, 1\); got 1.0"),
        ({"c1": 0}, "c1 must be a finite number above 0; got 0"),
        ({"factor": 2}, r"factor must lie inside \(0, 1\); got 2"),
        ({"max_cuts": -1}, "max_cuts must be an integer >= 0; got -1"),
    ],
)
def test_armijo_refuses_what_it_cannot_use(options, message):
    with pytest.raises(ValueError, match=message):
        ArmijoStep(**options)


def test_armijo_is_no_rule_for_solvers_that_do_not_see_f():
    with pytest.raises(ValueError, match="step must be a StepRule or one of pegasos"):
        make_step(ArmijoStep(), 0.1)


def point(value=0.0, w=(0.0, 0.0), gradient=(0.0, 0.0), gap=1.0):
    return SimpleNamespace(value=value, w=np.array(w), gradient=np.array(gradient), gap=gap)


@pytest.mark.parametrize(
    ("test", "before", "after", "fires"),
    [
        (SmallDecrease(0.5), point(2.0), point(1.5), True),
        (SmallDecrease(0.5), point(2.0), point(1.25), False),
        (SmallDecrease(0.5), point(2.0), point(9.0), True),
        (SmallDecrease(0.5, absolute=True), point(2.0), point(9.0), False),
        (SmallDecrease(0.5, absolute=True), point(2.0), point(2.5), True),
        (SmallChange(5.0), point(w=(1, 1)), point(w=(4, 5)), True),
        (SmallChange(4.99), point(w=(1, 1)), point(w=(4, 5)), False),
        (SmallGradient(5.0), point(gradient=(9, 9)), point(gradient=(3, -4)), True),
        (SmallGradient(4.99), point(), point(gradient=(3, -4)), False),
        (SmallGap(0.5), point(gap=1.0), point(gap=0.5), True),
        (SmallGap(0.49), point(gap=0.0), point(gap=0.5), False),
        (SmallGap(0.5), point(), point(gap=np.nan), False),
    ],
)
def test_stopping_tests_are_their_inequalities(test, before, after, fires):
    assert test.fires(before, after) is fires


@pytest.mark.parametrize("kind", [SmallDecrease, SmallChange, SmallGradient, SmallGap])
@pytest.mark.parametrize("value", [0, -1e-3, np.inf, np.nan, "small"])
def test_a_tolerance_must_be_above_0(kind, value):
    with pytest.raises(ValueError, match="eps must be a finite number above 0"):
        kind(value)
