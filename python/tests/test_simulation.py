"""Steps, functions between them, snapshots, diagnostics and cases."""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import CHANNEL, assert_same, fields_of

import sluice


def test_steps_and_times(sim: sluice.Simulation) -> None:
    assert (sim.step_number, sim.time, sim.dt) == (0, 0, 0)
    sim.step(3)
    assert sim.step_number == 3 and 0 < sim.dt < sim.time
    end = 4 * sim.time
    sim.run(until=end)
    assert end <= sim.time < end + sim.dt
    steps = sim.step_number
    sim.run(until=end)
    assert sim.step_number == steps


def test_run_ends_with_the_case(channel: sluice.Case) -> None:
    channel["time.end"] = 0.2
    with sluice.Simulation(channel) as sim:
        sim.run()
        assert 0.2 <= sim.time < 0.2 + sim.dt


def test_every(sim: sluice.Simulation) -> None:
    seen: list[int] = []

    @sim.every(3)
    def record(now: sluice.Simulation) -> None:
        assert now is sim and np.isfinite(now.u.values).all()
        seen.append(now.step_number)

    sim.step(7)
    assert seen == [3, 6] and record.__name__ == "record"

    @sim.every(8)
    def steps(now: sluice.Simulation) -> None:
        now.step()

    with pytest.raises(sluice.UsageError, match="must not step"):
        sim.step()
    assert sim.step_number == 8
    sim.step()
    assert seen == [3, 6, 9]


def test_functions_between_steps_are_removed(sim: sluice.Simulation) -> None:
    seen: list[str] = []

    @sim.every(1)
    def once(now: sluice.Simulation) -> None:
        seen.append("once")
        now.unregister(once)
        now.unregister(never)

    @sim.every(1)
    def never(now: sluice.Simulation) -> None:
        seen.append("never")

    @sim.every(1)
    def always(now: sluice.Simulation) -> None:
        seen.append("always")

    sim.step(2)
    assert seen == ["once", "always", "always"]
    sim.every(2)(always)
    sim.unregister(always)
    sim.step(2)
    assert len(seen) == 3
    with pytest.raises(sluice.UsageError, match=r"always.*not registered"):
        sim.unregister(always)


