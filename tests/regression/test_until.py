"""Runs that end when their statistics are accurate enough: the key time.until."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from sluice_run import assert_same_results, checkpoints, must, record, sluice, step_of, write_case

CASE = {
    "time.steps": 2000,
    "time.until": {"re_tau": "5%", "u_rms_peak": 0.1},
    "output.checkpoint": "none",
    "output.statistics": {"start": 0.2, "every": 2, "block": 0.5},
    "output.slices": [],
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
}
REASON = "statistics reach time.until"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output directory of the case, run without interruption; read-only for tests."""
    folder = tmp_path_factory.mktemp("until")
    must(sluice("run", write_case(folder, CASE), "--output", folder / "whole"))
    return folder / "whole"


@pytest.fixture
def copied(whole: Path, tmp_path: Path) -> Path:
    """A copy of it, beside its case."""
    write_case(tmp_path, CASE)
    return shutil.copytree(whole, tmp_path / "whole")


def figures(out: Path) -> dict[str, Any]:
    """The figures in run.json."""
    found: dict[str, Any] = record(out)["statistics"]["figures"]
    return found


def test_ends_with_a_checkpoint_when_the_limits_hold(whole: Path) -> None:
    ended, log = record(whole), (whole / "log.txt").read_text()
    assert ended["why_stopped"] == REASON
    assert ended["statistics"]["reached"]
    assert ended["statistics"]["blocks"] >= 30
    assert 0 < ended["step"] < 2000
    assert [step_of(file) for file in checkpoints(whole)] == [ended["step"]]
    for name, limit in (("re_tau", 0.05), ("u_rms_peak", 0.1)):
        figure = figures(whole)[name]
        assert figure["limit"] == limit
        assert figure["half_width"] <= limit * figure["value"]
    assert f"Stopped at step {ended['step']}" in log
    assert f": {REASON}." in log
    assert "; time.until will probably be reached at time " in log
    assert log.count("; time.until is reached") == 1
    progress = r"ns/point  \d+ s left, (re_tau|u_rms_peak) \+- [\d.]+ % \(limit (5|10) %\)\n"
    assert re.search(progress, log)


def assert_figures_are_those_of_the_report(out: Path) -> None:
    key_figures = pytest.importorskip("sluice_post.key_figures").key_figures
    load_statistics = pytest.importorskip("sluice_post.run").load_statistics
    parameters, blocks = load_statistics(out)
    expected = {figure.key: figure for figure in key_figures(blocks, parameters)}
    other_names = {"u_rms_peak": "u_peak", "v_rms_peak": "v_peak", "w_rms_peak": "w_peak", "u_center": "u_c_plus"}
    assert len(blocks) == record(out)["statistics"]["blocks"]
    assert len(figures(out)) == 7
    for name, figure in figures(out).items():
        reported = expected[other_names.get(name, name)]
        assert figure["value"] == pytest.approx(reported.value, rel=1e-10), name
        assert figure["half_width"] == pytest.approx(reported.half_width, rel=1e-7), name


def test_figures_and_intervals_are_those_of_the_report(whole: Path) -> None:
    assert_figures_are_those_of_the_report(whole)


def test_figures_of_a_rotating_channel(tmp_path: Path) -> None:
    """Re_tau and C_f are of the mean wall stress, all others of the bottom wall, whose half is not that of the top."""
    rotating = {"flow.rotation": {"number": 0.5}, "time.steps": 200}
    must(sluice("run", write_case(tmp_path, {**CASE, **rotating})))
    out = tmp_path / "out"
    assert_figures_are_those_of_the_report(out)
    *_, last = (out / "timeseries.csv").read_text().splitlines()
    bottom, top = map(float, last.split(",")[6:8])
    assert abs(top / bottom - 1) > 0.05
    lines = re.findall(r"Re_tau bottom +([\d.]+) top +([\d.]+)", (out / "log.txt").read_text())
    assert lines[-1] == (f"{bottom:.2f}", f"{top:.2f}")


def averages(out: Path) -> dict[str, tuple[float, float]]:
    """The figures that `sluice info` shows, with the half widths of their intervals in percent."""
    text = must(sluice("info", out)).out
    lines = re.findall(r"^ {16}(\w+) (\S+) \+- (\S+) %", text, re.M)
    return {name: (float(value), float(percent)) for name, value, percent in lines}


