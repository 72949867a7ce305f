"""Quadrants of u' and w' as seen from a wall: what each contributes to <u'w'>, and the fraction of time in it.

Ejections are u' < 0 < w', in quadrant 2; sweeps, in quadrant 4, are w' < 0 < u'. Wallace, Eckelmann & Brodkey, J. Fluid
Mech. 54, 39 (1972); holes: Lu & Willmarth, J. Fluid Mech. 60, 481 (1973).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.datasets.variables import Variables, variable
from sluice_post.densities import WallDensities
from sluice_post.histograms import Joint, Moments, moments
from sluice_post.symmetry import sign_of

_SIGNS = {1: (1, 1), 2: (-1, 1), 3: (-1, -1), 4: (1, -1)}  # of u' and w'
_NUMBERS = {signs: quadrant for quadrant, signs in _SIGNS.items()}

HOLE_SIZES = np.arange(0, 20.5, 0.5)
JOINT_EDGES = np.arange(-8, 8.125, 0.25)  # of joint densities, in standard deviations; about the bins of a run
JOINT_MIDDLES = (JOINT_EDGES[1:] + JOINT_EDGES[:-1]) / 2
_PARTS = 4  # of a bin along each axis, for the borders of quadrants and holes


def quadrant_profiles(found: WallDensities) -> Variables:
    """On the faces up to the centre: -u'w' of each quadrant over u_tau^2 (`minus_uw_q1`), fraction (`fraction_q1`).

    `minus_uw_all`: of all quadrants.
    """
    profiles = Variables()
    for quadrant, (u, w) in _SIGNS.items():
        contributions, fractions = [], []
        for image in found.view.images:
            # The quadrant of the flow that is this one in an image of it.
            of_flow = _NUMBERS[u * sign_of("u", image), w * sign_of("w", image)]
            contribution, fraction = (
                found.from_wall(found.means.face[name.format(of_flow)], image)[: len(found.z("w"))]
                for name in (layout.QUADRANT_UW, layout.QUADRANT_FRACTION)
            )
            contributions.append(-sign_of("uw", image) * contribution / found.u_tau**2)
            fractions.append(fraction)
        mean, about = np.mean(contributions, axis=0), f"part of -<u'w'> from quadrant {quadrant}"
        profiles[f"minus_uw_q{quadrant}"] = variable("z_face", mean, about, "u_tau^2")
        about = f"fraction of time in quadrant {quadrant}"
        profiles[f"fraction_q{quadrant}"] = variable("z_face", np.mean(fractions, axis=0), about)
    total = np.sum([profiles[f"minus_uw_q{quadrant}"].values for quadrant in layout.QUADRANTS], axis=0)
    return profiles | {"minus_uw_all": variable("z_face", total, "-<u'w'> from all quadrants", "u_tau^2")}


def joint_moments(joints: Sequence[Joint]) -> tuple[Moments, Moments]:
    """Of both variables of averaged joint histograms."""
    first, second = (moments([joint.marginal(n) for joint in joints]) for n in (0, 1))
    return first, second


def standardized_density(joints: Sequence[Joint]) -> Array:
    """Joint density of both fluctuations over their standard deviations, on JOINT_EDGES along both axes."""
    of = joint_moments(joints)
    scaled = [joint.linear([1 / m.rms for m in of], [-m.mean / m.rms for m in of]) for joint in joints]
    return np.asarray(np.mean([joint.density((JOINT_EDGES, JOINT_EDGES)) for joint in scaled], axis=0))


def _parts_of_bins(joint: Joint, variable: int, mean: float) -> tuple[Array, NDArray[np.int64], Array]:
    """Equal parts of the bins, cut once more at the mean: their middles less the mean, their bins, their shares."""
    low, width, count = joint.low[variable], joint.width[variable], joint.counts.shape[variable]
    edges = np.sort(np.append(low + width / _PARTS * np.arange(count * _PARTS + 1), mean))
    middle = (edges[1:] + edges[:-1]) / 2
    bins = np.clip((middle - low) / width, 0, count - 1).astype(np.int64)
    return middle - mean, bins, np.diff(edges) / width


def outside_holes(joints: Sequence[Joint]) -> tuple[Array, Array]:
    """Outside |u'w'| = H u_rms w_rms: what each quadrant contributes to <u'w'>, and the fraction of time, (4, H).

    Points are spread evenly over their bins.
    """
    of_u, of_w = joint_moments(joints)
    scale = float(of_u.rms * of_w.rms)
    contribution, fraction = np.zeros((2, 4, len(HOLE_SIZES)))
    for joint in joints:
        u, u_bins, u_share = _parts_of_bins(joint, 0, float(of_u.mean))
        w, w_bins, w_share = _parts_of_bins(joint, 1, float(of_w.mean))
        product = np.outer(u, w)
        probability = joint.probability[np.ix_(u_bins, w_bins)] * np.outer(u_share, w_share)
        quadrant = np.where(u[:, None] > 0, np.where(w > 0, 0, 3), np.where(w > 0, 1, 2))
        hole = np.minimum(np.abs(product) / (HOLE_SIZES[1] * scale), len(HOLE_SIZES) - 1).astype(int)
        index = (quadrant * len(HOLE_SIZES) + hole).ravel()
        for sums, weights in ((contribution, product * probability), (fraction, probability)):
            binned = np.bincount(index, weights.ravel(), minlength=sums.size).reshape(sums.shape)
            sums += binned[:, ::-1].cumsum(axis=1)[:, ::-1] / len(joints)
    return contribution, fraction
