"""Linearised steps: against the solver itself, exact adjoint identities, and dense matrices on tiny grids."""

from __future__ import annotations

import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sluice

pytest.importorskip("scipy")
if sluice.precision != "double":
    pytest.skip("linearised steps are compared to round-off of double precision", allow_module_level=True)

from sluice.dynamics.growth import growth_curve, largest_growth, optimal_growth
from sluice.dynamics.linear import LinearisedOrbit, LinearisedStep, NonlinearStep
from sluice.dynamics.modes import eigenvalues
from sluice.dynamics.operators import Operators
from sluice.dynamics.response import resolvent_gain
from sluice.dynamics.space import Space
from sluice.dynamics.symmetry import SHIFT_REFLECT, Symmetry
from sluice.field import on_host

ROUND_OFF = 1e-13
EXAMPLE = Path(__file__).parents[1] / "examples" / "linear_modes.py"


def case_of(kind: str, cells: tuple[int, int, int], **changes: Any) -> sluice.Case:
    case = sluice.Case(
        {
            "flow": {"type": kind, "reynolds": {"wall": 100} if kind == "couette" else {"bulk": 200}},
            "domain": {"size": [4, 2, 1 if kind == "open_channel" else 2]},
            "grid": {"cells": list(cells)},
            "time": {"end": 100, "dt": 0.02},
            "initial": {"type": "laminar"},
        }
    )
    for key, value in changes.items():
        case[key.replace("__", ".")] = value
    return case


def state_of(sim: sluice.Simulation, space: Space) -> Any:
    return space.pack(sim.u.values, sim.v.values, sim.w.values)


def laminar(case: sluice.Case) -> tuple[Operators, Any]:
    with sluice.Simulation(case) as sim:
        space = Space(sim)
        return Operators(space, case), state_of(sim, space)


def disturbed(case: sluice.Case) -> tuple[Operators, Any]:
    """The laminar flow and random numbers, projected."""
    operators, u = laminar(case)
    return operators, operators.projection.set_means(u + 0.3 * operators.projection.project(operators.space.random(5)))


def complex_vector(space: Space, seed: int) -> Any:
    return space.random(seed) + 1j * space.random(seed + 1)


ROTATION = {"number": 0.3, "axis": [1, 2, 3]}
GEOSTROPHIC = {"number": 0.5, "axis": [0.1, 0.2, 1], "geostrophic": [1, 0.2]}
FLOWS = {
    "couette": ("couette", {}),
    "couette, order 2, moving grid": ("couette", {"solver__order": 2, "grid__velocity": 0.4}),
    "channel": ("channel", {"grid__velocity": 0.7, "flow__spanwise_forcing": {"bulk_velocity": 0.1}}),
    "channel, order 2, pressure gradient": (
        "channel",
        {"solver__order": 2, "flow__reynolds": {"center": 100}, "grid__stretching": {"type": "uniform"}},
    ),
    "channel, rotating": ("channel", {"flow__rotation": ROTATION}),
    "channel, slip": (
        "channel",
        {"walls__bottom": {"type": "slip", "slip_length": 0.1}, "walls__top": {"velocity": [0.3, -0.1, 0]}},
    ),
    "open channel": ("open_channel", {"flow__rotation": {"number": 0.2}}),
    "Ekman layer": (
        "open_channel",
        {"flow__reynolds": {"viscosity": 0.02}, "domain__size": [4, 2, 1.5], "flow__rotation": GEOSTROPHIC},
    ),
}


@pytest.mark.parametrize("cells", [(8, 6, 10), (6, 1, 9), (2, 3, 8)])
@pytest.mark.parametrize("flow", FLOWS)
def test_step_is_that_of_sluice(flow: str, cells: tuple[int, int, int]) -> None:
    kind, changes = FLOWS[flow]
    case = case_of(kind, cells, **changes)
    operators, u = disturbed(case)
    space = operators.space
    with sluice.Simulation(case, initial=space.fields(u)) as sim:
        u = state_of(sim, space)
        sim.step(4)
        there = state_of(sim, space)
    here = NonlinearStep(operators).forward(u, 4)
    assert space.norm(there - u) > 1e-3 * space.norm(u)
    assert space.norm(here - there) < 1e-12 * space.norm(there)


