"""The safetensors format: round trips, what other programs read and write, damage, hostile files."""

from __future__ import annotations

import itertools
import json
import random
import resource
import struct

import numpy as np
import pytest
import safetensors
import safetensors.numpy
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

from mindspore import Tensor, _core
from mindspore.train import _safetensors


def save(path, items=None):
    _safetensors.write(str(path), entries() if items is None else items)
    return path


def load(path, choose=None):
    return _safetensors.read(str(path), choose)


def head_of(content: bytes) -> tuple[int, dict]:
    (length,) = struct.unpack("<Q", content[:8])
    return length, json.loads(content[8 : 8 + length])


def handmade(head: object, data: bytes = b"") -> bytes:
    text = head if isinstance(head, bytes) else json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + data


def place(dtype="F32", shape=(1,), offsets=(0, 4)) -> dict:
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def test_round_trip(tmp_path):
    items, checked = load(save(tmp_path / "a.safetensors"))
    assert checked
    assert as_values(items) == expected()
    assert load(save(tmp_path / "b.safetensors", [])) == ([], True)


def test_the_head_is_aligned_and_its_padding_is_spaces(tmp_path):
    for extra in range(8):
        content = save(tmp_path / "a.safetensors", [("n" * extra, entries()[0][1])]).read_bytes()
        length, _ = head_of(content)
        assert length % 8 == 0
        text = content[8 : 8 + length]
        assert set(text[len(text.rstrip(b" ")) :]) <= {32} and text.rstrip(b" ").endswith(b"}")


def test_the_package_reads_our_files(tmp_path):
    path = save(tmp_path / "a.safetensors", [item for item in entries() if item[0] != "brain"])
    loaded = safetensors.numpy.load_file(path)
    for name, value in entries():
        if name not in ("brain", "note"):
            np.testing.assert_array_equal(loaded[name], value.asnumpy())
            assert loaded[name].shape == value.shape
    with safetensors.safe_open(path, framework="np") as file:
        assert file.metadata()["note"] == "größer"


def test_we_read_files_of_the_package(tmp_path):
    path = tmp_path / "a.safetensors"
    arrays = {
        name: value.asnumpy()
        for name, value in entries()
        if not isinstance(value, bytes) and name != "brain"
    }
    safetensors.numpy.save_file(arrays, path, metadata={"format": "np", "who": "another program"})
    items, checked = load(path)
    assert not checked
    assert as_values(items) == {name: expected()[name] for name in arrays}


def test_files_of_mindspore(golden):
    items, checked = load(golden / "mindspore_2_10.safetensors")
    assert not checked
    assert {name: value.tolist() for name, value in items} == {
        "long": [7],
        "matrix": [[0, 1, 2], [3, 4, 5]],
    }


def test_files_of_earlier_releases(golden, tmp_path):
    content = (golden / "first_layout.safetensors").read_bytes()
    items, checked = load(golden / "first_layout.safetensors")
    assert checked and as_values(items) == as_values(first_layout())
    path = tmp_path / "b.safetensors"
    length, _ = head_of(content)
    for _ in flips(path, content, ((i, i % 8) for i in range(8 + length, len(content)))):
        with pytest.raises(ValueError, match="damaged"):
            load(path)


# Damage


def test_every_flipped_bit_is_found(tmp_path):
    """In the length, the head, its padding and the tensors; names with quotes and backslashes too."""
    names = ['"', "\\", "L", "}", "t.L\\"]
    items = [*entries(), *((name, Tensor(np.zeros(1, np.int8))) for name in names)]
    content = save(tmp_path / "a.safetensors", items).read_bytes()
    path = tmp_path / "b.safetensors"
    for _ in flips(path, content, all_bits(content)):
        with pytest.raises(ValueError, match=r"b\.safetensors'.* damaged"):
            load(path)


@pytest.mark.parametrize("name", ["mindspore_crc32c", "mindspore_crc32c_head", "__metadata__"])
def test_every_flipped_bit_is_found_without_tensors(tmp_path, name):
    """Where names beside the sums are as close to theirs as can be."""
    path = tmp_path / "b.safetensors"
    for at, bit in itertools.product((0, 9, len(name) - 1), (0, 1)):
        near = name[:at] + chr(ord(name[at]) ^ 1 << bit) + name[at + 1 :]
        items = [(near, "note".encode("utf-32-le"))]
        content = save(tmp_path / "a.safetensors", items).read_bytes()
        for _ in flips(path, content, all_bits(content)):
            with pytest.raises(ValueError, match="damaged"):
                load(path)


def test_flipped_bits_in_a_larger_file(tmp_path):
    rng = random.Random(3)
    items = [(f"layer{i}.weight", Tensor(np.full((300, 40 + i), i, np.float32))) for i in range(40)]
    content = save(tmp_path / "a.safetensors", items).read_bytes()
    assert len(content) > 2_500_000  # more than one block of the reader
    length, _ = head_of(content)
    path = tmp_path / "b.safetensors"
    places = [rng.randrange(8 + length) for _ in range(100)]
    places += [rng.randrange(len(content)) for _ in range(200)]
    for _ in flips(path, content, ((place, rng.randrange(8)) for place in places)):
        with pytest.raises(ValueError, match="damaged"):
            load(path)
        with pytest.raises(ValueError, match="damaged"):
            load(path, lambda name: name == "layer7.weight")


def test_every_cut_is_found(tmp_path):
    content = save(tmp_path / "a.safetensors").read_bytes()
    path = tmp_path / "b.safetensors"
    for size in range(len(content)):
        overwrite(path, content[:size])
        with pytest.raises(ValueError, match="damaged"):
            load(path)
    path.write_bytes(content + b"\0")
    with pytest.raises(ValueError, match="damaged"):
        load(path)


