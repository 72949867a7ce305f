"""Arrays of NumPy or of another library with the array API, such as CuPy, on the device where they are."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class ArraySpace:
    """A library of arrays, `xp`, and the device on which to make them."""

    xp: Any = np
    device: dict[str, Any] = field(default_factory=dict)  # the argument `device`, where it is needed

    def zeros(self, shape: tuple[int, ...], is_complex: bool) -> Any:
        """In double precision."""
        dtype = self.xp.complex128 if is_complex else self.xp.float64
        return self.xp.zeros(shape, dtype=dtype, **self.device)

    def put(self, values: NDArray[Any]) -> Any:
        """An array of NumPy as one of this library."""
        return self.xp.asarray(values, **self.device)

    def double(self, values: Any) -> Any:
        """Real values in double precision, as an array of this library; from another one they are copied."""
        if self.xp is np:
            return np.asarray(on_host(values), dtype=np.float64)
        return self.xp.asarray(values, dtype=self.xp.float64, **self.device)


def on_host(values: Any) -> NDArray[Any]:
    """As an array of NumPy; copied if it is on a device."""
    for to_host in ("get", "cpu"):  # of CuPy and of torch
        if hasattr(values, to_host):
            return np.asarray(getattr(values, to_host)())
    return np.asarray(values)


def space_of(values: Any) -> ArraySpace:
    """Where to compute with such values: with their library if it has the array API, else with NumPy.

    The package array-api-compat, if it is there, knows libraries that have it under other names, such as torch.
    """
    if isinstance(values, np.ndarray):
        return ArraySpace()
    xp: Any = None
    if find_spec("array_api_compat") is not None:
        import array_api_compat as compat

        xp = compat.array_namespace(values) if compat.is_array_api_obj(values) else None
    elif hasattr(values, "__array_namespace__"):
        xp = values.__array_namespace__()
    if not (hasattr(xp, "linalg") and hasattr(xp, "fft")):
        return ArraySpace()
    # CuPy makes arrays on its current device.
    return ArraySpace(xp, {} if xp.__name__.endswith("cupy") else {"device": values.device})
