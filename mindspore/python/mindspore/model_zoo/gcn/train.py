"""Trains a network of graphs: `python -m mindspore.model_zoo.gcn.train --output FOLDER`."""

from __future__ import annotations

from mindspore.model_zoo import _programs
from mindspore.model_zoo.gcn import graph_network
from mindspore.model_zoo.gcn.config import CONFIG
from mindspore.model_zoo.gcn.data import CLASSES, FEATURES, LEARNING, datasets


def main() -> None:
    """Train, evaluate, save under the output folder."""
    chosen = _programs.options(__doc__ or "", CONFIG, trains=True)
    _programs.train(graph_network(chosen.net, FEATURES, CLASSES), datasets, chosen, LEARNING)


if __name__ == "__main__":
    main()
