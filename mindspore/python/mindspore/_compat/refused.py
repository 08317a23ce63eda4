"""Names whose meaning this framework does not have. A script may import them; using one says why it cannot work."""

from __future__ import annotations

from typing import Any


def refusing(name: str, why: str) -> type:
    """A class that tells, when it is called, why there is no such thing."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"For '{name}', {why}.")

    return type(name, (), {"__new__": __new__, "__doc__": f"Not available: {why}."})
