"""The programs that are timed: a table of cases, and for each family a file for every framework that has it.

`FAMILY_ms.py` is written on the MindSpore API and runs in this framework and in MindSpore itself; `FAMILY_torch.py` runs in
PyTorch, eager and compiled; `FAMILY_jax.py` in JAX. A case is a function that prepares and returns `measure() -> figure`. A
framework whose file has no such function, or none at all, sits the case out.
"""

from __future__ import annotations

from dataclasses import dataclass

from cases.heavy import HEAVY


@dataclass(frozen=True)
class Case:
    """What is compared, in which unit, and how."""

    title: str
    family: str
    bar: float | None  # ours must stay below this share of the best peer
    rounds: int = 4
    unit: str = "ms"
    slow: tuple[str, ...] = ()  # peers that take minutes: they run only when asked for by --slow


@dataclass(frozen=True)
class Work:
    """What a case cannot do without: operations in products of matrices (a multiplication and an addition are two), and bytes
    that do not fit into caches, read or written once."""

    flops: float
    bytes: float = 0.0


CASES = {
    "products": Case("[2048, 2048] x [2048, 2048]", "machine", None, 3),
    "stream": Case("the sum of two vectors of 64 MB", "machine", None, 3),
    "lenet_graph": Case("LeNet, batch 32, train step, GRAPH_MODE", "vision", 0.35, 7),
    "lenet_pynative": Case("LeNet, batch 32, train step, PYNATIVE_MODE", "vision", 1.0, 7),
    "resnet50_graph": Case(
        "ResNet-50, batch 8, 224x224, train step", "vision", 0.8, slow=("mindspore",)
    ),
    "resnet50_inference": Case("ResNet-50, batch 1, 224x224, inference", "vision", 0.8),
    "resnet50_first": Case(
        "ResNet-50: first train step of a process less a later one, nothing cached",
        "vision",
        None,
        2,
        "s",
        ("mindspore", "torch_compile"),
    ),
    "resnet50_first_warm": Case(
        "ResNet-50: first train step of a process less a later one, after another process",
        "vision",
        None,
        2,
        "s",
        ("mindspore", "torch_compile"),
    ),
    "resnet50_memory": Case(
        "ResNet-50, batch 8, train step: peak memory",
        "vision",
        0.85,
        1,
        "MB",
        ("mindspore", "torch_compile"),
    ),
    "mobilenetv2": Case(
        "MobileNetV2, batch 8, 224x224, train step", "vision", 0.5, slow=("mindspore",)
    ),
    "densenet121": Case(
        "DenseNet-121, batch 4, 224x224, train step", "vision", 0.9, 3, slow=("mindspore",)
    ),
    "unet": Case(
        "U-Net, batch 2, 3x128x128, 32 to 512 channels, train step",
        "segmentation",
        0.9,
        3,
        slow=("mindspore",),
    ),
    "transformer": Case(
        "Transformer 4x256, vocabulary 8192, batch 8x128, train step", "language", 0.7
    ),
    "bert_base": Case("BERT-base, batch 4x128, train step", "language", 0.9, 3),
    "lstm": Case("LSTM 256, batch 32x100, train step", "recurrent", 0.8),
    "gru": Case("GRU 256, batch 32x100, train step", "recurrent", 0.8),
    "attention": Case("attention [4, 8, 1024, 64], gradient", "kernels", 0.9),
    "norm_gelu_softmax": Case(
        "layer norm, GELU, softmax on [4096, 1024], gradient", "kernels", 0.7, 7
    ),
    "chain": Case("sigmoid(tanh(1.5x+y))*x + exp(-z*z)*y, 16 M floats", "kernels", 0.4, 7),
    "adam": Case("Adam, 160 tensors of 400x400", "kernels", 1.0, 7),
    "adam_decay": Case("Adam with weight decay, 160 tensors of 400x400", "kernels", 1.0, 7),
    "add_pynative": Case("4x4 add, PYNATIVE_MODE", "kernels", 0.5, 7),
    "empty_step": Case("a warm call of an empty network, GRAPH_MODE", "kernels", None, 7),
    "record_pynative": Case(
        "200 multiplications of 4x4 and their gradient, PYNATIVE_MODE", "kernels", 0.5, 7
    ),
    "eager_elementwise": Case(
        "17 elementwise ops on 10^5 elements, one by one, PYNATIVE_MODE", "eager", 1.0, 5
    ),
    "eager_rows": Case(
        "24 reductions, softmaxes and products of rows, one by one, PYNATIVE_MODE",
        "eager",
        1.0,
        5,
    ),
    "conv3d": Case(
        "3-D convolution of three sizes, forward and gradient, PYNATIVE_MODE", "volumes", 1.2, 5
    ),
    "max_pool3d": Case(
        "3-D maxima of three sizes, 2x2x2 and 3x3x3, forward and gradient, PYNATIVE_MODE",
        "volumes",
        1.2,
        5,
    ),
    "avg_pool3d": Case(
        "3-D means of three sizes, 2x2x2 and 3x3x3, forward and gradient, PYNATIVE_MODE",
        "volumes",
        1.2,
        5,
    ),
    "fft_small": Case(
        "Fourier transforms of few and short lines, forward and gradient, PYNATIVE_MODE",
        "fft",
        1.2,
        5,
    ),
    "fft_cached": Case(
        "Fourier transforms that fit into caches, forward and gradient, PYNATIVE_MODE",
        "fft",
        1.2,
        5,
    ),
    "fft_large": Case(
        "Fourier transforms of many and long lines, forward and gradient, PYNATIVE_MODE",
        "fft",
        1.2,
        5,
    ),
    "fft_images": Case(
        "Fourier transforms along two axes, forward and gradient, PYNATIVE_MODE", "fft", 1.2, 5
    ),
    "resize": Case(
        "9 interpolations: nearest, bilinear and bicubic, three sizes, PYNATIVE_MODE",
        "image",
        1.2,
        5,
    ),
    "resize_gradient": Case("the gradients of the same", "image", 1.2, 5),
    "suppression": Case("suppression among 300, 1000 and 3000 boxes", "image", 1.2, 5),
    **{
        name: Case(f"{heavy.title}, PYNATIVE_MODE", "heavy", 1.2, 7)
        for name, heavy in HEAVY.items()
    },
    "wide_deep": Case(
        "Wide & Deep, 39 fields, 200 000 rows of 80, batch 1024, train step", "sparse", 0.9
    ),
    "gcn": Case("GCN 1433-64-7 on 2 708 nodes, 10 556 edges, train step", "sparse", 0.9, 7),
    "import": Case("import", "process", 0.3, 5),
    "rss_growth": Case("LeNet, 5 000 steps: growth of resident memory", "vision", None, 1, "MB"),
}

