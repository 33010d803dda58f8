from pathlib import Path

import pytest

from autograder.assignment.assignment import Assignment
from autograder.model.course import Course
from autograder.report import write_report
from autograder.report.similarity import Answer, read_answers
from autograder.report.statistics import Results, read_results
from tests.report import simulated


@pytest.fixture(scope="session")
def simulated_course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    return simulated.build(tmp_path_factory.mktemp("simulated"))


@pytest.fixture(scope="session")
def results(simulated_course: Course) -> Results:
    return read_results(simulated_course, simulated.ASSIGNMENT)


@pytest.fixture(scope="session")
def answers(simulated_course: Course) -> list[Answer]:
    opened = Assignment.open(simulated_course.root, simulated.ASSIGNMENT)
    return read_answers(simulated_course, opened, simulated.STUDENTS)


@pytest.fixture(scope="session")
def report_page(simulated_course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(simulated_course, simulated.ASSIGNMENT, tmp_path_factory.mktemp("reports"))
