"""Small copies of the files that public data sets consist of, written into a folder.

`SAMPLES` has a function for each data set. Nothing here needs either package, so that the one that answers are
recorded with can be given the same files.
"""

from __future__ import annotations

import json
import struct
from pathlib import Path

import sample_texts  # noqa: F401  # which adds its own
from sample_parts import SAMPLES, gray_images, idx, png, put, sample, sound, sphere

__all__ = ["SAMPLES"]


# Images


@sample
def mnist(folder: Path) -> None:
    for part, count in (("train", 4), ("t10k", 3)):
        put(folder / f"{part}-images-idx3-ubyte", idx((count, 28, 28), gray_images(count)))
        put(folder / f"{part}-labels-idx1-ubyte", idx((count,), bytes(range(count))))


@sample
def emnist(folder: Path) -> None:
    for part, count in (("train", 3), ("test", 2)):
        stem = folder / f"emnist-letters-{part}"
        put(Path(f"{stem}-images-idx3-ubyte"), idx((count, 28, 28), gray_images(count)))
        put(Path(f"{stem}-labels-idx1-ubyte"), idx((count,), bytes(range(1, count + 1))))


@sample
def qmnist(folder: Path) -> None:
    for part, count in (("qmnist-train", 2), ("qmnist-test", 3), ("xnist", 2)):
        put(folder / f"{part}-images-idx3-ubyte", idx((count, 28, 28), gray_images(count)))
        labels = b"".join(struct.pack(">8i", n, 1, 2, n + 3, 4, 5, 0, 0) for n in range(count))
        put(folder / f"{part}-labels-idx2-int", idx((count, 8), labels, 12))


@sample
def usps(folder: Path) -> None:
    for name, count in (("usps", 3), ("usps.t", 2)):
        rows = []
        for n in range(count):
            cells = [f"{i + 1}:{((i + n) % 21 - 10) / 10:.3f}" for i in range(256)]
            rows.append(" ".join([str(n + 1), *cells, ""]))
        put(folder / name, "\n".join(rows) + "\n")


@sample
def semeion(folder: Path) -> None:
    rows = []
    for n in range(3):
        cells = [f"{(i + n) % 2:.4f}" for i in range(256)]
        rows.append(" ".join(cells + ["1" if d == n else "0" for d in range(10)]))
    put(folder / "semeion.data", " \n".join(rows) + " \n")


@sample
def stl10(folder: Path) -> None:
    size = 3 * 96 * 96
    for part, count in (("train", 2), ("test", 1), ("unlabeled", 1)):
        put(
            folder / f"{part}_X.bin",
            b"".join(bytes((n + i) % 251 for i in range(size)) for n in range(count)),
        )
        if part != "unlabeled":
            put(folder / f"{part}_y.bin", bytes(range(1, count + 1)))


@sample
def caltech256(folder: Path) -> None:
    for n, name in enumerate(("001.ak47", "002.flag")):
        put(folder / name / f"{n}_0002.jpg", png(n))
        put(folder / name / f"{n}_0001.jpg", png(n + 5))


@sample
def image_tree(folder: Path) -> None:
    for n, name in enumerate(("b/x", "a/y")):
        put(folder / f"{name}.png", png(n))
    put(folder / "a/.DS_Store", b"junk")
    (folder / "c").mkdir()


@sample
def food101(folder: Path) -> None:
    for n, name in enumerate(("apple_pie/1", "apple_pie/2", "ramen/3")):
        put(folder / "images" / f"{name}.jpg", png(n))
    put(folder / "meta/train.txt", "apple_pie/2\nramen/3\n")
    put(folder / "meta/test.txt", "apple_pie/1\n")
    put(folder / "meta/classes.txt", "apple_pie\nramen\n")


@sample
def omniglot(folder: Path) -> None:
    for part in ("images_background", "images_evaluation"):
        for n, name in enumerate(("Greek/character01", "Greek/character02", "Latin/character01")):
            put(folder / part / name / f"0{n}_01.png", png(n + len(part)))


@sample
def sst2_pictures(folder: Path) -> None:
    for n, part in enumerate(("train", "test", "valid")):
        for m, name in enumerate(("negative", "positive")):
            put(folder / part / name / f"{m}.png", png(2 * n + m))


@sample
def sun397(folder: Path) -> None:
    put(folder / "ClassName.txt", "/a/abbey\n/a/airplane_cabin\n/b/bar/indoor\n")
    for n, name in enumerate(("a/abbey/s1", "a/airplane_cabin/s2", "b/bar/indoor/s3")):
        put(folder / f"{name}.jpg", png(n))


