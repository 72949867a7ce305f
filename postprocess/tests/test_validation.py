"""The page of stored results, from two tiny cases with known figures."""

import re
import shutil

import numpy as np
import pytest
import synthetic
import test_budgets
import test_spectra

from sluice_post import literature
from sluice_post.budgets import evaluate_budgets
from sluice_post.cli import main
from sluice_post.flow import Flow, Held
from sluice_post.run import load_statistics
from sluice_post.study_tables import number_text
from sluice_post.validation import PublishedFiles, find_results, read_files, read_results, verdict

RE_TAU = 182.09


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    """Case `a`: the model flow at Re_tau = 182.09 with spectra, without budgets; `b`: rough fields with budgets."""
    folder = tmp_path_factory.mktemp("cases")
    flow = test_spectra.flow_of(re_tau=RE_TAU)
    test_spectra.write(folder / "a" / "results", [test_spectra.Fields(flow, seed) for seed in range(3)])
    (folder / "b" / "results").mkdir(parents=True)
    test_budgets.write(folder / "b" / "results")
    (folder / "c").mkdir()  # a case without results
    return folder


@pytest.fixture(scope="module")
def page(cases):
    path = cases / "docs" / "validation.md"
    assert main(["validation", str(cases), "-o", str(path)]) == 0
    return path


def rows_of(page, case):
    """The rows of the table of a case by their first cell."""
    section = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)[" ab".index(case)]
    lines = [line for line in section.splitlines() if line.startswith("| ")][2:]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return section, {row[0]: row[1:] for row in cells}


def test_key_figures_of_a_case(cases, page):
    """Re_tau is the published one exactly; p' is compared with the nearest simulation that has it."""
    section, rows = rows_of(page, "a")
    assert section.startswith("a: Synthetic channel")
    assert literature.LM in section
    assert rows["Re_tau"] == ["182.1", "182.1", "+0", "0.35", "within"]
    assert rows["peak p'+"][1] == "1.878 at 29.9 (MKM, Re_tau 178.12)"
    results = read_results(cases / "a" / "results")
    found, expected = results.figure("u_c_plus"), 18.269
    deviation = float(re.match(r"[+-][\d.]+", rows["U_c+"][2]).group())
    assert deviation == pytest.approx(100 * (found.value / expected - 1), abs=0.06)
    half_width = 100 * found.half_width / expected
    assert rows["U_c+"][4] == verdict(deviation, half_width, 0.5)
    assert "wall dissipation of k+" not in rows
    assert "Not among the stored results: budgets." in section


def test_balances_of_a_case(cases, page):
    section, rows = rows_of(page, "b")
    parameters, blocks = load_statistics(cases / "b" / "results")
    evaluated = evaluate_budgets(blocks, parameters)
    k = {name: values.values for name, values in evaluated.data["k"].items()}
    at, percent = np.argmax(np.abs(k["imbalance"])), 100 / np.max(k["production"])
    row = rows["largest imbalance of k, % of the peak of its production"]
    largest = number_text(percent * k["imbalance"][at], percent * k["imbalance_ci95"][at], "+")
    assert row[0].startswith(f"{largest} at ")
    residual = read_results(cases / "b" / "results").residuals[0]
    value = number_text(100 * residual.value, 100 * residual.half_width)
    assert rows["total-stress residual, % of the wall stress"][0] == value
    assert "Not among the stored results: spectra." in section


def test_figures(page):
    text = page.read_text()
    linked = set(re.findall(r"\]\((images/[^)]*)\)", text))
    written = {f"images/{path.name}" for path in (page.parent / "images").glob("*.png")}
    assert linked == written
    names = {"mean", "stresses", "shear_stress"}
    of_a = {*names, "spectra_x", "spectra_y"}
    expected = {("a", name) for name in of_a} | {("b", name) for name in (*names, "budget_k")}
    assert written == {f"images/validation_{case}_{name}.png" for case, name in expected}
    assert max(len(line) for line in text.splitlines() if not line.startswith(("|", "!"))) <= 120


def test_published_files_go_to_the_figures_of_their_reynolds_number(cases, tmp_path):
    (tmp_path / "chan180.kbal").write_text(test_budgets.MKM.replace("100", "178"))
    profiles = "# Re_tau = {0}\n# y y+ Umean\n0 0 0\n0.1 {1} 8\n1.0 {0} 17\n"
    for name, re_tau in (("a.means", 178.0), ("b.means", 181.0), ("c.means", 395.0)):
        (tmp_path / name).write_text(profiles.format(re_tau, re_tau / 10))
    paths = [tmp_path / name for name in ("chan180.kbal", "a.means", "b.means", "c.means")]
    near = read_files(paths).near(182.0)
    assert [one.label for one in near.profiles] == ["b.means", "a.means"]
    assert near.budget_of_k.keys() == {"k"}
    assert PublishedFiles().near(182.0).budget_of_k == {}
    one_case = tmp_path / "cases"
    shutil.copytree(cases / "b", one_case / "b")
    page = tmp_path / "v.md"
    assert main(["validation", str(one_case), "-o", str(page), "--reference", *map(str, paths)]) == 0
    assert (tmp_path / "images" / "validation_b_mean.png").is_file()


@pytest.mark.parametrize(
    ("deviation", "half_width", "expected"),
    [
        (0.4, 0.5, "within"),
        (-0.9, 0.5, "undecided"),
        (0.0, 1.1, "undecided"),
        (-1.2, 0.5, "undecided"),
        (-1.6, 0.5, "outside"),
        (0.9, np.nan, "within"),
        (1.1, np.nan, "outside"),
    ],
)
def test_verdict(deviation, half_width, expected):
    assert verdict(deviation, half_width, 1.0) == expected


def test_no_results(tmp_path, flow, capsys):
    assert main(["validation", str(tmp_path), "-o", str(tmp_path / "v.md")]) == 4
    assert "no case has stored results" in capsys.readouterr().err
    laminar = tmp_path / "poiseuille" / "results"
    synthetic.write_statistics(laminar / "statistics.h5", flow, [synthetic.laminar_poiseuille(flow)])
    assert find_results(tmp_path) == [laminar]
    assert main(["validation", str(tmp_path), "-o", str(tmp_path / "v.md")]) == 4
    assert "no statistics of a turbulent flow" in capsys.readouterr().err


def test_published_mean_velocity_at_the_reynolds_number_of_the_case():
    """The figures of one published simulation give those at a higher Reynolds number: the change, within 7 %."""
    near, far = (one for one in literature.PUBLISHED if one.name == "Lee & Moser" and 500 < one.re_tau < 1100)
    for key in ("re_tau", "re_b"):
        found = literature.shifted(near, Held(key, far.values[key], True))
        for name in ("u_b_plus", "u_c_plus", "cf"):
            change = far.values[name] / near.values[name] - 1
            assert found[name] / near.values[name] - 1 == pytest.approx(change, rel=0.07), (key, name)
    assert literature.shifted(near, Held("re_tau", 1.0005 * near.re_tau, True)) == {}
    assert literature.shifted(near, Held("re_tau", far.re_tau, False)) == {}


def test_source_of_a_published_value():
    def at(re_tau):
        return literature.find(Flow("channel"), Held("re_tau", re_tau, True), re_tau).published

    lee_moser = at(RE_TAU)
    assert literature.with_value(lee_moser, "u_peak") is lee_moser
    assert literature.with_value(lee_moser, "p_peak").re_tau == 178.12
    assert literature.with_value(at(1000.0), "p_peak") is None
