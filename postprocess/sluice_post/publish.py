"""The command ``sluice-post publish``: a folder for a data deposit, with nothing in it of the machine or its users."""

from __future__ import annotations

import argparse
import hashlib
import json
import mmap
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import yaml

from sluice_post import __version__, export, layout
from sluice_post.child_process import being_written
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.exported_run import NetCdf, write_run
from sluice_post.flow import flow_of, held_reynolds
from sluice_post.flow_words import flow_text
from sluice_post.hashes import ENDING, values_hash
from sluice_post.hdf5_file import Hdf5File, append_metadata_hash, reading
from sluice_post.key_figures import figures_of
from sluice_post.opened_run import OpenedRun
from sluice_post.printed import count_of
from sluice_post.profiles import profiles_csv
from sluice_post.run import read_provenance

FILL_IN = "FILL IN"  # what the authors have to replace
SUMS_FILE, METADATA_FILE, CRATE_FILE = "SHA256SUMS", "metadata.jsonld", "ro-crate-metadata.json"
NETCDF_FILE, VERSIONS_FILE = "results.nc", "versions.json"
SOFTWARE = {"@id": "#sluice", "@type": "SoftwareApplication", "name": "Sluice"}
# Of run.json: what a reader needs to repeat the run; no hosts and paths.
_VERSIONS = (
    *("version", "git_revision", "compiler", "precision", "libraries", "ranks", "threads", "gpus", "process_grid"),
    *("exchange", "z_blocks", "step", "time", "steps_taken", "stepping_seconds", "ended"),
)
_STATISTICS = [name for name in layout.EXPORTED if name not in ("slices", "probes", "fields")]
_ABSOLUTE = re.compile(r"""(?<=")/[^"\n]+(?=")|(?<=')/[^'\n]+(?=')|(?<=[\s\[{,])/[^\s,"'\]}]+""")
_DESCRIPTIONS = {
    "README.md": "what the files hold",
    "CITATION.cff": "how to cite this data",
    "LICENSE": "the licence",
    layout.CASE_FILE: "the case file with all defaults; `sluice run` repeats the run from it",
    VERSIONS_FILE: "versions of the program and its libraries, the machine, the number of processes",
    layout.STATISTICS_FILE: "sums over planes and time, in blocks of time",
    layout.SPECTRA_FILE: "spectra, in blocks of time",
    layout.DENSITIES_FILE: "probability densities, in blocks of time",
    layout.TIMESERIES_FILE: "time series of means over the volume and the walls, one line a step",
    layout.PROFILES_CSV: "profiles in wall units; NAME_ci95 is the half width of the 95 % interval of NAME",
    NETCDF_FILE: "results in the CF conventions, a group for each kind",
    METADATA_FILE: "these facts for search engines (schema.org)",
    CRATE_FILE: "these facts as a research object crate (RO-Crate 1.1)",
}


def absolute_paths(case: str) -> list[str]:
    """The absolute paths in the text of a case, the longest first."""
    return sorted({path for path in _ABSOLUTE.findall(case) if path.strip("/")}, key=len, reverse=True)


def _name(path: str) -> str:
    return path.rstrip("/").rpartition("/")[2]


def _masked(path: str) -> str:
    """The path without its folders, in as many bytes: `.///name`, so that HDF5 files keep their structure."""
    folder = len(path.encode()) - len(_name(path).encode())
    return "." + "/" * (folder - 1) + _name(path)


def _without_paths(case: str, shown: Callable[[str], str]) -> str:
    for path in absolute_paths(case):
        case = case.replace(path, shown(path))
    return case


def _hide_paths(path: Path, case: str) -> None:
    """Masks the paths in the case that a NetCDF file or one of Sluice holds; renews the hashes of the latter.

    All else in the file stays as it is, also bytes that look like a short path.
    """
    excluded, is_ours = None, path.suffix == ".h5"
    if is_ours:
        with Hdf5File(path, layout.STATISTICS_FORMAT) as file:
            values, excluded = file.root, file.excluded
        case = str(values[layout.ATTR_CASE])  # that of a restart may differ
    masked = _without_paths(case, _masked)
    if masked == case:
        return
    if excluded is not None:
        os.truncate(path, path.stat().st_size - ENDING.size - excluded.nbytes)
    old, new = (text.encode("utf-8", "surrogateescape") for text in (case, masked))
    with path.open("r+b") as file_bytes, mmap.mmap(file_bytes.fileno(), 0) as content:
        place = -1
        while (place := content.find(old, place + 1)) >= 0:
            content[place : place + len(old)] = new
    if is_ours:
        with h5py.File(path, "r+") as written:
            renewed = np.uint64(values_hash({**values, layout.ATTR_CASE: masked}))
            written.attrs.modify(layout.VALUES_HASH, renewed)  # in its place
        if excluded is not None:
            append_metadata_hash(path, excluded)
        with Hdf5File(path, layout.STATISTICS_FORMAT):
            pass  # the copy has the right hashes


