"""Entries of a report: figures with their titles and captions, drawn, saved, and made ready for the page."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from matplotlib.figure import Figure

from sluice_post.alt_texts import alt_text
from sluice_post.html import EmbeddedFigure
from sluice_post.movies import Scene, movie_over
from sluice_post.style import Output, current_output, figure_style, png_bytes, save_figure, written_as


@dataclass(frozen=True)
class Entry:
    """A figure: the name of its file, its title and caption, and what draws it, if there is something to draw.

    Where it shows the latest of several slices, `scene` says which; the page then has the others as well.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure | None]
    wide: bool = False
    scene: Scene | None = None
    wall: str = ""  # of which wall what it shows is, where there is a choice: stands above the figure


def of_wall(entries: Sequence[Entry], wall: str) -> list[Entry]:
    """These entries, which show what is seen from a wall."""
    return [replace(entry, wall=wall) for entry in entries]


@dataclass(frozen=True)
class Drawn:
    """A figure in its files, and as the page shows it."""

    paths: list[Path]
    embedded: EmbeddedFigure

    @property
    def written(self) -> str:
        """Its files."""
        return ", ".join(map(str, self.paths))


def draw_entries(entries: Sequence[Entry], folder: Path, problems: list[str] | None = None) -> list[Drawn]:
    """Draws and saves the figures, all but those that have nothing to show; `problems` takes up what went wrong."""
    drawn, current = [], current_output()
    for entry in entries:
        with figure_style():
            drawing = _drawing(entry)
            if drawing is None:
                continue
            paths = save_figure(drawing, folder / f"{entry.name}.png")
        with written_as(Output()), figure_style():  # the page is for the screen
            if current.is_print:
                drawing = _drawing(entry)
            assert drawing is not None
            embedded = _embedded(entry, drawing, None if current.is_print else paths[0], problems)
        drawn.append(Drawn(paths, embedded))
    return drawn


def _drawing(entry: Entry) -> Figure | None:
    drawing = entry.draw()
    if drawing is not None and entry.wall:
        drawing.suptitle(f"seen from the {entry.wall}", fontsize="small")
    return drawing


def _embedded(entry: Entry, drawing: Figure, file: Path | None, problems: list[str] | None) -> EmbeddedFigure:
    """The figure on the page; `file` holds it where it has been drawn already."""
    png = png_bytes(drawing) if file is None else file.read_bytes()
    movie = None
    if entry.scene is not None:
        drawing.axes[0].set_title("", loc="right")  # the time, which the page shows beside the slider
        untimed = png_bytes(drawing)
        movie = movie_over(drawing, entry.scene, [] if problems is None else problems)
        png = untimed if movie is not None else png
    encoded, alt = base64.b64encode(png).decode("ascii"), alt_text(entry.title, drawing)
    return EmbeddedFigure(entry.title, entry.caption, encoded, entry.wide, movie, alt)
