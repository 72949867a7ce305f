"""bench transpose, fft and links: all ways to redistribute an array, in one table."""

from __future__ import annotations

import importlib.util
import json
import math
from pathlib import Path
from typing import Any

import pytest
from sluice_run import must, record, sluice, write_case

GRID = ("--grid", "24,20,32", "--repeats", 3, "--warm-up", 1)
LIBRARIES = {"cufft", "fftw"}  # the kinds of rows of their own transforms
MPI_METHODS = {"mpi_p2p", "mpi_alltoall", "mpi_streams", "mpi_pipelined", "mpi_datatype", "mpi_alltoallw"}


def read(file: Path) -> list[dict[str, Any]]:
    """The objects of a file of JSON Lines."""
    return [json.loads(line) for line in file.read_text().splitlines()]


def test_all_measures_every_way_the_fastest_first(tmp_path: Path) -> None:
    file = tmp_path / "transpose.json"
    outcome = must(sluice("bench", "transpose", *GRID, "--all", "--json", file, ranks=4))
    rows = read(file)
    for row in rows:
        assert (row["what"], row["cells"], row["ranks"]) == ("transpose", [24, 20, 32], 4)
    ways = {(entry["kind"], tuple(entry["process_grid"])) for entry in rows}
    assert ways == {
        ("xy", (2, 2)),
        ("xy", (4, 1)),
        *((kind, grid) for kind in ("yz", "xz") for grid in ((1, 4), (2, 2))),
    }
    for way in ways:
        of_way = [e for e in rows if (e["kind"], tuple(e["process_grid"])) == way]
        assert {entry["exchange"] for entry in of_way} >= MPI_METHODS
    in_table = [float(line[48:].split()[0]) for line in outcome.out.splitlines() if line.startswith(("x", "y"))]
    assert in_table == sorted(in_table)
    for entry in (row for row in rows if "fault" not in row):
        least, most = entry["milliseconds_spread"]
        assert 0 < least <= entry["milliseconds"] <= most
        assert (entry["repeats"], entry["warm_up"], entry["error"]) == (3, 1, 0)
        assert f"{entry['exchange']} " in outcome.out


def test_bandwidth_is_what_leaves_a_rank_over_the_time(tmp_path: Path) -> None:
    file = tmp_path / "transpose.json"
    must(sluice("bench", "transpose", *GRID, "--kind", "xz", "--exchange", "mpi_p2p", "--json", file, ranks=2))
    (entry,) = read(file)
    value = 8 if entry["precision"] == "double" else 4
    # In each direction, each rank keeps half of its half of the grid and sends the rest.
    sent = 2 * value * 24 * 20 * 32 / 4
    assert entry["bytes_sent"] == sent
    assert entry["gb_per_s"] == pytest.approx(sent / entry["milliseconds"] * 1e-6)


def test_one_way_alone_can_be_chosen() -> None:
    args = ("--kind", "yz", "--process-grid", "2,2", "--exchange", "mpi_datatype")
    outcome = must(sluice("bench", "transpose", *GRID, *args, ranks=4))
    assert outcome.out.count("mpi_datatype") == 1
    assert "2 x 2" in outcome.out


def test_the_time_limit_of_a_way_ends_its_repeats(tmp_path: Path) -> None:
    file = tmp_path / "transpose.json"
    args = ("--repeats", 100000, "--time-limit", 0.2, "--kind", "xz", "--exchange", "mpi_p2p", "--json", file)
    must(sluice("bench", "transpose", "--grid", "24,20,32", *args, ranks=2))
    assert 1 <= read(file)[0]["repeats"] < 100000


def test_one_rank_has_nothing_to_measure() -> None:
    outcome = must(sluice("bench", "transpose", *GRID), 2)
    assert "mpirun" in outcome.err


