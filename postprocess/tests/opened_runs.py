"""Run directories with everything that sluice_post.open shows: put together from the files of the other tests."""

from pathlib import Path

import h5py
import numpy as np
import synthetic
import synthetic_spectra
from synthetic_phases import write_phases
from synthetic_probes import LENGTH, wave, write_probe
from test_budgets import write as write_budgets
from test_densities import flow_of, gaussian_run
from test_scalar_budgets import heated_states
from test_scalar_budgets import write as write_scalar_budgets
from test_scalar_spectra import heated_states as heated_spectra_states
from test_scalar_spectra import write as write_scalar_spectra

TIME = 0.1 * np.arange(600)
X = (np.arange(16) + 1) * LENGTH / 16
CELLS = (6, 5, 4)  # of a checkpoint


def write_checkpoint(path: Path, time: float = 2.5, with_time: bool = True) -> dict[str, np.ndarray]:
    """The fields of a checkpoint as Sluice writes them, but without hashes; u = x_face + 10 y + 100 z, and so on."""
    nx, ny, nz = CELLS
    lines = {}
    for axis, count in (("x", nx), ("y", ny), ("z", nz)):
        lines[axis], lines[f"{axis}_face"] = (np.arange(count) + 0.5) / count, (np.arange(count) + 1) / count
    dims = {"u": ("z", "y", "x_face"), "v": ("z", "y_face", "x"), "w": ("z_face", "y", "x"), "p": ("z", "y", "x")}
    path.parent.mkdir(parents=True, exist_ok=True)
    fields = {}
    with h5py.File(path, "w") as file:
        attributes = {"format": "Sluice checkpoint", "time": time, "step": 12, "sluice_version": "0.1.0"}
        file.attrs.update(attributes | {"git_revision": "0123", "resolved_case": "title: A case\n"})
        if with_time:  # files of earlier builds have only the attribute
            file["time"] = time
            file["time"].attrs.update({"long_name": "time of the fields / (h/U)", "units": "1"})
        for name, line in lines.items():
            file[name] = line
            file[name].make_scale(name)
            file[name].attrs.update({"long_name": f"coordinate {name} / h", "units": "1"})
        for name, axes in dims.items():
            z, y, x = (lines[axis] for axis in axes)
            fields[name] = x + 10 * y[:, None] + 100 * z[:, None, None]
            file[name] = fields[name]
            file[name].attrs.update({"long_name": f"field {name} / U", "units": "1"})
            for dimension, axis in zip(file[name].dims, axes, strict=True):
                dimension.attach_scale(file[axis])
    return fields


def write_profiles_run(directory: Path) -> Path:
    """Profiles, time series and slices."""
    return synthetic.write_run(directory, synthetic.Flow(cells=(64, 48, 96)), blocks=12)


def write_phases_run(directory: Path) -> Path:
    """Averages by phase."""
    return write_phases(directory)


def write_budgets_run(directory: Path) -> Path:
    """Statistics with budgets."""
    write_budgets(directory)
    return directory


def write_scalars_run(directory: Path) -> Path:
    """Statistics with the budgets of a scalar."""
    return write_scalar_budgets(directory, heated_states(6))


def write_scalar_spectra_run(directory: Path) -> Path:
    """Statistics and spectra with a scalar."""
    return write_scalar_spectra(directory, heated_spectra_states(4))


def write_spectra_run(directory: Path) -> Path:
    """Statistics and spectra, those in both directions at two heights."""
    flow = synthetic_spectra.flow_of()
    states = [synthetic_spectra.Fields(flow, seed) for seed in range(4)]
    synthetic_spectra.write(directory, states, ([3, 20], [4, 20]))
    return directory


def write_densities_run(directory: Path) -> Path:
    """Statistics and densities with joint densities."""
    return gaussian_run(directory, flow_of())


def write_fields_run(directory: Path) -> Path:
    """A probe along x and a checkpoint."""
    write_probe(directory, TIME, wave(TIME, X, 0.7, {1: 0.4, 3: 0.2}), X, 0.1)
    write_checkpoint(directory / "checkpoints" / "step_0000012.h5")
    return directory
