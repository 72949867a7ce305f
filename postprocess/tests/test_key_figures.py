import numpy as np
import pytest
import synthetic
from scipy.integrate import trapezoid

from sluice_post import literature
from sluice_post.export import csv_text
from sluice_post.flow import Flow
from sluice_post.key_figures import figures_of, key_figures, published_of, resolution
from sluice_post.profiles import wall_profiles
from sluice_post.reference import read_reference
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
    (tmp_path / "profiles.csv").write_text(csv_text(wall_profiles(blocks.means(), parameters)))
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
