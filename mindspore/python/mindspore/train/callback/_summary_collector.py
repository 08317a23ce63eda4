"""SummaryCollector: records a training for viewers."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np

from mindspore._core import Tensor
from mindspore.common._checked import check_value
from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._values import check_int, first_value
from mindspore.train.summary import SummaryRecord, _lineage
from mindspore.train.summary._landscape_settings import Keeper, Settings
from mindspore.train.summary._record_file import RecordFile, fresh_path

# What is collected, unless `collect_specified_data` or `keep_default_action` says otherwise.
_DEFAULTS: dict[str, Any] = {
    "collect_metric": True,
    "collect_train_lineage": True,
    "collect_eval_lineage": True,
    "collect_dataset_graph": True,
    "collect_input_data": True,
    "histogram_regular": ".*",
}
_BESIDE = ("collect_graph", "collect_landscape")  # the first is accepted, and not written
_MOST_TENSORS = 20  # records of them in a run, where nothing else is said: they are large


class SummaryCollector(Callback):
    """Writes the loss, the distributions of parameters, images of the input, and what summary ops record, every `collect_freq`
    steps; and, in a file of its own, what the training was made of.

    Args:
        summary_dir: the folder.
        collect_freq: every how many steps.
        num_process: accepted; one process writes.
        collect_specified_data: what is written: "collect_metric" (the loss), "histogram_regular" (a regular expression of the
            names of parameters), "collect_input_data" (the first image of the batch), "collect_train_lineage" (optimizer, rate,
            loss, network, sizes), "collect_eval_lineage" (metrics), "collect_dataset_graph"; "collect_landscape": a dict that says
            what is kept for SummaryLandscape (below); "collect_graph" is accepted, and not written.
        keep_default_action: whether what `collect_specified_data` does not name is written as if it did.
        custom_lineage_data: numbers and texts by name, kept with the lineage.
        collect_tensor_freq: every how many steps what TensorSummary records is written; without it about 20 times in all.
        max_file_size: see SummaryRecord.
        export_options: see SummaryRecord.

    "collect_landscape" keeps checkpoints of what its "intervals" name, lists of at least three numbers each, of the "unit" "step" or
    "epoch". The rest is how SummaryLandscape draws them if it is not told otherwise: "landscape_size" points to a side (3 to 256),
    "num_samples" rows of its dataset for each, "create_landscape" {"train": the plane of the training's path, "result": a plane by
    chance around its end}.
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
        op = "SummaryCollector"
        self._every = check_int(op, "collect_freq", collect_freq, 1)
        check_int(op, "num_process", num_process, 1)
        check_value(bool, keep_default_action, "keep_default_action", op)
        self._tensors_every = (
            None
            if collect_tensor_freq is None
            else check_int(op, "collect_tensor_freq", collect_tensor_freq, 1)
        )
        self._what = self._collected(collect_specified_data, keep_default_action)
        self._custom = _lineage.check_custom(custom_lineage_data)
        self._arguments = (summary_dir, max_file_size, export_options)
        self._record: SummaryRecord | None = None
        self._made: RecordFile | None = None  # the file of the lineage
        with SummaryRecord(
            summary_dir, max_file_size=max_file_size, export_options=export_options
        ) as record:
            self._folder = record.log_dir
        kept = self._what.get("collect_landscape")
        self._keeper = kept and Keeper(self._folder, Settings().changed(op, kept))

    @staticmethod
    def _collected(given: dict | None, keep_default: bool) -> dict[str, Any]:
        known = [*_DEFAULTS, *_BESIDE]
        unknown = sorted(set(given or {}) - set(known))
        if unknown:
            raise ValueError(
                f"For 'SummaryCollector', 'collect_specified_data' must have keys of {known}, but got {unknown}."
            )
        # An empty dict says that nothing is collected.
        default = keep_default and (given is None or bool(given))
        return {**(_DEFAULTS if default else {}), **(given or {})}

    def _writes_to(self, params: Any) -> str:
        return self._folder

    def begin(self, run_context: RunContext) -> None:
        """Opens the file."""
        params: Any = run_context.original_args()
        folder, most, options = self._arguments
        if not self._acts():
            return
        if self._record is None:  # an evaluation inside of a training writes to its file
            self._record = SummaryRecord(folder, max_file_size=most, export_options=options)
        self._record.set_mode("eval" if params.get("mode") == "eval" else "train")
        if params.get("mode") == "train":
            steps = max(params.epoch_num * params.batch_num, 1)
            often = self._every * -(-steps // (self._every * _MOST_TENSORS))
            self._tensor_step = self._tensors_every or often
            self._begin_lineage(params)

    def _is_due(self, step: int, every: int) -> bool:
        return step == 1 or step % every == 0

    def step_begin(self, run_context: RunContext) -> None:
        """Listens to summary ops where the step is written."""
        params: Any = run_context.original_args()
        if self._record is not None and params.get("mode") == "train":
            self._record._listen_if(self._is_due(params.cur_step_num, self._every))

    def step_end(self, run_context: RunContext) -> None:
        """Writes what is due."""
        params: Any = run_context.original_args()
        step = params.cur_step_num
        if params.get("mode") == "eval" or self._record is None:
            return
        if self._keeper:
            self._keeper.ended("step", step, params)
        if not self._is_due(step, self._every):
            return
        loss = first_value(params.get("net_outputs"))
        if self._what.get("collect_metric") and loss is not None:
            self._record.add_value("scalar", "loss/auto", Tensor(np.asarray(loss, np.float32)))
        self._add_parameters(params.get("train_network"))
        if self._what.get("collect_input_data"):
            self._add_images(params.get("train_dataset_element"))
        tensors = self._is_due(step, self._tensor_step)
        self._record.record(step, plugin_filter=lambda kind: tensors or kind != "tensor")

    def epoch_end(self, run_context: RunContext) -> None:
        """Keeps the weights, if a landscape asks for those of this epoch."""
        params: Any = run_context.original_args()
        if self._keeper and self._record is not None and params.get("mode") == "train":
            self._keeper.ended("epoch", params.cur_epoch_num, params)

    def _add_parameters(self, network: Any) -> None:
        assert self._record is not None
        names = self._what.get("histogram_regular")
        if names is None or network is None:
            return
        for parameter in network.trainable_params():
            if re.match(names, parameter.name) and parameter.ndim:
                self._record.add_value("histogram", f"{parameter.name}/auto", parameter.value())

    def _add_images(self, batch: Any) -> None:
        assert self._record is not None
        first = batch[0] if isinstance(batch, (list, tuple)) and batch else None
        if isinstance(first, Tensor) and first.ndim == 4 and first.shape[1] in (1, 3, 4):
            self._record.add_value("image", "input_data/auto", first[:1])

    # Lineage

    def _begin_lineage(self, params: Any) -> None:
        if self._what.get("collect_dataset_graph"):
            self._add_lineage(_lineage.dataset(params.train_dataset))
        if self._custom:
            self._add_lineage(_lineage.custom(self._custom))

    def _add_lineage(self, content: bytes) -> None:
        if not self._acts():
            return
        if self._made is None:
            # No name that viewers of events look for.
            path = fresh_path(Path(self._folder), "events.out.events", "_lineage")
            self._made = RecordFile(path, self._arguments[1], False, bytes)
        made = self._made
        made.attempt(lambda: made.append(content))

    def end(self, run_context: RunContext) -> None:
        """Writes what the run was made of, and closes the files, unless it was an evaluation inside of a training."""
        params: Any = run_context.original_args()
        if params.get("mode") == "eval":
            if self._what.get("collect_eval_lineage"):
                self._add_lineage(_lineage.evaluation(params))
            if run_context._run is not None:
                return
        elif self._what.get("collect_train_lineage") and params.get("cur_epoch_num"):
            self._add_lineage(_lineage.training(params))
        self._close()

    def _close(self) -> None:
        for file in (self._record, self._made):
            if file is not None:
                file.close()
        self._record = self._made = None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self._close()


__all__ = ["SummaryCollector"]
