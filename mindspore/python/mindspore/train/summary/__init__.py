"""SummaryRecord: numbers, tensors, distributions and images of a training, written to a file for viewers."""

from __future__ import annotations

import time
from pathlib import Path
from types import TracebackType
from typing import Any

from mindspore import _core, _paths
from mindspore._core import Tensor
from mindspore.common import _recorded
from mindspore.common._checked import check_value
from mindspore.train.summary import _events, _wire
from mindspore.train.summary._record_file import RecordFile, fresh_path

_KINDS = ("scalar", "tensor", "histogram", "image")


def _head() -> bytes:
    return _wire.record(_events.version(time.time()))


class SummaryRecord:
    """Writes what `ops.ScalarSummary` and its kin recorded last in a network, a loss or an optimizer, and what `add_value` gets, at
    each `record`. TensorBoard reads the files (tensors excepted), and so does MindSpore's own reader.

    Args:
        log_dir: the folder of the file.
        file_prefix: what the file's name begins with.
        file_suffix: what it ends with.
        num_process: accepted; one process writes.
        network: accepted.
        max_file_size: bytes that the file does not exceed: records that would exceed them are left out, with a warning.
        raise_exception: whether errors of writing are raised. Else the first one in a row is logged, records are left out until
            writing succeeds again, and `close` says how many are missing.
        export_options: `{"tensor_format": "npy"}` writes tensors as .npy files too.

    Examples:
        >>> with SummaryRecord("./summary") as record:
        ...     record.add_value("scalar", "loss", loss)
        ...     record.record(step)
    """

    def __init__(
        self,
        log_dir: Any,
        file_prefix: str = "events",
        file_suffix: str = "_MS",
        num_process: int = 32,
        network: Any = None,
        max_file_size: int | None = None,
        raise_exception: bool = False,
        export_options: dict | None = None,
    ):
        del num_process, network
        folder = Path(_paths.checked("SummaryRecord", "log_dir", log_dir)).expanduser().resolve()
        for name, text in (("file_prefix", file_prefix), ("file_suffix", file_suffix)):
            check_value(str, text, name, "SummaryRecord")
            if "/" in text:
                raise ValueError(
                    f"For 'SummaryRecord', '{name}' must be without '/', but got {text!r}."
                )
        check_value(bool, raise_exception, "raise_exception", "SummaryRecord")
        if max_file_size is not None:
            check_value(int, max_file_size, "max_file_size", "SummaryRecord")
        formats = (export_options or {}).get("tensor_format")
        if formats not in (None, "npy") or set(export_options or {}) - {"tensor_format"}:
            raise ValueError(
                f"For 'SummaryRecord', 'export_options' must be None or {{'tensor_format': 'npy'}}, but got {export_options}."
            )
        folder.mkdir(parents=True, exist_ok=True)
        self._npy = folder / "export_npy" if formats else None
        self._path = fresh_path(folder, f"{file_prefix}.out.tfevents", file_suffix)
        self._mode = "train"
        self._file = RecordFile(self._path, max_file_size, raise_exception, _head)
        self._given: list[tuple[str, str, Any]] = []
        # What summary ops told last, and what compiled code had recorded by then.
        self._seen: dict[tuple[str, str], tuple[int, Any]] = {}
        self._start = _recorded.now()  # what compiled code recorded later is for the next `record`
        self._listening = True
        self._closed = False
        _recorded.listen(self._listen)

    @property
    def full_file_name(self) -> str:
        """The path of the file."""
        return str(self._path)

    @property
    def log_dir(self) -> str:
        """The folder of the file."""
        return str(self._path.parent)

    def _listen(self, kind: str, name: str, value: Tensor) -> None:
        if self._listening:
            self._seen[kind, name] = _recorded.now(), _core.io.snapshot(value)

    def _listen_if(self, wanted: bool) -> None:
        """Whether what summary ops record from here on is for the next `record`."""
        if wanted and not self._listening:
            self._start = _recorded.now()
        self._listening = wanted

    def _take(self) -> list[tuple[str, str, Any]]:
        """What summary ops recorded since the last time: kind, name, value."""
        seen, start = self._seen, self._start
        self._seen, self._start = {}, _recorded.now()
        if self._listening:
            for kind, name, when, value in _recorded.since(start):
                if when > seen.get((kind, name), (0,))[0]:
                    seen[kind, name] = when, value
        return [(kind, f"{name}/{kind}", v.asnumpy()) for (kind, name), (_, v) in seen.items()]

    def set_mode(self, mode: str) -> None:
        """Whether a training ("train") or an evaluation ("eval") is recorded."""
        if mode not in ("train", "eval"):
            raise ValueError(
                f"For 'SummaryRecord.set_mode', 'mode' must be 'train' or 'eval', but got {mode!r}."
            )
        self._mode = mode

    def add_value(self, plugin: str, name: str, value: Any) -> None:
        """A value for the next `record`: "scalar", "tensor", "histogram" or "image"."""
        if plugin not in _KINDS:
            raise ValueError(
                f"For 'SummaryRecord.add_value', 'plugin' must be one of {list(_KINDS)}, but got {plugin!r}."
            )
        if not isinstance(name, str) or not name:
            raise ValueError(
                f"For 'SummaryRecord.add_value', 'name' must be a non-empty str, but got {name!r}."
            )
        if not isinstance(value, Tensor):
            raise TypeError(
                f"For 'SummaryRecord.add_value', 'value' must be a Tensor, but got {type(value).__name__}."
            )
        fits = {"scalar": value.size == 1, "image": value.ndim == 4 and value.shape[1] in (1, 3, 4)}
        if not fits.get(plugin, value.ndim > 0):
            raise ValueError(
                f"For 'SummaryRecord.add_value', 'value' must have a shape for the kind '{plugin}', but got "
                f"{tuple(value.shape)}."
            )
        self._add(plugin, name, value.asnumpy().copy())

    def _add(self, kind: str, name: str, value: Any) -> None:
        """A value of any kind that events have."""
        self._given.append((kind, name, value))

    def record(self, step: int, train_network: Any = None, plugin_filter: Any = None) -> bool:
        """Writes what was recorded since the last time, as of a step.

        Args:
            step: the number of the step.
            train_network: accepted.
            plugin_filter: says of a kind of values whether it is written.
        """
        del train_network
        if isinstance(step, bool) or not isinstance(step, int):
            raise TypeError(
                f"For 'SummaryRecord.record', 'step' must be an int, but got {type(step).__name__}."
            )
        if self._closed:
            raise RuntimeError(
                "For 'SummaryRecord.record', the record must be open, but it was closed."
            )
        values = self._given + self._take()
        values = [v for v in values if plugin_filter is None or plugin_filter(v[0])]
        self._given = []
        return not values or self._file.attempt(lambda: self._write(step, values))

    def _write(self, step: int, values: list) -> bool:
        if not self._file.append(_wire.record(_events.event(time.time(), step, values))):
            return False
        if self._npy is not None:
            self._export(step, values)
        return True

    def _export(self, step: int, values: list) -> None:
        import numpy as np

        assert self._npy is not None
        (self._npy / "tensor").mkdir(parents=True, exist_ok=True)
        for kind, name, value in values:
            if kind == "tensor":
                path = self._npy / "tensor" / f"{name.replace('/', '_')}_{step}.npy"
                with _core.io.Writer(path) as file:
                    np.save(file, value)
                    file.commit()

    def flush(self) -> None:
        """Gives what is written to the system, which `record` does at once."""

    def close(self) -> None:
        """Ends the record."""
        if not self._closed:
            self._closed = True
            _recorded.leave(self._listen)
            self._file.close()

    def __enter__(self) -> SummaryRecord:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


__all__ = ["SummaryRecord"]
