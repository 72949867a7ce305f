"""Budgets of the Reynolds stresses uu, vv, ww and uw and of the energy k, term by term (docs/equations.md, Budgets).

    d<u_i u_j>/dt = production + turbulent transport + pressure transport + pressure strain + viscous diffusion
                    + dissipation [+ Coriolis force] [+ magnetic force] [+ buoyancy]

The terms are formed from products of the scheme's own fluxes and differences. Of one sample, their sum is the rate of
change that the scheme gives, to round-off. The sum of the terms of averages is the imbalance, see README.md.
Dissipation is negative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.buoyancy import buoyancy_terms
from sluice_post.coriolis import coriolis_terms
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.interpolation import interpolate
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import wall_profiles
from sluice_post.statistics import Blocks, Means
from sluice_post.transported import Transported, center_distances, variance_terms
from sluice_post.uncertainty import half_widths95
from sluice_post.wall_view import wall_view

Terms = dict[str, Array]

# uu and vv have no pressure transport, ww no production, k no pressure strain.
TERMS = (
    *("production", "turbulent_transport", "pressure_transport", "pressure_strain"),
    *("viscous_diffusion", "dissipation"),
)
CORIOLIS = "coriolis"  # in a rotating frame only
MAGNETIC = "magnetic_force"  # in a magnetic field, which brakes u and v: of all but ww
BUOYANCY = "buoyancy"  # where buoyancy acts on the flow, of uu, vv and ww along gravity only
FORCES = (CORIOLIS, MAGNETIC, BUOYANCY)
# Of scalars; each budget has some.
SCALAR_TERMS = (
    *("production", "turbulent_transport", "pressure_transport", "pressure_gradient"),
    *("molecular_diffusion", "dissipation", "source", *FORCES),
)
IMBALANCE = "imbalance"
STRESSES = ("k", "uu", "vv", "ww", "uw")

NOT_TAKEN = "holds no profiles of budgets (output.statistics.budgets: off, or written by an earlier build)"
NOT_AT_SUCH_WALLS = "walls vary, let fluid through or slip, for which there are no budgets"


@dataclass(frozen=True)
class Budget:
    """Terms by name, `imbalance` last, at heights z: centres for uu, vv and k, faces for ww and uw."""

    z: Array
    terms: Terms


def with_imbalance(terms: Terms, order: Sequence[str] = (*TERMS, *FORCES)) -> Terms:
    """The terms in this order, and their sum."""
    ordered = {name: terms[name] for name in order if name in terms}
    return ordered | {IMBALANCE: np.sum(list(ordered.values()), axis=0)}


def transported_velocity(means: Means, c: str, viscosity: float) -> Transported:
    """Of c = u or v."""
    return Transported(
        means.centre[c],
        means.centre[c * 2],
        means.face[f"{c}w"],
        means.face[f"{c}w_jump"],
        means.face[f"{c * 2}w_flux"],
        means.centre[f"d{c}dx_squared"] + means.centre[f"d{c}dy_squared"],
        means.face[f"d{c}dz_squared"],
        means.face["tau_xz" if c == "u" else "tau_yz"] / viscosity,
        viscosity,
    )


def _tangential_variance(means: Means, c: str, viscosity: float) -> Terms:
    """Terms at the centres, for c = u or v."""
    terms = variance_terms(transported_velocity(means, c, viscosity), means.z_face)
    terms["viscous_diffusion"] = terms.pop("diffusion")
    return terms | {"pressure_strain": 2 * means.centre["p_dudx" if c == "u" else "p_dvdy"]}


def _normal_variance(means: Means, viscosity: float, no_slip: tuple[bool, bool]) -> Terms:
    """Terms of ww on the faces. Beyond a free-slip wall is the mirror image; on a no-slip wall all terms are 0."""
    dz, distance = np.pad(np.diff(means.z_face), 1, mode="edge"), center_distances(means.z_face)

    def jump(name: str) -> Array:
        odd = means.centre[name]  # changes its sign in the mirror image
        return np.diff(np.concatenate([-odd[:1], odd, -odd[-1:]]))

    def twice_mean(name: str) -> Array:
        """Twice the mean of the centres below and above, weighted by the size of their cells."""
        weighted = dz * np.pad(means.centre[name], 1, mode="edge")
        return np.asarray((weighted[1:] + weighted[:-1]) / distance)

    ww = np.pad(means.face["ww_face"], 1, mode="reflect")
    dissipation = 2 * viscosity * (means.face["dwdx_squared"] + means.face["dwdy_squared"])
    dissipation += viscosity * twice_mean("dwdz_squared")
    terms = {
        "turbulent_transport": -jump("www_flux") / distance,
        "pressure_transport": -2 * jump("pw") / distance,
        "pressure_strain": twice_mean("p_dwdz"),
        "viscous_diffusion": viscosity * np.diff(np.diff(ww) / dz) / distance,
        "dissipation": -dissipation,
    }
    for values in terms.values():
        values[[wall for wall, sticks in zip((0, -1), no_slip, strict=True) if sticks]] = 0.0
    return terms


def _shear_stress(means: Means) -> Terms:
    """Terms of uw on the inner faces, from those of the momentum equations of u (times w) and w (times u)."""
    distance = np.diff(means.z)
    face = {name: means.face[name][1:-1] for name in layout.BUDGET_FACE_PROFILES}
    u, p = means.centre["u"], means.centre["p"]
    mean_u, mean_p = (u[1:] + u[:-1]) / 2, (p[1:] + p[:-1]) / 2
    shear = np.diff(u) / distance
    production = -face["ww_face"] * shear
    pressure_strain = face["p_strain_xz"] - mean_p * shear
    advection = face["uw_advection"] + mean_u * np.diff(means.centre["ww_flux"]) / distance
    pressure = face["uw_pressure"] + mean_u * np.diff(p) / distance
    return {
        "production": production,
        "turbulent_transport": advection - production,
        "pressure_transport": pressure - pressure_strain,
        "pressure_strain": pressure_strain,
        "viscous_diffusion": face["uw_viscous_z"] + face["uw_dissipation_z"],
        "dissipation": face["uw_viscous_xy"] - face["uw_dissipation_z"],
    }


def _energy(uu: Terms, vv: Terms, ww: Terms) -> Terms:
    """Terms of k = (uu + vv + ww)/2 at the centres; of ww the mean of the two faces.

    The pressure strains cancel, but for that interpolation, and so do the Coriolis forces. What is left of them belongs
    to the pressure transport.
    """
    names = [name for name in (*TERMS, *FORCES) if name in uu or name in vv or name in ww]
    terms = {name: np.zeros_like(uu["production"]) for name in names}
    for name in names:
        for stress in (uu, vv):
            terms[name] += stress.get(name, 0.0) / 2
        if name in ww:
            terms[name] += (ww[name][1:] + ww[name][:-1]) / 4
    terms["pressure_transport"] += terms.pop("pressure_strain") + terms.pop(CORIOLIS, 0.0)
    return terms


def wall_dissipation(means: Means, viscosity: float) -> dict[str, float]:
    """Dissipation of uu, vv and k on the wall at z = 0, from the gradients that the scheme has there; positive."""
    values = {}
    for c, stress in (("u", "tau_xz"), ("v", "tau_yz")):
        variance = means.face[f"d{c}dz_squared"][0] - (means.face[stress][0] / viscosity) ** 2
        values[c * 2] = 2 * viscosity * float(variance)
    return values | {"k": (values["uu"] + values["vv"]) / 2}


def magnetic_terms(means: Means, drag: float) -> Terms:
    """What the force -drag (u, v) does to the stresses, as in the scheme, without remainder. Empty without a drag."""
    if drag == 0:
        return {}
    stresses = _stresses(means)
    return {"uu": -2 * drag * stresses["uu"], "vv": -2 * drag * stresses["vv"], "uw": -drag * stresses["uw"]}


def budgets_of(
    means: Means,
    viscosity: float,
    no_slip: tuple[bool, bool],
    rotation: tuple[float, float, float] = (0.0, 0.0, 0.0),
    buoyancy: Terms | None = None,
    magnetic_drag: float = 0.0,
) -> dict[str, Budget]:
    """All budgets over the whole height, in the units of the run. `rotation`: 2 Omega of the frame.

    `buoyancy`: its terms by stress, where it has any. `magnetic_drag`: that of FlowParameters.
    """
    uu, vv = _tangential_variance(means, "u", viscosity), _tangential_variance(means, "v", viscosity)
    ww = _normal_variance(means, viscosity, no_slip)
    uw = _shear_stress(means)
    terms = {"uu": uu, "vv": vv, "ww": ww, "uw": uw}
    forces = {
        CORIOLIS: coriolis_terms(means, rotation) if any(rotation) else {},
        MAGNETIC: magnetic_terms(means, magnetic_drag),
        BUOYANCY: buoyancy or {},
    }
    for force, of_stresses in forces.items():
        for stress, values in of_stresses.items():
            terms[stress][force] = values
    return {
        "k": Budget(means.z, with_imbalance(_energy(uu, vv, ww))),
        "uu": Budget(means.z, with_imbalance(uu)),
        "vv": Budget(means.z, with_imbalance(vv)),
        "ww": Budget(means.z_face, with_imbalance(ww)),
        "uw": Budget(means.z_face[1:-1], with_imbalance(uw)),
    }


@dataclass(frozen=True)
class BudgetsFromWall:
    """Budgets in wall units from a wall to `far_end`, seen from that wall as WallProfiles are."""

    u_tau: float
    viscosity: float
    height: float
    z_face_plus: Array
    budgets: dict[str, Budget]  # z is still that of the run
    wall: str = field(default="", kw_only=True)  # of which wall, where there is a choice
    far_end: str = field(default="centre", kw_only=True)  # where they end: "centre", "surface" or "top"

    @property
    def re_tau(self) -> float:
        """Friction Reynolds number."""
        return self.u_tau / self.viscosity

    def z_plus(self, name: str) -> Array:
        """Where the terms of a budget are, in wall units."""
        return self.budgets[name].z * self.u_tau / self.viscosity

    def integral(self, values: Array) -> float:
        """Integral over z+ of a profile at the centres, from the wall to `far_end`.

        The integral of a term has the unit of the term times nu/u_tau.
        """
        top = self.height * self.u_tau / self.viscosity
        dz = np.diff(np.minimum(self.z_face_plus, top))  # half of a cell that the centre plane cuts
        return float(values @ dz[: len(values)])


@dataclass(frozen=True)
class WallBudgets(BudgetsFromWall):
    """Budgets of the Reynolds stresses over u_tau^4/nu."""

    cell_plus: tuple[float, float]  # dx and dy
    wall_dissipation: dict[str, float]  # on the wall, of uu, vv and k; positive

    @property
    def unit(self) -> float:
        """What terms in wall units are multiplied with to have the units of the run."""
        return self.u_tau**4 / self.viscosity

    def terms_on_wall(self, stress: str) -> dict[str, float]:
        """A budget on the no-slip wall: diffusion balances dissipation, and for uw the two pressure terms cancel."""
        budget = self.budgets[stress]
        terms = dict.fromkeys(budget.terms, 0.0)
        if stress in self.wall_dissipation:
            terms["viscous_diffusion"] = self.wall_dissipation[stress]
            terms["dissipation"] = -self.wall_dissipation[stress]
        if stress == "uw":
            wall = interpolate(np.zeros(1), budget.z, budget.terms["pressure_strain"])
            terms["pressure_strain"], terms["pressure_transport"] = float(wall[0]), -float(wall[0])
        return terms

    def kolmogorov_columns(self) -> dict[str, Array]:
        """Kolmogorov's length from the dissipation of k, in wall units, and the size of the cells in its units."""
        k = self.budgets["k"]
        with np.errstate(divide="ignore", invalid="ignore"):
            eta = (-k.terms["dissipation"]) ** -0.25
        dx, dy = self.cell_plus
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


