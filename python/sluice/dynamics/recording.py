"""CUDA graphs: work on a GPU that is recorded once and replayed as a whole."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from threading import RLock
from types import ModuleType
from typing import Any
from weakref import finalize

import numpy as np

from .space import Array

_one_at_a_time = RLock()


class Recording:
    """Records the work of a function of vectors on a GPU as a CUDA graph at its first call, and then replays it.

    On small grids, launching each kernel by itself takes several times as long as running it. On a CPU the function is
    simply called. The function takes one or more vectors and returns one or a tuple of them. It must do the same
    operations each time, use only its arguments and arrays that do not change, and not wait for the GPU. A graph keeps
    the memory of all intermediate results.
    """

    def __init__(self, xp: ModuleType) -> None:
        self._xp = xp
        self._graphs: dict[tuple[Any, ...], _Graph] = {}

    def run(self, function: Callable[..., Any], *vectors: Array) -> Any:
        """Returns function(*vectors). On a GPU, later calls with vectors of these types replay the first one."""
        if self._xp is np:
            return function(*vectors)
        kind = tuple((vector.dtype, vector.shape) for vector in vectors)
        with _one_at_a_time:
            if kind not in self._graphs:
                self._graphs[kind] = _Graph(function, vectors)
            return self._graphs[kind](*vectors)


class _Graph:
    """A CUDA graph of a function of vectors, with a memory pool of its own."""

    def __init__(self, function: Callable[..., Any], vectors: tuple[Array, ...]) -> None:
        import cupy

        with _kept_plans(cupy) as plans:
            function(*vectors)  # makes what lasts in the usual memory: kernels, plans of transforms, matrices
            self._plans = plans()  # the graph uses them
            cupy.get_default_memory_pool().free_all_blocks()
            pool = cupy.cuda.MemoryPool()
            stream = cupy.cuda.Stream(non_blocking=True)
            with cupy.cuda.using_allocator(pool.malloc):
                self._arguments = [vector.copy() for vector in vectors]
                cupy.cuda.Device().synchronize()
                with stream:
                    function(*self._arguments)  # takes the memory from the GPU
                    stream.synchronize()
                    self._result, self._graph = _recorded(stream, function, self._arguments)
        finalize(self, _give_back, pool, vars(self)).atexit = False

    def __call__(self, *vectors: Array) -> Any:
        for argument, vector in zip(self._arguments, vectors, strict=True):
            argument[...] = vector
        self._graph.launch()
        if isinstance(self._result, tuple):
            return tuple(vector.copy() for vector in self._result)
        return self._result.copy()


def _give_back(pool: Any, attributes: dict[str, Any]) -> None:
    """Gives the memory of a graph back to the GPU. A pool that ends before the arrays in it would lose some of it."""
    attributes.clear()
    pool.free_all_blocks()


@contextmanager
def _kept_plans(cupy: Any) -> Iterator[Callable[[], list[Any]]]:
    """Lets CuPy cache plans of transforms, even if the program has limited this, and lists them."""
    cache = cupy.fft.config.get_plan_cache()
    limits = cache.get_size(), cache.get_memsize()
    limited = 0 <= limits[0] < 4 or limits[1] >= 0
    if limited:
        cache.set_size(4)
        cache.set_memsize(-1)
    try:
        yield lambda: [node.plan for _, node in cache]
    finally:
        if limited:
            cache.set_size(limits[0])
            cache.set_memsize(limits[1])


def _recorded(stream: Any, function: Callable[..., Any], arguments: list[Array]) -> tuple[Any, Any]:
    """The result of a function, in which nothing is computed yet, and the graph that computes it."""
    collecting = gc.isenabled()
    gc.disable()  # a finalizer of the program that waits for the GPU would end the recording
    stream.begin_capture()
    try:
        result = function(*arguments)
        return result, stream.end_capture()
    except BaseException:
        with suppress(Exception):
            stream.end_capture()
        raise
    finally:
        if collecting:
            gc.enable()
