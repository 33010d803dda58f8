"""The verdict on answers to questions on the student's own code, by its text and by what a fresh run of it showed.

Code and answers are read by their syntax tree. The questions are made again of the code and of the id that the answers
name, which has to be one of those who handed them in; of the process that ran the code come facts only.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from autograder.exercise.asking import SLUG, find
from autograder.exercise.model import Answers, Case, Check
from autograder.exercise.own_code import OwnCode, line_of
from autograder.exercise.questions import (
    CodeQuestion,
    Facts,
    digest_of,
    id_key,
    questions,
    right_choice,
    same,
    share,
)
from autograder.model import cells
from autograder.model.questions import AskedQuestions
from autograder.model.verdict import CellVerdict, Status, total
from autograder.pipeline.execute import ExecutedNotebook
from autograder.pipeline.outcomes import UnreadableAnswers, answer_name, read_answers
from autograder.pipeline.own_code import answers_to, needs_facts, sources_before, student_in

_MAX_ANSWER = 60  # characters of an answer that a message quotes
_NO_CASE = Case()
#: The name of the check that fails where a code is asked nothing: it could see that it is watched, or never ends.
ASKED_NOTHING = "asked_nothing"
#: The name of the check that fails where the answers name another student.
OTHER_STUDENT = "other_student"
_NO_ANSWERS = Check("student", False, "No answers with your id were found.", "Run the cell with the questions.")
#: Of dictionaries with a token, which was drawn at random: nobody knows for whom.
_OLD_ANSWERS = replace(_NO_ANSWERS, message="These answers are to the questions of an earlier version.")


def judge_questions(
    ran: ExecutedNotebook,
    index: int,
    asked: AskedQuestions,
    earlier: Mapping[str, CellVerdict],
    assignment: str,
    students: Sequence[str] = (),
) -> CellVerdict:
    """earlier: slug -> verdict, on the exercises that are asked about among others.

    students: the ids of those who handed this in together; empty where nobody knows who did.

    Where nothing can be asked, a person asks, unless none of these exercises earned anything either.
    """
    cell = ran.notebook.cells[index]
    name, points = cells.nbgrader(cell)["grade_id"], cells.max_points(cell)
    answers = answers_to(ran.notebook, index, asked.answers)
    if "token" in answers or not needs_facts(points, answers):
        return _nothing_earned(name, points, _OLD_ANSWERS if "token" in answers else _NO_ANSWERS)
    facts = _facts(ran, index, asked)
    if facts is not None and (facts.watching or facts.unfinished):
        return _nothing_earned(name, points, _unasked(facts, points))
    code = find(sources_before(ran.notebook, index), facts.name) if facts is not None else None
    judged = _judged(code, facts, answers) if code and facts else None
    if judged is not None and students and student_in(answers) not in ("", *map(id_key, students)):
        return _nothing_earned(name, points, _other_student(answers["student"], students), *judged[1])
    if judged is None:
        slugs = [f"{assignment}/{exercise}" for exercise, _ in asked.asked]
        waits = bool(points) and any(slug in earlier and bool(earlier[slug].points) for slug in slugs)
        message = "Nothing could be asked about this code" + (": a person asks." if waits else ": does it run?")
        check = Check(ASKED_NOTHING, False, message)
        return _nothing_earned(name, points, check) if waits else CellVerdict(name, "failed", 0.0, points, (check,))
    earned, checks = judged
    if not students and student_in(answers):
        checks.append(Check("student", True, "Nobody checked that the id in the answers is of who handed this in."))
    status: Status = "passed" if earned == 1 else "partial" if earned else "failed"
    return CellVerdict(name, status, total((earned * points,)), points, tuple(checks))


def _nothing_earned(name: str, points: float, *checks: Check) -> CellVerdict:
    """What a person decides where there are points."""
    return CellVerdict(name, "manual" if points else "failed", None if points else 0.0, points, checks)


def _other_student(written: str, students: Sequence[str]) -> Check:
    """Ids are in the hint, which neither the report nor a person who grades without names sees."""
    hint = (
        f"They are to the questions of {written[:_MAX_ANSWER]!r}; this is the submission of "
        f"{' and '.join(map(repr, students))}. Write your own id, run both cells, and answer what you are asked then."
    )
    return Check(OTHER_STUDENT, False, "These answers are to another student's questions.", hint)


def _unasked(facts: Facts, points: float) -> Check:
    if facts.unfinished:
        reason, hint = "did not come to its end, as a whole or without one of its parts", ""
    else:
        reason, hint = f"names {facts.watching!r}, by which it could see that it is watched", "Can it do without?"
    message = f"No questions are asked: your code {reason}."
    return Check(ASKED_NOTHING, False, message, "A person looks at it." if points else hint)


def _facts(ran: ExecutedNotebook, index: int, asked: AskedQuestions) -> Facts | None:
    try:
        arrays = read_answers(ran.answers, answer_name(index, SLUG, 0), _NO_CASE)
    except UnreadableAnswers:
        return None
    facts = Facts.from_json(Answers(arrays).text("facts")) if arrays else None
    return facts if facts is not None and (facts.unfinished or (facts.asked, facts.name) in asked.asked) else None


def _judged(code: OwnCode, facts: Facts, answers: Mapping[str, str]) -> tuple[float, list[Check]] | None:
    """The share of the points, and a check for each question; None where nothing can be asked."""
    student = student_in(answers)
    asked = [(one, right) for one in questions(code, facts, student) if (right := right_choice(one, code, facts))]
    if not asked:
        return None
    if not student:
        return 0.0, [_NO_ANSWERS]
    checks = [_check(one, right, answers.get(one.kind, ""), code) for one, right in asked]
    earned = share(sum(check.passed for check in checks), len(checks))
    if answers["asked"] != digest_of(code, student):
        note = "Your code or the id has changed since you answered; the answers were judged by what is handed in."
        checks.append(Check("asked", True, note))
    return earned, checks


def _check(question: CodeQuestion, right: str, answer: str, code: OwnCode) -> Check:
    if same(answer, right):
        return Check(question.kind, True)
    chosen = f"You chose {answer[:_MAX_ANSWER]!r}" if answer else "You chose nothing"
    return Check(question.kind, False, f"{question.text} {chosen}; right is {right!r}.", _reason(question, right, code))


def _reason(question: CodeQuestion, right: str, code: OwnCode) -> str:
    """The line that shows it."""
    if question.kind.startswith("shape"):
        line = int(question.subject.rpartition(" ")[2])
        return f"Line {line} gave an array of this shape when your code was run: {code.line(line)}"
    line = line_of(question.subject if question.kind == "passes" else right)
    why = {
        "without": "Your code was run without each part. Without this one, and none after it, it is so",
        "becomes": "When your code was run, no earlier line made such a value",
        "passes": "The runs of this line were counted",
    }[question.kind]
    return f"{why}. Line {line}: {code.line(line)}"
