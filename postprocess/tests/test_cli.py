import csv
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import synthetic
from test_report_page import Page

from sluice_post import html, layout
from sluice_post.cli import main
from sluice_post.run import load_run


def images_in(path):
    """The number of images of a page, which has them all in itself."""
    sources = [image["src"] for image in Page(path.read_text(encoding="utf-8")).all("img")]
    assert all(source.startswith("data:image/png;base64,") for source in sources)
    return len(sources)


@pytest.fixture
def run_copy(turbulent_run, tmp_path):
    return shutil.copytree(turbulent_run, tmp_path / "run")


@pytest.mark.all_pixels
def test_report_of_a_turbulent_run(run_copy, capsys):
    assert main(["report", str(run_copy)]) == 0
    out = capsys.readouterr().out
    re_tau = re.search(r"^Re_tau \(last third of the run\): ([\d.]+)", out, re.MULTILINE)
    assert float(re_tau.group(1)) == pytest.approx(180, rel=0.02)
    peak = re.search(r"^peak u'\+: ([\d.]+) \+- ([\d.]+) at z\+ = [\d.]+ \+- [\d.]+$", out, re.MULTILINE)
    assert 2.4 < float(peak.group(1)) < 2.9
    residual = re.search(r"^total-stress residual: (\S+)", out, re.MULTILINE)
    assert 0 < float(residual.group(1)) < 0.05
    assert len(re.findall(r" \+- ", out)) == 7  # of each number but that of samples
    assert images_in(run_copy / "report.html") == 10
    names = {path.stem for path in (run_copy / "figures").glob("*.png")}
    assert names == {
        *("mean_velocity", "fluctuations", "shear_stress", "vorticity", "higher_moments"),
        *("invariant_map", "anisotropy", "enstrophy", "streaks", "history"),
    }
    page = (run_copy / "report.html").read_text(encoding="utf-8")
    assert "MKM" in page or "Lee &amp; Moser" in page
    assert "point-steps per second" in page
    rows = re.findall(r'<tr><th scope="row">(energy.*|mean power.*)</th><td>(.*)</td></tr>', page)
    assert rows == [
        ("energy, J", "1.153·10<sup>5</sup>"),
        ("mean power, W", "1356.5"),
        ("energy, nJ per point and step", "191.06"),
        ("energy, J per h/u<sub>τ</sub>", "812.25"),
        ("energy measured on", "2 GPUs"),
    ]
    for name in (
        *("profiles.csv", "profiles_mean.dat", "profiles_fluc.dat"),
        *("profiles_mean_stdev.dat", "profiles_fluc_stdev.dat"),
    ):
        assert (run_copy / name).stat().st_size > 0


@pytest.mark.unpainted
def test_a_report_says_that_the_run_failed(run_copy, capsys):
    record = json.loads((run_copy / "run.json").read_text())
    record |= {"step": 42000, "why_stopped": "the velocity is not finite at step 42000"}
    (run_copy / "run.json").write_text(json.dumps(record))
    assert not load_run(run_copy).failure
    (run_copy / "diagnostics").mkdir()
    (run_copy / "diagnostics" / "step_0042000.h5").touch()
    assert main(["report", str(run_copy)]) == 0
    assert "this run failed: the velocity is not finite" in capsys.readouterr().out
    page = (run_copy / "report.html").read_text(encoding="utf-8")
    assert "This run failed</b> at step 42000: the velocity is not finite" in page


def test_energy_that_was_not_measured_has_no_rows():
    record = {"ranks": 2, "energy": {"not_measured": "NVML cannot be loaded"}}
    assert html.performance_rows(record, has_depth=True) == {"ranks": 2}
    energy = {"device": "GPU", "devices": 1, "joules": 5.0, "joules_per_h_over_u_tau": 2.0}
    rows = {"energy, J": 5.0, "energy measured on": "1 GPU"}
    assert html.performance_rows({"energy": energy}, has_depth=False) == rows
    assert html.performance_rows({"energy": energy}, has_depth=True) == {**rows, "energy, J per h/u<sub>τ</sub>": 2.0}


@pytest.mark.parametrize("flow_type", ["couette", "open_channel"])
def test_report_of_other_flows(tmp_path, capsys, flow_type):
    flow = synthetic.Flow(flow_type, re_tau=93.0, cells=(32, 24, 48))
    directory = synthetic.write_run(tmp_path / flow_type, flow, blocks=6)
    assert main(["report", str(directory)]) == 0
    assert "total-stress residual" in capsys.readouterr().out
    assert images_in(directory / "report.html") == 10


