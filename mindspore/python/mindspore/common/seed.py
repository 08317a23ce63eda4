"""The global seed: of random ops (a counter in the core) and of initializers (a NumPy generator)."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore import _core

_seed: int | None = None
_generator: np.random.Generator | None = None


def set_seed(seed: int) -> None:
    """Seeds random ops, initializers and NumPy's global generator; the same seed gives the same program the same numbers."""
    global _seed, _generator
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"For 'set_seed', 'seed' must be an int, but got {type(seed).__name__}.")
    if not 0 <= seed < 1 << 32:
        raise ValueError(f"For 'set_seed', 'seed' must be in [0, 2**32), but got {seed}.")
    _seed = int(seed)
    _drawn.clear()
    _generator = np.random.default_rng(_seed)
    np.random.seed(_seed)
    _core.set_seed(_seed)


def get_seed() -> int | None:
    """The seed last set, or None."""
    return _seed


def _init_rng() -> np.random.Generator:
    """The generator that initializers draw from."""
    global _generator
    if _generator is None:
        _generator = np.random.default_rng()
    return _generator


_drawn: dict[str, int] = {}


def _get_graph_seed(op_seed: int | None, kernel_name: str) -> tuple[int, int]:
    """Two seeds for a random op: the global one, and the op's own or one that differs from call to call."""
    if op_seed:
        return _seed or 0, op_seed
    if _seed is None:
        return 0, 0
    _drawn[kernel_name] = _drawn.get(kernel_name, 0) + 1
    return _seed, _drawn[kernel_name]


def random_state() -> dict[str, Any]:
    """All that the global seed decides, as it is now, in values that JSON can hold."""
    name, keys, *rest = np.random.get_state(legacy=True)  # of the generator that set_seed seeds
    return {
        "seed": _seed,
        "drawn": dict(_drawn),
        "ops": [int(n) for n in _core.get_random_state()],
        "initializers": _init_rng().bit_generator.state,
        "numpy": [name, np.asarray(keys).tolist(), *rest],
    }


def set_random_state(state: dict[str, Any]) -> None:
    """Go on from a state that `random_state` gave."""
    global _seed
    _seed = state["seed"]
    _drawn.clear()
    _drawn.update(state["drawn"])
    _core.set_random_state(*state["ops"])
    _init_rng().bit_generator.state = state["initializers"]
    name, keys, *rest = state["numpy"]
    np.random.set_state((name, np.array(keys, np.uint32), *rest))


__all__ = ["get_seed", "set_seed"]
