"""What does not go together is refused before any process waits: a forgotten init, other numbers than those of the launcher, a mode
that comes too late; and what a reducer is not told comes from the settings."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Model, Tensor, nn, ops
from mindspore.communication import create_group, get_group_size, get_rank, init
from mindspore.dataset import NumpySlicesDataset

X = np.random.RandomState(0).randn(8, 3).astype(np.float32)
DATA = NumpySlicesDataset((X, X[:, :1]), ["x", "y"]).batch(2)
ms.set_context(mode=ms.GRAPH_MODE)


def refuses(error, text, function, *args, **kwargs):
    try:
        function(*args, **kwargs)
    except error as raised:
        assert text in str(raised), raised
        assert len(str(raised).splitlines()) <= 12, raised
    else:
        raise AssertionError(f"{text!r} is not said")


def step_of(net):
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), optimizer).set_train()


def forgotten():
    text = "'init()' has not been called in this one, rank"
    refuses(RuntimeError, text, get_rank)
    refuses(RuntimeError, text, get_group_size)
    refuses(RuntimeError, text, create_group, "g", [0])
    refuses(RuntimeError, text, ops.AllReduce)
    net = nn.Dense(3, 1)
    refuses(RuntimeError, text, nn.DistributedGradReducer, net.trainable_params())
    step_of(net)(Tensor(X), Tensor(X[:, :1]))  # each for itself, as the mode says
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    refuses(RuntimeError, text, step_of, net)
    model = Model(net, nn.MSELoss())
    refuses(RuntimeError, text, model.train, 1, DATA)
    ms.set_auto_parallel_context(parallel_mode="semi_auto_parallel")
    refuses(RuntimeError, text, step_of(net), Tensor(X), Tensor(X[:, :1]))
    ms.reset_auto_parallel_context()


def numbers():
    ms.set_auto_parallel_context(device_num=2, global_rank=get_rank())
    text = "'device_num' must be 2, the number of processes, but got 5"
    refuses(ValueError, text, ms.set_auto_parallel_context, device_num=5)
    refuses(ValueError, "'global_rank' must be", ms.set_auto_parallel_context, global_rank=9)
    assert ms.get_auto_parallel_context("device_num") == 2


def late():
    net = nn.Dense(3, 1)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    model = Model(net, nn.MSELoss(), optimizer)
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    refuses(RuntimeError, "the mode was set after the Model", model.train, 1, DATA)


def reducers():
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    for mean in (False, True):
        ms.set_auto_parallel_context(gradients_mean=mean)
        net = nn.Dense(3, 1, weight_init=Tensor(np.full((1, 3), get_rank() + 1.0, np.float32)))
        reducer = nn.DistributedGradReducer(net.trainable_params())
        assert net.weight.asnumpy().tolist() == [[1, 1, 1]]  # those of rank 0
        (total,) = reducer((Tensor([2.0]),))
        assert float(total) == (2 if mean else 4), total
        (total,) = nn.DistributedGradReducer([], not mean)((Tensor([2.0]),))
        assert float(total) == (4 if mean else 2), total


forgotten()
init()
numbers()
late()
reducers()
ops.Barrier()()
print("all is well", flush=True)
