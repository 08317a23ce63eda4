"""Encryption of whole files, which this version does not have: settings that ask for it are refused."""

from __future__ import annotations

from typing import Any

from mindspore.mindrecord.common.exceptions import ParamTypeError, ParamValueError

_MODES = ("AES-GCM", "AES-CBC", "SM4-CBC")


def set_enc_key(enc_key: str | None) -> None:
    """The key of encryption; None, and no other, says that there is none."""
    if enc_key is None:
        return
    if not isinstance(enc_key, str):
        raise ParamTypeError(
            f"For 'set_enc_key', enc_key must be a str or None, but got {type(enc_key).__name__}."
        )
    raise NotImplementedError(
        "For 'set_enc_key', enc_key must be None: encrypted MindRecord files are not supported; "
        "keep the files on an encrypted disk."
    )


def set_enc_mode(enc_mode: str = "AES-GCM") -> None:
    """The cipher that a key would be used with."""
    _check_mode("set_enc_mode", "enc_mode", enc_mode)


def set_dec_mode(dec_mode: str | None = "AES-GCM") -> None:
    """The cipher that encrypted files would be read with; None says that they are plain."""
    if dec_mode is not None:
        _check_mode("set_dec_mode", "dec_mode", dec_mode)


def _check_mode(op: str, name: str, mode: Any) -> None:
    if callable(mode):
        raise NotImplementedError(f"For '{op}', {name} must be a text: no function is called.")
    if not isinstance(mode, str):
        raise ParamTypeError(f"For '{op}', {name} must be a str, but got {type(mode).__name__}.")
    if mode not in _MODES:
        raise ParamValueError(
            f"For '{op}', {name} must be one of {list(_MODES)}, but got {mode!r}."
        )
