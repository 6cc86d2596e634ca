"""What is asked of a stored notebook and of the pages that refer to it.

Every function returns a list of sentences, one for each fault, so that the guards can be tried on
broken examples and a failing test says what is wrong.
"""

import ast
import importlib
import re
from collections import Counter
from decimal import Decimal

DROPPED = ("image/png", "image/jpeg", "application/vnd.jupyter.widget-view+json")
RANDOM_ID = re.compile(r"[0-9a-f]{8}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
RECORDED = re.compile(r"([A-Za-z]\w*) = (-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)")
NUMBER = r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?|-?\d+(?:\.\d+)?(?:e-?\d+)?"
MARK = re.compile(
    rf"(?:(?P<plain>{NUMBER})|\$(?P<tex>{NUMBER})(?:\\cdot\s*10\^\{{?(?P<power>-?\d+)\}}?)?\$)?"
    r"(?P<percent>\s?%)?<!--=(?P<name>[\w:]+)-->"
)
UNSTABLE = {
    "a memory address": re.compile(r"\b0x[0-9a-f]{6,}|<[\w. ]+ object at"),
    "a NumPy repr": re.compile(r"\bnp\.\w+\("),
    "a path of one machine": re.compile(r"(?<![\w.])/(?:home|root|tmp|usr|var|Users)/"),
    "a duration": re.compile(r"Wall time|CPU times|per loop|\b\d+(?:\.\d+)?\s?(?:µs|ms|seconds)\b"),
    "a date": re.compile(r"\b20\d\d-\d\d-\d\d\b"),
    "more digits than machines agree on": re.compile(r"\d\.\d{11,}"),
}
THEOREMS = ("theorem", "lemma", "corollary", "proposition")


def text_of(part):
    """Return a field of a notebook that may be a string or a list of lines."""
    return part if isinstance(part, str) else "".join(part)


def texts(cell):
    """Yield the plain texts that a code cell shows."""
    for output in cell.get("outputs", []):
        yield text_of(output.get("text", ""))
        yield text_of(output.get("data", {}).get("text/plain", ""))


def must_show(source):
    """Tell whether a cell is sure to have an output: it prints, draws or ends in a bare name."""
    tree = ast.parse(re.sub(r"^\s*[%!].*$", "", source, flags=re.M))
    body = list(tree.body)
    if body and isinstance(body[-1], ast.Expr) and isinstance(body[-1].value, ast.Name):
        return True
    while body:
        node = body.pop()
        if isinstance(node, ast.For | ast.With):
            body += node.body
        call = node.value if isinstance(node, ast.Expr) else None
        if isinstance(call, ast.Call) and ast.unparse(call.func) in ("print", "plt.show"):
            return True
    return False


def storage_problems(notebook):
    """Find what was not run, not stored, or stored though it changes from run to run."""
    found = []
    if set(notebook["metadata"]) - {"kernelspec", "language_info"}:
        found.append(f"metadata holds {sorted(notebook['metadata'])}")
    if notebook["metadata"].get("kernelspec", {}).get("name") != "python3":
        found.append("the kernel is not python3")
    if set(notebook["metadata"].get("language_info", {})) - {"name"}:
        found.append("language_info names versions")
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    if not code:
        found.append("there is no code")
    for number, cell in enumerate(code, start=1):
        name, source = cell.get("id"), text_of(cell["source"])
        if cell["execution_count"] != number:
            found.append(
                f"{name}: its count is {cell['execution_count']}, not {number}: not run in order"
            )
        if not cell["outputs"] and must_show(source):
            found.append(f"{name}: its output was stripped")
        if "execution" in cell["metadata"]:
            found.append(f"{name}: times of execution are stored")
        for output in cell["outputs"]:
            if output.get("name") == "stderr":
                found.append(f"{name}: stderr {text_of(output['text'])[:80]!r}")
            if output["output_type"] == "error":
                found.append(f"{name}: {output['ename']}: {output['evalue']}")
            found += [f"{name}: {m} is stored" for m in DROPPED if m in output.get("data", {})]
    return found


def id_problems(notebook):
    """Find cell ids that are missing, repeated or random."""
    ids = [cell.get("id", "") for cell in notebook["cells"]]
    found = [f"the id {i!r} stands {n} times" for i, n in Counter(ids).items() if n > 1]
    for i in ids:
        if not re.fullmatch(r"[\w-]{1,64}", i):
            found.append(f"the id {i!r} is not valid")
        elif RANDOM_ID.fullmatch(i):
            found.append(f"the id {i} is random: name the cell")
    return found


def determinism_problems(notebook):
    """Find texts in the outputs that change from run to run or between machines."""
    return [
        f"{cell.get('id')}: {what} in {match.group()!r}"
        for cell in notebook["cells"]
        for text in texts(cell)
        for what, pattern in UNSTABLE.items()
        for match in [pattern.search(text)]
        if match
    ]


def picture_problems(notebook):
    """Find pictures without words for those who do not see them, or without a short caption."""
    found = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code" or "plt.show()" not in text_of(cell["source"]):
            continue
        mystnb = cell["metadata"].get("mystnb", {})
        if len(mystnb.get("image", {}).get("alt", "")) < 40:
            found.append(f"{cell['id']}: no alt text that describes the picture")
        if not 3 <= len(mystnb.get("figure", {}).get("caption", "").split()) <= 8:
            found.append(f"{cell['id']}: no caption of about six words")
    return found


def markup_problems(notebook):
    """Find text that would be shown broken in one of the places where a notebook is read."""
    found = []
    for cell in notebook["cells"]:
        if cell["cell_type"] != "markdown":
            continue
        text, name = text_of(cell["source"]), cell.get("id")
        if re.search(r"^\s*`{3,}\{", text, flags=re.M):
            found.append(f"{name}: a directive is fenced with backticks")
        if re.search(r"\\(?:newcommand|renewcommand|def)\b", text):
            found.append(f"{name}: a TeX macro is defined")
        if re.search(r"(?<!\n)\n\$\$(?!\$)(?:(?!\$\$).)*\$\$ \(", text, flags=re.S):
            found.append(f"{name}: a labelled formula needs an empty line before it")
        if len(re.findall(r"^:{3,}\{", text, flags=re.M)) != len(
            re.findall(r"^:{3,}$", text, flags=re.M)
        ):
            found.append(f"{name}: a colon fence is not closed")
    return found


def recorded_numbers(notebook):
    """Return the numbers that the outputs record as `name = value`, and the faults among them."""
    values, found = {}, []
    for cell in notebook["cells"]:
        for output in cell.get("outputs", []):
            for line in text_of(output.get("text", "")).splitlines():
                match = RECORDED.fullmatch(line)
                if match and match[1] in values:
                    found.append(f"{match[1]} is recorded twice")
                elif match:
                    values[match[1]] = match[2]
    return values, found


def mark_problems(text, recorded):
    """Compare every number typed before a mark `<!--=name-->` with the one that was recorded."""
    found = []
    for match in MARK.finditer(text):
        name, typed = match["name"], match["plain"] or match["tex"]
        if typed is None:
            found.append(f"{name}: there is no number before the mark")
        elif name not in recorded:
            found.append(f"{name}: no output records it")
        else:
            number = Decimal(typed.replace(",", "")).scaleb(
                int(match["power"] or 0) - (2 if match["percent"] else 0)
            )
            value, unit = Decimal(recorded[name]), number.as_tuple().exponent
            if unit < value.as_tuple().exponent:
                found.append(f"{name}: {typed} has more digits than the recorded {value}")
            elif abs(number - value) > Decimal(1).scaleb(unit) / 2:
                found.append(f"{name}: the text says {match[0]}, the output {value}")
    if text.count("<!--=") != len(MARK.findall(text)):
        found.append("a mark is not of the form <!--=name-->")
    return found


def prose(notebook):
    """Return the text of all markdown cells."""
    cells = (cell for cell in notebook["cells"] if cell["cell_type"] == "markdown")
    return "\n\n".join(text_of(cell["source"]) for cell in cells)


def slug(heading):
    """Return the anchor of a heading, as GitHub and myst-parser make it."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def glossary_terms(text):
    """Map the anchors of the terms that a page explains to (term, explanation)."""
    glossary = text.partition("\n{.glossary}\n")[2]
    entries = re.findall(r"^(\S.*)\n: (.+(?:\n\S.*)*)", glossary, flags=re.M)
    return {f"term-{slug(term)}": (term, explanation) for term, explanation in entries}


def anchors(text):
    """Return the anchors of the headings of a page, and of the terms that it explains."""
    headings = re.findall(r"^#{1,3} (.+)$", text, flags=re.M)
    return {slug(heading) for heading in headings} | set(glossary_terms(text))


def labels(text, notebook=None):
    """Return what a page defines as a target: labels, names, and the names of its pictures."""
    found = re.findall(r"^:(?:label|name): *(\S+)$", text, flags=re.M)
    found += re.findall(r"^\(([\w-]+)\)=$", text, flags=re.M)
    found += re.findall(r"\$\$ \(([\w-]+)\)", text)
    for cell in (notebook or {}).get("cells", []):
        name = cell["metadata"].get("mystnb", {}).get("figure", {}).get("name")
        found += [name] if name else []
    return found


def theorem_labels(text):
    """Return the labels of what a page states and proves."""
    kinds = "|".join(THEOREMS)
    return re.findall(rf"^:::\{{prf:(?:{kinds})\}}.*\n:label: *(\S+)$", text, flags=re.M)


def link_problems(text, pages):
    """Find links that lead nowhere; `pages` maps file names to (text, labels)."""
    known = {label for _, defined in pages.values() for label in defined}
    found = [
        f"{label} is no label of the book"
        for label in re.findall(r"\{(?:prf:ref|ref|numref|eq)\}`([\w-]+)`", text)
        if label not in known
    ]
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        page, _, anchor = target.partition("#")
        if "://" in page:
            continue
        if page and page not in pages:
            found.append(f"{page} is no page of the book")
        elif page and anchor and anchor not in anchors(pages[page][0]):
            found.append(f"{page} has no heading #{anchor}")
        elif not page and anchor not in known | anchors(text):
            found.append(f"#{anchor} is no label of the book")
    return found


def map_entries(text):
    """Return the entries of the theorem map: a label, and what stands behind each bullet."""
    parts = re.split(r"^\{prf:ref\}`([\w-]+)`", text, flags=re.M)
    for label, body in zip(parts[1::2], parts[2::2], strict=True):
        yield label, dict(re.findall(r"^- (\w+): (.+)$", body, flags=re.M))


def importable(name):
    """Tell whether a dotted name can be imported, with the attributes of a class at its end."""
    parts = name.split(".")
    for split in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:split]))
        except ModuleNotFoundError:
            continue
        for part in parts[split:]:
            if not hasattr(thing, part):
                return False
            thing = getattr(thing, part)
        return True
    return False


def has_test(root, test_id):
    """Tell whether `file::name` is a test that pytest collects."""
    path, _, name = test_id.partition("::")
    if not name.startswith("test_") or not re.fullmatch(r"(?:.*/)?test_\w+\.py", path):
        return False
    if not (root / path).is_file():
        return False
    body = ast.parse((root / path).read_text(encoding="utf-8")).body
    return name in {node.name for node in body if isinstance(node, ast.FunctionDef)}


def theorem_map_problems(text, stated, cell_ids, kinds, root):
    """Check the theorem map: `{prf:ref}` entries with Library, Check, Test, Figure and Source.

    Parameters
    ----------
    text : str
    stated : list of str
        Labels of the theorems, lemmas, corollaries and propositions of the chapters.
    cell_ids : set of str
        "notebook.ipynb#id" of all code cells.
    kinds : set of str
        Registered kinds of figures.
    root : Path
        Where the tests' paths start.
    """
    found, mapped = [], []
    for label, entry in map_entries(text):
        mapped.append(label)
        missing = {"Library", "Check", "Test", "Source"} - set(entry)
        found += [f"{label}: {word} is missing" for word in sorted(missing)]
        library, check, test, figure = (
            re.findall(r"`([^`]+)`", entry.get(word, ""))
            for word in ("Library", "Check", "Test", "Figure")
        )
        found += [f"{label}: {name} cannot be imported" for name in library if not importable(name)]
        found += [f"{label}: there is no cell {cell}" for cell in check if cell not in cell_ids]
        found += [f"{label}: there is no test {name}" for name in test if not has_test(root, name)]
        found += [f"{label}: there is no figure {kind}" for kind in figure if kind not in kinds]
        if not check or not test:
            found.append(f"{label}: it needs a check and a test")
    found += [f"{label} is mapped {n} times" for label, n in Counter(mapped).items() if n > 1]
    found += [f"{label} is stated in no chapter" for label in mapped if label not in stated]
    found += [f"{label} is not in the map" for label in stated if label not in mapped]
    return found


def errata_problems(text, pages):
    """Check the errata: `### E000-01` headings, each with what it says, corrects and shows.

    `pages` maps the file names of the chapters to (text, labels).
    """
    found = []
    parts = re.split(r"^### (.+)$", text, flags=re.M)
    entries = list(zip(parts[1::2], parts[2::2], strict=True))
    found += [f"{i} stands {n} times" for i, n in Counter(i for i, _ in entries).items() if n > 1]
    for name, body in entries:
        if not re.fullmatch(r"E00[0-4]-\d\d", name):
            found.append(f"{name} is no valid id")
        missing = [
            w for w in ("**Place.**", "**Says.**", "**Correct.**", "**Shown.**") if w not in body
        ]
        found += [f"{name}: {word} is missing" for word in missing]
        shown = body.partition("**Shown.**")[2]
        targets = re.findall(r"\]\(([^)\s]+)\)", shown)
        if not targets:
            found.append(f"{name}: no link to where it is shown")
        for target in targets:
            page, _, anchor = target.partition("#")
            holders = (
                [page] if page else [p for p, (_, defined) in pages.items() if anchor in defined]
            )
            if holders and holders[0] in pages and name not in spelled_out(pages[holders[0]][0]):
                found.append(f"{name}: {holders[0]} does not mention it")
    known = {name for name, _ in entries}
    for page, (content, _) in pages.items():
        found += [f"{name} of {page} has no entry" for name in sorted(spelled_out(content) - known)]
    return found


def spelled_out(text):
    """Return the ids of the errata that a text mentions, the ranges written out."""
    found = set(re.findall(r"E00[0-4]-\d\d", text))
    for document, first, last in re.findall(r"(E00[0-4])-(\d\d) to \1-(\d\d)", text):
        found |= {f"{document}-{i:02}" for i in range(int(first), int(last) + 1)}
    return found
