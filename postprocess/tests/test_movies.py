"""Slices against time in a report: small pictures that coincide with the figure of the latest slice."""

import base64
import json
import re
from io import BytesIO

import numpy as np
import pytest
import synthetic
from PIL import Image
from test_timeseries_and_slices import write_planes

from sluice_post import figures_run, movie, movies
from sluice_post.cli import main
from sluice_post.report_entries import Entry, Part
from sluice_post.slices import fluctuation, latest_planes, latest_streak_slice

pytestmark = pytest.mark.all_pixels


def streak_entry(directory, flow):
    plane, _ = latest_streak_slice(directory, 2.0, flow.re_tau)
    scale = (flow.u_tau / flow.viscosity, flow.u_tau)
    scene = movies.Scene(directory, "z0.083", "u", plane.time, lambda u: fluctuation(u, *scale))
    return Entry("streaks", "", "", lambda: figures_run.streak_picture(plane, 2.0, *scale), scene=scene)


def plane_entry(directory):
    ((plane,), _) = latest_planes(directory)
    scene = movies.Scene(directory, plane.label, plane.field, plane.time)
    return Entry("plane", "", "", lambda: figures_run.plane_picture(plane), scene=scene)


def write_series(directory, flow, normal, times):
    if normal == "z":
        synthetic.write_slices(directory, "z0.083", flow, 0.083, times, part_samples=2)
    else:
        write_planes(directory, f"{normal}0.083", flow, 0.083, times)
    return streak_entry(directory, flow) if normal == "z" else plane_entry(directory)


def decoded(text):
    return np.asarray(Image.open(BytesIO(base64.b64decode(text))).convert("RGB")).astype(float)


@pytest.mark.parametrize("normal", "xyz")
def test_the_last_frame_is_the_picture_of_the_figure(tmp_path, flow, normal):
    """At its place, with its orientation, range and colours."""
    entry = write_series(tmp_path, flow, normal, [1.0, 1.7, 2.0])
    (drawn,) = Part([entry]).draw(tmp_path / "figures")
    found = drawn.movie
    assert found.times == [1.0, 1.7, 2.0]
    assert drawn.paths[0].read_bytes() != base64.b64decode(drawn.png)  # the file has the time in its title
    first, _, last = (decoded(frame) for frame in found.frames)
    assert last.shape == (found.height, found.width, 3)

    page = Image.open(BytesIO(base64.b64decode(drawn.png))).convert("RGB")
    left, top = found.left / 100 * page.width, found.top / 100 * page.height
    right = left + found.width_percent / 100 * page.width
    bottom = top + found.height_percent / 100 * page.height

    def shown(down):
        """The picture within the page, and `down` pixels below: Matplotlib 3.10 draws images a pixel too high."""
        box = (left, top + down, right, bottom + down)
        return np.asarray(page.resize((found.width, found.height), Image.Resampling.BOX, box)).astype(float)

    inner = (slice(3, -3), slice(3, -3))  # without the lines of the axes
    assert min(np.abs(last - shown(down))[inner].mean() for down in (-1, 0)) < 4
    assert np.abs(first - shown(0))[inner].mean() > 15


@pytest.mark.parametrize("normal", "xz")
def test_a_run_that_goes_on_adds_no_frames_after_the_picture(tmp_path, flow, normal):
    entry = write_series(tmp_path, flow, normal, [1.0, 3.0, 5.0])
    write_series(tmp_path, flow, normal, [1.0, 3.0, 5.0, 7.0])
    (drawn,) = Part([entry]).draw(tmp_path / "figures")
    assert drawn.movie.times == [1.0, 3.0, 5.0]


def test_number_and_size_of_the_frames_are_limited(tmp_path, flow, monkeypatch):
    entry = write_series(tmp_path, flow, "z", np.linspace(0, 60, 61))
    (drawn,) = Part([entry]).draw(tmp_path / "figures")
    found = drawn.movie
    assert len(found.times) == movies.MAX_FRAMES == len(found.frames)
    assert (found.times[0], found.times[-1]) == (0, 60)
    assert np.ptp(np.diff(found.times)) <= 1
    assert found.width == movies.WIDTH

    monkeypatch.setattr(movies, "MAX_BYTES", 30_000)
    (drawn,) = Part([entry]).draw(tmp_path / "figures")
    smaller = drawn.movie
    assert sum(len(base64.b64decode(frame)) for frame in smaller.frames) <= 30_000
    assert smaller.width < found.width
    assert smaller.width / smaller.height == pytest.approx(found.width / found.height, rel=0.03)


