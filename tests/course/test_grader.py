"""Isolated grading: what no submission can do, and what must not cost right answers a point."""

import copy
import functools
import hashlib
import json
import multiprocessing
import os
import re
import shutil
import sqlite3
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor

import nbformat
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbconvert import HTMLExporter
from nbformat.v4 import new_markdown_cell, new_notebook
from nbgrader import utils
from nbgrader.converters import GenerateAssignment
from nbgrader.converters.base import NbGraderException
from nbgrader.coursedir import CourseDirectory
from nbgrader.server_extensions.formgrader import handlers
from traitlets.config import PyFileConfigLoader

from course.grader import hiding, sandbox, seccomp, values, wire
from course.grader.autograde import IsolatedAutograde
from course.grader.judge import Cell, judge
from course.grader.preprocessors import code_cells, hidden_in, write_outputs
from course.grader.report import UNSAFE, is_unsafe, outcomes
from course.grader.restore import put_back, restore, wanted_cells
from course.grader.sandbox import Limits, Sandbox
from course.grader.submission import Unreadable, read
from course.release import student_version

from .hostile import ALL, CODE, EDITS, FILES, GRADIENT, RIGHT, Hostile
from .sets import COURSE, SETS, fill, is_test, put, right_answers, source_of
from .sets import read as read_source

SUBMISSIONS = CODE | EDITS
NAMES = [*SUBMISSIONS, *FILES]
HOSTILE_TEST = "test_right_code_keeps_its_points_and_no_cheat_gains_any"
FULL = 27.0  # and 3 points for a proof, by hand
ROOT = COURSE.parent


@pytest.fixture(scope="session", autouse=True)
def _sandboxed():
    """Say once what is missing, instead of in every test."""
    try:
        sandbox.check()
    except sandbox.NoSandbox as why:
        pytest.fail(str(why))


@functools.cache
def release():
    """Return problem set 6 as students get it."""
    return nbformat.reads(student_version(source_of("ps06")), as_version=4)


@functools.cache
def released_text():
    """Return what the gradebook holds of each cell: the tests as in the source, the stubs."""
    source = {cell.id: cell.source for cell in read_source(source_of("ps06")).cells}
    return {c.id: source[c.id] if utils.is_locked(c) else c.source for c in release().cells}


def handed_in(hostile):
    """Return the notebook of a submission."""
    notebook = fill(copy.deepcopy(release()), hostile.answers)
    for cell in notebook.cells:
        if cell.id == GRADIENT:
            cell.source = hostile.before + "\n" + cell.source
    hostile.edit(notebook)
    return notebook


def write(name, folder):
    """Fill a folder as a student did."""
    if name in FILES:
        FILES[name][2](folder, handed_in(Hostile(answers=RIGHT)))
    else:
        text = json.dumps(handed_in(SUBMISSIONS[name]), ensure_ascii=True)
        (folder / "ps06.ipynb").write_text(text, encoding="utf-8")


def grade(folder, hides=None, **limits):
    """Grade a folder as the preprocessors do; return the failed tests and the log."""
    limits = {"total_seconds": 60.0, "restarts": 1} | limits
    try:
        notebook = read(folder / "ps06.ipynb")
    except Unreadable as reason:
        return ALL.split(), [str(reason)]
    wanted = wanted_cells(read_source(source_of("ps06")))
    notes = restore(notebook, wanted) + put_back(notebook, wanted, released_text())
    hides = hidden_in(notebook) if hides is None else hides
    box = Sandbox(hides, limits=Limits(**limits))
    verdicts, more = judge(code_cells(notebook), box)
    write_outputs(notebook, verdicts)
    nbformat.validate(notebook)
    failed = [
        cell.id.removeprefix("ps06-")
        for cell in filter(is_test, notebook.cells)
        if utils.determine_grade(cell)[0] < cell.metadata.nbgrader.points
    ]
    assert len(list(filter(is_test, notebook.cells))) == len(ALL.split())
    return failed, [*notes, *more, *(": ".join(v.error) for v in verdicts if v.error)]


