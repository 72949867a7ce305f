"""Files with objects that no run writes, and without a hash of their metadata.

A command refuses such a file with a message that names it, or does not need the object; none ends in a traceback.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import synthetic
from synthetic_spectra import random_blocks
from test_damaged_files import objects_of

from sluice_post.cli import main

FLOW = synthetic.Flow("channel", cells=(8, 6, 16))


PARAMETERS = synthetic.parameters_of(FLOW)
FORGERIES: dict[str, Callable[[h5py.File, str, Any], object]] = {
    "text": lambda file, name, values: file.create_dataset(name, data="text"),
    "group": lambda file, name, values: file.create_group(name),
    "fewer": lambda file, name, values: file.create_dataset(name, data=values[:-1]),
    "remove": lambda file, name, values: None,
}


@pytest.fixture(scope="module")
def intact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run with statistics, spectra, a time series and slices."""
    directory = tmp_path_factory.mktemp("intact")
    synthetic.write_run(directory, FLOW, blocks=3)
    path = directory / "statistics.h5"
    synthetic.write_parameter_sets(path, [0, 0, 0], [PARAMETERS])
    synthetic.write_spectra(directory / "spectra.h5", FLOW, random_blocks(FLOW, 3), samples=5)
    return directory


def forged(intact: Path, path: str, folder: Path) -> Iterator[tuple[str, Path]]:
    """For each object of the file, directories in which it is another thing."""
    for name in filter("/".__ne__, objects_of(intact / path)):
        for forgery, forge in FORGERIES.items():
            directory = folder / f"{name.replace('/', '.')}_{forgery}"
            directory.mkdir()
            for source in intact.glob("*.h5"):
                shutil.copy(source, directory)
            with h5py.File(directory / path, "r+") as file:
                values = file[name][()] if isinstance(file[name], h5py.Dataset) else np.zeros(())
                if forgery == "fewer" and not np.size(values) * np.ndim(values):
                    continue
                del file[name]
                forge(file, name, values)
            yield f"{forgery} {name}", directory


@pytest.mark.parametrize("path", ["statistics.h5", "spectra.h5"])
@pytest.mark.unpainted
def test_each_object_forged(intact: Path, path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    accepted = []
    for what, directory in forged(intact, path, tmp_path):
        others = ("profiles", "spectra") if what.startswith("text ") else ()
        for command in ("merge", *others):
            code = main([command, str(directory), "-o", str(directory / f"made_{command}")])
            told = capsys.readouterr().err
            if code == 0:
                accepted.append((command, what))
                continue
            assert code == 4, (command, what, told)
            assert str(directory / path) in told, (command, what, told)
            assert told.count("\n") == 1
            assert not (directory / "made_merge" / path).exists()
    merged = [what for command, what in accepted if command == "merge"]
    # Not needed: second names of coordinates, and what is simply not there in files of earlier versions.
    allowed = {"z", "z_face", "kx", "ky", "block"}
    optional = {f"remove {name}" for name in ("step_end", "grid/kx", "grid/ky")}
    assert all(what.split()[1] in allowed or what in optional for what in merged), merged


@pytest.mark.parametrize("key", ["flow.type", "flow.reynolds.viscosity", "flow.rotation.geostrophic"])
@pytest.mark.parametrize("value", [None, "text"])
@pytest.mark.unpainted
def test_parameters_forged(
    intact: Path, key: str, value: str | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the right hash."""
    directory = tmp_path / "run"
    shutil.copytree(intact, directory)
    forged_set = {name: text for name, text in {**PARAMETERS, key: value}.items() if text is not None}
    path = directory / "statistics.h5"
    with h5py.File(path, "r+") as file:
        del file["parameter_set"], file["parameter_set_0"]
    synthetic.write_parameter_sets(path, [0, 0, 0], [forged_set])
    for command in ("profiles", "spectra"):
        code = main([command, str(directory), "-o", str(directory / f"made_{command}")])
        told = capsys.readouterr().err
        if key == "flow.reynolds.viscosity" or (key == "flow.rotation.geostrophic" and value):
            assert code == 4, told
            assert str(path) in told
        assert code == 0 or told.count("\n") == 1


@pytest.mark.unpainted
def test_a_report_says_that_the_parts_of_slices_are_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    synthetic.write_run(tmp_path, FLOW, blocks=3)
    for part in (tmp_path / "slices" / "parts").iterdir():
        part.unlink()
    assert main(["report", str(tmp_path)]) == 0
    told = capsys.readouterr()
    assert f"{tmp_path / 'slices' / 'z0.h5'}: the parts that it joins are missing" in told.out + told.err
