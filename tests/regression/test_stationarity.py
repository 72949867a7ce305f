"""A flow that repeats itself exactly is not called a transient, and one without wall units is not called laminar."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sluice_run import must, sluice, write_case

COARSE = {
    "domain.size": [4, 4, 2],
    "grid.cells": [8, 8, 16],
    "time": {"steps": 80, "dt": 0.02},
    "initial": {"type": "laminar"},
    "output.statistics": {"start": 0, "every": 1, "block": 0.2},
}
CHANNEL = COARSE | {
    "flow": {"type": "channel", "reynolds": {"viscosity": 0.02}, "forcing": {"pressure_gradient": 0.04}}
}


def evaluated(folder: Path, changes: dict[str, Any]) -> Any:
    """What sluice_post finds in the run of a case."""
    run = pytest.importorskip("sluice_post.run")
    results = pytest.importorskip("sluice_post.results")
    must(sluice("run", write_case(folder, changes)))
    return results.evaluate(run.load_run(folder / "out"))


def test_walls_need_not_carry_a_force_of_round_off(tmp_path: Path) -> None:
    """The bulk velocity of this Couette flow is 0 without any force."""
    flow = {"type": "couette", "reynolds": {"viscosity": 0.02}, "forcing": {"bulk_velocity": 0}}
    results = evaluated(tmp_path, COARSE | {"flow": flow})
    assert results.run.profiles.laminar
    assert results.stationarity.signs() == ""


@pytest.mark.parametrize("varies", [True, False])
def test_the_fluxes_of_a_scalar_that_walls_heat_periodically(tmp_path: Path, varies: bool) -> None:
    """They do not balance over part of a period. With steady walls, an imbalance is a transient, named once."""
    bottom, initial = ("0.5 + 0.4*sin(20*t)", "0.5 - 0.5*z") if varies else (0.5, "0.1*z")
    walls = {"bottom": {"value": bottom}, "top": {"value": -0.4}}
    scalar = {"name": "heat", "prandtl": 1, "walls": walls, "initial": initial}
    results = evaluated(tmp_path, CHANNEL | {"scalars": [scalar]})
    assert [one.name for one in results.stationarity.fluxes] == ["heat"]
    (flux,) = results.stationarity.fluxes
    assert abs(flux.value) > 0.01
    assert flux.is_certain != varies


def test_info_says_nothing_of_averages_in_wall_units_without_walls(tmp_path: Path) -> None:
    box = {"type": "periodic", "reynolds": {"viscosity": 0.02}}
    velocity = ["sin(pi*x/2)*cos(pi*y)*cos(pi*z)", "0", "0"]
    changes = COARSE | {
        "flow": box,
        "grid": {"cells": [8, 8, 16], "stretching": {"type": "uniform"}},
        "initial": {"type": "formula", "velocity": velocity},
    }
    must(sluice("run", write_case(tmp_path, changes)))
    info = must(sluice("info", tmp_path / "out")).out
    assert "statistics" in info
    assert "averages" not in info
    assert "laminar" not in info


def test_info_says_that_one_block_has_no_intervals(tmp_path: Path) -> None:
    changes = CHANNEL | {"initial": {"type": "turbulent"}, "output.statistics.block": 1.5}
    must(sluice("run", write_case(tmp_path, changes)))
    assert "of one block, without intervals\n" in must(sluice("info", tmp_path / "out")).out
