"""Calls of the public API whose results are compared with those of the reference package.

`calls/` says what is called, `record.py` asks the reference and keeps its `answers/`, `test_calls.py` compares ours with
them, and `accepted/` lists the differences that are meant, each with its reason."""
