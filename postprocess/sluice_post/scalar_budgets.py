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
from functools import partial

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.budget_terms import (
    BUOYANCY,
    CORIOLIS,
    MAGNETIC,
    SCALAR_TERMS,
    Terms,
    Transported,
    mean_of_faces,
    midpoints,
    normal_flux_terms,
    transported_velocity,
    with_imbalance,
)
from sluice_post.budgets import EvaluatedBudgets, WallBudgets, evaluate, near_wall
from sluice_post.parameters import FlowParameters
from sluice_post.scalar_numbers import EvaluatedScalar
from sluice_post.scalar_profiles import ScalarView, over_images, parity_of, scalar_view
from sluice_post.scalars import Scalar
from sluice_post.statistics import Blocks, Means

BUDGETS = ("cc", "uc", "wc")
_DIFFUSION = "molecular_diffusion"
_TRANSPORTED = ("", "_squared", "_w", "_w_jump", "_squared_w_flux", "_dx_squared", "_dy_squared", "_dz_squared")
_ALONG_Z = ("_w_advection", "_w_pressure", "_p_gradient", "_w_diffusion_xy", "_w_diffusion_z", "_w_dissipation_z")


@dataclass(frozen=True)
class _Averages:
    """What the budgets of a scalar are formed from, over the whole height and from below."""

    means: Means
    parameters: FlowParameters
    scalar: Scalar

    def of(self, ending: str) -> Array:
        return self.means.scalars[f"{self.scalar.name}{ending}"]

    @property
    def transported(self) -> Transported:
        names = [f"{self.scalar.name}{ending}" for ending in (*_TRANSPORTED, "_gradient_flux")]
        return Transported(self.means.scalars, names, self.parameters.viscosity / self.scalar.prandtl)

    @property
    def source(self) -> float:
        """g of a source g u."""
        return self.scalar.source_amount if self.scalar.source == "streamwise" else 0.0

    def buoyancy(self, axis: int) -> Array:
        """The mean force of buoyancy along an axis at the centres, but for a constant."""
        buoyancy = self.parameters.buoyancy
        if buoyancy is None:
            return np.zeros_like(self.means.z)
        return -buoyancy.coefficient * buoyancy.gravity[axis] * self.means.scalars[buoyancy.scalar.name]

    def forces(self, c: str, coriolis: Array, buoyancy: Array) -> Terms:
        """Those of the forces on c = u or w that act on the flow. `coriolis`, `buoyancy`: of the means."""
        if f"{self.scalar.name}_{c}_coriolis" not in self.means.scalars:
            return {}
        inner, terms = slice(1, -1) if c == "w" else slice(None), {}
        if any(self.parameters.rotation):
            terms[CORIOLIS] = self.of(f"_{c}_coriolis")[inner] - coriolis
        if self.parameters.buoyancy is not None:
            terms[BUOYANCY] = self.of(f"_{c}_buoyancy")[inner] - buoyancy
        return terms


def _variance(of: _Averages) -> Terms:
    """At the centres."""
    terms = of.transported.variance_terms(of.means.z_face, _DIFFUSION)
    if of.source != 0:
        terms["source"] = 2 * of.source * (of.of("_u") - of.means.centre["u"] * of.of(""))
    return terms


def _flux_along_x(of: _Averages) -> Terms:
    """At the centres."""
    means, z_face, dz, nu = of.means, of.means.z_face, np.diff(of.means.z_face), of.parameters.viscosity
    scalar, velocity = of.transported, transported_velocity(means, "u", nu)
    c, u, kappa = scalar.mean, velocity.mean, scalar.diffusivity
    production = scalar.carried(u, z_face) + velocity.carried(c, z_face)
    advection = of.of("_u_advection") + (c * np.diff(velocity.flux) + u * np.diff(scalar.flux)) / dz
    mean_flux = nu * _on_faces(c, scalar.gradient, means) * velocity.gradient
    mean_flux += kappa * _on_faces(u, velocity.gradient, means) * scalar.gradient
    of_gradients = of.of("_u_dissipation_z") - (nu + kappa) * velocity.gradient * scalar.gradient
    terms = {
        "production": production,
        "turbulent_transport": advection - production,
        "pressure_gradient": of.of("_u_pressure"),
        _DIFFUSION: np.diff(of.of("_u_diffusion_z") - mean_flux) / dz,
        "dissipation": of.of("_u_diffusion_xy") - mean_of_faces(of_gradients, z_face),
    }
    if of.source != 0:
        terms["source"] = of.of("_u_source") - of.source * u**2
    if of.parameters.magnetic_drag != 0:
        terms[MAGNETIC] = -of.parameters.magnetic_drag * (of.of("_u") - u * c)
    mean_force = of.parameters.rotation[2] * means.centre["v"]
    return terms | of.forces("u", c * mean_force, c * of.buoyancy(0))


