"""Initial fields that a script gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from .field import Field, on_host

Array = npt.NDArray[np.float64]


def require_on_all(session: _core.Session, problem: Exception | None) -> None:
    """Raises the problem here, and UsageError with its text on the other processes. Collective."""
    try:
        _core.require_on_all(session, str(problem) if problem else "")
    except Exception:
        if problem:
            raise problem from None
        raise


def set_initial(session: _core.Session, initial: Any) -> None:
    """Replaces parts of the initial field of the case: see `Simulation`. Collective."""
    profile: tuple[Array, Array] | None = None
    fields: dict[str, Array] = {}
    problem: Exception | None = None
    try:
        given = initial if isinstance(initial, Mapping) else {"profile": initial}
        for name, value in given.items():
            if name == "profile":
                profile = _profile(session, value)
            elif name in session.field_names():
                fields[name] = _field(session, name, value)
            else:
                known = ", ".join(["profile", *session.field_names()])
                raise ValueError(f"there is no field {name!r}; there are: {known}")
    except Exception as error:  # of the user's functions, too
        problem = error
    require_on_all(session, problem)
    if profile is not None:
        _core.start_from_profile(session, profile[0].tolist(), profile[1].tolist())
    for name, values in fields.items():
        Field(session, name)[...] = values
    if set(fields) & {"u", "v", "w"}:
        session.project()


def _profile(session: _core.Session, value: Any) -> tuple[Array, Array]:
    """U and V at the cell centres of the whole grid; V may be empty."""
    z = np.array(_core.z_centers(session))
    parts = value if isinstance(value, tuple) else (value,)
    if not 1 <= len(parts) <= 2:
        raise ValueError(f"initial profile: U or (U, V) are needed, not {len(parts)} profiles")
    found = [_real(part(z) if callable(part) else part, "initial profile") for part in parts]
    for part in found:
        if part.shape != z.shape:
            raise ValueError(f"initial profile: it has the shape {part.shape}, the cell centres of the grid {z.shape}")
    return found[0], found[1] if len(found) > 1 else np.zeros(0)


def _field(session: _core.Session, name: str, value: Any) -> Array:
    """The values of this process."""
    field = Field(session, name)
    what = f"initial {name}"
    if callable(value):
        z, y, x = field.coords.values()
        value = value(x, y[:, None], z[:, None, None])
        return np.broadcast_to(_real(value, what), field.shape)
    array = _real(value, what)
    whole = tuple(_core.cells(session))
    if array.ndim == 0 or array.shape == field.shape:
        return array
    if array.shape != whole:
        raise ValueError(
            f"{what}: the array has the shape {array.shape}; the part of this process {field.shape}, "
            f"the whole grid {whole}"
        )
    z_part, y_part, x_part = (slice(part.start, part.stop) for part in field.indices.values())
    return array[z_part, y_part, x_part]


def _real(value: Any, what: str) -> Array:
    array = on_host(value)
    if array.dtype.kind not in "fiu":
        raise TypeError(f"{what}: real numbers or a function that returns them are needed, not {value!r:.60}")
    if not np.isfinite(array).all():
        raise ValueError(f"{what}: a value is not finite")
    return array.astype(np.float64, copy=False)
