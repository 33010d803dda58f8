"""A wrong answer costs its own exercise, whatever stands beside it: a right answer to another one, or right parts.

``python -m tests.exercises.test_pairs [ASSIGNMENT ...]`` makes all tries and prints what costs an exercise that is not
wrong; exit code 1 where something does. The tests make a few of them.
"""

import argparse
import ast
import random
import re
import sys
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import permutations

import pytest
from tqdm import tqdm

from autograder.assignment.assignment import Assignment
from autograder.authoring.check import Sample, samples
from autograder.authoring.trial import Trials, imports_of_trials, texts_of
from autograder.errors import GradingError
from autograder.exercise import SampleAnswer
from autograder.kernel.fork_server import KernelForkServer
from autograder.model.course import Course
from autograder.model.verdict import CellVerdict
from autograder.references import loader
from tests.exercises.test_answers import ASSIGNMENTS, SLUGS, one_worker, trials
from tests.grading import REFERENCES, ROOT

pytestmark = pytest.mark.slow

#: Goes before the solution; a line behind another one then flips what that one made, where it is of real numbers.
SEAM = """def flipped(value):
    if not getattr(value, "ndim", 0) or not str(value.dtype).replace("torch.", "").startswith("float"):
        return value
    other = value.flip(-1) if hasattr(value, "flip") else value[..., ::-1]
    return other


"""
#: In place of the last line: nothing runs where flipping makes a difference.
STOPS = "    assert not (other != value).any()\n    return other"
#: Exercises without code of their own: of a model that is wrong in a way without a name there is no whole; and a bonus
#: for the style of a right answer.
WITHOUT_CODE = {"whole_model", "no_loops"}

#: Two answers that change what they are together, and why.
NOT_ALONE = {
    "encoder_lab/classifier: wrong: M15-all beside classification_head: picks the first token itself":
        "the head does what the model left out: together they are right",
}  # fmt: skip


@dataclass(frozen=True)
class Try:
    """Texts to put into the solution cells (or files) of an assignment.

    loses: the exercises that lose points; None: exactly one, whichever, but where the seam changes no number.
    may_lose: those that may, by the word of the wrong answer's author.
    right_files: the right answer's files, where it fills some.
    """

    name: str
    texts: Mapping[str, str]
    loses: frozenset[str] | None
    may_lose: frozenset[str] = frozenset()
    right_files: tuple[tuple[str, str], ...] = ()


def wrong_beside_right(trials: Trials, chosen: random.Random | None = None, per_pair: int = 0) -> Iterator[Try]:
    """For every two exercises of a notebook: wrong answers to one, each beside a right answer to the other.

    per_pair: so many of the wrong answers, drawn; default: all.
    """
    chosen = chosen or random.Random(0)
    for one, other in permutations(_in_one_notebook(trials), 2):
        if one.notebook != other.notebook:
            continue
        drawn = chosen.sample(one.wrong, min(per_pair, len(one.wrong))) if per_pair else one.wrong
        for number, wrong in enumerate(drawn):
            right = other.right[number % len(other.right)]
            texts = _together(trials, wrong.answer, right.answer)
            if texts is not None:
                name = f"{wrong} beside {right.exercise}: {right.answer.name}"
                if name in NOT_ALONE:
                    continue
                loses, may_lose = {one.name, *right.answer.also_costs}, frozenset(wrong.answer.also_costs)
                yield Try(name, texts, frozenset(loses), may_lose, _in_file(trials, right))


@dataclass(frozen=True)
class _Exercise:
    name: str
    notebook: str
    right: list[Sample]
    wrong: list[Sample]


@lru_cache
def _in_one_notebook(trials: Trials) -> list[_Exercise]:
    found = []
    every = samples(trials)
    for slug in sorted({sample.slug for sample in every}):
        (notebook,) = trials.asking(slug) or ("",)
        own = [sample for sample in every if sample.slug == slug]
        right, wrong = ([sample for sample in own if sample.right == side] for side in (True, False))
        if notebook and right and wrong:
            found.append(_Exercise(slug.partition("/")[2], notebook, right, wrong))
    return found


