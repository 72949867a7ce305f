"""Spectra of small fields whose modes are known, against sums and products of the fields themselves."""

import re
import shutil
from math import inf

import h5py
import numpy as np
import pytest
import synthetic

from sluice_post.cli import main
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.run import load_statistics
from sluice_post.spectra import correlation, evaluate_spectra, integral_length, load_spectra, wall_spectra
from sluice_post.spectra_figures import map_figure, plane_figure
from sluice_post.spectra_reference import find_published, holds_spectra, not_shown, read_published_spectra
from sluice_post.spectra_tables import HalfBox, conclusions, half_box, table_text
from sluice_post.uncertainty import mean_with_interval

EVEN, ODD = (12, 8, 24), (9, 7, 24)


class Fields:
    """A flow at one time: u, v, p at the centres, w and the two parts of the flux uw at the faces, (z, y, x)."""

    def __init__(self, flow, seed=0):
        rng = np.random.default_rng(seed)
        nx, ny, nz = flow.cells
        self.flow, u_tau = flow, flow.u_tau
        self.profiles = synthetic.turbulent_profiles(flow)
        mean = self.profiles["u"][:, None, None]
        self.u = mean + u_tau * rng.normal(size=(nz, ny, nx))
        self.v, self.p = u_tau * rng.normal(size=(nz, ny, nx)), u_tau**2 * rng.normal(size=(nz, ny, nx))
        self.w = u_tau * rng.normal(size=(nz + 1, ny, nx))
        self.w -= self.w.mean(axis=(1, 2), keepdims=True)
        self.a = u_tau * rng.normal(size=(nz + 1, ny, nx))

    def mirrored(self):
        image = object.__new__(Fields)
        image.flow, image.profiles = self.flow, self.profiles
        image.u, image.v, image.p, image.a = (f[::-1] for f in (self.u, self.v, self.p, self.a))
        image.w = -self.w[::-1]
        return image

    def statistics(self):
        """What statistics.h5 holds; the moments that spectra do not need are those of the model flow."""
        found = dict(self.profiles)
        for name in "uvp":
            field = getattr(self, name)
            found[name], found[2 * name] = field.mean(axis=(1, 2)), (field**2).mean(axis=(1, 2))
        return found | {"uw": (self.a * self.w).mean(axis=(1, 2))}

    def spectra(self):
        found = {}
        for axis in "xy":
            for name, f, g in (
                *(("uu", self.u, self.u), ("vv", self.v, self.v), ("pp", self.p, self.p)),
                *(("ww", self.w, self.w), ("uw", self.a, self.w)),
            ):
                found[f"{name}_k{axis}"] = spectrum(f, g, axis)
        return found

    def plane_spectra(self, centres, faces):
        """Spectra in both directions on these planes, by their numbers."""
        found = {"z_kxky": self.flow.z[centres], "z_face_kxky": self.flow.z_face[faces]}
        for name, f, g, planes in (
            *(
                ("uu", self.u, self.u, centres),
                ("vv", self.v, self.v, centres),
                ("pp", self.p, self.p, centres),
            ),
            *(("ww", self.w, self.w, faces), ("uw", self.a, self.w, faces)),
        ):
            found[f"{name}_kxky"] = np.array([plane_spectrum(f[k], g[k]) for k in planes])
        return found


