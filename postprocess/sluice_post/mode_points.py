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


def _both_lines(axis: str, given: Mapping[str, ArrayLike]) -> dict[str, Array]:
    """The coordinates of centres and faces of a direction, if it has several points."""
    face = f"{axis}_face"
    found = {name: np.asarray(given[name], float) for name in (axis, face) if name in given}
    if not found or next(iter(found.values())).size < 2:
        return {}
    centres = found[axis] if axis in found else _centres_of(found[face])
    faces = found[face] if face in found else _faces_of(centres)
    if centres.ndim != 1 or centres.shape != faces.shape:
        raise UsageError(f"coordinates {axis}: need one dimension, and as many faces as centres")
    return {axis: centres, face: faces}


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
        self.coordinates: dict[str, Array] = {}  # both those of centres and of faces
        for axis in "zyx":
            self.coordinates |= _both_lines(axis, coordinates)
        self.dims: tuple[str, ...] = tuple(name for name in self.coordinates if name in "zyx")
        if set(coordinates) - set(layout.PROBE_LINES) or not self.dims:
            raise UsageError(f"coordinates {', '.join(coordinates)}: there must be some of z, y, x, none else")
        self.homogeneous: tuple[str, ...] = tuple(axis for axis in self.dims if axis in homogeneous)
        self.wavenumbers: dict[str, Array] = self._find_wavenumbers(homogeneous)
        self.lead_shape: tuple[int, ...] = tuple(values.size for values in self.wavenumbers.values())
        self.rest: tuple[str, ...] = tuple(axis for axis in self.dims if axis not in self.homogeneous)
        self.shape: tuple[int, ...] = (len(self.components), *(self.coordinates[axis].size for axis in self.dims))
        self._weights: Array = self._find_weights(weights)

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

    def _on_faces(self, axis: str) -> NDArray[np.bool_]:
        """Which components are on the faces across an axis."""
        return np.array([layout.PROBE_FACES.get(name) == axis for name in self.components])

    def _find_weights(self, given: ArrayLike | None) -> Array:
        """For (component, *rest): means over homogeneous directions have no weights. Their sum is 1."""
        if given is not None:
            whole = np.broadcast_to(np.asarray(given, float), self.shape)
            found = np.sum(whole, axis=tuple(1 + self.dims.index(axis) for axis in self.homogeneous))
        else:
            found = np.ones((self.shape[0], *(self.coordinates[axis].size for axis in self.rest)))
            for n, axis in enumerate(self.rest):
                of_cells = _sizes_of(axis, self.coordinates[axis], self.coordinates[f"{axis}_face"])
                of_faces = (of_cells + np.roll(of_cells, -1)) / 2  # the last one stands for both ends
                sizes = np.where(self._on_faces(axis)[:, None], of_faces, of_cells)
                found *= np.expand_dims(sizes, [1 + m for m in range(len(self.rest)) if m != n])
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

    def factors(self) -> NDArray[Any]:
        """(*lead, component, *rest): of the coefficients of a sample, so that their squares sum to its inner product.

        They are roots of weights, of 2 for wavenumbers whose conjugates are not stored, and the phases of faces.
        """
        axes = (*self.lead_shape, *self._weights.shape)
        found: NDArray[Any] = np.broadcast_to(np.sqrt(self._weights), axes).astype(
            complex if self.is_complex else float
        )
        for n, axis in enumerate(self.homogeneous):
            points = self.coordinates[axis]
            size, spacing = points.size, points[1] - points[0]
            k = self.wavenumbers[f"k{axis}"].reshape([-1 if m == n else 1 for m in range(len(axes))])
            first = points[0] + spacing / 2 * self._on_faces(axis)
            found *= np.exp(-1j * k * first.reshape(-1, *[1] * len(self.rest))) / size
            if axis == self.homogeneous[-1]:
                number = np.arange(k.size).reshape(k.shape)
                found *= np.where((number > 0) & (2 * number != size), np.sqrt(2), 1)
        return found

    def prepare(self, sample: Any, space: ArraySpace, factors: Any) -> Any:
        """(count, size) of a sample: weighted, transformed along homogeneous directions. `factors`: in the space.

        `sample`: an array (component, *dims), (*dims) if there is one component, or a sequence of arrays (*dims).
        """
        xp = space.xp
        values = space.zeros(self.shape, is_complex=False)
        if not isinstance(sample, (list, tuple)):
            one = tuple(sample.shape) == self.shape[1:]
            sample = [sample] if one else [sample[c, ...] for c in range(sample.shape[0])]
        if len(sample) != self.shape[0] or {tuple(part.shape) for part in sample} != {self.shape[1:]}:
            raise UsageError(f"a sample must have the shape {self.shape}")
        for c, part in enumerate(sample):
            values[c, ...] = space.double(part)
        if not bool(xp.all(xp.isfinite(values))):
            raise UsageError("a sample has values that are not finite")
        along = [1 + self.dims.index(axis) for axis in self.homogeneous]
        for n in along[::-1]:
            if n == along[-1]:
                values = xp.fft.rfft(values, axis=n)
            else:
                values = xp.fft.fftshift(xp.fft.fft(values, axis=n), axes=n)
        values = xp.moveaxis(values, along, list(range(len(along)))) if along else values
        return xp.reshape(values * factors, (self.count, self.size))

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
