"""Spectra of scalars of small fields against plain sums."""

from __future__ import annotations

import h5py
import numpy as np
import pytest
import synthetic
import synthetic_spectra
from matplotlib.figure import Figure
from synthetic_scalars import line_of_case, write_scalars
from synthetic_spectra import spectrum

from sluice_post import open as open_run
from sluice_post.cli import main
from sluice_post.errors import UsageError
from sluice_post.scalar_numbers import evaluate_scalars
from sluice_post.scalar_spectra import evaluate_scalar_spectra
from sluice_post.spectra import evaluate_spectra

FLUX = -0.004  # kappa dc/dz
HOT_AND_COLD = line_of_case("c", 1.0, "value: 1", "value: -1")


class Heated(synthetic_spectra.Fields):
    """c at the centres and on the faces, where it is what the flux carries."""

    def __init__(self, flow, seed=0, wave=None):
        super().__init__(flow, seed)
        rng = np.random.default_rng([seed, 3])
        nx, ny, nz = flow.cells
        fluctuation = 0.2 * rng.normal(size=(nz, ny, nx))
        if wave is not None:
            x = 2 * np.pi * np.arange(nx) / nx
            fluctuation = wave[1] * np.cos(wave[0] * x) * np.ones((nz, ny, 1))
        self.c = (1 - flow.z)[:, None, None] + fluctuation
        self.c_face = (1 - flow.z_face)[:, None, None] + 0.2 * rng.normal(size=(nz + 1, ny, nx))

    def scalar_profiles(self):
        powers = {ending: self.c**n for n, ending in enumerate(("", "_squared", "_cubed", "_fourth"), start=1)}
        products = {"_u": self.u * self.c, "_v": self.v * self.c, "_w": self.w * self.c_face}
        means = {name: values.mean(axis=(1, 2)) for name, values in {**powers, **products}.items()}
        return means | {"_gradient_flux": np.full(self.flow.z_face.size, FLUX)}

    def scalar_spectra(self):
        found = {}
        for axis in "xy":
            found[f"c_squared_k{axis}"] = spectrum(self.c, self.c, axis)
            found[f"c_w_k{axis}"] = spectrum(self.c_face, self.w, axis)
        return found


def write(directory, states):
    """statistics.h5 and spectra.h5, a block of each state."""
    flow = states[0].flow
    moments = [state.scalar_profiles() for state in states]
    statistics = [state.statistics() for state in states]
    write_scalars(directory / "statistics.h5", flow, statistics, [(HOT_AND_COLD, moments)])
    path = directory / "spectra.h5"
    synthetic.write_spectra(path, flow, [state.spectra() for state in states])
    blocks = [state.scalar_spectra() for state in states]
    with h5py.File(path, "a") as file:
        for name in blocks[0]:
            file[name] = file["samples"][()][:, None, None] * np.array([block[name] for block in blocks])
    synthetic.write_parameter_sets(path, [0] * len(states), [synthetic.parameters_of(flow) | {"scalars": HOT_AND_COLD}])
    return directory


def evaluated(directory, side=None):
    parameters, blocks = synthetic_spectra.load(directory)
    of_flow = evaluate_spectra(blocks, parameters, (15.0, float("inf")), side)
    scalars, _ = evaluate_scalars(blocks, parameters, side)
    (found,) = evaluate_scalar_spectra(of_flow, parameters, scalars)
    return found, scalars[0].profiles


def heated_states(count, **options):
    return [Heated(synthetic_spectra.flow_of(), seed, **options) for seed in range(count)]


@pytest.mark.parametrize("side", ["both", "bottom", "top"])
def test_sums_over_modes_are_the_variance_and_the_flux(tmp_path, side):
    """Of blocks with different means, seen from each wall; c is odd about the centre."""
    found, profiles = evaluated(write(tmp_path, heated_states(3)), side)
    for axis in "xy":
        cc, flux = (found.found.energy[quantity, axis].sum(axis=1) for quantity in ("cc", "minus_wc"))
        np.testing.assert_allclose(cc[: len(profiles.centre["cc"])], profiles.centre["cc"], rtol=1e-9)
        scale = np.max(np.abs(flux))
        near = flux[: len(profiles.face["minus_wc"])]
        np.testing.assert_allclose(near, profiles.face["minus_wc"], rtol=0, atol=1e-9 * scale)
        assert np.min(found.found.energy["cc", axis][:, 1:]) > 0


