"""Guards of the stored notebooks and of the pages about them; each is tried on broken examples."""

import copy
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from jupyter_cache import get_cache

from tests.notebooks import checks

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"
NOTEBOOKS = sorted(BOOK.glob("*.ipynb"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def read_pages():
    """Map the file names of all pages to (text, labels)."""
    pages = {}
    for path in sorted(BOOK.glob("*.md")):
        text = path.read_text(encoding="utf-8")
        pages[path.name] = text, checks.labels(text)
    for path in NOTEBOOKS:
        notebook = read(path)
        text = checks.prose(notebook)
        pages[path.name] = text, checks.labels(text, notebook)
    return pages


PAGES = read_pages()
# The students' versions, which are made when the site is built: links lead to them from the pages.
PROBLEM_SETS = {
    f"../course/release/{path.parent.name}/{path.name}": ("", [])
    for path in sorted((ROOT / "course" / "source").glob("*/*.ipynb"))
}
CHAPTERS = {path.name: PAGES[path.name] for path in NOTEBOOKS}


def code(source, outputs=(), count=1, **cell):
    return {
        "cell_type": "code", "id": "a-cell", "metadata": {}, "source": source,
        "outputs": list(outputs), "execution_count": count,
    } | cell  # fmt: skip


def printed(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def shown(**data):
    return {"output_type": "display_data", "metadata": {}, "data": data}


def words(source, **cell):
    return {"cell_type": "markdown", "id": "words", "metadata": {}, "source": source} | cell


def notebook(*cells, **metadata):
    kernel = {"kernelspec": {"name": "python3"}, "language_info": {"name": "python"}}
    return {"metadata": kernel | metadata, "cells": list(cells)}


GOOD = notebook(words("# A title"), code("print(1)", [printed("1\n")]))


def test_the_book_has_its_two_chapters():
    assert {"objective", "pegasos"} <= {path.stem for path in NOTEBOOKS}


def test_the_site_takes_a_notebook_that_passed_as_nbval_ran_it_and_no_other(tmp_path):
    book = tmp_path / "book"
    (book / "_ext").mkdir(parents=True)
    shutil.copy(BOOK / "conftest.py", book)
    shutil.copy(BOOK / "_ext" / "execution.py", book / "_ext")
    seen = code("import sys; print(2); sys.version and 3", [printed("2\n")])
    seen["outputs"].append(
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "metadata": {},
            "data": {"text/plain": "3"},
        }
    )
    for name, result in ("good", "4\n"), ("bad", "5\n"):
        cells = [words("# A"), seen, code("print(4)", [printed(result)], 2, id="b-cell")]
        (book / f"{name}.ipynb").write_text(
            json.dumps(notebook(*cells) | {"nbformat": 4, "nbformat_minor": 5})
        )
    run = [sys.executable, "-m", "pytest", "--nbval", "-q", "-p", "no:cacheprovider", "book"]
    result = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "1 failed, 3 passed" in result.stdout, result.stdout + result.stderr

    (folder,) = (tmp_path / "_build" / ".jupyter_cache").iterdir()
    stored = get_cache(folder)
    assert len(stored.list_cache_records()) == 1
    asked = nbformat.read(book / "good.ipynb", as_version=4)
    for cell in asked.cells[1:]:
        cell.outputs, cell.execution_count = [], None
    _, found = stored.merge_match_into_notebook(asked)
    assert [cell.execution_count for cell in found.cells[1:]] == [1, 2]
    assert found.cells[1].outputs[0].text == "2\n"
    assert found.cells[1].outputs[1].data == {"text/plain": "3"}
    assert found.cells[2].outputs[0].text == "4\n"
    assert found.metadata.language_info.pygments_lexer == "ipython3"


# --- what is stored ---------------------------------------------------------------------------


@each_notebook
def test_outputs_are_stored_as_run(path):
    assert checks.storage_problems(read(path)) == []


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (notebook(code("x = 1", count=None)), "not run in order"),
        (notebook(code("x = 1"), code("y = 2", count=3)), "not run in order"),
        (notebook(code("print(1)")), "output was stripped"),
        (notebook(code("for i in range(3):\n    print(i)")), "output was stripped"),
        (notebook(code("plt.plot(x)\nplt.show()")), "output was stripped"),
        (notebook(code("explorer")), "output was stripped"),
        (notebook(code("x", [shown(**{"image/png": "iVBOR"})])), "image/png is stored"),
        (notebook(code("x", [shown(**{checks.DROPPED[2]: {}})])), "widget-view+json is stored"),
        (notebook(code("x = 1"), widgets={}), "metadata holds"),
        (notebook(code("x = 1"), kernelspec={"name": "venv"}), "not python3"),
        (notebook(code("x = 1"), language_info={"name": "python", "version": "3.11"}), "versions"),
        (notebook(code("x", [printed("UserWarning", "stderr")])), "stderr"),
        (
            notebook(code("x", [{"output_type": "error", "ename": "KeyError", "evalue": "a"}])),
            "KeyError",
        ),
        (notebook(code("x = 1", metadata={"execution": {}})), "times of execution"),
        (notebook(words("# A title")), "no code"),
    ],
)
def test_what_is_stored_wrongly_is_found(broken, message):
    assert any(message in problem for problem in checks.storage_problems(broken))


