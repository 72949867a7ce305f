"""Names that users give, of scalars and probes: what a file of a run uses for itself is refused, all else works."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import h5py
import pytest
from sluice_run import case_with, must, sluice, write_case

CASE: dict[str, Any] = {
    "grid.cells": [8, 6, 16],
    "time": {"steps": 4, "dt": 0.01},
    "flow": {
        "type": "channel",
        "reynolds": {"bulk": 5600},
        "forcing": {"power": 0.01},
        "spanwise_forcing": {"bulk_velocity": 0.1},
        "rotation": {"number": 0.1},
        "buoyancy": {"scalar": "heat", "richardson": 0.01},
    },
    "scalars": [{"name": "heat", "walls": {"bottom": {"value": 1}, "top": {"value": 0}}}],
    "walls": {
        side: {"actuation": {"type": "opposition_control", "amplitude": 1, "height": 0.1}} for side in ("bottom", "top")
    },
    "output.timeseries": {"every": 1},
    "output.checkpoint": {"every": 0.02},
    "output.statistics": {
        "start": 0,
        "every": 1,
        "block": 0.02,
        "budgets": "on",
        "phases": {"period": 0.02, "bins": 2},
    },
    "output.spectra": {"start": 0, "every": 1, "block": 0.02, "heights": [0.5]},
    "output.densities": {"start": 0, "every": 1, "block": 0.02, "heights": [0.5]},
    "output.slices": [{"normal": "z", "at": 0.5, "every": 0.02, "fields": ["u", "v", "w", "p"]}],
    "output.probes": [{"name": "line", "y": [0.5], "z": [0.5], "every": 1, "fields": ["u", "v", "w", "p"]}],
    "output.fields": [
        {"name": "eddies", "every": 0.02, "fields": ["velocity", "fluctuation", "vorticity", "q", "lambda2", "p"]}
    ],
}
ALWAYS = {"state", "statistics_open", "spectra_open", "densities_open", "timeseries", "slice_series", "probes"}
ALWAYS |= {"walls", "grid", "time", "step", "x_face", "block", "samples", "step_end", "parameter_set"}
ALWAYS |= {"parameter_set_0", "last_block", "last_block_hash", "time_begin", "values_hash"}


def names_in(out: Path) -> set[str]:
    """All names in the files of a run: objects, attributes, columns, and those of YAML that are no texts."""
    found = {"null", "yes", "on", "off", "none", "inf", "nan", "e5"}
    for path in out.rglob("*.h5"):
        with h5py.File(path) as file:
            paths: list[str] = ["/"]
            file.visit(paths.append)
            for name in [*paths, *file]:  # the latter for second names, which are not visited
                found.update(name.split("/"), file[name].attrs)
    found |= set((out / "timeseries.csv").read_text().split("\n", 1)[0].split(","))
    found |= set(re.findall(r'^ *"?(\w+)"?:', (out / "run.json").read_text(), re.MULTILINE))
    return {name for name in found if re.fullmatch(r"[A-Za-z]\w{0,49}", name) and not name.startswith("heat")}


def with_scalars(names: Iterable[str]) -> dict[str, Any]:
    return {
        **CASE,
        "scalars": [{"name": name, "prandtl": 1} for name in ["heat", *names]],
        "output.slices": [{**CASE["output.slices"][0], "fields": ["u", *names]}],
        "output.probes": [{**CASE["output.probes"][0], "fields": ["u", *names]}],
        "output.fields": [{**CASE["output.fields"][0], "fields": ["velocity", *names]}],
    }


def accepted(folder: Path, names: list[str]) -> tuple[list[str], set[str], set[str]]:
    """Those that check accepts together, those that it refuses, and those that do not go with another."""
    refused, apart = set(), set()
    while True:
        outcome = sluice("check", write_case(folder, with_scalars(names)))
        if outcome.code == 0:
            return names, refused, apart
        must(outcome, 2)
        told = re.findall(r"scalars\[\d+\]\.name: '(\w+)' (.*)", outcome.err)
        told += re.findall(r"output\.statistics\.phases: the scalar (\w+) (has a name of .*)", outcome.err)
        assert told, outcome.err
        for name, what in told:
            (apart if "as statistics of the scalar" in what else refused).add(name)
            assert "allowed: " in what
        names = [name for name in names if name not in refused | apart]


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("all_outputs")
    must(sluice("run", write_case(folder, CASE)))
    return sorted(names_in(folder / "out"))


def test_names_in_files_are_refused_or_work(names: list[str], tmp_path: Path) -> None:
    """Through checkpoints, a restart and verify, with every output on."""
    assert set(names) >= ALWAYS
    refused: set[str] = set()
    works: list[str] = []
    while names:
        some, found, apart = accepted(tmp_path, names)
        refused |= found
        works += some
        names = sorted(apart)
    assert refused >= ALWAYS
    # Some of them at a time: a scalar has a hundred datasets.
    runs = [["a", "b_c", *works[n::4][:5]] for n in range(4)]
    for chosen in runs:
        chosen, found, _ = accepted(tmp_path, chosen)
        assert not found
        case = write_case(tmp_path, with_scalars(chosen))
        must(sluice("run", case, "--overwrite", "--steps", 2))
        must(sluice("run", case, "--restart", "auto"))
        must(sluice("verify", tmp_path / "out"))


@pytest.mark.parametrize("name", sorted(ALWAYS))
def test_a_scalar_with_a_name_of_ours(tmp_path: Path, name: str) -> None:
    """Whatever outputs are on: a restart may switch on others."""
    told = must(sluice("check", write_case(tmp_path, {"scalars": [{"name": name}]})), 2).err
    assert re.search(rf"scalars\[0\]\.name: '{name}' (is the name|would have)", told)
    assert "case.yaml:" in told


@pytest.mark.parametrize("kind", ["probes", "fields"])
def test_names_of_files(tmp_path: Path, kind: str) -> None:
    item = case_with(CASE)["output"][kind][0]
    two = [{**item, "name": "wake"}, {**item, "name": "Wake"}]
    told = must(sluice("check", write_case(tmp_path, {f"output.{kind}": two})), 2).err
    assert f"output.{kind}[1].name: 'Wake' differs from 'wake'" in told


def test_names_of_probes(names: list[str], tmp_path: Path) -> None:
    """Files and values in checkpoints have them."""
    probe = CASE["output.probes"][0]
    told = must(sluice("check", write_case(tmp_path, {"output.probes": [{**probe, "name": "values_hash"}]})), 2).err
    assert "output.probes[0].name: 'values_hash' is the name of something else" in told
    alike: set[str] = set()
    works = [n for n in names if n != "values_hash" and not (n.lower() in alike or alike.add(n.lower()))]
    case = write_case(tmp_path, {**CASE, "output.probes": [{**probe, "name": name} for name in works[:30]]})
    must(sluice("run", case, "--steps", 2))
    must(sluice("run", case, "--restart", "auto"))
    must(sluice("verify", tmp_path / "out"))
