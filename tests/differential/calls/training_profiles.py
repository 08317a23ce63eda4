"""Profiles, reducers of gradients, and layers of quantisation."""

import os
import tempfile

import numpy as np
from differential.calllib import call, case, f32, found, made, of
from differential.small_model import X, Y, dense

# ---- profiles ---------------------------------------------------------------------------------------
for _name in ("Profiler", "profiler.Profiler", "profiler.profiling.Profiler", "profiler.profile"):

    @case(_name, ref=lambda: (X * 2, True))
    def _(ms, name=_name):
        """What ran is computed, and written down."""
        with tempfile.TemporaryDirectory() as folder:
            profiler = found(ms, name)(output_path=folder, start_profile=False)
            profiler.start()
            y = ms.Tensor(X) * 2
            profiler.stop()
            profiler.analyse()
            return y, any(files for _, _, files in os.walk(folder))

    case(_name, ref=lambda: "TypeError")(
        lambda ms, name=_name: _raised(lambda: found(ms, name)(nothing=3))
    )


def _raised(function):
    """What a function raises."""
    try:
        return function()
    except Exception as error:
        return type(error).__name__


for _name in ("ExportType", "ProfilerActivity"):

    @case(f"profiler.{_name}")
    def _(ms, name=_name):
        """Its values."""
        return sorted(m.value for m in getattr(ms.profiler, name))


@case("profiler._ExperimentalConfig")
def _(ms):
    """With a level."""
    config = ms.profiler._ExperimentalConfig(profiler_level=ms.profiler.ProfilerLevel.Level1)
    return type(config).__name__


@case("profiler.mstx", ref=lambda: X + 1)
def _(ms):
    """Marks change nothing."""
    ms.profiler.mstx.mark("here")
    span = ms.profiler.mstx.range_start("part")
    y = ms.Tensor(X) + 1
    ms.profiler.mstx.range_end(span)
    return y


@case("profiler.tensorboard_trace_handler")
def _(ms):
    """A function."""
    with tempfile.TemporaryDirectory() as folder:
        return callable(ms.profiler.tensorboard_trace_handler(folder))


# ---- reducers and sums of gradients -----------------------------------------------------------------
@case("nn.DistributedGradReducer", ref=lambda: [X, Y])
def _(ms):
    """Alone, gradients stay as they are."""
    parameters = [ms.Parameter(ms.Tensor(v), name=n) for n, v in (("a", X), ("b", Y))]
    reducer = ms.nn.DistributedGradReducer(parameters, mean=True, degree=1)
    return list(reducer((ms.Tensor(X), ms.Tensor(Y))))


@case("nn.PipelineGradReducer", ref=lambda: [X / 4])
def _(ms):
    """Gradients without the scale."""
    parameters = [ms.Parameter(ms.Tensor(X), name="a")]
    return list(ms.nn.PipelineGradReducer(parameters, 4.0)((ms.Tensor(X),)))


@case("nn.wrap.loss_scale.grad_scale", ref=lambda: X / 4)
def _(ms):
    """A gradient without its scale."""
    return ms.nn.wrap.loss_scale.grad_scale(ms.Tensor([4.0]), ms.Tensor(X))


@case("boost.grad_accumulation.gradient_accumulation_op", ref=lambda: X + X / 2)
def _(ms):
    """A share is added."""
    total = ms.Parameter(ms.Tensor(X), name="a")
    found(ms, "boost.grad_accumulation.gradient_accumulation_op")(2, total, ms.Tensor(X))
    return total


@case("boost.grad_accumulation.gradient_clear_op")
def _(ms):
    """A sum begins anew."""
    total = ms.Parameter(ms.Tensor(X), name="a")
    found(ms, "boost.grad_accumulation.gradient_clear_op")(total)
    return total


@case("nn.wrap.cell_wrapper._VirtualDatasetCell")
def _(ms):
    """The network's own result."""
    return found(ms, "nn.wrap.cell_wrapper._VirtualDatasetCell")(dense(ms))(ms.Tensor(X))


@case("nn.optim.optimizer.opt_init_args_register")
def _(ms):
    """The object is made as before."""

    class Rate(ms.nn.Cell):
        @found(ms, "nn.optim.optimizer.opt_init_args_register")
        def __init__(self, params, learning_rate=0.5):
            super().__init__()
            self.rate = learning_rate

    return Rate([ms.Parameter(ms.Tensor(X), name="a")]).rate


@case("nn.loss.loss._Loss")
def _(ms):
    """How it reduces."""
    kind = found(ms, "nn.loss.loss._Loss")

    class Square(kind):
        def construct(self, x, y):
            return self.get_loss(ms.ops.square(x - y))

    return [
        Square(r)(ms.Tensor(X), ms.Tensor(X * 2 + 1)).asnumpy() for r in ("mean", "sum", "none")
    ]


case("nn.loss.loss._Loss")(lambda ms: found(ms, "nn.loss.loss._Loss")("most"))

# ---- layers -----------------------------------------------------------------------------------------


def _rounded(x, low, high, least=0, most=255):
    scale = (high - low) / (most - least)
    zero = np.clip(np.round(least - low / scale), least, most)
    return (np.clip(np.round(x / scale) + zero, least, most) - zero) * scale


