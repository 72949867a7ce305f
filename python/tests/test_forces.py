"""Forces and sources that scripts give, against exact answers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import run_script

import sluice
from sluice import _core

NU = 0.1
TOLERANCE = 1e-9 if sluice.precision == "double" else 1e-4
in_double = pytest.mark.skipif(sluice.precision != "double", reason="the errors are smaller than round-off")


def box(**changes: Any) -> sluice.Case:
    """A fluid at rest in a periodic box, or between free-slip walls, with a scalar whose walls are insulated."""
    case = sluice.Case(
        {
            "flow": {"type": "periodic", "reynolds": {"viscosity": NU}},
            "domain": {"size": [1, 1, 1]},
            "grid": {"cells": [8, 8, 16], "stretching": {"type": "uniform"}},
            "time": {"end": 100, "dt": 0.01},
            "initial": {"type": "zero"},
            "scalars": [{"name": "heat"}],
        }
    )
    for key, value in changes.items():
        case[key.replace("__", ".")] = value
    return case


def k_squared(k: float, dz: float) -> float:
    """That of the difference scheme."""
    return (2 - 2 * np.cos(k * dz)) / dz**2


@pytest.mark.parametrize("diffusion", ["explicit", "implicit_z"])
def test_steady_flow(diffusion: str) -> None:
    """u = f/(nu k^2) under a force f of one wave along z, and its likes for v and a scalar."""
    case = box(domain__size=[1, 1, 2], time__diffusion=diffusion)
    if diffusion == "implicit_z":
        case["flow.type"] = "channel"
        case["walls"] = {"bottom": "free_slip", "top": "free_slip"}
        case["flow.forcing"] = {"pressure_gradient": 0}
    with sluice.Simulation(case) as sim:
        z = sim.u.coords["z"][:, None, None] + np.zeros(sim.u.shape)
        sim.add_force(x="0.1*cos(2*pi*z)", y=0.2 * np.cos(2 * np.pi * z))
        sim.add_source("heat", "0.3*cos(2*pi*z)")
        sim.run(until=6)
        steady = np.cos(2 * np.pi * z) / (NU * k_squared(2 * np.pi, 2 / 16))
        for name, amplitude in [("u", 0.1), ("v", 0.2), ("heat", 0.3)]:
            assert np.abs(sim.fields[name].values - amplitude * steady).max() < TOLERANCE, name


def error_of_step(dt: float) -> tuple[float, float]:
    """Of u and of a scalar after time 1, for a force and a source of which the sum over time is known."""
    with sluice.Simulation(box(time__dt=dt)) as sim:
        sim.add_force(x="3*cos(3*t)")
        sim.add_source("heat", "exp(t)")
        sim.run(until=1)
        return (
            float(np.abs(sim.u.values - np.sin(3)).max()),
            float(np.abs(sim.fields["heat"].values - np.e + 1).max()),
        )


@in_double
def test_third_order_in_time() -> None:
    errors = np.array([error_of_step(dt) for dt in (0.1, 0.05, 0.025)])
    order = np.log2(errors[:-1] / errors[1:])
    assert (order > 2.8).all(), (errors, order)


def test_positions() -> None:
    """A formula is evaluated where an array has its values: at the points of each field, with x, y and z."""
    shape = "sin(2*pi*x)*cos(2*pi*y) + z^2"
    fields = []
    for as_arrays in (False, True):
        with sluice.Simulation(box()) as sim:
            given: list[Any] = []
            for name in ("u", "v", "w", "heat"):
                z, y, x = np.meshgrid(*sim.fields[name].coords.values(), indexing="ij")
                array = np.sin(2 * np.pi * x) * np.cos(2 * np.pi * y) + z**2
                given.append(array if as_arrays else shape)
            sim.add_force(*given[:3])
            sim.add_source("heat", given[3])
            sim.step(3)
            fields.append({name: field.values.copy() for name, field in sim.fields.items()})
    for name, values in fields[0].items():
        assert np.abs(values - fields[1][name]).max() < 5000 * np.finfo(values.dtype).eps, name


def after_drag(dt: float, built_in: bool) -> np.ndarray[Any, np.dtype[Any]]:
    """u and v at time 0.5, slowed down by a magnetic field or by an array that each step refreshes."""
    hartmann = 6.0
    case = box(time__dt=dt, flow__type="channel", domain__size=["2*pi", "pi", 2], time__diffusion="implicit_z")
    case["flow.forcing"] = {"pressure_gradient": 1}
    case["initial"] = {"type": "formula", "velocity": ["z*(2-z)", "0.3*z*(2-z)*sin(x)", 0]}
    if built_in:
        case["flow.magnetic_field"] = {"hartmann": hartmann}
    rate = hartmann**2 * NU
    with sluice.Simulation(case) as sim:
        if not built_in:
            sim.add_force(update=lambda s: {"x": -rate * s.u.values, "y": -rate * s.v.values}, every=1)
        sim.run(until=0.5)
        return np.array([sim.u.values, sim.v.values])


@in_double
def test_drag_refreshed_each_step() -> None:
    """To first order in time that of the magnetic field."""
    errors = [np.abs(after_drag(dt, False) - after_drag(dt, True)).max() for dt in (0.02, 0.01, 0.005)]
    assert errors[0] < 0.05
    assert 1.8 < errors[0] / errors[1] < 2.2 and 1.8 < errors[1] / errors[2] < 2.2, errors


def test_changes_and_removal() -> None:
    with sluice.Simulation(box()) as sim:
        start = sim.snapshot()
        sim.step(2)
        alone = sim.u.values.copy()
        sim.restore(start)
        calls = []
        force = sim.add_force("t", 0.5, update=lambda s: calls.append(s.step_number) or {}, every=3)
        source = sim.add_source("heat", np.ones(sim.u.shape))
        assert (force.x, force.y, force.z) == ("t", 0.5, None)
        assert isinstance(source.value, sluice.GivenArray)
        source.value[2:4] = 7
        assert source.value[3, 0, 0] == 7 and source.value.values.sum() == 64 * (14 + 14)
        force.x = np.zeros(sim.u.shape)
        force.x[...] = np.full(sim.u.shape, 2.0)
        force.y = None
        sim.step(7)
        assert calls == [0, 3, 6]
        assert np.allclose(sim.u.values, 2 * 0.07) and np.allclose(sim.v.values, 0)
        force.remove()
        source.remove()
        force.remove()
        assert not force.acts
        with pytest.raises(sluice.UsageError, match="force x does not act any more"):
            force.x = 1
        sim.restore(start)
        sim.step(2)
        assert np.array_equal(sim.u.values, alone) and np.all(sim.fields["heat"].values == 0)
        kept = sim.add_force(1)
    assert not kept.acts
    kept.remove()


def test_errors() -> None:
    with sluice.Simulation(box()) as sim:
        with pytest.raises(sluice.UsageError, match=r'force y: "2\*q" is not a formula: at character 3'):
            sim.add_force(y="2*q")
        with pytest.raises(ValueError, match=r"force x: .* is not finite everywhere at time 0"):
            sim.add_force("1/t")
        with pytest.raises(ValueError, match="force z: the array has the shape"):
            sim.add_force(z=np.ones((2, 2, 2)))
        with pytest.raises(ValueError, match="force x: a value is not finite"):
            sim.add_force(np.full(sim.u.shape, np.nan))
        with pytest.raises(TypeError, match="force x: a formula, a number or an array"):
            sim.add_force({})
        with pytest.raises(sluice.UsageError, match="there is no scalar 'salt'"):
            sim.add_source("salt", 1)
        with pytest.raises(ValueError, match="every=0"):
            sim.add_force(1, every=0)
        wrong = sim.add_force(update=lambda s: 3)  # type: ignore[arg-type, return-value]
        with pytest.raises(TypeError, match="must return a dict"):
            sim.step()
        wrong.remove()
        sim.step()
        assert np.all(sim.u.values == 0)


SCRIPT = """
import sys
import numpy as np
import sluice
from mpi4py import MPI

