"""Spectra of small fields whose modes are known, against sums and products of the fields themselves."""

import re
from math import inf

import numpy as np
import pytest
import synthetic
from synthetic_spectra import (
    AMPLITUDES,
    EVEN,
    ODD,
    WIDE,
    Fields,
    Wave,
    evaluated,
    flow_of,
    fluctuation,
    load,
    spectra_of,
    spectrum,
    write,
)

from sluice_post.errors import InputOutputError, UsageError
from sluice_post.run import load_statistics
from sluice_post.spectra import correlation, integral_length, load_spectra, wall_spectra
from sluice_post.spectra_tables import HalfBox, conclusions, half_box, table_text
from sluice_post.uncertainty import mean_with_interval


@pytest.mark.parametrize("cells", [EVEN, ODD])
def test_sum_is_the_variance_and_mode_0_that_of_the_means_of_rows(tmp_path, cells):
    flow = flow_of(cells)
    states = [Fields(flow, seed) for seed in range(3)]
    found = spectra_of(tmp_path, states, "bottom")
    assert found.u_tau == pytest.approx(flow.u_tau)
    for quantity, unit in (("uu", 1), ("vv", 1), ("pp", 2)):
        prime = fluctuation(states, quantity[0]) / flow.u_tau**unit
        for axis, along in (("x", 3), ("y", 2)):
            energy = found.energy[quantity, axis]
            np.testing.assert_allclose(energy.sum(axis=1), (prime**2).mean(axis=(0, 2, 3)), rtol=1e-11)
            np.testing.assert_allclose(energy[:, 0], (prime.mean(axis=along) ** 2).mean(axis=(0, 2)), rtol=1e-9)
    ww, uw = (
        np.mean([(getattr(s, name) * s.w).mean(axis=(1, 2)) for s in states], axis=0) / flow.u_tau**2 for name in "wa"
    )
    for axis in "xy":
        np.testing.assert_allclose(found.energy["ww", axis].sum(axis=1), ww, rtol=1e-12)
        np.testing.assert_allclose(found.energy["minus_uw", axis].sum(axis=1), -uw, rtol=0, atol=1e-13)


