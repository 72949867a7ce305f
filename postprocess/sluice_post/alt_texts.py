"""What a figure shows, for readers who do not see it: its axes and the largest value of each line, from the figure."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.collections import QuadMesh
from matplotlib.container import BarContainer
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from sluice_post.printed import rounded

Array = NDArray[np.float64]

_COLORBAR = "<colorbar>"  # the label of the axes of one
_MAX_LINES = 4  # of a panel: those with the largest values
_SYMBOLS = {
    **{"tau": "τ", "nu": "ν", "rho": "ρ", "theta": "θ", "Theta": "Θ", "lambda": "λ", "omega": "ω", "Omega": "Ω"},
    **{"Delta": "Δ", "delta": "δ", "eta": "η", "xi": "ξ", "kappa": "κ", "varepsilon": "ε", "epsilon": "ε"},
    **{"gamma": "γ", "langle": "⟨", "rangle": "⟩", "times": "×", "cdot": "·", "prime": "′", "pm": "±", "partial": "∂"},
    **{"approx": "≈", "leq": "≤", "geq": "≥", "infty": "∞", "alpha": "α", "beta": "β", "phi": "φ", "psi": "ψ"},
}
_FONTS = "mathrm|mathbf|mathit|mathcal|mathregular|text|rm|left|right|overline|tilde|hat|quad|displaystyle"


def plain_text(tex: str) -> str:
    """A label of Matplotlib without TeX: `$u'/u_\\tau$` becomes u'/u_τ."""
    text = re.sub(rf"\\(?:{_FONTS})(?![a-zA-Z])", " ", tex)
    text = re.sub(r"\\([a-zA-Z]+)", lambda found: _SYMBOLS.get(found[1], found[1]), text)
    text = re.sub(r"\\[,;: !]", " ", text).replace("^+", "⁺").replace("^{+}", "⁺")
    return " ".join(re.sub(r"[${}\\]", "", text).split())


def _axis(label: str, scale: str) -> str:
    return f"{plain_text(label)}{' (logarithmic)' if scale == 'log' else ''}"


def _points(line: Line2D) -> tuple[Array, Array]:
    x, y = (np.asarray(line.get_data(orig=False)[n], dtype=float) for n in (0, 1))
    known = np.isfinite(x) & np.isfinite(y)
    return x[known], y[known]


def _largest(axes: Axes, line: Line2D) -> tuple[float, str]:
    """The largest magnitude of a line, and the sentence about it."""
    x, y = _points(line)
    at = int(np.argmax(np.abs(y)))
    label = "" if line.get_label().startswith("_") else f"{plain_text(line.get_label())} "
    place = plain_text(axes.get_xlabel()).partition(" (")[0]
    return abs(float(y[at])), f"{label}{rounded(float(y[at]), 3)} at {place or 'x'} = {rounded(float(x[at]), 3)}"


def _lines(axes: Axes) -> str:
    lines = [line for line in axes.get_lines() if line.get_visible() and line.get_transform() == axes.transData]
    lines = [line for line in lines if _points(line)[0].size > 2]
    named = [line for line in lines if not line.get_label().startswith("_")] or lines[:1]
    found = sorted((_largest(axes, line) for line in named), key=lambda one: -one[0])[:_MAX_LINES]
    return f"Largest: {'; '.join(text for _, text in found)}." if found else ""


def _range(axes: Axes, shown: ScalarMappable) -> str:
    values = np.ma.masked_invalid(np.ma.asarray(shown.get_array()))
    if values.count() == 0:
        return ""
    bar = getattr(shown, "colorbar", None)
    label = plain_text(bar.ax.get_ylabel() or bar.ax.get_title() or bar.ax.get_xlabel()) if bar is not None else ""
    low, high = rounded(float(values.min()), 3), rounded(float(values.max()), 3)
    marks = [_points(line) for line in axes.get_lines() if line.get_xydata().shape[0] == 1]
    at = "".join(f", marked at ({rounded(x[0], 3)}, {rounded(y[0], 3)})" for x, y in marks if x.size)
    return f"Colours{f' of {label}' if label else ''} from {low} to {high}{at}."


def _bars(axes: Axes) -> str:
    bars = [bars for bars in axes.containers if isinstance(bars, BarContainer) and bars.patches]
    heights = [(max(bar.get_height() for bar in one.patches), plain_text(str(one.get_label()))) for one in bars]
    named = [f"{'' if label.startswith('_') else label + ' '}{rounded(high, 3)}" for high, label in heights]
    return f"Highest bars: {'; '.join(named[:_MAX_LINES])}." if named else ""


def _panels(figure: Figure) -> Iterator[str]:
    for axes in figure.axes:
        if axes.get_label() == _COLORBAR or not axes.get_visible():
            continue
        title = plain_text(" ".join(filter(None, (axes.get_title(place) for place in ("left", "center", "right")))))
        across = _axis(axes.get_xlabel(), axes.get_xscale())
        up = _axis(axes.get_ylabel(), axes.get_yscale())
        about = f"{up} against {across}" if up and across else up or across
        images = [shown for shown in axes.get_children() if isinstance(shown, QuadMesh | AxesImage)]
        found = " ".join(_range(axes, shown) for shown in images) or _lines(axes) or _bars(axes)
        if about or found:
            yield f"{f'{title}: ' if title else ''}{about}. {found}".strip()


def alt_text(title: str, figure: Figure) -> str:
    """Title, and of each panel what is drawn against what, and the largest values and where they are."""
    return " ".join([f"{title}.", *_panels(figure)])
