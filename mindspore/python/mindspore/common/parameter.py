"""Parameter, a named tensor that training changes in place, and ParameterTuple.

A Parameter is a Tensor whose value is rebound by `set_data` and by the ops that declare an update.
Its identity never changes: cells, optimizers and compiled graphs hold the object, not the value.
"""

from __future__ import annotations

import contextlib
import itertools
import re
from collections.abc import Iterable
from typing import Any

import numpy as np

from mindspore import _core
from mindspore.common import _late
from mindspore.common import dtype as mstype
from mindspore.common._checked import checked
from mindspore.common._dtypes import INTEGERS
from mindspore.common._undrawn import drawing_nothing, take_untouched
from mindspore.common.initializer import initializer
from mindspore.common.tensor import Tensor
from mindspore.context import checked_device

PARAMETER_NAME_DEFAULT = "Parameter"
PARAMETER_NAME_PREFIX_MAX_LEN = 1024
_NOTHING = np.zeros((), np.bool_)
_numbers = itertools.count(1)


def _as_data(value: Any) -> Any:
    """What the Tensor constructor takes for a Parameter's first value."""
    if isinstance(value, (Tensor, np.ndarray)):
        return value
    if isinstance(value, bool):
        return Tensor(value, mstype.bool_)
    if isinstance(value, int):
        return Tensor(value, mstype.int32)
    if isinstance(value, float):
        return Tensor(value, mstype.float32)
    if isinstance(value, (list, tuple, np.generic)):
        return Tensor(value)
    raise TypeError(
        "For 'Parameter', 'default_input' must be a Tensor, a number, a list or a numpy.ndarray, "
        f"but got {type(value).__name__}."
    )


def _check_name(name: Any) -> str:
    """The name as it is kept: without spaces around it."""
    if not isinstance(name, str):
        raise ValueError(
            f"For 'Parameter', 'name' must be a str or None, but got {type(name).__name__}."
        )
    name = name.strip()
    if len(name) > PARAMETER_NAME_PREFIX_MAX_LEN:
        raise ValueError(
            f"For 'Parameter', 'name' must be at most {PARAMETER_NAME_PREFIX_MAX_LEN} characters "
            f"long, but got {len(name)}."
        )
    return name


def _check_flag(value: Any, name: str) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"For 'Parameter', '{name}' must be a bool, but got {value!r}.")
    return value


