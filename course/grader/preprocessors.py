"""The steps of nbgrader's autograding that make it isolated and hard to break."""

from dataclasses import dataclass

import nbformat
from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader import utils
from nbgrader.api import Gradebook
from nbgrader.preprocessors import DeduplicateIds, NbGraderPreprocessor
from traitlets import Bool, Dict, Int, default

from pegasos_lib.exercises import SEED_VARIABLE

from .judge import Cell, Judgement, Verdict
from .report import UNSAFE
from .restore import Wanted, put_back, restore, wanted_cells
from .sandbox import UNSAFE_VARIABLE, Limits, Sandbox, unsafe_is_asked
from .values import one_line


@dataclass(frozen=True)
class Released:
    """A notebook as it was released: what its source wants, and what the gradebook holds of it."""

    wanted: list[Wanted]
    kernelspec: dict
    text: dict[str, str]
    checksums: dict[str, str]
    points: dict[str, float]


def released(converter, assignment: str, name: str) -> Released:
    """Return a released notebook; read once for all submissions of a converter."""
    known = converter.__dict__.setdefault("_released", {})
    if (assignment, name) not in known:
        courses = converter.coursedir
        folder = courses.format_path(courses.source_directory, ".", assignment)
        source = nbformat.read(f"{folder}/{name}.ipynb", as_version=4)
        with Gradebook(courses.db_url, courses.course_id) as book:
            notebook = book.find_notebook(name, assignment)
            cells = notebook.source_cells
            graded = [*notebook.grade_cells, *notebook.task_cells]
            found = Released(
                wanted_cells(source),
                source.metadata.get("kernelspec", {}),
                {cell.name: cell.source for cell in cells},
                {cell.name: cell.checksum for cell in cells},
                {cell.name: cell.max_score for cell in graded},
            )
        if {want.id for want in found.wanted if want.in_gradebook} != found.text.keys():
            raise RuntimeError(
                f"The source of {name} has other cells than when it was released: "
                "run generate_assignment again."
            )
        known[assignment, name] = found
    return known[assignment, name]


def _released(preprocessor, resources) -> Released:
    told = resources["nbgrader"]
    return released(preprocessor.parent.parent, told["assignment"], told["notebook"])


def _log(preprocessor, resources, notes):
    told = resources["nbgrader"]
    for note in notes:
        # No student writes a line of the log.
        preprocessor.log.warning("%s, %s: %s", told["student"], told["notebook"], one_line(note))


class RestoreMetadata(NbGraderPreprocessor):
    """Put the cells' metadata, kinds and order back from the source."""

    def preprocess(self, nb, resources):
        source = _released(self, resources)
        nb.metadata["kernelspec"] = source.kernelspec
        _log(self, resources, restore(nb, source.wanted))
        return nb, resources


class SafeDeduplicateIds(DeduplicateIds):
    """Leave a grade_id that stands twice to one cell; the other is the student's own."""

    def preprocess_cell(self, cell, resources, cell_index):
        cell, resources = super().preprocess_cell(cell, resources, cell_index)
        if cell.metadata.get("nbgrader") == {}:
            cell.metadata = NotebookNode()
        return cell, resources


class SafeOverwriteCells(NbGraderPreprocessor):
    """Put back missing cells, and the text and points of graded ones, as they were released."""

    def preprocess(self, nb, resources):
        source = _released(self, resources)
        _log(self, resources, put_back(nb, source.wanted, source.text))
        for cell in nb.cells:
            if cell.id not in source.text:
                continue
            told = cell.metadata.nbgrader
            if cell.id in source.points:
                told["points"] = source.points[cell.id]
            told["checksum"] = source.checksums[cell.id]
            if utils.is_locked(cell) and utils.compute_checksum(cell) != told["checksum"]:
                raise RuntimeError(
                    f"Cell {cell.id} is not what was released: run generate_assignment again."
                )
        return nb, resources


