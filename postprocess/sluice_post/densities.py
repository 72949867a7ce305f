"""densities.h5: histograms of velocity, pressure and wall shear, as seen from a wall.

A histogram of one half of the flow and that of the image of the other half have bins of their own. They are averaged as
densities, and their moments as moments.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.companions import choose_blocks, with_profiles
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.hdf5_file import Hdf5File
from sluice_post.histograms import Histogram, Joint
from sluice_post.parameters import FlowParameters
from sluice_post.statistics import Blocks, Means, Shapes, read_blocks
from sluice_post.symmetry import Symmetry, sign_of
from sluice_post.wall_view import SeenFromWall, wall_view

FIELDS = ("u", "v", "w", "p")
SHEARS = layout.SHEAR_HISTOGRAMS
_COUNTED = {"shear_x": "tau_xz", "shear_y": "tau_yz"}  # names that count directions

# Profiles of the statistics: for wall units, and to be compared with the moments of the histograms.
_CENTRE_PROFILES = (*layout.VELOCITY_MOMENTS, *layout.PRESSURE_MOMENTS)
_FACE_PROFILES = ("uw", "tau_xz", "tau_yz")


def read_densities(path: Path) -> tuple[FlowParameters, Blocks, Array]:
    """Flow, blocks and heights z of the joint densities of densities.h5."""
    heights = np.zeros(0)

    def contents(file: Hdf5File, parameters: FlowParameters) -> tuple[Shapes, Shapes]:
        nonlocal heights
        if layout.GRID_Z_JOINT in file:
            heights = file.line(layout.GRID_Z_JOINT)
        nz, joint = parameters.cells[2], (layout.JOINT_BINS, layout.JOINT_BINS)
        points = dict.fromkeys(layout.CENTRE_HISTOGRAMS, nz) | dict.fromkeys(layout.FACE_HISTOGRAMS, nz + 1)
        points |= dict.fromkeys(SHEARS, 2)
        shapes: Shapes = {layout.HISTOGRAM.format(name): (n, layout.BINS) for name, n in points.items()}
        if heights.size:
            points |= dict.fromkeys(layout.JOINT_BINNED, heights.size)
            shapes[layout.JOINT] = (heights.size, *joint)
        for bins in (layout.BIN_MIDDLE, layout.BIN_WIDTH):
            shapes |= {bins.format(name): (n,) for name, n in points.items()}
        shapes[layout.SHEAR_JOINT] = (2, *joint)
        for quadrant in (layout.QUADRANT_UW, layout.QUADRANT_FRACTION):
            shapes |= {quadrant.format(n): (nz + 1,) for n in layout.QUADRANTS}
        return {}, shapes

    parameters, blocks = read_blocks(path, contents)
    check_counts(path, parameters, blocks)
    return parameters, blocks, heights


def check_bins(path: Path, blocks: Blocks) -> None:
    """Refuses blocks whose bins differ: their numbers of points cannot be added."""
    for name in filter(blocks.face.__contains__, layout.BIN_DATASETS):
        values = blocks.face[name]
        changes = np.flatnonzero(np.any(values[1:] != values[:-1], axis=1))
        if len(changes) > 0:
            last = int(changes[0])
            raise UsageError(
                f"{path}: the bins ({name}) change after the block that ends at t = {blocks.time_end[last]:g}; "
                f"blocks before and after it cannot be averaged together: choose some with "
                f"--to {blocks.time_end[last]:g} or --from {blocks.time_begin[last + 1]:g}"
            )


def check_counts(path: Path, parameters: FlowParameters, blocks: Blocks) -> None:
    """Refuses histograms that do not hold all points of all samples."""
    points = blocks.samples * parameters.cells[0] * parameters.cells[1]
    for name in (*map(layout.HISTOGRAM.format, layout.HISTOGRAMS), layout.JOINT, layout.SHEAR_JOINT):
        if name not in blocks.face:  # joint histograms without any heights
            continue
        values = blocks.face[name]
        totals = values.sum(axis=tuple(range(2, values.ndim)))
        if np.any(values < 0) or not np.allclose(totals, points[:, None], rtol=1e-9, atol=0):
            raise InputOutputError(f"{path}: '/{name}' does not hold the points of all samples")


@dataclass(frozen=True)
class DensityBlocks:
    """Blocks of densities.h5 with the profiles of statistics.h5, and what they have in common."""

    blocks: Blocks  # sums only
    bins: dict[str, tuple[Array, Array]]  # lower edge of the first bin, and width, of each histogram
    z_joint: Array
    same_samples: bool  # as in the statistics


def load_densities(directory: Path, statistics: Blocks, begin: float | None, end: float | None) -> DensityBlocks:
    """Blocks of densities between two times, with the profiles of the statistics; an error if there are none."""
    path = directory / layout.DENSITIES_FILE
    if not path.is_file():
        raise InputOutputError(f"{path}: no such file; a run writes it with output.densities")
    _, blocks, z_joint = read_densities(path)
    blocks = choose_blocks(path, blocks, statistics, begin, end)
    check_bins(path, blocks)
    bins = {}
    for name in (*layout.HISTOGRAMS, *(layout.JOINT_BINNED if z_joint.size else ())):
        middle, width = (blocks.face[form.format(name)][0] for form in (layout.BIN_MIDDLE, layout.BIN_WIDTH))
        if not np.all(width > 0):
            raise InputOutputError(f"{path}: '/{layout.BIN_WIDTH.format(name)}' holds a width that is not positive")
        joint = layout.JOINT_WIDTHS * width
        if name not in layout.JOINT_BINNED:
            bins[name] = middle - layout.BINS / 2 * width, width
        if name in (*layout.JOINT_BINNED, *SHEARS):
            bins[f"{name.removesuffix('_joint')}_joint"] = middle - layout.JOINT_BINS / 2 * joint, joint
    sums = {name: values for name, values in blocks.face.items() if name not in layout.BIN_DATASETS}
    ours, theirs = ((b.samples.sum(), b.time_begin[0], b.time_end[-1]) for b in (blocks, statistics))
    blocks = with_profiles(replace(blocks, face=sums), statistics, path, _CENTRE_PROFILES, _FACE_PROFILES)
    return DensityBlocks(blocks, bins, z_joint, ours == theirs)


def _sign(name: str, image: str) -> int:
    name = name.removesuffix("_joint")
    return sign_of(_COUNTED.get(name, name), image)


@dataclass(frozen=True)
class WallDensities(SeenFromWall):
    """Histograms of averages, as seen from a wall. Each list has one element for each half that is averaged."""

    means: Means
    bins: dict[str, tuple[Array, Array]]
    z_joint: Array
    profiles: Means  # those of the statistics

    @property
    def parameters(self) -> FlowParameters:
        """Geometry, viscosity and walls."""
        return self.view.parameters

    def unit(self, name: str) -> float:
        """The unit of a field's fluctuations; the wall shear is over its mean already."""
        return 1.0 if name in SHEARS else self.u_tau ** (2 if name == "p" else 1)

    def plus(self, z: Array) -> Array:
        """Heights in wall units."""
        return z * self.re_tau

    def z(self, name: str) -> Array:
        """Where a field's histograms are, up to the centre: at cell centres, those of w on faces."""
        z = self.view.means.z_face if name in layout.FACE_HISTOGRAMS else self.view.means.z
        return z[self.view.near(z)]

    def is_odd(self, name: str) -> NDArray[np.bool_]:
        """Where a field's odd moments are 0 by the symmetry of the flow: on the centre plane, if anywhere."""
        images = {Symmetry.MIRROR: "z", Symmetry.ROTATION: "xz"}
        odd = self.view.symmetry in images and _sign(name, images[self.view.symmetry]) < 0
        return np.isclose(self.z(name), self.parameters.reach) & odd

    def from_wall(self, values: Array, image: str) -> Array:
        """Values over the height, or of both walls, with those of the wall of an image first."""
        return values[::-1] if "z" in image else values

    def histograms(self, name: str) -> list[Histogram]:
        """Of a field at each height of `z`, u relative to the wall; or of tau_x (`shear_x`), tau_y over mean tau_x."""
        found, arrays = [], (self.means.face[layout.HISTOGRAM.format(name)], *self.bins[name])
        for image in self.view.images:
            whole, sign = Histogram(*(self.from_wall(values, image) for values in arrays)), _sign(name, image)
            if name in SHEARS:
                found.append(whole.at(0).linear(sign / self.u_tau**2))
                continue
            wall = self.parameters.velocity_top if "z" in image else self.parameters.velocity_bottom
            offset = -sign * wall["uv".index(name)] if name in ("u", "v") else 0.0
            found.append(whole.at(slice(len(self.z(name)))).linear(sign, offset))
        return found

    def _joint(self, histogram: str, names: Sequence[str], n: int, image: str, unit: float = 1.0) -> Joint:
        low, width = np.transpose([[values[n] for values in self.bins[name]] for name in names])
        return Joint(self.means.face[histogram][n], low, width).linear([_sign(name, image) / unit for name in names])

    def shear_joint(self) -> list[Joint]:
        """Of tau_x and tau_y over the mean of tau_x."""
        names, unit = [f"{name}_joint" for name in SHEARS], self.u_tau**2
        return [self._joint(layout.SHEAR_JOINT, names, int("z" in of), of, unit) for of in self.view.images]

    def _joint_places(self) -> dict[float, list[tuple[str, int]]]:
        """Heights above the wall, each with the images and the numbers in the file that it is found at."""
        height = float(self.means.z_face[-1])
        places: dict[float, list[tuple[str, int]]] = {}
        for image in self.view.images:
            for n, z in enumerate(height - self.z_joint if "z" in image else self.z_joint):
                if self.view.near(z):
                    same = [other for other in places if abs(other - z) < 1e-6 * height]
                    places.setdefault(same[0] if same else float(z), []).append((image, n))
        return dict(sorted(places.items()))

    @property
    def joint_z(self) -> Array:
        """Heights of the joint densities above the wall."""
        return np.array(list(self._joint_places()))

    def joints(self) -> list[list[Joint]]:
        """Joint histograms of u and w at the heights `joint_z`, in the units of the run."""
        return [
            [self._joint(layout.JOINT, layout.JOINT_BINNED, n, image) for image, n in places]
            for places in self._joint_places().values()
        ]


def wall_densities(
    loaded: DensityBlocks, parameters: FlowParameters, side: str | None = None, means: Means | None = None
) -> WallDensities:
    """Histograms as seen from a wall. `side`: both (symmetric halves averaged), bottom or top. Default: all blocks."""
    means = means or loaded.blocks.means()
    centre, face = (
        {name: means.centre[name] for name in _CENTRE_PROFILES},
        {name: means.face[name] for name in _FACE_PROFILES},
    )
    profiles = Means(means.z, means.z_face, centre, face, means.forcing, means.samples)
    return WallDensities(wall_view(profiles, parameters, side), means, loaded.bins, loaded.z_joint, profiles)
