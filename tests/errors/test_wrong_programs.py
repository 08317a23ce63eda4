"""Every wrong program raises the right exception, in few lines, with the user's line; nothing crashes, nothing passes silently."""

import importlib
import itertools
import linecache
import re
import sys
import traceback
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn

sys.path.insert(0, str(Path(__file__).parent))
from programlib import PROGRAMS

for topic in sorted(Path(__file__).parent.glob("programs_*.py")):
    importlib.import_module(topic.stem)
CASES = [(p, mode) for p in PROGRAMS for mode in p.modes]


def marked(text):
    """The expression under the marks of a message, or None."""
    for line, marks in itertools.pairwise(text.splitlines()):
        if re.fullmatch(r" +\^+", marks):
            return line[marks.index("^") : len(marks)]
    return None


# What only the values tell.
LATE = "gather_out_of_range_at_run_time gather_out_of_range label_out_of_range operands_at_run_time".split()


@pytest.mark.parametrize("program, mode", CASES, ids=[f"{p.run.__name__}-{m}" for p, m in CASES])
def test_wrong_program(program, mode):
    if program.run.__name__ in LATE and context.get_context("device_target") != context.HOST:
        pytest.skip("a device says it where the host waits, without operands")
    context.set_context(mode=context.GRAPH_MODE if mode == "graph" else context.PYNATIVE_MODE)
    context.set_context(jit_syntax_level=context.STRICT)  # what cannot be compiled is an error
    try:
        with pytest.raises(program.error) as caught:
            program.run()
    finally:
        context.set_context(mode=context.PYNATIVE_MODE, jit_syntax_level=context.LAX)
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    by_core = mode == "graph" or marked(text)  # else Python's traceback marks the expression
    noted = by_core or sys.version_info >= (3, 11)
    for words in program.says + (program.operands if noted else []):
        assert words in text, text
    assert len(text.splitlines()) <= 12, text
    assert ".cc:" not in text and "internal error" not in text, text
    if mode == "graph" and program.line:
        place = re.search(re.escape(program.file) + r":(\d+) in ", text)
        assert place, text
        assert linecache.getline(program.file, int(place[1])).strip()[:100] in text, text
        assert marked(text), text
    if program.marks and by_core:
        assert marked(text) == program.marks, text
    if mode == "eager":
        entries = [e for e in caught.traceback if str(e.path) == program.file]
        assert entries  # the traceback passes through the user's own lines
        if program.marks and not by_core and sys.version_info >= (3, 11):
            assert python_marks(caught.value, program.file) == program.marks


def python_marks(error, file):
    """The expression that Python's own traceback marks in the innermost line of a file."""
    frames = traceback.extract_tb(error.__traceback__)
    last = [f for f in frames if f.filename == file][-1]
    return linecache.getline(file, last.lineno)[last.colno : last.end_colno]


def test_python_adds_what_was_meant(capsys):
    """To what eager code raises, where it prints a traceback."""
    net = nn.SequentialCell(nn.Dense(2, 2))
    for wrong, meant in ((lambda: net.cels, "cells"), (lambda: net[0].wieght, "weight")):
        with pytest.raises(AttributeError) as caught:
            wrong()
        sys.__excepthook__(caught.type, caught.value, None)
        assert re.search(rf"attribute '\w+'\. Did you mean: '{meant}'\?$", capsys.readouterr().err)


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 150


def test_a_wrong_name_in_a_checkpoint(tmp_path, monkeypatch):
    path = str(tmp_path / "net.ckpt")
    ms.save_checkpoint(
        [
            {
                "name": "fc.wieght",
                "data": Parameter(Tensor(np.ones((2, 2), np.float32)), name="fc.wieght"),
            }
        ],
        path,
    )
    net = nn.SequentialCell(nn.Dense(2, 2))
    warnings = []
    monkeypatch.setattr(ms.log, "warning", warnings.append)
    lists = ms.load_param_into_net(net, ms.load_checkpoint(path))
    assert lists == (["0.weight", "0.bias"], ["fc.wieght"])
    (text,) = warnings
    assert "0.weight" in text and "fc.wieght" in text


@pytest.mark.parametrize("damage", ["truncate", "flip", "empty", "text"])
def test_a_damaged_checkpoint(tmp_path, damage):
    path = tmp_path / "net.ckpt"
    ms.save_checkpoint(nn.Dense(4, 4), str(path))
    data = bytearray(path.read_bytes())
    if damage == "truncate":
        data = data[: len(data) // 2]
    elif damage == "flip":
        data[len(data) // 2] ^= 0x10
    elif damage == "empty":
        data = bytearray()
    else:
        data = bytearray(b"this is not a checkpoint")
    path.write_bytes(bytes(data))
    with pytest.raises(ValueError) as caught:
        ms.load_checkpoint(str(path))
    assert "net.ckpt" in str(caught.value)
