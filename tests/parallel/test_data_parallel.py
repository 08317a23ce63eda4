"""Training by several processes, each on its part of a batch, is training by one on the whole."""

from __future__ import annotations

import pytest
import ranks

pytestmark = [pytest.mark.host_device]


@pytest.mark.parametrize("count", [2, 4])
def test_the_losses_of_one_process(count):
    ranks.passes("data_parallel.py", count)


@pytest.mark.parametrize("data", ["divided", "whole"])
def test_model(data, tmp_path):
    ranks.passes("model.py", 2, str(tmp_path), data)


def test_states_of_optimizers_are_divided(tmp_path):
    ranks.passes("divided_states.py", 2, str(tmp_path))


def test_norms_over_processes():
    ranks.passes("norms.py", 2)


def test_parameters_of_each_process():
    ranks.passes("own_parameters.py", 2)


@pytest.mark.parametrize(
    ("count", "nets"),
    [
        (2, "mlp,lenet,transformer,lstm"),
        pytest.param(2, "wide_deep,resnet", marks=pytest.mark.slow),
        pytest.param(4, "mlp,lenet,transformer,lstm,wide_deep,resnet", marks=pytest.mark.slow),
    ],
)
def test_curves_of_whole_trainings(count, nets):
    ranks.passes("curves.py", count, nets)
