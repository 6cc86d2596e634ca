"""Write what was measured: the goals, a JSON with all numbers, a Markdown page and pictures."""

from __future__ import annotations

import json
import math
import os
import platform
from collections.abc import Iterable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

from .peers import SOLVERS, versions
from .solvers import EPSILONS, Race

OURS = [solver.name for solver in SOLVERS if solver.is_ours]
PEERS = [solver.name for solver in SOLVERS if not solver.is_ours]
# Okabe and Ito's colours: ours are full lines, the peers' are dashed.
COLOURS = dict(
    zip(
        OURS + PEERS,
        ("#0072B2", "#009E73", "#D55E00", "#CC79A7", "#000000", "#E69F00"),
        strict=True,
    )
)

CACHED = 4e7  # bytes; smaller data may stay in a cache, and its rows come quicker than a stream
# Most that SDCA's time to eps may be of LinearSVC's, by data set and lambda.
LINEAR_SVC = {
    ("MNIST", 1e-2): {1e-3: 0.5, 1e-4: 0.5},
    ("MNIST", 1e-3): {1e-3: 0.5, 1e-4: 0.5},
    ("MNIST", 1e-4): {1e-3: 0.8, 1e-4: 0.8},
} | {("RCV1-like", lam): {1e-6: 0.33} for lam in (1e-3, 1e-4, 1e-5)}


class Goal(NamedTuple):
    """Hold one goal, and what was measured of it; None if it was not reached or not run."""

    what: str
    limit: float
    measured: float | None
    at_least: bool = False

    @property
    def is_met(self) -> bool:
        """Return whether the goal was measured and is met."""
        if self.measured is None:
            return False
        return self.measured >= self.limit if self.at_least else self.measured <= self.limit


def ratio(above: float | None, below: float | None) -> float | None:
    """Return above/below, or None if one of them is not known."""
    return above / below if above is not None and below else None


def best(race: Race, names: Iterable[str], eps: float) -> float | None:
    """Return the least time to eps of these solvers, or None."""
    return min((t for name in names if (t := race.time_to(name, eps)) is not None), default=None)


def goals(races: list[Race], steps: dict[str, Any]) -> list[Goal]:
    """Return the goals of the project that this run measures."""
    result = []
    for race in races:
        for eps, limit in LINEAR_SVC.get((race.data, race.lam), {}).items():
            times = race.time_to("SDCA", eps), race.time_to("LinearSVC", eps)
            what = f"SDCA / LinearSVC, time to {eps:.0e}, {race.data}, lambda {race.lam:.0e}"
            result.append(Goal(what, limit, ratio(*times)))
    for name, seconds in steps["epochs"].items():
        value = ratio(seconds["Pegasos"], seconds["SGDClassifier"])
        result.append(Goal(f"Pegasos epoch / SGDClassifier epoch, {name}", 0.4, value))
    for race in races:
        cells = {
            eps: ratio(best(race, OURS, eps), best(race, PEERS, eps))
            for eps in EPSILONS
            if best(race, PEERS, eps) is not None
        }
        if cells:
            worst = max(cells, key=lambda eps: float("inf") if cells[eps] is None else cells[eps])
            where = f"{race.data}, lambda {race.lam:.0e}, worst at {worst:.0e}"
            result.append(Goal(f"best of ours / best peer, {where}", 1.0, cells[worst]))
    sparse, dense, memory = steps["sparse"], steps["dense"], steps["memory"]
    for kind in ("every step a hit", "lambda 1e-4"):
        costs = sparse[f"seconds per step, {kind}"]
        row = ratio(costs[-1], sparse["seconds per row of X @ w"])
        result.append(Goal(f"random CSR step / row of X @ w, {kind}", 2.3, row))
        growth = f"growth of a CSR step's cost, n = {sparse['n'][0]:,} to {sparse['n'][-1]:,}"
        result.append(Goal(f"{growth}, {kind}", 2.0, costs[-1] / costs[0]))
    for n, d, share in zip(dense["n"], dense["d"], dense["share of the bandwidth"], strict=True):
        if 8 * n * d > CACHED:
            what = f"random dense steps, share of the bandwidth, {n:,} x {d:,}"
            result.append(Goal(what, 0.7, share, at_least=True))
    for name in OURS:
        value = memory["extra bytes"][name] / memory["goal"]
        result.append(Goal(f"extra memory of a {name} fit / (3 d + 2 n numbers)", 1.0, value))
    result.append(Goal("import pegasos_lib, seconds", 0.3, steps["import seconds"]))
    return result


