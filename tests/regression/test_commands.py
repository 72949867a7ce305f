"""check, info, init, bench, --version and --help, as users see them."""

from __future__ import annotations

import json
import os
import pty
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import h5py
import pytest
from sluice_run import (
    ENDLESS,
    QUICK_START,
    checkpoints,
    command,
    finish,
    kill_all,
    must,
    record,
    require_parallel_hdf5,
    sluice,
    start,
    step_of,
    wait_until,
    write_case,
)

CASES = sorted(path.parent.name for path in (Path(__file__).parents[2] / "cases").glob("*/case.yaml"))


def flip_a_byte(file: Path, dataset: str, offset: int = 100) -> None:
    """Damages the data of a dataset."""
    with h5py.File(file) as h5:
        start = h5[dataset].id.get_offset()
    content = bytearray(file.read_bytes())
    content[start + offset] ^= 16
    file.write_bytes(content)


def test_version_names_the_build() -> None:
    text = must(sluice("--version")).out
    assert must(sluice("-V")).out == text
    assert re.match(r"Sluice \d+\.\d+\.\d+ \(\S+\)\n", text)
    for part in ("compiler", "MPI", "HDF5", "FFT", "device", "precision"):
        assert re.search(rf"^{part} +\S", text, re.MULTILINE), part
    assert re.search(r"^HDF5 +\d+\.\d+\.\d+ (parallel|serial)$", text, re.MULTILINE)


BENCHMARKS = ["step", "samples", "solve", "poisson", "tridiagonal", "transpose", "fft", "links", "checkpoint"]
COMMANDS = ["run", "check", "info", "verify", "init", "bench", *(f"bench {name}" for name in BENCHMARKS)]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_help_has_an_example(command: str) -> None:
    outcome = must(sluice(*command.split(), "--help"))
    assert must(sluice("help", *command.split())) == outcome
    assert re.search(r"^Example: .*sluice ", outcome.out, re.MULTILINE)
    assert outcome.err == ""


@pytest.mark.parametrize(
    ("name", "its_own", "not_its_own"),
    [
        ("step", ["--diffusion", "--order"], ["--kind", "--bytes", "--directory"]),
        ("fft", ["--layout", "pencil", "--all"], ["--diffusion", "xz"]),
        ("transpose", ["--pairs", "xz", "--z-blocks"], ["--layout", "slab_2d_1d"]),
        ("solve", ["--process-grid", "--order"], ["--tridiagonal", "--diffusion"]),
        ("links", ["--bytes", "--repeats"], ["--grid", "--order"]),
        ("checkpoint", ["--directory", "--process-grid", "--writer"], ["--exchange", "--kind"]),
    ],
)
def test_help_of_a_benchmark_has_its_own_options(name: str, its_own: list[str], not_its_own: list[str]) -> None:
    text = must(sluice("bench", name, "--help")).out
    assert [part for part in its_own if part not in text] == []
    assert [part for part in not_its_own if part in text] == []
    assert not_its_own[0] in must(sluice("bench", name, not_its_own[0], 1), 2).err


def test_help_of_init_and_bench_lists_names() -> None:
    assert all(name in must(sluice("init", "--help")).out for name in CASES)
    assert all(name in must(sluice("bench", "--help")).out for name in BENCHMARKS)
    assert all(name in must(sluice("bench"), 2).err for name in BENCHMARKS)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sluice ch", ["check"]),
        ("sluice run case.yaml --res", ["--restart"]),
        ("sluice bench t", ["tridiagonal", "transpose"]),
        ("sluice bench fft --lay", ["--layout"]),
        ("sluice bench fft --layout ", ["contiguous", "realigned"]),
        ("sluice bench step --diffusion imp", ["implicit", "implicit_z"]),
    ],
)
def test_completion(tmp_path: Path, line: str, expected: list[str]) -> None:
    script = tmp_path / "completion"
    script.write_text(must(sluice("completion")).out)
    words = line.split(" ")
    typed = f"COMP_WORDS=({' '.join(words)} ''); COMP_CWORD={len(words) - 1}"
    ask = f"source {script}; {typed}; _sluice; echo ${{COMPREPLY[@]}}"
    told = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True, timeout=30)
    assert told.stderr == ""
    assert sorted(told.stdout.split()) == sorted(expected)


