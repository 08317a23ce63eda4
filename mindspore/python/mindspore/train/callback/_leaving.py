"""Callbacks for trainings that end early: what was learnt is kept, and a process that is told to end ends after its step."""

from __future__ import annotations

import inspect
import json
import os
import signal
import threading
from collections.abc import Callable
from types import FrameType
from typing import Any

from mindspore import log
from mindspore.common import _groups
from mindspore.common._checked import check_value
from mindspore.train import _resume, serialization
from mindspore.train._export import export
from mindspore.train.callback._callback import Callback, RunContext


def _export_inference(network: Any, batch: Any, path: str) -> None:
    """A network as it infers, which takes the first columns of a batch; it goes on in the mode that it has."""
    names = inspect.signature(network.construct).parameters.values()
    wanted = sum(p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD for p in names)
    modes = [(cell, cell.training) for _, cell in network.cells_and_names()]
    network.set_train(False)
    try:
        export(network, *batch[: wanted or None], file_name=path, file_format="MINDIR")
    finally:
        for cell, training in modes:
            cell.add_flags(training=training)


class BackupAndRestore(Callback):
    """Saves a training while it runs; started again, it goes on from there, and computes what it would have without a stop.

    With the parameters go the state of the optimizer, of all random numbers, of the callbacks that ship, and the place in the
    data. Where OnRequestExit ends the training, it is saved within its epoch.

    Args:
        backup_dir: the folder of the file `backup.ckpt`.
        save_freq: 'epoch', or after how many epochs it is saved.
        delete_checkpoint: whether the file goes when the training has come to its end. If it stays, the next training begins
            with its parameters, at the first epoch.
    """

    _needs_size = False

    def __init__(
        self, backup_dir: str, save_freq: str | int = "epoch", delete_checkpoint: bool = True
    ) -> None:
        super().__init__()
        check_value(str, backup_dir, "backup_dir", "BackupAndRestore")
        check_value(bool, delete_checkpoint, "delete_checkpoint", "BackupAndRestore")
        if save_freq != "epoch" and (type(save_freq) is not int or save_freq < 1):
            raise ValueError(
                f"For 'BackupAndRestore', 'save_freq' must be 'epoch' or a positive int, but got {save_freq!r}."
            )
        self.save_freq = 1 if save_freq == "epoch" else int(save_freq)
        self.delete_checkpoint = delete_checkpoint
        self.backup_file = os.path.join(backup_dir, "backup.ckpt")

    def _writes_to(self, params: Any) -> str:
        return os.path.abspath(self.backup_file)

    def _take_up_training(self, run_context: RunContext) -> dict[str, Any] | None:
        if not os.path.exists(self.backup_file):
            return None
        values, state = serialization.load_training(self.backup_file)
        serialization.load_param_into_net(run_context.original_args().train_network, values)
        return None if state is None or state["finished"] else state

    def _save(self, run_context: RunContext, finished: bool = False) -> None:
        if not self._acts():
            return
        network = run_context.original_args().train_network
        state = {**run_context._run.state(), "finished": finished}
        os.makedirs(os.path.dirname(self.backup_file) or ".", exist_ok=True)
        serialization.save_checkpoint(
            network, self.backup_file, append_dict={_resume.NAME: _resume.packed(state)}
        )

    def _training_epoch_done(self, run_context: RunContext) -> None:
        if run_context.original_args().cur_epoch_num % self.save_freq == 0:
            self._save(run_context)

    def _leave_training(self, run_context: RunContext) -> None:
        self._save(run_context)

    def on_train_end(self, run_context: RunContext) -> None:
        """Removes the file, if it is not to stay and the training has come to its end."""
        if run_context._leaving:
            return
        if not self.delete_checkpoint:
            self._save(run_context, finished=True)
        elif self._acts() and os.path.exists(self.backup_file):
            os.remove(self.backup_file)