def _variables(path: Path) -> list[dict[str, str]]:
    """Name, description and unit of each variable of an HDF5 or NetCDF file."""
    found: list[dict[str, str]] = []

    def add(name: str, item: h5py.HLObject) -> None:
        if isinstance(item, h5py.Dataset) and "long_name" in item.attrs and not name.endswith("_ci95"):
            unit = item.attrs.get("reference_scale", item.attrs.get("units", "1"))
            found.append({"name": name, "description": str(item.attrs["long_name"]), "unitText": str(unit)})

    with reading(path, "results"), h5py.File(path, "r") as file:
        file.visititems(add)
        dict(file.attrs)  # all of them can be read
    return found


def _machine(record: dict[str, Any]) -> dict[str, Any]:
    found = record.get("machine")
    return found if isinstance(found, dict) else {}


def _versions(record: dict[str, Any]) -> dict[str, Any]:
    """What of run.json may be published."""
    found = {name: record[name] for name in _VERSIONS if name in record}
    if "device" in _machine(record):
        found["machine"] = {"device": _machine(record)["device"]}
    runs = record.get("runs")
    if isinstance(runs, list):
        found["runs"] = [_versions(run) for run in runs if isinstance(run, dict)]
    return found


def _description(run: OpenedRun) -> list[str]:
    """Sentences on the flow, the grid and the averages."""
    parameters, blocks = run.parameters, run.blocks
    figures = figures_of(blocks.means(), parameters) if _has_walls(run) else {}
    flow = flow_of(parameters)
    text = flow_text(parameters, flow, held_reynolds(parameters, figures) if figures else None)
    cells, size = (" x ".join(f"{n:.6g}" for n in numbers) for numbers in (parameters.cells, parameters.size))
    order = blocks.sampled_parameters().get(layout.SET_ORDER, 2)
    found = [
        f"{text[0].upper()}{text[1:]}.",
        f"Kinematic viscosity {parameters.viscosity:.6g}"
        + (f", Re_tau = {figures['re_tau']:.5g}." if "re_tau" in figures else "."),
        f"{cells} cells in a box of {size} (x streamwise, y spanwise, z wall-normal), differences of order {order} "
        "along x and y and of order 2 along z.",
        f"Averaged from time {blocks.time_begin[0]:g} to {blocks.time_end[-1]:g} in {len(blocks)} blocks of time.",
    ]
    revision = f", revision {parameters.git_revision}" if parameters.git_revision else ""
    return [*found, f"Computed by Sluice {parameters.version}{revision}; evaluated by sluice-post {__version__}."]


def _has_walls(run: OpenedRun) -> bool:
    return run.parameters.no_slip_bottom or run.parameters.no_slip_top


def _people(names: Sequence[str], orcids: Sequence[str]) -> list[dict[str, str]]:
    """The authors as entries of CITATION.cff."""
    if orcids and len(orcids) != len(names):
        raise UsageError(f"--orcid gives {len(orcids)}, but --author {len(names)}; give one for each author, in order")
    for orcid in orcids:
        if not re.fullmatch(r"(\d{4}-){3}\d{3}[\dX]", orcid):
            raise UsageError(f"--orcid {orcid}: an ORCID iD looks like 0000-0002-1825-0097")
    people = []
    for number, name in enumerate(names or [f"{FILL_IN} {FILL_IN}"]):
        given, _, family = name.strip().rpartition(" ") if names else (FILL_IN, "", FILL_IN)
        person = {"family-names": family} | ({"given-names": given} if given else {})
        if orcids:
            person["orcid"] = f"https://orcid.org/{orcids[number]}"
        people.append(person)
    return people


def _citation(title: str, people: list[dict[str, str]], doi: str | None, licence: str) -> str:
    content = {
        "cff-version": "1.2.0",
        "type": "dataset",
        "message": "If you use this data, please cite it as below.",
        "title": title,
        "authors": people,
        "license": licence,
    } | ({"doi": doi} if doi else {})
    text = str(yaml.safe_dump(content, sort_keys=False, allow_unicode=True, width=110))
    return text if doi else f"{text}# doi: {FILL_IN}\n"


