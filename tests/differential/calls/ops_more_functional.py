"""Calls of transformations of functions: gradients, Jacobians, batches, and functions over trees."""

import numpy as np
from differential.calllib import case

X = np.array([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]], np.float32)
Y = np.array([[1.0, 2.0, -1.0], [0.5, 3.0, 1.0]], np.float32)


def _xy(ms):
    return ms.Tensor(X), ms.Tensor(Y)


def _product(ms):
    def product(x, y):
        return ms.ops.sin(x) * y * y

    return product


def _cube(a):
    return a * a * a


def _two(a):
    return a * a, a + 1


def _same(a):
    return a


def _sum_of_product(a, b):
    return (a * b).sum()


def _double_and(a, b):
    return a * 2 + b


def _tripled(g):
    return g * 3


def _net(ms):
    class Net(ms.nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ms.Tensor(Y), name="w")

        def construct(self, x):
            return (x * self.w).sum() + (self.w**2).sum()

    return Net()


for _path in ("ops", "ops.composite"):

    @case(f"{_path}.GradOperation")
    def _(ms, path=_path):
        """Of the first input, of all, with a sensitivity."""
        g, (x, y) = ms.ops.GradOperation, _xy(ms)
        f = _product(ms)
        every = g(get_all=True)(f)(x, y)
        weighed = g(get_all=True, sens_param=True)(f)(x, y, ms.Tensor(2 * np.ones_like(X)))
        return g()(f)(x, y), every, weighed

    @case(f"{_path}.GradOperation")
    def _(ms, path=_path):
        """Of parameters."""
        net = _net(ms)
        weights = ms.ParameterTuple(net.trainable_params())
        g = ms.ops.GradOperation
        by_list = g(get_by_list=True)(net, weights)(ms.Tensor(X))
        return by_list, g(get_all=True, get_by_list=True)(net, weights)(ms.Tensor(X))

    @case(f"{_path}.GradOperation")
    def _(ms, path=_path):
        """What is no truth value."""
        ms.ops.GradOperation(get_all=3)

    @case(f"{_path}.HyperMap")
    def _(ms, path=_path):
        """A function over trees."""
        x, y = _xy(ms)
        add = ms.ops.MultitypeFuncGraph("add")

        @add.register("Tensor", "Tensor")
        def _tensors(a, b):
            return a + b

        @add.register("Number", "Number")
        def _numbers(a, b):
            return a * b

        mapped = ms.ops.HyperMap(add)
        nested = mapped(((x, y), 2), ((y, x), 3))
        return nested, ms.ops.HyperMap()(add, (x, y), (y, y))

    @case(f"{_path}.HyperMap")
    def _(ms, path=_path):
        """Trees of other shapes."""
        x, y = _xy(ms)
        return ms.ops.HyperMap(lambda a, b: a + b)((x, y), (x,))

    @case(f"{_path}.Map")
    def _(ms, path=_path):
        """A function over a sequence."""
        x, y = _xy(ms)

        def square(a):
            return a * a

        return ms.ops.Map(square)((x, y)), ms.ops.Map()(square, (y, x))

    @case(f"{_path}.Map")
    def _(ms, path=_path):
        """What is no sequence."""
        return ms.ops.Map(lambda a: a)(ms.Tensor(X), 1)

    @case(f"{_path}.MultitypeFuncGraph")
    def _(ms, path=_path):
        """By the types of the arguments."""
        pick = ms.ops.MultitypeFuncGraph("pick")

        @pick.register("Number", "Tensor")
        def _one(a, b):
            return b * a

        @pick.register("Tensor", "Tensor")
        def _other(a, b):
            return a - b

        x, y = _xy(ms)
        return pick(2, x), pick(x, y)

    @case(f"{_path}.MultitypeFuncGraph")
    def _(ms, path=_path):
        """Types that none is for."""
        pick = ms.ops.MultitypeFuncGraph("pick")

        @pick.register("Tensor")
        def _one(a):
            return a

        return pick(2, 3)

    @case(f"{_path}.add_flags")
    def _(ms, path=_path):
        """Marks of a function, which stays what it is."""
        marked = ms.ops.add_flags(has_effect=True)(lambda x: x + 1)
        return marked(2)

    @case(f"{_path}.tail", ref=lambda: ((2, 3), ()))
    def _(ms, path=_path):
        """All but the first."""
        return ms.ops.tail((1, 2, 3)), ms.ops.tail((1,))

    for _name, _values in (
        ("sub", (7.5, 2.0)),
        ("mul", (3, 4)),
        ("div", (7.0, 2.0)),
        ("floordiv", (7, 2)),
        ("mod", (7, 4)),
    ):

        @case(f"{_path}.augassign_{_name}")
        def _(ms, name=_name, values=_values, path=_path):
            """Of numbers and of tensors."""
            function = getattr(ms.ops.composite, f"augassign_{name}")
            x, y = _xy(ms)
            return function(*values), function(x, y) if name in ("sub", "mul") else None


