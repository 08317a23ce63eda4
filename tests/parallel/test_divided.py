"""Trainings that the compiler divides among processes are those of one process, in all modes."""

from __future__ import annotations

import pytest
from ranks import passes

MODES = "semi,dynamic,recursive,propagation"


@pytest.mark.parametrize(
    ("ranks", "nets"), [(1, "mlp,loop"), (2, "mlp,lenet,loop"), (4, "transformer,wide_deep")]
)
def test_losses_and_parameters_are_those_of_one_process(ranks, nets):
    passes("auto.py", ranks, nets, MODES)


def test_each_process_may_be_given_its_rows_alone():
    passes("auto.py", 2, "mlp,transformer", "semi,dynamic", "parts")


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_all_networks(ranks):
    passes("auto.py", ranks, "mlp,lenet,transformer,lstm,wide_deep,loop", MODES)
