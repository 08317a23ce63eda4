"""Paths that users give: what is refused, in words that name the argument, and what must work."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, dataset, nn
from mindspore.train import CheckpointConfig, ModelCheckpoint, serialization
from mindspore.train._utils import make_directory

DATA = {"x": Tensor(np.arange(3, dtype=np.float32))}

# Each function of ours that takes a path, and the name of the argument.
FUNCTIONS = {
    "save_checkpoint": (lambda p: ms.save_checkpoint(DATA, p), "ckpt_file_name"),
    "save_checkpoint in the background": (
        lambda p: ms.save_checkpoint(DATA, p, async_save=True),
        "ckpt_file_name",
    ),
    "save_checkpoint as safetensors": (
        lambda p: ms.save_checkpoint(DATA, p, format="safetensors"),
        "ckpt_file_name",
    ),
    "load_checkpoint": (ms.load_checkpoint, "ckpt_file_name"),
    "load_checkpoint of safetensors": (
        lambda p: ms.load_checkpoint(p, format="safetensors"),
        "ckpt_file_name",
    ),
    "load_checkpoint_async": (lambda p: ms.load_checkpoint_async(p).result(), "ckpt_file_name"),
    "ckpt_to_safetensors": (ms.ckpt_to_safetensors, "file_path"),
    "ckpt_to_safetensors to": (lambda p: ms.ckpt_to_safetensors("a.ckpt", p), "save_path"),
    "safetensors_to_ckpt": (ms.safetensors_to_ckpt, "file_path"),
    "safetensors_to_ckpt to": (lambda p: ms.safetensors_to_ckpt("a.safetensors", p), "save_path"),
    "ModelCheckpoint": (lambda p: ModelCheckpoint("p", p), "directory"),
    "export": (lambda p: ms.export(nn.ReLU(), file_name=p, file_format="ONNX"), "file_name"),
    "load": (ms.load, "file_name"),
    "make_directory": (make_directory, "path"),
    "MnistDataset": (dataset.MnistDataset, "dataset_dir"),
    "Cifar10Dataset": (dataset.Cifar10Dataset, "dataset_dir"),
    "ImageFolderDataset": (dataset.ImageFolderDataset, "dataset_dir"),
    "dataset.config.load": (dataset.config.load, "file"),
    "set_enable_autotune": (
        lambda p: dataset.config.set_enable_autotune(False, p),
        "filepath_prefix",
    ),
    **{
        f"set_context {name}": (lambda p, name=name: ms.set_context(**{name: p}), name)
        for name in ("save_graphs_path", "compile_cache_path", "save_dump_path", "print_file_path")
    },
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ms.save_checkpoint(DATA, "a.ckpt")
    ms.save_checkpoint(DATA, "a.safetensors", format="safetensors")
    return tmp_path


@pytest.mark.parametrize("path", ["", " ", "a\0b", "a.ckpt\0", pathlib.Path("a\0b.ckpt")])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_path(function, path, folder):
    call, argument = FUNCTIONS[function]
    before = os.listdir(folder)
    with pytest.raises(ValueError, match=f"'{argument}' must be a path that is not empty"):
        call(path)
    assert os.listdir(folder) == before


@pytest.mark.parametrize("path", [5, b"a.ckpt", ["a.ckpt"]])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_no_str(function, path):
    call, argument = FUNCTIONS[function]
    with pytest.raises(TypeError, match=f"'{argument}' must be a str or an os.PathLike, but got"):
        call(path)


@pytest.mark.parametrize("prefix", ["a\0", "a/b", 5])
def test_no_prefix(prefix):
    with pytest.raises(ValueError, match="'prefix' must be a str without '/' and NUL"):
        ModelCheckpoint(prefix)


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_path_objects(folder, format):
    path = pathlib.Path("b." + format)
    ms.save_checkpoint(DATA, path, format=format)
    assert list(ms.load_checkpoint(path, format=format)) == ["x"]
    convert = ms.ckpt_to_safetensors if format == "ckpt" else ms.safetensors_to_ckpt
    assert pathlib.Path(convert(path, pathlib.Path("made/here"))).parent == folder / "made/here"
    ModelCheckpoint("p", pathlib.Path("also"), CheckpointConfig())
    assert os.path.isdir("also")


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_a_folder_where_a_file_is_meant(folder, format):
    name = f"folder.{format}"
    os.mkdir(name)
    with pytest.raises(IsADirectoryError, match=rf"{name}': Is a directory \(errno 21\)"):
        ms.save_checkpoint(DATA, name, format=format)
    with pytest.raises(IsADirectoryError, match="'ckpt_file_name' must be a file"):
        ms.save_checkpoint(DATA, name + "/", format=format)
    with pytest.raises(ValueError, match=f"{name}' is a folder, not a regular file"):
        ms.load_checkpoint(name, format=format)
    assert os.listdir(name) == []


def test_a_file_where_a_folder_is_meant():
    with pytest.raises(NotADirectoryError, match="'directory' must be a folder, but it is a file"):
        ModelCheckpoint("p", "a.ckpt")
    with pytest.raises(NotADirectoryError, match="'save_path' must be a folder"):
        ms.ckpt_to_safetensors("a.ckpt", "a.safetensors")
    with pytest.raises(FileNotFoundError, match="folder of 'ckpt_file_name' must exist"):
        ms.save_checkpoint(DATA, "none/a.ckpt")
    with pytest.raises(NotADirectoryError, match="'directory' cannot be made"):
        ModelCheckpoint("p", "a.ckpt/b")


@pytest.mark.parametrize("format", ["ckpt", "safetensors"])
def test_bytes_that_the_locale_cannot_decode(folder, format):
    name = os.fsdecode(b"gr\xf6\xdfe\xff." + format.encode())
    ms.save_checkpoint(DATA, name, format=format)
    assert list(ms.load_checkpoint(name, format=format)) == ["x"]
    assert name.encode("utf-8", "surrogateescape") in os.listdir(os.fsencode(folder))
    ms.save_checkpoint(DATA, name, format=format, async_save=True)
    serialization.writer.run("", lambda: None)
    inside = os.path.join(os.fsdecode(b"\xe4"), "a." + format)
    os.mkdir(os.path.dirname(inside))
    ms.save_checkpoint(DATA, pathlib.Path(inside), format=format)
    assert list(ms.load_checkpoint(inside, format=format)) == ["x"]
    # And in messages.
    with open(name, "r+b") as file:
        file.truncate(20)
    with pytest.raises(ValueError, match="damaged") as caught:
        ms.load_checkpoint(name, format=format)
    assert name in str(caught.value)


def test_a_write_error_of_such_a_path(monkeypatch):
    name = os.fsdecode(b"\xff.ckpt")
    monkeypatch.setenv("MS_IO_FAULT", "1:eio")
    with pytest.raises(OSError, match="errno 5") as caught:
        ms.save_checkpoint(DATA, name)
    assert name in str(caught.value)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8", "POSIX"])
def test_other_locales(folder, locale):
    program = textwrap.dedent(r"""
        import os
        import mindspore as ms
        name = os.fsdecode(b"gr\xc3\xb6\xc3\x9fe.ckpt")
        ms.save_checkpoint({"x": ms.Tensor(1.0)}, name)
        assert list(ms.load_checkpoint(name)) == ["x"]
        try:
            ms.load_checkpoint(name.replace(".", "2."))
        except ValueError as error:
            print(error)
    """)
    environment = {
        **{k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHONUTF8"))},
        "LC_ALL": locale,
        "PYTHONCOERCECLOCALE": "0",
        "PYTHONUTF8": "0",
    }
    subprocess.run([sys.executable, "-c", program], check=True, env=environment)
    assert "größe.ckpt".encode() in os.listdir(os.fsencode(folder))


def test_halves_of_characters_are_refused():
    with pytest.raises(ValueError, match="'ckpt_file_name' must be a path that the locale can"):
        ms.save_checkpoint(DATA, "\ud800.ckpt")
