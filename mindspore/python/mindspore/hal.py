"""`mindspore.hal`: what `mindspore.runtime` says of memory and streams, under its older name, and which devices there are."""

from mindspore._machine import (
    device_count,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_available,
    is_initialized,
)
from mindspore.runtime import *  # noqa: F403
from mindspore.runtime import __all__ as _runtime_names

__all__ = [
    *_runtime_names,
    "device_count",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "is_available",
    "is_initialized",
]