def grade_by_name(name, folder):
    folder.mkdir(parents=True)
    write(name, folder)
    limits = {}
    if name in SUBMISSIONS:
        limits["call_seconds"] = SUBMISSIONS[name].seconds
        limits["cell_seconds"] = SUBMISSIONS[name].cell_seconds
        limits["restarts"] = 1 if SUBMISSIONS[name].fails == ALL else Limits().restarts
    try:
        return grade(folder, **limits)
    except BaseException as error:
        return ["the grader failed"], [repr(error)]


def digests():
    """Return a digest of each file that no submission may change, and no other test does."""
    course = [COURSE / name for name in ("source", "grader")]
    folders = [*course, ROOT / "tests" / "course", ROOT / "pegasos_lib"]
    files = [p for folder in folders for p in folder.rglob("*") if p.is_file()]
    return {
        p: hashlib.sha256(p.read_bytes()).hexdigest() for p in files if "__pycache__" not in str(p)
    }


@pytest.fixture(scope="module")
def graded(request, tmp_path_factory):
    """Return what each submission that is asked for got, graded two at a time, by name."""
    asked = [item.callspec.params["name"] for item in request.session.items if is_hostile(item)]
    release(), released_text()
    Sandbox(hidden_in(release())).library()  # once, and removed when this process ends
    root = tmp_path_factory.mktemp("submitted")
    (root / "source" / "ps06").mkdir(parents=True)
    shutil.copy(source_of("ps06"), root / "source" / "ps06")
    before = digests()
    with ProcessPoolExecutor(2, multiprocessing.get_context("fork")) as pool:
        folders = [root / f"s{i}" / "ps06" for i in range(len(asked))]
        results = dict(zip(asked, pool.map(grade_by_name, asked, folders), strict=True))
    assert digests() == before
    return results


def is_hostile(item):
    """Tell whether a test grades one of the hostile submissions."""
    return getattr(item, "originalname", None) == HOSTILE_TEST


def test_there_are_enough_hostile_submissions():
    assert len(NAMES) >= 60


@pytest.mark.parametrize(
    "name",
    # `make test` tries every third.
    [pytest.param(name, marks=[pytest.mark.slow] * (i % 3 > 0)) for i, name in enumerate(NAMES)],
)
def test_right_code_keeps_its_points_and_no_cheat_gains_any(graded, name):
    failed, log = graded[name]
    if name in FILES:
        fails = "" if FILES[name][0] else ALL
        says = FILES[name][1]
    else:
        fails, says = SUBMISSIONS[name].fails, SUBMISSIONS[name].says
    told = "\n".join(log)
    assert " ".join(failed) == fails, told[:3000]
    assert re.search(says, told), told[:3000]
    assert "found " not in told
    assert "_course_" not in told
    if fails:
        assert told


@pytest.mark.parametrize(
    ("name", "gains"),
    [
        ("calls the library's pegasos", "p3-last p3-average p3-batches"),
        ("calls the library's parts", "p1-formula p1-margin p1-batch p2-radius p2-zero"),
    ],
)
def test_the_cheats_with_the_library_would_gain_if_it_were_whole(tmp_path, name, gains):
    write(name, tmp_path)
    failed, _ = grade(tmp_path, hides=())
    assert " ".join(test for test in ALL.split() if test not in failed) == gains


def proof(text, name, **flags):
    told = {"grade": False, "solution": False, "locked": True, "grade_id": name} | flags
    return new_markdown_cell(text, id=name, metadata={"nbgrader": told})


def test_a_proof_without_metadata_is_known_by_its_place():
    by_hand = {"grade": True, "solution": True, "locked": False, "points": 4}
    source = new_notebook(
        cells=[
            proof("## Problem 1: prove it", "s-p1-text"),
            proof("The model.", "s-p1-proof", **by_hand),
            proof("## Problem 2: prove that", "s-p2-text"),
            proof("The model.", "s-p2-proof", **by_hand),
        ]
    )
    texts = ["## Problem 1: prove it", "Let w.", "## Problem 2: prove that", "Let v.", "Or u."]
    notebook = new_notebook(cells=[new_markdown_cell(text) for text in texts])
    wanted = wanted_cells(source)
    restore(notebook, wanted)
    found = {c.id: c.source for c in notebook.cells if utils.is_grade(c)}
    assert found == {"s-p1-proof": "Let w.", "s-p2-proof": "Let v.\n\nOr u."}
    assert not put_back(notebook, wanted, {c.id: "released" for c in source.cells})


