import json
import math

import numpy as np
import pytest

from sluice_post.bench import csv_text, fastest, read_results, table_text
from sluice_post.bench_figures import (
    bars_figure,
    collapse_figure,
    decomposition_figure,
    panels,
    pieces_figure,
    scaling_figure,
    series_figure,
    weak_scaling_figure,
)
from sluice_post.bench_scaling import collapses, exponents_text, fitted_power_law
from sluice_post.cli import main

CURVE = [
    {"bytes": 1 << 18, "milliseconds": 2.0, "gb_per_s": 1.0},
    {"bytes": 1 << 20, "milliseconds": 1.0, "gb_per_s": 2.0},
]
PIECES = {"method": "mpi_pipelined", "traffic": "columns", "piece_bytes": 1 << 20, "piece_curve": CURVE}


def entry(kind, exchange, milliseconds, phases=(), layout="", without=(), **more):
    """A row of bench transpose, but for what is in `more` or named in `without`."""
    row = {
        "what": "transpose",
        "precision": "double",
        "device": "a processor",
        "ranks": 2,
        "cells": [8, 9, 10],
        "kind": kind,
        "layout": layout,
        "process_grid": [1, 2],
        "exchange": exchange,
        "milliseconds": milliseconds,
        "milliseconds_spread": [0.9 * milliseconds, 1.2 * milliseconds],
        "repeats": 5,
        "gb_per_s": 1.0,
        "error": 0.0,
        "phases": [{"name": name, "milliseconds": value} for name, value in phases],
    } | more
    return {name: value for name, value in row.items() if name not in without}


def write(path, *entries):
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries))
    return path


@pytest.fixture
def rows_of(tmp_path):
    """Reads entries from a file."""
    return lambda *entries: read_results([write(tmp_path / "rows.json", *entries)]).rows


TRANSPOSES = (
    entry("xz", "mpi_p2p", 2.0),
    entry("yz", "mpi_p2p", 1.0, [("compute", 0.4), ("communication", 0.6)], "realigned"),
    entry("yz", "nccl", 3.0, [], "realigned"),
    {"what": "transpose", "kind": "yz", "process_grid": [1, 2], "exchange": "peer", "fault": "one host only"},
)


def fft(ranks, kind, milliseconds, cells=(64, 64, 64), exchange="mpi_p2p", **more):
    times = {"fft": 0.5 * milliseconds, "communication": 0.5 * milliseconds / ranks}
    numbers = {"tflops": 0.25, "communication_fraction": 0.5}
    names = {"what": "fft", "ranks": ranks, "cells": cells, "process_grid": [1, ranks]}
    return entry(kind, exchange, milliseconds, times.items(), "contiguous", **names | numbers | more)


TRANSFORMS = tuple(
    row
    for ranks in (1, 2, 4)
    for row in (
        fft(ranks, "slab_2d_1d", 8.0 / ranks, pieces=[PIECES]),
        fft(ranks, "pencil", 10.0 / ranks),
        fft(ranks, "slab_2d_1d", 64.0 / ranks, (128, 128, 128)),
    )
)


def xy(line):
    return list(line.get_xdata()), list(line.get_ydata())


@pytest.mark.parametrize(
    "figure", [scaling_figure, weak_scaling_figure, collapse_figure, decomposition_figure, pieces_figure, series_figure]
)
def test_what_was_not_measured_is_not_drawn(rows_of, figure):
    assert figure(rows_of(*TRANSPOSES)) is None


def test_bars_are_as_long_as_the_times(rows_of):
    rows = rows_of(*TRANSPOSES)
    assert panels(rows) == ["yz realigned 1 x 2", "xz 1 x 2"]
    assert list(rows.exchange) == ["mpi_p2p", "mpi_p2p", "nccl"]
    assert "8 x 9 x 10" in rows.experiment[0]
    first, second = bars_figure(rows).axes
    lengths = sorted(round(bar.get_width(), 6) for bar in first.patches if bar.get_width() > 0)
    assert lengths == [0.4, 0.6, 3.0]
    assert [round(bar.get_width(), 6) for bar in second.patches] == [2.0]
    assert [label.get_text() for label in first.get_yticklabels()] == ["nccl", "mpi_p2p"]  # from below


