import numpy as np
import pytest
import synthetic

from sluice_post import lee_moser
from sluice_post.arrays import interpolate
from sluice_post.deviations import common_quantities, deviations
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.profiles import profiles_csv, wall_profiles
from sluice_post.reference import merged, read_reference
from sluice_post.statistics import read_statistics


@pytest.fixture
def run(tmp_path, flow):
    path = tmp_path / "statistics.h5"
    synthetic.write_statistics(path, flow, [synthetic.turbulent_profiles(flow)])
    return read_statistics(path)


def profiles_of(run):
    parameters, blocks = run
    return wall_profiles(blocks.means(), parameters)


def deviation(run, reference, name):
    (found,) = deviations(run[1], run[0], reference, [name])
    return found


# Each with its Re_tau and profiles. The y of all papers is wall-normal, so that their v is our w.
MOSER_KIM_MANSOUR = (  # dU/dy is in outer units
    "# Re_tau = 100\n#  y  y+  Umean  dUmean/dy  Wmean  dWmean/dy  Pmean\n#\n"
    "0 0 0 100 0 0 0\n0.1 10 8 40 0 0 -0.2\n1.0 100 17 1 0 0 -0.4\n",
    "#  y  y+  R_uu  R_vv  R_ww  R_uv  R_uw  R_vw\n"
    "0 0 0 0 0 0 0 0\n0.1 10 6.25 0.04 0.81 -0.5 0 0\n1.0 100 0.64 0.36 0.49 -1.0d-2 0 0\n",
)
HOYAS_JIMENEZ = (  # Re_tau = 180 is nominal
    "% ny = 3,  Re_{\\tau} = 180\n% y/h y+ U+ u'+ v'+ w'+ -Om_z+ om_x'+ om_y'+ om_z'+ uv'+\n"
    "% ------\n0 0 0 0 0 0 1.0 0.2 0.0 0.37 0\n0.1 18.6 9 2.5 0.3 0.9 0.4 0.2 0.15 0.3 -0.5\n"
    "1 186 18 0.8 0.6 0.6 0 0.04 0.05 0.06 0\n",
)
COMPONENTS = (
    "y+, tke, epsilon, grad_u_12, uu_11, uu_12, uu_22, uu_33, u_1\n"
    "0 0 .2 1 0 0 0 0 0\n10 4 .1 .5 4 -.5 .25 1 8\n180 1 0 0 1 0 .36 .49 18\n",
)


@pytest.mark.parametrize(
    ("texts", "re_tau", "expected"),
    [
        (
            MOSER_KIM_MANSOUR,
            (100, True),
            {"dUdz": [1.0, 0.4, 0.01], "u_rms": [0, 2.5, 0.8], "w_rms": [0, 0.2, 0.6], "v_rms": [0, 0.9, 0.7],
             "minus_uw": [0, 0.5, 0.01]},
        ),
        (HOYAS_JIMENEZ, (186, True),
         {"u_rms": [0, 2.5, 0.8], "omega_z_rms": [0, 0.15, 0.05], "omega_y_rms": [0.37, 0.3, 0.06]}),
        (COMPONENTS, (180, False), {"w_rms": [0, 0.5, 0.6], "minus_uw": [0, 0.5, 0]}),
        # The wall is tabulated twice; Re_tau is not a number.
        (["# y/delta y^+ U\n0 0 0\n0 0 0\n0.1 18 9\n1 180 18\n"], (180, True), {"U": [0, 9, 18]}),
        (["% Re_tau = ...\n% y^+ U\n1 1\n2 2\n3 3\n"], (3, False), {"U": [1, 2, 3]}),
    ],
)  # fmt: skip
def test_layouts(tmp_path, texts, re_tau, expected):
    paths = [tmp_path / f"{n}.dat" for n in range(len(texts))]
    for path, text in zip(paths, texts, strict=True):
        path.write_text(text)
    reference = merged([read_reference(path) for path in paths])
    assert (reference.re_tau, reference.re_tau_exact) == (pytest.approx(re_tau[0]), re_tau[1])
    for name, values in expected.items():
        np.testing.assert_allclose(reference.values[name], values)


