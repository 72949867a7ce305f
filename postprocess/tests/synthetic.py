"""Run directories made from known profiles: mean flow of a model eddy viscosity, in exact discrete balance.

Mean flow: Cess's eddy viscosity (Reynolds & Tiederman, J. Fluid Mech. 27, 253 (1967)). Fluctuations: the fits
of Nezu & Rodi (J. Hydraul. Eng. 112, 335 (1986)). Not data of any simulation.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import h5py
import numpy as np
from synthetic_probes import write_series

from sluice_post import hashes, layout
from sluice_post.hdf5_file import Values

CENTRE = (
    *("u", "v", "w", "p", "uu", "vv", "ww", "uv", "pp", "uuu", "vvv", "www", "uuuu", "vvvv", "wwww"),
    *("omega_x", "omega_y", "omega_z", "omega_xx", "omega_yy", "omega_zz"),
)
FACE = ("uw", "vw", "tau_xz", "tau_yz")


@dataclass
class Flow:
    """What the files say about the flow."""

    flow_type: str = "channel"
    re_tau: float = 180.0
    u_tau: float = 0.0637
    cells: tuple = (256, 192, 144)
    stretching: float = 1.6
    wall_speed: float = 0.0
    title: str = "Synthetic channel, Re_tau = 180"
    size: tuple = field(init=False)

    def __post_init__(self):
        self.size = (4 * np.pi, 4 * np.pi / 3, 1.0 if self.flow_type == "open_channel" else 2.0)

    @property
    def viscosity(self) -> float:
        return self.u_tau / self.re_tau

    @property
    def z_face(self) -> np.ndarray:
        nz, a = self.cells[2], self.stretching
        fraction = np.arange(nz + 1) / nz
        if self.flow_type == "open_channel":
            faces = 1 + np.tanh(a * (fraction - 1)) / np.tanh(a)
        else:
            faces = 1 + np.tanh(a * (2 * fraction - 1)) / np.tanh(a)
            faces = (faces + (2 - faces)[::-1]) / 2
        faces[0] = 0.0
        return faces

    @property
    def z(self) -> np.ndarray:
        return (self.z_face[1:] + self.z_face[:-1]) / 2


def raw_moments(mean, variance, skewness, flatness):
    """Raw moments of order 1 to 4 from the central ones."""
    third, fourth = skewness * variance**1.5, flatness * variance**2
    return (
        mean,
        variance + mean**2,
        third + 3 * mean * variance + mean**3,
        fourth + 4 * mean * third + 6 * mean**2 * variance + mean**4,
    )


def wall_distance(flow: Flow, z: np.ndarray) -> np.ndarray:
    return z if flow.flow_type == "open_channel" else np.minimum(z, 2 - z)


def total_stress(flow: Flow, z: np.ndarray) -> np.ndarray:
    """Exact total stress over u_tau^2."""
    return np.ones_like(z) if flow.flow_type == "couette" else 1 - z


def outward(flow: Flow, z: np.ndarray) -> np.ndarray:
    """The sign of a velocity away from the nearest wall; 0 at the centre."""
    return np.ones_like(z) if flow.flow_type == "open_channel" else np.sign(np.round(1 - z, 12))


def moments_of_w(flow: Flow) -> list[np.ndarray]:
    """Raw moments of order 1 to 4 of w on the faces, where it is."""
    d = wall_distance(flow, flow.z_face)
    d_plus = d * flow.re_tau
    rms = 1.23 * np.exp(-0.7 * d) * (1 - np.exp(-((d_plus / 28) ** 1.2))) * flow.u_tau
    rms[[0, -1]] = 0
    skewness = 0.25 * np.tanh(d_plus / 60) - 0.35 * np.exp(-(((d_plus - 12) / 9) ** 2))
    skewness *= outward(flow, flow.z_face)
    return list(raw_moments(0 * d, rms**2, skewness, 3.6 + 22 * np.exp(-d_plus / 6)))


def of_cells(faces: np.ndarray) -> np.ndarray:
    """Means over both faces of each cell, as powers of w are stored."""
    return (faces[1:] + faces[:-1]) / 2


def turbulent_profiles(flow: Flow) -> dict:
    """All raw-moment profiles of the model flow; the total stress is exact at every face."""
    z, zf, nu, ut = flow.z, flow.z_face, flow.viscosity, flow.u_tau
    face_distance = wall_distance(flow, zf)
    zeta = 1 - face_distance
    mixing = (1 - zeta**2) * (1 + 2 * zeta**2) * (1 - np.exp(-face_distance * flow.re_tau / 25.4))
    viscosity_ratio = 0.5 + 0.5 * np.sqrt(1 + (0.426 * flow.re_tau / 3 * mixing) ** 2)
    tau = total_stress(flow, zf) / viscosity_ratio * ut**2
    minus_uw = total_stress(flow, zf) * ut**2 - tau
    steps = np.diff(np.concatenate([[0.0], z]))
    mean = np.cumsum(tau[:-1] / nu * steps)
    if flow.flow_type == "couette":
        flow.wall_speed = float((mean[-1] + tau[-1] / nu * (zf[-1] - z[-1])) / 2)
        mean = mean - flow.wall_speed
    d, d_plus = wall_distance(flow, z), wall_distance(flow, z) * flow.re_tau
    near = np.exp(-d_plus / 10)
    rms_u = (2.05 * np.exp(-0.9 * d) * (1 - near) + 0.35 * d_plus * near) * ut
    rms_v = 1.63 * np.exp(-0.98 * d) * (1 - np.exp(-d_plus / 16)) * ut
    rms_p = (0.75 + 1.05 * np.exp(-d * 1.7)) * ut**2
    streamwise = outward(flow, z) if flow.flow_type == "couette" else 1.0
    raw = {}
    skew_u = (1.0 - 1.45 * (1 - np.exp(-d_plus / 14))) * streamwise
    flat_u, flat_v = 2.6 + 1.6 * np.exp(-d_plus / 5), 3.5 + 3.5 * np.exp(-d_plus / 7)
    raw["u"], raw["uu"], raw["uuu"], raw["uuuu"] = raw_moments(mean, rms_u**2, skew_u, flat_u)
    raw["v"], raw["vv"], raw["vvv"], raw["vvvv"] = raw_moments(0 * z, rms_v**2, 0.0, flat_v)
    raw["w"], raw["ww"], raw["www"], raw["wwww"] = map(of_cells, moments_of_w(flow))
    raw["uv"] = 0 * z
    raw["p"] = 0.37 - raw["ww"]
    raw["pp"] = rms_p**2 + raw["p"] ** 2
    shear = (tau[1:] + tau[:-1]) / 2 / nu
    scale = ut**2 / nu
    raw["omega_x"], raw["omega_y"], raw["omega_z"] = 0 * z, shear, 0 * z
    raw["omega_xx"] = (scale * (0.13 * np.exp(-(((d_plus - 20) / 22) ** 2)) + 0.06 + 0.08 * near**5)) ** 2
    raw["omega_yy"] = shear**2 + (scale * (0.06 + 0.31 * np.exp(-d_plus / 14))) ** 2
    raw["omega_zz"] = (scale * (0.06 + 0.15 * np.exp(-d_plus / 40)) * (1 - np.exp(-d_plus / 6))) ** 2
    raw |= {"uw": -minus_uw, "vw": 0 * zf, "tau_xz": tau, "tau_yz": 0 * zf}
    return raw


def laminar_poiseuille(flow: Flow) -> dict:
    """Discrete Poiseuille flow: linear stress, second-order exact velocity, no fluctuations."""
    z, zf, nu, ut = flow.z, flow.z_face, flow.viscosity, flow.u_tau
    tau = total_stress(flow, zf) * ut**2
    mean = np.cumsum(tau[:-1] / nu * np.diff(np.concatenate([[0.0], z])))
    raw = dict.fromkeys(CENTRE, 0 * z) | dict.fromkeys(FACE, 0 * zf)
    raw |= {"u": mean, "uu": mean**2, "uuu": mean**3, "uuuu": mean**4, "tau_xz": tau}
    return raw


def write_attributes(file: h5py.File, flow: Flow) -> None:
    speed = flow.wall_speed if flow.flow_type == "couette" else 0.0
    file.attrs.update({
        **{"format": "Sluice statistics", "format_version": 1, "sluice_version": "0.1.0"},
        **{"git_revision": "0123456789abcdef", "viscosity": flow.viscosity, "flow_type": flow.flow_type},
        "resolved_case": f"title: {flow.title}\nflow:\n  type: {flow.flow_type}\n",
        **{"wall_velocity_bottom": -speed, "wall_velocity_bottom_y": 0.0, "wall_bottom": "no_slip"},
        **{"wall_velocity_top": speed, "wall_velocity_top_y": 0.0},
        "wall_top": "free_slip" if flow.flow_type == "open_channel" else "no_slip",
        **{f"length_{axis}": length for axis, length in zip("xyz", flow.size, strict=True)},
        **{f"n{axis}": cells for axis, cells in zip("xyz", flow.cells, strict=True)},
    })  # fmt: skip


def attach_hashes(path: Path) -> None:
    """Gives every group and dataset of a file the hash that Sluice stores with it."""

    def attach(name: str, found: h5py.Group | h5py.Dataset) -> None:
        if isinstance(found, h5py.Dataset) and not (one_hash and name.startswith("grid/")):
            values = found[()]
            of_field = values.ndim == 3 and file.attrs["format"] != layout.STATISTICS_FORMAT
            found.attrs["hash"] = np.uint64(
                hashes.field_hash(values) if of_field else hashes.byte_hash(0, values.tobytes())
            )
        elif isinstance(found, h5py.Group) and name != "grid":
            attributes = {key: value for key, value in found.attrs.items() if key != "values_hash"}
            plain = {key: value if isinstance(value, str) else value.item() for key, value in attributes.items()}
            found.attrs["values_hash"] = np.uint64(hashes.values_hash(plain))

    with h5py.File(path, "a") as file:
        one_hash = "x_node" in file["grid"]  # for all coordinates of a checkpoint
        attach("/", file)
        file.visititems(attach)
        if one_hash:
            total = 0
            for name in layout.GRID_LINES:
                total = hashes.byte_hash(total, file[name][()].tobytes())
            file["grid"].attrs["grid_hash"] = np.uint64(total)


def set_case(path: Path, case: str) -> None:
    """Gives a statistics.h5 another case."""
    with h5py.File(path, "r+") as file:
        file.attrs["resolved_case"] = case
    attach_hashes(path)


def parameters_of(flow: Flow) -> dict[str, str]:
    """The parameters of a plain flow as they are stored with its samples."""
    speed = flow.wall_speed if flow.flow_type == "couette" else 0
    return {
        **{"flow.type": flow.flow_type, "flow.reynolds.viscosity": repr(flow.viscosity)},
        **{"walls.bottom.type": "no_slip", "walls.bottom.velocity": f"[{-speed}, 0, 0]"},
        **{"walls.top.type": "no_slip", "walls.top.velocity": f"[{speed}, 0, 0]"},
    }


def write_parameter_sets(path: Path, numbers: list[int], sets: list[dict]) -> None:
    """Adds the parameters that each block was sampled under to a statistics.h5, as versions after 0.1 write them."""
    with h5py.File(path, "a") as file:
        file["parameter_set"] = numbers
        for n, parameters in enumerate(sets):
            file.create_group(f"parameter_set_{n}").attrs.update(parameters)
    attach_hashes(path)


@contextmanager
def file_of_blocks(
    path: Path, flow: Flow, blocks: list[dict], samples=100, begin=60.0, length=10.0
) -> Iterator[tuple[h5py.File, Callable[..., np.ndarray]]]:
    """A file of blocks without profiles, and what makes the sums of one from its means: (name, *shape of a block).

    `samples`: a number or one per block.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    count = len(blocks)
    counts = np.broadcast_to(np.asarray(samples, dtype=np.int64), count)

    def sums(name: str, *shape: int) -> np.ndarray:
        found = [weight * block[name] for weight, block in zip(counts, blocks, strict=True)]
        return np.array(found, dtype=float).reshape(count, *shape)

    with h5py.File(path, "w") as file:
        write_attributes(file, flow)
        file["grid/z"], file["grid/z_face"], file["samples"] = flow.z, flow.z_face, counts
        file["t_begin"] = begin + float(length) * np.arange(count)
        file["t_end"] = begin + float(length) * (1 + np.arange(count))
        file["forcing"] = counts * (0.0 if flow.flow_type == "couette" else flow.u_tau**2)
        yield file, sums
    attach_hashes(path)


