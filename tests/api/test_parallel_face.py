"""The face of parallel training, in one process: layouts, strategies, settings, AutoParallel, files of strategies, and what is refused."""

from __future__ import annotations

import json
import types

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn, ops
from mindspore.common import _boxes, _layouts, _plan_files, _planning
from mindspore.parallel import Layout, shard
from mindspore.parallel.auto_parallel import AutoParallel
from mindspore.parallel.function import reshard
from mindspore.parallel.strategy import set_op_strategy_config


@pytest.fixture(autouse=True)
def _settings_of_its_own():
    yield
    ms.reset_auto_parallel_context()


LAYOUT = Layout((2, 4), ("dp", "mp"))


# ---- layouts --------------------------------------------------------------------------------------------------------------------
def test_a_layout_names_the_axes_of_each_dimension():
    layout = LAYOUT("dp", ("mp", "None"), "None")
    assert layout.to_dict() == {
        "device_matrix": (2, 4),
        "tensor_map": (1, 0, -1),
        "interleaved_parallel": False,
        "alias_name": ("dp", "mp"),
        "rank_list": list(range(8)),
    }
    assert LAYOUT(("dp", "mp"), "None").tensor_map == ((1, 0), -1)
    assert layout.cuts == (2, 4, 1)
    assert layout == LAYOUT("dp", "mp", "None")
    assert layout != LAYOUT


def test_axes_of_layouts_are_axes_of_the_mesh():
    mesh = _layouts.mesh_of(8, [LAYOUT])
    assert mesh == (("dp", 2), ("mp_0", 2), ("mp_1", 2))
    assert _layouts.layout_text("x", LAYOUT(("mp", "dp"), "None"), mesh) == "[(mp_0, mp_1, dp), -]"
    other = Layout((4, 2), ("a", "b"))  # of the same axes
    assert _layouts.layout_text("x", other("b", "a"), mesh) == "[mp_1, (dp, mp_0)]"


def test_layouts_of_other_axes_are_refused():
    with pytest.raises(ValueError, match=r"common axes, but got \(3, 4\) and \(4, 3\)"):
        _layouts.mesh_of(12, [Layout((3, 4), ("a", "b")), Layout((4, 3), ("a", "b"))])
    with pytest.raises(ValueError, match="must be 4, the number of devices"):
        _layouts.layout_text("x", LAYOUT("dp"), _layouts.mesh_of(4))


def test_names_of_axes_do_not_meet():
    layout = Layout((2, 4), ("a_0", "a"))
    mesh = _layouts.mesh_of(8, [layout])
    assert mesh == (("a_0", 2), ("a__0", 2), ("a__1", 2))
    assert _layouts.layout_text("x", layout("a_0", "a"), mesh) == "[a_0, (a__0, a__1)]"
    later = _layouts.mesh_of(8, [Layout((4, 2), ("a", "a_1"))])
    assert len({name for name, _ in later}) == 3


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        (((2, 2), ("dp",)), ValueError, "one length"),
        (([2, 2], ("dp", "mp")), TypeError, "'device_matrix' must be a tuple"),
        (((2, 2), ["dp", "mp"]), TypeError, "'alias_name' must be a tuple"),
        (((2, 2), ("dp", "dp")), ValueError, "different names"),
        (((2, 2), ("dp", "None")), ValueError, "not 'None'"),
        (((2.0, 2), ("dp", "mp")), TypeError, "values of int, but got float"),
        (((2, 2), ("dp", 1)), TypeError, "values of str, but got int"),
        (((0, 2), ("dp", "mp")), ValueError, "at least 1"),
        (((2, 2), ("dp", "mp"), (0, 1)), TypeError, "'rank_list' must be a list"),
        (((2,), ("dp",), [0, "1"]), TypeError, "'rank_list' must hold ints"),
        (((2,), ("dp",), [-1, 0]), ValueError, "'rank_list' must be 2 different ranks"),
        (((2, 2), ("dp", "mp"), [0, 1]), ValueError, "4 different ranks"),
        (((2, 2), ("interleaved_parallel", "mp")), ValueError, "the last name"),
    ],
)
def test_wrong_layouts(arguments, error, says):
    with pytest.raises(error, match=says):
        Layout(*arguments)


