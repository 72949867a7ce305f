"""What a run removes from its output directory: files of runs, and nothing that others put there."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import checkpoints, must, record, sluice, step_of, write_case

STEPS = 4
OUTPUTS: dict[str, Any] = {
    "time.steps": STEPS,
    "time.cfl": None,
    "time.dt": 0.05,
    "output.checkpoint": {"every": 0.1, "keep": 2},
    "output.statistics": {"start": 0, "every": 1, "block": 0.1},
    "output.spectra": {"start": 0, "every": 1, "block": 0.1},
    "output.densities": {"start": 0, "every": 1, "block": 0.1},
    "output.slices": [{"normal": "z", "at": 0.1, "every": 0.1, "fields": ["u"]}],
    "output.probes": [{"name": "line", "y": [0.5], "z": [0.1], "every": 1, "fields": ["u"]}],
    "output.fields": [{"name": "eddies", "every": 0.1, "fields": ["q"]}],
}


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a run with all outputs; read-only for tests."""
    folder = tmp_path_factory.mktemp("finished")
    must(sluice("run", write_case(folder, OUTPUTS)))
    return folder


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of it."""
    shutil.copytree(finished, tmp_path / "run")
    return tmp_path / "run"


def files_below(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def hdf5(path: Path) -> None:
    with h5py.File(path, "w") as file:
        file["u"] = np.arange(24.0).reshape(2, 3, 4)


def xdmf(path: Path) -> None:
    path.write_text('<?xml version="1.0"?>\n<Xdmf Version="2.0">\n<Domain/></Xdmf>\n')


# Names like those of a run, and the functions that make the files.
FOREIGN: Mapping[str, Any] = {
    "fields/thesis.txt": None,
    "fields/mine_0000001.h5": hdf5,
    "fields/mine_0000002.h5": None,
    "fields/mine.xdmf": None,
    "checkpoints/keep_100.h5": hdf5,
    "checkpoints/notes.tmp": None,
    "checkpoints/notes.skipped": None,
    "slices/parts/readme.md": None,
    "slices/mesh.xdmf": xdmf,
    "fields/mesh.xdmf": xdmf,
    "slices/measured_0000001.h5": hdf5,
    "probes/notes.tmp": None,
    "probes/parts/mine_0000001.h5": hdf5,
    "probes/parts/other_0000001.h5": None,
    "probes/measured.h5": hdf5,
    "diagnostics/notes.txt": None,
    "notes.txt": None,
}


def add_foreign(out: Path) -> dict[str, bytes]:
    for name, make in FOREIGN.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        (make or (lambda path: path.write_text("mine")))(path)
    return {name: (out / name).read_bytes() for name in FOREIGN}


def assert_kept(out: Path, foreign: Mapping[str, bytes]) -> None:
    for name, content in foreign.items():
        assert (out / name).is_file(), name
        assert (out / name).read_bytes() == content, name


QUIET: dict[str, Any] = {
    "time.steps": 2,
    "output.checkpoint": "none",
    "output.statistics": "none",
    "output.spectra": "none",
    "output.densities": "none",
    "output.slices": [],
    "output.probes": [],
    "output.fields": [],
}


def test_overwrite_removes_files_of_runs_alone(run: Path) -> None:
    out = run / "out"
    must(sluice("run", run / "case.yaml", "--set", "time.dt=1000", "--steps", 20, "--output", out, "--overwrite"), 5)
    assert list((out / "diagnostics").glob("step_*.h5"))
    must(sluice("run", run / "case.yaml", "--output", out, "--overwrite"))
    (out / "checkpoints/step_0000007.h5.tmp").write_bytes(b"")
    (out / "checkpoints/step_0000007.h5.skipped").write_text("damaged")
    shutil.copy(checkpoints(out)[0], out / "checkpoints/copy.h5")  # a name that no run writes
    foreign = {**add_foreign(out), "checkpoints/copy.h5": (out / "checkpoints/copy.h5").read_bytes()}
    must(sluice("run", write_case(run, QUIET), "--output", out, "--overwrite"))
    assert_kept(out, foreign)
    written = {"lock", "log.txt", "resolved.yaml", "run.json", "timeseries.csv"}
    written |= {f"checkpoints/step_0000002{ending}" for ending in (".h5", ".xdmf")}
    assert files_below(out) == written | foreign.keys()


@pytest.mark.parametrize("option", ["--overwrite", "--restart"])
def test_a_run_keeps_files_of_others(run: Path, option: str) -> None:
    """Also when it goes back, prunes checkpoints and removes unfinished files."""
    foreign = add_foreign(run / "out")
    options = [option] if option == "--overwrite" else [option, checkpoints(run / "out")[0]]
    must(sluice("run", run / "case.yaml", *options))
    assert_kept(run / "out", foreign)
    must(sluice("run", run / "case.yaml", "--restart", "auto", "--steps", STEPS + 4))
    assert_kept(run / "out", foreign)
    assert len(checkpoints(run / "out")) == 2


def test_a_directory_with_files_of_others_alone_holds_no_results(tmp_path: Path) -> None:
    foreign = add_foreign(tmp_path / "out")
    must(sluice("run", write_case(tmp_path, OUTPUTS)))
    assert_kept(tmp_path / "out", foreign)


def test_folders_on_another_disk_stay_linked(tmp_path: Path) -> None:
    """A folder may be a symbolic link, as to a scratch disk; empty ones are no results."""
    scratch, out = tmp_path / "scratch", tmp_path / "out"
    out.mkdir()
    for name in ("checkpoints", "fields", "slices", "probes"):
        (scratch / name).mkdir(parents=True)
        (out / name).symlink_to(scratch / name)
    case = write_case(tmp_path, OUTPUTS)
    must(sluice("run", case))
    before = files_below(scratch)
    must(sluice("run", case), 2)
    must(sluice("run", case, "--overwrite"))
    assert files_below(scratch) == before
    must(sluice("run", write_case(tmp_path, QUIET, "quiet.yaml"), "--overwrite"))
    assert files_below(scratch) == {"checkpoints/step_0000002.h5", "checkpoints/step_0000002.xdmf"}
    for name in ("checkpoints", "fields", "slices", "probes"):
        assert (out / name).readlink() == scratch / name


IN_THE_WAY: Mapping[str, Any] = {
    "statistics.h5": hdf5,
    "spectra.h5": Path.mkdir,
    "timeseries.csv": lambda path: path.write_text("x,y\n1,2\n"),
    "run.json": lambda path: path.write_text('{"runs": 3}'),
    "resolved.yaml": lambda path: path.write_text("services: {}\n"),
    "checkpoints/step_0000002.h5": hdf5,
    "lock": lambda path: path.write_text("my notes"),
}


@pytest.mark.parametrize("name", IN_THE_WAY)
def test_files_of_others_at_names_of_ours_are_not_replaced(tmp_path: Path, name: str) -> None:
    path = tmp_path / "out" / name
    path.parent.mkdir(parents=True)
    IN_THE_WAY[name](path)
    before = path.read_bytes() if path.is_file() else b""
    case = write_case(tmp_path, OUTPUTS)
    fresh: list[list[str]] = [[], ["--overwrite"]]
    if not name.startswith("checkpoints"):
        fresh.append(["--restart", "auto"])  # without a checkpoint
    for options in fresh:
        told = must(sluice("run", case, *options), 2).err
        assert f"{path}: Sluice did not write it" in told
        assert "move it away" in told
    assert (path.read_bytes() if path.is_file() else b"") == before


def test_an_initial_file_among_files_of_others(run: Path) -> None:
    """It is refused only if --overwrite would remove it."""
    newest = checkpoints(run / "out")[-1]
    kept = newest.with_name("start.h5")
    shutil.copy(newest, kept)
    start = {"type": "checkpoint", "file": str(newest)}
    told = must(sluice("run", write_case(run, {**OUTPUTS, "initial": start}), "--overwrite"), 2).err
    assert "would remove initial.file" in told
    must(sluice("run", write_case(run, {**OUTPUTS, "initial": {**start, "file": str(kept)}}), "--overwrite"))
    assert kept.exists()


def test_overwrite_keeps_the_case_file_until_the_new_one_is_written(run: Path) -> None:
    again = (run / "out" / "resolved.yaml", "--overwrite", "--output", run / "out")
    missing = ("--set", "initial.type=checkpoint", "--set", f"initial.file={run}/missing.h5")
    assert "missing.h5" in must(sluice("run", *again, *missing), 3).err
    assert not checkpoints(run / "out")
    must(sluice("run", *again))
    assert checkpoints(run / "out")


@pytest.mark.parametrize("ranks", [0, 2])
@pytest.mark.parametrize("options", [[], ["--overwrite"], ["--restart", "auto"]])
def test_requests_that_were_there_before_a_run(tmp_path: Path, options: list[str], ranks: int) -> None:
    """A file STOP that an earlier run left must not end the next one, which would seem to have finished."""
    case, out = write_case(tmp_path, {"time.steps": 2}), tmp_path / "out"
    if options:
        must(sluice("run", case, "--steps", 1))
    out.mkdir(exist_ok=True)
    for name in ("STOP", "CHECKPOINT"):
        (out / name).touch()
    told = must(sluice("run", case, *options, ranks=ranks)).out
    for name in ("STOP", "CHECKPOINT"):
        assert f"warning: {out / name}: the file was there before this run and is removed" in told
        assert not (out / name).exists()
    assert record(out)["why_stopped"] == "end time or step reached"
    assert step_of(checkpoints(out)[-1]) == 2


def test_a_request_that_cannot_be_removed(tmp_path: Path) -> None:
    folder = tmp_path / "out" / "STOP"
    folder.mkdir(parents=True)
    (folder / "file").touch()
    told = must(sluice("run", write_case(tmp_path, {"time.steps": 2})), 4).err
    assert f"{folder}: the file was there before this run, which would obey it, and cannot be removed" in told


def test_an_unwritable_link_is_told(tmp_path: Path) -> None:
    """A folder that is a link to a disk that is not mounted."""
    out = tmp_path / "out"
    out.mkdir()
    (out / "checkpoints").symlink_to(tmp_path / "not mounted")
    told = must(sluice("run", write_case(tmp_path, {"time.steps": 2})), 4).err
    assert str(out / "checkpoints") in told
    assert (out / "checkpoints").readlink() == tmp_path / "not mounted"