@pytest.mark.parametrize("cells", [EVEN, ODD])
def test_correlation_is_that_of_the_field(tmp_path, cells):
    flow = flow_of(cells)
    states = [Fields(flow, seed) for seed in range(2)]
    found = spectra_of(tmp_path, states, "bottom")
    for axis, along, n in (("x", 3, cells[0]), ("y", 2, cells[1])):
        prime = fluctuation(states, "u") / flow.u_tau
        direct = [(prime * np.roll(prime, -r, axis=along)).mean(axis=(0, 2, 3)) for r in range(n // 2 + 1)]
        np.testing.assert_allclose(correlation(found.energy["uu", axis], n), np.transpose(direct), rtol=0, atol=1e-12)


def test_halves_are_averaged(tmp_path):
    """The average over both halves is that over all states and their mirror images, seen from the bottom."""
    states = [Fields(flow_of(), seed) for seed in range(2)]
    images = [state.mirrored() for state in states]
    folded, expected = spectra_of(tmp_path, states, "both"), spectra_of(tmp_path, states + images, "bottom")
    top, bottom_of_image = spectra_of(tmp_path, states[:1], "top"), spectra_of(tmp_path, images[:1], "bottom")
    for key, energy in folded.energy.items():
        np.testing.assert_allclose(energy, expected.energy[key], rtol=0, atol=1e-12)
        np.testing.assert_allclose(top.energy[key], bottom_of_image.energy[key], rtol=0, atol=1e-12)


def test_a_single_mode(tmp_path):
    flow = flow_of(WIDE)
    of = evaluated(tmp_path, [Wave(flow, 3, 2)], [5.0, 100.0, inf])
    expected = np.zeros((3, 9))
    expected[:, [0, 3]] = 0.5  # the wave along y is in mode 0
    np.testing.assert_allclose(of.values["uu_kx_at"], expected, rtol=0, atol=1e-11)
    assert not of.has_intervals
    z_plus, wavelength, premultiplied = of.found.premultiplied("uu", "x")
    assert z_plus[0] == pytest.approx(flow.z[0] * 180)
    assert np.argmax(premultiplied[0]) == 2
    assert wavelength[2] == pytest.approx(4 * np.pi / 3 * 180)
    np.testing.assert_allclose(premultiplied[:, 2], 1.5, rtol=1e-10)
    r = of.distances("x")
    assert r[-1] == pytest.approx(2 * np.pi)
    np.testing.assert_allclose(of.values["R_uu_x"][0], 0.5 + 0.5 * np.cos(2 * np.pi * 3 * r / (4 * np.pi)), atol=1e-11)
    np.testing.assert_allclose(of.values["minus_uw_ky_at"][:, 1], [0.5, 0.5, 0], atol=1e-11)
    assert of.names == ("5", "100", "centre")


@pytest.mark.parametrize(("side", "first"), [("bottom", 0), ("top", -1)])
def test_wall_shear_and_pressure_are_those_of_the_field(tmp_path, side, first):
    """The spectra of nu u/z and of p in the first cell."""
    flow = flow_of(ODD)
    states = [Fields(flow, seed) for seed in range(3)]
    found = spectra_of(tmp_path, states, side)
    shear = flow.viscosity / flow.z[0]
    for name, field, factor in (("tau_x", "u", shear), ("tau_y", "v", shear), ("p", "p", 1.0)):
        stress = factor * fluctuation(states, field)[:, first] / found.u_tau**2
        for axis in "xy":
            direct = spectrum(stress, stress, axis).mean(axis=0)
            np.testing.assert_allclose(found.on_wall()[name, axis], direct, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("flow_type", ["channel", "couette"])
def test_intervals(tmp_path, flow_type):
    """Of blocks that differ in the amplitude of one mode only; a wall that moves has the same fluctuations."""
    flow = flow_of(WIDE, flow_type=flow_type)
    of = evaluated(tmp_path, [Wave(flow, 3, 2, amplitude) for amplitude in AMPLITUDES], [30.0])
    estimate, first = mean_with_interval(AMPLITUDES**2 / 2), flow.z[0] * flow.re_tau
    assert of.values["uu_kx_at"][0, 3] == pytest.approx(estimate.mean)
    assert of.width("uu_kx_at")[0, 3] == pytest.approx(estimate.half_width)
    assert of.width("uu_kx_at")[0, 2] < 1e-11
    assert np.max(of.width("R_uu_x")) < 1e-11  # of one shape
    assert of.width("L_uu_x").shape == (1,)
    assert of.values["tau_x_wall_kx"][3] == pytest.approx(estimate.mean / first**2)
    assert of.width("tau_x_wall_kx")[3] == pytest.approx(estimate.half_width / first**2)
    assert of.width("tau_y_wall_ky")[1] < 1e-9
    assert of.values["p_wall_ky"][1] == pytest.approx(0.5 / flow.u_tau**2)
    number = rf"{estimate.mean * 2 / first**2:.3f} \+- {estimate.half_width * 2 / first**2:.3f}"
    assert re.search(rf"^tau_x +{number} ", table_text(of), re.MULTILINE)


def test_statistics_in_other_blocks(tmp_path):
    """Three blocks of statistics in one of spectra; the samples differ, too."""
    flow = flow_of(WIDE)
    states = [Wave(flow, 3, 2, amplitude) for amplitude in (0.8, 1.0, 1.2)]
    mean_square = np.mean([0.64, 1.0, 1.44])
    statistics, spectra = [s.statistics() for s in states], [s.spectra() for s in states]
    means = {name: np.mean([of[name] for of in spectra], axis=0) for name in spectra[0]}
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, statistics, samples=30, begin=0, length=10)
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [means, means], samples=45, begin=0, length=30)
    parameters, blocks = load(tmp_path)
    assert len(blocks) == 1  # the second one is later than all statistics
    assert blocks.means().samples == 45
    found = wall_spectra(blocks.means(), parameters)
    np.testing.assert_allclose(found.energy["uu", "x"][:, [0, 3]], mean_square / 2, rtol=1e-10)
    with pytest.raises(InputOutputError, match="is from the times of"):
        load_spectra(tmp_path, load_statistics(tmp_path)[1].one(0), 30, 60)


@pytest.mark.parametrize(("flow_type", "end"), [("couette", "centre"), ("open_channel", "surface")])
def test_other_flows(tmp_path, flow_type, end):
    flow = flow_of(WIDE, flow_type=flow_type)
    of = evaluated(tmp_path, [Wave(flow, 3, 2), Wave(flow, 3, 2, 1.1)])
    assert of.names[-1] == end
    np.testing.assert_allclose(of.values["uu_kx_at"][:, 3], (1 + 1.21) / 4, rtol=1e-9)
    np.testing.assert_allclose(of.values["minus_uw_kx_at"][:, 1], 0.5, rtol=1e-9)


def test_heights_outside_the_flow(tmp_path):
    with pytest.raises(UsageError, match=r"z\+ = 500 is not between 0 and 180, which is the centre"):
        evaluated(tmp_path, [Wave(flow_of(WIDE), 3, 2)], [5.0, 500.0])


# What spectra say of the length of the box and of the grid.


def test_integral_length():
    """Of a cosine, by the trapezoidal rule to its first zero; of what has none, to the end."""
    assert integral_length(np.array([1.0, 0.5, -0.5, -1.0]), 2.0) == pytest.approx(2 * (0.75 + 0.125))
    assert integral_length(np.array([1.0, 0.5, 0.25]), 2.0) == pytest.approx(2 * (0.75 + 0.375))
    r = np.linspace(0, np.pi, 2001)
    assert integral_length(np.cos(r), r[1]) == pytest.approx(1.0, abs=1e-5)


def test_fall_to_the_largest_wavenumber(tmp_path):
    flow = flow_of(WIDE)
    state = Wave(flow, 1, 1)
    spectra = state.spectra()
    spectra["uu_kx"][:, 7] = spectra["uu_kx"][:, 1] / 500
    spectra["uu_kx"][3, 7] *= 5  # at one height
    write(tmp_path, [state])
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [spectra])
    parameters, blocks = load(tmp_path)
    assert wall_spectra(blocks.means(), parameters, "bottom").fall("uu", "x") == pytest.approx((100, flow.z[3] * 180))


