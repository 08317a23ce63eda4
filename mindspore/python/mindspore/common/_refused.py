"""Names whose meaning this framework does not have. A script may import them; using one says why it cannot work. All of them stand in
one table; a module finds its own by `__getattr__ = refused(__name__)`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

_CHIP = "it drives the cores, counters or links of another vendor's chip, which this build does not know"
_LINKS = (
    "it computes while several processes exchange tensors, and this build runs one process alone"
)
_FUSED = (
    "this fused kernel is not part of this build; flash_attention_score, rotary_position_embedding, moe_token_permute and "
    "topk are the parts to write it with"
)
_POOL = "memory is taken from the one pool of each device, which needs no choice"
_STORE = "processes find each other through msrun or mpirun; all_gather_object and send_object_list share what they have"
_CLUSTER = "it belongs to another vendor's controller of clusters, which this build does not know"
_SERVER = "parameter servers are not part of this build; nn.Embedding and the optimizers hold all in one process"
_GRAPH = "it is a node inside of another compiler's graphs and has no meaning by itself"
_QUEUE = "data comes from Model.train, DatasetHelper or a loop, not from a queue of a device"
_STRATEGY = (
    "files of sharding strategies are not read by this build; load_checkpoint reads each part"
)
_MINDIR = "export and load write and read graphs, as MINDIR files that hold all in one"
_PLACE = (
    "a tensor keeps its place in memory until its last name goes; 'move_to' and 'copy' make others"
)
_HOOK = "a hook is held by the handle that 'register_hook' gives, whose 'remove' takes it off"
_COUNTS = "work is not counted by ops here; mindspore.profiler.Profiler says what takes the time"
_SAVED = "what a gradient needs is kept as it is; Cell.recompute and ops.recompute save memory"
_DISPATCH = "ops are not handed to Python one by one; Profiler and Cell hooks show what runs"
_DUMP = "gradients are not written to files; Tensor.register_hook hands them to a function"
_AMP = "casts are chosen for whole networks: use amp.auto_mixed_precision or amp.custom_mixed_precision"
_OBFUSCATION = "weights are not obfuscated by this build"
_THOR = "second-order training with THOR is not part of this build; nn.Adam or nn.Momentum train the same networks"
_VIDEO = "video is decoded by another library, whose frames are arrays, not by a vendor's chip"
_BOOST = "training that leaves out work by itself is not part of this build"

# Modules below `mindspore` ("" is itself), names, and why they cannot work.
_TABLE = (
    ("ops", "Pull Push MapCacheIdx", _SERVER),
    ("experimental", "MapParameter", _SERVER),
    ("ops", "GetNext", _QUEUE),
    ("nn", "GetNextSingleOp", _QUEUE),
    (
        "ops",
        "GeSwitch geswitch Merge merge J SliceGetItem PyExecute _AllSwap array_reduce distribute embed ref_to_embed "
        "environ_add environ_create environ_get environ_set make_map_parameter make_row_tensor_inner "
        "DtypeToEnum Morph is_dynamic_sequence_element_unknown is_sequence_shape_unknown is_sequence_value_unknown",
        _GRAPH,
    ),
    (
        "ops ops.composite",
        "_Grad _Vmap env_get iter_converter ms_hasnext ms_next recompute_block",
        _GRAPH,
    ),
    (
        "ops",
        "all_gather_matmul matmul_reduce_scatter moe_distribute_combine moe_distribute_dispatch",
        _LINKS,
    ),
    ("ops", "TCPStore", _STORE),
    (
        "ops",
        "lightning_indexer nsa_compress nsa_compress_attention nsa_select_attention sparse_flash_attention ApplyRotaryPosEmb "
        "GroupTopk PagedAttention PagedAttentionMask ReshapeAndCache fused_infer_attention_score incre_flash_attention "
        "prompt_flash_attention multi_scale_deformable_attn_function ring_attention_update speed_fusion_attention "
        "moe_init_routing_v2",
        _FUSED,
    ),
    (
        " runtime",
        "StreamLimitCtx get_device_limit get_stream_limit reset_stream_limit set_device_limit set_kernel_launch_capture "
        "set_stream_limit",
        _CHIP,
    ),
    ("profiler", "AicoreMetrics DynamicProfilerMonitor EnvProfiler HostSystem", _CHIP),
    (
        "utils",
        "comm_exec_order_check runtime_execution_order_check get_sdc_detect_result sdc_detect_start sdc_detect_stop stress_detect",
        _CHIP,
    ),
    (" runtime", "MemPool PluggableAllocator memory_replay use_mem_pool", _POOL),
    ("utils", "_reuse_data_ptr", _POOL),
    ("", "mindio_preload set_mindio_server_info", _CLUSTER),
    (" train train.callback", "TrainFaultTolerance", _CLUSTER),
    ("utils", "ExitByRequest RSCPluginHandle TFTCommValue _tft_handler", _CLUSTER),
    ("nn nn.optim", "OptTFTWrapper", _CLUSTER),
    (" train", "get_ckpt_path_with_strategy", _STRATEGY),
    (" train", "export_split_mindir", _MINDIR),
    ("", "load_mindir save_mindir", _MINDIR),
    (" train train.callback", "FlopsUtilizationCollector", _COUNTS),
    (" common.api", "flops_collection", _COUNTS),
    ("", "register_saved_tensors_hooks saved_tensors_hooks", _SAVED),
    ("nn.Cell", "register_saved_tensors_hooks", _SAVED),
    ("utils", "MsDispatchMode", _DISPATCH),
    ("ops", "DumpGradient", _DUMP),
    ("train.amp", "AmpDecorator create_amp_strategy pop_amp_strategy push_amp_strategy", _AMP),
    ("", "load_obf_params_into_net obfuscate_ckpt", _OBFUSCATION),
    (
        "boost",
        "AdaSum AutoBoost BoostTrainOneStepCell BoostTrainOneStepWithLossScaleCell DimReduce FreezeOpt GradientFreeze "
        "GroupLossScaleManager LessBN OptimizerProcess ParameterProcess freeze_cell",
        _BOOST,
    ),
    ("train.train_thor", "ConvertNetUtils THOR", _THOR),
    ("nn.optim.thor", "THOR ThorAscend ThorGpu thor", _THOR),
    ("dataset.vision.utils", "DecodeParams VideoFrameDvpp", _VIDEO),
    ("Tensor", "delete_ offload set_ set_device_address storage untyped_storage", _PLACE),
    ("ops.Primitive", "set_hook_fn", _HOOK),
    ("Tensor", "hooks remove_hook", _HOOK),
    ("Tensor", "getitem_index_info setitem_index_info", _GRAPH),
    ("", "UntypedStorage", _PLACE),
    ("nn", "Conv2dThor DenseThor EmbeddingLookupThor EmbeddingThor", _THOR),
)
_WHY = {
    f"{home}.{name}".lstrip("."): why
    for homes, names, why in _TABLE
    for home in homes.split(" ")
    for name in names.split()
}


@functools.cache
def refusing(name: str, why: str) -> type:
    """A class that tells, when it is called, why there is no such thing."""

    def __new__(cls: type, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(f"For '{name}', {why}.")

    members = {"__new__": __new__, "__doc__": f"Not available: {why}.", "_ms_refused": why}
    return type(name, (), members)


def refused(module: str) -> Callable[[str], Any]:
    """What a module has for the names that stand in the table under it: its `__getattr__`."""
    home = module.removeprefix("mindspore").lstrip(".")

    def get(name: str) -> Any:
        why = _WHY.get(f"{home}.{name}".lstrip("."))
        if why is None:
            raise AttributeError(f"module '{module}' has no attribute '{name}'")
        return refusing(name, why)

    return get


def refused_attributes(owner: str) -> dict[str, type]:
    """The attributes of a class that stand in the table under it."""
    names = (path.rpartition(".") for path in _WHY)
    return {
        name: refusing(f"{owner}.{name}", _WHY[f"{home}.{name}"])
        for home, _, name in names
        if home == owner
    }
