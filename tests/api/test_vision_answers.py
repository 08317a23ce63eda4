"""`mindspore.dataset.vision` against kept results of MindSpore 2.10: values within one step, the types of
results, and what is refused.
"""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest
import vision_cases

import mindspore.dataset as ds
from mindspore.dataset import vision

KEPT = dict(json.loads(line) for line in vision_cases.ANSWERS.read_text().splitlines())
CALLS = vision_cases.cases()


def failed(result):
    return bool(result) and isinstance(result[0], str)


def differences(given, expected):
    if failed(given) or failed(expected):
        return [] if failed(given) and failed(expected) else [f"{given[:2]} for {expected[:1]}"]
    if len(given) != len(expected):
        return [f"{len(given)} results for {len(expected)}"]
    found = []
    for mine, theirs in zip(given, expected, strict=True):
        if (mine.dtype, mine.shape) != (theirs.dtype, theirs.shape):
            found.append(f"{mine.dtype}{mine.shape} for {theirs.dtype}{theirs.shape}")
            continue
        step = 1 if theirs.dtype.kind in "ui" else 1e-5 * max(1.0, float(np.abs(theirs).max()))
        worst = np.abs(mine.astype(float) - theirs.astype(float)).max(initial=0)
        if worst > step:
            found.append(f"{worst} apart")
    return found


@pytest.mark.parametrize("name", CALLS)
def test_kept_answers(name):
    if "Image." in CALLS[name]:
        pytest.importorskip("PIL")
    given = vision_cases.run(CALLS[name], vision)
    expected = vision_cases.unpack(KEPT[name])
    assert differences(given, expected) == []
    if failed(given):
        # MindSpore's errors of execution are RuntimeError; ours say what kind of mistake it was.
        same = (
            (expected[0],) if name.startswith("made") else ("TypeError", "ValueError", expected[0])
        )
        assert given[0] in same
        assert given[1].startswith("For '") or "argument" in given[1]


@pytest.mark.parametrize("name", [n for n in CALLS if n.startswith("array")])
def test_pipelines_give_what_calls_give(name):
    expected = vision_cases.run(CALLS[name], vision)
    step = eval(CALLS[name][: -len("(A)")], vars(vision) | {"np": np})
    data = ds.NumpySlicesDataset(vision_cases.A[None], ["x"])
    names = [f"y{i}" for i in range(len(expected))]
    (row,) = data.map(step, "x", names).create_dict_iterator(num_epochs=1, output_numpy=True)
    assert [row[n].tobytes() for n in names] == [part.tobytes() for part in expected]


def test_every_case_is_kept():
    assert set(KEPT) == set(CALLS)


@pytest.mark.skipif("MS_PEER_PYTHON" not in os.environ, reason="MS_PEER_PYTHON names no Python")
def test_the_peer_still_says_so(tmp_path):
    """The kept answers are those of the package that is named."""
    code = f"import vision_cases as c, pathlib; c.record(pathlib.Path({str(tmp_path / 'now')!r}))"
    folder = str(vision_cases.ANSWERS.parent)
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    subprocess.run(
        [own["MS_PEER_PYTHON"], "-c", code], check=True, cwd=folder, capture_output=True, env=own
    )
    now = dict(json.loads(line) for line in (tmp_path / "now").read_text().splitlines())
    assert [name for name in KEPT if KEPT[name] != now[name]] == []
