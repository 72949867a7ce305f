"""Fields of a simulation, without copies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from . import _core
from .errors import StaleViewError

if TYPE_CHECKING:
    import xarray


def flow_dtype() -> np.dtype[Any]:
    """The type of the values of fields in this process."""
    return np.dtype(np.float64 if _core.precision == "double" else np.float32)


def on_host(values: Any) -> npt.NDArray[Any]:
    """Values as an array of NumPy, those of CuPy copied from the GPU."""
    on_gpu = hasattr(values, "__cuda_array_interface__") and hasattr(values, "get")
    return np.asarray(values.get() if on_gpu else values)


def checked_values(values: npt.ArrayLike, shape: tuple[int, ...], name: str) -> npt.NDArray[Any]:
    """Values for a place of this shape, of flow_dtype(). Raises TypeError unless real, ValueError for others."""
    given = np.asarray(values)
    if given.dtype.kind not in "fiu":
        raise TypeError(f"{name} holds real numbers ({flow_dtype()}), not {given.dtype}")
    if given.ndim > 0 and given.shape != shape:
        raise ValueError(f"{name}: the values have the shape {given.shape}, their place {shape}")
    with np.errstate(over="ignore"):
        given = given.astype(flow_dtype(), copy=False)
    if not np.isfinite(given).all():
        raise ValueError(f"{name}: a value is not finite")
    return given


class Part(np.ndarray[Any, Any]):
    """Values of a field, read-only: where they would be changed, the error says how to change the flow.

    Results of computations with them are plain arrays.
    """

    place = ""

    def __array_finalize__(self, source: Any) -> None:
        self.place = getattr(source, "place", "")

    def _require_writeable(self) -> None:
        if not self.flags.writeable:
            raise ValueError(
                f"the values of {self.place} are read-only; assign new ones: {self.place}[...] = {self.place}[...] + x"
            )

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        given = options.get("out", ())
        for array in given:
            if isinstance(array, Part):
                array._require_writeable()
        if given:
            options["out"] = tuple(_plain(array) for array in given)
        result = getattr(ufunc, method)(*(_plain(array) for array in inputs), **options)
        return given[0] if len(given) == 1 else result

    def __setitem__(self, key: Any, values: Any) -> None:
        self._require_writeable()
        super().__setitem__(key, values)


def _plain(array: Any) -> Any:
    return array.view(np.ndarray) if isinstance(array, Part) else array


def wait_for(stream: int | None) -> None:
    """Before an array is used in a stream of CUDA: waits for Sluice, which works in the legacy default stream.

    As DLPack has it: None and 1 are that stream, -1 asks for no waiting.
    """
    if _core.is_gpu and stream not in (None, -1, 1):
        _core.synchronize()


def is_on_gpu(values: object) -> bool:
    """Whether an array is in the memory of a GPU."""
    if hasattr(values, "__cuda_array_interface__"):
        return True
    device = getattr(values, "__dlpack_device__", None)
    return device is not None and int(device()[0]) in (2, 13)  # memory of a GPU, managed memory


class Field:
    """A field of the flow at the present time: the cells of this process, with dimensions (z, y, x).

    A field is valid until the next step. Afterwards its use raises StaleViewError: ask the simulation for it again.
    An array that was taken out of it earlier keeps its memory, which steps overwrite.

    `field[...] = values` changes the flow; see `__setitem__`.
    """

    dims = ("z", "y", "x")

    def __init__(self, session: _core.Session, name: str) -> None:
        self._session = session
        self._generation = session.generation
        self._about = session.describe(name)
        self._storage: object = None
        self.name = name
        """In case files and outputs: "u"."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its values, as the precision of the flow."""
        return flow_dtype()

    @property
    def long_name(self) -> str:
        """In words, with the reference scale: "streamwise velocity / U_b"."""
        return self._about["long_name"]

    @property
    def units(self) -> str:
        """ "1": all quantities are dimensionless."""
        return self._about["units"]

    @property
    def location(self) -> str:
        """Where in a cell the values are: "centre", "x face", "y face" or "z face".

        A face value belongs to the cell below it: u[k, j, i] is at x = (i + 1) dx.
        """
        return self._about["location"]

    @property
    def shape(self) -> tuple[int, int, int]:
        """(nz, ny, nx) of the cells of this process."""
        z, y, x = self.indices.values()
        return len(z), len(y), len(x)

    @property
    def indices(self) -> dict[str, range]:
        """Along z, y and x, the indices of the cells of this process in the whole grid."""
        return {
            dim: range(begin, end)
            for dim, begin, end in zip(self.dims, self._about["begin"], self._about["end"], strict=True)
        }

    @property
    def coords(self) -> dict[str, npt.NDArray[np.float64]]:
        """Coordinates z, y and x of the values, in units of h."""
        return {dim: np.asarray(line) for dim, line in zip(self.dims, self._about["coords"], strict=True)}

    @property
    def values(self) -> npt.NDArray[Any]:
        """The values as a read-only array (nz, ny, nx), without halo.

        On CPUs it is the memory of the simulation itself; on GPUs it is a copy in host memory.
        """
        self._require_valid()
        return self._session.values(self.name)

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        values = self.values
        if dtype is not None and np.dtype(dtype) != values.dtype:
            if copy is False:
                raise ValueError(f"{self.name} has the type {values.dtype}: as {np.dtype(dtype)} it is a copy")
            return values.astype(dtype)
        return values.copy() if copy else values

    def __getitem__(self, key: Any) -> Any:
        """A part of `values`."""
        values = self.values[key]
        if not isinstance(values, np.ndarray):
            return values
        part: Part = values.view(Part)
        part.place = f"sim.{self.name}" if self.name in ("u", "v", "w", "p") else f"sim.fields[{self.name!r}]"
        return part

    def __setitem__(self, key: Any, values: npt.ArrayLike) -> None:
        """Changes the flow. The next step makes the velocity divergence-free first; `Simulation.project` does it now.

        `values`: a number, or an array with the shape of the part that it replaces: real and finite. Raises TypeError
        for other types and ValueError for other shapes and values. Processes may change different parts. In GPU builds
        an array in the memory of the GPU is copied there, with CuPy.
        """
        self._require_valid()
        if _core.is_gpu and is_on_gpu(values):
            self._set_from_gpu(key, values)
            return
        whole = self._session.values_to_change(self.name)
        whole[key] = checked_values(values, whole[key].shape, self.name)
        self._session.accept_changes(self.name, whole)

    def _set_from_gpu(self, key: Any, values: Any) -> None:
        import cupy

        self._session.require_between_steps()
        given = cupy.asarray(values) if hasattr(values, "__cuda_array_interface__") else cupy.from_dlpack(values)
        whole = cupy.asarray(self)
        place = whole[key]
        if given.dtype.kind not in "fiu":
            raise TypeError(f"{self.name} holds real numbers ({flow_dtype()}), not {given.dtype}")
        if given.ndim > 0 and given.shape != place.shape:
            raise ValueError(f"{self.name}: the values have the shape {given.shape}, their place {place.shape}")
        given = given.astype(place.dtype, copy=False)
        if not cupy.isfinite(given).all():
            raise ValueError(f"{self.name}: a value is not finite")
        whole[key] = given
        cupy.cuda.get_current_stream().synchronize()  # Sluice works in the legacy default stream
        self._session.note_change(self.name)

    def __dlpack__(self, *, stream: int | None = None, **options: Any) -> Any:
        """The values in the memory of the simulation, on CPUs and GPUs. They must not be changed there."""
        self._require_valid()
        wait_for(stream)
        return self._session.in_device_memory(self.name).__dlpack__(**options)

    def __dlpack_device__(self) -> tuple[int, int]:
        self._require_valid()
        kind, number = self._session.in_device_memory(self.name).__dlpack_device__()
        return int(kind), int(number)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The values in the memory of the GPU, read-only; on CPUs there is no such attribute."""
        if not _core.is_gpu:
            raise AttributeError("this build of Sluice runs on CPUs")
        self._require_valid()
        address, plane, row, self._storage = self._session.device_address(self.name)
        return {
            "version": 3,
            "shape": self.shape,
            "typestr": flow_dtype().str,
            "strides": (plane, row, flow_dtype().itemsize),
            "data": (address, True),
        }

    def to_xarray(self) -> xarray.DataArray:
        """A copy with dimensions, coordinates, units and long name. Needs xarray."""
        values = self.values.copy()
        import xarray

        return xarray.DataArray(
            values,
            dims=self.dims,
            coords=self.coords,
            name=self.name,
            attrs={"long_name": self.long_name, "units": self.units},
        )

    def __repr__(self) -> str:
        state = "stale, " if self._session.generation != self._generation else ""
        return f"<sluice.Field {self.name}: {self.long_name}, {state}shape {self.shape}, {self.location}>"

    def _require_valid(self) -> None:
        if self._session.closed:
            raise StaleViewError(f"the simulation of this field {self.name} is closed")
        if self._session.generation != self._generation:
            raise StaleViewError(
                f"this field {self.name} is of an earlier time: ask the simulation for it again after each step"
            )
