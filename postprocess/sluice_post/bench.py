"""What ``sluice bench transpose|fft --json FILE`` measured, as a figure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from sluice_post.errors import InputOutputError, UsageError
from sluice_post.style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILLION, new_figure

PHASE_COLOURS = (BLUE, ORANGE, VERMILLION, GREEN, PURPLE)


@dataclass(frozen=True)
class Way:
    """One way to redistribute an array that worked, with its times in milliseconds."""

    panel: str
    exchange: str
    median: float
    least: float
    most: float
    phases: dict[str, float]


@dataclass(frozen=True)
class Benchmark:
    """A file of results: what was measured, where, and every way that worked."""

    title: str
    ways: list[Way]

    @property
    def panels(self) -> list[str]:
        """Kinds, layouts and process grids, the one with the fastest way first."""
        return list(dict.fromkeys(way.panel for way in sorted(self.ways, key=lambda way: way.median)))


def _way(entry: dict[str, Any]) -> Way:
    py, pz = entry["process_grid"]
    least, most = entry["milliseconds_spread"]
    return Way(
        panel=" ".join(part for part in (entry["kind"], entry["layout"], f"{py} x {pz}") if part),
        exchange=entry["exchange"],
        median=entry["milliseconds"],
        least=least,
        most=most,
        phases={phase["name"]: phase["milliseconds"] for phase in entry["phases"]},
    )


def read_benchmark(path: Path) -> Benchmark:
    """Reads the file; raises InputOutputError or UsageError if it is no such file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise InputOutputError(f"{path}: is not JSON ({error})") from error
    if not isinstance(content, dict) or "results" not in content:
        raise UsageError(f"{path}: is not a file that sluice bench transpose or fft wrote")
    try:
        ways = [_way(entry) for entry in content["results"] if "fault" not in entry]
        cells = " x ".join(str(cells) for cells in content["cells"])
        title = (
            f"{content['what']} on {cells}, {content['precision']} precision, "
            f"{content['ranks']} ranks, {content['device']}"
        )
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"{path}: lacks what sluice bench transpose or fft writes ({error})") from error
    if not ways:
        raise UsageError(f"{path}: no way worked; the file tells why")
    return Benchmark(title, ways)


def bench_figure(benchmark: Benchmark) -> Figure:
    """Bars of the times there and back: a panel for each kind, layout and process grid.

    The whiskers of a way whose slowest time is far off run out of the figure.
    """
    panels = {
        name: sorted((way for way in benchmark.ways if way.panel == name), key=lambda way: -way.median)
        for name in benchmark.panels
    }
    bars = sum(len(ways) for ways in panels.values())
    figure = new_figure(7.2, 1.2 + 0.55 * len(panels) + 0.28 * bars)
    heights = [len(ways) + 0.5 for ways in panels.values()]
    rows = figure.subplots(len(panels), 1, sharex=True, squeeze=False, height_ratios=heights)[:, 0]
    longest = max(max(way.median, sum(way.phases.values())) for way in benchmark.ways)
    names = list(dict.fromkeys(phase for way in benchmark.ways for phase in way.phases))
    colours = {name: PHASE_COLOURS[n % len(PHASE_COLOURS)] for n, name in enumerate(names)}
    for axes, (panel, ways) in zip(rows, panels.items(), strict=True):
        for place, way in enumerate(ways):
            start = 0.0
            for name, milliseconds in way.phases.items():
                axes.barh(place, milliseconds, left=start, height=0.7, color=colours[name])
                start += milliseconds
            if not way.phases:
                axes.barh(place, way.median, height=0.7, color=BLUE)
            axes.errorbar(
                way.median,
                place,
                xerr=[[way.median - way.least], [way.most - way.median]],
                color=GREY,
                capsize=2,
            )
        axes.set_yticks(range(len(ways)), [way.exchange for way in ways])
        axes.tick_params(axis="y", which="both", length=0)
        axes.set_title(panel, loc="left")
        axes.set_xlim(0, 1.2 * longest)
    rows[-1].set_xlabel("there and back, ms")
    figure.suptitle(benchmark.title, fontsize=12)
    if names:
        handles = [rows[0].barh(0, 0, color=colours[name], label=name) for name in names]
        rows[0].legend(handles=handles, ncols=len(names), loc="lower right", bbox_to_anchor=(1, 1))
    return figure