def test_tables_hold_the_fastest_and_all_rows(rows_of):
    rows = rows_of(*TRANSFORMS)
    assert list(fastest(rows)[["nx", "ranks", "milliseconds"]].itertuples(index=False, name=None)) == [
        *((64, ranks, 8.0 / ranks) for ranks in (1, 2, 4)),
        *((128, ranks, 64.0 / ranks) for ranks in (1, 2, 4)),
    ]
    lines = table_text(rows).splitlines()
    assert len(lines) == 7
    assert lines[3].split()[-4:] == ["2.000", "1.00", "0.250", "0.50"]
    table = csv_text(rows).splitlines()
    assert len(table) == 10
    assert table[1].startswith("fft,64,64,64,real,1,double,1,a processor,slab_2d_1d,contiguous,1 x 1,mpi_p2p,8,7.2,")
    assert {line.count(",") for line in table} == {table[0].count(",")}


def test_an_unknown_rate_is_an_empty_cell(rows_of):
    rows = rows_of(fft(2, "cufft", 1.0, without=["gb_per_s"]))
    assert table_text(rows).splitlines()[1].split()[-3:] == ["1.000", "0.250", "0.50"]
    assert csv_text(rows).splitlines()[1].endswith(",1,0.9,1.2,,,,,,0.25,0.5,0")


def test_intervals_and_names_with_commas_in_the_tables(rows_of):
    intervals = {"milliseconds_interval_95": [0.95, 1.25], "milliseconds_interval_99": [0.9, 1.5]}
    rows = rows_of(fft(2, "pencil", 1.0, exchange="rows=peer,columns=nccl", **intervals))
    assert "0.950 to 1.250" in table_text(rows)
    assert '"rows=peer,columns=nccl",1,0.9,1.2,0.95,1.25,0.9,1.5,' in csv_text(rows)


def test_device_pointers_in_mpi_make_another_exchange(rows_of):
    entries = [fft(2, "pencil", 1.0 + aware, cuda_aware_mpi=bool(aware)) for aware in (0, 1)]
    rows = rows_of(*entries)
    assert list(rows.exchange) == ["mpi_p2p (through the host)", "mpi_p2p (CUDA-aware)"]


def test_numbers_of_fields_and_kinds_of_values_are_not_mixed(rows_of):
    entries = [
        fft(ranks, "pencil", fields / ranks, values=values, fields=fields)
        for ranks in (1, 2)
        for values, fields in (("real", 1), ("complex", 1), ("real", 3))
    ]
    rows = rows_of(*entries)
    grids = ["64 x 64 x 64", "64 x 64 x 64, 1 complex field", "64 x 64 x 64, 3 real fields"]
    assert sorted(set(fastest(rows).grid)) == grids
    assert len(fastest(rows)) == 6
    labels = [line.get_label() for line in scaling_figure(rows).axes[0].get_lines()[:3]]
    assert sorted(labels) == [rf"fft {grid} double, $\gamma$ = 1.00" for grid in grids]


def test_the_exponent_is_that_of_a_power_law():
    fit = fitted_power_law([1, 2, 8], [3 * p**-0.75 for p in (1, 2, 8)])
    assert (fit.exponent, fit.constant) == pytest.approx((0.75, 3))
    assert fit.error == pytest.approx(0, abs=1e-14)
    assert fit.time(4) == pytest.approx(3 * 4**-0.75)
    assert fitted_power_law([1, 2], [2, 1]).text == "1.00"


