"""The flow that a file belongs to, from the file's root attributes."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
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

    def with_sampled(self, sampled: dict[str, object]) -> FlowParameters:
        """The same run with the parameters of Blocks.sampled_parameters, which may be those of an earlier start."""
        if not sampled:
            return self

        def velocity(wall: str) -> tuple[float, float, float]:
            text = str(sampled.get(layout.SET_VELOCITY[wall], "[0, 0, 0]"))  # a free-slip wall has none
            x, y, z = json.loads(text)
            return float(x), float(y), float(z)

        return replace(
            self,
            flow_type=str(sampled[layout.SET_FLOW_TYPE]),
            viscosity=float(str(sampled[layout.SET_VISCOSITY])),
            wall_bottom=str(sampled[layout.SET_WALL["bottom"]]),
            wall_top=str(sampled[layout.SET_WALL["top"]]),
            velocity_bottom=velocity("bottom"),
            velocity_top=velocity("top"),
        )

    @property
    def title(self) -> str:
        """The `title:` line of the case file, empty if there is none."""
        return title_of(self.resolved_case)


def title_of(case_text: str) -> str:
    """The value of the `title:` line of a case file, empty if there is none."""
    found = re.search(r"^title:[ \t]*(.*?)[ \t]*$", case_text, re.MULTILINE)
    return found.group(1).strip("\"'") if found else ""


def _text(value: Any) -> str:
    """A string attribute, whichever string type it was stored as."""
    if isinstance(value, np.ndarray):
        value = value.flat[0] if value.size else ""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def attributes_of(group: h5py.Group) -> dict[str, object]:
    """The texts and numbers among the attributes of a group, but for its hash."""
    return {
        name: _text(value) if isinstance(value, (str, bytes, np.ndarray)) else value.item()
        for name, value in group.attrs.items()
        if name != "values_hash"
    }


class _Attributes:
    """The root attributes of a file, with messages that name the file."""

    def __init__(self, file: h5py.File, path: Path) -> None:
        self.attributes, self.path = file.attrs, path

    def get(self, name: str) -> Any:
        if name not in self.attributes:
            raise InputOutputError(
                f"{self.path}: attribute '{name}' is missing; is this the statistics file of a Sluice run?"
            )
        return self.attributes[name]

    def number(self, name: str) -> float:
        return float(np.asarray(self.get(name), dtype=float).ravel()[0])

    def text(self, *names: str) -> str:
        return next((_text(self.attributes[name]) for name in names if name in self.attributes), "")

    def triple(self, joint: str, single: tuple[str, str, str]) -> tuple[float, float, float]:
        if joint not in self.attributes:
            return self.number(single[0]), self.number(single[1]), self.number(single[2])
        return self.vector(joint)

    def vector(self, name: str) -> tuple[float, float, float]:
        """Three components; one number is the first of them, the others being zero."""
        values = np.asarray(self.get(name), dtype=float).ravel()
        if values.size not in (1, 3):
            raise InputOutputError(f"{self.path}: attribute '{name}' has {values.size} values instead of 3")
        x, y, z = (*values, 0.0, 0.0)[:3]
        return float(x), float(y), float(z)


def read_parameters(file: h5py.File, path: Path) -> FlowParameters:
    """The flow parameters in the root attributes of an open file. `path` is for messages."""
    attributes = _Attributes(file, path)
    version = int(attributes.number(layout.ATTR_FORMAT))
    if version > layout.FORMAT_VERSION:
        raise InputOutputError(
            f"{path}: format version {version} is newer than {layout.FORMAT_VERSION}, the newest this "
            "sluice-post knows; install the sluice_post that belongs to the sluice that wrote the file"
        )
    nx, ny, nz = (int(n) for n in attributes.triple(*layout.ATTR_CELLS))
    return FlowParameters(
        flow_type=_text(attributes.get(layout.ATTR_FLOW_TYPE)),
        viscosity=attributes.number(layout.ATTR_VISCOSITY),
        size=attributes.triple(*layout.ATTR_SIZE),
        cells=(nx, ny, nz),
        wall_bottom=_text(attributes.get(layout.ATTR_WALL_BOTTOM)),
        wall_top=_text(attributes.get(layout.ATTR_WALL_TOP)),
        velocity_bottom=attributes.vector(layout.ATTR_VELOCITY_BOTTOM),
        velocity_top=attributes.vector(layout.ATTR_VELOCITY_TOP),
        version=attributes.text(*layout.ATTR_VERSION),
        git_revision=attributes.text(layout.ATTR_REVISION),
        resolved_case=attributes.text(layout.ATTR_CASE),
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
