"""What ``sluice bench ... --json FILE`` measured, as data frames with a row for each result: tables and CSV files."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from sluice_post.errors import InputOutputError, UsageError
from sluice_post.inputs import read_given

STEP_BENCHMARKS = ("step", "solve", "poisson", "tridiagonal")
KNOWN = "what sluice bench step, solve, poisson, tridiagonal, transpose, fft or links writes"
OTHER = "other"
MINOR = ("z blocks", "revision")  # in labels only where without them two would be the same

# Columns of the CSV files. Data frames have more: `phases` {name: milliseconds}, and names for tables and figures.
_SIZE = "what,nx,ny,nz,"
_TIMES = "milliseconds,milliseconds_min,milliseconds_max,"
CSV_COLUMNS = (
    f"{_SIZE}values,fields,precision,ranks,device,kind,layout,process_grid,exchange,{_TIMES}"
    "milliseconds_95_low,milliseconds_95_high,milliseconds_99_low,milliseconds_99_high,"
    "gb_per_s,tflops,communication_fraction,error"
)
STEP_CSV_COLUMNS = (
    f"{_SIZE}precision,ranks,device,revision,diffusion,order,scalars,tridiagonal,process_grid,exchange,"
    f"z_blocks,{_TIMES}phase,phase_milliseconds"
)
# The fastest set-up is found among the results that share these.
_CELLS = ["nx", "ny", "nz"]
_EXPERIMENT = ["what", "points", *_CELLS, "values", "fields", "precision", "ranks", "device_type", "is_baseline"]


@dataclass(frozen=True)
class Results:
    """Measurements that worked, times in milliseconds: of transposes, transforms and links; of time steps and solves.

    Not all kinds of benchmarks have all numbers. Phases of steps were timed in repeats of their own.
    """

    rows: pd.DataFrame
    steps: pd.DataFrame


def _number(value: Any, name: str, above: float = -math.inf) -> float:
    """The value, if it is a finite number above a bound; else ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < math.inf:
        raise ValueError(f"{name} is {value!r}")
    return float(value)


def _numbers(entry: Mapping[str, Any], name: str, length: int = 2) -> list[float]:
    numbers = [_number(value, name) for value in entry[name]]
    if len(numbers) != length:
        raise ValueError(f"{name}: not {length} numbers")
    return numbers


def _count(entry: Mapping[str, Any], name: str) -> int:
    return int(_number(entry[name], name, above=0))


def _counts(entry: Mapping[str, Any], name: str, length: int) -> list[int]:
    counts = [int(count) for count in _numbers(entry, name, length)]
    if min(counts) < 1:
        raise ValueError(f"{name}: not {length} integers of at least 1")
    return counts


def _device_type(device: str) -> str:
    """The device without the number of the NUMA node, which differs between machines of one kind."""
    return re.sub(r", host memory on NUMA node \d+$", "", device)


def _phases(entry: Mapping[str, Any]) -> dict[str, float]:
    return {str(phase["name"]): _number(phase["milliseconds"], "milliseconds") for phase in entry.get("phases", ())}


