"""A model of distributed transforms in slabs and pencils: links fitted to measurements, break-even, forecast.

Egger (2021), section 2.5.3: a message of d bytes takes d / B + L, and a rank sends one message after the other. Of D
bytes of coefficients in all, each of P ranks holds D / P. An exchange among n ranks sends (n - 1) / n of that in n - 1
messages. Slabs exchange once among all P; pencils on py x pz ranks twice, among py and among pz.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import nnls

from sluice_post.bench import text_table

Grid = tuple[int, int]  # py x pz ranks; slabs have py = 1


@dataclass(frozen=True)
class Link:
    """What connects two ranks: bytes per second, and seconds that each message takes besides."""

    bandwidth: float
    latency: float

    def seconds(self, size: float, messages: int) -> float:
        """The time of so many bytes in so many messages."""
        return size / self.bandwidth + messages * self.latency if messages > 0 else 0.0


def coefficient_bytes(row: Any) -> float:
    """Bytes of the coefficients of all fields of a transform."""
    modes = row.nx // 2 + 1 if row.values == "real" else row.nx
    return float(row.fields * modes * row.ny * row.nz * (16.0 if row.precision == "double" else 8.0))


def sent(total: float, grid: Grid) -> tuple[float, int]:
    """Bytes and messages that a rank sends in one direction, of `total` bytes of coefficients."""
    share = total / (grid[0] * grid[1])
    return sum(share * (ranks - 1) / ranks for ranks in grid), sum(ranks - 1 for ranks in grid)


def break_even_bytes(ranks: int, link: Link) -> float:
    """Bytes of coefficients below which pencils exchange faster than slabs, whatever their process grid.

    For N^3 complex values of s bytes per real number, 2 s N^3 bytes: P^2 / N^3 = 2 s / (L B).
    """
    return ranks**2 * link.latency * link.bandwidth


def modelled(rows: pd.DataFrame) -> pd.DataFrame:
    """Transforms on several ranks whose communication is timed apart, with what the model needs of them.

    Not of `peer`, whose loops move and pack at once and overlap with transforms, nor of two methods in one transform.
    Columns: `communication`, ms of a round trip, and `computation`, with packing; `split`, py x pz; `total`, bytes of
    coefficients; `sent`, bytes and messages of a rank in one direction; `is_pencil`.
    """
    if rows.empty:
        return rows
    communication = rows.phases.map(lambda phases: phases.get("communication", 0.0))
    apart = ~rows.exchange.str.contains("peer|,")
    found = rows[(rows.what == "fft") & ~rows.is_baseline & (rows.ranks > 1) & (communication > 0) & apart]
    splits: list[Grid] = [(int(py), int(pz)) for py, pz in (grid.split(" x ") for grid in found.process_grid)]
    totals = [coefficient_bytes(row) for row in found.itertuples()]
    return found.assign(
        communication=communication.reindex(found.index),
        computation=[sum(phases.values()) - phases["communication"] for phases in found.phases],
        split=splits,
        total=totals,
        sent=[sent(total, split) for total, split in zip(totals, splits, strict=True)],
        is_pencil=found.kind == "pencil",
    )


def fitted_link(rows: pd.DataFrame) -> Link | None:
    """The link that fits the communication of these transforms best, by least squares of relative errors.

    None if the measurements do not tell bandwidth from latency: two that differ in bytes per message are needed.
    """
    seconds = 1e-3 * rows.communication.to_numpy() / 2  # of a round trip
    equations = np.array(list(rows.sent), dtype=float) / seconds[:, None]
    scales = np.linalg.norm(equations, axis=0)
    equations = equations / scales
    if len(rows) < 2 or np.linalg.det(equations.T @ equations) <= 1e-9:
        return None
    (of_byte, of_message), _ = nnls(equations, np.ones(len(rows)))
    if of_message < 1e-9 * of_byte:  # round-off
        of_message = 0.0
    return Link(scales[0] / of_byte, of_message / scales[1]) if of_byte > 0 else None


def _fitted(rows: pd.DataFrame) -> list[tuple[str, str, pd.DataFrame, Link]]:
    """Device, exchange method, transforms and link, where a link can be fitted."""
    found = modelled(rows)
    if found.empty:
        return []
    return [
        (device, exchange, group, link)
        for (device, exchange), group in found.groupby(["device_type", "exchange"])
        if (link := fitted_link(group)) is not None
    ]


def comparison_text(rows: pd.DataFrame) -> str:
    """Slabs against pencils, measured and by the model, for every exchange method with both; empty if none has."""
    texts = []
    for device, exchange, group, link in _fitted(rows):
        lines: list[tuple[str, ...]] = [
            ("ranks", "grid", "precision", "slabs, ms", "model", "pencils, ms", "model", "pencils / slabs", "model")
        ]
        for (ranks, grid, precision), alike in group.groupby(["ranks", "grid", "precision"], sort=False):
            if alike.is_pencil.nunique() < 2:
                continue
            quickest = alike.sort_values("communication", kind="stable").drop_duplicates("is_pencil")
            slab, pencil = quickest.sort_values("is_pencil").itertuples()
            measured = [row.communication for row in (slab, pencil)]
            model = [2e3 * link.seconds(*row.sent) for row in (slab, pencil)]
            numbers = [f"{value:.3f}" for pair in zip(measured, model, strict=True) for value in pair]
            ratios = (f"{measured[1] / measured[0]:.2f}", f"{model[1] / model[0]:.2f}")
            lines.append((str(ranks), f"{grid}, {pencil.process_grid}", precision, *numbers, *ratios))
        if len(lines) == 1:
            continue
        threshold = "pencils are never faster"
        if link.latency > 0:
            limit = 1 / break_even_bytes(1, link)
            threshold = f"pencils are faster where P^2 / bytes of coefficients > {limit:.3g}"
        texts.append(
            f"communication by {exchange}, {device}: {link.bandwidth / 1e9:.3g} GB/s, {link.latency * 1e6:.3g} us per "
            f"message; {threshold}\n{text_table(lines, range(3, 9))}"
        )
    return "\n\n".join(texts)


@dataclass(frozen=True)
class Hosts:
    """Hosts with so many devices each, ranks in order, and the links within them and between them."""

    devices: int
    inside: Link
    between: Link

    def seconds(self, total: float, grid: Grid) -> float:
        """The exchanges of one direction. Both links work at the same time."""
        py, pz = grid
        share = total / (py * pz)
        in_rows = min(py, self.devices)
        in_columns = min(pz, max(1, self.devices // py))
        time = 0.0
        for ranks, of_host in ((py, in_rows), (pz, in_columns)):
            inner = self.inside.seconds(share * (of_host - 1) / ranks, of_host - 1)
            outer = self.between.seconds(share * (ranks - of_host) / ranks, ranks - of_host)
            time += max(inner, outer)
        return time


@dataclass(frozen=True)
class Forecast:
    """A round trip on so many ranks: seconds of computation with packing, and of communication."""

    grid: Grid
    computation: float
    communication: float

    @property
    def seconds(self) -> float:
        """The whole round trip."""
        return self.computation + self.communication


def forecasts(rows: pd.DataFrame, ranks: int, hosts: Hosts) -> list[Forecast]:
    """Slabs and every pencil on so many ranks, the fastest first, from measurements of one grid on fewer ranks.

    Computation and packing take the measured time per point of a rank, of the fastest slabs and pencils on the largest
    number of ranks. Slabs need as many planes as ranks.
    """
    found = []
    for is_pencil, family in rows.groupby("is_pencil"):
        row = family[family.ranks == family.ranks.max()].sort_values("milliseconds", kind="stable").iloc[0]
        computation = 1e-3 * row.computation * row.ranks / ranks
        grids = [(py, ranks // py) for py in range(2, ranks) if ranks % py == 0] if is_pencil else [(1, ranks)]
        for py, pz in grids:
            if py <= min(row.nx // 2 + 1, row.ny) and pz <= min(row.ny, row.nz):
                found.append(Forecast((py, pz), computation, 2 * hosts.seconds(row.total, (py, pz))))
    return sorted(found, key=lambda forecast: forecast.seconds)


def forecast_text(rows: pd.DataFrame, ranks: Sequence[int], devices: int, between: Link) -> str:
    """The fastest slabs and pencils on each number of ranks, for every measured grid.

    Empty if nothing can be forecast.
    """
    lines: list[tuple[str, ...]] = [
        ("grid", "precision", "by", "ranks", "split", "ms", "computation", "communication", "TFLOPS")
    ]
    for _, exchange, group, link in _fitted(rows):
        for (grid, precision), of_grid in group.groupby(["grid", "precision"], sort=False):
            points, fields = of_grid.points.iloc[0], of_grid.fields.iloc[0]
            operations = 10 * points * fields * math.log2(points)
            for count in ranks:
                best: dict[bool, Forecast] = {}
                for forecast in forecasts(of_grid, count, Hosts(devices, link, between)):
                    best.setdefault(forecast.grid[0] > 1, forecast)
                for is_pencil, forecast in best.items():
                    py, pz = forecast.grid
                    times = (forecast.seconds, forecast.computation, forecast.communication)
                    split = f"pencils {py} x {pz}" if is_pencil else "slabs"
                    tflops = f"{operations / forecast.seconds * 1e-12:.3g}"
                    numbers = [f"{1e3 * time:.3f}" for time in times]
                    lines.append((grid, precision, exchange, str(count), split, *numbers, tflops))
    return text_table(lines, (3, 5, 6, 7, 8)) if len(lines) > 1 else ""
