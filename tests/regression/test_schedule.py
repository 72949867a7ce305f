"""What is due at a time happens at the first step that reaches it: round-off makes no output or end a step late."""

from __future__ import annotations

import math
import os
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import (
    assert_same_results,
    checkpoints,
    finish,
    must,
    record,
    rows,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)
from stored_hashes import set_hashes

TINY = {
    "flow": {"type": "channel", "reynolds": {"center": 100}},
    "domain.size": [2, 1, 2],
    "grid": {"cells": [4, 1, 8], "stretching": {"type": "uniform"}},
    "initial": {"type": "laminar"},
    "output": {"directory": "out", "log": {"every": 1000}, "timeseries": {"every": 1}, "checkpoint": "none"},
}


def tiny_case(folder: Path, time: dict[str, Any], **outputs: Any) -> Path:
    return write_case(folder, {**TINY, "time": time, **{f"output.{name}": value for name, value in outputs.items()}})


def due_steps(dt: str, every: str, steps: int, origin: str = "0") -> list[int]:
    """The first step at or after each of the times origin + n every, in exact arithmetic."""
    first, interval, length = Fraction(origin), Fraction(every), Fraction(dt)
    due = [math.ceil((first + n * interval) / length) for n in range(int(steps * length / interval) + 1)]
    return sorted({step for step in due if 0 < step <= steps})


def slice_steps(out: Path, label: str = "z0.5") -> list[int]:
    with h5py.File(out / "slices" / f"{label}.h5") as file:
        return [int(step) for step in file["step"][...]]


def fields_steps(out: Path, name: str) -> list[int]:
    return [int(file.stem.rsplit("_", 1)[1]) for file in sorted((out / "fields").glob(f"{name}_*.h5"))]


def block_ends(out: Path, name: str = "statistics") -> list[int]:
    with h5py.File(out / f"{name}.h5") as file:
        return [int(step) for step in file["step_end"][...]]


def the_slice(every: str) -> dict[str, Any]:
    return {"normal": "z", "at": 0.5, "every": float(every), "fields": ["u"]}


@pytest.mark.parametrize("dt", ["0.1", "0.02", "0.01", "0.05", "0.03", "0.07"])
def test_a_fixed_dt_ends_at_the_first_step_that_reaches_the_end(tmp_path: Path, dt: str) -> None:
    must(sluice("run", tiny_case(tmp_path, {"end": 3, "dt": float(dt)})))
    out, steps = tmp_path / "out", math.ceil(3 / Fraction(dt))
    assert record(out)["step"] == steps
    assert rows(out)["time"].tolist() == [n * float(dt) for n in range(1, steps + 1)]
    assert "it has reached its end" in must(sluice("info", out)).out


def test_every_output_by_time_is_at_the_right_steps(tmp_path: Path) -> None:
    dt, end, steps = "0.02", 60, 3000
    case = tiny_case(
        tmp_path,
        {"end": end, "dt": float(dt)},
        timeseries={"every": 100},
        slices=[the_slice("0.5"), {**the_slice("0.3"), "at": 1.5}],
        fields=[{"name": "box", "every": 1.1, "start": 0.7, "fields": ["velocity"]}],
        checkpoint={"every": 4.1, "keep": 100},
        statistics={"start": 0.3, "every": 5, "block": 0.9},
        spectra={"start": 0.7, "every": 5, "block": 2.3, "heights": [0.5]},
        densities={"start": 1.1, "every": 5, "block": 1.7},
        probes=[{"name": "point", "x": [1], "y": [0.5], "z": [1], "every": 1, "start": 0.7, "fields": ["u"]}],
    )
    must(sluice("run", case))
    out = tmp_path / "out"
    assert slice_steps(out) == due_steps(dt, "0.5", steps) == list(range(25, 3001, 25))
    assert slice_steps(out, "z1.5") == due_steps(dt, "0.3", steps)
    assert fields_steps(out, "box") == due_steps(dt, "1.1", steps, "0.7")
    assert [step_of(file) for file in checkpoints(out)] == [*due_steps(dt, "4.1", steps), steps]
    assert block_ends(out) == due_steps(dt, "0.9", steps, "1.2")
    assert block_ends(out, "spectra") == due_steps(dt, "2.3", steps, "3.0")
    assert block_ends(out, "densities") == due_steps(dt, "1.7", steps, "2.8")
    with h5py.File(out / "statistics.h5") as file:
        assert file["t_begin"][0] == 15 * 0.02
    with h5py.File(out / "probes" / "point.h5") as file:
        assert int(file["step"][0]) == 35


