"""How measured times depend on the number of ranks and on the grid: fits of power laws, with their errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import pandas as pd

from sluice_post.bench import fastest, text_table
from sluice_post.printed import with_interval

T = TypeVar("T")


@dataclass(frozen=True)
class PowerLaw:
    """T = constant x^-exponent, fitted to logarithms by least squares.

    `error` is the standard error of the exponent and `scatter` the standard deviation of ln T about the fit; None
    with two points, through which any power law goes.
    """

    exponent: float
    constant: float
    error: float | None
    scatter: float | None

    @property
    def text(self) -> str:
        """The exponent with its error."""
        if self.error is None:
            return f"{self.exponent:.2f}"
        return with_interval(self.exponent, self.error, may_be_zero=True, scale=1, plus_minus="±")

    def time(self, x: float) -> float:
        """The fitted T."""
        return self.constant * math.pow(x, -self.exponent)


def fitted_power_law(sizes: Sequence[float], times: Sequence[float]) -> PowerLaw:
    """The fit to positive times at positive sizes, at least two of which differ."""
    x, y = np.log(sizes), np.log(times)
    slope, logarithm = map(float, np.polyfit(x, y, 1))
    if len(x) < 3:
        return PowerLaw(-slope, math.exp(logarithm), None, None)
    scatter = float(np.std(y - slope * x, ddof=2))
    return PowerLaw(-slope, math.exp(logarithm), scatter / (float(np.std(x)) * math.sqrt(len(x))), scatter)


# Times of a round trip that are fitted.
SCALING: dict[str, Callable[[Any], float]] = {
    "round trip": lambda row: row.milliseconds,
    "computation and packing": lambda row: sum(time for name, time in row.phases.items() if name != "communication"),
    "communication": lambda row: row.phases.get("communication", 0.0),
}


def _groups(rows: pd.DataFrame, names: pd.Series) -> dict[tuple[str, str], pd.DataFrame]:
    """The fastest set-ups by name and device."""
    named = rows.assign(name=names)
    found = fastest(named[rows.what.isin(["fft", "transpose"]) & ~rows.is_baseline])
    return dict(iter(found.groupby(["name", "device_type"], sort=False)))


def _with_devices(groups: Mapping[tuple[str, str], T]) -> dict[str, T]:
    """By name, and by name and device where there are several devices."""
    several = len({device for _, device in groups}) > 1
    return {f"{name}, {device}" if several else name: group for (name, device), group in groups.items()}


def scaling_curves(rows: pd.DataFrame, sizes: pd.Series) -> dict[str, pd.DataFrame]:
    """The fastest set-ups of each size over the number of ranks, by what a legend calls them.

    Only sizes that were measured with several numbers of ranks. `sizes`: of each row, in words.
    """
    curves = {
        key: group.sort_values("milliseconds").drop_duplicates("ranks").sort_values("ranks")
        for key, group in _groups(rows, rows.what + " " + sizes + " " + rows.precision).items()
    }
    return _with_devices({key: curve for key, curve in curves.items() if len(curve) > 1})


def strong_scaling(
    curve: pd.DataFrame, time_of: Callable[[Any], float]
) -> tuple[list[int], list[float], PowerLaw | None]:
    """The ranks p of a curve that have this time, their times, and T = C p^-gamma; None with fewer than two of them."""
    times = {row.ranks: time for row in curve.itertuples() if (time := time_of(row)) > 0}
    ranks, values = list(times), list(times.values())
    return ranks, values, fitted_power_law(ranks, values) if len(times) > 1 else None


def collapses(rows: pd.DataFrame) -> dict[str, tuple[pd.DataFrame, PowerLaw]]:
    """The fastest set-ups of all grids, by the kind of benchmark, precision and device, with their common fit.

    T = C (p/N^3)^-gamma for p ranks and N^3 points of all grids together; p/N^3, in ranks per 10^9 points, is the
    column `density`. Only of two grids or more, one of them with several numbers of ranks. All times would be on one
    line if they depended on the points of a rank alone.
    """
    found: dict[tuple[str, str], tuple[pd.DataFrame, PowerLaw] | None] = {}
    for key, group in _groups(rows, rows.what + rows.of_fields + " " + rows.precision).items():
        grids = len(group.drop_duplicates(["nx", "ny", "nz"]))
        density = group.ranks / group.points * 1e9
        enough = 2 <= grids < len(group) and density.nunique() > 1
        fit = fitted_power_law(density, group.milliseconds) if enough else None
        found[key] = (group.assign(density=density), fit) if fit is not None else None
    return {name: collapse for name, collapse in _with_devices(found).items() if collapse is not None}


def exponents_text(rows: pd.DataFrame) -> str:
    """The exponents of strong scaling and of the collapse with their standard errors; empty if there are none."""
    curves = scaling_curves(rows, rows.grid)
    if not curves:
        return ""
    lines = [("T = C p^-gamma, p ranks", "ranks", *SCALING)]
    for name, curve in curves.items():
        fits = [strong_scaling(curve, time_of)[2] for time_of in SCALING.values()]
        lines.append((name, ", ".join(map(str, curve.ranks)), *("" if fit is None else fit.text for fit in fits)))
    text = text_table(lines, range(2, 5))
    for name, (_, fit) in collapses(rows).items():
        scatter = "" if fit.scatter is None else f", scatter {100 * math.expm1(fit.scatter):.0f} %"
        text += f"\nT = C (p/N^3)^-gamma, {name}: gamma = {fit.text}{scatter}"
    return text
