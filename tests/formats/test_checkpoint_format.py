"""The checkpoint format below the public functions: round trips, damage, hostile and old files."""

from __future__ import annotations

import os
import resource
import struct

import numpy as np
import pytest
from filelib import (
    all_bits,
    as_values,
    entries,
    expected,
    first_layout,
    flips,
    mutants,
    overwrite,
    refuses,
)

from mindspore import _core

io = _core.io


def save(path, items=None, **options):
    io.save_checkpoint(str(path), entries() if items is None else items, **options)
    return path


def load(path):
    return io.load_checkpoint(str(path))


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def plain_value(name: bytes, dims: list[int], dtype: bytes, content: bytes) -> bytes:
    """An entry as MindSpore writes it: no checksum."""
    shape = b"".join(b"\x08" + varint(d & (1 << 64) - 1) for d in dims)
    return field(1, field(1, name) + field(2, shape + field(2, dtype) + field(3, content)))


@pytest.mark.parametrize("native", [False, True])
@pytest.mark.parametrize("slice_bytes", [1 << 29, 8, 5])
def test_round_trip(tmp_path, native, slice_bytes):
    tensors, checked = load(save(tmp_path / "a.ckpt", native_crc=native, slice_bytes=slice_bytes))
    assert checked
    assert as_values(tensors) == expected()


def test_loaded_arrays_are_aligned_and_writable(tmp_path):
    for _, value in load(save(tmp_path / "a.ckpt"))[0]:
        if isinstance(value, bytes):
            continue
        array = value.asnumpy()
        assert array.ctypes.data % 64 == 0 or array.size == 0
        assert array.flags.writeable


def test_only_what_is_chosen_is_kept_but_all_is_checked(tmp_path):
    path = save(tmp_path / "a.ckpt", slice_bytes=8)
    asked = []
    kept, checked = io.load_checkpoint(
        str(path), lambda n: asked.append(n) or n in ("mask", "note")
    )
    assert asked == [item[0] for item in entries()] and checked
    assert as_values(kept) == {name: expected()[name] for name in ("mask", "note")}
    content = bytearray(path.read_bytes())
    content[content.index(struct.pack("<d", np.pi))] ^= 1
    path.write_bytes(content)
    with pytest.raises(ValueError, match="the checksum of 'scalar'"):
        io.load_checkpoint(str(path), lambda name: name == "mask")
    with pytest.raises(ZeroDivisionError):
        io.load_checkpoint(str(path), lambda name: 1 / 0)


def test_no_tensors(tmp_path):
    assert load(save(tmp_path / "a.ckpt", [])) == ([], True)


def test_name_twice_is_refused(tmp_path):
    item = entries()[0]
    with pytest.raises(ValueError, match=r"every name may occur once.*layer\.weight"):
        save(tmp_path / "a.ckpt", [item, item])
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("native", [False, True])
def test_every_flipped_bit_is_found(tmp_path, native):
    items = entries()[:4]
    content = save(tmp_path / "a.ckpt", items, native_crc=native).read_bytes()
    path = tmp_path / "b.ckpt"
    for _ in flips(path, content, all_bits(content)):
        with pytest.raises(ValueError, match=r"b\.ckpt' is damaged at byte \d+"):
            load(path)


def test_every_cut_is_found(tmp_path):
    content = save(tmp_path / "a.ckpt").read_bytes()
    path = tmp_path / "b.ckpt"
    for size in range(len(content)):
        overwrite(path, content[:size])
        with pytest.raises(ValueError, match="damaged at byte"):
            load(path)


