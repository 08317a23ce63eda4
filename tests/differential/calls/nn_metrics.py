"""Metrics of segmentations and of confusion."""

import numpy as np
from differential.calllib import case, f32, i32

BITS = [i32(3, 3, 2, 2, low=0, high=2, seed=s).value.astype(np.float32) for s in range(2)]
PLANES = [i32(6, 7, low=0, high=3, seed=s).value for s in range(2)]
VOLUMES = [i32(4, 5, 6, low=0, high=2, seed=s).value for s in range(2)]
SMALL = [
    np.array(x) for x in ([[3, 0, 1], [1, 3, 0], [1, 0, 2]], [[0, 2, 1], [1, 2, 1], [0, 0, 1]])
]


def measured(name, inputs, *args, times=1, **kwargs):
    """The result after updates."""

    @case(f"train.{name}", tol=1e-6)
    def program(ms):
        metric = getattr(ms.train, name)(*args, **kwargs)
        metric.clear()
        for _ in range(times):
            metric.update(*[ms.Tensor(x) if isinstance(x, np.ndarray) else x for x in inputs])
        return metric.eval()


RATES = (
    "sensitivity, specificity, precision, negative predictive value, miss rate, fall out, false discovery rate, "
    "false omission rate, prevalence threshold, threat score, accuracy, balanced accuracy, f1 score, "
    "matthews correlation coefficient, fowlkes mallows index, informedness, markedness, tpr, PPV, hit rate"
).split(", ")
for rate in RATES:
    measured("ConfusionMatrixMetric", BITS, False, rate)
measured("ConfusionMatrixMetric", BITS, True, "tpr", times=2)
measured("ConfusionMatrixMetric", BITS, True, "tpr", True)
measured("ConfusionMatrixMetric", BITS, True, "f1 score", True, "sum", times=2)
measured("ConfusionMatrixMetric", BITS, metric_name="fit")
measured("ConfusionMatrixMetric", BITS, decrease="median")
measured("ConfusionMatrixMetric", (BITS[0], PLANES[0]))
measured("ConfusionMatrixMetric", BITS, 1)
for distance in ("euclidean", "chessboard", "taxicab"):
    for pair in (PLANES, VOLUMES):
        measured("HausdorffDistance", (*pair, 1), distance)
        measured("HausdorffDistance", (*pair, 1), distance, 90.0)
        measured("HausdorffDistance", (*pair, 1), distance, None, True, False)
        for symmetric in (False, True):
            measured("MeanSurfaceDistance", (*pair, 1), symmetric, distance)
        measured("RootMeanSquareDistance", (*pair, 1), True, distance)
for label in (0, 1, 2, 7):
    measured("HausdorffDistance", (*SMALL, label))
    measured("MeanSurfaceDistance", (*SMALL, label))
measured("RootMeanSquareDistance", (*SMALL, 0))
measured("RootMeanSquareDistance", (*SMALL, 2))
measured("MeanSurfaceDistance", (SMALL[0], SMALL[0] * 0, 1))
measured("HausdorffDistance", (SMALL[0] * 0, SMALL[0], 1))
measured("HausdorffDistance", SMALL)
measured("HausdorffDistance", (SMALL[0], PLANES[0], 1))
measured("HausdorffDistance", (*SMALL, 1), percentile=101.0)
measured("HausdorffDistance", (*SMALL, 1), "manhattan")


def covered(*args, label=1, **kwargs):
    """How the score of a class falls."""

    @case("train.OcclusionSensitivity", tol=1e-5)
    def program(ms):
        weight = np.array([[0.1, 0.8, 0.1, 0.1], [1, 1, 1, 1]], np.float32)
        net = ms.nn.Dense(4, 2, ms.Tensor(weight), "zeros")
        metric = ms.train.OcclusionSensitivity(*args, **kwargs)
        metric.update(net, f32(1, 4).value, np.array(label, np.int32))
        return metric.eval()


covered()
covered(9.0, 1, label=0)
covered(margin=0)
covered(n_batch=2)
covered(b_box=[1, 2])
covered(b_box=[2, 1])
covered(b_box=[1])
covered(margin="a")
for short in ("Accuracy", "auc", "get_metric_fn", "Metric"):
    case(short)(lambda ms, short=short: callable(getattr(ms, short)))
