"""The document that `sluice-post watch` shows, without a browser."""

import os
import re
import shutil
import socket

import numpy as np
import pytest
import synthetic

pytest.importorskip("bokeh", reason="the extra `watch` is not installed")
from bokeh.document import Document
from bokeh.models import Axis, ColorBar, glyphs
from test_watch import CASE, append, row

from sluice_post import layout
from sluice_post.cli import main
from sluice_post.hashes import byte_hash
from sluice_post.reference import read_references
from sluice_post.timeseries import read_timeseries
from sluice_post.watch.follow import RunFollower
from sluice_post.watch.history import MAX_ROWS
from sluice_post.watch.page import Page
from sluice_post.watch.status import State


@pytest.fixture
def run(turbulent_run, tmp_path):
    directory = shutil.copytree(turbulent_run, tmp_path / "run")
    (directory / "resolved.yaml").write_text(CASE.replace("end: 20", "end: 520"))
    os.utime(directory / "timeseries.csv", (1e9, 1e9))  # long ago
    return directory


class Shown:
    """A page and what it reads."""

    def __init__(self, directory, reference=None):
        self.follower = RunFollower(directory)
        self.document = Document()
        self.follower.poll()
        self.page = Page(lambda: self.follower.snapshot, reference)
        self.page.show_in(self.document)

    def look(self):
        self.follower.poll()
        self.document.title = self.page.update()

    def __getitem__(self, name):
        return self.document.get_model_by_name(name)

    @property
    def rows(self):
        return self["re_tau"].renderers[0].data_source.data


def test_a_whole_run(run):
    shown = Shown(run)
    head = shown["head"].text
    assert "50.0 %" in head
    assert "A channel" in head
    assert shown.document.title == "killed – A channel"  # run.json of the model has no step
    assert "12 blocks" in shown["profiles_head"].text
    assert "Circles: peaks of" in shown["profiles_head"].text
    assert "t U/h = 260" in shown["caption"].text
    assert not shown["choice"].visible
    series = read_timeseries(run / "timeseries.csv")
    assert MAX_ROWS <= len(shown.rows["time"]) <= 2 * MAX_ROWS
    assert shown.rows["time"][-1] == series.time[-1]
    u = shown["stresses"].renderers[1].data_source.data
    assert 2.4 < np.max(u["value"]) < 2.9
    circles = shown["stresses"].renderers[2].data_source.data
    assert circles["value"][0] == pytest.approx(2.67, rel=0.01)
    shown.document.validate()


@pytest.mark.parametrize(("free", "walls"), [((), 2), (("top",), 1), (("bottom", "top"), 0)])
def test_the_page_does_not_mention_walls_without_shear(run, free, walls):
    case = CASE
    for wall in free:
        case = case.replace(f"{wall}: {{type: no_slip", f"{wall}: {{type: free_slip")
    (run / "resolved.yaml").write_text(case)
    if walls == 0:
        (run / "statistics.h5").unlink()
    head, profiles = (re.sub("<.*?>", "", Shown(run)[name].text) for name in ("head", "profiles_head"))
    assert ("Reτ, bottom / top" in head) == (walls == 2)
    assert ("Reτ" in head) == ("Cf" in head) == (walls > 0)
    assert ("No wall exerts a shear stress, so there are no profiles in wall units." in profiles) == (walls == 0)
    assert "—Cf" not in head and "/ —" not in head


def test_a_laminar_flow_has_no_bands(run):
    flow = synthetic.Flow(re_tau=30.0, cells=(8, 8, 48))
    synthetic.write_statistics(run / "statistics.h5", flow, [synthetic.laminar_poiseuille(flow)] * 4)
    text = Shown(run)["profiles_head"].text
    assert "4 blocks" in text and "Bands" not in text


