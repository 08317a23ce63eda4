"""Options of compilation, as one value to hand around."""

from __future__ import annotations

from typing import Any

from mindspore import tuning

_CHOICES = {
    "jit_level": ("", "O0", "O1", "O2", "O3"),
    "exc_mode": ("auto", "sink", "no_sink"),
    "jit_syntax_level": ("", "STRICT", "LAX"),
    "debug_level": ("RELEASE", "DEBUG"),
    "infer_boost": ("off", "on"),
}


class JitConfig:
    """Options for `jit` and `Cell.set_jit_config`.

    Args:
        jit_level: "O0" compiles without the passes that only make graphs faster, such as fusion.
        jit_syntax_level: "STRICT" makes what cannot be compiled an error; with "LAX" it runs eagerly, with a warning.
        tune_budget: the time that tuning of generated kernels may take in this process, such as "20s"; it is given where
            the options are used.

    The other options choose among compilers of other devices: they are checked and kept.
    """

    def __init__(
        self,
        jit_level: str = "",
        exc_mode: str = "auto",
        jit_syntax_level: str = "",
        debug_level: str = "RELEASE",
        infer_boost: str = "off",
        **kwargs: Any,
    ):
        self.jit_config_dict: dict[str, Any] = {
            **kwargs,
            "jit_level": jit_level,
            "exc_mode": exc_mode,
            "jit_syntax_level": jit_syntax_level,
            "debug_level": debug_level,
            "infer_boost": infer_boost,
        }
        for name, choices in _CHOICES.items():
            value = self.jit_config_dict[name]
            if value not in choices:
                raise ValueError(
                    f"For 'JitConfig', '{name}' must be one of {[c for c in choices if c]}, but got {value!r}."
                )

        self.tune_budget = tuning.seconds_of(kwargs.get("tune_budget", 0), "JitConfig")

    @property
    def fast(self) -> bool:
        """Whether the passes that only make graphs faster run."""
        return self.jit_config_dict["jit_level"] != "O0"

    @property
    def strict(self) -> bool:
        """Whether what cannot be compiled is an error."""
        return self.jit_config_dict["jit_syntax_level"] == "STRICT"
