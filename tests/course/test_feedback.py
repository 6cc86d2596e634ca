"""The pages of feedback: whole in one file, with their formulas set, whatever a student wrote."""

import re
import time

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from course import feedback
from course.feedback import TEMPLATES, FeedbackExporter

TOLD = {"notebook": "tiny", "score": 3.5, "max_score": 6, "late_penalty": 0}


def page_of(*cells, **metadata):
    """Return the page of a graded notebook with these cells."""
    exporter = FeedbackExporter(extra_template_basedirs=[str(TEMPLATES)])
    page, _ = exporter.from_notebook_node(
        new_notebook(cells=list(cells), metadata=metadata), {"nbgrader": TOLD}
    )
    return page


def graded(cell, title, score, points, waits=False, comment=None, **more):
    about = {"title": title, "score": score, "points": points, "waits": waits, "comment": comment}
    cell.metadata["nbgrader"] = {"grade": True, "grade_id": "tiny-x", **about, **more}
    return cell


def test_a_page_asks_no_other_host_and_runs_nothing():
    page = page_of(
        new_markdown_cell("A formula $x<1$.\n\n<script>alert(1)</script><img src='https://a.b/c'>"),
        new_code_cell("print(1)"),
    )
    assert not re.search(r"<link\b|@import|url\((?!data:)", page)
    assert "<script" not in page
    assert "&lt;script&gt;alert(1)" in page, "a student's HTML is shown as text"
    (policy,) = re.findall(r"<meta [^>]*Content-Security-Policy[^>]*>", page)
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "http:" not in policy
    assert "https:" not in policy
    assert page.index("Content-Security-Policy") < page.index("<style")


@pytest.mark.parametrize(
    ("text", "tex"),
    [
        ("in a line $w_{t+1}<1$, so", "w_{t+1}&lt;1"),
        (r"$$\frac{1}{\lambda t}\quad\mathbb{E}f$$", r"\frac{1}{\lambda t}"),
        ("\\begin{align}a&=b\\\\c&=d\\end{align}", r"\begin{align}"),
        (r"\\( \alpha \\) and \\[ \beta \\]", r"\beta"),
        ("| a | b |\n|---|---|\n| $\\eta_t$ | c |", r"\eta_t"),
    ],
)
def test_formulas_are_set_in_the_page(text, tex):
    page = page_of(new_markdown_cell(text))
    assert 'class="katex-html"' in page
    assert "<math" in page, "nothing for a screen reader"
    assert re.search(rf"<annotation[^>]*>[^<]*{re.escape(tex)}", page)
    assert not re.search(r"katex[0-9a-f]{16}", page)
    assert "data:font/woff2;base64," in page


def test_a_formula_that_cannot_be_set_is_shown_as_it_was_written():
    page = page_of(
        new_markdown_cell("wrong $\\frac{1$ and right $\\alpha$, <b>bold</b> $\\unknown{<i>}$")
    )
    assert r"<code>\frac{1</code>" in page
    assert "&lt;i&gt;" in page
    assert ">α<" in page


def test_strange_formulas_cost_little_time_and_nobody_s_page():
    macro = r"\def\a#1{#1#1#1#1}" + r"\a{" * 60 + "x" + "}" * 60
    cells = [new_markdown_cell(f"${tex}$") for tex in (macro, "{" * 4000, r"\rule{9999em}{9999em}")]
    begin = time.monotonic()
    assert "α" in page_of(*cells, new_markdown_cell(r"$\alpha$"))
    assert time.monotonic() - begin < 30


def test_without_node_the_tex_itself_is_shown(monkeypatch):
    monkeypatch.setattr(feedback, "find_node", lambda: None)
    assert r"<code>\gamma+\delta</code>" in page_of(new_markdown_cell(r"$\gamma+\delta$"))


def test_a_page_tells_the_points_the_sentence_and_the_comment():
    hint = new_output("error", ename="Hint", evalue="Look at the\nsign <b>", traceback=[])
    late = new_output("error", ename="NoAnswer", evalue="Problem 1: it ended", traceback=[])
    page = page_of(
        graded(new_code_cell("# Test 1.1", outputs=[hint]), "Test 1.1: the sign", 0, 2),
        graded(new_code_cell("# Test 1.2", outputs=[late]), "Test 1.2: the end", 2, 2),
        graded(new_markdown_cell("My proof"), "Written answer", 0, 4, waits=True),
        graded(
            new_markdown_cell("My other proof"),
            "Written answer",
            1.5,
            4,
            comment="Say *why* $x>0$.",
            solution=True,
        ),
    )
    text = " ".join(re.sub(r"<[^>]+>", "", page.split("</head>")[1]).split())
    for told in (
        "tiny (Score: 3.5 / 6.0)",
        "Test 1.1: the sign0 of 2",
        "Test 1.2: the end2 of 2",
        "Written answernot graded yet, of 4",
        "Written answer1.5 of 4",
        "Hint: Look at the sign &lt;b&gt;",
        "Problem 1: it ended",
        "My proof",
        "Comment Say why",
    ):
        assert told in text, told
    assert "NoAnswer" not in text


def test_a_page_begins_with_why_a_notebook_could_not_be_graded():
    page = page_of(new_markdown_cell("A set"), pegasos={"unreadable": "it is <empty>"})
    assert "Not graded: it is &lt;empty&gt;" in page.split("<table>")[0]
    assert "Not graded" not in page_of(new_markdown_cell("A set"))
