"""By which kind of exception something must be refused.

What is of a wrong type is a TypeError; what is of the right type and does not fit is a ValueError, or a LookupError. The reference
keeps to this rule mostly, but not everywhere: its kernels say all by RuntimeError, some of its checks call a wrong value a
TypeError or a wrong type a ValueError. So its kind is ours where both agree; where not, ours must be the one that the rule asks
for, which our own words tell: they say what came, a type by its name and a value as it is written."""

from __future__ import annotations

import re

_OF_VALUES = (ValueError, LookupError)
_NAMES_OF_VALUES = ("ValueError", "IndexError", "KeyError")

_NOUNS = (
    "Tensor|Parameter|int|float|complex|number|integer|bool|str|tuple|list|dict|array|ndarray|Cell|Primitive|dtype|Type"
    "|function|class|sequence|None|slice|object|bytes|callable"
)
_KIND = (
    rf"(?:an? )?(?:{_NOUNS})s?(?: or list)?(?: alone)?(?: of (?:a )?(?:{_NOUNS})s?(?: or list)?)*"
)
_KINDS = re.compile(rf"(?:.*')? ?must (?:be|hold) (?:{_KIND}(?:, or | or |, and | and |, |$))+")
_NAMES = re.compile(
    r"(?!none$|nan$|inf$|True$|False$)[A-Za-z_][\w.]*(?:(?:, | and )[A-Za-z_][\w.]*)*"
)
_SIGNATURE = re.compile(
    r"the arguments must fit|the call must be|has no argument|positional arguments?\b|required (?:positional )?argument|multiple values for|is missing"
)
_ONE_OF_TEXTS = "must be one of '"
_NOT_GIVEN = "must be given"
_AS_INDEX = re.compile(r"an index\b")  # what is none is an IndexError, as in NumPy and PyTorch
_CAME = ", but got "
# Of what there is, and no argument's fault, where it does not say what came.
_NO_ARGUMENT = (MemoryError, RuntimeError)


def says_type(text: str) -> bool:
    """Whether a refusal says that something of a wrong type came, or that the call does not fit the signature."""
    if _SIGNATURE.search(text):
        return True
    want, _, got = re.sub(r"\.?( Did you mean.*)?$", "", text).partition(_CAME)
    want = want.split("', ", 1)[-1]
    if not got or _NOT_GIVEN in want or _AS_INDEX.search(want):
        return False
    is_no_text = _ONE_OF_TEXTS in want and not got.startswith("'")
    return is_no_text or bool(_NAMES.fullmatch(got) or _KINDS.fullmatch(want))


def wrong_kind(error: Exception, theirs: str) -> str:
    """What is wrong with the kind of a refusal, given by what the reference raises; nothing where all is right."""
    text = str(error.args[0]).partition("\n")[0] if error.args else ""
    ours = next((k for k in (TypeError, *_OF_VALUES) if isinstance(error, k)), None)
    both_values = ours in _OF_VALUES and theirs in _NAMES_OF_VALUES
    if type(error).__name__ == theirs or both_values or _is_of_no_argument(error, text):
        return ""
    of_type = says_type(text)
    fits = ours is TypeError if of_type else ours in _OF_VALUES
    said = f"a wrong {'type' if of_type else 'value'}, {theirs} there, is a {type(error).__name__}: {text[:200]}"
    return "" if fits else said


def _is_of_no_argument(error: Exception, text: str) -> bool:
    return isinstance(error, _NO_ARGUMENT) and not (type(error) is RuntimeError and _CAME in text)
