"""Comparisons of runs with published data and with each other from Python."""

from pathlib import Path

import numpy as np
import pytest
import synthetic

pytest.importorskip("h5netcdf")

import sluice_post as sp
from sluice_post.cli import main
from sluice_post.deviations import deviations
from sluice_post.errors import UsageError
from sluice_post.reference import read_reference
from sluice_post.run import load_statistics
from sluice_post.study import error_of, find_reference, read_study
from sluice_post.study_tables import table_text


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two runs of one flow on different grids."""
    folder = tmp_path_factory.mktemp("study")
    for name, cells in (("coarse", (32, 24, 48)), ("fine", (64, 48, 96))):
        synthetic.write_run(folder / name, synthetic.Flow(re_tau=182.0, cells=cells), blocks=6)
    return folder / "coarse", folder / "fine"


def test_comparison_with_files(runs: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    reference = tmp_path / "p.csv"
    assert main(["profiles", str(runs[1]), "-o", str(reference)]) == 0
    parameters, blocks = load_statistics(runs[0])
    profiles = read_reference(reference)
    found = sp.open(runs[0]).compare(reference)
    assert found.deviations == deviations(blocks, parameters, profiles, [row.quantity for row in found.deviations])
    only = sp.open(runs[0]).compare(reference, quantities=["U"])
    assert [row.quantity for row in only.deviations] == ["U"]
    capsys.readouterr()
    assert main(["compare", str(runs[0]), "--reference", str(reference), "-o", str(tmp_path / "c.png")]) == 0
    assert capsys.readouterr().out.startswith(f"{found}\n")


def test_comparison_with_the_nearest_published_simulation(runs: tuple[Path, Path], tmp_path: Path) -> None:
    found = sp.open(runs[0]).compare()
    assert found.deviations == found.budgets == []
    rows = {row.figure.key: row for row in found.key_figures}
    assert rows["u_peak"].published == pytest.approx(2.67, abs=0.02)
    assert "key figure" in str(found)
    flow = synthetic.Flow(re_tau=300.0, cells=(32, 24, 48))
    synthetic.write_run(tmp_path, flow, blocks=2)
    with pytest.raises(UsageError, match="No published data are known here"):
        sp.open(tmp_path).compare()


def test_study(runs: tuple[Path, Path]) -> None:
    coarse, fine = runs
    study = sp.compare([fine, coarse])
    expected = read_study([fine, coarse])
    reference = find_reference(None, expected)
    assert str(study) == table_text(expected, reference)
    found = study.dataset
    assert [Path(name) for name in found.directory.values] == [coarse, fine]  # by number of points
    np.testing.assert_array_equal(found.nz, [48, 96])
    for key in ("u_peak", "cf"):
        np.testing.assert_array_equal(found[key], [run.figures[key].value for run in expected])
        np.testing.assert_array_equal(found[f"{key}_ci95"], [run.figures[key].half_width for run in expected])
        errors = np.array([error_of(run, reference, key) for run in expected])
        np.testing.assert_array_equal(found[f"{key}_error"], errors[:, 0])
        np.testing.assert_array_equal(found[f"{key}_error_ci95"], errors[:, 1])
        assert found[f"{key}_error"].attrs["units"] == "%"
    np.testing.assert_array_equal(found.point_steps, [run.point_steps for run in expected])


def test_study_against_a_run(runs: tuple[Path, Path]) -> None:
    coarse, fine = runs
    found = sp.compare([coarse, fine], reference=fine).dataset
    assert found.sizes["run"] == 1  # not the reference itself
    value, expected = (float(sp.open(run).key_figures.cf) for run in (coarse, fine))
    assert float(found.cf_error[0]) == pytest.approx(100 * (value / expected - 1))
