"""How measured times depend on the number of ranks and on the grid: fits of power laws, with their errors."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sluice_post.bench import Row, fastest
from sluice_post.bench_values import text_table
from sluice_post.printed import with_interval


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
    count = len(sizes)
    x = [math.log(size) for size in sizes]
    y = [math.log(time) for time in times]
    x_mean, y_mean = sum(x) / count, sum(y) / count
    spread = sum((a - x_mean) ** 2 for a in x)
    slope = sum((a - x_mean) * (b - y_mean) for a, b in zip(x, y, strict=True)) / spread
    constant = math.exp(y_mean - slope * x_mean)
    if count < 3:
        return PowerLaw(-slope, constant, None, None)
    residuals = [b - y_mean - slope * (a - x_mean) for a, b in zip(x, y, strict=True)]
    scatter = math.sqrt(sum(residual**2 for residual in residuals) / (count - 2))
    return PowerLaw(-slope, constant, scatter / math.sqrt(spread), scatter)


def _computation(row: Row) -> float:
    return sum(time for name, time in row.phases.items() if name != "communication")


# Times of a round trip that are fitted.
SCALING: dict[str, Callable[[Row], float]] = {
    "round trip": lambda row: row.median,
    "computation and packing": _computation,
    "communication": lambda row: row.phases.get("communication", 0.0),
}


def scaling_curves(rows: Sequence[Row], size_of: Callable[[Row], str]) -> dict[str, list[Row]]:
    """The fastest set-ups of each size over the number of ranks, by what a legend calls them.

    Only sizes that were measured with several numbers of ranks.
    """
    curves: dict[tuple[str, str], dict[int, Row]] = {}
    for row in fastest(row for row in rows if row.what != "links" and not row.is_baseline):
        curve = curves.setdefault((f"{row.what} {size_of(row)} {row.precision}", row.device_type), {})
        curve[row.ranks] = min(row, curve.get(row.ranks, row), key=lambda row: row.median)
    curves = {key: curve for key, curve in curves.items() if len(curve) > 1}
    devices = {device for _, device in curves}
    return {
        f"{name}, {device}" if len(devices) > 1 else name: [curve[ranks] for ranks in sorted(curve)]
        for (name, device), curve in curves.items()
    }


def strong_scaling(curve: Sequence[Row], time_of: Callable[[Row], float]) -> PowerLaw | None:
    """T = C p^-gamma for the ranks p of a curve; None if fewer than two of them have this time."""
    points = [(row.ranks, time_of(row)) for row in curve if time_of(row) > 0]
    if len(points) < 2:
        return None
    return fitted_power_law([ranks for ranks, _ in points], [time for _, time in points])


@dataclass(frozen=True)
class Collapse:
    """T = C (p/N^3)^-gamma for p ranks and N^3 points of all grids together, in ranks per 10^9 points."""

    rows: list[Row]
    fit: PowerLaw

    @staticmethod
    def density(row: Row) -> float:
        """Ranks per 10^9 points."""
        return row.ranks / row.points * 1e9


def collapses(rows: Sequence[Row]) -> dict[str, Collapse]:
    """The fastest set-ups of all grids, by the kind of benchmark, precision and device.

    Only of two grids or more, one of them with several numbers of ranks. All times would be on one line if they
    depended on the points of a rank alone.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in fastest(row for row in rows if row.what != "links" and not row.is_baseline):
        name = f"{row.what}{row.of_fields} {row.precision}"
        groups.setdefault((name, row.device_type), []).append(row)
    devices = {device for _, device in groups}
    found: dict[str, Collapse] = {}
    for (name, device), group in groups.items():
        grids = {row.cells for row in group}
        densities = [Collapse.density(row) for row in group]
        if len(grids) < 2 or len(group) == len(grids) or len(set(densities)) < 2:
            continue
        fit = fitted_power_law(densities, [row.median for row in group])
        found[f"{name}, {device}" if len(devices) > 1 else name] = Collapse(group, fit)
    return found


def exponents_text(rows: Sequence[Row]) -> str:
    """The exponents of strong scaling and of the collapse with their standard errors; empty if there are none."""
    curves = scaling_curves(rows, lambda row: row.grid)
    if not curves:
        return ""
    lines = [("T = C p^-gamma, p ranks", "ranks", *SCALING)]
    for name, curve in curves.items():
        fits = [strong_scaling(curve, time_of) for time_of in SCALING.values()]
        ranks = ", ".join(str(row.ranks) for row in curve)
        lines.append((name, ranks, *("" if fit is None else fit.text for fit in fits)))
    text = text_table(lines, range(2, 5))
    for name, collapse in collapses(rows).items():
        fit = collapse.fit
        scatter = "" if fit.scatter is None else f", scatter {100 * math.expm1(fit.scatter):.0f} %"
        text += f"\nT = C (p/N^3)^-gamma, {name}: gamma = {fit.text}{scatter}"
    return text
