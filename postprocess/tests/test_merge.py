"""Merged blocks: the same averages, fewer blocks, files that are verified like Sluice's own."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import synthetic
from synthetic_spectra import random_blocks

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


def merged(parts, *names, options=()):
    """The exit code of merging these directories into c."""
    return main(["merge", *(str(parts / name) for name in names), *options, "-o", str(parts / "c")])


def test_keeps_averages_and_times(parts, capsys):
    assert merged(parts, "a", "b", options=["--blocks", "3"]) == 0
    assert capsys.readouterr().out == f"3 blocks: {parts / 'c' / 'statistics.h5'}\n"
    _, c = read_statistics(parts / "c" / "statistics.h5")
    _, a = read_statistics(parts / "a" / "statistics.h5")
    _, b = read_statistics(parts / "b" / "statistics.h5")
    # 4 + 4 blocks with samples, in groups of 3, 3 and 2
    assert c.samples.tolist() == [7 + 3 + 9, 2 + 5 + 5, 5 + 5]
    assert c.time_begin.tolist() == [60.0, 100.0, 130.0]
    assert c.time_end.tolist() == [100.0, 130.0, 150.0]
    for name in ("u", "uu", "p"):
        total = a.centre[name].sum(axis=0) + b.centre[name].sum(axis=0)
        np.testing.assert_allclose(c.centre[name].sum(axis=0), total, rtol=1e-14)
    np.testing.assert_array_equal(c.face["uw"][0], a.face["uw"][:3].sum(axis=0))
    assert c.means().samples == 21 + 20


def test_keeps_all_blocks_unless_told(parts):
    assert merged(parts, "b") == 0
    before, after = (read_statistics(parts / name / "statistics.h5")[1] for name in "bc")
    np.testing.assert_array_equal(after.centre["uu"], before.centre["uu"])
    with h5py.File(parts / "b" / "statistics.h5") as old, h5py.File(parts / "c" / "statistics.h5") as new:
        assert dict(new.attrs) == dict(old.attrs)


def test_merges_spectra(parts):
    blocks = random_blocks(FLOW, 4, ([0.1, 1.0], [0.12, 1.0]))
    synthetic.write_spectra(parts / "b" / "spectra.h5", FLOW, blocks, samples=5, begin=110.0)
    assert merged(parts, "b", options=["--blocks", "2"]) == 0
    _, c = read_spectra(parts / "c" / "spectra.h5")
    assert c.samples.tolist() == [10, 10]
    expected = 5 * (blocks[2]["uu_kx"] + blocks[3]["uu_kx"])
    np.testing.assert_allclose(c.centre["uu_kx"][1], expected, rtol=1e-14)
    expected = 5 * (blocks[2]["uw_kxky"] + blocks[3]["uw_kxky"])
    np.testing.assert_allclose(c.planes["uw_kxky"][1], expected, rtol=1e-14)
    assert c.planes_z["uw_kxky"].tolist() == [0.12, 1.0]


def test_refuses_spectra_at_other_heights(parts, capsys):
    for part, height, begin in (("a", 0.1, 0.0), ("b", 0.2, 1000.0)):
        blocks = random_blocks(FLOW, 1, ([height], [height]))
        synthetic.write_spectra(parts / part / "spectra.h5", FLOW, blocks, begin=begin)
    assert merged(parts, "a", "b") == 2
    assert "other output.spectra.heights than those of" in capsys.readouterr().err


def test_refuses_what_is_not_one_run(parts, capsys):
    other = synthetic.Flow("channel", cells=(8, 6, 20))
    blocks = synthetic.noisy_blocks(other, synthetic.turbulent_profiles(other), 3, 1)
    synthetic.write_statistics(parts / "other" / "statistics.h5", other, blocks, begin=200.0)
    for first, second, reason in (("a", "other", "another grid"), ("b", "a", "in the order of time")):
        assert merged(parts, first, second) == 2
        assert reason in capsys.readouterr().err
    assert main(["merge", str(parts / "a"), "-o", str(parts / "a")]) == 2
    assert "would be overwritten" in capsys.readouterr().err


@pytest.mark.parametrize(("other", "code"), [("2e-05", 2), ("1.0e-05", 0)], ids=["other", "same"])
def test_refuses_another_viscosity_but_not_another_way_to_write_it(parts, capsys, other, code):
    for name, count, viscosity in (("a", 5, "1e-05"), ("b", 4, other)):
        path = parts / name / "statistics.h5"
        synthetic.write_parameter_sets(path, [0] * count, [{"flow.reynolds.viscosity": viscosity}])
    assert merged(parts, "a", "b") == code
    assert ("another flow" in capsys.readouterr().err) == (code == 2)


def test_a_damaged_file_is_refused(parts, capsys):
    with h5py.File(parts / "a" / "statistics.h5", "a") as file:
        file["uu"][0, 0] += 1
    assert merged(parts, "a") == 4
    assert "damaged" in capsys.readouterr().err
    assert not (parts / "c").exists()
