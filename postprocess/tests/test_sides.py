"""One definition for each label: figures of both walls, and of the one from which an uneven flow is seen."""

import html
import re
from pathlib import Path

import numpy as np
import pytest
import synthetic_flows
from synthetic_flows import ROTATION, STRESS_ON_TOP

from sluice_post.cli import main
from sluice_post.results import evaluate, summary_text
from sluice_post.run import load_run

MEAN = (1 + STRESS_ON_TOP) / 2  # of both wall stresses, over that on the bottom wall


@pytest.fixture(scope="module")
def uneven(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A rotating channel whose top wall has a quarter of the stress of the bottom wall."""
    return synthetic_flows.write_run(tmp_path_factory.mktemp("uneven"), ROTATION, uneven=True)


def figures_of(run: Path, side: str | None = None) -> dict:
    results = evaluate(load_run(run, side=side), side=side)
    return {figure.key: figure for figure in results.table}


def test_friction_is_that_of_the_mean_wall_stress(uneven: Path) -> None:
    for side in (None, "bottom", "top"):
        figures = figures_of(uneven, side)
        bottom, top = figures["shear_bottom"].value, figures["shear_top"].value
        assert top / bottom == pytest.approx(STRESS_ON_TOP, rel=0.05)
        assert figures["re_tau"].value == pytest.approx(
            np.hypot(*(figures[f"re_tau_{w}"].value for w in ("bottom", "top"))) / np.sqrt(2)
        )
        assert figures["cf"].value == pytest.approx((figures["cf_bottom"].value + figures["cf_top"].value) / 2)
        assert figures["re_tau"].label.endswith(", mean of both walls")
        assert figures["cf"].label.endswith(", mean of both walls")
        assert figures["cf_top"].label.endswith(", top wall")


def test_wall_units_are_those_of_the_wall_that_the_label_names(uneven: Path) -> None:
    bottom, top = figures_of(uneven), figures_of(uneven, "top")
    for figures, wall in ((bottom, "bottom"), (top, "top")):
        assert figures["u_tau"].value == pytest.approx(np.sqrt(figures[f"shear_{wall}"].value))
        for key in ("u_tau", "u_b_plus", "u_c_plus", "u_peak", "uw_peak", "dissipation"):
            assert figures[key].label.endswith(f", {wall} wall"), key
        assert "wall" not in figures["re_b"].label
    assert top["u_b_plus"].value > 1.5 * bottom["u_b_plus"].value


def test_time_series_and_statistics_agree_by_label(uneven: Path) -> None:
    """Every Re_tau of the summary occurs twice, from both sources, under one name."""
    values: dict[str, list[float]] = {}
    for line in summary_text(evaluate(load_run(uneven))).splitlines():
        if line.startswith("Re_tau"):
            label, value = line.split(": ")
            values.setdefault(label.partition(" (")[0], []).append(float(value.split()[0]))
    assert set(values) == {f"Re_tau, {wall}" for wall in ("mean of both walls", "bottom wall", "top wall")}
    for label, (of_series, of_statistics) in values.items():
        assert of_series == pytest.approx(of_statistics, rel=0.05), label


def test_one_name_suffices_where_the_halves_are_alike(tmp_path: Path) -> None:
    run = synthetic_flows.write_run(tmp_path)
    figures = figures_of(run)
    assert figures["re_tau"].label == "Re<sub>τ</sub>" and figures["cf"].label == "C<sub>f</sub>"
    assert "cf_bottom" not in figures
    of_one = figures_of(run, "bottom")
    assert of_one["re_tau"].label.endswith("mean of both walls") and of_one["u_peak"].label.endswith("bottom wall")


def test_report_from_the_top_wall(uneven: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Summary, table, page and figures, of a flow that no published data are known of."""
    assert main(["report", str(uneven), "--side", "top"]) == 0
    assert "peak u'+, top wall: " in capsys.readouterr().out
    table = np.genfromtxt(uneven / "profiles.csv", delimiter=",", names=True)
    peak, of_bottom = (figures_of(uneven, side)["u_peak"].value for side in ("top", "bottom"))
    assert np.max(table["u_rms_plus"]) == pytest.approx(peak, rel=0.02) != of_bottom
    page = html.unescape(re.sub("<.*?>", "", (uneven / "report.html").read_text()))
    assert "Wall units, profiles and figures are those of the top wall." in page
    assert "Reτ, mean of both walls (last third of the run)" in page
    assert "Channel flow with rotation" in page
    for name in ("Moser", "MKM", "Hoyas"):
        assert name not in page


def test_halves_that_differ_have_no_mean(uneven: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("report", "profiles"):
        assert main([command, str(uneven), "--side", "both"]) == 2
        assert "the two halves of this flow differ" in capsys.readouterr().err


def test_compare_from_either_wall(uneven: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profiles = tmp_path / "profiles.csv"
    assert main(["profiles", str(uneven), "--side", "top", "-o", str(profiles)]) == 0
    found = []
    for side in ("bottom", "top"):
        command = ["compare", str(uneven), "--side", side, "--reference", str(profiles), "--quantity", "u_rms"]
        assert main([*command, "-o", str(tmp_path / "a.png")]) == 0
        out = capsys.readouterr().out
        assert f"Re_tau, {side} wall: run" in out
        row = next(line for line in out.splitlines() if line.startswith("u_rms"))
        found.append(abs(float(row.split()[1])))
    assert found[0] > 5 and found[1] == pytest.approx(0, abs=0.01)
