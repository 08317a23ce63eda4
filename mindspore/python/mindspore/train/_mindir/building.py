"""The nodes of a graph in a file: primitives applied to values, constants, tuples."""

from __future__ import annotations

from typing import Any, NamedTuple

from mindspore.common.tensor import Tensor
from mindspore.train._mindir.messages import TENSORS, TUPLE, attribute, type_message

# Primitives of the older kind have their settings as attributes, the others as arguments.
_OLD, _NEW = 1, 2


class NotThere(Exception):
    """Why an op cannot go into a file."""


class Value(NamedTuple):
    """A value in the file: its name, and the type of its elements and its sizes."""

    name: str
    dtype: Any
    shape: tuple[int, ...]
    tensor: Tensor | None = None  # of a constant


class Builder:
    """Collects nodes, and the primitives that they name."""

    def __init__(self) -> None:
        self.nodes: list[dict] = []
        self.primitives: list[dict] = []
        self._names: dict[str, str] = {}  # of primitives, by what they are
        self._constants: dict[str, str] = {}

    def constant(self, value: Any) -> str:
        """The name of a Python value, which several nodes may read."""
        key = repr((type(value), value))
        if key not in self._constants:
            self._constants[key] = self._constant(value)
        return self._constants[key]

    def tensor(self, tensor: Tensor) -> Value:
        """A constant tensor."""
        return Value(self._constant(tensor), tensor.dtype, tuple(tensor.shape), tensor)

    def scalar(self, number: float, dtype: Any) -> Value:
        """A constant tensor of no dimensions."""
        return self.tensor(Tensor(number, dtype))

    def _constant(self, value: Any) -> str:
        name = f"Value_{len(self.nodes)}"
        attributes = [attribute("value", value)]
        self.nodes.append({"output": [name], "name": name, "op_type": "Constant", "attribute": attributes})  # fmt: skip
        return name

    def apply(
        self,
        primitive: str,
        inputs: list[Any],
        types: list[tuple],
        old: dict | None = None,
        several: bool = False,
        read: int | None = None,
    ) -> list[Value]:
        """The results of a primitive: of Values and, as constants, Python values. `old`: its attributes, if it is of that
        kind. `several`: the result is a tuple, whatever is in it, of which the first `read` are taken out."""
        names = [v.name if isinstance(v, Value) else self.constant(v) for v in inputs]
        shown = [_shape_of(dtype, shape) for dtype, shape in types]
        several = several or len(types) > 1
        name = self._apply(primitive, names, shown, old, several)
        if not several:
            return [Value(name, types[0][0], tuple(types[0][1]))]
        return [self._item(name, i, *one) for i, one in enumerate(types[:read])]

    def one(self, primitive: str, inputs: list[Any], like: Value, shape: Any = None) -> Value:
        """As apply, for one result of the dtype of `like`, and its shape unless another is given."""
        kind = (like.dtype, like.shape if shape is None else shape)
        return self.apply(primitive, inputs, [kind])[0]

    def tuple(self, values: list[Any]) -> Any:
        """A tuple; a name of something in it may stand for a tuple."""
        shown = [_shape_of(v.dtype, v.shape) if isinstance(v, Value) else v[1] for v in values]
        names = [v[0] for v in values]
        return self._apply("MakeTuple", names, shown, {}, whole=True), _tuple_of(shown)

    def _item(self, name: str, index: int, dtype: Any, shape: Any) -> Value:
        shown = [_shape_of(dtype, shape)]
        return Value(
            self._apply("TupleGetItem", [name, self.constant(index)], shown, {}),
            dtype,
            tuple(shape),
        )

    def _apply(
        self,
        primitive: str,
        names: list[str],
        shown: list[dict],
        old: dict | None,
        whole: bool = False,
    ) -> str:
        number = len(self.nodes)
        name = f"main:{primitive}_{number}"
        kind = _tuple_of(shown) if whole else shown[0]
        node = {
            "input": names,
            "output": [name],
            "name": name,
            "op_type": f"REF::{self._primitive(primitive, old)}",
            "attribute": [{**kind, "name": "shape"}],
            "domain": f"Default/{primitive}-op{number}",
        }
        self.nodes.append(node)
        return name

    def _primitive(self, primitive: str, old: dict | None) -> str:
        key = repr((primitive, old))
        if key not in self._names:
            name = self._names[key] = f"{primitive}:{len(self.primitives)}"
            attributes = [attribute(key, value) for key, value in (old or {}).items()]
            kind = _NEW if old is None else _OLD
            self.primitives.append(
                {"name": name, "op_type": primitive, "attribute": attributes, "prim_type": kind}
            )
        return self._names[key]


def _shape_of(dtype: Any, shape: Any) -> dict:
    return {"tensors": [type_message(dtype, shape)], "type": TENSORS}


def _tuple_of(shown: list[dict]) -> dict:
    return {"values": shown, "type": TUPLE, "seq_info": {"is_dyn_len": 0}}
