"""Walls that Python sets."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from conftest import ACTUATION, assert_same, fields_of, rest, wave

import sluice
from sluice import _core


def test_a_wall_describes_itself(sim: sluice.Simulation) -> None:
    assert list(sim.walls) == ["bottom", "top"] and len(sim.walls) == 2
    u, w = sim.walls["bottom"].u, sim.walls["top"].w
    assert u.dims == ("y", "x") and u.shape == (12, 16) and (u.z, w.z) == (0, 2)
    assert (u.location, sim.walls["top"].v.location, w.location) == ("x face", "y face", "z face")
    assert u.indices == {"y": range(12), "x": range(16)}
    np.testing.assert_array_equal(u.coords["x"], sim.u.coords["x"])
    np.testing.assert_array_equal(w.coords["y"], sim.w.coords["y"])
    assert not w.values.flags.writeable and not w.values.any() and sim.walls["top"].is_here
    assert hasattr(u, "__cuda_array_interface__") == _core.is_gpu


@pytest.mark.parametrize("diffusion", ["explicit", "implicit_z"])
@pytest.mark.parametrize("order", [2, 4])
def test_the_flow_follows_the_walls(diffusion: str, order: int, channel: sluice.Case) -> None:
    channel["time.diffusion"] = diffusion
    channel["solver.order"] = order
    with sluice.Simulation(channel) as sim:
        sim.step(2)
        bottom, top = sim.walls["bottom"], sim.walls["top"]
        jet, other = wave((12, 16)), wave((12, 16), 2)
        bottom.w[...] = jet
        top.w[...] = other
        bottom.u[2:4] = 0.25
        top.v[:] = 0.125
        np.testing.assert_allclose(bottom.w.values, jet)
        sim.project()
        np.testing.assert_array_equal(sim.w.values[-1], top.w.values)
        assert sim.diagnostics.max_divergence < 1e-10
        sim.step(3)
        np.testing.assert_array_equal(sim.w.values[-1], top.w.values)
        np.testing.assert_allclose(top.w.values, other, atol=1e-12)
        assert sim.diagnostics.max_divergence < 1e-10
        assert _core.is_gpu or np.array_equal(np.from_dlpack(bottom.u), bottom.u.values)
        assert (bottom.u[2:4] == 0.25).all() and not bottom.u[4:].any()
        # div u = 0 in the cells at the bottom, whose lower face has the w that was set
        u, v, w = sim.u.values[0], sim.v.values[0], sim.w.values[0]
        dx, dy, dz = 2 * np.pi / 16, np.pi / 12, sim.w.coords["z"][0]
        if order == 2:
            flux = (u - np.roll(u, 1, 1)) / dx + (v - np.roll(v, 1, 0)) / dy + (w - bottom.w.values) / dz
            assert np.abs(flux).max() < 1e-10


@pytest.mark.parametrize("diffusion", ["explicit", "implicit_z"])
def test_a_velocity_waits_for_the_next_step(diffusion: str, channel: sluice.Case) -> None:
    """What is read before it is all of the flow with the present velocity, and changes no bits."""
    channel["time.diffusion"] = diffusion

    def set_walls(sim: sluice.Simulation, seed: int) -> None:
        sim.walls["bottom"].w[...] = wave((12, 16), seed)
        sim.walls["top"].u[...] = 0.25 * seed

    with sluice.Simulation(channel) as sim, sluice.Simulation(channel) as other:
        for seed in (1, 2):
            before, fields = sim.diagnostics, fields_of(sim)
            for one in (sim, other):
                set_walls(one, seed)
            assert sim.diagnostics == before and before.max_divergence < 1e-10
            assert_same(fields, fields_of(sim))
            np.testing.assert_allclose(sim.walls["bottom"].w.values, wave((12, 16), seed))
            snapshot = sim.snapshot()
            sim.step(2)
            sim.restore(snapshot)
            assert sim.diagnostics == before and (sim.walls["top"].u.values == 0.25 * seed).all()
            for one in (sim, other):  # its halos are filled with those of the velocity
                one.fields["heat"][...] = one.fields["heat"].values
            assert sim.diagnostics == before
            sim.step(2)
            other.step(2)
            assert_same(fields_of(other), fields_of(sim))
        sim.walls["bottom"].w[...] += 0.125
        with pytest.raises(sluice.UsageError, match="mean of w"):
            sim.step()
        assert sim.diagnostics == other.diagnostics
        sim.walls["bottom"].w[...] -= 0.125
        sim.step()


def test_a_wall_in_python_is_one_of_the_case(channel: sluice.Case) -> None:
    """The same bits as with the velocity that the case gives."""
    given = channel.copy()
    given["walls.bottom"] = {"velocity": [0.25, -0.5, 0]}
    with sluice.Simulation(given) as sim, sluice.Simulation(channel) as other:
        other.walls["bottom"].u[...] = 0.25
        other.walls["bottom"].v[...] = -0.5
        for name, field in other.fields.items():
            field[...] = sim.fields[name].values
        sim.u[...] = sim.u.values
        sim.step(5)
        other.step(5)
        assert_same(fields_of(sim), fields_of(other))


def test_a_snapshot_has_the_walls(channel: sluice.Case) -> None:
    with sluice.Simulation(channel) as sim, sluice.Simulation(channel) as other:
        sim.step(2)
        start = sim.snapshot()
        sim.step(3)
        plain = fields_of(sim)
        sim.restore(start)
        sim.walls["bottom"].w[...] = jet = wave((12, 16))
        sim.walls["top"].u[...] = 0.5
        sim.forcing["spanwise"] = 0.02
        snapshot = sim.snapshot()
        sim.step(3)
        once = fields_of(sim)
        sim.walls["bottom"].w[...] = 0
        sim.walls["bottom"].v[...] = 1
        sim.forcing["spanwise"] = 0
        sim.step(2)
        for one in (sim, other):
            one.restore(snapshot)
            np.testing.assert_allclose(one.walls["bottom"].w.values, jet)
            assert not one.walls["bottom"].v.values.any() and one.forcing["spanwise"].value == 0.02
            one.step(3)
            assert_same(once, fields_of(one))
        sim.restore(start)
        assert sim.forcing["spanwise"].kind == "none"
        sim.step(3)
        assert_same(plain, fields_of(sim))


WRONG: dict[str, tuple[Callable[[sluice.Simulation], object], type[Exception], str]] = {
    "name": (lambda sim: sim.walls["left"], sluice.UsageError, "bottom, top"),
    "shape": (lambda sim: sim.walls["top"].w.__setitem__(..., np.zeros((16, 12))), ValueError, r"\(16, 12\)"),
    "part": (lambda sim: sim.walls["top"].w.__setitem__(0, np.zeros(12)), ValueError, r"\(12,\)"),
    "complex": (lambda sim: sim.walls["top"].u.__setitem__(..., 1j), TypeError, "complex"),
    "bool": (lambda sim: sim.walls["top"].u.__setitem__(..., True), TypeError, "bool"),
    "text": (lambda sim: sim.walls["top"].v.__setitem__(..., "1"), TypeError, "real numbers"),
    "nan": (lambda sim: sim.walls["top"].v.__setitem__(..., np.nan), ValueError, "not finite"),
    "infinite": (lambda sim: sim.walls["top"].w.__setitem__((0, 0), np.inf), ValueError, "not finite"),
    "index": (lambda sim: sim.walls["top"].w.__setitem__((12, 0), 0), IndexError, "out of bounds"),
    "read-only": (lambda sim: sim.walls["top"].w.values.__setitem__(..., 1), ValueError, "read-only"),
    "attribute": (lambda sim: setattr(sim.walls["top"], "w", 1), AttributeError, "w"),
    "response": (lambda sim: sim.walls["top"].response(3), TypeError, "function"),  # type: ignore[type-var]
    "height": (lambda sim: sim.plane("w", z=2.5), sluice.UsageError, "from 0 to 2"),
    "nan height": (lambda sim: sim.plane("w", z=float("nan")), sluice.UsageError, "from 0 to 2"),
    "field": (lambda sim: sim.plane("vorticity", z=1), sluice.UsageError, "there are: u, v, w, p, heat"),
    "mean": (lambda sim: sim.walls["top"].mean(np.zeros(3)), ValueError, "shape"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_refused(what: str, sim: sluice.Simulation) -> None:
    call, error, message = WRONG[what]
    with pytest.raises(error, match=message):
        call(sim)
    assert not any(getattr(sim.walls[name], part).values.any() for name in sim.walls for part in "uvw")
    sim.step()


def test_net_flux_is_refused_until_it_is_gone(sim: sluice.Simulation) -> None:
    sim.step()
    before = fields_of(sim)
    sim.walls["bottom"].w[...] = 0.25
    for call in (sim.step, sim.project):
        with pytest.raises(sluice.UsageError, match=r"0\.25 on the bottom wall and 0 on the top wall"):
            call()
    assert sim.step_number == 1
    assert_same(before, fields_of(sim))
    sim.walls["top"].w[...] = 0.25  # what enters leaves
    sim.step()
    assert sim.diagnostics.max_divergence < 1e-10
    assert (sim.walls["bottom"].w.values == 0.25).all()


TAKEN: dict[str, tuple[dict[str, Any], str, str]] = {
    "opposition": ({"actuation": ACTUATION}, "w", "walls.bottom.actuation"),
    "oscillation": ({"actuation": {"type": "oscillation", "amplitude": 1, "period": 1}}, "v", "walls.bottom.actuation"),
    "formula": ({"velocity": ["sin(t)", 0, 0]}, "u", r"walls.bottom.velocity\[0\]"),
    "free slip": ({"type": "free_slip"}, "u", "free-slip"),
}


@pytest.mark.parametrize("what", TAKEN)
def test_components_that_the_case_sets(what: str, channel: sluice.Case) -> None:
    wall, component, message = TAKEN[what]
    channel["walls.bottom"] = wall
    with sluice.Simulation(channel) as sim:
        with pytest.raises(sluice.UsageError, match=message):
            getattr(sim.walls["bottom"], component)[...] = 0
        if component == "w":
            with pytest.raises(sluice.UsageError, match=message):
                sim.walls["bottom"].response(rest)
        else:
            sim.walls["bottom"].w[...] = wave((12, 16))
        sim.step(2)
        assert sim.diagnostics.max_divergence < 1e-10


def test_no_walls() -> None:
    case = sluice.Case("taylor_green")
    case["grid.cells"] = [16, 16, 16]
    with sluice.Simulation(case) as sim:
        assert list(sim.walls) == []
        with pytest.raises(sluice.UsageError, match="none"):
            sim.walls["bottom"]


def test_after_close(channel: sluice.Case) -> None:
    sim = sluice.Simulation(channel)
    wall, plane, view = sim.walls["bottom"], sim.plane("u", z=1), sim.walls["bottom"].u
    kept = plane.values if _core.is_gpu else np.from_dlpack(plane)
    sim.step()
    for use in (lambda: plane.values, lambda: np.from_dlpack(plane)):
        with pytest.raises(sluice.StaleViewError):
            use()
    view[...] = 0.5  # of a wall, not of a time
    sim.close()
    assert np.isfinite(kept).all() and plane.shape == (12, 16) and plane.indices["y"] == range(12)
    uses: list[Callable[[], object]] = [lambda: view.values, lambda: view.__setitem__(..., 0), lambda: view[0]]
    for use in uses:
        with pytest.raises(sluice.StaleViewError):
            use()
    calls: list[Callable[[], object]] = [
        lambda: wall.w,
        lambda: wall.mean(kept),
        lambda: wall.response(rest),
        lambda: sim.walls["top"],
        lambda: sim.plane("w", z=1),
        lambda: sim.forcing["spanwise"],
        lambda: sim.forcing.__setitem__("spanwise", 1),
    ]
    for call in calls:
        with pytest.raises(sluice.UsageError, match="closed"):
            call()


def in_thread(call: Callable[[], object]) -> BaseException | None:
    found: list[BaseException] = []

    def run() -> None:
        try:
            call()
        except BaseException as error:
            found.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return found[0] if found else None


def test_other_threads_are_refused(sim: sluice.Simulation) -> None:
    wall, view = sim.walls["bottom"], sim.walls["bottom"].u
    calls: list[Callable[[], object]] = [
        sim.step,
        sim.project,
        sim.snapshot,
        sim.close,
        lambda: sim.u,
        lambda: sim.plane("w", z=1),
        lambda: view.values,
        lambda: view.__setitem__(..., 1),
        lambda: wall.response(rest),
        lambda: wall.mean(np.zeros((12, 16))),
        lambda: sim.forcing.__setitem__("spanwise", 1),
    ]

    def all_refused() -> None:
        for call in calls:
            error = in_thread(call)
            assert isinstance(error, sluice.UsageError) and "thread" in str(error), error

    @wall.response
    def from_a_response(now: sluice.Simulation) -> Any:
        all_refused()
        return rest(now)

    all_refused()
    sim.step()
