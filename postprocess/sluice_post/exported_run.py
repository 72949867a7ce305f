"""A run as one file or folder in the CF conventions: NetCDF-4 or Zarr, with a group for each dataset of `open`."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import xarray as xr

from sluice_post import __version__, layout
from sluice_post.child_process import being_written, in_child
from sluice_post.datasets.cf import CONVENTIONS, cf_dataset
from sluice_post.datasets.fields import field_series, files_between, verify_fields
from sluice_post.errors import NoBlocksError, UsageError
from sluice_post.opened_run import OpenedRun
from sluice_post.phases import has_phases
from sluice_post.run import Run, read_provenance

_ONE_DATASET = (
    *("profiles", "block_means", "key_figures", "phases", "spectra", "densities"),
    "time_series",
)  # the others are several, by name
_WITHOUT_WALLS = ("block_means", "time_series", "slices", "probes", "fields")

_REFERENCES = (
    "Sluice, direct numerical simulation of turbulent channel flow. Its method: R. Diez Sanhueza, J. Peeters and "
    "P. Costa, arXiv:2502.06296 (2025), https://arxiv.org/abs/2502.06296"
)
_COMMENT = (
    "x is streamwise, y spanwise, z wall-normal. All numbers are over the scales that long_name and reference_scale "
    "give: the lengths h and nu/u_tau, the velocities U and u_tau. NAME_ci95 is the half width of the 95 % interval "
    "of NAME. Names that end in _face are of points on the faces of cells."
)
_CHUNK_BYTES = 4 * 2**20  # of a compressed piece of a field, at most, unless a plane is larger


def _lacks(run: OpenedRun, kind: str) -> str:
    """Why a run has none of this kind, by its case and its files; empty if it may have."""
    directory = run.directory
    if layout.EXPORTED[kind] and not (directory / layout.EXPORTED[kind]).exists():
        return f"there is no {layout.EXPORTED[kind]}"
    if kind in _WITHOUT_WALLS:
        return ""
    if not (run.parameters.no_slip_bottom or run.parameters.no_slip_top):
        return "there is no no-slip wall, so there are no wall units"
    if kind == "phases" and not has_phases(directory):
        return "there are no averages by phase"
    if kind in ("budgets", "scalar_budgets") and not run.blocks.has_budgets:
        return f"{layout.STATISTICS_FILE} holds no profiles of budgets"
    return ""


def _of_kind(run: OpenedRun, kind: str) -> Iterator[tuple[str, Callable[[], xr.Dataset]]]:
    """The groups of one kind, and what makes their datasets."""
    if kind in _ONE_DATASET:
        yield kind, lambda: getattr(run, kind)
        return
    found = getattr(run, kind)
    if kind == "scalar_budgets":
        for scalar, budgets in found.items():
            for budget in budgets:
                yield f"{kind}/{scalar}/{budget}", partial(budgets.__getitem__, budget)
    else:
        for name in found:
            yield f"{kind}/{name}", partial(found.__getitem__, name)


def _averaged(run: OpenedRun) -> dict[str, float]:
    """Between which times averages are taken."""
    return {"averaged_from": float(run.blocks.time_begin[0]), "averaged_to": float(run.blocks.time_end[-1])}


def _origin(run: OpenedRun) -> dict[str, str]:
    """The attributes of the whole: which run this is, and what made it."""
    directory = run.directory
    found = Run(directory)
    if (directory / layout.STATISTICS_FILE).is_file():
        found.parameters = run.parameters
    about = read_provenance(directory / layout.RUN_FILE, [])
    version, revision = str(about.get("version", "")), str(about.get("git_revision", ""))
    if found.parameters is not None:
        version, revision = version or found.parameters.version, revision or found.parameters.git_revision
    runs = [entry for entry in about.get("runs", []) if isinstance(entry, dict)]
    history = [
        f"{entry['ended']} Sluice {entry.get('version', version)}: run to step {entry.get('step')}, "
        f"time {entry.get('time')}"
        for entry in runs
        if "ended" in entry
    ]
    now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    history.append(f"{now} sluice-post {__version__}: export")
    source = f"direct numerical simulation by Sluice {version}".rstrip()
    return {
        "Conventions": CONVENTIONS,
        "title": found.name,
        "source": f"{source}, revision {revision}" if revision else source,
        "history": "\n".join(history),
        "references": _REFERENCES,
        "comment": _COMMENT,
        layout.ATTR_VERSION: version,
        layout.ATTR_REVISION: revision,
        layout.ATTR_CASE: found.case_text,
    }


def _storage_chunks(shape: tuple[int, ...], item: int) -> tuple[int, ...]:
    """Of an array (time, z, y, x): whole planes, and as many of them and of times as make a small piece."""
    found = list(shape)
    for axis in (1, 0):
        rest = item * int(np.prod(found[axis + 1 :]))
        found[axis] = max(1, min(shape[axis], _CHUNK_BYTES // max(rest, 1)))
    return tuple(found)


def _prepared(found: xr.Dataset) -> tuple[xr.Dataset, dict[str, tuple[int, ...]]]:
    """A dataset in chunks that both formats can write one after the other, and the chunks of the stored arrays."""
    stored = {}
    variables: dict[Any, xr.Variable] = {}
    for name, values in found.data_vars.items():
        if (chunks := values.variable.chunks) is None:
            continue
        small = _storage_chunks(values.shape, values.dtype.itemsize)
        stored[str(name)] = small
        whole = {
            dim: of_axis * max(1, max(of_dask) // of_axis)
            for dim, of_axis, of_dask in zip(values.dims, small, chunks, strict=True)
        }
        variables[name] = values.variable.chunk(whole)
    return found.assign(variables), stored


class NetCdf:
    """A NetCDF-4 file."""

    def __init__(self, path: Path, attributes: dict[str, str]) -> None:
        self._path = path
        xr.Dataset(attrs=attributes).to_netcdf(path, mode="w", engine="h5netcdf")

    def write(self, group: str, found: xr.Dataset) -> None:
        """Adds a group. Fields are compressed by gzip at level 1: higher ones take long and save little."""
        found, stored = _prepared(found)
        encoding: dict[Any, Any] = {}
        for name, values in found.data_vars.items():
            if values.ndim > 0 and values.dtype.kind in "if":
                encoding[name] = values.encoding | {"zlib": True, "complevel": 1, "shuffle": True}
            if name in stored:
                encoding[name]["chunksizes"] = stored[str(name)]
        found.to_netcdf(self._path, mode="a", group=group, engine="h5netcdf", encoding=encoding)

    def finish(self) -> None:
        """To be called after the last group."""
        with self._path.open("rb") as file:
            os.fsync(file.fileno())

    @staticmethod
    def is_one(path: Path) -> bool:
        """Whether what is there may be replaced."""
        return path.is_file()


class Zarr:
    """A folder in version 2 of the Zarr format, which all versions of the package zarr read, compressed as it does."""

    def __init__(self, path: Path, attributes: dict[str, str]) -> None:
        self._path = path
        xr.Dataset(attrs=attributes).to_zarr(path, mode="w", zarr_format=2, consolidated=False)

    def write(self, group: str, found: xr.Dataset) -> None:
        """Adds a group."""
        found, stored = _prepared(found)
        encoding = {name: {"chunks": chunks} for name, chunks in stored.items()}
        found.to_zarr(self._path, mode="a", group=group, zarr_format=2, consolidated=False, encoding=encoding)

    def finish(self) -> None:
        """Collects all metadata in one file, which readers over a network need."""
        import zarr

        zarr.consolidate_metadata(str(self._path))

    @staticmethod
    def is_one(path: Path) -> bool:
        """Whether what is there may be replaced."""
        return path.is_dir() and any((path / name).is_file() for name in (".zgroup", "zarr.json"))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


@contextmanager
def _whole(path: Path, kind: type[NetCdf] | type[Zarr], overwrite: bool) -> Iterator[Path]:
    """Gives a temporary path beside the final one. What is there gets the final name if all goes well, else nothing."""

    def check() -> None:
        if path.exists() or path.is_symlink():
            if not overwrite:
                raise UsageError(f"{path}: is there already; --overwrite replaces it")
            if not kind.is_one(path):
                raise UsageError(f"{path}: is not what this command writes, so it is not replaced")

    check()
    temporary, former = (path.with_name(f".{path.name}.{os.getpid()}.{word}") for word in ("part", "old"))
    try:
        with being_written(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            check()
            if path.is_dir():
                path.rename(former)  # a folder cannot be replaced in one step
            temporary.replace(path)
    finally:
        if former.exists() and not path.exists():
            former.rename(path)
        _remove(former)
        _remove(temporary)


def _write_groups(run: OpenedRun, target: NetCdf | Zarr, only: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """The groups written, and sentences on what was left out."""
    groups: list[str] = []
    left_out: list[str] = []
    for name in only or layout.EXPORTED:
        if reason := _lacks(run, name):
            left_out.append(f"{name}: {reason}")
            continue
        for group, make in _of_kind(run, name):
            try:
                found = make()
            except (NoBlocksError, UsageError) as error:
                left_out.append(f"{group}: {error}")
                continue
            if name == "fields":
                files = field_series(run.directory)[found.attrs["name"]]
                for path in files_between(files, run.selection.begin, run.selection.end):
                    verify_fields(path)
            if layout.EXPORTED[name] == layout.STATISTICS_FILE:
                found = found.assign_attrs(_averaged(run))
            target.write(group, cf_dataset(found))
            groups.append(group)
    if not groups:
        raise UsageError(f"{run.directory}: has nothing to export ({'; '.join(left_out)})")
    target.finish()
    return groups, left_out


def write_run(
    run: OpenedRun, path: Path, kind: type[NetCdf] | type[Zarr], only: Sequence[str] | None, overwrite: bool
) -> tuple[list[str], list[str]]:
    """Writes the kinds of results that a run has; returns the groups, and sentences on what was left out."""
    import dask

    # One chunk at a time, so that memory does not grow with the size of the run.
    with _whole(path, kind, overwrite) as temporary, dask.config.set(scheduler="synchronous"):

        def write() -> tuple[list[str], list[str]]:
            return _write_groups(run, kind(temporary, _origin(run)), only)

        return in_child(write) if kind is NetCdf else write()
