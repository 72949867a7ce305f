"""Checkpoints with parts removed, exchanged or changed by another program, some of them with right hashes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from sluice_run import checkpoints, must, record, sluice, write_case
from stored_hashes import set_field, set_hashes

STEPS = 12
CASE = {"time.steps": STEPS, "output.checkpoint": {"every": 0.4, "keep": 2}}


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
    "later version": set_attribute("/", "format_version", np.int64(99)),
    "resolved_case": set_attribute("/", "resolved_case", "title: [\n"),
    "step": set_attribute("/", "step", np.int64(-7)),
    "step of 2^63 - 1": set_attribute("/", "step", np.int64(2**63 - 1)),
    "step of -2^63": set_attribute("/", "step", np.int64(-(2**63))),
    "time": set_attribute("/", "time", np.float64("nan")),
    "dt": set_attribute("/state", "dt", np.float64("inf")),
    "dt_begin": set_attribute("/state", "dt_begin", np.float64("nan")),
    "dt_steps": set_attribute("/state", "dt_steps", np.int64(-5)),
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


def list_of_samples(h5: h5py.File) -> None:
    del h5["spectra_open"].attrs["samples"]
    h5.create_dataset("/spectra_open/samples", data=np.array([3]))


@pytest.mark.parametrize(
    ("change", "hashes", "told"),
    [
        (set_dataset("/spectra_open/uu_kx", [1.0, 2.0]), "right", "/spectra_open/uu_kx is damaged: it has 2 values"),
        (remove("/spectra_open/uu_kx"), "right", "its spectra lack uu_kx, which"),
        (list_of_samples, "right", "'samples' is not an integer"),
        (remove("/spectra_open/uu_kx"), "wrong", "the values of group /spectra_open are damaged"),
    ],
    ids=["size", "missing", "list", "hash"],
)
def test_what_rank_0_alone_reads_is_refused_on_all_ranks(
    tmp_path: Path, change: Callable[[h5py.File], None], hashes: str, told: str
) -> None:
    case = write_case(tmp_path, {**CASE, "output.spectra": {"start": 0, "every": 1, "block": 100}})
    must(sluice("run", case, ranks=2))
    newest = checkpoints(tmp_path / "out")[-1]
    with h5py.File(newest, "a") as h5:
        change(h5)
    if hashes == "right":
        set_hashes(newest)
    error = must(sluice("run", case, "--restart", newest, "--steps", STEPS + 2, ranks=2), 3).err
    assert error.count("sluice: ") == 1
    assert told in error


@pytest.mark.parametrize("name", ["/state/process_grid", "/grid/z", "/p", "/new"])
def test_more_elements_than_the_file_stores(run: Path, name: str) -> None:
    """They need neither the memory nor the time that so many elements would take."""
    newest = checkpoints(run / "out")[-1]
    with h5py.File(newest, "a") as h5:
        kind, cube = h5["w"].dtype, name in ("/p", "/new")
        if name in h5:
            del h5[name]
        shape = (2**14,) * 3 if cube else (2**38,)
        h5.create_dataset(name, shape, kind if cube else "f8", chunks=(64,) * 3 if cube else (64,))
        h5[name].attrs["hash"] = np.uint64(0)
    assert "more elements than the file stores" in must(sluice("info", newest), 3).out
    if name != "/new":
        must(sluice("run", run / "case.yaml", "--restart", newest, "--steps", STEPS + 2), 3)


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


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_values_that_are_not_finite(run: Path, value: float) -> None:
    newest = checkpoints(run / "out")[-1]
    set_field(newest, "w", lambda field: None)
    must(sluice("run", run / "case.yaml", "--restart", newest, "--steps", STEPS))

    set_field(newest, "w", lambda field: field.__setitem__((5, 6, 7), value))
    told = must(sluice("run", run / "case.yaml", "--restart", newest, "--steps", STEPS + 4), 5).err
    assert "not finite" in told
    assert "cell (7, 6, 5)" in told
    assert [file.name for file in checkpoints(run / "out")][-1] == newest.name
