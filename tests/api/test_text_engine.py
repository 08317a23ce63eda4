"""`mindspore.dataset.text` in the engine: any text, long ones, bytes that are no text; equal to a plain model of each operation, and
the same in pipelines with any number of workers.
"""

from __future__ import annotations

import itertools
import pickle
import random
import re
import unicodedata

import numpy as np
import pytest

import mindspore.dataset as ds
from mindspore.dataset import text
from mindspore.dataset.text import NormalizeForm, Vocab, unicode

# Of all kinds: letters with marks, signs, spaces, controls, Chinese, marks that change places, what is ignored.
ALPHABET = list("aAbBzZ019 .,![]#$`^~_-\t\n") + list("éÉßİŒﬁ½²™Åǅςɵ") + list(
    "北京你𠀀はアィ한국дЖαΩאعहि१्ก็\u0301\u0323\u0345\u3000\u00a0\u2028\u200b\u00ad\ufeff\u0000x"
    "\u1b44\u302e\U0001d165\U0001f600\x07\x1c\x85"
)  # fmt: skip
SPECIAL = [
    "[CLS]",
    "[SEP]",
    "[UNK]",
    "[MASK]",
    "[unused1]",
    "[unused",
    "[cls]",
    "##",
    "hello",
    "world",
]
WORDS = [
    "[UNK]",
    "hello",
    "world",
    "##world",
    "a",
    "##a",
    "b",
    "##b",
    "北",
    "é",
    "e",
    "##e",
    "##z",
    "hell",
    "##o",
]
VOCAB = Vocab.from_list(WORDS)


def lines(count, seed=0):
    """Random lines; none ends with zeros, which arrays of text do not keep."""
    rng = random.Random(seed)
    for _ in range(count):
        parts = rng.choices(ALPHABET, k=rng.randrange(30)) + rng.choices(
            SPECIAL, k=rng.randrange(3)
        )
        rng.shuffle(parts)
        yield "".join(parts).rstrip("\0")


def runs(line, key):
    """Neighbours with an equal key; those of None are alone."""
    found = []
    for char in line:
        here = key(char)
        if found and here is not None and found[-1][0] == here:
            found[-1][1].append(char)
        else:
            found.append((here, [char]))
    return [(here, "".join(chars)) for here, chars in found]


def basic(line, lower, keep, form=None, preserve=True):
    """What BasicTokenizer comes to, step by step."""
    special = re.compile(r"(\[(?:CLS|SEP|UNK|PAD|MASK|unused[0-9]+)\])")

    def prepared(part):
        if lower:
            part = unicodedata.normalize("NFD", unicode.case_folded(part))
            part = "".join(c for c in part if unicodedata.category(c) != "Mn")
        elif form:
            part = unicodedata.normalize(form, part)
        return "".join(" " if unicodedata.category(c) in ("Cc", "Cf") else c for c in part)

    def kind(char):
        if unicode.is_cjk(char) or unicode.is_punctuation(char):
            return None
        return char.isspace() or "word"

    if lower and preserve:
        parts = special.split(line)
        line = "".join(p if n % 2 else prepared(p) for n, p in enumerate(parts))
    else:
        line = prepared(line)
    words = []
    for number, part in enumerate(special.split(line) if preserve else [line]):
        if number % 2:
            words.append(part)
        else:
            words += [word for key, word in runs(part, kind) if keep or key is not True]
    return words


def pieces(word, limit=100):
    """The longest pieces of a word that are known."""
    if len(word.encode()) > limit:
        return ["[UNK]"]
    found, begin = [], 0
    while begin < len(word):
        mark = "##" if begin else ""
        ends = [e for e in range(len(word), begin, -1) if mark + word[begin:e] in WORDS]
        if not ends:
            return ["[UNK]"]
        found.append(mark + word[begin : ends[0]])
        begin = ends[0]
    return found


def kept(words):
    """Words as an array of text holds them."""
    return [word.rstrip("\0") for word in words] or [""]


