"""What agents do to a flow: jets, moving walls, forces near walls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..simulation import Simulation
from .config import BodyForce, Config, Jets
from .layout import Layout
from .reading import Array, ForceLayer, WallReader
from .states import WallUnits

UNIFORM = 1e-9
"""Jets that differ from their mean by less than this fraction are uniform, and do nothing."""
Respond = Callable[[Simulation], Any]
"""As of Wall.response: w of a wall in U, from the simulation."""


def device_array(plane: Any) -> Any:
    """A plane of the flow: on GPUs, with CuPy or PyTorch, in the memory of the device; otherwise a NumPy array."""
    if _core.is_gpu:
        for module in ("cupy", "torch"):
            try:
                return __import__(module).from_dlpack(plane)
            except ImportError:
                continue
    return plane.values


def checked_action(values: Any, shape: tuple[int, ...], agent: str) -> Array:
    """An action of this shape. Raises ValueError, which names the agent and the value."""
    try:
        given = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the action of {agent} must be an array of numbers, not {values!r:.60}") from error
    if given.shape != shape:
        raise ValueError(f"the action of {agent} has the shape {given.shape}, not {shape}")
    if not np.isfinite(given).all():
        where = tuple(int(n) for n in np.argwhere(~np.isfinite(given))[0])
        raise ValueError(f"the action of {agent} is {given[where]} at {list(where)}: it must be finite")
    return given


class Actor:
    """Brings the actions of a configuration to the walls of one simulation."""

    def __init__(self, sim: Simulation, config: Config, layout: Layout, readers: list[WallReader], units: WallUnits):
        self._sim, self._config, self._layout, self._readers, self._units = sim, config, layout, readers, units
        self._responds = False
        self._clipped: Any = 0
        self._asked = 0
        self._force: Any = None
        self._amplitudes = np.zeros((len(readers), *layout.cells))
        self._layers: list[ForceLayer] = []
        if isinstance(config.action, BodyForce):
            self._layers = [ForceLayer(sim, reader.side, config.action, units) for reader in readers]
            component: dict[str, Any] = {config.action.component: 0.0}
            self._force = sim.add_force(**component)

    def rest(self) -> None:
        """Ends all actions: no responses, no force. The walls are those of the state that is restored next."""
        if self._responds:
            for reader in self._readers:
                self._sim.walls[reader.side].response(None)
            self._responds = False
        if self._force is not None:
            self._set_force(np.zeros_like(self._amplitudes))
        self._clipped, self._asked = 0, 0

    def act(self, values: Array) -> None:
        """Holds an action (walls, patches along y, patches along x) in wall units; beyond the limit it is clipped."""
        action = self._config.action
        limited = np.clip(values, -action.limit, action.limit)
        self._clipped, self._asked = int((limited != values).sum()), values.size
        cells = self._layout.spread(limited)
        if isinstance(action, BodyForce):
            self._set_force(cells)
            return
        for reader, plane in zip(self._readers, cells, strict=True):
            wall = self._sim.walls[reader.side]
            if isinstance(action, Jets):
                w = reader.sign * self._units.u_tau * plane
                fluctuation = w - wall.mean(w)
                if np.abs(fluctuation).max() < UNIFORM * np.abs(w).max():
                    fluctuation = np.zeros_like(w)  # of a uniform w only round-off is left, which has a mean
                wall.w[...] = fluctuation
            else:
                wall.v[...] = self._units.u_tau * plane

    def respond(self, functions: dict[str, Respond]) -> None:
        """Sets w of walls at every substep from the flow, by functions that return w in U; the limit clips it."""
        limit = self._config.action.limit * self._units.u_tau
        for side, function in functions.items():
            self._sim.walls[side].response(self._limited(function, limit), remove_mean=True)
        self._responds = True

    def _limited(self, function: Respond, limit: float) -> Respond:
        if np.isinf(limit):
            return function

        def limited(sim: Simulation) -> Any:
            w = function(sim)
            if hasattr(w, "clip") and hasattr(w, "shape"):
                within = w.clip(-limit, limit)
                self._clipped = self._clipped + (within != w).sum()  # on a GPU it stays there until it is read
                self._asked += int(np.prod(w.shape))
                return within
            return w

        return limited

    def take_clipped(self) -> float:
        """The fraction of the values since the last call that were clipped."""
        fraction = float(self._clipped) / self._asked if self._asked else 0.0
        if self._responds:
            self._clipped, self._asked = 0, 0
        return fraction

    def power(self) -> Array:
        """The power of the actuation over each cell of the walls, (walls, ny, nx), over rho u_tau0^3."""
        power = np.stack([reader.power() for reader in self._readers])
        for n, layer in enumerate(self._layers):
            if self._amplitudes[n].any():
                power[n] += self._amplitudes[n] * layer.work(self._readers[n])
        return power

    def _set_force(self, amplitudes: npt.NDArray[Any]) -> None:
        """`amplitudes`: of cells, in u_tau0^3/nu."""
        assert isinstance(self._config.action, BodyForce)
        self._amplitudes = amplitudes
        scale = self._units.u_tau**3 / self._units.nu
        total: Any = 0.0
        if amplitudes.any():
            total = sum(
                layer.profile[:, None, None] * (scale * plane)
                for layer, plane in zip(self._layers, amplitudes, strict=True)
            )
        setattr(self._force, self._config.action.component, total)