@sample
def places(folder: Path) -> None:
    put(folder / "categories_places365.txt", "/a/airfield 0\n/b/barn 1\n")
    put(folder / "places365_train_standard.txt", "/a/airfield/00000001.jpg 0\n/b/barn/00000002.jpg 1\n")  # fmt: skip
    put(folder / "places365_train_challenge.txt", "/b/barn/00000002.jpg 1\n")
    put(folder / "places365_val.txt", "Places365_val_00000001.jpg 1\n")
    for n, place in enumerate(("data_256_standard", "data_large_standard", "data_256_challenge")):
        put(folder / place / "a/airfield/00000001.jpg", png(n))
        put(folder / place / "b/barn/00000002.jpg", png(n + 9))
    put(folder / "val_256/Places365_val_00000001.jpg", png(20))
    put(folder / "val_large/Places365_val_00000001.jpg", png(21))


@sample
def celeba(folder: Path) -> None:
    names = " ".join(f"attr{i}" for i in range(40))
    rows = []
    for n in range(1, 4):
        signs = " ".join("1" if (i + n) % 3 == 0 else "-1" for i in range(40))
        rows.append(f"00000{n}.jpg  {signs}")
        put(folder / f"00000{n}.jpg", png(n))
    put(folder / "list_attr_celeba.txt", "3\n" + names + "\n" + "\n".join(rows) + "\n")
    put(folder / "list_eval_partition.txt", "000001.jpg 0\n000002.jpg 1\n000003.jpg 2\n")


@sample
def manifest(folder: Path) -> None:
    lines = []
    for n, (name, usage) in enumerate((("cat", "train"), ("dog", "train"), ("cat", "eval"))):
        put(folder / f"{n}.png", png(n))
        lines.append(json.dumps({"source": str(folder / f"{n}.png"), "usage": usage, "annotation": [{"name": name, "type": "modelarts/image_classification"}]}))  # fmt: skip
    put(folder / "list.manifest", "\n".join(lines) + "\n")


@sample
def voc(folder: Path) -> None:
    for part in ("train", "val"):
        names = ["000001", "000002"] if part == "train" else ["000003"]
        for task in ("Segmentation", "Main"):
            put(folder / f"ImageSets/{task}/{part}.txt", "\n".join(names) + "\n")
        for name in names:
            number = int(name)
            put(folder / f"JPEGImages/{name}.jpg", png(number))
            put(folder / f"SegmentationClass/{name}.png", png(number + 50, gray=True))
            things = "".join(
                f"<object><name>{kind}</name><pose>Left</pose><truncated>{i}</truncated><difficult>{1 - i}</difficult>"
                f"<bndbox><xmin>{i + 1}</xmin><ymin>{number}</ymin><xmax>{i + 5}</xmax><ymax>{number + 7}</ymax></bndbox></object>"
                for i, kind in enumerate(("dog", "cat")[: number % 3])
            )  # fmt: skip
            put(folder / f"Annotations/{name}.xml", f"<annotation><filename>{name}.jpg</filename>{things}</annotation>")  # fmt: skip


@sample
def coco(folder: Path) -> None:
    for n in (1, 2, 3):
        put(folder / f"images/{n:06}.jpg", png(n))
    images = [{"id": n, "file_name": f"{n:06}.jpg", "height": 2, "width": 3} for n in (1, 2, 3)]
    kinds = [{"id": 7, "name": "cat", "supercategory": "animal", "isthing": 1}, {"id": 9, "name": "sky", "supercategory": "stuff", "isthing": 0}]  # fmt: skip
    boxes = [
        {"id": 11, "image_id": 1, "category_id": 7, "bbox": [1, 2, 3, 4.5], "iscrowd": 0, "area": 12,
         "segmentation": [[1.0, 2, 3, 4, 5, 6]]},
        {"id": 12, "image_id": 1, "category_id": 9, "bbox": [5, 6, 7, 8], "iscrowd": 1, "area": 56,
         "segmentation": [[7.0, 8, 9, 10, 11, 12, 13, 14], [0.5, 1, 2, 3, 4, 5]]},
        {"id": 13, "image_id": 2, "category_id": 7, "bbox": [0, 0, 1, 1], "iscrowd": 0, "area": 1,
         "segmentation": [[0.0, 0, 1, 0, 1, 1]]},
    ]  # fmt: skip
    alone = [{**box, "iscrowd": 0} for box in boxes]
    put(
        folder / "stuff.json",
        json.dumps({"images": images, "annotations": alone, "categories": kinds}),
    )
    put(
        folder / "boxes.json",
        json.dumps({"images": images, "annotations": boxes, "categories": kinds}),
    )
    points = [
        {**box, "keypoints": [1, 2, 2, 4, 5, 1, 0, 0, 0], "num_keypoints": 2} for box in boxes
    ]
    put(
        folder / "points.json",
        json.dumps({"images": images, "annotations": points, "categories": kinds}),
    )
    words = [{"id": n, "image_id": 1 + n % 2, "caption": f"caption {n}"} for n in range(3)]
    put(folder / "captions.json", json.dumps({"images": images, "annotations": words}))
    parts = [{"image_id": n, "file_name": f"{n:06}.png", "segments_info": [
        {"id": 5, "category_id": 7, "iscrowd": 0, "bbox": [1, 2, 3, 4], "area": 12}]} for n in (1, 2)]  # fmt: skip
    put(
        folder / "panoptic.json",
        json.dumps({"images": images, "annotations": parts, "categories": kinds}),
    )


