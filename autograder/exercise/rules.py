"""Rules and judgements that exercises of any subject can use.

``whole`` and :attr:`autograder.exercise.Mistake.share` (partial credit) are the two ways in which a wrong answer keeps
points.

Answers that are chosen: each question (``Exercise.questions``) is judged by itself, and a wrong choice is told why it
is wrong. No message says which choice is right.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

import numpy as np

from .compare import PROPERTY, compare_case, is_bare, same_value
from .model import Answers, Case, Check, ChoiceQuestion, Exercise, Judgement, Mistake, Rule
from .values import TEXT

#: Begins the name of an answer that was given with ready-made parts in place of the submission's own earlier ones.
READY = "ready_"


def right(name: str) -> Judgement:
    return Judgement([Check(name, True)])


def wrong(name: str, message: str, hint: str = "", share: float | None = None) -> Judgement:
    """Wrong in a way that the catalogue does not know."""
    return Judgement([Check(name, False, message, hint)], share)


def named(exercise: Exercise, id: str, **values: object) -> Judgement:
    """Wrong in a way that has a name: the mistake ``id`` of the exercise's catalogue."""
    return exercise.mistake(id).judgement(**values)


def named_or(exercise: Exercise, mistake: Mistake) -> Judgement:
    """Wrong in a way that any exercise may meet: ``mistake``, in the words of the catalogue where it has this id."""
    return next((own for own in exercise.mistakes if own.id == mistake.id), mistake).judgement()


def shared_equally(checks: Sequence[Check]) -> Judgement:
    """Partial credit: each of these checks earns the same share of the points."""
    return Judgement(checks, sum(check.passed for check in checks) / len(checks))


FIRST = "Begin with the check of the first one."


def whole(rule: Rule, otherwise: str = "", earlier: Sequence[str] = ()) -> Rule:
    """``rule``, for a whole whose parts (:attr:`Exercise.parts`) are exercises: a mistake in one is paid for there.

    As it stands it may be right. Else, where a part lost points, what it gives with ready-made parts (the answers
    ``ready_…``) counts; where none did, the mistake is one that no part owns. Of a class without a right part nothing
    is there to be put together: an untouched one would else have the points of its given lines.

    otherwise: the id of the mistake that is named where nobody knows what it is.
    earlier: slugs of exercises that made what the whole uses, and that are no parts of it.
    The answer ``problem`` is the exception with which the whole stopped as it stands.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        own, parts = rule(exercise, case, answers), exercise.slugs_of_parts
        if own.earned == 1:
            return own
        if not isinstance(exercise.parts, Mapping) and parts and all(map(answers.charged, parts)):
            return wrong("parts", "None of its parts is right yet: there is nothing to put together.", FIRST)
        if answers.charged(*parts, *earlier):
            ready = {name.removeprefix(READY): x for name, x in answers.arrays.items() if name.startswith(READY)}
            return rule(exercise, case, replace(answers, arrays={**answers.arrays, **ready}))
        if isinstance(problem := answers.text("problem"), str):
            return wrong("runs", f"Each part is right by itself, but put together they stop with {problem}.")
        unknown = all(check.passed or is_bare(check) for check in own.checks)
        return named(exercise, otherwise) if otherwise and unknown else own

    return judge


def with_properties(rule: Rule, sentences: Mapping[str, tuple[str, str]]) -> Rule:
    """``rule``; where numbers are wrong, and nobody knows how, the first property that they lack is told.

    sentences: name of a further answer, after ``property/`` -> message and hint where it is not as expected. The
    message may name settings of the case, as in ``{length}``, and ``{yours}``.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        main = {name: array for name, array in case.expected.items() if not name.startswith(PROPERTY)}
        judgement = rule(exercise, replace(case, expected=main), answers)
        if not all(check.passed or is_bare(check) for check in judgement.checks):
            return judgement
        for name, (message, hint) in sentences.items() if judgement.earned < 1 else ():
            got, want = answers.arrays.get(PROPERTY + name), case.expected.get(PROPERTY + name)
            if got is None or want is None or same_value(name, got, want, exercise):
                continue
            yours = f"{float(got):.3g}" if got.shape == () else ""
            label, told = next(iter(main)).removeprefix(TEXT), message.format(**case.config, yours=yours)
            return wrong(label, told, hint, judgement.share)
        return judgement

    return judge


def dropout_at_work(what: str) -> Mistake:
    """The mistake M16: something is dropped in eval mode. ``what``: whose numbers show it, the sentence's subject."""
    return Mistake(
        "M16",
        f"{what} are drawn anew with every call: dropout is still at work.",
        "Grading runs in eval mode. A layer nn.Dropout knows the mode; a function must be told of it.",
    )


def unsteady(answers: Answers, name: str) -> bool:
    """True where a second call with the same input (the answer ``again``) gave something else than the first."""
    first, again = answers.arrays.get(name), answers.arrays.get("again")
    if first is None or again is None or first.shape != again.shape or first.dtype.kind != "f":
        return False
    return not np.allclose(first, again, atol=1e-5, rtol=1e-4, equal_nan=True)


