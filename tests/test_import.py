"""What is loaded when, and how to choose between compiled and plain loops."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import pegasos_lib
from pegasos_lib import _kernels, use_jit

HEAVY = ("matplotlib", "ipywidgets", "anywidget", "numba", "sklearn", "scipy")
TINY = "pegasos_lib.pegasos(pegasos_lib.HingeProblem([[1.0]], [1], 0.5), n_iter=3).w[0]"


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True,
        env={**os.environ, **environment},
    ).stdout.strip()  # fmt: skip


def test_import_loads_nothing_heavy():
    code = f"import sys, pegasos_lib; print([m for m in {HEAVY} if m in sys.modules])"
    assert python(code) == "[]"


def test_estimators_come_when_they_are_asked_for():
    code = (
        "import sys; from pegasos_lib import *; print('sklearn' in sys.modules)\n"
        "from pegasos_lib import SDCAClassifier, PegasosClassifier\n"
        "print(SDCAClassifier.__name__, PegasosClassifier.__name__)"
    )
    assert python(code).split() == ["False", "SDCAClassifier", "PegasosClassifier"]
    with pytest.raises(AttributeError, match="module 'pegasos_lib' has no attribute 'svm'"):
        pegasos_lib.svm  # noqa: B018


def test_numba_is_loaded_by_the_first_solver_call_only():
    code = (
        "import sys, pegasos_lib\n"
        "p = pegasos_lib.HingeProblem([[1.0]], [1], 0.5); p.objective([1.0])\n"
        "print('numba' in sys.modules)\n"
        "pegasos_lib.pegasos(p, n_iter=1); print('numba' in sys.modules)"
    )
    assert python(code, PEGASOS_JIT="1").split() == ["False", "True"]


@pytest.mark.parametrize("code", ["", "import sys; sys.modules['numba'] = None; "])
def test_plain_numpy_serves_without_numba(code):
    code += f"import sys, pegasos_lib; print({TINY}, bool(sys.modules.get('numba')))"
    if "None" in code:  # as if it were not installed
        code = (
            "import importlib.util as u; f = u.find_spec\n"
            "u.find_spec = lambda name, *a: None if name == 'numba' else f(name, *a)\n" + code
        )
        assert python(code).split()[1] == "False"
    else:
        assert python(code, PEGASOS_JIT="0").split()[1] == "False"


def test_compiled_loops_work_where_nothing_can_be_written(tmp_path):
    # Neither beside the source nor in the user's cache folder.
    package = Path(pegasos_lib.__file__).parent
    shutil.copytree(
        package, tmp_path / "pegasos_lib", ignore=shutil.ignore_patterns("__pycache__", "widgets")
    )
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n"
        "import pegasos_lib, numba.core.caching as c\n"
        "assert pegasos_lib.__file__.startswith(sys.path[0])\n"
        "c.CacheImpl._locator_classes = []\n"
        f"print({TINY})"
    )
    assert float(python(code, PEGASOS_JIT="1")) == pytest.approx((2**0.5 + 2) / 3)


@pytest.mark.parametrize(("value", "expected"), [("0", False), ("1", True), ("false", False)])
def test_the_environment_chooses(monkeypatch, value, expected):
    monkeypatch.setenv("PEGASOS_JIT", value)
    assert _kernels.jit_enabled() is expected


def test_use_jit_chooses_within_its_block_and_restores():
    before = _kernels.jit_enabled()
    with use_jit(False):
        assert not _kernels.jit_enabled()
        assert _kernels.steps_loop() is _kernels.take_steps
        with use_jit(True):
            assert _kernels.steps_loop() is not _kernels.take_steps
        assert not _kernels.jit_enabled()
    assert _kernels.jit_enabled() is before


def test_asking_for_numba_without_it_is_an_error(monkeypatch):
    monkeypatch.setattr(_kernels, "find_spec", lambda name: None)
    assert not _kernels.jit_enabled()
    with pytest.raises(ImportError, match=r"install pegasos-lib\[fast\]"), use_jit(True):
        pass


def test_no_module_is_longer_than_350_lines():
    package = Path(pegasos_lib.__file__).parent
    lengths = {path.name: len(path.read_text().splitlines()) for path in package.rglob("*.py")}
    assert {name: length for name, length in lengths.items() if length > 350} == {}


def test_all_names_exist():
    assert [name for name in pegasos_lib.__all__ if not hasattr(pegasos_lib, name)] == []
