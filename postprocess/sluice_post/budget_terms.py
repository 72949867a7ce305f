"""The terms of budgets of Reynolds stresses and of scalars, from averages (docs/equations.md, Budgets).

They are formed from products of the scheme's own fluxes and differences. Of one sample, their sum is the rate of
change that the scheme gives, to round-off. The sum of the terms of averages is the imbalance, see README.md.
Dissipation is negative. Terms of uu, vv and k are at the cell centres, those of ww on the faces, those of uw on the
inner faces; all are in the units of the run and over the whole height.

A force F changes a stress at the rate <u_i' F_j'> + <u_j' F_i'>. The scheme's own fluxes give this exactly for uu, vv
and ww; that of the Coriolis force and of buoyancy on uw is of second order in the cell sizes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sluice_post.arrays import Array
from sluice_post.statistics import Means

Terms = dict[str, Array]
Vector = tuple[float, float, float]

STRESSES = ("k", "uu", "vv", "ww", "uw")
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

NOT_TAKEN = "holds no profiles of budgets (output.statistics.budgets: off, or written by an earlier build)"
NOT_AT_SUCH_WALLS = "walls vary, let fluid through or slip, for which there are no budgets"


def with_imbalance(terms: Terms, order: Sequence[str] = (*TERMS, *FORCES)) -> Terms:
    """The terms in this order, and their sum."""
    ordered = {name: terms[name] for name in order if name in terms}
    return ordered | {IMBALANCE: np.sum(list(ordered.values()), axis=0)}


def midpoints(values: Array) -> Array:
    """Means of neighbours."""
    return np.asarray((values[1:] + values[:-1]) / 2)


def center_distances(z_face: Array) -> Array:
    """Distances of the centres on both sides of each face; a wall is midway between a centre and its image."""
    return midpoints(np.pad(np.diff(z_face), 1, mode="edge"))


def mean_of_faces(values: Array, z_face: Array) -> Array:
    """Values on the faces, averaged over the two of a cell with the distances of the centres."""
    return midpoints(values * center_distances(z_face)) / np.diff(z_face)


class Transported:
    """Averages of q = u, v or a scalar, which is at the centres in z, carried by w and with a given diffusivity.

    `names`: of the mean and the square of q; of its flux and, on the faces, half the difference of the fluxes of q
    above and below; of the flux of q above times q below; of the squares of the derivatives along x, y and z; and of
    the diffusive flux.
    """

    def __init__(self, profiles: Mapping[str, Array], names: Sequence[str], diffusivity: float) -> None:
        self.mean, self.square, self.flux, jump, self.squared_flux, *squares, diffusive = (
            profiles[name] for name in names
        )
        self.below, self.above = self.flux - jump, self.flux + jump
        self.along_xy, self.along_z = squares[0] + squares[1], squares[2]
        self.diffusivity, self.gradient = diffusivity, diffusive / diffusivity

    def carried(self, other: Array, z_face: Array) -> Array:
        """The flux of q times the difference of another mean over the two faces of a cell: -<q'w'> dA/dz."""
        step = np.pad(np.diff(other), 1)  # w is 0 on the walls
        return np.asarray(-(step[1:] * self.below[1:] + step[:-1] * self.above[:-1]) / (2 * np.diff(z_face)))

    def variance_terms(self, z_face: Array, diffusion: str) -> Terms:
        """Terms at the centres, by `diffusion` that of molecules. Derivatives along z are sums over both faces."""
        dz, inner = np.diff(z_face), slice(1, -1)
        triple = np.pad(  # <q' q' w'> with one q' below and one above the face
            self.squared_flux[inner] - self.mean[:-1] * self.above[inner] - self.mean[1:] * self.below[inner], 1
        )
        slope = np.diff(self.square - self.mean**2) / center_distances(z_face)[inner]
        gradients = self.along_xy + mean_of_faces(self.along_z - self.gradient**2, z_face)
        return {
            "production": 2 * self.carried(self.mean, z_face),
            "turbulent_transport": -np.diff(triple) / dz,
            diffusion: np.diff(self.diffusivity * np.pad(slope, 1)) / dz,
            "dissipation": -2 * self.diffusivity * gradients,
        }


def transported_velocity(means: Means, c: str, viscosity: float) -> Transported:
    """Of c = u or v."""
    names = (
        *(c, c * 2, f"{c}w", f"{c}w_jump", f"{c * 2}w_flux", f"d{c}dx_squared", f"d{c}dy_squared", f"d{c}dz_squared"),
        "tau_xz" if c == "u" else "tau_yz",
    )
    return Transported(means.centre | means.face, names, viscosity)


def normal_flux_terms(
    means: Means, mean: Array, gradient: Array, products: Sequence[Array], correlation: str, diffusion: str
) -> Terms:
    """Terms of <q w> on the inner faces, from those of the equations of q (times w) and w (times q).

    `products`: by these terms, advection, pressure, p times the gradients, and the diffusion along x and y and along z
    with what of the latter is dissipation. `gradient`: of the mean of q. Two terms have the names given.
    """
    distance, q = np.diff(means.z), midpoints(mean)
    ww_flux, p = means.centre["ww_flux"], means.centre["p"]
    advection, pressure, p_gradient, along_xy, along_z, dissipation_z = (values[1:-1] for values in products)
    production = -means.face["ww_face"][1:-1] * gradient
    p_gradient = p_gradient - midpoints(p) * gradient
    return {
        "production": production,
        "turbulent_transport": advection + q * np.diff(ww_flux) / distance - production,
        "pressure_transport": pressure + q * np.diff(p) / distance - p_gradient,
        correlation: p_gradient,
        diffusion: along_z + dissipation_z,
        "dissipation": along_xy - dissipation_z,
    }


def _tangential_variance(means: Means, c: str, viscosity: float) -> Terms:
    """Terms at the centres, for c = u or v."""
    terms = transported_velocity(means, c, viscosity).variance_terms(means.z_face, "viscous_diffusion")
    return terms | {"pressure_strain": 2 * means.centre["p_dudx" if c == "u" else "p_dvdy"]}


def _normal_variance(means: Means, viscosity: float, no_slip: tuple[bool, bool]) -> Terms:
    """Terms of ww on the faces. Beyond a free-slip wall is the mirror image; on a no-slip wall all terms are 0."""
    dz, distance = np.pad(np.diff(means.z_face), 1, mode="edge"), center_distances(means.z_face)

    def jump(name: str) -> Array:
        odd = means.centre[name]  # changes its sign in the mirror image
        return np.diff(np.concatenate([-odd[:1], odd, -odd[-1:]]))

    def twice_mean(name: str) -> Array:
        """Twice the mean of the centres below and above, weighted by the size of their cells."""
        return 2 * midpoints(dz * np.pad(means.centre[name], 1, mode="edge")) / distance

    ww = np.pad(means.face["ww_face"], 1, mode="reflect")
    along_xy = means.face["dwdx_squared"] + means.face["dwdy_squared"]
    terms = {
        "turbulent_transport": -jump("www_flux") / distance,
        "pressure_transport": -2 * jump("pw") / distance,
        "pressure_strain": twice_mean("p_dwdz"),
        "viscous_diffusion": viscosity * np.diff(np.diff(ww) / dz) / distance,
        "dissipation": -viscosity * (2 * along_xy + twice_mean("dwdz_squared")),
    }
    for values in terms.values():
        values[[wall for wall, sticks in zip((0, -1), no_slip, strict=True) if sticks]] = 0.0
    return terms


def _shear_stress(means: Means) -> Terms:
    """Terms of uw on the inner faces."""
    names = ("uw_advection", "uw_pressure", "p_strain_xz", "uw_viscous_xy", "uw_viscous_z", "uw_dissipation_z")
    u, products = means.centre["u"], [means.face[name] for name in names]
    return normal_flux_terms(means, u, np.diff(u) / np.diff(means.z), products, "pressure_strain", "viscous_diffusion")


def _energy(uu: Terms, vv: Terms, ww: Terms) -> Terms:
    """Terms of k = (uu + vv + ww)/2 at the centres; of ww the mean of the two faces.

    The pressure strains cancel, but for that interpolation, and so do the Coriolis forces. What is left of them belongs
    to the pressure transport.
    """
    zero = np.zeros_like(uu["production"])
    terms = {name: (uu.get(name, zero) + vv.get(name, zero)) / 2 for name in uu | vv | ww}
    for name, values in ww.items():
        terms[name] += midpoints(values) / 2
    terms["pressure_transport"] += terms.pop("pressure_strain") + terms.pop(CORIOLIS, 0.0)
    return terms


def stresses_of(means: Means) -> Terms:
    """The stresses themselves, where their budgets are."""
    centre = means.centre
    uu, vv = (centre[c * 2] - centre[c] ** 2 for c in "uv")
    ww = means.face["ww_face"]
    return {"k": (uu + vv + centre["ww"]) / 2, "uu": uu, "vv": vv, "ww": ww, "uw": means.face["uw"][1:-1]}


def wall_dissipation(means: Means, viscosity: float) -> dict[str, float]:
    """Dissipation of uu, vv and k on the wall at z = 0, from the gradients that the scheme has there; positive."""
    values = {}
    for c, stress in (("u", "tau_xz"), ("v", "tau_yz")):
        variance = means.face[f"d{c}dz_squared"][0] - (means.face[stress][0] / viscosity) ** 2
        values[c * 2] = 2 * viscosity * float(variance)
    return values | {"k": (values["uu"] + values["vv"]) / 2}


def magnetic_terms(means: Means, drag: float) -> Terms:
    """What the force -drag (u, v) does to the stresses, as in the scheme, without remainder."""
    stresses = stresses_of(means)
    return {"uu": -2 * drag * stresses["uu"], "vv": -2 * drag * stresses["vv"], "uw": -drag * stresses["uw"]}


def coriolis_terms(means: Means, rotation: Vector) -> Terms:
    """What the force -f x u does to the stresses. `rotation`: f = 2 Omega of the frame."""
    x, y, z = rotation
    size, centre = np.pad(np.diff(means.z_face), 1, mode="edge"), means.centre

    def fluxes(c: str) -> tuple[Array, Array]:
        """<c'w'> as the force on c sees it, at the centres, and as the force on w does, on the faces."""
        flux, jump = means.face[f"{c}w"], means.face[f"{c}w_jump"]
        below, above = flux - jump, flux + jump  # c of the cell below and above a face
        return (below[1:] + above[:-1]) / 2, (size[:-1] * below + size[1:] * above) / (size[:-1] + size[1:])

    (uw_centre, uw_face), (vw_centre, vw_face) = fluxes("u"), fluxes("v")
    uu, uv = centre["uu"] - centre["u"] ** 2, centre["uv"] - centre["u"] * centre["v"]
    of_uw = y * (midpoints(uu) - means.face["ww_face"][1:-1]) + z * vw_face[1:-1] - x * midpoints(uv)
    return {
        "uu": 2 * (z * uv - y * uw_centre),
        "vv": 2 * (x * vw_centre - z * uv),
        "ww": 2 * (y * uw_face - x * vw_face),
        "uw": of_uw,
    }


def budgets_of(
    means: Means,
    viscosity: float,
    no_slip: tuple[bool, bool],
    rotation: Vector = (0.0, 0.0, 0.0),
    buoyancy: Terms | None = None,
    magnetic_drag: float = 0.0,
) -> dict[str, Terms]:
    """The terms of all budgets by stress. `rotation`: 2 Omega of the frame.

    `buoyancy`: its terms by stress, where it has any. `magnetic_drag`: that of FlowParameters.
    """
    uu, vv = _tangential_variance(means, "u", viscosity), _tangential_variance(means, "v", viscosity)
    terms = {"uu": uu, "vv": vv, "ww": _normal_variance(means, viscosity, no_slip), "uw": _shear_stress(means)}
    forces = {
        CORIOLIS: coriolis_terms(means, rotation) if any(rotation) else {},
        MAGNETIC: magnetic_terms(means, magnetic_drag) if magnetic_drag else {},
        BUOYANCY: buoyancy or {},
    }
    for force, of_stresses in forces.items():
        for stress, values in of_stresses.items():
            terms[stress][force] = values
    energy = _energy(uu, vv, terms["ww"])
    return {stress: with_imbalance(of_stress) for stress, of_stress in ({"k": energy} | terms).items()}


def heights_of(name: str, means: Means) -> Array:
    """Where the terms of a budget are."""
    return {"ww": means.z_face, "uw": means.z_face[1:-1], "wc": means.z_face[1:-1]}.get(name, means.z)
