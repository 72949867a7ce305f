import dataclasses

import numpy as np
import pytest
import synthetic

from sluice_post.errors import InputOutputError, UsageError
from sluice_post.profiles import central_moments, peak, value_at_height, wall_profiles
from sluice_post.statistics import read_statistics
from sluice_post.symmetry import Symmetry, direction_counts, in_moving_frame, symmetry_of


def means_of(tmp_path, flow, raw):
    path = tmp_path / "statistics.h5"
    synthetic.write_statistics(path, flow, [raw])
    parameters, blocks = read_statistics(path)
    return parameters, blocks.means()


def test_central_moments_of_an_exponential_distribution():
    """Raw moments n! of exp(-x): variance 1, skewness 2, flatness 9."""
    raw = {"u": 1.0, "uu": 2.0, "uuu": 6.0, "uuuu": 24.0}
    moments = central_moments({name: np.array([value]) for name, value in raw.items()}, "u")
    np.testing.assert_allclose([moments[2], moments[3], moments[4]], [[1.0], [2.0], [9.0]])


def test_moments_of_a_skewed_flow_survive_the_whole_chain(tmp_path, flow):
    raw = synthetic.turbulent_profiles(flow)
    variance = np.full_like(flow.z, (2 * flow.u_tau) ** 2)
    raw["u"], raw["uu"], raw["uuu"], raw["uuuu"] = synthetic.raw_moments(raw["u"], variance, -0.5, 2.75)
    parameters, means = means_of(tmp_path, flow, raw)
    profiles = wall_profiles(means, parameters)
    np.testing.assert_allclose(profiles.centre["u_rms"], 2.0, rtol=1e-10)
    np.testing.assert_allclose(profiles.centre["skew_u"], -0.5, rtol=1e-6)
    np.testing.assert_allclose(profiles.centre["flat_u"], 2.75, rtol=1e-6)


@pytest.mark.parametrize("cells", [48, 47])
@pytest.mark.parametrize("flow_type", ["channel", "couette", "open_channel"])
def test_higher_moments_of_w_are_those_of_the_faces(tmp_path, flow_type, cells):
    """The file has means over the two faces of a cell, from which flatness near a wall would be twice too high."""
    flow = synthetic.Flow(flow_type, cells=(8, 8, cells))
    parameters, means = means_of(tmp_path, flow, synthetic.turbulent_profiles(flow))
    profiles = wall_profiles(means, parameters, "bottom")
    _, variance, third, fourth = (m[1 : len(profiles.z_face)] for m in synthetic.moments_of_w(flow))
    inside = variance > 0  # not the surface
    for name, moment, order in (("skew_w", third, 3), ("flat_w", fourth, 4)):
        found = profiles.face[name]
        assert np.isnan(found[0])
        expected = moment[inside] / variance[inside] ** (order / 2)
        np.testing.assert_allclose(found[1:][inside], expected, rtol=1e-6, atol=1e-8)
        at_centres = profiles.at_centres(name)
        assert np.isnan(at_centres[0])  # between the wall, where it is not known, and the first face
        np.testing.assert_allclose(at_centres[5], (found[5] + found[6]) / 2, rtol=0.05)
        assert np.isnan(at_centres[-1]) == (flow_type == "open_channel")  # beside the surface, where w is 0, too


def test_direction_counts():
    assert direction_counts("uuuu") == (4, 0, 0)
    assert direction_counts("uw") == direction_counts("tau_xz") == direction_counts("omega_y") == (1, 0, 1)
    assert direction_counts("omega_x") == (0, 1, 1)
    assert direction_counts("omega_zz") == (2, 2, 0)
    assert direction_counts("pp") == (0, 0, 0)