def test_manual_page_has_every_option() -> None:
    page = must(sluice("man")).out
    assert page.startswith(".TH SLUICE 1")
    for one in COMMANDS:
        assert f".SS sluice {one}\n" in page
        for option in re.findall(r"--[a-z-]+", must(sluice(*one.split(), "--help")).out):
            assert option.replace("-", "\\-") in page, option


def test_version_is_told_once_through_mpirun() -> None:
    assert must(sluice("--version", ranks=3)).out.count("compiler") == 1


def test_the_template_is_a_valid_case(tmp_path: Path) -> None:
    text = must(sluice("init")).out
    (tmp_path / "case.yaml").write_text(text)
    outcome = must(sluice("check", tmp_path / "case.yaml"))
    assert "The case is valid." in outcome.out


def test_the_template_runs(tmp_path: Path) -> None:
    (tmp_path / "case.yaml").write_text(must(sluice("init")).out)
    must(
        sluice(
            "run",
            tmp_path / "case.yaml",
            "--steps",
            1,
            "--set",
            "grid.cells=[8, 8, 16]",
            "--set",
            "output.slices=[]",
            "--output",
            tmp_path / "out",
        )
    )
    assert [file.name for file in checkpoints(tmp_path / "out")] == ["step_0000001.h5"]


@pytest.mark.parametrize("name", CASES)
def test_every_case_is_printed_and_valid(tmp_path: Path, name: str) -> None:
    text = must(sluice("init", name)).out
    assert text == (Path(__file__).parents[2] / "cases" / name / "case.yaml").read_text()
    (tmp_path / "case.yaml").write_text(text)
    must(sluice("check", tmp_path / "case.yaml", "--np", 2))


def test_the_cases_of_the_grid_study(tmp_path: Path) -> None:
    script = Path(__file__).parents[2] / "cases" / "accuracy" / "write_cases.sh"
    subprocess.run([script, tmp_path], check=True, timeout=30)
    found = {}
    for case in tmp_path.iterdir():
        changed = re.search(r"cells: \[(.*)\](?s:.*)order: (.)(?s:.*)directory: (.*)", case.read_text())
        assert changed is not None
        assert changed[3] == case.stem
        found[case.stem] = (changed[2], changed[1])
    grids = ["384, 256, 144", "256, 192, 144", "192, 128, 144", "128, 96, 144"]
    assert found == {f"order{order}_{cells.replace(', ', 'x')}": (order, cells) for order in "24" for cells in grids}
    must(sluice("check", tmp_path / "order2_384x256x144.yaml"))


def test_init_of_an_unknown_case() -> None:
    outcome = must(sluice("init", "teapot"), 2)
    assert "teapot" in outcome.err
    assert all(name in outcome.err for name in CASES)


def test_check_prints_what_a_run_needs(tmp_path: Path) -> None:
    """The numbers of a channel at Re_tau 180 on a grid that is easy to count."""
    case = write_case(
        tmp_path,
        {
            "flow.reynolds": {"tau": 180},
            "grid.cells": [64, 32, 40],
            "grid.stretching": {"type": "uniform"},
            "solver": {"z_blocks": 4},
        },
    )
    text = must(sluice("check", case, "--np", 4)).out
    assert "64 x 32 x 40" in text
    expected = {"dx+": 180 * 6.283185 / 64, "dy+": 180 * 3.141593 / 32, "dz+": 180 * 2 / 40}
    found = {name: float(value) for name, value in re.findall(r"(d[xyz]\+) ([\d.]+)", text)}
    assert found.keys() == expected.keys()
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=0.02), name
    assert re.search(r"4 process\(es\) as \d x \d", text)
    assert "4 z blocks of up to 10 planes" in text
    assert "checkpoint      2.5 MiB each" in text


