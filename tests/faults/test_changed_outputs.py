"""A restart may change any output key: nothing that the run has kept is lost, whatever happens next.

Each trial restarts one stopped run with some keys changed, kills it before its next checkpoint, verifies, goes on with
the keys of before, changes them again, and at last goes back to a checkpoint of the first run.
"""

from __future__ import annotations

import itertools
import random
import shutil
from collections.abc import Mapping
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
    rows,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)

REACHED = 14
SLICE = {"normal": "z", "at": 0.1, "every": 0.05, "fields": ["u"]}
OTHER_SLICE = {"normal": "y", "at": 1, "every": 0.1, "fields": ["w"]}
PROBE = {"name": "line", "y": [0.5], "z": [0.1, 1], "every": 1, "fields": ["u"]}
OTHER_PROBE = {"name": "point", "x": [1], "y": [0.5], "z": [1], "every": 3, "fields": ["w"]}
FIELDS = {"name": "box", "every": 0.1, "fields": ["velocity"]}
CASE = {
    "grid.cells": [8, 6, 16],
    "time": {"steps": REACHED, "dt": 0.05},
    "output.log": {"every": 3},
    "output.timeseries": {"every": 1},
    "output.checkpoint": {"every": 0.1, "keep": 50},
    "output.statistics": {"start": 0, "every": 1, "block": 0.1},
    "output.spectra": {"start": 0, "every": 1, "block": 0.2, "heights": [0.1, 1]},
    "output.densities": {"start": 0, "every": 1, "block": 0.2},
    "output.slices": [SLICE],
    "output.probes": [PROBE],
    "output.fields": [FIELDS],
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
}

# By key, what a restart may change without --allow-change.
CHANGES: dict[str, list[Any]] = {
    "output.log.every": ["none"],
    "output.log.seconds": [1],
    "output.timeseries.every": [4, 7, 5],
    "output.checkpoint": [{"every": 1e6, "keep": 50}, {"every": 0.15, "keep": 50}],
    "output.statistics.start": [0.2, 0.9],
    "output.statistics.every": [3],
    "output.statistics.block": [0.05, 0.25],
    "output.statistics": ["none"],
    "output.spectra.start": [0.9],
    "output.spectra.every": [3],
    "output.spectra.block": [0.15],
    "output.spectra": ["none"],
    "output.densities.start": [0.9],
    "output.densities.every": [3],
    "output.densities.block": [0.15],
    "output.densities": ["none"],
    "output.slices": [[], [SLICE, OTHER_SLICE]],
    "output.probes": [[], [{**PROBE, "start": 0.9}], [PROBE, OTHER_PROBE]],
    "output.fields": [[], [{**FIELDS, "every": 0.15, "start": 0.3}]],
    "time.dt": [0.04],
    "time.cfl": [0.9],
    "time.dt_max": [0.03],
    "walltime": ["1:00:00"],
    "watchdog": [60],
}


def conflict(one: str, other: str) -> bool:
    """Whether one key is a part of the other's value, or excludes it."""
    exclusive = {"time.dt", "time.cfl", "time.dt_max"}
    return one.startswith(other + ".") or other.startswith(one + ".") or {one, other} <= exclusive


UNCHANGED = -1  # beside the positions of a key's values


def trials() -> list[dict[str, Any]]:
    """Few trials in which each pair of keys that fit together each pair of values.

    That a key stays as it was counts as a value.
    """
    generator = random.Random(1)
    values = [(key, n) for key, choices in CHANGES.items() for n in range(UNCHANGED, len(choices))]

    def fit(one: tuple[str, int], other: tuple[str, int]) -> bool:
        return one[0] != other[0] and (UNCHANGED in (one[1], other[1]) or not conflict(one[0], other[0]))

    left = {frozenset(pair) for pair in itertools.combinations(values, 2) if fit(*pair)}
    left -= {pair for pair in left if all(value == UNCHANGED for _, value in pair)}
    found = []
    while left:
        best: dict[str, int] = {}
        most: set[frozenset[tuple[str, int]]] = set()
        for _ in range(12):
            trial = dict(generator.choice(sorted(map(sorted, left))))
            for key in generator.sample(list(CHANGES), len(CHANGES)):
                if key in trial:
                    continue
                chosen = list(trial.items())
                gains = [
                    (sum(frozenset({(key, n), other}) in left for other in chosen), generator.random(), n)
                    for n in range(UNCHANGED, len(CHANGES[key]))
                    if all(fit((key, n), other) for other in chosen)
                ]
                trial[key] = max(gains)[2]
            covered = {frozenset(pair) for pair in itertools.combinations(trial.items(), 2)} & left
            if len(covered) > len(most):
                best, most = trial, covered
        left -= most
        found.append({key: CHANGES[key][n] for key, n in best.items() if n != UNCHANGED})
    return found


