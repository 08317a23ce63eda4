"""Files that a compilation in an auto-parallel mode reads and writes, as the settings of parallel training say: layouts of Parameters,
which processes have the same slices, whole plans."""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Sequence
from typing import Any

from mindspore import _core, context
from mindspore.common import _boxes, _layouts
from mindspore.common._layouts import Layout, Mesh
from mindspore.common.parameter import Parameter

_GROUPS = "mindspore groups 1"
# Who asks for a file: a function with its argument, and the method of AutoParallel that sets the same.
_LAYOUTS = ("set_auto_parallel_context", "strategy_ckpt_save_file", "save_param_strategy_file")
_SAME = ("set_auto_parallel_context", "group_ckpt_save_file", "set_group_ckpt_save_file")
_PLAN = ("set_op_strategy_config", "path", "save_operator_strategy_file")


def write(graph: Any, mesh: Mesh, rank: int, stage: int = 0) -> None:
    """Writes the files that are asked for."""
    parameters = list(graph.parameters)
    if not parameters or graph.layouts is None:
        return
    # Arguments come first among the inputs of a graph.
    texts = graph.layouts["inputs"][-len(parameters) :]
    # Tensors that a function has taken from outside are among them.
    named = [(p, t) for p, t in zip(parameters, texts, strict=True) if isinstance(p, Parameter)]
    if not named:
        return
    path = context.get_auto_parallel_context("strategy_ckpt_save_file")
    if path:
        alone = context.get_auto_parallel_context("strategy_ckpt_config")["only_trainable_params"]
        kept = {
            p.name: kept_layout(text, mesh, p.shape)._replace(shape=tuple(p.shape))
            for p, text in named
            if p.requires_grad or not alone
        }
        _make_folder(_LAYOUTS, path)
        _boxes.write_layouts(path, kept)
    path = context.get_auto_parallel_context("group_ckpt_save_file")
    if path:
        _make_folder(_SAME, path)
        first = stage * math.prod(axis[1] for axis in mesh)  # each stage has its own
        ranks = [first + other for other in _alike(named, mesh, rank)]
        _boxes.write_text(path, json.dumps({"format": _GROUPS, "ranks": ranks}))
    strategy = context.get_auto_parallel_context("operator_strategy")
    if strategy and strategy[0] == "SAVE":
        _make_folder(_PLAN, strategy[1])
        layouts = {p.name: text for p, text in named}
        _boxes.write_text(strategy[1], json.dumps({"mesh": mesh, "parameters": layouts}))


def _make_folder(asked: tuple[str, str, str], path: str) -> None:
    owner, name, method = asked
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    except OSError as error:
        raise ValueError(
            f"For '{owner}', '{name}' (as for 'AutoParallel.{method}', 'file_path') must be a file in a folder that is there or can be "
            f"made, but got '{path}': {error}."
        ) from None
    if os.path.isdir(path):
        raise ValueError(
            f"For '{owner}', '{name}' (as for 'AutoParallel.{method}', 'file_path') must be a file, but '{path}' is a folder."
        )


def kept_layout(text: str, mesh: Mesh, shape: Sequence[int]) -> _boxes.Layout:
    """The layout of a text in the form in which files have it."""
    names, sizes = [axis[0] for axis in mesh], tuple(axis[1] for axis in mesh)
    axes = [
        tuple(len(names) - 1 - names.index(n) for n in dim) for dim in _layouts.axes_of_text(text)
    ]
    layout = _boxes.Layout(sizes, tuple(a if len(a) > 1 else a[0] if a else -1 for a in axes))
    even = all(size % cut == 0 for size, cut in zip(shape, layout.cuts(), strict=True))
    return layout if even else layout._replace(shape=tuple(shape))


def _alike(named: list[tuple[Any, str]], mesh: Mesh, rank: int) -> list[int]:
    """The processes that hold the same slices as this one."""
    ranks = list(range(math.prod(axis[1] for axis in mesh)))
    for parameter, text in named:
        shape = tuple(parameter.shape)
        own = _core.layout_box(text, shape, mesh, rank)
        ranks = [r for r in ranks if _core.layout_box(text, shape, mesh, r) == own]
    return ranks


def loaded_pins(parameters: Sequence[Any], mesh: Mesh) -> dict[str, str]:
    """The texts of Parameters in the files that are to be read, by name."""
    pins: dict[str, str] = {}
    strategy = context.get_auto_parallel_context("operator_strategy")
    if strategy and strategy[0] == "LOAD":
        pins |= _of_plan(strategy[1], parameters, mesh)
    path = context.get_auto_parallel_context("strategy_ckpt_load_file")
    if path:
        kept = _read(path, os.stat(path).st_mtime_ns if os.path.isfile(path) else 0)
        for parameter in parameters:
            if parameter.name in kept:
                layout = as_layout(kept[parameter.name])
                owner = f"strategy_ckpt_load_file' and '{parameter.name}"
                pins[parameter.name] = _layouts.layout_text(
                    owner, layout, mesh, len(parameter.shape)
                )
    return pins


@functools.lru_cache(8)
def _read(path: str, changed: int) -> dict[str, _boxes.Layout]:
    del changed  # a file that was written anew is read anew
    return _boxes.read_layouts("strategy_ckpt_load_file", path)


def as_layout(kept: _boxes.Layout) -> Layout:
    """A layout of a file, with names for its axes."""
    names = tuple(f"a{i}" for i in range(len(kept.dev_matrix)))
    dims = []
    for axes in kept.tensor_map:
        several = axes if isinstance(axes, tuple) else (axes,)
        chosen = tuple(names[len(names) - 1 - axis] for axis in several if axis >= 0)
        dims.append(chosen or "None")
    return Layout(kept.dev_matrix, names)(*dims)


def _of_plan(path: str, parameters: Sequence[Any], mesh: Mesh) -> dict[str, str]:
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        there, layouts = found["mesh"], dict(found["parameters"])
    except (OSError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"For 'set_op_strategy_config', '{path}' must be a file that 'SAVE' wrote, but cannot be read: {error}."
        ) from None
    if [list(axis) for axis in there] != [list(axis[:2]) for axis in mesh]:
        raise ValueError(
            f"For 'set_op_strategy_config', '{path}' must be of the mesh {list(mesh)}, but is of {there}."
        )
    return {p.name: layouts[p.name] for p in parameters if p.name in layouts}


def optimizer_pins(parameters: Sequence[Any], mesh: Mesh) -> dict[str, str]:
    """The texts of Parameters that `enable_parallel_optimizer` cuts along their first dimension, by name."""
    if not context.get_auto_parallel_context("enable_parallel_optimizer"):
        return {}
    config = context.get_auto_parallel_context("parallel_optimizer_config")
    least = config.get("parallel_optimizer_threshold", 64) * 1024
    wanted = context.get_auto_parallel_context("optimizer_weight_shard_size")
    count = math.prod(axis[1] for axis in mesh) if wanted < 1 else wanted
    axes = _layouts.choose_axes("optimizer_weight_shard_size", mesh, set(), count)
    pins = {}
    for p in parameters:
        rows = p.shape[0] if len(p.shape) else 0
        large = math.prod(p.shape) * p.itemsize >= least
        if rows and rows % count == 0 and large and p.parallel_optimizer:
            pins[p.name] = _layouts.text_of([axes] + [[]] * (len(p.shape) - 1))
    return pins
