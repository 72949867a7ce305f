"""When the log has a line: output.log."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from sluice_run import (
    ENDLESS,
    assert_goes_on,
    checkpoints,
    finish,
    must,
    record,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)

NEVER = "1d"  # longer than any test


def logged_steps(out: Path) -> list[int]:
    """The steps that have a line in log.txt."""
    log = out / "log.txt"
    return [int(step) for step in re.findall(r"^step +(\d+) ", log.read_text(), re.M)] if log.exists() else []


@pytest.mark.parametrize("ranks", [0, 2])
@pytest.mark.parametrize(
    ("every", "seconds", "expected"),
    [
        (10, "none", [1, 10, 20]),
        (10, NEVER, [1, 10, 20]),
        ("none", NEVER, [1]),
        ("none", "none", [1]),
        (10, 1e-9, list(range(1, 25))),  # either interval is enough
        ("none", "0.000001s", list(range(1, 25))),
    ],
)
def test_either_interval(tmp_path: Path, ranks: int, every: object, seconds: object, expected: list[int]) -> None:
    case = write_case(tmp_path, {"output.log": {"every": every, "seconds": seconds}})
    must(sluice("run", case, ranks=ranks))
    assert logged_steps(tmp_path / "out") == expected


@pytest.mark.parametrize("ranks", [0, 2])
def test_the_wall_clock(tmp_path: Path, ranks: int) -> None:
    """Lines come, not more than the interval allows, and the results do not depend on them."""
    seconds = 0.2
    case, out = write_case(tmp_path, {"time.steps": ENDLESS}), tmp_path / "out"
    by_clock = ["--set", f"output.log={{every: none, seconds: {seconds}}}"]
    process = start(["run", case, "--set", "output.checkpoint=none", *by_clock], ranks)
    wait_until(lambda: len(logged_steps(out)) == 4, "four lines")
    (out / "STOP").touch()
    must(finish(process))
    assert len(logged_steps(out)) <= 1 + record(out)["wall_seconds"] / seconds
    assert_goes_on(case, out, step_of(checkpoints(out)[-1]) + 5, tmp_path / "elsewhere", ranks=ranks)


PERIODIC = {
    "flow": {"type": "periodic", "reynolds": {"viscosity": 0.02}},
    "domain.size": ["2*pi", "2*pi", "2*pi"],
    "grid": {"cells": [8, 8, 8], "stretching": {"type": "uniform"}},
    "initial": {"type": "formula", "velocity": ["sin(x)*cos(y)*cos(z)", "-cos(x)*sin(y)*cos(z)", 0]},
    "solver.order": 2,
    "output.slices": [],
    "output.statistics": None,
}
SURFACE = {"flow.type": "open_channel", "domain.size": ["2*pi", "pi", 1]}


@pytest.mark.parametrize(
    ("changes", "walls"),
    [({}, ["bottom", "top"]), (SURFACE, ["bottom"]), (PERIODIC, [])],
    ids=["channel", "surface", "periodic"],
)
def test_walls_that_do_not_exist_are_not_named(tmp_path: Path, changes: dict[str, Any], walls: list[str]) -> None:
    """In the log and in the output of `sluice info`."""
    out = tmp_path / "out"
    must(sluice("run", write_case(tmp_path, {**changes, "time.steps": 3})))
    (line,) = re.findall(r"^step .*$", (out / "log.txt").read_text(), re.M)
    said = must(sluice("info", out)).out
    named = "".join(f" {wall} +[\\d.]+" for wall in walls)
    assert re.search(rf"  dt \S+{'  Re_tau' if walls else ''}{named}  U_b ", line), line
    assert re.findall(r"(?:[\d.]+ at the (\w+) wall)", said) == walls
    assert ("Re_tau  " in said) == bool(walls)