@pytest.mark.parametrize(
    ("header", "citation"),
    [
        ("# Authors: Moser, Kim & Mansour\n# Reference: DNS of Turbulent Channel Flow, 1999,\n",
         "Moser, Kim & Mansour (1999)"),
        ("%   Myoungkyu Lee and Robert D. Moser,  \n%   Extreme-scale motions,\n%   2018, J. Fluid Mech.\n",
         "Lee & Moser (2018)"),
        ("%  - Statistics,  Hoyas et al (2006)\n% - Numerical Method, Kim, Moin & Moser, 1987\n",
         "Hoyas & Jimenez (2008)"),
        ("% Code       : Sluice 1.0.0\n", ""),
    ],
)  # fmt: skip
def test_a_header_names_the_paper(tmp_path, header, citation):
    (tmp_path / "a.dat").write_text(f"{header}% y/delta y^+ U\n0 0 0\n0.1 18 9\n1 180 18\n")
    reference = read_reference(tmp_path / "a.dat")
    assert merged([reference, reference]).citation == citation


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# y/delta y^+ Production\n0 0 1\n1 2 3\n2 3 4\n", "none of its columns"),
        ("1 2 3\n4 5 6\n", "no line of column headings"),
        ("# y y+ U\n", "no rows"),
        ("# y y+ U\n1 2 3\nrubbish\n", "line 3"),
        ("# y y+ U\n1 2 3\n1 2\n", "differ"),
        ("# Re = 178.12,  y = 0.02997,  y+ = 5.34\n# k_x E_uu\n0 1\n1 1\n", "no line of column headings"),
    ],
)
def test_unreadable_references(tmp_path, text, message):
    path = tmp_path / "bad.dat"
    path.write_text(text)
    with pytest.raises(InputOutputError, match=message):
        read_reference(path)


def test_interpolation_is_exact_for_cubics():
    xp = np.array([0.0, 1.0, 1.5, 4.0, 4.2, 9.0])
    x = np.linspace(0, 9, 40)
    exact = np.polynomial.Polynomial([2.0, -3.0, 0.5, 0.25])
    np.testing.assert_allclose(interpolate(x, xp, exact(xp)), exact(x), atol=1e-11)
    np.testing.assert_allclose(interpolate(x, xp[:3], xp[:3] ** 2), x**2, atol=1e-11)


def test_lee_moser_files_read_back_as_the_run(tmp_path, run):
    texts = lee_moser.profile_texts(profiles_of(run), run[0])
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    reference = merged([read_reference(tmp_path / name) for name in texts])
    assert reference.re_tau == pytest.approx(profiles_of(run).re_tau)
    for name in ("U", "u_rms", "v_rms", "w_rms", "k", "P"):
        assert abs(deviation(run, reference, name).largest) < 1e-9
    # From faces to centres and back.
    assert abs(deviation(run, reference, "minus_uw").largest) < 1.0


def test_deviation_is_in_per_cent_of_the_peak(tmp_path, run):
    path = tmp_path / "p.csv"
    path.write_text(profiles_csv(profiles_of(run)))
    reference = read_reference(path)
    reference.values["u_rms"][:] -= 0.02 * reference.values["u_rms"].max()
    found = deviation(run, reference, "u_rms")
    assert found.largest == pytest.approx(2 / 0.98, rel=1e-6)
    assert found.rms == pytest.approx(2 / 0.98, rel=1e-6)


def test_unknown_and_missing_quantities(tmp_path, run):
    path = tmp_path / "u.dat"
    path.write_text("# y/delta y^+ U\n0 0 0\n0.1 18 9\n1 180 18\n")
    reference = read_reference(path)
    assert common_quantities(profiles_of(run), reference, None) == ["U"]
    with pytest.raises(UsageError, match="unknown quantity 'speed'"):
        common_quantities(profiles_of(run), reference, ["speed"])
    with pytest.raises(UsageError, match="holds no u_rms"):
        common_quantities(profiles_of(run), reference, ["u_rms"])
