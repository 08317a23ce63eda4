"""Optimizer, the base of all optimizers: parameter groups, learning rates, decay and scaling.

A subclass updates `self.parameters` in `construct(gradients)`. What differs between groups is laid
out at construction as tuples with one entry per parameter, so that `construct` is plain loops.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np

from mindspore import _core
from mindspore.common import _planning
from mindspore.common import dtype as mstype
from mindspore.common._checked import check_value, checked
from mindspore.common._dtypes import COMPLEX
from mindspore.common._kinds import NotNegative, Positive
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.compile.values.compilable import WHOLE
from mindspore.nn.cell import Cell
from mindspore.nn.layer.container import CellList
from mindspore.nn.learning_rate_schedule import LearningRateSchedule
from mindspore.nn.optim import _divided
from mindspore.ops import composite as C
from mindspore.ops import operations as P
from mindspore.ops._each import as_weights, scaled, with_decay

LearningRate: TypeAlias = NotNegative | Tensor | Sequence[NotNegative] | Cell
WeightDecay: TypeAlias = NotNegative | Cell
_GROUP_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")


def opt_init_args_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Keeps what an optimizer was made with in `init_args`, `init_params` and `init_learning_rate`.

    Args:
        fn: The `__init__` of an optimizer.
    """

    @functools.wraps(fn)
    def init(self: Any, params: Any, *args: Any, **kwargs: Any) -> None:
        params = list(params) if isinstance(params, Iterable) else params
        wished = _divided.wish(type(self))
        if wished is None or not isinstance(params, list):
            fn(self, params, *args, **kwargs)
        else:
            _divided.build(self, wished, fn, params, (args, kwargs))
        self.__dict__.update(init_args=args, init_kwargs=kwargs, init_params=params)

    return init


