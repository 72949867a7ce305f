"""Responses of walls at every substep."""

from __future__ import annotations

import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import ACTUATION, CHANNEL, HEIGHT, assert_same, fields_of, rest, wave
from processes import run_script

import sluice

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
    "net flux": (lambda sim: np.full((12, 16), 0.5), sluice.UsageError, "0.5 on the bottom wall and 0 on the"),
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


@pytest.mark.parametrize("what", RESULTS)
def test_what_a_response_must_not_do(what: str, sim: sluice.Simulation) -> None:
    function, error, message = RESULTS[what]
    sim.walls["bottom"].response(function)
    with pytest.raises(error, match=message):
        sim.step()
    assert sim.step_number == 1 and not sim.walls["bottom"].w.values.any()
    sim.walls["bottom"].response(rest)
    sim.step()


def test_w_belongs_to_the_response(sim: sluice.Simulation) -> None:
    sim.walls["bottom"].response(rest)
    with pytest.raises(sluice.UsageError, match="response"):
        sim.walls["bottom"].w[...] = 0


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
