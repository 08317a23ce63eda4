"""Saving and loading of parameters.

Files are MindSpore's checkpoint format with checksums added in fields that MindSpore skips. A file
is replaced as a whole: whatever happens during a save, the old or the new one is there.
"""

from __future__ import annotations

import concurrent.futures
import errno
import os
from collections.abc import Callable
from typing import Any

from mindspore import _core, _paths, context, log, nn
from mindspore.common import _planning
from mindspore.common import dtype as mstype
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.nn.optim import _divided
from mindspore.train import _encryption, _manifest, _match, _resume, _safetensors
from mindspore.train._async_save import writer
from mindspore.train._entries import appended, distinct, held, items, named_entries
from mindspore.train._export import export, load
from mindspore.train._tensors import (
    Entry,
    check_text,
    loaded,
    tensor_to_ms_type,
    tensor_to_np_type,
)
from mindspore.train._utils import _make_directory

_FORMATS = ("ckpt", "safetensors")


def save_checkpoint(
    save_obj: Any,
    ckpt_file_name: str,
    integrated_save: bool = True,
    async_save: bool | str = False,
    append_dict: dict[str, Any] | None = None,
    enc_key: Any = None,
    enc_mode: str = "AES-GCM",
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    format: str = "ckpt",
    **kwargs: Any,
) -> None:
    """Save parameters.

    Args:
        save_obj: A Cell, a list of {"name": str, "data": Tensor} or of Parameters, or a dict from
            names to tensors.
        ckpt_file_name: The file; ".ckpt" (or ".safetensors") is added where it is missing. What
            replaces a file keeps its mode and group; a link stays, and the file it names is replaced.
        integrated_save: Whether Parameters that lie in slices among processes are saved whole, for which all processes call this
            in one order; otherwise each saves its slices.
        async_save: Whether to write in the background: the values of this moment, whatever changes
            them afterwards. The interpreter waits for the write before it ends. An error of it is
            raised by the next save, or shown at the end, where it makes the exit status 1.
        append_dict: Numbers, texts or tensors to save as well, e.g. {"epoch": 3}.
        enc_key: The key to encrypt the file with: 16, 24 or 32 bytes; None: it is not encrypted. Needs the package
            `cryptography` and the format "ckpt".
        enc_mode: "AES-GCM", which shows any change of the file when it is read, "AES-CBC" or "SM4-CBC".
        choice_func: Called with each name; only parameters for which it returns True are saved.
        crc_check: Add the checksum that MindSpore's own crc_check looks for. Ours is always there.
        format: "ckpt" or "safetensors".
    """
    op = "save_checkpoint"
    _encryption.check_key(op, "enc", enc_key, enc_mode, format)
    _check_flag(op, "integrated_save", integrated_save)
    _check_flag(op, "crc_check", crc_check)
    if not isinstance(async_save, bool) and async_save not in ("thread", "process"):
        raise (ValueError if isinstance(async_save, str) else TypeError)(
            f"For '{op}', 'async_save' must be a bool, 'thread' or 'process', but got "
            f"{async_save!r}."
        )
    _check_function(op, choice_func)
    for name in kwargs:
        if name not in ("incremental", "map_param_inc", "global_step_num"):
            raise TypeError(f"For '{op}', '{name}' is not one of its arguments.")
    path = _file_name(op, ckpt_file_name, format)
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise FileNotFoundError(
            errno.ENOENT,
            f"For '{op}', the folder of 'ckpt_file_name' must exist, but it does not",
            folder,
        )
    entries = [
        (name, held(value, integrated_save)) for name, value in named_entries(save_obj, choice_func)
    ]
    entries += [
        appended(name, value) for name, value in items(op, "append_dict", append_dict or {})
    ]
    for name, _ in entries:
        check_text(name, "a name")
    if async_save:
        path = os.path.join(os.getcwd(), path)
        entries = [(n, _core.io.snapshot(v) if isinstance(v, Tensor) else v) for n, v in entries]

    def write() -> None:
        if enc_key is None:
            _write(path, entries, format, crc_check)
        else:
            _encryption.write(path, entries, enc_key, enc_mode)

    (writer.submit if async_save else writer.run)(path, write)