def spectrum(f, g, axis):
    """One-sided cospectrum: the plain sum over its modes is the plane mean of f g."""
    along, across = (2, 1) if axis == "x" else (1, 2)
    count = f.shape[along]
    product = np.fft.rfft(f, axis=along) * np.conj(np.fft.rfft(g, axis=along)) / count**2
    energy = product.real.mean(axis=across)
    energy[:, 1 : (count - 1) // 2 + 1] *= 2
    return energy


def plane_spectrum(f, g):
    """One-sided cospectrum in both directions, (ky, kx), by a sum over all pairs of wavenumbers."""
    ny, nx = f.shape
    product = (np.fft.fft2(f) * np.conj(np.fft.fft2(g))).real / (nx * ny) ** 2
    found = np.zeros((ny // 2 + 1, nx // 2 + 1))
    for (n, m), value in np.ndenumerate(product):
        found[min(n, ny - n), min(m, nx - m)] += value
    return found


def write(directory, states, planes=None, **options):
    flow = states[0].flow
    synthetic.write_statistics(directory / "statistics.h5", flow, [s.statistics() for s in states], **options)
    spectra = [s.spectra() | (s.plane_spectra(*planes) if planes else {}) for s in states]
    synthetic.write_spectra(directory / "spectra.h5", flow, spectra, **options)


def load(directory, begin=None, end=None):
    parameters, statistics = load_statistics(directory, begin, end)
    return parameters, load_spectra(directory, statistics, begin, end)


def flow_of(cells=EVEN, **options):
    return synthetic.Flow(u_tau=0.0637, cells=cells, **options)


def fluctuation(fields, name):
    """Less the mean over the plane and over all times."""
    stacked = np.stack([getattr(state, name) for state in fields])
    return stacked - stacked.mean(axis=(0, 2, 3), keepdims=True)


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
        np.testing.assert_allclose(
            correlation(found.energy["uu", axis], n), np.transpose(direct), rtol=0, atol=1e-12
        )


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


class Wave(Fields):
    """u has one mode along x and another along y, with equal amplitudes at all heights; v, w and p have mode 1."""

    def __init__(self, flow, along_x, along_y, amplitude=1.0):
        nx, ny, nz = flow.cells
        self.flow, self.profiles = flow, synthetic.turbulent_profiles(flow)
        x, y = 2 * np.pi * np.arange(nx) / nx, 2 * np.pi * np.arange(ny)[:, None] / ny
        mean, one = self.profiles["u"][:, None, None], np.ones((nz, 1, 1))
        wave = amplitude * flow.u_tau * (np.cos(along_x * x) + np.cos(along_y * y))
        self.u = mean + wave * one
        self.v = self.p = flow.u_tau * (np.cos(x) + np.sin(y)) * one
        self.w = flow.u_tau * (np.cos(x) + np.sin(y)) * np.ones((nz + 1, 1, 1))
        outward = 1.0 if flow.flow_type != "channel" else np.sign(1 - flow.z_face)[:, None, None]
        self.a = -self.w * outward


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
        evaluated.lines.coefficient["uu", "x"][0],
        0.5 + 0.5 * np.cos(2 * np.pi * 3 * r / (4 * np.pi)),
        atol=1e-11,
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
        assert re.search(rf"^tau_x +{estimate.mean * 2 / first**2:.4g} ", table_text(evaluated), re.MULTILINE)


PLANES = ([0, 3, 11, 20], [0, 3, 12, 21])  # of 24 cells: 3 and 20, and the faces 3 and 21, are mirror images


@pytest.mark.parametrize("cells", [EVEN, ODD])
def test_planes_sum_to_the_spectra_in_one_direction(tmp_path, cells):
    flow = flow_of(cells)
    states = [Fields(flow, seed) for seed in range(3)]
    write(tmp_path, states, PLANES)
    parameters, blocks = load(tmp_path)
    found = wall_spectra(blocks.means(), parameters, side="bottom")
    for quantity, plane in found.planes.items():
        near = PLANES[quantity in ("ww", "minus_uw")][:3]
        np.testing.assert_allclose(plane.z_plus, found.z_plus(quantity)[near])
        for axis, across in (("x", 1), ("y", 2)):
            expected = found.energy[quantity, axis][near]
            np.testing.assert_allclose(plane.energy.sum(axis=across), expected, rtol=0, atol=1e-11)
    prime = fluctuation(states, "u") / flow.u_tau
    direct = np.mean([plane_spectrum(f[3], f[3]) for f in prime], axis=0)
    np.testing.assert_allclose(found.planes["uu"].energy[1], direct, rtol=0, atol=1e-12)


def test_planes_of_both_halves(tmp_path):
    """Mirror images are averaged; a plane without one is that of its own half."""
    flow = flow_of()
    states = [Fields(flow, seed) for seed in range(2)]
    write(tmp_path, states, PLANES)
    parameters, blocks = load(tmp_path)
    both, bottom, top = (
        wall_spectra(blocks.means(), parameters, side).planes for side in ("both", "bottom", "top")
    )
    for quantity in ("uu", "ww", "minus_uw"):
        found = both[quantity].energy
        np.testing.assert_allclose(found[0], bottom[quantity].energy[0], rtol=0, atol=1e-12)
        average = (bottom[quantity].energy[1] + top[quantity].energy[0]) / 2
        np.testing.assert_allclose(found[1], average, rtol=0, atol=1e-12)
        assert len(found) == 3
    np.testing.assert_allclose(both["minus_uw"].energy[2], 0, atol=1e-15)  # by symmetry on the centre plane


@pytest.mark.parametrize("flow_type", ["channel", "couette"])
def test_what_is_zero_by_symmetry_has_no_peak(tmp_path, flow_type):
    """The flux uw on the centre plane of a channel, also of one half alone, where it is a sampling error."""
    write(tmp_path, [Fields(flow_of(flow_type=flow_type), seed) for seed in range(3)], PLANES)
    parameters, blocks = load(tmp_path)
    for side in ("both", "bottom"):
        evaluated = evaluate_spectra(blocks, parameters, [30.0], side)
        rows = [line.split() for line in table_text(evaluated).splitlines() if line.startswith("minus_uw")]
        assert [row[0] for row in rows] == ["minus_uw"] * 3
        zero = ["minus_uw", "180", "zero", "by", "symmetry"]
        assert (rows[-1] == zero) == (flow_type == "channel")
        titles = [axes.get_title() for axes in plane_figure(evaluated.found, 2).axes]
        assert any(title.endswith("zero by symmetry") for title in titles) == (flow_type == "channel")


class Oblique(Wave):
    """All components have one mode (kx, ky) = (3, 2), of unequal amplitudes to the left and to the right."""

    def __init__(self, flow, amplitude=1.0):
        super().__init__(flow, 1, 1)
        nx, ny, nz = flow.cells
        x, y = 2 * np.pi * np.arange(nx) / nx, 2 * np.pi * np.arange(ny)[:, None] / ny
        wave = amplitude * flow.u_tau * (2 * np.cos(3 * x + 2 * y) + np.sin(3 * x - 2 * y))
        self.u = self.profiles["u"][:, None, None] + wave * np.ones((nz, 1, 1))


def test_peaks_of_an_oblique_wave(tmp_path):
    flow = flow_of((16, 12, 24))
    amplitudes = np.array([1.0, 1.2, 0.9, 1.1, 1.3, 0.8, 1.05, 0.95])
    write(tmp_path, [Oblique(flow, amplitude) for amplitude in amplitudes], PLANES)
    parameters, blocks = load(tmp_path)
    evaluated = evaluate_spectra(blocks, parameters, [30.0])
    peaks = [peak for peak in evaluated.peaks if peak.quantity == "uu"]
    np.testing.assert_allclose([peak.z_plus for peak in peaks], flow.z[[0, 3, 11]] * 180)
    expected = mean_with_interval(amplitudes**2 * 5 / 2)
    for peak in peaks:
        assert peak.value == pytest.approx(6 * expected.mean)
        assert peak.half_width == pytest.approx(6 * expected.half_width)
        assert peak.variance == pytest.approx(expected.mean)
        assert peak.wavelength_plus["x"] == pytest.approx(4 * np.pi / 3 * 180)
        assert peak.wavelength_plus["y"] == pytest.approx(flow.size[1] / 2 * 180)
    text = table_text(evaluated)
    assert re.search(r"^uu +[0-9.]+ +[0-9.]+ +[0-9.]+ \+- [0-9.]+ +754 +", text, re.MULTILINE)
    plane_figure(evaluated.found, 0)


@pytest.mark.parametrize("flow_type", ["couette", "open_channel"])
def test_planes_of_other_flows(tmp_path, flow_type):
    flow = flow_of((16, 12, 24), flow_type=flow_type)
    write(tmp_path, [Oblique(flow), Oblique(flow)], PLANES)
    parameters, blocks = load(tmp_path)
    found = wall_spectra(blocks.means(), parameters)
    plane = found.planes["uu"]
    count = 4 if flow_type == "open_channel" else 3
    np.testing.assert_allclose(plane.z_plus, found.z_plus("uu")[PLANES[0][:count]])
    np.testing.assert_allclose(plane.energy[:, 2, 3], 5 / 2, rtol=1e-10)
    np.testing.assert_allclose(found.planes["minus_uw"].energy[:, 0, 1], 0.5, rtol=1e-10)


def test_command_with_planes(tmp_path, capsys):
    """With one block there are no intervals. On the wall w has no spectrum."""
    state = Fields(flow_of())
    state.w[0] = 0
    write(tmp_path, [state], PLANES)
    assert main(["spectra", str(tmp_path), "--side", "bottom"]) == 0
    assert "peak of kxkyE+" in capsys.readouterr().out
    assert {path.stem for path in (tmp_path / "figures").glob("spectra_xy*")} == {
        f"spectra_xy_{n}" for n in (1, 2, 3)
    }
    parameters, blocks = load(tmp_path)
    found = wall_spectra(blocks.means(), parameters, "bottom")
    for name, quantities in (("centres", ("uu", "vv", "pp")), ("faces", ("ww", "minus_uw"))):
        rows = np.genfromtxt(tmp_path / f"spectra_xy_{name}.csv", delimiter=",", names=True)
        for quantity in quantities:
            expected = found.planes[quantity].energy
            np.testing.assert_allclose(rows[f"E_{quantity}_plus"], expected.ravel(), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(rows["kx_h"][:7], np.arange(7) / 2, rtol=1e-9)
    assert main(["report", str(tmp_path)]) == 0
    assert "Premultiplied spectra along x and y at z+ = " in (tmp_path / "report.html").read_text(
        encoding="utf-8"
    )


def test_integral_length():
    """Of a cosine, by the trapezoidal rule to its first zero; of what has none, to the end."""
    assert integral_length(np.array([1.0, 0.5, -0.5, -1.0]), 2.0) == pytest.approx(2 * (0.75 + 0.125))
    assert integral_length(np.array([1.0, 0.5, 0.25]), 2.0) == pytest.approx(2 * (0.75 + 0.375))
    r = np.linspace(0, np.pi, 2001)
    assert integral_length(np.cos(r), r[1]) == pytest.approx(1.0, abs=1e-5)


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


def test_fall_to_the_largest_wavenumber(tmp_path):
    flow = flow_of((16, 12, 24))
    state = Wave(flow, 1, 1)
    spectra = state.spectra()
    spectra["uu_kx"][:, 7] = spectra["uu_kx"][:, 1] / 500
    spectra["uu_kx"][3, 7] *= 5  # at one height
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [state.statistics()])
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [spectra])
    parameters, blocks = load(tmp_path)
    ratio, z_plus = wall_spectra(blocks.means(), parameters, "bottom").fall("uu", "x")
    assert ratio == pytest.approx(100)
    assert z_plus == pytest.approx(flow.z[3] * 180)


def test_length_of_the_box(tmp_path):
    """Mode 2 along x has the correlation 1 at half the box; mode 1 has -1, which what is in mode 0 makes 0."""
    flow = flow_of((16, 12, 24))
    write(tmp_path, [Wave(flow, 2, 1)] * 3)
    parameters, blocks = load(tmp_path)
    evaluated = evaluate_spectra(blocks, parameters)
    box = half_box(evaluated, "x")
    assert (box.quantity, box.verdict) == ("uu", "the box is too short for the largest structures")
    assert box.value == pytest.approx(1)
    assert half_box(evaluated, "y").verdict == "the box is long enough"
    text = table_text(evaluated)
    assert "largest correlation of the velocity at half the box along y" in text
    assert re.search(r"^uu +15 +1 ", text, re.MULTILINE)


@pytest.mark.parametrize("cells", [EVEN, ODD])
def test_conclusions_do_not_depend_on_the_chosen_heights(tmp_path, cells):
    write(tmp_path, [Fields(flow_of(cells), seed) for seed in range(3)])
    parameters, blocks = load(tmp_path)
    usual, chosen = (evaluate_spectra(blocks, parameters, heights) for heights in (None, [60.0]))
    assert conclusions(usual) == conclusions(chosen)
    boxes = usual.half_boxes
    assert boxes.names == usual.names
    for axis in "xy":
        for n, quantity in enumerate(("uu", "vv", "ww")):
            for found, lines in ((boxes.values, usual.lines), (boxes.widths, usual.bands)):
                expected = lines.coefficient[quantity, axis][:, -1]
                np.testing.assert_allclose(found[axis][n], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("value", "width", "verdict"), [
    (0.02, 0.01, "long enough"), (0.08, 0.1, "too short to tell"), (-0.15, 0.1, "too short to tell"),
    (0.3, 0.1, "too short for the largest"),
])  # fmt: skip
def test_verdict(value, width, verdict):
    assert verdict in HalfBox("uu", "15", value, width).verdict


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
    with pytest.raises(UsageError, match=r"z\+ = 500 is not between 0 and Re_tau = 180"):
        evaluate_spectra(blocks, parameters, [5.0, 500.0])


def test_blocks_of_different_flows(tmp_path, capsys):
    flow = flow_of()
    write(tmp_path, [Fields(flow, seed) for seed in range(2)])
    sets = [
        {
            **{"flow.type": "channel", "flow.reynolds.viscosity": f"{nu!r}"},
            **{"walls.bottom.type": "no_slip", "walls.top.type": "no_slip"},
            **{"walls.bottom.velocity": "[0, 0, 0]", "walls.top.velocity": "[0, 0, 0]"},
        }
        for nu in (flow.viscosity, 2 * flow.viscosity)
    ]
    synthetic.write_parameter_sets(tmp_path / "spectra.h5", [0, 1], sets)
    assert main(["spectra", str(tmp_path)]) == 2
    assert "flow.reynolds.viscosity" in capsys.readouterr().err


PICTURES = {f"{name}_{axis}" for name in ("spectra_map", "spectra", "correlations") for axis in "xy"} | {
    "spectra_wall"
}
TABLES = {f"{name}_{axis}" for name in ("spectra", "spectra_wall", "correlations") for axis in "xy"}


def test_command(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of(), seed) for seed in range(3)])
    folder = tmp_path / "other"
    assert main(["spectra", str(tmp_path), "--at", "15", "40", "centre", "-o", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "E_uu along x falls by a factor of at least" in out
    assert {path.stem for path in (folder / "figures").glob("*.png")} == PICTURES
    assert {path.stem for path in folder.glob("*.csv")} == TABLES
    rows = np.genfromtxt(folder / "spectra_x.csv", delimiter=",", names=True)
    assert len(rows) == 3 * 7
    parameters, blocks = load(tmp_path)
    evaluated = evaluate_spectra(blocks, parameters, [15.0, 40.0, inf])
    np.testing.assert_allclose(
        rows["E_uu_plus"].reshape(3, 7), evaluated.lines.energy["uu", "x"], rtol=1e-8, atol=1e-12
    )
    np.testing.assert_allclose(rows["kx_h"][:7], np.arange(7) / 2, rtol=1e-9)
    np.testing.assert_allclose(rows["wavelength_plus"][1:7], 4 * np.pi * 180 / np.arange(1, 7), rtol=1e-6)
    assert np.all(rows["E_minus_uw_plus_ci95"] >= 0)
    rows = np.genfromtxt(folder / "spectra_wall_y.csv", delimiter=",", names=True)
    np.testing.assert_allclose(rows["E_tau_y_plus"], evaluated.lines.on_wall["tau_y", "y"], rtol=1e-8)
    np.testing.assert_allclose(rows["E_p_plus_ci95"], evaluated.bands.on_wall["p", "y"], rtol=1e-8)
    rows = np.genfromtxt(folder / "correlations_y.csv", delimiter=",", names=True)
    assert len(rows) == 3 * 5
    np.testing.assert_allclose(rows["R_uu"][::5], 1.0)


@pytest.mark.parametrize("height", ["wall", "0", "-3", "nan"])
def test_heights_that_are_none(tmp_path, capsys, height):
    with pytest.raises(SystemExit) as stopped:
        main(["spectra", str(tmp_path), f"--at={height}"])
    assert stopped.value.code == 2
    assert "is neither a height z+ > 0 nor `centre`" in capsys.readouterr().err


def test_report(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of(), seed) for seed in range(3)])
    published = tmp_path / "chan180.xspec.5"
    published.write_text(MKM)
    assert main(["report", str(tmp_path), "--reference", str(published)]) == 0
    assert "E_uu along y falls by a factor of at least" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Two-point correlations along y" in page
    assert "largest correlation of the velocity at half the box" in page
    assert "Circles: chan180.xspec.5." in page
    assert {path.stem for path in (tmp_path / "figures").glob("*.png")} >= PICTURES
    assert {path.stem for path in tmp_path.glob("*.csv")} >= TABLES


