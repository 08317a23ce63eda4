"""Ops on the device GPU that look along an axis, or at positions: what is sorted, runs on, is read and written there, images, sequences and pairs of
points, with the numbers of the host and nothing of it on the host between copies. Rows of all ops: MS_TEST_DEVICE=GPU."""

from __future__ import annotations

import pytest
from test_cuda import pytestmark as needs_a_gpu
from test_cuda import run

pytestmark = [needs_a_gpu, pytest.mark.slow]

BEGIN = """
def same(run, tolerance=0):
    a, b = both(lambda: [np.asarray(v.asnumpy()) for v in run()])
    ms.set_context(device_target="CPU")  # where the next tensors are cast
    for x, y in zip(a, b):
        assert x.dtype == y.dtype and x.shape == y.shape
        wide = np.complex128 if x.dtype.kind == "c" else np.float64
        np.testing.assert_allclose(y.astype(wide), x.astype(wide), rtol=tolerance, atol=tolerance)
def c128(*shape, scale=1):
    return scale * (f32(*shape, seed=4) + 1j * f32(*shape, seed=5)).astype(np.complex128)
def numbers(*shape, seed=0):  # with ties, zeros of both signs and a nan
    x = np.round(f32(*shape, seed=seed) * 4) / 4
    x.flat[::7] = -0.0
    x.flat[3::50] = np.nan
    return x
TYPES = (ms.float32, ms.float64, ms.float16, ms.bfloat16, ms.int8, ms.uint8, ms.int32, ms.int64, ms.bool_)
"""
CASES = {
    "reductions along axes in the middle": """
x = np.round(f32(3, 4, 5, 6) * 4)
for axis in (1, 2, (0, 2), (1, 3), (1, 2), 3):
    same(lambda: [Tensor(x).sum(axis), Tensor(x).mean(axis), ops.amax(Tensor(x), axis), Tensor(x > 2).all(axis), Tensor(x).any(axis)], 1e-6)
for dtype in (ms.int8, ms.int16, ms.uint16, ms.uint32, ms.int64):
    t = Tensor(np.abs(x) if dtype in (ms.uint16, ms.uint32) else x).astype(dtype)
    same(lambda: [v.astype(ms.float64) for op in (ops.ReduceSum, ops.ReduceMean, ops.ReduceMax, ops.ReduceMin) for v in (op()(t, 1), op()(t, (0, 3)))])
none = Tensor(np.zeros((3, 0, 2), np.float32))
same(lambda: [op()(v, axis) for op in (ops.ReduceSum, ops.ReduceProd, ops.ReduceMean) for v in (none, none.astype(ms.float16)) for axis in (1, (0, 1))])
same(lambda: [op()(none.astype(ms.bool_), 1) for op in (ops.ReduceAll, ops.ReduceAny, ops.ReduceSum)])
same(lambda: [ops.mean(Tensor(x[:, :1, :, :1]), (1, 3)), ops.amax(Tensor(x[:, :1]), 1, True), Tensor(np.float32(3)).sum()])
""",
    "sorted rows": """
for shape, axis in (((5, 70), 1), ((70, 5), 0), ((2, 30, 3), 1), ((3000,), 0), ((1,), 0)):
    for dtype in TYPES:
        x = Tensor(numbers(*shape)).astype(dtype)
        for descending in (False, True):
            same(lambda: [v.astype(ms.float64) for v in ops.sort(x, axis, descending)])
for dtype in TYPES[:-1]:
    x = Tensor(numbers(6, 1500)).astype(dtype)
    same(lambda: [v.astype(ms.float64) for v in ops.top_k(x, 7)])
""",
    "extremes": """
for shape in ((4, 500), (500, 4), (3, 300, 3), (7, 5)):
    for dtype in TYPES[:-1]:
        x = Tensor(numbers(*shape)).astype(dtype)
        for axis in range(len(shape)):
            same(lambda: [ops.argmax(x, axis), ops.argmin(x, axis)] + [v.astype(ms.float64) for v in (*ops.max(x, axis), *ops.min(x, axis))])
""",
    "what runs on": """
for shape in ((4, 500), (500, 4), (3, 300, 3), (7, 5)):
    for dtype in (ms.float32, ms.float64, ms.int8, ms.int64, ms.float16):
        x = Tensor(np.round(f32(*shape) * 2)).astype(dtype)
        for axis in range(len(shape)):
            same(lambda: [ops.CumSum(e, r)(x, axis) for e in (False, True) for r in (False, True)])
            same(lambda: [v for f in (ops.cummax, ops.cummin) for v in f(x, axis)])
    x = Tensor(f32(*shape))
    for axis in range(len(shape)):
        same(lambda: [ops.CumProd(e, r)(x, axis) for e in (False, True) for r in (False, True)] + [ops.logcumsumexp(x, axis)], 1e-5)
        same(lambda: [ms.grad(lambda v: ops.cumprod(v, axis))(x)], 1e-4)
""",
    "places that are read": """
x = f32(5, 4, 6)
at = np.random.RandomState(1).randint(0, 4, (5, 9, 6))
for dtype in (np.float32, np.float16, np.bool_, np.complex128):
    for index in (np.int32, np.int64):
        t = Tensor(x.astype(dtype))
        a, b = both(lambda: [ops.gather_elements(t, 1, Tensor((at - 2).astype(index))).asnumpy(),
                             ops.gather_nd(t, Tensor(at[:, :, :2].astype(index) % 4)).asnumpy()])
        assert all((p == q).all() for p, q in zip(a, b))
""",
    "places that are written": """
at = np.random.RandomState(1).randint(0, 5, (300, 2)).astype(np.int32)
rows = at[:, 0]
for dtype in (ms.float32, ms.float64, ms.float16, ms.bfloat16, ms.int8, ms.int64):
    x, u = Tensor(np.round(f32(5, 5, 3) * 4) + 9).astype(dtype), Tensor(np.round(f32(300, 3, seed=1) * 4)).astype(dtype)
    for name in ("update", "add", "sub", "max", "min", "mul"):
        same(lambda: [getattr(ops, "tensor_scatter_" + name)(x, Tensor(at), u).astype(ms.float64)])
    same(lambda: [ops.scatter_nd(Tensor(at), u, (5, 5, 3)).astype(ms.float64)])
    for name in ("sum", "max", "min"):
        if name == "sum" or dtype != ms.int64:
            same(lambda: [getattr(ops, "unsorted_segment_" + name)(u, Tensor(rows - 1), 7).astype(ms.float64)])
    y, e = x[:, :, 0], Tensor(at[:5].T.copy()[:, :4].repeat(2, 0))
    for reduction in ("none", "add"):
        same(lambda: [ops.tensor_scatter_elements(y, e - 5, u[:4, 0].broadcast_to((4, 4)).copy(), 1, reduction).astype(ms.float64)])
def updated(name):
    p = ms.Parameter(Tensor(np.round(f32(5, 3) * 4)), name="p")
    getattr(ops, name)(p, Tensor(rows), Tensor(np.round(f32(300, 3, seed=2) * 4)))
    return [p]
for name in ("scatter_update", "scatter_add", "scatter_max"):
    same(lambda: updated(name))
""",
    "gradients of embeddings": """
words = Tensor(np.random.RandomState(1).randint(0, 50, (40, 60)).astype(np.int32))
for dtype in (ms.float32, ms.float16):
    table = Tensor(np.round(f32(50, 6) * 4)).astype(dtype)
    same(lambda: [ms.grad(lambda t: (ops.gather(t, words, 0) * 2).sum())(table)])
x, at = Tensor(f32(3, 4, 6, 2)), Tensor(np.random.RandomState(1).randint(-6, 6, (3, 9)))
same(lambda: [ms.grad(lambda v: (ops.gather(v, at, 2, 1) ** 2).sum())(x)], 1e-6)
""",
    "integers and choices by chance": """
x, chances = Tensor(np.zeros((5, 77), np.float32)), Tensor(np.random.RandomState(0).rand(5, 77).astype(np.float32))
same(lambda: [ops.randint(-5, 1000, (7, 33)), ops.UniformInt()((500,), Tensor(-7, ms.int32), Tensor(2147483647, ms.int32)),
              ops.randint(-2**60, 2**61, (41,)), ops.bernoulli(x, 0.3), ops.bernoulli(x, chances), ops.bernoulli(x.astype(ms.int8), 1.0)])
""",
    "orders and draws by weights": """
same(lambda: [ops.randperm(n, dtype=t) for n in (1, 2, 3, 64, 1000, 20011) for t in (ms.int32, ms.int64)] + [ops.shuffle(Tensor(f32(40, 2)))])
weights = np.abs(f32(5, 1300)) * (f32(5, 1300, seed=1) > 0)
for dtype in (ms.float32, ms.float64, ms.float16, ms.bfloat16):
    x = Tensor(weights).astype(dtype)
    same(lambda: [ops.multinomial(v, n, again) for v in (x, x[0], x[:, :19]) for n, again in ((90, True), (0, True), (2, False), (0, False))])
    same(lambda: [ops.multinomial(x, 500, False)])
""",
    "numbers that are drawn until they are accepted": """
from mindspore.nn.probability.distribution._family import _gamma, _poisson
ms.set_context(mode=0)
step = ms.jit(lambda v: (_gamma(v), _poisson(v), ops.randperm(9), ops.multinomial(v[:3, 0], 2, False)))
for dtype in (ms.float32, ms.float64, ms.float16, ms.bfloat16):
    rates = Tensor(np.concatenate([np.abs(f32(500)) * k for k in (0.1, 4, 1000)] + [f32(4)]).reshape(4, -1)).astype(dtype)
    rates[3, -4:] = Tensor([0, np.nan, -1, np.inf], dtype)
    same(lambda: [v.astype(ms.float64) for _ in range(4) for v in step(rates)], 1e-12)
""",
    "places in sorted rows": """
for dtype in (np.float32, np.float16, np.int8, np.int64):
    rows, values = np.sort((f32(3, 50) * 4).astype(dtype), -1), (f32(3, 9, seed=1) * 4).astype(dtype)
    same(lambda: [ops.searchsorted(Tensor(rows), Tensor(values), right=right) for right in (False, True)])
    same(lambda: [ops.bucketize(Tensor(values), rows[0].tolist())])
same(lambda: [ops.prelu(Tensor(f32(2, 3, 4)), Tensor(w)) for w in (f32(1), f32(3))])
""",
    "images of another size": """
ms.set_context(mode=0)
x, volume = f32(2, 3, 5, 7), f32(1, 2, 3, 4, 5)
for mode in ("nearest", "bilinear", "bicubic", "area"):
    size = lambda v: ops.interpolate(v, size=(9, 4), mode=mode)
    step = ms.jit(lambda v: (size(v) ** 2).sum())
    for dtype in (np.float32, np.float64):
        same(lambda: [size(Tensor(x.astype(dtype)))] + [ms.grad(step)(Tensor(x.astype(dtype))) for _ in range(3)], 2e-4)
same(lambda: [ops.interpolate(Tensor(volume), size=(5, 3, 6), mode="trilinear", align_corners=True),
              ops.interpolate(Tensor(volume[0, 0]), size=9, mode="linear")], 1e-5)
""",
    "images at points of grids": """
x, volume = f32(2, 5, 4, 7), f32(1, 2, 3, 4, 5)
at, inside = f32(2, 3, 9, 2, seed=1), f32(1, 2, 3, 5, 3, seed=2)
at.flat[:3] = np.nan, 1e30, 1
def sampled(x, at, mode, padding, corners, dtype):
    x, at = Tensor(x).astype(dtype), Tensor(at).astype(dtype)
    sample = lambda x, at: ops.grid_sample(x, at, mode, padding, corners)
    return [v.astype(ms.float64) for v in (sample(x, at), *ms.grad(lambda *v: (sample(*v) ** 2).sum(), (0, 1))(x, at))]
for mode, padding, corners in (("bilinear", "zeros", True), ("bilinear", "reflection", False), ("nearest", "border", False), ("bilinear", "border", False)):
    same(lambda: sampled(x, at, mode, padding, corners, ms.float32), 1e-4)
    same(lambda: sampled(volume, inside, mode, padding, not corners, ms.float64), 1e-12)
same(lambda: sampled(f32(1, 1, 9, 5), f32(1, 40, 50, 2), "bilinear", "border", True, ms.float16), 2e-2)
""",
    "boxes of images": """
rois = np.array([[0, 1, 2, 11, 12], [1, 0, 0, 15, 15], [0, 3, 3, 3, 3], [1, -5, -4, 6, 30], [1, 9, 9, 2, 1], [0, -50, -60, 70, 80]], np.float32)
for samples, end in ((2, 1), (3, 0), (0, 0), (0, 1)):
    for dtype, tolerance in ((ms.float32, 1e-5), (ms.float64, 1e-12), (ms.float16, 1e-2)):
        x, boxes = Tensor(f32(2, 3, 8, 9)).astype(dtype), Tensor(rois).astype(dtype)
        align = lambda v: ops.ROIAlign(2, 3, 0.5, samples, end)(v, boxes)
        same(lambda: [v.astype(ms.float64) for v in (align(x), ms.grad(lambda v: (align(v) ** 2).sum())(x))], tolerance)
for count in (1, 256, 700):
    corners = np.random.RandomState(count).rand(count, 2).astype(np.float32) * 20
    boxes = np.concatenate([corners, corners + f32(count, 2) ** 2 * 2, f32(count, 1, seed=1)], 1)
    same(lambda: ops.NMSWithMask(0.2)(Tensor(boxes)))
""",
    "labels of sequences": """
random = np.random.RandomState(3)
for steps, classes, labels in ((7, 5, 3), (40, 6, 150), (1, 3, 0)):
    targets = random.randint(0, classes, (4, labels))
    targets[:, :labels // 2] = targets[:, :1]
    step_counts, counts = random.randint(0, steps + 1, 4), np.minimum(random.randint(0, labels + 1, 4), [steps, 2, labels, 0])
    for zeros, dtype in ((True, np.int32), (False, np.int64)):
        def loss(x):
            lengths = Tensor(step_counts.astype(dtype)), Tensor(counts)
            return ops.ctc_loss(ops.log_softmax(x, -1), Tensor(targets.astype(dtype)), *lengths, 0, "none", zeros)[0]
        for kind, tolerance in ((np.float32, 1e-3), (np.float64, 1e-10)):
            x = Tensor(f32(steps, 4, classes).astype(kind))
            same(lambda: [loss(x), ms.grad(lambda v: (loss(v) * Tensor(np.arange(4).astype(kind))).sum())(x)], tolerance)
""",
    "distances": """
for shape, others, dtype, tolerance in (((5, 3), 7, ms.float32, 1e-4), ((2, 17, 20), 33, ms.float64, 1e-10), ((40, 100), 3, ms.float16, 2e-2)):
    x, y = (Tensor(v).astype(dtype) for v in (f32(*shape), f32(*shape[:-2], others, shape[-1], seed=1)))
    for p in (1.0, 2.0):
        same(lambda: [v.astype(ms.float64) for v in (ops.cdist(x, y, p), *ms.grad(lambda *v: ops.cdist(*v, p).sum(), (0, 1))(x, y))], tolerance)
""",
    "products that no library takes": """
x, y = (np.round(f32(*shape) * 60) for shape in ((2, 1, 20, 33), (3, 33, 5)))
for dtype in (ms.int8, ms.uint16, ms.int64):
    a, b = Tensor(np.abs(x)).astype(dtype), Tensor(np.abs(y)).astype(dtype)
    turned = a[0, 0].swapaxes(0, 1)
    same(lambda: [ops.matmul(a, b), ops.MatMul(transpose_a=True)(turned, b[0]), ops.MatMul(transpose_b=True)(a[1, 0], turned.swapaxes(0, 1))])
same(lambda: [ops.matmul(Tensor(x), Tensor(y)), ops.matmul(Tensor(x[..., :0]), Tensor(y[:, :0])), ops.matmul(Tensor(x[0, 0, :, :0]), Tensor(y[0, :0]))])
same(lambda: [_core.op("MatMulInteger")(Tensor(x).astype(ms.int8), Tensor(y).astype(ms.int8))])
""",
    "updates of Parameters": """
def updated(make, dtype):
    p = ms.Parameter(Tensor(f32(5, 7)).astype(dtype), name="p")
    optimizer = make([p])
    for seed in range(3):
        optimizer((Tensor(f32(5, 7, seed=seed)).astype(dtype),))
    return [v.astype(ms.float64) for v in (p, *(q for q in optimizer.get_parameters() if q.shape == p.shape))]
makers = [nn.AdaMax, nn.Adagrad, nn.Adadelta, nn.FTRL, nn.Momentum, nn.RMSProp]
makers = [lambda p, f=f: f(p, learning_rate=0.1, **({"momentum": 0.9} if f is nn.Momentum else {})) for f in makers]
makers += [lambda p: nn.RMSProp(p, 0.1, momentum=0.5, centered=True), lambda p: nn.Adagrad(p, update_slots=False), lambda p: nn.FTRL(p, l1=0.05, l2=0.1)]
for make in makers:
    same(lambda: updated(make, ms.float32), 1e-5)
    same(lambda: updated(make, ms.float16), 2e-3)
v = ms.Parameter(Tensor(f32(3)), name="v")
same(lambda: [ops.ApplyGradientDescent()(v, 0.1, Tensor(f32(3, seed=1))), ops.ApplyAdagradV2(1e-3)(v, ms.Parameter(Tensor(f32(3) ** 2), name="a"), 0.1, Tensor(f32(3, seed=1)))[1]], 1e-6)
""",
    "arithmetic of complex numbers": """
odd = [0.0, -0.0, 1.0, np.inf, -np.inf, np.nan]
left = np.array([complex(a, b) for a in odd for b in odd for c in odd for d in odd])
right = np.array([complex(c, d) for a in odd for b in odd for c in odd for d in odd])
for dtype in (np.complex64, np.complex128):
    for x, y in ((c128(3, 4, 5), c128(4, 1)), (left, right)):
        x, y = Tensor(x.astype(dtype)), Tensor(y.astype(dtype))
        same(lambda: [x + y, x - y, x * y, x / y, x / 0.5, -x, x.conj(), ops.real(x), ops.imag(x), abs(x), x == y, x != y, ops.sign(x), x ** 2, x ** -3,
                      ops.isnan(x), ops.isinf(x), ops.isfinite(x), ops.where(ops.isnan(x), y, x), ops.Complex()(ops.imag(x), ops.real(x))])
        same(lambda: [x.astype(t).astype(ms.float64) for t in TYPES] + [x.astype(t) for t in (ms.complex64, ms.complex128)])
    same(lambda: [Tensor(f32(9)).astype(t).astype(ms.complex64) for t in TYPES])
""",
    "functions of complex numbers": """
names = "exp expm1 log log1p sqrt rsqrt sigmoid sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh".split()
for dtype, tolerance in ((np.complex64, 1e-5), (np.complex128, 1e-13)):
    for scale in (1e-9, 0.1, 1, 30):
        x = Tensor(c128(60, scale=scale).astype(dtype))
        same(lambda: [getattr(ops, name)(x) / ops.abs(getattr(ops, name)(x)) for name in names] + [ops.log(ops.abs(getattr(ops, name)(x))) for name in names], tolerance)
    x, y = Tensor(c128(60).astype(dtype)), Tensor(c128(60, scale=2).astype(dtype))
    same(lambda: [x ** y, ops.exp(Tensor(np.array([-np.inf + 2j, complex(-np.inf, np.inf), complex(np.inf, 0)])))], 3 * tolerance)
""",
    "arrays of complex numbers": """
at = Tensor(np.array([1, 0, 1]))
for dtype, tolerance in ((np.complex64, 1e-5), (np.complex128, 1e-13)):
    x, y, wide = (Tensor(v.astype(dtype)) for v in (c128(3, 4, 5), c128(4, 1), c128(20, 30000)))
    same(lambda: [ops.transpose(x, (2, 0, 1)).copy(), x[1:, ::2].copy(), ops.concat([x, x], 1), ops.gather(x, at, 1), ops.broadcast_to(y, (2, 4, 3)), ops.ones_like(x)])
    same(lambda: [x.sum(1), x.sum((0, 2)), x.mean(-1), x.mean(), x.prod(0), ops.cumsum(x, 1), ops.cumprod(x, 0)], tolerance)
    same(lambda: [wide.sum() / 1000, wide.sum(0) / 10, wide.sum(1) / 1000, wide.mean()], tolerance)
    same(lambda: [ops.tensor_scatter_add(x, at.reshape((3, 1)), x), ops.unsorted_segment_sum(x, at, 3), ops.scatter_nd(at.reshape((3, 1)), x, (3, 4, 5))], tolerance)
    loss = lambda v: (ops.abs(ops.exp(v) * ops.pad(ops.gather(v, at, 1), (2, 1), "reflect")[:, :1, :1] / y)).sum()
    same(lambda: [ms.grad(loss)(x), ms.grad(lambda v: ops.real(x * v + v).sum())(y)], 10 * tolerance)
""",
    "elements that depend on where they are": """
for dtype in (np.float32, np.int8, np.complex128):
    x = Tensor((f32(3, 4, 5) * 4).astype(dtype))
    a, b = both(lambda: [v.asnumpy() for v in (
        ops.pad(x, (1, 2, 3, 0)), ops.pad(x, (1, 2), value=3), ops.pad(x, (1, 2, 3, 1), "reflect"), ops.pad(x, (4, 2, 1, 1), "replicate"),
        ops.pad(x, (5, 2, 1, 4), "circular"), ops.flip(x, (0, 2)), ops.tile(x, (2, 1, 1, 3)), ops.tril(x, 1), ops.triu(x, -1),
        Tensor(x.asnumpy()[0, 0]).diag(), ops.eye(3, 5, ms.float16), ops.arange(1, 9, 3), ops.arange(0.5, 3, 0.25), ops.linspace(1.0, 2.0, 7),
        ops.one_hot(Tensor(np.array([[1, -1], [4, 2]])), 4), ops.one_hot(Tensor(np.array([1, 3])), 4, axis=0))])
    assert all((p == q).all() and p.dtype == q.dtype and p.shape == q.shape for p, q in zip(a, b))
    ms.set_context(device_target="CPU")
same(lambda: [ops.addn([Tensor(f32(3)), Tensor(f32(3)), Tensor(f32(3))])])
""",
}


