"""Compare the solvers of `pegasos_lib` with others, and with the goals of the project.

Run it with `python -m benchmarks [--quick]`. It writes a JSON with all numbers, a Markdown page
and pictures into benchmarks/results, and prints the goals beside what was measured.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from . import report, solvers, steps
from .peers import installed

RESULTS = Path(__file__).parent / "results"


def main() -> None:
    """Run all, and write the results."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__.splitlines()[0]
    )
    parser.add_argument("--quick", action="store_true", help="little data, in under a minute")
    parser.add_argument("--minutes", type=float, default=8.0, help="time for all of it")
    parser.add_argument("--results", type=Path, help="folder for the results")
    options = parser.parse_args()
    folder = options.results or (Path(tempfile.mkdtemp()) if options.quick else RESULTS)

    begin = time.perf_counter()

    def say(line: str) -> None:
        print(f"{time.perf_counter() - begin:6.1f} s  {line}", file=sys.stderr, flush=True)

    rows, repeats, lambdas = solvers.RCV1_ROWS, 5, solvers.LAMBDAS
    shapes = [(1_000, 784), (10_000, 784), (64_000, 784), (500_000, 100), (5_000, 10_000)]
    if options.quick:
        rows, repeats, lambdas = 20_000, 2, lambdas[1:3]
        shapes = [(1_000, 784), (5_000, 784)]
    peers = installed()
    say(f"compiling for {', '.join(solver.name for solver in peers)}")
    solvers.warm_up(peers)
    say("making the data")
    mnist, rcv1_like = solvers.mnist_data(), solvers.rcv1_like_data(rows)

    say("dense steps, and the memory bandwidth")
    measured = {"dense": steps.dense_steps(shapes, 30_000, repeats)}
    say("sparse steps")
    sizes = [n for n in (1_000, 10_000, 100_000) if n < rows] + [rows]
    measured["sparse"] = steps.sparse_steps(rcv1_like, sizes, 100_000, repeats)
    say("one epoch")
    measured["epochs"] = steps.epochs([mnist, rcv1_like], repeats)
    say("peak memory of a fit, in processes of their own")
    measured["memory"] = steps.peak_memory(rcv1_like, rows // 2)
    measured["import seconds"] = steps.import_seconds(repeats)

    end = begin + 60.0 * (0.75 if options.quick else options.minutes)
    left = end - time.perf_counter()
    races = solvers.compare(mnist, lambdas, (0.6 if options.quick else 0.22) * left, peers, say)
    races += solvers.compare(rcv1_like, lambdas, end - time.perf_counter(), peers, say)

    found = report.write(folder, races, measured, time.perf_counter() - begin)
    print("\n".join(report.goals_table(found)))
    say(f"written to {folder}")


if __name__ == "__main__":
    main()
