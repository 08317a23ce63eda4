"""The engine: sources, operations, samplers and iterators of the data pipeline."""

from mindspore.dataset import config
from mindspore.dataset.engine.calls import BatchInfo
from mindspore.dataset.engine.datasets import (
    BatchDataset,
    ConcatDataset,
    Dataset,
    FilterDataset,
    MapDataset,
    MappableDataset,
    ProjectDataset,
    RenameDataset,
    RepeatDataset,
    ShuffleDataset,
    SkipDataset,
    SourceDataset,
    TakeDataset,
    ZipDataset,
)
from mindspore.dataset.engine.datasets_mindrecord import MindDataset
from mindspore.dataset.engine.datasets_user_defined import (
    GeneratorDataset,
    NumpySlicesDataset,
    PaddedDataset,
)
from mindspore.dataset.engine.datasets_vision import (
    Cifar10Dataset,
    Cifar100Dataset,
    ImageFolderDataset,
    MnistDataset,
)
from mindspore.dataset.engine.iterators import DictIterator, Iterator, TupleIterator
from mindspore.dataset.engine.samplers import (
    BuiltinSampler,
    DistributedSampler,
    PKSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    Shuffle,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)

__all__ = [
    "BatchDataset",
    "BatchInfo",
    "BuiltinSampler",
    "Cifar10Dataset",
    "Cifar100Dataset",
    "ConcatDataset",
    "Dataset",
    "DictIterator",
    "DistributedSampler",
    "FilterDataset",
    "GeneratorDataset",
    "ImageFolderDataset",
    "Iterator",
    "MapDataset",
    "MappableDataset",
    "MindDataset",
    "MnistDataset",
    "NumpySlicesDataset",
    "PKSampler",
    "PaddedDataset",
    "ProjectDataset",
    "RandomSampler",
    "RenameDataset",
    "RepeatDataset",
    "Sampler",
    "SequentialSampler",
    "Shuffle",
    "ShuffleDataset",
    "SkipDataset",
    "SourceDataset",
    "SubsetRandomSampler",
    "SubsetSampler",
    "TakeDataset",
    "TupleIterator",
    "WeightedRandomSampler",
    "ZipDataset",
    "config",
]
