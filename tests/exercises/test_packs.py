"""Visible checks that are made of packs: the library alone has all they need, and nothing that is secret."""

import shutil
import subprocess
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from autograder.assignment.assignment import Assignment
from autograder.authoring import packs
from autograder.authoring.notebook_cells import render
from autograder.authoring.packs import patched_solutions
from autograder.authoring.trial import solutions, texts_of
from autograder.errors import GradingError
from autograder.exercise import Answers, Case, Exercise, Mistake, compare_case
from autograder.exercise.pack import about, deciding, judge_public, pack, unpack
from autograder.model.course import Course
from autograder.references import loader
from autograder.references.draw import VISIBLE_SEED, draw
from autograder.references.store import PACKS, References
from autograder.references.write import archive_of
from autograder.release.leaks.search import Hidden, found_in
from course.check import decoder
from tests.exercises.test_patched import EXERCISE, built, checked, one_file
from tests.grading import REFERENCES, ROOT

COURSE = Course(ROOT)
PACKED = [slug for name in COURSE.assignments() for slug, made in REFERENCES.exercises(name).items() if made.shows]


def test_the_rules_are_written_once() -> None:
    """What the library has of them in a checkout leads to the grader's; a new course begins with the same file."""
    (only,) = (ROOT / "course" / "check" / packs.RULES).glob("*.py")
    assert only.read_text(encoding="utf-8") == render("exercise/rules_package.py.j2")
    assert (
        import_module("course.check._rules.compare").__file__ == import_module("autograder.exercise.compare").__file__
    )


@pytest.mark.parametrize("slug", PACKED)
def test_public_cases_are_of_the_same_kinds_as_the_hidden_ones_and_others(slug: str) -> None:
    made = REFERENCES.exercise(slug)
    packed = unpack(REFERENCES.pack(slug), slug, lambda name: compare_case)
    hidden = REFERENCES.cases(slug)
    assert loader.rule_name(REFERENCES.folder, made)
    assert [case.config.keys() for case in packed.cases] == [case.config.keys() for case in hidden]
    draws = [packed.cases, hidden, *(draw(made, seed) for seed in (1, 2, 3))]
    assert not any(all(any(packs._same(case, one) for one in cases) for cases in draws) for case in hidden)


@pytest.mark.parametrize("slug", PACKED)
def test_visible_checks_say_what_feedback_says(slug: str) -> None:
    """The texts of mistakes, and of what is right, as they are written in the exercise now."""
    made = REFERENCES.exercise(slug)
    packed = unpack(REFERENCES.pack(slug), slug, lambda name: compare_case).exercise
    assert list(packed.shows) == list(made.shows) and dict(packed.axes) == dict(made.axes)
    texts, stored = ([(one.id, one.message, one.hint, one.share) for one in exercise.mistakes if one.id]
                     for exercise in (made, packed))  # fmt: skip
    assert stored == texts, f"run 'autograder references {slug.partition('/')[0]}'"


