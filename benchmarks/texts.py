"""Tokenizers beside those of the `tokenizers` package, on one thread.

python benchmarks/texts.py [case ...]

Each takes the same lines one by one; they take turns, and the best round of each counts. A ratio is our rate over the peer's: above 1
is in our favour. `calls` are calls on strings, `pipeline` is a dataset of the lines with one worker.
"""

from __future__ import annotations

import argparse
import functools
import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

import mindspore.dataset as ds
from mindspore.dataset import text

ROUNDS = 9
Run = Callable[[], Any]


def lines(count: int, chinese: bool) -> list[str]:
    """Made-up sentences of words as frequent as those of a language."""
    rng = np.random.default_rng(0)
    letters = np.array(list("etaoinshrdlucmfwypvbgk"))
    words = ["".join(rng.choice(letters[:12], rng.integers(1, 9))) for _ in range(4000)]
    if chinese:
        words = ["".join(map(chr, rng.integers(0x4E00, 0x5500, 2))) for _ in range(4000)]
    shares = 1 / np.arange(2, 4002)
    made = []
    for _ in range(count):
        chosen = rng.choice(4000, rng.integers(10, 40), p=shares / shares.sum())
        line = " ".join(words[i] for i in chosen)
        made.append(line.capitalize() + ", it's 42!")
    return made


def vocabulary(given: list[str]) -> list[str]:
    """Half of the words whole, and pieces for the rest."""
    words = sorted({word for line in given for word in line.lower().replace(",", "").split()})
    pieces = sorted({letter for word in words for letter in word})
    marked = ["##" + piece for piece in pieces] + ["##" + word[2:5] for word in words[::3]]
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    return list(dict.fromkeys([*special, *pieces, ",", "!", "'", "42", *marked, *words[::2]]))


def bert(given: list[str]) -> tuple[Any, Run]:
    """Lower case, words, pieces and their numbers."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    names = vocabulary(given)
    vocab = text.Vocab.from_list(names)
    peer = Tokenizer(models.WordPiece({n: i for i, n in enumerate(names)}, unk_token="[UNK]"))
    peer.normalizer = normalizers.BertNormalizer(lowercase=True)
    peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    steps = [text.BertTokenizer(vocab, lower_case=True), text.Lookup(vocab, "[UNK]")]
    for line in given[:200]:
        mine = steps[1](steps[0](line))
        assert mine.tolist() == peer.encode(line, add_special_tokens=False).ids, line
    return steps, lambda: [peer.encode(line).ids for line in given]


def bert_tokens(given: list[str]) -> tuple[Any, Run]:
    """Lower case, words and pieces."""
    steps, _ = bert(given)
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    names = vocabulary(given)
    peer = Tokenizer(models.WordPiece({n: i for i, n in enumerate(names)}, unk_token="[UNK]"))
    peer.normalizer = normalizers.BertNormalizer(lowercase=True)
    peer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return steps[:1], lambda: [peer.encode(line).tokens for line in given]


def whitespace(given: list[str]) -> tuple[Any, Run]:
    """Words between white space."""
    from tokenizers import pre_tokenizers

    peer = pre_tokenizers.WhitespaceSplit()
    return [text.WhitespaceTokenizer()], lambda: [peer.pre_tokenize_str(line) for line in given]


def basic(given: list[str]) -> tuple[Any, Run]:
    """Words and punctuation."""
    from tokenizers import pre_tokenizers

    peer = pre_tokenizers.BertPreTokenizer()
    return [text.BasicTokenizer()], lambda: [peer.pre_tokenize_str(line) for line in given]


def scripts(given: list[str]) -> tuple[Any, Run]:
    """Neighbours of one script."""
    from tokenizers import pre_tokenizers

    peer = pre_tokenizers.UnicodeScripts()
    steps = [text.UnicodeScriptTokenizer()]
    return steps, lambda: [peer.pre_tokenize_str(line) for line in given]


def pattern(given: list[str]) -> tuple[Any, Run]:
    """What stands between matches of a pattern."""
    from tokenizers import Regex, pre_tokenizers

    peer = pre_tokenizers.Split(Regex(r"\s+"), "removed")
    return [text.RegexTokenizer(r"\s+")], lambda: [peer.pre_tokenize_str(line) for line in given]


def normal_form(given: list[str]) -> tuple[Any, Run]:
    """NFKC."""
    from tokenizers import normalizers

    peer = normalizers.NFKC()
    return [text.NormalizeUTF8()], lambda: [peer.normalize_str(line) for line in given]


def piped(given: list[str], steps: Any) -> None:
    """The lines through a pipeline."""
    data = ds.NumpySlicesDataset(given, ["line"], shuffle=False)
    data = data.map(steps, "line", num_parallel_workers=1)
    for _ in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        pass


def called(given: list[str], steps: Any) -> None:
    """The lines one by one."""
    for line in given:
        value: Any = line
        for step in steps:
            value = step(value)


def timed(run: Run) -> float:
    """Seconds of one call."""
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def main() -> None:
    """Run the cases that were named, or all."""
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    cases = {
        c.__name__: c for c in (bert, bert_tokens, whitespace, basic, scripts, pattern, normal_form)
    }
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cases", nargs="*", help=", ".join(cases))
    names = parser.parse_args().cases or list(cases)
    print(f"load {os.getloadavg()[0]:.1f}; thousands of lines a second")
    for chinese in (False, True):
        given = lines(3000, chinese)
        for name in names:
            steps, peer = cases[name](given)
            runs = {
                "calls": functools.partial(called, given, steps),
                "pipeline": functools.partial(piped, given, steps),
                "peer": peer,
            }
            best = dict.fromkeys(runs, float("inf"))
            for _ in range(ROUNDS):
                for key, run in runs.items():
                    best[key] = min(best[key], timed(run))
            rates = {key: len(given) / seconds / 1e3 for key, seconds in best.items()}
            kind = "chinese" if chinese else "english"
            print(
                f"{kind} {name:12} calls {rates['calls']:7.1f}  pipeline {rates['pipeline']:7.1f}  tokenizers "
                f"{rates['peer']:7.1f}  ratios {rates['calls'] / rates['peer']:5.2f} {rates['pipeline'] / rates['peer']:5.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
