"""Small copies of public sets of texts, for sample_files.py."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from sample_parts import SAMPLES, put, sample


@sample
def text_file(folder: Path) -> None:
    put(folder / "a.txt", "first\r\n\r\n  second \nöäü 中文\n\nlast")
    put(folder / "b.txt", "\ufeffmarked\nb2\nb3\n")
    put(folder / "empty.txt", "")


@sample
def csv(folder: Path) -> None:
    put(folder / "plain.csv", "1,2.5,x\n2,-3,yy\n3,1e3,z z\n")
    put(folder / "quoted.csv", '1,"a,b","say ""hi"""\r\n2,"two\nlines",\r\n3,,"x"\r\n')
    put(folder / "headed.csv", "id,name\n7,seven\n8,eight")
    put(folder / "tabs.csv", "1\ta\n2\tb\n")
    put(folder / "short.csv", "1,2\n3\n")
    put(folder / "wrong.csv", "1,2\nx,4\n")


@sample
def clue(folder: Path) -> None:
    rows = {
        "afqmc": [{"sentence1": "蚂蚁", "sentence2": "b", "label": "0"}, {"sentence1": "c", "sentence2": "d", "label": "1"}],
        "tnews": [{"label": "102", "label_desc": "news", "sentence": "s", "keywords": "k", "id": "0"}],
        "iflytek": [{"label": "3", "label_des": "des", "sentence": "text", "id": 4}],
        "cmnli": [{"sentence1": "a", "sentence2": "b", "label": "neutral", "id": 5}],
        "wsc": [{"target": {"span2_index": 37, "span1_index": 5, "span1_text": "床", "span2_text": "它"}, "idx": 0, "label": "false", "text": "t", "id": 6}],
        "csl": [{"id": 1, "abst": "abstract", "keyword": ["水", "b"], "label": "0"}],
    }  # fmt: skip
    for task, found in rows.items():
        put(
            folder / f"{task}.json",
            "".join(json.dumps(r, ensure_ascii=False) + "\n" for r in found),
        )
        for row in found:
            row.pop("label", None)
            row.setdefault("id", 9)
        put(folder / f"{task}_test.json", "".join(json.dumps(r) + "\n" for r in found))
    put(folder / "broken.json", '{"sentence1": "a", "sentence2": \n')
    put(folder / "other.json", '{"sentence1": "a"}\n')


def reviews(columns: int) -> Callable[[Path], None]:
    """train.csv and test.csv with a number and some texts."""

    def make(folder: Path) -> None:
        for part, count in (("train", 3), ("test", 2)):
            rows = []
            for n in range(count):
                texts = [f'"{part} {n}, text ""{c}"""' for c in range(1, columns)]
                rows.append(",".join([f'"{n + 1}"', *texts]))
            put(folder / f"{part}.csv", "\n".join(rows) + "\n")

    return make


for name, columns in (("ag_news", 3), ("amazon", 3), ("dbpedia", 3), ("yelp", 2), ("yahoo", 4), ("sogou", 3)):  # fmt: skip
    SAMPLES[name] = reviews(columns)


@sample
def imdb(folder: Path) -> None:
    for n, part in enumerate(("train/pos", "train/neg", "test/pos", "test/neg")):
        put(folder / part / "0_9.txt", f"{part} great<br />film {n}")
        put(folder / part / "1_8.txt", f"second {n}\nline")
    put(folder / "train/unsup/0_0.txt", "not rated")


@sample
def sst2(folder: Path) -> None:
    put(folder / "train.tsv", "sentence\tlabel\nhide new\t0\nfine , film\t1\n")
    put(folder / "dev.tsv", "sentence\tlabel\nslow\t0\n")
    put(folder / "test.tsv", "index\tsentence\n0\tuneasy mishmash\n1\tby night\n")


@sample
def wiki_text(folder: Path) -> None:
    for part in ("train", "test", "valid"):
        put(folder / f"wiki.{part}.tokens", f" \n = {part} = \n \n some text \n")


@sample
def penn(folder: Path) -> None:
    for part in ("train", "test", "valid"):
        put(folder / f"ptb.{part}.txt", f" {part} no it was n't \n black monday \n")


@sample
def enwik9(folder: Path) -> None:
    put(folder / "enwik9", "<mediawiki>\n  <page>\n\n    text\n</mediawiki>\n")


@sample
def conll(folder: Path) -> None:
    put(folder / "train.txt", "He PRP B-NP\nsays VBZ B-VP\n. . O\n\nRockwell NNP B-NP\n\n")
    put(folder / "test.txt", "The DT B-NP\nend NN I-NP\n\n")


@sample
def udpos(folder: Path) -> None:
    for part in ("train", "dev", "test"):
        put(
            folder / f"en-ud-tag.v2.{part}.txt",
            f"From\tADP\tIN\n{part}\tDET\tDT\n\nOne\tNUM\tCD\n\n",
        )


@sample
def multi30k(folder: Path) -> None:
    for place in ("training/train", "validation/val", "mmt16_task1_test/test"):
        put(folder / f"{place}.de", f"Zwei {place}\nMehrere Männer\n")
        put(folder / f"{place}.en", f"Two {place}\nSeveral men\n")


@sample
def squad(folder: Path) -> None:
    def content(mark: str) -> str:
        answers = [
            {"text": f"answer {mark}", "answer_start": 3},
            {"text": "other", "answer_start": 9},
        ]
        asked = [{"question": "who?", "id": "1", "answers": answers},
                 {"question": "what?", "id": "2", "answers": answers[1:]}]  # fmt: skip
        return json.dumps({"data": [{"title": "t", "paragraphs": [{"context": f"text {mark}", "qas": asked}]}], "version": "1.1"})  # fmt: skip

    put(folder / "train-v1.1.json", content("train"))
    put(folder / "dev-v1.1.json", content("dev"))


def talk(year: str, usage: str, language: str) -> str:
    """Sentences as the IWSLT has them."""
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<mteval>\n<srcset setid="{year}" srclang="{language}">\n<doc docid="1">\n'
        f"<url>u</url>\n<title>t</title>\n"
        f'<seg id="1"> {usage} one {language} &amp; &quot;q&quot; </seg>\n<seg id="2">zwei ä {language}</seg>\n</doc>\n'
        f'<doc docid="2">\n<seg id="1">three {language}</seg>\n</doc>\n</srcset>\n</mteval>\n'
    )


def talks(folder: Path, year: str, usages: list[str]) -> None:
    """A folder of the IWSLT, German to English."""
    for language in ("de", "en"):
        tags = f"<url>http://x/{language}</url>\n<keywords>a</keywords>\n first {language} \n2. {language} &amp; <b>ö</b>\n"
        put(
            folder / f"train.tags.de-en.{language}",
            tags + f"<talkid>2</talkid>\n  <speaker>s</speaker>\nlast {language}",
        )
        for usage in usages:
            put(
                folder / f"IWSLT{year}.TED.{usage}.de-en.{language}.xml",
                talk(year, usage, language),
            )


@sample
def iwslt16(folder: Path) -> None:
    talks(folder / "texts/de/en/de-en", "16", ["dev2010", "tst2013", "tst2014"])


@sample
def iwslt17(folder: Path) -> None:
    part = "DeEnItNlRo"
    talks(folder / "texts" / part / part / f"{part}-{part}", "17", ["dev2010", "tst2010"])
