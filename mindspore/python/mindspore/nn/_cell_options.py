"""The settings of a Cell that choose how it is run, not what it computes.

They are kept apart from the tree of cells and parameters: flags, the compute type of mixed
precision, hooks of eager mode, and the settings of parallel training.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from mindspore import _core, log
from mindspore.common import dtype as mstype
from mindspore.common.jit_config import JitConfig
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.compile.signature import Signature

_FLOAT_FLAGS = {"fp16": mstype.float16, "fp32": mstype.float32, "bf16": mstype.bfloat16}
_FLOATS = (mstype.float16, mstype.bfloat16, mstype.float32, mstype.float64)
_hook_keys = itertools.count()
_warned = False


class HookHandle:
    """Takes a hook off its cell again."""

    def __init__(self, hooks: dict[int, Callable[..., Any]], hook: Callable[..., Any]) -> None:
        self._hooks = hooks
        self._key = next(_hook_keys)
        hooks[self._key] = hook

    def remove(self) -> None:
        """Take the hook off."""
        if self._hooks.pop(self._key, None) is not None:
            _core.bump_epoch()


class CellOptions:
    """Flags, mixed precision, hooks and parallel settings of a Cell."""

    # True when a call has more to do than to run construct: hooks or mixed precision.
    _special = False
    # The dtype that to_float chose, or None.
    _compute_type: Any = None
    # Whether mixed precision converts the parameters of this cell as well as its inputs.
    _converts_parameters = True
    _forward_pre_hooks: dict[int, Callable[..., Any]] | None = None
    _forward_hooks: dict[int, Callable[..., Any]] | None = None
    _backward_hooks: dict[int, Callable[..., Any]] | None = None
    pipeline_stage: int | None = None
    comm_fusion = 1

    def add_flags(self, **flags: Any) -> Any:
        """Set flags of the cell; each becomes an attribute too."""
        known = self.__dict__.setdefault("_func_graph_flags", {})
        known.update(flags)
        self.__dict__.update(flags)
        if flags.keys() & _FLOAT_FLAGS.keys():
            chosen = [dtype for flag, dtype in _FLOAT_FLAGS.items() if known.get(flag)]
            self.__dict__["_compute_type"] = chosen[0] if chosen else None
            self._update_special()
        _core.bump_epoch()
        return self

    def add_flags_recursive(self, **flags: Any) -> Any:
        """Set flags of the cell and of every cell in it."""
        for _, cell in self.cells_and_names():  # type: ignore[attr-defined]
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """The flags that were set."""
        return dict(self.__dict__.get("_func_graph_flags", {}))

    def to_float(self, dst_type: Any) -> Any:
        """Compute the cell and every cell in it with this float type.

        Args:
            dst_type: mindspore.float16, float32 or bfloat16. Inputs and trained parameters are
                converted on the way in; the parameters themselves keep their type.

        Returns:
            The cell itself.
        """
        if dst_type not in _FLOAT_FLAGS.values():
            raise ValueError(
                f"For '{type(self).__name__}.to_float', 'dst_type' must be one of float16, "
                f"float32, bfloat16, but got {dst_type}."
            )
        return self.add_flags_recursive(
            **{flag: dtype == dst_type for flag, dtype in _FLOAT_FLAGS.items()}
        )

    def _update_special(self) -> None:
        hooks = (self._forward_pre_hooks, self._forward_hooks, self._backward_hooks)
        self.__dict__["_special"] = self._compute_type is not None or any(
            group is not None for group in hooks
        )

    def _add_hook(self, group: str, hook: Any) -> HookHandle:
        if not callable(hook):
            raise TypeError(
                f"For '{type(self).__name__}', a hook must be a function, "
                f"but got {type(hook).__name__}."
            )
        hooks = self.__dict__.get(group)
        if hooks is None:
            hooks = self.__dict__[group] = {}
        handle = HookHandle(hooks, hook)
        if _core.graph_mode():
            self._warn_about_hooks()
        self._update_special()
        _core.bump_epoch()
        return handle

    def _warn_about_hooks(self) -> None:
        """Say once that compiled code calls no hooks, if there are any in this cell."""
        global _warned
        if _warned:
            return
        for path, cell in self.cells_and_names():  # type: ignore[attr-defined]
            if cell._forward_pre_hooks or cell._forward_hooks or cell._backward_hooks:
                _warned = True
                log.warning(
                    f"The hooks of '{path or type(cell).__name__}' are not called in GRAPH_MODE. "
                    "Set mode=mindspore.PYNATIVE_MODE to run them."
                )
                return

    def _run_eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run construct with its hooks, in the compute type."""
        for hook in list((self._forward_pre_hooks or {}).values()):
            replaced = hook(self, args)
            if replaced is not None:
                args = replaced if isinstance(replaced, tuple) else (replaced,)
        run: Any = self._run_converted
        if self._compute_type is None:
            run = self._run_construct  # type: ignore[attr-defined]
        output = run(args, kwargs)
        for hook in list((self._forward_hooks or {}).values()):
            replaced = hook(self, args, output)
            if replaced is not None:
                output = replaced
        return output

    def _run_converted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run construct with inputs and trained parameters in the compute type."""
        args, kwargs = self._cast_inputs(args, kwargs)
        state = self.__dict__
        held = {name: p for name, p in state["_params"].items() if state.get(name) is p}
        state.update({name: self._cast_parameter(param) for name, param in held.items()})
        try:
            return self._run_construct(args, kwargs)  # type: ignore[attr-defined]
        finally:
            state.update(held)

    def _cast_inputs(self, args: Any, kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
        """The arguments of a call in the compute type."""
        dtype = self._compute_type
        return (
            tuple(_convert(arg, dtype) for arg in args),
            {key: _convert(arg, dtype) for key, arg in kwargs.items()},
        )

    def _cast_parameter(self, value: Any) -> Any:
        """What construct reads for an attribute: trained parameters come in the compute type."""
        if self._converts_parameters and isinstance(value, Parameter) and value.requires_grad:
            return _convert(value, self._compute_type)
        return value

    def register_forward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, inputs)` before construct; what it returns replaces the inputs.

        Runs in PYNATIVE_MODE. Returns a handle whose `remove()` takes the hook off.
        """
        return self._add_hook("_forward_pre_hooks", hook_fn)

    def register_forward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, inputs, output)` after construct; its result replaces the output.

        Runs in PYNATIVE_MODE. Returns a handle whose `remove()` takes the hook off.
        """
        return self._add_hook("_forward_hooks", hook_fn)

    def register_backward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Keep a hook for gradients that pass the cell; gradients do not call it yet.

        Returns a handle whose `remove()` takes the hook off.
        """
        handle = self._add_hook("_backward_hooks", hook_fn)
        log.warning(
            f"The backward hook of '{type(self).__name__}' is kept, but gradients do not call it."
        )
        return handle

    def recompute(self, **settings: Any) -> None:
        """Ask for the cell's outputs to be computed again in the backward pass, not kept."""
        self._set_option("_recompute", settings)

    def set_jit_config(self, jit_config: Any) -> None:
        """Keep the compiler settings of this cell: `JitConfig(jit_syntax_level="STRICT")` makes what cannot be compiled an
        error."""
        if not isinstance(jit_config, JitConfig):
            raise TypeError(
                f"For 'set_jit_config', the argument must be a JitConfig, but got {type(jit_config).__name__}."
            )
        self._set_option("_strict", jit_config.strict)

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Any:
        """Choose the group in which the gradients of the parameters are communicated."""
        for parameter in self.trainable_params(recurse):  # type: ignore[attr-defined]
            parameter.comm_fusion = fusion_type
        return self

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Keep the trained parameters on a parameter server."""
        for parameter in self.trainable_params(recurse):  # type: ignore[attr-defined]
            parameter.set_param_ps(init_in_server)

    def set_data_parallel(self) -> Any:
        """Compute the cell in data parallel under automatic parallelism."""
        return self._set_option("_data_parallel", True)

    def shard(
        self,
        in_strategy: Any,
        out_strategy: Any = None,
        parameter_plan: Any = None,
        device: str = "Ascend",
        level: int = 0,
    ) -> Any:
        """Keep a parallel strategy for the inputs, outputs and parameters of the cell."""
        plan = (in_strategy, out_strategy, parameter_plan, device, level)
        return self._set_option("_shard_plan", plan)

    def place(self, role: str, rank_id: int) -> Any:
        """Keep the process that is to compute the cell."""
        return self._set_option("_placement", (role, rank_id))

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Declare the inputs, with None for sizes that change from call to call: in GRAPH_MODE one compile serves them all."""
        if inputs and kwargs:
            raise ValueError(
                "For 'set_inputs', the inputs must be given by position or by name, but got both."
            )
        signature = Signature(type(self).__name__, self.construct, inputs, kwargs)
        self.__dict__.pop("_compiled_versions", None)
        self._set_option("_declared_inputs", (inputs, kwargs))
        self._set_option("_signature", signature if inputs or kwargs else None)

    def get_inputs(self) -> Any:
        """The inputs that `set_inputs` declared, or None."""
        declared = self.__dict__.get("_declared_inputs")
        if declared is None:
            return None
        inputs, kwargs = declared
        return kwargs or inputs

    def set_auto_parallel(self) -> Any:
        """Let automatic parallelism choose strategies inside the cell."""
        return self._set_option("_auto_parallel", True)

    def set_broadcast_flag(self, mode: bool = True) -> Any:
        """Choose whether parameters are sent from the first device to the others at the start."""
        return self._set_option("_broadcast", mode)

    def set_boost(self, boost_type: str) -> Any:
        """Keep the boost level of the cell."""
        return self._set_option("_boost", boost_type)

    def offload(self, backward_prefetch: Any = "Auto") -> None:
        """Ask for the cell's outputs to be kept in host memory until the backward pass."""
        self._set_option("_offload", backward_prefetch)

    def flatten_weights(self, fusion_size: int = 0) -> None:
        """Accepted: parameters are gathered in memory by the memory plan where that helps."""
        del fusion_size

    def _set_option(self, name: str, value: Any) -> Any:
        self.__dict__[name] = value
        _core.bump_epoch()
        return self


def _convert(value: Any, dtype: Any) -> Any:
    """The value with every floating tensor in it converted."""
    if isinstance(value, Tensor):
        if value.dtype != dtype and value.dtype in _FLOATS:
            return value.astype(dtype)
        return value
    if isinstance(value, (tuple, list)):
        return type(value)(_convert(item, dtype) for item in value)
    return value
