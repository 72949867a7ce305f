"""Averages by phase: known harmonics, intervals, tables, figures, report."""

from pathlib import Path

import h5py
import numpy as np
import pytest
import synthetic
from synthetic_phases import BINS, FLOW, PERIOD, amplitude, lag, write_phases

import sluice_post
from sluice_post import layout, phases
from sluice_post.cli import main
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.phases import evaluate_phases, first_harmonic, load_phases


def test_what_was_written_is_found(tmp_path: Path) -> None:
    found = evaluate_phases(*load_phases(write_phases(tmp_path / "run", noise=0.0)))
    assert found.period == PERIOD
    np.testing.assert_array_equal(found.samples, 40)
    np.testing.assert_allclose(found.phase, np.arange(BINS) / BINS + 0.01)
    profiles, z = synthetic.turbulent_profiles(FLOW), FLOW.z
    np.testing.assert_allclose(found["mean_u"], profiles["u"], rtol=1e-12)
    np.testing.assert_allclose(found["amplitude_u"], amplitude(z), rtol=1e-12)
    np.testing.assert_allclose(found["lag_u"], lag(z) % 1, atol=1e-12)
    np.testing.assert_allclose(found["lag_v"], 0.25, atol=1e-12)
    np.testing.assert_allclose(found["amplitude_v"], np.exp(-20 * z), rtol=1e-12)
    np.testing.assert_allclose(found["uu_periodic"], amplitude(z) ** 2 / 2, rtol=1e-9)
    np.testing.assert_allclose(found["uu_fluctuation"], 0.04, rtol=1e-9)
    for name, variance in {"uu": 0.04, "vv": 0.03, "ww": 0.02, "pp": 0.01}.items():
        np.testing.assert_allclose(found[name], variance, rtol=1e-9)
    np.testing.assert_allclose(found["minus_uw"][1:-1, 3], 0.5 * (1 - FLOW.z_face[1:-1]), atol=1e-12)
    for side in ("bottom", "top"):
        stress = 2 + np.cos(2 * np.pi * found.phase)
        np.testing.assert_allclose(found[f"shear_x_{side}"], stress, rtol=1e-12)
    bulk = np.diff(FLOW.z_face) @ found["U"].values / 2
    np.testing.assert_allclose(found["bulk_velocity"], bulk, rtol=1e-12)
    np.testing.assert_allclose(found["forcing"], 0.7)


def test_intervals_are_those_of_the_blocks(tmp_path: Path) -> None:
    found = evaluate_phases(*load_phases(write_phases(tmp_path / "run", blocks=20)))
    assert 0.002 < found.bulk_velocity_ci95.min() < found.bulk_velocity_ci95.max() < 0.03
    np.testing.assert_allclose(found.U_ci95, found.bulk_velocity_ci95[0], rtol=1e-6)  # all drift alike
    assert found.amplitude_u_ci95.max() < 1e-9
    assert found.lag_u_ci95.max() < 1e-9
    one = evaluate_phases(*load_phases(tmp_path / "run", 60.0, 70.0))
    assert not [name for name in one if str(name).endswith("_ci95")]


