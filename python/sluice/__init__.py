"""Sluice from Python: direct numerical simulation of turbulent channel flow, stepped by your program."""

from .libraries import explained

try:
    from ._core import precision
    from ._core import version as __version__
except ImportError as error:
    raise explained(error) from error

from .case import Case, shipped_cases
from .errors import (
    Error,
    FileError,
    NumericsError,
    ResourcesError,
    RestartError,
    StaleViewError,
    UsageError,
)
from .field import Field
from .forces import Force, GivenArray, Source
from .forcing import Driving, Forcing
from .simulation import Diagnostics, Simulation, Snapshot
from .statistics import Statistics
from .walls import Plane, Wall, Walls, WallVelocity

__all__ = [
    "Case",
    "Diagnostics",
    "Driving",
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
    "shipped_cases",
]
