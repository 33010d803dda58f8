"""The encoder lab: its mistakes' names where parts have stand-ins, its points, and the tests that students run."""

import re
import shutil
import subprocess
import sys
from collections.abc import Mapping

import numpy as np
import pytest

from autograder.exercise import Answers, Case, Judgement
from autograder.model import cells
from autograder.references import loader
from course.tokenizer import load_tokenizer
from tests.exercises.models_file import FILE, models_file, solution_file, stub_file
from tests.exercises.test_answers import one_worker, trials
from tests.exercises.test_catalogue import ALSO_CALLED
from tests.grading import REFERENCES, ROOT, assignment, exercise_module

pytestmark = [pytest.mark.slow, one_worker("encoder_lab")]
GRADED = {
    cells.grade_id(cell): cells.max_points(cell)
    for notebook in assignment("encoder_lab").source.values()
    for cell in notebook.cells
    if cells.is_autograded(cell)
}

# --- mistakes of classes whose parts have stand-ins -------------------------------------------------------------------

WITH_STAND_INS = [
    slug
    for slug in REFERENCES.exercises("encoder_lab")
    if any(name.startswith("stand_in/") for case in REFERENCES.cases(slug) for name in case.expected)
]


def other_sizes(case: Case) -> dict[str, np.ndarray]:
    """The first array of sizes, its entries all too large."""
    name = next(name for name in case.expected if name == "wq" or name.endswith("_arguments"))
    return {name: case.expected[name] + 100}


def partly_dropped(case: Case) -> dict[str, np.ndarray]:
    """The right output behind a dropout of one quarter."""
    name = next(name for name in case.expected if name in ("stand_in/output", "stand_in/logits"))
    dropped = case.expected[name] / 0.75
    dropped.flat[::4] = 0
    return {name: dropped}


#: What is told of a right answer with each of the mistakes that only a rule recognises.
BY_RULE = {
    "CHANGED": lambda _: {"changed": np.array([True])},
    "CUT": lambda _: {"cut": np.array([True])},
    "sizes": other_sizes,
    "M16": partly_dropped,
    "DTYPE": lambda case: {"stand_in/logits": case.expected["stand_in/logits"].astype(np.longdouble)},
    "norm-plain": lambda case: {"own_norms": 0 * case.expected["own_norms"]},
}


def judged(slug: str, case: Case, wrong: Mapping[str, np.ndarray]) -> Judgement:
    """What the rule says where everything is right but ``wrong``, with stand-ins for the class's parts."""
    arrays = {name: array.astype(np.float32) if array.dtype == np.float64 else array
              for name, array in {**case.expected, **wrong}.items()}  # fmt: skip
    exercise = REFERENCES.exercise(slug)
    assert exercise.rule is not None
    return exercise.rule(exercise, case, Answers(arrays))


@pytest.mark.parametrize("slug", WITH_STAND_INS)
def test_every_mistake_in_a_class_with_stand_ins_is_called_by_its_own_name_and_by_no_other(slug: str) -> None:
    exercise = REFERENCES.exercise(slug)
    known = [mistake for mistake in exercise.mistakes if mistake.id]
    called: dict[str, set[str]] = {mistake.id: set() for mistake in known}
    for mistake in known:
        for case in REFERENCES.cases(slug):
            by_rule = mistake.by_rule or not mistake.patches
            answers = BY_RULE[mistake.id](case) if by_rule else exercise.made_by(mistake, case)
            checks = judged(slug, case, answers).checks
            called[mistake.id] |= {check.mistake or check.name for check in checks if not check.passed}
    expected = {mistake.id: {mistake.id} | ALSO_CALLED.get((slug, mistake.id), set()) for mistake in known}
    assert called == expected


@pytest.mark.parametrize("slug", list(REFERENCES.exercises("encoder_lab")))
def test_a_mistake_says_what_is_wrong_and_where_to_look(slug: str) -> None:
    for mistake in (one for one in REFERENCES.exercise(slug).mistakes if one.id):
        # an error's own words end as they like
        assert mistake.message.endswith((".", "{problem}")) and mistake.hint, mistake.id


# --- points -----------------------------------------------------------------------------------------------------------


def test_the_points_are_fifty_and_each_exercise_has_a_graded_cell() -> None:
    notebooks = assignment("encoder_lab").source.values()
    assert sum(cells.max_points(cell) for notebook in notebooks for cell in notebook.cells) == 50
    assert {f"encoder_lab/{name}" for name in GRADED} == set(REFERENCES.exercises("encoder_lab"))


