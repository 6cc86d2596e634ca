"""Answer the open question of document 001: two-out and probability on bigger training sets.

Run it with

    python -m benchmarks.outliers [--sizes 2000 8000 ...] [--seeds 10] [--watches]

It takes about 15 minutes of one core and 1 GB of memory, and writes book/_data/outliers.json;
with --watches, 5 minutes more, book/_data/outliers_watches.json: two-out with watches of other
sizes, up to the full test at n = 32,000.

Data: sparse text-like rows of unit length (`make_rcv1_like`, 2,000 words, 30 of them in a row), of
which a share is made outliers: "flipped" turns the label; "far" turns the label of a row that is
ten times as long. The 20,000 test examples are clean.

All variants take 4 n steps on one example each, without undo, as in the document's Figures 5 to 9.
A rise is told by P on all examples ("full"), by P on 500 of them that are the same all along
("sampled"), or by the objective of the drawn example alone ("instantaneous"). A full test costs n
example evaluations a step, and runs on the small sizes only. The loop is that of
`outlier_pegasos`, which the tests compare it with, but keeps the margins of the tested examples up
to date by columns. Beside the variants run

* "clean": plain Pegasos on what is no outlier, the best that removal could lead to;
* "ranked": plain Pegasos, and as many suspects as two-out (sampled) removed, but those with the
  lowest margins at the average iterate;
* "trimmed": plain Pegasos for 2 n steps; then those with the lowest margins go, as many as there
  are outliers, and plain Pegasos starts afresh for 2 n steps on the rest.

Intervals are those of Student for the mean over the seeds, at 95 %.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pegasos_lib import HingeProblem, make_rcv1_like
from pegasos_lib._kernels import chosen, row_dot, rows_of
from pegasos_lib.problem import FloatArray, IntArray

from .measured import say, store

SIZES = (2_000, 8_000, 32_000, 125_000, 500_000)
OUTLIERS = (("none", 0.0), ("flipped", 0.2), ("far", 0.05))
MORE_OUTLIERS = (("flipped", 0.05), ("far", 0.01))  # up to `LARGE`
LAMS = (1e-4, 1e-3)  # the second up to `SMALL`
SMALL, MEDIUM, LARGE = 8_000, 32_000, 125_000
SEEDS, SEEDS_ABOVE = 10, {500_000: 5}
EPOCHS, GAMMA, P_MIN, FULL_UP_TO = 4, 0.5, 0.01, 8_000
D, NNZ, N_TEST, SAMPLE = 2_000, 30, 20_000, 500
# Size, examples that are tested (0: all), seeds.
WATCHES = (
    *((2_000, 500, 5), (2_000, 0, 5), (8_000, 500, 5), (8_000, 0, 5)),
    *((32_000, 500, 5), (32_000, 8_000, 5), (32_000, 0, 3)),
    *((125_000, 500, 5), (125_000, 8_000, 4)),
)
TESTS = {"none": 0, "sampled": 1, "full": 1, "instantaneous": 2}
INSTANTANEOUS, FULL = "two-out 2, instantaneous", "two-out 2, full"
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "two-out 2": {"test": "sampled", "two_out": 2},
    "two-out 4": {"test": "sampled", "two_out": 4},
    "probability": {"test": "sampled", "gamma": GAMMA},
    INSTANTANEOUS: {"test": "instantaneous", "two_out": 2},
    FULL: {"test": "full", "two_out": 2},
}
COLUMNS = [
    *("n", "kind", "share", "lam", "variant", "seeds", "error", "excess", "excess_of_average"),
    *("above_clean", "precision", "recall", "removed", "rises", "first"),
]


@dataclass(frozen=True)
class Data:
    """Hold training rows with outliers, and clean test rows."""

    X: Any
    y: FloatArray
    X_test: Any
    y_test: FloatArray
    is_outlier: Any


def make_clean(n: int, seed: int, d: int = D, nnz: int = NNZ, n_test: int = N_TEST) -> Data:
    """Generate n training examples and n_test test examples, none of them an outlier."""
    X, y = make_rcv1_like(n + n_test, d, nnz, flip=0.0, rng=seed)
    return Data(X[n_test:], y[n_test:], X[:n_test], y[:n_test], np.zeros(n, dtype=bool))


def with_outliers(data: Data, kind: str, share: float, seed: int) -> Data:
    """Return the data with a share of the training examples made outliers."""
    rng = np.random.default_rng([seed, len(data.y), 1])
    X, y, is_outlier = spoil(data.X, data.y, share, kind == "far", rng)
    return Data(X, y, data.X_test, data.y_test, is_outlier)


def spoil(
    X: Any, y: FloatArray, share: float, lengthen: bool, rng: np.random.Generator
) -> tuple[Any, FloatArray, Any]:
    """Turn the labels of a share of the rows, and make these ten times as long if asked to.

    Return X, y and which rows they are.
    """
    is_outlier = np.zeros(len(y), dtype=bool)
    is_outlier[rng.permutation(len(y))[: round(share * len(y))]] = True
    if lengthen:
        values = X.data * np.repeat(np.where(is_outlier, 10.0, 1.0), np.diff(X.indptr))
        X = sp.csr_matrix((values, X.indices, X.indptr), shape=X.shape)
    return X, np.where(is_outlier, -y, y), is_outlier


def take_watched_steps(
    X: Any, y: Any, columns: Any, lam: float, n_iter: int, test: int, undo: bool, two_out: int,
    gamma: float, p_min: float, rng: Any, spare: Any, draws: Any, v: Any, total: Any, p: Any,
    flags: Any, removed_at: Any, b: Any, keep: Any, kept: Any, work: Any,
) -> int:  # fmt: skip
    """Take the steps of `outlier_pegasos`, of k = 1; return how many rose.

    w = s v. The tested examples have the margins s b; `columns` are those of their matrix
    diag(y) X, as (data, rows, start). `draws` is filled with the examples drawn, `total` with the
    sum of 100 iterates at equal distances in the second half of the run, `kept` and `work` with
    the iterates after the steps `keep` and the evaluations that their tests had taken.
    """
    data, rows, start = columns
    values, words, first = X
    radius, n, m = 1.0 / np.sqrt(lam), len(y), len(b)
    living, seat = np.arange(n), np.arange(n)
    n_living, rises, s, vv, f = n, 0, 1.0, 0.0, 1.0
    every, evaluations, saved = max(1, n_iter // 200), 0, 0
    for t in range(1, n_iter + 1):
        i = int(rng.random() * n)
        # A uniform i is kept with probability p_i; if not, or if it is gone, one of the living.
        if removed_at[i] > 0 or (p[i] < 1.0 and spare.random() >= p[i]):
            i = living[int(spare.random() * n_living)]
            while p[i] < 1.0 and spare.random() >= p[i]:
                i = living[int(spare.random() * n_living)]
        draws[t - 1] = i
        if t > n_iter // 2 and t % every == 0:
            for j in range(len(v)):
                total[j] += s * v[j]

        along = row_dot(X, i, v)
        margin = y[i] * s * along
        before = 0.5 * lam * s * s * vv + max(0.0, 1.0 - margin)
        hit = margin < 1.0
        old_s, old_vv = s, vv
        s = s * (t - 1) / t if t > 1 else 1.0
        square, c = 0.0, 0.0
        if hit:
            c = y[i] / (lam * t * s)
            for a in range(first[i], first[i + 1]):
                word, change = words[a], c * values[a]
                v[word] += change
                square += values[a] * values[a]
                if test == 1:
                    for e in range(start[word], start[word + 1]):
                        b[rows[e]] += change * data[e]
            vv += 2.0 * c * along + c * c * square
            evaluations += m if test == 1 else 1
        length = s * np.sqrt(max(0.0, vv))
        if length > radius:
            s *= radius / length
        if t % 4096 == 0:
            vv = np.sum(v * v)

        rose, after = False, f
        if test == 1:
            # Four sums at a time: one alone waits for each addition.
            four = m - m % 4
            loss, loss1, loss2, loss3 = 0.0, 0.0, 0.0, 0.0
            for j in range(0, four, 4):
                loss += max(0.0, 1.0 - s * b[j])
                loss1 += max(0.0, 1.0 - s * b[j + 1])
                loss2 += max(0.0, 1.0 - s * b[j + 2])
                loss3 += max(0.0, 1.0 - s * b[j + 3])
            for j in range(four, m):
                loss += max(0.0, 1.0 - s * b[j])
            after = 0.5 * lam * s * s * vv + (loss + loss1 + loss2 + loss3) / m
            rose = after > f
        elif test == 2:
            now = y[i] * s * (along + c * square)
            rose = 0.5 * lam * s * s * vv + max(0.0, 1.0 - now) > before
        if rose:
            rises += 1
            flags[i] += 1
            if two_out > 0 and flags[i] >= two_out and n_living > 1:
                removed_at[i] = t
                n_living -= 1
                other = living[n_living]
                living[seat[i]] = other
                seat[other] = seat[i]
            if gamma < 1.0:
                p[i] = max(p_min, gamma * p[i])
        if rose and undo:
            s, vv = old_s, old_vv
            if hit:
                for a in range(first[i], first[i + 1]):
                    word, change = words[a], c * values[a]
                    v[word] -= change
                    if test == 1:
                        for e in range(start[word], start[word + 1]):
                            b[rows[e]] -= change * data[e]
        else:
            f = after
        if s < 1e-100:
            v *= s
            b *= s
            vv *= s * s
            s = 1.0
        if saved < len(keep) and keep[saved] == t:
            for j in range(len(v)):
                kept[saved, j] = s * v[j]
            work[saved] = evaluations
            saved += 1
    v *= s
    return rises


@dataclass(frozen=True)
class Watched:
    """Hold the last iterate, the mean of 100 of the second half, and what the watch saw.

    `kept` are the iterates after the steps that were asked for, `work` the example evaluations
    of the tests until then; `removed_at` is 0 for an example that lives.
    """

    w: FloatArray
    w_average: FloatArray
    draws: IntArray
    rises: int
    flags: IntArray
    p: FloatArray
    removed_at: IntArray
    kept: FloatArray
    work: IntArray


def watched(
    data: Any,
    lam: float,
    n_iter: int,
    seed: int,
    test: str = "none",
    undo: bool = False,
    two_out: int = 0,
    gamma: float = 1.0,
    sample: int = SAMPLE,
    keep: Sequence[int] = (),
) -> Watched:
    """Run the loop on the training rows of data, which have CSR `X` and `y`."""
    problem = HingeProblem(data.X, data.y, lam=lam)
    n, d = problem.n, problem.d
    rng, spare = (np.random.default_rng([seed, n_iter, 2 + part]) for part in range(2))
    tested = np.arange(n if test == "full" else min(n, sample))
    columns = (sp.diags(data.y[tested]) @ data.X[tested]).tocsc()
    v, total, b = np.zeros(d), np.zeros(d), np.zeros(len(tested))
    p, flags = np.ones(n), np.zeros(n, dtype=np.int64)
    removed_at, draws = np.zeros(n, dtype=np.int64), np.empty(n_iter, dtype=np.int64)
    kept, work = np.zeros((len(keep), d)), np.zeros(len(keep), dtype=np.int64)
    rises = chosen(take_watched_steps)(
        rows_of(problem), problem.y, (columns.data, columns.indices, columns.indptr), lam, n_iter,
        TESTS[test], undo, two_out, gamma, P_MIN, rng, spare, draws, v, total, p, flags,
        removed_at, b, np.array(keep, dtype=np.int64), kept, work,
    )  # fmt: skip
    every = max(1, n_iter // 200)
    parts = sum(t % every == 0 for t in range(n_iter // 2 + 1, n_iter + 1))
    mean = total / max(1, parts)
    return Watched(v, mean, draws, rises, flags, p, removed_at, kept, work)


@dataclass(frozen=True)
class Outcome:
    """Hold what one run led to: test errors, and the suspects against the true outliers.

    A suspect is an example that was removed, or, by probability, whose p fell at least twice.
    """

    error: float
    error_of_average: float
    precision: float
    recall: float
    removed: float
    rises: float


def outcomes(
    data: Data, lam: float, seed: int, variants: dict[str, dict[str, Any]], sample: int = SAMPLE
) -> dict[str, Outcome]:
    """Run the variants on data, and "clean" and "trimmed" beside them."""
    n = len(data.y)
    found: dict[str, Outcome] = {}

    def judge(name: str, run: Watched, suspect: Any) -> None:
        right = int((suspect & data.is_outlier).sum())
        some, true = int(suspect.sum()), int(data.is_outlier.sum())
        found[name] = Outcome(
            error=test_error(data, run.w),
            error_of_average=test_error(data, run.w_average),
            precision=right / some if some else np.nan,
            recall=right / true if true else np.nan,
            removed=some / n,
            rises=run.rises / (EPOCHS * n),
        )

    nobody, rest = np.zeros(n, dtype=bool), ~data.is_outlier
    for name, options in variants.items():
        run = watched(data, lam, EPOCHS * n, seed, sample=sample, **options)
        by_weight = run.p <= GAMMA**2
        judge(name, run, by_weight if "gamma" in options else run.removed_at > 0)
        if name == "plain":
            plain = run
    if "two-out 2" in found:
        judge("ranked", plain, lowest(data, plain.w_average, round(found["two-out 2"].removed * n)))
    if not data.is_outlier.any():
        judge("clean", plain, nobody)
        return found
    judge("clean", watched(subset(data, rest), lam, EPOCHS * n, seed), nobody)
    if "two-out 2" in found:
        first = watched(data, lam, EPOCHS // 2 * n, seed)
        gone = lowest(data, first.w_average, int(data.is_outlier.sum()))
        judge("trimmed", watched(subset(data, ~gone), lam, EPOCHS // 2 * n, seed), gone)
    return found


def lowest(data: Data, w: FloatArray, count: int) -> Any:
    """Return which examples have the `count` lowest margins."""
    among = np.zeros(len(data.y), dtype=bool)
    among[np.argsort(data.y * (data.X @ w), kind="stable")[:count]] = True
    return among


def test_error(data: Data, w: FloatArray) -> float:
    """Return the share of the test examples that are on the wrong side."""
    return float(np.mean(data.y_test * (data.X_test @ w) <= 0))


def subset(data: Data, rows: Any) -> Data:
    """Return the data with these training rows only."""
    return Data(data.X[rows], data.y[rows], data.X_test, data.y_test, data.is_outlier[rows])


def plan(n: int) -> list[tuple[str, float, float, list[str]]]:
    """Return what is run at a size: kind, share, lambda and the names of the variants."""
    jobs = []
    for kind, share in OUTLIERS + (MORE_OUTLIERS if n <= LARGE else ()):
        names = list(VARIANTS)[:4] + ([INSTANTANEOUS] if n <= MEDIUM else [])
        if n <= FULL_UP_TO and (kind, share) in OUTLIERS:
            names.append(FULL)
        jobs.append((kind, share, LAMS[0], names))
    for kind, share in OUTLIERS if n <= SMALL else ():
        jobs.append((kind, share, LAMS[1], list(VARIANTS)[:4]))
    return jobs


def interval(values: list[float]) -> list[float] | None:
    """Return mean and half width of the 95 % interval over the seeds where there is a value."""
    from scipy.stats import t

    there = np.array([value for value in values if np.isfinite(value)])
    if len(there) < 2:
        return None
    half = t.ppf(0.975, len(there) - 1) * there.std(ddof=1) / np.sqrt(len(there))
    return [float(there.mean()), float(half)]


def summary(key: tuple[Any, ...], variant: str, per_seed: list[dict[str, Outcome]]) -> list[Any]:
    """Return a line of the table of results, as `COLUMNS` names it."""
    here = [found[variant] for found in per_seed]
    plain = [found["plain"] for found in per_seed]
    clean = [found["clean"] for found in per_seed]
    pairs = list(zip(here, plain, clean, strict=True))
    removed = interval([o.removed for o in here])
    rises = interval([o.rises for o in here])
    return [
        *key,
        variant,
        len(here),
        interval([o.error for o in here]),
        interval([o.error - p.error for o, p, _ in pairs]),
        interval([o.error_of_average - p.error_of_average for o, p, _ in pairs]),
        interval([o.error - c.error for o, _, c in pairs]),
        interval([o.precision for o in here]),
        interval([o.recall for o in here]),
        removed and removed[0],
        rises and rises[0],
        [here[0].error, here[0].removed],
    ]


def measure(sizes: tuple[int, ...] = SIZES, seeds: int = SEEDS) -> Iterator[list[list[Any]]]:
    """Yield, after each seed of a size, the table so far: a line for each variant in each cell."""
    per_seed: dict[tuple[Any, ...], list[dict[str, Outcome]]] = {}
    for n in sizes:
        for seed in range(SEEDS_ABOVE.get(n, seeds)):
            whole = make_clean(n, seed)
            for kind, share, lam, names in plan(n):
                data = with_outliers(whole, kind, share, seed)
                found = outcomes(data, lam, seed, {name: VARIANTS[name] for name in names})
                per_seed.setdefault((n, kind, share, lam), []).append(found)
            say(f"n = {n}, seed {seed}")
            yield [
                summary(key, variant, found)
                for key, found in sorted(per_seed.items())
                for variant in found[0]
            ]


def watches(
    jobs: tuple[tuple[int, int, int], ...] = WATCHES,
) -> Iterator[list[dict[str, Any]]]:
    """Yield, after each seed, how two-out does with watches of other sizes, for flipped labels.

    A job is a size n, how many examples are tested, and the number of seeds; all n are tested if
    it says 0.
    """
    table: list[dict[str, Any]] = []
    kind, share = OUTLIERS[1]
    for n, sample, seeds in jobs:
        columns: dict[str, list[float]] = {
            key: [] for key in ("excess", "precision", "recall", "removed")
        }
        table.append({})
        for seed in range(seeds):
            data = with_outliers(make_clean(n, seed), kind, share, seed)
            test = "sampled" if sample else "full"
            plain = watched(data, LAMS[0], EPOCHS * n, seed)
            run = watched(data, LAMS[0], EPOCHS * n, seed, test, two_out=2, sample=sample)
            gone = run.removed_at > 0
            columns["excess"].append(test_error(data, run.w) - test_error(data, plain.w))
            columns["precision"].append(float(data.is_outlier[gone].mean()))
            columns["recall"].append(float(gone[data.is_outlier].mean()))
            columns["removed"].append(float(gone.mean()))
            found = {key: interval(values) for key, values in columns.items()}
            first = [columns["excess"][0], columns["removed"][0]]
            table[-1] = {"n": n, "watch": sample or n, "seeds": seed + 1} | found
            table[-1]["first"] = first
            say(f"n = {n}, a watch of {sample or n}, seed {seed}")
            yield table


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=list(SIZES))
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument(
        "--watches", action="store_true", help="only the watches of other sizes (5 minutes)"
    )
    options = parser.parse_args()
    if options.watches:
        for lines in watches():
            path = store(
                "outliers_watches", "python -m benchmarks.outliers --watches", {"table": lines}
            )
        print(path)
        return
    command = "python -m benchmarks.outliers"
    if list(options.sizes) != list(SIZES) or options.seeds != SEEDS:
        command += f" --sizes {' '.join(map(str, options.sizes))} --seeds {options.seeds}"
    for table in measure(tuple(options.sizes), options.seeds):
        # A run that is cut short leaves the seeds that it has.
        path = store("outliers", command, {"columns": COLUMNS, "table": table})
    print(path)


if __name__ == "__main__":
    main()
