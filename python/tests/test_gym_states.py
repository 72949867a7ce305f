"""The library of initial states: it is made once, whole or not at all, and by one process."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from conftest import assert_same, fields_of
from gym_case import CASE, STATES, config

import sluice
from sluice.gym import Config, ControlledFlows, States, library_of
from sluice.gym import states as states_module
from sluice.gym.cache import cache_directory, locked, made_once
from sluice.gym.states import library_key


def test_the_library_is_made_once(monkeypatch: pytest.MonkeyPatch) -> None:
    library = library_of(config())
    monkeypatch.setattr(states_module, "_make", None)
    states_module._opened.cache_clear()
    again = library_of(config(interval=7.0))  # what does not change the flow does not change the library
    assert again.folder == library.folder and again.units == library.units and again.count == 3
    assert sorted(path.name for path in library.folder.iterdir()) == [
        "library.json",
        "state_000.npz",
        "state_001.npz",
        "state_002.npz",
    ]
    units = library.units
    assert units.nu == pytest.approx(2 / 5600) and units.lz == 2 and units.bulk_velocity == pytest.approx(1)
    assert 100 < units.re_tau < 300 and units.length * units.u_tau == pytest.approx(units.nu)


def test_states_are_those_of_flows_that_develop() -> None:
    """A state is what a chain had at its time; states differ; a simulation takes them with the same bits each time."""
    library = library_of(config())
    first = library.fields(0)
    assert not any(np.array_equal(first["u"], library.fields(n)["u"]) for n in (1, 2))
    case = sluice.Case(CASE)
    case["initial.seed"] = STATES.seed
    with sluice.Simulation(case) as sim:
        age = 0.0
        while age < STATES.transient:
            begin = sim.time
            sim.step(10)
            shear = (sim.diagnostics.friction_velocity_bottom**2 + sim.diagnostics.friction_velocity_top**2) / 2
            age += (sim.time - begin) * np.sqrt(shear)
        assert_same(first, fields_of(sim))
    flows = ControlledFlows(config(), 2)
    flows.reset({0: 0, 1: 2})
    flows.step()
    flows.reset({0: 2, 1: 0})
    flows.reset({0: 0})
    one, other = (member.sim for member in flows.members)
    assert one.time == other.time == 0
    assert_same(fields_of(one), fields_of(other))
    np.testing.assert_allclose(one.u.values, first["u"], atol=1e-12)
    with pytest.raises(sluice.UsageError, match="no state 3"):
        flows.reset({0: 3})
    flows.close()


def test_the_key_is_that_of_the_flow() -> None:
    def key(settings: dict[str, Any], states: States = STATES) -> str:
        case = sluice.Case(CASE)
        for name, value in settings.items():
            case[name] = value
        return library_key(case, states)

    same = key({})
    assert key({"output.log": {"every": 7}, "title": "another"}) == same
    assert library_key(sluice.Case(CASE), replace(STATES, cache="elsewhere")) == same
    others = [key({"grid.cells": [16, 12, 18]}), key({"time.cfl": 0.5}), key({}, replace(STATES, seed=2))]
    assert len({same, *others}) == 4


def test_where_libraries_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SLUICE_GYM_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_directory() == Path.home() / ".cache" / "sluice"
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_directory() == Path("/caches/sluice")
    monkeypatch.setenv("SLUICE_GYM_CACHE", "/own")
    assert cache_directory() == Path("/own") and cache_directory("given") == Path("given")


def test_what_fails_leaves_nothing(tmp_path: Path) -> None:
    def fail(part: Path) -> None:
        (part / "file").write_text("half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        made_once(tmp_path / "library", fail)
    assert [path.name for path in tmp_path.iterdir()] == ["library.lock"]
    made_once(tmp_path / "library", lambda part: (part / "file").touch())
    assert (tmp_path / "library" / "file").exists()
    (tmp_path / "file").touch()
    with pytest.raises(sluice.FileError, match="cannot be made"):
        made_once(tmp_path / "file" / "library", fail)


def test_a_damaged_library_says_so(tmp_path: Path) -> None:
    library = library_of(config())
    folder = tmp_path / "copy"
    folder.mkdir()
    about = json.loads((library.folder / "library.json").read_text())
    (folder / "library.json").write_text(json.dumps(about))
    (folder / "state_000.npz").write_bytes(b"PK")
    with pytest.raises(sluice.FileError, match=r"state_000\.npz"):
        states_module.StateLibrary(folder).fields(0)
    (folder / "library.json").write_text("{}")
    with pytest.raises(sluice.FileError, match="delete this directory"):
        states_module.StateLibrary(folder)


MAKER = """
import sys
import time
from pathlib import Path
from sluice.gym.cache import made_once

def make(part):
    with (part.parent / "made").open("a") as file:
        file.write("x")
    (part / "file").write_text("half")
    time.sleep(float(sys.argv[2]))
    (part / "file").write_text("whole")

print(made_once(Path(sys.argv[1]) / "library", make).joinpath("file").read_text())
"""


def maker(folder: Path, seconds: float) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", MAKER, folder, str(seconds)], stdout=subprocess.PIPE, text=True)


def test_two_processes_make_one_library(tmp_path: Path) -> None:
    both = [maker(tmp_path, 0.5) for _ in range(2)]
    assert [one.communicate(timeout=60)[0] for one in both] == ["whole\n"] * 2
    assert (tmp_path / "made").read_text() == "x"


def test_a_killed_process_releases_the_lock(tmp_path: Path) -> None:
    killed = maker(tmp_path, 600)
    while not (tmp_path / "made").exists():
        time.sleep(0.01)
    os.kill(killed.pid, signal.SIGKILL)
    killed.wait()
    assert len(list(tmp_path.glob("library.part-*"))) == 1
    assert maker(tmp_path, 0).communicate(timeout=60)[0] == "whole\n"
    assert not list(tmp_path.glob("library.part-*"))
    with locked(tmp_path / "library.lock"):
        pass


def test_a_laminar_flow_warns(tmp_path: Path) -> None:
    case = sluice.Case(CASE)
    case["flow.reynolds"] = {"bulk": 200}
    case["initial.amplitude"] = 0.01
    states = States(count=1, chains=1, transient=0.2, separation=0.1, cache=tmp_path)
    with pytest.warns(RuntimeWarning, match="nearly laminar"):
        library_of(Config(case=case, states=states))
