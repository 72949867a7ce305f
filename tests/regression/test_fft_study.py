"""bench fft --study: the combinations of a file, measured once each, also if the job is cut off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from sluice_run import Outcome, kill_all, must, sluice, start, wait_until

STUDY: dict[str, Any] = {
    "grids": [[8, 9, 10], [16, 12, 8]],
    "kinds": ["slab_2d_1d", "slab_1d_2d"],
    "layouts": "contiguous",
    "values": ["real", "complex"],
    "exchanges": ["mpi_p2p", "mpi_alltoall"],
    "repeats": 1,
    "warm_up": 0,
}


def write(folder: Path, **changes: Any) -> Path:
    file = folder / "study.yaml"
    file.write_text(json.dumps({key: value for key, value in (STUDY | changes).items() if value is not None}))
    return file


def run(study: Path, *args: object, ranks: int = 2) -> Outcome:
    return sluice("bench", "fft", "--study", study, *args, ranks=ranks)


def read(file: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in file.read_text().splitlines()]


def combinations(rows: list[dict[str, Any]]) -> list[tuple[object, ...]]:
    names = ("ranks", "kind", "layout", "exchange", "values", "fields")
    return [(tuple(row["cells"]), tuple(row["process_grid"]), *(row[name] for name in names)) for row in rows]


def test_every_combination_is_measured_once(tmp_path: Path) -> None:
    file = tmp_path / "fft.jsonl"
    outcome = must(run(write(tmp_path), "--json", file))
    rows = read(file)
    assert set(combinations(rows)) == {
        ((nx, ny, nz), (1, 2), 2, kind, "contiguous", exchange, values, 1)
        for nx, ny, nz in STUDY["grids"]
        for kind in STUDY["kinds"]
        for values in STUDY["values"]
        for exchange in STUDY["exchanges"]
    }
    assert len(rows) == 16
    assert "16 of 16: " in outcome.out
    for row in rows:
        assert (row["what"], row["repeats"], row["warm_up"]) == ("fft", 1, 0)
        assert row["coefficient_error"] > 0


def test_a_study_goes_on_where_its_job_was_cut_off(tmp_path: Path) -> None:
    file = tmp_path / "fft.jsonl"
    study = write(tmp_path)
    must(run(study, "--json", file))
    wanted = set(combinations(read(file)))
    lines = file.read_text().splitlines(keepends=True)
    kept = "".join(lines[:4] + lines[6:7])
    file.write_text(kept + lines[7][:100])
    outcome = must(run(study, "--json", file))
    assert "the last line was not complete" in outcome.out
    assert "11 measured now" in outcome.out
    assert file.read_text().startswith(kept)
    assert len(read(file)) == 16
    assert set(combinations(read(file))) == wanted
    complete = file.read_text()
    assert "0 measured now" in must(run(study, "--json", file)).out
    assert file.read_text() == complete


def test_combinations_that_end_a_job_come_last_and_are_given_up(tmp_path: Path) -> None:
    file, begun = tmp_path / "fft.jsonl", tmp_path / "fft.jsonl.begun"
    study = write(tmp_path, grids=[8, 9, 10], values="real")
    must(run(study, "--json", file))
    rows = read(file)
    assert len(rows) == 4
    assert not begun.exists()
    of_result = {"device", "version", "git_revision"}  # between those that identify a combination
    names = [name for name in list(rows[0])[: list(rows[0]).index("exchange") + 1] if name not in of_result]
    identities = [json.dumps({name: row[name] for name in names}, separators=(",", ":")) for row in rows]
    # The last job ended in the first combination, three earlier ones in the third.
    file.unlink()
    begun.write_text("".join(f"{identities[n]}\n" for n in (2, 2, 2, 0)) + identities[1])
    outcome = must(run(study, "--json", file))
    again = read(file)
    assert combinations(again) == [combinations(rows)[n] for n in (1, 3, 0, 2)]
    assert [row.get("fault") for row in again] == [None, None, None, "3 jobs ended while it was measured"]
    assert "1 could not be measured" in outcome.out
    assert not begun.exists()
    assert "0 measured now" in must(run(study, "--json", file)).out


def test_what_a_killed_job_measured_is_noted(tmp_path: Path) -> None:
    file, begun = tmp_path / "fft.jsonl", tmp_path / "fft.jsonl.begun"
    endless = write(tmp_path, grids=[[8, 9, 10], [16, 12, 8]], values="real", repeats=10**9, time_limit=1000)
    process = start(("bench", "fft", "--study", endless, "--json", file), 2)
    try:
        wait_until(lambda: begun.exists() and begun.read_text().endswith("\n"), "the first combination")
    finally:
        kill_all(process)
        process.communicate()
    assert len(begun.read_text().splitlines()) == 1
    first = json.loads(begun.read_text())
    assert (first["cells"], first["exchange"]) == ([8, 9, 10], "mpi_p2p")
    must(run(write(tmp_path, values="real"), "--json", file))
    rows = read(file)
    assert len(rows) == 8
    assert {name: rows[-1][name] for name in first} == first
    assert not begun.exists()


def test_other_numbers_of_ranks_share_the_file(tmp_path: Path) -> None:
    file = tmp_path / "fft.jsonl"
    pencils = {"kinds": ["slab_2d_1d", "pencil", "fftw"], "process_grids": [[2, 2], [1, 2]], "grids": [16, 12, 8]}
    study = write(tmp_path, values=None, exchanges=["rows=mpi_p2p,columns=mpi_alltoall"], **pencils)
    for ranks in (1, 2, 4):
        must(run(study, "--json", file, ranks=ranks))
    pair = "rows=mpi_p2p,columns=mpi_alltoall"
    assert [(row["ranks"], row["kind"], row["process_grid"], row["exchange"]) for row in read(file)] == [
        (1, "slab_2d_1d", [1, 1], "none"),
        (1, "fftw", [1, 1], "none"),
        (2, "slab_2d_1d", [1, 2], "mpi_alltoall"),
        (2, "pencil", [1, 2], "mpi_alltoall"),
        (4, "slab_2d_1d", [1, 4], "mpi_alltoall"),
        (4, "pencil", [2, 2], pair),
    ]


def test_every_method_of_the_build_is_measured_where_none_is_named(tmp_path: Path) -> None:
    file = tmp_path / "fft.jsonl"
    one = {"grids": [16, 12, 8], "kinds": "pencil", "values": "real", "exchanges": None}
    must(run(write(tmp_path, **one), "--json", file, ranks=4))
    methods = {row["exchange"] for row in read(file)}
    assert {"mpi_p2p", "mpi_datatype"} <= methods
    must(run(write(tmp_path, **one, pairs=True), "--json", file, ranks=4))
    names = [row["exchange"] for row in read(file)]
    assert len(names) == len(set(names)) == len(methods) ** 2


@pytest.mark.parametrize(
    ("changes", "part"),
    [
        ({"grids": None}, "grids"),
        ({"grids": [[8, 8]]}, "a list of 3 integers"),
        ({"grids": [[8, 8, 0]]}, "must be an integer >= 1"),
        ({"kindz": "pencil"}, "did you mean kinds?"),
        ({"kinds": ["slab"]}, "must be one of slab_2d_1d"),
        ({"layouts": []}, "is an empty list"),
        ({"exchanges": ["mpi_p2q"]}, "no method 'mpi_p2q'"),
        ({"exchanges": ["rows=mpi_p2p,columns=fast"]}, "no method 'fast'"),
        ({"fields": [0]}, "must be an integer >= 1"),
        ({"cuda_aware_mpi": "perhaps"}, "must be true or false"),
        ({"time_limit": -1}, "must be a number > 0"),
        ({"warm_up": 1.5}, "must be an integer"),
        ({"kinds": "pencil"}, "nothing to measure on 1 rank(s)"),
    ],
)
def test_bad_studies_are_refused(tmp_path: Path, changes: dict[str, Any], part: str) -> None:
    file = tmp_path / "fft.jsonl"
    outcome = must(run(write(tmp_path, **changes), "--json", file, ranks=0), 2)
    assert part in outcome.err
    assert outcome.err.count("sluice: ") == 1
    assert not file.exists()


def test_a_study_that_is_no_map_or_is_missing_is_refused(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    assert "study.yaml" in must(run(study, "--json", tmp_path / "a", ranks=0), 2).err
    study.write_text("- 1\n")
    assert "not a map" in must(run(study, "--json", tmp_path / "a"), 2).err  # once, by both ranks


def test_a_study_needs_a_file_of_results_of_its_own(tmp_path: Path) -> None:
    study = write(tmp_path)
    assert "--json" in must(run(study, ranks=0), 2).err
    assert "--grid" in must(run(study, "--json", tmp_path / "a", "--grid", "8,8,8", ranks=0), 2).err
    other = tmp_path / "other.jsonl"
    for ranks, content in ((2, "no json\n"), (0, '{"what": "links"}\n'), (0, "[1]\n")):
        other.write_text(content)
        assert "other.jsonl, line 1" in must(run(study, "--json", other, ranks=ranks), 4).err
        assert other.read_text() == content
    assert "nowhere" in must(run(study, "--json", tmp_path / "nowhere" / "a", ranks=0), 4).err
