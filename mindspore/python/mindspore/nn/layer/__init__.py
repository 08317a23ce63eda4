"""The layers of `mindspore.nn`, one module per topic."""

from typing import TYPE_CHECKING

from mindspore.nn.layer import (
    activation,
    attention,
    basic,
    combined,
    container,
    conv,
    embedding,
    ext,
    image,
    math,
    matrices,
    normalization,
    padding,
    pooling,
    pooling_ext,
    quant,
    rnn_cells,
    rnns,
    sample_norm,
    shape,
    sparse,
    transformer,
)
from mindspore.nn.layer.activation import *
from mindspore.nn.layer.attention import *
from mindspore.nn.layer.basic import *
from mindspore.nn.layer.combined import *
from mindspore.nn.layer.container import *
from mindspore.nn.layer.conv import *
from mindspore.nn.layer.embedding import *
from mindspore.nn.layer.ext import *
from mindspore.nn.layer.image import *
from mindspore.nn.layer.math import *
from mindspore.nn.layer.matrices import *
from mindspore.nn.layer.normalization import *
from mindspore.nn.layer.padding import *
from mindspore.nn.layer.pooling import *
from mindspore.nn.layer.pooling_ext import *
from mindspore.nn.layer.quant import *
from mindspore.nn.layer.rnn_cells import *
from mindspore.nn.layer.rnns import *
from mindspore.nn.layer.sample_norm import LRN
from mindspore.nn.layer.shape import *
from mindspore.nn.layer.sparse import *
from mindspore.nn.layer.transformer import *

if not TYPE_CHECKING:  # type checkers take a computed __all__ for an empty one
    __all__ = [
        *activation.__all__,
        *attention.__all__,
        *transformer.__all__,
        *basic.__all__,
        *combined.__all__,
        *container.__all__,
        *conv.__all__,
        *embedding.__all__,
        *ext.__all__,
        *image.__all__,
        *math.__all__,
        *matrices.__all__,
        *normalization.__all__,
        *padding.__all__,
        *pooling.__all__,
        *pooling_ext.__all__,
        *quant.__all__,
        *rnn_cells.__all__,
        *rnns.__all__,
        *shape.__all__,
        *sparse.__all__,
        "LRN",
    ]