FORECASTS = [
    # dt, end, slices, fields (every, start), checkpoints, samples (every, start, block), probe (every, start)
    ("0.1", "3", "0.1", ("0.3", "0.1"), "0.5", (1, "0.3", "0.2"), (1, "0.7")),
    ("0.02", "6", "0.5", ("0.7", "0"), "1.1", (5, "0.3", "0.9"), (4, "0.7")),
    ("0.07", "5", "0.2", ("0.05", "0.3"), "1.4", (3, "1.4", "0.4"), (7, "1.4")),
    ("0.05", "4", "0.03", ("5", "4"), "4", (4, "0.1", "0.05"), (3, "3.95")),  # samples farther apart than blocks
    ("0.1", "4", "1", ("1", "4.05"), "9", (2, "0", "0.2"), (50, "0")),  # as far apart as blocks
    ("0.03", "1", "0.25", ("0.25", "0.25"), "0.25", (7, "0.5", "0.3"), (1, "0.99")),  # the last step is beyond the end
]


@pytest.mark.parametrize("forecast", FORECASTS, ids=lambda forecast: f"dt={forecast[0]}")
def test_check_counts_what_a_run_writes(tmp_path: Path, forecast: tuple[Any, ...]) -> None:
    dt, end, slices, (every, start), interval, (sample, begin, block), (probe, first) = forecast
    case = tiny_case(
        tmp_path,
        {"end": float(end), "dt": float(dt)},
        slices=[the_slice(slices)],
        fields=[{"name": "box", "every": float(every), "start": float(start), "fields": ["velocity"]}],
        checkpoint={"every": float(interval), "keep": 100},
        statistics={"start": float(begin), "every": sample, "block": float(block)},
        probes=[
            {"name": "point", "x": [1], "y": [0.5], "z": [1], "every": probe, "start": float(first), "fields": ["u"]}
        ],
    )
    text = must(sluice("check", case)).out
    must(sluice("run", case))
    out = tmp_path / "out"

    def counted(pattern: str) -> int:
        found = re.search(pattern, text)
        assert found, text
        return int(found[1])

    steps = math.ceil(Fraction(end) / Fraction(dt))
    assert counted(r"steps +about (\d+) ") == record(out)["step"] == steps
    assert counted(r" (\d+) slices? ") == len(slice_steps(out)) == len(due_steps(dt, slices, steps))
    assert counted(r" (\d+) checkpoints? ") == len(checkpoints(out))
    written = len(fields_steps(out, "box"))
    assert written == len(due_steps(dt, every, steps, start))
    sizes = re.search(r", fields ([\d.]+) KiB", text)
    bytes_per_file = 3 * 4 * 1 * 8 * 4  # three components of 4 x 1 x 8 cells, in single precision
    assert written == (round(float(sizes[1]) * 1024 / bytes_per_file) if sizes else 0)
    with h5py.File(out / "statistics.h5") as file:
        assert counted(r"statistics .*, (\d+) blocks? of") == len(file["block"])
    samples = [n for n in range(sample, steps + 1, sample) if n * Fraction(dt) >= Fraction(begin)]
    assert counted(r"statistics +about (\d+) sample") == len(samples)
    taken = 0
    if (out / "probes" / "point.h5").exists():
        with h5py.File(out / "probes" / "point.h5") as file:
            taken = len(file["step"])
    assert counted(r"point\(s\), about (\d+) samples") == taken


# Walls whose motion and a force that depends on time: the time enters the flow.
DRIVEN = {
    "grid.cells": [8, 6, 16],
    "walls": {"bottom": {"velocity": ["0.1*sin(3*t)", 0, 0]}},
    "output.checkpoint": {"every": 0.3, "keep": 9},
    "output.timeseries": {"every": 1},
    "output.slices": [the_slice("0.1")],
}


