"""A graph from a file, as ops to be applied one after the other: eagerly, or by the front end that compiles it."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Set
from typing import Any, NamedTuple

from mindspore.common.tensor import Tensor


class Step(NamedTuple):
    """One op: what applies it, the places of its inputs, its settings, and the places that nobody reads afterwards."""

    function: Callable
    inputs: tuple[int, ...]
    settings: dict
    dead: tuple[int, ...]


class Declared(NamedTuple):
    """An input of the graph; sizes of -1 are open, and None stands for any."""

    name: str
    dtype: Any
    shape: tuple[int, ...] | None


class MindIrGraph:
    """What `mindspore.load` returns: `nn.GraphCell(graph)` makes a Cell of it.

    Its values stand in one row: inputs, parameters, constants, and the results of the steps.
    """

    def __init__(
        self,
        inputs: list[Declared],
        parameters: dict[str, Tensor],
        constants: list[Tensor],
        steps: list[Step],
        result: Any,
        fixed: Set[str] = frozenset(),
    ):
        self.inputs, self.parameters, self.constants = tuple(inputs), parameters, tuple(constants)
        self.steps, self.result = tuple(steps), result
        self.fixed = fixed  # parameters that no gradient changes: statistics

    def initial(self, given: Any) -> dict[str, Tensor]:
        """The values of the parameters by name, those that are `given` in place of the file's."""
        if given is not None and not isinstance(given, dict):
            raise TypeError(
                f"For 'GraphCell', 'params_init' must be a dict or None, but got {type(given).__name__}."
            )
        for name, value in (given or {}).items():
            if not isinstance(value, Tensor):
                raise TypeError(
                    "For 'GraphCell', 'params_init' must hold Parameters or Tensors, "
                    f"but {name!r} is {type(value).__name__}."
                )
            old = self.parameters.get(name)
            if old is None:
                near = difflib.get_close_matches(str(name), self.parameters, 1)
                hint = f" Did you mean {near[0]!r}?" if near else ""
                raise ValueError(
                    f"For 'GraphCell', 'params_init' has {name!r}, which is no parameter of the graph.{hint}"
                )
            if (old.shape, old.dtype) != (value.shape, value.dtype):
                raise ValueError(
                    f"For 'GraphCell', the parameter {name!r} must be {_shown(old.dtype, old.shape)}, "
                    f"but got {_shown(value.dtype, value.shape)}."
                )
        return {**self.parameters, **(given or {})}

    def run(self, parameters: Any, inputs: tuple) -> Any:
        """The results for these values."""
        self._check(inputs)
        values = [*inputs, *parameters, *self.constants]
        for step in self.steps:
            operands = [values[i] for i in step.inputs]
            values.append(step.function(*operands, **step.settings))
            for i in step.dead:
                values[i] = None
        return taken(self.result, values)

    def _check(self, inputs: tuple) -> None:
        if len(inputs) != len(self.inputs):
            raise ValueError(
                f"For 'GraphCell', the number of inputs must be {len(self.inputs)}, but got {len(inputs)}."
            )
        for declared, x in zip(self.inputs, inputs):
            if not isinstance(x, Tensor):
                raise TypeError(
                    f"For 'GraphCell', the input '{declared.name}' must be a Tensor, but got {type(x).__name__}."
                )
            if x.dtype != declared.dtype or not _fits(declared.shape, x.shape):
                raise ValueError(
                    f"For 'GraphCell', the input '{declared.name}' must be {_shown(declared.dtype, declared.shape)}, "
                    f"but got {_shown(x.dtype, x.shape)}."
                )


def _fits(wanted: tuple[int, ...] | None, shape: Any) -> bool:
    if wanted is None:
        return True
    return len(wanted) == len(shape) and all(w in (-1, s) for w, s in zip(wanted, shape))


def _shown(dtype: Any, shape: Any) -> str:
    sizes = "..." if shape is None else ", ".join("any" if s == -1 else str(s) for s in shape)
    return f"{dtype}[{sizes}]"


def taken(place: Any, values: list) -> Any:
    """Values by their places, in tuples as these are."""
    if isinstance(place, tuple):
        return tuple([taken(p, values) for p in place])
    return values[place]
