"""What is installed for Python, and what messages say about it: the package comes from its sources."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sluice_post
from sluice_post import errors
from sluice_post.cli import main

ROOT = Path(__file__).resolve().parents[2]


def test_a_missing_module_is_installed_from_the_sources(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(errors, "find_spec", lambda _: None)
    assert main(["modes", str(tmp_path)]) == 2
    assert "In the folder of Sluice's sources: pip install './postprocess[xarray]'" in capsys.readouterr().err


def test_only_public_names_are_listed() -> None:
    assert dir(sluice_post) == ["__version__", "compare", "open"]


def test_no_text_names_the_package_of_a_registry() -> None:
    folders = ("postprocess/sluice_post", "docs", "scripts", "containers")
    files = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.is_file()]
    texts = {path: path.read_bytes() for path in (*files, ROOT / "README.md", ROOT / "postprocess/README.md")}
    found = [path for path, text in texts.items() if re.search(rb"pip install [\"']?sluice-post", text)]
    assert found == []


def test_the_extra_for_xarray_has_all_that_the_documented_calls_need() -> None:
    text = (ROOT / "postprocess/pyproject.toml").read_text()
    assert re.search(r'^xarray = \["h5netcdf>=.*", "dask>=.*"\]$', text, re.MULTILINE)


def test_the_extra_for_zarr_has_that_for_xarray() -> None:
    text = (ROOT / "postprocess/pyproject.toml").read_text()
    assert re.search(r'^zarr = \["sluice-post\[xarray\]", .*"zarr>=', text, re.MULTILINE)


def test_the_environment_of_the_scripts_has_xarray() -> None:
    """scripts/quickstart.sh makes it by python_environment of scripts/common.sh."""
    assert '"$root/postprocess[xarray]"' in (ROOT / "scripts/common.sh").read_text()
    assert "python_environment" in (ROOT / "scripts/quickstart.sh").read_text()
