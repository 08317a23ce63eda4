"""ModelCheckpoint: saves parameters during a training, as CheckpointConfig says."""

from __future__ import annotations

import os
import re
import time
from types import TracebackType
from typing import Any

from mindspore import log, nn
from mindspore.common import _planning
from mindspore.common.tensor import Tensor
from mindspore.train import _encryption, _manifest, _resume
from mindspore.train._async_save import writer
from mindspore.train._utils import _make_directory
from mindspore.train.callback._callback import Callback, RunContext
from mindspore.train.callback._values import check_int, step_in_epoch
from mindspore.train.serialization import save_checkpoint, save_slices, share_states

_cur_dir = os.getcwd()


def _check_file_name_prefix(file_name_prefix: Any) -> bool:
    """Whether a prefix makes valid file names."""
    return isinstance(file_name_prefix, str) and not set(file_name_prefix) & {"/", "\0"}


def _chg_ckpt_file_name_if_same_exist(directory: str, prefix: str, exception: bool = False) -> str:
    """The prefix, with _1, _2, ... added when files of an earlier run have it."""
    suffix = "_breakpoint" if exception else ""
    pattern = re.compile(
        re.escape(prefix) + r"(?:_(\d+))?-\d+_\d+" + suffix + r"\.(?:ckpt|safetensors|slices)"
    )
    taken = [pattern.fullmatch(name) for name in os.listdir(directory)]
    numbers = [int(match.group(1) or 0) for match in taken if match]
    return f"{prefix}_{max(numbers) + 1}" if numbers else prefix


class CheckpointConfig:
    """When to save, how many files to keep, and what to write.

    Args:
        save_checkpoint_steps: Save every so many steps.
        save_checkpoint_seconds: Save every so many seconds; only where steps are not set.
        keep_checkpoint_max: Keep the newest files.
        keep_checkpoint_per_n_minutes: Keep one file for each time span; only where max is not set.
        integrated_save: False, in several processes that have the same: each writes its rows of the parameters, into one folder
            `<prefix>-<epoch>_<step>.slices`, which Model.resume takes with any number of processes.
        async_save, enc_key, enc_mode, crc_check, remove_redundancy, format: as for
            save_checkpoint.
        saved_network: The network to save, if it is not the trained one.
        append_info: "epoch_num", "step_num" or dicts of further values to save.
        exception_save: Save as well when the training ends by an exception.
    """

    def __init__(
        self,
        save_checkpoint_steps: int | None = 1,
        save_checkpoint_seconds: int | None = 0,
        keep_checkpoint_max: int | None = 5,
        keep_checkpoint_per_n_minutes: int | None = 0,
        integrated_save: bool = True,
        async_save: bool | str = False,
        saved_network: Any = None,
        append_info: list[Any] | None = None,
        enc_key: Any = None,
        enc_mode: str = "AES-GCM",
        exception_save: bool = False,
        crc_check: bool = False,
        remove_redundancy: bool = False,
        format: str = "ckpt",
        **kwargs: Any,
    ) -> None:
        op = "CheckpointConfig"
        limits = {
            "save_checkpoint_steps": save_checkpoint_steps,
            "save_checkpoint_seconds": save_checkpoint_seconds,
            "keep_checkpoint_max": keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": keep_checkpoint_per_n_minutes,
        }
        for name, value in limits.items():
            if value is not None:
                check_int(op, name, value, 0)
        if not any(limits.values()):
            raise ValueError(f"For '{op}', one of {', '.join(limits)} must be positive.")
        if saved_network is not None and not isinstance(saved_network, nn.Cell):
            raise TypeError(
                f"For '{op}', 'saved_network' must be a Cell, but got "
                f"{type(saved_network).__name__}."
            )
        _encryption.check_key(op, "enc", enc_key, enc_mode, format)
        for name, flag in (("integrated_save", integrated_save), ("exception_save", exception_save),
                           ("crc_check", crc_check)):  # fmt: skip
            if not isinstance(flag, bool):
                raise TypeError(f"For '{op}', '{name}' must be a bool, but got {flag!r}.")
        self.save_checkpoint_steps = save_checkpoint_steps or None
        self.save_checkpoint_seconds = (
            None if self.save_checkpoint_steps else save_checkpoint_seconds or None
        )
        self.keep_checkpoint_max = keep_checkpoint_max or None
        self.keep_checkpoint_per_n_minutes = (
            None if self.keep_checkpoint_max else keep_checkpoint_per_n_minutes or None
        )
        self.integrated_save = integrated_save
        self.async_save = async_save
        self.saved_network = saved_network
        self.append_dict = self._append_dict(append_info) or None
        self.exception_save = exception_save
        self.crc_check = crc_check
        if not isinstance(remove_redundancy, bool):
            raise ValueError(
                f"For '{op}', 'remove_redundancy' must be a bool, but got {remove_redundancy!r}."
            )
        self.remove_redundancy = remove_redundancy
        self.format = format
        self.enc_key, self.enc_mode = enc_key, enc_mode

    @staticmethod
    def _append_dict(append_info: Any) -> dict[str, Any]:
        """Names to their values; epoch_num and step_num get theirs at each save."""
        op = "CheckpointConfig"
        result: dict[str, Any] = {}
        if append_info is not None and not isinstance(append_info, list):
            raise TypeError(
                f"For '{op}', 'append_info' must be a list, but got {type(append_info).__name__}."
            )
        for item in append_info or []:
            if isinstance(item, dict):
                result.update(item)
            elif item in ("epoch_num", "step_num"):
                result[item] = 0
            else:
                raise ValueError(
                    f"For '{op}', 'append_info' must hold 'epoch_num', 'step_num' or dicts, but "
                    f"got {item!r}."
                )
        for name, value in result.items():
            if not isinstance(name, str) or not isinstance(value, (int, float, bool, str, Tensor)):
                raise TypeError(
                    f"For '{op}', 'append_info' must map str to numbers, texts or Tensors, but "
                    f"got {name!r}: {value!r}."
                )
        return result

    def get_checkpoint_policy(self) -> dict[str, Any]:
        """The settings that decide when to save and what to keep."""
        return {
            "save_checkpoint_steps": self.save_checkpoint_steps,
            "save_checkpoint_seconds": self.save_checkpoint_seconds,
            "keep_checkpoint_max": self.keep_checkpoint_max,
            "keep_checkpoint_per_n_minutes": self.keep_checkpoint_per_n_minutes,
            "saved_network": self.saved_network,
        }


