"""Calls of `mindspore.dataset.text`, whose results are kept from MindSpore 2.10.

Run with the Python of an environment that has it, this file writes them anew to `text_answers.jsonl`.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from vision_cases import pack

ANSWERS = Path(__file__).with_name("text_answers.jsonl")
T = "Hello, WORLD!  ÀÉ naïve 北京 は\tx1-y2 𝒜bc don't Ωmega e\u0301 [CLS] [UNK]"
WORDS = np.array(["a", "b", "c", "d", "e"])
NUMBERS = np.array([[1, 2, 3], [4, 5, 6]], np.int32)

_CALLS = r"""
WhitespaceTokenizer()(T) | WhitespaceTokenizer(True)(T) | WhitespaceTokenizer()("  ") | WhitespaceTokenizer()("")
WhitespaceTokenizer()("a\u3000b\u00a0c\u2003d\ne\x0bf\x1cg") | UnicodeCharTokenizer()("añ北𝒜") | UnicodeCharTokenizer(True)("añ北𝒜")
UnicodeCharTokenizer()("") | UnicodeScriptTokenizer()(T) | UnicodeScriptTokenizer(True)(T)
UnicodeScriptTokenizer(True, True)("ab 北京\tcd") | UnicodeScriptTokenizer()("") | UnicodeScriptTokenizer()("abДЖあア12,.한")
RegexTokenizer("\\s+")(T) | RegexTokenizer("\\s+", "\\s+")(T) | RegexTokenizer("[,!]", ",")("a,b!c,,d") | RegexTokenizer("x")("")
RegexTokenizer("[,!]", ",", True)("a,b!c,,d") | RegexTokenizer("\\s+", "\\s+", True)("é a  b")
RegexReplace("o", "0")("foo boo") | RegexReplace("o", "0", False)("foo boo") | RegexReplace("(\\w)(\\d)", "$2$1")("a1 b2")
RegexReplace("\\s+", "_")(T)
CaseFold()(T) | CaseFold()("Straße ŒUVRE İ ΣΊΣΥΦΟΣ") | CaseFold()(np.array(["A", "ß"])) | NormalizeUTF8()(T)
NormalizeUTF8(NormalizeForm.NFC)("e\u0301 ﬁ Å") | NormalizeUTF8(NormalizeForm.NFD)("é ﬁ Å") | NormalizeUTF8(NormalizeForm.NFKD)("é ﬁ Å")
NormalizeUTF8(NormalizeForm.NONE)("é ﬁ") | FilterWikipediaXML()("Welcome to [[China|Beijing]]! <b>x</b> &amp; 1") | FilterWikipediaXML()("== A & B == http://x.y/z [http://a b] {{t}} 12")
BasicTokenizer()(T) | BasicTokenizer(True)("Hello, WORLD! ÀÉ naïve 北京 Ωmega") | BasicTokenizer(False, True)(T) | BasicTokenizer(False, False, NormalizeForm.NFKC)(T)
BasicTokenizer(False, False, NormalizeForm.NONE, False)(T) | BasicTokenizer(True, False, NormalizeForm.NONE, True, True)("Ab, É 北京 x")
BasicTokenizer()("") | BasicTokenizer()("[PAD][MASK] [cls] [UNK]a [unused1] [unused12]b [[CLS]]")
WordpieceTokenizer(VOCAB)(np.array(["hello", "world", "helloworld", "xyz", ""])) | WordpieceTokenizer(VOCAB, unknown_token="")(np.array(["hello", "xyz"]))
WordpieceTokenizer(VOCAB, with_offsets=True)("helloworld") | WordpieceTokenizer(VOCAB, max_bytes_per_token=4)(np.array(["hello", "a"])) | WordpieceTokenizer(VOCAB, "@@")(np.array(["helloworld"]))
BertTokenizer(VOCAB)("hello world helloworld xyz 北京") | BertTokenizer(VOCAB, lower_case=True)("HELLO WORLD [UNK]") | BertTokenizer(VOCAB, lower_case=True, with_offsets=True)("Hello, world")
Lookup(VOCAB)("hello") | Lookup(VOCAB)(np.array(["hello", "world"])) | Lookup(VOCAB)("none") | Lookup(VOCAB, "[UNK]")(np.array(["none", "hello"])) | Lookup(VOCAB, "[UNK]", mindspore.float32)("none")
Ngram(2)(WORDS) | Ngram([2, 3], ("^", 1), ("$", 2), "-")(WORDS) | Ngram(7)(WORDS) | Ngram(2)("one") | Ngram(2)(np.array([["a", "b"]]))
Ngram([3], ("_", 2), ("_", 2))(np.array(["x"])) | Ngram(0) | Ngram([]) | Ngram("a") | Ngram(2, ("a", -1)) | Ngram(2, "a") | Ngram(2, ("a", 1), ("b", 1), 5)
SlidingWindow(2)(np.array([1, 2, 3, 4])) | SlidingWindow(2, -1)(NUMBERS) | SlidingWindow(2, 0)(NUMBERS) | SlidingWindow(9)(np.array([1, 2])) | SlidingWindow(2)(WORDS) | SlidingWindow(0) | SlidingWindow(2, "a")
SlidingWindow(2, 5)(NUMBERS) | SlidingWindow(1)(np.array([1.5]))
ToNumber(mindspore.int32)(np.array(["1", "-23"])) | ToNumber(mindspore.float32)(np.array(["1.5", "-2e3"])) | ToNumber(mindspore.uint8)("255") | ToNumber(mindspore.uint8)("256") | ToNumber(mindspore.int8)("a") | ToNumber(mindspore.float16)("0.1")
ToNumber(mindspore.int64)("") | ToNumber(mindspore.bool_) | ToNumber(mindspore.float64)("1e400") | ToNumber(mindspore.int64)("9223372036854775807")
Truncate(3)(WORDS) | Truncate(9)(WORDS) | Truncate(2)(np.array([1, 2, 3])) | Truncate(2)("abc") | Truncate(0) | Truncate(-1) | Truncate("a") | Truncate(2)(NUMBERS)
TruncateSequencePair(5)(np.array([1, 2, 3, 4]), np.array([5, 6, 7])) | TruncateSequencePair(4)(WORDS, WORDS) | TruncateSequencePair(1)(WORDS, WORDS[:1]) | TruncateSequencePair(99)(WORDS, WORDS) | TruncateSequencePair(0)(WORDS, WORDS)
AddToken("X")(WORDS) | AddToken("X", False)(WORDS) | AddToken("X")("a") | AddToken(1) | AddToken("X", 1) | PythonTokenizer(5)
to_str(np.array([b"ab", b"c"])) | to_bytes(np.array(["ab", "c"])) | to_bytes(np.array(["é"]), "latin1") | to_str(np.array([b"\xe9"]), "latin1") | to_str(5) | to_bytes(np.array([1]))
VOCAB.vocab() | VOCAB.tokens_to_ids("hello") | VOCAB.tokens_to_ids(["hello", "zzz"]) | VOCAB.ids_to_tokens(1) | VOCAB.ids_to_tokens([1, 99]) | VOCAB.tokens_to_ids(5) | VOCAB.ids_to_tokens("a") | VOCAB.ids_to_tokens(-1)
WhitespaceTokenizer()("a\u200bb\ufeffc\u2060d") | WhitespaceTokenizer()("a\x85b\x1cc\x1dd\x1ee\x1ff") | WhitespaceTokenizer(True)("ab  cdé f") | WhitespaceTokenizer()("\u2028a\u2029b\u202fc\u205fd\u1680e")
UnicodeScriptTokenizer()("Hello мир 你好 こんにちは カタカナ 안녕 123 !? ١٢") | UnicodeScriptTokenizer()("aα1β२ก็é") | UnicodeScriptTokenizer()("ﬁ½x²™℃ªº") | UnicodeScriptTokenizer(True)("a  b\t\n c") | UnicodeScriptTokenizer()("ʰʹˆ҃͘֊ـ،؟۔।॥৳฿")
UnicodeScriptTokenizer(True, True)("aé 北x𝒜") | UnicodeScriptTokenizer()("Ⅷ ℵ Ω K Å ㄱ ㌀ ꜀ ︎ 𐍈 😀") | UnicodeCharTokenizer(True)("a😀é")
BasicTokenizer()("Hello, World! 你好 it's a-b_c $5 `x` ^y~") | BasicTokenizer(True)("HELLO ÀÉÎ ß İ ﬁ Ω ǅ ½") | BasicTokenizer(True)("Crème Brûlée Ångström naïve") | BasicTokenizer(True, False, NormalizeForm.NFD)("Crème")
BasicTokenizer(False, False, NormalizeForm.NFKD)("Crème ﬁ ²") | BasicTokenizer(False, True)("a  b\tc") | BasicTokenizer(True, True)("a  b\u00a0c") | BasicTokenizer()("a\u200bb\x07c\ufffdd\x01e") | BasicTokenizer(True)("a\u200bb\x07c\u00add\ufeffe")
BasicTokenizer(False, True)("a\u2028b\u3000c\r\nd\u0085e") | BasicTokenizer(True, True)("a\u2028b\u3000c\r\nd") | BasicTokenizer()("，。！？「」《》—…·") | BasicTokenizer()("€£¥©®™°±×÷¶§") | BasicTokenizer()("한국어 ไทย हिन्दी עברית العربية")
BasicTokenizer(True)("हिन्दी ไทยก็ שָׁלוֹם") | BasicTokenizer()("[unused12] [UNUSED1] [unused] [CLS") | BasicTokenizer(False, False, NormalizeForm.NONE, True, True)("é [CLS] 你a") | BasicTokenizer(True, False, NormalizeForm.NONE, False)("[CLS]ABC") | BasicTokenizer()("𠀀𪜀豈") | BasicTokenizer()("a\U000e0001b")
WordpieceTokenizer(VOCAB)(np.array(["", ""])) | WordpieceTokenizer(VOCAB, max_bytes_per_token=0)(np.array(["hello", ""])) | WordpieceTokenizer(VOCAB, suffix_indicator="")(np.array(["hellohello"])) | WordpieceTokenizer(VOCAB, with_offsets=True)(np.array(["hello", "helloworld", "zzz"]))
WordpieceTokenizer(VOCAB)(np.array([["hello"]])) | WordpieceTokenizer(VOCAB)("hello") | WordpieceTokenizer(VOCAB, unknown_token="")(np.array(["zzzé", "a"])) | BertTokenizer(VOCAB)("") | BertTokenizer(VOCAB, with_offsets=True)("") | BertTokenizer(VOCAB, max_bytes_per_token=3)("hello a")
BertTokenizer(VOCAB, preserve_unused_token=False)("[UNK] [CLS]") | BertTokenizer(VOCAB, keep_whitespace=True)("hello  a") | BertTokenizer(VOCAB, with_offsets=True)("helloworld, é [CLS] 北a") | BertTokenizer(VOCAB, lower_case=True)("HELLO\u00ad WÓRLD")
Lookup(VOCAB)(np.array([["hello", "a"], ["a", "a"]])) | Lookup(VOCAB, "[UNK]")("") | Lookup(VOCAB, "[UNK]", mindspore.int64)("zz") | Lookup(VOCAB, "[UNK]", mindspore.float16)("zz") | Lookup(VOCAB, "[UNK]", mindspore.bool_)("zz")
CaseFold()(np.array([["A", "B"], ["c", "ÀÀ"]])) | CaseFold()("") | CaseFold()("soft\u00adhy\u200dphen\ufe0f") | CaseFold()("Σς ǅ ᾳ ﬗ ㎏ ℌ") | NormalizeUTF8()("") | NormalizeUTF8()(np.array(["ﬁ", "²", "a"]))
RegexReplace("[aeiou]", "*")("hello wonderful") | RegexReplace("\\d+", "<$0>")("a12b3") | RegexReplace("^a", "b", False)("aaa") | RegexReplace("a*", "x")("baac") | RegexReplace("", "-")("abc") | RegexReplace("(?i)X", "y")("aXbx")
RegexTokenizer("[A-Z]", "[A-Z]")("helloWorldFoo") | RegexTokenizer("\\s", "")("a b  c") | RegexTokenizer("(?i)X", "x")("aXbxc") | RegexTokenizer("", "")("abc") | RegexTokenizer("[,.]", "[.]", True)("a,b.c é.f") | RegexTokenizer("\\p{Lu}")("aBcD")
RegexTokenizer("\\p{Han}", "\\p{Han}")("a北京b") | RegexTokenizer("[\\p{P}\\p{S}]", "[\\p{P}]")("a,b+c") | RegexTokenizer("\\P{L}")("ab1é c") | RegexReplace("[^\\p{L}\\p{N}]", "_")("a-b 1é") | RegexReplace("\\p{Latin}", "l")("aбé") | RegexTokenizer("[[:punct:]]", "[[:punct:]]")("a,b-c")
Ngram([1, 2, 3], ("L", 2), ("R", 1), "_")(np.array(["a", "b"])) | Ngram(3)(np.array(["a"])) | SlidingWindow(3, 0)(np.arange(5, dtype=np.float32)) | Truncate(1)(np.array([[1, 2], [3, 4]])) | Truncate(2)(np.array([1.5, 2.5, 3.5])) | Truncate(2)(np.array(3))
ToNumber(mindspore.int32)("+5") | ToNumber(mindspore.uint32)("-1") | ToNumber(mindspore.float32)("1e39") | ToNumber(mindspore.float64)(".5") | ToNumber(mindspore.float16)("65504") | ToNumber(mindspore.int8)("127")
AddToken("SEP", False)(np.array([["a", "b"], ["c", "d"]])) | FilterWikipediaXML()("Hello <b>World</b> [[File:x.jpg]] {{cite}} &nbsp; 123 ÀÉ") | FilterWikipediaXML()("a&amp;b &lt;c&gt; x") | FilterWikipediaXML()("a [[B:c d]] [[category:f|g]] [[de:h]]") | FilterWikipediaXML()("&")
Vocab.from_list(["a", "b"]).vocab() | Vocab.from_list(["a", "b"], ["<s>"]).vocab() | Vocab.from_list(["a", "b"], ["<s>"], False).vocab() | Vocab.from_list(["a", "a"]) | Vocab.from_list(["a"], ["a"]) | Vocab.from_list("a") | Vocab.from_list([1]) | Vocab.from_list([])
Vocab.from_dict({"a": 3, "b": 0}).vocab() | Vocab.from_dict({"a": -1}) | Vocab.from_dict({1: 1}) | Vocab.from_dict({"a": "b"}) | Vocab.from_dict({}) | Vocab.from_dict({"a": 1, "b": 1}) | Vocab.from_file("none") | Vocab.from_file(5)
CaseFold()(5) | WhitespaceTokenizer()(np.array([1])) | WhitespaceTokenizer()(WORDS) | UnicodeCharTokenizer()(WORDS) | BasicTokenizer(1) | BasicTokenizer(normalization_form=1) | WordpieceTokenizer(5) | BertTokenizer(VOCAB, max_bytes_per_token=-1) | BertTokenizer(VOCAB, unknown_token=1) | Lookup(5) | Lookup(VOCAB, 5) | Lookup(VOCAB)(5)
RegexReplace(1, "a") | RegexTokenizer(1) | NormalizeUTF8(1) | WhitespaceTokenizer(1) | UnicodeScriptTokenizer(1) | UnicodeCharTokenizer("a") | RegexReplace("a", 1) | RegexReplace("a", "b", 1) | JiebaTokenizer("none", "none") | SentencePieceTokenizer(5, 5)
ToVectors(5) | GloVe.from_file("none.txt") | FastText.from_file("none.vec") | CharNGram.from_file("none.txt") | Vectors.from_file("none")
"""


def cases() -> list[str]:
    """The expressions."""
    return [part.strip() for line in _CALLS.strip().splitlines() for part in line.split(" | ")]


def run(call: str, text: Any) -> list[Any]:
    """The arrays and other values that a call gives, or its error's type."""
    import mindspore

    names = {name: getattr(text, name) for name in dir(text) if name[0] != "_"}
    tokens = [
        "[UNK]",
        "hello",
        "world",
        "##world",
        "##wor",
        "@@world",
        "a",
        ",",
        "北",
        "hell",
        "##o",
    ]
    names["mindspore"] = mindspore
    names["VOCAB"] = text.Vocab.from_list(tokens)
    try:
        result = eval(call, {**globals(), **names})
    except Exception as error:
        return [type(error).__name__, str(error)]
    if callable(result) or isinstance(result, text.Vocab):
        return []
    parts = result if isinstance(result, tuple) else [result]
    return [{"value": p} if isinstance(p, (dict, list, str, int)) else np.asarray(p) for p in parts]


def record(path: Path) -> None:
    """Write the answers of the package that is there."""
    import mindspore.dataset.text as peer

    lines = []
    for call in cases():
        result = run(call, peer)
        failed = bool(result) and isinstance(result[0], str)
        lines.append(json.dumps([call, result[:1] if failed else [pack(part) for part in result]]))
    path.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    record(ANSWERS)
