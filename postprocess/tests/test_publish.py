"""A folder for a data deposit: whole, described, and without anything of the machine."""

import hashlib
import json
import re
from pathlib import Path

import h5py
import numpy as np
import pytest
import synthetic
import yaml

pytest.importorskip("h5netcdf")

from sluice_post.cli import main
from sluice_post.hashes import ENDING_MARK
from sluice_post.hdf5_file import append_metadata_hash
from sluice_post.publish import absolute_paths

HOST, PATH = "node0815.cluster", "/home/jane.doe/runs/channel"
CASE = f"""title: "A channel"
flow: {{type: channel}}
output:
  directory: "{PATH}"
initial: {{profile: {PATH}.csv}}
"""


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run whose case and record name a host, a user and paths."""
    directory = synthetic.write_run(tmp_path / "run", synthetic.Flow(cells=(16, 12, 24)), blocks=3)
    synthetic.set_case(directory / "statistics.h5", CASE)
    machine = {"host": HOST, "device": "a processor"}
    record = {"version": "1.0", "ranks": 2, "machine": machine, "started_from": PATH, "unknown": HOST}
    (directory / "run.json").write_text(json.dumps(record | {"runs": [record]}))
    return directory


def publish(run: Path, folder: Path, *more: str) -> int:
    return main(["publish", str(run), "-o", str(folder), *more])


AUTHORS = ("--author", "Ada King Lovelace", "Homer", "--orcid", "0000-0002-1825-0097", "0000-0001-5109-3700")


def test_a_deposit_is_whole_and_described(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deposit"
    assert publish(run, folder, *AUTHORS, "--doi", "10.5281/zenodo.1", "--title", "Data", "--licence", "CC0-1.0") == 0
    sums = dict(reversed(line.split("  ")) for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert sums.keys() == {path.name for path in folder.iterdir()} - {"SHA256SUMS"}
    assert all(hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest for name, digest in sums.items())

    citation = yaml.safe_load((folder / "CITATION.cff").read_text())
    assert (citation["title"], citation["doi"], citation["license"]) == ("Data", "10.5281/zenodo.1", "CC0-1.0")
    ada = {"family-names": "Lovelace", "given-names": "Ada King", "orcid": "https://orcid.org/0000-0002-1825-0097"}
    assert citation["authors"] == [ada, {"family-names": "Homer", "orcid": "https://orcid.org/0000-0001-5109-3700"}]
    assert "publicdomain/zero" in (folder / "LICENSE").read_text()
    readme = (folder / "README.md").read_text()
    assert "Ada King Lovelace, Homer: Data. https://doi.org/10.5281/zenodo.1" in readme
    assert "16 x 12 x 24 cells" in readme
    assert re.search(r"^\| profiles/u_rms \| .+ \| u_tau \|$", readme, re.MULTILINE)
    assert json.loads((folder / "versions.json").read_text())["runs"][0]["machine"] == {"device": "a processor"}

    found = json.loads((folder / "metadata.jsonld").read_text())
    assert (found["@context"], found["@type"], found["name"]) == ("https://schema.org/", "Dataset", "Data")
    assert {"description", "creator", "license", "identifier", "datePublished"} <= found.keys()
    assert all(part["name"] in sums for part in found["hasPart"])
    for variable in found["variableMeasured"]:
        assert variable["@type"] == "PropertyValue"
        assert all(variable[key] for key in ("name", "description", "unitText"))
    assert {"profiles/U", "key_figures/cf"} <= {variable["name"] for variable in found["variableMeasured"]}

    crate = json.loads((folder / "ro-crate-metadata.json").read_text())["@graph"]
    entities = {entity["@id"]: entity for entity in crate}
    assert len(entities) == len(crate)
    assert entities["ro-crate-metadata.json"]["about"] == {"@id": "./"}
    root = entities["./"]
    assert {"name", "description", "datePublished", "license"} <= root.keys()
    for reference in (*root["hasPart"], *root["creator"], *root["variableMeasured"]):
        assert reference.keys() == {"@id"} and reference["@id"] in entities


def test_nothing_of_the_machine_is_published(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deposit"
    append_metadata_hash(run / "statistics.h5", np.zeros(0, np.uint64))
    assert publish(run, folder) == 0
    assert (folder / "statistics.h5").read_bytes().endswith(ENDING_MARK)
    for path in folder.iterdir():
        content = path.read_bytes()
        for word in (HOST, "jane.doe", "/home", str(tmp_path)):
            assert word.encode() not in content, (path.name, word)
    case = yaml.safe_load((folder / "resolved.yaml").read_text())
    assert case["output"]["directory"] == "channel"
    assert case["initial"]["profile"] == "channel.csv"
    assert "FILL IN" in (folder / "CITATION.cff").read_text()
    # The copy is still a run, with the same numbers.
    with h5py.File(run / "statistics.h5") as ours, h5py.File(folder / "statistics.h5") as copied:
        assert (ours["uu"][()] == copied["uu"][()]).all()
        assert Path(yaml.safe_load(copied.attrs["resolved_case"])["output"]["directory"]) == Path("channel")
    assert main(["profiles", str(folder), "-o", str(tmp_path / "p.csv")]) == 0
    assert (tmp_path / "p.csv").read_text() == (folder / "profiles.csv").read_text()


def test_stored_results_are_published(run: Path, tmp_path: Path) -> None:
    for name in ("run.json", "timeseries.csv"):
        (run / name).unlink()
    assert publish(run, tmp_path / "deposit") == 0
    assert {"statistics.h5", "results.nc", "resolved.yaml"} <= {path.name for path in (tmp_path / "deposit").iterdir()}


def test_short_paths_are_hidden_in_the_case_alone(run: Path, tmp_path: Path) -> None:
    """Numbers and texts with the bytes of such a path stay as they are; so does a record without a machine."""
    synthetic.set_case(run / "statistics.h5", CASE.replace(PATH, "/h"))
    (run / "run.json").write_text('{"machine": ["unknown"]}')
    folder = tmp_path / "deposit"
    assert publish(run, folder) == 0
    assert "| key_figures/cf |" in (folder / "README.md").read_text()
    with h5py.File(folder / "results.nc") as file:
        assert file["time_series/max_divergence"].attrs["reference_scale"] == "U/h"
        assert 'directory: ".h"' in file.attrs["resolved_case"]
        assert file["profiles/z"].attrs["long_name"] == "distance of cell centres from the wall / h"
    with h5py.File(folder / "statistics.h5") as file:
        assert 'directory: ".h"' in file.attrs["resolved_case"]


def test_absolute_paths_of_a_case() -> None:
    text = 'a: "/with space/x"\nb: /bare/y\nc: [/one, /two/z]\nd: x/2 + 1/z\ne: "U/h"\nf: https://a.org/b\n'
    assert absolute_paths(text) == ["/with space/x", "/bare/y", "/two/z", "/one"]


@pytest.mark.parametrize(
    ("more", "code", "message"),
    [
        (("--orcid", "0000-0002-1825-0097"), 2, "--author 0"),
        (("--author", "A B", "--orcid", "1825"), 2, "ORCID iD looks like"),
        (("--doi", "https://doi.org/10.1/a"), 2, "a DOI looks like"),
        (("--from", "1e9"), 2, "no block lies inside"),
    ],
)
def test_what_cannot_be_published(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], more: tuple[str, ...], code: int, message: str
) -> None:
    before = sorted(tmp_path.iterdir())
    assert publish(run, tmp_path / "deposit", *more) == code
    assert message in capsys.readouterr().err
    assert sorted(tmp_path.iterdir()) == before  # no unfinished folder is left
    assert publish(run, run) == 2
    assert "is there already" in capsys.readouterr().err
