#!/usr/bin/env python3
"""Checks the rules of docs/development.md that can be seen in the sources, and that what the page names exists.

The page holds each rule word for word. `check_rules.py --list` prints the rules and the places that do not keep them
yet. No place may be added to these, and a place that is mended must be taken from the list.
"""

from __future__ import annotations

import fnmatch
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path, PurePosixPath

FLOORS = ("core", "model", "poisson", "io", "solver", "src", "python")
PAGE = "docs/development.md"
Found = Iterator[int]  # positions in a text


@dataclass(frozen=True)
class Rule:
    """A rule: its sentence in PAGE, where it is broken, and the files that may or still do break it."""

    text: str
    find: Callable[[str], Found]  # positions of what the rule forbids in a source
    allowed: tuple[str, ...] = ()  # patterns of files that the sentence exempts; * also matches /
    left: dict[str, int] = field(default_factory=dict)  # file: places that do not keep the rule yet
    where: tuple[str, ...] = ("*",)  # patterns of the files that it holds for


# The parts of a source in which // and braces mean something else, or nothing.
COMMENT = r"//[^\n]*|/\*.*?\*/"
LITERAL = r'"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\''
TOKENS = re.compile(rf'R"(\w*)\(.*?\)\1"|{LITERAL}|{COMMENT}', re.DOTALL)


def code_of(source: str) -> str:
    """The source with comments and literals blanked out; every character keeps its place."""

    def blank(token: re.Match[str]) -> str:
        keep = re.match(r"\s*#\s*include", source[source.rfind("\n", 0, token.start()) + 1 :])
        return token[0] if keep and token[0][0] == '"' else re.sub(r"[^\n]", " ", token[0])

    return TOKENS.sub(blank, source)


def in_code(pattern: str) -> Callable[[str], Found]:
    """Finds a regular expression outside comments and literals."""
    compiled = re.compile(pattern, re.MULTILINE)
    return lambda source: (found.start() for found in compiled.finditer(code_of(source)))


def body_of(code: str, begin: int) -> str:
    """What begins after an opening brace, with its closing brace."""
    depth, end = 1, begin
    while depth > 0 and end < len(code):
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        end += 1
    return code[begin:end]


def handlers(source: str) -> Iterator[tuple[int, str, str, str]]:
    """Of each catch: its position, what it catches, its body, and the body's code."""
    code = code_of(source)
    for begin in re.finditer(r"\bcatch\s*\(([^)]*)\)\s*\{", code):
        body = body_of(code, begin.end())
        yield begin.start(), begin[1].strip(), source[begin.end() : begin.end() + len(body)], body


def catches_of_everything(source: str) -> Found:
    """Positions of catch (...)."""
    return (at for at, caught, _, _ in handlers(source) if caught == "...")


def silent_handlers(source: str) -> Found:
    """Positions of handlers that neither use the error nor always throw, and do not say why."""
    for at, caught, body, code in handlers(source):
        name = re.search(r"&\s*(\w+)$", caught)
        uses = name and re.search(rf"\b{name[1]}\b", code)
        throws = re.search(r"(^|[;}])\s*throw\b[^;]*;\s*\}$", code)
        turns = re.search(r"\bcurrent_error\(|\bExitCode::", code)  # into another error
        if not (uses or throws or turns or re.search(COMMENT, body, re.DOTALL)):
            yield at


COMMUNICATES = re.compile(
    r"\bMPI_(I?All|I?Bcast|I?Reduce|I?Gather|I?Scatter|I?Barrier|I?Exscan|I?Scan|I?Send|I?Recv)\w*\s*\("
    r"|\b(run_collectively|run_on_root|broadcast|global_(max|min|sum))\s*\("
)


def collective_getters(source: str) -> Found:
    """Positions of const member functions without arguments that communicate, or whose comment says so."""
    code = code_of(source)
    for member in re.finditer(r"\w+\(\) const (?:override )?\{", code):
        if COMMUNICATES.search(body_of(code, member.end())):
            yield member.start()
    for member in re.finditer(r"^((?:[ \t]*///[^\n]*\n)+)[^\n/]*?\w+\(\) const\b[^\n]*", source, re.MULTILINE):
        if "Collective" in member[0]:
            yield member.end(1)


def loops_over_planes_and_rows(source: str) -> Found:
    """Positions of loops over k with a loop over j inside."""
    loops = list(re.finditer(r"^( *)for \((?:const )?[\w:]+ ([jk]) = ", code_of(source), re.MULTILINE))
    for outer, inner in pairwise(loops):
        if outer[2] == "k" and inner[2] == "j" and len(inner[1]) > len(outer[1]):
            yield outer.start()


