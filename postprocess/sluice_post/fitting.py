"""Figures in print: letters of legal sizes, and nothing that overlaps or leaves the figure.

Panels are drawn for the screen. On paper they are smaller beside their letters: long names are broken into lines,
ticks left out, and legends moved to where they hide no line.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.legend import Legend
from matplotlib.text import Text
from matplotlib.ticker import FixedLocator, LogLocator, MaxNLocator
from matplotlib.transforms import Bbox
from numpy.typing import NDArray

SMALLEST, LARGEST = 8.0, 9.0  # points, of letters in print
NOTE = "note"  # marks texts that may stand anywhere near their place
_TALLEST = 9.0  # inches
_WIDEST_MARGIN = 0.2  # inches
_ROUNDS = 7
_PLACES = {
    "upper right": (1, 1),
    "upper left": (0, 1),
    "lower left": (0, 0),
    "lower right": (1, 0),
    "center right": (1, 0.5),
    "center left": (0, 0.5),
    "lower center": (0.5, 0),
    "upper center": (0.5, 1),
}


@dataclass(frozen=True)
class _Box:
    """A rectangle that may be turned: what it holds, its centre, its half sizes and its directions, in pixels."""

    name: str
    centre: NDArray[np.float64]
    half: NDArray[np.float64]
    directions: NDArray[np.float64]
    owner: Any

    def overlaps(self, other: _Box, slack: float) -> bool:
        """Whether both have more than `slack` in common along every direction of either."""
        for direction in np.vstack([self.directions, other.directions]):
            reach = float(sum(np.abs(box.directions @ direction) @ box.half for box in (self, other)))
            if abs(float((self.centre - other.centre) @ direction)) >= reach - slack:
                return False
        return True


def _box(name: str, artist: Any, renderer: Any) -> _Box | None:
    extent = artist.get_window_extent(renderer)
    size, angle = np.asarray(extent.size), 0.0
    if isinstance(artist, Text) and artist.get_rotation() % 90 > 1e-4:
        turned, mode = artist.get_rotation(), artist.get_transform_rotates_text()
        artist.set(transform_rotates_text=False, rotation=0)
        size, angle = np.asarray(artist.get_window_extent(renderer).size), np.deg2rad(turned)
        artist.set(transform_rotates_text=mode, rotation=turned)
    if not np.all(size > 0):
        return None
    cosine, sine = np.cos(angle), np.sin(angle)
    centre = (extent.min + extent.max) / 2
    return _Box(name, centre, size / 2, np.array([[cosine, sine], [-sine, cosine]]), artist)


def _tick_labels(axis: Axis) -> Iterator[Text]:
    """Those that are drawn."""
    low, high = sorted(axis.get_view_interval())
    slack = 1e-9 * (high - low)
    for tick in [*axis.get_major_ticks(), *axis.get_minor_ticks()]:
        if low - slack <= tick.get_loc() <= high + slack:
            yield from (label for label in (tick.label1, tick.label2) if label.get_visible())


def _texts(figure: Figure) -> Iterator[tuple[str, Any]]:
    """Texts and legends with what they are."""
    for number, axes in enumerate(_all_axes(figure)):
        for which, axis in (("x", axes.xaxis), ("y", axes.yaxis)):
            if axes.axison and axis.get_visible():
                yield from ((f"tick of {which} in panel {number}", label) for label in _tick_labels(axis))
                yield f"name of {which} in panel {number}", axis.label
                yield f"factor of {which} in panel {number}", axis.get_offset_text()
        yield from ((f"text in panel {number}", text) for text in axes.get_children() if isinstance(text, Text))
        if (legend := axes.get_legend()) is not None:
            yield f"legend of panel {number}", legend
    yield from (("text of the figure", text) for text in figure.texts)
    yield from (("legend of the figure", legend) for legend in figure.legends)


def _text_boxes(axes: Axes, renderer: Any, but: Text | None = None) -> list[Bbox]:
    """Of the texts within a panel."""
    return [text.get_window_extent(renderer) for text in axes.texts if text.get_text() and text is not but]


def _is_within(box: Bbox, panel: Bbox, margin: float) -> bool:
    """Whether a box is in a panel, so far from its edges in pixels."""
    inner = panel.padded(-margin)
    return bool(np.all(box.min >= inner.min) and np.all(box.max <= inner.max))


def _all_axes(figure: Figure) -> list[Any]:
    inner = [child for axes in figure.axes for child in axes.child_axes]
    return [axes for axes in dict.fromkeys([*figure.axes, *inner]) if axes.get_visible()]


def overlaps(figure: Figure) -> list[str]:
    """What is wrong with a figure: texts, ticks and legends that overlap each other or leave it."""
    renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
    figure.draw_without_rendering()
    slack = 0.8 * figure.dpi / 72
    boxes = []
    for name, artist in _texts(figure):
        text = artist.get_text().strip() if isinstance(artist, Text) else "legend"
        if artist.get_visible() and text and (box := _box(f"{name} ({text})", artist, renderer)) is not None:
            boxes.append(box)
    found = [f"{one.name} overlaps {other.name}" for one, other in combinations(boxes, 2) if one.overlaps(other, slack)]
    for axes in _all_axes(figure):
        notes = [text for text in axes.texts if text.get_gid() == NOTE and text.get_visible()]
        found += [f"note ({note.get_text()}) lies on a line" for note in notes
                  if _covered(axes, note.get_window_extent(renderer))[0]]  # fmt: skip
    for box in boxes:
        reach = np.abs(box.directions.T) @ box.half
        if np.any(box.centre - reach < -slack) or np.any(box.centre + reach > np.asarray(figure.bbox.size) + slack):
            found.append(f"{box.name} leaves the figure")
    return found


def fit(figure: Figure) -> None:
    """Mends a figure for print."""
    for _, artist in _texts(figure):
        for text in [*artist.get_texts(), artist.get_title()] if isinstance(artist, Legend) else [artist]:
            text.set_fontsize(min(max(text.get_fontsize(), SMALLEST), LARGEST))
    for _ in range(_ROUNDS):
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        figure.draw_without_rendering()
        changes = [_fit_shared_legends(figure, renderer), _fit_titles(figure, renderer)]
        for axes in _all_axes(figure):
            changes += [_fit_axis(axes, axis, renderer) for axis in (axes.xaxis, axes.yaxis)]
            changes += [_fit_corners(axes, renderer), _fit_legend(axes, renderer)]
        # Notes come last: once moved they do not return when their panel grows.
        if any(changes) or _fit_edges(figure, renderer):
            continue
        moved = [_fit_notes(axes, renderer) for axes in _all_axes(figure)]
        if not any(moved):
            return


def _length(text: str) -> int:
    """About how many letters wide a text is."""
    return len(re.sub(r"\\mathrm|\\mathbf|[{}^_$]", "", re.sub(r"\\(?!mathrm|mathbf)[a-zA-Z]+|\\[,;!]", "x", text)))


def _broken(text: str, lines: int) -> str:
    """The text in so many lines of nearly the same length; formulas are not broken."""
    words = [word for word in re.split(r"((?:[^\s$]|\$[^$]*\$)+)", text) if word.strip()]
    lengths = [_length(word) + 1 for word in words]
    ends = np.cumsum(lengths) / max(1, sum(lengths))
    number = np.minimum(np.ceil(ends * lines - 0.25).clip(1).astype(int), lines)
    rows = [" ".join(word for word, n in zip(words, number, strict=True) if n == line) for line in range(1, lines + 1)]
    return "\n".join(row for row in rows if row)


def _break(text: Text, wanted: float, allowed: float) -> bool:
    """Breaks a text that is `wanted` long where it may be `allowed` long; whether that changed it."""
    if wanted <= allowed or not text.get_text():
        return False
    present = text.get_text().count("\n") + 1
    flat = text.get_text().replace("\n", " ")
    lines = min(max(present + 1, int(np.ceil(wanted * present / allowed))), 4)
    new = _broken(flat, lines)
    if new == text.get_text():
        return False
    text.set_text(new)
    return True


def _fit_titles(figure: Figure, renderer: Any) -> bool:
    changed = False
    for axes in _all_axes(figure):
        place = axes.get_subplotspec() if hasattr(axes, "get_subplotspec") else None  # Matplotlib 3.6: of insets
        box = axes.get_window_extent(renderer)
        allowed = 1.02 * box.width if place is not None else figure.bbox.width
        if place is not None and place.get_gridspec().ncols == 1:
            allowed = max(
                allowed,
                min(2 * min(box.x0 + box.width / 2, figure.bbox.width - box.x0 - box.width / 2), 1.2 * box.width),
            )
        titles = [text for text in axes.get_children() if isinstance(text, Text) and text not in axes.texts]
        shown = [title for title in titles if title.get_text()]
        widths = [title.get_window_extent(renderer).width for title in shown]
        if len(shown) > 1 and sum(widths) + 6 > allowed:  # side by side
            merged = ", ".join(text for loc in ("left", "center", "right") if (text := axes.get_title(loc=loc)))
            for title in shown:
                title.set_text("")
            axes.set_title(merged, loc="left")
            changed = True
        elif shown:
            changed |= sum(_break(title, width, allowed) for title, width in zip(shown, widths, strict=True)) > 0
    for note in figure.texts:
        changed |= _break(note, note.get_window_extent(renderer).width, 0.98 * figure.bbox.width)
    return changed


def _fit_axis(axes: Axes, axis: Axis, renderer: Any) -> bool:
    """Breaks the name of an axis that is longer than the axis; fewer ticks where their labels touch."""
    if not (axes.axison and axis.get_visible()):
        return False
    along = 0 if axis is axes.xaxis else 1
    length = axes.get_window_extent(renderer).size[along]
    outside = axes.figure.bbox.size[along] if axes in axes.figure.axes else length
    own = axis.label.get_window_extent(renderer).size[along]
    allowed = min(1.05 * length, outside)
    changed = _break(axis.label, own, allowed) or (along == 1 and own > 1.15 * allowed and _grow(axes.figure))
    boxes = [label.get_window_extent(renderer) for label in _tick_labels(axis) if label.get_text()]
    boxes = sorted((box for box in boxes if box.width > 0), key=lambda box: float(box.min[along]))
    gap = 0.2 * SMALLEST * axes.figure.dpi / 72 * (2 if along == 0 else 0)
    touching = any(b.min[along] - a.max[along] < gap for a, b in pairwise(boxes)
                   if b.max[1 - along] > a.min[1 - along] and a.max[1 - along] > b.min[1 - along])  # fmt: skip
    return (touching and (_thin(axis, len(boxes)) or (along == 1 and _grow(axes.figure)))) or changed


def _grow(figure: Any) -> bool:
    """Makes a figure taller whose panels are too low for what stands beside them."""
    width, height = figure.get_size_inches()
    if height > _TALLEST / 1.15:
        return False
    figure.set_size_inches(width, 1.15 * height)
    return True


def _fit_edges(figure: Figure, renderer: Any) -> bool:
    """Widens the margins where panels leave the figure by a little: the layout errs where their aspect is fixed."""
    engine = figure.get_layout_engine()
    boxes = [box for axes in figure.axes if axes.get_visible() and (box := axes.get_tightbbox(renderer)) is not None]
    if not isinstance(engine, ConstrainedLayoutEngine) or not boxes:
        return False
    panels, pads = Bbox.union(boxes), {}
    for along, name in enumerate(("w_pad", "h_pad")):
        beyond = max(-panels.min[along], panels.max[along] - figure.bbox.size[along]) / figure.dpi
        pad = engine.get()[name]
        if beyond > 0.004 and pad < _WIDEST_MARGIN:
            pads[name] = pad + beyond + 0.01
    engine.set(**pads)
    return bool(pads)


def _thin(axis: Axis, count: int) -> bool:
    locator = axis.get_major_locator()
    if isinstance(locator, FixedLocator):
        axis.set_ticks(axis.get_majorticklocs()[::2], [label.get_text() for label in axis.get_ticklabels()][::2])
    elif isinstance(locator, LogLocator):
        base = [1.0] if count > 4 else [1.0, 3.0]
        axis.set_major_locator(LogLocator(base=10, subs=base, numticks=max(2, count - 1)))
    elif count > 2:
        axis.set_major_locator(MaxNLocator(max(2, count - 2), steps=[1, 2, 2.5, 5, 10]))
    return count > 2 or isinstance(locator, FixedLocator | LogLocator)


def _fit_corners(axes: Axes, renderer: Any) -> bool:
    """Moves the labels of an abscissa away from those of the ordinate that they touch in a corner."""
    if not (axes.axison and axes.xaxis.get_visible() and axes.yaxis.get_visible()):
        return False
    below, beside = (
        [label.get_window_extent(renderer) for label in _tick_labels(axis) if label.get_text()]
        for axis in (axes.xaxis, axes.yaxis)
    )
    point = axes.figure.dpi / 72
    beside = [box.padded(point) for box in beside]
    touching = [one.y1 - other.y0 for one in below for other in beside if one.overlaps(other)]
    if not touching:
        return False
    present: Any = axes.xaxis.get_major_ticks()[0].get_pad()  # type: ignore[func-returns-value]
    pad = present + max(touching) / point + 0.5
    axes.tick_params(axis="x", which="both", pad=pad)
    return True


def _fit_notes(axes: Axes, renderer: Any) -> bool:
    """Moves texts that leave a panel into it, but for those that stand in its margin; notes also off lines."""
    changed, panel = False, axes.get_window_extent(renderer)
    for text in axes.texts:
        box = text.get_window_extent(renderer)
        if text.get_transform() is not axes.transData or not panel.overlaps(box):
            continue
        move = min(0.0, panel.x1 - 3 - box.x1) + max(0.0, panel.x0 + 3 - box.x0), 0.0
        if text.get_gid() == NOTE:
            move = _clear_of_lines(axes, text, box.translated(*move), renderer, move)
        if max(map(abs, move)) > 1:
            at = axes.transData.transform(text.get_position()) + move
            text.set_position(tuple(axes.transData.inverted().transform(at)))
            changed = True
    return changed


def _clear_of_lines(axes: Axes, note: Text, box: Bbox, renderer: Any, move: tuple[float, float]) -> tuple[float, float]:
    """How far a note must go so that it hides no line, the nearest place; `move` if there is none."""
    panel = axes.get_window_extent(renderer)
    others = _text_boxes(axes, renderer, but=note)
    if (legend := axes.get_legend()) is not None:
        others.append(legend.get_window_extent(renderer))
    step = 0.5 * box.height
    shifts = sorted(((x, y) for x in range(-12, 13) for y in range(-12, 13)), key=lambda shift: np.hypot(*shift))
    for x, y in shifts:
        place = box.translated(x * step, y * step)
        if not _is_within(place, panel, 3) or any(map(place.overlaps, others)):
            continue
        if not _covered(axes, place.padded(2))[0]:
            return move[0] + x * step, move[1] + y * step
    return move


def _fit_shared_legends(figure: Figure, renderer: Any) -> bool:
    """Legends of the figure go below the panels of a narrow one, in as many columns as there is room for."""
    changed = False
    asked = getattr(figure, "asked_legends", {})
    for legend in list(figure.legends):
        if legend not in asked:
            continue
        arguments, options = asked[legend]
        beside = str(options.get("loc", "")).startswith("outside right") and figure.get_figwidth() < 5
        count = min(len(legend.get_texts()), 6) if beside else options.get("ncols", 1)
        width = legend.get_window_extent(renderer).width
        if beside or (width > figure.bbox.width and count > 1):
            legend.remove()
            del asked[legend]
            columns = count if beside else max(1, min(count - 1, int(count * figure.bbox.width / width)))
            figure.legend(*arguments, **{**options, "loc": "outside lower center", "ncols": columns})
            changed = True
    return changed


def _covered(axes: Axes, box: Bbox) -> tuple[int, int]:
    """How many lines and how many bands a box hides, and whatever is written there."""
    lines = sum(
        line.get_transform().transform_path(line.get_path()).intersects_bbox(box, filled=False)
        for line in axes.lines
        if line.get_visible() and np.size(line.get_xdata()) > 0
    )
    bands = sum(
        path.intersects_bbox(box)
        for collection in axes.collections
        for path in (collection.get_transform().transform_path(path) for path in collection.get_paths())
    )
    return int(lines), int(bands)


def _fit_legend(axes: Axes, renderer: Any) -> bool:
    """Puts the legend of a panel where it hides no line: elsewhere in it, with fewer columns, or above it."""
    legend = axes.get_legend()
    if legend is None or getattr(legend, "is_fitted", False) or not axes.get_legend_handles_labels()[0]:
        return False
    panel, box = axes.get_window_extent(renderer), legend.get_window_extent(renderer)
    texts = _text_boxes(axes, renderer)
    if _is_within(box, panel, -1) and _covered(axes, box)[0] == 0 and not any(map(box.overlaps, texts)):
        return False
    best: tuple[int, int] = (1, 0)
    chosen: dict[str, Any] = {}
    for columns in (1, 2, 3):
        trial = _with_legend(axes, legend, loc="upper right", ncols=columns)
        size = np.asarray(trial.get_window_extent(renderer).size)
        pad = 0.4 * SMALLEST * axes.figure.dpi / 72
        if np.any(size + 2 * pad > np.asarray(panel.size)):
            continue
        for loc, (right, up) in _PLACES.items():
            x = panel.x0 + pad + right * (panel.width - 2 * pad - size[0])
            y = panel.y0 + pad + up * (panel.height - 2 * pad - size[1])
            place = Bbox.from_bounds(x, y, *size)
            if not any(map(place.overlaps, texts)) and (hidden := _covered(axes, place)) < best:
                best, chosen = hidden, {"loc": loc, "ncols": columns}
    new = _with_legend(axes, legend, **(chosen or _above(axes, legend, panel, renderer)))
    new.is_fitted = True  # type: ignore[attr-defined]
    return True


def _above(axes: Axes, legend: Legend, panel: Bbox, renderer: Any) -> dict[str, Any]:
    """Above the panel, in as many columns as it is wide."""
    columns = len(legend.get_texts())
    while columns > 1 and (
        _with_legend(axes, legend, ncols=columns).get_window_extent(renderer).width > 1.02 * panel.width
    ):
        columns -= 1
    return {"loc": "lower center", "bbox_to_anchor": (0.5, 1.0), "ncols": columns, "borderaxespad": 0.2}


def unique(handles: Sequence[Any], labels: Sequence[str]) -> tuple[list[Any], list[str]]:
    """The entries of a legend in which each label stands once, with its first handle."""
    first = dict(zip(reversed(labels), reversed(handles), strict=True))
    names = list(dict.fromkeys(labels))
    return [first[name] for name in names], names


def _with_legend(axes: Any, legend: Legend, **options: Any) -> Legend:
    """The panel's legend anew."""
    title = legend.get_title().get_text() or None
    made: Legend = axes.legend(*unique(*axes.get_legend_handles_labels()), title=title, **options)
    return made
