"""Checkpoints with parts removed, exchanged or changed by another program, some of them with right hashes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from sluice_run import checkpoints, must, record, sluice, write_case

STEPS = 12
CASE = {"time.steps": STEPS, "output.checkpoint": {"every": 0.4, "keep": 2}}
MASK = 2**64 - 1


def mix64(x: int) -> int:
    x = (x + 0x9E3779B97F4A7C15) & MASK
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK
    return x ^ (x >> 31)


def byte_hash(seed: int, data: bytes) -> int:
    """As in io/files/field_hash.cpp."""
    value = mix64(seed ^ len(data))
    for (word,) in struct.iter_unpack("<Q", data + bytes(-len(data) % 8)):
        value = mix64(value ^ word)
    return value


def values_hash(group: h5py.Group) -> int:
    """As in io/files/values.cpp."""
    values: dict[str, tuple[int, bytes]] = {}
    for name, value in group.attrs.items():
        if name == "values_hash":
            continue
        if isinstance(value, str):
            values[name] = (2, value.encode())
        elif isinstance(value, np.integer):
            values[name] = (0, struct.pack("<q", value))
        else:
            values[name] = (1, struct.pack("<d", value))
    if group.name != "/":
        for name, dataset in group.items():
            kind = 3 if dataset.dtype.kind == "i" else 4
            values[name] = (kind, dataset[...].tobytes())
    total = len(values)
    for name in sorted(values):
        kind, data = values[name]
        total = byte_hash(byte_hash((total + kind) & MASK, name.encode()), data)
    return total


def set_hashes(file: Path) -> None:
    """Makes the hashes of the values right again."""
    with h5py.File(file, "a") as h5:
        for group in (h5["state"], h5["statistics_open"]):
            group.attrs["values_hash"] = np.uint64(values_hash(group))
        h5.attrs["values_hash"] = np.uint64(values_hash(h5))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """The folder of a finished run."""
    must(sluice("run", write_case(tmp_path, CASE)))
    return tmp_path


def remove(name: str) -> Callable[[h5py.File], None]:
    def change(h5: h5py.File) -> None:
        del h5[name]

    return change


def exchange(one: str, other: str) -> Callable[[h5py.File], None]:
    def change(h5: h5py.File) -> None:
        h5.move(one, "kept")
        h5.move(other, one)
        h5.move("kept", other)

    return change


@pytest.mark.parametrize(
    "change",
    [remove("u"), remove("state"), remove("statistics_open"), exchange("u", "v"), remove("grid/z_face")],
    ids=["no u", "no state", "no statistics", "u and v exchanged", "no coordinate"],
)
def test_parts_that_are_missing_or_exchanged(run: Path, change: Callable[[h5py.File], None]) -> None:
    older, newest = checkpoints(run / "out")[-2:]
    with h5py.File(newest, "a") as h5:
        change(h5)
    assert "not intact" in must(sluice("info", newest), 3).out
    must(sluice("run", run / "case.yaml", "--restart", newest), 3)
    must(sluice("run", run / "case.yaml", "--restart", "auto"))
    assert record(run / "out")["started_from"] == str(older)


def set_attribute(group: str, name: str, value: object) -> Callable[[h5py.File], None]:
    def change(h5: h5py.File) -> None:
        h5[group].attrs[name] = value

    return change


def set_dataset(name: str, values: list[float] | list[int]) -> Callable[[h5py.File], None]:
    def change(h5: h5py.File) -> None:
        kind = h5[name].dtype
        del h5[name]
        h5.create_dataset(name, data=np.array(values, dtype=kind))

    return change


FORGERIES = {
    "resolved_case": set_attribute("/", "resolved_case", "title: [\n"),
    "step": set_attribute("/", "step", np.int64(-7)),
    "step of 2^63 - 1": set_attribute("/", "step", np.int64(2**63 - 1)),
    "step of -2^63": set_attribute("/", "step", np.int64(-(2**63))),
    "time": set_attribute("/", "time", np.float64("nan")),
    "dt": set_attribute("/state", "dt", np.float64("inf")),
    "process_grid": set_dataset("/state/process_grid", [1]),
    "process_grid of 0": set_dataset("/state/process_grid", [0, 0]),
    "/statistics_open/uu": set_dataset("/statistics_open/uu", [1.0, 2.0]),
    "/statistics_open/tau_xz": set_dataset("/statistics_open/tau_xz", [1.0] * 5000),
    "/statistics_open": set_attribute("/statistics_open", "samples", np.int64(-1)),
}


@pytest.mark.parametrize("forged", FORGERIES)
def test_forged_values_are_refused(run: Path, forged: str) -> None:
    newest = checkpoints(run / "out")[-1]
    with h5py.File(newest, "a") as h5:
        FORGERIES[forged](h5)
    set_hashes(newest)
    told = must(sluice("run", run / "case.yaml", "--restart", newest, "--steps", STEPS + 2), 3).err
    assert newest.name in told
    assert forged.split(" ")[0] in told


def test_hashes_of_this_test_are_those_of_the_program(run: Path) -> None:
    newest = checkpoints(run / "out")[-1]
    set_hashes(newest)
    must(sluice("info", newest))
    must(sluice("run", run / "case.yaml", "--restart", newest, "--steps", STEPS + 2))


def test_initial_checkpoint_is_verified(run: Path) -> None:
    checkpoint = checkpoints(run / "out")[-1]
    with h5py.File(checkpoint, "a") as h5:
        h5["u"][...] = 0.0
    start = f"initial={{type: checkpoint, file: {checkpoint}}}"
    told = must(sluice("run", run / "case.yaml", "--output", run / "other", "--set", start), 3).err
    assert checkpoint.name in told
    assert "the field u is damaged" in told
