"""Members of an ensemble have the bits of single simulations."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sluice_run import must
from sluice_run import sluice as sluice_program

import sluice


def case(**settings: Any) -> sluice.Case:
    made = sluice.Case("quickstart")
    made["grid.cells"] = [16, 12, 20]
    made["time.end"] = 1
    for key, value in settings.items():
        made[key] = value
    return made


def fields_of(simulation: sluice.Simulation) -> dict[str, np.ndarray[Any, Any]]:
    return {name: field.values.copy() for name, field in simulation.fields.items()}


def assert_equal(one: sluice.Simulation, other: sluice.Simulation) -> None:
    assert (one.time, one.step_number, one.dt) == (other.time, other.step_number, other.dt)
    others = fields_of(other)
    for name, values in fields_of(one).items():
        assert np.array_equal(values, others[name]), name


def test_members_have_the_bits_of_single_simulations() -> None:
    speeds = [0.0, 0.1, 0.2]
    with sluice.Ensemble(case(), 3, vary={"walls.bottom.velocity": [[u, 0, 0] for u in speeds]}) as ensemble:
        ensemble.step(4)
        assert ensemble.varied["initial.seed"] == [1, 2, 3]
        assert len(set(ensemble.time)) == 3  # each has its own time step
        assert ensemble.values("u").shape == (3, 20, 12, 16)
        assert np.array_equal(ensemble.values("w")[1], ensemble[1].w.values)
        for n, member in enumerate(ensemble):
            alone = case()
            alone["initial.seed"] = n + 1
            alone["walls.bottom.velocity"] = [speeds[n], 0, 0]
            with sluice.Simulation(alone) as single:
                single.step(4)
                assert_equal(member, single)


def test_functions_and_responses_of_members() -> None:
    """Functions of every(), forces with update and responses act as in a single simulation."""

    def control(simulation: sluice.Simulation, calls: list[int]) -> None:
        wall = simulation.walls["bottom"]

        @wall.response(remove_mean=True)
        def oppose(sim: sluice.Simulation) -> Any:
            return -np.asarray(sim.plane("w", z=0.2))

        @simulation.every(2)
        def count(sim: sluice.Simulation) -> None:
            calls.append(sim.step_number)

        simulation.add_force(update=lambda sim: {"x": -0.1 * sim.u.values})

    calls: list[int] = []
    with sluice.Ensemble(case(), 2) as ensemble:
        for member in ensemble:
            control(member, calls)
        ensemble.step(5)
        assert calls == [2, 2, 4, 4]
        alone = case()
        alone["initial.seed"] = 2
        with sluice.Simulation(alone) as single:
            control(single, [])
            single.step(5)
            assert_equal(ensemble[1], single)


def test_a_member_that_blows_up_leaves_the_others() -> None:
    with sluice.Ensemble(case(**{"time.dt": 1e-3}), 3) as ensemble:
        ensemble.step()
        ensemble[1].u[...] = 1e200
        ensemble.step(5)
        assert [error is None for error in ensemble.errors] == [True, False, True]
        assert isinstance(ensemble.errors[1], sluice.NumericsError)
        assert [member.step_number for member in ensemble][::2] == [6, 6]
        alone = case(**{"time.dt": 1e-3, "initial.seed": 3})
        with sluice.Simulation(alone) as single:
            single.step(6)
            assert_equal(ensemble[2], single)
        for n in (0, 2):
            ensemble[n].u[...] = 1e200
        with pytest.raises(sluice.NumericsError):
            ensemble.step(5)


def test_a_response_that_fails() -> None:
    with sluice.Ensemble(case(), 2) as ensemble:

        @ensemble[0].walls["bottom"].response
        def fail(sim: sluice.Simulation) -> Any:
            raise LookupError("no plane")

        with pytest.raises(LookupError, match="no plane"):
            ensemble.step()
        assert [member.step_number for member in ensemble] == [1, 1]
        ensemble[0].walls["bottom"].response(None)
        ensemble.step()
        assert [member.step_number for member in ensemble] == [2, 2]


def test_files(tmp_path: Path) -> None:
    made = case()
    directory = tmp_path / "out"
    with sluice.Ensemble(made, 2, seeds=[7, 9], output=directory) as ensemble:
        ensemble.run(until=0.2)
    assert json.loads((directory / "ensemble.json").read_text()) == {
        "members": 2,
        "directories": ["member_00", "member_01"],
        "varied": {"initial.seed": [7, 9]},
    }
    with sluice.Ensemble(made, 2, seeds=[7, 9], output=directory, restart="auto") as ensemble:
        assert all(time >= 0.2 for time in ensemble.time)
        ensemble.run(until=0.4)
        alone = case(**{"initial.seed": 9})
        with sluice.Simulation(alone) as single:
            single.run(until=0.4)
            assert_equal(ensemble[1], single)


def contents(folder: Path) -> dict[str, bytes]:
    """Of all files but logs and locks."""
    files = [file for file in folder.rglob("*") if file.is_file() and file.name not in ("log.txt", "lock")]
    return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def test_the_ensemble_of_the_case(tmp_path: Path) -> None:
    """Its members are those of `sluice run`, and arguments set its keys."""
    speeds = [[0.1, 0, 0], ["0.1*sin(t)", 0, 0]]
    section = {"members": 2, "seeds": 5, "vary": {"walls.bottom.velocity": speeds, "flow.reynolds.bulk": [4000, 5000]}}
    made = case(ensemble=section, **{"time.end": 0.3})
    file = tmp_path / "case.yaml"
    file.write_text(made.resolved())
    must(sluice_program("run", file, "--output", tmp_path / "program"))
    with sluice.Ensemble(file.as_posix(), output=tmp_path / "python") as ensemble:
        assert ensemble.varied == {"initial.seed": [5, 6], **section["vary"]}
        ensemble.run()
    for name in ("ensemble.json", *(f"member_0{n}/{output}" for n in range(2) for output in ("timeseries.csv",))):
        assert (tmp_path / "program" / name).read_bytes() == (tmp_path / "python" / name).read_bytes(), name
    with sluice.Ensemble(made, 3, seeds=[1, 1, 2], vary={"time.cfl": np.array([0.5, 0.6, 0.7])}) as other:
        assert other.varied == {"initial.seed": [1, 1, 2], "time.cfl": [0.5, 0.6, 0.7]}
    with sluice.Ensemble(made, 3, seeds=range(4, 7), vary={"time.cfl": (cfl / 10 for cfl in (5, 6, 7))}) as other:
        assert other.varied == {"initial.seed": [4, 5, 6], "time.cfl": [0.5, 0.6, 0.7]}
    assert made["ensemble.members"] == 2


def test_refusals_change_nothing(tmp_path: Path) -> None:
    made, out = case(), tmp_path / "out"
    with sluice.Ensemble(made, 2, vary={"flow.reynolds.bulk": [4000, 5000]}, output=out) as ensemble:
        with pytest.raises(sluice.UsageError, match="another run uses the output directory"):
            sluice.Ensemble(made, 2, output=out, restart="auto")
        ensemble.step(3)
    before = contents(out)
    with pytest.raises(sluice.UsageError, match="holds an ensemble already; use restart="):
        sluice.Ensemble(made, 2, output=out)
    with pytest.raises(sluice.UsageError, match="a checkpoint is of one member"):
        sluice.Ensemble(made, 2, output=out, restart="some.h5")
    with pytest.raises(sluice.RestartError, match=r"(?s)member_01.*flow\.reynolds"):
        sluice.Ensemble(made, 2, vary={"flow.reynolds.bulk": [4000, 5001]}, output=out, restart="auto")
    with pytest.raises(sluice.UsageError, match="cannot have fewer"):
        sluice.Ensemble(made, 1, output=out, restart="auto")
    with pytest.raises(sluice.UsageError, match="results of a single run"):
        sluice.Ensemble(made, 2, output=out / "member_00")
    assert contents(out) == before
    (out / "member_01" / "run.json").write_text("of someone else")
    before = contents(out)
    with pytest.raises(sluice.UsageError, match=r"member_01: .*Sluice did not write it"):
        sluice.Ensemble(made, 2, output=out, overwrite=True)
    assert contents(out) == before


def test_files_stop_and_checkpoint(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with sluice.Ensemble(case(**{"time.end": 1e9}), 2, output=out) as ensemble:
        for name, ended in (("CHECKPOINT", False), ("STOP", True)):
            (out / name).touch()
            ensemble.run(None if ended else ensemble.time.max() + 0.5)
            deadline = time.monotonic() + 60
            while not ended and not list(out.glob("member_01/checkpoints/*.h5")) and time.monotonic() < deadline:
                ensemble.run(ensemble.time.max() + 0.5)
    assert {json.loads((out / f"member_0{n}" / "run.json").read_text())["why_stopped"] for n in range(2)} == {
        "stop requested by file STOP"
    }
    assert not list(out.rglob("STOP")) + list(out.rglob("CHECKPOINT"))


def test_what_is_refused() -> None:
    with pytest.raises(sluice.UsageError, match=r"the case has no ensemble.*members="):
        sluice.Ensemble(case())
    with pytest.raises(sluice.UsageError, match=r"ensemble\.members: '0' is out of range"):
        sluice.Ensemble(case(), 0)
    with pytest.raises(sluice.UsageError, match="2 values for 3 members"):
        sluice.Ensemble(case(), 3, vary={"flow.reynolds.bulk": [100, 200]})
    with pytest.raises(sluice.UsageError, match=r"ensemble\.vary\.grid\.cells: all members have the same value"):
        sluice.Ensemble(case(), 2, vary={"grid.cells": [[16, 12, 20], [16, 12, 22]]})
    with pytest.raises(sluice.UsageError, match=r"the seeds of members are ensemble\.seeds"):
        sluice.Ensemble(case(), 2, vary={"initial.seed": [3, 4]})
    with pytest.raises(sluice.UsageError, match="a list of 2 for 3 members"):
        sluice.Ensemble(case(), 3, seeds=[1, 2])
    with sluice.Simulation(case()) as one:
        with pytest.raises(sluice.UsageError, match="with itself"):
            sluice.step_together([one, one])
        for count in (-1, 1.5, True):
            with pytest.raises(ValueError, match="give the number of steps"):
                sluice.step_together([one], count)  # type: ignore[arg-type]
