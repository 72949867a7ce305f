"""Streaming SPOD: travelling waves, the same as SPOD of all blocks at once, and times that are not equidistant."""

import numpy as np
import pytest

pytest.importorskip("h5netcdf")

import xarray as xr

from sluice_post.errors import UsageError
from sluice_post.modes import StreamingSPOD

NZ, NX = 10, 16
Z = (np.arange(NZ) + 0.5) * 2 / NZ
X = (np.arange(NX) + 0.5) * 2 * np.pi / NX
PLANE = {"z": Z, "x": X}
BLOCK, DT = 16, 0.125


def decomposed(samples: np.ndarray, rank: int = 60, **options) -> xr.Dataset:
    components = ("p", "q", "r")[: samples.shape[1]]
    spod = StreamingSPOD(PLANE, components, rank, **{"block": BLOCK} | options)
    for n, sample in enumerate(samples):
        spod.add(DT * n, sample)
    return spod.result()


def random_samples(count: int, components: int = 2) -> np.ndarray:
    """Noise, a wave and a mean."""
    time = DT * np.arange(count)[:, None, None, None]
    noise = np.random.default_rng(1).normal(size=(count, components, NZ, NX))
    return noise + 5 * Z[:, None] + 3 * np.cos(2 * X - 2 * np.pi * 1.3 * time)


