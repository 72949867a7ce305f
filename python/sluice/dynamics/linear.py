"""The Runge-Kutta step of Sluice in Python, and this step linearised about steady flows and orbits, with adjoints."""

from __future__ import annotations

import cmath
from collections.abc import Sequence
from math import isqrt

from ..errors import NumericsError, UsageError
from .matrices import Matrix
from .operators import Operators
from .recording import Recording
from .space import Array
from .symmetry import Symmetry

ALPHA = (8 / 15, 5 / 12, 3 / 4)
BETA = (0.0, -17 / 60, -5 / 12)
STARTS = (0.0, 8 / 15, 2 / 3)
"""The times at which the substeps start, as fractions of the step."""
_STEADY = (None, None, None)


def _step_length(operators: Operators, dt: float | None) -> float:
    dt = operators.case["time.dt"] if dt is None else dt
    if dt is None:
        raise UsageError("linearised steps have a fixed length: set time.dt of the case, or give dt")
    if not float(dt) > 0:
        raise UsageError(f"the length of a time step must be above 0, not {dt!r}")
    return float(dt)


def _inverse(symmetry: Symmetry) -> Symmetry:
    x, y, z = symmetry.x, symmetry.y, symmetry.z
    return Symmetry(x, y, z, (-x * symmetry.shift[0], -y * symmetry.shift[1]))


class _FixedStep:
    """A step of fixed length."""

    def __init__(self, operators: Operators, dt: float | None) -> None:
        self.operators = operators
        self.space = operators.space
        self._dt = _step_length(operators, dt)
        self._recording = Recording(self.space.xp)

    @property
    def dt(self) -> float:
        """The length of a step in units of h/U."""
        return self._dt


class NonlinearStep(_FixedStep):
    """The step of Sluice with explicit diffusion, eqs. (1) to (3) of docs/equations.md, computed in Python.

    It agrees with `Simulation.step` to round-off, but is slower. `dt`: the length of a step, by default time.dt of the
    case. Raises UsageError if there is neither.
    """

    def __init__(self, operators: Operators, dt: float | None = None) -> None:
        super().__init__(operators, dt)

    def substeps(self, u: Array) -> tuple[Array, Array, Array]:
        """The velocities after each of the three substeps of a step from u."""
        return self._recording.run(self._substeps, u)  # type: ignore[no-any-return]

    def _substeps(self, u: Array) -> tuple[Array, ...]:
        operators, previous, velocities = self.operators, None, []
        for alpha, beta in zip(ALPHA, BETA, strict=True):
            tendency = operators.tendency(u)
            u = u + self.dt * alpha * tendency
            if previous is not None:
                u += self.dt * beta * previous
            u = operators.projection.set_means(operators.projection.project(u))
            previous = tendency
            velocities.append(u)
        return tuple(velocities)

    def forward(self, u: Array, steps: int = 1) -> Array:
        """The total velocity after a number of steps."""
        for _ in range(steps):
            _, _, u = self.substeps(u)
        return u


