"""Histograms of known densities: moments, reflection, averages over other bins, densities."""

from dataclasses import astuple

import numpy as np
import pytest
from scipy.stats import norm
from synthetic_densities import gaussian_counts, gaussian_joint

from sluice_post.histograms import Histogram, Joint, beyond_bins, density, moments


def histogram(mean=0.3, rms=2.0, low=None, width=0.25, bins=128):
    """Of a Gaussian, exactly."""
    low = mean - 63.3 * width if low is None else low
    edges = low + width * np.arange(bins + 1)
    return Histogram(1000 * gaussian_counts(edges, mean, rms), np.array(low), np.array(width))


@pytest.mark.parametrize("rms", [2.0, 1.0, 0.5, 0.3])
def test_moments_have_no_error_of_the_width(rms):
    """Bins from an eighth of a standard deviation up to nearly one."""
    of = moments([histogram(rms=rms)])
    assert of.mean == pytest.approx(0.3, abs=1e-9)
    assert of.rms == pytest.approx(rms, rel=2e-7)
    assert (of.skewness, of.flatness) == pytest.approx((0, 3), abs=1e-5)


def test_skewed_density():
    """An exponential density has skewness 2 and flatness 9; its step at 0 leaves errors of the order of the width."""
    width = 0.01
    edges = width * np.arange(5001)
    whole = Histogram(np.diff(1 - np.exp(-edges)), np.array(0.0), np.array(width))
    np.testing.assert_allclose(astuple(moments([whole])), (1, 1, 2, 9), rtol=1e-4)
    np.testing.assert_allclose(astuple(moments([whole.linear(-2.0, 1.0)])), (-1, 4, -2, 9), rtol=1e-4)


def laplace(range_of_bins, bins=128, mean=0.3, skew=1.0):
    """Exponential tails to both sides, `skew` times as long above; bins reach `range_of_bins` to either side."""
    width = 2 * range_of_bins / bins
    edges = mean - range_of_bins + width * np.arange(bins + 1)
    x = edges[1:-1] - mean
    below = np.where(x < 0, np.exp(np.minimum(x, 0)), 1 + skew * (1 - np.exp(-np.maximum(x, 0) / skew)))
    counts = np.diff(np.concatenate([[0], below / (1 + skew), [1]]))
    return Histogram(1e6 * counts, edges[0], np.array(width))


@pytest.mark.parametrize("skew", [1.0, 1.7])
@pytest.mark.parametrize("factor", [1.0, -0.4])
def test_what_is_beyond_the_bins(skew, factor):
    """Of a density with exponential tails, of which the bins cut a part off."""
    whole = moments([laplace(60, 8000, skew=skew).linear(factor)])
    cut = [laplace(reach, skew=skew).linear(factor) for reach in (7.0, 9.0)]
    found, missing = moments(cut), beyond_bins(cut)
    assert found.flatness < 0.97 * whole.flatness
    for name in ("mean", "variance", "skewness", "flatness"):
        expected = getattr(whole, name) - getattr(found, name)
        assert getattr(missing, name) == pytest.approx(expected, rel=0.02, abs=1e-9)


def test_nothing_is_beyond_wide_bins():
    assert np.max(np.abs(astuple(beyond_bins([histogram(rms=2.0), histogram(rms=1.5)])))) < 1e-9
    outlier = laplace(11.0)  # as if a few points had been far from all others
    outlier.counts[-40:-1] = 0
    assert 0 < beyond_bins([outlier]).flatness < 1


def test_average_over_other_bins():
    """Two Gaussians of different means in bins of different widths: a mixture with known moments."""
    of = moments([histogram(-1.0, 1.0, width=0.15), histogram(1.0, 1.0, width=0.2)])
    assert of.mean == pytest.approx(0, abs=1e-9)
    assert of.variance == pytest.approx(2, rel=1e-8)
    assert of.flatness == pytest.approx(10 / 4, rel=1e-8)
    edges = np.linspace(-4, 4, 41)
    found = density([histogram(-1.0, 1.0, width=0.15), histogram(1.0, 1.0, width=0.2)], edges)
    expected = np.diff((norm.cdf(edges, -1) + norm.cdf(edges, 1)) / 2) / np.diff(edges)
    np.testing.assert_allclose(found, expected, rtol=3e-3)
    assert np.sum(found * np.diff(edges)) == pytest.approx(2 * norm.cdf(4, 1) - 1 + norm.cdf(-4, 1), abs=2e-3)


def test_moments_of_planes_at_once():
    planes = [histogram(mean, rms) for mean, rms in ((0.3, 2.0), (5.0, 1.0))]
    together = Histogram(*(np.array([getattr(h, name) for h in planes]) for name in ("counts", "low", "width")))
    of = moments([together])
    np.testing.assert_allclose(of.mean, [0.3, 5.0], rtol=1e-9)
    np.testing.assert_allclose(of.rms, [2, 1], rtol=1e-9)
    np.testing.assert_allclose(together.at(1).edges, planes[1].edges)


def test_what_is_in_the_end_bins_has_no_density():
    h = histogram(rms=2.0, low=-3.7, bins=32)
    assert h.in_end_bins == pytest.approx(norm.cdf(h.edges[1], 0.3, 2) + norm.sf(h.edges[-2], 0.3, 2))
    found = density([h], h.edges)
    assert np.isnan(found[[0, -1]]).all()
    assert np.isfinite(found[1:-1]).all()


def test_joint_density_leaves_out_the_end_bins():
    joint = Joint(np.ones((64, 64)), np.zeros(2), np.ones(2))
    found = joint.density((np.arange(65.0), np.arange(65.0)))
    assert np.all(found[1:-1, 1:-1] == 1 / 64**2)
    assert found.sum() == pytest.approx((62 / 64) ** 2)


def test_a_wall_does_not_fluctuate():
    h = Histogram(np.eye(128)[64] * 50, np.array(-64e-30), np.array(1e-30))
    assert moments([h]).rms < 1e-30
    assert np.isnan(moments([h]).skewness)
    assert np.isnan(beyond_bins([h]).flatness)


@pytest.mark.parametrize("factors", [(1, 1), (1, -1), (-0.5, 3)])
def test_joint_density(factors):
    """Of correlated Gaussians, mirrored and stretched."""
    low, width, mean, rms, correlation = np.array([-8.3, -4.1]), np.array([0.25, 0.125]), (0.1, -0.2), (1.0, 0.5), -0.4
    edges = [low[n] + width[n] * np.arange(65) for n in (0, 1)]
    joint = Joint(7 * gaussian_joint(*edges, *zip(mean, rms, strict=True), correlation), low, width).linear(factors)
    scales = [moments([joint.marginal(n)]) for n in (0, 1)]
    for n in (0, 1):
        assert scales[n].mean == pytest.approx(factors[n] * mean[n], abs=1e-4)
        assert scales[n].rms == pytest.approx(abs(factors[n]) * rms[n], rel=1e-3)
    bins = [factors[n] * mean[n] + abs(factors[n]) * rms[n] * np.arange(-3, 3.125, 0.25) for n in (0, 1)]
    found = joint.density((bins[0], bins[1])) * abs(factors[0] * factors[1]) * rms[0] * rms[1]
    expected = gaussian_joint(
        np.arange(-3, 3.125, 0.25), np.arange(-3, 3.125, 0.25), (0, 1), (0, 1), correlation * np.prod(np.sign(factors))
    )
    np.testing.assert_allclose(found[1:-1, 1:-1] * 0.25**2, expected[1:-1, 1:-1], rtol=0, atol=2e-4)
