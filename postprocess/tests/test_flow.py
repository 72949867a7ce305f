"""Which flow a run is of, and that published data of another flow are nowhere laid beside it."""

import html
import re
from pathlib import Path

import pytest
import synthetic_flows
from synthetic_flows import ROTATION

from sluice_post.cli import main
from sluice_post.flow import flow_of
from sluice_post.results import evaluate, summary_text
from sluice_post.run import load_run, load_statistics
from sluice_post.verdicts import verdicts

NONE_KNOWN = "No published data are known here for this flow"
SCALAR = '\n    - {name: "heat", prandtl: 0.7, walls: {bottom: {value: -0.5}, top: {value: 0.5}}, source: none}'
OSCILLATION = {
    f"walls.{wall}.actuation.{key}": value
    for wall in ("bottom", "top")
    for key, value in {
        "type": "oscillation",
        "component": "spanwise",
        "amplitude": "0.76",
        "period": "7.9",
        "units": "outer",
    }.items()
}
OPPOSITION = {
    f"walls.{wall}.actuation.{key}": value
    for wall in ("bottom", "top")
    for key, value in {"type": "opposition_control", "amplitude": "1", "height": "0.075"}.items()
}
BUOYANCY = {
    "flow.buoyancy.scalar": '"heat"',
    "flow.buoyancy.richardson": "0.05",
    "flow.buoyancy.direction": "[0, 0, -1]",
    "flow.buoyancy.reference": "0",
    "scalars": SCALAR,
}
OTHER_FLOWS = {
    "rotation": (ROTATION, "Channel flow with rotation", "about its spanwise axis, 2 Omega h/U_b = 0.5"),
    "magnetic field": (
        {"flow.magnetic_field.hartmann": "20"},
        "Channel flow with a magnetic field",
        "in a magnetic field normal to the walls, Ha = 20",
    ),
    "buoyancy": (BUOYANCY, "Channel flow with buoyancy", "buoyancy of heat, Ri = 0.05, gravity along -z"),
    "oscillation": (
        OSCILLATION,
        "Channel flow with actuated walls",
        "oscillates (amplitude 0.76 U, component spanwise, period 7.9 h/U) (U is the unit of",
    ),
    "opposition": (
        OPPOSITION,
        "Channel flow with actuated walls",
        "opposes the wall-normal velocity above it (amplitude 1, height 0.075 h)",
    ),
    "slip": (
        {"walls.top.type": "slip", "walls.top.slip_length": "0.01"},
        "Channel flow with walls that slip",
        "the top wall has the slip length 0.01 h",
    ),
    "formula": (
        {"walls.bottom.velocity": '["0.1*sin(x)", 0, 0]'},
        "Channel flow with walls of varying velocity",
        "the bottom wall has the velocity (0.1*sin(x), 0, 0)",
    ),
    "pulsation": (
        {"flow.forcing.pressure_gradient": '"1 + 0.3*cos(pi*t)"'},
        "Channel flow with a drive that varies: pressure gradient = 1 + 0.3*cos(pi*t)",
        "under a given force that follows 1 + 0.3*cos(pi*t)",
    ),
    "along y": (
        {"flow.spanwise_forcing.pressure_gradient": "0.2"},
        "Channel flow with flow along y, pressure gradient = 0.2",
        "at a given bulk velocity and under a given force along y",
    ),
    "Ekman layer": (
        ROTATION | {"flow.rotation.axis": "wall_normal", "flow.rotation.geostrophic": "[1, 0]"},
        "Ekman layer",
        "Ekman layer",
    ),
}


def plain_text(markup: object) -> str:
    return html.unescape(re.sub("<.*?>", "", str(markup)))


@pytest.mark.parametrize("name", OTHER_FLOWS)
def test_another_flow_is_named_and_not_compared(tmp_path: Path, name: str) -> None:
    sampled, flow, words = OTHER_FLOWS[name]
    results = evaluate(load_run(synthetic_flows.write_run(tmp_path, sampled)))
    answers = {question: plain_text(answer) for question, answer in verdicts(results)}
    assert words in answers["Which flow?"]
    assert answers["How far from published data?"] == f"{NONE_KNOWN} ({flow})."
    assert "the intervals" not in answers["What limits it?"]
    assert f"{NONE_KNOWN} ({flow})." in summary_text(results)