def _in_file(trials: Trials, right: Sample) -> tuple[tuple[str, str], ...]:
    """The texts of an answer that are files."""
    texts = texts_of(right.answer, trials.solutions)
    return tuple((name, text) for name, text in texts.items() if name in trials.assignment.deliverables)


@lru_cache
def _fits(trials: Trials, *files: tuple[str, str]) -> bool:
    """Whether a right answer goes with the rest of its file: one class may speak to the others in another way, and is
    right for its own exercise alone.
    """
    verdicts = trials.run(dict(files)).verdicts.items() if files else ()
    return all(one.status == "passed" or name in WITHOUT_CODE for name, one in verdicts)


def _together(trials: Trials, wrong: SampleAnswer, right: SampleAnswer) -> dict[str, str] | None:
    """Both answers at once; None where they fill the same place, and cannot both be changes of the solution."""
    solved = trials.solutions
    if not {wrong.cell, *wrong.cells} & {right.cell, *right.cells}:
        return {**texts_of(right, solved), **texts_of(wrong, solved)}
    if wrong.text or right.text or wrong.cells or right.cells or bool(wrong.methods) != bool(right.methods):
        return None
    if set(wrong.methods) & set(right.methods) or (wrong.methods and (wrong.changes or right.changes)):
        return None
    methods, orders = {**right.methods, **wrong.methods}, permutations((wrong.changes, right.changes))
    try:
        first, second = (texts_of(replace(wrong, changes=(*a, *b), methods=methods), solved) for a, b in orders)
    except GradingError:  # a line that both change
        return None
    return first if first == second else None


def wrong_seams(trials: Trials) -> Iterator[Try]:
    """For every line of a solution that several exercises share: a line after it flips what it made."""
    shared: dict[str, set[str]] = {}
    for exercise in _in_one_notebook(trials):
        shared.setdefault(exercise.right[0].answer.cell, set()).add(exercise.name)
    for cell in sorted(cell for cell, names in shared.items() if len(names) > 1):
        text = trials.solutions[cell]
        for line, name in _made_lines(text):
            lines = text.split("\n")
            own = lines[line - 1]
            lines.insert(line, f"{own[: len(own) - len(own.lstrip())]}{name} = flipped({name})")
            yield Try(f"{trials.assignment.name}/{cell}, line {line}: {name}", {cell: _with_seam(lines)}, None)


def _with_seam(lines: list[str]) -> str:
    """The function stands after the last import from the future and the docstring."""
    tree = ast.parse("\n".join(lines))
    first = next(node for node in tree.body if not isinstance(node, ast.Expr | ast.ImportFrom | ast.Import))
    return "\n".join(lines[: first.lineno - 1]) + "\n" + SEAM + "\n".join(lines[first.lineno - 1 :])


def _made_lines(text: str) -> Iterator[tuple[int, str]]:
    """(line, name) of every assignment to a single name in the body of a function, in one line of its own."""
    for function in ast.walk(ast.parse(text)):
        if isinstance(function, ast.FunctionDef):
            for statement in function.body:
                target = statement.targets[0] if isinstance(statement, ast.Assign) else None
                if isinstance(target, ast.Name) and statement.end_lineno == statement.lineno:
                    yield statement.lineno, target.id


def problem(trials: Trials, one: Try) -> str:
    """What is not as it should be; empty where all is well."""
    if not _fits(trials, *one.right_files):
        return ""
    verdicts = trials.run(one.texts).verdicts
    lost = _lost(verdicts)
    said = ", ".join(sorted(lost)) or "nothing"
    if one.loses is None:
        is_one = len(lost - WITHOUT_CODE) == 1 or not (lost or _changes_numbers(trials, one))
        return "" if is_one else f"{one.name}: {said} is lost, not one exercise"
    other = sorted((lost ^ one.loses) & set(verdicts) - one.may_lose - WITHOUT_CODE)
    return f"{one.name}: {said} is lost; not as it should be: {', '.join(other)}" if other else ""


def _lost(verdicts: Mapping[str, CellVerdict]) -> set[str]:
    return {name for name, verdict in verdicts.items() if verdict.points is not None and verdict.status != "passed"}


