"""Every wrong program raises the right exception, in few lines, with the user's line; nothing crashes, nothing passes silently."""

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Parameter, Tensor, context, nn

sys.path.insert(0, str(Path(__file__).parent))
from programs import FILE, PROGRAMS

CASES = [(p, mode) for p in PROGRAMS for mode in p.modes]


@pytest.mark.parametrize("program, mode", CASES, ids=[f"{p.run.__name__}-{m}" for p, m in CASES])
def test_wrong_program(program, mode):
    context.set_context(mode=context.GRAPH_MODE if mode == "graph" else context.PYNATIVE_MODE)
    context.set_context(jit_syntax_level=context.STRICT)  # what cannot be compiled is an error
    try:
        with pytest.raises(program.error) as caught:
            program.run()
    finally:
        context.set_context(mode=context.PYNATIVE_MODE, jit_syntax_level=context.LAX)
    text = str(caught.value)
    for words in program.says:
        assert words in text, text
    assert len(text.splitlines()) <= 12, text
    assert ".cc:" not in text and "internal error" not in text, text
    if mode == "graph" and program.line:
        assert re.search(re.escape(FILE) + r":\d+ in ", text), text
    # The traceback of eager code ends in the user's own file.
    if mode == "eager":
        assert any(entry.path == Path(FILE) for entry in caught.traceback) or any(
            str(e.path) == FILE for e in caught.traceback
        )


def test_there_are_enough_programs():
    assert len(PROGRAMS) >= 60


def test_a_wrong_name_in_a_checkpoint(tmp_path):
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
    with pytest.raises(ValueError) as caught:
        ms.load_param_into_net(net, ms.load_checkpoint(path))
    assert "0.weight" in str(caught.value) and "fc.wieght" in str(caught.value)


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
