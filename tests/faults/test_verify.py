"""`sluice verify` finds every damaged, missing and foreign file of an output directory, and changes nothing."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sluice_run import ENDLESS, checkpoints, finish, must, sluice, start, step_of, wait_until, write_case

STEPS = 8
CASE: dict[str, Any] = {
    "time.steps": STEPS,
    "time.cfl": None,
    "time.dt": 0.0625,
    "output.checkpoint": {"every": 0.25, "keep": 3},
    "output.timeseries": {"every": 1},
    "output.statistics": {"start": 0, "every": 1, "block": 0.125},
    "output.spectra": {"start": 0, "every": 1, "block": 0.25, "heights": [0.1, 1]},
    "output.densities": {"start": 0, "every": 1, "block": 0.25},
    "output.slices": [{"normal": "z", "at": 0.1, "every": 0.125, "fields": ["u"]}],
}
SLICE = "slices/parts/z0.1_0000002.h5"
PART = "probes/parts/line_0000002.h5"
OLDER, NEWEST = f"checkpoints/step_{STEPS - 4:07}.h5", f"checkpoints/step_{STEPS:07}.h5"
TIMEOUT = 20


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output directory of a finished run; read-only for tests."""
    folder = tmp_path_factory.mktemp("finished")
    must(sluice("run", write_case(folder, CASE)))
    return folder / "out"


