#!/usr/bin/env python3
"""Tests of check_calls.py: which calls it finds, and which it lets pass."""

from __future__ import annotations

import unittest

from check_calls import unchecked_calls

UNCHECKED = [
    "MPI_Barrier(comm);",
    "if (many) MPI_Send(data, 1, MPI_INT, 0, tag, comm);",
    "PMPI_Barrier(comm);",
    "(void)MPI_Barrier(comm);",
    "MPI_Barrier(comm);  // checked elsewhere",
    "MPI_Barrier(comm);  // unchecked:",
    "MPI_Barrier (comm);",
    "const int status = MPI_Barrier(comm);",
    "const int status = MPI_Barrier(comm);\n}\nvoid next(int status) { check_mpi(status, text); }",
    'log("check_mpi("); MPI_Barrier(comm);',
    "/* check_mpi( */ MPI_Barrier(comm);",
    "check_mpi(other, text); MPI_Barrier(comm);",
    "try_to([] { MPI_Abort(comm, 1); });",
]
CHECKED = [
    'check_mpi(MPI_Barrier(comm), "MPI_Barrier");',
    'check_mpi(\n    MPI_Send(data, 1, MPI_INT, f(0), tag, comm), "MPI_Send");',
    "if (MPI_Test(&request, &flag, g(status)) != MPI_SUCCESS) return false;",
    'const int status = MPI_Barrier(comm);\nrelease();\ncheck_mpi(status, "MPI_Barrier");',
    "const int status = MPI_Init(nullptr, nullptr);\nif (status != MPI_SUCCESS) give_up();",
    "MPI_Comm_free(&comm_);  // unchecked: destructor",
    "MPI_Send(data, 1, MPI_INT,\n         0, tag, comm);  // unchecked: the run is ending",
    "// MPI_Barrier(comm) would wait",
    "/* MPI_Barrier(comm);\n   MPI_Barrier(comm); */",
    'print("MPI_Barrier(comm)");',
    "operator MPI_Comm() const { return comm_; }",
    "const double start = MPI_Wtime();",
]


class CheckCalls(unittest.TestCase):
    """One statement each."""

    def test_unchecked_calls_are_found(self) -> None:
        """Calls whose status nothing looks at."""
        for statement in UNCHECKED:
            with self.subTest(statement):
                self.assertEqual(len(unchecked_calls(statement)), 1)

    def test_checked_calls_pass(self) -> None:
        """Calls that are checked or say why not, and what is no call."""
        for statement in CHECKED:
            with self.subTest(statement):
                self.assertEqual(unchecked_calls(statement), [])

    def test_calls_are_named_with_their_lines(self) -> None:
        """Lines count from 1, comments included."""
        text = '// "quoted\n\ncheck_mpi(MPI_Barrier(a), "b");\n  MPI_Barrier(a);\nMPI_Comm_rank(a, &b);\n'
        self.assertEqual(unchecked_calls(text), [(4, "MPI_Barrier"), (5, "MPI_Comm_rank")])


if __name__ == "__main__":
    unittest.main()
