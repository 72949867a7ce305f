"""A report in short: the flow, whether it converged and was stationary, published data beside it, what limits it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from markupsafe import Markup

from sluice_post import layout
from sluice_post.flow_words import REYNOLDS, flow_of_case, flow_text
from sluice_post.key_figures import Figure, plain_label
from sluice_post.literature import EQUAL_REYNOLDS, NONE_KNOWN
from sluice_post.printed import width_text, with_interval
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
    def text(self) -> Markup:
        """For example `Re_tau +0.25 ± 0.20 %`."""
        percent = (100 * self.value, 100 * self.half_width)
        text = with_interval(*percent, " %", sign="+", may_be_zero=True, scale=100, plus_minus="±")
        return Markup("{} {}").format(self.label, text.replace("-", "−"))


def _flow(results: Results) -> Markup:
    run = results.run
    assert run.parameters is not None and results.flow is not None
    text = Markup("{}").format(flow_text(run.parameters, results.flow, results.held))
    measured = [
        Markup("{} = {}{}").format(_label(replace(figure, wall="")), _digits(figure.value), _in_brackets(figure.wall))
        for figure in (results.figure("re_b"), *results.friction_reynolds)
        if figure is not None and not results.is_set(figure.key)
    ]
    if measured:
        text += Markup("; measured {}").format(Markup(", ").join(measured))
    if (order := run.parameters.sampled.get(layout.SET_ORDER)) is not None:
        text += f"; differences of order {order} along x and y and of order 2 along z"
    return text + "."


def _digits(reynolds: float) -> str:
    return f"{reynolds:.{0 if reynolds >= 1000 else 1}f}"


def _in_brackets(wall: str) -> str:
    return f" ({wall})" if wall else ""


def _label(figure: Figure) -> Markup:
    """The label of a key figure without its remarks."""
    return Markup(with_wall(plain_label(figure.key), figure.wall))


def _is_certain(residual: Figure) -> bool:
    """Whether the interval of the total-stress residual is narrow enough, if there is one."""
    return not residual.half_width >= CERTAIN_RESIDUAL


def _converged(results: Results) -> Markup:
    run, re_tau, residual = results.run, results.figure("re_tau"), results.residuals[0]
    assert run.blocks is not None and re_tau is not None and results.resolution is not None
    known = re_tau.half_width / re_tau.value
    resolution = results.resolution
    time = f"{resolution.averaged:.3g} "
    averaged = Markup(time) + resolution.unit + f" in {len(run.blocks)} blocks"
    if not np.isfinite(known):
        return Markup("Not known: {} are too few for intervals.").format(averaged)
    text = Markup(
        "{}. {} is known to ± {} % after {} (limit {} %), and the total stress differs from {} by "
        "{} of the wall stress (limits {} ± {} %; published simulations: 0.02 to 0.2 %)."
    )
    is_long = resolution.averaged >= resolution.long_enough
    if not is_long:
        text += Markup(" Intervals of less than {} tend to be too narrow.").format(resolution.long_enough_text)
    straight = residual.value < RESIDUAL_OF_PUBLISHED and _is_certain(residual) and not _signs(results)
    numbers = (
        *(width_text(100 * known), averaged, f"{100 * CONVERGED_RE_TAU:g}"),
        "its balance with the Coriolis force" if run.profiles and run.profiles.turns else "its straight line",
        with_interval(
            *(100 * residual.value, 100 * residual.half_width), " %", may_be_zero=True, scale=100, plus_minus="±"
        ),
        *(f"{100 * limit:g}" for limit in (RESIDUAL_OF_PUBLISHED, CERTAIN_RESIDUAL)),
    )
    return text.format(
        "Yes" if known < CONVERGED_RE_TAU and straight and is_long else "Not yet", _label(re_tau), *numbers
    )


def _signs(results: Results) -> Markup:
    """What shows that the flow was not stationary, if anything does."""
    found = results.stationarity
    return Markup("{}").format(found.signs("±")) if found is not None else Markup("")


def _stationary(results: Results) -> Markup:
    found = results.stationarity
    if found is None or found.is_empty:
        return Markup("Not known: nothing in this flow can be compared.")
    if not found.is_known:
        return Markup("Not known: there are too few blocks to compare the halves of the averaging time.")
    if signs := _signs(results):
        return Markup("No: {}; {}. Average from a later time on.").format(signs, found.conclusion)
    allowed = Markup("{}").format(found.no_signs("±")).replace("-", "−")
    time = results.resolution
    if time is not None and time.has_periods and time.averaged < time.long_enough:
        unknown = Markup("Not known: within {} {}, the oscillation of the mean flow cannot be told from a trend{}.")
        part = f"{time.averaged:.2g}"
        return unknown.format(part, time.unit, Markup("; {}").format(allowed) if allowed else "")
    return Markup("Nothing shows that it was not{}.").format(Markup(": {}").format(allowed) if allowed else "")


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


def _distance(results: Results, found: list[Deviation]) -> Markup:
    published, held = results.published, results.held
    if not found or published is None or held is None:
        return Markup("{}").format(results.no_published or f"{NONE_KNOWN}.")
    of_theirs = published.values.get(held.key)
    beside = Markup("{}, Re<sub>τ</sub> = {}").format(published.name, f"{published.re_tau:g}")
    if of_theirs is not None and abs(held.value / of_theirs - 1) > EQUAL_REYNOLDS:
        percent = f"{100 * (of_theirs / held.value - 1):+.1f} %".replace("-", "−")
        beside += Markup(", whose {} differs by {} from that of the case").format(REYNOLDS[held.key], percent)
    return beside + Markup(": ") + Markup(", ").join(deviation.text for deviation in found) + "."


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


def _joined(labels: list[Markup]) -> Markup:
    return Markup(" and ").join([Markup(", ").join(labels[:-1]), labels[-1]]) if len(labels) > 1 else labels[0]


def _limits(results: Results, found: list[Deviation]) -> Markup:
    coarse = unusual(results)
    beyond = [deviation.label for deviation in found if abs(deviation.value) > deviation.half_width]
    text = [Markup("The start of the averages: the flow had not settled.")] if _signs(results) else []
    text += [Markup("The grid or the box: {}.").format(Markup("; ").join(coarse))] if coarse else []
    resolution = results.resolution
    assert resolution is not None
    if resolution.averaged < resolution.long_enough:
        short = Markup("The averaging time is {} {}, but should be at least {}.")
        averaged = f"{resolution.averaged:.2g}"
        text.append(short.format(averaged, resolution.unit, resolution.long_enough_text))
    elif not _is_certain(residual := results.residuals[0]):
        wide = "The averaging time: the total-stress residual is known to ± {} % only (limit {} %)."
        width, limit = width_text(100 * residual.half_width), f"{100 * CERTAIN_RESIDUAL:g}"
        text.append(Markup(wide).format(width, limit))
    elif residual.value >= RESIDUAL_OF_PUBLISHED:
        large = "The averaging time: the total-stress residual is {} % (limit {} %)."
        text.append(Markup(large).format(f"{100 * residual.value:.2g}", f"{100 * RESIDUAL_OF_PUBLISHED:g}"))
    if beyond:
        verb = "differ" if len(beyond) > 1 else "differs"
        text.append(Markup("{} {} by more than the intervals.").format(_joined(beyond), verb))
    elif found:
        all_within = "all differences are within their intervals, which four times the time would halve."
        text.append(Markup("The averaging time: {}").format(all_within))
    if not coarse and (beyond or not found):
        text.append(
            Markup(
                "The resolution is as usual. A run on another grid shows how much is due to the grid (sluice-post "
                "refine); the box has an effect, too."
            )
        )
    return Markup(" ").join(text)


def verdicts(results: Results) -> list[tuple[str, Markup]]:
    """Questions and answers; without profiles in wall units, only which flow it is."""
    profiles = results.run.profiles
    if profiles is None or results.resolution is None or not results.residuals or results.figure("re_tau") is None:
        text = flow_of_case(results.run.case_text)
        return [("Which flow?", Markup("{}.").format(text))] if text else []
    if profiles.laminar:
        return [
            ("Which flow?", _flow(results)),
            ("Converged?", Markup("The flow is laminar: its averages have no sampling error, so no intervals.")),
            ("Stationary?", _stationary(results)),
        ]
    found = deviations(results)
    return [
        ("Which flow?", _flow(results)),
        ("Converged?", _converged(results)),
        ("Stationary?", _stationary(results)),
        ("How far from published data?", _distance(results, found)),
        ("What limits it?", _limits(results, found)),
    ]
