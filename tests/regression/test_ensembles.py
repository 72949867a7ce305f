"""Ensembles: each member has the bits of its single run, and its errors and requests are its own."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from sluice_run import (
    ENDLESS,
    assert_same_results,
    checkpoints,
    finish,
    kill_all,
    must,
    record,
    rows,
    sluice,
    start,
    wait_until,
    write_case,
)

STEPS = 30
AMPLITUDES = [0.1, 0.5, 0.2, 0.3]
REYNOLDS = [5600, 4000, 5000, 4500]
SAMPLES = {"start": 0.2, "every": 2, "block": 0.5, "heights": [0.05, 1.0]}
CASE: dict[str, Any] = {
    "time.steps": STEPS,
    "output.spectra": SAMPLES,
    "output.densities": SAMPLES,
    "walls.bottom.actuation": {"type": "oscillation", "amplitude": 0.1, "period": 2},
    "ensemble": {
        "members": 4,
        "vary": {"walls.bottom.actuation.amplitude": AMPLITUDES, "flow.reynolds.bulk": REYNOLDS},
    },
}
PLAIN = {"time.steps": ENDLESS, "output.checkpoint": {"every": 1000}, "output.timeseries": {"every": 3}}


def members(out: Path) -> list[Path]:
    return [out / name for name in json.loads((out / "ensemble.json").read_text())["directories"]]


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The case, and the directory of its ensemble on one process."""
    folder = tmp_path_factory.mktemp("ended")
    case = write_case(folder, CASE)
    outcome = must(sluice("run", case))
    assert len(outcome.out.splitlines()) == 4, outcome.out  # not the logs of all members
    return case, folder / "out"


def under_way(folder: Path, ranks: int, members_: int = 3) -> subprocess.Popen[str]:
    """An ensemble without end, all of whose members have taken some steps."""
    process = start(["run", write_case(folder, {**PLAIN, "ensemble": {"members": members_}})], ranks)
    series = [folder / "out" / f"member_{n:02}" / "timeseries.csv" for n in range(members_)]
    wait_until(lambda: all(one.exists() and one.read_text().count("\n") > 4 for one in series), "the first rows")
    return process


@pytest.mark.parametrize("member", [0, 3])
def test_a_member_has_the_bits_of_its_single_run(ended: tuple[Path, Path], member: int, tmp_path: Path) -> None:
    case, out = ended
    single = tmp_path / "single"
    settings = [
        "ensemble=none",
        f"initial.seed={3 + member}",
        f"walls.bottom.actuation.amplitude={AMPLITUDES[member]}",
        f"flow.reynolds.bulk={REYNOLDS[member]}",
    ]
    must(sluice("run", case, "--output", single, *(part for one in settings for part in ("--set", one))))
    assert_same_results(single, members(out)[member])


def test_the_resolved_case_of_a_member_is_that_of_a_single_run(ended: tuple[Path, Path], tmp_path: Path) -> None:
    out = ended[1]
    must(sluice("run", out / "member_01" / "resolved.yaml", "--output", tmp_path / "single"))
    assert_same_results(tmp_path / "single", out / "member_01")
    texts = [(one / "resolved.yaml").read_text() for one in (tmp_path / "single", out / "member_01")]
    assert texts[0].replace(str(tmp_path / "single"), str(out / "member_01")) == texts[1]


def test_members_step_by_their_own_limits(ended: tuple[Path, Path]) -> None:
    ends = {float(rows(member)["time"][-1]) for member in members(ended[1])}
    assert len(ends) == 4


@pytest.mark.parametrize("ranks", [2, 3])
def test_several_processes_give_the_same_bits(ended: tuple[Path, Path], ranks: int, tmp_path: Path) -> None:
    case, out = ended
    must(sluice("run", case, "--output", tmp_path / "out", ranks=ranks))
    for one, other in zip(members(out), members(tmp_path / "out"), strict=True):
        assert_same_results(one, other)


def test_ensemble_json(ended: tuple[Path, Path]) -> None:
    assert json.loads((ended[1] / "ensemble.json").read_text()) == {
        "members": 4,
        "directories": ["member_00", "member_01", "member_02", "member_03"],
        "varied": {
            "initial.seed": [3, 4, 5, 6],
            "walls.bottom.actuation.amplitude": AMPLITUDES,
            "flow.reynolds.bulk": REYNOLDS,
        },
    }


def test_a_killed_ensemble_goes_on_to_the_same_end(ended: tuple[Path, Path], tmp_path: Path) -> None:
    case, _ = ended
    steps = ("--set", "time.steps=90")
    must(sluice("run", case, "--output", tmp_path / "whole", *steps))
    out = tmp_path / "out"
    process = start(["run", case, "--output", out, *steps])
    wait_until(lambda: len(checkpoints(out / "member_02")) > 2, "checkpoints")
    kill_all(process)
    finish(process)
    assert not (out / "member_02" / "run.json").exists()
    shutil.rmtree(out / "member_01")  # one that had not started
    restarted = must(sluice("run", case, "--output", out, *steps, "--restart", "auto", ranks=2))
    assert "from checkpoints" in restarted.out
    for one, other in zip(members(tmp_path / "whole"), members(out), strict=True):
        assert_same_results(one, other)
    before = (out / "member_00" / "timeseries.csv").read_bytes()
    must(sluice("run", case, "--output", out, *steps, "--restart", "auto"))
    assert (out / "member_00" / "timeseries.csv").read_bytes() == before


