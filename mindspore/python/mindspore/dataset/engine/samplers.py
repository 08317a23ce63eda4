"""Samplers: in which order, and which, rows of a source are read."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from enum import Enum
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.dataset.core.random import make_rng
from mindspore.dataset.core.recorded import Recorded
from mindspore.dataset.core.user_code import describe, failure
from mindspore.dataset.core.validator_helpers import INT64_MAX, check_int, check_type
from mindspore.dataset.engine.replay import Renewed, again


class Draw:
    """What the draws of a sampler depend on: the seed, the place in the pipeline, the epoch."""

    def __init__(
        self, seed: int, seeded: bool, node: int, epoch: int, labels: Callable[[], Any]
    ) -> None:
        self.seeded = seeded
        self.labels = labels
        self._key = (seed, seed >> 32, node, epoch)

    def rng(self) -> np.random.Generator:
        """The generator of this epoch."""
        return make_rng(*self._key)

    def common_rng(self) -> np.random.Generator:
        """The same, and one that all shards have where no seed was set."""
        return self.rng() if self.seeded else make_rng(0, 0, self._key[-1])


class Shuffle(str, Enum):
    """How much a dataset is shuffled."""

    FALSE = "false"
    GLOBAL = "global"
    PARTIAL = "partial"
    FILES = "file"
    INFILE = "infile"
    ADAPTIVE = "adaptive"


class Sampler(Recorded):
    """Base of all samplers; a user's own one defines __iter__, which gives indices.

    With a child sampler (`add_child`) the indices count within what the child chose.
    """

    def __init__(self, num_samples: int | None = None) -> None:
        if num_samples is not None:
            check_int(type(self).__name__, "num_samples", num_samples, 0)
        self.num_samples = num_samples or None
        self.child_sampler: Sampler | None = None
        self.dataset_size = 0
        self.child_sizes: list[int] = []
        self._renewed = Renewed(f"For 'sampler', {type(self).__name__}")

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"For '{type(self).__name__}', the sampler must define __iter__.")

    def add_child(self, sampler: Sampler) -> None:
        """Let `sampler` choose first."""
        if self.child_sampler is not None:
            raise RuntimeError("For 'add_child', a sampler must have at most one child.")
        self.child_sampler = sampler

    def get_child(self) -> Sampler | None:
        """The sampler that chooses first, if any."""
        return self.child_sampler

    def get_num_samples(self) -> int | None:
        """The most rows to read, or None."""
        return self.num_samples

    def size(self, length: int) -> int | None:
        """How many indices come out for a source of `length` rows; None when only reading tells."""
        if self.child_sampler is not None:
            inner = self.child_sampler.size(length)
            if inner is None:
                return None
            length = inner
        return self._size(length)

    def order(self, length: int, draw: Draw) -> Iterable[Any]:
        """The indices of one epoch."""
        if self.child_sampler is None:
            return self._indices(length, draw)
        child = self.child_sampler
        chosen = child._checked(child.order(length, draw), length)
        picked = self._checked(
            self._indices(len(chosen), draw), len(chosen), ", the rows its child chose"
        )
        return chosen[picked]

    def _checked(self, given: Iterable[Any], length: int, of: str = "") -> np.ndarray:
        """The indices that were given, each of which must be one of so many rows."""
        name = type(self).__name__
        whole = given if isinstance(given, np.ndarray) else [_whole(name, i) for i in given]
        array = np.asarray(whole)
        wrong = array[(array < 0) | (array >= length)] if array.size else array
        if wrong.size:
            raise IndexError(
                f"For '{name}', an index must be in [0, {length}){of}, but got {int(wrong[0])}."
            )
        return array.astype(np.int64)

    def shuffles(self) -> bool:
        """Whether chance decides, here or in a child."""
        own = getattr(self, "shuffle", False) not in (False, None, Shuffle.FALSE)
        return own or (self.child_sampler is not None and self.child_sampler.shuffles())

    def engine_order(self, length: int, labels: Callable[[], Any]) -> Any:
        """The order as the engine has it, of a source of `length` rows."""
        regular = self._regular(length) if self.child_sampler is None else None
        if regular is not None:
            return regular

        def indices(seed: int, seeded: bool, node: int, epoch: int) -> np.ndarray:
            return self._checked(
                self.order(length, Draw(seed, seeded, node, epoch, labels)), length
            )

        return _core.dataset.function_order(indices, self.size(length), self.shuffles())

    def _regular(self, length: int) -> Any:
        """The order as a rule that the engine knows; None: only as an array of indices."""
        return None

    def _limited(self, count: int) -> int:
        return count if self.num_samples is None else min(count, self.num_samples)

    def _size(self, length: int) -> int | None:
        # How many indices come is known beforehand only where the user's class tells.
        return self._limited(len(self)) if hasattr(self, "__len__") else None

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        return self._of_user(length)

    def _of_user(self, length: int) -> Iterator[Any]:
        self.dataset_size = length
        count = 0
        try:
            iterator = iter(self)
            for index in iterator:
                if self.num_samples is not None and count >= self.num_samples:
                    return
                yield index
                count += 1
        except NotImplementedError:
            raise
        except Exception as error:
            raise failure("sampler", describe(type(self)), error) from error
        self._renewed.check(self, iterator, count)


def _whole(op: str, index: Any) -> int:
    """An index that a user gave; floats may be whole, truth values are a mask and no indices."""
    try:
        number = None if isinstance(index, (bool, np.bool_)) else int(index)
    except (TypeError, ValueError, OverflowError):
        number = None
    if number is None or number != index:
        raise TypeError(f"For '{op}', an index must be a whole number, but got {index!r:.80}.")
    return number


class BuiltinSampler(Sampler):
    """Base of the samplers below: sizes are known and indices are arrays."""

    def _size(self, length: int) -> int | None:
        return self._limited(length)


class SequentialSampler(BuiltinSampler):
    """Rows in order, from `start_index` on."""

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.start_index = check_int("SequentialSampler", "start_index", start_index or 0, 0)

    def _size(self, length: int) -> int | None:
        return self._limited(max(length - self.start_index, 0))

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        if self.start_index > length:
            raise RuntimeError(
                f"For 'SequentialSampler', start_index must be in [0, {length}], but got "
                f"{self.start_index}."
            )
        return np.arange(self.start_index, self.start_index + (self._size(length) or 0))

    def _regular(self, length: int) -> Any:
        if self.start_index > length:
            return None
        count = self._size(length) or 0
        return _core.dataset.regular_order(length, self.start_index, 1, count, False, False)


class RandomSampler(BuiltinSampler):
    """Rows at random, each once or (replacement) independently."""

    def __init__(
        self,
        replacement: bool = False,
        num_samples: int | None = None,
        shuffle: Shuffle = Shuffle.GLOBAL,
    ) -> None:
        check_type("RandomSampler", "replacement", replacement, bool)
        super().__init__(num_samples)
        self.replacement = replacement
        self.shuffle = shuffle

    def _size(self, length: int) -> int | None:
        if self.replacement and self.num_samples is not None and length:
            return self.num_samples
        return self._limited(length)

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        count = self._size(length) or 0
        rng = draw.rng()
        if self.replacement:
            return rng.integers(length, size=count)
        return rng.permutation(length)[:count]

    def _regular(self, length: int) -> Any:
        count = self._size(length) or 0
        if self.replacement:
            return _core.dataset.drawn_order(length, count)
        return _core.dataset.regular_order(length, 0, 1, count, True, False)


class SubsetSampler(BuiltinSampler):
    """The rows with the given indices, in their order."""

    def __init__(self, indices: Iterable[int], num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        if not isinstance(indices, (str, bytes)) and not isinstance(indices, Iterable):
            indices = [indices]
        self.indices = [self._index(i) for i in indices]
        if not self.indices:
            raise ValueError(f"For '{type(self).__name__}', indices must not be empty.")

    def _index(self, value: Any) -> int:
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(
                f"For '{type(self).__name__}', indices must hold int, but got {value!r}."
            )
        if not 0 <= value <= INT64_MAX:
            raise ValueError(
                f"For '{type(self).__name__}', indices must be in [0, {INT64_MAX}], but got {value}."
            )
        return int(value)

    def _size(self, length: int) -> int | None:
        return self._limited(len(self.indices))

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        return np.asarray(self.indices[: self._limited(len(self.indices))], np.int64)


class SubsetRandomSampler(SubsetSampler):
    """The rows with the given indices, shuffled."""

    shuffle = True

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        shuffled = draw.rng().permutation(np.asarray(self.indices, np.int64))
        return shuffled[: self._limited(len(shuffled))]


class WeightedRandomSampler(BuiltinSampler):
    """Rows drawn with the given weights."""

    shuffle = True

    def __init__(
        self, weights: Sequence[float], num_samples: int | None = None, replacement: bool = True
    ) -> None:
        super().__init__(num_samples)
        check_type("WeightedRandomSampler", "replacement", replacement, bool)
        values = list(weights) if isinstance(weights, (list, tuple, np.ndarray)) else [weights]
        if not values:
            raise ValueError("For 'WeightedRandomSampler', weights must not be empty.")
        for value in values:
            if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
                raise TypeError(
                    f"For 'WeightedRandomSampler', weights must hold numbers, but got {value!r}."
                )
        self.weights = np.asarray(values, np.float64)
        if (
            not np.isfinite(self.weights).all()
            or (self.weights < 0).any()
            or not self.weights.any()
        ):
            raise ValueError(
                "For 'WeightedRandomSampler', weights must be finite, not negative and not all "
                "zero."
            )
        self.replacement = replacement

    def _size(self, length: int) -> int | None:
        return length if self.num_samples is None else self.num_samples

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        if len(self.weights) > length:
            raise RuntimeError(
                f"For 'WeightedRandomSampler', there must be at most {length} weights, one for "
                f"each row, but got {len(self.weights)}."
            )
        count = self._size(length) or 0
        if not self.replacement and count > np.count_nonzero(self.weights):
            raise RuntimeError(
                f"For 'WeightedRandomSampler', without replacement num_samples must be at most "
                f"{np.count_nonzero(self.weights)}, but got {count}."
            )
        chances = self.weights / self.weights.sum()
        return draw.rng().choice(len(chances), count, replace=self.replacement, p=chances)


class DistributedSampler(BuiltinSampler):
    """The rows of one shard; all shards get equally many, the first rows fill up the last ones."""

    def __init__(
        self,
        num_shards: int,
        shard_id: int,
        shuffle: bool = True,
        num_samples: int | None = None,
        offset: int = -1,
    ) -> None:
        super().__init__(num_samples)
        self.num_shards = check_int("DistributedSampler", "num_shards", num_shards, 1)
        self.shard_id = check_int("DistributedSampler", "shard_id", shard_id, 0, num_shards - 1)
        check_type("DistributedSampler", "shuffle", shuffle, bool)
        self.shuffle = shuffle
        self.offset = check_int("DistributedSampler", "offset", offset, -1, num_shards - 1)

    def _size(self, length: int) -> int | None:
        return self._limited(-(-length // self.num_shards))

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        if length == 0:
            return np.arange(0)
        if self.shuffle:
            # All shards must draw the same permutation, also where no seed was set.
            order = draw.common_rng().permutation(length)
        else:
            order = np.arange(length)
        count = self._size(length) or 0
        first = self.shard_id - max(self.offset, 0)
        return order[(first + self.num_shards * np.arange(count)) % length]

    def _regular(self, length: int) -> Any:
        first = self.shard_id - max(self.offset, 0)
        count = self._size(length) or 0
        return _core.dataset.regular_order(
            length, first, self.num_shards, count, self.shuffle, True
        )


class PKSampler(BuiltinSampler):
    """`num_val` rows of each of `num_class` classes."""

    def __init__(
        self,
        num_val: int,
        num_class: int | None = None,
        shuffle: bool = False,
        class_column: str = "label",
        num_samples: int | None = None,
    ) -> None:
        super().__init__(num_samples)
        self.num_val = check_int("PKSampler", "num_val", num_val, 1)
        if num_class is not None:
            raise NotImplementedError(
                "For 'PKSampler', num_class must be None: all classes are used."
            )
        check_type("PKSampler", "shuffle", shuffle, bool)
        check_type("PKSampler", "class_column", class_column, str)
        self.shuffle = shuffle
        self.class_column = class_column

    def _size(self, length: int) -> int | None:
        return None

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        rng = draw.rng()
        labels = np.asarray(draw.labels()).reshape(-1)
        classes = np.unique(labels)
        if self.shuffle:
            classes = rng.permutation(classes)
        picked = []
        for label in classes:
            members = np.flatnonzero(labels == label)
            if self.shuffle:
                members = rng.permutation(members)
            picked.append(members[np.arange(self.num_val) % len(members)])
        indices = np.concatenate(picked)
        return indices[: self._limited(len(indices))]


class IterableSampler(Sampler):
    """Wraps any iterable of indices, such as a list."""

    def __init__(self, indices: Any, num_samples: int | None = None) -> None:
        super().__init__(num_samples)
        self.given = again(indices)

    def _size(self, length: int) -> int | None:
        return self._limited(len(self.given)) if hasattr(self.given, "__len__") else None

    def __iter__(self) -> Iterator[Any]:
        return iter(self.given)


class _Limited(Sampler):
    """The first `num_samples` that a sampler of the user's chooses; that one stays as it is."""

    def __init__(self, given: Sampler, num_samples: int) -> None:
        super().__init__(num_samples)
        self.given = given
        self.child_sampler = given.child_sampler
        self.shuffle = getattr(given, "shuffle", False)

    def _size(self, length: int) -> int | None:
        size = self.given._size(length)
        return None if size is None else self._limited(size)

    def _indices(self, length: int, draw: Draw) -> Iterable[Any]:
        return itertools.islice(self.given._indices(length, draw), self.num_samples)


