"""Sets of images with files of MATLAB: what they hold comes out as MindSpore 2.10 gives it (labels from 0 on, as uint32; masks and
outlines as they are stored), and what is wrong with the files is said.
"""

from __future__ import annotations

import numpy as np
import pytest

import mindspore.dataset as ds

io = pytest.importorskip("scipy.io")
image_module = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)


def rows(data):
    return list(data.create_dict_iterator(num_epochs=1, output_numpy=True))


def picture(path):
    path.parent.mkdir(parents=True, exist_ok=True)
    image_module.fromarray(RNG.integers(0, 256, (5, 6, 3)).astype(np.uint8)).save(path)
    return path.read_bytes()


def test_numbers_of_houses(tmp_path):
    images = {}
    for number, part in enumerate(("train", "test", "extra")):
        images[part] = RNG.integers(0, 256, (32, 32, 3, 3)).astype(np.uint8)
        labels = np.array([[10], [1], [number + 2]], np.uint8)
        io.savemat(tmp_path / f"{part}_32x32.mat", {"X": images[part], "y": labels})
    every = rows(ds.SVHNDataset(str(tmp_path), shuffle=False))
    assert [row["label"].item() for row in every] == [0, 1, 2, 0, 1, 3, 0, 1, 4]
    assert every[0]["label"].dtype == np.uint32
    assert np.array_equal(every[4]["image"], images["test"][..., 1])
    assert len(rows(ds.SVHNDataset(str(tmp_path), "extra", num_samples=2))) == 2
    with pytest.raises(ValueError, match="usage must be one of"):
        ds.SVHNDataset(str(tmp_path), "valid")
    (tmp_path / "test_32x32.mat").write_bytes(b"no file of MATLAB" * 20)
    with pytest.raises(ValueError, match=r"test_32x32\.mat' must be one of MATLAB"):
        ds.SVHNDataset(str(tmp_path), "test")
    io.savemat(tmp_path / "test_32x32.mat", {"X": images["test"]})
    with pytest.raises(ValueError, match="must hold the variable 'y'"):
        ds.SVHNDataset(str(tmp_path), "test")


def test_flowers(tmp_path):
    files = [picture(tmp_path / f"jpg/image_{n:05d}.jpg") for n in range(1, 5)]
    masks = [picture(tmp_path / f"segmim/segmim_{n:05d}.jpg") for n in range(1, 5)]
    io.savemat(tmp_path / "imagelabels.mat", {"labels": np.array([[3, 1, 102, 2]], np.uint8)})
    parts = {"trnid": [[4]], "valid": [[2]], "tstid": [[1, 3]]}
    io.savemat(
        tmp_path / "setid.mat", {name: np.array(ids, np.uint16) for name, ids in parts.items()}
    )
    every = rows(ds.Flowers102Dataset(str(tmp_path), shuffle=False))
    assert [row["image"].tobytes() for row in every] == [files[n] for n in (3, 1, 0, 2)]
    assert [row["label"].item() for row in every] == [1, 0, 2, 101]
    (row,) = rows(ds.Flowers102Dataset(str(tmp_path), "Segmentation", "valid"))
    assert (
        list(row) == ["image", "segmentation", "label"]
        and row["segmentation"].tobytes() == masks[1]
    )
    decoded = rows(ds.Flowers102Dataset(str(tmp_path), usage="test", decode=True, shuffle=False))
    assert [row["image"].shape for row in decoded] == [(5, 6, 3)] * 2
    (tmp_path / "jpg/image_00002.jpg").unlink()
    with pytest.raises(ValueError, match=r"must hold jpg/image_00002\.jpg"):
        ds.Flowers102Dataset(str(tmp_path), usage="valid")


def test_boundaries(tmp_path):
    sparse = pytest.importorskip("scipy.sparse")
    masks = (RNG.random((20, 5, 6)) > 0.8).astype(np.uint8)
    classes = RNG.integers(0, 20, (5, 6)).astype(np.uint8)
    cells = np.empty((20, 1), object)
    for number in range(20):
        cells[number, 0] = sparse.csc_matrix(masks[number])
    (tmp_path / "cls").mkdir()
    for name in ("a", "b", "c"):
        content = picture(tmp_path / f"img/{name}.jpg")
        io.savemat(
            tmp_path / f"cls/{name}.mat", {"GTcls": {"Boundaries": cells, "Segmentation": classes}}
        )
    (tmp_path / "train.txt").write_text("a\nb\n")
    (tmp_path / "val.txt").write_text("c\n")
    (tmp_path / "train_noval.txt").write_text("a\n")
    every = rows(ds.SBDataset(str(tmp_path), shuffle=False))
    assert len(every) == 3 and every[2]["image"].tobytes() == content
    assert every[0]["task"].dtype == np.uint8 and np.array_equal(every[0]["task"], masks)
    (row,) = rows(ds.SBDataset(str(tmp_path), "Segmentation", "train_noval", decode=True))
    assert np.array_equal(row["task"], classes) and row["image"].shape == (5, 6, 3)
    io.savemat(tmp_path / "cls/c.mat", {"GTcls": np.zeros(3)})
    with pytest.raises(RuntimeError, match=r"c\.mat' must hold Boundaries in GTcls"):
        rows(ds.SBDataset(str(tmp_path), usage="val"))


def test_categories(tmp_path):
    for name, outlines in (
        ("Faces_easy", "Faces_3"),
        ("ant", "ant"),
        ("BACKGROUND_Google", "none"),
    ):
        for number in (1, 2):
            picture(tmp_path / f"101_ObjectCategories/{name}/image_{number:04d}.jpg")
            where = tmp_path / f"Annotations/{outlines}"
            where.mkdir(parents=True, exist_ok=True)
            io.savemat(
                where / f"annotation_{number:04d}.mat",
                {"obj_contour": np.full((2, 3), number + 0.5)},
            )
    data = ds.Caltech101Dataset(str(tmp_path), shuffle=False)
    assert [row["category"].item() for row in rows(data)] == [0, 0, 1, 1]
    assert data.get_class_indexing() == {"Faces_easy": 0, "ant": 1}
    both = rows(ds.Caltech101Dataset(str(tmp_path), "all", shuffle=False, decode=True))
    assert list(both[0]) == ["image", "category", "annotation"]
    assert [row["annotation"].tolist() for row in both[:2]] == [[[1.5] * 3] * 2, [[2.5] * 3] * 2]
    (tmp_path / "Annotations/ant/annotation_0001.mat").unlink()
    with pytest.raises(RuntimeError, match=r"annotation_0001\.mat"):
        rows(ds.Caltech101Dataset(str(tmp_path), "annotation", shuffle=False))