class IsolatedGrade(NbGraderPreprocessor):
    """Run a submission's code in a sandbox and its tests here; keep each test's outcome."""

    unsafe = Bool(
        help=f"Whether to run without a sandbox, which marks every grade. Also {UNSAFE_VARIABLE}=1."
    ).tag(config=True)
    limits = Dict(help="Limits other than the usual ones: see course.grader.sandbox.Limits.").tag(
        config=True
    )

    seed = Int(
        0, min=0, help=f"From which hidden tests draw their data; {SEED_VARIABLE} goes before it."
    ).tag(config=True)

    @default("unsafe")
    def _unsafe_by_default(self):
        return unsafe_is_asked()

    def begin(self, nb):
        """Start to run a restored notebook's code and tests."""
        sandbox = Sandbox(hidden_in(nb), self.unsafe, Limits(**self.limits))
        return Judgement(code_cells(nb), sandbox, self.seed)

    def preprocess(self, nb, resources):
        cells = code_cells(nb)
        told = nb.metadata.setdefault("pegasos", NotebookNode())
        if "unreadable" in told:
            error = ["NotGraded", told.unreadable]
            verdicts = [Verdict(c.name, error=error) for c in cells if c.kind == "test"]
            notes = [told.unreadable]
        else:
            begun = self.parent.parent.begun_for(resources["nbgrader"])
            if begun is not None and begun.cells != cells:
                begun.stop()
                begun = None
            verdicts, notes = (begun or self.begin(nb)).finish()
            if self.unsafe:
                told["unsafe"] = True
        _log(self, resources, notes)
        write_outputs(nb, verdicts)
        failed = [f"{v.name}: {': '.join(v.error)}" for v in verdicts if v.error]
        _log(self, resources, failed)
        return nb, resources


class SaveGrades(NbGraderPreprocessor):
    """Write a submission's points and comments into the gradebook, all or none of them.

    A manual grade stays, and is marked as to be looked at again, as nbgrader itself does it. A
    grade that was made without a sandbox says so in its comments.
    """

    def preprocess(self, nb, resources):
        told = resources["nbgrader"]
        graded = {cell.id: cell for cell in nb.cells if utils.is_grade(cell)}
        answered = {c.id: c for c in nb.cells if utils.is_solution(c) or utils.is_task(c)}
        unsafe = UNSAFE if nb.metadata.get("pegasos", {}).get("unsafe") else None
        with Gradebook(told["db_url"], self.parent.parent.coursedir.course_id) as book:
            notebook = book.find_submission_notebook(
                told["notebook"], told["assignment"], told["student"]
            )
            names = {cell.id: cell.name for cell in notebook.notebook._base_cells}
            for grade in notebook.grades:
                if cell := graded.get(names[grade.cell_id]):
                    grade.auto_score, _ = utils.determine_grade(cell, self.log)
                    by_hand = grade.manual_score is not None or grade.auto_score is None
                    grade.needs_manual_grade = by_hand
            for comment in notebook.comments:
                if cell := answered.get(names[comment.cell_id]):
                    same = cell.metadata.nbgrader.checksum == utils.compute_checksum(cell)
                    empty = "No response." if same and not utils.is_task(cell) else None
                    comment.auto_comment = " ".join(filter(None, [unsafe, empty])) or None
            book.db.commit()
        return nb, resources


def _told(cell) -> dict:
    return cell.metadata.get("pegasos", {})


def hidden_in(nb: NotebookNode) -> tuple[str, ...]:
    """Return the dotted names of what the library does not have for a notebook's students."""
    return tuple(sorted({name for cell in nb.cells for name in _told(cell).get("hides", [])}))


def code_cells(nb: NotebookNode) -> list[Cell]:
    """Return the code cells of a restored notebook, each with who runs it."""
    return [
        Cell(cell.id, _kind(cell), cell.source, tuple(_told(cell).get("asks", ())))
        for cell in nb.cells
        if cell.cell_type == "code"
    ]


def _kind(cell) -> str:
    if utils.is_solution(cell) or not utils.is_locked(cell):
        return "student"
    return "test" if utils.is_grade(cell) else "setup"


def write_outputs(nb: NotebookNode, verdicts: list[Verdict]) -> None:
    """Store what became of each cell as its outputs, as a kernel would."""
    of = {verdict.name: verdict for verdict in verdicts}
    for cell in nb.cells:
        if cell.cell_type != "code":
            continue
        cell.outputs = []
        verdict = of.get(cell.id)
        if verdict is None:
            continue
        if verdict.output:
            cell.outputs.append(new_output("stream", name="stdout", text=verdict.output))
        if verdict.error:
            name, message = verdict.error
            lines = verdict.traceback or [f"{name}: {message}"]
            error = new_output("error", ename=name, evalue=message, traceback=lines)
            cell.outputs.append(error)
