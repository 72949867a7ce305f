"""Faults at random: kills while a run or a go-back changes its files, cut files, flipped bits.

SLUICE_RANDOM_FAULTS=N makes N trials of each kind instead of a few; SLUICE_RANDOM_SEED chooses other ones.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from call_faults import fault
from sluice_run import Outcome, assert_same_results, checkpoints, finish, must, sluice, start, step_of, write_case

TRIALS = int(os.environ.get("SLUICE_RANDOM_FAULTS", "4"))
SEED = os.environ.get("SLUICE_RANDOM_SEED", "1")
STEPS = 12  # of the whole case
REACHED = 9  # by the run that is then sent back or damaged
CASE = {
    "time.steps": STEPS,
    "output.timeseries": {"every": 2},
    "output.checkpoint": {"every": 0.3, "keep": 4},
    "output.statistics": {"start": 0, "every": 2, "block": 0.3},
    "output.slices": [{"normal": "z", "at": 0.1, "every": 0.3, "fields": ["u"]}],
}
CALLS = "write,fsync,truncate,unlink,rename"
MAX_CALLS = 4096  # more than a run makes


def killed_at(call: int, folder: Path, *options: object) -> Outcome:
    """A run that dies before a call that changes something in the output directory, if it makes so many."""
    shim = fault("kill", CALLS, f"{folder}/out/", call)
    outcome = finish(start(["run", folder / "case.yaml", *options], env=shim))
    assert outcome.code in (0, -signal.SIGKILL), outcome.text
    return outcome


def trials(kind: str) -> random.Random:
    print(f"{TRIALS} trials of {kind}, seed {SEED}")
    return random.Random(kind + SEED)


def count_calls(folder: Path, *options: object) -> int:
    """The number of calls at which a run can be killed: by bisection."""
    few, many = 0, MAX_CALLS
    while many - few > 1:
        middle = (few + many) // 2
        copy = folder.parent / f"count{middle}"
        shutil.copytree(folder, copy)
        choose = [option(copy) if callable(option) else option for option in options]
        few, many = (middle, many) if killed_at(middle, copy, *choose).code != 0 else (few, middle)
        shutil.rmtree(copy)
    assert 30 < few < MAX_CALLS - 1
    return few


def oldest(folder: Path) -> Path:
    return checkpoints(folder / "out")[0]


def test_killed_runs(reference: Path, tmp_path: Path) -> None:
    chance = trials("kills of runs")
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    write_case(fresh, CASE)
    calls = count_calls(fresh)
    for _ in range(TRIALS):
        folder = tmp_path / "run"
        shutil.copytree(fresh, folder)
        assert killed_at(chance.randint(1, calls), folder).code != 0
        while killed_at(chance.randint(1, calls), folder, "--restart", "auto").code != 0:
            pass
        assert_same_results(reference, folder / "out")
        shutil.rmtree(folder)


def test_killed_go_backs(reference: Path, stopped: Path, tmp_path: Path) -> None:
    chance = trials("kills of go-backs")
    copy = tmp_path / "copy"
    shutil.copytree(stopped, copy)
    end = step_of(oldest(copy)) + 1
    calls = count_calls(copy, "--restart", oldest, "--steps", end)
    for _ in range(TRIALS):
        folder = tmp_path / "run"
        shutil.copytree(stopped, folder)
        killed_at(chance.randint(1, calls), folder, "--restart", oldest(folder), "--steps", end)
        must(sluice("run", folder / "case.yaml", "--restart", "auto"))
        assert_same_results(reference, folder / "out")
        shutil.rmtree(folder)


def cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def flip(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content))
    return content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]


@pytest.mark.parametrize("damage", [cut, flip])
def test_damaged_checkpoints(
    reference: Path, stopped: Path, tmp_path: Path, damage: Callable[[bytes, random.Random], bytes]
) -> None:
    """The older checkpoint is taken, and the run ends as if nothing had happened."""
    chance = trials(f"{damage.__name__} checkpoints")
    for _ in range(TRIALS):
        folder = tmp_path / "run"
        shutil.copytree(stopped, folder)
        newest = checkpoints(folder / "out")[-1]
        newest.write_bytes(damage(newest.read_bytes(), chance))
        outcome = must(sluice("run", folder / "case.yaml", "--restart", "auto"))
        assert f"passing over a checkpoint: {newest}" in outcome.out
        assert_same_results(reference, folder / "out")
        shutil.rmtree(folder)


@pytest.mark.parametrize("damage", [cut, flip])
@pytest.mark.parametrize("name", ["statistics.h5", "timeseries.csv"])
def test_damaged_results(
    reference: Path, stopped: Path, tmp_path: Path, name: str, damage: Callable[[bytes, random.Random], bytes]
) -> None:
    """The restart refuses the file and leaves it as it is, or it does not need what was damaged."""
    chance = trials(f"{damage.__name__} {name}")
    refused = 0
    for _ in range(TRIALS):
        folder = tmp_path / "run"
        shutil.copytree(stopped, folder)
        file = folder / "out" / name
        damaged = damage(file.read_bytes(), chance)
        file.write_bytes(damaged)
        outcome = sluice("run", folder / "case.yaml", "--restart", "auto")
        if outcome.code == 0:
            assert_same_results(reference, folder / "out")
        else:
            must(outcome, 3)
            assert file.read_bytes() == damaged
            refused += 1
        shutil.rmtree(folder)
    assert refused > TRIALS // 3