class _ConstantRate(LearningRateSchedule):
    """A rate that does not change, among others that do."""

    def __init__(self, rate: float, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(Tensor(rate, mstype.float32), name=name)

    def construct(self, global_step: Tensor) -> Tensor:
        """The rate."""
        return self.learning_rate + 0.0


class _ListedRate(LearningRateSchedule):
    """Rates from a list, one for each step."""

    def __init__(self, rates: Tensor, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(rates, name=name)
        self.gather = P.Gather()

    def construct(self, global_step: Tensor) -> Tensor:
        """The rate of the step."""
        return self.gather(self.learning_rate, global_step, 0)


def check_count(owner: str, gradients: Any, parameters: Any) -> None:
    """There is a gradient for each parameter."""
    if len(gradients) != len(parameters):
        raise ValueError(
            f"For '{owner}', there must be a gradient for each of the {len(parameters)} parameters, "
            f"but got {len(gradients)}."
        )


class UpdateCell(Cell):
    """What all optimizers are: a cell whose call is an update of parameters."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The update. Those of this package are compiled in both modes: all parameters at once."""
        plain = not (_core.graph_mode() or _core.is_tracing() or _core.is_recording())
        if plain:
            _planning.require_compiled(self.cls_name)
        if plain and not self._special and hasattr(type(self).construct, "is_compiled_update"):
            return self.compile_and_run(*args, **kwargs)
        return super().__call__(*args, **kwargs)

    def construct(self, *gradients: Any) -> Any:
        """The update. Every subclass defines it."""
        raise NotImplementedError(
            f"For '{self.cls_name}', the method 'construct' must be defined, but got none."
        )


class Optimizer(UpdateCell):
    """Base of all optimizers.

    Args:
        learning_rate: A number, a list or 1-D Tensor with the rate of each step, a scalar Tensor,
            or a LearningRateSchedule.
        parameters: Parameters, or groups: dictionaries with 'params' and, if they differ from the
            optimizer's, 'lr', 'weight_decay', 'grad_centralization'. A dictionary with
            'order_params' alone sets the order of updates.
        weight_decay: A number or a schedule. Without groups, parameters with 'beta' or 'gamma' in
            their names are left out.
        loss_scale: What the loss was multiplied by.

    Examples:
        >>> bias = [p for p in net.trainable_params() if "bias" in p.name]
        >>> rest = [p for p in net.trainable_params() if "bias" not in p.name]
        >>> nn.Momentum([{"params": rest, "weight_decay": 1e-4}, {"params": bias}], 0.1, 0.9)
    """

    def __init__(
        self,
        learning_rate: Any,
        parameters: Any,
        weight_decay: Any = 0.0,
        loss_scale: Positive = 1.0,
    ) -> None:
        super().__init__(auto_prefix=False)
        self.__dict__[WHOLE] = True  # gradients are no batch, of which a process has a part
        self.loss_scale = float(loss_scale)
        self.reciprocal_scale = 1.0 / self.loss_scale
        self.need_scale = self.loss_scale != 1.0
        self.global_step = Parameter(initializer(0, (1,), mstype.int32), name="global_step")
        items = self._check_parameters(parameters)
        self.is_group = isinstance(items[0], dict)
        groups = self._split_groups(items)
        self._lay_out(groups, self._find_order(items), learning_rate, weight_decay)
        self.global_step_increase_tensor = Tensor(np.array([1]), mstype.int32)
        self.assignadd = P.AssignAdd()
        self.weight_decay = self._shown_decay(weight_decay)
        # Of each weight, whether its gradient tells which rows were looked up.
        self.sparse = tuple(weight.sparse_grad for weight in self.parameters)
        # For the optimizers of users.
        self.hyper_map, self.hyper_map_reverse = C.HyperMap(), C.HyperMap(None, True)
        self.map_, self.map_reverse = C.Map(), C.Map(None, True)
        self.optim_filter = (True,) * self.param_length
        self.use_parallel = False

    # ---- construction ----

    def _check_parameters(self, parameters: Any) -> list[Any]:
        """The parameters or groups as a list that is not empty."""
        owner = self.cls_name
        if isinstance(parameters, (str, Tensor)) or not isinstance(parameters, Iterable):
            raise TypeError(
                f"For '{owner}', the parameters must be an iterable of Parameters or dictionaries, "
                f"but got {type(parameters).__name__}."
            )
        items = list(parameters)
        if not items:
            raise ValueError(f"For '{owner}', there must be at least one parameter, but got none.")
        kind = dict if isinstance(items[0], dict) else Parameter
        for item in items:
            if not isinstance(item, kind):
                raise TypeError(
                    f"For '{owner}', the parameters must be all Parameters or all dictionaries, "
                    f"but got {type(item).__name__}."
                )
        return items

    def _split_groups(self, items: list[Any]) -> list[dict[str, Any]]:
        """The groups, checked; without groups one of them all."""
        if not self.is_group:
            return [{"params": items}]
        owner = self.cls_name
        groups = []
        seen: dict[int, str] = {}
        for item in items:
            unknown = [key for key in item if key not in _GROUP_KEYS]
            if unknown or not ("params" in item or "order_params" in item):
                raise KeyError(
                    f"For '{owner}', the keys of a group must be 'params' and some of "
                    f"{', '.join(repr(key) for key in _GROUP_KEYS[1:])}, but got {list(item)}."
                )
            if "order_params" in item:
                if len(item) > 1:
                    raise ValueError(
                        f"For '{owner}', 'order_params' must be the only key of its group, "
                        f"but got {list(item)}."
                    )
                continue
            params = list(item["params"])
            if not params:
                raise ValueError(f"For '{owner}', 'params' of a group must not be empty.")
            for param in params:
                if not isinstance(param, Parameter):
                    raise TypeError(
                        f"For '{owner}', 'params' of a group must hold Parameters, "
                        f"but got {type(param).__name__}."
                    )
                if id(param) in seen:
                    raise RuntimeError(
                        f"For '{owner}', a parameter must be in one group only, "
                        f"but got '{param.name}' twice."
                    )
                seen[id(param)] = param.name
            groups.append({**item, "params": params})
        return groups

    def _find_order(self, items: list[Any]) -> list[Parameter] | None:
        """The order of updates that 'order_params' asks for."""
        if not self.is_group:
            return None
        orders = [list(item["order_params"]) for item in items if "order_params" in item]
        return orders[0] if orders else None

    def _lay_out(
        self,
        groups: list[dict[str, Any]],
        order: list[Parameter] | None,
        learning_rate: Any,
        weight_decay: Any,
    ) -> None:
        """Parameters in order of update, and for each the number of its group."""
        pairs = [(param, i) for i, group in enumerate(groups) for param in group["params"]]
        if order is not None:
            group_of = {id(param): i for param, i in pairs}
            if sorted(group_of) != sorted(id(param) for param in order):
                raise ValueError(
                    f"For '{self.cls_name}', 'order_params' must hold every parameter of the "
                    f"groups once, but got {len(order)} for {len(pairs)} parameters."
                )
            pairs = [(param, group_of[id(param)]) for param in order]
        self._group_ids = tuple(i for _, i in pairs)
        self._set_rates(groups, learning_rate)  # first, since checkpoints have this order
        self.parameters = ParameterTuple(param for param, _ in pairs)
        self.params = self.parameters
        self._parameters = self.parameters
        self.param_length = len(pairs)
        self._set_decays(groups, weight_decay)
        central = [bool(group.get("grad_centralization", False)) for group in groups]
        self.grad_centralization_flags = tuple(central[i] for i in self._group_ids)
        self.grad_centralization = any(central)

    def _set_rates(self, groups: list[dict[str, Any]], learning_rate: Any) -> None:
        """The learning rate, or one for each group where some group has its own."""
        self.is_group_lr = self.is_group and any("lr" in group for group in groups)
        if not self.is_group_lr:
            rate = self._preprocess_single_lr(learning_rate)
            self.dynamic_lr = not isinstance(rate, float)
            self.learning_rate = self._build_rate(rate, "learning_rate")
            return
        default = self._preprocess_single_lr(learning_rate)
        own = [self._preprocess_single_lr(g["lr"]) if "lr" in g else None for g in groups]
        self.dynamic_lr = any(not isinstance(rate, (float, type(None))) for rate in (*own, default))
        shared = None
        built = []
        for index, rate in enumerate(own):
            if rate is not None:
                built.append(self._build_rate(rate, f"learning_rate_group_{index}"))
            else:
                if shared is None:
                    shared = self._build_rate(default, "learning_rate")
                built.append(shared)
        if self.dynamic_lr:
            self.learning_rate = CellList(built, auto_prefix=False)
        else:
            self.learning_rate = ParameterTuple(built[i] for i in self._group_ids)

    def _preprocess_single_lr(self, learning_rate: Any) -> Any:
        """A float, a 1-D Tensor or a schedule from what the user gave."""
        owner = self.cls_name
        if isinstance(learning_rate, Iterable) and not isinstance(learning_rate, (Cell, Tensor)):
            learning_rate = list(learning_rate)
        learning_rate = check_value(LearningRate, learning_rate, "learning_rate", owner)
        if isinstance(learning_rate, Cell):
            return learning_rate
        if isinstance(learning_rate, (int, float)):
            return float(learning_rate)
        if isinstance(learning_rate, Tensor) and learning_rate.dtype in COMPLEX:
            raise TypeError(
                f"For '{owner}', 'learning_rate' must be real, but got {learning_rate.dtype}."
            )
        values = (
            learning_rate.asnumpy()
            if isinstance(learning_rate, Tensor)
            else np.array(learning_rate, np.float32)
        )
        if values.ndim > 1:
            raise ValueError(
                f"For '{owner}', 'learning_rate' must have at most 1 dimension, "
                f"but got the shape {values.shape}."
            )
        if values.size == 0 or not np.all(values >= 0):
            raise ValueError(
                f"For '{owner}', 'learning_rate' must hold numbers that are not negative, "
                f"but got {values.tolist()}."
            )
        return float(values) if values.ndim == 0 else Tensor(values, mstype.float32)

    def _build_rate(self, rate: Any, name: str) -> Any:
        """The Parameter or the cell that `get_lr` reads."""
        if isinstance(rate, float):
            if self.dynamic_lr:
                return _ConstantRate(rate, name)
            return Parameter(Tensor(rate, mstype.float32), name=name)
        return _ListedRate(rate, name) if isinstance(rate, Tensor) else rate

    def _set_decays(self, groups: list[dict[str, Any]], weight_decay: Any) -> None:
        """The decay of each group, and which parameters have one."""
        decays = [self._check_decay(group.get("weight_decay", weight_decay)) for group in groups]
        self.dynamic_weight_decay = any(isinstance(decay, Cell) for decay in decays)
        cells = [decay for decay in decays if isinstance(decay, Cell)]
        self._decay_cells = CellList(cells, auto_prefix=False) if cells else ()
        # For each group a number, or the position of its schedule.
        self._decays = tuple(decay if not isinstance(decay, Cell) else None for decay in decays)
        places = [cells.index(decay) if isinstance(decay, Cell) else -1 for decay in decays]
        self._decay_places = tuple(places)
        decayed = [isinstance(decay, Cell) or decay > 0 for decay in decays]
        self.decay_flags = tuple(
            decayed[i] and (self.is_group or not _is_norm_parameter(param.name))
            for param, i in zip(self.parameters, self._group_ids)
        )
        self.exec_weight_decay = any(self.decay_flags)

    def _shown_decay(self, weight_decay: Any) -> Any:
        """What optimizers of users go over beside the parameters: with groups one for each, else as it was given."""
        if not self.is_group or self.dynamic_weight_decay:
            return weight_decay
        shown = [Tensor(decay, mstype.float32) for decay in self._decays]
        return tuple(shown[i] for i in self._group_ids)

    def _check_decay(self, weight_decay: Any) -> Any:
        decay = check_value(WeightDecay, weight_decay, "weight_decay", self.cls_name)
        return decay if isinstance(decay, Cell) else float(decay)

    # ---- what construct uses ----

    def get_lr(self) -> Any:
        """The learning rate of this step; with group rates a tuple with one per parameter."""
        if not self.dynamic_lr:
            return self.learning_rate
        if not self.is_group_lr:
            return self.learning_rate(self.global_step).reshape(())
        rates: list[Any] = []
        for schedule in self.learning_rate:
            rates.append(schedule(self.global_step).reshape(()))
        return tuple([rates[i] for i in self._group_ids])

    def get_weight_decay(self) -> Any:
        """The weight decay of this step as a Tensor; with groups a tuple with one per parameter."""
        decays = self._current_decay()
        if self.is_group:
            return tuple([P.Cast()(decay, mstype.float32) for decay in decays])
        return P.Cast()(decays, mstype.float32)

    def _current_decay(self) -> Any:
        """As `get_weight_decay`, with numbers for what does not change."""
        moving: list[Any] = []
        for schedule in self._decay_cells:
            moving.append(schedule(self.global_step).reshape(()))
        values: list[Any] = []
        for decay, place in zip(self._decays, self._decay_places):
            values.append(decay if place < 0 else moving[place])
        if not self.is_group:
            return values[0]
        return tuple([values[i] for i in self._group_ids])

    def decay_weight(self, gradients: Any) -> Any:
        """The gradients with weight_decay * parameter added where the parameter decays: times the loss scale, by which the
        sum is divided afterwards."""
        if not self.exec_weight_decay:
            return gradients
        decays = self._current_decay()
        if self.need_scale:
            scale = self.loss_scale
            decays = tuple([d * scale for d in decays]) if self.is_group else decays * scale
        return with_decay(gradients, self.parameters, self.decay_flags, decays)

    def scale_grad(self, gradients: Any) -> Any:
        """The gradients divided by the loss scale."""
        if not self.need_scale:
            return gradients
        return scaled(gradients, self.reciprocal_scale)

    def gradients_centralization(self, gradients: Any) -> Any:
        """The gradients with their mean over all but the first dimension taken off, where asked."""
        check_count(self.cls_name, gradients, self.parameters)
        if not self.grad_centralization:
            return gradients
        centred: list[Any] = []
        for i in range(self.param_length):
            gradient = gradients[i]
            axes = tuple(range(1, len(gradient.shape)))
            if self.grad_centralization_flags[i] and axes:
                gradient = gradient - gradient.mean(axis=axes, keep_dims=True)
            centred.append(gradient)
        return tuple(centred)

    def flatten_gradients(self, gradients: Any) -> Any:
        """The gradients: how they lie in memory is the memory plan's concern."""
        return gradients

    def _prepare(self, gradients: Any) -> Any:
        """Decayed, centred and unscaled gradients of the weights' dtypes, in the order of the API."""
        gradients = self._as_weights(gradients)
        gradients = self.decay_weight(gradients)
        gradients = self.gradients_centralization(gradients)
        return self.scale_grad(gradients)

    def _as_weights(self, gradients: Any) -> Any:
        """The gradients in the dtypes of the weights: mixed precision gives others."""
        check_count(self.cls_name, gradients, self.parameters)
        return as_weights(self.cls_name, gradients, self.parameters)

    def _next_step(self) -> None:
        """Count the step."""
        self.assignadd(self.global_step, self.global_step_increase_tensor)

    # ---- queries and settings ----

    def get_lr_parameter(self, param: Any) -> Any:
        """The learning rate of a Parameter, or the rates of a list of Parameters."""
        if not isinstance(param, Parameter):
            return [self.get_lr_parameter(item) for item in param]
        for index, item in enumerate(self.parameters):
            if item is param:
                return self.get_lr()[index] if self.is_group_lr else self.get_lr()
        raise ValueError(
            f"For '{self.cls_name}', the parameter must be one of the optimizer's, "
            f"but got '{param.name}'."
        )

    def broadcast_params(self, optim_result: Any) -> Any:
        """The result of an update: every device has all parameters."""
        return optim_result

    @property
    def unique(self) -> bool:
        """Whether sparse gradients have their indices made unique first."""
        return bool(self.__dict__.get("_unique", True))

    @unique.setter
    @checked
    def unique(self, value: bool) -> None:
        self.__dict__["_unique"] = value

    @property
    def target(self) -> str:
        """Where parameters are updated."""
        return str(self.__dict__.get("_target", "CPU"))

    @target.setter
    @checked
    def target(self, value: Literal["CPU", "GPU", "Ascend"]) -> None:
        self.__dict__["_target"] = value


def _is_norm_parameter(name: str) -> bool:
    """Whether a name is that of the scale or shift of a normalisation."""
    return "beta" in name or "gamma" in name


def compiled(update: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a construct method that is compiled in PYNATIVE_MODE too."""
    vars(update)["is_compiled_update"] = True
    return update


__all__ = ["Optimizer", "UpdateCell", "compiled", "opt_init_args_register"]
