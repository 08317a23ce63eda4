"""Converters to MindRecord, from files made here; their rows, and damaged sources."""

from __future__ import annotations

import gzip
import pickle
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mindspore import _core, mindrecord
from mindspore.mindrecord import FileReader


def read(path) -> list[dict]:
    return list(FileReader(str(path)).get_next())


# ---- CSV
def test_csv(tmp_path):
    source = tmp_path / "a.csv"
    source.write_bytes('\ufeffid,name,score\r\n1,"bob, the\n first",2.5\r\n-2,é,3\r\n'.encode())
    mindrecord.CsvToMR(str(source), str(tmp_path / "out")).transform()
    assert read(tmp_path / "out") == [
        {"id": 1, "name": "bob, the\n first", "score": 2.5},
        {"id": -2, "name": "é", "score": 3.0},
    ]
    mindrecord.CsvToMR(str(source), str(tmp_path / "two"), ["name"], 2).transform()
    assert FileReader(str(tmp_path / "two0")).schema() == {"name": {"type": "string"}}
    assert len(read(tmp_path / "two1")) == 2


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "must start with a line of distinct names"),
        ("a,a\n1,2\n", "must start with a line of distinct names"),
        ("a,b\n1,2\n3\n", "line 3 of .* must have 2 values, but got 1"),
    ],
)
def test_wrong_csv(tmp_path, text, says):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(ValueError, match=says):
        mindrecord.CsvToMR(str(tmp_path / "a.csv"), str(tmp_path / "out")).transform()
    assert [p.name for p in tmp_path.iterdir()] == ["a.csv"]


# ---- TFRecord
@dataclass
class Feature:
    """As tf.io.FixedLenFeature has it."""

    shape: list[int]
    dtype: str
    default_value: Any = None


def varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    out = b""
    while value > 0x7F:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def message(*fields: tuple[int, bytes]) -> bytes:
    return b"".join(bytes([number << 3 | 2]) + varint(len(c)) + c for number, c in fields)


def example(**features: bytes) -> bytes:
    entries = [message((1, name.encode()), (2, value)) for name, value in features.items()]
    return message((1, message(*((1, entry) for entry in entries))))


def tf_record(*records: bytes) -> bytes:
    def summed(content: bytes) -> bytes:
        crc = _core.io.crc32c(content)
        return content + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    return b"".join(summed(struct.pack("<Q", len(r))) + summed(r) for r in records)


def row(number: int) -> bytes:
    return example(
        label=message((3, message((1, varint(number))))),
        pixels=message((2, message((1, struct.pack("<3f", number, 0.5, -1))))),
        text=message((1, message((1, f"größe {number}".encode())))),
        raw=message((1, message((1, bytes([number % 256, 0]))))),
    )


FEATURES = {
    "label": Feature([], "int64"),
    "pixels": Feature([3], "float32"),
    "text": Feature([], "string"),
    "raw": Feature([1], "string"),
}


def test_tf_record(tmp_path):
    source = tmp_path / "a.tfrecord"
    source.write_bytes(tf_record(row(5), row(-7)))
    mindrecord.TFRecordToMR(str(source), str(tmp_path / "out"), FEATURES, ["raw"]).transform()
    found = read(tmp_path / "out")
    assert [r["label"] for r in found] == [5, -7]
    assert [r["text"] for r in found] == ["größe 5", "größe -7"]
    assert [r["raw"] for r in found] == [b"\5\0", bytes([249, 0])]
    assert [r["pixels"].tolist() for r in found] == [[5, 0.5, -1], [-7, 0.5, -1]]


def test_damaged_tf_records_are_errors(tmp_path):
    content = tf_record(row(1), row(2))
    source = tmp_path / "a.tfrecord"
    for at in range(len(content)):
        for damaged in (
            content[:at],
            content[:at] + bytes([content[at] ^ 4]) + content[at + 1 :],
        ):
            source.write_bytes(damaged)
            rows = mindrecord.TFRecordToMR(str(source), str(tmp_path / "out"), FEATURES, ["raw"])
            if damaged in (b"", tf_record(row(1))):
                continue
            with pytest.raises(ValueError, match="is damaged before"):
                list(rows.tfrecord_iterator())


def test_records_that_are_other_things(tmp_path):
    source = tmp_path / "a.tfrecord"
    for record, says in (
        (b"\xff\xff", "record 0 of .* must be a tf.train.Example"),
        (example(label=message((3, message((1, b"\1\2"))))), "must have .* for 'label'"),
        # A list of no known kind; numbers where messages, and names, must be.
        (example(label=message((4, b""))), "record 0 of .* must be a tf.train.Example"),
        (b"\x08\x01", "record 0 of .* must be a tf.train.Example"),
        (message((1, message((1, b"\x08\x01")))), "record 0 of .* must be a tf.train.Example"),
        (b"", "must have .* for 'label', but has 0 values of type none"),
    ):
        source.write_bytes(tf_record(record))
        with pytest.raises(ValueError, match=says):
            mindrecord.TFRecordToMR(str(source), str(tmp_path / "out"), FEATURES).transform()
    with pytest.raises(ValueError, match="dtype of int64, float32 or string"):
        mindrecord.TFRecordToMR(str(source), "out", {"x": Feature([], "int8")})