@case("ops.composite.zip_operation", ref=lambda: ((1, 3), (2, 4)))
def _(ms):
    """Sequences side by side."""
    return ms.ops.composite.zip_operation((1, 2), (3, 4))


# ---- functions of functions ---------------------------------------------------------------------
@case("ops.grad")
def _(ms):
    """By place, by several, by none."""
    x, y = _xy(ms)
    f = _product(ms)
    return ms.ops.grad(f)(x, y), ms.ops.grad(f, 1)(x, y), ms.ops.grad(f, (0, 1))(x, y)


@case("ops.grad")
def _(ms):
    """Of weights, beside what is returned else."""
    net = _net(ms)
    x = ms.Tensor(X)
    both = ms.ops.grad(net, 0, net.trainable_params())(x)
    aux = ms.ops.grad(lambda a: (a * a, a + 1), has_aux=True)(x)
    return both, aux, ms.ops.grad(net, None, net.trainable_params())(x)


@case("ops.grad")
def _(ms):
    """A second one."""
    x, _ = _xy(ms)
    return ms.ops.grad(ms.ops.grad(lambda a: ms.ops.sin(a) * a))(x)


@case("ops.grad")
def _(ms):
    """A place that there is not."""
    return ms.ops.grad(lambda a: a, 3)(ms.Tensor(X))


@case("ops.grad")
def _(ms):
    """With respect to nothing."""
    return ms.ops.grad(lambda a: a, None)(ms.Tensor(X))


@case("ops.value_and_grad")
def _(ms):
    """The value beside the gradient."""
    x, y = _xy(ms)
    f = _product(ms)
    net = _net(ms)
    weighed = ms.ops.value_and_grad(net, 0, net.trainable_params())(x)
    aux = ms.ops.value_and_grad(lambda a: ((a * a).sum(), a + 1), has_aux=True)(x)
    return ms.ops.value_and_grad(f)(x, y), ms.ops.value_and_grad(f, (0, 1))(x, y), weighed, aux


@case("ops.value_and_grad")
def _(ms):
    """A wrong place."""
    return ms.ops.value_and_grad(lambda a: a, "x")(ms.Tensor(X))


@case("ops.get_grad")
def _(ms):
    """Found by place and by parameter."""
    net = _net(ms)
    found = ms.ops.grad(net, 0, net.trainable_params(), return_ids=True)(ms.Tensor(X))
    return ms.ops.get_grad(found, 0), ms.ops.get_grad(found, net.w)


@case("ops.get_grad")
def _(ms):
    """A place that was not asked for."""
    found = ms.ops.grad(lambda a: a * a, 0, return_ids=True)(ms.Tensor(X))
    return ms.ops.get_grad(found, 2)


@case("ops.jvp")
def _(ms):
    """A direction forwards."""
    x, y = _xy(ms)
    one = ms.ops.jvp(_cube, x, y)
    two = ms.ops.jvp(_product(ms), (x, y), (y, x))
    aux = ms.ops.jvp(_two, x, y, has_aux=True)
    return one, two, aux


@case("ops.jvp")
def _(ms):
    """A direction of another shape."""
    return ms.ops.jvp(_cube, ms.Tensor(X), ms.Tensor(Y[0]))


@case("ops.vjp")
def _(ms):
    """A weight backwards."""
    x, y = _xy(ms)
    value, pull = ms.ops.vjp(_product(ms), x, y)
    net = _net(ms)
    total, back = ms.ops.vjp(net, x, weights=net.trainable_params())
    return value, pull(y), total, back(ms.Tensor(2.0))


@case("ops.vjp")
def _(ms):
    """What is no function."""
    return ms.ops.vjp(3, ms.Tensor(X))