def _dataset(title: str, text: Sequence[str], people: list[dict[str, str]], doi: str | None) -> dict[str, Any]:
    """What schema.org says of a Dataset, without its files and variables."""
    authors = []
    for number, person in enumerate(people, 1):
        names = {"givenName": person.get("given-names", ""), "familyName": person["family-names"]}
        about = {
            "@id": person.get("orcid", f"#author{number}"),
            "@type": "Person",
            "name": " ".join(names.values()).strip(),
        }
        authors.append(about | names)
    found = {"@type": "Dataset", "name": title, "description": " ".join(text), "creator": authors}
    keywords = ["turbulence", "direct numerical simulation", "channel flow", "wall-bounded flow"]
    return found | {"keywords": keywords} | ({"identifier": f"https://doi.org/{doi}"} if doi else {})


def _crate(dataset: dict[str, Any]) -> dict[str, Any]:
    """An RO-Crate of a dataset: every entity on its own, referred to by its @id."""
    entities: dict[str, dict[str, Any]] = {}

    def referred(value: Any) -> Any:
        if isinstance(value, list):
            return [referred(item) for item in value]
        if not isinstance(value, dict):
            return value
        name = value.get("@id", f"#{value.get('name')}")
        entities[name] = {"@id": name} | {key: referred(item) for key, item in value.items()}
        return {"@id": name}

    about = referred({"@id": "./"} | dataset)
    conforms = {"@id": "https://w3id.org/ro/crate/1.1"}
    descriptor = {"@id": CRATE_FILE, "@type": "CreativeWork", "conformsTo": conforms, "about": about}
    return {"@context": "https://w3id.org/ro/crate/1.1/context", "@graph": [descriptor, *entities.values()]}


def _write_data(run: OpenedRun, folder: Path, case: str, record: dict[str, Any]) -> list[str]:
    """Copies and writes the results and the case; returns sentences on what was left out."""
    copied = (layout.STATISTICS_FILE, layout.SPECTRA_FILE, layout.DENSITIES_FILE, layout.TIMESERIES_FILE)
    left_out = []
    for source in (run.directory / name for name in copied):
        if source.is_file():
            shutil.copyfile(source, folder / source.name)
        if source.with_name(f"{source.name}{layout.JOURNAL_SUFFIX}").exists():
            left_out.append(f"{source.name}: the blocks that are still in its journal; `sluice-post merge` adds them")
    if _has_walls(run):
        export.write_text(folder / layout.PROFILES_CSV, profiles_csv(run.wall_profiles))
    _, missing = write_run(run, folder / NETCDF_FILE, NetCdf, _STATISTICS, overwrite=False)
    for path in folder.iterdir():
        if path.suffix in (".h5", ".nc"):
            _hide_paths(path, case)
    export.write_text(folder / layout.CASE_FILE, _without_paths(case, _name))
    export.write_text(folder / VERSIONS_FILE, json.dumps(_versions(record), indent=2) + "\n")
    return left_out + missing


def _readme(title: str, text: Sequence[str], citation: str, licence: str, contents: dict[str, Any]) -> str:
    """The page that explains the folder. `contents`: variables by file."""
    name, address = layout.LICENCES[licence]
    lines = [f"# {title}", "", "## Simulation", "", *text, "", "## How to cite", ""]
    lines += [citation, "", f"Licence: {name} ({address}).", "", "## Files", ""]
    lines += ["| file | content |", "|---|---|"]
    lines += [f"| `{file}` | {_DESCRIPTIONS[file]} |" for file in contents]
    lines += ["", f"`sha256sum -c {SUMS_FILE}` checks that the files are whole.", "", "## Variables", ""]
    lines.append(
        "h is half the distance of two walls, or the depth of an open channel; U is the case's unit of velocity."
    )
    for file, variables in contents.items():
        if variables:
            lines += ["", f"### {file}", "", "| variable | meaning | unit |", "|---|---|---|"]
        for variable in variables:
            meaning = variable["description"].replace("|", r"\|")
            lines.append(f"| {variable['name']} | {meaning} | {variable['unitText']} |")
    return "\n".join(lines) + "\n"


