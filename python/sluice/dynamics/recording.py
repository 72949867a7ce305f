"""Work on a GPU that is recorded once and repeated as a whole."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any
from weakref import finalize

import numpy as np

from .space import Array


class Recording:
    """The work of a function of vectors on a GPU, recorded as a CUDA graph when it runs first.

    On small grids, starting each operation by itself takes several times as long as the operation. On a CPU the
    function is called each time. The function takes one or more vectors and returns one or a tuple of them. It
    must do the same operations each time, on its arguments and on arrays that remain as they are, and wait for no
    result.
    """

    def __init__(self, xp: ModuleType) -> None:
        self._xp = xp
        self._graphs: dict[str, _Graph] = {}

    def run(self, function: Callable[..., Any], *vectors: Array) -> Any:
        """function(*vectors)"""
        if self._xp is np:
            return function(*vectors)
        kind = "".join(vector.dtype.char for vector in vectors)
        if kind not in self._graphs:
            self._graphs[kind] = _Graph(function, vectors)
        return self._graphs[kind](*vectors)


class _Graph:
    """A CUDA graph of a function of vectors, which works in memory of its own."""

    def __init__(self, function: Callable[..., Any], vectors: tuple[Array, ...]) -> None:
        import cupy

        pool = cupy.cuda.MemoryPool()
        finalize(self, pool.free_all_blocks).atexit = False  # a pool keeps what was given back to it
        stream = cupy.cuda.Stream(non_blocking=True)
        with cupy.cuda.using_allocator(pool.malloc):
            self._arguments = [vector.copy() for vector in vectors]
            cupy.cuda.Device().synchronize()
            with stream:
                function(*self._arguments)  # compiles kernels, plans transforms
                self._plans = [node.plan for _, node in cupy.fft.config.get_plan_cache()]  # used by the graph: kept
                stream.synchronize()
                stream.begin_capture()
                try:
                    self._result = function(*self._arguments)
                finally:
                    self._graph = stream.end_capture()

    def __call__(self, *vectors: Array) -> Any:
        for argument, vector in zip(self._arguments, vectors, strict=True):
            argument[...] = vector
        self._graph.launch()
        if isinstance(self._result, tuple):
            return tuple(vector.copy() for vector in self._result)
        return self._result.copy()
