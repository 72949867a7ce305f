"""What ``sluice bench step|solve|poisson|tridiagonal --json FILE`` measured: a time step or solves, by phases."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sluice_post.bench_values import csv_line, device_type, number, positive, text_table

BENCHMARKS = ("step", "solve", "poisson", "tridiagonal")
OTHER = "other"
MINOR = ("z blocks", "revision")  # in labels only where without them two would be the same


@dataclass(frozen=True)
class Step:
    """A measured step or solve, with times in milliseconds. Phases were timed in repeats of their own."""

    what: str
    cells: tuple[int, ...]
    precision: str
    ranks: int
    device: str
    revision: str
    diffusion: str
    order: int
    scalars: int
    tridiagonal: str
    process_grid: tuple[int, ...]
    exchange: str
    z_blocks: int
    median: float
    least: float
    most: float
    phases: dict[str, float]

    @property
    def points(self) -> int:
        """The number of cells."""
        return math.prod(self.cells)

    @property
    def processes(self) -> str:
        """The process grid."""
        return " x ".join(map(str, self.process_grid))

    @property
    def nanoseconds(self) -> float:
        """Per point and step."""
        return 1e6 * self.median / self.points

    @property
    def budget(self) -> dict[str, float]:
        """The phases, and what the step takes beside them; phases that together take longer share its time."""
        sum_of_phases = sum(self.phases.values())
        if sum_of_phases > self.median:
            return {name: time * self.median / sum_of_phases for name, time in self.phases.items()}
        return {**self.phases, OTHER: self.median - sum_of_phases}

    @property
    def set_up(self) -> dict[str, str]:
        """What was measured, in words, in the order of a label."""
        names = {
            "what": self.what,
            "grid": " x ".join(map(str, self.cells)),
            "tridiagonal": self.tridiagonal,
            "ranks": f"{self.ranks} rank{'s' * (self.ranks != 1)} ({self.processes})",
        }
        if self.what == "step":
            names |= {"diffusion": self.diffusion, "scalars": f"{self.scalars or 'no'} scalars"}
        if self.what != "tridiagonal":
            names["order"] = f"order {self.order}"
        return names | {
            "precision": f"{self.precision} precision",
            "exchange": self.exchange,
            "z blocks": f"{self.z_blocks} z blocks",
            "device": device_type(self.device),
            "revision": self.revision,
        }


def read_step(entry: dict[str, Any]) -> Step:
    """A result of bench step, solve, poisson or tridiagonal; KeyError, TypeError or ValueError if it is none."""
    cells = tuple(int(positive(n, "cells")) for n in entry["cells"])
    if len(cells) != 3:
        raise ValueError(f"cells are {cells}")
    milliseconds = 1e-6 * math.prod(cells)
    least, most = (
        milliseconds * number(value, "ns_per_point_per_step_spread") for value in entry["ns_per_point_per_step_spread"]
    )
    phases = {str(phase["name"]): number(phase["milliseconds"], "milliseconds") for phase in entry["phases"]}
    if any(time < 0 for time in phases.values()):
        raise ValueError("a phase takes less than 0 milliseconds")
    return Step(
        what=str(entry["what"]),
        cells=cells,
        precision=str(entry["precision"]),
        ranks=int(positive(entry["ranks"], "ranks")),
        device=str(entry["device"]),
        revision=str(entry["git_revision"]),
        diffusion=str(entry["diffusion"]),
        order=int(number(entry["order"], "order")),
        scalars=int(number(entry["scalars"], "scalars")),
        tridiagonal=str(entry["tridiagonal"]),
        process_grid=tuple(int(positive(n, "process_grid")) for n in entry["process_grid"]),
        exchange=str(entry["exchange"]),
        z_blocks=int(positive(entry["z_blocks"], "z_blocks")),
        median=milliseconds * positive(entry["ns_per_point_per_step"], "ns_per_point_per_step"),
        least=least,
        most=most,
        phases=phases,
    )


def shared_and_labels(steps: Sequence[Step]) -> tuple[str, list[str]]:
    """What all steps have in common, and for each what it does not share with all others."""
    set_ups = [step.set_up for step in steps]
    names = list(dict.fromkeys(name for set_up in set_ups for name in set_up))
    shared = [name for name in names if len({set_up.get(name) for set_up in set_ups}) == 1]

    def labels(left_out: Sequence[str]) -> list[str]:
        return [", ".join(text for name, text in set_up.items() if name not in left_out) for set_up in set_ups]

    short = labels([*shared, *MINOR])
    return ", ".join(set_ups[0][name] for name in shared), short if len(set(short)) == len(short) else labels(shared)


def phase_names(steps: Iterable[Step]) -> list[str]:
    """The phases of all steps in the order of the files, what belongs to no phase last."""
    names = dict.fromkeys(name for step in steps for name in step.budget)
    return [name for name in names if name != OTHER] + [OTHER] * (OTHER in names)


def table_text(steps: Sequence[Step]) -> str:
    """A line for each result: milliseconds of its phases and of the whole, and nanoseconds per point."""
    shared, labels = shared_and_labels(steps)
    names = phase_names(steps)
    lines = [("ms", *names, "whole", "ns per point")]
    for step, label in zip(steps, labels, strict=True):
        budget = step.budget
        times = (f"{budget[name]:.3f}" if name in budget else "" for name in names)
        lines.append((label, *times, f"{step.median:.3f}", f"{step.nanoseconds:.4g}"))
    return f"{shared}\n{text_table(lines, numbers=range(1, len(lines[0])))}"


CSV_COLUMNS = (
    "what,nx,ny,nz,precision,ranks,device,revision,diffusion,order,scalars,tridiagonal,process_grid,exchange,"
    "z_blocks,milliseconds,milliseconds_min,milliseconds_max,phase,phase_milliseconds"
)


def csv_text(steps: Iterable[Step]) -> str:
    """Every phase of every result as it was timed, one line each."""
    lines = [CSV_COLUMNS]
    for step in steps:
        texts: tuple[str | int, ...] = (
            step.what,
            *step.cells,
            step.precision,
            step.ranks,
            step.device,
            step.revision,
            step.diffusion,
            step.order,
            step.scalars,
            step.tridiagonal,
            step.processes,
            step.exchange,
            step.z_blocks,
        )
        whole = (step.median, step.least, step.most)
        lines += [csv_line([*texts, *whole, name, time]) for name, time in step.phases.items()]
    return "\n".join(lines) + "\n"
