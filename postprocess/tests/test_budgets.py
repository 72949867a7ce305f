"""Budgets of small fields whose averages and rates of change are computed plainly, see staggered.py."""

import re
import shutil
from dataclasses import replace

import h5py
import numpy as np
import pytest
import staggered
import synthetic
from staggered import (
    FLOW,
    MOVING,
    NO_SLIP,
    OBLIQUE,
    PARAMETERS,
    VISCOSITY,
    Z_FACE,
    assert_close,
    assert_second_order,
    block_of,
)

from sluice_post import layout
from sluice_post.budget_terms import STRESSES, TERMS, budgets_of, coriolis_terms
from sluice_post.budgets import evaluate_budgets, table_text, wall_budgets
from sluice_post.cli import main
from sluice_post.errors import InputOutputError
from sluice_post.parameters import Buoyancy
from sluice_post.reference import holds_budget, read_budget_reference
from sluice_post.run import load_statistics
from sluice_post.scalars import Scalar, ScalarWall
from sluice_post.symmetry import Symmetry, image_of, in_moving_frame, reflected, symmetry_of
from sluice_post.uncertainty import student_t95
from sluice_post.wall_view import wall_view

EKMAN = {"sampled": {"flow.rotation.geostrophic": "[1, 0]"}, "rotation": (0.0, 0.0, 0.1)}


def states(count=3, z_face=Z_FACE, rotation=(0.0, 0.0, 0.0), drag=0.0, **walls):
    flows = [staggered.random_fields(seed, z_face, **walls) for seed in range(count)]
    return [replace(flow, rotation=rotation, drag=drag) for flow in flows]


def assert_same_profiles(found, expected, names=None):
    assert_close(found.z, expected.z)
    for a, b in ((found.centre, expected.centre), (found.face, expected.face)):
        for name in b if names is None else b.keys() & set(names):
            if name != "w":  # round-off
                assert_close(a[name], b[name])


def test_fields_are_divergence_free():
    for state in states(2, **MOVING):
        assert np.max(np.abs(staggered.divergence(state))) < 1e-11


@pytest.mark.parametrize(
    ("count", "rotation", "drag"), [(1, (0, 0, 0), 0), (3, (0, 0, 0), 0), (2, OBLIQUE, 0), (2, (0, 0, 0), 130.0)]
)
def test_terms_add_up_to_the_rate_of_change(count, rotation, drag):
    """Also for averages over several states with different mean profiles. The Coriolis term of uw is approximate."""
    flow = states(count, rotation=rotation, drag=drag, **MOVING)
    found = budgets_of(staggered.means_of(*flow), VISCOSITY, NO_SLIP, rotation, magnetic_drag=drag)
    of = {"coriolis": ("uu", "vv", "ww")} if any(rotation) else {"magnetic_force": ("uu", "vv", "uw")} if drag else {}
    for stress, rate in staggered.rates_of(*flow).items():
        terms = dict(found[stress])
        imbalance = terms.pop("imbalance")
        np.testing.assert_array_equal(imbalance, np.sum(list(terms.values()), axis=0))
        assert {"coriolis", "magnetic_force"} & terms.keys() <= of.keys()
        for force, stresses in of.items():
            assert stress not in stresses or np.max(np.abs(terms[force])) > 0.01 * np.max(np.abs(imbalance))
        if stress != "uw" or not any(rotation):
            assert_close(imbalance[1:-1] if stress == "ww" else imbalance, rate)


def of_energy(found, term):
    """Half the sum of the terms of the variances at the centres."""
    of_faces = found["ww"].get(term, np.zeros(len(found["k"]["production"]) + 1))
    return (found["uu"][term] + found["vv"][term] + (of_faces[1:] + of_faces[:-1]) / 2) / 2


@pytest.mark.parametrize(("rotation", "drag"), [((0, 0, 0), 0), (OBLIQUE, 0), ((0, 0, 0), 130.0)])
def test_energy_is_half_the_sum_of_the_variances(rotation, drag):
    flow = states(rotation=rotation, drag=drag)
    found = budgets_of(staggered.means_of(*flow), VISCOSITY, NO_SLIP, rotation, magnetic_drag=drag)
    assert not {"pressure_strain", "coriolis"} & found["k"].keys()
    for term in ("imbalance", "dissipation", *(["magnetic_force"] if drag else [])):
        assert_close(found["k"][term], of_energy(found, term))
    assert np.all(found["k"].get("magnetic_force", 0) <= 0)


