"""The figures in JupyterLab with a real kernel: what is moved there is what Python reads."""

import os
import re
import subprocess
import sys
import time

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from pegasos_lib import widgets

from .conftest import ROOT

PEGASOS = (
    """\
import numpy as np
from pegasos_lib import widgets
explorer = widgets.PegasosExplorer(lam=0.1, t=7)
explorer
""",
    """\
run = explorer.run(record=range(explorer.n_iter + 1))
print(f"lam={explorer.lam:g} t={explorer.t} w=({explorer.w[0]:.6f}, {explorer.w[1]:.6f})")
print("replayed", np.allclose(run.trace.w[explorer.t], explorer.w, atol=1e-10))
""",
    "explorer.lam, explorer.t = 0.5, 3",
)
MARGIN = (
    """\
margin = widgets.MarginExplorer(lam=0.1)
margin
""",
    """\
print(f"lam={margin.lam:g} w={margin.w}")
print(f"P={margin.problem.objective(margin.w):.6f} P*={margin.run().trace.objective[-1]:.6f}")
""",
)
OTHERS = sorted(set(widgets.__all__) - {"PegasosExplorer", "MarginExplorer"})
OTHERS_SHOWN = f"""\
given = {{"RaceExplorer": [{str(ROOT / "book/_data/race.json")!r}]}}
others = [getattr(widgets, name)(*given.get(name, [])) for name in {OTHERS}]
display(*others)
"""
OTHERS_READ = """\
for other in others:
    told = {name: getattr(other, name) for name in other.traits(sync=True)}
    print(type(other).__name__, {k: v for k, v in told.items() if not k.startswith("_")})
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
    tracker = (
        home / "SETTINGS" / "@jupyterlab" / "notebook-extension" / "tracker.jupyterlab-settings"
    )
    tracker.parent.mkdir(parents=True)
    tracker.write_text('{"windowingMode": "none"}')  # cells out of sight stay in the page
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


def open_notebook(lab, visit, *sources):
    """Open a notebook of these cells."""
    address, folder = lab
    nbformat.write(notebook_of(*sources), folder / "figures.ipynb")
    page = visit(f"{address}/tree/figures.ipynb?reset", viewport={"width": 1280, "height": 1400})
    page.get_by_text("| Idle").wait_for(timeout=60_000)
    return page


def show(page, number, figures=1):
    """Run a cell that shows figures, and return its output when they stand."""
    run_cell(page, number)
    output = page.locator(".jp-CodeCell").nth(number).locator(".jp-OutputArea").first
    output.locator(".pegasos-figure .pf-root").nth(figures - 1).wait_for(timeout=60_000)
    return output


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


def shown(figure, name):
    """Return the value that the figure writes beside a name of its read-out."""
    return figure.locator(".pegasos-figure").evaluate(
        "(el, name) => [...el.querySelectorAll('dt')].find((dt) => dt.textContent === name)"
        "?.nextElementSibling.textContent",
        name,
    )


def numbers(text):
    return [
        float(number) for number in re.findall(r"-?\d+\.?\d*(?:e-?\d+)?", text.replace("−", "-"))
    ]


def press(slider, key, times):
    """Move a slider by its keys, which JupyterLab must leave to it."""
    slider.focus()
    for _ in range(times):
        slider.page.keyboard.press(key)
    assert slider.evaluate("el => document.activeElement === el"), "JupyterLab took the arrow keys"


def test_what_is_moved_in_a_figure_is_what_python_reads(lab, visit):
    page = open_notebook(lab, visit, *PEGASOS, *MARGIN, OTHERS_SHOWN, OTHERS_READ)
    check_pegasos(page)
    check_margin(page)
    check_others(page)


def check_pegasos(page):
    """The slider sets the trait, the trait the figure, and the library's run ends where it does."""
    figure = show(page, 0)
    before = run_cell(page, 1)
    assert "lam=0.1 t=7" in before
    press(figure.get_by_role("slider", name="λ", exact=True), "ArrowRight", 10)
    after = run_cell(page, 1)
    assert "lam=0.316" in after
    assert "replayed True" in after
    w = numbers(after.splitlines()[0].split("w=")[1])
    assert numbers(shown(figure, "wₜ₊₁")) == pytest.approx(w, rel=6e-3)

    run_cell(page, 2)
    page.wait_for_function(
        "() => document.querySelector('.pegasos-figure').textContent.includes('Step 3 of')"
    )
    assert numbers(shown(figure, "wₜ₊₁")) == pytest.approx(
        numbers(run_cell(page, 1).splitlines()[0].split("w=")[1]), rel=6e-3
    )


def check_margin(page):
    """The figure shows the objective that the library computes from what was moved."""
    figure = show(page, 3)
    press(figure.get_by_role("slider", name="λ", exact=True), "ArrowLeft", 10)
    printed = run_cell(page, 4)
    assert "lam=0.0316" in printed
    value, least = numbers(printed.split("P=")[1].replace("P*=", " "))
    assert 0 < least <= value
    assert f"{value:.3f}"[:4] in figure.inner_text()


def check_others(page):
    """Every other figure stands, and its first slider or choice sets a trait."""
    figures = show(page, 5, len(OTHERS)).locator(".pegasos-figure")
    before = run_cell(page, 6).splitlines()
    for number in range(len(OTHERS)):
        figure = figures.nth(number)
        control = figure.locator(":is(input[type=range], select):enabled:visible").first
        if control.evaluate("el => el.tagName") == "SELECT":
            other = control.locator("option:not(:checked)").first
            control.select_option(other.get_attribute("value"))
        else:
            press(control, "ArrowRight", 12)
            press(control, "ArrowLeft", 6)  # also from the end
    after = run_cell(page, 6).splitlines()
    still = [new.split()[0] for old, new in zip(before, after, strict=True) if old == new]
    assert still == []
