"""Landscapes of losses: what is kept for them, and what is drawn, beside the same network in NumPy."""

from __future__ import annotations

import json
import os
import shutil

import numpy as np
import pytest
from eventlib import events, fields, values

import mindspore as ms
from mindspore import SummaryCollector, SummaryLandscape, SummaryRecord, nn, ops
from mindspore.dataset import NumpySlicesDataset
from mindspore.train import Accuracy, Loss, Model
from mindspore.train.summary import _landscape

X = np.random.default_rng(0).normal(size=(32, 3)).astype(np.float32)
Y = (X @ np.array([[1.0], [2.0], [3.0]], np.float32)).astype(np.float32)
KEEP = {"intervals": [[1, 2, 3], [3, 4, 6]], "landscape_size": 4, "num_samples": 32}


def data():
    return NumpySlicesDataset((X, Y), ["x", "y"], shuffle=False).batch(8)


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(3, 4), nn.Dense(4, 1)

    def construct(self, x):
        return self.second(ops.tanh(self.first(x)))


def loss_of(weights):
    """That of Net at weights, all in one row."""
    w, b, v, c = np.split(weights, [12, 16, 20])
    y = np.tanh(X @ w.reshape(4, 3).T + b) @ v.reshape(1, 4).T + c
    return np.square(y - Y).mean()


def evaluated():
    net, metrics = Net(), {"Loss": Loss()}
    return Model(net, nn.MSELoss(), metrics=metrics), net, data(), metrics


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("landscape")
    ms.set_seed(3)
    net = Net()
    model = Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.05, 0.9))
    model.train(
        2,
        data(),
        callbacks=SummaryCollector(str(folder), collect_specified_data={"collect_landscape": KEEP}),
    )
    return folder


def drawn(folder):
    """Each landscape of a folder by its name."""
    found = {}
    for event in events(folder):
        for name, value in values(event).items():
            if 10 in value:
                found[name] = fields(value[10][0])
    return found


def points(message):
    """x, y and heights of a message."""
    parts = (fields(part[0]) for part in fields(message).values())
    return [np.frombuffer(p[3][0], np.float32).reshape(p[1]) for p in parts]


def weights_at(folder, step):
    kept = ms.load_checkpoint(str(folder / "ckpt_dir" / f"Net_{step}_step.ckpt"))
    return np.concatenate([p.asnumpy().ravel() for p in kept.values()]).astype(np.float64)


def draw(trained, tmp_path, **more):
    SummaryLandscape(str(trained)).gen_landscapes_with_multi_process(
        evaluated, output=str(tmp_path), **more
    )
    return drawn(tmp_path)


def test_what_is_kept(trained):
    kept = trained / "ckpt_dir"
    assert {p.name for p in kept.glob("*.ckpt")} == {f"Net_{n}_step.ckpt" for n in (1, 2, 3, 4, 6)}
    said = json.loads((kept / "train_metadata.json").read_text())
    assert said["epoch_group"] == {"0": [1, 2, 3], "1": [3, 4, 6]}
    assert (said["step_per_epoch"], said["unit"]) == (4, "step")
    assert said["create_landscape"] == {"train": True, "result": True}


def test_what_is_drawn(trained, tmp_path):
    found = draw(trained, tmp_path)
    assert list(found) == ["landscape_[1, 3]", "landscape_[3, 6]", "landscape_[6]"]
    for (name, landscape), steps in zip(found.items(), ([1, 2, 3], [3, 4, 6])):
        path = [weights_at(trained, n) for n in steps]
        numbers = fields(landscape[2][0])
        assert numbers[1] == steps
        x, y, heights = points(numbers[2][0])
        np.testing.assert_allclose(heights, [loss_of(w) for w in path], rtol=1e-5)
        # Distances in the plane are those of the weights: three points lie in it.
        for i in range(3):
            for j in range(i):
                flat = np.hypot(x[i] - x[j], y[i] - y[j])
                np.testing.assert_allclose(flat, np.linalg.norm(path[i] - path[j]), rtol=1e-4)
        # The directions follow from the path, and with them each loss of the grid.
        steps_from_end = np.array([w - path[-1] for w in path[:2]])
        directions = np.linalg.solve(np.stack([x[:2], y[:2]], 1).astype(np.float64), steps_from_end)
        across, up, grid = points(landscape[1][0])
        expected = [[loss_of(path[-1] + np.array([a, b]) @ directions) for a in across] for b in up]
        np.testing.assert_allclose(grid, expected, rtol=1e-4)
        assert across[0] < x.min() and across[-1] > x.max() and up[0] < y.min() < y.max() < up[-1]
        about = fields(landscape[3][0])
        assert about == {1: [b"PCA"], 2: [b"step"], 3: [4]}, name


