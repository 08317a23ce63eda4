"""The settings of a Cell that choose how it is run, not what it computes.

They are kept apart from the tree of cells and parameters: flags, the compute type of mixed
precision, hooks of eager mode, and the settings of parallel training.
"""

from __future__ import annotations

import inspect
import itertools
import warnings
from collections.abc import Callable
from typing import Any

from mindspore import _core, tuning
from mindspore.common import dtype as mstype
from mindspore.common._checked import check_methods, check_value
from mindspore.common._dtypes import FLOATS
from mindspore.common.jit_config import JitConfig
from mindspore.common.parameter import Parameter
from mindspore.common.tensor import Tensor
from mindspore.compile.values.compilable import VERSIONS
from mindspore.compile.versions.signature import Signature
from mindspore.nn import _shards
from mindspore.ops import _custom

_FLOAT_FLAGS = {"fp16": mstype.float16, "fp32": mstype.float32, "bf16": mstype.bfloat16}
_hook_keys = itertools.count()


class HookHandle:
    """Takes a hook off its cell again."""

    def __init__(self, hooks: dict[int, Any], hook: Callable[..., Any], with_kwargs: bool) -> None:
        self._hooks = hooks
        self.key = next(_hook_keys)
        hooks[self.key] = (hook, with_kwargs)

    def remove(self) -> None:
        """Take the hook off."""
        if self._hooks.pop(self.key, None) is not None:
            _core.bump_epoch()


