"""Distributions beyond the uniform and the normal one, made of their draws: by the inverse of the distribution where it has a
form, by rejected draws in an op where it has not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindspore import _core
from mindspore._core import DType, Tensor
from mindspore.common._kinds import Ints, Positive, PositiveInt, Real, Sizes
from mindspore.common._size import require_memory
from mindspore.ops._bind import bound, raw
from mindspore.ops.function.array_func import _ints
from mindspore.ops.function.math_func import where
from mindspore.ops.function.random_func import Seed, _broadcast, _float_dtype, _stream

_cast, _reshape, _spread = raw("Cast"), raw("Reshape"), raw("BroadcastTo")
_uniform, _normal = raw("UniformReal"), raw("StandardNormal")
_gamma, _poisson = raw("StandardGamma"), raw("StandardPoisson")
_TINY = 2.0**-25  # half the distance of uniform numbers: 0 is moved by so much


def _open(shape: Any, **seeds: int) -> Tensor:
    """Uniform numbers of (0, 1), in which 0 and 1 are not."""
    return _uniform(shape=shape, **seeds) * (1 - 2 * _TINY) + _TINY


def _as_float(x: Tensor | Real) -> Tensor:
    return x if isinstance(x, Tensor) else Tensor(float(x), _core.float32)


def _drawn(op: Any, parameter: Tensor, shape: Any, **seeds: int) -> Tensor:
    """One draw for each element of the parameter, spread to a shape."""
    return op(_spread(parameter, shape=shape), **seeds)


# ---- functions of a seed --------------------------------------------------------------------------
def standard_laplace(shape: Sizes, seed: Seed = None) -> Tensor:
    """Numbers from the Laplace distribution of mean 0 and scale 1."""
    return _laplace(_ints("standard_laplace", shape), seed=_stream(seed))


def _laplace(shape: tuple[int, ...], **seeds: int) -> Tensor:
    u = _open(shape, **seeds) - 0.5
    size = bound.log1p(bound.abs(u) * -2.0)
    return -(bound.sign(u) * size)


def laplace(shape: Sizes, mean: Tensor, lambda_param: Tensor, seed: Seed = None) -> Tensor:
    """Numbers from Laplace distributions."""
    sizes = _broadcast("laplace", shape, mean, lambda_param)
    return standard_laplace(sizes, seed) * lambda_param + mean


def gamma(shape: Sizes, alpha: Tensor, beta: Tensor, seed: Seed = None) -> Tensor:
    """Numbers from gamma distributions of shapes `alpha` and rates `beta`; of a `shape` for each of them."""
    sizes = _broadcast("gamma", shape, alpha, beta)
    return _drawn(_gamma, _as_float(alpha), sizes, seed=_stream(seed)) / beta


def random_gamma(shape: Sizes, alpha: Tensor, seed: Seed = None) -> Tensor:
    """Numbers from gamma distributions of scale 1: `shape` of them for each element of `alpha`."""
    sizes = (*_ints("random_gamma", shape), *alpha.shape)
    return _drawn(_gamma, alpha, sizes, seed=_stream(seed))


def poisson(shape: Sizes, mean: Tensor, seed: Seed = None) -> Tensor:
    """Numbers from Poisson distributions; of a `shape` for each of the means."""
    return _drawn(_poisson, _as_float(mean), _broadcast("poisson", shape, mean), seed=_stream(seed))


def random_poisson(
    shape: Sizes, rate: Tensor, seed: Seed = None, dtype: DType = _core.float32
) -> Tensor:
    """Numbers from Poisson distributions: `shape` of them for each element of `rate`."""
    return _counts("random_poisson", shape, rate, dtype, seed=_stream(seed))


def _counts(name: str, shape: Sizes, rate: Tensor, dtype: DType, **seeds: int) -> Tensor:
    if rate.dtype not in (_core.float16, _core.float32, _core.float64):
        rate = _cast(rate, dtype=_core.float32)
    drawn = _drawn(_poisson, rate, (*_ints(name, shape), *rate.shape), **seeds)
    return _cast(drawn, dtype=dtype)


def gumbel_softmax(
    logits: Tensor, tau: Positive = 1.0, hard: bool = False, dim: int = -1
) -> Tensor:
    """Softmax of logits with Gumbel noise; if `hard`, the largest alone is 1, while gradients are those of the softmax."""
    _float_dtype("gumbel_softmax", logits.dtype)
    noise = -bound.log(-bound.log(_open(logits.shape)))
    soft = raw("Softmax")((logits + _cast(noise, dtype=logits.dtype)) / tau, axis=dim)
    if not hard:
        return soft
    best = raw("Argmax")(soft, axis=dim, output_type=_core.int32)
    one, zero = Tensor(1, soft.dtype), Tensor(0, soft.dtype)
    chosen = raw("OneHot")(best, one, zero, depth=soft.shape[dim], axis=dim)
    return chosen - raw("StopGradient")(soft) + soft


def rrelu(input: Tensor, lower: Real = 1.0 / 8, upper: Real = 1.0 / 3) -> Tensor:
    """Elements below 0 times slopes that are drawn evenly from [lower, upper]."""
    if not 0 <= lower <= upper <= 1:
        raise ValueError(
            f"For 'rrelu', it must be that 0 <= lower <= upper <= 1, but got {lower} and {upper}."
        )
    slopes = _uniform(shape=input.shape) * (upper - lower) + lower
    return where(bound.greater_equal(input, 0), input, input * _cast(slopes, dtype=input.dtype))


def multinomial_with_replacement(
    x: Tensor, seed: int, offset: int, numsamples: PositiveInt, replacement: bool = False
) -> Tensor:
    """Positions drawn with probabilities proportional to the elements of each row."""
    return raw("Multinomial")(
        x,
        num_samples=numsamples,
        replacement=replacement,
        seed=int(seed),
        seed2=int(offset),
        dtype=_core.int64,
    )


def choice_with_mask(
    input_x: Tensor, count: PositiveInt = 256, seed: Seed = None
) -> tuple[Tensor, Tensor]:
    """Coordinates of `count` true elements chosen at random, and which of the rows are such."""
    from mindspore.ops._bind import classes

    return classes["RandomChoiceWithMask"](count, _stream(seed))(input_x)


# ---- samplers of classes --------------------------------------------------------------------------
def _marked(classes: Tensor, count: int) -> Tensor:
    """Which of so many classes are among the given ones."""
    flat = _reshape(_cast(classes, dtype=_core.int64), shape=(-1,))
    none = raw("Zeros")(shape=(count,), dtype=_core.int32)
    return (
        raw("TensorScatterElements")(
            none, flat, bound.ones_like(_cast(flat, dtype=_core.int32)), axis=0
        )
        > 0
    )


def _without(rates: Tensor, hits: Tensor) -> Tensor:
    """The rates of the others; of all where there are no others."""
    others = where(hits, 0.0, rates)
    return where(others.sum() > 0, others, rates)


def _sampled(
    name: str,
    true_classes: Tensor,
    num_true: int,
    count: int,
    unique: bool,
    shares: np.ndarray,
    seed: int,
    without_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes drawn by their shares, and how often each true class and each drawn one is expected among them. Those that
    must differ are the first to arrive of as many exponential waiting times; how often is then how likely. `without_hits`
    lets true classes, of equal shares, come after all others."""
    if true_classes.ndim != 2 or true_classes.shape[1] != num_true:
        raise ValueError(
            f"For '{name}', 'true_classes' must have shape [batch, {num_true}], but got {tuple(true_classes.shape)}."
        )
    if unique and count > len(shares):
        raise ValueError(
            f"For '{name}', 'num_sampled' must be at most the {len(shares)} classes if they must differ, but got {count}."
        )
    rates = Tensor(shares.astype(np.float32))
    hits = _marked(true_classes, len(shares)) if without_hits else None
    if not unique:
        others = rates if hits is None else _without(rates, hits)
        drawn = raw("Multinomial")(others, num_samples=count, seed=seed, dtype=_core.int64)

        def expected(classes: Tensor) -> Tensor:
            return raw("Gather")(rates, classes, axis=0) * float(count)

    else:
        # A class is drawn if it comes before so many others: the last of these is the next to come where it was drawn.
        waits = -bound.log(_open((len(shares),), seed=seed)) / rates
        if hits is not None:
            waits = where(hits, waits + bound.reduce_max(waits), waits)
        come, drawn = raw("TopK")(-waits, k=min(count + 1, len(shares)))
        last = -come[count - 1]
        after = -come[count] if count < len(shares) else Tensor(math.inf)
        drawn = drawn[:count]

        def expected(classes: Tensor) -> Tensor:
            rate, wait = (raw("Gather")(x, classes, axis=0) for x in (rates, waits))
            if np.ptp(shares) == 0:  # each is as likely as the others
                return rate * 0 + count / len(shares)
            return -bound.expm1(-rate * where(wait > last, last, after))

    drawn = _cast(drawn, dtype=true_classes.dtype)
    return drawn, expected(true_classes), expected(drawn)


