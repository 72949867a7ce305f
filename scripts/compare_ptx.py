#!/usr/bin/env python3
"""Shows whether two GPU builds have the same kernels, on a machine without a GPU: it compares their PTX.

    compare_ptx.py OLD_BUILD NEW_BUILD [FILE...]

OLD_BUILD, NEW_BUILD: folders that cmake configured with SLUICE_CUDA and CMAKE_EXPORT_COMPILE_COMMANDS; nothing needs to
be built there. FILE: a source, or a folder of sources, as in solver/walls; without FILE everything but tests. A source
that has moved is named twice, by its old and its new path.

Kernels are equal if they have the same instructions in the same order. Names of labels, of parameters and of anonymous
namespaces do not count. Where only the offsets of parameters differ, as after a change of a struct, the kernel still
computes the same, provided that each load finds its member. Exit code: 0 if every kernel is equal, up to these offsets;
1 if one differs, is new or is gone; 2 if the comparison was not possible.
"""

from __future__ import annotations

import argparse
import difflib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

# The digits before it are the length of the name.
ANONYMOUS = re.compile(r"(\d+)_GLOBAL__N__")
LABEL = re.compile(r"\$L__\w+")
NUMBERED = re.compile(r"\b(__local_depot|callseq |\$str|__unnamed_)\d+")
BEGINNING = re.compile(r"^(?:\.\w+ )*\.(?:entry|func)\b.*?([\w$]+)\s*\(?$")
VARIABLE = re.compile(r"^(?:\.\w+ )*\.(?:global|const|shared)\b.*?([\w$]+)(?:\[[^=]*\])?(?: =.*)?;$")
ROUNDED = re.compile(r"\b(fma|mad|mul|add|sub|div|rcp|sqrt)(?:\.(?:rn|rz|rm|rp|approx|full|ftz))*\.f(?:32|64)\b")


class CompareError(Exception):
    """The builds cannot be compared."""


@dataclass(frozen=True)
class Kernel:
    """A kernel, a device function or a variable of a PTX module, normalised."""

    name: str  # mangled
    lines: tuple[str, ...]

    def without_offsets(self) -> tuple[str, ...]:
        """The lines without the places and sizes of parameters."""
        return tuple(
            re.sub(r"^((?:@!?%\w+ )?ld\.param.*)\[.*\]|(\bPARAMETER_\d+)(?:\[\d+\])?", r"\1\2", line)
            for line in self.lines
        )

    def rounded_operations(self) -> Counter[str]:
        """How often each operation occurs that rounds its result."""
        return Counter(found[0] for line in self.lines for found in ROUNDED.finditer(line))


def without_hashes(line: str) -> str:
    """The line with one name for the anonymous namespaces of all files."""
    kept, end = "", 0
    for found in ANONYMOUS.finditer(line):
        kept += line[end : found.start()] + "_GLOBAL__N_"
        end = found.end(1) + int(found[1])
    return kept + line[end:]


def normalised(name: str, lines: list[str]) -> Kernel:
    """A kernel without what changes although its instructions do not."""
    labels: dict[str, str] = {}
    kept = []
    for line in lines:
        code = " ".join(re.sub(r"//.*", "", line).split())
        if not code or code.startswith((".file", ".loc")):
            continue
        code = without_hashes(code)
        code = LABEL.sub(lambda label: labels.setdefault(label[0], f"LABEL_{len(labels)}"), code)
        code = NUMBERED.sub(r"\1", code)
        kept.append(code)
    own = without_hashes(name)
    parameter = re.compile(re.escape(own) + r"_param_(\d+)")
    kept = [
        re.sub(rf"(?<![\w$]){re.escape(own)}(?![\w$])", "NAME", parameter.sub(r"PARAMETER_\1", line)) for line in kept
    ]
    return Kernel(own, tuple(kept))


def kernels_of(ptx: str) -> list[Kernel]:
    """What a PTX module defines."""
    found = []
    lines = iter(ptx.splitlines())
    for line in lines:
        if variable := VARIABLE.match(line):
            found.append(normalised(variable[1], [line]))
        elif beginning := BEGINNING.match(line):
            body = [line]
            is_declaration = False
            while body[-1] != "}" and not is_declaration:
                following = next(lines, None)
                if following is None:
                    raise CompareError(f"the PTX of {beginning[1]} has no end")
                body.append(following)
                is_declaration = following.endswith(";") and "{" not in body
            if not is_declaration:
                found.append(normalised(beginning[1], body))
    return found


