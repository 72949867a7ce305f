"""Tables for papers: their text, and that it is LaTeX which compiles."""

import re
import shutil
import subprocess
from math import nan
from pathlib import Path

import pytest
import synthetic
from matplotlib.mathtext import MathTextParser
from test_study import HALF_WIDTH, write_run

from sluice_post.cli import main
from sluice_post.deviations import QUANTITIES
from sluice_post.key_figures import LATEX_LABELS
from sluice_post.latex import escaped, tabular
from sluice_post.printed import in_math, with_interval

TITLE = r"50 % of A_1 & {B} \x~$^#"
ESCAPED = r"50 \% of A\_1 \& \{B\} \textbackslash{}x\textasciitilde{}\$\textasciicircum{}\#"
RULES = ("toprule", "midrule", "bottomrule")
SIGNS = ("textbackslash", "textasciitilde", "textasciicircum", "textless", "textgreater", "textbar")
KNOWN = {"begin", "end", "quad", *RULES, *SIGNS}  # outside math mode, which Matplotlib parses


def check(text: str) -> list[list[list[str]]]:
    """The cells of all tables of a text, which has to be correct LaTeX."""
    tables, columns = [], 0
    for line in text.splitlines():
        if not line or line.startswith("%"):
            continue
        assert re.search(r"(?<!\\)[%#]", line) is None
        pieces = re.split(r"(?<!\\)\$", line)
        assert len(pieces) % 2 == 1, f"{line}: math mode is not left"
        for math in pieces[1::2]:
            MathTextParser("path").parse(f"${math}$")  # fails at what it does not know
        outside = "".join(pieces[::2])
        assert re.search(r"(?<!\\)[_^~]", outside) is None
        assert set(re.findall(r"\\([a-zA-Z]+)", outside)) <= KNOWN
        depth = 0
        for brace in re.findall(r"(?<!\\)[{}]", line):
            depth += 1 if brace == "{" else -1
            assert depth >= 0
        assert depth == 0
        if found := re.fullmatch(r"\\begin\{tabular\}\{(l+)\}", line):
            columns = len(found[1])
            tables.append([])
        elif line.endswith(r" \\"):
            tables[-1].append(re.split(r" (?<!\\)& ", line.removesuffix(r" \\")))
            assert len(tables[-1][-1]) == columns, line
        else:
            assert line in (r"\toprule", r"\midrule", r"\bottomrule", r"\end{tabular}")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == len(tables) > 0
    return tables


