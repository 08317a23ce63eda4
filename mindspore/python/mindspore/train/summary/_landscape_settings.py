"""What is kept of a training so that the landscape of its losses can be drawn later: checkpoints at the asked steps or epochs, and a
file that says which."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from mindspore import _core
from mindspore.common._checked import check_value

_FOLDER, _LIST = "ckpt_dir", "train_metadata.json"
_LEAST = (
    3  # numbers of an interval: two of the weights that a plane lies through, and where they end
)
_SIZES = (3, 256)


@dataclass(frozen=True)
class Settings:
    """How a landscape is drawn. See SummaryCollector."""

    landscape_size: int = 40
    unit: str = "step"
    create_landscape: dict[str, bool] = field(
        default_factory=lambda: {"train": True, "result": True}
    )
    num_samples: int = 2048
    intervals: list[list[int]] = field(default_factory=list)

    def changed(self, op: str, given: dict[str, Any] | None) -> Settings:
        """These with those that a user gives."""
        given = check_value(dict, {} if given is None else given, "collect_landscape", op)
        known = [f.name for f in fields(self)]
        if unknown := sorted(set(given) - set(known), key=str):
            raise ValueError(
                f"For '{op}', 'collect_landscape' must have keys of {known}, but got {unknown}."
            )
        both = replace(self, **given)
        which = check_value(dict, both.create_landscape, "create_landscape", op)
        if unknown := sorted(set(which) - {"train", "result"}, key=str):
            raise ValueError(
                f"For '{op}', 'create_landscape' must have keys of ['train', 'result'], but got {unknown}."
            )
        for name, wanted in which.items():
            check_value(bool, wanted, f"create_landscape[{name!r}]", op)
        both = replace(both, create_landscape={"train": True, "result": True, **which})
        both._check(op)
        return both

    def _check(self, op: str) -> None:
        low, high = _SIZES
        size = check_value(int, self.landscape_size, "landscape_size", op)
        if not low <= size <= high:
            raise ValueError(
                f"For '{op}', 'landscape_size' must be from {low} to {high}, but got {size}."
            )
        if check_value(int, self.num_samples, "num_samples", op) < 1:
            raise ValueError(
                f"For '{op}', 'num_samples' must be at least 1, but got {self.num_samples}."
            )
        if self.unit not in ("step", "epoch"):
            raise ValueError(
                f"For '{op}', 'unit' must be 'step' or 'epoch', but got {self.unit!r}."
            )
        for interval in check_value(list, self.intervals, "intervals", op):
            numbers = check_value(list, interval, "each of intervals", op)
            for number in numbers:
                if type(number) is not int:  # a file of JSON holds no other integers
                    raise TypeError(
                        f"For '{op}', each number of 'intervals' must be an int, but got {type(number).__name__}."
                    )
            if len(set(numbers)) < _LEAST or min(numbers) < 1:
                raise ValueError(
                    f"For '{op}', each of 'intervals' must have at least {_LEAST} different numbers from 1 on, but got {numbers}."
                )
        if not any(self.create_landscape.values()):
            raise ValueError(
                f"For '{op}', 'create_landscape' must ask for one at least, but got {self.create_landscape}."
            )
        if not self.intervals:
            raise ValueError(
                f"For '{op}', 'intervals' must be a list of lists of the {self.unit}s to be kept, but got []."
            )


class Keeper:
    """Saves the weights of a training where the settings ask for it."""

    def __init__(self, folder: str, settings: Settings) -> None:
        self._folder, self.settings = Path(folder) / _FOLDER, settings
        self._wanted = {number for interval in settings.intervals for number in interval}
        self._kept: dict[int, str] = {}

    def ended(self, unit: str, number: int, params: Any) -> None:
        """Called behind each step and each epoch."""
        if unit != self.settings.unit or number not in self._wanted:
            return
        from mindspore.train.serialization import save_checkpoint

        self._folder.mkdir(parents=True, exist_ok=True)
        network = params.network
        path = self._folder / f"{type(network).__name__}_{number}_{unit}.ckpt"
        save_checkpoint(network, str(path))
        self._kept[number] = str(path)
        self._write(params.batch_num)

    def _write(self, steps: int) -> None:
        s = self.settings
        said = {
            "epoch_group": {str(i): numbers for i, numbers in enumerate(s.intervals)},
            "model_params_file_map": {str(number): path for number, path in self._kept.items()},
            "step_per_epoch": steps,
            **{name: asdict(s)[name] for name in ("unit", "num_samples", "landscape_size")},
            "create_landscape": s.create_landscape,
        }
        with _core.io.Writer(self._folder / _LIST) as file:
            file.write(json.dumps(said).encode())
            file.commit()


@dataclass(frozen=True)
class Kept:
    """What a training has left."""

    settings: Settings
    files: dict[int, Path]
    steps: int  # of an epoch
    metadata: Path

    @staticmethod
    def read(op: str, folder: Path) -> Kept:
        """What lies in the folder of a SummaryCollector."""
        path = folder / _FOLDER / _LIST
        try:
            said = json.loads(path.read_text())
            files = {int(n): Path(file) for n, file in said["model_params_file_map"].items()}
            settings = Settings(
                said["landscape_size"],
                said["unit"],
                said["create_landscape"],
                said["num_samples"],
                list(said["epoch_group"].values()),
            )
            steps = int(said["step_per_epoch"])
        except FileNotFoundError:
            raise FileNotFoundError(
                f"For '{op}', 'summary_dir' must be of a SummaryCollector that got 'collect_landscape' and has seen one of its "
                f"intervals, but there is no {path}."
            ) from None
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(
                f"For '{op}', {path} must be as SummaryCollector writes it, but it is damaged: {error!r}."
            ) from None
        # The folder may have been moved.
        beside = {number: path.parent / file.name for number, file in files.items()}
        return Kept(
            settings, {n: b if b.exists() else files[n] for n, b in beside.items()}, steps, path
        )

    def changed(self, op: str, given: dict[str, Any] | None) -> Settings:
        """The settings with those that a user gives."""
        settings = self.settings.changed(op, given)
        if settings.unit != self.settings.unit:
            raise ValueError(
                f"For '{op}', 'unit' must be {self.settings.unit!r}, of which checkpoints were kept, but got {settings.unit!r}."
            )
        return settings

    def file(self, op: str, number: int) -> str:
        """The checkpoint of a step or an epoch."""
        if number not in self.files:
            raise ValueError(
                f"For '{op}', 'intervals' must be of {self.settings.unit}s that were kept, {sorted(self.files)}, but got {number}."
            )
        return str(self.files[number])

    def remove(self) -> None:
        """Removes what the training has left for landscapes, which lies beside the list: that may name other files, too."""
        for path in (*self.files.values(), self.metadata):
            if path.parent == self.metadata.parent:
                path.unlink(missing_ok=True)
        if not any(self.metadata.parent.iterdir()):
            self.metadata.parent.rmdir()
