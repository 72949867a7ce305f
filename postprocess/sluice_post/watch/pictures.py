"""Pictures of the newest slices: numbers from 0 to 255 on a rectangle, ready to be shown."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray
from scipy import ndimage

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError
from sluice_post.slices import STREAK_HEIGHT, Plane, Slice, extent, label_of, read_slice, streaks_of

MIN_PIXELS, MAX_PIXELS = 400, 1024  # along x or y
_SETTLING = 3.0  # seconds in which a folder may change without a newer time of change


@dataclass(frozen=True)
class Picture:
    """A plane: `pixels[row, column]` between the colours of `low` and `high`."""

    label: str
    caption: Markup
    axes: tuple[str, str]
    size: tuple[float, float]
    pixels: NDArray[np.uint8]
    low: float
    high: float
    diverging: bool
    off_streaks: float  # how far the plane is from the height at which streaks are most vivid


def _pixels(values: Array, low: float, high: float) -> NDArray[np.uint8]:
    """Coarse planes are interpolated, very fine ones thinned."""
    factor = max(1, MIN_PIXELS // values.shape[1])
    factors = [max(1, min(factor, MAX_PIXELS // count)) for count in values.shape]
    if max(factors) > 1:
        values = ndimage.zoom(values, factors, order=1, mode="nearest", grid_mode=True)
    rows, columns = (slice(None, None, -(-count // MAX_PIXELS)) for count in values.shape)
    scaled = (values[rows, columns] - low) / (high - low if high > low else 1.0)
    return np.clip(np.nan_to_num(255 * scaled), 0, 255).astype(np.uint8)


def _streaks(plane: Slice, height: float, plus: float | None, u_tau: float | None) -> Picture:
    found = streaks_of(plane, height, plus, u_tau)
    where = f"z<sup>+</sup> = {found.distance:.1f}" if found.scaled else f"z/h = {plane.at:.4g}"
    side = " from the top wall" if found.from_top else ""
    unit = "u<sub>τ</sub>" if found.scaled else "U"
    off_streaks = abs(np.log(max(found.distance, 1e-3) / STREAK_HEIGHT)) if found.scaled else found.distance
    return Picture(
        label_of(plane.path), Markup(f"(u − ⟨u⟩)/{unit} at {where}{side}, t U/h = {plane.time:.6g}"),
        ("x⁺", "y⁺") if found.scaled else ("x/h", "y/h"), found.size,
        _pixels(found.values, -found.limit, found.limit), -found.limit, found.limit, True, off_streaks,
    )  # fmt: skip


def _at_equal_heights(z: Array, values: Array) -> Array:
    rows = np.linspace(z[0], z[-1], min(2 * len(z), MAX_PIXELS))
    above = np.clip(np.searchsorted(z, rows), 1, max(len(z) - 1, 1))
    weight = ((rows - z[above - 1]) / (z[above] - z[above - 1]))[:, None]
    found: Array = values[above - 1] * (1 - weight) + values[above] * weight
    return found


def _other(plane: Plane) -> Picture:
    """All but the streaks, in the units of the case."""
    parallel = plane.normal == "z"
    values = plane.values if parallel else _at_equal_heights(plane.up, plane.values)
    length = extent if parallel else np.ptp  # planes along z end at their outermost points
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    quantity = f"{plane.field}/U" if plane.field != "p" else "p/ρU<sup>2</sup>"
    axes = {"x": ("y/h", "z/h"), "y": ("x/h", "z/h"), "z": ("x/h", "y/h")}
    return Picture(
        plane.label, Markup(f"{quantity} at {plane.normal}/h = {plane.at:.4g}, t U/h = {plane.time:.6g}"),
        axes[plane.normal], (float(length(plane.along)), float(length(plane.up))),
        _pixels(values, low, high), low, high, False, np.inf,
    )  # fmt: skip


class PictureFollower:
    """Keeps a picture of the newest time of each slice: of u if it has it, else of its first field."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._folder_changed = -1.0
        self._newest: dict[str, Path] = {}
        self._shown: dict[str, tuple[object, ...]] = {}
        self.pictures: dict[str, Picture] = {}
        self.problems: dict[str, str] = {}

    def poll(self, height: float, plus: float | None, u_tau: float | None) -> None:
        """`height` is Lz, `plus` is u_tau/nu; both this and u_tau are None as long as they are not known."""
        self._list()
        for label in self.pictures.keys() - self._newest.keys():
            del self.pictures[label], self._shown[label]
        self.problems = {label: text for label, text in self.problems.items() if label in self._newest}
        for label, path in self._newest.items():
            try:
                status = path.stat()
                # Pictures move to wall units with the first statistics; the last digits of these do not matter.
                scale = None if u_tau is None else f"{u_tau:.3g}"
                version = (path, status.st_ino, status.st_mtime_ns, height, scale)
                if self._shown.get(label) == version:
                    continue
                plane = read_slice(path)
                picture = _streaks(plane, height, plus, u_tau) if isinstance(plane, Slice) else _other(plane)
                self.pictures[label], self._shown[label] = picture, version
                self.problems.pop(label, None)
            except (InputOutputError, OSError) as error:
                self.problems[label] = str(error)

    def _list(self) -> None:
        """The last part of each slice; lists the folder only if it has changed."""
        folder = self._directory / layout.SLICE_FOLDER / layout.PARTS
        try:
            changed = folder.stat().st_mtime
        except OSError:
            self._newest = {}
            return
        if changed == self._folder_changed and time.time() - changed > _SETTLING:
            return
        self._folder_changed = changed
        newest: dict[str, tuple[int, Path]] = {}
        for path in folder.glob("*.h5"):
            step = path.stem.rpartition("_")[2]
            if step.isdecimal():
                entry = (int(step), path)
                newest[label_of(path)] = max(newest.get(label_of(path), entry), entry)
        self._newest = {label: path for label, (_, path) in sorted(newest.items())}
