"""Schedules of pipelines, which are lists: what is in them, that nobody waits for ever, how long they take and what they keep."""

from __future__ import annotations

import itertools
import random
from typing import Any

import pytest

from mindspore import _core

SIZES = [(s, m) for s in range(1, 5) for m in range(1, 9)]
NAMES = ("gpipe", "1f1b")
Task = tuple[int, int, bool]  # stage, part, whether backward


def scheduled(name: str, stages: int, parts: int, forward: Any = 1.0, backward: Any = 2.0, transfer: float = 0.0) -> dict[str, Any]:  # fmt: skip
    def each(costs: Any) -> list[float]:
        return list(costs) if isinstance(costs, (list, tuple)) else [costs] * stages

    return _core.pipeline_schedule(name, stages, parts, each(forward), each(backward), transfer)


def needs(task: Task, stages: int) -> list[Task]:
    stage, part, backward = task
    if not backward:
        return [(stage - 1, part, False)] if stage else []
    later = [(stage + 1, part, True)] if stage + 1 < stages else []
    return [(stage, part, False), *later]


def run(lists: list[list[Task]], speed: Any) -> dict[Task, float]:
    """When each task ends, where `speed(task)` says how long it takes; an independent simulation. Fails where nobody can go on."""
    ends: dict[Task, float] = {}
    place, free = [0] * len(lists), [0.0] * len(lists)
    while any(at < len(tasks) for at, tasks in zip(place, lists)):
        before = list(place)
        for s, tasks in enumerate(lists):
            if place[s] < len(tasks):
                task = tasks[place[s]]
                if all(n in ends for n in needs(task, len(lists))):
                    begin = max([free[s], *(ends[n] for n in needs(task, len(lists)))])
                    free[s] = ends[task] = begin + speed(task)
                    place[s] += 1
        assert place != before, f"nobody can go on at {place}"
    return ends


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("stages", "parts"), SIZES)
def test_every_task_is_there_once_behind_what_it_needs(name, stages, parts):
    made = scheduled(name, stages, parts)
    wanted = {(s, p, b) for s in range(stages) for p in range(parts) for b in (False, True)}
    for stage, tasks in enumerate(made["tasks"]):
        assert all(task[0] == stage for task in tasks)
    listed = [task for tasks in made["tasks"] for task in tasks]
    assert len(listed) == len(wanted)
    assert set(listed) == wanted
    order = made["order"]
    assert sorted(order) == sorted(listed)
    place = {task: i for i, task in enumerate(order)}
    for task in order:
        assert all(place[n] < place[task] for n in needs(task, stages))
    for stage, tasks in enumerate(made["tasks"]):
        assert [t for t in order if t[0] == stage] == tasks
    rng = random.Random(stages * 10 + parts)
    for _ in range(5):  # whoever is how slow
        run(made["tasks"], lambda task: rng.random())


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("stages", "parts"), SIZES)
def test_the_bubble_is_that_of_the_formula(name, stages, parts):
    made = scheduled(name, stages, parts)
    assert made["bubble"] == pytest.approx((stages - 1) / (parts + stages - 1), abs=1e-12)
    assert made["seconds"] == pytest.approx(3.0 * (parts + stages - 1))


@pytest.mark.parametrize(("stages", "parts"), SIZES)
def test_what_is_kept(stages, parts):
    assert scheduled("gpipe", stages, parts)["most_parts"] == [parts] * stages
    kept = scheduled("1f1b", stages, parts)["most_parts"]
    assert kept == [min(parts, stages - s) for s in range(stages)]


@pytest.mark.parametrize("name", NAMES)
def test_times_are_those_of_another_simulation(name):
    rng = random.Random(3)
    for stages, parts in SIZES:
        forward = [rng.random() for _ in range(stages)]
        backward = [rng.random() for _ in range(stages)]
        made = scheduled(name, stages, parts, forward, backward)
        ends = run(made["tasks"], lambda t, f=forward, b=backward: (b if t[2] else f)[t[0]])
        assert made["seconds"] == pytest.approx(max(ends.values()))
        # The critical path has no gaps: it takes the whole time.
        path = made["critical"]
        assert sum((backward if b else forward)[s] for s, _, b in path) == pytest.approx(
            made["seconds"]
        )


def lists_of(stage: int, parts: int) -> list[list[Task]]:
    """All orders of a stage in which parts come one after the other, each backward behind forward."""
    found = []
    for backwards in itertools.combinations(range(2 * parts), parts):
        tasks, counts = [], [0, 0]
        for at in range(2 * parts):
            back = at in backwards
            tasks.append((stage, counts[back], back))
            counts[back] += 1
            if counts[1] > counts[0]:
                break
        else:
            found.append(tasks)
    return found


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_no_schedule_of_two_stages_is_quicker(parts):
    best = None
    for lists in itertools.product(lists_of(0, parts), lists_of(1, parts)):
        try:
            ends = run(list(lists), lambda task: 2.0 if task[2] else 1.0)
        except AssertionError:
            continue  # it would wait for ever
        took = max(ends.values())
        best = took if best is None else min(best, took)
    assert [scheduled(name, 2, parts)["seconds"] for name in NAMES] == [best, best]


def test_transfers_take_time():
    assert scheduled("gpipe", 2, 1, transfer=0.5)["seconds"] == 2 * 3.0 + 2 * 0.5


def test_wrong_schedules_are_refused():
    with pytest.raises(ValueError, match="must be 'gpipe', '1f1b'"):
        scheduled("zero", 2, 2)
    with pytest.raises(ValueError, match="at least 1 stage and 1 part"):
        scheduled("gpipe", 2, 0)
    with pytest.raises(ValueError, match="costs of each stage"):
        scheduled("gpipe", 2, 1, forward=[1.0])
