"""Files in the layout of Lee & Moser, read back with the readers of their files."""

import h5py
import numpy as np
import pytest
import staggered
import test_budgets
import test_spectra

from sluice_post import layout
from sluice_post.arrays import interpolate
from sluice_post.budget_terms import STRESSES, TERMS
from sluice_post.budgets import evaluate_budgets
from sluice_post.cli import main
from sluice_post.reference import holds_budget, read_budget_reference
from sluice_post.run import load_statistics
from sluice_post.spectra import evaluate_spectra
from sluice_post.spectra_reference import find_published, heights_of, holds_spectra, not_shown, read_all_spectra
from sluice_post.uncertainty import student_t95

COLUMNS = {"production": 2, "viscous_diffusion": 4, "dissipation": 7, "imbalance": 8}


@pytest.fixture(scope="module")
def budget_run(tmp_path_factory):
    """A run with budgets, and the folder that holds its files in the layout of Lee & Moser."""
    directory = tmp_path_factory.mktemp("budgets")
    fields = test_budgets.write(directory)
    folder = directory / "lee_moser"
    assert main(["convert", str(directory), "--format", "lee-moser", "-o", str(folder)]) == 0
    return directory, folder, fields


def file_of(folder, stress, pattern=layout.LEE_MOSER_BUDGET):
    return folder / pattern.format(layout.LEE_MOSER_STRESSES[stress])


@pytest.mark.parametrize("stress", STRESSES)
def test_budgets_read_back_as_they_are(budget_run, stress):
    """Each term to the digits written, at the centres; the name of the file says which stress it is of."""
    directory, folder, _ = budget_run
    found = evaluate_budgets(*load_statistics(directory)[::-1]).found
    path = file_of(folder, stress)
    assert holds_budget(path)
    which, reference = read_budget_reference(path)
    assert which == stress
    assert reference.re_tau == pytest.approx(found.re_tau, rel=1e-12)
    centres, budget = found.budgets["uu"].z, found.budgets[stress]
    for name, values in budget.terms.items():
        np.testing.assert_allclose(reference.z_plus[name][1:], found.z_plus("uu"), rtol=1e-14)
        there = values if len(values) == len(centres) and stress != "uw" else interpolate(centres, budget.z, values)
        np.testing.assert_allclose(reference.values[name][1:], there, rtol=1e-14)
    total = sum(reference.values[term] for term in TERMS)
    scale = np.max(np.abs(reference.values["dissipation"]))
    np.testing.assert_allclose(total, reference.values["imbalance"], rtol=0, atol=1e-13 * scale)


def test_budgets_on_the_wall(budget_run):
    """Dissipation of k there: nu <(du'/dz)^2 + (dv'/dz)^2>, equal to its diffusion."""
    _, folder, fields = budget_run
    states = [*fields, *(state.mirrored() for state in fields)]
    gradients = {c: np.array([state.ddz(c)[0] for state in states]) for c in "uv"}
    u_tau = np.sqrt(staggered.VISCOSITY * gradients["u"].mean())
    expected = {2 * c: 2 * staggered.VISCOSITY * gradients[c].var() * staggered.VISCOSITY / u_tau**4 for c in "uv"}
    expected |= {"k": (expected["uu"] + expected["vv"]) / 2, "ww": 0.0, "uw": 0.0}
    for stress, value in expected.items():
        row = np.loadtxt(file_of(folder, stress), comments="%")[0]
        assert row[COLUMNS["dissipation"]] == pytest.approx(value)
        assert row[COLUMNS["viscous_diffusion"]] == pytest.approx(value)
        assert row[COLUMNS["production"]] == 0
        assert row[COLUMNS["imbalance"]] == 0


@pytest.mark.parametrize(
    ("name", "lines"),
    [("profiles_mean.dat", 72), ("profiles_fluc_stdev.dat", 75), ("RSTE_k_prof.dat", 74), ("RSTE_uv_stdev.dat", 74)],
)
def test_headers_are_as_long_as_theirs(budget_run, name, lines):
    """Programs skip the header by its length, and read the viscosity and the friction velocity in lines 39 and 42."""
    directory, folder, _ = budget_run
    text = (folder / name).read_text().splitlines()
    assert len([line for line in text if line.startswith("%")]) == lines
    assert text[lines - 2].split()[1:3] == ["y/delta", "y^+"]
    assert float(text[38].partition("nu =")[2]) == pytest.approx(staggered.VISCOSITY, rel=1e-5)
    u_tau = float(text[41].partition("u_tau =")[2])
    found = evaluate_budgets(*load_statistics(directory)[::-1]).found
    assert u_tau == pytest.approx(found.u_tau, rel=1e-5)
    np.testing.assert_array_equal(np.loadtxt(folder / name, skiprows=lines), np.loadtxt(folder / name, comments="%"))


