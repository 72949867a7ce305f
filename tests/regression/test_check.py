"""`sluice check` tells the truth: about shipped cases as documentation quotes it, and about cases that go wrong."""

from __future__ import annotations

import copy
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import h5py
import pytest
from sluice_run import command, environment, must, sluice, write_case

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "cases").glob("*/README.md"))]
COMMAND = "    $ sluice check "


def quotations(page: Path) -> list[tuple[str, list[str]]]:
    """The commands in the code blocks of a page, and the lines quoted below each."""
    found: list[tuple[str, list[str]]] = []
    inside = False
    for line in page.read_text().splitlines():
        if line.startswith(COMMAND):
            found.append((line.removeprefix(COMMAND), []))
            inside = True
        elif inside and line.startswith("    "):
            found[-1][1].append(line[4:])
        else:
            inside = False
    return found


QUOTATIONS = [
    pytest.param(arguments, lines, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, (arguments, lines) in enumerate(quotations(page))
]


def test_documentation_quotes_check() -> None:
    quoting = {page.parent.name for page in PAGES if quotations(page)}
    assert quoting >= {"docs"} | {path.parent.name for path in (ROOT / "cases").glob("*/case.yaml")}


@pytest.mark.parametrize(("arguments", "lines"), QUOTATIONS)
def test_documentation_quotes_what_check_prints(arguments: str, lines: list[str]) -> None:
    """Line by line, in order; a line that ends in "..." is its beginning."""
    version = must(sluice("--version")).out
    if "CPU" not in version or "double" not in version:
        pytest.skip("the documentation quotes a CPU build in double precision")
    told = iter(must(sluice("check", *shlex.split(arguments), cwd=ROOT)).out.splitlines())
    for line in lines:
        begin = line.removesuffix(" ...")
        assert any(found == line or (begin != line and found.startswith(begin)) for found in told), (
            f"not in the output of `sluice check {arguments}`, or not at its place:\n{line}"
        )
    assert lines


def warnings_of(case: Path, *options: object) -> list[str]:
    text = must(sluice("check", case, *options)).out
    found = [line.removeprefix("warning").strip() for line in text.splitlines() if line.startswith("warning")]
    assert text.endswith(f"The case is valid. Warnings: {len(found)}.\n" if found else "The case is valid.\n")
    return found


EQUAL = {"bottom": {"value": 1}, "top": {"value": 1}}
DIFFERENT = {"bottom": {"value": 0}, "top": {"value": 1}}
GOOD = {
    "grid.cells": [96, 96, 128],
    "time": {"end": 100, "cfl": 0.9, "diffusion": "implicit_z"},
    "output.statistics": {"start": 20, "every": 5, "block": 10},
    "output.slices": [],
    "output.probes": [],
}


@pytest.mark.parametrize(
    ("changes", "warning"),
    [
        ({}, ""),
        ({"output.statistics.start": 100}, "output.statistics.start 100 is not before the end of the run at time 100"),
        ({"output.statistics.start": 300}, "no statistics are taken; take an earlier start or a later end"),
        ({"output.statistics.every": 100000}, "takes no sample between its start, 20, and the end of the run"),
        ({"output.statistics.block": 90}, "closes no block, and writes nothing: .* take a block of 10, or a later end"),
        ({"output.statistics.block": 9}, "the last 8 time units of output.statistics are not a whole block"),
        ({"output.statistics.block": 20}, "need at least 8 blocks: take an output.statistics.block of 10"),
        ({"output.spectra": {"start": 100}}, "output.spectra.start 100 is not before the end"),
        ({"output.densities": {"start": 20, "block": 200}}, "output.densities closes no block"),
        ({"output.probes": [{"name": "late", "z": 1, "every": 5, "start": 101}]}, "the probe late takes no sample"),
        ({"grid.cells": [2, 96, 128]}, r"far too coarse .*dx\+ above 12\): take at least 9\d cells along x"),
        (
            {"grid.cells": [96, 96, 32]},
            r"coarse .*dz\+ above 1 at the wall, dz\+ above 5.8 at the centre\): .* along z",
        ),
        ({"grid.stretching": {"type": "tanh", "factor": 10}}, "far finer than turbulence needs"),
        ({"flow.reynolds": {"bulk": 1000}}, "the turbulence of initial.type: turbulent will die out"),
        ({"walltime": "1s"}, "the walltime of 1 s will probably end the run before"),
        ({"scalars": [{"name": "T"}]}, "the scalar T stays the same everywhere"),
        ({"scalars": [{"name": "T", "walls": EQUAL}]}, "the scalar T stays the same everywhere"),
        ({"scalars": [{"name": "T", "walls": EQUAL, "initial": "z"}]}, ""),
        ({"scalars": [{"name": "T", "walls": EQUAL, "source": {"uniform": 1}}]}, ""),
        ({"scalars": [{"name": "T", "walls": DIFFERENT}]}, ""),
        (
            {"scalars": [{"name": "T", "walls": {"bottom": {"flux": 3}}, "source": {"uniform": -1}}]},
            "the mean of the scalar T changes by 0.5 per time unit",
        ),
        ({"scalars": [{"name": "T", "walls": {"bottom": {"flux": 2}}, "source": {"uniform": -1}}]}, ""),
        ({"scalars": [{"name": "T", "walls": {"bottom": {"flux": 2}}, "source": {"bulk_value": 0}}]}, ""),
        (
            {"scalars": [{"name": "T", "prandtl": 7, "walls": DIFFERENT}]},
            "coarse for the scalar T: with prandtl 7 its smallest eddies are 2.6 times smaller",
        ),
        (
            {"scalars": [{"name": "T", "walls": {"top": {"value": "sin(3.3*y)"}}}]},
            "the scalar T at the top is not periodic: it jumps by",
        ),
        ({"scalars": [{"name": "T", "walls": {"top": {"value": "sin(2*y)"}}}]}, ""),
        ({"scalars": [{"name": "T", "walls": {"top": {"flux": "sin(t)"}}}]}, ""),
        (
            {"walls.bottom": {"velocity": [0, "0.1*sin(3.3*x)", 0]}},
            r"walls.bottom.velocity\[1\] is not periodic: it jumps by",
        ),
        ({"walls.bottom": {"velocity": [0, "0.1*sin(2*x)*cos(2*y)*sin(t)", 0]}}, ""),
    ],
)
def test_warnings(tmp_path: Path, changes: dict[str, Any], warning: str) -> None:
    found = warnings_of(write_case(tmp_path, copy.deepcopy({**GOOD, **changes})))
    assert bool(found) == bool(warning), found
    assert any(re.search(warning, line) for line in found) or not warning, found


@pytest.mark.parametrize(("wall", "turbulent"), [(323, False), (325, True), (379, True), (381, True)])
def test_couette_flow_is_turbulent_from_324(tmp_path: Path, wall: int, turbulent: bool) -> None:
    """And up to 380 in bands."""
    case = write_case(tmp_path, {"flow": {"type": "couette", "reynolds": {"wall": wall}}})
    text = must(sluice("check", case)).out
    assert ("laminar" in text) != turbulent
    assert (f"Re_w            {wall}.0: laminar below 324" in text) != turbulent
    assert ("turbulence is intermittent at Re_w =" in text) == (turbulent and wall < 380)


def test_small_spacings_have_digits(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"grid.stretching": {"type": "tanh", "factor": 10}})
    found = re.search(r"dz (\S+) \(min\)", must(sluice("check", case)).out)
    assert found
    assert 0 < float(found[1]) < 1e-6


