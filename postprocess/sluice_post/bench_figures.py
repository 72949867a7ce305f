"""Figures of benchmarks.

Bars of times, strong and weak scaling, slabs against pencils, rates against piece sizes, series of times.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from sluice_post.bench import Row
from sluice_post.bench_scaling import SCALING, Collapse, collapses, scaling_curves, strong_scaling
from sluice_post.style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, new_figure

PHASE_COLOURS = (BLUE, ORANGE, VERMILLION, GREEN, PURPLE)
MIB = 1 << 20


def panels(rows: Sequence[Row]) -> list[str]:
    """Kinds, layouts and process grids, the one with the fastest row first."""
    return list(dict.fromkeys(row.panel for row in sorted(rows, key=lambda row: row.median)))


def bars_figure(rows: Sequence[Row]) -> Figure:
    """Bars of the times of round trips: a panel for each kind, layout and process grid. Rows of one experiment.

    The whiskers of a row whose slowest time is far off run out of the figure.
    """
    shown = {
        name: sorted((row for row in rows if row.panel == name), key=lambda row: -row.median) for name in panels(rows)
    }
    figure = new_figure(7.2, 1.2 + 0.55 * len(shown) + 0.28 * len(rows))
    heights = [len(of_panel) + 0.5 for of_panel in shown.values()]
    all_axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    longest = max(max(row.median, sum(row.phases.values())) for row in rows)
    names = list(dict.fromkeys(phase for row in rows for phase in row.phases))
    colours = {name: PHASE_COLOURS[n % len(PHASE_COLOURS)] for n, name in enumerate(names)}
    for axes, (panel, of_panel) in zip(all_axes, shown.items(), strict=True):
        for place, row in enumerate(of_panel):
            start = 0.0
            for name in names:
                if name in row.phases:
                    axes.barh(place, row.phases[name], left=start, height=0.7, color=colours[name])
                    start += row.phases[name]
            if not row.phases:
                axes.barh(place, row.median, height=0.7, color=BLUE)
            below, above = max(0.0, row.median - row.least), max(0.0, row.most - row.median)
            axes.errorbar(row.median, place, xerr=[[below], [above]], color=GREY, capsize=2)
        axes.set_yticks(range(len(of_panel)), [row.exchange for row in of_panel])
        axes.tick_params(axis="y", which="both", length=0)
        axes.set_title(panel, loc="left")
        axes.set_xlim(0, 1.2 * longest)
    all_axes[-1].set_xlabel("ms" if rows[0].what == "links" else "round trip, ms")
    figure.suptitle(rows[0].experiment, fontsize=12)
    if names:
        handles = [all_axes[0].barh(0, 0, color=colours[name], label=name) for name in names]
        all_axes[0].legend(handles=handles, ncols=len(names), loc="lower right", bbox_to_anchor=(1, 1))
    return figure


def _plain_ticks(axes: Axes, axis: str, values: Sequence[int]) -> None:
    """Ticks at these values only, on a logarithmic axis."""
    of_axis = axes.xaxis if axis == "x" else axes.yaxis
    of_axis.set_ticks(sorted(set(values)))
    of_axis.set_major_formatter(ScalarFormatter())
    of_axis.set_minor_formatter(NullFormatter())


def scaling_figure(rows: Sequence[Row]) -> Figure | None:
    """Speed-up of the fastest set-up over the number of ranks, with the exponent of T = C p^-gamma and its error.

    As figures 2 to 4 of Verma et al. (2022). None if no grid was measured with several numbers of ranks.
    """
    curves = scaling_curves(rows, lambda row: row.grid)
    if not curves:
        return None
    figure = new_figure(4.6 * len(SCALING), 4.4)
    for axes, (title, time_of) in zip(figure.subplots(1, len(SCALING)), SCALING.items(), strict=True):
        all_ranks: list[int] = []
        for name, curve in curves.items():
            fit = strong_scaling(curve, time_of)
            if fit is None:
                continue
            points = [(row.ranks, time_of(row)) for row in curve if time_of(row) > 0]
            ranks = [p for p, _ in points]
            times = [time for _, time in points]
            label = rf"{name}, $\gamma$ = {fit.text}"
            axes.loglog(ranks, [times[0] / time for time in times], "o-", label=label)
            all_ranks += ranks
        if all_ranks:
            ends = [min(all_ranks), max(all_ranks)]
            axes.loglog(ends, [1, ends[1] / ends[0]], "--", color=GREY, label="ideal")
            _plain_ticks(axes, "x", all_ranks)
            axes.legend(fontsize=8)
        axes.set_title(title)
        axes.set_xlabel("ranks")
        axes.set_ylabel("speed-up")
    return figure


def collapse_figure(rows: Sequence[Row]) -> Figure | None:
    """1/T of the fastest set-ups over p/N^3 for p ranks and N^3 points, with one power law through all grids.

    As figure 4 of Verma et al. (2022): the grids share a curve as far as the points of a rank decide its time. None
    without several grids, one of them with several numbers of ranks.
    """
    found = collapses(rows)
    if not found:
        return None
    figure = new_figure(4.8 * len(found), 4.4)
    for axes, (name, collapse) in zip(figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True):
        for grid in dict.fromkeys(row.grid for row in collapse.rows):
            of_grid = [row for row in collapse.rows if row.grid == grid]
            densities = [Collapse.density(row) for row in of_grid]
            axes.loglog(densities, [1e3 / row.median for row in of_grid], "o-", label=grid)
        all_densities = [Collapse.density(row) for row in collapse.rows]
        ends = [min(all_densities), max(all_densities)]
        label = rf"$\gamma$ = {collapse.fit.text}"
        axes.loglog(ends, [1e3 / collapse.fit.time(end) for end in ends], "--", color=GREY, label=label)
        axes.legend(fontsize=8)
        axes.set_title(name, loc="left", fontsize=10)
        axes.set_xlabel("ranks per $10^9$ points")
        axes.set_ylabel("round trips per second")
    return figure


TIME = "round trip, ms"
WEAK_SCALING: dict[str, Callable[[Row], float | None]] = {
    TIME: lambda row: row.median,
    "TFLOPS per rank": lambda row: None if row.tflops is None else row.tflops / row.ranks,
    "GB/s that a rank sends": lambda row: row.gb_per_s,
}


def weak_scaling_figure(rows: Sequence[Row]) -> Figure | None:
    """Times and rates per rank of the fastest set-up over the number of ranks, with equal numbers of points per rank.

    None if no number of points per rank was measured with several numbers of ranks.
    """
    curves = scaling_curves(rows, lambda row: f"{row.points / row.ranks:,.0f} points per rank{row.of_fields}")
    shown: dict[str, dict[str, dict[int, float]]] = {}  # values over ranks, by quantity and curve
    for quantity, value_of in WEAK_SCALING.items():
        for name, curve in curves.items():
            values = {row.ranks: value for row in curve if (value := value_of(row)) is not None and value > 0}
            if values:
                shown.setdefault(quantity, {})[name] = values
    if not shown:
        return None
    figure = new_figure(4.6 * len(shown), 4.4)
    for axes, (quantity, of_quantity) in zip(
        figure.subplots(1, len(shown), squeeze=False)[0], shown.items(), strict=True
    ):
        for name, values in of_quantity.items():
            ranks = list(values)
            axes.semilogx(ranks, list(values.values()), "o-", label=name)
            axes.semilogx([ranks[0], ranks[-1]], 2 * [values[ranks[0]]], "--", color=GREY)
        axes.plot([], [], "--", color=GREY, label="ideal")
        if quantity == TIME:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        _plain_ticks(axes, "x", [p for values in of_quantity.values() for p in values])
        axes.legend(fontsize=8)
        axes.set_xlabel("ranks")
        axes.set_ylabel(quantity)
    return figure


def decomposition_figure(rows: Sequence[Row]) -> Figure | None:
    """Slabs against pencils: times over the grids, and relative to the fastest.

    For each number of ranks, precision and device. Each decomposition has its fastest exchange. As figures 5.6 to 5.8
    of Egger (2021). None without both.
    """
    groups: dict[tuple[int, str, str], list[Row]] = {}
    for row in rows:
        if row.what == "fft":
            groups.setdefault((row.ranks, row.precision, row.device_type), []).append(row)
    groups = {
        key: group for key, group in groups.items() if {"slab", "pencil"} <= {row.kind.split("_")[0] for row in group}
    }
    if not groups:
        return None
    devices = {device for _, _, device in groups}
    figure = new_figure(11, 4.2 * len(groups))
    all_axes = figure.subplots(len(groups), 2, squeeze=False)
    for (total, relative), (key, group) in zip(all_axes, sorted(groups.items()), strict=True):
        ranks, precision, device = key
        title = f"{ranks} ranks, {precision} precision"
        if len(devices) > 1:
            title += f"\n{device}"
        grids = [grid for _, grid in sorted({(row.points, row.grid) for row in group})]
        ours = [row for row in group if not row.is_baseline]
        best = {grid: min((row.median for row in ours if row.grid == grid), default=math.nan) for grid in grids}
        for panel in sorted({row.panel for row in group}):
            times: dict[str, float] = {}
            for row in group:
                if row.panel == panel:
                    times[row.grid] = min(row.median, times.get(row.grid, row.median))
            places = [place for place, grid in enumerate(grids) if grid in times]
            measured = [grids[place] for place in places]
            total.semilogy(places, [times[grid] for grid in measured], "o-", label=panel)
            relative.plot(places, [times[grid] / best[grid] for grid in measured], "o-", label=panel)
        total.set_ylabel("round trip, ms")
        relative.set_ylabel("relative to the fastest")
        relative.legend(fontsize=8)
        for axes in (total, relative):
            axes.set_xticks(range(len(grids)), grids)
            axes.tick_params(axis="x", which="minor", length=0)
            axes.set_title(title, loc="left")
    return figure


def pieces_figure(rows: Sequence[Row]) -> Figure | None:
    """The rate of exchanges without a limit on pieces in flight against their size, with the choice marked.

    As figure 6 of Nukada et al. (2012). None if no size was tuned.
    """
    curves = [(row, pieces) for row in rows for pieces in row.pieces if len(pieces.sizes) > 1]
    if not curves:
        return None
    colours: dict[str, str] = {}  # the two directions of a set-up have one colour
    figure = new_figure(7.2, 4.4 + 0.08 * len(curves))
    axes = figure.subplots()
    for row, pieces in curves:
        label = f"{row.what} {row.grid}, {row.ranks} ranks, {row.panel}, {pieces.traffic}".replace(" ,", ",")
        known = colours.get(label)
        sizes = [size / MIB for size in pieces.sizes]
        (line,) = axes.semilogx(sizes, pieces.rates, ".-", color=known, label=None if known else label)
        colours[label] = str(line.get_color())
        if pieces.chosen_rate is not None:
            place = (pieces.chosen / MIB, pieces.chosen_rate)
            axes.plot(*place, "o", markersize=9, fillstyle="none", color=line.get_color())
            if pieces.chosen_in_flight > 0:
                axes.annotate(f"{pieces.chosen_in_flight} in flight", place, fontsize=7)
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticks([size / MIB for _, pieces in curves for size in pieces.sizes if size & (size - 1) == 0])
    axes.set_xlabel("size of pieces, MiB")
    axes.set_ylabel("GB/s")
    axes.set_ylim(bottom=0)
    axes.set_title("circles: chosen", loc="left", fontsize=10)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0, -0.15))
    return figure


def series_figure(rows: Sequence[Row]) -> Figure | None:
    """The times of round trips in a row, with those shaded in which pieces were tuned; a panel for each series.

    As figure 7 of Nukada et al. (2012). None without a series.
    """
    shown = [(row, row.series) for row in rows if row.series is not None]
    if not shown:
        return None
    figure = new_figure(7.2, 1 + 2.4 * len(shown))
    for axes, (row, series) in zip(figure.subplots(len(shown), 1, squeeze=False)[:, 0], shown, strict=True):
        axes.plot(series.milliseconds, ".", markersize=2, color=BLUE)
        for begin, end in series.tuning:
            axes.axvspan(begin - 0.5, end - 0.5, color=ORANGE, alpha=0.3, linewidth=0)
        axes.set_xlim(-0.5, len(series.milliseconds) - 0.5)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("ms")
        axes.set_title(
            f"{row.experiment}\n{row.panel}, {row.exchange}" + ("; shaded: tuning" if series.tuning else ""),
            loc="left",
            fontsize=8,
        )
    axes.set_xlabel("round trip")
    return figure


def all_figures(rows: list[Row]) -> dict[str, Figure]:
    """All figures that these measurements allow, by the endings of their names; bars for each experiment."""
    experiments: dict[str, list[Row]] = {}
    for row in rows:
        experiments.setdefault(row.experiment, []).append(row)
    figures = {
        "" if len(experiments) == 1 else f"_{number}": bars_figure(of_experiment)
        for number, of_experiment in enumerate(experiments.values(), 1)
    }
    for name, figure in (
        ("_scaling", scaling_figure(rows)),
        ("_weak_scaling", weak_scaling_figure(rows)),
        ("_collapse", collapse_figure(rows)),
        ("_decompositions", decomposition_figure(rows)),
        ("_pieces", pieces_figure(rows)),
        ("_series", series_figure(rows)),
    ):
        if figure is not None:
            figures[name] = figure
    return figures
