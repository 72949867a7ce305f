"""The command ``overlay``: panels of several runs in one figure, also of different flows, with published data."""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from sluice_post.cli_options import WIDTHS
from sluice_post.errors import PostError, UsageError
from sluice_post.style import (
    BLACK,
    LINE_STYLES,
    Output,
    current_output,
    figure_style,
    new_figure,
    published_points,
    save_figure,
    written_as,
)

_ALIASES = {"stresses": "shear_stress", "budgets": "budget"}
_PICTURES = ("streaks", "space_time_correlation", "comparison", "density_map")  # of one run alone
_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")  # of published simulations
# The profiles whose published values a panel shows, with the colour of each there.
_PUBLISHED = {
    "mean_velocity": ("U",),
    "fluctuations": ("u_rms", "v_rms", "w_rms", "p_rms"),
    "shear_stress": ("minus_uw", "dUdz"),
    "vorticity": ("omega_x_rms", "omega_y_rms", "omega_z_rms"),
    "skewness": ("skew_u", "skew_w"),
    "flatness": ("flat_u", "flat_v", "flat_w"),
}


def panel_names() -> list[str]:
    """What --panel takes."""
    from sluice_post.plots import RunPlots

    return [name for name in vars(RunPlots) if not name.startswith("_") and name not in _PICTURES]


def _parse(text: str) -> tuple[str, dict[str, Any]]:
    """A panel and its arguments from NAME[:ARGUMENT...]."""
    from sluice_post.plots import RunPlots

    name, *given = text.split(":")
    name = _ALIASES.get(name, name)
    if name not in panel_names():
        raise UsageError(f"no panel {name}; one of {', '.join(panel_names())}")
    parameters = [p for p in inspect.signature(getattr(RunPlots, name)).parameters.values()
                  if p.kind is p.POSITIONAL_OR_KEYWORD and p.name not in ("self", "published")]  # fmt: skip
    if not sum(p.default is p.empty for p in parameters) <= len(given) <= len(parameters):
        names = "".join(f":{p.name}" for p in parameters) or ", without arguments"
        raise UsageError(f"{text}: the panel is {name}{names}")
    options: dict[str, Any] = {p.name: value for p, value in zip(parameters, given, strict=False)}
    for number, what in {"height": "neither a height z+ nor centre", "segment": "not a time"}.items():
        try:
            if number in options:
                options[number] = np.inf if options[number] == "centre" else float(options[number])
        except ValueError:
            raise UsageError(f"{text}: '{options[number]}' is {what}") from None
    return name, options


def _draw_published(axes: Axes, name: str, references: Sequence[Any]) -> None:
    """Symbols of published profiles, a kind for each simulation, in the colours of the lines."""
    from sluice_post.deviations import COLOURS

    names = _PUBLISHED.get(name, ())
    for (reference, _), marker in zip(references, _MARKERS, strict=False):
        for quantity in names:
            if reference is None or quantity not in reference.values:
                continue
            x, y = reference.z_plus[quantity], reference.values[quantity]
            if name == "shear_stress":
                x, at = x / reference.re_tau, np.linspace(0.03, 1, 22)
            else:
                low, high = axes.get_xlim()
                at = np.geomspace(max(low, x[x > 0][0]), min(high, x[-1]), 26)
            marks = np.unique(np.searchsorted(x, at).clip(max=len(x) - 1))
            colour = COLOURS[quantity] if len(names) > 1 else BLACK
            published_points(axes, x[marks], y[marks], colour, marker=marker)


