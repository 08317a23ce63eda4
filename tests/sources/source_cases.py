"""Which sources the answers of MindSpore 2.10 are kept of, and how a source is written down.

Imports no package: `ds` is given by whoever asks.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

# name of the case: (sample, class, arguments). `@` in an argument stands for the folder of the sample.
CASES: dict[str, tuple[str, str, dict[str, Any]]] = {}


def cases(sample: str, kind: str, *lists: dict[str, Any], folder: str = "dataset_dir") -> None:
    """One case for each dict of arguments."""
    for number, arguments in enumerate(lists or ({},)):
        given = {folder: "@", **arguments} if folder else arguments
        CASES[f"{kind}-{number}"] = (sample, kind, given)


def usages(*names: str) -> list[dict[str, Any]]:
    """Arguments with these usages, and without."""
    return [{"usage": name} for name in names] + [{}]


def files(*names: str, **others: Any) -> dict[str, Any]:
    """Arguments of a source that is given files."""
    return {"dataset_files": [f"@/{name}" for name in names], **others}


cases(
    "text_file",
    "TextFileDataset",
    files("a.txt"),
    files("b.txt", "a.txt"),
    files("empty.txt", "b.txt"),
    folder="",
)
cases(
    "csv", "CSVDataset", files("plain.csv", column_names=["i", "f", "s"]),
    files("plain.csv", column_names=["i", "f", "s"], column_defaults=[1, 2.0, "x"]),
    files("quoted.csv", column_names=["i", "a", "b"]),
    files("quoted.csv", column_names=["i", "a", "b"], column_defaults=[0, "a", "b"]),
    files("headed.csv"), files("headed.csv", column_defaults=[0, ""]),
    files("tabs.csv", field_delim="\t", column_names=["i", "s"]),
    files("short.csv", column_names=["i", "j"]),
    files("wrong.csv", column_names=["i", "j"], column_defaults=[1, 1]),
    folder="",
)  # fmt: skip
for task in ("AFQMC", "TNEWS", "IFLYTEK", "CMNLI", "WSC", "CSL"):
    CASES[f"CLUEDataset-{task}"] = (
        "clue",
        "CLUEDataset",
        files(f"{task.lower()}.json", task=task, usage="train"),
    )
    CASES[f"CLUEDataset-{task}-test"] = (
        "clue",
        "CLUEDataset",
        files(f"{task.lower()}_test.json", task=task, usage="test"),
    )
cases(
    "clue",
    "CLUEDataset",
    files("broken.json"),
    files("other.json"),
    files("afqmc.json", usage="eval"),
    folder="",
)
for sample, kind in (("ag_news", "AGNews"), ("amazon", "AmazonReview"), ("dbpedia", "DBpedia"), ("yelp", "YelpReview"),
                     ("yahoo", "YahooAnswers"), ("sogou", "SogouNews")):  # fmt: skip
    cases(sample, f"{kind}Dataset", *usages("train", "test", "all"))
cases("imdb", "IMDBDataset", *usages("train", "test", "all"))
cases("sst2", "SST2Dataset", *usages("train", "test", "dev"))
cases("wiki_text", "WikiTextDataset", *usages("train", "test", "valid", "all"))
cases("penn", "PennTreebankDataset", *usages("train", "test", "valid", "all"))
cases("enwik9", "EnWik9Dataset")
cases("conll", "CoNLL2000Dataset", *usages("train", "test", "all"))
cases("udpos", "UDPOSDataset", *usages("train", "test", "valid", "all"))
cases(
    "multi30k",
    "Multi30kDataset",
    *usages("train", "test", "valid", "all"),
    {"usage": "train", "language_pair": ["de", "en"]},
)
cases(
    "iwslt16",
    "IWSLT2016Dataset",
    *usages("train", "valid", "test", "all"),
    {"usage": "valid", "valid_set": "dev2010"},
    {"language_pair": ["en", "xx"]},
    {"language_pair": ["en", "fr"]},
)
cases("iwslt17", "IWSLT2017Dataset", *usages("train", "valid", "test", "all"))
cases(
    "tedlium",
    "TedliumDataset",
    *[
        {**given, "release": "release1", "dataset_dir": "@/one"}
        for given in usages("train", "test", "dev", "all")
    ],
    {"release": "release3", "dataset_dir": "@/three"},
    {"release": "release3", "usage": "train", "dataset_dir": "@/three"},
    {"release": "release4", "dataset_dir": "@/one"},
)
cases(
    "photo_tour",
    "PhotoTourDataset",
    {"name": "liberty", "usage": "test"},
    {"name": "liberty"},
    {"name": "yosemite"},
    {"name": "paris"},
)
cases("squad", "SQuADDataset", *usages("train", "dev", "all"))
for kind in ("Mnist", "FashionMnist", "KMnist"):
    cases("mnist", f"{kind}Dataset", *usages("train", "test", "all"))
cases(
    "emnist",
    "EMnistDataset",
    {"name": "letters", "usage": "train"},
    {"name": "letters", "usage": "test"},
    {"name": "letters"},
)
cases(
    "qmnist",
    "QMnistDataset",
    *usages("train", "test", "test10k", "test50k", "nist"),
    {"usage": "train", "compat": False},
)
cases("usps", "USPSDataset", *usages("train", "test", "all"))
cases("semeion", "SemeionDataset")
cases("stl10", "STL10Dataset", *usages("train", "test", "unlabeled", "train+unlabeled", "all"))
cases("caltech256", "Caltech256Dataset")
cases("image_tree", "ImageFolderDataset", {}, {"decode": True})
cases("food101", "Food101Dataset", *usages("train", "test", "all"))
cases("omniglot", "OmniglotDataset", {}, {"background": False})
cases("sst2_pictures", "RenderedSST2Dataset", *usages("train", "test", "val", "all"))
cases(
    "places",
    "Places365Dataset",
    {"usage": "train-standard"},
    {"usage": "train-standard", "small": False},
    {"usage": "train-challenge"},
    {"usage": "val"},
    {},
)
cases("celeba", "CelebADataset", *usages("train", "valid", "test", "all"), {"extensions": [".png"]})
cases(
    "manifest",
    "ManifestDataset",
    {},
    {"usage": "eval"},
    {"class_indexing": {"dog": 5, "cat": 1}},
    {"decode": True},
)
for name, arguments in list(CASES.items()):
    if arguments[1] == "ManifestDataset":
        CASES[name] = (
            *arguments[:2],
            {k: v for k, v in arguments[2].items() if k != "dataset_dir"}
            | {"dataset_file": "@/list.manifest"},
        )
cases("voc", "VOCDataset", {}, {"task": "Detection"}, {"task": "Detection", "usage": "val"}, {"task": "Segmentation", "decode": True},
      {"task": "Detection", "class_indexing": {"cat": 3, "dog": 8}}, {"task": "Detection", "extra_metadata": True})  # fmt: skip
for task, found in (
    ("Detection", "boxes"),
    ("Stuff", "stuff"),
    ("Keypoint", "points"),
    ("Panoptic", "panoptic"),
    ("Captioning", "captions"),
):
    for extra in (False, True):
        CASES[f"CocoDataset-{task}{'-extra' * extra}"] = ("coco", "CocoDataset", {
            "dataset_dir": "@/images", "annotation_file": f"@/{found}.json", "task": task, "extra_metadata": extra})  # fmt: skip
cases("flickr", "FlickrDataset", {"dataset_dir": "@/images", "annotation_file": "@/words.token"})
cases(
    "cityscapes",
    "CityscapesDataset",
    {"task": "instance"},
    {"task": "semantic"},
    {"task": "color"},
    {"task": "polygon"},
)
cases("div2k", "DIV2KDataset", {}, {"downgrade": "unknown"}, {"downgrade": "mild", "scale": 4})
cases("kitti", "KITTIDataset", {"usage": "train"}, {"usage": "test"})
cases(
    "lsun",
    "LSUNDataset",
    {"usage": "train"},
    {"usage": "val", "classes": ["bedroom"]},
    {"usage": "test"},
)
cases("wider_face", "WIDERFaceDataset", *usages("train", "valid", "test", "all"))
for task in ("people", "pairs"):
    for usage in ("train", "test", "10fold", "all"):
        CASES[f"LFWDataset-{task}-{usage}"] = (
            "lfw",
            "LFWDataset",
            {"dataset_dir": "@", "task": task, "usage": usage},
        )
cases("sbu", "SBUDataset")
cases("yes_no", "YesNoDataset")
cases("gtzan", "GTZANDataset", {})
cases("lj_speech", "LJSpeechDataset")
cases("speech_commands", "SpeechCommandsDataset", *usages("train", "test", "valid", "all"))
cases("libri_tts", "LibriTTSDataset", {"usage": "train-clean-100"}, {"usage": "dev-clean"}, {})
cases("cmu_arctic", "CMUArcticDataset", {"name": "aew"}, {})


def given(value: Any, folder: Path) -> Any:
    """An argument with the folder put in."""
    if isinstance(value, str):
        return value.replace("@", str(folder))
    return [given(v, folder) for v in value] if isinstance(value, list) else value


def written(value: Any) -> list[Any]:
    """A value: its dtype, its shape, and what it holds, or a digest of it where that is long."""
    if value.dtype.kind == "U":
        content: Any = value.tolist()
    elif value.size <= 16:
        content = [str(v) for v in value.ravel().tolist()]
    else:
        content = hashlib.md5(value.tobytes()).hexdigest()
    kind = value.dtype.kind if value.dtype.kind in "US" else str(value.dtype)
    return [kind, list(value.shape), content]


def answer(ds: Any, case: str, folder: Path) -> dict[str, Any]:
    """What a package makes of a case: columns, size and rows in order, or that it raises."""
    _, kind, arguments = CASES[case]
    try:
        made = getattr(ds, kind)(**given_all(arguments, folder), shuffle=False)
        rows = [
            [written(v) for v in row]
            for row in made.create_tuple_iterator(num_epochs=1, output_numpy=True)
        ]
        return {
            "columns": made.get_col_names(),
            "size": made.get_dataset_size(),
            "rows": rows,
            "classes": made.num_classes(),
        }
    except Exception as error:
        return {"raises": type(error).__name__, "text": str(error)[:300]}


def given_all(arguments: dict[str, Any], folder: Path) -> dict[str, Any]:
    """All arguments of a case."""
    return {name: given(value, folder) for name, value in arguments.items()}