RULES = [
    Rule(
        "Only `io/case/yaml_tree.cpp` includes yaml-cpp, and only `io/files` includes HDF5.",
        in_code(r'^\s*#\s*include\s*[<"](yaml-cpp|hdf5|H5)'),
        allowed=("io/case/yaml_tree.cpp", "io/files/*"),
    ),
    Rule(
        "Only `poisson/fft` and the benchmarks of the libraries themselves, `src/bench/fftw_baseline.cpp` and "
        "`src/bench/cufft_baseline*`, include FFTW, cuFFT, hipFFT and VkFFT.",
        in_code(r'^\s*#\s*include\s*[<"](fftw3|cufft|hipfft|vkFFT|poisson/fft/(fftw_plan|cufft_plan|fft_vkfft)\.hpp)'),
        allowed=("poisson/fft/*", "src/bench/fftw_baseline.cpp", "src/bench/cufft_baseline*"),
    ),
    Rule(
        "Calls of the CUDA and HIP runtimes are in `core/device`, `core/decomp/exchange/gpu` and files whose names end "
        "in `_cuda`.",
        in_code(r"\b(cuda|hip)[A-Z]\w*\s*\("),
        allowed=("core/device/*", "core/decomp/exchange/gpu/*", "*_cuda.?pp"),
    ),
    Rule(
        "Kernels start from `cuda::launch` alone, and no code but that of `core/device` uses blockIdx.",
        in_code(r"<<<|\bblockIdx\b"),
        allowed=("core/device/launch_cuda.hpp",),
    ),
    Rule(
        "There is no `#if` for a back end outside `core/device`, `core/support/real.hpp`, "
        "`core/decomp/host_access.cpp` and `poisson/fft/lane_stages.hpp`.",
        in_code(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*(CUDA|HIP|SLUICE_GPU|NVCC|NCCL|VKFFT|AVX)"),
        allowed=(
            "core/device/*",
            "core/support/real.hpp",
            "core/decomp/host_access.cpp",
            "poisson/fft/lane_stages.hpp",
        ),
        left={
            "core/decomp/exchange/exchange.cpp": 1,
            "core/decomp/exchange/gpu/nccl.cpp": 1,
            "poisson/fft/cufft_plan.hpp": 1,
        },
    ),
    Rule(
        "Only `core/device/assertion.hpp` and `core/decomp/index_bounds.hpp` test SLUICE_DEBUG; other code uses "
        "`SLUICE_ASSERT` and `IndexBounds`.",
        in_code(r"^\s*#\s*(if|ifdef|ifndef|elif)\b.*\bSLUICE_DEBUG\b"),
        allowed=("core/device/assertion.hpp", "core/decomp/index_bounds.hpp"),
    ),
    Rule(
        "multiply_add is defined once, in `core/support/real.hpp`, and only it calls `fma`.",
        in_code(r"\b(?:inline|SLUICE_INLINE|SLUICE_HD)\b[^;{}()]*\bmultiply_add\s*\(|\bfmaf?\s*\("),
        allowed=("core/support/real.hpp",),
    ),
    Rule("There are no .cu files.", lambda source: iter([0]), where=("*.cu", "*.cuh")),
    Rule(
        "Loops over planes and rows (`k` and `j`) are allowed only in `core/device/parallel_for.hpp`. Exceptions: "
        "CPU-only loops in `poisson/fft/fft_fftw.cpp` and `solver/momentum/momentum_sweep_cpu.cpp`, and loops over "
        "values in host memory in `io/files`, `solver/extreme.cpp` and `src/run/formula_check.cpp`.",
        loops_over_planes_and_rows,
        allowed=(
            "core/device/parallel_for.hpp",
            "poisson/fft/fft_fftw.cpp",
            "solver/momentum/momentum_sweep_cpu.cpp",
            "io/files/*",
            "solver/extreme.cpp",
            "src/run/formula_check.cpp",
        ),
    ),
    Rule(
        "No loop over cells takes a lambda.",
        in_code(
            r"\b(parallel_for|reduce_planes|reduce_sum|reduce_max|count_planes)\s*(<[^;(]*>)?\([^;]*?\[[^\w\]]*\w*\]\s*[({]"
        ),
        allowed=("core/stencil/loops.hpp",),
    ),
    Rule(
        "`core/decomp/exchange/array_part.cpp` is the only exchange file of CPU builds with loops over cells.",
        in_code(r'#include "core/device/parallel_for\.hpp"'),
        where=("core/decomp/exchange/*",),
        allowed=("core/decomp/exchange/array_part.cpp", "core/decomp/exchange/gpu/*"),
    ),
    Rule(
        "An observer compares times only with `Schedule` or `is_reached`.",
        in_code(
            r"\b(time\(\)|now\.(time|previous_time))\s*[<>=!]=?[^<>]|[^<>-][<>]=?\s*(now\.(time|previous_time)\b|[\w.]*\btime\(\))"
        ),
        where=("src/outputs/*",),
    ),
    Rule(
        "A collective member function without arguments is not `const`: a `const` getter must not communicate.",
        collective_getters,
    ),
    Rule(
        "Code throws an `Error`. Only `model/formula.cpp` throws a `FormulaError`, and only "
        "`io/case/yaml_tree.cpp` and `src/commands/command_line.cpp` throw what the libraries that they call expect.",
        in_code(r"\bthrow\s+(?!Error\(|(io::)?file_error\(|failure\()\w"),
        allowed=("model/formula.cpp", "io/case/yaml_tree.cpp", "src/commands/command_line.cpp"),
    ),
    Rule(
        "Only `src/main.cpp` turns an error into an exit code. Only it, `src/run/watchdog.cpp` and "
        "`python/bindings/session.cpp` end the process.",
        in_code(r"\b(std::(exit|_Exit|quick_exit|abort|terminate)|(?<!\w)_exit|MPI_Abort)\s*\("),
        allowed=("src/main.cpp", "src/run/watchdog.cpp", "python/bindings/session.cpp"),
    ),
    Rule(
        "`catch (...)` is in `src/main.cpp`, in `core/support/error.cpp` and `core/support/collective.cpp`, which turn "
        "any exception into an `Error`, and in `io/files/statistics_file.cpp` and `core/device/together.cpp`, which "
        "rethrow.",
        catches_of_everything,
        allowed=(
            "src/main.cpp",
            "core/support/error.cpp",
            "core/support/collective.cpp",
            "io/files/statistics_file.cpp",
            "core/device/together.cpp",
        ),
    ),
    Rule(
        "A handler that neither uses the error nor throws says in a comment why the error does not matter.",
        silent_handlers,
    ),
    Rule("No destructor is `noexcept(false)`.", in_code(r"~\w+\([^)]*\)\s*noexcept\s*\(\s*false\s*\)")),
]


def matches(file: str, patterns: tuple[str, ...]) -> bool:
    """Whether the file is one of those that the patterns describe."""
    return any(fnmatch.fnmatchcase(file, pattern) for pattern in patterns)


def broken(rule: Rule, sources: dict[str, str]) -> list[str]:
    """Where the sources break a rule, and which of the exceptions that are left they no longer need."""
    faults = []
    for file, source in sources.items():
        if matches(file, rule.allowed) or not matches(file, rule.where):
            continue
        lines = [source.count("\n", 0, at) + 1 for at in rule.find(source)]
        left = rule.left.get(file, 0)
        if len(lines) > left:
            faults += [f"{file}:{line}: {rule.text}" for line in lines]
        elif len(lines) < left:
            faults.append(f"{file}: {len(lines)} places, not {left}, break a rule; bring .ci/check_rules.py up to date")
    faults += [f"{file}: no such file; remove it from .ci/check_rules.py" for file in rule.left if file not in sources]
    return faults


def unquoted(rules: list[Rule], page: str) -> list[str]:
    """The rules that the page does not hold word for word."""
    words = " ".join(page.split())
    return [f"{PAGE}: has no sentence: {rule.text}" for rule in rules if rule.text not in words]


def unknown_names(page: str, files: list[str], sources: dict[str, str]) -> list[str]:
    """The files, folders, tests and functions that the page names between backticks, and that do not exist."""
    folders = {f"{parent}/" for file in files for parent in PurePosixPath(file).parents}
    places = [f"/{name}" for name in [*files, *folders]]
    tests = {PurePosixPath(file).stem for file in files if file.startswith(("tests/", "postprocess/tests/"))}
    identifiers = {word for source in sources.values() for word in re.findall(r"\w+", code_of(source))}

    def exists(name: str) -> bool:
        if re.fullmatch(r"test_\w+", name):
            return "NAME" in name or name in tests
        if re.fullmatch(r"(\w+::)+\w+", name):
            return set(name.split("::")) - {"std", "op"} <= identifiers
        is_file = re.search(r"\.(cpp|hpp|py|md|sh|cmake|toml|yml)$|^[\w.-]+(/[\w.-]+)+/?$", name)
        if not is_file or name.startswith("build-"):
            return True
        ending = "*/" + name.replace("NAME", "*")
        return any(fnmatch.fnmatchcase(place, ending + end) for place in places for end in ("", "/"))

    faults = []
    for number, line in enumerate(page.splitlines(), 1):
        for found in re.finditer(r"`([^`\s]+)`(?! \d+ \(new\))", line):
            if not exists(found[1]):
                faults.append(f"{PAGE}:{number}: there is no {found[1]}")
    return faults


def list_rules() -> None:
    """Prints every rule and what is left of the places that break it."""
    for rule in RULES:
        print(rule.text)
        for file, count in rule.left.items():
            print(f"    not yet: {file}, {count}")


def main(arguments: list[str]) -> int:
    """Prints what breaks a rule; returns 1 if anything does."""
    if arguments == ["--list"]:
        list_rules()
        return 0
    files = [
        file for file in subprocess.check_output(["git", "ls-files"], text=True).split("\n") if Path(file).is_file()
    ]
    sources = {
        file: Path(file).read_text()
        for file in files
        if file.endswith((".hpp", ".cpp", ".cu", ".cuh"))
        and file.startswith(tuple(f"{floor}/" for floor in FLOORS))
        and "/example/" not in file
    }
    page = Path(PAGE).read_text()
    faults = [fault for rule in RULES for fault in broken(rule, sources)]
    faults += unquoted(RULES, page) + unknown_names(page, files, sources)
    print("\n".join(faults) if faults else f"{len(sources)} files keep {len(RULES)} rules")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
