"""The built site as files: what is on its pages, what is not, and when a build fails."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import unquote, urlsplit

import nbformat
import pytest
import yaml
from lxml import html
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from sphinxcontrib.katex import katex_version

from tests.course.sets import ASSIGNMENTS, SECRET, secrets, source_of

from .conftest import ROOT, build_book

sys.path.append(str(ROOT / "book" / "_ext"))  # as jupyter-book does

STATIC = ROOT / "pegasos_lib" / "widgets" / "static"
FORBIDDEN_SCRIPTS = "mathjax", "katex", "fontawesome", "thebe", "require", "html-manager"


def parse(path):
    """Return a page's root element; each element's text is `text_content()`."""
    return html.document_fromstring(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pages(site):
    """The parsed pages by path."""
    return {path: parse(path) for path in sorted(site.rglob("*.html"))}


@pytest.fixture(scope="module")
def ids(pages):
    """The ids that stand on each page, in their order."""
    return {path: page.xpath("//@id") for path, page in pages.items()}


def addresses(page, tag, attribute):
    """Return an attribute of all elements of a tag that have it."""
    return page.xpath(f"//{tag}/@{attribute}")


def chapters(site):
    """Return the paths of the chapters' pages: those that come from the book's notebooks."""
    files = re.findall(
        r"(?:root|file): (book/\S+)", (ROOT / "_toc.yml").read_text(encoding="utf-8")
    )
    return [site / f"{name}.html" for name in files if (ROOT / f"{name}.ipynb").is_file()]


def test_a_second_build_runs_and_writes_nothing(site):
    before = {path: path.stat().st_mtime_ns for path in site.rglob("*.html")}
    result = build_book(ROOT)
    assert result.returncode == 0, result.stderr[-3000:]
    assert "Executing notebook" not in result.stdout + result.stderr
    after = {path: path.stat().st_mtime_ns for path in site.rglob("*.html")}
    assert [path.name for path in after if after[path] != before.get(path)] == []


def test_only_the_pages_of_the_contents_are_built(site):
    names = set(re.findall(r"(?:root|file): (\S+)", (ROOT / "_toc.yml").read_text("utf-8")))
    built = {path.relative_to(site).with_suffix("").as_posix() for path in site.rglob("*.html")}
    assert built == names | {"genindex", "index", "search"}
    sources = {
        p.relative_to(site / "_sources").with_suffix("").as_posix()
        for p in (site / "_sources").rglob("*")
        if p.is_file()
    }
    assert sources == names, "the published sources are the pages and nothing of the course"


def test_no_line_of_a_solution_hidden_test_or_rubric_is_on_the_site(site):
    """Neither on a page nor in what is downloaded, searched or loaded; other sources are public."""
    public, shown = set(), set()
    for path in [*(ROOT / "book").glob("*.*"), *(ROOT / "pegasos_lib").rglob("*.py")]:
        if path.is_file():
            public |= lines_of(path)
    for path in site.rglob("*"):
        if path.suffix in {".html", ".ipynb", ".md", ".js", ".json", ".inv", ".txt"}:
            shown |= lines_of(path)
    assert "# Test 1.1 (2 points): the terms of the sum." in shown, "the search reads no cells"
    for name, secret in secrets().items():
        assert len(secret) > 30
        assert sorted((secret - public) & shown) == [], name
    marks = [f"### {edge} {mark}" for edge in ("BEGIN", "END") for mark in SECRET]
    assert [line for line in shown if line in marks] == []


def lines_of(path):
    """Return the lines of a file's text; of a page and a notebook, of what a reader sees in it."""
    text = path.read_text(encoding="utf-8", errors="replace")
    if path.suffix == ".ipynb":
        cells = nbformat.reads(text, as_version=4).cells
        text = "\n".join([text, *(cell.source for cell in cells)])
    elif path.suffix == ".html":
        text = html.document_fromstring(text).text_content()
    return {line.strip() for line in text.splitlines()}


