"""`fullgraph=True` is kept wherever the function is called: from other compiled functions, and where it is differentiated. A
gradient of a decorated function is compiled in PYNATIVE_MODE too, once."""

import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import JitConfig, Parameter, Tensor, jit, nn, ops
from mindspore.compile.program.errors import RunsEagerly

X = Tensor(np.array([2.0, 1.0], np.float32))


@jit(fullgraph=True)
def sorted_twice(x):
    return Tensor(np.sort((x * 2).asnumpy())) * x


@jit(fullgraph=True)
def scaled(x, s):
    return x * s


@jit
def called(x):
    return sorted_twice(x) * 2


@jit
def called_in_a_branch(x):
    if x.sum() > 0:
        return sorted_twice(x)
    return x


@jit
def differentiated(x):
    return ms.grad(sorted_twice)(x)


class Calling(nn.Cell):
    def construct(self, x):
        return sorted_twice(x)


@pytest.fixture(params=[ms.PYNATIVE_MODE, ms.GRAPH_MODE], ids=["pynative", "graph"])
def mode(request):
    ms.set_context(mode=request.param)


@pytest.mark.parametrize(
    "function",
    [called, called_in_a_branch, differentiated, Calling(), ms.grad(sorted_twice), ms.grad(called)],
    ids=["called", "branch", "grad inside", "cell", "grad", "grad of a caller"],
)
def test_what_cannot_be_compiled_is_an_error(function, mode):
    with pytest.raises(TypeError, match="asnumpy") as caught:
        function(X)
    assert "in sorted_twice" in str(caught.value) and "np.sort(" in str(caught.value)


def test_an_error_of_the_way_that_is_taken(mode):
    assert called_in_a_branch(-X).asnumpy().tolist() == [-2, -1]


def test_a_handler_may_catch_it(mode):
    @jit
    def careful(x):
        try:
            return sorted_twice(x)
        except TypeError:
            return x

    assert careful(X).asnumpy().tolist() == [2, 1]


def test_a_value_that_came_out_of_the_graph_may_be_given():
    @jit
    def caller(x):
        return scaled(x, x.max().item())

    with pytest.warns(RunsEagerly):
        assert caller(X).asnumpy().tolist() == [4, 2]


def test_gradients_of_a_strict_cell():
    class Sorted(nn.Cell):
        def construct(self, x):
            return Tensor(np.sort(x.asnumpy())) * x

    net = Sorted()
    net.set_jit_config(JitConfig(jit_syntax_level="STRICT"))
    ms.set_context(mode=ms.GRAPH_MODE)
    with pytest.raises(TypeError, match="asnumpy"):
        ms.grad(net)(X)


def test_gradients_of_decorated_functions_are_compiled(capsys):
    w = Parameter(Tensor([3.0, 4.0]), name="w")

    @jit
    def f(x, y):
        if ops.sum(x) > 0:
            print("traced" if isinstance(x.shape, tuple) else "")
        return (x * y * w).sum()

    assert ms.grad(f, (0, 1))(X, X)[0].asnumpy().tolist() == [6, 4]
    value, (of_w,) = ms.value_and_grad(f, None, [w])(X, X)
    assert value.asnumpy() == 16 and of_w.asnumpy().tolist() == [4, 1]
    assert ops.GradOperation(sens_param=True)(f)(X, X, Tensor(2.0)).asnumpy().tolist() == [12, 8]
    second = ms.grad(lambda v: ms.grad(f)(v, v))(X)
    np.testing.assert_array_equal(second.asnumpy(), [3, 4])
    assert capsys.readouterr().out.count("traced") == 4


def test_one_compile_for_gradients_made_anew():
    """grad(f) of every step finds the versions of the one before; open sizes stay open."""
    seen = []

    class Owner:
        @property
        def scale(self):
            return 2.0

        @jit
        def method(self, x):
            return (x * self.scale).sum()

    @jit(input_signature=Tensor(shape=[None, 2], dtype=ms.float32))
    def rows(x):
        return (x * x).sum()

    owner = Owner()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for n in (1, 2, 3, 4):
            gradient = ms.grad(rows)
            assert gradient(Tensor(np.ones((n, 2), np.float32))).shape == (n, 2)
            seen.append(gradient._compiled_versions)
            of_method = ms.grad(owner.method)
            assert of_method(X).asnumpy().tolist() == [2, 2]
            seen.append(of_method._compiled_versions)
    assert len(set(map(id, seen))) == 2 and [c.compiled for c in seen[:2]] == [1, 1]


def test_gradients_by_many_weights_are_forgotten():
    @jit
    def f(x):
        return (x * x).sum()

    for _ in range(40):
        w = Parameter(Tensor([1.0]), name="w")
        assert ms.grad(f, None, w)(X).asnumpy().tolist() == [0]
    (caches,) = (c for k, c in f._compiled_transforms.items() if k[0] == "gradients")
    assert len(caches) == 16
