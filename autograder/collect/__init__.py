"""Submissions as an LMS or GitHub Classroom hands them out, sorted into ``submitted/<student>/<assignment>/``."""

from autograder.collect.people import Person, read_names
from autograder.collect.plan import Collected, Plan, make_plan
from autograder.collect.write import Outcome, write_plan

__all__ = ["Collected", "Outcome", "Person", "Plan", "make_plan", "read_names", "write_plan"]
