"""What a training was made of: one record each of its data, of what its user says, of its parts and results, and of an evaluation,
in a file of their own beside the events. The messages are those of MindSpore's viewer, written field by field."""

from __future__ import annotations

import json
import os
import time
from typing import Any

import numpy as np

from mindspore.train.callback._values import first_value
from mindspore.train.summary._wire import double, integer, message, record, single, text


def check_custom(data: Any) -> dict[str, Any]:
    """Raise unless it maps names to numbers and texts."""
    if data is None:
        return {}
    op = "SummaryCollector"
    if not isinstance(data, dict):
        raise TypeError(
            f"For '{op}', 'custom_lineage_data' must be a dict, but got {type(data).__name__}."
        )
    for name, value in data.items():
        if not isinstance(name, str) or not isinstance(value, (int, float, str)):
            raise TypeError(
                f"For '{op}', 'custom_lineage_data' must map str to int, float or str, but got {name!r}: {value!r:.100}."
            )
    return dict(data)


def _event(field: int, content: bytes) -> bytes:
    return record(double(1, time.time()) + message(field, content))


def custom(data: dict[str, Any]) -> bytes:
    """What the user says of the run."""
    return _event(10, b"".join(message(1, _custom_entry(*item)) for item in data.items()))


def _custom_entry(name: str, value: Any) -> bytes:
    if isinstance(value, str):
        return message(4, text(1, name) + text(2, value))
    if isinstance(value, int) and -(2**31) <= value < 2**31:
        return message(3, text(1, name) + integer(2, value))
    return message(5, text(1, name) + double(2, float(value)))


def dataset(data: Any) -> bytes:
    """The tree of operations that the batches come from."""
    return _event(9, _dataset_node(data))


def _dataset_node(data: Any) -> bytes:
    kind = type(data).__name__
    kind = kind if not getattr(data, "children", None) else kind.removesuffix("Dataset")
    facts = message(1, text(1, "op_type") + text(2, kind))
    for name in ("batch_size", "num_parallel_workers"):
        value = getattr(data, name, None)
        if isinstance(value, int):
            facts += message(4, text(1, name) + integer(2, value))
    children = [message(1, _dataset_node(child)) for child in getattr(data, "children", [])]
    return b"".join(children) + message(2, facts)


def _rows(data: Any) -> int:
    size = getattr(data, "batch_size", 1)
    return int(data.get_dataset_size()) * (size if isinstance(size, int) else 1)


def _name(thing: Any) -> str:
    return "" if thing is None else getattr(thing, "__name__", type(thing).__name__)


def training(params: Any) -> bytes:
    """The parts of a training, and where it ended."""
    optimizer = params.get("optimizer") or getattr(params.train_network, "optimizer", None)
    rate: Any = getattr(optimizer, "learning_rate", None)
    data = params.train_dataset
    batch = getattr(data, "batch_size", 1)
    settings = [text(1, _name(optimizer))]
    if hasattr(rate, "asnumpy"):
        settings.append(single(2, float(np.ravel(rate.asnumpy())[-1])))
    settings += [
        text(3, _name(params.get("loss_fn"))),
        integer(4, params.cur_epoch_num),
        text(5, str(params.parallel_mode)),
        integer(6, int(params.device_number)),
        integer(8, batch if isinstance(batch, int) else 1),
    ]
    loss = first_value(params.get("net_outputs"))
    file = params.get("latest_ckpt_file")
    size = os.path.getsize(file) if file and os.path.exists(file) else 0
    network = text(1, _name(params.network)) + (b"" if loss is None else single(2, loss))
    parts = [
        message(1, b"".join(settings)),
        message(2, integer(2, _rows(data))),
        message(3, network),
        message(4, text(3, json.dumps({"ckpt": file})) + integer(4, size)),
    ]
    return _event(6, b"".join(parts))


def evaluation(params: Any) -> bytes:
    """The metrics of an evaluation."""
    metrics = {name: _plain(value) for name, value in (params.get("metrics") or {}).items()}
    data = message(3, integer(2, _rows(params.valid_dataset)))
    return _event(7, text(2, json.dumps(metrics)) + data)


def _plain(value: Any) -> Any:
    array = np.asarray(value.asnumpy() if hasattr(value, "asnumpy") else value)
    return array.tolist() if array.dtype.kind in "biuf" else str(value)


__all__ = ["check_custom", "custom", "dataset", "evaluation", "training"]
