"""A script of one process, started several times with one line more: losses, metrics, stops and files are as of one."""

from __future__ import annotations

import functools
import json

import pytest
import ranks

from mindspore.train import _manifest

pytestmark = [pytest.mark.host_device]


@pytest.mark.parametrize("count", [2, 3])
def test_losses_metrics_and_stops(count, tmp_path):
    done = ranks.run("unchanged.py", count, str(tmp_path))
    printed = done.stdout
    assert done.returncode == 0 and printed.count("all is well") == count, printed + done.stderr
    assert done.stderr.count("learning rates, of which the last") == 1  # told by one process
    assert printed.count("epoch: 2 step: 1, loss is") == 1
    assert printed.count("Eval result: epoch 3") == 1


def part(folder, count, epochs, leave=0, batch=0):
    """What a part of a training printed; all processes together take 12 samples in a step, or batches of a size."""
    size = batch or 12 // count
    printed = ranks.passes("taken_up.py", count, str(folder), str(epochs), str(leave), str(size))
    return json.loads(next(line for line in printed.splitlines() if line.startswith("{")))


@functools.cache
def whole(folder):
    """A training without a stop, by one process."""
    return part(folder, 1, 3)


@pytest.mark.parametrize("count", [1, 3])
def test_a_training_goes_on_with_another_number_of_processes(count, tmp_path, tmp_path_factory):
    losses = whole(tmp_path_factory.getbasetemp() / "whole")["losses"]
    begun = part(tmp_path, 2, 3, leave=6)  # in the middle of the second epoch
    rest = part(tmp_path, count, 3)
    assert begun["losses"] + rest["losses"] == pytest.approx(losses, rel=1e-4)
    assert sorted(begun["samples"] + rest["samples"]) == sorted(3 * list(range(44)))


def test_a_training_goes_on_within_a_batch(tmp_path):
    begun = part(tmp_path, 2, 2, leave=6)
    rest = part(tmp_path, 2, 2, batch=5)  # 24 samples were given: four batches, and four samples
    assert sorted(begun["samples"] + rest["samples"]) == sorted(2 * list(range(44)))


def test_slices_that_are_damaged_or_not_whole(tmp_path):
    part(tmp_path, 2, 1, leave=2)
    folder = tmp_path / "net-1_2.slices"
    state = _manifest.read(str(folder))
    shapes = {name: tuple(value.shape) for name, value in state.items()}
    assert shapes["net.0.weight"] == (8, 4) and shapes["net.2.weight"] == (1, 8), shapes
    for name in ("slices_1.ckpt", "manifest.json"):
        good = (folder / name).read_bytes()
        for bad in (good[:-1], good[:20] + b"?" + good[21:], b""):
            (folder / name).write_bytes(bad)
            with pytest.raises(ValueError, match=str(folder)):
                _manifest.read(str(folder))
        (folder / name).write_bytes(good)
    (folder / "slices_0.ckpt").unlink()
    with pytest.raises(ValueError, match="is not whole"):
        _manifest.read(str(folder))
    (folder / "manifest.json").unlink()
    assert not _manifest.is_complete(str(folder))


@pytest.mark.parametrize("fault", [pytest.param("kill", marks=pytest.mark.slow), "enospc"])
def test_a_save_that_fails_leaves_the_one_before(fault, tmp_path):
    arguments = [str(tmp_path), "2", "7", "6"]
    done = ranks.run("taken_up.py", 2, *arguments, MS_IO_FAULT=f"20:{fault}")
    assert done.returncode != 0 and "all is well" not in done.stdout
    folders = [str(folder) for folder in tmp_path.iterdir()]
    complete = [folder for folder in folders if _manifest.is_complete(folder)]
    assert complete and len(complete) < len(folders)
    for folder in complete:
        _manifest.read(folder)
    part(tmp_path, 1, 2)  # goes on from there


def test_one_is_told_to_end(tmp_path):
    ranks.passes("told_to_end.py", 2, str(tmp_path))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["backup.ckpt", "rank_1"]