def test_run_without_spectra(turbulent_run, tmp_path, capsys):
    assert main(["spectra", str(turbulent_run)]) == 4
    error = capsys.readouterr().err
    assert "spectra.h5: no such file; a run writes it with output.spectra" in error
    assert error.count("\n") == 1
    run = shutil.copytree(turbulent_run, tmp_path / "run")
    assert main(["report", str(run)]) == 0
    assert "missing: spectra.h5: not there (output.spectra)" in capsys.readouterr().out
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "Spectra" not in page
    assert not list(run.glob("spectra*"))


def test_no_block_yet(tmp_path, capsys):
    flow = flow_of()
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [Fields(flow).statistics()])
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [])
    assert main(["spectra", str(tmp_path)]) == 4
    assert "holds no closed block yet" in capsys.readouterr().err
    assert main(["report", str(tmp_path)]) == 0
    assert "holds no closed block yet" in capsys.readouterr().out


def test_no_block_between_two_times(tmp_path, capsys):
    """There may be statistics, in shorter blocks. A report then leaves the spectra out."""
    flow = flow_of()
    states = [Fields(flow, seed) for seed in range(2)]
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [s.statistics() for s in states])
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [states[0].spectra()], length=20)
    assert main(["spectra", str(tmp_path), "--from", "70"]) == 2
    assert "spectra.h5: no block lies inside the times" in capsys.readouterr().err
    assert main(["report", str(tmp_path), "--from", "70"]) == 0
    assert "so no spectra and two-point correlations" in capsys.readouterr().out