@pytest.mark.parametrize(("name", "letters"), [("oscillation", "v"), ("formula", "u"), ("opposition", "")])
@pytest.mark.unpainted
def test_the_peak_of_a_velocity_that_a_wall_has_too_says_so(tmp_path: Path, name: str, letters: str) -> None:
    directory = synthetic_flows.write_run(tmp_path, OTHER_FLOWS[name][0])
    assert main(["report", str(directory), "--side", "bottom"]) == 0
    page = plain_text((directory / "report.html").read_text(encoding="utf-8"))
    for letter in "uvw":
        said = re.search(rf"peak {letter}′\+[^\n]*includes the motion of the wall", page)
        assert bool(said) == (letter in letters), letter


@pytest.mark.parametrize(("name", "even"), [("", True), ("rotation", True), ("oscillation", False), ("along y", False)])
@pytest.mark.unpainted
def test_the_report_calls_the_skewness_of_v_0_only_in_flows_symmetric_in_y(
    tmp_path: Path, name: str, even: bool
) -> None:
    """Averages over part of an oscillation along y are not symmetric, however many samples they have."""
    sampled = OTHER_FLOWS[name][0] if name else None
    directory = synthetic_flows.write_run(tmp_path, sampled)
    assert main(["report", str(directory), "--side", "bottom"]) == 0
    page = plain_text((directory / "report.html").read_text(encoding="utf-8"))
    assert ("The skewness of v is 0 by symmetry" in page) == even
    assert ("v′ includes the motion of the wall" in page) == (name == "oscillation")
    assert ("x streamwise" in page) == (name != "along y")


def test_two_dimensions_are_another_flow(tmp_path: Path) -> None:
    results = evaluate(load_run(synthetic_flows.write_run(tmp_path, cells=(32, 1, 48))))
    assert results.published is None
    assert f"{NONE_KNOWN} (Channel flow with two dimensions only)." in summary_text(results)


def test_passive_scalars_leave_the_velocity_comparable(tmp_path: Path) -> None:
    results = evaluate(load_run(synthetic_flows.write_run(tmp_path, {"scalars": SCALAR})))
    assert results.published is not None and results.published.name == "MKM"
    answer = plain_text(dict(verdicts(results))["Which flow?"])
    walls = "value -0.5 at the bottom wall and value 0.5 at the top wall"
    assert f"passive scalars: heat (Pr 0.7, {walls})" in answer


def test_published_data_are_chosen_by_the_number_that_the_case_sets(tmp_path: Path) -> None:
    """A force sets Re_tau = 180; the run happens to be at 184.5, which is nearer to 186.34 than to 178.12."""
    force = repr((2 * 180 / synthetic_flows.RE_B) ** 2)
    run = synthetic_flows.write_run(tmp_path, {"flow.forcing.pressure_gradient": force}, re_tau=184.5)
    results = evaluate(load_run(run))
    assert results.figure("re_tau").value == pytest.approx(184.5, rel=0.01)
    assert results.held is not None and results.held.value == pytest.approx(180, rel=1e-6)
    assert results.published is not None and results.published.re_tau == 178.12
    answer = plain_text(dict(verdicts(results))["How far from published data?"])
    assert answer.startswith("MKM, Reτ = 178.12, whose Re_tau differs by −1.0 % from that of the case: Cf ")


def test_a_bulk_velocity_is_compared_at_equal_bulk_reynolds_number(tmp_path: Path) -> None:
    """Re_b = 5600 is set; Re_tau = 186 alone would choose another simulation."""
    results = evaluate(load_run(synthetic_flows.write_run(tmp_path, re_tau=186.0)))
    assert results.held is not None and results.held.key == "re_b"
    assert results.held.value == pytest.approx(5600)
    assert results.published is not None and results.published.re_tau == 178.12


def test_far_from_all_published_reynolds_numbers(tmp_path: Path) -> None:
    results = evaluate(load_run(synthetic_flows.write_run(tmp_path, {"flow.forcing.bulk_velocity": "1.5"})))
    assert results.published is None
    assert f"{NONE_KNOWN} (Channel flow) at Re_b = 8400; the nearest are" in summary_text(results)


@pytest.mark.parametrize(
    ("kind", "words"), [("periodic", "the box has no walls"), ("channel", "both walls are free-slip")]
)
def test_why_there_are_no_wall_units(tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, words: str) -> None:
    free = {"flow.type": kind, "walls.top.type": "free_slip", "walls.bottom.type": "free_slip"}
    assert main(["profiles", str(synthetic_flows.write_run(tmp_path, free))]) == 2
    assert f"{words}, so there are no wall units" in capsys.readouterr().err


