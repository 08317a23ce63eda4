"""What functions of `mint` are faces of. The notation is that of _faces.py."""

from mindspore.mint._faces import read_faces

_SAME = """
    abs acos acosh addbmm addmm addmv arange arccos arccosh arcsin arcsinh arctan arctan2 arctanh asin asinh
    atan atan2 atanh bitwise_and bitwise_or bitwise_xor broadcast_to cdist ceil clamp cos cosh
    cross cumprod div divide dot dstack einsum eq erf erfc erfinv exp exp2 expm1 eye flip float_power floor floor_divide fmod
    full full_like gcd greater greater_equal gt histc hstack imag inverse isfinite isinf isneginf le lerp less
    less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not logical_or logical_xor logsumexp lt
    masked_select matmul maximum minimum mm mul nan_to_num ne neg negative not_equal ones ones_like outer polar pow
    ravel real reciprocal remainder roll round rsqrt searchsorted sigmoid sign sin sinc sinh sqrt square sum swapaxes t
    take tan tanh tile trace tril triu unbind unsqueeze xlogy zeros zeros_like
"""

_OTHER_NAMES = """
    all(input, dim=None, keepdim=False) = ReduceAll
    any(input, dim=None, keepdim=False) = ReduceAny
    argmax = ops.argmax
    baddbmm = ops.baddbmm
    cat(tensors, dim=0) = Concat
    chunk = ops.chunk axis=dim
    clone(input) = Identity
    concat(tensors, dim=0) = Concat
    cummax = ops.cummax axis=dim
    diff = ops.diff x=input axis=dim
    frac = ops.frac x=input
    gather(input, dim, index) = GatherD
    index_select = ops.index_select axis=dim
    isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False) = IsClose
    isnan(tensor) = IsNan
    mv = ops.mv mat=input
    nansum = ops.nansum axis=dim keepdims=keepdim
    narrow = ops.narrow axis=dim
    permute(input, dims) = Transpose
    reshape(input, shape) = Reshape
    split = ops.split axis=dim
    squeeze(input, dim=()) = Squeeze
    stack(tensors, dim=0) = Stack
    triangular_solve = Tensor.triangular_solve
    unique_consecutive = ops.unique_consecutive
"""

FACES = {name: f"{name} = ops.{name}" for name in _SAME.split()} | read_faces(_OTHER_NAMES)
