"""Trains DQN: `python -m mindspore.model_zoo.dqn.train --output FOLDER`."""

from __future__ import annotations

import os

import mindspore as ms
from mindspore import nn
from mindspore.model_zoo import _programs
from mindspore.model_zoo.dqn import QNetwork, WorthLoss
from mindspore.model_zoo.dqn.config import CONFIG
from mindspore.model_zoo.dqn.data import ACTIONS, SIZE, Memory, accuracy

_OLDER = 5  # after so many walks the older network becomes what the other one is


def main() -> None:
    """Walk and learn, judge the best actions, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    net, older = (QNetwork(SIZE, ACTIONS, chosen.hidden) for _ in range(2))
    loss = WorthLoss(net, older, chosen.discount)
    step = nn.TrainOneStepCell(loss, nn.Adam(net.trainable_params(), chosen.rate))
    step.set_train()
    memory = Memory(chosen.memory, chosen.seed)
    for walk in range(chosen.walks):
        if walk % _OLDER == 0:
            ms.load_param_into_net(older, net.parameters_dict())
        memory.walk(net, max(0.1, 1 - 2 * walk / chosen.walks))
        for _ in range(chosen.steps):
            value = step(*memory.batch(chosen.batch))
        if (walk + 1) % 25 == 0:
            print(f"walk: {walk + 1}, loss is {float(value):.4f}")
    os.makedirs(chosen.output, exist_ok=True)
    ms.save_checkpoint(net, os.path.join(chosen.output, "final.ckpt"))
    _programs.tell(accuracy(net))


if __name__ == "__main__":
    main()
