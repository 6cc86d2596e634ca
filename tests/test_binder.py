"""What Binder would make of this repository, found without Docker."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory):
    """The tracked files alone, as Binder would clone them."""
    folder = tmp_path_factory.mktemp("checkout")
    files = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout
    for name in filter(None, files.split("\0")):
        if (ROOT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def build_pack(checkout, monkeypatch):
    from repo2docker.app import Repo2Docker

    monkeypatch.chdir(checkout)
    application = Repo2Docker()
    packs = (kind(application.base_image) for kind in application.buildpacks)
    pack = next(pack for pack in packs if pack.detect())
    pack.platform = "linux/amd64"
    return pack


def test_binder_takes_the_python_build_pack_with_python_3_11(build_pack):
    assert type(build_pack).__name__ == "PythonBuildPack"
    assert build_pack.python_version == "3.11"


def test_no_binder_folder_hides_the_root_files(checkout):
    assert not (checkout / "binder").exists()
    assert not (checkout / ".binder").exists()


def test_the_dockerfile_installs_the_pins_after_the_repository_is_there(build_pack):
    lines = build_pack.render({}).splitlines()
    copied = lines.index("COPY --chown=1000:1000 src/ ${REPO_DIR}/")
    installed = next(i for i, line in enumerate(lines) if '-r "requirements.txt"' in line)
    assert installed > copied, "`-e .` needs the repository's files"


def test_every_requirement_is_pinned_exactly():
    for name in ("requirements.txt", "requirements-dev.txt"):
        for line in (ROOT / name).read_text().splitlines():
            assert re.match(r"(#|-e \.$|[\w.\-\[\]]+==[\w.]+( ;|$))", line), f"{name}: {line!r}"


def test_the_tools_run_on_the_same_pins_as_the_notebooks():
    notebooks, tools = (
        # A pin without its marker: what one tool needs everywhere, another may need on one system.
        set(re.findall(r"^[^\s;]+==[^\s;]+", (ROOT / name).read_text(), re.M))
        for name in ("requirements.txt", "requirements-dev.txt")
    )
    assert len(notebooks) > 50
    assert notebooks <= tools, f"run `make lock`: {sorted(notebooks - tools)}"


@pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="Binder's Python is 3.11")
@pytest.mark.parametrize(
    "installer",
    ["uv", pytest.param("pip", marks=pytest.mark.slow)],  # Binder's own takes 2 to 3 minutes
)
def test_an_environment_made_as_the_dockerfile_says_runs_a_notebook_and_holds_the_problem_sets(
    build_pack, checkout, tmp_path, installer
):
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "env"], check=True)
    python = tmp_path / "env/bin/python"
    installs = re.findall(r"\$\{KERNEL_PYTHON_PREFIX\}/bin/pip (install .*)", build_pack.render({}))
    assert installs
    for words in installs:
        arguments = words.replace('"', "").split()
        if installer == "pip":
            command = [python, "-m", "pip", *arguments]
        else:
            arguments.remove("--no-cache-dir")
            command = [sys.executable, "-m", "uv", "pip", *arguments, "--python", python]
        subprocess.run(command, cwd=checkout, check=True)
    notebook = checkout / "book/subgradients.ipynb"
    execute = ["-m", "jupyter", "execute", "--inplace", notebook]
    subprocess.run([python, *execute], cwd=checkout, check=True)
    assert '"output_type": "error"' not in notebook.read_text()

    students = tmp_path / "students"
    shutil.copytree(checkout, students)
    path = f"{python.parent}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        [students / "postBuild"], cwd=students, env=os.environ | {"PATH": path}, check=True
    )
    (released,) = (students / "course" / "release").glob("ps06/*")
    subprocess.run([python, "-m", "course", "check", "--help"], cwd=students, check=True)
    assert "raise NotImplementedError()" in released.read_text()
    assert not (students / "course" / "source").exists()
    imports = [python, "-c", "import nbgrader"]
    assert subprocess.run(imports, cwd=students, capture_output=True).returncode != 0
