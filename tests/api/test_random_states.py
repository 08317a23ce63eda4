"""Generators of random numbers: a state says what comes next."""

from __future__ import annotations

import copy
import pickle
import sys
import threading

import numpy as np
import pytest

import mindspore as ms
from mindspore import Generator, Tensor, mint, nn, ops


def drawn() -> list:
    return ops.standard_normal((3,)).asnumpy().tolist()


def test_a_state_repeats_what_came_behind_it():
    ms.manual_seed(3)
    first = drawn()
    state = ms.get_rng_state()
    second = drawn()
    assert first != second
    ms.set_rng_state(state)
    assert drawn() == second
    assert ms.manual_seed(3) is ms.default_generator
    assert drawn() == first
    assert ms.initial_seed() == 3


def test_states_are_counted_in_graphs_too():
    draw = ms.jit(lambda x: x + ops.standard_normal((3,)))
    x = ops.zeros(3)
    ms.manual_seed(5)
    first = draw(x).asnumpy().tolist()
    second = draw(x).asnumpy().tolist()
    assert first != second
    ms.manual_seed(5)
    assert drawn() == first
    assert drawn() == second


def test_set_seed_begins_the_default_generator():
    ms.set_seed(11)
    assert ms.initial_seed() == 11
    assert ms.get_rng_state().asnumpy().view(np.uint64).tolist() == [11, 0]
    drawn()
    assert ms.get_rng_state().asnumpy().view(np.uint64).tolist() == [11, 1]


@pytest.mark.parametrize("method", ["normal_", "uniform_", "exponential_", "random_", "bernoulli_"])
def test_generators_of_ones_own(method):
    def draw(generator):
        return getattr(ops.zeros((50,)), method)(generator=generator).asnumpy().tolist()

    ms.manual_seed(0)
    before = ms.get_rng_state().asnumpy().tolist()
    first, second = Generator().manual_seed(7), Generator().manual_seed(7)
    values = draw(first)
    assert draw(second) == values
    assert draw(second) != values
    assert ms.get_rng_state().asnumpy().tolist() == before
    second.set_state(first.get_state())
    assert draw(second) == draw(first)
    assert first.initial_seed() == 7


HALVES = np.full(40, 0.5, np.float32)
DRAWS = {
    "rand": lambda g: mint.rand(20, generator=g),
    "randn": lambda g: mint.randn(20, generator=g),
    "normal": lambda g: mint.normal(0.0, 1.0, (20,), generator=g),
    "bernoulli": lambda g: mint.bernoulli(Tensor(HALVES), generator=g),
    "bernoulli_ext": lambda g: ops.bernoulli_ext(Tensor(HALVES), generator=g),
    "multinomial": lambda g: mint.multinomial(Tensor(HALVES), 20, True, generator=g),
    "randint": lambda g: mint.randint(0, 1000, (20,), generator=g),
    "randperm": lambda g: mint.randperm(20, generator=g),
    "uniform": lambda g: Tensor(HALVES).uniform(generator=g),
}


@pytest.mark.parametrize("name", DRAWS)
def test_functions_draw_from_the_generator_that_they_are_given(mode, name):
    def draw(generator):
        return DRAWS[name](generator).asnumpy().tolist()

    ms.manual_seed(0)
    before = ms.get_rng_state().asnumpy().tolist()
    own = Generator().manual_seed(7)
    first, second = draw(own), draw(own)
    assert first != second
    state = own.get_state()
    third = draw(own)
    own.set_state(state)
    assert draw(own) == third
    assert draw(own.manual_seed(7)) == first and draw(own) == second
    assert ms.get_rng_state().asnumpy().tolist() == before
    assert len(draw(None)) == len(first)


def test_seeds_of_the_system():
    generator = Generator()
    assert generator.seed() == generator.initial_seed()
    assert ms.seed() == ms.initial_seed()


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: ms.set_rng_state(3), "'state' must be a Tensor of 16 UInt8"),
        (lambda: ms.set_rng_state(Tensor([1])), "'state' must be a Tensor of 16 UInt8"),
        (lambda: ms.manual_seed("a"), "'seed' must be an int"),
        (lambda: ops.zeros(3).normal_(generator=3), "'generator' must be a Generator"),
    ],
)
def test_refusals(call, says):
    with pytest.raises(TypeError, match=says):
        call()


@pytest.fixture
def eager_switches():
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def beside(work, function):
    """What a function gives while other threads work."""
    stop = threading.Event()
    errors = []

    def run():
        try:
            while not stop.is_set():
                work()
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run) for _ in range(2)]
    for thread in threads:
        thread.start()
    try:
        return function()
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        assert not errors


def test_generators_of_other_threads_are_theirs(eager_switches):
    def draws():
        ms.manual_seed(11)
        return [drawn() for _ in range(300)]

    def of_their_own():
        generator = Generator().manual_seed(4)
        ops.zeros(3).uniform_(generator=generator)

    assert beside(of_their_own, draws) == draws()


def test_a_block_that_runs_again_draws_beside_other_threads(eager_switches):
    """The gradient has the block's own numbers, and takes none from other threads."""
    block = nn.Dropout(p=0.5).set_train()
    x = Tensor(np.ones(64, np.float32))
    step = ms.value_and_grad(lambda x: ms.recompute(block, x).sum())

    def draws():
        ms.manual_seed(12)
        return [tuple(drawn()) for _ in range(200)]

    def again():
        value, gradient = step(x)
        assert value == gradient.sum()

    found = beside(again, draws)
    assert len(set(found)) == len(found)


def test_a_block_that_runs_again_draws_as_others_do():
    block, x = nn.Dropout(p=0.5).set_train(), Tensor(np.ones(64, np.float32))
    behind = []
    for run in (block, lambda x: ms.recompute(block, x)):
        ms.manual_seed(13)
        ms.grad(lambda x, run=run: run(x).sum())(x)
        behind.append(drawn())
    assert behind[0] == behind[1]


def test_copies_of_generators():
    generator = Generator().manual_seed(4)
    ops.zeros(3).uniform_(generator=generator)
    first = copy.deepcopy(generator)
    second = pickle.loads(pickle.dumps(generator))
    values = [ops.zeros(3).uniform_(generator=g).asnumpy() for g in (generator, first, second)]
    np.testing.assert_array_equal(values[0], values[1])
    np.testing.assert_array_equal(values[0], values[2])
    assert pickle.loads(pickle.dumps(ms.default_generator)) is ms.default_generator


def test_gradients_do_not_flow_through_a_block():
    x = Tensor([2.0])

    def function(x):
        with ms._no_grad():
            y = x * x
        return x * y

    @ms._no_grad()
    def square(x):
        return x * x

    assert ms.grad(function)(x).asnumpy().tolist() == [4]
    assert ms.grad(lambda x: square(x) * x)(x).asnumpy().tolist() == [4]
    assert ms.grad(lambda x: x * x)(x).asnumpy().tolist() == [4]


def test_memory_of_others():
    data = bytearray(np.arange(4, dtype=np.int32).tobytes())
    x = ms.frombuffer(data, dtype=ms.int32, count=2, offset=4)
    assert x.asnumpy().tolist() == [1, 2]
    data[4] = 9
    assert x.asnumpy().tolist() == [9, 2]
    with pytest.raises(TypeError, match="'buffer' must be an object that gives its memory"):
        ms.frombuffer(3)
    with pytest.raises(ValueError, match="For 'frombuffer', 'buffer' must hold"):
        ms.frombuffer(data, dtype=ms.int32, count=9)
    with pytest.raises(TypeError, match="'t1' must be a Tensor"):
        ms.swap_tensors(3, x)
