"""An Ekman layer is described by its own lengths, velocities and balance, not by those of a channel."""

from __future__ import annotations

import dataclasses
import html
import re
from pathlib import Path

import numpy as np
import pytest
import synthetic
import synthetic_flows
from test_profiles import laminar_ekman, means_of

from sluice_post import figures
from sluice_post.cli import main
from sluice_post.derived import anisotropy
from sluice_post.errors import UsageError
from sluice_post.flow import ekman_reynolds
from sluice_post.key_figures import figures_of
from sluice_post.profiles import wall_profiles
from sluice_post.spectra import require_heights, usual_heights
from sluice_post.style import figure_style, new_figure
from sluice_post.watch.case import read_case

RATE = 0.05
LAYER = {
    "flow.type": "open_channel",
    "flow.forcing": "none",
    "walls.top.type": "free_slip",
    "flow.rotation.number": str(RATE),
    "flow.rotation.axis": "wall_normal",
    "flow.rotation.geostrophic": "[1, 0]",
}


def layer_in(folder: Path, turn: complex = 1) -> tuple:
    """The discrete laminar layer in a domain of height 1, with its geostrophic velocity turned; and its wall stress."""
    flow = synthetic.Flow("open_channel", re_tau=30, u_tau=0.05, cells=(16, 16, 48))
    rate = 50 * flow.viscosity
    profiles, layer = synthetic.turbulent_profiles(flow), laminar_ekman(flow, rate)
    velocity, stress = layer["u"] + 1j * layer["v"], layer["tau_xz"] + 1j * layer["tau_yz"]
    velocity, stress = turn * velocity, turn * stress
    still = {name: np.zeros_like(profiles[name]) for name in ("uw", "vw")}
    turned = {"u": velocity.real, "v": velocity.imag, "tau_xz": stress.real, "tau_yz": stress.imag}
    parameters, means = means_of(folder, flow, profiles | still | turned)
    sampled = {"flow.rotation.geostrophic": f"[{turn.real}, {turn.imag}]"}
    parameters = dataclasses.replace(parameters, rotation=(0.0, 0.0, rate), sampled=sampled)
    return parameters, means, abs(stress[0])


@pytest.mark.parametrize("turn", [1, 0.6 - 0.8j, -1, -0.6 + 0.8j])
def test_both_stresses_balance_the_coriolis_force(tmp_path: Path, turn: complex) -> None:
    """The mean pressure gradient is known, so the stress follows from the free-slip top; u_tau has both components."""
    parameters, means, stress = layer_in(tmp_path, turn)
    profiles = wall_profiles(means, parameters)
    assert profiles.residual < 1e-11
    assert profiles.u_tau == pytest.approx(stress**0.5)
    assert np.hypot(profiles.face["total"][0], profiles.face["total_y"][0]) == pytest.approx(1)
    first = profiles.centre["U_along_stress"][0]
    assert first == pytest.approx(profiles.z_plus[0], rel=1e-6)  # the law of the wall in the first cell
    weaker = {name: values * 0.9 for name, values in means.face.items()}
    unsteady = wall_profiles(dataclasses.replace(means, face=weaker), parameters)
    assert unsteady.residual == pytest.approx(0.1 / 0.9, rel=0.01)


@pytest.mark.parametrize("turn", [1, 0.6 - 0.8j, -1])
def test_key_figures_do_not_depend_on_the_axes(tmp_path: Path, turn: complex) -> None:
    parameters, means, stress = layer_in(tmp_path, turn)
    figures = figures_of(means, parameters)
    assert figures["re_tau"] == pytest.approx(stress**0.5 / parameters.viscosity)
    assert figures["u_tau_g"] == pytest.approx(stress**0.5)
    assert figures["cf"] == pytest.approx(2 * stress)
    assert figures["angle"] == pytest.approx(45, abs=0.5)
    assert figures["delta_plus"] == pytest.approx(stress / (parameters.rotation[2] * parameters.viscosity))
    assert ekman_reynolds(parameters) == pytest.approx((2 / parameters.viscosity / parameters.rotation[2]) ** 0.5)


def test_lengths_are_in_the_unit_of_the_case_whatever_the_height(tmp_path: Path) -> None:
    parameters, means, _ = layer_in(tmp_path)
    of_low = wall_profiles(means, parameters)
    size = (*parameters.size[:2], 24.0)
    taller = dataclasses.replace(means, z=24 * means.z, z_face=24 * means.z_face)
    of_high = wall_profiles(taller, dataclasses.replace(parameters, size=size))
    assert of_high.re_tau == of_low.re_tau
    assert of_high.height == 24
    assert len(of_high.z) == len(of_low.z)


