"""The command ``movie``: the times of a slice as MP4, by ffmpeg, or as GIF."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from math import inf
from pathlib import Path

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter

from sluice_post.errors import InputOutputError, UsageError
from sluice_post.movies import PlaneOfTime, Scene, plane_of_time
from sluice_post.slices import slice_labels, some_slices
from sluice_post.style import DIVERGING_MAP, figure_style, new_figure

_KINDS = (".mp4", ".gif")
_DPI = 160


def _planes(scene: Scene, begin: float, count: int, problems: list[str]) -> Iterator[PlaneOfTime]:
    for series in some_slices(scene.directory, scene.label, scene.time, count, problems):
        if scene.field not in series.fields:
            raise UsageError(f"the slice {scene.label} has no {scene.field}; it has {', '.join(series.fields)}")
        if float(series.time[0]) >= begin:
            yield plane_of_time(series, scene)


def write_movie(
    directory: Path, label: str, field: str, path: Path, begin: float | None, end: float | None, count: int, rate: int
) -> tuple[int, list[str]]:
    """Writes the slice's times between two as a movie of so many frames a second; returns how many, and problems.

    The colours mean the same in all frames: the range of the values of all, about 0 for fields of both signs.
    """
    if path.suffix not in _KINDS:
        raise UsageError(f"{path}: the name of a movie ends in {' or '.join(_KINDS)}")
    if count < 1 or rate < 1:
        raise UsageError("--frames and --rate are at least 1")
    labels = slice_labels(directory)
    if label not in labels:
        raise UsageError(f"{directory}: no slice {label}; there are {', '.join(labels) or 'none (output.slices)'}")
    if path.suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise UsageError(f"{path}: MP4 needs ffmpeg, which is in the package ffmpeg of most systems; GIF does not")
    problems: list[str] = []
    scene = Scene(directory, label, field, inf if end is None else end)
    first, low, high, frames = None, inf, -inf, 0
    for plane in _planes(scene, -inf if begin is None else begin, count, problems):
        first, frames = first or plane, frames + 1
        low, high = min(low, float(np.nanmin(plane.values))), max(high, float(np.nanmax(plane.values)))
    if first is None:
        raise UsageError(f"{directory}: the slice {label} has no times between those that are asked for")
    both = low < 0 < high and min(-low, high) > 0.2 * max(-low, high)
    low, high = (-max(-low, high), max(-low, high)) if both else (low, high)
    writer: AbstractMovieWriter = FFMpegWriter(fps=rate, codec="libx264", extra_args=["-pix_fmt", "yuv420p"])
    if path.suffix == ".gif":
        writer = PillowWriter(fps=rate)
    with figure_style():
        size_x, size_y = (float(np.ptp(axis)) for axis in (first.along, first.up))
        figure = new_figure(9.6, float(np.clip(8.0 * size_y / size_x + 1.2, 2.4, 7.2)))
        width, height = (2 * round(size * _DPI / 2) / _DPI for size in figure.get_size_inches())
        figure.set_size_inches(width, height)  # an even number of pixels, as the codec wants it
        axes = figure.add_subplot()
        mesh = axes.pcolormesh(first.along, first.up, first.values, shading="nearest", vmin=low, vmax=high,
                               cmap=DIVERGING_MAP if both else "viridis")  # fmt: skip
        axes.set_aspect("equal")
        normal = first.normal
        across, along = {"x": ("z", "y"), "y": ("z", "x"), "z": ("y", "x")}[normal]
        axes.set(xlabel=f"${along}/h$", ylabel=f"${across}/h$")
        axes.tick_params(which="both", direction="out", top=False, right=False)
        figure.colorbar(mesh, ax=axes, label=f"${field}/U$" if field in ("u", "v", "w") else field)
        title = axes.set_title("", loc="right")
        axes.set_title(rf"${normal}/h={first.at:.4g}$", loc="left")
        title.set_text(rf"$t\,U/h={first.time:.4f}$")
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the panel stays where it is
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with writer.saving(figure, str(path), _DPI):
                for plane in _planes(scene, -inf if begin is None else begin, count, []):
                    mesh.set_array(plane.values)
                    title.set_text(rf"$t\,U/h={plane.time:.4f}$")
                    writer.grab_frame()
        except OSError as error:
            raise InputOutputError(f"{path}: cannot be written ({error.strerror or error})") from error
    return frames, problems


def movie_of(arguments: argparse.Namespace) -> None:
    """Writes a movie of a slice."""
    from sluice_post.run import check_directory

    frames, problems = write_movie(
        check_directory(arguments.directory), arguments.slice, arguments.field, arguments.output,
        arguments.begin, arguments.end, arguments.frames, arguments.rate,
    )  # fmt: skip
    for problem in problems:
        print(f"left out: {problem}")
    print(f"{frames} frames: {arguments.output}")
