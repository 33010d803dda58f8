"""A submission that kills its worker costs itself, and no other."""

from __future__ import annotations

import random

import pytest

from autograder.dask_workers import dask_results
from autograder.workers import KILLED, local_results
from tests.silent.dask_crew import crew
from tests.silent.jobs import hungry, jobs, quick_or_deadly

HONEST = [f"student{number:02d}" for number in range(27)]
KILLERS = ["killer1", "killer2", "killer3"]


def shuffled(seed: int) -> list[str]:
    order = [*HONEST, *KILLERS]
    random.Random(seed).shuffle(order)
    return order


@pytest.mark.parametrize("seed", range(10))
def test_three_killers_in_a_class_of_thirty_cost_themselves_alone(seed):
    done = list(local_results(jobs(shuffled(seed)), 2, quick_or_deadly))
    assert sorted(one.job.student for one in done) == sorted([*HONEST, *KILLERS])
    assert {one.job.student for one in done if one.graded is None} == set(KILLERS)
    assert {one.failure for one in done if one.graded is None} == {KILLED}


def test_a_submission_killed_for_the_memory_of_others_is_graded_when_it_is_alone(tmp_path):
    done = list(local_results(jobs(["victim1", *HONEST[:6], "victim2"], tmp_path), 2, hungry))
    assert len(done) == 8
    assert all(one.graded for one in done)


@pytest.fixture(scope="module")
def dask_address():
    pytest.importorskip("distributed", reason="Dask is an optional extra")
    with crew(3) as address:
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10))
def test_three_killers_in_a_class_of_thirty_cost_themselves_alone_on_dask(seed, dask_address):
    done = list(dask_results(jobs(shuffled(seed)), dask_address, quick_or_deadly))
    assert sorted(one.job.student for one in done) == sorted([*HONEST, *KILLERS])
    assert {one.job.student for one in done if one.graded is None} == set(KILLERS)
    assert {one.failure for one in done if one.graded is None} == {KILLED}
