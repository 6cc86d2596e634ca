"""Make the theme's pages light and accessible.

Scripts are deferred, each page gets a description, tables, bibliographies and toggles get the roles
and names that axe asks for, and the dozen style sheets become one without the rules that no page
can use (nine tenths of the theme's name icons). What the theme copies and no page asks for is not
shipped.
"""

import os
import re
import shutil
from html import escape
from pathlib import Path

from docutils import nodes

# Class names that scripts put together from parts, so that no script holds them whole.
COMPOSED = re.compile(r"(bs-|show|fade|collaps|dropdown|tooltip|modal|btn-check)")
TOKEN = re.compile(r"""/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[{};]|[^{};"'/]+|/""", re.S)
NOT = re.compile(r":not\((?:[^()]|\([^()]*\))*\)")
CLASS = re.compile(r"\.((?:\\.|[\w-])+)")
IMPORT = re.compile(r"""@import\s+["']([^"']+)["']\s*;""")
LOCAL_ADDRESS = re.compile(r"""url\((?!["']?(?:data:|https?:|[/#]))["']?([^"')]+)["']?\)""")
THEME_SHEETS = ("styles/theme.css", "styles/pydata-sphinx-theme.css")
TOGGLE = "Show or hide the pages of this part"
ONE_SHEET = "styles/book.css"
SCROLLERS = re.compile(r"""document\.querySelectorAll\(\["pre"[^()]*\]\.join\(", "\)\)""")
UNUSED_FILES = (
    "scripts/fontawesome.js",
    "scripts/fontawesome.js.LICENSE.txt",
    "vendor",
    "locales",
    "images/logo_colab.png",
    "images/logo_deepnote.svg",
    "images/logo_jupyterhub.svg",
    "images/logo_jupyterlite.svg",
    "images/logo_binder.svg",
    "sbt-webpack-macros.html",
    "webpack-macros.html",
)


def defer_scripts(app, pagename, templatename, context, doctree):
    """Defer the scripts of every page but the search page, whose own scripts wait for none.

    The pages share Sphinx's script objects, so each page sets both ways what it needs.
    """
    deferred = pagename != "search"
    for script in context["script_files"]:
        if getattr(script, "filename", None):
            name, value = "defer", "defer"
        elif script.attributes.get("body", "").lstrip().startswith("DOCUMENTATION_OPTIONS"):
            name, value = "type", "module"  # runs in its turn among the deferred ones
        else:
            continue
        if deferred:
            script.attributes[name] = value
        else:
            script.attributes.pop(name, None)


def take_sheets(app, pagename, templatename, context, doctree):
    """Take the page's own style sheets into the one that the template links; others stay."""
    names = [local_name(sheet) for sheet in context["css_files"]]
    app.style_sheets += [name for name in names if name and name not in app.style_sheets]
    sheets = zip(context["css_files"], names, strict=True)
    context["css_files"] = [sheet for sheet, name in sheets if not name]


def local_name(sheet):
    """Return the path under _static of a local style sheet for all media, "" of any other."""
    name = str(getattr(sheet, "filename", ""))
    for_all = set(getattr(sheet, "attributes", ())) <= {"rel", "type"}
    return name.removeprefix("_static/") if for_all and name.startswith("_static/") else ""


def describe(app, pagename, templatename, context, doctree):
    """Give the page a description: its own `html_meta`, or else its first paragraph."""
    metatags = context.get("metatags", "")
    if doctree is not None and 'name="description"' not in metatags:
        paragraphs = (
            node
            for node in doctree.findall(nodes.paragraph)
            if isinstance(node.parent, (nodes.section, nodes.document))
        )
        text = " ".join(next(paragraphs, nodes.paragraph()).astext().split())
    elif doctree is None:
        text = context["docstitle"]
    else:
        return
    if len(text) > 160:
        text = text[:157].rsplit(" ", 1)[0] + "..."
    context["metatags"] = f'{metatags}\n<meta name="description" content="{escape(text)}" />'


def mend_body(app, pagename, templatename, context, doctree):
    """Repair what axe finds in the HTML of pandas, sphinxcontrib-bibtex and sphinx-proof."""
    body = context.get("body", "")
    body = re.sub(r'<th(?: class="head")?>(?:\s|</?p>)*</th>', "<td></td>", body)
    body = body.replace('role="doc-biblioentry"', 'role="listitem"')
    # sphinx-proof and sphinx-exercise give every box of a page the same id.
    body = re.sub(r'(<(?:div|section) [^>]*?) ?id="(?:proof|[a-z]+-content)"', r"\1", body)
    context["body"] = body


def name_toggles(app, pagename, templatename, context, doctree):
    """Give what opens and closes a part of the contents a name: the theme's is an icon alone."""
    make = context.get("generate_toctree_html")
    if make:
        named = f'<summary aria-label="{TOGGLE}">'
        context["generate_toctree_html"] = lambda *words, **options: str(
            make(*words, **options)
        ).replace("<summary>", named)


def words_of(text):
    """Return every word of a text that could be a class name."""
    return set(re.findall(r"[A-Za-z_][\w-]*", text))