@pytest.mark.parametrize(
    ("diffusion", "method"), [("explicit", "ptdma"), ("implicit_z", "ptdma"), ("implicit_z", "transpose")]
)
@pytest.mark.parametrize(
    ("grid", "exchange"),
    [
        ([1, 1], "mpi_p2p"),
        ([1, 2], "mpi_p2p"),
        ([2, 1], "mpi_p2p"),
        ([2, 2], {"halos": "mpi_p2p", "rows": "mpi_streams", "columns": "mpi_alltoall"}),
    ],
)
def test_check_foretells_memory_checkpoint_and_time_step(
    tmp_path: Path, grid: list[int], exchange: object, diffusion: str, method: str
) -> None:
    ranks = grid[0] * grid[1]
    case = write_case(
        tmp_path,
        {
            "grid.cells": [64, 64, 96],
            "time.diffusion": diffusion,
            "time.steps": 2,
            "solver.tridiagonal": method,
            "parallel": {"grid": grid, "exchange": exchange},
            "output.statistics": "none",
            "output.slices": [],
            "output.probes": [{"name": "plane", "z": 0.1, "every": 1}],
        },
    )
    text = must(sluice("check", case, "--np", ranks)).out
    must(sluice("run", case, ranks=ranks))
    per_point = float(re.search(r"\(([\d.]+) bytes per point\)", text).group(1))  # type: ignore[union-attr]
    held = record(tmp_path / "out")["memory_bytes"] / (64 * 64 * 96)
    assert per_point == pytest.approx(held, rel=0.05)

    size = float(re.search(r"checkpoint +([\d.]+) MiB", text).group(1)) * 2**20  # type: ignore[union-attr]
    written = checkpoints(tmp_path / "out")[-1].stat().st_size
    assert size <= written <= 1.1 * size
    samples = re.search(r"plane: 4096 point\(s\), about 2 samples, ([\d.]+) MiB, and 4.0 MiB of memory", text)
    parts = sum(file.stat().st_size for file in (tmp_path / "out" / "probes" / "parts").glob("*.h5"))
    assert float(samples.group(1)) * 2**20 == pytest.approx(parts, abs=0.07 * 2**20)  # type: ignore[union-attr]

    expected = float(re.search(r"dt (\S+) expected", text).group(1))  # type: ignore[union-attr]
    with h5py.File(checkpoints(tmp_path / "out")[-1]) as file:
        assert expected == pytest.approx(file["state"].attrs["dt"], rel=0.4)


def test_check_warns_of_a_fixed_step_above_the_limit(tmp_path: Path) -> None:
    changes = {"time.cfl": None, "time.dt": 0.01}
    case = write_case(tmp_path, changes)
    assert "above dt_lim" not in must(sluice("check", case)).out
    assert "above dt_lim" in must(sluice("check", case, "--set", "time.dt=2")).out


@pytest.mark.parametrize(
    ("order", "cells", "advice"),
    [
        (2, [189, 141], ""),  # Re_tau is known to a few per cent only
        (2, [170, 142], "order: 2 (dx+ above 6): take at least 189 cells along x, or solver.order: 4,"),
        (2, [90, 60], "order: 2 (dx+ above 6, dy+ above 4): take at least 189 cells along x, 142 cells along y\n"),
        (4, [95, 95], ""),
        (4, [90, 95], "order: 4 (dx+ above 12): take at least 95 cells along x\n"),
    ],
)
def test_check_judges_the_resolution_by_order(tmp_path: Path, order: int, cells: list[int], advice: str) -> None:
    case = write_case(
        tmp_path, {"flow.reynolds": {"tau": 180}, "grid.cells": [*cells, 144], "solver": {"order": order}}
    )
    text = must(sluice("check", case)).out
    if advice:
        assert f"warning         the grid is coarse for solver.{advice}" in text
    else:
        assert "coarse" not in text


