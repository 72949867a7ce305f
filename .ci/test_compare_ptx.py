#!/usr/bin/env python3
"""What compare_ptx.py takes for equal kernels, and what it does not. Needs no compiler."""

from __future__ import annotations

import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "scripts"))
import compare_ptx

FUNCTOR = "47_GLOBAL__N__b5768bd6_14_projection_cpp_53eeeee57CorrectILNS_5OrderE1EE"


def module(
    *body: str, name: str = f"_ZN6sluice4eachINS_{FUNCTOR}EEEvT_", label: str = "$L__BB3_1", at: str = "+8"
) -> str:
    """A PTX module with a device function, a table and a kernel that has the given instructions."""
    return f"""
.version 9.0
.func (.param .b64 func_retval0) __internal_pow
(
\t.param .b64 __internal_pow_param_0
)
;
.global .align 8 .b8 table[4] = {{1, 2, 3, 4}};

.entry {name}(
\t.param .u64 {name}_param_0,
\t.param .align 8 .b8 {name}_param_1[16]
)
.maxntid 256, 1, 1
{{
\t.reg .b64 \t%rd<4>;
\t.loc\t1 20 3
\tld.param.u64 \t%rd1, [{name}_param_1{at}];
\t@%p1 bra \t{label};
{"".join(f"	{line};{chr(10)}" for line in body)}
{label}:
\tret;

}}
.func (.param .b64 func_retval0) __internal_pow(
\t.param .b64 __internal_pow_param_0
)
{{
\tret;
}}
"""


TWO = ("mul.f64 \t%fd3, %fd1, %fd2", "add.f64 \t%fd4, %fd3, %fd2")


def compared(old: str, new: str) -> compare_ptx.Comparison:
    """What compare_ptx.py finds."""
    return compare_ptx.compare(compare_ptx.kernels_of(old), compare_ptx.kernels_of(new))


class ComparePtx(unittest.TestCase):
    """Two modules, and what became of the kernels."""

    def test_a_module_has_its_kernels_functions_and_tables(self) -> None:
        """A declaration is none of them."""
        names = [kernel.name for kernel in compare_ptx.kernels_of(module(*TWO))]
        self.assertEqual(names[0::2], ["table", "__internal_pow"])
        self.assertIn("_GLOBAL__N_7Correct", names[1])

    def test_numbers_of_labels_lines_and_anonymous_namespaces_do_not_count(self) -> None:
        """The compiler numbers and hashes them anew for every file."""
        other = module(*TWO, label="$L__BB12_7").replace("b5768bd6", "00c0ffee").replace(".loc\t1 20", ".loc\t2 31")
        result = compared(module(*TWO), other)
        self.assertEqual((result.equal, result.same_instructions()), (3, True))

    def test_anonymous_namespaces_may_have_numbers_after_their_hash(self) -> None:
        """Their length says where the next name begins."""
        other = module(*TWO).replace("47_GLOBAL", "53_GLOBAL").replace("_53eeeee5", "_53eeeee5_10633")
        self.assertEqual(compared(module(*TWO), other).equal, 3)

    def test_a_target_of_a_jump_counts(self) -> None:
        """Labels are renamed, not removed."""
        two = ("bra $L__BB3_1", "$L__BB3_2: add.f64 %fd4, %fd3, %fd2")
        other = ("bra $L__BB3_2", "$L__BB3_2: add.f64 %fd4, %fd3, %fd2")
        self.assertEqual(len(compared(module(*two), module(*other)).different), 1)

    def test_other_offsets_of_parameters_are_reported(self) -> None:
        """A struct of parameters may have changed."""
        result = compared(module(*TWO), module(*TWO, at="+16").replace("param_1[16]", "param_1[24]"))
        self.assertEqual((result.equal, len(result.other_offsets), result.same_instructions()), (2, 1, True))

    def test_a_renamed_kernel_is_found(self) -> None:
        """Its instructions identify it."""
        result = compared(module(*TWO), module(*TWO, name="_ZN6sluice5otherEv"))
        self.assertEqual([new for _, new in result.renamed], ["_ZN6sluice5otherEv"])
        self.assertTrue(result.same_instructions())

    def test_contraction_is_a_difference(self) -> None:
        """A product and a sum that became one operation round differently."""
        result = compared(module(*TWO), module("fma.rn.f64 \t%fd4, %fd1, %fd2, %fd2"))
        self.assertFalse(result.same_instructions())
        old, new = result.different[0]
        self.assertEqual(old.rounded_operations(), {"mul.f64": 1, "add.f64": 1})
        self.assertEqual(new.rounded_operations(), {"fma.rn.f64": 1})

    def test_order_registers_tables_and_launch_bounds_count(self) -> None:
        """Everything that a GPU executes counts."""
        self.assertEqual(len(compared(module(*TWO), module(*TWO[::-1])).different), 1)
        self.assertEqual(len(compared(module(*TWO), module(*TWO).replace("%fd1, %fd2;", "%fd2, %fd1;")).different), 1)
        self.assertEqual(len(compared(module(*TWO), module(*TWO).replace("{1, 2", "{1, 3")).different), 1)
        self.assertEqual(len(compared(module(*TWO), module(*TWO).replace("256, 1", "128, 1")).different), 1)

    def test_kernels_that_are_gone_or_new(self) -> None:
        """A kernel without a partner is reported."""
        result = compared(module(*TWO), module("ret", name="_ZN6sluice5otherEv"))
        self.assertEqual((len(result.gone), len(result.new), result.same_instructions()), (1, 1, False))


if __name__ == "__main__":
    sys.exit(unittest.main(verbosity=0))