def test_a_way_that_cannot_be_made_is_an_error_if_it_was_the_only_one() -> None:
    args = ("--grid", "4,2,16", "--kind", "xy", "--process-grid", "4,1", "--exchange", "mpi_p2p")
    outcome = must(sluice("bench", "transpose", *args, ranks=4), 6)
    assert "mpi_p2p" in outcome.out


def test_fft_measures_every_decomposition_and_layout(tmp_path: Path) -> None:
    file = tmp_path / "fft.json"
    must(sluice("bench", "fft", *GRID, "--all", "--exchange", "mpi_p2p", "--json", file, ranks=4))
    rows = [row for row in read(file) if row["kind"] not in LIBRARIES]
    ways = {(e["kind"], e["layout"], tuple(e["process_grid"])) for e in rows}
    grids = {"slab_2d_1d": (1, 4), "slab_1d_2d": (1, 4), "pencil": (2, 2)}
    assert ways == {(kind, layout, grid) for kind, grid in grids.items() for layout in ("contiguous", "realigned")}
    for entry in rows:
        assert {phase["name"] for phase in entry["phases"]} == {"fft", "packing", "communication"}
        axes = {"slab_2d_1d": ["y z"], "slab_1d_2d": ["x y"], "pencil": ["x y", "y z"]}[entry["kind"]]
        names = {f"{direction} fft {axis}" for direction in ("forward", "backward") for axis in "xyz"}
        for first, second in map(str.split, axes):
            for what in ("packing", "communication", "unpacking"):
                names |= {f"forward {what} {first} to {second}", f"backward {what} {second} to {first}"}
        assert {part["name"] for part in entry["parts"]} == names
        assert entry["milliseconds_forward"] > 0
        assert entry["milliseconds_backward"] > 0
        assert 0 < entry["communication_fraction"] <= 1
        assert 0 < entry["coefficient_error"] <= entry["error"]
        assert entry["error"] < (1e-14 if entry["precision"] == "double" else 1e-5)
        points = 24 * 20 * 32
        operations = 10 * points * math.log2(points)
        assert entry["tflops"] == pytest.approx(operations / entry["milliseconds"] * 1e-9)


def test_intervals_are_shown_where_repeats_suffice(tmp_path: Path) -> None:
    file = tmp_path / "fft.json"
    for repeats, wanted in ((5, set()), (7, {"95"}), (12, {"95", "99"})):
        args = ("--grid", "24,20,32", "--repeats", repeats, "--warm-up", 1, "--json", file)
        outcome = must(sluice("bench", "fft", *args, "--kind", "slab_2d_1d", "--layout", "realigned"))
        assert "95 %" in outcome.out
        (entry,) = read(file)
        found = {key.removeprefix("milliseconds_interval_"): value for key, value in entry.items()}
        assert {percent for percent in ("95", "99") if percent in found} == wanted
        for percent in wanted:
            low, high = found[percent]
            assert entry["milliseconds_spread"][0] <= low <= entry["milliseconds"] <= high
            assert high <= entry["milliseconds_spread"][1]
            assert f"{low:.3f} {high:.3f}" in outcome.out


def test_several_and_complex_fields_are_measured(tmp_path: Path) -> None:
    file = tmp_path / "fft.json"
    way = ("bench", "fft", *GRID, "--kind", "pencil", "--layout", "contiguous", "--exchange", "mpi_p2p")
    points = 24 * 20 * 32
    measured = []
    for values, fields in (("real", 1), ("real", 3), ("complex", 1), ("complex", 2)):
        args = (*way, "--values", values, "--fields", fields, "--json", file)
        outcome = must(sluice(*args, ranks=4))
        assert f"{fields} {values} field(s)" in outcome.out
        (entry,) = read(file)
        assert (entry["values"], entry["fields"]) == (values, fields)
        operations = 10 * points * math.log2(points) * fields
        assert entry["tflops"] == pytest.approx(operations / entry["milliseconds"] * 1e-9)
        measured.append(entry)
    one, three, of_complex, two = (entry["bytes_sent"] for entry in measured)
    assert three == 3 * one
    assert two == 2 * of_complex
    # Both directions of two exchanges, in each of which a rank sends half of its quarter of the grid.
    value = 16 if measured[0]["precision"] == "double" else 8
    assert of_complex == 2 * 2 * value * points / 4 / 2
    must(sluice("bench", "fft", *GRID, "--kind", "fftw", "--fields", 2), 2)