# The whole way: nbgrader's own command, the gradebook, the report

BATCH = {
    "amy": ("", True),
    "bob": ("reads and writes the gradebook", False),
    "cid": ("kills its parents", False),
    "dan": ("an id stands twice", True),
    "eve": ("metadata and ids were lost", True),
    "fay": ("a link to the source", False),
    "gus": ("deep JSON", False),
    "hal": ("nothing", False),
    "ida": ("leaves Python", False),
    "zoe": ("", True),
}


def configured(course):
    config = PyFileConfigLoader("nbgrader_config.py", path=str(course)).load_config()
    config.CourseDirectory.assignment_id = "ps06"
    return config


def run(step, course, **config):
    """Run one of nbgrader's converters in this process."""
    settings = configured(course)
    for name, value in config.items():
        settings.IsolatedGrade[name] = value
    step(coursedir=CourseDirectory(config=settings), config=settings, force=True).start()


@pytest.fixture(scope="module")
def batch(tmp_path_factory):
    """Return a course in which a class was graded, and what the command said."""
    course = tmp_path_factory.mktemp("batch") / "course"
    shutil.copytree(COURSE / "source", course / "source")
    shutil.copy(COURSE / "nbgrader_config.py", course)
    run(GenerateAssignment, course)
    for student, (name, _) in BATCH.items():
        folder = course / "submitted" / student / "ps06"
        folder.mkdir(parents=True)
        if name:
            write(name, folder)
        else:
            nbformat.write(handed_in(Hostile(answers=RIGHT)), folder / "ps06.ipynb")
    bobs = course / "submitted" / "bob" / "ps06" / "ps06.ipynb"
    bobs.write_text(bobs.read_text().replace("COURSE", str(course)))
    # What else may lie in a folder.
    extras = course / "submitted" / "dan" / "ps06"
    (extras / "timestamp.txt").write_text("the day after tomorrow")
    os.mkfifo(extras / "data.csv")
    (extras / "book.db").symlink_to(course / "gradebook.db")
    before = files_of(course, "source", "release", "submitted")
    command = [sys.executable, "-m", "nbgrader", "autograde", "ps06"]
    env = os.environ | {"PYTHONPATH": str(ROOT), "PEGASOS_JIT": "0", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        command, cwd=course, env=env, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-5000:]
    assert files_of(course, "source", "release", "submitted") == before
    return course, done.stderr


