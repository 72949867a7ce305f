"""Pieces of the report's HTML: headline, tables, figures."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING, Any

import numpy as np

from sluice_post import literature

if TYPE_CHECKING:
    from sluice_post.report import Results


def escape(text: object) -> str:
    """Text that is safe inside HTML."""
    return html.escape(str(text))


def number(value: float, half_width: float | None = None) -> str:
    """A number with as many digits as its interval deserves, else five significant ones."""
    if not np.isfinite(value):
        return "—"
    scientific = value != 0 and not 1e-2 <= abs(value) < 1e6
    if half_width is not None and np.isfinite(half_width) and half_width > 0 and not scientific:
        decimals = int(np.clip(1 - np.floor(np.log10(half_width)), 0, 6))
        return f"{value:.{decimals}f}".replace("-", "−")
    text = f"{value:.3e}" if scientific else f"{value:.5g}"
    if "e" in text:
        mantissa, exponent = text.split("e")
        return f"{mantissa}·10<sup>{int(exponent)}</sup>".replace("-", "−")
    return text.replace("-", "−")


def interval_text(half_width: float) -> str:
    """Half width of an interval, with two digits."""
    if not np.isfinite(half_width):
        return "—"
    return f"± {half_width:.2g}" if half_width >= 1e-3 else "± " + number(float(f"{half_width:.1e}"))


def table(head: list[str], rows: list[list[str]]) -> str:
    """A table in a box that scrolls sideways on a small screen. Cells are HTML."""
    cells = "".join(f"<th>{cell}</th>" for cell in head)
    lines = []
    for row in rows:
        first = f"<td class='in'>{row[0].strip()}</td>" if row[0].startswith("  ") else f"<td>{row[0]}</td>"
        lines.append("<tr>" + first + "".join(f"<td>{cell}</td>" for cell in row[1:]) + "</tr>")
    header = f"<thead><tr>{cells}</tr></thead>" if any(head) else ""
    return f"<div class='scroll'><table>{header}<tbody>{''.join(lines)}</tbody></table></div>"


def figure_html(png_base64: str, title: str, caption: str, wide: bool) -> str:
    """One embedded figure with its caption."""
    return (
        f"<figure class='{'wide' if wide else 'narrow'}'>"
        f"<img alt='{escape(title)}' src='data:image/png;base64,{png_base64}'>"
        f"<figcaption><b>{escape(title)}.</b> {escape(caption)}</figcaption></figure>"
    )


_FLOW_NAMES = {"channel": "Channel", "couette": "Couette flow", "open_channel": "Open channel"}


def run_table(results: Results) -> str:
    """The line under the title: flow, domain, grid, viscosity, code."""
    parameters = results.run.parameters
    if parameters is None:
        return f"<p class='sub'>{escape(results.run.directory.resolve().name)}</p>"
    size = " × ".join(f"{length:.5g}" for length in parameters.size)
    cells = " × ".join(str(n) for n in parameters.cells)
    flow = _FLOW_NAMES.get(parameters.flow_type, parameters.flow_type)
    revision = f", revision {escape(parameters.git_revision[:12])}" if parameters.git_revision else ""
    return (
        f"<p class='sub'>{escape(flow)} · domain {size} · {cells} cells · "
        f"ν = {number(parameters.viscosity)} · Sluice {escape(parameters.version)}{revision}</p>"
    )


def headline(results: Results) -> str:
    """The few numbers that one looks for first."""
    cards = []
    if results.re_tau is not None:
        value = number(results.re_tau.mean, results.re_tau.half_width)
        cards.append((value, "Re<sub>τ</sub>, last third of the run"))
    profiles = results.run.profiles
    if profiles is not None:
        cards.append((number(profiles.re_tau), "Re<sub>τ</sub> (statistics)"))
        peak = results.value("u_peak")
        if peak is not None:
            at = results.value("u_peak_z") or float("nan")
            cards.append((f"{peak:.3f}", f"peak u′<sup>+</sup> at z<sup>+</sup> = {at:.1f}"))
        else:
            cards.append(("laminar", "no fluctuations above 10<sup>−4</sup> u<sub>τ</sub>"))
        cards.append((number(profiles.residual), "total-stress residual"))
    if results.run.blocks is not None and results.resolution is not None:
        cards.append((f"{results.resolution.turnovers:.3g}", "averaging time, h/u<sub>τ</sub>"))
    body = "".join(f"<div><b>{value}</b><span>{label}</span></div>" for value, label in cards)
    return f"<section class='headline'>{body}</section>" if cards else ""


def _published_column(results: Results) -> tuple[str, dict[str, float], bool, str]:
    published = results.published
    profiles = results.run.profiles
    if published is None or profiles is None:
        return "", {}, False, "<p class='soft'>No published figures for this flow are on record here.</p>"
    same = literature.comparable(published, profiles.re_tau)
    note = f"Published: {escape(published.source)}."
    if not same:
        off = abs(profiles.re_tau / published.re_tau - 1)
        note += f" Its Re<sub>τ</sub> = {published.re_tau:g} differs by {off:.0%}: for orientation only."
    heading = f"{escape(published.name)}, Re<sub>τ</sub> = {published.re_tau:g}"
    return heading, published.values, same, f"<p class='soft'>{note}</p>"


def key_table(results: Results) -> str:
    """Key figures with their intervals beside the nearest published ones."""
    if not results.table and results.re_tau is None:
        return ""
    heading, values, same, note = _published_column(results)
    laminar = results.run.profiles is not None and results.run.profiles.laminar
    rows = []
    if results.re_tau is not None:
        interval = interval_text(results.re_tau.half_width)
        rows.append(["Re<sub>τ</sub> (last third of the run)",
                     number(results.re_tau.mean, results.re_tau.half_width), interval])  # fmt: skip
        if values:
            rows[-1] += [number(values["re_tau"]), _difference(results.re_tau.mean, values["re_tau"], same)]
    for figure in results.table:
        interval = interval_text(figure.half_width)
        row = [figure.label, number(figure.value, figure.half_width), interval]
        if values:
            known = values.get(figure.key)
            row.append("" if known is None else number(known))
            row.append("" if known is None else _difference(figure.value, known, same))
        rows.append(row)
    rows.extend(_residual_rows(results, bool(values)))
    head = ["", "this run", "95 % interval", *([heading, "difference"] if values else [])]
    averaging = _averaging_note(results)
    return "<h2>Key figures</h2>" + table(head, rows) + averaging + ("" if laminar else note)


def _difference(value: float, known: float, same: bool) -> str:
    return f"{100 * (value / known - 1):+.2f} %".replace("-", "−") if same else ""


def _residual_rows(results: Results, published: bool) -> list[list[str]]:
    names = {"both": "total-stress residual", "bottom": "bottom half, in its own u<sub>τ</sub>",
             "top": "top half, in its own u<sub>τ</sub>"}  # fmt: skip
    rows = []
    for side, residual in results.residuals.items():
        alone = len(results.residuals) == 1
        label = names["both"] if side == "both" or alone else "  " + names[side]
        row = [label, number(residual), ""]
        if published:
            row += ["" if label.startswith(" ") else "2·10<sup>−4</sup> to 2·10<sup>−3</sup>", ""]
        rows.append(row)
    return rows


def _averaging_note(results: Results) -> str:
    blocks, batches, profiles = results.run.blocks, results.run.batches, results.run.profiles
    if blocks is None or batches is None or profiles is None:
        return ""
    text = (
        f"{int(blocks.samples.sum())} samples in {len(blocks)} blocks, t = {blocks.time_begin[0]:g} to "
        f"{blocks.time_end[-1]:g}. "
    )
    if len(batches) > 1:
        text += f"Intervals from {len(batches)} batches, Student's t. "
    text += f"Symmetry used: {profiles.symmetry.value}."
    return f"<p class='soft'>{escape(text)}</p>"


def resolution_table(results: Results) -> str:
    """Cell sizes in wall units beside common practice."""
    found = results.resolution
    if found is None:
        return ""
    rows = [
        ["Δx<sup>+</sup>", number(found.dx_plus), "4 to 12"],
        ["Δy<sup>+</sup> (spanwise)", number(found.dy_plus), "3 to 6"],
        ["first cell centre z<sup>+</sup>", number(found.first_centre_plus), "≤ 0.5"],
        ["Δz<sup>+</sup> at the wall", number(found.dz_wall_plus), "≤ 1"],
        ["largest Δz<sup>+</sup>", number(found.dz_centre_plus), "≤ 4 to 7"],
        ["domain, x<sup>+</sup> × y<sup>+</sup>", f"{found.lx_plus:.0f} × {found.ly_plus:.0f}", ""],
        ["averaging time, h/u<sub>τ</sub>", number(found.turnovers), ""],
    ]
    return "<h2>Resolution in wall units</h2>" + table(["", "this run", "usual in DNS"], rows)


_PERFORMANCE = {
    "point_steps_per_second": "point-steps per second",
    "ns_per_point_per_step": "ns per point and step",
    "steps_taken": "steps taken",
    "wall_seconds": "wall-clock time, s",
    "ranks": "ranks",
    "threads": "threads",
    "gpus": "GPUs",
    "process_grid": "process grid p<sub>y</sub> × p<sub>z</sub>",
    "exchange": "exchange method",
    "precision": "precision",
    "compiler": "compiler",
    "why_stopped": "why it stopped",
}


def _plain(value: Any) -> str:
    if isinstance(value, bool) or value is None:
        return escape(value)
    if isinstance(value, int):
        return f"{value:d}"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, list):
        return " × ".join(_plain(item) for item in value)
    if isinstance(value, dict):
        return ", ".join(f"{escape(key)} {_plain(item)}" for key, item in value.items())
    return escape(value)


def performance_tables(record: dict[str, Any]) -> str:
    """What run.json tells about speed: the latest start of the run, and its phases."""
    rows = [[label, _plain(record[key])] for key, label in _PERFORMANCE.items() if key in record]
    rows += [[key, _plain(record[key])] for key in ("machine", "libraries") if key in record]
    phases = record.get("phases")
    timed = []
    if isinstance(phases, list):
        timed = [p for p in phases if isinstance(p, dict) and isinstance(p.get("seconds"), (int, float))]
    total = sum(phase["seconds"] for phase in timed)
    if not rows and not timed:
        return ""
    left = f"<div><h3>Latest start</h3>{table(['', ''], rows)}</div>" if rows else ""
    right = ""
    if total > 0:
        lines = [[escape(p.get("name", "")), f"{p['seconds']:.4g}", f"{100 * p['seconds'] / total:.1f} %"]
                 for p in sorted(timed, key=lambda p: -p["seconds"])]  # fmt: skip
        right = f"<div><h3>Phases</h3>{table(['', 'seconds', 'share'], lines)}</div>"
    return f"<h2>Performance</h2><div class='pair'>{left}{right}</div>"
