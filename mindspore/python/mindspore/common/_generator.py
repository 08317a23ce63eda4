"""Generators of random numbers. A state is a seed and how many ops have drawn; the default generator's is that of the core, from
which all random ops draw."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import Tensor
from mindspore.common import _late

_BYTES = 16


def _checked_seed(seed: Any) -> int:
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)):
        raise TypeError(f"For 'manual_seed', 'seed' must be an int, but got {type(seed).__name__}.")
    return int(seed) % 2**64


def _checked_state(state: Any) -> tuple[int, int]:
    if not isinstance(state, Tensor) or state.dtype is not _core.uint8 or state.size != _BYTES:
        got = f"{state.dtype}, {state.shape}" if isinstance(state, Tensor) else type(state).__name__
        raise TypeError(
            f"For 'set_rng_state', 'state' must be a Tensor of {_BYTES} UInt8, as get_rng_state gives, but got {got}."
        )
    seed, offset = np.frombuffer(state.asnumpy().tobytes(), np.uint64).tolist()
    return seed, offset


class Generator:
    """A source of random numbers with a state of its own."""

    def __init__(self) -> None:
        self._random = _core.RandomState(0, 0)

    @property
    def _state(self) -> tuple[int, int]:
        return self._random.at

    @_state.setter
    def _state(self, state: tuple[int, int]) -> None:
        self._random = _core.RandomState(*state)

    def __getstate__(self) -> dict[str, Any]:
        return {"_state": self._state}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._state = state["_state"]

    def seed(self) -> int:
        """Takes a seed from the system; the seed."""
        drawn = int.from_bytes(os.urandom(4), "little")
        self.manual_seed(drawn)
        return drawn

    def manual_seed(self, seed: int) -> Generator:
        """Begins with a seed; the generator."""
        self._state = (_checked_seed(seed), 0)
        return self

    def initial_seed(self) -> int:
        """The seed that it began with."""
        return self._state[0]

    def get_state(self) -> Tensor:
        """The state, 16 elements of UInt8: the seed, and how many ops have drawn."""
        return Tensor(np.frombuffer(np.array(self._state, np.uint64).tobytes(), np.uint8).copy())

    def set_state(self, state: Tensor) -> None:
        """Goes on from a state."""
        self._state = _checked_state(state)


class _Default(Generator):
    """The generator of the core."""

    def __init__(self) -> None:
        pass

    def __reduce__(self) -> str:
        return "default_generator"

    @property
    def _state(self) -> tuple[int, int]:
        return _core.get_random_state()

    @_state.setter
    def _state(self, state: tuple[int, int]) -> None:
        _core.set_random_state(*state)


default_generator = _Default()


@contextmanager
def drawing_from(generator: Generator | None) -> Iterator[None]:
    """Ops draw from a generator meanwhile; from the default one for None."""
    if generator is None or generator is default_generator:
        yield
        return
    if not isinstance(generator, Generator):
        raise TypeError(
            f"For 'Generator', 'generator' must be a Generator, but got {type(generator).__name__}."
        )
    if _core.is_tracing():
        raise _late.compiler.Unsupported("an op draws from a generator of its own")
    # Of this thread alone: others go on to draw from what they drew from.
    drawn = generator._random
    before = _core.draw_from(drawn)
    try:
        yield
    finally:
        left = _core.draw_from(before)
        if left is not drawn:  # another state was set meanwhile
            generator._random = left


def seed() -> int:
    """Takes a seed from the system for the default generator; the seed."""
    return default_generator.seed()


def manual_seed(seed: int) -> Generator:
    """Begins with a seed; the default generator."""
    return default_generator.manual_seed(seed)


def initial_seed() -> int:
    """The seed that the default generator began with."""
    return default_generator.initial_seed()


def get_rng_state() -> Tensor:
    """The state of the default generator."""
    return default_generator.get_state()


def set_rng_state(state: Tensor) -> None:
    """The default generator goes on from a state."""
    default_generator.set_state(state)


__all__ = [
    "Generator",
    "default_generator",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]