def machine() -> dict[str, Any]:
    """Return what the numbers depend on: the processor, its caches, and the versions."""
    caches = []
    for folder in sorted(Path("/sys/devices/system/cpu/cpu0/cache").glob("index*")):
        level, kind, size = (
            (folder / part).read_text().strip() for part in ("level", "type", "size")
        )
        if kind != "Instruction":
            caches.append(f"L{level} {size}")
    packages = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    for name in ("numba",):
        try:
            packages[name] = version(name)
        except ModuleNotFoundError:
            packages[name] = "not installed"
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "caches": caches,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": packages | versions(),
        "load at the end": round(os.getloadavg()[0], 1),
        "date": datetime.now(UTC).date().isoformat(),
    }


def _processor() -> str:
    """Return the processor's name, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()


def frontier(race: Race, solver: str) -> list[list[float]]:
    """Return [seconds, suboptimality] of the points that no quicker point of the solver beats."""
    kept: list[list[float]] = []
    for seconds, distance, _ in sorted(race.points(solver)):
        if not kept or distance < kept[-1][1]:
            kept.append([float(f"{seconds:.4g}"), float(f"{max(distance, 1e-16):.4g}")])
    return kept


def race_numbers(race: Race) -> dict[str, Any]:
    """Return one problem's numbers for the JSON."""
    numbers: dict[str, Any] = {
        "data": race.data, "n": race.n, "d": race.d, "lambda": race.lam,
        "lower bound of P(w*)": race.lower_bound, "solvers": {},
    }  # fmt: skip
    for solver in race.seconds:
        times = []
        for eps in EPSILONS:
            found = race.quickest(solver, eps)
            times.append(
                {
                    "eps": eps,
                    "seconds": found and found[0],
                    "effort": found and found[1],
                    "runs": race.runs(solver, eps),
                }
            )
        numbers["solvers"][solver] = {"times": times, "frontier": frontier(race, solver)}
    return numbers


def goals_table(found: list[Goal]) -> list[str]:
    """Return the goals as the lines of a Markdown table."""
    lines = ["| goal | limit | measured | met |", "|---|---|---|---|"]
    for goal in found:
        limit = f"{'at least ' if goal.at_least else ''}{goal.limit:g}"
        measured = "not reached" if goal.measured is None else f"{goal.measured:.2f}"
        lines.append(f"| {goal.what} | {limit} | {measured} | {'yes' if goal.is_met else 'no'} |")
    return lines


def power_of_ten(value: float) -> str:
    """Return 1e-3 as 10⁻³, in letters that a screen reader finds in a table's head."""
    exponent = str(round(math.log10(value)))
    return "10" + exponent.translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))


def times_table(race: Race) -> list[str]:
    """Return the times to each eps as the lines of a Markdown table, the best in bold."""
    header = [power_of_ten(eps) for eps in EPSILONS]
    lines = [
        f"| $P(w)-P(w^*)$ at most | {' | '.join(header)} |",
        "|---" + "|--:" * len(header) + "|",
    ]
    for name in OURS + PEERS:
        if name not in race.seconds:
            lines.append(f"| {name} | {' | '.join(['not installed'] * len(header))} |")
            continue
        cells = []
        for eps in EPSILONS:
            time = race.time_to(name, eps)
            text = "-" if time is None else f"{time:.3g}"
            is_best = time is not None and time == best(race, OURS + PEERS, eps)
            cells.append(f"**{text}**" if is_best else text)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def write(folder: Path, races: list[Race], steps: dict[str, Any], seconds: float) -> list[Goal]:
    """Write results.json, results.md and the pictures into a folder; return the goals."""
    folder.mkdir(parents=True, exist_ok=True)
    found, this, pictures = goals(races, steps), machine(), draw(folder, races, steps)
    numbers = {
        "command": "make bench",
        "machine": this,
        "seconds in all": round(seconds, 1),
        "goals": [{**goal._asdict(), "met": goal.is_met} for goal in found],
        "races": [race_numbers(race) for race in races],
        "steps": steps,
        "pictures": pictures,
    }
    text = json.dumps(numbers, indent=1, allow_nan=False)
    (folder / "results.json").write_text(text + "\n", encoding="utf-8")

    packages = ", ".join(f"{name} {number}" for name, number in this["packages"].items())
    lines = [
        f"Measured on {this['processor']}, {this['cores']} cores, {', '.join(this['caches'])}, "
        f"Python {this['python']}, {packages}.",
        "",
        "Seconds, medians of runs that took turns. A dash: not reached.",
    ]
    for race in races:
        title = f"{race.data}, {race.n:,} x {race.d:,}, λ = {power_of_ten(race.lam)}"
        lines += ["", f"**{title}**", "", *times_table(race)]
    for name, alt in pictures.items():
        lines += ["", f"![{alt}]({name})"]
    lines += ["", "**Goals**", "", *goals_table(found), ""]
    (folder / "results.md").write_text("\n".join(lines), encoding="utf-8")
    return found


