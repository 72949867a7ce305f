"""A checkpoint knows what the files beside it held: a restart refuses missing, foreign and damaged ones."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import (
    ABOUT_THE_RUN,
    assert_same_content,
    assert_same_results,
    checkpoints,
    must,
    record,
    rows,
    sluice,
    step_of,
    write_case,
)
from stored_hashes import field_hash, set_hashes

STEPS = 12  # of the whole case
REACHED = 8  # by the run whose files are then changed
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
    "parallel": {"grid": "auto", "exchange": "mpi_p2p"},
}
SLICE = "slices/parts/z0.1_0000002.h5"
PART = "probes/parts/line_0000002.h5"


@pytest.fixture(scope="module")
def others(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Results of other runs that have files of the same names for the same steps."""
    found = {}
    cases: dict[str, dict[str, Any]] = {
        "viscosity": {"flow.reynolds": {"bulk": 5000}},
        "seed": {"initial.seed": 4},
        "grid": {"grid.cells": [12, 12, 32]},
    }
    for name, changes in cases.items():
        folder = tmp_path_factory.mktemp(name)
        must(sluice("run", write_case(folder, {**CASE, **changes}), "--steps", REACHED))
        found[name] = folder / "out"
    return found


def state_of(folder: Path) -> dict[str, bytes]:
    """The results in a directory."""
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in sorted(folder.rglob("*"))
        if file.is_file() and file.name not in ("log.txt", "lock", "run.json")
    }


def refused(run: Path, *options: object, ranks: int = 0) -> str:
    """A restart ends with one message and exit code 3, and changes nothing."""
    before = state_of(run / "out")
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", *options, ranks=ranks), 3)
    assert outcome.err.count("sluice: ") == 1
    assert state_of(run / "out") == before
    return outcome.err


@pytest.mark.parametrize("ranks", [0, 2])
@pytest.mark.parametrize("name", ["timeseries.csv", "statistics.h5", "spectra.h5", "densities.h5", SLICE, PART])
def test_a_missing_file_is_refused_unless_the_user_accepts_it(
    reference: Path, run: Path, name: str, ranks: int
) -> None:
    out = run / "out"
    kept = run / "kept"
    (out / name).rename(kept)
    newest = checkpoints(out)[-1]
    told = refused(run, ranks=ranks)
    missing = out / name.replace("_0000002", "_*")
    assert f"{missing}: the file is missing, but reached step " in told
    assert f"when the checkpoint {newest} was written" in told
    assert "--allow-change" in told

    if ranks == 0:
        kept.rename(out / name)
        must(sluice("run", run / "case.yaml", "--restart", "auto"))
        assert_same_results(reference, out)
        return
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", "--allow-change", ranks=ranks))
    assert f"changed on restart: {missing}: the file is missing" in outcome.out
    assert any(str(missing) in change for change in record(out)["changes"])
    if name == "timeseries.csv":
        assert rows(out)["step"].tolist() == list(range(REACHED + 1, STEPS + 1))
    must(sluice("run", run / "case.yaml", "--restart", "auto"))  # the new files are what its checkpoints expect


def test_all_files_are_begun_anew_in_another_directory(run: Path, tmp_path: Path) -> None:
    newest = checkpoints(run / "out")[-1]
    must(sluice("run", run / "case.yaml", "--restart", newest, "--output", tmp_path / "new"))
    assert rows(tmp_path / "new")["step"].tolist() == list(range(REACHED + 1, STEPS + 1))
    assert record(tmp_path / "new")["changes"] == []


@pytest.mark.parametrize("name", ["timeseries.csv", "statistics.h5", "spectra.h5", "densities.h5", "slices", "probes"])
def test_a_directory_with_any_result_is_not_empty(stopped: Path, tmp_path: Path, name: str) -> None:
    """Neither a new run nor one from a checkpoint elsewhere takes over a file that is there."""
    new = tmp_path / "new"
    new.mkdir()
    source = stopped / "out" / name
    (shutil.copytree if source.is_dir() else shutil.copy)(source, new / name)
    must(sluice("run", stopped / "case.yaml", "--output", new), 2)
    newest = checkpoints(stopped / "out")[-1]
    must(sluice("run", stopped / "case.yaml", "--output", new, "--restart", newest), 2)


