"""Budgets of scalars in small fields whose averages and rates of change are computed plainly."""

from __future__ import annotations

import re
from dataclasses import replace

import h5py
import numpy as np
import pytest
import staggered
from matplotlib.figure import Figure
from staggered import FLOW, MOVING, OBLIQUE, PARAMETERS, VISCOSITY, Z_FACE, assert_close, block_of
from staggered_scalars import HeatedFields, heated_fields, heated_means_of, profiles_of, rates_of
from synthetic_scalars import line_of_case, write_scalars

from sluice_post import open as open_run
from sluice_post.budget_terms import SCALAR_TERMS, budgets_of
from sluice_post.cli import main
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.layout import SCALAR_BUDGET_CENTRE_PROFILES, SCALAR_BUDGET_FACE_PROFILES
from sluice_post.parameters import Buoyancy
from sluice_post.run import load_statistics
from sluice_post.scalar_budgets import BUDGETS, evaluate_scalar_budgets, scalar_budgets_of, wall_scalar_budgets
from sluice_post.scalar_numbers import evaluate_scalars
from sluice_post.scalars import Scalar, ScalarWall
from sluice_post.uncertainty import student_t95

SCALAR = Scalar("c", 0.7, ScalarWall("value", 3.0), ScalarWall("flux", -0.2), "streamwise", 4.0)


def states(
    count=3, scalar=SCALAR, z_face=Z_FACE, buoyancy=(0.0, 0.0, 0.0), rotation=(0.0, 0.0, 0.0), drag=0.0, **walls
):
    flows = [
        replace(staggered.random_fields(seed, z_face, **walls), rotation=rotation, drag=drag) for seed in range(count)
    ]
    return [heated_fields(seed, flow, scalar, buoyancy) for seed, flow in enumerate(flows)]


BUOYANCY = Buoyancy((0.6, 0.0, -0.8), SCALAR, 110.0)
FORCE = tuple(-BUOYANCY.coefficient * component for component in BUOYANCY.gravity)


@pytest.mark.parametrize(
    ("count", "forces", "changes", "terms"),
    [
        (1, {}, {}, {}),
        (3, {}, {}, {}),
        (2, {"buoyancy": FORCE, "rotation": OBLIQUE}, {"rotation": OBLIQUE, "buoyancy": BUOYANCY},
         {"coriolis": ["uc", "wc"], "buoyancy": ["uc", "wc"]}),
        (2, {"drag": 150.0}, {"magnetic_drag": 150.0}, {"magnetic_force": ["uc"]}),
    ],
)  # fmt: skip
def test_terms_add_up_to_the_rate_of_change(count, forces, changes, terms):
    """Also for averages over several states with different mean profiles, so different fluxes through the walls."""
    fields = states(count, **forces, **MOVING)
    found = scalar_budgets_of(heated_means_of(*fields), replace(PARAMETERS, **changes), SCALAR)
    assert tuple(found) == BUDGETS
    for name, rate in rates_of(*fields).items():
        *names, last = found[name]
        assert (names, last) == ([term for term in SCALAR_TERMS if term in found[name]], "imbalance")
        assert_close(found[name]["imbalance"], rate)
        np.testing.assert_allclose(found[name]["imbalance"], np.sum([found[name][term] for term in names], axis=0))
        for force in ("coriolis", "buoyancy", "magnetic_force"):
            assert (force in names) == (name in terms.get(force, ()))
            assert force not in names or np.max(np.abs(found[name][force])) > 1e-3 * np.max(np.abs(rate))


def test_terms_of_the_variance_are_those_of_the_fluctuations():
    (state,) = states(1)
    flow, terms = state.flow, scalar_budgets_of(heated_means_of(state), PARAMETERS, SCALAR)["cc"]

    def along_xy(c):
        return ((staggered.up(c, staggered.X) - c) / flow.dx) ** 2 + ((staggered.up(c, staggered.Y) - c) / flow.dy) ** 2

    expected = staggered.terms_of_fluctuations(flow, state.c, flow.w, along_xy, (-1, 1), state.kappa)
    c = state.c - staggered.plane(state.c)[:, None, None]
    expected["source"] = 2 * 4.0 * staggered.plane(c * state.u_at_c())
    for name, values in expected.items():
        assert_close(terms[name], values)