def test_the_report_says_nothing_of_a_channel(tmp_path: Path) -> None:
    flow = {"flow_type": "open_channel"}
    directory = synthetic_flows.write_run(tmp_path, LAYER, **flow)
    assert main(["report", str(directory)]) == 0
    page = (directory / "report.html").read_text(encoding="utf-8")
    text = html.unescape(re.sub("<.*?>", "", re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL)))
    for words in ("Reb", "Ub", "Uc", "h/uτ", "straight line", "skewness of v is 0", "the line that the mean"):
        assert words not in text, words
    for words in ("uτ/G", "angle of the wall stress", "periods 2π/f", "its balance with the Coriolis force"):
        assert words in text, words
    assert re.search(r"largest Δz\+\s*[\d.]+\s*\n", text)  # without a limit
    assert "the largest Δz" not in text
    assert "1 period 2π/f" in text and "1 periods" not in text
    assert "x and y parallel to the wall" in text and "wise" not in text
    stationary = re.search(r"Stationary\?(.*)", text)
    assert stationary and stationary[1].startswith("Not known: within 0.") and "oscillation" in stationary[1]


@pytest.mark.parametrize(
    "changes", [{}, {"rotation": (0.0, 0.0, 0.0), "sampled": {"flow.spanwise_forcing.force": "1"}}]
)
def test_legends_call_no_axis_streamwise(tmp_path: Path, changes: dict) -> None:
    """In an Ekman layer, and in a flow that is also driven along y."""
    parameters, means, _ = layer_in(tmp_path)
    profiles = wall_profiles(means, dataclasses.replace(parameters, **changes))
    with figure_style():
        axes = new_figure(4, 3).subplots()
        figures.fluctuations(axes, profiles)
    labels = [text.get_text() for text in axes.get_legend().get_texts()]
    assert any("along x" in label for label in labels) and not any("wise" in label for label in labels)


def test_watch_forms_the_friction_coefficient_with_the_geostrophic_velocity(tmp_path: Path) -> None:
    path = tmp_path / "resolved.yaml"
    rotation = "{number: 0.005, axis: wall_normal, geostrophic: [0.6, -0.8]}"
    path.write_text(
        f"flow: {{type: open_channel, reynolds: {{viscosity: 0.0025}}, rotation: {rotation}}}\n"
        "domain: {size: [26, 26, 24]}\ngrid: {cells: [8, 8, 8]}\n"
        "walls: {bottom: {type: no_slip, velocity: [0, 0, 0]}, top: {type: free_slip}}\nscalars: []\ntime: {end: 1}\n"
    )
    case = read_case(path)
    assert case is not None
    assert case.friction(25.6, 0.4) == pytest.approx(2 * 0.064**2)


def test_anisotropy_has_the_invariants_of_the_turned_tensor() -> None:
    """Invariants of a tensor do not depend on the axes if no component is left out."""
    plain = {"uu": 3.0, "vv": 1.0, "ww": 0.5, "uw": -0.4}
    tensor = np.array([[plain["uu"], 0, plain["uw"]], [0, plain["vv"], 0], [plain["uw"], 0, plain["ww"]]])
    c, s = np.cos(0.5), np.sin(0.5)
    turn = np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])
    turned = turn @ tensor @ turn.T
    places = {"uu": (0, 0), "vv": (1, 1), "ww": (2, 2), "uw": (0, 2), "uv": (0, 1), "vw": (1, 2)}
    expected = anisotropy({name: np.array([value]) for name, value in plain.items()})
    found = anisotropy({name: np.array([turned[place]]) for name, place in places.items()})
    for name in ("xi", "eta"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-12)


def test_spectra_end_at_the_top_of_the_domain_and_leave_it_out(tmp_path: Path) -> None:
    """The default heights of a layer are within it; z+ may be any up to the top, which may be far above h."""
    parameters, _, _ = layer_in(tmp_path)
    assert usual_heights(parameters, 480.0) == [5, 15, 30, 100]
    assert usual_heights(dataclasses.replace(parameters, sampled={}), 480.0) == [5, 15, 30, 100, np.inf]
    require_heights([400.0, np.inf], parameters, 480.0)
    with pytest.raises(UsageError, match="between 0 and 480, which is the top"):
        require_heights([500.0], parameters, 480.0)
    assert parameters.far_end == "top"