def write_statistics(path: Path, flow: Flow, blocks: list[dict], **options) -> None:
    """statistics.h5 of version 0.1 with the given block means; they may include the profiles that budgets need.

    `options`: of file_of_blocks.
    """
    budgets = [*layout.BUDGET_CENTRE_PROFILES, *layout.BUDGET_FACE_PROFILES]
    taken = [name for name in budgets if all(name in block for block in blocks)] if blocks else []
    with file_of_blocks(path, flow, blocks, **options) as (file, sums):
        file["step_end"] = 1000 * (1 + np.arange(len(blocks)))
        for name in (*CENTRE, *FACE, *taken):
            file[name] = sums(name, flow.cells[2] + (name in (*FACE, *layout.BUDGET_FACE_PROFILES)))


def write_spectra(path: Path, flow: Flow, blocks: list[dict], **options) -> None:
    """spectra.h5 with the given block means, arrays of (point, mode) by name; of planes, (height, ky, kx).

    The heights of the planes are `z_kxky` and `z_face_kxky` of the first block. `options`: of file_of_blocks.
    """
    names = (*layout.CENTRE_SPECTRA, *layout.FACE_SPECTRA)
    with file_of_blocks(path, flow, blocks, **options) as (file, sums):
        for axis, cells, size in zip("xy", flow.cells, flow.size, strict=False):
            modes = np.arange(cells // 2 + 1)
            file[f"grid/k{axis}"] = 2 * np.pi / size * modes
            for name in names:
                points = flow.cells[2] + (name in layout.FACE_SPECTRA)
                file[f"{name}_k{axis}"] = sums(f"{name}_k{axis}", points, len(modes))
        if blocks and "z_kxky" in blocks[0]:
            for name in ("z_kxky", "z_face_kxky"):
                file[f"grid/{name}"] = blocks[0][name]
            for name in (f"{name}_kxky" for name in names):
                file[name] = sums(name, *blocks[0][name].shape)


def noisy_blocks(flow: Flow, profiles: dict, count: int, seed: int, amplitude: float = 0.02) -> list[dict]:
    """Copies of the flow's turbulent profiles with smooth, correlated disturbances, as finite averaging leaves them."""
    rng = np.random.default_rng(seed)
    z_over, zf_over = flow.z / flow.z_face[-1], flow.z_face / flow.z_face[-1]
    state = rng.normal(size=(5, 6))
    blocks = []
    for _ in range(count):
        state = 0.4 * state + np.sqrt(1 - 0.4**2) * rng.normal(size=state.shape)

        def wave(row, s, state=state):
            modes = np.arange(1, 7)
            return amplitude * (state[row] / modes) @ np.cos(np.pi * np.outer(modes - 1, s))

        block = dict(profiles)
        mean = profiles["u"] * (1 + 0.15 * wave(0, z_over))
        for order, faces in enumerate(moments_of_w(flow), start=1):
            block["w" * order] = of_cells(faces * (1 + wave(3, zf_over)) ** order)
        for letter, row in (("u", 1), ("v", 2)):
            old = profiles[letter]
            variance = profiles[letter * 2] - old**2
            third = profiles[letter * 3] - 3 * old * profiles[letter * 2] + 2 * old**3
            fourth = (
                profiles[letter * 4] - 4 * old * profiles[letter * 3]
                + 6 * old**2 * profiles[letter * 2] - 3 * old**4
            )  # fmt: skip
            safe = np.where(variance > 0, variance, 1.0)
            new = variance * (1 + wave(row, z_over)) ** 2
            moments = raw_moments(mean if letter == "u" else old, new, third / safe**1.5, fourth / safe**2)
            for order, values in enumerate(moments, start=1):
                block[letter * order] = values
        shape = np.sin(np.pi * zf_over)
        block["uw"] = profiles["uw"] + flow.u_tau**2 * shape * wave(4, zf_over)
        block["tau_xz"] = profiles["tau_xz"] * (1 + 0.3 * wave(0, zf_over))
        blocks.append(block)
    return blocks


def write_timeseries(path: Path, flow: Flow, rows: int = 2000, end: float = 260.0, seed: int = 1) -> None:
    rng = np.random.default_rng(seed)
    time = np.linspace(0, end, rows)
    noise = np.zeros((4, rows))
    for i in range(1, rows):
        noise[:, i] = 0.97 * noise[:, i - 1] + np.sqrt(1 - 0.97**2) * rng.normal(size=4)
    start = np.exp(-time / 12)
    lines = ["step,time,dt,cfl,bulk_velocity,forcing,re_tau_bottom,re_tau_top,kinetic_energy,max_divergence,hash"]
    for i, t in enumerate(time):
        bottom = flow.re_tau * (1 - 0.35 * start[i] + 0.015 * noise[0, i])
        top = flow.re_tau * (1 - 0.35 * start[i] + 0.015 * noise[1, i])
        top = 0.0 if flow.flow_type == "open_channel" else top
        forcing = flow.u_tau**2 * (1 - 0.5 * start[i] + 0.02 * noise[2, i])
        energy = 0.53 + 0.06 * start[i] + 0.002 * noise[3, i]
        dt = 0.0061 * (1 + 0.4 * start[i] + 0.02 * noise[2, i])
        divergence = 3e-14 * np.exp(0.3 * noise[3, i])
        row = (10 * i, t, dt, 0.9, 1.0, forcing, bottom, top, energy, divergence)
        text = ",".join(f"{value:.17g}" for value in row)
        lines.append(f"{text},{hashes.byte_hash(0, text.encode()) >> 11}")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n")


def streaks(flow: Flow, seed: int) -> np.ndarray:
    """A plane of u with elongated streaks about 100 wall units apart, (ny, nx)."""
    rng = np.random.default_rng(seed)
    nx, ny, _ = flow.cells
    kx = np.fft.fftfreq(nx, flow.size[0] / nx) * 2 * np.pi / flow.re_tau
    ky = np.fft.fftfreq(ny, flow.size[1] / ny) * 2 * np.pi / flow.re_tau
    peak = 2 * np.pi / 110
    spectrum = np.exp(-(((np.abs(ky)[:, None] - peak) / (0.45 * peak)) ** 2) - np.abs(kx)[None, :] / 0.006)
    spectrum += 0.02 * np.exp(-((np.hypot(kx[None, :], ky[:, None]) / 0.12) ** 2))
    field_values = np.fft.ifft2(np.fft.fft2(rng.normal(size=(ny, nx))) * np.sqrt(spectrum)).real
    return 10 * flow.u_tau + field_values * 2.6 * flow.u_tau / field_values.std()


def write_slices(
    directory: Path,
    label: str,
    flow: Flow,
    at: float,
    times: Sequence[float],
    values: np.ndarray | None = None,
    part_samples: int = 300,
) -> None:
    """A slice of u at several times, normal to the axis that its label begins with; streaks without `values`."""
    normal = label[0]
    lines = {"x_face": np.arange(1, flow.cells[0] + 1) * flow.size[0] / flow.cells[0]}
    lines["y"] = (np.arange(flow.cells[1]) + 0.5) * flow.size[1] / flow.cells[1]
    lines["z"] = flow.z
    lines["x_face" if normal == "x" else normal] = np.array([at])
    shape = [lines[axis].size for axis in ("z", "y", "x_face")]
    planes = [streaks(flow, seed) for seed in range(len(times))] if values is None else values
    step = (100 * np.array(times)).astype(np.int64)
    u = np.array(planes).reshape(len(times), *shape)
    about: Values = {"normal": normal, "at": at}
    folder = directory / layout.SLICE_FOLDER
    write_series(folder, label, np.array(times), step, {"u": u}, lines, about, part_samples)


def write_run_json(path: Path) -> None:
    phases = [("momentum", 41.2), ("poisson", 33.9), ("halo", 4.4), ("statistics", 2.1)]
    record = {
        "version": "0.1.0",
        "compiler": "g++ 12.2",
        "precision": "double",
        "machine": {"host": "node01", "device": "CPU"},
        "ranks": 4,
        "process_grid": [2, 2],
        "exchange": "mpi_p2p",
        "why_stopped": "end time",
        "steps_taken": 42000,
        "wall_seconds": 85.1,
        "point_steps_per_second": 7.1e6,
        "phases": [{"name": name, "seconds": seconds, "calls": 3} for name, seconds in phases],
        "energy": {
            "device": "GPU",
            "devices": 2,
            "joules": 115300.0,
            "seconds": 85.0,
            "watts": 1356.5,
            "nj_per_point_per_step": 191.06,
            "joules_per_h_over_u_tau": 812.25,
            "u_tau": 0.0637,
        },
    }
    path.write_text(json.dumps(record))


def write_run(directory: Path, flow: Flow, blocks: int = 20, noise: float = 0.02) -> Path:
    """A whole run directory of the model turbulent flow."""
    profiles = turbulent_profiles(flow)
    write_statistics(directory / "statistics.h5", flow, noisy_blocks(flow, profiles, blocks, 3, noise))
    write_timeseries(directory / "timeseries.csv", flow)
    write_slices(directory, "z0", flow, 0.083, [259.0, 260.0])
    write_run_json(directory / "run.json")
    return directory