def test_wall_time_follows_from_the_speed(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"grid.cells": [100, 100, 100], "time.steps": 3600})
    text = must(sluice("check", case, "--np", 2, "--speed", 100)).out
    assert "wall time       about 6 min at 100 ns per point and step on 2 cores: 0.2 core-hours\n" in text
    must(sluice("check", case, "--speed", 0), 2)


def test_gpus_that_split_z_are_forecast_with_even_parts(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"grid.cells": [16, 12, 144]})
    machine = Path(__file__).parents[2] / "machines" / "h200.yaml"
    arguments = ("check", case, "--np", 2, "--set", "parallel.grid=[1,2]")
    out = must(sluice(*arguments, "--machine", machine)).out
    assert "10 z blocks of up to 15 planes; rank 0 owns 16 x 12 x 72 cells" in out


def test_step_is_forecast_from_two_benchmarks(tmp_path: Path) -> None:
    """On the grid and the number of devices that were measured, the forecast is the measurement."""
    grid = ["--order", "2", "--grid", "32,32,32", "--repeats", "3"]
    must(sluice("bench", "step", *grid, "--diffusion", "explicit", "--json", tmp_path / "step.json"))
    measured = json.loads((tmp_path / "step.json").read_text())
    machine = tmp_path / "machine.yaml"
    links = "{host: {gb_per_s: 5, microseconds: 10, microseconds_per_further_message: 1}}"
    machine.write_text(f"title: cores\nmemory_gb: 8\ndevices_per_host: 2\nlinks: {links}\nsteps: [step.json]\n")
    changes = {"grid.cells": [32, 32, 32], "solver.order": 2, "time.diffusion": "explicit"}
    case = write_case(tmp_path, {**changes, "time.steps": 3600000})
    one = must(sluice("check", case, "--machine", machine)).out
    speed = measured["ns_per_point_per_step"]
    assert "machine         cores; 1 device, 2 per host\n" in one
    assert f": {speed:.3g} ns per point and step, " in one
    assert "efficiency 100.0 %\n" in one
    assert re.search(rf"^wall time .* at {speed:.3g} ns per point and step on 1 device: ", one, re.MULTILINE)
    assert "forecast of a step" not in one
    turning = write_case(tmp_path, {**changes, "flow.rotation": {"number": 0.1, "axis": [0, 1, 0]}}, "turning.yaml")
    assert (
        "the forecast time per step is too low, because it leaves out rotation\n"
        in must(sluice("check", turning, "--machine", machine)).out
    )
    two = must(sluice("check", case, "--machine", machine, "--np", 2)).out
    efficiency = re.search(r"efficiency (\S+) %", two)
    assert efficiency
    assert 0 < float(efficiency[1]) < 100
    assert re.search(r"^phases .*halo exchange", two, re.MULTILINE)
    assert "of 7.45 GiB\n" in two
    must(sluice("check", case, "--machine", machine, "--np", 4), 2)  # no links.network
    must(sluice("check", case, "--machine", machine, "--speed", 1), 2)
    must(sluice("check", case, "--machine", tmp_path / "none.yaml"), 2)
    machine.write_text(machine.read_text().replace("memory_gb: 8", "memory_gb: 1e-3"))
    assert "does not fit" in must(sluice("check", case, "--machine", machine)).out


