"""output.catalyst, with a library that stands in for libcatalyst.so and records what it is given."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import assert_same_results, must, record, sluice, write_case

STAND_IN = Path(os.environ.get("SLUICE_CATALYST", ""))
INCOMPLETE = os.environ.get("SLUICE_INCOMPLETE_CATALYST", "")

FIELDS = ["velocity", "vorticity", "p", "q", "heat"]
EVERY = 2
STEPS = 6
CATALYST = {"every": EVERY, "scripts": ["pipeline.py"], "fields": FIELDS, "library": str(STAND_IN)}
CHANGES: dict[str, Any] = {
    "time.steps": STEPS,
    "scalars": [{"name": "heat", "prandtl": 0.7, "walls": {"top": {"value": 1}}}],
    "output.checkpoint": {"every": 1e-6, "keep": 9},
    "output.fields": [{"name": "all", "every": 1e-6, "fields": FIELDS, "precision": "double"}],
    "output.catalyst": CATALYST,
}


def case(folder: Path, changes: dict[str, Any] | None = None, **catalyst: Any) -> Path:
    """The case with a script beside it."""
    (folder / "pipeline.py").touch()
    keys = {name: value for name, value in {**CATALYST, **catalyst}.items() if value is not None}
    return write_case(folder, {**CHANGES, "output.catalyst": keys, **(changes or {})})


def calls(folder: Path, rank: int = 0) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / f"rank_{rank}.jsonl").read_text().splitlines()]


def executions(folder: Path, rank: int = 0) -> list[dict[str, Any]]:
    """The trees of catalyst_execute, with values and without their types."""
    trees = [call["tree"] for call in calls(folder, rank) if call["call"] == "execute"]
    return [{path: entry["value"] for path, entry in tree.items()} for tree in trees]


def recorded(folder: Path, **more: str) -> dict[str, str]:
    folder.mkdir(exist_ok=True)
    return {"STAND_IN_FOLDER": str(folder), **more}


def below(tree: dict[str, Any], path: str) -> dict[str, Any]:
    """The subtree of a path."""
    return {name.removeprefix(path + "/"): value for name, value in tree.items() if name.startswith(path + "/")}


def require_blueprint(mesh: dict[str, Any]) -> None:
    """The rules of Conduit's Mesh Blueprint for a rectilinear grid with values in its cells."""
    points = {}
    assert {path.split("/")[0] for path in mesh} == {"coordsets", "topologies", "fields"}
    for name in {path.split("/")[0] for path in below(mesh, "coordsets")}:
        coordset = below(mesh, f"coordsets/{name}")
        assert coordset["type"] == "rectilinear"
        values = below(coordset, "values")
        assert list(values) == ["x", "y", "z"]
        assert all(np.all(np.diff(axis) > 0) for axis in values.values())
        points[name] = [len(axis) for axis in values.values()]
    cells = {}
    for name in {path.split("/")[0] for path in below(mesh, "topologies")}:
        topology = below(mesh, f"topologies/{name}")
        assert topology["type"] == "rectilinear"
        cells[name] = np.prod([count - 1 for count in points[topology["coordset"]]])
    for name in {path.split("/")[0] for path in below(mesh, "fields")}:
        field = below(mesh, f"fields/{name}")
        assert field["association"] == "element"
        assert field["volume_dependent"] == "false"
        values = below(field, "values") or {"": field["values"]}
        assert [len(component) for component in values.values()] == [cells[field["topology"]]] * len(values)


@pytest.fixture(scope="module", params=[1, 2, 4])
def run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, int]:
    """A folder with the run `out` and the record `seen` of so many ranks."""
    folder = tmp_path_factory.mktemp("run")
    must(sluice("run", case(folder), ranks=request.param, env=recorded(folder / "seen")))
    return folder, request.param


def test_it_is_called_when_it_is_due(run: tuple[Path, int]) -> None:
    folder, ranks = run
    for rank in range(ranks):
        seen = calls(folder / "seen", rank)
        due = STEPS // EVERY
        assert [call["call"] for call in seen] == ["initialize", *["execute"] * due, "finalize"]
        assert [call["nodes"] for call in seen] == [1] * (due + 2)  # earlier trees are gone
        assert {path: entry["value"] for path, entry in seen[0]["tree"].items() if "mpi" not in path} == {
            "catalyst_load/implementation": "paraview",
            "catalyst/scripts/script0/filename": str(folder / "pipeline.py"),
            "size of the communicator": ranks,
        }
        assert seen[0]["tree"]["catalyst/mpi_comm"]["type"] == "int64"
    assert f"Catalyst: {STAND_IN}" in (folder / "out/log.txt").read_text()


