"""Where the iterator of a dataset is: the only place that moves one. What knows its seed and epoch is moved by them; anything
else that is iterated is run through."""

from __future__ import annotations

from typing import Any


def seed_of(iterator: Any) -> int | None:
    """What decides the order and the random changes of an iterator's rows; None where that is not known."""
    seed = getattr(getattr(iterator, "_run", None), "seed", None)
    return None if seed is None else int(seed)


def move_to_epoch(iterator: Any, seed: int | None, epochs: int) -> None:
    """Let an iterator that has given no row yet begin as if it had given so many epochs, with a seed."""
    run = getattr(iterator, "_run", None)
    if run is None or seed is None or not hasattr(iterator, "_epoch"):
        for _ in range(epochs):
            for _ in iterator:
                pass
        return
    run.seed = seed
    iterator._epoch += epochs


__all__ = ["move_to_epoch", "seed_of"]