class LinearMap(_FixedStep):
    """What steps linearised about a steady flow and about an orbit have in common.

    A step S takes the perturbation q over the time dt. It is the exact derivative of the nonlinear step, and its
    adjoint S+ the exact one in the energy inner product: <S q, r> = <q, S+ r> to round-off. Perturbations are
    solenoidal, with w = 0 on the walls, and have no mean along directions in which the forcing holds the bulk
    velocity; other vectors are first projected. Vectors may be complex.
    """

    def __init__(self, operators: Operators, dt: float | None) -> None:
        super().__init__(operators, dt)
        self._adjoint_recording = Recording(self.space.xp)

    def _tendency(self, base: Array, q: Array) -> Array:
        """R'(U) q. `base`: the base flow U at the beginning of the substep; None if it is steady."""
        raise NotImplementedError

    def _adjoint_tendency(self, base: Array, r: Array) -> Array:
        raise NotImplementedError

    def count(self, time: float) -> int:
        """The number of steps nearest to a time. Raises UsageError if it is 0."""
        steps = round(time / self.dt)
        if steps < 1:
            raise UsageError(f"a time of {time:g} is less than one step of {self.dt:g}")
        return steps

    def project(self, q: Array) -> Array:
        """The nearest perturbation: solenoidal, and without the means that the forcing holds."""
        return self.operators.projection.project_perturbation(q)

    def _step(self, q: Array, bases: Sequence[Array], forces: Sequence[Array] | None = None) -> Array:
        """One step. `bases`: the base flow at the beginning of each substep. `forces`: the force during each."""
        previous = None
        for substep, (alpha, beta) in enumerate(zip(ALPHA, BETA, strict=True)):
            tendency = self._tendency(bases[substep], q)
            if forces is not None:
                tendency = tendency + forces[substep]
            q = q + self.dt * alpha * tendency
            if previous is not None:
                q += self.dt * beta * previous
            q = self.project(q)
            previous = tendency
        return q

    def _adjoint_step(self, r: Array, bases: Sequence[Array]) -> tuple[Array, list[Array]]:
        """S+ r before its last projection; for each substep, the adjoint of the response to its force, applied to r."""
        carried: Array = None
        forces: list[Array] = []
        for substep in reversed(range(3)):
            r = self.project(r)
            tendency = self.dt * ALPHA[substep] * r
            if carried is not None:
                tendency += carried
            carried = self.dt * BETA[substep] * r
            forces.insert(0, tendency)
            r = r + self._adjoint_tendency(bases[substep], tendency)
        return r, forces


class LinearisedStep(LinearMap):
    """A step linearised about a steady flow, whose Jacobian is one sparse matrix.

    `base`: the total velocity, for example `FlowMap.laminar` or a steady state of `find_solution`. With `grid.velocity`
    it may be a travelling wave of this velocity. `dt`: as for NonlinearStep.

    `forward` differs from the exact evolution in time by O(dt^3): a mode exp(lambda t) is multiplied by
    exp(lambda dt) (1 + O((lambda dt)^4)) in a step.
    """

    def __init__(self, operators: Operators, base: Array, dt: float | None = None) -> None:
        super().__init__(operators, dt)
        self._jacobian = operators.jacobian(base)
        self._matrix = operators.to_device(self._jacobian)
        self._adjoint_matrix: Matrix = None
        self.residual = operators.norm(self.project(operators.tendency(base)))
        """The norm of du/dt at the base flow: 0 to round-off if it is steady."""

    def _tendency(self, base: Array, q: Array) -> Array:
        return self.operators.times(self._matrix, q)

    def _adjoint_tendency(self, base: Array, r: Array) -> Array:
        if self._adjoint_matrix is None:
            self._adjoint_matrix = self.operators.to_device(self.operators.adjoint_of(self._jacobian))
        return self.operators.times(self._adjoint_matrix, r)

    def forward(self, q: Array, steps: int = 1) -> Array:
        """S^steps q"""
        q = self.project(q)
        for _ in range(steps):
            q = self._recording.run(lambda q: self._step(q, _STEADY), q)
        return q

    def adjoint(self, r: Array, steps: int = 1) -> Array:
        """(S+)^steps r"""
        for _ in range(steps):
            r = self._adjoint_recording.run(lambda r: self._adjoint_step(r, _STEADY)[0], r)
        return self.project(r)

    def forced(self, f: Array, frequency: float = 0.0) -> Array:
        """B f: one step from 0 under the force f exp(i frequency t) per mass, t = 0 at its beginning.

        The force is evaluated at the beginning of each substep, as formulas of `Simulation.add_force` are.
        """
        return self._step(self.space.xp.zeros_like(f), _STEADY, [factor * f for factor in self._factors(frequency)])

    def forced_adjoint(self, r: Array, frequency: float = 0.0) -> tuple[Array, Array]:
        """S+ r and B+ r."""
        r, forces = self._adjoint_step(r, _STEADY)
        factors = self._factors(frequency)
        force = sum(factor.conjugate() * part for factor, part in zip(factors, forces, strict=True))
        return self.project(r), self.project(force)

    def _factors(self, frequency: float) -> list[complex] | list[float]:
        if frequency == 0:
            return [1.0, 1.0, 1.0]
        return [cmath.exp(1j * frequency * start * self.dt) for start in STARTS]