# The peak of a program begins with the memory of the process that starts it: so a small one does, not pytest.
PRINT_PEAK = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
"""


def peak_memory(*args: object) -> int:
    """The largest memory of a process, in bytes."""
    small = [sys.executable, "-S", "-c", PRINT_PEAK, *command(args)]
    return int(subprocess.run(small, env=environment(0), check=True, capture_output=True, text=True).stdout) * 1024


HEIGHTS = [0.06, 0.19, 0.31, 0.44, 0.56, 0.69, 0.81, 0.94, 1.06, 1.19]
UNITS = {"KiB": 1024, "MiB": 1024**2, "GiB": 1024**3}


@pytest.mark.parametrize("budgets", ["on", "off"])
def test_blocks_and_disk_space_are_those_of_the_run(tmp_path: Path, budgets: str) -> None:
    sampled = {"start": 0.3, "every": 3, "block": 0.5}
    case = write_case(
        tmp_path,
        {
            "grid.cells": [64, 64, 64],
            "time": {"end": 2.3, "dt": 0.02, "diffusion": "implicit_z"},
            "output.statistics": {**sampled, "budgets": budgets},
            "output.spectra": sampled,
            "output.densities": {**sampled, "heights": [0.5]},
        },
    )
    text = must(sluice("check", case)).out
    must(sluice("run", case))
    out = tmp_path / "out"
    for name in ("statistics", "spectra", "densities"):
        told = re.search(rf"^{name} +about (\d+) samples, (\d+) blocks of 0.5", text, re.MULTILINE)
        assert told
        with h5py.File(out / f"{name}.h5") as file:
            assert int(told[1]) == pytest.approx(file["samples"][:].sum(), abs=1)
            assert int(told[2]) == len(file["samples"]) == 4
    disk = re.search(r"^disk +([\d.]+) (\w+) at the end", text, re.MULTILINE)
    assert disk
    written = sum(file.stat().st_size for file in out.rglob("*") if file.suffix in {".h5", ".csv"})
    assert float(disk[1]) * UNITS[disk[2]] == pytest.approx(written, rel=0.1)


def test_disk_space_counts_the_columns_of_the_case(tmp_path: Path) -> None:
    case = write_case(
        tmp_path,
        {
            "flow.spanwise_forcing": {"bulk_velocity": 0},
            "scalars": [{"name": name, "walls": DIFFERENT} for name in ("a", "b", "c")],
            "walls": {side: {"velocity": [0, "0.1*sin(t)", 0]} for side in ("bottom", "top")},
            "time": {"steps": 200, "dt": 0.01, "diffusion": "implicit_z"},
            "output.timeseries.every": 1,
        },
    )
    told = re.search(r"time series ([\d.]+) KiB$", must(sluice("check", case)).out, re.MULTILINE)
    must(sluice("run", case))
    assert told
    written = (tmp_path / "out" / "timeseries.csv").stat().st_size
    assert float(told[1]) * 1024 == pytest.approx(written, rel=0.1)


def test_what_drives_the_flow(tmp_path: Path) -> None:
    """In units that show mistakes: wall units, Ri_tau, the pressure side, heights in depths of an Ekman layer."""
    oscillation = {"type": "oscillation", "amplitude": 12, "period": 100, "units": "wall", "re_tau": 200}
    channel = {
        "flow": {"reynolds": {"tau": 200}, "rotation": {"number": 5}, "buoyancy": {"scalar": "T", "richardson": 18}},
        "scalars": [{"name": "T", "prandtl": 0.5, "walls": DIFFERENT}],
        "walls.bottom": {"actuation": oscillation},
    }
    text = must(sluice("check", write_case(tmp_path, channel))).out
    assert (
        "bottom wall     oscillation of amplitude 12, period 100 in wall units of the u_tau that re_tau: 200 sets"
        in text
    )
    assert "2 Omega h/u_tau 5; the top wall is the pressure side\n" in text
    assert "scalar          T: Pr 0.5, value 0 at the bottom, value 1 at the top, no source\n" in text
    assert "richardson 18, grashof 5.76e+06, rayleigh 2.88e+06 per unit of T; stable between its walls: " in text
    assert "Ri_tau 18\n" in text
    layer = {
        "flow": {
            "type": "open_channel",
            "reynolds": {"viscosity": 0.0025},
            "rotation": {"number": 0.005, "axis": "wall_normal", "geostrophic": [1, 0]},
        },
        "domain.size": [26, 26, 20],
    }
    text = must(sluice("check", write_case(tmp_path, layer))).out
    assert "Ekman layer     depth D 1 h, Re_D 400 (G D/nu), domain 20 D high\n" in text


def test_a_magnetic_field_is_in_what_check_predicts(tmp_path: Path) -> None:
    """Its numbers, its layer against the grid, its part of the time step; the friction is that beside the drag."""
    channel = {
        "flow": {"reynolds": {"bulk": 5714}, "magnetic_field": {"hartmann": 10}},
        "grid": {"cells": [64, 64, 64], "stretching": {"type": "uniform"}},
    }
    text = must(sluice("check", write_case(tmp_path, channel))).out
    viscosity = 2 / 5714
    number = f"{100 * viscosity:.4g}"
    assert (
        f"magnetic field  Ha 10, interaction parameter N {number} (Ha^2/Re, Re = U h/nu), "
        "Hartmann layer h/Ha 0.1 h, 3.2 times the first dz\n"
    ) in text
    assert f", magnetic field alone {2.51 / (100 * viscosity):.3e}\n" in text
    assert "from the law of the wall, without the effect of magnetic field; " in text
    given_force = channel | {"flow": {"reynolds": {"tau": 180}, "magnetic_field": {"hartmann": 3}}}
    text = must(sluice("check", write_case(tmp_path, given_force))).out
    told = re.search(r"without the effect of magnetic field; u_tau ([\d.]+)\)", text)
    assert told
    assert 0.4 < float(told[1]) < 0.9  # the drag balances a part of the force


def test_an_ekman_layer_has_its_own_friction_velocity_and_averaging_time(tmp_path: Path) -> None:
    """u_tau is within 2 % of published simulations at Re_D = 400; the time is in periods of the mean flow."""
    layer = {
        "flow": {
            "type": "open_channel",
            "reynolds": {"viscosity": 0.0025},
            "rotation": {"number": 0.005, "axis": "wall_normal", "geostrophic": [0, 1]},
        },
        "domain.size": [26, 26, 24],
        "time": {"end": 4000, "diffusion": "implicit_z"},
        "output.statistics": {"start": 1500, "block": 250},
    }
    text = must(sluice("check", write_case(tmp_path, layer))).out
    told = re.search(r"Re_tau +([\d.]+) expected if turbulent \(from the geostrophic drag law; u_tau ([\d.]+)\)", text)
    assert told
    assert float(told[2]) == pytest.approx(0.0652, rel=0.02)
    assert float(told[1]) == pytest.approx(400 * float(told[2]), rel=2e-3)
    assert re.search(r"statistics .* each: 1\.99 periods 2 pi/f\n", text)
    assert "h/u_tau" not in text
    refused = sluice("check", write_case(tmp_path, layer | {"time.until": {"u_center": "1%"}}))
    assert refused.code == 2
    assert "has no U_c+" in refused.err


def test_memory_of_blocks_is_that_of_the_run(tmp_path: Path) -> None:
    """That of a run and of its restart, beyond what the same run takes with few blocks."""
    case = write_case(
        tmp_path,
        {
            "domain.size": ["4*pi", "2*pi", 2],
            "grid": {"cells": [128, 128, 16], "stretching": {"type": "uniform"}},
            "time": {"steps": 40, "dt": 1e-3},
            "output.spectra": {"start": 0, "every": 1, "block": 2e-3, "heights": HEIGHTS},
            "output.statistics": "none",
            "output.checkpoint": "none",
        },
    )
    few_blocks = ("--set", "output.spectra.block=1", "--output", tmp_path / "few")

    def told(*options: object) -> float:
        found = re.search(
            r"^blocks +up to ([\d.]+) (\w+) of host memory on rank 0",
            must(sluice("check", case, *options)).out,
            re.MULTILINE,
        )
        assert found
        return float(found[1]) * UNITS[found[2]]

    expected = told() - told(*few_blocks[:2])
    without = peak_memory("run", case, *few_blocks)
    for options in (("--steps", 39), ("--restart", "auto")):
        assert 0.6 * expected < peak_memory("run", case, *options) - without < 1.05 * expected
