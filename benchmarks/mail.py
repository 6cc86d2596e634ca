"""Measure the variants of document 001 on its own mail, and on generated mail of the same shape.

Run it with

    PEGASOS_DATA=folder python -m benchmarks.mail [--seeds 20]

where the folder holds `cs229_spam_2144_800.npz` (see `fetch_cs229_spam`). It takes about 3 minutes
of one core and writes book/_data/mail.json: results only, no message. The generated mail is that
of `make_mail(rng=0)`.

The document tells neither lambda nor k nor T. Here lambda = 1e-3, k = 1 and T = 8,000 are the
reference: on the way two-out has removed 80 messages, as the document says. k = 100 and two more
lambdas stand beside them. Bands are the 10 % and 90 % quantiles over the seeds around the median;
differences are paired by seed, with Student's 95 % interval for the mean. A message is a suspect
if it was removed or, by probability, its p fell at least twice. The runs of k = 1 take the compiled
loop of benchmarks/outliers.py.
"""

from __future__ import annotations

import argparse
from typing import Any, Literal

import numpy as np

from pegasos_lib import (
    HingeProblem,
    OutlierRun,
    fetch_cs229_spam,
    make_mail,
    outlier_pegasos,
    pegasos,
    sdca,
)
from pegasos_lib.datasets import Mail
from pegasos_lib.problem import FloatArray

from .measured import checkpoints, say, store
from .outliers import Watched, interval, spoil, test_error, watched

LAM, LAMS, N_ITER, SEEDS, FEWER_SEEDS = 1e-3, (1e-2, 1e-3, 1e-4), 8_000, 20, 10
GAMMA = 0.5
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {"test": "full"},
    "undo": {"test": "full", "undo": True},
    "two-out": {"test": "full", "two_out": 2},
    "two-out 4": {"test": "full", "two_out": 4},
    "probability": {"test": "full", "gamma": GAMMA},
    "undo + probability": {"test": "full", "undo": True, "gamma": GAMMA},
    "undo + probability + two-out": {"test": "full", "undo": True, "gamma": GAMMA, "two_out": 2},
}
INSTANTANEOUS: dict[str, dict[str, Any]] = {
    "plain": {"test": "full"},
    "undo, instantaneous": {"test": "instantaneous", "undo": True},
    "two-out, instantaneous": {"test": "instantaneous", "two_out": 2},
}
BATCHES: dict[str, dict[str, Any]] = {
    "plain": {},
    "undo": {"undo": True},
    "two-out": {"two_out": 2},
}
WEIGHTED: dict[str, dict[str, Any]] = {
    "plain": {},
    "probability, weighted": {"probability": GAMMA, "importance_weights": True},
}
SUSPICIOUS = ("two-out", "two-out 4", "probability")
INJECTED = (("flipped", 0.1), ("long", 0.05))


def suspects(run: Watched | OutlierRun) -> Any:
    """Return which messages were removed, or had their p lowered at least twice."""
    gone = ~run.alive if isinstance(run, OutlierRun) else run.removed_at > 0
    return gone | (run.p <= GAMMA**2)


def traces(
    problem: HingeProblem, mail: Mail, options: dict[str, Any], seed: int, keep: list[int], k: int
) -> tuple[FloatArray, FloatArray, FloatArray, int, FloatArray]:
    """Return kept iterates, work (k a step and the tests), numbers removed, rises and last p."""
    steps = np.array(keep)
    if "test" in options:
        quick = watched(mail, problem.lam, keep[-1], seed, keep=keep, **options)
        work = quick.work if any(set(options) - {"test"}) else 0
        removed = [int(((quick.removed_at > 0) & (quick.removed_at <= t)).sum()) for t in keep]
        return quick.kept, steps + work, np.array(removed), quick.rises, quick.p
    run = outlier_pegasos(problem, n_iter=keep[-1], rng=seed, batch_size=k, record=keep, **options)
    work = run.trace_evaluations if options else k * steps
    removed = [int((run.removed_at <= t).sum()) for t in keep]
    return run.trace.w, work, np.array(removed), len(run.rises), run.p


def least(mail: Mail, lam: float) -> float:
    """Return the optimal value of P."""
    problem = HingeProblem(mail.X, mail.y, lam=lam)
    return float(problem.objective(sdca(problem, gap=1e-9, rng=0).w))


def quantiles(rows: list[Any]) -> list[Any]:
    """Return the 10 %, 50 % and 90 % quantiles over the seeds, for each step."""
    return np.quantile(np.array(rows), [0.1, 0.5, 0.9], axis=0).tolist()


