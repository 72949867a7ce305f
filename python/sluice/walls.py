"""Walls: their velocity, responses to the flow at every substep, and the planes of the flow that these read."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import StaleViewError, UsageError
from .field import checked_values, flow_dtype, is_on_gpu, wait_for

if TYPE_CHECKING:
    from .simulation import Simulation

Response = TypeVar("Response", bound=Callable[["Simulation"], object])

LOCATIONS = {"u": "x face", "v": "y face", "w": "z face"}


def _address_on_gpu(
    interface: Mapping[str, Any] | None, values: Any, shape: tuple[int, int], name: str, device_index: int
) -> int:
    """The address of an array in the memory of this process's GPU.

    Waits for the GPU unless the array is used in the default stream, in which Sluice works.
    """
    device = getattr(values, "__dlpack_device__", None)
    number = int(device()[1]) if device is not None else device_index
    if interface is not None:
        given, real = tuple(interface["shape"]), interface["typestr"] == flow_dtype().str
        rows = (shape[1] * flow_dtype().itemsize, flow_dtype().itemsize)
        strides = interface.get("strides")
        dense = strides is None or tuple(strides) == rows
        address = int(interface["data"][0])
        in_order = interface.get("version", 0) >= 3 and interface.get("stream") in (None, 1)
    else:
        address, given, real, dense, number = _core.from_dlpack(values)
        in_order = False
    if not real:
        raise TypeError(f"{name}: an array in the memory of a GPU must have the type {flow_dtype()}")
    if given != shape:
        raise ValueError(f"{name}: the values have the shape {given}, their place {shape}")
    if not dense:
        raise ValueError(f"{name}: an array in the memory of a GPU must be contiguous")
    if number != device_index:
        raise ValueError(f"{name}: the array is on GPU {number}, the simulation on GPU {device_index}")
    if not in_order:
        _core.synchronize()
    return address


def _address_of(session: _core.Session, values: Any, shape: tuple[int, int], name: str) -> tuple[int, bool, object]:
    """The address of contiguous values, whether it is in device memory, and what keeps the memory."""
    if _core.is_gpu:
        interface = getattr(values, "__cuda_array_interface__", None)
        if interface is not None or is_on_gpu(values):
            return _address_on_gpu(interface, values, shape, name, _core.device_index(session)), True, values
    whole = np.ascontiguousarray(np.broadcast_to(checked_values(values, shape, name), shape))
    return int(whole.ctypes.data), False, whole


class Plane:
    """A plane of the flow, with dimensions (y, x): the part of this process. Units of U for velocities.

    It is valid until the next step, or until the function ends in which it was asked for. `numpy.asarray(plane)` and
    `values` are host memory; `__dlpack__`, and on GPUs `__cuda_array_interface__`, are device memory, without a copy.
    """

    dims = ("y", "x")

    def __init__(self, session: _core.Session, name: str, location: str, plane: _core.DevicePlane) -> None:
        self._session = session
        self._generation = session.generation
        self._first = plane
        self._storage: object = None
        self.name = name
        self.location = location
        """Where in a cell the values are, as of a field."""

    def _plane(self) -> _core.DevicePlane:
        if self._session.closed or self._session.generation != self._generation:
            raise StaleViewError(f"this plane of {self.name} is of an earlier time: ask the simulation for it again")
        return self._first

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its values, as the precision of the flow."""
        return flow_dtype()

    @property
    def z(self) -> float:
        """The height of the plane in units of h: that of the grid that is nearest to the one asked for."""
        return self._first.z

    @property
    def coords(self) -> dict[str, npt.NDArray[np.float64]]:
        """Coordinates y and x of the values, in units of h."""
        return {"y": np.asarray(self._first.y), "x": np.asarray(self._first.x)}

    @property
    def shape(self) -> tuple[int, int]:
        """(ny, nx) of this process."""
        return self._first.shape

    @property
    def indices(self) -> dict[str, range]:
        """Along y and x, the indices of the values in the whole grid."""
        return {
            dim: range(begin, begin + size)
            for dim, begin, size in zip(self.dims, self._first.begin, self.shape, strict=True)
        }

    @property
    def values(self) -> npt.NDArray[Any]:
        """A read-only copy (ny, nx) in host memory."""
        return self._plane().values()

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        if copy is False:
            raise ValueError(f"{self.name}: a plane is copied; use DLPack for its memory")
        values = self.values
        return values.copy() if dtype is None else values.astype(dtype)

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        plane = self._plane()
        wait_for(stream)
        return plane.in_device_memory().__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        kind, number = self._plane().in_device_memory().__dlpack_device__()
        return int(kind), int(number)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The values in the memory of the GPU, read-only; on CPUs there is no such attribute."""
        if not _core.is_gpu:
            raise AttributeError("this build of Sluice runs on CPUs")
        address, self._storage = self._plane().device_address()
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": flow_dtype().str,
            "strides": None,
            "data": (address, True),
            "stream": 1,
        }

    def __repr__(self) -> str:
        return f"<sluice.Plane {self.name}: z {self.z:g}, shape {self.shape}, {self.location}>"


class WallVelocity(Plane):
    """One component of the velocity of a wall, with dimensions (y, x), in units of U: the part of this process.

    Assignment sets it: see `__setitem__`. Reading gives what was set, otherwise the present velocity of the wall, also
    after steps. Processes without the wall have a plane as well, which has no effect.
    """

    def __init__(self, session: _core.Session, side: str, component: str) -> None:
        self._side, self._component = side, component
        plane = _core.wall_velocity(session, side, component)
        super().__init__(session, f"{component} of the {side} wall", LOCATIONS[component], plane)

    def _plane(self) -> _core.DevicePlane:
        if self._session.closed:
            raise StaleViewError(f"the simulation of {self.name} is closed")
        return _core.wall_velocity(self._session, self._side, self._component)

    def __getitem__(self, key: Any) -> Any:
        """A copy of a part of the values."""
        return self.values.copy()[key]

    def __setitem__(self, key: Any, values: Any) -> None:
        """Sets the velocity of the wall, which stays until it is changed. Local.

        `values`: a number or an array with the shape of its place, real and finite. For all of the plane ([...] or
        [:]) also an array in the memory of the GPU, contiguous and of the type of the build, which is copied there.
        The wall has the velocity from the end of the next Runge-Kutta substep on; until then, fields, diagnostics and
        files are of the flow with the present one. `Simulation.project` takes it over at once, and so does what follows
        a change of u, v or w. If the mean of w differs between the walls, the next step raises UsageError on all
        processes. Raises UsageError at once if the case or a response sets the component.
        """
        session = self._session
        if session.closed:
            raise StaleViewError(f"the simulation of {self.name} is closed")
        _core.require_wall_can_be_set(session, self._side, self._component)
        is_whole = key is Ellipsis or (isinstance(key, slice) and key == slice(None))
        if not is_whole:
            whole = self.values.copy()
            whole[key] = checked_values(values, whole[key].shape, self.name)
            values = whole
        address, on_device, _storage = _address_of(session, values, self.shape, self.name)
        if not _core.set_wall_velocity(session, self._side, self._component, address, on_device):
            raise ValueError(f"{self.name}: a value is not finite")


class Wall:
    """A wall of a simulation: `sim.walls["bottom"]` or `sim.walls["top"]`."""

    def __init__(self, walls: Walls, name: str) -> None:
        self._walls = walls
        self.name = name

    @property
    def is_here(self) -> bool:
        """Whether this process has the wall; what others set or return has no effect."""
        return _core.wall_is_here(self._walls._session, self.name)

    def _velocity(self, component: str) -> WallVelocity:
        return WallVelocity(self._walls._session, self.name, component)

    def __setattr__(self, name: str, value: object) -> None:
        if name in LOCATIONS:
            raise AttributeError(f"set the values: sim.walls['{self.name}'].{name}[...] = ...")
        super().__setattr__(name, value)

    @property
    def u(self) -> WallVelocity:
        """Streamwise velocity of the wall, at x faces. UsageError for free-slip walls."""
        return self._velocity("u")

    @property
    def v(self) -> WallVelocity:
        """Spanwise velocity of the wall, at y faces. UsageError for free-slip walls."""
        return self._velocity("v")

    @property
    def w(self) -> WallVelocity:
        """Velocity through the wall along z, in the middle of the cells in x and y."""
        return self._velocity("w")

    def response(self, function: Any = ..., *, remove_mean: bool = False) -> Any:
        """Decorator of a function that sets w of the wall at the start of every Runge-Kutta substep. Collective.

        It is called with the simulation, whose fields are valid and may be read, also through `Simulation.plane`, and
        returns w as an array (ny, nx) of this process in host memory or in that of the GPU; processes without the wall
        may return None. Meanwhile `time` is that of the start of the step. The mean of w must be the same on both
        walls: `response(remove_mean=True)` subtracts the mean over the wall from what the function returns, without
        making a GPU wait as `mean` does. `response(None)` removes the function; w then keeps its values.

        If it raises an exception, also KeyboardInterrupt, or returns what is not allowed, the step is completed with
        the w that the wall has, then raises the exception. On other processes it raises UsageError.
        """
        if function is ...:
            return lambda given: self.response(given, remove_mean=remove_mean)
        if function is not None and not callable(function):
            raise TypeError(f"a response must be a function, not {function!r}")
        self._walls._set_response(self.name, function, remove_mean)
        return function

    def mean(self, plane: Any) -> float:
        """The mean over the wall of an array (ny, nx) of each process, in host memory or in that of the GPU.

        Collective. The same bits for any number of processes. The planes of processes without the wall do not count:
        they may be None.
        """
        session = self._walls._session
        shape = self._walls._shape
        if not self.is_here:
            return _core.wall_mean(session, self.name, 0, False)
        address, on_device, _storage = _address_of(session, plane, shape, "the plane")
        return _core.wall_mean(session, self.name, address, on_device)


class Walls(Mapping[str, Wall]):
    """The walls of a simulation, "bottom" and "top"; none in flows that are periodic in z."""

    def __init__(self, simulation: Simulation, session: _core.Session) -> None:
        self._simulation = weakref.ref(simulation)
        self._session = session
        self._names = _core.wall_names(session)
        self._shape = _core.plane_shape(session)
        self._responses: dict[str, Callable[[Simulation], object]] = {}
        self._failure: BaseException | None = None
        self._storage: dict[str, object] = {}

    def __getitem__(self, name: str) -> Wall:
        if self._session.closed:
            raise UsageError("the simulation is closed")
        if name not in self._names:
            raise UsageError(f"there is no wall {name!r}; there are: {', '.join(self._names) or 'none'}")
        return Wall(self, name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _set_response(self, name: str, function: Callable[[Simulation], object] | None, remove_mean: bool) -> None:
        if function is None:
            _core.set_response(self._session, name, None, False)
            self._responses.pop(name, None)
            return
        walls = weakref.ref(self)

        def call() -> tuple[int, bool] | None:
            found = walls()
            return None if found is None else found._respond(name)

        _core.set_response(self._session, name, call, remove_mean)
        self._responses[name] = function

    def _respond(self, name: str) -> tuple[int, bool] | None:
        """Calls the response of a wall. The memory at the address of w stays valid until the next call."""
        simulation = self._simulation()
        assert simulation is not None
        try:
            w = self._responses[name](simulation)
            if not _core.wall_is_here(self._session, name):
                return None
            if w is None:
                raise TypeError(f"the response of the {name} wall has returned None instead of w")
            shape = self._shape
            if not hasattr(w, "shape"):
                w = np.asarray(w)
            if tuple(w.shape) != shape:  # a number is meant for no wall
                raise ValueError(f"w of a response has the shape {tuple(w.shape)}, its place {shape}")
            address, on_device, self._storage[name] = _address_of(self._session, w, shape, "w of a response")
            return address, on_device
        except BaseException as error:
            self._failure = error
            raise UsageError(f"the response of the {name} wall has failed: {error!r}") from error

    def _step(self) -> None:
        """One step; raises what a response has raised in it."""
        self._failure = None
        try:
            self._session.step()
        except UsageError as error:
            cause = self._cause_of(error)
            if cause is error:
                raise
            raise cause from None

    def _cause_of(self, error: UsageError) -> BaseException:
        """What a response has raised in the step that ended with this error; otherwise the error itself."""
        failure, self._failure = self._failure, None
        return error if failure is None or _core.failed_elsewhere(self._session) else failure
