"""The pages of the site that say what can be called: ops by topic from the registry, the rest from signatures and docstrings.

A page lists what one topic has. The topic of an op is the file of its test row, that of all else the module that defines it; the
tables here give topics their titles, and a topic that no table names is an error.
"""

from __future__ import annotations

import importlib
import inspect
import re
import sys
import types
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from make_op_docs import details, public_ops

from mindspore import Tensor, ops
from mindspore._core import DType
from mindspore.common.dtype import Type
from mindspore.nn import Cell

ROOT = Path(__file__).resolve().parents[1]
ROWS = ROOT / "tests" / "ops"

OPS = {  # title of a page: topics
    "Arithmetic and functions": (
        "math",
        "numbers",
        "math_func",
        "special",
        "special_func",
        "mindspore._core",
    ),
    "Fourier transforms, complex numbers": ("fft", "fft_func", "complex_func"),
    "Comparison, logic, casts": ("compare", "cast_func"),
    "Sums, extremes, sorting": (
        *("reduce", "running", "reduce_func", "norm_func", "order_func", "search_func"),
        "segment_func",
    ),
    "Linear algebra": (
        *("linalg", "factor", "linalg_func", "factor_func", "matrix_func", "einsum_func"),
        "matrix_classes",
    ),
    "Shapes and joining": (
        *("array", "join", "array_func", "join_func", "array_classes", "structure_func"),
        "alias_func",
    ),
    "Indexing": ("indexing", "index_func", "put_func", "unique_func"),
    "Making tensors": ("creation", "creation_func"),
    "Random numbers": ("random", "random_func", "distribution_func"),
    "Activations": ("activation", "activation_func"),
    "Network ops": (
        *("conv", "pool", "volumes", "unfold", "norm", "attention", "recurrent"),
        *("conv_func", "pool_func", "pool_classes", "unpool_func", "unfold_func", "deform_func"),
        *("fractional_classes", "expert_func", "blocks_func", "window_func", "layer_func"),
        *("nn_func", "attention_func", "primitive_classes", "_recurrent_ops"),
    ),
    "Images and boxes": (
        *("image", "interpolate_func", "grid_func", "color_func"),
        *("box_func", "rotated_box_func"),
    ),
    "Losses": ("loss", "loss_func", "ctc_func", "margin_func"),
    "Optimizers": (
        *("optim", "optimizer_classes", "sparse_optimizer_classes", "adafactor_classes"),
    ),
    "Gradients and transforms": (
        *("_transforms", "_grad", "_taylor", "_vmap", "_custom", "_gradient_ops"),
        *("composite", "primitive"),
    ),
    "Classes of functions": (
        "operations",
    ),  # what is a function elsewhere, with its arguments apart
    "Program ops": (
        "control",
        "loop_classes",
        "functional",
        "inner_classes",
        "_python_ops",
        "_effects",
        "status_classes",
    ),
    "Sparse tensors": ("_sparse", "sparse_func"),
    "Collectives": ("_collectives", "communication_func", "uneven_func", "operations.comm_ops"),
}
NN = {
    "Cells and containers": ("cell", "layer.container", "utils"),
    "Dense, dropout, images": ("layer",),
    "Convolution, pooling, padding": ("layer.conv", "layer.pooling", "layer.padding"),
    "Normalisation": ("layer.normalization", "layer.sample_norm"),
    "Activations": ("layer.activation",),
    "Recurrent layers": ("layer.rnns", "layer.rnn_cells"),
    "Attention, Transformers": ("layer.attention", "layer.transformer"),
    "Losses": ("loss",),
    "Optimizers": ("optim",),
    "Learning rates": ("dynamic_lr", "learning_rate_schedule"),
    "Training steps": ("wrap",),
    "Metrics": ("metrics",),
}
TENSOR = ("mindspore.Tensor", "mindspore.Parameter", "mindspore.ParameterTuple")
MODULES = {  # title: what stands before a name, and where the names are
    "train": ("train", "mindspore.train"),
    "amp": ("amp", "mindspore.amp"),
    "dataset": ("dataset", "mindspore.dataset"),
    "dataset.transforms": ("transforms", "mindspore.dataset.transforms"),
    "dataset.vision": ("vision", "mindspore.dataset.vision"),
    "dataset.text": ("text", "mindspore.dataset.text"),
    "dataset.audio": ("audio", "mindspore.dataset.audio"),
    "initializer": ("initializer", "mindspore.common.initializer"),
    "profiler": ("profiler", "mindspore.profiler"),
    "boost": ("boost", "mindspore.boost"),
    "numpy": ("numpy", "mindspore.numpy"),
    "scipy.linalg": ("scipy.linalg", "mindspore.scipy.linalg"),
    "mint": ("mint", "mindspore.mint"),
    "mint.nn": ("mint.nn", "mindspore.mint.nn"),
    "mint.nn.functional": ("mint.nn.functional", "mindspore.mint.nn.functional"),
    "mint.optim": ("mint.optim", "mindspore.mint.optim"),
    "runtime": ("runtime", "mindspore.runtime"),
    "hal": ("hal", "mindspore.hal"),
    "parallel": ("parallel", "mindspore.parallel"),
    "communication": ("communication", "mindspore.communication"),
    "mindspore": ("mindspore", "mindspore"),
}


