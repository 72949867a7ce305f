"""What `sluice check` says about blocks, machines, controls, convection, flat flows, output and paths."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sluice_run import BINARY, FLAGS, MPIRUN, must, sluice, write_case
from test_check import GOOD, ROOT, warnings_of

OSCILLATION = {"actuation": {"type": "oscillation", "amplitude": 0.6, "period": 10}}


@pytest.mark.parametrize(
    ("start", "block", "every"), [(0, 30, 5), (20, 17, 5), (0, 18.57, 5), (7, 90, 5), (3.3, 200, 5), (0, 40, 100)]
)
def test_advice_about_blocks_is_followed_once(tmp_path: Path, start: float, block: float, every: int) -> None:
    """Blocks that do not fit, or are too few, with an end of 130: one warning, and none with what it advises."""
    statistics = {"start": start, "every": every, "block": block}
    changes = {**GOOD, "time.end": 130, "output.statistics": statistics}
    (warning,) = warnings_of(write_case(tmp_path, changes))
    advised = re.search(r"block of ([0-9.]+)(, or|$)", warning)
    assert advised, warning
    statistics["block"] = float(advised.group(1))
    assert warnings_of(write_case(tmp_path, {**changes, "output.statistics": statistics})) == []


@pytest.mark.parametrize("machine", sorted((ROOT / "machines").glob("*.yaml")), ids=lambda path: path.stem)
@pytest.mark.parametrize("changes", [{}, {"time.diffusion": "explicit"}])
def test_machine_files_serve_the_default_order(tmp_path: Path, machine: Path, changes: dict[str, Any]) -> None:
    text = must(sluice("check", write_case(tmp_path, {**GOOD, **changes}), "--machine", machine)).out
    assert re.search(r"^step +\d", text, re.M), text


def test_controls_in_wall_units_name_the_friction_velocity(tmp_path: Path) -> None:
    wall = {"actuation": {"type": "oscillation", "amplitude": 12, "period": 125, "units": "wall", "re_tau": 180}}
    text = must(sluice("check", write_case(tmp_path, {**GOOD, "walls.bottom": wall}))).out
    assert "amplitude 12, period 125 in wall units of the u_tau that re_tau: 180 sets, 0.06429" in text
    text = must(sluice("check", write_case(tmp_path, {**GOOD, "walls.bottom": OSCILLATION}))).out
    assert re.search(r"amplitude 9\.\d+, period \d+.* in wall units of the expected u_tau, 0.06", text)


@pytest.mark.parametrize(
    ("changes", "effects"),
    [
        ({}, ""),
        ({"walls.bottom": OSCILLATION}, "actuated walls"),
        ({"walls.top": {"type": "slip", "slip_length": 0.01}}, "slip"),
        ({"flow.rotation": {"number": 0.1, "axis": "spanwise"}}, "rotation"),
        (
            {"walls.bottom": OSCILLATION, "flow.rotation": {"number": 0.1, "axis": "spanwise"}},
            "actuated walls and rotation",
        ),
        (
            {
                "walls.bottom": OSCILLATION,
                "walls.top": {"type": "slip", "slip_length": 0.01},
                "flow.rotation": {"number": 0.1, "axis": "spanwise"},
            },
            "actuated walls, slip and rotation",
        ),
        ({"flow.reynolds": {"tau": 180}, "walls.bottom": OSCILLATION}, ""),
    ],
)
def test_what_the_estimate_of_the_friction_leaves_out(tmp_path: Path, changes: dict[str, Any], effects: str) -> None:
    """A given pressure gradient sets the friction, whatever else acts on the flow."""
    text = must(sluice("check", write_case(tmp_path, {**GOOD, **changes}))).out
    without = f", without the effect of {effects}" if effects else ""
    assert re.search(rf"^Re_tau .* expected if turbulent \(from the law of the wall{without}; u_tau", text, re.M), text


def test_an_open_channel_has_a_surface_and_no_centre(tmp_path: Path) -> None:
    changes = {"flow.type": "open_channel", "domain.size": ["4*pi", "2*pi", 1], "grid.cells": [96, 96, 40]}
    text = must(sluice("check", write_case(tmp_path, {**GOOD, **changes}))).out
    assert "dz+ at the surface coarse (limit" in text
    assert " at the surface)" in text and "centre fine" not in text and "at the centre" not in text


def test_convection(tmp_path: Path) -> None:
    """Rayleigh-Benard: Ra = beta dT g H^3 / (nu kappa), here 0.01 x 8 / (0.01 x 0.01)."""
    case = write_case(
        tmp_path,
        {
            **GOOD,
            "flow": {
                "type": "channel",
                "reynolds": {"viscosity": 0.01},
                "forcing": "none",
                "buoyancy": {"scalar": "T", "richardson": 0.01},
            },
            "scalars": [{"name": "T", "walls": {"bottom": {"value": 1}, "top": {"value": 0}}}],
            "output.statistics": None,
        },
    )
    text = must(sluice("check", case)).out
    assert "unstable between its walls: Rayleigh 800 of the layer, at rest below 1708\n" in text
    for wrong in ("Ri_tau", "Re_tau", "laminar", "inf)", "nan", "will die out"):
        assert wrong not in text


def test_two_dimensional_flow(tmp_path: Path) -> None:
    text = must(sluice("check", write_case(tmp_path, {**GOOD, "grid.cells": [96, 1, 128]}))).out
    assert "two-dimensional, with one cell along y: not turbulent at any Reynolds number" in text
    for wrong in ("expected if turbulent", "wall units", "h/u_tau"):
        assert wrong not in text
    assert warnings_of(write_case(tmp_path, {**GOOD, "grid.cells": [96, 1, 128], "initial": {"type": "laminar"}})) == []


def test_time_of_the_output(tmp_path: Path) -> None:
    """A block at every step: the forecast is that of a run, within a factor that machines differ by."""
    changes = {
        **GOOD,
        "grid.cells": [8, 6, 64],
        "time": {"steps": 1500, "dt": 0.02},
        "output.checkpoint": "none",
        "output.statistics": {"every": 1, "block": 0.01},
    }
    case = write_case(tmp_path, changes)
    text = must(sluice("check", case)).out
    found = re.search(r"^output time +adds (\d+) s: .*blocks (\d+) s", text, re.M)
    assert found, text
    must(sluice("run", case))
    taken = json.loads((tmp_path / "out" / "run.json").read_text())["output_seconds"]
    assert taken / 8 < float(found.group(1)) < taken * 8


def test_paths_with_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def directory(text: str) -> str:
        out = must(sluice("check", write_case(tmp_path, {**GOOD, "output.directory": text}))).out
        (found,) = re.findall(r"^directory +(.*)$", out, re.M)
        return str(found)

    monkeypatch.setenv("HOME", "/home/someone")
    monkeypatch.setenv("SCRATCH", "/scratch/p1")
    monkeypatch.setenv("EMPTY", "")
    monkeypatch.delenv("NOWHERE", raising=False)
    assert directory("out") == str(tmp_path / "out")
    assert directory("~/runs/a") == "/home/someone/runs/a"
    assert directory("$SCRATCH/a") == "/scratch/p1/a"
    assert directory("${SCRATCH}_2/~/a") == "/scratch/p1_2/~/a"
    assert directory("/$(touch x)/a$") == "/$(touch x)/a$"
    for text, message in {
        "$NOWHERE/a": "the environment variable NOWHERE is not set",
        "${EMPTY}/a": "the environment variable EMPTY is empty",
        "~you/a": "~USER is not supported",
        "${SCRATCH/a": "${ in a path must begin the name",
    }.items():
        refused = sluice("check", write_case(tmp_path, {**GOOD, "output.directory": text}))
        assert refused.code == 2
        assert f"output.directory: {message}" in refused.err
    table = {"bulk_velocity": {"table": "$NOWHERE/table"}}
    refused = sluice("check", write_case(tmp_path, {**GOOD, "flow.forcing": table}))
    assert refused.code == 2
    assert "has a problem:" in refused.err
    assert "NOWHERE is not set" in refused.err


def test_variables_are_those_of_rank_0(tmp_path: Path) -> None:
    """A launcher need not give the environment to all ranks."""
    case = write_case(
        tmp_path, {**GOOD, "grid.cells": [8, 6, 16], "time": {"steps": 1}, "output.directory": "$OF_ZERO/x"}
    )
    command = f'[ "$OMPI_COMM_WORLD_RANK" = 0 ] && export OF_ZERO={tmp_path}; exec "$0" run {case}'
    ended = subprocess.run(
        [MPIRUN, "-n", "2", *FLAGS, "sh", "-c", command, BINARY], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    assert (tmp_path / "x" / "run.json").exists()


def test_what_is_not_known_is_not_forecast(tmp_path: Path) -> None:
    """The velocity of convection is not known, nor is the time step: only lower bounds of times can be given."""
    convection = {
        **GOOD,
        "domain.size": ["2*pi", "pi", 2],
        "grid.velocity": 0,
        "flow": {
            "type": "channel",
            "reynolds": {"viscosity": 0.01},
            "forcing": "none",
            "buoyancy": {"scalar": "T", "richardson": 1},
        },
        "scalars": [{"name": "T", "walls": {"bottom": {"value": 1}, "top": {"value": 0}}}],
        "time": {"end": 1, "cfl": 0.9},
        "grid.cells": [8, 8, 16],
        "output.statistics": None,
    }
    text = must(sluice("check", write_case(tmp_path, convection))).out
    assert re.search(r"^steps +at least \d+ to time 1$", text, re.M), text
    assert re.search(r"^wall time +not known; ", text, re.M), text
    assert re.search(r"^output time +not known$", text, re.M), text
    assert "core-hours" not in text
    fixed = must(sluice("check", write_case(tmp_path, {**convection, "time": {"steps": 2, "dt": 1e-3}}))).out
    assert re.search(r"^wall time +less than 1 s at .*: less than 0.01 core-hours", fixed, re.M), fixed
    assert "about less" not in fixed


def test_the_constant_force_that_is_assumed_for_a_pulsating_one(tmp_path: Path) -> None:
    changes = {**GOOD, "flow.reynolds": {"viscosity": 0.05}, "flow.forcing": {"pressure_gradient": "cos(t)"}}
    text = must(sluice("check", write_case(tmp_path, changes))).out
    assert re.search(r"the forecasts below assume a constant value of -?[\d.]+, its root mean square\n", text)
