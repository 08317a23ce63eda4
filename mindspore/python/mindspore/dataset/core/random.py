"""Random numbers of the pipeline.

Every draw is tied to (seed, operation, epoch, row), not to the order in which threads reach it: the
same seed gives the same data with any number of workers.
"""

from __future__ import annotations

import threading

import numpy as np

from mindspore.dataset import config

_local = threading.local()


def make_rng(*key: int) -> np.random.Generator:
    """A generator of its own for every key."""
    return np.random.Generator(
        np.random.PCG64(np.random.SeedSequence([k & 0xFFFFFFFF for k in key]))
    )


def set_row(*key: int) -> None:
    """Says which row the transforms of this thread work on.

    Its generator is made at the first draw.
    """
    _local.key = key
    _local.rng = _local.raw = None


class rows_of_pipeline:
    """While rows are worked on; behind it the thread draws as before, as the program's own may do that work, too."""

    def __enter__(self) -> None:
        self._before = tuple(getattr(_local, name, None) for name in ("key", "rng", "raw"))

    def __exit__(self, *_: object) -> None:
        _local.key, _local.rng, _local.raw = self._before


def row_rng() -> np.random.Generator:
    """The generator of the row being transformed; outside a pipeline, one per thread."""
    rng = getattr(_local, "rng", None)
    if rng is None:
        key = getattr(_local, "key", None)
        if key is None:
            seed = config._explicit_seed()
            key = (np.random.SeedSequence().entropy if seed is None else seed,)
        rng = _local.rng = make_rng(*key)
    return rng


def row_key() -> int:
    """64 bits of row_rng, which cost less than an integer of a range."""
    raw = getattr(_local, "raw", None)
    if raw is None:
        raw = _local.raw = row_rng().bit_generator.random_raw
    return raw()  # type: ignore[no-any-return]


def draw_bits(rng: np.random.Generator) -> int:
    """64 bits of the row being transformed; outside a pipeline, of `rng`."""
    if getattr(_local, "key", None) is not None:
        return row_key()
    return rng.bit_generator.random_raw()  # type: ignore[no-any-return]