@pytest.mark.parametrize("ranks", [0, 2])
def test_info(tmp_path: Path, ranks: int) -> None:
    case = write_case(tmp_path)
    must(sluice("run", case))
    out = tmp_path / "out"
    newest = checkpoints(out)[-1]
    text = must(sluice("info", newest, ranks=ranks)).out
    assert "step: 24" in text
    assert "/u: (32, 12, 16)" in text
    assert text.count("intact") == 1
    assert "samples" in must(sluice("info", out / "statistics.h5", ranks=ranks)).out
    for file in (out / "slices").rglob("*.h5"):
        assert "intact" in must(sluice("info", file)).out

    flip_a_byte(newest, "w")
    outcome = must(sluice("info", newest, ranks=ranks), 3)
    assert "/w" in outcome.text
    assert outcome.err.count("sluice: ") == 1
    assert "\nintact" not in outcome.out

    other = checkpoints(out)[0]
    other.write_bytes(other.read_bytes()[:20000])
    must(sluice("info", other, ranks=ranks), 3)
    must(sluice("info", case, ranks=ranks), 3)
    assert "nowhere.h5" in must(sluice("info", tmp_path / "nowhere.h5", ranks=ranks), 3).err


@pytest.mark.parametrize(("progress", "shown"), [(None, True), ("0", False)])
def test_progress_on_a_terminal(tmp_path: Path, progress: str | None, shown: bool) -> None:
    case = write_case(tmp_path)
    environment = {**os.environ, **QUICK_START, **({"SLUICE_PROGRESS": progress} if progress else {})}
    ours, theirs = pty.openpty()
    with subprocess.Popen(command(["run", case]), stdout=theirs, env=environment) as process:
        os.close(theirs)
        text = b""
        while True:
            try:
                part = os.read(ours, 4096)
            except OSError:  # the other end is closed
                break
            if not part:
                break
            text += part
        assert process.wait() == 0
    os.close(ours)
    assert (re.search(rb"\r\x1b\[K +\d+\.\d %  step \d+  time \S+  Re_tau .* left", text) is not None) == shown
    assert b"\x1b" not in (tmp_path / "out/log.txt").read_bytes()


def test_info_of_a_directory(tmp_path: Path) -> None:
    """Whether the run goes on, how far it is, what it has, and how to go on."""
    out = tmp_path / "out"
    changes = {
        "time.steps": None,
        "time.end": ENDLESS,
        "output.spectra": {"start": 2 * ENDLESS, "block": 1},
        "output.checkpoint": {"every": 1e-6, "keep": 3},
        "output.timeseries.every": 1,
    }
    process = start(["run", write_case(tmp_path, changes)])
    try:
        wait_until(lambda: len(checkpoints(out)) == 3, "three checkpoints")
        text = must(sluice("info", out)).out
        assert f"in use by process {process.pid}" in text
        assert "STOP" in text
        assert "spectra         no complete block yet; the first would close after the end" in text
        wait_until(lambda: re.search(r"the next closes", must(sluice("info", out)).out), "a block")
        shown = re.search(
            r"statistics +\d+ blocks? from time \S+ to (\S+), the last closed at step \d+, "
            r"the next closes at time (\S+)\n",
            must(sluice("info", out)).out,
        )
        assert shown is not None
        last, following = map(float, shown.groups())
        assert last < following
        assert (following - 0.3) / 0.7 == pytest.approx(round((following - 0.3) / 0.7), abs=1e-3)
    finally:
        kill_all(process)
        process.wait()
    text = must(sluice("info", out)).out
    assert "not running; killed before its first end" in text
    kept = checkpoints(out)  # a fourth if the run was killed before it removed the oldest
    newest = kept[-1]
    assert f"{len(kept)}, the newest intact one {newest}" in text
    assert f"sluice run CASE.yaml --output {out} --restart auto\n" in text
    flip_a_byte(newest, "w")
    text = must(sluice("info", out)).out
    assert f"the newest intact one {checkpoints(out)[-2]}" in text
    assert "passing over a checkpoint" in text
    must(sluice(*("run", write_case(tmp_path, changes), "--restart", "auto", "--steps", step_of(newest) + 2)))
    text = must(sluice("info", out)).out
    assert "its last recorded end: end time or step reached" in text
    assert f"{step_of(newest) + 2}, time" in text
    assert "it has reached its end" in text
    assert "holds no results" in must(sluice("info", tmp_path), 2).err