@pytest.mark.parametrize("time", [{"dt": 0.01}, {"cfl": 0.9, "dt_max": 0.01}, {"cfl": 0.5}], ids=str)
def test_a_restart_keeps_the_time_bitwise(tmp_path: Path, time: dict[str, Any]) -> None:
    case = write_case(tmp_path, {**DRIVEN, "time": {"steps": 80, **time}})
    must(sluice("run", case, "--output", tmp_path / "straight"))
    for end in (7, 38, 39, 80):
        must(sluice("run", case, "--restart", "auto", "--steps", end))
    assert_same_results(tmp_path / "straight", tmp_path / "out")
    if time != {"cfl": 0.5}:
        assert rows(tmp_path / "out")["time"].tolist() == [n * 0.01 for n in range(1, 81)]


def test_a_changed_dt_counts_from_the_restart(tmp_path: Path) -> None:
    """Also from steps of varied lengths, and back to them."""
    case, out = tiny_case(tmp_path, {"steps": 13, "dt": 0.1}, slices=[the_slice("0.1")]), tmp_path / "out"
    must(sluice("run", case))
    tiny_case(tmp_path, {"steps": 43, "dt": 0.02}, slices=[the_slice("0.1")])
    for end in (20, 43):
        must(sluice("run", case, "--restart", "auto", "--steps", end))
    begin = 13 * 0.1
    times = rows(out)["time"].tolist()
    assert times == [n * 0.1 for n in range(1, 14)] + [begin + n * 0.02 for n in range(1, 31)]
    assert slice_steps(out) == [*range(1, 14), *range(18, 44, 5)]
    tiny_case(tmp_path, {"steps": 46, "cfl": 0.5})
    must(sluice("run", case, "--restart", "auto", "--set", "output.slices=[]"))
    tiny_case(tmp_path, {"end": 40, "dt": 0.1})
    must(sluice("run", case, "--restart", "auto", "--set", "output.slices=[]"))
    times = rows(out)["time"]
    assert np.array_equal(times[46:], times[45] + np.arange(1, len(times) - 45) * 0.1)
    assert times[-2] < 40 <= times[-1]


def test_a_checkpoint_of_an_earlier_version_does_not_count_steps(tmp_path: Path) -> None:
    case, out = tiny_case(tmp_path, {"end": 2, "dt": 0.1}, slices=[the_slice("0.1")]), tmp_path / "out"
    must(sluice("run", case, "--steps", 7))
    time = 0.0
    for _ in range(7):
        time += 0.1  # a sum, with its round-off
    with h5py.File(checkpoints(out)[-1], "a") as file:
        del file["state"].attrs["dt_begin"], file["state"].attrs["dt_steps"]
        file.attrs["time"] = time
        file["time"][...] = time
    set_hashes(checkpoints(out)[-1])
    must(sluice("run", case, "--restart", "auto", "--output", out, "--steps", 8))
    must(sluice("run", case, "--restart", "auto"))
    assert record(out)["step"] == 20
    assert rows(out)["time"][7:].tolist() == [time + n * 0.1 for n in range(1, 14)]
    assert slice_steps(out) == list(range(1, 21))


@pytest.mark.skipif("SLUICE_BLOCK_FSYNC" not in os.environ, reason="needs the library that blocks fsync")
def test_steps_go_on_beside_a_checkpoint(tmp_path: Path) -> None:
    """The first checkpoint is kept from reaching the disk; the run waits for it only before it writes the next."""
    case = tiny_case(tmp_path, {"dt": 0.01, "steps": 40}, checkpoint={"every": 0.095, "keep": 9})
    out = tmp_path / "out"
    first = out / "checkpoints" / "step_0000010.h5"
    block = {"LD_PRELOAD": os.environ["SLUICE_BLOCK_FSYNC"], "SLUICE_BLOCK_IF": str(first)}
    process = start(["run", case], env=block)
    wait_until(first.exists, "the first checkpoint")
    wait_until(lambda: rows(out)["step"][-1] == 19, "the steps up to the next one")
    assert process.poll() is None
    first.rename(tmp_path / "first.h5")
    must(finish(process))
    assert [step_of(file) for file in checkpoints(out)] == [*due_steps("0.01", "0.095", 40)[1:], 40]