@pytest.mark.parametrize("ranks", [0, 2])
def test_one_member_blows_up_and_the_others_end(ranks: int, tmp_path: Path) -> None:
    vary = {"time.dt": [0.02, 3.0, 0.03]}
    case = write_case(tmp_path, {"time.cfl": None, "time.dt": 0.02, "ensemble": {"members": 3, "vary": vary}})
    outcome = must(sluice("run", case, ranks=ranks), 5)
    assert "1 of 3 members failed:\nmember_01: " in outcome.err
    assert "member_01 failed: " in (tmp_path / "out" / "log.txt").read_text()
    ends = [record(member)["why_stopped"] for member in members(tmp_path / "out")]
    assert "end time or step reached" in (ends[0], ends[2])
    assert "blow" in ends[1]
    assert [len(checkpoints(member)) > 0 for member in members(tmp_path / "out")][::2] == [True, True]


@pytest.mark.parametrize("ranks", [0, 2])
def test_stop_files_of_a_member_and_of_the_ensemble(ranks: int, tmp_path: Path) -> None:
    process = under_way(tmp_path, ranks)
    out = tmp_path / "out"
    (out / "member_01" / "STOP").touch()
    wait_until((out / "member_01" / "run.json").exists, "the end of one member")
    assert not (out / "member_00" / "run.json").exists()
    assert process.poll() is None
    (out / "CHECKPOINT").touch()
    wait_until(lambda: all(checkpoints(out / f"member_{n:02}") for n in (0, 2)), "checkpoints")
    (out / "STOP").touch()
    must(finish(process))
    for member in members(out):
        assert record(member)["why_stopped"] == "stop requested by file STOP"
        assert not (member / "STOP").exists()
        assert not (member / "CHECKPOINT").exists()
    assert not (out / "STOP").exists()


def test_signals_reach_every_member(tmp_path: Path) -> None:
    process = under_way(tmp_path, 0)
    out = tmp_path / "out"
    process.send_signal(signal.SIGUSR2)
    wait_until(lambda: all(checkpoints(member) for member in members(out)), "a checkpoint of each member")
    process.send_signal(signal.SIGUSR1)
    outcome = must(finish(process))
    assert [line for line in outcome.err.splitlines() if "SIGUSR1" in line] == [
        "SIGUSR1 received: stopping after this step with a checkpoint"
    ]
    for member in members(out):
        assert record(member)["why_stopped"] == "stop requested by signal"
        assert len(checkpoints(member)) == 2


def test_walltime_ends_every_member(tmp_path: Path) -> None:
    case = write_case(tmp_path, {**PLAIN, "ensemble": {"members": 2}})
    must(sluice("run", case, "--walltime", "4s"))
    assert {record(member)["why_stopped"] for member in members(tmp_path / "out")} == {"wall-time limit reached"}


@pytest.mark.parametrize(
    ("changes", "options", "parts"),
    [
        (
            {"ensemble.vary": {"grid.cells": [1, 2, 3, 4]}},
            [],
            ["ensemble.vary.grid.cells", "all members have the same"],
        ),
        ({"ensemble.vary": {"time.dt": [0.1, 0.2]}}, [], ["time.dt has 2 values for 4 members"]),
        ({"ensemble.vary": {"time.dt": [0.1, 0.2, 0.3, -1]}}, [], ["ensemble.vary.time.dt[3]: '-1' is out of range"]),
        ({"ensemble.vary": {"flow.reynolds.wall": [1, 2, 3, 4]}}, [], ["(member_00)", "do not move"]),
        ({"ensemble.seeds": [1, 2]}, [], ["ensemble.seeds: a list of 2 for 4 members"]),
        ({"parallel.grid": [1, 2]}, [], ["parallel.grid", "runs on one process"]),
        ({}, ["--restart", "some.h5"], ["a checkpoint is of one member"]),
    ],
)
def test_refused(changes: dict[str, Any], options: list[str], parts: list[str], tmp_path: Path) -> None:
    outcome = must(sluice("run", write_case(tmp_path, {**CASE, **changes}), *options), 2)
    for part in parts:
        assert part in outcome.err
    assert not (tmp_path / "out" / "member_00").exists()


def test_members_have_one_grid(tmp_path: Path) -> None:
    vary = {"members": 2, "vary": {"flow.reynolds.tau": [150, 180]}}
    grid = {"cells": [16, 12, 96], "stretching": {"type": "natural"}}
    outcome = must(
        sluice("run", write_case(tmp_path, {"grid": grid, "ensemble": vary, "flow.reynolds": {"tau": 180}})), 2
    )
    assert "set grid.stretching.re_tau" in outcome.err