def test_info_of_a_damaged_statistics_file(tmp_path: Path) -> None:
    must(sluice("run", write_case(tmp_path)))
    statistics = tmp_path / "out" / "statistics.h5"
    with h5py.File(statistics) as file:
        values = file["uu"][...]
    content = bytearray(statistics.read_bytes())
    place = content.find(values[0].tobytes())
    assert place > 0
    content[place + 3] ^= 1
    statistics.write_bytes(content)
    assert f"{statistics}: the file is damaged" in must(sluice("info", statistics), 3).text


KEYS: dict[str, type | tuple[type, ...]] = {
    "ns_per_point_per_step": float,
    "point_steps_per_second": float,
    "bytes_per_point": float,
    "bytes_per_point_slope": float,
    "triad_gb_per_s": float,
    "ranks": int,
    "threads": int,
    "phases": list,
}


@pytest.mark.parametrize(("what", "ranks"), [("step", 0), ("step", 2), ("poisson", 0), ("tridiagonal", 2)])
def test_bench_writes_json(tmp_path: Path, what: str, ranks: int) -> None:
    file = tmp_path / "bench.json"
    must(sluice("bench", what, "--grid", "16,16,64", "--repeats", 3, "--json", file, ranks=ranks))
    result: dict[str, Any] = json.loads(file.read_text())
    for key, kind in KEYS.items():
        assert isinstance(result[key], kind), key
    assert result["what"] == what
    assert result["cells"] == [16, 16, 64]
    assert result["ranks"] == max(1, ranks)
    assert result["ns_per_point_per_step"] > 0
    assert result["point_steps_per_second"] == pytest.approx(1e9 / result["ns_per_point_per_step"])
    assert result["phases"]
    total = 0.0
    for phase in result["phases"]:
        assert phase.keys() >= {"name", "milliseconds", "milliseconds_spread", "words", "fraction_of_bandwidth"}
        least, most = phase["milliseconds_spread"]
        assert least <= phase["milliseconds"] <= most
        total += least
    # Phases do not overlap, so in every run with timed phases their sum is at most the whole time.
    whole_least, whole_most = result["milliseconds_with_phases_spread"]
    assert whole_least <= result["milliseconds_with_phases"] <= whole_most
    assert total <= whole_least


@pytest.mark.parametrize("processes", ["2,2", "1,4", "4,1"])
def test_bench_compares_methods_for_the_solves_of_a_substep(tmp_path: Path, processes: str) -> None:
    file = tmp_path / "bench.json"
    how = ("--process-grid", processes, "--exchange", "mpi_p2p", "--z-blocks", 4, "--repeats", 6)
    text = must(sluice("bench", "solve", "--grid", "16,16,64", *how, "--json", file, ranks=4)).out
    results: dict[str, dict[str, Any]] = {}
    for line in file.read_text().splitlines():
        row = json.loads(line)
        results[row["tridiagonal"]] = row
    names = ["ptdma", "ptdma, diffusion x-y-z", "transpose", "transpose from z pencils"]
    assert list(results) == names
    assert all(name in text for name in names)
    y, z = map(int, processes.split(","))
    for row in results.values():
        assert row["process_grid"] == [y, z]
        low, high = row["milliseconds_interval_95"]
        assert low <= row["milliseconds"] <= high
        phases = {phase["name"]: phase["milliseconds_spread"][0] for phase in row["phases"]}
        assert 0 < sum(phases.values()) <= row["milliseconds_with_phases_spread"][0]
        assert (phases["diffusion transpose"] > 0) == (row["diffusion_megabytes"] > 0)
    # Between ranks: whole fields to y pencils and back, or to whole lines; two numbers per line and rank.
    megabytes = {"double": 8e-6, "single": 4e-6}[results["ptdma"]["precision"]]
    field = 3 * 2 * 16 * 16 * 64 * megabytes
    boundary = 3 * 2 * 2 * z * 16 * 16 * megabytes
    diffusion = [results[name]["diffusion_megabytes"] for name in names]
    kept_y, kept_z = 1 - 1 / y, 1 - 1 / z
    if z == 4:  # one block for each rank
        assert diffusion[0] == pytest.approx(boundary * kept_z)
    assert diffusion[1] == pytest.approx(diffusion[0] + field * kept_y)
    assert diffusion[2:] == pytest.approx([field * kept_z, 0])
    poisson = [results[name]["poisson_megabytes"] for name in names]
    assert poisson[0] == poisson[1]
    assert poisson[3] == pytest.approx(poisson[2] + field / 3 * kept_z)


