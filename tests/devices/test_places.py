"""Where tensors are: moved, asked for, copied, in both modes."""

from __future__ import annotations

import copy
import multiprocessing
import warnings

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, ops


def ones(count: int = 2) -> Tensor:
    return Tensor(np.ones(count, np.float32))


@pytest.fixture(params=["eager", "jit"])
def compiled(request):
    """Makes a function as the mode has it; lines that run eagerly are no matter here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield ms.jit if request.param == "jit" else lambda f: f


@pytest.mark.parametrize("to", ["CPU", "Fenced"])
@pytest.mark.parametrize("make", [ones, lambda: ones() + 0], ids=["host", "device"])
def test_what_is_moved_is_a_value_of_its_own(fenced, compiled, make, to):
    def program(a):
        w = a.move_to(to)
        w[:] = 9
        return w

    x = make()
    place = x.device
    w = compiled(program)(x)
    assert w.asnumpy().tolist() == [9, 9] and w.device == to
    assert x.asnumpy().tolist() == [1, 1] and x.device == place
    if to == "CPU":
        assert np.from_dlpack(w).tolist() == [9, 9]
        assert w[0] + 1 == 10 and (w + 1).device == fenced and w.device == "CPU"


def test_on_the_host_alone(compiled):
    x = ones()
    w = compiled(lambda a: a.move_to("CPU"))(x)
    w[0] = 5
    assert x.asnumpy().tolist() == [1, 1] and w.device == "CPU"


def test_gradients_of_what_is_written_to_a_moved_value(fenced, compiled):
    def program(a):
        y = a * 2
        w = y.move_to("CPU")
        w[0] = 100.0
        return (y * a).sum()

    f = compiled(program)
    assert float(f(ones())) == 4
    assert ms.grad(f)(ones()).asnumpy().tolist() == [4, 4]


def test_a_device_is_a_fact_of_the_tensor(fenced, compiled):
    f = compiled(lambda a: a * 2 if a.device == "CPU" else a * 3)
    there = ones() + 0
    for _ in range(2):
        assert f(ones()).asnumpy().tolist() == [2, 2]
        assert f(there).asnumpy().tolist() == [3, 3]
    p = Parameter(ones(), name="p")
    assert compiled(lambda: p.device)() == "CPU"
    ops.assign(p, p + 1)
    assert compiled(lambda: p.device)() == fenced


def test_copies_stay_where_the_original_does(fenced):
    p = Parameter(ones(), name="p", device="CPU")
    t = Tensor(np.ones(2, np.float32), device="CPU")
    for made in (p.clone(), copy.deepcopy(p), copy.copy(p), copy.deepcopy(t)):
        if isinstance(made, Parameter):
            ops.assign(made, made + 1)
        else:
            made[:] = made + 1
        assert made.device == "CPU" and made.asnumpy().tolist() == [2, 2]
    free = Parameter(ones(), name="p").clone()
    ops.assign(free, free + 1)
    assert free.device == fenced


# ---- processes
def returned(_: int) -> Tensor:
    return shared


shared = ones()


def test_a_forked_worker_can_name_a_tensor_of_the_device(fenced):
    """A pool shows what it could not send: that must not fail."""
    global shared
    shared = ones() + 1
    try:
        with multiprocessing.get_context("fork").Pool(1) as pool:
            with pytest.raises(Exception, match=f"which a forked process does not have|{fenced}"):
                pool.map_async(returned, [1]).get(60)
    finally:
        shared = ones()
