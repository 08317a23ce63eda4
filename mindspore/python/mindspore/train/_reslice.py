"""Checkpoints of several processes, each with its parts of parameters, read and written for other layouts and numbers of processes."""

from __future__ import annotations

import errno
import functools
import os
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindspore.common import _boxes
from mindspore.common._boxes import Layout
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.train import serialization

Layouts = dict[str, Layout]


def merge_sliced_parameter(
    sliced_parameters: Sequence[Parameter], strategy: dict | None = None
) -> Parameter:
    """One Parameter of the parts that processes have.

    Args:
        sliced_parameters: the parts, in the order of the processes.
        strategy: layouts by the names of parameters: what has `dev_matrix` and `tensor_map`, as `build_searched_strategy` gives. If not
            given, the parts follow each other along the first axis.
    """
    op = "merge_sliced_parameter"
    if not isinstance(sliced_parameters, (list, tuple)):
        raise TypeError(
            f"For '{op}', 'sliced_parameters' must be a list, but got {type(sliced_parameters).__name__}."
        )
    if not sliced_parameters:
        raise ValueError(f"For '{op}', 'sliced_parameters' must not be empty, but got [].")
    for piece in sliced_parameters:
        if not isinstance(piece, Parameter):
            raise TypeError(
                f"For '{op}', 'sliced_parameters' must hold Parameters, but got {type(piece).__name__}."
            )
    if strategy is not None and not isinstance(strategy, dict):
        raise TypeError(
            f"For '{op}', 'strategy' must be a dict, but got {type(strategy).__name__}."
        )
    first = sliced_parameters[0]
    if strategy is None:
        return _joined_rows(op, sliced_parameters)
    if first.name not in strategy:
        raise KeyError(
            f"For '{op}', 'strategy' must have the parameter's name, but has no {first.name!r}."
        )
    layout = _boxes.layout_of(op, first.name, strategy[first.name])
    if layout.ranks != len(sliced_parameters):
        raise ValueError(
            f"For '{op}', there must be a part of each of the {layout.ranks} processes of the layout, but got {len(sliced_parameters)}."
        )
    _check_alike(op, sliced_parameters, layout)
    parts = [(rank, piece.asnumpy) for rank, piece in enumerate(sliced_parameters)]
    return _moved(first.name, parts, first, layout, None, 0)


def _check_alike(op: str, pieces: Sequence[Parameter], layout: Layout) -> None:
    first = pieces[0]
    for piece in pieces:
        if (
            piece.name != first.name
            or piece.shape != first.shape
            or piece.ndim != len(layout.tensor_map)
        ):
            raise ValueError(
                f"For '{op}', all parts must have the name {first.name!r}, the shape {tuple(first.shape)} and as many axes as "
                f"'tensor_map' {list(layout.tensor_map)}, but got {piece.name!r} and {tuple(piece.shape)}."
            )


def _joined_rows(op: str, pieces: Sequence[Parameter]) -> Parameter:
    first = pieces[0]
    for piece in pieces[1:]:
        same = piece.name == first.name and piece.shape[1:] == first.shape[1:]
        if not same or piece.ndim != first.ndim or piece.ndim == 0:
            raise ValueError(
                f"For '{op}', all pieces must have the name {first.name!r} and the shape {tuple(first.shape)} but for "
                f"the first axis, but got {piece.name!r} and {tuple(piece.shape)}."
            )
    whole = np.concatenate([piece.asnumpy() for piece in pieces])
    return Parameter(Tensor(whole, first.dtype), name=first.name, requires_grad=first.requires_grad)