def test_the_error_of_the_exponent_is_the_spread_of_fits_to_noisy_times():
    random = np.random.default_rng(1)
    sizes = [1, 2, 4, 8, 16]
    fits = [
        fitted_power_law(sizes, [p**-0.9 * math.exp(0.1 * random.standard_normal()) for p in sizes])
        for _ in range(2000)
    ]
    exponents = np.array([fit.exponent for fit in fits])
    errors = np.array([fit.error for fit in fits])
    assert np.std(exponents) == pytest.approx(math.sqrt(np.mean(errors**2)), rel=0.05)
    assert math.sqrt(np.mean([fit.scatter**2 for fit in fits])) == pytest.approx(0.1, rel=0.05)


def test_grids_collapse_where_the_points_of_a_rank_decide_the_time(rows_of):
    rows = rows_of(*TRANSFORMS)  # 8 ms per rank and 64^3 points, on both grids
    ((name, (group, fit)),) = collapses(rows).items()
    assert name == "fft double"
    assert len(group) == 6
    assert fit.exponent == pytest.approx(1)
    assert fit.scatter == pytest.approx(0, abs=1e-12)
    curves = collapse_figure(rows).axes[0].get_lines()
    assert [line.get_label() for line in curves] == ["64 x 64 x 64", "128 x 128 x 128", r"$\gamma$ = 1"]
    density = [1e9 * p / 64**3 for p in (1, 2, 4)]
    assert xy(curves[0]) == (pytest.approx(density), pytest.approx([125, 250, 500]))
    text = exponents_text(rows)
    assert "fft 64 x 64 x 64 double" in text
    assert "gamma = 1, scatter 0 %" in text
    slower = fft(4, "slab_2d_1d", 48.0, (128, 128, 128))  # three times as slow
    assert collapses(rows_of(slower, *TRANSFORMS[:6]))["fft double"][1].scatter > 0.3


def test_speed_up_is_drawn_for_grids_with_several_rank_counts(rows_of):
    axes = scaling_figure(rows_of(*TRANSFORMS)).axes[0]
    line = axes.get_lines()[0]
    assert xy(line) == ([1, 2, 4], pytest.approx([1, 2, 4]))
    assert line.get_label() == r"fft 64 x 64 x 64 double, $\gamma$ = 1"


def test_devices_are_not_mixed(rows_of):
    entries = [
        fft(ranks, kind, factor * time / ranks, device=device)
        for device, factor in (("a processor", 8), ("a GPU", 1))
        for ranks in (1, 2)
        for kind, time in (("slab_2d_1d", 1.0), ("pencil", 2.0))
    ]
    rows = rows_of(*entries)
    curves = scaling_figure(rows).axes[0].get_lines()[:2]
    for line, device in zip(curves, ("a GPU", "a processor"), strict=True):
        assert list(line.get_ydata()) == pytest.approx([1, 2])
        assert line.get_label() == rf"fft 64 x 64 x 64 double, {device}, $\gamma$ = 1.00"
    axes = decomposition_figure(rows).axes
    assert [a.get_title(loc="left") for a in axes[::2]] == [
        f"{ranks} ranks, double precision\n{device}" for ranks in (1, 2) for device in ("a GPU", "a processor")
    ]
    for relative in axes[1::2]:
        pencil, slab = relative.get_lines()
        assert list(pencil.get_ydata()) == pytest.approx([2])
        assert list(slab.get_ydata()) == [1]


def test_numbers_of_numa_nodes_do_not_make_devices_different(rows_of):
    gpu = "a GPU (80.0 GiB), host memory"
    places = {1: "on NUMA node 0", 2: "on NUMA node 1", 4: "on NUMA node 12", 8: "not placed"}
    rows = rows_of(*(fft(n, "pencil", 8.0 / n, device=f"{gpu} {place}") for n, place in places.items()))
    assert list(rows.device_type) == [*3 * ["a GPU (80.0 GiB)"], f"{gpu} not placed"]
    assert list(scaling_figure(rows).axes[0].get_lines()[0].get_xdata()) == [1, 2, 4]
    assert "on NUMA node 1" not in rows.experiment[1]
    assert "on NUMA node 1" in csv_text(rows)