@pytest.mark.parametrize("names", [("dp", "dp"), ("xx",), (1,), (("dp", "mp"), "mp"), (["dp"],)])
def test_wrong_names_of_dimensions(names):
    with pytest.raises(ValueError, match="For 'Layout'"):
        LAYOUT(*names)


def test_a_layout_without_names_has_no_map():
    with pytest.raises(ValueError, match="must have been called"):
        LAYOUT.to_dict()


# ---- strategies -----------------------------------------------------------------------------------------------------------------
def test_strategies_follow_the_rule_of_the_op():
    rule = ms._core.shard_rule("MatMul", [(ms.float32, (8, 8)), (ms.float32, (8, 8))])
    mesh = _layouts.mesh_of(8)
    operands, results = _layouts.rule_texts("MatMul", rule, [(2, 2), (2, 2)], mesh)
    assert operands == ["[d_0, d_1]", "[d_1, d_2]"]
    assert results == ["[d_0, d_2]"]
    # A result that is cut more: the sum is scattered along the axis of the contracted dimension.
    assert _layouts.cuts_like("MatMul", (4, 2), results[0], mesh) == "[(d_0, d_1), d_2]"


@pytest.mark.parametrize(
    ("cuts", "says"),
    [
        ([(2, 2), (4, 1)], "belong together must be cut alike"),
        ([(2, 3), (3, 1)], "cannot be made of"),
        ([(8, 2), (2, 1)], "cannot be made of"),
    ],
)
def test_strategies_that_do_not_fit_together(cuts, says):
    rule = ms._core.shard_rule("MatMul", [(ms.float32, (24, 24)), (ms.float32, (24, 24))])
    with pytest.raises(ValueError, match=says):
        _layouts.rule_texts("MatMul", rule, cuts, _layouts.mesh_of(8))


def test_strategies_that_do_not_divide():
    for cuts, says in (
        ((3, 1), "must divide the shape"),
        ((2,), "an entry for each dimension"),
        ((8, 2), "must divide 8, the number of devices"),
    ):
        with pytest.raises(ValueError, match=says):
            _layouts.check_cuts("MatMul", cuts, (8, 8), 8, "input 0")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (((2, 1),), TypeError),
        ((((2, 1), (1, 4)), (2, 4)), TypeError),
        (([2, 1],), TypeError),
        (("x",), TypeError),
        ((((2, "a"), (1, 1)),), TypeError),
        ((((2.0, 1), (1, 1)),), TypeError),
        ((((2, 0), (0, 1)),), ValueError),
        (((LAYOUT("dp", "mp"), (2, 2)),), TypeError),
        ((((2, 1), (1, 4)), (LAYOUT("dp", "mp"),)), ValueError),
        ((None, ((2, 1),)), ValueError),
        (((LAYOUT,),), ValueError),
    ],
)
def test_wrong_strategies_of_primitives(arguments, error):
    with pytest.raises(error, match=r"For 'MatMul.shard'"):
        ops.MatMul().shard(*arguments)


def test_strategies_do_nothing_alone(mode):
    x = Tensor(np.arange(16, dtype=np.float32).reshape(4, 4))
    product = ops.MatMul().shard(((2, 1), (1, 4)), ((2, 4),))
    assert product.in_strategy == ((2, 1), (1, 4))
    assert (product(x, x).asnumpy() == (x @ x).asnumpy()).all()
    assert (reshard(x, LAYOUT("dp", "mp")).asnumpy() == x.asnumpy()).all()
    double = shard(lambda a: a * 2, ((4, 1),), ((1, 1),))
    assert (double(x).asnumpy() == (x * 2).asnumpy()).all()
    net = nn.Dense(4, 4)
    before = net(x).asnumpy()
    assert shard(net, ((2, 1),), ((1, 2),), {"weight": (2, 1)}) is net
    assert (net(x).asnumpy() == before).all()


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((1,), TypeError),
        ((((1, "a"),),), TypeError),
        ((((0, 1),),), ValueError),
        ((((1, 1),), None, 1), TypeError),
        ((((1, 1),), None, {"x": (1,)}), ValueError),
        ((((1, 1),), None, {"weight": 1}), TypeError),
    ],
)
def test_wrong_pins_of_cells(arguments, error):
    with pytest.raises(error, match=r"For 'Dense.shard'"):
        nn.Dense(2, 2).shard(*arguments)