def test_pressure_scalar_gradient():
    """p' times the gradient of c', which are equal to the pressure terms but for a flux."""
    (state,) = states(1)
    flow, p = state.flow, state.flow.p - staggered.plane(state.flow.p)[:, None, None]
    c = state.c - staggered.plane(state.c)[:, None, None]
    found = scalar_budgets_of(heated_means_of(state), PARAMETERS, SCALAR)
    dcdx = (staggered.up(c, staggered.X) - c) / flow.dx
    assert_close(found["uc"]["pressure_gradient"], staggered.plane(staggered.mean_up(p, staggered.X) * dcdx))
    dcdz = np.diff(c, axis=0) / flow.distance[1:-1]
    assert_close(found["wc"]["pressure_gradient"], staggered.plane((p[1:] + p[:-1]) / 2 * dcdz))


def test_budgets_of_a_scalar_that_is_u():
    """Where nothing depends on x: all terms are those of uu and uw."""
    flow = staggered.random_fields(3, Z_FACE, **MOVING)
    columns = {name: np.repeat(getattr(flow, name).mean(axis=2, keepdims=True), 10, axis=2) for name in "uvwp"}
    flow = replace(flow, **columns)
    walls = (ScalarWall("value", wall[0]) for wall in (flow.bottom, flow.top))
    scalar = Scalar("c", 1.0, *walls)
    means = heated_means_of(HeatedFields(flow, flow.u, scalar))
    found = scalar_budgets_of(means, PARAMETERS, scalar)
    expected = budgets_of(means, VISCOSITY, (True, True))
    names = {"molecular_diffusion": "viscous_diffusion", "pressure_gradient": "pressure_strain"}
    for name, stress in (("cc", "uu"), ("uc", "uu"), ("wc", "uw")):
        for term, values in found[name].items():
            of_stress = expected[stress].get(names.get(term, term), np.zeros_like(values))
            assert_close(values, of_stress, 1e-11, expected[stress]["dissipation"])


HOT_AND_COLD = Scalar("c", 0.7, ScalarWall("value", 1.0), ScalarWall("value", -1.0))
EVEN = Scalar("c", 0.7, ScalarWall("value", 0.0), ScalarWall("value", 0.0), "uniform", 1.0)


def write(path, fields, blocks=None):
    """A statistics.h5 whose blocks are one state each. `blocks`: other profiles of the scalar."""
    blocks = blocks or [profiles_of(state) for state in fields]
    scalar = fields[0].scalar
    walls = [f"{wall.kind}: {wall.amount:g}" for wall in (scalar.bottom, scalar.top)]
    source = "none" if scalar.source == "none" else f"{{{scalar.source}: {scalar.source_amount:g}}}"
    case = line_of_case("c", scalar.prandtl, *walls, source)
    write_scalars(path / "statistics.h5", FLOW, [block_of(FLOW, state.flow) for state in fields], [(case, blocks)])
    return path


@pytest.mark.parametrize(("scalar", "parity"), [(EVEN, 1), (HOT_AND_COLD, -1)])
def test_halves_are_averaged_and_terms_divided_by_wall_units(tmp_path, scalar, parity):
    """The average over both halves is that of the terms of all states and of their mirror images."""
    fields = states(3, scalar, FLOW.z_face)
    write(tmp_path, fields)
    parameters, blocks = load_statistics(tmp_path)
    found = wall_scalar_budgets(blocks.means(), parameters, scalar, "both")
    u_tau, c_tau = found.u_tau, found.c_tau
    images = [replace(state.mirrored(), c=parity * state.mirrored().c) for state in fields]
    terms, of_images = (scalar_budgets_of(heated_means_of(*some), parameters, scalar) for some in (fields, images))
    assert found.c_tau != 0
    for name, unit in (
        ("cc", c_tau**2 * u_tau**2 / VISCOSITY),
        ("uc", -c_tau * u_tau**3 / VISCOSITY),
        ("wc", -c_tau * u_tau**3 / VISCOSITY),
    ):
        assert found.budgets[name].unit == pytest.approx(unit)
        for term, values in found.budgets[name].terms.items():
            expected = (terms[name][term] + of_images[name][term]) / 2 / unit
            assert_close(values, expected[: len(values)], 1e-10, terms[name]["dissipation"] / unit)
        assert found.budgets[name].z[-1] <= 1 + 1e-9


