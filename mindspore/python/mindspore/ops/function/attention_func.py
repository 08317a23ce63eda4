"""Scaled dot-product attention in the forms that users and layers call."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from mindspore._core import Tensor
from mindspore.common import dtype as mstype
from mindspore.common._kinds import PositiveInt, within
from mindspore.ops._bind import raw

_attention, _dropout_key, _fill = raw("Attention"), raw("DropoutKey"), raw("Fill")
_reshape, _transpose, _broadcast = raw("Reshape"), raw("Transpose"), raw("BroadcastTo")
_cast, _select, _expand = raw("Cast"), raw("Select"), raw("ExpandDims")
_range, _less = raw("Range"), raw("Less")

_HIDDEN = -(2.0**100)  # what a boolean mask puts in place of a score, as the op says


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    causal: bool = False,
) -> Tensor:
    """softmax(scale query key^T + mask) value over the last two dimensions, without the matrix of scores.

    `mask` broadcasts to the scores: added to them, or boolean and true where they are hidden."""
    masked = mask is not None
    if mask is None:
        mask = _fill(dtype=mstype.bool_, shape=(), value=0.0)
    random = keep_prob < 1
    random_key = _dropout_key() if random else _fill(dtype=mstype.int64, shape=(2,), value=0.0)
    return _attention(
        query,
        key,
        value,
        mask,
        random_key,
        scale=float(scale),
        causal=causal,
        masked=masked,
        keep_prob=float(keep_prob),
    )[0]


# ---- flash_attention_score -----------------------------------------------------------------------
def _heads_first(x: Tensor, heads: int, layout: str) -> Tensor:
    """[batch, heads, sequence, depth] of a tensor in any layout."""
    if x.ndim == 4:
        return x if layout == "BNSD" else _transpose(x, perm=(0, 2, 1, 3))
    if x.shape[2] % heads != 0:
        raise ValueError(
            f"For 'flash_attention_score', the last dimension must be divisible by the number of "
            f"heads, but got {x.shape[2]} and {heads}."
        )
    x = _reshape(x, shape=(x.shape[0], x.shape[1], heads, x.shape[2] // heads))
    return _transpose(x, perm=(0, 2, 1, 3) if layout == "BSH" else (1, 2, 0, 3))


def _from_heads_first(x: Tensor, layout: str) -> Tensor:
    batch, heads, length, depth = x.shape
    if layout == "BNSD":
        return x
    if layout == "SBH":
        return _reshape(_transpose(x, perm=(2, 0, 1, 3)), shape=(length, batch, heads * depth))
    x = _transpose(x, perm=(0, 2, 1, 3))
    return x if layout == "BSND" else _reshape(x, shape=(batch, length, heads * depth))


def _repeated(x: Tensor, heads: int) -> Tensor:
    """Keys or values that several heads of queries share, once for each head."""
    batch, own, length, depth = x.shape
    if own == heads:
        return x
    if own == 0 or heads % own != 0:
        raise ValueError(
            f"For 'flash_attention_score', the number of query heads must be a multiple of that of "
            f"key heads, but got {heads} and {own}."
        )
    spread = _broadcast(_expand(x, axis=2), shape=(batch, own, heads // own, length, depth))
    return _reshape(spread, shape=(batch, heads, length, depth))


def _causal_mask(queries: int, keys: int) -> Tensor:
    """True where a key comes after its query, the last query seeing all keys."""
    number = {"start": 0, "step": 1}
    rows = _range(end=queries, **number) + (keys - queries)
    return _less(_expand(rows, axis=1), _range(end=keys, **number))


def _check_unsupported(**arguments: Any) -> None:
    for name, value in arguments.items():
        if value is not None:
            raise ValueError(
                f"For 'flash_attention_score', '{name}' must be None: this build has nothing for it, "
                f"but got {type(value).__name__}."
            )


def _score_mask(like: Tensor, shift: Tensor | None, hidden: Tensor | None) -> Tensor | None:
    """One mask of what is added and what is hidden."""
    if hidden is not None:
        hidden = hidden if hidden.dtype == mstype.bool_ else _cast(hidden, dtype=mstype.bool_)
        if hidden.ndim == 3:
            hidden = _expand(hidden, axis=1)
    if shift is None:
        return hidden
    shift = shift if shift.dtype == like.dtype else _cast(shift, dtype=like.dtype)
    if hidden is None:
        return shift
    lowest = -65504.0 if like.dtype == mstype.float16 else _HIDDEN
    return _select(hidden, _fill(dtype=like.dtype, shape=(), value=lowest), shift)


def flash_attention_score(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    head_num: PositiveInt,
    real_shift: Tensor | None = None,
    drop_mask: Tensor | None = None,
    padding_mask: Tensor | None = None,
    attn_mask: Tensor | None = None,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    keep_prob: Annotated[float, within(0, 1, "right")] = 1.0,
    scalar_value: float = 1.0,
    pre_tokens: int = 2147483647,
    next_tokens: int = 2147483647,
    inner_precise: int = 0,
    input_layout: Literal["BSH", "BNSD", "SBH", "BSND"] = "BSH",
    sparse_mode: Literal[0, 1, 2, 3] = 0,
) -> Tensor:
    """dropout(softmax(scalar_value query key^T + real_shift, hidden by attn_mask)) value.

    `attn_mask` is true, or not 0, where a score is hidden; a query all of whose keys are hidden weighs them alike.
    `sparse_mode`: 0 and 1 take the mask as it is, 2 hides keys after their query, 3 does so counting from the ends.
    Keys and values may have fewer heads than queries, which then share them."""
    del inner_precise
    _check_unsupported(
        drop_mask=drop_mask,
        padding_mask=padding_mask,
        prefix=prefix,
        actual_seq_qlen=actual_seq_qlen,
        actual_seq_kvlen=actual_seq_kvlen,
    )
    if attn_mask is not None and (pre_tokens, next_tokens) != (2147483647, 2147483647):
        raise ValueError(
            "For 'flash_attention_score', 'pre_tokens' and 'next_tokens' must be 2147483647 where there "
            f"is an 'attn_mask', but got {pre_tokens} and {next_tokens}."
        )
    rank = 4 if "N" in input_layout else 3
    for x in (query, key, value):
        if x.ndim != rank:
            raise ValueError(
                f"For 'flash_attention_score', inputs in layout '{input_layout}' must have {rank} dimensions, "
                f"but got shape {x.shape}."
            )
    if rank == 4 and query.shape[input_layout.index("N")] != head_num:
        raise ValueError(
            f"For 'flash_attention_score', 'head_num' must be the heads of 'query' in layout '{input_layout}', "
            f"but got {head_num} and shape {query.shape}."
        )
    q = _heads_first(query, head_num, input_layout)
    depth = q.shape[3]
    shared = key.shape[2] // depth if "H" in input_layout and depth else head_num
    k = _repeated(_heads_first(key, max(shared, 1), input_layout), q.shape[1])
    v = _repeated(_heads_first(value, max(shared, 1), input_layout), q.shape[1])
    if sparse_mode >= 2:
        attn_mask = None if sparse_mode == 2 else _causal_mask(q.shape[2], k.shape[2])
    mask = _score_mask(q, real_shift, attn_mask)
    out = attend(q, k, v, mask, scalar_value, keep_prob, causal=sparse_mode == 2)
    return _from_heads_first(out, input_layout)


__all__ = ["flash_attention_score"]