def test_a_parameter_has_one_pin():
    net = nn.Dense(4, 4)
    net.shard(None, None, {"weight": (2, 1)})
    with pytest.raises(ValueError, match=r"must have one layout, but got \(2, 1\) and \(1, 2\)"):
        net.shard(None, None, {"weight": (1, 2)})
    assert _planning.parameter_pins([net.weight, net.bias], (("d", 2),)) == {"weight": "[d, -]"}


def test_what_cannot_be_pinned():
    with pytest.raises(TypeError, match="'fn' must be a function or Cell"):
        shard(1, ((1, 1),))
    with pytest.raises(TypeError, match="'layout' must be a Layout"):
        reshard(Tensor(1.0), 1)
    with pytest.raises(TypeError, match="'tensor' must be a Tensor"):
        reshard(1, LAYOUT("dp"))


@pytest.mark.parametrize(
    ("stage", "error"), [(-1, ValueError), ("a", TypeError), (True, TypeError), (None, TypeError)]
)
def test_stages_are_numbers(stage, error):
    net = nn.Dense(2, 2)
    net.pipeline_stage = 1
    assert net.pipeline_stage == 1
    with pytest.raises(error, match="'pipeline_stage' must be"):
        net.pipeline_stage = stage


# ---- settings -------------------------------------------------------------------------------------------------------------------
def test_settings_that_stand_for_others():
    ms.set_auto_parallel_context(search_mode="dynamic_programming", full_batch=True)
    assert ms.get_auto_parallel_context("auto_parallel_search_mode") == "dynamic_programming"
    assert ms.get_auto_parallel_context("dataset_strategy") == "full_batch"
    ms.set_auto_parallel_context(dataset_strategy=((2, 1), (2,)))
    assert ms.get_auto_parallel_context("full_batch") is False
    ms.set_auto_parallel_context(strategy_ckpt_config={"save_file": "x.json"})
    assert ms.get_auto_parallel_context("strategy_ckpt_save_file").endswith("x.json")
    assert ms.get_auto_parallel_context("strategy_ckpt_config")["only_trainable_params"] is True
    ms.set_auto_parallel_context(parallel_optimizer_config={"optimizer_weight_shard_size": 2})
    assert ms.get_auto_parallel_context("optimizer_weight_shard_size") == 2