class Parameter(Tensor):
    """A tensor of a network that is trained, saved and loaded under a name.

    Args:
        default_input: The first value: a Tensor, a number, a list or a numpy.ndarray. It is copied.
        name: The name in checkpoints. A cell that takes the Parameter as attribute gives the
            attribute's name where there is none, and puts its own name in front.
        requires_grad: Whether training changes it.
        layerwise_parallel: In data parallel training, whether each device keeps its own value.
        parallel_optimizer: Whether its optimizer state may be split over devices.

    Examples:
        >>> from mindspore import Parameter, Tensor
        >>> weight = Parameter(Tensor([[1.0, 2.0]]), name="weight")
        >>> weight.shape
        (1, 2)
    """

    # Settings of parallel training and of the embedding cache; models set and read them.
    cache_enable = False
    cache_shape: tuple[int, ...] = ()
    _comm_fusion = 1
    _untouched = False  # it was made where nothing is drawn
    is_param_ps = False
    init_in_server = False
    key = -1
    parallel_optimizer_comm_recompute = False
    requires_aggr = True
    sliced = False
    sparse_grad = False  # its gradient tells which rows were looked up: see nn.EmbeddingLookup
    unique = False

    def __new__(cls, default_input: Any, *_args: Any, **_kwargs: Any) -> Parameter:
        # A new tensor of this type with its own copy of the data.
        data = _as_data(default_input)
        if not take_untouched(data):
            return Tensor.__new__(cls, data)
        parameter = Tensor.__new__(cls, _NOTHING)
        parameter._assign_value(data)  # whose memory takes room when it gets another value
        parameter._untouched = True
        return parameter

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
    ) -> None:
        del default_input, storage_format  # the data went into __new__
        if device is not None:
            _core.keep_on(self, checked_device("Parameter", "device", device))
        self.name = name
        self._requires_grad = _check_flag(requires_grad, "requires_grad")
        self._layerwise_parallel = _check_flag(layerwise_parallel, "layerwise_parallel")
        self._parallel_optimizer = _check_flag(parallel_optimizer, "parallel_optimizer")
        self.is_init = False

    @classmethod
    def _holding(cls, tensor: Tensor, name: str) -> Parameter:
        """A Parameter with this value, whose memory is not copied."""
        parameter = cls(_NOTHING, name=name)
        parameter._assign_value(tensor)
        return parameter

    @property
    def name(self) -> str:
        """The name in checkpoints and messages."""
        return self._name

    @name.setter
    def name(self, value: str | None) -> None:
        name = "" if value is None else _check_name(value)
        self._has_default_name = not name
        self._name = name or f"{PARAMETER_NAME_DEFAULT}#{next(_numbers)}"

    @property
    def has_default_name(self) -> bool:
        """Whether it was given no name, so that the cell that takes it chooses one."""
        return self._has_default_name

    @property
    def requires_grad(self) -> bool:
        """Whether gradients are computed for it."""
        return self._requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self._requires_grad = _check_flag(value, "requires_grad")

    @property
    def layerwise_parallel(self) -> bool:
        """Whether each device of a data parallel run keeps its own value."""
        return self._layerwise_parallel

    @layerwise_parallel.setter
    def layerwise_parallel(self, value: bool) -> None:
        self._layerwise_parallel = _check_flag(value, "layerwise_parallel")

    @property
    def parallel_optimizer(self) -> bool:
        """Whether its optimizer state may be split over devices."""
        return self._parallel_optimizer

    @parallel_optimizer.setter
    def parallel_optimizer(self, value: bool) -> None:
        self._parallel_optimizer = _check_flag(value, "parallel_optimizer")

    @property
    def has_init(self) -> bool:
        """False: values are made at once, none waits for `init_data`."""
        return False

    @property
    def param_info(self) -> Parameter:
        """The object that holds the settings of this Parameter: the Parameter itself."""
        return self

    @property
    def inited_param(self) -> Parameter | None:
        """The Parameter that `init_data` made from this one: None, since the value is there from the start."""
        return None

    @property
    def comm_fusion(self) -> int:
        """The group of Parameters whose gradients are sent together; 0 for none."""
        return self._comm_fusion

    @comm_fusion.setter
    def comm_fusion(self, value: int) -> None:
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(
                f"For 'Parameter', 'comm_fusion' must be an int, but got {type(value).__name__}."
            )
        if value < 0:
            raise ValueError(
                f"For 'Parameter', 'comm_fusion' must not be negative, but got {value}."
            )
        self._comm_fusion = value

    @property
    def data(self) -> Parameter:
        """The Parameter itself; assigning to it is `set_data`."""
        return self

    @data.setter
    def data(self, value: Any) -> None:
        self.set_data(value)

    @property
    def default_input(self) -> Parameter:
        """The first releases' name of `data`."""
        return self

    @default_input.setter
    def default_input(self, value: Any) -> None:
        self.set_data(value)

    def value(self) -> Tensor:
        """The present value as a Tensor that later updates do not change."""
        return _core.op("Identity")(self)

    def set_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """Give the Parameter a new value.

        Args:
            data: A Tensor, a number, a list or a numpy.ndarray. Its dtype is converted, except that
                a floating-point value does not go into an integer Parameter.
            slice_shape: Whether the shape may be another one, as that of a shard is. Code that is
                compiled for the old shape is compiled again when it is called.

        Returns:
            The Parameter itself.
        """
        value = data if isinstance(data, Tensor) else Tensor(_as_data(data))
        if not slice_shape and tuple(value.shape) != tuple(self.shape):
            raise ValueError(
                f"For 'Parameter.set_data', the shape of 'data' must be that of the Parameter "
                f"'{self.name}', {tuple(self.shape)}, but got {tuple(value.shape)}."
            )
        if value.dtype != self.dtype:
            if self.dtype in INTEGERS and value.dtype not in (*INTEGERS, mstype.bool_):
                raise TypeError(
                    f"For 'Parameter.set_data', the dtype of 'data' must go into that of the "
                    f"Parameter '{self.name}', {self.dtype}, but got {value.dtype}."
                )
            value = value.astype(self.dtype)
        if not _core.replace_in_trace(self, value):
            # Of memory that arrays share, a copy; else the same memory.
            self._assign_value(_core.op("Identity")(value))
        return self

    def set_parameter_data(self, data: Any, slice_shape: bool = False) -> Parameter:
        """The first releases' name of `set_data`."""
        return self.set_data(data, slice_shape)

    def init_data(self, layout: Any = None, set_sliced: bool = False) -> Parameter:
        """The Parameter itself: its value is there from the start."""
        del layout, set_sliced
        return self

    def set_param_ps(self, init_in_server: bool = False) -> None:
        """Keep the Parameter on a parameter server."""
        self.is_param_ps = True
        self.init_in_server = init_in_server

    def add_pipeline_stage(self, stage: int) -> None:
        """A stage of a pipeline that uses it. The first of several has it, with the states of the optimizer; the others get its value
        in each step, and their gradients are added to its own."""
        if type(stage) is not int or stage < 0:
            raise ValueError(
                f"For 'Parameter.add_pipeline_stage', 'stage' must be a number from 0 on, but got {stage!r}."
            )
        self._mark_stage(0, frozenset(), stage)

    def _mark_stage(self, cell: int, inside: frozenset[int], stage: int) -> None:
        """A cell that has it is marked, `inside` are that and all in it, by id: a mark counts less than one of a cell inside."""
        marks = [mark for mark in self._stage_marks if not mark[0] or mark[0] != cell]
        if not any(mark[0] in inside for mark in marks):
            marks = [mark for mark in marks if cell not in mark[1]]
            marks.append((cell, inside, stage))
        self._stage_marks = tuple(marks)

    # For each marked cell that has it: its id, those of the cells in it, and the stage.
    _stage_marks: tuple[tuple[int, frozenset[int], int], ...] = ()

    @property
    def pipeline_stage_mark(self) -> int | None:
        """The stage of a pipeline that is to have it; None: not said."""
        return min((mark[2] for mark in self._stage_marks), default=None)

    def clone(self, init: Any = "same") -> Parameter:
        """A new Parameter of the same name and settings.

        Args:
            init: "same" copies the value; otherwise what `initializer` takes: a name, a number,
                an Initializer or a Tensor.
        """
        if isinstance(init, str) and init == "same":
            data: Any = self
        else:
            # States of an optimizer take no more memory than their Parameter, before they are used.
            nothing = self._untouched and isinstance(init, str) and init == "zeros"
            with drawing_nothing() if nothing else contextlib.nullcontext():
                data = initializer(init, shape=tuple(self.shape), dtype=self.dtype)
                return self._with_settings(type(self)(data, name=self.name))
        return self._with_settings(type(self)(data, name=self.name))

    def copy(self) -> Parameter:
        """A new Parameter with the same value, name and settings; in compiled code, its value of that moment."""
        if _core.is_tracing():
            return _core.op("Identity")(_core.op("StopGradient")(self))  # the latter is a view
        return self.clone()

    def _with_settings(self, other: Parameter) -> Parameter:
        other.__dict__.update(self.__dict__)
        if _core.stays(self):
            _core.keep_on(other, self.device)
        return other

    def __copy__(self) -> Parameter:
        return self.clone()

    def __deepcopy__(self, memo: dict[int, Any]) -> Parameter:
        other = self.clone()
        memo[id(self)] = other
        return other

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.value(),), dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __repr__(self) -> str:
        return (
            f"Parameter (name={self.name}, shape={tuple(self.shape)}, dtype={self.dtype}, "
            f"requires_grad={self.requires_grad})"
        )

    def __str__(self) -> str:
        return repr(self)