def test_report_of_a_laminar_run_with_one_block(tmp_path, flow, capsys):
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [synthetic.laminar_poiseuille(flow)])
    assert main(["report", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert "the flow is laminar" in out
    assert "Only one block" not in out and "(no interval)" not in out
    assert "No slice of u" in out
    assert float(re.search(r"residual: (\S+)", out).group(1)) < 1e-14


def test_report_of_a_laminar_flow_that_changes_in_time(tmp_path, flow, capsys):
    names = layout.BUDGET_CENTRE_PROFILES + layout.BUDGET_FACE_PROFILES
    still = {name: np.zeros(flow.cells[2] + (name in layout.BUDGET_FACE_PROFILES)) for name in names}
    steady = synthetic.laminar_poiseuille(flow)
    pulsating = {"uu": 1.5 * steady["uu"], "uuu": 2.5 * steady["uuu"], "uuuu": 4 * steady["uuuu"]}
    blocks = [steady | still | pulsating] * 5
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, blocks)
    assert main(["report", str(tmp_path)]) == 0
    assert "the flow is laminar" in capsys.readouterr().out


def test_report_without_statistics(tmp_path, flow, capsys):
    synthetic.write_timeseries(tmp_path / "timeseries.csv", flow, rows=300)
    synthetic.write_slices(tmp_path, "z0", flow, 0.083, [1.0])
    (tmp_path / "resolved.yaml").write_text("title: 'No statistics yet'\n")
    assert main(["report", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("No statistics yet\n")
    assert "missing: statistics.h5" in out
    assert images_in(tmp_path / "report.html") == 2


def test_report_with_no_closed_block(tmp_path, flow, capsys):
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [])
    synthetic.write_timeseries(tmp_path / "timeseries.csv", flow, rows=3)
    assert main(["report", str(tmp_path)]) == 0
    assert "no block is closed yet" in capsys.readouterr().out
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "(last third of the run)" in page
    assert "Moser" not in page  # which flow it is, the samples tell


@pytest.mark.unpainted
def test_html_of_the_title_is_escaped(tmp_path, flow):
    flow.title = "<script>alert(1)</script> & co"
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [synthetic.turbulent_profiles(flow)])
    assert main(["report", str(tmp_path)]) == 0
    assert "<script>" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_profiles_to_stdout_and_file(turbulent_run, tmp_path, capsys):
    assert main(["profiles", str(turbulent_run), "--from", "80", "--to", "150"]) == 0
    rows = list(csv.DictReader(capsys.readouterr().out.splitlines()))
    assert len(rows) == 48
    total = np.array([float(row["total_stress_plus"]) for row in rows])
    height = np.array([float(row["z_over_h"]) for row in rows])
    np.testing.assert_allclose(total, 1 - height, atol=0.05)
    target = tmp_path / "sub" / "p.csv"
    assert main(["profiles", str(turbulent_run), "--side", "top", "-o", str(target)]) == 0
    assert target.read_text().startswith("z_over_h,z_plus,U_plus")


def test_compare_with_its_own_profiles(turbulent_run, tmp_path, capsys):
    table, figure = tmp_path / "p.csv", tmp_path / "compare.png"
    assert main(["profiles", str(turbulent_run), "-o", str(table)]) == 0
    assert main(["compare", str(turbulent_run), "--reference", str(table), "-o", str(figure)]) == 0
    out = capsys.readouterr().out
    row = re.search(r"^U +([+-][\d.]+)", out, re.MULTILINE)
    assert abs(float(row.group(1))) < 1e-3
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.unpainted
def test_report_with_reference(run_copy, tmp_path):
    table = tmp_path / "p.csv"
    assert main(["profiles", str(run_copy), "-o", str(table)]) == 0
    assert main(["report", str(run_copy), "--reference", str(table)]) == 0
    assert images_in(run_copy / "report.html") == 11


def test_convert(run_copy, tmp_path, capsys):
    assert main(["convert", str(run_copy), "--format", "lee-moser", "-o", str(tmp_path / "lm")]) == 0
    mean = np.loadtxt(tmp_path / "lm" / "profiles_mean.dat", comments="%")
    fluctuations = np.loadtxt(tmp_path / "lm" / "profiles_fluc.dat", comments="%")
    assert mean.shape == (49, 6)
    assert fluctuations.shape == (49, 9)
    np.testing.assert_array_equal(mean[0], [0, 0, 0, 1, 0, 0])
    np.testing.assert_allclose(fluctuations[:, 8], fluctuations[:, 2:5].sum(axis=1) / 2, rtol=1e-12)
    assert main(["convert", str(run_copy), "--format", "csv", "-o", str(tmp_path)]) == 0
    assert (tmp_path / "profiles.csv").is_file()


def test_errors_are_one_line_with_an_exit_code(turbulent_run, tmp_path, capsys):
    cases = [
        (["report", str(tmp_path / "nowhere")], 4, "no such directory"),
        (["report", str(tmp_path)], 4, "holds none of"),
        (["profiles", str(tmp_path)], 4, "no such file"),
        (["profiles", str(turbulent_run), "--from", "1e6"], 2, "no block"),
        (["profiles", str(turbulent_run), "--from", "9", "--to", "3"], 2, "is not after"),
        (["compare", str(turbulent_run), "--reference", str(tmp_path / "x.dat")], 4, "cannot be read"),
        (["convert", str(turbulent_run), "--format", "csv", "-o", "/proc/nowhere"], 4, "cannot be written"),
    ]
    for arguments, code, message in cases:
        assert main(arguments) == code, arguments
        error = capsys.readouterr().err
        assert message in error
        assert error.count("\n") == 1
    with pytest.raises(SystemExit) as stopped:
        main(["spectrum", str(turbulent_run)])
    assert stopped.value.code == 2


def test_runs_as_a_program():
    command = [sys.executable, "-m", "sluice_post", "--help"]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    for name in ("report", "profiles", "compare", "convert"):
        assert name in found.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["merge", "--help"], ["profiles", "DIR"]])
def test_output_on_a_full_disk(tmp_path, arguments):
    flow = synthetic.Flow("channel")
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [synthetic.turbulent_profiles(flow)] * 3)
    command = [sys.executable, "-m", "sluice_post", *(str(tmp_path) if one == "DIR" else one for one in arguments)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (4, "sluice-post: No space left on device\n")
