"""Densities of Gaussian flows, whose answers are known, and of fields that are counted point by point."""

import io
from math import inf

import numpy as np
import pytest
import synthetic
import synthetic_densities
from scipy.integrate import quad
from scipy.special import k0
from scipy.stats import norm
from synthetic_densities import CORRELATION, TAU_X, TAU_Y, bins_of, gaussian_block, quadrants_of, scales_of

from sluice_post.densities import load_densities
from sluice_post.density_figures import moments_figure
from sluice_post.density_tables import csv_texts, table_text
from sluice_post.errors import UsageError
from sluice_post.evaluated_densities import EDGES, agreement, evaluate_densities
from sluice_post.profiles import face_values
from sluice_post.quadrants import HOLE_SIZES
from sluice_post.run import load_statistics
from sluice_post.uncertainty import mean_with_interval

CELLS = (32, 24, 48)
STRETCHES = (1.0, 1.05, 0.97, 1.02, 1.0, 0.96, 1.03, 0.99)


def flow_of(flow_type="channel"):
    return synthetic.Flow(flow_type, cells=CELLS)


def heights_of(flow):
    """Two faces of the lower half, with the mirror image of one of them, and the centre."""
    faces = (10, 16, 24, 38) if flow.flow_type != "open_channel" else (10, 16)
    return [float(flow.z_face[k]) for k in faces]


def gaussian_run(directory, flow, stretches=(1.0, 1.0, 1.0), shift=0.3):
    heights = heights_of(flow)
    bins = bins_of(flow, heights, shift)
    profiles = synthetic.turbulent_profiles(flow)
    synthetic.write_statistics(directory / "statistics.h5", flow, [profiles] * len(stretches))
    blocks = [gaussian_block(flow, bins, heights, stretch) for stretch in stretches]
    synthetic_densities.write(directory / "densities.h5", flow, heights, blocks)
    return directory


def evaluated(directory, heights=None, side=None):
    parameters, statistics = load_statistics(directory)
    return evaluate_densities(load_densities(directory, statistics, None, None), parameters, heights, side)


@pytest.mark.parametrize("flow_type", ["channel", "couette", "open_channel"])
def test_gaussian(tmp_path, flow_type):
    """Densities, moments, wall shear and quadrants are the analytical ones at all heights."""
    flow = flow_of(flow_type)
    found = evaluated(gaussian_run(tmp_path, flow))
    expected = np.diff(norm.cdf(EDGES)) / np.diff(EDGES)
    within = np.abs(EDGES[1:]) < 6
    scales = scales_of(flow)
    for field in "uvwp":
        of_field = found.values[f"density_{field}"]
        assert of_field.shape == (5, 128)
        np.testing.assert_allclose(of_field[:, within], np.tile(expected[within], (5, 1)), rtol=0.02, atol=1e-12)
        unit = flow.u_tau ** (2 if field == "p" else 1)
        points = len(found.found.z(field))
        np.testing.assert_allclose(found.values[f"rms_{field}"], scales[field][1][:points] / unit, rtol=1e-7)
        inside = slice(1 if field == "w" else 0, None)
        if flow_type == "open_channel" and field == "w":
            inside = slice(1, -1)
        np.testing.assert_allclose(found.values[f"skewness_{field}"][inside], 0, atol=1e-6)
        np.testing.assert_allclose(found.values[f"flatness_{field}"][inside], 3, rtol=1e-6)
    assert found.values["rms_shear_x"] == pytest.approx(TAU_X, rel=1e-7)
    assert found.values["rms_shear_y"] == pytest.approx(TAU_Y, rel=1e-7)
    assert found.values["backflow"] == pytest.approx(norm.cdf(-1 / TAU_X), rel=0.01)
    contributions, fractions = quadrants_of(np.array(CORRELATION))
    below = len(found.found.z("w")) - 1  # at the centre of a channel, quadrants of both halves are averaged
    scale = (scales["u_face"][1] * scales["w"][1])[:below] / flow.u_tau**2
    for n in (1, 2, 3, 4):
        np.testing.assert_allclose(found.values[f"minus_uw_q{n}"][:below], -contributions[n] * scale, rtol=1e-9)
        np.testing.assert_allclose(found.values[f"fraction_q{n}"][:below], fractions[n], rtol=1e-9)
    assert found.names[-1] == ("surface" if flow_type == "open_channel" else "centre")


def test_mean_is_relative_to_the_wall(tmp_path):
    for flow_type in ("channel", "couette"):
        flow = flow_of(flow_type)
        found = evaluated(gaussian_run(tmp_path / flow_type, flow))
        mean = (synthetic.turbulent_profiles(flow)["u"] + flow.wall_speed) / flow.u_tau
        np.testing.assert_allclose(found.values["mean_u"], mean[: len(found.values["mean_u"])], rtol=1e-9)