def test_budgets_of_the_top_wall(tmp_path):
    """Those of the mirror image seen from its bottom wall."""
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    scalar = Scalar("c", 0.7, ScalarWall("value", 3.0), ScalarWall("value", -1.0), "uniform", 1.0)
    fields = states(2, scalar, FLOW.z_face)
    images = [state.mirrored() for state in fields]
    found = []
    for folder, some, side in (("a", fields, "top"), ("b", images, "bottom")):
        parameters, blocks = load_statistics(write(tmp_path / folder, some))
        found.append(wall_scalar_budgets(blocks.means(), parameters, some[0].scalar, side))
    for name, budget in found[0].budgets.items():
        for term, values in budget.terms.items():
            assert_close(values, found[1].budgets[name].terms[term], 1e-10, budget.terms["dissipation"])


def heated_states(count):
    return states(count, EVEN, FLOW.z_face)


def test_commands(tmp_path, capsys, paint_no_more):
    write(tmp_path, heated_states(6))
    assert main(["budgets", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert re.search(r"^cc +molecular diffusion +\(?[+-][\d.]+ \+- [\d.]+(\)e-\d+)? +[\d.]+$", out, re.MULTILINE)
    assert re.search(r"^scalar c, wall units: c_tau = ", out, re.MULTILINE)
    names = [f"scalar_c_budget_{budget}" for budget in BUDGETS]
    for name in names:
        assert f"table: {tmp_path / name}.csv, figure: {tmp_path / 'figures' / name}.png" in out
        rows = np.genfromtxt(tmp_path / f"{name}.csv", delimiter=",", names=True)
        terms = [rows[term] for term in SCALAR_TERMS if term in rows.dtype.names]
        scale = np.max(np.abs(rows["dissipation"]))
        np.testing.assert_allclose(np.sum(terms, axis=0), rows["imbalance"], rtol=0, atol=1e-8 * scale)
        assert {"production_ci95", "storage"} <= set(rows.dtype.names)
        (tmp_path / f"{name}.csv").unlink()
        (tmp_path / "figures" / f"{name}.png").unlink()
    paint_no_more()
    assert main(["report", str(tmp_path)]) == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    for what in ("variance", "streamwise flux", "wall-normal flux"):
        assert f"Budget of the {what}: c" in page
    for name in names:
        assert (tmp_path / f"{name}.csv").is_file()
        assert (tmp_path / "figures" / f"{name}.png").is_file()


def test_intervals_and_storage_of_known_blocks(tmp_path):
    """Blocks that differ only in the pressure term of uc, and in the variance, which grows by 0.3 in each of 10."""
    (state,) = states(1, EVEN, FLOW.z_face)
    pressure = np.array([0.3, -0.1, 0.5, 0.2, -0.4, 0.1])
    same = profiles_of(state)
    blocks = [
        same | {"_u_pressure": same["_u_pressure"] + p, "_squared": same["_squared"] + 0.3 * n}
        for n, p in enumerate(pressure)
    ]
    write(tmp_path, [state] * 6, blocks=blocks)
    parameters, read = load_statistics(tmp_path)
    (evaluated,) = evaluate_scalar_budgets(read, parameters, evaluate_scalars(read, parameters, "bottom")[0])
    unit = abs(evaluated.found.budgets["uc"].unit)
    expected = student_t95(5) * pressure.std(ddof=1) / np.sqrt(6) / unit
    np.testing.assert_allclose(evaluated.data["uc"].pressure_gradient_ci95, expected, rtol=1e-6)
    np.testing.assert_allclose(evaluated.data["uc"].imbalance_ci95, expected, rtol=1e-6)
    assert np.max(evaluated.data["uc"].production_ci95) < 1e-9 * expected
    np.testing.assert_allclose(evaluated.data["cc"].storage, 0.03 / evaluated.found.budgets["cc"].unit, rtol=1e-9)
    np.testing.assert_allclose(evaluated.data["wc"].storage, 0, atol=1e-12 / unit)
    assert (evaluated.name, evaluated.title) == ("c_bottom", "c, bottom wall")


def test_datasets(tmp_path):
    run = open_run(write(tmp_path, heated_states(3)))
    found = run.scalar_budgets["c"]
    assert tuple(found) == BUDGETS
    assert found["uc"].pressure_gradient.attrs["units"] == "c_tau u_tau^3/nu"
    assert found["cc"].production.dims == ("z",)
    assert found["wc"].production_ci95.dims == ("z_face",)
    sums = sum(found["wc"][term] for term in SCALAR_TERMS if term in found["wc"])
    np.testing.assert_allclose(sums, found["wc"].imbalance, atol=1e-9 * float(abs(sums).max()))
    with pytest.raises(UsageError, match="no budgets of a scalar salt; there are those of c"):
        run.plot.scalar_budget("salt", ax=Figure().subplots())
    with pytest.raises(UsageError, match="no budget vc of a scalar; one of cc, uc, wc"):
        run.plot.scalar_budget("c", "vc", ax=Figure().subplots())


def test_walls_at_which_a_scalar_varies_have_no_budgets(tmp_path):
    write(tmp_path, heated_states(2))
    parameters, blocks = load_statistics(tmp_path)
    scalars, _ = evaluate_scalars(blocks, parameters)
    assert len(evaluate_scalar_budgets(blocks, parameters, scalars)) == 1
    varying = replace(EVEN, bottom=ScalarWall("value", formula="sin(t)"))
    profiles = replace(scalars[0].profiles, scalar=varying)
    assert evaluate_scalar_budgets(blocks, parameters, [replace(scalars[0], profiles=profiles)]) == []


def test_runs_without_budgets_of_scalars(tmp_path):
    """As written with budgets off or by an earlier build; a part of them is damage."""
    write(tmp_path, heated_states(2))
    with h5py.File(tmp_path / "statistics.h5", "a") as file:
        del file["c_dx_squared"]
    with pytest.raises(InputOutputError, match="'/c_dx_squared' is missing"):
        load_statistics(tmp_path)
    with h5py.File(tmp_path / "statistics.h5", "a") as file:
        for ending in (*SCALAR_BUDGET_CENTRE_PROFILES, *SCALAR_BUDGET_FACE_PROFILES):
            if ending != "_dx_squared":
                del file[f"c{ending}"]
    parameters, blocks = load_statistics(tmp_path)
    scalars, _ = evaluate_scalars(blocks, parameters)
    assert len(scalars) == 1
    assert evaluate_scalar_budgets(blocks, parameters, scalars) == []


@pytest.mark.parametrize(
    ("key", "value", "coefficient"),
    [("richardson", 0.3, 0.3), ("friction_richardson", 3, 0.3), ("grashof", 8e4, 1.0), ("rayleigh", 8e4, 0.5)],
)
def test_acceleration_of_buoyancy(key, value, coefficient):
    sampled = {
        **{"flow.type": "channel", "flow.reynolds.viscosity": "0.01"},
        **{"walls.bottom.type": "no_slip", "walls.top.type": "no_slip"},
        "flow.forcing.pressure_gradient": "0.1",
        "scalars": line_of_case("c", prandtl=2.0),
        **{"flow.buoyancy.scalar": "c", "flow.buoyancy.direction": "[3, 0, -4]"},
        **{"flow.buoyancy.reference": "2.5", f"flow.buoyancy.{key}": repr(value)},
    }
    buoyancy = PARAMETERS.with_sampled(sampled).buoyancy
    assert buoyancy.coefficient == pytest.approx(coefficient)
    assert buoyancy.gravity == pytest.approx((0.6, 0.0, -0.8))
    assert buoyancy.reference == 2.5
