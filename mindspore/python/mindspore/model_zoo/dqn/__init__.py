"""DQN: a network that tells what each action is worth, learnt from what was tried."""

from __future__ import annotations

from typing import Any

from mindspore import nn, ops


class QNetwork(nn.Cell):
    """The worth of each action in a state.

    Args:
        size: of a state.
        actions: how many there are.
        hidden: the width of the network.
    """

    def __init__(self, size: int, actions: int, hidden: int = 64) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(
            nn.Dense(size, hidden), nn.ReLU(), nn.Dense(hidden, hidden), nn.ReLU()
        )
        self.head = nn.Dense(hidden, actions)

    def construct(self, states: Any) -> Any:
        """[N, actions] of states [N, size]."""
        return self.head(self.layers(states))


class WorthLoss(nn.Cell):
    """How far the worth of what was done is from the reward and the best of what can follow, as an older network sees it.

    Args:
        net: the network that learns.
        older: an earlier state of it.
        discount: what a step later is worth.
    """

    def __init__(self, net: nn.Cell, older: nn.Cell, discount: float) -> None:
        super().__init__(auto_prefix=False)
        self.net, self.older, self.discount = net, older, discount

    def construct(self, states: Any, actions: Any, rewards: Any, after: Any, ended: Any) -> Any:
        """The loss of a batch of steps."""
        done = ops.gather_elements(self.net(states), 1, actions.expand_dims(1)).squeeze(1)
        best = ops.amax(self.older(after), 1)
        target = ops.stop_gradient(rewards + self.discount * (1.0 - ended) * best)
        return ops.smooth_l1_loss(done, target, reduction="mean")


__all__ = ["QNetwork", "WorthLoss"]