@dataclass
class Page:
    """One page: sections by the name that they are sorted by, and each name with what stands there."""

    path: str
    title: str
    sections: dict[str, str] = field(default_factory=dict)
    names: list[str] = field(default_factory=list)

    def add(self, names: list[str], text: str, shown: int = 1) -> None:
        """A section for one thing: its first names stand in the heading, all of them lead there."""
        extra = "".join(f'<a id="{name}"></a>\n\n' for name in names[1:])
        heading = ", ".join(names[:shown])
        self.sections[names[0]] = f"## {heading} {{ #{names[0]} }}\n\n{extra}{text}"
        self.names += names

    def text(self) -> str:
        """The page in Markdown."""
        parts = [self.sections[name] for name in sorted(self.sections, key=str.lower)]
        room = self.path.split("/")[1:-1]  # two pages have one title in ops and nn
        return f"# {': '.join([*room, self.title])}\n\n" + "\n".join(parts)


def slug(title: str) -> str:
    """A file's name for a title."""
    return re.sub(r"\W+", "_", title.lower()).strip("_")


def topic_of_rows() -> dict[str, str]:
    """The file of each op's test row."""
    sys.path.insert(0, str(ROWS))
    from rowlib import ROWS as rows

    found: dict[str, str] = {}
    for path in sorted((ROWS / "rows").glob("*.py")):
        importlib.import_module(f"rows.{path.stem}")
        for name in rows:
            found.setdefault(name, path.stem)
    return found


def signature(value: Any, unknown: str = "(...)", first: int = 0) -> str:
    """The parameters of a function or class from the first that counts, with their defaults; `unknown` where Python cannot tell."""
    try:
        found = inspect.signature(value)
    except (TypeError, ValueError):
        return unknown
    bare = [p.replace(annotation=p.empty) for p in found.parameters.values()][first:]
    shown = str(found.replace(parameters=bare, return_annotation=found.empty))
    return re.sub(r"<(?:function|class) '?([\w.]+)[^>]*>", r"\1", shown)


def markdown(value: Any) -> str:
    """A docstring in Markdown: its parts become paragraphs and lists."""
    lines, listed = [], False
    for line in (inspect.getdoc(value) or "").splitlines():
        if re.fullmatch(r"[A-Z][A-Za-z ]*:", line):
            lines += ["", f"**{line[:-1]}**", ""]
            listed = line != "Examples:"
        elif match := listed and re.fullmatch(r" {4}(\*{0,2}\w+)( \([^)]*\))?: (.*)", line):
            lines.append(f"- `{match[1]}`{match[2] or ''}: {match[3]}")
        else:
            listed = listed and (not line or line.startswith(" "))
            lines.append(line.strip() if listed else line)
    parts = re.split(r"(`[^`]*`)", "\n".join(lines))
    return "".join(p if p.startswith("`") else p.replace("<", "&lt;") for p in parts) + "\n"


