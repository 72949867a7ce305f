"""CUDA graphs: work on a GPU that is recorded once and replayed as a whole."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any
from weakref import finalize

import numpy as np

from .space import Array


class Recording:
    """Records the work of a function of vectors on a GPU as a CUDA graph at its first call, and then replays it.

    On small grids, launching each kernel by itself takes several times as long as running it. On a CPU the function is
    simply called. The function takes one or more vectors and returns one or a tuple of them. It must do the same
    operations each time, use only its arguments and arrays that do not change, and not wait for the GPU.
    """

    def __init__(self, xp: ModuleType) -> None:
        self._xp = xp
        self._graphs: dict[str, _Graph] = {}

    def run(self, function: Callable[..., Any], *vectors: Array) -> Any:
        """Returns function(*vectors). On a GPU, later calls with vectors of these types replay the first one."""
        if self._xp is np:
            return function(*vectors)
        kind = "".join(vector.dtype.char for vector in vectors)
        if kind not in self._graphs:
            self._graphs[kind] = _Graph(function, vectors)
        return self._graphs[kind](*vectors)


class _Graph:
    """A CUDA graph of a function of vectors, with a memory pool of its own."""

    def __init__(self, function: Callable[..., Any], vectors: tuple[Array, ...]) -> None:
        import cupy

        pool = cupy.cuda.MemoryPool()
        finalize(self, pool.free_all_blocks).atexit = False  # a pool keeps its free blocks
        stream = cupy.cuda.Stream(non_blocking=True)
        with cupy.cuda.using_allocator(pool.malloc):
            self._arguments = [vector.copy() for vector in vectors]
            cupy.cuda.Device().synchronize()
            with stream:
                function(*self._arguments)  # compiles kernels, plans transforms
                self._plans = [node.plan for _, node in cupy.fft.config.get_plan_cache()]  # the graph uses them
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