def curves(
    mail: Mail,
    seeds: range,
    variants: dict[str, dict[str, Any]],
    lam: float = LAM,
    n_iter: int = N_ITER,
    batch_size: int = 1,
) -> dict[str, Any]:
    """Return, for each variant, how the last iterate does along the run.

    "gap" and "error" have the quantiles of P(w) - P(w*) and of the test error at each kept step;
    "work" the median of the example evaluations, those of the tests included (none for plain);
    "against plain" the paired difference of the gaps; "removed" the mean number of messages;
    "ends" mean and interval of the last gap, error and number removed, and the paired differences
    of gap and error from plain; "rises" the share of the steps; "first" the first seed's ends.
    """
    problem, best = HingeProblem(mail.X, mail.y, lam=lam), least(mail, lam)
    keep = checkpoints(1, n_iter, 25)
    found: dict[str, Any] = {}
    plain_gaps, plain_errors = np.empty(0), np.empty(0)
    for name, options in variants.items():
        runs = [traces(problem, mail, options, seed, keep, batch_size) for seed in seeds]
        gaps = np.array([[problem.objective(w) - best for w in run[0]] for run in runs])
        errors = np.array([[test_error(mail, w) for w in run[0]] for run in runs])
        work, removed = (np.array([run[part] for run in runs], dtype=float) for part in (1, 2))
        if name == "plain":
            plain_gaps, plain_errors = gaps, errors
        found[name] = {
            "gap": quantiles(gaps),
            "error": quantiles(errors),
            "work": np.median(work, axis=0),
            "removed": removed.mean(axis=0),
            "rises": float(np.mean([run[3] for run in runs])) / n_iter,
            "first": [gaps[0, -1], errors[0, -1], int(removed[0, -1])],
            "ends": {
                "gap": interval(gaps[:, -1].tolist()),
                "error": interval(errors[:, -1].tolist()),
                "removed": interval(removed[:, -1].tolist()),
                "gap - plain": interval((gaps[:, -1] - plain_gaps[:, -1]).tolist()),
                "error - plain": interval((errors[:, -1] - plain_errors[:, -1]).tolist()),
            },
        }
        differences = (gaps - plain_gaps).T
        found[name]["against plain"] = [interval(at.tolist()) for at in differences]
        say(f"  {name}, k = {batch_size}, lambda = {lam:g}")
    return {"steps": keep, "variants": found}


def ends_only(found: dict[str, Any]) -> dict[str, Any]:
    """Return what `curves` found without the curves."""
    return {
        name: {key: held[key] for key in ("ends", "rises", "first")} | {"work": held["work"][-1]}
        for name, held in found["variants"].items()
    }


def long_run(mail: Mail, seeds: range, n_iter: int, lam: float = LAM) -> dict[str, Any]:
    """Return how plain Pegasos does with the work that tests would take, one evaluation a step."""
    problem, best = HingeProblem(mail.X, mail.y, lam=lam), least(mail, lam)
    keep = checkpoints(1, n_iter, 25)
    runs = [pegasos(problem, n_iter=n_iter, rng=seed, record=keep) for seed in seeds]
    gaps = [[problem.objective(w) - best for w in run.trace.w] for run in runs]
    errors = [[test_error(mail, w) for w in run.trace.w] for run in runs]
    return {"steps": keep, "gap": quantiles(gaps), "error": quantiles(errors)}


def inject(mail: Mail, kind: Literal["flipped", "long"], share: float, seed: int) -> Mail:
    """Return the mail with a share of outliers: labels turned, and rows ten times as long."""
    rng = np.random.default_rng([seed, 3])
    X, y, is_outlier = spoil(mail.X, mail.y, share, kind == "long", rng)
    return Mail(X, y, mail.X_test, mail.y_test, is_outlier)


def found_outliers(
    mail: Mail, seeds: range, kind: Literal["flipped", "long"], share: float,
    lam: float = LAM, n_iter: int = N_ITER,
) -> dict[str, Any]:  # fmt: skip
    """Return how well the suspects agree with injected outliers, and the test errors.

    "clean" is plain Pegasos on the messages that are none.
    """
    held: dict[str, list[list[float]]] = {}
    for seed in seeds:
        bad = inject(mail, kind, share, seed)
        rest = ~bad.is_outlier
        clean = Mail(bad.X[rest], bad.y[rest], mail.X_test, mail.y_test, bad.is_outlier[rest])
        plain = test_error(mail, watched(bad, lam, n_iter, seed).w)
        without = test_error(mail, watched(clean, lam, n_iter, seed).w)
        held.setdefault("plain", []).append([np.nan, np.nan, 0.0, plain, 0.0])
        held.setdefault("clean", []).append([np.nan, np.nan, 0.0, without, without - plain])
        for name in SUSPICIOUS:
            run = watched(bad, lam, n_iter, seed, **VARIANTS[name])
            guess, error = suspects(run), test_error(mail, run.w)
            right = int((guess & bad.is_outlier).sum())
            precision = right / guess.sum() if guess.any() else np.nan
            recall = right / bad.is_outlier.sum()
            held.setdefault(name, []).append(
                [precision, recall, float(guess.sum()), error, error - plain]
            )
    columns = ("precision", "recall", "suspects", "error", "error - plain")
    say(f"  {share:g} {kind}")
    return {
        name: {key: interval([row[c] for row in rows]) for c, key in enumerate(columns)}
        for name, rows in held.items()
    }