def _write(path: str, entries: list[Entry], format: str, crc_check: bool) -> None:
    if format == "safetensors":
        _safetensors.write(path, entries)
    else:
        _core.io.save_checkpoint(path, entries, crc_check)


def share_states(net: nn.Cell) -> None:
    """What a process that writes no file does while another one saves: it gives its rows of the states that are divided."""
    for value in distinct(net).values():
        _divided.whole_state(value)


def save_slices(net: nn.Cell, folder: str, append_dict: dict[str, Any]) -> None:
    """Save a network that several processes have alike: each of them its rows, into one folder. All of them call it."""
    entries = named_entries(net, None)
    notes = [appended(name, value) for name, value in append_dict.items()]
    for name, _ in entries + notes:
        check_text(name, "a name")
    writer.run(folder, lambda: _manifest.write(folder, entries, notes))


def _check_function(op: str, choice_func: Any) -> None:
    if choice_func is not None and not callable(choice_func):
        raise TypeError(
            f"For '{op}', 'choice_func' must be callable, but got {type(choice_func).__name__}."
        )


def _check_flag(op: str, name: str, value: Any) -> None:
    if not isinstance(value, bool):
        raise TypeError(f"For '{op}', '{name}' must be a bool, but got {value!r}.")


def _file_name(
    op: str, name: Any, format: Any, add_suffix: bool = True, arg_name: str = "ckpt_file_name"
) -> str:
    path = _paths.checked(op, arg_name, name)
    if format not in _FORMATS:
        raise ValueError(
            f"For '{op}', 'format' must be one of {list(_FORMATS)}, but got {format!r}."
        )
    if path.endswith(os.sep):
        raise IsADirectoryError(
            errno.EISDIR, f"For '{op}', '{arg_name}' must be a file, but it is a folder", path
        )
    if path.endswith("." + format):
        return path
    if add_suffix:
        return f"{path}.{format}"
    raise ValueError(f"For '{op}', '{arg_name}' must end with '.{format}', but got '{path}'.")


def load_checkpoint(
    ckpt_file_name: str,
    net: Any = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: Any = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None,
    crc_check: bool = False,
    remove_redundancy: bool = False,
    format: str = "ckpt",
) -> dict[str, Any]:
    """The parameters in a file, as a dict from names to Parameters (texts as str).

    Args:
        ckpt_file_name: The file.
        net: A Cell to load them into, as load_param_into_net does.
        strict_load: See load_param_into_net.
        filter_prefix: A prefix, or several, of names to leave out.
        dec_key: The key of an encrypted file.
        dec_mode: As `enc_mode` when it was saved.
        specify_prefix: A prefix, or several, of the only names to load.
        choice_func: Called with each name; only those for which it returns True are loaded. Not
            asked where there are prefixes.
        crc_check: Warn of a file without any checksum, each time. Checksums that are there are
            always checked, also of what is not loaded.
        remove_redundancy: For files of parallel training; see load_param_into_net.
        format: "ckpt" or "safetensors".
    """
    op = "load_checkpoint"
    _encryption.check_key(op, "dec", dec_key, dec_mode, format)
    for name, flag in (("strict_load", strict_load), ("crc_check", crc_check)):
        _check_flag(op, name, flag)
    _check_redundancy(op, remove_redundancy)
    path = _file_name(op, ckpt_file_name, format, add_suffix=False)
    choose = _chooser(op, filter_prefix, specify_prefix, choice_func)
    result = _read(op, path, format, choose, crc_check, (dec_key, dec_mode))
    result.pop(_resume.NAME, None)
    if not result:
        raise ValueError(
            f"For '{op}', at least one parameter must be loaded, but '{path}' has none, or none of those "
            "that filter_prefix, specify_prefix or choice_func leave."
        )
    if net is not None:
        load_param_into_net(net, result, strict_load, remove_redundancy)
    return result


def load_training(
    path: str, dec_key: bytes | None = None, dec_mode: str = "AES-GCM"
) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """The parameters in a file, and the state of the training that saved them, if it did."""
    op = "Model.resume"
    format = "safetensors" if path.endswith(".safetensors") else "ckpt"
    _encryption.check_key(op, "dec", dec_key, dec_mode, format)
    if path.endswith(_manifest.SUFFIX):
        values = _manifest.read(path)
    else:
        values = _read(op, path, format, None, False, (dec_key, dec_mode))
    state = values.pop(_resume.NAME, None)
    return values, None if state is None else _resume.unpacked(state, path)