def test_several_grids_are_measured_in_one_call(tmp_path: Path) -> None:
    file = tmp_path / "fft.json"
    grids = ("--grid", "8,9,10", "--grid", "16,12,8")
    must(sluice("bench", "fft", *grids, "--repeats", 1, "--exchange", "mpi_p2p", "--json", file, ranks=2))
    assert [row["cells"] for row in read(file)] == [[8, 9, 10], [16, 12, 8]]
    must(sluice("bench", "poisson", *grids), 2)


def test_pencils_take_a_method_for_rows_and_one_for_columns(tmp_path: Path) -> None:
    file = tmp_path / "fft.json"
    pencils = ("bench", "fft", *GRID, "--kind", "pencil", "--layout", "contiguous", "--json", file)
    pair = "rows=mpi_p2p,columns=mpi_alltoall"
    must(sluice(*pencils, "--exchange", pair, ranks=4))
    assert [row["exchange"] for row in read(file)] == [pair]
    must(sluice(*pencils, "--all", "--pairs", ranks=4, timeout=120))
    measured = [row["exchange"] for row in read(file)]
    assert len(measured) == len(set(measured)) >= len(MPI_METHODS) ** 2
    assert {pair, *MPI_METHODS} <= set(measured)
    must(sluice("bench", "fft", *GRID, "--pairs", ranks=4), 2)


def test_auto_measures_pencils_and_reports_its_choice(tmp_path: Path) -> None:
    file = tmp_path / "fft.json"
    outcome = must(sluice("bench", "fft", *GRID, "--kind", "pencil", "--json", file, ranks=4))
    rows = read(file)
    assert {row["exchange"] for row in rows} > MPI_METHODS
    (chosen,) = [row for row in rows if row.get("chosen")]
    assert chosen["milliseconds"] == min(row["milliseconds"] for row in rows)
    assert f"auto chose {chosen['exchange']} for pencil" in outcome.out


def test_the_pieces_of_mpi_pipelined_are_tuned_and_reported(tmp_path: Path) -> None:
    file = tmp_path / "transpose.json"
    blocks = ("--grid", "128,64,256", "--kind", "xz", "--exchange", "mpi_pipelined", "--repeats", 1)
    outcome = must(sluice("bench", "transpose", *blocks, "--json", file, ranks=2))
    (row,) = read(file)
    assert len(row["pieces"]) == 2  # there and back
    for pieces in row["pieces"]:
        assert (pieces["method"], pieces["traffic"], pieces["tuned"]) == ("mpi_pipelined", "columns", True)
        sizes = [point["bytes"] for point in pieces["piece_curve"] if point["in_flight"] == 0]
        assert sizes[:3] == [1 << 18, 1 << 19, 1 << 20]
        tried = [(point["bytes"], point["in_flight"]) for point in pieces["piece_curve"]]
        assert (pieces["piece_bytes"], pieces["in_flight"]) in tried
        assert len(tried) > len(sizes)  # with limits, too
        assert pieces["tunings"] == 1
        for point in pieces["piece_curve"]:
            assert point["gb_per_s"] == pytest.approx(row["bytes_sent"] / 2 / point["milliseconds"] * 1e-6)
    assert row["warm_up"] > 20
    assert "mpi_pipelined: columns in " in outcome.out
    outcome = must(sluice("bench", "transpose", *blocks, "--warm-up", 2, "--json", file, ranks=2))
    assert read(file)[0]["warm_up"] == 2
    assert not read(file)[0]["pieces"][0]["tuned"]
    assert "tuning had not ended" in outcome.out