def test_the_problem_sets_are_pages_to_read_to_download_and_to_open(pages, site):
    for name in ASSIGNMENTS:
        page = pages[site / "course" / "release" / name / f"{name}.html"]
        links = page.cssselect(".problem-set-links a")
        assert links[0].text_content() == "Download the notebook"
        download = (site / "course" / "release" / name / links[0].get("href")).resolve()
        assert links[0].get("download") == f"{name}.ipynb"
        assert download.read_bytes() == released(name), "another notebook than the graded one"
        assert not page.cssselect(".cell_output"), "a student's version was run"


def released(name):
    from course.release import student_version

    return student_version(source_of(name)).encode()


def test_the_index_leads_from_each_term_to_the_glossary_and_to_the_chapters(pages, ids, site):
    glossary = pages[site / "book" / "glossary.html"]
    terms = {term.text_content(): term.get("id") for term in glossary.cssselect("dl.glossary > dt")}
    assert len(terms) > 40
    items = pages[site / "genindex.html"].cssselect("ul.genindex > li")
    assert len(items) == len(terms)
    for item in items:
        name, *uses = item.iter("a")
        term = name.text_content().replace("'", "’")
        assert name.get("href") == f"book/glossary.html#{terms[term]}"
        assert uses, f"{term} is used in no chapter"
        first = item.cssselect("li li > a:first-child")
        chapters = [int(use.text_content().split()[0]) for use in first]
        assert chapters == sorted(chapters)
        for use in uses:
            path, _, anchor = use.get("href").partition("#")
            assert anchor in ids[site / path], use.get("href")
    assert glossary.cssselect("article a[href='../genindex.html']"), "nothing leads to the index"


def test_no_page_carries_a_script_that_the_build_made_needless(pages, site):
    for path, page in pages.items():
        for script in page.iter("script"):
            source = script.get("src", "").lower()
            named = [word for word in FORBIDDEN_SCRIPTS if word in source]
            assert not named, f"{path.name} loads {source}"
            assert "thebe" not in (script.text or "").lower(), path.name
            assert "mathjax" not in (script.text or "").lower(), path.name
            assert script.get("type") != "application/vnd.jupyter.widget-state+json", path.name
    names = [path.name.lower() for path in site.rglob("*.js")]
    assert not [n for n in names for word in FORBIDDEN_SCRIPTS if word in n]


def test_the_figures_scripts_are_on_the_pages_with_such_a_figure_and_on_no_other(pages, site):
    built = {path.name for path in STATIC.glob("*.js")}
    # Figures of measured results have these in a script of their own, before the one that draws.
    results = {path.name for path in (site / "_static").glob("*-data.js")}
    loaded = Counter()
    for path, page in pages.items():
        names = [Path(urlsplit(source).path).name for source in addresses(page, "script", "src")]
        names = [name for name in names if name in built | results]
        kinds = dict.fromkeys(page.xpath("//@data-figure"))
        own = [name for kind in kinds for name in (f"{kind}-data.js", f"{kind}.js")]
        wanted = ["figures.js"] * bool(kinds) + [name for name in own if name in built | results]
        assert names == wanted, path.name
        loaded.update(names)
    assert set(loaded) == built | results, "a figure stands on no page"


def test_a_page_with_a_figure_is_shown_when_the_first_figure_stands_and_others_at_once(pages):
    for path, page in pages.items():
        waits = page.cssselect("head link[rel=expect][blocking=render]")
        figures = page.cssselect("[data-figure]")
        assert len(waits) == bool(figures), path.name
        for wait in waits:  # its target is behind the first figure and the scripts that draw it
            (target,) = page.cssselect(wait.get("href"))
            before = [tag.get("src") for tag in target.itersiblings("script", preceding=True)]
            assert len([source for source in before if "-data.js" not in source]) == 2, path.name
            assert next(target.itersiblings("div", preceding=True)) is figures[0]


