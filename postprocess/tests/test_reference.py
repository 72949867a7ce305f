import numpy as np
import pytest
import synthetic

from sluice_post import lee_moser
from sluice_post.arrays import interpolate
from sluice_post.compare_profiles import common_quantities, deviation
from sluice_post.errors import InputOutputError, UsageError
from sluice_post.profiles import profiles_csv, wall_profiles
from sluice_post.reference import merged, read_reference
from sluice_post.statistics import read_statistics


@pytest.fixture
def profiles(tmp_path, flow):
    path = tmp_path / "statistics.h5"
    synthetic.write_statistics(path, flow, [synthetic.turbulent_profiles(flow)])
    parameters, blocks = read_statistics(path)
    return wall_profiles(blocks.means(), parameters), parameters


def test_moser_kim_mansour_layout(tmp_path):
    """Their y is wall-normal, dU/dy is in outer units, and the table has Re_tau 100."""
    means = tmp_path / "chan.means"
    means.write_text(
        "# Re_tau = 100\n#  y  y+  Umean  dUmean/dy  Wmean  dWmean/dy  Pmean\n#\n"
        "0 0 0 100 0 0 0\n0.1 10 8 40 0 0 -0.2\n1.0 100 17 1 0 0 -0.4\n"
    )
    stress = tmp_path / "chan.reystress"
    stress.write_text(
        "#  y  y+  R_uu  R_vv  R_ww  R_uv  R_uw  R_vw\n"
        "0 0 0 0 0 0 0 0\n0.1 10 6.25 0.04 0.81 -0.5 0 0\n1.0 100 0.64 0.36 0.49 -1.0d-2 0 0\n"
    )
    reference = merged([read_reference(means), read_reference(stress)])
    assert reference.re_tau == pytest.approx(100)
    np.testing.assert_allclose(reference.values["dUdz"], [1.0, 0.4, 0.01])
    np.testing.assert_allclose(reference.values["u_rms"], [0, 2.5, 0.8])
    np.testing.assert_allclose(reference.values["w_rms"], [0, 0.2, 0.6])  # their v is our w
    np.testing.assert_allclose(reference.values["v_rms"], [0, 0.9, 0.7])
    np.testing.assert_allclose(reference.values["minus_uw"], [0, 0.5, 0.01])


def test_hoyas_jimenez_layout_and_nominal_reynolds_number(tmp_path):
    path = tmp_path / "Re180.prof"
    path.write_text(
        "% ny = 3,  Re_{\\tau} = 180\n% y/h y+ U+ u'+ v'+ w'+ -Om_z+ om_x'+ om_y'+ om_z'+ uv'+\n"
        "% ------\n0 0 0 0 0 0 1.0 0.2 0.0 0.37 0\n0.1 18.6 9 2.5 0.3 0.9 0.4 0.2 0.15 0.3 -0.5\n"
        "1 186 18 0.8 0.6 0.6 0 0.04 0.05 0.06 0\n"
    )
    reference = read_reference(path)
    assert reference.re_tau == pytest.approx(186)
    np.testing.assert_allclose(reference.values["u_rms"], [0, 2.5, 0.8])
    np.testing.assert_allclose(reference.values["omega_z_rms"], [0, 0.15, 0.05])
    np.testing.assert_allclose(reference.values["omega_y_rms"], [0.37, 0.3, 0.06])


def test_tensor_component_table(tmp_path):
    path = tmp_path / "LM.txt"
    path.write_text(
        "y+, tke, epsilon, grad_u_12, uu_11, uu_12, uu_22, uu_33, u_1\n"
        "0 0 .2 1 0 0 0 0 0\n10 4 .1 .5 4 -.5 .25 1 8\n180 1 0 0 1 0 .36 .49 18\n"
    )
    reference = read_reference(path)
    np.testing.assert_allclose(reference.values["w_rms"], [0, 0.5, 0.6])
    np.testing.assert_allclose(reference.values["minus_uw"], [0, 0.5, 0])
    assert not reference.re_tau_exact


def test_wall_tabulated_twice(tmp_path):
    path = tmp_path / "twice.dat"
    path.write_text("# y/delta y^+ U\n0 0 0\n0 0 0\n0.1 18 9\n1 180 18\n")
    assert len(read_reference(path).values["U"]) == 3


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# y/delta y^+ Production\n0 0 1\n1 2 3\n2 3 4\n", "none of its columns"),
        ("1 2 3\n4 5 6\n", "no line of column headings"),
        ("# y y+ U\n", "no rows"),
        ("# y y+ U\n1 2 3\nrubbish\n", "line 3"),
        ("# y y+ U\n1 2 3\n1 2\n", "differ"),
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


def test_lee_moser_files_read_back_as_the_run(tmp_path, profiles):
    run, parameters = profiles
    texts = lee_moser.profile_texts(run, parameters)
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    reference = merged([read_reference(tmp_path / name) for name in texts])
    assert reference.re_tau == pytest.approx(run.re_tau)
    for name in ("U", "u_rms", "v_rms", "w_rms", "k", "P"):
        assert abs(deviation(run, reference, name).largest) < 1e-9
    # From faces to centres and back.
    assert abs(deviation(run, reference, "minus_uw").largest) < 1.0


def test_deviation_is_in_per_cent_of_the_peak(tmp_path, profiles):
    run, _ = profiles
    path = tmp_path / "p.csv"
    path.write_text(profiles_csv(run))
    reference = read_reference(path)
    reference.values["u_rms"][:] -= 0.02 * reference.values["u_rms"].max()
    found = deviation(run, reference, "u_rms")
    assert found.largest == pytest.approx(2 / 0.98, rel=1e-6)
    assert found.rms == pytest.approx(2 / 0.98, rel=1e-6)


def test_unknown_and_missing_quantities(tmp_path, profiles):
    run, _ = profiles
    path = tmp_path / "u.dat"
    path.write_text("# y/delta y^+ U\n0 0 0\n0.1 18 9\n1 180 18\n")
    reference = read_reference(path)
    assert common_quantities(run, reference, None) == ["U"]
    with pytest.raises(UsageError, match="unknown quantity 'speed'"):
        common_quantities(run, reference, ["speed"])
    with pytest.raises(UsageError, match="holds no u_rms"):
        common_quantities(run, reference, ["u_rms"])


def test_re_tau_that_is_not_a_number_is_not_taken(tmp_path):
    path = tmp_path / "a.dat"
    path.write_text("% Re_tau = ...\n% y^+ U\n1 1\n2 2\n3 3\n")
    assert (read_reference(path).re_tau, read_reference(path).re_tau_exact) == (3.0, False)
