"""The mean forces that drive a flow."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from . import _core
from .errors import UsageError
from .initial import require_on_all

DIRECTIONS = ("streamwise", "spanwise")


@dataclass(frozen=True)
class Driving:
    """What drives the mean flow along one direction at the present time."""

    kind: str
    """ "pressure_gradient", "bulk_velocity", "power" or "none", as in the case file."""
    value: float
    """The force -dp/dx in U^2/h, the volume mean of the velocity in U, or the power per volume in U^3/h."""
    force: float
    """The force of the last step in U^2/h; 0 before the first."""


class Forcing(Mapping[str, Driving]):
    """The driving along "streamwise" (x) and "spanwise" (y).

    `sim.forcing["spanwise"] = 0.02` sets a value of the kind that the flow has, from the next step on and constant in
    time; where nothing drives the flow, a force. Collective: the value of rank 0 counts. Raises ValueError for values
    that are not finite, and UsageError for a power that is not positive.
    """

    def __init__(self, session: _core.Session) -> None:
        self._session = session

    def __getitem__(self, direction: str) -> Driving:
        self._require(direction)
        return Driving(*_core.forcing(self._session, direction))

    def __setitem__(self, direction: str, value: float) -> None:
        self._require(direction)
        number, problem = 0.0, None
        try:
            if self._session.rank == 0:
                number = float(value)
            if not math.isfinite(number):
                raise ValueError(f"the {direction} forcing must be finite, not {number}")
        except (TypeError, ValueError) as error:
            problem = error
        require_on_all(self._session, problem)
        _core.set_forcing(self._session, direction, number)

    def __iter__(self) -> Iterator[str]:
        return iter(DIRECTIONS)

    def __len__(self) -> int:
        return len(DIRECTIONS)

    @staticmethod
    def _require(direction: str) -> None:
        if direction not in DIRECTIONS:
            raise UsageError(f"there is no {direction!r} forcing; there are: {', '.join(DIRECTIONS)}")
