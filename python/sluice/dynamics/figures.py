"""Figures of solutions: branches, spectra and projections of state space. They need Matplotlib.

Each function draws into given axes, or into new ones, and returns them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from .search import Solution
from .space import Array, Space

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def _axes(axes: Axes | None) -> Axes:
    if axes is not None:
        return axes
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(4.2, 3.4), layout="constrained")[1]


def draw_branch(
    solutions: Iterable[Solution],
    parameter: str,
    of: Callable[[Solution], float] = lambda one: one.drag,
    *,
    axes: Axes | None = None,
    label: str = "drag / laminar drag",
    **style: Any,
) -> Axes:
    """Plots a number of each solution, by default its drag, against a parameter. `style`: arguments of Axes.plot."""
    axes = _axes(axes)
    branch = list(solutions)
    axes.plot([one.parameter(parameter) for one in branch], [of(one) for one in branch], **{"marker": ".", **style})
    axes.set_xlabel(parameter)
    axes.set_ylabel(label)
    return axes


def draw_spectrum(values: npt.ArrayLike, *, axes: Axes | None = None, **style: Any) -> Axes:
    """Plots eigenvalues in the complex plane, with the line between decay and growth."""
    axes = _axes(axes)
    found = np.asarray(values, complex)
    axes.axvline(0, color="0.7", linewidth=0.8)
    axes.plot(found.real, found.imag, **{"linestyle": "none", "marker": "o", "markersize": 4, **style})
    axes.set_xlabel("growth rate")
    axes.set_ylabel("angular frequency")
    return axes


def projections(
    space: Space, states: Iterable[Array], directions: Sequence[Array], origin: Array
) -> npt.NDArray[np.float64]:
    """The projections <q - origin, e> of states q on directions e: an array (states, directions).

    The directions are first made orthonormal, in their order.
    """
    basis: list[Array] = []
    for direction in directions:
        rest = direction
        for one in basis:
            rest = rest - space.inner(one, rest) * one
        basis.append(rest / space.norm(rest))
    return np.array([[space.inner(one, state - origin) for one in basis] for state in states])


def draw_state_space(
    points: npt.ArrayLike, *, axes: Axes | None = None, names: tuple[str, str] = ("$a_1$", "$a_2$"), **style: Any
) -> Axes:
    """Plots a trajectory, or single states, by their first two projections. `points`: as `projections` returns them."""
    axes = _axes(axes)
    line = np.asarray(points)
    axes.plot(line[:, 0], line[:, 1], **style)
    axes.set_xlabel(names[0])
    axes.set_ylabel(names[1])
    return axes
