"""Sets of pictures with captions."""

from __future__ import annotations

import os
from typing import Any

from mindspore.dataset.engine.datasets_annotated import AnnotatedDataset
from mindspore.dataset.engine.source_files import file, folder, list_column, present, read_lines


class FlickrDataset(AnnotatedDataset):
    """Flickr 8k or 30k: columns image and annotation, its captions."""

    def __init__(
        self,
        dataset_dir: str,
        annotation_file: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "FlickrDataset"
        self.dataset_dir = folder(op, dataset_dir)
        path = file(op, annotation_file, "annotation_file")
        found: dict[str, list[str]] = {}
        for number, line in enumerate(read_lines(path), 1):
            name, tab, caption = line.rstrip("\r").partition("\t")
            if not tab or "#" not in name:
                raise RuntimeError(
                    f"The file '{path}', line {number}, must be NAME#NUMBER, tab, caption."
                )
            found.setdefault(name.rpartition("#")[0], []).append(caption)
        pictures = present(op, self.dataset_dir, found)
        others = {"annotation": list_column(found.values())}
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, others, options)


# The names of SBU's files are those of their addresses from here on.
_SBU_PREFIX = len("http://static.flickr.co")


class SBUDataset(AnnotatedDataset):
    """SBU captioned photos: columns image and caption. Addresses whose file was not fetched are left out."""

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        op = "SBUDataset"
        self.dataset_dir = folder(op, dataset_dir)
        stem = "SBU_captioned_photo_dataset"
        lists = present(op, self.dataset_dir, [f"{stem}_urls.txt", f"{stem}_captions.txt"])
        urls, captions = (read_lines(path) for path in lists)
        if len(urls) != len(captions):
            raise RuntimeError(
                f"For '{op}', there must be as many captions as addresses, {len(urls)}, but got {len(captions)}."
            )
        where = os.path.join(self.dataset_dir, "sbu_images")
        pictures, words = [], []
        for url, caption in zip(urls, captions):
            path = os.path.join(where, url.strip()[_SBU_PREFIX:].replace("/", "_"))
            if os.path.isfile(path):
                pictures.append(path)
                words.append(caption.strip())
        options = (sampler, num_samples, shuffle, num_shards, shard_id, num_parallel_workers)
        self._give(pictures, decode, {"caption": list_column(words)}, options)