def test_nothing_is_loaded_from_another_host(pages, site):
    for path, page in pages.items():
        for tag in page.iter("script", "link", "img", "iframe", "source", "video", "object"):
            for name in ("src", "href", "srcset", "data"):
                if tag.tag == "link" and tag.get("rel") == "canonical":
                    continue
                address = tag.get(name, "")
                assert not address.startswith(("http:", "https:", "//")), f"{path.name}: {address}"
    for path in site.rglob("*.css"):
        css = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
        for address in re.findall(r"url\(\s*[\"']?([^\"')]+)|@import\s+[\"']([^\"']+)", css):
            target = "".join(address)
            assert not target.startswith(("http", "//")), f"{path.name}: {target}"
            if not target.startswith(("data:", "#")):
                assert (path.parent / target.split("?")[0]).is_file(), f"{path.name}: {target}"


def test_every_internal_link_and_anchor_leads_somewhere(pages, ids):
    anchors = {path: set(found) for path, found in ids.items()}
    dead = []
    for path, page in pages.items():
        for tag in page.iter("a", "link", "img", "script"):
            address = tag.get("href") or tag.get("src") or ""
            parts = urlsplit(address)
            if not address or parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                dead.append(f"{path.name}: {address}")
            elif parts.fragment and target in anchors:
                # The figures keep their state in the fragment: #pegasos=...
                name = unquote(parts.fragment)
                if name not in anchors[target] | {""} and "=" not in name:
                    dead.append(f"{path.name}: {address}")
    assert dead == []


def test_ids_are_unique_on_a_page(ids):
    for path, found in ids.items():
        assert sorted(found) == sorted(set(found)), path.name


def test_every_page_has_a_language_a_description_and_an_icon(pages):
    for path, page in pages.items():
        assert page.get("lang") == "en", path.name
        assert page.findtext(".//title").strip(), path.name
        if path.name != "index.html":
            (description,) = page.xpath("//meta[@name='description']/@content")
            assert 20 <= len(description) <= 160, f"{path.name}: {description!r}"
            (icon,) = page.xpath("//link[@rel='icon']/@href")
            assert icon.startswith("data:"), path.name


def test_mathematics_is_rendered_with_mathml_for_screen_readers(pages, site):
    for path in chapters(site):
        formulas = pages[path].cssselect(".math .katex")
        assert len(formulas) > 10, path.name
        for formula in formulas:
            assert formula.find(".//annotation") is not None, path.name
        assert not pages[path].cssselect(".katex-error"), path.name


def test_chapters_theorems_and_equations_are_numbered_as_in_the_book(pages, site):
    numbers = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))["sphinx"]["config"]
    for name, chapter in numbers["chapter_numbers"].items():
        page = pages[site / f"{name}.html"]
        number, *_ = page.cssselect("h1 .section-number")
        assert number.text_content().strip() == f"{chapter}."
        labels = [tag.text_content() for tag in page.cssselect(".proof .caption-number, .eqno")]
        found = [match[1] for label in labels if (match := re.search(r"(\d+)\.\d+", label))]
        assert found, f"{name} numbers nothing"
        assert set(found) == {str(chapter)}, labels


def test_the_contents_list_the_chapters_in_the_order_of_their_numbers():
    config = yaml.safe_load((ROOT / "_config.yml").read_text("utf-8"))
    numbers = config["sphinx"]["config"]["chapter_numbers"]
    files = re.findall(r"file: (\S+)", (ROOT / "_toc.yml").read_text("utf-8"))
    assert [name for name in files if name in numbers] == sorted(numbers, key=numbers.get)