class LinearisedOrbit(LinearMap):
    """Steps linearised about a flow that depends on time, such as a periodic orbit.

    `start`: the total velocity at the beginning. `steps`: the number of steps of the orbit, which this class computes
    with NonlinearStep. `return_by`: a symmetry that is applied after the last step, where the orbit returns to an image
    of itself. `memory`: in bytes, for velocities of the base flow; parts that do not fit are recomputed when they are
    needed, from stored states in between. On a GPU, the recorded steps need memory besides, for intermediate results.
    `dt`: as for NonlinearStep.

    Raises NumericsError if the flow blows up.
    """

    def __init__(
        self,
        operators: Operators,
        start: Array,
        steps: int,
        dt: float | None = None,
        *,
        return_by: Symmetry | None = None,
        memory: float = 1e9,
    ) -> None:
        super().__init__(operators, dt)
        if steps < 1:
            raise UsageError(f"an orbit has at least one step, not {steps!r}")
        self.steps = steps
        """The number of steps of the whole orbit."""
        self.return_by = return_by
        self._nonlinear = NonlinearStep(operators, self.dt)
        vectors = int(memory / (8 * self.space.size))
        # 3 interval + steps/interval vectors are kept
        self._interval = steps if 3 * steps < vectors else min(steps, max(1, isqrt(steps // 3)))
        self._states = []
        u = start
        for step in range(steps):
            if step % self._interval == 0:
                self._states.append(u)
            u = self._nonlinear.forward(u)
        if not bool(self.space.xp.isfinite(u).all()):
            raise NumericsError("the base flow of the linearised steps blows up: use a smaller dt")
        self.end = u if return_by is None else self.space.apply(return_by, u)
        """The total velocity after the last step, with `return_by` applied: `start` again for a periodic orbit."""
        self._segment = -1
        self._velocities: list[Array] = []

    def _bases(self, step: int) -> list[Array]:
        """The base flow at the beginning of each substep."""
        segment, place = divmod(step, self._interval)
        if segment != self._segment:
            u = self._states[segment]
            self._velocities = []
            for _ in range(min(self._interval, self.steps - segment * self._interval)):
                one, two, end = self._nonlinear.substeps(u)
                self._velocities += [u, one, two]
                u = end
            self._segment = segment
        return self._velocities[3 * place : 3 * place + 3]

    def _tendency(self, base: Array, q: Array) -> Array:
        return self.operators.perturbation_tendency(self.operators.base(base), q)

    def _adjoint_tendency(self, base: Array, r: Array) -> Array:
        return self.operators.adjoint_tendency(self.operators.base(base), r)

    def _checked(self, steps: int | None) -> int:
        if steps is None:
            return self.steps
        if not 0 <= steps <= self.steps:
            raise UsageError(f"the orbit has {self.steps} steps, not {steps!r}")
        return steps

    def forward(self, q: Array, steps: int | None = None) -> Array:
        """What a perturbation q of the start becomes after `steps` steps or, with `return_by`, the whole orbit."""
        steps = self._checked(steps)
        q = self.project(q)
        for step in range(steps):
            q = self._recording.run(lambda q, *bases: self._step(q, bases), q, *self._bases(step))
        if self.return_by is not None and steps == self.steps:
            q = self.space.apply(self.return_by, q)
        return q

    def adjoint(self, r: Array, steps: int | None = None) -> Array:
        """The adjoint of `forward` with as many steps."""
        steps = self._checked(steps)
        if self.return_by is not None and steps == self.steps:
            r = self.space.apply(_inverse(self.return_by), r)
        for step in reversed(range(steps)):
            r = self._adjoint_recording.run(lambda r, *bases: self._adjoint_step(r, bases)[0], r, *self._bases(step))
        return self.project(r)
