"""Figures: axes with units, and with the scale that their values need."""

from dataclasses import replace

import numpy as np
import pytest
import synthetic

from sluice_post import style
from sluice_post.deviations import comparison_figure
from sluice_post.figures import higher_moments, mean_velocity, stress_residual
from sluice_post.figures_run import history, streak_picture
from sluice_post.profiles import wall_profiles, with_intervals
from sluice_post.reference import Reference
from sluice_post.results import evaluate
from sluice_post.run import load_run
from sluice_post.style import new_figure
from sluice_post.timeseries import re_tau_last_third

WITHOUT_UNITS = {r"$Re_\tau$", r"$\Delta t/\Delta t_{\lim}$", ""}  # ratios, and the axis of time above others


@pytest.fixture(scope="module")
def results(turbulent_run):
    return evaluate(load_run(turbulent_run))


def test_axes_of_the_history_have_units(results):
    figure = history(results.run.series, re_tau_last_third(results.run.series))
    labels = {axes.get_ylabel() for axes in figure.axes} | {axes.get_xlabel() for axes in figure.axes}
    assert len(labels) == 8  # of six ordinates and time, and none; U_b is constant
    assert all("U" in label for label in labels - WITHOUT_UNITS)


def test_the_history_leaves_out_what_is_constant_and_marks_the_averaging(results):
    series = results.run.series
    constant = replace(series, columns={**series.columns, "bulk_velocity": np.full(len(series), 1.0)})
    varying = replace(series, columns={**series.columns, "bulk_velocity": 1 + 1e-3 * np.sin(series.time)})
    for of, panels in ((constant, 5), (varying, 6)):
        axes = [
            a
            for a in history(of, re_tau_last_third(results.run.series), 60.0).axes
            if a.get_ylabel() != r"$\Delta t/\Delta t_{\lim}$"
        ]
        assert len(axes) == panels
        assert all(any(list(line.get_xdata()) == [60, 60] for line in a.lines) for a in axes)


def test_each_column_of_the_history_has_a_time_axis(results):
    """A panel as wide as two has a time scale of its own, which the panels below do not show."""
    series = results.run.series
    constant = replace(series, columns={**series.columns, "bulk_velocity": np.full(len(series), 1.0)})
    figure = history(constant, re_tau_last_third(series), 60.0)
    figure.draw_without_rendering()
    wide = figure.axes[0]
    assert wide.get_xlabel() == r"$t\,U/h$"
    assert all(label.get_visible() for label in wide.get_xticklabels())
    assert "averages start" in [text.get_text() for text in wide.get_legend().get_texts()]


def test_the_history_of_a_box_without_walls(results):
    """No empty panel of Re_tau, and none of a bulk velocity and a force that are 0 to round-off."""
    series = results.run.series
    still = dict.fromkeys(("re_tau_bottom", "re_tau_top", "forcing"), np.zeros(len(series)))
    box = replace(series, columns={**series.columns, **still, "bulk_velocity": 1e-17 * np.sin(series.time)})
    labels = {axes.get_ylabel() for axes in history(box, None).axes}
    assert not any(word in label for label in labels for word in ("Re", "U_b", "forcing"))
    assert len(labels) == 4


def test_the_mean_velocity_is_a_cubic_near_the_wall(results):
    """Between the cells nearest to the wall, straight pieces would be kinked on the logarithmic axis."""
    profiles = results.run.profiles
    mean_velocity(axes := new_figure().add_subplot(), profiles)
    line = next(line for line in axes.lines if len(line.get_xdata()) > 300)
    x, y = line.get_data()
    assert np.allclose(y[np.isin(x, profiles.z_plus)], profiles.centre["U"], rtol=1e-12)
    assert np.abs(y - x)[x < 2].max() < 0.02
    assert any(line.get_marker() == "o" for line in axes.lines)


def test_the_residual_is_shown_with_all_of_its_band(results):
    profiles = results.run.profiles
    wide = replace(profiles, half_widths={"residual": np.full(profiles.z_face.size, 0.5)})
    stress_residual(axes := new_figure().add_subplot(), wide)
    assert axes.get_ylim()[1] > 0.5


def test_a_plane_has_units(results):
    run = results.run
    for u_tau, unit in ((None, "/h"), (0.06, "^+")):
        axes = streak_picture(run.streaks, 2.0, u_tau and 180.0, u_tau).axes[0]
        assert unit in axes.get_xlabel() and unit in axes.get_ylabel()
        assert "U/h" in axes.get_title(loc="right")


