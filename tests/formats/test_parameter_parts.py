"""Checkpoints of several processes in one layout, read and written in another: the same bits wherever they go."""

from __future__ import annotations

import itertools
import json

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, nn
from mindspore.common import _boxes
from mindspore.common._boxes import Layout
from mindspore.parallel import unified_safetensors

LAYOUTS = [
    Layout((1,), (-1, -1)),
    Layout((2,), (0, -1)),
    Layout((4,), (-1, 0)),
    Layout((2, 2), (1, 0)),
    Layout((2, 3), (0, 1)),
    Layout((2, 3), (-1, 1)),
]
WHOLE = {
    "w": np.arange(12 * 24, dtype=np.float32).reshape(12, 24),
    "v": np.arange(6, dtype=np.int64),
    "bf": np.arange(8, dtype=np.float32).reshape(4, 2),
}


def parts_of(layout, rank):
    """The parameters of a process: `w` is cut, the others are whole."""
    box = tuple(slice(*ends) for ends in layout.box(rank, WHOLE["w"].shape))
    return [
        Parameter(Tensor(WHOLE["w"][box]), name="w"),
        Parameter(Tensor(WHOLE["v"]), name="v"),
        Parameter(Tensor(WHOLE["bf"], ms.bfloat16), name="bf"),
    ]


def saved(folder, layout, format="ckpt"):
    """Checkpoints of all processes, and the file of the layout."""
    for rank in range(layout.ranks):
        (folder / f"rank_{rank}").mkdir(parents=True)
        path = str(folder / f"rank_{rank}" / f"net.{format}")
        ms.save_checkpoint(parts_of(layout, rank), path, format=format)
    _boxes.write_layouts(str(folder / "layouts.json"), {"w": layout})
    return str(folder / "layouts.json")


@pytest.mark.parametrize("pair", list(itertools.permutations(range(len(LAYOUTS)), 2)), ids=str)
def test_from_any_layout_to_any_other(pair, tmp_path):
    source, target = (LAYOUTS[i] for i in pair)
    there = saved(tmp_path / "from", source)
    _boxes.write_layouts(str(tmp_path / "layouts.json"), {"w": target})
    here = str(tmp_path / "layouts.json")
    ms.transform_checkpoints(str(tmp_path / "from"), str(tmp_path / "to"), "new", there, here)
    for rank in range(target.ranks):
        found = ms.load_checkpoint(str(tmp_path / "to" / f"rank_{rank}" / f"new{rank}.ckpt"))
        for wanted in parts_of(target, rank):
            value = found[wanted.name]
            assert value.dtype == wanted.dtype
            np.testing.assert_array_equal(value.asnumpy(), wanted.asnumpy())
        needed = ms.rank_list_for_transform(rank, there, here)
        boxes = [source.box(r, WHOLE["w"].shape) for r in needed]
        assert len(set(boxes)) == len(boxes)  # nobody's part is read twice
    merged = ms.merge_sliced_parameter(
        [parts_of(source, rank)[0] for rank in range(source.ranks)], {"w": source}
    )
    np.testing.assert_array_equal(merged.asnumpy(), WHOLE["w"])


def test_into_a_network(tmp_path):
    layout = LAYOUTS[3]
    there = saved(tmp_path, layout, "safetensors")
    net = nn.Cell()
    net.w = Parameter(Tensor(np.zeros((12, 24), np.float32)), name="w")
    net.v = Parameter(Tensor(np.zeros(6, np.int64)), name="v")
    net.bf = Parameter(Tensor(np.zeros((4, 2)), ms.bfloat16), name="bf")
    files = [str(tmp_path / f"rank_{rank}" / "net.safetensors") for rank in range(4)]
    assert ms.load_distributed_checkpoint(net, files, None, there) is None
    np.testing.assert_array_equal(net.w.asnumpy(), WHOLE["w"])
    part = nn.Cell()
    part.w = Parameter(Tensor(np.zeros((6, 24), np.float32)), name="w")
    strategy = ms.build_searched_strategy(there) | {"w": LAYOUTS[1]}
    ms.load_distributed_checkpoint(part, files, strategy, there, rank_id=1)
    np.testing.assert_array_equal(part.w.asnumpy(), WHOLE["w"][6:])
    found = ms.load_distributed_checkpoint(
        part, files, strategy, there, rank_id=0, return_param_dict=True
    )
    np.testing.assert_array_equal(found["w"].asnumpy(), WHOLE["w"][:6])


