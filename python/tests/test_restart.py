"""A run that Python controls goes on exactly from a checkpoint."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import sluice_run
from conftest import CHANNEL
from processes import run_script

import sluice

SHAPE = (12, 16)


def wave(seed: int) -> Any:
    """Values whose mean is 0."""
    values = 0.05 * np.random.default_rng(seed).standard_normal(SHAPE)
    return values - values.mean()


def respond(sim: sluice.Simulation) -> None:
    sim.walls["bottom"].response(lambda now: -now.plane("w", z=0.2).values, remove_mean=True)


def set_walls(sim: sluice.Simulation) -> None:
    for seed, name in enumerate(("bottom", "top")):
        sim.walls[name].w[...] = wave(seed)
        sim.walls[name].v[...] = 0.1 * seed - 0.05
    sim.walls["top"].u[2:5] = 0.25


def drive(sim: sluice.Simulation) -> None:
    sim.forcing["streamwise"] = 1.05
    sim.forcing["spanwise"] = 0.02


def every_step(sim: sluice.Simulation) -> None:
    """Walls that are set between two steps: the flow has another velocity until the next one."""

    @sim.every(1)
    def control(now: sluice.Simulation) -> None:
        for seed, name in enumerate(("bottom", "top")):
            now.walls[name].w[...] = wave(2 * now.step_number + seed)
            now.walls[name].u[...] = 0.01 * now.step_number


CONTROLS: dict[str, tuple[Callable[[sluice.Simulation], None], bool]] = {
    "response": (respond, True),
    "walls": (set_walls, False),
    "forces": (drive, False),
    "every step": (every_step, True),
}


def state_of(sim: sluice.Simulation) -> dict[str, Any]:
    found = {name: field.values.copy() for name, field in sim.fields.items()}
    for wall in sim.walls.values():
        for velocity in (wall.u, wall.v, wall.w):
            found[velocity.name] = velocity.values.copy()
    for name, driving in sim.forcing.items():
        found[name] = (driving.kind, driving.value, driving.force)
    found["time"] = (sim.time, sim.dt, sim.step_number)
    found["diagnostics"] = repr(sim.diagnostics)
    return found


def assert_same(one: dict[str, Any], other: dict[str, Any]) -> None:
    assert one.keys() == other.keys()
    for name, values in one.items():
        assert np.array_equal(values, other[name]), name


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("diffusion", ["explicit", "implicit_z"])
@pytest.mark.parametrize("name", CONTROLS)
def test_a_controlled_run_goes_on(name: str, diffusion: str, order: int, tmp_path: Path) -> None:
    control, again = CONTROLS[name]
    case = sluice.Case(CHANNEL)
    case["time.diffusion"] = diffusion
    case["solver.order"] = order
    states = []
    for cuts in ([], [5, 6]):
        out = tmp_path / str(len(cuts))
        sim = sluice.Simulation(case, output=out)
        control(sim)
        for cut in cuts:
            sim.step(cut - sim.step_number)
            before = state_of(sim)
            sim.close()
            sim = sluice.Simulation(case, output=out, restart="auto")
            assert_same(before, state_of(sim))
            if again:
                control(sim)
        sim.step(9 - sim.step_number)
        states.append(state_of(sim))
        sim.close()
    assert_same(*states)


def test_walls_set_after_the_last_checkpoint(tmp_path: Path) -> None:
    """A checkpoint that is there already is written again."""
    case = sluice.Case(CHANNEL)
    states = []
    for close in (False, True):
        out = tmp_path / str(close)
        sim = sluice.Simulation(case, output=out)
        sim.step(3)
        sim.close()
        sim = sluice.Simulation(case, output=out, restart="auto")
        set_walls(sim)
        drive(sim)
        if close:
            sim.close()
            sim = sluice.Simulation(case, output=out, restart="auto")
        with sim:
            sim.step(3)
            states.append(state_of(sim))
    assert_same(*states)


SCRIPT = """
import sys
import numpy as np
import sluice
from mpi4py import MPI

