"""Friction value, Nusselt and Stanton numbers of scalars, closure of their fluxes; all with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice_post import export
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError
from sluice_post.interpolation import interpolate
from sluice_post.parameters import FlowParameters
from sluice_post.printed import with_interval
from sluice_post.scalar_profiles import ScalarProfiles, ScalarView, scalar_profiles, scalar_view, sides_of, source_of
from sluice_post.scalars import Scalar, sampled_scalars
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import half_widths95

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


def between_walls(scalar: Scalar) -> bool:
    """Whether Nu is that of two walls at different values, which is 1 in conduction; else that of a heated channel."""
    return scalar.source == "none"


def nusselt_meaning(scalar: Scalar) -> str:
    """Which Nusselt number is printed, in words."""
    if between_walls(scalar):
        return "Nu = q_w H/(kappa |difference of the walls|), H the distance of the walls: 1 in conduction"
    return "Nu = 4h q_w/(kappa (c_w - c_m)), c_m the mixed mean (wall - bulk, hydraulic diameter 4h)"


def mixed_mean(view: ScalarView, direction: tuple[float, float]) -> float:
    """The integral of U C over that of U, of the means, U relative to the wall; NaN if no fluid is carried.

    `direction`: of U.
    """
    dz = np.diff(view.flow.means.z_face)
    u = view.flow.velocity_along(direction)
    carried = float(u @ dz)
    return float((u * view.mean) @ dz / carried) if abs(carried) > 1e-9 * float(np.abs(u) @ dz) else float("nan")


def numbers_of(means: Means, parameters: FlowParameters, scalar: Scalar, side: str) -> dict[str, float]:
    """The numbers of a scalar at a wall, in the units of the case; those that are not defined are left out."""
    view = scalar_view(means, parameters, scalar, side)
    source = source_of(scalar, means)
    q, bulk = view.wall_flux, mixed_mean(view, parameters.wall_direction)
    u_tau, height = view.flow.u_tau, float(means.z_face[-1])
    profiles = scalar_profiles(means, parameters, scalar, side)
    difference = view.wall_value - bulk
    if between_walls(scalar):
        nusselt = q * height / (view.kappa * (view.wall_value - view.far_value))
    else:
        nusselt = q * 4 * parameters.reach / (view.kappa * difference)
    u = view.flow.velocity_along(parameters.wall_direction)
    u_b = abs(float(u @ np.diff(means.z_face))) / height
    values = {
        "c_tau": q / u_tau,
        "wall_flux": q,
        "bulk": bulk,
        "nu": nusselt,
        "st": q / (u_b * difference) if u_b > 0 else float("nan"),
        "residual": profiles.residual,
    }
    if source is not None:
        flux = means.scalars[f"{scalar.name}_gradient_flux"]  # of both walls, not averaged
        added = float(source @ np.diff(means.z_face))
        values["imbalance"] = float((flux[-1] - flux[0] + added) / (abs(flux[-1]) + abs(flux[0])))
    return {key: value for key, value in values.items() if np.isfinite(value)}


@dataclass(frozen=True)
class EvaluatedScalar:
    """A scalar seen from one wall: profiles, numbers, and half widths of 95 % intervals (none for a single block).

    `bands` has the names of `profiles.centre` and `.face`, `outer_bands` those of the outer ones.
    """

    profiles: ScalarProfiles
    numbers: dict[str, float]
    bands: dict[str, Array]
    outer_bands: dict[str, Array]
    widths: dict[str, float]

    @property
    def name(self) -> str:
        """Of the scalar, with the side where the halves are not averaged: theta, c_bottom."""
        side = self.profiles.side
        return self.profiles.scalar.name + ("" if side == "both" else f"_{side}")

    @property
    def largest(self) -> float:
        """The largest mean at any height, in the units of the case."""
        return float(np.max(np.abs(self.profiles.outer_centre["C"])))

    @property
    def title(self) -> str:
        """The same for people."""
        side = self.profiles.side
        return self.profiles.scalar.name + ("" if side == "both" else f", {side} wall")


def _evaluate(blocks: Blocks, parameters: FlowParameters, scalar: Scalar, side: str) -> EvaluatedScalar:
    def all_of(means: Means) -> dict[str, Array]:
        found = scalar_profiles(means, parameters, scalar, side)
        parts = {"wall": found.centre | found.face, "outer": found.outer_centre | found.outer_face}
        numbers = numbers_of(means, parameters, scalar, side)
        columns = {f"{part}:{name}": values for part, held in parts.items() for name, values in held.items()}
        return columns | {f"number:{key}": np.array([value]) for key, value in numbers.items()}

    widths = half_widths95(all_of, blocks) if len(blocks) > 1 or not blocks.has_sampling_error else {}

    def part(name: str) -> dict[str, Array]:
        if name != "number" and not blocks.has_sampling_error:
            return {}
        return {key.partition(":")[2]: values for key, values in widths.items() if key.startswith(f"{name}:")}

    means = blocks.means()
    return EvaluatedScalar(
        scalar_profiles(means, parameters, scalar, side),
        numbers_of(means, parameters, scalar, side),
        part("wall"),
        part("outer"),
        {key: float(values[0]) for key, values in part("number").items()},
    )


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


_MAY_BE_ZERO = ("bulk", "residual", "imbalance")


def _number(found: EvaluatedScalar, key: str) -> str:
    may_be_zero = key in _MAY_BE_ZERO
    scale = 1.0 if key in ("residual", "imbalance") else found.largest if key == "bulk" else 0.0
    width = found.widths.get(key, float("nan"))
    return with_interval(found.numbers[key], width, may_be_zero=may_be_zero, scale=scale)


def summary_lines(scalars: Sequence[EvaluatedScalar]) -> list[str]:
    """A line for each scalar and wall for the terminal."""
    return [
        f"scalar {found.title}: "
        + ", ".join(
            f"{LABELS[key]} {_number(found, key)}"
            for key in ("c_tau", "nu", "st", "residual", "imbalance")
            if key in found.numbers
        )
        for found in scalars
    ]


def table_text(scalars: Sequence[EvaluatedScalar]) -> str:
    """All numbers with their definitions."""
    lines = []
    for found in scalars:
        lines.append(f"{found.title} (Pr = {found.profiles.scalar.prandtl:g})")
        for key, label in LABELS.items():
            if key in found.numbers:
                lines.append(f"  {label:<38}{_number(found, key)}")
        lines.append(f"  {nusselt_meaning(found.profiles.scalar)}")
    return "\n".join(lines)


_COLUMNS = {
    "C": "Theta_plus", "c_rms": "c_rms_plus", "skew_c": "skewness_c", "flat_c": "flatness_c", "uc": "uc_plus",
    "vc": "vc_plus", "R_uc": "R_uc", "R_wc": "R_wc", "minus_wc": "minus_wc_plus", "conduction": "conduction_plus",
    "total": "total_flux_plus", "residual": "total_flux_residual", "kappa_t": "kappa_t_over_nu", "Pr_t": "Pr_t",
}  # fmt: skip


def csv_text(found: EvaluatedScalar) -> str:
    """The profiles at the cell centres: in wall units, then `outer_...` in the units of the case."""
    profiles = found.profiles
    wall = profiles.wall
    columns = {"z_over_h": wall.z, "z_plus": wall.z_plus}

    def at_centres(values: Array) -> Array:
        if values.size == wall.z.size:
            return values
        known = np.isfinite(values)
        if np.count_nonzero(known) < 2:
            return np.full(wall.z.size, np.nan)
        z = wall.z_face[known]
        inside = (wall.z >= z[0]) & (wall.z <= z[-1])
        return np.where(inside, interpolate(wall.z, z, values[known]), np.nan)

    def add(column: str, values: Array, band: Array | None) -> None:
        columns[column] = at_centres(values)
        if band is not None:
            columns[f"{column}_ci95"] = np.abs(at_centres(band))

    inner = profiles.centre | profiles.face
    for name, column in _COLUMNS.items():
        add(column, inner[name], found.bands.get(name))
    for name, values in (profiles.outer_centre | profiles.outer_face).items():
        add(f"outer_{name}", values, found.outer_bands.get(name))
    return export.csv_text(columns)