def _empty(*shape):
    net = nn.Cell()
    net.weight = Parameter(Tensor(np.zeros(shape, np.float32)), name="weight")
    return net


def test_a_folder_of_whole_parameters_with_other_names(tmp_path):
    there = saved(tmp_path / "parts", LAYOUTS[3], "safetensors")
    whole = str(tmp_path / "whole")
    unified_safetensors(str(tmp_path / "parts"), there, whole)
    strategy = {"weight": LAYOUTS[1]}
    names = {"w": "weight"}
    net = _empty(6, 24)
    ms.load_distributed_checkpoint(
        net, None, strategy, unified_safetensors_dir=whole, rank_id=1, name_map=names
    )
    np.testing.assert_array_equal(net.weight.asnumpy(), WHOLE["w"][6:])
    to = tmp_path / "to"  # without a network: files of all processes
    given = {"unified_safetensors_dir": whole, "dst_safetensors_dir": str(to), "name_map": names}
    ms.load_distributed_checkpoint(None, None, strategy, **given)
    for rank in range(2):
        file = str(to / f"rank_{rank}" / "net.safetensors")
        found = ms.load_checkpoint(file, format="safetensors")
        np.testing.assert_array_equal(found["weight"].asnumpy(), WHOLE["w"][6 * rank :][:6])
    ms.load_distributed_checkpoint(None, None, strategy, rank_id=1, output_format="ckpt", **given)
    assert sorted(path.name for path in to.rglob("*.ckpt")) == ["net.ckpt"]
    (tmp_path / "whole" / "param_name_map.json").write_text('{"other": "part0.safetensors"}')
    with pytest.raises(ValueError, match="has no 'other'"):
        ms.load_distributed_checkpoint(net, unified_safetensors_dir=whole)
    (tmp_path / "whole" / "param_name_map.json").write_text("[[[")
    with pytest.raises(ValueError, match="must hold the file of each parameter as JSON"):
        ms.load_distributed_checkpoint(net, unified_safetensors_dir=whole)


def test_files_with_a_key_and_other_names(tmp_path):
    path, key = str(tmp_path / "net.ckpt"), b"0123456789abcdef"
    ms.save_checkpoint([Parameter(Tensor(WHOLE["w"]), name="w")], path, enc_key=key)
    net = _empty(12, 24)
    ms.load_distributed_checkpoint(net, [path], dec_key=key, name_map={"w": "weight"})
    np.testing.assert_array_equal(net.weight.asnumpy(), WHOLE["w"])


def test_what_does_not_go_together_is_refused(tmp_path):
    net, files = _empty(12, 24), ["a.ckpt"]
    for error, text, arguments in (
        (ValueError, "must be given, but got neither", {"network": None}),
        (ValueError, "must be given, but got both", {"dst_safetensors_dir": "to"}),
        (TypeError, "'dst_safetensors_dir' must be a str", {"dst_safetensors_dir": 3}),
        (TypeError, "'name_map' must be a dict from names", {"name_map": {"w": 3}}),
        (ValueError, "'format' must be", {"format": "onnx"}),
        (ValueError, "must be None, but got both", {"unified_safetensors_dir": str(tmp_path)}),
        (
            ValueError,
            "must have files that end with",
            {"unified_safetensors_dir": str(tmp_path), "checkpoint_filenames": None},
        ),
    ):
        with pytest.raises(error, match=text):
            ms.load_distributed_checkpoint(
                **{"network": net, "checkpoint_filenames": files, **arguments}
            )


def test_each_process_may_have_saved_the_whole(tmp_path):
    layout = Layout((2,), (0, -1), (12, 24))
    there = str(tmp_path / "layouts.json")
    _boxes.write_layouts(there, {"weight": layout})
    files = []
    for rank in range(2):
        files.append(str(tmp_path / f"rank_{rank}" / "net.ckpt"))
        (tmp_path / f"rank_{rank}").mkdir()
        ms.save_checkpoint([Parameter(Tensor(WHOLE["w"]), name="weight")], files[-1])
    net = _empty(12, 24)
    ms.load_distributed_checkpoint(net, files, None, there)
    np.testing.assert_array_equal(net.weight.asnumpy(), WHOLE["w"])
    ms.transform_checkpoints(str(tmp_path), str(tmp_path / "to"), "net", there)
    found = ms.load_checkpoint(str(tmp_path / "to" / "rank_0" / "net0.ckpt"))
    np.testing.assert_array_equal(found["weight"].asnumpy(), WHOLE["w"])
    ms.save_checkpoint([Parameter(Tensor(WHOLE["w"][:5]), name="weight")], files[0])
    with pytest.raises(
        ValueError, match=r"must have the shape \(6, 24\) in the checkpoint of rank 0"
    ):
        ms.load_distributed_checkpoint(net, files, None, there)


