"""Entries of a report: figures with their titles and captions, drawn, saved, and made ready for the page."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from matplotlib.figure import Figure

from sluice_post.html import EmbeddedFigure
from sluice_post.style import figure_style, save_png


@dataclass(frozen=True)
class Entry:
    """A figure: the name of its file, its title and caption, and what draws it, if there is something to draw."""

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure | None]
    wide: bool = False


@dataclass(frozen=True)
class Drawn:
    """A figure in its file, and as the page shows it."""

    path: Path
    embedded: EmbeddedFigure


def draw_entries(entries: Sequence[Entry], folder: Path) -> list[Drawn]:
    """Draws and saves the figures, all but those that have nothing to show."""
    drawn = []
    with figure_style():
        for entry in entries:
            drawing = entry.draw()
            if drawing is None:
                continue
            path = folder / f"{entry.name}.png"
            encoded = base64.b64encode(save_png(drawing, path)).decode("ascii")
            drawn.append(Drawn(path, EmbeddedFigure(entry.title, entry.caption, encoded, entry.wide)))
    return drawn