def test_length_of_the_box(tmp_path):
    """Mode 2 along x has the correlation 1 at half the box; mode 1 has -1, which what is in mode 0 makes 0."""
    of = evaluated(tmp_path, [Wave(flow_of(WIDE), 2, 1)] * 3)
    box = half_box(of, "x")
    assert (box.quantity, box.verdict) == ("uu", "the box is too short for the largest structures")
    assert box.value == pytest.approx(1)
    assert half_box(of, "y").verdict == "the box is long enough"
    text = table_text(of)
    assert "largest correlation of the velocity at half the box along y" in text
    assert re.search(r"^uu +15 +1 ", text, re.MULTILINE)


def test_a_fall_that_is_not_determined(tmp_path, monkeypatch):
    of = evaluated(tmp_path, [Wave(flow_of(WIDE), 2, 1)] * 3)
    falls = {"x": (32.0, 42.0, 5.0), "y": (500.0, 40.0, 5.0)}
    monkeypatch.setattr(type(of), "fall", lambda _, axis: falls[axis])
    along_x, along_y = conclusions(of)[:2]
    assert "E_uu along x falls by a factor that is not determined (32 +- 42) from its maximum" in along_x
    assert "E_uu along y falls by a factor of at least 500 +- 40 from its maximum" in along_y


@pytest.mark.parametrize("cells", [EVEN, ODD])
def test_conclusions_do_not_depend_on_the_chosen_heights(tmp_path, cells):
    usual, chosen = (evaluated(tmp_path, [Fields(flow_of(cells), n) for n in range(3)], at) for at in (None, [60.0]))
    assert conclusions(usual) == conclusions(chosen)
    assert usual.usual == chosen.usual == usual.names
    for axis in "xy":
        for n, quantity in enumerate(("uu", "vv", "ww")):
            for found in (usual.values.__getitem__, usual.width):
                expected = found(f"R_{quantity}_{axis}")[:, -1]
                np.testing.assert_allclose(found(f"half_box_{axis}")[n], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("value", "width", "verdict"), [
    (0.02, 0.01, "long enough"), (0.08, 0.1, "too short to tell"), (-0.15, 0.1, "too short to tell"),
    (0.3, 0.1, "too short for the largest"),
])  # fmt: skip
def test_verdict(value, width, verdict):
    assert verdict in HalfBox("uu", "15", value, width).verdict