def test_the_tree_is_a_mesh_of_the_blueprint(run: tuple[Path, int]) -> None:
    folder, ranks = run
    for rank in range(ranks):
        for tree in executions(folder / "seen", rank):
            assert set(below(tree, "catalyst/state")) == {"timestep", "cycle", "time"}
            assert tree["catalyst/channels/flow/type"] == "mesh"
            require_blueprint(below(tree, "catalyst/channels/flow/data"))
            fields = below(tree, "catalyst/channels/flow/data/fields")
            assert {path.split("/")[0] for path in fields} == set(FIELDS)
            assert list(below(fields, "velocity/values")) == ["u", "v", "w"]
        types = {path: entry["type"] for path, entry in calls(folder / "seen", rank)[1]["tree"].items()}
        assert types["catalyst/state/timestep"] == types["catalyst/state/cycle"] == "int64"
        assert types["catalyst/state/time"] == "float64"
        assert types["catalyst/channels/flow/data/coordsets/coords/values/z"] == "external float64"
        assert types["catalyst/channels/flow/data/fields/p/values"] in {"external float64", "external float32"}


def test_values_and_places_are_those_of_the_fields(run: tuple[Path, int]) -> None:
    folder, ranks = run
    files = sorted((folder / "out/fields").glob("all_*.h5"))[EVERY - 1 :: EVERY]
    assert len(files) == STEPS // EVERY
    for number, path in enumerate(files):
        with h5py.File(path) as file:
            shape = file["p"].shape
            covered = np.zeros(shape, dtype=int)
            for rank in range(ranks):
                tree = executions(folder / "seen", rank)[number]
                assert tree["catalyst/state/timestep"] == tree["catalyst/state/cycle"] == file.attrs["step"]
                assert tree["catalyst/state/time"] == file.attrs["time"]
                mesh = below(tree, "catalyst/channels/flow/data")
                part = []
                for axis in "zyx":
                    own, nodes = mesh[f"coordsets/coords/values/{axis}"], file[f"grid/{axis}_node"][...]
                    first = int(np.flatnonzero(nodes == own[0])[0])
                    np.testing.assert_array_equal(nodes[first : first + len(own)], own)
                    part.append(slice(first, first + len(own) - 1))
                covered[tuple(part)] += 1
                for name, components in [
                    ("velocity", ["u", "v", "w"]),
                    ("vorticity", ["omega_x", "omega_y", "omega_z"]),
                    *((scalar, [scalar]) for scalar in ["p", "q", "heat"]),
                ]:
                    values = below(mesh, f"fields/{name}/values") or {name: mesh[f"fields/{name}/values"]}
                    assert list(values) == components
                    for component, given in values.items():
                        stored = file[component][...][tuple(part)]
                        np.testing.assert_array_equal(np.reshape(given, stored.shape), stored)
            assert np.all(covered == 1)


def test_a_restart_goes_on_with_the_same_calls(tmp_path: Path) -> None:
    whole, halves = tmp_path / "whole", tmp_path / "halves"
    for folder, stops in [(whole, [STEPS]), (halves, [3, STEPS])]:
        folder.mkdir()
        for number, steps in enumerate(stops):
            seen = folder / f"seen{number}"
            must(sluice("run", case(folder), "--restart", "auto", "--steps", steps, env=recorded(seen)))
    together = executions(halves / "seen0") + executions(halves / "seen1")
    assert [tree["catalyst/state/timestep"] for tree in together] == [2, 4, 6]
    assert together == executions(whole / "seen0")
    assert_same_results(whole / "out", halves / "out")


def test_the_results_are_those_without_it(tmp_path: Path) -> None:
    for name, changes in [("with", {}), ("without", {"output.catalyst": "none"})]:
        (tmp_path / name).mkdir()
        must(sluice("run", case(tmp_path / name, changes)))
    assert_same_results(tmp_path / "with/out", tmp_path / "without/out")


@pytest.mark.parametrize("ranks", [0, 2])
@pytest.mark.parametrize(
    ("catalyst", "words"),
    [
        ({"library": "nowhere/libcatalyst.so"}, ["output.catalyst.library", "nowhere/libcatalyst.so", "loaded"]),
        ({"library": "case.yaml"}, ["output.catalyst.library", "case.yaml cannot be loaded"]),
        ({"library": INCOMPLETE}, ["output.catalyst.library", INCOMPLETE, "no function catalyst_results"]),
        ({"library": None}, ["output.catalyst.library", "libcatalyst.so is not found", "not set"]),
        ({"scripts": ["pipeline.py", "lost.py"]}, ["output.catalyst.scripts[1]", "lost.py does not exist"]),
    ],
)
def test_what_is_missing_ends_the_run_at_its_start(
    tmp_path: Path, ranks: int, catalyst: dict[str, Any], words: list[str]
) -> None:
    outcome = must(sluice("run", case(tmp_path, **catalyst), ranks=ranks, env=recorded(tmp_path / "seen")), 2)
    assert all(word in outcome.err for word in words), outcome.err
    assert outcome.err.count("output.catalyst.") == 1  # one rank speaks
    assert not list((tmp_path / "seen").iterdir())
    assert not list((tmp_path / "out").glob("checkpoints/*"))


