"""Calls of `mindspore.dataset.vision` on small images, whose results are kept from MindSpore 2.10.

Run with the Python of an environment that has it, this file writes them anew to `vision_answers.jsonl`.
"""

from __future__ import annotations

import base64
import json
import zlib
from pathlib import Path
from typing import Any

import numpy as np

ANSWERS = Path(__file__).with_name("vision_answers.jsonl")

_Y, _X = np.mgrid[0:9, 0:11]
A = np.stack([(_X * 23 + _Y * 7) % 256, (_X * _Y * 3) % 256, 255 - (_Y * 29) % 256], -1)
A = A.astype(np.uint8)
G = A[..., 0].copy()  # no channels
N = (A // 3 + 60).astype(np.uint8)  # of little contrast
F = (A / 255).astype(np.float32)
CHW = F.transpose(2, 0, 1).copy()
BATCH = np.stack([A, A[::-1]])
TWO = A[..., :2].copy()
FOUR = np.concatenate([A, 255 - A[..., :1]], -1)
_ROWS, _COLUMNS = np.mgrid[0:19, 0:101][..., None]
WIDE = ((_COLUMNS * [3, 5, 7] + _ROWS * [11, 2, 5]) % 256).astype(np.uint8)
BOX = np.array([[1, 2, 4, 5, 7, 8], [6, 0, 5, 9, 1, 0]], np.float32)

_ON_ARRAYS = """
Rotate(30) | Rotate(30, Inter.BILINEAR) | Rotate(-47.5, Inter.BICUBIC) | Rotate(400, Inter.AREA)
Rotate(30, Inter.BILINEAR, expand=True) | Rotate(90, expand=True) | Rotate(135, expand=True)
Rotate(30, Inter.BILINEAR, center=(2, 3), fill_value=(9, 8, 7)) | Rotate(0)
RandomRotation((25, 25), Inter.BILINEAR, fill_value=5) | RandomRotation((90, 90), expand=True)
Affine(20, (0.1, -0.2), 1.3, (5, 10), Inter.BILINEAR, 7) | Affine(20, (0.1, -0.2), 1.3, (5, 10))
Affine(0, (0.2, 0.1), 1.0, 0) | Affine(-10.5, (0, 0), 0.5, 7, Inter.BICUBIC, (1, 2, 3))
RandomAffine((15, 15), None, (0.8, 0.8), (4, 4), Inter.BILINEAR, 3)
RandomAffine((15, 15), None, (1, 1), (4, 4, 9, 9), Inter.BICUBIC)
Perspective([[0, 0], [10, 0], [10, 8], [0, 8]], [[1, 1], [9, 0], [10, 8], [0, 7]])
Perspective([[0, 0], [10, 0], [10, 8], [0, 8]], [[1, 1], [9, 0], [10, 8], [0, 7]], Inter.NEAREST)
Perspective([[0, 0], [10, 0], [10, 8], [0, 8]], [[1, 1], [9, 0], [10, 8], [0, 7]], Inter.BICUBIC)
Posterize(3) | Posterize(0) | RandomPosterize((2, 2)) | Solarize(100) | Solarize((10, 100))
RandomSolarize((30, 30)) | Invert() | RandomInvert(1.0) | Equalize() | RandomEqualize(1.0)
AutoContrast() | AutoContrast(10.0, [0, 5, 255]) | RandomAutoContrast(5.0, 3, 1.0)
AdjustSharpness(0.0) | AdjustSharpness(2.5) | RandomAdjustSharpness(1.5, 1.0)
RandomSharpness((0.3, 0.3)) | RandomColor((0.4, 0.4)) | RandomColor((1.7, 1.7))
AdjustGamma(2.2) | AdjustGamma(0.5, 1.4) | AdjustBrightness(0.7) | AdjustBrightness(1.8)
AdjustContrast(0.4) | AdjustContrast(1.6) | AdjustSaturation(0.2) | AdjustSaturation(2.5)
AdjustHue(0.2) | AdjustHue(-0.4) | GaussianBlur(3) | GaussianBlur((5, 3), (1.5, 0.7))
GaussianBlur(7, 2.0) | RandomLighting(0.0) | Erase(1, 2, 3, 4, 5) | Erase(1, 2, 3, 4, (9, 8, 7))
PadToSize((13, 16))
PadToSize(20, (1, 2), 7, Border.EDGE) | PadToSize((10, 12), 1, (3, 4, 5)) | ResizedCrop(1, 2, 5, 6, 8)
ResizedCrop(0, 0, 9, 11, (4, 5), Inter.NEAREST) | SlicePatches(2, 3) | SlicePatches(2, 3, SliceMode.DROP)
SlicePatches(2, 3, SliceMode.PAD, 9) | Pad(3, 0, Border.SYMMETRIC) | Pad([1, 2], 0, Border.REFLECT)
ConvertColor(ConvertMode.COLOR_RGB2GRAY) | ConvertColor(ConvertMode.COLOR_BGR2GRAY)
ConvertColor(ConvertMode.COLOR_RGB2BGR) | ConvertColor(ConvertMode.COLOR_RGB2RGBA)
ConvertColor(ConvertMode.COLOR_RGB2BGRA) | RgbToHsv(True) | HsvToRgb(True)
VerticalFlip() | HorizontalFlip() | RandomColorAdjust((0.7, 0.7)) | RandomColorAdjust(contrast=(1.6, 1.6))
RandomColorAdjust(saturation=(2.5, 2.5)) | RandomColorAdjust(hue=(0.2, 0.2)) | CenterCrop(7) | CenterCrop(20)
"""
_ON_PIL = """
Rotate(30) | Rotate(30, Inter.BILINEAR) | Rotate(-47.5, Inter.BICUBIC) | Rotate(90, expand=True)
Rotate(30, Inter.BILINEAR, expand=True) | Rotate(30, center=(2, 3), fill_value=(9, 8, 7))
RandomRotation((25, 25), Inter.BILINEAR, fill_value=5)
Affine(20, (0.1, -0.2), 1.3, (5, 10), Inter.BILINEAR, 7) | Affine(-10.5, (0, 0), 0.5, 7)
RandomAffine((15, 15), None, (0.8, 0.8), (4, 4), Inter.BICUBIC)
Perspective([[0, 0], [10, 0], [10, 8], [0, 8]], [[1, 1], [9, 0], [10, 8], [0, 7]])
Perspective([[0, 0], [10, 0], [10, 8], [0, 8]], [[1, 1], [9, 0], [10, 8], [0, 7]], Inter.BICUBIC)
Posterize(3) | RandomPosterize((2, 2)) | Solarize(100) | Solarize((10, 100)) | Invert()
RandomInvert(1.0) | Equalize() | RandomEqualize(1.0) | AutoContrast() | AutoContrast(10.0, [0, 5, 255])
AdjustSharpness(0.0) | AdjustSharpness(2.5) | RandomSharpness((0.3, 0.3)) | RandomColor((0.4, 0.4))
AdjustGamma(2.2) | AdjustGamma(0.5, 1.4) | AdjustBrightness(0.7) | AdjustContrast(1.6)
AdjustSaturation(2.5) | AdjustHue(0.2) | AdjustHue(-0.4) | GaussianBlur(3) | GaussianBlur((5, 3), 1.5)
FiveCrop((4, 6)) | TenCrop(5) | TenCrop((4, 5), True) | PadToSize((13, 16)) | ResizedCrop(1, 2, 5, 6, 8)
Grayscale(3) | RandomGrayscale(1.0) | Pad([1, 2], 0, Border.REFLECT) | CenterCrop(7) | CenterCrop(20)
RandomColorAdjust(hue=(0.2, 0.2))
"""
_OTHERS = """
Rotate(30, Inter.BILINEAR)(F) | Rotate(30)(G) | Rotate(30)(TWO) | Rotate(30)(FOUR) | Rotate(30)(BATCH)
Rotate(30, Inter.BILINEAR)(A.astype(np.int16)) | Affine(20, (0.1, -0.2), 1.3, 0, Inter.BILINEAR)(G)
Affine(20, (0.1, -0.2), 1.3, 0, Inter.BILINEAR)(F) | Affine(20, (0, 0), 1.3, 0)(BATCH)
Equalize()(G) | AutoContrast()(G) | AutoContrast()(N) | AutoContrast(20.0)(N) | Equalize()(N)
Posterize(2)(G) | Solarize(100)(G) | Solarize(100)(F) | Invert()(F)
AdjustSharpness(2.0)(G) | AdjustSharpness(2.0)(F) | AdjustGamma(2.0)(F) | AdjustGamma(2.0)(G)
AdjustGamma(0.7)(F.astype(np.float64)) | AdjustBrightness(0.5)(F) | AdjustContrast(0.5)(F)
AdjustSaturation(0.5)(F) | GaussianBlur(3)(F) | GaussianBlur(3)(G)
Erase(1, 2, 3, 4, 5)(F) | Erase(1, 2, 30, 40, 5)(A) | Pad(1)(G) | PadToSize(20)(G) | PadToSize(20)(F)
RgbToHsv()(CHW) | HsvToRgb()(CHW) | RgbToHsv(True)(F) | HsvToRgb(True)(F) | RgbToHsv(True)(BATCH)
RgbToHsv()(np.stack([CHW, CHW / 2])) | ConvertColor(ConvertMode.COLOR_GRAY2RGB)(G)
ConvertColor(ConvertMode.COLOR_GRAY2RGBA)(G) | ConvertColor(ConvertMode.COLOR_RGBA2GRAY)(FOUR)
ConvertColor(ConvertMode.COLOR_RGBA2RGB)(FOUR) | ConvertColor(ConvertMode.COLOR_RGBA2BGR)(FOUR)
ConvertColor(ConvertMode.COLOR_RGBA2BGRA)(FOUR) | ConvertColor(ConvertMode.COLOR_RGB2GRAY)(F)
NormalizePad([1, 2, 3], [3, 4, 5], is_hwc=False)(CHW) | SlicePatches(2, 2)(G) | SlicePatches()(A)
LinearTransformation(np.eye(12)[::-1] * 2, np.arange(12))(CHW[:, :2, :2])
MixUpBatch(1.0)(A, np.eye(2)) | CutMixBatch(ImageBatchFormat.NHWC)(A, np.eye(2))
VerticalFlip()(BATCH) | ResizedCrop(5, 5, 9, 9, 4)(A)
RandomHorizontalFlipWithBBox(1.0)(A, BOX.copy()) | RandomVerticalFlipWithBBox(1.0)(A, BOX.copy())
ResizeWithBBox((18, 33))(A, BOX.copy()) | ResizeWithBBox(18)(A, BOX.copy()) | RandomCropWithBBox((9, 11))(A, BOX.copy())
RandomCropWithBBox((13, 17), (2, 1, 4, 3))(A, BOX.copy()) | RandomHorizontalFlipWithBBox(1.0)(A, BOX + 9)
RandomCropWithBBox((20, 30))(A, BOX.copy())
BoundingBoxAugment(VerticalFlip(), 1.0)(A, BOX.copy()) | BoundingBoxAugment(Rotate(30), 0.0)(A, BOX.copy())
Equalize()(F) | AutoContrast()(F) | Posterize(2)(F) | Posterize(2)(FOUR) | Equalize()(FOUR)
AutoContrast()(FOUR) | Posterize(2)(np.zeros((3, 3, 3), np.int32)) | AdjustSharpness(2.0)(BATCH)
Rotate(30)(np.zeros((0, 3, 3), np.uint8)) | Rotate(30)(np.zeros(4, np.uint8)) | AdjustHue(0.1)(G)
GaussianBlur(3)(np.zeros(4)) | Rotate(30)("text") | Rotate(30)(5) | AdjustGamma(1.0)(np.zeros(4))
RandomColor()(G) | RandomLighting()(G) | FiveCrop(100)(A) | PadToSize(5)(A)
Perspective([[0, 0], [10, 0], [10, 8], [0, 8]], [[1, 1], [9, 0], [10, 8], [0, 7]])(G)
get_image_size(A) | get_image_size(G) | get_image_num_channels(A) | get_image_num_channels(G)
get_image_size(CHW) | get_image_size(np.zeros(3)) | get_image_num_channels(np.zeros(3))
encode_png(A, 11) | encode_jpeg(A, 0) | encode_jpeg(A.astype(np.float32)) | encode_png(TWO)
write_file("x/y/z", A) | read_file("none/such") | read_image("none/such")
"""
# Those that most scripts use: on images of other sizes, types, channels and strides.
_USUAL = """
Resize((5, 7))(A) | Resize(5)(A) | Resize((20, 30))(A) | Resize((5, 7), Inter.NEAREST)(A) | Resize((20, 30), Inter.NEAREST)(A)
Resize((5, 7), Inter.CUBIC)(A) | Resize((20, 30), Inter.CUBIC)(A) | Resize((5, 7), Inter.AREA)(A) | Resize((5, 7), Inter.PILCUBIC)(A)
Resize((20, 30), Inter.PILCUBIC)(A) | Resize((1, 1))(A) | Resize((1, 40))(A) | Resize((40, 1))(A) | Resize((9, 11))(A)
Resize((4, 5))(WIDE) | Resize((50, 60))(WIDE) | Resize((50, 60), Inter.CUBIC)(WIDE) | Resize((7, 50), Inter.AREA)(WIDE)
Resize((64, 333))(WIDE) | Resize((64, 333), Inter.NEAREST)(WIDE) | Resize(20)(WIDE) | Resize((5, 7))(G) | Resize((5, 7))(F)
Resize((5, 7))(TWO) | Resize((5, 7))(FOUR) | Resize((15, 17), Inter.CUBIC)(FOUR) | Resize((5, 7))(A[..., :1]) | Resize((5, 7))(BATCH)
Resize((5, 7))(F.astype(np.float64)) | Resize((5, 7))(A.astype(np.int16)) | Resize((5, 7))(A.astype(np.uint16) * 200)
Resize((5, 7))(A[::-1, ::2]) | Resize((5, 7))(np.asfortranarray(A)) | Resize((5, 7))(A.transpose(1, 0, 2))
Resize((5, 7))(Image.fromarray(A)) | Resize((5, 7), Inter.NEAREST)(Image.fromarray(A)) | Resize((5, 7), Inter.CUBIC)(Image.fromarray(A))
Resize((5, 7), Inter.ANTIALIAS)(Image.fromarray(A)) | Resize(5)(Image.fromarray(G)) | Resize((20, 30))(Image.fromarray(A))
CenterCrop(5)(A) | CenterCrop((3, 30))(A) | CenterCrop(5)(G) | CenterCrop(5)(F) | CenterCrop((4, 5))(BATCH) | CenterCrop((2, 3))(A[:, ::-1])
CenterCrop((3, 30))(Image.fromarray(A)) | Crop((1, 2), 3)(A) | Crop((1, 2), (3, 4))(F) | Crop((0, 0), (9, 11))(A) | Crop((1, 2), (30, 40))(A)
RandomCrop((9, 11))(A) | RandomCrop((11, 15), (2, 1, 2, 1), False, (1, 2, 3))(A) | RandomCrop((40, 50))(A)
RandomHorizontalFlip(1.0)(A) | RandomHorizontalFlip(1.0)(F) | RandomHorizontalFlip(1.0)(G) | RandomHorizontalFlip(1.0)(WIDE)
RandomHorizontalFlip(1.0)(BATCH) | RandomHorizontalFlip(1.0)(A[::2, ::-1]) | RandomHorizontalFlip(1.0)(Image.fromarray(A))
RandomVerticalFlip(1.0)(A) | RandomHorizontalFlip(0.0)(A) | HorizontalFlip()(FOUR) | HorizontalFlip()(A.astype(np.int32))
Normalize([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])(A) | Normalize([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])(WIDE) | Normalize([0.5], [0.5])(G)
Normalize([0.5], [0.25])(A) | Normalize([1.0, 2.0, 3.0], [4.0, 5.0, 6.0], False)(CHW) | Normalize([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])(F)
Normalize([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])(A.astype(np.int32)) | Normalize([1.0, 2.0], [3.0, 4.0])(A) | Normalize([1.0, 2.0, 3.0], [4.0, 5.0, 6.0])(G)
Rescale(1 / 255, 0.0)(A) | Rescale(1 / 255, -0.5)(WIDE) | Rescale(2.0, 1.0)(F) | Rescale(2.0, 1.0)(A.astype(np.int32)) | Rescale(0.5, 0.0)(G)
HWC2CHW()(A) | HWC2CHW()(F) | HWC2CHW()(WIDE) | HWC2CHW()(G) | HWC2CHW()(TWO) | HWC2CHW()(FOUR) | HWC2CHW()(A[::2, ::-1])
ToTensor()(A) | ToTensor()(F) | ToTensor()(G) | ToTensor()(WIDE) | ToTensor(np.float64)(A) | ToTensor()(Image.fromarray(A)) | ToTensor()(Image.fromarray(G))
Pad(2)(A) | Pad((1, 2))(G) | Pad([1, 2, 3, 4], (9, 8, 7))(A) | Pad(1, 5)(F) | Pad(2, 0, Border.EDGE)(A) | Pad(3, 0, Border.REFLECT)(A)
Pad(2)(Image.fromarray(A)) | Pad(2, 200)(WIDE) | RandomResizedCrop((5, 7), (1, 1), (11 / 9, 11 / 9))(A) | ToPIL()(A) | ToPIL()(G)
Rotate(15)(WIDE) | Rotate(15, Inter.BILINEAR)(WIDE) | Rotate(200, Inter.BILINEAR, True)(WIDE) | Rotate(15, Inter.BILINEAR)(A[::-1, ::2])
AdjustBrightness(1.3)(WIDE) | AdjustContrast(1.4)(WIDE) | AdjustSaturation(0.3)(WIDE) | AdjustSaturation(3.3)(WIDE) | AdjustHue(0.3)(WIDE)
AdjustHue(-0.2)(WIDE) | Equalize()(WIDE) | AutoContrast(3.0)(WIDE) | Invert()(WIDE) | Posterize(2)(WIDE) | Solarize((20, 90))(WIDE)
GaussianBlur(5)(WIDE) | AdjustSharpness(1.7)(WIDE) | AdjustGamma(0.6)(WIDE) | RandomColorAdjust(hue=(0.1, 0.1))(WIDE)
np.array(isinstance(HorizontalFlip()(Image.fromarray(A)), Image.Image)) | np.array(isinstance(Crop((1, 2), 3)(Image.fromarray(A)), Image.Image))
np.array(isinstance(Rotate(9)(Image.fromarray(A)), Image.Image)) | np.array(isinstance(Affine(9, (0, 0), 1, 0)(Image.fromarray(A)), Image.Image))
np.array(isinstance(Resize(9)(Image.fromarray(A)), Image.Image)) | np.array(isinstance(Invert()(Image.fromarray(A)), Image.Image))
np.array(isinstance(Posterize(3)(Image.fromarray(A)), Image.Image)) | np.array(isinstance(GaussianBlur(3)(Image.fromarray(A)), Image.Image))
np.array(isinstance(RandomInvert(1.0)(Image.fromarray(A)), Image.Image)) | np.array(isinstance(CutOut(2)(Image.fromarray(A)), Image.Image))
np.array(isinstance(RandomRotation(9)(Image.fromarray(A)), Image.Image)) | np.array(isinstance(Pad(1)(Image.fromarray(A)), Image.Image))
np.array(isinstance(FiveCrop(3)(Image.fromarray(A))[0], Image.Image)) | np.array(isinstance(AutoAugment()(Image.fromarray(A)), Image.Image))
Normalize([256.0], [1.0]) | Normalize([1.0], [256.0]) | Normalize([-1.0], [1.0]) | Pad(1, 256) | Pad(1, (1, 2)) | Crop((1, 2, 3), 4) | Crop(1, 2)
RandomCrop(0) | RandomCrop(3, -1) | CenterCrop(0) | Resize(0) | Resize("a") | Resize((1, 2, 3)) | Resize(5, "linear") | RandomHorizontalFlip(2)
Decode(1) | Rescale("a", 0) | RandomResizedCrop(5, (2, 1)) | RandomResizedCrop(5, max_attempts=0) | HWC2CHW()("text")
Resize(5)(np.zeros(3, np.uint8)) | Normalize([1.0], [1.0])(np.zeros(3)) | CenterCrop(2)(np.zeros(3, np.uint8)) | Resize(5)(None) | ToPIL()(np.zeros(3))
"""
_ARGUMENTS = """
Rotate("a") | Rotate(30, 2) | Rotate(30, expand=1) | Rotate(30, center=3) | Rotate(30, center=(1, 2, 3))
Rotate(30, fill_value=256) | Rotate(30, fill_value=(1, 2)) | Rotate(30, fill_value=-1) | Rotate()
Rotate(30, fill_value=1.5) | Rotate(None) | Rotate([1, 2])
RandomRotation(-3) | RandomRotation((5, 3)) | RandomRotation((1, 2, 3)) | RandomRotation("a")
RandomRotation(3, fill_value=300) | RandomRotation([1, 5]) | RandomRotation((-5, 5))
Affine("a", (0, 0), 1, 0) | Affine(5, (0, 2), 1, 0) | Affine(5, (0, 0), 0, 0) | Affine(5, (0, 0), -1, 0)
Affine(5, (0, 0), 1, (1, 2, 3)) | Affine(5, 0.1, 1, 0) | Affine(5, (0, 0), 1, 0, 2) | Affine(5, (0,), 1, 0)
RandomAffine(-1) | RandomAffine((1, 2, 3)) | RandomAffine(1, (2, 3)) | RandomAffine(1, (0, 0.1, 0.2))
RandomAffine(1, None, (0, 0)) | RandomAffine(1, None, (2, 1)) | RandomAffine(1, None, None, -1)
RandomAffine(1, (-0.1, 0.1, 0, 0.2), (0.5, 1), 5) | RandomAffine(1, None, None, (1, 2, 3))
RandomAffine("a") | RandomAffine(1, None, None, (2, 1)) | RandomAffine(1, (0.1, -0.1))
Perspective([[0, 0]], [[1, 1]]) | Perspective(1, 2) | RandomPerspective(2.0) | RandomPerspective(0.5, "a")
RandomPerspective(0.5, 0.5, 3) | Posterize(-1) | Posterize(9) | Posterize(1.5) | RandomPosterize(0)
RandomPosterize((3, 1)) | RandomPosterize((0, 9)) | RandomPosterize(5) | Solarize(-1) | Solarize((5, 1))
Solarize(256) | Solarize("a") | Solarize((1, 2, 3)) | RandomSolarize((5, 1)) | RandomSolarize((0, 256))
RandomSolarize(5) | RandomSolarize((1, 2, 3)) | AutoContrast(-1) | AutoContrast(50) | AutoContrast(100)
AutoContrast(1.0, 256) | AutoContrast(1.0, [-1]) | AutoContrast("a") | AutoContrast(1.0, "a")
RandomAutoContrast(1.0, None, 2) | RandomEqualize(2) | RandomInvert(-1) | RandomInvert("a")
AdjustSharpness(-1) | AdjustSharpness("a") | RandomAdjustSharpness(-1) | RandomAdjustSharpness(1, 2)
RandomSharpness((3, 1)) | RandomSharpness((-1, 1)) | RandomSharpness(1) | RandomColor((3, 1))
RandomColor((-1, 1)) | RandomColor(1) | AdjustGamma(-1) | AdjustGamma("a") | AdjustGamma(1, "a")
AdjustBrightness(-1) | AdjustContrast("a") | AdjustHue(0.6) | AdjustSaturation(None) | GaussianBlur(2)
GaussianBlur(-1) | GaussianBlur((3, 4)) | GaussianBlur(3, -1) | GaussianBlur("a") | GaussianBlur(3, "a")
GaussianBlur((3, 3, 3)) | GaussianBlur(0) | GaussianBlur(3, 0) | RandomLighting(-1) | RandomLighting("a")
Erase(-1, 0, 1, 1) | Erase(0, 0, 0, 1) | Erase("a", 0, 1, 1) | Erase(0, 0, 1, 1, -1) | Erase(0, 0, 1, 1, (1, 2))
Erase(0, 0, 1, 1, 0, 1) | Erase(0, 0, 1, 1, 256) | FiveCrop(0) | FiveCrop("a") | TenCrop(5, 1)
TenCrop((1, 2, 3)) | PadToSize(0) | PadToSize(5, -1) | PadToSize(5, (1, 2, 3)) | PadToSize(5, None, 300)
PadToSize("a") | PadToSize(5, 1, 0, "constant") | ResizedCrop(-1, 0, 1, 1, 1) | ResizedCrop(0, 0, 0, 1, 1)
ResizedCrop(0, 0, 1, 1, 0) | ResizedCrop(0, 0, 1, 1, 1, 2) | SlicePatches(0) | SlicePatches(1, "a")
SlicePatches(1, 1, 0) | SlicePatches(1, 1, SliceMode.PAD, 256) | ConvertColor(4) | ConvertColor("a")
NormalizePad([1], [0]) | NormalizePad([1, 2], [1]) | NormalizePad([1], [1], "float64") | NormalizePad(1, 1)
LinearTransformation([1], [1]) | LinearTransformation(np.eye(3), np.zeros(2)) | MixUp(0, 1.0) | MixUp(2, -1)
LinearTransformation(np.zeros((2, 3)), np.zeros(2)) | MixUp(2, 0) | MixUp("a", 1.0) | MixUp(2, 1.0, 1)
MixUpBatch(0) | MixUpBatch(-1) | MixUpBatch("a") | CutMixBatch(1) | CutMixBatch(ImageBatchFormat.NHWC, 0)
CutMixBatch(ImageBatchFormat.NHWC, 1.0, 2) | UniformAugment([]) | UniformAugment([Invert()], 0)
UniformAugment([Invert()], 2) | UniformAugment([1]) | UniformAugment(1) | AutoAugment("imagenet")
AutoAugment(fill_value=256) | AutoAugment(interpolation=3) | RandAugment(-1) | RandAugment(2, 40)
RandAugment(2, -1) | RandAugment(2, 9, 1) | RandAugment("a") | TrivialAugmentWide(1)
TrivialAugmentWide("a") | RandomSelectSubpolicy([]) | RandomSelectSubpolicy([[]]) | RandomSelectSubpolicy(1)
RandomSelectSubpolicy([[(Invert(), 2)]]) | RandomSelectSubpolicy([[Invert()]])
RandomSelectSubpolicy([[(1, 0.5)]]) | RandomSelectSubpolicy([[(Invert(), 0.5)]]) | RandomResize(0)
RandomResize("a") | RandomResizeWithBBox((1, 2, 3)) | BoundingBoxAugment(1) | BoundingBoxAugment(Invert(), 2)
RandomHorizontalFlipWithBBox(2) | RandomCropWithBBox(0) | ResizeWithBBox(0) | RandomResizedCropWithBBox(0)
RandomResizedCropWithBBox(5, (2, 1)) | RgbToHsv(1) | HsvToRgb("a") | MixUpBatch(1) | RandAugment(0)
"""


def _split(text: str) -> list[str]:
    return [part.strip() for line in text.strip().splitlines() for part in line.split(" | ")]


def cases() -> dict[str, str]:
    """The expression of each case; its kind stands in front of its name."""
    pil = "Image.fromarray(A)"
    kinds = {
        "array": [f"{call}(A)" for call in _split(_ON_ARRAYS)],
        "pil": [f"{call}({pil})" for call in _split(_ON_PIL)],
        "other": _split(_OTHERS),
        "usual": _split(_USUAL),
        "made": _split(_ARGUMENTS),
    }
    return {f"{kind}: {call}": call for kind, calls in kinds.items() for call in calls}


def run(call: str, vision: Any) -> list[Any]:
    """The arrays that a call gives (of one that makes a transform, none), or its error's type."""
    names = {name: getattr(vision, name) for name in dir(vision) if name[0] != "_"}
    if "Image." in call:
        from PIL import Image

        names["Image"] = Image
    try:
        result = eval(call, {**globals(), **names})
    except Exception as error:
        return [type(error).__name__, str(error)]
    if callable(result):
        return []
    parts = result if isinstance(result, (tuple, list)) else [result]
    return [np.asarray(part) for part in parts]


def unpack(answer: list[Any]) -> list[Any]:
    """What `run` gave, from a line of the file."""
    return [
        np.frombuffer(zlib.decompress(base64.b64decode(part[2])), part[0]).reshape(part[1])
        if isinstance(part, list)
        else part
        for part in answer
    ]


def pack(part: Any) -> Any:
    """An array as JSON may hold it; other values as they are."""
    if not isinstance(part, np.ndarray):
        return part
    data = base64.b64encode(zlib.compress(np.ascontiguousarray(part).tobytes(), 9)).decode()
    return [part.dtype.str, list(part.shape), data]


def record(path: Path) -> None:
    """Write the answers of the package that is there."""
    import mindspore.dataset.vision as peer

    lines = []
    for name, call in cases().items():
        result = [pack(part) for part in run(call, peer)]
        failed = bool(result) and isinstance(result[0], str)
        lines.append(json.dumps([name, result[:1] if failed else result]))
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    record(ANSWERS)
