"""Scalars: numbers and profiles with known answers."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from matplotlib.figure import Figure
from synthetic import Flow, laminar_poiseuille, turbulent_profiles, write_timeseries
from synthetic_scalars import heated, line_of_case, mean_of, scalar_moments, write_scalars

from sluice_post import cli
from sluice_post import open as open_run
from sluice_post.errors import UsageError
from sluice_post.run import load_statistics
from sluice_post.scalar_numbers import evaluate_scalars, table_text
from sluice_post.scalars import Scalar, ScalarWall, scalars_in
from sluice_post.uncertainty import mean_with_interval


def evaluated(directory, side=None):
    parameters, blocks = load_statistics(directory)
    found, problems = evaluate_scalars(blocks, parameters, side)
    assert problems == []
    return {scalar.name: scalar for scalar in found}


def conduction(flow, raw, kappa, bottom, top):
    gradient = np.full(flow.z_face.size, (top - bottom) / flow.z_face[-1])
    return scalar_moments(flow, raw, mean_of(flow, gradient, bottom), kappa * gradient)


def test_scalars_of_a_resolved_case():
    text = line_of_case("t2", 0.71, "value: 0", "flux: -1e-3", "{streamwise: 0.5}") + line_of_case("c")
    assert scalars_in(text) == (
        Scalar("t2", 0.71, ScalarWall("value", 0), ScalarWall("flux", -1e-3), "streamwise", 0.5),
        Scalar("c", 1, ScalarWall("value", 0), ScalarWall("value", 0)),
    )


def test_walls_that_vary():
    def read(bottom, top):
        return scalars_in(line_of_case("c", 1, bottom, top))[0]

    wave, other = 'value: "1 + sin(x - min(t, 1))"', 'value: "sin(t)"'
    scalar = read(wave, "flux: 0.5")
    assert scalar.bottom == ScalarWall("value", formula="1 + sin(x - min(t, 1))")
    assert scalar.top == ScalarWall("flux", 0.5)
    parities = [read(*walls).parity_of_walls for walls in ((wave, wave), (wave, other), (other, "value: 0"))]
    assert parities == [1, 0, 0]


@pytest.mark.parametrize("flow_type", ["channel", "couette"])
@pytest.mark.parametrize("walls", [(1.0, -1.0), (-3.0, 5.0)])
def test_conduction_has_nusselt_number_one(tmp_path, flow_type, walls):
    flow = Flow(flow_type=flow_type, cells=(16, 16, 20))
    raw = turbulent_profiles(flow)
    kappa = flow.viscosity / 0.5
    case = line_of_case("c", 0.5, f"value: {walls[0]}", f"value: {walls[1]}")
    directory = write_scalars(
        tmp_path / "statistics.h5", flow, raw, [(case, [conduction(flow, raw, kappa, *walls)] * 2)]
    )
    found = evaluated(directory)["c"]
    assert found.numbers["nu"] == pytest.approx(1, rel=1e-12)
    assert found.numbers["c_tau"] == pytest.approx(kappa * (walls[0] - walls[1]) / 2 / flow.u_tau, rel=1e-9)
    assert found.numbers["imbalance"] == pytest.approx(0, abs=1e-12)
    assert found.numbers["residual"] < 1e-12
    # Theta+ = Pr z+ all the way, whichever wall is the hot one.
    np.testing.assert_allclose(found.profiles.centre["C"], 0.5 * found.profiles.wall.z_plus, rtol=1e-9)


@pytest.mark.parametrize(("source", "exact"), [("uniform", 10.0), ("streamwise", 140 / 17)])
def test_laminar_heat_transfer(tmp_path, source, exact):
    errors = []
    for nz in (40, 80):
        flow = Flow(cells=(16, 16, nz), stretching=1.2)
        raw = laminar_poiseuille(flow)
        heat = 0.3 * (raw["u"] if source == "streamwise" else np.ones(nz))
        moments = heated(flow, raw, heat, flow.viscosity / 0.71)
        case = line_of_case("theta", 0.71, source=f"{{{source}: 0.3}}")
        directory = write_scalars(tmp_path / f"{nz}" / "statistics.h5", flow, raw, [(case, [moments])])
        found = evaluated(directory)["theta"]
        errors.append(found.numbers["nu"] / exact - 1)
        bulk = raw["u"] @ np.diff(flow.z_face) / 2
        peclet = bulk * 4 / (flow.viscosity / 0.71)
        assert found.numbers["st"] == pytest.approx(found.numbers["nu"] / peclet)
        assert found.numbers["imbalance"] == pytest.approx(0, abs=1e-12)
        assert found.numbers["residual"] < 1e-12
        assert found.profiles.constant
    assert abs(errors[1]) < 2e-3
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.1)  # second order


def turbulent_scalar(flow, raw, prandtl, prandtl_t, sign=1.0, r_uc=0.6, r_wc=0.4):
    """Walls at 0, uniform source, a known turbulent Prandtl number and known correlation coefficients."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(-raw["uw"] / raw["tau_xz"]) * prandtl / prandtl_t
    moments = heated(flow, raw, sign * np.ones(flow.z.size), flow.viscosity / prandtl, ratio)
    wc = (moments["_w"][1:] + moments["_w"][:-1]) / 2
    c, variance = moments[""], (wc / r_wc) ** 2 / raw["ww"]
    u_rms = np.sqrt(raw["uu"] - raw["u"] ** 2)
    uc = sign * r_uc * u_rms * np.sqrt(variance)
    return scalar_moments(flow, raw, c, moments["_gradient_flux"], moments["_w"], variance, uc)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_turbulent_prandtl_number_and_correlations(tmp_path, sign):
    flow = Flow(cells=(16, 16, 48))
    raw = turbulent_profiles(flow)
    case = line_of_case("theta", 0.71, source=f"{{uniform: {sign:g}}}")
    moments = turbulent_scalar(flow, raw, 0.71, 0.85, sign)
    directory = write_scalars(tmp_path / "statistics.h5", flow, raw, [(case, [moments] * 3)])
    profiles = evaluated(directory)["theta"].profiles
    assert profiles.side == "both"
    assert profiles.wall_flux == pytest.approx(-sign, rel=1e-12)  # heat leaves a heated fluid
    np.testing.assert_allclose(profiles.face["Pr_t"][1:-1], 0.85, rtol=1e-9)
    np.testing.assert_allclose(profiles.centre["R_uc"], 0.6, rtol=1e-6)
    np.testing.assert_allclose(profiles.centre["R_wc"], -0.4, rtol=1e-6)
    np.testing.assert_allclose(profiles.centre["skew_c"], -0.4 * -sign, rtol=1e-6)
    np.testing.assert_allclose(profiles.centre["flat_c"], 3.3, rtol=1e-6)
    np.testing.assert_allclose(profiles.face["total"], 1 - profiles.wall.z_face, atol=1e-12)
    assert np.all(np.diff(profiles.centre["C"]) > 0)
    np.testing.assert_allclose(-profiles.centre["outer_C"] / profiles.c_tau, profiles.centre["C"])


