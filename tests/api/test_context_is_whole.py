"""A call of set_context that raises changes nothing, and one that does not takes effect in one order."""

from __future__ import annotations

import pytest

import mindspore as ms
from mindspore import context


def test_a_folder_that_cannot_be_made_changes_nothing():
    names = ("save_graphs", "save_graphs_path", "enable_graph_kernel", "mode")
    before = {name: ms.get_context(name) for name in names}
    fast = context.fast()
    with pytest.raises(OSError):
        ms.set_context(
            mode=1 - before["mode"],
            save_graphs=2,
            save_graphs_path="/proc/none/x",
            enable_graph_kernel=False,
        )
    assert {name: ms.get_context(name) for name in names} == before
    assert context.fast() == fast
    ms.set_context(enable_graph_kernel=True)  # and no folder that was refused stays in the way
    assert ms.ops.ones(2).asnumpy().tolist() == [1, 1]


def test_effects_come_in_one_order(monkeypatch):
    seen: list[str] = []
    names = [f"setting {i}" for i in range(12)]
    monkeypatch.setattr(context, "_values", {**context._values, **dict.fromkeys(names)})
    monkeypatch.setattr(context, "_checked_settings", dict)
    monkeypatch.setattr(
        context, "_EFFECTS", {name: lambda _, name=name: seen.append(name) for name in names}
    )
    ms.set_context(**dict.fromkeys(reversed(names)))
    assert seen == names


@pytest.mark.parametrize(
    "name", ["enable_ir_fusion", "enable_dynamic_memory", "enable_pynative_infer", "save_ms_model"]
)
def test_keys_of_the_first_releases_are_kept(name):
    before = ms.get_context(name)
    ms.set_context(**{name: not before})
    assert ms.get_context(name) is not before
    ms.set_context(**{name: before})
    with pytest.raises(TypeError, match=f"'{name}' must be a bool"):
        ms.set_context(**{name: "yes"})