def _moved(
    name: str,
    parts: Sequence[tuple[int, Callable[[], np.ndarray]]],
    like: Parameter,
    source: Layout | None,
    target: Layout | None,
    rank: int,
) -> Parameter:
    """What a process has of a parameter in one layout, from the parts of processes in another; None: each has all of it."""
    part = tuple(like.shape)
    for layout in (source, target):
        if layout is not None and len(layout.tensor_map) != len(part):
            raise ValueError(
                f"The parameter '{name}' of shape {part} must have the axes of its layout, but that is for {len(layout.tensor_map)}."
            )
    if source is not None and source.shape == part:
        source = None  # each has saved all of it
    shape = part if source is None else source.whole(part)
    if source is not None:
        _check_parts(name, parts, source, shape)
    full = tuple((0, size) for size in shape)
    held = [(full if source is None else source.box(r, shape), read) for r, read in parts]
    box = full if target is None else target.box(rank, shape)
    array = _boxes.assembled(f"The parameter '{name}'", box, held, like.asnumpy().dtype)
    return Parameter(Tensor(array, like.dtype), name=name, requires_grad=like.requires_grad)


def _check_parts(
    name: str,
    parts: Sequence[tuple[int, Callable[[], np.ndarray]]],
    source: Layout,
    shape: tuple[int, ...],
) -> None:
    for rank, read in parts:
        wanted = tuple(end - begin for begin, end in source.box(rank, shape))
        if read().shape != wanted:
            raise ValueError(
                f"The parameter '{name}' of shape {shape} must have the shape {wanted} in the checkpoint of rank {rank}, as its layout "
                f"says, but has {read().shape}."
            )


def build_searched_strategy(strategy_filename: str) -> Layouts:
    """The layouts of parameters in a file, by name.

    Args:
        strategy_filename: the file.
    """
    return _boxes.read_layouts("build_searched_strategy", _given(strategy_filename))


def _given(path: Any) -> Any:
    if not isinstance(path, str):
        raise TypeError(
            f"For 'build_searched_strategy', 'strategy_filename' must be a str, but got {type(path).__name__}."
        )
    return path


def _two(op: str, source: Any, target: Any) -> tuple[Layouts, Layouts]:
    return _boxes.read_layouts(op, source), _boxes.read_layouts(op, target)


def _check_rank(op: str, rank: Any, layouts: Layouts) -> int:
    if type(rank) is not int:
        raise TypeError(f"For '{op}', 'rank_id' must be an int, but got {type(rank).__name__}.")
    count = _ranks(layouts)
    if rank < 0 or (layouts and rank >= count):
        raise ValueError(f"For '{op}', 'rank_id' must be in [0, {count}), but got {rank}.")
    return rank


def _ranks(layouts: Layouts) -> int:
    return max((layout.ranks for layout in layouts.values()), default=1)


def rank_list_for_transform(
    rank_id: int, src_strategy_file: str | None = None, dst_strategy_file: str | None = None
) -> list[int]:
    """The processes whose checkpoints one of another layout is made from.

    Args:
        rank_id: the process of the new layout.
        src_strategy_file: the layouts of the checkpoints that there are; None: each is whole.
        dst_strategy_file: the new ones.
    """
    op = "rank_list_for_transform"
    source, target = _two(op, src_strategy_file, dst_strategy_file)
    rank = _check_rank(op, rank_id, target)
    needed = {0} if not source else set()
    for name, layout in source.items():
        needed |= _needed(layout, target.get(name), rank)
    return sorted(needed)


def _needed(source: Layout, target: Layout | None, rank: int) -> set[int]:
    """The first processes that together have the box of one."""
    axes = {len(layout.tensor_map) for layout in (source, target) if layout is not None}
    if len(axes) > 1:
        raise ValueError(
            f"For 'rank_list_for_transform', both layouts of a parameter must have as many axes, but got {sorted(axes)}."
        )
    cuts: Any = source.shape or (target and target.shape)
    if cuts is None:
        cuts = [np.lcm(a, b) for a, b in zip(source.cuts(), (target or source).cuts(), strict=True)]
    used: set[int] = set()

    def use(owner: int) -> np.ndarray:
        used.add(owner)
        begin = source.box(owner, cuts)
        return np.zeros([end - start for start, end in begin], bool)

    full = tuple((0, int(size)) for size in cuts)
    box = full if target is None else target.box(rank, cuts)
    held = [(source.box(r, cuts), functools.partial(use, r)) for r in range(source.ranks)]
    _boxes.assembled("The layout", box, held, bool)
    return used


