"""Tables as CSV files, and how text files are written."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import xarray as xr
from numpy.typing import ArrayLike

from sluice_post.errors import InputOutputError


def csv_text(table: Mapping[str, ArrayLike] | xr.Dataset) -> str:
    """Columns as CSV: one header line with their names, then one line per point. Numbers have 10 digits.

    A dataset has its coordinates as the first columns, then its variables, each at all points of all dimensions, the
    last one of the coordinates fastest.
    """
    columns = {str(name): np.asarray(values) for name, values in table.items()}
    if isinstance(table, xr.Dataset):
        names = [*table.coords, *table.data_vars]
        whole = xr.broadcast(*(table[name] for name in names))
        columns = {str(name): values.values.ravel() for name, values in zip(names, whole, strict=True)}

    def cell(value: object) -> str:
        return f"{value:.10g}" if isinstance(value, (float, np.floating)) else str(value)

    rows = zip(*columns.values(), strict=True)
    lines = [",".join(columns), *(",".join(map(cell, row)) for row in rows)]
    return "\n".join(lines) + "\n"


def write_text(path: Path, text: str) -> None:
    """Writes a text file, making its folder; a clear message if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise InputOutputError(f"{path}: cannot be written ({error.strerror or error})") from error


def dataset_text(found: xr.Dataset, columns: Mapping[str, str | xr.DataArray]) -> str:
    """Variables of a dataset as CSV under other names, each with <column>_ci95 if its interval is known.

    There is a line for each point of the last column, in its order; the others are repeated along its dimensions.
    """
    arrays: dict[str, xr.DataArray] = {}
    for column, name in columns.items():
        arrays[column] = found[name] if isinstance(name, str) else name
        if isinstance(name, str) and f"{name}_ci95" in found:
            arrays[f"{column}_ci95"] = found[f"{name}_ci95"]
    last = list(arrays.values())[-1]
    sizes = dict(zip(last.dims, last.shape, strict=True))
    repeated: dict[str, np.ndarray] = {}
    for column, array in arrays.items():  # by names of dimensions: old versions of xarray do not align further indexes
        repeated[column] = array.variable.set_dims(sizes).values  # type: ignore[no-untyped-call]
    return csv_text({column: values.ravel() for column, values in repeated.items()})
