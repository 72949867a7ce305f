"""Key figures of published direct numerical simulations, for the table of the report.

Wall units; Re_b on 2h and the bulk velocity. Re_b, U_b+ and the peaks are as published or follow from the
published profiles (integral of U+, parabola through the three points about the maximum).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, log

MKM = "Moser, Kim & Mansour, Phys. Fluids 11, 943 (1999)"
HJ = "del Alamo & Jimenez, Phys. Fluids 15, L41 (2003); Hoyas & Jimenez, Phys. Fluids 20, 101511 (2008)"
LM = "Lee & Moser, J. Fluid Mech. 774, 395 (2015)"
LM_COUETTE = "Lee & Moser, J. Fluid Mech. 842, 128 (2018)"

# Law of the wall U+ = ln(z+)/kappa + B: S. B. Pope, Turbulent Flows, Cambridge University Press (2000),
# section 7.1.4.
LOG_LAW_KAPPA = 0.41
LOG_LAW_B = 5.2
LOG_LAW_SOURCE = "Pope, Turbulent Flows, Cambridge University Press (2000), sec. 7.1.4"

# A published figure says little about a run whose Re_tau differs by more than this fraction.
SAME_RE_TAU = 0.03


@dataclass(frozen=True)
class Published:
    """One published simulation; the keys of `values` are those of key_figures.figures_of."""

    name: str
    source: str
    flow_type: str
    re_tau: float
    values: dict[str, float]


def _channel(name: str, source: str, re_tau: float, figures: tuple[float, ...]) -> Published:
    keys = ("re_b", "u_b_plus", "u_c_plus", "cf", "u_peak", "u_peak_z", "uw_peak", "uw_peak_z")
    return Published(
        name, source, "channel", re_tau, {"re_tau": re_tau, **dict(zip(keys, figures, strict=True))}
    )


# Re_b, U_b+, U_c+, Cf, peak u'+, at z+, peak -uw+, at z+
PUBLISHED = (
    _channel("MKM", MKM, 178.12, (5585, 15.68, 18.30, 8.14e-3, 2.660, 14.6, 0.7234, 31.0)),
    _channel("Lee & Moser", LM, 182.09, (5714, 15.69, 18.27, 8.12e-3, 2.672, 14.5, 0.7277, 31.7)),
    _channel("Hoyas & Jimenez", HJ, 186.34, (5855, 15.71, 18.28, 8.10e-3, 2.660, 14.6, 0.7337, 31.9)),
    _channel("MKM", MKM, 392.24, (13764, 17.54, 20.13, 6.50e-3, 2.740, 14.7, 0.8370, 41.4)),
    _channel("Lee & Moser", LM, 543.50, (20000, 18.40, 21.00, 5.91e-3, 2.766, 14.6, 0.8621, 43.7)),
    _channel("Hoyas & Jimenez", HJ, 546.74, (20121, 18.40, 20.99, 5.91e-3, 2.760, 14.7, 0.8635, 44.1)),
    _channel("Lee & Moser", LM, 1000.5, (40000, 19.99, 22.59, 5.01e-3, 2.847, 14.9, 0.9025, 53.7)),
    _channel("Lee & Moser", LM, 1994.8, (86957, 21.80, 24.40, 4.21e-3, 2.929, 15.2, 0.9316, 68.0)),
    _channel("Lee & Moser", LM, 5185.9, (250000, 24.10, 26.58, 3.44e-3, 3.024, 15.6, 0.9562, 104.6)),
    Published(
        "Lee & Moser, Couette",
        LM_COUETTE,
        "couette",
        92.91,
        {"re_tau": 92.91, "re_w": 1500, "u_c_plus": 16.14, "cf": 7.674e-3, "u_peak": 2.760, "u_peak_z": 14.4},
    ),
)


def nearest(flow_type: str, re_tau: float) -> Published | None:
    """The published simulation of this flow whose Re_tau is nearest (in ratio); None if there is none."""
    entries = [entry for entry in PUBLISHED if entry.flow_type == flow_type]
    if not entries or not 0 < re_tau < inf:
        return None
    return min(entries, key=lambda entry: abs(log(entry.re_tau / re_tau)))


def comparable(published: Published, re_tau: float) -> bool:
    """Whether the two Reynolds numbers are near enough for the figures to be compared one by one."""
    return abs(re_tau / published.re_tau - 1) <= SAME_RE_TAU
