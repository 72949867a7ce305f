"""Every figure of a run drawn into given axes: labels with their units, and lines of the numbers that are shown."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("h5netcdf")

import matplotlib.colors
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

import sluice_post as sp
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.opened_run import OpenedRun
from sluice_post.opened_study import COST_LABELS
from sluice_post.overlay import draw_overlay
from sluice_post.plots import RunPlots
from sluice_post.reference import Reference
from sluice_post.style import figure_style, line_with_band, new_figure

# The run, the method and its arguments, the labels of abscissa and ordinate.
PROFILES = [
    ("mean_velocity", {}, r"$z^+$", r"$U^+$"),
    ("fluctuations", {}, r"$z^+$", "rms in wall units"),
    ("shear_stress", {}, r"$z/h$", "shear stress / wall stress"),
    ("stress_residual", {}, r"$z/h$", "total − balance\n/ wall stress"),
    ("vorticity", {}, r"$z^+$", "rms vorticity in wall units"),
    ("skewness", {}, r"$z^+$", "skewness $S$"),
    ("flatness", {}, r"$z^+$", "flatness $F$"),
    ("re_tau", {}, r"$t\,U/h$", r"$Re_\tau$"),
    ("history", {"column": "bulk_velocity"}, r"$t\,U/h$", r"$U_b/U$"),
    ("history", {"column": "kinetic_energy"}, r"$t\,U/h$", r"$\langle|\mathbf{u}|^2\rangle/2U^2$"),
    ("history", {"column": "forcing"}, r"$t\,U/h$", r"forcing $\times\,h/U^2$"),
    ("divergence", {}, r"$t\,U/h$", r"$\max|\nabla\cdot\mathbf{u}|\,h/U$"),
    ("time_step", {}, r"$t\,U/h$", r"$\Delta t\,U/h$"),
    ("streaks", {}, r"$x^+$", r"$y^+$"),
]
BUDGETS = [
    ("budget", {"stress": "k"}, r"$z^+$", "budget of $k$ in wall units"),
    ("budget", {"stress": "uw"}, r"$z^+$", r"budget of $\langle uw\rangle$ in wall units"),
    ("imbalance", {}, r"$z^+$", "imbalance$^+$"),
    ("enstrophy", {}, r"$z^+$", "enstrophy, dissipation in wall units"),
    ("invariant_map", {}, r"$\xi$, where $6\xi^3=b_{ij}b_{jk}b_{ki}$", r"$\eta$, where $6\eta^2=b_{ij}b_{ji}$"),
    ("anisotropy", {"tensor": "dissipation"}, r"$z^+$", r"$b_{ij}=t_{ij}/t_{kk}-\delta_{ij}/3$"),
    ("kolmogorov_length", {}, r"$z^+$", r"Kolmogorov length $\eta^+$"),
    ("cell_sizes", {}, r"$z^+$", r"size of the cells over $\eta$"),
]
SCALARS = [
    ("scalar_budget", {"name": "c"}, r"$z^+$", r"budget of $\langle \theta\theta\rangle$ in wall units"),
    ("scalar_budget", {"name": "c", "budget": "wc"}, r"$z^+$", r"budget of $\langle w\theta\rangle$ in wall units"),
    ("scalar_imbalance", {"name": "c", "budget": "uc"}, r"$z^+$", "imbalance$^+$"),
]
SCALAR_SPECTRA = [
    ("scalar_spectra_map", {"name": "c", "axis": "y"}, r"$\lambda_y^+$", r"$z^+$"),
    ("scalar_spectrum", {"name": "c", "quantity": "minus_wc"}, r"$\lambda_x^+$", r"$-kE_{w\theta}^+$ flux"),
]
SPECTRA = [
    ("spectra_map", {"quantity": "minus_uw", "axis": "y"}, r"$\lambda_y^+$", r"$z^+$"),
    ("spectrum", {"quantity": "ww"}, r"$k_x^+$", r"$E_{ww}^+$ wall-normal"),
    ("two_point_correlation", {"axis": "y"}, r"$r_y/h$", r"$R_{uu}(r_y)/R_{uu}(0)$ streamwise"),
    ("wall_spectrum", {"quantity": "p"}, r"$\lambda_x^+$", r"$kE^+_{p}$ pressure"),
    ("plane_map", {"height": 100}, r"$\lambda_x^+$", r"$\lambda_y^+$"),
]
CONTRIBUTION = r"$-\langle u'w'\rangle_q^+$"
FLUCTUATIONS = (r"$u'/u_\mathrm{rms}$", r"$w'/w_\mathrm{rms}$")
DENSITIES = [
    ("density", {"field": "w"}, r"$w'/w_\mathrm{rms}$ wall-normal", r"$w_\mathrm{rms}\,P(w')$"),
    ("density_map", {}, r"$z^+$", r"$u^+$"),
    ("density_moment", {"moment": "flatness"}, r"$z^+$", "flatness $F$"),
    ("wall_shear_density", {"name": "shear_y"}, r"$\tau_y/\langle\tau_x\rangle$", r"$\langle\tau_x\rangle\,P(\tau_y)$"),
    ("wall_shear_joint", {}, r"$\tau_x/\langle\tau_x\rangle$", r"$\tau_y/\langle\tau_x\rangle$"),
    ("quadrant_contributions", {}, r"$z^+$", CONTRIBUTION),
    ("quadrant_fractions", {}, r"$z^+$", "fraction of time"),
    ("holes", {"height": 50}, r"$H$", CONTRIBUTION),
    ("joint_density", {"height": float("inf")}, *FLUCTUATIONS),
    ("covariance_integrand", {"height": 50}, *FLUCTUATIONS),
]
PROBES = [
    ("frequency_spectrum", {"probe": "line"}, r"$f\,h/U$", r"$f S_{uu}/U^2$"),
    ("space_time_correlation", {"probe": "line"}, r"$r_x/h$", r"$\tau\,U/h$"),
]
PHASES = [
    ("phase_profiles", {}, r"$z/h$", r"$\langle u\rangle_\phi/U$"),
    ("phase_wall_shear", {}, r"phase $t/T$", r"$\tau_w/\rho U^2$"),
    ("phase_bulk_velocity", {}, r"phase $t/T$", r"$U_b/U$"),
    ("phase_amplitude", {}, r"$z/h$", "amplitude / $U$"),
    ("phase_lag", {}, r"$z/h$", "phase of the maximum"),
    ("phase_variances", {}, r"$z/h$", "variance / $U^2$"),
]
RUNS = {
    **{"profiles": PROFILES, "budgets": BUDGETS, "scalars": SCALARS, "scalar_spectra": SCALAR_SPECTRA},
    **{"spectra": SPECTRA, "densities": DENSITIES, "fields": PROBES, "phases": PHASES},
}
DRAWN_ELSEWHERE = {"comparison", "scalar"}  # below, and in test_scalars.py


@pytest.fixture(scope="module")
def runs(run_of: Callable[[str], Path]) -> dict[str, OpenedRun]:
    return {name: sp.open(run_of(name)) for name in RUNS}


def drawn(draw: Callable[[Axes], Axes]) -> Axes:
    """The axes, after the figure has been laid out and drawn."""
    with figure_style():
        axes = new_figure().add_subplot()
        assert draw(axes) is axes
        axes.figure.canvas.draw()
    return axes


@pytest.mark.parametrize(
    ("name", "method", "arguments", "labels"),
    [(name, method, arguments, tuple(of)) for name, rows in RUNS.items() for method, arguments, *of in rows],
)
def test_labels(runs: dict[str, OpenedRun], name: str, method: str, arguments: dict, labels: tuple) -> None:
    axes = drawn(lambda ax: getattr(runs[name].plot, method)(**arguments, ax=ax))
    assert (axes.get_xlabel(), axes.get_ylabel()) == labels
    assert axes.has_data()


def test_every_figure_is_tested() -> None:
    tested = {method for rows in RUNS.values() for method, *_ in rows} | DRAWN_ELSEWHERE
    assert tested == {name for name in vars(RunPlots) if not name.startswith("_")}


def assert_passes_through(line: Line2D, x: ArrayLike, y: ArrayLike) -> None:
    at = np.isin(line.get_xdata(), x)
    np.testing.assert_array_equal(np.asarray(line.get_xdata())[at], x)
    np.testing.assert_array_equal(np.asarray(line.get_ydata())[at], y)


def test_lines_between_points_are_cubics_on_a_logarithmic_axis() -> None:
    x = np.array([0.4, 1.3, 2.2, 3.1, 4.1, 5.1])
    axes = Figure().subplots()
    axes.set_xscale("log")
    line_with_band(axes, x, x**3 - 2 * x, 0.1 * x, color="k")
    fine = np.asarray(axes.get_lines()[0].get_xdata())
    assert fine.size > 400
    np.testing.assert_allclose(axes.get_lines()[0].get_ydata(), fine**3 - 2 * fine, atol=1e-12)


def test_lines_show_the_profiles(runs: dict[str, OpenedRun]) -> None:
    run = runs["profiles"]
    axes = drawn(lambda ax: run.plot.fluctuations(ax))
    assert_passes_through(axes.get_lines()[0], run.profiles.z_plus, run.profiles.u_rms)
    edge = {tuple(vertex) for vertex in axes.collections[0].get_paths()[0].vertices.tolist()}
    highest = run.profiles.u_rms + run.profiles.u_rms_ci95
    assert edge.issuperset(zip(run.profiles.z_plus.values.tolist(), highest.values.tolist(), strict=True))
    axes = drawn(lambda ax: runs["budgets"].plot.budget("k", ax))
    lines = {line.get_label(): line for line in axes.get_lines()}
    found = runs["budgets"].budgets["k"]
    assert_passes_through(lines["dissipation"], found.z_plus, found.dissipation)


OF_ONE_QUANTITY = [
    ("profiles", "mean_velocity", {}),
    ("profiles", "stress_residual", {}),
    ("profiles", "history", {"column": "forcing"}),
    ("profiles", "divergence", {}),
    ("budgets", "imbalance", {}),
    ("budgets", "kolmogorov_length", {}),
    ("scalars", "scalar_imbalance", {"name": "c"}),
    ("spectra", "wall_spectrum", {}),
    ("densities", "wall_shear_density", {}),
    ("fields", "frequency_spectrum", {"probe": "line"}),
    ("phases", "phase_bulk_velocity", {}),
]


@pytest.mark.parametrize(("name", "method", "arguments"), OF_ONE_QUANTITY)
def test_runs_in_the_same_axes_differ_in_colour(
    runs: dict[str, OpenedRun], name: str, method: str, arguments: dict
) -> None:
    draw = getattr(runs[name].plot, method)
    with figure_style():
        axes = new_figure().add_subplot()
        cycle = matplotlib.rcParams["axes.prop_cycle"].by_key()["color"]
        shown: list[tuple[float, float]] = []
        for colour in cycle[:3]:
            before = len(axes.lines), len(axes.collections)
            draw(**arguments, ax=axes)
            lines, bands = axes.lines[before[0] :], axes.collections[before[1] :]
            assert {line.get_color() for line in lines} & set(cycle) == {colour}
            found = {matplotlib.colors.to_hex(band.get_facecolor()[0], False) for band in bands}
            assert not found or colour.lower() in found
            shown.append(axes.get_ylim())
        axes.plot([1], [1])
        assert axes.lines[-1].get_color() == cycle[3]
        for limits in shown[1:]:  # margins are of all lines and bands
            assert limits == pytest.approx(shown[0], rel=1e-3)


def test_what_the_axes_show_stays_in_view(runs: dict[str, OpenedRun]) -> None:
    axes = Figure().subplots()
    axes.plot([0.05, 1e5], [-3, 300])
    assert runs["profiles"].plot.mean_velocity(axes) is axes
    low, high = axes.get_ylim()
    assert low <= -3 and high >= 300 and axes.get_xlim()[1] >= 1e5
    assert len({text.get_text() for text in axes.texts}) == len(axes.texts)
    runs["profiles"].plot.mean_velocity(axes)
    assert len({text.get_text() for text in axes.texts}) == len(axes.texts)


def test_a_third_run_in_the_same_axes_is_in_view(runs: dict[str, OpenedRun]) -> None:
    axes = Figure().subplots()
    for number in range(3):
        runs["budgets"].plot.budget("uu", ax=axes)
        if number == 1:
            axes.plot([1, 10], [-1e6, 1e6])  # the third run's values, if they were so large
    low, high = axes.get_ylim()
    assert low <= -1e6 and high >= 1e6


def test_comparison(runs: dict[str, OpenedRun], tmp_path: Path) -> None:
    run = runs["profiles"]
    table = tmp_path / "p.csv"
    found = run.profiles
    rows = zip(found.z.values, found.z_plus.values, 1.01 * found.U.values, strict=True)
    lines = ["z_over_h,z_plus,U_plus", *(f"{z!r},{z_plus!r},{u!r}" for z, z_plus, u in np.array(list(rows)).tolist())]
    table.write_text("\n".join(lines) + "\n")
    reference = run.compare(table).reference
    axes = drawn(lambda ax: run.plot.comparison("U", reference, ax))
    assert (axes.get_xlabel(), axes.get_ylabel()) == (r"$z^+$", r"$U^+$")
    circles = axes.get_lines()[1]
    at = np.searchsorted(run.profiles.z_plus, circles.get_xdata() * (1 - 1e-6))
    np.testing.assert_allclose(circles.get_ydata(), 1.01 * run.profiles.U[at], rtol=1e-6)
    with pytest.raises(UsageError, match="holds no u_rms"):
        run.plot.comparison("u_rms", reference, axes)


def test_study(runs: dict[str, OpenedRun]) -> None:
    directory = runs["profiles"].directory
    study = sp.compare([directory])
    axes = drawn(lambda ax: study.plot("u_peak", ax=ax))
    assert (axes.get_xlabel(), axes.get_ylabel()) == (COST_LABELS["point_steps"], "error, %")
    line = axes.containers[0].lines[0]
    np.testing.assert_array_equal(line.get_ydata(), study.dataset.u_peak_error)


def test_what_is_missing_is_named(runs: dict[str, OpenedRun]) -> None:
    with pytest.raises(InputOutputError, match=r"output\.slices"):
        runs["spectra"].plot.streaks(new_figure().add_subplot())
    with pytest.raises(InputOutputError, match=r"output\.statistics\.budgets"):
        runs["profiles"].plot.budget(ax=new_figure().add_subplot())


def test_current_axes_are_the_default(runs: dict[str, OpenedRun], monkeypatch: pytest.MonkeyPatch) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.switch_backend("agg")
    figure, axes = pyplot.subplots()
    try:
        assert runs["profiles"].plot.mean_velocity() is axes
    finally:
        pyplot.close(figure)


def test_a_published_budget_has_the_symbols_of_its_simulation(runs: dict[str, OpenedRun]) -> None:
    z_plus = np.geomspace(1, 100, 30)
    published = [Reference(name, 180, True, {"production": z_plus}, {"production": 0.2 / z_plus}) for name in "abc"]
    references = [(None, {stress: one}) for stress, one in zip(("vv", "uu", "uu"), published, strict=True)]
    figure, left_out = draw_overlay([runs["budgets"]], ["run"], ["budgets:uu"], references, [])
    assert {line.get_marker() for line in figure.axes[0].lines} == {"None", "s"}
    assert left_out == ["budgets:uu: without c (one published budget is shown)"]
