"""Fields in the memory of a GPU, with CuPy; skipped without one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sluice
from sluice import _core

if not _core.is_gpu:
    pytest.skip("this build of Sluice runs on CPUs", allow_module_level=True)
cupy: Any = pytest.importorskip("cupy")


@pytest.mark.parametrize("name", ["u", "v", "w", "p", "heat"])
def test_a_field_is_an_array_of_cupy(sim: sluice.Simulation, name: str) -> None:
    sim.step(3)
    for array in (cupy.asarray(sim.fields[name]), cupy.from_dlpack(sim.fields[name])):
        assert array.shape == sim.fields[name].shape and array.dtype == sluice.field.flow_dtype()
        np.testing.assert_array_equal(cupy.asnumpy(array), sim.fields[name].values)


def test_an_array_is_no_copy(sim: sluice.Simulation) -> None:
    array = cupy.asarray(sim.u)
    sim.u[3, 2, 1] = 0.25
    assert float(array[3, 2, 1]) == 0.25


def test_an_array_outlives_its_simulation(channel: sluice.Case) -> None:
    sim = sluice.Simulation(channel)
    sim.step()
    array = cupy.asarray(sim.u)
    expected = sim.u.values
    sim.close()
    np.testing.assert_array_equal(cupy.asnumpy(array), expected)


def growth_of_memory(cycle: Callable[[], None], count: int) -> int:
    """By how many bytes repeated work makes the free memory of the GPU smaller."""

    def free() -> int:
        cupy.cuda.Device().synchronize()
        cupy.get_default_memory_pool().free_all_blocks()
        return int(cupy.cuda.runtime.memGetInfo()[0])

    for _ in range(max(2, count // 10)):
        cycle()
    before = free()
    for _ in range(count):
        cycle()
    return before - free()


def test_memory_is_given_back(channel: sluice.Case) -> None:
    def cycle() -> None:
        with sluice.Simulation(channel) as sim:
            sim.step()
            kept = sim.snapshot()
            float(cupy.asarray(sim.u)[0, 0, 0])
            sim.restore(kept)

    assert growth_of_memory(cycle, 200) < 4 << 20


def small_couette(dynamics: Any) -> tuple[Any, Any]:
    """A flow map, and its operators."""
    case = {
        "flow": {"type": "couette", "reynolds": {"wall": 400}},
        "domain": {"size": [6, 3, 2]},
        "grid": {"cells": [32, 32, 32]},
        "time": {"steps": 1, "dt": 0.01},
    }
    flow_map = dynamics.FlowMap(case, 1.0, dt=0.01)
    return flow_map, dynamics.Operators(flow_map.space, flow_map.case)


def test_memory_of_recorded_steps_is_given_back() -> None:
    dynamics = pytest.importorskip("sluice.dynamics", exc_type=ImportError)
    flow_map, operators = small_couette(dynamics)
    perturbation = flow_map.space.random(1)

    def cycle() -> None:
        for linear in (
            dynamics.LinearisedStep(operators, flow_map.laminar),
            dynamics.LinearisedOrbit(operators, flow_map.laminar, 2),
        ):
            linear.adjoint(linear.forward(perturbation, 2), 2)
            linear.adjoint(linear.forward(1j * perturbation, 2), 2)

    assert growth_of_memory(cycle, 10) < 2 << 20  # a vector has .75 MiB, and a step needs about ten


def test_recorded_steps_do_what_plain_ones_do() -> None:
    dynamics = pytest.importorskip("sluice.dynamics", exc_type=ImportError)
    flow_map, operators = small_couette(dynamics)
    step = dynamics.LinearisedStep(operators, flow_map.laminar)
    plans = cupy.fft.config.get_plan_cache()
    size = plans.get_size()
    try:
        for limit in (size, 0):
            plans.set_size(limit)
            for kind in (1.0, 1j):
                q = kind * step.project(flow_map.space.random(1))
                plain = step._step(q, (None, None, None))
                for _ in range(2):
                    assert float(abs(step.forward(q) - plain).max()) < 1e-14 * float(abs(plain).max())
            step = dynamics.LinearisedStep(operators, flow_map.laminar)
    finally:
        plans.set_size(size)
    single = q.astype(cupy.complex64)
    assert step.forward(single).dtype == complex
    with pytest.raises(ValueError, match="cannot multiply"):
        operators.linear @ cupy.ones(1)
    with pytest.raises(AttributeError):
        step.dt = 0.1


def test_planes_and_walls(sim: sluice.Simulation) -> None:
    sim.step(2)
    plane = sim.plane("u", z=0.2)
    np.testing.assert_array_equal(cupy.asnumpy(cupy.asarray(plane)), plane.values)
    wall = sim.walls["bottom"]
    w = cupy.asarray(sim.plane("w", z=0.2))
    mean = wall.mean(w)
    assert mean == wall.mean(cupy.asnumpy(w))
    wall.w[...] = jet = w - mean
    np.testing.assert_array_equal(wall.w.values, cupy.asnumpy(jet))
    wall.u[...] = cupy.full(wall.u.shape, 0.25, dtype=sluice.field.flow_dtype())
    sim.step()
    assert sim.diagnostics.max_divergence < 1e-10
    assert (wall.u.values == 0.25).all()
    for wrong, error in (
        (cupy.ones((3, 4)), ValueError),
        (cupy.ones(wall.w.shape, dtype=cupy.int32), TypeError),
        (cupy.full(wall.w.shape, cupy.nan, dtype=sluice.field.flow_dtype()), ValueError),
        (cupy.ones((2 * wall.w.shape[0], wall.w.shape[1]), dtype=sluice.field.flow_dtype())[::2], ValueError),
    ):
        with pytest.raises(error):
            wall.w[...] = wrong
    np.testing.assert_array_equal(wall.w.values, cupy.asnumpy(jet))


@pytest.mark.parametrize("remove_mean", [False, True])
def test_opposition_control_has_the_bits_of_the_built_in_one(remove_mean: bool, channel: sluice.Case) -> None:
    with sluice.Simulation(channel) as sim:
        wall = sim.walls["bottom"]

        @wall.response(remove_mean=remove_mean)
        def oppose(sim: sluice.Simulation) -> Any:
            w = cupy.asarray(sim.plane("w", z=0.15))
            return -w if remove_mean else 1.0 * (wall.mean(w) - w)

        sim.step(100)
        found = {name: field.values for name, field in sim.fields.items()}
    channel["walls.bottom.actuation"] = {"type": "opposition_control", "amplitude": 1, "height": 0.15}
    with sluice.Simulation(channel) as sim:
        sim.step(100)
        for name, values in found.items():
            np.testing.assert_array_equal(values, sim.fields[name].values, err_msg=name)


def test_forces_and_sources(sim: sluice.Simulation) -> None:
    rng = np.random.default_rng(2)
    start = sim.snapshot()
    values = rng.random(sim.u.shape).astype(sluice.field.flow_dtype())
    results = []
    for array in (values, cupy.asarray(values)):
        sim.restore(start)
        force, source = sim.add_force(x=array), sim.add_source("heat", array)
        sim.step(2)
        force.x[...] = 2 * array
        sim.step()
        results.append({name: field.values for name, field in sim.fields.items()})
        force.remove()
        source.remove()
    for name, field in results[0].items():
        np.testing.assert_array_equal(field, results[1][name], err_msg=name)


def test_an_array_on_the_gpu_changes_the_flow(sim: sluice.Simulation) -> None:
    values = cupy.random.default_rng(1).standard_normal(sim.u.shape)
    sim.u[...] = values
    np.testing.assert_array_equal(sim.u.values, cupy.asnumpy(values))
    sim.w[2] = values[0]
    np.testing.assert_array_equal(sim.w.values[2], cupy.asnumpy(values[0]))
    sim.project()
    assert sim.diagnostics.max_divergence < 1e-9
    with pytest.raises(ValueError, match="the values have the shape"):
        sim.u[...] = values[:2]
    with pytest.raises(ValueError, match="not finite"):
        sim.v[...] = values / 0
    with pytest.raises(TypeError, match="real numbers"):
        sim.v[...] = 1j * values


def test_initial_fields_of_cupy(channel: sluice.Case) -> None:
    with sluice.Simulation(channel) as sim:
        fields = {name: cupy.asarray(sim.fields[name]).copy() for name in "uvw"}
    with sluice.Simulation(channel, initial=fields) as sim:
        np.testing.assert_allclose(sim.u.values, cupy.asnumpy(fields["u"]), atol=1e-6)  # it is projected
