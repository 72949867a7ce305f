"""Fields: what they are, how they are changed, and when they are stale."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sluice
from sluice import _core


def test_a_field_describes_itself(sim: sluice.Simulation) -> None:
    u, w, heat = sim.u, sim.w, sim.fields["heat"]
    assert u.dims == ("z", "y", "x") and u.shape == (16, 12, 16) and u.units == "1"
    assert "streamwise velocity" in u.long_name
    assert (u.location, sim.v.location, w.location, heat.location) == ("x face", "y face", "z face", "centre")
    assert u.indices == {"z": range(16), "y": range(12), "x": range(16)}
    dx = 2 * np.pi / 16
    np.testing.assert_allclose(u.coords["x"], dx * np.arange(1, 17))
    np.testing.assert_allclose(heat.coords["x"], dx * (np.arange(16) + 0.5))
    assert w.coords["z"][-1] == 2 and 1.9 < u.coords["z"][-1] < 2
    assert list(sim.fields) == ["u", "v", "w", "p", "heat"]


@pytest.mark.skipif(_core.is_gpu, reason="on GPUs `values` is a copy; test_gpu.py has the arrays there")
def test_values_are_not_copied(sim: sluice.Simulation) -> None:
    values = sim.u.values
    assert not values.flags.writeable and not values.flags.owndata
    assert values.strides[2] == values.itemsize and values.strides[0] > values.strides[1] * 12  # a halo in y
    sim.u[3, 2, 1] = 0.25
    assert values[3, 2, 1] == 0.25 and sim.u[3, 2, 1] == 0.25
    assert np.shares_memory(values, np.asarray(sim.u)) and np.shares_memory(values, np.from_dlpack(sim.u))
    assert not np.shares_memory(values, np.array(sim.u, copy=True))
    assert np.asarray(sim.u, dtype=np.float16).dtype == np.float16
    assert not hasattr(sim.u, "__cuda_array_interface__")


def test_xarray(sim: sluice.Simulation) -> None:
    pytest.importorskip("xarray")
    array = sim.w.to_xarray()
    assert array.dims == ("z", "y", "x") and array.attrs["long_name"] == sim.w.long_name
    np.testing.assert_array_equal(array.coords["z"], sim.w.coords["z"])
    np.testing.assert_array_equal(array, sim.w.values)


def test_a_changed_velocity_is_projected(sim: sluice.Simulation) -> None:
    rng = np.random.default_rng(1)
    sim.u[...] = rng.random(sim.u.shape)
    sim.w[...] = 0
    sim.v[2:4, :, ::2] = sim.v.values[4:6, :, ::2]
    sim.project()
    projected = sim.u.values.copy()
    assert sim.diagnostics.max_divergence < 1e-10
    sim.project()
    np.testing.assert_allclose(sim.u.values, projected, atol=1e-12)
    sim.u[...] = rng.random(sim.u.shape)
    sim.step()
    assert sim.diagnostics.max_divergence < 1e-10


def test_a_changed_scalar_leaves_the_velocity(sim: sluice.Simulation) -> None:
    sim.step(2)
    before = sim.u.values.copy()
    sim.fields["heat"][...] = 0.5
    assert sim.diagnostics.scalars["heat"]["mean"] == pytest.approx(0.5, rel=1e-12)
    assert np.array_equal(before, sim.u.values)


def test_changes_in_place_say_what_to_do(sim: sluice.Simulation) -> None:
    before = sim.u.values.copy()
    with pytest.raises(ValueError, match=r"read-only; assign new ones: sim\.u\[\.\.\.\] = "):
        sim.u[...] += 1
    with pytest.raises(ValueError, match=r"sim\.fields\['heat'\]"):
        sim.fields["heat"][2:4][0] = 1
    assert np.array_equal(before, sim.u.values)
    sim.u[0, 0, 0] += 0.5
    assert sim.u[0, 0, 0] == before[0, 0, 0] + 0.5
    part = sim.v[2:4].copy()
    part += 1
    part[0] = 2
    assert (part[0] == 2).all() and np.array_equal(part[1], sim.v.values[3] + 1)
    assert type(2 * sim.v[2:4]) is np.ndarray and type(sim.v[2:4].mean()) is sim.v.dtype.type


WRONG: dict[str, tuple[Callable[[sluice.Simulation], object], type[Exception], str]] = {
    "shape": (lambda sim: sim.u.__setitem__(..., np.zeros((12, 16, 16))), ValueError, r"\(12, 16, 16\)"),
    "broadcast": (lambda sim: sim.u.__setitem__(..., np.zeros(16)), ValueError, "shape"),
    "shape of a part": (lambda sim: sim.u.__setitem__(0, np.zeros((12, 15))), ValueError, r"\(12, 15\)"),
    "complex": (lambda sim: sim.u.__setitem__(..., np.zeros((16, 12, 16), complex)), TypeError, "complex"),
    "bool": (lambda sim: sim.u.__setitem__(..., True), TypeError, "bool"),
    "text": (lambda sim: sim.u.__setitem__(..., "1"), TypeError, "real numbers"),
    "none": (lambda sim: sim.u.__setitem__(..., None), TypeError, "object"),
    "nan": (lambda sim: sim.u.__setitem__(..., np.nan), ValueError, "not finite"),
    "infinite": (lambda sim: sim.w.__setitem__((0, 0), np.full(16, np.inf)), ValueError, "not finite"),
    "read-only": (lambda sim: sim.u.values.__setitem__(..., 1), ValueError, "read-only"),
    "index": (lambda sim: sim.u.__setitem__((16, 0, 0), 1), IndexError, "out of bounds"),
    "field": (lambda sim: sim.gather("vorticity"), sluice.UsageError, "there are: u, v, w, p, heat"),
    "every": (lambda sim: sim.every(0), ValueError, "at least 1"),
    "comm": (lambda sim: sluice.Simulation("quickstart", comm=3), TypeError, "mpi4py"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_refused(what: str, sim: sluice.Simulation) -> None:
    call, error, message = WRONG[what]
    before = sim.u.values.copy()
    with pytest.raises(error, match=message):
        call(sim)
    assert np.array_equal(before, sim.u.values)
    sim.step()


USES: dict[str, Callable[[sluice.Field], object]] = {
    "values": lambda field: field.values,
    "array": np.asarray,
    "item": lambda field: field[0],
    "change": lambda field: field.__setitem__(0, 1),
    "dlpack": np.from_dlpack,
    "xarray": lambda field: field.to_xarray(),
}
ENDS: dict[str, Callable[[sluice.Simulation, sluice.Snapshot], object]] = {
    "step": lambda sim, _: sim.step(),
    "restore": lambda sim, snapshot: sim.restore(snapshot),
    "close": lambda sim, _: sim.close(),
}


@pytest.mark.parametrize("use", USES)
@pytest.mark.parametrize("end", ENDS)
def test_a_field_becomes_stale(end: str, use: str, sim: sluice.Simulation) -> None:
    field, kept = sim.u, sim.u.values
    ENDS[end](sim, sim.snapshot())
    with pytest.raises(sluice.StaleViewError):
        USES[use](field)
    assert field.name in repr(field)
    assert np.isfinite(kept).all()  # the memory is still there


def test_arrays_outlive_the_simulation(channel: sluice.Case) -> None:
    sim = sluice.Simulation(channel)
    arrays = [sim.u.values, sim.u.values, sim.p.values if _core.is_gpu else np.from_dlpack(sim.p)]
    copies = [array.copy() for array in arrays]
    sim.close()
    others = [sluice.Simulation(channel) for _ in range(3)]  # would take freed memory
    assert all(np.array_equal(array, copy) for array, copy in zip(arrays, copies, strict=True))
    for other in others:
        other.close()
    with pytest.raises(sluice.UsageError, match="closed"):
        sim.step()
    assert sim.closed
    sim.close()