def test_holes(tmp_path):
    """The product of correlated Gaussians has a known density; outside a hole of size 0 is the whole quadrant."""
    flow = flow_of()
    found = evaluated(gaussian_run(tmp_path, flow))
    assert found.found.joint_z == pytest.approx(np.array(heights_of(flow))[:3])  # the fourth is an image of the first
    face, rho = 10, CORRELATION
    scale = scales_of(flow)["u_face"][1][face] * scales_of(flow)["w"][1][face] / flow.u_tau**2

    def contribution(z):
        return z * np.exp(rho * z / (1 - rho**2)) * k0(abs(z) / (1 - rho**2)) / (np.pi * np.sqrt(1 - rho**2))

    for size in (0.0, 1.0, 2.5, 6.0):
        at = int(np.flatnonzero(size == HOLE_SIZES)[0])
        positive = quad(contribution, size, 60)[0] / 2
        negative = quad(contribution, -60, -size)[0] / 2
        expected = -np.array([positive, negative, positive, negative]) * scale
        np.testing.assert_allclose(found.values["hole_minus_uw"][0, :, at], expected, rtol=0, atol=4e-3 * scale)
    np.testing.assert_allclose(
        found.values["hole_minus_uw"][0, :, 0], [found.values[f"minus_uw_q{n}"][face] for n in (1, 2, 3, 4)], rtol=0.03
    )
    _, fractions = quadrants_of(np.array(rho))
    np.testing.assert_allclose(found.values["hole_fraction"][0, :, 0], list(fractions.values()), rtol=5e-3)
    assert found.values["hole_fraction"][:, :, 0].sum(axis=1) == pytest.approx([1, 1, 1])


def test_intervals(tmp_path):
    """Blocks that differ in their standard deviations only."""
    found = evaluated(gaussian_run(tmp_path, flow_of(), STRETCHES))
    variance = mean_with_interval(np.array(STRETCHES) ** 2)
    shear = found.values["rms_shear_x"]
    assert shear == pytest.approx(TAU_X * np.sqrt(variance.mean), rel=1e-6)
    assert found.width("rms_shear_x") == pytest.approx(TAU_X * variance.half_width / 2, rel=0.02)
    assert np.nanmax(found.width("skewness_u")) < 1e-6
    assert found.width("density_u").shape == found.values["density_u"].shape
    single = evaluated(gaussian_run(tmp_path / "one", flow_of(), (1.0,)))
    assert not single.has_intervals
    assert np.isnan(single.width("backflow"))


class Fields:
    """A flow at one time, skewed so that a wrong sign is seen: (z, y, x) at centres or faces."""

    def __init__(self, flow, seed):
        rng = np.random.default_rng(seed)
        nx, ny, nz = flow.cells
        self.flow = flow
        mean = synthetic.turbulent_profiles(flow)["u"][:, None, None]

        def skewed(planes):
            return flow.u_tau * (rng.gamma(2.0, size=(planes, ny, nx)) - 2)

        self.values = {
            **{"u": mean + skewed(nz), "v": skewed(nz), "p": flow.u_tau * skewed(nz)},
            **{"w": skewed(nz + 1), "w_face": skewed(nz + 1), "shear_x": flow.u_tau * (skewed(2) / 3)},
        }
        self.values["u_face"] = -self.values["w_face"] + skewed(nz + 1)
        self.values["shear_x"] += np.array([1, -1])[:, None, None] * flow.u_tau**2
        self.values["shear_y"] = flow.u_tau * skewed(2) / 5
        for name in ("w", "w_face"):
            self.values[name] -= self.values[name].mean(axis=(1, 2), keepdims=True)
        self.values["w"][[0, -1]] = 0

    def mirrored(self):
        image = object.__new__(Fields)
        image.flow = self.flow
        odd = ("w", "w_face", "shear_x", "shear_y")
        image.values = {name: (-1 if name in odd else 1) * f[::-1] for name, f in self.values.items()}
        return image

    def statistics(self):
        found = synthetic.turbulent_profiles(self.flow)
        for name in "uvp":
            field = self.values[name]
            for n in range(1, 5):
                if name * n in found:
                    found[name * n] = (field**n).mean(axis=(1, 2))
        for n in range(1, 5):
            found["w" * n] = synthetic.of_cells((self.values["w"] ** n).mean(axis=(1, 2)))
        shear = self.values["shear_x"].mean(axis=(1, 2))
        found["tau_xz"] = np.concatenate([shear[:1], found["tau_xz"][1:-1], shear[1:]])
        found["uw"] = (self.values["u_face"] * self.values["w_face"]).mean(axis=(1, 2))
        return found


FACES = (10, 38)


def write_fields(directory, states, shift=0.0):
    flow = states[0].flow
    heights = [float(flow.z_face[k]) for k in FACES]
    bins = bins_of(flow, heights)
    for name in bins:  # as wide in the upper half, and wide enough for the fields
        if name.endswith("_width"):
            bins[name] = np.full(bins[name].shape, 0.2 * flow.u_tau * (flow.u_tau if name[0] in "ps" else 1))
        else:
            bins[name] = bins[name] + shift * bins[name.replace("_middle", "_width")]
    bins["w_middle"][[0, -1]], bins["w_width"][[0, -1]] = 0, 1e-30  # on the walls
    blocks = [synthetic_densities.block_of_fields(bins, FACES, state.values) for state in states]
    synthetic.write_statistics(directory / "statistics.h5", flow, [s.statistics() for s in states], samples=1)
    synthetic_densities.write(directory / "densities.h5", flow, heights, blocks, samples=1)
    return directory


