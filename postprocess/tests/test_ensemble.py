"""Ensembles: averages of all members, their intervals across members and in time, and what commands make of them."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import synthetic
import xarray as xr
from test_uncertainty import SERIES, blocks_of, first_order, series_of
from test_watch import CASE

import sluice_post as sp
from sluice_post.cli import main
from sluice_post.ensemble import pooled, read_ensemble
from sluice_post.errors import InputOutputError, PostError, UsageError
from sluice_post.profiles import peak
from sluice_post.uncertainty import degrees_of, half_width95, student_t95

FLOW = synthetic.Flow(cells=(32, 24, 48))
AMPLITUDE = "walls.bottom.actuation.amplitude"
SEED = "initial.seed"
BLOCKS = 8


def write_ensemble(directory: Path, varied: dict[str, list], of: dict[str, list] | None = None) -> Path:
    """Members with statistics and time series of their own. `of`: the sampled parameters that differ, by key."""
    names = [f"member_{n:02}" for n in range(len(next(iter(varied.values()))))]
    profiles = synthetic.turbulent_profiles(FLOW)
    for n, name in enumerate(names):
        path = directory / name / "statistics.h5"
        synthetic.write_statistics(path, FLOW, synthetic.noisy_blocks(FLOW, profiles, BLOCKS, seed=n), length=40.0)
        parameters = synthetic.parameters_of(FLOW) | {key: str(values[n]) for key, values in (of or {}).items()}
        synthetic.write_parameter_sets(path, [0] * BLOCKS, [parameters])
        synthetic.write_timeseries(directory / name / "timeseries.csv", FLOW, seed=n)
        (directory / name / "resolved.yaml").write_text(CASE)
    text = json.dumps({"members": len(names), "directories": names, "varied": varied})
    (directory / "ensemble.json").write_text(text)
    return directory


@pytest.fixture(scope="module")
def seeds(tmp_path_factory):
    """Six members that differ in their seed; tests only read it."""
    return write_ensemble(tmp_path_factory.mktemp("seeds"), {SEED: [1, 2, 3, 4, 5, 6]})


@pytest.fixture(scope="module")
def amplitudes(tmp_path_factory):
    """Two members with each of two amplitudes."""
    values = [0.1, 0.1, 0.2, 0.2]
    return write_ensemble(tmp_path_factory.mktemp("amplitudes"), {SEED: [1, 2, 1, 2], AMPLITUDE: values})


def ensembles_of(members, count, time, seed):
    """Series of each member, (member, block, series), of independent ensembles along the last axis."""
    return np.stack([series_of([(1.0, first_order(time))], count, 100 * seed + n) for n in range(members)])


def coverage(function, truth, blocks):
    """Percentage of the intervals that contain the truth."""
    return 100 * np.mean(np.abs(function(blocks.means()) - truth) <= half_width95(function, blocks), axis=-1)


def u_of(means):
    return means.centre["u"]


def pool(values, samples=None, **others):
    names = [f"{n}" for n in range(len(values))]
    samples = [None] * len(values) if samples is None else samples
    more = [{name: of[n] for name, of in others.items()} for n in range(len(values))]
    return pooled([blocks_of(values[n], samples[n], **more[n]) for n in range(len(values))], names)


@pytest.mark.parametrize("members", [2, 4, 8])
def test_intervals_across_members_of_short_runs_contain_the_truth(members):
    """Runs of 6 blocks with a correlation time of 5: far too short for intervals in time."""
    blocks = pool(ensembles_of(members, 6, 5.0, members))
    assert degrees_of(blocks) == members - 1
    limit = 3 * 100 * np.sqrt(0.95 * 0.05 / SERIES)  # of the binomial distribution
    assert coverage(u_of, 0, blocks) == pytest.approx(95, abs=limit)
    assert coverage(u_of, 0, blocks.in_time) < 85


def test_intervals_in_time_of_few_long_runs_contain_the_truth_and_are_narrower():
    blocks = pool(ensembles_of(2, 80, 1.0, 1))
    assert degrees_of(blocks.in_time) == 12
    assert 93 <= coverage(u_of, 0, blocks.in_time) <= 97
    assert np.median(half_width95(u_of, blocks.in_time)) < 0.4 * np.median(half_width95(u_of, blocks))


def test_members_of_different_lengths():
    """The variance of a member is in inverse proportion to its samples."""
    samples, rng = [1, 2, 5, 9, 20], np.random.default_rng(3)
    values = [rng.normal(size=(1, SERIES)) / np.sqrt(count) for count in samples]
    blocks = pool(values, [np.array([count]) for count in samples])
    assert coverage(u_of, 0, blocks) == pytest.approx(95, abs=1.1)


def test_intervals_of_nonlinear_figures_contain_the_truth():
    """Re_tau, and height and place of the peak of u'+, as in test_uncertainty.py, of 8 members of 10 blocks."""
    z = np.linspace(9, 21, 7)
    shear, height, place = (ensembles_of(8, 10, 2.0, seed)[..., :1000] for seed in range(3))
    tau, u = 1 + 0.1 * shear, 10 + 0.3 * shear
    variance = 7 + height[:, :, None] - ((z[:, None] - 15 - place[:, :, None]) / 6) ** 2
    uu = (variance + u[:, :, None] ** 2).reshape(8, 10, -1)

    def figures(tau, u, uu):
        rms = np.sqrt((uu - u**2) / tau)
        return np.stack([180 * np.sqrt(tau), *np.transpose([peak(z, column) for column in rms.T])])

    def figures_of(means):
        return figures(means.face["tau_xz"], means.centre["u"], means.centre["uu"].reshape(len(z), -1))

    truth = figures(np.ones(1), np.full(1, 10.0), (7 + 100 + 0.09 - ((z - 15) ** 2 + 1) / 36)[:, None])
    found = coverage(figures_of, truth, pool(u, tau=tau, uu=uu))
    assert np.all((found >= 92.9) & (found <= 97.1)), found  # three standard deviations for 1000 ensembles


