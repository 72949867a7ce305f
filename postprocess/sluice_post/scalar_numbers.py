"""Scalars with the 95 % intervals of their profiles, Nusselt and Stanton numbers; as dataset, table and CSV file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from pathlib import Path

import numpy as np
import xarray as xr

from sluice_post import export
from sluice_post.arrays import Array
from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import About, dataset, described, heights
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.parameters import FlowParameters
from sluice_post.printed import with_interval as number_text
from sluice_post.profiles import values_at_centres
from sluice_post.scalar_profiles import PROFILES, ScalarProfiles, scalar_profiles, sides_of
from sluice_post.scalars import Scalar, sampled_scalars
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import intervals

# Of the numbers of a scalar, for text.
LABELS = {
    "c_tau": "c_tau",
    "wall_flux": "wall flux q_w",
    "nu": "Nu",
    "st": "St",
    "bulk": "mixed mean",
    "residual": "total-flux residual",
    "imbalance": "imbalance of wall fluxes and source",
}
_MAY_BE_ZERO = ("bulk", "residual", "imbalance")


def nusselt_meaning(scalar: Scalar) -> str:
    """Which Nusselt number is printed, in words."""
    if scalar.is_between_walls:
        return "Nu = q_w H/(kappa |difference of the walls|), H the distance of the walls: 1 in conduction"
    return "Nu = 4h q_w/(kappa (c_w - c_m)), c_m the mixed mean (wall - bulk, hydraulic diameter 4h)"


@dataclass(frozen=True)
class EvaluatedScalar:
    """A scalar seen from one wall. `data`: its profiles from the wall to h, (z) or (z_face), with 95 % intervals.

    `numbers`, by the keys of LABELS, and their half widths in `widths`, none for a single block, are attributes of
    `data`, too.
    """

    profiles: ScalarProfiles
    data: xr.Dataset
    numbers: dict[str, float]
    widths: dict[str, float]

    @property
    def name(self) -> str:
        """Of the scalar, with the side where the halves are not averaged: theta, c_bottom."""
        side = self.profiles.side
        return self.profiles.scalar.name + ("" if side == "both" else f"_{side}")

    @property
    def title(self) -> str:
        """The same for people."""
        side = self.profiles.side
        return self.profiles.scalar.name + ("" if side == "both" else f", {side} wall")

    def number_text(self, key: str) -> str:
        """A number with its interval."""
        largest = float(np.max(np.abs(self.profiles.centre["outer_C"])))
        scale = {"bulk": largest, "residual": 1.0, "imbalance": 1.0}.get(key, 0.0)
        width = self.widths.get(key, nan)
        return number_text(self.numbers[key], width, may_be_zero=key in _MAY_BE_ZERO, scale=scale)


def _evaluate(blocks: Blocks, parameters: FlowParameters, scalar: Scalar, side: str) -> EvaluatedScalar:
    def all_of(means: Means) -> dict[str, Array]:
        found = scalar_profiles(means, parameters, scalar, side)
        numbers = {f"number {key}": np.array(value) for key, value in found.numbers.items()}
        return found.centre | found.face | numbers

    profiles, values = scalar_profiles(blocks.means(), parameters, scalar, side), intervals(all_of, blocks)
    numbers = {key: profiles.numbers[key] for key in LABELS if key in profiles.numbers}
    widths = {key: float(values[name]) for key in numbers if (name := f"number {key}_ci95") in values}
    table: dict[str, About] = {name: ("z", *PROFILES[name][:2]) for name in profiles.centre}
    table |= {name: ("z_face", *PROFILES[name][:2]) for name in profiles.face}
    shown = {
        name: of_name
        for name, of_name in values.items()
        if name in table or (blocks.has_sampling_error and name.removesuffix("_ci95") in table)
    }
    wall = profiles.wall
    data = dataset(
        described(shown, table),
        heights("z", wall.z, wall) | heights("z_face", wall.z_face, wall),
        PLANES_AND_TIME,
        **{"name": scalar.name, "side": wall.view.side, "prandtl": scalar.prandtl, "wall_value": profiles.wall_value},
        u_tau=wall.u_tau,
        **numbers,
        **{f"{key}_ci95": width for key, width in widths.items()},
    )
    return EvaluatedScalar(profiles, data, numbers, widths)


def evaluate_scalars(
    blocks: Blocks, parameters: FlowParameters, side: str | None = None
) -> tuple[list[EvaluatedScalar], list[str]]:
    """All scalars of a run as seen from each wall that shows them, and what cannot be shown."""
    found, problems = [], []
    means = blocks.means()
    for scalar in sampled_scalars(blocks.sampled_parameters()):
        if scalar.name not in means.scalars:
            continue
        for wall in sides_of(scalar, means, parameters, side):
            try:
                found.append(_evaluate(blocks, parameters, scalar, wall))
            except InputOutputError as error:
                problems.append(str(error))
    return found, problems


def summary_lines(scalars: Sequence[EvaluatedScalar]) -> list[str]:
    """A line for each scalar and wall for the terminal."""
    keys = ("c_tau", "nu", "st", "residual", "imbalance")
    return [
        f"scalar {found.title}: "
        + ", ".join(f"{LABELS[key]} {found.number_text(key)}" for key in keys if key in found.numbers)
        for found in scalars
    ]


def table_text(scalars: Sequence[EvaluatedScalar]) -> str:
    """All numbers with their definitions."""
    lines = []
    for found in scalars:
        lines.append(f"{found.title} (Pr = {found.profiles.scalar.prandtl:g})")
        lines += [f"  {LABELS[key]:<38}{found.number_text(key)}" for key in found.numbers]
        lines.append(f"  {nusselt_meaning(found.profiles.scalar)}")
    return "\n".join(lines)


def csv_text(found: EvaluatedScalar) -> str:
    """The profiles at the cell centres: in wall units, then `outer_...` in the units of the case."""
    data, wall = found.data, found.profiles.wall
    columns = {"z_over_h": wall.z, "z_plus": wall.z_plus}

    def at_centres(values: Array) -> Array:
        return values if values.size == wall.z.size else values_at_centres(wall.z, wall.z_face, values)

    for name, (*_, column) in PROFILES.items():
        if column:
            columns[column] = at_centres(data[name].values)
            if f"{name}_ci95" in data:
                columns[f"{column}_ci95"] = np.abs(at_centres(data[f"{name}_ci95"].values))
    return export.csv_text(columns)


def chosen_scalars(
    blocks: Blocks, parameters: FlowParameters, directory: Path, name: str | None, side: str | None
) -> list[EvaluatedScalar]:
    """The scalars of a run, or the one of this name; an error if there is none."""
    scalars, problems = evaluate_scalars(blocks, parameters, side)
    found = [scalar for scalar in scalars if name in (None, scalar.profiles.scalar.name)]
    if not found and problems:
        raise InputOutputError(f"{directory}: {'; '.join(problems)}")
    if not found:
        names = dict.fromkeys(scalar.profiles.scalar.name for scalar in scalars)
        raise UsageError(
            f"{directory}: its statistics have no scalar{'' if name is None else f' {name}'}; "
            f"they have {', '.join(names) or 'none'}"
        )
    return found


def csv_of_one(scalars: Sequence[EvaluatedScalar]) -> str:
    """The table of a scalar that is seen from one wall."""
    if len(scalars) > 1:
        name = scalars[0].profiles.scalar.name
        raise UsageError(f"{name} differs between the two halves: choose one with --side bottom or --side top")
    return csv_text(scalars[0])
