"""The figures in JupyterLab with a real kernel: what is moved there is what Python reads."""

import os
import re
import subprocess
import sys
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

SHOW = """\
import numpy as np
from pegasos_lib.widgets import {name}
explorer = {name}({arguments})
explorer
"""
PEGASOS_READ = """\
run = explorer.run(record=range(explorer.n_iter + 1))
print(f"lam={explorer.lam:g} t={explorer.t} w=({explorer.w[0]:.6f}, {explorer.w[1]:.6f})")
print("replayed", np.allclose(run.trace.w[explorer.t], explorer.w, atol=1e-10))
"""
PEGASOS_SET = "explorer.lam, explorer.t = 0.5, 3"
MARGIN_READ = """\
print(f"lam={explorer.lam:g} w={explorer.w}")
print(f"P={explorer.problem.objective(explorer.w):.6f} P*={explorer.run().trace.objective[-1]:.6f}")
"""


def notebook_of(*sources):
    notebook = new_notebook(cells=[new_code_cell(source) for source in sources])
    notebook.metadata["kernelspec"] = {"display_name": "Python 3", "name": "python3"}
    return notebook


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """The address and the folder of a JupyterLab server whose settings are its own."""
    folder = tmp_path_factory.mktemp("lab")
    home = tmp_path_factory.mktemp("home")
    env = os.environ | {"JUPYTER_PREFER_ENV_PATH": "1"}
    for name in ("JUPYTER_CONFIG", "JUPYTER_DATA", "JUPYTER_RUNTIME", "IPYTHON"):
        env[f"{name}_DIR" if name != "IPYTHON" else "IPYTHONDIR"] = str(home / name)
    for name in ("SETTINGS", "WORKSPACES"):
        env[f"JUPYTERLAB_{name}_DIR"] = str(home / name)
    log = home / "log"
    words = ["--no-browser", "--allow-root", "--port=0", "--ServerApp.port_retries=0"]
    words += [
        "--ServerApp.ip=127.0.0.1",
        "--IdentityProvider.token=",
        f"--ServerApp.root_dir={folder}",
    ]
    with log.open("w") as stream:
        command = [sys.executable, "-m", "jupyterlab", *words]
        server = subprocess.Popen(command, env=env, stdout=stream, stderr=subprocess.STDOUT)
        try:
            yield address_in(log, server), folder
        finally:
            server.terminate()
            server.wait()


def address_in(log, server):
    """Wait for the line of the log that says where the server listens."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and server.poll() is None:
        found = re.search(r"http://127\.0\.0\.1:\d+/lab", log.read_text())
        if found:
            return found[0]
        time.sleep(0.1)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()[-2000:]}")


def open_notebook(lab, visit, name, *sources):
    """Open a notebook of these cells and run the first, which shows a figure."""
    address, folder = lab
    nbformat.write(notebook_of(*sources), folder / f"{name}.ipynb")
    page = visit(f"{address}/tree/{name}.ipynb?reset", viewport={"width": 1280, "height": 1400})
    page.get_by_text("| Idle").wait_for(timeout=60_000)
    page.locator(".jp-Notebook .jp-Cell").first.click()
    page.keyboard.press("Shift+Enter")
    page.locator(".pegasos-figure .pf-root").wait_for(timeout=60_000)
    return page


def run_cell(page, number):
    """Run a cell again and return what it printed."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    prompt = cell.locator(".jp-InputPrompt").first
    before = prompt.inner_text()
    cell.locator(".jp-InputArea-editor").click()
    page.keyboard.press("Control+Enter")
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        if prompt.inner_text() != before and re.search(r"\[\d+\]", prompt.inner_text()):
            return cell.locator(".jp-OutputArea").first.inner_text()
        page.wait_for_timeout(50)
    raise AssertionError(f"cell {number} did not end; its prompt is {prompt.inner_text()!r}")


def shown(page, name):
    """Return the value that the figure writes beside a name of its read-out."""
    return page.locator(".pegasos-figure").evaluate(
        "(el, name) => [...el.querySelectorAll('dt')].find((dt) => dt.textContent === name)"
        "?.nextElementSibling.textContent",
        name,
    )


def numbers(text):
    return [
        float(number) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text.replace("−", "-"))
    ]


def test_the_slider_of_the_pegasos_figure_sets_the_python_trait(lab, visit):
    page = open_notebook(
        lab, visit, "pegasos", SHOW.format(name="PegasosExplorer", arguments="lam=0.1, t=7"),
        PEGASOS_READ, PEGASOS_SET,
    )  # fmt: skip
    before = run_cell(page, 1)
    assert "lam=0.1 t=7" in before
    slider = page.get_by_role("slider", name="λ", exact=True)
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowRight")
    assert slider.evaluate("el => document.activeElement === el"), "JupyterLab took the arrow keys"
    after = run_cell(page, 1)
    assert "lam=0.316" in after
    assert "replayed True" in after
    w = numbers(after.splitlines()[0].split("w=")[1])
    assert numbers(shown(page, "wₜ₊₁")) == pytest.approx(w, rel=6e-3)

    run_cell(page, 2)
    page.wait_for_function(
        "() => document.querySelector('.pegasos-figure').textContent.includes('Step 3 of')"
    )
    assert numbers(shown(page, "wₜ₊₁")) == pytest.approx(
        numbers(run_cell(page, 1).splitlines()[0].split("w=")[1]), rel=6e-3
    )


def test_the_margin_figure_and_python_agree_on_the_objective(lab, visit):
    page = open_notebook(
        lab, visit, "margin", SHOW.format(name="MarginExplorer", arguments="lam=0.1"), MARGIN_READ
    )
    slider = page.get_by_role("slider", name="λ", exact=True)
    slider.focus()
    for _ in range(10):
        page.keyboard.press("ArrowLeft")
    printed = run_cell(page, 1)
    assert "lam=0.0316" in printed
    value, least = numbers(printed.split("P=")[1].replace("P*=", " "))
    assert 0 < least <= value
    assert f"{value:.3f}"[:4] in page.locator(".pegasos-figure").inner_text()
