import numpy as np
import pytest

from pegasos_lib import (
    ConstantStep,
    InverseSqrt,
    InverseTime,
    PegasosStep,
    StepRule,
    WeightedStep,
    make_step,
)
from pegasos_lib.steps import STEP_NAMES

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
