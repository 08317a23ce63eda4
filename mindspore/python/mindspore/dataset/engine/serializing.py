"""Pipelines as JSON, and back: the sources and operations with the arguments they were made with."""

from __future__ import annotations

import importlib
import json
import logging
import os
from enum import Enum
from typing import Any

import numpy as np

from mindspore import _paths
from mindspore.common.dtype import DType
from mindspore.dataset.core.recorded import Recorded
from mindspore.dataset.core.validator_helpers import check_int, check_type
from mindspore.dataset.engine.datasets import Dataset
from mindspore.dataset.engine.samplers import Shuffle
from mindspore.dataset.engine.schema import Schema

_log = logging.getLogger("mindspore.dataset")
_PLAIN = (bool, int, float, str, type(None))
_PLACES = (
    "mindspore.dataset",
    "mindspore.dataset.vision",
    "mindspore.dataset.transforms",
    "mindspore.dataset.text",
    "mindspore.dataset.audio",
    "mindspore.dataset.engine.samplers",
    "mindspore.dataset.vision.color",
)


def _written(what: str, value: Any) -> Any:
    """An argument as JSON has it."""
    if isinstance(value, Shuffle):
        return {"shuffle": value.value}
    if isinstance(value, Enum) and type(value).__module__.startswith("mindspore.dataset."):
        return {"choice": [type(value).__name__, value.name]}
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (list, tuple)):
        return [_written(what, v) for v in value]
    if isinstance(value, dict) and all(isinstance(name, str) for name in value):
        return {"dict": {name: _written(what, v) for name, v in value.items()}}
    if isinstance(value, Dataset):
        return {"dataset": _described(value)}
    if isinstance(value, Schema):
        return {"schema": json.loads(value.to_json())}
    if isinstance(value, DType):
        return {"dtype": str(value).removeprefix("mindspore.").lower()}
    if isinstance(value, os.PathLike):
        return os.fsdecode(value)
    if isinstance(value, (np.integer, np.floating)):
        return value.item()
    if isinstance(value, np.ndarray) and value.size <= 64 and value.dtype.kind in "biufU":
        return {"array": [value.tolist(), str(value.dtype)]}
    kind = type(value)
    if isinstance(value, Recorded) and kind.__module__.startswith("mindspore.dataset."):
        name, arguments = value._arguments or (kind.__name__, {})
        return {"object": name, **{k: _written(what, v) for k, v in arguments.items()}}
    raise TypeError(
        f"For 'serialize', the arguments of {what} must be plain values, transforms and samplers of the package, but "
        f"got {kind.__name__}."
    )


def _described(dataset: Dataset) -> dict[str, Any]:
    """A dataset with its children."""
    if dataset._arguments is None:
        raise TypeError(
            f"For 'serialize', the dataset must be made by a source and its methods, but got {type(dataset).__name__}."
        )
    name, arguments = dataset._arguments
    below = getattr(dataset, "_made_of", None)
    return {
        "op_type": name,
        **{key: _written(name, value) for key, value in arguments.items()},
        "children": [] if below is None else [_described(below)],
    }


def serialize(dataset: Dataset, json_filepath: str = "") -> dict[str, Any]:
    """A pipeline as a dict of plain values, which also goes into a file of JSON where one is named.

    Functions of the user's, and sources that lie in memory, cannot be written down: TypeError.
    """
    check_type("serialize", "dataset", dataset, Dataset)
    described = _described(dataset)
    if json_filepath:
        path = _paths.checked("serialize", "json_filepath", json_filepath)
        with open(path, "w", encoding="utf-8") as out:
            json.dump(described, out)
    return described


def _found(name: str, base: type) -> Any:
    """The class of the package with that name."""
    for place in _PLACES:
        found = getattr(importlib.import_module(place), name, None)
        if isinstance(found, type) and issubclass(found, base):
            return found
    raise ValueError(f"For 'deserialize', the names must be of the package, but got '{name}'.")


def _read(value: Any) -> Any:
    """The inverse of `_written`."""
    if isinstance(value, list):
        return [_read(v) for v in value]
    if not isinstance(value, dict):
        return value
    kind = next(iter(value), None)
    if kind == "shuffle":
        return Shuffle(value["shuffle"])
    if kind == "dict":
        return {name: _read(v) for name, v in value["dict"].items()}
    if kind == "dataset":
        return _made(value["dataset"])
    if kind == "schema":
        schema = Schema()
        schema.from_json(value["schema"])
        return schema
    if kind == "dtype":
        return getattr(importlib.import_module("mindspore"), str(value["dtype"]))
    if kind == "array":
        return np.array(value["array"][0], value["array"][1])
    if kind == "choice":
        choices, name = value["choice"]
        return _found(choices, Enum)[name]
    if kind == "object":
        given = {name: _read(v) for name, v in value.items() if name != "object"}
        return _found(value["object"], Recorded)(**given)
    raise ValueError(
        f"For 'deserialize', an argument must be written by serialize, but got {value!r:.80}."
    )


_OPERATIONS = (
    "batch", "padded_batch", "bucket_batch_by_length", "map", "filter", "shuffle", "repeat", "skip", "take", "zip",
    "concat", "rename", "project",
)  # fmt: skip


def _made(described: Any) -> Dataset:
    check_type("deserialize", "input_dict", described, dict)
    name, children = described.get("op_type"), described.get("children", [])
    given = {k: _read(v) for k, v in described.items() if k not in ("op_type", "children")}
    if children:
        if name not in _OPERATIONS:
            raise ValueError(
                f"For 'deserialize', op_type must be one of {_OPERATIONS}, but got {name!r}."
            )
        made: Dataset = getattr(_made(children[0]), name)(**given)
        return made
    check_type("deserialize", "op_type", name, str)
    source = _found(str(name), Recorded)
    if not issubclass(source, Dataset):
        raise ValueError(f"For 'deserialize', op_type must be a source, but got {name!r}.")
    return source(**given)


def deserialize(
    input_dict: dict[str, Any] | None = None, json_filepath: str | None = None
) -> Dataset:
    """The pipeline that serialize() wrote, from its dict or its file."""
    if (input_dict is None) == (json_filepath is None):
        raise ValueError("For 'deserialize', either input_dict or json_filepath must be given.")
    if json_filepath is not None:
        with open(
            _paths.checked("deserialize", "json_filepath", json_filepath), encoding="utf-8"
        ) as stream:
            try:
                input_dict = json.load(stream)
            except ValueError as error:
                raise ValueError(
                    f"For 'deserialize', the file '{json_filepath}' must be JSON, but got {error}."
                ) from None
    return _made(input_dict)


def show(dataset: Dataset, indentation: int = 2) -> None:
    """Write the pipeline as JSON to the log."""
    check_int("show", "indentation", indentation, 0)
    _log.warning("%s", json.dumps(serialize(dataset), indent=indentation))


def compare(pipeline1: Dataset, pipeline2: Dataset) -> bool:
    """Whether two pipelines are written down alike."""
    return serialize(pipeline1) == serialize(pipeline2)
