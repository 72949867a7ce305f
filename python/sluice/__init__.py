"""Sluice from Python: direct numerical simulation of turbulent channel flow, stepped without files."""

from ._core import precision
from ._core import version as __version__
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
from .forcing import Driving, Forcing
from .simulation import Diagnostics, Simulation, Snapshot
from .walls import Plane, Wall, Walls, WallVelocity

__all__ = [
    "Case",
    "Diagnostics",
    "Driving",
    "Error",
    "Field",
    "FileError",
    "Forcing",
    "NumericsError",
    "Plane",
    "ResourcesError",
    "RestartError",
    "Simulation",
    "Snapshot",
    "StaleViewError",
    "UsageError",
    "Wall",
    "WallVelocity",
    "Walls",
    "__version__",
    "precision",
    "shipped_cases",
]
