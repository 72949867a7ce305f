"""The work of buoyancy in budgets of the Reynolds stresses, in small fields computed plainly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import staggered
from staggered import FLOW, MOVING, PARAMETERS, VISCOSITY, Z_FACE, assert_close, assert_second_order, block_of
from staggered_scalars import HeatedFields, heated_fields, heated_means_of, profiles_of
from synthetic_scalars import line_of_case, write_scalars

from sluice_post import open as open_run
from sluice_post.budget_terms import budgets_of
from sluice_post.budgets import buoyancy_terms, wall_budgets
from sluice_post.cli import main
from sluice_post.parameters import Buoyancy
from sluice_post.reference import read_budget_reference
from sluice_post.scalars import Scalar, ScalarWall
from sluice_post.symmetry import Symmetry
from sluice_post.wall_view import wall_view

SCALAR = Scalar("c", 0.7, ScalarWall("value", 1.0), ScalarWall("value", -1.0))
OBLIQUE = Buoyancy((0.6, -0.48, -0.64), SCALAR, 110.0, 4.0)
AT_REST = replace(PARAMETERS, buoyancy=OBLIQUE)


def states(count, buoyancy, z_face=Z_FACE, **walls):
    flows = [staggered.random_fields(seed, z_face, **walls) for seed in range(count)]
    force = tuple(-buoyancy.coefficient * component for component in buoyancy.gravity)
    return [
        replace(heated_fields(seed, flow, buoyancy.scalar, force), reference=buoyancy.reference)
        for seed, flow in enumerate(flows)
    ]


@pytest.mark.parametrize("side", ["bottom", "top"])
def test_terms_add_up_to_the_rate_of_change(side):
    """Between moving walls, in averages over states with different means. uw is left out: of second order only."""
    fields = states(2, OBLIQUE, **MOVING)
    velocities = {f"velocity_{wall}": (*velocity, 0.0) for wall, velocity in MOVING.items()}
    found = wall_budgets(heated_means_of(*fields), replace(AT_REST, **velocities), side)
    images = [state.mirrored() if side == "top" else state for state in fields]
    terms = {stress: budget.terms for stress, budget in found.budgets.items()}
    for stress, rate in staggered.rates_of(*(state.driven() for state in images)).items():
        imbalance = terms[stress]["imbalance"] * found.numbers["unit"]
        if stress != "uw":
            full = np.pad(rate, 1) if stress == "ww" else rate
            assert_close(imbalance, full[: len(imbalance)])
        assert np.max(np.abs(terms[stress]["buoyancy"])) * found.numbers["unit"] > 1e-3 * np.max(np.abs(imbalance))
    of_faces = terms["ww"]["buoyancy"]
    of_faces = (of_faces[1:] + of_faces[:-1])[: len(terms["k"]["buoyancy"])] / 2
    of_centres = (terms["uu"]["buoyancy"] + terms["vv"]["buoyancy"])[: len(of_faces)]
    assert_close(terms["k"]["buoyancy"][: len(of_faces)], (of_centres + of_faces) / 2)


@pytest.mark.parametrize("gravity", [(1.0, 0.0, 0.0), (0.0, 0.0, -1.0)])
def test_term_of_uw_is_of_second_order(gravity):
    buoyancy = Buoyancy(gravity, SCALAR, 1.3, 0.4)
    parameters, errors = replace(PARAMETERS, buoyancy=buoyancy), []
    for n in (16, 32, 64):
        flow = staggered.smooth_fields(n)
        z_face, at, _ = staggered.smooth_grid(n)
        c = staggered.wave((z_face[1:] + z_face[:-1]) / 2, at, at, 0.6)
        force = tuple(-buoyancy.coefficient * component for component in gravity)
        state = HeatedFields(flow, c, SCALAR, force, buoyancy.reference)
        exact = staggered.rates_of(state.driven())["uw"] - staggered.rates_of(flow)["uw"]
        means = heated_means_of(state)
        found = buoyancy_terms(means, wall_view(means, parameters, "bottom"), buoyancy)["uw"]
        errors.append(np.max(np.abs(found - exact)) / np.max(np.abs(exact)))
    assert_second_order(errors)


def test_other_views_are_those_of_the_image_with_gravity_reflected():
    """From the top, and where the flow along -x is turned round."""
    fields = states(2, OBLIQUE)
    x, y, z = OBLIQUE.gravity
    below = replace(PARAMETERS, buoyancy=replace(OBLIQUE, gravity=(x, y, -z)))
    backwards = replace(PARAMETERS, buoyancy=replace(OBLIQUE, gravity=(-x, y, z)))
    turned = heated_means_of(*(state.x_reversed() for state in fields))
    assert turned.face["tau_xz"][0] < 0
    means = heated_means_of(*fields)
    mirrored = heated_means_of(*(state.mirrored() for state in fields))
    for found, expected in (
        (wall_budgets(means, AT_REST, "top"), wall_budgets(mirrored, below, "bottom")),
        (wall_budgets(turned, backwards, "bottom"), wall_budgets(means, AT_REST, "bottom")),
    ):
        for stress, budget in found.budgets.items():
            assert_close(budget.terms["buoyancy"], expected.budgets[stress].terms["buoyancy"])


@pytest.mark.parametrize(
    ("gravity", "scalar"),
    [
        ((0.0, 0.0, -1.0), SCALAR),  # stratified: in the mirror image the other wall is the hot one
        ((-0.8, 0.6, 0.0), replace(SCALAR, top=SCALAR.bottom)),
    ],
)
def test_halves_are_averaged(gravity, scalar):
    """The average over both halves is that over all states and their images, in which the force is reflected."""
    z_face = np.concatenate([Z_FACE[:5] / 1.2, 2 - Z_FACE[4::-1] / 1.2])
    buoyancy = Buoyancy(gravity, scalar, 110.0, 4.0)
    fields = states(3, buoyancy, z_face)
    images = [state.mirrored() for state in fields]
    if gravity[2] != 0:  # the same force under the same gravity
        images = [replace(image, c=2 * buoyancy.reference - image.c, buoyancy=fields[0].buoyancy) for image in images]
    together = heated_means_of(*fields, *images)
    parameters = replace(PARAMETERS, buoyancy=buoyancy)
    assert wall_view(heated_means_of(*fields), parameters).symmetry is Symmetry.MIRROR
    found = wall_budgets(heated_means_of(*fields), parameters, "both")
    expected = wall_budgets(together, parameters, "bottom")
    rates = staggered.rates_of(*(state.driven() for state in (*fields, *images)))
    for stress, budget in found.budgets.items():
        assert ("buoyancy" in budget.terms) == ("buoyancy" in expected.budgets[stress].terms)
        if "buoyancy" in budget.terms:
            assert_close(budget.terms["buoyancy"], expected.budgets[stress].terms["buoyancy"], 1e-10)
    for stress in ("uu", "vv"):
        imbalance = found.budgets[stress].terms["imbalance"] * found.numbers["unit"]
        assert_close(imbalance, rates[stress][: len(imbalance)], 1e-11)
    imbalance = found.budgets["ww"].terms["imbalance"][1:-1] * found.numbers["unit"]
    assert_close(imbalance, rates["ww"][: len(imbalance)], 1e-11)


@pytest.mark.parametrize(
    ("gravity", "stresses"),
    [((0, 0, -1), {"ww", "uw", "k"}), ((-1, 0, 0), {"uu", "uw", "k"}), ((0, 1, 0), {"vv", "k"})],
)
def test_stresses_that_gravity_acts_on_have_the_term(gravity, stresses):
    buoyancy = replace(OBLIQUE, gravity=gravity)
    means = heated_means_of(*states(1, buoyancy))
    found = wall_budgets(means, replace(PARAMETERS, buoyancy=buoyancy), "bottom").budgets
    assert {stress for stress, budget in found.items() if "buoyancy" in budget.terms} == stresses


def test_nothing_changes_without_profiles_of_the_scalar():
    means = replace(heated_means_of(*states(1, OBLIQUE)), scalars={})
    found = wall_budgets(means, AT_REST, "bottom").budgets
    for stress, budget in budgets_of(wall_view(means, AT_REST, "bottom").means, VISCOSITY, (True, True)).items():
        assert [*found[stress].terms] == [*budget]
        assert "buoyancy" not in budget


STRATIFIED = {
    **{"flow.buoyancy.scalar": '"c"', "flow.buoyancy.direction": "[0, 0, -1]"},
    **{"flow.buoyancy.richardson": "110", "flow.buoyancy.reference": "4"},
}


def write(path, parameters):
    """A statistics.h5 whose blocks are one state each, with these further parameters."""
    fields = states(4, Buoyancy((0.0, 0.0, -1.0), SCALAR, 110.0, 4.0), FLOW.z_face)
    raw = [block_of(FLOW, state.flow) for state in fields]
    case = line_of_case("c", SCALAR.prandtl, "value: 1", "value: -1")
    profiles = [profiles_of(state) for state in fields]
    return write_scalars(path / "statistics.h5", FLOW, raw, [(case, profiles)], parameters)


def test_command_and_datasets(tmp_path, capsys):
    write(tmp_path, STRATIFIED)
    assert main(["budgets", str(tmp_path)]) == 0
    lines = [line.split()[:2] for line in capsys.readouterr().out.splitlines() if " buoyancy " in line]
    assert [line for line in lines if line[0] in ("k", "uu", "vv", "ww", "uw")] == [
        ["k", "buoyancy"],
        ["ww", "buoyancy"],
        ["uw", "buoyancy"],
    ]
    rows = np.genfromtxt(tmp_path / "budget_ww.csv", delimiter=",", names=True)
    run = open_run(tmp_path)
    np.testing.assert_allclose(run.budgets["ww"].buoyancy, rows["buoyancy"], rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(run.budgets["ww"].buoyancy_ci95, rows["buoyancy_ci95"], rtol=1e-6, atol=1e-12)
    (tmp_path / "other").mkdir()
    (tmp_path / "budget_ww.csv").rename(tmp_path / "other" / "budget_ww.csv")
    assert "buoyancy" in read_budget_reference(tmp_path / "other" / "budget_ww.csv")[1].values