@pytest.fixture(scope="module")
def other(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of another run, which has files of the same names."""
    folder = tmp_path_factory.mktemp("other")
    must(sluice("run", write_case(folder, {**CASE, "flow.reynolds": {"bulk": 5000}})))
    return folder / "out"


@pytest.fixture
def out(finished: Path, tmp_path: Path) -> Path:
    """A copy of the directory."""
    shutil.copytree(finished, tmp_path / "out")
    return tmp_path / "out"


def verify(out: Path, code: int, ranks: int = 0) -> dict[str, Any]:
    """The result as JSON."""
    outcome = must(sluice("verify", out, "--json", ranks=ranks, timeout=TIMEOUT), code)
    result = json.loads(outcome.out)
    assert isinstance(result, dict)
    assert result["intact"] == (code == 0)
    return result


def problems(result: dict[str, Any]) -> dict[str, str]:
    """The problems of each file that has some."""
    return {file["name"]: "\n".join(file["problems"]) for file in result["files"] if file["problems"]}


@pytest.mark.parametrize("ranks", [0, 2])
def test_an_intact_directory(out: Path, ranks: int) -> None:
    before = {file: file.read_bytes() for file in out.rglob("*") if file.is_file()}
    result = verify(out, 0, ranks)
    assert (result["step"], result["time"], result["running"]) == (STEPS, 0.5, False)
    assert result["checkpoint"] == str(out / NEWEST)
    assert [file["name"] for file in result["files"]] == [
        OLDER,
        NEWEST,
        "resolved.yaml",
        "run.json",
        "timeseries.csv",
        "statistics.h5",
        "spectra.h5",
        "densities.h5",
        "slices/z0.1.h5",
        "probes/line.h5",
    ]
    text = must(sluice("verify", out, ranks=ranks)).out
    assert f"{out}: intact; complete up to step {STEPS}, time 0.5" in text
    assert {file: file.read_bytes() for file in out.rglob("*") if file.is_file()} == before


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) * 3 // 4] ^= 4
    path.write_bytes(content)


def remove(path: Path) -> None:
    path.unlink()


def make_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def make_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


CHANGES = [cut, flip, remove, make_fifo, make_directory]
NAMES = {
    NEWEST: NEWEST,
    "resolved.yaml": "resolved.yaml",
    "run.json": "run.json",
    "timeseries.csv": "timeseries.csv",
    "statistics.h5": "statistics.h5",
    "spectra.h5": "spectra.h5",
    "densities.h5": "densities.h5",
    SLICE: "slices/z0.1.h5",
    "slices/z0.1.h5": "slices/z0.1.h5",
    PART: "probes/line.h5",
    "probes/line.h5": "probes/line.h5",
}
HARMLESS = [  # a checkpoint less, no end of a run yet, texts without a hash that can still be read
    (NEWEST, remove),
    ("run.json", remove),
    ("run.json", flip),
    ("resolved.yaml", flip),
    ("resolved.yaml", cut),
]


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name in NAMES for change in CHANGES if (name, change) not in HARMLESS]
)
def test_each_kind_of_damage_is_found(out: Path, name: str, change: Callable[[Path], None]) -> None:
    change(out / name)
    result = verify(out, 3)
    assert list(problems(result)) == [NAMES[name]]
    shown = name.replace("_0000002", "_*") if change is remove else name
    assert str(out / shown) in problems(result)[NAMES[name]]
    if name == NEWEST:
        assert result["step"] == step_of(out / OLDER)


@pytest.mark.parametrize("name", ["timeseries.csv", "statistics.h5", SLICE, PART, NEWEST])
def test_files_of_another_run_are_found(out: Path, other: Path, name: str) -> None:
    shutil.copy(other / name, out / name)
    found = problems(verify(out, 3))
    if name == NEWEST:
        assert set(found) == set(NAMES.values()) - {NEWEST, "resolved.yaml", "run.json"}
    else:
        assert list(found) == [NAMES[name]]
    assert all("belongs to another run" in text for text in found.values())


def test_a_checkpoint_with_the_name_of_another(finished: Path, out: Path) -> None:
    name = "checkpoints/step_0000017.h5"
    (out / NEWEST).rename(out / name)
    assert "its name does not fit its step" in problems(verify(out, 3))[name]
    options = ["--output", out, "--restart", "auto"]
    outcome = must(sluice("run", finished.parent / "case.yaml", *options))
    assert f"passing over a checkpoint: {out / name}: its name does not fit its step" in outcome.out
    assert checkpoints(out)[-1] == out / NEWEST
    assert not (out / name).exists()


def test_the_table_says_where_the_damage_is(out: Path) -> None:
    cut(out / NEWEST)
    outcome = must(sluice("verify", out), 3)
    assert f"{NEWEST}  DAMAGED" in outcome.out
    assert outcome.err.startswith(f"sluice: {out}: 1 problem(s); complete up to step {STEPS - 4}")


@pytest.mark.parametrize("name", ["statistics.h5", "timeseries.csv", PART])
def test_no_restart_is_promised_without_a_file_that_it_needs(finished: Path, out: Path, name: str) -> None:
    make_fifo(out / name)
    assert verify(out, 3)["step"] is None
    must(sluice("run", finished.parent / "case.yaml", "--output", out, "--restart", "auto"), 3)


def test_a_list_of_slices_that_ends_early(finished: Path, out: Path) -> None:
    """As a kill may leave it; the restart writes it again."""
    case, shorter = finished.parent / "case.yaml", out.parent / "shorter"
    must(sluice("run", case, "--output", shorter, "--steps", STEPS - 1))
    shutil.copy(shorter / "slices/z0.1.h5", out / "slices/z0.1.h5")
    slices = verify(out, 0)["files"][-2]
    count = STEPS // 2
    told = f"lists {count - 1} samples, of which {count} are in slices/parts; a restart corrects that"
    assert slices["notes"] == [told]
    assert slices["contents"] == f"{count} slices up to step {STEPS}"


def test_random_flips_in_any_file(out: Path) -> None:
    """Never a crash or a hang; in files with hashes, never overlooked."""
    places = random.Random(7)
    for name in [NEWEST, "statistics.h5", SLICE, "slices/z0.1.h5", PART, "probes/line.h5", "timeseries.csv"]:
        intact = (out / name).read_bytes()
        for _ in range(3):
            content = bytearray(intact)
            content[places.randrange(len(content))] ^= 1 << places.randrange(8)
            (out / name).write_bytes(content)
            verify(out, 3)
        (out / name).write_bytes(intact)


def test_a_run_that_is_going_on(tmp_path: Path) -> None:
    changes = {"time.steps": ENDLESS, "output.checkpoint": {"every": 1.25, "keep": 2}}
    process = start(["run", write_case(tmp_path, {**CASE, **changes})])
    out = tmp_path / "out"
    wait_until(lambda: len(checkpoints(out)) == 2, "checkpoints")
    result = verify(out, 0)
    assert result["running"]
    assert result["step"] >= 20
    process.send_signal(signal.SIGTERM)
    must(finish(process))
    assert not verify(out, 0)["running"]


def test_leftovers_of_a_killed_run_are_no_damage(out: Path) -> None:
    (out / "checkpoints" / "step_0000009.h5.tmp").write_text("rubbish")
    with (out / "timeseries.csv").open("a") as series:
        series.write("9,0.5")
    result = verify(out, 0)
    assert "checkpoints/step_0000009.h5.tmp" in [file["name"] for file in result["files"]]
    assert "ends within a row" in json.dumps(result)


def test_directories_without_a_run(tmp_path: Path) -> None:
    assert "there is no such directory" in must(sluice("verify", tmp_path / "nowhere"), 2).err
    assert "holds no results of a run" in must(sluice("verify", tmp_path), 2).err
    must(sluice("verify"), 2)
