"""The scalars that a turbulent channel flow is known by, with their confidence intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from scipy.interpolate import CubicSpline

from sluice_post import layout
from sluice_post.arrays import Array, interpolate
from sluice_post.budget_terms import wall_dissipation
from sluice_post.flow import COUETTE, Flow
from sluice_post.literature import Published
from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles, peak, value_at_height, wall_profiles
from sluice_post.reference import Reference
from sluice_post.statistics import Blocks, Means
from sluice_post.symmetry import Symmetry
from sluice_post.uncertainty import half_width95
from sluice_post.wall_view import MEAN_OF_WALLS, wall_view, with_wall


@dataclass(frozen=True)
class Figure:
    """One row of the table: its label (HTML), its value and the half width of its 95 % interval.

    `wall`: of which wall it is, in words that the label ends in; empty where all walls count alike.
    """

    key: str
    label: str
    value: float
    half_width: float = float("nan")
    wall: str = ""
    in_time: float = float("nan")  # of an ensemble: the half width of the interval in time; the other: across members

    @property
    def text_label(self) -> str:
        """The label for text and Markdown."""
        return with_wall(_LABELS[_of_any_wall(self.key)][2], self.wall)

    @property
    def latex_label(self) -> str:
        """The label for LaTeX."""
        at_surface = self.key == "u_c_plus" and self.label.startswith(_AT_THE_SURFACE)
        return with_wall("$U^+$ at the surface" if at_surface else LATEX_LABELS[_of_any_wall(self.key)], self.wall)


# Labels in HTML and in LaTeX; of the figures that are published also in text and Markdown.
_LABELS: dict[str, tuple[str, ...]] = {
    "re_tau": ("Re<sub>τ</sub>", r"$Re_\tau$", "Re_tau"),
    "shear": ("wall shear stress/ρ", r"wall shear stress$/\rho$"),
    "u_tau": ("friction velocity u<sub>τ</sub>", r"friction velocity $u_\tau$"),
    "u_tau_g": ("u<sub>τ</sub>/G", r"$u_\tau/G$"),
    "angle": 2 * ("angle of the wall stress to the geostrophic velocity, degrees",),
    "delta_plus": ("δ<sup>+</sup> = u<sub>τ</sub><sup>2</sup>/(fν)", r"$\delta^+ = u_\tau^2/(f\nu)$"),
    "re_b": ("Re<sub>b</sub> = 2 U<sub>b</sub>h/ν", r"$Re_b = 2 U_b h/\nu$", "Re_b"),
    "re_w": ("Re<sub>w</sub> = U<sub>w</sub>h/ν", r"$Re_w = U_w h/\nu$", "Re_w"),
    "u_b_plus": ("U<sub>b</sub><sup>+</sup>", "$U_b^+$", "U_b+"),
    "u_c_plus": ("U<sub>c</sub><sup>+</sup>", "$U_c^+$", "U_c+"),
    "cf": ("C<sub>f</sub>", "$C_f$", "C_f"),
    "u_peak": ("peak u′<sup>+</sup>", "peak $u'^+$", "peak u'+"),
    "v_peak": ("peak v′<sup>+</sup>", "peak $v'^+$", "peak v'+"),
    "w_peak": ("peak w′<sup>+</sup>", "peak $w'^+$", "peak w'+"),
    "uw_peak": ("peak −⟨u′w′⟩<sup>+</sup>", r"peak $-\langle u'w'\rangle^+$", "peak -uw+"),
    "p_peak": ("peak p′<sup>+</sup>", "peak $p'^+$", "peak p'+"),
    "production_peak": ("peak production of k<sup>+</sup>", "peak production of $k^+$", "peak production of k+"),
    "wall_dissipation": ("wall dissipation of k<sup>+</sup>", "wall dissipation of $k^+$", "wall dissipation of k+"),
    "dissipation": (
        "integral of the production of k, ∫P dz/u<sub>τ</sub><sup>3</sup>",
        r"integral of the production of $k$, $\int P\,dz/u_\tau^3$",
        "integral of the production of k",
    ),
    "force_balance": ("forcing · h/wall stress − 1", r"forcing $\cdot\,h$/wall stress $-\,1$"),
}
_AT = ("  at z<sup>+</sup>", r"\quad at $z^+$", "  at z+")
_LABELS |= {f"{key}_z": _AT for key in _LABELS if key.endswith("_peak")}
LATEX_LABELS = {key: latex for key, (_, latex, *_) in _LABELS.items()}

_AT_THE_SURFACE = "U<sup>+</sup> at the surface"  # what U_c+ is in an open channel

_OF_BOTH_WALLS = ("re_tau", "cf")  # from the mean of the magnitudes of both wall stresses
_OF_THE_FLOW = ("re_b", "re_w", "force_balance")  # no matter which wall

MAY_BE_ZERO = ("force_balance",)  # differences near 0


def wall_shears(
    means: Means, parameters: FlowParameters, direction: tuple[float, float] = (1.0, 0.0)
) -> dict[str, float]:
    """Magnitude of the shear stress in a direction on each no-slip wall, by wall."""
    shear = direction[0] * means.face["tau_xz"] + direction[1] * means.face["tau_yz"]
    walls = {"bottom": (shear[0], parameters.no_slip_bottom), "top": (shear[-1], parameters.no_slip_top)}
    return {name: float(abs(value)) for name, (value, no_slip) in walls.items() if no_slip}


def stresses_of_u_tau(means: Means, parameters: FlowParameters) -> dict[str, float]:
    """By wall: the magnitude of the shear stress if the mean flow turns with the height, else of its x component."""
    along_x = wall_shears(means, parameters)
    if parameters.rotation[2] == 0:
        return along_x
    along_y = wall_shears(means, parameters, (0.0, 1.0))
    return {name: float(np.hypot(stress, along_y[name])) for name, stress in along_x.items()}


def _ekman_figures(means: Means, parameters: FlowParameters) -> dict[str, float]:
    """C_f, u_tau/G, the angle of the wall stress to the geostrophic velocity (positive to the left), and delta+."""
    stress = float(np.mean(list(stresses_of_u_tau(means, parameters).values())))
    (x, y), speed = parameters.geostrophic, float(np.hypot(*parameters.geostrophic))
    sign, at = (1, 0) if parameters.no_slip_bottom else (-1, -1)  # stress on the wall, by the fluid
    along_x, along_y = (sign * means.face[name][at] for name in ("tau_xz", "tau_yz"))
    return {
        "cf": 2 * stress / speed**2,
        "u_tau_g": stress**0.5 / speed,
        "angle": float(np.degrees(np.arctan2(x * along_y - y * along_x, x * along_x + y * along_y))),
        "delta_plus": stress / (abs(parameters.rotation[2]) * parameters.viscosity),
    }


def _friction(means: Means, parameters: FlowParameters, by_wall: bool) -> dict[str, float]:
    """Re_tau of the mean wall stress and of each of two walls, Reynolds numbers of the flow type, and C_f.

    C_f is 2 u_tau^2 over the square of the bulk velocity along x, or of the geostrophic velocity. Where walls move
    relative to each other, it is twice the shear stress in the direction of their velocity difference, over the square
    of half that difference (Lee & Moser 2018).
    Velocities are relative to the walls. `by_wall`: with C_f of each wall.
    """
    shears, nu = stresses_of_u_tau(means, parameters), parameters.viscosity
    mean = float(np.mean(list(shears.values())))
    values = {"re_tau": float(np.sqrt(mean)) / nu}
    if len(shears) > 1:
        values |= {f"re_tau_{name}": float(np.sqrt(stress)) / nu for name, stress in shears.items()}
    values |= {f"shear_{name}": stress for name, stress in shears.items()}
    if parameters.is_ekman_layer:
        return values | _ekman_figures(means, parameters)
    driving = shears
    if parameters.walls_shear:
        driving = wall_shears(means, parameters, parameters.wall_direction)
        velocity = float(np.hypot(*parameters.velocity_difference)) / 2
        key, reynolds = "re_w", velocity / nu
    else:
        velocity = _bulk_velocity(means, parameters)
        key, reynolds = "re_b", 2 * velocity / nu
    if velocity == 0:
        return values
    values |= {key: reynolds, "cf": 2 * float(np.mean(list(driving.values()))) / velocity**2}
    if by_wall:
        values |= {f"cf_{name}": 2 * stress / velocity**2 for name, stress in driving.items()}
    return values


def _bulk_velocity(means: Means, parameters: FlowParameters) -> float:
    """The magnitude of the bulk velocity relative to the walls."""
    wall = parameters.velocity_bottom[0] if parameters.no_slip_bottom else parameters.velocity_top[0]
    dz = np.diff(means.z_face)
    return abs(float(means.centre["u"] @ dz / dz.sum()) - wall)


_PEAKS = {"u_rms": "u", "v_rms": "v", "w_rms": "w", "minus_uw": "uw", "p_rms": "p"}  # profile: key


def _peak(key: str, position: Array, values: Array) -> dict[str, float]:
    """The key figures of a peak: its value and its place."""
    largest, at = peak(position, values)
    return {f"{key}_peak": largest, f"{key}_peak_z": at}


def _integral(production: Array, profiles: WallProfiles) -> float:
    """Integral of the production from the wall to the end of the profiles, over u_tau^3.

    In a statistically steady flow with symmetric halves it equals the integral of the dissipation of the fluctuations,
    because the scheme conserves energy. The mean flow dissipates the rest of the energy input, which is U_b+ in a
    channel.
    """
    widths = np.append(np.diff(profiles.z_plus), (profiles.height - profiles.z[-1]) * profiles.re_tau)
    return float(production[1:] @ widths)  # the production on the wall is 0


def figures_of(means: Means, parameters: FlowParameters, side: str | None = None) -> dict[str, float]:
    """All key figures of one set of means, by key, in the order of the table.

    Re_tau and C_f are those of the mean wall stress; what is in wall units is in those of the view from `side`.
    """
    profiles = wall_profiles(means, parameters, side)
    values = {**_friction(means, parameters, bool(profiles.wall)), "u_tau": profiles.u_tau}
    if "re_b" in values:
        values["u_b_plus"] = _bulk_velocity(means, parameters) / profiles.u_tau
    if not parameters.is_ekman_layer:
        even = profiles.view.symmetry is Symmetry.MIRROR or not (parameters.no_slip_bottom and parameters.no_slip_top)
        values["u_c_plus"] = value_at_height(profiles.z, profiles.centre["U"], profiles.height, even)
    if not profiles.laminar:
        for name, key in _PEAKS.items():
            if profiles.has(name):
                values |= _peak(key, *profiles.column(name))
        production = profiles.production
        values |= _peak("production", profiles.z_face_plus, production)
        if means.face.keys() >= layout.WALL_GRADIENTS and not parameters.controlled:
            view = wall_view(means, parameters, side)
            on_wall = wall_dissipation(view.means, parameters.viscosity)["k"]
            values["wall_dissipation"] = on_wall * parameters.viscosity / profiles.u_tau**4
        # Where only production does work on the fluctuations.
        if not (parameters.controlled or parameters.buoyancy is not None or parameters.magnetic_drag != 0):
            values["dissipation"] = _integral(production, profiles)
    by_force_alone = profiles.view.symmetry is Symmetry.MIRROR and not profiles.turns and parameters.magnetic_drag == 0
    if by_force_alone and np.isfinite(means.forcing) and means.forcing != 0:
        values["force_balance"] = abs(means.forcing) * profiles.height / profiles.u_tau**2 - 1
    return values


def published_of(reference: Reference, flow: Flow, energy_budget: Reference | None = None) -> Published:
    """The key figures of published profiles, and of a published budget of k: those that their quantities give."""
    re_tau, z_plus, profiles = reference.re_tau, reference.z_plus, reference.values
    values = {"re_tau": re_tau} if reference.re_tau_exact else {}
    if "U" in profiles and z_plus["U"][-1] > 0.9 * re_tau:
        z, u = (np.append(0.0, column[z_plus["U"] > 0]) for column in (z_plus["U"], profiles["U"]))
        centre = value_at_height(z, u, re_tau, even=flow.kind != COUETTE)
        if reference.re_tau_exact and flow.kind != COUETTE:
            rest = (re_tau - z[-1]) * (u[-1] + centre) / 2
            bulk = (float(CubicSpline(z, u).integrate(0, z[-1])) + rest) / re_tau
            values |= {"re_b": 2 * bulk * re_tau, "u_b_plus": bulk, "cf": 2 / bulk**2}
        values["u_c_plus"] = centre
    for name, key in _PEAKS.items():
        if name in profiles:
            values |= _peak(key, z_plus[name], profiles[name])
    if {"minus_uw", "dUdz"} <= profiles.keys():
        z = z_plus["minus_uw"]
        production = profiles["minus_uw"] * interpolate(z, z_plus["dUdz"], profiles["dUdz"])
        values |= _peak("production", z, production)
        rest = (re_tau - z[-1]) * production[-1]
        values["dissipation"] = float(CubicSpline(z, production).integrate(z[0], z[-1]) + rest)
    if energy_budget is not None:
        z_plus, terms = energy_budget.z_plus, energy_budget.values
        if "production" in terms:
            values |= _peak("production", z_plus["production"], terms["production"])
        if "dissipation" in terms and z_plus["dissipation"][0] < 1e-6:
            values["wall_dissipation"] = -float(terms["dissipation"][0])
    return Published(reference.label, reference.label, flow, re_tau, values)


def percent_difference(figure: Figure, expected: float, half_width: float = 0.0) -> tuple[float, float]:
    """Difference from an expected value in %, and the half width of its 95 % interval.

    `half_width`: that of the expected value.
    """
    ratio = figure.value / expected
    return 100 * (ratio - 1), 100 * float(np.hypot(figure.half_width, ratio * half_width) / abs(expected))


def _of_any_wall(key: str) -> str:
    return key.removesuffix("_bottom").removesuffix("_top")


def plain_label(key: str) -> str:
    """The label (HTML) of a figure without remarks, and without the wall that it is of."""
    return _LABELS[_of_any_wall(key)][0].split(" =")[0].strip()


def label_of(key: str, wall: str) -> tuple[str, str]:
    """The label of a figure, and of which wall it is. `wall`: which of two walls the view is from."""
    if key.endswith(("_bottom", "_top")):
        wall = f"{key.rpartition('_')[2]} wall"
    elif wall and key in _OF_BOTH_WALLS:
        wall = MEAN_OF_WALLS
    elif key in _OF_THE_FLOW or key.endswith("_z"):  # a place stands below its peak
        wall = ""
    return with_wall(_LABELS[_of_any_wall(key)][0], wall), wall


def key_figures(blocks: Blocks, parameters: FlowParameters, side: str | None = None) -> list[Figure]:
    """The table: all figures with their intervals, in wall units as seen from `side`."""
    values = figures_of(blocks.means(), parameters, side)
    wall = wall_view(blocks.means(), parameters, side).wall

    def vector(means: Means) -> Array:
        found = figures_of(means, parameters, side)
        return np.array([found.get(key, np.nan) for key in values])

    widths = half_width95(vector, blocks)
    in_time = np.full(len(values), np.nan) if blocks.in_time is None else half_width95(vector, blocks.in_time)
    labels = [label_of(key, wall) for key in values]
    if "u_c_plus" in values and parameters.far_end == "surface":
        labels[list(values).index("u_c_plus")] = (_AT_THE_SURFACE, wall)
    return [
        Figure(key, label, value, float(width), of_wall, float(of_time))
        for (key, value), (label, of_wall), width, of_time in zip(values.items(), labels, widths, in_time, strict=True)
    ]


@dataclass(frozen=True)
class Resolution:
    """Cell sizes and domain in wall units, and the averaging time in h/u_tau.

    The report has the averaging time in `unit`: that of an Ekman layer in periods 2 pi/f of its mean flow.
    """

    dx_plus: float
    dy_plus: float
    first_centre_plus: float
    dz_wall_plus: float
    dz_centre_plus: float
    lx_plus: float
    ly_plus: float
    turnovers: float
    has_periods: bool
    averaged: float  # in `unit`, as is the time below which intervals are too narrow
    unit: Markup
    long_enough: float
    long_enough_text: Markup  # with its unit
    wall: str = ""  # whose wall units they are, where there is a choice


def resolution(blocks: Blocks, parameters: FlowParameters, profiles: WallProfiles) -> Resolution:
    """Resolution of a run in its own wall units."""
    plus = profiles.u_tau / parameters.viscosity
    dz = np.diff(profiles.z_face)
    time, has_periods = blocks.averaging_time, parameters.is_ekman_layer
    unit = Markup("periods 2π/f" if has_periods else "h/u<sub>τ</sub>")
    return Resolution(
        dx_plus=parameters.size[0] / parameters.cells[0] * plus,
        dy_plus=parameters.size[1] / parameters.cells[1] * plus,
        first_centre_plus=float(profiles.z[0]) * plus,
        dz_wall_plus=float(dz[0]) * plus,
        dz_centre_plus=float(np.max(dz)) * plus,
        lx_plus=parameters.size[0] * plus,
        ly_plus=parameters.size[1] * plus,
        turnovers=time * profiles.u_tau,
        has_periods=has_periods,
        averaged=time / parameters.inertial_period if has_periods else time * profiles.u_tau,
        unit=unit,
        # 15 h/u_tau are 30 integral time scales of Re_tau. An Ekman layer needs a whole period, which is far longer.
        long_enough=1.0 if has_periods else 15.0,
        long_enough_text=Markup("1 period 2π/f") if has_periods else Markup("15 ") + unit,
        wall=profiles.wall,
    )
