"""A linearised flow over a time, as an operator on vectors with symmetries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import LinearOperator

from ..errors import UsageError
from ..field import on_host
from .linear import LinearisedOrbit, LinearisedStep
from .space import Array, Space
from .symmetry import Symmetry

Step = LinearisedStep | LinearisedOrbit


class Propagator:
    """A number of linearised steps in the subspace of symmetries.

    Scaled vectors are x = weight^(1/2) q, with the Euclidean norm |q|.
    """

    def __init__(self, step: Step, time: float | None, symmetries: Sequence[Symmetry]) -> None:
        self._step, self._symmetries = step, symmetries
        self.space: Space = step.space
        if time is None:
            if not isinstance(step, LinearisedOrbit):
                raise UsageError("give the time of the map: modes about a steady flow are those of any time")
            self.steps = step.steps
        else:
            self.steps = step.count(time)
        self.time = self.steps * step.dt
        self._root = self.space.xp.sqrt(self.space.weights)

    def restrict(self, q: Array) -> Array:
        """The nearest vector that has the symmetries."""
        return self.space.symmetrize(self._symmetries, q)

    def scaled(self, q: Array) -> Array:
        """x = weight^(1/2) q"""
        return self._root * q

    def vector(self, x: Array) -> Array:
        """q = weight^(-1/2) x"""
        return self.space.xp.asarray(x) / self._root

    def forward(self, q: Array) -> Array:
        """The perturbation that q becomes."""
        return self.restrict(self._step.forward(self.restrict(q), self.steps))

    def adjoint(self, r: Array) -> Array:
        """The adjoint of `forward`."""
        return self.restrict(self._step.adjoint(self.restrict(r), self.steps))

    def unit(self, q: Array) -> Array:
        """A vector divided by its norm."""
        return q / self.space.xp.linalg.norm(self.scaled(q))

    def start(self, given: Array, seed: int) -> Array:
        """A projected vector to begin with, scaled to the norm 1."""
        start = self.space.random(seed) if given is None else self.space.xp.asarray(given)
        start = self.restrict(self._step.project(self.restrict(start)))
        length = self._step.operators.norm(start)
        if length == 0 or not np.isfinite(length):
            raise UsageError("the vector to start from has no part that is a perturbation with these symmetries")
        return start / length

    def on_host(self, apply: Callable[[Array], Array], kind: type) -> LinearOperator:
        """A function of vectors q as an operator of SciPy on scaled vectors of NumPy."""

        def product(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
            return on_host(self.scaled(apply(self.vector(np.ascontiguousarray(x).ravel()))))

        return LinearOperator((self.space.size, self.space.size), matvec=product, dtype=kind)
