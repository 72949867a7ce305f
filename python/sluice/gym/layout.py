"""Patches of walls: from the values of patches to those of cells, and back."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ..errors import UsageError


class Layout:
    """Patches of equal size on a wall of (ny, nx) cells."""

    def __init__(self, cells: tuple[int, int], patches: tuple[int, int] | None) -> None:
        self.cells = cells
        self.patches = cells if patches is None else tuple(patches)
        if len(self.patches) != 2 or any(n < 1 or whole % n for n, whole in zip(self.patches, cells, strict=True)):
            raise UsageError(f"patches {self.patches} along y and x must divide the {cells} cells of a wall evenly")
        self.size = (cells[0] // self.patches[0], cells[1] // self.patches[1])
        """Cells of a patch along y and x."""

    def spread(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Values of patches (..., patches) as values of cells (..., ny, nx)."""
        return np.repeat(np.repeat(values, self.size[0], axis=-2), self.size[1], axis=-1)

    def average(self, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Means over patches of values of cells (..., ny, nx)."""
        if self.size == (1, 1):
            return values
        (ny, nx), (sy, sx) = self.patches, self.size
        mean: npt.NDArray[Any] = values.reshape(*values.shape[:-2], ny, sy, nx, sx).mean(axis=(-3, -1))
        return mean

    def window(self, values: npt.NDArray[Any], reach: int) -> npt.NDArray[Any]:
        """What each patch sees of values (channels, ny, nx) of cells or of patches: itself and `reach` patches around.

        The wall is periodic. Returns (patches along y, patches along x, channels, height, width).
        """
        ny, nx = self.patches
        sy, sx = values.shape[-2] // ny, values.shape[-1] // nx
        rows = (np.arange(ny)[:, None] * sy + np.arange(-reach * sy, (reach + 1) * sy)) % values.shape[-2]
        columns = (np.arange(nx)[:, None] * sx + np.arange(-reach * sx, (reach + 1) * sx)) % values.shape[-1]
        seen = values[:, rows[:, None, :, None], columns[None, :, None, :]]
        return np.moveaxis(seen, 0, 2)
