"""Modules by their paths, and names in them that scripts import from there."""

import importlib

from differential.calllib import case

MODULES = {
    "_c_expression": "typing",
    "_checkparam": "check_value_type check_float_range check_positive_float check_positive_int check_bool check_non_negative_float check_type_name",
    "_extends": "cell_attr_register",
    "amp": "FixedLossScaleManager DynamicLossScaleManager auto_mixed_precision build_train_network DynamicLossScaler StaticLossScaler all_finite",
    "boost": "GradientAccumulation AdaSum AutoBoost BoostTrainOneStepCell BoostTrainOneStepWithLossScaleCell DimReduce FreezeOpt",
    "boost.grad_accumulation": "GradientAccumulation gradient_accumulation_op gradient_clear_op",
    "common": "Tensor set_seed Parameter tensor ParameterTuple from_numpy dtype_to_nptype",
    "common.api": "jit jit_class ms_memory_recycle",
    "common.initializer": "initializer TruncatedNormal Normal Uniform XavierUniform HeUniform Initializer",
    "common.parameter": "Parameter ParameterTuple",
    "common.seed": "set_seed get_seed",
    "common.tensor": "Tensor tensor swap_tensors",
    "communication": "init get_rank get_group_size GlobalComm release create_group destroy_group",
    "communication.management": "init get_rank get_group_size release create_group destroy_group get_comm_name",
    "context": "set_context set_auto_parallel_context ParallelMode reset_auto_parallel_context get_auto_parallel_context get_context set_ps_context",
    "dataset": "GeneratorDataset ImageFolderDataset Cifar10Dataset DistributedSampler MnistDataset Dataset NumpySlicesDataset",
    "dataset.core.validator_helpers": "",
    "dataset.engine": "GeneratorDataset ImageFolderDataset Cifar10Dataset DistributedSampler MnistDataset Dataset NumpySlicesDataset",
    "dataset.engine.datasets_vision": "ImageFolderDataset Cifar10Dataset MnistDataset Cifar100Dataset",
    "dataset.transforms": "OneHot Fill TypeCast Slice Compose Unique RandomChoice",
    "dataset.transforms.transforms": "OneHot Fill TypeCast Slice Compose Unique RandomChoice",
    "dataset.vision": "Normalize HWC2CHW Resize Decode RandomHorizontalFlip CenterCrop Pad",
    "dataset.vision.py_transforms_util": "is_pil",
    "dataset.vision.transforms": "Normalize HWC2CHW Resize Decode RandomHorizontalFlip CenterCrop Pad",
    "dataset.vision.utils": "Inter Border ConvertMode ImageBatchFormat",
    "log": "warning info error debug critical get_level get_log_config",
    "nn": "Cell Conv2d SequentialCell Dense ReLU BatchNorm2d MaxPool2d",
    "nn.cell": "Cell GraphCell",
    "nn.dynamic_lr": "piecewise_constant_lr exponential_decay_lr cosine_decay_lr warmup_lr polynomial_decay_lr inverse_decay_lr natural_exp_decay_lr",
    "nn.layer": "Conv2d SequentialCell Dense ReLU BatchNorm2d MaxPool2d Dropout",
    "nn.layer.activation": "ReLU Sigmoid Softmax LeakyReLU Tanh LogSoftmax GELU",
    "nn.layer.basic": "Dense Dropout Flatten Pad Unfold Upsample",
    "nn.layer.conv": "Conv2d Conv2dTranspose Conv1d Conv3d Conv3dTranspose Conv1dTranspose",
    "nn.learning_rate_schedule": "LearningRateSchedule PolynomialDecayLR WarmUpLR CosineDecayLR ExponentialDecayLR InverseDecayLR NaturalExpDecayLR",
    "nn.loss": "SoftmaxCrossEntropyWithLogits LossBase MSELoss L1Loss SmoothL1Loss BCELoss BCEWithLogitsLoss",
    "nn.loss.loss": "SoftmaxCrossEntropyWithLogits LossBase MSELoss L1Loss SmoothL1Loss BCELoss BCEWithLogitsLoss",
    "nn.metrics": "Metric Top1CategoricalAccuracy Top5CategoricalAccuracy Loss Accuracy ConfusionMatrixMetric rearrange_inputs",
    "nn.optim": "Adam Momentum SGD AdamWeightDecay RMSProp Lamb Optimizer",
    "nn.optim.adam": "Adam AdamWeightDecay AdamOffload",
    "nn.optim.momentum": "Momentum",
    "nn.optim.optimizer": "Optimizer opt_init_args_register",
    "nn.optim.rmsprop": "RMSProp",
    "nn.optim.sgd": "SGD",
    "nn.utils": "no_init_parameters",
    "nn.wrap": "DistributedGradReducer TrainOneStepCell TrainOneStepWithLossScaleCell DynamicLossScaleUpdateCell WithLossCell FixedLossScaleUpdateCell WithEvalCell",
    "nn.wrap.cell_wrapper": "TrainOneStepCell WithLossCell WithEvalCell ForwardValueAndGrad ParameterUpdate VirtualDatasetCellTriple",
    "nn.wrap.grad_reducer": "DistributedGradReducer",
    "nn.wrap.loss_scale": "TrainOneStepWithLossScaleCell DynamicLossScaleUpdateCell FixedLossScaleUpdateCell tensor_grad_scale",
    "numpy": "reshape log identity expand_dims zeros arange matmul",
    "ops": "dtype Dense ReLU get_rank Concat ReduceMean ReduceSum",
    "ops.composite": "GradOperation MultitypeFuncGraph HyperMap matmul ones_like add_flags repeat_elements",
    "ops.function": "shape depend partial clip_by_global_norm abs addn",
    "ops.functional": "dtype shape depend cast clip_by_value partial tuple_to_array",
    "ops.operations": "Dense ReLU Concat ReduceMean ReduceSum Cast Reshape",
    "ops.primitive": "constexpr Primitive PrimitiveWithCheck PrimitiveWithInfer prim_attr_register",
    "parallel": "set_algo_parameters get_algo_parameters",
    "parallel._auto_parallel_context": "auto_parallel_context",
    "parallel._cell_wrapper": "destroy_allgather_cell AllGatherCell get_allgather_cell",
    "parallel._cost_model_context": "set_cost_model_context cost_model_context get_cost_model_context reset_cost_model_context",
    "parallel._ps_context": "set_ps_enable",
    "parallel._utils": "",
    "profiler": "Profiler ExportType ProfilerActivity ProfilerLevel mstx profile schedule",
    "train": "load_checkpoint load_param_into_net export Model CheckpointConfig ModelCheckpoint TimeMonitor",
    "train._utils": "",
    "train.callback": "CheckpointConfig ModelCheckpoint TimeMonitor LossMonitor Callback RunContext SummaryCollector",
    "train.callback._callback": "Callback RunContext set_cur_net",
    "train.callback._checkpoint": "CheckpointConfig ModelCheckpoint CheckpointManager",
    "train.callback._loss_monitor": "LossMonitor",
    "train.callback._time_monitor": "TimeMonitor",
    "train.loss_scale_manager": "FixedLossScaleManager DynamicLossScaleManager LossScaleManager",
    "train.metrics": "Metric Top1CategoricalAccuracy Top5CategoricalAccuracy Loss Accuracy ConfusionMatrixMetric rearrange_inputs",
    "train.model": "Model",
    "train.serialization": "load_checkpoint load_param_into_net export save_checkpoint load tensor_to_np_type async_ckpt_thread_status",
    "train.summary": "SummaryRecord",
    "train.summary.summary_record": "SummaryRecord",
    "train.train_thor": "ConvertModelUtils ConvertNetUtils",
    "train.train_thor.dataset_helper": "DatasetHelper",
}


def _module(path, names):
    @case(path)
    def _(ms):
        """The kinds of its names."""
        module = importlib.import_module(f"{ms.__name__}.{path}")
        return {n: isinstance(getattr(module, n), type) for n in names} | {"": module.__name__[:9]}


for _path, _names in MODULES.items():
    _module(_path, _names.split())

OLD = """
compression.common compression.quant compression.quant.quant_utils compression.quant.quantizer dataset.config dataset.transforms.c_transforms dataset.transforms.py_transforms dataset.transforms.vision dataset.transforms.vision.c_transforms dataset.transforms.vision.py_transforms dataset.vision.c_transforms dataset.vision.py_transforms nn.layer.quant nn.metrics.metric profiler.profiling
""".split()


def _old(path):
    @case(path, ref=lambda: True)
    def _(ms):
        """A path of older releases is still one."""
        return importlib.import_module(f"{ms.__name__}.{path}").__doc__ is not None


for _path in OLD:
    _old(_path)


@case("communication.management")
def _(ms):
    """Packages are found by their names, without an import of their own."""
    inner = ms.communication.management, ms.nn.layer.basic, ms.ops.operations, ms.common.initializer
    return [m.__name__ for m in inner]