@pytest.mark.parametrize(
    "key, value, word",
    [
        ("scalars", [{"name": "heat"}], "scalars"),
        ("time.diffusion", "implicit_z", "implicit_z"),
        ("flow.magnetic_field", {"hartmann": 2}, "magnetic"),
        ("walls.top", {"actuation": {"type": "oscillation", "amplitude": 0.1, "period": 1}}, "actuat"),
        ("walls.top", {"velocity": ["0.1*sin(t)", 0, 0]}, "constant velocity"),
        ("flow.forcing", {"power": 0.01}, "power"),
        ("flow.forcing", {"pressure_gradient": "0.1*sin(t)"}, "constant"),
    ],
)
def test_what_is_not_covered(key: str, value: Any, word: str) -> None:
    case = case_of("channel", (4, 3, 6))
    with sluice.Simulation(case) as sim:
        space = Space(sim)
    case[key] = value
    with pytest.raises(sluice.UsageError, match=word):
        Operators(space, case)


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("cells", [(8, 6, 10), (4, 1, 7)])
def test_projection(cells: tuple[int, int, int], order: int) -> None:
    operators, _ = laminar(case_of("channel", cells, solver__order=order))
    space = operators.space
    for q, r in ((space.random(1), space.random(2)), (complex_vector(space, 1), complex_vector(space, 3))):
        for project in (operators.projection.project, operators.projection.project_perturbation):
            p = project(q)
            assert operators.norm(project(p) - p) < ROUND_OFF * operators.norm(q)
            assert abs(operators.times(operators.projection.divergence, p)).max() < 1e-12
            assert not on_host(p).reshape(3, *space.shape)[2, -1].any()
            adjoint = operators.inner(p, r) - operators.inner(q, project(r))
            assert abs(adjoint) < ROUND_OFF * operators.norm(q) * operators.norm(r)
        mean = operators.projection.project_perturbation(q).reshape(3, *space.shape)[0].mean(axis=(1, 2))
        assert abs((on_host(mean) * space.dz).sum()) < ROUND_OFF


def assert_adjoint(forward: Callable[[Any], Any], adjoint: Callable[[Any], Any], operators: Operators) -> None:
    space = operators.space
    for q, r in ((space.random(1), space.random(2)), (complex_vector(space, 1), complex_vector(space, 3))):
        image, back = forward(q), adjoint(r)
        difference = operators.inner(image, r) - operators.inner(q, back)
        assert abs(difference) < ROUND_OFF * operators.norm(image) * operators.norm(r)


RETURN = Symmetry(x=-1, z=-1, shift=(0.5, 0.5))


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("kind", ["couette", "channel"])
def test_adjoint(kind: str, order: int) -> None:
    operators, u = disturbed(case_of(kind, (8, 6, 10), solver__order=order, flow__rotation=ROTATION))
    steady = LinearisedStep(operators, u)
    stored = LinearisedOrbit(operators, u, 9)
    recomputed = LinearisedOrbit(operators, u, 9, memory=0, return_by=RETURN)
    for step in (steady, stored, recomputed):
        assert_adjoint(lambda q, step=step: step.forward(q, 6), lambda r, step=step: step.adjoint(r, 6), operators)
    assert_adjoint(recomputed.forward, recomputed.adjoint, operators)
    assert_adjoint(steady.forced, lambda r: steady.forced_adjoint(r)[1], operators)
    assert_adjoint(lambda f: steady.forced(f, 0.7), lambda r: steady.forced_adjoint(r, 0.7)[1], operators)
    q = operators.space.random(1)
    returned = operators.space.apply(RETURN, stored.forward(q))
    assert operators.norm(recomputed.forward(q) - returned) < ROUND_OFF * operators.norm(q)


@pytest.mark.parametrize("order", [2, 4])
def test_linearised_step_is_the_derivative(order: int) -> None:
    operators, u = disturbed(case_of("channel", (6, 4, 8), solver__order=order))
    space, step = operators.space, NonlinearStep(operators)
    q = operators.projection.project_perturbation(space.random(1))
    plus, minus = (step.forward(u + sign * 1e-5 * q, 5) for sign in (1, -1))
    difference = (plus - minus) / 2e-5
    orbit = LinearisedOrbit(operators, u, 5)
    assert operators.norm(orbit.forward(q) - difference) < 1e-7 * operators.norm(difference)
    assert operators.norm(orbit.end - step.forward(u, 5)) < ROUND_OFF * operators.norm(u)  # cuSPARSE may vary it
    # the advection is quadratic, so that its central difference is its derivative but for round-off
    exact = operators.perturbation_tendency(operators.base(u), q)
    polarised = (operators.tendency(u + q) - operators.tendency(u - q)) / 2
    assert operators.norm(exact - polarised) < 1e-13 * operators.norm(exact)
    matrix = operators.to_device(operators.jacobian(u))
    assert operators.norm(operators.times(matrix, q) - exact) < 1e-13 * operators.norm(exact)


def test_about_a_steady_flow_both_linearisations_agree() -> None:
    operators, u = laminar(case_of("couette", (6, 4, 8)))
    steady, orbit = LinearisedStep(operators, u), LinearisedOrbit(operators, u, 5)
    assert steady.residual < 1e-14
    q = operators.space.random(1)
    assert operators.norm(steady.forward(q, 5) - orbit.forward(q)) < 1e-13 * operators.norm(q)


