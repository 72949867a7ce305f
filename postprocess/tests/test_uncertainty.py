import numpy as np
import pytest
from scipy.signal import lfilter

from sluice_post.datasets.variables import described
from sluice_post.profiles import peak
from sluice_post.statistics import Blocks
from sluice_post.uncertainty import (
    degrees_of_freedom,
    half_width95,
    intervals,
    jackknife,
    mean_with_interval,
    standard_error,
    standard_error_of,
    student_t95,
)

SERIES = 4000  # an observed coverage of 95 % then has a standard error of 0.34 %


def blocks_of(u, samples=None, tau=0.0, uu=0.0):
    """Blocks whose profiles hold the given block means, blocks along the first axis."""
    u = np.asarray(u, dtype=float)
    u = u[:, None] if u.ndim == 1 else u
    samples = np.ones(len(u), dtype=np.int64) if samples is None else np.asarray(samples)
    times = np.arange(len(u), dtype=float)
    weight = samples[:, None]
    centre, face = {"u": weight * u, "uu": weight * uu}, {"tau_xz": weight * tau}
    one_flow = np.zeros(len(u), dtype=np.int64)
    z, z_face = np.array([0.5]), np.array([0.0, 1.0])
    return Blocks(z, z_face, samples, times, times + 1, centre, face, 0 * times, one_flow, ())


def autocorrelation(coefficients):
    """Autocorrelation of an autoregressive process, at lags up to 2000."""
    response = lfilter([1], [1, *(-c for c in coefficients)], np.eye(1, 2000)[0])
    covariance = np.fft.irfft(np.abs(np.fft.rfft(response, 4000)) ** 2)[:2000]
    return covariance / covariance[0]


def integral_time_scale(parts):
    """In blocks, of the slowest part of a sum of processes: half of the sum of |correlation| over all lags."""
    return max(0.5 + np.abs(autocorrelation(coefficients)[1:]).sum() for _, coefficients in parts)


def series_of(parts, count, seed, series=SERIES):
    """Independent series with variance 1 and mean 0, blocks along the first axis.

    `parts`: the share of the variance and the coefficients of each autoregressive process.
    """
    rng = np.random.default_rng(seed)
    total = np.zeros((count, series))
    for share, coefficients in parts:
        recursion = [1, *(-c for c in coefficients)]
        variance = np.sum(lfilter([1], recursion, np.eye(1, 2000)[0]) ** 2)
        noise = rng.normal(size=(count + 200, series)) * np.sqrt(share / variance)
        total += lfilter([1], recursion, noise, axis=0)[200:]
    return total


def first_order(time):
    return [np.exp(-1 / time)]


def oscillating(decay, period):
    return [2 * decay * np.cos(2 * np.pi / period), -(decay**2)]


PROCESSES = {
    **{f"AR(1), {time} blocks": [(1.0, first_order(time))] for time in (0.1, 0.5, 1, 2, 5)},
    "AR(2), period 4": [(1.0, oscillating(0.6, 4))],
    "AR(2), period 8": [(1.0, oscillating(0.7, 8))],
    "fast and slow, 1 block": [(0.8, first_order(0.1)), (0.2, first_order(1))],
    "fast and slow, 2 blocks": [(0.8, first_order(0.2)), (0.2, first_order(2))],
    "fast and slow, 5 blocks": [(0.8, first_order(0.5)), (0.2, first_order(5))],
}
COUNTS = (20, 40, 80, 120, 200)
LONG_ENOUGH = [
    (name, count) for name, parts in PROCESSES.items() for count in COUNTS if count >= 30 * integral_time_scale(parts)
]


def mean_coverage(name, count):
    """Percentage of the 95 % intervals of means that contain the true mean, 0."""
    values = series_of(PROCESSES[name], count, seed=count)
    width = student_t95(degrees_of_freedom(count)) * standard_error((values - values.mean(axis=0)) / count)
    return 100 * np.mean(np.abs(values.mean(axis=0)) <= width)


@pytest.mark.parametrize(("name", "count"), LONG_ENOUGH)
def test_intervals_of_means_contain_the_truth(name, count):
    assert 93 <= mean_coverage(name, count) <= 97


@pytest.mark.parametrize(("time", "count"), [(1, 20), (2, 40), (5, 80)])
def test_intervals_of_series_too_short(time, count):
    """Half as long as they should be, 16 to 20 integral time scales: README.md promises 90 %."""
    assert 90 <= mean_coverage(f"AR(1), {time} blocks", count) < 93.5