def set_up(grid, restart):
    case = sluice.Case("retau180")
    case["grid.cells"] = [16, 12, 32]
    case["grid.stretching"] = {"type": "tanh", "factor": 1.6}
    case["time.diffusion"] = sys.argv[2]
    case["parallel.grid"] = grid
    case["parallel.exchange"] = "mpi_pipelined"
    sim = sluice.Simulation(case, output=f"{sys.argv[1]}/{len(GRIDS)}", restart="auto" if restart else None)
    sim.walls["bottom"].response(lambda now: -now.plane("w", z=0.2).values, remove_mean=True)
    if not restart:
        place = sim.walls["top"].w.indices
        y, x = np.meshgrid(place["y"], place["x"], indexing="ij")
        sim.walls["top"].w[...] = 0.05 * np.cos(2 * np.pi * (x / 16 + y / 12))
        sim.walls["top"].v[...] = 0.1 * np.sin(2 * np.pi * y / 12)
        sim.forcing["spanwise"] = 0.02
    return sim

for GRIDS in [GRIDS_OF_RUNS]:
    for n, grid in enumerate(GRIDS):
        sim = set_up(grid, n > 0)
        if n == 0:
            sim.step(4)
        elif sim.rank == 0:  # on one process alone
            sim.walls["bottom"].u[...] = sim.walls["bottom"].u.values
        if n + 1 < len(GRIDS):
            sim.close()
    sim.step(6)
    whole = {name: sim.gather(name) for name in "uvwp"}
    sim.close()
    if MPI.COMM_WORLD.rank == 0:
        np.savez(f"{sys.argv[1]}/{len(GRIDS)}-{MPI.COMM_WORLD.size}.npz", **whole)
