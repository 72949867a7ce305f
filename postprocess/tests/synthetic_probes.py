"""Files of probes and slices as Sluice writes them, and waves whose frequency and speed are known."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np

from sluice_post import hashes, layout
from sluice_post.hdf5_file import Values, append_metadata_hash

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
    lines = {"x_face": x, "y": np.arange(1.0, u.shape[2] + 1), "z": np.arange(u.shape[1]) + 0.25}
    fields = {"u": u}
    if pressure is not None:
        fields["p"] = pressure
        lines["x"] = x[: pressure.shape[3]] - (x[1] - x[0]) / 2
    values: Values = {"grid_velocity": grid_velocity, "length_x": LENGTH, "length_y": 4.0}
    step = 2 * np.arange(1, time.size + 1)
    write_series(directory / layout.PROBE_FOLDER, name, time, step, fields, lines, values, part_samples)


def write_series(
    folder: Path,
    name: str,
    time: np.ndarray,
    step: np.ndarray,
    fields: dict[str, np.ndarray],
    lines: dict[str, np.ndarray],
    values: Values,
    part_samples: int,
) -> None:
    """The files of a probe or a slice: fields, their coordinates and root attributes."""
    parts = folder / layout.PARTS
    parts.mkdir(parents=True, exist_ok=True)

    def describe(file: h5py.File, kind: str) -> None:
        attributes: Values = {"format": kind, "format_version": 1, "name": name, **values}
        file.attrs.update(attributes)
        file.attrs["values_hash"] = np.uint64(hashes.values_hash(attributes))

    layouts = {
        key: h5py.VirtualLayout(shape=stored.shape, dtype=stored.dtype)
        for key, stored in {"time": time, "step": step, **fields}.items()
    }
    for begin in range(0, time.size, part_samples):
        chosen = slice(begin, begin + part_samples)
        path = parts / f"{name}_{step[begin]:07}.h5"
        with h5py.File(path, "w", libver="latest") as file:  # whose superblock shows that a hash follows
            describe(file, layout.PROBE_PART_FORMAT)
            for key, data in {"time": time[chosen], "step": step[chosen], **lines}.items():
                file[key] = data
                file[key].attrs["hash"] = np.uint64(hashes.byte_hash(0, data.tobytes()))
            for key, values_of in fields.items():
                file[key] = values_of[chosen]
                file[key].attrs["hash"] = np.uint64(hashes.field_hash(values_of[chosen]))
            for key, virtual in layouts.items():
                virtual[chosen] = h5py.VirtualSource(f"parts/{path.name}", key, file[key].shape, file[key].dtype)
            stored = [file[key] for key in fields]
            ranges = sorted((of.id.get_offset(), of.id.get_offset() + of.nbytes) for of in stored)
        append_metadata_hash(path, np.array(ranges, dtype=np.uint64).ravel())
    with h5py.File(folder / f"{name}.h5", "w") as file:
        describe(file, layout.PROBE_FORMAT)
        for key, virtual in layouts.items():
            file.create_virtual_dataset(key, virtual, fillvalue=-1 if key == "step" else np.nan)
        for key, data in lines.items():
            file[key] = data


def wave(time: np.ndarray, x: np.ndarray, speed: float, modes: dict[int, float]) -> np.ndarray:
    """A sum of waves of wavenumber 2 pi m/LENGTH that move at one speed, without dispersion."""
    phase = x[None, :] - speed * time[:, None]
    values = sum(amplitude * np.cos(2 * np.pi * m / LENGTH * phase + 0.9 * m) for m, amplitude in modes.items())
    return np.asarray(values)[:, None, None, :]


def advected_turbulence(
    time: np.ndarray, points: int, rows: int, speed: float, memory: float, seed: int, modes: int = 10
) -> np.ndarray:
    """A random pattern of unit variance that moves at one speed and is renewed within `memory`: (time, 1, rows, x)."""
    random = np.random.default_rng(seed)
    number = np.arange(1, modes + 1)
    size = 1 / number
    step = time[1] - time[0]
    kept = np.exp(-step / memory)
    moved = np.exp(-2j * np.pi * number / LENGTH * speed * step)

    def fresh() -> np.ndarray:
        return size * (random.normal(size=(rows, modes)) + 1j * random.normal(size=(rows, modes)))

    amplitude, found = fresh(), np.zeros((time.size, rows, points // 2 + 1), dtype=complex)
    for n in range(time.size):
        found[n, :, 1 : modes + 1] = amplitude
        amplitude = moved * kept * amplitude + np.sqrt(1 - kept**2) * fresh()
    values = np.fft.irfft(found, n=points, axis=2)[:, None]
    return np.asarray(values / values.std())
