"""Runs the program as users do, and reads its output: shared by the regression and the fault tests.

The environment names the program (SLUICE_BINARY), the launcher (SLUICE_MPIRUN, default mpirun) and its flags
(SLUICE_MPIRUN_FLAGS). Under ctest all three are set, and SLUICE_QUICK_START and SLUICE_QUICK_LAUNCH.
"""

from __future__ import annotations

import copy
import functools
import json
import os
import re
import shlex
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

BINARY = os.environ.get("SLUICE_BINARY", "sluice")
MPIRUN = os.environ.get("SLUICE_MPIRUN", "mpirun")
FLAGS = shlex.split(os.environ.get("SLUICE_MPIRUN_FLAGS", "--oversubscribe --bind-to none --allow-run-as-root"))


def settings_of(variable: str) -> dict[str, str]:
    """The settings that an environment variable lists."""
    return dict(setting.split("=", 1) for setting in os.environ.get(variable, "").split())


# Settings with which a process without mpirun starts faster, and mpirun (tests/CMakeLists.txt).
QUICK_START = settings_of("SLUICE_QUICK_START")
QUICK_LAUNCH = settings_of("SLUICE_QUICK_LAUNCH")

# Of the build, that of the program itself first.
PRECISIONS = os.environ.get("SLUICE_PRECISIONS", "double single").split()

# More ranks than cores: a waiting rank must yield its core to the others.
YIELDING = {"OMPI_MCA_mpi_yield_when_idle": "1"}

# A step count that no run reaches: a run that a test stops must not end earlier, however fast the machine.
ENDLESS = 1000000

# A coarse turbulent channel of a few thousand points: one step takes a millisecond.
BASE_CASE: dict[str, Any] = {
    "title": "Test of the whole program",
    "flow": {"type": "channel", "reynolds": {"bulk": 5600}},
    "domain": {"size": ["2*pi", "pi", 2]},
    "grid": {"cells": [16, 12, 32], "stretching": {"type": "tanh", "factor": 1.6}},
    "time": {"steps": 24, "cfl": 0.9, "diffusion": "explicit"},
    "initial": {"type": "turbulent", "seed": 3},
    "output": {
        "directory": "out",
        "log": {"every": 10},
        "timeseries": {"every": 5},
        "checkpoint": {"every": 0.5, "keep": 3},
        "statistics": {"start": 0.3, "every": 3, "block": 0.7},
        "slices": [
            {"normal": "z", "at": 0.1, "every": 0.4, "fields": ["u", "w"]},
            {"normal": "y", "at": 1.0, "every": 0.6, "fields": ["u", "v", "w", "p"]},
        ],
        "probes": [{"name": "line", "y": [0.5, 3], "z": [0.1, 1], "every": 2, "fields": ["u", "v", "w"]}],
    },
}


@dataclass(frozen=True)
class Outcome:
    """How a run of the program ended, and its output."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        """Standard output and standard error together."""
        return self.out + self.err


def case_with(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The base case with keys such as "time.steps" changed; None removes a key."""
    case = copy.deepcopy(BASE_CASE)
    for path, value in (changes or {}).items():
        *sections, name = path.split(".")
        node = case
        for section in sections:
            node = node.setdefault(section, {})
        if value is None:
            node.pop(name, None)
        else:
            node[name] = copy.deepcopy(value)
    return case


def write_case(folder: Path, changes: Mapping[str, Any] | None = None, name: str = "case.yaml") -> Path:
    """Writes the case as JSON, which is also YAML."""
    file = folder / name
    file.write_text(json.dumps(case_with(changes), indent=1))
    return file


def command(args: Iterable[object], ranks: int = 0) -> list[str]:
    """The command line; ranks 0 starts the program without a launcher."""
    launcher = [MPIRUN, *FLAGS, "-n", str(ranks)] if ranks > 0 else []
    return [*launcher, BINARY, *map(str, args)]


def environment(ranks: int) -> dict[str, str]:
    """That of mpirun and of its ranks; with 0 ranks that of a process without mpirun."""
    if ranks == 0:
        return {**os.environ, **QUICK_START}
    own = {name: value for name, value in os.environ.items() if name not in QUICK_START}
    return {**own, **QUICK_LAUNCH, **YIELDING}


def start_as_users_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the rest of a test: starts without the settings that make them quick."""
    for name in ("QUICK_START", "QUICK_LAUNCH"):
        monkeypatch.setitem(globals(), name, {})


def start(
    args: Iterable[object],
    ranks: int = 0,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    preexec: Callable[[], None] | None = None,
    stdin: int | None = None,
) -> subprocess.Popen[str]:
    """Starts the program and returns at once."""
    return subprocess.Popen(
        command(args, ranks),
        cwd=cwd,
        env={**environment(ranks), **(env or {})},
        text=True,
        errors="surrogateescape",
        stdin=stdin,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=preexec,
    )


def finish(process: subprocess.Popen[str], timeout: float = 60) -> Outcome:
    """Waits for the end and returns the outcome."""
    try:
        out, err = process.communicate(timeout=timeout)
    except subprocess.TimeoutExpired:
        kill_all(process)
        out, err = process.communicate()
        raise AssertionError(f"still running after {timeout} s:\n{out}{err}") from None
    return Outcome(process.returncode, out, err)


def sluice(
    *args: object,
    ranks: int = 0,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    timeout: float = 60,
    preexec: Callable[[], None] | None = None,
) -> Outcome:
    """Runs the program to its end."""
    return finish(start(args, ranks, cwd, env, preexec), timeout)


def must(outcome: Outcome, code: int = 0) -> Outcome:
    """Returns the outcome after checking its exit code."""
    assert outcome.code == code, f"exit code {outcome.code} instead of {code}:\n{outcome.text}"
    return outcome


def require_parallel_hdf5() -> None:
    """Skips a test of output.writer hdf5, which a program with a serial HDF5 refuses."""
    if re.search(r"^HDF5 .* serial$", must(sluice("--version")).out, re.MULTILINE):
        pytest.skip("this program has a serial HDF5")


def descendants(pid: int) -> list[int]:
    """The processes below a process, such as the ranks below mpirun."""
    found: list[int] = []
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return found
    for child in map(int, children):
        found += [child, *descendants(child)]
    return found


def kill_all(process: subprocess.Popen[str]) -> None:
    """Simulates a power cut: kill -9 for the program, the launcher and all ranks."""
    for pid in [*descendants(process.pid), process.pid]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def wait_until(condition: Callable[[], object], what: str, timeout: float = 30, interval: float = 0.005) -> None:
    """Polls until the condition holds."""
    end = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(interval)


def checkpoints(directory: Path) -> list[Path]:
    """The finished checkpoints of a run, oldest first."""
    return sorted((directory / "checkpoints").glob("step_*.h5"))


def step_of(checkpoint: Path) -> int:
    """The step in a checkpoint's name."""
    return int(checkpoint.stem.split("_")[1])


