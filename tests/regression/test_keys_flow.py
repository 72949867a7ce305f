"""Every key that describes the flow and its walls changes the flow as the reference says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from key_behaviour import field, line, middle, run, shows, volume_mean, wall_w
from sluice_run import rows

WALLS = ["bottom", "top"]
REST = {"initial.type": "zero", "flow.forcing": "none"}
TWO = {"solver.order": 2}  # wall_w needs continuity of second order


# The kind of flow and its viscosity ----------------------------------------------------------------------------------


@shows("flow.type")
def test_the_type_sets_walls_and_forcing(tmp_path: Path) -> None:
    open_channel = {"flow.type": "open_channel", "domain.size": ["2*pi", "pi", 1]}
    periodic = {"flow.type": "periodic", "initial": {"type": "formula", "velocity": [1, 0, 0]}}
    u = {
        "channel": field(run(tmp_path, {"flow.type": "channel"}), "u")[:, 0, 0],
        "couette": field(run(tmp_path, {"flow": {"type": "couette", "reynolds": {"wall": 10}}}), "u")[:, 0, 0],
        "open_channel": field(run(tmp_path, open_channel), "u")[:, 0, 0],
        "periodic": field(run(tmp_path, periodic), "u")[:, 0, 0],
    }
    z = (np.arange(16) + 0.5) / 8
    np.testing.assert_allclose(u["channel"], u["channel"][::-1], atol=1e-12)
    assert 1.4 < u["channel"].max() < 1.51
    np.testing.assert_allclose(u["couette"], z - 1, atol=1e-12)
    np.testing.assert_allclose(u["open_channel"], 1.5 * (z / 2) * (2 - z / 2), rtol=0.02)
    np.testing.assert_allclose(u["periodic"], u["periodic"][0], atol=1e-12)


@pytest.mark.parametrize(
    ("definition", "value", "viscosity"),
    [("bulk", 40, 0.05), ("center", 25, 0.04), ("viscosity", 0.03, 0.03), ("tau", 20, 0.05)],
)
@shows("flow.reynolds.bulk", "flow.reynolds.center", "flow.reynolds.viscosity", "flow.reynolds.tau")
def test_each_reynolds_number_sets_the_viscosity(
    tmp_path: Path, definition: str, value: float, viscosity: float
) -> None:
    # The discrete laminar flow at unit bulk velocity, against which viscosity acts with force 3 nu U_b.
    changes = {"flow.reynolds": {definition: value}, "flow.forcing": {"bulk_velocity": 1}}
    force = rows(run(tmp_path, changes))["forcing"][-1]
    assert force == pytest.approx(3 * viscosity, rel=0.01)


@shows("flow.reynolds.wall")
def test_the_reynolds_number_of_the_walls_sets_the_viscosity(tmp_path: Path) -> None:
    out = run(tmp_path, {"flow": {"type": "couette", "reynolds": {"wall": 30}}})
    assert rows(out)["re_tau_bottom"][-1] == pytest.approx(np.sqrt(30))  # u_tau^2 = nu U_w/h


# What drives the flow ------------------------------------------------------------------------------------------------


def bulk(out: Path) -> np.ndarray:
    return rows(out)["bulk_velocity"]


@pytest.mark.parametrize("value", [0.7, "0.7 + 0*t", {"times": [0, 1], "values": [0.7, 0.7]}], ids=str)
@shows("flow.forcing.bulk_velocity", "flow.forcing.bulk_velocity.times", "flow.forcing.bulk_velocity.values")
def test_the_bulk_velocity_is_held(tmp_path: Path, value: Any) -> None:
    np.testing.assert_allclose(bulk(run(tmp_path, {"flow.forcing": {"bulk_velocity": value}})), 0.7, rtol=1e-12)


@pytest.mark.parametrize("quantity", ["bulk_velocity", "pressure_gradient", "power"])
@shows(
    *(
        f"flow.forcing.{quantity}.{key}"
        for quantity in ["bulk_velocity", "pressure_gradient", "power"]
        for key in ["table", "times", "values", "period"]
    )
)
def test_tables_in_time_drive_the_flow(tmp_path: Path, quantity: str) -> None:
    (tmp_path / "table.txt").write_text("0 2\n0.1 3\n0.2 2\n")
    inline = {"times": [0, 0.1, 0.2], "values": [2, 3, 2]}
    driven = [
        rows(run(tmp_path, {"flow.forcing": {quantity: table}, "time.steps": steps, "time.dt": 0.02}))
        for table, steps in [(inline, 5), ({"table": str(tmp_path / "table.txt")}, 5), ({**inline, "period": 0.2}, 15)]
    ]
    values = [
        {"bulk_velocity": one["bulk_velocity"], "pressure_gradient": one["forcing"]}.get(
            quantity, one["forcing"] * one["bulk_velocity"]
        )
        for one in driven
    ]
    assert driven[0][-1] == driven[1][-1]  # the file has the same table
    at_end = 5 if quantity == "bulk_velocity" else 4.9  # forces are means over the step
    assert values[0][-1] == pytest.approx(2 + at_end / 5, abs=0.12)
    assert values[2][-1] == pytest.approx(values[0][-1], abs=0.02)  # a period and a half later
    assert values[2][9] == pytest.approx(2, abs=0.12)


@shows("flow.forcing.pressure_gradient")
def test_the_pressure_gradient_is_the_force(tmp_path: Path) -> None:
    out = run(tmp_path, {"flow.forcing": {"pressure_gradient": 2}, "initial.type": "zero"})
    np.testing.assert_allclose(rows(out)["forcing"], 2)
    assert middle(out, "u") == pytest.approx(2 * 0.03)


@shows("flow.forcing.power")
def test_the_power_is_held(tmp_path: Path) -> None:
    driven = rows(run(tmp_path, {"flow.forcing": {"power": 0.5}}))
    assert driven["forcing"][-1] * driven["bulk_velocity"][-1] == pytest.approx(0.5, rel=0.01)


@shows(
    "flow.spanwise_forcing.bulk_velocity",
    *(f"flow.spanwise_forcing.bulk_velocity.{key}" for key in ["table", "times", "values", "period"]),
)
def test_the_spanwise_bulk_velocity_is_held(tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("0 0.2\n0.03 0.5\n")
    inline = {"times": [0, 0.03], "values": [0.2, 0.5]}
    for value, expected in [
        (0.3, 0.3),
        (inline, 0.5),
        ({"table": str(tmp_path / "table.txt")}, 0.5),
        ({"times": [0, 0.01, 0.02], "values": [0.2, 0.5, 0.2], "period": 0.02}, 0.5),
    ]:
        out = run(tmp_path, {"flow.spanwise_forcing": {"bulk_velocity": value}})
        assert volume_mean(out, "v") == pytest.approx(expected), value


@shows(
    "flow.spanwise_forcing.pressure_gradient",
    *(f"flow.spanwise_forcing.pressure_gradient.{key}" for key in ["table", "times", "values", "period"]),
)
def test_the_spanwise_pressure_gradient_accelerates_v(tmp_path: Path) -> None:
    (tmp_path / "table.txt").write_text("0 0\n0.06 6\n")
    inline = {"times": [0, 0.06], "values": [0, 6]}
    for value, expected in [
        (3, 0.09),
        (inline, 0.045),  # the force rises to 3
        ({"table": str(tmp_path / "table.txt")}, 0.045),
        ({"times": [0, 0.01, 0.02], "values": [0, 6, 0], "period": 0.02}, 0.09),
    ]:
        out = run(tmp_path, {**REST, "flow.spanwise_forcing": {"pressure_gradient": value}})
        assert middle(out, "v") == pytest.approx(expected, rel=1e-3), value


# Rotation and buoyancy -----------------------------------------------------------------------------------------------


@shows("flow.rotation.number", "flow.rotation.axis")
def test_the_frame_rotates_about_the_axis(tmp_path: Path) -> None:
    uniform = {"flow.forcing": "none", "initial": {"type": "formula", "velocity": [1, 0.5, 0]}}
    about_z = run(tmp_path, {**uniform, "flow.rotation": {"number": 0.4, "axis": "wall_normal"}})
    assert middle(about_z, "u") == pytest.approx(1 + 0.4 * 0.5 * 0.03, rel=1e-4)  # du/dt = 2 Omega v
    assert middle(about_z, "v") == pytest.approx(0.5 - 0.4 * 0.03, rel=1e-3)
    # About an axis in the plane, the mean pressure balances the force along z.
    for axis, force in [("spanwise", 0.4 * 1), ("streamwise", -0.4 * 0.5), ([0, 2, 0], 0.4)]:
        out = run(tmp_path, {**uniform, "flow.rotation": {"number": 0.4, "axis": axis}})
        p = field(out, "p").mean(axis=(1, 2))
        assert (p[9] - p[6]) / 0.375 == pytest.approx(force, rel=0.01), axis


@shows("flow.rotation.geostrophic")
def test_the_geostrophic_velocity_drives_the_flow(tmp_path: Path) -> None:
    out = run(
        tmp_path,
        {"initial.type": "zero", "flow.rotation": {"number": 0.4, "axis": "wall_normal", "geostrophic": [1, 0.5]}},
    )
    # The velocity relative to the geostrophic one turns by 2 Omega t, clockwise.
    angle = 0.4 * 0.03
    expected = [1 - np.cos(angle) - 0.5 * np.sin(angle), 0.5 * (1 - np.cos(angle)) + np.sin(angle)]
    assert [middle(out, "u"), middle(out, "v")] == pytest.approx(expected, rel=1e-3)


@shows("flow.magnetic_field.hartmann")
def test_a_magnetic_field_brakes_the_flow_along_the_walls(tmp_path: Path) -> None:
    # Without walls, u and v of a uniform flow decay as exp(-Ha^2 nu t), and w does not change.
    uniform = {"flow.type": "periodic", "initial": {"type": "formula", "velocity": [1, 0.5, 0.3]}}
    out = run(tmp_path, {**uniform, "flow.magnetic_field": {"hartmann": 20}})
    decay = np.exp(-(20**2) * 0.01 * 0.03)
    assert [middle(out, name) for name in "uvw"] == pytest.approx([decay, 0.5 * decay, 0.3], rel=1e-5)


def warm(name: str, value: float, **more: Any) -> dict[str, Any]:
    """A uniform scalar."""
    return {"name": name, "walls": {"bottom": {"flux": 0}, "top": {"flux": 0}}, "initial": value, **more}


@pytest.mark.parametrize(
    ("buoyancy", "expected"),
    [
        ({"richardson": 2}, 2 * 3),
        ({"richardson": 2, "reference": 1}, 2 * (3 - 1)),
        ({"richardson": 2, "scalar": "salt"}, 2 * 5),
        ({"richardson": 2, "direction": [-1, -1, 0]}, 2 * 3 / np.sqrt(2)),
        ({"grashof": 1e5}, 1e5 * 0.01**2 / 8 * 3),
        ({"rayleigh": 1e5}, 1e5 * 0.01 * (0.01 / 0.5) / 8 * 3),
    ],
    ids=str,
)
@shows(
    "flow.buoyancy.richardson",
    "flow.buoyancy.reference",
    "flow.buoyancy.scalar",
    "flow.buoyancy.direction",
    "flow.buoyancy.grashof",
    "flow.buoyancy.rayleigh",
)
def test_a_scalar_rises_against_gravity(tmp_path: Path, buoyancy: dict[str, Any], expected: float) -> None:
    changes = {
        **REST,
        "scalars": [warm("heat", 3, prandtl=0.5), warm("salt", 5)],
        "flow.buoyancy": {"direction": [-1, 0, 0], **buoyancy},
    }
    assert middle(run(tmp_path, changes), "u") == pytest.approx(expected * 0.03, rel=1e-3)


@shows("flow.buoyancy.friction_richardson")
def test_the_friction_richardson_number_is_that_of_the_mean_force(tmp_path: Path) -> None:
    out = run(
        tmp_path,
        {
            "initial.type": "zero",
            "flow.forcing": {"pressure_gradient": 4},  # u_tau^2 = 4
            "scalars": [warm("heat", 3)],
            "flow.buoyancy": {"friction_richardson": 2},
        },
    )
    p = field(out, "p").mean(axis=(1, 2))  # balances the force along z
    assert (p[9] - p[6]) / 0.375 == pytest.approx(4 * 2 * 3, rel=1e-3)


# Walls ---------------------------------------------------------------------------------------------------------------


def near(wall: str, values: np.ndarray) -> np.ndarray:
    return values[0] if wall == "bottom" else values[-1]


@pytest.mark.parametrize("wall", WALLS)
@shows("walls.*.type")
def test_a_wall_is_solid_or_free(tmp_path: Path, wall: str) -> None:
    uniform = {"flow.forcing": "none", "initial": {"type": "formula", "velocity": [1, 0, 0]}}
    slowed = near(wall, field(run(tmp_path, uniform), "u")).mean()
    free = near(wall, field(run(tmp_path, {**uniform, f"walls.{wall}": {"type": "free_slip"}}), "u"))
    assert slowed < 0.97
    np.testing.assert_allclose(free, 1, rtol=1e-12)


@pytest.mark.parametrize("wall", WALLS)
@shows("walls.*.velocity")
def test_a_wall_moves(tmp_path: Path, wall: str) -> None:
    # Laminar flow follows the walls: u and v are linear between them.
    changes = {"flow.forcing": "none", f"walls.{wall}": {"velocity": [0.4, -0.2, 0]}}
    out = run(tmp_path, changes)
    ramp = line(out, "z") / 2
    ramp = ramp if wall == "top" else 1 - ramp
    np.testing.assert_allclose(field(out, "u")[:, 0, 0], 0.4 * ramp, atol=1e-12)
    np.testing.assert_allclose(field(out, "v")[:, 0, 0], -0.2 * ramp, atol=1e-12)
    blowing = {**REST, **TWO, f"walls.{wall}": {"velocity": [0, 0, "0.1*cos(x)"]}}
    out = run(tmp_path, blowing)
    np.testing.assert_allclose(wall_w(out, wall), np.broadcast_to(0.1 * np.cos(line(out, "x")), (6, 8)), atol=1e-12)


@pytest.mark.parametrize("wall", WALLS)
@shows("walls.*.slip_length")
def test_the_slip_velocity_is_the_slip_length_times_the_gradient(tmp_path: Path, wall: str) -> None:
    out = run(
        tmp_path, {"flow.forcing": {"pressure_gradient": 0.02}, f"walls.{wall}": {"type": "slip", "slip_length": 0.3}}
    )
    u = near(wall, field(out, "u")).mean()
    # nu u'' = -0.02 and u = 0.3 u' on this wall, 0 on the other: u' = 4/2.3 there.
    distance = 1 / 16
    assert u == pytest.approx((0.3 + distance) * 4 / 2.3 - distance**2, rel=0.01)


def wave(wall: str, **actuation: Any) -> dict[str, Any]:
    return {**REST, **TWO, f"walls.{wall}": {"actuation": {"type": "blowing_suction", "amplitude": 0.1, **actuation}}}


def expected_wave(out: Path, amplitude: float, waves: tuple[float, float], turns: float) -> np.ndarray:
    x, y = line(out, "x"), line(out, "y")
    return amplitude * np.sin(waves[0] * x + 2 * waves[1] * y[:, None] - 2 * np.pi * turns)


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize(
    ("actuation", "amplitude", "waves", "turns"),
    [
        ({"wavelength_x": "2*pi"}, 0.1, (1, 0), 0),
        ({"wavelength_x": "pi", "amplitude": 0.2}, 0.2, (2, 0), 0),
        ({"wavelength_y": "pi"}, 0.1, (0, 1), 0),
        ({"wavelength_x": "2*pi", "wavelength_y": "pi"}, 0.1, (1, 1), 0),
        ({"wavelength_x": "2*pi", "period": 0.2}, 0.1, (1, 0), 0.15),
        ({"wavelength_x": "2*pi", "period": 0.2, "direction": "backward"}, 0.1, (1, 0), -0.15),
        ({"wavelength_x": "pi", "speed": 5}, 0.1, (2, 0), 0.15 / np.pi),
        # Wall units of Re_tau 20 at nu = 0.01: u_tau = 0.2, lengths of 0.05, times of 0.25.
        ({"wavelength_x": "40*pi", "units": "wall", "re_tau": 20}, 0.02, (1, 0), 0),
        ({"wavelength_x": "40*pi", "speed": 5, "units": "wall", "re_tau": 20}, 0.02, (1, 0), 0.03 / (2 * np.pi)),
        ({"wavelength_x": "40*pi", "period": 2, "units": "wall", "re_tau": 20}, 0.02, (1, 0), 0.03 / 0.5),
        ({"wavelength_y": "20*pi", "units": "wall", "re_tau": 20}, 0.02, (0, 1), 0),
    ],
    ids=str,
)
@shows(
    *(
        f"walls.*.actuation.{key}"
        for key in ["amplitude", "wavelength_x", "wavelength_y", "period", "direction", "speed", "units", "re_tau"]
    )
)
def test_waves_of_blowing_and_suction(
    tmp_path: Path, wall: str, actuation: dict[str, Any], amplitude: float, waves: tuple[float, float], turns: float
) -> None:
    out = run(tmp_path, wave(wall, **actuation))  # to time 0.03
    np.testing.assert_allclose(wall_w(out, wall), expected_wave(out, amplitude, waves, turns), atol=1e-12)


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize(("component", "name"), [("streamwise", "u"), ("spanwise", "v")])
@shows("walls.*.actuation.type", "walls.*.actuation.component")
def test_walls_that_oscillate_or_carry_waves_move_the_fluid(
    tmp_path: Path, wall: str, component: str, name: str
) -> None:
    still = {"u": "v", "v": "u"}[name]
    actuation = {"type": "oscillation", "component": component, "amplitude": 0.5, "period": 4}
    out = run(tmp_path, {**REST, "time.dt": 0.05, "time.steps": 20, f"walls.{wall}.actuation": actuation})
    moved = field(out, name)
    assert 0.2 < near(wall, moved).mean() < 0.5  # a quarter of a period after the start
    assert abs(near({"bottom": "top", "top": "bottom"}[wall], moved)).max() < 1e-4
    assert abs(field(out, still)).max() < 1e-12
    actuation = {"type": "travelling_wave", "component": component, "amplitude": 0.5, "wavelength_x": "2*pi"}
    out = run(tmp_path, {**REST, "time.dt": 0.05, "time.steps": 20, f"walls.{wall}.actuation": actuation})
    x = line(out, "x_face" if name == "u" else "x")
    along = near(wall, field(out, name)).mean(axis=0)
    assert np.corrcoef(along, np.sin(x))[0, 1] > 0.95


@pytest.mark.parametrize("wall", WALLS)
@pytest.mark.parametrize("height", [0.25, 0.5])
@shows("walls.*.actuation.type", "walls.*.actuation.height", "walls.*.actuation.amplitude", "walls.*.actuation.units")
def test_the_wall_opposes_w_at_a_height(tmp_path: Path, wall: str, height: float) -> None:
    control = {"type": "opposition_control", "amplitude": 0.5, "height": height}
    in_wall_units = {**control, "height": 20 * height, "units": "wall", "re_tau": 20}
    for actuation in [control, in_wall_units]:
        out = run(
            tmp_path,
            {
                **TWO,
                "flow.forcing": "none",
                "time.dt": 1e-5,
                "initial": {"type": "formula", "velocity": [0, 0, "sin(x)*sin(pi*z/2)*(1 + z)"]},
                f"walls.{wall}.actuation": actuation,
            },
        )
        w = field(out, "w")
        plane = round(height * 8) - 1 if wall == "bottom" else len(w) - 1 - round(height * 8)
        np.testing.assert_allclose(wall_w(out, wall), -0.5 * w[plane], atol=0.01 * abs(w[plane]).max())


# Scalars -------------------------------------------------------------------------------------------------------------


def scalar(out: Path, name: str = "c") -> np.ndarray:
    return field(out, name).mean(axis=(1, 2))


@shows("scalars[].name", "scalars[].prandtl", "scalars[].initial")
def test_scalars_diffuse_by_their_prandtl_number(tmp_path: Path) -> None:
    walls = {"bottom": {"value": 0}, "top": {"value": 4}}
    scalars = [{"name": name, "prandtl": pr, "walls": walls, "initial": "z^2"} for name, pr in [("a", 1), ("b", 4)]]
    out = run(tmp_path, {**REST, "scalars": scalars})
    z = line(out, "z")[7:9]
    for name, diffusivity in [("a", 0.01), ("b", 0.0025)]:
        np.testing.assert_allclose(scalar(out, name)[7:9] - z**2, 2 * diffusivity * 0.03, rtol=1e-6)


@shows("scalars[].walls.bottom.value", "scalars[].walls.top.value")
def test_the_walls_have_the_values(tmp_path: Path) -> None:
    out = run(tmp_path, {**REST, "scalars": [{"name": "c", "walls": {"bottom": {"value": 1}, "top": {"value": 3}}}]})
    np.testing.assert_allclose(scalar(out), 1 + line(out, "z"), rtol=1e-12)


@pytest.mark.parametrize("wall", WALLS)
@shows("scalars[].walls.bottom.flux", "scalars[].walls.top.flux")
def test_the_flux_warms_the_fluid(tmp_path: Path, wall: str) -> None:
    walls = {"bottom": {"flux": 0}, "top": {"flux": 0}, wall: {"flux": 0.7}}
    out = run(tmp_path, {**REST, "scalars": [{"name": "c", "walls": walls}]})
    assert scalar(out).mean() == pytest.approx(0.7 * 0.03 / 2)
    assert near(wall, scalar(out)) > 100 * abs(scalar(out)[8])


@shows("scalars[].source.uniform", "scalars[].source.streamwise", "scalars[].source.bulk_value")
def test_sources_add_to_the_scalar(tmp_path: Path) -> None:
    walls = {"bottom": {"flux": 0}, "top": {"flux": 0}}
    scalars = [
        {"name": "a", "walls": walls, "source": {"uniform": 2}},
        {"name": "b", "walls": walls, "source": {"streamwise": 2}},
        {"name": "c", "walls": walls, "source": {"bulk_value": 0.4}, "initial": 0.1},
    ]
    out = run(tmp_path, {"scalars": scalars})
    np.testing.assert_allclose(scalar(out, "a"), 2 * 0.03)
    u = field(out, "u").mean(axis=(1, 2))
    np.testing.assert_allclose(scalar(out, "b")[7:9], 2 * 0.03 * u[7:9], rtol=1e-3)
    assert scalar(out, "c").mean() == pytest.approx(0.4)
