"""Calls of random functions: shapes and dtypes. Distributions: tests/api/test_distributions.py."""

from differential.calllib import at, b1, call, f32, i64, made, of

RATES = f32(2, low=1.0, high=9.0)
call("ops.standard_laplace", (3, 2), shape_only=True)
call("ops.laplace", (3, 2), f32(2), of(1.0), shape_only=True)
call("ops.laplace", (3, 2), f32(2), of(1.0), seed=5, shape_only=True)
call("ops.gamma", (3, 2), RATES, of(1.0), shape_only=True, ref=lambda *a, **k: f32(3, 2).value)
call("ops.random_gamma", of([3, 2], "int32"), RATES, shape_only=True)
call("ops.poisson", (3, 2), RATES, shape_only=True, ref=lambda *a, **k: f32(3, 2).value)
call("ops.random_poisson", of([3, 2], "int32"), RATES, shape_only=True)
call("ops.random_poisson", of([3], "int32"), RATES, dtype=at("int32"), shape_only=True)
call("ops.gumbel_softmax", f32(3, 4), shape_only=True)
call("ops.gumbel_softmax", f32(3, 4), 0.5, True, 0, shape_only=True)
call("ops.gumbel_softmax", f32(3, 4), 0.0)
call("ops.rrelu", f32(3, 4), shape_only=True)
call("ops.rrelu", f32(3, 4, low=0.0))
call("ops.rrelu", f32(3, 4), 0.5, 0.2)
call("ops.uniform_candidate_sampler", i64(3, 1, low=0, high=4), 1, 3, False, 4, shape_only=True)
call("ops.uniform_candidate_sampler", i64(3, 2, low=0, high=4), 2, 3, True, 6, shape_only=True)
call("ops.log_uniform_candidate_sampler", i64(3, 2, low=0, high=4), 2, 5, True, 5, shape_only=True)
call("ops.choice_with_mask", b1(3, 4), 3, shape_only=True)
call("ops.multinomial_with_replacement", f32(3, low=1.0), 2, 1, 4, True, shape_only=True)
made("ops.UniformCandidateSampler", 1, 3, True, 6, 1)(i64(2, 1, low=0, high=4), shape_only=True)
made("ops.LogUniformCandidateSampler", 2, 5, True, 5, 1)(i64(2, 2, low=0, high=4), shape_only=True)
made("ops.Cauchy", [2, 3])(shape_only=True)
made("ops.RandomGamma")(of([2, 3], "int32"), RATES, shape_only=True)
made("ops.RandomPoisson")(of([2, 3], "int32"), RATES, shape_only=True)
made("ops.RandomShuffle")(f32(4, 2), shape_only=True)
made("ops.StandardLaplace")((2, 3), shape_only=True)
made("ops.TruncatedNormal")(of([2, 3], "int32"), shape_only=True)
made("ops.ParameterizedTruncatedNormal")(
    of([2, 3], "int32"), of([0.0]), of([1.0]), of([-2.0]), of([2.0]), shape_only=True
)
made("ops.LogNormalReverse")(f32(2, 3), shape_only=True)
made("ops.MultinomialWithReplacement", 4, True)(
    f32(3, low=1.0), of(1, "int64"), of(2, "int64"), shape_only=True
)
made("ops.NonDeterministicInts")(of([2, 2], "int32"), shape_only=True)
made("ops.NonDeterministicInts", at("int32"))(of([2, 2], "int32"), shape_only=True)
made("ops.RandpermV2")(4, shape_only=True)
for name in "hann kaiser hamming".split():
    call(f"ops.{name}_window", 7)
    call(f"ops.{name}_window", 7, False)
    call(f"ops.{name}_window", 6, dtype=at("float32"))
    call(f"ops.{name}_window", -1)
for name in "bartlett blackman".split():
    call(f"ops.{name}_window", of(7, "int32"))
    call(f"ops.{name}_window", of(7, "int32"), False, dtype=at("float64"))
made("ops.BartlettWindow")(of(5, "int32"))
made("ops.BlackmanWindow", False)(of(5, "int32"))
made("ops.HammingWindow", True, 0.5, 0.5)(of([5], "int32"))
