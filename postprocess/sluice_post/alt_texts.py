"""What a figure shows, for readers who do not see it: its axes and the largest value of each line, from the figure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import QuadMesh
from matplotlib.colors import to_hex
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D

from sluice_post.arrays import Array
from sluice_post.printed import ROUND_OFF, rounded
from sluice_post.style import GREY

_COLORBAR = "<colorbar>"  # the label of the axes of one
_MAX_LINES = 4  # of a panel: those with the largest values
_LETTERS = (
    *("tau τ", "nu ν", "rho ρ", "theta θ", "Theta Θ", "lambda λ", "omega ω", "Omega Ω", "Delta Δ", "delta δ", "eta η"),
    *("xi ξ", "kappa κ", "varepsilon ε", "epsilon ε", "gamma γ", "alpha α", "beta β", "phi φ", "psi ψ", "nabla ∇"),
    *("langle ⟨", "rangle ⟩", "times ×", "cdot ·", "prime ′", "pm ±", "partial ∂", "approx ≈", "leq ≤", "geq ≥"),
)
_SYMBOLS = dict(letter.split() for letter in _LETTERS) | {"infty": "∞", "quad": " "}
_FONTS = "mathrm|mathbf|mathit|mathcal|mathregular|text|rm|left|right|overline|tilde|hat|displaystyle"


def plain_text(tex: str) -> str:
    """A label of Matplotlib without TeX: `$u'/u_\\tau$` becomes u'/u_τ."""
    text = re.sub(rf"\\(?:{_FONTS})(?![a-zA-Z])", "", tex)
    text = re.sub(r"\\([a-zA-Z]+) ?", lambda found: _SYMBOLS.get(found[1], found[1]), text)
    text = re.sub(r"\\[,;: !]", " ", text).replace("⟨ ", "⟨").replace("^+", "⁺").replace("^{+}", "⁺")
    return " ".join(re.sub(r"[${}\\]", "", text).split())


def _label(axes: Axes, name: str) -> str:
    """Of the x or y axis: its own, else that of a panel in the same column or row."""
    start = axes.get_position().bounds["xy".index(name)]
    column = [one for one in axes.figure.axes if abs(one.get_position().bounds["xy".index(name)] - start) < 1e-3]
    labels = [plain_text(getattr(one, f"get_{name}label")()) for one in (axes, *column)]
    return next(filter(None, labels), name)


def _axis(axes: Axes, name: str) -> str:
    return _label(axes, name) + (" (logarithmic)" if getattr(axes, f"get_{name}scale")() == "log" else "")


def _points(line: Line2D) -> tuple[Array, Array]:
    x, y = (np.asarray(values, dtype=float) for values in line.get_data(orig=False))
    known = np.isfinite(x) & np.isfinite(y)
    return x[known], y[known]


def _course(line: Line2D, place: str) -> tuple[float, str]:
    """The largest magnitude of a line, and what to say of it: its extreme, else how it begins and ends."""
    x, y = _points(line)
    at = int(np.argmax(np.abs(y)))

    def point(n: int) -> str:
        value = 0.0 if abs(y[n]) < ROUND_OFF * abs(y[at]) else float(y[n])
        return f"{rounded(value, 3)} at {place} = {rounded(float(x[n]), 3)}"

    is_history = place.startswith("t ")
    text = f"from {point(0)} to {point(-1)}" if is_history or at in (0, len(y) - 1) else f"largest {point(at)}"
    label = str(line.get_label())
    return abs(float(y[at])), text if label.startswith("_") else f"{plain_text(label)} {text}"


def _lines(axes: Axes) -> str:
    lines = [line for line in axes.get_lines() if line.get_visible() and line.get_transform() == axes.transData]
    lines = [line for line in lines if _points(line)[0].size > 2]
    lines = [line for line in lines if to_hex(line.get_color()) != GREY.lower()] or lines  # grey: laws to compare with
    named = [line for line in lines if not str(line.get_label()).startswith("_")] or lines[:1]
    place = re.split(r",| \(", _label(axes, "x"))[0]
    found = sorted((_course(line, place) for line in named), key=lambda one: -one[0])[:_MAX_LINES]
    return f"{'; '.join(text for _, text in found)}." if found else ""


def _range(axes: Axes, shown: ScalarMappable) -> str:
    values: Any = np.ma.masked_invalid(np.ma.asarray(shown.get_array()))
    if values.count() == 0:
        return ""
    bar = getattr(shown, "colorbar", None)
    label = plain_text(bar.ax.get_ylabel() or bar.ax.get_title() or bar.ax.get_xlabel()) if bar is not None else ""
    low, high = rounded(float(values.min()), 3), rounded(float(values.max()), 3)
    marks = [_points(line) for line in axes.get_lines() if np.size(line.get_xdata()) == 1]
    at = "".join(f", marked at ({rounded(x[0], 3)}, {rounded(y[0], 3)})" for x, y in marks if x.size)
    return f"colours{f' of {label}' if label else ''} from {low} to {high}{at}."


def _bars(axes: Axes) -> str:
    bars = [bars for bars in axes.containers if isinstance(bars, BarContainer) and bars.patches]
    heights = [(max(bar.get_height() for bar in one.patches), plain_text(str(one.get_label()))) for one in bars]
    named = [f"{'' if label.startswith('_') else label + ' '}{rounded(high, 3)}" for high, label in heights]
    return f"highest bars: {'; '.join(named[:_MAX_LINES])}." if named else ""


def _panels(figure: Figure) -> Iterator[str]:
    for axes in figure.axes:
        if axes.get_label() == _COLORBAR or not axes.get_visible():
            continue
        title = plain_text(" ".join(filter(None, (axes.get_title(place) for place in ("left", "center", "right")))))
        images = [shown for shown in axes.get_children() if isinstance(shown, QuadMesh | AxesImage)]
        found = " ".join(_range(axes, shown) for shown in images) or _lines(axes) or _bars(axes)
        about = f"{f'{title}: ' if title else ''}{_axis(axes, 'y')} against {_axis(axes, 'x')}"
        yield f"{about}: {found}" if found else f"{about}."


def alt_text(title: str, figure: Figure) -> str:
    """Title, and of each panel what is drawn against what, and the largest values and where they are."""
    return " ".join([f"{title}.", *_panels(figure)])
