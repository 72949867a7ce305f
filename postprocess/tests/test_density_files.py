"""densities.h5 as a file: commands, merged blocks, and what is refused."""

import random
import shutil

import h5py
import numpy as np
import pytest
import synthetic
import synthetic_densities
from synthetic_spectra import write_two_viscosities

from sluice_post.cli import main
from sluice_post.densities import load_densities, read_densities
from sluice_post.density_figures import map_figure, quadrants_figure
from sluice_post.density_tables import csv_texts
from sluice_post.errors import InputOutputError
from sluice_post.evaluated_densities import evaluate_densities
from sluice_post.report_parts import densities_part
from sluice_post.results import evaluate
from sluice_post.run import load_run, load_statistics

FLOW = synthetic.Flow(cells=(12, 10, 24))
HEIGHTS = [float(FLOW.z_face[k]) for k in (6, 12)]
FIGURES = {
    *("densities", "density_map", "density_moments", "wall_shear", "wall_shear_joint", "quadrants"),
    *("joint_uw", "covariance_uw", "quadrants_outside_holes"),
}
TABLES = {
    *("density_u", "density_v", "density_w", "density_p", "density_shear_x", "density_shear_y"),
    *("density_moments_centres", "density_moments_faces", "quadrants", "quadrants_outside_holes"),
}


def write(directory, heights=HEIGHTS, shifts=(0.0, 0.0, 0.0, 0.0), begin=60.0, flow=FLOW):
    """A run whose blocks may have other bins."""
    profiles = synthetic.turbulent_profiles(flow)
    blocks = []
    for n, shift in enumerate(shifts):
        bins = synthetic_densities.bins_of(flow, heights, shift)
        blocks.append(synthetic_densities.gaussian_block(flow, bins, heights, 1 + 0.01 * n))
    synthetic.write_statistics(directory / "statistics.h5", flow, [profiles] * len(shifts), begin=begin)
    synthetic_densities.write(directory / "densities.h5", flow, heights, blocks, begin=begin)
    return directory


def evaluated(directory, side=None):
    parameters, statistics = load_statistics(directory)
    return evaluate_densities(load_densities(directory, statistics, None, None), parameters, side=side)


@pytest.fixture(scope="module")
def intact(tmp_path_factory):
    return write(tmp_path_factory.mktemp("densities"))


@pytest.fixture
def run(intact, tmp_path):
    return shutil.copytree(intact, tmp_path / "run")


def test_command(run, tmp_path, capsys):
    folder = tmp_path / "other"
    assert main(["densities", str(run), "--at", "15", "centre", "-o", str(folder)]) == 0
    out = capsys.readouterr().out
    assert "probability of tau_x < 0 (reversed flow): " in out
    assert "largest differences from the moments of statistics.h5, of the same samples:" in out
    assert {path.stem for path in (folder / "figures").glob("*.png")} == FIGURES
    assert {path.stem for path in folder.glob("*.csv")} == TABLES
    rows = np.genfromtxt(folder / "density_u.csv", delimiter=",", names=True)
    assert len(rows) == 2 * 128
    assert np.nansum(rows["density"]) / 8 == pytest.approx(2, abs=1e-3)
    assert np.nanmin(rows["density_ci95"]) >= 0
    rows = np.genfromtxt(folder / "quadrants.csv", delimiter=",", names=True)
    total = sum(rows[f"fraction_q{n}"] for n in (1, 2, 3, 4))
    np.testing.assert_allclose(total, 1)


def test_without_heights_of_joint_densities(tmp_path):
    write(tmp_path, heights=[])
    found = evaluated(tmp_path, "top")
    assert set(csv_texts(found)) == {f"{name}.csv" for name in TABLES - {"quadrants_outside_holes"}}
    of_heights = {"joint_uw", "covariance_uw", "quadrants_outside_holes"}
    assert all(entry.draw() is None for entry in densities_part(found).entries if entry.name in of_heights)


def test_labels_at_a_low_reynolds_number(tmp_path):
    """A short logarithmic axis has labels at powers of 10 alone: others would overlap."""
    write(tmp_path, flow=synthetic.Flow("couette", re_tau=60.0, cells=(12, 10, 16), stretching=1.0))
    found = evaluated(tmp_path)
    for figure in (quadrants_figure(found), map_figure(found)):
        figure.draw_without_rendering()
        axis = figure.axes[0].xaxis
        assert not any(label.get_text() for label in axis.get_ticklabels(minor=True))
        assert len(axis.get_ticklabels()) >= 2


@pytest.mark.unpainted
def test_report_and_convert(run, tmp_path, capsys):
    assert main(["report", str(run)]) == 0
    assert "tau_x over the mean of tau_x: rms" in capsys.readouterr().out
    page = (run / "report.html").read_text(encoding="utf-8")
    for title in ("Densities of the wall shear", "Quadrants of the shear stress", "Densities and quadrants in numbers"):
        assert title in page
    assert {path.stem for path in (run / "figures").glob("*.png")} >= FIGURES
    assert {path.stem for path in run.glob("*.csv")} >= TABLES
    assert main(["convert", str(run), "--format", "csv", "-o", str(tmp_path / "csv")]) == 0
    assert {path.stem for path in (tmp_path / "csv").glob("*.csv")} == {*TABLES, "profiles"}


