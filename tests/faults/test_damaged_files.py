"""Files damaged between two runs: a restart finds and names them, and skips them if an older one is enough."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path

import h5py
import pytest
from sluice_run import assert_same_results, checkpoints, must, record, rows, sluice, write_case

STEPS = 24
CASE = {"time.steps": STEPS, "output.checkpoint": {"every": 0.5, "keep": 3}}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run and its results; read-only for tests."""
    folder = tmp_path_factory.mktemp("finished")
    must(sluice("run", write_case(folder, CASE)))
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run."""
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def flip_in_field(file: Path) -> None:
    with h5py.File(file) as h5:
        start = h5["p"].id.get_offset()
    flip(file, start + 4321)


def flip(file: Path, place: int) -> None:
    content = bytearray(file.read_bytes())
    content[place] ^= 4
    file.write_bytes(content)


def flip_at_the_start(file: Path) -> None:
    flip(file, 2)


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])


def empty(file: Path) -> None:
    file.write_bytes(b"")


def overwrite_with_zeros(file: Path) -> None:
    """Only zeros, which a file system may leave after a power cut."""
    file.write_bytes(bytes(file.stat().st_size))


def change_state(file: Path) -> None:
    with h5py.File(file, "a") as h5:
        h5["state"].attrs["dt"] = h5["state"].attrs["dt"] * 1.01


def change_statistics(file: Path) -> None:
    with h5py.File(file, "a") as h5:
        h5["statistics_open/uu"][3] += 0.01


DAMAGES = [flip_in_field, flip_at_the_start, truncate, empty, overwrite_with_zeros, change_state, change_statistics]


@pytest.mark.parametrize(("damage", "ranks"), [*((damage, 0) for damage in DAMAGES), (flip_in_field, 2), (truncate, 2)])
def test_auto_falls_back_to_the_older_checkpoint(
    finished: Path, run: Path, damage: Callable[[Path], None], ranks: int
) -> None:
    older, newest = checkpoints(run / "out")[-2:]
    damage(newest)
    must(sluice("info", newest), 3)
    told = must(sluice("run", run / "case.yaml", "--restart", newest, ranks=ranks), 3).err
    assert newest.name in told
    assert told.count("sluice: ") == 1

    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", ranks=ranks))
    warnings = [line for line in outcome.out.splitlines() if line.startswith("warning: ")]
    assert len(warnings) == 1
    assert newest.name in warnings[0]
    assert warnings[0] in (run / "out" / "log.txt").read_text()
    assert record(run / "out")["started_from"] == str(older)
    assert_same_results(finished / "out", run / "out")


def test_any_single_bit(finished: Path, run: Path) -> None:
    """For any flipped bit, the restart either reports it or ends with the right results."""
    newest = checkpoints(run / "out")[-1]
    intact = newest.read_bytes()
    places = random.Random(5)
    for _ in range(12):
        flip(newest, places.randrange(len(intact)))
        must(sluice("run", run / "case.yaml", "--restart", "auto"))
        assert_same_results(finished / "out", run / "out")
        newest.write_bytes(intact)


def test_any_single_bit_of_the_metadata(run: Path) -> None:
    """HDF5 crashes on some of them if it opens the file."""
    older, newest = checkpoints(run / "out")[-2:]
    intact = newest.read_bytes()
    with h5py.File(newest) as h5:
        fields = [(h5[name].id.get_offset(), h5[name].id.get_storage_size()) for name in "uvwp"]
    places = [n for n in range(0, len(intact) - 8, 997) if not any(at <= n < at + size for at, size in fields)]
    assert len(places) > 20
    for place in places[:40]:
        flip(newest, place)
        must(sluice("info", newest), 3)
        newest.write_bytes(intact)
    flip(newest, places[-1])
    must(sluice("run", run / "case.yaml", "--restart", "auto"))
    assert record(run / "out")["started_from"] == str(older)


@pytest.mark.parametrize("ranks", [0, 2])
def test_all_checkpoints_damaged_is_no_fresh_start(finished: Path, run: Path, ranks: int) -> None:
    """The user decides, because a fresh start would remove files that may be repairable."""
    damaged = checkpoints(run / "out")
    for file in damaged:
        truncate(file)
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", ranks=ranks), 3)
    assert outcome.out.count("warning: passing over a checkpoint") == 3
    assert "--overwrite" in outcome.err
    assert checkpoints(run / "out") == damaged
    assert rows(run / "out").tolist() == rows(finished / "out").tolist()
    must(sluice("run", run / "case.yaml", "--overwrite", ranks=ranks))
    assert record(run / "out")["started_from"] == "initial field"
    assert_same_results(finished / "out", run / "out")


@pytest.mark.parametrize("ranks", [0, 2])
def test_damaged_statistics_are_refused(run: Path, ranks: int) -> None:
    """The user decides, because the checkpoint does not suffice to compute them again."""
    statistics = run / "out" / "statistics.h5"
    truncate(statistics)
    before = statistics.read_bytes()
    told = must(sluice("run", run / "case.yaml", "--restart", "auto", "--steps", STEPS + 5, ranks=ranks), 3).err
    assert "statistics.h5" in told
    assert "move the file and its journal away" in told
    assert statistics.read_bytes() == before
    assert rows(run / "out")["step"][-1] == STEPS


@pytest.mark.parametrize("cut", [1, 30, 100000])
def test_time_series_cut_off_within_a_row(finished: Path, run: Path, cut: int) -> None:
    """As kill -9 may leave it: rows after the checkpoint are rewritten."""
    newest = checkpoints(run / "out")[-1]
    newest.unlink()
    series = run / "out" / "timeseries.csv"
    text = series.read_text()
    kept = text.splitlines(keepends=True)
    whole = [line for line in kept[1:] if int(line.split(",")[0]) <= 20]
    series.write_text("".join([kept[0], *whole, kept[-1][: -min(cut, len(kept[-1]))]]))
    must(sluice("run", run / "case.yaml", "--restart", "auto"))
    assert_same_results(finished / "out", run / "out")


def test_leftovers_of_a_killed_run_are_removed(finished: Path, run: Path) -> None:
    newest = checkpoints(run / "out")[-1]
    newest.rename(newest.with_name(newest.name + ".tmp"))
    (run / "out" / "slices" / "parts" / "z0.1_0000099.h5.tmp").write_text("rubbish")
    must(sluice("run", run / "case.yaml", "--restart", "auto"))
    assert not list((run / "out").rglob("*.tmp"))
    assert_same_results(finished / "out", run / "out")


def replace_field(file: Path, name: str, dtype: str) -> None:
    with h5py.File(file, "a") as h5:
        values, attributes = h5[name][:], dict(h5[name].attrs)
        del h5[name]
        made = h5.create_dataset(name, data=values.astype(dtype), chunks=True)
        for key, value in attributes.items():
            if key in ("hash", "long_name", "units"):
                made.attrs[key] = value


def test_fields_of_another_type_are_refused(run: Path) -> None:
    """By a restart and by info, which must not read them into too little memory."""
    newest = checkpoints(run / "out")[-1]
    replace_field(newest, "w", "float32")
    outcome = must(sluice("run", run / "case.yaml", "--restart", newest, "--steps", STEPS + 1), 3)
    assert "differ in precision" in outcome.err
    assert "the field /w does not have the hash" in must(sluice("info", newest), 3).out
    with h5py.File(newest, "a") as h5:
        del h5["w"]
        h5.create_dataset("w", data=(h5["u"][:] > 0).astype("uint8"), chunks=True)
        h5["w"].attrs["hash"] = h5["u"].attrs["hash"]
    assert "the field /w does not have the hash" in must(sluice("info", newest), 3).out
