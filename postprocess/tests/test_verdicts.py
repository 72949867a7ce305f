from dataclasses import replace

import pytest
import synthetic

from sluice_post import layout
from sluice_post.flow import Flow
from sluice_post.html import report_page
from sluice_post.literature import Published, find
from sluice_post.results import evaluate, summary_text
from sluice_post.run import load_run
from sluice_post.spectra_tables import HalfBox
from sluice_post.stationarity import Departure, Stationarity
from sluice_post.verdicts import deviations, unusual, verdicts

BOX = """title: "Vortex"
flow:
  type: periodic
  reynolds: {viscosity: 0.01}
  forcing: none
domain: {size: [6.283185307179586, 6.283185307179586, 6.283185307179586]}
grid: {cells: [16, 16, 16]}
initial: {type: formula}
"""


@pytest.fixture(scope="module")
def results(turbulent_run):
    return evaluate(load_run(turbulent_run))


def published_at(results, errors):
    """A published simulation at the same Reynolds number, from which the run differs by these errors."""
    values = {figure.key: figure.value for figure in results.table}
    values |= {key: values[key] / (1 + error) for key, error in errors.items()}
    return Published("Nobody", "nowhere", Flow("channel"), values["re_tau"], values)


def answers(results, **changes):
    return dict(verdicts(replace(results, **changes)))


def test_flow_and_its_reynolds_numbers(results):
    answer = answers(results)["Which flow?"]
    assert answer.startswith("Channel flow")
    assert f"{results.figure('re_tau').value:.1f}" in answer
    assert f"{results.figure('re_b').value:.0f}" in answer


def test_converged_only_if_friction_and_total_stress_are(results):
    re_tau = results.figure("re_tau")

    def answer(half_width, residual, uncertain=1e-3, time=20.0):
        others = [figure for figure in results.table if figure.key != "re_tau"]
        table = [replace(re_tau, half_width=half_width * re_tau.value), *others]
        straight = replace(results.residuals[0], value=residual, half_width=uncertain)
        resolution = replace(results.resolution, averaged=time)
        return answers(results, table=table, residuals=[straight], resolution=resolution)["Converged?"]

    assert answer(0.002, 1e-3).startswith("Yes. ")
    assert answer(0.02, 1e-3).startswith("Not yet. ")
    assert answer(0.002, 1e-2).startswith("Not yet. ")
    assert answer(0.002, 1e-3, 1e-2).startswith("Not yet. ")
    assert answer(0.002, 1e-3, time=14).startswith("Not yet. ")
    assert answer(0.002, 1e-3, time=14).endswith("Intervals of less than 15 h/u<sub>τ</sub> tend to be too narrow.")
    assert "too narrow" not in answer(0.02, 1e-3)
    assert "± 0.20 %" in answer(0.002, 1e-3) and "0.10 ± 0.10 % of the wall" in answer(0.002, 1e-3)
    assert answer(float("nan"), 1e-3).startswith("Not known")


def test_differences_from_published_figures(results):
    published = published_at(results, {"u_peak": 0.5, "cf": -0.25})
    found = {str(deviation.label): deviation for deviation in deviations(replace(results, published=published))}
    peak = next(found[label] for label in found if "u′" in label and "w′" not in label)
    friction = next(found[label] for label in found if label.startswith("C"))
    assert peak.value == pytest.approx(0.5)
    assert peak.half_width == pytest.approx(results.figure("u_peak").half_width / published.values["u_peak"])
    assert friction.value == pytest.approx(-0.25)
    assert "−25.00 ±" in friction.text
    assert all(one.value == pytest.approx(0) for one in found.values() if one not in (peak, friction))


def test_without_published_data_nothing_is_compared(results):
    found = find(Flow("channel"), replace(results.held, value=250.0), 250.0)
    changes = {"published": found.published, "no_published": found.reason}
    assert deviations(replace(results, **changes)) == []
    answer = answers(results, **changes)["How far from published data?"]
    assert answer.startswith("No published data are known here for this flow (Channel flow) at Re_tau = 250")


