"""What cannot be divided as the program says is refused, in all processes."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.communication import get_rank, init
from mindspore.parallel import Layout, shard

X = Tensor(np.ones((8, 6), np.float32))


def mode(**more):
    ms.set_context(mode=ms.GRAPH_MODE)
    given = {"parallel_mode": "semi_auto_parallel", "full_batch": True, **more}
    ms.set_auto_parallel_context(**given)


def step(net):
    whole = nn.WithLossCell(net, nn.MSELoss())
    return nn.TrainOneStepCell(whole, nn.SGD(net.trainable_params(), 0.1)).set_train()


def pynative():
    """Nothing is divided in eager code, and an optimizer would train each process for itself."""
    mode()
    ms.set_context(mode=ms.PYNATIVE_MODE)
    step(nn.Dense(6, 6))(X, X)


def not_divisible():
    """Three columns in two."""
    mode()
    product = ops.MatMul().shard(((1, 1), (1, 2)))
    ms.jit(lambda x: product(x, Tensor(np.ones((6, 3), np.float32))))(X)


def too_many_devices():
    """Four parts for two processes."""
    mode()
    product = ops.MatMul().shard(((4, 1), (1, 1)))
    ms.jit(lambda x: product(x, x.T))(X)


def inner_dimensions():
    """The same dimension, cut in one operand alone."""
    mode()
    product = ops.MatMul().shard(((1, 2), (1, 1)))
    ms.jit(lambda x: product(x, x.T))(X)


def contradiction():
    """One Parameter, two layouts."""
    mode()
    net, layout = nn.Dense(6, 6), Layout((2,), ("mp",))
    for pin in ("None", "mp"), ("mp", "None"):
        net.shard((layout("None", "None"),), None, {"weight": layout(*pin)})


def eager_read():
    """A Parameter of which this process has a part."""
    mode()
    net, layout = nn.Dense(6, 6), Layout((2,), ("mp",))
    net.shard((layout("None", "None"),), None, {"weight": (2, 1)})
    step(net)(X, X)
    net.weight.asnumpy()


def dataset_strategy():
    """An entry for each dimension."""
    mode(full_batch=False, dataset_strategy=((2, 1, 1), (2, 1)))
    step(nn.Dense(6, 6))(X, X)


def not_whole():
    """What would run in pieces."""
    mode()

    def function(x):
        y = x * 2
        print(open("/dev/null").read())
        return y + 1

    ms.jit(function)(X)


def function_pins():
    """Five cuts of eight rows."""
    mode()
    ms.jit(shard(lambda x: x * 2, in_strategy=((5, 1),)))(X)


def other_batches():
    """Each process is given another batch, where all are said to be given the same."""
    mode()
    step(nn.Dense(6, 6))(X * get_rank(), X)


def other_batches_later():
    """The same, in a later step."""
    mode()
    train = step(nn.Dense(6, 6))
    for number in range(4):
        train(X, X * (get_rank() if number == 3 else 1))


def other_parts():
    """Of four rows that two processes have in common, one has others."""
    mode(full_batch=False, dataset_strategy=((1, 2), (1, 1)))
    step(nn.Dense(12, 6))(X, X * get_rank())


REFUSED = {
    pynative: "RuntimeError: For 'SGD', the step must be compiled in the parallel mode",
    not_divisible: "ValueError: For 'MatMul', the strategy of input 1 must divide the shape (6, 3)",
    too_many_devices: "ValueError: For 'MatMul', the product of the strategy of input 0 must divide 2",
    inner_dimensions: "ValueError: For 'MatMul', dimensions that belong together must be cut alike",
    contradiction: "ValueError: For 'Dense.shard', the Parameter 'weight' must have one layout",
    eager_read: "RuntimeError: For 'parallel_mode', the value of 'weight' must be whole where it is read",
    dataset_strategy: "ValueError: For 'dataset_strategy', the strategy of argument 0 must have an",
    not_whole: "TypeError: 'open' reads or changes what is outside of the program",
    function_pins: "ValueError: For 'shard', the strategy of 'shard' must divide the shape (8, 6)",
    other_batches: "ValueError: For 'parallel_mode', argument 0 of a function that is divided, Float32[8, 6], must have the same values in all processes "
    "that are given the whole batch, but those of rank 1 differ from those of rank 0",
    other_batches_later: "ValueError: For 'parallel_mode', argument 1 of a function that is divided",
    other_parts: "ValueError: For 'parallel_mode', argument 1 of a function that is divided",
}
init()
for mistake, text in REFUSED.items():
    ms.reset_auto_parallel_context()
    try:
        mistake()
    except (RuntimeError, ValueError, TypeError) as error:
        assert f"{type(error).__name__}: {error}".startswith(text), (mistake, error)
    else:
        raise AssertionError(mistake)
ops.Barrier()()
print("all is well", flush=True)