def _read(
    op: str,
    path: str,
    format: str,
    choose: Callable[[str], bool] | None,
    crc_check: bool,
    key: tuple[bytes | None, str] = (None, "AES-GCM"),
) -> dict[str, Any]:
    """What a file holds of the names that are chosen."""
    writer.settle(path)
    if not os.path.exists(path):
        raise ValueError(f"For '{op}', the file must exist, but there is no '{path}'.")
    if format == "safetensors":
        entries, checked = _safetensors.read(path, choose)
    elif key[0] is not None:
        entries, checked = _encryption.read(path, key[0], key[1], choose)
    elif os.path.isfile(path) and _encryption.is_encrypted(path):
        raise ValueError(f"For '{op}', 'dec_key' must be given: '{path}' is encrypted.")
    else:
        entries, checked = _core.io.load_checkpoint(path, choose)
    if not checked:
        text = f"'{path}' has no checksum: damage may go unnoticed. Files saved here have one."
        if crc_check:
            log.warning(text)
        elif format == "ckpt":  # most safetensors files are of programs that know no checksums
            log.warn_once("checkpoint", text)
    return {entry[0]: loaded(entry, path) for entry in entries}


def _prefixes(op: str, what: str, value: Any) -> tuple[str, ...]:
    values = (value,) if isinstance(value, str) else value
    if not isinstance(values, (list, tuple)) or not all(isinstance(v, str) for v in values):
        raise TypeError(f"For '{op}', '{what}' must be a str or a list of str, but got {value!r}.")
    if not values or "" in values:
        raise ValueError(f"For '{op}', '{what}' must not be empty.")
    return tuple(values)


def _chooser(op: str, without: Any, only: Any, choice: Any) -> Callable[[str], bool] | None:
    _check_function(op, choice)
    if without is None and only is None:
        return choice
    left_out = () if without is None else _prefixes(op, "filter_prefix", without)
    taken = ("",) if only is None else _prefixes(op, "specify_prefix", only)
    return lambda name: name.startswith(taken) and not name.startswith(left_out)


def _check_redundancy(op: str, flag: Any) -> None:
    if not isinstance(flag, bool):
        raise ValueError(f"For '{op}', 'remove_redundancy' must be a bool, but got {flag!r}.")


def load_param_into_net(
    net: Any,
    parameter_dict: dict[str, Any],
    strict_load: bool = False,
    remove_redundancy: bool = False,
) -> tuple[list[str], list[str]]:
    """Give the parameters of a network the values in a dict.

    Args:
        net: The Cell.
        parameter_dict: From names to Parameters, e.g. of load_checkpoint. Texts are left alone.
        strict_load: Names and types must be the same. Otherwise names in the dict may have a prefix
            before those in the network, floats go into floats and integers into integers.
        remove_redundancy: The dict is a part of what parallel training saved; an error outside of
            that.

    Returns:
        The names in the network that got no value, and the names in the dict that the network does
        not have. Where there are any of the first, a warning shows both with names close to them.
    """
    op = "load_param_into_net"
    if not isinstance(net, nn.Cell):
        raise TypeError(f"For '{op}', 'net' must be a Cell, but got {type(net).__name__}.")
    _check_flag(op, "strict_load", strict_load)
    _check_redundancy(op, remove_redundancy)
    if remove_redundancy and context.get_auto_parallel_context("parallel_mode") == "stand_alone":
        raise TypeError(
            f"For '{op}', 'remove_redundancy' must be False outside of parallel training, but got True."
        )
    given = {}
    for name, value in items(op, "parameter_dict", parameter_dict):
        if not isinstance(value, (Parameter, str)):
            raise TypeError(
                f"For '{op}', the values of 'parameter_dict' must be Parameters, but '{name}' is "
                f"{type(value).__name__}."
            )
        if isinstance(value, Parameter):
            given[name] = value
    wanted = {parameter.name: parameter for _, parameter in net.parameters_and_names()}
    found, prefixes = _match.partners(wanted, given, strict_load)
    for name, other in found.items():
        given[other] = _divided.rows_of_state(wanted[name], given[other])
    # All are checked before the first is changed: a failed load leaves the network as it was.
    _match.check_fit(found, wanted, given, strict_load)
    for name, other in found.items():
        _put(given[other], wanted[name])
    report = _match.report(wanted, given, found, prefixes)
    if report:
        log.warning(f"For '{op}', the names do not all fit:\n{report}")
    missing = [name for name in wanted if name not in found]
    return missing, [name for name in parameter_dict if name not in wanted]


