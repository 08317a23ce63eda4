"""`load_distributed_checkpoint`: what one process has of the checkpoints of several, into its network or into files."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from typing import Any

from mindspore.common import _boxes, _groups
from mindspore.common.parameter import Parameter
from mindspore.train import _encryption, _reslice, serialization
from mindspore.train._reslice import Layouts

_OP = "load_distributed_checkpoint"
_NAMES = "param_name_map.json"


def load_distributed_checkpoint(
    network: Any,
    checkpoint_filenames: Sequence[str] | None = None,
    predict_strategy: Any = None,
    train_strategy_filename: str | None = None,
    strict_load: bool = False,
    dec_key: Any = None,
    dec_mode: str = "AES-GCM",
    format: str = "ckpt",
    unified_safetensors_dir: str | None = None,
    dst_safetensors_dir: str | None = None,
    rank_id: int | None = None,
    output_format: str = "safetensors",
    name_map: dict | None = None,
    max_process_num: int = 64,
    return_param_dict: bool = False,
) -> Any:
    """Load the checkpoints of several processes into the network of this one, or make files of what processes have of them.

    Args:
        network: the network; None: files are made in `dst_safetensors_dir`.
        checkpoint_filenames: the files, in the order of the processes.
        predict_strategy: the layouts of the network by name, or their file; None: it has all.
        train_strategy_filename: the layouts of the checkpoints; None: the setting `strategy_ckpt_load_file`.
        strict_load: see load_param_into_net.
        dec_key, dec_mode: see load_checkpoint.
        format, max_process_num: accepted; names of files say their formats, and one process reads.
        unified_safetensors_dir: a folder that `unified_safetensors` has made, instead of files.
        dst_safetensors_dir: where files `rank_0/net.safetensors`, ... are made.
        rank_id: the process whose parts of `predict_strategy` are loaded; None: this one. Of files: None: all.
        output_format: of files that are made, "ckpt" or "safetensors".
        name_map: new names of parameters by those that they have in the checkpoints; the layouts have the new ones, but those of
            `train_strategy_filename`.
        return_param_dict: whether the parameters are returned.
    """
    del max_process_num
    _check(network, format, dst_safetensors_dir, output_format, name_map)
    _encryption.check_key(_OP, "dec", dec_key, dec_mode, "ckpt")
    target = _target(predict_strategy)
    if unified_safetensors_dir is not None:
        if checkpoint_filenames is not None:
            raise ValueError(
                f"For '{_OP}', one of 'checkpoint_filenames' and 'unified_safetensors_dir' must be None, but got both."
            )
        loaded, source = {0: _unified(unified_safetensors_dir)}, Layouts()
    else:
        loaded, source = _files(
            checkpoint_filenames, train_strategy_filename, dec_key=dec_key, dec_mode=dec_mode
        )
    new = name_map or {}
    loaded = {rank: _renamed(values, new) for rank, values in loaded.items()}
    source = {new.get(name, name): layout for name, layout in source.items()}
    if network is None:
        return _write(loaded, source, target, rank_id, str(dst_safetensors_dir), output_format)
    own = _groups.world_rank() if rank_id is None and target else rank_id or 0
    _reslice._check_rank(_OP, own, target)
    values = _reslice.regrouped(_OP, own, loaded, source, target)
    serialization.load_param_into_net(network, values, strict_load)
    return values if return_param_dict else None


def _check(network: Any, format: Any, folder: Any, output: Any, name_map: Any) -> None:
    for name, value in (("format", format), ("output_format", output)):
        if value not in ("ckpt", "safetensors"):
            raise ValueError(
                f"For '{_OP}', '{name}' must be 'ckpt' or 'safetensors', but got {value!r:.100}."
            )
    if folder is not None and not isinstance(folder, str):
        raise TypeError(
            f"For '{_OP}', 'dst_safetensors_dir' must be a str, but got {type(folder).__name__}."
        )
    if (network is None) != (folder is not None):
        raise ValueError(
            f"For '{_OP}', one of 'network' and 'dst_safetensors_dir' must be given, but got "
            f"{'neither' if network is None else 'both'}."
        )
    texts = isinstance(name_map, dict) and all(
        isinstance(key, str) and isinstance(value, str) for key, value in name_map.items()
    )
    if name_map is not None and not texts:
        raise TypeError(
            f"For '{_OP}', 'name_map' must be a dict from names to names, but got {name_map!r:.100}."
        )


def _target(strategy: Any) -> Layouts:
    if isinstance(strategy, dict):
        return {name: _boxes.layout_of(_OP, name, value) for name, value in strategy.items()}
    return _boxes.read_layouts(_OP, strategy)


def _files(names: Any, strategy: Any, **reading: Any) -> tuple[dict[int, dict[str, Any]], Layouts]:
    if not isinstance(names, (list, tuple)) or not names:
        raise TypeError(
            f"For '{_OP}', 'checkpoint_filenames' must be a list of files, but got {names!r:.100}."
        )
    train = strategy or (
        serialization.context.get_auto_parallel_context("strategy_ckpt_load_file") or None
    )
    if train is None and len(names) > 1:
        raise ValueError(
            f"For '{_OP}', 'train_strategy_filename' must be given, as there are {len(names)} files."
        )
    source = _boxes.read_layouts(_OP, train)
    formats = [_reslice._format_of(_OP, name) for name in names]
    return {
        rank: serialization.load_checkpoint(name, format=format, **reading)
        for rank, (name, format) in enumerate(zip(names, formats, strict=True))
    }, source


def _unified(folder: Any) -> dict[str, Any]:
    """The whole parameters of a folder: those that its map names, or those of all its files."""
    if not isinstance(folder, str) or not os.path.isdir(folder):
        raise ValueError(
            f"For '{_OP}', 'unified_safetensors_dir' must be a folder, but got {folder!r:.200}."
        )
    files = sorted(name for name in os.listdir(folder) if name.endswith(".safetensors"))
    if not files:
        raise ValueError(
            f"For '{_OP}', 'unified_safetensors_dir' must have files that end with '.safetensors', but '{folder}' has none."
        )
    values: dict[str, Any] = {}
    for name in files:
        values |= serialization.load_checkpoint(os.path.join(folder, name), format="safetensors")
    for name in _named(os.path.join(folder, _NAMES)):
        if name not in values:
            raise ValueError(
                f"For '{_OP}', the files must have all parameters that {_NAMES} names, but '{folder}' has no '{name}'."
            )
    return values


def _named(path: str) -> list[str]:
    if not os.path.exists(path):
        return []
    try:
        with open(path, encoding="utf-8") as file:
            return list(dict(json.load(file)))
    except (TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"For '{_OP}', '{path}' must hold the file of each parameter as JSON, but: {error}."
        ) from None


def _renamed(values: dict[str, Any], new: dict[str, str]) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for name, value in values.items():
        named = new.get(name, name)
        if named in result:
            raise ValueError(
                f"For '{_OP}', 'name_map' must give different names, but two parameters would be '{named}'."
            )
        if named != name and isinstance(value, Parameter):
            value.name = named
        result[named] = value
    return result


def _write(
    loaded: dict[int, dict[str, Any]],
    source: Layouts,
    target: Layouts,
    rank: Any,
    folder: str,
    format: str,
) -> None:
    if rank is not None:
        _reslice._check_rank(_OP, rank, target)
    for each in range(_reslice._ranks(target)) if rank is None else [rank]:
        values = _reslice.regrouped(_OP, each, loaded, source, target)
        where = os.path.join(folder, f"rank_{each}")
        os.makedirs(where, exist_ok=True)
        serialization.save_checkpoint(values, os.path.join(where, f"net.{format}"), format=format)


__all__ = ["load_distributed_checkpoint"]