def test_moving_frame_by_the_binomial_theorem(tmp_path, flow):
    _, means = means_of(tmp_path, flow, synthetic.turbulent_profiles(flow))
    shifted = in_moving_frame(means, 0.7, -0.2)
    np.testing.assert_allclose(shifted.centre["u"], means.centre["u"] - 0.7)
    before, after = central_moments(means.centre, "u"), central_moments(shifted.centre, "u")
    for order in (2, 3, 4):
        np.testing.assert_allclose(after[order], before[order], atol=1e-12)
    np.testing.assert_array_equal(shifted.face["uw"], means.face["uw"])


@pytest.mark.parametrize("cells", [48, 47])
@pytest.mark.parametrize("flow_type", ["channel", "couette", "open_channel"])
def test_total_stress_closes_to_round_off(tmp_path, flow_type, cells):
    flow = synthetic.Flow(flow_type, cells=(8, 8, cells))
    parameters, means = means_of(tmp_path, flow, synthetic.turbulent_profiles(flow))
    sides = ("both", "bottom") if flow_type == "open_channel" else ("both", "bottom", "top")
    for side in sides:
        profiles = wall_profiles(means, parameters, side)
        assert profiles.residual < 1e-12
        assert profiles.re_tau == pytest.approx(flow.re_tau, rel=1e-12)


@pytest.mark.parametrize(
    ("flow_type", "symmetry"),
    [("channel", Symmetry.MIRROR), ("couette", Symmetry.ROTATION), ("open_channel", Symmetry.NONE)],
)
def test_halves_agree_with_their_average(tmp_path, flow_type, symmetry):
    """The model flows have the symmetry exactly, so each parity is right or this fails."""
    flow = synthetic.Flow(flow_type, cells=(8, 8, 48))
    parameters, means = means_of(tmp_path, flow, synthetic.turbulent_profiles(flow))
    both = wall_profiles(means, parameters)
    assert both.view.symmetry is symmetry
    for side in ("bottom",) if symmetry is Symmetry.NONE else ("bottom", "top"):
        half = wall_profiles(means, parameters, side)
        for name, values in both.centre.items():
            np.testing.assert_allclose(half.centre[name], values, atol=1e-6, err_msg=f"{side} {name}")
        for name, values in both.face.items():
            np.testing.assert_allclose(half.face[name], values, atol=1e-10, err_msg=f"{side} {name}")


def test_imposed_defect_is_the_residual(tmp_path, flow):
    """An extra uw of -0.03 u_tau^2 sin(pi z) near each wall, odd about the centre, shows up as it is."""
    raw = synthetic.turbulent_profiles(flow)
    raw["uw"] = raw["uw"] - 0.03 * flow.u_tau**2 * np.sin(np.pi * flow.z_face)
    parameters, means = means_of(tmp_path, flow, raw)
    profiles = wall_profiles(means, parameters)
    expected = 0.03 * np.sin(np.pi * profiles.z_face)
    np.testing.assert_allclose(profiles.face["residual"], expected, atol=1e-12)
    assert profiles.residual == pytest.approx(expected.max())


def test_even_defect_cancels_in_the_average_and_shows_at_each_wall(tmp_path, flow):
    raw = synthetic.turbulent_profiles(flow)
    raw["uw"] = raw["uw"] - 0.03 * flow.u_tau**2 * np.sin(np.pi * flow.z_face / 2) ** 2
    parameters, means = means_of(tmp_path, flow, raw)
    assert wall_profiles(means, parameters).residual < 1e-12
    assert wall_profiles(means, parameters, "bottom").residual == pytest.approx(0.03)
    assert wall_profiles(means, parameters, "top").residual == pytest.approx(0.03)


def test_unequal_walls_have_their_own_friction_velocity(tmp_path, flow):
    raw = synthetic.turbulent_profiles(flow)
    raw["tau_xz"] = raw["tau_xz"].copy()
    raw["tau_xz"][0] *= 1.21
    raw["tau_xz"][-1] *= 0.81
    parameters, means = means_of(tmp_path, flow, raw)
    assert wall_profiles(means, parameters, "bottom").u_tau == pytest.approx(1.1 * flow.u_tau)
    assert wall_profiles(means, parameters, "top").u_tau == pytest.approx(0.9 * flow.u_tau)
    assert wall_profiles(means, parameters).u_tau == pytest.approx(np.sqrt(1.01) * flow.u_tau)


