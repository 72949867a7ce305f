"""A run in pieces ends like one in a single piece, bitwise: fields, all samples, time series and slices."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
from sluice_run import (
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
from stored_hashes import set_hashes

# GPUs give the same bits again only on as many ranks as before: there all pieces run on as many as the whole run.
ON_GPUS = "SLUICE_GPU_RANKS" in os.environ
STEPS = 24
SAMPLES = {"start": 0.2, "every": 2, "block": 0.5, "heights": [0.05, 1.0]}
SAMPLED = {"output.spectra": SAMPLES, "output.densities": SAMPLES}
FORMS = [("explicit", 0), ("explicit", 2), ("implicit_z", 0)]


Straight = dict[tuple[str, int], tuple[Path, Path]]


@pytest.fixture(scope="module")
def straight(tmp_path_factory: pytest.TempPathFactory) -> Straight:
    """For each form (diffusion, ranks): the case, and the results of the uninterrupted run."""
    made = {}
    for diffusion, ranks in FORMS:
        folder = tmp_path_factory.mktemp(f"{diffusion}{ranks}")
        case = write_case(folder, {**SAMPLED, "time.diffusion": diffusion, "time.steps": STEPS})
        must(sluice("run", case, ranks=ranks))
        made[diffusion, ranks] = case, folder / "out"
    return made


@pytest.fixture
def stopped(straight: Straight, stopped_once: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The explicit case on one process, and a copy of the directory of its run to step 15."""
    shutil.copytree(stopped_once, tmp_path / "out")
    return straight["explicit", 0][0], tmp_path / "out"