def test_short_blocks_are_joined_to_whole_cycles(tmp_path: Path) -> None:
    """Blocks that hold half of the phases each give the intervals of those that hold all."""
    whole = phases.load_phases(write_phases(tmp_path / "whole", blocks=6))[1]
    halves = whole.pick(np.repeat(np.arange(len(whole)), 2))
    for values in (halves.centre, halves.face):
        for name in [name for name in values if name.startswith("phase_")]:
            sums = values[name] = values[name].copy()
            sums[0::2, ..., : BINS // 2] = 0
            sums[1::2, ..., BINS // 2 :] = 0
    joined = phases.whole_cycles(halves)
    assert len(joined) == len(whole)
    found, expected = (phases.evaluate_phases(PERIOD, blocks) for blocks in (halves, whole))
    np.testing.assert_array_equal(found.samples, expected.samples)
    for name in ("U", "minus_uw", "bulk_velocity", "amplitude_u"):
        np.testing.assert_allclose(found[f"{name}_ci95"], expected[f"{name}_ci95"], rtol=1e-9)
    assert len(phases.whole_cycles(halves.pick(np.arange(3)))) == 1


def test_a_single_block_has_no_intervals(tmp_path: Path) -> None:
    blocks = phases.load_phases(write_phases(tmp_path / "run", blocks=1))[1]
    text = phases.table_text(phases.evaluate_phases(PERIOD, blocks))
    assert "+-" not in text and "nan" not in text


def test_a_harmonic_of_samples_at_even_phases_is_exact() -> None:
    phase = np.arange(7) / 7 + 0.03
    found = first_harmonic(4 + 2 * np.cos(2 * np.pi * (phase - 0.2)) + np.cos(4 * np.pi * phase), phase)
    assert abs(found - 2 * np.exp(-2j * np.pi * 0.2)) < 1e-12


def test_a_mean_has_no_harmonic_at_uneven_phases() -> None:
    phase = (np.arange(7) + 0.1 * np.array([3, -2, 1, 4, -4, 0, 2])) / 7
    assert abs(first_harmonic(np.full(7, 20.0), phase)) < 1e-12


def test_what_lacks_is_named(tmp_path: Path) -> None:
    without = synthetic.write_run(tmp_path / "without", FLOW, blocks=4)
    with pytest.raises(InputOutputError, match=r"output\.statistics\.phases"):
        load_phases(without)
    run = write_phases(tmp_path / "run")
    with h5py.File(run / layout.STATISTICS_FILE, "a") as file:
        file[layout.PHASE_SAMPLES][:, 3] = 0
    synthetic.attach_hashes(run / layout.STATISTICS_FILE)
    with pytest.raises(UsageError, match="1 of 12 bins of phase have no sample"):
        load_phases(run)


def test_the_command_writes_tables_and_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = write_phases(tmp_path / "run")
    assert main(["phases", str(run)]) == 0
    text = capsys.readouterr().out
    assert "12 bins of the period 2.5, 40 to 40 samples each" in text
    table = np.genfromtxt(run / layout.PHASES_CSV, delimiter=",", names=True)
    assert table.shape == (BINS,)
    np.testing.assert_allclose(table["shear_x_bottom"], 2 + np.cos(2 * np.pi * table["phase"]), rtol=1e-6)
    harmonic = np.genfromtxt(run / layout.PHASE_HARMONIC_CSV, delimiter=",", names=True)
    np.testing.assert_allclose(harmonic["amplitude_u"], amplitude(harmonic["z"]), rtol=1e-6)
    both = np.genfromtxt(run / layout.PHASE_PROFILES_CSV, delimiter=",", names=True)
    assert both.shape == (BINS * FLOW.cells[2],)
    for name in ("profiles", "wall_shear", "bulk_velocity", "amplitude", "lag", "variances"):
        assert (run / layout.FIGURE_FOLDER / f"phase_{name}.png").is_file()


@pytest.mark.unpainted
def test_the_report_has_them(tmp_path: Path) -> None:
    run = write_phases(tmp_path / "run")
    assert main(["report", str(run)]) == 0
    assert "Wall shear stress by phase" in (run / layout.REPORT_FILE).read_text()
    assert (run / layout.PHASES_CSV).is_file()


def test_merged_blocks_give_the_same_averages(tmp_path: Path) -> None:
    run = write_phases(tmp_path / "run")
    assert main(["merge", str(run), "--blocks", "4", "-o", str(tmp_path / "merged")]) == 0
    whole, merged = (evaluate_phases(*load_phases(tmp_path / name)) for name in ("run", "merged"))
    assert merged.period == PERIOD
    np.testing.assert_array_equal(merged.samples, whole.samples)
    np.testing.assert_allclose(merged["U"], whole["U"], rtol=1e-13)
    other = write_phases(tmp_path / "other")
    with h5py.File(other / layout.STATISTICS_FILE, "a") as file:
        file.attrs[layout.ATTR_PHASE_PERIOD] = 2 * PERIOD
        for name in (layout.TIME_BEGIN, layout.TIME_END):
            file[name][...] += 1000
    synthetic.attach_hashes(other / layout.STATISTICS_FILE)
    assert main(["merge", str(run), str(other), "--blocks", "4", "-o", str(tmp_path / "both")]) == 2


def test_dataset(tmp_path: Path) -> None:
    found = sluice_post.open(write_phases(tmp_path / "run")).phases
    assert found.U.dims == ("z", "phase")
    assert found.minus_uw.dims == ("z_face", "phase")
    assert found.shear_x_top.dims == ("phase",)
    assert found.amplitude_u.dims == ("z",)
    assert found.U_ci95.attrs["units"] == "U"
    assert found.attrs["period"] == PERIOD
    np.testing.assert_allclose(found.lag_u, lag(found.z) % 1, atol=1e-12)
