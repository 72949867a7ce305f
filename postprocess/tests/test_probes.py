"""Probes: a wave of known frequency and speed, and files as Sluice writes them."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
import xarray as xr
from synthetic_probes import LENGTH, advected_turbulence, wave, write_probe

from sluice_post import layout
from sluice_post.cli import main
from sluice_post.convection import convection, has_whole_line
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.probes import equal_steps, frequency_spectrum, read_probe, spectra_csv, table_text

SPEED = 0.7
POINTS = 48


@pytest.fixture
def x() -> np.ndarray:
    return np.arange(1, POINTS + 1) * LENGTH / POINTS


def dataset_of(u: np.ndarray, time: np.ndarray, x: np.ndarray) -> xr.Dataset:
    dims = ("time", "z", "y", "x_face")
    lines = {"time": time, "x_face": x, "z": np.zeros(1)}
    return xr.Dataset({"u": (dims, u)}, lines, {"grid_velocity": 0.0, "length_x": LENGTH})


@pytest.mark.parametrize("grid_velocity", [0.0, 0.5])
def test_a_travelling_wave_has_its_frequency_and_speed(tmp_path: Path, x: np.ndarray, grid_velocity: float) -> None:
    """The points move with the grid: they see a lower frequency, but the same speed in the laboratory."""
    time = 3 + 0.05 * np.arange(1000)
    modes = {2: 0.3}
    seen = SPEED - grid_velocity
    write_probe(tmp_path, time, 1 + wave(time, x, seen, modes), x, grid_velocity)
    probe = read_probe(tmp_path, "line")
    np.testing.assert_array_equal(probe.time, time)
    period = LENGTH / 2 / seen
    spectrum = frequency_spectrum(probe, "u", 3 * period)
    peak = spectrum.frequency[int(np.argmax(spectrum.density[0]))]
    assert peak == pytest.approx(1 / period, rel=0.02)
    variance = spectrum.density[0].sum() * spectrum.frequency[1]
    assert variance == pytest.approx(0.3**2 / 2, rel=0.02)
    assert has_whole_line(probe, "u")
    assert convection(probe, "u", 0).velocity == pytest.approx(SPEED, rel=2e-3)


def test_a_broad_spectrum_of_waves_and_several_heights(tmp_path: Path, x: np.ndarray) -> None:
    time = 0.1 * np.arange(800)
    modes = {m: 1 / m for m in range(1, 9)}
    fast, slow = wave(time, x, 0.9, modes), wave(time, x, -0.4, modes)
    write_probe(tmp_path, time, np.concatenate([slow, fast], axis=1), x)
    probe = read_probe(tmp_path, "line")
    for height, speed in enumerate((-0.4, 0.9)):
        found = convection(probe, "u", height)
        assert found.velocity == pytest.approx(speed, rel=5e-3)
        assert found.correlation[0].max() == pytest.approx(1)
        assert found.peak_correlation[1:50] == pytest.approx(1, abs=5e-3)


def _slow_mean(time: np.ndarray, x: np.ndarray, grid_velocity: float) -> np.ndarray:
    """A mean that varies along x in the laboratory, and grows by a third while it is sampled."""
    at = x[None, :] + grid_velocity * time[:, None]
    growth = (1 + 0.3 * time / time[-1])[:, None]
    return np.asarray(1.2 * growth * np.cos(2 * np.pi * at / LENGTH))[:, None, None, :]


@pytest.mark.parametrize("grid_velocity", [0.0, 0.5])
@pytest.mark.parametrize("memory", [0.8, 3.0])
def test_a_mean_that_varies_along_x_and_noise_do_not_change_the_convection_velocity(
    tmp_path: Path, x: np.ndarray, memory: float, grid_velocity: float
) -> None:
    time = 0.05 * np.arange(1500)
    u = advected_turbulence(time, POINTS, 3, SPEED - grid_velocity, memory, seed=4)
    u += _slow_mean(time, x, grid_velocity) + 0.4 * np.random.default_rng(2).normal(size=u.shape)
    write_probe(tmp_path, time, u, x, grid_velocity)
    found = convection(read_probe(tmp_path, "line"), "u", 0)
    assert found.velocity == pytest.approx(SPEED, rel=0.05)
    assert found.reason == ""
    assert abs(found.velocity - SPEED) <= found.half_width < 0.06
    assert abs(found.phase_velocity - SPEED) <= found.phase_half_width < 0.06


def test_intervals_of_convection_velocities_contain_the_true_one(x: np.ndarray) -> None:
    """As often as they should, within what 60 repetitions can show."""
    time = 0.05 * np.arange(800)
    found = []
    for seed in range(60):
        u = advected_turbulence(time, POINTS, 2, SPEED, 0.8, seed) + _slow_mean(time, x, 0.0)
        found.append(convection(dataset_of(u, time, x), "u", 0))
    for values, widths in (
        ([one.velocity for one in found], [one.half_width for one in found]),
        ([one.phase_velocity for one in found], [one.phase_half_width for one in found]),
    ):
        inside = np.abs(np.array(values) - SPEED) <= widths
        assert inside.mean() >= 0.85
        assert np.mean(widths) < 5 * np.std(values)


@pytest.mark.parametrize(
    ("samples", "kind", "reason"),
    [
        (500, "noise", "the samples are too far apart in time"),
        (500, "constant", "nothing fluctuates along x"),
        (500, "mean", "nothing fluctuates along x"),
        (24, "wave", "24 samples are too few; 32 are needed"),
        (500, "two patterns", "the correlation moves at 0.* the phases at"),
    ],
)
def test_convection_velocities_that_are_not_determined_say_why(
    tmp_path: Path, x: np.ndarray, samples: int, kind: str, reason: str
) -> None:
    time = 0.05 * np.arange(samples)
    u = {
        "noise": np.random.default_rng(1).normal(size=(samples, 1, 1, POINTS)),
        "constant": np.ones((samples, 1, 1, POINTS)),
        "mean": np.broadcast_to(np.cos(2 * np.pi * x / LENGTH), (samples, 1, 1, POINTS)),
        "wave": wave(time, x, SPEED, {1: 0.4, 3: 0.2}),
        "two patterns": wave(time, x, 0.2, {1: 1.0}) + wave(time, x, 0.9, {8: 0.8}),
    }[kind]
    write_probe(tmp_path, time, u, x)
    probe = read_probe(tmp_path, "line")
    found = convection(probe, "u", 0)
    assert np.isnan(found.velocity)
    assert found.text == found.phase_text == "not determined"
    assert re.search(reason, found.reason)
    if samples >= 32:
        text = table_text([frequency_spectrum(probe, "u")], [found])
        assert f"convection velocity of u at z = 0.25: {found.reason}" in text


def test_variance_and_peak_frequency_have_intervals(tmp_path: Path, x: np.ndarray) -> None:
    time = 0.05 * np.arange(4000)
    u = advected_turbulence(time, POINTS, 2, SPEED, 1.0, seed=1)
    write_probe(tmp_path, time, u, x)
    probe = read_probe(tmp_path, "line")
    spectrum = frequency_spectrum(probe, "u")
    variance = spectrum.variance[0]
    assert variance.mean == pytest.approx(1)
    assert 0.01 < variance.half_width < 0.3
    peak, low, high = spectrum.peak(0)
    assert spectrum.frequency[1] <= low <= peak <= high
    assert low < high < 2
    row = table_text([spectrum], [convection(probe, "u", 0)]).splitlines()[1]
    assert re.search(r"1\.00\d* \+- 0\.\d+ +\S+ \(\S+ to \S+\) +0\.\d+ \+- 0\.\d+ +0\.\d+ \+- 0\.\d+$", row)
    single = frequency_spectrum(probe, "u", 4000 * 0.05)
    assert single.segments == 1
    assert "(no interval)" in table_text([single], [])


def test_table_of_many_heights_shows_some(tmp_path: Path, x: np.ndarray) -> None:
    time = 0.5 * np.arange(64)
    write_probe(tmp_path, time, np.random.default_rng(1).normal(size=(time.size, 20, 1, POINTS)), x)
    spectrum = frequency_spectrum(read_probe(tmp_path, "line"), "u")
    *rows, note = table_text([spectrum], []).splitlines()[1:]
    assert [float(row.split()[1]) for row in rows] == [0.25, 4.25, 8.25, 11.25, 15.25, 19.25]
    assert note == "6 heights of each field are shown; the CSV files have all of them"
    assert len(spectra_csv([spectrum]).splitlines()) == 1 + 20 * spectrum.frequency.size


def test_white_noise_has_a_flat_spectrum(tmp_path: Path, x: np.ndarray) -> None:
    time = 0.5 * np.arange(4096)
    noise = np.random.default_rng(1).normal(size=(time.size, 1, 4, POINTS))
    write_probe(tmp_path, time, noise, x)
    spectrum = frequency_spectrum(read_probe(tmp_path, "line"), "u")
    assert spectrum.segments == 15
    assert spectrum.density[0, 1:-1] == pytest.approx(2 * 0.5, rel=0.1)


def test_unequal_steps_are_interpolated(tmp_path: Path, x: np.ndarray) -> None:
    steps = 0.05 * (1 + 0.1 * np.sin(0.02 * np.arange(1000)))
    time = np.cumsum(steps)
    write_probe(tmp_path, time, wave(time, x, SPEED, {2: 1.0}), x)
    probe, difference = equal_steps(read_probe(tmp_path, "line"))
    assert difference == pytest.approx(0.1, abs=0.01)
    np.testing.assert_allclose(probe.u, wave(probe.time.values, x, SPEED, {2: 1.0}), atol=1e-5)
    with pytest.raises(UsageError, match="no samples between times 10 and 12"):
        time[500:] += 12 - 10 - steps[500]
        time += 10 - time[499]
        write_probe(tmp_path / "gap", time, wave(time, x, SPEED, {2: 1.0}), x)
        equal_steps(read_probe(tmp_path / "gap", "line"))


def test_times_are_chosen(tmp_path: Path, x: np.ndarray) -> None:
    time = 0.1 * np.arange(500)
    write_probe(tmp_path, time, wave(time, x, SPEED, {1: 1.0}), x)
    probe = read_probe(tmp_path, "line", 10.0, 40.0)
    assert (probe.time[0], probe.time[-1]) == pytest.approx((10, 40))
    assert probe.u.shape[0] == probe.time.size
    with pytest.raises(UsageError, match="has 0 samples between these times"):
        read_probe(tmp_path, "line", 60.0)


def test_damage_and_missing_parts_are_found(tmp_path: Path, x: np.ndarray) -> None:
    time = 0.1 * np.arange(500)
    u = wave(time, x, SPEED, {1: 1.0})
    write_probe(tmp_path, time, u, x)
    part = tmp_path / layout.PROBE_FOLDER / layout.PARTS / "line_0000002.h5"
    content = part.read_bytes()
    for name, value in {"u": u[7, 0, 0, 3], "time": time[7]}.items():
        changed = content.replace(value.tobytes(), (2 * value + 1).tobytes())
        assert changed != content, name
        part.write_bytes(changed)
        with pytest.raises(InputOutputError, match=r"line_0000002\.h5"):
            read_probe(tmp_path, "line")
    part.unlink()
    with pytest.raises(InputOutputError, match="200 of 500 samples are there"):
        read_probe(tmp_path, "line")


def test_the_command_writes_tables_and_figures(
    tmp_path: Path, x: np.ndarray, capsys: pytest.CaptureFixture[str]
) -> None:
    time = 0.1 * np.arange(600)
    write_probe(tmp_path, time, wave(time, x, SPEED, {1: 0.4, 3: 0.2}), x, 0.1)
    assert main(["probes", str(tmp_path)]) == 0
    told = capsys.readouterr().out
    assert "probe line: 600 samples from 0 to 59.9, every 0.1" in told
    assert re.search(
        r" 0\.\d+ \+- 0\.\d+ +0\.(80|79)\d* \+- 0\.\d+$", told, re.MULTILINE
    )  # 0.7 on the grid, which moves at 0.1
    for name in ("probe_line_spectra.csv", "probe_line_convection.csv"):
        assert np.genfromtxt(tmp_path / name, delimiter=",", skip_header=1).shape[0] > 20
    for name in ("probe_line_spectra.png", "probe_line_convection.png"):
        assert (tmp_path / "figures" / name).stat().st_size > 1000
    assert main(["probes", str(tmp_path), "--probe", "other"]) == 4
    assert main(["probes", str(tmp_path), "--segment", "1000"]) == 2
    empty = tmp_path / "empty"
    empty.mkdir()
    assert main(["probes", str(empty)]) == 2
