"""Walls that Python sets, and responses at every substep."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import CHANNEL
from processes import run_script

import sluice
from sluice import _core

HEIGHT = 0.15
ACTUATION = {"type": "opposition_control", "amplitude": 1, "height": HEIGHT}


def fields_of(sim: sluice.Simulation) -> dict[str, Any]:
    return {name: field.values.copy() for name, field in sim.fields.items()}


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    for name, values in one.items():
        assert np.array_equal(values, other[name]), name


def wave(shape: tuple[int, ...], seed: int = 1) -> Any:
    """Values whose mean is 0."""
    values = 0.05 * np.random.default_rng(seed).standard_normal(shape)
    return values - values.mean()


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


OPPOSE = f"""
import sys
import numpy as np
import sluice

def oppose(sim, name):
    wall = sim.walls[name]
    z = {HEIGHT} if name == "bottom" else 2 - {HEIGHT}

    own_mean = name == "bottom"

    @wall.response(remove_mean=not own_mean)
    def response(sim):
        w = sim.plane("w", z=z).values
        return 1.0 * (wall.mean(w) - w) if own_mean else -w

def run(steps, built_in, grid, diffusion, names):
    case = sluice.Case("retau180")
    case["grid.cells"] = [16, 12, 32]
    case["grid.stretching"] = {{"type": "tanh", "factor": 1.6}}
    case["time.diffusion"] = diffusion
    case["parallel.grid"] = grid
    case["parallel.exchange"] = "mpi_pipelined"
    for name in names:
        if built_in:
            case["walls." + name] = {{"actuation": {ACTUATION!r}}}
    with sluice.Simulation(case) as sim:
        for name in names:
            if not built_in:
                oppose(sim, name)
        sim.step(steps)
        assert sim.time > 0
        fields = {{name: sim.gather(name) for name in "uvwp"}}
        return fields, sim.time, [sim.diagnostics.kinetic_energy]

def compare(steps, grid, diffusion, names):
    expected, found = (run(steps, built_in, grid, diffusion, names) for built_in in (True, False))
    assert expected[1:] == found[1:], (expected[1:], found[1:])
    if expected[0]["u"] is None:
        return
    for name, values in expected[0].items():
        assert np.array_equal(values, found[0][name]), name
    largest = np.abs(expected[0]["w"][-1]).max() if "top" in names else 0
    print(f"{{steps}} steps, grid {{grid}}, {{diffusion}}, {{names}}: the same bits; w on the top wall {{largest:.3g}}")
"""


@pytest.mark.parametrize(("ranks", "grid"), [(1, [1, 1]), (2, [1, 2]), (2, [2, 1])])
def test_opposition_control_in_python_has_the_bits_of_the_built_in_one(
    ranks: int, grid: list[int], tmp_path: Path
) -> None:
    calls = "\n".join(
        f"compare(20, {grid}, {diffusion!r}, {names})"
        for diffusion, names in (("explicit", ["bottom"]), ("implicit_z", ["bottom", "top"]))
    )
    text = "from mpi4py import MPI\n" + OPPOSE + calls
    assert run_script(tmp_path, text, ranks=ranks).count("the same bits") == 2


FAILURES = """
from mpi4py import MPI
import numpy as np
import sluice

rank = MPI.COMM_WORLD.rank
case = sluice.Case("retau180")
case["grid.cells"] = [16, 12, 32]
case["grid.stretching"] = {"type": "tanh", "factor": 1.6}
case["parallel.grid"] = [GRID]
def fails_before_a_mean(sim):
    if rank == 1:
        raise KeyError("lost")
    return 0 * sim.plane("w", z=0.1).values * sim.walls["bottom"].mean(np.zeros(sim.walls["bottom"].w.shape))
def returns_early(sim):
    if rank == 1:
        return np.zeros(sim.walls["bottom"].w.shape)
    return 0 * sim.plane("w", z=0.1).values
def fails_at_the_end(sim):
    w = 0 * sim.plane("w", z=0.1).values
    if rank == 1:
        raise KeyError("lost")
    return w
def leaks(sim):
    return np.full(sim.walls["bottom"].w.shape, 0.25)
def keyboard(sim):
    if rank == 0:
        raise KeyboardInterrupt
    return 0 * sim.plane("w", z=0.1).values
with sluice.Simulation(case) as sim:
    wall = sim.walls["bottom"]
    for n, (function, own, message) in enumerate([
        (fails_before_a_mean, (None, KeyError), "lost"),
        (fails_at_the_end, (None, KeyError), "lost"),
        (returns_early, (None, None), "on some processes alone"),
        (leaks, (None, None), "mean of w"),
        (keyboard, (KeyboardInterrupt, None), "KeyboardInterrupt"),
    ]):
        wall.response(function)
        try:
            sim.step()
            raise SystemExit(f"{function.__name__}: no error")
        except (sluice.Error, KeyError, KeyboardInterrupt) as error:
            assert type(error) is (own[rank] or sluice.UsageError), (function, repr(error))
            assert own[rank] or message in str(error), (function, repr(error))
        wall.response(None)
        assert sim.step_number == 2 * n + 1
        assert sim.diagnostics.max_divergence < 1e-8
        sim.step()
    if rank == 1:
        wall.w[...] = np.full(wall.w.shape, 0.25)
    for call in (sim.step, sim.project):
        try:
            call()
            assert [GRID] == [1, 2], call
        except sluice.UsageError as error:
            assert "0.125 on the bottom wall and 0 on the top wall" in str(error), error
    wall.w[...] = 0
    sim.step()