def _pieces(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Sizes of pieces that one exchange tried and the rates of each; the choice, with its rate if that was tried.

    The sizes are those without a limit on pieces in flight; the choice may have one (0: none).
    """
    rates = {
        (_count(point, "bytes"), int(point.get("in_flight", 0))): _number(point["gb_per_s"], "gb_per_s")
        for point in entry["piece_curve"]
    }
    chosen = (_count(entry, "piece_bytes"), int(entry.get("in_flight", 0)))
    unlimited = {size: rate for (size, in_flight), rate in rates.items() if in_flight == 0}
    return {"traffic": str(entry["traffic"]), "rates": unlimited, "chosen": chosen, "chosen_rate": rates.get(chosen)}


def _series(entry: Mapping[str, Any]) -> dict[str, Any]:
    """The times of round trips in a row, and the round trips [begin, end) during which pieces were tuned."""
    times = [_number(value, "series milliseconds", above=0) for value in entry["milliseconds"]]
    return {"milliseconds": times, "tuning": [(int(part["begin"]), int(part["end"])) for part in entry["tuning"]]}


def _exchange(entry: Mapping[str, Any]) -> str:
    """The method, and in GPU builds whether MPI gets device pointers."""
    if "cuda_aware_mpi" not in entry:
        return str(entry["exchange"])
    return f"{entry['exchange']} ({'CUDA-aware' if entry['cuda_aware_mpi'] is True else 'through the host'})"


def _row(entry: dict[str, Any]) -> dict[str, Any]:
    links = entry["what"] == "links"
    cells = [] if links else _counts(entry, "cells", 3)
    row: dict[str, Any] = {
        "what": str(entry["what"]),
        **dict(zip(_CELLS, cells or 3 * [None], strict=True)),
        "values": str(entry.get("values", "real")),
        "fields": _count({"fields": 1} | entry, "fields"),
        "precision": str(entry["precision"]),
        "ranks": _count(entry, "ranks"),
        "device": str(entry["device"]),
        "kind": f"blocks of {entry['bytes']} bytes" if links else str(entry["kind"]),
        "layout": "" if links else str(entry["layout"]),
        "process_grid": "" if links else " x ".join(map(str, _counts(entry, "process_grid", 2))),
        "exchange": str(entry["name"]) if links else _exchange(entry),
        "milliseconds": _number(entry["milliseconds"], "milliseconds", above=0),
    }
    row["milliseconds_min"], row["milliseconds_max"] = _numbers(entry, "milliseconds_spread")
    for percent in ("95", "99"):
        interval = f"milliseconds_interval_{percent}"
        low, high = _numbers(entry, interval) if interval in entry else (math.nan, math.nan)
        row |= {f"milliseconds_{percent}_low": low, f"milliseconds_{percent}_high": high}
    for name in ("gb_per_s", "tflops", "communication_fraction", "error"):
        row[name] = _number(entry[name], name) if name in entry else math.nan
    one = (row["values"], row["fields"]) == ("real", 1)
    row["of_fields"] = "" if one else f", {row['fields']} {row['values']} field{'s' * (row['fields'] > 1)}"
    row["grid"] = " x ".join(map(str, cells)) + row["of_fields"]
    row["points"] = math.prod(cells)
    row["device_type"] = _device_type(row["device"])
    row["is_baseline"] = row["what"] == "fft" and not row["kind"].startswith(("slab", "pencil"))
    row["panel"] = " ".join(text for text in (row["kind"], row["layout"], row["process_grid"]) if text)
    on = f" on {row['grid']}" if cells else ""
    row["experiment"] = f"{row['what']}{on}, {row['precision']} precision, {row['ranks']} ranks, {row['device_type']}"
    row["phases"] = _phases(entry)
    row["pieces"] = [_pieces(pieces) for pieces in entry.get("pieces", ())]
    row["series"] = _series(entry["series"]) if "series" in entry else None
    return row


def _budget(phases: dict[str, float], whole: float) -> dict[str, float]:
    """The phases, and what the step takes beside them; phases that together take longer share its time."""
    sum_of_phases = sum(phases.values())
    if sum_of_phases > whole:
        return {name: time * whole / sum_of_phases for name, time in phases.items()}
    return {**phases, OTHER: whole - sum_of_phases}


def _set_up(step: Mapping[str, Any]) -> dict[str, str]:
    """What was measured, in words, in the order of a label."""
    names = {
        "what": step["what"],
        "grid": f"{step['nx']} x {step['ny']} x {step['nz']}",
        "tridiagonal": step["tridiagonal"],
        "ranks": f"{step['ranks']} rank{'s' * (step['ranks'] != 1)} ({step['process_grid']})",
    }
    if step["what"] == "step":
        names |= {"diffusion": step["diffusion"], "scalars": f"{step['scalars'] or 'no'} scalars"}
    if step["what"] != "tridiagonal":
        names["order"] = f"order {step['order']}"
    return names | {
        "precision": f"{step['precision']} precision",
        "exchange": step["exchange"],
        "z blocks": f"{step['z_blocks']} z blocks",
        "device": step["device_type"],
        "revision": step["revision"],
    }


def _step(entry: dict[str, Any]) -> dict[str, Any]:
    cells = _counts(entry, "cells", 3)
    unit = 1e-6 * math.prod(cells)  # milliseconds per step in a nanosecond per point and step
    step: dict[str, Any] = {
        "what": str(entry["what"]),
        **dict(zip(_CELLS, cells, strict=True)),
        "precision": str(entry["precision"]),
        "ranks": _count(entry, "ranks"),
        "device": str(entry["device"]),
        "revision": str(entry["git_revision"]),
        "diffusion": str(entry["diffusion"]),
        "order": int(_number(entry["order"], "order")),
        "scalars": int(_number(entry["scalars"], "scalars")),
        "tridiagonal": str(entry["tridiagonal"]),
        "process_grid": " x ".join(map(str, _counts(entry, "process_grid", 2))),
        "exchange": str(entry["exchange"]),
        "z_blocks": _count(entry, "z_blocks"),
        "milliseconds": unit * _number(entry["ns_per_point_per_step"], "ns_per_point_per_step", above=0),
    }
    low, high = _numbers(entry, "ns_per_point_per_step_spread")
    step |= {"milliseconds_min": unit * low, "milliseconds_max": unit * high}
    step |= {"points": math.prod(cells), "device_type": _device_type(step["device"])}
    step |= {"phases": _phases({"phases": entry["phases"]}), "set_up": _set_up(step)}
    if any(time < 0 for time in step["phases"].values()):
        raise ValueError("a phase takes less than 0 milliseconds")
    step["budget"] = _budget(step["phases"], step["milliseconds"])
    return step


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
    rows: list[dict[str, Any]] = []
    steps: list[dict[str, Any]] = []
    for path in paths:
        before = len(rows) + len(steps)
        for place, entry in _entries(path):
            if not isinstance(entry, dict) or "what" not in entry:
                raise UsageError(f"{place}: is not {KNOWN}")
            if "fault" in entry:
                continue
            try:
                if entry["what"] in STEP_BENCHMARKS:
                    steps.append(_step(entry))
                else:
                    rows.append(_row(entry))
            except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
                raise UsageError(f"{place}: is not {KNOWN} ({error})") from error
        if len(rows) + len(steps) == before:
            raise UsageError(f"{path}: holds no measurement that worked")
    found = pd.DataFrame(rows)
    if rows:
        found = found.astype(dict.fromkeys(_CELLS, "Int64"))  # links have none
    return Results(found, pd.DataFrame(steps))


def fastest(rows: pd.DataFrame) -> pd.DataFrame:
    """The fastest set-up for each benchmark, grid, precision and number of ranks, in this order.

    Libraries' own transforms compete among themselves only.
    """
    return rows.sort_values("milliseconds", kind="stable").drop_duplicates(_EXPERIMENT).sort_values(_EXPERIMENT)


def text_table(lines: Sequence[Sequence[str]], numbers: Container[int]) -> str:
    """Aligned columns, the headings first; columns of numbers stand on the right."""
    columns = []
    for place, texts in enumerate(zip(*lines, strict=True)):
        width = max(map(len, texts))
        columns.append([text.rjust(width) if place in numbers else text.ljust(width) for text in texts])
    return "\n".join("  ".join(line).rstrip() for line in zip(*columns, strict=True))


def table_text(rows: pd.DataFrame) -> str:
    """Time, rates and the fraction of communication, of the fastest set-up for each grid and number of ranks."""

    def fixed(value: float, digits: int) -> str:
        return "" if math.isnan(value) else f"{value:.{digits}f}"

    lines = [("", "grid", "precision", "ranks", "fastest", "ms", "95 %", "GB/s", "TFLOPS", "communication")]
    for row in fastest(rows).itertuples():
        low, high = fixed(row.milliseconds_95_low, 3), fixed(row.milliseconds_95_high, 3)
        names = (row.what, row.grid, row.precision, str(row.ranks), f"{row.panel} {row.exchange}")
        times = (fixed(row.milliseconds, 3), f"{low} to {high}" if low else "")
        rates = (fixed(row.gb_per_s, 2), fixed(row.tflops, 3), fixed(row.communication_fraction, 2))
        lines.append((*names, *times, *rates))
    return text_table(lines, numbers=range(5, 10))


def csv_text(rows: pd.DataFrame) -> str:
    """Every measurement, one line each; what a benchmark does not have is empty."""
    return str(rows.to_csv(columns=CSV_COLUMNS.split(","), index=False, float_format="%.6g"))


def shared_and_labels(steps: pd.DataFrame) -> tuple[str, list[str]]:
    """What all steps have in common, and for each what it does not share with all others."""
    set_ups = list(steps.set_up)
    names = list(dict.fromkeys(name for set_up in set_ups for name in set_up))
    shared = [name for name in names if len({set_up.get(name) for set_up in set_ups}) == 1]

    def labels(left_out: Sequence[str]) -> list[str]:
        return [", ".join(text for name, text in set_up.items() if name not in left_out) for set_up in set_ups]

    short = labels([*shared, *MINOR])
    return ", ".join(set_ups[0][name] for name in shared), short if len(set(short)) == len(short) else labels(shared)


def phase_names(steps: pd.DataFrame) -> list[str]:
    """The phases of all steps in the order of the files, what belongs to no phase last."""
    names = dict.fromkeys(name for budget in steps.budget for name in budget)
    return [name for name in names if name != OTHER] + [OTHER] * (OTHER in names)


def steps_table_text(steps: pd.DataFrame) -> str:
    """A line for each result: milliseconds of its phases and of the whole, and nanoseconds per point."""
    shared, labels = shared_and_labels(steps)
    names = phase_names(steps)
    lines = [("ms", *names, "whole", "ns per point")]
    for step, label in zip(steps.itertuples(), labels, strict=True):
        times = (f"{step.budget[name]:.3f}" if name in step.budget else "" for name in names)
        lines.append((label, *times, f"{step.milliseconds:.3f}", f"{1e6 * step.milliseconds / step.points:.4g}"))
    return f"{shared}\n{text_table(lines, numbers=range(1, len(lines[0])))}"


def steps_csv_text(steps: pd.DataFrame) -> str:
    """Every phase of every result as it was timed, one line each."""
    lines = [
        step | {"phase": name, "phase_milliseconds": time}
        for step in steps.to_dict("records")
        for name, time in step["phases"].items()
    ]
    return str(pd.DataFrame(lines, columns=STEP_CSV_COLUMNS.split(",")).to_csv(index=False, float_format="%.6g"))
