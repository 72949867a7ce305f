"""Planes and walls of several simulations at once have the bits of single reads and assignments."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import assert_same, fields_of

import sluice
from sluice.together import wall_means

PLANES: list[tuple[str, float | str]] = [
    ("w", 0.1), ("u", 0), ("w", "top"), ("p", 1), ("u", 2), ("v", "bottom"), ("heat", 0.3), ("u", "top")
]  # fmt: skip
WALLS = [("w", "bottom"), ("v", "top"), ("w", "top")]


def case(**settings: Any) -> sluice.Case:
    made = sluice.Case("quickstart")
    made["grid.cells"] = [10, 7, 12]
    made["time.end"] = 1
    made["scalars"] = [{"name": "heat", "prandtl": 0.71, "walls": {"top": {"value": 1}}}]
    made["walls.top"] = {"velocity": [0.3, 0, 0]}
    for key, value in settings.items():
        made[key] = value
    return made


def three() -> list[sluice.Simulation]:
    return [sluice.Simulation(case(**{"initial.seed": seed})) for seed in (1, 2, 3)]


@pytest.fixture
def simulations() -> Iterator[list[sluice.Simulation]]:
    made = three()
    yield made
    for simulation in made:
        simulation.close()


def single(simulation: sluice.Simulation, name: str, place: float | str) -> Any:
    if isinstance(place, str):
        return getattr(simulation.walls[place], name).values
    return simulation.plane(name, z=place).values


def some_values(count: int, seed: int = 0) -> Any:
    """Of `WALLS`; w has no mean."""
    values = np.random.default_rng(seed).uniform(-0.01, 0.01, (count, 3, 7, 10))
    return values - values.mean(axis=(2, 3), keepdims=True)


def test_planes_have_the_bits_of_single_reads(simulations: list[sluice.Simulation]) -> None:
    """Of steps that differ, of flows that were read before or not, and of velocities of walls that wait."""
    others = three()
    for count in (0, 1, 2):
        for same in (simulations, others):
            for n, simulation in enumerate(same):
                simulation.step(count * n)
                simulation.walls["bottom"].v[...] = 0.01 * n
        found = sluice.read_together(simulations, PLANES)
        assert found.shape == (3, len(PLANES), 7, 10) and found.dtype == simulations[0].u.dtype
        for values, simulation in zip(found, others, strict=True):
            for plane, (name, place) in zip(values, PLANES, strict=True):
                np.testing.assert_array_equal(plane, single(simulation, name, place))
        kept = found.copy()
        part = sluice.read_together(simulations[1:], [("p", 1), ("w", "top"), ("p", 1)])
        np.testing.assert_array_equal(part, found[1:, [3, 2, 3]])
        np.testing.assert_array_equal(found, kept)  # it is a copy
    assert sluice.read_together(simulations, []).shape == (3, 0, 7, 10)
    for simulation in others:
        simulation.close()


def test_reading_does_not_change_the_flow(simulations: list[sluice.Simulation]) -> None:
    first, second = simulations[:2]
    with sluice.Simulation(case(**{"initial.seed": 2})) as alone:
        for _ in range(3):
            sluice.step_together([first, second])
            sluice.read_together([first, second], PLANES)
            alone.step()
        assert_same(fields_of(alone), fields_of(second))


def test_a_response_may_read_planes(simulations: list[sluice.Simulation]) -> None:
    @simulations[0].walls["top"].response(remove_mean=True)
    def respond(sim: sluice.Simulation) -> Any:
        (values,) = sluice.read_together([sim], [("w", 1.5), ("u", 1.5)])
        np.testing.assert_array_equal(values, [sim.plane("w", z=1.5).values, sim.plane("u", z=1.5).values])
        return -values[0]

    assert sluice.step_together(simulations, 2) == [None] * 3


def test_walls_have_the_bits_of_assignments(simulations: list[sluice.Simulation]) -> None:
    values = some_values(2)
    sluice.set_walls_together(simulations[:2], WALLS, values)
    simulations[0].step(2)
    with sluice.Simulation(case(**{"initial.seed": 1})) as alone:
        for (name, side), plane in zip(WALLS, values[0], strict=True):
            getattr(alone.walls[side], name)[...] = plane
        alone.step(2)
        assert_same(fields_of(alone), fields_of(simulations[0]))
    waiting = simulations[1].walls["top"].v.values
    np.testing.assert_array_equal(waiting, values[1, 1].astype(waiting.dtype))
    assert not simulations[2].walls["top"].v.values.any()
    sluice.set_walls_together(simulations, [("v", "bottom")], 0.25)
    assert all((simulation.walls["bottom"].v.values == 0.25).all() for simulation in simulations)


def test_means_are_those_of_walls(simulations: list[sluice.Simulation]) -> None:
    values = 1 + some_values(3)[:, :2]
    found = wall_means(simulations, ["top", "bottom"], values)
    for n, simulation in enumerate(simulations):
        means = [simulation.walls[side].mean(values[n, k]) for k, side in enumerate(("top", "bottom"))]
        assert found[n].tolist() == means


def test_reads_that_are_refused(simulations: list[sluice.Simulation]) -> None:
    first, second, _ = simulations
    with pytest.raises(sluice.UsageError, match="read together with itself"):
        sluice.read_together([first, first], PLANES)
    with pytest.raises(sluice.UsageError, match="at least one simulation"):
        sluice.read_together([], PLANES)
    wrong: dict[str, tuple[str, Any]] = {
        "there is no field 'q'": ("q", 1.0),
        "outside of the flow": ("w", 2.5),
        "there is no wall 'left'": ("w", "left"),
        "u, v and w, and not 'p'": ("p", "top"),
    }
    for message, plane in wrong.items():
        with pytest.raises(sluice.UsageError, match=message):
            sluice.read_together([first, second], [("w", 1.0), plane])
    other = sluice.Simulation(case(**{"grid.cells": [12, 7, 12]}))
    with pytest.raises(sluice.UsageError, match="different shapes"):
        sluice.read_together([first, other], PLANES)
    other.close()
    with pytest.raises(sluice.UsageError, match="closed"):
        sluice.read_together([first, other], PLANES)
    with pytest.raises((TypeError, ValueError)):
        sluice.read_together([first], [("w", None)])  # type: ignore[list-item]
    np.testing.assert_array_equal(sluice.read_together([first], [("w", 1.0)])[0, 0], first.plane("w", z=1.0).values)


def test_walls_that_cannot_be_set(simulations: list[sluice.Simulation]) -> None:
    """Then none is."""
    first, second, third = simulations
    third.walls["top"].response(lambda sim: -sim.plane("w", z=1.0).values, remove_mean=True)
    with pytest.raises(sluice.UsageError, match="set by its response"):
        sluice.set_walls_together(simulations, WALLS, some_values(3))
    wrong = some_values(2)
    wrong[1, 2, 3, 4] = np.nan
    for values in (wrong, np.inf):
        with pytest.raises(ValueError, match="a value is not finite"):
            sluice.set_walls_together([first, second], WALLS, values)
    with pytest.raises(ValueError, match=r"shape \(2, 3, 7, 10\), their place \(2, 1, 7, 10\)"):
        sluice.set_walls_together([first, second], WALLS[:1], some_values(2))
    with pytest.raises(TypeError, match="real numbers"):
        sluice.set_walls_together([first, second], WALLS, 1j)
    with pytest.raises(sluice.UsageError, match="once at a time"):
        sluice.set_walls_together([first, second], [WALLS[0]] * 2, 0.0)
    with pytest.raises(sluice.UsageError, match="there is no wall 'left'"):
        sluice.set_walls_together([first, second], [WALLS[0], ("v", "left")], 0.0)
    with pytest.raises(sluice.UsageError, match="set together with itself"):
        sluice.set_walls_together([first, first], WALLS, some_values(2))
    for simulation in simulations:
        for name, side in WALLS:
            assert not getattr(simulation.walls[side], name).values.any()
