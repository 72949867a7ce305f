"""The flow that a file belongs to, from the file's root attributes."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from sluice_post import layout
from sluice_post.errors import InputOutputError


@dataclass(frozen=True)
class FlowParameters:
    """Geometry, viscosity, walls and origin of a run. Lengths and velocities in the units of the run."""

    flow_type: str
    viscosity: float
    size: tuple[float, float, float]
    cells: tuple[int, int, int]
    wall_bottom: str
    wall_top: str
    velocity_bottom: tuple[float, float, float]
    velocity_top: tuple[float, float, float]
    version: str = ""
    git_revision: str = ""
    resolved_case: str = ""

    @property
    def no_slip_bottom(self) -> bool:
        """Whether the wall at z = 0 has shear."""
        return self.wall_bottom == layout.NO_SLIP

    @property
    def no_slip_top(self) -> bool:
        """Whether the wall at z = Lz has shear."""
        return self.wall_top == layout.NO_SLIP

    @property
    def half_height(self) -> float:
        """The length h: half the distance between two no-slip walls, else the whole depth."""
        return self.size[2] / 2 if self.no_slip_bottom and self.no_slip_top else self.size[2]

    @property
    def wall_speed_difference(self) -> float:
        """Velocity of the top wall less that of the bottom wall, along x."""
        return self.velocity_top[0] - self.velocity_bottom[0]

    @property
    def title(self) -> str:
        """The `title:` line of the case file, empty if there is none."""
        found = re.search(r"^title:[ \t]*(.*?)[ \t]*$", self.resolved_case, re.MULTILINE)
        return found.group(1).strip("\"'") if found else ""


def _text(value: Any) -> str:
    """A string attribute, whichever string type it was stored as."""
    if isinstance(value, np.ndarray):
        value = value.flat[0] if value.size else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def read_parameters(file: h5py.File, path: Path) -> FlowParameters:
    """The flow parameters in the root attributes of an open file. `path` is for messages."""
    attributes = file.attrs

    def need(name: str) -> Any:
        if name not in attributes:
            raise InputOutputError(f"{path}: attribute '{name}' is missing; is this a file of a Sluice run?")
        return attributes[name]

    def triple(name: str) -> tuple[float, float, float]:
        values = np.asarray(need(name), dtype=float).ravel()
        if values.size != 3:
            raise InputOutputError(f"{path}: attribute '{name}' has {values.size} values instead of 3")
        return float(values[0]), float(values[1]), float(values[2])

    version = int(np.asarray(need(layout.ATTR_FORMAT)).ravel()[0])
    if version > layout.FORMAT_VERSION:
        raise InputOutputError(
            f"{path}: format version {version} is newer than {layout.FORMAT_VERSION}, the newest this "
            "sluice-post knows; install the sluice_post that belongs to the sluice that wrote the file"
        )
    nx, ny, nz = (int(n) for n in triple(layout.ATTR_CELLS))
    return FlowParameters(
        flow_type=_text(need(layout.ATTR_FLOW_TYPE)),
        viscosity=float(np.asarray(need(layout.ATTR_VISCOSITY)).ravel()[0]),
        size=triple(layout.ATTR_SIZE),
        cells=(nx, ny, nz),
        wall_bottom=_text(need(layout.ATTR_WALL_BOTTOM)),
        wall_top=_text(need(layout.ATTR_WALL_TOP)),
        velocity_bottom=triple(layout.ATTR_VELOCITY_BOTTOM),
        velocity_top=triple(layout.ATTR_VELOCITY_TOP),
        version=_text(attributes.get(layout.ATTR_VERSION, "")),
        git_revision=_text(attributes.get(layout.ATTR_REVISION, "")),
        resolved_case=_text(attributes.get(layout.ATTR_CASE, "")),
    )


def open_hdf5(path: Path) -> h5py.File:
    """Opens a file for reading; a clear message if that fails."""
    if not path.is_file():
        raise InputOutputError(f"{path}: no such file")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise InputOutputError(
            f"{path}: not a readable HDF5 file ({error}); is the run still writing it, or was it cut short?"
        ) from error
