"""Runs that the tests of a module share: of its CASE, undisturbed or stopped at step REACHED."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from sluice_run import must, sluice, write_case


@pytest.fixture(scope="module")
def reference(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The output directory of the undisturbed run; read-only for tests."""
    folder = tmp_path_factory.mktemp("reference")
    must(sluice("run", write_case(folder, request.module.CASE)))
    return folder / "out"


@pytest.fixture(scope="module")
def stopped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the stopped run; read-only for tests."""
    folder = tmp_path_factory.mktemp("stopped")
    must(sluice("run", write_case(folder, request.module.CASE), "--steps", request.module.REACHED))
    return folder


@pytest.fixture
def run(stopped: Path, tmp_path: Path) -> Path:
    """A copy of the stopped run."""
    shutil.copytree(stopped, tmp_path / "run")
    return tmp_path / "run"
