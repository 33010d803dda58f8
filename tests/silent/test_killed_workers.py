"""A submission that kills its worker costs itself, and no other."""

from __future__ import annotations

import random
from dataclasses import replace
from functools import partial

import pytest

from autograder.classroom import run as classroom
from autograder.classroom.dask import dask_results, do_elsewhere
from autograder.classroom.run import GradingOptions
from autograder.classroom.workers import KILLED, local_results
from autograder.errors import GradingError
from autograder.gradebook.gather import gather
from autograder.model.course import Course
from autograder.pipeline.fingerprint import imported_version
from tests.pipeline.conftest import SMALL, small_course
from tests.silent.dask_crew import crew
from tests.silent.jobs import hungry, jobs, leave_a_mark, other_version, quick_or_deadly, real_or_deadly

HONEST = [f"student{number:02d}" for number in range(27)]
KILLERS = ["killer1", "killer2", "killer3"]


#: The class in the orders that matter: killers among the others, before them, after them.
ORDERS = {
    "scattered": random.Random(0).sample([*HONEST, *KILLERS], 30),
    "first": [*KILLERS, *HONEST],
    "last": [*HONEST, *KILLERS],
}


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_three_killers_in_a_class_of_thirty_cost_themselves_alone(order):
    done = list(local_results(jobs(order), 2, quick_or_deadly))
    assert sorted(one.job.student for one in done) == sorted([*HONEST, *KILLERS])
    assert {one.job.student for one in done if one.graded is None} == set(KILLERS)
    assert {one.failure for one in done if one.graded is None} == {KILLED}


def test_a_submission_killed_for_the_memory_of_others_is_graded_when_it_is_alone(tmp_path):
    done = list(local_results(jobs(["victim1", *HONEST[:6], "victim2"], tmp_path), 2, hungry))
    assert len(done) == 8
    assert all(one.graded for one in done)


def test_no_job_begins_before_all_is_ready_and_none_where_it_never_is(tmp_path):
    def is_ready():
        assert not list(tmp_path.iterdir())

    def is_not():
        raise GradingError("no confinement here")

    with pytest.raises(GradingError, match="no confinement"):
        list(local_results(jobs(HONEST, tmp_path), 2, leave_a_mark, ready=is_not))
    assert not list(tmp_path.iterdir())
    done = list(local_results(jobs(HONEST, tmp_path), 2, leave_a_mark, ready=is_ready))
    assert len(done) == len(list(tmp_path.iterdir())) == len(HONEST)  # no course lies there to look at beforehand


@pytest.fixture(scope="module")
def dask_address():
    pytest.importorskip("distributed", reason="Dask is an optional extra")
    with crew(3) as address:
        yield address


@pytest.mark.slow
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_three_killers_in_a_class_of_thirty_cost_themselves_alone_on_dask(order, dask_address):
    done = list(dask_results(jobs(order), dask_address, quick_or_deadly))
    assert sorted(one.job.student for one in done) == sorted([*HONEST, *KILLERS])
    assert {one.job.student for one in done if one.graded is None} == set(KILLERS)
    assert {one.failure for one in done if one.graded is None} == {KILLED}


@pytest.mark.slow
def test_a_dask_worker_of_another_version_is_refused_in_one_line(dask_address):
    with pytest.raises(GradingError, match="has another version of the grader"):
        list(dask_results(jobs(HONEST[:3]), dask_address, other_version))


def test_a_worker_grades_nothing_for_another_version():
    (job,) = jobs(["student"])
    done = do_elsewhere(replace(job, version="of another grader"))
    assert done.graded is None and done.version == imported_version(job.course)


@pytest.fixture(scope="module")
def real_class(tmp_path_factory) -> Course:
    """Three students with one solved notebook, and one whose submission kills its worker."""
    folder = tmp_path_factory.mktemp("killers") / "course"
    return small_course(folder, "ada", "bob", "eve", "killer")


@pytest.mark.slow
def test_a_real_class_has_its_grades_beside_one_that_kills_its_worker(real_class, monkeypatch):
    monkeypatch.setattr(classroom, "local_results", partial(local_results, work=real_or_deadly))
    rows = {row.student: row for row in classroom.grade_class(real_class, GradingOptions(SMALL, workers=2))}
    assert rows.pop("killer").failure.startswith(KILLED)
    assert {row.total for row in rows.values()} == {12.0}
    states = {row.student.id: row.state for row in gather(real_class, SMALL).rows}
    assert states.pop("killer") == "infrastructure"
    assert set(states.values()) == {"graded"}
