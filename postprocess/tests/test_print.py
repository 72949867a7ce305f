"""Figures for print: their formats and sizes, and the check that finds what overlaps."""

import opened_runs
import pytest
from matplotlib.text import Text

from sluice_post import report_entries
from sluice_post.cli import main
from sluice_post.cli_options import WIDTHS, parse_width
from sluice_post.fitting import LARGEST, NOTE, SMALLEST, overlaps
from sluice_post.style import Output, figure_style, new_figure, save_figure, written_as


def panels(width):
    with written_as(Output(("pdf",), WIDTHS[width])), figure_style():
        figure = new_figure(9.6, 7.4)
        for axes in figure.subplots(2, 2).flat:
            axes.plot([0.001, 0.002], [1e-3, 2e-3], label="a line with a long name")
            axes.set_title("a title that is too long for one line of a panel of a journal, at any width", fontsize=14)
            axes.set_ylabel("a name of an ordinate that is longer than the ordinate, in wall units")
            axes.legend()
        return figure


@pytest.mark.parametrize("width", ["one", "two"])
def test_nothing_overlaps_in_print(width):
    figure = panels(width)
    assert overlaps(figure)
    figure.fit()
    assert overlaps(figure) == []
    assert figure.get_figwidth() == pytest.approx(WIDTHS[width])
    sizes = [text.get_fontsize() for text in figure.findobj(Text) if text.get_text()]
    assert min(sizes) >= SMALLEST and max(sizes) <= LARGEST


# Of each run the figures that have overlapped, and some of each kind.
OF_BUDGETS = {"mean_velocity", "higher_moments", "invariant_map", "budget_k", "anisotropy"}
OF_DENSITIES = {"vorticity", "densities", "joint_uw", "quadrants_outside_holes", "wall_shear_joint"}


@pytest.mark.parametrize("width", ["one", "two"])
@pytest.mark.parametrize(
    ("write", "names"), [(opened_runs.write_budgets_run, OF_BUDGETS), (opened_runs.write_densities_run, OF_DENSITIES)]
)
def test_nothing_overlaps_in_the_figures_of_a_report(tmp_path, monkeypatch, write, names, width):
    found = {}

    def check(figure, path):
        if path.stem in names:
            figure.fit()
            found[path.stem] = overlaps(figure)
        return [path]

    monkeypatch.setattr(report_entries, "save_figure", check)
    monkeypatch.setattr(report_entries, "png_bytes", lambda figure: b"")  # the page is not looked at
    assert main(["report", str(write(tmp_path)), "--format", "pdf", "--width", width]) == 0
    assert found == {name: [] for name in names}


def test_a_note_keeps_off_lines_and_other_texts():
    with written_as(Output(("pdf",), WIDTHS["one"])), figure_style():
        figure = new_figure()
        axes = figure.subplots()
        axes.plot([0, 1], [0, 1])
        first, second = (axes.annotate(text, (0.4, at), gid=NOTE) for text, at in (("a note", 0.4), ("another", 0.42)))
        assert any("lies on a line" in problem for problem in overlaps(figure))
        figure.fit()
    assert overlaps(figure) == []
    assert all(note.xy == at for note, at in ((first, (0.4, 0.4)), (second, (0.4, 0.42))))
    assert 0 < abs(first.get_position()[1] - 0.4) < 0.25


def test_ticks_of_both_axes_keep_apart_in_a_corner():
    with written_as(Output(("pdf",), WIDTHS["one"])), figure_style():
        figure = new_figure()
        axes = figure.subplots()
        axes.set(xscale="log", xlim=(1, 100), ylim=(0, 1))
        axes.tick_params(axis="x", pad=-2)
        assert any("tick of x" in problem for problem in overlaps(figure))
        figure.fit()
    assert overlaps(figure) == []


def test_a_text_that_leaves_the_figure_is_found():
    figure = new_figure(4, 3)
    figure.text(0.9, 0.5, "a text that ends beyond the figure")
    assert any("leaves the figure" in problem for problem in overlaps(figure))


def test_the_same_figure_gives_the_same_files_with_truetype_fonts(tmp_path):
    contents = []
    for name in ("first", "second"):
        with written_as(Output(("pdf", "svg"), WIDTHS["one"])), figure_style():
            figure = new_figure()
            figure.subplots().plot([1, 2], [3, 4])
            paths = save_figure(figure, tmp_path / f"{name}.png")
        assert [path.name for path in paths] == [f"{name}.pdf", f"{name}.svg"]
        contents.append([path.read_bytes() for path in paths])
    assert contents[0] == contents[1]
    assert b"/TrueType" in contents[0][0] or b"/CIDFontType2" in contents[0][0]
    assert b"/Type3" not in contents[0][0]


@pytest.mark.parametrize(
    ("text", "inches"), [("one", 86 / 25.4), ("127mm", 5.0), ("3in", 3.0), ("2.54cm", None), ("x", None)]
)
def test_widths(text, inches):
    if inches is None:
        with pytest.raises(Exception, match="neither one, two nor a length"):
            parse_width(text)
    else:
        assert parse_width(text) == pytest.approx(inches)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["overlay", "DIR", "DIR", "-o", "a.pdf"], "the same name"),
        (["overlay", "DIR", "--label", "a", "b", "-o", "a.pdf"], "2 labels for 1 directories"),
        (["overlay", "DIR", "--panel", "nothing", "-o", "a.pdf"], "no panel nothing"),
        (["overlay", "DIR", "--panel", "spectrum:uu:x:z", "-o", "a.pdf"], "the panel is spectrum:quantity:axis"),
        (["overlay", "DIR", "--panel", "frequency_spectrum:line:u:x", "-o", "a.pdf"], "'x' is not a time"),
        (["overlay", "DIR", *["--reference", "a"] * 9, "-o", "a.pdf"], "9 published simulations; 8 can be"),
        (["movie", "DIR", "--slice", "z9", "-o", "a.gif"], "no slice z9"),
        (["movie", "DIR", "--slice", "z9", "-o", "a.avi"], "ends in .mp4 or .gif"),
    ],
)
def test_bad_input_is_named(turbulent_run, capsys, arguments, message):
    given = [str(turbulent_run) if argument == "DIR" else argument for argument in arguments]
    assert main(given) == 2
    assert message in capsys.readouterr().err
