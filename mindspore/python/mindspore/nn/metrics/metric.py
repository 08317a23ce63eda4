"""Metric, the base of all metrics: numbers about predictions, gathered batch by batch."""

from __future__ import annotations

import functools
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import numpy as np

from mindspore.common._checked import check_methods, check_value
from mindspore.common._kinds import described
from mindspore.common.tensor import Tensor

EvalType: TypeAlias = Literal["classification", "multilabel"]


def rearrange_inputs(func: Callable[..., Any]) -> Callable[..., Any]:
    """Decorator for `update`: passes the inputs that `set_indexes` chose, in its order.

    Args:
        func: An `update` method.
    """

    @functools.wraps(func)
    def wrapper(self: Any, *inputs: Any) -> Any:
        indexes = self.indexes
        if indexes is None:
            return func(self, *inputs)
        return func(self, *[inputs[index] for index in indexes])

    return wrapper


class Metric(metaclass=ABCMeta):
    """Base of all metrics.

    A subclass defines `clear`, which forgets, `update`, which takes a batch, and `eval`, which
    returns the result.
    """

    # What adds up over the processes that evaluate together: attributes that are numbers, arrays, or lists of what batches gave.
    _sums: tuple[str, ...] = ()

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        check_methods(cls, ("__init__", "eval"))

    def __init__(self) -> None:
        self._indexes: list[int] | None = None

    @property
    def indexes(self) -> list[int] | None:
        """Which outputs of the evaluation network go into `update`, or None for all."""
        return getattr(self, "_indexes", None)

    def set_indexes(self, indexes: list[int]) -> Metric:
        """Choose which outputs of the evaluation network go into `update`, and in which order.

        Args:
            indexes: Positions of outputs.
        """
        if not isinstance(indexes, list) or not all(isinstance(index, int) for index in indexes):
            raise ValueError(
                f"For 'set_indexes', 'indexes' must be a list of ints, but got {indexes!r}."
            )
        self._indexes = indexes
        return self

    def _convert_data(self, data: Any) -> np.ndarray:
        """The data as a NumPy array of numbers."""
        owner = f"{type(self).__name__}.update"
        check_value(Tensor | list | np.ndarray, data, "inputs", owner)
        try:
            array = data.asnumpy() if isinstance(data, Tensor) else np.asarray(data)
        except ValueError:
            array = np.empty(0, object)
        if array.dtype.kind not in "biuf":
            raise TypeError(f"For '{owner}', inputs must hold numbers, but got {described(data)}.")
        return array

    def _take(self, inputs: tuple[Any, ...], count: int) -> list[np.ndarray]:
        """The inputs of `update` as arrays, `count` of them."""
        if len(inputs) != count:
            raise ValueError(
                f"For '{type(self).__name__}.update', there must be {count} inputs, "
                f"but got {len(inputs)}."
            )
        return [self._convert_data(item) for item in inputs]

    def _require(self, count: Any) -> None:
        """Raise a RuntimeError unless some samples were seen."""
        if not count:
            raise RuntimeError(
                f"For '{type(self).__name__}', 'update' must be called with samples before 'eval', "
                "but got none."
            )

    @abstractmethod
    def clear(self) -> None:
        """Forget all batches."""

    @abstractmethod
    def eval(self) -> Any:
        """The result over all batches."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """Take a batch."""


class EvaluationBase(Metric):
    """Base of metrics of classification, where a sample has one class or several.

    Args:
        eval_type: 'classification' or 'multilabel'.
    """

    def __init__(self, eval_type: EvalType) -> None:
        super().__init__()
        self._type = eval_type

    def _check_shape(self, y_pred: np.ndarray, y: np.ndarray) -> None:
        """Raise a ValueError unless predictions and targets fit together."""
        owner = type(self).__name__
        if y_pred.ndim < 2:
            raise ValueError(
                f"For '{owner}.update', the prediction must have classes on axis 1, but got shape {y_pred.shape}."
            )
        if self._type == "classification":
            fits = y_pred.ndim == y.ndim + 1 and y_pred.shape[:1] + y_pred.shape[2:] == y.shape
            if not fits and y_pred.shape != y.shape:
                raise ValueError(
                    f"For '{owner}.update', the shape of the prediction without axis 1 must be "
                    f"that of the target, but got {y_pred.shape} and {y.shape}."
                )
        elif y_pred.shape != y.shape:
            raise ValueError(
                f"For '{owner}.update', prediction and target must have one shape, "
                f"but got {y_pred.shape} and {y.shape}."
            )

    def _check_value(self, y_pred: np.ndarray, y: np.ndarray) -> None:
        """Raise a ValueError unless multi-label data are zeros and ones."""
        if self._type != "multilabel":
            return
        for name, values in (("prediction", y_pred), ("target", y)):
            if not np.all((values == 0) | (values == 1)):
                raise ValueError(
                    f"For '{type(self).__name__}.update', the {name} of 'multilabel' must be zeros "
                    f"and ones, but got {np.unique(values).tolist()[:8]}."
                )
