import numpy as np
import pytest
import synthetic
from test_study import HALF_WIDTH, VISCOSITY, write_run

from sluice_post.cli import main
from sluice_post.errors import UsageError
from sluice_post.refine import assumed_order, grid_spacings, refinement, table_text
from sluice_post.study import read_study
from sluice_post.uncertainty import student_t95

SPACINGS = [1.0, 1.5, 2.0]


def exact(order, constant=0.03, spacings=SPACINGS):
    return [2.0 + constant * h**order for h in spacings]


@pytest.mark.parametrize("order", [2, 4])
@pytest.mark.parametrize("grids", [2, 3])
def test_error_without_sampling_error_is_exact(order, grids):
    found = refinement(exact(order)[:grids], [0.0] * grids, SPACINGS[:grids], order)
    assert found.error == pytest.approx(0.03)
    assert found.bound == pytest.approx(0.03)
    assert found.total == pytest.approx(0.03)
    if grids == 3:
        assert found.order == pytest.approx((order, order, order))


def test_only_a_bound_within_the_sampling_error():
    found = refinement([2.0, 2.1], [0.1, 0.1], SPACINGS[:2], 2)
    assert np.isnan(found.error)
    assert found.bound == pytest.approx((0.1 + 0.1 * np.sqrt(2)) / 1.25)
    assert found.total == pytest.approx(0.1 / 1.25 + 0.1 * np.hypot(1 + 1 / 1.25, 1 / 1.25))


def test_a_lower_order_than_that_of_the_scheme_is_found():
    """The error of an error of first order is not taken for one of fourth order, which would be too small."""
    found = refinement(exact(1), [1e-6] * 3, SPACINGS, 4)
    assert found.order[0] == pytest.approx(1, rel=1e-3)
    assert found.error == pytest.approx(0.03, rel=1e-3)


@pytest.mark.parametrize("values", [[2.0, 2.1, 2.0], [2.0, 2.1, 2.11]])
def test_figures_that_do_not_converge(values):
    found = refinement(values, [0.001] * 3, SPACINGS, 2)
    assert found.order[2] == 0
    assert found.bound >= 0.1
    assert found.total > found.bound


@pytest.mark.parametrize("grids", [2, 3])
@pytest.mark.parametrize("constant", [0.0, 0.1, 1.0])
def test_the_truth_lies_within_the_total_error(grids, constant):
    """Sampling errors of 0.1, which the runs themselves know to 6 degrees of freedom; the truth is 2."""
    rng = np.random.default_rng(grids)
    cases, inside, bounded = 2000, 0, 0
    for _ in range(cases):
        values = exact(2, constant, SPACINGS[:grids]) + 0.1 * rng.normal(size=grids)
        widths = student_t95(6) * 0.1 * np.sqrt(rng.chisquare(6, size=grids) / 6)
        found = refinement(values, widths, SPACINGS[:grids], 2)
        inside += abs(found.value - 2) <= found.total
        bounded += constant <= found.bound
    assert inside / cases >= 0.95
    assert bounded / cases >= 0.95


def test_refine_command(tmp_path, capsys):
    """Errors of -8, -2 and -0.5 % in -uw on grids of 16, 32 and 64, and nothing else."""
    directories = [
        str(write_run(tmp_path / str(n), 2, (n, n), {"uw": -error}, scatter=scatter))
        for n, error, scatter in ((16, 0.08, 0), (64, 0.005, 0.001 / HALF_WIDTH), (32, 0.02, 0))
    ]
    assert main(["refine", *directories]) == 0
    out = capsys.readouterr().out
    assert "Grids 2 and 4 times as coarse as the finest; order 2 assumed" in out
    rows = {line.split("|")[1].strip(): line for line in out.splitlines() if line.startswith("|")}
    finest, error, order = (rows["peak -uw+"].split("|")[column].strip() for column in (2, 5, 6))
    value = float(finest.split()[0])
    assert float(error.split(",")[0]) == pytest.approx(-value / 0.995 * 0.005, rel=0.05)
    assert order.startswith("2 (")
    assert main(["refine", directories[0]]) == 2
    assert "two or three runs" in capsys.readouterr().err


def test_grids_that_cannot_be_extrapolated(tmp_path):
    coarse, fine = write_run(tmp_path / "coarse", 4, (16, 8)), write_run(tmp_path / "fine", 4, (32, 24))
    runs = read_study([coarse, fine])[::-1]
    assert grid_spacings(runs) == pytest.approx([1, np.sqrt(6)])
    assert assumed_order(runs) == 4
    with pytest.raises(UsageError, match="finer than the next"):
        table_text(read_study([coarse, write_run(tmp_path / "other", 4, (8, 32))]))
    flow = synthetic.Flow(re_tau=182.0, u_tau=182.0 * VISCOSITY, cells=(8, 4, 48))
    single = synthetic.write_run(tmp_path / "single", flow, blocks=1)
    with pytest.raises(UsageError, match="single block"):
        table_text(read_study([single, write_run(tmp_path / "second", 2, (16, 8))]))
    with pytest.raises(UsageError, match="one order"):
        table_text(read_study([tmp_path / "second", fine]))