def test_variances_come_from_pooled_moments():
    """The mean of a short run moves with the flow: a variance about it is too small, and so would be their average."""
    members, shared = 16, 0.3  # the variance of the mean of a block
    u = np.sqrt(shared) * ensembles_of(members, 2, 5.0, 1)
    uu = 1 + 0.5 * ensembles_of(members, 2, 5.0, 2) + u**2

    def variance(means):
        return means.centre["uu"] - means.centre["u"] ** 2

    blocks = pool(u, uu=uu)
    assert np.mean(variance(blocks.means())) == pytest.approx(1 + shared * (1 - 1 / members), abs=0.01)
    assert coverage(variance, 1 + shared, blocks) > 92
    of_members = np.array([variance(blocks_of(u[n], uu=uu[n]).means()) for n in range(members)])
    width = student_t95(members - 1) * of_members.std(axis=0, ddof=1) / np.sqrt(members)
    assert 100 * np.mean(np.abs(of_members.mean(axis=0) - 1 - shared) <= width) < 50


def test_one_member_has_the_intervals_of_a_run():
    blocks = blocks_of([0.9, 1.1, 1.2, 0.8])
    assert pooled([blocks], ["0"]) is blocks


def test_profiles_are_those_of_all_samples(seeds):
    ensemble = sp.open(seeds)
    profiles = [member.block_means for member in ensemble.members]
    u_tau = np.sqrt(np.mean([abs(p.tau_xz.mean("time").values[[0, -1]]).mean() for p in profiles]))
    assert ensemble.profiles.attrs["u_tau"] == pytest.approx(u_tau, rel=1e-12)
    re_tau = np.array([member.profiles.attrs["re_tau"] for member in ensemble.members])
    widths = ensemble.key_figures.re_tau_ci95.item(), ensemble.key_figures.re_tau_ci95_time.item()
    assert widths[0] == pytest.approx(student_t95(5) * re_tau.std(ddof=1) / np.sqrt(6), rel=0.02)
    of_members = [member.key_figures.re_tau_ci95.item() / student_t95(6) for member in ensemble.members]
    assert widths[1] == pytest.approx(student_t95(36) * np.linalg.norm(of_members) / 6, rel=0.02)
    assert {"U_ci95", "U_ci95_time", "minus_uw_ci95"} <= set(ensemble.profiles)
    assert ensemble.profiles.U.attrs["ancillary_variables"] == "U_ci95 U_ci95_time"


@pytest.mark.parametrize(
    ("kind", "results"), [("spectra", "spectra"), ("phases", "phases"), ("budgets", "budgets"), ("scalars", "scalars")]
)
def test_other_results_of_copies_are_those_of_the_run(run_of, tmp_path, kind, results):
    names = ["a", "b", "c"]
    for name in names:
        shutil.copytree(run_of(kind), tmp_path / name)
    content = {"members": 3, "directories": names, "varied": {SEED: [1, 2, 3]}}
    (tmp_path / "ensemble.json").write_text(json.dumps(content))
    found, expected = (getattr(run, results) for run in (sp.open(tmp_path), sp.open(run_of(kind))))
    if isinstance(found, xr.Dataset):
        found, expected = {"": found}, {"": expected}
    assert found.keys() == expected.keys()
    for name, of_run in expected.items():
        for variable, values in of_run.items():
            pooled_values = found[name][variable].values
            if variable.endswith("_ci95"):
                assert np.nanmax(pooled_values, initial=0) < 1e-4 * max(np.nanmax(values, initial=0), 1e-3)
            else:
                same = pooled_values / (3 if variable == "samples" else 1)
                np.testing.assert_allclose(same, values, rtol=1e-9, atol=1e-9)