def files_of(course, *folders):
    return {
        path: path.read_bytes()
        for folder in folders
        for path in sorted((course / folder).rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


def points_in(database):
    """Return the points of each student by SQL, whatever nbgrader's own functions say."""
    with sqlite3.connect(database) as book:
        return dict(
            book.execute(
                "select student_id, sum(coalesce(manual_score, auto_score, 0)) from grade "
                "join submitted_notebook n on n.id = grade.notebook_id "
                "join submitted_assignment a on a.id = n.assignment_id group by student_id"
            )
        )


def test_a_batch_gives_everybody_what_their_code_is_worth(batch):
    course, _ = batch
    full = {student: FULL if counts else 0.0 for student, (_, counts) in BATCH.items()}
    assert points_in(course / "gradebook.db") == full
    rows = outcomes(course, "ps06")
    assert {(row.student, row.cell) for row in rows} == {
        (student, f"ps06-{test}") for student in BATCH for test in [*ALL.split(), "p5-proof"]
    }
    for student, points in full.items():
        assert sum(row.points for row in rows if row.student == student) == points


@pytest.mark.parametrize(
    ("student", "rows", "what"),
    [
        ("amy", 17, "^passed$"),
        ("bob", 3, "^NameError: .* fails with .*unable to open"),
        ("fay", 18, "is a link or no file"),
        ("gus", 18, "not JSON"),
        ("hal", 18, "no notebook named ps06.ipynb was handed in"),
        ("ida", 6, "the process that r.*ended"),
    ],
)
def test_the_report_and_the_log_say_what_happened(batch, student, rows, what):
    course, _ = batch
    told = [row.what for row in outcomes(course, "ps06") if row.student == student]
    assert sum(bool(re.search(what, line)) for line in told) >= rows, told
    if student != "amy":
        log = (course / "nbgrader.log").read_text(encoding="utf-8")
        assert re.search(rf"{student}, ps06: ", log)


def test_a_folder_that_was_never_handed_in_is_in_the_report(batch):
    course, _ = batch
    (course / "submitted" / "late" / "ps06").mkdir(parents=True)
    try:
        rows = [row for row in outcomes(course, "ps06") if row.student == "late"]
    finally:
        shutil.rmtree(course / "submitted" / "late")
    assert {row.what for row in rows} == {"no notebook named ps06.ipynb was handed in"}
    assert {row.points for row in rows} == {0.0}
    with pytest.raises(LookupError, match="ps99 was never released"):
        outcomes(course, "ps99")


def test_without_a_sandbox_grading_refuses_or_marks_every_grade(batch, monkeypatch, tmp_path):
    course, _ = batch
    twin = tmp_path / "course"
    shutil.copytree(course, twin, ignore=shutil.ignore_patterns("submitted", "autograded"))
    for student in ("amy", "ida"):
        shutil.copytree(course / "submitted" / student, twin / "submitted" / student)
    assert not is_unsafe(twin)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NbGraderException, match="apt install bubblewrap"):
        run(IsolatedAutograde, twin)
    assert not (twin / "autograded").exists()
    run(IsolatedAutograde, twin, unsafe=True)
    assert points_in(twin / "gradebook.db")["amy"] == FULL
    assert points_in(twin / "gradebook.db")["ida"] == 0
    assert is_unsafe(twin)
    assert is_unsafe(twin, "ps06")
    assert not is_unsafe(twin, "ps07")
    with sqlite3.connect(twin / "gradebook.db") as book:
        marks = book.execute("select auto_comment from comment where auto_comment is not null")
        assert sum(UNSAFE in mark for (mark,) in marks) == 2 * len([*RIGHT, "the proof"])


def test_feedback_repeats_little_of_what_students_code_says():
    """It has seen the hidden tests' inputs, and could print them in a later cell, or raise them."""
    seen = "0.123456789 " * 100
    notebook = copy.deepcopy(release())
    for cell in notebook.cells:
        if cell.cell_type == "code":
            stream = nbformat.v4.new_output("stream", name="stdout", text=seen)
            error = nbformat.v4.new_output("error", ename="Hint", evalue=seen, traceback=[seen])
            kind = "ValueError" if utils.is_grade(cell) else "Hint"
            error.ename = kind
            cell.outputs = [stream, error]
    shorten = configured(COURSE).GenerateFeedback.preprocessors[1]
    notebook, _ = shorten().preprocess(notebook, {})
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    after = code[next(i for i, cell in enumerate(code) if utils.is_grade(cell)) :]
    assert len(after) > 20
    assert all(len(str(cell.outputs)) < 600 for cell in after)
    hint = nbformat.v4.new_output("error", ename="Hint", evalue=seen, traceback=[])
    after[0].outputs = [hint]
    shorten().preprocess(notebook, {})
    assert after[0].outputs[0].evalue == seen


def test_feedback_is_soon_made_of_texts_that_take_long_to_set():
    """The time that formulas take grows with the square of what is begun and not ended."""
    notebook = new_notebook(
        cells=[
            new_markdown_cell("\\begin{a}" * 20_000),
            *map(nbformat.v4.new_code_cell, ["a." * 20_000, "\n" * 40_000 + "x", "(" * 10**6]),
        ]
    )
    steps = configured(COURSE).GenerateFeedback.preprocessors
    (shorten,) = [step for step in steps if step.__name__ == "ShortenLongCells"]
    notebook, _ = shorten().preprocess(notebook, {})
    begin = time.monotonic()
    page, _ = HTMLExporter().from_notebook_node(notebook)
    assert time.monotonic() - begin < 30
    assert "The rest of this cell is left out" in page
    assert all(len(cell.source) < 110_000 for cell in notebook.cells)


MARKUP = {
    "<script>alert(1)</script>": "",
    "<img src=x onerror=alert(1)>": "",
    "a <details ontoggle=alert(1) open> b": "",
    "[c](javascript:alert(1))": "harmful-link",
    "[c](&#106;avascript:alert(1))": "harmful-link",
    "<javascript:alert(1)>": "harmful-link",
    "[c][a]\n\n[a]: javascript:alert(1)": "harmful-link",
    "```mermaid\n<script>alert(1)</script>\n```": "",
    "$x$<script>alert(1)</script>$x$": "",
    "![c](attachment:lost)": "this picture is missing",
    "![c](attachment:empty)": "this picture is missing",
    "![c](attachment:drawn)": "data:image/svg+xml;base64",
    "**bold**": "<strong>bold</strong>",
}


@pytest.mark.parametrize("text", MARKUP)
@pytest.mark.parametrize("template", ["feedback", "formgrade"])
def test_what_a_student_writes_runs_nothing_in_pages_of_feedback_and_formgrader(template, text):
    cell = new_markdown_cell(text, metadata={"nbgrader": {"grade_id": "p", "solution": True}})
    cell.attachments = {"empty": {}, "drawn": {"image/svg+xml": '"><script>alert(1)</script>'}}
    config = configured(COURSE)
    if template == "feedback":
        exporter = config.GenerateFeedback.exporter_class(config=config)
    else:
        config.HTMLExporter.template_name = template
        config.HTMLExporter.extra_template_basedirs = [handlers.template_path]
        exporter = HTMLExporter(config=config)
    told = {"notebook": "n", "score": 0, "max_score": 0, "late_penalty": 0, "student": "s"}
    resources = {"nbgrader": told, "base_url": "", "notebook_path": "", "index": 0, "total": 1}
    page, _ = exporter.from_notebook_node(new_notebook(cells=[cell]), resources=resources)
    assert MARKUP[text] in page
    tags = re.findall(r"<[a-z][^>]*>", page)
    assert not [t for t in tags if re.search(r"""(on\w+|href)=["']?(javascript:)?alert""", t)]
    assert not re.search(r"<script[^>]*>\s*alert", page)


def test_words_about_hidden_tests_in_a_students_cell_cost_no_page_of_feedback():
    steps = configured(COURSE).GenerateFeedback.preprocessors
    (clear,) = [step for step in steps if step.__name__ == "ClearCourseHiddenTests"]
    own = nbformat.v4.new_code_cell("### BEGIN HIDDEN TESTS\nx = 1")
    test = next(c for c in copy.deepcopy(read_source(source_of("ps06"))).cells if is_test(c))
    clear().preprocess(new_notebook(cells=[own, test]), {})
    assert own.source.endswith("x = 1")
    assert "HIDDEN" not in test.source


# The line


VALUES = {
    "nothing": None,
    "truth": [True, np.bool_(False)],
    "numbers": [0, -7, 10**300, 0.1, -0.0, float("inf"), 1e-320, 2 - 3j],
    "words": ["", "λ", "\n\0", "a" * 10**5],
    "nested": {"a": (1, [2, {3: ()}]), (1, "b"): {1, 2}},
    "scalars": [np.float64(0.1), np.int32(-3), np.float32(0.1), np.complex128(1j)],
    "arrays": [np.arange(6).reshape(2, 3), np.zeros((0, 3)), np.array(2.5), np.ones(3, bool)],
    "orders": [np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(9)[::-2]],
    "bytes": [np.arange(3, dtype=">f8"), np.arange(3, dtype=np.uint8)],
    "letters": [np.array(["a", "bc"]), np.array([1, "x", None], dtype=object)],
}


def same(a, b):
    """Tell whether two values are alike in kind and in every bit, up to the order of bytes."""
    if isinstance(b, np.ndarray | np.generic):
        alike = type(a) is type(b) and a.dtype == b.dtype.newbyteorder("=") and a.shape == b.shape
        return alike and np.array_equal(a, b)
    if type(a) is not type(b) or (hasattr(b, "__len__") and len(a) != len(b)):
        return False
    if isinstance(b, list | tuple):
        return all(map(same, a, b))
    if isinstance(b, dict):
        return list(a) == list(b) and all(map(same, a.values(), b.values()))
    return repr(a) == repr(b)


def judged(*cells, **limits):
    verdicts, notes = judge(list(cells), Sandbox(limits=Limits(**limits)))
    return {v.name: ": ".join(v.error) for v in verdicts if v.error}, notes


def test_a_helper_of_a_test_that_could_not_be_run_is_not_named():
    failed, _ = judged(Cell("t1", "test", "_hidden(1)"), Cell("t2", "test", "missing(1)"))
    assert "needs one before it" in failed["t1"]
    assert "_hidden" not in failed["t1"]
    assert "missing" in failed["t2"]


KINDS = [
    "tuple",
    "set",
    "dict",
    "float",
    "complex",
    "array",
    "scalar",
    "items",
    "callable",
    "name",
    "yours",
]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(KINDS), inner, max_size=2)
    ),
    max_leaves=8,
)


