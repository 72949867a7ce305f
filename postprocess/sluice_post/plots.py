"""The figures of a run, one panel each, drawn into axes that are given or into the current ones."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import inf

import numpy as np
import xarray as xr
from matplotlib.axes import Axes

from sluice_post import (
    budget_figures,
    compare_profiles,
    density_figures,
    derived_figures,
    figures,
    figures_run,
    joint_figures,
    phase_figures,
    probe_figures,
    scalar_figures,
    scalar_spectra_figures,
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
from sluice_post.timeseries import re_tau_last_third


def current_axes(ax: Axes | None) -> Axes:
    """These axes, or those of pyplot."""
    if ax is not None:
        return ax
    from matplotlib import pyplot  # only here: it may need a display

    return pyplot.gca()


@contextmanager
def shared_axes(ax: Axes | None) -> Iterator[Axes]:
    """These axes, or those of pyplot. What they show already stays in view."""
    axes = current_axes(ax)
    shown = (axes.get_xlim(), axes.get_ylim()) if axes.has_data() else None
    yield axes
    if shown is None:
        return
    for earlier, now, scale, set_limits in (
        (shown[0], axes.get_xlim(), axes.get_xscale(), axes.set_xlim),
        (shown[1], axes.get_ylim(), axes.get_yscale(), axes.set_ylim),
    ):
        low = min(now) if scale == "log" and min(earlier) <= 0 else min(*earlier, *now)
        set_limits(low, max(*earlier, *now))


def _number(height: float, z_plus: np.ndarray[tuple[int, ...], np.dtype[np.float64]], what: str) -> int:
    """The position of the height z+ that is nearest; inf is the last."""
    if not z_plus.size:
        raise UsageError(f"the run has no {what}; ask for them by heights in the case")
    return z_plus.size - 1 if height == inf else int(np.argmin(np.abs(z_plus - height)))


class RunPlots:
    """Figures of a run. Each method draws one panel into `ax`, default the current axes, and returns the axes.

    A panel with one quantity takes the next colour of the axes' cycle, so that several runs can be drawn into the same
    axes. In panels with several quantities, each has its own colour. Bands are 95 % intervals. Axes are in wall units
    unless their labels say otherwise. Heights are z+, of which the nearest that the run has is drawn.
    `sluice_post.style.figure_style()` gives the look of the figures of the commands.
    """

    def __init__(self, run: EvaluatedRun) -> None:
        self._run = run

    # Profiles.

    def mean_velocity(self, ax: Axes | None = None) -> Axes:
        """U+ against z+ with the law of the wall; a laminar flow with its exact profile."""
        with shared_axes(ax) as axes:
            return figures.mean_velocity(axes, self._run.wall_profiles, self._run.bands)

    def fluctuations(self, ax: Axes | None = None) -> Axes:
        """Root-mean-square velocities and pressure against z+."""
        return figures.fluctuations(current_axes(ax), self._run.wall_profiles, self._run.bands)

    def shear_stress(self, ax: Axes | None = None) -> Axes:
        """Viscous, Reynolds and total shear stress against z/h, and the line that the total must follow."""
        return figures.shear_stress(current_axes(ax), self._run.wall_profiles, self._run.bands)

    def stress_residual(self, ax: Axes | None = None) -> Axes:
        """The total shear stress less the line that it must follow, against z/h."""
        with shared_axes(ax) as axes:
            return figures.stress_residual(axes, self._run.wall_profiles, self._run.bands)

    def vorticity(self, ax: Axes | None = None) -> Axes:
        """Root-mean-square vorticity against z+."""
        return figures.vorticity(current_axes(ax), self._run.wall_profiles, self._run.bands)

    def skewness(self, ax: Axes | None = None) -> Axes:
        """Skewness of u, v and w against z+."""
        return figures.skewness(current_axes(ax), self._run.wall_profiles, self._run.bands)

    def flatness(self, ax: Axes | None = None) -> Axes:
        """Flatness of u, v and w against z+."""
        return figures.flatness(current_axes(ax), self._run.wall_profiles, self._run.bands)

    def comparison(self, quantity: str, reference: Reference, ax: Axes | None = None) -> Axes:
        """A profile such as U or u_rms against z+, and circles of published profiles (`run.compare(...).reference`)."""
        profiles, bands = self._run.wall_profiles, self._run.bands
        compare_profiles.common_quantities(profiles, reference, [quantity])
        with shared_axes(ax) as axes:
            return compare_profiles.comparison(axes, quantity, profiles, bands, reference)

    # Budgets and what is derived from them.

    def budget(self, stress: str = "k", ax: Axes | None = None) -> Axes:
        """The terms of the budget of k, uu, vv, ww or uw against z+."""
        return budget_figures.budget(current_axes(ax), self._run.evaluated_budgets, stress, {})

    def imbalance(self, stress: str = "k", ax: Axes | None = None) -> Axes:
        """The sum of all terms of a budget and the storage against z+."""
        with shared_axes(ax) as axes:
            return budget_figures.imbalance(axes, self._run.evaluated_budgets, stress, {})

    def enstrophy(self, ax: Axes | None = None) -> Axes:
        """Enstrophy and dissipation of k against z+."""
        return derived_figures.enstrophy(current_axes(ax), self._run.derived)

    def invariant_map(self, ax: Axes | None = None) -> Axes:
        """Lumley's triangle and the way through it from the wall to the centre."""
        return derived_figures.invariant_map(current_axes(ax), self._run.derived)

    def anisotropy(self, tensor: str = "stress", ax: Axes | None = None) -> Axes:
        """Components of the anisotropy of the stresses, or of their dissipation, against z+."""
        return derived_figures.anisotropy(current_axes(ax), self._run.derived, tensor)

    def kolmogorov_length(self, ax: Axes | None = None) -> Axes:
        """Kolmogorov's length against z+."""
        with shared_axes(ax) as axes:
            return derived_figures.kolmogorov_length(axes, self._run.derived)

    def cell_sizes(self, ax: Axes | None = None) -> Axes:
        """The size of the cells over Kolmogorov's length against z+."""
        return derived_figures.cell_sizes(current_axes(ax), self._run.derived)

    # Scalars, by the names of `run.scalars`.

    def scalar(self, name: str, panel: str = "mean", ax: Axes | None = None) -> Axes:
        """A figure of a scalar: mean, fluctuations, fluxes, turbulent_prandtl or correlations."""
        found, panels = self._run.evaluated_scalars, scalar_figures.PANELS
        if name not in found:
            raise UsageError(f"no scalar {name}; there are {', '.join(found) or 'none'}")
        if panel not in panels:
            raise UsageError(f"no figure {panel} of a scalar; one of {', '.join(panels)}")
        with shared_axes(ax) as axes:
            return panels[panel](axes, found[name])

    def scalar_budget(self, name: str, budget: str = "cc", ax: Axes | None = None) -> Axes:
        """The terms of the budget of a scalar's variance, cc, or of its fluxes uc or wc against z+."""
        return budget_figures.budget(current_axes(ax), self._scalar_budgets(name, budget), budget, {})

    def scalar_imbalance(self, name: str, budget: str = "cc", ax: Axes | None = None) -> Axes:
        """The sum of all terms of a budget of a scalar and the storage against z+."""
        with shared_axes(ax) as axes:
            return budget_figures.imbalance(axes, self._scalar_budgets(name, budget), budget, {})

    def scalar_spectra_map(self, name: str, quantity: str = "cc", axis: str = "x", ax: Axes | None = None) -> Axes:
        """A premultiplied spectrum of a scalar, cc, or of its flux, minus_wc, over wavelength and height."""
        ax = current_axes(ax)
        spectra_figures.spectra_map(ax, self._scalar_spectra(name).found, quantity, axis)
        return ax

    def scalar_spectrum(self, name: str, quantity: str = "cc", axis: str = "x", ax: Axes | None = None) -> Axes:
        """A premultiplied spectrum of a scalar, cc, or of its flux, minus_wc, at the chosen heights."""
        spectra = self._scalar_spectra(name)
        return scalar_spectra_figures.spectrum(current_axes(ax), spectra, quantity, axis)

    def _scalar_spectra(self, name: str) -> EvaluatedScalarSpectra:
        found = self._run.evaluated_scalar_spectra
        if name not in found:
            raise UsageError(f"no spectra of a scalar {name}; there are those of {', '.join(found) or 'none'}")
        return found[name]

    def _scalar_budgets(self, name: str, budget: str) -> EvaluatedBudgets:
        found = self._run.evaluated_scalar_budgets
        if name not in found:
            raise UsageError(f"no budgets of a scalar {name}; there are those of {', '.join(found) or 'none'}")
        if budget not in found[name].found.budgets:
            raise UsageError(f"no budget {budget} of a scalar; one of {', '.join(found[name].found.budgets)}")
        return found[name]

    # Spectra. Quantities: uu, vv, ww, pp, minus_uw; axis: x or y.

    def spectra_map(self, quantity: str = "uu", axis: str = "x", ax: Axes | None = None) -> Axes:
        """A premultiplied spectrum over wavelength and height; contours at fractions of the maximum."""
        ax = current_axes(ax)
        spectra_figures.spectra_map(ax, self._run.evaluated_spectra.found, quantity, axis)
        return ax

    def spectrum(
        self, quantity: str = "uu", axis: str = "x", published: Published = (), ax: Axes | None = None
    ) -> Axes:
        """Spectral densities of uu, vv, ww or pp at the chosen heights over the wavenumber."""
        ax = current_axes(ax)
        spectra_figures.spectrum(ax, self._run.evaluated_spectra, quantity, axis, published)
        return ax

    def two_point_correlation(
        self, quantity: str = "uu", axis: str = "x", published: Published = (), ax: Axes | None = None
    ) -> Axes:
        """Correlation coefficients of uu, vv, ww or pp at the chosen heights over the separation."""
        ax = current_axes(ax)
        spectra_figures.two_point_correlation(ax, self._run.evaluated_spectra, quantity, axis, published)
        return ax

    def wall_spectrum(self, quantity: str = "tau_x", axis: str = "x", ax: Axes | None = None) -> Axes:
        """The premultiplied spectrum of tau_x, tau_y or p on the wall over the wavelength."""
        with shared_axes(ax) as axes:
            top = spectra_figures.wall_spectrum(axes, self._run.evaluated_spectra, quantity, axis)
            axes.set_ylim(0, 1.08 * top if top > 0 else 1)
            return axes

    def plane_map(self, height: float, quantity: str = "uu", ax: Axes | None = None) -> Axes:
        """The premultiplied spectrum over both wavelengths at the height nearest to z+ = `height`."""
        found, ax = self._run.evaluated_spectra.found, current_axes(ax)
        z_plus = found.planes["uu"].z_plus if found.planes else np.zeros(0)
        spectra_figures.plane_map(ax, found, quantity, _number(height, z_plus, "spectra in both directions"))
        return ax

    # Densities.

    def density(self, field: str = "u", ax: Axes | None = None) -> Axes:
        """Density of u', v', w' or p' over its standard deviation at the chosen heights."""
        return density_figures.fluctuation_density(current_axes(ax), self._run.evaluated_densities, field)

    def density_map(self, ax: Axes | None = None) -> Axes:
        """The density of u+ at each height."""
        ax = current_axes(ax)
        density_figures.density_map(ax, self._run.evaluated_densities)
        return ax

    def density_moment(self, moment: str = "skewness", ax: Axes | None = None) -> Axes:
        """Skewness or flatness of the histograms of u, v, w and p against z+."""
        return density_figures.moment_profile(current_axes(ax), self._run.evaluated_densities, moment)

    def wall_shear_density(self, name: str = "shear_x", ax: Axes | None = None) -> Axes:
        """Density of shear_x or shear_y over the mean wall shear."""
        with shared_axes(ax) as axes:
            return density_figures.wall_shear_density(axes, self._run.evaluated_densities, name)

    def wall_shear_joint(self, ax: Axes | None = None) -> Axes:
        """Joint density of both components of the wall shear."""
        return joint_figures.wall_shear_joint(current_axes(ax), self._run.evaluated_densities)

    def quadrant_contributions(self, ax: Axes | None = None) -> Axes:
        """What each quadrant contributes to -u'w' against z+."""
        return density_figures.quadrant_contributions(current_axes(ax), self._run.evaluated_densities)

    def quadrant_fractions(self, ax: Axes | None = None) -> Axes:
        """How much of the time the flow is in each quadrant, against z+."""
        return density_figures.quadrant_fractions(current_axes(ax), self._run.evaluated_densities)

    def holes(self, height: float, ax: Axes | None = None) -> Axes:
        """What each quadrant contributes outside holes of growing size, at the height nearest to z+ = `height`."""
        return density_figures.holes(current_axes(ax), self._run.evaluated_densities, self._joint(height))

    def joint_density(self, height: float, ax: Axes | None = None) -> Axes:
        """Joint density of u' and w' at the height nearest to z+ = `height`."""
        return joint_figures.joint_density(current_axes(ax), self._run.evaluated_densities, self._joint(height))

    def covariance_integrand(self, height: float, ax: Axes | None = None) -> Axes:
        """u'w'P(u', w') over its largest magnitude at the height nearest to z+ = `height`."""
        found = self._run.evaluated_densities
        return joint_figures.covariance_integrand(current_axes(ax), found, self._joint(height))

    def _joint(self, height: float) -> int:
        found = self._run.evaluated_densities.found
        return _number(height, found.plus(found.joint_z), "joint densities")

    # Averages by phase, in h and U.

    def phase_profiles(self, ax: Axes | None = None) -> Axes:
        """The velocity at up to 8 phases against z/h; dashed: the mean."""
        return phase_figures.profiles(current_axes(ax), self._run.evaluated_phases)

    def phase_wall_shear(self, ax: Axes | None = None) -> Axes:
        """The shear stress on both walls against the phase."""
        return phase_figures.wall_shear(current_axes(ax), self._run.evaluated_phases)

    def phase_bulk_velocity(self, ax: Axes | None = None) -> Axes:
        """The bulk velocity against the phase."""
        with shared_axes(ax) as axes:
            return phase_figures.bulk_velocity(axes, self._run.evaluated_phases)

    def phase_amplitude(self, ax: Axes | None = None) -> Axes:
        """The amplitude of the first harmonic of u and v against z/h."""
        return phase_figures.amplitude(current_axes(ax), self._run.evaluated_phases)

    def phase_lag(self, ax: Axes | None = None) -> Axes:
        """The phase at which the first harmonic of u and v is largest against z/h."""
        return phase_figures.lag(current_axes(ax), self._run.evaluated_phases)

    def phase_variances(self, ax: Axes | None = None) -> Axes:
        """The variances of u and v in their periodic part and their fluctuation against z/h."""
        return phase_figures.variances(current_axes(ax), self._run.evaluated_phases)

    # The run itself, and its probes, in h and U.

    def re_tau(self, ax: Axes | None = None) -> Axes:
        """Re_tau of each wall against time, and its mean over the last third of the run."""
        series = self._run.series
        return figures_run.re_tau_history(current_axes(ax), series, re_tau_last_third(series))

    def history(self, column: str = "bulk_velocity", ax: Axes | None = None) -> Axes:
        """bulk_velocity, kinetic_energy or forcing against time."""
        with shared_axes(ax) as axes:
            return figures_run.column_history(axes, self._run.series, column)

    def divergence(self, ax: Axes | None = None) -> Axes:
        """The largest |div u| against time."""
        with shared_axes(ax) as axes:
            return figures_run.divergence_history(axes, self._run.series)

    def time_step(self, ax: Axes | None = None) -> Axes:
        """The time step, and on a second ordinate the time step over its limit, against time."""
        return figures_run.time_step_history(current_axes(ax), self._run.series)

    def streaks(self, ax: Axes | None = None) -> Axes:
        """u less its plane mean on the slice nearest to z+ = 15, at the latest time, in wall units."""
        profiles, height = self._run.wall_profiles, self._run.parameters.size[2]
        plus = profiles.u_tau / profiles.viscosity
        plane, problems = latest_streak_slice(self._run.directory, height, plus)
        if plane is None:
            reason = "; ".join(problems) or "no slice of u parallel to the walls (output.slices)"
            raise InputOutputError(f"{self._run.directory}: {reason}")
        return figures_run.streaks(current_axes(ax), plane, height, plus, profiles.u_tau)

    def frequency_spectrum(
        self, probe: str, field: str = "u", segment: float | None = None, ax: Axes | None = None
    ) -> Axes:
        """The premultiplied frequency spectrum of a probe, a line for each height. `segment`: of time, for windows."""
        spectrum = frequency_spectrum(self._probe(probe), field, segment)
        with shared_axes(ax) as axes:
            return probe_figures.frequency_spectrum(axes, spectrum)

    def space_time_correlation(self, probe: str, field: str = "u", height: int = 0, ax: Axes | None = None) -> Axes:
        """The space-time correlation of a line along x at one of its heights, by number from 0."""
        ax = current_axes(ax)
        probe_figures.space_time_correlation(ax, convection(self._probe(probe), field, height))
        return ax

    def _probe(self, name: str) -> xr.Dataset:
        chosen = self._run.selection
        return equal_steps(read_probe(self._run.directory, name, chosen.begin, chosen.end))[0]
