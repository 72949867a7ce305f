"""What all graphs of the page have in common. templates/watch.css has their colours where the reader prefers dark."""

from __future__ import annotations

from bokeh.models import HoverTool, Range1d
from bokeh.plotting import figure

from sluice_post.style import BLACK

_RULE = "#dde2e7"  # as in templates/report.css
TICKS = {"major_tick_out": 0, "minor_tick_out": 0, "major_tick_in": 6, "minor_tick_in": 3}
LABELS = {"axis_label_text_font_size": "15px", "axis_label_text_color": BLACK, "major_label_text_font_size": "12px"}


def new_graph(x_label: str, y_label: str, height: int = 270, **options: object) -> figure:
    """An empty graph as wide as its place. Labels are plain text: TeX would load half a second longer.

    The card of the page is its background; with an alpha of 0, Bokeh outlines the whole canvas as well as the frame.
    """
    graph = figure(
        height=height, sizing_mode="stretch_width", tools="pan,box_zoom,reset,save", active_drag=None,
        min_border_right=12, outline_line_color="#333333", background_fill_alpha=0.01, **options,
    )  # fmt: skip
    graph.styles = {
        "border": "1px solid var(--rule)",
        "border-radius": "8px",
        "overflow": "hidden",
        "background": "var(--paper)",
    }
    graph.toolbar.update(autohide=True, logo=None)
    graph.xaxis.axis_label, graph.yaxis.axis_label = x_label, y_label
    for axis in graph.axis:
        axis.update(**TICKS, **LABELS)
    for grid in graph.grid:
        grid.update(grid_line_color=_RULE, grid_line_alpha=0.6)
    return graph


def place_legend(graph: figure, location: str, columns: int = 1) -> None:
    """A legend without a frame inside the graph; a click on an entry hides its line."""
    graph.legend[0].update(
        location=location, ncols=columns, border_line_color=None, background_fill_alpha=0.9, padding=4,
        label_text_font_size="12px", spacing=8 if columns > 1 else 0, glyph_width=18, click_policy="hide",
    )  # fmt: skip


def add_hover(graph: figure, renderers: list[object], *rows: tuple[str, str]) -> None:
    """Values beside the pointer."""
    graph.add_tools(HoverTool(renderers=renderers, tooltips=list(rows), mode="vline"))


class FollowingRange:
    """A range that follows the run until somebody zooms or pans, and again after a reset."""

    def __init__(self) -> None:
        self.model = Range1d(0, 1)
        self._set = (0.0, 1.0)

    def follow(self, begin: float, end: float) -> None:
        """New limits."""
        untouched = (self.model.start, self.model.end) == self._set
        self.model.update(reset_start=begin, reset_end=end)
        if untouched:
            self.model.update(start=begin, end=end)
        self._set = (begin, end)
