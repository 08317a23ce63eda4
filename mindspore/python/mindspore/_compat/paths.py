"""What is found under each path. FILES: a file of this folder. NAMES: names of other modules, `module` or `module:object`, with "*" for
all that they have."""

from __future__ import annotations

# The module that a path stands for.
FILES: dict[str, str] = {
    "mindspore._checkparam": "checkparam.py",
    "mindspore._c_expression": "c_expression.py",
    "mindspore._extends": "extends.py",
    "mindspore.hub": "hub.py",
    "mindspore.nn.optim.thor": "thor.py",
    "mindspore.ops.operations._grad_ops": "grad_ops.py",
    "mindspore.parallel._cell_wrapper": "cell_wrapper.py",
    "mindspore.parallel._cost_model_context": "cost_model_context.py",
    "mindspore.parallel._ps_context": "ps_context.py",
    "mindspore.rewrite": "rewrite.py",
    "mindspore.train.train_thor": "train_thor.py",
    "akg": "akg.py",
}

_COLLECTIVES = "mindspore.ops.function.communication_func"
_OPS = "mindspore.ops"

NAMES: dict[str, dict[str, str]] = {
    "mindspore.common._register_for_tensor": {
        "mindspore._compat.pieces": "tensor_operator_registry"
    },
    "mindspore.common._decorator": {"mindspore._compat.pieces": "deprecated"},
    "mindspore.common._utils": {"mindspore._compat.pieces": "is_dim_unknown is_shape_unknown"},
    "mindspore.common.dump": {"mindspore._compat.marks": "set_dump"},
    "mindspore.common.lazy_inline": {"mindspore._compat.marks": "lazy_inline no_inline"},
    "mindspore.common.generator": {
        "mindspore.common._generator": "Generator default_generator get_rng_state initial_seed "
        "manual_seed seed set_rng_state"
    },
    "mindspore.common.sparse_tensor": {
        "mindspore.ops._sparse": "COOTensor CSRTensor RowTensor RowTensorInner SparseTensor"
    },
    "mindspore._extends.parse": {"mindspore._compat.extends": "*"},
    "mindspore._extends.utils": {"mindspore._compat.extends": "cell_attr_register"},
    "mindspore.nn.grad": {"mindspore.nn": "Jvp Vjp"},
    "mindspore.nn.grad.cell_grad": {"mindspore.nn": "Jvp Vjp"},
    "mindspore.nn.thor": {"mindspore.nn.optim.thor": "*"},
    "mindspore.ops._grad.grad_base": {
        "mindspore.ops._user_primitive": "bprop_getters",
        "mindspore._compat.pieces": "get_bprop_fn",
    },
    "mindspore.ops._utils": {"mindspore._compat.pieces": "get_broadcast_shape get_concat_offset"},
    "mindspore.ops._primitive_cache": {"mindspore._compat.pieces": "_get_cache_prim"},
    "mindspore.ops.comm_ops": {"mindspore.ops.operations.comm_ops": "*"},
    "mindspore.ops.operations.comm_ops": {_OPS: "*"},
    "mindspore.ops.operations.array_ops": {_OPS: "*"},
    "mindspore.ops.operations.math_ops": {_OPS: "*"},
    "mindspore.ops.operations.nn_ops": {_OPS: "*"},
    "mindspore.ops.operations.other_ops": {_OPS: "*"},
    "mindspore.ops.operations.control_ops": {_OPS: "*"},
    "mindspore.ops.operations.debug_ops": {_OPS: "*"},
    "mindspore.ops.operations.image_ops": {_OPS: "*"},
    "mindspore.ops.operations.inner_ops": {_OPS: "*"},
    "mindspore.ops.operations.linalg_ops": {_OPS: "*"},
    "mindspore.ops.operations.random_ops": {_OPS: "*"},
    "mindspore.ops.operations.sparse_ops": {_OPS: "*"},
    "mindspore.ops.operations._inner_ops": {_OPS: "*"},
    "mindspore.ops._inner_ops": {_OPS: "*"},
    "mindspore.ops.operations._scalar_ops": {_OPS: "*"},
    "mindspore.ops.communication": {
        _COLLECTIVES: "*",
        "mindspore.ops.function.uneven_func": "*",
        "mindspore.mint.distributed": "P2POp gather scatter",
    },
    "mindspore.ops.composite.base": {"mindspore.ops.composite": "*"},
    "mindspore.ops.composite.multitype_ops": {"mindspore._compat.pieces": "zeros_like ones_like"},
    "mindspore.ops.composite.clip_ops": {
        "mindspore.ops.composite": "clip_by_global_norm clip_by_value"
    },
    "mindspore.parallel.checkpoint_transform": {
        "mindspore.train._distributed_load": "load_distributed_checkpoint",
        "mindspore.train._reslice": "build_searched_strategy load_segmented_checkpoints "
        "merge_sliced_parameter rank_list_for_transform transform_checkpoint_by_rank transform_checkpoints",
        "mindspore.train._strategy_files": "merge_pipeline_strategys restore_group_info_list sync_pipeline_shared_parameters",
        "mindspore.parallel.strategy": "set_op_strategy_config",
    },
    "mindspore.parallel.checkpoint_convert": {
        "mindspore.train._strategy_files": "convert_checkpoint_by_rank convert_checkpoints rank_list_for_convert"
    },
    "mindspore.parallel.transform_safetensors": {
        "mindspore.train._strategy_files": "unified_safetensors"
    },
    "mindspore.parallel.function.reshard_func": {"mindspore.parallel.function": "reshard"},
    "mindspore.parallel._transformer": {"mindspore.parallel.nn": "*"},
    "mindspore.parallel._transformer.layers": {"mindspore.parallel.nn.layers": "*"},
    "mindspore.parallel._transformer.loss": {"mindspore.parallel.nn.loss": "*"},
    "mindspore.parallel._transformer.moe": {"mindspore.parallel.nn.moe": "*"},
    "mindspore.parallel._transformer.op_parallel_config": {
        "mindspore.parallel.nn.op_parallel_config": "*"
    },
    "mindspore.parallel._transformer.transformer": {"mindspore.parallel.nn.transformer": "*"},
    "mindspore.nn.transformer": {"mindspore.parallel.nn": "*"},
    "mindspore.nn.transformer.layers": {"mindspore.parallel.nn.layers": "*"},
    "mindspore.nn.transformer.loss": {"mindspore.parallel.nn.loss": "*"},
    "mindspore.nn.transformer.moe": {"mindspore.parallel.nn.moe": "*"},
    "mindspore.nn.transformer.op_parallel_config": {
        "mindspore.parallel.nn.op_parallel_config": "*"
    },
    "mindspore.nn.transformer.transformer": {"mindspore.parallel.nn.transformer": "*"},
    "mindspore.parallel.nn.parallel_cell_wrapper": {
        "mindspore.parallel.nn": "GradAccumulation MicroBatchInterleaved Pipeline PipelineCell"
    },
    "mindspore.parallel.nn.parallel_grad_reducer": {"mindspore.parallel.nn": "PipelineGradReducer"},
    "mindspore.profiler.profiling": {"mindspore.profiler": "Profiler"},
    "mindspore.profiler.profiler": {"mindspore.profiler": "*"},
    "mindspore.train.train_thor.convert_utils": {
        "mindspore.train.train_thor": "ConvertModelUtils ConvertNetUtils"
    },
    "mindspore.train.train_thor.dataset_helper": {
        "mindspore.train.dataset_helper": "DatasetHelper connect_network_with_dataset"
    },
    "mindspore.train.train_thor.model_thor": {"mindspore.train": "Model"},
    "mindspore.train.summary.summary_record": {"mindspore.train.summary": "SummaryRecord"},
    "mindspore.train.callback._summary_collector": {"mindspore.train.callback": "SummaryCollector"},
    "mindspore.train.parallel_utils": {"mindspore.parallel._utils": "*"},
    "mindspore.utils.dlpack": {"mindspore.utils": "from_dlpack to_dlpack"},
    "mindspore.boost.boost_cell_wrapper": {"mindspore.boost": "*"},
}
