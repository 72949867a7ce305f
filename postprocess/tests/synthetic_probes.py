"""Files of probes as Sluice writes them, and waves whose frequency and speed are known."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from sluice_post import hashes, layout
from sluice_post.hdf5_file import append_metadata_hash

LENGTH = 6.0


def write_probe(
    directory: Path,
    time: np.ndarray,
    u: np.ndarray,
    x: np.ndarray,
    grid_velocity: float = 0.0,
    part_samples: int = 300,
    name: str = "line",
    pressure: np.ndarray | None = None,
) -> None:
    """The files of a probe of u, and of p if given, (samples, nz, ny, nx), in parts."""
    parts = directory / layout.PROBE_PARTS
    parts.mkdir(parents=True, exist_ok=True)
    lines = {
        "x_face": x,
        "y": np.arange(1.0, u.shape[2] + 1),
        "z": np.arange(u.shape[1]) + 0.25,
    }
    fields = {"u": u}
    if pressure is not None:
        fields["p"] = pressure
        lines["x"] = x[: pressure.shape[3]] - (x[1] - x[0]) / 2
    step = 2 * np.arange(1, time.size + 1)

    def describe(file: h5py.File, kind: str) -> None:
        values = {
            "format": kind,
            "format_version": 1,
            "name": name,
            "grid_velocity": grid_velocity,
            "length_x": LENGTH,
            "length_y": 4.0,
        }
        file.attrs.update(values)
        file.attrs["values_hash"] = np.uint64(hashes.values_hash(values))

    layouts = {
        key: h5py.VirtualLayout(shape=values.shape, dtype=values.dtype)
        for key, values in {"time": time, "step": step, **fields}.items()
    }
    for begin in range(0, time.size, part_samples):
        chosen = slice(begin, begin + part_samples)
        path = parts / f"{name}_{step[begin]:07}.h5"
        with h5py.File(path, "w") as file:
            describe(file, layout.PROBE_PART_FORMAT)
            for key, data in {"time": time[chosen], "step": step[chosen], **lines}.items():
                file[key] = data
                file[key].attrs["hash"] = np.uint64(hashes.byte_hash(0, data.tobytes()))
            for key, values in fields.items():
                file[key] = values[chosen]
                file[key].attrs["hash"] = np.uint64(hashes.field_hash(values[chosen]))
            for key, virtual in layouts.items():
                virtual[chosen] = h5py.VirtualSource(
                    f"parts/{path.name}", key, file[key].shape, file[key].dtype
                )
        append_metadata_hash(path, np.zeros(0, np.uint64))
    with h5py.File(directory / layout.PROBE_FOLDER / f"{name}.h5", "w") as file:
        describe(file, layout.PROBE_FORMAT)
        for key, virtual in layouts.items():
            file.create_virtual_dataset(key, virtual, fillvalue=-1 if key == "step" else np.nan)
        for key, data in lines.items():
            file[key] = data


def wave(time: np.ndarray, x: np.ndarray, speed: float, modes: dict[int, float]) -> np.ndarray:
    """A sum of waves of wavenumber 2 pi m/LENGTH that move at one speed, without dispersion."""
    phase = x[None, :] - speed * time[:, None]
    values = sum(
        amplitude * np.cos(2 * np.pi * m / LENGTH * phase + 0.9 * m) for m, amplitude in modes.items()
    )
    return np.asarray(values)[:, None, None, :]
