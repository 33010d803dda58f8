"""Submissions from an LMS or from students' repositories, sorted into ``submitted/<student>/<assignment>/``."""

from autograder.collect.lists import Moments, PeopleList, Person, has_times, read_class, read_moments, read_names
from autograder.collect.plan import Collected, Plan, Sent, SentFile, WrittenSubmission, make_plan, write_plan

__all__ = [
    "Collected", "Moments", "PeopleList", "Person", "Plan", "Sent", "SentFile", "WrittenSubmission",
    "has_times", "make_plan", "read_class", "read_moments", "read_names", "write_plan",
]  # fmt: skip
