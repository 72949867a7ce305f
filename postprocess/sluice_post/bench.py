"""What ``sluice bench ... --json FILE`` measured: reading the files, and tables of transpose, fft and links."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sluice_post import bench_steps
from sluice_post.bench_values import csv_line, device_type, number, positive, text_table
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.inputs import read_given


@dataclass(frozen=True)
class Pieces:
    """The sizes of pieces that one exchange tried without a limit on pieces in flight: bytes and GB/s.

    What it chose, which may have a limit (0: none), and the rate with it if that was tried.
    """

    traffic: str
    chosen: int
    chosen_in_flight: int
    chosen_rate: float | None
    sizes: list[int]
    rates: list[float]


@dataclass(frozen=True)
class Series:
    """The times of round trips in a row, and the round trips [begin, end) during which pieces were tuned."""

    milliseconds: list[float]
    tuning: list[tuple[int, int]]


@dataclass(frozen=True)
class Row:
    """One measurement that worked, with times in milliseconds. Not all kinds of benchmarks have all numbers.

    The intervals are confidence intervals of the median.
    """

    what: str
    cells: tuple[int, ...]
    values: str
    fields: int
    precision: str
    ranks: int
    device: str
    kind: str
    layout: str
    process_grid: tuple[int, ...]
    exchange: str
    median: float
    least: float
    most: float
    interval_95: tuple[float, float] | None
    interval_99: tuple[float, float] | None
    gb_per_s: float | None
    tflops: float | None
    communication_fraction: float | None
    error: float | None
    phases: dict[str, float]
    pieces: list[Pieces]
    series: Series | None

    @property
    def grid(self) -> str:
        """The grid, and the fields on it if they are not a single real one; for links nothing."""
        return " x ".join(map(str, self.cells)) + self.of_fields

    @property
    def of_fields(self) -> str:
        """What follows a grid if more than a single real field is transformed."""
        if (self.values, self.fields) == ("real", 1):
            return ""
        return f", {self.fields} {self.values} field{'s' if self.fields > 1 else ''}"

    @property
    def device_type(self) -> str:
        """The device without the number of the NUMA node, which differs between machines of one kind."""
        return device_type(self.device)

    @property
    def experiment(self) -> str:
        """What all rows of a figure share."""
        on = f" on {self.grid}" if self.cells else ""
        return f"{self.what}{on}, {self.precision} precision, {self.ranks} ranks, {self.device_type}"

    @property
    def panel(self) -> str:
        """The set-up without its exchange method."""
        return " ".join(part for part in (self.kind, self.layout, self.processes) if part)

    @property
    def processes(self) -> str:
        """The process grid."""
        return " x ".join(map(str, self.process_grid))

    @property
    def is_baseline(self) -> bool:
        """Whether it is a library's own transform, for comparison."""
        return self.what == "fft" and not self.kind.startswith(("slab", "pencil"))

    @property
    def points(self) -> int:
        """The number of cells."""
        return math.prod(self.cells)


def _optional(entry: dict[str, Any], name: str) -> float | None:
    return number(entry[name], name) if name in entry else None


def _interval(entry: dict[str, Any], name: str) -> tuple[float, float] | None:
    if name not in entry:
        return None
    low, high = (number(value, name) for value in entry[name])
    return low, high


def _pieces(entry: dict[str, Any]) -> Pieces:
    chosen = (int(positive(entry["piece_bytes"], "piece_bytes")), int(entry.get("in_flight", 0)))
    rates = {
        (int(positive(point["bytes"], "bytes")), int(point.get("in_flight", 0))): number(point["gb_per_s"], "gb_per_s")
        for point in entry["piece_curve"]
    }
    unlimited = {size: rate for (size, in_flight), rate in rates.items() if in_flight == 0}
    return Pieces(
        traffic=str(entry["traffic"]),
        chosen=chosen[0],
        chosen_in_flight=chosen[1],
        chosen_rate=rates.get(chosen),
        sizes=list(unlimited),
        rates=list(unlimited.values()),
    )


def _series(entry: dict[str, Any]) -> Series:
    times = [positive(value, "series milliseconds") for value in entry["milliseconds"]]
    return Series(times, [(int(tuning["begin"]), int(tuning["end"])) for tuning in entry["tuning"]])


def _exchange(entry: dict[str, Any]) -> str:
    """The method, and in GPU builds whether MPI gets device pointers."""
    if "cuda_aware_mpi" not in entry:
        return str(entry["exchange"])
    return f"{entry['exchange']} ({'CUDA-aware' if entry['cuda_aware_mpi'] is True else 'through the host'})"


def _counts(entry: dict[str, Any], name: str, length: int) -> tuple[int, ...]:
    """That many integers, each at least 1."""
    counts = tuple(int(positive(n, name)) for n in entry[name])
    if len(counts) != length or min(counts) < 1:
        raise ValueError(f"{name}: not {length} integers of at least 1")
    return counts


