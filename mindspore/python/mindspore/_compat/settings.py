"""Groups of settings that are kept and given back: those of searches and servers that this build has not."""

from __future__ import annotations

from typing import Any


class Settings:
    """Values by name; a value is of the type of its default."""

    def __init__(self, what: str, defaults: dict[str, Any]):
        self.what, self.defaults = what, defaults
        self.values = dict(defaults)

    def set(self, **values: Any) -> None:
        """Changes values by name."""
        for name, value in values.items():
            kind = type(self._known("set", name))
            kinds = (int, float) if kind is float else kind
            if not isinstance(value, kinds) or (isinstance(value, bool) and kind is not bool):
                raise TypeError(
                    f"For 'set_{self.what}', '{name}' must be a {kind.__name__}, but got {type(value).__name__}."
                )
        self.values.update(values)

    def get(self, name: str) -> Any:
        """A value."""
        self._known("get", name)
        return self.values[name]

    def reset(self) -> None:
        """Back to the defaults."""
        self.values = dict(self.defaults)

    def _known(self, verb: str, name: str) -> Any:
        if name not in self.defaults:
            raise ValueError(
                f"For '{verb}_{self.what}', there is no setting '{name}'; there are {sorted(self.defaults)}."
            )
        return self.defaults[name]
