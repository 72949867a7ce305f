from dataclasses import replace

import numpy as np
import pytest
import synthetic
from scipy.integrate import trapezoid

from sluice_post import html, literature
from sluice_post.flow import Flow, held_reynolds
from sluice_post.key_figures import Figure, figures_of, key_figures, published_of, resolution
from sluice_post.profiles import profiles_csv, wall_profiles
from sluice_post.reference import read_reference
from sluice_post.results import evaluate
from sluice_post.run import load_run
from sluice_post.statistics import read_statistics


def blocks_of(tmp_path, flow, raw_blocks):
    path = tmp_path / "statistics.h5"
    synthetic.write_statistics(path, flow, raw_blocks)
    return read_statistics(path)


def test_laminar_channel_has_the_laminar_friction_law(tmp_path):
    """Poiseuille: U_c+ = Re_tau/2, U_b+ = Re_tau/3, Cf = 12/Re_b with Re_b on 2h."""
    flow = synthetic.Flow(re_tau=30.0, cells=(8, 8, 256))
    parameters, blocks = blocks_of(tmp_path, flow, [synthetic.laminar_poiseuille(flow)])
    values = figures_of(blocks.means(), parameters)
    assert values["re_tau"] == pytest.approx(30.0)
    assert values["u_c_plus"] == pytest.approx(15.0, rel=1e-4)
    assert values["u_b_plus"] == pytest.approx(10.0, rel=1e-4)
    assert values["re_b"] == pytest.approx(600.0, rel=1e-4)
    assert values["cf"] == pytest.approx(12 / 600, rel=3e-4)
    assert values["force_balance"] == pytest.approx(0, abs=1e-12)
    assert "u_peak" not in values


def test_dissipation_and_that_of_the_mean_flow_are_the_energy_input(tmp_path):
    """In wall units the energy input is U_b+, and the mean flow dissipates the integral of (dU+/dz+)^2."""
    flow = synthetic.Flow(cells=(8, 8, 256))
    parameters, blocks = blocks_of(tmp_path, flow, [synthetic.turbulent_profiles(flow)])
    profiles = wall_profiles(blocks.means(), parameters)
    values = figures_of(blocks.means(), parameters)
    mean_flow = trapezoid(profiles.face["dUdz"] ** 2, profiles.z_face_plus)
    assert values["dissipation"] + mean_flow == pytest.approx(values["u_b_plus"], rel=1e-3)


@pytest.mark.parametrize("flow_type", ["channel", "couette"])
def test_figures_of_published_profiles(tmp_path, flow_type):
    """The profiles of a run, read as published ones, give the figures of the run."""
    flow = synthetic.Flow(flow_type, cells=(8, 8, 192))
    parameters, blocks = blocks_of(tmp_path, flow, [synthetic.turbulent_profiles(flow)])
    (tmp_path / "profiles.csv").write_text(profiles_csv(wall_profiles(blocks.means(), parameters)))
    found = published_of(read_reference(tmp_path / "profiles.csv"), Flow(flow_type)).values
    expected = figures_of(blocks.means(), parameters)
    for key in ("re_tau", "u_c_plus", "u_peak", "u_peak_z", "v_peak", "w_peak", "uw_peak", "dissipation"):
        assert found[key] == pytest.approx(expected[key], rel=2e-3), key
    if flow_type == "channel":
        for key in ("re_b", "u_b_plus", "cf"):
            assert found[key] == pytest.approx(expected[key], rel=2e-3), key


def test_turbulent_couette(tmp_path):
    flow = synthetic.Flow("couette", re_tau=93.0, cells=(8, 8, 96))
    parameters, blocks = blocks_of(tmp_path, flow, [synthetic.turbulent_profiles(flow)])
    values = figures_of(blocks.means(), parameters)
    assert values["re_w"] == pytest.approx(flow.wall_speed / flow.viscosity)
    assert values["cf"] == pytest.approx(2 * (flow.u_tau / flow.wall_speed) ** 2)
    assert values["u_c_plus"] == pytest.approx(flow.wall_speed / flow.u_tau, rel=1e-4)
    assert "re_b" not in values