def test_a_well_stored_notebook_has_no_problem():
    assert checks.storage_problems(GOOD) == checks.id_problems(GOOD) == []
    silent = "def f():\n    print(1)\n\n\nassert f\nif False:\n    print(2)"
    assert not checks.must_show(silent)


def test_stripping_a_chapter_is_found():
    stripped = copy.deepcopy(read(BOOK / "pegasos.ipynb"))
    for cell in stripped["cells"]:
        if cell["cell_type"] == "code":
            cell["outputs"] = []
    assert len(checks.storage_problems(stripped)) > 10


@each_notebook
def test_cell_ids_are_names_and_unique(path):
    assert checks.id_problems(read(path)) == []


@pytest.mark.parametrize(
    ("ids", "message"),
    [
        (["a", "a"], "2 times"),
        (["a", ""], "not valid"),
        (["a b"], "not valid"),
        (["3f9a01bc"], "random"),
        (["8f14e45f-ceea-467f-a7d9-4e1c5b0f8c33"], "random"),
    ],
)
def test_wrong_ids_are_found(ids, message):
    broken = notebook(*(words("text", id=i) for i in ids))
    assert any(message in problem for problem in checks.id_problems(broken))


@each_notebook
def test_outputs_are_the_same_on_every_run(path):
    assert checks.determinism_problems(read(path)) == []


@pytest.mark.parametrize(
    "text",
    [
        "<Axes object at 0x7f8a1c0d3e50>", "np.float64(1.5)", "in /home/jo/book", "took 12.3 ms",
        "Wall time: 2 s", "2026-01-31", "0.123456789012345",
    ],
)  # fmt: skip
def test_outputs_that_change_are_found(text):
    assert checks.determinism_problems(notebook(code("x", [printed(text)])))
    assert checks.determinism_problems(notebook(code("x", [shown(**{"text/plain": text})])))


def test_plain_outputs_are_not_taken_for_changing_ones():
    fine = "train/test 0.990 1e-12 <Figure size 640x480 with 1 Axes> 10 steps"
    assert checks.determinism_problems(notebook(code("x", [printed(fine)]))) == []


@each_notebook
def test_pictures_have_alt_text_and_a_short_caption(path):
    assert checks.picture_problems(read(path)) == []


def test_a_picture_without_words_is_found():
    alt = {"image": {"alt": "A curve that falls from the left to the right, then stays."}}
    caption = {"figure": {"caption": "A curve that falls"}}
    for given, count in (({}, 2), (alt, 1), (caption, 1), (alt | caption, 0)):
        cell = code("plt.show()", metadata={"mystnb": given})
        assert len(checks.picture_problems(notebook(cell))) == count


@each_notebook
def test_text_reads_well_wherever_a_notebook_is_opened(path):
    assert checks.markup_problems(read(path)) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("```{note}\nText\n```", "backticks"),
        (r"$\newcommand{\R}{\mathbb R}$", "macro"),
        ("so that\n$$\nx = 1\n$$ (eq-x)\n", "empty line"),
        (":::{note}\nText\n", "not closed"),
    ],
)
def test_text_that_breaks_is_found(text, message):
    assert any(message in problem for problem in checks.markup_problems(notebook(words(text))))


def test_good_text_is_not_taken_for_broken():
    good = ":::{note}\nText\n:::\n\n$$\nx = 1\n$$ (eq-x)\n\nand\n$$\ny = 2\n$$\n"
    assert checks.markup_problems(notebook(words(good))) == []


