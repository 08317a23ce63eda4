"""Asks MindSpore for the answers that tests/sources/graph_answers.json keeps: 2.0, for 2.10 has no graphs any more.

Run by a Python that has it: PYTHON tests/sources/record_graphs.py
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

from graph_cases import OF_ARRAYS, OF_FILE, arrays_graph, asked, file_graph

import mindspore.dataset as ds
from mindspore.mindrecord import FileWriter

with tempfile.TemporaryDirectory() as folder:
    graph = file_graph(ds, FileWriter, Path(folder))
    kept = {"file": {question: asked(ds, graph, question) for question in OF_FILE}}
graph = arrays_graph(ds)
kept["arrays"] = {question: asked(ds, graph, question) for question in OF_ARRAYS}
texts = [
    f" {json.dumps(kind)}: {{\n"
    + ",\n".join(
        f"  {json.dumps(question)}: {json.dumps(answer)}" for question, answer in answers.items()
    )
    + "\n }"
    for kind, answers in kept.items()
]
Path(__file__).with_name("graph_answers.json").write_text("{\n" + ",\n".join(texts) + "\n}\n")
