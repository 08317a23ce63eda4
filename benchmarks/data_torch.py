"""What a DataLoader of PyTorch reads in the cases of benchmarks/data.py, with the steps that the pipelines there have."""

from __future__ import annotations

import io
import os
from typing import Any

import numpy as np
import torch
from photographs import MEAN, STD
from PIL import Image


class TorchFolder:
    """The files of a folder through Pillow."""

    def __init__(self, folder: str) -> None:
        self.files = sorted(
            os.path.join(root, name) for root, _, names in os.walk(folder) for name in names
        )
        self.mean = np.array(MEAN, np.float32)[:, None, None]
        self.std = np.array(STD, np.float32)[:, None, None]

    def __len__(self) -> int:
        return len(self.files)

    def cropped(self, image: Any, rng: np.random.Generator) -> Any:
        """A part of the picture at random, of the size that all have."""
        raise NotImplementedError

    def __getitem__(self, index: int) -> tuple[Any, int]:
        rng = np.random.default_rng(index)
        with open(self.files[index], "rb") as stream:
            image = Image.open(io.BytesIO(stream.read())).convert("RGB")
        image = self.cropped(image, rng)
        if rng.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        tensor = torch.from_numpy(np.array(image)).permute(2, 0, 1).contiguous().float()
        mean, std = torch.from_numpy(self.mean), torch.from_numpy(self.std)
        return tensor.sub_(mean).div_(std), index % 4


class TorchPictures(TorchFolder):
    """With random crops, resized to 224."""

    def cropped(self, image: Any, rng: np.random.Generator) -> Any:
        """8 % of its area or more."""
        share, aspect = rng.uniform(0.08, 1.0), np.exp(rng.uniform(np.log(3 / 4), np.log(4 / 3)))
        area = image.width * image.height * share
        width = min(round(float(np.sqrt(area * aspect))), image.width)
        height = min(round(float(np.sqrt(area / aspect))), image.height)
        left = int(rng.integers(image.width - width + 1))
        top = int(rng.integers(image.height - height + 1))
        box = (left, top, left + width, top + height)
        return image.crop(box).resize((224, 224), Image.Resampling.BILINEAR)


class TorchCifar(TorchFolder):
    """With crops of 32 out of 40."""

    def cropped(self, image: Any, rng: np.random.Generator) -> Any:
        """With a black border of 4 where that is in it."""
        left, top = (int(n) for n in rng.integers(-4, 5, 2))
        return image.crop((left, top, left + 32, top + 32))


class TorchArrays:
    """Arrays, with the same steps."""

    def __init__(self, images: np.ndarray, labels: np.ndarray) -> None:
        self.images, self.labels = images, labels

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int) -> tuple[Any, int]:
        image = torch.from_numpy(self.images[index]).permute(2, 0, 1)[None].float()
        sized = torch.nn.functional.interpolate(image, (32, 32), mode="bilinear")
        return sized[0] / 255, int(self.labels[index])
