import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

import synthetic

# --hypothesis-profile=long tries many more examples, other ones in each run.
settings.register_profile("ci", max_examples=150, derandomize=True, deadline=None)
settings.register_profile("long", max_examples=20000, deadline=None)
settings.load_profile("ci")


@pytest.fixture
def flow() -> synthetic.Flow:
    """A small turbulent channel."""
    return synthetic.Flow(cells=(32, 24, 48))


@pytest.fixture(scope="session")
def turbulent_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run directory of a turbulent channel; tests only read what it came with."""
    directory = tmp_path_factory.mktemp("run")
    return synthetic.write_run(directory, synthetic.Flow(cells=(64, 48, 96)), blocks=12)