def test_results_by_member(seeds):
    ensemble = sp.open(seeds, begin=100)
    assert list(ensemble.varied[SEED]) == [1, 2, 3, 4, 5, 6]
    found = ensemble.by_member()
    assert found.re_tau.dims == ("member",) and list(found[SEED]) == [1, 2, 3, 4, 5, 6]
    assert found.re_tau.sel(member="member_02") == ensemble.members[2].key_figures.re_tau
    profiles = ensemble.by_member("profiles")
    assert profiles.U.dims == profiles.z_plus.dims == ("member", "z")
    with pytest.raises(UsageError, match="not one dataset"):
        ensemble.by_member("parameters")


def test_time_averages(seeds):
    ensemble = sp.open(seeds)
    found = {name: values.item() for name, values in ensemble.time_averages.items()}
    re_tau = ensemble.by_member("time_averages").re_tau.values
    assert found["re_tau"] == pytest.approx(np.sqrt(np.mean(re_tau**2)), rel=1e-12)
    width = student_t95(5) * re_tau.std(ddof=1) / np.sqrt(6)
    assert found["re_tau_ci95"] == pytest.approx(width, rel=0.01)
    assert 0 < found["re_tau_ci95_time"] < 2 * width
    u_tau = found["re_tau"] * 2 / 5600  # the viscosity of CASE
    assert found["cf"] == pytest.approx(2 * u_tau**2 / found["bulk_velocity"] ** 2, rel=1e-9)
    assert sp.open(seeds, begin=100, end=200).time_averages.attrs["begin"] == pytest.approx(100, abs=0.2)


def test_members_of_different_flows(amplitudes, capsys):
    ensemble = sp.open(amplitudes)
    assert list(ensemble.groups) == [f"{AMPLITUDE}=0.1", f"{AMPLITUDE}=0.2"]
    with pytest.raises(UsageError, match=rf"{AMPLITUDE}=0.1 \(member_00, member_01\); .*=0.2 \(member_02, member_03\)"):
        _ = ensemble.profiles
    group = ensemble.groups[f"{AMPLITUDE}=0.2"]
    chosen = ensemble.choose(f"{AMPLITUDE}=0.20")
    assert [member.directory.name for member in chosen.members] == ["member_02", "member_03"]
    np.testing.assert_array_equal(chosen.profiles.U_ci95, group.profiles.U_ci95)
    assert ensemble.by_member().sizes == {"member": 4}
    assert main(["profiles", str(amplitudes)]) == 2
    assert "--members" in capsys.readouterr().err
    assert main(["profiles", str(amplitudes), "--members", "member_00", "member_01"]) == 0
    assert "U_plus,U_plus_ci95,U_plus_ci95_time" in capsys.readouterr().out
    assert main(["ensemble", str(amplitudes)]) == 0
    printed = capsys.readouterr().out
    assert f"statistics, {AMPLITUDE}=0.2" in printed and printed.count("all, across members") == 4
    assert main(["profiles", str(amplitudes), "--members", f"{AMPLITUDE}=0.3"]) == 2
    assert "no member" in capsys.readouterr().err


def test_what_cannot_be_pooled(tmp_path):
    other = write_ensemble(tmp_path / "other", {SEED: [1, 2]}, of={"solver.order": [2, 4]})
    with pytest.raises(UsageError, match=r"member_01 samples another flow than .*member_00: solver.order"):
        _ = sp.open(other).profiles
    same = write_ensemble(tmp_path / "same", {SEED: [1, 1]})
    with pytest.raises(UsageError, match="member_00 and member_01 are one run"):
        _ = sp.open(same).profiles


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"members": 2, "directories": ["a"], "varied": {}}',
        '{"members": 2, "directories": ["a", "a"], "varied": {}}',
        '{"members": 2, "directories": ["a", "../b"], "varied": {}}',
        '{"members": 2, "directories": ["a", "b"], "varied": {"initial.seed": [1]}}',
        '{"members": 0, "directories": [], "varied": {}}',
    ],
)
def test_damaged_ensemble_file(tmp_path, content):
    (tmp_path / "ensemble.json").write_text(content)
    with pytest.raises(InputOutputError, match=r"ensemble\.json: cannot be used"):
        read_ensemble(tmp_path)


