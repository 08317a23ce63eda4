"""`mindspore.dataset.text`: against kept results of MindSpore 2.10, in pipelines, and what it alone does."""

from __future__ import annotations

import json
import os
import subprocess

import numpy as np
import pytest
import text_cases
import vision_cases

import mindspore as ms
import mindspore.dataset as ds
from mindspore.dataset import text
from mindspore.dataset.text import JiebaMode, Vocab

KEPT = dict(json.loads(line) for line in text_cases.ANSWERS.read_text().splitlines())


def failed(result):
    return bool(result) and isinstance(result[0], str)


@pytest.mark.parametrize("call", text_cases.cases())
def test_kept_answers(call):
    given, expected = text_cases.run(call, text), vision_cases.unpack(KEPT[call])
    assert failed(given) == failed(expected), given
    if failed(given):
        # MindSpore's errors of execution are RuntimeError; ours say what kind of mistake it was.
        assert given[0] == expected[0] or expected[0] == "RuntimeError"
        assert given[1].startswith("For '")
        return
    assert len(given) == len(expected)
    for mine, theirs in zip(given, expected, strict=True):
        if isinstance(theirs, dict):
            assert mine == theirs
        else:
            assert (mine.dtype, mine.tolist()) == (theirs.dtype, theirs.tolist())


def test_every_case_is_kept():
    assert list(KEPT) == text_cases.cases()


@pytest.mark.skipif("MS_PEER_PYTHON" not in os.environ, reason="MS_PEER_PYTHON names no Python")
def test_the_peer_still_says_so(tmp_path):
    """The kept answers are those of the package that is named."""
    code = f"import text_cases as c, pathlib; c.record(pathlib.Path({str(tmp_path / 'now')!r}))"
    own = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [own["MS_PEER_PYTHON"], "-c", code]
    folder = str(text_cases.ANSWERS.parent)
    subprocess.run(command, check=True, cwd=folder, capture_output=True, env=own)
    now = dict(json.loads(line) for line in (tmp_path / "now").read_text().splitlines())
    assert [call for call in KEPT if KEPT[call] != now[call]] == []