def test_info_shows_the_same_figures_and_intervals(whole: Path) -> None:
    shown = averages(whole)
    assert shown.keys() == figures(whole).keys()
    for name, figure in figures(whole).items():
        value, percent = shown[name]
        assert value == pytest.approx(figure["value"], abs=0.05 * figure["half_width"]), name
        assert percent == pytest.approx(100 * figure["half_width"] / figure["value"], rel=0.06), name
    text = must(sluice("info", whole)).out
    assert f"of the last {record(whole)['statistics']['blocks']} blocks" in text
    assert "(limit 5 %)\n" in text
    assert "(limit 10 %)\n" in text
    assert " time.until is reached\n" in text


def test_info_needs_no_limits(whole: Path, tmp_path: Path) -> None:
    case = write_case(tmp_path, {**CASE, "time.until": None, "time.steps": record(whole)["step"]})
    must(sluice("run", case))
    assert averages(tmp_path / "out") == averages(whole)
    text = must(sluice("info", tmp_path / "out")).out
    assert "(limit" not in text
    assert "time.until" not in text


def test_an_interrupted_run_ends_at_the_same_step(whole: Path, tmp_path: Path) -> None:
    """The first stop is between blocks, the second on the verge of the end, the last start on other ranks."""
    end = record(whole)["step"]
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    for steps in (end // 2, end - 1):
        must(sluice("run", case, "--restart", "auto", "--steps", steps))
        assert record(out)["why_stopped"] == "end time or step reached"
    must(sluice("run", case, "--restart", "auto", ranks=2))
    assert record(out)["why_stopped"] == REASON
    assert figures(out) == figures(whole)
    assert_same_results(whole, out)


def test_a_finished_run_goes_on_only_to_other_limits(copied: Path, tmp_path: Path) -> None:
    out = copied
    case, end = tmp_path / "case.yaml", record(out)["step"]
    again = ("run", case, "--output", out, "--restart", "auto")
    outcome = must(sluice(*again))
    assert f": {REASON}. 0 steps" in outcome.out
    assert (record(out)["step"], record(out)["steps_taken"]) == (end, 0)

    must(sluice(*again, "--set", "time.until.re_tau=0.01%", "--steps", end + 60))
    assert record(out)["step"] == end + 60
    assert not record(out)["statistics"]["reached"]

    must(sluice(*again))
    assert (record(out)["why_stopped"], record(out)["step"]) == (REASON, end + 60)


def test_statistics_of_another_flow_do_not_count(copied: Path, tmp_path: Path) -> None:
    out = copied
    end = record(out)["step"]
    changed = ("--allow-change", "--set", "flow.reynolds.bulk=5000", "--steps", end + 40)
    must(sluice("run", tmp_path / "case.yaml", "--output", out, "--restart", "auto", *changed))
    assert record(out)["step"] == end + 40
    blocks = record(out)["statistics"]["blocks"]
    assert 0 < blocks < 30
    assert f"averages        of the last {blocks} blocks" in must(sluice("info", out)).out


def test_without_statistics_it_is_a_mistake(tmp_path: Path) -> None:
    case = write_case(tmp_path, {**CASE, "output.statistics": "none"})
    outcome = must(sluice("run", case), 2)
    assert "time.until: the run takes no statistics" in outcome.text
    assert "with output.statistics only" in outcome.text
    assert not (tmp_path / "out").exists()


def test_a_laminar_flow_has_neither_peaks_nor_intervals(tmp_path: Path) -> None:
    """Under a pulsating force, u varies in time, but w does not fluctuate."""
    changes = {
        **CASE,
        "flow": {
            "type": "channel",
            "reynolds": {"viscosity": 0.05},
            "forcing": {"pressure_gradient": "0.1 + 0.3*cos(pi*t)"},
        },
        "initial": {"type": "laminar"},
        "time": {"steps": 80, "dt": 0.05, "diffusion": "implicit_z"},
    }
    must(sluice("run", write_case(tmp_path, changes)))
    text = must(sluice("info", tmp_path / "out")).out
    assert re.search(r"^averages +of the last 7 blocks, without intervals, because the flow is laminar$", text, re.M)
    assert re.search(r"^ {16}re_tau [\d.]+$", text, re.M), text
    for absent in ("+-", "u_rms_peak", "uw_peak", "no interval)"):
        assert absent not in text
