"""Module paths that have no file of their place: each is imported in a fresh process, and gives what it names."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore._compat import paths


@pytest.mark.parametrize("path", [*paths.FILES, *paths.NAMES])
def test_a_path_is_imported_and_has_its_names(path):
    module = importlib.import_module(path)
    assert module.__name__ == path
    for names in paths.NAMES.get(path, {}).values():
        for name in names.split() if names != "*" else ():
            assert getattr(module, name) is not None
    for name in getattr(module, "__all__", ()):
        assert hasattr(module, name)
    with pytest.raises(AttributeError, match="no attribute 'no_such_name'"):
        _ = module.no_such_name


def test_import_star_takes_what_the_homes_show():
    program = """
from mindspore.ops.operations.math_ops import *
from mindspore.ops.communication import *
print(Add.__name__, all_reduce.__name__, all_to_all_v_c.__name__, P2POp.__name__)
"""
    done = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["Add", "all_reduce", "all_to_all_v_c", "P2POp"]


def test_all_of_them_in_one_fresh_process():
    program = "import importlib\n" + "".join(
        f"importlib.import_module({p!r})\n" for p in [*paths.NAMES, *paths.FILES]
    )
    subprocess.run([sys.executable, "-c", program], check=True)


def test_nothing_is_loaded_before_it_is_named():
    program = """
import sys, mindspore
heavy = [m for m in sys.modules if m.startswith(("mindspore._compat.", "mindspore.profiler", "mindspore.train"))]
assert heavy == [], heavy
mindspore._checkparam.check_bool(True)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_the_spellings_of_import():
    from mindspore.ops.operations import _inner_ops as inner
    from mindspore.ops.operations._grad_ops import ReluGrad
    from mindspore.parallel._ps_context import _get_ps_mode_rank, _is_role_pserver
    from mindspore.parallel._utils import _get_enable_parallel_optimizer, _get_pipeline_stages

    assert inner.ReLU is ops.ReLU
    slope = ReluGrad()(Tensor([1.0, 1.0]), Tensor([-1.0, 2.0]))
    assert slope.asnumpy().tolist() == [0, 1]
    assert not _is_role_pserver()
    assert (_get_ps_mode_rank(), _get_pipeline_stages(), _get_enable_parallel_optimizer()) == (
        0,
        1,
        False,
    )


def test_costs_of_the_search():
    from mindspore.parallel import _cost_model_context as costs

    costs.set_cost_model_context(device_memory_capacity=2.0**35)
    assert costs.get_cost_model_context("device_memory_capacity") == 2.0**35
    costs._set_multi_subgraphs(True)
    assert costs._get_multi_subgraphs() is True
    costs.reset_cost_model_context()
    assert costs._get_multi_subgraphs() is False
    with pytest.raises(ValueError, match="there is no setting 'foo'"):
        costs.set_cost_model_context(foo=1)
    with pytest.raises(TypeError, match="'multi_subgraphs' must be a bool"):
        costs.set_cost_model_context(multi_subgraphs=1)


def test_the_executors():
    from mindspore.common.api import _cell_graph_executor, _pynative_executor

    _pynative_executor.sync()
    net = nn.Dense(3, 2)
    assert not net.compiled
    phase, compiled = _cell_graph_executor.compile(net, ops.ones((1, 3)), phase="train")
    assert (phase, compiled) == ("train", True)
    ms.set_context(mode=ms.GRAPH_MODE)
    try:
        assert net.compiled
        versions = net.__dict__["_compiled_versions"]
        net(ops.ones((1, 3)))
        assert net.__dict__["_compiled_versions"] is versions and versions.compiled == 1
    finally:
        ms.set_context(mode=ms.PYNATIVE_MODE)
    assert _cell_graph_executor(net, ops.ones((1, 3))).shape == (1, 2)


def test_arguments_of_cells_are_kept():
    from mindspore._extends import cell_attr_register

    class Layer(nn.Cell):
        @cell_attr_register
        def __init__(self, size, axis=1):
            super().__init__()
            self.size = size

        def construct(self, x):
            return x * self.size

    class Other(nn.Cell):
        @cell_attr_register(attrs="size")
        def __init__(self, size, axis=1):
            super().__init__()

    assert Layer(3).cell_init_args.endswith("Layer{'size': '3', 'axis': '1'}")
    assert Other(3).cell_init_args.endswith("Other{'size': '3'}")
    assert Layer(3)(Tensor(2.0)).asnumpy() == 6


def test_seeds_of_ops():
    from mindspore.common.seed import _get_graph_seed

    ms.set_seed(4)
    first, second = _get_graph_seed(0, "Dropout"), _get_graph_seed(0, "Dropout")
    assert first != second
    assert _get_graph_seed(9, "Dropout") == (4, 9)
    ms.set_seed(4)
    assert _get_graph_seed(0, "Dropout") == first
    assert ms._get_graph_seed is _get_graph_seed


@pytest.mark.parametrize(
    "make",
    [
        lambda: ms.nn.thor.thor(nn.Dense(1, 1), 0.1, 0.1, 0.9),
        lambda: ms.rewrite.SymbolTree.create(nn.Dense(1, 1)),
        lambda: ms.rewrite.SymbolTree(None),
        lambda: ms.boost.AutoBoost("O1"),
        lambda: importlib.import_module("mindspore._c_expression").init_exec_dataset("q"),
    ],
)
def test_what_there_is_not_says_so(make):
    importlib.import_module("mindspore.nn.thor")
    with pytest.raises((NotImplementedError, AttributeError), match=r"For '|no attribute"):
        make()


def test_models_of_other_optimizers_stay_as_they_are():
    from mindspore.train.train_thor import ConvertModelUtils

    net = nn.Dense(2, 1)
    model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    assert ConvertModelUtils().convert_to_thor_model(model, optimizer=model._optimizer) is model


def test_marks():
    class Block(nn.Cell):
        @ms.lazy_inline
        def __init__(self):
            super().__init__()
            self.dense = nn.Dense(2, 2)

        def construct(self, x):
            return self.dense(x)

    @ms.no_inline
    def double(x):
        return x * 2

    assert Block()(ops.ones((1, 2))).shape == (1, 2)
    assert double(Tensor(2.0)).asnumpy() == 4
    with pytest.raises(ValueError, match="'policy' must be None or 'front'"):
        ms.lazy_inline(policy="back")
    with pytest.raises(TypeError, match="'target' must be a Cell or Primitive"):
        ms.set_dump(3)


def test_checkpoint_names(tmp_path, monkeypatch):
    from mindspore.train.serialization import Validator, _check_checkpoint_param

    monkeypatch.chdir(tmp_path)
    ms.save_checkpoint(nn.Dense(1, 1), "a.ckpt")
    assert _check_checkpoint_param("a.ckpt", "w") == ("a.ckpt", ("w",))
    with pytest.raises(ValueError, match="must be a file"):
        _check_checkpoint_param("b.ckpt")
    with pytest.raises(ValueError, match="be an instance"):
        Validator.check_isinstance("a", 3, str)


def test_the_hub_says_what_to_do_instead():
    with pytest.raises(
        RuntimeError, match=r"'mindspore.hub.load', 'lenet' would have to be fetched .*model_zoo"
    ):
        ms.hub.load("lenet", pretrained=True)
    with pytest.raises(RuntimeError, match=r"'ReLU' would have to be fetched .*load_checkpoint"):
        ms.hub.load_weights(nn.ReLU())
