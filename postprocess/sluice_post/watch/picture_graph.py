"""The newest picture of a slice, and the choice of the slice."""

from __future__ import annotations

from collections.abc import Mapping

import matplotlib
import numpy as np
from bokeh.models import ColorBar, ColumnDataSource, CustomJS, Div, InlineStyleSheet, LinearColorMapper, Select
from bokeh.plotting import figure
from matplotlib.colors import to_hex

from sluice_post.style import BLACK, DIVERGING_MAP, GREY
from sluice_post.watch.graphs import FollowingRange, new_graph
from sluice_post.watch.pictures import Picture

_PALETTES = {
    diverging: [to_hex(colour) for colour in matplotlib.colormaps[name](np.linspace(0, 1, 256))]
    for diverging, name in ((True, DIVERGING_MAP), (False, "viridis"))
}

# Equal lengths along both axes, whatever the width of the page.
_KEEP_ASPECT = """
const ratio = Math.abs(y.end - y.start) / Math.abs(x.end - x.start)
if (graph.inner_width > 0 && isFinite(ratio))
  graph.frame_height = Math.round(Math.min(Math.max(graph.inner_width * ratio, 80), 700))
"""


class PictureGraph:
    """Shows one slice at a time: first the one nearest to the height at which streaks are most vivid."""

    def __init__(self, style: InlineStyleSheet) -> None:
        self._shown: Picture | None = None
        self._chosen = ""  # by the reader
        self._pictures: Mapping[str, Picture] = {}
        self._x, self._y = FollowingRange(), FollowingRange()
        self._source = ColumnDataSource({"pixels": [], "width": [], "height": []})
        self._pixels = LinearColorMapper(_PALETTES[True], low=0, high=255)
        self._values = LinearColorMapper(_PALETTES[True], low=-1, high=1)
        self.choice = Select(
            title="Slice", options=[], width=160, visible=False, margin=(0, 0, 8, 0), name="choice", stylesheets=[style]
        )
        self.caption = Div(stylesheets=[style], sizing_mode="stretch_width", margin=0, name="caption")
        self.choice.on_change("value", self._choose)
        self.graph: figure = new_graph("", "", x_range=self._x.model, y_range=self._y.model, name="picture")
        self.graph.grid.visible = False
        self.graph.image(
            image="pixels", x=0, y=0, dw="width", dh="height", source=self._source, color_mapper=self._pixels
        )
        self._bar = ColorBar(
            color_mapper=self._values, width=12, padding=4, title_text_align="left", major_tick_in=0,
            bar_line_color=GREY, major_label_text_color=BLACK,
        )  # fmt: skip
        self.graph.add_layout(self._bar, "right")
        self.graph.visible = False
        keep = CustomJS(args={"graph": self.graph, "x": self._x.model, "y": self._y.model}, code=_KEEP_ASPECT)
        self.graph.js_on_change("inner_width", keep)
        self._x.model.js_on_change("reset_end", keep)
        self._y.model.js_on_change("reset_end", keep)

    @property
    def roots(self) -> tuple[Select, Div, figure]:
        """What belongs to the document."""
        return self.choice, self.caption, self.graph

    def update(self, pictures: Mapping[str, Picture]) -> None:
        """Shows the newest picture of the slice that is chosen."""
        self._pictures = pictures
        if list(self.choice.options) != list(pictures):
            self.choice.options = list(pictures)
        self.choice.visible = len(pictures) > 1
        self._show()

    def _choose(self, _: str, __: str, label: str) -> None:
        if self._shown is None or label != self._shown.label:
            self._chosen = label
            self._show()

    def _show(self) -> None:
        best = min(self._pictures.values(), key=lambda picture: picture.off_streaks, default=None)
        picture = self._pictures.get(self._chosen, best)
        if picture is self._shown:
            return
        self._shown = picture
        self.graph.visible = picture is not None
        if picture is None:
            self.caption.text = ""
            return
        self.choice.value = picture.label
        width, height = picture.size
        palette = _PALETTES[picture.diverging]
        self._pixels.palette = palette
        self._values.update(palette=palette, low=picture.low, high=picture.high)
        self._source.data = {"pixels": [picture.pixels], "width": [width], "height": [height]}
        self._x.follow(0.0, width)
        self._y.follow(0.0, height)
        self.caption.text = str(picture.caption)
        self.graph.xaxis.axis_label, self.graph.yaxis.axis_label = picture.axes
