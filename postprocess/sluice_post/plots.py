"""The figures of a run, one panel each, drawn into axes that are given or into the current ones."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import inf
from typing import Any, TypeVar

import numpy as np
import xarray as xr
from matplotlib.axes import Axes
from matplotlib.contour import ContourSet

from sluice_post import (
    budget_figures,
    density_figures,
    derived_figures,
    deviations,
    figures,
    figures_run,
    joint_figures,
    phase_figures,
    probe_figures,
    scalar_figures,
    spectra_figures,
)
from sluice_post.budgets import EvaluatedBudgets
from sluice_post.convection import convection
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.evaluated_run import EvaluatedRun
from sluice_post.probes import equal_steps, frequency_spectrum, read_probe
from sluice_post.reference import Reference
from sluice_post.scalar_spectra import EvaluatedScalarSpectra
from sluice_post.slices import latest_streak_slice
from sluice_post.spectra_figures import Published
from sluice_post.style import RunStyle, legend_of_runs, of_run
from sluice_post.timeseries import re_tau_last_third

T = TypeVar("T")


def current_axes(ax: Axes | None) -> Axes:
    """These axes, or those of pyplot."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # only here: it may need a display

    return pyplot.gca()


@contextmanager
def shared_axes(axes: Axes) -> Iterator[None]:
    """What the axes show already stays in view."""
    shown = (axes.get_xlim(), axes.get_ylim()) if axes.has_data() else None
    if shown is not None:
        axes.autoscale(True)  # the limits set below, for an earlier run, would hide what is beyond them
    yield
    if shown is None:
        return
    for earlier, now, scale, set_limits in (
        (shown[0], axes.get_xlim(), axes.get_xscale(), axes.set_xlim),
        (shown[1], axes.get_ylim(), axes.get_yscale(), axes.set_ylim),
    ):
        low = min(now) if scale == "log" and min(earlier) <= 0 else min(*earlier, *now)
        set_limits(low, max(*earlier, *now))


def _panel(draw: Callable[..., object]) -> Callable[..., Axes]:
    """The method that draws what `draw` draws into axes that are given or current, in the style that is asked for."""

    @functools.wraps(draw)
    def drawn(
        self: RunPlots,
        *arguments: Any,
        ax: Axes | None = None,
        color: Any = None,
        label: str | None = None,
        linestyle: Any = None,
        **options: Any,
    ) -> Axes:
        if arguments and isinstance(arguments[-1], Axes):
            *arguments, ax = arguments  # type: ignore[assignment]
        axes, style = current_axes(ax), RunStyle(color, label, linestyle)
        before = set(axes.collections)
        with shared_axes(axes), of_run(style):
            draw(self, axes, *arguments, **options)
        if color is not None or linestyle is not None:
            _contours(axes, before, color, linestyle)
        legend_of_runs(axes, style)
        return axes

    own, named = inspect.signature(draw), inspect.Parameter.KEYWORD_ONLY
    parameters = [parameter for name, parameter in own.parameters.items() if name != "axes"]
    parameters += [inspect.Parameter(name, named, default=None) for name in ("ax", "color", "label", "linestyle")]
    drawn.__signature__ = own.replace(parameters=parameters, return_annotation="Axes")  # type: ignore[attr-defined]
    return drawn


