"""A differential tester: random programs, run eagerly and compiled, must agree. `python tests/fuzz --help` says how to use it."""
