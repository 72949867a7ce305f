"""Solutions in files."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..case import Case
from ..errors import FileError, UsageError
from .flow_map import FlowMap
from .search import Solution
from .symmetry import Symmetry

if TYPE_CHECKING:
    from collections.abc import Mapping

FORMAT = "sluice.dynamics solution 1"


def write_solution(path: str | os.PathLike[str], solution: Solution) -> None:
    """Writes a solution to an HDF5 file, with all that is needed to continue from it.

    The datasets u, v and w are (nz, ny, nx), so that a case can start from the file by `initial: {type: fields, file:
    ...}`. Needs h5py. Raises FileError if the file cannot be written.
    """
    import h5py

    flow_map = solution.flow_map
    temporary = Path(os.fspath(path) + ".part")
    about = {
        "case": flow_map.case._source(),  # as given: defaults that follow from the Reynolds number still do
        "time": flow_map.time,
        "steps": flow_map.steps,
        "symmetries": [asdict(one) for one in flow_map.symmetries],
        "return_by": None if flow_map.return_by is None else asdict(flow_map.return_by),
        "residual": solution.residual,
    }
    try:
        with h5py.File(temporary, "w") as file:
            for name, values in flow_map.space.fields(solution.state).items():
                file[name] = values
            file.attrs.update(format=FORMAT, case=flow_map.case.resolved(), solution=json.dumps(about))
        temporary.replace(path)
    except OSError as error:
        raise FileError(f"{os.fspath(path)}: the solution cannot be written: {error}") from error


def read_solution(path: str | os.PathLike[str]) -> Solution:
    """The solution of a file of write_solution, with a new flow map.

    Needs h5py. Raises FileError if the file cannot be read or is no such file.
    """
    import h5py

    def symmetry(about: Mapping[str, Any]) -> Symmetry:
        return Symmetry(about["x"], about["y"], about["z"], tuple(about["shift"]))

    try:
        with h5py.File(path, "r") as file:
            if file.attrs.get("format") != FORMAT:
                raise FileError(f"{os.fspath(path)} is no file of a solution: it has no attribute format '{FORMAT}'")
            about = json.loads(file.attrs["solution"])
            fields = [file[name][...] for name in "uvw"]
    except (OSError, KeyError, ValueError) as error:
        raise FileError(f"{os.fspath(path)}: the solution cannot be read: {error}") from error
    try:
        back = about["return_by"]
        flow_map = FlowMap(
            Case._from_source(*about["case"]),
            about["time"],
            dt=about["time"] / about["steps"],
            symmetries=[symmetry(one) for one in about["symmetries"]],
            return_by=None if back is None else symmetry(back),
        )
        return Solution(flow_map, flow_map.space.pack(*fields), about["residual"])
    except (UsageError, KeyError, TypeError, ValueError) as error:
        raise FileError(f"{os.fspath(path)}: Sluice cannot use the solution: {error}") from error