def _changes_numbers(trials: Trials, seam: Try) -> bool:
    """Whether a seam makes a difference anywhere: whole numbers, a mask or a table of zeros are left as they were."""
    texts = {cell: text.replace("    return other", STOPS) for cell, text in seam.texts.items()}
    return bool(_lost(trials.run(texts).verdicts))


#: So many tries of each kind for an assignment; the command makes all.
FEW = 4
SEED = 33

#: Wrong answers that, by their author's word, cost another exercise too, and why.
COST_MORE = {("numpy_attention/no_loops", "not scaled, without a loop"): "a bonus on the code of another exercise"}


def few(assignment: str, kind: str) -> Iterator[Try]:
    chosen = random.Random(SEED)
    made = wrong_beside_right(trials(assignment), chosen, 1) if kind == "pairs" else wrong_seams(trials(assignment))
    every = list(made)
    yield from chosen.sample(every, min(FEW, len(every)))


@pytest.mark.parametrize("kind", ["pairs", "seams"])
@pytest.mark.parametrize("assignment", [pytest.param(name, marks=one_worker(name)) for name in ASSIGNMENTS])
def test_what_is_wrong_costs_one_exercise_whatever_stands_beside_it(assignment: str, kind: str) -> None:
    assert [said for one in few(assignment, kind) if (said := problem(trials(assignment), one))] == []


#: Right answers that reach into the parts which stand-ins replace, or that pass their arguments by name.
REACHING = (
    "encoder_lab/embeddings: wrong: M11-zero beside encoder: its layers' parts one by one",
    "encoder_lab/encoder: wrong: M14-first beside classifier: its head's layers one by one",
    "encoder_lab/encoder_layer: wrong: M7-none beside encoder: weights set in __init__",
    "encoder_lab/head_attention: wrong: M3-batch beside multi_head_attention: the heads' layers and method, one by one",
    "numpy_attention/softmax: wrong: axis not kept beside multihead_attention: float64 inside, keyword arguments alone",
)


@pytest.mark.parametrize(
    "assignment",
    [pytest.param(name, marks=one_worker(name)) for name in sorted({one.partition("/")[0] for one in REACHING})],
)
def test_a_part_that_reaches_into_others_does_not_lose_with_them(assignment: str) -> None:
    wanted = [name for name in REACHING if name.startswith(f"{assignment}/")]
    made = [one for one in wrong_beside_right(trials(assignment)) if one.name in wanted]
    assert len(made) == len(wanted)
    assert [said for one in made if (said := problem(trials(assignment), one))] == []


@one_worker("distilbert")
def test_a_wrong_line_between_loop_and_classifier_costs_the_whole_alone() -> None:
    (made,) = (one for one in wrong_seams(trials("distilbert")) if re.search(r"classifier_model.*: output$", one.name))
    assert problem(trials("distilbert"), made) == ""


def test_few_answers_cost_another_exercise_too() -> None:
    found = {(slug, answer.name) for slug in SLUGS for answer in loader.sample_answers(REFERENCES.folder, slug)[1]
             if answer.also_costs}  # fmt: skip
    assert found == set(COST_MORE)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("assignments", nargs="*", metavar="ASSIGNMENT")
    parser.add_argument("--per-pair", type=int, default=0, help="so many wrong answers to an exercise; default: all")
    parser.add_argument("--only", choices=["pairs", "seams"], help="one of the two kinds")
    options = parser.parse_args(arguments)
    course, found = Course(ROOT), list[str]()
    with closing(KernelForkServer(imports_of_trials(ROOT))) as server:
        for name in options.assignments or course.assignments():
            with Trials(Assignment.unreleased(course, name), server.address) as trials, ThreadPoolExecutor(2) as pool:
                tries: list[Try] = []
                if options.only != "seams":
                    tries += wrong_beside_right(trials, random.Random(0), options.per_pair)
                if options.only != "pairs":
                    tries += wrong_seams(trials)
                judged = pool.map(lambda one: problem(trials, one), tries)
                said = [line for line in tqdm(judged, name, len(tries), disable=None) if line]
                print("\n".join([*said, f"{name}: {len(tries)} tries, {len(said)} not as they should be"]), flush=True)
                found += said
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
