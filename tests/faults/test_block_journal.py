"""Blocks in the journal beside statistics.h5: every reader sees them while a run goes on and after any kill."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from call_faults import fault
from sluice_run import Outcome, assert_same_results, finish, must, sluice, start, write_case

sluice_post = pytest.importorskip("sluice_post.statistics")

# A block of every two steps; those from number 33 on are written to the journal first.
CASE = {
    "grid.cells": [8, 6, 12],
    "time": {"steps": 100, "dt": 0.02},
    "output.timeseries": {"every": 10},
    "output.checkpoint": {"every": 0.35, "keep": 2},
    "output.statistics": {"start": 0, "every": 1, "block": 0.01},
    "output.slices": None,
    "output.probes": None,
}


def blocks_of(out: Path) -> Any:
    return sluice_post.read_statistics(out / "statistics.h5")[1]


def assert_first_blocks(blocks: Any, of: Any) -> None:
    np.testing.assert_array_equal(blocks.time_end, of.time_end[: len(blocks)])
    for name in ("u", "uu", "p"):
        np.testing.assert_array_equal(blocks.centre[name], of.centre[name][: len(blocks)])
    np.testing.assert_array_equal(blocks.face["uw"], of.face["uw"][: len(blocks)])


def count_in_hdf5(out: Path) -> int:
    with h5py.File(out / "statistics.h5") as file:
        return int(file["samples"].size)


def test_readers_see_every_closed_block(reference: Path, tmp_path: Path) -> None:
    """Each kill is before a write to the journal: of its header, or of a block when all before are there."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    seen = []
    for number in (1, 2, 3, 5, 6, 8, 13, 21):
        killed = finish(start(["run", case, "--overwrite"], env=fault("kill", "write", "h5.journal", number)))
        if killed.code == 0:
            break
        blocks = blocks_of(out)
        assert_first_blocks(blocks, blocks_of(reference))
        assert len(blocks) >= count_in_hdf5(out) >= 32
        assert f"{len(blocks)} blocks" in must(sluice("info", out)).out
        assert f"blocks: {len(blocks)}," in must(sluice("info", out / "statistics.h5")).out
        assert f"{len(blocks)} blocks" in must(sluice("verify", out)).out
        must(sluice("run", case, "--restart", "auto"))
        assert_same_results(reference, out)
        assert not list(out.glob("*.journal"))
        seen.append(len(blocks))
    # The file has 32 blocks, then 37, 42 and 48: each new one before it has grown by an eighth is in the journal.
    assert seen == [32, 32, 33, 35, 37, 38, 43]


def test_killed_at_every_change_of_a_file(reference: Path, tmp_path: Path) -> None:
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    last = -1
    for number in range(1, 200):
        shim = fault("kill", "fsync,unlink,rename,open", "/out/statistics.h5", 60 + 27 * number)
        killed = finish(start(["run", case, "--overwrite"], env=shim))
        blocks = blocks_of(out)
        assert_first_blocks(blocks, blocks_of(reference))
        assert len(blocks) >= last
        last = len(blocks)
        if killed.code == 0:
            break
        must(sluice("verify", out))
        must(sluice("run", case, "--restart", "auto"))
        assert_same_results(reference, out)
    assert last == 50


def test_going_back_and_further_kills(reference: Path, tmp_path: Path) -> None:
    """A restart that is killed while it cuts the blocks back."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    killed_first = tmp_path / "killed"
    must(sluice("run", case, env=fault("kill", "write", "h5.journal", 8)), -9)
    out.rename(killed_first)
    for number in range(1, 30, 3):
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(killed_first, out)
        shim = fault("kill", "fsync,unlink,rename,open", "/out/statistics.h5", number)
        killed = finish(start(["run", case, "--restart", "auto"], env=shim))
        assert_first_blocks(blocks_of(out), blocks_of(reference))
        must(sluice("run", case, "--restart", "auto"))
        assert_same_results(reference, out)
        if killed.code == 0:
            break


def test_overwriting_removes_the_journal(tmp_path: Path) -> None:
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    finish(start(["run", case], env=fault("kill", "write", "h5.journal", 4)))
    assert (out / "statistics.h5.journal").exists()
    must(sluice("run", case, "--overwrite", "--steps", "1"))
    assert not (out / "statistics.h5.journal").exists()


def test_a_journal_without_its_file_is_kept(tmp_path: Path) -> None:
    """A new statistics.h5 would make the journal, and so the newest blocks, unusable."""
    case, out = write_case(tmp_path, CASE), tmp_path / "out"
    must(sluice("run", case, "--overwrite", env=fault("kill", "write", "h5.journal", 6)), -9)
    journal = (out / "statistics.h5.journal").read_bytes()
    (out / "statistics.h5").rename(out / "old.h5")
    refused = must(sluice("run", case, "--restart", "auto", "--allow-change"), 3)
    assert "statistics.h5.journal: this journal has the newest blocks of" in refused.err
    assert (out / "statistics.h5.journal").read_bytes() == journal
    (out / "old.h5").rename(out / "statistics.h5")
    must(sluice("run", case, "--restart", "auto"))


def test_a_file_that_cannot_be_completed_costs_no_checkpoint(reference: Path, tmp_path: Path) -> None:
    """The journal has all blocks, so a full disk at the end does not make the run fail."""
    case, out, mark = write_case(tmp_path, CASE), tmp_path / "out", tmp_path / "mark"

    def run_with_fault(number: int) -> Outcome:
        """The replacement with this number fails, and leaves the mark, if there are so many."""
        mark.unlink(missing_ok=True)
        return sluice("run", case, "--overwrite", env=fault(errno.ENOSPC, "rename", "statistics.h5", number, mark))

    last, more = 0, 61
    while more - last > 1:  # the last replacement of statistics.h5 is the one at the end
        middle = (last + more) // 2
        run_with_fault(middle)
        last, more = (middle, more) if mark.exists() else (last, middle)
    outcome = run_with_fault(last)
    assert "newest blocks stay in" in outcome.text
    must(outcome)
    assert len(blocks_of(out)) == len(blocks_of(reference))
    assert list((out / "checkpoints").glob("step_0000100.h5"))