@sample
def flickr(folder: Path) -> None:
    lines = []
    for n in (10, 11):
        put(folder / f"images/{n}.jpg", png(n))
        lines += [f"{n}.jpg#{i}\tcaption {n} {i} ." for i in range(5)]
    put(folder / "words.token", "\n".join(lines) + "\n")


@sample
def cityscapes(folder: Path) -> None:
    for n, city in enumerate(("aachen", "bonn")):
        stem = f"{city}_000000_000019"
        put(folder / f"leftImg8bit/train/{city}/{stem}_leftImg8bit.png", png(n))
        for m, kind in enumerate(("instanceIds.png", "labelIds.png", "color.png")):
            put(folder / f"gtFine/train/{city}/{stem}_gtFine_{kind}", png(10 * n + m + 3, m < 2))
        put(folder / f"gtFine/train/{city}/{stem}_gtFine_polygons.json", '{"imgHeight": 2}')


@sample
def div2k(folder: Path) -> None:
    for n in (1, 2):
        put(folder / f"DIV2K_train_HR/000{n}.png", png(n))
        put(folder / f"DIV2K_train_LR_bicubic/X2/000{n}x2.png", png(n + 4))
        put(folder / f"DIV2K_train_LR_unknown/X2/000{n}x2.png", png(n + 8))
        put(folder / f"DIV2K_train_LR_mild/000{n}x4m.png", png(n + 12))


@sample
def kitti(folder: Path) -> None:
    for n in range(2):
        put(folder / f"data_object_image_2/training/image_2/00000{n}.png", png(n))
        put(folder / f"data_object_image_2/testing/image_2/00000{n}.png", png(n + 4))
        lines = [
            f"Car 0.50 {m} -1.58 {n}.0 173.33 614.12 200.12 1.65 1.67 3.64 -0.65 1.71 46.70 -1.59"
            for m in range(n + 1)
        ]
        put(folder / f"data_object_label_2/training/label_2/00000{n}.txt", "\n".join(lines) + "\n")


@sample
def lsun(folder: Path) -> None:
    for n, name in enumerate(("bedroom_train", "church_outdoor_train", "bedroom_val", "test")):
        put(folder / name / f"{n}.jpg", png(n))


@sample
def wider_face(folder: Path) -> None:
    for n, part in enumerate(("train", "val", "test")):
        put(folder / f"WIDER_{part}/images/0--Parade/p{n}.jpg", png(n))
    box = "449 330 122 149 0 1 0 1 2 0"
    for part, n in (("train", 0), ("val", 1)):
        put(folder / f"wider_face_split/wider_face_{part}_bbx_gt.txt", f"0--Parade/p{n}.jpg\n2\n{box} \n{box} \n")  # fmt: skip
    put(folder / "wider_face_split/wider_face_test_filelist.txt", "0--Parade/p2.jpg\n")


@sample
def lfw(folder: Path) -> None:
    for n, name in enumerate(("Ann_Lee", "Bo_Day")):
        for m in (1, 2):
            put(folder / f"lfw_funneled/{name}/{name}_000{m}.jpg", png(4 * n + m))
    put(folder / "peopleDevTrain.txt", "1\nAnn_Lee\t2\n")
    put(folder / "peopleDevTest.txt", "1\nBo_Day\t2\n")
    put(folder / "people.txt", "2\n1\nAnn_Lee\t2\n1\nBo_Day\t2\n")
    put(folder / "pairsDevTrain.txt", "1\nAnn_Lee\t1\t2\nAnn_Lee\t1\tBo_Day\t2\n")
    put(folder / "pairsDevTest.txt", "1\nBo_Day\t1\t2\nBo_Day\t1\tAnn_Lee\t2\n")
    put(folder / "pairs.txt", "1\t1\nAnn_Lee\t1\t2\nAnn_Lee\t1\tBo_Day\t2\n")
    put(folder / "lfw-names.txt", "Ann_Lee\t2\nBo_Day\t2\n")


