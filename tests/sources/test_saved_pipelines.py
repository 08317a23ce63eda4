"""Pipelines written down as JSON and made again; rows saved into files; hooks of debug mode."""

from __future__ import annotations

import json

import numpy as np
import pytest
from sample_files import SAMPLES

import mindspore as ms
import mindspore.dataset as ds
from mindspore.dataset import debug, transforms, vision


def rows(data) -> list:
    return [
        [v.tolist() for v in row]
        for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    ]


def built(folder, name):
    lines = {"dataset_files": str(folder / "a.txt"), "shuffle": False}
    made = {
        "lines": lambda: ds.TextFileDataset(**lines).repeat(2).skip(1).batch(2, True),
        "shuffled": lambda: ds.TextFileDataset(str(folder / "a.txt"), shuffle=ds.Shuffle.FILES).shuffle(4),
        "sampled": lambda: ds.MnistDataset(str(folder), sampler=ds.SubsetSampler([3, 1])).project("label"),
        "mapped": lambda: ds.MnistDataset(str(folder), shuffle=False).map(
            transforms.Compose([vision.Rescale(0.5, 0.0), vision.HWC2CHW()]), "image"
        ).map(transforms.TypeCast(ms.int32), ["label"]),
        "zipped": lambda: ds.TextFileDataset(**lines).zip(ds.TextFileDataset(**lines).rename("text", "other")),
        "joined": lambda: ds.TextFileDataset(**lines) + ds.TextFileDataset(**lines).take(1),
        "random": lambda: ds.RandomDataset(3, schema()),
    }  # fmt: skip
    return made[name]()


def schema():
    made = ds.Schema()
    made.add_column("x", "int32", [2])
    return made


NAMES = ["lines", "shuffled", "sampled", "mapped", "zipped", "joined", "random"]


@pytest.mark.parametrize("name", NAMES)
def test_a_pipeline_comes_back(name, tmp_path):
    SAMPLES["text_file"](tmp_path)
    SAMPLES["mnist"](tmp_path)
    ds.config.set_seed(2)
    data = built(tmp_path, name)
    path = tmp_path / "pipeline.json"
    described = ds.serialize(data, str(path))
    assert json.loads(path.read_text()) == described
    for again in (ds.deserialize(described), ds.deserialize(json_filepath=str(path))):
        assert again.get_col_names() == data.get_col_names()
        assert rows(again) == rows(data)
        assert ds.compare(data, again)
    others = [built(tmp_path, other) for other in NAMES if other != name]
    assert not any(ds.compare(data, other) for other in others)


def test_what_cannot_be_written_down(tmp_path, caplog):
    SAMPLES["text_file"](tmp_path)
    lines = ds.TextFileDataset(str(tmp_path / "a.txt"))
    with pytest.raises(TypeError, match=r"arguments of map must be plain values.*function"):
        ds.serialize(lines.map(lambda x: x))
    with pytest.raises(TypeError, match="dataset must be Dataset"):
        ds.serialize(3)
    for wrong, error, says in (
        ({}, TypeError, "op_type must be str"),
        ({"op_type": "Sampler"}, ValueError, "must be a source"),
        ({"op_type": "os"}, ValueError, "must be of the package"),
        ({"op_type": "save", "children": [ds.serialize(lines)]}, ValueError, "must be one of"),
    ):
        with pytest.raises(error, match=says):
            ds.deserialize(wrong)
    with pytest.raises(ValueError, match="either input_dict or json_filepath"):
        ds.deserialize()
    (tmp_path / "bad.json").write_text("{")
    with pytest.raises(ValueError, match="must be JSON"):
        ds.deserialize(json_filepath=str(tmp_path / "bad.json"))
    ds.show(lines.repeat(2))
    assert '"op_type": "repeat"' in caplog.text


COLUMNS = {
    "x": np.array([1, -2, 3]),
    "u": np.array([[0, 255], [1, 2], [3, 4]], np.uint8),
    "y": np.array([[1.5, 2], [3, 4], [5, 6]], np.float64),
    "s": np.array(["a", "öä", ""]),
}