class _HookedCall:
    """One call with hooks around it: what they are given next, and which of them had their turn."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.args, self.kwargs = args, kwargs
        self.output: Any = None
        self.called: set[int] = set()

    def after(self, key: int, cell: Any, hook: Callable[..., Any], with_kwargs: bool) -> Any:
        """What a hook behind construct returns."""
        self.called.add(key)
        inputs = (self.args, self.kwargs) if with_kwargs else (self.args,)
        return _custom.invoke(hook, cell, *inputs, self.output)


class CellOptions:
    """Flags, mixed precision, hooks and parallel settings of a Cell."""

    # True when a call has more to do than to run construct: hooks, mixed precision, a gradient of
    # its own (bprop) or recomputation.
    _special = False
    # The dtype that to_float chose, or None.
    _compute_type: Any = None
    # Whether mixed precision converts the parameters of this cell as well as its inputs.
    _converts_parameters = True
    _forward_pre_hooks: dict[int, Any] | None = None
    _forward_hooks: dict[int, Any] | None = None
    # Those that are called even if construct raises.
    _always_hooks: set[int] | None = None
    _backward_pre_hooks: dict[int, Any] | None = None
    _backward_hooks: dict[int, Any] | None = None
    _recompute: dict[str, Any] | None = None
    # What construct reads for Parameters: by their identity, or under None for all others.
    _parameter_hooks: dict[Any, Callable[..., Any]] | None = None
    # A subclass may define its own gradient: bprop(self, *inputs, out, dout).
    bprop: Any = None
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

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        check_methods(cls, ("__init__", "construct"))
        if cls.bprop is not None:
            cls._special = True

    def _update_special(self) -> None:
        reasons = (
            self._compute_type,
            self._forward_pre_hooks,
            self._forward_hooks,
            self._backward_pre_hooks,
            self._backward_hooks,
            self._recompute,
            self._parameter_hooks,
            self.bprop,
        )
        self.__dict__["_special"] = any(reason is not None for reason in reasons)

    def _add_hook(
        self, group: str, hook: Any, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        if not callable(hook):
            raise TypeError(
                f"For '{type(self).__name__}', a hook must be a function, "
                f"but got {type(hook).__name__}."
            )
        hooks = self.__dict__.get(group)
        if hooks is None:
            hooks = self.__dict__[group] = {}
        handle = HookHandle(hooks, hook, with_kwargs)
        if prepend:
            earlier = list(hooks.items())[:-1]
            for key, value in earlier:
                del hooks[key]
                hooks[key] = value
        self._update_special()
        _core.bump_epoch()
        return handle

    def _run_eagerly(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run construct with all that the settings add to it."""
        as_they_are = self._compute_type is None and self._parameter_hooks is None
        plain = self._run_construct if as_they_are else self._run_converted  # type: ignore[attr-defined]
        return self._run_special(args, kwargs, plain)

    def _run_special(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[..., Any]
    ) -> Any:
        """`run(args, kwargs)`, which runs construct, with the hooks around it; in both modes."""
        call = _HookedCall(args, kwargs)
        try:
            return self._run_between_hooks(call, run)
        except Exception:
            if self._always_hooks and not _core.is_tracing():
                self._call_after_failure(call)
            raise

    def _run_between_hooks(self, call: _HookedCall, run: Callable[..., Any]) -> Any:
        for hook, with_kwargs in list((self._forward_pre_hooks or {}).values()):
            inputs = (call.args, call.kwargs) if with_kwargs else (call.args,)
            replaced = _custom.invoke(hook, self, *inputs)
            if replaced is None:
                continue
            if with_kwargs:
                call.args, call.kwargs = replaced
            else:
                call.args = replaced if isinstance(replaced, tuple) else (replaced,)
        call.output = self._run_with_gradient(call.args, call.kwargs, run)
        for key, (hook, with_kwargs) in list((self._forward_hooks or {}).items()):
            replaced = call.after(key, self, hook, with_kwargs)
            if replaced is not None:
                call.output = replaced
        return call.output

    def _call_after_failure(self, call: _HookedCall) -> None:
        """The hooks that are always called, and were not yet; what they raise gives way to the first exception."""
        for key, (hook, with_kwargs) in list((self._forward_hooks or {}).items()):
            if key not in (self._always_hooks or ()) or key in call.called:
                continue
            try:
                call.after(key, self, hook, with_kwargs)
            except Exception as error:
                warnings.warn(
                    f"A forward hook of {type(self).__name__} with always_call=True raised {type(error).__name__} behind "
                    f"another exception: {error}",
                    stacklevel=2,
                )

    def _run_with_gradient(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], run: Callable[..., Any]
    ) -> Any:
        """`run(args, kwargs)` with the gradient that the cell defines, or with hooks on it."""
        name = type(self).__name__
        parameters = list(self.get_parameters())  # type: ignore[attr-defined]
        call: Callable[..., Any] = lambda *inputs: run(inputs, kwargs)  # noqa: E731
        if self.bprop is not None:
            if kwargs:
                args = _all_positional(self, args, kwargs)  # type: ignore[attr-defined]
            plain = lambda *inputs: run(inputs, {})  # noqa: E731
            back = lambda *given: _custom.invoke(self.bprop, *given)  # noqa: E731
            call = lambda *inputs: _custom.custom_call(  # noqa: E731
                f"{name}.bprop", plain, back, inputs, parameters
            )
        elif self._recompute is not None:
            once = call
            call = lambda *inputs: _custom.recomputed_call(name, once, inputs, parameters)  # noqa: E731
        before = [hook for hook, _ in (self._backward_pre_hooks or {}).values()]
        after = [hook for hook, _ in (self._backward_hooks or {}).values()]
        if before or after:
            return _custom.hooked_call(name, self, call, args, before, after)
        return call(*args)

    def _run_converted(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run construct with inputs and trained parameters in the compute type, and what hooks make of parameters."""
        if self._compute_type is not None:
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
        """What construct reads for an attribute: of trained parameters what hooks make of them, in the compute type."""
        if not isinstance(value, Parameter):
            return value
        hooks = self._parameter_hooks or {}
        hook = hooks.get(id(value), hooks.get(None))
        read = value if hook is None else _custom.invoke(hook, value)
        if self._compute_type is not None and self._converts_parameters and value.requires_grad:
            return _convert(read, self._compute_type)
        return read

    def register_parameter_forward_hook(self, hook: Any) -> None:
        """Let construct, here and in the cells inside, read `hook(parameter)` in place of a Parameter.

        Args:
            hook: A function for all parameters, or a list of dictionaries with 'params' and the 'hook' for these.
        """
        owner = f"{type(self).__name__}.register_parameter_forward_hook"
        hooks: dict[Any, Callable[..., Any]] = {}
        if callable(hook):
            hooks[None] = hook
        else:
            for item in check_value(list[dict], hook, "hook", owner):
                if set(item) != {"params", "hook"}:
                    raise ValueError(
                        f"For '{owner}', the keys of 'hook' must be 'params' and 'hook', but got {list(item)}."
                    )
                check_value(Callable, item["hook"], "hook", owner)
                for parameter in check_value(list[Parameter], item["params"], "params", owner):
                    hooks[id(parameter)] = item["hook"]
        for _, cell in self.cells_and_names():  # type: ignore[attr-defined]
            cell.__dict__["_parameter_hooks"] = {**(cell._parameter_hooks or {}), **hooks}
            cell._update_special()
        _core.bump_epoch()

    def register_forward_pre_hook(
        self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call `hook_fn(cell, inputs)` before construct; what it returns replaces the inputs.

        Args:
            hook_fn: The hook.
            prepend: Whether it comes before the hooks there are.
            with_kwargs: It is called with (cell, inputs, keywords), and returns a pair.

        Returns a handle whose `remove()` takes the hook off.
        """
        return self._add_hook("_forward_pre_hooks", hook_fn, prepend, with_kwargs)

    def register_forward_hook(
        self,
        hook_fn: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> HookHandle:
        """Call `hook_fn(cell, inputs, output)` after construct; its result replaces the output.

        Args:
            hook_fn: The hook.
            prepend: Whether it comes before the hooks there are.
            with_kwargs: It is called with (cell, inputs, keywords, output).
            always_call: It is called, with what there is of an output, even if the call raises; the exception is raised
                behind it. Compiled code knows no such hook: an exception ends it.

        Returns a handle whose `remove()` takes the hook off.
        """
        handle = self._add_hook("_forward_hooks", hook_fn, prepend, with_kwargs)
        if always_call:
            self.__dict__["_always_hooks"] = {*(self._always_hooks or ()), handle.key}
        return handle

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, grad_output)` before the backward pass of the cell.

        `grad_output` is the tuple of the gradients of its results; what the hook returns, unless
        None, replaces them. Returns a handle whose `remove()` takes the hook off.
        """
        return self._add_hook("_backward_pre_hooks", hook_fn)

    def register_backward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, grad_input, grad_output)` after the backward pass of the cell.

        Both are tuples of gradients, of its inputs and of its results; what the hook returns,
        unless None, replaces those of the inputs. Returns a handle whose `remove()` takes the hook
        off.
        """
        return self._add_hook("_backward_hooks", hook_fn)

    def recompute(self, **settings: Any) -> None:
        """Compute the inside of the cell again in the backward pass, rather than keep it.

        The settings choose among ways of communication and are accepted.
        """
        self._set_option("_recompute", settings)
        self._update_special()

    def set_jit_config(self, jit_config: Any) -> None:
        """Keep the compiler settings of this cell: `JitConfig(jit_syntax_level="STRICT")` makes what cannot be compiled an
        error, `JitConfig(jit_level="O0")` compiles without fusion."""
        if not isinstance(jit_config, JitConfig):
            raise TypeError(
                f"For 'set_jit_config', the argument must be a JitConfig, but got {type(jit_config).__name__}."
            )
        self._set_option("_strict", jit_config.strict)
        self._set_option("_fast", jit_config.fast)
        tuning.raise_budget(jit_config.tune_budget)

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Any:
        """Choose the group in which the gradients of the parameters are communicated."""
        if isinstance(fusion_type, bool) or not isinstance(fusion_type, int) or fusion_type < 0:
            raise ValueError(
                f"For 'set_comm_fusion', 'fusion_type' must be an int that is not negative, but got {fusion_type!r}."
            )
        for parameter in self.trainable_params(recurse):  # type: ignore[attr-defined]
            parameter.comm_fusion = fusion_type
        return self

    def set_param_ps(self, recurse: bool = True, init_in_server: bool = False) -> None:
        """Keep the trained parameters on a parameter server."""
        for parameter in self.trainable_params(recurse):  # type: ignore[attr-defined]
            parameter.set_param_ps(init_in_server)

    def set_data_parallel(self) -> None:
        """Compute the cell in data parallel under automatic parallelism."""
        self._set_option("_data_parallel", True)

    def shard(self, in_strategy: Any, out_strategy: Any = None, parameter_plan: Any = None) -> Any:
        """Say how the inputs, outputs and Parameters of the cell are to lie among processes, in the modes "semi_auto_parallel"
        and "auto_parallel".

        Args:
            in_strategy: For each tensor that goes in how often its dimensions are cut, or a Layout; None: the planner decides.
            out_strategy: The same of what comes out.
            parameter_plan: The same by names of Parameters, as this cell or its whole network knows them.

        Returns:
            The cell itself.
        """
        _shards.shard_cell(self, in_strategy, out_strategy, parameter_plan)
        return self

    @property
    def pipeline_stage(self) -> int | None:
        """The stage of a pipeline that has the Parameters of the cell, and so computes it; None: not said."""
        return self.__dict__.get("_pipeline_stage")

    @pipeline_stage.setter
    def pipeline_stage(self, value: int) -> None:
        if type(value) is not int:
            raise TypeError(
                f"For '{type(self).__name__}', 'pipeline_stage' must be an int, but got {type(value).__name__}."
            )
        if value < 0:
            raise ValueError(
                f"For '{type(self).__name__}', 'pipeline_stage' must be at least 0, but got {value}."
            )
        self._set_option("_pipeline_stage", value)
        cells = [cell for _, cell in self.cells_and_names()]  # type: ignore[attr-defined]
        inside = frozenset(map(id, cells))
        for parameter in self.trainable_params():  # type: ignore[attr-defined]
            parameter._mark_stage(id(self), inside, value)

    def place(self, role: str, rank_id: int) -> Any:
        """Keep the process that is to compute the cell."""
        return self._set_option("_placement", (role, rank_id))

    def __getstate__(self) -> dict[str, Any]:
        """What copies and pickles of the cell hold: all but its compiled versions, which speak of this one."""
        return {k: v for k, v in self.__dict__.items() if k != VERSIONS}

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Declare the inputs, with None for sizes that change from call to call: in GRAPH_MODE one compile serves them all."""
        if inputs and kwargs:
            raise ValueError(
                "For 'set_inputs', the inputs must be given by position or by name, but got both."
            )
        construct = self.construct  # type: ignore[attr-defined]
        signature = Signature(type(self).__name__, construct, inputs, kwargs)
        self.__dict__.pop(VERSIONS, None)
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
        if boost_type != "less_bn":
            raise ValueError(
                f"For 'set_boost', 'boost_type' must be 'less_bn', but got {boost_type!r}."
            )
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


def _all_positional(cell: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """The arguments of construct by position, as bprop takes them."""
    bound = inspect.signature(cell.construct).bind(*args, **kwargs)
    bound.apply_defaults()
    return (*bound.args, *bound.kwargs.values())


def _convert(value: Any, dtype: Any) -> Any:
    """The value with every floating tensor in it converted."""
    if isinstance(value, Tensor):
        if value.dtype != dtype and value.dtype in FLOATS:
            return value.astype(dtype)
        return value
    if isinstance(value, (tuple, list)):
        return type(value)(_convert(item, dtype) for item in value)
    return value
