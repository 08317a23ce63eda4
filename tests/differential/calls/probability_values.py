"""Calls of distributions: probabilities, moments and divergences. Samples: tests/api/test_probability.py."""

from collections.abc import Callable

from differential.calllib import at, f16, f32, made, of
from scipy import stats


def as_float32(function: Callable) -> Callable:
    """What a function says of the last of its arguments."""
    return lambda *arrays: function(arrays[-1].astype("float64")).astype("float32")


# Parameters; values inside and outside of the support; parameters at the call; functions that the reference does not have.
REAL = of([-3.0, -0.5, 0.0, 0.75, 4.0])
POSITIVE = of([0.125, 0.5, 1.0, 4.0])
COUNTS = of([0.0, 1.0, 3.0, 7.0])
LISTED = {
    "Normal": ((0.5, 2.0), REAL, (of([0.0, 1.0]), of([1.0, 3.0]))),
    "Uniform": ((-1.0, 3.0), REAL, (of([-2.0, -1.0]), of([4.0, 3.5]))),
    "Exponential": ((1.5,), POSITIVE, (of([0.5, 2.0]),)),
    "Gamma": (([2.5], [3.0]), POSITIVE, (of([0.5, 2.0]), of([1.0, 0.25]))),
    "Beta": (([2.5], [1.5]), of([0.125, 0.5, 0.75]), (of([0.5, 2.0]), of([1.5, 3.0]))),
    "Logistic": ((0.5, 2.0), REAL, (of([0.0, 1.0]), of([1.0, 3.0]))),
    "LogNormal": ((0.5, 0.75), POSITIVE, (of([0.0, 1.0]), of([1.0, 0.5]))),
    "Gumbel": ((0.5, 2.0), REAL, (of([0.0, 1.0]), of([1.0, 3.0]))),
    "Cauchy": ((0.5, 2.0), REAL, (of([0.0, 1.0]), of([1.0, 3.0]))),
    "Laplace": ((0.5, 2.0), REAL, (of([0.0, 1.0]), of([1.0, 3.0]))),
    "HalfNormal": ((0.0, 2.0), REAL, (of([0.0, 0.0]), of([1.0, 3.0]))),
    "StudentT": ((4.0, 0.5, 2.0), REAL, (of([3.0, 5.0]), of([0.0, 1.0]), of([1.0, 3.0]))),
    "Bernoulli": ((0.25,), of([0.0, 1.0, 1.0]), (of([0.5, 0.125]),)),
    "Geometric": ((0.25,), COUNTS, (of([0.5, 0.125]),)),
    "Poisson": (([2.5],), COUNTS, (of([0.5, 4.0]),)),
    "Categorical": (([0.25, 0.25, 0.5],), of([0.0, 2.0, 1.0]), (of([[0.5, 0.25, 0.25]] * 3),)),
}
ONLY = {  # functions of values that the reference has, where it has not all
    "Laplace": ("prob", "log_prob"),
    "StudentT": ("prob", "log_prob"),
    "HalfNormal": ("prob", "log_prob"),
    "Beta": ("prob", "log_prob"),
}
OF_VALUES = ("prob", "log_prob", "cdf", "log_cdf", "survival_function", "log_survival")
MOMENTS = ("mean", "sd", "var", "mode", "entropy")
WITHOUT = {
    "Uniform": ("mode",),
    "Poisson": ("entropy",),
    "Bernoulli": ("mode",),
    "Cauchy": ("mean", "sd", "var"),
}
NO_DIVERGENCE = ("Logistic", "Poisson", *[n for n in ONLY if n != "Beta"])

for name, (given, values, others) in LISTED.items():
    path = f"nn.probability.distribution.{name}"
    for function in ONLY.get(name, OF_VALUES):
        made(path, *given)(function, values)
    made(path, *given)("log_prob", values, grad=True)
    if name != "Gumbel":
        column = of([[x] for x in values.value.tolist()])
        made(path)("log_prob", values if name == "Categorical" else column, *others)
        made(path)("log_prob", values)
        made(path, *given)("prob", values if name == "Categorical" else column, *others)
    if name not in ONLY or name == "Beta":
        for function in MOMENTS:
            if function not in WITHOUT.get(name, ()):
                made(path, *given)(function)
                if name != "Gumbel":
                    made(path)(function, *others)
        if name not in NO_DIVERGENCE:
            made(path, *given)("kl_loss", name, *others)
            made(path, *given)("cross_entropy", name, *others)
            made(path, *given)("kl_loss", "Other", *others)
            made(path, *given)("kl_loss", name)
            if name not in ("Gumbel",):
                made(path)("kl_loss", name, *others, *others)
    made(path, *given)("unknown", values)
    made(path, *given)("log_prob", 1.0)
    made(path, *given, dtype=at("float32"))("log_prob", values)
    made(path, *given, seed=-1)("log_prob", values)
    made(path, "x", *given[1:])("log_prob", values)