def wall_budgets(means: Means, parameters: FlowParameters, side: str | None = None) -> WallBudgets:
    """Budgets in wall units. `side`: both (symmetric halves averaged), bottom or top."""
    view = wall_view(means, parameters, side)
    plus = view.u_tau / parameters.viscosity
    unit = view.u_tau**4 / parameters.viscosity
    height = parameters.reach

    def near(budget: Budget) -> Budget:
        count = int(np.count_nonzero(budget.z <= height * (1 + 1e-9)))
        return Budget(budget.z[:count], {name: values[:count] / unit for name, values in budget.terms.items()})

    buoyancy = buoyancy_terms(means, view, parameters.buoyancy) if parameters.buoyancy else None
    found = budgets_of(view.means, parameters.viscosity, view.no_slip, view.rotation, buoyancy, view.magnetic_drag)
    return WallBudgets(
        view.u_tau,
        parameters.viscosity,
        height,
        view.means.z_face * plus,
        {stress: near(budget) for stress, budget in found.items()},
        (parameters.size[0] / parameters.cells[0] * plus, parameters.size[1] / parameters.cells[1] * plus),
        {stress: value / unit for stress, value in wall_dissipation(view.means, parameters.viscosity).items()},
        wall=view.wall,
        far_end=parameters.far_end,
    )


