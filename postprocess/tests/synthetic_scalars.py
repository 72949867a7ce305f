"""Statistics of scalars made from known mean profiles, in exact discrete balance."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
from synthetic import Flow, parameters_of, raw_moments, write_parameter_sets, write_statistics

from sluice_post import layout


def line_of_case(name="theta", prandtl=1.0, bottom="value: 0", top="value: 0", source="none") -> str:
    """A scalar as a resolved case has it."""
    walls = f"walls: {{bottom: {{{bottom}}}, top: {{{top}}}}}"
    return f'\n    - {{name: "{name}", prandtl: {prandtl}, {walls}, source: {source}}}'


def mean_of(flow: Flow, gradient: np.ndarray, wall: float) -> np.ndarray:
    """The mean at the centres with this derivative on the faces and this value at the bottom wall."""
    return wall + np.cumsum(gradient[:-1] * np.diff(np.concatenate([[0.0], flow.z])))


def scalar_moments(flow: Flow, raw: dict, mean, gradient_flux, wc=0.0, variance=0.0, uc=0.0) -> dict:
    """What is stored of a scalar, by the endings of its name. `wc`, `uc`: covariances."""
    c = np.asarray(mean)
    moments = raw_moments(c, variance + 0 * c, 0.4, 3.3)
    found = dict(zip(layout.SCALAR_CENTRE_PROFILES, moments, strict=False))
    found |= {"_u": raw["u"] * c + uc, "_v": 0 * c}
    return found | {"_w": wc + 0 * flow.z_face, "_gradient_flux": gradient_flux + 0 * flow.z_face}


def heated(flow: Flow, raw: dict, source: np.ndarray, kappa: float, ratio=0.0) -> dict:
    """Walls at 0 and a symmetric source at the centres; `ratio`: turbulent over molecular diffusivity on the faces."""
    added = np.concatenate([[0.0], np.cumsum(source * np.diff(flow.z_face))])
    flux = added - added[-1] / 2
    gradient_flux = -flux / (1 + ratio)
    return scalar_moments(flow, raw, mean_of(flow, gradient_flux / kappa, 0.0), gradient_flux, flux + gradient_flux)


def write_scalars(
    path: Path,
    flow: Flow,
    raw: dict | list[dict],
    scalars: list[tuple[str, list[dict]]],
    more_parameters: dict | None = None,
) -> Path:
    """statistics.h5; of each scalar, its line of the case and the moments of each block. `raw`: of the flow."""
    count = len(scalars[0][1])
    write_statistics(path, flow, raw if isinstance(raw, list) else [raw] * count)
    with h5py.File(path, "a") as file:
        samples = file["samples"][()]
        for line, blocks in scalars:
            name = line.split('"')[1]
            for ending in blocks[0]:
                file[f"{name}{ending}"] = np.array(
                    [n * block[ending] for n, block in zip(samples, blocks, strict=True)]
                )
    parameters = parameters_of(flow) | {"scalars": "".join(line for line, _ in scalars)} | (more_parameters or {})
    write_parameter_sets(path, [0] * count, [parameters])
    return path.parent