class CheckpointManager:
    """The files that one ModelCheckpoint wrote, oldest first."""

    def __init__(self) -> None:
        self._files: list[tuple[str, float]] = []
        self._span_start = float("-inf")

    @property
    def ckpoint_filelist(self) -> list[str]:
        """Paths of the files."""
        return [path for path, _ in self._files]

    @property
    def ckpoint_num(self) -> int:
        """How many there are."""
        return len(self._files)

    def added(self, path: str, config: CheckpointConfig) -> None:
        """Note a new file, which is whole by now, then remove those that need not be kept."""
        self._files = [entry for entry in self._files if entry[0] != path]
        self._files.append((path, time.monotonic()))
        if config.keep_checkpoint_max is not None:
            while len(self._files) > config.keep_checkpoint_max:
                self._remove(0)
        elif config.keep_checkpoint_per_n_minutes is not None:
            self._thin_out(60.0 * config.keep_checkpoint_per_n_minutes)

    def _thin_out(self, span: float) -> None:
        """Keep one file of each span of seconds: its newest."""
        now = self._files[-1][1]
        if now - self._span_start >= span:
            self._span_start = now
        elif len(self._files) > 1 and self._files[-2][1] >= self._span_start:
            self._remove(len(self._files) - 2)

    def _remove(self, index: int) -> None:
        path, _ = self._files.pop(index)
        try:
            (_manifest.remove if path.endswith(_manifest.SUFFIX) else os.remove)(path)
        except FileNotFoundError:
            log.info(f"The checkpoint '{path}' was removed by someone else.")
        except OSError as error:
            log.warning(f"The old checkpoint '{path}' cannot be removed: {error}")


_CheckpointManager = CheckpointManager