@pytest.mark.parametrize(
    ("setting", "error"),
    [
        ({"parallel_mode": "x"}, ValueError),
        ({"parallel_mode": 1}, TypeError),
        ({"search_mode": "x"}, ValueError),
        ({"search_mode": ""}, ValueError),
        ({"device_num": 0}, ValueError),
        ({"device_num": "a"}, TypeError),
        ({"global_rank": -1}, ValueError),
        ({"global_rank": 5, "device_num": 2}, ValueError),
        ({"global_rank": 1, "device_num": 1}, ValueError),
        ({"pipeline_scheduler": "x"}, ValueError),
        ({"full_batch": 1}, TypeError),
        ({"dataset_strategy": "x"}, ValueError),
        ({"dataset_strategy": (2, 1)}, TypeError),
        ({"dataset_strategy": [(2, 1)]}, TypeError),
        ({"dataset_strategy": ((2, "a"),)}, TypeError),
        ({"dataset_strategy": ((0, 1),)}, ValueError),
        ({"dataset_strategy": (LAYOUT,)}, ValueError),
        ({"dataset_strategy": None}, TypeError),
        ({"parallel_optimizer_config": {"x": 1}}, ValueError),
        ({"parallel_optimizer_config": {"gradient_accumulation_shard": 1}}, TypeError),
        ({"parallel_optimizer_config": {"parallel_optimizer_threshold": -1}}, ValueError),
        ({"parallel_optimizer_config": {"optimizer_level": "level9"}}, ValueError),
        (
            {
                "parallel_optimizer_config": {
                    "gradient_accumulation_shard": True,
                    "optimizer_level": "level1",
                }
            },
            ValueError,
        ),
        ({"pipeline_stages": 0}, ValueError),
        ({"pipeline_config": {"x": 1}}, ValueError),
        ({"pipeline_config": {"pipeline_interleave": 1}}, TypeError),
        ({"pipeline_config": {"pipeline_scheduler": "zero_bubble_v"}}, TypeError),
        ({"grad_accumulation_step": 2}, ValueError),
        ({"strategy_ckpt_config": {"x": 1}}, ValueError),
        ({"strategy_ckpt_config": {"load_file": 1}}, TypeError),
        ({"strategy_ckpt_load_file": 1}, TypeError),
        ({"enable_parallel_optimizer": 1}, TypeError),
        ({"enable_foo": 1}, ValueError),
    ],
)
def test_wrong_settings_change_nothing(setting, error):
    before = dict(ms.context._parallel)
    with pytest.raises(error, match="For 'set_auto_parallel_context'"):
        ms.set_auto_parallel_context(parameter_broadcast=True, **setting)
    assert ms.context._parallel == before


def test_eager_training_of_a_divided_network_is_refused():
    ms.set_context(mode=ms.PYNATIVE_MODE)
    net = nn.Dense(2, 2)
    optimizer = nn.Momentum(net.trainable_params(), 0.1, 0.9)
    ms.set_auto_parallel_context(parallel_mode="auto_parallel", device_num=2)
    with pytest.raises(RuntimeError, match="For 'Momentum', the step must be compiled"):
        optimizer((Tensor(np.ones((2, 2), np.float32)), Tensor(np.ones(2, np.float32))))


# ---- AutoParallel ---------------------------------------------------------------------------------------------------------------
def test_settings_of_a_network_hold_while_it_runs(mode):
    seen = []

    class Net(nn.Cell):
        def construct(self, x):
            seen.append(ms.get_auto_parallel_context("search_mode"))
            return x * 2

    net = AutoParallel(Net(), "recursive_programming")
    net.hsdp(2, 10, "level3")
    net.pipeline(2, scheduler="gpipe", interleave=True)
    net.dataset_strategy("full_batch")
    assert net.get_pipeline_stages() == 2
    ms.set_auto_parallel_context(search_mode="dynamic_programming")
    with net.settings():
        assert ms.get_auto_parallel_context("parallel_mode") == "auto_parallel"
        assert ms.get_auto_parallel_context("optimizer_weight_shard_size") == 2
        assert ms.get_auto_parallel_context("full_batch") is True
    assert net(Tensor(2.0)).asnumpy() == 4
    assert seen[0] == "recursive_programming"
    assert ms.get_auto_parallel_context("search_mode") == "dynamic_programming"


@pytest.mark.parametrize(
    ("method", "arguments", "error"),
    [
        ("comm_fusion", (1,), TypeError),
        ("dataset_strategy", ("x",), ValueError),
        ("dataset_strategy", (1,), TypeError),
        ("hsdp", (0,), ValueError),
        ("hsdp", ("a",), ValueError),
        ("hsdp", (-1, 64, "level9"), ValueError),
        ("hsdp", (-1, -1), ValueError),
        ("load_operator_strategy_file", (1,), TypeError),
        ("load_operator_strategy_file", ("a.json",), KeyError),
        ("save_operator_strategy_file", ("/tmp/a.x",), KeyError),
        ("load_param_strategy_file", (1,), TypeError),
        ("pipeline", (0,), ValueError),
        ("pipeline", ("a",), TypeError),
        ("pipeline", (2, 1), TypeError),
        ("pipeline", (2, False, True, "x"), ValueError),
        ("set_group_ckpt_save_file", (1,), TypeError),
        ("transformer_opt", ("/nowhere/x.json",), ValueError),
        ("dump_local_norm", (1,), TypeError),
    ],
)
def test_wrong_settings_of_a_network(method, arguments, error):
    with pytest.raises(error):
        getattr(AutoParallel(nn.Dense(2, 2)), method)(*arguments)


