"""Networks of the zoo are trained and judged whole on the device GPU: no op of theirs runs on the host between copies, which would split a recorded
step."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_cuda import pytestmark as needs_a_gpu
from test_cuda import run

import mindspore as ms

pytestmark = [needs_a_gpu, pytest.mark.slow]

SMALL = "--rows 10 --epochs 1 --batch 2"
FACTORS = "--rows 80 --epochs 1 --batch 8 --fields 4 --values 5 --hidden 16"
WORDS = "--rows 40 --epochs 1 --batch 8 --width 16 --layers 1"
# A name, and the options that make its program short.
SHORT = {
    "alexnet": SMALL,
    "bert": f"{WORDS} --words 7",
    "dcgan": "--rows 8 --epochs 1 --batch 4 --width 4",
    "deepfm": FACTORS,
    "densenet": SMALL,
    "dqn": "--walks 5 --steps 1 --batch 8 --hidden 16",
    "gcn": "--rows 40 --epochs 1",
    "gcn gat": "--rows 40 --epochs 1 --net gat",
    "gpt": f"{WORDS} --words 6 --period 2",
    "lenet": "--rows 40 --epochs 1 --batch 8",
    "lstm": "--rows 40 --epochs 1 --words 10 --length 4 --width 8 --hidden 8 --batch 8",
    "mobilenetv2": f"{SMALL} --width 0.1",
    "resnet": SMALL,
    "ssd": "--rows 20 --epochs 1 --batch 4 --side 32 --width 4",
    "transformer": f"{WORDS} --length 4",
    "unet": "--rows 20 --epochs 1 --batch 4 --width 4 --side 16 --depth 2",
    "vgg": f"{SMALL} --width 4 --hidden 16",
    "wide_deep": FACTORS,
    "word2vec": "--rows 60 --epochs 1 --words 12 --topics 2 --width 4 --batch 8",
}


def test_all_networks_are_here():
    zoo = Path(ms.__file__).parent / "model_zoo"
    assert {p.parent.name for p in zoo.glob("*/train.py")} == {name.split()[0] for name in SHORT}


@pytest.mark.parametrize("name", SHORT)
def test_a_network_is_whole_on_the_device(name, tmp_path):
    arguments = [name, "--output", str(tmp_path), *SHORT[name].split()]
    said = run(
        f"""
import runpy, sys
ms.set_context(device_target="GPU")
sys.argv = {arguments}
runpy.run_module("mindspore.model_zoo.{name.split()[0]}.train", run_name="__main__")
""",
        says=True,
        MS_LOG="dispatch",
        MS_TEST_DATA="",
    )
    assert "[dispatch]" in said or "->" in said
    assert [line for line in said.splitlines() if "between copies" in line] == []
