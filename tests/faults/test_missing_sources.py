"""HDF5 files that take values from other files: where one is gone, HDF5 reads fill values and says nothing."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import checkpoints, must, sluice, write_case
from stored_hashes import set_field

REACHED = 8
CASE: dict[str, Any] = {
    "time.steps": REACHED,
    "time.cfl": None,
    "time.dt": 0.0625,
    "output.slices": [{"normal": "y", "at": 1.0, "every": 0.125, "fields": ["u", "v"]}],
    "output.probes": [{"name": "line", "y": [0.5], "z": [0.1], "every": 2, "fields": ["u"]}],
}
JOINED = ["slices/y1.h5", "probes/line.h5"]
SHAPE = (32, 12, 16)


def part_of(joined: Path) -> Path:
    return next((joined.parent / "parts").glob(f"{joined.stem}_*.h5"))


def flip(path: Path) -> None:
    with h5py.File(path) as file:
        place = file["u"].id.get_offset()
    content = bytearray(path.read_bytes())
    content[place + 3] ^= 1
    path.write_bytes(content)


def shorten(path: Path) -> None:
    """Fewer samples, with the right hashes: a part of an earlier time."""
    out = path.parents[2]
    must(sluice("run", out.parent / "case.yaml", "--output", out.parent / "short", "--steps", 2))
    shutil.copy(out.parent / "short" / path.relative_to(out), path)


DAMAGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "gone": (Path.unlink, "No such file"),
    "damaged": (flip, "does not have the hash"),
    "short": (shorten, "is not what"),
    "empty": (lambda path: path.write_bytes(b""), "cannot open"),
}


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("name", JOINED)
def test_info_verifies_the_parts(run: Path, name: str, damage: str) -> None:
    joined = run / "out" / name
    assert must(sluice("info", joined)).out.endswith("\nintact\n\n")
    harm, told = DAMAGES[damage]
    part = part_of(joined)
    harm(part)
    outcome = must(sluice("info", joined), 3)
    assert f"DAMAGED: {part}: " in outcome.out
    assert told in outcome.out
    assert outcome.out.endswith("\nnot intact\n\n")
    assert "passes over it" not in outcome.err  # it is no checkpoint


def test_info_of_joined_files_moved_without_their_parts(run: Path) -> None:
    moved = run / "elsewhere" / "y1.h5"
    moved.parent.mkdir()
    shutil.copy(run / "out" / JOINED[0], moved)
    assert f"DAMAGED: {moved.parent}/parts/y1_" in must(sluice("info", moved), 3).out


def fields(folder: Path, name: str) -> Path:
    """A file with u, v and w."""
    path = folder / name
    with h5py.File(path, "w") as file:
        for n, field in enumerate("uvw"):
            file[field] = 0.01 * np.cos(np.arange(np.prod(SHAPE)) + n).reshape(SHAPE)
    return path


def virtual(folder: Path, source: str = "source.h5", rows: int = SHAPE[0]) -> Path:
    """Fields that are in another file, two halves of each."""
    fields(folder, "source.h5")
    path = folder / "start.h5"
    half = SHAPE[0] // 2
    with h5py.File(path, "w") as file:
        for field in "uvw":
            layout = h5py.VirtualLayout(SHAPE, float)
            of = h5py.VirtualSource(source, field, SHAPE)
            layout[:half] = of[:half]
            layout[half:rows] = of[half:rows]
            file.create_virtual_dataset(field, layout)
    return path


def external(folder: Path) -> Path:
    path = folder / "start.h5"
    with h5py.File(path, "w") as file:
        for field in "uvw":
            raw = folder / f"{field}.bin"
            np.full(SHAPE, 0.01).tofile(raw)
            file.create_dataset(field, SHAPE, float, external=[(str(raw), 0, h5py.h5f.UNLIMITED)])
    return path


def chunked(folder: Path, written: int = SHAPE[0]) -> Path:
    path = folder / "start.h5"
    with h5py.File(path, "w") as file:
        for field in "uvw":
            dataset = file.create_dataset(field, SHAPE, float, chunks=(8, 12, 16), compression="gzip")
            dataset[:written] = 0.01
    return path


def start_from(folder: Path, path: Path, code: int, ranks: int = 0) -> str:
    initial = {"type": "fields", "file": str(path)}
    case = write_case(folder, {"time.steps": 1, "initial": initial, "output.slices": [], "output.probes": []})
    outcome = must(sluice("run", case, ranks=ranks, cwd=folder), code)
    assert bool(checkpoints(folder / "out")) == (code == 0)
    return outcome.err


@pytest.mark.parametrize("make", [virtual, external, chunked])
def test_initial_fields_from_several_files(tmp_path: Path, make: Callable[[Path], Path]) -> None:
    start_from(tmp_path, make(tmp_path), 0)


@pytest.mark.parametrize("ranks", [0, 2])
def test_initial_fields_whose_source_is_gone(tmp_path: Path, ranks: int) -> None:
    path = virtual(tmp_path)
    (tmp_path / "source.h5").unlink()
    told = start_from(tmp_path, path, 3, ranks)
    assert f"{path}: the dataset /u is not complete: it takes values from u in {tmp_path / 'source.h5'}" in told


def test_initial_fields_whose_source_lacks_a_dataset(tmp_path: Path) -> None:
    path = virtual(tmp_path)
    with h5py.File(tmp_path / "source.h5", "r+") as file:
        del file["w"]
    assert "the dataset /w is not complete" in start_from(tmp_path, path, 3)


def test_initial_fields_whose_source_is_smaller(tmp_path: Path) -> None:
    path = virtual(tmp_path)
    with h5py.File(tmp_path / "source.h5", "w") as file:
        for field in "uvw":
            file[field] = np.zeros((20, *SHAPE[1:]))
    assert "which has fewer" in start_from(tmp_path, path, 3)


def test_initial_fields_joined_in_part(tmp_path: Path) -> None:
    told = start_from(tmp_path, virtual(tmp_path, rows=24), 3)
    assert "it takes 4608 of its 6144 values from other datasets" in told


def test_initial_fields_whose_source_is_incomplete_itself(tmp_path: Path) -> None:
    """Files that join files that join files."""
    virtual(tmp_path)
    inner = tmp_path / "inner.h5"
    (tmp_path / "start.h5").rename(inner)
    (tmp_path / "source.h5").rename(tmp_path / "kept.h5")
    path = virtual(tmp_path, source="inner.h5")
    (tmp_path / "source.h5").unlink()
    told = start_from(tmp_path, path, 3)
    assert str(inner) in told
    assert str(tmp_path / "source.h5") in told


@pytest.mark.parametrize("harm", [Path.unlink, lambda path: os.truncate(path, 1000)])
def test_initial_fields_whose_external_file_is_gone_or_short(tmp_path: Path, harm: Callable[[Path], None]) -> None:
    path = external(tmp_path)
    harm(tmp_path / "v.bin")
    told = start_from(tmp_path, path, 3)
    assert f"{path}: the dataset /v is not complete: its values are in {tmp_path / 'v.bin'}" in told


def test_initial_fields_with_chunks_that_were_never_written(tmp_path: Path) -> None:
    told = start_from(tmp_path, chunked(tmp_path, written=16), 3)
    assert "the dataset /u is not complete: 2 of its 4 chunks were written" in told


def test_initial_fields_that_were_never_written(tmp_path: Path) -> None:
    path = fields(tmp_path, "start.h5")
    with h5py.File(path, "r+") as file:
        del file["w"]
        file.create_dataset("w", SHAPE, float)
    assert "the dataset /w is not complete: its values were never written" in start_from(tmp_path, path, 3)


def test_an_initial_checkpoint_that_is_not_finite(run: Path) -> None:
    """The flow of a run that has failed is written as it is, with hashes."""
    failed = checkpoints(run / "out")[-1]

    def set_infinity(field: np.ndarray) -> None:
        field[20, 5, 4] = np.inf

    set_field(failed, "w", set_infinity)
    case = write_case(run, {**CASE, "initial": {"type": "checkpoint", "file": str(failed)}}, "again.yaml")
    told = must(sluice("run", case, "--output", run / "again"), 3).err
    assert f"{failed}: dataset /w is not finite: it is inf at [20, 5, 4]" in told
