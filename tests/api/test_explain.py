"""`explain` and `dry_run`: plans to look at, in one process, of networks whose Parameters have no memory."""

from __future__ import annotations

import json
import math
import re

import pytest

import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.nn.utils import no_init_parameters
from mindspore.parallel import _topology, dry_run, explain


def network() -> nn.Cell:
    """Two dense layers with much more weights than data."""
    with no_init_parameters():
        return nn.SequentialCell(nn.Dense(1024, 4096), nn.GELU(), nn.Dense(4096, 1024))


X = Tensor(shape=(8, 1024), dtype=ms.float32)


def test_a_plan_has_the_layouts_of_all_parameters():
    plan = explain(network(), X, devices=4)
    assert plan.data["devices"] == 4
    assert "Dense" in plan.text or "MatMul" in plan.text
    assert json.loads(plan.json()) == plan.data
    assert str(plan) == plan.text


def test_a_training_step_is_planned():
    net = network()
    loss = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    plan = explain(step.set_train(), X, X, devices=8, mode="recursive_programming")
    assert plan.data["seconds"] > 0


def test_slow_links_make_a_step_slower():
    with no_init_parameters():
        net = nn.SequentialCell(nn.Dense(4096, 16384), nn.GELU(), nn.Dense(16384, 4096))
    x = Tensor(shape=(64, 4096), dtype=ms.float32)
    fast = dry_run(net, x, devices=8, topology="fabric")
    slow = {"axes": [["link", 8, 1e-3, 1e-6]], "device": _topology.PRESETS["fabric"].device}
    assert dry_run(net, x, devices=8, topology=slow).data["seconds"] > fast.data["seconds"]


def test_many_devices_need_one_process():
    assert (
        dry_run(
            lambda x: ops.matmul(x, x), Tensor(shape=(8, 8), dtype=ms.float32), devices=64
        ).data["devices"]
        == 64
    )


def axes(*lists: object) -> dict:
    return {"topology": {"axes": list(lists)}}


def described(device: object) -> dict:
    return {"topology": {"axes": [["d", 4, 1e-6, 1e-9]], "device": device}}


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("planner", [explain, dry_run])
@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"devices": 0}, ValueError, "'devices' must be an int of at least 1"),
        ({"devices": True}, ValueError, "'devices' must be an int of at least 1"),
        ({"devices": 2**61 - 1}, ValueError, "'devices' must be .* at most 1048576"),
        ({"mode": "x"}, ValueError, "'mode' must be one of"),
        ({"mode": ""}, ValueError, "'mode' must be one of"),
        ({"mode": []}, TypeError, "'mode' must be one of"),
        ({"stages": 3}, ValueError, "'stages' must be an int that divides"),
        ({"stages": [2]}, ValueError, "'stages' must be an int that divides"),
        ({"topology": "x"}, ValueError, "there is no 'x'"),
        ({"topology": ""}, ValueError, "'topology' must be a path that is not empty"),
        ({"topology": "."}, ValueError, "must be a file that can be read"),
        ({"topology": __file__}, ValueError, "must be a file of JSON text"),
        ({"topology": 1}, TypeError, "must be one of"),
        ({"topology": {}}, TypeError, "must be one of"),
        ({"topology": []}, TypeError, "must be one of"),
        ({"topology": {"axes": [], "x": 1}}, ValueError, "'axes' and 'device' alone, but got 'x'"),
        (axes(["a", 2, 0, 0]), ValueError, "must multiply to 4"),
        (axes(["a", 2]), ValueError, "each of 'axes'"),
        (axes([1, 2, 0, 0]), ValueError, "a name and a size"),
        (axes(["a", 4.0, 0, 0]), ValueError, "a name and a size"),
        (axes(["a", 2, 0, 0], ["a", 2, 0, 0]), ValueError, "must have different names"),
        (axes(["a b", 4, 0, 0]), ValueError, "must have different names"),
        (axes(["a", 4, NAN, 0]), ValueError, r"a message along axis 'a' in 'topology' must be in"),
        (axes(["a", 4, 0, INF]), ValueError, r"a byte along axis 'a' in 'topology' must be in"),
        (axes(["a", 4, -1, 0]), ValueError, r"must be in \[0, 1000\], but got -1"),
        (axes(["a", 4, 0, 10**400]), ValueError, "must be in"),
        (axes(["a", 4, "0", 0]), TypeError, "must be a number, but got str"),
        (axes(["a", 4, 0, None]), TypeError, "must be a number, but got NoneType"),
        (axes(*([f"a{i}", 2, 0, 0] for i in range(40))), ValueError, "at most 12 axes, but got 40"),
        (described([1]), TypeError, "'device' in 'topology' must be a dict, but got list"),
        (described({"flop": 1}), ValueError, "must be described by .* but got 'flop'"),
        (described({"flops": -1}), ValueError, "'flops' of the device in 'topology' must be in"),
        (described({"flops": 0}), ValueError, "'flops' of the device in 'topology' must be in"),
        (described({"bytes": NAN}), ValueError, "'bytes' of the device in 'topology' must be in"),
        (described({"launch": -1}), ValueError, "'launch' of the device in 'topology' must be in"),
        (described({"launch": "1"}), TypeError, "must be a number, but got str"),
        (described({"memory": "2"}), ValueError, "'memory' of the device .* a text as '32GB'"),
        (described({"memory": -1}), ValueError, "'memory' of the device .* a text as '32GB'"),
        (described({"memory": 1.5}), TypeError, "'memory' of the device .* a text as '32GB'"),
    ],
)
def test_wrong_machines(planner, arguments, error, says):
    with pytest.raises(error, match=says) as caught:
        planner(
            nn.Dense(2, 2), Tensor(shape=(2, 2), dtype=ms.float32), **{"devices": 4, **arguments}
        )
    assert str(caught.value).startswith(f"For '{planner.__name__}', ")


