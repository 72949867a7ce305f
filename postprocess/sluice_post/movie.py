"""The command ``movie``: the times of a slice as MP4, by ffmpeg, or as GIF."""

from __future__ import annotations

import argparse
from functools import partial
from math import inf
from pathlib import Path
from subprocess import CalledProcessError

import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter

from sluice_post.errors import InputOutputError, UsageError
from sluice_post.run import check_directory
from sluice_post.slices import slice_labels, some_planes
from sluice_post.style import DIVERGING_MAP, figure_style, new_figure

_KINDS = (".mp4", ".gif")
_DPI = 160


def write_movie(arguments: argparse.Namespace) -> None:
    """Writes the times of a slice between two as a movie.

    The colours mean the same in all frames: the range of the values of all, about 0 for fields of both signs.
    """
    path: Path = arguments.output
    directory, label, field = check_directory(arguments.directory), arguments.slice, arguments.field
    if path.suffix not in _KINDS:
        raise UsageError(f"{path}: the name of a movie ends in {' or '.join(_KINDS)}")
    labels = slice_labels(directory)
    if label not in labels:
        raise UsageError(f"{directory}: no slice {label}; there are {', '.join(labels) or 'none (output.slices)'}")
    if path.suffix == ".mp4" and not FFMpegWriter.isAvailable():
        raise UsageError(f"{path}: MP4 needs ffmpeg, which is in the package ffmpeg of most systems; GIF does not")
    end = inf if arguments.end is None else arguments.end
    planes_of = partial(some_planes, directory, label, field, arguments.begin, end, arguments.frames)
    problems: list[str] = []
    first, low, high, frames = None, inf, -inf, 0
    for plane in planes_of(problems):
        first, frames = first or plane, frames + 1
        low, high = min(low, float(np.nanmin(plane.values))), max(high, float(np.nanmax(plane.values)))
    if first is None:
        raise UsageError(f"{directory}: the slice {label} has no {field} between the times that are asked for")
    both = low < 0 < high and min(-low, high) > 0.2 * max(-low, high)
    low, high = (-max(-low, high), max(-low, high)) if both else (low, high)
    writer: AbstractMovieWriter = FFMpegWriter(fps=arguments.rate, codec="libx264", extra_args=["-pix_fmt", "yuv420p"])
    if path.suffix == ".gif":
        writer = PillowWriter(fps=arguments.rate)
    with figure_style():
        size_x, size_y = (float(np.ptp(axis)) for axis in (first.along, first.up))
        figure = new_figure(9.6, float(np.clip(8.0 * size_y / size_x + 1.2, 2.4, 7.2)))
        width, height = (2 * round(size * _DPI / 2) / _DPI for size in figure.get_size_inches())
        figure.set_size_inches(width, height)  # an even number of pixels, as the codec wants it
        axes = figure.add_subplot()
        mesh = axes.pcolormesh(first.along, first.up, first.values, shading="nearest", vmin=low, vmax=high,
                               cmap=DIVERGING_MAP if both else "viridis")  # fmt: skip
        along, across = (axis for axis in "xyz" if axis != first.normal)
        axes.set(xlabel=f"${along}/h$", ylabel=f"${across}/h$", aspect="equal")
        axes.tick_params(which="both", direction="out", top=False, right=False)
        figure.colorbar(mesh, ax=axes, label=f"${field}/U$" if field in ("u", "v", "w") else field)
        axes.set_title(rf"${first.normal}/h={first.at:.4g}$", loc="left")
        title = axes.set_title(rf"$t\,U/h={first.time:.4f}$", loc="right")
        figure.draw_without_rendering()
        figure.set_layout_engine("none")  # the panel stays where it is
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with writer.saving(figure, str(path), _DPI):
                for plane in planes_of([]):
                    mesh.set_array(plane.values)
                    title.set_text(rf"$t\,U/h={plane.time:.4f}$")
                    writer.grab_frame()
        except CalledProcessError as error:
            reason = " ".join(str(error.stderr or error).split())[-300:]
            raise InputOutputError(f"{path}: ffmpeg failed ({reason})") from error
        except OSError as error:
            raise InputOutputError(f"{path}: cannot be written ({error.strerror or error})") from error
    for problem in problems:
        print(f"left out: {problem}")
    print(f"{frames} frames: {path}")
