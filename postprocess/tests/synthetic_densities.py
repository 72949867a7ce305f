"""densities.h5 of Gaussian flows, whose answers are known, and of fields that are given point by point."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import synthetic
from scipy.stats import norm

from sluice_post import layout

CORRELATION = -0.4  # of u and w in the lower half
TAU_X, TAU_Y = 0.37, 0.2  # standard deviations over the mean of tau_x
_PARTS = 16  # of a bin, for sums over joint densities


def scales_of(flow: synthetic.Flow) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Mean and standard deviation of everything that is counted, on its planes."""
    raw, z_face = synthetic.turbulent_profiles(flow), flow.z_face
    found = {name: (raw[name], np.sqrt(raw[2 * name] - raw[name] ** 2)) for name in "uvp"}
    found["w"] = (0 * z_face, np.sqrt(synthetic.moments_of_w(flow)[1]))
    u_face, of_u = (np.interp(z_face, flow.z, values) for values in found["u"])
    found["u_face"] = (u_face, of_u)
    tau = flow.u_tau**2
    found["shear_x"] = (raw["tau_xz"][[0, -1]], np.full(2, TAU_X * tau))
    found["shear_y"] = (np.zeros(2), np.full(2, TAU_Y * tau))
    return found


def bins_of(flow: synthetic.Flow, heights: list[float], shift: float = 0.0) -> dict[str, np.ndarray]:
    """Bins that a first sample of the flow fixes; `shift`: of the middles, in widths."""
    scales, bins = scales_of(flow), {}
    faces = [int(np.argmin(np.abs(flow.z_face - z))) for z in heights]
    for name in layout.BINNED:
        mean, rms = scales[name.removesuffix("_joint").replace("u", "u_face") if "joint" in name else name]
        if "joint" in name:
            mean, rms = mean[faces], rms[faces]
        width = np.where(rms > 0, rms / 8, 1e-30)
        bins[f"{name}_middle"], bins[f"{name}_width"] = mean + shift * width, width
    return bins


def edges_of(bins: dict, name: str, plane: int, joint: bool = False) -> np.ndarray:
    count, widths = (layout.JOINT_BINS, layout.JOINT_WIDTHS) if joint else (layout.BINS, 1)
    steps = (np.arange(count + 1) - count / 2) * widths
    return bins[f"{name}_middle"][plane] + bins[f"{name}_width"][plane] * steps


def gaussian_counts(edges: np.ndarray, mean: float, rms: float) -> np.ndarray:
    """Probability in the bins; the end bins have the tails."""
    inner = edges[1:-1]
    below = norm.cdf((inner - mean) / rms) if rms > 0 else (inner > mean).astype(float)
    return np.diff(np.concatenate([[0], below, [1]]))


def gaussian_joint(edges_u, edges_w, scale_u, scale_w, correlation) -> np.ndarray:
    """The same of two correlated variables."""
    u = np.concatenate([[-12.0], (edges_u[1:-1] - scale_u[0]) / scale_u[1], [12.0]])
    w = np.concatenate([[-np.inf], (edges_w[1:-1] - scale_w[0]) / scale_w[1], [np.inf]])
    parts = (np.arange(_PARTS) + 0.5) / _PARTS
    at = u[:-1, None] + np.diff(u)[:, None] * parts
    conditional = norm.cdf((w - correlation * at[..., None]) / np.sqrt(1 - correlation**2))
    weight = norm.pdf(at) * np.diff(u)[:, None] / _PARTS
    counts = (weight[..., None] * np.diff(conditional, axis=-1)).sum(axis=1)
    return counts / counts.sum()


def quadrants_of(correlation: np.ndarray) -> tuple[dict, dict]:
    """Contributions to <u'w'> over the standard deviations, and fractions of time, of a bivariate Gaussian."""
    root, angle = np.sqrt(1 - correlation**2), np.arcsin(correlation)
    odd = (correlation * (np.pi / 2 + angle) + root) / (2 * np.pi)
    even = (correlation * (np.pi / 2 - angle) - root) / (2 * np.pi)
    fraction = 1 / 4 + angle / (2 * np.pi)
    contributions = {1: odd, 2: even, 3: odd, 4: even}
    return contributions, {1: fraction, 2: 1 / 2 - fraction, 3: fraction, 4: 1 / 2 - fraction}