@pytest.mark.parametrize(
    ("other", "name", "difference"),
    [
        ("viscosity", "timeseries.csv", "belongs to another run"),
        ("viscosity", "statistics.h5", "flow.reynolds: "),
        ("viscosity", SLICE, "flow.reynolds: "),
        ("viscosity", PART, "flow.reynolds: "),
        ("seed", "timeseries.csv", "belongs to another run"),
        ("seed", "statistics.h5", "belongs to another run"),
        ("seed", SLICE, "belongs to another run"),
        ("seed", PART, "belongs to another run"),
        ("grid", "statistics.h5", "another grid: nx is 12, not 16"),
    ],
)
def test_a_file_of_another_run_is_refused(
    run: Path, others: dict[str, Path], other: str, name: str, difference: str
) -> None:
    shutil.copy(others[other] / name, run / "out" / name)
    for options in ([], ["--allow-change"]):
        told = refused(run, *options)
        assert f"{run / 'out' / name}: " in told
        assert difference in told


def test_statistics_of_a_run_that_had_none_yet(run: Path, others: dict[str, Path]) -> None:
    """Blocks that the run of the checkpoint had not written."""
    case = write_case(run, {**CASE, "output.statistics": {"start": 0, "every": 1, "block": 10}}, "late.yaml")
    must(sluice("run", case, "--overwrite", "--steps", REACHED))
    shutil.copy(others["viscosity"] / "statistics.h5", run / "out" / "statistics.h5")
    told = must(sluice("run", case, "--restart", "auto"), 3).err
    assert "had written blocks up to step 0 only" in told
    assert "flow.reynolds: " in told


def damage_digit(line: str) -> str:
    return line.replace("0.0", "0.1", 1)


def drop_column(line: str) -> str:
    return line[line.index(",") :]


@pytest.mark.parametrize("row", [3, REACHED])
@pytest.mark.parametrize("damage", [damage_digit, drop_column])
def test_a_damaged_row_of_the_time_series_is_refused(run: Path, row: int, damage: Callable[[str], str]) -> None:
    file = run / "out" / "timeseries.csv"
    lines = file.read_text().splitlines(keepends=True)
    lines[row] = damage(lines[row])
    file.write_text("".join(lines))
    told = refused(run)
    assert f"{file}: the row in line {row + 1} is damaged" in told
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", "--allow-change"))
    assert f"changed on restart: {file}: the row in line {row + 1} is damaged" in outcome.out
    assert rows(run / "out")["step"].tolist() == [n for n in range(1, STEPS + 1) if n != row]


def make_single(file: Path) -> None:
    """The checkpoint as a single-precision build would have written it."""
    with h5py.File(file, "a") as h5:
        contents = str(h5.attrs["contents"])
        for name in "uvwp":
            values, attributes = h5[name][:].astype("f4"), dict(h5[name].attrs)
            before = f"{name} {int(attributes['hash']):016x}"
            del h5[name]
            made = h5.create_dataset(name, data=values, chunks=True)
            for key in ("long_name", "units"):
                made.attrs[key] = attributes[key]
            made.attrs["hash"] = np.uint64(field_hash(values))
            contents = contents.replace(before, f"{name} {field_hash(values):016x}")
        h5.attrs["contents"] = contents
    set_hashes(file)


def test_another_precision_is_a_change(run: Path) -> None:
    out = run / "out"
    make_single(checkpoints(out)[-1])
    must(sluice("info", checkpoints(out)[-1]))
    assert "precision: single -> double" in refused(run)
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", "--allow-change"))
    assert "changed on restart: precision: single -> double" in outcome.out
    assert record(out)["changes"] == ["precision: single -> double"]


@pytest.mark.parametrize("name", [SLICE, PART])
def test_samples_on_another_grid_are_refused(run: Path, others: dict[str, Path], name: str) -> None:
    part = run / "out" / name
    shutil.copy(others["grid"] / name, part)
    joined = part.parents[1] / f"{part.stem.rpartition('_')[0]}.h5"
    for options in ([], ["--allow-change"]):
        assert f"{joined}: the run has written other points or fields to it" in refused(run, *options)


