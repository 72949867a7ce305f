"""What docs/stability.md promises: the keys, options and files of version 1.0 are still there, and its files are read.

release_1.0/names.txt lists them. With SLUICE_UPDATE_STABLE=1 new names are added to it; none is ever removed.
release_1.0/out is the output directory of a run of that version.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import h5py
import yaml
from sluice_run import must, sluice, write_case

STORED = Path(__file__).parent / "release_1.0"
COMMANDS = ("run", "check", "info", "init", "verify")
SCALARS = [{"name": "heat", "prandtl": 1, "walls": {"bottom": {"value": 0}, "top": {"value": 1}}}]
EVERYTHING = {
    "time.steps": 8,
    "scalars": SCALARS,
    "output.checkpoint": {"every": 10},
    "output.statistics": {"start": 0, "every": 2, "block": 0.1, "phases": {"period": 0.2, "bins": 2}},
    "output.spectra": {"start": 0, "every": 2, "block": 0.1, "heights": [1]},
    "output.densities": {"start": 0, "every": 2, "block": 0.1, "heights": [1]},
    "output.fields": [{"name": "all", "every": 0.1, "fields": ["velocity", "vorticity", "q", "lambda2", "p"]}],
    "output.slices": [{"normal": "z", "at": 0.1, "every": 0.1, "fields": ["u", "v", "w", "p"]}],
}


def keys(node: dict[str, Any], path: str = "") -> Iterator[str]:
    """The keys of a JSON schema with the words that they accept."""
    for choice in (node, *node.get("oneOf", ()), *node.get("anyOf", ())):
        for word in choice.get("enum", ()):
            yield f"key {path} = {word}"
        for name, below in choice.get("properties", {}).items():
            here = f"{path}.{name}" if path else name
            yield f"key {here}"
            yield from keys(below, here)
        if isinstance(choice.get("items"), dict):
            yield from keys(choice["items"], f"{path}[]")


def datasets(folder: Path) -> Iterator[str]:
    """The datasets of the HDF5 files of a run, the attributes of their groups, the columns of its table, and run.json.

    Without the sums of unfinished blocks in checkpoints and the parts of slices, which only Sluice itself reads.
    """
    for path in sorted(folder.rglob("*.h5")):
        name = re.sub(r"_\d{7}", "_N", str(path.relative_to(folder)))
        with h5py.File(path) as file:
            nodes: dict[str, Any] = {"/": file["/"]}
            file.visititems(nodes.__setitem__)
            for at, node in nodes.items():
                if "_open" in at or "/parts/" in name:
                    continue
                if isinstance(node, h5py.Dataset):
                    yield f"file {name} {at} {node.dtype.kind}{node.ndim}"
                else:
                    yield from (f"file {name} {at} @{attribute}" for attribute in node.attrs)
    columns = next(line for line in (folder / "timeseries.csv").read_text().splitlines() if not line.startswith("#"))
    yield from (f"column {name}" for name in columns.split(","))
    yield from (f"run.json {name}" for name in yaml.safe_load((folder / "run.json").read_text()))


def present(folder: Path) -> set[str]:
    """All names that this version has."""
    names = set(keys(yaml.safe_load(must(sluice("init", "--schema")).out)))
    for command in COMMANDS:
        options = re.findall(r"^ +(?:-\w,)?(--[a-z-]+)", must(sluice(command, "--help")).out, re.MULTILINE)
        names |= {f"option {command} {option}" for option in options}
    must(sluice("run", write_case(folder, EVERYTHING), cwd=folder))
    return names | set(datasets(folder / "out"))


def test_names_of_version_1_are_still_there(tmp_path: Path) -> None:
    path = STORED / "names.txt"
    stored, found = set(path.read_text().splitlines()), present(tmp_path)
    if os.environ.get("SLUICE_UPDATE_STABLE"):
        path.write_text("".join(f"{name}\n" for name in sorted(stored | found)))
    assert sorted(stored - found) == []
    assert len(stored) > 600


def test_a_run_of_version_1_goes_on(tmp_path: Path) -> None:
    shutil.copytree(STORED, tmp_path / "old", ignore=shutil.ignore_patterns("names.txt"))
    folder = tmp_path / "old"
    must(sluice("verify", "out", cwd=folder))
    must(sluice("run", "case.yaml", "--restart", "auto", "--set", "time.steps=12", cwd=folder))
    must(sluice("verify", "out", cwd=folder))
    assert yaml.safe_load((folder / "out" / "run.json").read_text())["step"] == 12
