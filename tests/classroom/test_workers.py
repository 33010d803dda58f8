"""A submission that kills its worker costs itself, and no other; workers import nothing from the folder they are in."""

import random
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import replace
from functools import partial

import pytest

from autograder.classroom import run as classroom
from autograder.classroom.dask import dask_results, do_elsewhere
from autograder.classroom.run import GradingOptions
from autograder.classroom.workers import KILLED, JobResult, local_results
from autograder.errors import GradingError
from autograder.gradebook.gather import gather
from autograder.model.course import Course
from autograder.pipeline.fingerprint import imported_version
from tests.classroom.jobs import crew, hungry, jobs, leave_a_mark, other_version, quick_or_deadly, real_or_deadly
from tests.pipeline.conftest import SMALL, small_course

HONEST = [f"student{number:02d}" for number in range(27)]
KILLERS = ["killer1", "killer2", "killer3"]


#: The class in the orders that matter: killers among the others, before them, after them.
ORDERS = {
    "scattered": random.Random(0).sample([*HONEST, *KILLERS], 30),
    "first": [*KILLERS, *HONEST],
    "last": [*HONEST, *KILLERS],
}


def cost_themselves_alone(done: Iterable[JobResult]) -> None:
    results = list(done)
    assert sorted(result.job.student for result in results) == sorted([*HONEST, *KILLERS])
    failures = {result.job.student: result.failure for result in results if result.graded is None}
    assert failures == dict.fromkeys(KILLERS, KILLED)


@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_three_killers_in_a_class_of_thirty_cost_themselves_alone(order):
    cost_themselves_alone(local_results(jobs(order), 2, quick_or_deadly))


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
    cost_themselves_alone(dask_results(jobs(order), dask_address, quick_or_deadly))


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


CODE = """
from concurrent.futures import ProcessPoolExecutor

from autograder.classroom.workers import worker_processes

if __name__ == "__main__":
    with ProcessPoolExecutor(1, worker_processes()) as pool:
        print(pool.submit(eval, "__import__('autograder').__all__").result())
"""


def test_a_folder_called_autograder_in_the_course_hides_no_worker_s_package(tmp_path):
    (tmp_path / "autograder").mkdir()
    script = tmp_path / "elsewhere" / "script.py"
    script.parent.mkdir()
    script.write_text(CODE)
    done = subprocess.run([sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "['reference']\n", done.stderr