def test_slices_of_other_fields_are_refused(run: Path) -> None:
    """They are not mixed in one file; if that is moved away, they begin a new one."""
    write_case(run, {**CASE, "output.slices": [{**CASE["output.slices"][0], "fields": ["u", "w"]}]})
    joined = run / "out/slices/z0.1.h5"
    for options in ([], ["--allow-change"]):
        assert f"{joined}: the run has written other points or fields to it" in refused(run, *options)
    (run / "out" / "slices").rename(run / "kept")
    must(sluice("run", run / "case.yaml", "--restart", "auto", "--allow-change"))
    with h5py.File(run / "out/slices/z0.1.h5") as file:
        assert file["step"][:].tolist() == list(range(REACHED + 2, STEPS + 1, 2))
        assert "w" in file


def test_slices_of_an_earlier_version(reference: Path, run: Path) -> None:
    """Neither mixed with the file that this version writes, nor lost."""
    out = run / "out"
    for checkpoint in checkpoints(out):
        with h5py.File(checkpoint, "a") as file:
            del file["slice_series"]
            del file.attrs["contents"]
        set_hashes(checkpoint)
    shutil.rmtree(out / "slices")
    old = out / "slices" / f"z0.1_{REACHED:07}.h5"
    old.parent.mkdir()
    shutil.copy(checkpoints(out)[-1], old)
    with h5py.File(old, "a") as file:
        file.attrs["format"] = "Sluice slice"
    set_hashes(old)
    assert "slice of an earlier version" in must(sluice("verify", out)).out
    told = refused(run)
    assert f"{out}/slices/z0.1_*.h5: an earlier version of Sluice wrote one file for each time" in told

    (out / "slices").rename(run / "kept")
    must(sluice("run", run / "case.yaml", "--restart", "auto"))
    assert_same_content(checkpoints(reference)[-1], checkpoints(out)[-1])
    with h5py.File(out / "slices/z0.1.h5") as file:
        assert file["step"][:].tolist() == list(range(REACHED + 2, STEPS + 1, 2))