# ---- parameters that are refused -----------------------------------------------------------------
ZERO = of([1.0])
for name, given in (
    ("Normal", (0.0, 0.0)),
    ("Normal", (0.0, -1.0)),
    ("Normal", ([0.0, 1.0], [1.0, 2.0, 3.0])),
    ("Normal", (True, 1.0)),
    ("Uniform", (2.0, 1.0)),
    ("Uniform", (1.0, 1.0)),
    ("Bernoulli", (1.5,)),
    ("Bernoulli", (0.0,)),
    ("Bernoulli", (1.0,)),
    ("Geometric", (0.0,)),
    ("Categorical", ([0.25, 0.25],)),
    ("Categorical", (0.5,)),
    ("Categorical", ([-0.5, 1.5],)),
    ("Exponential", (0.0,)),
    ("Gamma", ([0.0], [1.0])),
    ("Gamma", ([1.0], [-1.0])),
    ("Beta", ([0.0], [1.0])),
    ("Poisson", ([-1.0],)),
    ("Gumbel", (0.0, 0.0)),
    ("Cauchy", (0.0, -1.0)),
    ("Laplace", (0.0, 0.0)),
    ("HalfNormal", (0.0, -1.0)),
    ("Logistic", (0.0, 0.0)),
    ("LogNormal", (0.0, 0.0)),
    ("StudentT", (0.0, 0.0, 1.0)),
    ("StudentT", (1.0, 0.0, 0.0)),
):
    made(f"nn.probability.distribution.{name}", *given)("log_prob", ZERO)
made("nn.probability.distribution.Normal", 0.0, 1.0, dtype=at("int32"))("log_prob", ZERO)

# ---- shapes and dtypes -----------------------------------------------------------------------------
NORMAL = "nn.probability.distribution.Normal"
made(NORMAL, [0.0, 1.0, 2.0], 1.0)("log_prob", f32(2, 3))
made(NORMAL, f32(3), f32(2, 1, low=1.0))("mean")
made(NORMAL, 0.0, 1.0, dtype=at("float16"))("log_prob", f16(2, 3))
made(NORMAL, 0.0, 1.0, dtype=at("float64"))("cdf", f32(2, 3), tol=1e-6)
made(NORMAL, 0.0, 1.0)("log_prob", of([1, 2], "int32"))
made("nn.probability.distribution.Categorical", [[0.25, 0.75], [0.5, 0.5]])("mean")
made("nn.probability.distribution.Categorical", [[0.25, 0.75], [0.5, 0.5]])("mode")
made("nn.probability.distribution.Categorical", [[0.25, 0.75], [0.5, 0.5]])(
    "prob", of([[0, 1], [1, 1], [0, 0]], "int32")
)
made("nn.probability.distribution.Uniform", 0.0, 2.0)("prob", of([-1.0, 0.0, 2.0, 3.0]))
made("nn.probability.distribution.Exponential", 2.0)("log_prob", of([-1.0, 0.0, 1.0]))
made("nn.probability.distribution.Geometric", 0.5)("prob", of([-1.0, 0.0, 2.5]))
made("nn.probability.distribution.Poisson", [2.0])("log_prob", of([-1.0, 0.0, 2.0]))
made("nn.probability.distribution.Bernoulli", 0.25)("cdf", of([-1.0, 0.5, 2.0]))

# ---- what the reference does not have ----------------------------------------------------------------
for name, like in (
    ("Laplace", stats.laplace(0.5, 2.0)),
    ("HalfNormal", stats.halfnorm(0.0, 2.0)),
):
    path, given = f"nn.probability.distribution.{name}", LISTED[name][0]
    for function, said in (("cdf", like.cdf), ("log_survival", like.logsf)):
        made(path, *given)(function, REAL, ref=as_float32(said))
made("nn.probability.distribution.HalfNormal", 0.5, 2.0)(
    "prob", REAL, ref=as_float32(stats.halfnorm(0.5, 2.0).pdf)
)
