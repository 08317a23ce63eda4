"""Names of parameters in other frameworks."""

from __future__ import annotations

from mindspore import nn

# What PyTorch calls the parameters of layers that have other names here.
_THEIRS = {
    "gamma": "weight",
    "beta": "bias",
    "moving_mean": "running_mean",
    "moving_variance": "running_var",
    "embedding_table": "weight",
}
_OF_CLASS: dict[type, dict[str, str]] = {nn.PReLU: {"a": "weight", "w": "weight"}}


def name_map(net: nn.Cell) -> dict[str, str]:
    """The names of a network's parameters by those that PyTorch gives them in a network of the same structure.

    Most names are equal. Others are those of normalisations (`weight` for `gamma`, `running_mean` for `moving_mean`, ...), of
    embeddings (`weight` for `embedding_table`) and of PReLU. What PyTorch keeps beside (`num_batches_tracked`) has no
    counterpart here.

    Args:
        net: The network that takes the weights.

    Examples:
        >>> net = nn.SequentialCell(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2))
        >>> ms.train.name_map(net)["1.running_mean"]
        '1.moving_mean'
    """
    if not isinstance(net, nn.Cell):
        raise TypeError(f"For 'name_map', 'net' must be a Cell, but got {type(net).__name__}.")
    names: dict[str, str] = {}
    for path, cell in net.cells_and_names():
        known = {**_THEIRS, **_OF_CLASS.get(type(cell), {})}
        for parameter in cell.get_parameters(expand=False):
            own = parameter.name.rpartition(".")[2]
            theirs = f"{path}.{known.get(own, own)}".lstrip(".")
            if theirs in names and names[theirs] != parameter.name:
                raise ValueError(
                    f"For 'name_map', the names must differ, but {names[theirs]!r} and {parameter.name!r} are both {theirs!r}."
                )
            names[theirs] = parameter.name
    return names


__all__ = ["name_map"]
