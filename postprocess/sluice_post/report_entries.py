"""Parts of a report: figures with their titles and captions, drawn, saved and made ready for the page; tables."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from matplotlib.figure import Figure

from sluice_post import export, layout
from sluice_post.alt_texts import alt_text
from sluice_post.movies import Movie, Scene, movie_over
from sluice_post.style import Output, current_output, figure_style, png_bytes, save_figure, written_as


@dataclass(frozen=True)
class Entry:
    """A figure: the name of its file, its title and caption, and what draws it, if there is something to draw.

    `wide`: it has a row to itself. Where it shows the latest of several slices, `scene` says which; the page then has
    the others as well.
    """

    name: str
    title: str
    caption: str
    draw: Callable[[], Figure | None]
    wide: bool = False
    scene: Scene | None = None


@dataclass(frozen=True)
class Drawn:
    """A figure in its files, and as the page shows it: a PNG in base64, and in words."""

    entry: Entry
    paths: list[Path]
    png: str
    alt: str
    movie: Movie | None

    @property
    def written(self) -> str:
        """Its files."""
        return ", ".join(map(str, self.paths))


@dataclass(frozen=True)
class Part:
    """Figures and tables of one kind of results. `tables`: texts of CSV files by their names.

    `wall`: from which wall all this is seen, where there is a choice: stands above the figures.
    """

    entries: Sequence[Entry]
    tables: dict[str, str] = field(default_factory=dict)
    wall: str = ""

    def write_tables(self, folder: Path) -> list[Path]:
        """The tables as files; their paths."""
        for name, text in self.tables.items():
            export.write_text(folder / name, text)
        return [folder / name for name in self.tables]

    def write(self, folder: Path) -> list[Path]:
        """Tables, and figures in a folder of their own; their paths."""
        drawn = self.draw(folder / layout.FIGURE_FOLDER)
        return [*self.write_tables(folder), *(path for one in drawn for path in one.paths)]

    def draw(self, folder: Path, problems: list[str] | None = None) -> list[Drawn]:
        """Draws and saves the figures, all but those that have nothing to show; `problems`: what went wrong."""
        drawn, in_print = [], current_output().is_print
        for entry in self.entries:
            with figure_style():
                if (figure := self._figure(entry)) is None:
                    continue
                paths = save_figure(figure, folder / f"{entry.name}.png")
            with written_as(Output()), figure_style():  # the page is for the screen
                if in_print:
                    figure = self._figure(entry)
                    assert figure is not None
                png, movie = png_bytes(figure) if in_print else paths[0].read_bytes(), None
                if entry.scene is not None:
                    figure.axes[0].set_title("", loc="right")  # the time, which the page shows beside the slider
                    untimed = png_bytes(figure)
                    movie = movie_over(figure, entry.scene, [] if problems is None else problems)
                    png = untimed if movie is not None else png
                encoded = base64.b64encode(png).decode("ascii")
                drawn.append(Drawn(entry, paths, encoded, alt_text(entry.title, figure), movie))
        return drawn

    def _figure(self, entry: Entry) -> Figure | None:
        figure = entry.draw()
        if figure is not None and self.wall:
            figure.suptitle(f"seen from the {self.wall}", fontsize="small")
        return figure