@settings(max_examples=60)
@given(JSON, JSON, JSON, JSON)
def test_whatever_a_worker_answers_is_plain_values_or_broken(value, changed, error, heads):
    """Nothing but an error that it names itself may come out of a call, and nothing hangs."""
    reply = {"value": value, "changed": changed, "error": error, "arrays": heads}
    reply = {key: part for key, part in reply.items() if part is not None}
    text = json.dumps(reply).encode()
    receiving, sending = os.pipe()
    os.write(sending, wire.HEAD.pack(len(text), 16) + text + bytes(range(16)))
    os.close(sending)
    peer = wire.Peer(receiving, os.open(os.devnull, os.O_WRONLY))
    try:
        fine = plain_only(peer.call(0, (np.zeros(2),), {}))
    except values.Broken:
        fine = True
    except RuntimeError:
        fine = error is not None
    finally:
        os.close(peer.receiving)
        os.close(peer.sending)
    assert fine


KINDS_OF_VALUES = (type(None), bool, int, float, complex, str, np.ndarray, np.generic)


def plain_only(value):
    if isinstance(value, list | tuple | set):
        return all(map(plain_only, value))
    if isinstance(value, dict):
        return all(map(plain_only, [*value, *value.values()]))
    return isinstance(value, KINDS_OF_VALUES) or callable(value)