@pytest.mark.parametrize(("factor", "scale"), [(1.0, "log"), (0.1, "linear")])
def test_flatness_has_the_scale_that_it_needs(results, factor, scale):
    """Less far from 3 by `factor`; w has no flatness on the wall, and near it points are marked."""
    profiles = results.run.profiles
    for values in (profiles.centre["flat_u"], profiles.centre["flat_v"], profiles.face["flat_w"]):
        assert np.nanmax(values) > 4
    centre, face = dict(profiles.centre), dict(profiles.face)
    for values, name in ((centre, "flat_u"), (centre, "flat_v"), (face, "flat_w")):
        values[name] = 3 + factor * (values[name] - 3)
    changed = replace(profiles, centre=centre, face=face)
    axes = higher_moments(changed).axes[1]
    assert axes.get_yscale() == scale
    line = next(line for line in axes.lines if line.get_label() == "$w$")
    assert line.get_xdata()[0] == pytest.approx(profiles.z_face_plus[1])
    assert np.isfinite(line.get_ydata()).all()
    assert len(line.get_markevery()) == np.count_nonzero(profiles.z_face_plus[1:] < 5)
    low, high = axes.get_ylim()
    assert low < line.get_ydata().min() and line.get_ydata().max() < high


def test_published_flatness_is_within_the_axis(tmp_path):
    """As with tables that begin nearer to the wall than the run does."""
    synthetic.write_statistics(
        tmp_path / "statistics.h5",
        synthetic.Flow(cells=(8, 8, 48)),
        [synthetic.turbulent_profiles(synthetic.Flow(cells=(8, 8, 48)))] * 2,
    )
    run = load_run(tmp_path)
    profiles = with_intervals(wall_profiles(run.blocks.means(), run.parameters), run.blocks)
    z_plus = np.array([0.5, 1.0, 10.0, 100.0])
    reference = Reference("table", 180.0, True, {"flat_w": z_plus}, {"flat_w": np.array([60.0, 50.0, 8.0, 3.5])})
    figure = comparison_figure(profiles, reference, ["flat_w"])
    assert figure.axes[0].get_yscale() == "log"
    assert figure.axes[0].get_ylim()[1] > 60


def test_laminar_solution_between_walls_that_move_and_a_force(tmp_path):
    """The exact profile follows the stress of this flow, not that of a channel at rest."""
    flow = synthetic.Flow(re_tau=30.0, cells=(8, 8, 64))
    raw = synthetic.laminar_poiseuille(flow)
    tau = flow.u_tau**2 * (1 - 0.4 * flow.z_face)
    u = np.cumsum(tau[:-1] / flow.viscosity * np.diff(np.concatenate([[0.0], flow.z])))
    raw |= {"tau_xz": tau, **{"u" * n: u**n for n in range(1, 5)}}
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [raw] * 3)
    speed = float(u[-1] + tau[-1] / flow.viscosity * (2 - flow.z[-1]))
    keys = {
        "flow.type": "channel",
        "flow.reynolds.viscosity": repr(flow.viscosity),
        "flow.forcing.pressure_gradient": repr(0.4 * flow.u_tau**2),
        "walls.bottom.type": "no_slip",
        "walls.bottom.velocity": "[0, 0, 0]",
        "walls.top.type": "no_slip",
        "walls.top.velocity": f"[{speed!r}, 0, 0]",
    }
    synthetic.write_parameter_sets(tmp_path / "statistics.h5", [0] * 3, [keys])
    run = load_run(tmp_path)
    mean_velocity(axes := new_figure(5, 4).subplots(), with_intervals(run.profiles, run.blocks))
    of_run, exact = axes.get_lines()[:2]
    expected = np.interp(exact.get_xdata()[1:], of_run.get_xdata(), of_run.get_ydata())
    np.testing.assert_allclose(exact.get_ydata()[1:], expected, rtol=0.03)


@pytest.mark.parametrize("has_outside", [True, False])
@pytest.mark.parametrize("place", ["outside lower center", "outside right upper"])
def test_a_legend_outside_covers_no_panel_also_with_matplotlib_3_6(monkeypatch, has_outside, place):
    monkeypatch.setattr(style, "_HAS_OUTSIDE", has_outside and style._HAS_OUTSIDE)
    figure = new_figure()
    panels = figure.subplots(1, 2)
    for panel in panels:
        panel.plot([0, 1], [0, 1], label="a line with a name")
        panel.set(xlabel="$x$", ylabel="$y$")
    legend = figure.legend(*panels[0].get_legend_handles_labels(), loc=place)
    figure.canvas.draw()
    box = legend.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width and 0 <= box.y0 < box.y1 <= figure.bbox.height
    assert not any(box.overlaps(panel.get_tightbbox()) for panel in panels)
