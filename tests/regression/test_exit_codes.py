"""Exit codes and messages, alone and through mpirun: the same code and a single message."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np
import pytest
from sluice_run import Outcome, case_with, checkpoints, content, must, record, rows, sluice, write_case

RANKS = [0, 3]


def told_once(outcome: Outcome, *parts: str) -> None:
    """A single message on standard error that contains all the parts; no trace of a crash."""
    messages = [line for line in outcome.err.splitlines() if line.startswith("sluice: ")]
    assert len(messages) == 1, outcome.text
    for part in parts:
        assert part in outcome.err
    assert "MPI_ABORT" not in outcome.text
    assert "Segmentation" not in outcome.text


@pytest.mark.parametrize("ranks", RANKS)
def test_finished(tmp_path: Path, ranks: int) -> None:
    outcome = must(sluice("run", write_case(tmp_path, {"time.steps": 2}), ranks=ranks), 0)
    assert outcome.err == ""
    assert "end time or step reached" in outcome.out
    assert record(tmp_path / "out")["why_stopped"] == "end time or step reached"


@pytest.mark.parametrize("ranks", RANKS)
def test_unknown_key(tmp_path: Path, ranks: int) -> None:
    case = write_case(tmp_path, {"time.stepz": 2})
    told_once(must(sluice("run", case, ranks=ranks), 2), f"{case}:", "stepz", "steps")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    ("args", "part"),
    [
        ([], "subcommand"),
        (["swim"], "swim"),
        (["run"], "CASE.yaml"),
        (["run", "CASE", "--sideways"], "--sideways"),
        (["check", "CASE", "--np", "0"], "--np"),
        (["bench", "flight"], "flight"),
    ],
)
def test_usage(tmp_path: Path, args: list[str], part: str, ranks: int) -> None:
    case = write_case(tmp_path)
    outcome = must(sluice(*[case if arg == "CASE" else arg for arg in args], ranks=ranks), 2)
    told_once(outcome, "--help", part)


@pytest.mark.parametrize("ranks", RANKS)
def test_missing_case_file(tmp_path: Path, ranks: int) -> None:
    told_once(must(sluice("run", tmp_path / "nowhere.yaml", ranks=ranks), 2), "nowhere.yaml", "No such file")


BASE = json.dumps(case_with())


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "empty"),
        (bytes(range(256)) * 64, "control character 0x00"),
        (BASE.encode("utf-16"), "UTF-16"),
        (BASE.encode("utf-16-le"), "control character 0x00"),
        (f"{BASE}\n---\n{BASE}\n".encode(), "second YAML document"),
        (BASE.encode() + b"\n#" * 2**20, "more than 1048576 bytes"),
        (b"title: " + b"[" * 200000, "more than 20 levels"),
        (f"{BASE[:-1]}, 'title: open\n".encode(), f"case.yaml:1:{len(BASE) + 2}: not valid YAML: the quote"),
    ],
    ids=["empty", "binary", "utf16", "utf16le", "documents", "large", "nested", "quote"],
)
def test_no_case_file(tmp_path: Path, content: bytes, part: str, ranks: int) -> None:
    case = tmp_path / "case.yaml"
    case.write_bytes(content)
    told_once(must(sluice("check", case, ranks=ranks, timeout=20), 2), str(case), part)


@pytest.mark.parametrize("ranks", RANKS)
def test_endless_case_file(ranks: int) -> None:
    told_once(must(sluice("check", "/dev/zero", ranks=ranks, timeout=20), 2), "/dev/zero", "more than 1048576 bytes")


def test_case_file_from_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as writer:
        writer.submit(pipe.write_text, BASE)
        assert "The case is valid" in must(sluice("check", pipe)).out


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads every file")
def test_unreadable_case_file(tmp_path: Path) -> None:
    case = write_case(tmp_path)
    case.chmod(0)
    told_once(must(sluice("check", case), 2), str(case), "Permission denied")


def test_case_file_is_a_directory(tmp_path: Path) -> None:
    told_once(must(sluice("run", tmp_path), 2), str(tmp_path), "directory")


@pytest.mark.parametrize("ranks", RANKS)
def test_directory_with_results(tmp_path: Path, ranks: int) -> None:
    case = write_case(tmp_path, {"time.steps": 2})
    must(sluice("run", case))
    before = content(checkpoints(tmp_path / "out")[-1], ignore=[])
    told_once(must(sluice("run", case, ranks=ranks), 2), str(tmp_path / "out"), "--restart auto", "--overwrite")
    assert content(checkpoints(tmp_path / "out")[-1], ignore=[]) == before


def test_overwrite_removes_the_old_results(tmp_path: Path) -> None:
    must(sluice("run", write_case(tmp_path, {"time.steps": 20})))
    assert (tmp_path / "out" / "statistics.h5").exists()
    (tmp_path / "out" / "notes.txt").write_text("mine")
    case = write_case(tmp_path, {"time.steps": 2, "output.statistics": "none", "output.slices": []})
    must(sluice("run", case, "--overwrite"))
    out = tmp_path / "out"
    assert [file.name for file in checkpoints(out)] == ["step_0000002.h5"]
    assert not (out / "statistics.h5").exists()
    assert not list((out / "slices").glob("*"))
    assert rows(out)["step"].tolist() == [1, 2]
    assert len(record(out)["runs"]) == 1
    assert "step      10" not in (out / "log.txt").read_text()
    assert (out / "notes.txt").read_text() == "mine"


def test_overwrite_and_restart_exclude_each_other(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"time.steps": 2})
    must(sluice("run", case))
    newest = checkpoints(tmp_path / "out")[-1]
    must(sluice("run", case, "--overwrite", "--restart", newest), 2)
    assert newest.exists()


@pytest.mark.parametrize("ranks", RANKS)
def test_damaged_checkpoint(tmp_path: Path, ranks: int) -> None:
    case = write_case(tmp_path, {"time.steps": 2})
    must(sluice("run", case))
    newest = checkpoints(tmp_path / "out")[-1]
    with h5py.File(newest) as file:
        offset = file["v"].id.get_offset()
    damaged = bytearray(newest.read_bytes())
    damaged[offset + 1000] ^= 1
    newest.write_bytes(damaged)
    told_once(
        must(sluice("run", case, "--restart", newest, "--steps", 4, ranks=ranks), 3),
        newest.name,
        "the field v is damaged",
    )
    assert rows(tmp_path / "out")["step"].tolist() == [1, 2]


@pytest.mark.parametrize("ranks", RANKS)
@pytest.mark.parametrize("kind", ["missing", "text", "empty"])
def test_no_checkpoint(tmp_path: Path, kind: str, ranks: int) -> None:
    case = write_case(tmp_path, {"time.steps": 2})
    file = tmp_path / f"{kind}.h5"
    if kind != "missing":
        file.write_text("" if kind == "empty" else "not HDF5")
    told_once(must(sluice("run", case, "--restart", file, ranks=ranks), 3), file.name)


@pytest.mark.parametrize("ranks", RANKS)
def test_physical_mismatch(tmp_path: Path, ranks: int) -> None:
    case = write_case(tmp_path, {"time.steps": 2})
    must(sluice("run", case))
    changed = [
        "run",
        case,
        "--restart",
        "auto",
        "--steps",
        4,
        "--set",
        "flow.reynolds.bulk=5000",
        "--set",
        "walls.top.velocity=[0.1, 0, 0]",
    ]
    told_once(must(sluice(*changed, ranks=ranks), 3), "flow.reynolds", "5600", "5000", "walls.top", "--allow-change")
    assert rows(tmp_path / "out")["step"].tolist() == [1, 2]
    outcome = must(sluice(*changed, "--allow-change", ranks=ranks), 0)
    assert "flow.reynolds" in outcome.out
    with h5py.File(checkpoints(tmp_path / "out")[-1]) as file:
        assert "5000" in str(file.attrs["resolved_case"])


def test_another_grid_is_a_mismatch_that_cannot_be_allowed(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"time.steps": 2})
    must(sluice("run", case))
    args = ["run", case, "--restart", "auto", "--set", "grid.cells=[16, 12, 40]", "--set", "solver.z_blocks=2"]
    told_once(must(sluice(*args), 3), "grid")
    told_once(must(sluice(*args, "--allow-change"), 3), "initial", "checkpoint")


@pytest.mark.parametrize("ranks", RANKS)
def test_output_directory_cannot_be_made(tmp_path: Path, ranks: int) -> None:
    (tmp_path / "file").write_text("")
    case = write_case(tmp_path, {"output.directory": "file/out"})
    told_once(must(sluice("run", case, ranks=ranks), 4), str(tmp_path / "file" / "out"), "directory")


@pytest.mark.parametrize("ranks", RANKS)
def test_blow_up(tmp_path: Path, ranks: int) -> None:
    case = write_case(
        tmp_path, {"time.cfl": None, "time.dt": 0.05, "time.steps": 12, "output.checkpoint": {"every": 0.2, "keep": 9}}
    )
    must(sluice("run", case, ranks=ranks))
    before = {file.name: content(file, ignore=[]) for file in checkpoints(tmp_path / "out")}
    assert len(before) == 3
    outcome = must(sluice("run", case, "--restart", "auto", "--set", "time.dt=5", "--steps", 500, ranks=ranks), 5)
    told_once(outcome, "blow", "use a smaller time.dt, or a finer grid")
    assert "above the stable limit" in outcome.out
    assert "blow" in record(tmp_path / "out")["why_stopped"]
    assert record(tmp_path / "out")["step"] > 12
    for name, fields in before.items():
        assert content(tmp_path / "out" / "checkpoints" / name, ignore=[]) == fields
    for file in checkpoints(tmp_path / "out"):
        with h5py.File(file) as saved:
            assert all(np.isfinite(saved[name][...]).all() for name in "uvwp")


def test_cells_too_flat_for_explicit_diffusion(tmp_path: Path) -> None:
    (tmp_path / "faces.txt").write_text("\n".join(["0", "1e-8", *(str(2 * k / 31) for k in range(1, 32))]))
    case = write_case(tmp_path, {"grid.stretching": {"type": "file", "file": "faces.txt"}, "initial": {"type": "zero"}})
    told_once(must(sluice("run", case), 5), "diffusion along z", "time.diffusion: implicit_z")
    assert "implicit_z" in must(sluice("check", case)).out
    must(sluice("run", case, "--overwrite", "--steps", 1, "--set", "time.diffusion=implicit_z"))


@pytest.mark.parametrize("ranks", RANKS)
def test_initial_field_with_nan(tmp_path: Path, ranks: int) -> None:
    with h5py.File(tmp_path / "start.h5", "w") as file:
        for name in "uvw":
            values = np.zeros((32, 12, 16))
            if name == "v":
                values[25, 6, 7] = np.nan
            file[name] = values
    case = write_case(tmp_path, {"initial": {"type": "fields", "file": "start.h5"}})
    for options in ([], ["--steps", 0]):
        told = must(sluice("run", case, *options, ranks=ranks), 3)
        told_once(told, f"{tmp_path / 'start.h5'}: dataset /v is not finite: it is nan at [25, 6, 7]")
        assert "blown up" not in told.text
        assert not checkpoints(tmp_path / "out")


@pytest.mark.parametrize(
    ("changes", "ranks", "code", "part"),
    [
        ({"grid.cells": [4, 2, 4]}, 3, 6, "solver.z_blocks"),
        ({"parallel": {"grid": [1, 3]}, "solver.z_blocks": 2}, 3, 6, "solver.z_blocks"),
        ({"parallel": {"grid": [2, 2]}}, 3, 2, "parallel.grid"),
        ({"parallel": {"grid": [65536, 65537]}}, 3, 2, "needs 4295032832 processes"),
        ({"parallel": {"grid": [1000000, 1000000]}}, 3, 2, "needs 1000000000000 processes"),
    ],
)
def test_too_many_ranks(tmp_path: Path, changes: dict[str, object], ranks: int, code: int, part: str) -> None:
    case = write_case(tmp_path, {**changes, "output.slices": []})
    told_once(must(sluice("run", case, ranks=ranks), code), part)
    told_once(must(sluice("check", case, "--np", ranks), code), part)
