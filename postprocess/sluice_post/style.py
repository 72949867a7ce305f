"""One look for all figures: sizes, fonts, colours, lines, legends, and how they are written. Needs no display."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, TypeVar

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.gridspec import GridSpecBase, SubplotSpec
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullFormatter

from sluice_post.arrays import Array, interpolate
from sluice_post.cli_options import FORMATS, WIDTHS
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.fitting import fit, unique

T = TypeVar("T")

DPI = 200  # of figures for the screen
DPI_IN_PRINT = 400
_ONE_AND_A_HALF = 5.0  # columns of a journal, in inches
_TALLEST = 9.0  # of figures in print, in inches
_NARROW = 2.2  # panels side by side are at least so wide in print, in inches; else they stand below each other

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

# Lines of different colours differ in style as well, for those who print in black.
LINE_STYLES: tuple[Any, ...] = (
    "solid",
    (0, (5, 1.6)),
    (0, (7, 1.6, 1.2, 1.6)),
    (0, (1.2, 1.2)),
    (0, (3, 1.2, 1.2, 1.2, 1.2, 1.2)),
    (0, (9, 2)),
)
_ORDER = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, BLACK, BROWN, OLIVE, TEAL, GREY)
_STYLE_OF = {colour: LINE_STYLES[n % len(LINE_STYLES)] for n, colour in enumerate(_ORDER)} | {BLACK: "solid"}

_RUN = "run"  # marks the lines of runs

DIVERGING_MAP = "RdBu_r"  # blue - white - red

_COMMON: dict[Any, Any] = {
    "font.family": "STIXGeneral",
    "mathtext.fontset": "stix",
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
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "figure.dpi": 100,
    "pdf.fonttype": 42,  # TrueType, which journals ask for
    "ps.fonttype": 42,
    "svg.fonttype": "path",  # letters are drawn: the same on a machine without these fonts
    "svg.hashsalt": "sluice-post",  # the same file each time
}
_SCREEN: dict[Any, Any] = {
    "font.size": 12,
    "axes.labelsize": 14,
    "axes.titlesize": 13,
    "axes.linewidth": 0.8,
    "xtick.labelsize": 12,
    "ytick.labelsize": 12,
    "lines.linewidth": 1.8,
    "lines.markersize": 4.5,
    "legend.fontsize": 12,
}
_PRINT: dict[Any, Any] = {
    "font.size": 8,
    "axes.labelsize": 9,
    "axes.titlesize": 8,
    "axes.linewidth": 0.5,
    "axes.labelpad": 2,
    "axes.titlepad": 4,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "lines.linewidth": 1.1,
    "lines.markersize": 3,
    "lines.markeredgewidth": 0.7,
    "legend.fontsize": 8,
    "legend.title_fontsize": 8,
    "legend.labelspacing": 0.25,
    "legend.columnspacing": 1.0,
    "legend.handletextpad": 0.5,
    "legend.borderaxespad": 0.4,
} | {f"{axis}tick.{kind}": size for axis in "xy"
     for kind, size in (("major.size", 3), ("minor.size", 1.6), ("major.width", 0.5), ("minor.width", 0.4),
                        ("major.pad", 4), ("minor.pad", 4))}  # fmt: skip

WIDE = 3.2  # line width of what others lie on

THIN: dict[str, Any] = {"color": GREY, "linewidth": 0.9, "zorder": 1}


@dataclass(frozen=True)
class Output:
    """How figures are written: in which formats, and their width in inches in print.

    Without formats: that of the name of the file. `width`: None for one or two columns, whichever suits the figure.
    Figures are drawn for the screen if no width is asked for and no format but PNG.
    """

    formats: tuple[str, ...] = ()
    width: float | None = None

    @property
    def is_print(self) -> bool:
        """Whether figures have the sizes of a journal."""
        return self.width is not None or any(kind != "png" for kind in self.formats)


_SCREEN_OUTPUT = Output()
_output: ContextVar[Output] = ContextVar("_output", default=_SCREEN_OUTPUT)


@contextmanager
def _with_value(variable: ContextVar[T], value: T) -> Iterator[None]:
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)


def written_as(output: Output) -> AbstractContextManager[None]:
    """Within it, figures are made for this output."""
    return _with_value(_output, output)


def current_output() -> Output:
    """What figures are made for."""
    return _output.get()


@contextmanager
def figure_style() -> Iterator[None]:
    """Within it, figures are made in the common style."""
    with matplotlib.rc_context(_COMMON | (_PRINT if _output.get().is_print else _SCREEN)):
        yield


_HAS_OUTSIDE = tuple(map(int, matplotlib.__version__.split(".")[:2])) >= (3, 7)
# Places of a legend of all panels, and those nearest to them within the figure.
_INSIDE = {"outside lower center": "lower center", "outside right upper": "upper right"}


class SizedFigure(Figure):
    """A figure for the screen or for print. In print, panels that would be too narrow stand below each other."""

    def __init__(self, width: float, height: float) -> None:
        output, size = _output.get(), (width, height)
        self.is_print = output.is_print
        if self.is_print:
            in_print = output.width or WIDTHS["one" if width <= 7.2 else "two"]
            # Letters are larger beside lines than on the screen, so that the figure needs more height.
            on_screen = min(width, 6.4) if in_print < _ONE_AND_A_HALF else width  # legends come below the panels
            size = (in_print, min(1.12 * height * min(in_print / on_screen, 0.75), _TALLEST))
        pad, space = (0.02, 0.02) if self.is_print else (0.04167, 0.02)  # the latter as Matplotlib has them
        self._panels_layout = ConstrainedLayoutEngine(w_pad=pad, h_pad=pad, wspace=space, hspace=space)
        super().__init__(figsize=size, layout=self._panels_layout)
        self.asked_legends: dict[Legend, tuple[tuple[Any, ...], dict[str, Any]]] = {}
        self.is_fitted = False

    def fit(self) -> None:
        """Makes it ready for print, once."""
        if self.is_print and not self.is_fitted:
            self.is_fitted = True
            fit(self)

    def _columns(self, columns: int) -> int:
        """How many of so many panels there may be side by side."""
        fitting = max(1, min(columns, int(self.get_figwidth() / _NARROW))) if self.is_print else columns
        return -(-columns // -(-columns // fitting))

    def _become_taller(self, rows: tuple[int, int], columns: tuple[int, int]) -> None:
        """For rows and columns of panels as they were meant and as they are."""
        width, height = self.get_size_inches()
        wanted = height * rows[1] / rows[0] * columns[0] / columns[1]
        self.set_size_inches(width, min(wanted, 0.72 * width / columns[1] * rows[1] + 0.3, _TALLEST))

    def subplots(self, nrows: int = 1, ncols: int = 1, **options: Any) -> Any:
        """As of Matplotlib, in an array of this shape wherever the panels stand."""
        columns = self._columns(ncols)
        if columns == ncols:
            return super().subplots(nrows, ncols, **options)
        squeeze, *shared = (options.pop(*pair) for pair in (("squeeze", True), ("sharex", False), ("sharey", False)))
        rows = -(-nrows * ncols // columns)
        self._become_taller((nrows, rows), (ncols, columns))
        grid, panels = self.add_gridspec(rows, columns), np.empty((nrows, ncols), dtype=object)
        by_column = shared[0] == "col" and columns == 1  # panels of one abscissa stay together
        places = [(i, j) for j in range(ncols) for i in range(nrows)] if by_column else list(np.ndindex(nrows, ncols))
        for n, (i, j) in enumerate(places):
            is_last = (i == nrows - 1 if by_column else n + columns >= nrows * ncols) or not shared[0]
            x, y = ({True: panels[0, 0], "all": panels[0, 0], "col": panels[0, j], "row": panels[i, 0]}.get(share)
                    for share in shared)  # fmt: skip
            place = _Place(grid, n, is_last)
            panels[i, j] = self.add_subplot(place, sharex=x, sharey=y, **options.get("subplot_kw", {}))
            panels[i, j].tick_params(labelbottom=is_last)
        return np.squeeze(panels)[()] if squeeze else panels

    def subplot_mosaic(self, mosaic: Any, **options: Any) -> Any:
        """As of Matplotlib, of lists of names."""
        columns = self._columns(len(mosaic[0]))
        if columns < len(mosaic[0]):
            names = list(dict.fromkeys(name for row in mosaic for name in row))
            self._become_taller((len(mosaic), len(names)), (len(mosaic[0]), 1))
            mosaic = [[name] for name in names]
        return super().subplot_mosaic(mosaic, **options)

    def legend(self, *arguments: Any, **options: Any) -> Legend:
        """As of Matplotlib. Version 3.6 (Debian 12) cannot place legends outside of the panels: here it can."""
        place = str(options.get("loc"))
        outside = place in _INSIDE and not _HAS_OUTSIDE
        made = super().legend(*arguments, **options | ({"loc": _INSIDE[place]} if outside else {}))
        self.asked_legends[made] = (arguments, options)
        if outside:
            box = made.get_window_extent(FigureCanvasAgg(self).get_renderer())  # type: ignore[no-untyped-call]
            right, below = box.x0 / self.bbox.width, box.y1 / self.bbox.height
            room = (0, below, 1, 1 - below) if place == "outside lower center" else (0, 0, right, 1)
            self._panels_layout.set(rect=room)
        return made


class _Place(SubplotSpec):
    """The place of a panel that says itself whether the panel shows its abscissa."""

    def __init__(self, grid: GridSpecBase, number: int, is_last: bool) -> None:
        super().__init__(grid, number)
        self.is_last = is_last

    def is_last_row(self) -> bool:
        """As Matplotlib asks for labels of the abscissa."""
        return self.is_last


def new_figure(width: float = 6.4, height: float = 4.4) -> SizedFigure:
    """An empty figure, whose layout is arranged when it is drawn. Its size in inches is that on the screen."""
    figure = SizedFigure(width, height)
    FigureCanvasAgg(figure)
    return figure


def single_panel(draw: Callable[[Axes], object], width: float = 6.4, height: float = 4.4) -> SizedFigure:
    """A figure of one panel that `draw` draws."""
    figure = new_figure(width, height)
    draw(figure.add_subplot())
    return figure


def png_bytes(figure: Figure) -> bytes:
    """The figure as a PNG: 200 dots per inch for the screen, 400 in print."""
    buffer = BytesIO()
    figure.dpi = DPI_IN_PRINT if isinstance(figure, SizedFigure) and figure.is_print else DPI
    canvas = FigureCanvasAgg(figure)  # savefig would draw twice
    canvas.print_png(buffer, metadata={"Software": "sluice-post"})  # type: ignore[no-untyped-call]
    return buffer.getvalue()


def _bytes_of(figure: Figure, kind: str) -> bytes:
    if kind == "png":
        return png_bytes(figure)
    buffer, date = BytesIO(), {"pdf": "CreationDate", "svg": "Date"}[kind]
    with figure_style():
        figure.savefig(buffer, format=kind, dpi=DPI_IN_PRINT, metadata={"Creator": "sluice-post", date: None})
    return buffer.getvalue()


def save_figure(figure: Figure, path: Path) -> list[Path]:
    """Writes the figure in the formats that are asked for, else in that of the name; returns the paths."""
    if isinstance(figure, SizedFigure):
        figure.fit()
    kinds = _output.get().formats or (path.suffix.lstrip(".").lower(),)
    if unknown := [kind for kind in kinds if kind not in FORMATS]:
        raise UsageError(f"{path}: the name of a figure ends in .{', .'.join(FORMATS)}, not in .{unknown[0]}")
    written = []
    for kind in kinds:
        target, content = path.with_suffix(f".{kind}"), _bytes_of(figure, kind)
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
        except OSError as error:
            raise InputOutputError(f"{target}: cannot be written ({error.strerror or error})") from error
        written.append(target)
    return written


@dataclass(frozen=True)
class RunStyle:
    """What a caller asks for the lines of a run; None: as the panel has them."""

    color: Any = None
    label: str | None = None
    linestyle: Any = None


_AS_IT_IS = RunStyle()
_run_style: ContextVar[RunStyle] = ContextVar("_run_style", default=_AS_IT_IS)


def of_run(style: RunStyle) -> AbstractContextManager[None]:
    """Within it, panels draw their lines in this style."""
    return _with_value(_run_style, style)


def _style_of(axes: Axes, colour: Any) -> Any:
    """The style of lines of this colour: of those that are not in the palette, by their order in the panel."""
    colour = to_hex(colour).upper()
    if colour in _STYLE_OF:
        return _STYLE_OF[colour]
    drawn = dict.fromkeys(to_hex(line.get_color()).upper() for line in axes.lines if line.get_gid() == _RUN)
    others = [name for name in [*drawn, colour] if name not in _STYLE_OF]
    return LINE_STYLES[others.index(colour) % len(LINE_STYLES)]


def line_with_band(axes: Axes, x: Array, y: Array, band: Array | float | None = None, **style: Any) -> Any:
    """A line and, where it is known, the band of its 95 % interval; returns their colour.

    Without `color` it is the next of the axes' cycle: so the lines of several runs differ, and what `of_run` asks for
    holds. With `color`, which says the quantity, `of_run` changes the style of the line. Lines of different colours
    differ in style as well. On a logarithmic abscissa, cubics join the points. The few points next to the wall are far
    apart there, and straight lines between them look like kinks.
    """
    asked, quantity = _run_style.get(), style.get("color")
    if axes.get_xscale() == "log" and axes.get_yscale() == "linear" and len(x) > 3 and np.all(np.diff(x) > 0) and (
        np.all(np.isfinite(y)) and x[-1] > 0
    ):  # fmt: skip
        fine = np.union1d(x, np.geomspace(x[x > 0][0], x[-1], 400))
        band = np.interp(fine, x, band) if isinstance(band, np.ndarray) else band
        x, y = fine, interpolate(fine, x, y)
    chosen = {"zorder": 3, **style, "gid": _RUN, "color": asked.color or quantity}
    if asked.label is not None and quantity is None:
        chosen["label"] = asked.label
    (line,) = axes.plot(x, y, **chosen)
    colour = line.get_color()
    if asked.linestyle is not None:
        line.set_linestyle(asked.linestyle)
    elif "linestyle" not in style:
        line.set_linestyle(_style_of(axes, quantity or colour))
    if band is not None and np.any(np.isfinite(band)):
        low = y - band
        low = np.where(low > 0, low, 1e-3 * y) if axes.get_yscale() == "log" else low
        axes.fill_between(x, low, y + band, color=colour, alpha=0.22, linewidth=0, zorder=2)
    return colour


def published_points(axes: Axes, x: Array, y: Array, colour: Any = BLACK, **style: Any) -> Line2D:
    """Open symbols of published values, whose line has this colour."""
    options = {"marker": "o", "markerfacecolor": "white", "zorder": 4, **style}
    (points,) = axes.plot(x, y, linestyle="none", color=colour, **options)
    return points


def legend(axes: Axes, **options: Any) -> Legend | None:
    """The legend of a panel, in which each label stands once; None without labels."""
    handles, labels = unique(*axes.get_legend_handles_labels())
    return axes.legend(handles, labels, **options) if labels else None


def legend_of_runs(axes: Axes, style: RunStyle) -> None:
    """A legend where a panel has more than one line, with an entry for the run where its lines have other labels."""
    labels = axes.get_legend_handles_labels()[1]
    if style.label is not None and style.label not in labels:
        dashes = "solid" if style.linestyle is None else style.linestyle
        axes.plot([], [], color=style.color or BLACK, linestyle=dashes, label=style.label)
    present = axes.get_legend()
    if style.label is not None or len(set(labels)) < len(labels) or (present is None and len(labels) > 1):
        title = present.get_title().get_text() if present is not None else None
        legend(axes, title=title or None, loc="best")


def figure_legend(figure: Figure, panel: Axes, ncols: int = 6, extra: Sequence[Any] = ()) -> Legend:
    """A legend below all panels, of the lines of one of them and of further lines that have labels."""
    handles, labels = panel.get_legend_handles_labels()
    handles, labels = unique([*handles, *extra], [*labels, *(line.get_label() for line in extra)])
    return figure.legend(handles, labels, loc="outside lower center", ncols=min(len(labels), ncols))


def log_wall_axis(axes: Axes, z_plus: Array, label: bool = True) -> None:
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
