"""Questions with answers to choose from: the check says "recorded", and each wrong choice is told why it is wrong."""

from collections.abc import Iterator

import nbformat
import pytest

from autograder.exercise import TEXT, Answers, text_array
from autograder.model.course import Course
from course.check import encoder_lab, numpy_attention
from tests.grading import REFERENCES, ROOT

SHORTEST = 40  # characters of an explanation
KINDS, SUBLAYERS = ["learned", "sinusoidal", "relative"], ["masked", "cross", "both", "neither"]
PATTERNS, CHANGES = ["previous", "next", "same word", "separator"], ["kept", "lost"]
#: What can be chosen: exercise -> name of the answer -> for each question, its choices
LISTS = {
    "distilbert_lab/rates": {"choices": [["too small", "good", "too large", "no zero_grad"]] * 4},
    "distilbert_lab/reading": {"choices": [["differ", "noise"]] * 4},
    "distilbert_lab/disagree": {
        "choices": [*[["agree", "indirect", "redundant", "idle"]] * 4, *[["shown", "not shown"]] * 2]
    },
    "encoder_lab/decoder_parts": {"choices": [SUBLAYERS] * 5},
    "encoder_lab/position_kinds": {"choices": [KINDS] * 4},
    "encoder_lab/readings": {"choices": [*[PATTERNS] * 4, *[CHANGES] * 2]},
}
LETTERS = {
    "numpy_attention/classifier_on_top": {"choice": list("abcde")},
    "numpy_attention/special_tokens": {"cls": list("abcdef"), "sep": list("abcdef")},
    "numpy_attention/text_preparation": {
        "padding": list("abcde"),
        "name": ["tokenizer", "Dataset", "Triage", "DataLoader", "embedding", "DistilBertModel", "split"],
    },
}
#: The right answer is a text, and yet nothing is chosen there.
WRITTEN_CODE = {"distilbert/tokens", "decoder/train"}


def right_answers(slug: str) -> dict[str, object]:
    (case,) = REFERENCES.cases(slug)
    return {name.removeprefix(TEXT): Answers(case.expected).text(name.removeprefix(TEXT)) for name in case.expected}


def told(slug: str, answers: dict[str, object]) -> list[str]:
    (case,) = REFERENCES.cases(slug)
    exercise = REFERENCES.exercise(slug)
    assert exercise.rule is not None
    arrays = {TEXT + name: text_array(said) for name, said in answers.items()}
    return [check.message for check in exercise.rule(exercise, case, Answers(arrays)).checks if not check.passed]


def explanations(slug: str) -> Iterator[tuple[str, str]]:
    """(question and wrong choice, what is said of it) for every wrong choice of every question of an exercise"""
    right = right_answers(slug)
    if slug == "numpy_attention/pretraining":
        for letter in "abcde":
            (message,) = told(slug, {"true_statements": sorted({*right["true_statements"]} ^ {letter})})  # type: ignore[misc]
            yield letter, message
    for name, questions in LISTS.get(slug, {}).items():
        for place, options in enumerate(questions):
            listed = list(right[name])  # type: ignore[call-overload]
            for choice in {*options} - {listed[place]}:
                (message,) = told(slug, {name: [*listed[:place], choice, *listed[place + 1 :]]})
                yield f"{place + 1} {choice}", message.partition("): ")[2]
    for name, options in LETTERS.get(slug, {}).items():
        for choice in [one for one in options if one != right[name]]:
            (message,) = told(slug, {**right, name: choice})
            yield f"{name} {choice}", message


QUIZZES = [*LISTS, *LETTERS, "numpy_attention/pretraining"]


@pytest.mark.parametrize("slug", QUIZZES)
def test_every_wrong_choice_has_an_explanation_of_its_own(slug: str) -> None:
    found = dict(explanations(slug))
    assert found and {choice: words for choice, words in found.items() if len(words) < SHORTEST} == {}
    assert len({(choice.split()[0], words) for choice, words in found.items()}) == len(found)


@pytest.mark.parametrize("slug", QUIZZES)
def test_no_explanation_is_among_what_students_have_before_grading(slug: str) -> None:
    folder = slug.partition("/")[0]
    notebooks = (ROOT / "release" / folder).glob("*.ipynb")
    cells = [cell.source for path in notebooks for cell in nbformat.read(path, as_version=4).cells]
    checks = [path.read_text(encoding="utf-8") for path in (ROOT / "course" / "check").rglob("*.py")]
    seen = "\n".join([*cells, *checks])
    assert [words for _, words in explanations(slug) if words in seen] == []


def test_no_quiz_is_left_out() -> None:
    def chosen(slug: str) -> bool:
        return all(name.startswith(TEXT) for case in REFERENCES.cases(slug) for name in case.expected)

    slugs = [slug for assignment in Course(ROOT).assignments() for slug in REFERENCES.exercises(assignment)]
    assert {slug for slug in slugs if chosen(slug)} == {*QUIZZES, *WRITTEN_CODE}


def test_the_check_says_recorded_without_a_tick_for_right_and_wrong_alike(capsys: pytest.CaptureFixture[str]) -> None:
    numpy_attention.choice("on_top", "a", "abcde")
    numpy_attention.letters("true_statements", ["b"], "abcde")
    numpy_attention.name("prepares_text", "numpy")
    encoder_lab.position_kinds(["relative"] * 4)
    encoder_lab.decoder_parts(["both"] * 5)
    encoder_lab.readings([*["next"] * 4, "kept", "kept"])
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 6
    assert all(line.startswith("– ") and "recorded" in line and "right or wrong" in line for line in lines)
