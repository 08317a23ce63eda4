"""Compilation of functions, under the module path of the public API."""

from __future__ import annotations

from mindspore.compile import JitFunction, jit, ms_function


def mutable(input_data, dynamic_len=False):
    """Marks a value whose elements may change between calls of a compiled function; tensors always may."""
    del dynamic_len
    return input_data


def ms_class(cls):
    """Marks a class whose objects compiled functions may use; every class may."""
    return cls


jit_class = ms_class


def ms_memory_recycle():
    """Gives cached memory back; the allocator does so by itself."""


__all__ = ["JitFunction", "jit", "jit_class", "ms_class", "ms_function", "mutable"]