def test_a_series_keeps_every_time(tmp_path: Path) -> None:
    file = tmp_path / "series.json"
    blocks = ("--grid", "64,64,128", "--kind", "xz", "--exchange", "mpi_pipelined", "--time-limit", 0.01)
    outcome = must(sluice("bench", "transpose", *blocks, "--warm-up", 0, "--series", 90, "--json", file, ranks=2))
    (row,) = read(file)
    series = row["series"]
    assert len(series["milliseconds"]) == len(series["at_seconds"]) == row["repeats"] == 90
    assert row["milliseconds_spread"] == pytest.approx(
        [min(series["milliseconds"]), max(series["milliseconds"])], abs=1e-3
    )
    ends = [
        at + milliseconds / 1e3 for at, milliseconds in zip(series["at_seconds"], series["milliseconds"], strict=True)
    ]
    assert all(end <= begin + 2e-3 for end, begin in zip(ends, series["at_seconds"][1:], strict=False))
    first = series["tuning"][0]
    assert first["begin"] == 0
    assert 20 < first["end"] < 90
    assert first["chosen"][0].startswith("mpi_pipelined: columns in ")
    assert f"tuning from round trip 0 to {first['end']}" in outcome.out
    assert "excludes" in must(sluice("bench", "transpose", "--series", 2, "--repeats", 2), 2).err


def test_a_series_beside_another_job_is_summed_up() -> None:
    script = Path(__file__).parents[2] / "scripts" / "measure_congestion.py"
    spec = importlib.util.spec_from_file_location(script.stem, script)
    assert spec is not None and spec.loader is not None
    congestion = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(congestion)
    tuning = [{"begin": 0, "end": 2, "chosen": ["rows in whole blocks"]}, {"begin": 7, "end": 10}]
    series = {
        "begin": 1000.0,
        "at_seconds": [float(n) for n in range(10)],
        "milliseconds": [9, 9, 1, 3, 20, 40, 60, 9, 9, 9],
        "tuning": tuning,
    }
    assert congestion.summary({"series": series}, 1003.5, 1006.5) == [
        "before the load: round trips 0 to 3, median without tuning 2.000 ms",
        "during the load: round trips 4 to 6, median without tuning 40.000 ms",
        "after the load: round trips 7 to 9, median without tuning all while tuning",
        "tuning from round trip 0 to 2: rows in whole blocks",
        "tuning from round trip 7 to 10: not ended",
    ]
    with pytest.raises(SystemExit, match="no round trip after the load"):
        congestion.summary({"series": series}, 1003.5, 1020)


def test_a_run_reports_the_pieces_of_mpi_pipelined(tmp_path: Path) -> None:
    changes = {
        "grid.cells": [128, 96, 32],
        "time.steps": 4,
        "parallel": {"grid": [2, 1], "exchange": "mpi_pipelined"},
        "output": {"directory": str(tmp_path / "out")},
    }
    outcome = must(sluice("run", write_case(tmp_path, changes), ranks=2))
    assert "mpi_pipelined: rows in " in outcome.out
    assert "mpi_pipelined: rows in " in (tmp_path / "out" / "log.txt").read_text()
    assert {pieces["traffic"] for pieces in record(tmp_path / "out")["pieces"]} == {"rows"}


def test_links_are_timed_alone_and_by_every_method(tmp_path: Path) -> None:
    file = tmp_path / "links.json"
    must(sluice("bench", "links", "--bytes", 65536, "--repeats", 3, "--json", file, ranks=2))
    links = {link["name"]: link for link in read(file)}
    stages = {"device to host", "host to device", "network, host to host"}
    own_block = {"own block, loop", "own block, MPI on the host"}
    assert stages | own_block | {"mpi_p2p"} <= links.keys()
    assert [pieces["traffic"] for pieces in links["mpi_pipelined"]["pieces"]] == ["blocks"]
    for link in links.values():
        if "fault" not in link:
            assert link["gb_per_s"] == pytest.approx(65536 / link["milliseconds"] * 1e-6)