def test_halves_that_differ_are_not_averaged(tmp_path):
    """One adiabatic wall: the scalar is seen from the other one, and the adiabatic wall has no wall units."""
    flow = Flow(cells=(16, 16, 20))
    raw = turbulent_profiles(flow)
    gradient_flux = 1.0 * (2 - flow.z_face)  # no flux at the top
    mean = mean_of(flow, gradient_flux / flow.viscosity, 0.0)
    case = line_of_case("theta", 1, "value: 0", "flux: 0", "{uniform: 1}")
    moments = scalar_moments(flow, raw, mean, gradient_flux)
    directory = write_scalars(tmp_path / "statistics.h5", flow, raw, [(case, [moments] * 2)])
    found, problems = evaluate_scalars(*reversed(load_statistics(directory)))
    assert [scalar.name for scalar in found] == ["theta_bottom"]
    assert problems == ["no mean flux of theta passes the top wall: wall units of the scalar are not defined"]
    assert found[0].profiles.wall_flux == pytest.approx(-2)
    np.testing.assert_allclose(found[0].profiles.face["total"], 1 - flow.z_face[:11] / 2, atol=1e-12)


def test_averaged_halves_are_those_seen_from_each_wall(tmp_path):
    """Of an antisymmetric scalar: the mean of both views in the units of the case, c changing its sign."""
    flow = Flow(cells=(16, 16, 20))
    raw = turbulent_profiles(flow)
    moments = conduction(flow, raw, flow.viscosity, 1.0, -1.0)
    moments[""] = moments[""] + 0.1 * np.exp(-flow.z)  # differs between the halves
    moments["_u"] = raw["u"] * moments[""]
    moments["_w"] = 1e-4 * np.sin(np.pi * flow.z_face / 2) * (1 + flow.z_face)
    case = line_of_case("c", 1, "value: 1", "value: -1")
    directory = write_scalars(tmp_path / "statistics.h5", flow, raw, [(case, [moments] * 2)])
    both, bottom, top = (
        evaluated(directory, side)[name].profiles
        for side, name in (("both", "c"), ("bottom", "c_bottom"), ("top", "c_top"))
    )
    for name in ("C",):
        expected = (bottom.centre[f"outer_{name}"] - top.centre[f"outer_{name}"]) / 2
        np.testing.assert_allclose(both.centre[f"outer_{name}"], expected, rtol=1e-12)
    expected = (bottom.face["outer_wc"] - top.face["outer_wc"]) / 2
    np.testing.assert_allclose(both.face["outer_wc"], expected, atol=1e-15)


