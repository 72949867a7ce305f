"""The start of the program: commands that need no MPI, launchers of another MPI library, output that is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest
from sluice_run import BINARY, QUICK_START, Outcome, checkpoints, must, record, sluice, start, write_case

NO_MPI = {"LD_PRELOAD": os.environ["SLUICE_MPI_INIT"]}
CASE = {"time.steps": 3, "output.checkpoint": {"every": 1000, "keep": 2}}
ALONE = [
    ["--version"],
    ["--help"],
    ["help", "run"],
    ["init"],
    ["init", "retau180"],
    ["init", "--schema"],
    ["check", "CASE"],
    ["check", "CASE", "--np", "4"],
    ["info", "OUT"],
    ["info", "OUT/checkpoints/step_0000003.h5"],
    ["info", "OUT/statistics.h5"],
    ["info", "OUT/slices/z0.1.h5"],
    ["info", "OUT/fields/f_0000001.h5"],
    ["verify", "OUT"],
    ["verify", "OUT", "--json"],
    ["completion"],
    ["man"],
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run; read-only for tests."""
    folder = tmp_path_factory.mktemp("run")
    output = {
        "output.fields": [{"name": "f", "every": 1e-6, "fields": ["velocity"]}],
        "output.slices": [{"normal": "z", "at": 0.1, "every": 1e-6, "fields": ["u"]}],
        "output.statistics": {"every": 1, "block": 1e-6},
    }
    must(sluice("run", write_case(folder, {**CASE, **output})))
    return folder


def of(folder: Path, args: list[str]) -> list[str]:
    return [arg.replace("CASE", str(folder / "case.yaml")).replace("OUT", str(folder / "out")) for arg in args]


@pytest.mark.parametrize("args", ALONE, ids=" ".join)
def test_commands_that_need_no_mpi(folder: Path, args: list[str]) -> None:
    expected = must(sluice(*of(folder, args)))
    assert must(sluice(*of(folder, args), env=NO_MPI)) == expected
    assert expected.out


def test_a_refused_command_line_needs_no_mpi(tmp_path: Path) -> None:
    must(sluice("run", write_case(tmp_path), "--sideways", env=NO_MPI), 2)
    must(sluice("check", tmp_path / "nowhere.yaml", env=NO_MPI), 2)
    assert "MPI was started" in must(sluice("run", tmp_path / "case.yaml", env=NO_MPI), 99).err