def test_the_magnetic_term_is_in_the_budgets_of_a_run(tmp_path):
    write(tmp_path)
    parameters, blocks = load_statistics(tmp_path)
    magnetic = replace(parameters, magnetic_drag=3.0)
    found, plain = (wall_budgets(blocks.means(), of, "top").budgets for of in (magnetic, parameters))
    for stress in ("uu", "vv", "uw", "k"):
        terms, others = found[stress].terms, plain[stress].terms
        assert_close(terms["imbalance"], others["imbalance"] + terms["magnetic_force"])
        assert "magnetic_force" not in others
    assert found["ww"].terms.keys() == plain["ww"].terms.keys()


@pytest.mark.parametrize(
    ("name", "keys", "expected"),
    [
        ("magnetic_drag", {"flow.magnetic_field": "none"}, 0),
        ("magnetic_drag", {"flow.magnetic_field.hartmann": "20"}, 20**2 * 0.01),
        ("rotation", {"flow.rotation": "none"}, (0.0, 0.0, 0.0)),
        ("rotation", {"flow.rotation.number": "0.5", "flow.rotation.axis": "spanwise"}, (0.0, 0.5, 0.0)),
        ("rotation", {"flow.rotation.number": "0.5", "flow.rotation.axis": "wall_normal"}, (0.0, 0.0, 0.5)),
        ("rotation", {"flow.rotation.number": "0.5", "flow.rotation.axis": "[0, 3, -4]"}, (0.0, 0.3, -0.4)),
    ],
)
def test_forces_are_read_from_the_parameters_of_the_samples(name, keys, expected):
    sampled = {
        **{"flow.type": "channel", "flow.reynolds.viscosity": "0.01"},
        **{"walls.bottom.type": "no_slip", "walls.top.type": "no_slip"},
    }
    assert getattr(PARAMETERS.with_sampled(sampled | keys), name) == pytest.approx(expected)


@pytest.mark.parametrize("rotation", [(0.7, 0, 0), (0, -0.4, 0), (0, 0, 1.1)])
def test_coriolis_term_of_uw_is_of_second_order(rotation):
    errors = []
    for n in (16, 32, 64):
        flow = staggered.smooth_fields(n, rotation)
        at_rest = replace(flow, rotation=(0.0, 0.0, 0.0))
        exact = staggered.rates_of(flow)["uw"] - staggered.rates_of(at_rest)["uw"]
        found = coriolis_terms(staggered.means_of(flow), rotation)["uw"]
        errors.append(np.max(np.abs(found - exact)) / np.max(np.abs(exact)))
    assert_second_order(errors)


def test_rotating_flow_seen_from_the_top_and_the_other_way_round(tmp_path):
    """The rotation is reflected with the flow: budgets are those of the image, seen from its bottom wall."""
    fields = write(tmp_path)
    parameters, blocks = load_statistics(tmp_path)
    found = wall_budgets(blocks.means(), replace(parameters, rotation=OBLIQUE), "top")
    images = [replace(state, rotation=OBLIQUE).mirrored() for state in fields]
    assert images[0].rotation == reflected(OBLIQUE, "z")
    expected = budgets_of(staggered.means_of(*images), VISCOSITY, NO_SLIP, images[0].rotation)
    for stress, budget in found.budgets.items():
        values = expected[stress]["imbalance"][: len(budget.z)]
        assert_close(budget.terms["imbalance"] * budget.unit, values, 1e-11)
    (state,) = states(1, rotation=OBLIQUE)
    image = state.x_reversed()
    assert image.rotation == reflected(OBLIQUE, "x")
    of_image, of_state = (
        budgets_of(staggered.means_of(flow), VISCOSITY, NO_SLIP, flow.rotation) for flow in (image, state)
    )
    assert_close(of_image["uu"]["coriolis"], of_state["uu"]["coriolis"])


def buoyant(gravity, top=-1.0, source="none"):
    scalar = Scalar("c", 1.0, ScalarWall("value", 1.0), ScalarWall("value", top), source, 1.0)
    return {"buoyancy": Buoyancy(gravity, scalar)}


