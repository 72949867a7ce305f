"""Small staggered fields between no-slip walls, and what Sluice averages and computes with them, written plainly.

Arrays are [k, j, i], periodic in i and j. u is on the upper x face of its cell, v on the upper y face. w is on the z
faces, nz + 1 of them, 0 on both walls. All differences and interpolations are of second order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import synthetic

from sluice_post.parameters import FlowParameters
from sluice_post.statistics import Means

X, Y, Z = 2, 1, 0
VISCOSITY = 0.01
NO_SLIP = (True, True)
Z_FACE = np.array([0.0, 0.05, 0.13, 0.3, 0.55, 0.9, 1.2, 1.55, 1.8, 2.0])
MOVING = {"bottom": (-0.5, 0.2), "top": (0.7, -0.3)}
OBLIQUE = (70.0, -130.0, 200.0)  # a rotation of the size of the gradients of these fields
PARAMETERS = FlowParameters(
    "channel", VISCOSITY, (3.0, 1.6, 2.0), (10, 8, 9), "no_slip", "no_slip", (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
)
# u_tau and Re_tau are such that the viscosity is that of the fields.
FLOW = synthetic.Flow(u_tau=1.8, re_tau=180, cells=(10, 8, 24))


def assert_close(found, expected, tolerance=1e-12, scale=None):
    """All differences are below this part of the largest expected value, or of that of `scale`."""
    scale = np.max(np.abs(expected if scale is None else scale))
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * scale)


def assert_second_order(errors):
    """Errors on grids that are each twice as fine as the one before."""
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all(slopes > 1.9), (errors, slopes)


def up(f, axis):
    """The next point along x or y."""
    return np.roll(f, -1, axis)


def down(f, axis):
    return np.roll(f, 1, axis)


def mean_up(f, axis):
    return (f + up(f, axis)) / 2


def mean_down(f, axis):
    return (f + down(f, axis)) / 2


def plane(f):
    return f.mean(axis=(1, 2))


@dataclass
class Fields:
    """One state of a flow. `bottom` and `top`: velocities (u, v) of the walls. `rotation`: of the frame.

    `drag`: of a magnetic field.
    """

    u: np.ndarray
    v: np.ndarray
    w: np.ndarray
    p: np.ndarray
    z_face: np.ndarray
    dx: float = 0.3
    dy: float = 0.2
    bottom: tuple = (0.0, 0.0)
    top: tuple = (0.0, 0.0)
    rotation: tuple = (0.0, 0.0, 0.0)  # 2 Omega
    drag: float = 0.0  # on u and v
    force: tuple = (0.0, 0.0, 0.0)  # another one, on u, v and w; of w on the inner faces

    @property
    def dz(self):
        return np.diff(self.z_face)[:, None, None]

    @property
    def distance(self):
        """Between the centres below and above each face; the centre beyond a wall is the mirror image."""
        dz = np.pad(np.diff(self.z_face), 1, mode="edge")
        return ((dz[1:] + dz[:-1]) / 2)[:, None, None]

    def with_ghosts(self, c):
        """u or v with the values beyond the walls that make the mean of both the velocity of the wall."""
        f, n = (self.u, 0) if c == "u" else (self.v, 1)
        return np.concatenate([2 * self.bottom[n] - f[:1], f, 2 * self.top[n] - f[-1:]])

    def ddz(self, c):
        """du/dz or dv/dz on the z faces."""
        return np.diff(self.with_ghosts(c), axis=Z) / self.distance

    def face_mean(self, c):
        f = self.with_ghosts(c)
        return (f[1:] + f[:-1]) / 2

    def w_center(self):
        return (self.w[1:] + self.w[:-1]) / 2

    # Terms of the momentum equations

    def advection_u(self):
        v, w = mean_up(self.v, X), mean_up(self.w, X)
        along_x, along_y = mean_down(self.u, X) ** 2, v * mean_up(self.u, Y)
        return (
            (up(along_x, X) - along_x) / self.dx
            + (along_y - down(along_y, Y)) / self.dy
            + np.diff(w * self.face_mean("u"), axis=Z) / self.dz
        )

    def advection_v(self):
        u, w = mean_up(self.u, Y), mean_up(self.w, Y)
        along_x, along_y = u * mean_up(self.v, X), mean_down(self.v, Y) ** 2
        return (
            (along_x - down(along_x, X)) / self.dx
            + (up(along_y, Y) - along_y) / self.dy
            + np.diff(w * self.face_mean("v"), axis=Z) / self.dz
        )

    def advection_w(self):
        """On the inner faces. u and v are averaged along z with the sizes of the cells."""
        distance = self.distance[1:-1]
        u, v = (((self.dz * f)[1:] + (self.dz * f)[:-1]) / 2 / distance for f in (self.u, self.v))
        w = self.w[1:-1]
        along_x, along_y = u * mean_up(w, X), v * mean_up(w, Y)
        return (
            (along_x - down(along_x, X)) / self.dx
            + (along_y - down(along_y, Y)) / self.dy
            + np.diff(self.w_center() ** 2, axis=Z) / distance
        )

    def viscous_xy(self, f):
        of_x = (up(f, X) - 2 * f + down(f, X)) / self.dx**2
        return VISCOSITY * (of_x + (up(f, Y) - 2 * f + down(f, Y)) / self.dy**2)

    def viscous_z(self, c):
        if c == "w":
            return VISCOSITY * np.diff(np.diff(self.w, axis=Z) / self.dz, axis=Z) / self.distance[1:-1]
        return VISCOSITY * np.diff(self.ddz(c), axis=Z) / self.dz

    def coriolis_u(self):
        _, y, z = self.rotation
        return z * mean_up(mean_down(self.v, Y), X) - y * mean_up(self.w_center(), X)

    def coriolis_v(self):
        x, _, z = self.rotation
        return x * mean_up(self.w_center(), Y) - z * mean_up(mean_down(self.u, X), Y)

    def coriolis_w(self):
        """On the inner faces."""
        x, y, _ = self.rotation
        u, v = (((self.dz * f)[1:] + (self.dz * f)[:-1]) / 2 / self.distance[1:-1] for f in (self.u, self.v))
        return y * mean_down(u, X) - x * mean_down(v, Y)

    def rate_u(self):
        forces = self.viscous_xy(self.u) + self.viscous_z("u") + self.coriolis_u() + self.force[0]
        return forces - self.drag * self.u - self.advection_u() - (up(self.p, X) - self.p) / self.dx

    def rate_v(self):
        forces = self.viscous_xy(self.v) + self.viscous_z("v") + self.coriolis_v() + self.force[1]
        return forces - self.drag * self.v - self.advection_v() - (up(self.p, Y) - self.p) / self.dy

    def rate_w(self):
        forces = self.viscous_xy(self.w[1:-1]) + self.viscous_z("w") + self.coriolis_w() + self.force[2]
        return forces - self.advection_w() - np.diff(self.p, axis=Z) / self.distance[1:-1]

    # Other flows

    def mirrored(self):
        """z -> Lz - z."""
        u, v, w, p = (f[::-1] for f in (self.u, self.v, self.w, self.p))
        z_face = (self.z_face[-1] - self.z_face)[::-1]
        x, y, z = self.rotation
        walls = {"bottom": self.top, "top": self.bottom}
        return replace(self, u=u, v=v, w=-w, p=p, z_face=z_face, rotation=(-x, -y, z), **walls)

    def x_reversed(self):
        v, w, p = (f[:, :, ::-1] for f in (self.v, self.w, self.p))
        u = -np.roll(self.u[:, :, ::-1], -1, X)
        bottom, top = ((-wall[0], wall[1]) for wall in (self.bottom, self.top))
        x, y, z = self.rotation
        return replace(self, u=u, v=v, w=w, p=p, bottom=bottom, top=top, rotation=(x, -y, -z))

    def in_moving_frame(self, u, v):
        bottom, top = ((wall[0] - u, wall[1] - v) for wall in (self.bottom, self.top))
        return replace(self, u=self.u - u, v=self.v - v, bottom=bottom, top=top)


def random_fields(seed, z_face, cells=(10, 8), bottom=(0.0, 0.0), top=(0.0, 0.0)):
    """Mean profiles and a rough, divergence-free disturbance: the curl of a random potential."""
    rng = np.random.default_rng(seed)
    nx, ny = cells
    nz = len(z_face) - 1
    blank = np.zeros((nz, ny, nx))
    fields = Fields(blank, blank, np.zeros((nz + 1, ny, nx)), blank, z_face, bottom=bottom, top=top)
    ax, ay = (rng.standard_normal((nz + 1, ny, nx)) for _ in range(2))
    az = rng.standard_normal((nz, ny, nx))
    for potential in (ax, ay):
        potential[0] = potential[-1] = 0  # nothing flows through the walls
    z = ((z_face[1:] + z_face[:-1]) / 2 / z_face[-1])[:, None, None]
    u = (az - down(az, Y)) / fields.dy - np.diff(ay, axis=Z) / fields.dz
    v = np.diff(ax, axis=Z) / fields.dz - (az - down(az, X)) / fields.dx
    w = (ay - down(ay, X)) / fields.dx - (ax - down(ax, Y)) / fields.dy
    return replace(
        fields, u=u + 40 * z * (1.3 - z), v=v + 3 * z**2, w=w, p=5 * rng.standard_normal((nz, ny, nx)) + 7 * z
    )


def wave(z, y, x, phase):
    """A smooth function at the points of a grid."""
    z, y, x = z[:, None, None], y[None, :, None], x[None, None, :]
    return np.sin(x + 2 * y + phase + z) + z * np.cos(2 * x - y + phase) + 3 * z**2


def smooth_grid(n):
    """Faces along z of n cells that are smaller near the walls; centres and upper faces of n cells along x and y."""
    z_face = 1 - np.cos(np.pi * (0.2 + 0.6 * np.linspace(0, 1, n + 1))) / np.cos(0.2 * np.pi)
    z_face[0], z_face[-1] = 0.0, 2.0
    return z_face, (np.arange(n) + 0.5) * 2 * np.pi / n, (np.arange(n) + 1) * 2 * np.pi / n


def smooth_fields(n, rotation=(0.0, 0.0, 0.0)):
    """Waves on n^3 cells."""
    z_face, at, above = smooth_grid(n)
    centre = (z_face[1:] + z_face[:-1]) / 2
    w = wave(z_face, at, at, 2.0) * (z_face * (2 - z_face))[:, None, None]
    w -= w.mean(axis=(1, 2), keepdims=True)
    u, v = wave(centre, at, above, 0.1), wave(centre, above, at, 1.0)
    step = 2 * np.pi / n
    return Fields(u, v, w, np.zeros((n, n, n)), z_face, dx=step, dy=step, rotation=rotation)


def divergence(f: Fields):
    return (f.u - down(f.u, X)) / f.dx + (f.v - down(f.v, Y)) / f.dy + np.diff(f.w, axis=Z) / f.dz


def profiles_of(f: Fields) -> dict:
    """The plane means of statistics.h5 that budgets use, by name."""
    u, v, w, p = f.u, f.v, f.w, f.p
    u_face, v_face = f.with_ghosts("u"), f.with_ghosts("v")
    w_of_u, w_of_v = mean_up(w, X), mean_up(w, Y)
    ux, uy = (u - down(u, X)) / f.dx, (up(u, Y) - u) / f.dy
    vx, vy = (up(v, X) - v) / f.dx, (v - down(v, Y)) / f.dy
    wz = np.diff(w, axis=Z) / f.dz
    wx, wy = (up(w, X) - w) / f.dx, (up(w, Y) - w) / f.dy
    w_center = f.w_center()
    centre = {
        **{"u": u, "v": v, "w": w_center, "p": p, "uu": u**2, "vv": v**2, "pp": p**2},
        "ww": (w[1:] ** 2 + w[:-1] ** 2) / 2,
        "uv": mean_up(u, Y) * mean_up(v, X),
        "ww_flux": w_center**2,
        "www_flux": w[1:] * w[:-1] * w_center,
        "pw": p * w_center,
        **{"p_dudx": p * ux, "p_dvdy": p * vy, "p_dwdz": p * wz},
        **{"dudx_squared": ux**2, "dudy_squared": uy**2, "dvdx_squared": vx**2, "dvdy_squared": vy**2},
        "dwdz_squared": wz**2,
    }
    face = {
        **{"uw": f.face_mean("u") * w_of_u, "vw": f.face_mean("v") * w_of_v},
        **{"tau_xz": VISCOSITY * f.ddz("u"), "tau_yz": VISCOSITY * f.ddz("v")},
        "uw_jump": np.diff(u_face, axis=Z) / 2 * w_of_u,
        "vw_jump": np.diff(v_face, axis=Z) / 2 * w_of_v,
        "uuw_flux": u_face[1:] * u_face[:-1] * w_of_u,
        "vvw_flux": v_face[1:] * v_face[:-1] * w_of_v,
        "ww_face": w**2,
        **{"dudz_squared": f.ddz("u") ** 2, "dvdz_squared": f.ddz("v") ** 2},
        **{"dwdx_squared": wx**2, "dwdy_squared": wy**2},
    }
    inner = slice(1, -1)
    at_face = mean_down(f.face_mean("u"), X)[inner]  # u where w is

    def of_both(of_u, of_w):
        """Terms of the momentum equations of u and w, times the other velocity."""
        above_and_below = of_u[1:] * w_of_u[inner] + of_u[:-1] * w_of_u[inner]
        return above_and_below / 2 + of_w * at_face

    pressure = (mean_up(p, X)[1:] + mean_up(p, X)[:-1]) / 2
    # dw/dz, averaged over the cells below and above.
    w_jump = (w_of_u[2:] - w_of_u[:-2]) / 2 / f.distance[inner]
    of_uw = {
        "uw_advection": -of_both(f.advection_u(), f.advection_w()),
        "uw_pressure": -of_both((up(p, X) - p) / f.dx, np.diff(p, axis=Z) / f.distance[inner]),
        "uw_viscous_xy": of_both(f.viscous_xy(u), f.viscous_xy(w[inner])),
        "uw_viscous_z": of_both(f.viscous_z("u"), f.viscous_z("w")),
        "p_strain_xz": pressure * (f.ddz("u") + wx)[inner],
        "uw_dissipation_z": 2 * VISCOSITY * f.ddz("u")[inner] * w_jump,
    }
    return {
        **{name: plane(values) for name, values in {**centre, **face}.items()},
        **{name: np.pad(plane(values), 1) for name, values in of_uw.items()},
    }


def means_of(*states: Fields) -> Means:
    """Averages over several states, as over the samples of a run."""
    samples = [profiles_of(state) for state in states]
    nz = len(states[0].z_face) - 1
    average = {name: np.mean([sample[name] for sample in samples], axis=0) for name in samples[0]}
    z_face = states[0].z_face
    return Means(
        (z_face[1:] + z_face[:-1]) / 2,
        z_face,
        {name: values for name, values in average.items() if len(values) == nz},
        {name: values for name, values in average.items() if len(values) == nz + 1},
        0.0,
        len(states),
    )


def block_of(flow: synthetic.Flow, state: Fields) -> dict:
    """What a block stores; third moments and vorticity, which budgets do not need, are those of the model flow."""
    return synthetic.turbulent_profiles(flow) | profiles_of(state)


def covariance(states, a, b):
    """Of two quantities, functions of a state, in the averages over planes and states."""

    def mean(of):
        return np.mean([plane(of(state)) for state in states], axis=0)

    return mean(lambda state: a(state) * b(state)) - mean(a) * mean(b)


def terms_of_fluctuations(f: Fields, q, w, along_xy, beyond, diffusivity) -> dict:
    """Exact terms of the variance of q, written with q' = q - <q>. `w`: what carries it through the z faces.

    `along_xy`: the sum of the squares of the derivatives along x and y, of q'; `beyond`: q' beyond both walls over q'
    inside of them, 1 or -1.
    """
    mean, dz = plane(q), np.diff(f.z_face)
    q, step, inner = q - mean[:, None, None], np.diff(mean), w[1:-1]
    production = np.zeros_like(mean)  # of each cell: its own q', the mean of its neighbours
    production[:-1] -= step * plane(q[:-1] * inner) / dz[:-1]
    production[1:] -= step * plane(q[1:] * inner) / dz[1:]
    of_z = np.diff(np.concatenate([beyond[0] * q[:1], q, beyond[1] * q[-1:]]), axis=0) / f.distance
    squared = plane(of_z**2) * f.distance.ravel()
    return {
        "turbulent_transport": -np.diff(np.pad(plane(q[1:] * q[:-1] * inner), 1)) / dz,
        "production": production,
        "dissipation": -diffusivity * (2 * plane(along_xy(q)) + (squared[1:] + squared[:-1]) / dz),
    }


def rates_of(*states: Fields) -> dict:
    """Rates of change of uu, vv (centres), ww and uw (inner faces) by the momentum equations: covariances."""

    def halves(of):
        """u at the faces, and w where u is."""
        return lambda state: (of(state)[1:] + of(state)[:-1]) / 2

    def along_x(of):
        return lambda state: mean_up(of(state), X)

    def w(state):
        return state.w[1:-1]

    return {
        "uu": 2 * covariance(states, lambda f: f.u, Fields.rate_u),
        "vv": 2 * covariance(states, lambda f: f.v, Fields.rate_v),
        "ww": 2 * covariance(states, w, Fields.rate_w),
        "uw": covariance(states, halves(lambda f: f.u), along_x(Fields.rate_w))
        + covariance(states, halves(Fields.rate_u), along_x(w)),
    }
