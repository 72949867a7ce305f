"""Spectra of scalars along x and y and cospectra of their wall-normal flux, in wall units.

As those of the velocity (spectra.py): the sum over the modes is the variance of Theta = (c_w - c)/c_tau, `cc`, or its
flux -<w' Theta'>, `minus_wc`, which is positive next to a wall.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.parameters import FlowParameters
from sluice_post.scalar_budgets import seen_from_wall
from sluice_post.scalar_numbers import EvaluatedScalar
from sluice_post.scalar_profiles import parity_of, scalar_view
from sluice_post.scalars import Scalar
from sluice_post.spectra import AXES, EvaluatedSpectra, WallSpectra
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import half_widths95

Energy = dict[tuple[str, str], Array]

QUANTITIES = ("cc", "minus_wc")


@dataclass(frozen=True)
class EvaluatedScalarSpectra:
    """Spectra of a scalar, (height, mode) at the chosen heights, and the half widths of their 95 % intervals.

    `bands` is empty for a single block. `name` and `title`: as those of EvaluatedScalar.
    """

    found: WallSpectra
    heights: tuple[float, ...]  # z+; inf is the centre
    names: tuple[str, ...]  # of the heights
    energy: Energy
    bands: Energy
    name: str
    title: str

    @property
    def z_plus(self) -> Array:
        """The heights in wall units."""
        return np.minimum(self.heights, self.found.reach_plus)


def wall_scalar_spectra(means: Means, parameters: FlowParameters, scalar: Scalar, side: str) -> WallSpectra:
    """Spectra over the whole height in wall units. `side`: one of scalar_profiles.sides_of."""
    view = scalar_view(means, parameters, scalar, side)
    flow, u_tau = view.flow.means, view.flow.u_tau
    c_tau, parity = view.wall_flux / u_tau, parity_of(scalar, view.flow.symmetry, parameters)
    variance = view.moments["cc"] - view.moments["c"] ** 2
    energy: Energy = {}
    for axis in AXES:
        square, flux = (
            means.scalars[layout.SPECTRUM.format(f"{scalar.name}{ending}", axis)] for ending in layout.SCALAR_SPECTRA
        )
        square = seen_from_wall("cc", square, view, parity)
        square[:, 0] = variance - square[:, 1:].sum(axis=1)  # less the square of the mean
        energy["cc", axis] = square / c_tau**2
        energy["minus_wc", axis] = seen_from_wall("wc", flux, view, parity) / (c_tau * u_tau)
    return WallSpectra(
        u_tau,
        parameters.viscosity,
        parameters.reach,
        dict(zip(AXES, parameters.size, strict=False)),
        dict(zip(AXES, parameters.cells, strict=False)),
        {"cc": flow.z, "minus_wc": flow.z_face},
        energy,
    )


def _without_spectra_of_the_flow(blocks: Blocks) -> Blocks:
    """Which are large, and are not needed."""

    def profiles(arrays: dict[str, Array]) -> dict[str, Array]:
        return {name: values for name, values in arrays.items() if values.ndim == 2}

    return replace(blocks, centre=profiles(blocks.centre), face=profiles(blocks.face), planes={}, planes_z={})


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

        def lines(means: Means, scalar: Scalar = scalar, side: str = side) -> dict[str, Array]:
            found = wall_scalar_spectra(means, parameters, scalar, side)
            z_plus = np.minimum(of_flow.heights, found.reach_plus)
            return {f"{name}:{axis}": found.at(name, axis, z_plus) for name, axis in found.energy}

        def energy(named: dict[str, Array]) -> Energy:
            keys = ((name, axis) for axis in AXES for name in QUANTITIES)
            return {key: named[":".join(key)] for key in keys if ":".join(key) in named}

        means = blocks.means()
        evaluated.append(
            EvaluatedScalarSpectra(
                wall_scalar_spectra(means, parameters, scalar, side),
                of_flow.heights,
                of_flow.names,
                energy(lines(means)),
                energy(half_widths95(lines, blocks) if len(blocks) > 1 else {}),
                seen.name,
                seen.title,
            )
        )
    return evaluated
