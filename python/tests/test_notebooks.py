"""The notebooks of the package run from beginning to end, and show what they say."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

notebooks = pytest.importorskip("notebooks")  # skips without nbclient, nbformat and ipykernel
from notebooks import FOLDER, count_figures, number_after, require_no_outputs, run_notebook  # noqa: E402

pytest.importorskip("matplotlib")

NOTEBOOKS = sorted((FOLDER / "notebooks").glob("*.ipynb"))


def test_each_notebook_has_a_test() -> None:
    assert {f"test_{path.stem}" for path in NOTEBOOKS} <= set(globals())


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_stored_without_outputs(path: Path) -> None:
    require_no_outputs(path)


def run(name: str, folder: Path, figures: int) -> str:
    """Runs a notebook, which must show that many figures; returns what it prints."""
    text, outputs = run_notebook(FOLDER / "notebooks" / f"{name}.ipynb", folder)
    assert count_figures(outputs) == figures
    return text


def test_first_flow(tmp_path: Path) -> None:
    pytest.importorskip("sluice_post")
    pytest.importorskip("xarray")
    text = run("first_flow", tmp_path, figures=3)
    assert 180 < number_after(text, "Re_tau = ") < 210


def test_opposition_control(tmp_path: Path) -> None:
    text = run("opposition_control", tmp_path, figures=2)
    assert 10 < number_after(text, "drag reduction: ") < 45
    assert number_after(text, "largest w of the wall: ") == 0


def test_body_force(tmp_path: Path) -> None:
    text = run("body_force", tmp_path, figures=2)
    assert number_after(text, "largest error: ") < 1
    assert number_after(text, "canopy: ") < 0.5 * number_after(text, "driving force: ")
    assert number_after(text, " = ") == pytest.approx(number_after(text, "driving force: "), rel=2e-3)


def test_conditional_averages(tmp_path: Path) -> None:
    text = run("conditional_averages", tmp_path, figures=2)
    assert number_after(text, "ejections ") + number_after(text, "sweeps ") > 100
    assert number_after(text, "u' at the event: ") < -0.15


def test_torch_control(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if importlib.util.find_spec("torch") is None:
        pytest.skip("needs PyTorch")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # tests beside it use the other cores
    text = run("torch_control", tmp_path, figures=1)
    assert number_after(text, "error of the network: ") < 30
    assert abs(number_after(text, "mean w of the wall: ")) < 1e-7
    assert 8 < number_after(text, "drag reduction: ") < 45


def test_couette_equilibria(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    text = run("couette_equilibria", tmp_path, figures=3)
    assert number_after(text, "norm = ") == pytest.approx(0.209, rel=0.1)
    assert number_after(text, "fold at Re = ") == pytest.approx(218.5, rel=0.05)
    assert number_after(text, "leading eigenvalue = ") == pytest.approx(0.0501, rel=0.1)
    assert number_after(text, "upper branch: dissipation = ") > 2


def test_linear_stability(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    text = run("linear_stability", tmp_path, figures=3)
    assert number_after(text, "extrapolated: c = ") == pytest.approx(0.2375, abs=1e-3)
    assert number_after(text, "G(76) = ") == pytest.approx(196, rel=0.02)
    assert number_after(text, "at frequency 0 the gain is ") == pytest.approx((1000 / 17.4) ** 2, rel=0.03)


def test_periodic_orbits(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    text = run("periodic_orbits", tmp_path, figures=3)
    assert number_after(text, "residual = ") < 1e-10
    signal = number_after(text, "period of the signal = ")  # from time stepping alone
    assert signal == pytest.approx(49.33, rel=0.01)
    first = text.split("Re = 168: ")[1]
    assert float(first.split("period = ")[1].split(",")[0]) == pytest.approx(signal, rel=1e-3)
    modulus = {}
    for reynolds in (168, 176, 180):
        line = text.split(f"Re = {reynolds}: ")[1].splitlines()[0]
        assert number_after(line, "multipliers = ") == pytest.approx(1, abs=5e-3)  # a shift in time
        modulus[reynolds] = number_after(line, "modulus = ")
    assert modulus[168] < modulus[176] < 1 < modulus[180]
    leading = complex(text.split("Re = 180: ")[1].split(" and ")[1].split(",")[0])
    assert leading.imag == 0
    assert leading.real == pytest.approx(-1.38, abs=0.15)
    period = number_after(text.split("Re = 180: ")[1].splitlines()[0], "period = ")
    assert number_after(text, "period of the doubled orbit = ") == pytest.approx(2 * period, rel=0.01)
    low, _, high = text.split("maxima of the drag: ")[1].splitlines()[0].split()
    assert abs(float(high) - float(low)) > 0.015


def test_travelling_waves(tmp_path: Path) -> None:
    pytest.importorskip("scipy")
    text = run("travelling_waves", tmp_path, figures=3)
    assert number_after(text, "growth rate = ") == pytest.approx(-0.02, abs=1e-3)
    assert number_after(text, "0.02: ") < 0.02 < 0.08 < number_after(text, "0.03: ")
    assert number_after(text, "residual = ") < 1e-10
    assert number_after(text, "fold at Re = ") == pytest.approx(3085.1, rel=2e-3)
