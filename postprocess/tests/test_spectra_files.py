"""spectra.h5 as a file: commands, reports, and what is refused."""

import shutil
from math import inf

import h5py
import numpy as np
import pytest
import synthetic
from synthetic_spectra import MKM, Fields, flow_of, load, write

from sluice_post.cli import main
from sluice_post.spectra import evaluate_spectra
from sluice_post.spectra_figures import map_figure

PICTURES = {f"{name}_{axis}" for name in ("spectra_map", "spectra", "correlations") for axis in "xy"} | {"spectra_wall"}


TABLES = {f"{name}_{axis}" for name in ("spectra", "spectra_wall", "correlations") for axis in "xy"}


def test_command(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of(), seed) for seed in range(3)])
    folder = tmp_path / "other"
    assert main(["spectra", str(tmp_path), "--at", "15", "40", "centre", "-o", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "E_uu along x falls by a factor of at least" in out
    assert {path.stem for path in (folder / "figures").glob("*.png")} == PICTURES
    assert {path.stem for path in folder.glob("*.csv")} == TABLES
    rows = np.genfromtxt(folder / "spectra_x.csv", delimiter=",", names=True)
    assert len(rows) == 3 * 7
    parameters, blocks = load(tmp_path)
    evaluated = evaluate_spectra(blocks, parameters, [15.0, 40.0, inf])
    np.testing.assert_allclose(rows["E_uu_plus"].reshape(3, 7), evaluated.values["uu_kx_at"], rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(rows["kx_h"][:7], np.arange(7) / 2, rtol=1e-9)
    np.testing.assert_allclose(rows["wavelength_plus"][1:7], 4 * np.pi * 180 / np.arange(1, 7), rtol=1e-6)
    assert np.all(rows["E_minus_uw_plus_ci95"] >= 0)
    rows = np.genfromtxt(folder / "spectra_wall_y.csv", delimiter=",", names=True)
    np.testing.assert_allclose(rows["E_tau_y_plus"], evaluated.values["tau_y_wall_ky"], rtol=1e-8)
    np.testing.assert_allclose(rows["E_p_plus_ci95"], evaluated.bands["p_wall_ky"], rtol=1e-8)
    rows = np.genfromtxt(folder / "correlations_y.csv", delimiter=",", names=True)
    assert len(rows) == 3 * 5
    np.testing.assert_allclose(rows["R_uu"][::5], 1.0)


@pytest.mark.parametrize("height", ["wall", "0", "-3", "nan"])
def test_heights_that_are_none(tmp_path, capsys, height):
    with pytest.raises(SystemExit) as stopped:
        main(["spectra", str(tmp_path), f"--at={height}"])
    assert stopped.value.code == 2
    assert "is neither a height z+ > 0 nor `centre`" in capsys.readouterr().err


@pytest.mark.unpainted
def test_report(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of(), seed) for seed in range(3)])
    published = tmp_path / "chan180.xspec.5"
    published.write_text(MKM)
    assert main(["report", str(tmp_path), "--reference", str(published)]) == 0
    assert "E_uu along y falls by a factor of at least" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Two-point correlations along y" in page
    assert "largest correlation of the velocity at half the box" in page
    assert "Circles: chan180.xspec.5." in page
    assert {path.stem for path in (tmp_path / "figures").glob("*.png")} >= PICTURES
    assert {path.stem for path in tmp_path.glob("*.csv")} >= TABLES


@pytest.mark.unpainted
def test_run_without_spectra(turbulent_run, tmp_path, capsys):
    assert main(["spectra", str(turbulent_run)]) == 4
    error = capsys.readouterr().err
    assert "spectra.h5: no such file; a run writes it with output.spectra" in error
    assert error.count("\n") == 1
    run = shutil.copytree(turbulent_run, tmp_path / "run")
    assert main(["report", str(run)]) == 0
    assert "missing: spectra.h5: not there (output.spectra)" in capsys.readouterr().out
    page = (run / "report.html").read_text(encoding="utf-8")
    assert "Spectra" not in page
    assert not list(run.glob("spectra*"))


@pytest.mark.unpainted
def test_no_block_yet(tmp_path, capsys):
    flow = flow_of()
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [Fields(flow).statistics()])
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [])
    assert main(["spectra", str(tmp_path)]) == 4
    assert "holds no closed block yet" in capsys.readouterr().err
    assert main(["report", str(tmp_path)]) == 0
    assert "holds no closed block yet" in capsys.readouterr().out


@pytest.mark.unpainted
def test_no_block_between_two_times(tmp_path, capsys):
    """There may be statistics, in shorter blocks. A report then leaves the spectra out."""
    flow = flow_of()
    states = [Fields(flow, seed) for seed in range(2)]
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [s.statistics() for s in states])
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [states[0].spectra()], length=20)
    assert main(["spectra", str(tmp_path), "--from", "70"]) == 2
    assert "spectra.h5: no block lies inside the times" in capsys.readouterr().err
    assert main(["report", str(tmp_path), "--from", "70"]) == 0
    assert "so no spectra and two-point correlations" in capsys.readouterr().out


def test_spectra_of_another_grid(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of())])
    other = flow_of((12, 8, 20))
    synthetic.write_spectra(tmp_path / "spectra.h5", other, [Fields(other).spectra()])
    assert main(["spectra", str(tmp_path)]) == 4
    assert "has another grid than statistics.h5" in capsys.readouterr().err


def test_grid_with_too_few_wavenumbers(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of((12, 4, 24)))])
    assert main(["spectra", str(tmp_path)]) == 4
    assert "12 x 4 cells along x and y have too few wavenumbers" in capsys.readouterr().err
    write(tmp_path, [Fields(flow_of((5, 6, 24)))])
    parameters, blocks = load(tmp_path)
    assert map_figure(evaluate_spectra(blocks, parameters).found, "x").axes


def test_laminar_flow(tmp_path, capsys):
    flow = flow_of()
    state = Fields(flow)
    laminar = synthetic.laminar_poiseuille(flow)
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [laminar])
    spectra = {name: np.zeros_like(values) for name, values in state.spectra().items()}
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [spectra])
    assert main(["spectra", str(tmp_path)]) == 2
    assert "the flow is laminar" in capsys.readouterr().err
    assert main(["report", str(tmp_path)]) == 0


def test_damaged_file(tmp_path, capsys):
    write(tmp_path, [Fields(flow_of())])
    with h5py.File(tmp_path / "spectra.h5", "a") as file:
        file["ww_ky"][0, 3, 1] += 1e-9
    assert main(["spectra", str(tmp_path)]) == 4
    assert "'/ww_ky' is damaged" in capsys.readouterr().err


def test_blocks_of_different_flows(tmp_path, capsys):
    flow = flow_of()
    write(tmp_path, [Fields(flow, seed) for seed in range(2)])
    sets = [
        {
            **{"flow.type": "channel", "flow.reynolds.viscosity": f"{nu!r}"},
            **{"walls.bottom.type": "no_slip", "walls.top.type": "no_slip"},
            **{"walls.bottom.velocity": "[0, 0, 0]", "walls.top.velocity": "[0, 0, 0]"},
        }
        for nu in (flow.viscosity, 2 * flow.viscosity)
    ]
    synthetic.write_parameter_sets(tmp_path / "spectra.h5", [0, 1], sets)
    assert main(["spectra", str(tmp_path)]) == 2
    assert "flow.reynolds.viscosity" in capsys.readouterr().err
