"""Budgets of the variance of scalars, cc, and of their fluxes, uc and wc (docs/equations.md, Budgets of scalars).

    d<cc>/dt = production + turbulent transport + molecular diffusion + dissipation [+ source]

Those of the fluxes also have a pressure scalar gradient and, where forces act on the flow, their terms; wc pressure
transport.
The terms are in wall units, of Theta = (c_w - c)/c_tau: cc is that of Theta Theta, not its half, uc that of u Theta.
Dissipation is negative for cc.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.budgets import (
    BUOYANCY,
    CORIOLIS,
    MAGNETIC,
    SCALAR_TERMS,
    Budget,
    BudgetsFromWall,
    EvaluatedTerms,
    Terms,
    bands_of_terms,
    integrals_of,
    transported_velocity,
    with_imbalance,
)
from sluice_post.parameters import FlowParameters
from sluice_post.scalar_numbers import EvaluatedScalar
from sluice_post.scalar_profiles import ScalarView, parity_of, scalar_view
from sluice_post.scalars import Scalar
from sluice_post.statistics import Blocks, Means
from sluice_post.transported import Transported, mean_of_faces, variance_terms

BUDGETS = ("cc", "uc", "wc")


class _Profiles:
    """What is stored of a scalar, and the means that its budgets share, over the whole height and from below."""

    def __init__(self, means: Means, parameters: FlowParameters, scalar: Scalar) -> None:
        self.means, self.parameters, self.scalar = means, parameters, scalar
        self.nu, self.kappa = parameters.viscosity, parameters.viscosity / scalar.prandtl
        self.mean, self.u = self.of(""), means.centre["u"]
        self.gradient = self.of("_gradient_flux") / self.kappa
        self.shear = means.face["tau_xz"] / self.nu

    def of(self, ending: str) -> Array:
        return self.means.scalars[f"{self.scalar.name}{ending}"]

    @property
    def source(self) -> float:
        """g of a source g u."""
        return self.scalar.source_amount if self.scalar.source == "streamwise" else 0.0

    @property
    def has_forces(self) -> bool:
        return f"{self.scalar.name}_u_coriolis" in self.means.scalars

    def transported(self) -> Transported:
        return Transported(
            self.mean,
            self.of("_squared"),
            self.of("_w"),
            self.of("_w_jump"),
            self.of("_squared_w_flux"),
            self.of("_dx_squared") + self.of("_dy_squared"),
            self.of("_dz_squared"),
            self.gradient,
            self.kappa,
        )

    def buoyancy(self, axis: int) -> Array:
        """The mean force of buoyancy along an axis at the centres, but for a constant."""
        buoyancy = self.parameters.buoyancy
        if buoyancy is None:
            return np.zeros_like(self.mean)
        return -buoyancy.coefficient * buoyancy.gravity[axis] * self.means.scalars[buoyancy.scalar.name]


def _variance(of: _Profiles) -> Terms:
    """At the centres."""
    terms = variance_terms(of.transported(), of.means.z_face)
    terms["molecular_diffusion"] = terms.pop("diffusion")
    if of.source != 0:
        terms["source"] = 2 * of.source * (of.of("_u") - of.u * of.mean)
    return terms


def _flux_along_x(of: _Profiles) -> Terms:
    """At the centres."""
    z_face, dz = of.means.z_face, np.diff(of.means.z_face)
    velocity = transported_velocity(of.means, "u", of.nu)
    production = of.transported().carried(of.u, z_face) + velocity.carried(of.mean, z_face)
    advection = of.of("_u_advection")
    advection = advection + of.mean * np.diff(velocity.flux) / dz + of.u * np.diff(of.of("_w")) / dz
    mean_flux = of.nu * _on_faces(of.mean, of.gradient, of.means) * of.shear
    mean_flux += of.kappa * _on_faces(of.u, of.shear, of.means) * of.gradient
    of_gradients = of.of("_u_dissipation_z") - (of.nu + of.kappa) * of.shear * of.gradient
    terms = {
        "production": production,
        "turbulent_transport": advection - production,
        "pressure_gradient": of.of("_u_pressure"),
        "molecular_diffusion": np.diff(of.of("_u_diffusion_z") - mean_flux) / dz,
        "dissipation": of.of("_u_diffusion_xy") - mean_of_faces(of_gradients, z_face),
    }
    if of.source != 0:
        terms["source"] = of.of("_u_source") - of.source * of.u**2
    if of.parameters.magnetic_drag != 0:
        terms[MAGNETIC] = -of.parameters.magnetic_drag * (of.of("_u") - of.u * of.mean)
    if of.has_forces:
        mean_force = of.parameters.rotation[2] * of.means.centre["v"]
        terms[CORIOLIS] = of.of("_u_coriolis") - of.mean * mean_force
        terms[BUOYANCY] = of.of("_u_buoyancy") - of.mean * of.buoyancy(0)
    return terms


def _flux_along_z(of: _Profiles) -> Terms:
    """On the inner faces."""
    dz, distance = np.diff(of.means.z_face), np.diff(of.means.z)

    def inner(ending: str) -> Array:
        return of.of(ending)[1:-1]

    def mean(values: Array) -> Array:
        return np.asarray((values[1:] + values[:-1]) / 2)

    def weighted(values: Array) -> Array:
        return np.asarray((dz[1:] * values[1:] + dz[:-1] * values[:-1]) / (2 * distance))

    c, gradient = mean(of.mean), of.gradient[1:-1]
    p, ww_flux = of.means.centre["p"], of.means.centre["ww_flux"]
    production = -of.means.face["ww_face"][1:-1] * gradient
    pressure_gradient = inner("_p_gradient") - mean(p) * gradient
    terms = {
        "production": production,
        "turbulent_transport": inner("_w_advection") + c * np.diff(ww_flux) / distance - production,
        "pressure_transport": inner("_w_pressure") + c * np.diff(p) / distance - pressure_gradient,
        "pressure_gradient": pressure_gradient,
        "molecular_diffusion": inner("_w_diffusion_z") + inner("_w_dissipation_z"),
        "dissipation": inner("_w_diffusion_xy") - inner("_w_dissipation_z"),
    }
    if of.source != 0:
        terms["source"] = of.source * of.means.face["uw"][1:-1]
    if of.has_forces:
        along_x, along_y, _ = of.parameters.rotation
        mean_force = along_y * weighted(of.u) - along_x * weighted(of.means.centre["v"])
        terms[CORIOLIS] = inner("_w_coriolis") - c * mean_force
        terms[BUOYANCY] = inner("_w_buoyancy") - c * mean(of.buoyancy(2))
    return terms


def _on_faces(values: Array, gradient: Array, means: Means) -> Array:
    """Means of both sides of a face; on a wall the value of the scheme, from its gradient there."""
    bottom = values[0] - gradient[0] * (means.z[0] - means.z_face[0])
    top = values[-1] + gradient[-1] * (means.z_face[-1] - means.z[-1])
    return np.concatenate([[bottom], (values[1:] + values[:-1]) / 2, [top]])


def scalar_budgets_of(means: Means, parameters: FlowParameters, scalar: Scalar) -> dict[str, Terms]:
    """The terms over the whole height, not seen from a wall, of c itself and in the units of the run."""
    of = _Profiles(means, parameters, scalar)
    found = {"cc": _variance(of), "uc": _flux_along_x(of), "wc": _flux_along_z(of)}
    for terms in found.values():
        if parameters.buoyancy is None:
            terms.pop(BUOYANCY, None)
        if not any(parameters.rotation):
            terms.pop(CORIOLIS, None)
    return {name: with_imbalance(terms, SCALAR_TERMS) for name, terms in found.items()}


@dataclass(frozen=True)
class ScalarBudgets(BudgetsFromWall):
    """Budgets of a scalar over c_tau^2 u_tau^2/nu (cc) and c_tau u_tau^3/nu (uc and wc, of Theta)."""

    scalar: Scalar
    c_tau: float

    def unit(self, name: str) -> float:
        """What the terms of a budget are multiplied with to be those of c in the units of the run."""
        return _unit(name, self.u_tau, self.c_tau, self.viscosity)


def _unit(name: str, u_tau: float, c_tau: float, viscosity: float) -> float:
    amount = c_tau**2 * u_tau**2 if name == "cc" else -c_tau * u_tau**3  # Theta falls as c grows
    return amount / viscosity


def seen_from_wall(name: str, values: Array, view: ScalarView, parity: int) -> Array:
    """A profile of cc, uc or wc from the wall of the view, or spectra, (point, mode)."""
    images: list[Array] = []
    for image in view.flow.images:
        of_scalar = parity if images else 1
        sign = {"cc": 1, "uc": of_scalar * (-1) ** ("x" in image), "wc": of_scalar * (-1) ** ("z" in image)}[name]
        images.append(sign * values[:: -1 if "z" in image else 1])
    return np.asarray(np.mean(images, axis=0))


def wall_scalar_budgets(means: Means, parameters: FlowParameters, scalar: Scalar, side: str) -> ScalarBudgets:
    """Budgets in wall units. `side`: one of scalar_profiles.sides_of."""
    view = scalar_view(means, parameters, scalar, side)
    flow, nu, u_tau, height = view.flow.means, parameters.viscosity, view.flow.u_tau, parameters.reach
    c_tau, parity = view.wall_flux / u_tau, parity_of(scalar, view.flow.symmetry, parameters)
    budgets = {}
    for name, terms in scalar_budgets_of(means, parameters, scalar).items():
        z = flow.z_face[1:-1] if name == "wc" else flow.z
        near = slice(int(np.count_nonzero(z <= height * (1 + 1e-9))))
        unit = _unit(name, u_tau, c_tau, nu)
        budgets[name] = Budget(
            z[near], {term: (seen_from_wall(name, values, view, parity) / unit)[near] for term, values in terms.items()}
        )
    return ScalarBudgets(u_tau, nu, height, flow.z_face * u_tau / nu, budgets, scalar, c_tau)


@dataclass(frozen=True)
class EvaluatedScalarBudgets(EvaluatedTerms):
    """Those of one scalar. `name` and `title`: as those of EvaluatedScalar."""

    found: ScalarBudgets
    name: str
    title: str


def _storage(blocks: Blocks, parameters: FlowParameters, found: ScalarBudgets, side: str) -> Terms:
    """Rates of change of the variance and the fluxes from the first to the last block, in wall units."""
    if len(blocks) < 2:
        return {}

    def quantities(number: int) -> dict[str, Array]:
        view = scalar_view(blocks.one(number).means(), parameters, found.scalar, side)
        variance = view.moments["cc"] - view.moments["c"] ** 2
        return {"cc": variance, "uc": view.uc, "wc": view.wc[1:-1]}

    first, last = quantities(0), quantities(-1)
    middle = (blocks.time_begin + blocks.time_end) / 2
    time = middle[-1] - middle[0]
    return {
        name: (last[name] - first[name])[: len(budget.z)] / (time * found.unit(name))
        for name, budget in found.budgets.items()
    }


def scalar_numbers_of(found: ScalarBudgets) -> dict[str, float]:
    """The integrals of the budget of the variance, and the units."""
    return integrals_of(found, "cc") | {"c_tau": found.c_tau}


def evaluate_scalar_budgets(
    blocks: Blocks, parameters: FlowParameters, scalars: Sequence[EvaluatedScalar]
) -> list[EvaluatedScalarBudgets]:
    """Budgets of these scalars with intervals and storage; of those that fluctuate, if the profiles were taken.

    Walls at which a scalar varies, or that are not those of budgets of the flow, would add terms: no budgets.
    """
    evaluated = []
    for seen in scalars:
        scalar, side = seen.profiles.scalar, seen.profiles.side
        taken = f"{scalar.name}{layout.SCALAR_BUDGET_CENTRE_PROFILES[0]}" in blocks.scalars
        walls_vary = parameters.controlled or scalar.bottom.formula or scalar.top.formula
        if not taken or not blocks.has_budgets or seen.profiles.constant or walls_vary:
            continue
        found = wall_scalar_budgets(blocks.means(), parameters, scalar, side)

        def budgets(means: Means, scalar: Scalar = scalar, side: str = side) -> ScalarBudgets:
            return wall_scalar_budgets(means, parameters, scalar, side)

        bands, numbers = bands_of_terms(budgets, blocks, scalar_numbers_of)
        evaluated.append(
            EvaluatedScalarBudgets(
                found, bands, _storage(blocks, parameters, found, side), (), numbers, seen.name, seen.title
            )
        )
    return evaluated
