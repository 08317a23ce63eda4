"""One call of Model.train or Model.fit: its epochs and steps, from the first one or from where an earlier run was left."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from mindspore import log
from mindspore.common import _groups
from mindspore.common import dtype as mstype
from mindspore.common.tensor import Tensor
from mindspore.context import ParallelMode
from mindspore.train import _position, _resume
from mindspore.train._feed import Feed
from mindspore.train._health import Health
from mindspore.train._progress import Progress
from mindspore.train._sink import Sink, steps_of_a_sink
from mindspore.train._together import Together
from mindspore.train.callback._callback import (
    RunContext,
    _CallbackManager,
    _InternalCallbackParam,
    set_cur_net,
)
from mindspore.train.callback._loss_monitor import LossMonitor
from mindspore.train.callback._values import first_value
from mindspore.train.dataset_helper import DatasetHelper


class TrainingRun:
    """The training of a Model under way.

    Args:
        model: the Model.
        epoch: the number of the last epoch.
        dataset: where the batches come from.
        callbacks: as users give them.
        sink: whether there is a sink, and its size.
        initial_epoch: how many epochs are left out at the beginning.
        valid: the dataset of evaluations, and the epochs that end with one.
    """

    def __init__(
        self,
        model: Any,
        epoch: int,
        dataset: Any,
        callbacks: Any,
        sink: tuple[bool, int],
        initial_epoch: int,
        valid: tuple[Any, Any],
    ) -> None:
        self.model, self.dataset, self.valid = model, dataset, valid
        self.valid_feed: Feed | None = None
        self.last, self.before = epoch, initial_epoch
        self.manager = _CallbackManager(callbacks)
        self.sink_mode, self.sink_size = sink
        self.feed = Feed("Model.train", dataset, counts=self.manager.need_sizes())
        model._divided_by_user = self.feed.divided_by_user
        self.together = Together(model._train_network, _groups.have_the_same())
        self.sink_steps = steps_of_a_sink(sink, self.manager, self.together.joint, dataset)
        self._left = 0  # steps that the sink under way still has
        self.together.require_sums("Model.train")
        if self.feed.counted:
            self._require_batches()
        self._look_at_rates()
        self.epoch = initial_epoch  # the one under way
        self.step = 0  # how many of its steps are done
        self.given = 0  # how many of its batches all processes together have been given
        self.samples = 0  # and how many samples
        self._cut = 0  # samples of the next batch that were given already
        self.ended = True  # whether all is done that comes behind its steps
        self.steps = 0  # done in all
        self.params = self._params()
        self.context = RunContext(self.params)
        self.context._run = self
        self._random_at_epoch: dict[str, Any] | None = None
        self.health = Health()

    @property
    def batches(self) -> int:
        """Steps of an epoch. They are counted where they have not been."""
        return self.feed.get_dataset_size()

    def _require_batches(self) -> None:
        if self.batches == 0:
            raise ValueError(
                "For 'Model.train', 'train_dataset' must have at least one batch, but it has none."
            )

    def _look_at_rates(self) -> None:
        """Says where a list of learning rates counts the batches of all processes, of which each makes its part of the steps."""
        rates = getattr(
            getattr(self.model._optimizer, "learning_rate", None), "learning_rate", None
        )
        if not self.feed.divides or not isinstance(rates, Tensor) or rates.ndim != 1:
            return
        steps = self.last * self.batches
        if _groups.world_rank() == 0 and steps < rates.size >= self.last * self.feed.whole:
            log.warning(
                f"For 'Model.train', 'train_dataset' is divided among {_groups.world_size()} processes: {self.last} epochs are {steps} "
                f"steps, but the optimizer has {rates.size} learning rates, of which the last {rates.size - steps} are never used. "
                "get_dataset_size() of a dataset counts the batches of all processes: divide it by get_group_size()."
            )

    def _params(self) -> _InternalCallbackParam:
        model = self.model
        return _InternalCallbackParam(
            cur_step_num=0,
            train_network=model._train_network,
            epoch_num=self.last - self.before,
            batch_num=self.batches if self.feed.counted else None,
            mode="train",
            loss_fn=model._loss_fn,
            optimizer=model._optimizer,
            parallel_mode=model._parallel_mode or ParallelMode.STAND_ALONE,
            device_number=model._device_number,
            train_dataset=self.dataset,
            list_callback=self.manager._callbacks,
            train_dataset_element=None,
            network=model._network,
            last_save_ckpt_step=None,
            latest_ckpt_file=None,
            loss_scale_mananger=model._loss_scale_manager,
            initial_step=None,
            dataset_sink_mode=self.sink_steps > 1,
        )

    def run(self) -> None:
        """Train to the end, or until a callback asks for it."""
        set_cur_net(self.model._train_network)
        progress: Progress | None = None
        helper: DatasetHelper | None = None
        try:
            with self.manager:
                self.manager.share_work(self.params, self.together)
                state = self.model._take_up() or self.manager.take_up(self.context)
                self.together.all_or_none(state, "the state that the training goes on from")
                if state is not None:
                    self._place(state)
                    _position.prepare(self.feed, state["data"], self._epochs_given())
                helper = DatasetHelper(
                    self.feed, self.sink_mode, self.sink_size, max(self.last - self.before, 1)
                )
                self.iterator = helper._iterator
                progress = Progress(
                    "training", self._steps_left(), self.manager.any_of(LossMonitor)
                )
                self.manager.on_train_begin(self.context)
                if state is not None:
                    self._restore(state)
                while self.epoch < self.last or not self.ended:
                    self._run_epoch(progress)
                    if self.context.get_stop_requested():
                        break
                self.manager.on_train_end(self.context)
        finally:
            self.health.close()
            if progress is not None:
                progress.close()
            if helper is not None:
                helper.release()

    def _steps_left(self) -> int | None:
        if not self.feed.counted:
            return None
        done = self.epoch - self.before - 1
        rest = self.last - self.before if done < 0 else self.last - self.epoch
        return rest * self.batches + (0 if self.ended else self.batches - self.step)

    def _run_epoch(self, progress: Progress) -> None:
        """The rest of the epoch under way, or the whole of the next."""
        resumes = not self.ended
        if not resumes:
            self.epoch, self.step, self.ended = self.epoch + 1, 0, False
            self.given = self.samples = 0
        params = self.params
        params["cur_epoch_num"] = self.epoch
        network = self.model._train_network
        network.set_train(True)
        network.phase = "train"
        self.manager.on_train_epoch_begin(self.context)
        if not resumes or self.step < self.batches:
            before = self.step
            self._run_steps(resumes, progress)
            if not self.context.get_stop_requested() and not self.context._leaving:
                self.feed.check_given(self.step, before)
                self._require_batches()
                params["batch_num"] = self.batches
        params["last_train_outputs"] = params.get("net_outputs")
        self._validate()
        self.manager.on_train_epoch_end(self.context)
        self.together.agree(self.context)
        if self.context._leaving:
            return
        # Who stops within an epoch goes on there.
        self.ended = not self.context.get_stop_requested() or self.step >= self.batches
        if self.ended:
            self.manager.epoch_done(self.context)

    def _validate(self) -> None:
        """The evaluation at the end of the epoch, if it has one."""
        dataset, epochs = self.valid
        if dataset is None or self.epoch not in epochs or self.context._leaving:
            return
        before = _resume.random_state()
        if self.valid_feed is None:
            self.valid_feed = Feed("Model.fit", dataset, counts=self.manager.need_sizes())
        self.model._eval_in_fit(self.valid_feed, self.manager, self.context, self.params)
        if self.context._leaving:  # a later run evaluates anew
            _resume.set_random_state(before)
            self.manager.leave(self.context)

    def _run_steps(self, resumes: bool, progress: Progress) -> None:
        network, context = self.model._train_network, self.context
        manager, joint = self.model._loss_scale_manager, self.together.joint
        sink = Sink(network, self._rows(resumes), manager, joint)
        told = functools.partial(self._steps_done, progress)
        for batch in self.together.rows(sink, self.feed.stand_in):
            if not self._left:
                self._begin_sink(batch)
            outputs = self.together.joint_outputs(network(*batch))
            told(1, batch, outputs)
            while self._goes_on():
                if not sink.run(batch, outputs, self._left, told):
                    break
            if not self._goes_on():
                self._end_sink()
            if context.get_stop_requested():
                break
        if self._left:  # the epoch is over
            self._end_sink()

    def _goes_on(self) -> bool:
        """Whether the sink under way has steps to make. Processes that train together end theirs at the same step."""
        if not self._left or self.context.get_stop_requested():
            return False
        return self.together.joint or not self.manager.wait_for_step_end()

    def _begin_sink(self, batch: Any) -> None:
        self._left = self.sink_steps
        self.params["cur_step_num"] = self.steps + 1
        self.params["train_dataset_element"] = batch
        self.manager.on_train_step_begin(self.context)

    def _end_sink(self) -> None:
        self._left = 0
        self.manager.on_train_step_end(self.context)
        self.together.agree(self.context)
        if self.context._leaving:
            self.manager.leave(self.context)

    def _steps_done(self, progress: Progress, steps: int, batch: Any, outputs: Any) -> None:
        """After steps, of which the last tells whether they went well."""
        self._left -= steps
        self.step, self.steps = self.step + steps, self.steps + steps
        self.given = self.feed.given_after(self.given, steps)
        self.samples += steps * int(self.together.counts.sum())
        self.params.update(
            cur_step_num=self.steps, train_dataset_element=batch, net_outputs=outputs
        )
        self.model._follow_scale(outputs, steps)
        self.health.look(self.model._train_network, outputs, self.epoch, self.step, steps)
        progress.step(self._note, steps)

    def _note(self) -> str:
        loss = first_value(self.params["net_outputs"])
        return f"epoch {self.epoch}" + ("" if loss is None else f" loss {loss:.4g}")

    def _rows(self, resumes: bool) -> Any:
        """The batches that are left of the epoch."""
        if not resumes:
            self._random_at_epoch = _resume.random_state()
            return iter(self.iterator)
        behind = _resume.random_state()
        assert self._random_at_epoch is not None
        _resume.set_random_state(self._random_at_epoch)  # users' own sources may draw from them
        rows = self.feed.rest(self.iterator, self.given, self._cut)
        _resume.set_random_state(behind)
        return rows

    # What a run is taken up from

    def _epochs_given(self) -> int:
        """How many epochs the data gave before the one that is under way, if one is."""
        return self.epoch - self.before - (1 if self._within_epoch() else 0)

    def _within_epoch(self) -> bool:
        return not self.ended and not (self.feed.counted and self.step >= self.batches)

    def state(self) -> dict[str, Any]:
        """What a later run needs to go on from here, beside the parameters."""
        manager = self.model._loss_scale_manager
        return {
            "before": self.before,
            "epoch": self.epoch,
            "step": self.given,
            "ended": self.ended,
            "steps": self.steps,
            "batches": self.feed.whole if self.feed.counted else None,
            "samples": self.samples,
            "batching": self.feed.batching,
            "data": _position.position_of(self.iterator),
            "random": _resume.random_state(),
            "random_at_epoch": self._random_at_epoch if self._within_epoch() else None,
            "loss": None if self.ended else first_value(self.params.get("net_outputs")),
            "loss_scale": None if manager is None else _resume.numbers_of(manager),
            "callbacks": [
                [type(callback).__name__, state]
                for callback in self.manager._callbacks
                if (state := callback._training_state()) is not None
            ],
            "machine": _resume.machine(),
        }

    def _place(self, state: dict[str, Any]) -> None:
        """Be where the earlier run was: before callbacks are told of the beginning."""
        self.before, self.epoch = state["before"], state["epoch"]
        self.ended = state["ended"]
        self.steps = self.params["cur_step_num"] = state["steps"]
        self.params["epoch_num"] = self.last - self.before
        place = self.feed.place_of(state)
        if place is None:
            there = state["batches"]
            if not self.ended and (there is None or state["step"] < there):
                raise ValueError(
                    f"For 'Model.train', 'train_dataset' must have {there or 'the same'} batches, as in the run that is taken up "
                    f"within an epoch, but it has {self.feed.whole}."
                )
            log.warning(
                f"The training goes on with {self.feed.whole} batches in an epoch, where it had {state['batches']}."
            )
            place = self.feed.whole, 0
        self.given, self._cut = place
        self.samples = state.get("samples", 0)
        self.step = self.batches - self.feed.steps_after(self.given)

    def _restore(self, state: dict[str, Any]) -> None:
        """What callbacks set at the beginning of a run goes back to what it was."""
        _resume.compare_machine(state["machine"])
        manager = self.model._loss_scale_manager
        if manager is not None and state["loss_scale"]:
            vars(manager).update(state["loss_scale"])
        kept: list[Sequence[Any]] = list(state["callbacks"])
        for callback in self.manager._callbacks:
            own = next((entry for entry in kept if entry[0] == type(callback).__name__), None)
            if own is not None:
                kept.remove(own)
                callback._set_training_state(own[1], self.context)
        _position.move(self.iterator, state["data"], self._epochs_given())
        _resume.set_random_state(state["random"])
        self._random_at_epoch = state["random_at_epoch"]
        if state["loss"] is not None:
            self.params["net_outputs"] = Tensor(state["loss"], mstype.float32)