def draw_overlay(
    runs: Sequence[Any], labels: Sequence[str], panels: Sequence[str], references: Sequence[Any], spectra: Sequence[Any]
) -> tuple[Any, list[str]]:
    """The figure, and sentences on what is left out of it.

    `references`: of each published simulation its profiles and its budgets; `spectra`: published spectra.
    """
    parsed = [_parse(panel) for panel in panels]
    narrow = (current_output().width or WIDTHS["two"]) < WIDTHS["two"] * 0.75
    columns = 1 if narrow or len(parsed) == 1 else 2
    rows = -(-len(parsed) // columns)
    figure = new_figure(4.8 * columns if columns > 1 else 6.4, (3.5 if columns > 1 else 4.2) * rows + 0.4)
    grid = list(figure.subplots(rows, columns, squeeze=False).flat)
    left_out = []
    for axes, (name, options), asked in zip(grid, parsed, panels, strict=False):
        drawn, stress = 0, options.get("stress", "k")
        budgets = {n: found for n, (_, found) in enumerate(references) if name == "budget" and stress in found}
        first, *others = budgets or [0]  # the panel shows one published budget, with the symbols of its simulation
        for n, (run, label) in enumerate(zip(runs, labels, strict=True)):
            more = dict(options)
            if name in ("spectrum", "two_point_correlation") and drawn == 0:
                more["published"] = spectra
            if budgets and drawn == 0:
                more["published"] = budgets[first]
            try:
                style = LINE_STYLES[n % len(LINE_STYLES)]
                getattr(run.plot, name)(ax=axes, label=label, linestyle=style, **more)
                drawn += 1
            except PostError as error:
                left_out.append(f"{asked}: without {label} ({error})")
            except (KeyError, IndexError) as error:
                left_out.append(f"{asked}: without {label} (it has no {error})")
        if drawn == 0:
            raise UsageError(f"no run has the panel {asked}: {left_out[-1]}")
        left_out += [f"{asked}: without {budgets[n][stress].label} (one published budget is shown)" for n in others]
        for line in axes.lines if budgets else ():
            if line.get_marker() == "o":
                line.set_marker(_MARKERS[first])
        _draw_published(axes, name, references)
        _finish(axes, labels)
    for axes in grid[len(parsed) :]:
        axes.set_visible(False)
    _legend_of_runs(figure, labels, references, spectra)
    return figure, left_out


def _finish(axes: Axes, labels: Sequence[str]) -> None:
    """The legend of a panel names quantities; the one of the figure names runs."""
    present = axes.get_legend()
    handles, names = axes.get_legend_handles_labels()
    for handle, name in zip(handles, names, strict=True):
        if name in labels:
            handle.set_label("_run")
    if present is None:
        return
    others = dict(zip(reversed(names), reversed(handles), strict=True))
    kept = [name for name in dict.fromkeys(names) if name not in labels]
    present.remove()
    if kept:
        axes.legend([others[name] for name in kept], kept, loc="best")


def _legend_of_runs(figure: Any, labels: Sequence[str], references: Sequence[Any], spectra: Sequence[Any]) -> None:
    from matplotlib.lines import Line2D

    def symbol(marker: str, name: str) -> Line2D:
        return Line2D([], [], color=BLACK, linestyle="none", marker=marker, markerfacecolor="white", label=name)

    handles = [Line2D([], [], color=BLACK, linestyle=LINE_STYLES[n % len(LINE_STYLES)], label=label)
               for n, label in enumerate(labels)]  # fmt: skip
    for (profiles, budgets), marker in zip(references, _MARKERS, strict=False):
        one = profiles or next(iter(budgets.values()))
        handles.append(symbol(marker, rf"{one.citation}, $Re_\tau={one.re_tau:.0f}$" if one.citation else one.label))
    if spectra and not references:
        handles.append(symbol("o", "published"))
    figure.legend(handles=handles, loc="outside lower center", ncols=min(len(handles), 4))


def write_overlay(arguments: argparse.Namespace) -> None:
    """Draws several runs into one figure."""
    import sluice_post
    from sluice_post.reference import read_references
    from sluice_post.spectra_reference import holds_spectra, read_all_spectra

    labels = arguments.label or [directory.resolve().name for directory in arguments.directories]
    if len(labels) != len(arguments.directories):
        raise UsageError(f"{len(labels)} labels for {len(arguments.directories)} directories")
    if len(set(labels)) < len(labels):
        raise UsageError(f"two runs have the same name ({', '.join(labels)}); give names by --label")
    groups: list[list[Path]] = arguments.reference or []
    if len(groups) > len(_MARKERS):
        raise UsageError(f"{len(groups)} published simulations; {len(_MARKERS)} can be told apart: give fewer")
    spectra = read_all_spectra([path for group in groups for path in group if holds_spectra(path)])
    profiles = [[path for path in group if not holds_spectra(path)] for group in groups]
    references = [read_references(group) for group in profiles if group]
    runs = [sluice_post.open(directory, arguments.begin, arguments.end) for directory in arguments.directories]
    asked = current_output()
    width = asked.width or WIDTHS["two" if len(arguments.panels) > 1 else "one"]
    with written_as(Output(asked.formats, width)), figure_style():
        figure, left_out = draw_overlay(runs, labels, arguments.panels, references, spectra)
        for sentence in left_out:
            print(sentence)
        for path in save_figure(figure, arguments.output):
            print(f"figure: {path}")