@pytest.mark.parametrize("name", [SLICE, PART])
def test_a_damaged_part(reference: Path, run: Path, name: str) -> None:
    """The last part is refused unless the user accepts that it is left out; it is kept, and can be put back."""
    part = run / "out" / name
    joined = part.parents[1] / f"{part.stem.rpartition('_')[0]}.h5"
    content = part.read_bytes()
    part.write_bytes(content[: len(content) // 2])
    half = part.read_bytes()
    told = refused(run)
    assert f"samples are left out of {joined.name}: {part}: " in told
    assert f"; it reached step {REACHED} when the checkpoint {checkpoints(run / 'out')[-1]} was written" in told
    assert "missing" not in told
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto", "--allow-change", "--steps", REACHED + 2))
    assert f"warning: samples are left out of {joined.name}: {part}: " in outcome.out
    assert part.with_name(f"{part.name}.left_out").read_bytes() == half
    assert not part.exists()
    with h5py.File(joined) as file:
        assert file["step"][:].tolist() == [REACHED + 2]
    part.write_bytes(content)
    must(sluice("run", run / "case.yaml", "--restart", "auto"))
    same = reference / joined.relative_to(run / "out")
    assert_same_content(same, joined, [*ABOUT_THE_RUN, "REFERENCE_LIST"])


@pytest.mark.parametrize("name", [SLICE, PART])
def test_a_damaged_part_does_not_come_back(run: Path, name: str) -> None:
    """Once left out, it is found by no later restart: it reaches beyond the checkpoint from which the run goes on."""
    out, part = run / "out", run / "out" / name
    joined = part.parents[1] / f"{part.stem.rpartition('_')[0]}.h5"
    back = checkpoints(out)[0]
    assert step_of(back) < REACHED - 2
    with h5py.File(part) as file:
        offset = file["u"].id.get_offset()
    content = bytearray(part.read_bytes())
    content[offset] ^= 1
    part.write_bytes(content)
    go_back = ["run", run / "case.yaml", "--restart", back]
    assert f"{part}: the file is damaged: /u does not have the hash" in must(sluice(*go_back), 3).err
    must(sluice(*go_back, "--allow-change", "--steps", REACHED + 2))
    outcome = must(sluice("run", run / "case.yaml", "--restart", "auto"))
    assert "warning" not in outcome.out
    with h5py.File(joined) as file:
        assert file["step"][:].tolist() == list(range(step_of(back) + 2, STEPS + 1, 2))
        assert (np.diff(file["time"][:]) > 0).all()
    assert part.with_name(f"{part.name}.left_out").exists()
    must(sluice("verify", out))


def test_slices_do_not_change_places(run: Path) -> None:
    """Labels depend on the order of the slices in the case: a series is not continued with another schedule."""
    first = CASE["output.slices"][0]
    second = {**first, "every": 0.1875}
    write_case(run, {**CASE, "output.slices": [first, second]})
    must(sluice("run", run / "case.yaml", "--overwrite", "--steps", REACHED))
    joined = run / "out/slices/z0.1.h5"
    with h5py.File(joined) as file:
        assert file.attrs["every"] == first["every"]
        steps = file["step"][:].tolist()

    case = write_case(run, {**CASE, "output.slices": [second]})
    told = refused(run)
    assert f"{joined}: the run has written it with every: 0.125 so far, but the case asks for every: 0.1875" in told
    assert "--allow-change" in told
    outcome = must(sluice("run", case, "--restart", "auto", "--allow-change", "--steps", REACHED))
    assert f"changed on restart: {joined}: the run has written it with every: 0.125" in outcome.out
    assert any(str(joined) in change for change in record(run / "out")["changes"])
    must(sluice("run", case, "--restart", "auto"))  # accepted once, although no slice has been added since
    with h5py.File(joined) as file:
        assert file.attrs["every"] == second["every"]
        assert file["step"][:].tolist() == [*steps, 9, 12]


def test_a_probe_keeps_its_interval(run: Path) -> None:
    with h5py.File(run / "out/probes/line.h5") as file:
        every = int(file.attrs["every"])
    probe = {"name": "line", "y": [0.5, 3], "z": [0.1, 1], "every": every + 1, "fields": ["u", "v", "w"]}
    write_case(run, {**CASE, "output.probes": [probe]})
    told = refused(run)
    assert f"line.h5: the run has written it with every: {every} so far, but the case asks for every: 3" in told
    must(sluice("run", run / "case.yaml", "--restart", "auto", "--allow-change"))


def test_a_run_that_begins_again_removes_series_that_the_case_has_no_more(run: Path) -> None:
    out = run / "out"
    old = out / "slices" / f"y1_{REACHED:07}.h5"
    shutil.copy(out / SLICE, old)
    with h5py.File(old, "r+") as file:
        file.attrs["format"] = "Sluice slice"
    for checkpoint in checkpoints(out):
        checkpoint.unlink()
    off = ["--set", "output.slices=[]", "--set", "output.probes=[]"]
    must(sluice("run", run / "case.yaml", "--restart", "auto", "--steps", 2, *off))
    assert not list(out.glob("slices/**/*.*"))
    assert not list(out.glob("probes/**/*.*"))


@pytest.mark.parametrize("off", ["output.statistics=none", "output.slices=[]", "output.probes=[]"])
def test_output_that_is_switched_off_is_cut_as_well(reference: Path, run: Path, off: str) -> None:
    """So that nothing of an abandoned branch is left when it is switched on again."""
    out, case = run / "out", run / "case.yaml"
    oldest = checkpoints(out)[0]
    step = step_of(oldest)
    must(sluice("run", case, "--restart", oldest, "--set", off, "--steps", step))
    name, steps = {
        "output.statistics=none": ("statistics.h5", "step_end"),
        "output.slices=[]": ("slices/z0.1.h5", "step"),
        "output.probes=[]": ("probes/line.h5", "step"),
    }[off]
    with h5py.File(out / name) as file:
        assert (file[steps][:] <= step).all()
    must(sluice("verify", out))
    must(sluice("run", case, "--restart", "auto"))
    assert_same_results(reference, out)
