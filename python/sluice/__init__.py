"""Sluice from Python: direct numerical simulation of turbulent channel flow, stepped by your program."""

from typing import TYPE_CHECKING, Any

from .libraries import explained

try:
    from . import _core
    from ._core import version as __version__
except ImportError as error:
    raise explained(error) from error

from .case import Case, shipped_cases
from .ensemble import Ensemble
from .errors import Error, FileError, NumericsError, ResourcesError, RestartError, StaleViewError, UsageError
from .field import Field
from .forces import Force, GivenArray, Source
from .forcing import Driving, Forcing
from .simulation import Diagnostics, Simulation
from .statistics import Statistics
from .together import read_together, set_walls_together, step_together
from .walls import Plane, Wall, Walls, WallVelocity

if TYPE_CHECKING:
    from ._core import Snapshot, precision


def __getattr__(name: str) -> Any:
    """What depends on the precision of the process's simulations."""
    if name in ("Snapshot", "precision"):
        return getattr(_core, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


__all__ = [
    "Case",
    "Diagnostics",
    "Driving",
    "Ensemble",
    "Error",
    "Field",
    "FileError",
    "Force",
    "Forcing",
    "GivenArray",
    "NumericsError",
    "Plane",
    "ResourcesError",
    "RestartError",
    "Simulation",
    "Snapshot",
    "Source",
    "StaleViewError",
    "Statistics",
    "UsageError",
    "Wall",
    "WallVelocity",
    "Walls",
    "__version__",
    "precision",
    "read_together",
    "set_walls_together",
    "shipped_cases",
    "step_together",
]