for _name in ("jacfwd", "jacrev"):

    @case(f"ops.{_name}")
    def _(ms, name=_name):
        """All derivatives of all outputs."""
        x, y = _xy(ms)
        f = _product(ms)
        j = getattr(ms.ops, name)
        return (
            j(f)(x[0], y[0]),
            j(f, (0, 1))(x[0], y[0]),
            j(_two, has_aux=True)(x),
        )

    @case(f"ops.{_name}")
    def _(ms, name=_name):
        """A wrong place."""
        return getattr(ms.ops, name)(_same, "x")(ms.Tensor(X))


@case("ops.jet", tol=1e-4)
def _(ms):
    """Terms of a series."""
    x = ms.Tensor(X[0])
    series = ms.Tensor(np.stack([np.ones(3), np.zeros(3), np.ones(3)]).astype(np.float32))
    return ms.ops.jet(ms.ops.sin, x, series)


@case("ops.derivative", tol=1e-4)
def _(ms):
    """The third."""
    return ms.ops.derivative(ms.ops.sin, ms.Tensor(X[0]), 3)


@case("ops.derivative")
def _(ms):
    """One that there is not."""
    return ms.ops.derivative(ms.ops.sin, ms.Tensor(X[0]), -1)


@case("ops.vmap")
def _(ms):
    """Along axes of inputs and of outputs."""
    x, y = _xy(ms)
    rows = ms.ops.vmap(_sum_of_product)(x, y)
    columns = ms.ops.vmap(_double_and, (1, None), 1)(x, y[:, 0])
    nested = ms.ops.vmap(ms.ops.vmap(_cube))(x)
    return rows, columns, nested


@case("ops.vmap")
def _(ms):
    """Axes of other sizes."""
    return ms.ops.vmap(_sum_of_product)(ms.Tensor(X), ms.Tensor(X[:1]))


@case("ops.partial")
def _(ms):
    """With arguments given before."""
    x, y = _xy(ms)
    function = ms.ops.partial(lambda a, b: a - b, x)
    return function(y), ms.ops.Partial()(lambda a, b: a - b, y)(x)


@case("ops.Partial")
def _(ms):
    """The class."""
    x, y = _xy(ms)
    return ms.ops.Partial()(lambda a, b: a * b + 1, y)(x)


@case("ops.InsertGradientOf")
def _(ms):
    """What becomes of a gradient that passes."""
    seen = ms.ops.InsertGradientOf(_tripled)
    return ms.ops.grad(lambda a: (seen(a) * a).sum())(ms.Tensor(X))


@case("ops.HookBackward")
def _(ms):
    """What becomes of a gradient that passes."""
    ms.set_context(mode=ms.PYNATIVE_MODE)
    hook = ms.ops.HookBackward(lambda g: (g[0] * 2,))
    return ms.ops.grad(lambda a: hook(a * a).sum())(ms.Tensor(X))


@case("ops.HookBackward")
def _(ms):
    """What is no function."""
    ms.ops.HookBackward(3)


@case("ops.constexpr")
def _(ms):
    """Computed while compiling."""

    @ms.ops.constexpr
    def doubled(shape):
        return tuple(2 * n for n in shape)

    class Net(ms.nn.Cell):
        def construct(self, x):
            return ms.ops.ones(doubled(x.shape), ms.float32) + x.sum()

    return Net()(ms.Tensor(X))


@case("ops.constexpr")
def _(ms):
    """What is no function."""
    ms.ops.constexpr(3)(2)


@case("ops.PyFunc")
def _(ms):
    """A function of arrays as an op."""
    op = ms.ops.PyFunc(
        lambda a, b: (a + b, a * b),
        [ms.float32] * 2,
        [(2, 3)] * 2,
        [ms.float32] * 2,
        [(2, 3)] * 2,
        True,
    )
    return op(*_xy(ms))


@case("ops.Custom")
def _(ms):
    """A function of arrays as an op, with a gradient of its own."""
    op = ms.ops.Custom(
        lambda a: np.sin(a), lambda s: s, lambda t: t, "pyfunc", bprop=lambda a, out, d: (d * 2,)
    )
    return op(ms.Tensor(X))


@case("ops.Custom")
def _(ms):
    """A kind that there is not."""
    ms.ops.Custom(lambda a: a, lambda s: s, lambda t: t, "x")