def test_a_report_without_wall_units_says_why(tmp_path: Path) -> None:
    free = {"walls.top.type": "free_slip", "walls.bottom.type": "free_slip"}
    directory = synthetic_flows.write_run(tmp_path, free)
    assert main(["report", str(directory)]) == 0
    assert "both walls are free-slip, so there are no wall units" in (directory / "report.html").read_text()


def test_watch_shows_no_peaks_of_another_flow(tmp_path: Path) -> None:
    from sluice_post.watch.statistics import ProfileFollower

    for sampled, is_known in (({}, True), (ROTATION, False), (OSCILLATION, False)):
        directory = tmp_path / str(len(sampled))
        follower = ProfileFollower(synthetic_flows.write_run(directory, sampled) / "statistics.h5")
        follower.poll()
        assert follower.live is not None
        assert (follower.live.published is not None) == is_known
        assert follower.live.no_published.startswith(NONE_KNOWN) != is_known


def test_files_of_published_data_do_not_tell_their_flow(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profiles = tmp_path / "a.means"
    profiles.write_text("# Re_tau = 178\n# y y+ Umean\n0 0 0\n0.1 17.8 8\n0.5 89 16\n1.0 178 17\n")
    for sampled, is_noted in (({}, False), (ROTATION, True)):
        run = synthetic_flows.write_run(tmp_path / str(is_noted), sampled)
        assert main(["compare", str(run), "--reference", str(profiles)]) == 0
        assert ("not a plain flow: Channel flow with rotation" in capsys.readouterr().out) == is_noted


def test_validation_lays_files_over_their_own_flow_only(tmp_path: Path) -> None:
    from sluice_post.validation import read_files, read_results

    text = "# Re_tau = 178\n# y y+ Umean\n0 0 0\n0.1 17.8 8\n0.5 89 16\n1.0 178 17\n"
    for name in ("chan180.means", "LM_Couette_0180.means"):
        (tmp_path / name).write_text(text)
    files = read_files([tmp_path / "chan180.means", tmp_path / "LM_Couette_0180.means"])
    plain = read_results(synthetic_flows.write_run(tmp_path / "plain"))
    assert [one.label for one in files.for_results(plain).profiles] == ["chan180.means"]
    rotating = read_results(synthetic_flows.write_run(tmp_path / "rotating", ROTATION))
    assert files.for_results(rotating).profiles == []


def test_a_study_refuses_runs_of_other_flows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plain = synthetic_flows.write_run(tmp_path / "plain")
    rotating = synthetic_flows.write_run(tmp_path / "rotating", ROTATION)
    base = ["-o", str(tmp_path / "study")]
    assert main(["study", str(plain), str(rotating), *base]) == 2
    assert "they differ in rotation" in capsys.readouterr().err
    faster = synthetic_flows.write_run(tmp_path / "faster", {"flow.forcing.bulk_velocity": "1.1"})
    assert main(["study", str(plain), str(faster), *base]) == 2
    assert "they differ in Re_b that the case sets" in capsys.readouterr().err
    assert main(["study", str(plain), "--reference", str(rotating), *base]) == 2
    assert "they differ in rotation" in capsys.readouterr().err
    assert main(["study", str(rotating), *base]) == 2
    assert f"{NONE_KNOWN} (Channel flow with rotation)" in capsys.readouterr().err


def test_walls_and_drive_decide_whatever_the_type_is_called(tmp_path: Path) -> None:
    moving = {"walls.bottom.velocity": "[-1, 0, 0]", "walls.top.velocity": "[1, 0, 0]"}
    undriven = {"flow.forcing": "none"}
    for name, sampled, flow in (
        ("couette", moving | undriven, "Couette flow"),
        ("held", moving | {"flow.forcing.bulk_velocity": "0"}, "Couette flow"),
        ("forced", moving | {"flow.forcing.pressure_gradient": "0.1"}, "Couette-Poiseuille flow"),
        ("decaying", undriven, "Channel flow with no force"),
        ("open", {"walls.top.type": "free_slip"}, "Open-channel flow"),
        ("free", {"walls.top.type": "free_slip", "walls.bottom.type": "free_slip"}, "Flow between free-slip walls"),
    ):
        run = synthetic_flows.write_run(tmp_path / name, sampled)
        parameters, _ = load_statistics(run)
        assert flow_of(parameters).name == flow, name
