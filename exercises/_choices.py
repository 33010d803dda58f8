"""Exercises in which answers are chosen from a few: the case that they store, and lists of choices as a whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from autograder.exercise import (
    TEXT,
    Case,
    ChoiceQuestion,
    Exercise,
    Rule,
    SampleAnswer,
    all_choices,
    choices,
    text_array,
)


def always(**expected: object) -> Callable[[np.random.Generator], list[Case]]:
    """Draws one case, the same in every exam: name -> the right text, or list of texts."""
    return lambda generator: [Case(expected={TEXT + name: text_array(value) for name, value in expected.items()})]


def statements(name: str, about: Mapping[str, tuple[str, Mapping[str, str]]], rule: Rule = choices) -> Exercise:
    """An exercise whose answer is a list called ``name``, one choice for each statement.

    about: what a statement is about -> the right choice, and for each other one why it is wrong. The visible check
    looks at the form of the list alone.
    """
    questions = []
    for number, (words, (right, reasons)) in enumerate(about.items(), start=1):
        start = f"Statement {number} ({words}): "
        told = {choice: start + reason for choice, reason in reasons.items()}
        otherwise = start + "{chosen} is none of the answers to choose from."
        questions.append(ChoiceQuestion("choices", f"statement {number}", (right,), told, otherwise))
    right = [question.right[0] for question in questions]
    styles = {
        "a tuple": tuple(right),
        "capitals": [word.capitalize() for word in right],
        "spaces": [f" {word} " for word in right],
    }
    return Exercise(
        always(choices=right),
        rule,
        right={style: f"{name} = {written!r}\n" for style, written in styles.items()},
        wrong=_wrong_lists(name, questions, right, rule),
        questions=questions,
    )


def _wrong_lists(name: str, questions: list[ChoiceQuestion], right: list[str], rule: Rule) -> list[SampleAnswer]:
    """Every wrong choice by itself, one choice for all statements, and lists of another form."""
    alone = {
        f"{place + 1}: {choice}": [*right[:place], choice, *right[place + 1 :]]
        for place, question in enumerate(questions)
        for choice in question.wrong
    }
    lists = {**alone, "one choice for all": right[:1] * len(right), "none to choose from": ["maybe"] * len(right)}
    found = [SampleAnswer("too short", f"{name} = {right[:-1]!r}\n", points=0)]
    for what, answer in lists.items():
        share = sum(map(str.__eq__, answer, right)) / len(right) if rule is not all_choices else 0.0
        pairs = zip(answer, questions, strict=True)
        known = all(choice in (*question.right, *question.wrong) for choice, question in pairs)
        found.append(SampleAnswer(what, f"{name} = {answer!r}\n", share=share, passes_check=known))
    return found
