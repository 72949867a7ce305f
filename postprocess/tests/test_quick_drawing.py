"""What spares work of Matplotlib changes no pixel."""

from io import BytesIO

import numpy as np
import pytest
from matplotlib.axis import Axis
from matplotlib.backends.backend_agg import FigureCanvasAgg
from quick_drawing import quick

from sluice_post.style import figure_style, log_wall_axis, new_figure, png_bytes

plain_paint = FigureCanvasAgg.print_png  # before a fixture replaces it


def several_panels():
    """Linear and logarithmic axes, labels that are aligned, a second ordinate, a colour bar and a title."""
    x = np.geomspace(0.2, 180, 50)
    figure = new_figure(8.0, 3.0)
    first, second = figure.subplots(1, 2)
    first.plot(x, 2.5 * np.log(x) + 5, label=r"$U^+$ at $z^+=15$")
    log_wall_axis(first, x)
    first.legend()
    second.plot(x, 1e-7 * np.sin(x))
    second.set_ylabel(r"$\langle uw\rangle^+$")
    second.twinx().set_ylabel("of the right")
    figure.colorbar(second.pcolormesh(np.outer(x, x)), ax=second, label=r"$u^+$")
    figure.suptitle("seen from the bottom")
    figure.align_ylabels()
    return figure


def plain_png(figure):
    buffer = BytesIO()
    figure.dpi = 50
    plain_paint(FigureCanvasAgg(figure), buffer, metadata={"Software": "sluice-post"})
    return buffer.getvalue()


def count_updates(monkeypatch):
    """How often Matplotlib finds the ticks of an axis anew, counted from now on."""
    updates, update = [], Axis._update_ticks
    monkeypatch.setattr(Axis, "_update_ticks", lambda axis: updates.append(axis) or update(axis))
    return updates


def test_the_pixels_are_those_of_matplotlib(monkeypatch):
    updates = count_updates(monkeypatch)
    with figure_style():
        plain, often = plain_png(several_panels()), len(updates)
        assert png_bytes(several_panels()) == plain
        assert len(updates) - often < often / 3


def test_a_figure_that_changes_is_drawn_as_it_is():
    """As for the page of a report, which has the same figure once more, without its time."""
    with figure_style():
        figure = several_panels()
        png_bytes(figure)
        figure.axes[0].set_xlim(1, 1000)
        figure.axes[1].set_ylabel("another")
        figure.axes[1].yaxis.set_major_formatter("{x:.3g} long")
        expected = several_panels()
        plain_png(expected)  # a second layout begins with the first
        expected.axes[0].set_xlim(1, 1000)
        expected.axes[1].set_ylabel("another")
        expected.axes[1].yaxis.set_major_formatter("{x:.3g} long")
        assert png_bytes(figure) == plain_png(expected)


@pytest.mark.parametrize("lacking", ["_update_ticks", "_get_ticklabel_bboxes"])
def test_a_matplotlib_without_these_functions_draws(monkeypatch, lacking):
    class Bare:
        axes = ()

        def __getattr__(self, name):
            if name == lacking:
                raise AttributeError(name)
            return None

    axes = type("Axes", (), {"xaxis": Bare(), "yaxis": Bare()})()
    figure = type("Figure", (), {"axes": [axes]})()
    canvas = type("Canvas", (), {"get_renderer": staticmethod(object)})()
    with quick(figure, canvas):
        assert not vars(axes.xaxis)