def test_weak_scaling_is_drawn_for_equal_points_per_rank(rows_of):
    assert weak_scaling_figure(rows_of(*TRANSFORMS)) is None
    cells = {1: (64, 64, 64), 2: (64, 128, 64), 4: (128, 128, 64)}
    entries = [
        row
        for ranks, of_ranks in cells.items()
        for row in (
            fft(ranks, "slab_2d_1d", 8.0 + ranks, of_ranks, tflops=ranks / (8.0 + ranks)),
            fft(ranks, "pencil", 20.0, of_ranks),
            fft(ranks, "cufft", 1.0, of_ranks),
            fft(ranks, "slab_2d_1d", 30.0, (64, 64, 64 * ranks)),
        )
    ]
    axes = weak_scaling_figure(rows_of(*entries)).axes
    assert [a.get_ylabel() for a in axes] == ["round trip, ms", "TFLOPS per rank", "GB/s that a rank sends"]
    curves = [a.get_lines()[0] for a in axes]
    assert {line.get_label() for line in curves} == {"fft 262,144 points per rank double"}
    assert xy(curves[0]) == ([1, 2, 4], [9, 10, 12])
    assert xy(curves[1]) == ([1, 2, 4], pytest.approx([1 / 9, 1 / 10, 1 / 12]))
    assert list(axes[0].get_lines()[1].get_ydata()) == [9.0, 9.0]


def test_weak_scaling_leaves_out_rates_that_are_not_known(rows_of):
    rows = [
        entry("xz", "mpi_p2p", 2.0, ranks=ranks, cells=[8, 8, 8 * ranks], gb_per_s=rate)
        for ranks, rate in ((1, 0.0), (2, 1.0), (4, 1.5))
    ]
    axes = weak_scaling_figure(rows_of(*rows)).axes
    assert [a.get_ylabel() for a in axes] == ["round trip, ms", "GB/s that a rank sends"]
    assert list(axes[1].get_lines()[0].get_xdata()) == [2, 4]


def test_slabs_and_pencils_are_compared_where_both_were_measured(rows_of):
    total, relative = decomposition_figure(rows_of(*TRANSFORMS)).axes[:2]
    pencil, slab = relative.get_lines()
    assert list(pencil.get_ydata()) == pytest.approx([1.25])
    assert list(slab.get_ydata()) == [1, 1]
    assert list(total.get_lines()[1].get_ydata()) == [8, 64]


def test_transforms_of_libraries_do_not_count_as_decompositions(rows_of):
    rows = rows_of(fft(2, "slab_2d_1d", 2.0), fft(2, "cufft", 1.0))
    assert list(fastest(rows).kind) == ["slab_2d_1d", "cufft"]
    assert decomposition_figure(rows) is None
    assert scaling_figure(rows) is None


def test_rates_are_drawn_over_piece_sizes_with_a_limit_on_pieces_in_flight_marked(rows_of):
    limited = {"bytes": 1 << 20, "in_flight": 4, "milliseconds": 0.8, "gb_per_s": 2.5}
    unlimited = [point | {"in_flight": 0} for point in CURVE]
    pieces = PIECES | {"in_flight": 4, "piece_curve": [*unlimited, limited]}
    axes = pieces_figure(rows_of(fft(2, "slab_2d_1d", 4.0, pieces=[pieces]))).axes[0]
    curve, chosen = axes.get_lines()[:2]
    assert xy(curve) == ([0.25, 1], [1, 2])
    assert xy(chosen) == ([1], [2.5])
    assert [text.get_text() for text in axes.texts] == ["4 in flight"]


def test_series_are_drawn_with_the_tuning_shaded(rows_of):
    series = {"milliseconds": [3.0, 1.0, 1.0, 2.0], "tuning": [{"begin": 0, "end": 1}, {"begin": 3, "end": 4}]}
    (axes,) = series_figure(rows_of(*TRANSPOSES, entry("xz", "mpi_pipelined", 1.0, series=series))).axes
    (line,) = axes.get_lines()
    assert xy(line) == ([0, 1, 2, 3], [3, 1, 1, 2])
    shaded = [patch.get_extents().transformed(axes.transData.inverted()) for patch in axes.patches]
    assert [(round(box.x0, 6), round(box.x1, 6)) for box in shaded] == [(-0.5, 0.5), (2.5, 3.5)]
    assert "shaded: tuning" in axes.get_title(loc="left")


