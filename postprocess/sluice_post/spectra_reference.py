"""Published spectra that a user has downloaded.

Moser, Kim & Mansour (chan*.xspec.*, chan*.zspec.*) and the layout of Lee & Moser (*1d_energy_spectra.h5). Their y is
wall-normal and z spanwise, so their E_vv is our ww and their k_z our k_y. Wavenumbers are in units of 1/h. Values of
Moser, Kim & Mansour are one-sided, over u_tau^2, and not divided by the spacing of the wavenumbers: their sum is the
variance. Those of Lee & Moser are densities in the units of their velocity: the integral is the variance.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf
from pathlib import Path

import h5py
import numpy as np

from sluice_post import layout
from sluice_post.arrays import Array
from sluice_post.errors import InputOutputError
from sluice_post.flow import CHANNEL
from sluice_post.hdf5_file import reading
from sluice_post.reference import header_of, kind_of, parse_table

AXES = layout.SPECTRA_AXES
_AXIS_OF_HEADING = {"k_x": "x", "k_z": "y"}
_QUANTITIES = {"E_uu": "uu", "E_vv": "ww", "E_ww": "vv", "E_pp": "pp"}
_NUMBER = r"\s*=\s*([0-9]+\.?[0-9]*)"
SAME_HEIGHT = 0.1  # published spectra are shown at heights that differ by less than this fraction


@dataclass(frozen=True, eq=False)
class PublishedSpectra:
    """Spectra at one height in wall units; wavenumbers are those over h."""

    label: str
    axis: str
    re_tau: float
    z_over_h: float
    wavenumber: Array
    energy: dict[str, Array]
    whole: bool = False  # of a file with all heights
    kind: str = CHANNEL  # of flow (flow.py), as far as the file tells

    @property
    def height(self) -> float:
        """z+, or inf at the centre."""
        return inf if self.z_over_h > 0.999 else self.z_over_h * self.re_tau

    def density_plus(self, quantity: str) -> tuple[Array, Array]:
        """k+ and E+(k+) without mode 0."""
        spacing = self.wavenumber[1] - self.wavenumber[0]
        return self.wavenumber[1:] / self.re_tau, self.energy[quantity][1:] / spacing * self.re_tau

    def coefficient(self, quantity: str, distance: Array) -> Array:
        """Two-point correlation coefficient at distances over h."""
        energy = self.energy[quantity]
        values: Array = np.cos(np.outer(distance, self.wavenumber)) @ energy / energy.sum()
        return values


def _is_hdf5(path: Path) -> bool:
    return path.is_file() and bool(h5py.is_hdf5(path))  # HDF5 would wait for the other end of a pipe


def holds_spectra(path: Path) -> bool:
    """Whether a file of published data holds spectra."""
    if _is_hdf5(path):
        return True
    return any(word in line.split() for line in header_of(path) for word in _AXIS_OF_HEADING)


def read_all_spectra(paths: Sequence[Path]) -> list[PublishedSpectra]:
    """Reads files of published spectra, each of one height or of all."""
    found = []
    for path in paths:
        found += read_lee_moser_spectra(path) if _is_hdf5(path) else [read_published_spectra(path)]
    return found


def read_lee_moser_spectra(path: Path) -> list[PublishedSpectra]:
    """Reads the spectra of Lee & Moser at all their heights but the wall."""
    found = []
    with reading(path, "the layout of Lee & Moser"), h5py.File(path, "r") as file:
        u_tau, re_tau = (float(np.ravel(file[name][()])[0]) for name in ("u_tau", "Re_tau"))
        y_plus = np.ravel(file["Y_plus"][()])
        for axis, theirs in zip(AXES, layout.LEE_MOSER_AXES, strict=True):
            k = np.ravel(file[theirs][()])
            factor = (k[1] - k[0]) / u_tau**2
            names = layout.LEE_MOSER_SPECTRA.items()
            energy = {ours: sign * factor * file[f"{name}_{theirs}"][()] for ours, (name, sign) in names}
            for n in np.flatnonzero(y_plus > 0):
                at_height = {name: values[:, n] for name, values in energy.items()}
                z, kind = float(y_plus[n]) / re_tau, kind_of(path, ())
                found.append(PublishedSpectra(path.name, axis, re_tau, z, k, at_height, whole=True, kind=kind))
    return found


def read_published_spectra(path: Path) -> PublishedSpectra:
    """Reads a file of published spectra at one height."""
    header, headings, table = parse_table(path, tuple(_AXIS_OF_HEADING), "MKM chan180.xspec.5 and chan180.zspec.5")
    text = "\n".join(header)
    re_tau = re.findall(r"Re_?tau" + _NUMBER, text)
    height = re.findall(r"\by" + _NUMBER, text)
    if not re_tau or not height:
        raise InputOutputError(f"{path}: its header does not give Re_tau and y, the height of the spectra")
    first = next(name for name in headings if name in _AXIS_OF_HEADING)
    energy = {_QUANTITIES[name]: table[:, column] for column, name in enumerate(headings) if name in _QUANTITIES}
    if not energy or len(table) < 3:
        raise InputOutputError(f"{path}: holds no spectra of u, v, w or p")
    wavenumber, kind = table[:, headings.index(first)], kind_of(path, header)
    scales = float(re_tau[-1]), float(height[-1])  # before them, the title of the paper has another Re_tau
    return PublishedSpectra(path.name, _AXIS_OF_HEADING[first], *scales, wavenumber, energy, kind=kind)


def heights_of(published: Sequence[PublishedSpectra]) -> list[float] | None:
    """The heights of all files of one height, z+ in increasing order; None without such files."""
    return sorted({round(spectra.height, 2) for spectra in published if not spectra.whole}) or None


def find_published(published: Sequence[PublishedSpectra], axis: str, height: float) -> PublishedSpectra | None:
    """The published spectra along this axis whose height is nearest, if it is near enough."""

    def distance(spectra: PublishedSpectra) -> float:
        if spectra.height == height:
            return 0.0
        return inf if inf in (height, spectra.height) else abs(spectra.height / height - 1)

    along = [spectra for spectra in published if spectra.axis == axis]
    nearest = min(along, key=distance, default=None)
    return nearest if nearest is not None and distance(nearest) < SAME_HEIGHT else None


def not_shown(published: Sequence[PublishedSpectra], heights: Sequence[float]) -> list[str]:
    """The files of which find_published gives nothing at any of the heights."""
    shown = [find_published(published, axis, height) for axis in AXES for height in heights]
    labels = {spectra.label for spectra in shown if spectra is not None}
    return list(dict.fromkeys(spectra.label for spectra in published if spectra.label not in labels))