def test_wrong_networks():
    with pytest.raises(TypeError, match="'network' must be a Cell"):
        AutoParallel(1)
    with pytest.raises(ValueError, match="'parallel_mode' must be one of"):
        AutoParallel(nn.Dense(2, 2), "x")


# ---- files ----------------------------------------------------------------------------------------------------------------------
def test_layouts_go_through_files(tmp_path):
    mesh = _layouts.mesh_of(8)
    kept = _plan_files.kept_layout("[(d_0, d_1), d_2]", mesh, (8, 4))
    uneven = _plan_files.kept_layout("[-, (d_2, d_0)]", mesh, (3, 7))
    _boxes.write_layouts(str(tmp_path / "a.json"), {"w": kept, "v": uneven})
    back = ms.build_searched_strategy(str(tmp_path / "a.json"))
    assert back == {"w": kept, "v": uneven}
    assert _layouts.layout_text("w", _plan_files.as_layout(back["w"]), mesh) == "[(d_0, d_1), d_2]"
    boxes = {back["v"].box(rank, (3, 7)) for rank in range(8)}
    assert boxes == {((0, 3), (0, 2)), ((0, 3), (2, 4)), ((0, 3), (4, 6)), ((0, 3), (6, 7))}


@pytest.mark.parametrize(
    ("settle", "words"),
    [
        (
            lambda path: ms.set_auto_parallel_context(strategy_ckpt_save_file=path),
            "For 'set_auto_parallel_context', 'strategy_ckpt_save_file' .*'AutoParallel.save_param_strategy_file'",
        ),
        (
            lambda path: ms.set_auto_parallel_context(group_ckpt_save_file=path),
            "For 'set_auto_parallel_context', 'group_ckpt_save_file' .*'AutoParallel.set_group_ckpt_save_file'",
        ),
        (
            lambda path: set_op_strategy_config("SAVE", path),
            "For 'set_op_strategy_config', 'path' .*'AutoParallel.save_operator_strategy_file'",
        ),
    ],
)
def test_files_that_cannot_be_written_say_who_wants_them(settle, words, tmp_path):
    (tmp_path / "file").touch()
    (tmp_path / "folder.json").mkdir()
    weight = Parameter(Tensor(np.zeros((2, 2), np.float32)), name="w")
    graph = types.SimpleNamespace(parameters=[weight], layouts={"inputs": ["[-, -]"]})
    for name in "file/in/it.json", "folder.json":
        settle(str(tmp_path / name))
        with pytest.raises(ValueError, match=f"{words}.* must be a file.*{tmp_path / name}'"):
            _plan_files.write(graph, (("d", 2),), 0)


def test_a_file_of_layouts_pins_parameters(tmp_path):
    path = str(tmp_path / "a.json")
    _boxes.write_layouts(path, {"w": _boxes.Layout((2, 2), (0, -1))})
    w = Parameter(Tensor(np.zeros((4, 4), np.float32)), name="w")
    ms.set_auto_parallel_context(strategy_ckpt_load_file=path)
    assert _planning.parameter_pins([w], _layouts.mesh_of(4)) == {"w": "[d_1, -]"}
    with pytest.raises(ValueError, match="must be 8, the number of devices"):
        _planning.parameter_pins([w], _layouts.mesh_of(8))


