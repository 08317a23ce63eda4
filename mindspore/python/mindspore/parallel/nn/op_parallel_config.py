"""How the layers of this folder are cut among processes: how many share the batch, and how many each layer."""

from __future__ import annotations

import math
from typing import Any

from mindspore._core import Tensor
from mindspore.common import _planning
from mindspore.common._layouts import Layout
from mindspore.ops import _pinned


def check_count(owner: str, name: str, value: Any) -> int:
    """A number of at least 1."""
    if type(value) is not int:
        raise TypeError(f"For '{owner}', '{name}' must be an int, but got {type(value).__name__}.")
    if value < 1:
        raise ValueError(f"For '{owner}', '{name}' must be at least 1, but got {value}.")
    return value


def check_bool(owner: str, name: str, value: Any) -> bool:
    """True or False."""
    if type(value) is not bool:
        raise TypeError(f"For '{owner}', '{name}' must be a bool, but got {type(value).__name__}.")
    return value


class _Config:
    """Settings that are checked when they are set, too."""

    _counts: tuple[str, ...] = ()
    _flags: tuple[str, ...] = ()

    def __setattr__(self, name: str, value: Any) -> None:
        owner = type(self).__name__
        if name in self._counts:
            check_count(owner, name, value)
        elif name in self._flags:
            check_bool(owner, name, value)
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({shown})"


class OpParallelConfig(_Config):
    """How one layer is cut.

    Args:
        data_parallel: Among how many processes its batch.
        model_parallel: Among how many its heads, its hidden units or its vocabulary.
    """

    _counts: tuple[str, ...] = ("data_parallel", "model_parallel")

    def __init__(self, data_parallel: int = 1, model_parallel: int = 1) -> None:
        self.data_parallel = data_parallel
        self.model_parallel = model_parallel

    @property
    def dp_mp_config(self) -> OpParallelConfig:
        """These two numbers alone."""
        return OpParallelConfig(self.data_parallel, self.model_parallel)


class EmbeddingOpParallelConfig(OpParallelConfig):
    """How an embedding is cut.

    Args:
        data_parallel: Among how many processes its batch.
        model_parallel: Among how many its vocabulary.
        vocab_emb_dp: The table is whole in each process.
    """

    _flags = ("vocab_emb_dp",)

    def __init__(
        self, data_parallel: int = 1, model_parallel: int = 1, vocab_emb_dp: bool = True
    ) -> None:
        super().__init__(data_parallel, model_parallel)
        self.vocab_emb_dp = vocab_emb_dp


class MoEParallelConfig(OpParallelConfig):
    """How a layer of experts is cut.

    Args:
        data_parallel: Among how many processes its batch.
        model_parallel: Among how many the hidden units of each expert.
        expert_parallel: Among how many its experts.
    """

    _counts = ("data_parallel", "model_parallel", "expert_parallel")

    def __init__(
        self, data_parallel: int = 1, model_parallel: int = 1, expert_parallel: int = 1
    ) -> None:
        super().__init__(data_parallel, model_parallel)
        self.expert_parallel = expert_parallel


def placed(owner: str, x: Tensor, config: Any, *dims: str) -> Any:
    """The tensor cut as the configuration says, each dimension along "dp", "mp" or "None"; as it is where nothing is divided, or the
    configuration asks for nothing."""
    dp, mp = config.data_parallel, config.model_parallel
    mesh = _planning.traced_mesh()
    if dp * mp == 1 or mesh is None:
        return x
    count = math.prod(size for _, size in mesh)
    if count % (dp * mp):
        raise ValueError(
            f"For '{owner}', 'data_parallel' times 'model_parallel' must divide {count}, the number of processes, but got {dp} * {mp}."
        )
    layout = Layout((dp, mp, count // (dp * mp)), ("dp", "mp", "copies"))
    cuts = {"dp": dp, "mp": mp, "None": 1}
    for size, name in zip(x.shape, dims):
        if size % cuts[name]:
            raise ValueError(
                f"For '{owner}', the shape {tuple(x.shape)} must be divisible by {cuts[name]} where it is cut along '{name}'."
            )
    return _pinned.pinned(owner, x, layout(*dims))


default_dpmp_config = OpParallelConfig()
default_embedding_parallel_config = EmbeddingOpParallelConfig()
default_moeparallel_config = MoEParallelConfig()

__all__ = ["EmbeddingOpParallelConfig", "MoEParallelConfig", "OpParallelConfig"]
