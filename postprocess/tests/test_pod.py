"""Streaming POD: known modes, the same as one SVD of all samples, the bound of what the rank leaves out, memory."""

import tracemalloc

import numpy as np
import pytest

pytest.importorskip("h5netcdf")

import xarray as xr

import sluice_post.datasets.modes  # noqa: F401  # before memory is measured
from sluice_post.errors import UsageError
from sluice_post.modes import StreamingPOD, StreamingSPOD

NZ, NX = 20, 24
FACES = np.tanh(2 * np.linspace(-1, 1, NZ + 1)) / np.tanh(2) + 1
Z_FACE, Z = FACES[1:], (FACES[1:] + FACES[:-1]) / 2
DZ = np.diff(FACES)
X_FACE = np.arange(1, NX + 1) * 2 * np.pi / NX
X = X_FACE - np.pi / NX
PLANE = {"z_face": Z_FACE, "x_face": X_FACE}


def decomposed(samples: np.ndarray, components: tuple[str, ...], rank: int, **options) -> xr.Dataset:
    pod = StreamingPOD(PLANE, components, rank, **options)
    for n, sample in enumerate(samples):
        pod.add(0.1 * n, sample)
    return pod.result()


def random_samples(count: int, components: int, seed: int = 1) -> np.ndarray:
    """With a mean that is large, and energies that decrease."""
    random = np.random.default_rng(seed)
    patterns = random.normal(size=(30, components, NZ, NX))
    amplitudes = random.normal(size=(count, 30)) / 1.5 ** np.arange(30)
    return 20 + Z[:, None] + np.tensordot(amplitudes, patterns, axes=1)


def weights_of(components: tuple[str, ...]) -> np.ndarray:
    """(component, z, x)"""
    of_faces = (DZ + np.roll(DZ, -1)) / 2
    along_z = np.stack([of_faces if name == "w" else DZ for name in components])
    return np.repeat((along_z / along_z.sum(axis=1, keepdims=True) / NX)[..., None], NX, axis=2)


