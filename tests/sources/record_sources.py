"""Asks MindSpore 2.10 for the answers that tests/sources/answers.json keeps.

Run by a Python that has it: PYTHON tests/sources/record_sources.py [PART OF A CASE'S NAME]
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

from sample_files import SAMPLES
from source_cases import CASES, answer

import mindspore.dataset as ds

ANSWERS = Path(__file__).with_name("answers.json")


def main() -> None:
    """Writes the file anew, or the cases that are named into it."""
    part = sys.argv[1] if len(sys.argv) > 1 else ""
    kept = json.loads(ANSWERS.read_text()) if ANSWERS.exists() and part else {}
    with tempfile.TemporaryDirectory() as root:
        for case, (sample, _, _) in CASES.items():
            if part in case:
                folder = Path(root, sample)
                if not folder.exists():
                    folder.mkdir()
                    SAMPLES[sample](folder)
                print(case, flush=True)
                kept[case] = answer(ds, case, folder)
                if "text" in kept[case]:
                    print("   ", kept[case]["text"].replace(root, "ROOT"), flush=True)
                    kept[case]["text"] = kept[case]["text"].replace(root, "ROOT")
    lines = [
        f" {json.dumps(case)}: {json.dumps(kept[case], ensure_ascii=False)}"
        for case in CASES
        if case in kept
    ]
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n")


main()