def test_a_page_without_a_figure_weighs_little(site, pages):
    import gzip

    for path, page in pages.items():
        if path.name in {"index.html", "search.html"} or page.cssselect("[data-figure]"):
            continue
        scripts = addresses(page, "script", "src")
        styles = addresses(page, "link[@rel='stylesheet']", "href")
        files = [path, *(path.parent / unquote(urlsplit(a).path) for a in scripts + styles)]
        assert not [file for file in files if file.name == "searchindex.js"], path.name
        weight = sum(len(gzip.compress(file.read_bytes())) for file in files)
        assert weight < 130_000, f"{path.name}: {weight} bytes compressed"


# A small book with the settings of the book itself ------------------------------------------


@pytest.fixture
def small_book(tmp_path):
    """Return `write(text, code)`: a book of one page and one notebook, under the same settings."""
    return partial(write_small_book, tmp_path)


def write_small_book(folder, text="A page.", code=None):
    """Write the book and return its folder."""
    for name in (
        "_config.yml",
        "book/_ext",
        "book/_templates",
        "book/site_static",
        "book/references.bib",
    ):
        target = folder / name
        target.parent.mkdir(exist_ok=True)
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, target, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, target)
    contents = {"format": "jb-book", "root": "book/intro", "chapters": [{"file": "book/pegasos"}]}
    (folder / "_toc.yml").write_text(yaml.safe_dump(contents, sort_keys=False))
    (folder / "book" / "intro.md").write_text(f"# A book\n\n{text}\n")
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    cells = [new_markdown_cell("# Pegasos\n\nA chapter.")]
    if code:
        cells.append(new_code_cell(code))
    notebook = new_notebook(metadata={"kernelspec": kernel}, cells=cells)
    nbformat.write(notebook, folder / "book" / "pegasos.ipynb")
    return folder


def without_repository():
    return os.environ | {"BOOK_REPOSITORY_URL": ""}


LATE = """import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
time.sleep(0.3)
server.listen()
server.accept()[0].sendall(b"here")"""


def test_formulas_find_a_server_that_listens_late_and_miss_one_that_ended(tmp_path, monkeypatch):
    from mathematics import katex, start_server

    def serve(code):
        monkeypatch.setattr(
            katex.KaTeXServer, "build_command", lambda socket: [sys.executable, "-c", code, socket]
        )
        return start_server(tmp_path, timeout=20)

    with pytest.raises(katex.KaTeXError):
        serve("raise SystemExit(3)")
    process, server = serve(LATE)
    with server:
        assert server.recv(4) == b"here"
    assert process.wait(20) == 0


def test_wrong_tex_fails_the_build_and_is_named(small_book):
    wrong_here = r"The bound $\frac{1}{$ fails."
    wrong_below = "$$\n\\begin{align} a &= \\nosuchcommand{b} \\end{align}\n$$"
    folder = small_book(f"{wrong_here}\n\n{wrong_below}")
    for build in ("first", "second"):
        result = build_book(folder, env=without_repository())
        assert result.returncode != 0, f"the {build} build passed"
        assert "intro.md" in result.stderr
        for formula in (r"\frac{1}{", r"\nosuchcommand"):
            named = [line for line in result.stderr.splitlines() if formula in line]
            assert any("wrong TeX" in line for line in named), result.stderr


def test_a_failing_cell_fails_the_build(small_book):
    result = build_book(small_book(code="1 / 0"), env=without_repository())
    assert result.returncode != 0
    assert "ZeroDivisionError" in result.stdout + result.stderr


@pytest.fixture(scope="module")
def two_builds(tmp_path_factory):
    """A small book built without a repository, and again with one and with a rule more."""
    book = write_small_book(tmp_path_factory.mktemp("small"))
    result = build_book(book, env=without_repository())
    assert result.returncode == 0, result.stderr
    before = tmp_path_factory.mktemp("before")
    shutil.copytree(book / "_build" / "html", before / "_build" / "html")
    sheet = book / "book" / "site_static" / "site.css"
    sheet.write_text(sheet.read_text("utf-8") + "\nbody { --added: red }\n", "utf-8")
    repository = {"BOOK_REPOSITORY_URL": "git@github.com:someone/a-book.git"}
    result = build_book(book, env=os.environ | repository)
    assert result.returncode == 0, result.stderr
    return before, book


