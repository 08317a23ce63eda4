"""MindRecord: files of rows with a schema, an index, and access by number.

writer = FileWriter("train.mindrecord", shard_num=4)
writer.add_schema({"image": {"type": "bytes"}, "label": {"type": "int32"}}, "pictures")
writer.add_index(["label"])
writer.write_raw_data([{"image": b"...", "label": 3}])
writer.commit()

`mindspore.dataset.MindDataset` feeds such files to a network.
"""

from mindspore.mindrecord.common.exceptions import *
from mindspore.mindrecord.common.exceptions import __all__ as _exceptions
from mindspore.mindrecord.config import set_dec_mode, set_enc_key, set_enc_mode
from mindspore.mindrecord.filereader import FileReader
from mindspore.mindrecord.filewriter import FileWriter
from mindspore.mindrecord.mindpage import MindPage
from mindspore.mindrecord.tools.cifar10_to_mr import Cifar10ToMR
from mindspore.mindrecord.tools.cifar100_to_mr import Cifar100ToMR
from mindspore.mindrecord.tools.csv_to_mr import CsvToMR
from mindspore.mindrecord.tools.imagenet_to_mr import ImageNetToMR
from mindspore.mindrecord.tools.mnist_to_mr import MnistToMR
from mindspore.mindrecord.tools.tfrecord_to_mr import TFRecordToMR

SUCCESS = 0
FAILED = 1

__all__ = [
    "FAILED",
    "SUCCESS",
    "Cifar10ToMR",
    "Cifar100ToMR",
    "CsvToMR",
    "FileReader",
    "FileWriter",
    "ImageNetToMR",
    "MindPage",
    "MnistToMR",
    "TFRecordToMR",
    "set_dec_mode",
    "set_enc_key",
    "set_enc_mode",
    *_exceptions,
]
