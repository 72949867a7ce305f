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
KNOWN = "what sluice bench step, solve, poisson, tridiagonal, transpose, fft, links or checkpoint writes"
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
_EXPERIMENT = ["timed", "points", *_CELLS, "values", "fields", "precision", "ranks", "device_type", "is_baseline"]


@dataclass(frozen=True)
class Results:
    """Measurements that worked, times in milliseconds: of transposes, transforms, links and checkpoints; of time steps.

    The latter have solves among them. Not all kinds of benchmarks have all numbers. Phases of steps were timed in
    repeats of their own.
    """

    rows: pd.DataFrame
    steps: pd.DataFrame


def _number(value: Any, name: str, above: float = -math.inf) -> float:
    """The value, if it is a finite number above a bound; else ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not above < value < math.inf:
        raise ValueError(f"{name} is {value!r}")
    return float(value)


def _count(entry: Mapping[str, Any], name: str) -> int:
    return int(_number(entry[name], name, above=0))


def _numbers(entry: Mapping[str, Any], name: str, length: int = 2, above: float = -math.inf) -> list[float]:
    numbers = [_number(value, name, above) for value in entry[name]]
    if len(numbers) != length:
        raise ValueError(f"{name}: not {length} numbers")
    return numbers


def _counts(entry: Mapping[str, Any], name: str, length: int) -> list[int]:
    return [int(count) for count in _numbers(entry, name, length, above=0)]


def _common(entry: Mapping[str, Any]) -> dict[str, Any]:
    """What all results have; links have neither cells nor a process grid, and some benchmarks no phases."""
    links, device = entry["what"] == "links", str(entry["device"])
    cells, split = ([], []) if links else (_counts(entry, "cells", 3), _counts(entry, "process_grid", 2))
    phases = entry["phases"] if entry["what"] in STEP_BENCHMARKS else entry.get("phases", ())
    return {
        "what": str(entry["what"]),
        **dict(zip(_CELLS, cells or 3 * [None], strict=True)),
        "points": math.prod(cells),
        "grid": " x ".join(map(str, cells)),
        "precision": str(entry["precision"]),
        "ranks": _count(entry, "ranks"),
        "device": device,
        # Without the number of the NUMA node, which differs between machines of one kind.
        "device_type": re.sub(r", host memory on NUMA node \d+$", "", device),
        "process_grid": " x ".join(map(str, split)),
        "phases": {str(phase["name"]): _number(phase["milliseconds"], "milliseconds") for phase in phases},
    }


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


def _ways(entry: Mapping[str, Any]) -> tuple[str, str, str]:
    """Kind, layout and exchange method; of links and checkpoints what was timed stands for the method."""
    if entry["what"] == "links":
        return f"blocks of {entry['bytes']} bytes", "", str(entry["name"])
    if entry["what"] == "checkpoint":
        return ", ".join([f"writer {entry['writer']}", *map(str, entry["hints"])]), "", str(entry["name"])
    exchange = str(entry["exchange"])
    if "cuda_aware_mpi" in entry:  # in GPU builds: whether MPI gets device pointers
        exchange += f" ({'CUDA-aware' if entry['cuda_aware_mpi'] is True else 'through the host'})"
    return str(entry["kind"]), str(entry["layout"]), exchange


def _row(entry: dict[str, Any]) -> dict[str, Any]:
    row = _common(entry)
    row |= {"values": str(entry.get("values", "real")), "fields": _count({"fields": 1} | entry, "fields")}
    row["kind"], row["layout"], row["exchange"] = _ways(entry)
    row["milliseconds"] = _number(entry["milliseconds"], "milliseconds", above=0)
    row["milliseconds_min"], row["milliseconds_max"] = _numbers(entry, "milliseconds_spread")
    for percent in ("95", "99"):
        interval = f"milliseconds_interval_{percent}"
        low, high = _numbers(entry, interval) if interval in entry else (math.nan, math.nan)
        row |= {f"milliseconds_{percent}_low": low, f"milliseconds_{percent}_high": high}
    for name in ("gb_per_s", "tflops", "communication_fraction", "error"):
        row[name] = _number(entry[name], name) if name in entry else math.nan
    one = (row["values"], row["fields"]) == ("real", 1)
    row["of_fields"] = "" if one else f", {row['fields']} {row['values']} field{'s' * (row['fields'] > 1)}"
    row["grid"] += row["of_fields"]
    row["timed"] = f"checkpoint: {row['exchange']}" if row["what"] == "checkpoint" else row["what"]
    row["is_baseline"] = row["what"] == "fft" and not row["kind"].startswith(("slab", "pencil"))
    row["panel"] = " ".join(text for text in (row["kind"], row["layout"], row["process_grid"]) if text)
    on = "" if row["what"] == "links" else f" on {row['grid']}"
    row["experiment"] = f"{row['what']}{on}, {row['precision']} precision, {row['ranks']} ranks, {row['device_type']}"
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
        "grid": step["grid"],
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
    step = _common(entry)
    unit = 1e-6 * step["points"]  # milliseconds per step in a nanosecond per point and step
    low, high = _numbers(entry, "ns_per_point_per_step_spread")
    step |= {name: str(entry[name]) for name in ("diffusion", "tridiagonal", "exchange")}
    step |= {name: int(_number(entry[name], name)) for name in ("order", "scalars")}
    step |= {
        "revision": str(entry["git_revision"]),
        "z_blocks": _count(entry, "z_blocks"),
        "milliseconds": unit * _number(entry["ns_per_point_per_step"], "ns_per_point_per_step", above=0),
        "milliseconds_min": unit * low,
        "milliseconds_max": unit * high,
    }
    if any(time < 0 for time in step["phases"].values()):
        raise ValueError("a phase takes less than 0 milliseconds")
    return step | {"set_up": _set_up(step), "budget": _budget(step["phases"], step["milliseconds"])}


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
