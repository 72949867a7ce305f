"""Simulations with an output directory write what `sluice run` writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import sluice_run

import sluice

STEPS = sluice_run.BASE_CASE["time"]["steps"]
# The keys that spell the same with another directory have other bytes only in these.
OWN_OF_A_RUN = {"log.txt", "run.json", "lock", "resolved.yaml"}


def case_with(changes: dict[str, Any] | None = None) -> sluice.Case:
    return sluice.Case(sluice_run.case_with(changes))


def run_program(
    folder: Path, changes: dict[str, Any] | None = None, *options: object, ranks: int = 0
) -> Path:
    """The directory of `sluice run`."""
    case = sluice_run.write_case(folder, changes)
    sluice_run.must(sluice_run.sluice("run", case, "--output", folder / "out", *options, ranks=ranks))
    return folder / "out"


def files_of(directory: Path) -> dict[str, Path]:
    return {str(path.relative_to(directory)): path for path in directory.rglob("*") if path.is_file()}


def items_of(file: h5py.Group) -> Iterable[tuple[str, Any]]:
    """All datasets and attributes of a file with their values, but for the case and the hashes of it."""
    found: dict[str, Any] = {}

    def visit(name: str, item: h5py.Group | h5py.Dataset) -> None:
        if isinstance(item, h5py.Dataset):
            found[name] = item[()]
        for key, value in item.attrs.items():
            if key not in ("DIMENSION_LIST", "REFERENCE_LIST"):
                found[f"{name}@{key}"] = value

    file.visititems(visit)
    for key, value in file.attrs.items():
        if key != "resolved_case" and not key.startswith("metadata"):
            found[f"@{key}"] = value
    return found.items()


def assert_same_file(one: Path, other: Path) -> None:
    if one.suffix != ".h5" or one.read_bytes() == other.read_bytes():
        assert one.read_bytes() == other.read_bytes(), one
        return
    with h5py.File(one) as first, h5py.File(other) as second:
        expected = dict(items_of(first))
        assert expected.keys() == dict(items_of(second)).keys(), one
        for name, value in items_of(second):
            assert np.array_equal(value, expected[name]), (one, name)


def assert_same_run(one: Path, other: Path) -> None:
    """All files of two runs, whose directories must have the same path for files with the case to have the same bytes."""
    first, second = files_of(one), files_of(other)
    assert first.keys() == second.keys()
    for name in first.keys() - OWN_OF_A_RUN:
        assert_same_file(first[name], second[name])


@pytest.fixture
def expected(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_program(tmp_path_factory.mktemp("program"))


def record(directory: Path) -> Any:
    return json.loads((directory / "run.json").read_text())


def test_the_bytes_of_the_program(tmp_path: Path) -> None:
    program = run_program(tmp_path)
    program.rename(tmp_path / "program")
    with sluice.Simulation(case_with(), output=tmp_path / "out") as sim:
        sim.run()
        assert sim.step_number == STEPS
    first, second = files_of(tmp_path / "program"), files_of(tmp_path / "out")
    assert first.keys() == second.keys()
    for name in first.keys() - {"log.txt", "run.json", "lock"}:
        assert first[name].read_bytes() == second[name].read_bytes(), name
    assert record(tmp_path / "out").keys() == record(tmp_path / "program").keys()
    assert record(tmp_path / "out")["why_stopped"] == "end time or step reached"