def test_damage_is_found_without_mpi(folder: Path, tmp_path: Path) -> None:
    damaged = bytearray((folder / "out/checkpoints/step_0000003.h5").read_bytes())
    damaged[len(damaged) // 2] ^= 1
    (tmp_path / "damaged.h5").write_bytes(damaged)
    assert "damaged" in must(sluice("info", tmp_path / "damaged.h5", env=NO_MPI), 3).err


@pytest.mark.parametrize("args", [["check", "CASE"], ["info", "OUT"], ["verify", "OUT"], ["init"], ["--help"]])
def test_a_launcher_gets_one_answer(folder: Path, args: list[str]) -> None:
    assert must(sluice(*of(folder, args), ranks=3)).out == must(sluice(*of(folder, args))).out


def test_each_process_of_a_script_gets_its_answer() -> None:
    """`srun script`, in which each process examines a file of its own."""
    script = ["sh", "-c", f"{BINARY} --version; exit $?"]
    env = {**os.environ, **QUICK_START, "SLURM_PROCID": "3", "SLURM_STEP_NUM_TASKS": "4"}
    done = subprocess.run(script, env=env, capture_output=True, text=True, check=True, timeout=30)
    assert done.stdout == must(sluice("--version")).out


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS"])
def test_the_launcher_of_another_mpi(tmp_path: Path, name: str) -> None:
    case = write_case(tmp_path, CASE)
    outcome = must(sluice("run", case, env={name: "2"}), 6)
    assert outcome.err.count("sluice: ") == 1
    assert f"started 2 processes ({name} is 2)" in outcome.err
    assert f"unset {name}" in outcome.err
    assert not (tmp_path / "out").exists()
    must(sluice("run", case, env={name: "1"}))


def test_mpi_that_does_not_start(tmp_path: Path) -> None:
    env = {**NO_MPI, "SLUICE_FAIL_MPI_INIT": "1"}
    outcome = must(sluice("run", write_case(tmp_path, CASE), env=env), 6)
    assert outcome.err.startswith("sluice: MPI does not start: MPI_Init of ")
    assert not (tmp_path / "out").exists()


def test_a_job_without_a_launcher(tmp_path: Path) -> None:
    """In the script of a job, Slurm says how many processes srun would start; a shell of srun --pty inherits more."""
    case = write_case(tmp_path, CASE)
    job = {"SLURM_JOB_ID": "7", "SLURM_NTASKS": "16", "SLURM_NPROCS": "16", "SLURM_PROCID": "0"}
    must(sluice("run", case, env=job))
    script = ["sh", "-c", f"{BINARY} run {case} --overwrite; exit $?"]
    env = {**os.environ, **QUICK_START, **job, "SLURM_STEP_NUM_TASKS": "16"}
    subprocess.run(script, env=env, capture_output=True, check=True, timeout=60)


FULL = Path("/dev/full")


def to_full_device(*args: object) -> Outcome:
    with FULL.open("w") as full:
        done = subprocess.run(
            [BINARY, *map(str, args)], stdout=full, stderr=subprocess.PIPE, text=True, timeout=60,
            env={**os.environ, **QUICK_START}, check=False,
        )  # fmt: skip
    return Outcome(done.returncode, "", done.stderr)


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
@pytest.mark.parametrize("args", [*ALONE, ["bench", "poisson", "--grid", "8,8,32", "--repeats", "1"]], ids=" ".join)
def test_output_on_a_full_disk(folder: Path, args: list[str]) -> None:
    outcome = must(to_full_device(*of(folder, args)), 4)
    assert outcome.err == "sluice: standard output cannot be written: No space left on device\n"


@pytest.mark.skipif(not FULL.exists(), reason="no /dev/full")
def test_a_run_whose_output_is_lost_goes_on(tmp_path: Path) -> None:
    """Its log file has what was printed."""
    outcome = must(to_full_device("run", write_case(tmp_path, CASE)))
    assert outcome.err.count("standard output cannot be written: No space left on device") == 1
    assert "Stopped at step 3" in (tmp_path / "out/log.txt").read_text()
    assert record(tmp_path / "out")["step"] == 3


@pytest.mark.parametrize("number", [signal.SIGUSR1, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_request_to_stop_while_mpi_starts(tmp_path: Path, number: signal.Signals) -> None:
    case = write_case(tmp_path, CASE)
    must(sluice("run", case, env={**NO_MPI, "SLUICE_SIGNAL_IN_MPI_INIT": str(number.value)}))
    assert record(tmp_path / "out")["why_stopped"] == "stop requested by signal"
    assert record(tmp_path / "out")["step"] == 0
    assert [file.name for file in checkpoints(tmp_path / "out")] == ["step_0000000.h5"]


def test_a_request_for_a_checkpoint_while_mpi_starts(tmp_path: Path) -> None:
    case = write_case(tmp_path, CASE)
    must(sluice("run", case, env={**NO_MPI, "SLUICE_SIGNAL_IN_MPI_INIT": str(signal.SIGUSR2.value)}))
    assert [file.name for file in checkpoints(tmp_path / "out")] == ["step_0000000.h5", "step_0000003.h5"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGUSR1])
def test_a_signal_ends_other_commands(number: signal.Signals) -> None:
    process = start(["check", "/dev/stdin"], stdin=subprocess.PIPE)
    time.sleep(0.2)
    process.send_signal(number)
    assert process.wait(timeout=10) == -number
