"""The lower branch of plane Couette flow: the equilibrium on fixed and moving grids, its branch, its file."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sluice

pytest.importorskip("scipy")
from dynamics_cases import channel, couette, waves

from sluice.dynamics import (
    NAGATA,
    SHIFT_REFLECT,
    FlowMap,
    Solution,
    edge_state,
    find_fold,
    find_solution,
    follow_branch,
    read_solution,
    write_solution,
)

if sluice.precision != "double":
    pytest.skip("searches need double precision", allow_module_level=True)

EXAMPLES = Path(__file__).parents[1] / "examples"


@pytest.fixture(scope="module")
def lower_branch() -> Iterator[Any]:
    """The equilibrium of Nagata on a coarse grid, from a guess that is made here."""
    with FlowMap(couette((16, 16, 16)), 8.0, dt=0.1, symmetries=NAGATA) as flow_map:
        point = edge_state(flow_map, waves(flow_map, 0.1), low=0.002, high=0.06, change=1e-3, time=150)
        assert point.change <= 1e-3
        yield find_solution(flow_map, point.state)


def test_the_lower_branch_is_an_equilibrium(lower_branch: Any) -> None:
    """Steady for every time and time step, without the symmetries too."""
    assert lower_branch.residual <= 1e-10
    with FlowMap(couette((16, 16, 16)), 1.0, dt=0.03) as other:
        assert other.space.norm(other(lower_branch.state) - lower_branch.state) < 1e-9


def test_the_lower_branch_converges_to_published_values(lower_branch: Any) -> None:
    """Norm 0.2091 and D 1.4293 (Gibson, Halcrow & Cvitanovic 2009), of second order in dz."""
    with FlowMap(couette((16, 16, 24)), 8.0, dt=0.1, symmetries=NAGATA) as finer:
        found = find_solution(finer, finer.interpolate(lower_branch.state, lower_branch.flow_map))
        for value, of in ((0.2091, lambda one: one.norm), (1.4293, lambda one: one.drag)):
            assert abs(of(found) - value) < 0.6 * abs(of(lower_branch) - value)
            assert of(found) + (of(found) - of(lower_branch)) / (1.5**2 - 1) == pytest.approx(value, rel=0.01)


def test_a_grid_that_moves_finds_a_travelling_wave(lower_branch: Any) -> None:
    """Walls at -0.9 and 1.1: on a grid at 0.1 the equilibrium, with the same equations."""
    keys = {"walls__bottom__velocity": [-0.9, 0, 0], "walls__top__velocity": [1.1, 0, 0], "grid__velocity": 0.08}
    with FlowMap(couette((16, 16, 16), **keys), 8.0, dt=0.1, symmetries=[SHIFT_REFLECT]) as moving:
        shifted = lower_branch.state + moving.space.sample(u=lambda x, y, z: 0.1)
        found = find_solution(moving, shifted, ["grid.velocity"])
        assert found.parameter("grid.velocity") == pytest.approx(0.1, abs=1e-7)
        assert moving.space.norm(found.state - shifted) < 1e-6


def test_a_branch_goes_on_in_both_directions(lower_branch: Any) -> None:
    up = list(follow_branch(lower_branch, "flow.reynolds.wall", 15, points=2))
    assert up[0].parameter("flow.reynolds.wall") == 415 and up[1].parameter("flow.reynolds.wall") > 415
    assert up[1].norm < up[0].norm < lower_branch.norm
    assert all(one.residual <= 1e-10 for one in up)
    wider = next(follow_branch(lower_branch, "Ly", 0.05))
    assert wider.parameter("Ly") == pytest.approx(0.8 * np.pi + 0.05) and wider.residual <= 1e-10


def test_a_solution_on_another_grid(lower_branch: Any) -> None:
    with FlowMap(couette((18, 16, 20)), 8.0, dt=0.1, symmetries=NAGATA) as finer:
        guess = finer.interpolate(lower_branch.state, lower_branch.flow_map)
        assert finer.norm(guess) == pytest.approx(lower_branch.norm, rel=0.02)
        assert finer.space.norm(finer(guess) - guess) / 8 < 0.02
    same = lower_branch.flow_map.interpolate(lower_branch.state, lower_branch.flow_map)
    assert lower_branch.flow_map.space.norm(same - lower_branch.state) < 1e-13


def test_solutions_in_files(lower_branch: Any, tmp_path: Path) -> None:
    write_solution(tmp_path / "lower.h5", lower_branch)
    read = read_solution(tmp_path / "lower.h5")
    with read.flow_map as flow_map:
        assert np.array_equal(read.state, lower_branch.state) and read.residual == lower_branch.residual
        assert flow_map.symmetries == NAGATA and flow_map.steps == lower_branch.flow_map.steps
        assert np.array_equal(flow_map(read.state), lower_branch.flow_map(lower_branch.state))
        assert flow_map.at({"Lx": 5.0}).parameter("flow.reynolds.wall") == 400
    with FlowMap(channel((8, 6, 10)), 1.0, dt=0.1) as driven:  # the pressure gradient follows from the Reynolds number
        driven.case["flow.reynolds"] = {"center": 500}
        write_solution(tmp_path / "driven.h5", Solution(driven, driven.laminar, 0.0))
        faster = read_solution(tmp_path / "driven.h5").flow_map.at({"flow.reynolds.center": 1000.0})
        assert faster.case["flow.forcing.pressure_gradient"] == pytest.approx(2 / 1000)
    (tmp_path / "other.h5").write_bytes(b"no HDF5")
    with pytest.raises(sluice.FileError, match=r"other.h5"):
        read_solution(tmp_path / "other.h5")
    case = couette((16, 16, 16))
    case["initial"] = {"type": "fields", "file": str(tmp_path / "lower.h5")}
    with sluice.Simulation(case) as sim:
        assert np.abs(sim.u.values - lower_branch.flow_map.space.fields(lower_branch.state)["u"]).max() < 1e-12


def test_the_fold_of_the_branch(lower_branch: Any) -> None:
    """Published: Re 218.5 (Gibson, Halcrow & Cvitanovic 2009); this grid is coarse."""
    parameter = "flow.reynolds.wall"
    branch = [lower_branch]
    for one in follow_branch(lower_branch, parameter, -60, points=20):
        branch.append(one)
        if branch[-1].parameter(parameter) > branch[-2].parameter(parameter):
            break
    fold = find_fold(branch[-3:], parameter, accuracy=1e-4)
    assert fold.parameter(parameter) < branch[-2].parameter(parameter)
    assert fold.parameter(parameter) == pytest.approx(218.5, rel=0.04)
    assert branch[-3].drag < fold.drag < branch[-1].drag
    with pytest.raises(sluice.UsageError, match="middle one"):
        find_fold(branch[:3], parameter)


def test_the_example_of_equilibria(
    lower_branch: Solution, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    main = runpy.run_path(str(EXAMPLES / "couette_equilibrium.py"))["main"]
    monkeypatch.setitem(main.__globals__, "lower_branch", lambda: lower_branch)
    file = tmp_path / "lower.h5"
    cells, rest = ["12", "16", "16"], ["--dt", "0.1", "--eigenvalues", "1", "--output", str(file)]
    monkeypatch.setattr("sys.argv", ["couette_equilibrium.py", "--cells", *cells, *rest])
    main()
    printed = re.search(r"norm (\S+), dissipation (\S+)\n.*\neigenvalues (\S+)\+0.000000j", capsys.readouterr().out)
    assert printed is not None
    norm, dissipation, growing = map(float, printed.groups())
    solution = read_solution(file)
    assert solution.norm == pytest.approx(norm, abs=1e-6) and solution.drag == pytest.approx(dissipation, abs=1e-6)
    assert norm == pytest.approx(lower_branch.norm, rel=0.05)
    assert growing == pytest.approx(0.0501, rel=0.15)