def choose_sampler(
    op: str,
    sampler: Any,
    num_samples: int | None,
    shuffle: Any,
    num_shards: int | None,
    shard_id: int | None,
) -> Sampler:
    """The sampler that a dataset's arguments ask for."""
    if num_samples is not None:
        check_int(op, "num_samples", num_samples, 0)
        num_samples = num_samples or None
    if shuffle is not None and not isinstance(shuffle, Shuffle):
        check_type(op, "shuffle", shuffle, bool)
    if isinstance(shuffle, Shuffle):
        shuffle = shuffle is not Shuffle.FALSE
    if (num_shards is None) != (shard_id is None):
        raise ValueError(f"For '{op}', num_shards and shard_id must be given together.")
    if sampler is not None:
        if shuffle is not None or num_shards is not None:
            raise ValueError(f"For '{op}', sampler excludes shuffle, num_shards and shard_id.")
        return _user_sampler(op, sampler, num_samples)
    if num_shards is not None and shard_id is not None:
        check_int(op, "num_shards", num_shards, 1)
        check_int(op, "shard_id", shard_id, 0, num_shards - 1)
        return DistributedSampler(num_shards, shard_id, shuffle is not False, num_samples)
    if shuffle is False:
        return SequentialSampler(None, num_samples)
    return RandomSampler(False, num_samples)


def _user_sampler(op: str, sampler: Any, num_samples: int | None) -> Sampler:
    if isinstance(sampler, Sampler):
        if num_samples is not None:
            if isinstance(sampler, BuiltinSampler):
                raise ValueError(
                    f"For '{op}', num_samples must be given to the sampler, not beside it."
                )
            return _Limited(sampler, num_samples)
        return sampler
    if isinstance(sampler, Iterable) and getattr(sampler, "ndim", None) != 0:
        return IterableSampler(sampler, num_samples)
    raise TypeError(
        f"For '{op}', sampler must be a Sampler or an iterable of indices, but got "
        f"{type(sampler).__name__}."
    )
