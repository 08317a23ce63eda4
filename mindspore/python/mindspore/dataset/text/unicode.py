"""Properties of characters that Python's own tables do not name, and what the engine asks of them."""

from __future__ import annotations

import functools
import re
import unicodedata
import warnings
from collections.abc import Callable
from typing import Any

from mindspore import _core
from mindspore.dataset.text import script_runs

_CJK = ((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2CEAF),
        (0xF900, 0xFAFF), (0x2F800, 0x2FA1F))  # fmt: skip


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
    """Whether it is a control sign or one of formats."""
    return unicodedata.category(char) in ("Cc", "Cf")


def script(char: str) -> str:
    """The script of a character; white space is one of its own."""
    return "SPACE" if is_space(char) else script_runs.script(char)


# Characters of which nothing is to be seen unless somebody knows them (Default_Ignorable_Code_Point).
_IGNORED = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)


def case_folded(text: str) -> str:
    """Without case, compatibility forms and what is ignored (NFKC_Casefold)."""
    text = _IGNORED.sub("", text)
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFD", text).casefold())
    return unicodedata.normalize("NFKC", folded.casefold())


def plain(text: str) -> str:
    """Without case, compatibility forms and marks, as BERT's lower case is."""
    marked = unicodedata.normalize("NFD", case_folded(text))
    return "".join(char for char in marked if unicodedata.category(char) != "Mn")


@functools.lru_cache(maxsize=1)
def _swallowed() -> frozenset[str]:
    """Characters that may become one with a character before them, though they do not stand on it."""
    parts = (unicodedata.decomposition(chr(code)).split() for code in range(0x30000))
    second = {chr(int(pair[1], 16)) for pair in parts if len(pair) == 2 and pair[0][0] != "<"}
    jamo = map(chr, range(0x1160, 0x1200))  # of which Hangul is put together by a rule
    return frozenset(second).union(jamo)


def _leans(text: str) -> bool:
    """Whether its normal forms may change with what stands before it."""
    first = unicodedata.normalize("NFKD", text)[:1]
    return first != "" and (unicodedata.combining(first) != 0 or first in _swallowed())


def changed_alone(change: Callable[[str], str]) -> Callable[[int], tuple[int, list[str | None]]]:
    """Of a change to a normal form, by itself or with others: what it makes of 256 characters, wherever
    they stand among such. None: that depends on their neighbours.
    """

    def page(first: int) -> tuple[int, list[str | None]]:
        chars = [chr(code) for code in range(first, first + 256)]
        texts = [change(char) for char in chars]
        pairs = zip(chars, texts)
        return first, [None if _leans(char) or _leans(text) else text for char, text in pairs]

    return page


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