def test_merge(run, tmp_path, capsys):
    """Numbers of points are added, bins are kept, and the merged file gives the same densities."""
    assert main(["merge", str(run), "--blocks", "2", "-o", str(tmp_path / "merged")]) == 0
    before, after = (read_densities(path / "densities.h5")[1].face for path in (run, tmp_path / "merged"))
    np.testing.assert_array_equal(after["u_histogram"][1], before["u_histogram"][2:].sum(axis=0))
    np.testing.assert_array_equal(after["uw_joint"][0], before["uw_joint"][:2].sum(axis=0))
    np.testing.assert_array_equal(after["u_width"], before["u_width"][:2])
    assert capsys.readouterr().out.endswith(f"2 blocks: {tmp_path / 'merged' / 'densities.h5'}\n")
    whole, merged = (evaluated(path).values["density_w"] for path in (run, tmp_path / "merged"))
    np.testing.assert_allclose(merged, whole, rtol=1e-9)


def test_parts_in_other_bins_are_not_merged(run, tmp_path, capsys):
    for shifts, heights in (((0.1,) * 4, HEIGHTS), ((0.0,) * 4, HEIGHTS[:1]), ((0.0,) * 4, [])):
        part = write(tmp_path / f"part{len(heights)}", heights, shifts, begin=100.0)
        assert main(["merge", str(run), str(part), "-o", str(tmp_path / "merged")]) == 2
        assert "other bins" in capsys.readouterr().err
        assert not (tmp_path / "merged" / "densities.h5").exists()
    part = write(tmp_path / "continued", begin=100.0)
    assert main(["merge", str(run), str(part), "-o", str(tmp_path / "merged")]) == 0


def other_bins(run):
    write(run, shifts=(0.0, 0.0, 0.1, 0.1))


def different_flows(run):
    write_two_viscosities(run / "densities.h5", FLOW, [0, 0, 1, 1])


def another_grid(run):
    synthetic_densities.write(run / "densities.h5", synthetic.Flow(cells=(12, 10, 20)), [], [])


def laminar(run):
    synthetic.write_statistics(run / "statistics.h5", FLOW, [synthetic.laminar_poiseuille(FLOW)] * 4)


def cut(run):
    content = (run / "densities.h5").read_bytes()
    (run / "densities.h5").write_bytes(content[: len(content) // 2])


def holding(name, value):
    """Impossible values with right hashes."""

    def change(run):
        with h5py.File(run / "densities.h5", "a") as file:
            file[name][(slice(None), *(0,) * (file[name].ndim - 1))] = value
        synthetic.attach_hashes(run / "densities.h5")

    return change


@pytest.mark.parametrize(("change", "code", "message"), [
    (other_bins, 2, "the bins (u_middle) change after the block that ends at t = 80;"),
    (other_bins, 2, "--to 80 or --from 80"),
    (different_flows, 2, "flow.reynolds.viscosity"),
    (another_grid, 4, "has another grid than statistics.h5"),
    (laminar, 2, "the flow is laminar, so it has no densities of fluctuations"),
    (cut, 4, "densities.h5"),
    (holding("v_histogram", -1.0), 4, "'/v_histogram' does not hold the points of all samples"),
    (holding("shear_joint", 1e6), 4, "'/shear_joint' does not hold the points of all samples"),
    (holding("p_width", 0.0), 4, "'/p_width' holds a width that is not positive"),
    (holding("uw_q2", np.nan), 4, "'/uw_q2' holds values that are not finite"),
])  # fmt: skip
def test_refused(run, capsys, change, code, message):
    change(run)
    assert main(["densities", str(run)]) == code
    assert message in capsys.readouterr().err
    if change is laminar:
        assert evaluate(load_run(run)).densities is None
    if change is other_bins:
        assert len(load_densities(run, load_statistics(run)[1], 80, None).blocks) == 2
        assert main(["merge", str(run), "-o", str(run / "merged")]) == 2
        assert "so no densities and quadrants" in "\n".join(load_run(run).missing)


@pytest.mark.parametrize("name", ["u_histogram", "w_width", "uw_joint", "shear_joint", "fraction_q3", "grid/z_joint"])
def test_damaged_file(run, capsys, name):
    with h5py.File(run / "densities.h5", "a") as file:
        file[name][(0,) * file[name].ndim] += 1
    assert main(["densities", str(run)]) == 4
    assert f"'/{name}' is damaged" in capsys.readouterr().err
    assert main(["merge", str(run), "-o", str(run / "merged")]) == 4
    assert main(["report", str(run)]) == 4


def test_flipped_bits(run):
    """Refused with a message that names the file, or read as before."""
    path, chosen, refused = run / "densities.h5", random.Random(1), 0
    content, (_, before, heights) = path.read_bytes(), read_densities(path)
    for _ in range(40):
        changed = bytearray(content)
        changed[chosen.randrange(len(changed))] ^= 1 << chosen.randrange(8)
        path.write_bytes(changed)
        try:
            _, after, found = read_densities(path)
        except InputOutputError as error:
            assert str(error).startswith(f"{path}: ")
            refused += 1
            continue
        np.testing.assert_array_equal(found, heights)
        for name, values in before.face.items():
            np.testing.assert_array_equal(after.face[name], values)
    assert refused > 20


def test_no_file_and_no_block_yet(run, capsys):
    synthetic_densities.write(run / "densities.h5", FLOW, HEIGHTS, [])
    assert main(["densities", str(run)]) == 4
    assert "holds no closed block yet; run on past output.densities.start" in capsys.readouterr().err
    assert "holds no closed block yet" in "\n".join(load_run(run).missing)
    assert main(["convert", str(run), "--format", "csv"]) == 0
    (run / "densities.h5").unlink()
    capsys.readouterr()
    assert main(["densities", str(run)]) == 4
    assert "densities.h5: no such file; a run writes it with output.densities" in capsys.readouterr().err
    notes = "\n".join(load_run(run).missing)
    assert "densities.h5: not there (output.densities), so no densities and quadrants" in notes
