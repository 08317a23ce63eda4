"""How whole transformers are cut among processes."""

from __future__ import annotations

from typing import Any

from mindspore.parallel.nn.op_parallel_config import (
    EmbeddingOpParallelConfig,
    MoEParallelConfig,
    OpParallelConfig,
    _Config,
)


class TransformerRecomputeConfig(_Config):
    """What is computed again in the backward pass.

    Args:
        recompute: Whether layers are.
        parallel_optimizer_comm_recompute: Whether gathered Parameters are gathered again.
        mp_comm_recompute: Whether collectives are made again.
        recompute_slice_activation: Whether what is kept is cut.
    """

    _flags = (
        "recompute",
        "parallel_optimizer_comm_recompute",
        "mp_comm_recompute",
        "recompute_slice_activation",
    )

    def __init__(
        self,
        recompute: bool = False,
        parallel_optimizer_comm_recompute: bool = False,
        mp_comm_recompute: bool = True,
        recompute_slice_activation: bool = False,
    ) -> None:
        self.recompute = recompute
        self.parallel_optimizer_comm_recompute = parallel_optimizer_comm_recompute
        self.mp_comm_recompute = mp_comm_recompute
        self.recompute_slice_activation = recompute_slice_activation


default_transformer_recompute_config = TransformerRecomputeConfig()


class TransformerOpParallelConfig(_Config):
    """How a transformer is cut.

    Args:
        data_parallel: Among how many processes the batch.
        model_parallel: Among how many heads and hidden units.
        expert_parallel: Among how many experts.
        pipeline_stage: Into how many stages layers are put.
        micro_batch_num: In how many parts a batch goes through them.
        recompute: What is computed again.
        gradient_aggregation_group: In how many groups gradients are summed.
        vocab_emb_dp: Whether the table of an embedding is whole in each process.
    """

    _counts = (
        "data_parallel",
        "model_parallel",
        "expert_parallel",
        "pipeline_stage",
        "micro_batch_num",
        "gradient_aggregation_group",
    )
    _flags = ("vocab_emb_dp",)

    def __init__(
        self,
        data_parallel: int = 1,
        model_parallel: int = 1,
        expert_parallel: int = 1,
        pipeline_stage: int = 1,
        micro_batch_num: int = 1,
        recompute: TransformerRecomputeConfig = default_transformer_recompute_config,
        optimizer_shard: Any = None,
        gradient_aggregation_group: int = 4,
        vocab_emb_dp: bool = True,
    ) -> None:
        del optimizer_shard  # of the first release; the setting enable_parallel_optimizer says it
        self.data_parallel, self.model_parallel = data_parallel, model_parallel
        self.expert_parallel, self.pipeline_stage = expert_parallel, pipeline_stage
        self.micro_batch_num = micro_batch_num
        self.gradient_aggregation_group = gradient_aggregation_group
        self.vocab_emb_dp = vocab_emb_dp
        if not isinstance(recompute, TransformerRecomputeConfig):
            raise TypeError(
                "For 'TransformerOpParallelConfig', 'recompute' must be a TransformerRecomputeConfig, but got "
                f"{type(recompute).__name__}."
            )
        self.recompute = recompute

    @property
    def dp_mp_config(self) -> OpParallelConfig:
        """How one layer is cut."""
        return OpParallelConfig(self.data_parallel, self.model_parallel)

    @property
    def embedding_dp_mp_config(self) -> EmbeddingOpParallelConfig:
        """How an embedding is cut."""
        return EmbeddingOpParallelConfig(self.data_parallel, self.model_parallel, self.vocab_emb_dp)

    @property
    def moe_parallel_config(self) -> MoEParallelConfig:
        """How a layer of experts is cut."""
        return MoEParallelConfig(self.data_parallel, self.model_parallel, self.expert_parallel)


default_transformer_config = TransformerOpParallelConfig()

__all__ = ["TransformerOpParallelConfig", "TransformerRecomputeConfig"]
