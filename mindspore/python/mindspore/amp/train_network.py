"""The training step that a network, a loss, an optimizer and a precision level make together."""

from __future__ import annotations

from typing import Any

from mindspore import log, nn
from mindspore.amp.loss_scale_manager import FixedLossScaleManager, LossScaleManager
from mindspore.amp.mixed_precision import LEVELS, auto_mixed_precision
from mindspore.common import dtype as mstype


class _LossIn32(nn.Cell):
    """The loss of a network, computed in float32."""

    def __init__(self, backbone: nn.Cell, loss_fn: Any) -> None:
        super().__init__(auto_prefix=False)
        self._backbone = backbone
        self._loss_fn = loss_fn

    def construct(self, data: Any, label: Any) -> Any:
        return self._loss_fn(self._backbone(data), label)


_OPTIONS = ("loss_scale_manager", "keep_batchnorm_fp32", "cast_model_type")


def check_boost_level(op: str, level: Any) -> None:
    """Raise unless it is a level of the booster, which leaves out parts of a training; says that here nothing is left out."""
    if not isinstance(level, str) or level not in ("O0", "O1", "O2"):
        raise ValueError(
            f"For '{op}', 'boost_level' must be 'O0', 'O1' or 'O2', but got {level!r}."
        )
    if level != "O0":
        log.warn_once(
            "boost_level", f"{op}: boost_level={level!r} changes nothing: training is exact."
        )


def build_train_network(
    network: Any,
    optimizer: Any,
    loss_fn: Any = None,
    level: str = "O0",
    boost_level: str = "O0",
    **kwargs: Any,
) -> Any:
    """A cell that runs one training step of `network`, or of `network` with `loss_fn`."""
    op = "build_train_network"
    if not isinstance(network, nn.Cell):
        raise TypeError(f"For '{op}', 'network' must be a Cell, but got {type(network).__name__}.")
    if not isinstance(optimizer, nn.Cell):
        raise TypeError(
            f"For '{op}', 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}."
        )
    if level not in LEVELS:
        raise ValueError(f"For '{op}', 'level' must be one of {list(LEVELS)}, but got {level!r}.")
    check_boost_level(op, boost_level)
    for name in kwargs:
        if name not in _OPTIONS:
            raise ValueError(
                f"For '{op}', the keyword arguments must be among {list(_OPTIONS)}, but got "
                f"'{name}'."
            )
    network = _in_precision(network, level, kwargs)
    if loss_fn is not None:
        network = (nn.WithLossCell if level == "O0" else _LossIn32)(network, loss_fn)
    return _step(network, optimizer, _manager(level, kwargs))


def _in_precision(network: nn.Cell, level: str, options: dict[str, Any]) -> nn.Cell:
    if options.get("cast_model_type") == mstype.float16:
        level = "O2" if options.get("keep_batchnorm_fp32") else "O3"
    elif options.get("keep_batchnorm_fp32") is False and level == "O2":
        level = "O3"
    return auto_mixed_precision(network, level)


def _manager(level: str, options: dict[str, Any]) -> Any:
    """The loss scale: the caller's, where None means none at all, or what the level needs."""
    if "loss_scale_manager" in options:
        return options["loss_scale_manager"]
    # Half-precision gradients underflow without a scale.
    return FixedLossScaleManager() if level in ("O2", "auto") else None


def _step(network: nn.Cell, optimizer: Any, manager: Any) -> nn.Cell:
    if manager is None:
        return nn.TrainOneStepCell(network, optimizer).set_train()
    if not isinstance(manager, LossScaleManager):
        raise TypeError(
            "For 'build_train_network', 'loss_scale_manager' must be a LossScaleManager, but got "
            f"{type(manager).__name__}."
        )
    cell = manager.get_update_cell()
    if cell is not None:
        return nn.TrainOneStepWithLossScaleCell(network, optimizer, scale_sense=cell).set_train()
    # A fixed scale without overflow check: the optimizer's own loss_scale divides it out again.
    return nn.TrainOneStepCell(network, optimizer, manager.get_loss_scale()).set_train()