# Scripts by the long names that patterns use; the four letters do, too.
_LONG_NAMES = {
    "Arabic": "Arab", "Armenian": "Armn", "Bengali": "Beng", "Common": "Zyyy", "Cyrillic": "Cyrl", "Devanagari": "Deva",
    "Georgian": "Geor", "Greek": "Grek", "Han": "Hani", "Hangul": "Hang", "Hebrew": "Hebr", "Hiragana": "Hira",
    "Katakana": "Kana", "Khmer": "Khmr", "Latin": "Latn", "Mongolian": "Mong", "Tamil": "Taml", "Thai": "Thai", "Tibetan": "Tibt",
}  # fmt: skip
_POSIX = {
    "alnum": "\\p{L}\\p{N}", "alpha": "\\p{L}", "blank": "\\t ", "cntrl": "\\p{Cc}", "digit": "\\p{Nd}", "lower": "\\p{Ll}",
    "punct": "\\p{P}", "space": "\\s", "upper": "\\p{Lu}", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


@functools.lru_cache(maxsize=64)
def _members(name: str, inverted: bool) -> str:
    """The characters of a category or script, or all others, as a part of a class of `re`."""
    long_name = _LONG_NAMES.get(name, name)
    runs: list[list[int]] = []
    for code in range(0x110000):
        char = chr(code)
        found = unicodedata.category(char).startswith(name) or script_runs.script(char) == long_name
        if found == inverted:
            continue
        if runs and runs[-1][1] == code - 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    return "".join(f"\\U{low:08x}-\\U{high:08x}" for low, high in runs)


def _spelled_out(text: str) -> str:
    """A pattern without \\p{...} and [:...:], which `re` does not know."""
    text = re.sub(r"\[:(\w+):\]", lambda m: _POSIX.get(m[1], m[0]), text)
    parts, depth, place = [], 0, 0
    for match in re.finditer(r"\\[pP]\{\^?(\w+)\}|\\.|\[\^?\]?|\]", text, re.DOTALL):
        parts.append(text[place : match.start()])
        place = match.end()
        if match[1] is None:
            depth += (match[0][0] == "[" and depth == 0) - (match[0] == "]" and depth > 0)
            parts.append(match[0])
            continue
        inverted = (match[0][1] == "P") != ("^" in match[0])
        members = _members(match[1], inverted)
        if not members or (members.count("-") == 1 and members.startswith("\\U00000000")):
            raise ValueError(f"no property of characters is named {match[1]}")
        parts.append(members if depth else f"[{members}]")
    return "".join([*parts, text[place:]])


# Other spellings than those of `re`, behind an even number of backslashes.
_OTHERS = re.compile(r"\\x\{([0-9A-Fa-f]{1,6})\}|\\(h|R)|\(\?<([A-Za-z]\w*)>|\\.", re.DOTALL)
_KINDS = {
    "h": "[\\t\\u0020\\u00a0\\u1680\\u2000-\\u200a\\u202f\\u205f\\u3000]",
    "R": "(?:\\r\\n|[\\n-\\r\\x85\\u2028\\u2029])",
}


def _other(match: re.Match[str]) -> str:
    code, kind, name = match.groups()
    if code is not None:
        return f"\\U{int(code, 16):08x}"
    if kind is not None:
        return _KINDS[kind]
    return match[0] if name is None else f"(?P<{name}>"


def pattern(op: str, name: str, text: str) -> Any:
    """A compiled pattern of `re`, in which there may also be \\p{L}, \\p{Han}, \\h, \\R, \\x{e9}, (?<name>...) and [[:punct:]]."""
    try:
        known = _spelled_out(text) if "\\p" in text.lower() or "[:" in text else text
        known = _OTHERS.sub(_other, known)
        with warnings.catch_warnings():
            # Sets in sets, && and -- have a meaning elsewhere, but none here.
            warnings.simplefilter("error", FutureWarning)
            return re.compile(known)
    except Exception as error:
        raise ValueError(f"For '{op}', {name} must be a pattern, but {error}.") from None


# One character of a kind: a sign, an escape for a kind or a sign, or what is in brackets.
_BRACKETS = r"\[(?:\^(?:[^\\]|\\.)|[^\^\\]|\\.)(?:[^\]\\]|\\.)*\]"
_ONE = rf"(?:[^\\.^$*+?{{}}()|\[\]]|\\(?:[sSdDwWntrfv]|\W)|\.|{_BRACKETS})"
_CLASS = re.compile(rf"(?P<one>{_ONE}(?:\|{_ONE})*)|(?P<run>{_ONE})\+", re.DOTALL)


def class_of(compiled: Any) -> tuple[Callable[[int], bytes], bool] | None:
    """Of a pattern that matches any character of a set, or with + a run of them: which of 256 characters
    are in the set, and whether it is a run. None: it is another pattern.
    """
    found = _CLASS.fullmatch(compiled.pattern)
    if found is None:
        return None
    one = re.compile(found["one"] or found["run"])

    def members(first: int) -> bytes:
        return bytes(one.fullmatch(chr(code)) is not None for code in range(first, first + 256))

    return members, found["run"] is not None
