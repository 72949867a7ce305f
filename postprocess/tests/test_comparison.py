"""Comparison of key figures and budgets with published ones, with known deviations."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
import synthetic
import test_budgets
import test_latex

from sluice_post.budgets import evaluate_budgets
from sluice_post.cli import main
from sluice_post.comparison import key_differences
from sluice_post.derived import derived_of
from sluice_post.deviations import budget_deviations
from sluice_post.flow import Flow
from sluice_post.key_figures import figures_of, key_figures, published_of
from sluice_post.profiles import peak, wall_profiles
from sluice_post.reference import Reference
from sluice_post.run import load_statistics
from sluice_post.uncertainty import student_t95

PRESSURE = np.array([0.3, -0.1, 0.5, 0.2, -0.4, 0.1])


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    """A run whose blocks differ in p du/dx only."""
    path = tmp_path_factory.mktemp("run")
    (state,) = test_budgets.states(1, test_budgets.FLOW.z_face)
    same = test_budgets.block_of(test_budgets.FLOW, state)
    blocks = [same | {"p_dudx": same["p_dudx"] + pressure} for pressure in PRESSURE]
    synthetic.write_statistics(path / "statistics.h5", test_budgets.FLOW, blocks)
    return path


def reference_of(found, stress):
    """The budget of the run itself as a published one."""
    terms = found.budgets[stress].terms
    return Reference("itself", found.re_tau, True, dict.fromkeys(terms, found.z_plus(stress)), dict(terms))


def test_deviation_of_a_term_and_its_interval(directory):
    """The reference has a production that is 2 % of the largest term lower, and the same pressure strain."""
    parameters, blocks = load_statistics(directory)
    found = evaluate_budgets(blocks, parameters).found
    reference = reference_of(found, "uu")
    scale = max(np.max(np.abs(values)) for values in reference.values.values())
    largest = int(np.argmax([np.max(np.abs(v)) for v in reference.values.values()]))
    assert list(reference.values)[largest] != "production"
    reference.values["production"] = reference.values["production"] - 0.02 * scale
    (uu,) = budget_deviations(blocks, parameters, {"uu": reference})
    rows = {row.quantity: row for row in uu.terms}
    assert rows.keys() == found.budgets["uu"].terms.keys()
    assert rows["production"].largest == pytest.approx(2)
    assert rows["production"].rms == pytest.approx(2)
    assert rows["production"].largest_half_width < 1e-9
    width = 2 * student_t95(5) * PRESSURE.std(ddof=1) / np.sqrt(6) / found.budgets["uu"].unit
    assert rows["pressure_strain"].largest == pytest.approx(0, abs=1e-9)
    assert rows["pressure_strain"].largest_half_width == pytest.approx(100 * width / scale)


@pytest.mark.parametrize("control", ["actuation.type: opposition_control", "slip_length: 0.01"])
def test_walls_without_budgets_have_no_dissipation(directory, control):
    """The dissipation on a wall is computed for a wall that is at rest and does not slip."""
    parameters, blocks = load_statistics(directory)
    controlled = replace(parameters, control_bottom=control, control_top=control)
    assert "wall_dissipation" in figures_of(blocks.means(), parameters)
    assert "wall_dissipation" not in figures_of(blocks.means(), controlled)
    assert "eta_plus" in derived_of(blocks.means(), parameters)
    found = derived_of(blocks.means(), controlled)
    assert {"eta_plus", "epsilon_plus", "dissipation_xi"}.isdisjoint(found)
    assert "stress_xi" in found


def test_key_figures_of_production_and_pressure(directory):
    parameters, blocks = load_statistics(directory)
    values = figures_of(blocks.means(), parameters)
    found = evaluate_budgets(blocks, parameters).found
    assert values["wall_dissipation"] == pytest.approx(found.wall_dissipation["k"])
    profiles = wall_profiles(blocks.means(), parameters)
    production = profiles.face["minus_uw"] * profiles.face["dUdz"]
    assert (values["production_peak"], values["production_peak_z"]) == peak(profiles.z_face_plus, production)
    assert (values["p_peak"], values["p_peak_z"]) == peak(profiles.z_plus, profiles.centre["p_rms"])


def test_published_key_figures_of_a_budget(directory):
    """Peak of the production by the parabola through three points, dissipation on the wall."""
    parameters, blocks = load_statistics(directory)
    z_plus = np.array([0.0, 8.0, 10.0, 12.0, 100.0])
    values = {"production": 0.2 - (z_plus - 10.5) ** 2 / 100, "dissipation": -0.16 * np.ones(5)}
    budget = Reference("k", 100.0, True, dict.fromkeys(values, z_plus), values)
    published = published_of(budget, Flow("channel"), budget)
    assert published.values["production_peak"] == pytest.approx(0.2)
    assert published.values["production_peak_z"] == pytest.approx(10.5)
    assert published.values["wall_dissipation"] == 0.16
    rows = {row.figure.key: row for row in key_differences(key_figures(blocks, parameters), published)}
    row = rows["wall_dissipation"]
    assert row.percent == pytest.approx(100 * (row.figure.value / 0.16 - 1))
    assert row.half_width == pytest.approx(row.figure.half_width / 0.16 * 100)


def test_command_with_profiles_and_budgets(directory, tmp_path, capsys):
    assert main(["budgets", str(directory), "-o", str(tmp_path)]) == 0
    assert main(["profiles", str(directory), "-o", str(tmp_path / "p.csv")]) == 0
    capsys.readouterr()
    files = [str(tmp_path / name) for name in ("p.csv", "budget_k.csv", "budget_uw.csv")]
    target, figure = tmp_path / "sub" / "c.json", tmp_path / "c.png"
    arguments = ["compare", str(directory), "--reference", *files, "--json", str(target), "-o", str(figure)]
    assert main([*arguments, "--latex", str(tmp_path / "c.tex")]) == 0
    out = capsys.readouterr().out
    assert figure.is_file()
    *_, of_k, of_uw = test_latex.check((tmp_path / "c.tex").read_text())
    assert of_k[0][0] == "budget of $k$" and of_uw[0][0] == r"budget of $\langle u'w'\rangle$"
    assert "turbulent transport" in [row[0] for row in of_k]
    assert re.search(r"^peak production of k\+ +[\d.e+]+ .* [+-]\d", out, re.MULTILINE)
    assert "budget of uw, reference: budget_uw.csv" in out
    content = json.loads(target.read_text())
    assert content["budgets"].keys() == {"k", "uw"}
    for term in content["budgets"]["k"]["terms"].values():
        assert abs(term["largest"]) < 1e-6
        assert term["largest_half_width"] >= 0
    assert abs(content["profiles"]["U"]["largest"]) < 1e-6
    k = evaluate_budgets(*load_statistics(directory)[::-1]).found
    expected, _ = peak(k.z_plus("k"), k.budgets["k"].terms["production"])
    assert content["key_figures"]["production_peak"]["published"] == pytest.approx(expected)


def test_command_with_budgets_only(directory, tmp_path, capsys):
    """No profiles, one block: no figure, and null for the intervals."""
    (tmp_path / "chan180.kbal").write_text(test_budgets.MKM)
    target = tmp_path / "c.json"
    arguments = ["compare", str(directory), "--reference", str(tmp_path / "chan180.kbal"), "--json", str(target)]
    assert main([*arguments, "--to", "75"]) == 0
    assert "figure" not in capsys.readouterr().out.replace("key figure", "")
    content = json.loads(target.read_text())
    assert content["profiles"] == {}
    assert content["budgets"]["k"]["reference"]["re_tau"] == pytest.approx(100)
    assert content["budgets"]["k"]["terms"]["production"]["largest_half_width"] is None
    assert content["key_figures"]["wall_dissipation"]["published"] == 0.2


def test_budgets_that_the_run_did_not_take(turbulent_run, tmp_path, capsys):
    (tmp_path / "chan180.kbal").write_text(test_budgets.MKM)
    assert main(["compare", str(turbulent_run), "--reference", str(tmp_path / "chan180.kbal")]) == 4
    assert "output.statistics.budgets: off" in capsys.readouterr().err
