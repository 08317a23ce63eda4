"""The device of what is made inside of a `with`."""

from __future__ import annotations

from typing import Any

from mindspore import context


class DeviceCtx:
    """Inside of it, another device is the one that is set.

    Args:
        name: the device.
        device_id: which one of these; None leaves it.
    """

    def __init__(self, name: str, device_id: int | None = None) -> None:
        self.name = context.checked_device("DeviceCtx", "name", name)
        if device_id is not None and (type(device_id) is not int or device_id < 0):
            raise ValueError(
                f"For 'DeviceCtx', 'device_id' must be None or a number from 0 on, but got {device_id!r}."
            )
        self.device_id = device_id
        self._before: list[str] = []

    def __enter__(self) -> DeviceCtx:
        self._before.append(context.get_context("device_target"))
        context.set_context(device_target=self.name)
        return self

    def __exit__(self, *error: Any) -> None:
        context.set_context(device_target=self._before.pop())