def compiled(text: str, folder: Path) -> None:
    """Runs pdflatex, where it is installed."""
    program = shutil.which("pdflatex")
    if program is not None:
        page = f"\\documentclass{{article}}\n\\usepackage{{booktabs}}\n\\begin{{document}}\n{text}\\end{{document}}\n"
        (folder / "page.tex").write_text(page, encoding="utf-8")
        command = [program, "-interaction=nonstopmode", "-halt-on-error", "page.tex"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
        assert done.returncode == 0, done.stdout


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run in which the shear stress alone varies, by a known amount, with a title of special characters."""
    directory = write_run(tmp_path / "run", 4, (16, 8), scatter=0.02)
    synthetic.set_case(directory / "statistics.h5", f"title: '{TITLE}'\n")
    return directory


@pytest.mark.parametrize(
    ("value", "half_width", "text"),
    [
        (181.8412, 0.4812, r"$181.84 \pm 0.48$"),
        (1.5e-4, 1.1e-5, r"$(1.50 \pm 0.11) \times 10^{-4}$"),
        (-1.23456e9, 2e7, r"$(-1.235 \pm 0.020) \times 10^{9}$"),
        (40.0, 110.0, r"not determined ($40 \pm 110$)"),
        (2.0, 4.2e7, r"not determined ($(0.0 \pm 4.2) \times 10^{7}$)"),
        (1791234.0, None, r"$1.7912 \times 10^{6}$"),
        (182.09, None, "$182.09$"),
        (2.63912, nan, "$2.639$ (no interval)"),
        (nan, 0.1, "not defined"),
    ],
)
def test_numbers_are_in_math_mode(value: float, half_width: float | None, text: str) -> None:
    assert in_math(with_interval(value, half_width)) == text
    check(tabular(["one"], [["", "a"]], [["x", text]]))


def test_text_of_titles_is_escaped() -> None:
    assert escaped(TITLE) == ESCAPED
    assert escaped('two\n\\end{tabular} <a|b> "c"') == (
        r"two \textbackslash{}end\{tabular\} \textless{}a\textbar{}b\textgreater{} ''c''"
    )


def test_all_names_are_latex() -> None:
    check(tabular(["names"], [["name"]], [[name] for name in (*LATEX_LABELS.values(), *QUANTITIES.values())]))


KEY_FIGURES = rf"""% {TITLE}, t = 60 to 160; half widths of 95 % intervals
% published: Lee & Moser, J. Fluid Mech. 774, 395 (2015)
\begin{{tabular}}{{lll}}
\toprule
 & this run & Lee \& Moser, $Re_\tau = 182.09$ \\
\midrule
$Re_\tau$ & $182$ & $182.09$ \\
$Re_\tau$, bottom wall & $182$ & --- \\
$Re_\tau$, top wall & $182$ & --- \\
wall shear stress$/\rho$, bottom wall & $0.0040581$ & --- \\
wall shear stress$/\rho$, top wall & $0.0040581$ & --- \\
$Re_b = 2 U_b h/\nu$ & $5635.3$ & $5714$ \\
$C_f$ & $0.0083446$ & $0.008123$ \\
friction velocity $u_\tau$ & $0.063703$ & --- \\
$U_b^+$ & $15.482$ & $15.691$ \\
$U_c^+$ & $18.286$ & $18.269$ \\
peak $u'^+$ & $2.6484$ & $2.672$ \\
\quad at $z^+$ & $14.959$ & $14.5$ \\
peak $v'^+$ & $1.2064$ & $1.098$ \\
\quad at $z^+$ & $41.049$ & $36.1$ \\
peak $w'^+$ & $0.8954$ & $0.8488$ \\
\quad at $z^+$ & $63.858$ & $54.7$ \\
peak $-\langle u'w'\rangle^+$ & $0.716 \pm 0.014$ & $0.7277$ \\
\quad at $z^+$ & $29.645$ & $31.7$ \\
peak $p'^+$ & $1.7897$ & --- \\
\quad at $z^+$ & $1.054$ & --- \\
peak production of $k^+$ & $0.2237 \pm 0.0045$ & $0.2179$ \\
\quad at $z^+$ & $10.92$ & $11.8$ \\
integral of the production of $k$, $\int P\,dz/u_\tau^3$ & $6.73 \pm 0.13$ & $6.29$ \\
forcing $\cdot\,h$/wall stress $-\,1$ & $0$ & --- \\
\bottomrule
\end{{tabular}}
"""


def test_key_figures_of_a_report(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The interval of the peak of -uw is that of the scatter which the blocks were given."""
    target = tmp_path / "tables" / "run.tex"
    assert main(["report", str(run), "--latex", str(target)]) == 0
    assert f"table: {target}\n" in capsys.readouterr().out
    text = target.read_text(encoding="utf-8")
    assert text == KEY_FIGURES
    assert f"{0.716 * 0.02 * HALF_WIDTH:.3f}" == "0.014"
    check(text)
    compiled(text, tmp_path)


def test_deviations_of_a_comparison(run: Path, tmp_path: Path) -> None:
    """From its own profiles, with a mean velocity that is 2 % of its largest value lower."""
    profiles, target = tmp_path / "profiles_1.csv", tmp_path / "run.tex"
    assert main(["profiles", str(run), "-o", str(profiles)]) == 0
    heading, *lines = profiles.read_text(encoding="utf-8").splitlines()
    u = heading.split(",").index("U_plus")
    rows = [line.split(",") for line in lines]
    rows = [[*row[:u], f"{float(row[u]) / 1.02:.10g}", *row[u + 1 :]] for row in rows]
    profiles.write_text("\n".join([heading, *map(",".join, rows)]) + "\n", encoding="utf-8")
    arguments = ["compare", str(run), "--reference", str(profiles), "--latex", str(target), "--quantity", "U", "u_rms"]
    assert main(arguments) == 0
    text = target.read_text(encoding="utf-8")
    of_profiles, of_figures = check(text)
    assert "% in % of the largest value of profiles_1.csv\n" in text
    assert of_profiles[0] == ["profile", r"largest deviation, \%", "at $z^+$", r"rms, \%"]
    names = [row[0] for row in of_profiles[1:]]
    assert names == ["$U^+$", r"$u_\mathrm{rms}^+$"]
    assert [row[1] for row in of_profiles[1:]] == ["$+2$", "$+0$"]
    assert of_figures[0] == ["", "this run", "published", r"deviation, \%"]
    deviations = {row[0]: row[3] for row in of_figures[1:]}
    assert deviations["$U_c^+$"] == "$+2$"
    assert deviations["peak $u'^+$"] == "$+0$"
    compiled(text, tmp_path)


def test_tables_of_a_study(run: Path, tmp_path: Path) -> None:
    coarse, target = write_run(tmp_path / "coarse_1", 2, (8, 8), {"u": 0.05}), tmp_path / "study.tex"
    arguments = ["study", str(coarse), str(run), "-o", str(tmp_path / "study"), "--latex", str(target)]
    assert main(arguments) == 0
    text = target.read_text(encoding="utf-8")
    values, errors = check(text)
    assert text.startswith("% coarse_1, t = 60 to 160; half widths of 95 % intervals\n% run, t = 60 to 160;")
    assert "% errors in % against Lee & Moser, J. Fluid Mech. 774, 395 (2015)\n" in text
    assert values[0] == ["order", "$2$", "$4$", r"Lee \& Moser"]
    assert values[1] == ["cells", r"$8 \times 8 \times 48$", r"$16 \times 8 \times 48$", ""]
    assert ["peak $u'^+$", "$2.7808$", "$2.6484$", "$2.672$"] in values
    peak = next(row for row in values if row[0] == r"peak $-\langle u'w'\rangle^+$")
    assert peak[2:] == [r"$0.716 \pm 0.014$", "$0.7277$"]
    assert errors[0] == values[0][:3]
    found = next(row for row in errors if row[0] == "peak $u'^+$")
    assert [float(cell.strip("$")) for cell in found[1:]] == pytest.approx(
        [100 * (2.7808 / 2.672 - 1), 100 * (2.6484 / 2.672 - 1)], abs=0.01
    )
    compiled(text, tmp_path)


def test_what_cannot_be_written(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "file").write_text("")
    assert main(["report", str(run), "--latex", str(tmp_path / "file" / "run.tex")]) == 4
    assert "run.tex: cannot be written" in capsys.readouterr().err
    (run / "statistics.h5").unlink()
    assert main(["report", str(run), "--latex", str(tmp_path / "run.tex")]) == 2
    assert "no key figures for a table: statistics.h5: not there" in capsys.readouterr().err
    assert not (tmp_path / "run.tex").exists()
