"""Figures of measured time steps and solves: their budgets by phases, and their weak scaling."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.figure import Figure
from matplotlib.ticker import NullFormatter, ScalarFormatter

from sluice_post.bench_steps import OTHER, Step, phase_names, shared_and_labels
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


def budget_figure(steps: Sequence[Step]) -> Figure:
    """Milliseconds of a step by phases, a bar for each result. As figure 7 of Diez Sanhueza et al. (2025)."""
    shared, labels = shared_and_labels(steps)
    names = phase_names(steps)
    figure = new_figure(9, 2.6 + 0.5 * len(steps))
    axes = figure.subplots()
    longest = max(max(step.median, step.most) for step in steps)
    places = range(len(steps) - 1, -1, -1)
    for place, step in zip(places, steps, strict=True):
        start = 0.0
        for name, time in step.budget.items():
            axes.barh(place, time, left=start, height=0.7, color=COLOURS.get(name, GREY))
            if time > LEAST_SHARE_WITH_NUMBER * longest:
                middle = start + time / 2
                axes.text(middle, place, f"{time:.3g}", color="white", ha="center", va="center", fontsize=9)
            start += time
        spread = [[max(0.0, step.median - step.least)], [max(0.0, step.most - step.median)]]
        axes.errorbar(step.median, place - 0.25, xerr=spread, color="black", capsize=2)
    axes.set_yticks(list(places), labels)
    axes.tick_params(axis="y", which="both", length=0)
    axes.set_xlim(0, 1.05 * longest)
    axes.set_ylim(-0.6, len(steps) - 0.4)
    axes.set_xlabel("ms")
    figure.suptitle(shared, fontsize=11, wrap=True)
    handles = [axes.barh(0, 0, color=COLOURS.get(name, GREY), label=name) for name in names]
    figure.legend(handles=handles, ncols=5, loc="outside lower center", fontsize=10)
    return figure


def _same_work(step: Step) -> tuple[object, ...]:
    """What steps of a curve of weak scaling share: all but ranks, grid and what follows from them."""
    per_rank = round(step.points / step.ranks)
    names = (step.what, step.diffusion, step.order, step.scalars, step.tridiagonal, step.precision)
    return (per_rank, *names, step.set_up["device"])


def weak_scaling_figure(steps: Sequence[Step]) -> Figure | None:
    """Time of a step, relative to that on the fewest ranks with as many points per rank, over the number of ranks.

    Of several process grids or exchange methods the fastest counts. As figure 6 of Diez Sanhueza et al. (2025). None if
    no work per rank was measured with several numbers of ranks.
    """
    groups: dict[tuple[object, ...], dict[int, Step]] = {}
    for step in steps:
        of_ranks = groups.setdefault(_same_work(step), {})
        of_ranks[step.ranks] = min(step, of_ranks.get(step.ranks, step), key=lambda step: step.median)
    curves = [[of_ranks[p] for p in sorted(of_ranks)] for of_ranks in groups.values() if len(of_ranks) > 1]
    if not curves:
        return None
    shared, labels = shared_and_labels([curve[0] for curve in curves])
    figure = new_figure(9.6, 4.4)
    total, relative = figure.subplots(1, 2)
    for curve, label in zip(curves, labels, strict=True):
        ranks = [step.ranks for step in curve]
        total.plot(ranks, [step.median for step in curve], "o-", label=label)
        relative.plot(ranks, [curve[0].median / step.median for step in curve], "o-")
    for axes in (total, relative):
        axes.set_xscale("log", base=2)
        axes.set_xticks(sorted({step.ranks for curve in curves for step in curve}))
        axes.xaxis.set_major_formatter(ScalarFormatter())
        axes.xaxis.set_minor_formatter(NullFormatter())
        axes.set_ylim(0, 1.1 * axes.get_ylim()[1])
        axes.set_xlabel("ranks")
    relative.axhline(1, linestyle="--", color=GREY)
    total.set_ylabel("ms")
    relative.set_ylabel("weak-scaling efficiency")
    figure.suptitle(f"on the fewest ranks: {shared}" if shared else "", fontsize=11, wrap=True)
    if len(curves) > 1:
        total.legend(fontsize=9)
    return figure


def all_figures(steps: Sequence[Step]) -> dict[str, Figure]:
    """All figures that these results allow, by the endings of their names."""
    figures = {}
    if steps:
        figures["_phases"] = budget_figure(steps)
    scaling = weak_scaling_figure(steps)
    if scaling is not None:
        figures["_phases_weak_scaling"] = scaling
    return figures
