"""Simulations with an output directory write what `sluice run` writes."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import sluice_run
from processes import need_ranks, run_script

import sluice

STEPS = sluice_run.BASE_CASE["time"]["steps"]
OWN_OF_A_RUN = {"log.txt", "run.json", "lock"}  # these name times of the clock and processes


def case_with(changes: dict[str, Any] | None = None) -> sluice.Case:
    return sluice.Case(sluice_run.case_with(changes))


def run_program(folder: Path, changes: dict[str, Any] | None = None, *options: object, ranks: int = 0) -> Path:
    """The directory of `sluice run`."""
    case = sluice_run.write_case(folder, changes)
    sluice_run.must(sluice_run.sluice("run", case, "--output", folder / "out", *options, ranks=ranks))
    return folder / "out"


def files_of(directory: Path) -> dict[str, Path]:
    return {str(path.relative_to(directory)): path for path in directory.rglob("*") if path.is_file()}


def items_of(file: h5py.Group) -> Iterable[tuple[str, Any]]:
    """All datasets and attributes of a file with their values, except the case, which has the path of the run."""
    found: dict[str, Any] = {}

    def visit(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]
        for key, value in item.attrs.items():
            if key not in ("DIMENSION_LIST", "REFERENCE_LIST"):
                found[f"{name}@{key}"] = value

    file.visititems(visit)
    for key, value in file.attrs.items():
        if key not in ("resolved_case", "values_hash"):
            found[f"@{key}"] = value
    return found.items()


def assert_same_file(one: Path, other: Path) -> None:
    if one.suffix != ".h5" or one.read_bytes() == other.read_bytes():
        assert one.read_bytes() == other.read_bytes(), one
        return
    with h5py.File(one) as first, h5py.File(other) as second:
        expected = dict(items_of(first))
        assert expected.keys() == dict(items_of(second)).keys(), one
        for name, value in items_of(second):
            assert np.array_equal(value, expected[name]), (one, name, value, expected[name])


def assert_same_bytes(one: Path, other: Path) -> None:
    """The program and the package must be of one build: files name its revision."""
    assert_same_file(one, other)  # names what differs
    assert one.read_bytes() == other.read_bytes(), one


@pytest.fixture
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_program(tmp_path_factory.mktemp("program"))


def record(directory: Path) -> Any:
    return json.loads((directory / "run.json").read_text())


def test_the_bytes_of_the_program(tmp_path: Path) -> None:
    program = run_program(tmp_path)
    program.rename(tmp_path / "program")
    with sluice.Simulation(case_with(), output=tmp_path / "out") as sim:
        sim.run()
        assert sim.step_number == STEPS
    first, second = files_of(tmp_path / "program"), files_of(tmp_path / "out")
    assert first.keys() == second.keys()
    for name in first.keys() - OWN_OF_A_RUN:
        assert_same_bytes(first[name], second[name])
    assert record(tmp_path / "out").keys() == record(tmp_path / "program").keys()
    assert record(tmp_path / "out")["why_stopped"] == "end time or step reached"


def interrupted(tmp_path: Path, expected: Path, first: int, *, program_goes_on: bool) -> None:
    out = tmp_path / "out"
    with sluice.Simulation(case_with(), output=out) as sim:
        sim.step(first)
    assert record(out)["why_stopped"] == "closed by the Python program"
    assert (out / "checkpoints" / f"step_{first:07d}.h5").is_file()
    if program_goes_on:
        case = sluice_run.write_case(tmp_path)
        sluice_run.must(sluice_run.sluice("run", case, "--output", out, "--restart", "auto"))
    else:
        with sluice.Simulation(case_with(), output=out, restart="auto") as sim:
            assert sim.step_number == first
            sim.run()
    assert len(record(out)["runs"]) == 2
    last = f"checkpoints/step_{STEPS:07d}.h5"
    for name in (last, "timeseries.csv", *(str(path.relative_to(expected)) for path in slices_of(expected))):
        assert_same_file(expected / name, out / name)
    assert_same_file(expected / "statistics.h5", out / "statistics.h5")


def slices_of(directory: Path) -> list[Path]:
    return sorted((directory / "slices").rglob("*.h5"))


@pytest.mark.parametrize("program_goes_on", [True, False])
def test_a_closed_run_goes_on(program_goes_on: bool, tmp_path: Path, expected: Path) -> None:
    interrupted(tmp_path, expected, 13, program_goes_on=program_goes_on)


def test_python_goes_on_with_a_run_of_the_program(tmp_path: Path, expected: Path) -> None:
    out = run_program(tmp_path, None, "--steps", 10)
    with sluice.Simulation(case_with(), output=out, restart=out / "checkpoints" / "step_0000010.h5") as sim:
        sim.run()
    assert_same_file(expected / "timeseries.csv", out / "timeseries.csv")
    assert_same_file(expected / "statistics.h5", out / "statistics.h5")


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_an_exception_closes_the_run(error: type[BaseException], tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(error), sluice.Simulation(case_with(), output=out) as sim:
        sim.step(3)
        raise error
    assert record(out)["step"] == 3 and (out / "checkpoints" / "step_0000003.h5").is_file()
    with sluice.Simulation(case_with(), output=out, restart="auto") as sim:  # the lock is gone
        assert sim.step_number == 3


def test_without_output_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    with sluice.Simulation(case_with()) as sim:
        sim.step(12)
    assert list(tmp_path.iterdir()) == []
    with sluice.Simulation(case_with(), output="out") as sim:
        sim.run()
    assert capfd.readouterr() == ("", "")
    assert "Stopped at step 24" in (tmp_path / "out" / "log.txt").read_text()


def test_errors_are_those_of_the_program(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with sluice.Simulation(case_with(), output=out) as sim:
        sim.step(2)
        with pytest.raises(sluice.UsageError, match="another run uses the output directory: process"):
            sluice.Simulation(case_with(), output=out, restart="auto")
    for options in ({}, {"restart": tmp_path / "elsewhere.h5"}):
        told = sluice_run.sluice(
            "run",
            sluice_run.write_case(tmp_path),
            "--output",
            out,
            *(word for name, value in options.items() for word in (f"--{name}", value)),
        )
        with pytest.raises(sluice.UsageError) as raised:
            sluice.Simulation(case_with(), output=out, **options)
        assert (told.code, sluice._core.for_python(told.err)) == (2, f"sluice: {raised.value}\n")
    with pytest.raises(sluice.RestartError, match="allow_change=True"):
        sluice.Simulation(case_with({"flow.reynolds": {"bulk": 5000}}), output=out, restart="auto")
    with sluice.Simulation(
        case_with({"flow.reynolds": {"bulk": 5000}}), output=out, restart="auto", allow_change=True
    ) as sim:
        assert sim.step_number == 2
    with sluice.Simulation(case_with(), output=out, overwrite=True) as sim:
        assert sim.step_number == 0 and not list((out / "checkpoints").glob("*.h5"))
    with pytest.raises(sluice.UsageError, match="need output"):
        sluice.Simulation(case_with(), restart="auto")


def test_changes_of_the_flow(tmp_path: Path) -> None:
    """Outputs go on from the changed flow, also from a checkpoint of the step at which it was changed."""
    every_step = {"output.timeseries": {"every": 1}}

    def change(sim: sluice.Simulation) -> None:
        sim.u[...] = 1.1 * sim.u.values

    def run(out: Path, close_after_the_change: bool) -> None:
        sim = sluice.Simulation(case_with(every_step), output=out)
        sim.step(5)
        if close_after_the_change:
            sim.close()
            sim = sluice.Simulation(case_with(every_step), output=out, restart="auto")
        change(sim)
        if close_after_the_change:
            sim.close()
            sim = sluice.Simulation(case_with(every_step), output=out, restart="auto")
        with sim:
            sim.step(5)

    for close in (False, True):
        run(tmp_path / str(close), close)
    assert_same_file(tmp_path / "False" / "timeseries.csv", tmp_path / "True" / "timeseries.csv")
    last = "checkpoints/step_0000010.h5"
    assert_same_file(tmp_path / "False" / last, tmp_path / "True" / last)


def test_files_do_not_go_back(tmp_path: Path) -> None:
    with sluice.Simulation(case_with(), output=tmp_path / "out") as sim:
        sim.step(3)
        snapshot = sim.snapshot()
        sim.u[...] = 0
        sim.restore(snapshot)  # of the same step
        sim.step(1)
        with pytest.raises(sluice.UsageError, match="cannot go back"):
            sim.restore(snapshot)
        sim.run()
    assert record(tmp_path / "out")["step"] == STEPS


def test_a_flow_that_blows_up(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with sluice.Simulation(case_with({"time.cfl": None, "time.dt": 2, "time.steps": 500}), output=out) as sim:
        with (
            pytest.warns(RuntimeWarning, match="the fixed dt 2 is above the stable limit"),
            pytest.raises(sluice.NumericsError, match="The fields as they are, for inspection"),
        ):
            sim.run()
        failed = sim.step_number
        with pytest.raises(sluice.UsageError, match="has ended"):
            sim.step()
    assert (out / "diagnostics" / f"step_{failed:07d}.h5").is_file()
    assert not (out / "checkpoints" / f"step_{failed:07d}.h5").exists()
    assert "has blown up" in record(out)["why_stopped"]
    with sluice.Simulation(case_with(), output=out, overwrite=True) as sim:  # the lock is gone
        assert sim.step_number == 0


def test_a_fixed_step_above_the_limit() -> None:
    with sluice.Simulation(case_with({"time.cfl": None, "time.dt": 0.5})) as sim:
        with pytest.warns(RuntimeWarning, match="above the stable limit") as caught:
            sim.step(2)
        assert len(caught) == 1 and caught[0].filename == __file__


def test_requests_by_files(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with sluice.Simulation(case_with({"time.steps": 1000000}), output=out) as sim:

        @sim.every(5)
        def ask(sim: sluice.Simulation) -> None:
            name = {5: "CHECKPOINT", 100: "STOP"}.get(sim.step_number)
            if name:
                (out / name).touch()

        sim.run()
        assert sim.step_number >= 100
        stopped = sim.step_number
        sim.run()
        assert sim.step_number == stopped
    assert record(out)["why_stopped"] == "stop requested by file STOP"
    assert "Checkpoint at step" in (out / "log.txt").read_text()


def test_accuracy_ends_a_run_at_the_step_of_the_program(tmp_path: Path) -> None:
    until = {
        "time.steps": None,
        "time.end": 60,
        "time.until": {"re_tau": "60%"},
        "output.statistics": {"start": 0, "every": 1, "block": 1},
    }
    program = record(run_program(tmp_path, until))
    assert "time.until" in program["why_stopped"]
    with sluice.Simulation(case_with(until), output=tmp_path / "python") as sim:
        sim.run()
        assert sim.step_number == program["step"]
    assert record(tmp_path / "python")["why_stopped"] == program["why_stopped"]


SCRIPT = """
import sys
import sluice
from mpi4py import MPI

