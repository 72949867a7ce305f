"""A model of distributed transforms in slabs and pencils: links fitted to measurements, break-even, forecast.

Egger (2021), section 2.5.3: a message of d bytes takes d / B + L, and a rank sends one message after the other. Of D
bytes of coefficients in all, each of P ranks holds D / P. An exchange among n ranks sends (n - 1) / n of that in n - 1
messages. Slabs exchange once among all P; pencils on py x pz ranks twice, among py and among pz.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sluice_post.bench import Row
from sluice_post.bench_values import text_table

Grid = tuple[int, int]  # py x pz ranks; slabs have py = 1


@dataclass(frozen=True)
class Link:
    """What connects two ranks: bytes per second, and seconds that each message takes besides."""

    bandwidth: float
    latency: float

    def seconds(self, size: float, messages: int) -> float:
        """The time of so many bytes in so many messages."""
        return size / self.bandwidth + messages * self.latency if messages > 0 else 0.0


def coefficient_bytes(row: Row) -> float:
    """Bytes of the coefficients of all fields of a transform."""
    nx, ny, nz = row.cells
    modes = nx // 2 + 1 if row.values == "real" else nx
    return row.fields * modes * ny * nz * (16.0 if row.precision == "double" else 8.0)


def sent(total: float, grid: Grid) -> tuple[float, int]:
    """Bytes and messages that a rank sends in one direction, of `total` bytes of coefficients."""
    share = total / (grid[0] * grid[1])
    return sum(share * (ranks - 1) / ranks for ranks in grid), sum(ranks - 1 for ranks in grid)


def break_even_bytes(ranks: int, link: Link) -> float:
    """Bytes of coefficients below which pencils exchange faster than slabs, whatever their process grid.

    For N^3 complex values of s bytes per real number, 2 s N^3 bytes: P^2 / N^3 = 2 s / (L B).
    """
    return ranks**2 * link.latency * link.bandwidth


def _grid(row: Row) -> Grid:
    py, pz = row.process_grid
    return py, pz


def modelled(rows: Iterable[Row]) -> dict[tuple[str, str], list[Row]]:
    """Transforms on several ranks whose communication is timed apart, by device and exchange method.

    Not of `peer`, whose loops move and pack at once and overlap with transforms, nor of two methods in one transform.
    """
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.what != "fft" or row.is_baseline or row.ranks == 1 or row.phases.get("communication", 0.0) <= 0:
            continue
        if "peer" not in row.exchange and "," not in row.exchange:
            groups.setdefault((row.device_type, row.exchange), []).append(row)
    return groups


def fitted_link(rows: Sequence[Row]) -> Link | None:
    """The link that fits the communication of these transforms best, by least squares of relative errors.

    None if the measurements do not tell bandwidth from latency: two that differ in bytes per message are needed.
    """
    equations = []
    for row in rows:
        size, messages = sent(coefficient_bytes(row), _grid(row))
        seconds = 1e-3 * row.phases["communication"] / 2  # of a round trip
        equations.append((size / seconds, messages / seconds))
    aa = sum(a * a for a, _ in equations)
    ab = sum(a * b for a, b in equations)
    bb = sum(b * b for _, b in equations)
    determinant = aa * bb - ab * ab
    if len(equations) < 2 or determinant <= 1e-9 * aa * bb:
        return None
    of_byte = (sum(a for a, _ in equations) * bb - sum(b for _, b in equations) * ab) / determinant
    of_message = (sum(b for _, b in equations) * aa - sum(a for a, _ in equations) * ab) / determinant
    if of_message < 0:
        of_byte, of_message = sum(a for a, _ in equations) / aa, 0.0
    return Link(1 / of_byte, of_message) if of_byte > 0 else None


def _is_pencil(row: Row) -> bool:
    return row.kind == "pencil"


def comparison_text(rows: Iterable[Row]) -> str:
    """Slabs against pencils, measured and by the model, for every exchange method with both; empty if none has."""
    texts = []
    for (device, exchange), group in sorted(modelled(rows).items()):
        link = fitted_link(group)
        if link is None:
            continue
        best: dict[tuple[int, str, str, bool], Row] = {}
        for row in group:
            key = (row.ranks, row.grid, row.precision, _is_pencil(row))
            if key not in best or row.phases["communication"] < best[key].phases["communication"]:
                best[key] = row
        lines: list[tuple[str, ...]] = [
            ("ranks", "grid", "precision", "slabs, ms", "model", "pencils, ms", "model", "pencils / slabs", "model")
        ]
        for (ranks, grid, precision, is_pencil), pencil in best.items():
            slab = best.get((ranks, grid, precision, False))
            if not is_pencil or slab is None:
                continue
            measured = [row.phases["communication"] for row in (slab, pencil)]
            model = [2e3 * link.seconds(*sent(coefficient_bytes(row), _grid(row))) for row in (slab, pencil)]
            numbers = [f"{value:.3f}" for pair in zip(measured, model, strict=True) for value in pair]
            ratios = (f"{measured[1] / measured[0]:.2f}", f"{model[1] / model[0]:.2f}")
            lines.append((str(ranks), f"{grid}, {pencil.processes}", precision, *numbers, *ratios))
        if len(lines) == 1:
            continue
        texts.append(
            f"communication by {exchange}, {device}: {link.bandwidth / 1e9:.3g} GB/s, {link.latency * 1e6:.3g} us per "
            f"message; {_threshold(link)}\n" + text_table(lines, range(3, 9))
        )
    return "\n\n".join(texts)


def _threshold(link: Link) -> str:
    if link.latency == 0:
        return "pencils are never faster"
    return f"pencils are faster where P^2 / bytes of coefficients > {1 / (link.latency * link.bandwidth):.3g}"


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


def forecasts(rows: Sequence[Row], ranks: int, hosts: Hosts) -> list[Forecast]:
    """Slabs and every pencil on so many ranks, the fastest first, from measurements of one grid on fewer ranks.

    Computation and packing take the measured time per point of a rank, of the fastest slabs and pencils on the largest
    number of ranks. Slabs need as many planes as ranks.
    """
    total = coefficient_bytes(rows[0])
    nx, ny, nz = rows[0].cells
    found = []
    for is_pencil in (False, True):
        family = [row for row in rows if _is_pencil(row) == is_pencil]
        if not family:
            continue
        largest = max(row.ranks for row in family)
        row = min((row for row in family if row.ranks == largest), key=lambda row: row.median)
        of_rank = sum(time for name, time in row.phases.items() if name != "communication")
        computation = 1e-3 * of_rank * row.ranks / ranks
        grids = [(py, ranks // py) for py in range(2, ranks) if ranks % py == 0] if is_pencil else [(1, ranks)]
        for py, pz in grids:
            if py <= min(nx // 2 + 1, ny) and pz <= min(ny, nz):
                found.append(Forecast((py, pz), computation, 2 * hosts.seconds(total, (py, pz))))
    return sorted(found, key=lambda forecast: forecast.seconds)


def forecast_text(rows: Iterable[Row], ranks: Sequence[int], devices: int, between: Link) -> str:
    """The fastest slabs and pencils on each number of ranks, for every measured grid.

    Empty if nothing can be forecast.
    """
    lines: list[tuple[str, ...]] = [
        ("grid", "precision", "by", "ranks", "split", "ms", "computation", "communication", "TFLOPS")
    ]
    for (_, exchange), group in sorted(modelled(rows).items()):
        link = fitted_link(group)
        if link is None:
            continue
        hosts = Hosts(devices, link, between)
        experiments: dict[tuple[str, str], list[Row]] = {}
        for row in group:
            experiments.setdefault((row.grid, row.precision), []).append(row)
        for (grid, precision), of_grid in experiments.items():
            points = of_grid[0].points * of_grid[0].fields
            operations = 10 * points * math.log2(of_grid[0].points)
            for count in ranks:
                best: dict[bool, Forecast] = {}
                for forecast in forecasts(of_grid, count, hosts):
                    best.setdefault(forecast.grid[0] > 1, forecast)
                for is_pencil, forecast in best.items():
                    py, pz = forecast.grid
                    times = (forecast.seconds, forecast.computation, forecast.communication)
                    split = f"pencils {py} x {pz}" if is_pencil else "slabs"
                    numbers = [f"{1e3 * time:.3f}" for time in times]
                    tflops = f"{operations / forecast.seconds * 1e-12:.3g}"
                    lines.append((grid, precision, exchange, str(count), split, *numbers, tflops))
    return text_table(lines, (3, 5, 6, 7, 8)) if len(lines) > 1 else ""
