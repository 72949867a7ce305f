"""What spectra say of the length of the box and of the grid."""

import re

import numpy as np
import pytest
import synthetic
from synthetic_spectra import EVEN, ODD, Fields, Wave, flow_of, load, write

from sluice_post.spectra import evaluate_spectra, integral_length, wall_spectra
from sluice_post.spectra_tables import HalfBox, conclusions, half_box, table_text


def test_integral_length():
    """Of a cosine, by the trapezoidal rule to its first zero; of what has none, to the end."""
    assert integral_length(np.array([1.0, 0.5, -0.5, -1.0]), 2.0) == pytest.approx(2 * (0.75 + 0.125))
    assert integral_length(np.array([1.0, 0.5, 0.25]), 2.0) == pytest.approx(2 * (0.75 + 0.375))
    r = np.linspace(0, np.pi, 2001)
    assert integral_length(np.cos(r), r[1]) == pytest.approx(1.0, abs=1e-5)


def test_fall_to_the_largest_wavenumber(tmp_path):
    flow = flow_of((16, 12, 24))
    state = Wave(flow, 1, 1)
    spectra = state.spectra()
    spectra["uu_kx"][:, 7] = spectra["uu_kx"][:, 1] / 500
    spectra["uu_kx"][3, 7] *= 5  # at one height
    synthetic.write_statistics(tmp_path / "statistics.h5", flow, [state.statistics()])
    synthetic.write_spectra(tmp_path / "spectra.h5", flow, [spectra])
    parameters, blocks = load(tmp_path)
    ratio, z_plus = wall_spectra(blocks.means(), parameters, "bottom").fall("uu", "x")
    assert ratio == pytest.approx(100)
    assert z_plus == pytest.approx(flow.z[3] * 180)


def test_length_of_the_box(tmp_path):
    """Mode 2 along x has the correlation 1 at half the box; mode 1 has -1, which what is in mode 0 makes 0."""
    flow = flow_of((16, 12, 24))
    write(tmp_path, [Wave(flow, 2, 1)] * 3)
    parameters, blocks = load(tmp_path)
    evaluated = evaluate_spectra(blocks, parameters)
    box = half_box(evaluated, "x")
    assert (box.quantity, box.verdict) == ("uu", "the box is too short for the largest structures")
    assert box.value == pytest.approx(1)
    assert half_box(evaluated, "y").verdict == "the box is long enough"
    text = table_text(evaluated)
    assert "largest correlation of the velocity at half the box along y" in text
    assert re.search(r"^uu +15 +1 ", text, re.MULTILINE)


def test_a_fall_that_is_not_determined(tmp_path, monkeypatch):
    flow = flow_of((16, 12, 24))
    write(tmp_path, [Wave(flow, 2, 1)] * 3)
    parameters, blocks = load(tmp_path)
    evaluated = evaluate_spectra(blocks, parameters)
    falls = {"x": (32.0, 42.0, 5.0), "y": (500.0, 40.0, 5.0)}
    monkeypatch.setattr(type(evaluated), "fall", lambda _, axis: falls[axis])
    along_x, along_y = conclusions(evaluated)[:2]
    assert "E_uu along x falls by a factor that is not determined (32 +- 42) from its maximum" in along_x
    assert "E_uu along y falls by a factor of at least 500 +- 40 from its maximum" in along_y


@pytest.mark.parametrize("cells", [EVEN, ODD])
def test_conclusions_do_not_depend_on_the_chosen_heights(tmp_path, cells):
    write(tmp_path, [Fields(flow_of(cells), seed) for seed in range(3)])
    parameters, blocks = load(tmp_path)
    usual, chosen = (evaluate_spectra(blocks, parameters, heights) for heights in (None, [60.0]))
    assert conclusions(usual) == conclusions(chosen)
    boxes = usual.half_boxes
    assert boxes.names == usual.names
    for axis in "xy":
        for n, quantity in enumerate(("uu", "vv", "ww")):
            for found, lines in ((boxes.values, usual.lines), (boxes.widths, usual.bands)):
                expected = lines.coefficient[quantity, axis][:, -1]
                np.testing.assert_allclose(found[axis][n], expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("value", "width", "verdict"), [
    (0.02, 0.01, "long enough"), (0.08, 0.1, "too short to tell"), (-0.15, 0.1, "too short to tell"),
    (0.3, 0.1, "too short for the largest"),
])  # fmt: skip
def test_verdict(value, width, verdict):
    assert verdict in HalfBox("uu", "15", value, width).verdict
