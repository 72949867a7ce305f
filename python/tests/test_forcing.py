"""Mean forces that Python sets."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from conftest import assert_same, fields_of

import sluice


def test_forcing(channel: sluice.Case) -> None:
    with sluice.Simulation(channel) as sim:
        assert list(sim.forcing) == ["streamwise", "spanwise"]
        assert (sim.forcing["streamwise"].kind, sim.forcing["streamwise"].value) == ("bulk_velocity", 1)
        assert sim.forcing["spanwise"] == sluice.Driving("none", 0, 0)
        sim.step()
        sim.forcing["streamwise"] = 1.25
        sim.forcing["spanwise"] = 0.02
        sim.step()
        assert sim.diagnostics.bulk_velocity == pytest.approx(1.25, rel=1e-12)
        assert sim.forcing["spanwise"] == sluice.Driving("pressure_gradient", 0.02, pytest.approx(0.02))
        assert sim.forcing["streamwise"].force > 0.1
        before = sim.v.values.mean()
        sim.step()
        assert sim.v.values.mean() > before
    channel["flow.forcing"] = {"power": 0.01}
    channel["flow.spanwise_forcing"] = {"pressure_gradient": "0.5*t"}
    with sluice.Simulation(channel) as sim:
        sim.step(2)
        assert sim.forcing["streamwise"].kind == "power"
        assert sim.forcing["spanwise"].value == pytest.approx(0.5 * sim.time)
        with pytest.raises(sluice.UsageError, match=r"flow\.forcing.*> 0"):
            sim.forcing["streamwise"] = -1
        sim.forcing["streamwise"] = 0.02
        sim.forcing["spanwise"] = 0.25
        sim.step()
        assert sim.forcing["spanwise"].force == pytest.approx(0.25)


def test_a_given_spanwise_force_is_one_of_the_case(channel: sluice.Case) -> None:
    given = channel.copy()
    given["flow.spanwise_forcing"] = {"pressure_gradient": 0.02}
    with sluice.Simulation(given) as sim, sluice.Simulation(channel) as other:
        other.forcing["spanwise"] = 0.02
        sim.step(3)
        other.step(3)
        assert_same(fields_of(sim), fields_of(other))


def test_a_snapshot_of_another_flow_leaves_the_driving_of_the_case(channel: sluice.Case) -> None:
    driven = channel.copy()
    driven["flow.spanwise_forcing"] = {"pressure_gradient": 0.01}
    with sluice.Simulation(channel) as sim, sluice.Simulation(driven) as other:
        sim.step()
        other.restore(sim.snapshot())
        assert other.forcing["spanwise"].value == 0.01
        sim.forcing["spanwise"] = 0.02
        other.restore(sim.snapshot())
        assert other.forcing["spanwise"].value == 0.02


WRONG: dict[str, tuple[Callable[[sluice.Simulation], object], type[Exception], str]] = {
    "direction": (lambda sim: sim.forcing["up"], sluice.UsageError, "streamwise, spanwise"),
    "forcing": (lambda sim: sim.forcing.__setitem__("streamwise", np.inf), ValueError, "finite"),
    "forcing text": (lambda sim: sim.forcing.__setitem__("spanwise", "strong"), ValueError, "strong"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_refused(what: str, sim: sluice.Simulation) -> None:
    call, error, message = WRONG[what]
    before = sim.forcing["streamwise"], sim.forcing["spanwise"]
    with pytest.raises(error, match=message):
        call(sim)
    assert (sim.forcing["streamwise"], sim.forcing["spanwise"]) == before
    sim.step()
