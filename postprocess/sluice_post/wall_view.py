"""The mean flow seen from a wall, in a frame of reference and with the signs that wall units need."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.parameters import FlowParameters
from sluice_post.statistics import Means
from sluice_post.symmetry import Symmetry, averaged, image_of, in_moving_frame, reflected, symmetry_of

SIDES = ("both", "bottom", "top")

MEAN_OF_WALLS = "mean of both walls"  # in labels: from the mean of the magnitudes of both wall stresses


def with_wall(label: str, wall: str) -> str:
    """A label, and of which wall the number is; `wall` is empty where there is nothing to choose."""
    return f"{label}, {wall}" if wall else label


def side_of(parameters: FlowParameters, symmetry: Symmetry, asked: str | None) -> str:
    """The view that is meant: both only where the halves are averaged, else one wall, by default the bottom one."""
    if asked is not None and asked not in SIDES:
        raise UsageError(f"unknown side '{asked}'; one of {', '.join(SIDES)}")
    walls = {"bottom": parameters.no_slip_bottom, "top": parameters.no_slip_top}
    with_shear = [name for name, no_slip in walls.items() if no_slip]
    if not with_shear:
        what = "the box has no walls" if parameters.flow_type == "periodic" else "both walls are free-slip"
        raise UsageError(f"{what}, so there are no wall units")
    if asked in walls:
        if asked not in with_shear:
            raise UsageError(f"the {asked} wall is free-slip: it has no wall units")
        return asked
    if symmetry is not Symmetry.NONE:
        return "both"
    if asked == "both" and len(with_shear) == 2:
        raise UsageError("the two halves of this flow differ, so they have no mean: choose the side bottom or top")
    return with_shear[0]


@dataclass(frozen=True)
class WallView:
    """Means over the whole height as seen from a wall, in a frame of reference that fits the symmetry.

    The mean shear at the wall, at z = 0, is positive. `wall_velocity` is that of this wall along x and y, `no_slip`
    whether the walls at z = 0 and at the other end are. The means are those over `images` of the flow, given as the
    directions that are reversed in each. `frame`: the velocity of the frame along x and y, before directions are
    reversed. After that: `rotation`, 2 Omega of a rotating frame, and `geostrophic`, the velocity above an Ekman layer.
    """

    means: Means
    parameters: FlowParameters
    symmetry: Symmetry
    side: str
    wall_velocity: tuple[float, float]
    no_slip: tuple[bool, bool]
    images: tuple[str, ...]
    frame: tuple[float, float]
    rotation: tuple[float, float, float]
    geostrophic: tuple[float, float] | None

    @property
    def turns(self) -> bool:
        """Whether the mean flow turns with the height: the frame rotates about z."""
        return self.rotation[2] != 0

    @property
    def stress_vector(self) -> tuple[float, float]:
        """The mean wall stress that u_tau is formed from; its y component counts only if the mean flow turns."""
        face = self.means.face
        return float(face["tau_xz"][0]), float(face["tau_yz"][0]) if self.turns else 0.0

    @property
    def wall_stress(self) -> float:
        """The magnitude of stress_vector, u_tau^2."""
        return float(np.hypot(*self.stress_vector))

    @property
    def u_tau(self) -> float:
        """Friction velocity, from the shear along x, or from the whole shear if the mean flow turns."""
        return float(np.sqrt(self.wall_stress))

    @property
    def wall(self) -> str:
        """Which of two walls this is seen from, in words; empty: from both, or from the only one."""
        return f"{self.side} wall" if self.side != "both" and all(self.no_slip) else ""

    def near(self, z: Array) -> NDArray[np.bool_]:
        """Which heights are not beyond the end of the view, at parameters.reach."""
        return np.asarray(z <= self.parameters.reach * (1 + 1e-9))

    def velocity_along(self, direction: tuple[float, float]) -> Array:
        """The mean velocity relative to the wall in a direction that is given as the run has it."""
        u, v = (self.means.centre[name] - wall for name, wall in zip("uv", self.wall_velocity, strict=True))
        sign = -1 if "x" in self.images[0] else 1
        return sign * direction[0] * u + direction[1] * v


@dataclass(frozen=True)
class SeenFromWall:
    """What is formed from a view, in wall units: profiles, budgets, spectra, densities."""

    view: WallView

    @property
    def u_tau(self) -> float:
        """Friction velocity."""
        return self.view.u_tau

    @property
    def viscosity(self) -> float:
        """The kinematic viscosity, in the units of the run."""
        return self.view.parameters.viscosity

    @property
    def re_tau(self) -> float:
        """Friction Reynolds number u_tau h/nu, of `wall`."""
        return self.u_tau / self.viscosity

    @property
    def height(self) -> float:
        """Where the view from the wall ends, in the unit of length h."""
        return self.view.parameters.reach

    @property
    def reach_plus(self) -> float:
        """z+ at the end of the view from the wall."""
        return self.height * self.re_tau

    @property
    def wall(self) -> str:
        """From which of two walls, as WallView has it."""
        return self.view.wall


def wall_view(means: Means, parameters: FlowParameters, side: str | None = None) -> WallView:
    """The means seen from a wall. `side`: both (symmetric halves averaged), bottom or top; None: see side_of."""
    symmetry = symmetry_of(parameters, means)
    side = side_of(parameters, symmetry, side)
    from_top = side == "top"
    bottom, top = parameters.velocity_bottom, parameters.velocity_top
    wall = top if from_top else bottom
    frame = (wall[0], wall[1])
    if parameters.no_slip_bottom and parameters.no_slip_top:
        frame = ((bottom[0] + top[0]) / 2, (bottom[1] + top[1]) / 2)
    images: tuple[str, ...] = ("z" if from_top else "",)
    if side == "both":
        images = ("", "z" if symmetry is Symmetry.MIRROR else "xz")
    found = [image_of(in_moving_frame(means, *frame), image) for image in images]
    view = averaged(*found) if len(found) == 2 else found[0]
    along_x, along_y = wall[0] - frame[0], wall[1] - frame[1]
    if view.face["tau_xz"][0] < 0:
        view, along_x = image_of(view, "x"), -along_x
        images = tuple(image.removeprefix("x") if "x" in image else f"x{image}" for image in images)
    geostrophic = None
    if parameters.is_ekman_layer:
        x, y = (value - of_frame for value, of_frame in zip(parameters.geostrophic, frame, strict=True))
        geostrophic = (-x if "x" in images[0] else x), y
    no_slip = (parameters.no_slip_bottom, parameters.no_slip_top)
    rotation = reflected(parameters.rotation, images[0])
    walls = no_slip[::-1] if from_top else no_slip
    seen = WallView(view, parameters, symmetry, side, (along_x, along_y), walls, images, frame, rotation, geostrophic)
    if not (wall_stress := seen.wall_stress) > 0:
        raise InputOutputError(
            f"the mean wall shear at the {'top' if from_top else 'bottom'} wall is {wall_stress:g}: "
            "wall units are not defined; the fluid is at rest or the statistics are empty"
        )
    return seen
