"""Mixtures of experts: tokens in the order of the experts that they go to, and back."""

from __future__ import annotations

from mindspore import _core
from mindspore._core import Tensor


def _not_padded(name: str, padded_mode: bool) -> None:
    if padded_mode:
        raise ValueError(f"For '{name}', 'padded_mode' must be False, but got True.")


def _check_rows(name: str, tokens: Tensor, indices: Tensor) -> None:
    if tokens.ndim != 2 or indices.ndim not in (1, 2):
        raise ValueError(
            f"For '{name}', 'tokens' must be a matrix and 'indices' a vector or a matrix, but got shapes {tokens.shape} and "
            f"{indices.shape}."
        )
    if tokens.shape[0] != indices.shape[0]:
        raise ValueError(
            f"For '{name}', 'tokens' and 'indices' must have as many rows, but got {tokens.shape[0]} and "
            f"{indices.shape[0]}."
        )
    if indices.dtype not in (_core.int32, _core.int64):
        raise TypeError(f"For '{name}', 'indices' must be int32 or int64, but got {indices.dtype}.")


def moe_token_permute(
    tokens: Tensor, indices: Tensor, num_out_tokens: int | None = None, padded_mode: bool = False
) -> tuple[Tensor, Tensor]:
    """Tokens in the order of their experts.

    Args:
        tokens: [tokens, features].
        indices: the experts of each token, [tokens, k] or [tokens].
        num_out_tokens: how many of the rows are kept, from the first on; all unless said.
        padded_mode: must be False.

    Returns:
        The rows, those of one expert together and in their old order; and for each place of `indices` its row in there.

    Examples:
        >>> rows, places = ops.moe_token_permute(Tensor([[1.0], [2.0]]), Tensor([[1, 0], [0, 1]]))
        >>> rows.asnumpy().ravel().tolist(), places.asnumpy().tolist()
        ([1.0, 2.0, 1.0, 2.0], [2, 0, 1, 3])
    """
    _not_padded("moe_token_permute", padded_mode)
    _check_rows("moe_token_permute", tokens, indices)
    experts = indices.reshape(-1)
    count = experts.shape[0]
    kept = count if num_out_tokens is None else num_out_tokens
    if not 0 <= kept <= count:
        raise ValueError(
            f"For 'moe_token_permute', 'num_out_tokens' must be in [0, {count}], but got {kept}."
        )
    each = indices.shape[1] if indices.ndim == 2 else 1
    order = experts.argsort()  # which leaves equals in their order
    rows = tokens.gather((order[:kept] // each).astype(_core.int64), 0)
    return rows, order.argsort().astype(_core.int32)


def moe_token_unpermute(
    permuted_tokens: Tensor,
    sorted_indices: Tensor,
    probs: Tensor | None = None,
    padded_mode: bool = False,
    restore_shape: tuple | list | None = None,
) -> Tensor:
    """Undoes `moe_token_permute`: each token is the sum of what its experts made of it, weighted if there are weights.

    Args:
        permuted_tokens: the rows, [tokens * k, features]; rows that were dropped count as zeros.
        sorted_indices: where the row of each token and expert is, [tokens * k].
        probs: weights [tokens, k]; without them k is 1.
        padded_mode: must be False.
        restore_shape: without meaning unless padded.
    """
    name = "moe_token_unpermute"
    _not_padded(name, padded_mode)
    if permuted_tokens.ndim != 2 or sorted_indices.ndim != 1:
        raise ValueError(
            f"For '{name}', 'permuted_tokens' must be a matrix and 'sorted_indices' a vector, but got shapes "
            f"{permuted_tokens.shape} and {sorted_indices.shape}."
        )
    count, (kept, features) = sorted_indices.shape[0], permuted_tokens.shape
    if probs is not None and (probs.ndim != 2 or probs.shape[0] * probs.shape[1] != count):
        raise ValueError(
            f"For '{name}', 'probs' must be a matrix of {count} elements, as 'sorted_indices' has, but got shape "
            f"{probs.shape}."
        )
    if kept == 0:
        rows = permuted_tokens.new_zeros((count, features))
    else:
        rows = permuted_tokens.gather(sorted_indices.clip(0, kept - 1), 0)
        if kept < count:
            rows = rows * (sorted_indices < kept).astype(rows.dtype).reshape((count, 1))
    if probs is None:
        return rows
    wide = rows.reshape((*probs.shape, features)).astype(_core.float32)
    weighted = wide * probs.astype(_core.float32).reshape((*probs.shape, 1))
    return weighted.sum(1).astype(permuted_tokens.dtype)


__all__ = ["moe_token_permute", "moe_token_unpermute"]