def _stresses(means: Means) -> dict[str, Array]:
    """The stresses themselves, where their budgets are."""
    centre = means.centre
    uu, vv = (centre[c * 2] - centre[c] ** 2 for c in "uv")
    ww = means.face["ww_face"]
    return {"k": (uu + vv + centre["ww"]) / 2, "uu": uu, "vv": vv, "ww": ww, "uw": means.face["uw"][1:-1]}


def storage_of(blocks: Blocks, parameters: FlowParameters, found: WallBudgets, side: str | None) -> Terms:
    """Rates of change of the stresses between the first and the last block, in wall units; none for a single block.

    An estimate of the part of the imbalance that is due to the flow not being steady over the time of averaging.
    """
    if len(blocks) < 2:
        return {}
    first, last = (_stresses(wall_view(blocks.one(n).means(), parameters, side).means) for n in (0, -1))
    middle = (blocks.time_begin + blocks.time_end) / 2
    unit = (middle[-1] - middle[0]) * found.unit
    return {stress: (last[stress] - first[stress])[: len(budget.z)] / unit for stress, budget in found.budgets.items()}


@dataclass(frozen=True)
class EvaluatedTerms:
    """Budgets with the half widths of the 95 % intervals of all terms, and the storage; both may be empty."""

    found: BudgetsFromWall
    bands: dict[str, Terms]
    storage: Terms
    zero_by_symmetry: tuple[tuple[str, str], ...]  # names of budgets and terms
    number_bands: dict[str, float]  # half widths of those that `numbers` of bands_of_terms gives