def test_the_plane_by_chance(trained, tmp_path):
    landscape = draw(trained, tmp_path)["landscape_[6]"]
    x, y, grid = points(landscape[1][0])
    assert x.tolist() == y.tolist() == np.linspace(-1, 1, 4).astype(np.float32).tolist()
    assert 2 not in landscape and fields(landscape[3][0])[1] == [b"Random"]
    at = points(landscape[4][0])
    np.testing.assert_allclose(at[2], loss_of(weights_at(trained, 6)), rtol=1e-5)
    assert at[:2] == [0, 0] and grid.min() > 0 and np.ptp(grid) > 0.01


def test_it_can_be_asked_for_otherwise_than_kept(trained, tmp_path):
    only = {"create_landscape": {"result": False}, "intervals": [[1, 4, 6]], "landscape_size": 3}
    found = draw(trained, tmp_path, collect_landscape=only)
    assert list(found) == ["landscape_[1, 6]"]
    assert points(found["landscape_[1, 6]"][1][0])[2].shape == (3, 3)


def test_several_processes_draw_the_same(trained, tmp_path):
    one, three = tmp_path / "one", tmp_path / "three"
    assert draw(trained, one) == draw(trained, three, device_ids=[0, 1, 2])


def test_a_straight_path(tmp_path):
    class Line(nn.Cell):
        def __init__(self):
            super().__init__()
            self.w = ms.Parameter(ms.Tensor([2.0, 0.0, 0.0]))

        def construct(self, x):
            return (x * self.w).sum(-1, keepdims=True)

    ones = np.ones((4, 3), np.float32)
    rows = NumpySlicesDataset((ones, ones[:, :1]), ["x", "y"]).batch(4)

    def made():
        net = Line()
        return Model(net, nn.MSELoss(), metrics={"l": Loss()}), net, rows, {"l": Loss()}

    net = Line()
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.05))
    keep = {"intervals": [[1, 2, 3]], "unit": "epoch", "landscape_size": 3}
    collector = SummaryCollector(str(tmp_path), collect_specified_data={"collect_landscape": keep})
    model.train(3, rows, callbacks=collector)
    assert {p.name for p in tmp_path.glob("*/*.ckpt")} == {
        f"Line_{n}_epoch.ckpt" for n in (1, 2, 3)
    }
    for folder in (tmp_path / "out", tmp_path / "again"):
        SummaryLandscape(tmp_path).gen_landscapes_with_multi_process(made, output=str(folder))
    found = drawn(tmp_path / "out")
    assert found == drawn(tmp_path / "again")
    x, y, _ = points(fields(found["landscape_[1, 3]"][2][0])[2][0])
    assert np.ptp(x) > 0.01 and np.ptp(y) < 1e-6


def test_a_folder_may_be_moved_and_cleaned(trained, tmp_path):
    shutil.copytree(trained, tmp_path / "moved")
    gone = tmp_path / "moved" / "ckpt_dir"
    note = gone / "note.txt"
    note.write_text("the user's")
    landscape = SummaryLandscape(tmp_path / "moved")
    landscape.clean_ckpt()
    assert list(gone.iterdir()) == [note]
    assert (trained / "ckpt_dir" / "Net_1_step.ckpt").exists()
    with pytest.raises(FileNotFoundError, match="'summary_dir' must be of a SummaryCollector"):
        landscape.clean_ckpt()


def test_cleaning_removes_nothing_elsewhere(trained, tmp_path):
    shutil.copytree(trained, tmp_path / "forged")
    precious = tmp_path / "precious.txt"
    precious.write_text("the user's")
    listed = tmp_path / "forged" / "ckpt_dir" / "train_metadata.json"
    said = json.loads(listed.read_text())
    said["model_params_file_map"]["1"] = str(precious)
    listed.write_text(json.dumps(said))
    SummaryLandscape(tmp_path / "forged").clean_ckpt()
    assert precious.exists() and not listed.exists()


