"""A run that goes back to an older checkpoint loses no results, wherever it is killed; lost results are found."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest
from call_faults import fault
from sluice_run import Outcome, assert_same_results, checkpoints, finish, must, sluice, start, step_of
from stored_hashes import set_hashes

STEPS = 16  # of the whole case
REACHED = 12  # by the run that is then sent back
CASE = {
    "time.steps": STEPS,
    "time.cfl": None,
    "time.dt": 0.05,
    "output.checkpoint": {"every": 0.1, "keep": 4},
    "output.timeseries": {"every": 1},
    "output.statistics": {"start": 0, "every": 1, "block": 0.1},
    "output.spectra": {"start": 0, "every": 1, "block": 0.2, "heights": [0.1, 1]},
    "output.densities": {"start": 0, "every": 1, "block": 0.2},
    "output.slices": [{"normal": "z", "at": 0.1, "every": 0.1, "fields": ["u"]}],
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
}
MAX_CALLS = 80  # more than a restart of a few steps makes


def killed_at(call: int, folder: Path, *options: object) -> Outcome:
    """A run that dies before its call number `call` that removes, renames or cuts something in the output directory."""
    shim = fault("kill", "unlink,rename,truncate", f"{folder}/out/", call)
    return finish(start(["run", folder / "case.yaml", *options], env=shim))


def left_in(folder: Path) -> dict[str, bytes]:
    """The files from which a restart goes on."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted((folder / "out").rglob("*"))
        if file.is_file() and file.name not in ("log.txt", "lock")
    }


def chosen(folder: Path) -> Path:
    """The checkpoint to go back to: two are newer, one is older."""
    _, back, _, _ = checkpoints(folder / "out")
    return back


def outside(folder: Path) -> Path:
    """An old checkpoint in the output directory, but not in checkpoints/, which has only the newest."""
    kept = folder / "out" / "kept" / checkpoints(folder / "out")[0].name
    kept.parent.mkdir()
    oldest, *others, _ = checkpoints(folder / "out")
    oldest.rename(kept)
    for file in others:
        file.unlink()
    return kept


@pytest.mark.parametrize("place", [chosen, outside])
def test_killed_at_every_change_of_a_go_back(
    reference: Path, stopped: Path, tmp_path: Path, place: Callable[[Path], Path]
) -> None:
    kills = 0
    before: dict[str, bytes] = {}
    for call in range(1, MAX_CALLS):
        folder = tmp_path / f"call{call}"
        shutil.copytree(stopped, folder)
        back = place(folder)
        outcome = killed_at(call, folder, "--restart", back, "--steps", step_of(back) + 1)
        if outcome.code == 0:
            break
        assert outcome.code == -signal.SIGKILL
        kills += 1
        after = left_in(folder)
        if after != before:  # else the call before changed nothing: the same restart
            outcome = must(sluice("run", folder / "case.yaml", "--restart", "auto"))
            assert "Restarted from" in outcome.out
            assert_same_results(reference, folder / "out")
        before = after
        shutil.rmtree(folder)
    assert 10 < kills < MAX_CALLS - 2


def test_killed_while_the_newest_checkpoint_is_unreadable(reference: Path, stopped: Path, tmp_path: Path) -> None:
    """Auto goes back to an older one; when the newest is readable again, its time series has been cut."""
    for call in range(1, MAX_CALLS):
        folder = tmp_path / f"call{call}"
        shutil.copytree(stopped, folder)
        newest = checkpoints(folder / "out")[-1]
        intact = newest.read_bytes()
        newest.write_bytes(b"")
        outcome = killed_at(call, folder, "--restart", "auto", "--steps", REACHED + 1)
        for file in newest.parent.glob(newest.name + "*"):
            file.write_bytes(intact)
        if outcome.code == 0:
            break
        assert outcome.code == -signal.SIGKILL
        must(sluice("run", folder / "case.yaml", "--restart", "auto"))
        assert_same_results(reference, folder / "out")
        shutil.rmtree(folder)
    assert 5 < call < MAX_CALLS - 2
    assert not list((folder / "out" / "checkpoints").glob("*.skipped"))


def cut_time_series(out: Path) -> Path:
    file = out / "timeseries.csv"
    file.write_text("".join(file.read_text().splitlines(keepends=True)[:10]))  # the header and nine rows
    return file


def earlier(out: Path, name: str) -> Path:
    """Replaces a file by that of a restart from an older checkpoint, which drops its end."""
    other = out.parent / "other"
    shutil.copytree(out, other)
    back = checkpoints(other)[1]
    case = out.parent / "case.yaml"
    must(sluice("run", case, "--output", other, "--restart", back, "--steps", step_of(back)))
    shutil.copy(other / name, out / name)
    return out / name


def cut_statistics(out: Path) -> Path:
    return earlier(out, "statistics.h5")


def cut_slices(out: Path) -> Path:
    return earlier(out, "slices/parts/z0.1_0000002.h5")


@pytest.mark.parametrize("ranks", [0, 2])
@pytest.mark.parametrize("cut", [cut_time_series, cut_statistics, cut_slices])
def test_a_file_that_ends_before_the_checkpoint_is_refused(
    reference: Path, run: Path, cut: Callable[[Path], Path], ranks: int
) -> None:
    out, case = run / "out", run / "case.yaml"
    file = cut(out)
    before = file.read_bytes()
    outcome = must(sluice("run", case, "--restart", "auto", ranks=ranks), 3)
    assert f"{file}: ends at step " in outcome.err
    assert f" when the checkpoint {checkpoints(out)[-1]} was written" in outcome.err
    assert outcome.err.count("sluice: ") == 1
    assert file.read_bytes() == before
    assert len(checkpoints(out)) == 4

    # The remedy: a checkpoint that the file still reaches.
    must(sluice("run", case, "--restart", checkpoints(out)[0], ranks=ranks))
    assert_same_results(reference, out)


def store_in_chunks(h5: h5py.File, name: str) -> None:
    """As earlier versions did."""
    values, attributes = h5[name][:], dict(h5[name].attrs)
    del h5[name]
    chunk = (5, *values.shape[1:])
    made = h5.create_dataset(name, data=values, chunks=chunk, fletcher32=True)
    for key in ("hash", "long_name", "units"):
        made.attrs[key] = attributes[key]


def test_checkpoints_without_expectations_are_accepted(reference: Path, run: Path) -> None:
    """Those of earlier versions."""
    for file in checkpoints(run / "out"):
        with h5py.File(file, "a") as h5:
            del h5["timeseries"]
            del h5["slice_series"]
            del h5.attrs["contents"]
            for name in "uvwp":
                store_in_chunks(h5, name)
        set_hashes(file)
    must(sluice("run", run / "case.yaml", "--restart", "auto"))
    assert_same_results(reference, run / "out")