def test_words_between_spaces():
    tokenizer = text.WhitespaceTokenizer()
    for line in lines(300):
        expected = [w for space, w in runs(line, unicode.is_space) if not space]
        assert tokenizer(line).tolist() == kept(expected)


def test_characters_and_scripts():
    for line in lines(200, 1):
        assert text.UnicodeCharTokenizer()(line).tolist() == kept(line)
        expected = [w for key, w in runs(line, unicode.script) if key != "SPACE"]
        assert text.UnicodeScriptTokenizer()(line).tolist() == kept(expected)
        every = [w for _, w in runs(line, unicode.script)]
        assert text.UnicodeScriptTokenizer(True)(line).tolist() == kept(every)


@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("keep", [False, True])
def test_basic_words(lower, keep):
    for preserve in (True, False):
        tokenizer = text.BasicTokenizer(lower, keep, NormalizeForm.NONE, preserve)
        for line in lines(250, 2):
            assert tokenizer(line).tolist() == kept(basic(line, lower, keep, None, preserve))


@pytest.mark.parametrize("form", ["NFC", "NFKC", "NFD", "NFKD"])
def test_basic_words_in_normal_forms(form):
    tokenizer = text.BasicTokenizer(False, False, NormalizeForm[form])
    for line in lines(150, 3):
        assert tokenizer(line).tolist() == kept(basic(line, False, False, form))


@pytest.mark.parametrize("lower", [False, True])
def test_bert_words(lower):
    tokenizer = text.BertTokenizer(VOCAB, lower_case=lower)
    for line in lines(300, 4):
        expected = [piece for word in basic(line, lower, False) for piece in pieces(word)]
        assert tokenizer(line).tolist() == kept(expected)


def test_pieces_of_words():
    words = ["helloworld", "hellozz", "", "worlda", "abeb", "北北", "hello" * 30]
    for limit in (0, 5, 100, 10**6):
        expected = [piece for word in words for piece in pieces(word, limit)]
        given = text.WordpieceTokenizer(VOCAB, max_bytes_per_token=limit)(np.array(words))
        assert given.tolist() == expected
    assert text.WordpieceTokenizer(VOCAB, "")("hellohello").tolist() == ["hello", "hello"]
    assert text.WordpieceTokenizer(VOCAB, unknown_token="")("zé").tolist() == ["zé"]


def test_case_and_normal_forms():
    for line in lines(200, 5):
        assert text.CaseFold()(line).item() == unicode.case_folded(line).rstrip("\0")
        for form in ("NFC", "NFKC", "NFD", "NFKD"):
            expected = unicodedata.normalize(form, line).rstrip("\0")
            assert text.NormalizeUTF8(NormalizeForm[form])(line).item() == expected
    assert text.CaseFold()("soft\u00adhy\u200bphen").item() == "softhyphen"
    table = np.array([["A", "ÄÖ"], ["", "ﬁ"]])
    assert text.CaseFold()(table).tolist() == [["a", "äö"], ["", "fi"]]


# Of all sorts that may become one with what stands before them, or change places.
JOINING = "aeE\u0301\u0327\u0345\u1100\u1161\u11a8가각\u09c7\u09be\u0bc6\u0bd7\u1025\u102e\u0cc6\u0cc2\u0cd5ｶﾞ\u3099か\u00a8\u1fbe\u0344\u0f71\u0f72\U000110b9\U000110baǆǅ①ﷺ"


@pytest.mark.parametrize("form", ["NFC", "NFKC", "NFD", "NFKD"])
def test_normal_forms_of_neighbours(form):
    operation = text.NormalizeUTF8(NormalizeForm[form])
    rng = random.Random(8)
    given = ["".join(pair) for pair in itertools.product(JOINING, JOINING)]
    given += ["".join(rng.choices(JOINING + "北京 ,，", k=9)) for _ in range(500)]
    for line in given:
        assert operation(line).item() == unicodedata.normalize(form, line)
        assert text.CaseFold()(line).item() == unicode.case_folded(line)