def rows(data):
    return [row[0].tolist() for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def test_a_pipeline_from_lines_to_numbers():
    lines = ["the cat sat", "the dog sat on the cat", "A dog"]
    data = ds.NumpySlicesDataset(lines, ["line"], shuffle=False)
    words = data.map([text.CaseFold(), text.WhitespaceTokenizer()], "line")
    vocab = Vocab.from_dataset(words, "line", (1, 3), None, ["<pad>", "<unk>"], True)
    assert list(vocab.vocab()) == ["<pad>", "<unk>", "the", "cat", "dog", "sat", "a", "on"]
    assert list(Vocab.from_dataset(words, freq_range=(2, None), top_k=2).vocab()) == ["the", "cat"]
    steps = [text.Truncate(3), text.Lookup(vocab, "<unk>", ms.int64)]
    numbers = words.map(steps, "line").padded_batch(3, pad_info={"line": ([4], 0)})
    assert rows(numbers) == [[[2, 3, 5, 0], [2, 4, 5, 0], [6, 4, 0, 0]]]
    split = data.map(text.PythonTokenizer(lambda line: line.split("t")), "line")
    assert rows(split)[0] == ["", "he ca", " sa", ""]


def test_offsets_are_columns():
    data = ds.NumpySlicesDataset(["é ab"], ["line"])
    data = data.map(text.WhitespaceTokenizer(True), "line", ["word", "begin", "end"])
    (row,) = data.create_dict_iterator(num_epochs=1, output_numpy=True)
    assert row["begin"].tolist() == [0, 3] and row["end"].tolist() == [2, 5]


def test_special_words_keep_their_case():
    given = text.BasicTokenizer(True)("Hello [CLS] [cls] É[MASK]")
    assert given.tolist() == ["hello", "[CLS]", "[", "cls", "]", "e", "[MASK]"]


def test_vocabularies_of_files(tmp_path):
    path = tmp_path / "vocab.txt"
    path.write_bytes("a,1\r\nb,2\né,3\n".encode())
    assert Vocab.from_file(str(path), ",", 2, ["x"], False).vocab() == {"a": 0, "b": 1, "x": 2}
    assert list(Vocab.from_file(str(path), ",").vocab()) == ["a", "b", "é"]
    path.write_bytes(b"a\n\xff\n")
    with pytest.raises(ValueError, match="must be UTF-8"):
        Vocab.from_file(str(path))
    path.write_bytes(b"a\na\n")
    with pytest.raises(ValueError, match="must not repeat a word, but got 'a' again"):
        Vocab.from_file(str(path))


def test_vectors(tmp_path):
    path = tmp_path / "glove.6B.txt"
    path.write_text("ok 1 2 3\nno 4 5 6\n")
    for kind in (text.GloVe, text.Vectors):
        vectors = kind.from_file(str(path))
        look = text.ToVectors(vectors, [7, 8, 9], True)
        assert look(np.array(["OK", "none"])).tolist() == [[1, 2, 3], [7, 8, 9]]
        assert text.ToVectors(vectors)("OK").tolist() == [0, 0, 0]
    assert text.ToVectors(text.GloVe.from_file(str(path), 1))("no").tolist() == [0, 0, 0]
    named = tmp_path / "x.vec"
    named.write_text("2 2\n" + "a 1 2\nb 3 4\n")
    assert text.ToVectors(text.FastText.from_file(str(named)))("b").tolist() == [3, 4]
    named.write_text("2gram-ab 1 2\n3gram-#BEGIN#ab 3 4\n")
    assert text.ToVectors(text.CharNGram.from_file(str(named)))("ab").tolist() == [2, 3]
    for content, words in (
        ("a 1 2\nb 1\n", "line 2 must have 2 numbers"),
        ("a 1 x\n", "line 1"),
        ("", "has none"),
    ):
        named.write_text(content)
        with pytest.raises(ValueError, match=words):
            text.FastText.from_file(str(named))
    with pytest.raises(ValueError, match=r"must be named glove\.\*\.txt"):
        text.GloVe.from_file(str(named))


def test_chinese_words_by_a_dictionary(tmp_path):
    path = tmp_path / "dict.txt"
    path.write_text("今天 30 t\n天天 9\n天气 40\n今 5\n天 5\n气 5\n好 20\n", encoding="utf-8")
    cut = text.JiebaTokenizer(str(path), str(path), JiebaMode.MP)
    assert cut("今天天气好ok 1,好").tolist() == ["今天", "天气", "好", "ok", " ", "1", ",", "好"]
    cut.add_word("今天天气", 900)
    cut.add_dict({"好好": 3})
    assert cut("今天天气好好").tolist() == ["今天天气", "好好"]
    with pytest.raises(ValueError, match="mode must be MIX or MP"):
        text.JiebaTokenizer(str(path), str(path), JiebaMode.HMM)


def test_long_and_strange_texts():
    line = "ab c " * 400_000
    assert len(text.RegexTokenizer(" ")(line)) == 800_000
    with pytest.raises(ValueError, match="must be UTF-8"):
        text.CaseFold()(np.array(b"\xff\xfe"))
    assert text.CaseFold()(np.array(["Ä".encode()])).tolist() == ["ä"]
    with pytest.raises(ValueError, match="must be a pattern"):
        text.RegexTokenizer("(")
    with pytest.raises(
        ValueError, match=r"must name groups of the pattern, such as .1, but got '\$2'"
    ):
        text.RegexReplace("(a)", "$2")
    assert text.RegexReplace("a", "\\1")("a").tolist() == "1"
    with pytest.raises(ValueError, match="unknown_token must be in the vocabulary"):
        text.Lookup(Vocab.from_list(["a"]), "b")
    with pytest.raises(
        RuntimeError, match=r"row 0: For 'Lookup', .*be in the vocabulary, but got 'b'"
    ):
        list(ds.NumpySlicesDataset(["b"], ["x"]).map(text.Lookup(Vocab.from_list(["a"])), "x"))


def test_pieces_need_their_library(tmp_path):
    (tmp_path / "m").write_bytes(b"x")
    try:
        import sentencepiece  # noqa: F401
    except ImportError:
        with pytest.raises(ImportError, match="pip install sentencepiece"):
            text.SentencePieceTokenizer(str(tmp_path / "m"), text.SPieceTokenizerOutType.INT)
    with pytest.raises(ValueError, match="must be the file of a model"):
        text.SentencePieceTokenizer(str(tmp_path / "n"), text.SPieceTokenizerOutType.INT)


def test_a_model_of_pieces(tmp_path):
    pytest.importorskip("sentencepiece")
    lines = ["the cat sat on the mat", "a dog sat on the cat", "the dog and the cat"] * 20
    data = ds.NumpySlicesDataset(lines, ["line"], shuffle=False)
    kind = text.SentencePieceModel.BPE
    vocab = text.SentencePieceVocab.from_dataset(data, ["line"], 30, 0.9995, kind, {})
    pieces = text.SentencePieceTokenizer(vocab, text.SPieceTokenizerOutType.STRING)
    numbers = text.SentencePieceTokenizer(vocab, text.SPieceTokenizerOutType.INT)
    words = pieces("the cat")
    assert "".join(words.tolist()).replace("\u2581", " ").strip() == "the cat"
    assert numbers("the cat").dtype == np.int32 and len(numbers("the cat")) == len(words)
    text.SentencePieceVocab.save_model(vocab, str(tmp_path), "m.model")
    again = text.SentencePieceTokenizer(
        str(tmp_path / "m.model"), text.SPieceTokenizerOutType.STRING
    )
    assert again("the cat").tolist() == words.tolist()
    (tmp_path / "lines.txt").write_text("\n".join(lines))
    made = text.SentencePieceVocab.from_file([str(tmp_path / "lines.txt")], 30, 0.9995, kind, {})
    assert len(made.model) > 100
    with pytest.raises(RuntimeError, match="the model cannot be trained"):
        text.SentencePieceVocab.from_dataset(data, ["line"], 100000, 0.9995, kind, {})
    with pytest.raises(ValueError, match=r"col_names must be among \['line'\], but got 'x'"):
        text.SentencePieceVocab.from_dataset(data, ["x"], 30, 0.9995, kind, {})
    with pytest.raises(ValueError, match=r"character_coverage must be in \[0, 1\]"):
        text.SentencePieceVocab.from_dataset(data, ["line"], 30, 2.0, kind, {})
    (tmp_path / "bad.model").write_bytes(b"none")
    with pytest.raises(ValueError, match="mode must be a model"):
        text.SentencePieceTokenizer(str(tmp_path / "bad.model"), text.SPieceTokenizerOutType.INT)


def test_old_paths():
    import mindspore.dataset.text.c_transforms as c
    import mindspore.dataset.text.transforms as every
    from mindspore.dataset.text.utils import NormalizeForm, to_bytes

    assert c.BertTokenizer is text.BertTokenizer is every.BertTokenizer
    assert every.Lookup is text.Lookup and NormalizeForm.NFKC == 2
    assert to_bytes is text.to_bytes
