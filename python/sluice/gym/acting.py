"""What agents do to a flow: jets, moving walls, forces near walls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .. import _core
from ..forces import Force
from ..simulation import Simulation
from ..together import set_walls_together, wall_means
from .config import BodyForce, Config, Jets
from .layout import Layout
from .reading import Array, ForceLayer, PlaneKey, Reading, WallReader
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


def _largest(planes: Array) -> Array:
    """The largest magnitude in each plane."""
    return np.asarray(np.maximum(planes.max(axis=(-2, -1)), -planes.min(axis=(-2, -1))))


class Actors:
    """Brings the actions of a configuration to the walls of simulations."""

    def __init__(
        self,
        simulations: Sequence[Simulation],
        config: Config,
        layout: Layout,
        readers: Sequence[WallReader],
        units: WallUnits,
    ) -> None:
        self._simulations, self._config, self._layout, self._readers = simulations, config, layout, readers
        self._units = units
        self._responds = [False] * len(simulations)
        self._clipped: list[Any] = [0] * len(simulations)
        self._asked = [0] * len(simulations)
        self._amplitudes = np.zeros((len(simulations), len(readers), *layout.cells))
        self._layers: list[ForceLayer] = []
        self._forces: list[Force] = []
        if isinstance(config.action, BodyForce):
            self._layers = [ForceLayer(simulations[0], reader.side, config.action, units) for reader in readers]
            component: dict[str, Any] = {config.action.component: 0.0}
            self._forces = [sim.add_force(**component) for sim in simulations]

    def rest(self, number: int) -> None:
        """Ends all actions on a flow: no responses, no force. Its walls are those of the state restored next."""
        if self._responds[number]:
            self._responds[number] = False
            for reader in self._readers:
                self._simulations[number].walls[reader.side].response(None)
        if self._forces:
            self._set_force(number, np.zeros_like(self._amplitudes[number]))
        self._clipped[number], self._asked[number] = 0, 0

    def act(self, numbers: Sequence[int], values: Array) -> None:
        """Holds actions on some flows, (flows, walls, patches along y, patches along x) in wall units.

        Beyond the limit they are clipped.
        """
        action = self._config.action
        limited = np.clip(values, -action.limit, action.limit)
        beyond = (limited != values).sum(axis=(1, 2, 3))
        for number, count in zip(numbers, beyond, strict=True):
            self._clipped[number], self._asked[number] = int(count), values[0].size
        cells = self._layout.spread(limited)
        if isinstance(action, BodyForce):
            for number, amplitudes in zip(numbers, cells, strict=True):
                self._set_force(number, amplitudes)
            return
        simulations = [self._simulations[number] for number in numbers]
        sides = [reader.side for reader in self._readers]
        if isinstance(action, Jets):
            signs = np.array([reader.sign for reader in self._readers])
            cells *= (signs * self._units.u_tau)[:, None, None]
            largest = _largest(cells)
            cells -= wall_means(simulations, sides, cells)[:, :, None, None]
            cells[_largest(cells) < UNIFORM * largest] = 0  # of a uniform w only round-off is left, which has a mean
            set_walls_together(simulations, [("w", side) for side in sides], cells)
        else:
            cells *= self._units.u_tau
            set_walls_together(simulations, [("v", side) for side in sides], cells)

    def respond(self, functions: Callable[[str, WallUnits], Respond]) -> None:
        """Sets w of walls at every substep from the flow, by functions that return w in U; the limit clips it."""
        limit = self._config.action.limit * self._units.u_tau
        for number, sim in enumerate(self._simulations):
            for reader in self._readers:
                function = self._limited(functions(reader.side, self._units), limit, number)
                sim.walls[reader.side].response(function, remove_mean=True)
            self._responds[number] = True

    def _limited(self, function: Respond, limit: float, number: int) -> Respond:
        if np.isinf(limit):
            return function

        def limited(sim: Simulation) -> Any:
            w = function(sim)
            if hasattr(w, "clip") and hasattr(w, "shape"):
                within = w.clip(-limit, limit)
                self._clipped[number] = self._clipped[number] + (within != w).sum()  # on a GPU it stays there
                self._asked[number] += int(np.prod(w.shape))
                return within
            return w

        return limited

    def take_clipped(self, number: int) -> float:
        """The fraction of the values of a flow since the last call that were clipped."""
        asked = self._asked[number]
        fraction = float(self._clipped[number]) / asked if asked else 0.0
        if self._responds[number]:
            self._clipped[number], self._asked[number] = 0, 0
        return fraction

    def planes_of_power(self, numbers: Sequence[int], reading: Reading) -> list[PlaneKey]:
        """The planes that `power` reads beside the velocities of the walls."""
        wanted = [key for reader in self._readers for key in reader.planes_of_power(reading)]
        for n, layer in enumerate(self._layers):
            wanted += layer.planes if self._amplitudes[numbers, n].any() else []
        return wanted

    def power(self, numbers: Sequence[int], reading: Reading) -> Array:
        """The power of the actuation of some flows over each cell of the walls, (flows, walls, ny, nx).

        Over rho u_tau0^3. `reading`: of these flows.
        """
        power = np.stack([reader.power(reading) for reader in self._readers], axis=1)
        for n, layer in enumerate(self._layers):
            amplitudes = self._amplitudes[numbers, n]
            acts = amplitudes.any(axis=(1, 2), keepdims=True)
            if acts.any():
                np.add(power[:, n], amplitudes * layer.work(reading), out=power[:, n], where=acts)
        return power

    def _set_force(self, number: int, amplitudes: npt.NDArray[Any]) -> None:
        """`amplitudes`: of cells, in u_tau0^3/nu."""
        assert isinstance(self._config.action, BodyForce)
        self._amplitudes[number] = amplitudes
        scale = self._units.u_tau**3 / self._units.nu
        total: Any = 0.0
        if amplitudes.any():
            total = np.zeros((len(self._layers[0].profile), *self._layout.cells))
            for layer, plane in zip(self._layers, amplitudes, strict=True):
                total[layer.levels] += layer.profile[layer.levels, None, None] * (scale * plane)
        setattr(self._forces[number], self._config.action.component, total)
