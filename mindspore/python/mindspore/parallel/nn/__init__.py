"""Cells of parallel training: pipelines and micro batches, and the transformers of the first releases, which say themselves how they
are cut among processes."""

from __future__ import annotations

from mindspore.nn import (
    GradAccumulationCell,
    MicroBatchInterleaved,
    PipelineCell,
    PipelineGradReducer,
)
from mindspore.parallel.nn.layers import FixedSparseAttention
from mindspore.parallel.nn.loss import CrossEntropyLoss
from mindspore.parallel.nn.moe import MoEConfig
from mindspore.parallel.nn.op_parallel_config import (
    EmbeddingOpParallelConfig,
    MoEParallelConfig,
    OpParallelConfig,
)
from mindspore.parallel.nn.transformer import (
    AttentionMask,
    FeedForward,
    MultiHeadAttention,
    Transformer,
    TransformerDecoder,
    TransformerDecoderLayer,
    TransformerEncoder,
    TransformerEncoderLayer,
    TransformerOpParallelConfig,
    TransformerRecomputeConfig,
    VocabEmbedding,
)

GradAccumulation = GradAccumulationCell
Pipeline = PipelineCell

__all__ = [
    "AttentionMask",
    "CrossEntropyLoss",
    "EmbeddingOpParallelConfig",
    "FeedForward",
    "FixedSparseAttention",
    "GradAccumulation",
    "MicroBatchInterleaved",
    "MoEConfig",
    "MoEParallelConfig",
    "MultiHeadAttention",
    "OpParallelConfig",
    "Pipeline",
    "PipelineCell",
    "PipelineGradReducer",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
    "TransformerOpParallelConfig",
    "TransformerRecomputeConfig",
    "VocabEmbedding",
]