# ---- pictures
def idx(array: np.ndarray) -> bytes:
    return b"\0\0\x08" + bytes([array.ndim]) + struct.pack(f">{array.ndim}I", *array.shape)


def picture(content: bytes) -> np.ndarray:
    import io

    from PIL import Image

    return np.asarray(Image.open(io.BytesIO(content)))


def test_mnist(tmp_path):
    pytest.importorskip("PIL")
    images = np.add.outer(np.arange(3) * 50, np.add.outer(np.arange(28), np.arange(28)))
    for part in ("train", "t10k"):
        for name, array in (("images-idx3", images), ("labels-idx1", np.arange(3))):
            content = array.astype(np.uint8)
            path = tmp_path / f"{part}-{name}-ubyte.gz"
            path.write_bytes(gzip.compress(idx(content) + content.tobytes()))
    mindrecord.MnistToMR(str(tmp_path), str(tmp_path / "out")).transform()
    for part in ("train", "test"):
        found = read(tmp_path / f"out_{part}.mindrecord")
        assert [r["label"] for r in found] == [0, 1, 2]
        for row_, image in zip(found, images):
            assert np.abs(picture(row_["data"]).astype(int) - image).max() < 8


def cifar_batch(labels: dict[bytes, list[int]]) -> bytes:
    count = len(next(iter(labels.values())))
    data = np.tile(np.arange(count, dtype=np.uint8)[:, None] * 60, (1, 3072))
    return pickle.dumps({b"data": data, **labels}, 2)


def test_cifar(tmp_path):
    pytest.importorskip("PIL")
    for name in [f"data_batch_{n}" for n in range(1, 6)] + ["test_batch"]:
        (tmp_path / name).write_bytes(cifar_batch({b"labels": [3, 1]}))
    mindrecord.Cifar10ToMR(str(tmp_path), str(tmp_path / "ten")).transform(["label"])
    found = read(tmp_path / "ten")
    assert [(r["id"], r["label"]) for r in found] == [(n, (3, 1)[n % 2]) for n in range(10)]
    assert picture(found[1]["data"]).shape == (32, 32, 3)
    assert abs(int(picture(found[1]["data"]).mean()) - 60) <= 1
    assert len(read(tmp_path / "ten_test")) == 2
    for name in ("train", "test"):
        (tmp_path / name).write_bytes(cifar_batch({b"fine_labels": [7], b"coarse_labels": [2]}))
    mindrecord.Cifar100ToMR(str(tmp_path), str(tmp_path / "hundred")).transform()
    [found_row] = read(tmp_path / "hundred_test")
    assert (found_row["fine_label"], found_row["coarse_label"]) == (7, 2)


class Evil:
    def __reduce__(self):
        return (Path.touch, (Path("canary"),))


@pytest.mark.parametrize(
    "content",
    [pickle.dumps(Evil()), b"", b"\x80\x02.", pickle.dumps({b"data": 5, b"labels": [1]})],
)
def test_pickles_that_are_no_batches(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    for number in range(1, 6):
        (tmp_path / f"data_batch_{number}").write_bytes(content)
    with pytest.raises(ValueError, match=r"CIFAR's Python version|must have uint8 pictures"):
        mindrecord.Cifar10ToMR(str(tmp_path), str(tmp_path / "out")).transform()
    assert not (tmp_path / "canary").exists()


def test_image_folders(tmp_path):
    for name in ("n01/b.jpg", "n01/a.JPEG", "n02/c.png", "n02/readme.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    map_file = tmp_path / "map.txt"
    map_file.write_text("n01 0\n\nn02 7\n")
    mindrecord.ImageNetToMR(str(map_file), str(tmp_path), str(tmp_path / "out")).transform()
    found = read(tmp_path / "out")
    assert [(r["label"], r["image"]) for r in found] == [
        (0, b"n01/a.JPEG"),
        (0, b"n01/b.jpg"),
        (7, b"n02/c.png"),
    ]
    assert found[0]["file_name"] == str(tmp_path / "n01/a.JPEG")
    map_file.write_text("n01 0\nn01 1\n")
    with pytest.raises(ValueError, match=r"line 2 of .* must be a folder that is new"):
        mindrecord.ImageNetToMR(str(map_file), str(tmp_path), str(tmp_path / "x")).transform()
    map_file.write_text("n09 0\n")
    with pytest.raises(mindrecord.PathNotExistsError, match="must name folders"):
        mindrecord.ImageNetToMR(str(map_file), str(tmp_path), str(tmp_path / "y")).transform()
