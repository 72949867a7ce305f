"""Values that are computed from the means of a run, by name, with the half widths of their 95 % intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sluice_post.arrays import Array
from sluice_post.datasets.variables import Variables, with_interval
from sluice_post.printed import with_interval as printed
from sluice_post.statistics import Blocks, Means
from sluice_post.uncertainty import half_widths95


@dataclass(frozen=True)
class EvaluatedValues:
    """Variables by name, and the half widths of their intervals; `bands` is empty for a single block.

    Variables with a description are those of datasets; tables show the others, too.
    """

    variables: Variables
    bands: dict[str, Array]

    @cached_property
    def values(self) -> dict[str, Array]:
        """The arrays of all variables."""
        return {name: values.values for name, values in self.variables.items()}

    def width(self, name: str) -> Array:
        """The half widths of a variable; NaN if they are not known."""
        return self.bands[name] if self.bands else np.full(self.values[name].shape, np.nan)

    def number(self, name: str, at: int | tuple[int, ...] = (), **options: Any) -> str:
        """One number of a variable with its interval; `options`: of printed.with_interval."""
        return printed(float(self.values[name][at]), float(self.width(name)[at]), **options)

    def described(self) -> Variables:
        """The variables that have a description, each with NAME_ci95 where it is known."""
        found = Variables()
        for name, values in self.variables.items():
            if about := values.attrs:
                description = about["long_name"], about["units"]
                dims = [str(dim) for dim in values.dims]
                found |= with_interval(name, dims, values.values, self.bands.get(name), description)
        return found


def with_bands(variables_of: Callable[[Means], Variables], blocks: Blocks) -> tuple[Variables, dict[str, Array]]:
    """What a function of the means gives, and the half widths of its intervals; none for a single block."""

    def values_of(means: Means) -> dict[str, Array]:
        return {name: values.values for name, values in variables_of(means).items()}

    return variables_of(blocks.means()), half_widths95(values_of, blocks) if len(blocks) > 1 else {}
