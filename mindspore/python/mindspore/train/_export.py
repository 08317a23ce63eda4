"""`export` and `load`: networks as graphs in files."""

from __future__ import annotations

import os
from typing import Any

from mindspore import _paths, nn
from mindspore.common.tensor import Tensor

_FORMATS = ("MINDIR", "AIR", "ONNX")
_SUFFIX = ".mindir"
# Options of export and load that ask for more than a graph in a file, and why there is no such thing.
_REFUSED = {
    "enc_key": "MINDIR files are not encrypted by this version",
    "dec_key": "MINDIR files are not encrypted by this version",
    "dataset": "steps of a data pipeline do not go into the file",
    "obf_config": "weights are not obfuscated by this build",
    "incremental": "graphs with a memory of earlier calls are not part of this build",
    "custom_func": "the file is written as a whole",
}
# Those that say how, and are of no use without the others.
_ACCEPTED = {"enc_mode", "dec_mode"}


def export(net: Any, *inputs: Any, file_name: str, file_format: str, **kwargs: Any) -> None:
    """Save a network as a graph that needs no Python source: MindSpore's MINDIR files, which `load` reads.

    The graph is that of a call with inputs of these shapes and types, with all weights. What the network does beside
    computing values (new statistics of a batch normalisation in training, printing) cannot go into it and is refused, and so is an
    op that MINDIR files have no primitive for, with the line where it stands.

    Args:
        net: A Cell. Call `net.set_train(False)` before.
        inputs: Tensors like those that the network is called with; only their shapes and types matter.
        file_name: The file; ".mindir" is added where it is missing.
        file_format: "MINDIR"; "AIR" and "ONNX" are not available.
        kwargs: Options of other versions: those that change the file (`enc_key`, `dataset`) are refused.

    Examples:
        >>> net = nn.Dense(3, 4)
        >>> ms.export(net, ms.Tensor(np.ones((2, 3), np.float32)), file_name="dense", file_format="MINDIR")
        >>> cell = nn.GraphCell(ms.load("dense.mindir"))
    """
    _check_options("export", kwargs)
    path = _paths.checked("export", "file_name", file_name)
    if file_format not in _FORMATS:
        raise ValueError(
            f"For 'export', 'file_format' must be one of {list(_FORMATS)}, but got {file_format!r}."
        )
    if file_format != "MINDIR":
        raise NotImplementedError(
            f"For 'export', the format {file_format!r} is not available: this version writes MINDIR files."
        )
    if not isinstance(net, nn.Cell):
        raise TypeError(f"For 'export', 'net' must be a Cell, but got {type(net).__name__}.")
    for x in inputs:
        if not isinstance(x, Tensor):
            raise TypeError(
                f"For 'export', the inputs must be Tensors, but got {type(x).__name__}."
            )
    if not path.endswith(_SUFFIX):
        path += _SUFFIX
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    from mindspore.train._mindir import writing

    writing.write(net, inputs, path)


def load(file_name: str, **kwargs: Any) -> Any:
    """Read a MINDIR file, of `export` or of MindSpore itself. `nn.GraphCell` makes a Cell of what it returns.

    Nothing in the file is executed but ops that this version has, and what is damaged, or not known, is a ValueError.

    Args:
        file_name: The file, whose name ends in ".mindir".
        kwargs: Options of other versions: `dec_key` is refused.

    Examples:
        >>> cell = nn.GraphCell(ms.load("dense.mindir"))
        >>> print(cell(ms.Tensor(np.ones((2, 3), np.float32))).shape)
        (2, 4)
    """
    _check_options("load", kwargs)
    path = _paths.checked("load", "file_name", file_name)
    if not path.endswith(_SUFFIX):
        raise ValueError(f"For 'load', 'file_name' must end in '{_SUFFIX}', but got '{path}'.")
    from mindspore.train._mindir import reading

    return reading.read(path)


def _check_options(op: str, options: dict) -> None:
    for name, value in options.items():
        if name in _REFUSED and value is not None and value is not False:
            raise NotImplementedError(f"For '{op}', '{name}' is not available: {_REFUSED[name]}.")
        if name not in _REFUSED and name not in _ACCEPTED:
            raise TypeError(f"For '{op}', there is no argument '{name}'.")
