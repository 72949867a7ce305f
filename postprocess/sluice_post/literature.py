"""Key figures of published direct numerical simulations, for the table of the report.

Wall units; Re_b on 2h and the bulk velocity. Re_b, U_b+ and the peaks are as published or follow from the
published profiles (integral of U+, parabola through the three points about the maximum, integral of the production
from the wall to the centre for the dissipation of the fluctuations). Peaks of the production and wall dissipation are
from the published budgets of k. v is spanwise, w wall-normal.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import exp, inf, log, nan

from sluice_post.errors import UsageError
from sluice_post.flow import CHANNEL, COUETTE, SAME_NUMBER, Flow, Held
from sluice_post.flow_words import REYNOLDS, held_text

MKM = "Moser, Kim & Mansour, Phys. Fluids 11, 943 (1999)"
HJ = "del Alamo & Jimenez, Phys. Fluids 15, L41 (2003); Hoyas & Jimenez, Phys. Fluids 20, 101511 (2008)"
LM = "Lee & Moser, J. Fluid Mech. 774, 395 (2015)"
LM_COUETTE = "Lee & Moser, J. Fluid Mech. 842, 128 (2018)"

# Law of the wall U+ = ln(z+)/kappa + B: S. B. Pope, Turbulent Flows, Cambridge University Press (2000),
# section 7.1.4.
LOG_LAW_KAPPA = 0.41
LOG_LAW_B = 5.2
LOG_LAW_SOURCE = "Pope, Turbulent Flows, Cambridge University Press (2000), sec. 7.1.4"

# Figures are compared one by one if the Reynolds numbers differ by at most this fraction.
SAME_REYNOLDS = SAME_NUMBER
EQUAL_REYNOLDS = 1e-3  # relative; a larger difference from the published number is mentioned
NONE_KNOWN = "No published data are known here for this flow"


@dataclass(frozen=True)
class Published:
    """One published simulation; the keys of `values` are those of key_figures.figures_of."""

    name: str
    source: str
    flow: Flow
    re_tau: float
    values: dict[str, float]


_CHANNEL_KEYS = (
    *("re_b", "u_b_plus", "u_c_plus", "cf", "u_peak", "u_peak_z", "v_peak", "v_peak_z", "w_peak", "w_peak_z"),
    *("uw_peak", "uw_peak_z", "dissipation", "production_peak", "production_peak_z", "wall_dissipation"),
    *("p_peak", "p_peak_z"),
)


def _channel(name: str, source: str, re_tau: float, *figures: float) -> Published:
    values = {"re_tau": re_tau, **dict(zip(_CHANNEL_KEYS, figures, strict=False))}
    return Published(name, source, Flow(CHANNEL), re_tau, values)


# fmt: off
PUBLISHED = (
    # Re_tau; Re_b, U_b+, U_c+, Cf, peaks of u'+, v'+, w'+ and -uw+, each with its z+, dissipation;
    # peak of the production of k and its z+, wall dissipation; peak of p'+ and its z+ where it is published
    _channel("MKM", MKM, 178.12,
             5585, 15.680, 18.301, 8.134e-3, 2.660, 14.6, 1.087, 35.1, 0.8364, 53.2, 0.7234, 31.0,
             6.253, 0.2179, 12.0, 0.1715, 1.878, 29.9),
    _channel("Lee & Moser", LM, 182.09,
             5714, 15.691, 18.269, 8.123e-3, 2.672, 14.5, 1.098, 36.1, 0.8488, 54.7, 0.7277, 31.7,
             6.290, 0.2179, 11.8, 0.1778),
    _channel("Hoyas & Jimenez", HJ, 186.34,
             5855, 15.714, 18.284, 8.100e-3, 2.660, 14.6, 1.091, 35.6, 0.8496, 54.8, 0.7337, 31.9,
             6.348, 0.2192, 12.0, 0.1775, 1.933, 30.0),
    _channel("MKM", MKM, 392.24,
             13764, 17.545, 20.133, 6.497e-3, 2.740, 14.7, 1.289, 40.3, 0.9973, 68.7, 0.8370, 41.4,
             8.437, 0.2363, 11.3, 0.2176, 2.462, 29.3),
    _channel("Lee & Moser", LM, 543.50,
             20000, 18.399, 21.000, 5.908e-3, 2.766, 14.6, 1.366, 39.9, 1.0340, 77.6, 0.8621, 43.7,
             9.252, 0.2397, 11.2, 0.2316),
    _channel("Hoyas & Jimenez", HJ, 546.74,
             20121, 18.401, 20.990, 5.907e-3, 2.760, 14.7, 1.364, 39.2, 1.0320, 76.9, 0.8635, 44.1,
             9.268, 0.2397, 11.3, 0.2312, 2.690, 29.9),
    _channel("Lee & Moser", LM, 1000.5,
             40000, 19.990, 22.593, 5.005e-3, 2.847, 14.9, 1.464, 42.0, 1.0797, 91.3, 0.9025, 53.7,
             10.872, 0.2443, 11.2, 0.2517),
    _channel("Lee & Moser", LM, 1994.8,
             86957, 21.796, 24.396, 4.210e-3, 2.929, 15.2, 1.556, 45.2, 1.1103, 109.2, 0.9316, 68.0,
             12.713, 0.2473, 11.1, 0.2705),
    _channel("Lee & Moser", LM, 5185.9,
             250000, 24.104, 26.575, 3.442e-3, 3.024, 15.6, 1.660, 50.2, 1.1303, 141.2, 0.9562, 104.6,
             15.021, 0.2487, 11.1, 0.2889),
    Published("Lee & Moser, Couette", LM_COUETTE, Flow(COUETTE), 92.91, {
        "re_tau": 92.91, "re_w": 1500, "u_c_plus": 16.144, "cf": 7.674e-3, "u_peak": 2.760, "u_peak_z": 14.4,
        "v_peak": 1.379, "v_peak_z": 37.7, "dissipation": 7.268, "production_peak": 0.2499, "production_peak_z": 10.9,
        "wall_dissipation": 0.2490,
    }),
)
# fmt: on


@dataclass(frozen=True)
class Found:
    """The published simulation to compare a run with; if there is none, `reason` is a sentence that says why."""

    published: Published | None
    reason: str = ""


def _distance(entry: Published, held: Held, re_tau: float) -> float:
    """Difference of the Reynolds numbers, as a logarithm. An entry without the number that is held: of Re_tau."""
    known = entry.values.get(held.key)
    ratio = held.value / known if known is not None else re_tau / entry.re_tau
    return abs(log(ratio)) if 0 < ratio < inf else inf


def find(flow: Flow, held: Held | None, re_tau: float) -> Found:
    """The published simulation of this flow whose Reynolds number is nearest to the one that the run holds fixed.

    Its number differs by at most SAME_REYNOLDS. `re_tau`: measured, for published data that lack the number held.
    """
    alike = [entry for entry in PUBLISHED if not flow.differences(entry.flow)]
    if not alike or held is None:
        return Found(None, f"{NONE_KNOWN} ({flow.name}).")
    entry = min(alike, key=lambda one: _distance(one, held, re_tau))
    if _distance(entry, held, re_tau) <= log(1 + SAME_REYNOLDS):
        return Found(entry)
    key = held.key if held.key in entry.values else "re_tau"
    nearest = f"the nearest are {entry.name} at {REYNOLDS[key]} = {entry.values[key]:g}"
    return Found(None, f"{NONE_KNOWN} ({flow.name}) at {held_text(held)}; {nearest}.")


def require(flow: Flow, held: Held | None, re_tau: float) -> Published:
    """The published simulation that `find` gives, without the number that the case sets; an error without any."""
    found = find(flow, held, re_tau)
    if found.published is None:
        raise UsageError(f"{found.reason.removesuffix('.')}; give profiles, or a run, with --reference")
    key = held.key if held is not None and held.by_case else ""
    values = {name: value for name, value in found.published.values.items() if name != key}
    return replace(found.published, values=values)


def shifted(published: Published, held: Held | None) -> dict[str, float]:
    """Published figures of the mean velocity, by key, converted to the Reynolds number of the case.

    By the law of the wall, U_b+ and U_c+ grow by ln(ratio of Re_tau)/kappa. Empty if the Reynolds numbers are equal, or
    if the walls move relative to each other.
    """
    known = published.values
    if held is None or not held.by_case or held.key not in ("re_b", "re_tau") or "u_b_plus" not in known:
        return {}
    ratio = held.value / known.get(held.key, nan)
    if not abs(ratio - 1) > EQUAL_REYNOLDS:
        return {}
    grows = log(ratio) / (1 + 1 / (LOG_LAW_KAPPA * known["u_b_plus"])) if held.key == "re_b" else log(ratio)
    bulk = known["u_b_plus"] + grows / LOG_LAW_KAPPA
    found = {"re_tau": known["re_tau"] * exp(grows), "u_b_plus": bulk, "cf": 2 / bulk**2}
    if "u_c_plus" in known:
        found["u_c_plus"] = known["u_c_plus"] + grows / LOG_LAW_KAPPA
    return {key: value for key, value in found.items() if key in known}


def with_value(published: Published, key: str) -> Published | None:
    """This simulation if it has a value of a key figure, else the one of nearly this Re_tau that is nearest and has."""
    others = [entry for entry in PUBLISHED if not entry.flow.differences(published.flow) and key in entry.values]
    near = [entry for entry in others if abs(published.re_tau / entry.re_tau - 1) <= SAME_REYNOLDS]
    return min(near, key=lambda entry: abs(log(entry.re_tau / published.re_tau)), default=None)