def test_more_processes_than_members(tmp_path: Path) -> None:
    outcome = must(sluice("run", write_case(tmp_path, {"ensemble": {"members": 1}}), ranks=2), 2)
    assert "start at most 1" in outcome.err


def test_a_directory_with_an_ensemble(ended: tuple[Path, Path], tmp_path: Path) -> None:
    case, _ = ended
    out = tmp_path / "out"
    must(sluice("run", case, "--output", out, "--steps", 3))
    assert {record(member)["step"] for member in members(out)} == {3}
    assert "holds an ensemble already" in must(sluice("run", case, "--output", out), 2).err
    single = must(sluice("run", case, "--output", out, "--set", "ensemble=none"), 2)
    assert "holds an ensemble" in single.err
    two = ["--set", "ensemble={members: 2}"]
    assert "cannot have fewer" in must(sluice("run", case, "--output", out, *two, "--restart", "auto"), 2).err
    must(sluice("run", case, "--output", out, *two, "--overwrite", "--steps", 2))
    assert {record(member)["step"] for member in members(out)} == {2}
    assert len(members(out)) == 2
    assert not (out / "member_03" / "run.json").exists()


def contents(out: Path) -> dict[str, bytes]:
    """Of all files but logs and locks."""
    files = [file for file in out.rglob("*") if file.is_file() and file.name not in ("log.txt", "lock")]
    return {str(file.relative_to(out)): file.read_bytes() for file in files}


@pytest.mark.parametrize("ranks", [0, 2])
def test_a_refused_restart_changes_nothing(ended: tuple[Path, Path], ranks: int, tmp_path: Path) -> None:
    case, out = ended[0], tmp_path / "out"
    shutil.copytree(ended[1], out)
    series = out / "member_00" / "timeseries.csv"  # a restart removes what no checkpoint covers
    series.write_text(series.read_text() + series.read_text().splitlines()[-1].replace("30,", "31,", 1) + "\n")
    before = contents(out)
    more = ["--set", "time.steps=40", "--set", "ensemble.vary={flow.reynolds.bulk: [5600, 4000, 5000, 4501]}"]
    more += ["--set", "walls.bottom.actuation.amplitude=0.1"]
    outcome = must(sluice("run", case, "--output", out, *more, "--restart", "auto", ranks=ranks), 3)
    assert "3 of 4 members cannot start, so none does:\nmember_01: " in outcome.err
    assert "member_03: " in outcome.err
    assert contents(out) == before
    end = checkpoints(out / "member_02")
    for file in end:
        file.write_bytes(b"")
    before = contents(out)
    outcome = must(sluice("run", case, "--output", out, *more[:2], "--restart", "auto", ranks=ranks), 3)
    assert "1 of 4 members cannot start, so none does:\nmember_02: " in outcome.err
    assert contents(out) == before


def test_refused_overwriting_changes_nothing(ended: tuple[Path, Path], tmp_path: Path) -> None:
    case, out = ended[0], tmp_path / "out"
    shutil.copytree(ended[1], out)
    (out / "member_02" / "run.json").write_text("of someone else")
    before = contents(out)
    less = ["--set", "ensemble={members: 3}"]
    outcome = must(sluice("run", case, "--output", out, *less, "--overwrite"), 2)
    assert "member_02: " in outcome.err
    assert "Sluice did not write it" in outcome.err
    assert contents(out) == before


def test_a_directory_with_a_single_run(tmp_path: Path) -> None:
    must(sluice("run", write_case(tmp_path), "--steps", 1))
    case = write_case(tmp_path, {"ensemble": {"members": 2}})
    assert "results of a single run" in must(sluice("run", case), 2).err


def test_verify(ended: tuple[Path, Path], tmp_path: Path) -> None:
    _, out = ended
    assert "4 of 4 members intact" in must(sluice("verify", out)).out
    shutil.copytree(out, tmp_path / "out")
    end = checkpoints(tmp_path / "out" / "member_02")[-1]
    content = bytearray(end.read_bytes())
    content[len(content) // 2] ^= 1
    end.write_bytes(content)
    outcome = must(sluice("verify", tmp_path / "out"), 3)
    assert "1 of 4 members have problems" in outcome.err
    assert "DAMAGED" in outcome.out
    found = json.loads(must(sluice("verify", tmp_path / "out", "--json"), 3).out)
    assert [member["intact"] for member in found["members"]] == [True, True, False, True]
    assert "member_03" in must(sluice("info", out)).out


def test_check(tmp_path: Path) -> None:
    case = write_case(tmp_path, CASE)
    text = must(sluice("check", case, "--np", 3)).out
    assert "4 members; what follows is of the first, on one process" in text
    assert "4 members on 3 process(es), up to 2 on each" in text
    assert "runs on one process" in must(sluice("check", case, "--np", 5), 2).err
    equal = must(sluice("check", case, "--set", "ensemble={members: 3, seeds: [1, 2, 1]}")).out
    assert "member_00 and member_02 do not differ" in equal
