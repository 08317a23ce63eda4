"""A field of squares with walls, holes and a goal, and the memory of what was tried there."""

from __future__ import annotations

import numpy as np

from mindspore import Tensor, nn

_FIELD = ("....#", ".#...", ".#.O.", "...#.", ".O..G")  # walls, holes, the goal
_MOVES = ((-1, 0), (0, 1), (1, 0), (0, -1))
SIZE, ACTIONS = len(_FIELD) * len(_FIELD[0]), len(_MOVES)
_LONGEST = 30  # steps of a walk
STARTS = [i for i in range(SIZE) if _FIELD[i // 5][i % 5] == "."]


def moved(place: int, action: int) -> tuple[int, float, bool]:
    """Where a step leads, its reward, and whether it is the last."""
    row, column = divmod(place, 5)
    down, right = _MOVES[action]
    row, column = row + down, column + right
    if not (0 <= row < 5 and 0 <= column < 5) or _FIELD[row][column] == "#":
        return place, -0.05, False
    kind = _FIELD[row][column]
    reward = {"G": 1.0, "O": -1.0}.get(kind, -0.02)
    return row * 5 + column, reward, kind in "GO"


def states(places: np.ndarray) -> np.ndarray:
    """Places as vectors with a single 1."""
    return np.eye(SIZE, dtype=np.float32)[places]


class Memory:
    """The last steps that were tried.

    Args:
        size: how many are kept.
        seed: of what is drawn.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.steps: list[tuple] = []
        self.size, self.random = size, np.random.RandomState(seed)

    def walk(self, net: nn.Cell, daring: float) -> None:
        """Walks from anywhere, with actions by chance as often as it is daring."""
        place = int(self.random.choice(STARTS))
        for _ in range(_LONGEST):
            action = int(self.random.randint(ACTIONS))
            if self.random.rand() >= daring:
                action = int(net(Tensor(states(np.array([place])))).asnumpy().argmax())
            after, reward, ended = moved(place, action)
            self.steps.append((place, action, reward, after, ended))
            place = after
            if ended:
                break
        del self.steps[: -self.size]

    def batch(self, count: int) -> tuple[Tensor, ...]:
        """States, actions, rewards, states that followed, and whether the walk ended."""
        drawn = self.random.randint(0, len(self.steps), count)
        before, actions, rewards, after, ended = map(np.array, zip(*[self.steps[i] for i in drawn]))
        arrays = (
            states(before),
            actions.astype(np.int32),
            rewards.astype(np.float32),
            states(after),
            ended.astype(np.float32),
        )
        return tuple(map(Tensor, arrays))


def accuracy(net: nn.Cell) -> float:
    """The part of all starts from which the best actions lead to the goal."""
    best = net(Tensor(states(np.arange(SIZE)))).asnumpy().argmax(1)
    hits = 0
    for place in STARTS:
        for _ in range(_LONGEST):
            place, reward, ended = moved(place, int(best[place]))
            if ended:
                hits += reward > 0
                break
    return hits / len(STARTS)