class ModelCheckpoint(Callback):
    """Saves to <directory>/<prefix>-<epoch>_<step>.ckpt during a training, and at its end."""

    _needs_size = False

    def __init__(
        self, prefix: Any = "CKP", directory: Any = None, config: CheckpointConfig | None = None
    ) -> None:
        op = "ModelCheckpoint"
        super().__init__()
        if not callable(prefix) and not _check_file_name_prefix(prefix):
            raise ValueError(
                f"For '{op}', 'prefix' must be a str without '/' and NUL or a function, but got {prefix!r}."
            )
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(
                f"For '{op}', 'config' must be a CheckpointConfig, but got {type(config).__name__}."
            )
        if directory is not None and not callable(directory):
            directory = _make_directory(directory, "directory", op)
        self._prefix = prefix
        self._given_directory = directory
        self._directory = ""
        self._config = config or CheckpointConfig()
        self._manager = CheckpointManager()
        self._latest_ckpt_file_name = ""
        self._run_context: RunContext | None = None

    @property
    def latest_ckpt_file_name(self) -> str:
        """Path of the newest file; "" before the first."""
        return self._latest_ckpt_file_name

    def _writes_to(self, params: Any) -> str:
        return self._folder(params)

    def _folder(self, params: Any) -> str:
        given = self._given_directory
        folder = given(params) if callable(given) else os.getcwd() if given is None else given
        return _make_directory(folder, "directory", "ModelCheckpoint")

    # By the older names, which programs with a loop of their own call, and subclasses override.
    def begin(self, run_context: RunContext) -> None:
        """Find the folder and the name for this run."""
        params: Any = run_context.original_args()
        self._run_context = run_context
        self._directory = self._folder(params)
        base = self._prefix(params) if callable(self._prefix) else self._prefix
        if not _check_file_name_prefix(base):
            raise ValueError(
                f"For 'ModelCheckpoint', 'prefix' must give a str without '/' and NUL, but got {base!r}."
            )
        self._exception_prefix = _chg_ckpt_file_name_if_same_exist(self._directory, base, True)
        self._run_prefix = _chg_ckpt_file_name_if_same_exist(self._directory, base)
        self._last_time = time.monotonic()
        self._last_step = int(params.get("cur_step_num") or 0)
        self._last_triggered_step = 0

    def step_end(self, run_context: RunContext) -> None:
        """Save when it is time."""
        params: Any = run_context.original_args()
        if self._run_context is None:  # a loop that does not say when it begins: with this step
            self.begin(run_context)
            self._last_step = max(int(params.get("cur_step_num") or 0) - 1, 0)
        if self._is_time(params):
            self._save_ckpt(params)

    def end(self, run_context: RunContext) -> None:
        """Save the end of the training, where it had a step: one that was at its end already has none."""
        if self._run_context is None:
            self.begin(run_context)
        params = run_context.original_args()
        if "cur_epoch_num" in params:
            self._save_ckpt(params)

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Nothing is saved in evaluations."""

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Nothing is saved in evaluations."""

    def on_eval_end(self, run_context: RunContext) -> None:
        """Nothing is saved in evaluations."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self._config.exception_save and self._run_context is not None:
            params = self._run_context.original_args()
            if params.get("cur_step_num"):
                self._write(params, self._exception_prefix, "_breakpoint")
        self._run_context = None

    def _is_time(self, params: Any) -> bool:
        config = self._config
        if config.save_checkpoint_steps:
            return params.cur_step_num - self._last_step >= config.save_checkpoint_steps
        if config.save_checkpoint_seconds:
            return time.monotonic() - self._last_time >= config.save_checkpoint_seconds
        return False

    def _save_ckpt(self, params: Any) -> None:
        step = params.cur_step_num
        if step == self._last_triggered_step or step == 0:
            return
        self._last_triggered_step = self._last_step = step
        self._last_time = time.monotonic()
        path = self._write(params, self._run_prefix, "")
        if self._acts():
            # Old files go when the new one is there, which is later where it is written in the background.
            writer.when_written(lambda: self._manager.added(path, self._config))
        self._latest_ckpt_file_name = path
        params["last_save_ckpt_step"] = step
        params["latest_ckpt_file"] = path

    def _writes_slices(self) -> bool:
        """Whether all processes write together, each its part; they must all do so after the same steps."""
        config = self._config
        alike = self._with_all and bool(config.save_checkpoint_steps) and config.enc_key is None
        return alike and not config.integrated_save

    def _write(self, params: Any, prefix: str, suffix: str) -> str:
        config = self._config
        step = step_in_epoch(self._run_context)
        name = f"{prefix}-{params.cur_epoch_num}_{step}{suffix}.{config.format}"
        path = os.path.join(self._directory, name)
        slices = self._writes_slices() and not suffix
        if slices:
            path = (
                os.path.join(self._directory, name.removesuffix("." + config.format))
                + _manifest.SUFFIX
            )
        saved: Any = config.saved_network or params.train_network
        if not slices and _planning.any_sliced(saved):
            if suffix:
                return path  # the others do not come to gather it
            saved = _planning.whole_entries(saved)  # all processes do so together
        if not slices and not self._acts():  # another process writes it
            share_states(config.saved_network or params.train_network)
            return path
        append = dict(config.append_dict or {})
        if "epoch_num" in append:
            append["epoch_num"] = params.cur_epoch_num
        if "step_num" in append:
            append["step_num"] = params.cur_step_num
        network = saved
        if (
            config.saved_network is None
            and self._run_context is not None
            and self._run_context._run is not None
        ):
            append[_resume.NAME] = _resume.packed(self._run_context._run.state())
        if slices:
            save_slices(network, path, append)
            return path
        save_checkpoint(
            network, path, config.integrated_save, config.async_save, append, config.enc_key, config.enc_mode,
            crc_check=config.crc_check, format=config.format,
        )  # fmt: skip
        return path