def test_values_cross_and_come_back_as_they_were():
    lines = [f"assert same(f(VALUES[{name!r}]), VALUES[{name!r}]), {name!r}" for name in VALUES]
    test = "\n".join(["from tests.course.test_grader import VALUES, same", *lines])
    student = Cell("s", "student", "def f(x):\n    return x", ("f",))
    assert judged(student, Cell("t", "test", test)) == ({}, [])


def test_numbers_of_other_kinds_cross_as_floats():
    student = Cell(
        "s",
        "student",
        "from decimal import Decimal\nfrom fractions import Fraction\n"
        "def f(): return Fraction(1, 2), Decimal('0.5'), Decimal('nan')",
        ("f",),
    )
    test = "assert repr(f()) == '(0.5, 0.5, nan)'"
    assert judged(student, Cell("t", "test", test)) == ({}, [])


def test_arrays_that_are_changed_in_place_come_back_changed():
    student = Cell(
        "s", "student", "def f(x, *, y):\n    x[1] = 7\n    y['z'][0][:] = x\n    return x", ("f",)
    )
    test = """
import numpy as np
x, y, other = np.zeros(3), {"z": [np.ones(3)]}, np.ones(3)
assert (f(x, y=y) == [0, 7, 0]).all() and (x == [0, 7, 0]).all() and (y["z"][0] == x).all()
f(x, y={"z": [x]})
fixed = np.zeros(3)
fixed.flags.writeable = False
try:
    f(fixed, y=y)
except ValueError as error:
    assert "read-only" in str(error)
else:
    raise AssertionError("a read-only array was changed")
"""
    assert judged(student, Cell("t", "test", test)) == ({}, [])


