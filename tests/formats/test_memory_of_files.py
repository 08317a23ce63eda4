"""What saving and loading take beside the tensors: in no format and no way more than 64 MB."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

LIMIT = 64
# One tensor has most of the bytes: a copy of it alone would be found.
PROGRAM = """
import gc, sys
import numpy as np
import mindspore as ms
from mindspore import Parameter, Tensor, _core, nn
from mindspore.train import serialization

folder, format, dtype = sys.argv[1:]
path = f"{folder}/a.{format}"
options = {"format": format}


def megabytes(key):
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(key)) >> 10


def measured(name, result, function):
    "Prints by how many MB the peak of function() is above what was there and what results."
    gc.collect()
    _core.empty_memory_cache()
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    before = megabytes("VmRSS:")
    kept = function()
    print(name, megabytes("VmHWM:") - before - result)
    return kept


def tensors():
    for index, rows in enumerate([160] + [4] * 8):
        values = np.full((rows, 1 << 18), index, np.float32)
        yield f"t{index}", Parameter(Tensor(values).astype(getattr(ms, dtype)), name=f"t{index}")


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        for name, parameter in tensors():
            setattr(self, name, parameter)


def save_in_background(**more):
    ms.save_checkpoint(net, path, async_save=True, **more, **options)
    serialization.writer._thread and serialization.writer._thread.join()


net = Net()
size = sum(p.size * p.itemsize for p in net.get_parameters()) >> 20
as_list = [{"name": p.name, "data": p} for p in net.get_parameters()]
measured("save", 0, lambda: ms.save_checkpoint(net, path, **options))
measured("save with crc", 0, lambda: ms.save_checkpoint(net, path, crc_check=True, **options))
measured("save a list", 0, lambda: ms.save_checkpoint(as_list, path, **options))
measured("save more", 0, lambda: ms.save_checkpoint(
    {}, path, append_dict={p.name: p for p in net.get_parameters()}, **options))
measured("save in the background", 0, save_in_background)
measured("load", size, lambda: ms.load_checkpoint(path, **options))
measured("load some", size // 48, lambda: ms.load_checkpoint(
    path, choice_func=lambda name: name == "t3", **options))
measured("load but a prefix", size // 6, lambda: ms.load_checkpoint(
    path, filter_prefix="t0", **options))
measured("load into a network", size, lambda: ms.load_checkpoint(path, net, **options))
convert = serialization.ckpt_to_safetensors if format == "ckpt" else serialization.safetensors_to_ckpt
measured("convert", size, lambda: convert(path))
loaded = ms.load_checkpoint(path, **options)
measured("into a network", 0, lambda: ms.load_param_into_net(net, loaded))
wide = {name: Parameter(p.astype(ms.float64), name=name) for name, p in loaded.items()}
del loaded
measured("into a network of another type", 0, lambda: ms.load_param_into_net(net, wide))
"""


@pytest.mark.serial
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_memory_beside_the_tensors(tmp_path, format, dtype):
    result = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(PROGRAM), str(tmp_path), format, dtype],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    extra = {name: int(number) for name, number in map(_split, result.stdout.splitlines())}
    assert len(extra) == 12
    assert {name: number for name, number in extra.items() if number > LIMIT} == {}


def _split(line: str) -> list[str]:
    return line.rsplit(" ", 1)