def test_segments(tmp_path):
    for name in "ab":
        ms.save_checkpoint([Parameter(Tensor([1.0]), name=name)], str(tmp_path / f"{name}.ckpt"))
    assert list(ms.load_segmented_checkpoints(str(tmp_path))) == ["a", "b"]
    with pytest.raises(ValueError, match="'ckpt_file_dir' must be a folder"):
        ms.load_segmented_checkpoints(str(tmp_path / "none"))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ValueError, match="must have checkpoints"):
        ms.load_segmented_checkpoints(str(tmp_path / "empty"))


def test_what_is_missing_is_named(tmp_path):
    there = saved(tmp_path, LAYOUTS[1])
    first = {0: str(tmp_path / "rank_0" / "net.ckpt")}
    new = str(tmp_path / "new.ckpt")
    with pytest.raises(ValueError, match=r"'w' is not whole: nobody has its element \[6, 0\]"):
        ms.transform_checkpoint_by_rank(0, first, new, there)
    with pytest.raises(ValueError, match=r"none of .* is among them"):
        ms.transform_checkpoint_by_rank(0, first, new, _other(tmp_path))
    flat = str(tmp_path / "flat.json")
    _boxes.write_layouts(flat, {"w": Layout((2,), (0,))})
    with pytest.raises(ValueError, match=r"'w' of shape .* must have the axes of its layout"):
        ms.transform_checkpoint_by_rank(0, first, new, flat)
    with pytest.raises(ValueError, match="both layouts of a parameter must have as many axes"):
        ms.rank_list_for_transform(0, there, flat)
    (tmp_path / "rank_1" / "net.ckpt").unlink()
    with pytest.raises(ValueError, match="must have a checkpoint in 'rank_1'"):
        ms.transform_checkpoints(str(tmp_path), str(tmp_path / "to"), "new", there)
    with pytest.raises(NotADirectoryError, match="'src_checkpoints_dir' must be a folder"):
        ms.transform_checkpoints(str(tmp_path / "none"), str(tmp_path / "to"), "new")
    with pytest.raises(ValueError, match="'train_strategy_filename' must be given"):
        ms.load_distributed_checkpoint(nn.Dense(1, 1), ["a.ckpt", "b.ckpt"])
    with pytest.raises(TypeError, match="'rank_id' must be an int"):
        ms.rank_list_for_transform("a")
    with pytest.raises(ValueError, match=r"'rank_id' must be in \[0, 2\), but got 2"):
        ms.rank_list_for_transform(2, None, there)


def _other(folder):
    path = str(folder / "other.json")
    _boxes.write_layouts(path, {"nobody": LAYOUTS[1]})
    return path


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "{}",
        "\xff",
        '{"format": "mindspore layouts 2", "parameters": {}}',
        '{"format": "mindspore layouts 1", "parameters": 3}',
        '{"format": "mindspore layouts 1", "parameters": {"w": {}}}',
        '{"format": "mindspore layouts 1", "parameters": {"w": {"dev_matrix": [2], "tensor_map": [1]}}}',
        '{"format": "mindspore layouts 1", "parameters": {"w": {"dev_matrix": [0], "tensor_map": [0]}}}',
        '{"format": "mindspore layouts 1", "parameters": {"w": {"dev_matrix": [2], "tensor_map": [0, 0]}}}',
        "[" * 100_000,
    ],
)
def test_a_file_that_is_no_layout(text, tmp_path):
    path = tmp_path / "layouts.json"
    path.write_text(text, "latin-1")
    with pytest.raises(ValueError, match="For 'build_searched_strategy'"):
        ms.build_searched_strategy(str(path))


def test_boxes_of_all_processes_cover_a_tensor_once():
    for layout, shape in itertools.product(LAYOUTS, [(12, 24), (6, 12)]):
        count = np.zeros(shape, int)
        for rank in range(layout.ranks):
            count[tuple(slice(*ends) for ends in layout.box(rank, shape))] += 1
        assert (count == count[0, 0]).all()
        kept = json.loads(json.dumps(layout))
        assert kept == [list(layout.dev_matrix), list(layout.tensor_map), None]
