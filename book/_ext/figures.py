"""Bring the interactive figures' script to the pages that hold a figure, and to no other.

A figure is a `div` with `data-figure`, put out by `pegasos_lib.widgets` as `text/html`; the
script mounts it with no kernel. The widget state that myst-nb would store in the page, with a
copy of the front end for each figure, is dropped: nothing on the page reads it.
"""

import hashlib
import importlib.util
from pathlib import Path

from sphinx.util import logging

SCRIPT = "figures.js"
logger = logging.getLogger(__name__)


def find_script():
    """Return the path of the built bundle in the installed library."""
    package = Path(importlib.util.find_spec("pegasos_lib").origin).parent
    return package / "widgets" / "static" / SCRIPT


def add_static_folder(app, config):
    """Let Sphinx copy the bundle, beside the site's own static files."""
    config.html_static_path = [*config.html_static_path, str(find_script())]


def drop_widget_state(app, doctree):
    """Forget the copy of the widgets' state that myst-nb keeps for html-manager."""
    metadata = app.env.nb_metadata.get(app.env.docname, {})
    metadata.get("js_files", {}).pop("ipywidgets_state", None)


def add_script(app, pagename, templatename, context, doctree):
    """Put the script behind the page's first figure, if it has one.

    There it runs as soon as the figure has been read: a chapter's formulas take a browser seconds.
    """
    body = context.get("body", "")
    figure = body.find("data-figure=")
    if figure < 0:
        return
    if not find_script().is_file():
        logger.warning(
            "a figure stands here, but %s is not built: run `make js`", SCRIPT, location=pagename
        )
        return
    digest = hashlib.sha256(find_script().read_bytes()).hexdigest()[:8]
    address = f"{context['pathto'](f'_static/{SCRIPT}', resource=True)}?v={digest}"
    end = body.index("</div>", figure) + len("</div>")  # a figure's still picture holds no div
    context["body"] = f'{body[:end]}<script src="{address}"></script>{body[end:]}'


def setup(app):
    """Connect the three steps."""
    app.connect("config-inited", add_static_folder)
    app.connect("doctree-read", drop_widget_state)
    app.connect("html-page-context", add_script)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