class OnRequestExit(Callback):
    """Ends a training or evaluation after its step when the process is told to end, and keeps what was learnt.

    It is told by a signal, or by `{"GracefulExit": 1}` in a file. Told by a signal, a training leaves out what can wait (an
    evaluation at the end of the epoch), all callbacks are left, and then comes what the signal is for: a handler of the program
    that was there before is called; without one the program ends by SystemExit, with 128 and the number of the signal as its
    exit status (143 for SIGTERM), so that `finally` blocks run. Signals reach the main thread only: in another thread the file
    alone tells it.

    Args:
        save_ckpt: whether a checkpoint is saved, as `<file_name>_train.ckpt`.
        save_mindir: whether the network is saved as a graph, too, as `<file_name>_train.mindir`: as it infers, for inputs of the
            sizes of the last batch. One that no such file can have is left out with a warning that says why.
        file_name: what the name of the file begins with.
        directory: where it goes, into a folder `rank_0`, or of another process with its rank.
        config_file: the path of a JSON file.
        sig: the signal.
    """

    _needs_size = False

    def __init__(
        self,
        save_ckpt: bool = True,
        save_mindir: bool = True,
        file_name: str = "Net",
        directory: str = "./",
        config_file: str | None = None,
        sig: int = signal.SIGTERM,
    ) -> None:
        super().__init__()
        check_value(bool, save_ckpt, "save_ckpt", "OnRequestExit")
        check_value(bool, save_mindir, "save_mindir", "OnRequestExit")
        check_value(str, file_name, "file_name", "OnRequestExit")
        check_value(str, directory, "directory", "OnRequestExit")
        check_value(int, sig, "sig", "OnRequestExit")
        self.save_ckpt, self.save_mindir = save_ckpt, save_mindir
        self.stem = os.path.join(directory, f"rank_{_groups.world_rank()}", file_name)
        self.config_file, self.sig = config_file, sig
        self._told: tuple[int, FrameType | None] | None = None
        self._before: Any = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._told = (number, frame)

    def _hear_of_leaving(self) -> None:
        self._told = self._told or (int(self.sig), None)

    def _waits_for_step_end(self) -> bool:
        return self._asked()

    def _asked(self) -> bool:
        if self._told is not None:
            return True
        if self.config_file is None or not os.path.exists(self.config_file):
            return False
        try:
            with open(self.config_file, encoding="utf-8") as file:
                asked = json.load(file)
        except ValueError:  # somebody is writing it: the next step reads it whole
            return False
        return isinstance(asked, dict) and asked.get("GracefulExit") == 1

    def _start(self) -> None:
        self._told = None
        if threading.current_thread() is not threading.main_thread():
            log.warn_once(
                "OnRequestExit.thread",
                "OnRequestExit: signals reach the main thread only, and this is another one.",
            )
            return
        self._before = signal.signal(self.sig, self._note)

    def _step(self, run_context: RunContext, save: Callable[[Any], None] | None) -> None:
        if not self._asked():
            return
        if save is not None:
            save(run_context.original_args())
        run_context._leaving = True
        run_context.request_stop()

    def _save(self, run: Any) -> None:
        if self.save_ckpt:
            os.makedirs(os.path.dirname(self.stem), exist_ok=True)
            serialization.save_checkpoint(run.train_network, f"{self.stem}_train.ckpt")
        if self.save_mindir and run.train_dataset_element is not None:
            os.makedirs(os.path.dirname(self.stem), exist_ok=True)
            try:
                _export_inference(run.network, run.train_dataset_element, f"{self.stem}_train")
            except (TypeError, ValueError) as error:  # the weights must not be lost for the graph
                log.warning("OnRequestExit: the network is not saved as a graph. %s", error)

    def on_train_begin(self, run_context: RunContext) -> None:
        """Listens to the signal from here on."""
        self._start()

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Saves and stops, if told so."""
        self._step(run_context, self._save)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Listens to the signal from here on."""
        if run_context._run is None:  # else it does already
            self._start()

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Stops, if told so; what a training learnt before is saved."""
        self._step(run_context, None if run_context._run is None else self._save)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        told, before = self._told, self._before
        self._told = self._before = None
        if before is None:
            return
        signal.signal(self.sig, before)
        if told is None or error is not None:
            return
        if callable(before):
            before(*told)
        elif before is signal.SIG_DFL:
            raise SystemExit(128 + told[0])