@pytest.mark.parametrize(
    ("failure", "code", "words"),
    [
        ("initialize 1 0 3", 2, ["catalyst_initialize", "status 3", "implementation is not found"]),
        ("initialize 1 1 100", 2, ["catalyst_initialize", "status 100"]),
        ("execute 2 1 100", 4, ["catalyst_execute", "status 100"]),
        ("finalize 1 1 1", 4, ["catalyst_finalize", "status 1"]),
    ],
)
def test_a_failure_on_one_rank_ends_the_run_on_all(tmp_path: Path, failure: str, code: int, words: list[str]) -> None:
    env = recorded(tmp_path / "seen", STAND_IN_FAILURE=failure)
    outcome = must(sluice("run", case(tmp_path), ranks=2, env=env), code)
    assert all(word in outcome.err for word in ["output.catalyst: ", str(STAND_IN), *words]), outcome.err
    last = {"initialize": "initialize", "execute": "execute", "finalize": "finalize"}[failure.split()[0]]
    assert all(calls(tmp_path / "seen", rank)[-1]["call"] == last for rank in range(2))
    if last == "execute":  # what was saved before is there to go on from
        assert "catalyst_execute" in record(tmp_path / "out")["why_stopped"]
        env = recorded(tmp_path / "again")
        must(sluice("run", case(tmp_path), "--restart", "auto", ranks=2, env=env))
        assert [tree["catalyst/state/timestep"] for tree in executions(tmp_path / "again")] == [4, 6]


@pytest.mark.parametrize("place", ["above", "beside", "loader"])
def test_the_library_is_found_where_it_usually_is(tmp_path: Path, place: str) -> None:
    folder = tmp_path / "lib" / "catalyst"
    folder.mkdir(parents=True)
    file = (folder if place == "beside" else folder.parent) / "libcatalyst.so.3"
    shutil.copy(STAND_IN, file)
    env = recorded(tmp_path / "seen", CATALYST_IMPLEMENTATION_NAME="mine")
    if place == "loader":
        env["LD_LIBRARY_PATH"] = f"{file.parent}:{os.environ.get('LD_LIBRARY_PATH', '')}"
    else:
        env["CATALYST_IMPLEMENTATION_PATHS"] = f"/nowhere:{folder}"
    must(sluice("run", case(tmp_path, library=None), env=env))
    tree = calls(tmp_path / "seen")[0]["tree"]
    assert "catalyst_load/implementation" not in tree  # the environment names it
    assert len(executions(tmp_path / "seen")) == STEPS // EVERY


def test_scripts_may_be_several_or_one_anywhere(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    for name in ["one.py", 'a "comma", too.py']:
        (tmp_path / "elsewhere" / name).touch()
    env = recorded(tmp_path / "seen", HERE=str(tmp_path / "elsewhere"))
    scripts = ["$HERE/one.py", 'elsewhere/a "comma", too.py']
    must(sluice("run", case(tmp_path, scripts=scripts), "--steps", 2, env=env))
    tree = calls(tmp_path / "seen")[0]["tree"]
    given = [tree[f"catalyst/scripts/script{n}/filename"]["value"] for n in range(2)]
    assert given == [str(tmp_path / "elsewhere" / name) for name in ["one.py", 'a "comma", too.py']]
    must(sluice("check", tmp_path / "out/resolved.yaml"))
    must(sluice("check", case(tmp_path, scripts="pipeline.py")))


def test_check_counts_its_calls_and_its_memory(tmp_path: Path) -> None:
    lines = must(sluice("check", case(tmp_path))).out.splitlines()
    line = next(line for line in lines if line.startswith("catalyst"))
    assert f"about {STEPS // EVERY} calls" in line
    refused = must(sluice("check", case(tmp_path, fields=["velocity", "w"])), 2)
    assert "output.catalyst.fields[1]" in refused.err
    refused = must(sluice("check", case(tmp_path, scripts=None, every=0)), 2)
    assert "output.catalyst.scripts" in refused.err
    assert "output.catalyst.every" in refused.err
