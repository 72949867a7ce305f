"""Sparse matrices for vectors on the host or on a GPU."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

from .space import Array

Matrix = Any
"""A sparse matrix: a CSR matrix of SciPy or, on a GPU, a GpuMatrix."""
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


class GpuMatrix:
    """A sparse matrix in GPU memory that multiplies vectors, real or complex.

    All rows are padded to the length of the longest (ELLPACK format) and stored so that neighbouring threads read
    neighbouring numbers. Unlike the products of CuPy's own sparse matrices, these can be part of a CUDA graph.
    """

    def __init__(self, matrix: Matrix, xp: Any) -> None:
        self.shape = matrix.shape
        lengths = np.diff(matrix.indptr)
        self._width, rows = int(lengths.max(initial=0)), matrix.shape[0]
        row = np.repeat(np.arange(rows), lengths)
        place = np.arange(matrix.nnz) - matrix.indptr[:-1][row]
        values, columns = np.zeros((self._width, rows)), np.zeros((self._width, rows), np.int32)
        values[place, row] = matrix.data
        columns[place, row] = matrix.indices
        self._values, self._columns, self._xp = xp.asarray(values), xp.asarray(columns), xp

    def __matmul__(self, vector: Array) -> Array:
        if vector.shape != (self.shape[1],):
            raise ValueError(
                f"a matrix of shape {self.shape} cannot multiply an array of shape {vector.shape}: "
                "give one vector, of the grid of the operators"
            )
        vector = vector.astype(complex if vector.dtype.kind == "c" else float, copy=False)
        result = self._xp.empty(self.shape[0], vector.dtype)
        return _kernels()["sparse"](self._values, self._columns, vector, self.shape[0], self._width, result)


@cache
def _kernels() -> dict[str, Any]:
    """Kernels of CuPy. S is the type of the numbers in vectors, real or complex."""
    from cupy import ElementwiseKernel

    return {
        "sparse": ElementwiseKernel(
            "raw float64 values, raw int32 columns, raw S x, int64 rows, int32 width",
            "S y",
            "S sum = 0; "
            "for (int k = 0; k < width; ++k) sum += values[k * rows + i] * x[columns[k * rows + i]]; y = sum",
            "sluice_sparse_product",
        ),
        "dense": ElementwiseKernel(
            "raw float64 matrix, raw S x, int64 columns, int32 n",
            "S y",
            "const auto row = i / columns, column = i % columns; S sum = 0; "
            "for (int k = 0; k < n; ++k) sum += matrix[row * n + k] * x[k * columns + column]; y = sum",
            "sluice_dense_product",
        ),
    }


def to_module(matrix: Matrix, xp: Any) -> Matrix:
    """A sparse matrix of SciPy, for products with arrays of xp (NumPy or CuPy)."""
    matrix = sparse.csr_array(matrix)
    if xp is not np:
        return GpuMatrix(matrix, xp)
    if matrix.nnz < 2**31:  # 32-bit indices halve their memory traffic
        indices = (matrix.indices.astype(np.int32), matrix.indptr.astype(np.int32))
        matrix = sparse.csr_array((matrix.data, *indices), shape=matrix.shape)
    return matrix


def product(matrix: Matrix, vector: Array, xp: Any) -> Array:
    """A real sparse matrix times a real or complex vector of xp."""
    if xp is np and vector.dtype.kind == "c":
        parts = np.ascontiguousarray(vector).view(float).reshape(-1, 2)
        return np.ascontiguousarray(matrix @ parts).view(complex).ravel()
    return matrix @ vector


def product_along_z(matrix: Array, values: Array, xp: Any) -> Array:
    """A real matrix (nz, nz) times each line along z of values (nz, ...), real or complex, arrays of xp."""
    n, values = len(matrix), xp.ascontiguousarray(values)
    if xp is np:
        return (matrix @ values.view(float).reshape(n, -1)).view(values.dtype).reshape(values.shape)
    return _kernels()["dense"](matrix, values, values.size // n, n, xp.empty_like(values))
