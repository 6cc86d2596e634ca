"""Make pages of the problem sets' student versions, and say on each where to get it.

The pages are `course/release/SET/SET.ipynb`, which git ignores: they are written from course/source
before Sphinx looks for files. So what is rendered, downloaded and opened on Binder is one file, and
the source, which Sphinx would publish under `_sources` like any page's, is never a page. The pages
are not run: a student's version raises an error in every cell that is still to write.
"""

import sys
from html import escape
from pathlib import Path

from sphinx.util import logging

RELEASE = "course/release/"
logger = logging.getLogger(__name__)


def write_pages(app, config):
    """Write the student versions that are missing or changed, and drop those without a source."""
    root = Path(app.srcdir)
    if not (root / "course" / "source").is_dir():
        return
    if str(root) not in sys.path:
        sys.path.append(str(root))
    from course.release import drop_others, release, sets_in

    names = sets_in(root / "course")
    for name in names:
        release(root / "course", name)
    drop_others(root / "course")
    logger.info("problem sets: %s student versions", len(names))


def chapter_of(name, numbers):
    """Return the page and the number of the chapter that a set such as ps06 belongs to, or None."""
    return next(((page, n) for page, n in numbers.items() if name == f"ps{n:02d}"), None)


def say_where_to_get_it(app, pagename, templatename, context, doctree):
    """Put links under the title: the notebook itself, Binder where there is one, the chapter.

    The theme's buttons have the same addresses, as icons.
    """
    if not pagename.startswith(RELEASE):
        return
    name, pathto = pagename.rpartition("/")[2], context["pathto"]
    source = pathto(f"_sources/{context['sourcename']}", resource=True)
    links = [f'<a href="{escape(source)}" download="{name}.ipynb">Download the notebook</a>']
    links += [
        f'<a href="{escape(button["url"])}">Open it on Binder (mybinder.org)</a>'
        for group in context.get("header_buttons", ())
        for button in group.get("buttons", ())
        if button.get("label") == "binder-button"
    ]
    chapter = chapter_of(name, app.config.chapter_numbers)
    if chapter:
        page, number = chapter
        links.append(f'<a href="{pathto(page)}">Read chapter {number}</a>')
    title, end, rest = context["body"].partition("</h1>")
    context["body"] = f'{title}{end}\n<p class="problem-set-links">{" · ".join(links)}</p>{rest}'


def setup(app):
    """Write the pages before the contents are read, and link them when the theme is done."""
    app.connect("config-inited", write_pages, priority=1)
    app.connect("html-page-context", say_where_to_get_it, priority=940)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
