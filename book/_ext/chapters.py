"""Number the chapters as the book does, though not every chapter is there yet.

`chapter_numbers` in `_config.yml` says which number a page has. Sphinx numbers the pages of each
part from 1; here the first place of each of its numbers is replaced before figures, theorems and
equations are numbered after them, so that Theorem 2 of chapter 6 is 6.2 everywhere.
"""

from docutils import nodes
from sphinx_external_toc.collectors import TocTreeCollectorWithStyles

_assign_section_numbers = TocTreeCollectorWithStyles.assign_section_numbers


def assign_section_numbers(collector, env):
    """Assign the numbers, the chapters' own in front; return the pages whose numbers changed."""
    before = env.toc_secnumbers
    _assign_section_numbers(collector, env)
    for docname, chapter in env.config.chapter_numbers.items():
        numbers = env.toc_secnumbers.get(docname, {})
        for anchor, number in numbers.items():
            if number:
                numbers[anchor] = (chapter, *number[1:])
        if docname in env.tocs:
            for reference in env.tocs[docname].findall(nodes.reference):
                _renumber(reference, chapter)
            _renumber(env.titles[docname], chapter)
    return [name for name, new in env.toc_secnumbers.items() if new != before.get(name)]


def _renumber(node, chapter):
    if node.get("secnumber"):
        node["secnumber"] = [chapter, *node["secnumber"][1:]]


def setup(app):
    """Register the setting and take the place of the table of contents' own numbering."""
    app.add_config_value("chapter_numbers", {}, "env", dict)
    TocTreeCollectorWithStyles.assign_section_numbers = assign_section_numbers
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
