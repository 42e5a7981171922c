"""Ask the processor to fetch memory that compiled code will read soon.

A sweep that does several multiply-adds an entry does not run far enough ahead of itself
to keep the memory busy; asking for the rows of the block after next does. It is a hint:
it changes no result.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils
from numba.extending import intrinsic

CACHE_LINE = 8  # doubles
READ, SECOND_LEVEL, DATA = 0, 2, 1


@intrinsic
def _prefetch_entry(typing_context: Any, array: Any, position: Any) -> Any:
    """Emit LLVM's prefetch for ``array.ravel()[position]`` of a C-ordered array."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        proxy = cgutils.create_struct_proxy(signature.args[0])
        data = proxy(context, builder, value=args[0]).data
        byte_pointer = ir.IntType(8).as_pointer()
        word = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [byte_pointer, word, word, word])
        hint = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        entry = builder.bitcast(builder.gep(data, [args[1]]), byte_pointer)
        builder.call(hint, [entry, word(READ), word(SECOND_LEVEL), word(DATA)])
        return context.get_dummy_value()

    return types.void(array, types.intp), generate


@njit(cache=True, nogil=True)
def prefetch(array: Any, start: int, stop: int) -> None:
    """Hint that entries start to stop, counted in C order, will be read soon."""
    for position in range(start, min(stop, array.size), CACHE_LINE):
        _prefetch_entry(array, position)  # type: ignore[call-arg]
