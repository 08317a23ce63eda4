"""Sums of gradients that are made while the backward pass runs, over a link that is made to take time."""

from __future__ import annotations

import re

import pytest
import ranks

pytestmark = [pytest.mark.host_device]


@pytest.mark.parametrize("how", ["hidden", "at the end"])
def test_the_same_numbers(how):
    # Hiding is of the fast stage.
    delay = {"MS_COMM_DELAY": "300,1", "MS_FUSION": "1"} if how == "hidden" else {}
    ranks.passes("sums.py", 2, how, **delay)


@pytest.mark.parametrize("count", [2, 3])
def test_tensors_of_all_sizes_in_one_go(count):
    ranks.passes("many_sums.py", count)


@pytest.mark.slow
@pytest.mark.parametrize("count", [1, 3])
def test_other_numbers_of_processes(count):
    ranks.passes("sums.py", count, "at the end")


@pytest.mark.slow
def test_hidden_by_three_without_windows():
    ranks.passes(
        "sums.py", 3, "hidden", MS_COMM_DELAY="100,0.5", MS_COMM_WINDOWS="0", MS_FUSION="1"
    )


def test_the_losses_of_one_process():
    ranks.passes("data_parallel.py", 2, MS_COMM_DELAY="20,0.1")


@pytest.mark.parametrize(
    ("count", "nets", "modes"), [(2, "mlp", "semi,dynamic"), (4, "transformer", "semi")]
)
def test_gradients_of_divided_networks(count, nets, modes):
    ranks.passes(
        "auto.py", count, nets, modes, "parts", "hidden", MS_COMM_DELAY="100,1", MS_FUSION="1"
    )


def test_gradients_of_stages_that_are_divided():
    ranks.passes("stages.py", 4, "mlp", "2", "parts", MS_COMM_DELAY="50,1", MS_FUSION="1")


@pytest.mark.parametrize("how", ["kill", "raise"])
def test_an_end_of_a_divided_network_while_sums_are_on_their_way(how):
    done = ranks.run("late.py", 2, how, "divided", MS_COMM_DELAY="50000,1", MS_FUSION="1")
    assert done.returncode != 0
    said = "rank 1 .*(died without a farewell|the disk is full)"
    assert re.search(r"told after [0-4]\.\d s: .*" + said, done.stdout), done.stdout + done.stderr


@pytest.mark.parametrize("how", ["kill", "raise"])
def test_an_end_while_sums_are_on_their_way(how):
    done = ranks.run("late.py", 2, how, MS_COMM_DELAY="50000,1")
    assert done.returncode != 0
    said = "For 'AllReduce', rank 1 .*(died without a farewell|the disk is full)"
    assert re.search(r"told after [0-4]\.\d s: " + said, done.stdout), done.stdout + done.stderr
    assert "optimizer(reducer(grads))" in done.stdout  # the line


@pytest.mark.parametrize("delay", ["fast", "-1,0", "1,nan"])
def test_a_delay_that_is_none(delay):
    done = ranks.run("sums.py", 2, "hidden", MS_COMM_DELAY=delay)
    assert done.returncode != 0
    assert "MS_COMM_DELAY must be microseconds for a call" in done.stdout + done.stderr
