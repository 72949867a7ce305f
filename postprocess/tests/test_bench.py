import json

import pytest

from sluice_post.bench import bench_figure, read_benchmark
from sluice_post.cli import main


def entry(kind, exchange, milliseconds, phases=(), layout=""):
    return {
        "kind": kind,
        "layout": layout,
        "process_grid": [1, 2],
        "exchange": exchange,
        "milliseconds": milliseconds,
        "milliseconds_spread": [0.9 * milliseconds, 1.2 * milliseconds],
        "repeats": 5,
        "gb_per_s": 1.0,
        "tflops": 0.0,
        "phases": [{"name": name, "milliseconds": value} for name, value in phases],
    }


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "bench.json"
    results = [
        entry("xz", "mpi_p2p", 2.0),
        entry("yz", "mpi_p2p", 1.0, [("compute", 0.4), ("communication", 0.6)], "realigned"),
        entry("yz", "nccl", 3.0, [], "realigned"),
        {"kind": "yz", "layout": "", "process_grid": [1, 2], "exchange": "peer", "fault": "one host only"},
    ]
    content = {
        "what": "transpose",
        "cells": [8, 9, 10],
        "precision": "double",
        "device": "a processor",
        "ranks": 2,
        "results": results,
    }
    path.write_text(json.dumps(content))
    return path


def test_panels_hold_the_ways_that_worked_the_fastest_first(file):
    benchmark = read_benchmark(file)
    assert benchmark.panels == ["yz realigned 1 x 2", "xz 1 x 2"]
    assert [way.exchange for way in benchmark.ways] == ["mpi_p2p", "mpi_p2p", "nccl"]
    assert "8 x 9 x 10" in benchmark.title


def test_bars_are_as_long_as_the_times(file):
    figure = bench_figure(read_benchmark(file))
    first, second = figure.axes
    lengths = sorted(round(bar.get_width(), 6) for bar in first.patches if bar.get_width() > 0)
    assert lengths == [0.4, 0.6, 3.0]
    assert [round(bar.get_width(), 6) for bar in second.patches] == [2.0]
    assert [label.get_text() for label in first.get_yticklabels()] == ["nccl", "mpi_p2p"]  # from below


def test_the_command_writes_a_figure_beside_the_file(file, capsys):
    assert main(["bench", str(file)]) == 0
    assert (file.parent / "bench.png").stat().st_size > 1000
    assert "bench.png" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("content", "code"), [("{}", 2), ('{"results": [{"kind": "xz"}]}', 2), ("no json", 4), (None, 4)]
)
def test_other_files_are_refused(tmp_path, capsys, content, code):
    path = tmp_path / "other.json"
    if content is not None:
        path.write_text(content)
    assert main(["bench", str(path)]) == code
    assert "other.json" in capsys.readouterr().err