def test_standard_errors_of_budgets(budget_run):
    directory, folder, _ = budget_run
    data = evaluate_budgets(*load_statistics(directory)[::-1]).data
    for stress in ("k", "uu", "vv"):
        table = np.loadtxt(file_of(folder, stress, layout.LEE_MOSER_BUDGET_ERRORS), comments="%")
        for name, column in COLUMNS.items():
            np.testing.assert_allclose(table[1:, column], data[stress][f"{name}_ci95"] / student_t95(5), rtol=1e-12)
    assert np.all(np.loadtxt(file_of(folder, "uw", layout.LEE_MOSER_BUDGET_ERRORS), comments="%") >= 0)


@pytest.mark.unpainted
def test_spectra_read_back_as_they_are(tmp_path, capsys):
    states = [test_spectra.Fields(test_spectra.flow_of(), seed) for seed in range(3)]
    test_spectra.write(tmp_path, states)
    folder = tmp_path / "lee_moser"
    assert main(["convert", str(tmp_path), "--format", "lee-moser", "-o", str(folder)]) == 0
    path = folder / layout.LEE_MOSER_SPECTRA_FILE
    assert str(path) in capsys.readouterr().out
    assert holds_spectra(path)
    published = read_all_spectra([path])
    parameters, blocks = test_spectra.load(tmp_path)
    assert heights_of(published) is None
    evaluated = evaluate_spectra(blocks, parameters, [15.0])
    z_plus = evaluated.found.z_plus("uu")[: parameters.cells[2] // 2]
    found = [spectra for spectra in published if spectra.axis == "y"]
    np.testing.assert_allclose([spectra.height for spectra in found], z_plus, rtol=1e-14)
    for spectra in published:
        n = int(np.argmin(np.abs(z_plus - spectra.height)))
        for quantity, energy in spectra.energy.items():
            expected = evaluated.found.at(quantity, spectra.axis, z_plus[[n]])[0]
            np.testing.assert_allclose(energy, expected, rtol=1e-12, atol=1e-16)
    np.testing.assert_allclose(found[0].wavenumber, 1.5 * np.arange(5), rtol=1e-14)
    assert find_published(published, "x", z_plus[3]) is not None
    assert not_shown(published, [1e9]) == [path.name]

    with h5py.File(path) as file, h5py.File(folder / layout.LEE_MOSER_SPECTRA_ERRORS) as errors:
        kx, u_tau = file["kx"][()], file["u_tau"][0]
        variance = file["Euu_kx"][()].sum(axis=0) * kx[1] / u_tau**2
        sums = evaluated.found.energy["uu", "x"].sum(axis=1)
        np.testing.assert_allclose(variance, [0, *sums[: len(z_plus)]], rtol=1e-12)
        assert (file["nx"][0], file["ny"][0], file["nz"][0]) == (12, 24, 8)
        assert errors["Euv_kz"].shape == (5, 13)
        assert np.all(errors["Euu_kz"][:, 1:] > 0)

    # A figure shows them.
    table = [
        "spectra",
        str(tmp_path),
        "--at",
        f"{z_plus[3]:.3f}",
        "--reference",
        str(path),
        "-o",
        str(tmp_path / "other"),
    ]
    assert main(table) == 0
    assert "not shown" not in capsys.readouterr().out


def test_damaged_spectra_are_named(tmp_path, turbulent_run, capsys):
    path = tmp_path / "1d_energy_spectra.h5"
    with h5py.File(path, "w") as file:
        file["u_tau"] = [0.05]
    assert main(["report", str(turbulent_run), "--reference", str(path)]) == 4
    error = capsys.readouterr().err
    assert str(path) in error
    assert error.count("\n") == 1
