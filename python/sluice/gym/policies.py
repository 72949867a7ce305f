"""Controls that are known from the literature, as policies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..simulation import Simulation
from .acting import Respond, device_array
from .config import Action, Jets, SpanwiseMotion
from .states import WallUnits


class Policy:
    """What an environment and `evaluate` can use: a function of the observation, and of `info` if it asks for it.

    Any callable will do; a policy may also have the other members of this class.
    """

    name = "policy"
    uses_info = False
    """Whether it is called with (observation, info), where info["time"] is the time since the start."""
    batched = False
    """Whether it is called once with the observations of all members, the members first."""
    action: Action | None = None
    """The kind of action that it needs; None: that of the configuration."""

    def __call__(self, observation: Any, *info: Any) -> Any:
        """The action, in wall units, which is held until the next one."""
        raise NotImplementedError

    def response(self, side: str, units: WallUnits) -> Respond | None:
        """The same as a function that sets w of a wall in U at every Runge-Kutta substep (Wall.response); or None."""
        return None

    def actuation(self, side: str, units: WallUnits) -> dict[str, Any] | None:
        """The same as the key walls.SIDE.actuation of a case; or None."""
        return None


@dataclass
class NoControl(Policy):
    """The walls do nothing."""

    name = "none"
    shape: tuple[int, ...] = (1,)

    def __call__(self, observation: Any, *info: Any) -> Any:
        """Zeros of `shape`, the shape of the action."""
        return np.zeros(self.shape)

    def actuation(self, side: str, units: WallUnits) -> dict[str, Any] | None:
        """No actuation: an empty dict."""
        return {}


@dataclass
class Opposition(Policy):
    """w of the wall is -gain times w at a height: Choi, Moin & Kim, J. Fluid Mech. 262, 75 (1994)."""

    height: float = 15.0
    """In wall units."""
    gain: float = 1.0
    planes: int = 1
    """Planes that are observed at each wall, the first of which is w at the height. For calls with observations."""
    name = "opposition"

    def __post_init__(self) -> None:
        self.action = Jets(limit=5.0)

    def __call__(self, observation: Any, *info: Any) -> Any:
        """The opposite of the first plane of each wall: of cells or of patches, as the action is."""
        return -self.gain * np.asarray(observation)[:: self.planes]

    def response(self, side: str, units: WallUnits) -> Respond:
        """With the gain 1, it has the bits of `opposition_control` in a case on CPUs, unless the limit clips it."""
        z = self.height * units.length
        z, gain = (z if side == "bottom" else units.lz - z), self.gain

        def oppose(sim: Simulation) -> Any:
            return -gain * device_array(sim.plane("w", z=z))

        return oppose

    def actuation(self, side: str, units: WallUnits) -> dict[str, Any]:
        """The same height and gain in a case file."""
        return {"type": "opposition_control", "amplitude": self.gain, "height": self.height * units.length}


@dataclass
class Oscillation(Policy):
    """v of both walls is amplitude sin(2 pi t/period): Jung, Mangiavacchi & Akhavan, Phys. Fluids A 4, 1605 (1992)."""

    amplitude: float = 12.0
    period: float = 100.0
    shape: tuple[int, ...] = (2, 1, 1)
    """Of the action, for calls."""
    name = "oscillation"
    uses_info = True

    def __post_init__(self) -> None:
        self.action = SpanwiseMotion()

    def __call__(self, observation: Any, *info: Any) -> Any:
        """Held over the interval, with the value at its start."""
        return np.full(self.shape, self.amplitude * np.sin(2 * np.pi * info[0]["time"] / self.period))

    def actuation(self, side: str, units: WallUnits) -> dict[str, Any]:
        """Smooth in time."""
        return {"type": "oscillation", "amplitude": self.amplitude * units.u_tau, "period": self.period * units.time}


@dataclass
class UpstreamWave(Policy):
    """Blowing and suction as a wave that travels upstream: Min, Kang, Speyer & Kim, J. Fluid Mech. 558, 309 (2006).

    w = amplitude sin(2 pi (x + speed t)/wavelength), into the fluid on both walls alike. Amplitude and speed are in
    units of 1.5 times the bulk velocity, as in that work.
    """

    amplitude: float = 0.05
    speed: float = 2.0
    waves: int = 1
    """In the length of the box."""
    length: float = np.pi
    """Of the box along x, in h."""
    name = "upstream_wave"

    def __post_init__(self) -> None:
        self.action = Jets(limit=5.0)

    def __call__(self, observation: Any, *info: Any) -> Any:
        """A wave is known to cases only: use `evaluate` or ControlledFlows(walls=...)."""
        raise TypeError("the wave is an actuation of the case: use evaluate")

    def actuation(self, side: str, units: WallUnits) -> dict[str, Any]:
        """Blowing on both walls at the same x."""
        centre = 1.5 * units.bulk_velocity
        return {
            "type": "blowing_suction",
            "amplitude": (1 if side == "bottom" else -1) * self.amplitude * centre,
            "wavelength_x": self.length / self.waves,
            "speed": self.speed * centre,
            "direction": "backward",
        }