def test_what_characters_become_one_with():
    for code in range(0x110000):
        parts = unicodedata.decomposition(chr(code)).split()
        if len(parts) == 2 and not parts[0].startswith("<"):
            assert chr(int(parts[1], 16)) in unicode._swallowed()


# The last ones are no sets of characters.
PATTERNS = [
    r"\s+", r"\s", " ", ",", "[^a-z]+", "[a-z0-9]", r"[\]\-]+", "[]b]", "[^]b]+", r"\.", r"\++", ".", ".+", r"\W+", "b|é|[0-9]",
    r"\d|,", r"[\s\S]", r"[^\s\S]", r"\p{Lu}+", r"[[:punct:]\s]+", r"[\[]", r"\\|\[", r"[\\\]]", r"[\w.]+", r"\t|\n",
    "ab", r"\s*", r"\b", "^a", "(a)(b)", "a+b", "a|bc", "[]|[]]", r"(?i)B", r"a\+", r"\s+$", "a+|b", "a{2}", r"\w+?", r"\x61",
]  # fmt: skip
SETS = 25


@pytest.mark.parametrize("keep", ["", r"\s", r"[\s,]+", ".", r"[^\s]+", "b+|,"])
def test_words_between_patterns(keep):
    kept_matches = unicode.pattern("x", "x", keep) if keep else None
    for number, pattern in enumerate(PATTERNS):
        tokenizer = text.RegexTokenizer(pattern, keep, True)
        assert (tokenizer.engine() is not None) == (number < SETS and keep != "b+|,"), pattern
        for line in [*lines(25, number), "", "a", "ab\n,b+é.b ]", "\ud800b \udfff"]:
            expected, begin = [], 0
            for match in unicode.pattern("x", "x", pattern).finditer(line):
                expected += [(begin, match.start())] if match.start() > begin else []
                if match[0] and kept_matches and kept_matches.fullmatch(match[0]):
                    expected.append(match.span())
                begin = match.end()
            expected += [(begin, len(line))] if begin < len(line) else []
            words, starts, ends = tokenizer(line)
            assert words.tolist() == kept([line[a:b] for a, b in expected]), (pattern, line)
            sizes = [len(line[:at].encode("utf8", "surrogatepass")) for at in range(len(line) + 1)]
            places = [(sizes[a], sizes[b]) for a, b in expected or [(0, 0)]]
            assert [*zip(starts.tolist(), ends.tolist(), strict=True)] == places


@pytest.mark.parametrize("pattern", [r"\s+", "ab"])
def test_what_patterns_cannot_take(pattern):
    tokenizer = text.RegexTokenizer(pattern)
    with pytest.raises(TypeError, match="'RegexTokenizer', the input must be text, but got int64"):
        tokenizer(np.array(5))
    with pytest.raises(ValueError, match="the input must be one text, but has rank 1"):
        tokenizer(np.array(["a"]))
    with pytest.raises(ValueError, match="'RegexTokenizer', the input must be UTF-8"):
        tokenizer(np.array(b"a\xc3"))
    assert pickle.loads(pickle.dumps(tokenizer))("c  d").tolist() == tokenizer("c  d").tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: text.WhitespaceTokenizer(True),
        lambda: text.UnicodeCharTokenizer(True),
        lambda: text.UnicodeScriptTokenizer(True, True),
        lambda: text.BasicTokenizer(True, False, NormalizeForm.NONE, True, True),
        lambda: text.BertTokenizer(VOCAB, lower_case=True, with_offsets=True),
        lambda: text.RegexTokenizer("[^a-z]", "[0-9]", True),
    ],
)
def test_offsets(make):
    tokenizer = pickle.loads(pickle.dumps(make()))
    words, starts, ends = tokenizer("aé [CLS] B京x")
    assert starts.dtype == ends.dtype == np.uint32 and len(words) == len(starts) == len(ends)
    assert (starts <= ends).all() and (starts[1:] >= ends[:-1]).all()
    line = "aé 北x𝒜"
    if not isinstance(tokenizer, (text.BasicTokenizer, text.BertTokenizer)):
        for word, start, end in zip(*tokenizer(line), strict=True):
            assert line.encode()[start:end].decode() == word
    assert [part.tolist() for part in tokenizer("")] == [[""], [0], [0]]


