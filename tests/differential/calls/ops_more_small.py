"""Calls of small functions that compilers know: of tuples, dicts, texts and numbers, and of sparse tensors."""

import numpy as np
from differential.calllib import call, case, f32, of


def _is(name, *args, gives, **kwargs):
    """A function that runs only in graphs there."""

    @case(f"ops.{name}", ref=lambda: gives)
    def _(ms):
        given = [ms.Tensor(a.value) if hasattr(a, "text") else a for a in args]

        class Net(ms.nn.Cell):
            def construct(self):
                return getattr(ms.ops, name)(*given, **kwargs)

        return Net()()


_is("bool_and", True, False, gives=False)
_is("bool_or", True, False, gives=True)
_is("bool_eq", True, True, gives=True)
_is("bool_not", True, gives=False)
_is("string_concat", "ab", "cd", gives="abcd")
_is("string_eq", "ab", "ab", gives=True)
_is("scalar_ne", 2, 3, gives=True)
_is("tuple_len", (1, 2, 3), gives=3)
_is("tuple_len", [], gives=0)
_is("make_range", 1, 7, 2, gives=(1, 3, 5))
_is("make_range", 3, gives=(0, 1, 2))
_is("make_dict", ("a", "b"), (1, 2), gives={"a": 1, "b": 2})
_is("dict_setitem", {"a": 1}, "b", 2, gives={"a": 1, "b": 2})
_is("isconstant", 3, gives=True)
for name, values in (
    ("bool_and", (1,)),
    ("make_dict", (1, 2)),
    ("tuple_len", (3,)),
    ("string_eq", ("a",)),
):
    call(f"ops.{name}", *values)
call("ops.scalar_ne", 2)
call("ops.make_range", "a")


@case("ops.make_slice", ref=lambda: (1, 5, 2))
def _(ms):
    """Bounds and a step."""
    made = ms.ops.make_slice(1, 5, 2)
    return made.start, made.stop, made.step


@case("ops.is_tensor_bool_cond", ref=lambda: (True, False))
def _(ms):
    """What a tensor decides."""
    f = ms.ops.is_tensor_bool_cond
    return f(ms.Tensor(True)), f(True)


@case("ops.hastype", ref=lambda: (True, False))
def _(ms):
    """Whether a value is of a type."""
    f = ms.ops.hastype
    return f(ms.Tensor([1.0]), ms.tensor_type), f(3, ms.tensor_type)


# ---- sparse -------------------------------------------------------------------------------------
VALUES = np.array([0.5, -0.25, 0.75], np.float32)
DENSE = np.zeros((3, 4), np.float32)
DENSE[[0, 0, 1], [0, 2, 1]] = VALUES
FULL = np.arange(1, 13, dtype=np.float32).reshape(3, 4)


def _csr(ms):
    pointers, columns = (ms.Tensor(np.array(x), ms.int32) for x in ([0, 2, 3, 3], [0, 2, 1]))
    return ms.CSRTensor(pointers, columns, ms.Tensor(VALUES), (3, 4))


def _coo(ms):
    return ms.COOTensor(ms.Tensor([[0, 0], [0, 2], [1, 1]], ms.int64), ms.Tensor(VALUES), (3, 4))


@case("ops.csr_add", ref=lambda: DENSE * 2 - DENSE * 0.5)
def _(ms):
    """A sum of two with weights."""
    one = _csr(ms)
    two, half = ms.Tensor(2.0, ms.float32), ms.Tensor(-0.5, ms.float32)
    return ms.ops.csr_add(one, one, two, half).to_dense()


@case("ops.csr_add")
def _(ms):
    """Of what is not sparse."""
    return ms.ops.csr_add(_csr(ms), ms.Tensor(FULL), ms.Tensor(1.0), ms.Tensor(1.0))


@case("ops.csr_mul", ref=lambda: DENSE * FULL)
def _(ms):
    """With a whole tensor."""
    return ms.ops.csr_mul(_csr(ms), ms.Tensor(FULL)).to_dense()


@case("ops.csr_div", ref=lambda: DENSE / FULL)
def _(ms):
    """By a whole tensor."""
    return ms.ops.csr_div(_csr(ms), ms.Tensor(FULL)).to_dense()


@case("ops.csr_mm", ref=lambda: (DENSE @ FULL.T, DENSE @ FULL.T))
def _(ms):
    """A product with a matrix, which may be turned over."""
    x, y = _csr(ms), ms.Tensor(FULL)
    return ms.ops.csr_mm(x, y.T), ms.ops.csr_mm(x, y, trans_b=True)


@case("ops.csr_mm")
def _(ms):
    """Sizes that do not fit."""
    return ms.ops.csr_mm(_csr(ms), ms.Tensor(FULL))


@case("ops.csr_mv", ref=lambda: DENSE @ FULL[:1].T)
def _(ms):
    """A product with a column."""
    return ms.ops.csr_mv(_csr(ms), ms.Tensor(FULL[:1].T))


