#!/usr/bin/env python3
"""Every rule of check_rules.py finds a source that breaks it, and passes one that keeps it."""

from __future__ import annotations

import sys
import unittest

import check_rules

# The beginning of a rule's sentence: sources that break it, sources that do not. Each is (file, text).
EXAMPLES: dict[str, tuple[list[tuple[str, str]], list[tuple[str, str]]]] = {
    "Only `io/case/yaml_tree.cpp`": (
        [("io/case/case_file.cpp", "#include <yaml-cpp/parser.h>"), ("src/main.cpp", '#include "hdf5.h"')],
        [("io/files/hdf5.cpp", "#include <hdf5.h>"), ("src/main.cpp", "// #include <hdf5.h>")],
    ),
    "Only `poisson/fft` and the benchmarks": (
        [("poisson/a.cpp", "#include <fftw3.h>"), ("src/a.cpp", '#include "poisson/fft/fftw_plan.hpp"')],
        [("poisson/fft/a.cpp", "#include <cufft.h>"), ("src/a.cpp", '#include "poisson/fft/fft.hpp"')],
    ),
    "Calls of the CUDA and HIP runtimes are": (
        [("solver/a.cpp", "void f() {\n  cudaFree(p);\n}")],
        [("solver/a_cuda.hpp", "cudaFree(p);"), ("solver/a.cpp", '// cudaFree(p)\nlog("cudaFree(p)");')],
    ),
    "Kernels start from": (
        [("solver/a_cuda.cpp", "kernel<<<1, 32>>>(x);"), ("solver/a_cuda.cpp", "const int k = blockIdx.y;")],
        [("core/device/launch_cuda.hpp", "kernel(blockIdx);"), ("solver/a_cuda.cpp", "const int k = block.y;")],
    ),
    "There is no `#if`": (
        [
            ("src/a.cpp", "#ifdef SLUICE_GPU\n#endif"),
            ("src/a.cpp", "#ifdef SLUICE_HIP\n#endif"),
            ("src/a.cpp", "  # if defined(__CUDA_ARCH__)"),
        ],
        [("core/device/a.hpp", "#ifdef SLUICE_CUDA"), ("src/a.cpp", "#ifdef SLUICE_DEBUG\n// CUDA")],
    ),
    "Only `core/device/assertion.hpp` and": (
        [("core/a.hpp", "#ifdef SLUICE_DEBUG\nint n;\n#endif"), ("a.cpp", "#if defined(SLUICE_DEBUG) && A")],
        [("core/device/assertion.hpp", "#ifdef SLUICE_DEBUG"), ("a.hpp", 'SLUICE_ASSERT(n > 0, "SLUICE_DEBUG");')],
    ),
    "multiply_add is defined once": (
        [
            ("a.hpp", "template <class T>\nSLUICE_INLINE T multiply_add(T a, T b, T c) { return a * b + c; }"),
            ("solver/a.cpp", "const double x = std::fma(a, b, c);"),
        ],
        [("a.hpp", "SLUICE_INLINE real f(real a) {\n  return multiply_add(a, a, a); // not fma(a, a, a)\n}")],
    ),
    "There are no .cu files": (
        [("solver/a.cu", "void f();"), ("solver/a.cuh", "")],
        [("solver/a_cuda.cpp", "void f();")],
    ),
    "Loops over planes and rows": (
        [("solver/a.cpp", "for (int k = 0; k < n; ++k) {\n  f();\n  for (int j = 0; j < n; ++j) g();\n}")],
        [("solver/a.cpp", "for (int k = 0; k < n; ++k) f();\nfor (int j = 0; j < n; ++j) g();")],
    ),
    "No loop over cells takes a lambda": (
        [
            ("solver/a.cpp", 'parallel_for("a", box,\n  [=] (Cell c) { u(c) = 0; });'),
            ("a.cpp", "reduce_max(n, b, [&]{})"),
        ],
        [("solver/a.cpp", 'parallel_for("a", box, Scale{a[0], b[n]});'), ("a.cpp", "reduce_max(n, box[k], F{})")],
    ),
    "`core/decomp/exchange/array_part.cpp`": (
        [("core/decomp/exchange/a.cpp", '#include "core/device/parallel_for.hpp"')],
        [("core/decomp/exchange/gpu/a.cpp", '#include "core/device/parallel_for.hpp"')],
    ),
    "An observer compares times": (
        [
            ("src/outputs/a.cpp", "return now.time >= next_;"),
            ("src/outputs/a.cpp", "return next_ < run.simulation.time();"),
        ],
        [
            ("src/outputs/a.cpp", "std::optional<double> time; f(now.time); p->time();"),
            ("src/run/a.cpp", "return now.time >= next_;"),
        ],
    ),
    "A collective member function": (
        [
            ("src/a.hpp", "  /// The rate.\n  /// Collective.\n  double rate() const;"),
            ("src/a.cpp", "double A::rate() const {\n  return global_max(rate_, comm_);\n}"),
        ],
        [
            ("src/a.hpp", "  /// The rate. Collective.\n  double rate();"),
            ("src/a.hpp", "  /// Of this state. Collective.\n  double rate(const State& state) const;"),
            ("src/a.cpp", "int A::rank() const { return rank_of(comm_); }\nvoid f() { global_max(x, comm_); }"),
            ("src/a.hpp", "  /// Collective.\n  double rate();\n  /// Local.\n  double known() const;"),
        ],
    ),
    "Code throws an": (
        [("src/a.cpp", 'throw std::runtime_error("a");'), ("src/a.cpp", "throw 1;")],
        [("src/a.cpp", "throw Error(code, text);\nthrow io::file_error(file);\nthrow;\nthrow *error;")],
    ),
    "Only `src/main.cpp` turns": (
        [("src/a.cpp", "std::exit(1);"), ("src/a.cpp", "::_exit(1);"), ("src/a.cpp", "MPI_Abort(comm, 1);")],
        [("src/main.cpp", "MPI_Abort(comm, 1);"), ("src/a.cpp", "at_exit(f); // std::exit(1)")],
    ),
    "`catch (...)` is in": (
        [("src/a.cpp", "try { f(); } catch (...) { throw; }")],
        [("src/main.cpp", "try { f(); } catch (...) { g(); }"), ("src/a.cpp", "catch (const Error&) { throw; }")],
    ),
    "A handler that neither": (
        [
            ("src/a.cpp", "try { f(); } catch (const Error&) { return 0; }"),
            ("src/a.cpp", "try { f(); } catch (const Error& error) {\n  if (x) throw;\n}"),
            ("src/a.cpp", "try { f(); } catch (const Error&) {} // elsewhere"),
        ],
        [
            ("src/a.cpp", "try { f(); } catch (const Error&) {\n  // there may be no file\n}"),
            ("src/a.cpp", "try { f(); } catch (const Error& error) { log(error.what()); }"),
            ("src/a.cpp", "try { f(); } catch (const Error&) {\n  close();\n  throw;\n}"),
            ("src/a.cpp", "try { f(); } catch (const Bad&) { return {ExitCode::io, text}; }"),
        ],
    ),
    "No destructor is": (
        [("src/a.hpp", "~A() noexcept(false);")],
        [("src/a.hpp", "~A() noexcept;\nvoid f() noexcept(false);")],
    ),
}