TRIALS = trials()


def changed(changes: Mapping[str, Any]) -> dict[str, Any]:
    """The case with these keys changed, whole sections first."""
    case: dict[str, Any] = {**CASE, "time": {"dt": 0.05}}
    if {"time.cfl", "time.dt_max"} & changes.keys():
        case["time"] = {"cfl": 0.9}
    for key in sorted(changes):
        section, _, name = key.rpartition(".")
        case[section] = dict(case[section]) if section in case else None
        if case[section] is None:
            del case[section]
            case[key] = changes[key]
        else:
            case[section][name] = changes[key]
    return case


@pytest.mark.parametrize("number", range(len(TRIALS)))
def test_changed_on_restart(stopped: Path, tmp_path: Path, number: int) -> None:
    trial_of(stopped, tmp_path, TRIALS[number])


@pytest.mark.parametrize(
    "changes", [{"output.slices": [{**SLICE, "every": 0.1}]}, {"output.probes": [{**PROBE, "every": 2}]}]
)
def test_changed_with_leave(stopped: Path, tmp_path: Path, changes: dict[str, Any]) -> None:
    """A changed interval of slices or probes needs --allow-change, each way."""
    trial_of(stopped, tmp_path, changes, "--allow-change")


@pytest.mark.parametrize("intervals", itertools.permutations([1, 4, 7]), ids=str)
def test_every_order_of_intervals_of_the_time_series(tmp_path: Path, intervals: tuple[int, int, int]) -> None:
    """The row of a checkpoint's step stays if the schedule asked for it when it was written, or asks for it now."""
    case, out = write_case(tmp_path, {**CASE, "output.fields": [], "output.slices": []}), tmp_path / "out"
    due = [{1, *range(every, 40, every)} for every in intervals]
    run = [["run", case, "--restart", "auto", "--set", f"output.timeseries.every={n}"] for n in intervals]
    must(sluice(*run[0], "--steps", REACHED))
    original = (out / "timeseries.csv").read_text()
    must(sluice(*run[1], "--steps", REACHED))  # takes no step
    must(sluice("verify", out))
    assert rows(out)["step"].tolist() == sorted({n for n in due[0] if n <= REACHED} | {REACHED})
    must(sluice(*run[2], "--steps", REACHED + 3))
    must(sluice("verify", out))
    kept = {n for n in due[0] if n < REACHED} | {n for n in due[2] if n > REACHED} | {REACHED + 3}
    if REACHED in due[0] | due[2]:
        kept.add(REACHED)
    assert rows(out)["step"].tolist() == sorted(n for n in kept if n <= REACHED + 3)
    back = next(file for file in checkpoints(out) if step_of(file) > 6)
    must(sluice(*run[0][:2], "--restart", back, *run[0][4:], "--steps", REACHED))
    must(sluice("verify", out))
    assert (out / "timeseries.csv").read_text() == original


def trial_of(stopped: Path, tmp_path: Path, changes: Mapping[str, Any], *options: str) -> None:
    folder, out = tmp_path / "run", tmp_path / "run" / "out"
    shutil.copytree(stopped, folder)
    before, after = folder / "case.yaml", write_case(folder, changed(changes), "changed.yaml")
    rare = ["--set", "output.checkpoint=none"]

    process = start(["run", after, *options, "--restart", "auto", "--steps", ENDLESS, *rare])
    wait_until(lambda: f"step {REACHED + 1:7d}" in (out / "log.txt").read_text(), "a step after the restart")
    kill_all(process)
    finish(process)
    assert step_of(checkpoints(out)[-1]) == REACHED
    must(sluice("verify", out))

    must(sluice("run", before, *options, "--restart", "auto", "--steps", REACHED + 3))
    must(sluice("run", after, *options, "--restart", "auto", "--steps", REACHED + 9))
    must(sluice("verify", out))

    back = checkpoints(out)[2]
    assert step_of(back) < REACHED
    must(sluice("run", before, *options, "--restart", back, "--steps", REACHED))
    must(sluice("verify", out))
    assert_same_results(stopped / "out", out)
