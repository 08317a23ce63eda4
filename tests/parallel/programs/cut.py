"""A network whose Parameters lie in slices over the processes, as pins say, is trained as one process trains it."""

from __future__ import annotations

import numpy as np

import mindspore as ms
from mindspore import Tensor, _core, nn
from mindspore.communication import get_group_size, get_rank, init

init()
RANK, SIZE = get_rank(), get_group_size()
ms.set_context(mode=ms.GRAPH_MODE)
MESH = (("dp", 2), ("mp", SIZE // 2)) if SIZE > 2 else (("mp", SIZE),)
PINS = {"0.weight": "[mp, -]", "2.weight": "[-, mp]", "0.bias": "[mp]"}


def training() -> tuple[nn.Cell, nn.Cell]:
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(4, 7), nn.ReLU(), nn.Dense(7, 3))
    loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    return net, nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer).set_train()


random = np.random.default_rng(0)
x = Tensor(random.normal(size=(5, 4)).astype(np.float32))
y = Tensor(random.integers(0, 3, 5).astype(np.int32))

alone, step = training()
wanted = [float(step(x, y)) for _ in range(4)]
wanted_parameters = [p.asnumpy() for p in alone.get_parameters()]

for pins in (PINS, {}):
    net, step = training()
    _core.set_parallel(MESH, RANK, "semi_auto" if pins else "auto", parameters=pins)
    assert _core.parallel_key()
    found = [float(step(x, y)) for _ in range(4)]
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
    for p, w in zip(net.get_parameters(), wanted_parameters):
        slice_layout = _core.slice_layout(p)
        if p.name in pins:
            assert slice_layout["layout"] == pins[p.name]
            assert p.shape == w.shape
            at = tuple(slice(o, o + n) for o, n in slice_layout["box"])
            np.testing.assert_allclose(_core.local_value(p).asnumpy(), w[at], rtol=1e-4, atol=1e-6)
            try:
                p.asnumpy()
                raise AssertionError("a Parameter in slices has no value")
            except RuntimeError as error:
                assert p.name in str(error) and "lies in slices" in str(error)
        whole = _core.gather_parameter(p) if slice_layout else p
        np.testing.assert_allclose(whole.asnumpy(), w, rtol=1e-4, atol=1e-6)
    _core.set_parallel(None)
    for p in net.get_parameters():
        if _core.slice_layout(p):
            _core.unslice(p)
    np.testing.assert_allclose(net(x).asnumpy(), alone(x).asnumpy(), rtol=1e-4, atol=1e-5)
print("all is well")
