"""Let plain Markdown links lead to the glossary's terms, and fill the index from these links.

A chapter links a term as `[margins](glossary.md#term-margin)`, which reads well wherever a notebook
is opened, where the role {term} would show raw. The terms become known to MyST as if they were
headings, and the place of each link becomes an entry of the index, under its term and the chapter.
"""

import re

from docutils import nodes
from sphinx import addnodes
from sphinx.transforms import SphinxTransform

PREFIX = "term-"


def slug(term):
    """Return the anchor of a term, made as that of a heading."""
    return PREFIX + re.sub(r"[^\w\- ]", "", term.strip().lower()).replace(" ", "-")


class Terms(SphinxTransform):
    """Give the terms of a page their anchors, and its links to terms their entries of the index."""

    default_priority = 840  # the domains take the entries at 850

    def apply(self, **kwargs):
        """Change the document."""
        slugs = self.env.metadata[self.env.docname].setdefault("myst_slugs", {})
        for term in self.document.findall(nodes.term):
            for index in term.findall(addnodes.index):  # only a glossary's terms have one
                name = index["entries"][0][1]
                slugs[slug(name)] = (term.line, term["ids"][0], name)
        links = [
            link
            for link in self.document.findall(addnodes.pending_xref)
            if str(link.get("reftargetid") or "").startswith(PREFIX)
        ]
        for link in links:
            self.enter(link)

    def enter(self, link):
        """Enter the place of a link into the index: the term, and under it the chapter.

        A link in bold type stands where the chapter defines the term, and is the main entry.
        """
        term = link["reftargetid"]  # as the glossary spells it: see `spell_terms`
        title = next(self.document.findall(nodes.title)).astext()
        number = self.config.chapter_numbers.get(self.env.docname)
        main = "main" if isinstance(link.parent, nodes.strong) else ""
        place = "definition" if main else "use"
        target = nodes.target("", "", ids=[f"{place}-of-{term.removeprefix(PREFIX)}"])
        entry = f"{term}; {number} {title}" if number else f"{term}; {title}"
        index = addnodes.index(entries=[("single", entry, target["ids"][0], main, None)])
        block = link.parent
        while not isinstance(block.parent, nodes.section | nodes.document | nodes.Admonition):
            block = block.parent
        at = block.parent.index(block)
        block.parent.insert(at, [index, target])


def note_reading(app, env, docnames):
    """Remember whether any page is read."""
    app.reads_pages = bool(docnames)


def spell_terms(app, env):
    """Write the terms into the index as the glossary does, once all pages are read.

    Return the pages to be written again: Sphinx's search forgets the terms of those that are not.
    """
    names = {
        anchor: name
        for page in env.metadata.values()
        for anchor, (_, _, name) in page.get("myst_slugs", {}).items()
        if anchor.startswith(PREFIX)
    }
    for entries in env.domaindata["index"]["entries"].values():
        for place, (kind, entry, *more) in enumerate(entries):
            term, semicolon, chapter = entry.partition("; ")
            entries[place] = (kind, names.get(term, term) + semicolon + chapter, *more)
    slugs = {name: page.get("myst_slugs", {}) for name, page in env.metadata.items()}
    with_terms = [name for name, found in slugs.items() if any(s.startswith(PREFIX) for s in found)]
    return with_terms if app.reads_pages else []


def keep_out_of_search(app, doctree, docname):
    """Drop the links' entries from the page, once the index has them.

    The search would list each as a result of its own, whose place holds no text to show.
    """
    for index in list(doctree.findall(addnodes.index)):
        if index["entries"][0][1].startswith(PREFIX):
            index.parent.remove(index)


def order_chapters(app, pagename, templatename, context, doctree):
    """Put the chapters under a term of the index into their order, 2 before 10."""
    for _, entries in context.get("genindexentries", ()):
        for _, (_, chapters, _) in entries:
            chapters.sort(key=lambda chapter: int((re.match(r"\d+", chapter[0]) or [0])[0]))


def setup(app):
    """Connect the transform, and what follows when all pages are read."""
    app.add_transform(Terms)
    app.connect("env-before-read-docs", note_reading)
    app.connect("env-updated", spell_terms)
    app.connect("doctree-resolved", keep_out_of_search)
    app.connect("html-page-context", order_chapters)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
