"""A differential tester: random programs, run eagerly and compiled with and without the fast stage, must agree. `python tests/fuzz --help` says how to use it."""

import os

os.environ.setdefault("MS_VERIFY", "1")  # of the processes that run programs, too
