"""What a problem hides is hidden under all of the library's names for it."""

import os
import subprocess
import sys

import pytest

from course.grader import hiding
from course.grader.preprocessors import hidden_in

from .sets import SETS, read, source_of

START = """
import numpy as np
from types import SimpleNamespace
from pegasos_lib import *
X, y, lam = np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([1.0, -1.0]), 0.5
w, draws = np.array([3.0, 4.0]), np.array([[0], [1]])
"""
# What answers a problem in a line or two; each runs where nothing is hidden.
ONE_LINERS = {
    "ps05": [
        "from pegasos_lib.online import Steps; p = HingeProblem(X, y, lam); "
        "Steps(2, 'uniform').taker(p, 1.0)(draws, np.ones(2), np.ones(2))",
        "sgd(HingeProblem(X, y, lam), n_iter=2, draws=draws)",
    ],
    "ps06": [
        "from pegasos_lib.projections import nearest_in_weighted_l2_ball as near; "
        "near(w, np.ones(2), 2.0, 0.0, np.zeros(2))",
        "pegasos_certificate(SimpleNamespace(draws=draws, w=w, "
        "trace=SimpleNamespace(problem=HingeProblem(X, y, lam))))",
        "from pegasos_lib._kernels import hits_loop; hits_loop()",
    ],
    "ps08": [
        "from pegasos_lib.projections import nearest_in_l2_ball as near; near(w, 2.0)",
        "from pegasos_lib.projections import nearest_in_weighted_l2_ball as near; "
        "near(w, np.ones(2), 2.0, 0.0, np.zeros(2))",
        "from pegasos_lib._mirror_kernels import signed_softmax; signed_softmax(w, 1.0, w.copy())",
        "HingeProblem(X, y, lam).instantaneous_objective(w, [0, 1])",
        "regret.instantaneous_objectives(HingeProblem(X, y, lam), w[None], [[0, 1]])",
        "HingeProblem(X, y, lam).duality_gap(w, np.zeros(2))",
    ],
    "ps09": [
        "sgd(HingeProblem(X, y, lam), n_iter=2, step='pegasos', draws=draws)",
        "optimizers.optimize('Pegasos', HingeProblem(X, y, lam), n_iter=2)",
        "outlier_pegasos(HingeProblem(X, y, lam), n_iter=2, draws=draws)",
        "from pegasos_lib.online import Steps; Steps(2, None)",
        "from pegasos_lib._rows import maximised; maximised(0.25, 0.5, 4.0, 2.0)",
        "sgd_initialisation(HingeProblem(X, y, lam))",
    ],
    "ps10": ["from pegasos_lib._rows import maximised; maximised(0.25, 0.5, 4.0, 2.0)"],
    "ps12": [
        "sgd(HingeProblem(X, y, lam), n_iter=2, step='pegasos', project=True, draws=draws)",
        "regret.sufficient_iterations(0.1, lam, 2.0)",
        "from pegasos_lib.online import Steps; Steps(2, None)",
    ],
}
TRY = """
for line in {lines!r}:
    try:
        exec("from pegasos_lib import regret, optimizers; " + line, dict(globals()))
    except (ImportError, NameError) as error:
        print("refused")
    else:
        print("answered")
"""


def outcomes(lines, folder):
    env = os.environ | {"PYTHONPATH": str(folder), "PEGASOS_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", START + TRY.format(lines=lines)],
        env=env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


@pytest.mark.parametrize("name", [name for name in ONE_LINERS if name in SETS])
def test_no_other_function_of_the_library_answers_a_problem(name, tmp_path):
    hiding.write_copy(tmp_path / "hidden", hidden_in(read(source_of(name))))
    hiding.write_copy(tmp_path / "whole", [])
    lines = ONE_LINERS[name]
    assert outcomes(lines, tmp_path / "whole") == ["answered"] * len(lines)
    assert outcomes(lines, tmp_path / "hidden") == ["refused"] * len(lines)
