"""The program and sluice_post agree on flows in a magnetic field; a restart keeps the field and its bits."""

from __future__ import annotations

import csv
from math import cosh, sqrt, tanh
from pathlib import Path
from typing import Any

import pytest
from sluice_run import assert_same_results, must, sluice, write_case

HARTMANN, VISCOSITY, FORCE = 8.0, 0.02, 1.0
STATISTICS = {"start": 0, "every": 1, "block": 0.1, "budgets": True}


def laminar(**flow: Any) -> dict[str, Any]:
    """Hartmann flow in its steady state, with a scalar in it."""
    return {
        "flow": {
            "type": "channel",
            "reynolds": {"viscosity": VISCOSITY},
            "forcing": {"pressure_gradient": FORCE},
            "magnetic_field": {"hartmann": HARTMANN},
            **flow,
        },
        "grid": {"cells": [8, 8, 64], "stretching": {"type": "tanh", "factor": 1.6}},
        "time": {"steps": 20, "dt": 0.02, "diffusion": "implicit_z"},
        "initial": {"type": "laminar"},
        "output.statistics": STATISTICS,
    }


def last_row(out: Path) -> dict[str, float]:
    with (out / "timeseries.csv").open() as file:
        return {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}


def test_laminar_hartmann_flow_is_the_exact_one_everywhere(tmp_path: Path) -> None:
    """u = G/(nu Ha^2) (1 - cosh(Ha (z - 1))/cosh(Ha)) in the time series and in the profiles of sluice_post."""
    run = pytest.importorskip("sluice_post.run")
    results = pytest.importorskip("sluice_post.results")
    must(sluice("run", write_case(tmp_path, laminar())))
    row = last_row(tmp_path / "out")
    core = FORCE / (VISCOSITY * HARTMANN**2)
    u_tau = sqrt(VISCOSITY * core * HARTMANN * tanh(HARTMANN))
    assert row["bulk_velocity"] == pytest.approx(core * (1 - tanh(HARTMANN) / HARTMANN), rel=2e-3)
    assert row["re_tau_bottom"] == pytest.approx(u_tau / VISCOSITY, rel=2e-3)
    assert row["re_tau_top"] == pytest.approx(row["re_tau_bottom"], rel=1e-9)

    evaluated = results.evaluate(run.load_run(tmp_path / "out"))
    assert evaluated.flow.name == "Channel flow with a magnetic field"
    assert evaluated.flow.hartmann == pytest.approx(HARTMANN)
    parameters, blocks = run.load_statistics(tmp_path / "out")
    profiles = pytest.importorskip("sluice_post.profiles").wall_profiles(blocks.means(), parameters)
    assert profiles.residual < 1e-9  # the balance of the total stress has the drag
    exact = [core / u_tau * (1 - cosh(HARTMANN * (z - 1)) / cosh(HARTMANN)) for z in profiles.z]
    assert list(profiles.centre["U"]) == pytest.approx(exact, abs=1e-3 * max(exact))


def turbulent() -> dict[str, Any]:
    return {
        "flow": {"reynolds": {"bulk": 4000}, "magnetic_field": {"hartmann": 6}},
        "scalars": [{"name": "c", "walls": {"bottom": {"value": 0}, "top": {"value": 1}}}],
        "time": {"steps": 12, "cfl": 0.9},
        "output.statistics": {"start": 0, "every": 1, "block": 0.2, "budgets": True},
        "output.checkpoint": {"every": 0.1, "keep": 9},
    }


def test_a_restart_keeps_the_magnetic_field(tmp_path: Path) -> None:
    """With the same bits; another Hartmann number needs --allow-change. No profiles of forces are stored."""
    h5py = pytest.importorskip("h5py")
    case = write_case(tmp_path, turbulent())
    whole, parts = tmp_path / "whole", tmp_path / "parts"
    must(sluice("run", case, "--output", whole))
    must(sluice("run", case, "--output", parts, "--steps", "7"))
    refused = sluice("run", case, "--output", parts, "--restart", "auto", "--set", "flow.magnetic_field.hartmann=7")
    assert refused.code == 3
    assert "flow.magnetic_field: {hartmann: 6} -> {hartmann: 7}" in refused.text
    refused = sluice("run", case, "--output", parts, "--restart", "auto", "--set", "flow.magnetic_field=none")
    assert refused.code == 3
    assert "flow.magnetic_field: {hartmann: 6} -> none" in refused.text
    must(sluice("run", case, "--output", parts, "--restart", "auto"))
    assert_same_results(whole, parts)
    with h5py.File(whole / "statistics.h5") as file:
        assert "c_u_advection" in file
        assert "c_u_coriolis" not in file