def test_spectra_of_another_grid(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of())])
    other = flow_of((12, 8, 20))
    synthetic.write_spectra(tmp_path / "spectra.h5", other, [Fields(other).spectra()])
    assert main(["spectra", str(tmp_path)]) == 4
    assert "has another grid than statistics.h5" in capsys.readouterr().err


def test_grid_with_too_few_wavenumbers(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of((12, 4, 24)))])
    assert main(["spectra", str(tmp_path)]) == 4
    assert "12 x 4 cells along x and y have too few wavenumbers" in capsys.readouterr().err
    write(tmp_path, [Fields(flow_of((5, 6, 24)))])
    parameters, blocks = load(tmp_path)
    assert map_figure(evaluate_spectra(blocks, parameters).found, "x").axes


def test_laminar_flow(tmp_path, capsys):
    flow = flow_of()
    state = Fields(flow)
    laminar = synthetic.laminar_poiseuille(flow)
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [laminar])
    spectra = {name: np.zeros_like(values) for name, values in state.spectra().items()}
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [spectra])
    assert main(["spectra", str(tmp_path)]) == 2
    assert "the flow is laminar" in capsys.readouterr().err
    assert main(["report", str(tmp_path)]) == 0


def test_damaged_file(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of())])
    with h5py.File(tmp_path / "spectra.h5", "a") as file:
        file["ww_ky"][0, 3, 1] += 1e-9
    assert main(["spectra", str(tmp_path)]) == 4
    assert "'/ww_ky' is damaged" in capsys.readouterr().err


