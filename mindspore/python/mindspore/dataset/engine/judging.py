"""What the doctor makes of the facts about rows: each judgement gives the rows and a sentence, or None."""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from mindspore.dataset.engine.examining import Facts

Judged = tuple[list[int], str] | None

_SHOWN = 5  # examples in a sentence
_RARE = 0.02  # of the usual number of rows of a class: fewer are a mistake, or a class of its own
_USUAL = 20  # rows that a class must usually have, for one to be rare
_UNEVEN = 10  # times as many rows in one class as in another
_FAR = 10.0  # deviations from the middle
_SIGMA = 1.4826  # standard deviations in a median of distances
_FEW = 8  # rows of a class that say nothing of what is usual


def _some(values: Iterable[Any]) -> str:
    shown = [str(value) for value in values]
    more = f", and {len(shown) - _SHOWN} more" if len(shown) > _SHOWN else ""
    return ", ".join(shown[:_SHOWN]) + more


def damage(facts: Facts) -> Judged:
    """Rows that could not be read."""
    if not facts.damaged:
        return None
    few = [f"row {number} ({text})" for number, text in facts.damaged.items()]
    end = "; those behind were not looked at" if facts.cut_short else ""
    return list(facts.damaged), f"{len(few)} rows cannot be read: {_some(few)}{end}"


def endless(facts: Facts) -> Judged:
    """Rows with numbers that are none."""
    if not facts.endless:
        return None
    return facts.endless, f"{len(facts.endless)} rows hold nan or infinity: {_some(facts.endless)}"


def _groups(facts: Facts) -> list[list[int]]:
    """Places of rows with one content."""
    places = collections.defaultdict(list)
    for place, digest in enumerate(facts.digests):
        places[digest].append(place)
    return [group for group in places.values() if len(group) > 1]


def copies(facts: Facts) -> Judged:
    """Rows that are there several times."""
    groups = [[facts.numbers[place] for place in group] for group in _groups(facts)]
    if not groups:
        return None
    extra = sum(len(group) - 1 for group in groups)
    shown = _some(" = ".join(map(str, group[:4])) for group in groups)
    return [n for group in groups for n in group], f"{extra} rows are copies of others: {shown}"


def contradictions(facts: Facts) -> Judged:
    """Rows with one content and several labels."""
    found = []
    for group in _groups(facts):
        labels = {facts.labels[place] for place in group}
        if len(labels) > 1:
            found.append(([facts.numbers[place] for place in group], sorted(map(str, labels))))
    if not found:
        return None
    shown = _some(
        f"{' = '.join(map(str, rows[:4]))} ({', '.join(labels)})" for rows, labels in found
    )
    rows = [number for numbers, _ in found for number in numbers]
    return rows, f"{len(found)} contents have several labels: {shown}"


def leaks(facts: Facts, others: Facts) -> Judged:
    """Rows that are in other data, too."""
    theirs = dict(zip(others.digests, others.numbers))
    pairs = [(n, theirs[d]) for n, d in zip(facts.numbers, facts.digests) if d in theirs]
    if not pairs:
        return None
    shown = _some(f"{ours} = {other}" for ours, other in pairs)
    return [n for n, _ in pairs], f"{len(pairs)} rows are in the test data, too: {shown}"


def unlike(facts: Facts) -> Judged:
    """Rows that are far from all others of their class."""
    classes = collections.defaultdict(list)
    for place, (label, look) in enumerate(zip(facts.labels, facts.looks)):
        if look is not None:
            classes[str(label), look.size].append((place, look))
    found: list[int] = []
    for members in classes.values():
        if len(members) < _FEW:
            continue
        looks = np.stack([look for _, look in members])
        with np.errstate(all="ignore"):
            spread = np.abs(looks - np.median(looks, 0)).mean(1)
        usual = np.median(spread)
        found += [facts.numbers[members[i][0]] for i in far(spread) if spread[i] > usual]
    if not found:
        return None
    found.sort()
    return found, f"{len(found)} rows look unlike all others of their class: {_some(found)}"


def far(values: np.ndarray) -> list[int]:
    """Places of values that are far from the middle, counted in the usual distance from it."""
    middle = np.median(values)
    distance = np.abs(values - middle)
    usual = np.median(distance) * _SIGMA
    if not np.isfinite(usual) or usual == 0:
        return []
    return [int(i) for i in np.flatnonzero(distance > _FAR * usual)]


class Labels:
    """How labels are spread: classes, or measures where nearly each row has its own."""

    def __init__(self, facts: Facts, classes: int | None, whole: bool) -> None:
        self.numbers = facts.numbers
        self.labels = [_plain(label) for label in facts.labels]
        self.classes, self.whole = classes, whole
        self.counts = collections.Counter(self.labels)
        numeric = all(isinstance(label, (int, float)) for label in self.counts)
        real = any(isinstance(label, float) and not label.is_integer() for label in self.counts)
        many = len(self.counts) * 2 > len(self.labels) and classes is None
        self.measured = numeric and (real or many) and len(self.labels) > _FEW
        self.strange = self._far() if self.measured else self._no_classes()

    def _far(self) -> set[Any]:
        """Measures far from all others."""
        values = np.array(self.labels, np.float64)
        finite = np.flatnonzero(np.isfinite(values))
        strange = set(range(len(values))) - set(finite.tolist())
        strange |= {int(finite[i]) for i in far(values[finite])}
        return {self.labels[place] for place in strange}

    def _no_classes(self) -> set[Any]:
        """Labels that hardly any row has, or that are no class."""
        usual = float(np.median(list(self.counts.values()))) if self.counts else 0.0
        rare = max(_RARE * usual, 1) if usual >= _USUAL else 0
        strange = {label for label, count in self.counts.items() if count <= rare}
        for label in self.counts:
            if not isinstance(label, (int, float)):
                continue
            if not np.isfinite(label) or (
                self.classes is not None and not 0 <= label < self.classes
            ):
                strange.add(label)
        return strange

    def outliers(self) -> Judged:
        """Rows with labels that hardly any other has, that are no class, or that are far from all others."""
        if not self.strange:
            return None
        rows = [n for n, label in zip(self.numbers, self.labels) if label in self.strange]
        shown = _some(sorted(map(str, self.strange)))
        return rows, f"{len(rows)} rows have unusual labels: {shown}, in rows {_some(rows)}"

    def imbalance(self) -> Judged:
        """Classes with many more rows than others, or none."""
        if self.measured:
            return None
        counts = {v: c for v, c in self.counts.items() if v not in self.strange}
        words = []
        if len(counts) > 1:
            (most, large), (least, small) = (
                max(counts.items(), key=_count),
                min(counts.items(), key=_count),
            )
            if large >= _UNEVEN * small:
                words.append(f"class {most} has {large} rows, class {least} {small}")
        if self.classes is not None and self.whole:
            none = [number for number in range(self.classes) if number not in self.counts]
            whole = all(isinstance(label, int) for label in self.counts)
            if none and whole:
                words.append(f"no rows are of class {_some(none)}")
        return ([], "; ".join(words)) if words else None


def _count(item: tuple[Any, int]) -> int:
    return item[1]


def _plain(label: Any) -> Any:
    value = label.item() if isinstance(label, np.generic) else label
    return value if isinstance(value, (int, float, str, bytes)) else str(value)


__all__ = ["Labels", "contradictions", "copies", "damage", "endless", "far", "leaks", "unlike"]