@dataclass(frozen=True)
class EvaluatedBudgets(EvaluatedTerms):
    """Those of the Reynolds stresses."""

    found: WallBudgets


Found = TypeVar("Found", bound=BudgetsFromWall)


def integrals_of(found: BudgetsFromWall, name: str) -> dict[str, float]:
    """Integrals from the wall to `far_end`: production; dissipation and imbalance in % of it. Also u_tau."""
    terms = found.budgets[name].terms
    production = found.integral(terms["production"])
    percent = 100 / production if production != 0 else np.nan
    shares = {term: percent * found.integral(terms[term]) for term in ("dissipation", IMBALANCE)}
    return {"production": production, **shares, "u_tau": found.u_tau}


def numbers_of(found: WallBudgets) -> dict[str, float]:
    """The integrals of the budget of k; the unit; the smallest Kolmogorov length, the largest cells in its units."""
    columns = found.kolmogorov_columns()
    sizes = {name: float(columns[name].max()) for name in ("dx_over_eta", "dy_over_eta", "dz_over_eta")}
    return integrals_of(found, "k") | {"unit": found.unit, "eta_plus": float(columns["eta_plus"].min()), **sizes}


def bands_of_terms(
    budgets_of: Callable[[Means], Found], blocks: Blocks, numbers: Callable[[Found], dict[str, float]]
) -> tuple[dict[str, Terms], dict[str, float]]:
    """Half widths of the 95 % intervals of all terms, and of `numbers`; none for a single block."""
    if len(blocks) < 2:
        return {}, {}

    def terms(means: Means) -> Terms:
        found = budgets_of(means)
        values = {
            f"{name}:{term}": values for name, budget in found.budgets.items() for term, values in budget.terms.items()
        }
        return values | {f":{key}": np.array([value]) for key, value in numbers(found).items()}

    bands: dict[str, Terms] = {}
    number_bands: dict[str, float] = {}
    for key, values in half_widths95(terms, blocks).items():
        name, _, term = key.partition(":")
        if name:
            bands.setdefault(name, {})[term] = values
        else:
            number_bands[term] = float(values[0])
    return bands, number_bands


def evaluate_budgets(blocks: Blocks, parameters: FlowParameters, side: str | None = None) -> EvaluatedBudgets:
    """Budgets with intervals and storage."""
    found = wall_budgets(blocks.means(), parameters, side)
    bands, numbers = bands_of_terms(lambda means: wall_budgets(means, parameters, side), blocks, numbers_of)
    along_x, _, along_z = parameters.rotation  # these give the flow a mean V
    spanwise = parameters.velocity_bottom[1] != parameters.velocity_top[1]
    pulled = parameters.buoyancy is not None and parameters.buoyancy.gravity[1] != 0
    zero = () if spanwise or along_x or along_z or pulled else (("vv", "production"),)
    return EvaluatedBudgets(found, bands, storage_of(blocks, parameters, found, side), zero, numbers)
