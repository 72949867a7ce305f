"""One look for all figures: fonts, colours, axes. Nothing here needs a display."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter
from numpy.typing import NDArray

from sluice_post.errors import InputOutputError

DPI = 200

# Okabe & Ito's palette, told apart under every common colour vision deficiency.
BLUE = "#0072B2"
VERMILLION = "#D55E00"
GREEN = "#009E73"
PURPLE = "#A8558A"
ORANGE = "#E69F00"
SKY = "#56B4E9"
BLACK = "#1A1A1A"
GREY = "#8A8A8A"
BROWN = "#7B4B2A"
OLIVE = "#7F8F2F"
TEAL = "#2F8080"

# One colour per velocity component wherever components are shown together.
COMPONENT = {"u": BLUE, "v": GREEN, "w": VERMILLION, "p": PURPLE}

_RC: dict[Any, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
    "font.size": 12,
    "axes.labelsize": 14,
    "axes.titlesize": 13,
    "axes.linewidth": 0.8,
    "axes.edgecolor": "#333333",
    "axes.prop_cycle": cycler(color=[BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY]),
    "axes.formatter.useoffset": False,
    "axes.formatter.use_mathtext": True,
    "axes.formatter.limits": (-3, 4),
    "axes.unicode_minus": True,
    "xtick.direction": "in",
    "ytick.direction": "in",
    "xtick.top": True,
    "ytick.right": True,
    "xtick.minor.visible": True,
    "ytick.minor.visible": True,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "lines.linewidth": 1.8,
    "legend.frameon": False,
    "legend.fontsize": 12,
    "legend.handlelength": 1.8,
    "figure.dpi": 100,
}

DIVERGING_MAP = "RdBu_r"  # blue - white - red

THIN: dict[str, Any] = {"color": GREY, "linewidth": 0.9, "zorder": 1}


@contextmanager
def figure_style() -> Iterator[None]:
    """Within it, figures are made in the common style."""
    with matplotlib.rc_context(_RC):
        yield


def new_figure(width: float = 6.4, height: float = 4.4) -> Figure:
    """An empty figure, in inches, whose layout is arranged when it is drawn."""
    figure = Figure(figsize=(width, height), constrained_layout=True)
    FigureCanvasAgg(figure)
    return figure


def png_bytes(figure: Figure) -> bytes:
    """The figure as a PNG at 200 dpi."""
    buffer = BytesIO()
    figure.dpi = DPI
    canvas = FigureCanvasAgg(figure)  # savefig would draw twice
    canvas.print_png(buffer, metadata={"Software": "sluice-post"})  # type: ignore[no-untyped-call]
    return buffer.getvalue()


def save_png(figure: Figure, path: Path) -> bytes:
    """Writes the figure to a PNG file and returns the bytes."""
    content = png_bytes(figure)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be written ({error.strerror or error})") from error
    return content


def log_wall_axis(axes: Axes, z_plus: NDArray[np.float64], label: bool = True) -> None:
    """Logarithmic z+ axis over the data, starting no lower than the first point's decade."""
    axes.set_xscale("log")
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(max(0.1, min(1.0, 0.9 * float(z_plus[0]))), float(z_plus[-1]) * 1.04)
    if label:
        axes.set_xlabel(r"$z^+$")


def log_numbers(axis: Axis, low: float, high: float) -> None:
    """Labels 1, 2, 5, 10, ... on a logarithmic axis, only powers of 10 on a long one."""
    short = high < 300 * low
    axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5) if short else (1,), numticks=20))
    axis.set_minor_formatter(NullFormatter())
    if short:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def flatness_axis(axes: Axes, low: float, high: float) -> None:
    """An ordinate for flatness between these values: logarithmic if they are far apart, as near walls."""
    if high > 5 * low > 0:
        axes.set_yscale("log")
        axes.set_ylim(low / 1.2, high * 1.3)
        axes.yaxis.set_major_locator(FixedLocator([2, 3, 5, 10, 20, 50, 100, 200, 500, 1000]))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        axes.yaxis.set_minor_formatter(NullFormatter())
    else:
        axes.set_ylim(0, 1.1 * high)


def panel_grid(count: int) -> tuple[int, int]:
    """Rows and columns of so many panels."""
    columns = 2 if count == 4 else min(3, count)
    return -(-count // columns), columns


def height_colours(count: int) -> list[tuple[float, ...]]:
    """From the wall outwards; the lightest colours of the map are left out."""
    return [tuple(colour) for colour in matplotlib.colormaps["plasma"](np.linspace(0.0, 0.85, count))]


def height_label(name: str) -> str:
    """Of a height in a legend: its z+, centre, surface or top."""
    return name if name in ("centre", "surface", "top") else rf"$z^+={name}$"


def single_panel(draw: Callable[[Axes], Axes], width: float = 6.4, height: float = 4.4) -> Figure:
    """A figure of one panel that `draw` draws."""
    figure = new_figure(width, height)
    draw(figure.add_subplot())
    return figure
