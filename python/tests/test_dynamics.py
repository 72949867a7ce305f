"""Flow maps, their states and symmetries, errors of searches, lifetimes."""

from __future__ import annotations

import json
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
    ROTATION,
    SHIFT_REFLECT,
    FlowMap,
    Lifetimes,
    SearchError,
    Solution,
    Space,
    Symmetry,
    edge_state,
    find_solution,
    follow_branch,
    lifetimes,
    read_solution,
    write_solution,
)
from sluice.dynamics.krylov import gmres
from sluice.field import on_host

if sluice.precision != "double":
    pytest.skip("searches need double precision", allow_module_level=True)


@pytest.fixture(scope="module")
def small() -> Iterator[FlowMap]:
    with FlowMap(couette((8, 6, 10)), 1.0, dt=0.1) as made:
        yield made


def test_the_norm_is_that_of_kinetic_energy(small: FlowMap) -> None:
    state = small.project(waves(small))
    energy = small.diagnostics(state).kinetic_energy
    assert small.space.norm(state) ** 2 / 2 == pytest.approx(energy, rel=0.05)  # that of Sluice is of means at centres
    assert small.norm(small.laminar) == 0 and small.drag(small.laminar) == 1


def test_a_flow_map_has_the_bits_of_steps(small: FlowMap) -> None:
    state = small.project(waves(small))
    case = couette((8, 6, 10))
    case["time.dt"] = 0.1
    with sluice.Simulation(case, initial=dict(small.space.fields(state))) as sim:
        sim.step(10)
        expected = small.space.fields(small(state))
        for name, field in sim.fields.items():
            if name in expected:
                np.testing.assert_allclose(field.values, expected[name], rtol=0, atol=1e-13)


def test_projection(small: FlowMap) -> None:
    rough = small.laminar + 0.1 * small.space.random(3)
    state = small.project(rough)
    assert small.diagnostics(state).max_divergence < 1e-11
    assert small.space.norm(small.project(state) - state) < 1e-14
    assert abs(small.space.inner(rough - state, state - small.laminar)) < 1e-14  # it is orthogonal


@pytest.mark.parametrize(
    ("make", "symmetry"),
    [
        (couette, Symmetry(shift=(0.25, 0.5))),
        (couette, SHIFT_REFLECT),
        (couette, ROTATION),
        (couette, ROTATION @ SHIFT_REFLECT),
        (channel, Symmetry(y=-1)),
        (channel, Symmetry(z=-1, shift=(0.5, 0))),
    ],
)
def test_symmetries_commute_with_the_flow(make: Any, symmetry: Symmetry) -> None:
    with FlowMap(make((8, 6, 10)), 0.5, dt=0.05) as flow_map:
        space = flow_map.space
        state = flow_map.project(flow_map.laminar + 0.1 * space.random(7))
        image = space.apply(symmetry, state)
        assert space.norm(image - state) > 0.01
        assert space.norm(space.apply(symmetry, flow_map(state)) - flow_map(image)) < 1e-13
        again = state
        for _ in range(symmetry.order(8, 6)):
            again = space.apply(symmetry, again)
        assert np.array_equal(again, state)
        mean = space.symmetrize([symmetry], state)
        assert space.norm(space.apply(symmetry, mean) - mean) < 1e-15


def test_products_of_symmetries(small: FlowMap) -> None:
    space, state = small.space, small.space.random(1)
    for one in (ROTATION, Symmetry(y=-1, shift=(0.25, 0.5))):
        for other in (SHIFT_REFLECT, Symmetry(x=-1, z=-1, shift=(0.125, 0))):
            twice = space.apply(one, space.apply(other, state))
            assert np.array_equal(space.apply(one @ other, state), twice)


def test_the_laminar_flow_of_couette_has_its_symmetries(small: FlowMap) -> None:
    for symmetry in NAGATA:
        assert small.space.norm(small.space.apply(symmetry, small.laminar) - small.laminar) < 1e-15


def test_a_shift_by_parts_of_a_cell_is_refused(small: FlowMap) -> None:
    with pytest.raises(sluice.UsageError, match=r"0.3 of the box along x is 2.4 cells"):
        small.space.apply(Symmetry(shift=(0.3, 0)), small.laminar)
    with pytest.raises(ValueError, match="1 or -1"):
        Symmetry(x=2)