@pytest.mark.slow
def test_an_untouched_assignment_has_no_points_and_every_check_says_so() -> None:
    released = assignment("encoder_lab").release.values()
    stubs = {
        str(cells.grade_id(cell)): cell.source
        for notebook in released
        for cell in notebook.cells
        if cells.is_solution(cell) and cell.cell_type == "code"
    }
    tried = trials("encoder_lab").run({**stubs, FILE: stub_file()})
    assert {name: verdict.points for name, verdict in tried.verdicts.items()} == dict.fromkeys(GRADED, 0)
    unfinished = {name: said for name, said in tried.visible.items() if "not filled in yet" not in said}
    assert all(said.startswith("NameError") for said in unfinished.values()), unfinished


def test_the_stored_attentions_have_the_tokens_that_the_questions_are_about() -> None:
    tokenizer = load_tokenizer()
    pair = tokenizer("time flies like an arrow", "fruit flies like a banana")["input_ids"]
    stored = exercise_module("encoder_lab/_stored")
    assert tokenizer.convert_ids_to_tokens(pair) == stored.TOKENS


# --- tests/test_models.py, which students run themselves --------------------------------------------------------------

CAUGHT = [
    ("head_attention", "M2"),
    ("head_attention", "M1"),
    ("multi_head_init", "M14-list"),
    ("multi_head_attention", "M6-batch"),
    ("feed_forward", "M12-none"),
    ("embeddings", "M11-batch"),
    ("encoder_layer", "M8-post"),
    ("encoder_layer", "M7-attention"),
    ("encoder", "M14-same"),
    ("encoder", "M14-order"),
    ("classification_head", "M16-none"),
    ("classifier", "M15-all"),
]

#: Runs the tests of every folder, as the notebook says: ``python -m pytest tests`` in it. torch is imported once.
#: Without this environment's plugins and without tracebacks, which take six times as long as the tests themselves.
RUN_ALL = """
import gc, os, sys
import pytest, torch
os.environ["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
gc.freeze()
for folder in sys.argv[1:]:
    if os.fork() == 0:
        os.chdir(folder)
        sys.path.insert(0, "")
        torch.set_num_threads(1)
        sys.stdout = open("said.txt", "w")
        pytest.main(["-q", "--tb=no", "-p", "no:cacheprovider", "tests"])
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, int]]:
    """Whose file -> how many of the students' tests passed, failed, …"""
    files = {"solution": solution_file(), "untouched": stub_file()}
    for exercise, name in CAUGHT:
        _, wrong = loader.sample_answers(REFERENCES.folder, f"encoder_lab/{exercise}")
        (answer,) = [answer for answer in wrong if answer.name == name]
        files[f"{exercise}: {name}"] = models_file(answer.methods)
    folders = {}
    for whose, models in files.items():
        folder = folders[whose] = tmp_path_factory.mktemp("lab")
        shutil.copytree(ROOT / "release" / "encoder_lab" / "tests", folder / "tests")
        (folder / FILE).write_text(models, encoding="utf-8")
    subprocess.run([sys.executable, "-c", RUN_ALL, *map(str, folders.values())], check=True, cwd=ROOT)
    said = {whose: (folder / "said.txt").read_text() for whose, folder in folders.items()}
    return {
        whose: {word: int(count) for count, word in re.findall(r"(\d+) (passed|failed|error)", text)}
        for whose, text in said.items()
    }


@pytest.mark.slow
def test_the_solution_passes_all_of_the_students_tests(outcomes: dict[str, dict[str, int]]) -> None:
    assert outcomes["solution"] == {"passed": 30}


@pytest.mark.slow
def test_the_untouched_file_passes_none_of_the_students_tests(outcomes: dict[str, dict[str, int]]) -> None:
    assert outcomes["untouched"] == {"failed": 30}


@pytest.mark.slow
@pytest.mark.parametrize(("exercise", "name"), CAUGHT, ids=lambda value: value.replace(" ", "-"))
def test_a_mistake_fails_some_of_the_students_tests_and_leaves_others(
    exercise: str, name: str, outcomes: dict[str, dict[str, int]]
) -> None:
    counts = outcomes[f"{exercise}: {name}"]
    assert counts.get("failed", 0) >= 1 and counts.get("passed", 0) >= 10
