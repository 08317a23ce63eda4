"""Calls of bijectors, and of distributions that they transform."""

from typing import Any

from differential.calllib import case, f16, f64, made, of

X = of([0.25, 0.5, 1.0, 2.0])
INNER = of([0.125, 0.5, 0.75])
for name, given, values in (
    ("Exp", (), X),
    ("PowerTransform", (0.5,), X),
    ("PowerTransform", (), X),
    ("PowerTransform", ([[0.5], [2.0]],), X),
    ("ScalarAffine", (-2.0, 1.0), X),
    ("ScalarAffine", ([[2.0], [3.0]], [[1.0], [0.0]]), X),
    ("Softplus", (2.0,), X),
    ("GumbelCDF", (1.0, 2.0), INNER),
):
    path = f"nn.probability.bijector.{name}"
    for function in ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian"):
        made(path, *given)(function, values)
    if (
        name not in ("ScalarAffine", "Exp") and given
    ):  # its gradient is NaN in the reference at a power of 0
        made(path, *given)("forward_log_jacobian", values, grad=True)
    made(path, *given)("inverse", values, grad=True)
    made(path, *given)("forward", f16(3, low=0.5))
    made(path, *given)("forward", f64(3, low=0.5))
    made(path, *given)("forward", of([1, 2], "int32"))
    made(path, *given)("forward", 1.0)
for name, given in (
    ("PowerTransform", (-1.0,)),
    ("PowerTransform", ("x",)),
    ("GumbelCDF", (0.0, 0.0)),
    ("Invert", (3,)),
    ("ScalarAffine", (True,)),
    ("Exp", (3,)),
):
    made(f"nn.probability.bijector.{name}", *given)("forward", X)


def _all_of(chosen: Any, ms: Any, *more: Any) -> list:
    values = ms.Tensor(INNER.value)
    functions = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival")
    return [getattr(chosen, f)(values, *more) for f in functions]


@case("nn.probability.bijector.Invert")
def _(ms):
    """all functions"""
    import mindspore.nn.probability.bijector as msb

    inverse, x = msb.Invert(msb.GumbelCDF(1.0, 2.0)), ms.Tensor(INNER.value)
    functions = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")
    return [inverse.name, *[getattr(inverse, f)(x) for f in functions]]


@case("nn.probability.distribution.TransformedDistribution")
def _(ms):
    """exp of normal"""
    import mindspore.nn.probability.bijector as msb
    import mindspore.nn.probability.distribution as msd

    made = msd.TransformedDistribution(msb.Exp(), msd.Normal(0.5, 2.0))
    return [*_all_of(made, ms), made.batch_shape, made.is_linear_transformation, made.name]


@case("nn.probability.distribution.TransformedDistribution")
def _(ms):
    """affine of normal, parameters at the call"""
    import mindspore.nn.probability.bijector as msb
    import mindspore.nn.probability.distribution as msd

    made = msd.TransformedDistribution(msb.ScalarAffine(2.0, 1.0), msd.Normal())
    given = ms.Tensor([0.5], ms.float32), ms.Tensor([2.0], ms.float32)
    return [*_all_of(made, ms, *given), made.mean(*given), made.batch_shape]


@case("nn.probability.distribution.TransformedDistribution")
def _(ms):
    """softplus of logistic, made by a call of the bijector"""
    import mindspore.nn.probability.bijector as msb
    import mindspore.nn.probability.distribution as msd

    return _all_of(msb.Softplus(1.0)(msd.Logistic(0.0, 1.0)), ms)


@case("nn.probability.distribution.TransformedDistribution")
def _(ms):
    """the mean of what is not linear"""
    import mindspore.nn.probability.bijector as msb
    import mindspore.nn.probability.distribution as msd

    return msd.TransformedDistribution(msb.Exp(), msd.Normal(0.5, 2.0)).mean()


@case("nn.probability.distribution.Distribution")
def _(ms):
    """a subclass that states some functions"""
    import mindspore.nn.probability.distribution as msd

    class Mine(msd.Distribution):
        def __init__(self, rate=None, seed=None, dtype=ms.float32, name="Mine"):
            super().__init__(seed, dtype, name, {"param_dict": {"rate": rate}})
            self.rate = self._add_parameter(rate, "rate")

        def _log_prob(self, value, rate=None):
            value, rate = self._check_value(value, "value"), self._check_param_type(rate)
            return ms.ops.log(rate) - rate * value

        def _cdf(self, value, rate=None):
            return 1 - ms.ops.exp(-self._check_param_type(rate) * value)

        def _sd(self, rate=None):
            return 1 / self._check_param_type(rate)

    one, x = Mine(2.0), ms.Tensor(INNER.value)
    given = ms.Tensor([0.5, 1.0, 2.0], ms.float32)
    return [*_all_of(one, ms), one.var(), Mine().log_prob(x, given), one("sd", given), one.dtype]


@case("nn.probability.bijector.Bijector")
def _(ms):
    """a subclass that states the function"""
    import mindspore.nn.probability.bijector as msb

    class Times(msb.Bijector):
        def __init__(self, factor):
            super().__init__(True, name="Times", param={"param_dict": {"factor": factor}})
            self.factor = self._add_parameter(factor, "factor")

        def _forward(self, x):
            x = self._check_value_dtype(x)
            return x * self.cast_param_by_value(x, self.factor)

    times = Times(3.0)
    return [times.forward(ms.Tensor(X.value)), times.name, times.is_constant_jacobian]
