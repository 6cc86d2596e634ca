"""The library's own tests on the oldest releases that pyproject.toml allows, and on the newest."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = ["fast", "plots", "data"]
TOOLS = ["pytest", "hypothesis", "cvxopt"]
# What a test of the library may import, beside the standard library.
LIBRARY = {
    "pegasos_lib", "tests", "numpy", "scipy", "sklearn", "joblib", "numba", "matplotlib", "pooch",
    "tqdm", "pytest", "hypothesis", "cvxopt",
}  # fmt: skip
# What imports no more than that, but is about the rest of the project.
OTHERS = {
    "test_golden.py": "runs Node",
    "test_notation.py": "reads a page of the book",
    "test_versions.py": "is this one",
}
# Tests that fail on old releases, and why; they must fail, so that the list shrinks.
KNOWN = {
    "floor": {
        "tests/test_estimator.py::test_the_check_that_wants_the_array_api_passes_too": "before "
        "scikit-learn 1.7 the check skips itself without array-api-compat",
    },
    "newest": {},
}


def imports(path):
    """Return the top-level names of all that a test file imports, inside functions too."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add("tests" if node.level else node.module)
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "importorskip":
            names.add(node.args[0].value)
    return {name.split(".")[0] for name in names} - sys.stdlib_module_names


def library_tests():
    """Return the names of the test files that need the library alone."""
    files = sorted((ROOT / "tests").glob("test_*.py"))
    return [f.name for f in files if f.name not in OTHERS and imports(f) <= LIBRARY]


def pythons():
    """Return the interpreters of this machine by their versions (major, minor)."""
    places = [Path(folder) for folder in os.environ["PATH"].split(os.pathsep)]
    places += Path.home().glob(".pyenv/versions/*/bin")
    found = {}
    for path in [Path(sys.executable), *(f for p in places for f in p.glob("python3.*"))]:
        if path.name != Path(sys.executable).name and not re.fullmatch(r"python3\.\d+", path.name):
            continue
        code = "import ensurepip, sys; print(*sys.version_info[:2])"
        answer = subprocess.run([path, "-c", code], capture_output=True, text=True)
        if answer.returncode == 0:  # a shim may name what is not there
            found.setdefault(tuple(map(int, answer.stdout.split())), path)
    return found


def uv(*arguments):
    subprocess.run([sys.executable, "-m", "uv", *map(str, arguments)], check=True)


def copy_project(folder):
    """Copy what a build of the package needs, as git sees it: the checkout stays as it is."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    wanted = ["pegasos_lib", "pyproject.toml", "README.md", "LICENSE"]
    files = subprocess.run(
        [*command, *wanted], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)


def floors():
    """Return the least version that pyproject.toml allows of each package that is installed."""
    lines = PROJECT["dependencies"] + [
        line for extra in EXTRAS for line in PROJECT["optional-dependencies"][extra]
    ]
    return {m[1]: m[2] for m in (re.match(r"([\w-]+)(?:\[\w+\])?>=([\d.]+)", x) for x in lines)}


def install(which, python, project):
    """Make the environment `python`, and install the project from its copy into it."""
    extras = [word for extra in EXTRAS for word in ("--extra", extra)]
    resolution = "lowest-direct" if which == "floor" else "highest"
    # Wheels alone: a release that has none for this Python is none that its users install.
    pip = ("pip", "install", "-q", "--python", python)
    uv(*pip, "--only-binary", ":all:", "--resolution", resolution, "-r",
       project / "pyproject.toml", *extras)  # fmt: skip
    uv(*pip, "--only-binary", ":all:", *TOOLS)
    uv(*pip, "--no-deps", project)


def make_environment(which, folder, project):
    """Return the interpreter of a new environment, and the versions in it."""
    found = pythons()
    least = tuple(map(int, re.findall(r"\d+", PROJECT["requires-python"])))
    usable = sorted((v for v in found if v >= least), reverse=which == "newest")
    assert usable, f"no Python of at least {least} is here"
    for version in usable:
        python = folder / "bin" / "python"
        uv("venv", "-q", "--clear", "--python", found[version], folder)
        try:
            install(which, python, project)
        except subprocess.CalledProcessError:
            if version == usable[-1]:
                raise
            continue  # a Python so new that Numba has no wheel for it yet
        break
    code = (
        "import sys; from importlib.metadata import version as v; print('python', *sys.version_info"
        "[:3], sep='.'); [print(name, v(name)) for name in sys.argv[1:]]"
    )
    lines = subprocess.check_output([python, "-c", code, *floors(), "pegasos-lib"], text=True)
    return python, lines


def test_the_tests_of_the_library_are_chosen_by_what_they_import():
    chosen = library_tests()
    expected = "contract descent dual estimator fuzz outliers problem regret solvers"
    assert {f"test_{name}.py" for name in expected.split()} <= set(chosen)
    assert not {"test_binder.py", "test_dask.py", "test_widgets.py", *OTHERS} & set(chosen)
    for tests in KNOWN.values():
        for test in tests:
            path, name = test.split("::")
            assert f"def {name}(" in (ROOT / path).read_text(), f"{test} is gone"
    assert floors()["numpy"] == "2.0"
    assert len(floors()) == 6


@pytest.mark.slow  # 3 to 10 minutes each, by what else the machine does
@pytest.mark.parametrize("which", ["floor", "newest"])
def test_the_library_passes_its_tests(which, tmp_path, capfd):
    built = {path.name for path in ROOT.iterdir() if path.name.endswith((".egg-info", "build"))}
    project, folder = tmp_path / "project", tmp_path / "run"
    copy_project(project)
    python, versions = make_environment(which, tmp_path / "environment", project)
    with capfd.disabled():
        print(f"\n{which}: " + ", ".join(versions.splitlines()), flush=True)
    if which == "floor":
        for name, least in floors().items():
            assert re.search(rf"^{name} {re.escape(least)}(\.|$)", versions, re.M), versions

    # Tests and their settings, but no package beside them: what is tested is what was installed.
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    environment = {
        k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "HYPOTHESIS_PROFILE")
    }

    def pytest_(*arguments):
        command = [python, "-m", "pytest", "-q", "-m", "not slow", "-p", "no:cacheprovider"]
        return subprocess.run(
            [*command, *arguments], cwd=folder, env=environment, capture_output=True, text=True
        )

    where = subprocess.check_output(
        [python, "-c", "import pegasos_lib; print(pegasos_lib.__file__)"],
        cwd=folder,
        env=environment,
        text=True,
    )
    assert where.startswith(str(tmp_path / "environment"))
    known = list(KNOWN[which])
    files = [f"tests/{name}" for name in library_tests()]
    done = pytest_(*files, *(f"--deselect={test}" for test in known))
    with capfd.disabled():
        print(f"{which}: {(done.stdout.splitlines() or [''])[-1]}", flush=True)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr[-5_000:]
    for test in known:
        passed = pytest_(test).returncode == 0
        assert not passed, f"{test} passes on {which}: take it from the list"
    after = {path.name for path in ROOT.iterdir() if path.name.endswith((".egg-info", "build"))}
    assert after == built, "the checkout was built in"