def test_what_limits_it(results):
    usual = {"dx_plus": 9, "dy_plus": 4, "first_centre_plus": 0.3, "dz_wall_plus": 0.6, "dz_centre_plus": 4}
    fine = replace(results.resolution, averaged=20.0, **usual)

    def answer(errors, resolution, uncertain=1e-3, residual=1e-3):
        residuals = [replace(results.residuals[0], value=residual, half_width=uncertain)]
        changes = {"resolution": resolution, "residuals": residuals}
        return answers(results, published=published_at(results, errors), **changes)["What limits it?"]

    assert answer({}, fine).startswith("The averaging time")
    assert "differs by more" in answer({"u_peak": 0.9}, fine)
    assert "differ by more" in answer({"u_peak": 0.9, "cf": 0.9}, fine)
    coarse = replace(fine, dx_plus=18.0)
    assert unusual(replace(results, resolution=fine)) == []
    assert len(unusual(replace(results, resolution=coarse))) == 1
    short = answer({"u_peak": 0.9}, replace(fine, averaged=6.0))
    assert "The averaging time is 6 h/u<sub>τ</sub>, but should be at least 15 h/u<sub>τ</sub>." in short
    assert "should be at least" not in answer({"u_peak": 0.9}, fine)
    wide = "The averaging time: the total-stress residual is known to ± 0.80 % only (limit 0.5 %)."
    assert answer({"u_peak": 0.9}, fine, 8e-3).startswith(wide)
    large = "The averaging time: the total-stress residual is 0.4 % (limit 0.2 %)."
    assert answer({"u_peak": 0.9}, fine, residual=4e-3).startswith(large)
    assert "residual" not in answer({"u_peak": 0.9}, fine)
    assert answer({}, coarse).startswith("The grid or the box: Δx<sup>+</sup> is 18, where at most 12 is usual.")


def test_what_is_coarse_has_plain_numbers_and_an_axis(results, monkeypatch):
    boxes = {"x": HalfBox("vv", "15", -0.28, 0.01), "y": HalfBox("vv", "15", 0.72, 0.01)}
    monkeypatch.setattr("sluice_post.verdicts.half_box", lambda _, axis: boxes[axis])
    changed = replace(results, resolution=replace(results.resolution, dx_plus=123.4), spectra=object())
    found = unusual(changed)
    assert "(vv) at half the box along x is −0.28" in found[0]
    assert "(vv) at half the box along y is +0.72" in found[1]
    assert found[2].startswith("Δx<sup>+</sup> is 120, where")


def test_a_laminar_flow_has_no_sampling_error(tmp_path):
    flow = synthetic.Flow(re_tau=30.0, cells=(8, 8, 64))
    steady = synthetic.laminar_poiseuille(flow)
    rising = [{**steady, "tau_xz": steady["tau_xz"] * (1 + 1e-4 * n)} for n in range(6)]
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, rising)
    results = evaluate(load_run(tmp_path))
    found = dict(verdicts(results))
    assert found["Which flow?"].startswith("Channel flow")
    assert "no intervals" in found["Converged?"]
    assert found["Stationary?"].startswith("Nothing shows that it was not")
    assert {figure.half_width for figure in (*results.table, *results.residuals)} == {0.0}
    assert not results.run.profiles.half_widths
    assert "+-" not in summary_text(results) and "blocks" not in " ".join(results.run.missing)


def test_a_flow_that_was_not_stationary_is_not_converged(results):
    def answer(value):
        found = Stationarity((Departure("U_b", value, 0.01, 0.015),), None)
        return answers(results, stationarity=found)

    assert answer(0.005)["Stationary?"].startswith("Nothing shows that it was not: from the first half")
    moved = answer(0.034)
    assert moved["Stationary?"].startswith("No: U_b rose by 3.4 ± 1.0 % from the first half of the averaging")
    assert "the averages are of a transient" in moved["Stationary?"]
    assert moved["Converged?"].startswith("Not yet. ")
    assert moved["What limits it?"].startswith("The start of the averages: ")


def test_the_page_shows_the_whole_revision(results):
    """The end of the revision says whether the tree was modified."""
    revision = "a" * 40 + "-dirty"
    run = replace(results.run, parameters=replace(results.run.parameters, git_revision=revision))
    assert f"revision {revision}" in report_page(replace(results, run=run), [], "")


def test_a_run_without_samples_says_which_flow_it_is(tmp_path):
    (tmp_path / "resolved.yaml").write_text(BOX)
    columns = ",".join(layout.TIMESERIES_COLUMNS)
    rows = [f"{n},{n},1,1,0,0,0,0,{0.12 / n},0" for n in (1, 2, 3)]
    (tmp_path / "timeseries.csv").write_text("\n".join([columns, *rows, ""]))
    results = evaluate(load_run(tmp_path))
    ((question, answer),) = verdicts(results)
    assert question == "Which flow?"
    assert answer.startswith("Flow in a periodic box, 6.283 x 6.283 x 6.283, 16 x 16 x 16 cells; ")
    assert "viscosity 0.01" in answer
    text = summary_text(results)
    assert "Flow in a periodic box" in text and "kinetic energy" in text
    assert "Re_tau" not in text and "slice" not in text
