"""Small fields, their statistics and spectra by plain sums, and the files that hold them."""

import numpy as np
import synthetic

from sluice_post import layout
from sluice_post.run import load_statistics
from sluice_post.spectra import evaluate_spectra, load_spectra, wall_spectra

EVEN, ODD, WIDE = (12, 8, 24), (9, 7, 24), (16, 12, 24)
AMPLITUDES = np.array([1.0, 1.2, 0.9, 1.1, 1.3, 0.8, 1.05, 0.95])  # of the blocks of a run
PLANES = ([0, 3, 11, 20], [0, 3, 12, 21])  # of 24 cells: 3 and 20, and the faces 3 and 21, are mirror images

MKM = """# up to Re_tau=590, Physics of Fluids
# Re_tau = 178.12
# nx = 128,  Re = 178.12,  y = 0.02997,  y+ =   5.34
#
#     k_x          E_uu         E_vv         E_ww         E_pp
#
   0.0   0.5   0.1  0.2  0.3
   0.5   1.0   0.3  0.4  0.5
   1.0   0.5   0.0  0.0  0.2
"""


class Fields:
    """A flow at one time: u, v, p at the centres, w and the two parts of the flux uw at the faces, (z, y, x)."""

    def __init__(self, flow, seed=0):
        rng = np.random.default_rng(seed)
        nx, ny, nz = flow.cells
        self.flow, u_tau = flow, flow.u_tau
        self.profiles = synthetic.turbulent_profiles(flow)
        mean = self.profiles["u"][:, None, None]
        self.u = mean + u_tau * rng.normal(size=(nz, ny, nx))
        self.v, self.p = u_tau * rng.normal(size=(nz, ny, nx)), u_tau**2 * rng.normal(size=(nz, ny, nx))
        self.w = u_tau * rng.normal(size=(nz + 1, ny, nx))
        self.w -= self.w.mean(axis=(1, 2), keepdims=True)
        self.a = u_tau * rng.normal(size=(nz + 1, ny, nx))

    def mirrored(self):
        image = object.__new__(Fields)
        image.flow, image.profiles = self.flow, self.profiles
        image.u, image.v, image.p, image.a = (f[::-1] for f in (self.u, self.v, self.p, self.a))
        image.w = -self.w[::-1]
        return image

    def statistics(self):
        """What statistics.h5 holds; the moments that spectra do not need are those of the model flow."""
        found = dict(self.profiles)
        for name in "uvp":
            field = getattr(self, name)
            found[name], found[2 * name] = field.mean(axis=(1, 2)), (field**2).mean(axis=(1, 2))
        return found | {"uw": (self.a * self.w).mean(axis=(1, 2))}

    def products(self):
        """What has spectra: name, both fields, and whether they are on faces."""
        return (
            *((2 * name, getattr(self, name), getattr(self, name), False) for name in "uvp"),
            *(("ww", self.w, self.w, True), ("uw", self.a, self.w, True)),
        )

    def spectra(self):
        return {f"{name}_k{axis}": spectrum(f, g, axis) for axis in "xy" for name, f, g, _ in self.products()}

    def plane_spectra(self, centres, faces):
        """Spectra in both directions on these planes, by their numbers."""
        found = {"z_kxky": self.flow.z[centres], "z_face_kxky": self.flow.z_face[faces]}
        for name, f, g, on_faces in self.products():
            planes = faces if on_faces else centres
            found[f"{name}_kxky"] = np.array([plane_spectrum(f[k], g[k]) for k in planes])
        return found


