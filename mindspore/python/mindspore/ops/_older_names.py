"""Arguments under the names that earlier releases gave them: `ops.softmax(x=t)`, `ops.std(t, unbiased=True)`. A name is looked up
here only where the function has no parameter of that name, so that calls in today's spelling cost nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

# Names of one thing, whatever the function: the first releases, the later ones and `mint` each have their own.
_SAME = (
    {"input", "x", "input_x", "x1", "inputs", "tensor", "logits", "features"},
    {"other", "y", "input_y", "x2", "mat2"},
    {"target", "label", "labels"},
    {"dim", "axis"},
    {"keepdim", "keepdims", "keep_dims"},
)

# function, class of a primitive: earlier=today's
_OF_ONE = """
concat: input_x=tensors
conv2d: pad=padding
diagonal: axis1=dim1 axis2=dim2
eye: t=dtype
flip: axis=dims
full: shape=size value=fill_value
gather, Gather, GatherV2: params=input_params indices=input_indices
grid_sample: interpolation_mode=mode
interpolate: sizes=size
layer_norm: gamma=weight beta=bias
lerp: start=input
linspace: stop=end num=steps
multinomial: num_sample=num_samples
norm: p=ord
ones, zeros: shape=size
outer: x2=vec2
permute: dims=axis
pow: y=exponent
range: limit=end delta=step
reshape, Reshape: input_shape=shape
roll: axis=dims
select, Select: cond=condition input_cond=condition
stack: input_x=tensors
std, var: unbiased=ddof
tile, Tile: multiples=dims reps=dims
transpose, Transpose: input_perm=dims
AvgPool, MaxPool, MaxPoolWithArgmax: ksize=kernel_size padding=pad_mode
SigmoidCrossEntropyWithLogits: predict=logits
SmoothL1Loss: sigma=beta
"""


def _read(table: str) -> dict[str, dict[str, str]]:
    """By the name of what is called, today's names by the earlier ones."""
    found = {}
    for line in table.strip().splitlines():
        called, _, pairs = line.partition(":")
        for name in called.split(","):
            found[name.strip()] = dict(pair.split("=") for pair in pairs.split())
    return found


_OWN = _read(_OF_ONE)
_HOMES = ("mindspore._core", "mindspore.ops", "mindspore.common.tensor", "mindspore.nn")


def meant(called: Any, name: str, parameters: Sequence[str]) -> str | None:
    """Which of the parameters that are left of a function or class an argument of this name is; None: none, or it might be several."""
    if not getattr(called, "__module__", _HOMES[0]).startswith(_HOMES):
        return None  # `mint`, `numpy` and users have one spelling
    of = called.__name__
    if of == "__init__":
        of = called.__qualname__.split(".")[-2]  # the class
    own = _OWN.get(of, {}).get(name)
    if own in parameters:
        return own
    if name == "input":
        return None  # today's word, by which no earlier one is meant
    found = [p for names in _SAME if name in names for p in parameters if p in names]
    return found[0] if len(found) == 1 else None
