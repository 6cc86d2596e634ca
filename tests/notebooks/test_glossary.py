"""The glossary's terms: each explained once and in a sentence, each linked by the chapters."""

import json
import re
from collections import Counter

import pytest

from tests.notebooks import checks, numbers_in_prose
from tests.notebooks.test_notebooks import CHAPTERS, PAGES, each_notebook

TERMS = checks.glossary_terms(PAGES["glossary.md"][0])
LINK = re.compile(r"\[([^\]]+)\]\(glossary\.md#([\w-]+)\)")


def linked(text):
    """Count the links to each term."""
    return Counter(anchor for _, anchor in LINK.findall(text))


def test_the_terms_stand_in_their_order_and_once():
    text = PAGES["glossary.md"][0].partition("{.glossary}\n")[2]
    terms = re.findall(r"^(.+)\n: ", text, flags=re.M)
    assert len(terms) == len(TERMS) >= 40
    assert terms == sorted(terms, key=str.lower)


@pytest.mark.parametrize("anchor", sorted(TERMS))
def test_a_term_is_explained_in_a_sentence(anchor):
    term, explanation = TERMS[anchor]
    plain = re.sub(r"\{prf:ref\}`[\w-]+`|\$[^$]+\$", "x", explanation)
    assert re.fullmatch(r"[A-Z][^.]+\.", plain), f"{term}: one sentence, with a full stop"
    assert 4 < len(plain.split()) < 45, term
    assert numbers_in_prose.text_problems(explanation, {}) == []


def test_every_link_to_the_glossary_names_a_term():
    for name, (text, _) in PAGES.items():
        assert sorted(set(linked(text)) - set(TERMS)) == [], name
        assert len(LINK.findall(text)) == text.count("](glossary.md#"), name


def test_every_term_is_linked_by_a_chapter():
    used = {anchor for text, _ in CHAPTERS.values() for anchor in linked(text)}
    assert sorted(set(TERMS) - used) == []


@pytest.mark.parametrize("name", CHAPTERS)
def test_a_chapter_links_a_term_where_it_is_first_used_and_where_it_is_defined(name):
    text, labels = CHAPTERS[name]
    links = linked(text)
    assert len(links) >= 5
    bold = Counter(re.findall(r"\*\*\[[^\]]+\]\(glossary\.md#([\w-]+)\)\*\*", text))
    assert [anchor for anchor, times in bold.items() if times > 1] == [], "defined twice"
    assert [anchor for anchor, times in links.items() if times - bold[anchor] > 1] == [], (
        "not at the first use only"
    )
    defined = {
        anchor
        for anchor, (_, explanation) in TERMS.items()
        if set(re.findall(r"\{prf:ref\}`([\w-]+)`", explanation)) & set(labels)
    }
    assert sorted(defined - set(links)) == [], "defined here, but not linked"


@each_notebook
def test_terms_are_linked_in_running_text_only(path):
    """A link in a heading would enter its anchor; roles and directives would show raw elsewhere."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n\n".join(checks.text_of(c["source"]) for c in cells if c["cell_type"] == "markdown")
    assert not re.search(r"^#+ .*glossary\.md#", text, flags=re.M)
    assert not re.search(r"^:::.*glossary\.md#", text, flags=re.M)
    assert not re.search(r"\{(?:term|index)\}", text)


GLOSSARY = (
    "# Glossary\n\nText\n: no term\n\n{.glossary}\na term\n: An explanation\nin two lines.\n\n"
)


def test_terms_are_read_with_their_anchors():
    terms = checks.glossary_terms(GLOSSARY + "Jo's other-term\n: Another.\n")
    assert terms == {
        "term-a-term": ("a term", "An explanation\nin two lines."),
        "term-jos-other-term": ("Jo's other-term", "Another."),
    }
    pages = {"glossary.md": (GLOSSARY, [])}
    assert checks.link_problems("[x](glossary.md#term-a-term)", pages) == []
    assert len(checks.link_problems("[x](glossary.md#term-no-term)", pages)) == 1
