r"""The linter of the numbers in a chapter's prose: each is marked, or says why it is not.

A number that a cell prints is followed by a mark, `17<!--=name-->`; `checks.mark_problems` compares
the two. Any other number is followed by a reason that no reader sees: `100<!--:in a-cell-->` where
the number is typed in the code of that cell (which is verified here), or one of three kinds with a
few words: `71 %<!--:exact: one over the root of two-->`, `90<!--:source: section 3-->`,
`5<!--:given: a choice of this sentence-->`.

Neither is asked for
* mathematics, code, roles, labels and the targets of links;
* numbers that name a thing: chapter 6, tasks 2 and 4, document 003, E000-12, ps06, the items of a
  list, (2011), the 0–1 loss;
* the minutes of a chapter's **Time:**;
* 0 and 1, the constants of margins and signs, unless they count or measure (0 of, 1 %, 0 steps);
* numbers in words.

Mathematics is no hiding place: the rounded number after `\approx`, and a formula that is one number
of more than one digit, are prose. Alt texts and captions hold no comments: a number in them is one
that the code up to there types or prints.
"""

import ast
import re
from decimal import Decimal
from functools import cache

from tests.notebooks.checks import MARK, text_of, texts

VALUE = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
POWER = r"10\^(?:\{-?\d+\}|\d)"
TEX = rf"-?(?:(?:{VALUE})(?:\\cdot\s*{POWER})?|{POWER})"
KINDS = ("given", "exact", "source")
REASONED = re.compile(
    rf"(?:(?<![\w.,])(?P<plain>{VALUE})|\$(?P<tex>{TEX})\$)?(?P<percent>\s?%)?<!--:(?P<reason>.*?)-->",
    re.S,
)
NUMBER = re.compile(rf"(?<![\w.,])(?P<number>{VALUE})(?:\s?%)?(?![\w]|[.,]\d)")
LONE = re.compile(rf"(?=.*(?:\.|\^|\d\d)){TEX}")
ROUNDED = re.compile(r"\\approx\s*-?(?=\d)(?!\d+(?:[A-Za-z^_]|\\[a-z]+))")
FORMULA = re.compile(r"(?<!\\)\$([^$]+)\$")

HIDDEN = (
    re.compile(r"^(`{3,}).*?^\1", re.S | re.M),
    re.compile(r"(?:\{[\w:]+\})?`[^`]*`"),
    re.compile(r"(?<=\])\([^)\s]*\)"),
    re.compile(r"^:(?:label|name|class):.*$", re.M),
    re.compile(r"^:::\{solution\}.*$", re.M),
    re.compile(r"^\([\w-]+\)=$|(?<=\$\$) \([\w-]+\)$", re.M),
    re.compile(r"^\*\*Time:\*\*.*$", re.M),
)
ONE_THING = (
    "chapter|section|part|task|problem|problem set|panel|column|algorithm|theorem|lemma|corollary"
    "|proposition|definition|exercise|example|equation|figure|rule|line|inequality|bound"
)
MORE_THINGS = "|".join(re.sub("y$", "ie", thing) + "s" for thing in ONE_THING.split("|"))
PLACE = r"\(?[1-9]\d?(?:\.[1-9]\d?)*\)?(?![\d%]|[.,]\d|\s%)"
NAMES = (
    re.compile(r"\bE00[0-4]-\d\d\b|\bps\d\d\b|\b0–1 loss\b|\((?:1[5-9]|20)\d\d\)"),
    re.compile(r"\bdocuments?\s+00[0-4](?:(?:,| and|, and)\s+00[0-4])*", re.I),
    re.compile(r"\bdo 00[0-4] and 00[0-4]"),
    re.compile(r"^\s*(?:[*-] )?\d\.(?=\s)|\*\d\.\*", re.M),
    re.compile(rf"\b(?:{ONE_THING})\s+\[?{PLACE}", re.I),
    re.compile(
        rf"\b(?:{MORE_THINGS})\s+\[?{PLACE}(?:(?:\s*,|\s+and|\s+or|\s+to)\s+{PLACE})*",
        re.I,
    ),
)
COUNTED = "runs|steps|passes|draws|examples|images|points|errors|mistakes|violations|cases|times"
CONSTANT = re.compile(rf"(?<![\w.,])[01](?![\w%]|[.,]\d|\s%|\s+(?:out )?of\b|\s+(?:{COUNTED})\b)")


