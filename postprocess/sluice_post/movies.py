"""Slices against time: small pictures of some times, which a report shows over the picture of the latest one."""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path

import numpy as np
from matplotlib.cm import ScalarMappable
from matplotlib.figure import Figure
from PIL import Image, features

from sluice_post.arrays import Array
from sluice_post.slices import Plane, some_planes

MAX_FRAMES = 24
MAX_BYTES = 400_000  # of all frames of a series
WIDTH = 640  # of a frame in pixels; less where the frames would be more than MAX_BYTES
MAX_HEIGHT = 480
QUALITY = 75  # of WebP


@dataclass(frozen=True)
class Movie:
    """Pictures of several times, WebP in base64, and their place on the figure's own picture in percent of its size."""

    times: list[float]
    frames: list[str]
    width: int
    height: int
    left: float
    top: float
    width_percent: float
    height_percent: float


@dataclass(frozen=True)
class Scene:
    """What a movie shows: a slice up to the time of its picture, one of its fields, and what is drawn of its values."""

    directory: Path
    label: str
    field: str
    time: float
    shown: Callable[[Array], Array] = lambda values: values


def _along_last_axis(values: Array, points: Array, pixels: int, periodic: bool) -> Array:
    """Interpolated to the middles of so many equal pixels."""
    if periodic:
        spacing = points[1] - points[0]
        points = np.concatenate([[points[0] - spacing], points, [points[-1] + spacing]])
        values = np.pad(values, [(0, 0), (1, 1)], mode="wrap")
        low, high = points[0] + spacing / 2, points[-1] - spacing / 2
    else:
        low, high = points[0], points[-1]
    at = low + (np.arange(pixels) + 0.5) * (high - low) / pixels
    left = np.clip(np.searchsorted(points, at) - 1, 0, points.size - 2)
    weight = (at - points[left]) / (points[left + 1] - points[left])
    found: Array = values[:, left] * (1 - weight) + values[:, left + 1] * weight
    return found


def _pixels(plane: Plane, width: int, height: int) -> Array:
    """The values in the pixels of a picture, the uppermost row first; it extends half a cell beyond periodic points."""
    periodic = plane.normal == "z"
    rows = _along_last_axis(plane.values, plane.along, width, periodic)
    found: Array = _along_last_axis(rows.T, plane.up, height, periodic).T[::-1]
    return found


def _encoded(planes: list[Plane], colours: ScalarMappable, aspect: float) -> tuple[list[bytes], int, int]:
    """The frames, with their width and height: the largest that are within MAX_BYTES."""
    width = min(WIDTH, round(MAX_HEIGHT / aspect))
    while True:
        height = max(1, round(width * aspect))
        frames = []
        for plane in planes:
            pixels, buffer = colours.to_rgba(_pixels(plane, width, height), bytes=True)[..., :3], BytesIO()
            Image.fromarray(pixels).save(buffer, format="webp", quality=QUALITY, method=4)
            frames.append(buffer.getvalue())
        if sum(map(len, frames)) <= MAX_BYTES:
            return frames, width, height
        width = width * 3 // 4


def movie_over(figure: Figure, scene: Scene, problems: list[str]) -> Movie | None:
    """Frames with the colours and in the place of the picture in a figure that has been drawn.

    Its first axes hold the picture. None if there are not two times, if the last is no longer that of the picture, or
    if Pillow has no WebP. `problems` takes up which slices are damaged.
    """
    found = some_planes(scene.directory, scene.label, scene.field, None, scene.time, MAX_FRAMES, problems)
    planes = [replace(plane, values=scene.shown(plane.values)) for plane in found]
    if len(planes) < 2 or planes[-1].time != scene.time:
        return None
    if min(planes[-1].values.shape) < 2 or not features.check("webp"):
        return None
    axes = figure.axes[0]
    place, size = axes.get_position(), figure.get_size_inches()
    colours = [*axes.images, *axes.collections][0]
    frames, width, height = _encoded(planes, colours, float(place.height * size[1] / (place.width * size[0])))
    return Movie(
        times=[plane.time for plane in planes],
        frames=[base64.b64encode(frame).decode("ascii") for frame in frames],
        width=width,
        height=height,
        left=100 * place.x0,
        top=100 * (1 - place.y1),
        width_percent=100 * place.width,
        height_percent=100 * place.height,
    )
