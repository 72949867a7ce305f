import gc
import sys
from pathlib import Path

import pytest
from hypothesis import settings

sys.path.insert(0, str(Path(__file__).parent))

import synthetic

from sluice_post import style

# --hypothesis-profile=long tries many more examples, other ones in each run.
settings.register_profile("ci", max_examples=150, derandomize=True, deadline=None)
settings.register_profile("long", max_examples=20000, deadline=None)
settings.load_profile("ci")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "all_pixels: looks at the pixels of figures, in their usual number")


def pytest_collection_finish() -> None:
    """Figures make so many objects that garbage collection takes a tenth of the time, most of it for modules."""
    gc.freeze()
    gc.set_threshold(20000)


@pytest.fixture(autouse=True)
def pixels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures are drawn as always, but most of them with fewer pixels, which take a third of the time."""
    if request.node.get_closest_marker("all_pixels") is None:
        monkeypatch.setattr(style, "DPI", 50)


@pytest.fixture
def flow() -> synthetic.Flow:
    """A small turbulent channel."""
    return synthetic.Flow(cells=(32, 24, 48))


@pytest.fixture(scope="session")
def turbulent_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run directory of a turbulent channel; tests only read what it came with."""
    directory = tmp_path_factory.mktemp("run")
    return synthetic.write_run(directory, synthetic.Flow(cells=(64, 48, 96)), blocks=12)