def draw(folder: Path, races: list[Race], steps: dict[str, Any]) -> dict[str, str]:
    """Draw the pictures; return the text that stands for each, by file."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    style = {"svg.fonttype": "none", "svg.hashsalt": "pegasos", "font.size": 9,
             "axes.spines.top": False, "axes.spines.right": False}  # fmt: skip
    texts = {}
    with mpl.rc_context(style):
        for data in dict.fromkeys(race.data for race in races):
            mine = [race for race in races if race.data == data]
            figure = Figure(figsize=(8, 2.6 * -(-len(mine) // 2)), layout="constrained")
            for place, race in enumerate(mine, start=1):
                axes = figure.add_subplot(-(-len(mine) // 2), min(2, len(mine)), place)
                _draw_race(axes, race)
            figure.legend(*axes.get_legend_handles_labels(), loc="outside lower center", ncols=6,
                          frameon=False)  # fmt: skip
            name = f"time_to_suboptimality_{data.lower().replace('-', '_')}.svg"
            figure.savefig(folder / name, metadata={"Date": None})
            texts[name] = _tell(mine)
        figure = Figure(figsize=(8, 3), layout="constrained")
        _draw_steps(figure, steps)
        figure.savefig(folder / "cost_per_step.svg", metadata={"Date": None})
    sparse, dense = steps["sparse"], steps["dense"]
    costs = sparse["seconds per step, every step a hit"]
    shares = dense["share of the bandwidth"]
    at_d = [
        f"{share:.0%} at n = {n:,} and d = {d:,}"
        for n, d, share in zip(dense["n"], dense["d"], shares, strict=True)
        if 8 * n * d > CACHED
    ]
    texts["cost_per_step.svg"] = (
        f"A Pegasos step on sparse rows costs {1e6 * costs[0]:.2f} microseconds at "
        f"n = {sparse['n'][0]:,} and {1e6 * costs[-1]:.2f} at n = {sparse['n'][-1]:,}; random "
        f"dense steps use this share of the memory bandwidth: {', '.join(at_d)}."
    )
    return texts


def _draw_race(axes: Any, race: Race) -> None:
    """Draw suboptimality against time, a line a solver."""
    for name in race.seconds:
        points = [point for point in frontier(race, name) if point[1] < 10.0]
        if points:
            seconds, distances = zip(*points, strict=True)
            axes.plot(
                seconds,
                [max(distance, 1e-7) for distance in distances],
                "-" if name in OURS else "--",
                marker="o" if name in OURS else "s",
                markersize=2.5,
                linewidth=1.2,
                color=COLOURS[name],
                label=name,
            )
    axes.set(
        xscale="log",
        yscale="log",
        ylim=(1e-7, 2.0),
        title=f"{race.data}, λ = {race.lam:.0e}",
        xlabel="seconds",
        ylabel="P(w) − P(w*)",
    )


def _draw_steps(figure: Any, steps: dict[str, Any]) -> None:
    """Draw the cost of a sparse step against n, and of a dense one against its bytes."""
    sparse, dense = steps["sparse"], steps["dense"]
    left, right = figure.subplots(1, 2)
    for kind, colour in (("every step a hit", "#0072B2"), ("lambda 1e-4", "#009E73")):
        costs = [1e6 * cost for cost in sparse[f"seconds per step, {kind}"]]
        left.plot(sparse["n"], costs, "o-", color=colour, label=kind.replace("lambda", "λ ="))
    row = 1e6 * sparse["seconds per row of X @ w"]
    left.axhline(row, color="#000000", linestyle=":", label="row of X @ w")
    left.set(xscale="log", ylim=(0, None), xlabel="n", ylabel="µs a step",
             title=f"CSR, {sparse['nonzeros per row']:.0f} non-zeros a row")  # fmt: skip
    left.legend(frameon=False)
    stream = max(dense["bytes per second"].values())
    for n, d, cost in zip(dense["n"], dense["d"], dense["seconds per step"], strict=True):
        right.plot(8 * d, 1e6 * cost, "o", color="#0072B2")
        right.annotate(f" n = {n:,}", (8 * d, 1e6 * cost), fontsize=7)
    ends = [8 * min(dense["d"]), 8 * max(dense["d"])]
    right.plot(ends, [1e6 * end / stream for end in ends], ":", color="#000000",
               label=f"stream, {stream / 1e9:.1f} GB/s")  # fmt: skip
    right.set(xscale="log", yscale="log", xlabel="bytes a row", ylabel="µs a step", title="dense")
    right.legend(frameon=False)


def _tell(races: list[Race]) -> str:
    """Say in words who is the quickest where."""
    parts = []
    for race in races:
        won = sum(
            (ours := best(race, OURS, eps)) is not None
            and (peer := best(race, PEERS, eps)) is not None
            and ours <= peer
            for eps in EPSILONS
        )
        parts.append(f"at lambda {race.lam:.0e} ours are the quickest at {won} of {len(EPSILONS)}")
    told = "; ".join(parts)
    return f"Suboptimality against time on {races[0].data}, a line a solver: {told} levels."
