"""Calls of random functions: shapes and dtypes. Distributions: tests/api/test_distributions.py. And of windows."""

from typing import Any

from differential.calllib import at, b1, case, f32, found, given, i64, of


def drawn(name: str, *args: Any, then: Any = None, values: bool = False, **kwargs: Any) -> None:
    """A call of a function, or of what a class makes, of which no wild ones are made: some would draw for minutes."""

    def program(ms: Any) -> Any:
        made = found(ms, name)(*given(ms, list(args)), **given(ms, kwargs))
        return made if then is None else made(*given(ms, then))

    program.__doc__ = f"{args}, {kwargs}, {then}"
    case(name, shape_only=not values)(program)


RATES = f32(2, low=1.0, high=9.0)
drawn("ops.standard_laplace", (3, 2))
drawn("ops.laplace", (3, 2), f32(2), of(1.0))
drawn("ops.laplace", (3, 2), f32(2), of(1.0), seed=5)
drawn("ops.gamma", (3, 2), RATES, of(1.0))
drawn("ops.random_gamma", of([3, 2], "int32"), RATES)
drawn("ops.poisson", (3, 2), RATES)
drawn("ops.random_poisson", of([3, 2], "int32"), RATES)
drawn("ops.random_poisson", of([3], "int32"), RATES, dtype=at("int32"))
drawn("ops.gumbel_softmax", f32(3, 4))
drawn("ops.gumbel_softmax", f32(3, 4), 0.5, True, 0)
drawn("ops.gumbel_softmax", f32(3, 4), 0.0)
drawn("ops.rrelu", f32(3, 4))
drawn("ops.rrelu", f32(3, 4, low=0.0))
drawn("ops.rrelu", f32(3, 4), 0.5, 0.2)
drawn("ops.uniform_candidate_sampler", i64(3, 1, low=0, high=4), 1, 3, False, 4)
drawn("ops.uniform_candidate_sampler", i64(3, 2, low=0, high=4), 2, 3, True, 6)
drawn("ops.log_uniform_candidate_sampler", i64(3, 2, low=0, high=4), 2, 5, True, 5)
drawn("ops.choice_with_mask", b1(3, 4), 3)
drawn("ops.multinomial_with_replacement", f32(3, low=1.0), 2, 1, 4, True)
drawn("ops.UniformCandidateSampler", 1, 3, True, 6, 1, then=[i64(2, 1, low=0, high=4)])
drawn("ops.LogUniformCandidateSampler", 2, 5, True, 5, 1, then=[i64(2, 2, low=0, high=4)])
drawn("ops.Cauchy", [2, 3], then=[])
drawn("ops.RandomGamma", then=[of([2, 3], "int32"), RATES])
drawn("ops.RandomPoisson", then=[of([2, 3], "int32"), RATES])
drawn("ops.RandomShuffle", then=[f32(4, 2)])
drawn("ops.StandardLaplace", then=[(2, 3)])
drawn("ops.TruncatedNormal", then=[of([2, 3], "int32")])
drawn(
    "ops.ParameterizedTruncatedNormal",
    then=[of([2, 3], "int32"), of([0.0]), of([1.0]), of([-2.0]), of([2.0])],
)
drawn("ops.LogNormalReverse", then=[f32(2, 3)])
drawn(
    "ops.MultinomialWithReplacement",
    *(4, True),
    then=[f32(3, low=1.0), of(1, "int64"), of(2, "int64")],
)
drawn("ops.NonDeterministicInts", then=[of([2, 2], "int32")])
drawn("ops.NonDeterministicInts", at("int32"), then=[of([2, 2], "int32")])
drawn("ops.RandpermV2", then=[4])
for name in "hann kaiser hamming".split():
    drawn(f"ops.{name}_window", 7, values=True)
    drawn(f"ops.{name}_window", 7, False, values=True)
    drawn(f"ops.{name}_window", 6, dtype=at("float32"), values=True)
    drawn(f"ops.{name}_window", -1, values=True)
for name in "bartlett blackman".split():
    drawn(f"ops.{name}_window", of(7, "int32"), values=True)
    drawn(f"ops.{name}_window", of(7, "int32"), False, dtype=at("float64"), values=True)
drawn("ops.BartlettWindow", then=[of(5, "int32")], values=True)
drawn("ops.BlackmanWindow", False, then=[of(5, "int32")], values=True)
drawn("ops.HammingWindow", True, 0.5, 0.5, then=[of([5], "int32")], values=True)