# --- modes, against dense matrices ---


@pytest.fixture(scope="module")
def tiny() -> LinearisedStep:
    case = case_of("couette", (4, 2, 5), time__dt=0.1, flow__reynolds={"wall": 30})
    return LinearisedStep(*laminar(case))


def dense(apply: Callable[[Any], Any], space: Space, kind: type = float) -> Any:
    """The matrix of a map, in coordinates of Euclidean norm |q|."""
    root = on_host(space.weights) ** 0.5
    columns = []
    for n in range(space.size):
        unit = np.zeros(space.size, kind)
        unit[n] = 1 / root[n]
        columns.append(root * on_host(apply(space.xp.asarray(unit))))
    return np.array(columns).T


def test_eigenvalues(tiny: LinearisedStep) -> None:
    multipliers = np.linalg.eigvals(dense(tiny.forward, tiny.space))
    values = np.log(multipliers[np.abs(multipliers) > 1e-6]) / tiny.dt
    exact = values[np.argsort(-values.real)]
    modes = eigenvalues(tiny, 12, 1.0)
    for value, multiplier, q in zip(modes.values, modes.multipliers, modes.vectors, strict=True):
        assert np.abs(exact - value).min() < 1e-9
        assert abs(np.exp(value * modes.time) - multiplier) < 1e-9
        assert tiny.operators.norm(q) == pytest.approx(1, abs=1e-12)
        image = tiny.forward(q, 3)
        assert tiny.operators.norm(image - np.exp(3 * value * tiny.dt) * q) < 1e-8
    assert np.all(modes.residuals < 1e-8)
    assert np.allclose(modes.values.real[:11], exact.real[:11], atol=1e-9)
    assert modes.values.imag.max() > 0.1


def test_complex_pairs_are_whole(tiny: LinearisedStep) -> None:
    values = eigenvalues(tiny, 20, 1.0).values
    cut = next(n for n in range(1, 20) if abs(values[:n].sum().imag) > 1e-6)
    orbit = LinearisedOrbit(tiny.operators, laminar(tiny.operators.case)[1], 10)
    for modes in (eigenvalues(tiny, cut, 1.0), eigenvalues(orbit, cut)):
        assert len(modes.values) == len(modes.vectors) == len(modes.residuals) == cut + 1
        assert abs(modes.values.sum().imag) < 1e-9
        assert np.all(modes.residuals < 1e-8)


def test_frequencies_beyond_those_of_the_map(tiny: LinearisedStep) -> None:
    """A shear wave carried by the grid: its phase turns by more than pi in the time of the map."""
    case = case_of("couette", (4, 1, 5), time__dt=0.1, flow__reynolds={"wall": 30}, grid__velocity=3)
    step = LinearisedStep(*laminar(case))
    multipliers = np.linalg.eigvals(dense(step.forward, step.space))
    exact = np.log(multipliers[np.abs(multipliers) > 1e-6]) / step.dt
    modes = eigenvalues(step, 6, 1.5)
    assert np.abs(modes.values.imag).max() > np.pi / 1.5
    for value in modes.values:
        assert np.abs(exact - value).min() < 1e-8


def test_modes_of_a_symmetric_subspace(tiny: LinearisedStep) -> None:
    modes = eigenvalues(tiny, 3, 1.0, symmetries=[SHIFT_REFLECT])
    everything = eigenvalues(tiny, 20, 1.0).values
    for value, q in zip(modes.values, modes.vectors, strict=True):
        assert tiny.operators.norm(tiny.space.apply(SHIFT_REFLECT, q) - q) < 1e-12
        assert np.abs(everything - value).min() < 1e-8


def test_floquet_multipliers() -> None:
    operators, u = disturbed(case_of("couette", (4, 2, 5), time__dt=0.1, flow__reynolds={"wall": 30}))
    orbit = LinearisedOrbit(operators, u, 6)
    exact = np.linalg.eigvals(dense(orbit.forward, orbit.space))
    modes = eigenvalues(orbit, 3)
    assert modes.time == pytest.approx(0.6)
    assert np.allclose(np.abs(modes.multipliers), np.sort(np.abs(exact))[::-1][:3], atol=1e-9)
    assert np.all(modes.residuals < 1e-8)
    assert optimal_growth(orbit).gain == pytest.approx(
        np.linalg.norm(dense(orbit.forward, orbit.space), 2) ** 2, rel=1e-9
    )