@pytest.mark.parametrize("angle", [np.pi / 4, -2.0])
def test_oblique_walls_have_the_figures_of_walls_along_x(tmp_path, angle):
    """The flow between walls that move obliquely: V+ is 0 at the wall, Re_w and C_f are those of their speed."""
    flow = synthetic.Flow("couette", re_tau=93.0, cells=(8, 8, 96))
    raw = synthetic.turbulent_profiles(flow)
    along, blocks = blocks_of(tmp_path, flow, [raw])
    means, c, s = blocks.means(), np.cos(angle), np.sin(angle)
    means.centre["v"], means.centre["u"] = s * means.centre["u"], c * means.centre["u"]
    means.face["tau_yz"], means.face["tau_xz"] = s * means.face["tau_xz"], c * means.face["tau_xz"]

    def turned(velocity):
        return c * velocity[0], s * velocity[0], 0.0

    oblique = replace(along, velocity_bottom=turned(along.velocity_bottom), velocity_top=turned(along.velocity_top))
    expected, found = figures_of(blocks.means(), along), figures_of(means, oblique)
    assert found["re_w"] == pytest.approx(expected["re_w"])
    assert found["cf"] == pytest.approx(expected["cf"])
    held = held_reynolds(oblique, {})
    assert held is not None and (held.key, held.value) == ("re_w", pytest.approx(expected["re_w"]))
    profiles = wall_profiles(means, oblique)
    velocity = np.array([profiles.centre["U"], profiles.centre["V"]])  # seen so that the shear along x is positive
    assert velocity[:, 0] / profiles.z_plus[0] == pytest.approx([1.0, s / abs(c)], rel=2e-3)
    of_walls = wall_profiles(blocks.means(), along, "bottom")
    speed = np.hypot(*velocity) * profiles.u_tau
    np.testing.assert_allclose(speed, of_walls.centre["U"] * of_walls.u_tau, rtol=1e-9)
    np.testing.assert_allclose(velocity[1], s / abs(c) * velocity[0], atol=1e-9)


def test_intervals_of_the_wall_shear(tmp_path, flow):
    """A slow change of the wall shear, half a period over the run, is one of six amplitudes."""
    base = synthetic.turbulent_profiles(flow)
    change = 0.02 * np.sqrt(2) * np.cos(np.pi * (np.arange(10) + 0.5) / 10)
    raw = [base | {"tau_xz": base["tau_xz"] * (1 + relative)} for relative in change]
    parameters, blocks = blocks_of(tmp_path, flow, raw)
    table = {figure.key: figure for figure in key_figures(blocks, parameters)}
    relative = 2.446912 * 0.02 / np.sqrt(6)
    assert table["shear_bottom"].half_width == pytest.approx(relative * flow.u_tau**2)
    assert table["re_tau"].half_width == pytest.approx(relative / 2 * flow.re_tau, rel=1e-3)
    assert table["re_tau"].value == pytest.approx(flow.re_tau)


def test_resolution(tmp_path, flow):
    parameters, blocks = blocks_of(tmp_path, flow, [synthetic.turbulent_profiles(flow)] * 3)
    found = resolution(blocks, parameters, wall_profiles(blocks.means(), parameters))
    assert found.dx_plus == pytest.approx(flow.size[0] / flow.cells[0] * flow.re_tau)
    assert found.dy_plus == pytest.approx(flow.size[1] / flow.cells[1] * flow.re_tau)
    assert found.first_centre_plus == pytest.approx(flow.z_face[1] / 2 * flow.re_tau)
    assert found.dz_centre_plus == pytest.approx(np.diff(flow.z_face).max() * flow.re_tau)
    assert found.turnovers == pytest.approx(30 * flow.u_tau)


@pytest.mark.parametrize("entry", [e for e in literature.PUBLISHED if e.flow == Flow("channel")])
def test_published_figures_are_consistent(entry):
    """Cf = 2/U_b+^2 and Re_b = 2 U_b+ Re_tau hold for every published channel, to their digits."""
    assert entry.values["cf"] == pytest.approx(2 / entry.values["u_b_plus"] ** 2, rel=4e-3)
    assert entry.values["re_b"] == pytest.approx(2 * entry.values["u_b_plus"] * entry.re_tau, rel=2e-3)


@pytest.mark.parametrize(("flow_type", "walls"), [("channel", {"bottom", "top"}), ("open_channel", set())])
def test_each_of_two_walls_has_its_own_re_tau(tmp_path, flow_type, walls):
    """With a single wall there is only Re_tau."""
    flow = synthetic.Flow(flow_type, cells=(8, 8, 48))
    parameters, blocks = blocks_of(tmp_path, flow, [synthetic.turbulent_profiles(flow)])
    keys = {figure.key: figure for figure in key_figures(blocks, parameters)}
    assert {key.removeprefix("re_tau_") for key in keys if key.startswith("re_tau_")} == walls
    assert ("surface" in keys["u_c_plus"].label) == (flow_type == "open_channel")


def test_an_undetermined_figure_shows_no_difference_from_published_data(tmp_path):
    flow = synthetic.Flow(cells=(8, 8, 48))
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [synthetic.turbulent_profiles(flow)] * 4)
    results = evaluate(load_run(tmp_path))
    results.published = literature.Published("A", "A", Flow("channel"), 180.0, {"u_peak_z": 15.0})

    def rows(width):
        results.table = [Figure("u_peak_z", "at", 100.0, width)]
        return html.key_figure_rows(results)

    (known,) = (row for row in rows(10.0) if row.published)
    assert known.difference.startswith("+567")
    (unknown,) = (row for row in rows(350.0) if row.published)
    assert unknown.value == "not determined"
    assert unknown.difference == ""
