"""Runs a program for several ranks with the GPU as its device: `on_gpu.py PROGRAM [arguments]`. Where that is the stub's, what it has refused ends
the rank with an error, unless the program is about what goes wrong."""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))
import cuda_device

import mindspore as ms

ms.set_device(cuda_device.NAME)
sys.argv = sys.argv[1:]
sys.path.insert(0, str(Path(sys.argv[0]).parent))
runpy.run_path(sys.argv[0], run_name="__main__")
ms.runtime.synchronize()
if os.environ.get("MS_NCCL_STUB") is None:
    cuda_device.check()
