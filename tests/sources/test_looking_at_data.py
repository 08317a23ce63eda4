"""dataset.doctor() finds each fault that is planted, and nothing else; dataset.preview() shows rows and their spread."""

from __future__ import annotations

import os
import struct
import zlib

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import vision

ROWS = 600


def clean(seed=0, rows=ROWS):
    """Noise with some structure for each of ten classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(rows) % 10
    images = rng.integers(0, 200, (rows, 12, 10, 3)) + 5 * labels[:, None, None, None]
    return images.astype(np.uint8), labels.astype(np.int32)


def dataset(images, labels, **options):
    return ds.NumpySlicesDataset({"image": images, "label": labels}, **options)


def kinds(report):
    return [finding.kind for finding in report.findings]


def test_nothing_is_found_where_nothing_is():
    report = dataset(*clean()).doctor(test=dataset(*clean(1)))
    assert kinds(report) == [] and report.rows == ROWS
    assert "nothing found" in str(report)


def test_copies_and_their_labels():
    images, labels = clean()
    images[50], images[60] = images[10], images[10]
    images[75] = images[16]
    report = dataset(images, labels).doctor()
    assert report.of("duplicates").rows == [10, 50, 60, 16, 75]
    assert "3 rows are copies of others: 10 = 50 = 60, 16 = 75" in str(report)
    assert report.of("contradictions").rows == [16, 75]
    assert "16 = 75 (5, 6)" in report.of("contradictions").text


def test_rows_of_the_test_data():
    images, labels = clean()
    others, other_labels = clean(1, 100)
    others[7], others[8] = images[3], images[9]
    report = dataset(images, labels).doctor(test=dataset(others, other_labels))
    assert kinds(report) == ["leaks"] and report.of("leaks").rows == [3, 9]
    assert "3 = 7, 9 = 8" in report.of("leaks").text
    one, two = dataset(images, labels, shuffle=False).split([500, 100], randomize=False)
    assert kinds(one.doctor(test=two)) == []


def test_labels_that_are_none():
    images, labels = clean()
    labels[33], labels[44] = 77, -1
    report = dataset(images, labels).doctor()
    assert sorted(report.of("labels").rows) == [33, 44] and kinds(report) == ["labels"]
    measures = np.random.default_rng(0).normal(3, 1, ROWS).astype(np.float32)
    measures[5], measures[6] = 4000, np.nan
    report = dataset(images, measures).doctor()
    assert report.of("labels").rows == [5, 6]
    texts = np.array([f"class {label}" for label in clean()[1]])
    texts[9] = "clas 9"
    assert dataset(images, texts).doctor().of("labels").rows == [9]


def test_classes_with_few_rows_or_none(tmp_path):
    images, labels = clean()
    labels[:] = np.where(np.arange(ROWS) % 25 == 0, 1, 0)
    report = dataset(images, labels).doctor()
    assert report.of("imbalance").text == "class 0 has 576 rows, class 1 24"
    for name in ("a", "b", "c"):
        (tmp_path / name).mkdir()
        if name != "b":
            (tmp_path / name / "x.jpg").write_bytes(jpeg(images[ord(name)]))
    assert "no rows are of class 1" in str(ds.ImageFolderDataset(str(tmp_path)).doctor())


def test_rows_unlike_their_class_and_without_end():
    images, labels = clean()
    images[70] = 255
    assert dataset(images, labels).doctor().of("unlike").rows == [70]
    numbers = images.astype(np.float32)
    numbers[8, 0, 0, 0], numbers[9, 1, 1, 1] = np.nan, np.inf
    report = dataset(numbers, labels).doctor()
    assert report.of("not finite").rows == [8, 9]


def jpeg(image):
    return vision.encode_jpeg(image).tobytes()


@pytest.fixture
def folder(tmp_path):
    images, labels = clean(rows=60)
    for number, (image, label) in enumerate(zip(images, labels)):
        where = tmp_path / f"class{label}"
        where.mkdir(exist_ok=True)
        (where / f"{number:03}.jpg").write_bytes(jpeg(image))
    return tmp_path


@pytest.mark.parametrize("decode", [False, True])
def test_files_that_cannot_be_read(folder, decode):
    pytest.importorskip("PIL")
    cut = folder / "class0" / "010.jpg"
    cut.write_bytes(cut.read_bytes()[:200])
    (folder / "class0" / "020.jpg").write_bytes(b"")
    data = ds.ImageFolderDataset(str(folder), decode=decode)
    gone = folder / "class1" / "001.jpg"
    gone.unlink()
    report = data.doctor()
    assert report.of("unreadable").rows == [1, 2, 6]
    for path in (cut, gone, "020.jpg"):
        assert str(path) in report.of("unreadable").text
    assert report.rows == 60


def test_a_stream_ends_at_what_is_damaged():
    def rows():
        yield from ((np.full(20, i), i % 2) for i in range(9))
        raise ValueError("no more")

    report = ds.GeneratorDataset(rows, ["x", "label"]).doctor()
    assert report.of("unreadable").rows == [9]
    assert "no more" in str(report) and "those behind were not looked at" in str(report)


def test_what_is_done_to_rows_is_left_out():
    images, labels = clean()
    images[50] = images[10]
    data = (
        dataset(images, labels, shuffle=True).map(vision.RandomCrop(8), "image").batch(7).repeat(2)
    )
    report = data.doctor()
    assert report.rows == ROWS and report.of("duplicates").rows == [10, 50]
    part = dataset(images, labels, num_shards=3, shard_id=1, shuffle=False).doctor()
    assert part.rows == ROWS // 3 and kinds(part) == []
    assert (
        dataset(images, labels, shuffle=False).filter(lambda i, label: label == 0).doctor().rows
        == 60
    )


def test_a_sample_costs_its_part():
    images, labels = clean(rows=2000)
    images[::2] = images[0]
    data = dataset(images, labels)
    report = data.doctor(sample=100)
    assert (report.rows, report.total) == (100, 2000)
    assert "100 of 2000 rows" in str(report) and "duplicates" in kinds(report)
    assert data.doctor(sample=0.25).rows == 500
    assert [f.rows for f in data.doctor(sample=0.1).findings] == [
        f.rows for f in data.doctor(sample=0.1).findings
    ]


def test_wrong_arguments_of_the_doctor():
    data = dataset(*clean(rows=20))
    for given, error in (
        ({"test": 3}, TypeError),
        ({"sample": 0}, ValueError),
        ({"sample": 1.5}, ValueError),
        ({"sample": "all"}, TypeError),
        ({"label": "none"}, ValueError),
        ({"label": 3}, TypeError),
    ):
        with pytest.raises(error, match="For 'doctor'"):
            data.doctor(**given)


def pixels_in(png):
    """The pixels of a PNG file as written here."""
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    width, height = struct.unpack(">II", png[16:24])
    start = png.index(b"IDAT") + 4
    (size,) = struct.unpack(">I", png[start - 8 : start - 4])
    lines = np.frombuffer(zlib.decompress(png[start : start + size]), np.uint8)
    return lines.reshape(height, 1 + 3 * width)[:, 1:].reshape(height, width, 3)


def test_a_preview_says_what_there_is(tmp_path):
    images, labels = clean()
    columns = {
        "image": images,
        "label": labels,
        "weight": np.linspace(-1, 1, ROWS).astype(np.float32),
        "word": np.array([f"w{i}" for i in range(ROWS)]),
    }
    data = ds.NumpySlicesDataset(columns, shuffle=False)
    shown = data.batch(50).preview(4, rows=100)
    text = str(shown)
    assert "100 rows looked at" in text
    assert "image: uint8 [12, 10, 3], pictures" in text
    assert "10 classes (0: 10, 1: 10" in text
    assert (
        "-1 to " in text and "2 to 3 characters" in text and "'w3'" in text and "'w4'" not in text
    )
    shown.save(str(tmp_path / "a.png"))
    assert os.listdir(tmp_path) == ["a.png"]
    pixels = pixels_in((tmp_path / "a.png").read_bytes())
    assert (pixels == shown.pixels).all() and shown._repr_png_() == shown.png()
    # The first picture, eight times as large as it is.
    assert (pixels[26 : 26 + 96 : 8, 8 : 8 + 80 : 8] == images[0]).all()


def test_a_preview_of_anything(folder):
    pytest.importorskip("PIL")
    (folder / "class0" / "000.jpg").write_bytes(b"\xff\xd8\xff")
    shown = ds.ImageFolderDataset(str(folder), shuffle=False).preview(3)
    assert "files of pictures" in str(shown) and shown.pixels.shape[1] == 720
    columns = {
        "empty": np.zeros((3, 0), np.float32),
        "nan": np.array([np.nan, 1, np.inf]),
        "complex": np.array([1j, 2, 3], np.complex64),
        "flag": np.array([True, False, True]),
        "chw": np.zeros((3, 3, 8, 8), np.float32),
        "bytes": np.array([b"\x00\xff", b"b", b"c"]),
    }
    shown = ds.NumpySlicesDataset(columns).preview(64)
    assert "2 nan or infinite" in str(shown) and "no finite numbers" in str(shown)
    assert shown.png()
    ragged = ds.GeneratorDataset([np.zeros(n) for n in (1, 5, 3)], ["x"]).preview()
    assert "[1..5]" in str(ragged) and ragged.png()
    nested = ds.GeneratorDataset([({"a": 1},)] * 3, ["x"]).preview()
    assert "objects" in str(nested) and nested.png()


def test_wrong_previews(tmp_path):
    data = dataset(*clean(rows=20))
    for given, error in (
        ({"n": 0}, ValueError),
        ({"n": "a"}, TypeError),
        ({"rows": 0}, ValueError),
    ):
        with pytest.raises(error, match="For 'preview'"):
            data.preview(**given)
    with pytest.raises(RuntimeError, match="must have rows"):
        data.filter(lambda image, label: False).preview()
    with pytest.raises(OSError):
        data.preview().save(str(tmp_path / "none" / "a.png"))
    assert os.listdir(tmp_path) == []