@sample
def sbu(folder: Path) -> None:
    urls = [f"http://static.flickr.com/{name}.jpg" for name in ("2723/43_b0", "1/gone", "99/77_e")]
    put(folder / "SBU_captioned_photo_dataset_urls.txt", "\n".join(urls) + "\n")
    put(folder / "SBU_captioned_photo_dataset_captions.txt", "one caption\nlost\ntwo captions \n")
    put(folder / "sbu_images/m_2723_43_b0.jpg", png(1))
    put(folder / "sbu_images/m_99_77_e.jpg", png(2))


# Sound


@sample
def yes_no(folder: Path) -> None:
    for n, name in enumerate(("0_1_0_1_1_0_0_1", "1_1_0_0_0_0_1_1")):
        sound(folder / f"{name}.wav", n)


@sample
def gtzan(folder: Path) -> None:
    for n, name in enumerate(("blues", "rock")):
        for m in range(2):
            sound(folder / name / f"{name}.0000{m}.wav", 2 * n + m, 22050)
    put(folder / "blues/readme.txt", "no sound")


@sample
def lj_speech(folder: Path) -> None:
    rows = ["LJ001-0001|In 1455|In fourteen|", "LJ001-0002|two|two"]
    put(folder / "metadata.csv", "LJ001-0001|In 1455|In fourteen\nLJ001-0002|two|two\n")
    for n in range(len(rows)):
        sound(folder / f"wavs/LJ001-000{n + 1}.wav", n, 22050)


@sample
def speech_commands(folder: Path) -> None:
    for n, name in enumerate(("cat/0a_nohash_0", "cat/0b_nohash_1", "dog/0c_nohash_2")):
        sound(folder / f"{name}.wav", n, 16000)
    put(folder / "testing_list.txt", "cat/0b_nohash_1.wav\n")
    put(folder / "validation_list.txt", "dog/0c_nohash_2.wav\n")


@sample
def libri_tts(folder: Path) -> None:
    for n, part in enumerate(("train-clean-100", "dev-clean")):
        stem = folder / part / "19/198" / f"19_198_000000_00000{n}"
        sound(Path(f"{stem}.wav"), n, 24000)
        put(Path(f"{stem}.normalized.txt"), f"Normalized {n}")
        put(Path(f"{stem}.original.txt"), f"Original {n}")
        line = f"19_198_000000_00000{n}\tOriginal {n}\tNormalized {n}\n"
        put(folder / part / "19/198/19_198.trans.tsv", line)


@sample
def cmu_arctic(folder: Path) -> None:
    base = folder / "cmu_us_aew_arctic"
    put(base / "etc/txt.done.data", '( arctic_a0001 "Author of the trail." )\n( arctic_a0002 "Not at this." )\n')  # fmt: skip
    for n in range(2):
        sound(base / f"wav/arctic_a000{n + 1}.wav", n, 16000)


# Parts of larger files


@sample
def tedlium(folder: Path) -> None:
    for part in ("one/train", "one/test", "one/dev", "three/data"):
        said = (
            f"A_2009 1 A_2009_x 0.01 0.0503 <o,f0,male> hello {part} world <unk>\n"
            "A_2009 1 inter_segment_gap 0.0503 0.06 <o,,unknown> ignore_time_segment_in_scoring\n"
        )
        put(folder / part / "stm/A_2009.stm", said)
        put(folder / part / "sph/A_2009.sph", sphere(1600))
        put(folder / part / "stm/B.stm", "B 1 B 0.0 0.05 <NA> two words")
        put(folder / part / "sph/B.sph", sphere(800, "10"))


@sample
def photo_tour(folder: Path) -> None:
    for number in range(2):
        head = struct.pack("<2sIHHI", b"BM", 1078 + 1024 * 1024, 0, 0, 1078)
        head += struct.pack("<IiiHHIIiiII", 40, 1024, 1024, 1, 8, 0, 1024 * 1024, 0, 0, 256, 0)
        shades = b"".join(bytes((i, i, i, 0)) for i in range(256))
        wave = bytes((i * 5 + number) % 256 for i in range(1024 + 256))
        lines = [wave[y * 3 % 256 :][:1024] for y in range(1024)]
        put(
            folder / f"liberty/patches{number:04}.bmp",
            head + shades + b"".join(reversed(lines)),
        )
    put(folder / "liberty/info.txt", "".join(f"{i // 3} 0\n" for i in range(260)))
    pairs = ((0, 1), (0, 5), (259, 258), (10, 200))
    put(
        folder / "liberty/m50_100000_100000_0.txt",
        "".join(f"{a} {a // 3} 0 {b} {b // 3} 0 0\n" for a, b in pairs),
    )
