"""Budgets of a run in wall units: terms with 95 % intervals and storage as datasets; tables and CSV files.

Those of Reynolds stresses are made here, those of scalars in scalar_budgets.py, and both are evaluated here.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sluice_post import export, layout
from sluice_post.arrays import Array, interpolate
from sluice_post.budget_terms import (
    IMBALANCE,
    NOT_AT_SUCH_WALLS,
    NOT_TAKEN,
    SCALAR_TERMS,
    TERMS,
    Terms,
    budgets_of,
    heights_of,
    stresses_of,
    wall_dissipation,
)
from sluice_post.datasets.cf import PLANES_AND_TIME
from sluice_post.datasets.variables import About, dataset, described, heights
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.parameters import Buoyancy, FlowParameters
from sluice_post.printed import with_interval as number_text
from sluice_post.profiles import wall_profiles
from sluice_post.scalar_profiles import over_images
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import intervals
from sluice_post.wall_view import SeenFromWall, WallView, wall_view, with_wall

STORAGE = "storage"
_CELLS = ("dx_over_eta", "dy_over_eta", "dz_over_eta")
KOLMOGOROV: dict[str, About] = {
    "eta_plus": ("z", "Kolmogorov's length", "nu/u_tau"),
    **{name: ("z", f"size of the cells along {name[1]} over Kolmogorov's length", "1") for name in _CELLS},
}
_UNITS = {"cc": "c_tau^2 u_tau^2/nu", "uc": "c_tau u_tau^3/nu", "wc": "c_tau u_tau^3/nu"}  # of the others u_tau^4/nu


@dataclass(frozen=True)
class Budget:
    """Terms by name over `unit`, `imbalance` last, at heights z of the run; `amount`: what has this budget."""

    z: Array
    terms: Terms
    unit: float
    amount: Array  # in the units of the run


@dataclass(frozen=True)
class WallBudgets(SeenFromWall):
    """Budgets in wall units from a wall to `parameters.far_end`, seen from that wall; the main one first."""

    budgets: dict[str, Budget]
    wall_dissipation: dict[str, float] = field(default_factory=dict)  # on the wall, of uu, vv and k; positive
    of: str = ""  # the name of the scalar whose budgets they are; empty: the Reynolds stresses
    c_tau: float = nan  # of this scalar

    @property
    def z_face_plus(self) -> Array:
        """All faces in wall units."""
        return self.view.means.z_face * self.re_tau

    def z_plus(self, name: str) -> Array:
        """Where the terms of a budget are, in wall units."""
        return self.budgets[name].z * self.u_tau / self.viscosity

    def integral(self, values: Array) -> float:
        """Integral over z+ of a profile at the centres, from the wall to the far end.

        The integral of a term has the unit of the term times nu/u_tau.
        """
        top = self.height * self.u_tau / self.viscosity
        dz = np.diff(np.minimum(self.z_face_plus, top))  # half of a cell that the centre plane cuts
        return float(values @ dz[: len(values)])

    @property
    def numbers(self) -> dict[str, float]:
        """Integrals of the main budget, dissipation and imbalance in % of the production; units.

        Of the stresses also the smallest Kolmogorov length and the largest cells in its units.
        """
        budget = next(iter(self.budgets.values()))
        production = self.integral(budget.terms["production"])
        percent = 100 / production if production != 0 else nan
        found = {"production": production, "u_tau": self.u_tau}
        found |= {term: percent * self.integral(budget.terms[term]) for term in ("dissipation", IMBALANCE)}
        if self.of:
            return found | {"c_tau": self.c_tau}
        columns = self.kolmogorov_columns()
        found |= {"unit": budget.unit, "eta_plus": float(columns["eta_plus"].min())}
        return found | {name: float(columns[name].max()) for name in _CELLS}

    def terms_on_wall(self, stress: str) -> dict[str, float]:
        """A budget on the no-slip wall: diffusion balances dissipation, and for uw the two pressure terms cancel."""
        budget = self.budgets[stress]
        terms = dict.fromkeys(budget.terms, 0.0)
        if stress in self.wall_dissipation:
            terms["viscous_diffusion"] = self.wall_dissipation[stress]
            terms["dissipation"] = -self.wall_dissipation[stress]
        if stress == "uw":
            strain = float(interpolate(np.zeros(1), budget.z, budget.terms["pressure_strain"])[0])
            terms |= {"pressure_strain": strain, "pressure_transport": -strain}
        return terms

    def kolmogorov_columns(self) -> dict[str, Array]:
        """Kolmogorov's length from the dissipation of k, in wall units, and the size of the cells in its units."""
        k = self.budgets["k"]
        with np.errstate(divide="ignore", invalid="ignore"):
            eta = (-k.terms["dissipation"]) ** -0.25
        size, cells = self.view.parameters.size, self.view.parameters.cells
        dx, dy = (size[n] / cells[n] * self.re_tau for n in (0, 1))
        dz = np.diff(self.z_face_plus)[: len(k.z)]
        return {"eta_plus": eta, "dx_over_eta": dx / eta, "dy_over_eta": dy / eta, "dz_over_eta": dz / eta}