def test_optimal_growth(tiny: LinearisedStep) -> None:
    matrix = dense(tiny.forward, tiny.space)
    curve = growth_curve(tiny, [0.5, 1.0, 2.0])
    for growth in curve:
        power = np.linalg.matrix_power(matrix, round(growth.time / tiny.dt))
        assert growth.gain == pytest.approx(np.linalg.norm(power, 2) ** 2, rel=1e-9)
        assert tiny.operators.norm(growth.initial) == pytest.approx(1, abs=1e-12)
        assert tiny.operators.norm(growth.final) ** 2 == pytest.approx(growth.gain, rel=1e-12)
        image = tiny.forward(growth.initial, round(growth.time / tiny.dt))
        assert tiny.operators.norm(image - growth.final) < 1e-12


def test_largest_growth() -> None:
    case = case_of("couette", (2, 4, 6), time__dt=0.4, flow__reynolds={"wall": 200}, domain__size=[4, 4, 2])
    step = LinearisedStep(*laminar(case))
    best = largest_growth(step, (5, 60))
    matrix = dense(step.forward, step.space)
    power, exact = np.eye(len(matrix)), []
    for _ in range(150):
        power = matrix @ power
        exact.append(np.linalg.norm(power, 2) ** 2)
    assert best.gain == pytest.approx(max(exact), rel=1e-8)
    assert best.time == pytest.approx((np.argmax(exact) + 1) * step.dt, abs=step.dt * 1.01)
    with pytest.raises(sluice.UsageError, match="largest at one end"):
        largest_growth(step, (1, 4))


@pytest.mark.parametrize("frequency", [0.0, 0.7])
def test_resolvent(tiny: LinearisedStep, frequency: float) -> None:
    response = resolvent_gain(tiny, frequency, time=3.0)
    matrix = dense(tiny.forward, tiny.space)
    forced = dense(lambda f: tiny.forced(f, frequency), tiny.space, complex)
    z = np.exp(1j * frequency * tiny.dt)
    exact = np.linalg.norm(np.linalg.solve(z * np.eye(len(matrix)) - matrix, forced), 2)
    assert response.gain == pytest.approx(exact, rel=1e-6)
    assert tiny.operators.norm(response.force) == pytest.approx(1, abs=1e-12)
    q = tiny.forward(response.response) + tiny.forced(response.force, frequency)
    assert tiny.operators.norm(q - z * response.response) < 1e-7 * response.gain


def test_response_is_that_of_sluice(tiny: LinearisedStep) -> None:
    """To a weak force given as a formula, evaluated in each Runge-Kutta stage."""
    frequency, amplitude = 0.9, 1e-6
    operators, space = tiny.operators, tiny.space
    with sluice.Simulation(operators.case) as sim:
        base = state_of(sim, space)
        sim.add_force(x=f"{amplitude}*sin(2*pi*y/2)*cos({frequency}*t)")
        sim.step(30)
        there = (state_of(sim, space) - base) / amplitude
    f = space.sample(u=lambda x, y, z: np.sin(np.pi * y) + 0 * z).astype(complex)
    q = space.xp.zeros(space.size, complex)
    for n in range(30):
        q = tiny.forward(q) + np.exp(1j * frequency * n * tiny.dt) * tiny.forced(f, frequency)
    assert space.norm(q.real - there) < 1e-4 * space.norm(there)


def test_errors(tiny: LinearisedStep) -> None:
    operators = tiny.operators
    with pytest.raises(sluice.UsageError, match="less than one step"):
        eigenvalues(tiny, 2, 0.001)
    with pytest.raises(sluice.UsageError, match="give the time"):
        optimal_growth(tiny)
    with pytest.raises(sluice.NumericsError, match="converged"):
        eigenvalues(tiny, 6, 0.1, krylov=14, restarts=1, tolerance=1e-15)
    with pytest.raises(sluice.NumericsError, match="has not converged with 3 vectors"):
        optimal_growth(tiny, 1.0, krylov=3)
    with pytest.raises(sluice.UsageError, match="no part"):
        optimal_growth(tiny, 1.0, start=tiny.space.sample())
    with pytest.raises(sluice.UsageError, match="10 steps"):
        LinearisedOrbit(operators, tiny.space.sample(), 10).forward(tiny.space.random(), 11)
    case = case_of("couette", (4, 2, 5))
    case["time.cfl"] = 0.5
    with pytest.raises(sluice.UsageError, match=r"time\.dt"):
        LinearisedStep(*laminar(case))


def test_the_example_of_linear_modes() -> None:
    example = runpy.run_path(str(EXAMPLE))
    exact = [3 + 5 * n**-2 + 7 * n**-4 for n in (4, 6, 8)]
    assert example["extrapolate"]((4, 6, 8), exact, (2, 4)) == pytest.approx(3, rel=1e-12)
    gain = example["growth"]("channel", 3000, (1, 0), 15.21, {24: 0.2, 32: 0.2})
    extrapolated = example["converge"](gain, (12, 16), (1,), (24, 32))
    assert abs(extrapolated - 20.37) < 0.25 * abs(gain(12, 1, 32) - 20.37)