def test_memory_of_a_device_as_a_text():
    given = described({"memory": "2GB", "flops": 10**12})
    plan = dry_run(nn.Dense(2, 2), Tensor(shape=(4, 2), dtype=ms.float32), devices=4, **given)
    assert plan.data["seconds"] > 0
    assert plan.data["warnings"] == []


def test_a_plan_that_a_device_has_no_room_for_says_so():
    plan = dry_run(nn.Dense(9, 9), Tensor(shape=(4, 9), dtype=ms.float32), devices=4, **described({"memory": 8}))  # fmt: skip
    (said,) = plan.data["warnings"]
    assert re.fullmatch(r"a device holds \d+ bytes, but one of 'topology' has 8: .*", said)
    assert said in str(plan)


def test_stages_are_outer_axes_or_parts_of_them():
    """Also of an axis that is not cut into its primes, as there are many."""
    x = Tensor(shape=(512, 8), dtype=ms.float32)
    for sizes, stages in (([512], 2), ([2, 256], 4), ([3, 2], 6)):
        count = math.prod(sizes)
        given = axes(*([f"a{i}", size, 1e-6, 1e-9] for i, size in enumerate(sizes)))
        net = nn.SequentialCell([nn.Dense(8, 8) for _ in range(stages)])
        plan = dry_run(net, x, devices=count, stages=stages, **given)
        assert plan.data["devices"] == count
        assert math.prod(a[1] for a in plan.data["axes"]) == count // stages
    with pytest.raises(ValueError, match="outermost axes of 'topology' must have the 6 stages"):
        dry_run(net, x, devices=12, stages=6, **axes(["a", 4, 0, 0], ["b", 3, 0, 0]))


def test_what_cannot_be_planned():
    with pytest.raises(TypeError, match="'network' must be a Cell or a function"):
        explain(1)


@pytest.mark.parametrize("shape", [[None, 2], None])
def test_sizes_must_be_known(shape):
    with pytest.raises(ValueError, match="For 'explain', 'inputs' must have sizes that are known"):
        explain(nn.Dense(2, 2), Tensor(shape=shape, dtype=ms.float32), devices=2)