@pytest.mark.parametrize(
    ("changes", "symmetry"),
    [
        ({}, Symmetry.MIRROR),
        (buoyant((0, 0, -1)), Symmetry.MIRROR),  # stratified
        (buoyant((0, 0, -1), 1, "uniform"), Symmetry.NONE),  # heated evenly: the hot middle rises towards one wall
        (buoyant((-1, 0, 0), 1, "uniform"), Symmetry.MIRROR),  # vertical
        (buoyant((-1, 0, 0)), Symmetry.NONE),  # one wall carries the fluid up, the other down
        (buoyant((-1, 0, -1)), Symmetry.NONE),
        ({"rotation": (0.0, 0.0, 0.3)}, Symmetry.MIRROR),
        ({"rotation": (0.0, 0.3, 0.0)}, Symmetry.NONE),
        ({"rotation": (0.3, 0.0, 0.0)}, Symmetry.NONE),
    ],
)
def test_forces_may_break_the_symmetry_of_a_channel(changes, symmetry):
    assert symmetry_of(replace(PARAMETERS, **changes), staggered.means_of(*states(1, FLOW.z_face))) is symmetry


@pytest.mark.parametrize(
    ("changes", "is_zero"),
    [
        *(({}, True), ({"rotation": (0.0, 0.0, 1.0)}, False)),
        *((buoyant((0, 0, -1)), True), (buoyant((0, -1, 0)), False)),
    ],
)
def test_production_of_vv_is_not_zero_if_a_force_gives_a_mean_v(tmp_path, changes, is_zero):
    write(tmp_path)
    parameters, blocks = load_statistics(tmp_path)
    found = evaluate_budgets(blocks, replace(parameters, **changes), "bottom").zero_by_symmetry
    assert found == ((("vv", "production"),) if is_zero else ())


def test_profiles_seen_from_the_other_wall_and_with_x_reversed():
    flow = states(2, **MOVING)
    means = staggered.means_of(*flow)
    assert_same_profiles(image_of(means, "z"), staggered.means_of(*(state.mirrored() for state in flow)))
    assert_same_profiles(image_of(means, "x"), staggered.means_of(*(state.x_reversed() for state in flow)))


def test_profiles_and_budgets_in_a_moving_frame():
    flow = states(2, **MOVING)
    means, frame = staggered.means_of(*flow), (3.0, -2.0)
    moved = in_moving_frame(means, *frame)
    assert_same_profiles(moved, staggered.means_of(*(state.in_moving_frame(*frame) for state in flow)))
    expected = budgets_of(means, VISCOSITY, NO_SLIP)
    for stress, budget in budgets_of(moved, VISCOSITY, NO_SLIP).items():
        for name, values in budget.items():
            assert_close(values, expected[stress][name], 1e-11, expected[stress]["dissipation"])


def test_terms_of_uu_are_those_of_the_fluctuations():
    (flow,) = states(1, **MOVING)
    terms = budgets_of(staggered.means_of(flow), VISCOSITY, NO_SLIP)["uu"]

    def along_xy(u):
        along_x = (u - staggered.down(u, staggered.X)) / flow.dx
        return along_x**2 + ((staggered.up(u, staggered.Y) - u) / flow.dy) ** 2

    w = staggered.mean_up(flow.w, staggered.X)
    for name, expected in staggered.terms_of_fluctuations(flow, flow.u, w, along_xy, (-1, -1), VISCOSITY).items():
        assert_close(terms[name], expected)


def test_pressure_strain_has_no_trace():
    means = staggered.means_of(*states())
    trace = means.centre["p_dudx"] + means.centre["p_dvdy"] + means.centre["p_dwdz"]
    assert np.max(np.abs(trace)) < 1e-12 * np.max(np.abs(means.centre["p_dudx"]))


def test_wall_normal_variance_on_walls():
    """On a no-slip wall all terms are 0. On a free-slip wall dissipation and diffusion are not, but cancel."""
    means = staggered.means_of(*states())
    terms = budgets_of(means, VISCOSITY, (True, False))["ww"]
    for values in terms.values():
        assert values[0] == 0
    gradient = means.centre["dwdz_squared"][-1]
    assert terms["dissipation"][-1] == pytest.approx(-2 * VISCOSITY * gradient)
    assert terms["pressure_strain"][-1] == pytest.approx(2 * means.centre["p_dwdz"][-1])
    assert abs(terms["imbalance"][-1]) < 1e-12 * abs(terms["dissipation"][-1])


