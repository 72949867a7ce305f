"""spectra.h5 as a file: commands, reports, and what is refused."""

import shutil
from math import inf

import h5py
import numpy as np
import pytest
import synthetic
from synthetic_spectra import MKM, Fields, flow_of, load, spectra_of, write, write_two_viscosities

from sluice_post.cli import main
from sluice_post.spectra import evaluate_spectra
from sluice_post.spectra_figures import map_figure

PICTURES = {f"{name}_{axis}" for name in ("spectra_map", "spectra", "correlations") for axis in "xy"} | {"spectra_wall"}
TABLES = {f"{name}_{axis}" for name in ("spectra", "spectra_wall", "correlations") for axis in "xy"}


@pytest.fixture
def run(tmp_path):
    """Three blocks of a small flow."""
    write(tmp_path / "run", [Fields(flow_of(), seed) for seed in range(3)])
    return tmp_path / "run"


def written(folder, pattern):
    return {path.stem for path in folder.glob(pattern)}


def test_command(run, tmp_path, capsys):
    folder = tmp_path / "other"
    assert main(["spectra", str(run), "--at", "15", "40", "centre", "-o", str(folder)]) == 0
    assert "E_uu along x falls by a factor of at least" in capsys.readouterr().out
    assert written(folder, "figures/*.png") == PICTURES
    assert written(folder, "*.csv") == TABLES
    tables = {name: np.genfromtxt(folder / f"{name}.csv", delimiter=",", names=True) for name in TABLES}
    parameters, blocks = load(run)
    found = evaluate_spectra(blocks, parameters, [15.0, 40.0, inf])
    along_x = tables["spectra_x"]
    np.testing.assert_allclose(along_x["E_uu_plus"], found.values["uu_kx_at"].ravel(), rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(along_x["kx_h"][:7], np.arange(7) / 2, rtol=1e-9)
    np.testing.assert_allclose(along_x["wavelength_plus"][1:7], 4 * np.pi * 180 / np.arange(1, 7), rtol=1e-6)
    assert np.all(along_x["E_minus_uw_plus_ci95"] >= 0)
    np.testing.assert_allclose(tables["spectra_wall_y"]["E_tau_y_plus"], found.values["tau_y_wall_ky"], rtol=1e-8)
    np.testing.assert_allclose(tables["spectra_wall_y"]["E_p_plus_ci95"], found.width("p_wall_ky"), rtol=1e-8)
    assert len(tables["correlations_y"]) == 3 * 5
    np.testing.assert_allclose(tables["correlations_y"]["R_uu"][::5], 1.0)


@pytest.mark.parametrize("height", ["wall", "0", "-3", "nan"])
def test_heights_that_are_none(tmp_path, capsys, height):
    with pytest.raises(SystemExit) as stopped:
        main(["spectra", str(tmp_path), f"--at={height}"])
    assert stopped.value.code == 2
    assert "is neither a height z+ > 0 nor `centre`" in capsys.readouterr().err


@pytest.mark.unpainted
def test_report(run, tmp_path, capsys):
    published = tmp_path / "chan180.xspec.5"
    published.write_text(MKM)
    assert main(["report", str(run), "--reference", str(published)]) == 0
    assert "E_uu along y falls by a factor of at least" in capsys.readouterr().out
    page = (run / "report.html").read_text(encoding="utf-8")
    for text in (
        *("Two-point correlations along y", "Circles: chan180.xspec.5."),
        "largest correlation of the velocity at half the box",
    ):
        assert text in page
    assert written(run, "figures/*.png") >= PICTURES
    assert written(run, "*.csv") >= TABLES


@pytest.mark.unpainted
def test_run_without_spectra(turbulent_run, tmp_path, capsys):
    assert main(["spectra", str(turbulent_run)]) == 4
    error = capsys.readouterr().err
    assert "spectra.h5: no such file; a run writes it with output.spectra" in error
    assert error.count("\n") == 1
    run = shutil.copytree(turbulent_run, tmp_path / "run")
    assert main(["report", str(run)]) == 0
    assert "missing: spectra.h5: not there (output.spectra)" in capsys.readouterr().out
    assert "Spectra" not in (run / "report.html").read_text(encoding="utf-8")
    assert not list(run.glob("spectra*"))


@pytest.mark.unpainted
@pytest.mark.parametrize(("blocks", "times", "code", "message", "note"), [
    (0, [], 4, "holds no closed block yet", "holds no closed block yet"),
    (1, ["--from", "70"], 2, "no block lies inside the times", "so no spectra and two-point correlations"),
])  # fmt: skip
def test_a_report_leaves_out_spectra_without_blocks(run, capsys, blocks, times, code, message, note):
    """There may be statistics, in shorter blocks."""
    spectra = [Fields(flow_of()).spectra()] * blocks
    synthetic.write_spectra(run / "spectra.h5", flow_of(), spectra, length=20)
    assert main(["spectra", str(run), *times]) == code
    assert f"spectra.h5: {message}" in capsys.readouterr().err
    assert main(["report", str(run), *times]) == 0
    assert note in capsys.readouterr().out


def another_grid(run):
    other = flow_of((12, 8, 20))
    synthetic.write_spectra(run / "spectra.h5", other, [Fields(other).spectra()])


def too_few_wavenumbers(run):
    write(run, [Fields(flow_of((12, 4, 24)))])


def laminar(run):
    synthetic.write_statistics(run / "statistics.h5", flow_of(), [synthetic.laminar_poiseuille(flow_of())] * 3)


def damaged(run):
    with h5py.File(run / "spectra.h5", "a") as file:
        file["ww_ky"][0, 3, 1] += 1e-9


def different_flows(run):
    write_two_viscosities(run / "spectra.h5", flow_of(), [0, 1, 1])


@pytest.mark.parametrize(("change", "code", "message"), [
    (another_grid, 4, "has another grid than statistics.h5"),
    (too_few_wavenumbers, 4, "12 x 4 cells along x and y have too few wavenumbers"),
    (laminar, 2, "the flow is laminar"),
    (damaged, 4, "'/ww_ky' is damaged"),
    (different_flows, 2, "flow.reynolds.viscosity"),
])  # fmt: skip
def test_refused(run, capsys, change, code, message):
    change(run)
    assert main(["spectra", str(run)]) == code
    assert message in capsys.readouterr().err
    if change is laminar:
        assert main(["report", str(run)]) == 0


def test_map_of_the_smallest_grid(tmp_path):
    assert map_figure(spectra_of(tmp_path, [Fields(flow_of((5, 6, 24)))]), "x").axes