def test_laminar_poiseuille(tmp_path, flow):
    """Viscous stress 1 - z/h, U+ = z+ - z+^2/(2 Re_tau) to second order, no Reynolds stress."""
    parameters, means = means_of(tmp_path, flow, synthetic.laminar_poiseuille(flow))
    profiles = wall_profiles(means, parameters)
    np.testing.assert_allclose(profiles.face["dUdz"], 1 - profiles.z_face, atol=1e-14)
    assert profiles.laminar
    assert profiles.residual < 1e-14
    exact = profiles.z_plus - profiles.z_plus**2 / (2 * flow.re_tau)
    np.testing.assert_allclose(profiles.centre["U"], exact, rtol=2e-2)
    assert np.isnan(profiles.centre["skew_u"]).all()
    assert np.isnan(profiles.at_centres("flat_w")).all()


def laminar_layer(flow, factor, force, top):
    """Velocity and stress in discrete balance: nu u'' - factor u = force. `top`: 1 no-slip, 0 free-slip."""
    nz, dz = flow.cells[2], np.diff(flow.z_face)
    gradient = np.zeros((nz + 1, nz))
    for k in range(1, nz):
        gradient[k, k - 1 : k + 1] = np.array([-2, 2]) / (dz[k] + dz[k - 1])
    gradient[0, 0], gradient[-1, -1] = 2 / dz[0], -2 * top / dz[-1]
    balance = flow.viscosity * np.diff(gradient, axis=0) / dz[:, None] - factor * np.eye(nz)
    velocity = np.linalg.solve(balance, np.full(nz, force))
    return velocity, flow.viscosity * gradient @ velocity


def laminar_ekman(flow, rate):
    """u, v and their stresses between a wall at rest and a free-slip top; geostrophic: (1, 0)."""
    velocity, stress = laminar_layer(flow, 1j * rate, -1j * rate, 0)
    return {"u": velocity.real, "v": velocity.imag, "tau_xz": stress.real, "tau_yz": stress.imag}


def laminar_hartmann(flow, drag):
    """Channel flow in a magnetic field under a unit force."""
    velocity, stress = laminar_layer(flow, drag, -1.0, 1)
    return {"u": velocity, "v": 0 * velocity, "tau_xz": stress}


@pytest.mark.parametrize(("flow_type", "laminar", "over_viscosity", "key", "value"), [
    ("open_channel", laminar_ekman, 50, "rotation", lambda rate: (0.0, 0.0, rate)),
    ("channel", laminar_hartmann, 25, "magnetic_drag", float),
])  # fmt: skip
def test_forces_on_the_mean_flow_bend_the_line_of_the_total_stress(
    tmp_path, flow_type, laminar, over_viscosity, key, value
):
    """The Coriolis force of the mean V in a frame that rotates about z, and the drag of a magnetic field."""
    flow = synthetic.Flow(flow_type, re_tau=30, u_tau=0.05, cells=(16, 16, 48))
    profiles, rate = synthetic.turbulent_profiles(flow), over_viscosity * flow.viscosity
    still = {name: np.zeros_like(profiles[name]) for name in ("uw", "vw")}
    parameters, means = means_of(tmp_path, flow, profiles | still | laminar(flow, rate))
    bent = wall_profiles(means, dataclasses.replace(parameters, **{key: value(rate)}))
    assert np.max(np.abs(bent.face["residual"])) < 1e-12
    assert np.max(np.abs(wall_profiles(means, parameters).face["residual"])) > 0.1