def require_budgets(blocks: Blocks, parameters: FlowParameters, directory: Path) -> None:
    """An error if the profiles of budgets were not taken, or nothing fluctuates."""
    path = directory / layout.STATISTICS_FILE
    if not blocks.has_budgets:
        raise InputOutputError(f"{path}: {NOT_TAKEN}")
    if parameters.controlled:
        raise UsageError(f"{path}: {NOT_AT_SUCH_WALLS}")
    if wall_profiles(blocks.means(), parameters).laminar:
        raise UsageError(f"{path}: the flow is laminar, so it has no budgets of fluctuations")


def buoyancy_terms(means: Means, view: WallView, buoyancy: Buoyancy) -> Terms:
    """What the force -g beta (c - c_0) e_g does to uu, vv, ww and uw, seen as in `view`, from profiles of the scalar.

    Only of the stresses that gravity in this direction acts on; none at all if the profiles of the scalar are missing.
    `means`: the stored ones, over the whole height, that `view` is a view of.
    """
    name = buoyancy.scalar.name
    if f"{name}_w" not in means.scalars:
        return {}
    x, y, z = (-buoyancy.coefficient * component for component in buoyancy.gravity)
    c, wc = means.scalars[name] - buoyancy.reference, means.scalars[f"{name}_w"]

    def product(component: str, frame: float) -> Array:
        """<u (c - c_0)> or <v (c - c_0)> in the frame of the view."""
        of_c = means.scalars[f"{name}_{component}"] - frame * means.scalars[name]
        return np.asarray(of_c - buoyancy.reference * (means.centre[component] - frame))

    u, v = view.means.centre["u"], view.means.centre["v"]
    uc, vc = product("u", view.frame[0]), product("v", view.frame[1])
    terms = {}
    if x != 0:
        terms["uu"] = 2 * (over_images(view, x * uc) - u * over_images(view, x * c, "x"))
    if y != 0:
        terms["vv"] = 2 * (over_images(view, y * vc) - v * over_images(view, y * c, "y"))
    if z != 0:
        terms["ww"] = 2 * over_images(view, z * wc)
    if x != 0 or z != 0:
        at_centres = over_images(view, z * uc, "xz") - u * over_images(view, z * c, "z")
        terms["uw"] = (at_centres[1:] + at_centres[:-1]) / 2 + over_images(view, x * wc, "xz")[1:-1]
    return terms


def near_wall(
    terms: Mapping[str, Terms], amounts: Terms, units: Mapping[str, float], view: WallView
) -> dict[str, Budget]:
    """Budgets over the whole height, in the units of the run, as budgets within the view over these units."""
    budgets = {}
    for name, of_name in terms.items():
        z, unit = heights_of(name, view.means), units[name]
        near = view.near(z)
        over_unit = {term: values[near] / unit for term, values in of_name.items()}
        budgets[name] = Budget(z[near], over_unit, unit, amounts[name][near])
    return budgets


