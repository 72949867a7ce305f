"""bench transpose, fft and links: all ways to redistribute an array, in one table."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from sluice_run import must, sluice

GRID = ("--grid", "24,20,32", "--repeats", 3, "--warm-up", 1)
MPI_METHODS = {"mpi_p2p", "mpi_alltoall", "mpi_streams", "mpi_pipelined", "mpi_datatype", "mpi_alltoallw"}


def test_all_measures_every_way_the_fastest_first(tmp_path: Path) -> None:
    file = tmp_path / "transpose.json"
    outcome = must(sluice("bench", "transpose", *GRID, "--all", "--json", file, ranks=4))
    result = json.loads(file.read_text())
    assert (result["what"], result["cells"], result["ranks"]) == ("transpose", [24, 20, 32], 4)
    ways = {(entry["kind"], tuple(entry["process_grid"])) for entry in result["results"]}
    assert ways == {
        ("xy", (2, 2)),
        ("xy", (4, 1)),
        *((kind, grid) for kind in ("yz", "xz") for grid in ((1, 4), (2, 2))),
    }
    for way in ways:
        of_way = [e for e in result["results"] if (e["kind"], tuple(e["process_grid"])) == way]
        assert {entry["exchange"] for entry in of_way} >= MPI_METHODS
    worked = [entry for entry in result["results"] if "fault" not in entry]
    times = [entry["milliseconds"] for entry in worked]
    assert times == sorted(times)
    for entry in worked:
        least, most = entry["milliseconds_spread"]
        assert 0 < least <= entry["milliseconds"] <= most
        assert entry["repeats"] == 3
        assert f"{entry['exchange']} " in outcome.out


def test_bandwidth_is_what_leaves_a_rank_over_the_time(tmp_path: Path) -> None:
    file = tmp_path / "transpose.json"
    must(
        sluice("bench", "transpose", *GRID, "--kind", "xz", "--exchange", "mpi_p2p", "--json", file, ranks=2)
    )
    (entry,) = json.loads(file.read_text())["results"]
    value = 8 if json.loads(file.read_text())["precision"] == "double" else 4
    # In each direction, each rank keeps half of its half of the grid and sends the rest.
    sent = 2 * value * 24 * 20 * 32 / 4
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
    assert 1 <= json.loads(file.read_text())["results"][0]["repeats"] < 100000


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
    result = json.loads(file.read_text())
    ways = {(e["kind"], e["layout"], tuple(e["process_grid"])) for e in result["results"]}
    grids = {"slab_2d_1d": (1, 4), "slab_1d_2d": (1, 4), "pencil": (2, 2)}
    assert ways == {
        (kind, layout, grid) for kind, grid in grids.items() for layout in ("contiguous", "realigned")
    }
    for entry in result["results"]:
        assert {phase["name"] for phase in entry["phases"]} == {"fft", "packing", "communication"}
        assert entry["milliseconds_there"] > 0
        assert entry["milliseconds_back"] > 0
        points = 24 * 20 * 32
        operations = 10 * points * math.log2(points)
        assert entry["tflops"] == pytest.approx(operations / entry["milliseconds"] * 1e-9)


def test_links_are_timed_alone_and_by_every_method(tmp_path: Path) -> None:
    file = tmp_path / "links.json"
    must(sluice("bench", "links", "--bytes", 65536, "--repeats", 3, "--json", file, ranks=2))
    links = {link["name"]: link for link in json.loads(file.read_text())["links"]}
    stages = {"device to host", "host to device", "network, host to host"}
    own_block = {"own block, loop", "own block, MPI on the host"}
    assert stages | own_block | {"mpi_p2p"} <= links.keys()
    for link in links.values():
        if "fault" not in link:
            assert link["gb_per_s"] == pytest.approx(65536 / link["milliseconds"] * 1e-6)