def write(path, flow=FLOW, count=6, **walls):
    """A statistics.h5 whose blocks are one state each."""
    fields = states(count, flow.z_face, **walls)
    synthetic.write_statistics(path / "statistics.h5", flow, [block_of(flow, state) for state in fields])
    return fields


def test_halves_are_averaged_and_terms_divided_by_wall_units(tmp_path):
    """The average over both halves is that over all states and their mirror images."""
    fields = write(tmp_path)
    parameters, blocks = load_statistics(tmp_path)
    found = wall_budgets(blocks.means(), parameters)
    means = staggered.means_of(*fields, *(state.mirrored() for state in fields))
    expected = budgets_of(means, VISCOSITY, NO_SLIP)
    u_tau = np.sqrt(means.face["tau_xz"][0])
    assert found.numbers["unit"] == pytest.approx(u_tau**4 / VISCOSITY)
    for stress, budget in found.budgets.items():
        assert budget.z[-1] <= 1 + 1e-9
        np.testing.assert_allclose(found.z_plus(stress), budget.z * u_tau / VISCOSITY)
        for name, values in budget.terms.items():
            full = expected[stress][name] * VISCOSITY / u_tau**4
            scale = np.max(np.abs(expected[stress]["dissipation"])) * VISCOSITY / u_tau**4
            np.testing.assert_allclose(values, full[: len(values)], rtol=0, atol=1e-11 * scale)
            sign = -1 if stress == "uw" else 1
            np.testing.assert_allclose(full, sign * full[::-1], rtol=0, atol=1e-9 * scale)


def test_halves_of_couette_flow_are_averaged_by_half_a_turn(tmp_path):
    flow = synthetic.Flow("couette", u_tau=1.8, re_tau=180, cells=(10, 8, 24))
    fields = states(3, flow.z_face, bottom=(-8.0, 0.0), top=(8.0, 0.0))
    blocks = [block_of(flow, state) for state in fields]
    flow.wall_speed = 8.0
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, blocks)
    parameters, read_blocks = load_statistics(tmp_path)
    view = wall_view(read_blocks.means(), parameters)
    assert view.symmetry is Symmetry.ROTATION
    means = staggered.means_of(*fields, *(state.mirrored().x_reversed() for state in fields))
    assert_same_profiles(view.means, means, names=layout.BUDGET_CENTRE_PROFILES + layout.BUDGET_FACE_PROFILES)


