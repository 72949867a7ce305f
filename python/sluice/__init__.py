"""Sluice from Python: direct numerical simulation of turbulent channel flow, stepped by your program."""

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
from .forces import Force, GivenArray, Source
from .simulation import Diagnostics, Simulation, Snapshot
from .statistics import Statistics

__all__ = [
    "Case",
    "Diagnostics",
    "Error",
    "Field",
    "FileError",
    "Force",
    "GivenArray",
    "NumericsError",
    "ResourcesError",
    "RestartError",
    "Simulation",
    "Snapshot",
    "Source",
    "StaleViewError",
    "Statistics",
    "UsageError",
    "__version__",
    "precision",
    "shipped_cases",
]