# --- the numbers in the text ------------------------------------------------------------------


@each_notebook
def test_numbers_in_the_text_are_those_of_the_outputs(path):
    recorded, problems = checks.recorded_numbers(read(path))
    assert problems == []
    assert recorded, "a chapter records no number at all"
    assert "<!--=" in PAGES[path.name][0]
    assert checks.mark_problems(PAGES[path.name][0], recorded) == []


def test_numbers_on_other_pages_are_those_of_the_notebooks():
    recorded = {
        f"{path.stem}:{name}": value
        for path in NOTEBOOKS
        for name, value in checks.recorded_numbers(read(path))[0].items()
    }
    for name, (text, _) in PAGES.items():
        if name.endswith(".md"):
            assert checks.mark_problems(text, recorded) == [], name


RECORDED = {"gap": "0.2266", "n": "360000", "big": "2.548e+07", "share": "0.8999", "low": "-1.5"}


@pytest.mark.parametrize(
    "text",
    [
        "0.23<!--=gap-->", "0.227<!--=gap-->", "$0.2266$<!--=gap-->", "360,000<!--=n-->",
        "360000<!--=n-->", r"$2.5\cdot10^{7}$<!--=big-->", "2.5e7<!--=big-->", "90 %<!--=share-->",
        "89.99%<!--=share-->", "-1.5<!--=low-->", "no mark at all",
    ],
)  # fmt: skip
def test_right_numbers_pass(text):
    assert checks.mark_problems(text, RECORDED) == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0.22<!--=gap-->", "the text says"),
        ("0.228<!--=gap-->", "the text says"),
        ("0.22660<!--=gap-->", "more digits"),
        ("0.23<!--=gab-->", "no output records it"),
        ("about<!--=gap-->", "no number"),
        ("0.23 <!--=gap-->", "no number"),
        ("36,000<!--=n-->", "the text says"),
        (r"$2.5\cdot10^{6}$<!--=big-->", "the text says"),
        ("80 %<!--=share-->", "the text says"),
        ("1.5<!--=low-->", "the text says"),
        ("0.23<!--= gap -->", "not of the form"),
    ],
)
def test_wrong_numbers_are_found(text, message):
    assert any(message in problem for problem in checks.mark_problems(text, RECORDED))


def test_a_name_recorded_twice_is_found():
    twice = notebook(code("x", [printed("gap = 1\n")]), code("x", [printed("gap = 1\nok\n")]))
    assert checks.recorded_numbers(twice) == ({"gap": "1"}, ["gap is recorded twice"])
    other = notebook(code("x", [printed("lambda = 0.1, n = 4\nq = 1/lambda\nx = [1]\ny = 2.0\n")]))
    assert checks.recorded_numbers(other) == ({"y": "2.0"}, [])


# --- links, theorem map, errata ---------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(PAGES))
def test_links_within_the_book_lead_somewhere(name):
    assert checks.link_problems(PAGES[name][0], PAGES | PROBLEM_SETS) == []


@pytest.mark.parametrize("name", sorted(PROBLEM_SETS))
def test_a_problem_set_is_in_the_contents_and_linked_from_its_chapter(name):
    page = name.removeprefix("../").removesuffix(".ipynb")
    assert f"- file: {page}\n" in (ROOT / "_toc.yml").read_text(encoding="utf-8")
    number = re.search(r"/ps(\d+)\.ipynb$", name)
    if number:
        config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf-8"))
        numbers = config["sphinx"]["config"]["chapter_numbers"]
        (chapter,) = (page for page, its in numbers.items() if its == int(number[1]))
        assert f"]({name})" in PAGES[f"{Path(chapter).name}.ipynb"][0]


def test_labels_are_unique_in_the_book():
    seen = [label for _, defined in PAGES.values() for label in defined]
    assert sorted(seen) == sorted(set(seen))


@pytest.mark.parametrize(
    "text",
    [
        "{prf:ref}`no-label`", "[x](#no-label)", "[x](nowhere.md)", "[x](page.md#no-heading)",
        "{eq}`no-label`",
    ],
)  # fmt: skip
def test_a_dead_link_is_found(text):
    pages = {"page.md": ("# A heading", ["a-label"])}
    assert len(checks.link_problems(text, pages)) == 1
    alive = "{prf:ref}`a-label` [x](#a-label) [x](page.md#a-heading) [x](https://example.org/x)"
    assert checks.link_problems(alive, pages) == []


