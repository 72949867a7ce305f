import csv
import json
import re

import numpy as np
import pytest
import synthetic

from sluice_post.cli import main
from sluice_post.errors import UsageError
from sluice_post.study import COSTS, cost_at_error, cost_ratio, error_of, find_reference, read_study
from sluice_post.uncertainty import student_t95

VISCOSITY = 2 / 5714
BLOCKS = 10
# Half a period over the run, of standard deviation 1; the relative half width of the mean of such blocks.
SLOW_CHANGE = np.sqrt(2) * np.cos(np.pi * (np.arange(BLOCKS) + 0.5) / BLOCKS)
HALF_WIDTH = student_t95(6) / np.sqrt(6)


def write_run(
    directory, order, cells, errors=None, scatter=0.0, starts=((1000, 10.0),), device="GPU", dt=0.05, bulk="1"
):
    """A run whose fluctuations and uw are wrong by `errors`; uw changes slowly by `scatter`.

    `starts`: steps and seconds of each start.
    """
    flow = synthetic.Flow(re_tau=182.0, u_tau=182.0 * VISCOSITY, cells=(*cells, 48))
    profiles = synthetic.turbulent_profiles(flow)
    for name, error in (errors or {}).items():
        if name == "uw":
            profiles["uw"] = profiles["uw"] * (1 + error)
        else:
            mean = profiles[name]
            profiles[name * 2] = mean**2 + (profiles[name * 2] - mean**2) * (1 + error) ** 2
    blocks = [profiles | {"uw": profiles["uw"] * (1 + scatter * change)} for change in SLOW_CHANGE]
    statistics = directory / "statistics.h5"
    synthetic.write_statistics(statistics, flow, blocks)
    sampled = {
        "flow.type": "channel",
        "flow.reynolds.viscosity": f"{flow.viscosity!r}",
        "walls.bottom.type": "no_slip",
        "walls.top.type": "no_slip",
        "solver.order": str(order),
    }
    if bulk:
        sampled["flow.forcing.bulk_velocity"] = bulk
    synthetic.write_parameter_sets(statistics, [0] * BLOCKS, [sampled])
    synthetic.write_timeseries(directory / "timeseries.csv", flow, rows=401, end=4000 * dt)
    record = [
        {"steps_taken": steps, "stepping_seconds": seconds, "ranks": 1, "machine": {"device": device}}
        for steps, seconds in starts
    ]
    (directory / "run.json").write_text(json.dumps({**record[-1], "runs": record}))
    return directory


def test_errors_and_intervals_are_exact(tmp_path):
    exact = write_run(tmp_path / "exact", 4, (64, 64))
    errors = {"u": 0.05, "v": -0.02, "w": 0.01, "uw": -0.1}
    runs = read_study([write_run(tmp_path / "run", 2, (16, 8), errors, scatter=0.02)])
    reference = find_reference([exact], runs)
    for name, error in errors.items():
        found, width = error_of(runs[0], reference, f"{name}_peak")
        assert found == pytest.approx(100 * error)
        assert width == pytest.approx(100 * 0.9 * 0.02 * HALF_WIDTH if name == "uw" else 0.0, abs=1e-9)
        assert error_of(runs[0], reference, f"{name}_peak_z")[0] == pytest.approx(0, abs=1e-9)
    for key in ("re_tau", "cf", "u_c_plus"):
        assert error_of(runs[0], reference, key) == (pytest.approx(0, abs=1e-9), pytest.approx(0, abs=1e-9))
    assert error_of(runs[0], reference, "dissipation") == (pytest.approx(-10), pytest.approx(1.8 * HALF_WIDTH))
    # The other way round, the interval is that of the reference: of 1/0.9, as wide as the scatter allows.
    back = find_reference([tmp_path / "run"], read_study([exact]))
    assert error_of(read_study([exact])[0], back, "uw_peak") == (
        pytest.approx(100 / 9),
        pytest.approx(100 / 0.9 * 0.02 * HALF_WIDTH),
    )