def buttons(folder, name):
    page = parse(folder / "_build/html/book" / name)
    shown = ".article-header-buttons a, .article-header-buttons .dropdown button"
    return page, page.cssselect(shown)


def test_the_launch_button_opens_this_notebook_in_jupyterlab_or_is_absent(two_builds):
    without, with_one = two_builds
    page, _ = buttons(without, "pegasos.html")
    assert "mybinder" not in html.tostring(page, encoding="unicode")
    (download,) = page.cssselect("a.btn-download-source-button")
    assert "download" in download.attrib
    source = (without / "_build/html/book" / download.get("href")).resolve()
    assert json.loads(source.read_text("utf-8"))["cells"]

    page, _ = buttons(with_one, "pegasos.html")
    (button,) = page.cssselect("a[href*=mybinder]")
    assert re.fullmatch(
        r"https://mybinder\.org/v2/gh/someone/a-book/[\w.-]+\?urlpath=lab/tree/book/pegasos\.ipynb",
        button.get("href"),
    )
    assert "mybinder.org" in button.text_content()
    assert "mybinder.org" in button.get("title")
    for folder in two_builds:
        _, shown = buttons(folder, "intro.html")
        assert shown == [], "pages that are no notebook have nothing to launch"


def test_a_changed_style_sheet_reaches_the_site(two_builds):
    built = [folder / "_build/html/_static/styles/book.css" for folder in two_builds]
    added = ["body{--added:red}" in re.sub(r"\s", "", css.read_text("utf-8")) for css in built]
    assert added == [False, True]


# The extensions' own functions ---------------------------------------------------------------


def git(folder, *words):
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("https://github.com/a/b", "https://github.com/a/b"),
        ("https://github.com/a/b.git", "https://github.com/a/b"),
        ("https://token@github.com/a/b.git", "https://github.com/a/b"),
        ("git@github.com:a/b.git", "https://github.com/a/b"),
        ("ssh://git@gitlab.com/a/b.git", "https://gitlab.com/a/b"),
        ("ssh://git@github.com:22/a/b.c", "https://github.com/a/b.c"),
        ("https://gitlab.com/group/sub/b", None),
        ("https://git.example.org/a/b", None),
        ("https://github.com.example.org/a/b", None),
        ("/srv/git/b.git", None),
        ("file:///srv/github.com/a/b", None),
        ("../b", None),
        ("", None),
    ],
)
def test_an_address_that_binder_cannot_open_is_no_address(url, address):
    from launch import public_address

    assert public_address(url) == address


