"""Figures drawn as Matplotlib draws them, to the last bit, without what it does again and again.

This overrides private functions of Matplotlib. A version of it that lacks one of them draws as it always does.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties


class _Labels:
    """The parser of formulas of one renderer, for all: each has its own, but figures have the same labels."""

    def __init__(self, parser: Any) -> None:
        self.parsed = functools.lru_cache(4096)(parser.parse)

    def parse(self, s: str, dpi: float = 72, prop: FontProperties | None = None, **options: Any) -> Any:
        """In place of MathTextParser.parse; a font may be changed later, its copy in the cache is not."""
        return self.parsed(s, dpi, None if prop is None else prop.copy(), **options)


@functools.cache
def _shared_labels() -> _Labels:
    renderer = FigureCanvasAgg(Figure()).get_renderer()  # type: ignore[no-untyped-call]
    return _Labels(renderer.mathtext_parser)


class _Ticks:
    """The ticks of an axis and the boxes of their labels, found anew only after what they depend on has changed.

    Matplotlib finds them about 15 times for each axis of a figure, for its layout, its label and its spines. Only the
    layout comes in between, which moves the axes twice.
    """

    def __init__(self, axis: Axis) -> None:
        self.axis = axis
        self.find, self.measure = axis._update_ticks, axis._get_ticklabel_bboxes  # type: ignore[attr-defined]
        self.state: Any = None
        self.ticks: list[Any] = []
        self.boxes: tuple[list[Any], list[Any]] | None = None

    def update(self) -> list[Any]:
        """In place of Axis._update_ticks."""
        axes = self.axis.axes
        state = (axes.bbox.bounds, tuple(self.axis.get_view_interval()), axes.figure.dpi)
        if state != self.state:
            self.ticks, self.boxes, self.state = self.find(), None, state
        return list(self.ticks)

    def label_boxes(self, ticks: list[Any], renderer: Any) -> tuple[list[Any], list[Any]]:
        """In place of Axis._get_ticklabel_bboxes, of the ticks that update() gave."""
        if ticks != self.ticks:
            return self.measure(ticks, renderer)  # type: ignore[no-any-return]
        if self.boxes is None:
            self.boxes = self.measure(ticks, renderer)
        return [box.frozen() for box in self.boxes[0]], [box.frozen() for box in self.boxes[1]]


@contextmanager
def quick(figure: Figure, canvas: FigureCanvasAgg) -> Iterator[None]:
    """Within it, the figure is drawn to this canvas and its content does not change."""
    renderer = canvas.get_renderer()  # type: ignore[no-untyped-call]
    if hasattr(renderer, "mathtext_parser"):
        renderer.mathtext_parser = _shared_labels()
    eased = [
        axis
        for axes in figure.axes
        for axis in (axes.xaxis, axes.yaxis)
        if hasattr(axis, "_update_ticks") and hasattr(axis, "_get_ticklabel_bboxes")
    ]
    for axis in eased:
        ticks = _Ticks(axis)
        vars(axis).update(_update_ticks=ticks.update, _get_ticklabel_bboxes=ticks.label_boxes)
    try:
        yield
    finally:
        for axis in eased:
            del vars(axis)["_update_ticks"], vars(axis)["_get_ticklabel_bboxes"]
