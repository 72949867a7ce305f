"""The energy of runs and benchmarks, on a host with two CPU packages of constant power (powercap_stand_in.cpp)."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from sluice_run import Outcome, must, record, rows, sluice, write_case

CASE = {
    "grid.cells": [32, 24, 32],
    "time.steps": 40,
    "output.timeseries.every": 60,
    "output.checkpoint": {"every": 100.0, "keep": 2},
    **dict.fromkeys(["output.statistics", "output.slices", "output.probes"]),
}


def measured(*args: object, watts: str = "70 30", ranks: int = 0) -> Outcome:
    """Runs the program where the packages take this power."""
    stand_in = {"LD_PRELOAD": os.environ["SLUICE_POWERCAP_STAND_IN"], "SLUICE_PACKAGE_WATTS": watts}
    return must(sluice(*args, ranks=ranks, env=stand_in))


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_run_and_its_restart_have_their_own_energy(tmp_path: Path, ranks: int) -> None:
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    outcome = measured("run", case, "--output", out, ranks=ranks)
    first = record(out)["energy"]
    measured("run", case, "--output", out, "--steps", 60, "--restart", "auto", ranks=ranks)
    both = record(out)["runs"]
    assert both[0]["energy"] == first
    begin = 0.0
    for run, steps in zip(both, (40, 20), strict=True):
        energy = run["energy"]
        assert (energy["device"], energy["devices"]) == ("CPU package", 2)
        assert energy["watts"] == pytest.approx(70 + 30, rel=0.2)  # of a second, on a machine that may be busy
        assert energy["joules"] == pytest.approx(energy["watts"] * energy["seconds"])
        per_point_step = energy["joules"] / (steps * 32 * 24 * 32)
        assert energy["nj_per_point_per_step"] == pytest.approx(1e9 * per_point_step)
        # From the first step to the last output.
        spent = run["stepping_seconds"] + run["output_seconds"]
        assert spent <= energy["seconds"] < run["wall_seconds"]
        per_time = energy["joules"] / (run["time"] - begin)
        begin = run["time"]
        assert energy["joules_per_h_over_u_tau"] == pytest.approx(per_time / energy["u_tau"])
    last = rows(out)[-1]
    assert last["step"] == 60
    mean_square = np.mean([last["re_tau_bottom"] ** 2, last["re_tau_top"] ** 2])
    assert both[1]["energy"]["u_tau"] == pytest.approx(2 / 5600 * np.sqrt(mean_square))

    form = r"energy of 2 CPU packages: (\S+) J in .*, (\S+) nJ per point and step, (\S+) J per h/u_tau"
    found = re.search(form, outcome.out)
    assert found is not None, outcome.out
    keys = ("joules", "nj_per_point_per_step", "joules_per_h_over_u_tau")
    assert [float(text) for text in found.groups()] == pytest.approx([first[key] for key in keys], rel=1e-3)


def test_counters_that_cannot_be_read(tmp_path: Path) -> None:
    """run.json says why; a run on CPUs logs nothing about it."""
    case, out = write_case(tmp_path, {**CASE, "time.steps": 3}), tmp_path / "out"
    outcome = measured("run", case, "--output", out, watts="70 0")
    why = "/sys/class/powercap/intel-rapl:1/energy_uj cannot be read (it contains no energy)"
    assert record(out)["energy"] == {"not_measured": why}
    again = measured("run", case, "--output", out, "--restart", "auto")
    assert record(out)["energy"] == {"not_measured": "no step was taken"}
    for text in (outcome.text, again.text):
        assert "energy:" not in text
        assert "energy of" not in text


def test_a_flow_without_wall_stress_has_no_friction_time(tmp_path: Path) -> None:
    walls = {"bottom": {"type": "free_slip"}, "top": {"type": "free_slip"}}
    case, out = write_case(tmp_path, {**CASE, "time.steps": 3, "walls": walls}), tmp_path / "out"
    measured("run", case, "--output", out)
    energy = record(out)["energy"]
    assert energy["joules"] > 0
    assert not {"u_tau", "joules_per_h_over_u_tau"} & set(energy)


def test_bench_step(tmp_path: Path) -> None:
    file = tmp_path / "step.json"
    bench = ("bench", "step", "--grid", "16,16,16", "--repeats", 3, "--json", file)
    outcome = measured(*bench, ranks=2)
    energy = json.loads(file.read_text())["energy"]
    assert (energy["device"], energy["devices"]) == ("CPU package", 2)
    assert energy["watts"] == pytest.approx(70 + 30, rel=0.05)
    steps = 1e9 * energy["joules"] / energy["nj_per_point_per_step"] / 16**3
    assert steps == pytest.approx(round(steps))
    assert round(steps) > 3
    assert energy["seconds"] >= 4  # whatever the first steps took
    assert re.search(r"^energy of 2 CPU packages: \S+ J in ", outcome.out, re.MULTILINE)
    assert "h/u_tau" not in outcome.out

    outcome = measured(*bench, watts="")
    why = "the system has no energy counter of a CPU package in /sys/class/powercap"
    assert json.loads(file.read_text())["energy"] == {"not_measured": why}
    assert f"\nenergy: not measured ({why})\n" in outcome.out


@pytest.mark.parametrize("ranks", [0, 2])
def test_an_ensemble_has_the_energy_of_all_members(tmp_path: Path, ranks: int) -> None:
    case, out = write_case(tmp_path, {**CASE, "ensemble": {"members": 3}}), tmp_path / "out"
    text = measured("run", case, "--output", out, ranks=ranks).out
    found = re.search(r"energy of 2 CPU packages: (\S+) J in (\S+) s .*, (\S+) nJ per point and step", text)
    assert found is not None, text
    joules, seconds, nanojoules = map(float, found.groups())
    assert joules == pytest.approx((70 + 30) * seconds, rel=0.2, abs=10)
    assert nanojoules == pytest.approx(1e9 * joules / (3 * 40 * 32 * 24 * 32), rel=1e-3)
    assert "not_measured" in record(out / "member_00")["energy"]