def transform_checkpoint_by_rank(
    rank_id: int,
    checkpoint_files_map: dict[int, str],
    save_checkpoint_file_name: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
) -> None:
    """Make the checkpoint of a process of another layout.

    Args:
        rank_id: the process of the new layout.
        checkpoint_files_map: the files of those that `rank_list_for_transform` names, by their ranks.
        save_checkpoint_file_name: the file that is made.
        src_strategy_file: the layouts of the checkpoints that there are; None: each is whole.
        dst_strategy_file: the new ones.
    """
    op = "transform_checkpoint_by_rank"
    source, target = _two(op, src_strategy_file, dst_strategy_file)
    rank = _check_rank(op, rank_id, target)
    if not isinstance(checkpoint_files_map, dict) or not checkpoint_files_map:
        raise TypeError(
            f"For '{op}', 'checkpoint_files_map' must be a dict from ranks to files, but got {checkpoint_files_map!r:.100}."
        )
    if not isinstance(save_checkpoint_file_name, str):
        raise TypeError(
            f"For '{op}', 'save_checkpoint_file_name' must be a str, but got {type(save_checkpoint_file_name).__name__}."
        )
    format = _format_of(op, save_checkpoint_file_name)
    moved = transformed(op, rank, checkpoint_files_map, source, target)
    folder = os.path.dirname(save_checkpoint_file_name)
    os.makedirs(folder or ".", exist_ok=True)
    serialization.save_checkpoint(moved, save_checkpoint_file_name, format=format)


def _format_of(op: str, path: str) -> str:
    for format in ("ckpt", "safetensors"):
        if path.endswith("." + format):
            return format
    raise ValueError(
        f"For '{op}', the file must end with '.ckpt' or '.safetensors', but got '{path}'."
    )


def transformed(
    op: str, rank: int, files: dict[int, str], source: Layouts, target: Layouts, **reading: Any
) -> dict[str, Any]:
    """The parameters of a process in another layout; `reading` is for load_checkpoint."""
    loaded = {
        r: serialization.load_checkpoint(f, format=_format_of(op, f), **reading)
        for r, f in files.items()
    }
    return regrouped(op, rank, loaded, source, target)


def regrouped(
    op: str, rank: int, loaded: dict[int, dict[str, Any]], source: Layouts, target: Layouts
) -> dict[str, Any]:
    """What a process has of the values of others, by their ranks, in another layout."""
    names = list(dict.fromkeys(name for values in loaded.values() for name in values))
    if (source or target) and not any(name in source or name in target for name in names):
        raise ValueError(
            f"For '{op}', the layouts must be of parameters in the checkpoints, but none of {names[:5]} is among them."
        )
    result: dict[str, Any] = {}
    for name in names:
        there = {r: values[name] for r, values in loaded.items() if name in values}
        first = next(iter(there.values()))
        if not isinstance(first, Parameter) or (name not in source and name not in target):
            result[name] = first
            continue
        parts = [(r, value.asnumpy) for r, value in there.items()]
        result[name] = _moved(name, parts, first, source.get(name), target.get(name), rank)
    return result


