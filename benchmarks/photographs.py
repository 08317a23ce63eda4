"""What benchmarks of pictures have in common: files of them, and the numbers by which those of ImageNet are normalised."""

from __future__ import annotations

import os

import numpy as np

MEAN, STD = [123.7, 116.3, 103.5], [58.4, 57.1, 57.4]


def write_pictures(folder: str, count: int, height: int, width: int) -> None:
    """JPEG files of four classes with something to encode: smooth areas, edges and noise."""
    from PIL import Image

    rng = np.random.default_rng(0)
    for number in range(count):
        small = Image.fromarray(rng.integers(0, 256, (12, 16, 3), np.uint8))
        image = np.asarray(small.resize((width, height), Image.Resampling.BICUBIC)).astype(int)
        noisy = np.clip(image + rng.normal(0, 6, image.shape), 0, 255).astype(np.uint8)
        os.makedirs(os.path.join(folder, str(number % 4)), exist_ok=True)
        path = os.path.join(folder, str(number % 4), f"{number:04}.jpg")
        Image.fromarray(noisy).save(path, quality=90)