@pytest.mark.parametrize(("times", "has_webp"), [([1.0], True), ([1.0, 2.0], False)])
def test_one_slice_or_no_webp_is_a_picture_alone(tmp_path, flow, monkeypatch, times, has_webp):
    monkeypatch.setattr(movies.features, "check", lambda name: has_webp or name != "webp")
    (drawn,) = Part([write_series(tmp_path, flow, "z", times)]).draw(tmp_path / "figures")
    assert drawn.movie is None
    assert drawn.paths[0].read_bytes() == base64.b64decode(drawn.png)


def test_the_page_has_the_frames_and_their_times(tmp_path, flow):
    write_series(tmp_path, flow, "z", [1.0, 2.0, 3.25])
    write_series(tmp_path, flow, "y", [1.0, 2.0, 3.0])
    (tmp_path / "slices" / "parts" / "y0.083_0000200.h5").write_text("cut short")
    assert main(["report", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    held = [json.loads(text) for text in re.findall(r'<script type="application/json">(.*?)</script>', page, re.DOTALL)]
    assert [movie["times"] for movie in held] == [[1.0, 2.0, 3.25], [1.0, 3.0]]
    assert all(decoded(frame).size for movie in held for frame in movie["frames"])
    assert "t U/h = 3.25</output>" in page
    assert page.count("y0.083_0000200.h5") == 1
    # Without scripts nothing is offered that does not work.
    controls = re.findall("<(?:button|input|canvas)[^>]*>", page)
    assert len(controls) == 6 and all(" hidden " in control for control in controls)
    assert "prefers-reduced-motion" in page


def test_a_page_without_series_has_no_script(tmp_path, flow):
    write_series(tmp_path, flow, "z", [1.0])
    assert main(["report", str(tmp_path)]) == 0
    assert "<script" not in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(("options", "times"), [([], range(9)), (["--from", "4", "--frames", "3"], (4, 6, 8))])
def test_the_command_writes_the_times_that_are_asked_for(tmp_path, flow, monkeypatch, capsys, options, times):
    """As many as there may be of those between the times, each at its place."""
    write_series(tmp_path, flow, "x", [float(time) for time in range(9)])
    path, shown = tmp_path / "new" / "u.gif", []
    monkeypatch.setattr(movie.PillowWriter, "grab_frame", lambda of: shown.append(of.fig.axes[0].get_title("right")))
    monkeypatch.setattr(movie.PillowWriter, "finish", lambda writer: None)
    assert main(["movie", str(tmp_path), "--slice", "x0.083", "-o", str(path), *options]) == 0
    assert shown == [rf"$t\,U/h={time:.4f}$" for time in times]
    assert capsys.readouterr().out == f"{len(times)} frames: {path}\n"
    monkeypatch.undo()
    assert main(["movie", str(tmp_path), "--slice", "x0.083", "-o", str(path), "--frames", "2"]) == 0
    with Image.open(path) as found:
        assert (found.n_frames, found.width % 2, found.height % 2) == (2, 0, 0)
    assert main(["movie", str(tmp_path), "--slice", "x0.083", "--field", "T", "-o", str(path)]) == 2
    assert "has no T between the times" in capsys.readouterr().err


def test_an_encoder_that_fails_is_reported(tmp_path, flow, monkeypatch, capsys):
    write_series(tmp_path, flow, "x", [1.0, 2.0])
    (tmp_path / "ffmpeg").write_text("#!/bin/sh\ncat >/dev/null\necho 'Unknown encoder libx264' >&2\nexit 1\n")
    (tmp_path / "ffmpeg").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert main(["movie", str(tmp_path), "--slice", "x0.083", "-o", str(tmp_path / "u.mp4")]) == 4
    assert capsys.readouterr().err == f"sluice-post: {tmp_path / 'u.mp4'}: ffmpeg failed (Unknown encoder libx264)\n"