def test_a_magnetic_field_brakes_the_middle_of_a_couette_flow_that_moves_through_it(tmp_path):
    flow = synthetic.Flow("couette", re_tau=30, u_tau=0.05, cells=(16, 16, 48))
    parameters, means = means_of(tmp_path, flow, synthetic.turbulent_profiles(flow))
    magnetic = dataclasses.replace(parameters, magnetic_drag=0.1)
    moving = dataclasses.replace(magnetic, velocity_bottom=(0.0, 0.0, 0.0))
    assert symmetry_of(magnetic, means) is symmetry_of(parameters, means) is Symmetry.ROTATION
    assert symmetry_of(moving, means) is Symmetry.NONE
    at_rest = dataclasses.replace(moving, magnetic_drag=0.0)
    assert symmetry_of(at_rest, means) is Symmetry.ROTATION


def test_flow_the_other_way_gives_the_same_profiles(tmp_path, flow):
    raw = synthetic.turbulent_profiles(flow)
    parameters, means = means_of(tmp_path, flow, raw)
    there = wall_profiles(means, parameters)
    back = {n: v * (-1) ** direction_counts(n)[0] for n, v in raw.items()}
    parameters, means = means_of(tmp_path, flow, back)
    again = wall_profiles(means, parameters)
    for name, values in there.centre.items():
        np.testing.assert_allclose(again.centre[name], values, atol=1e-9, err_msg=name)
    assert again.residual < 1e-12


def test_wall_at_the_top_only(tmp_path):
    """An open channel upside down is the same flow seen from the other side."""
    flow = synthetic.Flow("open_channel", cells=(8, 8, 40))
    raw = synthetic.turbulent_profiles(flow)
    parameters, means = means_of(tmp_path, flow, raw)
    upright = wall_profiles(means, parameters)
    upside_down = dataclasses.replace(parameters, wall_bottom="free_slip", wall_top="no_slip")
    flipped = {n: (v[::-1] * (-1) ** direction_counts(n)[2]) for n, v in {**means.centre, **means.face}.items()}
    turned = dataclasses.replace(
        means,
        z=(1 - means.z)[::-1],
        z_face=(1 - means.z_face)[::-1],
        centre={n: flipped[n] for n in means.centre},
        face={n: flipped[n] for n in means.face},
    )
    profiles = wall_profiles(turned, upside_down)
    np.testing.assert_allclose(profiles.centre["U"], upright.centre["U"], rtol=1e-9)
    np.testing.assert_allclose(profiles.face["minus_uw"], upright.face["minus_uw"], atol=1e-12)
    with pytest.raises(UsageError, match="free-slip"):
        wall_profiles(turned, upside_down, "bottom")


def test_fluid_at_rest_has_no_wall_units(tmp_path, flow):
    raw = {name: 0 * values for name, values in synthetic.turbulent_profiles(flow).items()}
    parameters, means = means_of(tmp_path, flow, raw)
    with pytest.raises(InputOutputError, match="wall shear"):
        wall_profiles(means, parameters)


def test_pressure_is_zero_at_the_wall(tmp_path, flow):
    parameters, means = means_of(tmp_path, flow, synthetic.turbulent_profiles(flow))
    profiles = wall_profiles(means, parameters)
    np.testing.assert_allclose(profiles.centre["P"], -profiles.centre["ww"], atol=1e-10)


def test_peak_of_a_parabola_is_exact_on_any_grid():
    x = np.array([0.0, 1.0, 2.5, 3.0, 4.5, 7.0])
    value, at = peak(x, 5 - 0.3 * (x - 2.8) ** 2)
    assert (value, at) == pytest.approx((5.0, 2.8))
    assert peak(x, x) == (7.0, 7.0)


def test_centreline_value_by_the_even_parabola(tmp_path, flow):
    parameters, means = means_of(tmp_path, flow, synthetic.turbulent_profiles(flow))
    profiles = wall_profiles(means, parameters)
    values = 20 - 3 * (1 - profiles.z) ** 2
    assert value_at_height(profiles.z, values, profiles.height, even=True) == pytest.approx(20)
    assert value_at_height(profiles.z, 4 * profiles.z, profiles.height, even=False) == pytest.approx(4)
