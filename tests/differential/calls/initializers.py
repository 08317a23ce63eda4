"""Initializers: exact values where they draw nothing, else statistics of many draws."""

import numpy as np
from differential.calllib import at, call, case

SHAPE = (200, 300)


def start(how, shape=SHAPE, dtype="float32", *args, **kwargs):
    """The statistics of an initializer, coarse enough for other draws."""

    @case(f"common.initializer.{how if how[:1].isupper() else 'initializer'}", tol=0.06)
    def program(ms):
        init = ms.common.initializer
        made = getattr(init, how)(*args, **kwargs) if how[:1].isupper() else how
        values = init.initializer(made, shape, getattr(ms, dtype)).init_data()
        found = values.asnumpy().astype(np.float64)
        plain = found.size <= 64
        parts = [
            found.std(),
            np.abs(found).mean(),
            np.quantile(np.abs(found), 0.99),
            abs(found.mean()) < 0.05 * (found.std() + 1),
        ]
        return [
            str(values.dtype),
            list(values.shape),
            values if plain else [p.item() for p in map(np.asarray, parts)],
        ]


for kind in "normal uniform xavier_uniform xavieruniform he_uniform heuniform he_normal truncatedNormal zeros ones zero one XavierNormal truncatednormal nothing".split():
    if kind[:1].islower():
        start(kind)
start("ones", (2, 3))
start("zeros", (2, 3), "float16")
start("normal", (40, 50, 3, 3))
start("Zero", (2, 3))
start("One", (2, 3), "int32")
start("Constant", (2, 3), "float32", 2.5)
start("Constant", (2, 3), "float32", value=-1)
start("Constant", (2, 3), "float32", "a")
start("Normal")
start("Normal", SHAPE, "float32", 0.5, 2.0)
start("Normal", SHAPE, "float16", mean=1.0)
start("Normal", SHAPE, "float32", "a")
start("Uniform")
start("Uniform", SHAPE, "float32", 2.0)
start("Uniform", SHAPE, "float32", "a")
start("TruncatedNormal")
start("TruncatedNormal", SHAPE, "float32", 1.0)
start("TruncatedNormal", SHAPE, "float32", 1.0, 0.5, -1.0, 1.0)
start("TruncatedNormal", SHAPE, "float32", "a")
for name in ("XavierUniform", "XavierNormal", "HeUniform", "HeNormal"):
    start(name)
    start(name, (30, 20, 3, 3))
    start(name, (5,))
    start(name, SHAPE, "float32", 2.0)
for mode in ("fan_in", "fan_out", "fan_most"):
    for slope in ("relu", "leaky_relu", "tanh", "most"):
        start("HeNormal", SHAPE, "float32", 0.1, mode, slope)
        start("HeUniform", SHAPE, "float32", negative_slope=0.1, mode=mode, nonlinearity=slope)
for mode in ("fan_in", "fan_out", "fan_avg", "most"):
    for distribution in ("normal", "untruncated_normal", "truncated_normal", "uniform", "most"):
        start("VarianceScaling", SHAPE, "float32", 2.0, mode, distribution)
start("VarianceScaling", SHAPE, "float32", -1.0)
start("Identity", (3, 4))
start("Identity", (2, 3, 4))
start("Dirac", (4, 2, 3))
start("Dirac", (4, 2, 3, 3), "float32", 2)
start("Dirac", (4, 2, 3), "float32", 3)
start("Dirac", (4, 2))
start("Sparse", (200, 300), "float32", 0.4)
start("Sparse", (200, 300), "float32", 0.1, 2.0)
start("Sparse", (2, 3, 4), "float32", 0.1)
start("Sparse", (20, 30), "float32", 1.5)
start("Orthogonal")
start("Orthogonal", SHAPE, "float32", 2.0)
start("Orthogonal", (4,))


@case("common.initializer.Orthogonal", tol=1e-4)
def _(ms):
    """rows of length 1 at right angles"""
    init = ms.common.initializer
    rows = init.initializer(init.Orthogonal(), (3, 5), ms.float32).init_data().asnumpy()
    return np.round(np.abs(rows @ rows.T), 4).astype(np.float32)


@case("common.initializer.Sparse")
def _(ms):
    """as many zeros in each column"""
    init = ms.common.initializer
    found = init.initializer(init.Sparse(0.3), (10, 6), ms.float32).init_data().asnumpy()
    return (found == 0).sum(0).tolist()


@case("common.initializer.Initializer")
def _(ms):
    """of one's own"""
    init = ms.common.initializer

    class Counting(init.Initializer):
        def _initialize(self, arr):
            arr[:] = np.arange(arr.size).reshape(arr.shape)

    return [
        init.initializer(Counting(), (2, 3), ms.float32).init_data(),
        init.initializer(Counting(), [4]).init_data(),
    ]


for shape in ([2, 3], 3, (0, 2), (-1, 2), (2.5,), "a", None, ()):

    @case("common.initializer.initializer")
    def _(ms, shape=shape):
        return ms.common.initializer.initializer("ones", shape, ms.float32).init_data()


for how in (2.5, 3, True, None, [1.0], np.float32):

    @case("common.initializer.initializer")
    def _(ms, how=how):
        return ms.common.initializer.initializer(how, (2, 2), ms.float32).init_data()


call("common.initializer.initializer", "ones", (2, 2), at("nn.ReLU"))
call("common.initializer.initializer", "ones", (2, 2), "float32")


@case("common.initializer.initializer")
def _(ms):
    """of a Tensor"""
    init = ms.common.initializer
    return [
        init.initializer(ms.Tensor([1.0, 2.0]), (2,), ms.float32),
        ms.Parameter(init.initializer("ones", (2,)), name="p"),
    ]


@case("common.initializer.initializer")
def _(ms):
    """the same again after the same seed"""
    init = ms.common.initializer

    def draw(seed):
        ms.set_seed(seed)
        return init.initializer("normal", (4,), ms.float32).init_data().asnumpy()

    return [bool((draw(1) == draw(1)).all()), bool((draw(1) == draw(2)).all())]
