"""What questions on every right answer are like: how many, whether a key is wrong, whether form tells the right choice.

Each key is found a second time in a way of its own: the code is run once more, line by line, and the values of its
variables are looked at; parts are taken out of its text.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from math import prod

from autograder.exercise.asking import find
from autograder.exercise.own_code import OwnCode
from autograder.exercise.questions import CodeQuestion, Facts, questions, right_choice, share
from tests.questions.styles import Style


@dataclass(frozen=True)
class Asked:
    """A style with its code, and what its runs showed; ``facts`` is None where it does not run. seconds: of work."""

    style: Style
    code: OwnCode | None
    facts: Facts | None
    seconds: float

    def questions(self, student: str) -> list[CodeQuestion]:
        if self.code is None or self.facts is None or self.facts.watching:
            return []
        return questions(self.code, self.facts, student)

    def right(self, question: CodeQuestion) -> str:
        assert self.code is not None and self.facts is not None
        return right_choice(question, self.code, self.facts)


def asked(style: Style) -> Asked:
    check = import_module(f"course.check.{style.slug.partition('/')[0]}")
    start = time.process_time()
    facts = check.questions.facts_of(style.sources, style.asked)
    seconds = time.process_time() - start
    facts = Facts.from_json(facts.to_json()) if facts is not None else None
    return Asked(style, find(style.sources, facts.name) if facts else None, facts, seconds)


def students(count: int) -> list[str]:
    return [f"s{number:03}" for number in range(count)]


def by_guessing(asked: Sequence[CodeQuestion]) -> float:
    """The share of the points that who guesses at these questions earns on average."""
    earned = 0.0
    for hits in product((True, False), repeat=len(asked)):
        chances = (
            1 / len(one.choices) if hit else 1 - 1 / len(one.choices) for one, hit in zip(asked, hits, strict=True)
        )
        earned += prod(chances) * share(sum(hits), len(asked))
    return earned


# --- by form alone ----------------------------------------------------------------------------------------------------


def _alike(choices: Sequence[str]) -> str:
    """The choice that shares most of its characters' places with the others."""
    return max(choices, key=lambda one: sum(a == b for other in choices for a, b in zip(one, other, strict=False)))


BY_FORM: dict[str, Callable[[Sequence[str]], str]] = {
    "first": lambda choices: choices[0],
    "last": lambda choices: choices[-1],
    "middle": lambda choices: choices[len(choices) // 2],
    "longest": lambda choices: max(choices, key=len),
    "shortest": lambda choices: min(choices, key=len),
    "most alike": _alike,
}


@dataclass
class Guesses:
    """How often a way to choose was right, and how often chance is."""

    right: int = 0
    asked: int = 0
    chance: float = 0.0
    variance: float = 0.0

    def add(self, is_right: bool, choices: int) -> None:
        self.right, self.asked = self.right + is_right, self.asked + 1
        self.chance += 1 / choices
        self.variance += (1 - 1 / choices) / choices

    @property
    def deviations(self) -> float:
        """How many standard deviations above chance."""
        return (self.right - self.chance) / self.variance**0.5 if self.variance else 0.0


def guessed(found: Sequence[Asked], count: int) -> dict[tuple[str, str], Guesses]:
    """(kind, way to choose) -> how often it is right, asked of so many students for each style."""
    totals: dict[tuple[str, str], Guesses] = {}
    for one in found:
        for student in students(count):
            for question in one.questions(student):
                if right := one.right(question):
                    for way, choose in BY_FORM.items():
                        guesses = totals.setdefault((question.kind, way), Guesses())
                        guesses.add(choose(question.choices) == right, len(question.choices))
    return totals
