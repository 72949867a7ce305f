"""Members of an ensemble have the bits of single simulations."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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


def test_what_is_refused() -> None:
    with pytest.raises(sluice.UsageError, match="at least one member"):
        sluice.Ensemble(case(), 0)
    with pytest.raises(sluice.UsageError, match="2 values for 3 members"):
        sluice.Ensemble(case(), 3, vary={"flow.reynolds.bulk": [100, 200]})
    with pytest.raises(sluice.UsageError, match="the same grid"):
        sluice.Ensemble(case(), 2, vary={"grid.cells": [[16, 12, 20], [16, 12, 22]]})
    with pytest.raises(sluice.UsageError, match="seeds once"):
        sluice.Ensemble(case(), 2, seeds=[1, 2], vary={"initial.seed": [3, 4]})
    with sluice.Simulation(case()) as one:
        with pytest.raises(sluice.UsageError, match="with itself"):
            sluice.step_together([one, one])
        for count in (-1, 1.5, True):
            with pytest.raises(ValueError, match="give the number of steps"):
                sluice.step_together([one], count)  # type: ignore[arg-type]
