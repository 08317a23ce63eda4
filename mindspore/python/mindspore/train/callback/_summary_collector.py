"""SummaryCollector: records a training for viewers."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.common._checked import check_value
from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._values import check_int, first_value
from mindspore.train.summary import SummaryRecord

_COLLECTED = {"collect_metric": True, "histogram_regular": None, "collect_input_data": True}
_NOT_WRITTEN = ("collect_graph", "collect_train_lineage", "collect_eval_lineage")
_OTHER = (*_NOT_WRITTEN, "collect_dataset_graph", "collect_landscape")


class SummaryCollector(Callback):
    """Writes the loss, the distributions of parameters, and what summary ops record, every `collect_freq` steps.

    Args:
        summary_dir: the folder.
        collect_freq: every how many steps.
        num_process: accepted; one process writes.
        collect_specified_data: what is written: "collect_metric" (the loss), "histogram_regular" (a regular expression of the
            names of parameters); other entries, of graphs and lineage, are accepted, and not written.
        keep_default_action: whether what `collect_specified_data` does not name is written as if it did.
        custom_lineage_data, collect_tensor_freq: accepted.
        max_file_size: see SummaryRecord.
        export_options: see SummaryRecord.
    """

    def __init__(
        self,
        summary_dir: Any,
        collect_freq: int = 10,
        num_process: int = 32,
        collect_specified_data: dict | None = None,
        keep_default_action: bool = True,
        custom_lineage_data: dict | None = None,
        collect_tensor_freq: int | None = None,
        max_file_size: int | None = None,
        export_options: dict | None = None,
    ) -> None:
        super().__init__()
        del custom_lineage_data, collect_tensor_freq, num_process
        self._every = check_int("SummaryCollector", "collect_freq", collect_freq, 1)
        check_value(bool, keep_default_action, "keep_default_action", "SummaryCollector")
        given = dict(collect_specified_data or {})
        unknown = sorted(set(given) - {*_COLLECTED, *_OTHER})
        if unknown:
            raise ValueError(
                f"For 'SummaryCollector', 'collect_specified_data' must have keys of {[*_COLLECTED, *_OTHER]}, but got "
                f"{unknown}."
            )
        default = keep_default_action and (collect_specified_data is None or bool(given))
        self._loss = given.get("collect_metric", default)
        self._names = given.get("histogram_regular", ".*" if default else None)
        self._arguments = (summary_dir, max_file_size, export_options)
        self._record: SummaryRecord | None = None
        SummaryRecord(
            summary_dir, max_file_size=max_file_size, export_options=export_options
        ).close()

    def begin(self, run_context: RunContext) -> None:
        """Opens the file."""
        folder, most, options = self._arguments
        self._record = SummaryRecord(folder, max_file_size=most, export_options=options)
        mode = getattr(run_context.original_args(), "mode", "train")
        self._record.set_mode("eval" if mode == "eval" else "train")

    def step_end(self, run_context: RunContext) -> None:
        """Writes what is due."""
        params: Any = run_context.original_args()
        if params.get("mode") == "eval" or self._record is None:
            return
        if params.cur_step_num % self._every and params.cur_step_num != 1:
            return
        if self._loss:
            loss = np.asarray(first_value(params.get("net_outputs")), np.float32)
            self._record.add_value("scalar", "loss/auto", Tensor(loss))
        self._add_parameters(params.get("train_network"))
        self._record.record(params.cur_step_num)

    def _add_parameters(self, network: Any) -> None:
        import re

        assert self._record is not None
        if self._names is None or network is None:
            return
        for parameter in network.trainable_params():
            if re.match(self._names, parameter.name) and parameter.ndim:
                self._record.add_value("histogram", f"{parameter.name}/auto", parameter.value())

    def end(self, run_context: RunContext) -> None:
        """Closes the file."""
        del run_context
        if self._record is not None:
            self._record.close()
            self._record = None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._record is not None:
            self._record.close()
            self._record = None


__all__ = ["SummaryCollector"]
