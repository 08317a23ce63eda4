"""A feed-forward layer of many experts, of which each token goes through some."""

from __future__ import annotations

import math
from typing import Any

from mindspore import ops
from mindspore.common import dtype as mstype
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn import Cell, Dropout
from mindspore.parallel.nn.layers import activation_of
from mindspore.parallel.nn.op_parallel_config import _Config, check_count


class MoEConfig(_Config):
    """The experts of a layer.

    Args:
        expert_num: How many there are; 1: the layer is an ordinary one.
        capacity_factor: How many tokens an expert takes, in units of an even share, of at least 1.
        aux_loss_factor: The weight of the loss that keeps them busy alike.
        num_experts_chosen: How many a token goes through.
        expert_group_size: Tokens that are shared out together; None: all.
        group_wise_a2a, comp_comm_parallel, comp_comm_parallel_degree: Accepted: how other devices exchange tokens.
    """

    _counts = ("expert_num", "num_experts_chosen")
    _flags = ("group_wise_a2a", "comp_comm_parallel")

    def __init__(
        self,
        expert_num: int = 1,
        capacity_factor: float = 1.1,
        aux_loss_factor: float = 0.05,
        num_experts_chosen: int = 1,
        expert_group_size: int | None = None,
        group_wise_a2a: bool = False,
        comp_comm_parallel: bool = False,
        comp_comm_parallel_degree: int = 2,
    ) -> None:
        self.expert_num = expert_num
        self.num_experts_chosen = num_experts_chosen
        if not capacity_factor >= 1.0:
            raise ValueError(
                f"For 'MoEConfig', 'capacity_factor' must be at least 1, but got {capacity_factor}."
            )
        if not 0.0 < aux_loss_factor < 1.0:
            raise ValueError(
                f"For 'MoEConfig', 'aux_loss_factor' must be between 0 and 1, but got {aux_loss_factor}."
            )
        if num_experts_chosen > expert_num:
            raise ValueError(
                f"For 'MoEConfig', 'num_experts_chosen' must be at most 'expert_num' {expert_num}, but got {num_experts_chosen}."
            )
        if expert_group_size is not None:
            check_count("MoEConfig", "expert_group_size", expert_group_size)
        self.capacity_factor, self.aux_loss_factor = capacity_factor, aux_loss_factor
        self.expert_group_size = expert_group_size
        self.group_wise_a2a, self.comp_comm_parallel = group_wise_a2a, comp_comm_parallel
        self.comp_comm_parallel_degree = comp_comm_parallel_degree


class MoE(Cell):
    """Experts, and the router that sends tokens to them. What is beyond the capacity of an expert passes it by, as zeros.

    Args:
        hidden_size: The width that goes in and comes out.
        ffn_hidden_size: The width inside of each expert.
        dropout_rate: The share of the output that is dropped.
        hidden_act: The activation.
        param_init_type: The dtype of the Parameters.
        moe_config: The experts.
        parallel_config: How they are cut; the planner decides where nothing else does.

    Outputs:
        The output, shaped as the input, and the loss that keeps experts busy alike.
    """

    def __init__(
        self,
        hidden_size: int,
        ffn_hidden_size: int,
        dropout_rate: float,
        hidden_act: Any = "gelu",
        param_init_type: Any = mstype.float32,
        moe_config: MoEConfig | None = None,
        parallel_config: Any = None,
    ) -> None:
        super().__init__()
        del parallel_config
        self.config = moe_config or MoEConfig()
        experts = self.config.expert_num

        def made(name: str, shape: tuple[int, ...], kind: str = "normal") -> Parameter:
            return Parameter(initializer(kind, shape, param_init_type), name=name)

        self.router = made("router", (hidden_size, experts))
        self.mapping = made("mapping", (experts, hidden_size, ffn_hidden_size))
        self.mapping_bias = made("mapping_bias", (experts, 1, ffn_hidden_size), "zeros")
        self.projection = made("projection", (experts, ffn_hidden_size, hidden_size))
        self.projection_bias = made("projection_bias", (experts, 1, hidden_size), "zeros")
        self.activation: Any = activation_of(hidden_act)
        self.dropout = Dropout(p=dropout_rate)
        self.hidden_size = hidden_size

    def construct(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """The output and the loss."""
        tokens = x.reshape((-1, self.hidden_size))
        rows = self.config.expert_group_size or tokens.shape[0]
        if tokens.shape[0] % rows:
            raise ValueError(
                f"For '{self.cls_name}', 'expert_group_size' must divide {tokens.shape[0]}, the number of tokens, but got {rows}."
            )
        outputs, losses = [], []
        for begin in range(0, tokens.shape[0], rows):
            output, loss = self._group(tokens[begin : begin + rows].astype(mstype.float32))
            outputs.append(output)
            losses.append(loss)
        mean: Any = sum(losses[1:], losses[0]) / len(losses)
        whole = ops.concat(outputs) if len(outputs) > 1 else outputs[0]
        return self.dropout(whole).reshape(x.shape).astype(x.dtype), mean

    def _group(self, tokens: Tensor) -> tuple[Tensor, Tensor]:
        """The experts' output for tokens that are shared out together."""
        config = self.config
        experts, count = config.expert_num, tokens.shape[0]
        even = config.num_experts_chosen * count / experts
        capacity = min(math.ceil(config.capacity_factor * even), count)
        chances = ops.softmax(ops.matmul(tokens, self.router.astype(mstype.float32)), -1)
        left, taken = chances, ops.zeros((1, experts), mstype.float32)
        combine: Any = 0.0
        loss: Any = 0.0
        for _ in range(config.num_experts_chosen):
            chosen = ops.one_hot(left.argmax(-1), experts, 1.0, 0.0)
            loss = loss + (chosen.mean(0) * chances.mean(0)).sum() * experts
            place = (ops.cumsum(chosen, 0) - 1.0 + taken) * chosen
            fits = chosen * (place < capacity).astype(mstype.float32)
            slot = ops.one_hot(place.sum(-1).astype(mstype.int32), capacity, 1.0, 0.0)
            share = (chances * fits).expand_dims(-1) * slot.expand_dims(1)
            combine = combine + share
            taken = taken + chosen.sum(0, keepdims=True)
            left = left * (1.0 - chosen)
        dispatch = ops.stop_gradient((combine > 0).astype(mstype.float32))
        given = ops.matmul(dispatch.reshape((count, -1)).transpose(1, 0), tokens)
        made = self._experts(given.reshape((experts, capacity, self.hidden_size)))
        flat = made.reshape((experts * capacity, self.hidden_size))
        return ops.matmul(combine.reshape((count, -1)), flat), loss * config.aux_loss_factor

    def _experts(self, x: Tensor) -> Tensor:
        hidden = self.activation(ops.matmul(x, self.mapping.astype(x.dtype)) + self.mapping_bias)
        return ops.matmul(hidden, self.projection.astype(x.dtype)) + self.projection_bias


default_moe_config = MoEConfig()

__all__ = ["MoEConfig"]
