"""Calls of the losses that most models use."""

from differential.calllib import at, b1, case, f16, f32, f64, i32, i64, made, of

ROWS, TARGET, PROBABLE = f32(3, 4), f32(3, 4, seed=1), f32(3, 4, low=0.05, high=0.95)
CLASSES, SIGNS = i32(3, low=0, high=4), of([1, -1, 1])
HOT = of([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
BITS = of([[0, 1, 1, 0], [1, 0, 0, 1], [0, 1, 0, 1]])

PAIRS = {
    "MSELoss": (ROWS, TARGET),
    "L1Loss": (ROWS, TARGET),
    "MAELoss": (ROWS, TARGET),
    "SmoothL1Loss": (ROWS, TARGET),
    "HuberLoss": (ROWS, TARGET),
    "BCELoss": (PROBABLE, BITS),
    "BCEWithLogitsLoss": (ROWS, BITS),
    "SoftMarginLoss": (ROWS, of([[1, -1, 1, 1]] * 3)),
    "KLDivLoss": (ROWS, PROBABLE),
    "CrossEntropyLoss": (ROWS, CLASSES),
    "NLLLoss": (ROWS, CLASSES),
    "SoftmaxCrossEntropyWithLogits": (ROWS, HOT),
    "HingeEmbeddingLoss": (ROWS, of([[1, -1, 1, -1]] * 3)),
    "MarginRankingLoss": (f32(3), f32(3, seed=1), SIGNS),
    "CosineEmbeddingLoss": (ROWS, TARGET, SIGNS),
    "TripletMarginLoss": (ROWS, TARGET, f32(3, 4, seed=2)),
}

for name, inputs in PAIRS.items():
    for reduction in ("none", "mean", "sum"):
        made(f"nn.{name}", reduction=reduction)(
            *inputs, grad=name in ("MSELoss", "HuberLoss", "BCELoss", "MAELoss")
        )
    made(f"nn.{name}")(*inputs)
    made(f"nn.{name}", reduction="most")(*inputs)
    made(f"nn.{name}", reduction=None)(*inputs)
    made(f"nn.{name}")(inputs[0], f32(5, 7), *inputs[2:])
    made(f"nn.{name}")(*inputs[:-1], 3)
made("nn.MSELoss")(f16(3, 4), f16(3, 4, seed=1))
made("nn.MSELoss")(f64(3), f32(3))
made("nn.MSELoss")(ROWS, f32(4))
made("nn.MSELoss")(i32(3), i32(3, seed=1))
made("nn.RMSELoss")(ROWS, TARGET, grad=True)
made("nn.RMSELoss")(f16(4), f16(4, seed=1))
made("nn.RMSELoss", 3)(ROWS, TARGET)
made("nn.MAELoss")(ROWS, f32(4))
made("nn.L1Loss")(ROWS, f32(1, 4))
made("nn.SmoothL1Loss", 0.5)(ROWS, TARGET, grad=True)
made("nn.SmoothL1Loss", beta=2.0, reduction="mean")(ROWS, TARGET, grad=True)
made("nn.SmoothL1Loss", 0.0)(ROWS, TARGET)
made("nn.SmoothL1Loss", -1.0)(ROWS, TARGET)
made("nn.HuberLoss", "sum", 0.5)(ROWS, TARGET, grad=True)
made("nn.HuberLoss", "mean", 0.0)(ROWS, TARGET)
made("nn.BCELoss", f32(3, 4, low=0.1), "mean")(PROBABLE, BITS)
made("nn.BCELoss", reduction="sum")(of([0.0, 1.0, 0.5]), of([0.0, 0.0, 1.0]))
made("nn.BCELoss")(of([0.2, 1.5]), of([0.0, 1.0]))
made("nn.BCEWithLogitsLoss", "none", f32(3, 4, low=0.1), f32(4, low=0.1))(ROWS, BITS, grad=True)
made("nn.BCEWithLogitsLoss", weight=f32(4, low=0.1))(ROWS, BITS)
made("nn.BCEWithLogitsLoss", pos_weight=f32(3))(ROWS, BITS)
made("nn.BCEWithLogitsLoss")(of([1000.0, -1000.0]), of([1.0, 0.0]))
made("nn.BCEWithLogitsLoss")(ROWS, i32(3, 4, low=0, high=2))
made("nn.KLDivLoss", "batchmean")(ROWS, PROBABLE, grad=True)
made("nn.KLDivLoss", "none")(ROWS, of([[0.0, 0.5, 0.25, 0.25]] * 3))
made("nn.CrossEntropyLoss", f32(4, low=0.1), 2)(ROWS, CLASSES, grad=True)
made("nn.CrossEntropyLoss", f32(4, low=0.1), label_smoothing=0.1)(ROWS, CLASSES, grad=True)
made("nn.CrossEntropyLoss", label_smoothing=0.2, reduction="none")(ROWS, PROBABLE, grad=True)
made("nn.CrossEntropyLoss", ignore_index=2, reduction="none")(ROWS, of([0, 2, 1], "int32"))
made("nn.CrossEntropyLoss", ignore_index=2)(ROWS, of([2, 2, 2], "int32"))
made("nn.CrossEntropyLoss")(f32(2, 4, 3, 3), i32(2, 3, 3, low=0, high=4))
made("nn.CrossEntropyLoss")(f32(4), of(2, "int32"))
made("nn.CrossEntropyLoss", label_smoothing=1.5)(ROWS, CLASSES)
made("nn.CrossEntropyLoss")(ROWS, of([0, 7, 1], "int32"))
made("nn.CrossEntropyLoss")(ROWS, i64(3, low=0, high=4))
made("nn.CrossEntropyLoss", f32(3))(ROWS, CLASSES)
made("nn.NLLLoss", f32(4, low=0.1), 2)(ROWS, CLASSES, grad=True)
made("nn.NLLLoss", reduction="none")(f32(2, 4, 3), i32(2, 3, low=0, high=4))
made("nn.NLLLoss")(ROWS, i32(2, low=0, high=4))
made("nn.SoftmaxCrossEntropyWithLogits", True)(ROWS, CLASSES, grad=True)
made("nn.SoftmaxCrossEntropyWithLogits", sparse=True, reduction="mean")(ROWS, CLASSES, grad=True)
made("nn.SoftmaxCrossEntropyWithLogits", sparse=True, reduction="sum")(ROWS, i64(3, low=0, high=4))
made("nn.SoftmaxCrossEntropyWithLogits", sparse=True)(ROWS, HOT)
made("nn.SoftmaxCrossEntropyWithLogits")(ROWS, CLASSES)
made("nn.SoftmaxCrossEntropyWithLogits", sparse=1)(ROWS, CLASSES)
made("nn.SoftmaxCrossEntropyWithLogits")(f32(4), f32(4))
made("nn.SoftmaxCrossEntropyWithLogits")(f16(3, 4), of([[0, 1, 0, 0]] * 3, "float16"))
made("nn.HingeEmbeddingLoss", 0.5, "none")(ROWS, of([[1, -1, 1, -1]] * 3), grad=True)
made("nn.HingeEmbeddingLoss", "a")(ROWS, of([[1, -1, 1, -1]] * 3))
made("nn.MarginRankingLoss", 0.5, "none")(f32(3), f32(3, seed=1), SIGNS, grad=True)
made("nn.MarginRankingLoss", "a")(f32(3), f32(3, seed=1), SIGNS)
made("nn.CosineEmbeddingLoss", 0.3)(ROWS, TARGET, SIGNS, grad=True)
made("nn.CosineEmbeddingLoss", 2.0)(ROWS, TARGET, SIGNS)
made("nn.TripletMarginLoss", 1)(ROWS, TARGET, f32(3, 4, seed=2), of(0.5))
made("nn.TripletMarginLoss", 2, True, 1e-3, "sum", 0.5)(ROWS, TARGET, f32(3, 4, seed=2))
made("nn.DiceLoss")(PROBABLE, BITS, grad=True)
made("nn.DiceLoss", 0.1)(f32(2, 3, 4, low=0.0), f32(2, 3, 4, low=0.0, seed=1))
made("nn.DiceLoss", 0)(PROBABLE, BITS)
made("nn.DiceLoss", "a")(PROBABLE, BITS)
made("nn.DiceLoss")(PROBABLE, f32(3, 3))
made("nn.FocalLoss")(ROWS, of([[1], [3], [0]], "int32"))
made("nn.FocalLoss", f32(4, low=0.1), 1.5, "none")(ROWS, of([[1], [3], [0]], "int32"))
made("nn.FocalLoss", reduction="sum")(f32(2, 4, 3), i32(2, 1, 3, low=0, high=4), grad=True)
made("nn.FocalLoss", gamma=0.0)(ROWS, HOT)
made("nn.FocalLoss", f32(3))(ROWS, of([[1], [3], [0]], "int32"))
made("nn.FocalLoss", gamma="a")(ROWS, HOT)
made("nn.FocalLoss", reduction="most")(ROWS, HOT)
made("nn.FocalLoss")(ROWS, f32(2, 1))
made("nn.LossBase", "most")(ROWS)
made("nn.SoftMarginLoss")(ROWS, b1(3, 4))
made("nn.SmoothL1Loss", reduction=at("nn.ReLU"))(ROWS, TARGET)


def reduced(reduction, weights=1.0):
    """A loss of one's own, through LossBase."""

    @case("nn.LossBase")
    def program(ms):
        class Own(ms.nn.LossBase):
            def construct(self, x, y):
                return self.get_loss(self.get_axis(x)[0] + x * y, weights)

        return Own(reduction)(ms.Tensor(ROWS.value), ms.Tensor(TARGET.value))


for how in ("mean", "sum", "none"):
    reduced(how)
    reduced(how, 0.5)
reduced("most")
reduced(None)
