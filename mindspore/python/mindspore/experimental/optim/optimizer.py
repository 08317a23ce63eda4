"""Optimizer, the base: parameters in groups, each a dictionary of its options.

Options are read at every step, so whoever changes one (`optimizer.param_groups[0]["lr"].set_data(0.1)`, or another weight decay)
changes the next step. The learning rate is a Parameter: a new one compiles nothing anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from mindspore.common import dtype as mstype
from mindspore.common._checked import check_value
from mindspore.common._kinds import Finite, NotNegative
from mindspore.common.initializer import initializer
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn.optim.optimizer import UpdateCell, check_count
from mindspore.ops import operations as P
from mindspore.ops._each import as_weights, scaled, with_decay

REQUIRED = object()  # the default of an option that every group must give


class Optimizer(UpdateCell):
    """Base of optimizers whose groups may change while they train.

    A subclass updates `param_groups` in `construct(gradients)`; the gradients of group i begin at `group_start_id[i]`.

    Args:
        params: Parameters, or dictionaries with 'params' and the options in which a group differs.
        defaults: The options of groups that do not give them.
    """

    # Of a subclass: the states it keeps for each parameter, by attribute: the prefix of their names, and how they start.
    _states: dict[str, tuple[str, Any]] = {}

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        owner = self.cls_name
        if isinstance(params, (str, Tensor)) or not isinstance(params, Iterable):
            raise TypeError(
                f"For '{owner}', 'params' must be an iterable of Parameters or dictionaries, "
                f"but got {type(params).__name__}."
            )
        groups = list(params)
        if not groups:
            raise ValueError(
                f"For '{owner}', 'params' must hold at least one parameter, but got none."
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.group_start_id: list[int] = []
        self.lrs: list[Parameter] = []
        self.parameters = ParameterTuple(())
        self.assignadd = P.AssignAdd()
        for group in groups:
            self.add_param_group(group)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Train more parameters, with states of their own.

        Args:
            param_group: A dictionary with 'params' and the options in which the group differs.
        """
        group = dict(check_value(dict, param_group, "param_group", self.cls_name))
        group["params"] = self._checked_params(group)
        for name, default in self.defaults.items():
            if group.setdefault(name, default) is REQUIRED:
                raise ValueError(
                    f"For '{self.cls_name}', '{name}' must be given for every group, but got none."
                )
        group["lr"] = self._rate(group["lr"])
        self._check_group(group)
        self.group_start_id.append(len(self.parameters))
        self.param_groups.append(group)
        self.lrs.append(group["lr"])
        self.parameters = ParameterTuple((*self.parameters, *group["params"]))
        fresh = ParameterTuple(group["params"])
        for attribute, (prefix, start) in self._states.items():
            kept = self.__dict__.get(attribute, ())
            setattr(self, attribute, ParameterTuple((*kept, *fresh.clone(prefix, start))))

    def _checked_params(self, group: dict[str, Any]) -> list[Parameter]:
        owner = self.cls_name
        if "params" not in group:
            raise KeyError(f"For '{owner}', a group must have 'params', but got {list(group)}.")
        given = group["params"]
        params = [given] if isinstance(given, Parameter) else list(given)
        for param in params:
            if not isinstance(param, Parameter):
                raise TypeError(
                    f"For '{owner}', 'params' must hold Parameters, but got {type(param).__name__}."
                )
        if len({id(p) for p in (*self.parameters, *params)}) < len(self.parameters) + len(params):
            raise ValueError(
                f"For '{owner}', a parameter must be in the groups once, but got one twice."
            )
        return params

    def _rate(self, rate: Any) -> Parameter:
        """The Parameter that holds a group's learning rate."""
        rate = check_value(NotNegative | Tensor, rate, "lr", self.cls_name)
        if isinstance(rate, Tensor):
            check_value(NotNegative, float(rate), "lr", self.cls_name)
        value = Tensor(float(rate), mstype.float32)
        return Parameter(value, name=f"learning_rate_group_{len(self.param_groups)}")

    def _check_group(self, group: dict[str, Any]) -> None:
        """Raise an error unless the options of a group are such as the optimizer can take."""
        for name, kind in _KINDS.items():
            if name in self.defaults:
                check_value(kind, group[name], name, self.cls_name)
        if "betas" in self.defaults:
            check_betas(self.cls_name, group["betas"])

    def _count(self, name: str = "step_t", start: Any = 0, dtype: Any = mstype.int32) -> Parameter:
        """A number that is part of the state."""
        return Parameter(initializer(start, (), dtype), name=name)

    def _next(self, count: Parameter) -> Tensor:
        """The number of this step, from 1 on."""
        self.assignadd(count, Tensor(1, count.dtype))
        return count.astype(mstype.float32)

    def _each_group(self, gradients: Any) -> list[tuple[dict[str, Any], slice, tuple]]:
        """Of each group its options, its places among all parameters, and its gradients, decayed and of the weights' dtypes."""
        check_count(self.cls_name, gradients, self.parameters)
        found = []
        for start, group in zip(self.group_start_id, self.param_groups):
            params = tuple(group["params"])
            place = slice(start, start + len(params))
            found.append((group, place, as_weights(self.cls_name, gradients[place], params)))
        return found

    def __repr__(self) -> str:
        lines = []
        for number, group in enumerate(self.param_groups):
            lines += (
                [f"Parameter Group {number}"] if not number else ["", f"Parameter Group {number}"]
            )
            for name in sorted(group):
                if name != "params":
                    value = group[name]
                    value = value.asnumpy() if isinstance(value, Tensor) else value
                    lines.append(f"    {name}: {value}")
        return "\n".join([f"{self.cls_name} (", *lines, ")"])


_KINDS = {
    "weight_decay": NotNegative,
    "eps": NotNegative,
    "momentum": NotNegative,
    "dampening": Finite,
    "lr_decay": NotNegative,
    "maximize": bool,
    "amsgrad": bool,
    "nesterov": bool,
    "centered": bool,
}


def check_betas(owner: str, betas: Any) -> None:
    """Raise an error unless there are two factors of means."""
    check_value(Sequence[float], betas, "betas", owner)
    if len(betas) != 2 or not all(0.0 <= beta < 1.0 for beta in betas):
        raise ValueError(f"For '{owner}', 'betas' must be two numbers in [0, 1), but got {betas}.")


def directed(group: dict[str, Any], gradients: tuple, decays: bool = True) -> tuple:
    """The gradients of a group, turned where it is to be maximized, and with weight decay, if that is part of the gradient."""
    if group.get("maximize"):
        gradients = scaled(gradients, -1.0)
    if not decays or not group["weight_decay"]:
        return gradients
    flags = (True,) * len(gradients)
    return with_decay(gradients, tuple(group["params"]), flags, group["weight_decay"])


__all__ = ["Optimizer"]