# Of steps: three times the products of the forward pass, less those for the gradient of the first layer's input; Parameters
# and what the optimizer keeps of them, read and written.
WORK = {
    "products": Work(2 * 2048**3),
    "stream": Work(0, 3 * 2**26),
    "lenet_graph": Work(48.5e6),
    "lenet_pynative": Work(48.5e6),
    "resnet50_graph": Work(194e9, 16 * 25.6e6),
    "resnet50_inference": Work(8.18e9, 4 * 25.6e6),
    "mobilenetv2": Work(14.4e9, 16 * 3.5e6),
    "densenet121": Work(67.1e9, 16 * 8e6),
    "unet": Work(36.2e9, 16 * 7.8e6),
    "transformer": Work(33.8e9, 24 * 7.4e6),
    "bert_base": Work(342e9, 24 * 133e6),
    "lstm": Work(8.4e9),
    "gru": Work(6.3e9),
    "attention": Work(25.8e9),
    "norm_gelu_softmax": Work(0, 4 * 2**24),
    "chain": Work(0, 4 * 2**26),
    "adam": Work(0, 28 * 25.6e6),
    "adam_decay": Work(0, 28 * 25.6e6),
    "wide_deep": Work(23.9e9, 24 * 20.1e6),
    "gcn": Work(1e9),
}