def test_numbers_of_words():
    look = text.Lookup(VOCAB, "[UNK]", np.int64)
    assert look(np.array([["hello", "none"], ["", "北"]])).tolist() == [[1, 0], [0, 8]]
    assert look(np.array([b"hello"])).tolist() == [1] and look("a").dtype == np.int64
    assert look(np.array([], str)).shape == (0,)
    with pytest.raises(
        ValueError, match=r"'Lookup', words must be in the vocabulary, but got 'é1'"
    ):
        text.Lookup(VOCAB)("é1")
    twice = pickle.loads(pickle.dumps(look))
    assert twice("hello").item() == 1


def test_truncation():
    for array in (np.arange(5), np.arange(6.0).reshape(2, 3), np.array(["a", "bc", "d"])):
        given = text.Truncate(2)(array)
        assert given.tolist() == array[..., :2].tolist() and given.dtype == array.dtype
        assert text.Truncate(9)(array).tolist() == array.tolist()
    with pytest.raises(ValueError, match="'Truncate', the input must have rank 1 or 2, but got 0"):
        text.Truncate(2)(np.array(1))


STEPS = {
    "bert": lambda: [text.BertTokenizer(VOCAB, lower_case=True), text.Lookup(VOCAB, "[UNK]")],
    "words": lambda: [text.CaseFold(), text.WhitespaceTokenizer(), text.Truncate(3), text.Lookup(VOCAB, "[UNK]")],
    "python": lambda: [text.NormalizeUTF8(), lambda x: x, text.UnicodeCharTokenizer()],
    "patterns": lambda: [text.NormalizeUTF8(), text.RegexTokenizer(r"[\s,]+", ",")],
    "offsets": lambda: [text.CaseFold(), text.BasicTokenizer(with_offsets=True)],
    "offsets within": lambda: [text.BasicTokenizer(with_offsets=True), lambda a, b, c: (a, b, c)],
}  # fmt: skip


@pytest.mark.parametrize("name", STEPS)
def test_pipelines_of_any_number_of_workers(name):
    given = list(lines(200, 6))
    names = ["word", "start", "end"] if "offsets" in name else ["word"]
    seen = []
    for workers in (1, 4):
        data = ds.NumpySlicesDataset(given, ["line"], shuffle=False)
        data = data.map(STEPS[name](), "line", names, num_parallel_workers=workers)
        rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        seen.append([[part.tolist() for part in row] for row in rows])
    assert seen[0] == seen[1] and len(seen[0]) == 200
    for line, row in zip(given, seen[0], strict=True):
        values = (line,)
        for step in STEPS[name]():
            result = step(*values)
            values = (
                result
                if isinstance(result, tuple)
                else tuple(result)
                if isinstance(result, list)
                else (result,)
            )
        assert [np.asarray(value).tolist() for value in values] == row


def test_what_is_wrong_in_a_row_is_told():
    data = ds.NumpySlicesDataset([b"ok", b"\xff\xfe"], ["line"], shuffle=False)
    with pytest.raises(
        RuntimeError, match=r"row 1: For 'WhitespaceTokenizer', the input must be UTF-8"
    ):
        list(data.map(text.WhitespaceTokenizer(), "line").create_tuple_iterator(num_epochs=1))
    for operation in (
        text.CaseFold(),
        text.BasicTokenizer(),
        text.Lookup(VOCAB),
        text.BertTokenizer(VOCAB),
    ):
        name = type(operation).__name__
        with pytest.raises(ValueError, match=f"'{name}', the input must be UTF-8"):
            operation(np.array(b"a\xc3"))
        with pytest.raises(TypeError, match=f"'{name}', the input must be text, but got int64"):
            operation(np.array(5))
        with pytest.raises(TypeError, match=f"'{name}', the input must be text, but got object"):
            operation(None)
    with pytest.raises(ValueError, match="the input must be one text, but has rank 1"):
        text.WhitespaceTokenizer()(np.array(["a"]))


