"""Encrypted checkpoints: files of MindSpore 2.10 and of our own, wrong keys, damage."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np
import pytest

import mindspore as ms
from mindspore import Tensor, nn
from mindspore.train import CheckpointConfig, Model, ModelCheckpoint, _encryption

pytest.importorskip("cryptography")

GOLDEN = Path(__file__).parent / "golden"
KEY = b"0" * 16
MODES = ["AES-GCM", "AES-CBC", "SM4-CBC"]
VALUES = {
    "w": Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)),
    "n": Tensor(np.array([1, -2], np.int64)),
}


@pytest.mark.parametrize("name", ["aes_gcm", "aes_cbc", "sm4_cbc", "aes_gcm_crc"])
def test_files_of_mindspore_2_10(name):
    mode = name.removesuffix("_crc").upper().replace("_", "-")
    path = str(GOLDEN / f"mindspore_2_10_{name}.ckpt")
    values = ms.load_checkpoint(path, dec_key=KEY, dec_mode=mode)
    assert {name: value.shape for name, value in values.items()} == {"weight": (3, 4), "bias": (3,)}
    assert np.abs(values["weight"].asnumpy()).max() < 1 and values["weight"].asnumpy().all()


@pytest.mark.parametrize("size", [16, 24, 32])
@pytest.mark.parametrize("enc_mode", MODES)
@pytest.mark.parametrize("block", [1 << 26, 64, 7])
def test_round_trip(tmp_path, monkeypatch, size, enc_mode, block):
    if enc_mode == "SM4-CBC" and size != 16:
        pytest.skip("SM4 has keys of 16 bytes")
    monkeypatch.setattr(_encryption, "_BLOCK_BYTES", block)
    path, key = str(tmp_path / "a.ckpt"), bytes(range(size))
    ms.save_checkpoint(VALUES, path, enc_key=key, enc_mode=enc_mode, append_dict={"note": "größer"})
    assert b"Float32" not in Path(path).read_bytes()
    values = ms.load_checkpoint(path, dec_key=key, dec_mode=enc_mode)
    assert values["note"] == "größer"
    for name, value in VALUES.items():
        np.testing.assert_array_equal(values[name].asnumpy(), value.asnumpy())
    chosen = ms.load_checkpoint(
        path, dec_key=key, dec_mode=enc_mode, choice_func=lambda n: n == "w"
    )
    assert list(chosen) == ["w"]


@pytest.mark.parametrize("enc_mode", MODES)
def test_keys_that_do_not_fit(tmp_path, enc_mode):
    path = str(tmp_path / "a.ckpt")
    ms.save_checkpoint(VALUES, path, enc_key=KEY, enc_mode=enc_mode)
    with pytest.raises(ValueError, match=r"'dec_key' must be given: '.*a\.ckpt' is encrypted"):
        ms.load_checkpoint(path)
    with pytest.raises(ValueError, match="key"):
        ms.load_checkpoint(path, dec_key=b"1" * 16, dec_mode=enc_mode)
    other = next(mode for mode in MODES if mode != enc_mode)
    with pytest.raises(ValueError, match=f"must be encrypted with {other}, but it is not"):
        ms.load_checkpoint(path, dec_key=KEY, dec_mode=other)
    ms.save_checkpoint(VALUES, path)
    with pytest.raises(ValueError, match="must be encrypted with"):
        ms.load_checkpoint(path, dec_key=KEY, dec_mode=enc_mode)


@pytest.mark.parametrize("enc_mode", MODES)
def test_every_damaged_byte_is_found(tmp_path, enc_mode):
    path = tmp_path / "a.ckpt"
    ms.save_checkpoint(VALUES, str(path), enc_key=KEY, enc_mode=enc_mode)
    whole = path.read_bytes()
    unused = range(40, 44) if enc_mode == "AES-GCM" else ()  # of the vector
    places = [at for at in range(len(whole)) if at not in unused]
    damaged = [whole[:at] + bytes([whole[at] ^ 1 << at % 8]) + whole[at + 1 :] for at in places]
    damaged += [whole[:at] for at in range(len(whole))]
    damaged += [whole + b"x", whole + whole, struct.pack("<I", 0) + whole]
    for content in damaged:
        path.write_bytes(content)
        with pytest.raises(ValueError):
            ms.load_checkpoint(str(path), dec_key=KEY, dec_mode=enc_mode)


def test_a_failed_save_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.ckpt"
    ms.save_checkpoint(VALUES, str(path), enc_key=KEY)
    old = path.read_bytes()
    for call in range(1, 12):
        monkeypatch.setenv("MS_IO_FAULT", f"{call}:enospc")
        try:
            ms.save_checkpoint(VALUES, str(path), enc_key=KEY)
        except OSError:
            assert path.read_bytes() == old or len(path.read_bytes()) == len(old)
        monkeypatch.delenv("MS_IO_FAULT")
        assert ms.load_checkpoint(str(path), dec_key=KEY)


def test_a_training_saves_encrypted_files(tmp_path):
    net = nn.Dense(4, 1)
    data = ms.dataset.NumpySlicesDataset((np.ones((4, 4), np.float32), np.ones((4, 1), np.float32)))
    model = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
    config = CheckpointConfig(enc_key=KEY, async_save=True)
    model.train(1, data.batch(4), callbacks=ModelCheckpoint("a", str(tmp_path), config))
    values = ms.load_checkpoint(str(tmp_path / "a-1_1.ckpt"), dec_key=KEY)
    np.testing.assert_array_equal(values["weight"].asnumpy(), net.weight.asnumpy())


@pytest.mark.parametrize("enc_mode", MODES)
def test_a_training_goes_on_from_encrypted_files(tmp_path, enc_mode):
    data = ms.dataset.NumpySlicesDataset((np.eye(4, dtype=np.float32), np.ones((4, 1), np.float32)))

    def run(epochs, resume=None, **options):
        net = nn.Dense(4, 1, weight_init="ones")
        model = Model(net, nn.MSELoss(), nn.Adam(net.trainable_params(), 0.1))
        if resume is not None:
            assert model.resume(resume, **options)
        config = CheckpointConfig(enc_key=KEY, enc_mode=enc_mode)
        model.train(epochs, data.batch(2), callbacks=ModelCheckpoint("a", str(tmp_path), config))
        return net.weight.asnumpy()

    whole = run(3)
    half = str(tmp_path / "a-2_1.ckpt")
    np.testing.assert_array_equal(run(3, half, dec_key=KEY, dec_mode=enc_mode), whole)
    with pytest.raises(ValueError, match=r"For 'Model.resume', 'dec_key' must be given"):
        run(3, half)
    with pytest.raises(ValueError, match="key"):
        run(3, half, dec_key=b"1" * 16, dec_mode=enc_mode)


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"enc_key": "abc"}, TypeError, "'enc_key' must be bytes or None, but got str"),
        (
            {"enc_key": b"0" * 15},
            ValueError,
            "'enc_key' must have 16 or 24 or 32 bytes, but got 15",
        ),
        ({"enc_key": b"0" * 24, "enc_mode": "SM4-CBC"}, ValueError, "must have 16 bytes"),
        ({"enc_key": KEY, "enc_mode": "ROT13"}, ValueError, "'enc_mode' must be one of"),
        ({"enc_key": KEY, "format": "safetensors"}, ValueError, "which has no encryption"),
    ],
)
def test_refusals(tmp_path, options, error, says):
    with pytest.raises(error, match=says):
        ms.save_checkpoint(VALUES, str(tmp_path / "a"), **options)


def test_without_the_package(tmp_path, monkeypatch):
    monkeypatch.setattr(_encryption.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="needs the package 'cryptography'"):
        ms.save_checkpoint(VALUES, str(tmp_path / "a.ckpt"), enc_key=KEY)