def test_halves_are_averaged(tmp_path):
    """The average over both halves is that over all states and their mirror images, seen from the bottom."""
    flow = synthetic.Flow(cells=(16, 12, 48))
    states = [Fields(flow, seed) for seed in range(2)]
    images = [state.mirrored() for state in states]
    folded, expected, top, bottom_of_image = (
        evaluated(write_fields(tmp_path / side / str(n), of), [15.0, inf], side)
        for n, (of, side) in enumerate(
            ((states, "both"), (states + images, "bottom"), (states, "top"), (images, "bottom"))
        )
    )
    assert len(folded.found.joint_z) == 1
    for a, b in ((folded, expected), (top, bottom_of_image)):
        assert a.values.keys() == b.values.keys()
        for name, values in a.values.items():
            others = b.values[name]
            if "density" in name:  # cubics through both halves at once, and through each
                values, others = (np.nan_to_num(v).reshape(-1, 16, 8).mean(axis=2) for v in (values, others))
            tolerance = 0.01 if "density" in name else 1e-9
            np.testing.assert_allclose(values, others, rtol=1e-9, atol=tolerance, err_msg=name)


def test_agrees_with_statistics(tmp_path):
    """Of the same samples: moments differ by no more than the bins allow."""
    flow = synthetic.Flow(cells=(64, 48, 48))
    found = evaluated(write_fields(tmp_path, [Fields(flow, 1)], shift=0.37), [30.0], "bottom")
    rows = agreement(found)
    assert rows["u"]["mean/rms"] < 5e-3
    assert rows["u"]["rms"] < 5e-3
    assert "flatness" in rows["u"]
    for field in "vw":
        assert rows[field]["rms"] < 5e-3
        assert rows[field]["skewness"] < 0.05
        assert rows[field]["flatness"] < 0.3
    assert "flatness" not in rows["p"]  # nor in the statistics


def test_moments_that_the_bins_cut_off(tmp_path):
    """Bins that reach 2.5 standard deviations of w on one face: its flatness is marked there, and nowhere else."""
    flow, face = flow_of(), 5
    profiles = synthetic.turbulent_profiles(flow)
    for stretches, marked in (((1.0, 1.001, 0.999), True), ((1.0, 1.3, 0.75), False)):
        directory = tmp_path / str(marked)
        bins = bins_of(flow, [])
        bins["w_width"][[face, -1 - face]] *= 2.5 / 8
        synthetic.write_statistics(directory / "statistics.h5", flow, [profiles] * 3)
        blocks = [gaussian_block(flow, bins, [], stretch) for stretch in stretches]
        synthetic_densities.write(directory / "densities.h5", flow, [], blocks)
        found = evaluated(directory, [float(flow.z_face[face] * flow.re_tau), 100.0])
        cut_off = found.is_cut_off("flatness_w")
        assert cut_off[face] == marked
        assert not np.delete(cut_off, face).any()
        assert not found.is_cut_off("flatness_u").any()
        starred = [line.split()[:2] for line in table_text(found).splitlines() if line.count("*") == 2]
        assert starred == ([["w", f"{flow.z_face[face] * flow.re_tau:.4g}"]] if marked else [])
        assert ("*: values beyond the bins" in table_text(found)) == marked
        rows = np.genfromtxt(io.StringIO(csv_texts(found)["density_moments_faces.csv"]), delimiter=",", names=True)
        assert rows["flatness_w_beyond_bins"][face] > 0.1
        symbols = [line for line in moments_figure(found).axes[1].lines if line.get_markerfacecolor() == "white"]
        assert sum(len(line.get_xdata()) for line in symbols) == marked


def test_what_is_zero_by_symmetry_has_no_interval(tmp_path):
    """The skewness of w on the centre plane, where the halves of a channel meet."""
    run = gaussian_run(tmp_path, flow_of(), STRETCHES)
    with pytest.raises(UsageError, match=r"z\+ = 500 is not between 0 and 180, which is the centre"):
        evaluated(run, [5.0, 500.0])
    rows = [line for line in table_text(evaluated(run, [30.0, inf])).splitlines() if line.startswith("w ")]
    assert ["zero by symmetry" in row for row in rows] == [False, True]


def test_what_does_not_fluctuate_is_not_compared(tmp_path):
    """On a free-slip surface w is 0 in its histogram, and round-off in the statistics."""
    found = evaluated(gaussian_run(tmp_path, flow_of("open_channel")))
    assert found.values["rms_w"][-1] == 0
    assert 0 < face_values(found.found.view.means.centre["ww"])[-1] < 1e-14 * found.found.u_tau**2
    assert agreement(found)["w"]["rms"] < 0.05