def _update_param(param: Parameter, new_param: Parameter, strict_load: bool = False) -> None:
    """Give one parameter the value of another."""
    _match.check_fit(
        {param.name: param.name}, {param.name: param}, {param.name: new_param}, strict_load
    )
    _put(new_param, param)


def _put(value: Any, param: Parameter) -> None:
    """Give a parameter a value that was found to fit."""
    if _planning.slice_of(param) is not None:
        _planning.set_whole_value(param, value.astype(param.dtype).reshape(tuple(param.shape)))
        return
    if tuple(value.shape) != tuple(param.shape):
        value = value.reshape(tuple(param.shape))
    if value.dtype != param.dtype and not _core.is_tracing():
        # Its memory goes first: the largest tensor may be as large as all others together.
        param._assign_value(Tensor(0, param.dtype))
        param._assign_value(value.astype(param.dtype))
    else:
        param.set_data(value)


def load_checkpoint_async(
    ckpt_file_name: str,
    net: Any = None,
    strict_load: bool = False,
    filter_prefix: Any = None,
    dec_key: Any = None,
    dec_mode: str = "AES-GCM",
    specify_prefix: Any = None,
    choice_func: Callable[[str], bool] | None = None,
) -> Any:
    """load_checkpoint in the background; `result()` of what it returns waits for the dict."""

    pool = concurrent.futures.ThreadPoolExecutor(1, "mindspore-load")
    try:
        return pool.submit(
            load_checkpoint, ckpt_file_name, net, strict_load, filter_prefix, dec_key, dec_mode,
            specify_prefix, choice_func,
        )  # fmt: skip
    finally:
        pool.shutdown(wait=False)


def async_ckpt_thread_status() -> bool:
    """Whether a checkpoint is being written in the background."""
    return writer.running()


def ckpt_to_safetensors(file_path: str, save_path: str | None = None) -> str:
    """A checkpoint file as a safetensors file, beside it or in the folder `save_path`.

    Returns its path.
    """
    return _converted("ckpt_to_safetensors", file_path, save_path, "ckpt", "safetensors")


def safetensors_to_ckpt(file_path: str, save_path: str | None = None) -> str:
    """A safetensors file as a checkpoint file, beside it or in the folder `save_path`.

    Returns its path.
    """
    return _converted("safetensors_to_ckpt", file_path, save_path, "safetensors", "ckpt")


def _converted(op: str, file_path: str, save_path: str | None, source: str, target: str) -> str:
    path = _file_name(op, file_path, source, add_suffix=False, arg_name="file_path")
    folder = (
        os.path.dirname(path) if save_path is None else _make_directory(save_path, "save_path", op)
    )
    name = os.path.basename(path)[: -len(source)] + target
    made = os.path.join(folder, name)
    save_checkpoint(_read(op, path, source, None, False), made, format=target)
    return made


__all__ = [
    "async_ckpt_thread_status",
    "ckpt_to_safetensors",
    "context",
    "export",
    "load",
    "load_checkpoint",
    "load_checkpoint_async",
    "load_param_into_net",
    "mstype",
    "safetensors_to_ckpt",
    "save_checkpoint",
    "tensor_to_ms_type",
    "tensor_to_np_type",
]


def __getattr__(name: str) -> Any:
    """Internal names that scripts import from here."""
    from mindspore._compat import serialization_names

    if not name.startswith("__") and hasattr(serialization_names, name):
        return getattr(serialization_names, name)
    raise AttributeError(f"module 'mindspore.train.serialization' has no attribute '{name}'")