@pytest.mark.parametrize("count", [1, 2])
def test_rows_are_saved_as_mindrecord(tmp_path, count):
    path = str(tmp_path / "out")
    data = ds.NumpySlicesDataset(COLUMNS, shuffle=False)
    data.save(path, count)
    name = path if count == 1 else path + "0"
    found = ds.MindDataset(name, ["x", "u", "y", "s"], shuffle=False)
    assert sorted(rows(found)) == sorted(rows(data))
    assert [t.name for t in found.output_types()][:3] == ["int64", "int32", "float64"]
    with pytest.raises(RuntimeError, match="is there already"):
        data.save(path, count)


@pytest.mark.parametrize("count", [1, 2])
def test_rows_are_saved_as_tfrecord(tmp_path, count):
    path = tmp_path / "out"
    data = ds.NumpySlicesDataset(COLUMNS, shuffle=False)
    data.save(str(path), count, "tfrecord")
    names = [path] if count == 1 else [tmp_path / "out0", tmp_path / "out1"]
    schema = ds.Schema()
    for name, kind, shape in (("x", "int64", []), ("u", "uint8", [2]), ("y", "float64", [2]), ("s", "string", [])):  # fmt: skip
        schema.add_column(name, kind, shape)
    found = ds.TFRecordDataset([str(name) for name in names], schema, shuffle=False)
    assert sorted(rows(found)) == sorted(rows(data))
    assert len(list(tmp_path.iterdir())) == count


def test_saving_refuses(tmp_path):
    data = ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False)
    for given, error in (({"num_files": 0}, ValueError), ({"file_type": "csv"}, ValueError), ({"file_name": 3}, TypeError)):  # fmt: skip
        with pytest.raises(error, match="For 'save'"):
            data.save(**{"file_name": str(tmp_path / "a"), **given})
    large = ds.NumpySlicesDataset({"x": np.array([2**63], np.uint64)})
    with pytest.raises(ValueError, match="column 'x' must fit int64"):
        large.save(str(tmp_path / "b"))
    none = data.filter(lambda x: False)
    for kind in ("mindrecord", "tfrecord"):
        with pytest.raises(RuntimeError, match="must have rows"):
            none.save(str(tmp_path / "c"), 1, kind)
    assert not list(tmp_path.iterdir())


def test_hooks_see_what_goes_in_and_comes_out(capsys):
    seen = []

    class Hook(debug.DebugHook):
        def compute(self, *args):
            seen.append((self.is_first_op, [np.asarray(a).tolist() for a in args]))

    ds.config.set_debug_mode(True, [Hook(), debug.PrintDataHook(), debug.PrintMetaDataHook()])
    data = ds.NumpySlicesDataset([1, 2], ["x"], shuffle=False).map(
        [lambda x: x + 1, transforms.TypeCast(ms.float32)]
    )
    assert rows(data) == [[2.0], [3.0]]
    assert seen == [
        (True, [1]), (False, [2]), (True, [2]), (False, [2.0]), (True, [2]), (False, [3]), (True, [3]), (False, [3.0]),
    ]  # fmt: skip
    out = capsys.readouterr().out
    assert "Print the [INPUT] of the operation" in out and "Column 0. The data is [2]." in out
    assert "Column 0. The dtype is [float32]. The shape is [()]." in out
    ds.config.set_debug_mode(False)
    assert rows(data) == [[2.0], [3.0]] and len(seen) == 8
    with pytest.raises(TypeError, match="debug_hook_list must hold DebugHook"):
        ds.config.set_debug_mode(True, [3])
    with pytest.raises(TypeError, match="debug_hook_list must be a list"):
        ds.config.set_debug_mode(True, 3)


def test_the_mode_of_iterators():
    assert ds.config.get_iterator_mode() == {"do_copy": False, "parallel_convert": False}
    ds.config.set_iterator_mode(do_copy=True)
    assert ds.config.get_iterator_mode() == {"do_copy": True, "parallel_convert": False}
    with pytest.raises(TypeError, match="For 'set_iterator_mode'"):
        ds.config.set_iterator_mode(3)
