"""Formulas with which a run fails: `check` finds them as `run` does, and a run that they end leaves its record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import checkpoints, must, record, sluice, write_case

BASE: dict[str, Any] = {
    "domain.size": ["pi", "pi", 2],
    "grid.cells": [8, 6, 16],
    "time.steps": 40,
    "output.statistics": "none",
    "output.slices": [],
    "output.probes": [],
    "output.timeseries": {"every": 1},
}


def wall(*velocity: object) -> dict[str, Any]:
    return {"walls.bottom": {"velocity": list(velocity)}}


def scalar(**value: str) -> dict[str, Any]:
    return {"scalars": [{"name": "T", "walls": {"bottom": value}}]}


AT_BEGIN: dict[str, tuple[dict[str, Any], str]] = {
    "wall in time": (wall("log(t)", 0, 0), "walls.bottom.velocity[0]: log(t) is not finite at time 0"),
    "wall along x": (wall(0, "1/(x-x)", 0), "walls.bottom.velocity[1]: 1/(x-x) is not finite at time 0, x = 0.1963"),
    "scalar": (scalar(flux="sqrt(y-1)"), "scalars[0].walls.bottom.flux: sqrt(y-1) is not finite at time 0, y = 0.2618"),
    "initial velocity": (
        {"initial": {"type": "formula", "velocity": ["sqrt(z-1)", 0, 0]}},
        "initial.velocity[0]: sqrt(z-1) is not finite at time 0, z = ",
    ),
    "initial scalar": (
        {"scalars": [{"name": "T", "initial": "log(1-z)"}]},
        "scalars[0].initial: log(1-z) is not finite at time 0, z = ",
    ),
    "flux through a wall": (
        wall(0, 0, "0.01*sin(2*x)+0.01"),
        "walls: the mean of w, the wall-normal velocity, is 0.01 on the bottom wall and 0 on the top wall at time 0",
    ),
    "half waves": (wall(0, 0, "0.01*sin(3*x)"), "walls: the mean of w, the wall-normal velocity, is 0.00"),
}


@pytest.mark.parametrize("name", AT_BEGIN)
def test_check_and_run_refuse_formulas_that_fail_at_the_begin(tmp_path: Path, name: str) -> None:
    changes, message = AT_BEGIN[name]
    case = write_case(tmp_path, {**BASE, **changes})
    assert message in must(sluice("check", case), 2).err
    assert message in must(sluice("run", case), 2).err
    assert not (tmp_path / "out").exists()


def test_a_refused_case_overwrites_nothing(tmp_path: Path) -> None:
    must(sluice("run", write_case(tmp_path, {**BASE, "time.steps": 2})))
    case = write_case(tmp_path, {**BASE, **wall("log(t)", 0, 0)})
    must(sluice("run", case, "--overwrite"), 2)
    assert checkpoints(tmp_path / "out")


LATER: dict[str, tuple[dict[str, Any], str, str]] = {
    "forcing": (
        {"flow.forcing": {"bulk_velocity": "sqrt(1-t)"}},
        "flow.forcing.bulk_velocity: sqrt(1-t) stops being finite at time 1;",
        "flow.forcing: sqrt(1-t) is not finite at time 1.",
    ),
    "wall": (
        wall("log(2-t)", 0, 0),
        "walls.bottom.velocity[0]: log(2-t) stops being finite at time 2;",
        "the run has blown up; walls.bottom.velocity[0]: log(2-t) stops being finite at time 2;",
    ),
    "scalar": (
        scalar(value="sqrt(1-t)+x"),
        "scalars[0].walls.bottom.value: sqrt(1-t)+x stops being finite at time 1, x = 0.1963;",
        "the run has blown up; scalars[0].walls.bottom.value: sqrt(1-t)+x stops being finite at time 1, x = 0.1963;",
    ),
    "flux through a wall": (
        wall(0, 0, "0.01*sin(2*x)+0.01*step(t-1)"),
        "walls: the mean of w, the wall-normal velocity, is 0.01 on the bottom wall and 0 on the top wall at time 1.",
        "walls: the mean of w, the wall-normal velocity, is 0.01 on the bottom wall and 0 on the top wall at time 1.",
    ),
}


def divergence(checkpoint: Path) -> float:
    """The largest |div u| of a flow of order 2, without the lowest cells: w on the bottom wall is not stored."""
    with h5py.File(checkpoint) as file:
        u, v, w = (np.asarray(file[name]) for name in "uvw")
        dx, dy, dz = (np.diff(file[f"grid/{axis}_node"]) for axis in "xyz")
    along_x, along_y = (u - np.roll(u, 1, 2)) / dx, (v - np.roll(v, 1, 1)) / dy[:, None]
    return float(abs((along_x + along_y)[1:] + np.diff(w, axis=0) / dz[1:, None, None]).max())


@pytest.mark.parametrize("ranks", [0, 2])
@pytest.mark.parametrize("name", LATER)
def test_a_run_that_a_formula_ends_leaves_its_record(tmp_path: Path, name: str, ranks: int) -> None:
    changes, forecast, failure = LATER[name]
    case, out = write_case(tmp_path, {**BASE, **changes, "solver.order": 2}), tmp_path / "out"
    checked = must(sluice("check", case, ranks=ranks), 2)
    assert forecast in checked.err
    assert "valid" not in checked.text
    outcome = must(sluice("run", case, ranks=ranks), 5)
    assert f"warning: {forecast}" in outcome.out
    assert failure in outcome.err
    assert "use a smaller" not in outcome.err
    assert failure in record(out)["why_stopped"]
    assert 0 < record(out)["step"] < 40
    (diagnostics,) = (out / "diagnostics").glob("step_*.h5")
    if not failure.startswith("the run has blown up"):
        assert divergence(diagnostics) < 1e-9  # the flow of the last whole step
    log = (out / "log.txt").read_text()
    assert f"warning: {forecast}" in log
    assert f"Failed after step {record(out)['step']}, time " in log
    assert failure in log


def test_a_run_that_ends_in_time_is_valid(tmp_path: Path) -> None:
    changes = {**BASE, "time.steps": None, "time.end": 0.9, "flow.forcing": {"bulk_velocity": "sqrt(1-t)"}}
    checked = must(sluice("check", write_case(tmp_path, changes)))
    assert "nan" not in checked.text
    changes["time.end"] = 1.1
    message = must(sluice("check", write_case(tmp_path, changes)), 2).err
    assert "cannot run to its end at time 1.1:\n" in message


def test_a_restart_tries_formulas_from_its_own_time(tmp_path: Path) -> None:
    must(sluice("run", write_case(tmp_path, {**BASE, **wall("0.01*sin(t)", 0, 0), "time.steps": 4})))
    allow = ("--restart", "auto", "--allow-change", "--steps")
    case = write_case(tmp_path, {**BASE, **wall("0.01*log(t)", 0, 0)})
    assert "finite" not in must(sluice("run", case, *allow, 6)).text
    case = write_case(tmp_path, {**BASE, **wall("log(0.1-t)", 0, 0)})
    message = must(sluice("run", case, *allow, 8), 2).err
    assert "walls.bottom.velocity[0]: log(0.1-t) is not finite at time" in message


SEAMS = {
    "0.01*sin(3*x)": "its slope jumps from -0.03 to 0.03 where the domain ends along x",
    "0.01*y*(pi-y)": "its slope jumps from -0.031 to 0.031 where the domain ends along y",
    "0.01*sin(3.3*x)": "it jumps by 0.0081 where the domain ends along x",
    "0.01*sin(2*x)*cos(4*y)": "",
    "0.01*step(sin(2*x))": "",  # jumps, but periodic
    "0.01*(step(x-1)-step(x-2))": "",  # a slot
    "0.01*exp(-((x-1.5)/0.1)^2)": "",  # nothing is left of it at the ends
    "0.01*abs(sin(x))": "",
}


@pytest.mark.parametrize("formula", SEAMS)
def test_formulas_that_are_not_periodic(tmp_path: Path, formula: str) -> None:
    case = write_case(tmp_path, {**BASE, **wall(formula, 0, 0), "time.steps": 1})
    checked = must(sluice("check", case)).out
    ran = must(sluice("run", case)).out
    for text in (checked, ran):
        assert ("walls.bottom.velocity[0] is not periodic: " in text) == bool(SEAMS[formula]), text
        assert SEAMS[formula] in text, text


@pytest.mark.parametrize(("z", "seam"), [("cos(2*z)", True), ("cos(2*pi*z)", False)])
def test_initial_fields_that_are_not_periodic(tmp_path: Path, z: str, seam: bool) -> None:
    changes = {
        **BASE,
        "flow": {"type": "periodic", "reynolds": {"viscosity": 0.01}},
        "grid.stretching": {"type": "uniform"},
        "initial": {"type": "formula", "velocity": [z, "cos(2*x)", 0]},
    }
    text = must(sluice("check", write_case(tmp_path, changes))).out
    assert ("initial.velocity[0] is not periodic: " in text) == seam