def code(*calls: str) -> str:
    """A block of calls."""
    return "```python\n" + "\n".join(calls) + "\n```\n\n"


def private(kind: type) -> bool:
    """Whether a class is only a part of others."""
    place = kind.__module__.rsplit(".", 1)[-1]
    return kind.__name__.startswith("_") or (place.startswith("_") and place != "_core")


def methods_of_ops() -> dict[str, str]:
    """The parameters of the Tensor methods that the registry makes, the tensor itself left out."""
    calls = [with_defaults(call, op) for op in public_ops() for call in op["methods"]]
    pairs = [call.split("(", 1) for call in calls]
    return {name: f"({rest.partition(', ')[2] or ')'}" for name, rest in pairs}


def methods(kind: type) -> str:
    """A list of the public methods that a class defines, with the first sentence about each."""
    lines = []
    declared = methods_of_ops() if kind is Tensor else {}
    bases = [base for base in kind.__mro__ if base is kind or private(base)]
    found = {name: value for base in reversed(bases) for name, value in vars(base).items()}
    for name, value in sorted(found.items()):
        plain = getattr(kind, name)
        constant = isinstance(value, (bool, int, float, str, tuple, dict, type, type(None)))
        if name.startswith("_") or name == "construct" or constant or not inspect.getdoc(plain):
            continue
        about = " ".join(markdown(plain).split("\n\n")[0].split())
        if isinstance(value, property) or not callable(plain):
            lines.append(f"- `{name}`: {about}")
        else:
            known = declared.get(name, "(...)")
            bound = isinstance(value, (staticmethod, classmethod))
            lines.append(f"- `{name}{signature(plain, known, 0 if bound else 1)}`: {about}")
    return "\n**Methods**\n\n" + "\n".join(lines) + "\n" if lines else ""


def description(name: str, value: Any) -> str:
    """What stands under the heading of a name."""
    if isinstance(value, type):
        plain = value.__base__ is Cell and "__init__" not in vars(value)  # takes no arguments
        call = name + ("()" if plain else signature(value))
        return code(call) + markdown(value) + methods(value)
    if callable(value):
        return code(name + signature(value)) + markdown(value)
    return f"`{value!r}`\n"


def page_with(pages: dict[str, Page], table: dict[str, tuple[str, ...]], topic: str) -> Page:
    """The page for a topic: that of the longest beginning that the table has."""
    found = [
        (len(start), title)
        for title, starts in table.items()
        for start in starts
        if topic == start or topic.startswith(start + ".")
    ]
    if not found:
        raise SystemExit(f"scripts/api_pages.py has no page for {topic}")
    return pages[max(found)[1]]


def with_defaults(call: str, op: dict[str, Any]) -> str:
    """A call as the registry states it, with the defaults that only the declaration has. A bare name is a class, whose
    constructor takes the attributes."""
    defaults = {
        name: f"{name}={value!r}" for name, value, required, _ in op["attributes"] if not required
    }
    if "(" not in call:
        attributes = [defaults.get(name, name) for name, *_ in op["attributes"]]
        return f"{call}({', '.join(attributes)})({', '.join(name for name, *_ in op['inputs'])})"
    return re.sub(
        r"(?<=[(,] )\w+(?=[,)])|(?<=\()\w+(?=[,)])", lambda m: defaults.get(m[0], m[0]), call
    )


