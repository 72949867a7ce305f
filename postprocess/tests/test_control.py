"""Savings of control by the walls, from time series with known means."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from sluice_post import cli, layout
from sluice_post.control import height_of, powers_of, savings
from sluice_post.errors import UsageError
from sluice_post.hashes import byte_hashes


def write_run(folder: Path, forcing: np.ndarray, walls: np.ndarray | None, bulk: float = 1.0) -> Path:
    """A directory with a time series of 100 rows and a resolved case of height 2."""
    folder.mkdir()
    names = [*layout.TIMESERIES_COLUMNS, *(["power_bottom", "power_top"] if walls is not None else [])]
    lines = []
    for n, force in enumerate(forcing):
        values = dict.fromkeys(names, 0.0) | {"step": n, "time": 0.5 * n, "bulk_velocity": bulk, "forcing": force}
        if walls is not None:
            values |= {"power_bottom": walls[n], "power_top": 3 * walls[n]}
        line = ",".join(repr(float(values[name])) for name in names)
        row_hash = int(byte_hashes([line.encode()])[0] >> np.uint64(11))
        lines.append(f"{line},{row_hash}")
    text = "\n".join([",".join([*names, layout.ROW_HASH]), *lines]) + "\n"
    (folder / layout.TIMESERIES_FILE).write_text(text)
    (folder / layout.CASE_FILE).write_text("domain:\n  size: [12.5, 4.1, 2]\n")
    return folder


def test_savings_are_those_of_the_means(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wave = np.cos(np.arange(100))
    rest = write_run(tmp_path / "rest", 0.004 * (1 + 0.1 * wave), None)
    moving = write_run(tmp_path / "moving", 0.003 * (1 + 0.1 * wave), np.full(100, 0.0004))
    assert height_of(moving) == 2
    found = savings(powers_of(moving, 10, 40), powers_of(rest, 10, 40))
    rows = slice(20, 81)
    ratio = np.mean(0.003 * (1 + 0.1 * wave[rows])) / np.mean(0.004 * (1 + 0.1 * wave[rows]))
    assert found.drag_reduction.mean == pytest.approx(1 - ratio)
    walls = 4 * 0.0004 / 2 / np.mean(0.004 * (1 + 0.1 * wave[rows]))
    assert found.walls.mean == pytest.approx(walls)
    assert found.net_saving is not None
    assert found.net_saving.mean == pytest.approx(1 - ratio - walls)
    assert 0 < found.net_saving.half_width < 0.1

    assert cli.main(["control", str(moving), "--reference", str(rest), "--from", "10", "--to", "40"]) == 0
    text = capsys.readouterr().out
    assert f"reduction of C_f      {100 * (1 - ratio):.2f} +- {100 * found.drag_reduction.half_width:.2f} %" in text
    assert re.search(r"^bulk velocity +1 +1$", text, re.MULTILINE)  # imposed, so without an interval


def test_intervals_of_both_runs_add_up(tmp_path: Path) -> None:
    noise = np.random.default_rng(1).standard_normal(100)
    runs = [write_run(tmp_path / str(n), 0.004 * (1 + n * 0.05 * noise), None) for n in (0, 1, 2)]
    powers = [powers_of(run, 0, 49.5) for run in runs]
    one = savings(powers[1], powers[0]).drag_reduction.half_width
    other = savings(powers[0], powers[2]).drag_reduction.half_width
    both = savings(powers[1], powers[2]).drag_reduction.half_width
    assert both == pytest.approx(np.hypot(one, other), rel=0.05)


def test_net_saving_needs_equal_bulk_velocities(tmp_path: Path) -> None:
    rest = write_run(tmp_path / "rest", np.full(100, 0.004), None)
    faster = write_run(tmp_path / "faster", np.full(100, 0.004), np.zeros(100), bulk=1.1)
    found = savings(powers_of(faster, None, None), powers_of(rest, None, None))
    assert found.net_saving is None
    assert found.drag_reduction.mean == pytest.approx(1 - 1 / 1.21)
    with pytest.raises(UsageError):
        powers_of(rest, 100, 200)