def _flux_along_z(of: _Averages) -> Terms:
    """On the inner faces."""
    scalar, dz = of.transported, np.diff(of.means.z_face)

    def weighted(values: Array) -> Array:
        return midpoints(dz * values) / np.diff(of.means.z)

    products = [of.of(ending) for ending in _ALONG_Z]
    gradient = scalar.gradient[1:-1]
    terms = normal_flux_terms(of.means, scalar.mean, gradient, products, "pressure_gradient", _DIFFUSION)
    if of.source != 0:
        terms["source"] = of.source * of.means.face["uw"][1:-1]
    c, (along_x, along_y, _) = midpoints(scalar.mean), of.parameters.rotation
    mean_force = along_y * weighted(of.means.centre["u"]) - along_x * weighted(of.means.centre["v"])
    return terms | of.forces("w", c * mean_force, c * midpoints(of.buoyancy(2)))


def _on_faces(values: Array, gradient: Array, means: Means) -> Array:
    """Means of both sides of a face; on a wall the value of the scheme, from its gradient there."""
    bottom = values[0] - gradient[0] * (means.z[0] - means.z_face[0])
    top = values[-1] + gradient[-1] * (means.z_face[-1] - means.z[-1])
    return np.concatenate([[bottom], midpoints(values), [top]])


def scalar_budgets_of(means: Means, parameters: FlowParameters, scalar: Scalar) -> dict[str, Terms]:
    """The terms over the whole height, not seen from a wall, of c itself and in the units of the run."""
    of = _Averages(means, parameters, scalar)
    found = {"cc": _variance(of), "uc": _flux_along_x(of), "wc": _flux_along_z(of)}
    return {name: with_imbalance(terms, SCALAR_TERMS) for name, terms in found.items()}


def seen_from_wall(name: str, values: Array, view: ScalarView, parity: int) -> Array:
    """A profile of cc, uc or wc from the wall of the view, or spectra, (point, mode)."""
    direction = {"cc": "", "uc": "x", "wc": "z"}[name]
    return over_images(view.flow, values, direction, 1 if name == "cc" else parity)


def wall_scalar_budgets(means: Means, parameters: FlowParameters, scalar: Scalar, side: str) -> WallBudgets:
    """Budgets in wall units. `side`: one of scalar_profiles.sides_of."""
    view = scalar_view(means, parameters, scalar, side)
    nu, u_tau = parameters.viscosity, view.flow.u_tau
    c_tau, parity = view.wall_flux / u_tau, parity_of(scalar, view.flow.symmetry, parameters)
    of_flux = -c_tau * u_tau**3 / nu  # Theta falls as c grows
    terms = {
        name: {term: seen_from_wall(name, values, view, parity) for term, values in of_name.items()}
        for name, of_name in scalar_budgets_of(means, parameters, scalar).items()
    }
    amounts = {"cc": view.moments["cc"] - view.moments["c"] ** 2, "uc": view.uc, "wc": view.wc[1:-1]}
    units = {"cc": c_tau**2 * u_tau**2 / nu, "uc": of_flux, "wc": of_flux}
    return WallBudgets(view.flow, near_wall(terms, amounts, units, view.flow), of=scalar.name, c_tau=c_tau)


def evaluate_scalar_budgets(
    blocks: Blocks, parameters: FlowParameters, scalars: Sequence[EvaluatedScalar]
) -> list[EvaluatedBudgets]:
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
        of = partial(wall_scalar_budgets, parameters=parameters, scalar=scalar, side=side)
        evaluated.append(evaluate(of, blocks, name=seen.name, title=seen.title))
    return evaluated
