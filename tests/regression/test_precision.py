"""solver.precision chooses the precision when a run starts: results, restarts from the other precision, messages."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import h5py
import numpy as np
import pytest
from sluice_run import (
    BINARY,
    PRECISIONS,
    assert_same_results,
    checkpoints,
    environment,
    must,
    record,
    sluice,
    write_case,
)

both = pytest.mark.skipif(len(PRECISIONS) < 2, reason="the build has one precision")
SINGLE = ("--set", "solver.precision=single")


def velocity(out: Path) -> np.ndarray:
    with h5py.File(checkpoints(out)[-1]) as file:
        return np.asarray(file["u"])


@both
def test_a_run_in_single_precision_is_that_of_the_program_for_it(tmp_path: Path) -> None:
    """With the same bits, on one rank and on two; in double precision the flow is the same to round-off."""
    case = write_case(tmp_path, {"solver.precision": "single", "time.steps": 8})
    must(sluice("run", case, "--output", tmp_path / "one"))
    must(sluice("run", case, "--output", tmp_path / "two", ranks=2))
    alone = [
        f"{BINARY}-single",
        "run",
        str(case),
        "--output",
        str(tmp_path / "alone"),
        "--set",
        "solver.precision=auto",
    ]
    subprocess.run(alone, env=environment(0), check=True, stdout=subprocess.DEVNULL)
    must(sluice("run", case, "--output", tmp_path / "double", "--set", "solver.precision=double"))
    assert_same_results(tmp_path / "one", tmp_path / "two")
    assert_same_results(tmp_path / "one", tmp_path / "alone")
    single, double = velocity(tmp_path / "one"), velocity(tmp_path / "double")
    assert (single.dtype, double.dtype) == (np.float32, np.float64)
    assert 1e-8 < abs(single - double).max() < 1e-3
    assert record(tmp_path / "one")["precision"] == "single"
    assert "precision: single" in (tmp_path / "one" / "resolved.yaml").read_text()


@both
def test_a_restart_can_change_the_precision_and_go_back(tmp_path: Path) -> None:
    """Only with --allow-change, and without slices and probes, whose files keep their precision."""
    case = write_case(tmp_path, {"time.steps": 4, "output.slices": None, "output.probes": None})
    out = tmp_path / "out"
    must(sluice("run", case, "--output", out))
    start = velocity(out)
    goes_on = ("run", case, "--output", out, "--restart", "auto")
    refused = must(sluice(*goes_on, "--steps", 8, *SINGLE), 3)
    assert "precision: double -> single" in refused.err and "solver.precision" in refused.err
    copy = tmp_path / "copy"
    shutil.copytree(out, copy)
    must(sluice(*goes_on, "--steps", 8, "--allow-change", *SINGLE))
    assert velocity(out).dtype == np.float32
    must(sluice(*goes_on, "--steps", 12, "--allow-change"))
    assert velocity(out).dtype == np.float64
    assert record(out)["changes"] == ["precision: single -> double"]
    must(sluice("run", case, "--output", copy, "--restart", "auto", "--steps", 12))
    assert start.dtype == np.float64
    assert 1e-8 < abs(velocity(out) - velocity(copy)).max() < 1e-3


def test_an_unknown_precision_is_refused(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"solver.precision": "half"})
    for command in ("run", "check"):
        refused = must(sluice(command, case), 2)
        assert "solver.precision" in refused.err and "double" in refused.err and "single" in refused.err


@pytest.mark.skipif(len(PRECISIONS) > 1, reason="the build has both precisions")
def test_a_build_without_the_precision_says_so(tmp_path: Path) -> None:
    other = "single" if PRECISIONS == ["double"] else "double"
    case = write_case(tmp_path, {"solver.precision": other})
    for ranks in (0, 2):
        refused = must(sluice("run", case, ranks=ranks), 2)
        assert f"this build has {PRECISIONS[0]} precision only" in refused.err
        assert refused.err.count("solver.precision is") == 1
    assert "SLUICE_PRECISIONS" in must(sluice("bench", "poisson", "--precision", other), 2).err


@both
def test_a_program_without_its_companion_says_so(tmp_path: Path) -> None:
    """As if sluice had been copied alone. Cases in its own precision run."""
    alone = shutil.copy(BINARY, tmp_path / "sluice")
    case = write_case(tmp_path, {"time.steps": 1})
    command = [alone, "run", str(case), "--output", str(tmp_path / "out")]
    refused = subprocess.run([*command, *SINGLE], env=environment(0), capture_output=True, text=True)
    assert refused.returncode == 2 and "sluice-single is missing beside it" in refused.stderr
    assert subprocess.run(command, env=environment(0), capture_output=True).returncode == 0


@both
def test_a_case_from_a_pipe_asks_by_an_option(tmp_path: Path) -> None:
    """A pipe can be read once only, and the precision must be known before MPI starts."""
    text = write_case(tmp_path, {"solver.precision": "single", "time.steps": 1}).read_text()
    command = [BINARY, "run", "/dev/stdin", "--output", str(tmp_path / "out")]

    def run(*more: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([*command, *more], input=text, env=environment(0), capture_output=True, text=True)

    refused = run()
    assert refused.returncode == 2 and "add --set solver.precision=single" in refused.stderr
    assert run(*SINGLE).returncode == 0
    assert record(tmp_path / "out")["precision"] == "single"


@both
def test_commands_without_a_run_use_the_precision(tmp_path: Path) -> None:
    """The forecast of memory and checkpoints, and benchmarks; --version names both precisions."""
    case = write_case(tmp_path)

    def checkpoint_size(*more: str) -> list[str]:
        lines = must(sluice("check", case, *more)).out.splitlines()
        return [line for line in lines if line.startswith("checkpoint ")]

    assert checkpoint_size(*SINGLE) != checkpoint_size()
    bench = ("bench", "poisson", "--grid", "16,12,16", "--repeats", 1, "--precision")
    for precision in PRECISIONS:
        assert f"{precision} precision" in must(sluice(*bench, precision)).out
    assert "precision  double, single" in must(sluice("--version")).out