def test_derivatives_of_states_are_states(small: FlowMap) -> None:
    state = small.project(waves(small))
    space = small.space
    along = space.derivative(state, "x")
    x = np.arange(8) + 0.5
    v = space.unpack(space.sample(v=lambda x, y, z: np.sin(2 * np.pi / space.lengths[0] * x)))[1]
    found = space.unpack(space.derivative(space.pack(0, v, 0), "x"))[1]
    wave = 2 * np.pi / space.lengths[0]
    np.testing.assert_allclose(on_host(found[0, 0]), wave * np.cos(2 * np.pi * x / 8), atol=1e-13)
    assert small.diagnostics(small.laminar + along).max_divergence < 1e-11


@pytest.mark.parametrize("radius", [np.inf, 0.3])
def test_gmres_and_the_step_within_a_radius(radius: float) -> None:
    """Against a direct solution, and a minimum over the ball found by its condition of optimality."""
    numbers = np.random.default_rng(5)
    matrix = np.eye(20) + 0.3 * numbers.standard_normal((20, 20))
    right = numbers.standard_normal(20)
    basis = gmres(lambda x: matrix @ x, right, tolerance=1e-13, largest=40, xp=np)
    z, rest = basis.least_squares(radius)
    x = basis.vector(z)
    assert rest == pytest.approx(np.linalg.norm(right - matrix @ x), abs=1e-10)
    if np.isinf(radius):
        np.testing.assert_allclose(x, np.linalg.solve(matrix, right), rtol=1e-9)
    else:
        assert np.linalg.norm(x) == pytest.approx(radius, rel=1e-5)
        gradient = matrix.T @ (right - matrix @ x)  # parallel to x, outward
        assert gradient @ x == pytest.approx(np.linalg.norm(gradient) * np.linalg.norm(x), rel=1e-9)


def test_parameters(small: FlowMap) -> None:
    assert small.parameter("flow.reynolds.wall") == 400 and small.parameter("time") == 1
    other = small.at({"Lx": 5.0, "time": 2.0, "flow.reynolds.wall": 300.0})
    assert other.space.lengths[0] == pytest.approx(5) and other.dt == pytest.approx(0.2) and other.steps == small.steps
    assert small.space.lengths[0] == pytest.approx(2 * np.pi / 1.14)
    assert small.at({"time": 1.0}) is small
    with pytest.raises(sluice.UsageError, match=r"time.diffusion is 'explicit'"):
        small.parameter("time.diffusion")


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"time__diffusion": "implicit_z"}, "time.diffusion is implicit_z"),
        ({"walls__top__velocity": ["1+0.1*sin(t)", 0, 0]}, "walls.top changes in time"),
        ({"flow__forcing": {"pressure_gradient": "0.1*sin(t)"}}, "flow.forcing depends on time"),
        ({"scalars": [{"name": "heat", "walls": {"top": {"value": 1}}}]}, "scalars"),
    ],
)
def test_cases_that_have_no_flow_map(keys: dict[str, Any], message: str) -> None:
    with pytest.raises(sluice.UsageError, match=message):
        FlowMap(couette((8, 6, 10), **keys), 1.0, dt=0.1)


def test_a_search_finds_the_laminar_flow() -> None:
    with FlowMap(couette((8, 6, 10), 50), 4.0, dt=0.1) as flow_map:
        found = find_solution(flow_map, waves(flow_map, 0.02), tolerance=1e-12)
        assert found.residual <= 1e-12 and found.norm < 1e-9 and found.drag == pytest.approx(1, abs=1e-9)
        residuals = [one["residual"] for one in found.history]
        assert residuals == sorted(residuals, reverse=True)


def test_a_search_that_fails_gives_its_best_state(small: FlowMap) -> None:
    with pytest.raises(SearchError, match="not converged after 1 iterations") as caught:
        find_solution(small, waves(small), iterations=1)
    assert caught.value.solution.residual < 1 and caught.value.exit_code == 5


def test_a_file_with_an_unusable_solution(small: FlowMap, tmp_path: Path) -> None:
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "solution.h5"
    for key, value in (("case", ["flow: {type: nothing}", ""]), ("time", None), ("symmetries", [{"x": 1}])):
        write_solution(path, Solution(small, small.laminar, 0.0))
        with h5py.File(path, "a") as file:
            about = json.loads(file.attrs["solution"])
            file.attrs["solution"] = json.dumps({**about, key: value})
        with pytest.raises(sluice.FileError, match="Sluice cannot use the solution"):
            read_solution(path)


