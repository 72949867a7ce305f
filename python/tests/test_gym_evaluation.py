"""Drag reduction and net saving with intervals, from series whose answer is known and from flows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from gym_case import CACHE, config

from sluice.gym import Config, Jets, evaluate
from sluice.gym.baselines import main
from sluice.gym.evaluation import Series, compare, record
from sluice.gym.intervals import estimate, half_width, independent_samples, ratio, student, transient_end
from sluice.gym.policies import NoControl, Opposition, Oscillation, UpstreamWave


def correlated(rng: np.random.Generator, members: int, count: int, memory: float) -> Any:
    """Members of a series of mean 0 and variance 1 that forgets as memory**n."""
    noise = rng.standard_normal((members, count + 1))
    series = noise.copy()
    for n in range(1, count + 1):
        series[:, n] = memory * series[:, n - 1] + np.sqrt(1 - memory**2) * noise[:, n]
    return series[:, 1:]


@pytest.mark.parametrize(("members", "count"), [(1, 400), (2, 300), (8, 200)])
def test_intervals_hold_the_mean_as_often_as_they_say(members: int, count: int) -> None:
    rng = np.random.default_rng(1)
    held = 0
    for _ in range(400):
        found = estimate(correlated(rng, members, count, 0.85))
        held += abs(found.mean) < found.half_width
    assert 0.91 < held / 400 < 0.98


def test_the_interval_of_a_ratio_of_paired_series() -> None:
    """What both series share cancels."""
    rng = np.random.default_rng(2)
    shared = 10 + correlated(rng, 4, 500, 0.9)
    found = ratio(0.8 * shared, shared)
    assert found.mean == pytest.approx(0.8) and found.half_width < 1e-12
    own = ratio(0.8 * shared + 0.1 * correlated(rng, 4, 500, 0.9), shared)
    assert 0.0005 < own.half_width < 0.01 and abs(own.mean - 0.8) < 2 * own.half_width


def test_independent_samples_of_known_series() -> None:
    rng = np.random.default_rng(3)
    for memory in (0.0, 0.5, 0.9):
        found = np.mean([independent_samples(correlated(rng, 4, 1000, memory)) for _ in range(20)])
        assert found == pytest.approx(4000 * (1 - memory) / (1 + memory), rel=0.15)
    assert independent_samples(np.ones((2, 10))) == 20
    assert half_width(np.ones((1, 1))) == np.inf
    assert [student(n) for n in (1, 10, 11, 30, 10**6)] == pytest.approx(
        [12.7062, 2.2281, 2.2010, 2.0423, 1.95996], rel=1e-3
    )


def test_the_transient_is_found() -> None:
    rng = np.random.default_rng(4)
    time = np.arange(400)
    series = np.exp(-time / 20) * 3 + 0.2 * correlated(rng, 4, 400, 0.5)
    cut, ends = transient_end(series)
    assert ends and 40 <= cut <= 150
    cut, ends = transient_end(5 - time / 100 + 0.01 * correlated(rng, 4, 400, 0.5))
    assert not ends


def test_a_comparison_with_a_known_answer() -> None:
    rng = np.random.default_rng(5)
    time = np.arange(600)
    without = 1 + 0.05 * correlated(rng, 6, 600, 0.9)
    drag = 0.75 + 0.25 * np.exp(-time / 15) + 0.05 * correlated(rng, 6, 600, 0.9)
    power = np.full(drag.shape, 1.5)  # 10 % of the drag times the bulk velocity
    reference = Series(without, np.zeros_like(power), 15.0, 5.0)
    found = compare(Series(drag, power, 15.0, 5.0), reference)
    assert found.drag_reduction.half_width < 0.02
    assert abs(found.drag_reduction.mean - 0.25) < 1.5 * found.drag_reduction.half_width
    assert found.net_saving.mean == pytest.approx(found.drag_reduction.mean - 0.1, abs=0.005)
    assert 100 < found.transient < 1500 and found.is_long_enough and found.statement.startswith("long enough")
    short = compare(Series(drag[:1, :40], power[:1, :40], 15.0, 5.0), Series(without[:1, :40], power, 15.0, 5.0))
    assert not short.is_long_enough and "20 are needed" in short.statement
    assert compare(Series(drag, power, 15.0, 5.0), reference, transient=500).transient == 500
    drag[2, 300:] = np.nan
    lost = compare(Series(drag, power, 15.0, 5.0, (2,)), reference)
    assert lost.blow_ups == (2,) and not lost.is_long_enough and "members 2" in lost.statement
    assert lost.drag_reduction.mean == pytest.approx(0.25, abs=0.03)
    every = compare(Series(drag, power, 15.0, 5.0, tuple(range(6))), reference)
    assert np.isnan(every.drag_reduction.mean) and not every.is_long_enough


def test_policies_in_flows() -> None:
    settings = config()
    reference = record(None, settings, 2, 40)
    assert reference.drag.shape == (2, 10) and not reference.power.any()
    idle = evaluate(NoControl(), settings, 2, 40, reference=reference)
    assert idle.drag_reduction.mean == 0 and idle.drag_reduction.half_width == 0
    zero = evaluate(lambda seen: np.zeros((2, 12, 16)), settings, 2, 40, reference=reference)
    assert zero.drag_reduction.mean == 0
    for policy in (Opposition(), Oscillation(), UpstreamWave()):
        series = record(policy, settings, 2, 40)
        assert np.isfinite(series.drag).all() and series.power.any(), policy.name
    by_case, by_response = (record(Opposition(), settings, 2, 40, form) for form in ("actuation", "response"))
    assert np.array_equal(by_case.drag, by_response.drag) and np.array_equal(by_case.power, by_response.power)
    held = record(Oscillation(period=20), settings, 2, 40, "held")
    smooth = record(Oscillation(period=20), settings, 2, 40, "actuation")
    assert not np.array_equal(held.drag, smooth.drag)

    class Batched:
        batched = True

        def __call__(self, seen: Any) -> Any:
            assert seen.shape == (2, 2, 12, 16)
            return -seen

    config_of_limit: Config = config(action=Jets(limit=5.0))
    batched = record(Batched(), config_of_limit, 2, 40)
    assert np.array_equal(batched.drag, record(Opposition(), config_of_limit, 2, 40, "held").drag)
    with pytest.raises(ValueError, match="no response"):
        record(Oscillation(), settings, 2, 40, "response")
    with pytest.raises(ValueError, match="4 members need as many states"):
        record(None, settings, 4, 40)


def test_the_command_of_the_baselines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from gym_case import CASE

    case = tmp_path / "case.yaml"
    case.write_text(json.dumps(CASE))
    common = ["--case", str(case), "--cache", str(CACHE), "--transient", "0.5", "--separation", "0.2", "--states", "3"]
    results = tmp_path / "out.json"
    assert main([*common, "--members", "2", "--horizon", "30", "--json", str(results)]) == 0
    printed = capsys.readouterr().out
    found = json.loads(results.read_text())["baselines"]
    assert list(found) == ["none", "opposition", "oscillation", "upstream_wave"]
    assert all(name in printed for name in found) and "published, opposition" in printed
    assert found["oscillation"]["net_saving"]["mean"] < found["oscillation"]["drag_reduction"]["mean"]

    from sluice.gym.bench import main as bench

    assert bench([*common, "--members", "1", "2", "--steps", "2", "--json", str(results)]) == 0
    assert [one["members"] for one in json.loads(results.read_text())] == [1, 2]
    assert "environment steps/s" in capsys.readouterr().out
