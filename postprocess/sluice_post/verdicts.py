"""A report in short: the flow, whether it converged and was stationary, published data beside it, what limits it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from markupsafe import Markup

from sluice_post import layout
from sluice_post.flow_words import REYNOLDS, flow_of_case, flow_text
from sluice_post.html_text import environment
from sluice_post.key_figures import Figure, Resolution, plain_label
from sluice_post.literature import EQUAL_REYNOLDS, NONE_KNOWN
from sluice_post.printed import width_text, with_interval
from sluice_post.profiles import WallProfiles
from sluice_post.results import Results
from sluice_post.spectra import AXES
from sluice_post.spectra_tables import LONG_ENOUGH, half_box
from sluice_post.wall_view import with_wall

RESIDUAL_OF_PUBLISHED = 2e-3  # the largest total-stress residual of usual publications; the smallest are 2e-4
CERTAIN_RESIDUAL = 5e-3  # the largest half width of its interval with which it says that a run has converged
CONVERGED_RE_TAU = 0.01  # half width of the interval, relative
_COMPARED = ("re_tau", "cf", "u_c_plus", "u_peak", "v_peak", "w_peak", "uw_peak", "production_peak")


@dataclass(frozen=True)
class Deviation:
    """Relative difference of a key figure from the published one, with the half width of its 95 % interval."""

    label: Markup
    value: float
    half_width: float

    @property
    def is_certain(self) -> bool:
        """Whether the interval leaves out 0."""
        return abs(self.value) > self.half_width

    @property
    def text(self) -> Markup:
        """For example `Re_tau +0.25 ± 0.20 %`."""
        percent = (100 * self.value, 100 * self.half_width)
        text = with_interval(*percent, " %", sign="+", may_be_zero=True, scale=100, plus_minus="±")
        return Markup("{} {}").format(self.label, text.replace("-", "−"))


def _label(figure: Figure) -> Markup:
    """The label of a key figure without its remarks."""
    return Markup(with_wall(plain_label(figure.key), figure.wall))


def deviations(results: Results) -> list[Deviation]:
    """Of the key figures, from the published simulation of this flow at this Reynolds number; none without one.

    A number that the case sets is left out.
    """
    published = results.published
    if published is None:
        return []
    keys = [key for key in _COMPARED if not results.is_set(key)]
    figures = [figure for key in keys if (figure := results.figure(key)) is not None]
    return [
        Deviation(_label(figure), figure.value / reference - 1, figure.half_width / abs(reference))
        for figure in figures
        if (reference := published.values.get(figure.key)) is not None
    ]


def unusual(results: Results) -> list[Markup]:
    """What is coarser, or smaller, than usual in DNS: the same measures as in the table of the resolution."""
    resolution, spectra = results.resolution, results.spectra
    assert resolution is not None
    rows = [
        ("Δx<sup>+</sup>", resolution.dx_plus, 12.0),
        ("Δy<sup>+</sup>", resolution.dy_plus, 6.0),
        ("the first cell centre z<sup>+</sup>", resolution.first_centre_plus, 0.5),
        ("Δz<sup>+</sup> at the wall", resolution.dz_wall_plus, 1.0),
    ]
    if not resolution.has_periods:  # far above an Ekman layer there is no turbulence to resolve
        rows.append(("the largest Δz<sup>+</sup>", resolution.dz_centre_plus, 7.0))
    boxes = [(axis, half_box(spectra, axis)) for axis in AXES] if spectra else []
    correlations = [
        Markup(
            "the correlation of the velocity ({}) at half the box along {} is {}, where at most ± {} is usual"
        ).format(box.quantity, axis, f"{box.value:+.2f}".replace("-", "−"), f"{LONG_ENOUGH:g}")
        for axis, box in boxes
        if box.is_too_short
    ]
    return correlations + [
        Markup("{} is {}, where at most {} is usual").format(
            Markup(label), f"{float(f'{value:.2g}'):g}", f"{largest:g}"
        )
        for label, value, largest in rows
        if value > largest
    ]


def _facts(results: Results, profiles: WallProfiles, resolution: Resolution, re_tau: Figure) -> dict[str, Any]:
    """What templates/verdicts.html makes its sentences of."""
    run, published, held, found = results.run, results.published, results.held, results.stationarity
    assert run.parameters is not None and run.blocks is not None and results.flow is not None
    residual, compared = results.residuals[0], deviations(results) if held is not None else []
    known, is_long = re_tau.half_width / re_tau.value, resolution.averaged >= resolution.long_enough
    is_certain = not residual.half_width >= CERTAIN_RESIDUAL  # also without an interval
    is_straight = residual.value < RESIDUAL_OF_PUBLISHED
    signs = found.signs("±") if found is not None else ""
    other_reynolds = None
    of_theirs = published.values.get(held.key) if published is not None and held is not None else None
    if held is not None and of_theirs is not None and abs(held.value / of_theirs - 1) > EQUAL_REYNOLDS:
        percent = f"{100 * (of_theirs / held.value - 1):+.1f} %".replace("-", "−")
        other_reynolds = (REYNOLDS[held.key], percent)
    measured = [
        (_label(replace(one, wall="")), f"{one.value:.{0 if one.value >= 1000 else 1}f}", one.wall)
        for one in (results.figure("re_b"), *results.friction_reynolds)
        if one is not None and not results.is_set(one.key)
    ]
    of_wall_stress = (100 * residual.value, 100 * residual.half_width)
    limits = {"re_tau": CONVERGED_RE_TAU, "residual": RESIDUAL_OF_PUBLISHED, "certain": CERTAIN_RESIDUAL}
    return {
        "flow_text": flow_text(run.parameters, results.flow, results.held),
        "measured": measured,
        "order": run.parameters.sampled.get(layout.SET_ORDER),
        "resolution": resolution,
        "time": Markup(f"{resolution.averaged:.2g} ") + resolution.unit,
        "averaged": Markup(f"{resolution.averaged:.3g} ") + resolution.unit + f" in {run.blocks.count_text}",
        "is_long": is_long,
        "re_tau": _label(re_tau),
        "known": width_text(100 * known),
        "is_known": np.isfinite(known),
        "is_converged": known < CONVERGED_RE_TAU and is_straight and is_certain and not signs and is_long,
        "is_straight": is_straight,
        "is_certain": is_certain,
        "turns": profiles.turns,
        "limits": {name: f"{100 * limit:g}" for name, limit in limits.items()},
        "residual_text": with_interval(*of_wall_stress, " %", may_be_zero=True, scale=100, plus_minus="±"),
        "residual_width": width_text(of_wall_stress[1]),
        "residual_percent": f"{of_wall_stress[0]:.2g}",
        "stationarity": found,
        "signs": signs,
        "allowed": found.no_signs("±").replace("-", "−") if found is not None else "",
        "deviations": compared,
        "published": published,
        "no_published": results.no_published or f"{NONE_KNOWN}.",
        "other_reynolds": other_reynolds,
        "unusual": unusual(results),
    }


def verdicts(results: Results) -> list[tuple[str, Markup]]:
    """Questions and answers; without profiles in wall units, only which flow it is."""
    profiles, resolution, re_tau = results.run.profiles, results.resolution, results.figure("re_tau")
    if profiles is None or resolution is None or not results.residuals or re_tau is None:
        text = flow_of_case(results.run.case_text)
        return [("Which flow?", Markup("{}.").format(text))] if text else []
    answers = environment.get_template("verdicts.html").make_module(_facts(results, profiles, resolution, re_tau))
    macros = {"Which flow?": "flow", "Converged?": "converged", "Stationary?": "stationary"}
    if not profiles.laminar:
        macros |= {"How far from published data?": "distance", "What limits it?": "what_limits"}
    found = {question: Markup(" ".join(getattr(answers, name)().split())) for question, name in macros.items()}
    if profiles.laminar:
        text = "The flow is laminar: its averages have no sampling error, so no intervals."
        found["Converged?"] = Markup(text)
    return list(found.items())