def singular_values(samples: np.ndarray, components: tuple[str, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Energies and modes of all samples at once."""
    fluctuations = (samples - samples.mean(axis=0)) * np.sqrt(weights_of(components))
    modes, values, _ = np.linalg.svd(fluctuations.reshape(len(samples), -1).T, full_matrices=False)
    shape = samples.shape[1:]
    return values**2 / len(samples), modes.T.reshape(-1, *shape) / np.sqrt(weights_of(components))


@pytest.mark.parametrize("rank", [2, 5])
def test_known_modes_on_uneven_cells(rank):
    # Of u and w together; orthogonal, since cos and sin are along x, with unequal energies of 9/2 and 1/2.
    first = np.stack([np.cos(2 * X_FACE) * np.ones((NZ, 1)), np.zeros((NZ, NX))])
    second = np.stack([np.zeros((NZ, NX)), np.sin(3 * X) * Z_FACE[:, None]])
    of_faces = weights_of(("w",))[0, :, 0] * NX
    size = np.sqrt([0.5, 0.5 * np.sum(of_faces * Z_FACE**2)])
    angle = 2 * np.pi * np.arange(40) / 40
    samples = np.array([3 * np.cos(a) * first / size[0] + np.sin(a) * second / size[1] + 7 for a in angle])
    found = decomposed(samples, ("u", "w"), rank)
    np.testing.assert_allclose(found.energy[:2], [4.5, 0.5], rtol=1e-13)
    np.testing.assert_allclose(found.fraction[:2], [0.9, 0.1], rtol=1e-13)
    np.testing.assert_allclose(found.total_energy, 5, rtol=1e-13)
    np.testing.assert_allclose(found["mean"], 7, rtol=1e-13)
    assert float(found.energy_error) < 1e-25
    for mode, expected in ((0, first / size[0]), (1, second / size[1])):
        modes = found.modes[mode].values
        np.testing.assert_allclose(modes * np.sign(np.sum(modes * expected)), expected, atol=1e-13)
    assert found.modes.dims == ("mode", "component", "z", "x")
    assert np.isnan(found.modes[2:]).all()
    assert found.energy.attrs["units"] == "U^2"


@pytest.mark.parametrize("components", [("u",), ("u", "v", "w"), ("w", "p")])
@pytest.mark.parametrize("count", [9, 50])
def test_full_rank_is_one_svd(components, count):
    samples = random_samples(count, len(components))
    energy, modes = singular_values(samples, components)
    found = decomposed(samples, components, 40)
    true = min(count - 1, 30)
    np.testing.assert_allclose(found.energy[:true], energy[:true], atol=1e-14 * energy[0])
    np.testing.assert_allclose(found.total_energy, energy.sum(), rtol=1e-12)
    assert float(found.energy_error) <= 1e-25 * energy[0]
    weights = weights_of(components)
    for n in range(6):
        product = np.sum(weights * modes[n] * found.modes[n].values)
        np.testing.assert_allclose(abs(product), 1, rtol=1e-12)
    kept = found.modes[:true].values.reshape(true, -1)
    np.testing.assert_allclose((kept * weights.ravel()) @ kept.T, np.eye(true), atol=1e-9)
    np.testing.assert_allclose(found["mean"], samples.mean(axis=0), rtol=1e-13)


@pytest.mark.parametrize("rank", [1, 3, 8, 15])
def test_limited_rank_is_within_its_bound(rank):
    samples = random_samples(200, 2)
    energy, _ = singular_values(samples, ("u", "v"))
    found = decomposed(samples, ("u", "v"), rank)
    lost = energy[:rank] - found.energy.values
    assert np.all(lost >= -1e-13 * energy[0])
    assert np.all(lost <= float(found.energy_error) + 1e-13 * energy[0])
    np.testing.assert_allclose(found.total_energy, energy.sum(), rtol=1e-12)
    if rank == 15:  # the energies decrease by 1.5^2 from one to the next: the bound is of use
        assert float(found.energy_error) < 1e-3 * energy[0]
        np.testing.assert_allclose(found.energy[:5], energy[:5], rtol=1e-6)


def test_mean_that_is_not_removed():
    samples = random_samples(30, 1)
    found = decomposed(samples, ("u",), 40, mean=False)
    values = np.linalg.svd((samples * np.sqrt(weights_of(("u",)))).reshape(30, -1), compute_uv=False)
    np.testing.assert_allclose(found.energy[:30], values**2 / 30, atol=1e-14 * values[0] ** 2)
    assert "mean" not in found


def test_result_may_be_asked_for_on_the_way():
    samples = random_samples(60, 1)
    pod = StreamingPOD(PLANE, ("u",), 40)
    for n, sample in enumerate(samples):
        pod.add(n, sample)
        if n == 33:
            first = pod.result()
    energy, _ = singular_values(samples[:34], ("u",))
    np.testing.assert_allclose(first.energy[:25], energy[:25], atol=1e-14 * energy[0])
    energy, _ = singular_values(samples, ("u",))
    np.testing.assert_allclose(pod.result().energy[:25], energy[:25], atol=1e-14 * energy[0])


def test_homogeneous_direction():
    # A wave in u, at x_face, and in w, at x: the mode has their phases at common points.
    phase = np.random.default_rng(3).uniform(0, 2 * np.pi, 50)
    samples = np.stack([[np.sin(X_FACE - a) * Z[:, None], np.cos(X - a) * Z_FACE[:, None]] for a in phase])
    samples[:, 0] += Z[:, None] ** 2
    found = decomposed(samples, ("u", "w"), 4, homogeneous=("x",))
    energy = found.energy.values
    weights = weights_of(("u", "w"))[:, :, 0] * NX
    expected = np.sum(weights * np.stack([Z**2, Z_FACE**2])) / 2
    np.testing.assert_allclose(energy[1, 0], expected, rtol=1e-12)
    np.testing.assert_allclose(energy.sum(), expected, rtol=1e-12)
    np.testing.assert_allclose(found.total_energy.sum(), expected, rtol=1e-12)
    mode = found.modes[1, 0].values
    np.testing.assert_allclose(mode[0] / Z / (mode[1] / Z_FACE), -1j, rtol=1e-12)
    np.testing.assert_allclose(found["mean"][0], Z**2, atol=1e-13)
    np.testing.assert_allclose(found.kx, np.arange(NX // 2 + 1), rtol=1e-13)
    assert found.modes.dims == ("kx", "mode", "component", "z")


def test_both_directions_of_a_wall_parallel_plane_are_homogeneous():
    y = (np.arange(18) + 0.5) * np.pi / 18
    random = np.random.default_rng(5)
    samples = random.normal(size=(40, 2, 18, NX)) + 5
    pod = StreamingPOD({"y": y, "x": X}, ("u", "v"), 2, homogeneous=("x", "y"))
    for n, sample in enumerate(samples):
        pod.add(n, sample)
    found = pod.result()
    np.testing.assert_allclose(found.energy.sum(), samples.var(axis=(0, 2, 3)).sum(), rtol=1e-12)
    assert found.energy.dims == ("ky", "kx", "mode")
    assert np.all(np.diff(found.ky) > 0)
    tone = np.cos(3 * X - 4 * y[:, None])[None]
    pod = StreamingPOD({"y": y, "x": X}, ("p",), 1, homogeneous=("x", "y"))
    for n in range(3):
        pod.add(n, (n - 1) * tone)
    place = pod.result().energy.isel(mode=0)
    np.testing.assert_allclose(place.sel(kx=3, ky=-4, method="nearest"), 1 / 3, rtol=1e-12)
    np.testing.assert_allclose(place.sum(), 1 / 3, rtol=1e-12)


def test_translations_do_not_matter_with_homogeneous_directions():
    samples = random_samples(20, 1)
    shifted = np.concatenate([np.roll(samples, n, axis=3) for n in range(NX)])
    one = decomposed(samples, ("u",), 19, homogeneous=("x",))
    all_of_them = decomposed(shifted, ("u",), 19, homogeneous=("x",))
    np.testing.assert_allclose(one.energy, all_of_them.energy, atol=1e-13 * float(one.energy.max()))


@pytest.mark.parametrize("homogeneous", [(), ("x",), ("z",), ("z", "x")])
@pytest.mark.parametrize("method", [StreamingPOD, StreamingSPOD])
def test_memory_is_as_stated(homogeneous, method):
    shape = (2, 48, 64)
    options = {"block": 24} if method is StreamingSPOD else {}
    coordinates = {"z": np.arange(shape[1]) + 0.5, "x": np.arange(shape[2]) + 0.5}
    random = np.random.default_rng(1)
    tracemalloc.start()
    stream = method(coordinates, ("p", "q"), 6, homogeneous=homogeneous, **options)
    stated, begin = stream.memory(), tracemalloc.get_traced_memory()[0]
    assert begin < 0.02 * stated
    for n in range(100):
        stream.add(n, random.normal(size=shape))
    stream.result()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert 0.4 * stated < peak <= stated + 200_000  # and what Python and xarray themselves take


@pytest.mark.parametrize("method", [StreamingPOD, StreamingSPOD])
@pytest.mark.parametrize("homogeneous", [(), ("x",), ("z", "x")])
@pytest.mark.parametrize("library", ["array_api_strict", "cupy", "torch"])
def test_arrays_of_another_library_stay_there(method, homogeneous, library):
    xp = pytest.importorskip(library)
    device = {"device": "cuda"} if library == "torch" and xp.cuda.is_available() else {}
    if library == "torch":
        pytest.importorskip("array_api_compat")
    options = {"block": 8} if method is StreamingSPOD else {}
    coordinates = {"z": np.arange(6) + 0.5, "x": np.arange(10) + 0.5}
    here, there = (method(coordinates, ("p", "q"), 4, homogeneous=homogeneous, **options) for _ in range(2))
    for n, sample in enumerate(np.random.default_rng(2).normal(size=(40, 2, 6, 10))):
        here.add(n, sample)
        there.add(n, xp.asarray(sample, **device))
    assert isinstance(there._kept._kept, type(xp.asarray(1.0)))
    assert there._kept._kept.device == xp.asarray(sample, **device).device
    assert isinstance(here._kept._kept, np.ndarray)
    found, expected = there.result(), here.result()
    largest = float(expected.energy.max())
    xr.testing.assert_allclose(found.energy, expected.energy, rtol=1e-11, atol=1e-13 * largest)
    # Modes of energies that lie close together are less certain.
    strong = expected.energy > 1e-6 * largest
    xr.testing.assert_allclose(found.modes.where(strong), expected.modes.where(strong), rtol=1e-7, atol=1e-7)


def test_messages():
    pod = StreamingPOD(PLANE, ("u",), 3)
    with pytest.raises(UsageError, match="at least 2 samples; there are 0"):
        pod.result()
    with pytest.raises(UsageError, match=r"must have the shape \(1, 20, 24\)"):
        pod.add(0, np.zeros((3, NZ, NX)))
    with pytest.raises(UsageError, match="not finite"):
        pod.add(0, np.full((NZ, NX), np.nan))
    pod.add(0, np.zeros((NZ, NX)))
    with pytest.raises(UsageError, match="not later than the one before"):
        pod.add(0, np.zeros((NZ, NX)))
    with pytest.raises(UsageError, match="rank 0"):
        StreamingPOD(PLANE, ("u",), 0)
    with pytest.raises(UsageError, match="homogeneous z: the points are not evenly spaced"):
        StreamingPOD(PLANE, ("u",), 3, homogeneous=("z",))
    with pytest.raises(UsageError, match="homogeneous y: samples have only z, x"):
        StreamingPOD(PLANE, ("u",), 3, homogeneous=("y",))
    with pytest.raises(UsageError, match="the quadrature needs `weights`"):
        StreamingPOD({"z": Z[4:], "x": X}, ("u",), 3)
    with pytest.raises(UsageError, match="positive and finite"):
        StreamingPOD(PLANE, ("u",), 3, weights=0)
    given = StreamingPOD({"z": Z[4:], "x": X}, ("u",), 3, weights=DZ[4:, None])
    assert given.memory() > 0
