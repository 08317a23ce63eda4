"""TFRecord files: what is in them as columns, shards, and damage of every kind."""

from __future__ import annotations

import gzip
import json
import random
import struct
import zlib

import pytest

import mindspore as ms
import mindspore.dataset as ds


def masked(content: bytes) -> int:
    """The checksum of TFRecord, bit by bit."""
    value = 0xFFFFFFFF
    for byte in content:
        value ^= byte
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
    value ^= 0xFFFFFFFF
    return (((value >> 15) | (value << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def varint(number: int) -> bytes:
    number &= (1 << 64) - 1
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number: int, content: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(content)) + content


def feature(values: list, packed: bool = True) -> bytes:
    if isinstance(values[0], bytes):
        return field(1, b"".join(field(1, v) for v in values))
    if isinstance(values[0], float):
        if packed:
            return field(2, field(1, struct.pack(f"<{len(values)}f", *values)))
        return field(2, b"".join(b"\x0d" + struct.pack("<f", v) for v in values))
    if packed:
        return field(3, field(1, b"".join(map(varint, values))))
    return field(3, b"".join(b"\x08" + varint(v) for v in values))


def record(features: dict, packed: bool = True) -> bytes:
    entries = [field(1, field(1, k.encode()) + field(2, feature(v, packed))) for k, v in features.items()]  # fmt: skip
    content = field(1, b"".join(entries))
    head = struct.pack("<Q", len(content))
    return head + struct.pack("<I", masked(head)) + content + struct.pack("<I", masked(content))


def written(path, rows, packed=True) -> str:
    path.write_bytes(b"".join(record(row, packed) for row in rows))
    return str(path)


@pytest.fixture
def files(tmp_path):
    """Three rows, and two."""
    first = [{"image": [b"abc\0"], "label": [i], "names": [b"x", b"long"], "z": [1.5, 2.5 * i]} for i in range(3)]  # fmt: skip
    second = [{"image": [b"q"], "label": [-7, 8], "names": [b"n"], "z": [0.5]}] * 2
    return written(tmp_path / "a.tfrecord", first), written(tmp_path / "b.tfrecord", second, False)


def rows(data) -> list[dict]:
    return [
        {name: value.tolist() for name, value in row.items()}
        for row in data.create_dict_iterator(num_epochs=1, output_numpy=True)
    ]


def labels(data) -> list:
    return [row["label"] for row in rows(data)]


def test_columns_without_a_schema(files):
    data = ds.TFRecordDataset(list(files), shuffle=False)
    assert data.get_col_names() == ["image", "label", "names", "z"] and len(data) == 5
    assert [t.name for t in data.output_types()] == ["uint8", "int64", "uint8", "float32"]
    found = rows(data)
    assert found[1] == {"image": [97, 98, 99, 0], "label": [1], "names": list(b"x   long"), "z": [1.5, 2.5]}  # fmt: skip
    assert found[3] == {"image": [113], "label": [-7, 8], "names": [110], "z": [0.5]}
    assert ds.TFRecordDataset(files[0], columns_list=["z", "label"]).get_col_names() == ["z", "label"]  # fmt: skip


def test_columns_of_a_schema(files, tmp_path):
    schema = ds.Schema()
    schema.add_column("label", ms.int32, [])
    schema.add_column("image", ms.uint8, [2, -1])
    schema.add_column("names", "string")
    schema.add_column("z", "float64", [2, 1])
    (row, *_) = rows(ds.TFRecordDataset(files[0], schema, shuffle=False))
    assert row == {"label": 0, "image": [[97, 98], [99, 0]], "names": ["x", "long"], "z": [[1.5], [0.0]]}  # fmt: skip
    path = tmp_path / "schema.json"
    content = {"datasetType": "TF", "numRows": 2, "columns": {"label": {"type": "int64", "rank": 1, "shape": [1]}}}  # fmt: skip
    path.write_text(json.dumps(content))
    assert labels(ds.TFRecordDataset(files[0], str(path), shuffle=False)) == [[0], [1]]
    assert json.loads(ds.Schema(str(path)).to_json())["columns"][0] == {"name": "label", "rank": 1, "shape": [1], "type": "int64"}  # fmt: skip


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (("label", "int64", [2]), r"row 1, must have values of the shape \[2\] in the feature 'label'"),
        (("label", "string", [1]), "must hold string in the feature 'label'"),
        (("z", "int32", [2]), "must hold int32 in the feature 'z'"),
        (("image", "int32", [4]), "must hold int32 in the feature 'image'"),
        (("nope", "int32", [1]), "must have the feature 'nope'"),
        (("label", "int64", [-1, 2]), "must have values of the shape"),
    ],
)  # fmt: skip
def test_what_does_not_fit_the_schema(files, column, says):
    schema = ds.Schema()
    schema.add_column(*column)
    with pytest.raises(RuntimeError, match=rf"a\.tfrecord', .*{says}|{says}"):
        rows(ds.TFRecordDataset(files[0], schema, shuffle=False))