@pytest.mark.parametrize("case", CASES)
def test_numbers_of_the_host(case):
    said = run(BEGIN + CASES[case], says=True, MS_LOG="dispatch")
    assert {line for line in said.splitlines() if "between copies" in line} == set()


def test_positions_out_of_range_are_heard_of():
    """Parameters that were to be written keep their values."""
    run("""
ms.set_context(device_target="GPU")
with pytest.raises(ValueError, match=r"For 'Bernoulli', 'p' must be in \\[0, 1\\], but is not at position 1"):
    ops.bernoulli(Tensor(f32(3)), Tensor([0.5, 1.5, 0.2])).asnumpy()
with pytest.raises(ValueError, match="'minval' must be less than 'maxval', but got 5 and 5"):
    ops.UniformInt()((3,), Tensor(5, ms.int32), Tensor(5, ms.int32)).asnumpy()
for again in (True, False):
    with pytest.raises(ValueError, match="For 'Multinomial', the weights must be finite and not negative, but are not at position 4"):
        ops.multinomial(Tensor([[1.0, 2, 3], [0, np.inf, 1]]), 2, again).asnumpy()
for again, needed in ((True, 1), (False, 2)):
    with pytest.raises(ValueError, match=f"For 'Multinomial', a row must have at least {needed} positive weights, but got {needed - 1}"):
        ops.multinomial(Tensor([[1.0, 2, 3], [0, 0, needed - 1]]), 2, again).asnumpy()
x, at = Tensor(f32(4, 5)), Tensor(np.array([[0, 1], [1, 5]], np.int32))
with pytest.raises(IndexError, match=r"For 'GatherNd', the indices into axis 1 must be in \\[0, 5\\), but got 5 in row 1"):
    ops.gather_nd(x, at).asnumpy()
with pytest.raises(IndexError, match=r"For 'GatherD', the indices must be in \\[-4, 4\\), but got -5 at position 2"):
    ops.gather_elements(x, 0, Tensor([[0, 1, -5]])).asnumpy()
p = ms.Parameter(x, name="p")
before = p.asnumpy()
with pytest.raises(IndexError, match=r"For 'ScatterAdd', the indices must be in \\[0, 4\\), but got 4 at position 1"):
    ops.scatter_add(p, Tensor(np.array([0, 4], np.int32)), Tensor(f32(2, 5)))
    ms.runtime.synchronize()
assert (p.asnumpy() == before).all()
""")