def gaussian_block(flow: synthetic.Flow, bins: dict, heights: list[float], stretch: float = 1.0) -> dict:
    """What a sample adds on average; `stretch` multiplies all standard deviations."""
    scales = {name: (mean, stretch * rms) for name, (mean, rms) in scales_of(flow).items()}
    points, block = flow.cells[0] * flow.cells[1], dict(bins)
    for name in (*layout.CENTRE_HISTOGRAMS, *layout.FACE_HISTOGRAMS, *layout.SHEAR_HISTOGRAMS):
        mean, rms = scales[name]
        block[f"{name}_histogram"] = points * np.array(
            [gaussian_counts(edges_of(bins, name, n), mean[n], rms[n]) for n in range(len(mean))]
        )
    correlation = CORRELATION * np.where((flow.z_face > 1) & (flow.flow_type == "channel"), -1.0, 1.0)

    def joint(n, binned, plane, names, correlation):
        edges = (edges_of(bins, name, n, joint=True) for name in binned)
        return points * gaussian_joint(*edges, *([of[plane] for of in scales[name]] for name in names), correlation)

    faces = [int(np.argmin(np.abs(flow.z_face - z))) for z in heights]
    of_uw = [joint(n, layout.JOINT_BINNED, k, ("u_face", "w"), correlation[k]) for n, k in enumerate(faces)]
    block["uw_joint"] = np.array(of_uw).reshape(-1, layout.JOINT_BINS, layout.JOINT_BINS)
    shears = layout.SHEAR_HISTOGRAMS
    block["shear_joint"] = np.array([joint(n, shears, n, shears, 0.0) for n in (0, 1)])
    contributions, fractions = quadrants_of(correlation)
    for n in layout.QUADRANTS:
        block[f"uw_q{n}"] = contributions[n] * scales["u_face"][1] * scales["w"][1]
        block[f"fraction_q{n}"] = fractions[n]
    return block


def block_of_fields(bins: dict, heights: list[int], fields: dict[str, np.ndarray]) -> dict:
    """The same of one sample: u, v, p (z, y, x) at centres, w, u_face, w_face at faces, shear_x, shear_y (2, y, x).

    `u_face`, `w_face` are where the flux uw is; `heights` are faces.
    """

    def numbers(values, name, plane, joint=False):
        edges = edges_of(bins, name, plane, joint)
        return np.clip(np.searchsorted(edges, values.ravel(), "right") - 1, 0, len(edges) - 2)

    def pairs(first, second, names, plane):
        counts = np.zeros((layout.JOINT_BINS, layout.JOINT_BINS))
        where = (numbers(values, name, plane, True) for values, name in zip((first, second), names, strict=True))
        np.add.at(counts, tuple(where), 1)
        return counts

    block = dict(bins)
    for name in (*layout.CENTRE_HISTOGRAMS, *layout.FACE_HISTOGRAMS, *layout.SHEAR_HISTOGRAMS):
        block[f"{name}_histogram"] = np.array(
            [
                np.bincount(numbers(plane, name, n), minlength=layout.BINS).astype(float)
                for n, plane in enumerate(fields[name])
            ]
        )
    u, w = fields["u_face"], fields["w_face"]
    block["uw_joint"] = np.array([pairs(u[k], w[k], layout.JOINT_BINNED, n) for n, k in enumerate(heights)])
    x, y = fields["shear_x"], fields["shear_y"]
    block["shear_joint"] = np.array([pairs(x[n], y[n], layout.SHEAR_HISTOGRAMS, n) for n in (0, 1)])
    u, w = (f - f.mean(axis=(1, 2), keepdims=True) for f in (u, w))
    for n, (right, up) in enumerate(((True, True), (False, True), (False, False), (True, False)), 1):
        within = ((u > 0) == right) & ((w > 0) == up)
        block[f"uw_q{n}"] = (u * w * within).mean(axis=(1, 2))
        block[f"fraction_q{n}"] = within.mean(axis=(1, 2))
    return block


def write(path: Path, flow, heights: list[float], blocks: list[dict], **options):
    """densities.h5 with the given block means and bins. `options`: of synthetic.file_of_blocks."""
    shapes = gaussian_block(flow, bins_of(flow, heights), heights) if not blocks else blocks[0]
    with synthetic.file_of_blocks(path, flow, blocks, **options) as (file, sums):
        file["grid/z_joint"] = np.array(heights, float)
        for name, values in shapes.items():
            if not heights and name.startswith(("u_joint", "w_joint", "uw_joint")):
                continue
            if name in layout.BIN_DATASETS:
                file[name] = np.array([block[name] for block in blocks]).reshape(len(blocks), *np.shape(values))
            else:
                file[name] = sums(name, *np.shape(values))
