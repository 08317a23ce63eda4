"""Where the iterator of a dataset is: the only place that asks one, and moves one. A dataset that has `restore` for what its
iterators' `state()` gives is moved by that; what only knows its seed and epoch, by them; anything else that is iterated is run
through."""

from __future__ import annotations

from typing import Any

_WITHIN = ("shards", "samples", "rows", "common", "batch", "cut")  # about a place within an epoch


def position_of(iterator: Any) -> dict[str, Any]:
    """What decides the order and the random changes of an iterator's rows, in values that JSON can hold."""
    if callable(getattr(iterator, "state", None)):
        return dict(iterator.state())
    seed = getattr(getattr(iterator, "_run", None), "seed", None)
    return {"seed": None if seed is None else int(seed)}


def prepare(dataset: Any, position: dict[str, Any], epochs: int) -> None:
    """Before an iterator is made: let it begin as if so many epochs had been given, if the dataset can do that."""
    if "epoch" in position and callable(getattr(dataset, "restore", None)):
        begin = {name: value for name, value in position.items() if name not in _WITHIN}
        dataset.restore({**begin, "epoch": epochs, "step": 0})


def move(iterator: Any, position: dict[str, Any], epochs: int) -> None:
    """Let an iterator that has given no row yet begin as if so many epochs had been given, where it does not already."""
    if "epoch" in position and callable(getattr(iterator, "state", None)):
        return
    run = getattr(iterator, "_run", None)
    if run is None or position["seed"] is None or not hasattr(iterator, "_epoch"):
        for _ in range(epochs):
            for _ in iterator:
                pass
        return
    run.seed = position["seed"]
    iterator._epoch += epochs


__all__ = ["move", "position_of", "prepare"]
