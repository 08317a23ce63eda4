"""The state of a Cell beside its parameters, and all of it as a dictionary.

Buffers are tensors that belong to a cell but are not trained: `_buffers` names them, and they lie once more in `__dict__`, as
parameters do. `state_dict` and `load_state_dict` go by paths of attributes, whatever names the parameters have.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from mindspore import _core
from mindspore.common import dtype as mstype
from mindspore.common._checked import check_value
from mindspore.common._dtypes import COMPLEX, FLOATS
from mindspore.common._kinds import described
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.context import checked_device
from mindspore.nn._cell_options import HookHandle

_EXTRA = "_extra_state"


class IncompatibleKeys(NamedTuple):
    """What `load_state_dict` did not find, and what it did not expect."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"IncompatibleKeys(missing_keys={self.missing_keys}, unexpected_keys={self.unexpected_keys})"


class CellState:
    """Buffers of a Cell, its state as a dictionary, and its dtype and device."""

    _buffers: dict[str, Tensor | None] = {}  # of a cell that has any, its own
    _passing: frozenset[str] = frozenset()  # buffers that are no part of the state
    _state_hooks: dict[str, dict] | None = None

    # ---- buffers ----

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Take a tensor that belongs to the cell but is not trained, and is read as an attribute.

        Args:
            name: The attribute.
            tensor: The tensor, or None for a buffer that is not there yet.
            persistent: Whether it is part of the state.
        """
        owner = f"{type(self).__name__}.register_buffer"
        check_value(str, name, "name", owner)
        check_value(bool, persistent, "persistent", owner)
        if not name or "." in name:
            raise KeyError(
                f"For '{owner}', 'name' must not be empty nor have a dot in it, but got '{name}'."
            )
        if hasattr(self, name) and name not in self._buffers:
            raise KeyError(
                f"For '{owner}', 'name' must not be an attribute already, but got '{name}'."
            )
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(
                f"For '{owner}', 'tensor' must be a Tensor or None, but got {described(tensor)}."
            )
        state = self.__dict__
        state.setdefault("_buffers", OrderedDict())[name] = tensor
        passing = self._passing - {name}
        state["_passing"] = passing if persistent else passing | {name}
        state[name] = tensor
        _core.bump_epoch()

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, Tensor):
            raise TypeError(
                f"For '{type(self).__name__}', the attribute '{name}' is a buffer, so it must be set to a Tensor or None, "
                f"but got {described(value)}."
            )
        self._buffers[name] = value
        self.__dict__[name] = value

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers, with their paths of attributes.

        Args:
            prefix: Goes in front of the paths.
            recurse: Whether those of the cells inside are included.
            remove_duplicate: Whether one that several cells have comes once.
        """
        seen: set[int] = set()
        owners: Any = ((prefix, self),)
        if recurse:
            owners = self.cells_and_names(name_prefix=prefix)  # type: ignore[attr-defined]
        for path, cell in owners:
            for name, buffer in cell._buffers.items():
                if buffer is not None and not (remove_duplicate and id(buffer) in seen):
                    seen.add(id(buffer))
                    yield (f"{path}.{name}" if path else name), buffer

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers.

        Args:
            recurse: Whether those of the cells inside are included.
        """
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path of attributes.

        Args:
            target: The path.
        """
        path, _, name = target.rpartition(".")
        cell = self.get_sub_cell(path)
        if name not in cell._buffers:
            raise AttributeError(f"'{type(cell).__name__}' has no buffer '{name}'.")
        return cell._buffers[name]

    def get_sub_cell(self, target: str) -> Any:
        """The cell at a path of attributes; the empty path leads to the cell itself.

        Args:
            target: The path.
        """
        cell: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(cell, name):
                raise AttributeError(f"'{type(cell).__name__}' has no attribute '{name}'.")
            cell = getattr(cell, name)
            if not isinstance(cell, CellState):
                raise AttributeError(f"'{name}' is not a Cell, but {described(cell)}.")
        return cell

    # ---- the state as a dictionary ----

    def get_extra_state(self) -> Any:
        """What a subclass keeps in the state beside parameters and buffers; it defines `set_extra_state`, too."""
        raise RuntimeError(
            f"For '{type(self).__name__}', 'get_extra_state' must be defined before it is called."
        )

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` returned.

        Args:
            state: What was kept.
        """
        raise RuntimeError(
            f"For '{type(self).__name__}', 'set_extra_state' must be defined before it is called."
        )

    def _has_extra(self, method: str) -> bool:
        return getattr(type(self), method) is not getattr(CellState, method)

    def _own_state(self) -> Iterator[tuple[str, Tensor]]:
        """The parameters and the lasting buffers of this cell alone."""
        params: dict = self._params  # type: ignore[attr-defined]
        own = {name: p for name, p in params.items() if p is not None}
        lasting = {
            n: b for n, b in self._buffers.items() if b is not None and n not in self._passing
        }
        yield from {**own, **lasting}.items()

    def state_dict(
        self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False
    ) -> Any:
        """All parameters and lasting buffers by their paths of attributes. They are those of the cell, not copies.

        Args:
            args: `destination`, `prefix` and `keep_vars` by position.
            destination: A dictionary that takes them; None makes one.
            prefix: Goes in front of the paths.
            keep_vars: Accepted; what is given is that of the cell in any case.
        """
        given = dict(zip(("destination", "prefix", "keep_vars"), args))
        destination = given.get("destination", destination)
        prefix, keep_vars = given.get("prefix", prefix), given.get("keep_vars", keep_vars)
        if destination is None:
            destination = OrderedDict()
            destination._metadata = OrderedDict()
        local: dict[str, Any] = {}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in self._hooks_of("state_pre"):
            hook(self, prefix, keep_vars)
        for name, value in self._own_state():
            destination[prefix + name] = value
        if self._has_extra("get_extra_state"):
            destination[prefix + _EXTRA] = self.get_extra_state()
        for name, cell in self._cells.items():  # type: ignore[attr-defined]
            if cell is not None:
                cell.state_dict(
                    destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars
                )
        for hook in self._hooks_of("state_post"):
            hook(self, destination, prefix, local)
        return destination

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> Any:
        """Copy values into the parameters and buffers at their paths of attributes.

        Args:
            state_dict: What `state_dict` returned.
            strict: Whether a path that is missing, or one that leads nowhere, is an error.

        Returns:
            The paths that were missing, and those that led nowhere.
        """
        owner = f"{type(self).__name__}.load_state_dict"
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"For '{owner}', 'state_dict' must be a dictionary, but got {described(state_dict)}."
            )
        values = OrderedDict(state_dict)
        metadata = getattr(state_dict, "_metadata", {})
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        found = (metadata, strict, missing, unexpected, errors)
        self._load(values, "", *found)
        if strict:
            errors += _listed("unexpected keys", unexpected) + _listed("missing keys", missing)
        if errors:
            raise RuntimeError(
                f"For '{owner}', the state must fit the cell, but got " + "; ".join(errors)
            )
        return IncompatibleKeys(missing, unexpected)

    def _load(
        self,
        values: dict[str, Any],
        prefix: str,
        metadata: dict,
        strict: bool,
        missing: list[str],
        unexpected: list[str],
        errors: list[str],
    ) -> None:
        """Take what is there for this cell and the cells inside; tell what fits not."""
        local = metadata.get(prefix[:-1], {})
        for hook in self._hooks_of("load_pre"):
            hook(self, values, prefix, local, strict, missing, unexpected, errors)
        known: dict[str, Any] = {prefix + name: tensor for name, tensor in self._own_state()}
        for path, tensor in known.items():
            if path in values:
                errors += _copy(tensor, values[path], path)
            else:
                missing.append(path)
        if self._has_extra("set_extra_state"):
            known[prefix + _EXTRA] = None
            if prefix + _EXTRA in values:
                self.set_extra_state(values[prefix + _EXTRA])
            else:
                missing.append(prefix + _EXTRA)
        cells = {n: c for n, c in self._cells.items() if c is not None}  # type: ignore[attr-defined]
        for name, cell in cells.items():
            cell._load(values, f"{prefix}{name}.", metadata, strict, missing, unexpected, errors)
        for path in values:
            rest = path.removeprefix(prefix)
            inside = "." in rest and rest.split(".")[0] in cells
            if path.startswith(prefix) and path not in known and not inside:
                unexpected.append(path)
        for hook in self._hooks_of("load_post"):
            if hook(self, IncompatibleKeys(missing, unexpected)) is not None:
                raise RuntimeError(
                    f"For '{type(self).__name__}', a hook after 'load_state_dict' must return None."
                )

    # ---- hooks ----

    def _hooks_of(self, kind: str) -> list[Callable[..., Any]]:
        return [hook for hook, _ in (self._state_hooks or {}).get(kind, {}).values()]

    def _add_state_hook(self, kind: str, hook: Any) -> HookHandle:
        check_value(Callable, hook, "hook", type(self).__name__)
        hooks = self.__dict__.setdefault("_state_hooks", {})
        return HookHandle(hooks.setdefault(kind, {}), hook, False)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, prefix, keep_vars)` before `state_dict`. Returns a handle whose `remove()` takes it off."""
        return self._add_state_hook("state_pre", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, state_dict, prefix, local_metadata)` after `state_dict`, which it may change."""
        return self._add_state_hook("state_post", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)` before the
        state is loaded; it may change them."""
        return self._add_state_hook("load_pre", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, incompatible_keys)` after the state was loaded; it may change the lists."""
        return self._add_state_hook("load_post", hook)

    # ---- dtype and device ----

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Convert the floating parameters and buffers, and move all of them.

        `to(device=None, dtype=None, non_blocking=False)`, `to(dtype, non_blocking=False)` or `to(tensor, non_blocking=False)`.
        Whoever holds a Parameter, an optimizer for one, sees its new dtype.
        """
        device, dtype = self._wanted(args, kwargs)
        if device is not None:
            device = checked_device(f"{type(self).__name__}.to", "device", device)
            for tensor in self._all_state():
                if tensor.device != device:
                    tensor._assign_value(tensor.move_to(device))
        if dtype is None:
            return self
        if dtype not in (*FLOATS, *COMPLEX):
            raise TypeError(
                f"For '{type(self).__name__}.to', 'dtype' must be floating or complex, but got {dtype}."
            )
        if dtype in COMPLEX:
            warnings.warn(
                "Cells of complex parameters are experimental.", UserWarning, stacklevel=2
            )
        for tensor in self._all_state():
            if tensor.dtype in (*FLOATS, *COMPLEX) and tensor.dtype != dtype:
                tensor._assign_value(tensor.astype(dtype))
        _core.bump_epoch()
        return self

    def _wanted(self, args: tuple, kwargs: dict[str, Any]) -> tuple[Any, Any]:
        """The device and the dtype that the arguments of `to` say."""
        names = ["device", "dtype", "non_blocking"]
        if args and isinstance(args[0], Tensor):
            names = ["tensor", "non_blocking"]
        elif args and not isinstance(args[0], (str, type(None))):
            names = ["dtype", "non_blocking"]
        given = dict(zip(names, args))
        if (
            len(args) > len(names)
            or given.keys() & kwargs.keys()
            or kwargs.keys() - {"tensor", *_TO}
        ):
            raise TypeError(
                f"For '{type(self).__name__}.to', the arguments must be a device and a dtype, a dtype, or a Tensor, "
                f"but got {described((*args, *kwargs.values()))}."
            )
        given.update(kwargs)
        owner = f"{type(self).__name__}.to"
        for name, kind in _TO.items():
            check_value(kind, given.get(name), name, owner)
        tensor = given.get("tensor")
        if tensor is not None:
            return None, tensor.dtype
        return given.get("device"), given.get("dtype")

    def to_empty(self, *, device: str | None = None, recurse: bool = True) -> Any:
        """Give parameters and buffers new memory whose values mean nothing.

        Args:
            device: The device; None is that of the context.
            recurse: Whether those of the cells inside are included.
        """
        owner = f"{type(self).__name__}.to_empty"
        check_value(str | None, device, "device", owner)
        if device is not None:
            device = checked_device(owner, "device", device)
        for tensor in self._all_state(recurse):
            fresh = _core.op("ZerosLike")(tensor)
            tensor._assign_value(fresh if device is None else fresh.move_to(device))
        _core.bump_epoch()
        return self

    def _all_state(self, recurse: bool = True) -> Iterator[Any]:
        yield from self.get_parameters(expand=recurse)  # type: ignore[attr-defined]
        yield from self.buffers(recurse)


_TO: dict[str, Any] = {
    "device": str | None,
    "dtype": mstype.Type | None,
    "non_blocking": bool | None,
}


def _listed(what: str, paths: list[str]) -> list[str]:
    return [f"{what} {', '.join(paths)}"] if paths else []


def _copy(tensor: Any, value: Any, path: str) -> list[str]:
    """Copies a value into a parameter or buffer; what is wrong with it otherwise."""
    if not isinstance(value, Tensor):
        return [f"{described(value)} for '{path}'"]
    if tuple(value.shape) != tuple(tensor.shape):
        return [f"shape {tuple(value.shape)} for '{path}' of shape {tuple(tensor.shape)}"]
    if isinstance(tensor, Parameter):
        tensor.set_data(value)
    else:
        tensor._assign_value(_core.op("Identity")(value.astype(tensor.dtype)))
    return []