def spectrum(f, g, axis):
    """One-sided cospectrum: the plain sum over its modes is the plane mean of f g."""
    along, across = (2, 1) if axis == "x" else (1, 2)
    count = f.shape[along]
    product = np.fft.rfft(f, axis=along) * np.conj(np.fft.rfft(g, axis=along)) / count**2
    energy = product.real.mean(axis=across)
    energy[:, 1 : (count - 1) // 2 + 1] *= 2
    return energy


def plane_spectrum(f, g):
    """One-sided cospectrum in both directions, (ky, kx), by a sum over all pairs of wavenumbers."""
    ny, nx = f.shape
    product = (np.fft.fft2(f) * np.conj(np.fft.fft2(g))).real / (nx * ny) ** 2
    found = np.zeros((ny // 2 + 1, nx // 2 + 1))
    for (n, m), value in np.ndenumerate(product):
        found[min(n, ny - n), min(m, nx - m)] += value
    return found


def random_blocks(flow, count, heights=None, seed=1):
    """Means of blocks with the shapes of spectra.h5, and of planes at heights of centres and faces if given."""
    rng = np.random.default_rng(seed)
    nx, ny = flow.cells[0] // 2 + 1, flow.cells[1] // 2 + 1
    shapes = {}
    for name in (*layout.CENTRE_SPECTRA, *layout.FACE_SPECTRA):
        points = flow.cells[2] + (name in layout.FACE_SPECTRA)
        shapes |= {f"{name}_kx": (points, nx), f"{name}_ky": (points, ny)}
        if heights is not None:
            shapes[f"{name}_kxky"] = (len(heights[0]), ny, nx)
    lines = {} if heights is None else dict(zip(("z_kxky", "z_face_kxky"), map(np.asarray, heights), strict=True))
    return [{name: rng.random(shape) for name, shape in shapes.items()} | lines for _ in range(count)]


def write(directory, states, planes=None, **options):
    flow = states[0].flow
    synthetic.write_statistics(directory / "statistics.h5", flow, [s.statistics() for s in states], **options)
    spectra = [s.spectra() | (s.plane_spectra(*planes) if planes else {}) for s in states]
    synthetic.write_spectra(directory / "spectra.h5", flow, spectra, **options)


def write_two_viscosities(path, flow, numbers):
    """Blocks of two flows, by the number of the flow of each."""
    sets = [synthetic.parameters_of(flow) | {"flow.reynolds.viscosity": repr(n * flow.viscosity)} for n in (1, 2)]
    synthetic.write_parameter_sets(path, numbers, sets)


def load(directory, begin=None, end=None):
    parameters, statistics = load_statistics(directory, begin, end)
    return parameters, load_spectra(directory, statistics, begin, end)


def spectra_of(directory, states, side=None, planes=None):
    """Spectra over the whole height, written and read back."""
    write(directory, states, planes)
    parameters, blocks = load(directory)
    return wall_spectra(blocks.means(), parameters, side)


def evaluated(directory, states, heights=None, side=None, planes=None):
    """Spectra at heights z+ with intervals, written and read back."""
    write(directory, states, planes)
    parameters, blocks = load(directory)
    return evaluate_spectra(blocks, parameters, heights, side)


def flow_of(cells=EVEN, **options):
    return synthetic.Flow(u_tau=0.0637, cells=cells, **options)


def fluctuation(fields, name):
    """Less the mean over the plane and over all times."""
    stacked = np.stack([getattr(state, name) for state in fields])
    return stacked - stacked.mean(axis=(0, 2, 3), keepdims=True)


class Wave(Fields):
    """u has one mode along x and another along y, with equal amplitudes at all heights; v, w and p have mode 1."""

    def __init__(self, flow, along_x, along_y, amplitude=1.0):
        nx, ny, nz = flow.cells
        self.flow, self.profiles = flow, synthetic.turbulent_profiles(flow)
        x, y = 2 * np.pi * np.arange(nx) / nx, 2 * np.pi * np.arange(ny)[:, None] / ny
        mean, one = self.profiles["u"][:, None, None], np.ones((nz, 1, 1))
        wave = amplitude * flow.u_tau * (np.cos(along_x * x) + np.cos(along_y * y))
        self.u = mean + wave * one
        self.v = self.p = flow.u_tau * (np.cos(x) + np.sin(y)) * one
        self.w = flow.u_tau * (np.cos(x) + np.sin(y)) * np.ones((nz + 1, 1, 1))
        outward = 1.0 if flow.flow_type != "channel" else np.sign(1 - flow.z_face)[:, None, None]
        self.a = -self.w * outward


class Oblique(Wave):
    """All components have one mode (kx, ky) = (3, 2), of unequal amplitudes to the left and to the right."""

    def __init__(self, flow, amplitude=1.0):
        super().__init__(flow, 1, 1)
        nx, ny, nz = flow.cells
        x, y = 2 * np.pi * np.arange(nx) / nx, 2 * np.pi * np.arange(ny)[:, None] / ny
        wave = amplitude * flow.u_tau * (2 * np.cos(3 * x + 2 * y) + np.sin(3 * x - 2 * y))
        self.u = self.profiles["u"][:, None, None] + wave * np.ones((nz, 1, 1))
