import csv
import json

import pytest

from sluice_post.bench import read_results, shared_and_labels, steps_csv_text, steps_table_text
from sluice_post.bench_figures import STEP_COLOURS, budget_figure, step_weak_scaling_figure
from sluice_post.cli import main

PHASES = {"time step": 0.0, "momentum": 4.0, "tridiagonal": 2.0, "halo exchange": 1.0}


def entry(milliseconds, phases=PHASES, ranks=1, cells=(10, 10, 10), **more):
    """A result in the form of bench step."""
    per_point = 1e6 * milliseconds / (cells[0] * cells[1] * cells[2])
    return {
        "what": "step",
        "precision": "double",
        "device": "a GPU (80.0 GiB), host memory on NUMA node 1",
        "git_revision": "e02bb01d94ff",
        "ranks": ranks,
        "cells": cells,
        "diffusion": "implicit_z",
        "order": 4,
        "scalars": 0,
        "tridiagonal": "ptdma",
        "process_grid": [1, ranks],
        "exchange": "peer",
        "z_blocks": 2 * ranks,
        "ns_per_point_per_step": per_point,
        "ns_per_point_per_step_spread": [0.9 * per_point, 1.25 * per_point],
        "phases": [{"name": name, "milliseconds": time} for name, time in phases.items()],
    } | more


def write(path, *entries):
    path.write_text("\n".join(json.dumps(entry, indent=2) for entry in entries))
    return path


@pytest.fixture
def steps_of(tmp_path):
    """Reads entries from a file."""
    return lambda *entries: read_results([write(tmp_path / "steps.json", *entries)]).steps


def test_times_follow_from_nanoseconds_per_point(steps_of):
    (step,) = steps_of(entry(8.0)).itertuples()
    assert (step.milliseconds, step.milliseconds_min, step.milliseconds_max) == pytest.approx((8.0, 7.2, 10.0))


def test_a_budget_adds_up_to_the_step(steps_of):
    with_rest, too_long = steps_of(entry(8.0), entry(3.5)).budget
    assert with_rest == pytest.approx({**PHASES, "other": 1.0})
    assert too_long == pytest.approx({name: 0.5 * time for name, time in PHASES.items()})


def test_labels_say_what_differs_and_the_title_the_rest(steps_of):
    shared, labels = shared_and_labels(
        steps_of(
            entry(8.0, ranks=2),
            entry(9.0, ranks=2, tridiagonal="transpose"),
            entry(16.0, device="a GPU (80.0 GiB), host memory on NUMA node 0"),
        )
    )
    assert labels == ["ptdma, 2 ranks (1 x 2)", "transpose, 2 ranks (1 x 2)", "ptdma, 1 rank (1 x 1)"]
    assert shared == (
        "step, 10 x 10 x 10, implicit_z, no scalars, order 4, double precision, peer, a GPU (80.0 GiB), e02bb01d94ff"
    )


def test_z_blocks_are_in_labels_only_if_nothing_else_differs(steps_of):
    _, labels = shared_and_labels(steps_of(entry(8.0), entry(9.0, z_blocks=5)))
    assert labels == ["2 z blocks", "5 z blocks"]
    _, labels = shared_and_labels(steps_of(entry(8.0), entry(9.0, z_blocks=5, order=2)))
    assert labels == ["order 4", "order 2"]


def bars_of(axes):
    """Begin and length of the parts of each bar, by its place."""
    bars = {}
    for bar in axes.patches:
        if bar.get_width() > 0:
            parts = bars.setdefault(round(bar.get_y() + bar.get_height() / 2), [])
            parts.append((round(bar.get_x(), 6), round(bar.get_width(), 6)))
    return bars


def test_bars_are_as_long_as_the_phases(steps_of):
    slow = {"momentum": 4.0, "transpose": 6.0}
    figure = budget_figure(steps_of(entry(8.0), entry(10.0, slow, tridiagonal="transpose")))
    axes = figure.axes[0]
    assert bars_of(axes) == {1: [(0, 4), (4, 2), (6, 1), (7, 1)], 0: [(0, 4), (4, 6)]}
    assert {tick.get_position()[1]: tick.get_text() for tick in axes.get_yticklabels()} == {1: "ptdma", 0: "transpose"}
    names = [text.get_text() for text in figure.legends[0].get_texts()]
    assert names == ["time step", "momentum", "tridiagonal", "halo exchange", "transpose", "other"]


