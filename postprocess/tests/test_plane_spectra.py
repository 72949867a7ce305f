"""Spectra in (kx, ky) of small fields whose modes are known."""

import re

import numpy as np
import pytest
from synthetic_spectra import (
    AMPLITUDES,
    EVEN,
    ODD,
    PLANES,
    WIDE,
    Fields,
    Oblique,
    evaluated,
    flow_of,
    fluctuation,
    plane_spectrum,
    spectra_of,
)

from sluice_post.cli import main
from sluice_post.spectra_figures import plane_figure
from sluice_post.spectra_tables import table_text
from sluice_post.uncertainty import mean_with_interval


@pytest.mark.parametrize("cells", [EVEN, ODD])
def test_planes_sum_to_the_spectra_in_one_direction(tmp_path, cells):
    flow = flow_of(cells)
    states = [Fields(flow, seed) for seed in range(3)]
    found = spectra_of(tmp_path, states, "bottom", PLANES)
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
    states = [Fields(flow_of(), seed) for seed in range(2)]
    both, bottom, top = (spectra_of(tmp_path, states, side, PLANES).planes for side in ("both", "bottom", "top"))
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
    states = [Fields(flow_of(flow_type=flow_type), seed) for seed in range(3)]
    for side in ("both", "bottom"):
        of = evaluated(tmp_path, states, [30.0], side, PLANES)
        rows = [line.split() for line in table_text(of).splitlines() if line.startswith("minus_uw")]
        assert [row[0] for row in rows] == ["minus_uw"] * 3
        zero = ["minus_uw", "180", "zero", "by", "symmetry"]
        assert (rows[-1] == zero) == (flow_type == "channel")
        titles = [axes.get_title() for axes in plane_figure(of.found, 2).axes]
        assert any(title.endswith("zero by symmetry") for title in titles) == (flow_type == "channel")


def test_peaks_of_an_oblique_wave(tmp_path):
    flow = flow_of(WIDE)
    of = evaluated(tmp_path, [Oblique(flow, amplitude) for amplitude in AMPLITUDES], [30.0], planes=PLANES)
    plane, expected = of.found.planes["uu"], mean_with_interval(AMPLITUDES**2 * 5 / 2)
    np.testing.assert_allclose(plane.z_plus, flow.z[[0, 3, 11]] * 180)
    np.testing.assert_allclose(of.values["peak_uu"], 6 * expected.mean)
    np.testing.assert_allclose(of.width("peak_uu"), 6 * expected.half_width)
    np.testing.assert_allclose(of.values["variance_plane_uu"], expected.mean)
    _, across, along = plane.peaks()
    np.testing.assert_allclose(plane.wavelength_plus["x"][along], 4 * np.pi / 3 * 180)
    np.testing.assert_allclose(plane.wavelength_plus["y"][across], flow.size[1] / 2 * 180)
    text = table_text(of)
    assert re.search(r"^uu +[0-9.]+( +[0-9.]+ \+- [0-9.]+){2} +754 +", text, re.MULTILINE)
    plane_figure(of.found, 0)


@pytest.mark.parametrize("flow_type", ["couette", "open_channel"])
def test_planes_of_other_flows(tmp_path, flow_type):
    flow = flow_of(WIDE, flow_type=flow_type)
    found = spectra_of(tmp_path, [Oblique(flow), Oblique(flow)], planes=PLANES)
    plane = found.planes["uu"]
    count = 4 if flow_type == "open_channel" else 3
    np.testing.assert_allclose(plane.z_plus, found.z_plus("uu")[PLANES[0][:count]])
    np.testing.assert_allclose(plane.energy[:, 2, 3], 5 / 2, rtol=1e-10)
    np.testing.assert_allclose(found.planes["minus_uw"].energy[:, 0, 1], 0.5, rtol=1e-10)


def test_command_with_planes(tmp_path, capsys, paint_no_more):
    """With one block there are no intervals. On the wall w has no spectrum."""
    state = Fields(flow_of())
    state.w[0] = 0
    found = spectra_of(tmp_path, [state], "bottom", PLANES)
    assert main(["spectra", str(tmp_path), "--side", "bottom"]) == 0
    assert "peak of kxkyE+" in capsys.readouterr().out
    assert {path.stem for path in (tmp_path / "figures").glob("spectra_xy*")} == {f"spectra_xy_{n}" for n in (1, 2, 3)}
    for name, quantities in (("centres", ("uu", "vv", "pp")), ("faces", ("ww", "minus_uw"))):
        rows = np.genfromtxt(tmp_path / f"spectra_xy_{name}.csv", delimiter=",", names=True)
        for quantity in quantities:
            expected = found.planes[quantity].energy
            np.testing.assert_allclose(rows[f"E_{quantity}_plus"], expected.ravel(), rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(rows["kx_h"][:7], np.arange(7) / 2, rtol=1e-9)
    paint_no_more()
    assert main(["report", str(tmp_path)]) == 0
    assert "Premultiplied spectra along x and y at z+ = " in (tmp_path / "report.html").read_text(encoding="utf-8")
