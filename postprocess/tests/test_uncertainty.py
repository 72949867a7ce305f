import numpy as np
import pytest

from sluice_post.statistics import Blocks
from sluice_post.uncertainty import (
    batch_mean,
    half_width95,
    independent_batches,
    jackknife,
    lag_one_correlation,
    merge_factor,
    student_t95,
)


def blocks_of(values, samples=None):
    """Blocks whose only profile holds one value each."""
    values = np.asarray(values, dtype=float)
    samples = np.ones(len(values), dtype=np.int64) if samples is None else np.asarray(samples)
    sums = (values * samples)[:, None]
    times = np.arange(len(values), dtype=float)
    face = {"tau_xz": np.hstack([sums, sums]), "uw": 0 * np.hstack([sums, sums])}
    centre = dict.fromkeys(("u", "uu", "vv", "ww"), sums)
    z, z_face = np.array([0.5]), np.array([0.0, 1.0])
    one_flow = np.zeros(len(values), dtype=np.int64)
    return Blocks(z, z_face, samples, times, times + 1, centre, face, 0 * times, one_flow, ())


def autoregressive(count, correlation, seed):
    rng = np.random.default_rng(seed)
    values = np.empty(count)
    values[0] = rng.normal()
    noise = rng.normal(size=count) * np.sqrt(1 - correlation**2)
    for i in range(1, count):
        values[i] = correlation * values[i - 1] + noise[i]
    return values


def test_student_t_against_tabulated_values():
    """Abramowitz & Stegun, table 26.10."""
    for degrees, tabulated in ((1, 12.706), (10, 2.228), (40, 2.021), (120, 1.980)):
        assert student_t95(degrees) == pytest.approx(tabulated, abs=5e-4)
    assert np.isnan(student_t95(0))


def test_batch_mean_of_independent_values_is_the_textbook_formula():
    values = np.array([1.0, 3.0, 2.0, 6.0, 4.0, 2.0])
    estimate = batch_mean(values, factor=1)
    assert estimate.mean == 3.0
    assert estimate.standard_error == pytest.approx(np.sqrt(3.2 / 6))  # variance 16/5, 6 values
    assert estimate.half_width == pytest.approx(2.570582 * np.sqrt(3.2 / 6))
    assert estimate.effective_samples == pytest.approx(6)


def test_batch_mean_of_an_autoregressive_series():
    """The standard error of the mean is sigma sqrt((1 + r)/((1 - r) n)) for a first-order series."""
    r, count = 0.9, 20000
    exact = np.sqrt((1 + r) / (1 - r) / count)
    estimates = [batch_mean(autoregressive(count, r, seed), factor=200) for seed in range(8)]
    found = np.mean([estimate.standard_error for estimate in estimates])
    assert found == pytest.approx(exact, rel=0.06)
    effective = np.mean([estimate.effective_samples for estimate in estimates])
    assert effective == pytest.approx(count * (1 - r) / (1 + r), rel=0.15)


def test_merging_removes_the_correlation():
    """Blind batch means would be sqrt(19) times too small; merging must get most of it back."""
    r, count = 0.9, 4096
    exact = np.sqrt((1 + r) / (1 - r) / count)
    errors = [batch_mean(autoregressive(count, r, seed)).standard_error for seed in range(12)]
    assert np.mean(errors) == pytest.approx(exact, rel=0.2)
    blind = batch_mean(autoregressive(count, r, 0), factor=1).standard_error
    assert blind < 0.3 * exact


def test_interval_covers_the_truth():
    hits = 0
    for seed in range(300):
        estimate = batch_mean(autoregressive(640, 0.5, seed), factor=32)
        hits += abs(estimate.mean) <= estimate.half_width
    assert 0.91 <= hits / 300 <= 0.98


def test_merge_factor_of_independent_blocks_is_one():
    factors = [merge_factor([np.random.default_rng(seed).normal(size=64)]) for seed in range(20)]
    assert np.mean(np.array(factors) == 1) >= 0.8
    assert merge_factor([np.ones(64)]) == 1


def test_merging_keeps_eight_batches():
    assert merge_factor([np.arange(64.0)]) == 8  # a trend never decorrelates
    assert merge_factor([np.arange(7.0)]) == 1


def test_lag_one_correlation():
    assert lag_one_correlation(np.array([1.0, -1.0] * 8)) == pytest.approx(-15 / 16)
    assert lag_one_correlation(np.ones(10)) == 0


def test_jackknife_of_a_mean_is_the_batch_means_error():
    values = [1.0, 3.0, 2.0, 6.0, 4.0, 2.0]
    error = jackknife(lambda means: means.centre["u"], blocks_of(values))
    np.testing.assert_allclose(error, np.std(values, ddof=1) / np.sqrt(6))


def test_jackknife_of_a_root_is_the_error_over_twice_the_root():
    rng = np.random.default_rng(1)
    values = 4.0 + 0.01 * rng.normal(size=40)
    error = jackknife(lambda means: np.sqrt(means.centre["u"]), blocks_of(values))
    np.testing.assert_allclose(error, np.std(values, ddof=1) / np.sqrt(40) / 4, rtol=1e-3)


def test_jackknife_with_unequal_blocks():
    """Blocks of many samples scatter less: variance sigma^2/m each, so the mean has sigma/sqrt(n)."""
    rng = np.random.default_rng(2)
    samples = rng.integers(5, 50, size=400)
    values = 3 + rng.normal(size=400) / np.sqrt(samples)
    error = jackknife(lambda means: means.centre["u"], blocks_of(values, samples))
    np.testing.assert_allclose(error, 1 / np.sqrt(samples.sum()), rtol=0.1)


def test_a_single_block_has_no_interval():
    assert np.isnan(half_width95(lambda means: means.centre["u"], blocks_of([1.0]))).all()


def test_independent_batches_merges_correlated_blocks():
    correlated = blocks_of(5 + autoregressive(256, 0.95, 3))
    assert 8 <= len(independent_batches(correlated)) <= 64
    assert len(independent_batches(blocks_of([1.0, 2.0]))) == 2