def op_pages() -> list[Page]:
    """One page for each topic of ops: those of the registry, then what is composed in Python."""
    pages = {title: Page(f"api/ops/{slug(title)}.md", title) for title in OPS}
    topics, told = topic_of_rows(), set()
    for op in public_ops():
        functions = list(dict.fromkeys(s.split("(")[0] for s in op["functions"]))
        classes = [s.split("(")[0] for s in op["classes"]] or [op["name"]]
        names = list(dict.fromkeys([*functions, *classes, op["name"]]))
        told.update(names)
        calls = [f"ops.{s}" for s in op["functions"]] + [f"Tensor.{s}" for s in op["methods"]]
        calls += [f"ops.{s}" for s in op["classes"] or [op["name"]]]
        calls = [with_defaults(call, op) for call in calls]
        text = code(*calls) + "\n".join([op["doc"], "", *details(op)]) + "\n"
        page = page_with(pages, OPS, topics[op["name"]])
        page.add([f"ops.{name}" for name in names], text, shown=len(functions) or len(classes))
    for name in ops.__all__:
        value = getattr(ops, name)
        if name not in told and not isinstance(value, types.ModuleType):
            module = getattr(value, "__module__", "") or "primitive"
            topic = re.sub(r"^mindspore\.ops\.(function\.)?", "", module)
            page_with(pages, OPS, topic).add([f"ops.{name}"], description(f"ops.{name}", value))
    return list(pages.values())


def nn_pages() -> list[Page]:
    """One page for each topic of mindspore.nn."""
    nn = importlib.import_module("mindspore.nn")
    pages = {title: Page(f"api/nn/{slug(title)}.md", title) for title in NN}
    for name in dict.fromkeys(nn.__all__):
        value = getattr(nn, name)
        topic = value.__module__.removeprefix("mindspore.nn.")
        page_with(pages, NN, topic).add([f"nn.{name}"], description(f"nn.{name}", value))
    return list(pages.values())


def module_pages(known: dict[int, str]) -> list[Page]:
    """One page for each other module; what an earlier page tells is named there only."""
    pages = []
    for title, (prefix, module_name) in MODULES.items():
        module = importlib.import_module(module_name)
        page = Page(f"api/{slug(title)}.md", title)
        elsewhere, values = [], []
        for name in dict.fromkeys(getattr(module, "__all__", None) or sorted(vars(module))):
            value = getattr(module, name)
            outside = not hasattr(module, "__all__") and not of_package(value)
            if name.startswith("_") or isinstance(value, types.ModuleType) or outside:
                continue
            if isinstance(value, (int, str, DType, Type)):
                values.append(f"- `{prefix}.{name}`: `{value!r}`")
            elif id(value) in known:
                elsewhere.append(f"- `{prefix}.{name}` is `{known[id(value)]}`")
            else:
                known[id(value)] = f"{prefix}.{name}"
                page.add([f"{prefix}.{name}"], description(f"{prefix}.{name}", value))
        if elsewhere or values:
            page.sections["~"] = "## More names\n\n" + "\n".join([*values, *elsewhere]) + "\n"
        pages.append(page)
    tensor = Page(
        "api/tensor.md", "Tensor, Parameter", {name: page.sections.pop(name) for name in TENSOR}
    )
    tensor.names = list(TENSOR)
    page.names = [name for name in page.names if name not in TENSOR]
    return [tensor, page, *pages[:-1]]


def of_package(value: Any) -> bool:
    """Whether a value is one of ours (modules without `__all__` hold imports, too)."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return module.startswith("mindspore") or isinstance(value, int)


def pages() -> dict[str, list[Page]]:
    """All pages by section of the navigation."""
    operations, networks = op_pages(), nn_pages()
    known: dict[int, str] = {}
    for page in (*operations, *networks):
        for name in page.names:
            prefix, _, rest = name.partition(".")
            value = getattr(importlib.import_module(f"mindspore.{prefix}"), rest)
            known.setdefault(id(value), name)
    return {"ops": operations, "nn": networks, "Modules": module_pages(known)}