def record(directory: Path) -> dict[str, Any]:
    """run.json."""
    content = json.loads((directory / "run.json").read_text())
    assert isinstance(content, dict)
    return content


def rows(directory: Path) -> np.ndarray:
    """Reads timeseries.csv as a structured array."""
    return np.atleast_1d(np.genfromtxt(directory / "timeseries.csv", delimiter=",", names=True))


REFERENCES = {"REFERENCE_LIST", "DIMENSION_LIST"}  # they contain addresses within the file


def content(file: Path, ignore: Sequence[str] = ()) -> dict[str, bytes]:
    """Every dataset and attribute of an HDF5 file as bytes. `ignore`: names or paths of either."""
    found: dict[str, bytes] = {}

    def skip(path: str) -> bool:
        return path in ignore or path.rsplit("/", 1)[-1] in ignore

    def visit(path: str, item: h5py.Group | h5py.Dataset) -> None:
        attributes = item.attrs
        for name in attributes:
            if name not in REFERENCES and not skip(f"{path}/{name}"):
                array = np.asarray(attributes[name])
                text = array.dtype.kind in "OU"
                found[f"{path}/{name}"] = repr(array.tolist()).encode() if text else array.tobytes()
        if isinstance(item, h5py.Dataset) and not skip(path):
            values = item[...]
            found[path] = repr((values.dtype, values.shape)).encode() + np.ascontiguousarray(values).tobytes()

    with h5py.File(file, "r") as h5:
        visit("", h5)
        h5.visititems(lambda name, item: visit("/" + name, item))
    return found


# The resolved case names the directory and the end; processes do not belong to the flow; hashes cover both.
ABOUT_THE_RUN = ("/resolved_case", "/values_hash", "/state/process_grid", "/state/exchange", "/state/values_hash")


@functools.lru_cache(maxsize=64)
def _content_of_version(file: Path, version: tuple[int, ...], ignore: tuple[str, ...]) -> dict[str, bytes]:
    return content(file, ignore)


def known_content(file: Path, ignore: Sequence[str]) -> Mapping[str, bytes]:
    """Its content, read once as long as the file stays as it is: many tests compare many runs with the same one."""
    status = file.stat()
    if time.time_ns() - max(status.st_mtime_ns, status.st_ctime_ns) < 10**9:
        return content(file, ignore)  # the next change might have the same time
    version = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return _content_of_version(file, version, tuple(ignore))


def assert_same_content(one: Path, other: Path, ignore: Sequence[str] = ABOUT_THE_RUN) -> None:
    """Asserts that both HDF5 files hold bitwise the same content."""
    first, second = known_content(one, ignore), known_content(other, ignore)
    assert first.keys() == second.keys()
    different = [path for path in first if first[path] != second[path]]
    assert not different, f"{one} and {other} differ in {different}"


def assert_same_results(one: Path, other: Path, ignore: Sequence[str] = ABOUT_THE_RUN) -> None:
    """Asserts that two runs ended with bitwise the same results: fields, statistics, spectra, densities, time
    series, slices and probes.
    """
    ends = checkpoints(one)[-1], checkpoints(other)[-1]
    assert ends[0].name == ends[1].name
    assert_same_content(*ends, ignore)
    assert (one / "timeseries.csv").read_text() == (other / "timeseries.csv").read_text()
    for name in ("statistics.h5", "spectra.h5", "densities.h5"):
        assert (one / name).exists() == (other / name).exists()
        if (one / name).exists():
            assert_same_content(one / name, other / name, ignore)
    for folder in ("slices", "probes"):
        found = [sorted(file.relative_to(out) for file in (out / folder).rglob("*.*")) for out in (one, other)]
        assert found[0] == found[1]
        for path in found[0]:
            if path.suffix == ".h5":
                assert_same_content(one / path, other / path, ignore)
            else:
                assert (one / path).read_text() == (other / path).read_text()


def assert_goes_on(
    case: Path, out: Path, end: int, elsewhere: Path, restart: object = "auto", ranks: int = 0
) -> Outcome:
    """The stopped run in `out`, restarted, ends at step `end` like an uninterrupted one in `elsewhere`.

    Returns how the restart ended.
    """
    restarted = must(sluice("run", case, "--output", out, "--steps", end, "--restart", restart, ranks=ranks))
    if not elsewhere.exists():
        must(sluice("run", case, "--output", elsewhere, "--steps", end))
    assert_same_results(elsewhere, out)
    return restarted
