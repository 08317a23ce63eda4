"""`mindspore.train.train_thor`: models and networks made ready for second-order training, which this build does not have."""

from __future__ import annotations

from typing import Any

from mindspore.common._refused import refused

__getattr__ = refused("mindspore.train.train_thor")


class ConvertModelUtils:
    """Makes a Model train with THOR."""

    @staticmethod
    def convert_to_thor_model(
        model: Any,
        network: Any = None,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        amp_level: str = "O0",
        loss_scale_manager: Any = None,
        keep_batchnorm_fp32: bool = False,
        **kwargs: Any,
    ) -> Any:
        """The model itself where another optimizer trains it."""
        del network, loss_fn, metrics, amp_level, loss_scale_manager, keep_batchnorm_fp32, kwargs
        return (
            __getattr__("THOR")() if type(optimizer).__name__.lower().startswith("thor") else model
        )


__all__ = ["ConvertModelUtils", "ConvertNetUtils"]  # noqa: F822
