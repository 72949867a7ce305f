"""Merged blocks: the same averages, fewer blocks, files that are verified like Sluice's own."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import synthetic

from sluice_post.cli import main
from sluice_post.statistics import read_spectra, read_statistics

FLOW = synthetic.Flow("channel", cells=(8, 6, 16))


def blocks_of(count: int, seed: int) -> list[dict]:
    return synthetic.noisy_blocks(FLOW, synthetic.turbulent_profiles(FLOW), count, seed)


@pytest.fixture
def parts(tmp_path):
    """Two parts of a run, with unequal numbers of samples and a block without any."""
    synthetic.write_statistics(tmp_path / "a" / "statistics.h5", FLOW, blocks_of(5, 1), samples=[7, 0, 3, 9, 2])
    synthetic.write_statistics(tmp_path / "b" / "statistics.h5", FLOW, blocks_of(4, 2), samples=5, begin=110.0)
    return tmp_path


def test_keeps_averages_and_times(parts, capsys):
    assert main(["merge", str(parts / "a"), str(parts / "b"), "--blocks", "3", "-o", str(parts / "c")]) == 0
    assert capsys.readouterr().out == f"3 blocks: {parts / 'c' / 'statistics.h5'}\n"
    _, merged = read_statistics(parts / "c" / "statistics.h5")
    _, a = read_statistics(parts / "a" / "statistics.h5")
    _, b = read_statistics(parts / "b" / "statistics.h5")
    # 4 + 4 blocks with samples, in groups of 3, 3 and 2
    assert merged.samples.tolist() == [7 + 3 + 9, 2 + 5 + 5, 5 + 5]
    assert merged.time_begin.tolist() == [60.0, 100.0, 130.0]
    assert merged.time_end.tolist() == [100.0, 130.0, 150.0]
    for name in ("u", "uu", "p"):
        total = a.centre[name].sum(axis=0) + b.centre[name].sum(axis=0)
        np.testing.assert_allclose(merged.centre[name].sum(axis=0), total, rtol=1e-14)
    np.testing.assert_array_equal(merged.face["uw"][0], a.face["uw"][:3].sum(axis=0))
    assert merged.means().samples == 21 + 20


def test_keeps_all_blocks_unless_told(parts):
    assert main(["merge", str(parts / "b"), "-o", str(parts / "c")]) == 0
    before, after = (read_statistics(parts / name / "statistics.h5")[1] for name in "bc")
    np.testing.assert_array_equal(after.centre["uu"], before.centre["uu"])
    with h5py.File(parts / "b" / "statistics.h5") as old, h5py.File(parts / "c" / "statistics.h5") as new:
        assert dict(new.attrs) == dict(old.attrs)


def test_merges_spectra(parts):
    modes = {"kx": FLOW.cells[0] // 2 + 1, "ky": FLOW.cells[1] // 2 + 1}
    rng = np.random.default_rng(1)
    blocks = [
        {
            f"{name}_{axis}": rng.random((FLOW.cells[2] + (name in ("ww", "uw")), count))
            for name in ("uu", "vv", "ww", "pp", "uw")
            for axis, count in modes.items()
        }
        | {f"{name}_kxky": rng.random((2, modes["ky"], modes["kx"])) for name in ("uu", "vv", "ww", "pp", "uw")}
        | {"z_kxky": np.array([0.1, 1.0]), "z_face_kxky": np.array([0.12, 1.0])}
        for _ in range(4)
    ]
    synthetic.write_spectra(parts / "b" / "spectra.h5", FLOW, blocks, samples=5, begin=110.0)
    assert main(["merge", str(parts / "b"), "--blocks", "2", "-o", str(parts / "c")]) == 0
    _, merged = read_spectra(parts / "c" / "spectra.h5")
    assert merged.samples.tolist() == [10, 10]
    expected = 5 * (blocks[2]["uu_kx"] + blocks[3]["uu_kx"])
    np.testing.assert_allclose(merged.centre["uu_kx"][1], expected, rtol=1e-14)
    expected = 5 * (blocks[2]["uw_kxky"] + blocks[3]["uw_kxky"])
    np.testing.assert_allclose(merged.planes["uw_kxky"][1], expected, rtol=1e-14)
    assert merged.planes_z["uw_kxky"].tolist() == [0.12, 1.0]


def test_refuses_spectra_at_other_heights(parts, capsys):
    counts = [FLOW.cells[axis] // 2 + 1 for axis in (1, 0)]
    block = {
        f"{name}_k{axis}": np.ones((FLOW.cells[2] + (name in ("ww", "uw")), FLOW.cells["xy".index(axis)] // 2 + 1))
        for name in ("uu", "vv", "ww", "pp", "uw")
        for axis in "xy"
    }
    for part, height, begin in (("a", 0.1, 0.0), ("b", 0.2, 1000.0)):
        planes = {f"{name}_kxky": np.ones((1, *counts)) for name in ("uu", "vv", "ww", "pp", "uw")}
        z = {name: np.array([height]) for name in ("z_kxky", "z_face_kxky")}
        synthetic.write_spectra(parts / part / "spectra.h5", FLOW, [block | planes | z], begin=begin)
    assert main(["merge", str(parts / "a"), str(parts / "b"), "-o", str(parts / "c")]) == 2
    assert "other output.spectra.heights than those of" in capsys.readouterr().err


def test_refuses_what_is_not_one_run(parts, capsys):
    other = synthetic.Flow("channel", cells=(8, 6, 20))
    blocks = synthetic.noisy_blocks(other, synthetic.turbulent_profiles(other), 3, 1)
    synthetic.write_statistics(parts / "other" / "statistics.h5", other, blocks, begin=200.0)
    for first, second, reason in (("a", "other", "another grid"), ("b", "a", "in the order of time")):
        assert main(["merge", str(parts / first), str(parts / second), "-o", str(parts / "c")]) == 2
        assert reason in capsys.readouterr().err
    assert main(["merge", str(parts / "a"), "-o", str(parts / "a")]) == 2
    assert "would be overwritten" in capsys.readouterr().err


def test_refuses_another_viscosity(parts, capsys):
    for name, viscosity in (("a", "0.1"), ("b", "0.2")):
        path = parts / name / "statistics.h5"
        count = {"a": 5, "b": 4}[name]
        synthetic.write_parameter_sets(path, [0] * count, [{"flow.reynolds.viscosity": viscosity}])
    assert main(["merge", str(parts / "a"), str(parts / "b"), "-o", str(parts / "c")]) == 2
    assert "another flow" in capsys.readouterr().err


def test_takes_runs_of_versions_that_write_numbers_differently(parts):
    for name, count, viscosity in (("a", 5, "1e-05"), ("b", 4, "1.0e-05")):
        path = parts / name / "statistics.h5"
        synthetic.write_parameter_sets(path, [0] * count, [{"flow.reynolds.viscosity": viscosity}])
    assert main(["merge", str(parts / "a"), str(parts / "b"), "-o", str(parts / "c")]) == 0


def test_a_damaged_file_is_refused(parts, capsys):
    with h5py.File(parts / "a" / "statistics.h5", "a") as file:
        file["uu"][0, 0] += 1
    assert main(["merge", str(parts / "a"), "-o", str(parts / "c")]) == 4
    assert "damaged" in capsys.readouterr().err
    assert not (parts / "c").exists()