def transform_checkpoints(
    src_checkpoints_dir: str,
    dst_checkpoints_dir: str,
    ckpt_prefix: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
    process_num: int = 1,
    output_format: str = "ckpt",
) -> None:
    """Make the checkpoints of all processes of another layout.

    Args:
        src_checkpoints_dir: a folder with a folder `rank_0`, `rank_1`, ... for each process; of several files in one the last by name
            is taken.
        dst_checkpoints_dir: where such folders are made.
        ckpt_prefix: what the names of the files begin with: `<ckpt_prefix><rank>.ckpt`.
        src_strategy_file: the layouts of the checkpoints that there are; None: each is whole.
        dst_strategy_file: the new ones; None: one process has all.
        process_num: accepted; one process works.
        output_format: "ckpt" or "safetensors".
    """
    op = "transform_checkpoints"
    del process_num
    if not isinstance(src_checkpoints_dir, str) or not os.path.isdir(src_checkpoints_dir):
        raise NotADirectoryError(
            errno.ENOTDIR,
            f"For '{op}', 'src_checkpoints_dir' must be a folder",
            str(src_checkpoints_dir),
        )
    if not isinstance(ckpt_prefix, str) or "/" in ckpt_prefix:
        raise TypeError(
            f"For '{op}', 'ckpt_prefix' must be a str without '/', but got {ckpt_prefix!r}."
        )
    if output_format not in ("ckpt", "safetensors"):
        raise ValueError(
            f"For '{op}', 'output_format' must be 'ckpt' or 'safetensors', but got {output_format!r}."
        )
    _, target = _two(op, src_strategy_file, dst_strategy_file)
    files = files_of_ranks(op, src_checkpoints_dir)
    for rank in range(_ranks(target)):
        needed = rank_list_for_transform(rank, src_strategy_file, dst_strategy_file)
        missing = [r for r in needed if r not in files]
        if missing:
            raise ValueError(
                f"For '{op}', 'src_checkpoints_dir' must have a checkpoint in 'rank_{missing[0]}', but '{src_checkpoints_dir}' has none."
            )
        name = f"{dst_checkpoints_dir}/rank_{rank}/{ckpt_prefix}{rank}.{output_format}"
        chosen = {r: files[r] for r in needed}
        transform_checkpoint_by_rank(rank, chosen, name, src_strategy_file, dst_strategy_file)


def files_of_ranks(
    op: str, folder: str, ending: str | tuple[str, ...] = (".ckpt", ".safetensors")
) -> dict[int, str]:
    """The checkpoints in the folders `rank_0`, `rank_1`, ... of a folder, by rank."""
    found: dict[int, str] = {}
    for name in os.listdir(folder):
        match = re.fullmatch(r"rank_(\d+)", name)
        if match is None:
            continue
        inside = sorted(os.listdir(os.path.join(folder, name)))
        files = [file for file in inside if file.endswith(ending)]
        if files:
            found[int(match[1])] = os.path.join(folder, name, files[-1])
    if not found:
        raise ValueError(
            f"For '{op}', 'src_checkpoints_dir' must have folders 'rank_0', ... with checkpoints, but '{folder}' has none."
        )
    return found


def load_segmented_checkpoints(
    ckpt_file_dir: str,
    net: Any = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: Any = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None,
) -> dict[str, Any]:
    """The parameters of all checkpoints in a folder, each of which has some.

    Args:
        ckpt_file_dir: the folder.
        net, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix, choice_func: see load_checkpoint.
    """
    op = "load_segmented_checkpoints"
    if not isinstance(ckpt_file_dir, str):
        raise TypeError(
            f"For '{op}', 'ckpt_file_dir' must be a str, but got {type(ckpt_file_dir).__name__}."
        )
    if not os.path.isdir(ckpt_file_dir):
        raise ValueError(
            f"For '{op}', 'ckpt_file_dir' must be a folder, but got '{ckpt_file_dir}'."
        )
    files = sorted(name for name in os.listdir(ckpt_file_dir) if name.endswith(".ckpt"))
    if not files:
        raise ValueError(
            f"For '{op}', 'ckpt_file_dir' must have checkpoints, but '{ckpt_file_dir}' has none."
        )
    result: dict[str, Any] = {}
    for name in files:
        path = os.path.join(ckpt_file_dir, name)
        result |= serialization.load_checkpoint(
            path, None, strict_load, filter_prefix, dec_key, dec_mode, specify_prefix, choice_func
        )
    if net is not None:
        serialization.load_param_into_net(net, result, strict_load)
    return result


__all__ = [
    "build_searched_strategy",
    "load_segmented_checkpoints",
    "merge_sliced_parameter",
    "rank_list_for_transform",
    "transform_checkpoint_by_rank",
    "transform_checkpoints",
]