@pytest.mark.parametrize(("time", "count"), [(0.5, 20), (1, 40), (2, 80), (2, 120)])
def test_intervals_of_nonlinear_figures_contain_the_truth(time, count):
    """Re_tau from the wall shear, and the height and place of a peak of u'+ that moves and changes."""
    series = 2000
    z = np.linspace(9, 21, 7)
    shear, height, place = (series_of([(1.0, first_order(time))], count, seed, series) for seed in range(3))
    tau, u = 1 + 0.1 * shear, 10 + 0.3 * shear
    variance = 7 + height[:, None] - ((z[:, None] - 15 - place[:, None]) / 6) ** 2
    uu = variance + u[:, None] ** 2

    def figures(tau, u, uu):
        rms = np.sqrt((uu - u**2) / tau)
        return np.stack([180 * np.sqrt(tau), *np.transpose([peak(z, column) for column in rms.T])])

    blocks = blocks_of(u, tau=tau, uu=uu.reshape(count, -1))

    def figures_of(means):
        return figures(means.face["tau_xz"], means.centre["u"], means.centre["uu"].reshape(len(z), series))

    # The true means: those of the squares contain the variances of u, 0.09, and of the place, 1.
    truth = figures(np.ones(1), np.full(1, 10.0), (7 + 100 + 0.09 - ((z - 15) ** 2 + 1) / 36)[:, None])
    inside = np.abs(figures_of(blocks.means()) - truth) <= half_width95(figures_of, blocks)
    coverage = 100 * inside.mean(axis=1)
    assert np.all((coverage >= 93) & (coverage <= 97)), coverage


def test_blocks_of_different_lengths():
    """The variance of a block is that of its samples over their number; half of the samples are in four blocks."""
    samples = np.array([1, 2, 1, 40, 3, 40, 2, 4, 1, 1, 40, 6, 8, 1, 40, 9, 8, 3, 2, 7] * 2)
    values = np.random.default_rng(4).normal(size=(len(samples), SERIES)) / np.sqrt(samples)[:, None]
    blocks = blocks_of(values, samples)
    error = standard_error_of(lambda means: means.centre["u"], blocks)
    assert np.sqrt(np.mean(error**2)) == pytest.approx(1 / np.sqrt(samples.sum()), rel=0.02)
    inside = np.abs(blocks.means().centre["u"]) <= student_t95(6) * error
    assert 93 <= 100 * inside.mean() <= 97


def test_standard_error_of_a_cosine():
    """A cosine of half a period has the amplitude of one of six; faster changes do not matter."""
    middle = (np.arange(48) + 0.5) / 48
    values = 3 + np.sqrt(2) * 0.1 * np.cos(np.pi * middle)
    assert standard_error((values - 3) / 48) == pytest.approx(0.1 / np.sqrt(6))
    estimate = mean_with_interval(values + np.cos(7 * np.pi * middle))
    assert estimate.mean == pytest.approx(3)
    assert estimate.half_width == pytest.approx(2.446912 * 0.1 / np.sqrt(6))


def test_student_t_against_tabulated_values():
    """Abramowitz & Stegun, table 26.10."""
    for degrees, tabulated in ((1, 12.706), (10, 2.228), (40, 2.021), (120, 1.980)):
        assert student_t95(degrees) == pytest.approx(tabulated, abs=5e-4)
    assert np.isnan(student_t95(0))


def test_few_blocks_have_fewer_degrees_of_freedom():
    assert [degrees_of_freedom(count) for count in (1, 2, 6, 7, 8, 500)] == [0, 1, 5, 6, 6, 6]
    values = np.random.default_rng(1).normal(size=(3, SERIES))
    width = half_width95(lambda means: means.centre["u"], blocks_of(values))
    assert 93 <= 100 * np.mean(np.abs(values.mean(axis=0)) <= width) <= 97


def test_a_single_block_has_no_interval():
    assert np.isnan(half_width95(lambda means: means.centre["u"], blocks_of([1.0]))).all()
    assert np.isnan(mean_with_interval(np.ones(1)).half_width)


def test_jackknife_of_a_mean_is_exact():
    values, samples = np.array([1.0, 3.0, 2.0, 6.0, 4.0, 2.0]), np.array([4, 1, 2, 2, 8, 3])
    contributions = jackknife(lambda means: means.centre["u"], blocks_of(values, samples))
    mean = np.average(values, weights=samples)
    np.testing.assert_allclose(contributions[:, 0], samples / samples.sum() * (values - mean))


@pytest.mark.parametrize("values", [[0.9, 1.1, 1.2, 0.8], [1.0]])
def test_intervals_of_arrays_and_of_variables_are_alike(values):
    def arrays(means):
        return {"u": means.centre["u"], "uu": means.centre["u"] ** 2}

    def variables(means):
        return described(arrays(means), {"u": ("z", "velocity", "U"), "uu": ("z", "square", "U^2")})

    blocks = blocks_of(values, tau=1.0, uu=5.0)
    from_arrays, from_variables = intervals(arrays, blocks), intervals(variables, blocks)
    assert list(from_arrays) == (["u", "u_ci95", "uu", "uu_ci95"] if len(values) > 1 else ["u", "uu"])
    assert list(from_arrays) == list(from_variables)
    for name, found in from_arrays.items():
        np.testing.assert_array_equal(from_variables[name], found)
    if len(values) > 1:
        assert from_arrays["u_ci95"] == half_width95(lambda means: means.centre["u"], blocks)
        about = {"long_name": "half width of the 95 % interval of: square", "units": "U^2"}
        assert from_variables["uu_ci95"].attrs == about


def test_jackknife_of_a_root_is_the_error_over_twice_the_root():
    values = 4.0 + 0.01 * np.random.default_rng(1).normal(size=40)
    of_mean = jackknife(lambda means: means.centre["u"], blocks_of(values))
    of_root = jackknife(lambda means: np.sqrt(means.centre["u"]), blocks_of(values))
    np.testing.assert_allclose(of_root, of_mean / 4, atol=1e-6)