@pytest.mark.parametrize("count", [1500, pytest.param(10_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("native", [False, True])
def test_mutants(tmp_path, native, count):
    content = save(tmp_path / "a.ckpt", native_crc=native).read_bytes()
    path = tmp_path / "b.ckpt"
    silent, before = 0, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for data in mutants(content, count, seed=int(native)):
        overwrite(path, data)
        try:
            tensors, _ = load(path)
        except ValueError as error:
            assert "b.ckpt" in str(error)
        else:
            silent += as_values(tensors) != expected()
    assert silent == 0
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_mutants_of_files_without_checksums_never_crash(tmp_path, golden):
    content = (golden / "mindspore_2_10.ckpt").read_bytes()
    path = tmp_path / "b.ckpt"
    for data in mutants(content, 1500, seed=7):
        overwrite(path, data)
        try:
            load(path)
        except ValueError as error:
            assert "b.ckpt" in str(error)


def test_damage_names_the_tensor(tmp_path):
    content = bytearray(save(tmp_path / "a.ckpt").read_bytes())
    content[content.index(struct.pack("<d", np.pi))] ^= 1
    (tmp_path / "b.ckpt").write_bytes(content)
    with pytest.raises(ValueError, match=r"the checksum of 'scalar' must be \w{8}, but got \w{8}"):
        load(tmp_path / "b.ckpt")


HOSTILE = {
    "empty": (b"", "it is empty"),
    "pickle": (b"\x80\x04\x95\x0b\0\0\0\0\0\0\0\x8c\x02os\x94\x93.", "no field"),
    "zeros": (b"\0" * 100, "no field 0"),
    "long length": (field(1, b"")[:1] + varint(1 << 62), "bytes long"),
    "endless varint": (b"\x0a" + b"\xff" * 20, "longer than 64 bits"),
    "no name": (field(1, field(2, b"")), "must begin with its name"),
    "no tensor": (field(1, field(1, b"w") + field(3, b"")), "must hold a tensor"),
    "no type": (field(1, field(1, b"w") + field(2, field(3, b"abcd"))), "must have a type"),
    "unknown type": (plain_value(b"w", [1], b"Object", b"abcd"), "unknown type 'Object'"),
    "negative extent": (plain_value(b"w", [-1], b"Float32", b"abcd"), "shape of 'w' is not valid"),
    "huge extent": (plain_value(b"w", [1 << 40], b"Float32", b"abcd"), "larger than the file"),
    "overflowing extents": (
        plain_value(b"w", [1 << 32, 1 << 32, 1 << 32], b"Float32", b"abcd"),
        "shape of 'w' is not valid: .*too many elements",
    ),
    "too little content": (plain_value(b"w", [2], b"Float32", b"abcd"), "must have 8 bytes"),
    "too much content": (plain_value(b"w", [1], b"Float32", b"abcdefgh"), "must have 4 bytes"),
    "too many axes": (
        plain_value(b"w", [1] * 40, b"Float32", b"abcd"),
        "shape of 'w' is not valid",
    ),
    "twice": (plain_value(b"w", [1], b"Float32", b"abcd") * 2, "'w' occurs twice"),
    "bool 7": (plain_value(b"w", [1], b"Bool", b"\x07"), "neither 0 nor 1"),
    "odd text": (plain_value(b"w", [0], b"str", b"abc"), "multiple of 4"),
    "unknown field": (field(9, b"abc"), "no field 9"),
    "long name": (plain_value(b"n" * 70000, [1], b"Float32", b"abcd"), "at most 65536"),
    "many empty": (plain_value(b"w", [0, 1 << 46], b"Float32", b"") + b"\x0a", "next field"),
    "too many empty": (plain_value(b"w", [0, 1 << 62], b"Float32", b""), "too many elements"),
    "nine axes": (plain_value(b"w", [1] * 9, b"Float32", b"abcd"), "shape of 'w' is not"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(tmp_path, name):
    content, says = HOSTILE[name]
    refuses(load, tmp_path / "b.ckpt", content, says)


def test_special_files(tmp_path):
    os.mkfifo(tmp_path / "pipe.ckpt")
    os.symlink("/dev/zero", tmp_path / "zero.ckpt")
    for path in (tmp_path / "pipe.ckpt", tmp_path / "zero.ckpt", tmp_path):
        with pytest.raises(ValueError, match="not a regular file"):
            load(path)
    with pytest.raises(OSError, match=r"none\.ckpt'.*errno 2"):
        load(tmp_path / "none.ckpt")


@pytest.mark.parametrize(
    ("name", "checked"), [("mindspore_2_10", False), ("mindspore_2_10_crc", True)]
)
def test_files_of_mindspore(golden, name, checked):
    tensors, is_checked = load(golden / f"{name}.ckpt")
    assert is_checked == checked
    found = {
        name: value if isinstance(value, bytes) else (str(value.dtype), value.tolist())
        for name, value in tensors
    }
    assert found == {
        "matrix": ("Float32", [[0, 1, 2], [3, 4, 5]]),
        "scalar": ("Float32", 3.5),
        "long": ("Int64", [7]),
        "brain": ("BFloat16", [1.5, -2.5]),
        "flag": ("Bool", [True, False]),
        "double": ("Float64", [np.pi]),
        "byte": ("UInt8", [255]),
        "half": ("Float16", [1.5]),
        "lr": ("Float32", 0.5),
        "epoch": ("Int64", 3),
        "done": ("Bool", True),
        "note": "größer".encode("utf-32-le"),
    }


def test_files_of_earlier_releases(golden):
    tensors, checked = load(golden / "first_layout.ckpt")
    assert checked and as_values(tensors) == as_values(first_layout())


def test_flipped_bits_in_a_checked_file_of_mindspore(tmp_path, golden):
    content = (golden / "mindspore_2_10_crc.ckpt").read_bytes()
    path = tmp_path / "b.ckpt"
    body = len(content) - 17
    for _ in flips(path, content, ((i, i % 8) for i in range(body))):
        with pytest.raises(ValueError, match="damaged"):
            load(path)


def test_crc32c():
    assert io.crc32c(b"123456789") == 0xE3069283
    data = np.random.default_rng(0).bytes(1000)
    for cut in (0, 1, 7, 8, 9, 500, 1000):
        assert io.crc32c(data[cut:], io.crc32c(data[:cut])) == io.crc32c(data)
