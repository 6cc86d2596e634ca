"""nbgrader's autograding, which no submission stops and which leaves nobody out."""

import glob
import os
from pathlib import Path

from nbconvert.exporters import NotebookExporter
from nbconvert.exporters.exporter import Exporter
from nbformat.v4 import new_notebook
from nbgrader.api import Gradebook, MissingEntry
from nbgrader.converters import Autograde
from nbgrader.converters.base import NbGraderException
from nbgrader.utils import parse_utc
from traitlets import Bool, Type

from . import sandbox
from .preprocessors import IsolatedGrade, released
from .restore import put_back, restore
from .submission import Unreadable, read


class SubmissionExporter(NotebookExporter):
    """Reads whatever was handed in; what cannot be read becomes an empty notebook that says why."""

    # Once for all preprocessors, not after each.
    optimistic_validation = Bool(True).tag(config=True)

    def from_filename(self, filename, resources=None, **kw):
        if not self.parent._sanitizing:
            return super().from_filename(filename, resources=resources, **kw)
        try:
            notebook = read(Path(filename))
        except Unreadable as reason:
            notebook = new_notebook(metadata={"pegasos": {"unreadable": str(reason)}})
        return self.from_notebook_node(notebook, resources=resources, **kw)


class IsolatedAutograde(Autograde):
    """Autograding of every folder that was handed in, with or without a notebook in it."""

    exporter_class = Type(SubmissionExporter, klass=Exporter).tag(config=True)

    def __init__(self, coursedir=None, **kwargs):
        super().__init__(coursedir=coursedir, **kwargs)
        # A strange timestamp.txt must not stop a student's grading; nbgrader has no setting for it.
        self.coursedir.get_existing_timestamp = self._timestamp
        self._isolated = IsolatedGrade(parent=self)
        self._begun = {}

    def start(self):
        if not self._isolated.unsafe:
            try:
                sandbox.check()
            except sandbox.NoSandbox as why:
                self.log.error(str(why))
                raise NbGraderException(str(why)) from None
        super().start()

    def convert_notebooks(self):
        try:
            super().convert_notebooks()
        finally:
            for begun in self._begun.values():
                begun.stop()

    def convert_single_notebook(self, notebook_filename):
        """Grade one notebook, and begin to run the next one meanwhile, on another core."""
        paths = [p for folder in sorted(self.assignments) for p in sorted(self.assignments[folder])]
        following = paths[paths.index(notebook_filename) + 1 :][:1]
        for path in following:
            try:
                self._begin(path)
            except Exception as error:  # it fails again, and is told of, in its own turn
                self.log.debug("%s was not begun ahead: %s", path, error)
        super().convert_single_notebook(notebook_filename)

    def _begin(self, path):
        told = self.init_single_notebook_resources(path)["nbgrader"]
        done = Path(self._format_dest(told["assignment"], told["student"])).exists()
        if self.force or not done:
            notebook = read(Path(path))
            source = released(self, told["assignment"], told["notebook"])
            restore(notebook, source.wanted)
            put_back(notebook, source.wanted, source.text)
            self._begun[told["student"], told["notebook"]] = self._isolated.begin(notebook)

    def begun_for(self, told):
        """Return what was begun ahead of a submission's turn, None if nothing was."""
        return self._begun.pop((told["student"], told["notebook"]), None)

    def init_notebooks(self):
        """Take each student's folder, with the notebooks that should be in it."""
        courses = self.coursedir
        source = courses.format_path(courses.source_directory, ".", courses.assignment_id)
        names = sorted(
            os.path.basename(p) for p in glob.glob(f"{source}/{courses.notebook_id}.ipynb")
        )
        folders = sorted(glob.glob(self._format_source(courses.assignment_id, courses.student_id)))
        if not names or not folders:
            return super().init_notebooks()  # which says what is missing
        self.assignments = {
            folder: [os.path.join(folder, name) for name in names]
            for folder in folders
            if self._has_name(folder)
        }
        self.notebooks = []

    def _has_name(self, folder):
        """Tell whether a student's folder has a name that a gradebook can hold."""
        good = folder.isprintable()  # no half characters, no ends of lines
        if not good:
            self.log.error("%r is not graded: rename the student's folder", folder)
        return good

    def init_assignment(self, assignment_id, student_id):
        """Enter a submission in the gradebook; of its files none but the notebooks are taken."""
        timestamp = self._timestamp(self._format_source(assignment_id, student_id))
        with Gradebook(self.coursedir.db_url, self.coursedir.course_id) as book:
            try:
                known = {
                    notebook.name for notebook in book.find_assignment(assignment_id).notebooks
                }
            except MissingEntry:
                known = set()
            names = {Path(path).stem for path in self.notebooks}
            if not names <= known:
                raise NbGraderException(
                    f"{assignment_id} was not released: run generate_assignment first."
                )
            book.update_or_create_student(student_id)
            submission = book.update_or_create_submission(
                assignment_id, student_id, **({"timestamp": timestamp} if timestamp else {})
            )
            if submission.total_seconds_late > 0:
                self.log.warning("%s is %s s late", submission, submission.total_seconds_late)

    def _timestamp(self, folder):
        path = Path(folder) / "timestamp.txt"
        try:
            if path.is_symlink() or not path.is_file() or path.stat().st_size > 200:
                return None
            return parse_utc(path.read_text(encoding="utf-8").strip() or None)
        except (ValueError, OverflowError, OSError) as error:
            self.log.warning("%s is no time (%s): it is left out", path, error)
            return None