"""


@pytest.mark.parametrize("grid", ["1, 2", "2, 1"])
def test_errors_on_one_process_reach_all(grid: str, tmp_path: Path) -> None:
    run_script(tmp_path, FAILURES.replace("GRID", grid), ranks=2)


def test_a_response_reads_the_fields(channel: sluice.Case) -> None:
    """Fields and planes in a substep are those of the flow, and reading them changes no bits."""
    with sluice.Simulation(channel) as sim, sluice.Simulation(channel) as other:
        planes: list[sluice.Plane] = []
        times: list[float] = []

        @sim.walls["bottom"].response
        def look(now: sluice.Simulation) -> Any:
            for plane in planes:
                with pytest.raises(sluice.StaleViewError):
                    plane.values  # noqa: B018
            plane = now.plane("w", z=0.3)
            w = plane.values
            k = int(np.argmin(abs(now.w.coords["z"] - 0.3)))
            assert plane.z == now.w.coords["z"][k] and np.array_equal(w, now.w.values[k])
            heat = now.plane("heat", z=1)
            level = int(np.argmin(abs(now.fields["heat"].coords["z"] - 1)))
            assert np.array_equal(heat.values, now.fields["heat"].values[level])
            assert abs(now.walls["bottom"].mean(plane) - w.mean()) < 1e-15
            planes.append(plane)
            times.append(now.time)
            return 0 * w

        @other.walls["bottom"].response
        def rest(now: sluice.Simulation) -> Any:
            return np.zeros(now.walls["bottom"].w.shape)

        sim.step(4)
        other.step(4)
        assert_same(fields_of(sim), fields_of(other))
        assert len(times) == 12 and all(len(set(times[n : n + 3])) == 1 for n in range(0, 12, 3))
        assert len(set(times)) == 4


def test_errors_in_a_response_leave_the_end_of_the_step(sim: sluice.Simulation) -> None:
    calls: list[int] = []
    wall = sim.walls["top"]

    @wall.response
    def fails(now: sluice.Simulation) -> Any:
        calls.append(1)
        if len(calls) == 5:
            raise ZeroDivisionError("in the second step")
        return wave((12, 16), len(calls))

    with pytest.raises(ZeroDivisionError, match="in the second step"):
        sim.step(10)
    assert sim.step_number == 2 and len(calls) == 5  # not called for the third substep
    np.testing.assert_allclose(wall.w.values, wave((12, 16), 4), atol=1e-12)
    assert sim.diagnostics.max_divergence < 1e-10
    sim.step()
    assert len(calls) == 8

    @wall.response
    def interrupt(now: sluice.Simulation) -> Any:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sim.step(10)
    assert sim.step_number == 4
    wall.response(None)  # type: ignore[type-var]
    wall.w[...] = 0
    sim.step(2)
    assert sim.diagnostics.max_divergence < 1e-10


RESULTS: dict[str, tuple[Callable[[sluice.Simulation], object], type[Exception], str]] = {
    "shape": (lambda sim: np.zeros((16, 12)), ValueError, r"\(16, 12\)"),
    "number": (lambda sim: 0.0, ValueError, "shape"),
    "none": (lambda sim: None, TypeError, "None"),
    "text": (lambda sim: "0", ValueError, "shape"),
    "complex": (lambda sim: np.zeros((12, 16), complex), TypeError, "complex"),
    "nan": (lambda sim: np.full((12, 16), np.nan), ValueError, "not finite"),
    "net flux": (
        lambda sim: np.full((12, 16), 0.5),
        sluice.UsageError,
        "0.5 on the bottom wall and 0 on the",
    ),
    "step": (lambda sim: sim.step(), sluice.UsageError, "cannot|must not"),
    "change": (lambda sim: sim.u.__setitem__(..., 0), sluice.UsageError, "cannot"),
    "wall": (lambda sim: sim.walls["top"].u.__setitem__(..., 0), sluice.UsageError, "cannot"),
    "forcing": (lambda sim: sim.forcing.__setitem__("spanwise", 0), sluice.UsageError, "cannot"),
    "project": (lambda sim: sim.project(), sluice.UsageError, "cannot"),
    "snapshot": (lambda sim: sim.snapshot(), sluice.UsageError, "cannot"),
    "diagnostics": (lambda sim: sim.diagnostics, sluice.UsageError, "cannot"),
    "close": (lambda sim: sim.close(), sluice.UsageError, "cannot"),
    "response": (lambda sim: sim.walls["bottom"].response(rest), sluice.UsageError, "cannot"),
}


def rest(sim: sluice.Simulation) -> Any:
    return np.zeros(sim.walls["bottom"].w.shape)


@pytest.mark.parametrize("what", RESULTS)
def test_what_a_response_must_not_do(what: str, sim: sluice.Simulation) -> None:
    function, error, message = RESULTS[what]
    sim.walls["bottom"].response(function)
    with pytest.raises(error, match=message):
        sim.step()
    assert sim.step_number == 1 and not sim.walls["bottom"].w.values.any()
    sim.walls["bottom"].response(rest)
    sim.step()


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
    "direction": (lambda sim: sim.forcing["up"], sluice.UsageError, "streamwise, spanwise"),
    "forcing": (lambda sim: sim.forcing.__setitem__("streamwise", np.inf), ValueError, "finite"),
    "forcing text": (lambda sim: sim.forcing.__setitem__("spanwise", "strong"), ValueError, "strong"),  # type: ignore[arg-type]
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
    "oscillation": (
        {"actuation": {"type": "oscillation", "amplitude": 1, "period": 1}},
        "v",
        "walls.bottom.actuation",
    ),
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


def test_w_belongs_to_the_response(sim: sluice.Simulation) -> None:
    sim.walls["bottom"].response(rest)
    with pytest.raises(sluice.UsageError, match="response"):
        sim.walls["bottom"].w[...] = 0


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
    uses: list[Callable[[], object]] = [
        lambda: view.values,
        lambda: view.__setitem__(..., 0),
        lambda: view[0],
    ]
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


def test_forcing(channel: sluice.Case) -> None:
    with sluice.Simulation(channel) as sim:
        assert list(sim.forcing) == ["streamwise", "spanwise"]
        assert (sim.forcing["streamwise"].kind, sim.forcing["streamwise"].value) == ("bulk_velocity", 1)
        assert sim.forcing["spanwise"] == sluice.Driving("none", 0, 0)
        sim.step()
        sim.forcing["streamwise"] = 1.25
        sim.forcing["spanwise"] = 0.02
        sim.step()
        assert sim.diagnostics.bulk_velocity == pytest.approx(1.25, rel=1e-12)
        assert sim.forcing["spanwise"] == sluice.Driving("pressure_gradient", 0.02, pytest.approx(0.02))
        assert sim.forcing["streamwise"].force > 0.1
        before = sim.v.values.mean()
        sim.step()
        assert sim.v.values.mean() > before
    channel["flow.forcing"] = {"power": 0.01}
    channel["flow.spanwise_forcing"] = {"pressure_gradient": "0.5*t"}
    with sluice.Simulation(channel) as sim:
        sim.step(2)
        assert sim.forcing["streamwise"].kind == "power"
        assert sim.forcing["spanwise"].value == pytest.approx(0.5 * sim.time)
        with pytest.raises(sluice.UsageError, match=r"flow\.forcing.*> 0"):
            sim.forcing["streamwise"] = -1
        sim.forcing["streamwise"] = 0.02
        sim.forcing["spanwise"] = 0.25
        sim.step()
        assert sim.forcing["spanwise"].force == pytest.approx(0.25)


def test_a_given_spanwise_force_is_one_of_the_case(channel: sluice.Case) -> None:
    given = channel.copy()
    given["flow.spanwise_forcing"] = {"pressure_gradient": 0.02}
    with sluice.Simulation(given) as sim, sluice.Simulation(channel) as other:
        other.forcing["spanwise"] = 0.02
        sim.step(3)
        other.step(3)
        assert_same(fields_of(sim), fields_of(other))


def test_simulations_with_responses_are_freed() -> None:
    import gc
    import weakref

    def use() -> weakref.ref[sluice.Simulation]:
        sim = sluice.Simulation(CHANNEL)

        @sim.walls["bottom"].response
        def response(now: sluice.Simulation) -> Any:
            assert sim is now  # a cycle
            return rest(now)

        sim.step()
        return weakref.ref(sim)

    alive = use()
    gc.collect()
    assert alive() is None


def test_a_snapshot_of_another_flow_leaves_the_driving_of_the_case(channel: sluice.Case) -> None:
    driven = channel.copy()
    driven["flow.spanwise_forcing"] = {"pressure_gradient": 0.01}
    with sluice.Simulation(channel) as sim, sluice.Simulation(driven) as other:
        sim.step()
        other.restore(sim.snapshot())
        assert other.forcing["spanwise"].value == 0.01
        sim.forcing["spanwise"] = 0.02
        other.restore(sim.snapshot())
        assert other.forcing["spanwise"].value == 0.02


def test_a_response_cannot_change_forces(sim: sluice.Simulation) -> None:
    force = sim.add_force(x="0.1")

    @sim.walls["bottom"].response
    def change(sim: sluice.Simulation) -> np.ndarray:
        force.x = 0.2
        return 0 * sim.plane("w", z=0.1).values

    with pytest.raises(sluice.UsageError, match="response"):
        sim.step()
    assert force.x == 0.1 and sim.step_number == 1
    sim.walls["bottom"].response(None)
    sim.step()
