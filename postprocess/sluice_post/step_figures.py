"""Figures of measured time steps and solves: their budgets by phases, and their weak scaling."""

from __future__ import annotations

import pandas as pd
from matplotlib.figure import Figure

from sluice_post.bench import OTHER, phase_names, shared_and_labels
from sluice_post.bench_figures import plain_ticks, stacked_bar, whiskers
from sluice_post.style import BLACK, BLUE, BROWN, GREEN, GREY, OLIVE, ORANGE, PURPLE, SKY, TEAL, VERMILLION, new_figure

COLOURS = {
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


def budget_figure(steps: pd.DataFrame) -> Figure:
    """Milliseconds of a step by phases, a bar for each result. As figure 7 of Diez Sanhueza et al. (2025)."""
    shared, labels = shared_and_labels(steps)
    figure = new_figure(9, 2.6 + 0.5 * len(steps))
    axes = figure.subplots()
    longest = steps[["milliseconds", "milliseconds_max"]].to_numpy().max()
    places = range(len(steps) - 1, -1, -1)
    for place, step in zip(places, steps.itertuples(), strict=True):
        stacked_bar(axes, place, step.budget, COLOURS)
        start = 0.0
        for time in step.budget.values():
            if time > LEAST_SHARE_WITH_NUMBER * longest:
                axes.text(start + time / 2, place, f"{time:.3g}", color="white", ha="center", va="center", fontsize=9)
            start += time
        whiskers(axes, place - 0.25, step.milliseconds, step.milliseconds_min, step.milliseconds_max, "black")
    axes.set_yticks(list(places), labels)
    axes.tick_params(axis="y", which="both", length=0)
    axes.set_xlim(0, 1.05 * longest)
    axes.set_ylim(-0.6, len(steps) - 0.4)
    axes.set_xlabel("ms")
    figure.suptitle(shared, fontsize=11, wrap=True)
    handles = [axes.barh(0, 0, color=COLOURS.get(name, GREY), label=name) for name in phase_names(steps)]
    figure.legend(handles=handles, ncols=5, loc="outside lower center", fontsize=10)
    return figure


def weak_scaling_figure(steps: pd.DataFrame) -> Figure | None:
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


def all_figures(steps: pd.DataFrame) -> dict[str, Figure]:
    """All figures that these results allow, by the endings of their names."""
    scaling = weak_scaling_figure(steps)
    return {"_phases": budget_figure(steps)} | ({"_phases_weak_scaling": scaling} if scaling is not None else {})
