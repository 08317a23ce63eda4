"""Loading of checkpoints of plain networks into networks that round."""

from __future__ import annotations

from typing import Any

from mindspore.common._checked import checked
from mindspore.common.parameter import Parameter
from mindspore.nn.cell import Cell


@checked
def load_nonquant_param_into_quant_net(
    quant_model: Cell, params_dict: dict, quant_new_params: Any = None
) -> None:
    """Give a network that rounds the parameters of a plain one, in the order in which both have them by their last names.

    Args:
        quant_model: The network.
        params_dict: What `load_checkpoint` returned.
        quant_new_params: Names of parameters that the plain network has not, which stay.
    """
    left: dict[str, list[Parameter]] = {}
    for name, value in params_dict.items():
        left.setdefault(_kind(name), []).append(value)
    for name, parameter in quant_model.parameters_and_names():
        kind = _kind(name)
        new = quant_new_params is not None and name in quant_new_params
        if new or kind in _OF_ROUNDING:
            continue
        if not left.get(kind):
            raise ValueError(
                f"For 'load_nonquant_param_into_quant_net', there must be a '{kind}' for '{name}', but got none that is left."
            )
        parameter.set_data(left[kind].pop(0))


_OF_ROUNDING = ("minq", "maxq", "seen", "step")


def _kind(name: str) -> str:
    """The last part of a name."""
    return name.split(".")[-1]


__all__ = ["load_nonquant_param_into_quant_net"]