def uniform_candidate_sampler(
    true_classes: Tensor,
    num_true: int,
    num_sampled: PositiveInt,
    unique: bool,
    range_max: PositiveInt,
    seed: int = 0,
    remove_accidental_hits: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes below `range_max` drawn evenly, and how often the true ones and they are expected among classes that are drawn
    without regard to the true ones. `remove_accidental_hits` draws others than the true ones, as far as there are enough."""
    require_memory("uniform_candidate_sampler", range_max, 16)
    shares = np.full(range_max, 1 / range_max)
    return _sampled(
        *("uniform_candidate_sampler", true_classes, num_true, num_sampled, unique, shares, seed),
        without_hits=remove_accidental_hits,
    )


def log_uniform_candidate_sampler(
    true_classes: Tensor,
    num_true: int = 1,
    num_sampled: PositiveInt = 5,
    unique: bool = True,
    range_max: PositiveInt = 5,
    seed: int = 0,
) -> tuple[Tensor, Tensor, Tensor]:
    """Classes below `range_max` drawn by Zipf's law, and how often the true ones and they are expected."""
    require_memory("log_uniform_candidate_sampler", range_max, 24)
    steps = np.log1p(np.arange(range_max + 1))
    shares = np.diff(steps) / steps[-1]
    return _sampled(
        "log_uniform_candidate_sampler", true_classes, num_true, num_sampled, unique, shares, seed
    )


# ---- primitives with two seeds --------------------------------------------------------------------
def _cauchy(size: Sizes = (), median: Real = 0.0, sigma: Real = 1.0) -> Tensor:
    """Numbers from a Cauchy distribution."""
    angle = (_open(_ints("Cauchy", size)) - 0.5) * math.pi
    return bound.tan(angle) * float(sigma) + float(median)


def _gamma_class(
    shape: Sizes, alpha: Tensor, beta: Tensor, seed: int = 0, seed2: int = 0
) -> Tensor:
    """Numbers from gamma distributions of shapes `alpha` and rates `beta`."""
    sizes = _broadcast("Gamma", shape, alpha, beta)
    return _drawn(_gamma, alpha, sizes, seed=seed, seed2=seed2) / beta


def _random_gamma_class(shape: Sizes, alpha: Tensor, seed: int = 0, seed2: int = 0) -> Tensor:
    """Numbers from gamma distributions: `shape` of them for each element of `alpha`."""
    sizes = (*_ints("RandomGamma", shape), *alpha.shape)
    return _drawn(_gamma, alpha, sizes, seed=seed, seed2=seed2)


def _poisson_class(shape: Sizes, mean: Tensor, seed: int = 0, seed2: int = 0) -> Tensor:
    """Numbers from Poisson distributions, as integers."""
    sizes = _broadcast("Poisson", shape, mean)
    return _cast(_drawn(_poisson, mean, sizes, seed=seed, seed2=seed2), dtype=_core.int32)


def _random_poisson_class(
    shape: Sizes, rate: Tensor, seed: int = 0, seed2: int = 0, dtype: DType = _core.int64
) -> Tensor:
    """Numbers from Poisson distributions: `shape` of them for each element of `rate`."""
    return _counts("RandomPoisson", shape, rate, dtype, seed=seed, seed2=seed2)


def _laplace_class(shape: Sizes, seed: int = 0, seed2: int = 0) -> Tensor:
    """Numbers from the Laplace distribution of mean 0 and scale 1."""
    return _laplace(_ints("StandardLaplace", shape), seed=seed, seed2=seed2)


def _truncated(shape: tuple[int, ...], low: Any, high: Any, **seeds: int) -> Tensor:
    """Standard normal numbers between two bounds: the inverse of the distribution, of a number between its values there."""

    def probability(x: Any) -> Tensor:
        scaled = _cast(_as_float(x), dtype=_core.float64) * math.sqrt(0.5)
        return bound.erf(scaled)

    first, last = probability(low), probability(high)
    u = _cast(_open(shape, **seeds), dtype=_core.float64)
    at = first + u * (last - first)
    return bound.erfinv(at) * math.sqrt(2)


def _truncated_normal(
    shape: Sizes, dtype: DType = _core.float32, seed: int = 0, seed2: int = 0
) -> Tensor:
    """Standard normal numbers between -2 and 2."""
    sizes = _ints("TruncatedNormal", shape)
    _float_dtype("TruncatedNormal", dtype)
    return _cast(_truncated(sizes, -2.0, 2.0, seed=seed, seed2=seed2), dtype=dtype)


def _parameterized_truncated_normal(
    shape: Sizes,
    mean: Tensor,
    stdevs: Tensor,
    min: Tensor,
    max: Tensor,
    seed: int = 0,
    seed2: int = 0,
) -> Tensor:
    """Normal numbers between bounds; parameters are scalars or have one element for each of the first axis."""
    sizes = _ints("ParameterizedTruncatedNormal", shape)

    def spread(x: Tensor) -> Tensor:
        return x if x.size == 1 else _reshape(x, shape=(-1,) + (1,) * (len(sizes) - 1))

    mean, stdevs, low, high = map(spread, (mean, stdevs, min, max))
    scaled = [(x - mean) / stdevs for x in (low, high)]
    drawn = _cast(_truncated(sizes, *scaled, seed=seed, seed2=seed2), dtype=mean.dtype)
    return drawn * stdevs + mean


def _log_normal_reverse(input: Tensor, mean: Real = 1.0, std: Real = 2.0) -> Tensor:
    """Numbers whose logarithms are normal, in the shape and dtype of a tensor."""
    drawn = _normal(shape=input.shape) * float(std) + float(mean)
    return _cast(bound.exp(drawn), dtype=input.dtype)


def _integers(shape: Sizes, dtype: DType = _core.int64) -> Tensor:
    """Integers that are equally likely anywhere in the dtype."""
    bits = 31 if dtype is _core.int32 else 63
    low, high = Tensor(-(2**bits), dtype), Tensor(2**bits - 1, dtype)
    return raw("UniformInt")(low, high, shape=_ints("NonDeterministicInts", shape))


def _shuffled(x: Tensor, seed: int = 0, seed2: int = 0) -> Tensor:
    """The slices of the first axis in random order."""
    if x.ndim == 0:
        return x
    order = raw("RandomPermutation")(n=x.shape[0], seed=seed, seed2=seed2)
    return raw("Gather")(x, order, axis=0)


def _randperm(
    n: int | Tensor, seed: int = 0, offset: int = 0, dtype: DType = _core.int64
) -> Tensor:
    """The numbers 0 ... n - 1 in random order."""
    (count,) = _ints("RandpermV2", n)
    return _cast(raw("RandomPermutation")(n=count, seed=seed, seed2=offset), dtype=dtype)


def _multinomial(
    x: Tensor,
    seed: int | Tensor,
    offset: int | Tensor,
    numsamples: int = 1,
    replacement: bool = False,
) -> Tensor:
    """Positions drawn with probabilities proportional to the elements of each row."""
    first, second = (_ints("MultinomialWithReplacement", s)[0] for s in (seed, offset))
    return multinomial_with_replacement(x, first, second, numsamples, replacement)


def _padded_bytes(elements: int) -> int:
    return (elements + 127) // 128 * 16


def _dropout_mask(shape: Ints, keep_prob: Tensor, Seed0: int = 0, Seed1: int = 0) -> Tensor:
    """Bits that are 1 with a probability, one for each element of a shape, in bytes, filled up to a multiple of 16 bytes."""
    count = _padded_bytes(math.prod(_ints("DropoutGenMask", shape)))
    kept = bound.less(_uniform(shape=(count, 8), seed=Seed0, seed2=Seed1), keep_prob)
    powers = Tensor(2 ** np.arange(8), _core.int32)
    bits = _cast(kept, dtype=_core.int32) * powers
    return _cast(bound.reduce_sum(bits, 1), dtype=_core.uint8)


def _masked_dropout(input_x: Tensor, mask: Tensor, keep_prob: Tensor | Real) -> Tensor:
    """The elements whose bits in a mask are 1, divided by the probability of that; zeros elsewhere."""
    if mask.size < _padded_bytes(input_x.size):
        raise ValueError(
            f"For 'DropoutDoMask', 'mask' must have {_padded_bytes(input_x.size)} bytes, but got {mask.size}."
        )
    wide = raw("ExpandDims")(_cast(mask, dtype=_core.int32), axis=-1)
    bits = bound.bitwise_and(
        bound.bitwise_right_shift(wide, Tensor(np.arange(8), _core.int32)), Tensor(1, _core.int32)
    )
    flat = raw("Slice")(_reshape(bits, shape=(-1,)), begin=(0,), size=(input_x.size,))
    kept = _cast(_reshape(flat, shape=input_x.shape), dtype=_core.bool)
    return where(kept, input_x / keep_prob, 0.0)


FACES = {
    "Cauchy(size, median=0.0, sigma=1.0)()": _cauchy,
    "Gamma(seed=0, seed2=0)(shape, alpha, beta)": _gamma_class,
    "RandomGamma(seed=0, seed2=0)(shape, alpha)": _random_gamma_class,
    "Poisson(seed=0, seed2=0)(shape, mean)": _poisson_class,
    "RandomPoisson(seed=0, seed2=0, dtype=None)(shape, rate)": _random_poisson_class,
    "StandardLaplace(seed=0, seed2=0)(shape)": _laplace_class,
    "TruncatedNormal(dtype=None, seed=0, seed2=0)(shape)": _truncated_normal,
    "ParameterizedTruncatedNormal(seed=0, seed2=0)(shape, mean, stdevs, min, max)": _parameterized_truncated_normal,
    "LogNormalReverse(mean=1.0, std=2.0)(input)": _log_normal_reverse,
    "NonDeterministicInts(dtype=None)(shape)": _integers,
    "RandomShuffle(seed=0, seed2=0)(x)": _shuffled,
    "RandpermV2(seed=0, offset=0, dtype=None)(n)": _randperm,
    "MultinomialWithReplacement(numsamples, replacement=False)(x, seed, offset)": _multinomial,
    "DropoutGenMask(Seed0=0, Seed1=0)(shape, keep_prob)": _dropout_mask,
    "DropoutDoMask()(input_x, mask, keep_prob)": _masked_dropout,
    "UniformCandidateSampler(num_true, num_sampled, unique, range_max, seed=0, remove_accidental_hits=False)"
    "(true_classes)": "uniform_candidate_sampler",
    "LogUniformCandidateSampler(num_true=1, num_sampled=5, unique=True, range_max=5, seed=0)(true_classes)": (
        "log_uniform_candidate_sampler"
    ),
}
__all__ = [
    "choice_with_mask",
    "gamma",
    "gumbel_softmax",
    "laplace",
    "log_uniform_candidate_sampler",
    "multinomial_with_replacement",
    "poisson",
    "random_gamma",
    "random_poisson",
    "rrelu",
    "standard_laplace",
    "uniform_candidate_sampler",
]
