"""Transients must be found, and stationary noise must rarely be taken for a transient."""

from dataclasses import replace

import numpy as np
import pytest
import synthetic

from sluice_post.results import evaluate, summary_text
from sluice_post.run import load_run
from sluice_post.stationarity import SMALLEST_CHANGE, Departure, Stationarity, stationarity_of
from sluice_post.statistics import Blocks
from sluice_post.verdicts import verdicts

BLOCKS = 16
FLOW = synthetic.Flow(cells=(8, 8, 48))
MEAN = synthetic.turbulent_profiles(FLOW)
FORCE = FLOW.u_tau**2


def run_of(tmp_path, factors, samples=100):
    """A run whose blocks have u, the wall stress and the variances of the model flow times these factors."""
    blocks = []
    for u, stress, variance in factors:
        block = dict(MEAN)
        for name in "uvw":
            mean = MEAN[name] * (u if name == "u" else 1)
            block[name * 2] = mean**2 + variance * (MEAN[name * 2] - MEAN[name] ** 2)
            block[name] = mean
        block["tau_xz"] = MEAN["tau_xz"] * stress
        blocks.append(block)
    synthetic.write_statistics(tmp_path / "statistics.h5", FLOW, blocks, samples=samples)
    return evaluate(load_run(tmp_path))


def noise(seed, amplitude=0.01):
    """Factors that are correlated from block to block, as blocks of a turbulent flow are."""
    rng = np.random.default_rng(seed)
    series = np.zeros((BLOCKS + 20, 3))
    for n in range(1, len(series)):
        series[n] = 0.3 * series[n - 1] + rng.normal(size=3)
    return 1 + amplitude * series[20:]


def test_a_rising_bulk_velocity_is_found(tmp_path):
    factors = noise(1)
    factors[:, 0] *= np.linspace(0.97, 1.03, BLOCKS)
    results = run_of(tmp_path, factors)
    (moved,) = (one for one in results.stationarity.changes if one.is_certain)
    assert moved.name == "U_b"
    assert moved.value == pytest.approx(0.032, abs=moved.half_width)
    text = summary_text(results)
    assert "not stationary: U_b rose by" in text and "the averages are of a transient" in text


def test_a_steady_flow_is_not_called_a_transient(tmp_path):
    results = run_of(tmp_path, noise(1))
    assert results.stationarity.signs() == ""
    assert "stationary" not in summary_text(results)


def test_false_alarms_are_rare(tmp_path):
    """With 99 % intervals, each of three figures of 16 blocks gives about 1 % of false alarms."""
    results = run_of(tmp_path, np.ones((BLOCKS, 3)))
    parameters, flow, blocks = results.run.parameters, results.flow, results.run.blocks
    count = 300
    found = [stationarity_of(with_series(blocks, noise(seed, 0.03)), parameters, flow) for seed in range(count)]
    alarms = sum(any(one.is_certain for one in each.changes) for each in found)
    assert 1 <= alarms <= 0.04 * count


def with_series(blocks: Blocks, series) -> Blocks:
    """The blocks of a steady run, with u, the wall stress and <v^2> multiplied by the three series."""
    u, stress, variance = (column[:, None] for column in series.T)
    centre = dict(blocks.centre)
    mean = centre["u"] / blocks.samples[:, None]
    centre["uu"] = centre["uu"] + (u**2 - 1) * mean**2 * blocks.samples[:, None]
    centre["u"] = centre["u"] * u
    centre["vv"] = centre["vv"] * variance
    face = {**blocks.face, "tau_xz": blocks.face["tau_xz"] * stress}
    return replace(blocks, centre=centre, face=face)


def test_too_few_blocks_tell_nothing(tmp_path):
    results = run_of(tmp_path, noise(1)[:3])
    assert results.stationarity.changes == ()


def test_walls_that_do_not_carry_the_force():
    carried = Departure("the driving force", -0.027, 0.018, 0.026)
    found = Stationarity((), carried)
    assert found.signs() == "the walls carry 97.3 +- 1.8 % of the driving force"
    assert Stationarity((), Departure("the driving force", -0.6 * SMALLEST_CHANGE, 0.0, 0.0)).signs() == ""
    assert Stationarity((), Departure("the driving force", -0.027, np.nan, np.nan)).signs() == ""


def test_scalars_whose_fluxes_do_not_balance():
    off = (Departure("heat", -0.1, 0.013, 0.02),)
    found = Stationarity((), None, off, frozenset({"heat"}))
    assert found.signs() == "the wall fluxes and the source of heat differ by 10.0 +- 1.3 %"
    assert Stationarity((), None, off).signs() == "the wall fluxes of heat differ by 10.0 +- 1.3 %"  # no source
    assert found.conclusion == "the averages of heat are of a transient"


def test_flows_without_a_mean_flow_are_judged_by_their_fluctuations(tmp_path):
    """In convection U_b and the wall stress are round-off, so their changes mean nothing."""
    results = run_of(tmp_path, noise(1))
    parameters, blocks = results.run.parameters, results.run.blocks
    centre = blocks.centre | {"u": 1e-14 * blocks.centre["u"], "uu": blocks.centre["vv"]}
    face = blocks.face | {"tau_xz": 1e-14 * blocks.face["tau_xz"]}
    still = replace(blocks, centre=centre, face=face, forcing=0 * blocks.forcing)
    found = stationarity_of(still, parameters, results.flow)
    assert [one.name for one in found.changes] == ["k"]


def test_an_ekman_layer_is_judged_by_its_whole_wall_stress(tmp_path):
    """Not by its component along x, nor by the bulk velocity, which depends on the height of the domain."""
    results = run_of(tmp_path, np.ones((BLOCKS, 3)))
    parameters, blocks = results.run.parameters, results.run.blocks
    sampled = {"flow.rotation.geostrophic": "[0, 1]"}
    layer = replace(parameters, rotation=(0.0, 0.0, 0.1), sampled=sampled)
    rising = 2 * np.linspace(0.9, 1.1, BLOCKS)[:, None]
    face = blocks.face | {"tau_yz": rising * blocks.face["tau_xz"]}
    found = stationarity_of(replace(blocks, face=face), layer, replace(results.flow, rotation=(0, 0, 0.1)))
    first, last = rising[:8].mean(), rising[8:].mean()
    stress, energy = found.changes
    assert (stress.name, energy.name) == ("the wall stress", "k")
    assert stress.is_certain
    assert stress.value == pytest.approx(np.hypot(1, last) / np.hypot(1, first) - 1)


def test_several_changes_are_listed():
    changes = tuple(Departure(name, 0.1, 0.01, 0.02) for name in ("U_b", "the wall stress", "k"))
    words = "U_b rose by 10.0 +- 1.0 %, the wall stress rose by 10.0 +- 1.0 % and k rose by 10.0 +- 1.0 % from"
    assert Stationarity(changes, None).signs().startswith(words)


def test_a_flow_without_anything_to_compare(tmp_path):
    results = run_of(tmp_path, noise(1))
    answers = dict(verdicts(replace(results, stationarity=Stationarity((), None))))
    assert answers["Stationary?"] == "Not known: nothing in this flow can be compared."