def test_cost_of_a_run_of_several_starts(tmp_path):
    runs = read_study([write_run(tmp_path / "run", 4, (32, 24), starts=((1000, 40.0), (3000, 60.0), (500, 5.0)))])
    per_turnover = 1 / (182 * VISCOSITY)
    assert runs[0].dt == pytest.approx(0.05)
    assert runs[0].steps == pytest.approx(per_turnover / 0.05)
    assert runs[0].point_steps == pytest.approx(32 * 24 * 48 * per_turnover / 0.05)
    assert runs[0].seconds == pytest.approx(per_turnover / 0.05 * 105 / 4500)
    assert (runs[0].order, runs[0].device, runs[0].held.key) == (4, "GPU", "re_b")
    assert runs[0].resolution.turnovers == pytest.approx(100 / per_turnover)


def test_runs_without_time_series_and_record(tmp_path):
    """Then there are no costs, but errors."""
    run = write_run(tmp_path / "run", 2, (16, 8), {"u": 0.5})
    (run / "timeseries.csv").unlink()
    (run / "run.json").unlink()
    assert main(["study", str(run), "-o", str(tmp_path / "new" / "study")]) == 0
    assert re.search(r"^\| 2 \| 16 x 8 x 48 \|.*\| +\|$", (tmp_path / "new" / "study.md").read_text(), re.MULTILINE)


def test_cost_at_error():
    costs, errors = [1.0, 8.0, 64.0], [16.0, 4.0, 1.0]  # errors fall as cost^-2/3
    for wanted in (15.0, 4.0, 2.0, 1.0):
        expected = 8 * (4 / wanted) ** 1.5
        assert cost_at_error(costs, errors, wanted) == (pytest.approx(expected), pytest.approx(expected))
    assert cost_at_error(costs, errors, 16.0) == (0.0, 1.0)
    assert cost_at_error(costs, errors, 0.5) == (64.0, np.inf)
    # An error that is small by chance on a coarse grid does not count.
    assert cost_at_error(costs, [0.1, 4.0, 1.0], 2.0)[0] == pytest.approx(8 * 2**1.5)
    assert cost_at_error(costs, [16.0, 4.0, 0.0], 2.0) == (8.0, 8.0)
    assert cost_at_error(costs, [16.0, 4.0, 0.0], 0.0) == (64.0, 64.0)


@pytest.fixture
def study(tmp_path):
    """Order 2 is wrong by 16, 4 and 1 %, order 4 by 2 and 0.1 %; 8 times the points from grid to grid."""
    exact = write_run(tmp_path / "exact", 4, (64, 64))
    grids = {2: [((8, 8), 0.16), ((16, 32), 0.04), ((64, 64), 0.01)], 4: [((8, 8), 0.02), ((16, 32), 0.001)]}
    paths = [
        write_run(tmp_path / f"{order}_{cells[0]}", order, cells, {"uw": -error})
        for order, of_order in grids.items()
        for cells, error in of_order
    ]
    return paths[::-1], exact


def test_cost_ratio(study, tmp_path):
    runs = read_study(study[0])
    assert [(run.order, run.parameters.cells[0]) for run in runs] == [(2, 8), (2, 16), (2, 64), (4, 8), (4, 16)]
    reference = find_reference([study[1]], runs)
    for cost in COSTS.values():
        coarse = cost_ratio(runs, runs[3], reference, "uw_peak", cost)
        expected = 8 * 2**1.5 if cost is COSTS["point_steps"] else 1.0  # seconds per step are the same on all grids
        assert coarse.value == pytest.approx(expected)
        assert (coarse.low, coarse.high) == (pytest.approx(expected), pytest.approx(expected))
        fine = cost_ratio(runs, runs[4], reference, "uw_peak", cost)
        assert np.isnan(fine.value)
        assert (fine.low, fine.high) == (pytest.approx(8 if cost is COSTS["point_steps"] else 1.0), np.inf)
    # Where order 4 is exact within its interval, its error has no lower bound: order 2 may need any cost.
    write_run(tmp_path / "4_8", 4, (8, 8), {"uw": -0.02}, scatter=0.02 / HALF_WIDTH)
    bounded = cost_ratio(
        read_study(study[0]), read_study([tmp_path / "4_8"])[0], reference, "uw_peak", COSTS["seconds"]
    )
    assert bounded.low <= 1 <= bounded.high
    assert bounded.low < bounded.high