def test_values_that_are_lists(tmp_path):
    varied = {"walls.top.velocity": [[1, 0, 0], [2, 0, 0]], SEED: [1, 2]}
    content = {"members": 2, "directories": ["a", "b"], "varied": varied}
    (tmp_path / "ensemble.json").write_text(json.dumps(content))
    found = read_ensemble(tmp_path)
    assert list(found.groups()) == ["walls.top.velocity=[1, 0, 0]", "walls.top.velocity=[2, 0, 0]"]
    assert found.chosen(["walls.top.velocity=[2,0,0]"]).members == (tmp_path / "b",)


def test_what_is_of_one_run_names_the_members(seeds, capsys):
    for name in ("slices", "time_series", "densities", "block_means"):
        with pytest.raises(PostError, match="member_05"):
            getattr(sp.open(seeds), name)
    folder = str(seeds)
    for command in (
        ["convert", folder, "--format", "csv"], ["export", folder, "--netcdf", "x.nc"], ["merge", folder, "-o", "x"],
        ["control", folder, "--reference", folder], ["study", folder], ["probes", folder], ["densities", folder],
    ):  # fmt: skip
        assert main(command) == 2, command
        assert "member_05" in capsys.readouterr().err
    assert main(["ensemble", str(seeds / "member_00")]) == 2
    assert main(["profiles", str(seeds / "member_00"), "--members", "member_00"]) == 2


def test_table_and_advice(seeds, capsys):
    assert main(["ensemble", str(seeds)]) == 0
    printed = capsys.readouterr().out
    assert "time series, last third of each run" in printed
    assert "member_03, initial.seed=4" in printed and "all, in time" in printed
    assert "6 members: trust the intervals across members" in printed
    assert main(["ensemble", str(seeds), "--members", "member_00", "member_01"]) == 0
    assert "Only 2 members, but each averages over 20 h/u_tau" in capsys.readouterr().out
    assert main(["ensemble", str(seeds), "--members", "member_00", "member_01", "--to", "200"]) == 0
    assert "those in time are too narrow" in capsys.readouterr().out


def test_a_member_without_results_is_named(tmp_path, capsys):
    directory = write_ensemble(tmp_path, {SEED: [1, 2, 3]})
    (directory / "member_01" / "statistics.h5").unlink()
    assert main(["profiles", str(directory)]) == 4
    assert "member_01/statistics.h5" in capsys.readouterr().err
    assert main(["ensemble", str(directory)]) == 0
    assert "No averages of all members" in capsys.readouterr().out


@pytest.mark.unpainted
def test_report(seeds, capsys):
    assert main(["report", str(seeds)]) == 0
    printed = capsys.readouterr().out
    assert "in 6 members, t = 60 to 380" in printed and "Re_tau (last third of the run): " in printed
    page = (seeds / "report.html").read_text()
    assert "Members in numbers" in page and "all, across members" in page
    assert (seeds / "profiles.csv").is_file()


def test_watch(seeds):
    pytest.importorskip("bokeh", reason="the extra `watch` is not installed")
    from bokeh.document import Document

    from sluice_post.watch.ensemble import EnsembleFollower, EnsemblePage

    follower, document = EnsembleFollower(read_ensemble(seeds)), Document()
    while follower.poll():
        pass
    EnsemblePage(lambda: follower.snapshot).show_in(document)
    assert "running" in document.title
    text = document.get_model_by_name("head").text
    assert text.count("initial.seed=") == 6 and "last third of 6 members" in text
    ((found,), expected) = follower.snapshot.pooled, sp.open(seeds).time_averages
    assert found.value == pytest.approx(float(expected.re_tau))
    assert found.half_width == pytest.approx(float(expected.re_tau_ci95))


def test_watch_before_the_members_have_begun(tmp_path):
    pytest.importorskip("bokeh", reason="the extra `watch` is not installed")
    from sluice_post.watch.ensemble import EnsembleFollower, EnsemblePage

    content = {"members": 2, "directories": ["member_00", "member_01"], "varied": {SEED: [1, 2]}}
    (tmp_path / "ensemble.json").write_text(json.dumps(content))
    follower = EnsembleFollower(read_ensemble(tmp_path))
    assert not follower.poll() and follower.snapshot.pooled == ()
    assert EnsemblePage(lambda: follower.snapshot).update().startswith("0 of 2 running")
