"""The switch of the fast stage: context, environment, JitConfig, and that versions are kept apart."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from mindspore import JitConfig, Tensor, context, jit, nn, ops


@pytest.fixture(autouse=True)
def settings(monkeypatch):
    monkeypatch.delenv("MS_FUSION", raising=False)
    names = ("mode", "enable_graph_kernel", "jit_level", "jit_config")
    before = {name: context.get_context(name) for name in names}
    context.set_context()  # reads the environment again
    yield
    monkeypatch.undo()
    context.set_context(**before)


def f(x):
    return ops.exp(x) * 2 + x


X = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))


def test_versions_of_both_kinds_are_kept():
    compiled = jit(f)
    first = compiled(X)
    context.set_context(enable_graph_kernel=False)
    assert not context.fast()
    np.testing.assert_array_equal(compiled(X).asnumpy(), first.asnumpy())
    assert compiled.cache.compiled == 2
    context.set_context(enable_graph_kernel=True)
    compiled(X)
    assert compiled.cache.compiled == 2


def test_numbers_as_arguments_are_kept_apart_too():
    compiled = jit(lambda x, a: ops.exp(x) * a)
    for fast in (True, False, True):
        context.set_context(enable_graph_kernel=fast)
        for a in (1.5, 2.5, 3.5):
            want = np.exp(X.asnumpy()) * np.float32(a)
            np.testing.assert_allclose(compiled(X, a).asnumpy(), want, rtol=1e-6)


def test_levels_turn_it_off():
    for setting in ({"jit_level": "O0"}, {"jit_config": {"jit_level": "O0"}}):
        context.set_context(**setting)
        assert not context.fast()
        context.set_context(jit_level="", jit_config={})
        assert context.fast()


def test_config_of_a_function_and_a_cell():
    plain = jit(f, jit_config=JitConfig(jit_level="O0"))
    assert not plain.options.fast
    np.testing.assert_array_equal(plain(X).asnumpy(), jit(f)(X).asnumpy())
    context.set_context(mode=context.GRAPH_MODE)
    cell = nn.GELU()
    before = cell(X)
    cell.set_jit_config(JitConfig(jit_level="O0"))
    np.testing.assert_allclose(cell(X).asnumpy(), before.asnumpy(), rtol=1e-6)
    assert cell._compiled_versions.compiled == 2


@pytest.mark.parametrize("setting", [{"enable_graph_kernel": 1}, {"jit_config": "O0"}])
def test_wrong_types(setting):
    with pytest.raises(TypeError, match="For 'set_context'"):
        context.set_context(**setting)


def test_wrong_level():
    with pytest.raises(ValueError, match="'jit_level' must be"):
        context.set_context(jit_level="O9")


def test_environment():
    code = "import mindspore; print(mindspore.context.fast())"
    for value, fast in (("0", "False"), ("1", "True")):
        env = {**os.environ, "MS_FUSION": value, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run(
            [sys.executable, "-c", code], env=env, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == fast