def test_the_command_writes_tables_and_figures(study, tmp_path, capsys):
    directories = [str(path) for path in study[0]]
    name = tmp_path / "tables" / "errors"
    exact = str(study[1])
    assert main(["study", exact, *directories, "--reference", exact, "-o", str(name)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^\| 8 x 8 x 48 \|.* 23 \| 23 \|$", out, re.MULTILINE)
    assert re.search(r"^\| 16 x 32 x 48 \|.* > 8 \| > 8 \|$", out, re.MULTILINE)
    with name.with_suffix(".csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [float(row["uw_peak_error_percent"]) for row in rows] == pytest.approx([-16, -4, -1, -2, -0.1])
    assert name.with_suffix(".md").read_text() in out
    for ending in ("point_steps", "seconds"):
        assert (name.parent / f"errors_{ending}.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("device", "same"),
    [("CPU", False), ("GPU, host memory not placed", True), ("GPU, host memory on NUMA node 1", True)],
)
@pytest.mark.unpainted
def test_seconds_of_other_devices_are_not_compared(study, tmp_path, capsys, device, same):
    write_run(study[0][0], 4, (8, 8), device=device)
    assert main(["study", *(str(path) for path in study[0]), "-o", str(tmp_path / "study")]) == 0
    assert ("in seconds" in capsys.readouterr().out) == same
    assert (tmp_path / "study_seconds.png").exists() == same


def test_reference_is_the_simulation_at_the_imposed_reynolds_number(tmp_path):
    run = write_run(tmp_path / "run", 2, (16, 8), bulk=f"{5585 / 5714:.6f}")
    runs = read_study([run])
    assert runs[0].held.value == pytest.approx(5585)
    assert runs[0].figures["re_b"].value == pytest.approx(5585, rel=0.02)
    assert find_reference(None, runs).published.re_tau == 178.12
    by_friction = read_study([write_run(tmp_path / "pressure", 2, (16, 8), bulk="")])
    assert by_friction[0].held.key == "re_tau" and not by_friction[0].held.by_case
    assert find_reference(None, by_friction).published.re_tau == 182.09
    profiles = tmp_path / "profiles.csv"
    assert main(["profiles", str(run), "-o", str(profiles)]) == 0
    reference = find_reference([profiles], runs)
    for key in ("re_tau", "cf", "u_c_plus", "u_peak", "v_peak", "w_peak", "uw_peak", "dissipation"):
        assert error_of(runs[0], reference, key)[0] == pytest.approx(0, abs=0.3), key


def test_runs_of_different_flows_are_refused(tmp_path):
    run = write_run(tmp_path / "run", 2, (16, 8))
    flow = synthetic.Flow(re_tau=395.0, cells=(16, 8, 48))
    other = synthetic.write_run(tmp_path / "other", flow, blocks=4)
    with pytest.raises(UsageError, match="viscosity"):
        read_study([run, other])
    with pytest.raises(UsageError, match="the reference itself"):
        read_study([run], reference=[run.parent / "." / "run"])
    with pytest.raises(UsageError, match="one run"):
        find_reference([run, run], read_study([run]))
    flow = synthetic.Flow(re_tau=250.0, cells=(16, 8, 48))
    far = synthetic.write_run(tmp_path / "far", flow, blocks=4)
    with pytest.raises(UsageError, match="No published data are known here"):
        find_reference(None, read_study([far]))
