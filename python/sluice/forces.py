"""Forces and sources of scalars that a script gives."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import UsageError
from .field import Field, flow_dtype, is_on_gpu

if TYPE_CHECKING:
    from .simulation import Simulation


class GivenArray:
    """The values of a component that an array gives: those of the cells of this process, (nz, ny, nx).

    `force.x[...] = array` replaces them, from the next step on; `force.x[2:4] = 0` a part of them.
    """

    def __init__(self, component: _Component) -> None:
        self._component = component

    @property
    def shape(self) -> tuple[int, int, int]:
        """(nz, ny, nx) of the cells of this process."""
        return self._component.shape

    @property
    def values(self) -> npt.NDArray[Any]:
        """A copy of the values."""
        values: npt.NDArray[Any] = np.asarray(self._component.value)
        return values

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError("the values can only be copied")
        return self.values.astype(dtype or flow_dtype(), copy=False)

    def __getitem__(self, key: Any) -> Any:
        """A copy of a part of the values."""
        return self.values[key]

    def __setitem__(self, key: Any, values: Any) -> None:
        """Replaces values. Raises TypeError and ValueError as `Simulation.add_force`.

        An array on the GPU that replaces all values, `[...]`, is copied there.
        """
        if (key is Ellipsis or (isinstance(key, slice) and key == slice(None))) and np.ndim(values) > 0:
            self._component.set(values)
            return
        whole = self.values
        given = _host_array(values, self._component.name)
        if given.ndim > 0 and given.shape != whole[key].shape:
            raise ValueError(
                f"{self._component.name}: the values have the shape {given.shape}, their place {whole[key].shape}"
            )
        whole[key] = given
        self._component.set(whole)

    def __repr__(self) -> str:
        return f"<sluice.GivenArray {self._component.name}, shape {self.shape}>"


Value = str | float | GivenArray | None


class _Component:
    """One component of a force, or a source."""

    def __init__(self, given: _core.Given, number: int, name: str, field: Field) -> None:
        self._given = given
        self._gpu = _core.device_index(field._session)
        self._number = number
        self.name = name
        self.shape = field.shape

    @property
    def value(self) -> str | float | npt.NDArray[Any] | None:
        return self._given.value(self._number)

    def get(self) -> Value:
        if self._given.is_array(self._number):
            return GivenArray(self)
        value = self.value
        assert value is None or isinstance(value, str | float)
        return value

    def set(self, value: Any) -> None:
        if not self._given.acts:
            raise UsageError(f"{self.name} does not act any more: it was removed, or the simulation is closed")
        try:
            fault = self._set(value)
        except (ValueError, TypeError, UsageError) as error:
            if str(error).startswith(self.name):
                raise
            raise type(error)(f"{self.name}: {error}") from None
        if fault:
            raise ValueError(f"{self.name}: {fault}")

    def _set(self, value: Any) -> str:
        """Returns why the value cannot be used; empty if it can."""
        given, number = self._given, self._number
        if isinstance(value, GivenArray):
            value = value.values
        if value is None:
            given.set_none(number)
            return ""
        if isinstance(value, str):
            return given.set_formula(number, value)
        if isinstance(value, numbers.Real):
            return given.set_number(number, float(value))
        if is_on_gpu(value):
            return self._set_from_gpu(value)
        array = _host_array(value, self.name)
        self._require_shape(array.shape)
        return given.set_array(number, np.ascontiguousarray(array))

    def _set_from_gpu(self, value: Any) -> str:
        if not _core.is_gpu:
            raise TypeError("the array is on a GPU, but this build of Sluice runs on CPUs")
        about = getattr(value, "__cuda_array_interface__", None)
        if about is None:
            self._require_shape(tuple(value.shape))
            return self._given.set_array(self._number, value)
        self._require_shape(tuple(about["shape"]))
        if hasattr(value, "__dlpack_device__") and int(value.__dlpack_device__()[1]) != self._gpu:
            raise ValueError(f"the array is not on the GPU of the simulation, number {self._gpu}")
        dtype = np.dtype(about["typestr"])
        if dtype not in (np.float32, np.float64):
            raise TypeError(f"the array must have numbers of type float32 or float64, not {dtype}")
        _, ny, nx = self.shape
        size = dtype.itemsize
        plane, row, step = about.get("strides") or (ny * nx * size, nx * size, size)
        return self._given.set_memory(self._number, about["data"][0], (plane, row, step), dtype == np.float64)

    def _require_shape(self, shape: tuple[int, ...]) -> None:
        if tuple(shape) != self.shape:
            raise ValueError(f"the array has the shape {tuple(shape)}, the part of this process {self.shape}")


def _host_array(value: Any, name: str) -> npt.NDArray[Any]:
    array = np.asarray(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{name}: a formula, a number or an array of real numbers is needed, not {value!r:.60}")
    with np.errstate(over="ignore"):
        return array.astype(flow_dtype(), copy=False)


class Given:
    """A force or a source that acts until `remove` is called."""

    def __init__(self, make: Callable[[], _core.Given], every: int) -> None:
        if every < 1:
            raise ValueError(f"every={every}: the number of steps must be at least 1")
        self._given = make()
        self._every = every
        self._is_new = True

    @property
    def acts(self) -> bool:
        """Whether it still acts: it was not removed, and the simulation is open."""
        return self._given.acts

    def remove(self) -> None:
        """Ends it: the next step is without it. Call it on all processes."""
        self._given.remove()

    def _refresh(self, sim: Simulation) -> None:
        """Calls the update function if it is due, before a step."""
        if self._is_new or sim.step_number % self._every == 0:
            self._update(sim)
            self._is_new = False

    def _update(self, sim: Simulation) -> None:
        raise NotImplementedError

    def __setattr__(self, name: str, value: object) -> None:
        if not name.startswith("_") and not hasattr(type(self), name):
            raise AttributeError(f"a {type(self).__name__.lower()} has no {name}")
        super().__setattr__(name, value)


class Force(Given):
    """A force per mass, in units of U^2/h: made by `Simulation.add_force`.

    The components `x`, `y` and `z` are the text of a formula, a number, a GivenArray or None (no such component), and
    can be set to each of these, or an array, at any time between steps.
    """

    def __init__(
        self,
        session: _core.Session,
        components: Mapping[str, Any],
        update: Callable[[Simulation], Mapping[str, Any]] | None,
        every: int,
    ) -> None:
        super().__init__(lambda: _core.add_force(session), every)
        self._function = update
        self._components = {
            axis: _Component(self._given, number, f"force {axis}", Field(session, "uvw"[number]))
            for number, axis in enumerate("xyz")
        }
        try:
            for axis, value in components.items():
                self._components[axis].set(value)
        except BaseException:
            self.remove()
            raise

    @property
    def x(self) -> Value:
        """Along x; arrays are at the points of u (x faces)."""
        return self._components["x"].get()

    @x.setter
    def x(self, value: Any) -> None:
        self._components["x"].set(value)

    @property
    def y(self) -> Value:
        """Along y; arrays are at the points of v (y faces)."""
        return self._components["y"].get()

    @y.setter
    def y(self, value: Any) -> None:
        self._components["y"].set(value)

    @property
    def z(self) -> Value:
        """Along z; arrays are at the points of w (z faces)."""
        return self._components["z"].get()

    @z.setter
    def z(self, value: Any) -> None:
        self._components["z"].set(value)

    def _update(self, sim: Simulation) -> None:
        if self._function is None:
            return
        found = self._function(sim)
        if not isinstance(found, Mapping) or not set(found) <= set("xyz"):
            raise TypeError(f'update of a force must return a dict with keys "x", "y" and "z", not {found!r:.60}')
        for axis, value in found.items():
            self._components[axis].set(value)

    def __repr__(self) -> str:
        parts = ", ".join(f"{axis}={part.get()!r}" for axis, part in self._components.items())
        return f"<sluice.Force {parts}{'' if self.acts else ', removed'}>"


class Source(Given):
    """A source of a scalar, in units of C U/h: made by `Simulation.add_source`."""

    def __init__(
        self, session: _core.Session, scalar: str, value: Any, update: Callable[[Simulation], Any] | None, every: int
    ) -> None:
        super().__init__(lambda: _core.add_source(session, scalar), every)
        self._function = update
        self._scalar = scalar
        self._component = _Component(self._given, 0, f"source of {scalar}", Field(session, scalar))
        try:
            self._component.set(value)
        except BaseException:
            self.remove()
            raise

    @property
    def scalar(self) -> str:
        """The name of the scalar."""
        return self._scalar

    @property
    def value(self) -> Value:
        """The text of a formula, a number, a GivenArray (at cell centres) or None; can be set as those of a Force."""
        return self._component.get()

    @value.setter
    def value(self, value: Any) -> None:
        self._component.set(value)

    def _update(self, sim: Simulation) -> None:
        if self._function is not None:
            self._component.set(self._function(sim))

    def __repr__(self) -> str:
        return f"<sluice.Source of {self.scalar}: {self.value!r}{'' if self.acts else ', removed'}>"
