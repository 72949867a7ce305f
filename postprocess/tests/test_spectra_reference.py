"""Published spectra."""

from math import inf

import numpy as np
import pytest
from synthetic_spectra import MKM

from sluice_post.errors import InputOutputError
from sluice_post.spectra_reference import find_published, holds_spectra, not_shown, read_published_spectra


def test_published_spectra(tmp_path):
    path = tmp_path / "chan180.xspec.5"
    path.write_text(MKM)
    assert holds_spectra(path)
    spectra = read_published_spectra(path)
    assert (spectra.axis, spectra.re_tau) == ("x", 178.12)
    assert spectra.height == pytest.approx(5.34, abs=0.01)
    np.testing.assert_allclose(spectra.energy["ww"], [0.1, 0.3, 0.0])  # their v is wall-normal
    np.testing.assert_allclose(spectra.energy["vv"], [0.2, 0.4, 0.0])
    k_plus, density = spectra.density_plus("uu")
    np.testing.assert_allclose(k_plus, np.array([0.5, 1.0]) / 178.12)
    np.testing.assert_allclose(density * 0.5 / 178.12, [1.0, 0.5])
    r = np.linspace(0, 3, 7)
    np.testing.assert_allclose(spectra.coefficient("uu", r), (0.5 + np.cos(0.5 * r) + 0.5 * np.cos(r)) / 2, rtol=1e-12)
    assert find_published([spectra], "x", 5.0) is spectra
    assert find_published([spectra], "y", 5.0) is None
    assert find_published([spectra], "x", 15.0) is None
    assert find_published([spectra], "x", inf) is None
    assert not_shown([spectra], [15.0, inf]) == [path.name]
    path.write_text(MKM.replace("y = 0.02997", "y = 1.00000").replace("k_x", "k_z"))
    spectra = read_published_spectra(path)
    assert (spectra.axis, spectra.height) == ("y", inf)


def test_published_spectra_without_height(tmp_path):
    path = tmp_path / "spectra.dat"
    path.write_text("# k_x E_uu\n0 1\n1 1\n2 1\n")
    with pytest.raises(InputOutputError, match="does not give Re_tau and y"):
        read_published_spectra(path)
    path.write_text("# y y+ Umean\n0 0 0\n0.1 10 8\n1 100 17\n")
    assert not holds_spectra(path)
    with pytest.raises(InputOutputError, match="k_x, k_z"):
        read_published_spectra(path)
