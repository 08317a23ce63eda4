"""Evaluates DQN: `python -m mindspore.model_zoo.dqn.eval --checkpoint FILE`."""

from __future__ import annotations

import mindspore as ms
from mindspore.model_zoo import _programs
from mindspore.model_zoo.dqn import QNetwork
from mindspore.model_zoo.dqn.config import CONFIG
from mindspore.model_zoo.dqn.data import ACTIONS, SIZE, accuracy


def main() -> None:
    """Print the part of all starts from which the goal is reached."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=False)
    net = QNetwork(SIZE, ACTIONS, chosen.hidden)
    ms.load_checkpoint(chosen.checkpoint, net, strict_load=True)
    _programs.tell(accuracy(net))


if __name__ == "__main__":
    main()
