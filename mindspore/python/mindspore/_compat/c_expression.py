"""`mindspore._c_expression`: the names of the core that Python code of the first releases reached for."""

from __future__ import annotations

from mindspore import Tensor
from mindspore.common import dtype as typing
from mindspore.common._refused import refusing

init_exec_dataset = refusing(
    "init_exec_dataset",
    "datasets are read by Model.train and DatasetHelper, not by a queue of a device",
)
__all__ = ["Tensor", "init_exec_dataset", "typing"]