case = sluice.Case("retau180")
case["grid.cells"] = [16, 12, 32]
case["grid.stretching"] = {"type": "tanh", "factor": 1.6}
case["parallel.grid"] = [1, MPI.COMM_WORLD.size] if sys.argv[2] == "z" else [MPI.COMM_WORLD.size, 1]
case["parallel.exchange"] = "mpi_pipelined"
case["scalars"] = [{"name": "heat"}]
with sluice.Simulation(case) as sim:
    z, y, x = np.meshgrid(*sim.w.coords.values(), indexing="ij")
    sim.add_force("sin(x)*z + y*t", "cos(z)", np.sin(x) * np.cos(y) * z)
    sim.add_source("heat", "sin(x + 2*y)*z*t")
    sim.step(6)
    whole = {name: sim.gather(name) for name in ("u", "v", "w", "p", "heat")}
    if sim.rank == 0:
        np.savez(sys.argv[1], **whole)
"""


def test_same_bits_on_two_processes(tmp_path: Path) -> None:
    for ranks, split in [(1, "z"), (2, "z"), (2, "y")]:
        run_script(tmp_path, SCRIPT, tmp_path / f"{ranks}{split}.npz", split, ranks=ranks)
    one = np.load(tmp_path / "1z.npz")
    for other in ("2z", "2y"):
        two = np.load(tmp_path / f"{other}.npz")
        for name in one.files:
            if _core.is_gpu:  # whose last bits depend on the process grid
                np.testing.assert_allclose(one[name], two[name], rtol=0, atol=1e-12, err_msg=name)
            else:
                assert np.array_equal(one[name], two[name]), (other, name)