comm = MPI.COMM_WORLD.Dup()
case = sluice.Case(sys.argv[1])
with sluice.Simulation(case, comm=comm, output=sys.argv[2] if comm.rank == 0 else None) as sim:
    comm.Free()
    statistics = sim.statistics
    sim.step(11)
with sluice.Simulation(case, output=sys.argv[2], restart="auto") as sim:
    assert sim.step_number == 11
    sim.statistics.sample()
    sim.run()
    means = sim.statistics.means()
    assert (means["w"].shape, means["uw"].shape) == ((32,), (33,))
    assert all(MPI.COMM_WORLD.allreduce(float(abs(mean).sum())) for mean in (means["u"], means["uu"]))
"""


def test_two_processes(tmp_path: Path) -> None:
    need_ranks(2)
    two = {"parallel": {"grid": [1, 2], "exchange": "mpi_pipelined"}}
    expected = run_program(tmp_path, two, ranks=2)
    expected.rename(tmp_path / "program")
    run_script(tmp_path, SCRIPT, tmp_path / "case.yaml", tmp_path / "out", ranks=2)
    first, second = files_of(tmp_path / "program"), files_of(tmp_path / "out")
    for name in first.keys() - OWN_OF_A_RUN:
        if not name.startswith("checkpoints") or name.endswith(f"{STEPS:07d}.h5"):
            assert_same_bytes(first[name], second[name])


def test_a_failed_response_does_not_end_the_run(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt), sluice.Simulation(case_with(), output=tmp_path / "out") as sim:

        @sim.walls["bottom"].response
        def fail(sim: sluice.Simulation) -> np.ndarray:
            if sim.step_number == 3:
                raise KeyboardInterrupt
            return 0 * sim.plane("w", z=0.1).values

        sim.step(10)
    assert record(tmp_path / "out")["step"] == 4
    with sluice.Simulation(case_with(), output=tmp_path / "out", restart="auto", initial={"u": 0}) as sim:
        assert sim.step_number == 4 and sim.diagnostics.kinetic_energy > 0.1  # `initial` has no effect
