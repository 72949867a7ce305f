"""Fields in the memory of a GPU, with CuPy; skipped without one."""

from __future__ import annotations

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
        assert array.shape == sim.fields[name].shape and array.dtype == sluice.field.DTYPE
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


def test_memory_is_given_back(channel: sluice.Case) -> None:
    def free() -> int:
        cupy.cuda.Device().synchronize()
        return int(cupy.cuda.runtime.memGetInfo()[0])

    def cycle() -> None:
        with sluice.Simulation(channel) as sim:
            sim.step()
            kept = sim.snapshot()
            float(cupy.asarray(sim.u)[0, 0, 0])
            sim.restore(kept)

    for _ in range(20):
        cycle()
    before = free()
    for _ in range(200):
        cycle()
    assert before - free() < 4 << 20
