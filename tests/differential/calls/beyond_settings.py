"""Settings, messages, files and layers of models, of which the reference says nothing on a CPU: what they do."""

import contextlib
import importlib
import io
import logging
import tempfile

import numpy as np
from differential.calllib import call, case, f32, found, made, of, value_of
from differential.small_model import X, dense

WEIGHT = np.float32([1.0, 2.0])


def messages(ms):
    """A list of what is written from now on, and the logger."""
    logger, seen = ms.log._get_logger(), []
    handler = logging.Handler()
    handler.emit = lambda record: seen.append([record.levelname, record.getMessage()])
    logger.addHandler(handler)
    return seen, logger, handler


for level in "debug info warning error critical".split():

    @case(f"log.{level}", ref=lambda level=level: [[level.upper(), "one of 2"]])
    def _(ms, level=level):
        """at which level, and what"""
        seen, logger, handler = messages(ms)
        before = logger.level
        logger.setLevel(logging.DEBUG)
        getattr(ms.log, level)("one of %d", 2)
        logger.setLevel(before)
        logger.removeHandler(handler)
        return seen


for level in "info warning".split():

    @case(f"log.logging.{level}", ref=lambda: ["one of 2"])
    def _(ms, level=level):
        """Python's own"""
        seen, handler, root = [], logging.Handler(), logging.getLogger()
        handler.emit = lambda record: seen.append(record.getMessage())
        root.addHandler(handler)
        before = root.level
        root.setLevel(logging.INFO)
        found(ms, f"log.logging.{level}")("one of %d", 2)
        root.setLevel(before)
        root.removeHandler(handler)
        return seen


for home in "", "context.":

    @case(f"{home}set_ps_context", ref=lambda: [False, False])
    def _(ms, home=home):
        """what is said then"""
        found(ms, f"{home}set_ps_context")(enable_ps=False)
        return [ms.get_ps_context("enable_ps"), ms.context.get_ps_context("enable_ps")]


for name in "set_algo_parameters", "reset_algo_parameters":

    @case(name, ref=lambda: [True, False])
    def _(ms, name=name):
        """what is said then, and after they are forgotten"""
        ms.set_algo_parameters(fully_use_devices=True)
        said = ms.get_algo_parameters("fully_use_devices")
        ms.reset_algo_parameters()
        return [said, ms.get_algo_parameters("fully_use_devices")]


@case("default_generator", ref=lambda: [True, 3])
def _(ms):
    """what is drawn from it is drawn again"""
    drawn = []
    for _ in range(2):
        ms.default_generator.manual_seed(3)
        drawn.append(ms.mint.rand(4).asnumpy())
    return [bool((drawn[0] == drawn[1]).all()), int(ms.default_generator.initial_seed())]


@case("shard", ref=lambda: WEIGHT * 2)
def _(ms):
    """the function's own result on one device"""
    return ms.shard(lambda x: x * 2, in_strategy=((1,),))(ms.Tensor(WEIGHT))


@case("nn.Cell.set_mixed_precision_type", ref=lambda: "Float16")
def _(ms):
    """the dtype of what comes"""
    net = dense(ms)
    net.set_mixed_precision_type(ms.float16)
    return str(net(ms.Tensor(X)).dtype)


@case("QuantDtype")
def _(ms):
    """the members of each width"""
    kinds = importlib.import_module(f"{ms.__name__}.common.dtype").QuantDtype
    return sorted(kind.name for kind in kinds)


@case(
    "nn.wrap.cell_wrapper._VirtualDatasetCell",
    tol=1e-5,
    ref=lambda: X @ np.float32([[0.5], [-0.25]]) + np.float32(0.1),
)
def _(ms):
    """the network's own result"""
    return found(ms, "nn.wrap.cell_wrapper._VirtualDatasetCell")(dense(ms))(ms.Tensor(X))


call("common.initializer._calculate_correct_fan", (4, 3, 2, 5), "fan_in")
call("common.initializer._calculate_correct_fan", (4, 3, 2, 5), "fan_out")


@case("ops.print_", ref=lambda: "now 2 [1. 2.]\n")
def _(ms):
    """what is written"""
    with contextlib.redirect_stdout(io.StringIO()) as seen:
        ms.ops.print_("now", 2, ms.Tensor(WEIGHT))
    return seen.getvalue()


# ---- files ------------------------------------------------------------------------------------
@case("safetensors_to_ckpt", ref=lambda: [["w"], WEIGHT])
def _(ms):
    with tempfile.TemporaryDirectory() as folder:
        one = [{"name": "w", "data": ms.Tensor(WEIGHT)}]
        ms.save_checkpoint(one, f"{folder}/a.safetensors", format="safetensors")
        ms.safetensors_to_ckpt(f"{folder}/a.safetensors", folder)
        back = ms.load_checkpoint(f"{folder}/a.ckpt")
        return [list(back), back["w"]]


@case("load_segmented_checkpoints", ref=lambda: [["a", "b"], WEIGHT])
def _(ms):
    """all files of a folder"""
    with tempfile.TemporaryDirectory() as folder:
        for name in "ab":
            one = [{"name": name, "data": ms.Tensor(WEIGHT)}]
            ms.save_checkpoint(one, f"{folder}/{name}.ckpt")
        back = ms.load_segmented_checkpoints(folder)
        return [sorted(back), back["b"]]


# ---- layers that models of older releases import ----------------------------------------------
def _normed(x):
    normed = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return normed * value_of("gamma", (4,)) + value_of("beta", (4,))


def _entropy(logits, labels, weights):
    logs = logits - np.log(np.exp(logits).sum(-1, keepdims=True))
    return -(logs[np.arange(len(labels)), labels] * weights).sum() / weights.sum()


def _mask(x):
    lower = np.tril(np.ones((x.shape[1],) * 2, np.float32))
    return lower * x[:, None] * x[:, :, None]


for home in "parallel.nn", "parallel._transformer":
    made(f"{home}.layers._LayerNorm", (4,))(f32(2, 3, 4), ref=_normed)
    made(f"{home}.transformer.AttentionMask", 3)(of([[1.0, 1.0, 0.0]]), ref=_mask)
for home in "parallel._transformer.loss", "nn.transformer.loss":
    made(f"{home}.CrossEntropyLoss")(
        f32(3, 5), of([1, 0, 4], "int32"), of([1.0, 0.0, 1.0]), tol=1e-4, ref=_entropy
    )


@case("nn.transformer.transformer.TransformerOpParallelConfig", ref=lambda: [2, 4])
def _(ms):
    """keeps what is said"""
    path = f"{ms.__name__}.nn.transformer.transformer"
    said = importlib.import_module(path).TransformerOpParallelConfig(2, 4)
    return [said.data_parallel, said.model_parallel]
