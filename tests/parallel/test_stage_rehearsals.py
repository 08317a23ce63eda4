"""Pipelines whose processes are threads: they give what one process gives, whatever is marked, in every schedule; so do they together
with random cuts inside of stages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, _core, nn, ops
from mindspore.common import _planning
from mindspore.parallel import explain

# Its processes are threads, which on a device would share one stream, and wait for each other in it.
pytestmark = pytest.mark.host_device


@pytest.fixture(autouse=True)
def _graph_mode() -> Iterator[None]:
    mode = ms.get_context("mode")
    ms.set_context(mode=ms.GRAPH_MODE)
    yield
    _core.set_rehearsal(())
    ms.set_context(mode=mode)


def random(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed + sum(shape)).normal(size=shape).astype(np.float32)


def marks(net: nn.Cell) -> dict[str, int]:
    return _planning.stage_marks(list(net.get_parameters()))


class Run:
    """Three steps: the losses, and all Parameters and states of the optimizer."""

    def __init__(self, make: Callable[[], nn.Cell], optimizer: Callable, parts: int) -> None:
        ms.set_seed(1)
        self.net = make()
        self.optimizer = optimizer(self.net.trainable_params())
        self.loss = nn.PipelineCell(self.net, parts) if parts else self.net
        self.step = nn.TrainOneStepCell(self.loss, self.optimizer).set_train()

    def __call__(self, *data: Tensor) -> list[np.ndarray]:
        losses = [self.step(*data).asnumpy() for _ in range(3)]
        state = [*self.net.get_parameters(), *self.optimizer.get_parameters()]
        return [*losses, *[p.asnumpy() for p in state]]


def check(make: Callable[[], nn.Cell], *data: np.ndarray, stages: int = 2, parts: int = 4, optimizer: Callable | None = None, schedules: tuple[str, ...] = ("1f1b", "gpipe"), meshes: tuple = ((1,),), monkeypatch: Any = None) -> None:  # fmt: skip
    optimizer = optimizer or (lambda p: nn.Momentum(p, 0.1, 0.9))
    inputs = [Tensor(x) for x in data]
    wanted = Run(make, optimizer, parts)(*inputs)
    for number, (schedule, mesh) in enumerate((s, m) for s in schedules for m in meshes):
        run = Run(make, optimizer, parts)
        pipeline = {"stages": stages, "stage": 0, "marks": marks(run.net), "schedule": schedule}
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_planning, "traced_stages", lambda: stages)
            _core.set_rehearsal(mesh, number, pipeline)
            try:
                found = run(*inputs)
            finally:
                _core.set_rehearsal(())
        for f, w in zip(found, wanted, strict=True):
            np.testing.assert_allclose(f, w, 2e-4, 2e-5, err_msg=f"{schedule} over {mesh}")


LABELS = np.array([0, 2, 1, 1, 0, 2, 1, 0], np.int32)


class Perceptron(nn.Cell):
    def __init__(self, stages: tuple[int, ...] = ()) -> None:
        super().__init__()
        self.layers = nn.CellList([nn.Dense(6, 8), nn.Dense(8, 7), nn.Dense(7, 5), nn.Dense(5, 3)])
        self.loss = nn.SoftmaxCrossEntropyWithLogits(sparse=True, reduction="mean")
        for layer, stage in zip(self.layers, stages):
            layer.pipeline_stage = stage

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        for layer in self.layers:
            x = ops.tanh(layer(x))
        return self.loss(x, y)


@pytest.mark.parametrize("stages", [2, 3, 4])
@pytest.mark.parametrize("parts", [1, 2, 8])
def test_a_perceptron_that_the_compiler_cuts(stages, parts):
    check(Perceptron, random(8, 6), LABELS, stages=stages, parts=parts)


class Again(Perceptron):
    """Layers that are computed again in the backward pass."""

    def __init__(self) -> None:
        super().__init__()
        for layer in self.layers:
            layer.recompute()


@pytest.mark.parametrize("stages", [2, 4])
def test_layers_that_are_computed_again(stages):
    check(Again, random(8, 6), LABELS, stages=stages)


def test_marks_and_a_batch_in_one_part():
    def make() -> nn.Cell:
        return Perceptron((0, 1, 1, 2))

    check(make, random(8, 6), LABELS, stages=3)
    check(make, random(8, 6), LABELS, stages=3, parts=0)


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda p: nn.Adam(p, 0.01),
        lambda p: nn.Lamb(p, 0.01),
        lambda p: nn.AdamWeightDecay(p, nn.cosine_decay_lr(1e-3, 1e-2, 8, 8, 1), weight_decay=0.1),
        lambda p: nn.SGD(p, 0.1, weight_decay=0.01),
    ],
    ids=["Adam", "Lamb", "AdamWeightDecay", "SGD"],
)
def test_optimizers(optimizer):
    check(Perceptron, random(8, 6), LABELS, optimizer=optimizer)


def test_cuts_inside_of_stages():
    check(Perceptron, random(8, 6), LABELS, meshes=((2,), (3,), (2, 2)), schedules=("1f1b",))


class Block(nn.Cell):
    """Attention and two dense layers."""

    def __init__(self, width: int, drop: float) -> None:
        super().__init__()
        self.qkv, self.out = nn.Dense(width, 3 * width), nn.Dense(width, width)
        self.up, self.down = nn.Dense(width, 2 * width), nn.Dense(2 * width, width)
        self.norm1, self.norm2 = nn.LayerNorm((width,)), nn.LayerNorm((width,))
        self.drop = nn.Dropout(p=drop)

    def construct(self, x: Tensor, mask: Tensor) -> Tensor:
        b, t, w = x.shape
        q, k, v = self.qkv(self.norm1(x)).reshape(b, t, 3, 2, w // 2).transpose(2, 0, 3, 1, 4)
        scores = ops.softmax(ops.bmm(q, k.swapaxes(2, 3)) + mask, -1)
        x = x + self.drop(self.out(ops.bmm(scores, v).transpose(0, 2, 1, 3).reshape(x.shape)))
        return x + self.down(ops.gelu(self.up(self.norm2(x))))


class Words(nn.Cell):
    """Predicts the next word. `tied`: with the table of the embedding."""

    def __init__(self, tied: bool = False, drop: float = 0.0, mark: bool = False) -> None:
        super().__init__()
        self.table = nn.Embedding(11, 8)
        self.blocks = nn.CellList([Block(8, drop), Block(8, drop)])
        self.tied = tied
        if not tied:
            self.head = nn.Dense(8, 11, has_bias=False)
        if mark:
            self.table.pipeline_stage = 0
            for number, block in enumerate(self.blocks):
                block.pipeline_stage = number

    def construct(self, words: Tensor, following: Tensor) -> Tensor:
        mask = ops.triu(ops.full((words.shape[1], words.shape[1]), -1e9), 1)
        x = self.table(words)
        for block in self.blocks:
            x = block(x, mask)
        x = ops.matmul(x, self.table.embedding_table.T) if self.tied else self.head(x)
        return ops.cross_entropy(x.reshape(-1, 11), following.reshape(-1))


WORDS = np.random.default_rng(5).integers(0, 11, (2, 4, 6)).astype(np.int32)


@pytest.mark.parametrize("mark", [False, True])
@pytest.mark.parametrize("tied", [False, True])
def test_a_transformer_with_a_table_of_one_stage_or_of_two(tied, mark):
    check(lambda: Words(tied, mark=mark), *WORDS)


def test_a_transformer_that_is_cut_both_ways():
    check(lambda: Words(True), *WORDS, meshes=((2,),), parts=2)


def test_dropout_draws_what_it_draws_in_one_process():
    check(lambda: Words(drop=0.3), *WORDS)


def test_a_norm_of_all_gradients():
    class Clipped(nn.TrainOneStepCell):
        def construct(self, *inputs: Any) -> Any:
            loss = self.network(*inputs)
            grads = self.grad_no_sens(self.network, self.weights)(*inputs)
            self.optimizer(ops.clip_by_global_norm(grads, 0.1))
            return loss

    class Clip(Run):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.step = Clipped(self.loss, self.optimizer).set_train()

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "Run", Clip)
        check(Perceptron, random(8, 6), LABELS)


def test_a_loss_that_is_scaled():
    class Scaled(Run):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.step = nn.TrainOneStepCell(self.loss, self.optimizer, sens=0.25).set_train()

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "Run", Scaled)
        check(Perceptron, random(8, 6), LABELS)


def forward_parts(folder: Any) -> int:
    """How many parts the first stage has taken forward when it begins to go backward, as its graph in the folder says."""
    first = sorted(folder.glob("*_KeepStage.ir"))[0]
    ops = re.findall(r"= (Tanh|TanhGrad)\(", first.read_text())
    return ops.index("TanhGrad") // 2  # of two layers


class Seeded(nn.TrainOneStepCell):
    """The gradient of the loss is made of the loss."""

    def construct(self, *inputs: Any) -> Any:
        loss = self.network(*inputs)
        grads = self.grad(self.network, self.weights)(*inputs, loss * 0 + 2)
        self.optimizer(grads)
        return loss


@pytest.mark.parametrize(
    ("step", "kept"),
    [
        (nn.TrainOneStepCell, 2),
        (lambda *a: nn.TrainOneStepCell(*a, sens=0.25), 2),
        (lambda *a: nn.TrainOneStepWithLossScaleCell(*a, Tensor(8.0)), 2),
        (Seeded, 4),
    ],
    ids=["plain", "sens", "scale", "loss"],
)
def test_how_many_parts_are_kept(step, kept, tmp_path, monkeypatch):
    class Stepped(Run):
        def __init__(self, *args: Any) -> None:
            super().__init__(*args)
            self.step = step(self.loss, self.optimizer).set_train()

        def __call__(self, *data: Tensor) -> list[np.ndarray]:
            first = self.step(*data)
            return [(first[0] if isinstance(first, tuple) else first).asnumpy()]

    monkeypatch.setitem(globals(), "Run", Stepped)
    _core.dump_graphs_to(str(tmp_path))
    try:
        check(lambda: Perceptron((0, 0, 1, 1)), random(8, 6), LABELS, schedules=("1f1b",))
    finally:
        _core.dump_graphs_to("")
    assert forward_parts(tmp_path) == kept


def test_a_seed_that_is_made_of_the_loss_leaves_one_schedule():
    net = nn.PipelineCell(Perceptron(), 4)
    step = Seeded(net, nn.SGD(net.trainable_params(), 0.1)).set_train()
    plan = explain(step, Tensor(random(8, 6)), Tensor(LABELS), devices=2, stages=2)
    pipeline = plan.data["pipeline"]
    assert [s["name"] for s in pipeline["schedules"]] == ["gpipe"]
    assert "all parts must have gone forward" in pipeline["note"]
    assert pipeline["note"] in str(plan)


class Pair(nn.Cell):
    """A step that trains two networks, one after the other."""

    def __init__(self, parts: int) -> None:
        super().__init__()
        self.first, self.second = Perceptron(), Perceptron()
        self.losses = nn.CellList([nn.PipelineCell(n, parts) for n in (self.first, self.second)])
        weights = [n.trainable_params() for n in (self.first, self.second)]
        self.optimizers = nn.CellList([nn.Momentum(w, 0.1, 0.9) for w in weights])
        self.grads = [ms.value_and_grad(n, None, o.parameters) for n, o in zip(self.losses, self.optimizers)]  # fmt: skip

    def construct(self, x: Tensor, y: Tensor) -> Tensor:
        total = 0
        for grad, optimizer in zip(self.grads, self.optimizers):
            loss, gradients = grad(x, y)
            optimizer(gradients)
            total += loss
        return total


def test_two_networks_in_one_step_are_both_cut():
    class Both(Run):
        def __init__(self, *args: Any) -> None:
            ms.set_seed(1)
            self.net = self.optimizer = self.step = Pair(4).set_train()

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "Run", Both)
        check(Perceptron, random(8, 6), LABELS, stages=2)
    plan = explain(Pair(4), Tensor(random(8, 6)), Tensor(LABELS), devices=2, stages=2)
    for stage in plan.data["pipeline"]["stages"]:
        held = {n for n in stage["parameters"] if n.endswith("weight") and "moments" not in n}
        assert any("losses.0." in n for n in held), held
        assert any("losses.1." in n for n in held), held
    assert not plan.data["warnings"]


class Rivals(nn.Cell):
    """A step of a generator and of what tells its works from data; each is differentiated through both, and updated alone."""

    def __init__(self) -> None:
        super().__init__()
        self.maker = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 6))
        self.judge = nn.SequentialCell(nn.Dense(6, 8), nn.ReLU(), nn.Dense(8, 1))
        self.optimizers = nn.CellList(
            [nn.SGD(n.trainable_params(), 0.1) for n in (self.judge, self.maker)]
        )

    def judged(self, x: Tensor, z: Tensor) -> Tensor:
        return ops.sigmoid(self.judge(self.maker(z))).mean() - ops.sigmoid(self.judge(x)).mean()

    def made(self, z: Tensor) -> Tensor:
        return -ops.sigmoid(self.judge(self.maker(z))).mean()

    def construct(self, x: Tensor, _: Tensor) -> Tensor:
        first, second = self.optimizers
        loss, grads = ms.value_and_grad(self.judged, None, first.parameters)(x, -x)
        first(grads)
        other, grads = ms.value_and_grad(self.made, None, second.parameters)(-x)
        second(grads)
        return loss + other


def test_two_networks_that_share_their_cells():
    class Both(Run):
        def __init__(self, *args: Any) -> None:
            ms.set_seed(1)
            self.net = self.optimizer = self.step = Rivals().set_train()

    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(globals(), "Run", Both)
        check(Perceptron, random(8, 6), LABELS, stages=2)


def test_norms_of_batches_keep_their_means():
    class Norm(nn.Cell):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.norm, self.last = nn.Dense(6, 8), nn.BatchNorm1d(8), nn.Dense(8, 3)
            self.loss = nn.MSELoss()

        def construct(self, x: Tensor, y: Tensor) -> Tensor:
            return self.loss(self.last(ops.relu(self.norm(self.first(x)))), y)

    check(Norm, random(8, 6), random(8, 3), parts=2)


def test_branches_that_tensors_decide():
    class Branch(Perceptron):
        def construct(self, x: Tensor, y: Tensor) -> Tensor:
            x = self.layers[1](self.layers[0](x))
            if x.sum() > 0:
                x = self.layers[2](x) * 2
            else:
                x = self.layers[2](-x)
            return self.loss(self.layers[3](x), y)

    check(Branch, random(8, 6), LABELS, parts=2)


def test_skips_over_stages():
    class Skip(Perceptron):
        def construct(self, x: Tensor, y: Tensor) -> Tensor:
            a = ops.tanh(self.layers[0](x))
            c = self.layers[2](self.layers[1](a))
            return self.loss(self.layers[3](c) + a[:, :3] + x[:, 3:], y)

    check(lambda: Skip((0, 1, 2, 3)), random(8, 6), LABELS, stages=4)


def refused(make: Callable[[], nn.Cell], stages: int = 2) -> str:
    with pytest.raises(ValueError, match=r"For 'pipeline_stages?'") as caught:
        check(make, random(8, 6), LABELS, stages=stages)
    return str(caught.value)


def test_what_does_not_fit_is_refused():
    text = refused(lambda: Perceptron((0, 1, 0, 1)))
    assert "the cell 'layers.2' (Parameter 'layers.2.weight') is marked with 0" in text
    assert "uses what stage 1 has made" in text
    assert "mark it with 1 or later" in text
    text = refused(lambda: Perceptron((0, 2, 2, 2)))
    assert "must be in [0, 2)" in text
    assert "layers.1" in text
    assert "none is marked with 1" in refused(lambda: Perceptron((0, 0, 0, 0)))
    assert "at least as many cells with Parameters as stages, 5, but it has 4" in refused(
        Perceptron, 5
    )


def test_the_batch_must_have_the_parts():
    with pytest.raises(ValueError, match=r"For 'PipelineCell', the first size .* a multiple of 3"):
        check(Perceptron, random(8, 6), LABELS, parts=3)


def test_marks_of_cells_inside_count_more():
    net = nn.SequentialCell(nn.Dense(2, 2), nn.Dense(2, 2))
    net[1].pipeline_stage = 1
    net.pipeline_stage = 0
    assert marks(net) == {"0.weight": 0, "0.bias": 0, "1.weight": 1, "1.bias": 1}
    net[0].pipeline_stage = 2
    assert marks(net)["0.weight"] == 2
    weight = Parameter(Tensor([1.0]), name="w")
    assert weight.pipeline_stage_mark is None
    weight.add_pipeline_stage(3)
    weight.add_pipeline_stage(1)
    assert weight.pipeline_stage_mark == 1
