"""Sparse matrices for vectors on the host or on a GPU."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .space import Array

Matrix = Any
"""A sparse matrix (CSR) of SciPy or, on a GPU, of CuPy."""
Line = tuple[Matrix, Matrix, Matrix]
"""Matrices that act along z, y and x: their Kronecker product acts on a component (nz, ny, nx)."""


def diagonal(values: Any) -> Matrix:
    """The diagonal matrix of these values, of SciPy."""
    return sparse.diags_array(np.asarray(values, float), format="csr")


def without_zeros(matrix: Matrix) -> Matrix:
    """A SciPy matrix in CSR format, without explicitly stored zeros."""
    matrix = sparse.csr_array(matrix)
    matrix.eliminate_zeros()
    return matrix


def kronecker(line: Line) -> Matrix:
    """The Kronecker product."""
    z, y, x = line
    return without_zeros(sparse.kron(z, sparse.kron(y, x), format="csr"))


def to_module(matrix: Matrix, xp: Any) -> Matrix:
    """A sparse matrix of SciPy as one for the arrays of a module: NumPy or CuPy."""
    if xp is not np:
        matrix.sum_duplicates()  # sorts the columns: CuPy would do it in its first product, by way of another format
    if matrix.nnz < 2**31:  # half the memory traffic of indices
        indices = (matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
        matrix = sparse.csr_array((matrix.data, *indices), shape=matrix.shape)
    if xp is np:
        return matrix
    from cupyx.scipy.sparse import csr_matrix

    return csr_matrix(sparse.csr_matrix(matrix))


def product(matrix: Matrix, vector: Array, xp: Any) -> Array:
    """A real matrix, sparse or not, times a real or complex vector of the module xp."""
    if vector.dtype.kind == "c":
        parts = xp.ascontiguousarray(vector).view(float).reshape(-1, 2)
        return xp.ascontiguousarray(matrix @ parts).view(complex).ravel()
    return matrix @ vector
