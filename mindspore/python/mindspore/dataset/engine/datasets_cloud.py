"""MindRecord files in cloud storage: named, checked, and refused, since nothing here goes to the network."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from mindspore.dataset.core.validator_helpers import check_int, check_names, check_type
from mindspore.dataset.engine.datasets import SourceDataset
from mindspore.dataset.engine.samplers import Shuffle, choose_sampler

_OP = "OBSMindDataset"


class OBSMindDataset(SourceDataset):
    """MindRecord files that lie in cloud storage. They are not fetched: copy them, and use MindDataset."""

    def __init__(
        self,
        dataset_files: Sequence[str],
        server: str,
        ak: str,
        sk: str,
        sync_obs_path: str,
        columns_list: Sequence[str] | None = None,
        shuffle: bool | Shuffle | None = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        shard_equal_rows: bool = True,
    ) -> None:
        check_type(_OP, "dataset_files", dataset_files, (list, tuple))
        for path in [*dataset_files, sync_obs_path]:
            check_type(_OP, "a path", path, str)
            if not path.startswith("s3://"):
                raise ValueError(f"For '{_OP}', paths must begin with 's3://', but got '{path}'.")
        for name, value in (("server", server), ("ak", ak), ("sk", sk)):
            check_type(_OP, name, value, str)
        if columns_list is not None:
            check_names(_OP, "columns_list", columns_list)
        choose_sampler(_OP, None, None, bool(shuffle), num_shards, shard_id)
        check_type(_OP, "shard_equal_rows", shard_equal_rows, bool)
        _refuse(_OP, server)


def sync_wait_for_dataset(
    rank_id: int, rank_size: int, current_epoch: int, obs_runtime: Any = None
) -> None:
    """Waits until all processes have the files of an epoch of OBSMindDataset, which is refused here."""
    op = "sync_wait_for_dataset"
    check_int(op, "rank_size", rank_size, 1)
    check_int(op, "rank_id", rank_id, 0, rank_size - 1)
    check_int(op, "current_epoch", current_epoch, 0)
    _refuse(op, "")


def _refuse(op: str, server: str) -> NoReturn:
    where = f" from '{server}'" if server else ""
    raise RuntimeError(
        f"For '{op}', files must be on this machine, since nothing is fetched{where} by this package. Copy them with the tools "
        "of the storage, and read the copies with MindDataset."
    )


__all__ = ["OBSMindDataset", "sync_wait_for_dataset"]
