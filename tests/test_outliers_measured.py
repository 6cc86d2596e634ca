"""benchmarks/outliers.py: its loop is the library's, and a part of its results comes out again."""

import numpy as np
import pytest

from benchmarks import measured, outliers
from pegasos_lib import HingeProblem, outlier_pegasos, pegasos


@pytest.fixture(scope="module")
def small():
    return outliers.make_clean(150, seed=3, d=120, nnz=8, n_test=200)


@pytest.mark.parametrize("kind", ["flipped", "far"])
@pytest.mark.parametrize("test", ["full", "instantaneous"])
@pytest.mark.parametrize(
    "options", [{"two_out": 2}, {"two_out": 4, "undo": True}, {"gamma": 0.5}, {"undo": True}]
)
def test_the_long_loop_is_that_of_the_library(small, kind, test, options):
    data = outliers.with_outliers(small, kind, 0.1, seed=0)
    run = outliers.watched(data, 0.02, 700, 5, test, keep=(1, 50, 700), **options)
    library = outlier_pegasos(
        HingeProblem(data.X, data.y, lam=0.02),
        n_iter=700,
        undo=options.get("undo", False),
        two_out=options.get("two_out"),
        probability=options.get("gamma"),
        test=test,
        draws=run.draws,
        record=[1, 50, 700],
    )
    assert run.kept == pytest.approx(library.trace.w, abs=1e-10)
    done = np.add(run.work, [1, 50, 700])
    assert done.tolist() == library.trace_evaluations.tolist()
    assert run.w == pytest.approx(library.w, abs=1e-10)
    assert run.rises == len(library.rises)
    if "two_out" in options:
        assert np.array_equal(run.flags, library.flags)
    assert run.p == pytest.approx(library.p)
    removed = np.zeros(150, dtype=int)
    removed[library.removed] = library.removed_at
    assert np.array_equal(run.removed_at, removed)
    if test == "full":
        assert run.rises > 50


def test_without_a_variant_it_is_pegasos_and_averages_its_second_half(small):
    run = outliers.watched(small, 0.02, 400, 1)
    whole = pegasos(
        HingeProblem(small.X, small.y, lam=0.02), n_iter=400, draws=run.draws, record=range(401)
    )
    assert run.w == pytest.approx(whole.w, abs=1e-10)
    # Those of the steps 202, 204, ..., before the step is taken.
    kept = [whole.trace.w[t - 1] for t in range(201, 401) if t % 2 == 0]
    assert run.w_average == pytest.approx(np.mean(kept, axis=0), abs=1e-10)


def test_draws_follow_the_weights_of_the_living():
    data = outliers.make_clean(20, seed=0, d=40, nnz=5, n_test=10)
    run = outliers.watched(data, 0.05, 20_000, 0, "full", two_out=3)
    alive = run.removed_at == 0
    gone = {i: t for i, t in enumerate(run.removed_at) if t}
    assert alive.sum() >= 1
    for i, t in gone.items():
        assert not (run.draws[t:] == i).any()


def test_the_smallest_size_comes_out_as_stored():
    columns, table = (measured.stored("outliers")[key] for key in ("columns", "table"))
    assert columns == outliers.COLUMNS
    held = [dict(zip(columns, row, strict=True)) for row in table]
    first = {
        (row["kind"], row["variant"]): row["first"]
        for row in held
        if row["n"] == 2_000 and row["lam"] == outliers.LAMS[0]
    }
    whole = outliers.make_clean(2_000, seed=0)
    for kind, share in outliers.OUTLIERS:
        names = ("plain", "two-out 2", "probability")
        variants = {name: outliers.VARIANTS[name] for name in names}
        data = outliers.with_outliers(whole, kind, share, seed=0)
        found = outliers.outcomes(data, outliers.LAMS[0], 0, variants)
        for name, outcome in found.items():
            assert [outcome.error, outcome.removed] == pytest.approx(first[kind, name], rel=1e-4)


def test_what_is_stored_covers_the_plan_with_its_seeds():
    columns, table = (measured.stored("outliers")[key] for key in ("columns", "table"))
    held = [dict(zip(columns, row, strict=True)) for row in table]
    cells = {(r["n"], r["kind"], r["share"], r["lam"], r["variant"]): r["seeds"] for r in held}
    for n in outliers.SIZES:
        for kind, share, lam, names in outliers.plan(n):
            for name in names:
                least = outliers.SEEDS_ABOVE.get(n, outliers.SEEDS)
                assert cells[n, kind, share, lam, name] == least, (n, kind, name)


def test_the_watches_of_the_smallest_size_come_out_as_stored():
    table = measured.stored("outliers_watches")["table"]
    held = {(row["n"], row["watch"]): row for row in table}
    assert {(n, sample or n): seeds for n, sample, seeds in outliers.WATCHES} == {
        key: row["seeds"] for key, row in held.items()
    }
    *_, again = outliers.watches(((2_000, 500, 1), (2_000, 0, 1)))
    for row in again:
        assert row["first"] == pytest.approx(held[row["n"], row["watch"]]["first"], rel=1e-4)


def test_intervals_are_students():
    assert outliers.interval([1.0, 2.0, 3.0]) == pytest.approx([2.0, 2.4841], rel=1e-4)
    assert outliers.interval([1.0, np.nan]) is None
