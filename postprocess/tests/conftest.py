import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import synthetic


@pytest.fixture
def flow() -> synthetic.Flow:
    """A small turbulent channel."""
    return synthetic.Flow(cells=(32, 24, 48))


@pytest.fixture(scope="session")
def turbulent_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run directory of a turbulent channel; tests only read what it came with."""
    directory = tmp_path_factory.mktemp("run")
    return synthetic.write_run(directory, synthetic.Flow(cells=(64, 48, 96)), blocks=12)
