"""95 % intervals of all profiles of a run."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sluice_post.parameters import FlowParameters
from sluice_post.profiles import WallProfiles, wall_profiles
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import degrees_of_freedom, half_width95, student_t95

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bands:
    """Half widths of the 95 % intervals of profiles at fixed z/h; none at all for a single block."""

    centre: dict[str, Array] = field(default_factory=dict)  # at cell centres: all profiles
    face: dict[str, Array] = field(default_factory=dict)  # at faces: those that live there
    per_standard_error: float = float("nan")

    def get(self, name: str) -> Array | None:
        """The half widths of a profile where it lives."""
        return self.face.get(name, self.centre.get(name))

    def standard_errors(self, profiles: WallProfiles) -> WallProfiles:
        """Profiles at cell centres whose values are the standard errors."""
        errors = {name: width / self.per_standard_error for name, width in self.centre.items()}
        return replace(profiles, centre=errors, face={})


def bands_of(blocks: Blocks, parameters: FlowParameters, side: str | None = None) -> Bands:
    """The intervals of all profiles that wall_profiles gives; none for a laminar flow."""
    if len(blocks) < 2 or not blocks.has_sampling_error:
        return Bands()

    def columns(profiles: WallProfiles) -> tuple[dict[str, Array], dict[str, Array]]:
        return profiles.centre | {name: profiles.at_centres(name) for name in profiles.face}, profiles.face

    def joined(means: Means) -> Array:
        centre, face = columns(wall_profiles(means, parameters, side))
        return np.concatenate([*centre.values(), *face.values()])

    centre, face = columns(wall_profiles(blocks.means(), parameters, side))
    ends = np.cumsum([len(values) for values in (*centre.values(), *face.values())])
    widths = np.split(half_width95(joined, blocks), ends[:-1])
    return Bands(
        dict(zip(centre, widths[: len(centre)], strict=True)),
        dict(zip(face, widths[len(centre) :], strict=True)),
        student_t95(degrees_of_freedom(len(blocks))),
    )
