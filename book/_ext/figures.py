"""Bring the interactive figures' scripts to the pages that hold a figure, and to no other.

A figure is a `div` with `data-figure`, put out by `pegasos_lib.widgets` as `text/html`; its
script, behind the one that all share, mounts it with no kernel. A figure of measured results finds
them in one more script, made here of the committed JSON: a page opened from disk may fetch nothing,
but may load a script. The widget state that myst-nb would
store in the page, with a copy of the front end for each figure, is dropped: nothing reads it.
"""

import hashlib
import importlib.util
import json
import re
from pathlib import Path

from sphinx.util import logging

SHARED = "figures"
# The kinds of figures that show what a long run measured, which book/_data/<kind>.json holds.
MEASURED = ("race",)
FIGURE = re.compile(r'data-figure="([a-z]+)"')
# A browser that knows this link shows the page when the first figure stands: it would otherwise lay
# out and paint what is above several times first, which holds the figure up by a third.
DRAWN = '<span id="figure-drawn" hidden></span>'
WAIT = '<link rel="expect" href="#figure-drawn" blocking="render" />'
logger = logging.getLogger(__name__)


def scripts():
    """Return the paths of the built scripts in the installed library, by name."""
    package = Path(importlib.util.find_spec("pegasos_lib").origin).parent
    return {path.stem: path for path in (package / "widgets" / "static").glob("*.js")}


def results_scripts(app):
    """Return what carries measured results: by name the script's path, and the JSON's."""
    names = {kind: Path(app.srcdir, "book", "_data", f"{kind}.json") for kind in MEASURED}
    folder = Path(app.outdir).parent / ".figures"
    return {
        f"{kind}-data": (folder / f"{kind}-data.js", source)
        for kind, source in names.items()
        if source.exists()
    }


def results_script(kind, source):
    """Return the script that hands the results of a JSON file to the figures of a kind."""
    results = json.loads(source.read_text(encoding="utf-8"))["results"]
    text = json.dumps({kind: results}, separators=(",", ":"), ensure_ascii=False)
    return f"globalThis.PegasosData=Object.assign(globalThis.PegasosData??{{}},{text});\n"


def add_static_folder(app, config):
    """Let Sphinx copy the scripts, beside the site's own static files."""
    paths = list(scripts().values())
    for name, (path, source) in results_scripts(app).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(results_script(name.removesuffix("-data"), source), encoding="utf-8")
        paths.append(path)
    config.html_static_path = [*config.html_static_path, *map(str, paths)]


def drop_widget_state(app, doctree):
    """Forget the copy of the widgets' state that myst-nb keeps for html-manager."""
    metadata = app.env.nb_metadata.get(app.env.docname, {})
    metadata.get("js_files", {}).pop("ipywidgets_state", None)


def add_scripts(app, pagename, templatename, context, doctree):
    """Put the script of each kind of figure behind the page's first one, the shared one before it.

    There it runs as soon as the figure has been read: a chapter's formulas take a browser seconds.
    Results come before the script that draws them.
    """
    body, built, loaded = context.get("body", ""), scripts(), []
    built |= {name: path for name, (path, _) in results_scripts(app).items()}
    for kind in dict.fromkeys(FIGURE.findall(body)):
        names = (SHARED, f"{kind}-data", kind) if kind in MEASURED else (SHARED, kind)
        wanted = [name for name in names if name not in loaded]
        missing = [f"{name}.js" for name in wanted if name not in built]
        if missing:
            names = " and ".join(missing)
            logger.warning(
                "a figure stands here, but %s is not built: run `make js`, or for results the "
                "script of benchmarks/",
                names,
                location=pagename,
            )
            continue
        loaded += wanted
        figure = body.index(f'data-figure="{kind}"')
        end = body.index("</div>", figure) + len("</div>")  # a still picture holds no div
        tags = "".join(tag(context["pathto"], built[name]) for name in wanted)
        if SHARED in wanted:
            tags += DRAWN
            context["metatags"] = context.get("metatags", "") + WAIT
        body = body[:end] + tags + body[end:]
    context["body"] = body


def tag(pathto, script):
    """Return the element that loads a script, under an address that changes with it."""
    digest = hashlib.sha256(script.read_bytes()).hexdigest()[:8]
    return f'<script src="{pathto(f"_static/{script.name}", resource=True)}?v={digest}"></script>'


def setup(app):
    """Connect the three steps."""
    app.connect("config-inited", add_static_folder)
    app.connect("doctree-read", drop_widget_state)
    app.connect("html-page-context", add_scripts)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