def test_a_run_without_slices(run):
    """While it goes on they may still come; a run that has ended has none."""
    shutil.rmtree(run / "slices")
    assert "No slice was written (output.slices)." in Shown(run)["picture_head"].text
    shown = Shown(run)
    append(run / "timeseries.csv", row(2700))
    shown.look()
    assert shown.follower.snapshot.status.state is State.RUNNING
    assert "No slice has been written yet (output.slices)." in shown["picture_head"].text


def test_axes_have_labels(run):
    shown = Shown(run)
    axes = [axis for axis in shown.document.select({"type": Axis}) if not isinstance(axis, ColorBar)]
    assert len(axes) == 2 * 8 + 1
    assert all(axis.axis_label for axis in axes)


def test_new_rows_are_added_and_a_restart_replaces_them(run):
    shown = Shown(run)
    before = len(shown.rows["time"])
    append(run / "timeseries.csv", row(2700) + row(2710) + row(2720)[:20])
    shown.look()
    assert len(shown.rows["time"]) == before + 2
    assert shown.rows["step"][-1] == 2710
    assert shown["re_tau"].x_range.end == 271
    assert "2710" in shown["head"].text
    (run / "log.txt").write_text("Sluice: A channel\nRestarted from x.h5: step 100, time 10\n")
    lines = (run / "timeseries.csv").read_text().splitlines(keepends=True)
    (run / "timeseries.csv").write_text("".join(lines[:101]))
    shown.look()
    assert len(shown.rows["time"]) == 100
    assert restarts_in(shown["dt"]) == [10]
    (run / "timeseries.csv").unlink()
    shown.look()
    assert len(shown.rows["time"]) == 0
    assert not shown["re_tau"].visible


def series_with(columns, *steps):
    """Text of a time series with further columns, whose values at each step these functions give."""

    def line(step):
        values = "".join(f",{value(step)!r}" for value in columns.values())
        text = row(step).rpartition(",")[0] + values
        return f"{text},{byte_hash(0, text.encode()) >> 11}\n"

    header = ",".join((*layout.TIMESERIES_COLUMNS, *columns, layout.ROW_HASH)) + "\n"
    return header + "".join(line(step) for step in steps)


def restarts_in(graph):
    (spans,) = (renderer for renderer in graph.renderers if isinstance(renderer.glyph, glyphs.VSpan))
    return spans.data_source.data["time"].tolist()


def further_graphs(shown):
    """All but the five that every case has."""
    return {graph.yaxis[0].axis_label: graph for graph in shown["history"].elements[5:]}


FURTHER = {
    "forcing_y": lambda step: 0.002 * step,
    "T_mean": lambda step: 0.5,
    "T_flux_bottom": lambda step: 0.001 * step,
    "T_flux_top": lambda step: -0.003 * step,
    "salt_mean": lambda step: 0.25,
    "salt_flux_bottom": lambda step: 0.5,
    "salt_flux_top": lambda step: -0.5,
    "power_top": lambda step: 0.01,
    "unheard_of": lambda step: 7.0,
}


