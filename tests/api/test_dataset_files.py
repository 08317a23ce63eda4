"""Datasets of files: IDX, CIFAR's binary files, folders of images; whole and damaged ones."""

from __future__ import annotations

import gzip
import os
import struct
import tarfile
from pathlib import Path

import numpy as np
import pytest

import mindspore.dataset as ds

MNIST = Path(os.environ.get("MS_TEST_DATA", "")) / "mnist"


def idx(array: np.ndarray) -> bytes:
    return (
        b"\0\0\x08"
        + bytes([array.ndim])
        + struct.pack(f">{array.ndim}I", *array.shape)
        + array.tobytes()
    )


def mnist(folder: Path, part: str, count: int, suffix: str = "") -> None:
    rng = np.random.default_rng(count)
    images = rng.integers(0, 256, (count, 28, 28), np.uint8)
    labels = (np.arange(count) % 10).astype(np.uint8)
    for name, array in (("images-idx3", images), ("labels-idx1", labels)):
        content = idx(array)
        (folder / f"{part}-{name}-ubyte{suffix}").write_bytes(
            gzip.compress(content) if suffix else content
        )


def labels(dataset) -> list[int]:
    return [int(row["label"]) for row in dataset.create_dict_iterator(1, output_numpy=True)]


def test_mnist(tmp_path):
    mnist(tmp_path, "train", 12)
    mnist(tmp_path, "t10k", 5, ".gz")
    train = ds.MnistDataset(str(tmp_path), "train", shuffle=False)
    assert (len(train), train.num_classes(), train.get_col_names()) == (12, 10, ["image", "label"])
    assert train.output_shapes() == [[28, 28, 1], []]
    assert train.output_types() == [np.dtype("uint8"), np.dtype("uint32")]
    assert labels(train) == [i % 10 for i in range(12)]
    assert len(ds.MnistDataset(str(tmp_path), "test")) == 5
    assert len(ds.MnistDataset(str(tmp_path))) == 17
    assert len(ds.MnistDataset(str(tmp_path), "train", num_samples=3)) == 3


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda content: content[:-1], "must have 4704 bytes"),
        (lambda content: content + b"\0", "got more"),
        (lambda content: content[:3], "no IDX file"),
        (lambda content: b"\0\0\x07" + content[3:], "no IDX file"),
        (lambda content: content[:4] + b"\xff" * 8 + content[12:], "too large"),
        (lambda content: b"", "no IDX file"),
    ],
)
def test_damaged_mnist(tmp_path, damage, says):
    mnist(tmp_path, "train", 6)
    path = tmp_path / "train-images-idx3-ubyte"
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(ValueError, match=says) as caught:
        ds.MnistDataset(str(tmp_path), "train")
    assert str(path) in str(caught.value)


def test_damaged_gzip_and_missing_files(tmp_path):
    with pytest.raises(ValueError, match="has none of them"):
        ds.MnistDataset(str(tmp_path))
    mnist(tmp_path, "train", 6, ".gz")
    path = tmp_path / "train-images-idx3-ubyte.gz"
    content = path.read_bytes()
    path.write_bytes(content[:-20])
    with pytest.raises(ValueError, match="damaged"):
        ds.MnistDataset(str(tmp_path), "train")
    for damaged in (b"no gzip", content[:12] + bytes(b ^ 90 for b in content[12:])):
        path.write_bytes(damaged)
        with pytest.raises(ValueError, match=f"{path.name}' is damaged"):
            ds.MnistDataset(str(tmp_path), "train")
    path.write_bytes(b"no gzip")
    with pytest.raises(ValueError, match="damaged"):
        ds.MnistDataset(str(tmp_path), "train")
    path.unlink()
    with pytest.raises(ValueError, match="must hold train-images-idx3-ubyte"):
        ds.MnistDataset(str(tmp_path), "train")


def test_parts_that_are_not_whole(tmp_path):
    mnist(tmp_path, "train", 6)
    assert len(ds.MnistDataset(str(tmp_path))) == 6
    with pytest.raises(ValueError, match="must hold t10k-images-idx3-ubyte"):
        ds.MnistDataset(str(tmp_path), "all")
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(idx(np.zeros(5, np.uint8)))
    with pytest.raises(ValueError, match="must hold t10k-images-idx3-ubyte"):
        ds.MnistDataset(str(tmp_path))


def test_counts_that_differ(tmp_path):
    mnist(tmp_path, "train", 6)
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(np.zeros(5, np.uint8)))
    with pytest.raises(ValueError, match="6 train images and 5 labels"):
        ds.MnistDataset(str(tmp_path), "train")


@pytest.mark.skipif(not MNIST.is_dir(), reason="the MNIST files are not here")
def test_real_mnist():
    dataset = ds.MnistDataset(str(MNIST), "test", shuffle=False)
    assert len(dataset) == 10000
    assert labels(dataset.take(5)) == [7, 2, 1, 0, 4]


