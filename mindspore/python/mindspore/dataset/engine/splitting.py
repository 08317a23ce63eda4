"""Parts of a dataset that do not overlap."""

from __future__ import annotations

from typing import Any

from mindspore.dataset.core.validator_helpers import check_int


def split_counts(sizes: list[Any], total: int) -> list[int]:
    """Rows of each part, from row counts or fractions of `total`."""
    if not sizes:
        raise ValueError("For 'split', sizes must not be empty.")
    if all(isinstance(s, int) and not isinstance(s, bool) for s in sizes):
        counts = [check_int("split", "sizes", s, 1) for s in sizes]
        if sum(counts) != total:
            raise RuntimeError(
                f"For 'split', the sum of sizes must be {total}, but got {sum(counts)}."
            )
        return counts
    if (
        not all(isinstance(s, float) and 0.0 < s <= 1.0 for s in sizes)
        or abs(sum(sizes) - 1.0) > 1e-6
    ):
        raise ValueError(
            f"For 'split', sizes must be row counts, or fractions whose sum is 1, but got {sizes}."
        )
    counts = [round(total * s) for s in sizes]
    # Rounding may miss the total by a few rows: the largest parts take them.
    step = 1 if sum(counts) < total else -1
    for index in sorted(range(len(counts)), key=lambda i: -counts[i])[: abs(total - sum(counts))]:
        counts[index] += step
    if min(counts) < 1:
        raise RuntimeError(
            f"For 'split', every part must have a row, but {sizes} of {total} rows gives {counts}."
        )
    return counts
