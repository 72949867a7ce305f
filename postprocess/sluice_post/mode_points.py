"""Where samples of modes are taken, the weights of their inner product, and the transform along homogeneous directions.

The inner product of two samples is the sum over the components of the mean over the points of a conj(b).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sluice_post import layout
from sluice_post.array_space import ArraySpace
from sluice_post.arrays import Array
from sluice_post.errors import UsageError


def _is_even(points: Array) -> bool:
    steps = np.diff(points)
    return points.size > 1 and bool(np.allclose(steps, steps[0], rtol=1e-6, atol=0))


def _faces_of(centres: Array) -> Array:
    """The upper faces of cells, whose lowest face is at 0 unless their sizes are equal."""
    if _is_even(centres):
        return np.asarray(centres + (centres[1] - centres[0]) / 2)
    faces, below = np.empty_like(centres), 0.0
    for n, centre in enumerate(centres):
        faces[n] = below = 2 * centre - below
    return faces


def _centres_of(faces: Array) -> Array:
    if _is_even(faces):
        return np.asarray(faces - (faces[1] - faces[0]) / 2)
    return np.asarray((faces + np.append(0.0, faces[:-1])) / 2)


def _sizes_of(axis: str, centres: Array, faces: Array) -> Array:
    """Of the cells. An error if they differ, and the coordinates are not those of all cells from 0 on."""
    if _is_even(centres):
        return np.full(centres.size, centres[1] - centres[0])
    sizes = np.asarray(2 * (faces - centres))
    if np.any(sizes <= 0) or np.any(np.abs(np.diff(sizes)) > 0.75 * sizes[:-1]):
        raise UsageError(
            f"coordinates {axis}: are not those of all cells from the wall on, so the quadrature needs `weights`"
        )
    return sizes


class ModePoints:
    """The points of samples (component, *dims), where dims are those of z, y and x with several points, in this order.

    `coordinates`: of z, y, x at cell centres, and of z_face, y_face, x_face, upper faces; of each direction either
    suffices if the cells begin at 0 or have equal sizes. Components with the names u, v and w are at x_face, y_face and
    z_face. `weights`: of the inner product, for (component, *dims) or what is broadcast to that; default: the sizes
    of the cells. `homogeneous`: directions with equal cells over a whole period, along which samples are transformed.
    """

    def __init__(
        self,
        coordinates: Mapping[str, ArrayLike],
        components: Sequence[str],
        homogeneous: Sequence[str] = (),
        weights: ArrayLike | None = None,
    ) -> None:
        self.components: tuple[str, ...] = tuple(components)
        if not self.components or len(set(self.components)) < len(self.components):
            raise UsageError(f"components {', '.join(self.components)}: at least one, each once")
        self.coordinates: dict[str, Array] = {}
        self.dims: tuple[str, ...] = ()
        for axis in "zyx":
            self._add_axis(axis, coordinates)
        unknown = set(coordinates) - set(layout.PROBE_LINES)
        if unknown or not self.dims:
            raise UsageError(f"coordinates {', '.join(coordinates)}: there must be some of z, y, x, none else")
        self.homogeneous: tuple[str, ...] = tuple(axis for axis in self.dims if axis in homogeneous)
        self.wavenumbers: dict[str, Array] = self._find_wavenumbers(homogeneous)
        self.lead_shape: tuple[int, ...] = tuple(values.size for values in self.wavenumbers.values())
        self.rest: tuple[str, ...] = tuple(axis for axis in self.dims if axis not in self.homogeneous)
        self.shape: tuple[int, ...] = (len(self.components), *map(self._length, self.dims))
        self._weights: Array = self._find_weights(weights)

    def _length(self, axis: str) -> int:
        return int(self.coordinates[axis].size)

    def _add_axis(self, axis: str, given: Mapping[str, ArrayLike]) -> None:
        """Notes both coordinates of a direction with several points."""
        face = f"{axis}_face"
        found = {name: np.asarray(given[name], float) for name in (axis, face) if name in given}
        if not found or next(iter(found.values())).size < 2:
            return
        centres = found[axis] if axis in found else _centres_of(found[face])
        faces = found[face] if face in found else _faces_of(centres)
        if centres.ndim != 1 or centres.shape != faces.shape:
            raise UsageError(f"coordinates {axis}: need one dimension, and as many faces as centres")
        self.dims += (axis,)
        self.coordinates |= {axis: centres, face: faces}

    def _find_wavenumbers(self, asked: Sequence[str]) -> dict[str, Array]:
        """Along the last homogeneous direction those from 0 on: samples are real."""
        if missing := set(asked) - set(self.dims):
            raise UsageError(f"homogeneous {', '.join(sorted(missing))}: samples have only {', '.join(self.dims)}")
        found: dict[str, Array] = {}
        for axis in self.homogeneous:
            points = self.coordinates[axis]
            if not _is_even(points):
                raise UsageError(f"homogeneous {axis}: the points are not evenly spaced")
            of = np.fft.rfftfreq if axis == self.homogeneous[-1] else np.fft.fftfreq
            found[f"k{axis}"] = np.sort(2 * np.pi * of(points.size, points[1] - points[0]))
        return found

    def _find_weights(self, given: ArrayLike | None) -> Array:
        """For (component, *rest): means over homogeneous directions have no weights. Their sum is 1."""
        shape = (self.shape[0], *map(self._length, self.rest))
        if given is not None:
            whole = np.broadcast_to(np.asarray(given, float), self.shape)
            along = tuple(1 + self.dims.index(axis) for axis in self.homogeneous)
            found = np.sum(whole, axis=along) if along else whole.copy()
        else:
            found = np.ones(shape)
            for n, axis in enumerate(self.rest):
                of_cells = _sizes_of(axis, self.coordinates[axis], self.coordinates[f"{axis}_face"])
                of_faces = (of_cells + np.roll(of_cells, -1)) / 2  # the last one stands for both ends
                for c, name in enumerate(self.components):
                    on_face = layout.PROBE_FACES.get(name) == axis
                    shaped = [1] * len(self.rest)
                    shaped[n] = -1
                    found[c] *= (of_faces if on_face else of_cells).reshape(shaped)
        if not np.all(np.isfinite(found)) or not np.all(found > 0):
            raise UsageError("weights: must be positive and finite")
        return np.asarray(found / found.sum(axis=tuple(range(1, found.ndim)), keepdims=True))

    @property
    def count(self) -> int:
        """Pairs of wavenumbers, each with a decomposition of its own; 1 without homogeneous directions."""
        return int(np.prod(self.lead_shape))

    @property
    def size(self) -> int:
        """Values of each decomposition: (component, *rest)."""
        return int(self._weights.size)

    @property
    def is_complex(self) -> bool:
        """Whether prepared samples are."""
        return bool(self.homogeneous)

    def has_mean(self) -> NDArray[np.bool_]:
        """(count): wavenumber 0, at which alone homogeneous directions have a mean."""
        zero = np.ones(1, bool)
        for values in self.wavenumbers.values():
            zero = np.logical_and.outer(zero, values == 0).ravel()
        return zero

    def in_space(self, space: ArraySpace) -> PreparedPoints:
        """What prepares samples there."""
        return PreparedPoints(self, space)

    def _factors(self) -> NDArray[Any]:
        """(*lead, component, *rest): of the coefficients of a sample, so that their squares sum to its inner product.

        They are roots of weights, of 2 for wavenumbers whose conjugates are not stored, and the phases of faces.
        """
        axes = (*self.lead_shape, *self._weights.shape)
        found: NDArray[Any] = np.broadcast_to(np.sqrt(self._weights), axes).copy()
        if not self.homogeneous:
            return found
        found = found.astype(complex)
        for n, axis in enumerate(self.homogeneous):
            points = self.coordinates[axis]
            size, spacing = points.size, points[1] - points[0]
            along = [1] * len(axes)
            along[n] = -1
            k = self.wavenumbers[f"k{axis}"].reshape(along)
            first = np.array([spacing / 2 * (layout.PROBE_FACES.get(name) == axis) for name in self.components])
            of_components = first.reshape(-1, *[1] * len(self.rest))
            found *= np.exp(-1j * k * (points[0] + of_components)) / size
            if axis == self.homogeneous[-1]:
                twice = (np.arange(k.size) > 0) & (2 * np.arange(k.size) != size)
                found *= np.where(twice, np.sqrt(2), 1).reshape(along)
        return found

    def modes_of(self, vectors: NDArray[Any]) -> NDArray[Any]:
        """(..., count, size, rank) as (..., *lead, component, *rest, rank), without the weights, in place."""
        before, rank = vectors.shape[:-3], vectors.shape[-1]
        found = vectors.reshape(*before, *self.lead_shape, *self._weights.shape, rank)
        found /= np.sqrt(self._weights)[..., None]
        return found

    def mean_of(self, prepared: NDArray[Any]) -> Array:
        """(count, size) as (component, *rest): the mean over homogeneous directions."""
        found = np.real(prepared[self.has_mean()]).reshape(self._weights.shape) / np.sqrt(self._weights)
        return np.asarray(found)


class PreparedPoints:
    """Makes (count, size) of samples: weighted, transformed along homogeneous directions."""

    def __init__(self, points: ModePoints, space: ArraySpace) -> None:
        self._points, self._space = points, space
        self._factors = space.put(points._factors())

    def prepare(self, sample: Any) -> Any:
        """Of an array (component, *dims), (*dims) if there is one component, or a sequence of arrays (*dims)."""
        points, xp = self._points, self._space.xp
        values = self._space.zeros(points.shape, is_complex=False)
        if isinstance(sample, (list, tuple)):
            parts = list(sample)
        elif tuple(sample.shape) == points.shape[1:]:
            parts = [sample]
        else:
            parts = [sample[c, ...] for c in range(sample.shape[0])]
        shapes = {tuple(part.shape) for part in parts}
        if len(parts) != points.shape[0] or shapes != {points.shape[1:]}:
            raise UsageError(f"a sample must have the shape {points.shape}")
        for c, part in enumerate(parts):
            values[c, ...] = self._space.double(part)
        if not bool(xp.all(xp.isfinite(values))):
            raise UsageError("a sample has values that are not finite")
        for axis in reversed(points.homogeneous):
            along = 1 + points.dims.index(axis)
            if axis == points.homogeneous[-1]:
                values = xp.fft.rfft(values, axis=along)
            else:
                values = xp.fft.fftshift(xp.fft.fft(values, axis=along), axes=along)
        order = [1 + points.dims.index(axis) for axis in points.homogeneous]
        values = xp.moveaxis(values, order, list(range(len(order)))) if order else values
        return xp.reshape(values * self._factors, (points.count, points.size))