WRONG = {
    "size": ({**KEEP, "landscape_size": 2}, "'landscape_size' must be from 3 to 256, but got 2"),
    "kind": ({**KEEP, "landscape_size": 2.0}, "'landscape_size' must be"),
    "unit": ({**KEEP, "unit": "hour"}, "'unit' must be 'step' or 'epoch', but got 'hour'"),
    "samples": ({**KEEP, "num_samples": 0}, "'num_samples' must be at least 1, but got 0"),
    "no intervals": ({"landscape_size": 4}, "'intervals' must be a list of lists of the steps"),
    "short": ({"intervals": [[1, 2]]}, r"at least 3 different numbers from 1 on, but got \[1, 2\]"),
    "flat": ({"intervals": [1, 2, 3]}, "'each of intervals' must be"),
    "key": ({**KEEP, "colour": 1}, r"must have keys of .*, but got \['colour'\]"),
    "which": ({**KEEP, "create_landscape": {"all": True}}, r"but got \['all'\]"),
    "yes": ({**KEEP, "create_landscape": {"train": 1}}, "create_landscape.*must be"),
    "neither": (
        {**KEEP, "create_landscape": {"train": False, "result": False}},
        "'create_landscape' must ask for one at least",
    ),
    "other numbers": (
        {"intervals": [[np.int64(1), 2, 3]]},
        "each number of 'intervals' must be an int, but got int64",
    ),
    "no dict": (5, "'collect_landscape' must be"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_settings(name, tmp_path):
    given, says = WRONG[name]
    with pytest.raises((ValueError, TypeError), match=says):
        SummaryCollector(str(tmp_path), collect_specified_data={"collect_landscape": given})


def test_wrong_calls(trained, tmp_path):
    generate = SummaryLandscape(trained).gen_landscapes_with_multi_process
    with pytest.raises(TypeError, match="'callback_fn' must be a function"):
        generate(5)
    with pytest.raises(TypeError, match="'callback_fn' must return a model"):
        generate(lambda: 5)
    with pytest.raises(ValueError, match="must return metrics that its model has, with a Loss"):
        generate(lambda: (*evaluated()[:3], {"a": Accuracy()}))
    with pytest.raises(ValueError, match="must return metrics that its model has, with a Loss"):
        generate(lambda: (*evaluated()[:3], {"other": Loss()}))
    for number, kind in enumerate(("Model", "Cell", "Dataset", "dict")):
        made = list(evaluated())
        made[number] = None
        with pytest.raises(TypeError, match=f"the {kind} that callback_fn returns"):
            generate(lambda made=made: tuple(made))
    with pytest.raises(ValueError, match=r"must return the network of its model.*another one"):
        generate(lambda: (evaluated()[0], Net(), *evaluated()[2:]))
    with pytest.raises(ValueError, match="'unit' must be 'step', of which checkpoints were kept"):
        generate(evaluated, {"unit": "epoch"})
    with pytest.raises(ValueError, match=r"steps that were kept, \[1, 2, 3, 4, 6\], but got 5"):
        generate(evaluated, {"intervals": [[1, 2, 5]]}, output=str(tmp_path))
    with pytest.raises(RuntimeError, match="process 0 has failed: ZeroDivisionError"):
        generate(failing, device_ids=[0, 1], output=str(tmp_path))


@pytest.mark.parametrize(
    "weights, says",
    [
        ([[1.0], [2.0], [3.0]], "at least two trainable weights"),
        ([[1.0, 2.0], [1.0, 2.0], [1.0, 2.0]], "must change within each of 'intervals'"),
        ([[1.0, 2.0], [np.nan, 2.0], [1.0, 3.0]], "must be finite"),
        ([[1.0, 2.0], [1.0, 3.0], [np.inf, 2.0]], "must be finite"),
    ],
    ids=["one", "equal", "nan", "infinite"],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_weights_without_a_plane(weights, says):
    with pytest.raises(ValueError, match=says):
        _landscape.principal_plane([[np.array(w, np.float32)] for w in weights])


def test_files_of_one_second_are_several(tmp_path):
    for step in range(3):
        with SummaryRecord(tmp_path) as record:
            record.add_value("scalar", "loss", ms.Tensor(0.5))
            assert record.record(step)
    assert len(list(tmp_path.iterdir())) == 3


def failing():
    """Evaluates in the process that asks for it, and nowhere else."""
    model, *others = evaluated()
    here, evaluate = os.getpid(), model.eval
    model.eval = lambda *a, **k: evaluate(*a, **k) if os.getpid() == here else 1 / 0
    return model, *others


def test_a_damaged_list_is_said(trained, tmp_path):
    shutil.copytree(trained, tmp_path / "s")
    (tmp_path / "s" / "ckpt_dir" / "train_metadata.json").write_text('{"unit": "step"}')
    with pytest.raises(
        ValueError, match=r"train_metadata\.json must be as SummaryCollector writes"
    ):
        SummaryLandscape(tmp_path / "s").gen_landscapes_with_multi_process(evaluated)
