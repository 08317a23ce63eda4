"""A differential tester: random programs, run eagerly and compiled with and without the fast stage, must agree. `python tests/fuzz --help` says how to use it."""