VARIANTS: dict[str, dict[str, Any]] = {
    "implicit": {},
    "explicit": {"time.diffusion": "explicit"},
    "second order": {"solver.order": 2},
    "fixed step": {"time.dt": 0.01},
    "responding walls": {
        "walls.bottom": {"actuation": {"type": "opposition_control", "amplitude": 1, "height": 0.1}},
        "scalars": [],
    },
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_snapshot_restores_the_bits(variant: str, channel: sluice.Case) -> None:
    for key, value in VARIANTS[variant].items():
        channel[key] = value
    with sluice.Simulation(channel) as sim, sluice.Simulation(channel) as other:
        sim.step(5)
        snapshot = sim.snapshot()
        assert (snapshot.step_number, snapshot.time) == (5, sim.time)
        at_snapshot = fields_of(sim)
        sim.step(5)
        once, time = fields_of(sim), sim.time
        sim.restore(snapshot)
        assert sim.step_number == 5
        assert_same(at_snapshot, fields_of(sim))
        sim.u[...] = 3
        sim.step(2)
        sim.restore(snapshot)
        sim.step(5)
        assert sim.time == time
        assert_same(once, fields_of(sim))
        other.restore(snapshot)
        other.step(5)
        assert_same(once, fields_of(other))
    with sluice.Simulation(channel) as uninterrupted:  # a snapshot leaves the bits of the steps that follow
        uninterrupted.step(10)
        assert_same(once, fields_of(uninterrupted))


def test_a_snapshot_of_another_grid_is_refused(sim: sluice.Simulation, channel: sluice.Case) -> None:
    channel["grid.cells"] = [8, 8, 16]
    with sluice.Simulation(channel) as other, pytest.raises(sluice.UsageError, match="another grid"):
        sim.restore(other.snapshot())


def test_a_flow_that_blows_up_can_be_restored(channel: sluice.Case) -> None:
    with sluice.Simulation(channel) as sim:
        sim.step(2)
        snapshot = sim.snapshot()
        sim.step(3)
        expected = fields_of(sim)
        sim.restore(snapshot)
        with np.errstate(all="ignore"):
            sim.u[...] = np.random.default_rng(1).choice([-1e200, 1e200], sim.u.shape)
        with pytest.raises(sluice.NumericsError, match="blow") as caught:
            sim.step(5)
        assert caught.value.exit_code == 5
        sim.restore(snapshot)
        sim.step(3)
        assert_same(expected, fields_of(sim))


def test_ctrl_c_leaves_a_valid_simulation(sim: sluice.Simulation) -> None:
    @sim.every(4)
    def interrupt(now: sluice.Simulation) -> None:
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        sim.step(10)
    assert sim.step_number == 4
    sim.step(2)
    assert sim.diagnostics.max_divergence < 1e-10


def test_diagnostics(sim: sluice.Simulation) -> None:
    sim.step(5)
    now = sim.diagnostics
    assert now.bulk_velocity == pytest.approx(1, abs=1e-12)
    assert now.kinetic_energy > 0.5
    assert now.re_tau_bottom == pytest.approx(now.friction_velocity_bottom * 5600 / 2, rel=1e-12)
    assert set(now.scalars["heat"]) == {"mean", "largest", "flux_bottom", "flux_top"}
    assert np.mean(sim.gather("u")[:, 0, 0]) > 0  # type: ignore[index]


def test_gather(sim: sluice.Simulation) -> None:
    whole = sim.gather("w")
    assert whole is not None and np.array_equal(whole, sim.w.values)
    assert not np.shares_memory(whole, sim.w.values)


def wrong_key(case: sluice.Case) -> None:
    case["grid.cels"] = [8, 8, 8]


def wrong_value(case: sluice.Case) -> None:
    case["grid.cells"] = [8, 8]


def wrong_word(case: sluice.Case) -> None:
    case["time.diffusion"] = "implicit_y"


def too_short(case: sluice.Case) -> None:
    case["time.end"] = -1


WRONG_CASES: dict[str, tuple[Callable[[sluice.Case], None], str]] = {
    "key": (wrong_key, r"case\[.grid.cels.\] = \[8, 8, 8\]: grid.cels: unknown key.*did you mean 'grid.cells'"),
    "value": (wrong_value, "grid.cells"),
    "word": (wrong_word, "implicit_z"),
    "number": (too_short, "time.end"),
}


@pytest.mark.parametrize("what", WRONG_CASES)
def test_a_wrong_case_is_refused(what: str, channel: sluice.Case) -> None:
    change, message = WRONG_CASES[what]
    change(channel)
    with pytest.raises(sluice.UsageError, match=message) as caught:
        channel.check()
    assert caught.value.exit_code == 2
    with pytest.raises(sluice.UsageError, match=message):
        sluice.Simulation(channel)


def test_all_problems_at_once() -> None:
    case = sluice.Case({"flow": {"reynolds": {"bulk": -1}}, "grid": {"cells": [16]}, "color": "red"})
    with pytest.raises(sluice.UsageError, match="problems") as caught:
        case.check()
    assert all(key in str(caught.value) for key in ("flow.reynolds.bulk", "grid.cells", "color"))


def test_values_of_keys(channel: sluice.Case) -> None:
    assert channel["grid.cells"] == [16, 12, 16] and channel["time.cfl"] == 0.9
    channel["time.dt"] = 0.01
    assert channel["time"]["dt"] == 0.01 and channel["time.cfl"] is None
    assert channel["flow.reynolds"] == {"bulk": 5600} and channel["scalars"][0]["name"] == "heat"
    assert channel["solver.order"] in (2, 4) and channel["output.statistics"] == "none"
    for wrong, message in (("grid.cels", "did you mean 'grid.cells'"), ("scalars[0].name", "no key")):
        with pytest.raises(KeyError, match=message):
            channel[wrong]
    with pytest.raises(TypeError, match=r"time\.end"):
        "time.dt" in channel  # type: ignore[operator]  # noqa: B015
    channel["grid.cells"] = [16]
    with pytest.raises(sluice.UsageError, match=r"grid\.cells"):
        channel["time.dt"]


@pytest.mark.parametrize("name", sluice.shipped_cases())
def test_a_value_that_is_read_can_be_set(name: str) -> None:
    case = sluice.Case(name)
    resolved = case.resolved()
    for key in sluice._core.yaml_values(resolved, name):
        case[key] = case[key]
    assert case.resolved() == resolved


# What no simulation from Python does: other commands, and options that it does not have.
OF_COMMANDS = ("src/commands/", "src/bench/", "src/outputs/directory_status.cpp", "io/case/key_pages.cpp")
NOT_FROM_PYTHON = ("--reproducible: on several GPUs", "with --restart auto. The key watchdog changes")


def test_messages_name_arguments_of_python() -> None:
    root = Path(__file__).parents[2]
    for folder in ("core", "io", "model", "solver", "src"):
        for source in (root / folder).rglob("*.cpp"):
            if str(source.relative_to(root)).startswith(OF_COMMANDS):
                continue
            for line in source.read_text().splitlines():
                for text in re.findall(r'"((?:[^"\\]|\\.)*)"', line.partition(" // ")[0]):
                    told = sluice._core.for_python(text.replace("{}", "a.b=1", 1))
                    if not text.startswith(NOT_FROM_PYTHON):
                        assert not re.search(r"(^|[\s(])--(?!mpi=)[a-z]", told), (source, told)


def test_names_and_files(tmp_path: Path) -> None:
    assert {"quickstart", "retau180"} <= set(sluice.shipped_cases())
    with pytest.raises(sluice.UsageError, match=r"there is no case 'retau181'.*retau180"):
        sluice.Case("retau181")
    with pytest.raises(sluice.UsageError, match=r"missing\.yaml"):
        sluice.Case(tmp_path / "missing.yaml")
    with pytest.raises(ValueError, match="JSON compliant"):
        sluice.Case("quickstart")["time.end"] = float("nan")
    with pytest.raises(TypeError, match="cannot hold"):
        sluice.Case("quickstart")["time.end"] = object()
    file = tmp_path / "case.yaml"
    file.write_text(sluice.Case(CHANNEL).resolved())
    assert sluice.Case(file).resolved() == sluice.Case(CHANNEL).resolved()


def test_the_version_is_that_of_the_program() -> None:
    project = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert f'\nversion = "{sluice.__version__}"\n' in project


def test_alternatives_and_copies(channel: sluice.Case) -> None:
    changed = channel.copy()
    changed["flow.reynolds.tau"] = np.float64(180)
    changed["grid.cells"] = np.array([8, 8, 16])
    changed["time.dt"] = 0.001
    assert "tau: 180" in changed.resolved() and "bulk: 5600" not in changed.resolved()
    assert "bulk: 5600" in channel.resolved()
    with sluice.Simulation(changed) as sim:
        sim.step(2)
        assert sim.dt == 0.001 and sim.time == 0.002 and sim.u.shape == (16, 8, 8)


def test_initial_fields(tmp_path: Path, channel: sluice.Case, sim: sluice.Simulation) -> None:
    h5py = pytest.importorskip("h5py")
    sim.step(3)
    with h5py.File(tmp_path / "start.h5", "w") as file:
        for name, field in sim.fields.items():
            file[name] = field.values
    channel["initial"] = {"type": "fields", "file": str(tmp_path / "start.h5")}
    with sluice.Simulation(channel) as other:
        assert other.time == 0
        np.testing.assert_allclose(other.u.values, sim.u.values, atol=1e-12)
    channel["initial"] = {"type": "fields", "file": str(tmp_path / "none.h5")}
    with pytest.raises(sluice.RestartError, match=r"none\.h5"):
        sluice.Simulation(channel)


def test_a_simulation_is_no_ensemble(channel: sluice.Case) -> None:
    channel["ensemble"] = {"members": 2, "vary": {"time.cfl": [0.5, 0.6]}}
    with pytest.raises(sluice.UsageError, match=r"use sluice\.Ensemble, or remove the section"):
        sluice.Simulation(channel)
    assert channel["ensemble"] == {"members": 2, "vary": {"time.cfl": [0.5, 0.6]}}
    channel["ensemble"] = "none"
    with sluice.Simulation(channel) as sim:
        sim.step()
