"""What stands at the top of a chapter, read by the tests.

After `:::{admonition} After this chapter you can` come 3 to 5 objectives, each

    1. **find** the kinks of the objective;
       *figure: task 1<!--task kink-->, a point on its kink; graded: `one_sided_slope` (to come).*

Its tie to the figure is a task, whose id follows unseen by the reader; `<!--task regret/tight-->`
is a task of another chapter's figure, by its kind. One of the predictions at the end of the
chapter's question ("the third prediction") may stand beside it. Its graded problem is a function
that a problem set in course/source asks for, or the name of one that is `(to come)`.
"""

import re

from tests.notebooks.checks import text_of

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth")
OBJECTIVE = re.compile(
    r"^(?P<number>\d)\. \*\*\w+\*\*.+?\n +\*figure: (?P<figure>.+?); graded: (?P<graded>.+?)\.\*$",
    re.M | re.S,
)
TASK = re.compile(r"(\d+)(?:<!--task (?:(\w+)/)?([\w-]+)-->)?")
TASKS = re.compile(r"\btasks? ((?:\d+(?:<!--.*?-->)?(?:, | and )?)+)")
PREDICTION = re.compile(rf"\b({'|'.join(ORDINALS)}) prediction\b")
GRADED = re.compile(r"`(\w+)`( \(to come\))?")


def tasks_of(kind, folder):
    """Return the ids of a figure's tasks, in their order, from its JavaScript in `folder`."""
    sources = [folder / f"{kind}.js", *sorted((folder / kind).glob("*.js"))]
    return [
        name
        for source in sources
        if not source.name.endswith(".test.js")
        for name in re.findall(r"\bid: \"([\w-]+)\",\s*text: ", source.read_text(encoding="utf-8"))
    ]


def graded_problems(notebooks):
    """Return the names of the functions that the students write."""
    return {
        name
        for notebook in notebooks
        for cell in notebook["cells"]
        if cell["metadata"].get("nbgrader", {}).get("solution")
        for name in re.findall(r"^def (\w+)\(", text_of(cell["source"]), flags=re.M)
    }


def predictions(notebook):
    """Count the items of the last list before the first code cell: what the reader predicts."""
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            break
        text = text_of(cell["source"])
    tail = re.split(r"\bpredict", text, flags=re.I)[-1]
    return len(re.findall(r"^(?:\*|\d\.) ", tail, flags=re.M))


def objective_problems(notebook, tasks, graded):
    """Check the top of a chapter.

    Parameters
    ----------
    notebook : dict
    tasks : dict of lists of str
        Ids of the tasks of each figure, in their order, by its kind; of the chapter's own by "".
    graded : set of str
        Names of the graded problems that exist.
    """
    top = text_of(notebook["cells"][0]["source"])
    found = [
        f"the top says no {word}"
        for word in ("**Before you start:**", "**Time:**")
        if word not in top
    ]
    box = re.search(
        r"^:::\{admonition\} After this chapter you can$(.*?)^\*\*Before", top, flags=re.M | re.S
    )
    if not box:
        return [*found, "no box of objectives"]
    objectives = list(OBJECTIVE.finditer(box[1]))
    items = re.findall(r"^\d\. ", box[1], flags=re.M)
    if len(objectives) != len(items):
        found.append(
            f"{len(items)} objectives, but {len(objectives)} say *figure: ...; graded: ....*"
        )
    if not 3 <= len(objectives) <= 5:
        found.append(f"{len(objectives)} objectives, not 3 to 5")
    for objective in objectives:
        name = f"objective {objective['number']}"
        found += [f"{name}: {p}" for p in figure_problems(objective["figure"], notebook, tasks)]
        found += [f"{name}: {p}" for p in graded_name_problems(objective["graded"], graded)]
    return found


def figure_problems(text, notebook, tasks):
    """Check that the tasks and predictions that an objective names are there."""
    named = [task for listed in TASKS.findall(text) for task in TASK.findall(listed)]
    foreseen = PREDICTION.findall(text)
    found = [] if named else ["no task of a figure"]
    for number, kind, task in named:
        known = tasks.get(kind, [])
        if not task:
            found.append(f"task {number} lacks its id: {number}<!--task ID-->")
        elif task not in known:
            found.append(f"the figure {kind} has no task {task}, but {', '.join(known)}")
        elif known.index(task) + 1 != int(number):
            found.append(f"{task} is task {known.index(task) + 1}, not {number}")
    found += [
        f"there is no {word} prediction"
        for word in foreseen
        if ORDINALS.index(word) >= predictions(notebook)
    ]
    return found


def graded_name_problems(text, graded):
    """Check that the graded problems that an objective names exist, or are said to come."""
    names = GRADED.findall(text)
    found = [] if names else ["no graded problem"]
    for name, to_come in names:
        if to_come and name in graded:
            found.append(f"{name} has come: drop (to come)")
        elif not to_come and name not in graded:
            found.append(f"the course has no problem {name}: say (to come), or name another")
    return found