def source_root(build: Path) -> Path:
    """The sources that a build folder belongs to."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("CMAKE_HOME_DIRECTORY:"):
            return Path(line.split("=", 1)[1])
    raise CompareError(f"{build}/CMakeCache.txt names no sources")


def nvcc_commands(build: Path, chosen: list[str]) -> dict[str, tuple[list[str], str]]:
    """Of each chosen source that nvcc compiles: the command that writes its PTX, without -o, and where it runs."""
    database = build / "compile_commands.json"
    if not database.is_file():
        raise CompareError(f"{database} is missing: configure with -DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
    root = source_root(build)
    commands = {}
    for entry in json.loads(database.read_text()):
        words = shlex.split(entry["command"])
        file = os.path.relpath(entry["file"], root)
        if not any(Path(word).name == "nvcc" for word in words[:2]) or not is_chosen(file, chosen):
            continue
        at = words.index("-o")
        del words[at : at + 2]
        words[words.index("-c")] = "-ptx"
        commands[file] = words, entry["directory"]
    return commands


def is_chosen(file: str, chosen: list[str]) -> bool:
    """Whether the file is asked for."""
    if not chosen:
        return not file.startswith("tests/")
    return any(file == name or file.startswith(name.rstrip("/") + "/") for name in chosen)


def compiled(build: Path, chosen: list[str], jobs: int) -> dict[str, list[Kernel]]:
    """What each chosen source defines for the GPU."""

    def compile_one(item: tuple[str, tuple[list[str], str]]) -> tuple[str, list[Kernel]]:
        file, (command, folder) = item
        with tempfile.TemporaryDirectory() as scratch:
            ptx = Path(scratch) / "kernels.ptx"
            done = subprocess.run([*command, "-o", str(ptx)], cwd=folder, capture_output=True, text=True)
            if done.returncode != 0:
                raise CompareError(f"{file} of {build} does not compile:\n{done.stderr}")
            return file, kernels_of(ptx.read_text())

    commands = nvcc_commands(build, chosen)
    if not commands:
        raise CompareError(f"{build} compiles none of the sources with nvcc: {' '.join(chosen)}")
    with ThreadPoolExecutor(jobs) as pool:
        return dict(pool.map(compile_one, commands.items()))


@dataclass
class Comparison:
    """What became of the kernels: names, and pairs that are not equal."""

    equal: int = 0
    renamed: list[tuple[str, str]] = field(default_factory=list)
    other_offsets: list[str] = field(default_factory=list)
    different: list[tuple[Kernel, Kernel]] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)

    def same_instructions(self) -> bool:
        """Whether every kernel is there and has its instructions."""
        return not (self.different or self.gone or self.new)


def paired(old: list[Kernel], new: list[Kernel], key: Callable[[Kernel], object]) -> list[tuple[Kernel, Kernel]]:
    """Takes the pairs with equal keys from the lists."""
    partners: dict[object, list[Kernel]] = {}
    for kernel in new:
        partners.setdefault(key(kernel), []).append(kernel)
    pairs = [(kernel, found.pop(0)) for kernel in old if (found := partners.get(key(kernel)))]
    taken = {kernel for pair in pairs for kernel in pair}
    old[:] = [kernel for kernel in old if kernel not in taken]
    new[:] = [kernel for kernel in new if kernel not in taken]
    return pairs


def compare(old: Iterable[Kernel], new: Iterable[Kernel]) -> Comparison:
    """Compares all kernels of two builds. Copies of a kernel in several objects count once."""
    result = Comparison()
    olds, news = sorted(set(old), key=lambda k: k.name), sorted(set(new), key=lambda k: k.name)
    result.equal = len(paired(olds, news, lambda kernel: kernel))
    for kernel, _ in paired(olds, news, lambda kernel: (kernel.name, kernel.without_offsets())):
        result.other_offsets.append(kernel.name)
    result.renamed = [(a.name, b.name) for a, b in paired(olds, news, lambda kernel: kernel.lines)]
    result.different = paired(olds, news, lambda kernel: kernel.name)
    result.gone, result.new = [kernel.name for kernel in olds], [kernel.name for kernel in news]
    return result


def readable(name: str) -> str:
    """The name as it is written in C++, where c++filt is installed."""
    if shutil.which("c++filt") is None:
        return name
    # c++filt wants the length of each name.
    mangled = name.replace("_GLOBAL__N_", "12_GLOBAL__N_1")
    return subprocess.run(["c++filt", mangled], capture_output=True, text=True, check=True).stdout.strip()


def print_difference(old: Kernel, new: Kernel, max_lines: int = 12) -> None:
    """Prints what differs between two kernels of one name."""
    print(f"differs: {readable(old.name)}")
    before, after = old.rounded_operations(), new.rounded_operations()
    if before == after:
        print("    as many operations of each kind that rounds; see whether their order and operands are the same")
    for operation in sorted(before | after):
        if before[operation] != after[operation]:
            print(f"    {operation}: {before[operation]} before, {after[operation]} now")
    changes = list(difflib.unified_diff(old.lines, new.lines, n=0, lineterm=""))[2:]
    for line in changes[:max_lines]:
        print(f"    {line}")
    if len(changes) > max_lines:
        print(f"    and {len(changes) - max_lines} lines more")


def report(result: Comparison) -> None:
    """Prints a comparison."""
    for old, new in result.different:
        print_difference(old, new)
    for name in result.gone:
        print(f"gone: {readable(name)}")
    for name in result.new:
        print(f"new: {readable(name)}")
    for name, other in result.renamed:
        print(f"equal with another name: {readable(name)}, now {readable(other)}")
    for name in result.other_offsets:
        print(f"equal but for the offsets of parameters: {readable(name)}")
    print(
        f"{result.equal} equal, {len(result.renamed)} with another name, {len(result.other_offsets)} with other "
        f"offsets of parameters, {len(result.different)} different, {len(result.gone)} gone, {len(result.new)} new"
    )


def main() -> int:
    """Compares two builds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, metavar="OLD_BUILD")
    parser.add_argument("new", type=Path, metavar="NEW_BUILD")
    parser.add_argument("files", nargs="*", metavar="FILE")
    parser.add_argument("-j", "--jobs", type=int, default=os.cpu_count() or 1, help="compilers at a time")
    arguments = parser.parse_intermixed_args()
    try:
        builds = [compiled(build, arguments.files, arguments.jobs) for build in (arguments.old, arguments.new)]
    except (CompareError, OSError) as error:
        print(f"compare_ptx: {error}", file=sys.stderr)
        return 2
    old, new = ([kernel for kernels in build.values() for kernel in kernels] for build in builds)
    result = compare(old, new)
    report(result)
    return 0 if result.same_instructions() else 1


if __name__ == "__main__":
    sys.exit(main())
