"""Where the sums over processes of gradients begin, and where they are waited for: in the plans of compiled steps."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

pytestmark = [pytest.mark.host_device]

# Without other processes a sum is what goes in; the plan is that of two.
PROLOGUE = """
import numpy as np
import mindspore as ms
from mindspore import Tensor, nn, ops
from mindspore.ops._bind import raw
ms.set_context(mode=ms.GRAPH_MODE)
def total(x, op="sum", group="alone"):
    return raw("AllReduce")(x, group=group, members=2, op=op)
x, y = (Tensor(np.arange(16, dtype=np.float32).reshape(4, 4) / (16 + i)) for i in range(2))
"""


def launches(body: str, **environment: str) -> list[str]:
    """The ops of the plan of `f(x, y)`, in the order in which they run; what it returns is checked against line by line."""
    code = (
        PROLOGUE
        + f"def f(x, y):\n{body}\n"
        + """
for got, want in zip(ms.jit(f)(x, y), f(x, y)):
    np.testing.assert_allclose(got.asnumpy(), want.asnumpy(), rtol=1e-6)
"""
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "MS_DUMP": "plan", "MS_FUSION": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return re.findall(r"<- (\w+)\(", done.stdout + done.stderr)


def test_sums_begin_where_their_values_are_made():
    ops = launches("""
    a = ops.matmul(x, y)
    b = ops.matmul(a, y)
    c = ops.matmul(b, y)
    a, b, c = (total(v) for v in (a, b, c))
    return a + 1, b, c
""")
    assert ops[:6] == ["MatMul", "StartSum", "MatMul", "StartSum", "MatMul", "StartSum"]
    assert ops[6] == "AwaitSums"


def test_what_reads_one_sum_waits_for_all():
    ops = launches("""
    result, v = [], x
    for _ in range(3):
        v = ops.matmul(v, y)
        result.append(ops.clamp(total(v), 0, 1))
    return result
""")
    assert ops.count("StartSum") == 3 and ops.count("AwaitSums") == 1
    assert "Fused" not in ops[ops.index("StartSum") : ops.index("AwaitSums")]


@pytest.mark.parametrize(
    "between",
    [
        "total(a, 'max')",
        "total(a, group='other')",
        "total(ops.matmul(total(a), y))",  # needs another one
    ],
)
def test_another_call_of_all_is_not_passed(between):
    ops = launches(f"""
    a = ops.matmul(x, y)
    b = ops.matmul(a, y)
    first = total(a)
    other = {between}
    last = total(ops.matmul(b, b))
    return first, other, last
""")
    assert "AllReduce" in ops or ops.count("AwaitSums") > 1
    # Whatever begins is awaited before the next call.
    under_way = 0
    for op in ops:
        under_way = under_way + 1 if op == "StartSum" else 0 if op == "AwaitSums" else under_way
        assert not (op == "AllReduce" and under_way)
    assert not under_way


def test_a_sum_that_nothing_could_hide_stays_whole():
    assert "AllReduce" in launches("    return (total(x) + 1,)")


def test_prints_and_loops_keep_their_place():
    ops = launches("""
    a = ops.matmul(x, y)
    print("before")
    i = ops.zeros((), ms.int32)
    while i < 2:
        a = total(a) / 2
        i += 1
    return a, total(ops.matmul(a, y)), total(ops.matmul(y, a))
""")
    assert ops.count("AllReduce") >= 1 and ops.count("AwaitSums") == 1


def test_without_the_fast_stage_there_are_none():
    assert "StartSum" not in launches(
        "    return total(ops.matmul(x, y)), total(ops.matmul(y, x))", MS_FUSION="0"
    )


def test_a_value_that_is_read_later_is_not_written_over():
    ops = launches("""
    a = ops.matmul(x, y)
    first, second = total(a), total(ops.matmul(a, y))
    return first, second, ops.matmul(a, a), total(x), total(x.reshape((16,)))
""")
    assert "AwaitSums" in ops
