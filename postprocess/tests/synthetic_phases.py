"""Statistics by phase made from a known mean, first harmonics and variance."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import synthetic

from sluice_post import layout

BINS, PERIOD = 12, 2.5
FLOW = synthetic.Flow(cells=(64, 48, 32))


def amplitude(z: np.ndarray) -> np.ndarray:
    return 0.3 * z * (2 - z)


def lag(z: np.ndarray) -> np.ndarray:
    """Of u, past one period."""
    return 0.9 + 0.2 * z


def write_phases(directory: Path, blocks: int = 10, offset: float = 0.01, noise: float = 0.02) -> Path:
    """A run whose u is that of the synthetic flow plus the first harmonic above; v has one near the walls.

    Each bin has 4 samples of a block, at the same distance `offset` from its middle.
    """
    directory.mkdir(parents=True, exist_ok=True)
    profiles = synthetic.turbulent_profiles(FLOW)
    path = directory / layout.STATISTICS_FILE
    synthetic.write_statistics(path, FLOW, [profiles] * blocks, samples=4 * BINS)
    phase = np.arange(BINS) / BINS + offset
    rng = np.random.default_rng(5)
    z, z_face, nz = FLOW.z, FLOW.z_face, FLOW.cells[2]
    with h5py.File(path, "a") as file:
        sums = {
            name: np.empty((blocks, nz + (name in ("uw", "vw", "tau_xz", "tau_yz")), BINS))
            for name in ("u", "v", "w", "p", "uu", "vv", "ww", "pp", "uw", "vw", "tau_xz", "tau_yz")
        }
        for block in range(blocks):
            drift = noise * rng.standard_normal()
            u = profiles["u"][:, None] + drift + amplitude(z)[:, None] * np.cos(2 * np.pi * (phase - lag(z)[:, None]))
            v = np.exp(-20 * z)[:, None] * np.sin(2 * np.pi * phase)
            means = {"u": u, "v": v, "w": 0 * u, "p": 0 * u + 0.3, "uu": u**2 + 0.04, "vv": v**2 + 0.03}
            means |= {"ww": 0 * u + 0.02, "pp": 0 * u + 0.1}
            flat = np.ones((nz + 1, BINS))
            means |= {"uw": -0.5 * (1 - z_face)[:, None] * flat, "vw": 0 * flat, "tau_yz": 0 * flat}
            means["tau_xz"] = (1 - z_face)[:, None] * (2 + np.cos(2 * np.pi * phase))
            for name, values in means.items():
                sums[name][block] = 4 * values
        for name, values in sums.items():
            file[layout.BY_PHASE.format(name)] = values
        file[layout.PHASE_SAMPLES] = np.full((blocks, BINS), 4.0)
        file[layout.PHASE_OFFSET] = np.full((blocks, BINS), 4 * offset)
        file[layout.PHASE_FORCING] = np.full((blocks, BINS), 4 * 0.7)
        file[layout.GRID_PHASE] = np.arange(BINS) / BINS
        file.attrs[layout.ATTR_PHASE_PERIOD] = PERIOD
    synthetic.attach_hashes(path)
    return directory
