"""Sources whose rows are parts of larger files, those of the cloud, and callbacks that wait for the training."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from sample_files import SAMPLES
from sample_parts import put, sphere

import mindspore as ms
import mindspore.dataset as ds
from mindspore import nn


def rows(data):
    return list(data.create_tuple_iterator(num_epochs=1, output_numpy=True))


def test_sentences_of_talks_sound_as_they_are(tmp_path):
    SAMPLES["tedlium"](tmp_path)
    data = ds.TedliumDataset(str(tmp_path / "one"), "release1", "dev", shuffle=False)
    first, gap, other = rows(data)
    whole = (np.arange(1600) * 37 % 20000 - 10000).astype(np.float32) / 32768
    assert np.array_equal(first[0], whole[None, 160:804]) and first[1] == 16000
    assert np.array_equal(gap[0], whole[None, 804:960])
    assert np.array_equal(other[0], whole[None, :800])  # the bytes are the other way round
    assert [str(text) for text in first[2:]] == [
        "hello one/dev world <unk>",
        "A_2009",
        "A_2009_x",
        "<o,f0,male>",
    ]


@pytest.mark.parametrize(
    ("file", "content", "words"),
    [
        ("sph/B.sph", b"RIFF", "must be a SPHERE file"),
        ("sph/B.sph", sphere(800)[:1500], "must have 800 samples, but ends before"),
        ("sph/B.sph", sphere(800).replace(b"s3 pcm", b"s3 xyz"), "must be PCM of two bytes, but is xyz"),
        ("sph/B.sph", sphere(800).replace(b"sample_rate", b"sample_rat_"), "must tell 'sample_rate'"),
        ("stm/B.stm", b"B 1 B 0.0", "line 1, must be TALK CHANNEL"),
        ("stm/B.stm", b"B 1 B 0.5 0.1 x words", "line 1, must be TALK CHANNEL"),
        ("stm/B.stm", b"B 1 B 0 nan x words", "line 1, must be TALK CHANNEL"),
    ],
)  # fmt: skip
def test_damaged_talks(tmp_path, file, content, words):
    SAMPLES["tedlium"](tmp_path)
    put(tmp_path / "one/dev" / file, content)
    with pytest.raises((RuntimeError, ValueError), match=words):
        rows(ds.TedliumDataset(str(tmp_path / "one"), "release1", "dev"))


def test_damaged_sheets_of_patches(tmp_path):
    SAMPLES["photo_tour"](tmp_path)
    sheet = tmp_path / "liberty/patches0000.bmp"
    whole = sheet.read_bytes()
    for content, words in (
        (b"", "must be a BMP file"),
        (whole[:100000], "is cut short"),
        (whole[:18] + struct.pack("<i", 64) + whole[22:], "must have 1024 × 1024 pixels"),
    ):
        sheet.write_bytes(content)
        with pytest.raises(RuntimeError, match=words):
            rows(ds.PhotoTourDataset(str(tmp_path), "liberty", shuffle=False))
    sheet.write_bytes(whole)
    put(tmp_path / "liberty/m50_100000_100000_0.txt", "0 0 0 1 0\n0 0 0 900 0\n")
    with pytest.raises(ValueError, match="line 2, must name two of 260 patches"):
        ds.PhotoTourDataset(str(tmp_path), "liberty", "test")
    (tmp_path / "liberty/patches0001.bmp").unlink()
    with pytest.raises(ValueError, match=r"must hold patches0001\.bmp"):
        ds.PhotoTourDataset(str(tmp_path), "liberty")


def test_damaged_translations(tmp_path):
    SAMPLES["iwslt16"](tmp_path)
    where = tmp_path / "texts/de/en/de-en"
    train = where / "train.tags.de-en.de"
    train.write_text(train.read_text() + "\nanother")
    with pytest.raises(ValueError, match="equally many sentences, but got 4 and 3"):
        ds.IWSLT2016Dataset(str(tmp_path), "train")
    xml = where / "IWSLT16.TED.tst2013.de-en.en.xml"
    for content, words in (
        (xml.read_text()[:200], "must be XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><x><seg>&a;</seg></x>', "must declare no entities"),
    ):
        xml.write_text(content)
        with pytest.raises(ValueError, match=words):
            ds.IWSLT2016Dataset(str(tmp_path), "valid")


def test_an_empty_line_is_an_empty_sentence(tmp_path):
    SAMPLES["iwslt17"](tmp_path)
    where = tmp_path / "texts/DeEnItNlRo/DeEnItNlRo/DeEnItNlRo-DeEnItNlRo"
    put(where / "train.tags.de-en.de", "eins\n\ndrei\n")
    put(where / "train.tags.de-en.en", "one\ntwo\nthree\n")
    found = [
        [str(t) for t in row]
        for row in rows(ds.IWSLT2017Dataset(str(tmp_path), "train", shuffle=False))
    ]
    assert found == [["eins", "one"], ["", "two"], ["drei", "three"]]


def test_files_of_the_cloud_are_refused():
    good = ("obs.example", "key", "secret", "s3://bucket/sync")
    with pytest.raises(
        RuntimeError,
        match=r"nothing is fetched from 'obs.example' .* read the copies with MindDataset",
    ):
        ds.OBSMindDataset(["s3://bucket/a"], *good)
    with pytest.raises(ValueError, match="must begin with 's3://'"):
        ds.OBSMindDataset(["/tmp/a"], *good)
    with pytest.raises(TypeError, match="server must be str"):
        ds.OBSMindDataset(["s3://bucket/a"], 3, *good[1:])
    with pytest.raises(RuntimeError, match="'sync_wait_for_dataset'"):
        ds.sync_wait_for_dataset(0, 1, 0, None)
    with pytest.raises(ValueError, match="rank_id"):
        ds.sync_wait_for_dataset(1, 1, 0, None)


class Net(nn.Cell):
    """Gives its input."""

    def construct(self, x, y):
        return x


class Waiting(ds.WaitedDSCallback):
    """Keeps what it is told."""

    def __init__(self, step_size, events):
        super().__init__(step_size)
        self.events = events

    def sync_epoch_begin(self, train_run_context, ds_run_context):
        done = train_run_context.original_args().cur_step_num
        self.events.append(f"epoch {ds_run_context.cur_epoch_num} after {done}")

    def sync_step_begin(self, train_run_context, ds_run_context):
        self.events.append(f"step {ds_run_context.cur_step_num}")


class Trained(ms.Callback):
    """Keeps what the training does."""

    def __init__(self, events):
        self.events = events

    def step_end(self, run_context):
        self.events.append(f"trained {run_context.original_args().cur_step_num}")


@pytest.mark.parametrize(
    ("step", "batch", "expected"),
    [
        (2, 2, "row 1, row 2, trained 1, step 3, row 3, row 4, trained 2, epoch 2 after 2, step 5, row 1, row 2, trained 3, step 7, row 3, "
               "row 4, trained 4"),
        (1, 1, "row 1, trained 1, step 2, row 2, trained 2, step 3, row 3, trained 3, step 4, row 4, trained 4, epoch 2 after 4, step 5, "
               "row 1, trained 5, step 6, row 2, trained 6, step 7, row 3, trained 7, step 8, row 4, trained 8"),
    ],
)  # fmt: skip
def test_data_that_waits_for_the_training(step, batch, expected):
    events = []

    def seen(x):
        events.append(f"row {int(x)}")
        return x

    waiting = Waiting(step, events)
    numbers = np.arange(1, 5, dtype=np.float32)
    data = ds.NumpySlicesDataset((numbers, numbers), ["x", "y"], shuffle=False)
    data = data.map(seen, "x", callbacks=waiting).batch(batch)
    ms.Model(Net()).train(2, data, callbacks=[Trained(events), waiting], dataset_sink_mode=False)
    assert ", ".join(events) == expected


def test_data_that_nobody_trains_on_says_so():
    ds.config.set_callback_timeout(1)
    waiting = Waiting(1, [])
    data = ds.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False)
    data = data.map(lambda x: x, "x", callbacks=waiting)
    with pytest.raises(
        RuntimeError,
        match=r"'Waiting', the training must end step 1 within 1 s .* dataset_sink_mode=False",
    ):
        rows(data)
    with pytest.raises(TypeError, match="step_size"):
        ds.WaitedDSCallback("a")