def test_cifar(tmp_path):
    rng = np.random.default_rng(0)
    records = rng.integers(0, 256, (7, 3073), np.uint8)
    records[:, 0] = np.arange(7)
    (tmp_path / "data_batch_1.bin").write_bytes(records.tobytes())
    for number in range(2, 6):
        (tmp_path / f"data_batch_{number}.bin").write_bytes(records[:1].tobytes())
    assert len(ds.Cifar10Dataset(str(tmp_path))) == 11
    with pytest.raises(ValueError, match=r"must hold test_batch.bin, but"):
        ds.Cifar10Dataset(str(tmp_path), "all")
    (tmp_path / "test_batch.bin").write_bytes(records[:2].tobytes())
    train = ds.Cifar10Dataset(str(tmp_path), "train", shuffle=False)
    assert len(train) == 11 and len(ds.Cifar10Dataset(str(tmp_path))) == 13
    image, label = next(train.create_tuple_iterator(output_numpy=True))
    assert image.shape == (32, 32, 3) and label == 0
    assert (image.transpose(2, 0, 1).reshape(-1) == records[0, 1:]).all()
    (tmp_path / "data_batch_1.bin").write_bytes(b"abc")
    with pytest.raises(ValueError, match="multiple of 3073 bytes, but got 3"):
        ds.Cifar10Dataset(str(tmp_path), "train")
    (tmp_path / "data_batch_3.bin").unlink()
    for usage in ("train", "all", None):
        with pytest.raises(ValueError, match=r"must hold data_batch_3.bin, but"):
            ds.Cifar10Dataset(str(tmp_path), usage)
    fine = np.zeros((2, 3074), np.uint8)
    fine[:, 1] = [5, 99]
    (tmp_path / "train.bin").write_bytes(fine.tobytes())
    cifar100 = ds.Cifar100Dataset(str(tmp_path), "train", shuffle=False)
    assert cifar100.get_col_names() == ["image", "coarse_label", "fine_label"]
    assert [int(r["fine_label"]) for r in cifar100.create_dict_iterator(1, True)] == [5, 99]


def test_image_folder(tmp_path):
    for name in ("b", "a"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "1.JPG").write_bytes(name.encode())
        (tmp_path / name / "notes.txt").write_text("no image")
    dataset = ds.ImageFolderDataset(str(tmp_path), shuffle=False)
    assert dataset.get_class_indexing() == {"a": 0, "b": 1}
    assert [bytes(r["image"]) for r in dataset.create_dict_iterator(1, True)] == [b"a", b"b"]
    assert dataset.batch(2).num_classes() == 2
    chosen = ds.ImageFolderDataset(str(tmp_path), class_indexing={"b": 7}, shuffle=False)
    assert labels(chosen) == [7]
    with pytest.raises(ValueError, match="must name folders"):
        ds.ImageFolderDataset(str(tmp_path), class_indexing={"c": 0})
    with pytest.raises(ValueError, match="has none"):
        ds.ImageFolderDataset(str(tmp_path), extensions=[".png"])


PICTURES = os.path.join(os.environ.get("MS_TEST_DATA", ""), "cifar10-jpeg.tar.gz")


@pytest.mark.slow
@pytest.mark.skipif(
    not os.path.isfile(PICTURES), reason="needs MS_TEST_DATA with CIFAR's JPEG files"
)
def test_sixty_thousand_pictures(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    with tarfile.open(PICTURES) as archive:
        archive.extractall(tmp_path, filter="data")
    for part, count in (("train", 50_000), ("test", 10_000)):
        (root,) = tmp_path.glob(f"**/{part}")
        data = ds.ImageFolderDataset(str(root), shuffle=True, decode=True)
        assert data.get_dataset_size() == count and data.num_classes() == 10
        found = np.zeros(10, int)
        for images, labels in data.batch(500).create_tuple_iterator(None, 1, True):
            assert images.shape == (500, 32, 32, 3) and images.dtype == np.uint8
            found += np.bincount(labels, minlength=10)
        assert (found == count // 10).all()
        paths = sorted(str(path) for path in root.glob("*/*"))
        ordered = ds.ImageFolderDataset(str(root), shuffle=False, decode=True)
        for path, (image, _) in zip(
            paths[:50], ordered.create_tuple_iterator(None, 1, True), strict=False
        ):
            assert (image == np.asarray(image_module.open(path).convert("RGB"))).all()


def test_files_that_are_pictures(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    (tmp_path / "a").mkdir()
    picture = image_module.fromarray(np.full((3, 4, 3), 90, np.uint8))
    names = ["1.GIF", "2.tif", "3.TIFF", "4.webp", "5.ppm", "6.bmp", "7.png"]
    for name in names:
        picture.save(tmp_path / "a" / name)
    (tmp_path / "a" / "8").write_bytes((tmp_path / "a" / "7.png").read_bytes())
    for name in ("notes.txt", ".DS_Store", ".8", "Thumbs.db"):
        (tmp_path / "a" / name).write_bytes(b"no image")
    data = ds.ImageFolderDataset(str(tmp_path), shuffle=False, decode=True)
    images = [row["image"] for row in data.create_dict_iterator(1, True)]
    assert len(images) == 8
    assert all(image.shape == (3, 4, 3) and abs(int(image.mean()) - 90) <= 2 for image in images)
    assert ds.ImageFolderDataset(str(tmp_path), extensions=[".png"]).get_dataset_size() == 1


def test_decoded_images(tmp_path):
    image_module = pytest.importorskip("PIL.Image")
    (tmp_path / "a").mkdir()
    picture = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    image_module.fromarray(picture).save(tmp_path / "a" / "1.png")
    dataset = ds.ImageFolderDataset(str(tmp_path), decode=True)
    assert (next(dataset.create_tuple_iterator(output_numpy=True))[0] == picture).all()
    (tmp_path / "a" / "1.png").write_bytes(b"broken")
    with pytest.raises(RuntimeError, match=r"1\.png' cannot be decoded"):
        next(dataset.create_tuple_iterator(output_numpy=True))
