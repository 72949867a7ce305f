"""Figures of benchmarks.

Bars of times, strong and weak scaling, slabs against pencils, rates against piece sizes, series of times; of time steps
and solves their budgets by phases, and their weak scaling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from math import inf
from typing import Any

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from sluice_post.bench import OTHER, Results, phase_names, shared_and_labels
from sluice_post.bench_scaling import SCALING, collapses, scaling_curves, strong_scaling
from sluice_post.style import BLACK, BLUE, BROWN, GREEN, GREY, OLIVE, ORANGE, PURPLE, SKY, TEAL, VERMILLION, new_figure

STEP_COLOURS = {  # of the phases of a step
    "momentum": BLUE,
    "scalars": BLACK,
    "divergence": TEAL,
    "implicit diffusion": ORANGE,
    "fft x": GREEN,
    "fft y": OLIVE,
    "transpose": VERMILLION,
    "tridiagonal": SKY,
    "diffusion transpose": "#E8A0A0",
    "diffusion tridiagonal": "#A08CC8",
    "halo exchange": PURPLE,
    "correction": BROWN,
    "time step": "#C8C8C8",
    OTHER: GREY,
}
LEAST_SHARE_WITH_NUMBER = 0.05
# Steps of a curve of weak scaling share all but ranks, grid and what follows from them.
_SAME_WORK = ["points_per_rank", "what", "diffusion", "order", "scalars", "tridiagonal", "precision", "device_type"]
PHASE_COLOURS = (BLUE, ORANGE, VERMILLION, GREEN, PURPLE)
MIB = 1 << 20


def plain_ticks(axis: Axis, values: Iterable[float]) -> None:
    """Ticks at these values only, on a logarithmic axis."""
    axis.set_ticks(sorted(set(values)))
    axis.set_major_formatter(ScalarFormatter())
    axis.set_minor_formatter(NullFormatter())


def stacked_bar(
    axes: Axes, place: float, times: Mapping[str, float], colours: Mapping[str, str], with_number: float = inf
) -> None:
    """A bar whose parts are as long as the times, one after the other; with the numbers of those that are longer."""
    start = 0.0
    for name, time in times.items():
        axes.barh(place, time, left=start, height=0.7, color=colours.get(name, GREY))
        if time > with_number:
            axes.text(start + time / 2, place, f"{time:.3g}", color="white", ha="center", va="center", fontsize=9)
        start += time


def whiskers(axes: Axes, place: float, row: Any, color: str = GREY) -> None:
    """From the shortest to the longest time."""
    median, low, high = row.milliseconds, row.milliseconds_min, row.milliseconds_max
    axes.errorbar(median, place, xerr=[[max(0.0, median - low)], [max(0.0, high - median)]], color=color, capsize=2)


def panels(rows: pd.DataFrame) -> list[str]:
    """Kinds, layouts and process grids, the one with the fastest row first."""
    return list(rows.sort_values("milliseconds", kind="stable").panel.unique())


def bars_figure(rows: pd.DataFrame) -> Figure:
    """Bars of the times of round trips: a panel for each kind, layout and process grid. Rows of one experiment.

    The whiskers of a row whose slowest time is far off run out of the figure.
    """
    shown = {
        name: rows[rows.panel == name].sort_values("milliseconds", ascending=False, kind="stable")
        for name in panels(rows)
    }
    figure = new_figure(7.2, 1.2 + 0.55 * len(shown) + 0.28 * len(rows))
    heights = [len(of_panel) + 0.5 for of_panel in shown.values()]
    all_axes = figure.subplots(len(shown), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    longest = max(max(row.milliseconds, sum(row.phases.values())) for row in rows.itertuples())
    names = list(dict.fromkeys(phase for phases in rows.phases for phase in phases))
    colours = {name: PHASE_COLOURS[n % len(PHASE_COLOURS)] for n, name in enumerate(names)}
    for axes, (panel, of_panel) in zip(all_axes, shown.items(), strict=True):
        for place, row in enumerate(of_panel.itertuples()):
            times = {name: row.phases[name] for name in names if name in row.phases}
            stacked_bar(axes, place, times or {"": row.milliseconds}, colours | {"": BLUE})
            whiskers(axes, place, row)
        axes.set_yticks(range(len(of_panel)), list(of_panel.exchange))
        axes.tick_params(axis="y", which="both", length=0)
        axes.set_title(panel, loc="left")
        axes.set_xlim(0, 1.2 * longest)
    all_axes[-1].set_xlabel("ms" if rows.what.iloc[0] in ("links", "checkpoint") else "round trip, ms")
    figure.suptitle(rows.experiment.iloc[0], fontsize=12)
    if names:
        handles = [all_axes[0].barh(0, 0, color=colours[name], label=name) for name in names]
        all_axes[0].legend(handles=handles, ncols=len(names), loc="lower right", bbox_to_anchor=(1, 1))
    return figure


def scaling_figure(rows: pd.DataFrame) -> Figure | None:
    """Speed-up of the fastest set-up over the number of ranks, with the exponent of T = C p^-gamma and its error.

    As figures 2 to 4 of Verma et al. (2022). None if no grid was measured with several numbers of ranks.
    """
    curves = scaling_curves(rows, rows.grid)
    if not curves:
        return None
    figure = new_figure(4.6 * len(SCALING), 4.4)
    for axes, (title, time_of) in zip(figure.subplots(1, len(SCALING)), SCALING.items(), strict=True):
        all_ranks: list[int] = []
        for name, curve in curves.items():
            ranks, times, fit = strong_scaling(curve, time_of)
            if fit is None:
                continue
            label = rf"{name}, $\gamma$ = {fit.text}"
            axes.loglog(ranks, [times[0] / time for time in times], "o-", label=label)
            all_ranks += ranks
        if all_ranks:
            ends = [min(all_ranks), max(all_ranks)]
            axes.loglog(ends, [1, ends[1] / ends[0]], "--", color=GREY, label="ideal")
            plain_ticks(axes.xaxis, all_ranks)
            axes.legend(fontsize=8)
        axes.set_title(title)
        axes.set_xlabel("ranks")
        axes.set_ylabel("speed-up")
    return figure


def collapse_figure(rows: pd.DataFrame) -> Figure | None:
    """1/T of the fastest set-ups over p/N^3 for p ranks and N^3 points, with one power law through all grids.

    As figure 4 of Verma et al. (2022): the grids share a curve as far as the points of a rank decide its time. None
    without several grids, one of them with several numbers of ranks.
    """
    found = collapses(rows)
    if not found:
        return None
    figure = new_figure(4.8 * len(found), 4.4)
    for axes, (name, (group, fit)) in zip(figure.subplots(1, len(found), squeeze=False)[0], found.items(), strict=True):
        for grid, of_grid in group.groupby("grid", sort=False):
            axes.loglog(of_grid.density, 1e3 / of_grid.milliseconds, "o-", label=grid)
        ends = [group.density.min(), group.density.max()]
        rates = [1e3 / fit.time(end) for end in ends]
        axes.loglog(ends, rates, "--", color=GREY, label=rf"$\gamma$ = {fit.text}")
        axes.legend(fontsize=8)
        axes.set_title(name, loc="left", fontsize=10)
        axes.set_xlabel("ranks per $10^9$ points")
        axes.set_ylabel("round trips per second")
    return figure


TIME = "round trip, ms"
WEAK_SCALING: dict[str, Callable[[pd.DataFrame], pd.Series]] = {
    TIME: lambda curve: curve.milliseconds,
    "TFLOPS per rank": lambda curve: curve.tflops / curve.ranks,
    "GB/s that a rank sends": lambda curve: curve.gb_per_s,
}


def weak_scaling_figure(rows: pd.DataFrame) -> Figure | None:
    """Times and rates per rank of the fastest set-up over the number of ranks, with equal numbers of points per rank.

    None if no number of points per rank was measured with several numbers of ranks.
    """
    sizes = (rows.points / rows.ranks).map("{:,.0f} points per rank".format) + rows.of_fields
    shown: dict[str, dict[str, pd.Series]] = {}  # values over ranks, by quantity and curve
    for name, curve in scaling_curves(rows, sizes).items():
        for quantity, value_of in WEAK_SCALING.items():
            values = value_of(curve.set_index("ranks", drop=False))
            if (values > 0).any():
                shown.setdefault(quantity, {})[name] = values[values > 0]
    if not shown:
        return None
    figure = new_figure(4.6 * len(shown), 4.4)
    quantities = [quantity for quantity in WEAK_SCALING if quantity in shown]
    for axes, quantity in zip(figure.subplots(1, len(shown), squeeze=False)[0], quantities, strict=True):
        for name, values in shown[quantity].items():
            axes.semilogx(values.index, values, "o-", label=name)
            axes.semilogx(values.index[[0, -1]], 2 * [values.iloc[0]], "--", color=GREY)
        axes.plot([], [], "--", color=GREY, label="ideal")
        if quantity == TIME:
            axes.set_yscale("log")
        else:
            axes.set_ylim(bottom=0)
        plain_ticks(axes.xaxis, [p for values in shown[quantity].values() for p in values.index])
        axes.legend(fontsize=8)
        axes.set_xlabel("ranks")
        axes.set_ylabel(quantity)
    return figure


def decomposition_figure(rows: pd.DataFrame) -> Figure | None:
    """Slabs against pencils: times over the grids, and relative to the fastest.

    For each number of ranks, precision and device. Each decomposition has its fastest exchange. As figures 5.6 to 5.8
    of Egger (2021). None without both.
    """
    groups = [
        group
        for group in rows[rows.what == "fft"].groupby(["ranks", "precision", "device_type"])
        if {"slab", "pencil"} <= set(group[1].kind.str.split("_").str[0])
    ]
    if not groups:
        return None
    several_devices = len({device for (_, _, device), _ in groups}) > 1
    figure = new_figure(11, 4.2 * len(groups))
    all_axes = figure.subplots(len(groups), 2, squeeze=False)
    for (total, relative), ((ranks, precision, device), group) in zip(all_axes, groups, strict=True):
        title = f"{ranks} ranks, {precision} precision" + (f"\n{device}" if several_devices else "")
        grids = list(group.sort_values(["points", "grid"]).grid.unique())
        best = group[~group.is_baseline].groupby("grid").milliseconds.min()
        for panel, of_panel in group.groupby("panel"):
            times = of_panel.groupby("grid").milliseconds.min()
            places = [place for place, grid in enumerate(grids) if grid in times]
            measured = [grids[place] for place in places]
            total.semilogy(places, times[measured], "o-", label=panel)
            relative.plot(places, times[measured] / best.reindex(measured), "o-", label=panel)
        total.set_ylabel("round trip, ms")
        relative.set_ylabel("relative to the fastest")
        relative.legend(fontsize=8)
        for axes in (total, relative):
            axes.set_xticks(range(len(grids)), grids)
            axes.tick_params(axis="x", which="minor", length=0)
            axes.set_title(title, loc="left")
    return figure


def pieces_figure(rows: pd.DataFrame) -> Figure | None:
    """The rate of exchanges without a limit on pieces in flight against their size, with the choice marked.

    As figure 6 of Nukada et al. (2012). None if no size was tuned.
    """
    curves = [(row, pieces) for row in rows.itertuples() for pieces in row.pieces if len(pieces["rates"]) > 1]
    if not curves:
        return None
    colours: dict[str, str] = {}  # the two directions of a set-up have one colour
    figure = new_figure(7.2, 4.4 + 0.08 * len(curves))
    axes = figure.subplots()
    for row, pieces in curves:
        label = f"{row.what} {row.grid}, {row.ranks} ranks, {row.panel}, {pieces['traffic']}".replace(" ,", ",")
        known = colours.get(label)
        sizes = [size / MIB for size in pieces["rates"]]
        rates = list(pieces["rates"].values())
        (line,) = axes.semilogx(sizes, rates, ".-", color=known, label=None if known else label)
        colours[label] = str(line.get_color())
        if pieces["chosen_rate"] is not None:
            size, in_flight = pieces["chosen"]
            place = (size / MIB, pieces["chosen_rate"])
            axes.plot(*place, "o", markersize=9, fillstyle="none", color=line.get_color())
            if in_flight > 0:
                axes.annotate(f"{in_flight} in flight", place, fontsize=7)
    plain_ticks(axes.xaxis, [size / MIB for _, pieces in curves for size in pieces["rates"] if size & (size - 1) == 0])
    axes.set_xlabel("size of pieces, MiB")
    axes.set_ylabel("GB/s")
    axes.set_ylim(bottom=0)
    axes.set_title("circles: chosen", loc="left", fontsize=10)
    axes.legend(fontsize=7, loc="upper left", bbox_to_anchor=(0, -0.15))
    return figure


def series_figure(rows: pd.DataFrame) -> Figure | None:
    """The times of round trips in a row, with those shaded in which pieces were tuned; a panel for each series.

    As figure 7 of Nukada et al. (2012). None without a series.
    """
    shown = [row for row in rows.itertuples() if row.series is not None]
    if not shown:
        return None
    figure = new_figure(7.2, 1 + 2.4 * len(shown))
    for axes, row in zip(figure.subplots(len(shown), 1, squeeze=False)[:, 0], shown, strict=True):
        times, tuning = row.series["milliseconds"], row.series["tuning"]
        axes.plot(times, ".", markersize=2, color=BLUE)
        for begin, end in tuning:
            axes.axvspan(begin - 0.5, end - 0.5, color=ORANGE, alpha=0.3, linewidth=0)
        axes.set_xlim(-0.5, len(times) - 0.5)
        axes.set_ylim(bottom=0)
        axes.set_ylabel("ms")
        title = f"{row.experiment}\n{row.panel}, {row.exchange}" + ("; shaded: tuning" if tuning else "")
        axes.set_title(title, loc="left", fontsize=8)
    axes.set_xlabel("round trip")
    return figure


def budget_figure(steps: pd.DataFrame) -> Figure:
    """Milliseconds of a step by phases, a bar for each result. As figure 7 of Diez Sanhueza et al. (2025)."""
    shared, labels = shared_and_labels(steps)
    figure = new_figure(9, 2.6 + 0.5 * len(steps))
    axes = figure.subplots()
    longest = steps[["milliseconds", "milliseconds_max"]].to_numpy().max()
    places = range(len(steps) - 1, -1, -1)
    for place, step in zip(places, steps.itertuples(), strict=True):
        stacked_bar(axes, place, step.budget, STEP_COLOURS, LEAST_SHARE_WITH_NUMBER * longest)
        whiskers(axes, place - 0.25, step, "black")
    axes.set_yticks(list(places), labels)
    axes.tick_params(axis="y", which="both", length=0)
    axes.set_xlim(0, 1.05 * longest)
    axes.set_ylim(-0.6, len(steps) - 0.4)
    axes.set_xlabel("ms")
    figure.suptitle(shared, fontsize=11, wrap=True)
    handles = [axes.barh(0, 0, color=STEP_COLOURS.get(name, GREY), label=name) for name in phase_names(steps)]
    figure.legend(handles=handles, ncols=5, loc="outside lower center", fontsize=10)
    return figure


def step_weak_scaling_figure(steps: pd.DataFrame) -> Figure | None:
    """Time of a step, relative to that on the fewest ranks with as many points per rank, over the number of ranks.

    Of several process grids or exchange methods the fastest counts. As figure 6 of Diez Sanhueza et al. (2025). None if
    no work per rank was measured with several numbers of ranks.
    """
    groups = steps.assign(points_per_rank=(steps.points / steps.ranks).round()).groupby(_SAME_WORK, sort=False)
    fastest = [group.sort_values("milliseconds").drop_duplicates("ranks").sort_values("ranks") for _, group in groups]
    curves = [curve for curve in fastest if len(curve) > 1]
    if not curves:
        return None
    shared, labels = shared_and_labels(pd.concat([curve.head(1) for curve in curves]))
    figure = new_figure(9.6, 4.4)
    total, relative = figure.subplots(1, 2)
    for curve, label in zip(curves, labels, strict=True):
        total.plot(curve.ranks, curve.milliseconds, "o-", label=label)
        relative.plot(curve.ranks, curve.milliseconds.iloc[0] / curve.milliseconds, "o-")
    for axes in (total, relative):
        axes.set_xscale("log", base=2)
        plain_ticks(axes.xaxis, [ranks for curve in curves for ranks in curve.ranks])
        axes.set_ylim(0, 1.1 * axes.get_ylim()[1])
        axes.set_xlabel("ranks")
    relative.axhline(1, linestyle="--", color=GREY)
    total.set_ylabel("ms")
    relative.set_ylabel("weak-scaling efficiency")
    figure.suptitle(f"on the fewest ranks: {shared}" if shared else "", fontsize=11, wrap=True)
    if len(curves) > 1:
        total.legend(fontsize=9)
    return figure


def all_figures(results: Results) -> dict[str, Figure]:
    """All figures that these measurements allow, by the endings of their names; bars for each experiment."""
    rows, steps = results.rows, results.steps
    figures: dict[str, Figure | None] = {}
    if not rows.empty:
        experiments = [group for _, group in rows.groupby("experiment", sort=False)]
        for number, group in enumerate(experiments, 1):
            figures["" if len(experiments) == 1 else f"_{number}"] = bars_figure(group)
        figures |= {
            "_scaling": scaling_figure(rows),
            "_weak_scaling": weak_scaling_figure(rows),
            "_collapse": collapse_figure(rows),
            "_decompositions": decomposition_figure(rows),
            "_pieces": pieces_figure(rows),
            "_series": series_figure(rows),
        }
    if not steps.empty:
        figures |= {"_phases": budget_figure(steps), "_phases_weak_scaling": step_weak_scaling_figure(steps)}
    return {name: figure for name, figure in figures.items() if figure is not None}
