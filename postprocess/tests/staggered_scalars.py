"""A scalar in the fields of staggered.py: what Sluice averages for its budgets and the rates of change, plainly."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from staggered import VISCOSITY, Fields, X, Y, Z, covariance, down, mean_down, mean_up, means_of, plane, up

from sluice_post.scalars import Scalar
from sluice_post.statistics import Means


@dataclass
class HeatedFields:
    """`buoyancy`: force per unit of c - `reference`."""

    flow: Fields
    c: np.ndarray
    scalar: Scalar
    buoyancy: tuple = (0.0, 0.0, 0.0)
    reference: float = 0.0

    @property
    def kappa(self):
        return VISCOSITY / self.scalar.prandtl

    @property
    def source(self):
        """Along the flow."""
        gradient = self.scalar.source_amount if self.scalar.source == "streamwise" else 0.0
        return gradient * self.u_at_c()

    def u_at_c(self):
        return mean_down(self.flow.u, X)

    def with_ghosts(self):
        """Beyond a wall of given value the image about it, beyond one of given flux what this flux needs."""
        dz = self.flow.dz.ravel()

        def beyond(wall, inside, size):
            if wall.kind == "value":
                return 2 * wall.amount - inside
            return inside + wall.amount * size / self.kappa

        bottom = beyond(self.scalar.bottom, self.c[:1], dz[0])
        return np.concatenate([bottom, self.c, beyond(self.scalar.top, self.c[-1:], dz[-1])])

    def ddz(self):
        return np.diff(self.with_ghosts(), axis=Z) / self.flow.distance

    def face_mean(self):
        c = self.with_ghosts()
        return (c[1:] + c[:-1]) / 2

    def advection(self):
        f = self.flow
        along_x, along_y = f.u * mean_up(self.c, X), f.v * mean_up(self.c, Y)
        return (
            (along_x - down(along_x, X)) / f.dx
            + (along_y - down(along_y, Y)) / f.dy
            + np.diff(f.w * self.face_mean(), axis=Z) / f.dz
        )

    def diffusion_xy(self):
        return self.flow.viscous_xy(self.c) / self.scalar.prandtl

    def diffusion_z(self):
        return self.kappa * np.diff(self.ddz(), axis=Z) / self.flow.dz

    def rate(self):
        return self.diffusion_xy() + self.diffusion_z() - self.advection() + self.source

    def driven(self):
        """The flow with the force of buoyancy."""
        at_faces = (mean_up(self.c, X), mean_up(self.c, Y), self.face_mean()[1:-1])
        force = (g * (c - self.reference) for g, c in zip(self.buoyancy, at_faces, strict=True))
        return replace(self.flow, force=tuple(force))

    def rate_u(self):
        return self.driven().rate_u()

    def rate_w(self):
        return self.driven().rate_w()

    def mirrored(self):
        x, y, z = self.buoyancy
        scalar = replace(self.scalar, bottom=self.scalar.top, top=self.scalar.bottom)
        return replace(self, flow=self.flow.mirrored(), c=self.c[::-1], scalar=scalar, buoyancy=(x, y, -z))

    def x_reversed(self):
        x, y, z = self.buoyancy
        return replace(self, flow=self.flow.x_reversed(), c=self.c[:, :, ::-1], buoyancy=(-x, y, z))


def heated_fields(seed: int, flow: Fields, scalar: Scalar, buoyancy=(0.0, 0.0, 0.0)) -> HeatedFields:
    rng = np.random.default_rng([seed, 7])
    z = ((flow.z_face[1:] + flow.z_face[:-1]) / 2 / flow.z_face[-1])[:, None, None]
    return HeatedFields(flow, rng.standard_normal(flow.u.shape) + 4 + 9 * z * (1.4 - z), scalar, buoyancy)


def profiles_of(s: HeatedFields) -> dict:
    """The plane means of statistics.h5 by the endings of their names."""
    f, c, kappa, nu = s.flow, s.c, s.kappa, VISCOSITY
    inner = slice(1, -1)
    ghosts, c_at_u, u_at_c = s.with_ghosts(), mean_up(c, X), s.u_at_c()
    pressure_x = (up(f.p, X) - f.p) / f.dx
    pressure_z = np.diff(f.p, axis=Z) / f.distance[inner]
    at_w = s.face_mean()[inner]

    def of_both(of_c, of_w):
        """Terms of the equations of c and w, times the other."""
        return (of_c[1:] + of_c[:-1]) / 2 * f.w[inner] + of_w * at_w

    w_jump = (f.w[2:] - f.w[:-2]) / 2 / f.distance[inner]
    found = {
        **{"": c, "_squared": c**2, "_cubed": c**3, "_fourth": c**4},
        **{"_u": c * u_at_c, "_v": c * mean_down(f.v, Y)},
        **{"_w": f.w * s.face_mean(), "_gradient_flux": kappa * s.ddz()},
        **{"_dx_squared": ((up(c, X) - c) / f.dx) ** 2, "_dy_squared": ((up(c, Y) - c) / f.dy) ** 2},
        "_u_advection": -f.advection_u() * c_at_u - s.advection() * u_at_c,
        "_u_pressure": -pressure_x * c_at_u,
        "_u_diffusion_xy": f.viscous_xy(f.u) * c_at_u + s.diffusion_xy() * u_at_c,
        "_u_source": s.source * u_at_c,
        "_w_jump": np.diff(ghosts, axis=Z) / 2 * f.w,
        "_squared_w_flux": ghosts[1:] * ghosts[:-1] * f.w,
        "_dz_squared": s.ddz() ** 2,
        "_u_diffusion_z": nu * f.ddz("u") * mean_up(s.face_mean(), X)
        + kappa * s.ddz() * mean_down(f.face_mean("u"), X),
        "_u_dissipation_z": (nu + kappa) * f.ddz("u") * mean_up(s.ddz(), X),
        "_u_coriolis": c_at_u * f.coriolis_u(),
        "_u_buoyancy": c_at_u * s.buoyancy[0] * c_at_u,
    }
    on_inner_faces = {
        "_w_advection": -of_both(s.advection(), f.advection_w()),
        "_w_diffusion_xy": of_both(s.diffusion_xy(), f.viscous_xy(f.w[inner])),
        "_w_diffusion_z": of_both(s.diffusion_z(), f.viscous_z("w")),
        "_w_pressure": -pressure_z * at_w,
        "_p_gradient": (f.p[1:] + f.p[:-1]) / 2 * s.ddz()[inner],
        "_w_dissipation_z": (nu + kappa) * s.ddz()[inner] * w_jump,
        "_w_coriolis": at_w * f.coriolis_w(),
        "_w_buoyancy": at_w * s.buoyancy[2] * at_w,
    }
    return {
        **{name: plane(values) for name, values in found.items()},
        **{name: np.pad(plane(values), 1) for name, values in on_inner_faces.items()},
    }


def heated_means_of(*states: HeatedFields) -> Means:
    """Averages over several states."""
    samples = [profiles_of(state) for state in states]
    name = states[0].scalar.name
    scalars = {f"{name}{ending}": np.mean([sample[ending] for sample in samples], axis=0) for ending in samples[0]}
    return replace(means_of(*(state.flow for state in states)), scalars=scalars)


def rates_of(*states: HeatedFields) -> dict:
    """Rates of change of cc, uc (centres) and wc (inner faces) by the equations: covariances."""

    return {
        "cc": 2 * covariance(states, lambda s: s.c, HeatedFields.rate),
        "uc": covariance(states, lambda s: mean_up(s.c, X), HeatedFields.rate_u)
        + covariance(states, HeatedFields.u_at_c, HeatedFields.rate),
        "wc": covariance(states, lambda s: s.face_mean()[1:-1], HeatedFields.rate_w)
        + covariance(states, lambda s: (s.rate()[1:] + s.rate()[:-1]) / 2, lambda s: s.flow.w[1:-1]),
    }
