"""Spectra of scalars along x and y and cospectra of their wall-normal flux, in wall units.

As those of the velocity (spectra.py): the sum over the modes is the variance of Theta = (c_w - c)/c_tau, `cc`, or its
flux -<w' Theta'>, `minus_wc`, which is positive next to a wall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import xarray as xr

from sluice_post import layout
from sluice_post.datasets.variables import Variables
from sluice_post.parameters import FlowParameters
from sluice_post.scalar_budgets import seen_from_wall
from sluice_post.scalar_numbers import EvaluatedScalar
from sluice_post.scalar_profiles import parity_of, scalar_view
from sluice_post.scalars import Scalar
from sluice_post.spectra import AXES, EvaluatedSpectra, SpectraAtHeights, WallSpectra, at_heights
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import intervals


@dataclass(frozen=True)
class EvaluatedScalarSpectra(SpectraAtHeights):
    """Spectra of a scalar. `name` and `title`: as those of EvaluatedScalar."""

    name: str
    title: str

    @cached_property
    def dataset(self) -> xr.Dataset:
        """`cc_kx` (z, kx), `minus_wc_kx` (z_face, kx), ...: energy of each mode; `cc_kx_at` (height, kx)."""
        found: xr.Dataset = super().dataset.assign_attrs(name=self.name)
        return found


def wall_scalar_spectra(means: Means, parameters: FlowParameters, scalar: Scalar, side: str) -> WallSpectra:
    """Spectra over the whole height in wall units. `side`: one of scalar_profiles.sides_of."""
    view = scalar_view(means, parameters, scalar, side)
    u_tau = view.flow.u_tau
    c_tau, parity = view.wall_flux / u_tau, parity_of(scalar, view.flow.symmetry, parameters)
    variance = view.moments["cc"] - view.moments["c"] ** 2
    energy = {}
    for axis in AXES:
        square, flux = (
            means.scalars[layout.SPECTRUM.format(f"{scalar.name}{ending}", axis)] for ending in layout.SCALAR_SPECTRA
        )
        square = seen_from_wall("cc", square, view, parity)
        square[:, 0] = variance - square[:, 1:].sum(axis=1)  # less the square of the mean
        energy["cc", axis] = square / c_tau**2
        energy["minus_wc", axis] = seen_from_wall("wc", flux, view, parity) / (c_tau * u_tau)
    return WallSpectra(view.flow, energy)


def _without_spectra_of_the_flow(blocks: Blocks) -> Blocks:
    """Which are large, and are not needed."""
    centre, face = (
        {name: values for name, values in arrays.items() if values.ndim == 2} for arrays in (blocks.centre, blocks.face)
    )
    return replace(blocks, centre=centre, face=face, planes={}, planes_z={})


def evaluate_scalar_spectra(
    of_flow: EvaluatedSpectra, parameters: FlowParameters, scalars: Sequence[EvaluatedScalar]
) -> list[EvaluatedScalarSpectra]:
    """Spectra of these scalars, if the run took them, with intervals at the heights of those of the flow."""
    blocks, evaluated = _without_spectra_of_the_flow(of_flow.blocks), []
    for seen in scalars:
        scalar, side = seen.profiles.scalar, seen.profiles.side
        taken = layout.SPECTRUM.format(f"{scalar.name}{layout.SCALAR_SPECTRA[0]}", "x")
        if taken not in blocks.scalars or seen.profiles.constant:
            continue

        def variables_of(means: Means, scalar: Scalar = scalar, side: str = side) -> Variables:
            return at_heights(wall_scalar_spectra(means, parameters, scalar, side), of_flow.heights)

        found = wall_scalar_spectra(blocks.means(), parameters, scalar, side)
        chosen, names = (of_flow.heights, of_flow.names), (seen.name, seen.title)
        evaluated.append(EvaluatedScalarSpectra(intervals(variables_of, blocks), found, *chosen, *names))
    return evaluated
