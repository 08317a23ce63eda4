"""The sources of public data sets: against kept answers of MindSpore 2.10, and what holds for every source."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from sample_files import SAMPLES
from source_cases import CASES, answer, given_all, written

import mindspore.dataset as ds

KEPT = json.loads(Path(__file__).with_name("answers.json").read_text())

# Where ours is meant to differ.
LINES = "2.10 keeps carriage returns and byte order marks in lines"
WHOLE = "2.10 gives the last line of a review alone"
META = "2.10 names the column _meta-filename but gives it only after a rename"
DIFFERENT = {
    "TextFileDataset-0": LINES,
    "TextFileDataset-1": LINES,
    "TextFileDataset-2": LINES,
    **{f"IMDBDataset-{n}": WHOLE for n in range(4)},
    "QMnistDataset-2": "2.10 wants all 10 000 images in the file",
    "ImageFolderDataset-0": "2.10 takes .DS_Store for a picture",
    "ImageFolderDataset-1": "2.10 takes .DS_Store for a picture",
    **{f"CocoDataset-{task}-extra": META for task in ("Detection", "Stuff", "Keypoint", "Panoptic", "Captioning")},
    "VOCDataset-5": META,
    **{f"TedliumDataset-{n}": "2.10 gives silence" for n in range(6)},
}  # fmt: skip


@pytest.fixture(scope="module")
def folder_of(tmp_path_factory):
    """The folder of a sample, made once."""
    made: dict[str, Path] = {}

    def get(sample: str) -> Path:
        if sample not in made:
            made[sample] = tmp_path_factory.mktemp(sample)
            SAMPLES[sample](made[sample])
        return made[sample]

    return get


def needs_pillow(case: str) -> None:
    if CASES[case][2].get("decode"):
        pytest.importorskip("PIL")


@pytest.mark.parametrize("case", [case for case in CASES if case not in DIFFERENT])
def test_the_answer_is_that_of_mindspore(case, folder_of):
    needs_pillow(case)
    ours, theirs = answer(ds, case, folder_of(CASES[case][0])), KEPT[case]
    assert ("raises" in ours) == ("raises" in theirs), (ours, theirs)
    if "raises" in theirs:
        return
    assert ours["columns"] == theirs["columns"]
    assert ours["size"] == theirs["size"]
    assert theirs["classes"] is None or ours["classes"] == theirs["classes"]
    # The rows of several files alternate there; and folders are listed in no order.
    assert sorted(map(str, ours["rows"])) == sorted(map(str, theirs["rows"]))


@pytest.mark.parametrize("case", DIFFERENT)
def test_what_is_meant_to_differ_does(case, folder_of):
    needs_pillow(case)
    ours = answer(ds, case, folder_of(CASES[case][0]))
    assert "raises" not in ours, ours
    assert ours != KEPT[case]


def rows(data) -> list[str]:
    return [
        str([written(v) for v in row])
        for row in data.create_tuple_iterator(None, 1, output_numpy=True)
    ]


FIRST = [
    case
    for number, case in enumerate(CASES)
    if "raises" not in KEPT[case]
    and CASES[case][1] not in [CASES[c][1] for c in list(CASES)[:number] if "raises" not in KEPT[c]]
]


@pytest.mark.parametrize("case", FIRST)
def test_what_holds_for_every_source(case, folder_of):
    """Workers change nothing, a position is taken up again, and shards share the rows among them."""
    sample, kind, arguments = CASES[case]
    needs_pillow(case)

    def build(**more):
        return getattr(ds, kind)(**given_all(arguments, folder_of(sample)), **more)

    ds.config.set_seed(3)
    expected = rows(build())
    plain = rows(build(shuffle=False))
    assert sorted(expected) == sorted(plain)
    for workers in (1, 3):
        assert rows(build(num_parallel_workers=workers)) == expected
    ds.config.set_debug_mode(True)
    assert rows(build()) == expected
    ds.config.set_debug_mode(False)
    data = build()
    iterator = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    first = str([written(v) for v in next(iterator)])
    again = build()
    ds.config.set_seed(4)
    again.restore(data.state())
    assert [first, *rows(again)] == expected
    shards = [rows(build(num_shards=2, shard_id=shard, shuffle=False)) for shard in (0, 1)]
    assert {row for shard in shards for row in shard} == set(plain)
    assert len(shards[0]) == len(shards[1]) == -(-len(plain) // 2)
    assert len(rows(build(num_samples=1))) == 1


@pytest.mark.parametrize("case", FIRST)
def test_wrong_arguments_of_every_source(case, folder_of):
    sample, kind, arguments = CASES[case]

    def build(**more):
        return getattr(ds, kind)(**{**given_all(arguments, folder_of(sample)), **more})

    for wrong, error in (
        ({"num_samples": -1}, ValueError),
        ({"num_samples": "1"}, TypeError),
        ({"shuffle": 3}, TypeError),
        ({"num_shards": 2}, ValueError),
        ({"num_shards": 2, "shard_id": 2}, ValueError),
        ({"num_parallel_workers": 0}, ValueError),
    ):
        with pytest.raises(error, match=f"For '{kind}'"):
            build(**wrong)
    name = next(n for n in ("dataset_dir", "dataset_files", "dataset_file") if n in arguments)
    with pytest.raises(ValueError, match=f"For '{kind}'.*nowhere"):
        build(**{name: "/nowhere"})
    with pytest.raises(TypeError, match=name):
        build(**{name: 3})
    if "usage" in arguments:
        with pytest.raises(ValueError, match=r"/nothing\.txt|usage must be one of"):
            build(usage="nothing")


def test_a_line_that_is_not_text_names_file_and_row(tmp_path):
    (tmp_path / "a.txt").write_bytes(b"fine\nK\xe4se\n")
    data = ds.TextFileDataset(str(tmp_path / "a.txt"), shuffle=False)
    with pytest.raises(ValueError, match=r"a\.txt', row 2, must be text in UTF-8"):
        rows(data)
    (tmp_path / "b.csv").write_bytes(b'1,"a\n2,b\n')
    with pytest.raises(RuntimeError, match=r"b\.csv' must end each quoted text"):
        ds.CSVDataset(str(tmp_path / "b.csv"), column_names=["i", "s"])
    (tmp_path / "c.csv").write_bytes(b"\xef\xbb\xbfi,s\r\n1,x\r\n")
    data = ds.CSVDataset(str(tmp_path / "c.csv"), shuffle=False, column_defaults=[1, ""])
    assert data.get_col_names() == ["i", "s"]
    assert rows(data) == ["[['int32', [], ['1']], ['U', [], 'x']]"]
    (tmp_path / "d.csv").write_bytes(b"1,x\n99999999999,y\n")
    data = ds.CSVDataset(str(tmp_path / "d.csv"), ",", [1, ""], ["i", "s"], shuffle=False)
    with pytest.raises(RuntimeError, match=r"d\.csv', row 2, must have an int32 in column 0"):
        rows(data)


def test_names_that_are_no_text_capitals_links_and_empty_classes(tmp_path):
    from sample_parts import png

    other = tmp_path / "other"
    other.mkdir()
    (other / "linked.png").write_bytes(png(1))
    root = tmp_path / "root"
    (root / "empty").mkdir(parents=True)
    (root / "ö").mkdir()
    Path(str(root) + "/ö/\udcff.PNG").write_bytes(png(2))
    (root / "ö" / ".hidden.png").write_bytes(b"")
    (root / "z").symlink_to(other)
    data = ds.ImageFolderDataset(str(root), shuffle=False)
    assert data.get_class_indexing() == {"empty": 0, "z": 1, "ö": 2}
    labels = [int(row["label"]) for row in data.create_dict_iterator(1, output_numpy=True)]
    assert labels == [1, 2]


def test_files_that_go_away_and_sounds_that_are_none(tmp_path):
    SAMPLES["yes_no"](tmp_path)
    data = ds.YesNoDataset(str(tmp_path), shuffle=False)
    path = tmp_path / "0_1_0_1_1_0_0_1.wav"
    whole = path.read_bytes()
    for content, says in (
        (whole[:-1], "fewer samples"),
        (whole[:30], "cut short"),
        (whole[:36], "none of its samples"),
        (b"MP3", "another head"),
        (whole[:20] + b"\x55" + whole[21:], "not supported"),
    ):
        path.write_bytes(content)
        with pytest.raises(RuntimeError, match=rf"0_1_0_1_1_0_0_1\.wav' must be a WAV.*{says}"):
            rows(data)
    path.unlink()
    with pytest.raises(RuntimeError, match="cannot be read: No such file"):
        rows(data)


def test_random_and_fake_rows():
    schema = ds.Schema()
    schema.add_column("x", "int64", [2])
    schema.add_column("y", "float32", [3])
    schema.add_column("s", "string", [1])
    data = ds.RandomDataset(5, schema, shuffle=False)
    assert (len(data), data.get_col_names()) == (5, ["x", "y", "s"])
    kinds = [(v.dtype.kind, v.shape) for v in next(data.create_tuple_iterator(output_numpy=True))]
    assert kinds == [("i", (2,)), ("f", (3,)), ("U", (1,))]
    assert len(set(rows(data))) == 5
    assert ds.RandomDataset(5, schema, ["y"]).get_col_names() == ["y"]
    images = ds.FakeImageDataset(4, (5, 6, 3), 3, 7, shuffle=False)
    image, label = next(images.create_tuple_iterator(output_numpy=True))
    assert image.shape == (5, 6, 3) and image.dtype == "uint8" and label.dtype == "uint32"
    assert images.num_classes() == 3 and len(images) == 4
    assert rows(images) == rows(ds.FakeImageDataset(4, (5, 6, 3), 3, 7, shuffle=False))
    assert rows(images) != rows(ds.FakeImageDataset(4, (5, 6, 3), 3, 8, shuffle=False))


def test_sun_397(tmp_path):
    SAMPLES["sun397"](tmp_path)
    data = ds.SUN397Dataset(str(tmp_path), shuffle=False)
    assert data.num_classes() == 3
    labels = [int(row["label"]) for row in data.create_dict_iterator(1, output_numpy=True)]
    assert labels == [0, 1, 2]