@case("nn.FakeQuantWithMinMaxObserver", ref=lambda: _rounded(X, -1.0, 1.5).astype(np.float32))
def _(ms):
    """Values between bounds."""
    return ms.nn.FakeQuantWithMinMaxObserver(-1.0, 1.5)(ms.Tensor(X))


@case("nn.ActQuant", ref=lambda: _rounded(np.maximum(X, 0), -6.0, 6.0).astype(np.float32))
def _(ms):
    """Behind an activation."""
    return ms.nn.ActQuant(ms.nn.ReLU())(ms.Tensor(X))


@case("nn.TensorAddQuant", ref=lambda: _rounded(X + X, -6.0, 6.0).astype(np.float32))
def _(ms):
    """Behind a sum."""
    return ms.nn.TensorAddQuant()(ms.Tensor(X), ms.Tensor(X))


def _near(quantised, plain):
    """Whether rounding alone tells two results apart."""
    wide = float(abs(plain).max())
    return bool(float(abs(quantised - plain).max()) < 0.05 * max(wide, 1.0))


@case("nn.DenseQuant", ref=lambda: True)
def _(ms):
    """Near the layer without rounding."""
    weight, bias = ms.Tensor([[0.5, -0.25]]), ms.Tensor([0.1])
    layer = ms.nn.DenseQuant(2, 1, weight, bias)
    return _near(layer(ms.Tensor(X)), dense(ms)(ms.Tensor(X)))


for _name in ("Conv2dQuant", "Conv2dBnFoldQuant", "Conv2dBnFoldQuantOneConv"):

    @case(f"nn.{_name}", ref=lambda: True)
    def _(ms, name=_name):
        """Near the layers without rounding."""
        x, w = ms.Tensor(f32(2, 3, 5, 5).value), ms.Tensor(f32(4, 3, 3, 3, low=-1, high=1).value)
        layer = getattr(ms.nn, name)(3, 4, 3, weight_init=w).set_train(False)
        plain = ms.nn.Conv2d(3, 4, 3, weight_init=w)
        return _near(layer(x), plain(x))


@case("compression.quant.create_quant_config", ref=lambda: True)
def _(ms):
    """Observers for weights and activations."""
    config = found(ms, "compression.quant.create_quant_config")(per_channel=(True, False))
    return callable(config.weight) and callable(config.activation)


@case("compression.quant.quantizer.OptimizeOption", ref=lambda: ["QAT"])
def _(ms):
    """What there is to choose."""
    return [
        o.value for o in found(ms, "compression.quant.quantizer.OptimizeOption") if o.name == "QAT"
    ]


class _Block:
    """A layer that can be quantised, and its network."""

    def __new__(cls, ms):
        class Block(ms.nn.Cell):
            def __init__(self):
                super().__init__()
                self.conv = ms.nn.Conv2dBnAct(3, 4, 3, weight_init="ones", activation="relu")

            def construct(self, x):
                return self.conv(x)

        return Block()


@case("compression.quant.QuantizationAwareTraining", ref=lambda: "written with the layers")
def _(ms):
    """It says how a network is quantised here."""
    try:
        found(ms, "compression.quant.QuantizationAwareTraining")()
    except NotImplementedError as error:
        return str(error)[str(error).index("written") :][:23]


@case("compression.quant.quant_utils.load_nonquant_param_into_quant_net", ref=lambda: [7.0, 7.0])
def _(ms):
    """A network's own weights, in that which rounds."""
    plain = ms.nn.SequentialCell(ms.nn.Conv2d(1, 2, 3, weight_init=7), ms.nn.Dense(3, 4, 7))
    net = ms.nn.SequentialCell(ms.nn.Conv2dQuant(1, 2, 3), ms.nn.DenseQuant(3, 4))
    load = found(ms, "compression.quant.quant_utils.load_nonquant_param_into_quant_net")
    load(net, plain.parameters_dict())
    return [float(layer.weight.min()) for layer in net]


made("nn.ResizeBilinear")(f32(1, 2, 3, 3), (5, 5), ref=lambda x, size: _bilinear(x, size))


def _bilinear(x, size):
    """By the corner of each pixel."""
    for axis, most in ((2, size[0]), (3, size[1])):
        n = x.shape[axis]
        at = np.arange(most) * n / most
        low = np.minimum(at.astype(int), n - 1)
        part = (at - low).reshape(-1, *([1] * (3 - axis)))
        high = np.minimum(low + 1, n - 1)
        x = x.take(low, axis) * (1 - part) + x.take(high, axis) * part
    return x.astype(np.float32)


@case("train.amp.AmpLevel")
def _(ms):
    """What there is to choose."""
    from importlib import import_module

    kind = import_module(f"{ms.__name__}.train.amp").AmpLevel
    return [hasattr(kind, n) for n in ("AmpO0", "AmpO1", "AmpO2", "AmpO3", "AmpAuto")]


call(
    "mint.batch_norm_gather_stats_with_counts",
    f32(2, 3, 4),
    f32(2, 3),
    f32(2, 3, low=0.5, seed=1),
    None,
    None,
    0.1,
    1e-5,
    of([4.0, 4.0]),
    tol=1e-5,
    ref=lambda x, m, i, rm, rv, mo, e, c: _gathered(m, i, e),
)


def _gathered(means, inverses, eps):
    """The mean and inverse deviation of parts of one size."""
    mean = means.mean(0)
    var = (1 / inverses**2 - eps + means**2).mean(0) - mean**2
    return mean, 1 / np.sqrt(var + eps)