@pytest.fixture(scope="module")
def stopped_once(straight: Straight, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("stopped") / "out"
    must(sluice("run", straight["explicit", 0][0], "--output", out, "--steps", 15))
    return out


def run_in_pieces(case: Path, output: Path, ends: Sequence[int], ranks: Sequence[int]) -> None:
    """Runs to each step in turn, each in a new process, and then to the case's end."""
    for n, end in enumerate(ends):
        must(sluice("run", case, "--output", output, "--restart", "auto", "--steps", end, ranks=ranks[n % len(ranks)]))
    must(sluice("run", case, "--output", output, "--restart", "auto", ranks=ranks[len(ends) % len(ranks)]))


@pytest.mark.parametrize("diffusion", ["explicit", "implicit_z"])
def test_walls_that_act_and_react_go_on(tmp_path: Path, diffusion: str) -> None:
    """What a wall that opposes the flow does follows from the flow before the checkpoint."""
    wave = {"type": "travelling_wave", "amplitude": 0.3, "wavelength_x": "pi", "speed": 0.5}
    opposing = {"type": "opposition_control", "amplitude": 1, "height": 0.1}
    walls = {
        "bottom": {"velocity": ["0.1*sin(t)", 0, 0], "actuation": opposing},
        "top": {"type": "slip", "slip_length": 0.02, "velocity": [0.1, 0, "0.05*sin(x)"], "actuation": wave},
    }
    case = write_case(tmp_path, {"walls": walls, "time.diffusion": diffusion, "time.steps": STEPS})
    must(sluice("run", case, ranks=2))
    whole, pieces = tmp_path / "out", tmp_path / "pieces"
    assert np.ptp(rows(whole)["power_bottom"]) > 0
    run_in_pieces(case, pieces, [7, 14], [2] if ON_GPUS else [1, 2, 3])
    assert_same_results(whole, pieces)


def test_the_case_exercises_every_schedule(straight: Straight) -> None:
    """What other tests require: several blocks, slices and checkpoints, and an open block at the end."""
    _, output = straight["explicit", 0]
    with h5py.File(output / "statistics.h5") as file:
        assert len(file["samples"]) >= 2
        assert file["samples"][0] >= 2
    for name in ("spectra.h5", "densities.h5"):
        with h5py.File(output / name) as file:
            assert len(file["samples"]) >= 2
    with h5py.File(output / "slices" / "z0.1.h5") as file:
        assert len(file["time"]) >= 3
    assert len(checkpoints(output)) == 3
    with h5py.File(checkpoints(output)[-1]) as file:
        assert file["statistics_open"].attrs["samples"] >= 1
        assert file["spectra_open"].attrs["samples"] >= 1
        assert file["densities_open"].attrs["samples"] >= 1
    assert rows(output)["step"].tolist() == [1, 5, 10, 15, 20, STEPS]


# Saved at every step: on and off each schedule, with a statistics block open and just closed.
@pytest.mark.parametrize(("diffusion", "ends"), [("explicit", range(1, STEPS)), ("implicit_z", range(2, STEPS, 5))])
def test_restarts_after_many_steps(straight: Straight, tmp_path: Path, diffusion: str, ends: range) -> None:
    case, reference = straight[diffusion, 0]
    run_in_pieces(case, tmp_path / "pieces", ends, [0])
    assert_same_results(reference, tmp_path / "pieces")


@pytest.fixture(
    scope="module",
    params=[{"power": "0.01*(1 + 0.5*cos(3*t))"}, {"bulk_velocity": "1 + 0.1*sin(5*t)"},
                {"pressure_gradient": "0.004*exp(-t)"}, {"pressure_gradient": {"table": "g.csv", "period": 0.3}}],
    ids=["power", "bulk_velocity", "pressure_gradient", "table"],
)  # fmt: skip
def driven(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    """What drives a flow in time, and the folder of its case and uninterrupted run."""
    folder = tmp_path_factory.mktemp("driven")
    (folder / "g.csv").write_text("t, G\n0, 0.001\n0.1, 0.009\n0.25, 0.002\n")
    changes = {"flow.forcing": request.param, "flow.spanwise_forcing": {"bulk_velocity": "0.1*sin(4*t)"}}
    must(sluice("run", write_case(folder, {**changes, "time.steps": STEPS, "output.timeseries": {"every": 1}})))
    return request.param, folder


def test_restarts_of_a_flow_driven_in_time(driven: tuple[dict[str, Any], Path], tmp_path: Path) -> None:
    forcing, folder = driven
    run_in_pieces(folder / "case.yaml", tmp_path / "pieces", [3, 4, 11], [0] if ON_GPUS else [0, 2])
    assert_same_results(folder / "out", tmp_path / "pieces")
    series = rows(tmp_path / "pieces")
    target = 0.1 * np.sin(4 * series["time"])
    np.testing.assert_allclose(series["bulk_velocity_y"], target, atol=1e-7)
    names = series.dtype.names
    assert names[10:-1] == (("power",) if "power" in forcing else ()) + ("forcing_y", "bulk_velocity_y")
    if "bulk_velocity" in forcing:
        np.testing.assert_allclose(series["bulk_velocity"], 1 + 0.1 * np.sin(5 * series["time"]), rtol=1e-6)
    must(sluice("verify", tmp_path / "pieces"))


@pytest.fixture(scope="module")
def with_phases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a case with averages by phase, and of its uninterrupted run."""
    folder = tmp_path_factory.mktemp("phases")
    phases = {"period": "pi/8", "bins": 5}
    case = write_case(
        folder,
        {
            "time.steps": STEPS,
            "scalars": [{"name": "heat", "walls": {"bottom": {"value": 1}, "top": {"value": 0}}}],
            "output.statistics": {"start": 0.1, "every": 2, "block": 0.5, "phases": phases},
        },
    )
    must(sluice("run", case))
    return folder


def test_restarts_with_averages_by_phase(with_phases: Path, tmp_path: Path) -> None:
    run_in_pieces(with_phases / "case.yaml", tmp_path / "pieces", [3, 8, 11], [0] if ON_GPUS else [0, 3])
    assert_same_results(with_phases / "out", tmp_path / "pieces")
    must(sluice("verify", tmp_path / "pieces"))


def test_averages_by_phase_stay_as_they_began(with_phases: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(with_phases, tmp_path / "run")
    case, out = folder / "case.yaml", folder / "out"
    with h5py.File(out / "statistics.h5") as file:
        assert file.attrs["phase_period"] == np.pi / 8
        np.testing.assert_array_equal(file["phase"], np.arange(5) / 5)
        np.testing.assert_array_equal(file["phase_samples"][()].sum(axis=1), file["samples"])
        by_phase = [name for name in file if name.startswith("phase_")]
        assert {"phase_heat", "phase_heat_w", "phase_u", "phase_uw", "phase_tau_xz"} <= set(by_phase)
        assert "phase_ww_flux" not in by_phase
        for name in by_phase:
            if (whole := name.removeprefix("phase_")) in file and whole != "samples":
                np.testing.assert_allclose(
                    file[name][()].sum(axis=-1), file[whole], rtol=1e-12, atol=1e-12, err_msg=name
                )
    for other, said in [
        ("none", "{period: 0.39"),
        ("{period: pi/8, bins: 6}", "bins: 5}"),
        ("{period: 1, bins: 5}", "bins: 5}"),
    ]:
        changed = ("--set", f"output.statistics.phases={other}", "--steps", STEPS + 2)
        refused = sluice("run", case, "--restart", "auto", *changed)
        assert refused.code == 3
        assert "output.statistics.phases" in refused.text and said in refused.text
    # Without statistics, the file keeps what it has.
    before = (out / "statistics.h5").read_bytes()
    off = ("--set", "output.statistics=none", "--steps", STEPS + 2)
    must(sluice("run", case, "--restart", "auto", *off))
    assert (out / "statistics.h5").read_bytes() == before


def test_a_restart_notices_another_table(tmp_path: Path) -> None:
    table = tmp_path / "tables" / "u_b.txt"
    table.parent.mkdir()
    table.write_text("# t U_b\n0 1\n9 1.5\n")
    case = write_case(tmp_path, {"time.steps": 4, "flow.forcing": {"bulk_velocity": {"table": "tables/u_b.txt"}}})
    must(sluice("run", case, ranks=2))
    series = rows(tmp_path / "out")
    np.testing.assert_allclose(series["bulk_velocity"], 1 + series["time"] / 18, rtol=1e-6)
    table.write_text("0 1\n9 1.25\n")
    refused = sluice("run", case, "--restart", "auto", "--steps", 6)
    assert refused.code == 3
    assert "flow.forcing: {bulk_velocity: table " in refused.text
    must(sluice("run", case, "--restart", "auto", "--steps", 6, "--allow-change"))
    last = rows(tmp_path / "out")[-1]
    np.testing.assert_allclose(last["bulk_velocity"], 1 + last["time"] / 36, rtol=1e-6)
    table.unlink()
    missing = sluice("check", case)
    assert missing.code == 2
    assert f"{table}: cannot read the table in time: No such file or directory" in missing.err
    table.write_text("0 1\n9 1.25\n8 1\n")
    assert f"{table}:3: the time 8 does not follow 9" in must(sluice("run", case, "--overwrite", ranks=2), 2).err
    table.write_text("0 1\n9 1.25\n")
    checked = must(sluice("check", case, "--set", "time.end=10"))
    assert "ends at time 9, before the run, which ends at 10" in checked.text


def test_other_columns_are_refused(tmp_path: Path) -> None:
    case = write_case(tmp_path, {"time.steps": 10})
    must(sluice("run", case))
    series = (tmp_path / "out" / "timeseries.csv").read_bytes()
    changed = ("--set", "flow.spanwise_forcing={bulk_velocity: 0}", "--steps", 12, "--allow-change")
    refused = sluice("run", case, "--restart", "auto", *changed)
    assert refused.code == 3
    assert "its columns are" in refused.text
    assert (tmp_path / "out" / "timeseries.csv").read_bytes() == series
    (tmp_path / "out" / "timeseries.csv").unlink()
    must(sluice("run", case, "--restart", "auto", *changed))
    assert "forcing_y" in (tmp_path / "out" / "timeseries.csv").read_text()


def test_restarts_in_a_directory_whose_name_is_not_utf8(straight: Straight, tmp_path: Path) -> None:
    case, reference = straight["explicit", 0]
    output = tmp_path / os.fsdecode(b"caf\xe9")
    run_in_pieces(case, output, [12], [0])
    assert_same_results(reference, output)
    assert record(output)["runs"][1]["started_from"].endswith("caf\ufffd/checkpoints/step_0000012.h5")


def test_a_finished_run_is_extended(straight: Straight, tmp_path: Path) -> None:
    _, reference = straight["explicit", 0]
    short = write_case(tmp_path, {**SAMPLED, "time.steps": 11})
    must(sluice("run", short))
    must(sluice("run", short, "--restart", "auto", "--set", f"time.steps={STEPS}"))
    assert_same_results(reference, tmp_path / "out")


def test_a_run_to_a_time_is_extended(tmp_path: Path) -> None:
    """time.end does not change the trajectory: no step is shortened to hit it."""
    (tmp_path / "once").mkdir()
    once = write_case(tmp_path / "once", {"time.steps": None, "time.end": 2.1})
    must(sluice("run", once))
    twice = write_case(tmp_path, {"time.steps": None, "time.end": 1.0})
    must(sluice("run", twice))
    must(sluice("run", twice, "--restart", "auto", "--set", "time.end=2.1"))
    assert_same_results(tmp_path / "once" / "out", tmp_path / "out")


@pytest.mark.parametrize("ranks", [0, 2])
def test_restarting_a_finished_run_changes_nothing(straight: Straight, tmp_path: Path, ranks: int) -> None:
    case, reference = straight["explicit", ranks]
    shutil.copytree(reference, tmp_path / "again")
    run_in_pieces(case, tmp_path / "again", [STEPS], [ranks])
    assert_same_results(reference, tmp_path / "again")


@pytest.mark.parametrize("ranks", [0, 2])
def test_restart_from_a_named_older_checkpoint(straight: Straight, tmp_path: Path, ranks: int) -> None:
    """Restart from an earlier step, same directory: output of the abandoned steps is rewritten, never repeated."""
    case, reference = straight["explicit", ranks]
    output = tmp_path / "back"
    shutil.copytree(reference, output)
    oldest = checkpoints(output)[0]
    assert step_of(oldest) < STEPS - 2
    must(sluice("run", case, "--output", output, "--restart", oldest, ranks=ranks))
    assert_same_results(reference, output)


def test_an_abandoned_branch_is_not_resumed(straight: Straight, tmp_path: Path) -> None:
    """After a restart from an older checkpoint, auto continues from there, not from an abandoned one."""
    case, reference = straight["explicit", 0]
    output = tmp_path / "back"
    shutil.copytree(reference, output)
    oldest = checkpoints(output)[0]
    # Ends at once: time series and statistics are then those of the old step.
    must(sluice("run", case, "--output", output, "--restart", oldest, "--steps", step_of(oldest)))
    run_in_pieces(case, output, [], [0])
    assert_same_results(reference, output)


def test_nothing_of_an_abandoned_branch_is_left(straight: Straight, tmp_path: Path) -> None:
    """Restart from an earlier step with smaller steps, an allowed change: other steps write other slices."""
    case, reference = straight["explicit", 0]
    middle = step_of(checkpoints(reference)[0])
    smaller = ["--restart", "auto", "--set", "time.cfl=0.5", "--steps", STEPS + 3]
    must(sluice("run", case, "--output", tmp_path / "once", "--steps", middle))
    must(sluice("run", case, "--output", tmp_path / "once", *smaller))
    shutil.copytree(reference, tmp_path / "back")
    smaller[1] = str(checkpoints(tmp_path / "back")[0])
    must(sluice("run", case, "--output", tmp_path / "back", *smaller))
    assert_same_results(tmp_path / "once", tmp_path / "back")


def test_restart_into_another_directory(straight: Straight, tmp_path: Path) -> None:
    case, reference = straight["explicit", 0]
    middle = checkpoints(reference)[0]
    must(sluice("run", case, "--output", tmp_path / "new", "--restart", middle))
    assert_same_content(checkpoints(reference)[-1], checkpoints(tmp_path / "new")[-1])
    old, new = rows(reference), rows(tmp_path / "new")
    assert new.tolist() == old[old["step"] > step_of(middle)].tolist()


def test_same_directory_same_bytes(tmp_path: Path) -> None:
    """If even the case is equal, whole files are equal: checkpoints, statistics, time series, slices."""
    case = write_case(tmp_path)
    must(sluice("run", case))
    (tmp_path / "out").rename(tmp_path / "once")
    must(sluice("run", case, "--steps", 9))
    must(sluice("run", case, "--restart", "auto"))
    once, twice = tmp_path / "once", tmp_path / "out"
    names = [
        Path("checkpoints") / checkpoints(once)[-1].name,
        Path("statistics.h5"),
        Path("timeseries.csv"),
        Path("resolved.yaml"),
        *(file.relative_to(once) for file in (once / "slices").rglob("*.*")),
    ]
    for name in names:
        assert (once / name).read_bytes() == (twice / name).read_bytes(), name


BIN_CONSTANTS = [
    f"{quantity}_{constant}"
    for quantity in ("u", "v", "w", "p", "u_joint", "w_joint", "shear_x", "shear_y")
    for constant in ("middle", "width")
]


def samples_by_parameters(directory: Path) -> dict[int, int]:
    """Samples in the closed blocks of statistics.h5, for each set of parameters."""
    with h5py.File(directory / "statistics.h5") as file:
        found: dict[int, int] = {}
        for number, samples in zip(file["parameter_set"], file["samples"], strict=True):
            found[int(number)] = found.get(int(number), 0) + int(samples)
        return found


def open_samples(checkpoint: Path) -> int:
    with h5py.File(checkpoint) as file:
        return int(file["statistics_open"].attrs["samples"])


def test_another_order(stopped: tuple[Path, Path]) -> None:
    """Refused; with --allow-change the velocity is divergence-free at once, and blocks of statistics stay apart."""
    case, out = stopped
    changed = ["run", case, "--output", out, "--restart", "auto", "--set", "solver.order=2", "--steps", 30]
    assert "solver.order" in must(sluice(*changed), 3).err
    must(sluice(*changed, "--allow-change"))
    assert rows(out)["max_divergence"].max() < 1e-12
    with h5py.File(out / "statistics.h5") as file:
        orders = [file[f"parameter_set_{n}"].attrs["solver.order"] for n in sorted({*file["parameter_set"]})]
    assert orders == ["4", "2"]


def test_a_run_of_a_version_without_orders(tmp_path: Path) -> None:
    """It has order 2, not today's default: refused unless the case says so, in which case its statistics go on."""
    case, out = write_case(tmp_path), tmp_path / "out"
    must(sluice("run", case, "--set", "solver.order=2", "--steps", 15))
    for path in [*checkpoints(out), out / "statistics.h5"]:
        with h5py.File(path, "a") as file:
            stored = str(file.attrs["resolved_case"])
            assert "  order: 2\n" in stored
            file.attrs["resolved_case"] = stored.replace("  order: 2\n", "")
            if "parameter_set_0" in file:
                del file["parameter_set_0"].attrs["solver.order"]
        set_hashes(path)
    before = samples_by_parameters(out)
    assert before.keys() == {0}

    told = must(sluice("run", case, "--restart", "auto"), 3).err
    assert "solver.order: 2 -> 4" in told
    assert "set solver.order: 2" in told
    must(sluice("run", case, "--restart", "auto", "--set", "solver.order=2"))
    assert samples_by_parameters(out).keys() == {0}
    assert samples_by_parameters(out)[0] > before[0]
    must(sluice("run", case, "--restart", "auto", "--allow-change", "--steps", STEPS + 20))
    assert samples_by_parameters(out).keys() == {0, 1}


@pytest.mark.parametrize("first, then", [("off", "on"), ("on", "off")])
def test_statistics_keep_their_profiles(straight: Straight, tmp_path: Path, first: str, then: str) -> None:
    """A run goes on with or without budgets, as it began: neither loses what it has nor mixes both."""
    case = straight["explicit", 0][0]
    out = tmp_path / "out"
    with_budgets = ["--set", f"output.statistics.budgets={first}"]
    must(sluice("run", case, "--output", out, "--steps", 15, *with_budgets))
    before = (out / "statistics.h5").read_bytes()
    go_on = ["run", case, "--output", out, "--restart", "auto"]
    error = must(sluice(*go_on, "--set", f"output.statistics.budgets={then}"), 3).err
    assert f"set output.statistics.budgets: {first}" in error
    assert (out / "statistics.h5").read_bytes() == before
    must(sluice(*go_on, *with_budgets))
    with h5py.File(out / "statistics.h5") as file:
        assert ("uuw_flux" in file) == (first == "on")


@pytest.mark.parametrize("budgets", ["off", "on"])
def test_profiles_outlive_a_part_without_statistics(straight: Straight, tmp_path: Path, budgets: str) -> None:
    """A part without statistics cuts abandoned blocks, and the part after it loses no profile."""
    case = straight["explicit", 0][0]
    out = tmp_path / "out"
    with_budgets = ["--set", f"output.statistics.budgets={budgets}"]
    must(sluice("run", case, "--output", out, *with_budgets))
    go_back = checkpoints(out)[0]
    without = ["run", case, "--output", out, "--restart", go_back, "--set", "output.statistics=none"]
    must(sluice(*without, "--steps", step_of(go_back) + 1))
    with h5py.File(out / "statistics.h5") as file:
        kept = {name: file[name][()] for name in file if isinstance(file[name], h5py.Dataset)}
    assert max(kept["step_end"], default=0) <= step_of(go_back)
    assert ("uuw_flux" in kept) == (budgets == "on")
    other = "off" if budgets == "on" else "on"
    go_on = ["run", case, "--output", out, "--restart", "auto", "--set"]
    error = must(sluice(*go_on, f"output.statistics.budgets={other}"), 3).err
    assert "profiles" in error and "statistics.h5" in error
    must(sluice(*go_on, f"output.statistics.budgets={budgets}"))
    with h5py.File(out / "statistics.h5") as file:
        for name in kept.keys() - {"z", "z_face", "block"}:
            assert (file[name][: len(kept[name])] == kept[name]).all(), name


@pytest.mark.parametrize("heights", ["[0.2, 1]", "none"])
def test_heights_and_bins_stay_the_same(stopped: tuple[Path, Path], heights: str) -> None:
    """Heights are those of the case in every part of a run, bins those of the first: also after a part without."""
    case, out = stopped
    before = (out / "spectra.h5").read_bytes()
    go_on = ["run", case, "--output", out, "--restart", "auto"]
    others = ["--set", f"output.spectra.heights={heights}"]
    error = must(sluice(*go_on, *others), 3).err
    assert "with output.spectra.heights: [0.05, 1] so far" in error
    assert (out / "spectra.h5").read_bytes() == before
    must(sluice(*go_on, "--steps", 16, "--set", "output.spectra=none", "--set", "output.densities=none"))
    error = must(sluice(*go_on, *others), 3).err
    assert "spectra.h5: was sampled at z = " in error and "`heights` cannot change" in error
    must(sluice(*go_on))
    with h5py.File(out / "spectra.h5") as file:
        assert file["uw_kxky"].shape[1:3] == (2, len(file["ky"]))
    with h5py.File(out / "densities.h5") as file:
        assert len(file["samples"]) >= 2
        for name in BIN_CONSTANTS:
            assert (file[name][...] == file[name][0]).all(), name


def test_statistics_of_a_changed_flow_stay_apart(straight: Straight, stopped: tuple[Path, Path]) -> None:
    """No block mixes samples of both flows, no sample is lost; a return to the first flow leaves no trace."""
    _, reference = straight["explicit", 0]
    case, out = stopped
    first = sum(samples_by_parameters(out).values()) + open_samples(checkpoints(out)[-1])
    assert open_samples(checkpoints(out)[-1]) > 0
    changed = ["run", case, "--output", out, "--allow-change", "--set", "flow.reynolds={bulk: 5000}"]
    changed += ["--set", "output.checkpoint={every: 0.5, keep: 9}", "--set", "output.densities.block=0.2"]
    before = checkpoints(out)[-1]
    for _ in range(2):  # a restart from an earlier step closes the open block only once
        must(sluice(*changed, "--restart", before))
    assert samples_by_parameters(out)[0] == first
    assert samples_by_parameters(out).keys() == {0, 1}
    with h5py.File(out / "statistics.h5") as file:
        viscosities = [float(file[f"parameter_set_{n}"].attrs["flow.reynolds.viscosity"]) for n in (0, 1)]
        assert viscosities == pytest.approx([2 / 5600, 2 / 5000])
    with h5py.File(out / "densities.h5") as file:  # each flow has bins of its own
        sets = file["parameter_set"][...]
        assert set(sets) == {0, 1}
        for name in ("u_width", "p_middle", "u_joint_width", "shear_x_middle"):
            first_bins, later_bins = (file[name][sets == number] for number in (0, 1))
            assert (first_bins == first_bins[0]).all() and (later_bins == later_bins[0]).all(), name
            assert (first_bins[0] != later_bins[0]).any(), name
    must(sluice("run", case, "--output", out, "--restart", before))
    assert_same_results(reference, out)


def test_statistics_of_version_0_1_are_continued(straight: Straight, stopped: tuple[Path, Path]) -> None:
    """Version 0.1 did not store parameters per block: the case in the file provides them."""
    _, reference = straight["explicit", 0]
    case, out = stopped
    with h5py.File(out / "statistics.h5", "a") as file:
        assert len(file["samples"]) > 0
        for name in [name for name in file if name.startswith("parameter_set")]:
            del file[name]
    must(sluice("run", case, "--output", out, "--restart", "auto"))
    assert_same_results(reference, out)


def test_a_checkpoint_named_by_a_relative_path_is_not_written_again(stopped: tuple[Path, Path], tmp_path: Path) -> None:
    """Not even when a changed flow stops where it started: the samples of its open block would be lost."""
    case, out = stopped
    checkpoint = checkpoints(out)[-1]
    before = checkpoint.read_bytes()
    must(
        sluice(
            "run",
            case,
            *("--output", "out", "--steps", 15),
            *("--restart", f"out/checkpoints/{checkpoint.name}"),
            *("--allow-change", "--set", "flow.reynolds={bulk: 5000}"),
            cwd=tmp_path,
        )
    )
    assert checkpoint.read_bytes() == before
