"""Files of layouts and groups of several processes: joined, read back, and the older names of what `_reslice` does."""

from __future__ import annotations

import glob
import json
import os
from collections.abc import Callable, Sequence
from typing import Any

from mindspore import _paths
from mindspore.common import _boxes
from mindspore.nn import Cell
from mindspore.train import _reslice, serialization

_GROUPS = "mindspore groups 1"

convert_checkpoints = _reslice.transform_checkpoints
convert_checkpoint_by_rank = _reslice.transform_checkpoint_by_rank
rank_list_for_convert = _reslice.rank_list_for_transform


def merge_pipeline_strategys(src_strategy_dirs: str, dst_strategy_file: str) -> None:
    """One file of the layouts that stages have written, each its own.

    Args:
        src_strategy_dirs: The folder of the files.
        dst_strategy_file: The file that is made.
    """
    op = "merge_pipeline_strategys"
    folder = _paths.checked(op, "src_strategy_dirs", src_strategy_dirs)
    target = _paths.checked(op, "dst_strategy_file", dst_strategy_file)
    files = [
        p for p in sorted(glob.glob(os.path.join(glob.escape(folder), "*"))) if os.path.isfile(p)
    ]
    if not files:
        raise ValueError(
            f"For '{op}', 'src_strategy_dirs' must be a folder with files of layouts, but '{folder}' has none."
        )
    merged: dict[str, _boxes.Layout] = {}
    for path in files:
        for name, layout in _boxes.read_layouts(op, path).items():
            if merged.setdefault(name, layout) != layout:
                raise ValueError(
                    f"For '{op}', the files must agree, but '{path}' has another layout of '{name}' than a file before it."
                )
    _boxes.write_layouts(target, merged)


def restore_group_info_list(group_info_file_name: str) -> list[int]:
    """The processes that hold the same slices as the one that wrote the file, which `group_ckpt_save_file` names.

    Args:
        group_info_file_name: The file.
    """
    op = "restore_group_info_list"
    path = _paths.checked(op, "group_info_file_name", group_info_file_name)
    if not os.path.isfile(path):
        raise ValueError(f"For '{op}', the file must exist, but there is no '{path}'.")
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        ranks = [int(rank) for rank in found["ranks"]]
        known = found["format"] == _GROUPS
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise ValueError(
            f"For '{op}', '{path}' must be a file of groups of this package, but it is damaged or another's: {error}."
        ) from None
    if not known:
        raise ValueError(f"For '{op}', '{path}' has the format {found['format']!r}, unknown here.")
    return ranks


def sync_pipeline_shared_parameters(net: Cell) -> None:
    """Gives Parameters that several stages use one value; all processes hold them here, so that they have it.

    Args:
        net: The network.
    """
    if not isinstance(net, Cell):
        raise TypeError(
            f"For 'sync_pipeline_shared_parameters', 'net' must be a Cell, but got {type(net).__name__}."
        )


def unified_safetensors(
    src_dir: str,
    src_strategy_file: str | None,
    dst_dir: str,
    merge_with_redundancy: bool = True,
    file_suffix: str | None = None,
    max_process_num: int = 64,
    choice_func: Callable[[str], Any] | None = None,
    split_dst_file: Sequence[int] = (),
) -> None:
    """One set of whole Parameters from the safetensors files of all processes.

    Args:
        src_dir: A folder with a folder `rank_0`, `rank_1`, ... for each process.
        src_strategy_file: The layouts of the files; None: each is whole.
        dst_dir: Where `part0.safetensors` and `param_name_map.json` are made.
        merge_with_redundancy: Accepted: what several processes have alike is read once.
        file_suffix: What the names of the files end with, before the ending; None: the last file by name.
        max_process_num: Accepted; one process works.
        choice_func: Called with each name: True keeps it, False leaves it out, a text is its new name.
        split_dst_file: Accepted; one file is made.
    """
    op = "unified_safetensors"
    del merge_with_redundancy, max_process_num, split_dst_file
    folder, target = _paths.checked(op, "src_dir", src_dir), _paths.checked(op, "dst_dir", dst_dir)
    if choice_func is not None and not callable(choice_func):
        raise TypeError(
            f"For '{op}', 'choice_func' must be callable, but got {type(choice_func).__name__}."
        )
    if not os.path.isdir(folder):
        raise ValueError(f"For '{op}', 'src_dir' must be a folder, but got '{folder}'.")
    files = _reslice.files_of_ranks(op, folder, f"{file_suffix or ''}.safetensors")
    source = _boxes.read_layouts(op, src_strategy_file)
    whole = _reslice.transformed(op, 0, files, source, {})
    kept = {}
    for name, value in whole.items():
        wanted = True if choice_func is None else choice_func(name)
        if wanted is not False:
            kept[wanted if isinstance(wanted, str) else name] = value
    os.makedirs(target, exist_ok=True)
    path = os.path.join(target, "part0.safetensors")
    serialization.save_checkpoint(kept, path, format="safetensors")
    names = dict.fromkeys(kept, "part0.safetensors")
    _boxes.write_text(os.path.join(target, "param_name_map.json"), json.dumps(names))


__all__ = [
    "convert_checkpoint_by_rank",
    "convert_checkpoints",
    "merge_pipeline_strategys",
    "rank_list_for_convert",
    "restore_group_info_list",
    "sync_pipeline_shared_parameters",
    "unified_safetensors",
]