def test_methods_of_one_solve_are_bars_side_by_side(steps_of):
    whole = {"transpose": 6.0, "diffusion transpose": 0.0, "diffusion tridiagonal": 1.0}
    parts = {"transpose": 3.0, "diffusion transpose": 0.5, "diffusion tridiagonal": 1.5}
    methods = [
        entry(time, phases, ranks=4, what="solve", tridiagonal=name)
        for name, time, phases in (("ptdma", 5.0, parts), ("transpose from z pencils", 7.0, whole))
    ]
    steps = steps_of(*methods)
    shared, labels = shared_and_labels(steps)
    assert labels == ["ptdma", "transpose from z pencils"]
    assert shared.startswith("solve, 10 x 10 x 10, 4 ranks (1 x 4), order 4")
    assert bars_of(budget_figure(steps).axes[0]) == {1: [(0, 3), (3, 0.5), (3.5, 1.5)], 0: [(0, 6), (6, 1)]}


def test_every_phase_has_a_colour_of_its_own():
    assert len(set(STEP_COLOURS.values())) == len(STEP_COLOURS)


def test_the_table_has_a_line_for_each_result(steps_of):
    slow = {"momentum": 4.0, "transpose": 6.0}
    steps = steps_of(entry(8.0), entry(10.0, slow, tridiagonal="transpose"))
    _, heads, first, second = steps_table_text(steps).splitlines()
    assert heads.split()[-4:] == ["whole", "ns", "per", "point"]
    assert first.split() == ["ptdma", "0.000", "4.000", "2.000", "1.000", "1.000", "8.000", "8000"]
    assert second.split() == ["transpose", "4.000", "6.000", "0.000", "10.000", "1e+04"]
    lines = list(csv.DictReader(steps_csv_text(steps).splitlines()))
    assert [(line["phase"], float(line["phase_milliseconds"])) for line in lines] == [*PHASES.items(), *slow.items()]
    assert [float(line["milliseconds"]) for line in lines] == 4 * [8.0] + 2 * [10.0]


def test_weak_scaling_is_that_of_the_fastest_with_equal_points_per_rank(steps_of):
    steps = steps_of(
        entry(8.0),
        entry(10.0, ranks=2, cells=(10, 10, 20)),
        entry(12.0, ranks=2, cells=(10, 10, 20), process_grid=[2, 1]),
        entry(16.0, ranks=4, cells=(10, 10, 40)),
        entry(4.0, ranks=2),
        entry(20.0, ranks=2, cells=(10, 10, 20), tridiagonal="transpose"),
    )
    total, relative = step_weak_scaling_figure(steps).axes
    (line,) = total.get_lines()
    assert (list(line.get_xdata()), list(line.get_ydata())) == ([1, 2, 4], pytest.approx([8, 10, 16]))
    assert list(relative.get_lines()[0].get_ydata()) == pytest.approx([1, 0.8, 0.5])
    assert step_weak_scaling_figure(steps_of(entry(8.0), entry(4.0, ranks=2))) is None


def test_the_command_writes_tables_and_figures(tmp_path, capsys):
    poisson = entry(3.0) | {"what": "poisson", "phases": []}
    file = write(tmp_path / "two.json", entry(8.0), poisson, entry(9.0, ranks=2, cells=(10, 10, 20)))
    assert main(["bench", str(file)]) == 0
    names = {"two.json", "two_phases.csv", "two_phases.png", "two_phases_weak_scaling.png"}
    assert {path.name for path in tmp_path.iterdir()} == names
    assert "8.000" in capsys.readouterr().out


@pytest.mark.parametrize(
    "change",
    [
        {"ns_per_point_per_step": 0},
        {"ns_per_point_per_step": None},
        {"cells": []},
        {"cells": [0, 10, 10]},
        {"cells": 10},
        {"ranks": "two"},
        {"phases": [{"name": "momentum", "milliseconds": -1.0}]},
        {"phases": [{"name": "momentum"}]},
        {"ns_per_point_per_step_spread": [1.0]},
    ],
)
def test_damaged_results_are_refused(tmp_path, capsys, change):
    file = write(tmp_path / "step.json", entry(8.0), entry(8.0) | change)
    assert main(["bench", str(file)]) == 2
    assert "step.json, line " in capsys.readouterr().err
