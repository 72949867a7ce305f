"""What all graphs of the page have in common."""

from __future__ import annotations

from bokeh.models import HoverTool, Range1d
from bokeh.plotting import figure

from sluice_post.style import BLACK

RULE, SOFT = "#dde2e7", "#5d6670"  # as in templates/report.css
TOOLS = "pan,box_zoom,reset,save"


def new_graph(x_label: str, y_label: str, height: int = 270, **options: object) -> figure:
    """An empty graph as wide as its place. Labels are plain text: TeX would load half a second longer."""
    graph = figure(
        height=height, sizing_mode="stretch_width", tools=TOOLS, active_drag=None, min_border_right=12, **options
    )  # fmt: skip
    graph.styles = {"border": f"1px solid {RULE}", "border-radius": "8px", "overflow": "hidden"}
    graph.toolbar.autohide = True
    graph.toolbar.logo = None
    graph.outline_line_color = "#333333"
    graph.xaxis.axis_label, graph.yaxis.axis_label = x_label, y_label
    graph.axis.axis_label_text_font_size = "15px"
    graph.axis.axis_label_text_color = BLACK
    graph.axis.major_label_text_font_size = "12px"
    graph.axis.major_tick_out = 0
    graph.axis.minor_tick_out = 0
    graph.axis.major_tick_in = 6
    graph.axis.minor_tick_in = 3
    graph.grid.grid_line_color = RULE
    graph.grid.grid_line_alpha = 0.6
    return graph


def place_legend(graph: figure, location: str, columns: int = 1) -> None:
    """A legend without a frame inside the graph; a click on an entry hides its line."""
    graph.legend.location = location
    graph.legend.ncols = columns
    graph.legend.border_line_color = None
    graph.legend.background_fill_alpha = 0.7
    graph.legend.label_text_font_size = "12px"
    graph.legend.padding = 4
    graph.legend.spacing = 8 if columns > 1 else 0
    graph.legend.glyph_width = 18
    graph.legend.click_policy = "hide"


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
