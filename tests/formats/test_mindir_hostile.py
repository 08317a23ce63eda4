"""MINDIR files that are damaged or hostile: never a crash, never silently wrong, no memory taken for what is not there."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest
from filelib import all_bits, flips, mutants, overwrite, refuses
from mindirlib import Function, Images, floats

import mindspore as ms
from mindspore import Tensor, _core, nn


def load(path):
    return ms.load(str(path))


@pytest.fixture
def content(tmp_path) -> bytes:
    """A small file with a checksum."""
    net, w = nn.Dense(3, 2, activation="relu"), floats(1, 3)
    ms.export(net, w, file_name=str(tmp_path / "small"), file_format="MINDIR")
    return (tmp_path / "small.mindir").read_bytes()


def test_every_flipped_bit_is_found(tmp_path, content):
    path = tmp_path / "net.mindir"
    for _ in flips(path, content, all_bits(content)):
        with pytest.raises(ValueError):
            _core.mindir.read(str(path))


def test_every_cut_is_found(tmp_path, content):
    path = tmp_path / "net.mindir"
    for size in range(len(content)):
        overwrite(path, content[:size])
        with pytest.raises(ValueError, match="MINDIR file"):
            load(path)


def run(path: Path) -> list:
    """What a file gives, whatever it holds."""
    cell = nn.GraphCell(load(path))
    x = [
        Tensor(np.zeros([3 if s == -1 else s for s in d.shape or ()], np.float32))
        for d in cell.graph.inputs
    ]
    return [t.asnumpy() for t in np.atleast_1d(cell(*x))]


def test_mutants(tmp_path):
    ms.export(Images(), floats(2, 2, 8, 8), file_name=str(tmp_path / "a"), file_format="MINDIR")
    whole, path = (tmp_path / "a.mindir").read_bytes(), tmp_path / "net.mindir"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for damaged in mutants(whole, 3000, 1):
        overwrite(path, damaged)
        with pytest.raises(ValueError):
            load(path)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


@pytest.mark.parametrize("name", ["images", "texts"])
def test_mutants_of_files_without_checksums_never_crash(tmp_path, golden, name):
    """Damage may go unseen there; what is seen is an error of Python's, and nothing is taken for it."""
    whole, path = (golden / f"mindspore_2_10_{name}.mindir").read_bytes(), tmp_path / "net.mindir"
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loaded = 0
    for damaged in mutants(whole, 600, 2):
        overwrite(path, damaged)
        try:
            nn.GraphCell(load(path))
            loaded += 1
        except ValueError:
            continue
    assert loaded > 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 64 * 1024


@pytest.mark.slow
def test_many_mutants(tmp_path, golden):
    ms.export(Images(), floats(2, 2, 8, 8), file_name=str(tmp_path / "a"), file_format="MINDIR")
    path = tmp_path / "net.mindir"
    for damaged in mutants((tmp_path / "a.mindir").read_bytes(), 10_000, 3):
        overwrite(path, damaged)
        with pytest.raises(ValueError):
            load(path)
    for damaged in mutants((golden / "mindspore_2_10_images.mindir").read_bytes(), 10_000, 4):
        overwrite(path, damaged)
        try:
            graph = load(path)
            nn.GraphCell(graph)(floats(2, 2, 8, 8))
        except (ValueError, TypeError, IndexError, RuntimeError, MemoryError):
            continue


def varint(value: int) -> bytes:
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def number(at: int, value: int) -> bytes:
    return varint(at << 3) + varint(value)


def parameter(dims=(2,), kind=1, raw=b"\0" * 8, name=b"g:w") -> bytes:
    sizes = b"".join(number(1, d & (1 << 64) - 1) for d in dims)
    return field(3, sizes + number(2, kind) + field(7, name) + field(9, raw))


def graph(*parts: bytes) -> bytes:
    return field(7, b"".join(parts))


def constant(name: bytes, *value: bytes) -> bytes:
    attribute = field(5, field(1, b"value") + b"".join(value))
    return field(1, field(2, name) + field(4, b"Constant") + attribute)


def node(kind: bytes, output: bytes, *inputs: bytes) -> bytes:
    return field(1, b"".join(field(1, i) for i in inputs) + field(2, output) + field(4, kind))


def primitive(name: bytes, op: bytes, *more: bytes) -> bytes:
    return field(12, field(1, name) + field(2, op) + b"".join(more))


X = field(5, field(1, b"g:x") + field(2, number(1, 2) + number(2, 1)))
RELU = primitive(b"P", b"ReLU", number(5, 2))


def whole(*nodes: bytes, output: bytes = b"y", primitives: bytes = RELU) -> bytes:
    return graph(*nodes, X, field(6, field(1, output))) + primitives


DEEP = b""
for _ in range(200):
    DEEP = field(17, DEEP)