def test_bench_of_steps_with_scalars(tmp_path: Path) -> None:
    words: list[float] = []
    for scalars in 0, 2:
        file = tmp_path / f"{scalars}.json"
        must(sluice("bench", "step", "--grid", "16,16,64", "--repeats", 3, "--scalars", scalars, "--json", file))
        result: dict[str, Any] = json.loads(file.read_text())
        assert result["scalars"] == scalars
        words.append(sum(phase["words"] for phase in result["phases"]))
    assert words[1] - words[0] in (2 * 10, 2 * 22)  # on a CPU, on a GPU


@pytest.mark.parametrize(("processes", "writer"), [("1,2", "direct"), ("2,1", "direct"), ("2,1", "hdf5")])
def test_bench_compares_checkpoints_with_a_plain_write(tmp_path: Path, processes: str, writer: str) -> None:
    if writer == "hdf5":
        require_parallel_hdf5()
    file = tmp_path / "bench.json"
    where = ("--directory", tmp_path, "--grid", "24,20,32", "--process-grid", processes)
    how = ("--writer", writer, "--alignment", 4096, "--repeats", 3)
    told = must(sluice("bench", "checkpoint", *where, *how, "--json", file, ranks=2)).out
    rows = {row["name"]: row for row in map(json.loads, file.read_text().splitlines())}
    assert rows.keys() == {"plain write", "checkpoint", "without verification", "verification"}
    for name, row in rows.items():
        assert name in told
        assert row["bytes"] == 4 * 8 * 24 * 20 * 32
        assert (row["writer"], row["alignment"], row["hints"]) == (writer, 4096, [])
        assert row["gb_per_s"] == pytest.approx(row["bytes"] * 1e-6 / row["milliseconds"])
    assert rows["plain write"]["fraction_of_plain"] == pytest.approx(1)
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_bench_that_is_stopped_removes_its_checkpoints(tmp_path: Path, number: signal.Signals) -> None:
    where = ("--directory", tmp_path, "--grid", "24,20,32", "--repeats", ENDLESS)
    process = start(["bench", "checkpoint", *where])
    wait_until(lambda: list(tmp_path.glob("*/*.h5")), "a checkpoint")
    process.send_signal(number)
    assert "stopped by a signal" in must(finish(process), 4).err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--writer", "hdf5", "--hint", "cb_nodes"], "the hint 'cb_nodes' is not of the form NAME=VALUE"),
        (["--hint", "cb_nodes=2"], "need the writer hdf5"),
        (["--writer", "hdf5", "--hint", "a=1", "--hint", "a=2"], "'a' is given twice; allowed: different names"),
        (["--writer", "hdf5", "--hint", f"{'a' * 36}=1"], "the name of a hint: a text of 36 characters"),
        (["--writer", "hdf5", "--hint", f"a={'1' * 256}"], "the value of a hint: a text of 256 characters"),
    ],
)
def test_bench_refuses_wrong_hints(tmp_path: Path, options: list[str], message: str) -> None:
    outcome = must(sluice("bench", "checkpoint", "--directory", tmp_path, *options), 2)
    assert message in outcome.err
    assert not list(tmp_path.iterdir())


def test_bench_that_cannot_write_says_so(tmp_path: Path) -> None:
    file = tmp_path / "nowhere" / "bench.json"
    outcome = must(sluice("bench", "poisson", "--grid", "8,8,32", "--repeats", 1, "--json", file), 4)
    assert str(file) in outcome.err
