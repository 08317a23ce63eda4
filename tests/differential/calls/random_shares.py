"""Calls of random functions, drawn often: which share of the numbers lies below three points of the distribution."""

from collections.abc import Callable
from typing import Any

import numpy as np
from differential.calllib import at, case, f32, found, given, i64, of
from scipy import stats

SIZE = (128, 128)
ROW = (1 << 14,)
WIDE = f32(*SIZE)


def shares(
    name: str,
    law: Any,
    *args: Any,
    then: Any = None,
    dtype: str = "Float32",
    part: Callable = lambda result: result,
    **kwargs: Any,
) -> None:
    """Lists the call of a function, or of what a class makes, whose numbers follow a law; 5 of its standard errors are allowed."""
    points = law.ppf([0.15, 0.5, 0.85])

    def program(ms: Any) -> Any:
        made = found(ms, name)(*given(ms, list(args)), **given(ms, kwargs))
        drawn = part(made if then is None else made(*given(ms, then)))
        numbers = drawn.astype(ms.float64).asnumpy()
        return str(drawn.dtype), *(float((numbers <= p + 1e-6).mean()) for p in points)

    program.__doc__ = f"{args}, {kwargs}, {then}"
    case(name, tol=0.1, ref=lambda: [dtype, *map(float, law.cdf(points))])(program)


NORMAL, UNIT, COIN = stats.norm(), stats.uniform(), stats.bernoulli(0.3)
DIE = stats.randint(2, 7)
RATE, SHAPE, SCALE = of([4.0]), of([3.0]), of([2.0])
GAMMA = stats.gamma(3.0, scale=0.5)
SIZES = of(SIZE, "int32")

for home in "ops", "mint":
    shares(f"{home}.rand", UNIT, *SIZE)
    shares(f"{home}.rand_like", UNIT, WIDE)
    shares(f"{home}.randn", NORMAL, *SIZE)
    shares(f"{home}.randn_like", NORMAL, WIDE)
    shares(f"{home}.randint", DIE, 2, 7, SIZE, dtype="Int64")
    shares(f"{home}.randint_like", DIE, WIDE, 2, 7)
for name, law in ("rand", UNIT), ("randn", NORMAL):
    shares(f"numpy.{name}", law, *SIZE)
shares("numpy.randint", DIE, 2, 7, shape=SIZE, dtype="Int32")

shares("ops.standard_normal", NORMAL, SIZE)
shares("ops.normal", stats.norm(3, 2), SIZE, of(3.0), of(2.0))
shares("mint.normal", stats.norm(3, 2), 3.0, 2.0, SIZE)
shares("ops.uniform", stats.uniform(2, 3), SIZE, of(2.0), of(5.0))
shares("ops.standard_laplace", stats.laplace(), SIZE)
shares("ops.laplace", stats.laplace(1, 2), SIZE, of(1.0), of(2.0))
shares("ops.gamma", GAMMA, SIZE, SHAPE, SCALE)
shares("ops.random_gamma", stats.gamma(3.0), SIZES, SHAPE)
shares("ops.poisson", stats.poisson(4), SIZE, RATE)
shares("ops.random_poisson", stats.poisson(4), SIZES, RATE)
shares("ops.bernoulli_ext", COIN, of(np.full(SIZE, 0.3).tolist()))
shares("ops.rrelu", stats.uniform(-0.5, 0.25), of([-1.0] * ROW[0]), 0.25, 0.5)

shares("ops.StandardNormal", NORMAL, then=[SIZE])
shares("ops.UniformReal", UNIT, then=[SIZE])
shares("ops.StandardLaplace", stats.laplace(), then=[SIZE])
shares("ops.Gamma", GAMMA, then=[SIZE, SHAPE, SCALE])
shares("ops.RandomGamma", stats.gamma(3.0), then=[SIZES, SHAPE])
shares("ops.Poisson", stats.poisson(4), then=[SIZE, RATE], dtype="Int32")
shares("ops.RandomPoisson", stats.poisson(4), then=[SIZES, RATE], dtype="Int64")
shares("ops.Cauchy", stats.cauchy(1, 2), list(SIZE), 1.0, 2.0, then=[])
shares("ops.TruncatedNormal", stats.truncnorm(-2, 2), then=[SIZES])
shares(
    "ops.ParameterizedTruncatedNormal",
    stats.truncnorm(-1, 2),
    then=[of(ROW, "int32"), of([0.0]), of([1.0]), of([-1.0]), of([2.0])],
)
shares("ops.LogNormalReverse", stats.lognorm(0.5, scale=np.e), 1.0, 0.5, then=[WIDE])

shares("Tensor.uniform", stats.uniform(2, 3), WIDE, 2.0, 5.0)
shares("Tensor.uniform_", stats.uniform(2, 3), WIDE, 2.0, 5.0)
shares("Tensor.normal_", stats.norm(3, 2), WIDE, 3, 2)
shares("Tensor.log_normal", stats.lognorm(0.5, scale=np.e), WIDE, 1.0, 0.5)
shares("Tensor.cauchy", stats.cauchy(1, 2), WIDE, 1.0, 2.0)
shares("Tensor.random_", DIE, WIDE, 2, 7)
for name in "Tensor.exponential_", "ops.exponential_":
    shares(name, stats.expon(scale=0.5), WIDE, 2)