def test_states_of_the_optimizer_lie_in_slices():
    ms.set_auto_parallel_context(
        enable_parallel_optimizer=True,
        parallel_optimizer_config={"parallel_optimizer_threshold": 1},
    )
    large = Parameter(Tensor(np.zeros((8, 64), np.float32)), name="large")
    odd = Parameter(Tensor(np.zeros((9, 64), np.float32)), name="odd")
    small = Parameter(Tensor(np.zeros(8, np.float32)), name="small")
    pins = _planning.parameter_pins([large, odd, small], _layouts.mesh_of(4))
    assert pins == {"large": "[(d_0, d_1), -]"}


def test_files_of_stages_become_one(tmp_path):
    (tmp_path / "in").mkdir()
    for stage, name in enumerate("ab"):
        layouts = {name: _boxes.Layout((2,), (0,)), "both": _boxes.Layout((2,), (-1,))}
        _boxes.write_layouts(str(tmp_path / "in" / f"{stage}.json"), layouts)
    target = str(tmp_path / "all.json")
    ms.parallel.merge_pipeline_strategys(str(tmp_path / "in"), target)
    assert set(ms.build_searched_strategy(target)) == {"a", "b", "both"}
    _boxes.write_layouts(str(tmp_path / "in" / "2.json"), {"both": _boxes.Layout((2,), (0,))})
    with pytest.raises(ValueError, match="the files must agree"):
        ms.parallel.merge_pipeline_strategys(str(tmp_path / "in"), target)
    with pytest.raises(ValueError, match="has none"):
        ms.parallel.merge_pipeline_strategys(str(tmp_path / "nowhere"), target)


def test_groups_are_read_back(tmp_path):
    path = tmp_path / "groups.json"
    path.write_text(json.dumps({"format": "mindspore groups 1", "ranks": [0, 2]}))
    assert ms.parallel.restore_group_info_list(str(path)) == [0, 2]
    path.write_text("{")
    with pytest.raises(ValueError, match="damaged or another's"):
        ms.parallel.restore_group_info_list(str(path))
    with pytest.raises(ValueError, match="must exist"):
        ms.parallel.restore_group_info_list(str(tmp_path / "nowhere"))


def test_slices_become_whole_safetensors(tmp_path):
    whole = np.arange(24, dtype=np.float32).reshape(4, 6)
    layout = _boxes.Layout((2,), (0, -1))
    for rank in range(2):
        (tmp_path / f"rank_{rank}").mkdir()
        (rows, _) = layout.box(rank, whole.shape)
        piece = {"w": Parameter(Tensor(whole[slice(*rows)]), name="w")}
        path = str(tmp_path / f"rank_{rank}" / f"net{rank}.safetensors")
        ms.save_checkpoint(piece, path, format="safetensors")
    _boxes.write_layouts(str(tmp_path / "layouts.json"), {"w": layout})
    source, target = str(tmp_path), str(tmp_path / "out")
    ms.parallel.unified_safetensors(source, str(tmp_path / "layouts.json"), target)
    made = ms.load_checkpoint(f"{target}/part0.safetensors", format="safetensors")
    assert (made["w"].asnumpy() == whole).all()
    assert json.loads((tmp_path / "out" / "param_name_map.json").read_text()) == {
        "w": "part0.safetensors"
    }


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((), KeyError),
        (("X", "/tmp/x.json"), KeyError),
        (("SAVE", "/tmp/x.txt"), KeyError),
        (("SAVE", 1), TypeError),
    ],
)
def test_wrong_files_of_plans(arguments, error):
    with pytest.raises(error, match="set_op_strategy_config"):
        ms.parallel.set_op_strategy_config(*arguments)


def test_values_for_the_same_slices_alone():
    net = nn.Dense(2, 2)
    before = net.weight.asnumpy()
    ms.parallel.parameter_broadcast(net, None)
    assert (net.weight.asnumpy() == before).all()
    with pytest.raises(ValueError, match="'cur_rank' must be in"):
        ms.parallel.parameter_broadcast(net, None, 3)