def test_the_repository_comes_from_the_setting_or_else_from_origin(tmp_path, monkeypatch):
    from launch import find_branch, find_repository

    monkeypatch.delenv("BOOK_REPOSITORY_URL", raising=False)
    assert find_repository(tmp_path) is None
    git(tmp_path, "init", "-b", "draft")
    git(tmp_path, "commit", "--allow-empty", "-m", "start")
    assert find_repository(tmp_path) is None
    git(tmp_path, "remote", "add", "origin", "git@gitlab.com:a/b.git")
    assert find_repository(tmp_path) == "https://gitlab.com/a/b"
    assert find_repository(tmp_path, "https://github.com/c/d") == "https://github.com/c/d"
    monkeypatch.setenv("BOOK_REPOSITORY_URL", "https://github.com/e/f")
    assert find_repository(tmp_path, "https://github.com/c/d") == "https://github.com/e/f"
    monkeypatch.delenv("BOOK_REPOSITORY_URL")

    assert find_branch(tmp_path) == "draft"
    git(tmp_path, "update-ref", "refs/remotes/origin/trunk", "HEAD")
    git(tmp_path, "symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
    assert find_branch(tmp_path) == "trunk", "a branch that origin lacks cannot be launched"
    git(tmp_path, "update-ref", "refs/remotes/origin/draft", "HEAD")
    assert find_branch(tmp_path) == "draft"

    (tmp_path / "inner").mkdir()
    assert find_repository(tmp_path / "inner") is None, "Binder needs the book at the root"


def test_notebooks_run_side_by_side_and_once_and_one_that_fails_is_left_to_myst_nb(tmp_path):
    from execution import is_kept, run_what_is_missing

    # Each of two waits for the other: one after the other, they would wait for ever.
    meet = """import pathlib, time
pathlib.Path("{mine}").touch()
while not pathlib.Path("{other}").exists():
    time.sleep(0.05)
open("runs", "a").write("{mine}")"""
    codes = {
        "a": meet.format(mine="a-runs", other="b-runs"),
        "b": meet.format(mine="b-runs", other="a-runs"),
        "c": "1 / 0",
        "never": meet.splitlines()[-1],
    }
    for name, code in codes.items():
        nbformat.write(new_notebook(cells=[new_code_cell(code)]), tmp_path / f"{name}.ipynb")
    settings = {"mode": "cache", "cache_path": str(tmp_path / "cache"), "timeout": 60}
    settings["excludepatterns"] = ["nev*.ipynb"]
    config = SimpleNamespace(**{f"nb_execution_{key}": value for key, value in settings.items()})
    app = SimpleNamespace(srcdir=tmp_path, config=config)
    for _ in range(2):
        run_what_is_missing(app, None, [*codes, "a-page"])
    kept = [is_kept(tmp_path / f"{name}.ipynb", config.nb_execution_cache_path) for name in codes]
    assert kept == [True, True, False, False]
    assert sorted((tmp_path / "runs").read_text().split("-runs")) == ["", "a", "b"]


def test_a_problem_set_links_its_notebook_binder_and_its_chapter():
    from problem_sets import say_where_to_get_it

    binder = {"label": "binder-button", "url": "https://mybinder.org/v2/gh/a/b/main?x=1&y=2"}
    context = {
        "pathto": lambda name, resource=False: f"../{name}",
        "sourcename": "course/release/ps06/ps06.ipynb",
        "header_buttons": [{"buttons": [{"label": "download"}, binder]}],
        "body": "<h1>Six</h1><p>Text.</p>",
    }
    app = SimpleNamespace(config=SimpleNamespace(chapter_numbers={"book/pegasos": 6}))
    say_where_to_get_it(app, "course/release/ps06/ps06", "", context, None)
    links = html.fragment_fromstring(context["body"], create_parent=True).iter("a")
    assert [(link.text, link.get("href")) for link in links] == [
        ("Download the notebook", "../_sources/course/release/ps06/ps06.ipynb"),
        ("Open it on Binder (mybinder.org)", binder["url"]),
        ("Read chapter 6", "../book/pegasos"),
    ]
    assert context["body"].startswith("<h1>Six</h1>")
    before = dict(context)
    say_where_to_get_it(app, "book/pegasos", "", context, None)
    assert context == before


def test_another_library_is_another_cache(tmp_path):
    from execution import library_digest

    (tmp_path / "a.py").write_text("x = 1\n")
    first = library_digest(tmp_path)
    (tmp_path / "notes.txt").write_text("no code\n")
    assert library_digest(tmp_path) == first
    (tmp_path / "a.py").write_text("x = 2\n")
    assert library_digest(tmp_path) != first


@pytest.mark.parametrize("folder", ["book/_data", "benchmarks/results"])
def test_other_results_are_another_cache(tmp_path, folder):
    from execution import cache_folder

    (tmp_path / folder).mkdir(parents=True)
    file = tmp_path / folder / "results.json"
    file.write_text("1\n")
    first = cache_folder(tmp_path, tmp_path)
    (tmp_path / folder / "picture.svg").write_text("no result\n")
    assert cache_folder(tmp_path, tmp_path) == first
    file.write_text("2\n")
    assert cache_folder(tmp_path, tmp_path) != first


def test_purging_keeps_what_a_page_can_use():
    from light import purge

    css = (
        '@charset "UTF-8";/* a */.used,.gone:hover{color:red}.gone{content:"{"}'
        "@media (min-width:3px){.gone{a:b}.used .other:not(.gone,.used){c:d}p>b{e:f}}"
        "@font-face{font-family:a;src:url(../vendor/x)}@keyframes k{from{a:b}50%{a:c}}"
        ".bs-tooltip-top{g:h}.gone:not(.used){i:j}"
    )
    assert purge(css, {"used", "other"}) == (
        '@charset "UTF-8";.used{color:red}'
        "@media (min-width:3px){.used .other:not(.gone,.used){c:d}p>b{e:f}}"
        "@keyframes k{from{a:b}50%{a:c}}.bs-tooltip-top{g:h}"
    )


def test_style_sheets_become_one_with_imports_in_place_and_addresses_that_lead_on(tmp_path):
    from light import merge_sheets

    files = {
        "styles/first.css": '@charset "UTF-8";/* a */\n@import "../base.css";.used{color:red}',
        "base.css": "p{background:url('img/a.png')}b{background:url(data:x)}",
        "deep/font.css": '@font-face{src:url("fonts/b.woff2")}a{fill:url(#c)}.gone{a:b}',
        "unused.css": "p{color:blue}",
    }
    for name, css in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(css, "utf-8")
    merge_sheets(tmp_path, ["styles/first.css", "deep/font.css"], {"used"})
    assert [path.name for path in tmp_path.rglob("*.css")] == ["book.css"]
    assert (tmp_path / "styles" / "book.css").read_text("utf-8") == (
        "p{background:url(../img/a.png)}b{background:url(data:x)}.used{color:red}"
        "@font-face{src:url(../deep/fonts/b.woff2)}a{fill:url(#c)}"
    )
    merge_sheets(tmp_path, ["styles/first.css"], set())  # as in a build that writes no page
    assert ".used" in (tmp_path / "styles" / "book.css").read_text("utf-8")


def test_a_page_waits_for_one_style_sheet(pages, site):
    for path, page in pages.items():
        sheets = addresses(page, "link[@rel='stylesheet']", "href")
        depth = "../" * len(path.parent.relative_to(site).parts)
        if path.name != "index.html":
            assert sheets == [f"{depth}_static/styles/book.css"], path.name


def test_the_static_assets_ship_with_their_licences():
    static = ROOT / "book" / "site_static"
    assert "MIT" in (static / "katex" / "LICENSE").read_text("utf-8")
    assert "SIL OPEN FONT LICENSE" in (static / "icons" / "LICENSE").read_text("utf-8")
    assert (static / "icons" / "icons.woff2").stat().st_size < 6_000
    css = (static / "katex" / "katex.min.css").read_text("utf-8")
    assert katex_version in css[:80], "the style sheet and the renderer are of one version"


def test_a_build_that_reads_a_page_writes_the_glossary_again_for_the_search():
    from glossary import note_reading, spell_terms

    slugs = {"term-margin": (0, "term-margin", "margin")}
    metadata = {"book/glossary": {"myst_slugs": slugs}, "book/intro": {}}
    metadata["book/intro"]["myst_slugs"] = {"how": (0, "how", "How")}
    app = SimpleNamespace()
    for read, written in ([], []), (["book/intro"], ["book/glossary"]):
        index = {"book/objective": [("single", "term-margin; 1", "a", "", None)]}
        env = SimpleNamespace(metadata=metadata, domaindata={"index": {"entries": index}})
        note_reading(app, env, read)
        assert spell_terms(app, env) == written
        assert index["book/objective"][0][1] == "margin; 1"