def misfits(mail: Mail, seeds: range, lam: float = LAM, n_iter: int = N_ITER) -> dict[str, Any]:
    """Return what kind of messages the suspects are by the optimum of the mail as it is.

    The shares of support vectors, of those inside the margin, and of those on the wrong side.
    """
    problem = HingeProblem(mail.X, mail.y, lam=lam)
    run = sdca(problem, gap=1e-9, rng=0)
    margins = problem.margins(run.w)
    kinds = {
        "support vectors": run.alpha > 0.0,
        "margin below 1": margins < 1.0 - 1e-6,
        "wrong side": margins <= 0.0,
    }
    found = {"all": {key: float(of.mean()) for key, of in kinds.items()}}
    for name in SUSPICIOUS:
        shares: dict[str, list[float]] = {key: [] for key in kinds}
        for seed in seeds:
            guess = suspects(watched(mail, lam, n_iter, seed, **VARIANTS[name]))
            for key, of in kinds.items():
                shares[key] += [float(of[guess].mean())] if guess.any() else []
        found[name] = {key: float(np.mean(values)) for key, values in shares.items()}
    return found


def support_vectors_only(mail: Mail, lam: float = LAM) -> dict[str, Any]:
    """Return what training on the support vectors gives, at the same lambda and at lambda n / m.

    "guessed" are the m messages with a margin below 1 after one pass of Pegasos.
    """
    problem = HingeProblem(mail.X, mail.y, lam=lam)
    whole = sdca(problem, gap=1e-12, n_epochs=20_000, rng=0)
    pass_one = pegasos(problem, n_iter=problem.n, rng=0).w
    best = problem.objective(whole.w)

    def train(rows: Any, scaled: bool) -> dict[str, float]:
        part_lam = lam * problem.n / rows.sum() if scaled else lam
        part = HingeProblem(mail.X[rows], mail.y[rows], lam=part_lam)
        w = sdca(part, gap=1e-12, n_epochs=20_000, rng=0).w
        distance = np.linalg.norm(w - whole.w) / np.linalg.norm(whole.w)
        gap = problem.objective(w) - best
        return {"distance": float(distance), "gap": gap, "error": test_error(mail, w)}

    chosen = {"true": whole.alpha > 0.0, "guessed": problem.margins(pass_one) < 1.0}
    held: dict[str, Any] = {"error": test_error(mail, whole.w)}
    for name, rows in chosen.items():
        held[name] = {
            "count": int(rows.sum()),
            "wrong side": float((problem.margins(whole.w)[rows] <= 0).mean()),
            "same": train(rows, False),
            "scaled": train(rows, True),
        }
    return held


def measure(mail: Mail, seeds: int = SEEDS, more: bool = True) -> dict[str, Any]:
    """Return the results of one mail; with `more`, those for other variants and lambdas too."""
    all_seeds, few = range(seeds), range(min(seeds, FEWER_SEEDS))
    main_curves = curves(mail, all_seeds, VARIANTS)
    budget = int(main_curves["variants"]["undo"]["work"][-1])
    basic = {name: VARIANTS[name] for name in ("plain", "undo", "two-out", "probability")}
    results: dict[str, Any] = {
        "curves": main_curves,
        "by work": long_run(mail, few, budget),
        "injected": {
            f"{kind} {share:g}": found_outliers(mail, few, kind, share)  # type: ignore[arg-type]
            for kind, share in INJECTED
        },
        "misfits": misfits(mail, few),
        "support vectors": {f"{lam:g}": support_vectors_only(mail, lam) for lam in LAMS},
    }
    if more:
        results["batches of 100"] = curves(mail, few, BATCHES, n_iter=500, batch_size=100)
        results["instantaneous"] = ends_only(curves(mail, few, INSTANTANEOUS))
        results["weighted"] = ends_only(curves(mail, few, WEIGHTED))
        results["lambdas"] = {
            f"{lam:g}": ends_only(curves(mail, few, basic, lam=lam)) for lam in LAMS if lam != LAM
        }
    return results


def main() -> None:
    """Measure and store."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=SEEDS)
    seeds = parser.parse_args().seeds
    results = {}
    for name, mail in (("real", fetch_cs229_spam()), ("generated", make_mail(rng=0))):
        say(name)
        results[name] = measure(mail, seeds, more=name == "real")
    command = "python -m benchmarks.mail" + (f" --seeds {seeds}" if seeds != SEEDS else "")
    print(store("mail", command, results))


if __name__ == "__main__":
    main()