def blank(match):
    """Return the spaces that take the place of what was found, so that all else keeps its own."""
    return re.sub(r"[^\n]", " ", match.group())


def value(number):
    """Return the value of a typed number, in TeX or with commas."""
    mantissa, _, power = number.replace(",", "").partition("10^")
    return Decimal(mantissa.removesuffix("\\cdot") or 1).scaleb(int(power.strip("{}") or 0))


@cache
def typed_numbers(source):
    """Return the numbers that a cell's code types, also as powers like 10**6."""
    found = set()
    for node in ast.walk(ast.parse(re.sub(r"^\s*[%!].*$", "", source, flags=re.M))):
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float() as number):
                found.add(Decimal(str(number)))
            case ast.BinOp(ast.Constant(value=base), ast.Pow(), ast.Constant(value=int() as power)):
                found.add(Decimal(str(base)) ** power)
    return found


def reason_problem(match, sources):
    """Say what is wrong with a number and its reason, or return None."""
    number, reason = match["plain"] or match["tex"], match["reason"].strip()
    if number is None:
        return f"no number stands before the reason {reason!r}"
    cell = re.fullmatch(r"in ([\w-]+)", reason)
    if not cell:
        kind, _, words = reason.partition(":")
        if kind not in KINDS or len(words.strip()) < 5:
            return f"{number}: {reason!r} is no reason: in CELL, or {', '.join(KINDS)}: and words"
        return None
    if cell[1] not in sources:
        return f"{number}: there is no code cell {cell[1]}"
    wanted = {value(number), value(number) / 100} if match["percent"] else {value(number)}
    if not wanted & typed_numbers(sources[cell[1]]):
        return f"{number} is not typed in {cell[1]}"
    return None


def text_problems(text, sources):
    """Find the numbers of a text without mark or reason, and the reasons that do not hold.

    `sources` maps the ids of the notebook's code cells to their code.
    """
    found = []
    for heading in re.findall(r"^#+ .*<!--.*$", text, flags=re.M):
        found.append(f"a comment would enter the anchor of {heading!r}: write the number in words")
    whole = text
    for pattern in HIDDEN:
        text = pattern.sub(blank, text)
    text = MARK.sub(blank, text)
    for match in REASONED.finditer(text):
        problem = reason_problem(match, sources)
        found += [problem] if problem else []
    text = REASONED.sub(blank, text)
    text = re.sub(r"<!--.*?-->", blank, text, flags=re.S)
    text = re.sub(r"\$\$.*?\$\$", blank, text, flags=re.S)
    bare = []
    for formula in FORMULA.finditer(text):
        if LONE.fullmatch(formula[1]):
            bare.append(formula)
        found += [
            f"take the rounded number out of the formula {formula[0]}, and mark it"
            for _ in ROUNDED.findall(formula[1])
        ]
    text = FORMULA.sub(blank, text)
    for pattern in (*NAMES, CONSTANT):
        text = pattern.sub(blank, text)
    for match in sorted([*bare, *NUMBER.finditer(text)], key=lambda match: match.start()):
        around = whole[max(0, match.start() - 40) : match.end() + 30]
        found.append(
            f"{match.group()} has neither mark nor reason: ...{' '.join(around.split())}..."
        )
    return found


def sources_of(notebook):
    """Map the ids of the code cells to their code."""
    return {
        cell["id"]: text_of(cell["source"])
        for cell in notebook["cells"]
        if cell["cell_type"] == "code"
    }


def prose_problems(notebook):
    """Lint the text of all markdown cells of a notebook."""
    sources = sources_of(notebook)
    return [
        f"{cell['id']}: {problem}"
        for cell in notebook["cells"]
        if cell["cell_type"] == "markdown"
        for problem in text_problems(text_of(cell["source"]), sources)
    ]


def picture_problems(notebook):
    """Find numbers in alt texts and captions that no cell up to their own types or prints."""
    found, known = [], {Decimal(0), Decimal(1)}
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        known |= typed_numbers(text_of(cell["source"]))
        known |= {value(n) for text in texts(cell) for n in re.findall(VALUE, text)}
        shown = cell["metadata"].get("mystnb", {})
        words = [shown.get("image", {}).get("alt", ""), shown.get("figure", {}).get("caption", "")]
        found += [
            f"{cell['id']}: {match.group()} of its alt text or caption is typed and printed nowhere"
            for match in NUMBER.finditer(" ".join(words))
            if value(match["number"]) not in known
        ]
    return found