def _of(draw: Callable[..., object], *sources: str, **arguments: str) -> Callable[..., Axes]:
    """The method that draws these attributes of the run by `draw`. `arguments`: those that follow, with defaults."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD

    @functools.wraps(draw)
    def drawn(self: RunPlots, axes: Axes, *given: Any, **named: Any) -> None:
        chosen = signature.bind(self, axes, *given, **named)
        chosen.apply_defaults()
        found = (operator.attrgetter(source)(self._run) for source in sources)
        draw(axes, *found, *chosen.args[2:])

    own = [inspect.Parameter(name, kind, default=default) for name, default in arguments.items()]
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in ("self", "axes")] + own)
    drawn.__signature__ = signature  # type: ignore[attr-defined]
    return _panel(drawn)


def _contours(axes: Axes, before: set[Any], color: Any, linestyle: Any) -> None:
    """Contour lines in this style, without the colours between them, which would hide those of another run."""
    for contours in [found for found in axes.collections if found not in before and isinstance(found, ContourSet)]:
        if contours.filled:
            contours.remove()
            continue
        if color is not None:
            contours.set(edgecolor=color)
        if linestyle is not None:
            contours.set(linestyle=linestyle)


def _number(height: float, z_plus: np.ndarray[tuple[int, ...], np.dtype[np.float64]], what: str) -> int:
    """The position of the height z+ that is nearest; inf is the last."""
    if not z_plus.size:
        raise UsageError(f"the run has no {what}; ask for them by heights in the case")
    return z_plus.size - 1 if height == inf else int(np.argmin(np.abs(z_plus - height)))


def _named(found: Mapping[str, T], name: str, otherwise: str) -> T:
    """One of these; else an error that says which there are."""
    if name not in found:
        raise UsageError(otherwise.format(name, ", ".join(found) or "none"))
    return found[name]


class RunPlots:
    """Figures of a run. Each method draws one panel into `ax`, default the current axes, and returns the axes.

    `ax` stands last or is named. Several runs can be drawn into the same axes, which keep in view what they show.
    All methods take `color`, `label` and `linestyle`. A panel with one quantity takes the next colour of the axes'
    cycle, or these. In panels with several quantities, each has its own colour, `linestyle` tells runs apart, and
    `label` adds an entry to the legend; with `color`, all lines have it, and quantities differ in style.

    Bands are 95 % intervals. Axes are in wall units unless their labels say otherwise. Heights are z+, of which the
    nearest that the run has is drawn. `sluice_post.style.figure_style()` gives the look of the figures of the commands.
    """

    def __init__(self, run: EvaluatedRun) -> None:
        self._run = run

    # Profiles.

    mean_velocity = _of(figures.mean_velocity, "wall_profiles")
    fluctuations = _of(figures.fluctuations, "wall_profiles")
    shear_stress = _of(figures.shear_stress, "wall_profiles")
    stress_residual = _of(figures.stress_residual, "wall_profiles")
    vorticity = _of(figures.vorticity, "wall_profiles")
    skewness = _of(figures.skewness, "wall_profiles")
    flatness = _of(figures.flatness, "wall_profiles")

    @_panel
    def comparison(self, axes: Axes, quantity: str, reference: Reference) -> None:
        """A profile such as U or u_rms against z+, and circles of published profiles (`run.compare(...).reference`)."""
        profiles = self._run.wall_profiles
        deviations.common_quantities(profiles, reference, [quantity])
        deviations.comparison(axes, quantity, profiles, reference)

    # Budgets and what is derived from them.

    @_panel
    def budget(self, axes: Axes, stress: str = "k", published: Mapping[str, Reference] | None = None) -> None:
        """The terms of the budget of k, uu, vv, ww or uw against z+, and circles of published budgets by name."""
        budget_figures.budget(axes, self._run.evaluated_budgets, stress, dict(published or {}))

    @_panel
    def imbalance(self, axes: Axes, stress: str = "k") -> None:
        """The sum of all terms of a budget and the storage against z+."""
        budget_figures.imbalance(axes, self._run.evaluated_budgets, stress, {})

    enstrophy = _of(derived_figures.enstrophy, "derived")
    invariant_map = _of(derived_figures.invariant_map, "derived")
    anisotropy = _of(derived_figures.anisotropy, "derived", tensor="stress")
    kolmogorov_length = _of(derived_figures.kolmogorov_length, "derived")
    cell_sizes = _of(derived_figures.cell_sizes, "derived")

    # Scalars, by the names of `run.scalars`.

    @_panel
    def scalar(self, axes: Axes, name: str, panel: str = "mean") -> None:
        """A figure of a scalar: mean, fluctuations, fluxes, turbulent_prandtl or correlations."""
        found = _named(self._run.evaluated_scalars, name, "no scalar {}; there are {}")
        _named(scalar_figures.PANELS, panel, "no figure {} of a scalar; one of {}")(axes, found)

    @_panel
    def scalar_budget(self, axes: Axes, name: str, budget: str = "cc") -> None:
        """The terms of the budget of a scalar's variance, cc, or of its fluxes uc or wc against z+."""
        budget_figures.budget(axes, self._scalar_budgets(name, budget), budget, {})

    @_panel
    def scalar_imbalance(self, axes: Axes, name: str, budget: str = "cc") -> None:
        """The sum of all terms of a budget of a scalar and the storage against z+."""
        budget_figures.imbalance(axes, self._scalar_budgets(name, budget), budget, {})

    @_panel
    def scalar_spectra_map(self, axes: Axes, name: str, quantity: str = "cc", axis: str = "x") -> None:
        """A premultiplied spectrum of a scalar, cc, or of its flux, minus_wc, over wavelength and height."""
        spectra_figures.spectra_map(axes, self._scalar_spectra(name).found, quantity, axis)

    @_panel
    def scalar_spectrum(self, axes: Axes, name: str, quantity: str = "cc", axis: str = "x") -> None:
        """A premultiplied spectrum of a scalar, cc, or of its flux, minus_wc, at the chosen heights."""
        spectra_figures.scalar_spectrum(axes, self._scalar_spectra(name), quantity, axis)

    def _scalar_spectra(self, name: str) -> EvaluatedScalarSpectra:
        spectra = self._run.evaluated_scalar_spectra
        return _named(spectra, name, "no spectra of a scalar {}; there are those of {}")

    def _scalar_budgets(self, name: str, budget: str) -> EvaluatedBudgets:
        budgets = self._run.evaluated_scalar_budgets
        found = _named(budgets, name, "no budgets of a scalar {}; there are those of {}")
        _named(found.found.budgets, budget, "no budget {} of a scalar; one of {}")
        return found

    # Spectra. Quantities: uu, vv, ww, pp, minus_uw; axis: x or y.

    @_panel
    def spectra_map(self, axes: Axes, quantity: str = "uu", axis: str = "x") -> None:
        """A premultiplied spectrum over wavelength and height; contours at fractions of the maximum."""
        spectra_figures.spectra_map(axes, self._run.evaluated_spectra.found, quantity, axis)

    @_panel
    def spectrum(self, axes: Axes, quantity: str = "uu", axis: str = "x", published: Published = ()) -> None:
        """Spectral densities of uu, vv, ww or pp at the chosen heights over the wavenumber."""
        spectra_figures.spectrum(axes, self._run.evaluated_spectra, quantity, axis, published)

    @_panel
    def two_point_correlation(
        self, axes: Axes, quantity: str = "uu", axis: str = "x", published: Published = ()
    ) -> None:
        """Correlation coefficients of uu, vv, ww or pp at the chosen heights over the separation."""
        spectra_figures.two_point_correlation(axes, self._run.evaluated_spectra, quantity, axis, published)

    @_panel
    def wall_spectrum(self, axes: Axes, quantity: str = "tau_x", axis: str = "x") -> None:
        """The premultiplied spectrum of tau_x, tau_y or p on the wall over the wavelength."""
        top = spectra_figures.wall_spectrum(axes, self._run.evaluated_spectra, quantity, axis)
        axes.set_ylim(0, 1.08 * top if top > 0 else 1)

    @_panel
    def plane_map(self, axes: Axes, height: float, quantity: str = "uu") -> None:
        """The premultiplied spectrum over both wavelengths at the height nearest to z+ = `height`."""
        found = self._run.evaluated_spectra.found
        z_plus = found.planes["uu"].z_plus if found.planes else np.zeros(0)
        spectra_figures.plane_map(axes, found, quantity, _number(height, z_plus, "spectra in both directions"))

    # Densities.

    density = _of(density_figures.fluctuation_density, "evaluated_densities", field="u")
    density_moment = _of(density_figures.moment_profile, "evaluated_densities", moment="skewness")
    wall_shear_density = _of(density_figures.wall_shear_density, "evaluated_densities", name="shear_x")
    wall_shear_joint = _of(joint_figures.wall_shear_joint, "evaluated_densities")
    quadrant_contributions = _of(density_figures.quadrant_contributions, "evaluated_densities")
    quadrant_fractions = _of(density_figures.quadrant_fractions, "evaluated_densities")

    @_panel
    def density_map(self, axes: Axes) -> None:
        """The density of u+ at each height."""
        density_figures.density_map(axes, self._run.evaluated_densities)

    @_panel
    def holes(self, axes: Axes, height: float) -> None:
        """What each quadrant contributes outside holes of growing size, at the height nearest to z+ = `height`."""
        density_figures.holes(axes, self._run.evaluated_densities, self._joint(height))

    @_panel
    def joint_density(self, axes: Axes, height: float) -> None:
        """Joint density of u' and w' at the height nearest to z+ = `height`."""
        joint_figures.joint_density(axes, self._run.evaluated_densities, self._joint(height))

    @_panel
    def covariance_integrand(self, axes: Axes, height: float) -> None:
        """u'w'P(u', w') over its largest magnitude at the height nearest to z+ = `height`."""
        joint_figures.covariance_integrand(axes, self._run.evaluated_densities, self._joint(height))

    def _joint(self, height: float) -> int:
        found = self._run.evaluated_densities.found
        return _number(height, found.plus(found.joint_z), "joint densities")

    # Averages by phase, in h and U.

    phase_profiles = _of(phase_figures.profiles, "evaluated_phases")
    phase_wall_shear = _of(phase_figures.wall_shear, "evaluated_phases")
    phase_bulk_velocity = _of(phase_figures.bulk_velocity, "evaluated_phases")
    phase_amplitude = _of(phase_figures.amplitude, "evaluated_phases")
    phase_lag = _of(phase_figures.lag, "evaluated_phases")
    phase_variances = _of(phase_figures.variances, "evaluated_phases")

    # The run itself, and its probes, in h and U.

    @_panel
    def re_tau(self, axes: Axes) -> None:
        """Re_tau of each wall against time, and its mean over the last third of the run."""
        series = self._run.series
        figures_run.re_tau_history(axes, series, re_tau_last_third(series))

    history = _of(figures_run.column_history, "series", column="bulk_velocity")
    divergence = _of(figures_run.divergence_history, "series")
    time_step = _of(figures_run.time_step_history, "series")

    @_panel
    def streaks(self, axes: Axes) -> None:
        """u less its plane mean on the slice nearest to z+ = 15, at the latest time, in wall units."""
        profiles, height = self._run.wall_profiles, self._run.parameters.size[2]
        plus = profiles.u_tau / profiles.viscosity
        plane, problems = latest_streak_slice(self._run.directory, height, plus)
        if plane is None:
            reason = "; ".join(problems) or "no slice of u parallel to the walls (output.slices)"
            raise InputOutputError(f"{self._run.directory}: {reason}")
        figures_run.streaks(axes, plane, height, plus, profiles.u_tau)

    @_panel
    def frequency_spectrum(self, axes: Axes, probe: str, field: str = "u", segment: float | None = None) -> None:
        """The premultiplied frequency spectrum of a probe, a line for each height. `segment`: of time, for windows."""
        probe_figures.frequency_spectrum(axes, frequency_spectrum(self._probe(probe), field, segment))

    @_panel
    def space_time_correlation(self, axes: Axes, probe: str, field: str = "u", height: int = 0) -> None:
        """The space-time correlation of a line along x at one of its heights, by number from 0."""
        probe_figures.space_time_correlation(axes, convection(self._probe(probe), field, height))

    def _probe(self, name: str) -> xr.Dataset:
        chosen = self._run.selection
        return equal_steps(read_probe(self._run.directory, name, chosen.begin, chosen.end))[0]


for _name, _method in vars(RunPlots).items():
    if not _name.startswith("_"):
        _method.__name__, _method.__qualname__ = _name, f"RunPlots.{_name}"
