"""Metrics of numbers: mean absolute and mean squared error, and the loss itself."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore.nn.metrics.metric import Metric, rearrange_inputs


class Loss(Metric):
    """The mean of the loss over batches."""

    _sums = ("_sum_loss", "_total_num")

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._sum_loss = 0.0
        self._total_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take the loss of a batch, one number."""
        (loss,) = self._take(inputs, 1)
        if loss.ndim == 0:
            loss = loss.reshape(1)
        if loss.size != 1:
            raise ValueError(
                f"For 'Loss.update', the loss must be one number, but got the shape {loss.shape}."
            )
        self._sum_loss += float(loss.reshape(-1)[0])
        self._total_num += 1

    def eval(self) -> float:
        """The mean."""
        self._require(self._total_num)
        return self._sum_loss / self._total_num


class _MeanError(Metric):
    """The mean over samples of an error summed over their other dimensions."""

    _sums = ("_error_sum", "_samples_num")

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Forget all batches."""
        self._error_sum = 0.0
        self._samples_num = 0

    def _errors(self, difference: np.ndarray) -> np.ndarray:
        raise NotImplementedError

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """Take predictions and targets."""
        y_pred, y = self._take(inputs, 2)
        if y.ndim == 0 or y_pred.size != y.size:
            raise ValueError(
                f"For '{type(self).__name__}.update', prediction and target must be as large, "
                f"but got {y_pred.shape} and {y.shape}."
            )
        difference = y.astype(np.float64) - y_pred.reshape(y.shape)
        self._error_sum += float(self._errors(difference).sum())
        self._samples_num += y.shape[0]

    def eval(self) -> float:
        """The mean."""
        self._require(self._samples_num)
        return self._error_sum / self._samples_num


class MAE(_MeanError):
    """The mean over samples of the sum of absolute errors."""

    def _errors(self, difference: np.ndarray) -> np.ndarray:
        return np.abs(difference)


class MSE(_MeanError):
    """The mean over samples of the sum of squared errors."""

    def _errors(self, difference: np.ndarray) -> np.ndarray:
        return np.square(difference)