def at_once(samples: np.ndarray, overlap: int, window: np.ndarray, mean: bool, homogeneous: bool) -> np.ndarray:
    """Energies (frequency, mode) or (frequency, kx, mode) by an SVD of the transforms of all blocks."""
    along = (0, 3) if homogeneous else (0,)
    samples = samples - samples.mean(axis=along, keepdims=True) * mean
    begins = range(0, len(samples) - BLOCK + 1, BLOCK - overlap)
    blocks = np.stack([samples[n : n + BLOCK] for n in begins]) * window[:, None, None, None]
    scale = np.sqrt(DT / np.sum(window**2) / NZ)
    if not homogeneous:
        found = np.fft.rfft(blocks, axis=1) * scale / np.sqrt(NX)
        found[:, 1:-1] *= np.sqrt(2)
        matrices = found.reshape(len(blocks), BLOCK // 2 + 1, -1).transpose(1, 2, 0)
    else:
        along_x = np.fft.rfft(blocks, axis=-1) / NX
        along_x[..., 1:-1] *= np.sqrt(2)
        found = np.fft.fftshift(np.fft.ifft(along_x, axis=1) * BLOCK, axes=1) * scale
        matrices = found.reshape(len(blocks), BLOCK, -1, NX // 2 + 1).transpose(1, 3, 2, 0)
    return np.linalg.svd(matrices, compute_uv=False) ** 2 / len(blocks)


@pytest.mark.parametrize("homogeneous", [(), ("x",)])
@pytest.mark.parametrize("mean", [True, False])
@pytest.mark.parametrize("overlap", [0, 8, 13])
@pytest.mark.parametrize("window", ["hann", "hamming", "boxcar", "blackman"])
def test_full_rank_is_spod_of_all_blocks_at_once(homogeneous, mean, overlap, window):
    from scipy.signal import get_window

    samples = random_samples(150)
    found = decomposed(samples, overlap=overlap, window=window, mean=mean, homogeneous=homogeneous)
    energy = at_once(samples, overlap, get_window(window, BLOCK), mean, bool(homogeneous))
    rank = min(energy.shape[-1], found.sizes["mode"])
    np.testing.assert_allclose(found.energy[..., :rank], energy[..., :rank], atol=1e-14 * energy.max())
    np.testing.assert_allclose(found.total_energy, energy.sum(axis=-1), rtol=1e-12, atol=1e-14 * energy.max())
    assert found.attrs["blocks"] == (150 - overlap) // (BLOCK - overlap)


@pytest.mark.parametrize("homogeneous", [(), ("x",)])
def test_limited_rank_is_within_its_bound(homogeneous):
    samples = random_samples(200)
    found = decomposed(samples, rank=4, homogeneous=homogeneous)
    energy = at_once(samples, 8, np.hanning(BLOCK + 1)[:-1], True, bool(homogeneous))
    lost = energy[..., :4] - found.energy.values
    assert np.all(lost >= -1e-13 * energy.max())
    assert np.all(lost <= found.energy_error.values[..., None] + 1e-13 * energy.max())
    np.testing.assert_allclose(found.total_energy, energy.sum(axis=-1), rtol=1e-11)
    assert found.attrs["rank"] == found.sizes["mode"] == 4


def test_downstream_wave_has_a_positive_frequency():
    time = DT * np.arange(80)[:, None, None, None]
    frequency = 3 / (BLOCK * DT)
    samples = 4 + 2 * Z[:, None] * np.cos(2 * X - 2 * np.pi * frequency * time)
    expected = 4 * np.mean(Z**2) / 2  # the variance
    found = decomposed(samples, rank=3, window="boxcar", homogeneous=("x",))
    spacing = 1 / (BLOCK * DT)
    np.testing.assert_allclose(
        found.energy.sel(frequency=frequency, kx=2, mode=1, method="nearest") * spacing, expected, rtol=1e-12
    )
    np.testing.assert_allclose(found.total_energy.sum() * spacing, expected, rtol=1e-12)
    mode = found.modes.sel(frequency=frequency, kx=2, method="nearest")[0, 0].values
    np.testing.assert_allclose(mode, Z / np.sqrt(np.mean(Z**2)), rtol=1e-12)

    plain = decomposed(samples, rank=3, window="boxcar")
    np.testing.assert_allclose(plain.energy.sel(frequency=frequency, mode=1) * spacing, expected, rtol=1e-12)
    np.testing.assert_allclose(plain.total_energy.sum() * spacing, expected, rtol=1e-12)
    # exp(i (2 x - 2 pi f t)): the phase of the mode grows with x.
    wave = plain.modes.sel(frequency=frequency)[0, 0].values
    np.testing.assert_allclose(wave[:, 1] / wave[:, 0], np.exp(2j * (X[1] - X[0])), rtol=1e-10)
    assert plain.modes.dims == ("frequency", "mode", "component", "z", "x")
    np.testing.assert_allclose(plain["mean"], samples.mean(axis=0), rtol=1e-13)
    assert (plain.frequency.attrs["units"], plain.energy.attrs["units"]) == ("U/h", "(rho U^2)^2 h/U")


def test_wave_upstream():
    time = DT * np.arange(64)[:, None, None, None]
    samples = np.cos(X + 2 * np.pi / (BLOCK * DT) * 2 * time) * np.ones((NZ, 1))
    energy = decomposed(samples, rank=1, homogeneous=("x",)).energy
    place = energy.isel(energy.argmax(...))
    assert float(place.frequency) == pytest.approx(-2 / (BLOCK * DT))
    assert float(place.kx) == pytest.approx(1)


def test_times_that_are_not_equidistant():
    spod = StreamingSPOD(PLANE, ("u",), 3, block=8)
    sample = np.zeros((NZ, NX))
    for n in range(1000, 1020):
        spod.add(n * 0.1, sample)
    with pytest.raises(UsageError, match=r"not equidistant in time: 0\.1001.*`time\.dt`, not `time\.cfl`"):
        spod.add(1020 * 0.1 + 1e-4, sample)


def test_messages():
    spod = StreamingSPOD(PLANE, ("u",), 3, block=8)
    spod.add(0, np.zeros((NZ, NX)))
    with pytest.raises(UsageError, match="at least 2 blocks of 8 samples; 1 samples have 0"):
        spod.result()
    with pytest.raises(UsageError, match="overlap 8"):
        StreamingSPOD(PLANE, ("u",), 3, block=8, overlap=8)
    with pytest.raises(UsageError, match="window 'nothing'"):
        StreamingSPOD(PLANE, ("u",), 3, window="nothing")
    with pytest.raises(UsageError, match="must have 256 values"):
        StreamingSPOD(PLANE, ("u",), 3, window=[1, 2])