_core.register_python("parameter", Parameter)


class ParameterTuple(tuple):
    """A tuple of Parameters with different names.

    Args:
        iterable: The Parameters.
    """

    __slots__ = ()

    @checked
    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        items = tuple(iterable)
        owners: dict[str, Parameter] = {}
        for item in items:
            if not isinstance(item, Parameter):
                raise TypeError(
                    "For 'ParameterTuple', every element must be a Parameter, "
                    f"but got {type(item).__name__}."
                )
            if owners.setdefault(item.name, item) is not item:
                raise ValueError(
                    "For 'ParameterTuple', the names of its Parameters must differ, but got "
                    f"'{item.name}' twice. Give each Parameter a name of its own."
                )
        return super().__new__(cls, items)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Copies of the Parameters with `prefix.` in front of their names.

        Args:
            prefix: Goes in front of the names; letters, digits, '_' and dots, the first no dot.
            init: As for `Parameter.clone`.
        """
        if not isinstance(prefix, str):
            raise TypeError(
                f"For 'ParameterTuple.clone', 'prefix' must be a str, but got {prefix!r}."
            )
        if not re.fullmatch(r"\w[\w.]*", prefix, re.ASCII):
            raise ValueError(
                "For 'ParameterTuple.clone', 'prefix' must be of letters, digits, '_' and '.', "
                f"and not begin with '.', but got '{prefix}'."
            )
        clones = []
        for item in self:
            other = item.clone(init)
            other.name = f"{prefix}.{item.name}"
            other.__dict__["_clone_of"] = item.name  # a state of an optimizer, for reports
            clones.append(other)
        return ParameterTuple(clones)


_late.parameter_class = Parameter

__all__ = ["Parameter", "ParameterTuple"]
