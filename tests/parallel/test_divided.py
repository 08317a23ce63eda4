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


def test_a_model_trains_evaluates_and_goes_on_from_checkpoints(tmp_path):
    passes("divided_model.py", 2, str(tmp_path), "semi,dynamic")


def test_layouts_are_written_and_read(tmp_path):
    passes("divided_files.py", 2, str(tmp_path))


@pytest.mark.slow
def test_four_processes_with_a_model(tmp_path):
    passes("divided_model.py", 4, str(tmp_path), "recursive,propagation")


def test_what_cannot_be_divided_is_refused():
    passes("divided_mistakes.py", 2)


def test_a_residual_network_with_normalisation():
    passes("auto.py", 2, "resnet", "semi,dynamic")


def test_blocks_are_computed_again_where_memory_is_too_little():
    passes("again.py", 2)


@pytest.mark.slow
@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_all_networks(ranks):
    modes = MODES if ranks % 2 == 0 else MODES.removeprefix("semi,")  # pins are cuts in two
    passes("auto.py", ranks, "mlp,lenet,transformer,lstm,wide_deep,resnet,loop", modes)


def test_a_training_goes_on_with_another_number_of_processes(tmp_path):
    for ranks, first, last in (2, 0, 5), (3, 5, 8), (1, 8, 12):
        passes("other_counts.py", ranks, str(tmp_path), str(first), str(last))


def test_an_evaluation_behind_a_training_is_that_of_all():
    """The rows that one process would shuffle for itself are those of the first, under full_batch; otherwise each has its own, and metrics
    are told of those of all."""
    passes("evaluated.py", 2)
