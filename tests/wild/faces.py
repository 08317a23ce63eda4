"""Arguments of what is public beside ops, layers and arrays: transforms of datasets, training, mixed precision, solvers. Read as TEXTS of
samples.py are; a transform's are its constructor's, then `|`, then what it is called with."""

from __future__ import annotations

import numpy as np

IMAGE = np.arange(8 * 8 * 3, dtype=np.uint8).reshape(8, 8, 3)

_VISION = {
    "AdjustBrightness": "1.5 | IMAGE",
    "AdjustContrast": "1.5 | IMAGE",
    "AdjustGamma": "2.0 | IMAGE",
    "AdjustHue": "0.2 | IMAGE",
    "AdjustSaturation": "1.5 | IMAGE",
    "AdjustSharpness": "1.5 | IMAGE",
    "Affine": "15, [0.1, 0.2], 1.1, 10.0 | IMAGE",
    "AutoContrast": "| IMAGE",
    "CenterCrop": "4 | IMAGE",
    "ConvertColor": "vision.ConvertMode.COLOR_RGB2BGR | IMAGE",
    "Crop": "(1, 1), 4 | IMAGE",
    "Equalize": "| IMAGE",
    "Erase": "1, 1, 3, 3 | IMAGE",
    "GaussianBlur": "3 | IMAGE",
    "Grayscale": "3 | IMAGE",
    "HWC2CHW": "| IMAGE",
    "HorizontalFlip": "| IMAGE",
    "Invert": "| IMAGE",
    "Normalize": "[1.0, 2.0, 3.0], [2.0, 2.0, 2.0] | IMAGE",
    "NormalizePad": "[1.0, 2.0, 3.0], [2.0, 2.0, 2.0] | IMAGE",
    "Pad": "1 | IMAGE",
    "PadToSize": "10 | IMAGE",
    "Perspective": "[[0, 0], [7, 0], [7, 7], [0, 7]], [[1, 0], [7, 1], [6, 7], [0, 6]] | IMAGE",
    "Posterize": "3 | IMAGE",
    "RandomCrop": "4 | IMAGE",
    "RandomHorizontalFlip": "0.5 | IMAGE",
    "RandomResizedCrop": "4 | IMAGE",
    "RandomRotation": "15 | IMAGE",
    "Rescale": "0.5, 1.0 | IMAGE",
    "Resize": "4 | IMAGE",
    "ResizedCrop": "1, 1, 4, 4, 3 | IMAGE",
    "Rotate": "30 | IMAGE",
    "Solarize": "(10, 100) | IMAGE",
    "ToTensor": "| IMAGE",
    "VerticalFlip": "| IMAGE",
}
_TRANSFORMS = {
    "Concatenate": "0 | np.arange(3)",
    "Duplicate": "| np.arange(3)",
    "Fill": "7 | np.arange(3)",
    "Mask": "transforms.Relational.GT, 1 | np.arange(3)",
    "OneHot": "4 | np.array(2)",
    "PadEnd": "[5], 0 | np.arange(3)",
    "Slice": "slice(0, 2) | np.arange(3)",
    "TypeCast": "ms.float32 | np.arange(3)",
    "Unique": "| np.arange(3)",
}
_PLAIN = {
    "scipy.sparse.linalg.cg": "Tensor([[2.0, 0.5], [0.5, 1.0]]), f(2)",
    "scipy.sparse.linalg.gmres": "Tensor([[2.0, 0.5], [0.5, 1.0]]), f(2)",
    "scipy.sparse.linalg.bicgstab": "Tensor([[2.0, 0.5], [0.5, 1.0]]), f(2)",
    "scipy.optimize.minimize": "lambda x: (x * x).sum(), f(2), method='BFGS'",
    "scipy.optimize.line_search": "lambda x: (x * x).sum(), f(2), -f(2)",
    "amp.all_finite": "(f(2), f(3))",
    "amp.auto_mixed_precision": "net(), 'O0'",
    "amp.DynamicLossScaler": "2.0, 2, 2",
    "amp.StaticLossScaler": "2.0",
    "train.CheckpointConfig": "",
    "train.DynamicLossScaleManager": "",
    "train.EarlyStopping": "",
    "train.FixedLossScaleManager": "",
    "train.LambdaCallback": "",
    "train.LearningRateScheduler": "lambda rate, step: rate",
    "train.LossMonitor": "",
    "train.Model": "net()",
    "train.ReduceLROnPlateau": "",
    "train.TimeMonitor": "2",
}
_UPDATED = "net().trainable_params() | (f(1, 3), f(1))"
FACES = {
    **_PLAIN,
    **dict.fromkeys((f"mint.optim.{name}" for name in ("Adam", "AdamW", "FusedAdamW")), _UPDATED),
    "mint.optim.SGD": _UPDATED.replace(" |", ", 0.1 |"),
    **{f"dataset.vision.{name}": text for name, text in _VISION.items()},
    **{f"dataset.transforms.{name}": text for name, text in _TRANSFORMS.items()},
}
