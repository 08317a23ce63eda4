"""Transforms of single images beside Pillow and OpenCV, each on one thread.

python benchmarks/images.py [--sizes 224x224 1080x1920] [case ...]

A case is what each package does at best for one transform; they take turns, and the best round of each counts. A ratio is the time of
the faster peer over ours: above 1 is in our favour. OpenCV's wheel and Pillow are asked for where they are installed.

Flips, crops and borders only move bytes, so that memory sets the pace: of a picture of 1080×1920, where `np.copy` takes 0.17 ms, a
horizontal flip takes 0.22 (with stores that pass by the caches, more) and OpenCV's 0.27. OpenCV has no crops: there NumPy's copy of
the part stands in, which nothing that copies can outrun. Of smaller pictures, half of a crop's 3 µs is the call.
"""

from __future__ import annotations

import argparse
import io
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from photographs import MEAN, STD

from mindspore.dataset import transforms, vision
from mindspore.dataset.vision import Inter

try:
    import cv2
except ImportError:
    cv2 = None
try:
    from PIL import Image, ImageEnhance, ImageOps
except ImportError:
    Image = None

ROUNDS, SECONDS = 7, 0.02
Run = Callable[[], Any]


def picture(height: int, width: int) -> np.ndarray:
    """Smooth areas, edges and noise, as photographs have them."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[0:height, 0:width]
    waves = [127 + 90 * np.sin(x / (17 + 5 * c)) * np.cos(y / (23 - 3 * c)) for c in range(3)]
    noisy = np.stack(waves, -1) + rng.normal(0, 8, (height, width, 3))
    return np.clip(noisy, 0, 255).astype(np.uint8)


def encoded(image: np.ndarray) -> bytes:
    """The picture as a JPEG file."""
    if Image is not None:
        stream = io.BytesIO()
        Image.fromarray(image).save(stream, "JPEG", quality=90)
        return stream.getvalue()
    return cv2.imencode(".jpg", image[..., ::-1], [cv2.IMWRITE_JPEG_QUALITY, 90])[1].tobytes()


class Cases:
    """For each transform: ours, and what the peers do for the same. `i` is the array, `p` the PIL image."""

    def __init__(self, height: int, width: int) -> None:
        self.i = picture(height, width)
        self.p = Image.fromarray(self.i) if Image is not None else None
        self.file = encoded(self.i)
        self.bytes = np.frombuffer(self.file, np.uint8)
        self.floats = self.i.astype(np.float32)
        self.small = (height * 2 // 3, width * 2 // 3)
        self.large = (height * 4 // 3, width * 4 // 3)

    def _cv(self, run: Run) -> Run | None:
        return run if cv2 is not None else None

    def _pil(self, run: Run) -> Run | None:
        return run if Image is not None else None

    def _resize(self, inter: Inter, of_cv: str, of_pil: str, size: Any) -> list[Run | None]:
        op, cv_size = vision.Resize(size, inter), (size[1], size[0])
        pil_way = getattr(Image.Resampling, of_pil) if Image is not None else None
        return [
            lambda: op(self.i),
            self._cv(lambda: cv2.resize(self.i, cv_size, interpolation=getattr(cv2, of_cv))),
            self._pil(lambda: self.p.resize(cv_size, pil_way)),
        ]

    def resize(self) -> list[Run | None]:
        """Smaller, by lines."""
        return self._resize(Inter.LINEAR, "INTER_LINEAR", "BILINEAR", self.small)

    def enlarge(self) -> list[Run | None]:
        """Larger, by lines."""
        return self._resize(Inter.LINEAR, "INTER_LINEAR", "BILINEAR", self.large)

    def resize_nearest(self) -> list[Run | None]:
        """Smaller, by nearest pixels."""
        return self._resize(Inter.NEAREST, "INTER_NEAREST", "NEAREST", self.small)

    def resize_cubic(self) -> list[Run | None]:
        """Smaller, by cubics."""
        return self._resize(Inter.CUBIC, "INTER_CUBIC", "BICUBIC", self.small)

    def enlarge_cubic(self) -> list[Run | None]:
        """Larger, by cubics."""
        return self._resize(Inter.CUBIC, "INTER_CUBIC", "BICUBIC", self.large)

    def resize_area(self) -> list[Run | None]:
        """Smaller, by areas."""
        return self._resize(Inter.AREA, "INTER_AREA", "BOX", self.small)

    def resize_antialias(self) -> list[Run | None]:
        """Smaller, by Lanczos' kernel as Pillow has it."""
        op, size = vision.Resize(self.small, Inter.ANTIALIAS), self.small[::-1]
        return [
            lambda: op(self.i),
            None,
            self._pil(lambda: self.p.resize(size, Image.Resampling.LANCZOS)),
        ]

    def decode(self) -> list[Run | None]:
        """A JPEG file."""
        op = vision.Decode()
        return [
            lambda: op(self.bytes),
            self._cv(lambda: cv2.imdecode(self.bytes, cv2.IMREAD_COLOR)),
            self._pil(lambda: Image.open(io.BytesIO(self.file)).convert("RGB")),
        ]

    def crop_decode_resize(self) -> list[Run | None]:
        """Half of a JPEG file at a random place, as 224×224."""
        op = vision.RandomCropDecodeResize(224, (0.5, 0.5), (1, 1))
        height, width = self.i.shape[:2]
        side = int((height * width / 2) ** 0.5)
        top, left = max(height - side, 0) // 2, (width - side) // 2

        def by_cv() -> Any:
            image = cv2.imdecode(self.bytes, cv2.IMREAD_COLOR)
            return cv2.resize(image[top : top + side, left : left + side], (224, 224))

        def by_pil() -> Any:
            image = Image.open(io.BytesIO(self.file)).convert("RGB")
            return image.resize((224, 224), 2, (left, top, left + side, min(top + side, height)))

        return [lambda: op(self.bytes), self._cv(by_cv), self._pil(by_pil)]

    def normalize(self) -> list[Run | None]:
        """(image - mean) / std in float32."""
        op, mean, std = vision.Normalize(MEAN, STD), np.array(MEAN), np.array(STD)
        four_mean, share = np.append(mean, 0), np.append(1 / std, 0)

        def by_cv() -> Any:
            moved = cv2.subtract(self.i, four_mean, dtype=cv2.CV_32F)
            return cv2.multiply(moved, share, moved)

        return [lambda: op(self.i), self._cv(by_cv), None]

    def rescale(self) -> list[Run | None]:
        """image / 255 in float32."""
        op = vision.Rescale(1 / 255, 0.0)
        scaled = lambda: cv2.multiply(self.i, 1 / 255, dtype=cv2.CV_32F)  # noqa: E731
        return [lambda: op(self.i), self._cv(scaled), None]

    def hwc2chw(self) -> list[Run | None]:
        """Channels first, bytes."""
        op = vision.HWC2CHW()
        return [lambda: op(self.i), self._cv(lambda: np.stack(cv2.split(self.i))), None]

    def hwc2chw_floats(self) -> list[Run | None]:
        """Channels first, float32."""
        op = vision.HWC2CHW()
        return [lambda: op(self.floats), self._cv(lambda: np.stack(cv2.split(self.floats))), None]

    def to_tensor(self) -> list[Run | None]:
        """Channels first in [0, 1]."""
        op = vision.ToTensor()
        blob = lambda: cv2.dnn.blobFromImage(self.i, 1 / 255)  # noqa: E731
        return [lambda: op(self.i), self._cv(blob), None]

    def type_cast(self) -> list[Run | None]:
        """Bytes as float32."""
        op = transforms.TypeCast(np.float32)
        return [lambda: op(self.i), self._cv(lambda: cv2.add(self.i, 0, dtype=cv2.CV_32F)), None]

    def horizontal_flip(self) -> list[Run | None]:
        """Left for right."""
        op = vision.RandomHorizontalFlip(1.0)
        flipped = lambda: self.p.transpose(Image.Transpose.FLIP_LEFT_RIGHT)  # noqa: E731
        return [lambda: op(self.i), self._cv(lambda: cv2.flip(self.i, 1)), self._pil(flipped)]

    def vertical_flip(self) -> list[Run | None]:
        """Up for down."""
        op = vision.VerticalFlip()
        flipped = lambda: self.p.transpose(Image.Transpose.FLIP_TOP_BOTTOM)  # noqa: E731
        return [lambda: op(self.i), self._cv(lambda: cv2.flip(self.i, 0)), self._pil(flipped)]

    def _crop(self, op: Any) -> list[Run | None]:
        (rows, columns), (height, width) = self.small, self.i.shape[:2]
        top, left = (height - rows) // 2, (width - columns) // 2
        part = lambda: self.i[top : top + rows, left : left + columns].copy()  # noqa: E731
        box = (left, top, left + columns, top + rows)
        return [lambda: op(self.i), part, self._pil(lambda: self.p.crop(box))]

    def center_crop(self) -> list[Run | None]:
        """The middle."""
        return self._crop(vision.CenterCrop(self.small))

    def random_crop(self) -> list[Run | None]:
        """A part at a random place."""
        return self._crop(vision.RandomCrop(self.small))

    def random_resized_crop(self) -> list[Run | None]:
        """Half of the image as 224×224."""
        op = vision.RandomResizedCrop(224, (0.5, 0.5), (1, 1))
        height, width = self.i.shape[:2]
        side = min(int((height * width / 2) ** 0.5), height)
        left = (width - side) // 2
        part = self.i[:side, left : left + side]
        box = (left, 0, left + side, side)
        return [
            lambda: op(self.i),
            self._cv(lambda: cv2.resize(part, (224, 224))),
            self._pil(lambda: self.p.resize((224, 224), 2, box)),
        ]

    def pad(self) -> list[Run | None]:
        """A border of 16 pixels."""
        op = vision.Pad(16)
        bordered = lambda: cv2.copyMakeBorder(self.i, 16, 16, 16, 16, cv2.BORDER_CONSTANT)  # noqa: E731
        return [
            lambda: op(self.i),
            self._cv(bordered),
            self._pil(lambda: ImageOps.expand(self.p, 16)),
        ]

    def _rotate(self, inter: Inter, of_cv: str, of_pil: str) -> list[Run | None]:
        op, (height, width) = vision.RandomRotation((15, 15), inter), self.i.shape[:2]
        matrix = None
        if cv2 is not None:
            matrix = cv2.getRotationMatrix2D(((width - 1) / 2, (height - 1) / 2), 15, 1)
        turned = lambda: cv2.warpAffine(  # noqa: E731
            self.i, matrix, (width, height), flags=getattr(cv2, of_cv)
        )
        pil_way = getattr(Image.Resampling, of_pil) if Image is not None else None
        by_pil = lambda: self.p.rotate(15, pil_way)  # noqa: E731
        return [lambda: op(self.i), self._cv(turned), self._pil(by_pil)]

    def rotate(self) -> list[Run | None]:
        """By 15 degrees, nearest pixels."""
        return self._rotate(Inter.NEAREST, "INTER_NEAREST", "NEAREST")

    def rotate_linear(self) -> list[Run | None]:
        """By 15 degrees, by lines."""
        return self._rotate(Inter.BILINEAR, "INTER_LINEAR", "BILINEAR")

    def color_adjust(self) -> list[Run | None]:
        """Brightness, contrast, saturation and hue."""
        op = vision.RandomColorAdjust((1.2, 1.2), (0.8, 0.8), (1.3, 1.3), (0.1, 0.1))

        def by_cv() -> Any:
            image = cv2.convertScaleAbs(self.i, alpha=1.2)
            middle = cv2.mean(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY))[0]
            image = cv2.convertScaleAbs(image, alpha=0.8, beta=0.2 * middle)
            gray = cv2.cvtColor(cv2.cvtColor(image, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
            hsv = cv2.cvtColor(cv2.addWeighted(image, 1.3, gray, -0.3, 0), cv2.COLOR_RGB2HSV_FULL)
            hsv[..., 0] += 25
            return cv2.cvtColor(hsv, cv2.COLOR_HSV2RGB_FULL)

        def by_pil() -> Any:
            image = ImageEnhance.Brightness(self.p).enhance(1.2)
            image = ImageEnhance.Contrast(image).enhance(0.8)
            hue, *others = ImageEnhance.Color(image).enhance(1.3).convert("HSV").split()
            moved = Image.fromarray(np.asarray(hue) + np.uint8(25))
            return Image.merge("HSV", [moved, *others]).convert("RGB")

        return [lambda: op(self.i), self._cv(by_cv), self._pil(by_pil)]

    def brightness(self) -> list[Run | None]:
        """Each byte times a factor."""
        op = vision.AdjustBrightness(1.2)
        by_pil = lambda: ImageEnhance.Brightness(self.p).enhance(1.2)  # noqa: E731
        by_cv = lambda: cv2.convertScaleAbs(self.i, alpha=1.2)  # noqa: E731
        return [lambda: op(self.i), self._cv(by_cv), self._pil(by_pil)]

    def contrast(self) -> list[Run | None]:
        """Away from the mean gray."""
        op = vision.AdjustContrast(1.2)

        def by_cv() -> Any:
            middle = cv2.mean(cv2.cvtColor(self.i, cv2.COLOR_RGB2GRAY))[0]
            return cv2.convertScaleAbs(self.i, alpha=1.2, beta=-0.2 * middle)

        by_pil = lambda: ImageEnhance.Contrast(self.p).enhance(1.2)  # noqa: E731
        return [lambda: op(self.i), self._cv(by_cv), self._pil(by_pil)]

    def color(self) -> list[Run | None]:
        """Away from gray."""
        op = vision.RandomColor((1.3, 1.3))

        def by_cv() -> Any:
            gray = cv2.cvtColor(cv2.cvtColor(self.i, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
            return cv2.addWeighted(self.i, 1.3, gray, -0.3, 0)

        by_pil = lambda: ImageEnhance.Color(self.p).enhance(1.3)  # noqa: E731
        return [lambda: op(self.i), self._cv(by_cv), self._pil(by_pil)]


def timed(run: Run) -> float:
    """Seconds of the processor for one call: other programs do not count."""
    count, began = 0, time.process_time()
    while time.process_time() - began < SECONDS:
        run()
        count += 1
    return (time.process_time() - began) / count


def main() -> None:
    """Run the cases that were named, or all."""
    names = [name for name in vars(Cases) if name[0] != "_"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=", ".join(names))
    parser.add_argument("--sizes", nargs="+", default=["224x224", "1080x1920"])
    options = parser.parse_args()
    if cv2 is not None:
        cv2.setNumThreads(1)
    print(f"load {os.getloadavg()[0]:.1f}; milliseconds of one call")
    for size in options.sizes:
        height, width = map(int, size.split("x"))
        cases = Cases(height, width)
        for name in options.cases or names:
            runs = getattr(cases, name)()
            best = [float("inf")] * len(runs)
            for _ in range(ROUNDS):
                for i, run in enumerate(runs):
                    best[i] = best[i] if run is None else min(best[i], timed(run))
            ours, by_cv, by_pil = (1e3 * seconds for seconds in best)
            ratio = min(by_cv, by_pil) / ours
            print(
                f"{size:10} {name:20} {ours:8.3f}  OpenCV {by_cv:8.3f}  Pillow {by_pil:8.3f}  ratio {ratio:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