def _row(entry: dict[str, Any]) -> Row:
    links = entry["what"] == "links"
    least, most = (number(value, "milliseconds_spread") for value in entry["milliseconds_spread"])
    return Row(
        what=str(entry["what"]),
        cells=() if links else _counts(entry, "cells", 3),
        values=str(entry.get("values", "real")),
        fields=int(positive(entry["fields"], "fields")) if "fields" in entry else 1,
        precision=str(entry["precision"]),
        ranks=int(positive(entry["ranks"], "ranks")),
        device=str(entry["device"]),
        kind=f"blocks of {entry['bytes']} bytes" if links else str(entry["kind"]),
        layout="" if links else str(entry["layout"]),
        process_grid=() if links else _counts(entry, "process_grid", 2),
        exchange=str(entry["name"]) if links else _exchange(entry),
        median=positive(entry["milliseconds"], "milliseconds"),
        least=least,
        most=most,
        interval_95=_interval(entry, "milliseconds_interval_95"),
        interval_99=_interval(entry, "milliseconds_interval_99"),
        gb_per_s=_optional(entry, "gb_per_s"),
        tflops=_optional(entry, "tflops"),
        communication_fraction=_optional(entry, "communication_fraction"),
        error=_optional(entry, "error"),
        phases={str(phase["name"]): number(phase["milliseconds"], "milliseconds") for phase in entry.get("phases", ())},
        pieces=[_pieces(pieces) for pieces in entry.get("pieces", ())],
        series=_series(entry["series"]) if "series" in entry else None,
    )


@dataclass(frozen=True)
class Results:
    """Measurements that worked: of transposes, transforms and links, and of time steps and solves."""

    rows: list[Row]
    steps: list[bench_steps.Step]


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    """The JSON values of a file, one after another, with their places."""
    try:
        text = read_given(path)
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be read ({error.strerror or error})") from error
    except ValueError as error:
        raise InputOutputError(f"{path}: is not text ({error})") from error
    decoder = json.JSONDecoder()
    position = 0
    while rest := text[position:].lstrip():
        position = len(text) - len(rest)
        place = f"{path}, line {1 + text.count(chr(10), 0, position)}"
        try:
            entry, position = decoder.raw_decode(text, position)
        except (ValueError, RecursionError) as error:
            raise InputOutputError(
                f"{place}: is not JSON; the file is damaged, or sluice bench did not write it ({error})"
            ) from error
        yield place, entry


def read_results(paths: Iterable[Path]) -> Results:
    """Reads every measurement that worked; raises InputOutputError or UsageError for other files."""
    results = Results([], [])
    known = "what sluice bench step, solve, poisson, tridiagonal, transpose, fft or links writes"
    for path in paths:
        before = len(results.rows) + len(results.steps)
        for place, entry in _entries(path):
            if not isinstance(entry, dict) or "what" not in entry:
                raise UsageError(f"{place}: is not {known}")
            if "fault" in entry:
                continue
            try:
                if entry["what"] in bench_steps.BENCHMARKS:
                    results.steps.append(bench_steps.read_step(entry))
                else:
                    results.rows.append(_row(entry))
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise UsageError(f"{place}: is not {known} ({error})") from error
        if len(results.rows) + len(results.steps) == before:
            raise UsageError(f"{path}: holds no measurement that worked")
    return results


def fastest(rows: Iterable[Row]) -> list[Row]:
    """The fastest set-up for each benchmark, grid, precision and number of ranks, in this order.

    Libraries' own transforms compete among themselves only.
    """
    best: dict[tuple[object, ...], Row] = {}
    for row in rows:
        on = (row.points, row.cells, row.values, row.fields)
        key = (row.what, *on, row.precision, row.ranks, row.device_type, row.is_baseline)
        if key not in best or row.median < best[key].median:
            best[key] = row
    return [best[key] for key in sorted(best)]


def _text(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:.{digits}f}"


def table_text(rows: Iterable[Row]) -> str:
    """Time, rates and the fraction of communication, of the fastest set-up for each grid and number of ranks."""
    lines = [("", "grid", "precision", "ranks", "fastest", "ms", "95 %", "GB/s", "TFLOPS", "communication")]
    for row in fastest(rows):
        lines.append(
            (
                row.what,
                row.grid,
                row.precision,
                str(row.ranks),
                f"{row.panel} {row.exchange}",
                f"{row.median:.3f}",
                "" if row.interval_95 is None else f"{row.interval_95[0]:.3f} to {row.interval_95[1]:.3f}",
                _text(row.gb_per_s, 2),
                _text(row.tflops, 3),
                _text(row.communication_fraction, 2),
            )
        )
    return text_table(lines, numbers=range(5, 10))


CSV_COLUMNS = (
    "what,nx,ny,nz,values,fields,precision,ranks,device,kind,layout,process_grid,exchange,"
    "milliseconds,milliseconds_min,milliseconds_max,milliseconds_95_low,milliseconds_95_high,"
    "milliseconds_99_low,milliseconds_99_high,gb_per_s,tflops,communication_fraction,error"
)


def csv_text(rows: Iterable[Row]) -> str:
    """Every measurement, one line each; what a benchmark does not have is empty."""
    lines = [CSV_COLUMNS]
    for row in rows:
        cells = row.cells or ("", "", "")
        names = (
            row.values,
            row.fields,
            row.precision,
            row.ranks,
            row.device,
            row.kind,
            row.layout,
            row.processes,
            row.exchange,
        )
        intervals = (*(row.interval_95 or (None, None)), *(row.interval_99 or (None, None)))
        optional = (*intervals, row.gb_per_s, row.tflops, row.communication_fraction, row.error)
        numbers = (row.median, row.least, row.most, *optional)
        lines.append(csv_line([row.what, *cells, *names, *numbers]))
    return "\n".join(lines) + "\n"
