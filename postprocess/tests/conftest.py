import gc
import sys
from collections.abc import Callable
from functools import cache
from io import BytesIO
from pathlib import Path

import pytest
from hypothesis import settings
from matplotlib import cbook
from matplotlib.backends.backend_agg import FigureCanvasAgg
from PIL import Image

sys.path.insert(0, str(Path(__file__).parent))

import synthetic
from quick_drawing import quick

from sluice_post import style

# --hypothesis-profile=long tries many more examples, other ones in each run.
settings.register_profile("ci", max_examples=150, derandomize=True, deadline=None)
settings.register_profile("long", max_examples=20000, deadline=None)
settings.load_profile("ci")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "all_pixels: looks at the pixels of figures, in their usual number")
    config.addinivalue_line("markers", "unpainted: looks at no figure; other tests paint figures of its kinds")


def pytest_collection_finish() -> None:
    """Figures make so many objects that garbage collection takes a tenth of the time, most of it for modules."""
    gc.freeze()
    gc.set_threshold(20000)


def write_unpainted(canvas: FigureCanvasAgg, file: BytesIO, **_: object) -> None:
    """In place of print_png: the formulas are parsed, but nothing is painted."""
    figure = canvas.figure
    texts = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in figure.axes:
        legend = axes.get_legend()
        texts += [*axes.texts, axes.title, axes.xaxis.label, axes.yaxis.label]
        texts += legend.get_texts() if legend is not None else []
    parser = canvas.get_renderer().mathtext_parser
    for text in texts:
        for line in text.get_text().split("\n"):
            if cbook.is_math_text(line):
                parser.parse(line, 50, text.get_fontproperties())
    Image.new("L", (1, 1)).save(file, "PNG")


plain_paint = FigureCanvasAgg.print_png


def paint_quickly(canvas: FigureCanvasAgg, *arguments: object, **options: object) -> None:
    """In place of print_png: the same pixels."""
    with quick(canvas.figure, canvas):
        plain_paint(canvas, *arguments, **options)


@pytest.fixture(autouse=True)
def pixels(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Most figures have fewer pixels, which take a third of the time, and are drawn with less work."""
    if request.node.get_closest_marker("all_pixels") is None:
        monkeypatch.setattr(style, "DPI", 50)
        monkeypatch.setattr(FigureCanvasAgg, "print_png", paint_quickly)
    if request.node.get_closest_marker("unpainted") is not None:
        request.getfixturevalue("paint_no_more")()


@pytest.fixture
def paint_no_more(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, figures are made, but not painted: for a report with figures that the test has painted."""
    return lambda: monkeypatch.setattr(FigureCanvasAgg, "print_png", write_unpainted)


@pytest.fixture
def flow() -> synthetic.Flow:
    """A small turbulent channel."""
    return synthetic.Flow(cells=(32, 24, 48))


@pytest.fixture(scope="session")
def turbulent_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole run directory of a turbulent channel; tests only read what it came with."""
    directory = tmp_path_factory.mktemp("run")
    return synthetic.write_run(directory, synthetic.Flow(cells=(64, 48, 96)), blocks=12)


@pytest.fixture(scope="session")
def run_of(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The directory of the run that opened_runs.write_KIND_run writes, of each kind once; tests only read it."""

    @cache
    def directory(kind: str) -> Path:
        import opened_runs  # here: it imports other tests

        return getattr(opened_runs, f"write_{kind}_run")(tmp_path_factory.mktemp(kind))

    return directory
