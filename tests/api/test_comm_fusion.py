"""Settings of how gradients are joined for their sums; what they do is tested in tests/parallel."""

import pytest

import mindspore as ms


@pytest.fixture(autouse=True)
def defaults():
    yield
    ms.reset_auto_parallel_context()


def test_what_is_not_said_has_its_default():
    ms.set_auto_parallel_context(comm_fusion={"allreduce": {"mode": "size", "config": 32}})
    fusion = ms.get_auto_parallel_context("comm_fusion")
    assert fusion["openstate"] is True
    assert fusion["allreduce"] == {"mode": "size", "config": 32}
    assert fusion["allgather"] == {"mode": "auto", "config": None}


@pytest.mark.parametrize(
    ("setting", "error", "says"),
    [
        ({"all_reduce_fusion_config": [2, 1]}, ValueError, "that grow"),
        ({"all_reduce_fusion_config": [0]}, ValueError, "at least 1"),
        ({"all_reduce_fusion_config": ["a"]}, TypeError, "a list of ints"),
        ({"comm_fusion": {"x": 1}}, KeyError, "the keys of 'comm_fusion'"),
        ({"comm_fusion": {"openstate": 1}}, TypeError, "must be a bool"),
        ({"comm_fusion": {"allreduce": {"mode": "size"}}}, KeyError, "'mode' and 'config'"),
        ({"comm_fusion": {"allreduce": {"mode": "s", "config": 1}}}, KeyError, "one of"),
        ({"comm_fusion": {"allreduce": {"mode": "size", "config": "x"}}}, TypeError, "MB"),
        ({"comm_fusion": {"allreduce": {"mode": "size", "config": -1}}}, ValueError, "1048576"),
        ({"comm_fusion": {"allreduce": {"mode": "index", "config": "a"}}}, TypeError, "ints"),
    ],
)
def test_refusals(setting, error, says):
    name = next(iter(setting))
    before = ms.get_auto_parallel_context(name)
    with pytest.raises(error, match="set_auto_parallel_context") as caught:
        ms.set_auto_parallel_context(**setting)
    assert says in str(caught.value)
    assert ms.get_auto_parallel_context(name) == before
