"""Spectra of small fields whose modes are known, against sums and products of the fields themselves."""

import re
from math import inf

import numpy as np
import pytest
import synthetic
from synthetic_spectra import EVEN, ODD, Fields, Wave, flow_of, fluctuation, load, spectrum, write

from sluice_post.errors import InputOutputError, UsageError
from sluice_post.run import load_statistics
from sluice_post.spectra import correlation, evaluate_spectra, load_spectra, wall_spectra
from sluice_post.spectra_tables import table_text
from sluice_post.uncertainty import mean_with_interval


@pytest.mark.parametrize("cells", [EVEN, ODD])
def test_sum_is_the_variance_and_mode_0_that_of_the_means_of_rows(tmp_path, cells):
    flow = flow_of(cells)
    states = [Fields(flow, seed) for seed in range(3)]
    write(tmp_path, states)
    parameters, blocks = load(tmp_path)
    found = wall_spectra(blocks.means(), parameters, side="bottom")
    assert found.u_tau == pytest.approx(flow.u_tau)
    for quantity, unit in (("uu", 2), ("vv", 2), ("pp", 4)):
        prime = fluctuation(states, quantity[0]) / flow.u_tau ** (unit / 2)
        for axis, along in (("x", 3), ("y", 2)):
            energy = found.energy[quantity, axis]
            np.testing.assert_allclose(energy.sum(axis=1), (prime**2).mean(axis=(0, 2, 3)), rtol=1e-11)
            rows = prime.mean(axis=along)
            np.testing.assert_allclose(energy[:, 0], (rows**2).mean(axis=(0, 2)), rtol=1e-9)
    ww = np.mean([(s.w**2).mean(axis=(1, 2)) for s in states], axis=0) / flow.u_tau**2
    uw = np.mean([(s.a * s.w).mean(axis=(1, 2)) for s in states], axis=0) / flow.u_tau**2
    for axis in "xy":
        np.testing.assert_allclose(found.energy["ww", axis].sum(axis=1), ww, rtol=1e-12)
        np.testing.assert_allclose(found.energy["minus_uw", axis].sum(axis=1), -uw, rtol=0, atol=1e-13)