def _sums(folder: Path) -> Iterator[str]:
    """The lines of SHA256SUMS."""
    for path in sorted(folder.iterdir()):
        digest = hashlib.sha256()
        with path.open("rb") as file:
            while part := file.read(1 << 20):
                digest.update(part)
        yield f"{digest.hexdigest()}  {path.name}\n"


def _require_clean(folder: Path, words: Sequence[str]) -> None:
    """An error if a file still names something of the machine. Shorter words stand in numbers by chance."""
    names = [word for word in words if len(word) > 5]
    for path in folder.iterdir():
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
            if found := next((name for name in names if content.find(name.encode()) >= 0), None):
                raise InputOutputError(f"{path.name}: would publish '{found}'; remove it from the case")


def _write_deposit(
    run: OpenedRun, folder: Path, people: list[dict[str, str]], arguments: argparse.Namespace
) -> list[str]:
    """Writes the files into an empty folder; returns sentences on what was left out."""
    doi, licence = arguments.doi, arguments.licence
    record = read_provenance(run.directory / layout.RUN_FILE, [])
    case, machine = run.parameters.resolved_case, _machine(record)
    title = arguments.title or run.parameters.title or f"Direct numerical simulation: {run.parameters.flow_type}"
    left_out = _write_data(run, folder, case, record)
    text = _description(run)
    if machine.get("device"):
        text.append(f"Machine: {count_of(record.get('ranks', 1), 'rank')}, {machine['device']}.")
    names = ", ".join(f"{person.get('given-names', '')} {person['family-names']}".strip() for person in people)
    citation = f"{names}: {title}. https://doi.org/{doi or FILL_IN}"
    contents: dict[str, Any] = {
        file: _variables(folder / file) if file.endswith((".h5", ".nc")) else []
        for file in _DESCRIPTIONS
        if (folder / file).exists() or file in ("README.md", "CITATION.cff", "LICENSE", METADATA_FILE, CRATE_FILE)
    }
    export.write_text(folder / "README.md", _readme(title, text, citation, licence, contents))
    export.write_text(folder / "CITATION.cff", _citation(title, people, doi, licence))
    name, address = layout.LICENCES[licence]
    export.write_text(folder / "LICENSE", f"{name} ({licence})\n\nThe full text of the licence: {address}\n")
    dataset = _dataset(title, text, people, doi) | {"license": address, "isBasedOn": SOFTWARE}
    dataset["datePublished"] = datetime.now(timezone.utc).date().isoformat()
    dataset["variableMeasured"] = [
        {"@type": "PropertyValue", "@id": f"#{file}/{variable['name']}"} | variable
        for file, variables in contents.items()
        for variable in variables
    ]
    parts = [{"@id": file, "@type": "File", "name": file, "description": _DESCRIPTIONS[file]} for file in contents]
    crate = _crate(dataset | {"hasPart": [part for part in parts if part["@id"] != CRATE_FILE]})
    described = {"@context": "https://schema.org/"} | dataset
    described["hasPart"] = [part | {"@type": "DataDownload"} for part in parts]
    for file, content in ((METADATA_FILE, described), (CRATE_FILE, crate)):
        export.write_text(folder / file, json.dumps(content, indent=2, ensure_ascii=False) + "\n")
    words = [*absolute_paths(case), str(run.directory.resolve()), str(machine.get("host", ""))]
    _require_clean(folder, words)
    export.write_text(folder / SUMS_FILE, "".join(_sums(folder)))
    return left_out


def publish_run(run: OpenedRun, arguments: argparse.Namespace) -> None:
    """Writes a deposit; what is there is never replaced."""
    people = _people(arguments.author, arguments.orcid)
    if arguments.doi is not None and not re.fullmatch(r"10\.\d{4,9}/\S+", arguments.doi):
        raise UsageError(f"--doi {arguments.doi}: a DOI looks like 10.5281/zenodo.1234567")
    folder: Path = arguments.output
    if folder.exists():
        raise UsageError(f"{folder}: is there already; name a new folder")
    unfinished = folder.with_name(f".{folder.name}.part")
    try:
        with being_written(folder):
            unfinished.mkdir(parents=True)
        left_out = _write_deposit(run, unfinished, people, arguments)
        with being_written(folder):
            unfinished.rename(folder)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    for sentence in left_out:
        print(f"left out: {sentence}")
    if not arguments.author or arguments.doi is None:
        print(f"replace '{FILL_IN}' in the files, or run this again with --author and --doi; then renew {SUMS_FILE}")
    print(f"deposit: {folder}")
