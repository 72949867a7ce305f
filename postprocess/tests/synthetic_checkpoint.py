"""Checkpoints of any flow, with the layout that `sluice run` writes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import synthetic

from sluice_post.hdf5_file import append_metadata_hash

Function = Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]

COUETTE = """solver:
  order: {order}
  tridiagonal: ptdma
walls:
  bottom: {{type: no_slip, velocity: [-1, -0.5, 0]}}
  top: {{type: no_slip, velocity: [1, 0.5, 0]}}
"""
FREE_SLIP = """walls:
  bottom: {{type: free_slip}}
  top: {{type: free_slip}}
solver:
  order: {order}
"""


@dataclass
class Box:
    """Grid and walls; `case` is the resolved case, with the order to fill in."""

    cells: tuple[int, int, int]
    z_node: np.ndarray
    order: int = 4
    case: str = COUETTE
    size: tuple[float, float] = (4.0, 2.0)

    def lines(self) -> dict[str, np.ndarray]:
        nodes = {
            axis: np.arange(n + 1) * length / n for axis, n, length in zip("xy", self.cells, self.size, strict=False)
        }
        nodes["z"] = self.z_node
        lines = {}
        for axis, node in nodes.items():
            lines |= {axis: (node[1:] + node[:-1]) / 2, f"{axis}_face": node[1:], f"{axis}_node": node}
        return lines

    def sample(self, function: Function, faces: str = "") -> np.ndarray:
        """Values (z, y, x) of a function of x, y and z at the centres, or on the faces along an axis."""
        lines = self.lines()
        x, y, z = (lines[f"{axis}_face" if axis == faces else axis] for axis in "xyz")
        shape = (z.size, y.size, x.size)
        return np.broadcast_to(function(x, y[:, None], z[:, None, None]), shape).astype(float)


def zero(x, y, z):
    return 0 * x * y * z


def write(path: Path, box: Box, u: Function, v: Function, w: Function = zero, p: Function = zero) -> Path:
    """The checkpoint of a flow given by functions of x, y and z."""
    with h5py.File(path, "w") as file:
        file.attrs.update({"format": "Sluice checkpoint", "format_version": 1, "sluice_version": "0.1.0"})
        file.attrs.update({"git_revision": "abc", "resolved_case": box.case.format(order=box.order)})
        file.attrs.update({"step": 120, "time": 1.5})
        for name, line in box.lines().items():
            file[f"grid/{name}"] = line
            if not name.endswith("_node"):
                file[f"grid/{name}"].make_scale(name)
        for name, function, faces in (("u", u, "x"), ("v", v, "y"), ("w", w, "z"), ("p", p, "")):
            file[name] = box.sample(function, faces)
            for dimension, axis in zip(file[name].dims, "zyx", strict=True):
                dimension.attach_scale(file[f"grid/{axis}_face" if axis == faces else f"grid/{axis}"])
    synthetic.attach_hashes(path)
    with h5py.File(path, "a") as file:  # second names
        for axis in "xyz":
            for line in (axis, f"{axis}_face"):
                file[line] = file[f"grid/{line}"]
    with h5py.File(path) as file:
        ranges = [(file[name].id.get_offset(), file[name].id.get_offset() + file[name].nbytes) for name in "uvwp"]
    append_metadata_hash(path, np.array(sorted(ranges), dtype=np.uint64).ravel())
    return path
