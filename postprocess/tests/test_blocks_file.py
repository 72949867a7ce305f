"""Blocks in the journal beside statistics.h5, where a run puts the newest ones."""

from __future__ import annotations

import struct
from pathlib import Path

import h5py
import numpy as np
import pytest
import synthetic
from test_merge import FLOW, blocks_of

from sluice_post.blocks_file import BlocksFile, journal_path
from sluice_post.cli import main
from sluice_post.errors import InputOutputError
from sluice_post.hashes import ENDING, byte_hash
from sluice_post.hdf5_file import append_metadata_hash
from sluice_post.statistics import Blocks, read_statistics
from sluice_post.watch.statistics import ProfileFollower

HEADER = struct.Struct("=8s5Q")


def records_of(whole: Path, first: int, before: int) -> bytes:
    """The blocks from number `first` on as records."""
    records = b""
    with h5py.File(whole) as file:
        profiles = sorted(name for name, item in file.items() if isinstance(item, h5py.Dataset) and item.ndim > 1)
        for n in range(first, file["samples"].size):
            columns = [file[name][n] for name in ("samples", "t_begin", "t_end")] + [np.int64(n), file["forcing"][n]]
            record = b"".join(value.tobytes() for value in columns)
            record += b"".join(np.ascontiguousarray(file[name][n]).tobytes() for name in profiles)
            before = byte_hash(before, record)
            records += record + before.to_bytes(8, "little")
    return records


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run with 5 blocks in the file and 3 in the journal; `whole` beside it has all 8."""
    whole = tmp_path / "whole" / "statistics.h5"
    file = tmp_path / "run" / "statistics.h5"
    synthetic.write_statistics(whole, FLOW, blocks_of(8, 1))
    synthetic.write_statistics(file, FLOW, blocks_of(8, 1)[:5])
    append_metadata_hash(file, np.zeros(0, np.uint64))
    _, file_hash, _ = ENDING.unpack(file.read_bytes()[-ENDING.size :])
    words = len(records_of(whole, 7, 0)) // 8 - 1
    head = HEADER.pack(b"SluiceJL", 1, file_hash, 5, words, 0)[:-8]
    stored = byte_hash(0, head)
    journal_path(file).write_bytes(head + stored.to_bytes(8, "little") + records_of(whole, 5, stored))
    return tmp_path / "run"


def blocks_in(directory: Path) -> Blocks:
    return read_statistics(directory / "statistics.h5")[1]


def assert_same(found: Blocks, expected: Blocks) -> None:
    np.testing.assert_array_equal(found.samples, expected.samples)
    np.testing.assert_array_equal(found.time_begin, expected.time_begin)
    np.testing.assert_array_equal(found.time_end, expected.time_end)
    np.testing.assert_array_equal(found.forcing, expected.forcing)
    np.testing.assert_array_equal(found.parameter_set, expected.parameter_set)
    for name, values in (expected.centre | expected.face).items():
        np.testing.assert_array_equal((found.centre | found.face)[name], values)


def test_blocks_of_both_files(run: Path) -> None:
    assert len(blocks_in(run)) == 8
    assert_same(blocks_in(run), blocks_in(run.parent / "whole"))


def test_merging_takes_both(run: Path) -> None:
    assert main(["merge", str(run), "-o", str(run.parent / "merged")]) == 0
    assert_same(blocks_in(run.parent / "merged"), blocks_in(run.parent / "whole"))


def test_live_view_follows_the_journal(run: Path) -> None:
    journal = journal_path(run / "statistics.h5")
    whole = journal.read_bytes()
    journal.unlink()
    follower = ProfileFollower(run / "statistics.h5")
    counts = []
    record = (len(whole) - HEADER.size) // 3
    for size in (0, HEADER.size, HEADER.size + record, HEADER.size + 2 * record - 1, len(whole)):
        journal.write_bytes(whole[:size])
        follower.poll()
        assert follower.problem == ""
        assert follower.live is not None
        counts.append(follower.live.blocks)
    assert counts == [5, 5, 6, 6, 8]


def test_journal_of_another_file_is_void(run: Path) -> None:
    synthetic.write_statistics(run / "statistics.h5", FLOW, blocks_of(8, 1)[:6])
    append_metadata_hash(run / "statistics.h5", np.zeros(0, np.uint64))
    assert len(blocks_in(run)) == 6


def test_last_block_without_its_hash_does_not_count(run: Path) -> None:
    journal = journal_path(run / "statistics.h5")
    content = journal.read_bytes()
    journal.write_bytes(content[:-8] + bytes(8))
    assert len(blocks_in(run)) == 7
    journal.write_bytes(content[:-8] + bytes(8) + b"more")
    with pytest.raises(InputOutputError, match=r"statistics\.h5\.journal: the file is damaged"):
        blocks_in(run)


@pytest.mark.parametrize("at", [0, 8, 16, 24, 32, 40, 48, 56, 200, 1000])
def test_damage(run: Path, at: int) -> None:
    journal = journal_path(run / "statistics.h5")
    content = bytearray(journal.read_bytes())
    content[at] ^= 1
    journal.write_bytes(content)
    with pytest.raises(InputOutputError, match=r"statistics\.h5\.journal: the file is damaged"):
        BlocksFile(run / "statistics.h5")