def wall_budgets(means: Means, parameters: FlowParameters, side: str | None = None) -> WallBudgets:
    """Budgets in wall units. `side`: both (symmetric halves averaged), bottom or top."""
    view, nu = wall_view(means, parameters, side), parameters.viscosity
    buoyancy = buoyancy_terms(means, view, parameters.buoyancy) if parameters.buoyancy else None
    terms = budgets_of(view.means, nu, view.no_slip, view.rotation, buoyancy, parameters.magnetic_drag)
    unit, amounts = view.u_tau**4 / nu, stresses_of(view.means)
    on_wall = {stress: value / unit for stress, value in wall_dissipation(view.means, nu).items()}
    return WallBudgets(view, near_wall(terms, amounts, dict.fromkeys(terms, unit), view), on_wall)


@dataclass(frozen=True)
class EvaluatedBudgets:
    """Budgets by name as datasets: terms, `imbalance` last, with intervals, and the storage, which may be missing.

    The storage is the rate of change between the first and the last block. It estimates the part of the imbalance
    that is due to the flow not being steady over the time of averaging. `numbers`: those of WallBudgets and the half
    widths of their intervals. `name` and `title`: of budgets of a scalar, as those of EvaluatedScalar.
    """

    found: WallBudgets
    data: dict[str, xr.Dataset]
    numbers: dict[str, tuple[float, float]]
    zero_by_symmetry: tuple[tuple[str, str], ...] = ()  # names of budgets and terms
    name: str = ""
    title: str = ""

    @property
    def has_intervals(self) -> bool:
        """Whether the intervals are known, as for more than one block."""
        return all(f"{IMBALANCE}_ci95" in data for data in self.data.values())


def evaluate(
    of: Callable[[Means], WallBudgets], blocks: Blocks, zero_by_symmetry: tuple[tuple[str, str], ...] = (), **about: str
) -> EvaluatedBudgets:
    """The budgets that `of` forms of averages, with intervals and storage. `about`: name and title."""

    def all_of(means: Means) -> dict[str, Array]:
        found = of(means)
        numbers = {f"numbers {key}": np.array(value) for key, value in found.numbers.items()}
        return numbers | {
            f"{name} {term}": values for name, budget in found.budgets.items() for term, values in budget.terms.items()
        }

    found, by_name = of(blocks.means()), defaultdict[str, dict[str, Array]](dict)
    for key, values in intervals(all_of, blocks).items():
        name, _, term = key.partition(" ")
        by_name[name][term] = values
    numbers = {key: (value, float(by_name["numbers"].get(f"{key}_ci95", nan))) for key, value in found.numbers.items()}
    begin, end = blocks.ends()
    first, last = (of(some.means()).budgets for some in (begin, end))
    elapsed = float(np.mean(end.time_begin + end.time_end - begin.time_begin - begin.time_end)) / 2
    data = {}
    for name, budget in found.budgets.items():
        if elapsed > 0:
            change = last[name].amount - first[name].amount
            by_name[name][STORAGE] = change / (elapsed * budget.unit)
        if name == "k":
            by_name[name] |= found.kolmogorov_columns()
        coordinates = heights(_dim(name), budget.z, found)
        attributes: dict[str, Any] = {"name": found.of, "budget": name} if found.of else {"stress": name}
        attributes |= {"u_tau": found.u_tau, "re_tau": found.re_tau}
        attributes |= {"c_tau": found.c_tau} if found.of else {"wall": found.wall}
        data[name] = dataset(described(by_name[name], _about(name)), coordinates, PLANES_AND_TIME, **attributes)
    return EvaluatedBudgets(found, data, numbers, zero_by_symmetry, **about)


def _dim(name: str) -> str:
    return "z_face" if name in ("ww", "uw", "wc") else "z"