"""


@pytest.mark.parametrize("diffusion", ["explicit", "implicit_z"])
def test_on_other_process_grids(diffusion: str, tmp_path: Path) -> None:
    for ranks, grids in ((1, "[[1, 1]], [[1, 1], [1, 1], [1, 1]]"), (2, "[[2, 1]], [[2, 1], [1, 2], [2, 1]]")):
        folder = tmp_path / str(ranks)
        folder.mkdir()
        run_script(folder, SCRIPT.replace("GRIDS_OF_RUNS", grids), folder, diffusion, ranks=ranks)
    expected = np.load(tmp_path / "1" / "1-1.npz")
    for name in ("1/3-1.npz", "2/1-2.npz", "2/3-2.npz"):
        found = np.load(tmp_path / name)
        for field in "uvwp":
            assert np.array_equal(found[field], expected[field]), (name, field)


def controlled(out: Path, control: Callable[[sluice.Simulation], object], steps: int = 3) -> None:
    with sluice.Simulation(CHANNEL, output=out) as sim:
        control(sim)
        sim.step(steps)


def go_on(tmp_path: Path, *options: str) -> sluice_run.Outcome:
    case = tmp_path / "case.yaml"
    case.write_text(json.dumps(CHANNEL))
    return sluice_run.sluice("run", case, "--output", tmp_path / "out", "--restart", "auto", "--steps", 6, *options)


def test_the_program_keeps_walls_and_forces(tmp_path: Path) -> None:
    def control(sim: sluice.Simulation) -> None:
        set_walls(sim)
        drive(sim)

    controlled(tmp_path / "out", control)
    sluice_run.must(go_on(tmp_path))
    log = (tmp_path / "out" / "log.txt").read_text()
    assert "Kept as a Python program has set them: v of the bottom wall, w of the bottom wall, u of the top" in log
    assert "bulk_velocity_x 1.05, pressure_gradient_y 0.02" in log
    with sluice.Simulation(CHANNEL, output=tmp_path / "out", restart="auto") as sim:
        found = state_of(sim)
    with sluice.Simulation(CHANNEL) as sim:
        control(sim)
        sim.step(6)
        assert_same(state_of(sim), found)


def test_what_the_case_changes_counts(tmp_path: Path) -> None:
    def control(sim: sluice.Simulation) -> None:
        set_walls(sim)
        drive(sim)

    controlled(tmp_path / "out", control)
    settings = ("walls.bottom.velocity=[0.5, 0, 0]", "flow.forcing.bulk_velocity=0.9")
    changes = [word for setting in settings for word in ("--set", setting)]
    assert go_on(tmp_path, *changes).code == 3
    sluice_run.must(go_on(tmp_path, *changes, "--allow-change"))
    log = (tmp_path / "out" / "log.txt").read_text()
    assert "changed on restart: w of the bottom wall, which a program had set: that of the case" in log
    assert "changed on restart: bulk_velocity_x 1.05, which a program had set: that of the case" in log
    assert (
        "Kept as a Python program has set them: u of the top wall, v of the top wall, w of the top wall, press" in log
    )


def test_code_is_missing(tmp_path: Path) -> None:
    out = tmp_path / "out"

    def control(sim: sluice.Simulation) -> None:
        respond(sim)
        for _ in range(2):
            sim.add_force(x="0.1")
        sim.add_source("heat", 0.5)

    controlled(out, control)
    told = go_on(tmp_path)
    missing = "forces: 2, sources of scalars: 1, response of the bottom wall: 1"
    assert told.code == 3 and missing in told.err and "--allow-change" in told.err
    with sluice.Simulation(CHANNEL, output=out, restart="auto") as sim:
        sim.u[...] = sim.u.values  # another checkpoint of this step
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with sluice.Simulation(CHANNEL, output=out, restart="auto") as sim:
            control(sim)
            sim.step()
    with sluice.Simulation(CHANNEL, output=out, restart="auto") as sim:
        sim.add_force(x="0.1")
        respond(sim)
        with pytest.warns(RuntimeWarning, match=r"missing \(forces: 1, sources of scalars: 1\)") as caught:
            sim.step(2)
        assert len(caught) == 1 and caught[0].filename == __file__
    assert "warning: code that acted" in (out / "log.txt").read_text()
    told = sluice_run.must(go_on(tmp_path, "--allow-change"))
    last = json.loads((out / "run.json").read_text())["changes"]
    assert last == ["without the code of a program: forces: 1, response of the bottom wall: 1"]
    sluice_run.must(sluice_run.sluice("verify", out))


def test_what_a_checkpoint_holds(tmp_path: Path) -> None:
    def control(sim: sluice.Simulation) -> None:
        set_walls(sim)
        drive(sim)
        sim.add_force(x="0.1")

    controlled(tmp_path / "out", control)
    controlled(tmp_path / "plain", lambda sim: None)
    with h5py.File(tmp_path / "out" / "checkpoints" / "step_0000003.h5") as file:
        group = file["program"]
        walls = {f"{component}_{wall}" for component in "uvw" for wall in ("bottom", "top")} - {"u_bottom"}
        assert set(group) == walls
        np.testing.assert_allclose(group["w_top"][()].reshape(SHAPE), wave(1), atol=1e-7)
        attributes = {name: value for name, value in group.attrs.items() if name != "values_hash"}
        assert attributes == {"bulk_velocity_x": 1.05, "pressure_gradient_y": 0.02, "forces": 1}
        assert "program" in file.attrs["contents"]
    with h5py.File(tmp_path / "plain" / "checkpoints" / "step_0000003.h5") as file:
        assert "program" not in file


def test_a_checkpoint_on_request_has_the_walls_of_its_flow(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with sluice.Simulation(CHANNEL, output=out) as sim:
        sim.step(2)
        set_walls(sim)
        (out / "CHECKPOINT").touch()
        time.sleep(0.6)  # the run looks every half second
        sim.step(1)
        before = state_of(sim)
        assert not (out / "CHECKPOINT").exists()
    checkpoint = out / "checkpoints" / "step_0000002.h5"
    with sluice.Simulation(CHANNEL, output=tmp_path / "other", restart=checkpoint) as sim:
        assert sim.diagnostics.max_divergence < 1e-10
        assert (sim.walls["top"].u.values[3] == 0.25).all()
        sim.step()
        assert_same(before, state_of(sim))


def test_a_flux_that_does_not_balance(tmp_path: Path) -> None:
    """The checkpoint is written, and the walls can be set right after the restart."""
    with sluice.Simulation(CHANNEL, output=tmp_path / "out") as sim:
        sim.step(2)
        sim.walls["bottom"].w[...] = 0.25
        with pytest.raises(sluice.UsageError, match=r"0\.25 on the bottom wall"):
            sim.step()
    refused = go_on(tmp_path)
    assert refused.code == 3 and "0.25 on the bottom wall" in refused.text and "--allow-change" in refused.text
    with sluice.Simulation(CHANNEL, output=tmp_path / "out", restart="auto") as sim:
        with pytest.raises(sluice.UsageError, match=r"0\.25 on the bottom wall"):
            sim.step()
        sim.walls["bottom"].w[...] = 0
        sim.step()
    with sluice.Simulation(CHANNEL, output=tmp_path / "out", restart="auto") as sim:
        sim.walls["bottom"].w[...] = 0.25
    sluice_run.must(go_on(tmp_path, "--allow-change"))
    (change,) = json.loads((tmp_path / "out" / "run.json").read_text())["changes"]
    assert change.startswith("without the velocities of walls that a program set last: ")
