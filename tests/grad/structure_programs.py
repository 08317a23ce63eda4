"""What the cases of test_structure.py take gradients of: cells with and without Parameters, functions of and to all kinds of values."""

from __future__ import annotations

import numpy as np

from mindspore import Parameter, Tensor, nn


class One(nn.Cell):
    """One input, one Parameter."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([3, 3, 3], np.float32)), name="w")

    def construct(self, a):
        return a * self.w


class Two(nn.Cell):
    """Two inputs, two Parameters."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([3, 3, 3], np.float32)), name="w")
        self.b = Parameter(Tensor(np.array([1, 1, 1], np.float32)), name="b")

    def construct(self, a, b):
        return a * b * self.w + self.b


class Nothing(nn.Cell):
    """No inputs."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([3, 3, 3], np.float32)), name="w")

    def construct(self):
        return self.w * self.w


class Plain(nn.Cell):
    """No Parameters."""

    def construct(self, a):
        return a * a


class Pair(nn.Cell):
    """Two results."""

    def construct(self, a):
        return a * 2, a * a


class Frozen(nn.Cell):
    """A Parameter without a gradient."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(Tensor(np.array([3, 3, 3], np.float32)), name="w", requires_grad=False)
        self.v = Parameter(Tensor(np.array([2, 2, 2], np.float32)), name="v")

    def construct(self, a):
        return a * self.w * self.v


class Counter(nn.Cell):
    """Changes a Parameter that it reads."""

    def __init__(self):
        super().__init__()
        self.n = Parameter(Tensor(np.array([1, 1, 1], np.float32)), name="n")

    def construct(self, a):
        before = self.n * a
        self.n = self.n + a
        return before + self.n * a


def product(a, b):
    """Of two tensors."""
    return a * b


def square(a):
    """Of one tensor."""
    return a * a


def scaled(a, k):
    """Times a number."""
    return a * k


def summed(items):
    """Of a pair."""
    return items[0] * items[1]


def of_dict(items):
    """Of two entries."""
    return items["a"] * items["b"]


def two_results(a, b):
    """A sum and a product."""
    return a + b, a * b


def with_aux(a, b):
    """A value and what is not differentiated."""
    return a * b, a + b, a


def with_one_aux(a, b):
    """A value and one more."""
    return a * b, a + b


def list_result(a):
    """A list."""
    return [a * 2, a * 3]


def dict_result(a):
    """A dict."""
    return {"p": a * 2, "q": a * 3}


def times_int(a, k):
    """Float times integers."""
    return a * k


class Methods:
    """Has a method to differentiate."""

    def __init__(self):
        self.k = 3

    def cube(self, a):
        """k times the cube."""
        return self.k * a * a * a
