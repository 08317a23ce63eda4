"""Lists and schedules of learning rates."""

from differential.calllib import call, case, f32, i32, made, of

STEP = of(3, "int32")

call("nn.piecewise_constant_lr", [2, 5, 9], [0.1, 0.05, 0.01])
call("nn.piecewise_constant_lr", (1,), (0.5,))
call("nn.piecewise_constant_lr", [2, 5], [0.1])
call("nn.piecewise_constant_lr", [5, 2], [0.1, 0.2])
call("nn.piecewise_constant_lr", [2], [1])
call("nn.piecewise_constant_lr", [2], [-0.1])
call("nn.piecewise_constant_lr", [0], [0.1])
for kind in ("exponential", "natural_exp", "inverse"):
    name = f"nn.{kind}_decay_lr"
    call(name, 0.1, 0.9, 6, 2, 1)
    call(name, 0.1, 0.9, 7, 2, 2, True)
    call(name, learning_rate=0.3, decay_rate=0.5, total_step=4, step_per_epoch=1, decay_epoch=3)
    call(name, 0.1, 0.9, 6, 2, 0)
    call(name, 0.1, 0.9, 6.0, 2, 1)
    call(name, 1, 0.9, 6, 2, 1)
    call(name, 0.1, -0.9, 6, 2, 1)
    call(name, 0.1, 0.9, 6, 2, 1, 1)
    call(name, 0.1, 0.9, 0, 2, 1)
call("nn.cosine_decay_lr", 0.01, 0.1, 6, 2, 2)
call("nn.cosine_decay_lr", 0.0, 1.0, 10, 3, 4)
call("nn.cosine_decay_lr", 0.1, 0.01, 6, 2, 2)
call("nn.cosine_decay_lr", 0, 0.1, 6, 2, 2)
call("nn.cosine_decay_lr", 0.01, 0.1, 6, 0, 2)
call("nn.polynomial_decay_lr", 0.1, 0.01, 6, 2, 2, 0.5)
call("nn.polynomial_decay_lr", 0.1, 0.01, 12, 2, 2, 2.0, True)
call("nn.polynomial_decay_lr", 0.01, 0.1, 6, 2, 3, 1.0)
call("nn.polynomial_decay_lr", 0.1, 0.01, 6, 2, 2, 0.0)
call("nn.polynomial_decay_lr", 0.1, 0.01, 6, 2, 2, 1)
call("nn.polynomial_decay_lr", 0.1, -0.01, 6, 2, 2, 0.5)
call("nn.warmup_lr", 0.1, 6, 2, 2)
call("nn.warmup_lr", 0.1, 6, 2, 0)
call("nn.warmup_lr", 0.0, 6, 2, 2)
call("nn.warmup_lr", 0.1, 6, 2, -1)
for kind in ("ExponentialDecayLR", "NaturalExpDecayLR", "InverseDecayLR"):
    made(f"nn.{kind}", 0.1, 0.9, 4)(STEP)
    made(f"nn.{kind}", 0.1, 0.5, 2, True)(STEP)
    made(f"nn.{kind}", 0.1, 0.5, 2, True)(i32(low=10, high=20))
    made(f"nn.{kind}", 0.1, 0.5, 2)(of(3.0))
    made(f"nn.{kind}", 0.1, 0.9, 0)(STEP)
    made(f"nn.{kind}", 1, 0.9, 4)(STEP)
    made(f"nn.{kind}", 0.1, 0.9, 4, 1)(STEP)
    made(f"nn.{kind}", -0.1, 0.9, 4)(STEP)
made("nn.CosineDecayLR", 0.01, 0.1, 4)(STEP)
made("nn.CosineDecayLR", 0.01, 0.1, 4)(of(9, "int32"))
made("nn.CosineDecayLR", 0.1, 0.01, 4)(STEP)
made("nn.CosineDecayLR", 0.01, 0.1, 0)(STEP)
made("nn.CosineDecayLR", 0, 0.1, 4)(STEP)
made("nn.PolynomialDecayLR", 0.1, 0.01, 4, 0.5)(STEP)
made("nn.PolynomialDecayLR", 0.1, 0.01, 4, 2.0)(of(9, "int32"))
made("nn.PolynomialDecayLR", 0.1, 0.01, 4, 2.0, True)(of(9, "int32"))
made("nn.PolynomialDecayLR", 0.1, 0.01, 4, 2.0, True)(of(0, "int32"))
made("nn.PolynomialDecayLR", 0.1, 0.01, 4, 0.0)(STEP)
made("nn.PolynomialDecayLR", 0.1, 0.2, 4, 1.0)(STEP)
made("nn.PolynomialDecayLR", 0.1, 0.01, 4.0, 1.0)(STEP)
made("nn.WarmUpLR", 0.1, 4)(STEP)
made("nn.WarmUpLR", 0.1, 4)(of(9, "int32"))
made("nn.WarmUpLR", 0.1, 0)(STEP)
made("nn.WarmUpLR", 0.1, 4)(f32(2, 3))


@case("nn.LearningRateSchedule")
def _(ms):
    """of one's own, behind a warm-up, in an optimizer"""

    class Own(ms.nn.LearningRateSchedule):
        def __init__(self):
            super().__init__()
            self.warm = ms.nn.WarmUpLR(0.1, 3)
            self.then = ms.nn.PolynomialDecayLR(0.1, 0.01, 4, 1.0)

        def construct(self, step):
            return ms.ops.minimum(self.warm(step), self.then(step))

    weight = ms.Parameter(ms.Tensor([1.0, 2.0]), name="weight")
    optimizer = ms.nn.SGD([weight], Own())
    seen = []
    for _ in range(5):
        seen.append(optimizer.get_lr().asnumpy())
        optimizer((ms.Tensor([0.5, -1.0]),))
    return [seen, weight]


@case("nn.LearningRateSchedule")
def _(ms):
    """that is not written"""
    return ms.nn.LearningRateSchedule()(ms.Tensor(3, ms.int32))