@pytest.mark.parametrize("count", [3000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_mutants(tmp_path, count):
    content = save(tmp_path / "a.safetensors").read_bytes()
    path = tmp_path / "b.safetensors"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for data in mutants(content, count, seed=11):
        overwrite(path, data)
        with pytest.raises(ValueError, match=r"b\.safetensors"):
            load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


def test_mutants_of_files_without_checksums_never_crash(tmp_path, golden):
    content = (golden / "mindspore_2_10.safetensors").read_bytes()
    path = tmp_path / "b.safetensors"
    for data in mutants(content, 1500, seed=7):
        overwrite(path, data)
        try:
            load(path)
        except ValueError as error:
            assert "b.safetensors" in str(error)


def test_sums_that_another_program_copied_are_an_error(tmp_path):
    """They are those of another file."""
    path = save(tmp_path / "a.safetensors", entries()[:2])
    with safetensors.safe_open(path, framework="np") as file:
        notes = file.metadata()
    safetensors.numpy.save_file({"x": np.ones(3)}, path, metadata=notes)
    with pytest.raises(ValueError, match="checksum"):
        load(path)


HOSTILE = {
    "empty": (b"", "needs 8 bytes"),
    "length alone": (struct.pack("<Q", 0), "no JSON text"),
    "endless head": (struct.pack("<Q", 1 << 63), "longer than the file"),
    "no JSON": (handmade(b"abc"), "no JSON text"),
    "deep JSON": (handmade(b"[" * 100_000), "no JSON text"),
    "no UTF-8": (handmade(b'{"\xff": 1}'), "no JSON text"),
    "half a character": (handmade(b'{"\\ud800": {}}'), "half a character"),
    "a list": (handmade([1]), "no JSON object"),
    "notes are numbers": (handmade({"__metadata__": {"a": 1}}), "metadata must be text"),
    "a name twice": (handmade(b'{"a": {}, "a": {}}'), "occurs twice"),
    "no offsets": (handmade({"w": {"dtype": "F32", "shape": [1]}}), "no valid offsets"),
    "offsets backwards": (handmade({"w": place(offsets=(4, 0))}, b"abcd"), "do not fit"),
    "a hole": (handmade({"w": place(offsets=(4, 8))}, b"abcdabcd"), "do not fit"),
    "an overlap": (handmade({"v": place(), "w": place(offsets=(2, 6))}, b"abcdef"), "do not fit"),
    "beyond the end": (handmade({"w": place(shape=[2], offsets=(0, 8))}, b"abcd"), "do not fit"),
    "bytes of nobody": (handmade({"w": place()}, b"abcdef"), "belong to no tensor"),
    "negative extent": (handmade({"w": place(shape=[-1])}, b"abcd"), "no valid type or shape"),
    "huge extents": (handmade({"w": place(shape=[1 << 62] * 3)}, b"abcd"), "do not fit"),
    "huge and empty": (handmade({"w": place(shape=[0, 1 << 62], offsets=(0, 0))}), "shape of 'w'"),
    "endless extent": (handmade({"w": place(shape=[1 << 70])}, b"abcd"), "no valid type or shape"),
    "true extent": (handmade({"w": place(shape=[True])}, b"abcd"), "no valid type or shape"),
    "nine axes": (handmade({"w": place(shape=[1] * 9)}, b"abcd"), "shape of 'w'"),
    "type is a list": (handmade({"w": place(dtype=[])}, b"abcd"), "no valid type or shape"),
    "unknown type": (handmade({"w": place(dtype="F8_E4M3")}, b"abcd"), "has the type 'F8_E4M3'"),
    "bool 7": (handmade({"w": place("BOOL", [1], (0, 1))}, b"\x07"), "neither 0 nor 1"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(tmp_path, name):
    content, says = HOSTILE[name]
    refuses(load, tmp_path / "b.safetensors", content, says)


def test_special_files(tmp_path):
    for path in (tmp_path, "/dev/zero"):
        with pytest.raises(ValueError, match="not a regular file"):
            load(path)
    with pytest.raises(FileNotFoundError, match=r"none\.safetensors'.*errno 2"):
        load(tmp_path / "none.safetensors")


@pytest.mark.parametrize(
    ("items", "says"),
    [
        ([("a", Tensor(1)), ("a", Tensor(2))], "every name may occur once, but got 'a' twice"),
        ([("a", Tensor(1)), ("a", b"")], "every name may occur once"),
        ([("mindspore_crc32c", b"")], "use the name 'mindspore_crc32c' themselves"),
        ([("__metadata__", Tensor(1))], "use the name '__metadata__' themselves"),
        ([("z", Tensor(np.array([1j])))], "cannot hold 'z' of type Complex128"),
        ([("n" * 100_000_001, Tensor(1))], "must fit into 100000000 bytes"),
    ],
)
def test_what_cannot_be_written(tmp_path, items, says):
    with pytest.raises(ValueError, match=says):
        save(tmp_path / "a.safetensors", items)
    assert list(tmp_path.iterdir()) == []


def test_only_what_is_chosen_is_kept(tmp_path):
    asked = []
    kept, checked = load(
        save(tmp_path / "a.safetensors"), lambda n: asked.append(n) or n in ("mask", "note")
    )
    assert asked == [name for name, _ in entries()] and checked
    assert as_values(kept) == {name: expected()[name] for name in ("mask", "note")}


def test_a_writer_that_is_left_leaves_nothing(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    with pytest.raises(ZeroDivisionError), _core.io.Writer(str(path)) as file:
        file.write(b"new")
        1 / 0
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]
