"""Odd names of directories, clocks that are set, and limits on memory and open files."""

from __future__ import annotations

import os
import resource
from pathlib import Path

import pytest
from sluice_run import (
    ENDLESS,
    assert_goes_on,
    assert_same_results,
    checkpoints,
    descendants,
    finish,
    must,
    record,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)

CASE: dict[str, object] = {}  # the base case
RUNS = [0, 2]


@pytest.mark.parametrize("name", ["with space", "Kanalströmung", "$(touch x); rm -rf out #", "-n", "a\nb", "%s%n{}"])
def test_names_of_directories(reference: Path, tmp_path: Path, name: str) -> None:
    folder = tmp_path / name
    folder.mkdir()
    case = write_case(folder, name=name + ".yaml")
    must(sluice("run", f"./{case.name}", "--output", f"./{name}", "--steps", 9, cwd=folder))
    must(sluice("run", f"./{case.name}", "--output", f"./{name}", "--restart", "auto", cwd=folder))
    assert_same_results(reference, folder / name)
    assert (
        "intact" in must(sluice("info", f"./{name}/checkpoints/{checkpoints(folder / name)[-1].name}", cwd=folder)).out
    )
    assert {file.name for file in folder.iterdir()} == {name, case.name}


@pytest.mark.parametrize("ranks", RUNS)
def test_a_clock_that_is_set_back(reference: Path, tmp_path: Path, ranks: int) -> None:
    case = write_case(tmp_path)
    clock = {"LD_PRELOAD": os.environ["SLUICE_JUMPING_CLOCK"]}
    must(sluice("run", case, "--steps", 9, ranks=ranks, env=clock))
    must(sluice("run", case, "--restart", "auto", ranks=ranks, env=clock))
    assert_same_results(reference, tmp_path / "out")
    assert len(record(tmp_path / "out")["runs"]) == 2


@pytest.mark.parametrize("ranks", RUNS)
def test_no_more_files_can_be_opened(tmp_path: Path, ranks: int) -> None:
    case, out = write_case(tmp_path, {"time.steps": ENDLESS}), tmp_path / "out"
    process = start(["run", case], ranks)
    wait_until(lambda: checkpoints(out), "a checkpoint")
    for pid in descendants(process.pid) if ranks else [process.pid]:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    outcome = must(finish(process), 4)
    assert "Too many open files" in outcome.err
    assert str(out) in outcome.err
    assert outcome.err.count("sluice: ") == 1
    saved = step_of(checkpoints(out)[-1])
    assert_goes_on(case, out, saved + 20, tmp_path / "elsewhere", ranks=ranks)


@pytest.mark.parametrize("ranks", RUNS)
@pytest.mark.parametrize(("cells", "part"), [([2048, 2048, 2048], "GiB of memory"), ([512, 256, 256], "out of memory")])
def test_too_little_memory(tmp_path: Path, ranks: int, cells: list[int], part: str) -> None:
    """More than the machine has, known beforehand; and more than `ulimit -v` allows."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    outcome = must(sluice("run", write_case(tmp_path, {"grid.cells": cells}), ranks=ranks, preexec=limit), 6)
    assert part in outcome.err
    assert outcome.err.count("sluice: ") == 1
    assert not checkpoints(tmp_path / "out")