def test_functions_cross_both_ways_and_errors_by_their_builtin_kind():
    student = Cell(
        "s",
        "student",
        "class Mine(ZeroDivisionError): pass\n"
        "def twice(f):\n    return lambda x, **more: f(f(x, **more), **more)\n"
        "def fails(kind):\n    raise {'z': Mine, 's': StopIteration}.get(kind, SystemExit)('why')\n"
        "def passes(f):\n    try:\n        f()\n    except KeyError as e:\n        return str(e)",
        ("twice", "fails", "passes"),
    )
    test = """
def add(x, by=1): return x + by
assert twice(add)(1) == 3 and twice(add)(1, by=5) == 11
assert twice(twice(add))(0) == 4
assert passes(lambda: {}["no"]) == repr("'no'")
for kind, error in [("z", ZeroDivisionError), ("s", RuntimeError), ("e", RuntimeError)]:
    try:
        fails(kind)
    except error as e:
        assert type(e) is error and "why" in str(e)
assert twice.__name__ == "twice"
"""
    assert judged(student, Cell("t", "test", test)) == ({}, [])


def test_a_replaced_function_is_what_later_code_calls_also_after_a_restart():
    cells = [
        Cell("a", "student", "def f(): return 'mine'", ("f",)),
        Cell(
            "b",
            "student",
            "import os\ndef g(end=0):\n    end and os._exit(0)\n    return f()",
            ("g",),
        ),
        Cell("t1", "test", "assert g() == 'mine'\nf = lambda: 'ours'\nassert g() == 'ours'"),
        Cell("t2", "test", "g(end=1)"),
        Cell("t3", "test", "assert (g(), f()) == ('ours', 'ours')"),
        Cell("c", "student", "def f(): return 'new'", ("f",)),
        Cell("t4", "test", "assert (g(), f()) == ('new', 'new')"),
    ]
    failed, _ = judged(*cells)
    assert list(failed) == ["t2"]
    assert "ended without an answer" in failed["t2"]


def test_a_function_of_a_process_that_was_stopped_gives_no_answer_and_no_error():
    """What is stopped while a test replaces a name must not pass a test that wants an error."""
    patch = (
        "import gc, os, sys\nPeer = sys.modules['wire'].Peer\n"
        "for thing in gc.get_objects():\n    if isinstance(thing, Peer):\n"
        "        type(thing).do_set = lambda *_: os._exit(0)\n"
    )
    test = (
        "g = lambda: 2\ntry:\n    f(-1)\nexcept ValueError:\n    pass\nelse:\n    raise TypeError"
    )
    failed, _ = judged(
        Cell("a", "student", "def g(): return 1", ("g",)),
        Cell("b", "student", patch + "def f(x): return 0", ("f",)),
        Cell("t", "test", test),
    )
    assert failed["t"].startswith("NoAnswer: t: f: the process that ran it was stopped")


def test_a_judge_that_is_stuck_is_stopped_and_what_it_found_counts():
    cells = [
        Cell("s", "student", "def f(g): return g(10**9)", ("f",)),
        Cell("t1", "test", "assert callable(f)"),
        Cell("ps-p2-t2", "test", "# Test 2.4 (1 point): stuck.\nf(lambda n: sum(range(n ** 9)))"),
        Cell("t3", "test", "pass"),
    ]
    begin = time.monotonic()
    failed, notes = judged(*cells, total_seconds=3.0)
    assert time.monotonic() - begin < 20
    assert list(failed) == ["ps-p2-t2", "t3"]
    assert failed["ps-p2-t2"].startswith(
        "NoAnswer: Problem 2, test 2.4: grading this notebook took"
    )
    assert notes


@pytest.mark.parametrize("machine", seccomp.ARCHITECTURES)
def test_the_filter_of_calls_lets_threads_through_and_no_process(machine):
    column, architecture = seccomp.ARCHITECTURES[machine]

    def answer(number, first=0, architecture=architecture):
        """Run the filter, as the kernel does; return an error's number, 0 if the call may be."""
        seen = {seccomp.NUMBER: number, seccomp.ARCHITECTURE: architecture}
        seen[seccomp.FIRST_ARGUMENT] = first
        holds = {
            seccomp.EQUAL: lambda value, k: value == k,
            seccomp.AT_LEAST: lambda value, k: value >= k,
            seccomp.ANY_BIT: lambda value, k: bool(value & k),
        }
        steps, at, value = seccomp.program(machine), 0, None
        while True:
            code, if_so, if_not, operand = steps[at]
            at += 1
            if code == seccomp.RETURN:
                return 0 if operand == seccomp.ALLOW else operand & 0xFFFF
            if code == seccomp.LOAD:
                value = seen[operand]
            else:
                at += if_so if holds[code](value, operand) else if_not

    for *numbers, error in seccomp.REFUSED.values():
        if numbers[column] is not None:
            assert answer(numbers[column]) == error
            assert answer(numbers[column] | seccomp.X32) > 0
            assert answer(numbers[column], architecture=0x40000003) > 0
    clone = seccomp.CLONE[column]
    assert answer(clone, 17) > 0
    assert answer(clone, 0x10000000 | 17) > 0
    assert answer(clone, seccomp.CLONE_THREAD | 0x100) == 0
    assert answer(0) == answer(63) == 0  # such as read and write
    with pytest.raises(OSError, match="no filter of system calls for abacus"):
        seccomp.program("abacus")