def test_columns_that_only_some_cases_have(run):
    (run / "resolved.yaml").write_text(
        CASE
        + """scalars:
    - {name: "T", prandtl: 0.5, walls: {bottom: {value: 1}, top: {value: 0}}, source: none}
    - {name: "salt", prandtl: 1, walls: {bottom: {value: 0}, top: {value: 0}}, source: {uniform: 1}}
"""
    )
    (run / "log.txt").write_text("Sluice: A channel\nRestarted from x.h5: step 2, time 0.2\n")
    path = run / "timeseries.csv"
    path.write_text(series_with(FURTHER, 1, 2, 3))
    shown = Shown(run)
    graphs = further_graphs(shown)
    assert list(graphs) == [
        *("Nu of T", "mean of T", "flux of salt into the fluid", "mean of salt"),
        *("power of the walls / U³", "pressure gradient along y · h/U²", "unheard_of"),
    ]
    assert all(graph.visible for graph in graphs.values())
    drawn = {
        line.glyph.y: np.asarray(line.data_source.data[line.glyph.y])
        for graph in graphs.values()
        for line in graph.renderers
        if isinstance(line.glyph, glyphs.Line)
    }
    conducted = 2 / 5600 / 0.5 * 1 / 2
    np.testing.assert_allclose(drawn.pop("T_nusselt_bottom"), 0.001 * np.arange(1, 4) / conducted)
    np.testing.assert_allclose(drawn.pop("T_nusselt_top"), 0.003 * np.arange(1, 4) / conducted)
    assert {name: values[0] for name, values in drawn.items()} == {
        name: value(1) for name, value in FURTHER.items() if not name.startswith("T_flux")
    }
    ordinate = graphs["Nu of T"].y_range
    assert ordinate.start < 0.001 / conducted
    assert ordinate.end > 0.009 / conducted
    assert [item.label.value for item in graphs["power of the walls / U³"].legend[0].items] == ["top wall"]
    assert restarts_in(graphs["mean of T"]) == [0.2]
    append(path, series_with(FURTHER, 4).splitlines(keepends=True)[1])
    shown.look()
    assert further_graphs(shown) == graphs
    assert shown.rows["forcing_y"].tolist() == pytest.approx([0.002, 0.004, 0.006, 0.008])
    shown.document.validate()


def test_columns_that_appear_and_vanish(run):
    text = (run / "timeseries.csv").read_text()
    (run / "timeseries.csv").unlink()
    shown = Shown(run)
    assert further_graphs(shown) == {}
    (run / "timeseries.csv").write_text(series_with(FURTHER, 1, 2, 3))
    shown.look()
    assert "flux of T into the fluid" in further_graphs(shown)  # the case has no scalar T: no Nusselt number
    (run / "timeseries.csv").unlink()
    shown.look()
    (run / "timeseries.csv").write_text(text)
    shown.look()
    assert further_graphs(shown) == {}


def test_profiles_of_another_run_as_reference(run):
    assert main(["profiles", str(run), "-o", str(run / "profiles.csv")]) == 0
    reference, _ = read_references([run / "profiles.csv"])
    shown = Shown(run, reference)
    assert "Circles: profiles.csv" in shown["profiles_head"].text
    line, circles = (shown["mean"].renderers[n].data_source.data for n in (1, 2))
    assert 15 < len(circles["z"]) <= 26
    np.testing.assert_allclose(np.interp(circles["z"], line["z"], line["value"]), circles["value"], rtol=1e-6)


def test_many_rows_are_thinned(run):
    shown = Shown(run)
    for begin in range(3000, 12000, 1000):
        append(run / "timeseries.csv", "".join(row(step) for step in range(begin, begin + 1000)))
        shown.look()
        assert len(shown.rows["time"]) <= 2 * MAX_ROWS + 1
        assert shown.rows["step"][-1] == begin + 999
        assert np.all(np.diff(shown.rows["time"]) > 0)


def test_a_zoomed_graph_stays_until_it_is_reset(run):
    shown = Shown(run)
    span = shown["re_tau"].x_range
    span.update(start=100, end=200)
    append(run / "timeseries.csv", row(2700))
    shown.look()
    assert (span.start, span.end) == (100, 200)
    assert span.reset_end == 270
    span.update(start=span.reset_start, end=span.reset_end)
    append(run / "timeseries.csv", row(2800))
    shown.look()
    assert span.end == 280


def test_an_empty_directory(tmp_path):
    shown = Shown(tmp_path)
    assert "holds no results yet" in shown["head"].text
    assert not any(shown[name].visible for name in ("re_tau", "dt", "mean", "picture"))


def test_a_port_in_use(run, capsys):
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert main(["watch", str(run), "--no-browser", "--port", str(port)]) == 2
    assert f"port {port} cannot be used" in capsys.readouterr().err
