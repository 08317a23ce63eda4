"""Properties of characters that Python's own tables do not name, and what the engine asks of them."""

from __future__ import annotations

import functools
import re
import unicodedata
from typing import Any

from mindspore import _core

_CJK = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF),
        (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))  # fmt: skip
# Letters whose names do not begin with their script.
_NAMED_OTHERWISE = {"OHM": "GREEK", "KELVIN": "LATIN", "ANGSTROM": "LATIN"}
_WIDTHS = ("FULLWIDTH", "HALFWIDTH")


@functools.lru_cache(maxsize=1 << 16)
def is_space(char: str) -> bool:
    """Whether it is white space in Unicode; separators of records are not."""
    return char.isspace() and not "\x1c" <= char <= "\x1f"


@functools.lru_cache(maxsize=1 << 16)
def is_cjk(char: str) -> bool:
    """Whether it is a Chinese character, a word of its own."""
    return any(low <= ord(char) <= high for low, high in _CJK)


def is_punctuation(char: str) -> bool:
    """Whether it is punctuation, or a sign of ASCII."""
    ascii_sign = char.isascii() and char.isprintable() and not char.isalnum() and char != " "
    return ascii_sign or unicodedata.category(char).startswith("P")


def is_control(char: str) -> bool:
    """Whether nothing is to be seen of it; white space is not meant."""
    return unicodedata.category(char) in ("Cc", "Cf") and not is_space(char)


def script(char: str) -> str:
    """The script of a character by its name: COMMON for signs and digits, INHERITED for marks."""
    if is_space(char):
        return "SPACE"
    kind, words = unicodedata.category(char), unicodedata.name(char, "").split()
    if kind[0] == "M" and (not words or words[0] == "COMBINING"):
        return "INHERITED"
    if kind[0] not in "LM" or not words or words[0] in ("MATHEMATICAL", "MICRO"):
        if words and words[0] in _NAMED_OTHERWISE and kind[0] != "L":
            return _NAMED_OTHERWISE[words[0]]
        return "COMMON"
    if words[0] in _WIDTHS:
        words = words[1:]
    return _NAMED_OTHERWISE.get(words[0], words[0])


def case_folded(text: str) -> str:
    """Without case and compatibility forms (NFKC_Casefold)."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", folded.casefold())


def plain(text: str) -> str:
    """Without case, compatibility forms and marks, as BERT's lower case is."""
    marked = unicodedata.normalize("NFD", case_folded(text))
    return "".join(char for char in marked if unicodedata.category(char) != "Mn")


_SCRIPTS: dict[str, int] = {}


def _page(first: int) -> tuple[bytes, list[int], list[str]]:
    """Of 256 characters: their kinds (see characters.h), numbers of their scripts, plain texts."""
    chars = [chr(code) for code in range(first, first + 256)]
    flat = [plain(char) for char in chars]
    # A mark that stays may change places with others beside it.
    entangled = [bool(kept) and unicodedata.combining(char) != 0 for char, kept in zip(chars, flat)]
    facts = zip(
        map(is_space, chars), map(is_control, chars), map(is_cjk, chars),
        map(is_punctuation, chars), entangled,
    )  # fmt: skip
    kinds = bytes(sum(bool(fact) << bit for bit, fact in enumerate(known)) for known in facts)
    return kinds, [_SCRIPTS.setdefault(script(char), len(_SCRIPTS)) for char in chars], flat


_core.dataset.set_character_reader(_page)


def pattern(op: str, name: str, text: str) -> Any:
    """A compiled pattern; those with classes like \\p{L} need the regex package."""
    compiler: Any = re
    if "\\p" in text.lower():
        try:
            import regex as compiler  # type: ignore[no-redef,import-untyped]
        except ImportError:
            raise ImportError(
                f"For '{op}', patterns with \\p need the regex package: pip install regex."
            ) from None
    try:
        return compiler.compile(text)
    except Exception as error:
        raise ValueError(f"For '{op}', {name} must be a pattern, but {error}.") from None