def test_one_wave_is_one_line(tmp_path):
    found, profiles = evaluated(write(tmp_path, heated_states(2, wave=(3, 0.1))))
    assert profiles.c_tau == pytest.approx(-FLUX / 0.0637, rel=1e-6)
    energy = 0.1**2 / 2 / profiles.c_tau**2
    for axis, mode in (("x", 3), ("y", 0)):
        values = found.values[f"cc_k{axis}_at"]
        exact = np.zeros_like(values)
        exact[:, mode] = energy
        np.testing.assert_allclose(values, exact, rtol=0, atol=1e-9 * energy)
    z_plus, wavelength, values = found.found.premultiplied("cc", "x")
    assert wavelength[np.argmax(values[0])] == pytest.approx(found.found.wavelength_plus("x")[2])
    assert values[0].max() == pytest.approx(3 * energy)
    assert z_plus[-1] <= 1.2 * found.found.re_tau


def test_intervals_are_those_of_the_blocks(tmp_path):
    """Waves whose amplitudes differ; u_tau and c_tau are the same in all blocks."""
    flow = synthetic_spectra.flow_of()
    states = [Heated(flow, 0, wave=(3, amplitude)) for amplitude in (0.1, 0.2, 0.15, 0.12, 0.18)]
    found, _ = evaluated(write(tmp_path, states))
    bands = found.width("cc_kx_at")
    assert np.all(bands[:, 3] > 0)
    assert np.max(np.delete(bands, [0, 3], axis=1)) < 1e-9 * bands[0, 3]
    alone, _ = evaluated(write(tmp_path / "alone", states[:1]))
    assert not alone.has_intervals


def test_commands_and_datasets(tmp_path, capsys, paint_no_more):
    write(tmp_path, heated_states(4))
    assert main(["spectra", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    for axis in "xy":
        assert f"table: {tmp_path / f'scalar_c_spectra_{axis}'}.csv" in out
    for name in ("map", "lines"):
        assert (tmp_path / "figures" / f"scalar_c_spectra_{name}.png").is_file()
    rows = np.genfromtxt(tmp_path / "scalar_c_spectra_x.csv", delimiter=",", names=True)
    assert {"kx_h", "wavelength_plus", "E_cc_plus", "E_minus_wc_plus_ci95"} <= set(rows.dtype.names)
    paint_no_more()
    assert main(["report", str(tmp_path)]) == 0
    assert "Premultiplied spectra at chosen heights: c" in (tmp_path / "report.html").read_text(encoding="utf-8")
    run = open_run(tmp_path)
    spectra = run.scalar_spectra["c"]
    assert spectra.cc_kx.dims == ("z", "kx")
    assert spectra.minus_wc_ky.dims == ("z_face", "ky")
    assert spectra.minus_wc_ky.attrs["units"] == "c_tau u_tau"
    np.testing.assert_allclose(spectra.cc_kx.sum("kx"), run.scalars["c"].cc, rtol=1e-9)
    with pytest.raises(UsageError, match="no spectra of a scalar salt; there are those of c"):
        run.plot.scalar_spectrum("salt", ax=Figure().subplots())


def test_runs_without_spectra_of_scalars(tmp_path):
    """As earlier builds wrote them."""
    write(tmp_path, heated_states(2))
    with h5py.File(tmp_path / "spectra.h5", "a") as file:
        for name in heated_states(1)[0].scalar_spectra():
            del file[name]
    parameters, blocks = synthetic_spectra.load(tmp_path)
    scalars, _ = evaluate_scalars(blocks, parameters)
    assert len(scalars) == 1
    assert evaluate_scalar_spectra(evaluate_spectra(blocks, parameters), parameters, scalars) == []