def figure_kinds():
    from pegasos_lib import widgets

    return {getattr(widgets, name).kind for name in widgets.__all__}


def cell_ids():
    return {f"{path.name}#{cell['id']}" for path in NOTEBOOKS for cell in read(path)["cells"]}


def test_theorem_map_is_complete_and_true():
    stated = [label for text, _ in CHAPTERS.values() for label in checks.theorem_labels(text)]
    assert len(stated) >= 15
    text = PAGES["theorem_map.md"][0]
    found = checks.theorem_map_problems(text, stated, cell_ids(), figure_kinds(), ROOT)
    assert found == []


ENTRY_OF_MAP = """{prf:ref}`a-label` · in brief

- Library: `pegasos_lib.HingeProblem.objective`
- Check: `a.ipynb#check`
- Test: `tests/notebooks/test_notebooks.py::test_theorem_map_is_complete_and_true`
- Figure: `margin`
- Source: 000
"""


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("", "", None),
        ("HingeProblem.objective", "HingeProblem.objektive", "cannot be imported"),
        ("pegasos_lib.", "pegasos_libs.", "cannot be imported"),
        ("a.ipynb#check", "a.ipynb#chek", "no cell"),
        ("::test_theorem", "::test_theorems", "no test"),
        ("test_notebooks.py", "checks.py", "no test"),
        ("test_notebooks.py", "test_missing.py", "no test"),
        ("`margin`", "`margins`", "no figure"),
        ("a-label", "b-label", "not in the map"),
        ("a-label", "b-label", "stated in no chapter"),
        ("- Source: 000\n", "", "Source is missing"),
        ("- Library", "Library", "Library is missing"),
        ("`a.ipynb#check`", "", "needs a check"),
    ],
)
def test_an_error_in_the_theorem_map_is_found(old, new, message):
    text = ENTRY_OF_MAP.replace(old, new) if old else ENTRY_OF_MAP
    found = checks.theorem_map_problems(text, ["a-label"], {"a.ipynb#check"}, {"margin"}, ROOT)
    assert found == [] if message is None else any(message in problem for problem in found)


def test_a_theorem_mapped_twice_is_found():
    found = checks.theorem_map_problems(
        2 * ENTRY_OF_MAP, ["a-label"], {"a.ipynb#check"}, {"margin"}, ROOT
    )
    assert found == ["a-label is mapped 2 times"]


def test_labels_of_theorems_are_read():
    text = ":::{prf:theorem} Name\n:label: one\n\nText\n:::\n\n:::{prf:lemma}\n:label: two\n:::\n"
    assert checks.theorem_labels(text + ":::{prf:definition} D\n:label: three\n:::\n") == [
        "one",
        "two",
    ]


def test_errata_are_complete_and_lead_to_where_they_are_shown():
    text = PAGES["errata.md"][0]
    assert text.count("\n### ") > 25
    assert checks.errata_problems(text, CHAPTERS) == []


ENTRY = "### E000-07\n\n**Place.** a **Says.** b **Correct.** c **Shown.** [here](#care)\n"
CARE = {"a.ipynb": ("Read with care: E000-07", ["care"])}


@pytest.mark.parametrize(
    ("text", "pages", "message"),
    [
        (ENTRY, CARE, None),
        (ENTRY + ENTRY, CARE, "2 times"),
        (ENTRY.replace("E000-07", "E007-07"), CARE, "no valid id"),
        (ENTRY.replace("E000-07", "E000-7"), CARE, "no valid id"),
        (ENTRY.replace("**Correct.**", ""), CARE, "is missing"),
        (ENTRY.replace("[here](#care)", "here"), CARE, "no link"),
        (ENTRY, {"a.ipynb": ("E000-08", ["care"])}, "does not mention it"),
        (ENTRY, {"a.ipynb": ("E000-07, E003-01", ["care"])}, "has no entry"),
        (ENTRY, {"a.ipynb": ("E000-06 to E000-08", ["care"])}, "E000-08 of a.ipynb has no entry"),
    ],
)
def test_an_error_in_the_errata_is_found(text, pages, message):
    found = checks.errata_problems(text, pages)
    assert found == [] if message is None else any(message in problem for problem in found)