def purge(css, words):
    """Return a style sheet without comments and without selectors whose classes are not in words.

    A selector stays when each class that it asks for occurs somewhere in a page or a script; this
    errs on the side of keeping.
    """
    tokens = iter(TOKEN.findall(css))

    def wanted(selector):
        return all(
            name.replace("\\", "") in words or COMPOSED.match(name)
            for name in CLASS.findall(NOT.sub("", selector))
        )

    def block():
        out, head = [], ""
        for token in tokens:
            if token.startswith("/*"):
                continue
            if token == "{":
                head = head.strip()
                inner = block()
                if head.startswith("@") or re.fullmatch(r"(from|to|[\d.]+%|,|\s)+", head):
                    if inner and not (head == "@font-face" and "/vendor/" in inner):
                        out.append(f"{head}{{{inner}}}")
                else:
                    selectors = [s for s in split_selectors(head) if wanted(s)]
                    if selectors and inner:
                        out.append(f"{','.join(selectors)}{{{inner}}}")
                head = ""
            elif token == "}":
                return "".join(out) + head
            elif token == ";":
                out.append(head + ";")
                head = ""
            else:
                head += token
        return "".join(out) + head

    return block()


def split_selectors(head):
    """Split a selector list at its commas, but not inside brackets."""
    return re.findall(r"(?:\([^()]*(?:\([^()]*\)[^()]*)*\)|\[[^\]]*\]|\\.|[^,])+", head)


def read_sheet(path, base):
    """Return a style sheet with its imports in place, its addresses relative to the folder base."""
    css = path.read_text(encoding="utf-8").removeprefix('@charset "UTF-8";')

    def rebase(match):
        return f"url({Path(os.path.relpath(path.parent / match[1], base)).as_posix()})"

    css = LOCAL_ADDRESS.sub(rebase, css)
    return IMPORT.sub(lambda match: read_sheet(path.parent / match[1], base), css)


def trim(app, exception):
    """Trim the copied theme once the pages are written."""
    if exception or app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for name in UNUSED_FILES:
        path = static / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    for path in static.rglob("*.map"):
        path.unlink()
    words = set()
    for path in [*Path(app.outdir).rglob("*.html"), *static.rglob("*.js")]:
        words |= words_of(path.read_text(encoding="utf-8"))
    import pydata_sphinx_theme

    theme = Path(pydata_sphinx_theme.__file__).parent / "theme/pydata_sphinx_theme/static"
    script = "scripts/pydata-sphinx-theme.js"
    mended = leave_scrollers_to_site_js((theme / script).read_text(encoding="utf-8"))
    write_if_new(static / "scripts" / "theme-purged.js", mended)
    (static / script).unlink(missing_ok=True)
    merge_sheets(static, [*THEME_SHEETS, *app.style_sheets], words)


def merge_sheets(static, names, words):
    """Write one style sheet for all pages: each sheet keeps a reader waiting.

    A build that writes no page copies no sheet either: then the one that is there still serves.
    """
    one, sheets = static / ONE_SHEET, [static / name for name in names]
    if not one.is_file() or all(sheet.is_file() for sheet in sheets):
        css = "\n".join(read_sheet(sheet, one.parent) for sheet in sheets)
        write_if_new(one, purge(css, words))
    for path in static.rglob("*.css"):
        if path != one:
            path.unlink()


def leave_scrollers_to_site_js(script):
    """Take from the theme's script the list of boxes that it makes tab stops where they scroll.

    It measures and marks them by turns, and each mark makes the browser lay the page out again:
    1.6 s in a chapter. Our own site.js does it when nothing else is to do.
    """
    mended, found = SCROLLERS.subn("[]", script)
    if found != 1:
        raise ValueError(
            f"the theme's script holds its list of scrolling boxes {found} times, not once: "
            "look at addTabStopsToScrollableElements in the installed theme, then at light.py"
        )
    return mended


def drop_stale_pages(app, exception):
    """Delete what an older build left of pages that the book has no more."""
    if exception or app.builder.format != "html":
        return
    outdir, names = Path(app.outdir), {*app.env.found_docs, "index", "search", "genindex"}
    for path in [*outdir.rglob("*.html"), *(outdir / "_sources").rglob("*.*")]:
        if path.is_dir():
            continue
        top = outdir / "_sources" if outdir / "_sources" in path.parents else outdir
        if path.relative_to(top).with_suffix("").as_posix() not in names:
            path.unlink()


def write_if_new(path, text):
    """Write a text file, but leave one that says the same untouched."""
    if not path.is_file() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def open_at_the_first_page(app, exception):
    """Write an index page that leads to the book's first page, by itself or by its link."""
    if exception or app.builder.format != "html":
        return
    target, title = f"{app.config.root_doc}.html", escape(app.config.html_title)
    page = (
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8" />'
        f'<meta http-equiv="refresh" content="0; url={target}" /><title>{title}</title></head>\n'
        f'<body><main><h1><a href="{target}">{title}</a></h1></main></body>\n</html>\n'
    )
    write_if_new(Path(app.outdir) / "index.html", page)


def setup(app):
    """Connect the steps; the theme's own run before them."""
    app.style_sheets = []
    app.connect("html-page-context", defer_scripts, priority=950)
    app.connect("html-page-context", describe, priority=950)
    app.connect("html-page-context", mend_body, priority=950)
    app.connect("html-page-context", name_toggles, priority=950)
    app.connect("html-page-context", take_sheets, priority=950)
    app.connect("build-finished", drop_stale_pages)
    app.connect("build-finished", trim, priority=900)  # behind those that copy their own files
    app.connect("build-finished", open_at_the_first_page, priority=100)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
