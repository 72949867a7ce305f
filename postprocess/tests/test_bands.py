"""Intervals of profiles, and of all that is printed and written of them."""

import csv

import numpy as np
import pytest
import synthetic

from sluice_post import layout
from sluice_post.cli import main
from sluice_post.deviations import deviations
from sluice_post.profiles import wall_profiles, with_intervals
from sluice_post.reference import Reference
from sluice_post.run import load_statistics
from sluice_post.uncertainty import student_t95

BLOCKS = 24
CHANGE = 0.02
# Half a period over the run: one of six amplitudes, so the standard error is CHANGE over the root of 6.
SLOW_CHANGE = CHANGE * np.sqrt(2) * np.cos(np.pi * (np.arange(BLOCKS) + 0.5) / BLOCKS)
STANDARD_ERROR = CHANGE / np.sqrt(6)


@pytest.fixture
def directory(tmp_path, flow):
    """A run whose -uw changes slowly by a known factor, and nothing else."""
    profiles = synthetic.turbulent_profiles(flow)
    blocks = [profiles | {"uw": profiles["uw"] * (1 + change)} for change in SLOW_CHANGE]
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, blocks)
    return tmp_path


def test_bands_are_at_faces_and_centres(directory):
    parameters, blocks = load_statistics(directory)
    profiles = with_intervals(wall_profiles(blocks.means(), parameters), blocks)
    found, at_centres = profiles.half_widths, profiles.half_width_at_centres
    width = student_t95(6) * STANDARD_ERROR
    np.testing.assert_allclose(found["minus_uw"], width * profiles.face["minus_uw"], rtol=1e-6, atol=1e-12)
    centres = np.abs(width * profiles.at_centres("minus_uw"))
    np.testing.assert_allclose(at_centres("minus_uw"), centres, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found["residual"], found["minus_uw"], atol=1e-12)
    assert all(at_centres(name) is not None for name in (*profiles.centre, *profiles.face))
    assert np.max(found["U"]) < 1e-9


def test_written_profiles_have_intervals(turbulent_run, directory, tmp_path):
    csv_file = tmp_path / "p.csv"
    assert main(["profiles", str(turbulent_run), "--side", "bottom", "-o", str(csv_file)]) == 0
    with csv_file.open() as file:
        rows = list(csv.DictReader(file))
    names = [name for name in rows[0] if not name.endswith("_ci95")]
    assert names[:2] == ["z_over_h", "z_plus"]
    assert [name for name in rows[0] if name.endswith("_ci95")] == [f"{name}_ci95" for name in names[2:]]
    assert all(float(row["U_plus_ci95"]) > 0 for row in rows)

    assert main(["convert", str(directory), "--format", "lee-moser"]) == 0
    tables = {
        name: np.loadtxt(directory / name, comments="%")
        for name in (layout.LEE_MOSER_FLUCTUATIONS, layout.LEE_MOSER_FLUCTUATION_ERRORS)
    }
    values, errors = tables.values()
    np.testing.assert_array_equal(values[:, :2], errors[:, :2])
    np.testing.assert_allclose(errors[:, 5], STANDARD_ERROR * np.abs(values[:, 5]), rtol=1e-6, atol=1e-12)
    mean_errors = np.loadtxt(directory / layout.LEE_MOSER_MEAN_ERRORS, comments="%")
    np.testing.assert_array_equal(mean_errors[0], 0)


def test_deviations_have_intervals(directory, tmp_path, capsys):
    """-uw is 1 % larger than its reference at the peak: so is its interval."""
    parameters, blocks = load_statistics(directory)
    profiles = wall_profiles(blocks.means(), parameters)
    columns = {name: profiles.column(name) for name in ("minus_uw", "U")}
    values = {"minus_uw": columns["minus_uw"][1] / 1.01, "U": columns["U"][1]}
    heights = {name: z_plus for name, (z_plus, _) in columns.items()}
    reference = Reference("itself", profiles.re_tau, True, heights, values)
    uw, mean = deviations(blocks, parameters, reference, ["minus_uw", "U"])
    assert uw.largest == pytest.approx(1, rel=1e-3)
    assert uw.largest_half_width == pytest.approx(101 * student_t95(6) * STANDARD_ERROR, rel=1e-3)
    assert uw.rms_half_width == pytest.approx(uw.largest_half_width * uw.rms, rel=1e-2)
    assert mean.largest_half_width < 1e-9
    table = tmp_path / "p.csv"
    assert main(["profiles", str(directory), "-o", str(table)]) == 0
    assert main(["compare", str(directory), "--reference", str(table)]) == 0
    assert "95 % interval of the run" in capsys.readouterr().out


def test_a_single_block_has_no_bands(tmp_path, flow):
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [synthetic.turbulent_profiles(flow)])
    parameters, blocks = load_statistics(tmp_path)
    assert with_intervals(wall_profiles(blocks.means(), parameters), blocks).half_widths == {}
    assert main(["convert", str(tmp_path), "--format", "lee-moser"]) == 0
    assert not (tmp_path / layout.LEE_MOSER_MEAN_ERRORS).exists()
