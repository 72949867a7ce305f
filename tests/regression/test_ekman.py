"""The program and sluice_post agree on flows over one wall: lengths are in h, and u_tau is of the whole wall stress."""

from __future__ import annotations

import csv
import re
from math import pi, sqrt
from pathlib import Path
from typing import Any

import pytest
from sluice_run import must, sluice, write_case

RE_D = 40.0
U_TAU = sqrt(sqrt(2) / RE_D)  # of the exact laminar layer with G = D = 1: u_tau^2 = sqrt(2) nu G/D
STATISTICS = {"start": 0, "every": 1, "block": 0.5}


def layer(geostrophic: list[float]) -> dict[str, Any]:
    """A laminar Ekman layer in its steady state, in units of D and G, 12 D high."""
    return {
        "flow": {
            "type": "open_channel",
            "reynolds": {"viscosity": 1 / RE_D},
            "rotation": {"number": 2 / RE_D, "axis": "wall_normal", "geostrophic": geostrophic},
        },
        "domain.size": [4, 4, 12],
        "grid": {"cells": [8, 8, 64], "stretching": {"type": "tanh", "factor": 2}},
        "time": {"steps": 40, "dt": 0.05, "diffusion": "implicit_z"},
        "initial": {"type": "laminar"},
        "output.statistics": STATISTICS,
        "output.spectra": STATISTICS,
    }


FREE_SLIP_BELOW = {
    "walls": {"bottom": {"type": "free_slip"}},
    "time": {"steps": 40, "dt": 0.01, "diffusion": "implicit_z"},
    "initial": {"type": "laminar"},
    "output.statistics": {**STATISTICS, "block": 0.1},
}


def run_all(folder: Path, changes: dict[str, Any]) -> tuple[dict[str, float], str, Any]:
    """The last row of the time series, what `info` prints, and the run as sluice_post opens it."""
    run = pytest.importorskip("sluice_post.run")
    results = pytest.importorskip("sluice_post.results")
    must(sluice("run", write_case(folder, changes)))
    with (folder / "out" / "timeseries.csv").open() as file:
        row = {name: float(value) for name, value in list(csv.DictReader(file))[-1].items()}
    return row, must(sluice("info", folder / "out")).out, results.evaluate(run.load_run(folder / "out"))


@pytest.mark.parametrize("geostrophic", [[1, 0], [0.6, -0.8], [-0.6, 0.8]])
def test_a_laminar_ekman_layer_is_the_exact_one_everywhere(tmp_path: Path, geostrophic: list[float]) -> None:
    """Whatever the direction of the geostrophic velocity and the height of the domain."""
    row, info, results = run_all(tmp_path, layer(geostrophic))
    re_tau = U_TAU * RE_D
    assert row["re_tau_bottom"] == pytest.approx(re_tau, rel=3e-3)
    printed = re.search(r" re_tau ([\d.]+)", info)
    assert printed
    assert float(printed[1]) == pytest.approx(row["re_tau_bottom"], rel=1e-3)
    assert "u_center" not in info
    figures = {figure.key: figure.value for figure in results.table}
    assert figures["re_tau"] == pytest.approx(row["re_tau_bottom"], rel=1e-6)
    assert results.last_third[0].value == pytest.approx(figures["re_tau"], rel=1e-6)
    assert figures["u_tau_g"] == pytest.approx(U_TAU, rel=3e-3)
    assert figures["angle"] == pytest.approx(45, abs=0.2)
    assert figures["cf"] == pytest.approx(2 * U_TAU**2, rel=6e-3)
    assert figures["delta_plus"] == pytest.approx(U_TAU**2 * RE_D**2 / 2, rel=6e-3)
    assert not {"re_b", "u_b_plus", "u_c_plus"} & figures.keys()
    assert results.run.profiles.residual < 1e-6
    spectra = pytest.importorskip("sluice_post.spectra").wall_spectra(
        results.run.spectra.means(), results.run.parameters
    )
    assert spectra.re_tau == pytest.approx(figures["re_tau"], rel=1e-6)
    assert results.resolution.has_periods
    assert results.resolution.averaged == pytest.approx(1.95 * (2 / RE_D) / (2 * pi), rel=0.05)


def test_re_tau_over_a_single_wall_of_a_channel_is_that_of_the_time_series(tmp_path: Path) -> None:
    """The channel is 2 h high, so its only wall is 2 h away from the other end, but h is still the unit of length."""
    row, info, results = run_all(tmp_path, FREE_SLIP_BELOW)
    printed = re.search(r" re_tau ([\d.]+)", info)
    assert printed
    assert float(printed[1]) == pytest.approx(row["re_tau_top"], rel=1e-3)
    assert results.figure("re_tau").value == pytest.approx(row["re_tau_top"], rel=1e-3)


def test_info_and_reports_form_cf_between_moving_walls_with_the_geostrophic_velocity(tmp_path: Path) -> None:
    flow = layer([1, 0])["flow"] | {"type": "couette"}
    changes = layer([1, 0]) | {
        "flow": flow,
        "domain.size": [4, 4, 2],
        "time": {"steps": 40, "dt": 0.02, "diffusion": "implicit_z"},
    }
    _, info, results = run_all(tmp_path, changes)
    printed = re.search(r" cf ([\d.]+)", info)
    assert printed
    assert float(printed[1]) == pytest.approx(results.figure("cf").value, rel=1e-3)