def test_the_laminar_flow_has_no_branch_to_follow(small: FlowMap) -> None:
    laminar = find_solution(small, small.project(waves(small, 1e-4)))
    assert laminar.norm < 1e-6
    with pytest.raises(sluice.UsageError, match="the laminar flow"):
        next(follow_branch(laminar, "flow.reynolds.wall", 10))


def test_symmetries_that_the_flow_does_not_have_are_refused(small: FlowMap) -> None:
    with (
        FlowMap(channel((8, 6, 10)), 0.5, dt=0.05, symmetries=Symmetry(x=-1)) as flow_map,
        pytest.raises(sluice.UsageError, match="left the subspace"),
    ):
        find_solution(flow_map, flow_map.laminar)
    with pytest.raises(sluice.UsageError, match=r"cells, no whole number"):
        FlowMap(couette((8, 6, 10)), 1.0, dt=0.1, symmetries=[Symmetry(shift=(0.3, 0))])
    with (
        FlowMap(couette((8, 6, 10)), 1.0, dt=0.1, symmetries=NAGATA) as held,
        pytest.raises(sluice.UsageError, match="hold solutions in place"),
    ):
        find_solution(held, waves(held), ["grid.velocity"])


def test_a_group_of_symmetries_is_averaged_once(small: FlowMap) -> None:
    """Two reflections at different places make a shift."""
    both = [Symmetry(y=-1), Symmetry(y=-1, shift=(0, 1 / 3))]
    space = small.space
    mean = space.symmetrize(both, space.random(4))
    for symmetry in (*both, both[0] @ both[1]):
        assert space.norm(space.apply(symmetry, mean) - mean) < 1e-14
    assert space.norm(space.symmetrize(both, mean) - mean) < 1e-14 < space.norm(mean)


def test_what_is_no_parameter_or_state(small: FlowMap) -> None:
    with pytest.raises(sluice.UsageError, match="no key 'Re'"):
        find_solution(small, waves(small), ["Re"])
    with pytest.raises(sluice.UsageError, match="time cannot be -1"):
        small.at({"time": -1.0})
    with pytest.raises(ValueError, match=r"an array of shape \(1440,\), not list"):
        small([1.0, 2.0])
    with pytest.raises(sluice.UsageError, match="does not vary along x"):
        find_solution(small, small.laminar, ["grid.velocity"])


def test_edges_need_flows_on_both_sides(small: FlowMap) -> None:
    with pytest.raises(sluice.UsageError, match="falls below"):
        edge_state(small, waves(small, 0.001), low=0.01, high=0.4)
    with pytest.raises(sluice.UsageError, match="together < apart"):
        edge_state(small, waves(small), low=0.01, high=0.4, apart=1e-6)
    with pytest.raises(sluice.UsageError, match="0 <= low < high"):
        edge_state(small, waves(small), low=0.5, high=0.4)


def test_lifetimes_of_an_exponential_distribution() -> None:
    lives = np.random.default_rng(2).exponential(100, 4000)
    found = Lifetimes(np.minimum(lives, 150), lives < 150)
    mean, low, high = found.mean()
    assert low < 100 < high and mean == pytest.approx(100, rel=0.05) and high - low < 10
    assert found.mean(after=50)[0] == pytest.approx(100, rel=0.08)
    times, survival = found.survival()
    np.testing.assert_allclose(survival, np.exp(-times / 100), atol=0.03)
    with pytest.raises(sluice.UsageError, match="no flow became laminar"):
        Lifetimes(np.ones(3), np.zeros(3, bool)).mean()


def test_lifetimes_of_flows() -> None:
    case = couette((8, 8, 10), 60)
    case["time.dt"] = 0.1
    case["initial"] = {"type": "turbulent", "seed": 1, "amplitude": 0.2}
    with sluice.Ensemble(case, 3) as ensemble:
        found = lifetimes(ensemble, until=500.0, below=1e-5, every=20)
    assert found.ended.all() and (found.times > 5).all() and (found.times < 400).all()


def test_more_than_one_process_is_refused(small: FlowMap) -> None:
    class Many:
        size = 2

    with pytest.raises(sluice.UsageError, match="one process, and this simulation has 2"):
        Space(Many())  # type: ignore[arg-type]