for name in "Tensor.bernoulli", "Tensor.bernoulli_", "ops.bernoulli_":
    shares(name, COIN, WIDE, 0.3)

# Of two kinds, the second three times as likely.
PAIR = stats.bernoulli(0.75)
LOGITS = of([[0.0, float(np.log(3.0))]] * 128)
for name in "ops.random_categorical", "Tensor.random_categorical":
    shares(name, PAIR, LOGITS, 128, dtype="Int64")
shares("ops.multinomial_with_replacement", PAIR, of([1.0, 3.0]), 2, 1, *ROW, True, dtype="Int64")
shares(
    "ops.MultinomialWithReplacement",
    PAIR,
    *(*ROW, True),
    then=[of([1.0, 3.0]), of(1, "int64"), of(2, "int64")],
    dtype="Int64",
)
shares(
    "ops.gumbel_softmax",
    PAIR,
    of([[0.0, float(np.log(3.0))]] * ROW[0]),
    hard=True,
    part=lambda result: result[:, 1],
)

# Samplers of candidates give what they drew, and how often each is expected.
TRUE = i64(3, 1, low=0, high=4)
FEWER = stats.rv_discrete(values=(range(6), np.diff(np.log(np.arange(1, 8))) / np.log(7)))
for name, class_name, law in (
    ("uniform", "Uniform", stats.randint(0, 6)),
    ("log_uniform", "LogUniform", FEWER),
):
    many = (1, ROW[0], False, 6)
    first = lambda result: result[0]
    shares(f"ops.{name}_candidate_sampler", law, TRUE, *many, dtype="Int64", part=first)
    shares(f"ops.{class_name}CandidateSampler", law, *many, then=[TRUE], dtype="Int64", part=first)

shares(
    "ops.NonDeterministicInts",
    stats.uniform(-(2**31), 2.0**32),
    at("int32"),
    then=[SIZES],
    dtype="Int32",
)

for name, given_to in (("DropoutExt", SIZE), ("Dropout2dExt", (128, 128, 2, 2))):

    @case(f"nn.{name}", tol=0.1, ref=lambda: [0.3, 0.7, 0.0])
    def _(ms, name=name, shape=given_to):
        """which share is dropped, which is made larger, and how many channels are neither as a whole"""
        dropped = getattr(ms.nn, name)(0.3).set_train()(ms.ops.ones(shape)).asnumpy()
        channels = dropped.reshape(*shape[:2], -1)
        kinds = dropped == 0, np.isclose(dropped, 1 / 0.7), channels.min(-1) != channels.max(-1)
        return [float(kind.mean()) for kind in kinds]


for name, order in (
    ("ops.randperm", lambda ms, f: f(64)),
    ("mint.randperm", lambda ms, f: f(64)),
    ("ops.RandpermV2", lambda ms, f: f()(64)),
    ("ops.shuffle", lambda ms, f: f(ms.ops.arange(64))),
    ("ops.RandomShuffle", lambda ms, f: f()(ms.ops.arange(64))),
):

    @case(name, ref=lambda: [np.arange(64), False])
    def _(ms, name=name, order=order):
        """each once, in another order"""
        mixed = order(ms, found(ms, name)).asnumpy()
        return ms.Tensor(np.sort(mixed)), bool((mixed == np.arange(64)).all())


MASK = [[True, False, True], [False, True, True]]
for name, choose in (
    ("ops.choice_with_mask", lambda f, mask: f(mask, 6)),
    ("ops.RandomChoiceWithMask", lambda f, mask: f(6)(mask)),
):

    @case(
        name,
        ref=lambda: [[[0, 0], [0, 0], [0, 0], [0, 2], [1, 1], [1, 2]], [True] * 4 + [False] * 2],
    )
    def _(ms, name=name, choose=choose):
        """all that are, in any order, and nothing for what is wanted beyond"""
        places, there = choose(found(ms, name), ms.Tensor(MASK))
        return sorted(places.asnumpy().tolist()), there.asnumpy().tolist()


for name, empty in (
    ("numpy.empty", lambda ms, f: f((2, 3), ms.int32)),
    ("numpy.empty_like", lambda ms, f: f(ms.numpy.ones((2, 3), ms.int32))),
    ("mint.empty", lambda ms, f: f((2, 3), dtype=ms.int32)),
    ("mint.empty_like", lambda ms, f: f(ms.ops.ones((2, 3), ms.int32))),
    ("Tensor.new_empty", lambda ms, f: f(ms.ops.ones(3, ms.int32), (2, 3))),
):

    @case(name, ref=lambda: [[2, 3], "Int32"])
    def _(ms, name=name, empty=empty):
        """its shape and dtype, which is all that is said of it"""
        made = empty(ms, found(ms, name))
        return made.shape, str(made.dtype)
