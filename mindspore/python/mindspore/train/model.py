"""Model: training, evaluation and prediction of a network in one object."""

from __future__ import annotations

import contextlib
import os
from typing import Any

from mindspore import _paths, nn
from mindspore.amp.train_network import build_train_network
from mindspore.common._boundary import boundary
from mindspore.common.tensor import Tensor
from mindspore.context import ParallelMode, get_auto_parallel_context
from mindspore.parallel.auto_parallel import AutoParallel
from mindspore.train import _manifest, _resume
from mindspore.train._feed import Feed
from mindspore.train._measured import Measured
from mindspore.train._model_checks import (
    check_arguments,
    check_bool,
    checked_indexes,
    metrics_of,
    valid_epochs,
)
from mindspore.train._progress import Progress
from mindspore.train._together import Together
from mindspore.train._training_run import TrainingRun
from mindspore.train.callback._callback import (
    RunContext,
    _CallbackManager,
    _InternalCallbackParam,
)
from mindspore.train.callback._values import check_int, first_value
from mindspore.train.dataset_helper import DatasetHelper, _check_dataset, _check_sink_size
from mindspore.train.serialization import load_param_into_net, load_training


class Model:
    """A network with what it needs for training and evaluation.

    Args:
        network: The network. Without `loss_fn` its output is the loss; without `optimizer` it is a
            whole training step.
        loss_fn: The loss of (output, label).
        optimizer: Updates the parameters.
        metrics: Names or Metric objects, as a set, a list or a dict.
        eval_network: Evaluated in place of the network with its loss.
        eval_indexes: Where loss, output and label are among the results of `eval_network`.
        amp_level: Mixed precision, "O0" to "O3" or "auto".
        boost_level: Accepted; changes nothing.
        kwargs: loss_scale_manager, keep_batchnorm_fp32.

    Examples:
        >>> model = Model(net, nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean"),
        ...               nn.Momentum(net.trainable_params(), 0.1, 0.9), metrics={"accuracy"})
        >>> model.train(2, dataset, callbacks=[LossMonitor()])
        >>> model.eval(test_dataset)
    """

    def __init__(
        self,
        network: Any,
        loss_fn: Any = None,
        optimizer: Any = None,
        metrics: Any = None,
        eval_network: Any = None,
        eval_indexes: Any = None,
        amp_level: str = "O0",
        boost_level: str = "O0",
        **kwargs: Any,
    ) -> None:
        check_arguments(network, loss_fn, optimizer, eval_network, amp_level, boost_level, kwargs)
        self._parallel = network if isinstance(network, AutoParallel) else None
        network = network if self._parallel is None else self._parallel.network
        self._network = network
        self._loss_fn = loss_fn
        self._optimizer = optimizer
        self._amp_level = amp_level
        self._boost_level = boost_level
        self._options = {
            k: v for k, v in kwargs.items() if k in ("loss_scale_manager", "keep_batchnorm_fp32")
        }
        self._loss_scale_manager = kwargs.get("loss_scale_manager")
        self._metrics = metrics
        self._metric_fns: dict[str, Any] = {}
        with self._settings():
            self._parallel_mode = get_auto_parallel_context("parallel_mode")
            self._device_number = get_auto_parallel_context("device_num")
            self._train_network = self._build_train_network()
            self._build_eval_network(metrics, eval_network, eval_indexes)
        self._predict_network = network
        self._resumed: dict[str, Any] | None = None
        self._divided_by_user = False  # whether the data of its training were

    # Networks

    def _settings(self) -> contextlib.AbstractContextManager[None]:
        """The settings of parallel training: those of an AutoParallel network, or of the context."""
        return contextlib.nullcontext() if self._parallel is None else self._parallel.settings()

    def _build_train_network(self) -> Any:
        if self._optimizer is None:
            if self._loss_scale_manager is not None:
                raise ValueError("For 'Model', 'loss_scale_manager' needs an 'optimizer'.")
            network = self._network
            return network if self._loss_fn is None else nn.WithLossCell(network, self._loss_fn)
        return build_train_network(
            self._network, self._optimizer, self._loss_fn, level=self._amp_level,
            boost_level=self._boost_level, **self._options,
        )  # fmt: skip

    def _build_eval_network(self, metrics: Any, eval_network: Any, eval_indexes: Any) -> None:
        self._eval_network = None
        self._metric_fns = metrics_of(metrics)
        self._eval_indexes = checked_indexes(eval_indexes)
        if not self._metric_fns:
            return
        if eval_network is not None:
            self._eval_network = eval_network
        elif self._loss_fn is not None:
            self._eval_network = nn.WithEvalCell(
                self._network, self._loss_fn, self._amp_level in ("O2", "O3")
            )
            self._eval_indexes = (0, 1, 2)
        else:
            raise ValueError(
                "For 'Model', 'metrics' need an 'eval_network' or a 'loss_fn'. Leave 'metrics' out "
                "if the model is not to be evaluated."
            )

    @property
    def train_network(self) -> Any:
        """The cell that runs one training step."""
        return self._train_network

    @property
    def eval_network(self) -> Any:
        """The cell that is evaluated; None without metrics."""
        return self._eval_network

    @property
    def predict_network(self) -> Any:
        """The network."""
        return self._predict_network

    # Training

    @boundary
    def train(
        self,
        epoch: int,
        train_dataset: Any,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train for `epoch` passes over the dataset.

        Args:
            epoch: The number of the last epoch.
            train_dataset: Each row is the inputs of the training step, usually (data, label).
            callbacks: A Callback or a list of them.
            dataset_sink_mode: Whether the runtime makes steps by itself, one after the other, where nobody has to see each of
                them. The numbers are the same.
            sink_size: With `dataset_sink_mode`, how many steps have one on_train_step_begin and one on_train_step_end; -1: all
                of an epoch, but each step has them where a callback listens.
            initial_epoch: Epochs that were done in an earlier run.
        """
        self._fit(
            epoch, train_dataset, callbacks, dataset_sink_mode, sink_size, initial_epoch, None, ()
        )

    @boundary
    def fit(
        self,
        epoch: int,
        train_dataset: Any,
        valid_dataset: Any = None,
        valid_frequency: Any = 1,
        callbacks: Any = None,
        dataset_sink_mode: bool = False,
        valid_dataset_sink_mode: bool = False,
        sink_size: int = -1,
        initial_epoch: int = 0,
    ) -> None:
        """Train, and evaluate on `valid_dataset` at the end of epochs.

        Args:
            epoch: The number of the last epoch.
            train_dataset: As for train.
            valid_dataset: As for eval; None: no evaluation.
            valid_frequency: Every how many epochs, or a list of the epochs that end with an
                evaluation.
            callbacks: A Callback or a list of them.
            dataset_sink_mode: As for train.
            valid_dataset_sink_mode: Accepted.
            sink_size: As for train.
            initial_epoch: Epochs that were done in an earlier run.
        """
        if valid_dataset is not None:
            self._check_can_evaluate("Model.fit", valid_dataset)
        check_bool("Model.fit", "valid_dataset_sink_mode", valid_dataset_sink_mode)
        when = valid_epochs(valid_frequency, epoch)
        self._fit(
            epoch,
            train_dataset,
            callbacks,
            dataset_sink_mode,
            sink_size,
            initial_epoch,
            valid_dataset,
            when,
        )

    def _fit(
        self,
        epoch: int,
        train_dataset: Any,
        callbacks: Any,
        dataset_sink_mode: bool,
        sink_size: int,
        initial_epoch: int,
        valid_dataset: Any,
        valid_epochs: Any,
    ) -> None:
        op = "Model.train"
        check_int(op, "epoch", epoch, 1)
        check_int(op, "initial_epoch", initial_epoch, 0)
        if initial_epoch >= epoch:
            raise ValueError(
                f"For '{op}', 'initial_epoch' must be less than 'epoch', {epoch}, but got "
                f"{initial_epoch}."
            )
        check_bool(op, "dataset_sink_mode", dataset_sink_mode)
        _check_sink_size(op, sink_size)
        _check_dataset(op, "train_dataset", train_dataset)
        sink = (dataset_sink_mode, sink_size)
        valid = (valid_dataset, valid_epochs)
        with self._settings():
            TrainingRun(self, epoch, train_dataset, callbacks, sink, initial_epoch, valid).run()

    def resume(
        self, ckpt_path: str, dec_key: bytes | None = None, dec_mode: str = "AES-GCM"
    ) -> bool:
        """Let the next train or fit go on where an earlier one was when a ModelCheckpoint or BackupAndRestore saved it.

        The parameters of the training step are loaded at once. The rest is taken up by the next call of train or fit, which
        goes on with the step behind, up to its `epoch`; its `initial_epoch` is not used. With the same script and data, on the
        same kind of processor, it computes what the earlier run would have computed, bit for bit.

        Args:
            ckpt_path: A checkpoint, be it a file or a folder of slices, or a folder, of which the newest one is taken.
            dec_key: The key of an encrypted one.
            dec_mode: As `enc_mode` when it was saved.

        Returns:
            Whether there was a checkpoint; a folder may be empty or missing, as at the first start of a script.
        """
        op = "Model.resume"
        path = _paths.checked(op, "ckpt_path", ckpt_path)
        if not path.endswith((".ckpt", ".safetensors", _manifest.SUFFIX)):
            found = _resume.newest(path) if os.path.isdir(path) else []
            if not found:
                return False
            path = found[0]
        values, state = load_training(path, dec_key, dec_mode)
        if state is None:
            raise ValueError(
                f"For '{op}', 'ckpt_path' must be a checkpoint of a training, saved by ModelCheckpoint or BackupAndRestore, but "
                f"'{path}' has parameters only. Load them with load_checkpoint."
            )
        load_param_into_net(self._train_network, values)
        self._resumed = state
        return True

    def _take_up(self) -> dict[str, Any] | None:
        """What `resume` left for the next run."""
        state, self._resumed = self._resumed, None
        return state

    def _follow_scale(self, outputs: Any, steps: int) -> None:
        """After so many steps, of which only the last can have overflowed."""
        manager = self._loss_scale_manager
        if manager is None or not (isinstance(outputs, (tuple, list)) and len(outputs) == 3):
            return
        if manager.get_drop_overflow_update():
            for _ in range(steps - 1):
                manager.update_loss_scale(False)
            manager.update_loss_scale(bool(outputs[1].asnumpy()))

    def _eval_in_fit(
        self, feed: Feed, manager: _CallbackManager, context: RunContext, params: Any
    ) -> None:
        """An evaluation between epochs; the training goes on with its own step number."""
        kept = {
            name: params.get(name) for name in ("cur_step_num", "batch_num", "mode", "net_outputs")
        }
        params.update(
            eval_network=self._eval_network,
            valid_dataset=feed.dataset,
            batch_num=feed.get_dataset_size() if feed.counted else None,
            mode="eval",
            cur_step_num=0,
        )
        self._evaluate(feed, manager, context, params)
        outputs = params.get("net_outputs")
        params.update(kept)
        results = dict(params["metrics"])
        loss = first_value(outputs)
        if loss is not None:
            results.setdefault("eval_loss", results.get("loss", loss))
        params["eval_results"] = results

    # Evaluation and prediction

    def _check_can_evaluate(self, op: str, dataset: Any) -> None:
        _check_dataset(op, "valid_dataset", dataset)
        if not self._metric_fns:
            raise ValueError(f"For '{op}', 'metrics' of the Model must not be empty.")

    @boundary
    def eval(
        self, valid_dataset: Any, callbacks: Any = None, dataset_sink_mode: bool = False
    ) -> dict[str, Any]:
        """The metrics over a dataset, as a dict from their names.

        Args:
            valid_dataset: Each row is the inputs of the evaluated network, usually (data, label).
            callbacks: A Callback or a list of them.
            dataset_sink_mode: Accepted.
        """
        op = "Model.eval"
        self._check_can_evaluate(op, valid_dataset)
        check_bool(op, "dataset_sink_mode", dataset_sink_mode)
        with self._settings():
            return self._eval(op, valid_dataset, callbacks, dataset_sink_mode)

    def _eval(
        self, op: str, valid_dataset: Any, callbacks: Any, dataset_sink_mode: bool
    ) -> dict[str, Any]:
        manager = _CallbackManager(callbacks)
        feed = Feed(op, valid_dataset, self._divided_by_user, manager.need_sizes())
        params = _InternalCallbackParam(
            eval_network=self._eval_network, valid_dataset=valid_dataset, network=self._network,
            batch_num=feed.get_dataset_size() if feed.counted else None, mode="eval", cur_step_num=0,
            list_callback=manager._callbacks, dataset_sink_mode=dataset_sink_mode,
        )  # fmt: skip
        with manager:
            manager.share_work(params, Together(self._eval_network, feed.joint))
            return self._evaluate(feed, manager, RunContext(params), params)

    def _evaluate(
        self, feed: Feed, manager: _CallbackManager, context: RunContext, params: Any
    ) -> dict[str, Any]:
        network: Any = self._eval_network
        together = Together(network, feed.joint)
        measured = Measured(self._metric_fns, self._eval_indexes, together)
        network.set_train(False)
        network.phase = "eval"
        helper = DatasetHelper(feed, False)
        progress = Progress("evaluation", params["batch_num"], False)
        try:
            manager.on_eval_begin(context)
            manager.on_eval_epoch_begin(context)
            for batch in together.rows(helper, feed.stand_in):
                params["cur_step_num"] += 1
                params["eval_dataset_element"] = batch
                manager.on_eval_step_begin(context)
                outputs = network(*batch)
                params["net_outputs"] = outputs
                measured.update(outputs)
                manager.on_eval_step_end(context)
                together.agree(context)
                progress.step()
                if context.get_stop_requested():
                    break
            else:
                feed.check_given(params["cur_step_num"])
                params["batch_num"] = feed.get_dataset_size()
            manager.on_eval_epoch_end(context)
            params["metrics"] = measured.results()
            params["net_outputs"] = together.joint_outputs(params.get("net_outputs"))
            params["eval_results"] = dict(params["metrics"])
            manager.on_eval_end(context)
        finally:
            progress.close()
            helper.release()
        return params["metrics"]

    @boundary
    def predict(self, *predict_data: Any, backend: str | None = None, config: Any = None) -> Any:
        """The output of the network in inference mode.

        Args:
            predict_data: Inputs of the network.
            backend: Must be None: other runtimes are not supported.
            config: Unused.
        """
        if backend is not None:
            raise NotImplementedError(
                f"For 'Model.predict', 'backend' must be None, but got {backend!r}."
            )
        for value in predict_data:
            if isinstance(value, (str, bytes)):
                raise TypeError(
                    "For 'Model.predict', the inputs must be Tensors, but got "
                    f"{type(value).__name__}."
                )
        network = self._predict_network
        network.set_train(False)
        network.phase = "predict"
        with self._settings():
            return network(*predict_data)

    def build(
        self,
        train_dataset: Any = None,
        valid_dataset: Any = None,
        sink_size: int = -1,
        epoch: int = 1,
        sink_mode: bool = True,
    ) -> None:
        """Accepted: networks are compiled at their first step."""

    def infer_train_layout(
        self, train_dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1
    ) -> dict:
        """The layouts of parallel training: none on one device."""
        return {}

    def infer_predict_layout(self, *predict_data: Any, skip_backend_compile: bool = False) -> dict:
        """The layouts of parallel inference: none on one device."""
        return {}


__all__ = ["Model", "ParallelMode", "Tensor"]