def test_interval_of_the_friction_value(tmp_path):
    """The interval of c_tau is that of the mean of the blocks, since u_tau is the same in all of them."""
    flow = Flow(cells=(16, 16, 20))
    raw = turbulent_profiles(flow)
    plain = turbulent_scalar(flow, raw, 1.0, 0.9)
    factors = 1 + 0.05 * np.random.default_rng(5).normal(size=12)
    blocks = [plain | {"_gradient_flux": factor * plain["_gradient_flux"]} for factor in factors]
    case = line_of_case(source="{uniform: 1}")
    directory = write_scalars(tmp_path / "statistics.h5", flow, raw, [(case, blocks)])
    found = evaluated(directory)["theta"]
    expected = mean_with_interval(-factors / flow.u_tau)
    assert found.numbers["c_tau"] == pytest.approx(expected.mean, rel=1e-9)
    assert found.widths["c_tau"] == pytest.approx(expected.half_width, rel=1e-6)
    assert np.all(found.data.conduction_ci95[1:] >= 0)


@pytest.fixture
def heated_run(tmp_path):
    flow = Flow(cells=(16, 16, 48))
    raw = turbulent_profiles(flow)
    case = line_of_case("theta", 0.71, source="{uniform: 1}")
    moments = turbulent_scalar(flow, raw, 0.71, 0.85)
    directory = write_scalars(tmp_path / "run" / "statistics.h5", flow, raw, [(case, [moments] * 8)])
    write_timeseries(directory / "timeseries.csv", flow, rows=200)
    return directory


def test_commands(heated_run, tmp_path, capsys):
    assert cli.main(["report", str(heated_run)]) == 0
    assert "scalar theta: c_tau -15.699, Nu 40.95, " in capsys.readouterr().out
    assert "Scalars in numbers" in (heated_run / "report.html").read_text()
    header, first, *_ = (heated_run / "scalar_theta.csv").read_text().splitlines()
    values = dict(zip(header.split(","), map(float, first.split(",")), strict=True))
    assert values["Theta_plus"] == pytest.approx(0.71 * values["z_plus"], rel=1e-2)
    for name in ("mean", "rms", "flux", "prandtl", "correlation"):
        assert (heated_run / "figures" / f"scalar_theta_{name}.png").is_file()
    figures = tmp_path / "figures"
    assert cli.main(["profiles", str(heated_run), "--scalar", "theta", "--figures", str(figures)]) == 0
    assert capsys.readouterr().out.splitlines()[0] == header
    assert (figures / "scalar_theta_mean.png").is_file()
    assert cli.main(["profiles", str(heated_run), "--scalar", "salt"]) == 2
    assert "they have theta" in capsys.readouterr().err


def test_datasets(heated_run):
    run = open_run(heated_run)
    found = run.scalars["theta"]
    assert float(found.Pr_t.sel(z_face_plus=30, method="nearest")) == pytest.approx(0.85)
    assert found.outer_wc.attrs["units"] == "C U"
    assert found.attrs["c_tau"] == pytest.approx(-1 / 0.0637)
    assert run.block_means.theta_w.dims == ("time", "z_face")


@pytest.mark.parametrize(
    ("panel", "profile", "axis"),
    [("mean", "C", "z_plus"), ("fluctuations", "c_rms", "z_plus"), ("turbulent_prandtl", "Pr_t", "z_face_plus")],
)
def test_figures_show_the_profiles(heated_run, panel, profile, axis):
    run = open_run(heated_run)
    axes = run.plot.scalar("theta", panel, ax=Figure().subplots())
    expected = run.scalars["theta"][profile]
    inner = slice(2, -2)
    z, values = expected[axis].values[inner], expected.values[inner]
    lines = [np.interp(z, line.get_xdata(), line.get_ydata()) for line in axes.get_lines()]
    assert any(np.allclose(line, values, rtol=1e-3) for line in lines)


@pytest.mark.parametrize("panel", ["fluxes", "correlations"])
def test_other_figures_have_data(heated_run, panel):
    assert open_run(heated_run).plot.scalar("theta", panel, ax=Figure().subplots()).has_data()


def test_figures_that_do_not_exist_are_refused(heated_run):
    plot = open_run(heated_run).plot
    with pytest.raises(UsageError, match="no scalar salt; there are theta"):
        plot.scalar("salt")
    with pytest.raises(UsageError, match="no figure peaks of a scalar; one of mean, fluctuations"):
        plot.scalar("theta", "peaks")


def test_a_mean_that_is_zero_by_symmetry_is_printed_as_zero(heated_run):
    """Round-off, 1e-17 of the largest mean, has no digits and no interval."""
    found = next(iter(evaluated(heated_run).values()))
    zero = replace(found, numbers={**found.numbers, "bulk": -0.4e-17}, widths={**found.widths, "bulk": 1.9e-17})
    assert re.search(r"mixed mean +0\n", table_text([zero]))
    small = replace(found, numbers={**found.numbers, "bulk": 1e-3}, widths={**found.widths, "bulk": 1e-4})
    assert re.search(r"mixed mean +0.00100 \+- 0.00010\n", table_text([small]))
