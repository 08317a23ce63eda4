"""Callbacks for trainings that end early: what was learnt is kept, and a process that is told to end ends after its step."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from types import FrameType
from typing import Any

from mindspore import log
from mindspore.train import serialization
from mindspore.train.callback._callback import Callback, RunContext


def _require(op: str, kinds: dict[str, tuple[Any, type]]) -> None:
    for name, (value, kind) in kinds.items():
        if not isinstance(value, kind):
            raise ValueError(
                f"For '{op}', '{name}' must be a {kind.__name__}, but got {type(value).__name__}."
            )


class BackupAndRestore(Callback):
    """Saves what is trained while it is trained; a training that starts again goes on from there.

    Args:
        backup_dir: the folder of the file `backup.ckpt`.
        save_freq: 'epoch', or after how many epochs it is saved.
        delete_checkpoint: whether the file goes when the training has come to its end.
    """

    def __init__(
        self, backup_dir: str, save_freq: str | int = "epoch", delete_checkpoint: bool = True
    ) -> None:
        super().__init__()
        _require(
            "BackupAndRestore",
            {"backup_dir": (backup_dir, str), "delete_checkpoint": (delete_checkpoint, bool)},
        )
        if save_freq != "epoch" and (type(save_freq) is not int or save_freq < 1):
            raise ValueError(
                f"For 'BackupAndRestore', 'save_freq' must be 'epoch' or a positive int, but got {save_freq!r}."
            )
        self.save_freq = 1 if save_freq == "epoch" else int(save_freq)
        self.delete_checkpoint = delete_checkpoint
        self.backup_file = os.path.join(backup_dir, "backup.ckpt")

    def on_train_begin(self, run_context: RunContext) -> None:
        """Takes up what an earlier training left."""
        if os.path.exists(self.backup_file):
            network = run_context.original_args().train_network
            serialization.load_param_into_net(
                network, serialization.load_checkpoint(self.backup_file)
            )

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Saves the parameters."""
        run = run_context.original_args()
        if run.cur_epoch_num % self.save_freq == 0:
            os.makedirs(os.path.dirname(self.backup_file) or ".", exist_ok=True)
            serialization.save_checkpoint(run.train_network, self.backup_file)

    def on_train_end(self, run_context: RunContext) -> None:
        """Removes the file, if it is not to stay."""
        if self.delete_checkpoint and os.path.exists(self.backup_file):
            os.remove(self.backup_file)


class OnRequestExit(Callback):
    """Ends a training or evaluation after its step when the process is told to end, and keeps what was learnt.

    It is told by a signal, or by `{"GracefulExit": 1}` in a file.

    Args:
        save_ckpt: whether a checkpoint is saved.
        save_mindir: accepted; a warning says that graphs are not saved.
        file_name: the name of the file, without what follows the dot.
        directory: where it goes, into a folder `rank_0`.
        config_file: the path of a JSON file.
        sig: the signal.
    """

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
        _require(
            "OnRequestExit",
            {
                "save_ckpt": (save_ckpt, bool),
                "save_mindir": (save_mindir, bool),
                "file_name": (file_name, str),
                "directory": (directory, str),
                "sig": (sig, int),
            },
        )
        self.save_ckpt, self.save_mindir = save_ckpt, save_mindir
        self.stem = os.path.join(directory, "rank_0", file_name)
        self.config_file, self.sig = config_file, sig
        self._told = False
        self._before: Any = None

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._told = True

    def _asked(self) -> bool:
        if self._told or self.config_file is None or not os.path.exists(self.config_file):
            return self._told
        with open(self.config_file, encoding="utf-8") as file:
            return json.load(file).get("GracefulExit") == 1

    def _start(self) -> None:
        self._told = False
        self._before = signal.signal(self.sig, self._note)

    def _end(self) -> None:
        if self._before is not None:
            signal.signal(self.sig, self._before)
            self._before = None

    def _step(self, run_context: RunContext, save: Callable[[Any], None] | None) -> None:
        if self._asked():
            if save is not None:
                save(run_context.original_args())
            run_context.request_stop()

    def _save(self, run: Any) -> None:
        os.makedirs(os.path.dirname(self.stem), exist_ok=True)
        if self.save_ckpt:
            serialization.save_checkpoint(run.train_network, f"{self.stem}.ckpt")
        if self.save_mindir:
            log.warn_once(
                "OnRequestExit", "OnRequestExit: graphs are not saved to files, only the weights."
            )

    def on_train_begin(self, run_context: RunContext) -> None:
        """Listens to the signal from here on."""
        self._start()

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Saves and stops, if told so."""
        self._step(run_context, self._save)

    def on_train_end(self, run_context: RunContext) -> None:
        """Listens no more."""
        self._end()

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Listens to the signal from here on."""
        self._start()

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Stops, if told so."""
        self._step(run_context, None)

    def on_eval_end(self, run_context: RunContext) -> None:
        """Listens no more."""
        self._end()
