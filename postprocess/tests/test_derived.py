"""Anisotropy of known tensors, and derived profiles of known flows."""

import re

import numpy as np
import pytest
import synthetic
import test_budgets

from sluice_post import derived_figures
from sluice_post.budgets import csv_text, wall_budgets
from sluice_post.cli import main
from sluice_post.derived import anisotropy, derived_of, evaluate_derived, two_component_limit
from sluice_post.profiles import wall_profiles
from sluice_post.run import load_statistics
from sluice_post.uncertainty import mean_with_interval


def tensor(uu, vv, ww, uw=0.0):
    return {
        name: np.array([float(value)]) for name, value in zip(("uu", "vv", "ww", "uw"), (uu, vv, ww, uw), strict=True)
    }


@pytest.mark.parametrize(
    ("of", "xi", "eta"),
    [
        (tensor(2, 2, 2), 0, 0),
        (tensor(3, 0, 0), 1 / 3, 1 / 3),
        (tensor(1, 1, 2, 1), None, None),
        (tensor(4, 4, 0), -1 / 6, 1 / 6),
        (tensor(2, 1, 1), 1 / 12, 1 / 12),  # axisymmetric: both are half of the largest b
        (tensor(1, 2, 2), -1 / 15, 1 / 15),
        (tensor(1, 0, 1, 1), 1 / 3, 1 / 3),  # one component, in the direction (1, 0, 1)
    ],
)
def test_invariants_of_known_tensors(of, xi, eta):
    found = anisotropy(of)
    full = np.zeros((3, 3))
    full[0, 0], full[1, 1], full[2, 2] = (of[name][0] for name in ("uu", "vv", "ww"))
    full[0, 2] = full[2, 0] = of["uw"][0]
    b = full / np.trace(full) - np.eye(3) / 3
    np.testing.assert_allclose(6 * found["eta"] ** 2, np.trace(b @ b), atol=1e-15)
    np.testing.assert_allclose(6 * found["xi"] ** 3, np.trace(b @ b @ b), atol=1e-15)
    if xi is not None:
        assert found["xi"][0] == pytest.approx(xi, abs=1e-5)
        assert found["eta"][0] == pytest.approx(eta, abs=1e-15)


def test_tensors_lie_within_the_triangle():
    """Random positive tensors do; those of two components lie on its upper side."""
    factors = np.random.default_rng(0).normal(size=(3, 3, 500))
    factors[1, [0, 2]] = factors[[0, 2], 1] = 0  # v does not correlate with u and w
    t = np.einsum("ikn,jkn->ijn", factors, factors)
    of = {"uu": t[0, 0], "vv": t[1, 1], "ww": t[2, 2], "uw": t[0, 2]}
    found = anisotropy(of)
    assert np.all(found["eta"] >= np.abs(found["xi"]) - 1e-12)
    assert np.all(found["eta"] <= two_component_limit(found["xi"]) + 1e-12)
    flat = anisotropy(of | {"vv": np.zeros(500)})
    np.testing.assert_allclose(flat["eta"], two_component_limit(flat["xi"]), rtol=1e-9)


def test_no_tensor_has_no_anisotropy():
    assert np.isnan(anisotropy(tensor(0, 0, 0))["eta"][0])


def test_stresses_and_enstrophy(tmp_path, flow):
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [synthetic.turbulent_profiles(flow)])
    parameters, blocks = load_statistics(tmp_path)
    profiles = wall_profiles(blocks.means(), parameters)
    values = derived_of(blocks.means(), parameters)
    uu, vv, ww = (profiles.centre[name] for name in ("uu", "vv", "ww"))
    np.testing.assert_allclose(values["stress_b_uu"], uu / (uu + vv + ww) - 1 / 3)
    assert np.all(values["stress_b_uw"][1:] < 0)
    trace = sum(values[f"stress_b_{name}"] for name in ("uu", "vv", "ww"))
    np.testing.assert_allclose(trace, 0, atol=1e-15)
    raw = synthetic.turbulent_profiles(flow)
    variance = sum(raw[f"omega_{c}{c}"] - raw[f"omega_{c}"] ** 2 for c in "xyz")
    expected = variance * flow.viscosity**2 / flow.u_tau**4
    np.testing.assert_allclose(values["enstrophy_plus"], expected[: flow.cells[2] // 2], rtol=1e-9)
    assert "epsilon_plus" not in values  # without budgets
    derived = evaluate_derived(blocks, parameters)
    assert not any(name.endswith("_ci95") for name in derived)
    assert derived_figures.kolmogorov_figure(derived) is None


def test_dissipation_and_kolmogorov_scales(tmp_path):
    test_budgets.write(tmp_path)
    parameters, blocks = load_statistics(tmp_path)
    found = wall_budgets(blocks.means(), parameters)
    values = derived_of(blocks.means(), parameters)
    terms = {name: -budget.terms["dissipation"] for name, budget in found.budgets.items()}
    trace = values["dissipation_b_uu"] + values["dissipation_b_vv"] + values["dissipation_b_ww"]
    np.testing.assert_allclose(trace, 0, atol=1e-14)
    ratio = (values["dissipation_b_uu"] + 1 / 3) / (values["dissipation_b_vv"] + 1 / 3)
    np.testing.assert_allclose(ratio, terms["uu"] / terms["vv"])
    np.testing.assert_allclose(values["epsilon_plus"], terms["k"])
    np.testing.assert_allclose(values["eta_plus"], terms["k"] ** -0.25)
    np.testing.assert_allclose(values["kolmogorov_time_plus"], terms["k"] ** -0.5)


def test_intervals(tmp_path, flow):
    """Blocks that differ in the variance of v: b_vv = vv/(uu + vv + ww) - 1/3 to first order in its changes."""
    base = synthetic.turbulent_profiles(flow)
    change = 1e-4 * np.array([0.3, -0.1, 0.5, 0.2, -0.4, 0.1, -0.6, 0.0])
    blocks = [base | {"vv": base["vv"] * (1 + relative)} for relative in change]
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, blocks)
    parameters, read_blocks = load_statistics(tmp_path)
    derived = evaluate_derived(read_blocks, parameters)
    b = derived.stress_b_vv + 1 / 3
    expected = b * (1 - b) * mean_with_interval(change).half_width
    np.testing.assert_allclose(derived.stress_b_vv_ci95, expected, rtol=1e-3)
    np.testing.assert_allclose(derived.enstrophy_plus_ci95, 0, atol=1e-12)
    header, first = csv_text(derived).splitlines()[:2]
    assert header.split(",")[2:4] == ["stress_b_uu", "stress_b_uu_ci95"]
    assert float(first.split(",")[1]) == pytest.approx(derived.z_plus[0])


@pytest.mark.unpainted
def test_report(tmp_path, capsys):
    test_budgets.write(tmp_path)
    assert main(["report", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Lumley" in page
    for name in ("invariant_map", "anisotropy", "enstrophy", "kolmogorov"):
        assert (tmp_path / "figures" / f"{name}.png").is_file()
    assert re.match(r"z_over_h,z_plus,stress_b_uu", (tmp_path / "derived.csv").read_text())