@pytest.mark.parametrize("name", SETS)
def test_right_answers_keep_their_points_in_the_sandbox(name):
    """What a set's tests and set-up need does cross, and is not hidden."""
    source = read_source(source_of(name))
    for cell in source.cells:
        if cell.id in (answers := [*right_answers(name).values()][1]):
            cell.source = put(cell.source, "### BEGIN SOLUTION", answers[cell.id])
    restore(source, wanted_cells(read_source(source_of(name))))
    verdicts, notes = judge(code_cells(source), Sandbox(hidden_in(source)))
    assert {v.name: v.error for v in verdicts if v.error} == {}
    assert notes == []


def test_of_a_repository_in_a_visible_folder_only_python_is_seen(monkeypatch):
    """Such as /usr/src, where images for containers have it: it holds the tests' right answers."""
    monkeypatch.setattr(sandbox, "SYSTEM", (*sandbox.SYSTEM, str(ROOT)))
    student = (
        "from glob import glob\ndef f(root):\n    return [n for n in ('course', 'tests', 'book',"
        " 'pegasos_lib', '.git') if glob(f'{root}/{n}/*')]"
    )
    test = f"found = f({str(ROOT)!r})\nassert found == [], found"
    assert judged(Cell("s", "student", student, ("f",)), Cell("t", "test", test)) == ({}, [])


# The library's copy


def test_a_name_that_the_library_does_not_have_cannot_be_hidden(tmp_path):
    for i, name in enumerate(("pegasos_lib.pegasus", "numpy.dot", "pegasos_lib.HingeProblem.nope")):
        with pytest.raises(hiding.NotThere, match=name):
            hiding.write_copy(tmp_path / str(i), [name])


def test_what_is_hidden_is_gone_with_its_helpers_and_the_rest_works(tmp_path):
    hiding.write_copy(tmp_path, ["pegasos_lib.pegasos", "pegasos_lib.sgd"])
    text = "\n".join(path.read_text() for path in (tmp_path / "pegasos_lib").glob("*.py"))
    assert "def pegasos(" not in text
    assert "def sdca(" in text
    code = (
        "import pegasos_lib as p, pegasos_lib.estimator\n"
        "from pegasos_lib import *\nassert 'pegasos' not in globals() and sdca\n"
        "for get in ('from pegasos_lib import pegasos as f',\n"
        "            'from pegasos_lib.online import sgd as f', 'f = p.pegasos',\n"
        "            'f = p.online.pegasos', 'f = p.optimizers.pegasos'):\n"
        "    try:\n        exec('import pegasos_lib.optimizers\\n' + get + '\\nf(1)')\n"
        "    except ImportError as error:\n"
        "        assert 'asks you to write it' in str(error), error\n"
        "    else:\n        raise SystemExit(get)\n"
        "print(p.sdca(HingeProblem([[1.0, 2.0]], [1.0], 1.0)).w)"
    )
    env = os.environ | {"PYTHONPATH": str(tmp_path), "PEGASOS_JIT": "0"}
    done = subprocess.run(
        [sys.executable, "-P", "-c", code], env=env, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, "[0.2 0.4]\n"), done.stderr


def test_to_read_the_settings_does_not_change_how_this_process_runs_the_library(monkeypatch):
    monkeypatch.delenv("PEGASOS_JIT", raising=False)
    configured(COURSE)
    assert "PEGASOS_JIT" not in os.environ