def test_texts_that_stand_for_bytes():
    line = b"a\xffb c".decode("utf8", "surrogateescape")
    assert text.WhitespaceTokenizer()(line).tolist() == [line[:3], "c"]
    assert text.BasicTokenizer(True)(line).tolist() == [line[:3], "c"]


@pytest.mark.slow
@pytest.mark.parametrize("make", [
    text.WhitespaceTokenizer, text.BasicTokenizer, text.UnicodeScriptTokenizer, lambda: text.BertTokenizer(VOCAB),
    lambda: text.BasicTokenizer(True), lambda: text.RegexTokenizer(" "),
])  # fmt: skip
def test_lines_of_ten_megabytes(make):
    tokenizer = make()
    for part, length in (("ab é ", 2_000_000), ("a" * 10, 1_000_000)):
        line = part * length
        words = tokenizer(line)
        assert words.ndim == 1 and len(words) >= 1


@pytest.mark.slow
def test_words_of_one_width_that_no_memory_holds():
    with pytest.raises((MemoryError, ValueError)):
        text.WhitespaceTokenizer()("b" * 5_000_000 + " a" * 2_500_000)


@pytest.mark.parametrize(
    ("pattern", "line", "expected"),
    [
        (r"\p{Lu}", "aBcD", ["a", "c"]),
        (r"[\p{P}\s]+", "a, b. c", ["a", "b", "c"]),
        (r"[^\p{Han}]", "a北京b", ["北京"]),
        (r"\P{L}+", "ab1é 2c", ["ab", "é", "c"]),
        (r"[[:punct:][:space:]]", "a,b c", ["a", "b", "c"]),
        (r"\p{Latn}", "бaг", ["б", "г"]),
        (r"[]\p{N}]", "a]b1c", ["a", "b", "c"]),
    ],
)
def test_patterns_with_properties(pattern, line, expected):
    assert text.RegexTokenizer(pattern)(line).tolist() == expected


def test_patterns_that_are_none():
    for pattern in (r"\p{Nothing}", "(", r"[\p{L}"):
        with pytest.raises(ValueError, match="delim_pattern must be a pattern"):
            text.RegexTokenizer(pattern)


@pytest.mark.parametrize(
    ("pattern", "replace", "line", "expected"),
    [
        (r"(\w)(\s)", "$2$1", "ab cd e", "a bc de"),
        ("a", r"\$1", "banana", "b$1n$1n$1"),
        ("a", r"\\", "banana", "b\\n\\n\\"),
        ("a", r"x\ty", "banana", "bxtynxtynxty"),
        ("(?<n>a)", "${n}!", "banana", "ba!na!na!"),
        ("(a)", "$12", "banana", "ba2na2na2"),
        ("(a)(b)?", "[$1|$2]", "ab a", "[a|b] [a|]"),
        (r"\w", r"\u0041", "ab", "AA"),
        ("a", "\\", "ba", "b"),
        (r"\h", "_", "a\tb c", "a_b_c"),
        (r"\R", "_", "a\r\nb", "a_b"),
        (r"\x{e9}", "x", "\u00e9", "x"),
    ],
)
def test_what_takes_the_place_of_a_match(pattern, replace, line, expected):
    assert text.RegexReplace(pattern, replace)(line).tolist() == expected


def test_what_cannot_take_it():
    for replace in ("$", "$9", "$x", "$1x$", "${n}"):
        with pytest.raises(ValueError, match="replace must name groups of the pattern"):
            text.RegexReplace("(a)", replace)
    for pattern in (
        "[a-z&&[^b]]",
        "[a-z--[b]]",
        "[[ab][c]]",
    ):  # sets of sets, which would match otherwise
        with pytest.raises(ValueError, match="pattern must be a pattern, but Possible"):
            text.RegexReplace(pattern, "x")


def test_only_the_letters_of_the_alphabet_become_small():
    assert text.FilterWikipediaXML()("Un\u0130B \u212a 7").tolist() == "un b seven"