def test_links_are_read_too(tmp_path):
    without = ("cells", "kind", "layout", "process_grid", "exchange")
    link = entry("", "", 1.0, without=without, what="links", bytes=4096, name="device to host")
    assert main(["bench", str(write(tmp_path / "links.json", link))]) == 0
    assert (tmp_path / "links.png").exists()


def test_what_a_checkpoint_takes_is_compared_part_by_part(rows_of):
    what = {"what": "checkpoint", "hints": []}
    entries = [
        entry("", "", time, (), "", ("kind", "layout", "exchange"), **what, writer=writer, name=name, ranks=ranks)
        for ranks in (1, 2)
        for writer, factor in (("direct", 1), ("hdf5", 2))
        for name, time in (("plain write", 1.0 * factor), ("checkpoint", 3.0 * factor))
    ]
    rows = rows_of(*entries)
    best = [("checkpoint", 1, 3.0), ("checkpoint", 2, 3.0), ("plain write", 1, 1.0), ("plain write", 2, 1.0)]
    assert list(fastest(rows)[["exchange", "ranks", "milliseconds"]].itertuples(index=False, name=None)) == best
    assert panels(rows) == ["writer direct 1 x 2", "writer hdf5 1 x 2"]
    assert scaling_figure(rows) is None
    axes = bars_figure(rows[rows.ranks == 1]).axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["checkpoint", "plain write"]
    assert axes.get_xlabel() == "" and bars_figure(rows).axes[-1].get_xlabel() == "ms"


@pytest.mark.parametrize(("given", "name"), [([], "bench"), (["-o", "fft_1.5"], "fft_1.5")])
def test_the_command_writes_beside_the_file_or_by_a_name_that_is_kept_whole(tmp_path, monkeypatch, capsys, given, name):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "bench.json", *TRANSPOSES)
    assert main(["bench", "bench.json", *given]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"bench.json", f"{name}.csv", f"{name}.png"}
    assert f"{name}.png" in capsys.readouterr().out


def test_the_command_writes_all_figures_of_several_files(tmp_path, capsys):
    files = [write(tmp_path / f"fft_{n}.json", *TRANSFORMS[n : n + 3]) for n in (0, 3, 6)]
    assert main(["bench", *map(str, files), "-o", str(tmp_path / "out" / "fft")]) == 0
    names = ["_scaling", "_collapse", "_decompositions", "_pieces", *(f"_{number}" for number in range(1, 7))]
    assert {file.name for file in (tmp_path / "out").iterdir()} == {"fft.csv", *(f"fft{n}.png" for n in names)}
    out = capsys.readouterr().out
    assert "0.250" in out
    assert "gamma = 1, scatter" in out


DAMAGED = json.dumps(TRANSPOSES[0])


@pytest.mark.parametrize(
    ("content", "code"),
    [
        ("{}", 2),
        ('{"results": [{"kind": "xz"}]}', 2),
        ('{"what": "fft"}', 2),
        ("[1]", 2),
        ("", 2),
        (DAMAGED.replace("2.0", "-2.0"), 2),
        (DAMAGED.replace("2.0", "true"), 2),
        (DAMAGED.replace('"phases": []', '"phases": 3'), 2),
        (DAMAGED + "\n" + DAMAGED[:40], 4),
        ("no json", 4),
        (b"\xff\xfe\x00", 4),
        (None, 4),
    ],
)
def test_other_files_are_refused(tmp_path, capsys, content, code):
    path = tmp_path / "other.json"
    if content is not None:
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    assert main(["bench", str(path)]) == code
    assert "other.json" in capsys.readouterr().err