@case("ops.csr_mv")
def _(ms):
    """A column of another size."""
    return ms.ops.csr_mv(_csr(ms), ms.Tensor(FULL[:1, :3].T))


@case("ops.csr_reduce_sum", ref=lambda: DENSE.sum(1, keepdims=True))
def _(ms):
    """Sums of rows."""
    return ms.ops.csr_reduce_sum(_csr(ms), 1)


@case("ops.csr_reduce_sum")
def _(ms):
    """An axis that there is not."""
    return ms.ops.csr_reduce_sum(_csr(ms), 3)


@case("ops.csr_softmax", ref=lambda: _softmax())
def _(ms):
    """Of what is there in each row."""
    return ms.ops.csr_softmax(_csr(ms), ms.float32).values


def _softmax():
    powers = np.exp(VALUES[:2])
    return np.append(powers / powers.sum(), 1).astype(np.float32)


@case("ops.csr_gather", ref=lambda: FULL[[0, 0, 1], [0, 2, 1]])
def _(ms):
    """Elements at the places."""
    x = _csr(ms)
    return ms.ops.csr_gather(x.indptr, x.indices, ms.Tensor(FULL), (3, 4))


@case("ops.coo2csr", ref=lambda: np.array([0, 2, 3, 3], np.int32))
def _(ms):
    """Ends of rows from rows."""
    return ms.ops.coo2csr(ms.Tensor([0, 0, 1], ms.int32), 3)


@case("ops.csr2coo", ref=lambda: np.array([0, 0, 1], np.int32))
def _(ms):
    """Rows from ends of rows."""
    return ms.ops.csr2coo(ms.Tensor([0, 2, 3, 3], ms.int32), 3)


for _kind, _parts in (
    ("coo", "indices values dense_shape"),
    ("csr", "indptr indices values dense_shape"),
):
    for _part in _parts.split():

        @case(f"ops.{_kind}_tensor_get_{_part}")
        def _(ms, kind=_kind, part=_part):
            """A part."""
            x = _coo(ms) if kind == "coo" else _csr(ms)
            return getattr(ms.ops, f"{kind}_tensor_get_{part}")(x)


@case("ops.make_coo_tensor", ref=lambda: DENSE)
def _(ms):
    """From its parts."""
    x = _coo(ms)
    return ms.ops.make_coo_tensor(x.indices, x.values, (3, 4)).to_dense()


@case("ops.make_sparse_tensor", ref=lambda: VALUES)
def _(ms):
    """From its parts."""
    x = _coo(ms)
    return ms.ops.make_sparse_tensor(x.indices, x.values, (3, 4)).values


@case("ops.make_csr_tensor", ref=lambda: DENSE)
def _(ms):
    """From its parts."""
    x = _csr(ms)
    return ms.ops.make_csr_tensor(x.indptr, x.indices, x.values, (3, 4)).to_dense()


def _rows(ms):
    return ms.RowTensor(ms.Tensor([0, 2], ms.int32), ms.Tensor(FULL[:2]), (4, 4))


for _part, _value in (
    ("indices", np.array([0, 2], np.int32)),
    ("values", FULL[:2]),
    ("dense_shape", (4, 4)),
):

    @case(f"ops.row_tensor_get_{_part}", ref=lambda v=_value: v)
    def _(ms, part=_part):
        """A part."""
        return getattr(ms.ops, f"row_tensor_get_{part}")(_rows(ms))


@case("ops.make_row_tensor", ref=lambda: (FULL[:2], (4, 4)))
def _(ms):
    """From its parts."""
    made = ms.ops.make_row_tensor(ms.Tensor([0, 2], ms.int32), ms.Tensor(FULL[:2]), (4, 4))
    return made.values, made.dense_shape


@case(
    "ops.row_tensor_add",
    ref=lambda: np.concatenate(
        [FULL[:1] + 1, np.ones((1, 4)), FULL[1:2] + 1, np.ones((1, 4))]
    ).astype(np.float32),
)
def _(ms):
    """Rows added to a whole tensor."""
    return ms.ops.row_tensor_add(_rows(ms), ms.ops.ones((4, 4), ms.float32))


for _method, _wanted in (("to_coo", "coo"), ("to_csr", "csr")):

    @case(f"Tensor.{_method}")
    def _(ms, method=_method):
        """The sparse parts."""
        return getattr(ms.Tensor(DENSE), method)().to_tuple()

    @case(f"Tensor.{_method}")
    def _(ms, method=_method):
        """What has other dimensions."""
        return getattr(ms.Tensor([1.0, 0.0]), method)().to_tuple()


call("ops.coo2csr", f32(3), 2)
call("ops.csr_gather", f32(3))
call("ops.csr2coo", of([0, 1], "int32"), "x")
