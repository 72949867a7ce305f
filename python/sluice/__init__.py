"""Sluice from Python: direct numerical simulation of turbulent channel flow, stepped without files."""

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
from .simulation import Diagnostics, Simulation, Snapshot

__all__ = [
    "Case",
    "Diagnostics",
    "Error",
    "Field",
    "FileError",
    "NumericsError",
    "ResourcesError",
    "RestartError",
    "Simulation",
    "Snapshot",
    "StaleViewError",
    "UsageError",
    "__version__",
    "precision",
    "shipped_cases",
]