@pytest.mark.parametrize("cells", [EVEN, ODD])
def test_correlation_is_that_of_the_field(tmp_path, cells):
    flow = flow_of(cells)
    states = [Fields(flow, seed) for seed in range(2)]
    write(tmp_path, states)
    parameters, blocks = load(tmp_path)
    found = wall_spectra(blocks.means(), parameters, side="bottom")
    for axis, along, n in (("x", 3, cells[0]), ("y", 2, cells[1])):
        prime = fluctuation(states, "u") / flow.u_tau
        direct = [(prime * np.roll(prime, -r, axis=along)).mean(axis=(0, 2, 3)) for r in range(n // 2 + 1)]
        np.testing.assert_allclose(correlation(found.energy["uu", axis], n), np.transpose(direct), rtol=0, atol=1e-12)


def test_halves_are_averaged(tmp_path):
    """The average over both halves is that over all states and their mirror images, seen from the bottom."""
    flow = flow_of()
    states = [Fields(flow, seed) for seed in range(2)]
    write(tmp_path / "a", states)
    write(tmp_path / "b", states + [state.mirrored() for state in states])
    folded, expected, top, bottom_of_image = (
        wall_spectra(blocks.means(), parameters, side)
        for side, (parameters, blocks) in (
            ("both", load(tmp_path / "a")),
            ("bottom", load(tmp_path / "b")),
            ("top", load(tmp_path / "a", end=70)),
            ("bottom", load(tmp_path / "b", begin=80, end=90)),
        )
    )
    for key, energy in folded.energy.items():
        np.testing.assert_allclose(energy, expected.energy[key], rtol=0, atol=1e-12)
        np.testing.assert_allclose(top.energy[key], bottom_of_image.energy[key], rtol=0, atol=1e-12)


def test_a_single_mode(tmp_path):
    flow = flow_of((16, 12, 24))
    write(tmp_path, [Wave(flow, 3, 2)])
    parameters, blocks = load(tmp_path)
    evaluated = evaluate_spectra(blocks, parameters, [5.0, 100.0, inf])
    energy = evaluated.lines.energy["uu", "x"]
    expected = np.zeros((3, 9))
    expected[:, [0, 3]] = 0.5  # the wave along y is in mode 0
    np.testing.assert_allclose(energy, expected, rtol=0, atol=1e-11)
    assert evaluated.bands is None
    z_plus, wavelength, premultiplied = evaluated.found.premultiplied("uu", "x")
    assert z_plus[0] == pytest.approx(flow.z[0] * 180)
    assert np.argmax(premultiplied[0]) == 2
    assert wavelength[2] == pytest.approx(4 * np.pi / 3 * 180)
    np.testing.assert_allclose(premultiplied[:, 2], 1.5, rtol=1e-10)
    r = evaluated.distances("x")
    assert r[-1] == pytest.approx(2 * np.pi)
    np.testing.assert_allclose(
        evaluated.lines.coefficient["uu", "x"][0], 0.5 + 0.5 * np.cos(2 * np.pi * 3 * r / (4 * np.pi)), atol=1e-11
    )
    np.testing.assert_allclose(evaluated.lines.energy["minus_uw", "y"][:, 1], [0.5, 0.5, 0], atol=1e-11)
    assert evaluated.names == ("5", "100", "centre")


@pytest.mark.parametrize("side", ["bottom", "top"])
def test_wall_shear_and_pressure_are_those_of_the_field(tmp_path, side):
    """The spectra of nu u/z and of p in the first cell."""
    flow = flow_of(ODD)
    states = [Fields(flow, seed) for seed in range(3)]
    write(tmp_path, states)
    parameters, blocks = load(tmp_path)
    found = wall_spectra(blocks.means(), parameters, side).on_wall()
    first = 0 if side == "bottom" else -1
    u_tau = wall_spectra(blocks.means(), parameters, side).u_tau
    for name, field, factor in (
        ("tau_x", "u", flow.viscosity / flow.z[0]),
        ("tau_y", "v", flow.viscosity / flow.z[0]),
        ("p", "p", 1.0),
    ):
        stress = factor * fluctuation(states, field)[:, first] / u_tau**2
        for axis in "xy":
            direct = spectrum(stress, stress, axis).mean(axis=0)
            np.testing.assert_allclose(found[name, axis], direct, rtol=1e-10, atol=1e-12)


def test_wall_shear_of_a_single_mode(tmp_path):
    """Both walls together, with intervals; a wall that moves has the same fluctuations."""
    amplitudes = np.array([1.0, 1.2, 0.9, 1.1, 1.3, 0.8, 1.05, 0.95])
    estimate = mean_with_interval(amplitudes**2 / 2)
    for flow_type in ("channel", "couette"):
        flow = flow_of((16, 12, 24), flow_type=flow_type)
        write(tmp_path / flow_type, [Wave(flow, 3, 2, amplitude) for amplitude in amplitudes])
        parameters, blocks = load(tmp_path / flow_type)
        evaluated = evaluate_spectra(blocks, parameters, [30.0])
        first = flow.z[0] * flow.re_tau
        assert evaluated.lines.on_wall["tau_x", "x"][3] == pytest.approx(estimate.mean / first**2)
        assert evaluated.bands.on_wall["tau_x", "x"][3] == pytest.approx(estimate.half_width / first**2)
        assert evaluated.bands.on_wall["tau_y", "y"][1] < 1e-9
        assert evaluated.lines.on_wall["p", "y"][1] == pytest.approx(0.5 / flow.u_tau**2)
        number = rf"{estimate.mean * 2 / first**2:.3f} \+- {estimate.half_width * 2 / first**2:.3f}"
        assert re.search(rf"^tau_x +{number} ", table_text(evaluated), re.MULTILINE)


def test_intervals(tmp_path):
    """Blocks that differ in the amplitude of one mode only."""
    flow = flow_of((16, 12, 24))
    amplitudes = np.array([1.0, 1.2, 0.9, 1.1, 1.3, 0.8, 1.05, 0.95])
    write(tmp_path, [Wave(flow, 3, 2, amplitude) for amplitude in amplitudes])
    parameters, blocks = load(tmp_path)
    evaluated = evaluate_spectra(blocks, parameters, [30.0])
    estimate = mean_with_interval(amplitudes**2 / 2)
    assert evaluated.lines.energy["uu", "x"][0, 3] == pytest.approx(estimate.mean)
    assert evaluated.bands.energy["uu", "x"][0, 3] == pytest.approx(estimate.half_width)
    assert evaluated.bands.energy["uu", "x"][0, 2] < 1e-11
    assert np.max(evaluated.bands.coefficient["uu", "x"]) < 1e-11  # of one shape
    assert evaluated.bands.length["uu", "x"].shape == (1,)


def test_statistics_in_other_blocks(tmp_path):
    """Three blocks of statistics in one of spectra; the samples differ, too."""
    flow = flow_of((16, 12, 24))
    states = [Wave(flow, 3, 2, amplitude) for amplitude in (0.8, 1.0, 1.2)]
    mean_square = np.mean([0.64, 1.0, 1.44])
    synthetic.write_statistics(
        tmp_path / "statistics.h5", flow, [s.statistics() for s in states], samples=30, begin=0, length=10
    )
    means = {name: np.mean([s.spectra()[name] for s in states], axis=0) for name in states[0].spectra()}
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [means, means], samples=45, begin=0, length=30)
    parameters, blocks = load(tmp_path)
    assert len(blocks) == 1  # the second one is later than all statistics
    assert blocks.means().samples == 45
    found = wall_spectra(blocks.means(), parameters)
    np.testing.assert_allclose(found.energy["uu", "x"][:, [0, 3]], mean_square / 2, rtol=1e-10)
    with pytest.raises(InputOutputError, match="is from the times of"):
        load_spectra(tmp_path, load_statistics(tmp_path)[1].one(0), 30, 60)


@pytest.mark.parametrize("flow_type", ["couette", "open_channel"])
def test_other_flows(tmp_path, flow_type):
    flow = flow_of((16, 12, 24), flow_type=flow_type)
    state = Wave(flow, 3, 2)
    write(tmp_path, [state, Wave(flow, 3, 2, 1.1)])
    parameters, blocks = load(tmp_path)
    evaluated = evaluate_spectra(blocks, parameters)
    assert evaluated.names[-1] == ("centre" if flow_type == "couette" else "surface")
    np.testing.assert_allclose(evaluated.lines.energy["uu", "x"][:, 3], (1 + 1.21) / 4, rtol=1e-9)
    np.testing.assert_allclose(evaluated.lines.energy["minus_uw", "x"][:, 1], 0.5, rtol=1e-9)


def test_heights_outside_the_flow(tmp_path):
    write(tmp_path, [Wave(flow_of((16, 12, 24)), 3, 2)])
    parameters, blocks = load(tmp_path)
    with pytest.raises(UsageError, match=r"z\+ = 500 is not between 0 and 180, which is the centre"):
        evaluate_spectra(blocks, parameters, [5.0, 500.0])
