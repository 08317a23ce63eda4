"""The registry of gradients of users' primitives, in its place since 2.0."""

from mindspore.ops._user_primitive import bprop_getters

__all__ = ["bprop_getters"]