class Rules(unittest.TestCase):
    """What check_rules.py finds."""

    def rule(self, begin: str) -> check_rules.Rule:
        """The one rule that begins like this, without the places that are left in the tree."""
        (rule,) = [rule for rule in check_rules.RULES if rule.text.startswith(begin)]
        return check_rules.Rule(rule.text, rule.find, rule.allowed, {}, rule.where)

    def test_every_rule_has_examples(self) -> None:
        """A new rule needs a source that breaks it."""
        for rule in check_rules.RULES:
            self.assertEqual(1, sum(rule.text.startswith(begin) for begin in EXAMPLES), rule.text)

    def test_sources_that_break_a_rule(self) -> None:
        """Each is found."""
        for begin, (bad, _) in EXAMPLES.items():
            for file, source in bad:
                with self.subTest(rule=begin, source=source):
                    self.assertTrue(check_rules.broken(self.rule(begin), {file: source}))

    def test_sources_that_keep_a_rule(self) -> None:
        """None is found."""
        for begin, (_, good) in EXAMPLES.items():
            for file, source in good:
                with self.subTest(rule=begin, source=source):
                    self.assertEqual([], check_rules.broken(self.rule(begin), {file: source}))

    def test_exceptions_only_become_fewer(self) -> None:
        """More places than are left are faults, and so are fewer."""
        rule = check_rules.Rule("No goto.", check_rules.in_code(r"\bgoto\b"), left={"a.cpp": 1})
        for count, faults in [(0, 1), (1, 0), (2, 2)]:
            self.assertEqual(faults, len(check_rules.broken(rule, {"a.cpp": "goto x;\n" * count})))
        self.assertEqual(1, len(check_rules.broken(rule, {})))

    def test_the_page_holds_every_rule(self) -> None:
        """Across line breaks, word for word."""
        rule = check_rules.Rule("No `goto` anywhere.", check_rules.in_code("goto"))
        self.assertEqual([], check_rules.unquoted([rule], "Rules\n\n- No `goto`\n  anywhere.\n"))
        self.assertEqual(1, len(check_rules.unquoted([rule], "No `goto` here.")))

    def test_names_on_the_page(self) -> None:
        """Files, folders, tests and functions that do not exist are found."""
        files = ["core/a.cpp", "tests/unit/test_a.cpp", "postprocess/sluice_post/b.py", "tests/fuzz/read_case.cpp"]
        sources = {"core/a.cpp": "double Flow::rate() { return 1; }"}
        good = "`core/a.cpp` `a.cpp` `core` `core/` `tests/unit` `test_a` `sluice_post/b.py` `Flow::rate`"
        good += " `read_NAME.cpp` `core/new.cpp` 12 (new) `time.end` `KEY=VALUE` `a/b c`"
        self.assertEqual([], check_rules.unknown_names(good, files, sources))
        for bad in ["core/b.cpp", "b.cpp", "tests/gpu", "core/none/", "test_b", "sluice_post/a.py", "Flow::speed"]:
            with self.subTest(name=bad):
                self.assertEqual(1, len(check_rules.unknown_names(f"`{bad}`", files, sources)))

    def test_comments_and_literals_are_no_code(self) -> None:
        """Their lines remain, so that positions are right."""
        source = 'a("// x"); // y\n/* z\n */ b(\'"\'); c(1\'000);\nR"(d // )"; e();'
        code = check_rules.code_of(source)
        self.assertEqual(len(source), len(code))
        self.assertEqual(source.count("\n"), code.count("\n"))
        self.assertEqual(["a", "b", "c", "1", "000", "e"], check_rules.re.findall(r"\w+", code))


if __name__ == "__main__":
    sys.exit(unittest.main())
