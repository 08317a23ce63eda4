"""The state of a training beside its parameters: where it is, and what its random numbers, its loss scale and its callbacks go on
from. It is part of a checkpoint, under a name of its own, which load_checkpoint leaves out."""

from __future__ import annotations

import base64
import json
import os
import random
from collections.abc import Iterable
from typing import Any

import numpy as np

from mindspore import _core, context, log
from mindspore.common import seed as global_seed
from mindspore.common.tensor import Tensor
from mindspore.train import _manifest
from mindspore.tuning import processor

NAME = "mindspore.training_state"
_FORMAT = 1
_SUFFIXES = (".ckpt", ".safetensors")


def packed(state: dict[str, Any]) -> Tensor:
    """A state as checkpoints hold it: JSON text, as bytes."""
    text = json.dumps({"format": _FORMAT, **state}, default=_number, separators=(",", ":"))
    return Tensor(np.frombuffer(text.encode(), np.uint8).copy())


def _number(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} is not part of the state of a training.")


def unpacked(value: Any, path: str) -> dict[str, Any]:
    """The state that a file holds."""
    try:
        state = json.loads(value.asnumpy().tobytes())
        known = state["format"] == _FORMAT
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(f"The state of the training in '{path}' is damaged: {error}.") from None
    if not known:
        raise ValueError(
            f"The state of the training in '{path}' has the format {state['format']!r}, which there is not here."
        )
    return state


def random_state() -> dict[str, Any]:
    """What all random numbers of the process come from, as values that JSON can hold."""
    version, keys, gauss = random.getstate()
    state = global_seed.random_state()
    state["numpy"][1] = _text(state["numpy"][1])
    return {**state, "python": [version, _text(keys), gauss]}


def set_random_state(state: dict[str, Any]) -> None:
    """Go on from a state that `random_state` gave."""
    name, keys, *rest = state["numpy"]
    global_seed.set_random_state({**state, "numpy": [name, _words(keys), *rest]})
    version, keys, gauss = state["python"]
    random.setstate((version, tuple(_words(keys)), gauss))


def _text(words: Iterable[int]) -> str:
    return base64.b85encode(np.array(words, "<u4").tobytes()).decode()


def _words(text: str) -> list[int]:
    return np.frombuffer(base64.b85decode(text), "<u4").tolist()


def machine() -> list[Any]:
    """What decides the last bits of sums beside the program."""
    isa = os.environ.get("MS_MAX_ISA", "")
    return [processor(), isa, _core.num_threads(), context.get_context("mode")]


def compare_machine(there: Any) -> None:
    """Say once that a training goes on where its last bits may differ."""
    here = machine()
    if there != here:
        log.warn_once(
            "resume",
            "The training goes on under other conditions than it was saved under, so its last bits may differ from those of a "
            f"run without a stop: processor, MS_MAX_ISA, threads and mode were {there}, and are {here}.",
        )


def numbers_of(thing: Any) -> dict[str, Any]:
    """The attributes of an object that are plain numbers."""
    return {k: v for k, v in vars(thing).items() if isinstance(v, (bool, int, float))}


def _is_checkpoint(entry: os.DirEntry[str]) -> bool:
    if entry.name.endswith(_manifest.SUFFIX):
        return _manifest.is_complete(entry.path)
    return entry.name.endswith(_SUFFIXES) and entry.is_file()


def newest(folder: str) -> list[str]:
    """The checkpoints of a folder, newest first."""
    with os.scandir(folder) as entries:
        found = [e for e in entries if _is_checkpoint(e)]
        return [e.path for e in sorted(found, key=lambda e: (e.stat().st_mtime_ns, e.name))][::-1]


__all__ = [
    "NAME",
    "compare_machine",
    "machine",
    "newest",
    "numbers_of",
    "packed",
    "random_state",
    "set_random_state",
    "unpacked",
]
