import re

import numpy as np
import pytest

from pegasos_lib import draw_batches
from pegasos_lib.sampling import check_draws


@pytest.mark.parametrize("sampling", ["iid", "permutation"])
@pytest.mark.parametrize("replace", [True, False])
@pytest.mark.parametrize("k", [1, 2, 5, 20])
def test_draws_have_the_shape_and_range_and_repeat_from_a_seed(sampling, replace, k):
    draws = draw_batches(3, 20, 50, k, replace, sampling)
    assert draws.shape == ((50,) if k == 1 else (50, k))
    assert draws.dtype == np.int64
    assert set(draws.ravel()) <= set(range(20))
    assert (draws == draw_batches(np.random.default_rng(3), 20, 50, k, replace, sampling)).all()
    assert (draws != draw_batches(4, 20, 50, k, replace, sampling)).any() or k == 20


def chi_square(counts):
    expected = counts.sum() / counts.size
    return ((counts - expected) ** 2).sum() / expected


# n = 9: small subsets come from Floyd's algorithm up to k = 8, n = 40 and k = 30 from ranking.
@pytest.mark.parametrize(("n", "k"), [(9, 2), (9, 4), (9, 8), (9, 9), (40, 30)])
def test_batches_without_replacement_are_uniform_subsets(n, k):
    draws = draw_batches(0, n, 20_000, k, replace=False)
    assert all(len(set(batch)) == k for batch in draws.tolist())
    pairs = np.zeros((n, n))
    for batch in draws.T[:, None] * n + draws.T[None, :]:
        pairs += np.bincount(batch.ravel(), minlength=n * n).reshape(n, n)
    singles, both = np.diag(pairs), pairs[np.triu_indices(n, 1)]
    # Within a batch draws exclude one another, so these lie below the chi-square law's 99.9%.
    assert chi_square(singles) < n + 4.5 * np.sqrt(2 * n)
    assert chi_square(both) < both.size + 4.5 * np.sqrt(2 * both.size)


def test_iid_draws_are_uniform():
    counts = np.bincount(draw_batches(0, 50, 100_000), minlength=50)
    assert chi_square(counts) < 50 + 4.5 * 10


@pytest.mark.parametrize("k", [1, 3, 4, 10])
def test_permutation_visits_every_example_once_a_lap(k):
    draws = draw_batches(1, 10, 60, k, sampling="permutation").ravel()
    laps = draws.reshape(-1, 10)
    assert (np.sort(laps, axis=1) == np.arange(10)).all()
    assert len({tuple(lap) for lap in laps}) == len(laps)


def test_no_steps_are_no_draws():
    assert draw_batches(0, 5, 0).shape == (0,)
    assert draw_batches(0, 5, 0, 3, sampling="permutation").shape == (0, 3)


BAD = [
    ({"batch_size": 0}, "batch_size must be an integer >= 1; got 0"),
    ({"batch_size": 2.0}, "batch_size must be an integer >= 1; got 2.0"),
    ({"batch_size": True}, "batch_size must be an integer >= 1; got True"),
    (
        {"batch_size": 6, "replace": False},
        "batch_size must lie in 1..5 to draw without replacement",
    ),
    ({"batch_size": 6, "sampling": "permutation"}, "batch_size must lie in 1..5"),
    ({"sampling": "cyclic"}, "sampling must be 'iid' or 'permutation'; got 'cyclic'"),
    ({"n_iter": -1}, "n_iter must be an integer >= 0; got -1"),
    ({"n": 0}, "n must be an integer >= 1; got 0"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_bad_options_are_refused(options, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        draw_batches(**{"rng": 0, "n": 5, "n_iter": 3, **options})


def test_a_batch_with_replacement_may_exceed_the_data():
    assert draw_batches(0, 2, 3, 7).shape == (3, 7)


BAD_DRAWS = [
    ([0, 1], 1, "draws must have shape (3, 1) or (3,), as n_iter=3 and batch_size=1 say; got (2,)"),
    ([[0, 1]] * 3, 1, "draws must have shape (3, 1) or (3,)"),
    ([0, 1, 2], 2, "draws must have shape (3, 2), as n_iter=3 and batch_size=2 say; got (3,)"),
    ([0, 1, 5], 1, "draws must lie in 0..4; they reach from 0 to 5"),
    ([0, -1, 2], 1, "draws must lie in 0..4; they reach from -1 to 2"),
    ([0.0, 1.0, 2.0], 1, "draws must be integers; got dtype float64"),
    ([True, False, True], 1, "draws must be integers; got dtype bool"),
]


@pytest.mark.parametrize(("draws", "k", "message"), BAD_DRAWS)
def test_bad_draws_are_refused(draws, k, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        check_draws(draws, 5, 3, k)


def test_checked_draws_are_a_copy():
    draws = np.array([[0, 1], [2, 3]])
    assert not np.shares_memory(check_draws(draws, 5, 2, 2), draws)