def test_budgets_of_each_wall(tmp_path):
    """Those of the top wall are those of the mirror image, seen from its bottom wall."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    fields = write(tmp_path / "a")
    images = [block_of(FLOW, state.mirrored()) for state in fields]
    synthetic.write_statistics(tmp_path / "b" / "statistics.h5", FLOW, images)
    of_top, of_bottom = (
        wall_budgets(blocks.means(), parameters, side)
        for side, (parameters, blocks) in (
            ("top", load_statistics(tmp_path / "a")),
            ("bottom", load_statistics(tmp_path / "b")),
        )
    )
    for stress, budget in of_top.budgets.items():
        for name, values in budget.terms.items():
            assert_close(values, of_bottom.budgets[stress].terms[name], 1e-11, budget.terms["dissipation"])


def test_intervals_and_storage_of_known_blocks(tmp_path):
    """Blocks that differ only in p du/dx, and in the variance of v, which grows by 0.3 in each block of 10."""
    (state,) = states(1, FLOW.z_face)
    same = block_of(FLOW, state)
    pressure = np.array([0.3, -0.1, 0.5, 0.2, -0.4, 0.1])
    blocks = [same | {"p_dudx": same["p_dudx"] + p, "vv": same["vv"] + 0.3 * n} for n, p in enumerate(pressure)]
    synthetic.write_statistics(tmp_path / "statistics.h5", FLOW, blocks)
    parameters, read_blocks = load_statistics(tmp_path)
    evaluated = evaluate_budgets(read_blocks, parameters)
    unit = evaluated.found.numbers["unit"]
    expected = 2 * student_t95(5) * pressure.std(ddof=1) / np.sqrt(6) / unit
    data = evaluated.data
    np.testing.assert_allclose(data["uu"].pressure_strain_ci95, expected, rtol=1e-9)
    np.testing.assert_allclose(data["uu"].imbalance_ci95, expected, rtol=1e-6)
    assert data["uu"].production_ci95.max() < 1e-9 * expected
    np.testing.assert_allclose(data["vv"].storage, 0.03 / unit, rtol=1e-9)
    np.testing.assert_allclose(data["k"].storage, 0.015 / unit, rtol=1e-9)
    np.testing.assert_allclose(data["uw"].storage, 0, atol=1e-12 / unit)
    alone = evaluate_budgets(read_blocks.one(0), parameters)
    assert not any("storage" in name or "ci95" in name for of in alone.data.values() for name in of)


def test_kolmogorov_length(tmp_path):
    write(tmp_path)
    parameters, blocks = load_statistics(tmp_path)
    found = wall_budgets(blocks.means(), parameters)
    columns = found.kolmogorov_columns()
    eps = -found.budgets["k"].terms["dissipation"] * found.numbers["unit"]
    eta = (VISCOSITY**3 / eps) ** 0.25
    np.testing.assert_allclose(columns["dx_over_eta"], FLOW.size[0] / 10 / eta)
    np.testing.assert_allclose(columns["dy_over_eta"], FLOW.size[1] / 8 / eta)
    np.testing.assert_allclose(columns["dz_over_eta"], np.diff(FLOW.z_face)[:12] / eta)
    np.testing.assert_allclose(columns["eta_plus"], eta * found.u_tau / VISCOSITY)
    assert found.integral(np.ones(12)) == pytest.approx(found.u_tau / VISCOSITY)


def test_command(tmp_path, capsys):
    write(tmp_path)
    assert main(["budgets", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^k +production +[+-][\d.]+ \+- [\d.]+ +[\d.]+$", out, re.MULTILINE)
    assert re.findall(r"^(\w+ +\w+) +zero by symmetry$", out, re.MULTILINE) == ["vv      production"]
    assert re.search(r"Kolmogorov length: smallest eta\+ [\d.]+ \+- [\d.]+; largest dx/eta [\d.]+ \+- ", out)
    assert re.search(r"^  imbalance \S+ \+- \S+, of which storage", out, re.MULTILINE)
    for stress in STRESSES:
        assert (tmp_path / "figures" / f"budget_{stress}.png").read_bytes().startswith(b"\x89PNG")
    rows = np.genfromtxt(tmp_path / "budget_k.csv", delimiter=",", names=True)
    assert len(rows) == 12
    sums = sum(rows[name] for name in TERMS if name in rows.dtype.names)
    np.testing.assert_allclose(sums, rows["imbalance"], rtol=0, atol=1e-8 * np.max(np.abs(rows["dissipation"])))
    assert {"production_ci95", "storage", "eta_plus", "dz_over_eta"} <= set(rows.dtype.names)
    # Against itself.
    table = tmp_path / "published" / "budget_uw.csv"
    table.parent.mkdir()
    (tmp_path / "budget_uw.csv").rename(table)
    folder = tmp_path / "other"
    assert main(["budgets", str(tmp_path), "--reference", str(table), "-o", str(folder)]) == 0
    found = re.search(r"^production +([+-][\d.]+)", capsys.readouterr().out, re.MULTILINE)
    assert abs(float(found.group(1))) < 1e-3
    assert (folder / "budget_uw.csv").read_text() == table.read_text()


@pytest.mark.unpainted
def test_report(tmp_path, capsys):
    write(tmp_path)
    reference = tmp_path / "chan180.kbal"
    reference.write_text(MKM)
    assert main(["report", str(tmp_path), "--reference", str(reference)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Budget of the turbulent kinetic energy" in page
    assert "budget of k, reference: chan180.kbal" in page
    assert "Kolmogorov" in page
    assert (tmp_path / "budget_ww.csv").is_file()
    assert (tmp_path / "figures" / "budget_uw.png").is_file()


@pytest.mark.parametrize(
    ("changes", "end"),
    [({}, "centre"), ({"wall_top": "free_slip"}, "surface"), ({"wall_top": "free_slip", **EKMAN}, "top")],
)
def test_integrals_say_how_far_they_go(tmp_path, changes, end):
    """An Ekman layer may be 24 unit lengths high: its budgets do not end at h."""
    write(tmp_path)
    parameters, blocks = load_statistics(tmp_path)
    text = table_text(evaluate_budgets(blocks, replace(parameters, **changes)))
    assert f"k from the wall to the {end}: production" in text


@pytest.mark.unpainted
def test_run_without_budgets(turbulent_run, tmp_path, capsys):
    assert main(["budgets", str(turbulent_run)]) == 4
    error = capsys.readouterr().err
    assert "output.statistics.budgets: off" in error
    assert error.count("\n") == 1
    run = shutil.copytree(turbulent_run, tmp_path / "run")
    assert main(["report", str(run)]) == 0
    assert "output.statistics.budgets: off" in capsys.readouterr().out
    assert "Budget" not in (run / "report.html").read_text(encoding="utf-8")
    assert not list(run.glob("budget_*"))


def test_laminar_flow_has_no_budgets(tmp_path, capsys):
    budgets = layout.BUDGET_CENTRE_PROFILES + layout.BUDGET_FACE_PROFILES
    faces = {*layout.BUDGET_FACE_PROFILES}
    profiles = synthetic.laminar_poiseuille(FLOW) | {name: np.zeros(24 + (name in faces)) for name in budgets}
    synthetic.write_statistics(tmp_path / "statistics.h5", FLOW, [profiles])
    assert main(["budgets", str(tmp_path)]) == 2
    assert "the flow is laminar" in capsys.readouterr().err
    assert main(["report", str(tmp_path)]) == 0
    assert not list(tmp_path.glob("budget_*"))


def test_missing_profile_of_budgets_is_damage(tmp_path, capsys):
    write(tmp_path)
    with h5py.File(tmp_path / "statistics.h5", "a") as file:
        del file["ww_flux"]
    assert main(["budgets", str(tmp_path)]) == 4
    assert "'/ww_flux' is missing" in capsys.readouterr().err


# Published layouts; their v is wall-normal.
MKM = (
    "# Re_tau = 100\n#  y  y+  dissip  produc  p-strain  p-diff  t-diff  v-diff  bal\n#\n"
    "0 0 -.2 0 0 0 0 .2 0\n0.1 10 -.1 .2 0 .01 -.03 -.08 0\n1.0 100 -.01 0 0 0 .01 0 0\n"
)
LEE_MOSER = (
    "%  y/delta  y^+  Production  Turbulent_Transport  Viscous_Transport  Pressure_Strain  Pressure_Transport"
    "  Viscous_Dissipation  Balance\n%---\n0 0 0 0 .2 0 0 .2 0\n0.1 10 .2 -.03 -.08 0 .01 .1 0\n"
    "1 100 0 .01 0 0 0 .01 0\n"
)


@pytest.mark.parametrize(
    ("name", "text", "stress"),
    [
        ("chan180.kbal", MKM, "k"),
        ("chan180.vvbal", MKM, "ww"),
        ("chan180.wwbal", MKM, "vv"),
        ("chan180.uvbal", MKM, "uw"),
        ("Re180.bal.kbal", MKM, "k"),
        ("Re180.bal.uu", MKM, "uu"),
        ("LM_Channel_0180_RSTE_k_prof.dat", LEE_MOSER, "k"),
        ("LM_Channel_0180_RSTE_vv_prof.dat", LEE_MOSER, "ww"),
    ],
)
def test_published_budgets(tmp_path, name, text, stress):
    path = tmp_path / name
    path.write_text(text)
    assert holds_budget(path)
    found, reference = read_budget_reference(path)
    assert found == stress
    assert reference.re_tau == pytest.approx(100)
    np.testing.assert_allclose(reference.values["dissipation"], [-0.2, -0.1, -0.01])
    np.testing.assert_allclose(reference.values["production"], [0, 0.2, 0])
    np.testing.assert_allclose(reference.values["viscous_diffusion"], [0.2, -0.08, 0])
    total = np.sum([reference.values[term] for term in TERMS], axis=0)
    np.testing.assert_allclose(total, reference.values["imbalance"], atol=1e-15)


@pytest.mark.parametrize("name", ["budget.dat", "Re180.std.uu", "LM_Channel_0180_RSTE_uu_stdev.dat"])
def test_published_budgets_of_unknown_name(tmp_path, name):
    path = tmp_path / name
    path.write_text(MKM)
    with pytest.raises(InputOutputError, match="does not say which budget"):
        read_budget_reference(path)


def test_profiles_are_no_budget(tmp_path):
    path = tmp_path / "chan180.means"
    path.write_text("# y y+ Umean\n0 0 0\n0.1 10 8\n1 100 17\n")
    assert not holds_budget(path)
