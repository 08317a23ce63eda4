"""`AutoParallel`: a network with the settings of its parallel training, beside which those of the context do not count."""

from __future__ import annotations

import contextlib
import json
import os
import threading
from collections.abc import Iterator
from typing import Any

from mindspore import _parallel_settings, context
from mindspore.common import _groups
from mindspore.common._layouts import Layout
from mindspore.communication import get_group_size, get_rank
from mindspore.compile import jit
from mindspore.nn import Cell

_MODES = {
    "semi_auto": ("semi_auto_parallel", "sharding_propagation"),
    "sharding_propagation": ("auto_parallel", "sharding_propagation"),
    "recursive_programming": ("auto_parallel", "recursive_programming"),
    "dynamic_programming": ("auto_parallel", "dynamic_programming"),
}
_OWNER = "AutoParallel"
_telling = threading.RLock()


class AutoParallel(Cell):
    """A network whose work the compiler divides among processes.

    Args:
        network: The network: a training step, or what is evaluated.
        parallel_mode: "semi_auto": what `shard` says, and the rest from it; "sharding_propagation", "recursive_programming" and
            "dynamic_programming", the exact one: the planner finds all.
    """

    def __init__(self, network: Cell, parallel_mode: str = "semi_auto") -> None:
        super().__init__(auto_prefix=False)
        if not isinstance(network, Cell):
            raise TypeError(
                f"For '{_OWNER}', 'network' must be a Cell, but got {type(network).__name__}."
            )
        if not isinstance(parallel_mode, str) or parallel_mode not in _MODES:
            raise ValueError(
                f"For '{_OWNER}', 'parallel_mode' must be one of {list(_MODES)}, but got {parallel_mode!r}."
            )
        self.network = network
        mode, search = _MODES[parallel_mode]
        # Kept out of the cell's attributes, which compiled code looks at.
        self.__dict__["_parallel_settings"] = _Settings(parallel_mode=mode, search_mode=search)
        if _groups.joined:
            self._set(device_num=get_group_size(), global_rank=get_rank())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        with self.settings():
            return super().__call__(*args, **kwargs)

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """What the network returns."""
        return self.network(*args, **kwargs)

    @contextlib.contextmanager
    def settings(self) -> Iterator[None]:
        """The settings of the network hold in this thread in place of those of the context. One thread at a time: how collectives are
        joined is told to the whole process."""
        own = self.__dict__["_parallel_settings"]
        settings = _parallel_settings.DEFAULTS | context.joined() | own
        with _telling, context.parallel_settings(settings):
            yield

    def _set(self, **settings: Any) -> None:
        own = self.__dict__["_parallel_settings"]
        for name, value in settings.items():
            own.update(_parallel_settings.checked(name, value))

    # ---- data, communication, optimizer
    def dataset_strategy(self, config: Any) -> None:
        """How a batch lies: "full_batch", "data_parallel", or for each input how often its dimensions are cut, or a Layout."""
        _parallel_settings.check_dataset_strategy(f"{_OWNER}.dataset_strategy", "config", config)
        self._set(dataset_strategy=config)

    def comm_fusion(self, config: dict[str, Any]) -> None:  # type: ignore[override]
        """How collectives are joined; as the setting `comm_fusion`."""
        self._set(comm_fusion=config)

    def hsdp(
        self, shard_size: int = -1, threshold: int = 64, optimizer_level: str = "level1"
    ) -> None:
        """Parameters and states of the optimizer lie in slices, too.

        Args:
            shard_size: Among how many processes; -1: all that have the same.
            threshold: Only Parameters of so many KB or more.
            optimizer_level: What is cut: "level1" states, "level2" gradients, too, "level3" Parameters, too. Here all three always
                lie alike.
        """
        owner = f"{_OWNER}.hsdp"
        if type(shard_size) is not int or (shard_size < 1 and shard_size != -1):
            raise ValueError(
                f"For '{owner}', 'shard_size' must be at least 1, or -1, but got {shard_size!r}."
            )
        if type(threshold) is not int or threshold < 0:
            raise ValueError(
                f"For '{owner}', 'threshold' must be at least 0, but got {threshold!r}."
            )
        config: dict[str, Any] = {
            "parallel_optimizer_threshold": threshold,
            "optimizer_level": optimizer_level,
        }
        if shard_size > 0:
            config["optimizer_weight_shard_size"] = shard_size
        self._set(enable_parallel_optimizer=True, parallel_optimizer_config=config)

    def enable_gradients_mean(self) -> None:
        """Gradients are a mean over the processes. A network that is divided has the gradients of its whole batch, either way."""
        self._set(gradients_mean=True)

    def disable_gradient_fp32_sync(self) -> None:
        """Gradients are summed in their own type."""
        self._set(gradient_fp32_sync=False)

    def disable_loss_repeated_mean(self) -> None:
        """A loss that several processes compute alike counts for each of them; here it counts once, either way."""
        self._set(loss_repeated_mean=False)

    def enable_fp32_communication(self) -> None:
        """Collectives of half types add up in Float32, as they always do here."""
        self._set(force_fp32_communication=True)

    # ---- pipeline
    def pipeline(
        self,
        stages: int = 1,
        output_broadcast: bool = False,
        interleave: bool = False,
        scheduler: str = "1f1b",
    ) -> None:
        """How many stages the network has, and how parts of a batch go through them."""
        owner = f"{_OWNER}.pipeline"
        kinds = {"stages": int, "output_broadcast": bool, "interleave": bool, "scheduler": str}
        given = {
            "stages": stages,
            "output_broadcast": output_broadcast,
            "interleave": interleave,
            "scheduler": scheduler,
        }
        for name, kind in kinds.items():
            if type(given[name]) is not kind:
                raise TypeError(
                    f"For '{owner}', '{name}' must be a value of {kind.__name__}, but got {type(given[name]).__name__}."
                )
        if stages < 1:
            raise ValueError(f"For '{owner}', 'stages' must be at least 1, but got {stages}.")
        config = {"pipeline_interleave": interleave, "pipeline_scheduler": scheduler}
        if interleave or scheduler in ("1f1b", "gpipe"):
            self._set(pipeline_config=config)
        elif scheduler not in _parallel_settings.SCHEDULERS:
            raise ValueError(
                f"For '{owner}', 'scheduler' must be one of {list(_parallel_settings.SCHEDULERS)}, but got {scheduler!r}."
            )
        self._set(pipeline_stages=stages, pipeline_result_broadcast=output_broadcast)

    def get_pipeline_stages(self) -> int:
        """How many stages the network has."""
        return int(self.__dict__["_parallel_settings"].get("pipeline_stages", 1))

    # ---- files
    def save_param_strategy_file(self, file_path: str) -> None:
        """The layouts of Parameters are written there when the network is compiled."""
        self._set(strategy_ckpt_save_file=_path("save_param_strategy_file", file_path))

    def load_param_strategy_file(self, file_path: str) -> None:
        """Parameters lie as a file says that save_param_strategy_file wrote."""
        self._set(strategy_ckpt_load_file=_path("load_param_strategy_file", file_path))

    def save_operator_strategy_file(self, file_path: str) -> None:
        """The whole plan is written there as JSON when the network is compiled."""
        path = _json_path("save_operator_strategy_file", file_path)
        self.__dict__["_parallel_settings"]["operator_strategy"] = ("SAVE", path)

    def load_operator_strategy_file(self, file_path: str) -> None:
        """Parameters lie as in a plan that save_operator_strategy_file wrote; what is computed with them follows."""
        path = _json_path("load_operator_strategy_file", file_path)
        self.__dict__["_parallel_settings"]["operator_strategy"] = ("LOAD", path)

    def disable_strategy_file_only_for_trainable_params(self) -> None:
        """Files of layouts have all Parameters."""
        self._set(strategy_ckpt_config={"only_trainable_params": False})

    def set_group_ckpt_save_file(self, file_path: str) -> None:
        """Which processes have the same slices is written there when the network is compiled."""
        self._set(group_ckpt_save_file=_path("set_group_ckpt_save_file", file_path))

    def no_init_parameters_in_compile(self) -> None:
        """Parameters get their values only when the network runs; it is so anyway."""
        self._set(init_param_in_compile=False)

    def transformer_opt(self, file_path: str | None) -> None:
        """Settings for compilers of other devices: read, and without effect here."""
        if file_path is None:
            return
        path = _path("transformer_opt", file_path)
        try:
            with open(path, encoding="utf-8") as file:
                json.load(file)
        except FileNotFoundError:
            raise ValueError(
                f"For '{_OWNER}.transformer_opt', the file must exist, but there is no '{path}'."
            ) from None

    # ---- what is looked at
    def print_local_norm(self) -> None:
        """Norms of the gradients of each process are printed; kept without effect."""
        self._set(dump_local_norm=True)

    def dump_local_norm(self, file_path: str) -> None:
        """Norms of the gradients of each process go to files; kept without effect."""
        self._set(dump_local_norm_path=_path("dump_local_norm", file_path))

    def enable_device_local_norm(self) -> None:
        """Norms of the gradients of each process are computed; kept without effect."""
        self._set(dump_device_local_norm=True)


class _Settings(dict):
    """Settings by name; guards and copies take it as one object."""

    __hash__ = object.__hash__  # type: ignore[assignment]


def _path(method: str, path: Any) -> str:
    if not isinstance(path, str):
        raise TypeError(
            f"For '{_OWNER}.{method}', 'file_path' must be a str, but got {type(path).__name__}."
        )
    return path


def _json_path(method: str, path: Any) -> str:
    _path(method, path)
    if not os.path.isabs(path):
        raise KeyError(f"For '{_OWNER}.{method}', 'file_path' must be absolute, but got '{path}'.")
    if not path.endswith(".json"):
        raise KeyError(
            f"For '{_OWNER}.{method}', 'file_path' must end with '.json', but got '{path}'."
        )
    return str(path)


__all__ = ["AutoParallel", "Cell", "Layout", "get_group_size", "get_rank", "jit"]
