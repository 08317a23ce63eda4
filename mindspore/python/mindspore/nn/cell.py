"""Cell, the base of all networks: a tree of cells and parameters with a `construct`.

Parameters and cells are kept in `_params` and `_cells`, and once more in `__dict__`, so that
reading an attribute costs nothing. Every change bumps the epoch that compiled graphs check.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import threading
from collections import OrderedDict
from typing import Any, cast

from mindspore import _core
from mindspore.common import _late
from mindspore.common._refused import refused_attributes
from mindspore.common.parameter import Parameter, ParameterTuple
from mindspore.common.tensor import Tensor
from mindspore.nn._cell_names import CellNames
from mindspore.nn._cell_options import CellOptions
from mindspore.nn._cell_state import CellState
from mindspore.nn._cell_tree import CellTree
from mindspore.ops._older_names import meant


class _Recording(threading.local):
    """Whether this thread is inside a cell that records for a later gradient."""

    active = False


_recording = _Recording()
_NUMBERED = "Parameter$"  # the names of Parameters that come in a tuple without a name
_modules: dict[str, Any] = {}


def _compiler() -> Any:
    """The front end, imported at the first call that needs it."""
    module = _modules.get("compile")
    if module is None:
        from mindspore import compile as module

        _modules["compile"] = module
    return module


@functools.cache
def _argument_names(kind: Any) -> list[str] | None:
    """The arguments of a class that can be given by name; None if it takes any."""
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return None
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]


class Cell(CellTree, CellOptions, CellState, CellNames):
    """A building block of a network: parameters, other cells, and how they compute.

    A subclass creates its parts in `__init__` and uses them in `construct`.

    Args:
        auto_prefix: Whether parameters inside get the names of the cells that hold them in front.
        flags: Flags for the compiler.

    Examples:
        >>> class Net(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.dense = nn.Dense(3, 4)
        ...     def construct(self, x):
        ...         return self.dense(x)
        >>> [p.name for p in Net().trainable_params()]
        ['dense.weight', 'dense.bias']
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Cell:
        """Checks the names of the arguments of `__init__`."""
        if kwargs:
            takes = _argument_names(cast(Any, cls))
            for name in kwargs:
                if takes is not None and name not in takes and not meant(cls.__init__, name, takes):
                    close = difflib.get_close_matches(name, takes, 1)
                    remedy = f" Did you mean '{close[0]}'?" if close else ""
                    raise TypeError(
                        f"For '{cls.__name__}', the constructor has no argument '{name}'; it takes {takes}.{remedy}"
                    )
        return super().__new__(cls)

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        self.__dict__.update(
            _params=OrderedDict(),
            _cells=OrderedDict(),
            _auto_prefix=auto_prefix,
            _param_prefix="",
            training=False,
            requires_grad=False,
            cell_type=None,
            cls_name=type(self).__name__,
        )
        if flags:
            self.add_flags(**flags)

    # ---- calling ----

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """The computation. Every subclass defines it."""
        own = [n for n in dir(self) if not hasattr(Cell, n) and callable(getattr(self, n))]
        meant: list[str] = [n for n in ("forward", "call") if n in own]
        meant = meant or difflib.get_close_matches("construct", own, 1)
        remedy = f" Did you mean to name '{meant[0]}' so?" if meant else ""
        raise AttributeError(
            f"For '{type(self).__name__}', the method 'construct' must be defined, but got none.{remedy}"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            if _core.graph_mode() and not _core.is_tracing():
                return _compiler().run_cell(self, args, kwargs)
            if self._special or self.requires_grad:
                return self._call_special(args, kwargs)
            return self.construct(*args, **kwargs)
        except Exception as error:
            try:
                if isinstance(error, TypeError):
                    self._check_arguments(args, kwargs)
                _compiler().explain(error)
                raise
            except Exception as said:
                _compiler().hide(said)
                del args, kwargs  # the frames that are left know this one
                raise

    def _call_special(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call that records for a later gradient, or has hooks or mixed precision."""
        if not self.requires_grad or _recording.active or _core.is_tracing():
            return self._run_eagerly(args, kwargs)
        _recording.active = True
        try:
            return _compiler().run_eager_cell(self, args, kwargs)
        finally:
            _recording.active = False

    def _run_construct(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run construct; a TypeError for wrong arguments names the cell."""
        try:
            return self.construct(*args, **kwargs)
        except TypeError:
            self._check_arguments(args, kwargs)
            raise

    def _check_arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Raise a TypeError that names the cell when construct cannot take the arguments."""
        signature = inspect.signature(self.construct)
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            given = f"{len(args)} positional"
            if kwargs:
                given += " and the keywords " + ", ".join(kwargs)
            raise TypeError(
                f"For '{type(self).__name__}', the arguments must fit construct{signature}, "
                f"but got {given}: {error}."
            ) from None

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Compile the cell for inputs of these types, without running it."""
        _compiler().compile_cell(self, args, kwargs)

    def compile_and_run(self, *args: Any, **kwargs: Any) -> Any:
        """Compile the cell if needed, and run it as a graph."""
        return _compiler().run_cell(self, args, kwargs)

    # ---- attributes ----

    def __getattr__(self, name: str) -> Any:
        # Without a full stop: Python adds what was perhaps meant.
        raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        state = self.__dict__
        if isinstance(value, Cell):
            self._set_cell(name, value)
        elif isinstance(value, Parameter):
            self._require_init("parameters")
            state["_cells"].pop(name, None)
            if name not in state["_params"]:
                state.pop(name, None)
            self.insert_param_to_cell(name, value)
        elif isinstance(value, ParameterTuple):
            self._set_parameter_tuple(name, value)
        elif self._is_parameter(name):
            self._set_parameter_value(name, value)
        elif name in state.get("_buffers", ()):
            self._set_buffer(name, value)
        elif name in state.get("_cells", ()):
            if value is not None:
                raise TypeError(
                    f"For '{type(self).__name__}', the attribute '{name}' is a cell, so it must be "
                    f"set to a Cell or None, but got {type(value).__name__}."
                )
            state["_cells"][name] = None
            state[name] = None
        else:
            object.__setattr__(self, name, value)
        _core.bump_epoch()

    def __delattr__(self, name: str) -> None:
        state = self.__dict__
        kinds = (state["_params"], state["_cells"], state.get("_buffers", {}))
        found = any(name in kind for kind in kinds)
        for kind in kinds:
            kind.pop(name, None)
        if not found or name in state:
            object.__delattr__(self, name)
        _core.bump_epoch()

    def _require_init(self, what: str) -> None:
        if "_params" not in self.__dict__:
            raise AttributeError(
                f"For '{type(self).__name__}', 'super().__init__()' must be called before {what} "
                "are assigned, but got no such call."
            )

    def _set_cell(self, name: str, cell: Cell) -> None:
        self._require_init("cells")
        state = self.__dict__
        state["_params"].pop(name, None)
        if state["_auto_prefix"]:
            cell.update_parameters_name(name + ".")
        self._store_cell(name, cell)

    def _store_cell(self, name: str, cell: Cell | None) -> None:
        self.__dict__["_cells"][name] = cell
        self.__dict__[name] = cell

    def _is_parameter(self, name: str) -> bool:
        """Whether the attribute holds one, or None in its place; those of a tuple are known by name only."""
        state = self.__dict__
        if name not in state.get("_params", ()) or name not in state:
            return False
        return state[name] is None or isinstance(state[name], Tensor)

    def _set_parameter_value(self, name: str, value: Any) -> None:
        """Assign to an attribute that holds a Parameter something that is none."""
        parameter = self._params[name]
        if value is None:
            self._params[name] = None
            self.__dict__[name] = None
        elif isinstance(value, Tensor) and parameter is not None:
            parameter.set_data(value)
        else:
            raise TypeError(
                f"For '{type(self).__name__}', the attribute '{name}' is a Parameter, so it must "
                f"be set to a Parameter, a Tensor or None, but got {type(value).__name__}."
            )

    def _set_parameter_tuple(self, name: str, value: ParameterTuple) -> None:
        """Take every Parameter of a tuple under its own name, or a number; keep the tuple too."""
        self._require_init("parameters")
        self._params.pop(name, None)
        self._cells.pop(name, None)
        for parameter in value:
            if parameter.has_default_name:
                numbered = sum(known.startswith(_NUMBERED) for known in self._params)
                parameter.name = f"{_NUMBERED}{numbered + 1}"
            known = self._params.get(parameter.name)
            if known is not None and known is not parameter:
                raise ValueError(
                    f"For '{type(self).__name__}', the names of parameters must differ, but got "
                    f"two of the name '{parameter.name}'."
                )
            self._params[parameter.name] = parameter
        object.__setattr__(self, name, value)

    def insert_param_to_cell(
        self, param_name: str, param: Parameter | None, check_name_contain_dot: bool = True
    ) -> None:
        """Add a Parameter under an attribute's name.

        Args:
            param_name: The attribute.
            param: The Parameter; without a name of its own it takes the attribute's.
            check_name_contain_dot: Whether a dot in the name is refused.
        """
        owner = type(self).__name__
        if not isinstance(param_name, str):
            raise TypeError(
                f"For '{owner}', 'param_name' must be a str, but got {type(param_name).__name__}."
            )
        if not param_name or (check_name_contain_dot and "." in param_name):
            raise KeyError(
                f"For '{owner}', 'param_name' must not be empty nor have a dot in it, "
                f"but got '{param_name}'."
            )
        self._require_init("parameters")
        known = param_name in self.__dict__ or hasattr(type(self), param_name)
        if known and param_name not in self._params:
            raise KeyError(
                f"For '{owner}', 'param_name' must not be an attribute already, "
                f"but got '{param_name}'."
            )
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"For '{owner}', 'param' must be a Parameter or None, "
                f"but got {type(param).__name__}."
            )
        if param is not None and param.has_default_name:
            param.name = param_name
        self._params[param_name] = param
        self.__dict__[param_name] = param
        _core.bump_epoch()

    def insert_child_to_cell(self, child_name: str, child_cell: Cell | None) -> None:
        """Add a cell under an attribute's name, leaving the names of its parameters alone."""
        owner = type(self).__name__
        if not isinstance(child_name, str):
            raise TypeError(
                f"For '{owner}', 'child_name' must be a str, but got {type(child_name).__name__}."
            )
        if not child_name or "." in child_name:
            raise KeyError(
                f"For '{owner}', 'child_name' must not be empty nor have a dot in it, "
                f"but got {child_name!r}."
            )
        if child_name in self.__dict__ and child_name not in self._cells:
            raise KeyError(
                f"For '{owner}', 'child_name' must not be an attribute already, "
                f"but got '{child_name}'."
            )
        if child_cell is not None and not isinstance(child_cell, Cell):
            raise TypeError(
                f"For '{owner}', 'child_cell' must be a Cell, but got {type(child_cell).__name__}."
            )
        self._store_cell(child_name, child_cell)
        _core.bump_epoch()

    # ---- state ----

    def set_train(self, mode: bool = True) -> Cell:
        """Put the cell and all cells inside into training, or into evaluation."""
        for _, cell in self.cells_and_names():
            state = cell.__dict__
            state["training"] = mode
            state.setdefault("_func_graph_flags", {})["training"] = mode
        self.phase = "train" if mode else "predict"
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Choose whether calls in PYNATIVE_MODE record what a later gradient needs."""
        self.requires_grad = requires_grad
        return self

    @property
    def phase(self) -> str:
        """What `set_train` chose, 'train' or 'predict', unless something else was set."""
        return str(self.__dict__.get("_phase", "train"))

    @phase.setter
    def phase(self, value: str) -> None:
        self.__dict__["_phase"] = value

    def set_phase(self, phase: str) -> None:
        """Set `phase`."""
        self.phase = phase

    # ---- text ----

    def extend_repr(self) -> str:
        """What a subclass shows of its settings."""
        return ""

    def __repr__(self) -> str:
        extra = self.extend_repr()
        lines = [
            f"({name}): " + repr(cell).replace("\n", "\n  ")
            for name, cell in self._cells.items()
            if cell is not None
        ]
        if not lines:
            return f"{type(self).__name__}({extra})"
        body = "\n  ".join([extra, *lines] if extra else lines)
        return f"{type(self).__name__}(\n  {body}\n)"


_late.cell_class = Cell


class GraphCell(Cell):
    """Runs a graph loaded from a file, in both modes, and trains further where its ops have gradients.

    Args:
        graph: What `mindspore.load` returned.
        params_init: New values for its parameters, by name: Parameters or Tensors of the same shapes and types.
        obf_random_seed: Must be None; weights are not obfuscated by this build.

    Examples:
        >>> net = nn.GraphCell(ms.load("dense.mindir"))
        >>> print(net(ms.Tensor(np.ones((2, 3), np.float32))).shape)
        (2, 4)
    """

    def __init__(
        self,
        graph: Any,
        params_init: dict[str, Any] | None = None,
        obf_random_seed: int | None = None,
    ) -> None:
        super().__init__(auto_prefix=True)
        if not hasattr(graph, "run") or not hasattr(graph, "parameters"):
            raise TypeError(
                f"For 'GraphCell', 'graph' must be what load returned, but got {type(graph).__name__}."
            )
        if obf_random_seed is not None:
            raise NotImplementedError(
                "For 'GraphCell', 'obf_random_seed' must be None: weights are not obfuscated by this build."
            )
        self.graph = graph
        values = graph.initial(params_init)
        self.weights = ParameterTuple(
            [Parameter(v, name=n, requires_grad=n not in graph.fixed) for n, v in values.items()]
        )

    def construct(self, *inputs: Any) -> Any:
        """Run the graph on the inputs."""
        return self.graph.run(self.weights, inputs)

    construct._ms_parsed = True  # type: ignore[attr-defined]  # a graph may have conditions


for _name, _refusal in refused_attributes("nn.Cell").items():
    setattr(Cell, _name, _refusal)

__all__ = ["Cell", "GraphCell"]