def _about(name: str) -> dict[str, About]:
    """Dimension, description and unit of all that the dataset of a budget may have."""
    dim, unit = _dim(name), _UNITS.get(name, "u_tau^4/nu")
    return {
        **{term: (dim, f"{term.replace('_', ' ')} of {name}", unit) for term in (*TERMS, *SCALAR_TERMS)},
        IMBALANCE: (dim, f"sum of all terms of the budget of {name}", unit),
        STORAGE: (dim, f"rate of change of {name} from the first to the last block", unit),
        **KOLMOGOROV,
    }


def evaluate_budgets(blocks: Blocks, parameters: FlowParameters, side: str | None = None) -> EvaluatedBudgets:
    """Budgets of k, uu, vv, ww and uw."""
    along_x, _, along_z = parameters.rotation  # these give the flow a mean V
    spanwise = parameters.velocity_bottom[1] != parameters.velocity_top[1]
    pulled = parameters.buoyancy is not None and parameters.buoyancy.gravity[1] != 0
    zero = () if spanwise or along_x or along_z or pulled else (("vv", "production"),)
    return evaluate(lambda means: wall_budgets(means, parameters, side), blocks, zero)


def csv_text(data: xr.Dataset) -> str:
    """Profiles at the same heights as a CSV file: z/h, z+ and all variables, `NAME_ci95` as half widths."""
    (dim,) = data.sizes
    columns = {str(name): values.values for name, values in data.data_vars.items()}
    return export.csv_text({"z_over_h": data[dim].values, "z_plus": data[f"{dim}_plus"].values} | columns)


def _largest_rows(evaluated: EvaluatedBudgets) -> list[str]:
    """Largest magnitudes of the terms of each budget, with a heading."""
    lines = [f"{'budget':<8}{'term':<22}{'largest':>26}{'at z+':>10}"]
    for name, data in evaluated.data.items():
        for term in (*evaluated.found.budgets[name].terms, STORAGE):
            if (name, term) in evaluated.zero_by_symmetry:
                lines.append(f"{name:<8}{term:<22}  zero by symmetry")
            elif term in data:
                values = data[term].values
                at = int(np.argmax(np.abs(values)))
                width = float(data[f"{term}_ci95"][at]) if f"{term}_ci95" in data else nan
                number = number_text(float(values[at]), width, sign="+", may_be_zero=True, scale=1)
                label = "storage (estimate)" if term == STORAGE else term.replace("_", " ")
                lines.append(f"{name:<8}{label:<22}{number:>26}{evaluated.found.z_plus(name)[at]:>10.2f}")
    return lines


def table_text(evaluated: EvaluatedBudgets) -> str:
    """Largest magnitudes of each budget and the integrals of the main one as a table for the terminal."""
    found = evaluated.found
    number = {name: number_text(*of_name) for name, of_name in evaluated.numbers.items()}
    main, sizes, unit = next(iter(evaluated.data)), [], "u_tau^3"
    if found.of:
        about = f"scalar {evaluated.title}, wall units: c_tau = {number['c_tau']}, u_tau = {number['u_tau']}"
        unit = "c_tau^2 u_tau"
    else:
        about = f"{with_wall('wall units', found.wall)}: u_tau = {number['u_tau']}, u_tau^4/nu = {number['unit']}"
        largest = ", ".join(f"{name.replace('_over_', '/')} {number[name]}" for name in _CELLS)
        sizes = ["", f"Kolmogorov length: smallest eta+ {number['eta_plus']}; largest {largest}"]
    of_wall = f"{main} from the wall to the {found.view.parameters.far_end}"
    integrals = [f"{of_wall}: production {number['production']} {unit}, and in % of it:"]
    for term in ("dissipation", IMBALANCE):
        integrals.append(f"  {term} {number_text(*evaluated.numbers[term], sign='+', may_be_zero=True, scale=100)}")
    if STORAGE in evaluated.data[main]:
        share = 100 * found.integral(evaluated.data[main][STORAGE].values) / evaluated.numbers["production"][0]
        integrals[-1] += f", of which storage (estimate from the first and the last block) {share:+.2g}"
    return "\n".join([about, "", *_largest_rows(evaluated), "", *integrals, *sizes])