HOSTILE = {
    "empty": (b"", "it is empty"),
    "text": (b"import os\n" * 9, "has no field|pass its end|bytes long"),
    "pickle": (b"\x80\x04cos\nsystem\n(S'true'\ntR.", "MINDIR file"),
    "a length beyond the file": (b"\x3a\xff\xff\xff\xff\x7f", "bytes long, but"),
    "a number without end": (b"\x50" + b"\xff" * 30, "longer than 64 bits"),
    "huge sizes": (graph(parameter((1 << 40, 1 << 40))), "shape of the tensor 'g:w' is not valid|larger than the file"),
    "sizes of nothing": (graph(parameter((-1,))), "shape of the tensor 'g:w' is not valid"),
    "too few elements": (graph(parameter((3,))), "must have 12 bytes, but got 8"),
    "an unknown type": (graph(parameter(kind=99)), "unknown type 99"),
    "a type of no elements": (graph(parameter(kind=8)), "unknown type 8"),
    "many dimensions": (graph(parameter((1,) * 9, raw=b"\0" * 4)), "not valid"),
    "deep": (field(7, field(8, DEEP)), "in each other"),
    "no graph": (field(1, b"1.1"), "it holds no graph"),
    "twice": (field(7, b"") + field(7, b""), "has 'graph' twice"),
    "twice behind a field of many": (field(1, b"1") + field(7, field(1, b"") * 2 + field(2, b"g") + field(1, b"") + field(2, b"g")), "has 'name' twice"),
    "a name twice": (graph(parameter(), parameter(), node(b"REF::P", b"y", b"g:x")), "given twice|two parameters"),
    "no such primitive": (whole(node(b"REF::Q", b"y", b"g:x")), "there is no primitive 'REF::Q'"),
    "an op of nobody": (whole(node(b"REF::P", b"y", b"g:x"), primitives=primitive(b"P", b"PyExecute")), "no op like the primitive 'PyExecute'"),
    "an internal op": (whole(node(b"REF::P", b"y", b"g:x"), primitives=primitive(b"P", b"Recurrence")), "no op like"),
    "read before": (whole(node(b"REF::P", b"y", b"z")), "'z' is read before"),
    "itself": (whole(node(b"REF::P", b"y", b"y")), "'y' is read before"),
    "no output": (whole(node(b"REF::P", b"z", b"g:x")), "'y' is read before"),
    "too many operands": (whole(node(b"REF::P", b"y", b"g:x", b"g:x")), "has 2 arguments, but 1 are known"),
    "no value": (whole(constant(b"c"), node(b"REF::P", b"y", b"c")), "unknown kind 0"),
    "text for a tensor": (whole(constant(b"c", field(5, b"hi"), number(16, 8)), node(b"REF::P", b"y", b"c")), "a str stands where a tensor must be"),
    "a part that is not there": (
        whole(constant(b"c", number(3, 5), number(16, 7)), node(b"REF::T", b"t", b"g:x"), node(b"REF::I", b"y", b"t", b"c"),
              primitives=primitive(b"T", b"MakeTuple") + primitive(b"I", b"TupleGetItem")), "no part 5"),
    "data elsewhere": (graph(field(3, number(1, 2) + number(2, 1) + field(7, b"g:w") + field(12, field(1, b"../../etc/passwd"))), node(b"REF::P", b"y", b"g:x")), "'external_data'"),
    "no UTF-8": (field(1, b"\xff\xfe"), "not valid UTF-8"),
    "an enormous tuple": (field(7, field(1, number(3, 0)[:0]) * 2), "MINDIR file"),
    "fields without end": (field(7, field(1, b"") * 600_000), "more fields than a graph of its size"),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile(tmp_path, name):
    content, says = HOSTILE[name]
    refuses(load, tmp_path / "net.mindir", content, says)


def test_a_file_by_hand_runs(tmp_path):
    path = tmp_path / "net.mindir"
    path.write_bytes(whole(node(b"REF::P", b"y", b"g:x")))
    cell = nn.GraphCell(load(path))
    np.testing.assert_array_equal(cell(Tensor(np.float32([-1, 2]))).asnumpy(), [0, 2])


def test_special_files(tmp_path):
    for name, says in (("folder", "is a folder"), ("link", "is a folder")):
        path = tmp_path / f"{name}.mindir"
        path.mkdir() if name == "folder" else path.symlink_to(tmp_path)
        with pytest.raises(ValueError, match=says):
            load(path)


def test_a_failed_export_leaves_the_old_file(tmp_path, monkeypatch):
    name = str(tmp_path / "net")
    ms.export(nn.Dense(3, 2), floats(1, 3), file_name=name, file_format="MINDIR")
    old = (tmp_path / "net.mindir").read_bytes()
    with pytest.raises(ValueError):
        ms.export(Function(lambda x: {"x": x}), floats(1, 3), file_name=name, file_format="MINDIR")
    assert (tmp_path / "net.mindir").read_bytes() == old