#: The mistakes that :func:`without_side_effects` names.
CHANGED = Mistake(
    "CHANGED",
    "What your code is given is changed in place: whoever uses it afterwards gets other numbers.",
    "Make something new: x = x + y, not x += y; no pop, no append, no method whose name ends in _.",
)
CUT = Mistake(
    "CUT",
    "The values are right, but no gradient comes back from them: training could not reach this part.",
    "detach, .data, no_grad, tolist() and NumPy cut a result off from what it is made of.",
)
SIDE_EFFECTS = (CHANGED, CUT)
DTYPE = Mistake(
    "DTYPE",
    "The values are right, but they are no float32: the rest of the model cannot go on with them.",
    "Print the dtype after every step; x.to(y.dtype) gives x the dtype of y.",
)
UNSTEADY = Mistake(
    "UNSTEADY",
    "Called twice with the same input, it gives different numbers.",
    "Layers are made once, in __init__; dropout stops in eval mode; nothing else may be drawn by chance.",
)


def in_float32(rule: Rule, *names: str) -> Rule:
    """``rule``, for what a model of torch goes on with: right only in float32, as everything around it is.

    names: of the answers that are looked at; default: all that are expected.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        judgement = rule(exercise, case, answers)
        given = [answers.arrays[name] for name, want in case.expected.items()
                 if name in answers.arrays and want.dtype.kind == "f" and name in (names or case.expected)]  # fmt: skip
        single = judgement.earned < 1 or all(array.dtype == np.float32 for array in given)
        return judgement if single else named_or(exercise, DTYPE)

    return judge


def without_side_effects(rule: Rule) -> Rule:
    """``rule``, for an answer that is right only where the call changed nothing and where gradients come back.

    The answers ``changed`` and ``cut`` tell for each array whether it was changed, or no gradient came back to it;
    ``unsteady``, whether a second call gave something else: then a wrong answer that has no other name has this one.
    """

    def judge(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
        judgement = rule(exercise, case, answers)
        differs, nameless = answers.arrays.get("unsteady"), not any(check.mistake for check in judgement.checks)
        if judgement.earned < 1 and nameless and differs is not None and differs.any():
            known = [one for one in exercise.mistakes if one.id == UNSTEADY.id]
            return known[0].judgement() if known else judgement
        for mistake, name in ((CHANGED, "changed"), (CUT, "cut")):
            found = answers.arrays.get(name)
            if judgement.earned == 1 and found is not None and found.any():
                return named_or(exercise, mistake)
        return judgement

    return judge


#: The default rule, for an answer that is right only without side effects.
pure = without_side_effects(compare_case)

#: The rule for a whole whose parts are exercises, right only without side effects.
put_together = whole(pure)


#: Characters of a text in which a word is looked for.
MAX_WORDS = 200


def choices(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """Each question has the same share of the points."""
    return _judged(exercise, answers, shared=True)


def all_choices(exercise: Exercise, case: Case, answers: Answers) -> Judgement:
    """All of the points where every choice is right, else none."""
    return _judged(exercise, answers, shared=False)


def _judged(exercise: Exercise, answers: Answers, shared: bool) -> Judgement:
    checks = [check for name in _names(exercise) for check in _of_answer(exercise, name, answers)]
    if len(checks) < max(1, len(exercise.questions)):  # a list that cannot be read, or nothing was asked
        return Judgement(checks, 0.0)
    return shared_equally(checks) if shared else Judgement(checks)


def _names(exercise: Exercise) -> list[str]:
    return list(dict.fromkeys(question.answer for question in exercise.questions))


def _of_answer(exercise: Exercise, name: str, answers: Answers) -> Iterator[Check]:
    """A check for each question that this answer is about; of a list of the wrong length one in all."""
    asked = [question for question in exercise.questions if question.answer == name]
    given = answers.text(name)
    if len(asked) == 1:
        given = [given]
    elif not isinstance(given, list) or len(given) != len(asked):
        yield Check(name, False, f"Expected a list of {len(asked)} answers.", "One for each statement.")
        return
    for question, answer in zip(asked, given, strict=True):
        yield _check(exercise, question, answer)


def _check(exercise: Exercise, question: ChoiceQuestion, given: object) -> Check:
    chosen = _chosen(question, given)
    if chosen in question.right:
        return Check(question.label, True)
    known = question.wrong.get(chosen)
    if known is None:
        return Check(question.label, False, question.otherwise.format(chosen=f"{chosen!r:.40}"), question.hint)
    mistakes = {mistake.id: mistake for mistake in exercise.mistakes if mistake.id}
    return mistakes[known].check() if known in mistakes else Check(question.label, False, known)


def _chosen(question: ChoiceQuestion, given: object) -> str:
    """A choice however it is written: ``A``, ``(a)``, ``a.``"""
    if not question.in_words:
        return "" if given is None else str(given).strip().strip("().").lower()
    words = re.findall("[a-z_]+", given.lower()) if isinstance(given, str) and len(given) <= MAX_WORDS else []
    return next((word for known in (question.wrong, question.right) for word in words if word in known), "")
