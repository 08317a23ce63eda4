"""Trainings in the stages of a pipeline, in real processes, are those of one process; so are their checkpoints."""

from __future__ import annotations

import pytest
from ranks import passes


def test_two_stages():
    passes("stages.py", 2, "mlp,transformer,lenet", "2")


def test_two_stages_of_two_processes():
    passes("stages.py", 4, "mlp,transformer", "2")


def test_the_processes_of_a_stage_may_be_given_their_rows_alone():
    passes("stages.py", 4, "mlp", "2", "parts")


@pytest.mark.slow
def test_four_stages():
    passes("stages.py", 4, "transformer", "4")


def test_a_model_trains_in_stages_and_goes_on_in_others(tmp_path):
    passes("stages_model.py", 2, str(tmp_path), "2")


@pytest.mark.slow
def test_checkpoints_go_from_two_stages_to_four(tmp_path):
    passes("stages_model.py", 4, str(tmp_path), "2,4")


def test_what_cannot_be_stages_is_refused():
    passes("stages_mistakes.py", 2)