MKM = """# up to Re_tau=590, Physics of Fluids
# Re_tau = 178.12
# nx = 128,  Re = 178.12,  y = 0.02997,  y+ =   5.34
#
#     k_x          E_uu         E_vv         E_ww         E_pp
#
   0.0   0.5   0.1  0.2  0.3
   0.5   1.0   0.3  0.4  0.5
   1.0   0.5   0.0  0.0  0.2
"""


def test_published_spectra(tmp_path):
    path = tmp_path / "chan180.xspec.5"
    path.write_text(MKM)
    assert holds_spectra(path)
    spectra = read_published_spectra(path)
    assert (spectra.axis, spectra.re_tau) == ("x", 178.12)
    assert spectra.height == pytest.approx(5.34, abs=0.01)
    np.testing.assert_allclose(spectra.energy["ww"], [0.1, 0.3, 0.0])  # their v is wall-normal
    np.testing.assert_allclose(spectra.energy["vv"], [0.2, 0.4, 0.0])
    k_plus, density = spectra.density_plus("uu")
    np.testing.assert_allclose(k_plus, np.array([0.5, 1.0]) / 178.12)
    np.testing.assert_allclose(density * 0.5 / 178.12, [1.0, 0.5])
    r = np.linspace(0, 3, 7)
    np.testing.assert_allclose(
        spectra.coefficient("uu", r), (0.5 + np.cos(0.5 * r) + 0.5 * np.cos(r)) / 2, rtol=1e-12
    )
    assert find_published([spectra], "x", 5.0) is spectra
    assert find_published([spectra], "y", 5.0) is None
    assert find_published([spectra], "x", 15.0) is None
    assert find_published([spectra], "x", inf) is None
    assert not_shown([spectra], [15.0, inf]) == [path.name]
    path.write_text(MKM.replace("y = 0.02997", "y = 1.00000").replace("k_x", "k_z"))
    spectra = read_published_spectra(path)
    assert (spectra.axis, spectra.height) == ("y", inf)


def test_published_spectra_without_height(tmp_path):
    path = tmp_path / "spectra.dat"
    path.write_text("# k_x E_uu\n0 1\n1 1\n2 1\n")
    with pytest.raises(InputOutputError, match="does not give Re_tau and y"):
        read_published_spectra(path)
    path.write_text("# y y+ Umean\n0 0 0\n0.1 10 8\n1 100 17\n")
    assert not holds_spectra(path)
    with pytest.raises(InputOutputError, match="k_x, k_z"):
        read_published_spectra(path)
