"""Pipes, devices and directories where the program reads a file, and control characters in what it reads."""

from __future__ import annotations

import json
import os
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sluice_run import Outcome, case_with, command, finish, must, sluice, start, write_case

TABLE = {"flow.forcing": {"bulk_velocity": {"table": "pipe"}}}
GRID = {"grid.stretching": {"type": "file", "file": "pipe"}}
FEW_STEPS = {"time.steps": 2}
PATIENCE = 20  # seconds; a program that waits for the other end of a pipe runs for ever


def pipe_in(folder: Path) -> Path:
    folder.mkdir()
    os.mkfifo(folder / "pipe")
    return folder


def readers(folder: Path) -> dict[str, list[object]]:
    """Commands that read a pipe, each its own, of which nobody writes to the other end."""
    case = write_case(folder, name="case.yaml")
    commands: dict[str, list[object]] = {}
    for subcommand in ("check", "run"):
        commands[f"{subcommand} case"] = [subcommand, pipe_in(folder / f"{subcommand}_case") / "pipe"]
        for name, changes in {"table": TABLE, "grid": GRID}.items():
            commands[f"{subcommand} {name}"] = [
                subcommand,
                write_case(pipe_in(folder / f"{subcommand}_{name}"), changes),
            ]
    commands["machine"] = ["check", case, "--machine", pipe_in(folder / "machine") / "pipe"]
    machine = pipe_in(folder / "result") / "machine.yaml"
    machine.write_text("title: t\nmemory_gb: 8\ndevices_per_host: 1\nsteps: [pipe]\n")
    commands["result"] = ["check", case, "--machine", machine]
    return commands


def test_pipes_without_a_writer(tmp_path: Path) -> None:
    """Every command ends soon, with the name of the pipe; all wait at the same time."""
    started = {name: start(args) for name, args in readers(tmp_path).items()}
    outcomes = {name: finish(process, PATIENCE) for name, process in started.items()}
    assert len(outcomes) == 8
    for name, outcome in outcomes.items():
        assert outcome.code == 2, (name, outcome.text)
        assert "pipe: the " in outcome.err, (name, outcome.text)
        assert "cannot be read: no program has opened this pipe for writing in 5 s" in outcome.err, name


def through_pipe(pipe: Path, text: str, *args: object) -> Outcome:
    with ThreadPoolExecutor(1) as writer:
        writer.submit(pipe.write_text, text)
        return sluice(*args, timeout=PATIENCE)


def test_tables_and_grids_through_pipes(tmp_path: Path) -> None:
    case = write_case(pipe_in(tmp_path / "table"), {**TABLE, **FEW_STEPS})
    must(through_pipe(tmp_path / "table" / "pipe", "0 1\n1 1.1\n", "run", case))
    case = write_case(pipe_in(tmp_path / "grid"), {**GRID, **FEW_STEPS})
    faces = "".join(f"{k / 16}\n" for k in range(33))
    must(through_pipe(tmp_path / "grid" / "pipe", faces, "run", case))


@pytest.mark.parametrize("ending", ["<(cat case.yaml)", "/dev/stdin < case.yaml", "/dev/stdin < <(cat case.yaml)"])
def test_case_files_that_a_shell_makes(tmp_path: Path, ending: str) -> None:
    write_case(tmp_path, FEW_STEPS)
    program = " ".join(command(["check"]))
    found = subprocess.run(
        ["bash", "-c", f"{program} {ending}"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert "The case is valid" in found.stdout, found.stderr


def test_a_pipe_that_is_too_long(tmp_path: Path) -> None:
    program = " ".join(command(["check"]))
    found = subprocess.run(
        ["bash", "-c", f"{program} <(yes)"], cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE
    )
    assert found.returncode == 2
    assert "it has more than 1048576 bytes" in found.stderr


def test_what_is_neither_file_nor_pipe(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"flow.forcing": {"bulk_velocity": {"table": str(tmp_path)}}})
    assert "cannot read the table in time: it is a directory" in must(sluice("check", case), 2).err
    name = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(name))
        assert "cannot read the case file: it is a socket" in must(sluice("run", name), 2).err


@pytest.mark.parametrize("kind", ["fields", "checkpoint"])
def test_initial_file_is_no_regular_file(tmp_path: Path, kind: str) -> None:
    os.mkfifo(tmp_path / "pipe")
    case = write_case(tmp_path, {"initial": {"type": kind, "file": "pipe"}})
    assert "it is a FIFO, not a regular file" in must(sluice("run", case, timeout=PATIENCE), 3).err
    assert "it is a FIFO" in must(sluice("info", tmp_path / "pipe", timeout=PATIENCE), 3).err


def test_control_characters_in_texts(tmp_path: Path) -> None:
    """The message shows the character and all that follows it."""
    case = tmp_path / "case.yaml"
    case.write_text(json.dumps({**case_with(FEW_STEPS), "title": "before\0behind\x1b[31m"}))
    for subcommand in ("check", "run"):
        message = must(sluice(subcommand, case), 2).err
        assert r'title: the text "before\x00behind\x1b[31m" has the control character 0x00' in message
        assert f"{case}:1:" in message
        assert not (tmp_path / "out").exists()


def test_control_characters_in_a_machine_file(tmp_path: Path) -> None:
    machine = tmp_path / "machine.yaml"
    machine.write_text('title: "a\\0b"\nmemory_gb: 8\ndevices_per_host: 1\nsteps: ["s\\0.json"]\n')
    message = must(sluice("check", write_case(tmp_path), "--machine", machine), 2).err
    assert rf'{machine}:1:8: title: the text "a\x00b" has the control character 0x00' in message
    assert rf'{machine}:4:9: steps[0]: the text "s\x00.json" has the control character 0x00' in message


def test_grid_files_of_fortran_programs(tmp_path: Path) -> None:
    faces = "\ufeff" + "".join(f"  {k / 16:.16E}\n".replace("E", "D") for k in range(33))
    (tmp_path / "faces.txt").write_text(faces)
    case = write_case(tmp_path, {"grid.stretching": {"type": "file", "file": "faces.txt"}})
    assert "dz 0.0625 (min) to 0.0625 (max)" in must(sluice("check", case)).out
    (tmp_path / "faces.txt").write_text(faces.replace("\n", "\0\n", 1))
    assert r"faces.txt:1:25: control character 0x00 in" in must(sluice("check", case), 2).err