def test_links_of_presets():
    found, device, _ = _topology.in_stages(64, _topology.PRESETS["fabric"], 1)
    assert [axis[1] for axis in found] == [2] * 6
    assert [axis[2] for axis in found] == [_topology.ROCE.alpha] * 3 + [_topology.FABRIC.alpha] * 3
    assert device["memory"] > 0


class Net(nn.Cell):
    """Layers of the package, called from here."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.layers = nn.SequentialCell(nn.Dense(size, size), nn.ReLU())
        self.conv = nn.Conv2d(1, 1, 3, pad_mode="same")

    def construct(self, x: Tensor) -> Tensor:
        """Both of them."""
        y = self.layers(x)  # the dense line
        return self.conv(y.reshape(1, 1, *y.shape))  # the other line


def line_of(text: str) -> str:
    """The name of this file and the number of the line with this comment."""
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().splitlines()
    return f"test_explain.py:{next(i for i, s in enumerate(lines, 1) if s.endswith(text))}"


def test_lines_are_those_of_the_user():
    with no_init_parameters():
        net = Net(256)
    plan = explain(net, Tensor(shape=(2048, 256), dtype=ms.float32), devices=2)
    nodes = plan.data["nodes"]
    (product,) = [n for n in nodes if n["op"] in ("MatMul", "Dense")]
    assert product["line"] == line_of("# the " + "dense line")
    assert product["layer"].startswith("basic.py:")
    assert all(n["line"].startswith("test_explain.py:") for n in nodes if n["line"])
    (conv,) = [n for n in nodes if n["op"] == "Conv2D"]
    assert conv["line"] == line_of("# the " + "other line")
    # One sample, one channel: only rows and columns could be cut.
    assert "'h', 'w' would need rows of the neighbours" in conv["whole_because"]
    (warning,) = [w for w in plan.data["warnings"] if "Conv2D" in w]
    assert warning.startswith(f"For 'Conv2D' at {conv['line']}, each device computes all of")


def test_a_maximum_with_a_gradient_says_why_it_is_whole():
    weight = ms.Parameter(ms.ops.ones((1, 512, 1024)), name="weight")

    class Largest(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = weight

        def construct(self, x):
            return ops.amax(x * self.weight, (0, 1, 2))

    step = nn.TrainOneStepCell(Largest(), nn.SGD([weight], 0.1)).set_train()
    plan = explain(step, Tensor(shape=(1, 512, 1024), dtype=ms.float32), devices=2)
    reasons = {n["op"]: n["whole_because"] for n in plan.data["nodes"] if n["whole_because"]}
    assert any("maximum" in reason for reason in reasons.values()), reasons


def test_the_time_of_a_step_by_part():
    net = network()
    loss = nn.WithLossCell(net, nn.MSELoss())
    step = nn.TrainOneStepCell(loss, nn.Momentum(net.trainable_params(), 0.1, 0.9)).set_train()
    data = dry_run(step, X, X, devices=4).data
    parts = data["parts"]
    assert [p["what"] for p in parts[:2]] == ["computing", "computing"]
    assert [p["backward"] for p in parts[:2]] == [False, True]
    assert sum(p["seconds"] for p in parts) == pytest.approx(data["seconds"], rel=1e-3)
    path = data["critical_path"]
    assert 0 < path["seconds"] <= data["seconds"] * (1 + 1e-3)
    both = path["compute_seconds"] + path["communication_seconds"]
    assert both == pytest.approx(path["seconds"], rel=1e-6)
    assert path["longest"][0]["seconds"] >= path["longest"][-1]["seconds"]


def test_what_a_plan_promises_of_others():
    exact = explain(network(), X, devices=4, mode="dynamic_programming").data
    assert exact["exact"] and exact["bound"] == pytest.approx(exact["seconds"], rel=1e-4)
    # More than three axes are chosen one after the other.
    many = explain(network(), X, devices=64, mode="dynamic_programming").data
    assert 0 < many["bound"] <= many["seconds"]
    assert many["exact"] is (many["bound"] >= many["seconds"] * (1 - 1e-5))