def test_shards(files):
    def shard(number, **more):
        return labels(
            ds.TFRecordDataset(
                list(files), None, ["label"], shuffle=False, num_shards=2, shard_id=number, **more
            )
        )

    assert shard(0) == [[0], [1], [2]] and shard(1) == [[-7, 8], [-7, 8]]
    assert shard(1, shard_equal_rows=True) == [[-7, 8], [-7, 8], [0]]
    with pytest.raises(RuntimeError, match="at least num_shards=3 files"):
        ds.TFRecordDataset(list(files), num_shards=3, shard_id=0)


def test_shuffle_levels(files):
    ds.config.set_seed(5)
    by_file = labels(ds.TFRecordDataset(list(files), shuffle=ds.Shuffle.FILES))
    assert [x for x in by_file if len(x) == 1] == [[0], [1], [2]]
    inside = labels(ds.TFRecordDataset(list(files), shuffle=ds.Shuffle.INFILE))
    assert [len(x) for x in inside] == [1, 1, 1, 2, 2]


def test_compressed(files, tmp_path):
    with open(files[0], "rb") as stream:
        content = stream.read()
    for kind, packed in (("GZIP", gzip.compress(content)), ("ZLIB", zlib.compress(content))):
        path = tmp_path / kind
        path.write_bytes(packed)
        assert labels(ds.TFRecordDataset(str(path), compression_type=kind, shuffle=False)) == [[0], [1], [2]]  # fmt: skip
        path.write_bytes(packed[:-6])
        with pytest.raises(RuntimeError, match=f"{kind}' must be {kind}"):
            ds.TFRecordDataset(str(path), compression_type=kind)
    with pytest.raises(ValueError, match="compression_type must be one of"):
        ds.TFRecordDataset(files[0], compression_type="RAR")


def test_every_byte_is_checked(files, tmp_path):
    """A file with one byte changed, or cut short, gives the true rows or an error that names it."""
    with open(files[0], "rb") as stream:
        content = stream.read()
    expected = [[0], [1], [2]]
    draws = random.Random(0)
    path = tmp_path / "mutant"
    for place in sorted(draws.sample(range(len(content)), 60)):
        changed = bytearray(content)
        changed[place] ^= draws.randrange(1, 256)
        path.write_bytes(changed)
        with pytest.raises(RuntimeError, match=r"mutant'.*(damaged|cut short)"):
            labels(ds.TFRecordDataset(str(path), columns_list=["label"], shuffle=False))
        path.write_bytes(content[:place])
        try:
            got = labels(ds.TFRecordDataset(str(path), columns_list=["label"], shuffle=False))
        except (RuntimeError, ValueError):
            continue
        assert got == expected[: len(got)] and place % (len(content) // 3) == 0


def test_examples_that_are_none(tmp_path):
    """With right checksums, but bytes that are no message."""
    draws = random.Random(1)
    path = tmp_path / "wild"
    schema = ds.Schema()
    schema.add_column("a", "int64", [-1])
    good = record({"a": [1, 2, 3]})[12:-4]
    for _ in range(300):
        content = bytearray(good)
        for _ in range(draws.randrange(1, 4)):
            content[draws.randrange(len(content))] = draws.randrange(256)
        head = struct.pack("<Q", len(content))
        path.write_bytes(
            head + struct.pack("<I", masked(head)) + content + struct.pack("<I", masked(content))
        )
        try:
            rows(ds.TFRecordDataset(str(path), schema))
        except (RuntimeError, ValueError) as error:
            assert "wild'" in str(error)


def test_schema_refuses():
    schema = ds.Schema()
    for call, error in (
        (lambda: schema.add_column("c", "bogus"), TypeError),
        (lambda: schema.add_column("c", 3), TypeError),
        (lambda: schema.add_column("", ms.int8), TypeError),
        (lambda: schema.add_column("c", ms.int8, 3), TypeError),
        (lambda: schema.add_column("c", ms.int8, [-2]), ValueError),
        (lambda: schema.parse_columns(3), TypeError),
        (lambda: schema.parse_columns([{"name": "x"}]), RuntimeError),
        (lambda: schema.from_json([1]), TypeError),
        (lambda: schema.from_json({}), RuntimeError),
    ):
        with pytest.raises(error, match="For 'Schema'"):
            call()
    schema.add_column("c", ms.int8)
    with pytest.raises(ValueError, match="must be new"):
        schema.add_column("c", ms.int8)