@pytest.mark.slow
@pytest.mark.parametrize("slug", PACKED[:1])
def test_the_checks_work_where_the_grader_is_not_installed(slug: str, tmp_path: Path) -> None:
    assignment, _, name = slug.partition("/")
    library = shutil.copytree(ROOT / "course", tmp_path / "course", ignore=shutil.ignore_patterns("checkpoints"))
    packs.copy_rules(library / "check")
    solved = solutions(Assignment.unreleased(COURSE, assignment))
    right = texts_of(loader.sample_answers(REFERENCES.folder, slug)[0][0], solved)[f"{name}_answer"]
    wrong = texts_of(loader.sample_answers(REFERENCES.folder, slug)[1][0], solved)[f"{name}_answer"]
    code = (
        "import sys\nsys.modules['autograder'] = None\nimport torch\nimport torch.nn.functional as F\n"
        f"from course.check import {assignment} as check\n{right}\ncheck.{name}({name})\n{wrong}\n"
        f"try:\n    check.{name}({name})\nexcept AssertionError as error:\n    print('refused:', error)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    said = loader.sample_answers(REFERENCES.folder, slug)[1][0].mistake
    assert done.stdout.startswith(f"✓ {name}: ")
    assert f"refused: {name}: {REFERENCES.exercise(slug).mistake(said).message}" in done.stdout


def test_nothing_secret_lies_in_packs_and_rules() -> None:
    for assignment in {slug.partition("/")[0] for slug in PACKED}:
        opened = Assignment.unreleased(COURSE, assignment)
        for folder in (PACKS, packs.RULES):
            assert found_in(ROOT / "course" / "check" / folder, [Hidden.of(opened)]) == []
    for slug in PACKED:
        data, made = REFERENCES.pack(slug), REFERENCES.exercise(slug)
        told = " ".join(f"{mistake.message} {mistake.hint}" for mistake in made.mistakes)
        for _, mistake in made.patched():
            parts = [part for patch in mistake.patches for part in ([patch] if isinstance(patch, str) else patch)]
            assert [part for part in parts if "(" in part and part not in told and part.encode() in data] == []


def drawn(generator: np.random.Generator) -> list[Case]:
    given = [generator.normal(0, 1, size).astype(np.float32) for size in (3, 4)]
    return [Case({"n": x.size}, {"x": x}, expected={"y": 2 * x}, mistakes={"M": {"y": x + 1}}) for x in given]


MADE = Exercise(drawn, None, [Mistake("M", "One was added.", "Times two.", ("2 * x", "x + 1"))], shows=("sums",))


def test_a_pack_is_read_as_it_was_written_and_judges_as_the_exercise_does() -> None:
    cases = drawn(np.random.default_rng(0))
    data = pack(MADE, "compare_case", cases)
    assert data == pack(MADE, "compare_case", drawn(np.random.default_rng(0)))
    read = unpack(data, "toy/sums", {"compare_case": compare_case}.__getitem__)
    for case, again in zip(cases, read.cases, strict=True):
        assert case.config == again.config and case.texts == again.texts
        for part in ("inputs", "weights", "expected"):
            np.testing.assert_equal(getattr(again, part), getattr(case, part))
        np.testing.assert_equal(dict(again.mistakes), case.mistakes)
    assert judge_public(read, lambda case: {"y": 2 * case.x}).earned == 1
    found = judge_public(read, lambda case: {"y": case.x + 1})
    assert (found.earned, found.checks[0].mistake, found.checks[0].hint) == (0, "M", "Times two.")


def test_another_mistake_on_another_machine_changes_nothing_that_decides() -> None:
    """What decides is known by its bytes: where it changes, everybody's notebooks are run again."""
    cases = drawn(np.random.default_rng(0))
    elsewhere = [replace(case, expected={"y": np.nextafter(case.expected["y"], np.float32(9))}) for case in cases]
    said = replace(MADE, mistakes=[Mistake("M", "One was added to each.", "Times two.", ("2 * x", "x + 1"))])
    old, fresh = pack(MADE, "compare_case", cases), pack(said, "compare_case", elsewhere)
    settled = packs._settled(MADE, old, fresh)
    assert deciding(fresh) != deciding(old) == deciding(settled) and about(settled) == about(fresh)


def test_an_exception_counts_only_where_no_earlier_case_has_failed() -> None:
    read = unpack(pack(MADE, "compare_case", drawn(np.random.default_rng(0))), "toy/sums", lambda name: compare_case)

    def answer(times: float):
        return lambda case: {"y": times * case.x} if case.index == 0 else {"y": 1 / 0}

    assert judge_public(read, answer(3.0)).earned == 0
    with pytest.raises(ZeroDivisionError):
        judge_public(read, answer(2.0))


def test_a_rule_without_a_name_is_refused() -> None:
    made = replace(MADE, slug="decoder/sums", rule=lambda exercise, case, answers: None)
    with pytest.raises(GradingError, match="must therefore have a name"):
        loader.rule_name(REFERENCES.folder, made)


def with_checks(root: Path, text: str) -> Course:
    one_file(root, text)
    (root / "course.toml").write_text('title = "tiny"\nlibrary = "own"\nchecks = "own.checks"\n')
    return Course(root)


@pytest.mark.slow
def test_packs_are_written_anew_only_where_something_has_changed(tmp_path: Path) -> None:
    course = with_checks(tmp_path, EXERCISE.replace("right={", 'shows=("sums",), right={'))
    path = built(course).packs("tiny")
    with patched_solutions(course, "tiny") as run:
        assert path in packs.write_library(course, "tiny", run)
        assert packs.write_library(course, "tiny", run) == []
        made = References.of_course(course.root).exercise("tiny/doubled")
        rule, cases = loader.rule_name(course.root / "exercises", made), draw(made, VISIBLE_SEED, run, skip=1)
        later = pack(made, rule, cases, run.digest(made))
    path.write_bytes(archive_of({"doubled.npz": later}))  # as where chance hid a mistake in the first draw
    assert not any("pack" in problem.text for problem in checked(course).problems)
    module = tmp_path / "exercises" / "tiny" / "doubled.py"
    module.write_text(module.read_text().replace("were squared", "have been squared"))
    loader.forget()
    said = [one.text for one in checked(course).problems]
    assert any("the pack of its visible check was made of another state" in one for one in said)


@pytest.mark.slow
def test_rules_where_older_graders_took_a_copy_from_are_to_be_moved(tmp_path: Path) -> None:
    course = with_checks(tmp_path, EXERCISE.replace("right={", 'shows=("sums",), right={'))
    (tmp_path / "exercises/tiny/_rules.py").write_text("from autograder.exercise import compare_case\n")
    with pytest.raises(GradingError, match=r"belongs into the library.*own/checks/tiny/_rules.py"):
        packs.write_library(course, "tiny", None)


OWN_RULE = """
from .._rules import Judgement, compare_case

def generous(exercise, case, answers):
    made = compare_case(exercise, case, answers)
    return made if made.earned else Judgement(made.checks, 0.5)
"""


def test_an_assignments_own_rules_lie_in_the_library_alone(tmp_path: Path) -> None:
    given = "from ._rules import generous\nEXERCISE = Exercise(cases, generous,"
    text = EXERCISE.replace("EXERCISE = Exercise(cases,", given)
    course = with_checks(tmp_path, text)
    rules = tmp_path / "own/checks/tiny/_rules.py"
    rules.parent.mkdir(parents=True)
    rules.write_text(OWN_RULE)
    made = References.of_course(course.root).exercise("tiny/doubled")
    assert loader.rule_name(course.root / "exercises", made) == "_rules.generous"
    assert loader.source_of(made.rule.__module__) == rules
    (case,) = [Case({}, expected={"y": np.array(2.0)})]
    assert made.rule(made, case, Answers({"y": np.array(3.0)})).earned == 0.5


@pytest.mark.slow
def test_an_exercise_of_which_nothing_is_drawn_gets_no_pack(tmp_path: Path) -> None:
    course = with_checks(tmp_path, EXERCISE.replace("generator.normal(size=size)", "np.arange(size) + 1.0"))
    references = built(course)
    made = replace(references.exercise("tiny/doubled"), shows=("sums",))
    with pytest.raises(GradingError, match="public cases hold every hidden answer"):
        packs._packed(references, made, None)


@pytest.mark.slow
def test_an_exercise_whose_answers_happen_to_be_those_of_other_inputs_gets_its_pack(tmp_path: Path) -> None:
    """The hidden sizes may well be public ones too."""
    text = EXERCISE.replace("generator.normal(size=size)", "np.arange(size) + 1.0")
    text = text.replace("Case(", "Case(config={'seed': int(generator.integers(10**6))}, ")
    references = built(with_checks(tmp_path, text))
    made = replace(references.exercise("tiny/doubled"), shows=("sums",))
    assert packs._packed(references, made, None)


def test_a_right_answer_that_cannot_be_asked_for_a_property_is_as_right() -> None:
    bytes_of = {2: 2, 4: 4}  # lacks the double of a size that a case has

    def cache_memory(config, tokens, batch, bytes_per_number):
        numbers = 2 * config.layers * config.kv_heads * (config.dim // config.heads) * tokens * batch
        return numbers * bytes_of[bytes_per_number]

    decoder.cache_memory(cache_memory)
