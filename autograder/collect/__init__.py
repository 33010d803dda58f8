"""Submissions from an LMS or from students' repositories, sorted into ``submitted/<student>/<assignment>/``."""

from autograder.collect.moments import read_moments, read_names
from autograder.collect.people import Person
from autograder.collect.plan import Collected, Plan, make_plan
from autograder.collect.write import WrittenSubmission, write_plan

__all__ = ["Collected", "WrittenSubmission", "Person", "Plan", "make_plan", "read_moments", "read_names", "write_plan"]
